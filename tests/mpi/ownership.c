/* Ownership: boundaries on blocks, balance, and the same cut whatever the shares of the weights.
 * ranks: 1 2 3 4 7 */
#include "ownership.h"
#include "alloc.h"
#include "block_sum.h"
#include "comm.h"
#include "test.h"

#include <stdlib.h>

static comm *world;

static gidx block_count(gidx rows) { return (rows + block_size(rows) - 1) / block_size(rows); }

static void check_shape(const ownership *o, gidx rows) {
  assert_int_equal(o->rows, rows);
  assert_int_equal(o->block, block_size(rows));
  assert_int_equal(o->rank, comm_rank(world));
  assert_int_equal(o->size, comm_size(world));
  assert_int_equal(o->first[0], 0);
  assert_int_equal(o->first[o->size], rows);
  for (int r = 0; r < o->size; r++) {
    assert_true(o->first[r] <= o->first[r + 1]);
    assert_true(o->first[r] % o->block == 0 || o->first[r] == rows);
  }
  for (int r = 0; r < o->size; r++) { /* every owner found, at both ends of its range */
    if (o->first[r] == o->first[r + 1]) continue;
    assert_int_equal(ownership_owner(o, o->first[r]), r);
    assert_int_equal(ownership_owner(o, o->first[r + 1] - 1), r);
  }
}

/* No rank gets more than its fair share and one block. */
static void check_balance(const ownership *o, const int64_t *weight) {
  const gidx blocks = block_count(o->rows);
  int64_t whole = 0, heaviest = 0;
  for (gidx b = 0; b < blocks; b++) {
    whole += weight[b];
    if (weight[b] > heaviest) heaviest = weight[b];
  }
  for (int r = 0; r < o->size; r++) {
    int64_t mine = 0;
    for (gidx b = 0; b < blocks; b++) {
      gidx row = b * o->block;
      if (row >= o->first[r] && row < o->first[r + 1]) mine += weight[b];
    }
    assert_true(mine <= whole / o->size + heaviest + 1);
  }
}

typedef int64_t weight_rule(gidx b);
static int64_t nothing(gidx b) { return 0 * b; }
static int64_t rising(gidx b) { return 1000 * b; }
static int64_t one_dense(gidx b) { return b == 5 ? 1000000 : 3; }
static int64_t noisy(gidx b) { return (int64_t)((uint64_t)b * 2654435761u % 10007); }
static int64_t huge(gidx b) { return ((int64_t)1 << 50) + b; } /* products pass 2^63 */

/* Splits each block's weight over the ranks, unevenly; `turn` changes how. */
static void deal(int64_t *share, gidx blocks, weight_rule *rule, int turn) {
  const int rank = comm_rank(world), size = comm_size(world);
  for (gidx b = 0; b < blocks; b++) {
    int64_t mine = 0, each = rule(b) / size;
    if (turn == 0) mine = (b % size == rank) ? rule(b) : 0;
    if (turn == 1) mine = each + (rank == 0 ? rule(b) - each * size : 0);
    share[b] = mine;
  }
}

static void cut_by_weight(void **state) {
  (void)state;
  const gidx sizes[] = {0, 1, 2, 3, 5, 8, 255, 256, 1000, 4097, 65535, 65536, 70001, 1000003};
  weight_rule *rules[] = {nothing, rising, one_dense, noisy, huge};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
      const gidx rows = sizes[s], blocks = block_count(rows);
      int64_t *share, *weight;
      ownership o[2];
      assert_ok(alloc_array(&share, blocks, sizeof *share, "shares"));
      assert_ok(alloc_array(&weight, blocks, sizeof *weight, "weights"));
      for (int turn = 0; turn < 2; turn++) {
        deal(share, blocks, rules[k], turn);
        assert_ok(ownership_by_weight(world, rows, share, &o[turn]));
        check_shape(&o[turn], rows);
      }
      for (gidx b = 0; b < blocks; b++) {
        gidx end = (b + 1) * block_size(rows);
        weight[b] = rules[k](b) + (end < rows ? end : rows) - b * block_size(rows);
        assert_int_equal(share[b], rules[k](b)); /* the shares were summed in place */
      }
      check_balance(&o[0], weight);
      for (int r = 0; r <= o[0].size; r++) assert_int_equal(o[0].first[r], o[1].first[r]);
      ownership_release(&o[0]);
      ownership_release(&o[1]);
      alloc_free(&share);
      alloc_free(&weight);
    }
  }
}

static void even_rows(void **state) {
  (void)state;
  ownership o;
  const gidx rows = ((gidx)LIDX_MAX - 1000) * comm_size(world); /* only offsets are held */
  assert_ok(ownership_even(world, rows, &o));
  check_shape(&o, rows);
  ownership_release(&o);
}

/* Known cuts, worked out by hand. */
static void small_cuts(void **state) {
  (void)state;
  ownership o;
  assert_ok(ownership_even(world, 3, &o));
  check_shape(&o, 3);
  if (o.size == 2) assert_int_equal(o.first[1], 1); /* 1.5 is as near to 1 as to 2: the lower */
  if (o.size == 3) assert_int_equal(o.first[1], 1);
  if (o.size == 3) assert_int_equal(o.first[2], 2);
  for (int r = 0; r < o.size; r++) {
    if (o.size >= 3) assert_true(o.first[r + 1] - o.first[r] <= 1); /* one block each at most */
  }
  ownership_release(&o);
}

static void too_many_rows_for_a_rank(void **state) {
  (void)state;
  ownership o;
  gidx rows = ((gidx)LIDX_MAX + 1000) * comm_size(world);
  assert_int_equal(ownership_even(world, rows, &o), STATUS_UNAVAILABLE);
  assert_null(o.first);
  fail_clear();
}

static void blocks_of_the_contract(void **state) {
  (void)state;
  assert_int_equal(block_size(0), 1);
  assert_int_equal(block_size(511), 1);
  assert_int_equal(block_size(512), 2);
  assert_int_equal(block_size(1023), 2);
  assert_int_equal(block_size(65535), 128);
  assert_int_equal(block_size(65536), 256);
  assert_int_equal(block_size((int64_t)1 << 40), 256);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_of_the_contract),
      cmocka_unit_test(small_cuts),
      cmocka_unit_test(cut_by_weight),
      cmocka_unit_test(even_rows),
      cmocka_unit_test(too_many_rows_for_a_rank),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  setenv("CMOCKA_TEST_ABORT", "1", 1); /* a rank that fails ends them all */
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
