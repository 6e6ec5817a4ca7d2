/* The coarsest level (amg.h): the whole matrix on every rank, factored and solved in one order
 * (dense.h). Where all rows sum to nothing, constants are the null space: a multiple of the matrix
 * of ones makes it regular, and the mean is taken out of what goes in and comes out, which gives
 * the pseudo-inverse. What is singular in another way (several parts of a graph, each with its
 * constants) gets 2^-36 of its diagonal more: a generalised inverse up to rounding. */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "amg.h"
#include "dense.h"

/* All rows to all ranks: each brings the bits of its own. */
static status gather(const amg_grid *g, amg_dense *d) {
  const csr_block *a = g->a;
  const int64_t n = d->n;
  for (lidx i = 0; i < a->rows; i++) {
    double *row = d->factor + (a->first_row + i) * n;
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const lidx j = a->column[e];
      row[j < a->columns ? a->first_row + j : a->ghost[j - a->columns]] = a->value[e];
    }
  }
  if (comm_size(g->world) == 1) return STATUS_OK;
  int64_t *words;
  memcpy(&words, &d->factor, sizeof words);
  return comm_sum_i64(g->world, words, n * n);
}

/* Whether every row sums to nothing, as far as rounding lets one see. */
static int rows_sum_to_nothing(const amg_dense *d) {
  for (int i = 0; i < d->n; i++) {
    double sum = 0.0, size = 0.0;
    for (int j = 0; j < d->n; j++) {
      sum += d->factor[(int64_t)i * d->n + j];
      size += fabs(d->factor[(int64_t)i * d->n + j]);
    }
    if (!(fabs(sum) <= 0x1p-40 * size)) return 0;
  }
  return d->n > 0;
}

/* The diagonal's mean, over n, to all entries. */
static void pin(amg_dense *d) {
  double trace = 0.0;
  for (int i = 0; i < d->n; i++) trace += d->factor[(int64_t)i * d->n + i];
  const double each = trace / (double)d->n / (double)d->n;
  for (int64_t i = 0; i < (int64_t)d->n * d->n; i++) d->factor[i] += each;
}

/* Factors a copy; whether no pivot vanished. */
static int try_cholesky(amg_dense *d, const double *a, double shift) {
  const int64_t n = d->n;
  memcpy(d->factor, a, (size_t)(n * n) * sizeof *a);
  for (int64_t i = 0; i < n; i++) d->factor[i * n + i] = fma(shift, a[i * n + i], a[i * n + i]);
  if (dense_cholesky(d->factor, d->n) < d->n) return 0;
  for (int64_t i = 0; i < n; i++) {
    const double pivot = d->factor[i * n + i];
    if (pivot * pivot < 0x1p-40 * a[i * n + i]) return 0;
  }
  return 1;
}

static status factor(amg_dense *d, int symmetric) {
  status rc = STATUS_OK;
  const int64_t n = d->n;
  double *a = NULL;
  TRY(alloc_array(&a, n * n, sizeof *a, "coarsest matrix"));
  memcpy(a, d->factor, (size_t)(n * n) * sizeof *a);
  d->lu = !symmetric || (!try_cholesky(d, a, 0.0) && !try_cholesky(d, a, 0x1p-36));
  if (!d->lu) goto done;
  memcpy(d->factor, a, (size_t)(n * n) * sizeof *a);
  if (dense_lu(d->factor, d->n, d->pivot) == d->n) goto done;
  memcpy(d->factor, a, (size_t)(n * n) * sizeof *a);
  for (int64_t i = 0; i < n; i++) d->factor[i * n + i] = fma(0x1p-36, a[i * n + i], a[i * n + i]);
  if (dense_lu(d->factor, d->n, d->pivot) < d->n) {
    rc = fail(STATUS_DIVERGED, "amg: the coarsest matrix (%d rows) is singular", d->n);
  }
done:
  alloc_free(&a);
  return rc;
}

status amg_dense_open(const amg_grid *g, int symmetric, amg_dense *out) {
  status rc = STATUS_OK;
  const int64_t n = g->owned->rows;
  memset(out, 0, sizeof *out);
  out->n = (int)n;
  out->first = g->a->first_row;
  out->rows = g->a->rows;
  rc = alloc_zeroed(&out->factor, n * n, sizeof *out->factor, "coarsest matrix");
  if (rc == STATUS_OK) rc = alloc_array(&out->pivot, n, sizeof *out->pivot, "coarsest matrix");
  if (rc == STATUS_OK) rc = alloc_array(&out->word, n, sizeof *out->word, "coarsest level");
  if (rc == STATUS_OK) rc = alloc_array(&out->whole, n, sizeof *out->whole, "coarsest level");
  if (rc == STATUS_OK) rc = alloc_array(&out->own, out->rows, sizeof *out->own, "coarsest level");
  TRY(comm_agree(g->world, rc));
  TRY(gather(g, out));
  out->mean = symmetric && rows_sum_to_nothing(out);
  if (out->mean) pin(out);
  rc = comm_agree(g->world, factor(out, symmetric));
done:
  if (rc != STATUS_OK) amg_dense_release(out);
  return rc;
}

void amg_dense_release(amg_dense *d) {
  alloc_free(&d->factor);
  alloc_free(&d->pivot);
  alloc_free(&d->word);
  alloc_free(&d->whole);
  alloc_free(&d->own);
  memset(d, 0, sizeof *d);
}

static void remove_mean(double *x, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += x[i];
  sum /= (double)n;
  for (int i = 0; i < n; i++) x[i] -= sum;
}

status amg_dense_solve(linear_system *s, amg_dense *d, vec b, vec x) {
  status rc = STATUS_OK;
  double *whole = d->whole;
  memset(d->word, 0, (size_t)d->n * sizeof *d->word);
  ATTEMPT(s, linear_store(s, d->own, b));
  if (s->failure == STATUS_OK && d->rows > 0) {
    memcpy(d->word + d->first, d->own, (size_t)d->rows * sizeof *d->word);
  }
  if (comm_size(s->world) > 1) {
    linear_phase(s, PHASE_COMMUNICATE);
    TRY(comm_sum_i64(s->world, d->word, d->n));
    linear_phase(s, PHASE_COMPUTE);
  }
  memcpy(whole, d->word, (size_t)d->n * sizeof *whole);
  if (d->mean) remove_mean(whole, d->n);
  if (d->lu) {
    dense_lu_solve(d->factor, d->n, d->pivot, whole);
  } else {
    dense_cholesky_solve(d->factor, d->n, whole);
  }
  if (d->mean) remove_mean(whole, d->n);
  ATTEMPT(s, linear_load(s, x, whole + d->first));
done:
  return rc;
}
