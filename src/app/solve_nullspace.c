/* The commonest singular system: constants are the null space, as with Neumann conditions all
 * around. Rows and columns sum to zero, so A x has mean 0 whatever x, and b splits into b - mean,
 * which is solved for, and the mean, which no x reaches: |b - A x| >= |mean| sqrt(n). Where that
 * alone is above the tolerance the system is incompatible, and what comes back is the least-squares
 * solution. Of all solutions, which differ by constants, the one of mean 0.
 *
 * Methods run unchanged: a residual of mean 0 stays one, and what they need of A is its action on
 * such vectors. Means are exact sums, rounded once. Zero sums of rows are those within rounding
 * (survey.h); sums of columns equal them in a symmetric matrix, in others 1.(A v) is looked at for
 * random v. Source: Bochev, Lehoucq, SIAM Review 47 (2005) 50-66. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "linear.h"
#include "log.h"
#include "problems.h"
#include "solve_job.h"

/* Shares of a tolerance below which the unreachable part does not count. */
static const double NEGLIGIBLE = 1e-3, HEADROOM = 1e-3;

/* The mean of v. Collective. */
static status mean_of(linear_system *s, vec v, vec ones, double *mean) {
  status rc = STATUS_OK;
  double largest, sum;
  TRY(linear_max_abs(s, v, &largest));
  const double scale = linear_scale_for(largest);
  TRY(linear_dots(s, 1, &v, ones, scale, &sum));
  *mean = ldexp(sum, -2 * ilogb(scale)) / (double)s->global_rows;
done:
  return rc;
}

/* v -= its mean, and once more what rounding left; *mean: what was taken out. */
static status take_mean(linear_system *s, vec v, vec ones, double *mean) {
  status rc = STATUS_OK;
  double found[2] = {0.0, 0.0};
  for (int pass = 0; pass < 2; pass++) {
    TRY(mean_of(s, v, ones, &found[pass]));
    if (found[pass] == 0.0 || !isfinite(found[pass])) break;
    ATTEMPT(s, s->kernels->combine(s->place, -found[pass], ones, 1.0, v, v));
  }
  *mean = found[0] + found[1];
done:
  return rc;
}

/* 1.(A v) for two random v, against what rounding explains. */
static status columns_sum_to_zero(solve_job *j, vec ones, int *zero) {
  status rc = STATUS_OK;
  linear_system *s = &j->system;
  const vec none = {.rows = 0};
  vec v = {.rows = 0}, w = {.rows = 0};
  double *host = NULL;
  *zero = 1;
  ATTEMPT(s, linear_vector(s, "probe", &v));
  ATTEMPT(s, linear_vector(s, "probe", &w));
  ATTEMPT(s, alloc_array(&host, s->rows, sizeof *host, "probe"));
  TRY(comm_agree(s->world, s->failure));
  for (uint64_t probe = 1; probe <= 2; probe++) {
    double sum, norm[2];
    for (lidx i = 0; i < s->rows; i++) host[i] = problem_random_rhs(probe, s->first_row + i);
    ATTEMPT(s, linear_load(s, v, host));
    TRY(linear_residual(s, v, ones, none, 1.0, norm));
    TRY(linear_product(s, v, w));
    TRY(linear_dots(s, 1, &w, ones, 1.0, &sum));
    const double rounding = 8.0 * DBL_EPSILON * sqrt((double)s->global_rows) * norm[1];
    if (!(fabs(sum) <= rounding)) *zero = 0;
  }
done:
  alloc_free(&host);
  linear_vector_release(s, &v);
  linear_vector_release(s, &w);
  return rc;
}

/* Whether constants are the null space that the options mean. */
static status find(solve_job *j, vec ones, int *found) {
  status rc = STATUS_OK;
  const matrix_survey *f = &j->survey;
  const char *asked = options_text(j->run->o, "solve.nullspace");
  const int insists = strcmp(asked, "constant") == 0;
  *found = 0;
  if (f->zero_sums != f->rows) {
    if (insists) {
      rc = fail(STATUS_INPUT,
                "nullspace = constant: %lld of %lld rows do not sum to zero: A * ones is not zero",
                (long long)(f->rows - f->zero_sums), (long long)f->rows);
    }
    rc = comm_agree(j->run->c, rc);
    goto done;
  }
  *found = 1;
  if (!f->symmetric) TRY(columns_sum_to_zero(j, ones, found));
  if (*found) goto done;
  if (insists) {
    rc = comm_agree(j->run->c,
                    fail(STATUS_INPUT,
                         "nullspace = constant needs columns that sum to zero too: of this matrix "
                         "the rows do, the columns do not, and which right-hand sides have a "
                         "solution is not known; nullspace = none tries"));
    goto done;
  }
  log_info(
      "rows sum to zero, columns do not: the matrix is singular, and not every right-hand side "
      "has a solution");
done:
  return rc;
}

