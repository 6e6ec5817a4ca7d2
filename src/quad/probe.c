/* Probes of adaptive integrals (probe.h).
 *
 * In each direction a probe's place has a mixed density: uniform, and logarithmic in the distance
 * from either end and from x = 0 where that is inside, down to 2^-32 of the way. So a narrow peak
 * close to an end, around 0, or anywhere on a long way to infinity is met, whatever the scale; and
 * by importance sampling a probe of density q among N stands for the volume 1 / (N q). In one
 * direction the draws are stratified, in several independent. They come from the stream
 * PHILOX_PROBE under a fixed key: results do not depend on the seed.
 *
 * Where everything seen has one value there are PROBES_BLANK. What is not promised: a peak in the
 * middle of nowhere that fills less than about 1/N of the box can stay unseen (as by any finite
 * sample). Cost: an evaluation a probe, on every rank. */
#include "probe.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "elementary_exp.h"
#include "philox.h"

enum { ONE_WAY = 512, MANY_WAYS = 256, DRAW_KEY = 1, KINDS = 4 };
enum { UNIFORM, FROM_LOWER, FROM_UPPER, FROM_ZERO };

/* ln 2^32 */
#define DECADES 22.180709777918249

#define NOT_SEEN_PART 0x1p-12

int probe_count(int dims) { return dims == 1 ? ONE_WAY : MANY_WAYS; }

/* The densities' parts in a direction, and the place of x = 0. */
typedef struct mixture {
  double width, zero; /* of the axis; of x = 0 above its lower end, 0: not inside */
  double part[KINDS];
} mixture;

static mixture mixture_of(const quad_frame *f, int d) {
  const quad_axis *a = &f->axis[d];
  mixture m = {.width = a->upper - a->lower};
  if (a->range == QUAD_LINE) m.zero = 1.0;
  if (a->range == QUAD_FINITE && a->lower < 0.0 && a->upper > 0.0) m.zero = -a->lower;
  m.part[UNIFORM] = f->dims == 1 ? 0.25 : 0.625;
  m.part[FROM_LOWER] = m.part[FROM_UPPER] = f->dims == 1 ? 0.25 : 0.125;
  m.part[FROM_ZERO] = 1.0 - m.part[UNIFORM] - m.part[FROM_LOWER] - m.part[FROM_UPPER];
  if (m.zero == 0.0) {
    m.part[UNIFORM] += m.part[FROM_ZERO];
    m.part[FROM_ZERO] = 0.0;
  }
  return m;
}

/* 2^-32 .. 1 times `length`, uniform in the logarithm. */
static double far_and_near(double u, double length) {
  return length * elementary_exp(-DECADES * u);
}

static double density_near(double distance, double length) {
  return distance > 0.0 && distance <= length && distance >= length * 0x1p-32
             ? 1.0 / (distance * DECADES)
             : 0.0;
}

static double density(const mixture *m, double place) {
  const double below = place < 0.0 ? m->width + place : place;
  const double above = place < 0.0 ? -place : m->width - place;
  double q = m->part[UNIFORM] / m->width;
  q += m->part[FROM_LOWER] * density_near(below, m->width);
  q += m->part[FROM_UPPER] * density_near(above, m->width);
  if (m->part[FROM_ZERO] == 0.0) return q;
  const double off = below - m->zero;
  return q + 0.5 * m->part[FROM_ZERO] *
                 (off < 0.0 ? density_near(-off, m->zero) : density_near(off, m->width - m->zero));
}

/* The place for v in (0, 1); `side` in (0, 1) says on which side of zero. */
static double draw(const mixture *m, double v, double side) {
  int kind = 0;
  for (; kind < KINDS - 1 && v >= m->part[kind]; kind++) v -= m->part[kind];
  v = m->part[kind] > 0.0 ? v / m->part[kind] : 0.5;
  if (kind == FROM_LOWER) return far_and_near(v, m->width);
  if (kind == FROM_UPPER) return -far_and_near(v, m->width);
  if (kind == FROM_ZERO) {
    return side < 0.5 ? m->zero - far_and_near(v, m->zero)
                      : m->zero + far_and_near(v, m->width - m->zero);
  }
  return v <= 0.5 ? v * m->width : -(1.0 - v) * m->width;
}

