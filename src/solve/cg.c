/* Preconditioned conjugate gradients for symmetric positive definite matrices.
 *
 *   q = A p; alpha = r.z / p.q; r -= alpha q; beta = r'.z' / r.z; x += alpha p; p = z + beta p
 *
 * with z = D^-1 r made on the fly: two reductions, and two passes over the rows. The first
 * (advance) makes x_k and p_k and multiplies in one go, the second (reduce) makes r_{k+1}; q may be
 * stored between them or made twice, as the backend finds cheaper. Ranks exchange r, and make the
 * ghosts of p themselves. The direction is made alone where the host is to see x_k and p_k (at the
 * end of a stretch); then the next step is a plain product, and ranks exchange p. p_k lies in p[k %
 * 2], which is one vector twice on most backends.
 *
 * The kernels read alpha and beta from the state on the device. The carried residual r drifts from
 * the true one: it may only propose an end. Then, at multiples of check_every, and at each
 * iteration below 1e-13 |b|, the true residual b - A x is computed; when the carried one says
 * converged and the true one does not, the method restarts from the true one, at most RESTARTS
 * times.
 *
 * Traffic per row and iteration, beside the matrix and 1/d: advance reads r, reads and writes p and
 * x (40); reduce reads p, reads and writes r (24); where q is stored, 8 more for writing it.
 * Not for nonsymmetric matrices; an indefinite one is found out by p.Ap <= 0.
 * Sources: Hestenes, Stiefel (1952); Saad (2003), alg. 9.1. */
#include <float.h>
#include <math.h>

#include "cg_steps.h"
#include "checkpointing.h"
#include "history.h"
#include "linear.h"
#include "mixed.h"
#include "progress.h"
#include "saving.h"
#include "solve_rules.h"
#include "timers.h"

enum { RESTARTS = 5 };

typedef struct gradients {
  solve_run *run;
  vec r, p[2], q;
  int made;       /* p_k and x_k of state.iteration are there: the next step is a product */
  int64_t issued; /* iterations issued */
  judged judged;
  solve_state state; /* as last looked at, with the verdict taken out */
  verdict verdict;
  int64_t checked; /* the k of the check made before a checkpoint; -1: none */
  solve_saver saver;
} gradients;

/* p_k. */
static vec direction_of(const gradients *g, int64_t k) { return g->p[k & 1]; }

static const solve_backend *kernels_of(const gradients *g) {
  return g->run->system->kernels->solve;
}

static status product_part(void *context, part p) {
  gradients *g = context;
  linear_system *s = g->run->system;
  return kernels_of(g)->cg_product(s->place, s->a, p, direction_of(g, g->issued), g->q,
                                   g->judged.state);
}

static status advance_part(void *context, part p) {
  gradients *g = context;
  linear_system *s = g->run->system;
  return kernels_of(g)->cg_advance(s->place, s->a, p, g->r, g->run->inverse_diagonal,
                                   direction_of(g, g->issued - 1), direction_of(g, g->issued),
                                   g->run->x, g->q, g->judged.state);
}

/* x_k and p_k alone, where pending. */
static void direction(gradients *g, int64_t k) {
  linear_system *s = g->run->system;
  const vec p = direction_of(g, k), before = direction_of(g, k - 1);
  if (p.data.at != before.data.at) ATTEMPT(s, s->kernels->copy(s->place, p, before));
  ATTEMPT(s, kernels_of(g)->cg_direction(s->place, g->r, g->run->inverse_diagonal, p, g->run->x,
                                         g->judged.state));
  g->made = 1;
}

static void residual(gradients *g) {
  linear_system *s = g->run->system;
  ATTEMPT(s, kernels_of(g)->cg_residual(s->place, g->q, g->run->inverse_diagonal, g->r,
                                        g->judged.state));
}

