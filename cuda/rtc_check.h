/* Compiling a kernel for nothing but to see it compile, on any machine with NVRTC: for tests. */
#ifndef CUDA_RTC_CHECK_H
#define CUDA_RTC_CHECK_H

#include <stdint.h>

#include "formula.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rtc_check_define {
  const char *name;
  long value;
} rtc_check_define;

/* One of several formulas a kernel calls, each by a name of its own in place of formula_value. */
typedef struct rtc_text {
  const char *name;
  const formula *f; /* NULL: not there; the function is empty then */
} rtc_text;

/* Kernel `kernel` around f, `points` at a time (0: one); the defines end with a NULL name. Through
 * *bytes the size of the code. STATUS_UNAVAILABLE without NVRTC, or in a build without CUDA. */
status rtc_check(const char *kernel, const formula *f, int points, const rtc_check_define *defines,
                 int64_t *bytes);

struct ode_functions;
struct ode_plan;

/* The kernel of trajectories for a system and a plan, likewise. */
status ode_kernel_check(const struct ode_functions *f, const struct ode_plan *plan, int64_t *bytes);

struct coupled_layout;
struct coupled_functions;

/* A kernel of coupled systems, likewise: 0 derivatives, 1 sums over all points, 2 Jacobians. */
status coupled_kernel_check(const struct coupled_layout *l, const struct coupled_functions *f,
                            int which, int64_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
