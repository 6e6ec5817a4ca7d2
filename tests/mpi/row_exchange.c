/* Rows fetched and entries delivered, with data that are functions of global indices and of who
 * sent them, so that a wrong rank, row or order cannot pass.
 * ranks: 1 2 3 5 */
#include "row_exchange.h"
#include "alloc.h"
#include "fingerprint.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static comm *world;
static ownership owned;

static uint64_t hash(gidx a, gidx b) {
  return fingerprint_mix((uint64_t)a ^ fingerprint_mix((uint64_t)b));
}

/* Row gi has 0 .. 6 entries; every eleventh 300. Columns fall, so an order that was not kept shows.
 */
static gidx length_of(gidx gi) { return gi % 11 == 5 ? 300 : (gidx)(hash(gi, 1) % 7); }
static gidx column_of(gidx gi, gidx k) { return 1000000 + gi - 3 * k; }
static double value_of(gidx gi, gidx k) { return (double)(gi * 1000 + k); }

static void own(gidx rows, gidx lopsided) {
  if (lopsided < 0) {
    assert_ok(ownership_aligned(world, rows, 1, &owned));
    return;
  }
  int64_t *weight;
  const block_share share = ownership_share(rows, comm_rank(world), comm_size(world));
  assert_ok(alloc_zeroed(&weight, share.count, sizeof *weight, "weights"));
  if (lopsided >= share.first && lopsided < share.first + share.count) {
    weight[lopsided - share.first] = 1000000;
  }
  assert_ok(ownership_by_weight(world, rows, share, weight, &owned));
  alloc_free(&weight);
}

static void make_rows(csr_rows *a) {
  const gidx first = ownership_begin(&owned);
  *a = (csr_rows){.global_rows = owned.rows,
                  .global_columns = 2000000,
                  .first_row = first,
                  .rows = (lidx)(ownership_end(&owned) - first)};
  assert_ok(alloc_array(&a->offset, a->rows + 1, sizeof *a->offset, "offsets"));
  a->offset[0] = 0;
  for (lidx i = 0; i < a->rows; i++) a->offset[i + 1] = a->offset[i] + length_of(first + i);
  assert_ok(alloc_array(&a->column, a->offset[a->rows], sizeof *a->column, "columns"));
  assert_ok(alloc_array(&a->value, a->offset[a->rows], sizeof *a->value, "values"));
  for (lidx i = 0; i < a->rows; i++) {
    for (gidx k = 0; k < length_of(first + i); k++) {
      a->column[a->offset[i] + k] = column_of(first + i, k);
      a->value[a->offset[i] + k] = value_of(first + i, k);
    }
  }
}

/* Rank r wants one row in `sparse` of those it does not own; rank 1 none. */
static lidx choose(gidx *wanted, gidx rows, uint64_t sparse) {
  const int rank = comm_rank(world);
  lidx count = 0;
  for (gidx gi = 0; gi < rows && rank != 1; gi++) {
    if (ownership_owner(&owned, gi) != rank && hash(gi, rank) % sparse == 0) wanted[count++] = gi;
  }
  return count;
}

static void fetch(gidx rows, gidx lopsided, uint64_t sparse) {
  csr_rows a, out;
  gidx *wanted;
  own(rows, lopsided);
  make_rows(&a);
  assert_ok(alloc_array(&wanted, rows, sizeof *wanted, "wanted"));
  const lidx count = choose(wanted, rows, sparse);
  assert_ok(rows_fetch(world, &owned, &a, wanted, count, &out));
  assert_int_equal(out.rows, count);
  assert_int_equal(out.first_row, -1);
  assert_int_equal(out.global_rows, rows);
  assert_int_equal(out.global_columns, 2000000);
  assert_int_equal(out.offset[0], 0);
  for (lidx i = 0; i < count; i++) {
    assert_int_equal(out.offset[i + 1] - out.offset[i], length_of(wanted[i]));
    for (gidx k = 0; k < length_of(wanted[i]); k++) {
      assert_int_equal(out.column[out.offset[i] + k], column_of(wanted[i], k));
      assert_same_bits(out.value[out.offset[i] + k], value_of(wanted[i], k));
    }
  }
  csr_rows_release(&a);
  csr_rows_release(&out);
  alloc_free(&wanted);
  ownership_release(&owned);
}

static void rows_of_all_sizes(void **state) {
  (void)state;
  static const gidx sizes[] = {0, 1, 2, 4, 40, 700};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    fetch(sizes[i], -1, 1);
    fetch(sizes[i], -1, 3);
  }
  fetch(500, 250, 2); /* most ranks own little or nothing */
}

static void bad_rows_are_refused_by_all(void **state) {
  (void)state;
  csr_rows a, out;
  own(50, -1);
  make_rows(&a);
  const int last = comm_rank(world) == comm_size(world) - 1;
  const gidx outside = 50, mine = ownership_begin(&owned), twice[] = {0, 0};
  assert_int_equal(rows_fetch(world, &owned, &a, &outside, last, &out), STATUS_BUG);
  assert_int_equal(rows_fetch(world, &owned, &a, &mine, last, &out), STATUS_BUG);
  assert_int_equal(rows_fetch(world, &owned, &a, twice, 2 * last, &out), STATUS_BUG);
  csr_rows_release(&a);
  ownership_release(&owned);
}