/* r_{k+1} = r_k - alpha A p_k. */
static void reduce(gradients *g, int64_t k) {
  linear_system *s = g->run->system;
  if (kernels_of(g)->cg_reduce == NULL) {
    residual(g);
    return;
  }
  ATTEMPT(s, kernels_of(g)->cg_reduce(s->place, s->a, direction_of(g, k), g->q,
                                      g->run->inverse_diagonal, g->r, g->judged.state));
}

/* Iteration k: from x_k and p_k, made or pending, to r_{k+1}, after which x_{k+1} and p_{k+1} are
 * pending. A backend without advance makes them at once, so that x_{k+1} is there before anyone
 * looks at verdict k + 1, whatever the lag. */
static status iterate(gradients *g) {
  status rc = STATUS_OK;
  const int64_t k = g->issued;
  g->run->products++;
  if (g->made) {
    TRY(linear_apply(g->run->system, direction_of(g, k), product_part, g));
  } else {
    TRY(linear_apply(g->run->system, g->r, advance_part, g));
  }
  TRY(judged_step(g->run, &g->judged, JUDGE_CG_PRODUCT));
  reduce(g, k);
  TRY(judged_step(g->run, &g->judged, JUDGE_CG_RESIDUAL));
  g->issued++;
  g->made = 0;
  if (kernels_of(g)->cg_advance == NULL) direction(g, k + 1);
done:
  return rc;
}

/* The host is about to look at x_k and p_k: an iteration issued after k has made them already. */
static void complete(gradients *g) {
  if (!g->made && g->issued == g->state.iteration) direction(g, g->issued);
  g->made = 1;
}

static void note(gradients *g, const solve_state *seen) {
  solve_run *run = g->run;
  run->recursive_residual = solve_relative(run, seen);
  history_row(run->history, seen->iteration, HISTORY_RESIDUAL, run->recursive_residual);
  progress_step(run->progress, seen->iteration, run->limits.max_iterations,
                run->recursive_residual);
}

/* Looks at the steps that are due; `drain`: at all. An iteration is two judged steps, of which the
 * second tells all, except that verdicts on the first stop at once. */
static status look(gradients *g, int drain) {
  status rc = STATUS_OK;
  linear_system *s = g->run->system;
  while (g->verdict == VERDICT_NONE && judged_due(s, &g->judged, drain)) {
    const int64_t before = g->state.iteration;
    TRY(judged_look(s, &g->judged, &g->state));
    g->verdict = (verdict)g->state.verdict;
    if (g->state.iteration != before) note(g, &g->state);
  }
done:
  return rc;
}

/* From r (stored) and x at iterate k: the first direction, by a residual step with alpha = 0. */
static status start(gradients *g, int64_t k) {
  status rc = STATUS_OK;
  linear_system *s = g->run->system;
  g->state = solve_state_at(g->run, k, g->run->scale);
  TRY(judged_start(s, &g->judged, &g->state));
  for (int i = 0; i < 2; i++) ATTEMPT(s, s->kernels->fill(s->place, g->p[i], 0.0));
  ATTEMPT(s, s->kernels->fill(s->place, g->q, 0.0));
  residual(g);
  TRY(judged_step(g->run, &g->judged, JUDGE_CG_START));
  direction(g, k);
  g->verdict = VERDICT_NONE;
  TRY(look(g, 1));
  if (g->verdict != VERDICT_RANGE) note(g, &g->state);
done:
  return rc;
}

/* Goes on from g->state, whose scalars the host has changed. */
static status resume(gradients *g, int pending) {
  status rc = STATUS_OK;
  g->verdict = (verdict)g->state.verdict;
  g->state.pending = pending;
  TRY(judged_start(g->run->system, &g->judged, &g->state));
  if (pending) direction(g, g->state.iteration);
done:
  return rc;
}

