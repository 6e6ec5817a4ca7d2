/* What the sources of field files share. */
#ifndef FIELD_INTERNAL_H
#define FIELD_INTERNAL_H

#include "field_io.h"
#include "result_internal.h"

#define FIELD_DATASET "/VTKHDF/PointData/u"

struct field_file {
  comm *c;
  char *path;
  heat_grid grid;
  int64_t first, planes; /* this rank's */
  result_file *result;
  char partial[FIELD_NAME]; /* the temporary, without its folder */
  char copied[FIELD_NAME];  /* the temporary of an earlier run that was copied from, or "" */
};

/* Directions of u in VTKHDF, besides time: VTK's reader (9.3.1 and 9.7.2 tried) takes one more for
 * a component, so a 2-D field is (time, y, x), and slowest directions of one point are left out. */
static inline int field_directions(const heat_grid *g) {
  int d = HEAT_DIMS;
  while (d > 1 && g->n[d - 1] == 1) d--;
  return d;
}

/* Removes that temporary, unless a process holds it. */
void field_remove_copied(const field_file *f);

#endif
