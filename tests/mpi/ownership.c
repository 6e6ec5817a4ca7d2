/* Ownership: boundaries on blocks, balance, and the same cut, that of its definition, whoever
 * weighs which blocks. ranks: 1 2 3 4 7 */
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

/* Which blocks a rank weighs: an even run, all of them the last rank's, or runs that differ. */
static block_share share_of(gidx blocks, gidx rows, int turn) {
  const int rank = comm_rank(world), size = comm_size(world);
  if (turn == 0) return ownership_share(rows, rank, size);
  if (turn == 1) return rank == size - 1 ? (block_share){0, blocks} : (block_share){0, 0};
  const gidx begin = blocks * rank * rank / size / size;
  return (block_share){begin, blocks * (rank + 1) * (rank + 1) / size / size - begin};
}

/* The cut by its definition, from all weights: rank r begins at the boundary whose sum before it is
 * nearest to r W / size. */
static void check_cut(const ownership *o, const int64_t *weight) {
  __extension__ typedef __int128 wide_int;
  const gidx blocks = block_count(o->rows);
  wide_int whole = 0;
  for (gidx b = 0; b < blocks; b++) whole += weight[b];
  for (int r = 1; r < o->size; r++) {
    wide_int before = 0, least = 0, target = whole * r; /* all times size */
    gidx nearest = 0;
    for (gidx b = 0; b <= blocks; b++) {
      const wide_int distance = before < target ? target - before : before - target;
      if (b == 0 || distance < least) least = distance, nearest = b;
      if (b < blocks) before += (wide_int)weight[b] * o->size;
    }
    assert_int_equal(o->first[r], nearest < blocks ? nearest * o->block : o->rows);
  }
}

static void cut_by_weight(void **state) {
  (void)state;
  const gidx sizes[] = {0, 1, 2, 3, 5, 8, 255, 256, 1000, 4097, 65535, 65536, 70001, 1000003};
  weight_rule *rules[] = {nothing, rising, one_dense, noisy, huge};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
      const gidx rows = sizes[s], blocks = block_count(rows);
      int64_t *entries, *weight;
      ownership o;
      assert_ok(alloc_array(&entries, blocks, sizeof *entries, "entries"));
      assert_ok(alloc_array(&weight, blocks, sizeof *weight, "weights"));
      for (gidx b = 0; b < blocks; b++) {
        const gidx end = (b + 1) * block_size(rows);
        entries[b] = rules[k](b);
        weight[b] = entries[b] + (end < rows ? end : rows) - b * block_size(rows);
      }
      for (int turn = 0; turn < 3; turn++) {
        const block_share share = share_of(blocks, rows, turn);
        assert_ok(ownership_by_weight(world, rows, share, entries + share.first, &o));
        check_shape(&o, rows);
        check_balance(&o, weight);
        check_cut(&o, weight);
        ownership_release(&o);
      }
      alloc_free(&entries);
      alloc_free(&weight);
    }
  }
}

/* Shares follow one another and leave nothing out. */
static void shares_cover_all_blocks(void **state) {
  (void)state;
  const gidx sizes[] = {0, 1, 5, 256, 1000, 70001, (gidx)1 << 50};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    for (int size = 1; size < 20; size++) {
      gidx next = 0;
      for (int r = 0; r < size; r++) {
        const block_share share = ownership_share(sizes[s], r, size);
        assert_int_equal(share.first, next);
        assert_in_range(share.count - block_count(sizes[s]) / size, 0, 1);
        next += share.count;
      }
      assert_int_equal(next, block_count(sizes[s]));
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
      cmocka_unit_test(shares_cover_all_blocks),
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
