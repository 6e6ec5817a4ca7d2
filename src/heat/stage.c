/* What stages are fed with, the halo of a field, its values on the host, and its totals.
 *
 * What depends on time is evaluated on the host at the stage's time, and only that: a source on the
 * slab, what a face is told on the face. */
#include <math.h>

#include "scheme.h"
#include "timers.h"

/* Number of fields of `slab` planes: a supply that is one number has none. */
static status supply(heat_run *run, heat_supply *s, double t) {
  status rc = STATUS_OK;
  if (s->field.data.at == NULL || s->at == t || (!s->value->in_time && !isnan(s->at))) return rc;
  const int64_t points = heat_box_points(&s->box);
  heat_value_fill(s->value, &s->box, t, run->threads, run->host);
  TRY(run->kernels->copy_in(run->place, s->field.data, (hptr){run->host},
                            points * (int64_t)sizeof(double)));
  s->at = t;
  run->copies += run->kernels->describe == NULL; /* as heat_count_pass() */
done:
  return rc;
}

static double number_of(const heat_supply *s, double t) {
  if (s->value == NULL || s->field.data.at != NULL) return 0.0;
  return s->value->in_time ? heat_value_at(s->value, NULL, t) : s->number;
}

status heat_input_at(heat_run *run, double t, heat_input *out) {
  status rc = STATUS_OK;
  *out = (heat_input){.source = run->source.field, .source_value = number_of(&run->source, t)};
  TRY(supply(run, &run->source, t));
  for (int f = 0; f < 2 * run->slab.g.dims; f++) {
    TRY(supply(run, &run->flux[f], t));
    out->flux[f] = number_of(&run->flux[f], t);
    out->flux_at[f] = run->flux[f].field;
  }
done:
  return rc;
}

status heat_input_constant(heat_run *run) {
  status rc = STATUS_OK;
  heat_supply *all[1 + 2 * HEAT_FACES] = {&run->source};
  for (int f = 0; f < HEAT_FACES; f++) {
    all[1 + 2 * f] = &run->flux[f];
    all[2 + 2 * f] = &run->held[f];
  }
  for (int i = 0; i < 1 + 2 * HEAT_FACES; i++) {
    if (all[i]->value != NULL && !all[i]->value->in_time) TRY(supply(run, all[i], 0.0));
  }
done:
  return rc;
}

status heat_held_at(heat_run *run, double t, heat_field out[HEAT_FACES]) {
  status rc = STATUS_OK;
  for (int f = 0; f < 2 * run->slab.g.dims; f++) {
    TRY(supply(run, &run->held[f], t));
    out[f] = run->held[f].field;
  }
done:
  return rc;
}

status heat_exchange_begin(heat_run *run, heat_field u) {
  const heat_backend *k = run->kernels->heat;
  if (run->plan.sends > 0) HEAT_ATTEMPT(run, k->pack(run->place, run->work, &run->plan, u));
  timers_switch(run->timers, PHASE_COMMUNICATE);
  const status rc = halo_begin(&run->plan);
  timers_switch(run->timers, PHASE_COMPUTE);
  return rc;
}

status heat_exchange_end(heat_run *run, heat_field u) {
  const heat_backend *k = run->kernels->heat;
  timers_switch(run->timers, PHASE_COMMUNICATE);
  const status rc = halo_end(&run->plan);
  timers_switch(run->timers, PHASE_COMPUTE);
  if (run->plan.ghosts > 0) HEAT_ATTEMPT(run, k->unpack(run->place, run->work, &run->plan, u));
  return rc;
}

status heat_exchange(heat_run *run, heat_field u) {
  status rc = heat_exchange_begin(run, u);
  return rc != STATUS_OK ? rc : heat_exchange_end(run, u);
}

void heat_swap(heat_run *run, heat_field *next) {
  const heat_field old = run->u;
  run->u = *next;
  *next = old;
}

static dptr owned_at(const heat_run *run, heat_field f) {
  return (dptr){(double *)f.data.at + run->slab.halo * run->slab.plane};
}

status heat_load(heat_run *run, heat_field to, const double *from) {
  heat_forget_halos(run);
  const int64_t bytes = heat_owned(&run->slab) * (int64_t)sizeof *from;
  return run->kernels->copy_in(run->place, owned_at(run, to), (hptr){(void *)(uintptr_t)from},
                               bytes);
}

status heat_store(heat_run *run, double *to, heat_field from) {
  const int64_t bytes = heat_owned(&run->slab) * (int64_t)sizeof *to;
  return run->kernels->copy_out(run->place, (hptr){to}, owned_at(run, from), bytes);
}

status heat_totals_of(heat_run *run, heat_field u, heat_totals *out) {
  status rc = STATUS_OK;
  const heat_grid *g = &run->slab.g;
  double low = INFINITY, high = -INFINITY, sum = 0.0, top[3];
  HEAT_ATTEMPT(run, run->kernels->heat->totals(run->place, run->work, u, &low, &high));
  TRY(run->kernels->sums(run->place, run->world, 1, NULL, &sum));
  top[0] = isnan(low) ? -INFINITY : -low;
  top[1] = isnan(high) ? INFINITY : high;
  top[2] = isnan(low);
  TRY(comm_max_f64(run->world, top, 3));
  for (int d = 0; d < g->dims; d++) sum *= g->spacing[d];
  out->heat = sum;
  out->minimum = top[2] > 0.0 ? NAN : 0.0 - top[0];
  out->maximum = top[2] > 0.0 ? NAN : 0.0 + top[1];
done:
  return rc;
}
