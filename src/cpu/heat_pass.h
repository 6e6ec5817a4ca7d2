/* Several stages of the heat equation in one pass over memory, for heat_omp.c. */
#ifndef HEAT_PASS_H
#define HEAT_PASS_H

#include "heat_line.h"
#include "omp_team.h"

/* heat_backend.h: pass and depth. */
status heat_pass_omp(device *d, heat_work *w, const heat_stage *s, int count, part which);
int heat_depth_omp(const device *d, const heat_grid *g, int variable, int64_t planes);

/* One stage on the planes [from, to), by all threads. */
void heat_job_spread(device *d, const heat_job *k, int64_t from, int64_t to);

#endif
