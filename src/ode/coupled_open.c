/* Setting up a run of a coupled system (coupled_run.h): who owns which points and sees which of
 * others', the formulas, vectors, initial values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "block_sum.h"
#include "coupled_run.h"
#include "memory.h"
#include "team.h"

/* ---- points ---- */

/* Points [from, end) of others that are needed. */
typedef struct span {
  gidx from, end;
} span;

typedef struct span_list {
  span *at;
  int64_t count, room;
} span_list;

static status add_span(span_list *s, gidx from, gidx end) {
  if (from >= end) return STATUS_OK;
  if (s->count == s->room) {
    const int64_t room = 2 * s->room + 64;
    status rc = alloc_grow(&s->at, s->room, room, sizeof *s->at, "points of other ranks");
    if (rc != STATUS_OK) return rc;
    s->room = room;
  }
  s->at[s->count++] = (span){from, end};
  return STATUS_OK;
}

static status add_others(const coupled_layout *l, span_list *s, gidx from, gidx end) {
  const gidx first = l->first, last = first + l->count;
  status rc = add_span(s, from, end < first ? end : first);
  return rc != STATUS_OK ? rc : add_span(s, from > last ? from : last, end);
}

static int by_from(const void *a, const void *b) {
  const span *x = a, *y = b;
  return (x->from > y->from) - (x->from < y->from);
}

/* What the run of points q .. q + count - 1 of a line, the first at (i, j), sees of others. */
static status add_seen(const coupled_layout *l, gidx i, gidx j, gidx count, span_list *s) {
  for (int k = 0; k < l->reaches; k++) {
    for (gidx done = 0; done < count;) {
      const coupled_piece p = coupled_piece_of(l, l->reach[k], i + done, j, count - done);
      done += p.count;
      if (p.from < 0) continue;
      status rc = add_others(l, s, p.from, p.from + (p.step == 0 ? 1 : p.count));
      if (rc != STATUS_OK) return rc;
    }
  }
  return STATUS_OK;
}

static status list_spans(const coupled_layout *l, span_list *s) {
  status rc = STATUS_OK;
  if (l->sums > 0 && l->count > 0) return add_others(l, s, 0, l->n * l->m);
  for (gidx q = 0, count; q < l->count; q += count) {
    const gidx i = (l->first + q) % l->n;
    count = l->n - i < l->count - q ? l->n - i : l->count - q;
    TRY(add_seen(l, i, (l->first + q) / l->n, count, s));
  }
done:
  return rc;
}

/* l->ghost: the points of all spans, ascending, each once. */
static status list_ghosts(coupled_layout *l) {
  status rc = STATUS_OK;
  span_list s = {NULL, 0, 0};
  gidx total = 0, end = 0;
  TRY(list_spans(l, &s));
  if (s.count > 1) qsort(s.at, (size_t)s.count, sizeof *s.at, by_from);
  for (int64_t k = 0; k < s.count; k++) {
    if (s.at[k].from < end) s.at[k].from = end;
    if (s.at[k].end > end) end = s.at[k].end;
    if (s.at[k].from < s.at[k].end) total += s.at[k].end - s.at[k].from;
  }
  TRY(index_narrow(total * l->fields, "values of other ranks' points", &l->ghosts));
  l->ghosts = (lidx)total;
  TRY(alloc_array(&l->ghost, total, sizeof *l->ghost, "points of other ranks"));
  total = 0;
  for (int64_t k = 0; k < s.count; k++) {
    for (gidx p = s.at[k].from; p < s.at[k].end; p++) l->ghost[total++] = p;
  }
done:
  alloc_free(&s.at);
  return rc;
}

void coupled_points(const coupled_run *run, gidx *n, gidx *m) {
  const coupled_system *s = run->system;
  *n = run->n > 0 ? run->n : s->n;
  *m = s->dims == 1 ? 1 : run->m > 0 ? run->m : run->n > 0 ? run->n : s->m;
}

