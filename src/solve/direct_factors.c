/* Who factorises for method direct (direct.h). A package of the backend works on rank 0's device
 * alone: rows are gathered there (direct_gather.h), scaled by powers of two (direct_scaling.h),
 * solutions scattered from there.
 *
 * Such packages replace pivots that are too small and go on. Whether that mattered is tried with a
 * solution that is known: the scaled matrix times ones is solved for. Factors of A + E, where E is
 * of rounding size, give 1 up to the condition number times E for a matrix that is not singular; a
 * singular one leaves an error along its null space whose largest part is at least 1, as no
 * replaced pivot's own unknown comes back (its equation reads delta x = 0). */
#include "direct.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "direct_gather.h"
#include "direct_scaling.h"
#include "log.h"

/* An error of the known solution, of size 1, from which on the matrix is called singular. */
static const double LOST = 0.25;

struct direct {
  mumps *mumps;
  const direct_package *package;
  void *made; /* the package's, on rank 0 */
  comm *c;
  lidx rows; /* of the whole */
  direct_gather gather;
  int *left, *right; /* rank 0: exponents of rows and columns */
  double *all;       /* rank 0: [rows] */
};

status direct_look(linear_system *s) {
  status rc = STATUS_OK;
  const direct_package *own = s->kernels->direct;
  char without[512] = "";
  int64_t found = 0;
  s->package = NULL;
  if (own != NULL && comm_rank(s->world) == 0) {
    found = own->find() == STATUS_OK;
    if (!found) snprintf(without, sizeof without, "%s", fail_text());
    fail_clear();
  }
  if (own != NULL) TRY(comm_max_i64(s->world, &found, 1));
  if (found) {
    s->package = own;
    log_info("method direct: %s factorises, on rank 0's GPU", own->name);
    goto done;
  }
  rc = mumps_find();
  if (rc != STATUS_OK && without[0] != '\0') {
    char neither[512];
    snprintf(neither, sizeof neither, "%s", fail_text());
    fail_clear();
    rc = fail(STATUS_UNAVAILABLE, "%s; %s", without, neither);
  }
  TRY(comm_agree(s->world, rc));
  log_info("method direct: MUMPS factorises, on CPUs%s%s", without[0] == '\0' ? "" : "; ", without);
done:
  return rc;
}

/* Sets g to A ones, in the order of entries. */
static void times_ones(const direct_matrix *a, double *g) {
  for (lidx i = 0; i < a->rows; i++) g[i] = 0.0;
  for (lidx i = 0; i < a->rows; i++) {
    for (int32_t e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const lidx j = a->column[e];
      g[i] += a->value[e];
      if (a->symmetric && j != i) g[j] += a->value[e];
    }
  }
}

/* Rank 0, local: gives the factors up where they do not find a solution that is known. */
static status try_known(direct *d, const direct_matrix *whole, int64_t replaced,
                        char broke[DIRECT_TEXT]) {
  status rc = STATUS_OK;
  double worst = 0.0;
  times_ones(whole, d->all);
  TRY(d->package->solve(d->made, d->all));
  for (lidx i = 0; i < d->rows; i++) {
    const double error = fabs(d->all[i] - 1.0);
    if (!(error <= worst)) worst = error; /* NaN stays */
    if (isnan(worst)) break;
  }
  if (worst <= LOST) goto done;
  d->package->close(&d->made);
  snprintf(
      broke, DIRECT_TEXT,
      "the matrix is singular to working accuracy: %s replaced %lld of %lld pivots, and a known "
      "solution came back off by %.1g",
      d->package->name, (long long)replaced, (long long)d->rows, worst);
done:
  return rc;
}

/* Rank 0, local. */
static status factorise(direct *d, const linear_system *s, direct_matrix *whole,
                        char broke[DIRECT_TEXT]) {
  status rc = STATUS_OK;
  int64_t replaced = 0;
  d->rows = whole->rows;
  TRY(alloc_array(&d->left, d->rows, sizeof *d->left, "scaling"));
  TRY(alloc_array(&d->right, d->rows, sizeof *d->right, "scaling"));
  TRY(alloc_array(&d->all, d->rows, sizeof *d->all, "right-hand side of the whole"));
  TRY(direct_scale(whole, d->left, d->right));
  TRY(d->package->open(s->place, whole, &d->made, &replaced, broke));
  if (d->made != NULL && replaced > 0) TRY(try_known(d, whole, replaced, broke));
done:
  return rc;
}

/* By the backend's package. */
static status open_whole(direct *d, const linear_system *s, const csr_block *a,
                         const ownership *owned, int symmetric, char broke[DIRECT_TEXT]) {
  status rc = STATUS_OK;
  direct_matrix whole = {0};
  TRY(direct_gather_matrix(d->c, a, owned, symmetric, &d->gather, &whole));
  if (owned->rank == 0) rc = factorise(d, s, &whole, broke);
  TRY(comm_agree(d->c, rc));
  rc = comm_broadcast(d->c, broke, DIRECT_TEXT, 0);
done:
  direct_matrix_release(&whole);
  return rc;
}

status direct_open(const linear_system *s, const csr_block *a, const ownership *owned,
                   int symmetric, direct **out, char broke[DIRECT_TEXT]) {
  status rc = STATUS_OK;
  direct *d = NULL;
  *out = NULL;
  memset(broke, 0, DIRECT_TEXT);
  TRY(comm_agree(s->world, alloc_zeroed(&d, 1, sizeof *d, "direct solver")));
  d->c = s->world;
  d->package = s->package;
  TRY(d->package == NULL ? mumps_open(d->c, a, owned, symmetric, &d->mumps, broke)
                         : open_whole(d, s, a, owned, symmetric, broke));
  if (broke[0] != '\0') goto done;
  *out = d;
  d = NULL;
done:
  direct_close(&d);
  return rc;
}

status direct_solve(direct *d, double *x) {
  status rc = STATUS_OK;
  if (d->package == NULL) return mumps_solve(d->mumps, x);
  TRY(direct_gather_vector(&d->gather, x, d->all));
  if (d->made != NULL) {
    direct_shift(d->rows, d->left, d->all);
    rc = d->package->solve(d->made, d->all);
    direct_shift(d->rows, d->right, d->all);
  }
  TRY(comm_agree(d->c, rc));
  TRY(direct_scatter_vector(&d->gather, d->all, x));
done:
  return rc;
}

void direct_close(direct **out) {
  direct *d = *out;
  if (d == NULL) return;
  mumps_close(&d->mumps);
  if (d->made != NULL) d->package->close(&d->made);
  direct_gather_release(&d->gather);
  alloc_free(&d->left);
  alloc_free(&d->right);
  alloc_free(&d->all);
  alloc_free(out);
}
