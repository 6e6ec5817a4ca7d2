/* Stages of the heat equation on parts of a slab, by whole lines: what the OpenMP backend's loops
 * over planes, tiles and threads are made of. */
#ifndef HEAT_LINE_H
#define HEAT_LINE_H

#include "heat_host.h"

/* A stage, with what is the same for all its points. */
typedef struct heat_job {
  const heat_work *w;
  const heat_stage *s;
  double c[HEAT_DIMS];
  double inflow[HEAT_FACES];
} heat_job;

/* Points [from[d], to[d]) in each direction; the last one counts from the first owned plane. */
typedef struct heat_part {
  int64_t from[HEAT_DIMS], to[HEAT_DIMS];
} heat_part;

heat_job heat_job_of(const heat_work *w, const heat_stage *s);

/* The stage on these points. */
void heat_job_run(const heat_job *k, const heat_part *p);

/* All points of the planes [from, to). */
heat_part heat_planes(const heat_slab *s, int64_t from, int64_t to);

#endif
