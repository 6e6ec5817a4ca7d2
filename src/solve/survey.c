/* Symmetry without moving the matrix: the multiset of entries above the diagonal, each hashed as
 * (row, column, value), equals the multiset of those below hashed as (column, row, value) exactly
 * when a_ij == a_ji for all. Each rank adds its hashes modulo 2^64, in any order; the sums over
 * ranks are compared. An unsymmetric matrix passes only if two sums of independent 64-bit mixes
 * agree by chance: 2^-64 a matrix, far below the odds of a memory error, and a wrongly admitted CG
 * still has its true residual checked. Stored zeros equal missing entries, so they are left out,
 * which also makes -0.0 equal +0.0. */
#include "survey.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "alloc.h"
#include "fingerprint.h"
#include "team.h"

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

typedef struct diagonal_work {
  const csr_rows *a;
  double *diagonal;
} diagonal_work;

static void diagonal_part(void *context, int part, int64_t begin, int64_t end) {
  const diagonal_work *w = context;
  (void)part;
  for (lidx i = (lidx)begin; i < end; i++) w->diagonal[i] = lookup(w->a, i, w->a->first_row + i);
}

void survey_diagonal(int threads, const csr_rows *a, double *diagonal) {
  diagonal_work w = {a, diagonal};
  team_for(threads, a->rows, diagonal_part, &w);
}

/* The smallest of the rows a thread has met comes first: rows are walked in order. */
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

/* What one thread, or all, have seen. */
typedef struct findings {
  matrix_survey s;
  uint64_t upper, lower;
} findings;

