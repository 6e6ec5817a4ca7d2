/* Entries per row block, counted where no rank holds a number for every block: against all entries,
 * gone through by every rank.
 * ranks: 1 2 3 */
#include "deal.h"

#include <stdlib.h>
#include <string.h>

#include "block_sum.h"
#include "comm.h"
#include "test.h"

static comm *world;

static uint64_t scramble(uint64_t z) {
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

typedef enum order { BY_ROW, ANY_ORDER, ONE_ROW } order;

/* Row and column of entry number k. */
static void entry_at(order o, int64_t k, gidx rows, gidx *row, gidx *column) {
  *column = (gidx)(scramble((uint64_t)k * 2 + 1) % (uint64_t)rows);
  *row = o == BY_ROW ? k % rows : (gidx)(scramble((uint64_t)k * 2 + 2) % (uint64_t)rows);
  if (o == ONE_ROW) *row = rows - 1;
}

/* This rank's run of the entries, as a file would bring it. */
static void parse(order o, gidx rows, int64_t entries, int words, entry_store *store) {
  const int rank = comm_rank(world), size = comm_size(world);
  *store = (entry_store){.words = words, .keyed = 1};
  assert_ok(entry_store_segment(store, entries / size));
  for (int64_t k = entries * rank / size; k < entries * (rank + 1) / size; k++) {
    gidx row, column;
    assert_ok(entry_store_room(store));
    entry_at(o, k, rows, &row, &column);
    entry_chunk *chunk = store->last;
    key_put(chunk->key + chunk->count * words, words, row, column, 0);
    chunk->value[chunk->count++] = 1.0;
  }
}

static void check(order o, gidx rows, int64_t entries, int words, int mirrors) {
  const block_share share = ownership_share(rows, comm_rank(world), comm_size(world));
  const gidx block = block_size(rows);
  entry_store store;
  int64_t *weight, *expected;
  parse(o, rows, entries, words, &store);
  assert_ok(deal_weigh(world, &store, mirrors, rows, share, &weight));
  assert_ok(alloc_zeroed(&expected, share.count, sizeof *expected, "weights"));
  for (int64_t k = 0; k < entries; k++) {
    gidx row, column;
    entry_at(o, k, rows, &row, &column);
    const gidx at = row / block - share.first, far = column / block - share.first;
    if (at >= 0 && at < share.count) expected[at]++;
    if (mirrors && row != column && far >= 0 && far < share.count) expected[far]++;
  }
  for (gidx b = 0; b < share.count; b++) assert_int_equal(weight[b], expected[b]);
  alloc_free(&weight);
  alloc_free(&expected);
  entry_store_release(&store);
}

static void all_orders(void **state) {
  (void)state;
  for (int mirrors = 0; mirrors < 2; mirrors++) {
    for (order o = BY_ROW; o <= ONE_ROW; o++) {
      check(o, 1, 3, 1, mirrors);
      check(o, 700, 0, 1, mirrors);
      check(o, 1000, 5000, 1, mirrors);
      check(o, 70001, 30000, 2, mirrors);
    }
  }
}

/* More counts than travel at once, from every rank to every other. */
static void several_rounds(void **state) {
  (void)state;
  check(ANY_ORDER, (gidx)256 * 150000, 300000, 1, 1);
}

/* The n-th allocation of the last rank fails: all leave with the same code, nothing leaks. */
static void no_memory_on_one_rank(void **state) {
  (void)state;
  const int last = comm_rank(world) == comm_size(world) - 1;
  const gidx rows = (gidx)256 * 9000;
  const block_share share = ownership_share(rows, comm_rank(world), comm_size(world));
  entry_store store;
  int n = 0;
  parse(ANY_ORDER, rows, 9000, 1, &store);
  const int64_t live = alloc_live();
  for (int done = 0; !done; n++) {
    int64_t *weight;
    if (last) alloc_fail_at(n + 1);
    const status rc = deal_weigh(world, &store, 1, rows, share, &weight);
    alloc_fail_at(0);
    done = rc == STATUS_OK;
    if (!done) assert_int_equal(rc, STATUS_UNAVAILABLE);
    alloc_free(&weight);
    assert_int_equal(alloc_live(), live);
  }
  assert_true(n > (comm_size(world) == 1 ? 3 : 5));
  entry_store_release(&store);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_orders),
      cmocka_unit_test(several_rounds),
      cmocka_unit_test(no_memory_on_one_rank),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  setenv("CMOCKA_TEST_ABORT", "1", 1); /* a rank that fails ends them all */
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