/* p.q was out of range: once more with a scale between those of p and q. */
static status redo_product(gradients *g) {
  status rc = STATUS_OK;
  linear_system *s = g->run->system;
  const vec p = direction_of(g, g->state.iteration);
  double largest_p, largest_q, sum;
  TRY(linear_product(s, p, g->q)); /* may not have been stored */
  TRY(linear_max_abs(s, p, &largest_p));
  TRY(linear_max_abs(s, g->q, &largest_q));
  if (isinf(largest_p) || isinf(largest_q)) {
    g->verdict = VERDICT_NOT_FINITE;
    goto done;
  }
  const double scale = linear_scale_for(sqrt(largest_p) * sqrt(largest_q));
  ATTEMPT(s, s->kernels->dot(s->place, p, g->q, scale));
  TRY(s->kernels->sums(s->place, s->world, 1, NULL, &sum));
  g->state.curvature = linear_rescale_square(sum, scale, g->state.scale);
  g->state.verdict = VERDICT_NONE;
  if (!(sum > 0.0)) {
    g->state.verdict = VERDICT_INDEFINITE;
  } else {
    g->state.alpha = g->state.rho / sum; /* in two steps: the quotient may need the room */
    g->state.alpha = linear_rescale_square(g->state.alpha, g->state.scale, scale);
    if (!rules_finite(g->state.alpha)) g->state.verdict = VERDICT_NOT_FINITE;
    g->state.curvature = 1.0; /* in range again: redo() goes by it */
  }
  TRY(resume(g, 0));
  if (g->verdict != VERDICT_NONE) goto done;
  residual(g);
  TRY(judged_step(g->run, &g->judged, JUDGE_CG_RESIDUAL));
  TRY(look(g, 1));
  g->made = 0;
  g->issued = g->state.iteration;
  if (g->verdict != VERDICT_RANGE) complete(g);
done:
  return rc;
}

/* r.z or r.r was out of range: once more with r's own scale. The sums come from a residual step
 * with alpha = 0; k counts on unless r is the starting residual. */
static status redo_residual(gradients *g, int first) {
  status rc = STATUS_OK;
  linear_system *s = g->run->system;
  const double alpha = g->state.alpha;
  double largest, sum[2];
  TRY(linear_max_abs(s, g->r, &largest));
  if (isinf(largest)) {
    g->verdict = VERDICT_NOT_FINITE;
    goto done;
  }
  /* below, r's own digits underflow: what is left of it is no residual to iterate on */
  const int spent = largest < DBL_MIN / DBL_EPSILON;
  if (!spent) solve_rescale(g->run, &g->state, linear_scale_for(largest));
  g->state.alpha = 0.0;
  g->state.verdict = VERDICT_NONE;
  TRY(judged_start(s, &g->judged, &g->state));
  ATTEMPT(s, s->kernels->fill(s->place, g->q, 0.0)); /* 0 q is 0, whatever was left there */
  residual(g);
  TRY(s->kernels->sums(s->place, s->world, 2, NULL, sum));
  g->state.beta = first || spent ? 0.0 : sum[0] / g->state.rho;
  g->state.alpha = first ? 0.0 : alpha;
  if (!first) g->state.iteration++;
  rules_cg_accept(&g->state, sum);
  if (spent) g->state.verdict = VERDICT_CONVERGED;
  TRY(resume(g, 1));
  note(g, &g->state);
done:
  return rc;
}

/* The step that met VERDICT_RANGE is known by what the state holds: a start has no rho yet, a
 * product leaves its curvature out of range. */
static status redo(gradients *g) {
  if (g->state.rho == 0.0) return redo_residual(g, 1);
  return rules_out_of_range(g->state.curvature) ? redo_product(g) : redo_residual(g, 0);
}

static status restart(gradients *g) {
  status rc = STATUS_OK;
  double norm[2];
  solve_run *run = g->run;
  g->verdict = VERDICT_REPEATS;
  if (run->restarts == RESTARTS) goto done;
  run->restarts++;
  run->products++;
  TRY(linear_residual(run->system, run->x, run->b, g->r, run->scale, norm));
  TRY(start(g, g->state.iteration));
done:
  return rc;
}

