/* Conjugate gradients in mixed precision (mixed.h): cg.c's iteration in float, x in double.
 *
 * At each tenfold fall of the residual that float carries, x += e, r = b - A x (a reliable update).
 * The direction goes on: p = z + beta p with beta from the true r's r.z and the last one's, which
 * keeps the convergence of unbroken CG (restarted every 100 iterations it needs 8 - 15 times as
 * many: measured). Where nothing falls tenfold a correction is made all the same after ten times
 * correct_every; a curvature that is not positive in float drops the direction.
 *
 * Traffic per row and iteration beside the matrix: direction 24, product 12, residual 16: 52 bytes,
 * against 104 in double. Where cg applies; where the matrix is so ill-conditioned that float loses
 * it, corrections bring nothing, and the run breaks down (mixed.c).
 * Sources: van der Vorst, Ye (2000); Clark et al. (2010), sec. 5.2. */
#include <math.h>

#include "mixed.h"
#include "solve_rules.h"

enum { P, VECTORS };
enum { RHO = MIXED_OWN }; /* r.z of the residual that the kept direction was made for; 0: none */

static const double FALL = 0.1;
/* Iterations between corrections: correct_every times this, rows times that (in exact arithmetic
 * all is done after as many as there are rows). */
enum { LONGEST = 10, SMALL = 4 };

typedef struct gradients {
  mixed m;
  single_vec r, p, q, e;
} gradients;

static status open_gradients(stepping *t) {
  status rc = STATUS_OK;
  gradients *g = t->data;
  linear_system *s = t->run->system;
  TRY(mixed_open(t, &g->m, t->run->inverse_diagonal));
  TRY(mixed_vector(s, "residual in float", &g->r));
  TRY(mixed_vector(s, "direction in float", &g->p));
  TRY(mixed_vector(s, "product in float", &g->q));
  TRY(mixed_vector(s, "correction in float", &g->e));
done:
  return rc;
}

static void close_gradients(stepping *t) {
  gradients *g = t->data;
  linear_system *s = t->run->system;
  mixed_vector_release(s, &g->r);
  mixed_vector_release(s, &g->p);
  mixed_vector_release(s, &g->q);
  mixed_vector_release(s, &g->e);
  mixed_close(t, &g->m);
}

static status start(stepping *t) {
  t->real[RHO] = 0.0;
  t->run->mixed.corrections = (int64_t)t->real[MIXED_CORRECTIONS];
  return STATUS_OK;
}

static status product_part(void *context, part p) {
  stepping *t = context;
  gradients *g = t->data;
  linear_system *s = t->run->system;
  return mixed_kernels(t)->cg_product(s->place, g->m.a, p, g->p, g->q, g->m.judged.state);
}

/* r.z and r.r of the narrowed residual (a residual step with alpha = 0), and the next direction. */
static status begin(stepping *t) {
  status rc = STATUS_OK;
  gradients *g = t->data;
  mixed *m = &g->m;
  linear_system *s = t->run->system;
  const mixed_backend *k = mixed_kernels(t);
  const vec none = {.rows = 0};
  double sum[2];
  mixed_begin(t, m, g->r, FALL);
  ATTEMPT(s, k->narrow(s->place, 0.0, none, g->q));
  ATTEMPT(s, k->narrow(s->place, 0.0, none, g->e));
  if (t->real[RHO] > 0.0) {
    ATTEMPT(s, k->narrow(s->place, m->boost, t->work[P], g->p));
  } else {
    ATTEMPT(s, k->narrow(s->place, 0.0, none, g->p));
  }
  TRY(judged_start(s, &m->judged, &m->state));
  ATTEMPT(s, k->cg_residual(s->place, g->q, m->weight, g->r, m->judged.state));
  TRY(s->kernels->sums(s->place, s->world, 2, NULL, sum));
  m->state.rho = sum[0];
  m->state.residual = sqrt(sum[1]);
  m->state.pending = 1;
  const double last = linear_rescale_square(t->real[RHO], 1.0, m->boost);
  if (last > 0.0) m->state.beta = sum[0] / last;
  if (!(sum[0] > 0.0) || !rules_finite(sum[0]) || !rules_finite(m->state.beta)) {
    m->state.verdict = sum[0] == sum[0] ? VERDICT_INDEFINITE : VERDICT_NOT_FINITE;
    m->state.pending = 0;
  }
  TRY(judged_start(s, &m->judged, &m->state));
done:
  return rc;
}

