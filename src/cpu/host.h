/* What the CPU backends share: their memory is the host's, and their tables differ in the loops
 * only. Vectors and states are reached through these accessors. */
#ifndef HOST_H
#define HOST_H

#include "solve_backend.h"

enum { TILE = 256 }; /* rows of a tile: the unit of interior/boundary and of a thread's share */

static inline double *vec_at(vec x) { return x.data.at; }
static inline solve_state *state_at(dptr s) { return s.at; }

static inline lidx tile_count(lidx rows) { return rows / TILE + (rows % TILE != 0); }

static inline lidx tile_end(lidx tile, lidx rows) {
  return rows - tile * TILE < TILE ? rows : tile * TILE + TILE;
}

/* Whether a tile of this kind belongs to `part`. */
static inline int part_has(part p, int boundary) {
  return p == PART_ALL || (p == PART_BOUNDARY) == (boundary != 0);
}

void host_release(device *d, dptr *p);
status host_copy_in(device *d, dptr to, hptr from, int64_t bytes);
status host_copy_out(device *d, hptr to, dptr from, int64_t bytes);
status host_look(device *d, dptr state, int64_t step, solve_state *out);

#endif
