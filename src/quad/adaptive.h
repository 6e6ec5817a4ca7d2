/* The engine of the adaptive rules, in generations of regions (adaptive.c). */
#ifndef ADAPTIVE_H
#define ADAPTIVE_H

#include "quad_run.h"

/* The first level: [count][2 dims] edges, `count` regions; released with alloc_free. Local. */
status adaptive_first_level(const quad_run *run, const quad_frame *f, double **edge,
                            int64_t *count);

/* The region's point where f is not finite, and its value, into the run; where all are finite
 * (their sum overflows), the point of the largest. Local. */
void adaptive_find_bad(quad_run *run, const quad_frame *f, const double *edge);

#endif
