/* The floating-point self-check. Equal bits need round-to-nearest, no contraction and denormals
 * that are neither flushed nor read as zero. A library built with -ffast-math switches the last on
 * for the whole thread that loads it (and threads started from it), so the check is made at start,
 * in every thread, and after each dlopen. */
#ifndef FP_CHECK_H
#define FP_CHECK_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks the arithmetic of the calling thread by computing. `when` completes "floating-point check
 * ...": "at start", "after loading libx.so". STATUS_UNAVAILABLE naming what is off and the likely
 * cause. Local, well under a microsecond. */
status fp_check(const char *when);

#ifdef __cplusplus
}
#endif

#endif
