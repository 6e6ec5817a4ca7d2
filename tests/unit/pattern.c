/* Row shapes, distinct values and narrow columns on awkward matrices: what is found is what is
 * there, bit for bit, whatever the number of threads. */
#include "pattern.h"
#include "alloc.h"
#include "sell.h"
#include "test.h"
#include "values.h"

#include <math.h>
#include <string.h>

enum { ROWS = 5000 };

/* A matrix whose row i has `length` entries, the k-th at column(i, k) with value(i, k). */
typedef struct maker {
  lidx rows, ghosts, length;
  lidx (*column)(lidx i, lidx k);
  double (*value)(lidx i, lidx k);
} maker;

static void build(const maker *m, csr_block *a) {
  const eidx entries = (eidx)m->rows * m->length;
  memset(a, 0, sizeof *a);
  a->rows = m->rows;
  a->ghosts = m->ghosts;
  assert_ok(alloc_array(&a->offset, (int64_t)m->rows + 1, sizeof *a->offset, "offsets"));
  assert_ok(alloc_array(&a->column, entries, sizeof *a->column, "columns"));
  assert_ok(alloc_array(&a->value, entries, sizeof *a->value, "values"));
  for (lidx i = 0; i < m->rows; i++) {
    for (lidx k = 0; k < m->length; k++) {
      a->column[i * m->length + k] = m->column(i, k);
      a->value[i * m->length + k] = m->value(i, k);
    }
  }
  for (lidx i = 0; i <= m->rows; i++) a->offset[i] = (eidx)i * m->length;
}

/* Every row that has a code has the entries of its shape. */
static void check(const row_pattern *p, const csr_block *a) {
  lidx rows = 0;
  for (lidx i = 0; i < a->rows; i++) {
    if (p->shapes == 0 || !p->fits[i / 256]) continue;
    const lidx s = pattern_code(p, i), n = p->first[s + 1] - p->first[s];
    rows++;
    assert_in_range(s, 0, p->shapes - 1);
    assert_int_equal(n, a->offset[i + 1] - a->offset[i]);
    for (lidx k = 0; k < n; k++) {
      assert_int_equal(i + p->offset[p->first[s] + k], a->column[a->offset[i] + k]);
      assert_same_bits(p->value[p->first[s] + k], a->value[a->offset[i] + k]);
    }
  }
  assert_int_equal(rows, p->fit_rows);
  assert_true(p->shapes == 0 || (p->code1 != NULL) == (p->shapes <= 256));
  assert_true(p->code1 == NULL || p->code2 == NULL);
}

/* Looks with 1 and 3 threads: the same; *out is what was found. */
static void look(const csr_block *a, row_pattern *out) {
  row_pattern other;
  assert_ok(pattern_create(1, a, out));
  assert_ok(pattern_create(3, a, &other));
  check(out, a);
  check(&other, a);
  assert_int_equal(out->shapes, other.shapes);
  assert_int_equal(out->fit_tiles, other.fit_tiles);
  assert_int_equal(out->distinct, other.distinct);
  assert_int_equal(pattern_bytes(out), pattern_bytes(&other));
  for (lidx i = 0; out->shapes > 0 && i < a->rows; i++) {
    assert_int_equal(pattern_code(out, i), pattern_code(&other, i));
  }
  pattern_release(&other);
}

static lidx shapes_of(const maker *m, lidx *fit_rows) {
  csr_block a;
  row_pattern p;
  build(m, &a);
  look(&a, &p);
  const lidx shapes = p.shapes;
  if (fit_rows != NULL) *fit_rows = p.fit_rows;
  pattern_release(&p);
  csr_block_release(&a);
  return shapes;
}

static lidx diagonal(lidx i, lidx k) { return i + k; }
static double one(lidx i, lidx k) { return (double)(i >= 0) + (double)k; }
static double by_300(lidx i, lidx k) { return (double)(i % 300) + (double)k; }
static double by_row(lidx i, lidx k) { return (double)i + 0.1 * (double)k; }

/* Half the rows one shape, half all different. */
static double half(lidx i, lidx k) { return i < ROWS / 2 ? 1.0 : by_row(i, k); }

/* A row in 100 is like no other: tiles have two or three of them. */
static double strangers(lidx i, lidx k) { return i % 100 == 0 ? by_row(i, k) : 1.0; }

