/* Lists of stages that are more than Euler steps: chains of them in one launch each (heat_chain.h),
 * the rest one by one.
 *
 * Other thread blocks still read a launch's fields when one writes its results. A result whose
 * field is being read goes to a twin of it, and the next launch reads it there; after an even
 * number of launches it is where it belongs, else it is copied in the end. Twins are made when they
 * are first needed; where there is no memory for them stages are made one by one. */
#include "heat_chain.h"
#include "heat_work.h"

enum { RESULTS = 1 + CHAIN_KEPT };

/* Where the values of fields are that are not at home. */
typedef struct places {
  struct {
    double *field, *at;
    int64_t from, to; /* planes */
  } away[HEAT_TWINS];
  int count;
} places;

static double *at(heat_field f) { return f.data.at; }

static double *place_of(const places *p, const void *field) {
  for (int i = 0; i < p->count; i++) {
    if (p->away[i].field == field) return p->away[i].at;
  }
  return (double *)(uintptr_t)field;
}

static void forget(places *p, const double *field) {
  for (int i = 0; i < p->count; i++) {
    if (p->away[i].field == field) p->away[i--] = p->away[--p->count];
  }
}

/* Copies what is wanted after stage `last` home; all of it is at home then. */
static status bring_home(device *d, const heat_work *w, const heat_stage *list, int count, int last,
                         places *p) {
  status rc = STATUS_OK;
  for (int i = 0; i < p->count; i++) {
    const int64_t from = (p->away[i].from + w->s.halo) * w->s.plane;
    const int64_t points = (p->away[i].to - p->away[i].from) * w->s.plane;
    int k = last;
    while (k >= 0 && at(list[k].out) != p->away[i].field) k--;
    if (k < 0 || !heat_chain_is_wanted(list, count, k, last)) continue;
    TRY(device_launched(d,
                        cudaMemcpyAsync(p->away[i].field + from, p->away[i].at + from,
                                        (size_t)points * sizeof(double), cudaMemcpyDeviceToDevice,
                                        d->main),
                        "copy of planes"));
  }
  p->count = 0;
done:
  return rc;
}

/* One of `count` addresses? */
static int is_among(const double *x, double *const *list, int count) {
  int found = 0;
  for (int i = 0; i < count; i++) found |= list[i] == x;
  return found;
}

/* Addresses that a launch must not write to, or will write to. */
typedef struct taken {
  double *list[4 + HEAT_TWINS + RESULTS];
  int count;
} taken;

static taken taken_by(const heat_stage *s, const heat_chain *c, const places *p) {
  taken t = {.list = {place_of(p, at(s->u))}, .count = 1};
  if (c->base != NULL) t.list[t.count++] = place_of(p, c->base);
  if (c->before != NULL) t.list[t.count++] = place_of(p, c->before);
  if (c->first != NULL) t.list[t.count++] = place_of(p, c->first);
  for (int i = 0; i < p->count; i++) t.list[t.count++] = p->away[i].at;
  return t;
}

/* Where a result that belongs to `field` can go to: there, or to a twin; NULL: nowhere. A twin that
 * cannot be had is no failure. */
static status find_place(device *d, heat_work *w, double *field, taken *t, double **out) {
  status rc = STATUS_OK;
  *out = is_among(field, t->list, t->count) ? NULL : field;
  for (int i = 0; i < HEAT_TWINS && *out == NULL; i++) {
    if (w->twin[i] == NULL && !w->lacks_twins) {
      const int64_t bytes = heat_points(&w->s) * (int64_t)sizeof(double);
      rc = device_alloc(d, bytes, "results of stages", &w->twin[i]);
      w->lacks_twins = rc == STATUS_UNAVAILABLE;
      if (w->lacks_twins) rc = STATUS_OK;
      TRY(rc);
    }
    if (w->twin[i] != NULL && !is_among(w->twin[i], t->list, t->count)) *out = w->twin[i];
  }
  if (*out != NULL) t->list[t->count++] = *out;
done:
  return rc;
}

