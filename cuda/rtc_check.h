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

/* Kernel `kernel` around f, `points` at a time (0: one); the defines end with a NULL name. Through
 * *bytes the size of the code. STATUS_UNAVAILABLE without NVRTC, or in a build without CUDA. */
status rtc_check(const char *kernel, const formula *f, int points, const rtc_check_define *defines,
                 int64_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