static status find_points(coupled_run *run) {
  const coupled_system *s = run->system;
  coupled_layout *l = &run->layout;
  gidx points;
  coupled_points(run, &l->n, &l->m);
  l->fields = coupled_equations(s->derivative);
  l->sums = coupled_equations(s->sum);
  l->edge = s->edge;
  if (__builtin_mul_overflow(l->n, l->m, &points) || points > INT64_MAX / 65536) {
    return fail(STATUS_USAGE, "%s: %lld x %lld points are too many", s->name, (long long)l->n,
                (long long)l->m);
  }
  return STATUS_OK;
}

/* Ranks own whole points, at multiples of a sum block of components. */
static status own_points(coupled_run *run) {
  status rc = STATUS_OK;
  coupled_layout *l = &run->layout;
  linear_system *s = &run->space;
  gidx *ghost = NULL;
  const gidx components = l->n * l->m * l->fields;
  TRY(ownership_aligned(run->world, components, block_size(components) * l->fields, &run->owned));
  s->kernels = run->kernels;
  s->place = run->place;
  s->world = run->world;
  s->timers = run->timers;
  s->global_rows = components;
  s->first_row = ownership_begin(&run->owned);
  l->first = s->first_row / l->fields;
  rc = index_narrow(ownership_end(&run->owned) - s->first_row, "components per rank", &s->rows);
  l->count = s->rows / l->fields;
  if (rc == STATUS_OK) rc = list_ghosts(l);
  s->ghosts = l->ghosts * l->fields;
  if (rc == STATUS_OK) rc = alloc_array(&ghost, s->ghosts, sizeof *ghost, "ghosts");
  TRY(comm_agree(run->world, rc));
  for (lidx g = 0; g < s->ghosts; g++) {
    ghost[g] = l->ghost[g / l->fields] * l->fields + g % l->fields;
  }
  TRY(halo_create(run->world, &run->owned, ghost, s->ghosts, &s->plan));
done:
  alloc_free(&ghost);
  return rc;
}

/* ---- formulas ---- */

static status make(coupled_run *run, const coupled_equation *list, const char *const *where,
                   const coupled_names *names, compiler *with, function **out) {
  const char *texts[COUPLED_SUMS + COUPLED_FIELDS], *named[COUPLED_SUMS + COUPLED_FIELDS];
  const int count = coupled_equations(list);
  for (int k = 0; k < count; k++) {
    texts[k] = list[k].text;
    named[k] = where == NULL ? list[k].name : where[k];
  }
  const function_request request = {.texts = texts,
                                    .where = named,
                                    .names = names->list,
                                    .outputs = count,
                                    .plain = run->kernels == &BACKEND_ref};
  return function_create(run->world, with, &request, out);
}

static status make_functions(coupled_run *run) {
  status rc = STATUS_OK;
  const coupled_system *s = run->system;
  const int count = coupled_parameters(s) + coupled_equations(s->constant);
  const char *names_of[COUPLED_FIELDS];
  coupled_names names;
  for (int f = 0; f < run->layout.fields; f++) names_of[f] = s->derivative[f].name;
  rc = alloc_zeroed(&run->constant, count, sizeof *run->constant, "parameters");
  if (rc == STATUS_OK) {
    rc = coupled_constants(s, run->layout.n, run->layout.m, run->parameter, run->constant);
  }
  if (rc == STATUS_OK) {
    rc = coupled_find_reaches(s, run->where == NULL ? names_of : run->where, &run->layout, &names);
  }
  TRY(comm_agree(run->world, rc));
  TRY(make(run, s->derivative, run->where, &names, run->with, &run->rhs));
  if (run->layout.sums > 0) {
    coupled_names_of_sums(s, &names);
    TRY(make(run, s->sum, NULL, &names, run->with, &run->sums));
  }
  for (int f = 0; f < run->layout.fields; f++) {
    for (int k = 0; k < run->layout.reaches; k++) {
      const uint64_t uses = function_uses(run->rhs, f, COUPLED_COMMON + k) != 0;
      run->layout.used[f] |= uses << k;
    }
  }
  run->functions = (coupled_functions){.rhs = function_formula(run->rhs),
                                       .sums = run->sums ? function_formula(run->sums) : NULL,
                                       .parameters = run->constant,
                                       .count = count};
done:
  return rc;
}

