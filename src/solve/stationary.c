/* x <- x + M^-1 (b - A x), M a part of A that is easy to solve with:
 *
 *   gauss-seidel   M = D + L, the rows in the order of colours (triangles.h)
 *   sor            M = D / omega + L
 *   ssor           a sweep of sor in that order, one in the reverse order
 *   block-jacobi   M = diagonal blocks of consecutive rows (blocks.h)
 *
 * The residual is b - A x itself each time: one product beside the solve with M.
 *
 * omega = auto of sor, after Hageman and Young: from omega = 1 on, the falling of the residual from
 * step to step, R, is watched. When it is slower than (omega - 1)^F, which no eigenvalue other than
 * a real one outside the circle of radius omega - 1 can keep up, omega is too small: then R is near
 * that eigenvalue, mu = (R + omega - 1) / (omega sqrt(R)) near the largest of the Jacobi iteration,
 * and omega = 2 / (1 + sqrt(1 - mu^2)) is taken next. At least 1 / ((1 - F)(2 - omega)) steps lie
 * between changes: near the best omega residuals fall like k (omega - 1)^k, whose R comes down to
 * (omega - 1)^F only then. Where the residual has grown since a change and goes on growing,
 * omega goes half of the way back, and is not raised again. (It may well grow at first: with omega
 * near 2 the iteration is far from normal.)
 *
 * Traffic per step: A and the entries of M, and 64 bytes a row, once more 80 for ssor.
 * Sources: Young (1954); Saad (2003), 4.1, 12.4; Hageman, Young, Applied Iterative Methods (1981),
 * chapter 9. */
#include <math.h>
#include <string.h>

#include "blocks.h"
#include "elementary.h"
#include "stepping.h"
#include "triangles.h"

static const double F = 0.7;       /* Hageman, Young: 0.65 to 0.8 */
static const double SETTLED = 0.2; /* R has changed by less than this part of 1 - R */
static const double LEAST_CHANGE = 0.01;
enum { FEWEST = 6 }; /* steps between changes */

/* stepping.real */
enum { OMEGA, LAST_RESIDUAL, LAST_RATIO, SINCE, BEFORE, RESIDUAL_THEN, CHANGES, BACK };

enum { Z, WEIGHT, VECTORS };

typedef struct stationary {
  triangles t;
  blocks b;
  int adapts;      /* omega = auto */
  double made_for; /* the omega that work[WEIGHT] has; 0: none */
} stationary;

static double *omega_of(stepping *t) { return &t->real[OMEGA]; }

/* ---- omega ---- */

static void set_omega(stepping *t, double omega) {
  t->real[BEFORE] = t->real[OMEGA];
  t->real[RESIDUAL_THEN] = t->residual;
  t->real[OMEGA] = omega;
  t->real[SINCE] = 0.0;
  t->real[CHANGES]++;
}

static void estimate_omega(stepping *t, double ratio) {
  const double omega = *omega_of(t);
  if (!(ratio < 1.0) || ratio <= elementary_pow(omega - 1.0, F)) return;
  if (fabs(ratio - t->real[LAST_RATIO]) > SETTLED * (1.0 - ratio)) return;
  const double mu = (ratio + omega - 1.0) / (omega * sqrt(ratio));
  if (!(mu < 1.0)) return;
  const double next = 2.0 / (1.0 + sqrt(1.0 - mu * mu));
  if (next > omega) set_omega(t, next);
}

/* Half of the way back to the omega that was good, at last all of it. */
static void step_back(stepping *t) {
  double *real = t->real;
  const double before = real[BEFORE], half = 0.5 * (before + real[OMEGA]);
  set_omega(t, half - before > LEAST_CHANGE ? half : before);
  real[BEFORE] = before;
  real[BACK] = 1.0;
}

/* After a step. */
static void adapt(stepping *t) {
  double *real = t->real;
  const double ratio = t->residual / real[LAST_RESIDUAL];
  const double wait = fmax(FEWEST, 1.0 / ((1.0 - F) * (2.0 - real[OMEGA])));
  real[SINCE]++;
  if (real[SINCE] >= wait) {
    const int grows = ratio >= 1.0 && t->residual > real[RESIDUAL_THEN];
    if (grows && real[OMEGA] > real[BEFORE] && real[CHANGES] > 0.0) {
      step_back(t);
    } else if (real[BACK] == 0.0) {
      estimate_omega(t, ratio);
    }
  }
  real[LAST_RATIO] = ratio;
  real[LAST_RESIDUAL] = t->residual;
}

/* ---- the methods ---- */

static status open_triangles(stepping *t, int upper) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  const preconditioner_request *q = t->run->rows;
  stationary *m = t->data;
  colouring k;
  TRY(colouring_make(s->world, q->owned, q->a, q->symmetric, &k));
  rc = triangles_open(s, q->a, q->a->value, &k, upper, &m->t);
  m->t.weight = t->run->weight;
done:
  colouring_release(&k);
  return rc;
}

static status open_lower(stepping *t) {
  stationary *m = t->data;
  m->adapts = t->run->omega == 0.0;
  return open_triangles(t, 0);
}

static status open_both(stepping *t) { return open_triangles(t, 1); }

static status open_blocks(stepping *t) {
  stationary *m = t->data;
  return blocks_open(t->run->system, t->run->rows, &m->b);
}

static void close_all(stepping *t) {
  linear_system *s = t->run->system;
  stationary *m = t->data;
  triangles_release(s, &m->t);
  blocks_close(s, &m->b);
}

