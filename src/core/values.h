/* The distinct values of a matrix, bit for bit, where there are few: a value can then be kept as
 * its number. */
#ifndef VALUES_H
#define VALUES_H

#include "csr.h"

enum { VALUES_MOST = 65536, VALUES_REPEAT = 4 };

typedef struct values {
  lidx count;    /* 0: too many; above VALUES_MOST, or less than VALUES_REPEAT entries each */
  lidx distinct; /* met, up to where counting was given up */
  double *value; /* [count] in the order of their first entries */
  lidx *slot;    /* [slots] 1 + number, by hash; 0: free */
  lidx slots;
} values;

/* Of the rows of the tiles with skip[t] = 0 (skip may be NULL) that have at most ROW_CHAIN entries.
 * A few entries are looked at first, so that a matrix of all different values costs little. Local.
 */
status values_create(int threads, const csr_block *a, const unsigned char *skip, values *out);
void values_release(values *v);

/* The number of a value that is there. Local. */
lidx values_number(const values *v, double x);

#endif
