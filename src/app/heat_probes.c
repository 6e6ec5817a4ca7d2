/* The field at places between grid points (heat_outputs.h): multilinear interpolation.
 *
 * The 2^dims points around a probe may lie on two ranks. Each rank puts the bits of those it owns
 * into an array of zeros; the sum of the arrays is every value, exactly. All ranks then compute the
 * same: x first, then y, then z, u = fma(w, hi - lo, lo); w = 0 takes lo as it is. Cost: one sum of
 * 8 numbers a probe. */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "heat_outputs.h"

enum { CORNERS = 1 << HEAT_DIMS };

static int periodic(const heat_grid *g, int d) { return g->face[2 * d] == HEAT_PERIODIC; }

/* A place on the last point but for rounding counts as on it. */
static double steps_from_origin(const heat_grid *g, int d, double x) {
  const double s = (x - g->origin[d]) / g->spacing[d], whole = nearbyint(s);
  return fabs(s - whole) < 1e-9 ? whole : s;
}

int heat_probe_inside(const heat_grid *g, const double *place) {
  for (int d = 0; d < g->dims; d++) {
    const double most = (double)(g->n[d] == 1 || periodic(g, d) ? g->n[d] : g->n[d] - 1);
    const double s = steps_from_origin(g, d, place[d]);
    if (!(s >= 0.0 && s <= most)) return 0;
  }
  return 1;
}

/* The point below and the next, and how far between them. */
static void bracket(const heat_grid *g, int d, double x, int64_t point[2], double *weight) {
  const double s = steps_from_origin(g, d, x), low = floor(s);
  point[0] = (int64_t)low;
  point[1] = point[0] + 1;
  *weight = s - low;
  if (g->n[d] == 1) *weight = 0.0;
  for (int i = 0; i < 2; i++) {
    if (periodic(g, d)) point[i] %= g->n[d];
    if (point[i] >= g->n[d]) point[i] = g->n[d] - 1;
  }
}

/* Bit d of a corner says which of the two points in direction d it is. */
static void take_corners(const heat_run *run, const double *place, const double *u,
                         int64_t bits[CORNERS], double weight[HEAT_DIMS]) {
  const heat_slab *s = &run->slab;
  const heat_grid *g = &s->g;
  int64_t point[HEAT_DIMS][2];
  for (int d = 0; d < g->dims; d++) bracket(g, d, place[d], point[d], &weight[d]);
  for (int corner = 0; corner < 1 << g->dims; corner++) {
    int64_t at = 0;
    for (int d = g->dims - 1; d >= 0; d--) at = at * g->n[d] + point[d][corner >> d & 1];
    at -= s->first * s->plane;
    bits[corner] = at >= 0 && at < heat_owned(s) ? (int64_t)bits_of(u[at]) : 0;
  }
}

static double interpolate(int dims, const int64_t bits[CORNERS], const double weight[HEAT_DIMS]) {
  double value[CORNERS];
  memcpy(value, bits, sizeof value);
  for (int d = 0; d < dims; d++) {
    for (int i = 0; i < 1 << (dims - 1 - d); i++) {
      const double lo = value[2 * i], hi = value[2 * i + 1];
      value[i] = weight[d] == 0.0 ? lo : fma(weight[d], hi - lo, lo);
    }
  }
  return value[0];
}

status heat_probes_read(const heat_outputs *out, const heat_run *run, const double *u,
                        double *values) {
  status rc = STATUS_OK;
  int64_t *bits = NULL;
  double weight[HEAT_DIMS] = {0.0};
  if (out->probes == 0) return STATUS_OK;
  rc = alloc_zeroed(&bits, (int64_t)out->probes * CORNERS, sizeof *bits, "probes");
  TRY(comm_agree(run->world, rc));
  for (int p = 0; p < out->probes; p++) {
    take_corners(run, out->probe + (int64_t)p * out->dims, u, bits + (int64_t)p * CORNERS, weight);
  }
  TRY(comm_sum_i64(run->world, bits, (int64_t)out->probes * CORNERS));
  for (int p = 0; p < out->probes; p++) {
    int64_t point[2];
    for (int d = 0; d < out->dims; d++)
      bracket(&run->slab.g, d, out->probe[(int64_t)p * out->dims + d], point, &weight[d]);
    values[p] = interpolate(out->dims, bits + (int64_t)p * CORNERS, weight);
  }
done:
  alloc_free(&bits);
  return rc;
}