static void describe(const heat_work *w, const heat_stage *list, const heat_chain *c,
                     const places *p, heat_march_args *a) {
  const heat_stage *s = list + c->from;
  a->p = cuda_heat_pass_of(w, s->scale, &s->input, place_of(p, at(s->u)), NULL);
  a->steps = a->parts = c->count;
  a->makes_first = c->makes_first;
  a->base = c->base == NULL ? NULL : place_of(p, c->base);
  a->before = c->before == NULL ? NULL : place_of(p, c->before);
  a->first = c->first == NULL ? NULL : place_of(p, c->first);
  for (int i = 0; i < c->count; i++) {
    const heat_pass q = cuda_heat_pass_of(w, s[i].scale, &s[i].input, NULL, NULL);
    heat_part *to = &a->part[i];
    *to = (heat_part){.scale = s[i].scale,
                      .source_value = q.source_value,
                      .terms = c->part[i].terms,
                      .swapped = c->part[i].swapped,
                      .own_base = c->part[i].own_base};
    for (int k = 0; k < HEAT_DIMS; k++) to->c[k] = q.c[k];
    for (int k = 0; k < HEAT_TERMS; k++) to->weight[k] = s[i].weight[k];
    for (int k = 0; k < HEAT_FACES; k++) to->inflow[k] = q.inflow[k], to->flux[k] = q.flux[k];
  }
}

/* Runs a chain; *done is 0 where there was no place for its results. */
static status run_chain(device *d, heat_work *w, const heat_stage *list, int count,
                        const heat_chain *c, places *p, int *done) {
  status rc = STATUS_OK;
  const int last = c->from + c->count - 1;
  const int stage[RESULTS] = {last, c->from, last - 1};
  const int wanted[RESULTS] = {1, c->keeps[0], c->keeps[1]};
  double *to[RESULTS] = {NULL};
  taken t = taken_by(list + c->from, c, p);
  heat_march_args a = {.steps = 0};
  *done = 0;
  for (int i = 0; i < RESULTS; i++) {
    if (wanted[i]) TRY(find_place(d, w, at(list[stage[i]].out), &t, &to[i]));
    if (wanted[i] && to[i] == NULL) goto done;
  }
  *done = 1;
  describe(w, list, c, p, &a);
  a.p.out = to[0];
  for (int i = 0; i < KEPT; i++) {
    a.keep[i] = to[1 + i];
    cuda_heat_range(&w->s, count - 1 - stage[1 + i], &a.keep_from[i], &a.keep_to[i]);
  }
  TRY(cuda_heat_march(d, &a, count - 1 - last));
  for (int i = c->from; i <= last; i++) forget(p, at(list[i].out));
  for (int i = 0; i < RESULTS; i++) {
    double *field = at(list[stage[i]].out);
    if (!wanted[i] || to[i] == field) continue;
    p->away[p->count].field = field;
    p->away[p->count].at = to[i];
    cuda_heat_range(&w->s, count - 1 - stage[i], &p->away[p->count].from, &p->away[p->count].to);
    p->count++;
  }
done:
  return rc;
}

status cuda_heat_chains(device *d, heat_work *w, const heat_stage *list, int count) {
  static const int most[HEAT_DIMS] = {LINE_STAGES, ROWS_STAGES, PLANES_STAGES};
  status rc = STATUS_OK;
  places p = {.count = 0};
  for (int i = 0; i < count;) {
    const heat_chain c = heat_chain_at(list, count, i, most[w->s.g.dims - 1]);
    int done = 0;
    if (c.count > 1) TRY(run_chain(d, w, list, count, &c, &p, &done));
    if (c.count > 1 && !done && p.count > 0) {
      TRY(bring_home(d, w, list, count, i - 1, &p));
      TRY(run_chain(d, w, list, count, &c, &p, &done));
    }
    for (int k = 0; k < c.count && !done; k++) {
      int64_t from, to;
      TRY(bring_home(d, w, list, count, i - 1, &p));
      cuda_heat_range(&w->s, count - 1 - (i + k), &from, &to);
      TRY(cuda_heat_stage(d, w, &list[i + k], from, to));
    }
    i += c.count;
  }
  TRY(bring_home(d, w, list, count, count - 1, &p));
done:
  return rc;
}
