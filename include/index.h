/* Index types. Local rows and columns of one rank fit 32 bits; global ones, and positions in entry
 * arrays (one GPU holds more than 2^31 entries), take 64. Ranges are half open everywhere.
 * Narrowing goes through index_narrow() alone. */
#ifndef INDEX_H
#define INDEX_H

#include <stdint.h>

#include "status.h"

typedef int32_t lidx; /* local row or column */
typedef int64_t gidx; /* global row or column */
typedef int64_t eidx; /* position in an array of entries */

#define LIDX_MAX INT32_MAX

#ifdef __cplusplus
extern "C" {
#endif

/* *out = (lidx)value; STATUS_UNAVAILABLE naming `what` when it does not fit ("... per rank: use
 * more ranks"). Local. */
status index_narrow(gidx value, const char *what, lidx *out);

#ifdef __cplusplus
}
#endif

/* The first position of [low, high) in an ascending array whose value is not below `key`; high when
 * there is none. Local. */
static inline int64_t index_lower_bound(const gidx *sorted, int64_t low, int64_t high, gidx key) {
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (sorted[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

#endif
