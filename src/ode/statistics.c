/* Statistics of ensembles (statistics.h). Sums of single values enter wide accumulators; quantiles
 * are found digit by digit: four counts of 65536 bins over the bits of the numbers, in their order,
 * each followed by a sum over ranks. */
#include "statistics.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "wide.h"

enum { DIGITS = 4, DIGIT_BITS = 16, DIGIT_BINS = 1 << DIGIT_BITS };

static int is_good(const ode_rows *r, int64_t i) {
  return r->status[i] == ODE_DONE || r->status[i] == ODE_EVENT;
}

static double state(const ode_ensemble *e, int64_t i, int c) {
  return e->mine.y[i * e->plan.components + c];
}

/* Bits that are ordered as the numbers are. */
static uint64_t rank_of(double x) {
  const uint64_t bits = bits_of(x);
  return (bits >> 63) != 0 ? ~bits : bits | UINT64_C(1) << 63;
}

static double of_rank(uint64_t rank) {
  return double_of((rank >> 63) != 0 ? rank & ~(UINT64_C(1) << 63) : ~rank);
}

/* The states of the first trajectory that counts, which is number 0 unless that failed, on every
 * rank: those of a failed one may be far from all others. */
static status find_shift(const ode_ensemble *e, double *shift) {
  status rc = STATUS_OK;
  const ode_rows *r = &e->mine;
  const int n = e->plan.components;
  int64_t lowest = INT64_MAX;
  int owner = 0;
  for (int64_t i = r->count - 1; i >= 0; i--) {
    if (is_good(r, i)) lowest = r->first + i;
  }
  memset(shift, 0, (size_t)n * sizeof *shift);
  TRY(comm_min_i64(e->world, &lowest, 1));
  if (lowest == INT64_MAX) goto done;
  while (e->owned.first[owner + 1] <= lowest) owner++;
  if (owner == comm_rank(e->world)) {
    for (int c = 0; c < n; c++) shift[c] = state(e, lowest - r->first, c);
  }
  rc = comm_broadcast(e->world, shift, n * (int64_t)sizeof *shift, owner);
done:
  return rc;
}

/* Adds x, and carries now and then. */
static void add(wide *w, double x, int64_t i) {
  wide_add(w, x);
  if ((i & ((1 << 20) - 1)) == 0) wide_normalise(w);
}

/* Mean, variance, least and largest of component c. */
static status find_moments(const ode_ensemble *e, int c, double shift, ode_statistics *s) {
  status rc = STATUS_OK;
  const ode_rows *r = &e->mine;
  wide sum[3]; /* of x, of x - shift, of its square */
  double low = INFINITY, high = -INFINITY;
  for (int k = 0; k < 3; k++) wide_clear(&sum[k]);
  for (int64_t i = 0; i < r->count; i++) {
    const double x = state(e, i, c), d = x - shift;
    if (!is_good(r, i)) continue;
    add(&sum[0], x, i);
    add(&sum[1], d, i);
    add(&sum[2], d * d, i);
    if (x < low) low = x;
    if (x > high) high = x;
  }
  for (int k = 0; k < 3; k++) wide_normalise(&sum[k]);
  TRY(comm_sum_i64(e->world, sum[0].word, 3 * WIDE_WORDS));
  TRY(comm_min_f64(e->world, &low, 1));
  TRY(comm_max_f64(e->world, &high, 1));
  const double count = (double)s->count, d = wide_round(&sum[1]);
  s->mean[c] = s->count > 0 ? wide_round(&sum[0]) / count : NAN;
  s->variance[c] = s->count > 1 ? (wide_round(&sum[2]) - d * (d / count)) / (count - 1.0) : NAN;
  if (s->variance[c] < 0.0) s->variance[c] = 0.0; /* rounding of a spread that is none */
  s->minimum[c] = s->count > 0 ? low : NAN;
  s->maximum[c] = s->count > 0 ? high : NAN;
done:
  return rc;
}

