/* Matrices made here: mirrors, duplicates that fall on both sides of every boundary, arrays, bad
 * lines, plain text. ranks: 1 2 3 7 */
#include "made_file.h"

#include <stdlib.h>

static void an_entry_and_its_mirror(void **state) {
  (void)state;
  assert_refused(BANNER "symmetric\n5 5 6\n1 1 4\n5 3 1\n\n% x\n2 1 1\n3 5 1\n4 4 1\n5 5 1\n",
                 ":8: entry (3, 5): its mirror (5, 3) is stored too, on line 4");
  assert_refused(BANNER "skew-symmetric\n5 5 3\n1 2 4\n5 3 1\n2 1 -4\n",
                 ":5: entry (2, 1): its mirror (1, 2) is stored too, on line 3");
  /* a whole matrix under a symmetric banner: the first line that is too much */
  assert_refused(BANNER "symmetric\n3 3 7\n1 1 2\n1 2 1\n2 1 1\n2 2 2\n2 3 1\n3 2 1\n3 3 2\n",
                 ":5: entry (2, 1)");
}

static void the_diagonal_of_a_skew_matrix(void **state) {
  (void)state;
  assert_refused(BANNER "skew-symmetric\n3 3 3\n2 1 4\n2 2 1e-300\n3 1 1\n",
                 ":4: diagonal entry (2, 2)");
  content_of(BANNER "skew-symmetric\n3 3 3\n2 1 4\n2 2 0\n3 1 1\n", 5, NULL);
  assert_refused("%%MatrixMarket matrix coordinate pattern skew-symmetric\n3 3 2\n2 1\n3 3\n",
                 ":4: diag");
}

static void the_upper_triangle_alone(void **state) {
  (void)state;
  uint64_t lower = content_of(BANNER "symmetric\n3 3 4\n1 1 2\n2 1 5\n3 1 7\n3 3 1\n", 6, NULL);
  uint64_t upper = content_of(BANNER "symmetric\n3 3 4\n1 1 2\n1 2 5\n1 3 7\n3 3 1\n", 6,
                              "2 entries of the symmetric file are above the diagonal");
  assert_true(lower == upper);
  uint64_t full =
      content_of(BANNER "general\n3 3 6\n3 3 1\n1 1 2\n1 2 -5\n1 3 7\n2 1 5\n3 1 -7\n", 6, NULL);
  uint64_t skew = content_of(BANNER "skew-symmetric\n3 3 2\n1 2 -5\n3 1 -7\n", 4, NULL);
  uint64_t same = content_of(BANNER "general\n3 3 4\n3 1 -7\n1 2 -5\n1 3 7\n2 1 5\n", 4, NULL);
  assert_true(skew == same);
  assert_true(full != same);
}

/* Three values a position, far apart in the file, whose sum tells their order: 1e16 + 1 - 1e16 is
 * 0, 1e16 - 1e16 + 1 is 1. */
static void duplicates_add_in_file_order(void **state) {
  (void)state;
  enum { ROWS = 700 };
  static const double part[3][3] = {{1e16, 1.0, -1e16}, {1e16, -1e16, 1.0}, {1.0, 1e16, -1e16}};
  static const double sum[3] = {0.0, 1.0, 0.0};
  char *text = malloc(ROWS * 3 * 64), *to = text;
  to += sprintf(to, "%sgeneral\n%d %d %d\n", BANNER, ROWS, ROWS, 3 * ROWS);
  for (int p = 0; p < 3; p++) {
    for (int i = 0; i < ROWS; i++) {
      int row = (i * 37 + p * 11) % ROWS;
      to += sprintf(to, "%d %d %.17g\n", row + 1, (row * 5) % ROWS + 1, part[row % 3][p]);
    }
  }
  for (int k = 0; k < 2; k++) {
    const char *name = make(k == 0 ? "duplicates.mtx" : "duplicates.mtx.gz", text);
    for (int s = 0; s < SIZES; s++) {
      reading r;
      read_with(name, &all_sizes[s], &r);
      assert_int_equal(r.code, STATUS_OK);
      assert_int_equal(r.facts.expanded, 3 * ROWS);
      assert_int_equal(r.facts.merged, ROWS);
      if (s == 0) assert_non_null(strstr(r.said, "1400 entries repeat a position"));
      for (lidx i = 0; i < r.a.rows; i++) {
        assert_int_equal(r.a.offset[i + 1], i + 1);
        assert_int_equal(r.a.column[i], (r.a.first_row + i) * 5 % ROWS);
        assert_same_bits(r.a.value[i], sum[(r.a.first_row + i) % 3]);
      }
      release(&r);
    }
    unmake(name);
  }
  free(text);
  assert_refused(BANNER "general\n2 2 3\n1 1 1e308\n2 2 1\n1 1 1e308\n", "entry (1, 1) add up");
}