/* Whether the derivative of field f depends on field g, here or elsewhere. */
static int depends(const coupled_run *run, int f, int g) {
  const coupled_layout *l = &run->layout;
  const int first_sum = COUPLED_COMMON + l->reaches + run->functions.count;
  for (int k = 0; k < l->reaches; k++) {
    if (l->reach[k].field == g && (l->used[f] >> k & 1) != 0) return 1;
  }
  for (int s = 0; s < l->sums; s++) {
    if (!function_uses(run->rhs, f, first_sum + s)) continue;
    if (function_uses(run->sums, s, COUPLED_COMMON + g)) return 1;
    if (function_uses(run->sums, s, COUPLED_COMMON + l->fields + g)) return 1;
  }
  return 0;
}

/* Verlet's steps are for q' = f(t, v), v' = f(t, q). */
static status check_split(const coupled_run *run) {
  const int fields = run->layout.fields, half = fields / 2;
  if (run->by->kind != ODE_VERLET) return STATUS_OK;
  for (int f = 0; f < fields; f++) {
    const int first = f < half ? 0 : half;
    for (int g = first; g < first + half; g++) {
      if (!depends(run, f, g)) continue;
      return fail(STATUS_USAGE,
                  "method = verlet takes positions, then as many velocities, each with rates that "
                  "depend on the others alone; here d%s/dt depends on %s",
                  run->system->derivative[f].name, run->system->derivative[g].name);
    }
  }
  return STATUS_OK;
}

/* ---- initial values ---- */

typedef struct filling {
  const coupled_run *run;
  const formula *f;
  double *to;
} filling;

enum { CHUNK = 256 };

static void fill_part(void *context, int number, int64_t begin, int64_t end) {
  const filling *w = context;
  const coupled_layout *l = &w->run->layout;
  const int count = w->run->functions.count;
  double common[COUPLED_COMMON] = {0.0}, x[CHUNK], y[CHUNK];
  double value[COUPLED_FIELDS][CHUNK], *out[COUPLED_FIELDS];
  formula_input in[COUPLED_COMMON + 2 * COUPLED_PARAMETERS];
  (void)number;
  common[COUPLED_T] = w->run->plan.t_start;
  common[COUPLED_N] = (double)l->n;
  common[COUPLED_M] = (double)l->m;
  for (int k = 0; k < COUPLED_COMMON; k++) in[k] = (formula_input){&common[k], 0};
  in[COUPLED_I] = (formula_input){x, 1};
  in[COUPLED_J] = (formula_input){y, 1};
  for (int k = 0; k < count; k++) {
    in[COUPLED_COMMON + k] = (formula_input){&w->run->constant[k], 0};
  }
  for (int f = 0; f < l->fields; f++) out[f] = value[f];
  for (int64_t q = begin; q < end; q += CHUNK) {
    const int n = end - q < CHUNK ? (int)(end - q) : CHUNK;
    for (int k = 0; k < n; k++) {
      const gidx p = l->first + q + k, line = p / l->n;
      x[k] = (double)(p % l->n);
      y[k] = (double)line;
    }
    w->f->batch(w->f->context, n, in, out);
    for (int k = 0; k < n * l->fields; k++) {
      w->to[q * l->fields + k] = value[k % l->fields][k / l->fields];
    }
  }
}