static void survey_row(const csr_rows *a, lidx i, findings *f) {
  matrix_survey *s = &f->s;
  const gidx gi = a->first_row + i;
  const eidx begin = a->offset[i], end = a->offset[i + 1];
  double diagonal = 0.0, others = 0.0, sum = 0.0;
  int stored = 0;
  for (eidx e = begin; e < end; e++) {
    const gidx gj = a->column[e];
    const double value = a->value[e];
    const double size = fabs(value);
    const gidx distance = gi > gj ? gi - gj : gj - gi;
    if (size > s->largest) s->largest = size;
    if (distance > s->bandwidth) s->bandwidth = distance;
    sum += value;
    if (distance == 0) {
      diagonal = value;
      stored = 1;
      continue;
    }
    others += size;
    if (value == 0.0) continue;
    if (gi < gj) {
      f->upper += entry_hash(gi, gj, value);
    } else {
      f->lower += entry_hash(gj, gi, value);
    }
  }
  const double ratio = others / fabs(diagonal); /* 0 / 0 of an empty row is NaN: no ratio */
  if (ratio > s->off_diagonal) s->off_diagonal = ratio;
  s->zero_sums +=
      begin != end && fabs(sum) <= (double)(end - begin) * DBL_EPSILON * (fabs(diagonal) + others);
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

typedef struct bucket_work {
  const csr_rows *a;
  bucketing k;
  atomic_ullong sum[BUCKETS];
} bucket_work;

static void bucket_part(void *context, int part, int64_t begin, int64_t end) {
  bucket_work *w = context;
  const csr_rows *a = w->a;
  const bucketing *k = &w->k;
  uint64_t sum[BUCKETS] = {0};
  (void)part;
  for (lidx i = (lidx)begin; i < end; i++) {
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
  for (int b = 0; b < BUCKETS; b++) atomic_fetch_add(&w->sum[b], sum[b]);
}

static void add_to_buckets(int threads, const csr_rows *a, const bucketing *k,
                           int64_t sum[BUCKETS]) {
  bucket_work w = {.a = a, .k = *k};
  for (int b = 0; b < BUCKETS; b++) atomic_init(&w.sum[b], 0);
  team_for(threads, a->rows, bucket_part, &w);
  for (int b = 0; b < BUCKETS; b++) sum[b] = (int64_t)atomic_load(&w.sum[b]);
}

/* The smallest index whose sum is not zero; -1 when there is none. */
static status narrow_down(comm *c, int threads, const csr_rows *a, gidx row, gidx *found) {
  status rc = STATUS_OK;
  bucketing k = {.row = row};
  *found = -1;
  while (a->global_rows >> k.shift >= BUCKETS) k.shift += BUCKET_BITS;
  for (;; k.shift -= BUCKET_BITS) {
    int64_t sum[BUCKETS];
    int first = 0;
    add_to_buckets(threads, a, &k, sum);
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

static status find_odd_entry(comm *c, int threads, const csr_rows *a, matrix_survey *s) {
  status rc = STATUS_OK;
  gidx row, column;
  TRY(narrow_down(c, threads, a, -1, &row));
  if (row < 0) goto done;
  TRY(narrow_down(c, threads, a, row, &column));
  if (column < 0) goto done;
  int64_t bits[2] = {own_bits(a, row, column), own_bits(a, column, row)};
  TRY(comm_sum_i64(c, bits, 2));
  s->odd_row = row, s->odd_column = column;
  memcpy(&s->odd_value, &bits[0], sizeof bits[0]);
  memcpy(&s->odd_mirror, &bits[1], sizeof bits[1]);
done:
  return rc;
}

/* ---- bringing threads and ranks together ---- */

enum { COUNTS = 8, LEAST = 5, MOST = 2 };

/* The fields by how they are brought together; `first_...` and shortest have -1 for none. */
typedef struct fields {
  int64_t *count[COUNTS], *least[LEAST], *most[MOST];
} fields;

static fields fields_of(matrix_survey *s) {
  return (fields){
      {&s->entries, &s->missing_diagonal, &s->zero_diagonal, &s->negative_diagonal, &s->empty_rows,
       &s->strictly_dominant, &s->weakly_dominant, &s->zero_sums},
      {&s->first_missing, &s->first_zero, &s->first_negative, &s->first_empty, &s->shortest},
      {&s->bandwidth, &s->longest}};
}

static void merge(findings *to, findings *from) {
  const fields t = fields_of(&to->s), f = fields_of(&from->s);
  for (int i = 0; i < COUNTS; i++) *t.count[i] += *f.count[i];
  for (int i = 0; i < LEAST; i++) { /* unsigned, -1 is the largest */
    if ((uint64_t)*f.least[i] < (uint64_t)*t.least[i]) *t.least[i] = *f.least[i];
  }
  for (int i = 0; i < MOST; i++) {
    if (*f.most[i] > *t.most[i]) *t.most[i] = *f.most[i];
  }
  for (int i = 0; i < LENGTH_BINS; i++) to->s.lengths[i] += from->s.lengths[i];
  if (from->s.largest > to->s.largest) to->s.largest = from->s.largest;
  if (from->s.off_diagonal > to->s.off_diagonal) to->s.off_diagonal = from->s.off_diagonal;
  to->upper += from->upper;
  to->lower += from->lower;
}

static status combine(comm *c, findings *found) {
  status rc = STATUS_OK;
  matrix_survey *s = &found->s;
  const fields f = fields_of(s);
  int64_t sum[COUNTS + 2 + LENGTH_BINS], least[LEAST], most[MOST];
  for (int i = 0; i < COUNTS; i++) sum[i] = *f.count[i];
  sum[COUNTS] = (int64_t)found->upper, sum[COUNTS + 1] = (int64_t)found->lower;
  memcpy(sum + COUNTS + 2, s->lengths, sizeof s->lengths);
  for (int i = 0; i < LEAST; i++) least[i] = *f.least[i] < 0 ? INT64_MAX : *f.least[i];
  for (int i = 0; i < MOST; i++) most[i] = *f.most[i];
  TRY(comm_sum_i64(c, sum, COUNTS + 2 + LENGTH_BINS));
  TRY(comm_min_i64(c, least, LEAST));
  TRY(comm_max_i64(c, most, MOST));
  double largest[2] = {s->largest, s->off_diagonal};
  TRY(comm_max_f64(c, largest, 2));
  s->largest = largest[0], s->off_diagonal = largest[1];
  for (int i = 0; i < COUNTS; i++) *f.count[i] = sum[i];
  for (int i = 0; i < LEAST; i++) *f.least[i] = least[i] == INT64_MAX ? -1 : least[i];
  for (int i = 0; i < MOST; i++) *f.most[i] = most[i];
  memcpy(s->lengths, sum + COUNTS + 2, sizeof s->lengths);
  s->symmetric = s->rows == s->columns && sum[COUNTS] == sum[COUNTS + 1];
  if (s->shortest < 0) s->shortest = 0;
done:
  return rc;
}

typedef struct surveying {
  const csr_rows *a;
  findings *found; /* [threads] */
} surveying;

static const matrix_survey NOTHING = {.first_missing = -1,
                                      .first_zero = -1,
                                      .first_negative = -1,
                                      .first_empty = -1,
                                      .odd_row = -1,
                                      .odd_column = -1,
                                      .shortest = -1};

static void survey_part(void *context, int part, int64_t begin, int64_t end) {
  const surveying *w = context;
  findings mine = {.s = NOTHING}; /* nobody else's cache lines */
  for (lidx i = (lidx)begin; i < end; i++) survey_row(w->a, i, &mine);
  mine.s.entries = w->a->offset[end] - w->a->offset[begin];
  w->found[part] = mine;
}

status survey_matrix(comm *c, int threads, const csr_rows *a, matrix_survey *out) {
  status rc = STATUS_OK;
  surveying w = {.a = a};
  *out = NOTHING;
  TRY(comm_agree(c, alloc_array(&w.found, threads, sizeof *w.found, "survey of a matrix")));
  team_for(threads, a->rows, survey_part, &w);
  for (int t = 1; t < threads; t++) merge(&w.found[0], &w.found[t]);
  w.found[0].s.rows = a->global_rows;
  w.found[0].s.columns = a->global_columns;
  TRY(combine(c, &w.found[0]));
  *out = w.found[0].s;
  if (!out->symmetric && out->rows == out->columns) TRY(find_odd_entry(c, threads, a, out));
done:
  alloc_free(&w.found);
  return rc;
}

double survey_bytes_to_read(double rows, double entries) { return 24.0 * entries + 8.0 * rows; }

double survey_bytes_to_solve(double rows, double entries) {
  return (12.0 + 4.0) * entries + (1.0 + 7.0 * 8.0) * rows;
}