/* One long row in no order, with duplicates: sorted by column, each column's values in file order.
 */
static void a_dense_row_is_sorted(void **state) {
  (void)state;
  enum { ROWS = 2000 };
  static const double part[3] = {1e16, -1e16, 0.25};
  char *text = malloc(ROWS * 3 * 64), *to = text;
  to += sprintf(to, "%sgeneral\n%d %d %d\n", BANNER, ROWS, ROWS, 3 * ROWS);
  for (int p = 0; p < 3; p++) {
    for (int i = 0; i < ROWS; i++) {
      to += sprintf(to, "1000 %d %.17g\n", (i * 1237 + 5) % ROWS + 1, part[p]);
    }
  }
  const char *name = make("dense-row.mtx", text);
  for (int s = 0; s < SIZES; s++) {
    reading r;
    read_with(name, &all_sizes[s], &r);
    assert_int_equal(r.code, STATUS_OK);
    assert_int_equal(r.facts.merged, ROWS);
    for (eidx e = 0; e < r.a.offset[r.a.rows]; e++) {
      assert_int_equal(r.a.column[e], e);
      assert_same_bits(r.a.value[e], 0.25);
    }
    release(&r);
  }
  unmake(name);
  free(text);
}

static void arrays_are_by_columns(void **state) {
  (void)state;
  uint64_t whole = content_of(
      BANNER "general\n3 3 7\n1 1 1\n2 1 2\n3 1 3\n1 2 2\n1 3 3\n3 3 6\n2 3 5\n", 7, NULL);
  assert_true(
      whole ==
      content_of("%%MatrixMarket matrix array real general\n3 3\n1\n2\n3\n2\n0\n0\n3\n5\n6\n", 7,
                 NULL));
  assert_true(whole ==
              content_of("%%MatrixMarket matrix array real general\n%\n3 3\n1 2 3\n\n 2 0 0 3\n5 6",
                         7, NULL));
  uint64_t symmetric = content_of(
      BANNER "general\n3 3 7\n1 1 1\n2 1 2\n3 1 3\n1 2 2\n1 3 3\n3 3 6\n2 2 5\n", 7, NULL);
  assert_true(symmetric ==
              content_of("%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n5\n0\n6\n",
                         7, NULL));
  uint64_t skew = content_of(BANNER "general\n3 3 4\n2 1 2\n3 1 3\n1 2 -2\n1 3 -3\n", 4, NULL);
  assert_true(skew == content_of("%%MatrixMarket matrix array real skew-symmetric\n3 3\n2\n3\n0\n",
                                 4, NULL));
  assert_refused("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
                 ":2: expected 4 entries, found 3");
  assert_refused("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n\n4\n%\n5\n",
                 ":9: data after the last of 4 entries");
  assert_refused("%%MatrixMarket matrix array real general\n2 2\n1\n2x\n3\n4\n",
                 ":4: found '2x', expected a number");
  assert_refused("%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3.5\n4\n",
                 ":5: found '3.5', expected an integer");
}