/* Draws probe i; x[d * count + i]; the result is dx/dt, 0: not to be used. */
static double place_probe(const quad_frame *f, const mixture *m, int i, probe_set *s, double *x) {
  probe *p = &s->at[i];
  double slope = 1.0;
  p->share = 1.0 / (double)s->count;
  p->next = -1;
  for (int d = 0; d < f->dims; d++) {
    const philox_words w = philox_at(DRAW_KEY, (uint64_t)i, PHILOX_PROBE, (uint64_t)d, 0);
    double v = philox_uniform(w, 0), *at = &x[(int64_t)d * s->count + i];
    if (f->dims == 1) v = (i + v) / s->count;
    p->place[d] = draw(&m[d], v, philox_uniform(w, 1));
    p->share /= density(&m[d], p->place[d]);
    slope *= quad_place(&f->axis[d], p->place[d] < 0.0, p->place[d], at);
    /* ends are no one's to look at */
    if (f->axis[d].range == QUAD_FINITE && (*at <= f->axis[d].lower || *at >= f->axis[d].upper)) {
      slope = 0.0;
    }
  }
  return slope;
}

/* Evaluates all probes; those that do not count get g = NaN. */
static void look(quad_run *run, const quad_frame *f, const double *x, const double *slope,
                 double *value, probe_set *s) {
  const formula *fn = run->integral.f;
  formula_input in[QUAD_INPUTS];
  double volume = 1.0;
  for (int d = 0; d < f->dims; d++) volume *= f->axis[d].upper - f->axis[d].lower;
  for (int i = 0; i < fn->inputs; i++) {
    in[i].at = i < f->dims ? x + (int64_t)i * s->count : &run->integral.parameters[i - f->dims];
    in[i].step = i < f->dims ? 1 : 0;
  }
  fn->batch(fn->context, s->count, in, &value);
  run->evaluations += s->count;
  for (int i = 0; i < s->count; i++) {
    s->at[i].g = slope[i] != 0.0 ? slope[i] * value[i] : NAN;
    if (slope[i] == 0.0 || isfinite(s->at[i].g)) continue;
    s->at[i].g = NAN;
    if (s->at[i].share < NOT_SEEN_PART * volume || run->reason == QUAD_NOT_FINITE) continue;
    run->reason = QUAD_NOT_FINITE;
    run->bad_value = value[i];
    for (int d = 0; d < f->dims; d++) run->bad_point[d] = x[(int64_t)d * s->count + i];
  }
}

status probe_set_make(quad_run *run, const quad_frame *f, int count, probe_set *out) {
  status rc = STATUS_OK;
  mixture m[QUAD_DIMS];
  double *x = NULL;
  memset(out, 0, sizeof *out);
  out->count = count;
  TRY(alloc_array(&out->at, out->count, sizeof *out->at, "probes"));
  TRY(alloc_array(&x, (int64_t)out->count * (f->dims + 2), sizeof *x, "probes"));
  double *slope = x + (int64_t)out->count * f->dims, *value = slope + out->count;
  for (int d = 0; d < f->dims; d++) m[d] = mixture_of(f, d);
  for (int i = 0; i < out->count; i++) slope[i] = place_probe(f, m, i, out, x);
  look(run, f, x, slope, value, out);
done:
  alloc_free(&x);
  return rc;
}

void probe_set_release(probe_set *s) {
  alloc_free(&s->at);
  s->count = 0;
}

double probe_place(const quad_frame *f, const probe *p, int d, double low) {
  const double place = p->place[d], width = f->axis[d].upper - f->axis[d].lower;
  if ((place < 0.0) == (low < 0.0)) return place;
  return place < 0.0 ? place + width : place - width;
}

int probe_inside(const quad_frame *f, const probe *p, const double *edge) {
  for (int d = 0; d < f->dims; d++) {
    const double place = probe_place(f, p, d, edge[2 * d]);
    if (!(place >= edge[2 * d] && place < edge[2 * d + 1])) return 0;
  }
  return 1;
}

double probe_unseen(const probe_set *s, int32_t first, const quad_estimate *region) {
  const double spread = region->high - region->low;
  double sum = 0.0;
  for (int32_t i = first; i >= 0; i = s->at[i].next) {
    const probe *p = &s->at[i];
    const double excess = fmax(p->g - region->high, region->low - p->g) - spread;
    if (excess > 0.0) sum += p->share * excess;
  }
  return sum;
}
