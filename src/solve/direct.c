/* Direct solution with iterative refinement: a package factorises A once (direct.h), then
 *
 *   r = b - A x; A d = r; x += d
 *
 * until the true residual meets the tolerance; as a rule once or twice. A step that does not halve
 * the residual is the last. The factorisation takes place in the first step: its memory grows
 * faster than n (n log n entries on 2-D meshes, n^(4/3) on 3-D ones), and its bits change with the
 * number of ranks, so results are not reproducible over ranks. For systems too hard for other
 * methods and small enough for memory. Refinement: Higham, Accuracy and Stability of Numerical
 * Algorithms (2002), ch. 12. */
#include "direct.h"

#include <string.h>

#include "alloc.h"
#include "stepping.h"

typedef struct factors {
  direct *made;
  double *x; /* [rows], host */
} factors;

_Static_assert(sizeof((solve_run *)0)->broke == DIRECT_TEXT, "a package's words fit");

enum { CORRECTION, VECTORS };

static status open(stepping *t) {
  factors *f = t->data;
  const linear_system *s = t->run->system;
  return alloc_array(&f->x, s->rows, sizeof *f->x, "solution of the direct solver");
}

static void close(stepping *t) {
  factors *f = t->data;
  direct_close(&f->made);
  alloc_free(&f->x);
}

static status start(stepping *t) {
  (void)t;
  return STATUS_OK;
}

static status factorise(stepping *t) {
  status rc = STATUS_OK;
  factors *f = t->data;
  solve_run *run = t->run;
  if (f->made != NULL) goto done;
  linear_phase(run->system, PHASE_SETUP);
  const preconditioner_request *q = run->rows;
  TRY(direct_open(run->system, q->a, q->owned, q->symmetric, &f->made, run->broke));
  linear_phase(run->system, PHASE_COMPUTE);
  if (f->made == NULL) t->verdict = VERDICT_BREAKDOWN;
done:
  return rc;
}

static status step(stepping *t) {
  status rc = STATUS_OK;
  factors *f = t->data;
  solve_run *run = t->run;
  linear_system *s = run->system;
  const vec none = {.rows = 0}, d = t->work[CORRECTION];
  const double back = 1.0 / run->scale, before = t->residual;
  double norm[2];
  TRY(factorise(t));
  if (t->verdict != VERDICT_NONE) goto done;
  ATTEMPT(s, s->kernels->combine(s->place, run->scale, t->r, 0.0, none, d));
  ATTEMPT(s, linear_store(s, f->x, d));
  TRY(direct_solve(f->made, f->x));
  ATTEMPT(s, linear_load(s, d, f->x));
  ATTEMPT(s, s->kernels->accumulate(s->place, 1, &back, &d, run->x));
  run->products++;
  TRY(linear_residual(s, run->x, run->b, t->r, run->scale, norm));
  t->residual = norm[0];
  if (!run->limits.fixed_count && norm[0] > 0.5 * before) t->verdict = VERDICT_REPEATS;
done:
  return rc;
}

static const step_method METHOD = {.bytes = sizeof(factors),
                                   .vectors = VECTORS,
                                   .open = open,
                                   .close = close,
                                   .start = start,
                                   .step = step};

static status run(solve_run *run) { return stepping_run(run, &METHOD); }

const solver SOLVER_direct = {
    .name = "direct",
    .help = "factorisation by MUMPS, or cuDSS on a GPU; any matrix that is not singular, memory "
            "permitting",
    .source = "Amestoy, Duff, L'Excellent, Koster (2001)",
    .flags = SOLVER_NEEDS_ROWS | SOLVER_BY_A_PACKAGE,
    .vector_bytes = 48,
    .run = run,
};
