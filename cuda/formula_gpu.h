/* What a formula's text is compiled after, on a GPU: its functions are the GPU's form of them. The
 * text's own includes find everything included already. */
#ifndef FORMULA_GPU_H
#define FORMULA_GPU_H

#include <math.h>

#include "elementary_gpu.h"

#define elementary_sin gpu_sin
#define elementary_cos gpu_cos
#define elementary_tan gpu_tan
#define elementary_exp gpu_exp

/* Around each of several texts (rtc.h): two of them may hold the same file of the user's. */
#define FORMULA_OPEN(name) namespace name##_text {
#define FORMULA_CLOSE(name)                                                                        \
  }                                                                                                \
  using name##_text::name;

#endif