/* The ordered value number k of component c. */
static status find_ordered(const ode_ensemble *e, int c, int64_t k, int64_t *bin, double *out) {
  status rc = STATUS_OK;
  const ode_rows *r = &e->mine;
  uint64_t prefix = 0;
  for (int digit = 0; digit < DIGITS; digit++) {
    const int low = 64 - DIGIT_BITS * (digit + 1);
    memset(bin, 0, DIGIT_BINS * sizeof *bin);
    for (int64_t i = 0; i < r->count; i++) {
      const uint64_t at = rank_of(state(e, i, c));
      if (!is_good(r, i)) continue;
      if (digit > 0 && at >> (low + DIGIT_BITS) != prefix) continue;
      bin[at >> low & (DIGIT_BINS - 1)]++;
    }
    TRY(comm_sum_i64(e->world, bin, DIGIT_BINS));
    int64_t d = 0;
    while (k >= bin[d]) k -= bin[d++];
    prefix = prefix << DIGIT_BITS | (uint64_t)d;
  }
  *out = of_rank(prefix);
done:
  return rc;
}

static void count_bins(const ode_ensemble *e, int c, ode_statistics *s) {
  const double low = s->minimum[c], width = s->maximum[c] - low;
  int64_t *histogram = s->histogram + (int64_t)c * s->bins;
  for (int64_t i = 0; i < e->mine.count; i++) {
    if (!is_good(&e->mine, i)) continue;
    const double at = width > 0.0 ? (state(e, i, c) - low) / width * s->bins : 0.0;
    histogram[at < s->bins - 1 ? (int64_t)at : s->bins - 1]++;
  }
}

static status make_room(const ode_ensemble *e, int quantiles, int bins, ode_statistics *s) {
  status rc = STATUS_OK;
  const int n = e->plan.components;
  memset(s, 0, sizeof *s);
  s->components = n;
  s->quantiles = quantiles;
  s->bins = bins;
  TRY(alloc_zeroed(&s->memory, (int64_t)n * (4 + quantiles), sizeof *s->memory, "statistics"));
  TRY(alloc_zeroed(&s->histogram, (int64_t)n * bins, sizeof *s->histogram, "histograms"));
  s->mean = s->memory;
  s->variance = s->mean + n;
  s->minimum = s->variance + n;
  s->maximum = s->minimum + n;
  s->quantile = s->maximum + n;
done:
  return rc;
}

status ode_statistics_create(const ode_ensemble *e, const double *q, int quantiles, int bins,
                             ode_statistics *out) {
  status rc = STATUS_OK;
  const int n = e->plan.components;
  double *shift = NULL;
  int64_t *bin = NULL;
  rc = make_room(e, quantiles, bins, out);
  if (rc == STATUS_OK) rc = alloc_array(&shift, n, sizeof *shift, "statistics");
  if (rc == STATUS_OK) rc = alloc_array(&bin, DIGIT_BINS, sizeof *bin, "statistics");
  TRY(comm_agree(e->world, rc));
  out->count = e->ended[ODE_DONE] + e->ended[ODE_EVENT];
  TRY(find_shift(e, shift));
  for (int c = 0; c < n; c++) {
    TRY(find_moments(e, c, shift[c], out));
    for (int k = 0; k < quantiles; k++) {
      double *at = &out->quantile[k * n + c];
      *at = NAN;
      if (out->count == 0) continue;
      TRY(find_ordered(e, c, (int64_t)floor(q[k] * (double)(out->count - 1)), bin, at));
    }
    if (out->count > 0) count_bins(e, c, out);
  }
  TRY(comm_sum_i64(e->world, out->histogram, (int64_t)n * bins));
done:
  alloc_free(&shift);
  alloc_free(&bin);
  return rc;
}

void ode_statistics_release(ode_statistics *s) {
  alloc_free(&s->memory);
  alloc_free(&s->histogram);
}
