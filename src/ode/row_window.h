/* Rows of a table: row 0, and a run of others. Of a table in a file a rank has those that its
 * trajectories start from; row 0 all ranks look at. */
#ifndef ROW_WINDOW_H
#define ROW_WINDOW_H

#include <stdint.h>

typedef struct row_window {
  double *values; /* [1 + count][width]: row 0, then rows [first, first + count), first > 0; NULL:
                     there is no table */
  int64_t first, count, width;
} row_window;

/* Row q, 0 or one of the run. */
static inline const double *row_window_at(const row_window *w, int64_t q) {
  return w->values + (q == 0 ? 0 : 1 + q - w->first) * w->width;
}

#endif