/* What a verdict asks for, or a multiple of check_every; leaves VERDICT_NONE to go on. */
static status respond(gradients *g) {
  status rc = STATUS_OK;
  solve_run *run = g->run;
  const int64_t k = g->state.iteration;
  const verdict carried = g->verdict;
  const int hinted = carried == VERDICT_CONVERGED || carried == VERDICT_HINT ||
                     carried == VERDICT_INDEFINITE || carried == VERDICT_NONE;
  verdict truth;
  if (run->limits.fixed_count || !hinted) goto done;
  TRY(solve_check(run, run->x, (vec){.rows = 0}, k, &truth));
  if (truth != VERDICT_NONE) {
    g->verdict = truth;
  } else if (carried == VERDICT_CONVERGED) {
    TRY(restart(g));
  } else if (carried == VERDICT_HINT) {
    g->state.verdict = VERDICT_NONE;
    TRY(resume(g, 0)); /* x_k and the next direction are made */
  }
done:
  return rc;
}

static int check_is_due(const solve_limits *l, int64_t k) {
  return !l->fixed_count && k > 0 && k % l->check_every == 0;
}

/* The first state: a checkpoint's, or the start's. */
static status begin(gradients *g) {
  status rc = STATUS_OK;
  solve_run *run = g->run;
  solve_resumed resumed;
  static const char *const names[] = {"/solve/x", "/solve/r", "/solve/p"};
  const vec vectors[] = {run->x, g->r, g->p[0]};
  g->checked = -1;
  TRY(comm_agree(run->system->world, saving_open(&g->saver, run, names, vectors, 3)));
  TRY(saving_load(&g->saver, &g->state, &resumed));
  if (!resumed.found) {
    TRY(solve_begin(run, g->r));
    TRY(start(g, 0));
    goto done;
  }
  g->checked = g->state.iteration;
  if (g->p[1].data.at != g->p[0].data.at && (g->checked & 1)) {
    ATTEMPT(run->system, run->system->kernels->copy(run->system->place, g->p[1], g->p[0]));
  }
  g->made = 1;
  if (resumed.new_limits && !check_is_due(&run->limits, g->checked)) {
    history_forget(run->history, HISTORY_TRUE_RESIDUAL);
  }
  TRY(resume(g, 0));
  g->verdict = resumed.ended;
done:
  return rc;
}

/* Ranks meet where one asked for it, or where a checkpoint is due; x_k, r_k and the next direction
 * are made. */
static status meet(gradients *g) {
  status rc = STATUS_OK;
  int stop = 0;
  if (g->state.iteration >= g->run->limits.max_iterations) goto done;
  if (!saving_is_due(g->run, &g->state)) goto done;
  g->state.asked = 0;
  g->saver.vector[2].v = direction_of(g, g->state.iteration);
  TRY(saving_meet(&g->saver, &g->state, 1, &stop));
  if (stop) g->verdict = VERDICT_REQUESTED;
done:
  return rc;
}

/* Iterates until a verdict, or to where the host has something to do. */
static status stretch(gradients *g) {
  status rc = STATUS_OK;
  const solve_limits *l = &g->run->limits;
  const int64_t save = checkpointing_next(g->run->saving, g->state.iteration);
  int arrived;
  g->issued = g->state.iteration;
  do {
    TRY(iterate(g));
    arrived = g->issued >= l->max_iterations || g->issued == save || check_is_due(l, g->issued);
    TRY(look(g, arrived));
  } while (g->verdict == VERDICT_NONE && !arrived);
  complete(g);
done:
  return rc;
}

