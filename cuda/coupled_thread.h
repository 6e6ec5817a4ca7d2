/* Points of a coupled system by GPU threads (coupled.h has the system, coupled_args.h what comes
 * in). Valid C too: a test compiles the same text for the host (tests/unit/coupled_kernel_text.c).
 *
 * Derivatives: a near point's values are read at constant places around its own, those of a group
 * all before the first formula, so that enough bytes are under way: 8 bytes read and 8 written per
 * component, the reaches coming from the caches; lines of a group share what they see. Far points,
 * those at ends of lines and of the owned run, look up every reach.
 *
 * Sums: a thread adds block after block of 256 others in the order of block_sum(): a lane's terms
 * in a chain, lanes 0, 16, 8, 24, 4, ... one after the other, so that the tree needs five partial
 * sums and not 32.
 *
 * Who includes this defines before, as constants (coupled_define.h),
 *   COUPLED_N_FIELDS, COUPLED_N_REACHES, COUPLED_N_VALUES, COUPLED_N_SUMS   those of the system
 *   COUPLED_AT_ONCE, COUPLED_IS_GRID                                  see coupled_near
 * and the functions
 *   coupled_value(in, out), coupled_jacobian_value(in, out), coupled_sum_value(in, out)
 *   coupled_look(y, line, s, in): in[k] = what the point s lines after y sees through reach k
 *   pair_load(at, &a, &b), pair_store(at, a, b)                       as in pair.h */
#ifndef CUDA_COUPLED_THREAD_H
#define CUDA_COUPLED_THREAD_H

#include "block_sum.h"
#include "coupled_args.h"

enum {
  COUPLED_IN = COUPLED_COMMON + COUPLED_N_REACHES + COUPLED_N_VALUES + COUPLED_N_SUMS,
  COUPLED_IN_SUMS = COUPLED_COMMON + 2 * COUPLED_N_FIELDS + COUPLED_N_VALUES,
  COUPLED_SLOPES = COUPLED_N_FIELDS * COUPLED_N_REACHES,
  COUPLED_ANY_SUMS = COUPLED_N_SUMS > 0 ? COUPLED_N_SUMS : 1
};

/* What formulas of point (i, j) begin with. */
PORTABLE void coupled_begin(const coupled_state *s, gidx i, gidx j, double *in) {
  in[COUPLED_T] = s->t;
  in[COUPLED_I] = (double)i;
  in[COUPLED_J] = (double)j;
  in[COUPLED_N] = (double)s->layout.n;
  in[COUPLED_M] = (double)s->layout.m;
  in[COUPLED_OTHER] = 0.0;
}

PORTABLE void coupled_values(const coupled_state *s, double *in) {
  UNROLLED for (int k = 0; k < COUPLED_N_VALUES; k++) in[k] = s->value[k];
}

/* What follows the reaches: q is the point's local number. */
PORTABLE void coupled_rest(const coupled_state *s, int64_t q, double *in) {
  coupled_values(s, in);
  UNROLLED for (int k = 0; k < COUPLED_N_SUMS; k++) {
    in[COUPLED_N_VALUES + k] = s->sum[q * COUPLED_N_SUMS + k];
  }
}

PORTABLE void coupled_store(const double *value, double *out) {
  if (COUPLED_N_FIELDS % 2 == 0) {
    UNROLLED for (int f = 0; f + 1 < COUPLED_N_FIELDS; f += 2) {
      pair_store(out + f, value[f], value[f + 1]);
    }
  } else {
    UNROLLED for (int f = 0; f < COUPLED_N_FIELDS; f++) out[f] = value[f];
  }
}

/* p / n, 0 <= p < 2^50: by the inverse of n, which is off by one at most. */
PORTABLE gidx coupled_line_of(gidx p, gidx n, double inverse) {
  gidx line = (gidx)((double)p * inverse);
  if (line * n > p) line--;
  if (line * n + n <= p) line++;
  return line;
}

