/* Sweeps: the values of swept parameters as functions of the member's number, so that a billion
 * members need no memory. Members are the product of the axes, the last axis fastest.
 *
 * linspace: low + i (high - low) / (n - 1) by one fma, the ends exact. geomspace: low 10^(i L / (n
 * - 1)), L = log10(high / low), the ends exact: a few ulp, and exact at whole powers of ten as far
 * as low times one is. */
#ifndef SWEEP_AXIS_H
#define SWEEP_AXIS_H

#include "elementary.h"
#include "portable.h"
#include "space.h"

enum { SWEEP_AXES = 16 };

typedef enum sweep_kind { SWEEP_LINSPACE, SWEEP_GEOMSPACE, SWEEP_LIST } sweep_kind;

typedef struct sweep_axis {
  int32_t kind;
  int64_t count; /* at least 1 */
  double low, high;
  double step; /* linspace: (high - low) / (count - 1); geomspace: log10(high / low) */
  dptr list;   /* list: [count], in the memory of who asks */
} sweep_axis;

typedef struct sweep_grid {
  int32_t axes;
  int64_t members; /* product of the counts */
  sweep_axis axis[SWEEP_AXES];
} sweep_grid;

/* Value i of an axis, i in [0, count). */
PORTABLE double sweep_value(const sweep_axis *a, int64_t i) {
  if (a->kind == SWEEP_LIST) return ((const double *)a->list.at)[i];
  if (i == 0) return a->low;
  if (i == a->count - 1) return a->high;
  if (a->kind == SWEEP_LINSPACE) return fma((double)i, a->step, a->low);
  return a->low * elementary_power(10.0, (double)i * a->step / (double)(a->count - 1));
}

/* The values of member m: out[axes]. */
PORTABLE void sweep_member(const sweep_grid *g, int64_t m, double *out) {
  for (int k = g->axes - 1; k >= 0; k--) {
    const int64_t rest = m / g->axis[k].count;
    out[k] = sweep_value(&g->axis[k], m - rest * g->axis[k].count);
    m = rest;
  }
}

#endif
