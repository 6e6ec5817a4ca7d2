/* What the operations of expressions compute: each is written once and becomes the scalar and the
 * array form, so the two agree in every bit. Truth values are 1 and 0; anything but 0 is true, NaN
 * included. */
#include <math.h>
#include <stddef.h>

#include "elementary.h"
#include "elementary_array.h"
#include "expression_tree.h"

#define SCALAR(name, formula)                                                                      \
  static double name##_value(double a, double b, double c) {                                       \
    (void)a, (void)b, (void)c;                                                                     \
    return formula;                                                                                \
  }

/* Both forms from one formula; the loop vectorises. */
#define OPERATION(name, formula)                                                                   \
  SCALAR(name, formula)                                                                            \
  static void name##_values(int64_t n, const double *a, const double *b, const double *c,          \
                            double *out) {                                                         \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) out[i] = name##_value(a[i], b[i], c[i]);  \
  }

/* Functions that have an array form of their own. */
#define FUNCTION(name)                                                                             \
  SCALAR(name, elementary_##name(a))                                                               \
  static void name##_values(int64_t n, const double *a, const double *b, const double *c,          \
                            double *out) {                                                         \
    (void)b, (void)c;                                                                              \
    elementary_##name##_array(n, a, out);                                                          \
  }

#define FUNCTION_OF_TWO(name)                                                                      \
  SCALAR(name, elementary_##name(a, b))                                                            \
  static void name##_values(int64_t n, const double *a, const double *b, const double *c,          \
                            double *out) {                                                         \
    (void)c;                                                                                       \
    elementary_##name##_array(n, a, b, out);                                                       \
  }

#define TRUTH(condition) ((condition) ? 1.0 : 0.0)

OPERATION(add, a + b)
OPERATION(subtract, a - b)
OPERATION(multiply, a *b)
OPERATION(divide, a / b)
OPERATION(negate, -a)
OPERATION(fused, fma(a, b, c))
OPERATION(fused_subtract, fma(a, b, -c))
OPERATION(fused_negate, fma(-a, b, c))
OPERATION(less, TRUTH(a < b))
OPERATION(less_equal, TRUTH(a <= b))
OPERATION(greater, TRUTH(a > b))
OPERATION(greater_equal, TRUTH(a >= b))
OPERATION(equal, TRUTH(a == b))
OPERATION(not_equal, TRUTH(a != b))
OPERATION(and, TRUTH(a != 0.0) * TRUTH(b != 0.0))
OPERATION(or, elementary_max(TRUTH(a != 0.0), TRUTH(b != 0.0)))
OPERATION(not, TRUTH(a == 0.0))
OPERATION(select, a != 0.0 ? b : c)
OPERATION(min, elementary_min(a, b))
OPERATION(max, elementary_max(a, b))
OPERATION(abs, fabs(a))
OPERATION(floor, floor(a))
OPERATION(ceil, ceil(a))
OPERATION(sign, elementary_sign(a))
OPERATION(step, elementary_step(a))
OPERATION(sqrt, sqrt(a))
FUNCTION(exp)
FUNCTION(log)
FUNCTION(log10)
FUNCTION(cbrt)
FUNCTION(sin)
FUNCTION(cos)
FUNCTION(tan)
FUNCTION(asin)
FUNCTION(acos)
FUNCTION(atan)
FUNCTION(sinh)
FUNCTION(cosh)
FUNCTION(tanh)
FUNCTION(erf)
FUNCTION_OF_TWO(power)
FUNCTION_OF_TWO(atan2)

#define FORMS(name) name##_value, name##_values

const operation OPERATIONS[OPERATION_COUNT] = {
    [OPERATION_CONSTANT] = {NULL, 0, NULL, NULL},
    [OPERATION_VARIABLE] = {NULL, 0, NULL, NULL},
    [OPERATION_ADD] = {NULL, 2, FORMS(add)},
    [OPERATION_SUBTRACT] = {NULL, 2, FORMS(subtract)},
    [OPERATION_MULTIPLY] = {NULL, 2, FORMS(multiply)},
    [OPERATION_DIVIDE] = {NULL, 2, FORMS(divide)},
    [OPERATION_NEGATE] = {NULL, 1, FORMS(negate)},
    [OPERATION_POWER] = {"pow", 2, FORMS(power)},
    [OPERATION_FMA] = {NULL, 3, FORMS(fused)},
    [OPERATION_FMA_SUBTRACT] = {NULL, 3, FORMS(fused_subtract)},
    [OPERATION_FMA_NEGATE] = {NULL, 3, FORMS(fused_negate)},
    [OPERATION_LESS] = {NULL, 2, FORMS(less)},
    [OPERATION_LESS_EQUAL] = {NULL, 2, FORMS(less_equal)},
    [OPERATION_GREATER] = {NULL, 2, FORMS(greater)},
    [OPERATION_GREATER_EQUAL] = {NULL, 2, FORMS(greater_equal)},
    [OPERATION_EQUAL] = {NULL, 2, FORMS(equal)},
    [OPERATION_NOT_EQUAL] = {NULL, 2, FORMS(not_equal)},
    [OPERATION_AND] = {NULL, 2, FORMS(and)},
    [OPERATION_OR] = {NULL, 2, FORMS(or)},
    [OPERATION_NOT] = {NULL, 1, FORMS(not )},
    [OPERATION_SELECT] = {NULL, 3, FORMS(select)},
    [OPERATION_MIN] = {"min", 2, FORMS(min)},
    [OPERATION_MAX] = {"max", 2, FORMS(max)},
    [OPERATION_ABS] = {"abs", 1, FORMS(abs)},
    [OPERATION_FLOOR] = {"floor", 1, FORMS(floor)},
    [OPERATION_CEIL] = {"ceil", 1, FORMS(ceil)},
    [OPERATION_SIGN] = {"sign", 1, FORMS(sign)},
    [OPERATION_STEP] = {"step", 1, FORMS(step)},
    [OPERATION_EXP] = {"exp", 1, FORMS(exp)},
    [OPERATION_LOG] = {"log", 1, FORMS(log)},
    [OPERATION_LOG10] = {"log10", 1, FORMS(log10)},
    [OPERATION_SQRT] = {"sqrt", 1, FORMS(sqrt)},
    [OPERATION_CBRT] = {"cbrt", 1, FORMS(cbrt)},
    [OPERATION_SIN] = {"sin", 1, FORMS(sin)},
    [OPERATION_COS] = {"cos", 1, FORMS(cos)},
    [OPERATION_TAN] = {"tan", 1, FORMS(tan)},
    [OPERATION_ASIN] = {"asin", 1, FORMS(asin)},
    [OPERATION_ACOS] = {"acos", 1, FORMS(acos)},
    [OPERATION_ATAN] = {"atan", 1, FORMS(atan)},
    [OPERATION_ATAN2] = {"atan2", 2, FORMS(atan2)},
    [OPERATION_SINH] = {"sinh", 1, FORMS(sinh)},
    [OPERATION_COSH] = {"cosh", 1, FORMS(cosh)},
    [OPERATION_TANH] = {"tanh", 1, FORMS(tanh)},
    [OPERATION_ERF] = {"erf", 1, FORMS(erf)},
};
