/* The elementary functions: the same bits from every C library's host, from nvcc and from NVRTC,
 * because they are ours: + - * / sqrt fma and integers only, at most 2 ulp from the true value over
 * the whole range (tests/exact/elementary_mpfr.c; the errors found are in docs/expressions.md),
 * special values as in C11 annex F. elementary_array.h has the forms for arrays. */
#ifndef ELEMENTARY_H
#define ELEMENTARY_H

#include "elementary_basic.h"
#include "elementary_cbrt.h"
#include "elementary_erf.h"
#include "elementary_exp.h"
#include "elementary_hyperbolic.h"
#include "elementary_inverse.h"
#include "elementary_pow.h"
#include "elementary_trig.h"

#endif
