/* Memory space is a type: hptr points to host memory, dptr to memory of the backend in use (which
 * for the CPU backends is host memory too, but nobody above a backend may know). They do not
 * convert into each other; copies are explicit and go through the backend. A vector lives in one
 * space for life. */
#ifndef SPACE_H
#define SPACE_H

#include <stdint.h>

#include "index.h"

typedef struct hptr {
  void *at;
} hptr;

typedef struct dptr {
  void *at;
} dptr;

/* A distributed vector's local part, in backend memory: entries [0, rows) are owned, entries
 * [rows, rows + ghosts) are copies of other ranks' entries, filled by a halo exchange. Sums are
 * made over blocks of `block` entries (block_sum.h), the first of which starts at entry 0. */
typedef struct vec {
  dptr data;
  lidx rows;
  lidx ghosts;
  int32_t block;
} vec;

#endif
