/* <math.h> for code compiled at run time, on CPUs and by NVRTC: names of functions whose bits
 * depend on the library mean halosweep's own (elementary.h, included before any user's text);
 * those that IEEE 754 settles are the compiler's. What is not here is an error, not a surprise.
 * fmin and fmax are written out, since +0 and -0 are left open by C. */
#ifndef RUNTIME_MATH_H
#define RUNTIME_MATH_H

#include "portable.h"

#ifndef __CUDACC__
double fma(double, double, double);
double sqrt(double);
double fabs(double);
double floor(double);
double ceil(double);
double trunc(double);
double round(double);
double copysign(double, double);
double fmod(double, double);
#endif

PORTABLE double runtime_fmin(double a, double b) { return b != b || a < b ? a : b; }
PORTABLE double runtime_fmax(double a, double b) { return b != b || a > b ? a : b; }
PORTABLE int runtime_isnan(double x) { return x != x; }
PORTABLE int runtime_isfinite(double x) { return x - x == 0.0; }
PORTABLE int runtime_isinf(double x) { return x == x && x - x != 0.0; }
PORTABLE int runtime_signbit(double x) { return (int)(bits_of(x) >> 63); }

#define fmin     runtime_fmin
#define fmax     runtime_fmax
#define isnan    runtime_isnan
#define isfinite runtime_isfinite
#define isinf    runtime_isinf
#define signbit  runtime_signbit

#define exp   elementary_exp
#define log   elementary_log
#define log10 elementary_log10
#define pow   elementary_pow
#define cbrt  elementary_cbrt
#define sin   elementary_sin
#define cos   elementary_cos
#define tan   elementary_tan
#define asin  elementary_asin
#define acos  elementary_acos
#define atan  elementary_atan
#define atan2 elementary_atan2
#define sinh  elementary_sinh
#define cosh  elementary_cosh
#define tanh  elementary_tanh
#define erf   elementary_erf

#define INFINITY (1.0 / 0.0)
#define NAN      (0.0 / 0.0)
#define HUGE_VAL (1.0 / 0.0)
#define M_E      2.7182818284590452354
#define M_PI     3.14159265358979323846
#define M_PI_2   1.57079632679489661923
#define M_SQRT2  1.41421356237309504880

#endif