/* The first component that is not finite, over all ranks, is said. */
static status check_initial(coupled_run *run, const double *y) {
  status rc = STATUS_OK;
  const coupled_layout *l = &run->layout;
  int64_t bad = INT64_MAX;
  for (lidx i = run->space.rows - 1; i >= 0; i--) {
    if (!isfinite(y[i])) bad = run->space.first_row + i;
  }
  TRY(comm_min_i64(run->world, &bad, 1));
  if (bad == INT64_MAX) goto done;
  const gidx p = bad / l->fields;
  rc = comm_agree(run->world, fail(STATUS_INPUT,
                                   "the initial value of %s at point (%lld, %lld) is not a finite "
                                   "number",
                                   run->system->derivative[bad % l->fields].name,
                                   (long long)(p % l->n), (long long)(p / l->n)));
done:
  return rc;
}

static status make_initial(coupled_run *run) {
  status rc = STATUS_OK;
  const coupled_system *s = run->system;
  coupled_equation list[COUPLED_FIELDS + 1] = {{NULL, NULL}};
  coupled_names names;
  function *made = NULL;
  double *host = NULL;
  for (int f = 0; f < run->layout.fields; f++) {
    list[f] = s->initial[f];
    if (run->initial != NULL) list[f].text = run->initial[f];
  }
  coupled_names_of_initial(s, &names);
  compiler *with = run->space.global_rows > 100000 ? run->with : NULL; /* it pays */
  TRY(make(run, list, run->where_initial, &names, with, &made));
  rc = alloc_array(&host, run->space.rows, sizeof *host, "initial values");
  TRY(comm_agree(run->world, rc));
  filling w = {run, function_formula(made), host};
  team_for(run->threads, run->layout.count, fill_part, &w);
  TRY(check_initial(run, host));
  rc = comm_agree(run->world, linear_load(&run->space, run->y, host));
done:
  alloc_free(&host);
  function_release(&made);
  return rc;
}

/* ---- vectors ---- */

enum { IMPLICIT_SLOPES = 2 };

static int slopes_of(const coupled_run *run) {
  if (run->by->kind == ODE_VERLET) return 3;
  if (run->by->kind != ODE_RUNGE_KUTTA) return IMPLICIT_SLOPES;
  const ode_tableau m = ode_tableau_of(run->by->variant);
  return m.first_same ? m.stages : m.stages + 1;
}

/* Whether a rank's vectors fit (those of a GPU are not the host's, but for what is made and saved
 * there), and its rows where steps are implicit; auto may become so. */
static status check_memory(const coupled_run *run) {
  const coupled_layout *l = &run->layout;
  const double all = (double)l->n * (double)l->m * l->fields;
  const int implicit = run->automatic || run->by->kind == ODE_IMPLICIT;
  const int apart = run->kernels->describe != NULL;
  double each = 8.0 * ((apart ? 1.0 : 4.0 + slopes_of(run)) + (double)run->plan.saves);
  if (implicit && l->sums == 0) each += 8.0 * 16.0 + 24.0 * (l->reaches + 1.0);
  return memory_check(run->world,
                      all / comm_size(run->world) * each + (l->sums > 0 ? 8.0 * all : 0.0),
                      run->system->name);
}

static status make_vectors(coupled_run *run) {
  status rc = STATUS_OK;
  linear_system *s = &run->space;
  vec *const all[] = {&run->y, &run->u, &run->v, &run->e};
  const int64_t saved = run->plan.saves * (int64_t)s->rows;
  for (int i = 0; i < 4; i++) ATTEMPT(s, linear_vector(s, "state", all[i]));
  for (int i = 0; i < slopes_of(run); i++) ATTEMPT(s, linear_vector(s, "slopes", &run->k[i]));
  ATTEMPT(s, alloc_array(&run->saved, saved, sizeof *run->saved, "saved states"));
  for (int64_t i = 0; s->failure == STATUS_OK && i < saved; i++) run->saved[i] = NAN;
  TRY(comm_agree(run->world, s->failure));
done:
  return rc;
}

