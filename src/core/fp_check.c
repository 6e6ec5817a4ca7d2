/* The floating-point self-check (fp_check.h). Operands are volatile, so that the sums are made now,
 * by this thread's unit, and not by the compiler. */
#include "fp_check.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "portable.h"

/* Each returns what is wrong, or NULL. */

static const char *rounding(void) {
  volatile double one = 1.0, tiny = 0x1p-60, tie = 0x1p-53, odd = 1.0 + 0x1p-52;
  if (one + tiny != 1.0 || one - tiny != 1.0 || -one - tiny != -1.0) {
    return "the rounding mode is not to nearest (something called fesetround)";
  }
  if (one + tie != 1.0 || odd + tie != 1.0 + 0x1p-51) {
    return "ties are not rounded to even (is this an emulated processor?)";
  }
  return NULL;
}

static const char *denormals(void) {
  volatile double smallest_normal = 0x1p-1022, half = 0.5;
  volatile uint64_t pattern = 1;
  volatile double smallest = double_of(pattern), large = 0x1p1000;
  if (bits_of(smallest_normal * half) != 0x0008000000000000u) {
    return "denormal results are flushed to zero (most likely a library built with -ffast-math or "
           "-Ofast was loaded: rebuild it without, or leave it out of LD_PRELOAD)";
  }
  if (smallest * large != 0x1p-74) {
    return "denormal operands are read as zero (most likely a library built with -ffast-math or "
           "-Ofast was loaded: rebuild it without, or leave it out of LD_PRELOAD)";
  }
  return NULL;
}

/* (1 + u)^2 = 1 + 2u + u^2: two roundings lose u^2, one keeps it. */
static const char *contraction(void) {
  volatile double a = 1.0 + 0x1p-52, c = -(1.0 + 0x1p-51);
  double apart = a * a + c;
  if (apart != 0.0) {
    return "a*b + c is rounded once (halosweep was compiled without -ffp-contract=off)";
  }
  if (fma(a, a, c) != 0x1p-104) {
    return "fma() is rounded twice (a faulty C library, or an emulated processor)";
  }
  return NULL;
}

status fp_check(const char *when) {
  const char *wrong = rounding();
  if (wrong == NULL) wrong = denormals();
  if (wrong == NULL) wrong = contraction();
  if (wrong == NULL) return STATUS_OK;
  return fail(STATUS_UNAVAILABLE, "floating-point check %s: %s; results would not be reproducible",
              when, wrong);
}
