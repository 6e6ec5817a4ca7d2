/* The engine of the adaptive rules, in generations of regions (adaptive.c). */
#ifndef ADAPTIVE_H
#define ADAPTIVE_H

#include "probe.h"
#include "quad_run.h"
#include "region_list.h"
#include "wide.h"

enum { ADAPTIVE_ITEMS = 2 };

typedef struct engine {
  quad_run *run;
  quad_frame frame;
  int points; /* of a region */
  region_list list;
  probe_set probes;
  wide value, size;  /* of all regions: value, |value| */
  wide error, stuck; /* and errors; stuck: of those that cannot be halved */
  /* a batch */
  int64_t room;
  double *edge;                   /* [room][2 dims] */
  quad_estimate *part, *whole;    /* [a rank's share], [shares of all ranks] */
  int64_t *parent;                /* [room / 2] */
  double *packed[ADAPTIVE_ITEMS]; /* regions, probes: as they are saved */
} engine;

/* Room for a batch of `count` regions. Local. */
status adaptive_reserve(engine *e, int64_t count);

/* Estimates of the batch's `count` regions into whole[]. Collective; `mine`: how this rank fared
 * in making the batch. */
status adaptive_evaluate(engine *e, int64_t count, status mine);

/* Region `id`, whose edges and probes are in place, gets its estimate. `before`: the rule's error
 * of the region it is a half of, 0: of none; `doubt` is added to the error. Local. */
void adaptive_settle(engine *e, int64_t id, const quad_estimate *estimate, double before,
                     double doubt);

/* adaptive_start.c: the first level: [count][2 dims] edges, `count` regions; released with
 * alloc_free. Local. */
status adaptive_first_level(const quad_run *run, const quad_frame *f, double **edge,
                            int64_t *count);

/* The regions of the first level, with the probes in them. Collective. */
status adaptive_begin(engine *e);

/* The region's point where f is not finite, and its value, into the run; where all are finite
 * (their sum overflows), the point of the largest. Local. */
void adaptive_find_bad(quad_run *run, const quad_frame *f, const double *edge);

/* adaptive_saving.c, collective; without a saver they do nothing. What `restart` names, into *e;
 * between generations: saves when due, sets run->reason when the run is to stop; at the end. */
status adaptive_load(engine *e, int *loaded);
status adaptive_meet(engine *e);
status adaptive_finish(engine *e);

#endif
