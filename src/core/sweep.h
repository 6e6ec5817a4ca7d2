/* [sweep]: which parameters are swept, and over which values: linspace(lo, hi, n), geomspace(lo,
 * hi, n) or a list. Values are computed when asked for (sweep_axis.h); only lists are stored. */
#ifndef SWEEP_H
#define SWEEP_H

#include "options.h"
#include "sweep_axis.h"

typedef struct sweep {
  const char *name[SWEEP_AXES]; /* owned by the options */
  sweep_grid grid;              /* lists in host memory, owned by this struct */
} sweep;

enum { SWEEP_TEXT = 512 };

/* Reads the section, in the order its keys are given; no key: no axes and one member. STATUS_USAGE
 * with the place when a value cannot be read, when a name is also in [parameters], or when there
 * are more than 2^53 members. Local; released also after a failure. */
status sweep_read(const options *o, sweep *out);
void sweep_release(sweep *s);

/* "a (1000) x b (3): 3000 members". */
void sweep_describe(const sweep *s, char out[SWEEP_TEXT]);

/* "a = 0.5, b = 2" of member m. */
void sweep_member_text(const sweep *s, int64_t m, char out[SWEEP_TEXT]);

#endif
