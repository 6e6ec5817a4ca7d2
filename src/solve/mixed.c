/* What the methods of mixed precision share (mixed.h). A correction that ought to lower the true
 * residual and does not is a failure; after MIXED_FAILURES in a row the method breaks down: the
 * matrix in float is too far from A. At round-off of the double residual it has stagnated, as any
 * method.
 *
 * Cost of a correction: b - A x in double with the sizes |A||x| (the matrix twice) and some 80
 * bytes a row for transfers. Sources: Moler, J. ACM 14 (1967) 316 (iterative refinement); van der
 * Vorst, Ye, SIAM J. Sci. Comput. 22 (2000) 835 and Clark et al., Comput. Phys. Commun. 181 (2010)
 * 1517 (reliable updates). */
#include "mixed.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "block_sum.h"
#include "solve_rules.h"

static const double ROUNDING = 8.0; /* as in run.c */

const mixed_backend *mixed_kernels(const stepping *t) {
  return t->run->system->kernels->solve->mixed;
}

status mixed_vector(linear_system *s, const char *what, single_vec *out) {
  status rc = STATUS_OK;
  const int64_t length = (int64_t)s->rows + s->ghosts;
  *out = (single_vec){
      .rows = s->rows, .ghosts = s->ghosts, .block = (int32_t)block_size(s->global_rows)};
  TRY(s->kernels->alloc(s->place, length * (int64_t)sizeof(float), what, &out->data));
  rc = s->kernels->solve->mixed->narrow(s->place, 0.0, (vec){.rows = 0}, *out);
done:
  return rc;
}

void mixed_vector_release(linear_system *s, single_vec *v) {
  if (v->data.at != NULL) s->kernels->release(s->place, &v->data);
}

status mixed_apply(linear_system *s, single_vec x, linear_work work, void *context) {
  status rc = STATUS_OK;
  const mixed_backend *k = s->kernels->solve->mixed;
  ATTEMPT(s, k->pack(s->place, &s->plan, x));
  if (s->failure != STATUS_OK && s->plan.adopted) TRY(halo_disown(&s->plan));
  linear_phase(s, PHASE_COMMUNICATE);
  TRY(halo_begin(&s->plan));
  linear_phase(s, PHASE_COMPUTE);
  ATTEMPT(s, work(context, PART_INTERIOR));
  linear_phase(s, PHASE_COMMUNICATE);
  TRY(halo_end(&s->plan));
  linear_phase(s, PHASE_COMPUTE);
  ATTEMPT(s, k->unpack(s->place, &s->plan, x));
  ATTEMPT(s, work(context, PART_BOUNDARY));
done:
  return rc;
}

/* ---- making it ---- */

static double largest_of(const csr_block *a) {
  double largest = 0.0;
  for (eidx e = 0; e < a->offset[a->rows]; e++) largest = fmax(largest, fabs(a->value[e]));
  return largest;
}

/* Every diagonal entry that is not zero has all its digits in float, and its inverse exists. */
static status check_diagonal(const csr_block *a, double scale, double largest) {
  for (lidx i = 0; i < a->rows; i++) {
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const double d = fabs(scale * a->value[e]);
      if (a->column[e] != i || d == 0.0 || (d >= (double)FLT_MIN && d <= (double)FLT_MAX)) continue;
      return fail(STATUS_INPUT,
                  "row %lld: its diagonal entry is %.3e of the largest entry of the matrix: too "
                  "small for float; expected at least %.3e, or --precision double",
                  (long long)(a->first_row + i) + 1, fabs(a->value[e]) / largest, (double)FLT_MIN);
    }
  }
  return STATUS_OK;
}

