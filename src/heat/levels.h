/* The inside of the hierarchy of levels, shared by levels.c and level_faces.c. */
#ifndef LEVELS_H
#define LEVELS_H

#include "multigrid.h"

static inline int level_is_around(const heat_grid *g, int d) {
  return g->face[2 * d] == HEAT_PERIODIC;
}

/* level_faces.c; collective. Faces of the finest level: those of the run, 0 beyond the domain. Of a
 * coarser one, from the finer one's and its weights. What points take of the lower coarse one in
 * each direction. Where alpha is constant there are none of all these. */
status heat_stratum_take_faces(heat_run *run, heat_stratum *s);
status heat_stratum_make_faces(heat_run *run, heat_stratum *c, const heat_stratum *f);
status heat_stratum_make_shares(heat_run *run, heat_stratum *f, const heat_stratum *c);

/* The largest sum of a point's coefficients to its neighbours, over all ranks. */
status heat_stratum_find_reach(heat_run *run, heat_stratum *s);

#endif
