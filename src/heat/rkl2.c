/* Runge-Kutta-Legendre super-time-stepping of second order: s stages of one explicit evaluation
 * each, stable for dt lambda_max <= (s^2 + s - 2)/2, so a step s^2/4 times longer than Euler's
 * costs s times as much. s is the smallest that is stable for dt, at least 2.
 *
 *   Y_1 = Y_0 + m_1 dt f(Y_0)
 *   Y_j = Y_0 + mu_j (Y_{j-1} - Y_0) + nu_j (Y_{j-2} - Y_0) + g_j (Y_1 - Y_0) + m_j dt f(Y_{j-1})
 *
 *   b_0 = b_1 = b_2 = 1/3, b_j = (j^2 + j - 2) / (2 j (j + 1)), a_j = 1 - b_j
 *   w = 4 / (s^2 + s - 2), m_1 = b_1 w, mu_j = (2j - 1)/j b_j/b_{j-1}, nu_j = -(j - 1)/j
 *   b_j/b_{j-2}, m_j = mu_j w, g_j = -a_{j-1} m_j / m_1
 *
 * (g_j: the method's term in dt f(Y_0), which is (Y_1 - Y_0) / m_1.) Stage j is at t + c_j dt, c_j
 * by the same recursion. Four fields: from the fourth stage on Y_j takes the place of Y_{j-2}. Not
 * for rough data of which every wiggle matters: like all stabilised methods it damps the fast
 * modes, it does not resolve them. Source: Meyer, Balsara, Aslam, A second-order accurate Super
 * TimeStepping formulation for anisotropic thermal conduction, MNRAS 422 (2012), eqs. 15-19. */
#include <limits.h>
#include <math.h>

#include "scheme.h"

static double limit(int stages) {
  const double s = stages;
  return stages < 2 ? INFINITY : (s * s + s - 2.0) / 2.0;
}

static int stages(double z) {
  if (!(z < 1e12)) return INT_MAX; /* more than anyone makes */
  int s = (int)((sqrt(9.0 + 8.0 * z) - 1.0) / 2.0);
  while (s < 2 || limit(s) < z) s++;
  return s;
}

static double b(int j) { return j < 2 ? 1.0 / 3.0 : (j * j + j - 2.0) / (2.0 * j * (j + 1.0)); }

typedef struct coefficients {
  double mu, nu, m, g;
} coefficients;

static coefficients at_stage(int j, double w) {
  coefficients k;
  k.mu = (2.0 * j - 1.0) / j * (b(j) / b(j - 1));
  k.nu = -(j - 1.0) / j * (b(j) / b(j - 2));
  k.m = k.mu * w;
  k.g = -(1.0 - b(j - 1)) * k.m / (b(1) * w);
  return k;
}

static status step(heat_run *run, double t, double dt, double next) {
  status rc = STATUS_OK;
  const int s = stages(dt * run->lambda);
  const double w = 4.0 / ((double)s * s + s - 2.0);
  const heat_field u = run->u, first = run->spare[0];
  heat_field before = u, now = first;
  double c_first = b(1) * w, c_before = 0.0, c_now = c_first;
  heat_stage one = {.base = u, .scale = c_first * dt, .u = u, .out = first};
  TRY(heat_queue_stage(run, &one, t, fma(c_first, dt, t)));
  for (int j = 2; j <= s; j++) {
    const coefficients k = at_stage(j, w);
    const heat_field out = j == 2 ? run->spare[1] : j == 3 ? run->spare[2] : before;
    const double c = k.mu * c_now + k.nu * c_before + k.m + k.g * c_first;
    heat_stage stage = {.base = u,
                        .terms = 3,
                        .weight = {k.mu, k.nu, k.g},
                        .term = {now, before, first},
                        .scale = k.m * dt,
                        .u = now,
                        .out = out};
    TRY(heat_queue_stage(run, &stage, fma(c_now, dt, t), j == s ? next : fma(c, dt, t)));
    before = now;
    now = out;
    c_before = c_now;
    c_now = c;
  }
  for (int i = 0; i < HEAT_SPARES; i++) {
    if (run->spare[i].data.at == now.data.at) heat_swap(run, &run->spare[i]);
  }
done:
  return rc;
}

const heat_scheme SCHEME_rkl2 = {
    .name = "rkl2",
    .help = "Runge-Kutta-Legendre super-time-stepping, second order; any dt, s stages for "
            "s^2/4 times the dt of ftcs",
    .source = "Meyer, Balsara, Aslam (2012)",
    .order = 2,
    .fields = 3,
    .limit = limit,
    .stages = stages,
    .step = step};
