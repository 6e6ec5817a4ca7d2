/* The order of row products, against the rule written out naively for awkward lengths. */
#include "row_product.h"
#include "alloc.h"
#include "test.h"

enum { LONGEST = 20000, UNKNOWNS = 501 };

static double lanes_by_definition(const double *v, const lidx *c, int64_t count, const double *x,
                                  int absolute) {
  double lane[32];
  for (int l = 0; l < 32; l++) {
    lane[l] = 0.0;
    for (int64_t e = l; e < count; e += 32) {
      lane[l] = absolute ? fma(fabs(v[e]), fabs(x[c[e]]), lane[l]) : fma(v[e], x[c[e]], lane[l]);
    }
  }
  for (int half = 16; half >= 1; half /= 2) {
    double old[32];
    for (int l = 0; l < 32; l++) old[l] = lane[l];
    for (int l = 0; l < 32; l++) lane[l] = old[l] + old[l ^ half];
  }
  return lane[0];
}

static double by_definition(const double *v, const lidx *c, int64_t count, const double *x,
                            int absolute) {
  double sum = 0.0;
  if (count <= 64) {
    for (int64_t e = 0; e < count; e++) {
      sum = absolute ? fma(fabs(v[e]), fabs(x[c[e]]), sum) : fma(v[e], x[c[e]], sum);
    }
    return sum;
  }
  if (count <= 8192) return lanes_by_definition(v, c, count, x, absolute);
  for (int64_t begin = 0; begin < count; begin += 4096) {
    int64_t size = count - begin < 4096 ? count - begin : 4096;
    sum = sum + lanes_by_definition(v + begin, c + begin, size, x, absolute);
  }
  return sum;
}

static void every_length_keeps_its_order(void **state) {
  (void)state;
  static const int64_t lengths[] = {0,    1,     2,     63,    64,    65,     95,   96,
                                    97,   4095,  4096,  4097,  8191,  8192,   8193, 8256,
                                    8257, 12287, 12288, 12289, 12300, LONGEST};
  double *value, x[UNKNOWNS];
  lidx *column;
  assert_ok(alloc_array(&value, LONGEST, sizeof *value, "values"));
  assert_ok(alloc_array(&column, LONGEST, sizeof *column, "columns"));
  for (int e = 0; e < LONGEST; e++) {
    value[e] = (e % 2 ? 1.0 : -1.0) / (e % 1013 + 1);
    column[e] = e * 7 % UNKNOWNS;
  }
  for (int i = 0; i < UNKNOWNS; i++) x[i] = (i % 4 - 1.5) * (i + 1);
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    for (int absolute = 0; absolute < 2; absolute++) {
      assert_same_bits(row_product(value, column, lengths[i], x, absolute),
                       by_definition(value, column, lengths[i], x, absolute));
    }
  }
  alloc_free(&value);
  alloc_free(&column);
}

static void only_rows_above_8192_have_segments(void **state) {
  (void)state;
  assert_int_equal(row_segments(8192), 0);
  assert_int_equal(row_segments(8193), 3);
  assert_int_equal(row_segments(12288), 3);
  assert_int_equal(row_segments(12289), 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_length_keeps_its_order),
      cmocka_unit_test(only_rows_above_8192_have_segments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
