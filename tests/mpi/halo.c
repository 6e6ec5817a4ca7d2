/* Halo exchanges whose data are global indices, so that an entry of a wrong neighbour, a wrong
 * place or an older exchange cannot pass.
 * ranks: 1 2 3 4 7 */
#include "halo.h"
#include "alloc.h"
#include "comm.h"
#include "test.h"

#include <stdlib.h>

static comm *world;

/* Whether `rank` needs global row gi of n (which it does not own). */
typedef int need_rule(int rank, gidx gi, gidx n);

static int nobody(int rank, gidx gi, gidx n) { return rank < 0 && gi < n; }
static int everybody(int rank, gidx gi, gidx n) { return rank >= 0 && gi < n; }
static int first_rank_only(int rank, gidx gi, gidx n) { return rank == 0 && gi < n; }
static int from_row_zero(int rank, gidx gi, gidx n) { return rank >= 0 && gi == 0 && n > 0; }
static int sparse(int rank, gidx gi, gidx n) {
  uint64_t hash =
      (uint64_t)(gi + 1) * 0x9e3779b97f4a7c15u ^ (uint64_t)(rank + 1) * 0xff51afd7ed558ccdu;
  hash = (hash ^ hash >> 29) * 0xc4ceb9fe1a85ec53u;
  return gi < n && (hash ^ hash >> 32) % 11 == 0;
}

static ownership owned; /* of the case at hand */

/* The row before our first and the one after our last, around the end. */
static int ring(int rank, gidx gi, gidx n) {
  gidx begin = owned.first[rank], end = owned.first[rank + 1];
  return begin < end && (gi == (begin + n - 1) % n || gi == end % n);
}

static double value_of(gidx gi, int round) { return (double)gi + 0.001 * round; }

static void exchange_and_check(halo *h, const gidx *ghost, int round) {
  for (lidx i = 0; i < h->sends; i++) {
    h->send_buffer[i] = value_of(ownership_begin(&owned) + h->send_row[i], round);
  }
  for (lidx g = 0; g < h->ghosts; g++) h->ghost_buffer[g] = -1.0;
  assert_ok(halo_begin(h));
  assert_ok(halo_end(h));
  for (lidx g = 0; g < h->ghosts; g++) {
    assert_same_bits(h->ghost_buffer[g], value_of(ghost[g], round));
  }
}

/* Every rank computes what all need, from the rule alone, and compares the plan with it. */
static void check_plan(const halo *h, need_rule *rule, lidx ghosts) {
  const gidx begin = ownership_begin(&owned), end = ownership_end(&owned);
  int neighbours = 0;
  lidx sends = 0;
  assert_int_equal(h->ghosts, ghosts);
  for (int r = 0; r < owned.size; r++) {
    int talks = 0;
    if (r == owned.rank) continue;
    for (gidx gi = begin; gi < end; gi++) {
      if (!rule(r, gi, owned.rows)) continue;
      assert_true(sends < h->sends);
      assert_int_equal(begin + h->send_row[sends], gi); /* by neighbour, then ascending */
      sends++;
      talks = 1;
    }
    for (gidx gi = owned.first[r]; gi < owned.first[r + 1]; gi++) {
      talks |= rule(owned.rank, gi, owned.rows);
    }
    neighbours += talks;
  }
  assert_int_equal(h->sends, sends);
  assert_int_equal(h->neighbours, neighbours);
}

static void run(need_rule *rule, gidx rows, const int64_t *weight) {
  gidx *ghost;
  lidx ghosts = 0;
  halo h;
  if (weight != NULL) {
    const block_share share = ownership_share(rows, comm_rank(world), comm_size(world));
    assert_ok(ownership_by_weight(world, rows, share, weight + share.first, &owned));
  } else {
    assert_ok(ownership_even(world, rows, &owned));
  }
  assert_ok(alloc_array(&ghost, rows, sizeof *ghost, "ghosts"));
  for (gidx gi = 0; gi < rows; gi++) {
    if (ownership_owner(&owned, gi) != owned.rank && rule(owned.rank, gi, rows)) {
      ghost[ghosts++] = gi;
    }
  }
  assert_ok(halo_create(world, &owned, ghost, ghosts, &h));
  check_plan(&h, rule, ghosts);
  for (int round = 0; round < 5; round++) exchange_and_check(&h, ghost, round);
  halo_release(&h);
  halo_release(&h);
  alloc_free(&ghost);
  ownership_release(&owned);
}

static need_rule *const rules[] = {nobody, everybody, first_rank_only, from_row_zero, sparse, ring};

static void all_needs_on_all_sizes(void **state) {
  (void)state;
  const gidx sizes[] = {0, 1, 2, 3, 6, 100, 2000};
  for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) run(rules[k], sizes[s], NULL);
  }
}

/* All weight in one block: most ranks own nothing or little. */
static void lopsided_ownership(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
    int64_t weight[500] = {0};
    weight[250] = 1000000;
    run(rules[k], 500, weight);
  }
}

/* A plan that one rank cannot make is made by none; all leave with the same code. */
static void a_ghost_of_our_own_is_refused_by_all(void **state) {
  (void)state;
  const int rank = comm_rank(world), last = comm_size(world) - 1;
  halo h;
  assert_ok(ownership_even(world, 50, &owned));
  gidx mine = ownership_begin(&owned);
  assert_int_equal(halo_create(world, &owned, &mine, rank == last, &h), STATUS_BUG);
  assert_null(h.requests);
  gidx outside = 50;
  assert_int_equal(halo_create(world, &owned, &outside, rank == last, &h), STATUS_BUG);
  ownership_release(&owned);
}

/* The n-th allocation of the last rank fails: all leave with the same code, nothing leaks. */
static void no_memory_on_one_rank(void **state) {
  (void)state;
  const int rank = comm_rank(world), last = comm_size(world) - 1;
  assert_ok(ownership_even(world, 64, &owned));
  gidx ghost = rank == 0 ? 63 : 0;
  const int64_t live = alloc_live();
  int n = 0;
  for (int64_t done = 0; !done; n++) {
    halo h;
    if (rank == last) alloc_fail_at(n + 1);
    status rc = halo_create(world, &owned, &ghost, comm_size(world) > 1, &h);
    alloc_fail_at(0);
    done = rc == STATUS_OK;
    if (!done) assert_int_equal(rc, STATUS_UNAVAILABLE);
    halo_release(&h);
    assert_int_equal(alloc_live(), live);
  }
  assert_int_equal(n, 8 + 1);
  ownership_release(&owned);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_needs_on_all_sizes),
      cmocka_unit_test(lopsided_ownership),
      cmocka_unit_test(a_ghost_of_our_own_is_refused_by_all),
      cmocka_unit_test(no_memory_on_one_rank),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  setenv("CMOCKA_TEST_ABORT", "1", 1); /* a rank that fails ends them all */
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