/* b's mean goes; b as given stays for the residual in the end. */
static status split(solve_job *j, vec ones) {
  status rc = STATUS_OK;
  linear_system *s = &j->system;
  nullspace *n = &j->nullspace;
  vec b = j->solve.b;
  double largest, norm;
  ATTEMPT(s, linear_vector(s, "right-hand side as given", &n->given));
  ATTEMPT(s, s->kernels->copy(s->place, n->given, b));
  TRY(linear_max_abs(s, b, &largest));
  const double scale = linear_scale_for(largest);
  TRY(linear_norm(s, b, scale, &n->norm_b));
  TRY(take_mean(s, b, ones, &n->mean));
  TRY(linear_norm(s, b, scale, &norm));
  TRY(linear_max_abs(s, b, &largest));
  n->share =
      largest == 0.0 ? 1.0 : fabs(n->mean) * sqrt((double)s->global_rows) / (n->norm_b / scale);
  n->solved_share = norm / n->norm_b;
  n->norm_b /= scale;
  n->nothing_left = largest == 0.0;
  if (n->nothing_left) ATTEMPT(s, s->kernels->fill(s->place, j->solve.x, 0.0));
done:
  return rc;
}

status solve_find_nullspace(solve_job *j) {
  status rc = STATUS_OK;
  linear_system *s = &j->system;
  vec ones = {.rows = 0};
  if (strcmp(options_text(j->run->o, "solve.nullspace"), "none") == 0 || j->scaled) goto done;
  ATTEMPT(s, linear_vector(s, "ones", &ones));
  ATTEMPT(s, s->kernels->fill(s->place, ones, 1.0));
  TRY(comm_agree(s->world, s->failure));
  TRY(find(j, ones, &j->nullspace.constant));
  if (!j->nullspace.constant) goto done;
  TRY(split(j, ones));
  TRY(comm_agree(s->world, s->failure));
  log_info("rows and columns sum to zero: constants are the null space; the right-hand side's mean "
           "is %.3g of its norm, the solution will have mean 0",
           j->nullspace.share);
  if (j->solution_is_ones && comm_rank(j->run->c) == 0) {
    log_warning("A*ones is zero but for rounding, since rows sum to zero: give another rhs");
  }
done:
  linear_vector_release(s, &ones);
  return rc;
}

/* |b - A x|^2 = |(b - mean) - A x|^2 + |mean|^2 n: what the mean leaves of the tolerance. */
void solve_limit_nullspace(solve_job *j) {
  nullspace *n = &j->nullspace;
  solve_limits *l = &j->solve.limits;
  if (!n->constant || n->share == 0.0) return;
  const double target = fmax(l->rtol, l->atol / n->norm_b);
  n->incompatible = !(n->share < target);
  if (n->incompatible || n->share < NEGLIGIBLE * target) return;
  const double rest = (target - n->share) * (target + n->share);
  l->rtol = (1.0 - HEADROOM) * sqrt(rest) / n->solved_share;
  l->atol = 0.0;
}

static int solved(solve_reason reason) {
  return reason == REASON_CONVERGED || reason == REASON_STAGNATED;
}

status solve_finish_nullspace(solve_job *j) {
  status rc = STATUS_OK;
  linear_system *s = &j->system;
  solve_run *run = &j->solve;
  nullspace *n = &j->nullspace;
  vec ones = {.rows = 0};
  double mean, norm[2], largest;
  if (!n->constant || solve_reason_status(run->reason) == STATUS_DIVERGED) return STATUS_OK;
  ATTEMPT(s, linear_vector(s, "ones", &ones));
  ATTEMPT(s, s->kernels->fill(s->place, ones, 1.0));
  TRY(comm_agree(s->world, s->failure));
  TRY(take_mean(s, run->x, ones, &mean));
  TRY(linear_max_abs(s, n->given, &largest));
  const double scale = linear_scale_for(largest);
  TRY(linear_residual(s, run->x, n->given, (vec){.rows = 0}, scale, norm));
  run->relative_residual = norm[0] / scale / n->norm_b;
  if (n->incompatible && solved(run->reason)) run->reason = REASON_INCOMPATIBLE;
  rc = comm_agree(s->world, s->failure);
done:
  linear_vector_release(s, &ones);
  return rc;
}
