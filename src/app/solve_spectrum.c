/* What `solve` and `inspect` measure of the spectrum of D^-1 A, and what they make of it: the
 * relaxation factor of jor, and advice where Jacobi diverged. */
#include <stdio.h>

#include "alloc.h"
#include "log.h"
#include "solve_job.h"

/* Lanczos steps behind omega = auto, a tenth of a second where a solve takes minutes. */
enum { OMEGA_STEPS = 40 };

status solve_measure(solve_job *j, int steps) {
  status rc = STATUS_OK;
  linear_system *s = &j->system;
  const matrix_survey *f = &j->survey;
  vec inverse = {.rows = 0};
  double *host = NULL;
  const int whole = f->missing_diagonal + f->zero_diagonal == 0;
  if (whole) {
    ATTEMPT(s, alloc_array(&host, s->rows, sizeof *host, "inverse diagonal"));
    ATTEMPT(s, linear_vector(s, "inverse diagonal", &inverse));
    for (lidx i = 0; host != NULL && i < s->rows; i++) host[i] = 1.0 / j->diagonal[i];
    if (host != NULL) ATTEMPT(s, linear_load(s, inverse, host));
    TRY(comm_agree(s->world, s->failure));
  }
  TRY(spectrum_measure(s, f, inverse, steps, &j->spectrum));
  rc = comm_agree(s->world, s->failure);
done:
  linear_vector_release(s, &inverse);
  alloc_free(&host);
  return rc;
}

/* lambda_max is taken at the far end of its bound and lambda_min at its Ritz value: too small an
 * omega costs a few sweeps, too large a one diverges. */
static double best_omega(const lanczos_interval *e) {
  return 2.0 / (e->low + e->high + e->high_error);
}

status solve_auto_omega(solve_job *j, double *omega) {
  status rc = STATUS_OK;
  const lanczos_interval *e = &j->spectrum.ends;
  if (!spectrum_is_real(&j->survey)) {
    rc = comm_agree(j->run->c, fail(STATUS_INPUT,
                                    "omega = auto of %s needs a symmetric matrix with a positive "
                                    "diagonal (its bounds come from Lanczos); give a number",
                                    j->method->name));
    goto done;
  }
  TRY(solve_measure(j, OMEGA_STEPS));
  if (j->spectrum.how == SPECTRUM_LANCZOS && !e->indefinite) {
    *omega = best_omega(e);
    goto done;
  }
  rc = comm_agree(
      j->run->c,
      fail(
          STATUS_INPUT,
          "omega = auto: the matrix is not positive definite (D^-1 A has an eigenvalue at or below "
          "%.6g): %s converges for no omega; try --method minres",
          e->low, j->method->name));
done:
  return rc;
}

/* Advice on a divergence of the Jacobi family, from bounds measured after it. */
status solve_explain_divergence(solve_job *j) {
  status rc = STATUS_OK;
  const lanczos_interval *e = &j->spectrum.ends;
  if (j->solve.reason != REASON_DIVERGED || !(j->method->flags & SOLVER_DIVIDES_BY_DIAGONAL)) {
    return STATUS_OK;
  }
  if (!spectrum_is_real(&j->survey)) return STATUS_OK;
  TRY(solve_measure(j, OMEGA_STEPS));
  if (j->spectrum.how != SPECTRUM_LANCZOS) goto done;
  if (e->indefinite) {
    snprintf(j->advice, sizeof j->advice,
             "the matrix is symmetric but not positive definite (D^-1 A has an eigenvalue at or "
             "below %.6g): no omega helps; try --method minres",
             e->low);
  } else {
    snprintf(j->advice, sizeof j->advice,
             "the matrix is symmetric and, by %d Lanczos steps, positive definite with lambda_max "
             "of D^-1 A at most %.6g: jor converges for omega below 2/lambda_max = %.4g, best "
             "about %.4g (--method jor --omega auto); cg needs fewer iterations (--method cg)",
             e->steps, e->high + e->high_error, 2.0 / (e->high + e->high_error), best_omega(e));
  }
done:
  return rc;
}