static double signed_zeros(lidx i, lidx k) { return k == 0 && i % 2 ? -0.0 : 0.0; }

static double nans(lidx i, lidx k) {
  (void)k;
  return double_of((UINT64_C(0x7ff8) << 48) + (uint64_t)(i % 3));
}

static void few_shapes_are_found(void **state) {
  (void)state;
  lidx fit;
  const maker plain = {ROWS, 3, 3, diagonal, one};
  assert_int_equal(shapes_of(&plain, &fit), 1);
  assert_int_equal(fit, ROWS);
  const maker many = {ROWS, 3, 3, diagonal, by_300};
  assert_int_equal(shapes_of(&many, &fit), 300);
  assert_int_equal(fit, ROWS);
  const maker empty = {ROWS, 0, 0, diagonal, one};
  assert_int_equal(shapes_of(&empty, &fit), 1);
  const maker single = {1, 0, 1, diagonal, one};
  assert_int_equal(shapes_of(&single, NULL), 0); /* nothing repeats */
  const maker none = {0, 0, 0, diagonal, one};
  assert_int_equal(shapes_of(&none, NULL), 0);
}

static void bits_tell_values_apart(void **state) {
  (void)state;
  const maker zeros = {ROWS, 2, 2, diagonal, signed_zeros};
  assert_int_equal(shapes_of(&zeros, NULL), 2);
  const maker payloads = {ROWS, 1, 1, diagonal, nans};
  assert_int_equal(shapes_of(&payloads, NULL), 3);
}

static void rows_that_differ_are_left_out(void **state) {
  (void)state;
  lidx fit;
  const maker all = {ROWS, 3, 3, diagonal, by_row};
  assert_int_equal(shapes_of(&all, &fit), 0);
  assert_int_equal(fit, 0);
  const maker some = {ROWS, 3, 3, diagonal, half};
  assert_int_equal(shapes_of(&some, &fit), 1);
  assert_int_equal(fit, ROWS / 2 / 256 * 256);
  /* few enough of them are kept: each is a shape */
  const maker few = {ROWS, 3, 3, diagonal, strangers};
  assert_int_equal(shapes_of(&few, &fit), 1 + ROWS / 100);
  assert_int_equal(fit, ROWS);
  const maker lengthy = {ROWS, 65, 65, diagonal, one};
  assert_int_equal(shapes_of(&lengthy, NULL), 0);
}

/* More shapes than there is room for: the frequent ones stay. */
static double crowd(lidx i, lidx k) {
  return i / 256 % 2 ? 1.0 : (double)(i % 256 + i / 1024 * 256) + (double)k;
}

static void the_table_is_bounded(void **state) {
  (void)state;
  lidx fit;
  /* tiles in pairs of twins, with 256 shapes a pair; every other tile is of one shape */
  const maker m = {256 * 256, 3, 3, diagonal, crowd};
  const lidx shapes = shapes_of(&m, &fit);
  assert_in_range(shapes, 2, PATTERN_SHAPES);
  assert_true(fit >= 128 * 256);
  assert_true(fit < 256 * 256);
}

static void weights_are_learnt(void **state) {
  (void)state;
  const maker m = {ROWS, 3, 3, diagonal, by_300};
  csr_block a;
  row_pattern p;
  double *x, by_shape[300];
  build(&m, &a);
  assert_ok(pattern_create(2, &a, &p));
  assert_ok(alloc_array(&x, ROWS, sizeof *x, "weights"));
  for (lidx i = 0; i < ROWS; i++) x[i] = 1.0 / (double)(i % 300 + 1);
  assert_int_equal(pattern_learn(3, &p, x, by_shape), 1);
  for (lidx i = 0; i < ROWS; i++) assert_same_bits(by_shape[pattern_code(&p, i)], x[i]);
  x[ROWS - 1] = -x[ROWS - 1];
  assert_int_equal(pattern_learn(3, &p, x, by_shape), 0);
  alloc_free(&x);
  pattern_release(&p);
  csr_block_release(&a);
}

/* ---- packed ---- */