static status choose(coupled_run *run) {
  const char *method = run->method == NULL ? "auto" : run->method;
  run->automatic = strcmp(method, "auto") == 0;
  run->by = ode_method_find(run->automatic ? "tsit5" : method);
  if (run->by == NULL || run->by->kind == ODE_ROSENBROCK || run->by->kind == ODE_NOISY) {
    return fail(STATUS_USAGE,
                "method = %s is not for large coupled systems; expected auto, euler, rk4, dopri5, "
                "tsit5, verlet, backward-euler or tr-bdf2",
                method);
  }
  if (run->by->kind == ODE_VERLET && coupled_equations(run->system->derivative) % 2 != 0) {
    return fail(STATUS_USAGE,
                "method = verlet: %s has %d fields; expected positions, then as many velocities",
                run->system->name, coupled_equations(run->system->derivative));
  }
  if (run->by->kind == ODE_IMPLICIT && run->system->sum[0].name != NULL) {
    return fail(STATUS_USAGE,
                "method = %s: the derivatives of %s depend on all points, its matrix would be "
                "full; expected an explicit method",
                method, run->system->name);
  }
  if (!run->plan.adaptive && run->automatic) {
    return fail(STATUS_USAGE, "method = auto makes steps of its own; with fixed steps a method is "
                              "to be named");
  }
  if (run->plan.adaptive && run->by->error_order == 0) {
    return fail(STATUS_USAGE, "method = %s has no error estimate; expected fixed steps (dt)",
                method);
  }
  return STATUS_OK;
}

void coupled_use(coupled_run *run, const ode_method *m) {
  run->by = m;
  run->plan.kind = m->kind;
  run->plan.variant = m->variant;
  run->plan.order = m->error_order;
}

status coupled_open(coupled_run *run) {
  status rc = choose(run);
  if (rc == STATUS_OK) rc = find_points(run);
  TRY(comm_agree(run->world, rc));
  run->switched = -1;
  coupled_use(run, run->by);
  if (!run->plan.adaptive) {
    run->plan.steps = ode_step_count(run->plan.t_start, run->plan.t_end, run->plan.dt);
  }
  run->clock.plan = &run->plan;
  run->clock.t[0] = run->plan.t_start;
  run->clock.h[0] = run->plan.adaptive ? run->plan.dt : 0.0;
  TRY(make_functions(run));
  TRY(comm_agree(run->world, check_split(run)));
  TRY(check_memory(run));
  TRY(own_points(run));
  TRY(make_vectors(run));
  if (run->by->kind == ODE_IMPLICIT) TRY(coupled_newton_open(run));
  if (run->by->kind == ODE_VERLET) TRY(coupled_verlet_open(run));
  rc = run->kernels->coupled->create(run->place, &run->layout, &run->functions, &run->work);
  TRY(comm_agree(run->world, rc));
  TRY(make_initial(run));
done:
  return rc;
}

void coupled_close(coupled_run *run) {
  linear_system *s = &run->space;
  vec *const all[] = {&run->y, &run->u, &run->v, &run->e};
  coupled_newton_close(run);
  if (run->work != NULL) run->kernels->coupled->release(run->place, &run->work);
  for (int i = 0; i < 4; i++) linear_vector_release(s, all[i]);
  linear_vector_release(s, &run->positions);
  linear_vector_release(s, &run->velocities);
  for (int i = 0; i <= ODE_STAGES; i++) linear_vector_release(s, &run->k[i]);
  alloc_free(&run->saved);
  alloc_free(&run->saved_there);
  alloc_free(&run->kept);
  function_release(&run->rhs);
  function_release(&run->sums);
  function_release(&run->jacobian);
  alloc_free(&run->constant);
  alloc_free(&run->layout.ghost);
  halo_release(&s->plan);
  ownership_release(&run->owned);
}
