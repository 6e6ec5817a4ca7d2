/* The small functions of expressions (elementary.h), where C's own leave room: NaN and signed zero
 * are settled here, so that host and device agree. */
#ifndef ELEMENTARY_BASIC_H
#define ELEMENTARY_BASIC_H

#include "portable.h"

/* The smaller and the larger; NaN when either is; the second when they compare equal. */
PORTABLE double elementary_min(double a, double b) { return a != a || a < b ? a : b; }
PORTABLE double elementary_max(double a, double b) { return a != a || a > b ? a : b; }

/* -1, 1, or x itself where that is +-0 or NaN. */
PORTABLE double elementary_sign(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; }

/* 0 below 0, 1 from 0 on, NaN for NaN. */
PORTABLE double elementary_step(double x) { return x >= 0.0 ? 1.0 : x < 0.0 ? 0.0 : x; }

#endif