static status iterate(stepping *t, int64_t room) {
  status rc = STATUS_OK;
  gradients *g = t->data;
  mixed *m = &g->m;
  linear_system *s = t->run->system;
  const mixed_backend *k = mixed_kernels(t);
  while (m->state.verdict == VERDICT_NONE && m->issued < room) {
    ATTEMPT(s, k->cg_direction(s->place, g->r, m->weight, g->p, g->e, m->judged.state));
    TRY(mixed_apply(s, g->p, product_part, t));
    TRY(mixed_judge(t, m, JUDGE_CG_PRODUCT));
    ATTEMPT(s, k->cg_residual(s->place, g->q, m->weight, g->r, m->judged.state));
    TRY(mixed_judge(t, m, JUDGE_CG_RESIDUAL));
    m->issued++;
    TRY(mixed_look(t, m, m->issued == room));
  }
done:
  return rc;
}

/* x += e and the last step along p, if it is pending. */
static void correct(stepping *t) {
  gradients *g = t->data;
  const mixed *m = &g->m;
  mixed_correct(t, m, 1.0, g->e);
  if (m->state.pending && m->state.iteration > 0) {
    mixed_correct(t, m, (double)(float)m->state.alpha, g->p);
  }
}

/* The direction, unscaled, for the next step or a checkpoint. */
static void keep_direction(stepping *t) {
  gradients *g = t->data;
  const mixed *m = &g->m;
  linear_system *s = t->run->system;
  const double rho = m->state.beta > 0.0 ? m->state.rho / m->state.beta : 0.0;
  const int good = m->state.pending && m->state.iteration > 0 && rho > 0.0 && rules_finite(rho) &&
                   (t->real[MIXED_FAILED] == 0.0 || m->state.verdict == VERDICT_NONE);
  t->real[RHO] = good ? linear_rescale_square(rho, m->boost, 1.0) : 0.0;
  if (!good) return;
  ATTEMPT(s, s->kernels->fill(s->place, t->work[P], 0.0));
  ATTEMPT(s, mixed_kernels(t)->correct(s->place, 1.0 / m->boost, g->p, t->work[P]));
}

static status step(stepping *t) {
  status rc = STATUS_OK;
  gradients *g = t->data;
  mixed *m = &g->m;
  int cut;
  const int64_t longest = LONGEST * t->run->mixed.correct_every;
  const int64_t few = SMALL * t->run->system->global_rows;
  const int64_t room = mixed_room(t, longest < few ? longest : few, &cut);
  TRY(begin(t));
  TRY(iterate(t, room));
  t->made = m->state.iteration;
  if (cut && m->state.verdict == VERDICT_NONE) { /* the run ends here: settle() makes x */
    t->whole = 0;
    t->residual = m->state.residual / m->boost;
    goto done;
  }
  correct(t);
  TRY(mixed_end(t, 1));
  keep_direction(t);
done:
  return rc;
}

static status settle(stepping *t) {
  correct(t);
  return STATUS_OK;
}

static const char *const names[] = {"/solve/p"};

const step_method MIXED_CG = {.bytes = sizeof(gradients),
                              .vectors = VECTORS,
                              .saved = 1,
                              .names = names,
                              .exact = 1,
                              .open = open_gradients,
                              .close = close_gradients,
                              .start = start,
                              .step = step,
                              .settle = settle};
