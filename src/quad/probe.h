/* Probes: points beside a rule's own, where an adaptive integral looks for what its regions did not
 * see. Local throughout, the same on every rank. */
#ifndef PROBE_H
#define PROBE_H

#include "quad_run.h"

typedef struct probe {
  double place[QUAD_DIMS]; /* quad_regions.h */
  double g;                /* f dx/dt */
  double share;            /* the volume in t it stands for */
  int32_t next;            /* the next probe of the same region, -1: none */
} probe;

typedef struct probe_set {
  int count;
  probe *at; /* [count] */
} probe_set;

/* How many probes an integral has where all that is seen has one value. */
enum { PROBES_BLANK = 1 << 16 };

/* How many probes an integral of so many directions has. */
int probe_count(int dims);

/* Draws and evaluates `count` probes. A value that is not finite ends the run (QUAD_NOT_FINITE,
 * with the point) unless the probe stands for less than 1/4096 of the range; then it is left out.
 */
status probe_set_make(quad_run *run, const quad_frame *f, int count, probe_set *out);
void probe_set_release(probe_set *s);

/* A probe's place in direction d, measured as the region whose low edge is `low` measures. */
double probe_place(const quad_frame *f, const probe *p, int d, double low);

/* Whether it lies in a region. */
int probe_inside(const quad_frame *f, const probe *p, const double *edge);

/* What the probes of the list that starts at `first` saw and the region's points did not: the sum
 * of share times excess. The excess is how far g lies outside [low - s, high + s], s = high - low:
 * a function that the rule resolves stays inside. */
double probe_unseen(const probe_set *s, int32_t first, const quad_estimate *region);

#endif