static double sevenths(lidx i, lidx k) { return (double)((i * 31 + k) % 200) / 7.0; }
static double thousands(lidx i, lidx k) { return (double)((i * 31 + k) % 1000) / 7.0; }
static double floats(lidx i, lidx k) { return (double)((int64_t)i * 3 + k) * 0x1p-3; }
static double thirds(lidx i, lidx k) { return (double)((int64_t)i * 3 + k) / 3.0; }

/* The farthest column of a slice is `reach` from the nearest. */
static lidx reach;
static lidx apart(lidx i, lidx k) { return i / 8 * 8 % 1000 + (i % 8 == 7 && k == 2 ? reach : k); }

static void packed_kinds(const maker *m, int value, int column) {
  const sell_plan plan = {.lanes = 8, .level = SELL_PACKED, .threads = 2};
  csr_block a;
  sell s;
  build(m, &a);
  assert_ok(sell_create(&a, &plan, &s));
  for (lidx i = 0; i < s.slices; i++) {
    assert_int_equal(value_bytes(s.kind[i]), value);
    if (i + 1 < s.slices) assert_int_equal(column_bytes(s.kind[i]), column);
  }
  sell_release(&s);
  csr_block_release(&a);
}

static void the_narrowest_form_is_taken(void **state) {
  (void)state;
  static const lidx reaches[] = {255, 256, 65535, 65536};
  static const int columns[] = {1, 2, 2, 4};
  for (int i = 0; i < 4; i++) {
    const maker m = {80000, 0, 3, apart, thirds};
    reach = reaches[i];
    packed_kinds(&m, 8, columns[i]);
  }
  reach = 3;
  const maker forms[] = {{ROWS, 3, 3, apart, sevenths},
                         {ROWS, 3, 3, apart, thousands},
                         {ROWS, 3, 3, apart, floats},
                         {ROWS, 3, 3, apart, thirds}};
  static const int bytes[] = {1, 2, 4, 8};
  for (int i = 0; i < 4; i++) packed_kinds(&forms[i], bytes[i], 1);
}

static double one_of(lidx i, lidx k, uint64_t count) {
  const uint64_t h = ((uint64_t)i * 5 + (uint64_t)k) * UINT64_C(0x9e3779b97f4a7c15);
  return (double)((h ^ h >> 32) % count) / 3.0;
}
static double seventy_thousand(lidx i, lidx k) { return one_of(i, k, 70000); }
static double forty_thousand(lidx i, lidx k) { return one_of(i, k, 40000); }

static void values_are_counted(void **state) {
  (void)state;
  static const struct {
    double (*value)(lidx, lidx);
    lidx count;
  } cases[] = {{one, 5},  {seventy_thousand, 0}, {forty_thousand, 40000},
               {nans, 3}, {signed_zeros, 2},     {thirds, 0}};
  for (int i = 0; i < 6; i++) {
    const maker m = {100000, 5, 5, diagonal, cases[i].value};
    csr_block a;
    build(&m, &a);
    for (int threads = 1; threads <= 3; threads += 2) {
      values v;
      assert_ok(values_create(threads, &a, NULL, &v));
      assert_int_equal(v.count, cases[i].count);
      for (lidx k = 0; k < v.count; k++) assert_int_equal(values_number(&v, v.value[k]), k);
      if (v.count > 0) assert_same_bits(v.value[0], a.value[0]); /* by first use */
      values_release(&v);
    }
    csr_block_release(&a);
  }
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  const maker m = {ROWS, 3, 3, diagonal, by_300};
  csr_block a;
  build(&m, &a);
  const int64_t before = alloc_live();
  int failures = 0;
  for (int n = 1; n < 60; n++) {
    row_pattern p;
    alloc_fail_at(n);
    const status rc = pattern_create(1, &a, &p);
    alloc_fail_at(0);
    failures += rc == STATUS_UNAVAILABLE;
    fail_clear();
    pattern_release(&p);
    assert_int_equal(alloc_live(), before);
  }
  assert_in_range(failures, 10, 50);
  csr_block_release(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_shapes_are_found),
      cmocka_unit_test(bits_tell_values_apart),
      cmocka_unit_test(rows_that_differ_are_left_out),
      cmocka_unit_test(the_table_is_bounded),
      cmocka_unit_test(weights_are_learnt),
      cmocka_unit_test(the_narrowest_form_is_taken),
      cmocka_unit_test(values_are_counted),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