/* ---- derivatives ---- */

/* A group of near points, from its first on, `step` values apart. */
PORTABLE void coupled_group(const coupled_rhs_args *a, gidx p, gidx i, gidx j, int64_t step) {
  double in[COUPLED_AT_ONCE][COUPLED_IN], value[COUPLED_AT_ONCE][COUPLED_N_FIELDS];
  const int64_t at = (p - a->s.layout.first) * COUPLED_N_FIELDS;
  UNROLLED for (int s = 0; s < COUPLED_AT_ONCE; s++) {
    coupled_begin(&a->s, COUPLED_IS_GRID ? i : i + s * COUPLED_THREADS, COUPLED_IS_GRID ? j + s : j,
                  in[s]);
    coupled_look(a->s.y + at, step, s, in[s] + COUPLED_COMMON);
    coupled_rest(&a->s, (at + s * step) / COUPLED_N_FIELDS,
                 in[s] + COUPLED_COMMON + COUPLED_N_REACHES);
  }
  UNROLLED for (int s = 0; s < COUPLED_AT_ONCE; s++) coupled_value(in[s], value[s]);
  UNROLLED for (int s = 0; s < COUPLED_AT_ONCE; s++) {
    coupled_store(value[s], a->out + at + s * step);
  }
}

/* The near points of one thread. */
PORTABLE void coupled_near_points(const coupled_rhs_args *a, int64_t block, int thread) {
  if (COUPLED_IS_GRID) {
    const gidx n = a->s.layout.n, at = block * COUPLED_THREADS + thread;
    const gidx group = coupled_line_of(at, n, a->near.inverse), i = at - group * n;
    const gidx j = a->near.start + group * COUPLED_AT_ONCE;
    if (i < a->near.left || i >= a->near.right || group >= a->near.groups) return;
    coupled_group(a, j * n + i, i, j, n * COUPLED_N_FIELDS);
  } else {
    const gidx p = a->near.start + block * (COUPLED_THREADS * COUPLED_AT_ONCE) + thread;
    coupled_group(a, p, p, 0, COUPLED_THREADS * COUPLED_N_FIELDS);
  }
}

/* All inputs of the derivative's formula at owned point q, wherever what it sees lies. */
PORTABLE void coupled_inputs(const coupled_state *s, lidx q, double *in) {
  const coupled_layout *l = &s->layout;
  const gidx p = l->first + q, j = p / l->n, i = p - j * l->n;
  coupled_begin(s, i, j, in);
  UNROLLED_ON_GPU(1)
  for (int k = 0; k < COUPLED_N_REACHES; k++) {
    const coupled_piece seen = coupled_piece_of(l, l->reach[k], i, j, 1);
    in[COUPLED_COMMON + k] =
        seen.from < 0 ? 0.0 : s->y[coupled_place(l, seen.from) + l->reach[k].field];
  }
  coupled_rest(s, q, in + COUPLED_COMMON + COUPLED_N_REACHES);
}

GPU_FAR void coupled_far_point(const coupled_rhs_args *a, lidx q) {
  double in[COUPLED_IN], value[COUPLED_N_FIELDS];
  coupled_inputs(&a->s, q, in);
  coupled_value(in, value);
  coupled_store(value, a->out + (int64_t)q * COUPLED_N_FIELDS);
}

/* ---- Jacobians ---- */

