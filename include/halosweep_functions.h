/* Functions you can write in C and give to halosweep as a file: `halosweep quad --integrand f.c`,
 * `halosweep heat --initial f.c`, `halosweep ode f.c`.
 *
 * Include this header and define the function of your command. The file must compile as C11 and as
 * C++17: it runs on CPUs, and on GPUs as it is. It is called from many threads at once: no static
 * or global variables that change, no input or output.
 *
 * <math.h> is halosweep's own there: exp, log, sin, cos, pow and the rest of docs/expressions.md
 * have the same bits on every CPU and GPU, and sqrt, fma, fabs, floor, ceil, trunc, round, fmin,
 * fmax, fmod, copysign are exact. Nothing is fused by the compiler: a*b + c is rounded twice, like
 * it says; fma(a, b, c) once, and that is how expressions compute a*b + c.
 *
 *   #include <math.h>
 *   #include "halosweep_functions.h"
 *   double integrand(const double *x, const double *p) { return sin(x[0])*exp(-p[0]*x[0]); }
 */
#ifndef HALOSWEEP_FUNCTIONS_H
#define HALOSWEEP_FUNCTIONS_H

#ifdef __cplusplus
extern "C" {
#endif

/* quad: the integrand at the point x[0 .. dims). p: the values of [parameters], then those of
 * [sweep], in the order of the config; what is read behind them is NaN, on GPUs anything. */
double integrand(const double *x, const double *p);

/* heat: the temperature at the start (K), the thermal diffusivity (m^2/s), and the heat source
 * (K/s) at the point x[0 .. dims), t in s. p: the values of [parameters], in the order of the
 * config. A file may define several of them; each is asked for by its own option. */
double initial(const double *x, const double *p);
double alpha(const double *x, const double *p);
double source(const double *x, double t, const double *p);

/* ode: dy[] = the derivatives of the components y[] at t (s). For implicit methods j[i n + k] = the
 * derivative of dy[i] with respect to y[k], n components; without it differences are taken. For
 * systems with noise g[] = what dW is multiplied with, one per component. event: a trajectory ends
 * where it changes its sign. p: the values of [parameters], then those of [sweep] and [sample] that
 * are not components', in the order of the config. Each is asked for by its own option: system,
 * jacobian, noise, event. */
void rhs(double t, const double *y, const double *p, double *dy);
void jacobian(double t, const double *y, const double *p, double *j);
void noise(double t, const double *y, const double *p, double *g);
double event(double t, const double *y, const double *p);

#ifdef __cplusplus
}
#endif

#endif