static void close_sor(stepping *t) {
  const stationary *m = t->data;
  if (m->adapts) t->run->omega = *omega_of(t);
  close_all(t);
}

static status start(stepping *t) {
  if (*omega_of(t) == 0.0) *omega_of(t) = 1.0;
  t->real[LAST_RESIDUAL] = t->residual;
  return STATUS_OK;
}

/* x += z, and the residual of what x is then. */
static status move(stepping *t, int add) {
  status rc = STATUS_OK;
  solve_run *run = t->run;
  linear_system *s = run->system;
  double norm[2];
  if (add) ATTEMPT(s, s->kernels->combine(s->place, 1.0, run->x, 1.0, t->work[Z], run->x));
  run->products += 2;
  TRY(linear_residual(s, run->x, run->b, t->r, run->scale, norm));
  t->residual = norm[0];
done:
  return rc;
}

static status step_lower(stepping *t) {
  status rc = STATUS_OK;
  stationary *m = t->data;
  TRY(triangles_lower(t->run->system, &m->t, t->r, t->work[Z]));
  TRY(move(t, 1));
done:
  return rc;
}

/* The weights of the omega of now, which a restart has to make again. */
static status step_sor(stepping *t) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  stationary *m = t->data;
  const vec none = {.rows = s->rows};
  if (m->adapts && m->made_for != *omega_of(t)) {
    ATTEMPT(
        s, s->kernels->combine(s->place, *omega_of(t), t->run->weight, 0.0, none, t->work[WEIGHT]));
    m->t.weight = t->work[WEIGHT];
    m->made_for = *omega_of(t);
  }
  TRY(step_lower(t));
  if (m->adapts) adapt(t);
done:
  return rc;
}

static status step_ssor(stepping *t) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  stationary *m = t->data;
  const vec none = {.rows = s->rows};
  const double omega = t->run->omega == 0.0 ? 1.0 : t->run->omega;
  TRY(triangles_lower(s, &m->t, t->r, t->work[Z]));
  TRY(triangles_upper(s, &m->t, t->work[Z]));
  if (omega != 1.0) {
    ATTEMPT(s, s->kernels->combine(s->place, 2.0 - omega, t->work[Z], 0.0, none, t->work[Z]));
  }
  TRY(move(t, 1));
done:
  return rc;
}

static status step_blocks(stepping *t) {
  status rc = STATUS_OK;
  stationary *m = t->data;
  TRY(blocks_apply(t->run->system, &m->b, t->r, 1, t->run->x));
  TRY(move(t, 0));
done:
  return rc;
}

static const step_method GAUSS_SEIDEL = {.bytes = sizeof(stationary),
                                         .vectors = 1,
                                         .open = open_lower,
                                         .close = close_all,
                                         .start = start,
                                         .step = step_lower};
static const step_method SOR = {.bytes = sizeof(stationary),
                                .vectors = VECTORS,
                                .open = open_lower,
                                .close = close_sor,
                                .start = start,
                                .step = step_sor};
static const step_method SSOR = {.bytes = sizeof(stationary),
                                 .vectors = 1,
                                 .open = open_both,
                                 .close = close_all,
                                 .start = start,
                                 .step = step_ssor};
static const step_method BLOCK_JACOBI = {.bytes = sizeof(stationary),
                                         .open = open_blocks,
                                         .close = close_all,
                                         .start = start,
                                         .step = step_blocks};

static status run_gauss_seidel(solve_run *run) { return stepping_run(run, &GAUSS_SEIDEL); }
static status run_sor(solve_run *run) { return stepping_run(run, &SOR); }
static status run_ssor(solve_run *run) { return stepping_run(run, &SSOR); }
static status run_block_jacobi(solve_run *run) { return stepping_run(run, &BLOCK_JACOBI); }

const solver SOLVER_gauss_seidel = {
    .name = "gauss-seidel",
    .help = "Gauss-Seidel in the order of colours; for dominant and for positive definite matrices",
    .source = "Saad (2003), 4.1, 12.4",
    .flags = SOLVER_DIVIDES_BY_DIAGONAL | SOLVER_NEEDS_ROWS,
    .vector_bytes = 64,
    .run = run_gauss_seidel,
};

const solver SOLVER_sor = {
    .name = "sor",
    .help = "Gauss-Seidel with a relaxation factor omega, found on the way where it is not given",
    .source = "Young (1954); Hageman, Young (1981), ch. 9",
    .flags = SOLVER_DIVIDES_BY_DIAGONAL | SOLVER_TAKES_OMEGA | SOLVER_NEEDS_ROWS,
    .vector_bytes = 64,
    .run = run_sor,
};

const solver SOLVER_ssor = {
    .name = "ssor",
    .help = "a sweep of sor forwards and one backwards; omega 1 where it is not given",
    .source = "Saad (2003), 4.1, 12.4",
    .flags = SOLVER_DIVIDES_BY_DIAGONAL | SOLVER_TAKES_OMEGA | SOLVER_NEEDS_ROWS,
    .vector_bytes = 144,
    .run = run_ssor,
};

const solver SOLVER_block_jacobi = {
    .name = "block-jacobi",
    .help = "Jacobi with blocks of block_size rows, each solved exactly",
    .source = "Saad (2003), 4.1.1",
    .flags = SOLVER_NEEDS_ROWS,
    .vector_bytes = 56,
    .run = run_block_jacobi,
};