/* The rows of owned point q, as coupled_columns() orders their entries. */
PORTABLE void coupled_rows(const coupled_jacobian_args *a, lidx q) {
  const coupled_layout *l = &a->s.layout;
  const gidx p = l->first + q;
  double in[COUPLED_IN], slope[COUPLED_SLOPES + 1];
  gidx column[COUPLED_COLUMNS];
  int what[COUPLED_REACHES];
  coupled_inputs(&a->s, q, in);
  coupled_jacobian_value(in, slope);
  UNROLLED_ON_GPU(1)
  for (int f = 0; f < COUPLED_N_FIELDS; f++) {
    const int columns = coupled_columns(l, p, f, column, what);
    double *row =
        a->entry + (a->offset[(int64_t)(q - a->begin) * COUPLED_N_FIELDS + f] - a->before);
    for (int c = 0; c < columns; c++) row[c] = 0.0;
    for (int k = 0; k < COUPLED_N_REACHES; k++) {
      if (what[k] >= 0) row[what[k]] += slope[f * COUPLED_N_REACHES + k];
    }
    for (int c = 0; c < columns; c++) {
      row[c] = fma(-a->scale, row[c], column[c] == p * COUPLED_N_FIELDS + f ? 1.0 : 0.0);
    }
  }
}

/* ---- sums over all points ---- */

/* coupled_place() where all other points are ghosts. */
PORTABLE int64_t coupled_place_of_all(const coupled_layout *l, gidx p) {
  const gidx q = p - l->first;
  return (p < l->first ? p + l->count : q < l->count ? q : p) * COUPLED_N_FIELDS;
}

/* The inputs of the sums' formula but those of the other point. */
PORTABLE void coupled_own(const coupled_state *s, lidx q, double *in) {
  const coupled_layout *l = &s->layout;
  const gidx p = l->first + q, j = p / l->n;
  coupled_begin(s, p - j * l->n, j, in);
  UNROLLED for (int f = 0; f < COUPLED_N_FIELDS; f++) {
    in[COUPLED_COMMON + f] = s->y[(int64_t)q * COUPLED_N_FIELDS + f];
  }
  coupled_values(s, in + COUPLED_COMMON + 2 * COUPLED_N_FIELDS);
}

PORTABLE int coupled_bits_turned(int c) {
  return (c & 1) << 4 | (c & 2) << 2 | (c & 4) | (c & 8) >> 2 | c >> 4;
}

/* Adds the terms of one lane. `full`: of 256 others. */
PORTABLE void coupled_lane(const coupled_state *s, double *in, gidx begin, int count, int full,
                           int lane, double *sum) {
  double term[COUPLED_ANY_SUMS];
  UNROLLED_ON_GPU(1)
  for (int k = 0; k < BLOCK_MAX / BLOCK_LANES; k++) {
    const int other = lane + k * BLOCK_LANES;
    if (!full && other >= count) break;
    const double *theirs = s->y + coupled_place_of_all(&s->layout, begin + other);
    in[COUPLED_OTHER] = (double)(begin + other);
    UNROLLED for (int f = 0; f < COUPLED_N_FIELDS; f++) {
      in[COUPLED_COMMON + COUPLED_N_FIELDS + f] = theirs[f];
    }
    coupled_sum_value(in, term);
    UNROLLED for (int m = 0; m < COUPLED_N_SUMS; m++) sum[m] += term[m];
  }
}

/* sum[] = block_sum() of the terms of others [begin, begin + count), count <= 256. */
PORTABLE void coupled_block(const coupled_state *s, double *in, gidx begin, int count,
                            double *sum) {
  double kept[5][COUPLED_ANY_SUMS]; /* a partial sum of each level of the tree */
  UNROLLED_ON_GPU(1)
  for (int c = 0; c < BLOCK_LANES; c++) {
    int open = 1;
    UNROLLED for (int m = 0; m < COUPLED_N_SUMS; m++) sum[m] = 0.0;
    if (count == BLOCK_MAX) {
      coupled_lane(s, in, begin, count, 1, coupled_bits_turned(c), sum);
    } else {
      coupled_lane(s, in, begin, count, 0, coupled_bits_turned(c), sum);
    }
    UNROLLED for (int level = 0; level < 5; level++) {
      const int second = c >> level & 1;
      UNROLLED for (int m = 0; m < COUPLED_N_SUMS; m++) {
        if (open && second) sum[m] = kept[level][m] + sum[m];
        if (open && !second) kept[level][m] = sum[m];
      }
      open = open && second;
    }
  }
}

#endif
