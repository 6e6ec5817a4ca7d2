/* Symmetry without moving the matrix: the multiset of entries above the diagonal, each hashed as
 * (row, column, value), equals the multiset of those below hashed as (column, row, value) exactly
 * when a_ij == a_ji for all. Each rank adds its hashes modulo 2^64, in any order; the sums over
 * ranks are compared. An unsymmetric matrix passes only if two sums of independent 64-bit mixes
 * agree by chance: 2^-64 a matrix, far below the odds of a memory error, and a wrongly admitted CG
 * still has its true residual checked. Stored zeros equal missing entries, so they are left out,
 * which also makes -0.0 equal +0.0. */
#include "survey.h"

#include <math.h>
#include <string.h>

#include "fingerprint.h"

static uint64_t entry_hash(gidx i, gidx j, double value) {
  return fingerprint_mix(bits_of(value) ^
                         fingerprint_mix((uint64_t)i ^ fingerprint_mix((uint64_t)j)));
}

/* Value at (i, j) of the own rows, 0 when not stored. */
static double lookup(const csr_rows *a, lidx i, gidx column) {
  const eidx end = a->offset[i + 1];
  const eidx at = index_lower_bound(a->column, a->offset[i], end, column);
  return at < end && a->column[at] == column ? a->value[at] : 0.0;
}

void survey_diagonal(const csr_rows *a, double *diagonal) {
  for (lidx i = 0; i < a->rows; i++) diagonal[i] = lookup(a, i, a->first_row + i);
}

/* The smallest of the rows a rank has met comes first: rows are walked in order. */
static void count_row(int64_t *count, gidx *first, gidx gi) {
  if (*count == 0) *first = gi;
  ++*count;
}

static void count_length(matrix_survey *s, int64_t length) {
  int bin = 0;
  while (bin < LENGTH_BINS - 1 && (length >> bin) != 0) bin++;
  s->lengths[bin]++;
  if (s->shortest < 0 || length < s->shortest) s->shortest = length;
  if (length > s->longest) s->longest = length;
}

static void survey_row(const csr_rows *a, lidx i, matrix_survey *s, uint64_t *upper,
                       uint64_t *lower) {
  const gidx gi = a->first_row + i;
  const eidx begin = a->offset[i], end = a->offset[i + 1];
  double diagonal = 0.0, others = 0.0;
  int stored = 0;
  for (eidx e = begin; e < end; e++) {
    const gidx gj = a->column[e];
    const double value = a->value[e];
    const gidx distance = gi > gj ? gi - gj : gj - gi;
    if (distance > s->bandwidth) s->bandwidth = distance;
    if (distance == 0) {
      diagonal = value;
      stored = 1;
      continue;
    }
    others += fabs(value);
    if (value == 0.0) continue;
    if (gi < gj) {
      *upper += entry_hash(gi, gj, value);
    } else {
      *lower += entry_hash(gj, gi, value);
    }
  }
  count_length(s, end - begin);
  if (begin == end) count_row(&s->empty_rows, &s->first_empty, gi);
  if (gi < a->global_columns) {
    if (!stored) count_row(&s->missing_diagonal, &s->first_missing, gi);
    if (stored && diagonal == 0.0) count_row(&s->zero_diagonal, &s->first_zero, gi);
    if (diagonal < 0.0) count_row(&s->negative_diagonal, &s->first_negative, gi);
  }
  /* the sum of the others is rounded: rows within its error count as equal */
  s->strictly_dominant += fabs(diagonal) > others * (1.0 + 1e-14);
  s->weakly_dominant += fabs(diagonal) >= others * (1.0 - 1e-14) && begin != end;
}

/* Smallest over ranks, -1 meaning none. */
static status smallest(comm *c, gidx *const *first, int count) {
  int64_t least[5];
  for (int i = 0; i < count; i++) least[i] = *first[i] < 0 ? INT64_MAX : *first[i];
  status rc = comm_min_i64(c, least, count);
  for (int i = 0; i < count; i++) *first[i] = least[i] == INT64_MAX ? -1 : least[i];
  return rc;
}

/* ---- the first entry that differs from its mirror ----
 *
 * The same sums, split into buckets of the smaller index of a pair, say in which bucket the first
 * such pair lies; buckets within that one narrow it down to a row, and then likewise to a column.
 * At most eight passes over the own entries, most of them mere comparisons, and as many small sums
 * over ranks: whatever the ranks, the pair is the smallest. */

enum { BUCKET_BITS = 8, BUCKETS = 1 << BUCKET_BITS };

typedef struct bucketing {
  gidx row;   /* pairs of this row alone, by their column; -1: all, by their row */
  gidx begin; /* of the first bucket */
  int shift;  /* log2 of a bucket's width */
} bucketing;