static status loop(gradients *g) {
  status rc = STATUS_OK;
  const solve_limits *l = &g->run->limits;
  TRY(begin(g));
  for (;;) {
    while (g->verdict == VERDICT_RANGE) TRY(redo(g));
    const int asked = g->verdict == VERDICT_REQUESTED;
    if (asked) g->verdict = VERDICT_NONE;
    const int64_t k = g->state.iteration;
    if (g->verdict != VERDICT_NONE || (check_is_due(l, k) && k != g->checked)) TRY(respond(g));
    if (g->verdict == VERDICT_RANGE) continue;
    if (g->verdict != VERDICT_NONE) break;
    if (asked) {
      g->state.verdict = VERDICT_NONE;
      TRY(resume(g, 0));
    }
    TRY(meet(g));
    if (g->verdict != VERDICT_NONE || g->state.iteration >= l->max_iterations) break;
    TRY(stretch(g));
  }
done:
  return rc;
}

static status finish(gradients *g) {
  status rc = STATUS_OK;
  solve_run *run = g->run;
  verdict truth;
  run->iterations = g->state.iteration;
  TRY(solve_check(run, run->x, g->q, run->iterations, &truth));
  if (g->verdict == VERDICT_NONE && truth != VERDICT_NONE) g->verdict = truth;
  run->reason = solve_reason_of(g->verdict);
  /* an exact solution, residual 0, has no next direction: then fewer are made, and it converged */
  if (run->limits.fixed_count && run->iterations >= run->limits.max_iterations &&
      (run->reason == REASON_MAX_ITERATIONS || run->reason == REASON_CONVERGED)) {
    run->reason = REASON_FIXED_COUNT;
  }
  run->curvature = linear_rescale_square(g->state.curvature, g->state.scale, 1.0);
  run->curvature_is_rz = g->state.pending;
  progress_end(run->progress, run->iterations, run->relative_residual);
done:
  return rc;
}

static status run_on_device(solve_run *run) {
  status rc = STATUS_OK;
  linear_system *s = run->system;
  gradients g = {.run = run};
  linear_phase(s, PHASE_SETUP); /* pages that nobody has touched yet */
  ATTEMPT(s, linear_vector(s, "residual", &g.r));
  ATTEMPT(s, linear_vector(s, "direction", &g.p[0]));
  g.p[1] = g.p[0];
  if (s->kernels->solve->cg_two_vectors) ATTEMPT(s, linear_vector(s, "direction", &g.p[1]));
  ATTEMPT(s, linear_vector(s, "product", &g.q));
  ATTEMPT(s, judged_open(s, &g.judged));
  TRY(comm_agree(s->world, s->failure));
  linear_phase(s, PHASE_COMPUTE);
  if (run->inverse_diagonal.data.at != NULL) TRY(linear_ghosts(s, run->inverse_diagonal));
  TRY(loop(&g));
  g.saver.vector[2].v = direction_of(&g, g.state.iteration);
  TRY(saving_finish(&g.saver, &g.state, 1, g.verdict));
  TRY(finish(&g));
done:
  judged_release(s, &g.judged);
  linear_vector_release(s, &g.q);
  if (g.p[1].data.at != g.p[0].data.at) linear_vector_release(s, &g.p[1]);
  linear_vector_release(s, &g.p[0]);
  linear_vector_release(s, &g.r);
  return rc;
}

/* Diagonal preconditioners are made on the fly; the others by the shared driver. */
static status run_gradients(solve_run *run) {
  const preconditioning *m = run->preconditioning;
  if (run->mixed.on) return stepping_run(run, &MIXED_CG);
  const int fused = m == NULL || m->kind == NULL || preconditioning_diagonal(m).data.at != NULL;
  return fused ? run_on_device(run) : stepping_run(run, &CG_STEPS);
}

const solver SOLVER_cg = {
    .name = "cg",
    .help = "conjugate gradients; for symmetric positive definite matrices",
    .source = "Hestenes, Stiefel (1952); Saad (2003), alg. 9.1",
    .flags = SOLVER_NEEDS_SYMMETRY | SOLVER_NEEDS_DEFINITE | SOLVER_TAKES_PRECONDITIONER |
             SOLVER_TAKES_MIXED,
    .vector_bytes = 72,
    .run = run_gradients,
};
