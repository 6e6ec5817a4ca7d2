/* Sobol points: direction numbers against published ones, nets before and after scrambling,
 * replicates that differ, and blocks of points against points one by one. */
#include "sobol.h"

#include <string.h>

#include "quad_host.h"
#include "test.h"

/* Rows of the published table (new-joe-kuo-6.21201): d, s, a, m_1 .. m_s. */
static const int published[9][8] = {{2, 1, 0, 1},
                                    {3, 2, 1, 1, 3},
                                    {4, 3, 1, 1, 3, 1},
                                    {5, 3, 2, 1, 1, 1},
                                    {6, 4, 1, 1, 1, 3, 3},
                                    {7, 4, 4, 1, 3, 5, 13},
                                    {8, 5, 2, 1, 1, 5, 5, 17},
                                    {9, 5, 4, 1, 1, 5, 5, 5},
                                    {10, 5, 7, 1, 1, 7, 11, 19}};

/* m_j 2^(digits - j) is column j - 1; the m follow the recurrence of Joe and Kuo (2008), (2.2):
 * m_j = 2 a_1 m_(j-1) ^ 4 a_2 m_(j-2) ^ ... ^ 2^s m_(j-s) ^ m_(j-s). */
static void directions(void **state) {
  (void)state;
  static const uint64_t known[8] = {1, 3, 3, 9, 29, 23, 71, 197}; /* of the third direction */
  for (int row = 0; row < 9; row++) {
    const int *line = published[row], s = line[1];
    uint64_t m[33] = {0}, column[SOBOL_COLUMNS];
    for (int j = 1; j <= 32; j++) {
      m[j] = j <= s ? (uint64_t)line[2 + j] : m[j - s] ^ m[j - s] << s;
      for (int k = 1; k < s && j > s; k++) {
        if ((line[2] >> (s - 1 - k) & 1) != 0) m[j] ^= m[j - k] << k;
      }
    }
    sobol_directions(line[0] - 1, column);
    for (int j = 1; j <= 32; j++) assert_int_equal(column[j - 1], m[j] << (SOBOL_DIGITS - j));
    for (int j = 1; j <= 8 && line[0] == 3; j++) assert_int_equal(m[j], known[j - 1]);
  }
}

static int cell(uint64_t digits, int bits) {
  return bits == 0 ? 0 : (int)(digits >> (SOBOL_DIGITS - bits));
}

/* Every direction: 2^k points, one in each of 2^k cells, from any aligned start. */
static void one_direction(const uint64_t *table, int d) {
  for (int k = 1; k <= 10; k++) {
    for (uint64_t start = 0; start < 4; start++) {
      char seen[1024] = {0};
      for (uint64_t i = 0; i < UINT64_C(1) << k; i++) {
        const int at = cell(sobol_digits(table, (start << k) + i), k);
        if (seen[at]++)
          fail_msg("direction %d, 2^%d points from %d: cell %d twice", d, k, (int)start, at);
      }
    }
  }
}

/* The first two directions: 2^k points, one in each of 2^k boxes of every shape. */
static void two_directions(const uint64_t *x, const uint64_t *y) {
  enum { K = 8 };
  for (int a = 0; a <= K; a++) {
    char seen[1 << K] = {0};
    for (uint64_t i = 0; i < 1 << K; i++) {
      const int at = cell(sobol_digits(x, i), a) << (K - a) | cell(sobol_digits(y, i), K - a);
      if (seen[at]++) fail_msg("boxes 2^-%d x 2^-%d: one holds two points", a, K - a);
    }
  }
}

static void nets(void **state) {
  (void)state;
  uint64_t table[SOBOL_DIMS][SOBOL_STRIDE];
  for (int replicate = -1; replicate < 3; replicate++) {
    for (int d = 0; d < SOBOL_DIMS; d++) {
      if (replicate < 0) {
        sobol_directions(d, table[d]);
        table[d][SOBOL_COLUMNS] = 0;
      } else {
        sobol_scramble(7, replicate, d, table[d]);
      }
      one_direction(table[d], d);
    }
    two_directions(table[0], table[1]);
  }
}

/* Scrambled points are uniform each: over replicates and seeds, point 0 of a direction lies
 * anywhere, and digits are on half the time. */
static void random_enough(void **state) {
  (void)state;
  enum { TRIES = 400 };
  int on[SOBOL_DIGITS] = {0};
  for (int t = 0; t < TRIES; t++) {
    uint64_t table[SOBOL_STRIDE];
    sobol_scramble((uint64_t)(t / 16), t % 16, t % 3, table);
    const uint64_t digits = sobol_digits(table, 5) ^ sobol_digits(table, 1);
    const uint64_t shifted = sobol_digits(table, 0);
    for (int k = 0; k < SOBOL_DIGITS; k++) {
      on[k] += (int)(shifted >> k & 1);
      /* the matrix alone: the first digits of a difference are those of the unscrambled one */
      if (k < SOBOL_DIGITS - 3) on[k] += 2 * (int)(digits >> k & 1);
    }
  }
  for (int k = 0; k < SOBOL_DIGITS - 3; k++) {
    if (on[k] < 3 * TRIES / 2 - 180 || on[k] > 3 * TRIES / 2 + 180) {
      fail_msg("digit %d is on %d times of %d", SOBOL_DIGITS - k, on[k], 3 * TRIES);
    }
  }
}

/* Blocks of the fast form have the bits of quad_point, wherever they begin. */
static void blocks(void **state) {
  (void)state;
  static uint64_t table[2][3][SOBOL_STRIDE];
  quad_grid g = {.kind = QUAD_SOBOL, .dims = 3, .table = {table}, .replicate = 1};
  g.axis[0] = (quad_axis){.range = QUAD_FINITE, .lower = -2.0, .upper = 3.0, .step = 5.0};
  g.axis[1] = (quad_axis){.range = QUAD_UPWARD, .upper = 1.0, .step = 1.0, .anchor = 4.0};
  g.axis[2] = (quad_axis){.range = QUAD_LINE, .lower = -1.0, .upper = 1.0, .step = 2.0};
  for (int r = 0; r < 2; r++) {
    for (int d = 0; d < 3; d++) sobol_scramble(3, r, d, table[r][d]);
  }
  static const int64_t first[] = {0, 1 << 20, INT64_C(5) << 40}, points[] = {1, 16, 1024, 1 << 18};
  for (int f = 0; f < 3; f++) {
    for (int p = 0; p < 4; p++) {
      static quad_samples s;
      g.first = first[f];
      g.points = points[p];
      const int64_t block = quad_blocks(&g) - 1;
      quad_samples_make(&g, block, &s);
      for (int i = 0; i < s.count; i++) {
        int64_t digit[QUAD_DIMS];
        double x[QUAD_DIMS] = {0.0};
        quad_digits(&g, s.first + i, digit);
        assert_same_bits(quad_point(&g, digit, x, NULL), s.weight[i]);
        for (int d = 0; d < 3; d++) assert_same_bits(x[d], s.x[d][i]);
        assert_true(x[0] > -2.0 && x[0] < 3.0 && x[1] > 4.0);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(directions), cmocka_unit_test(nets),
                                     cmocka_unit_test(random_enough), cmocka_unit_test(blocks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