static void add_to_buckets(const csr_rows *a, const bucketing *k, uint64_t sum[BUCKETS]) {
  for (lidx i = 0; i < a->rows; i++) {
    const gidx gi = a->first_row + i;
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const gidx gj = a->column[e], low = gi < gj ? gi : gj, high = gi < gj ? gj : gi;
      if (low == high || a->value[e] == 0.0 || (k->row >= 0 && low != k->row)) continue;
      const gidx at = (k->row >= 0 ? high : low) - k->begin;
      if (at < 0 || at >> k->shift >= BUCKETS) continue;
      const uint64_t hash = entry_hash(low, high, a->value[e]);
      sum[at >> k->shift] += gi < gj ? hash : -hash; /* modulo 2^64 */
    }
  }
}

/* The smallest index whose sum is not zero; -1 when there is none. */
static status narrow_down(comm *c, const csr_rows *a, gidx row, gidx *found) {
  status rc = STATUS_OK;
  bucketing k = {.row = row};
  *found = -1;
  while (a->global_rows >> k.shift >= BUCKETS) k.shift += BUCKET_BITS;
  for (;; k.shift -= BUCKET_BITS) {
    uint64_t own[BUCKETS] = {0};
    int64_t sum[BUCKETS];
    int first = 0;
    add_to_buckets(a, &k, own);
    memcpy(sum, own, sizeof sum);
    TRY(comm_sum_i64(c, sum, BUCKETS));
    while (first < BUCKETS && sum[first] == 0) first++;
    if (first == BUCKETS) goto done;
    k.begin += (gidx)first << k.shift;
    if (k.shift == 0) break;
  }
  *found = k.begin;
done:
  return rc;
}

/* The bits of the value at (i, j) on the rank that owns row i, 0 elsewhere. */
static int64_t own_bits(const csr_rows *a, gidx i, gidx j) {
  const gidx at = i - a->first_row;
  return at < 0 || at >= a->rows ? 0 : (int64_t)bits_of(lookup(a, (lidx)at, j));
}

static status find_odd_entry(comm *c, const csr_rows *a, matrix_survey *s) {
  status rc = STATUS_OK;
  gidx row, column;
  TRY(narrow_down(c, a, -1, &row));
  if (row < 0) goto done;
  TRY(narrow_down(c, a, row, &column));
  if (column < 0) goto done;
  int64_t bits[2] = {own_bits(a, row, column), own_bits(a, column, row)};
  TRY(comm_sum_i64(c, bits, 2));
  s->odd_row = row, s->odd_column = column;
  memcpy(&s->odd_value, &bits[0], sizeof bits[0]);
  memcpy(&s->odd_mirror, &bits[1], sizeof bits[1]);
done:
  return rc;
}

static status combine(comm *c, matrix_survey *s, uint64_t upper, uint64_t lower) {
  status rc = STATUS_OK;
  int64_t sum[9 + LENGTH_BINS] = {s->entries,           s->missing_diagonal, s->zero_diagonal,
                                  s->negative_diagonal, s->empty_rows,       s->strictly_dominant,
                                  s->weakly_dominant,   (int64_t)upper,      (int64_t)lower};
  memcpy(sum + 9, s->lengths, sizeof s->lengths);
  int64_t top[2] = {s->bandwidth, s->longest};
  gidx *least[5] = {&s->first_missing, &s->first_zero, &s->first_negative, &s->first_empty,
                    &s->shortest};
  TRY(comm_sum_i64(c, sum, 9 + LENGTH_BINS));
  TRY(comm_max_i64(c, top, 2));
  TRY(smallest(c, least, 5));
  s->entries = sum[0], s->missing_diagonal = sum[1], s->zero_diagonal = sum[2];
  s->negative_diagonal = sum[3], s->empty_rows = sum[4];
  s->strictly_dominant = sum[5], s->weakly_dominant = sum[6];
  s->symmetric = s->rows == s->columns && sum[7] == sum[8];
  memcpy(s->lengths, sum + 9, sizeof s->lengths);
  s->bandwidth = top[0], s->longest = top[1];
  if (s->shortest < 0) s->shortest = 0;
done:
  return rc;
}

status survey_matrix(comm *c, const csr_rows *a, matrix_survey *out) {
  uint64_t upper = 0, lower = 0;
  memset(out, 0, sizeof *out);
  out->rows = a->global_rows;
  out->columns = a->global_columns;
  out->entries = a->offset[a->rows];
  out->first_missing = out->first_zero = out->first_negative = out->first_empty = -1;
  out->odd_row = out->odd_column = -1;
  out->shortest = -1;
  for (lidx i = 0; i < a->rows; i++) survey_row(a, i, out, &upper, &lower);
  status rc = combine(c, out, upper, lower);
  if (rc == STATUS_OK && !out->symmetric && out->rows == out->columns) {
    rc = find_odd_entry(c, a, out);
  }
  return rc;
}

double survey_bytes_to_read(double rows, double entries) { return 24.0 * entries + 8.0 * rows; }

double survey_bytes_to_solve(double rows, double entries) {
  return (12.0 + 4.0) * entries + (1.0 + 7.0 * 8.0) * rows;
}
