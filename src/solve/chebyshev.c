/* Chebyshev iteration for symmetric positive definite matrices: the polynomial acceleration of
 * Jacobi, without inner products in the iterate.
 *
 *   r = b - A x; d = D^-1 r / middle;   repeat  x += d; r -= A d; d = before d + factor D^-1 r
 *
 * The interval [low, high] of D^-1 A's spectrum comes from STEPS Lanczos steps: high with a safety
 * factor of 1.1, low as it is, which is too large where few steps do not resolve it. So low adapts:
 * in the norm |D^-1/2 r| the residual of k steps falls at least by R_k(lambda_min), hence the
 * lambda with R_k(lambda) = what was observed is no smaller than lambda_min; where it lies below
 * NOTABLE times low, BELOW times it becomes low, and a new cycle begins (too small a low costs
 * little, the rate goes with its square root, too large a one much). A residual that grows says
 * that high is too small: it is raised, GROWTHS times at most.
 *
 * Traffic per row and step, beside the matrix: multiply 24, d 24, x 24, r 16, two dots 16 bytes.
 * When not to use it: cg needs fewer steps; this one needs no dots but to see where it is.
 * Sources: Saad (2003), alg. 12.1; Hageman, Young, Applied Iterative Methods (1981), ch. 4-6
 * (adaptive bounds); Golub, Varga, Numer. Math. 3 (1961) 147-156. */
#include "chebyshev.h"

#include <math.h>

#include "elementary.h"
#include "solve_rules.h"
#include "stepping.h"

enum { STEPS = 20, LOOK_FROM = 8, GROWTHS = 5 };
static const double NOTABLE = 0.98, BELOW = 0.9, RAISE = 1.2;

/* real[] */
enum { LOW, HIGH, RATIO, FIRST /* |D^-1/2 r| where the cycle began */, MADE, GROWN };

enum { DIRECTION, SCALED /* D^-1 r */, VECTORS };

typedef struct measured {
  chebyshev_interval interval;
  int scaled; /* work[SCALED] is D^-1 r: not so after a restart */
} measured;

static status open_bounds(stepping *t) {
  measured *m = t->data;
  return chebyshev_measure(t->run->system, t->run->weight, STEPS, "method chebyshev", &m->interval);
}

static void begin_cycle(stepping *t) {
  t->real[RATIO] = 0.0;
  t->real[MADE] = 0.0;
  t->real[FIRST] = 0.0;
}

static status start(stepping *t) {
  measured *m = t->data;
  m->scaled = 0;
  if (t->real[LOW] == 0.0) {
    t->real[LOW] = m->interval.low;
    t->real[HIGH] = m->interval.high;
  }
  begin_cycle(t);
  return STATUS_OK;
}

/* r -= A d */
static status subtract_part(void *context, part p) {
  stepping *t = context;
  linear_system *s = t->run->system;
  const vec none = {.rows = 0};
  return s->kernels->solve->relax(s->place, s->a, p, t->work[DIRECTION], 1.0, none, none, t->r,
                                  t->r);
}

/* scaled = D^-1 r; norm[0] = |r|, norm[1] = |D^-1/2 r|, both times scale. */
static status look(stepping *t, double norm[2]) {
  status rc = STATUS_OK;
  solve_run *run = t->run;
  linear_system *s = run->system;
  vec with[2] = {t->r, t->work[SCALED]};
  double sum[2];
  ATTEMPT(s, s->kernels->multiply(s->place, run->weight, t->r, t->work[SCALED]));
  TRY(linear_dots(s, 2, with, t->r, run->scale, sum));
  TRY(linear_redo(s, with[0], t->r, run->scale, &sum[0]));
  TRY(linear_redo(s, with[1], t->r, run->scale, &sum[1]));
  norm[0] = sqrt(sum[0]);
  norm[1] = sqrt(sum[1]);
done:
  return rc;
}

/* The lambda with R_k(lambda) = fall, for a fall that is slower than 1 / T_k; else low. */
static double slowest(const stepping *t, double fall) {
  const double low = t->real[LOW], high = t->real[HIGH], steps = t->real[MADE];
  const double middle = 0.5 * (low + high), half = 0.5 * (high - low), sigma = middle / half;
  const double growth = elementary_log(sigma + sqrt(sigma * sigma - 1.0)) * steps;
  if (growth > 300.0) return low; /* T_k beyond 1e130 */
  const double t_k = 0.5 * (elementary_exp(growth) + elementary_exp(-growth));
  const double at = fall * t_k;
  if (!(at > 1.0)) return low;
  const double angle = elementary_log(at + sqrt(at * at - 1.0)) / steps;
  return middle - half * 0.5 * (elementary_exp(angle) + elementary_exp(-angle));
}

/* What the fall of the residual over the cycle says about the interval. */
static void adapt(stepping *t, double norm) {
  const double fall = norm / t->real[FIRST];
  if (fall > 1.0 + 1e-6) {
    t->real[GROWN] += 1.0;
    if (t->real[GROWN] > GROWTHS) {
      stepping_break(t, "the residual grows whatever the bound: growth over a cycle", fall);
      return;
    }
    t->real[HIGH] *= RAISE;
    begin_cycle(t);
    return;
  }
  if (t->real[MADE] < LOOK_FROM) return;
  const double lambda = slowest(t, fall);
  if (lambda < NOTABLE * t->real[LOW] && lambda > 0.0) {
    t->real[LOW] = BELOW * lambda;
    begin_cycle(t);
  }
}

static status step(stepping *t) {
  status rc = STATUS_OK;
  solve_run *run = t->run;
  linear_system *s = run->system;
  measured *m = t->data;
  const chebyshev_interval interval = {t->real[LOW], t->real[HIGH]};
  chebyshev_step next = {.ratio = t->real[RATIO]};
  vec d = t->work[DIRECTION];
  double norm[2];
  if (!m->scaled || t->real[FIRST] == 0.0) {
    TRY(look(t, norm));
    m->scaled = 1;
    if (t->real[FIRST] == 0.0) t->real[FIRST] = norm[1]; /* a cycle begins */
  }
  chebyshev_next(&interval, &next);
  t->real[RATIO] = next.ratio;
  const vec none = {.rows = 0}, before = t->real[MADE] == 0.0 ? none : d;
  ATTEMPT(s, s->kernels->combine(s->place, next.factor, t->work[SCALED], next.before, before, d));
  ATTEMPT(s, s->kernels->combine(s->place, 1.0, run->x, 1.0, d, run->x));
  run->products++;
  TRY(linear_apply(s, d, subtract_part, t));
  TRY(look(t, norm));
  t->real[MADE] += 1.0;
  t->residual = norm[0];
  if (rules_finite(norm[1])) adapt(t, norm[1]);
done:
  return rc;
}

static const char *const names[] = {"/solve/direction"};

static const step_method method = {
    .bytes = sizeof(measured),
    .vectors = VECTORS,
    .saved = 1,
    .names = names,
    .open = open_bounds,
    .start = start,
    .step = step,
};

static status run_chebyshev(solve_run *run) { return stepping_run(run, &method); }

const solver SOLVER_chebyshev = {
    .name = "chebyshev",
    .help = "Chebyshev acceleration of Jacobi, adaptive bounds; for symmetric positive definite "
            "matrices",
    .source = "Saad (2003), alg. 12.1; Hageman, Young (1981), ch. 4-6",
    .flags = SOLVER_DIVIDES_BY_DIAGONAL | SOLVER_NEEDS_SYMMETRY | SOLVER_NEEDS_DEFINITE,
    .vector_bytes = 104,
    .run = run_chebyshev,
};
