/* Regions of adaptive quadrature on all cores: packs of regions are dealt to the workers as they
 * come. A pack has as many regions as fit, some hundred points at least, so that one call of the
 * formula evaluates them all in vector lanes. Malik's points have only seven places in each
 * direction: x and dx/dt are made for those, then copied to the points. 140 KiB a worker. */
#include "omp_team.h"

#include <math.h>

#include "quad_host.h"

enum { ROOM = 1280, CODES = 7 };

/* Points worth a call. */
enum { PACK_LEAST = 256 };

/* Seconds of work that are worth waking threads for; what a point costs before that is known. */
static const double WAKING = 50e-6, UNKNOWN = 50e-9;

/* How the points of a rule lie, the same for all regions. */
typedef struct pattern {
  int points, places; /* places a direction has */
  double node[QUAD_KRONROD_POINTS];
  unsigned char place[QUAD_DIMS][QUAD_MALIK_POINTS]; /* of a point in a direction */
} pattern;

typedef struct pack {
  double x[QUAD_DIMS][ROOM], slope[ROOM], value[ROOM];
} pack;

static void pattern_make(const quad_frame *f, pattern *p) {
  double weight, gauss;
  p->points = quad_region_points(f);
  p->places = f->rule == QUAD_KRONROD ? QUAD_KRONROD_POINTS : CODES;
  for (int i = 0; i < p->places; i++) {
    p->node[i] = f->rule == QUAD_KRONROD ? quad_kronrod(i, &weight, &gauss) : quad_malik_node(i);
  }
  for (int d = 0; d < f->dims; d++) {
    for (int k = 0; k < p->points; k++) {
      p->place[d][k] =
          (unsigned char)(f->rule == QUAD_KRONROD ? k : quad_malik_code(f->dims, k, d));
    }
  }
}

/* The points of a region go to places [at, at + points) of the pack. */
static void put_points(const quad_frame *f, const pattern *p, const double *edge, pack *to,
                       int at) {
  double x[QUAD_KRONROD_POINTS], slope[QUAD_KRONROD_POINTS];
  for (int k = 0; k < p->points; k++) to->slope[at + k] = 1.0;
  for (int d = 0; d < f->dims; d++) {
    const unsigned char *place = p->place[d];
    for (int i = 0; i < p->places; i++) {
      slope[i] = quad_region_place(f, edge, d, p->node[i], &x[i]);
    }
    for (int k = 0; k < p->points; k++) to->x[d][at + k] = x[place[k]];
    if (f->axis[d].range == QUAD_FINITE) continue; /* times 1 */
    for (int k = 0; k < p->points; k++) to->slope[at + k] *= slope[place[k]];
  }
}

static void do_pack(const quad_work *w, const quad_frame *f, const pattern *p,
                    const double *parameters, int regions, const double *edge, quad_estimate *out) {
  pack s;
  formula_input in[QUAD_INPUTS];
  double *value = s.value;
  const int points = regions * p->points;
  for (int i = 0; i < w->f->inputs; i++) {
    in[i].at = i < w->dims ? s.x[i] : &parameters[i - w->dims];
    in[i].step = i < w->dims ? 1 : 0;
  }
  for (int r = 0; r < regions; r++) put_points(f, p, edge + 2 * f->dims * r, &s, r * p->points);
  w->f->batch(w->f->context, points, in, &value);
  for (int k = 0; k < points; k++) value[k] = quad_region_term(s.slope[k], value[k]);
  for (int r = 0; r < regions; r++) {
    quad_region_estimate(f, edge + 2 * f->dims * r, value + r * p->points, &out[r]);
  }
}

status quad_omp_regions(device *d, quad_work *w, const quad_frame *f, const double *parameters,
                        int64_t count, const double *edge, quad_estimate *out) {
  pattern p;
  pattern_make(f, &p);
  const int64_t most = ROOM / p.points, least = 1 + (PACK_LEAST - 1) / p.points;
  const int64_t even = count / d->threads;
  const int64_t each = even < least ? least : even < most ? even : most;
  const int64_t packs = count / each + (count % each != 0);
  const double points = (double)count * p.points, began = comm_clock();
  if (w->point_seconds == 0.0) w->point_seconds = UNKNOWN;
  int team = packs < d->threads ? (packs > 0 ? (int)packs : 1) : d->threads;
  if (w->point_seconds * points < WAKING) team = 1;
#pragma omp parallel for num_threads(team) schedule(dynamic)
  for (int64_t i = 0; i < packs; i++) {
    const int64_t first = i * each, left = count - first;
    do_pack(w, f, &p, parameters, (int)(left < each ? left : each), edge + 2 * f->dims * first,
            out + first);
  }
  if (count > 0) w->point_seconds = (comm_clock() - began) * team / points;
  return STATUS_OK;
}