status mixed_open(stepping *t, mixed *m, vec weight) {
  status rc = STATUS_OK;
  solve_run *run = t->run;
  linear_system *s = run->system;
  const csr_block *a = run->rows->a;
  double largest = largest_of(a);
  if (!rules_finite(largest)) largest = INFINITY;
  TRY(comm_max_f64(s->world, &largest, 1));
  m->scale = linear_scale_for(largest);
  TRY(check_diagonal(a, m->scale, largest));
  TRY(mixed_kernels(t)->matrix_create(s->place, a, m->scale, &m->a));
  mixed_kernels(t)->matrix_describe(m->a, &run->mixed.storage);
  TRY(judged_open(s, &m->judged));
  if (weight.data.at == NULL) goto done;
  TRY(mixed_vector(s, "weights in float", &m->weight));
  TRY(mixed_kernels(t)->narrow(s->place, 1.0 / m->scale, weight, m->weight));
done:
  return rc;
}

void mixed_close(stepping *t, mixed *m) {
  linear_system *s = t->run->system;
  mixed_vector_release(s, &m->weight);
  judged_release(s, &m->judged);
  if (m->a != NULL) mixed_kernels(t)->matrix_release(s->place, &m->a);
}

/* ---- a step ---- */

void mixed_begin(stepping *t, mixed *m, single_vec to, double fall) {
  const solve_run *run = t->run;
  linear_system *s = run->system;
  const solve_state now = solve_state_at(run, t->iteration, run->scale);
  m->boost = linear_scale_for(t->residual);
  memset(&m->state, 0, sizeof m->state);
  m->state.scale = m->state.update_scale = 1.0;
  m->state.target = fall * t->residual;
  if (!now.fixed_count && now.target > m->state.target) m->state.target = now.target;
  m->state.target *= m->boost;
  m->state.limit = now.fixed_count ? INFINITY : now.limit * m->boost;
  m->issued = 0;
  ATTEMPT(s, mixed_kernels(t)->narrow(s->place, run->scale * m->boost, t->r, to));
}

status mixed_judge(stepping *t, mixed *m, judge_kind kind) {
  linear_system *s = t->run->system;
  linear_meet(s);
  status rc =
      s->kernels->solve->judge(s->place, s->world, kind, m->judged.state, s->failure != STATUS_OK);
  linear_phase(s, PHASE_COMPUTE);
  m->judged.issued++;
  return rc;
}

status mixed_look(stepping *t, mixed *m, int drain) {
  status rc = STATUS_OK;
  linear_system *s = t->run->system;
  while (m->state.verdict == VERDICT_NONE && judged_due(s, &m->judged, drain)) {
    TRY(judged_look(s, &m->judged, &m->state));
  }
done:
  return rc;
}

int64_t mixed_room(const stepping *t, int64_t want, int *cut) {
  const int64_t left = t->run->limits.max_iterations - t->iteration;
  *cut = left < want;
  return *cut ? left : want;
}

void mixed_correct(stepping *t, const mixed *m, double factor, single_vec e) {
  const solve_run *run = t->run;
  linear_system *s = run->system;
  const double c = factor * (m->scale / m->boost / run->scale);
  ATTEMPT(s, mixed_kernels(t)->correct(s->place, c, e, run->x));
}

status mixed_end(stepping *t, int falls) {
  status rc = STATUS_OK;
  solve_run *run = t->run;
  const double before = t->residual;
  double norm[2];
  run->products++;
  TRY(linear_residual(run->system, run->x, run->b, t->r, run->scale, norm));
  t->residual = norm[0];
  run->mixed.corrections = (int64_t)++t->real[MIXED_CORRECTIONS];
  const double rounding = ROUNDING * DBL_EPSILON * (norm[1] + run->norm_b);
  const solve_state now = solve_state_at(run, t->iteration, run->scale);
  const int fell = t->residual < 0.9 * before || t->residual <= now.target;
  t->real[MIXED_FAILED] = fell || !falls ? 0.0 : t->real[MIXED_FAILED] + 1.0;
  if (now.fixed_count && t->made > 0) goto done;
  if (t->real[MIXED_FAILED] >= 2.0 && t->residual < rounding) {
    t->verdict = VERDICT_REPEATS;
  } else if (t->real[MIXED_FAILED] >= MIXED_FAILURES) {
    stepping_break(t, "corrections made in float no longer lower the residual; |r| / |b|",
                   t->residual / run->norm_b);
  }
done:
  return rc;
}