static void bad_lines(void **state) {
  (void)state;
  assert_refused(BANNER "general\n3 3 3\n1 1 1\n2 2\n3 3 1\n", ":4: no value");
  assert_refused(BANNER "general\n3 3 3\n1 1 1\n2 2 1 7\n3 3 1\n", ":4: found '7' after the entry");
  assert_refused(BANNER "general\n3 3 3\n1 1 1\n2 -2 1\n3 3 1\n",
                 ":4: column index -2 is outside 1..3");
  assert_refused(BANNER "general\n3 3 3\n1 1 1\n2 2 1e999\n3 3 1\n", ":4: value '1e999' is beyond");
  assert_refused(BANNER "general\n3 3 3\n1 1 1\n2 2 1\n", ":2: expected 3 entries, found 2");
  assert_refused(BANNER "general\n%\n", ":3: ends before the size line");
  assert_refused(BANNER "general\n3 3 9000000000000000000\n1 1 1\n2 2 1\n",
                 "expected 9000000000000000000");
  assert_refused(BANNER "general\n3 3 1\n1 1 1\nnonsense\n",
                 ":4: data after the last of 1 entries");
  assert_refused("%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1 1\n",
                 ":3: found '1' after");
  assert_refused(BANNER "symmetric\n3 4 1\n1 1 1\n", ":2: a symmetric matrix must be square");
  assert_refused(BANNER "general extra\n3 3 1\n1 1 1\n", ":1: banner: found 'extra'");
  assert_refused("%%MatrixMarket matrix coordinate real\n3 3 1\n1 1 1\n",
                 ":1: banner: found symmetry ''");
  assert_refused("\n\n", "only comments");
  assert_refused("<html>\n", ":1: found '<html>': not a Matrix Market file");
}

static void plain_text(void **state) {
  (void)state;
  uint64_t four = content_of(BANNER "general\n2 2 3\n1 1 4\n1 2 -1\n2 2 3\n", 3, NULL);
  assert_true(four == content_of("4 -1\n0 3\n", 3, NULL));
  assert_true(four == content_of("# made by hand\r\n\r\n  4.0\t-1e0 \r\n\r\n0 3", 3, NULL));
  const char *name = make("plain.txt", "4 -1 0 7\n-1 4 -1 8\n0 -1 4 9.5\n");
  for (int s = 0; s < SIZES; s++) {
    reading r;
    read_with(name, &all_sizes[s], &r);
    assert_int_equal(r.code, STATUS_OK);
    assert_string_equal(r.facts.format, "dense text");
    assert_int_equal(r.facts.columns, 3);
    assert_int_equal(r.facts.expanded, 7);
    assert_int_equal(r.facts.merged, 7);
    assert_non_null(r.rhs);
    static const double b[3] = {7.0, 8.0, 9.5};
    for (lidx i = 0; i < r.a.rows; i++) assert_same_bits(r.rhs[i], b[r.a.first_row + i]);
    for (eidx e = 0; e < r.a.offset[r.a.rows]; e++) assert_true(r.a.column[e] < 3);
    release(&r);
  }
  unmake(name);
  assert_refused("1 2 3\n4 5 6\n\n7 8\n", ":4: found 2 numbers, expected 3");
  assert_refused("1 2 3\n4 5 6\n7 8 9\n1 2 3\n", "found 4 rows of 3 numbers");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_entry_and_its_mirror),
      cmocka_unit_test(the_diagonal_of_a_skew_matrix),
      cmocka_unit_test(the_upper_triangle_alone),
      cmocka_unit_test(duplicates_add_in_file_order),
      cmocka_unit_test(a_dense_row_is_sorted),
      cmocka_unit_test(arrays_are_by_columns),
      cmocka_unit_test(bad_lines),
      cmocka_unit_test(plain_text),
  };
  RUN_READING_TESTS(argc, argv, tests);
}