/* Entry i of rank r: many share their place. */
static gidx row_sent(int rank, gidx i, gidx rows) { return (gidx)(hash(rank, i) % (uint64_t)rows); }
static gidx column_sent(int rank, gidx i) { return (gidx)(hash(i, rank) % 5); }
static double value_sent(int rank, gidx i) { return rank * 1e6 + (double)i; }
static gidx sent_by(int rank, gidx n) { return rank == 1 ? 0 : n + 10 * rank; }

static void deliver(gidx rows, gidx lopsided, gidx n) {
  const int rank = comm_rank(world);
  entry_list mine = {.count = rows == 0 ? 0 : sent_by(rank, n)}, out;
  own(rows, lopsided);
  assert_ok(alloc_array(&mine.row, mine.count, sizeof *mine.row, "entries"));
  assert_ok(alloc_array(&mine.column, mine.count, sizeof *mine.column, "entries"));
  assert_ok(alloc_array(&mine.value, mine.count, sizeof *mine.value, "entries"));
  for (gidx i = 0; i < mine.count; i++) {
    mine.row[i] = row_sent(rank, i, rows);
    mine.column[i] = column_sent(rank, i);
    mine.value[i] = value_sent(rank, i);
  }
  assert_ok(entries_deliver(world, &owned, &mine, &out));
  /* what must be there, in its order, from everybody's lists */
  int64_t at = 0;
  for (gidx gi = ownership_begin(&owned); gi < ownership_end(&owned); gi++) {
    for (gidx column = 0; column < 5; column++) {
      for (int r = 0; r < comm_size(world); r++) {
        for (gidx i = 0; i < sent_by(r, n); i++) {
          if (row_sent(r, i, rows) != gi || column_sent(r, i) != column) continue;
          assert_true(at < out.count);
          assert_int_equal(out.row[at], gi);
          assert_int_equal(out.column[at], column);
          assert_same_bits(out.value[at], value_sent(r, i));
          at++;
        }
      }
    }
  }
  assert_int_equal(at, out.count);
  entry_list_release(&mine);
  entry_list_release(&out);
  ownership_release(&owned);
}

static void entries_of_all_sizes(void **state) {
  (void)state;
  deliver(0, -1, 0);
  deliver(1, -1, 50);
  deliver(2, -1, 300);
  deliver(30, -1, 500);
  deliver(60, 40, 200);
  deliver(300, -1, 0);
}

static void an_entry_of_no_row_is_refused_by_all(void **state) {
  (void)state;
  gidx row = 30, column = 0;
  double value = 1.0;
  entry_list out,
      mine = {.count = comm_rank(world) == 0, .row = &row, .column = &column, .value = &value};
  own(30, -1);
  assert_int_equal(entries_deliver(world, &owned, &mine, &out), STATUS_BUG);
  row = -1;
  assert_int_equal(entries_deliver(world, &owned, &mine, &out), STATUS_BUG);
  ownership_release(&owned);
}

/* The n-th allocation of the last rank fails: all leave with the same code, nothing leaks. */
static void no_memory_on_one_rank(void **state) {
  (void)state;
  const int last = comm_rank(world) == comm_size(world) - 1;
  csr_rows a;
  gidx wanted[64];
  own(64, -1);
  make_rows(&a);
  const lidx count = choose(wanted, 64, 2);
  entry_list all = {.count = a.offset[a.rows], .value = a.value};
  assert_ok(alloc_array(&all.row, all.count, sizeof *all.row, "rows"));
  for (eidx e = 0; e < all.count; e++) all.row[e] = e % 64;
  all.column = all.row;
  const int64_t live = alloc_live();
  for (int which = 0; which < 2; which++) {
    int n = 0;
    for (int done = 0; !done; n++) {
      csr_rows rows = {0};
      entry_list list = {0};
      if (last) alloc_fail_at(n + 1);
      status rc = which == 0 ? rows_fetch(world, &owned, &a, wanted, count, &rows)
                             : entries_deliver(world, &owned, &all, &list);
      alloc_fail_at(0);
      done = rc == STATUS_OK;
      if (!done) assert_int_equal(rc, STATUS_UNAVAILABLE);
      if (done) csr_rows_release(&rows); /* else nothing was left */
      if (done) entry_list_release(&list);
      assert_int_equal(alloc_live(), live);
    }
    assert_true(n > 8);
  }
  alloc_free(&all.row);
  csr_rows_release(&a);
  ownership_release(&owned);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_of_all_sizes),
      cmocka_unit_test(bad_rows_are_refused_by_all),
      cmocka_unit_test(entries_of_all_sizes),
      cmocka_unit_test(an_entry_of_no_row_is_refused_by_all),
      cmocka_unit_test(no_memory_on_one_rank),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  setenv("CMOCKA_TEST_ABORT", "1", 1); /* a rank that fails ends them all */
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
