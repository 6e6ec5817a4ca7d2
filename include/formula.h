/* A formula: a function of some inputs to some outputs, whoever made it - an expression, a C file,
 * a built-in. The host evaluates it through `batch`, many points a call; kernels that are compiled
 * at run time take its `text` in and call formula_value() once per point. Both give the same bits
 * (a NaN is a NaN, of any payload). Read-only once made: any number of threads may evaluate it. */
#ifndef FORMULA_H
#define FORMULA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where an input's values for points 0 .. n - 1 are: point i has at[i * step]. step is 1 for an
 * array (read in place), 0 for a value all points share (time, parameters), more for records. */
typedef struct formula_input {
  const double *at;
  int64_t step;
} formula_input;

/* out[k][i] = output k at point i, i in [0, n). in[v] says where input v is; `at` may be NULL where
 * the formula does not use it. The outputs overlap neither the inputs nor each other. Allocates
 * nothing. */
typedef void (*formula_batch)(const void *context, int64_t n, const formula_input *in,
                              double *const *out);

typedef struct formula {
  int inputs, outputs;
  formula_batch batch;
  const void *context; /* batch's first argument */
  /* C text (C11 and CUDA C++), complete but for the headers of embedded.h, that defines
   *   PORTABLE void formula_value(const double *in, double *out)
   * with in[inputs] and out[outputs]. NULL when there is none. */
  const char *text;
  const char *kind; /* "expression", "C file", "built-in": for messages */
} formula;

#ifdef __cplusplus
}
#endif

#endif
