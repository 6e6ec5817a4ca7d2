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
  eidx low = a->offset[i], high = a->offset[i + 1];
  while (low < high) {
    const eidx middle = low + (high - low) / 2;
    if (a->column[middle] < column) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < a->offset[i + 1] && a->column[low] == column ? a->value[low] : 0.0;
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
    const gidx mirror = gj - a->first_row;
    if (s->odd_row >= 0 || mirror < 0 || mirror >= a->rows) continue;
    const double other = lookup(a, (lidx)mirror, gi);
    if (other != value) {
      s->odd_row = gi, s->odd_column = gj;
      s->odd_value = value, s->odd_mirror = other;
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
  int64_t negated[5];
  for (int i = 0; i < count; i++) negated[i] = *first[i] < 0 ? INT64_MIN : -*first[i];
  status rc = comm_max_i64(c, negated, count);
  for (int i = 0; i < count; i++) *first[i] = negated[i] == INT64_MIN ? -1 : -negated[i];
  return rc;
}

/* The odd entry of the lowest rank that found one. */
static status share_odd_entry(comm *c, matrix_survey *s) {
  struct {
    gidx row, column;
    double value, mirror;
  } odd = {s->odd_row, s->odd_column, s->odd_value, s->odd_mirror};
  int64_t owner = s->odd_row >= 0 ? -(int64_t)comm_rank(c) : INT64_MIN;
  status rc = comm_max_i64(c, &owner, 1);
  if (rc != STATUS_OK || owner == INT64_MIN) return rc;
  rc = comm_broadcast(c, &odd, sizeof odd, (int)-owner);
  s->odd_row = odd.row, s->odd_column = odd.column;
  s->odd_value = odd.value, s->odd_mirror = odd.mirror;
  return rc;
}

static status combine(comm *c, matrix_survey *s, uint64_t upper, uint64_t lower) {
  status rc = STATUS_OK;
  int64_t sum[9 + LENGTH_BINS] = {s->entries,           s->missing_diagonal, s->zero_diagonal,
                                  s->negative_diagonal, s->empty_rows,       s->strictly_dominant,
                                  s->weakly_dominant,   (int64_t)upper,      (int64_t)lower};
  memcpy(sum + 9, s->lengths, sizeof s->lengths);
  int64_t top[3] = {s->bandwidth, s->longest, s->shortest < 0 ? INT64_MIN : -s->shortest};
  gidx *first[4] = {&s->first_missing, &s->first_zero, &s->first_negative, &s->first_empty};
  TRY(comm_sum_i64(c, sum, 9 + LENGTH_BINS));
  TRY(comm_max_i64(c, top, 3));
  TRY(smallest(c, first, 4));
  TRY(share_odd_entry(c, s));
  s->entries = sum[0], s->missing_diagonal = sum[1], s->zero_diagonal = sum[2];
  s->negative_diagonal = sum[3], s->empty_rows = sum[4];
  s->strictly_dominant = sum[5], s->weakly_dominant = sum[6];
  s->symmetric = s->rows == s->columns && sum[7] == sum[8];
  memcpy(s->lengths, sum + 9, sizeof s->lengths);
  s->bandwidth = top[0], s->longest = top[1];
  s->shortest = top[2] == INT64_MIN ? 0 : -top[2];
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
  return combine(c, out, upper, lower);
}

double survey_bytes_to_read(double rows, double entries) { return 24.0 * entries + 8.0 * rows; }

double survey_bytes_to_solve(double rows, double entries) {
  return (12.0 + 4.0) * entries + (1.0 + 7.0 * 8.0) * rows;
}
