/* Single steps with noise on increments given by hand: the fixed path of references/sde_paths.tsv,
 * and every form of a step against its definition, written out for one trajectory. */
#define ODE_SYSTEM_H
#define ODE_LANES            1
#define ODE_COMPONENTS(plan) ((plan)->components)
#define ODE_SHARED(plan)     0
#define ODE_PARAMETERS(plan) 0
#define ODE_KIND(plan)       ODE_NOISY
#define ODE_VARIANT(plan)    ((plan)->variant)

#include "ode.h"
#include "test.h"

typedef struct ode_call {
  int components, noises;
  void (*rhs)(double t, const double *y, double *f);
  void (*noise)(double t, const double *y, double *g);
  void (*jacobian)(double t, const double *y, double *dg);
} ode_call;

static inline void ode_rhs(const ode_call *call, const double *t, const double *y, double *f) {
  call->rhs(t[0], y, f);
}
static inline void ode_noise(const ode_call *call, const double *t, const double *y, double *g) {
  call->noise(t[0], y, g);
}
static inline void ode_noise_jacobian(const ode_call *call, const double *t, const double *y,
                                      double *dg) {
  call->jacobian(t[0], y, dg);
}

#include "ode_noisy.h"

enum { N = 2, M = 3 };

/* Goes along `steps` increments [step][noise] of length h from y on. */
static void go(const ode_call *call, ode_plan *plan, const double *dw, int steps, double *y) {
  double state[N], v[N], k[2 * N], g[N * M], other[N * M * N], out[N];
  ode_work w = {.plan = plan, .call = call, .y = state, .v = v, .k = k, .noise = g};
  w.other = other;
  plan->components = call->components;
  plan->noises = call->noises;
  for (int c = 0; c < call->components; c++) state[c] = y[c];
  for (int i = 0; i < steps; i++) {
    w.t[0] = plan->dt * i;
    ode_rhs(call, w.t, state, k);
    ode_noise_step(&w, dw + i * call->noises, out);
    for (int c = 0; c < call->components; c++) state[c] = out[c];
  }
  for (int c = 0; c < call->components; c++) y[c] = state[c];
}

static void close_to(const char *what, double found, double expected, double relative) {
  if (!(fabs(found - expected) <= relative * fabs(expected))) {
    fail_msg("%s: %.17g, should be %.17g", what, found, expected);
  }
}

/* ---- the path of the reference ---- */

static void gbm_rhs(double t, const double *y, double *f) { (void)t, f[0] = 1.5 * y[0]; }
static void gbm_noise(double t, const double *y, double *g) { (void)t, g[0] = y[0]; }
static void gbm_slope(double t, const double *y, double *g) { (void)t, (void)y, g[0] = 1.0; }
static void sinh_rhs(double t, const double *y, double *f) { (void)t, f[0] = 0.5 * y[0]; }
static void sinh_noise(double t, const double *y, double *g) {
  (void)t, g[0] = sqrt(y[0] * y[0] + 1.0);
}
static void sinh_slope(double t, const double *y, double *g) {
  (void)t, g[0] = y[0] / sqrt(y[0] * y[0] + 1.0);
}
static void ou_rhs(double t, const double *y, double *f) { (void)t, f[0] = 2.0 * (1.2 - y[0]); }
static int asked; /* for noise */
static void ou_noise(double t, const double *y, double *g) {
  (void)t, (void)y, g[0] = 0.3;
  asked++;
}
static void ou_slope(double t, const double *y, double *g) { (void)t, (void)y, g[0] = 0.0; }

static const double path[] = {0.11, -0.24, 0.37, 0.05, -0.41, 0.18, 0.29, -0.08};

static void references(void **state) {
  (void)state;
  const struct {
    ode_call call;
    double start, euler, milstein;
  } cases[] = {
      {{1, 1, gbm_rhs, gbm_noise, gbm_slope}, 1.0, 4.122482353022835318, 3.362677340205699990},
      {{1, 1, sinh_rhs, sinh_noise, sinh_slope}, 0.5, 1.009564087976404613, 0.8288131769959477218},
      {{1, 1, ou_rhs, ou_noise, ou_slope}, 0.0, 1.12227630615234375, 1.12227630615234375}};
  for (int i = 0; i < 3; i++) {
    for (int form = 0; form < 4; form++) { /* as diagonal noise and as general */
      ode_plan plan = {.kind = ODE_NOISY, .dt = 0.125, .has_noise_jacobian = 1};
      double y[N] = {cases[i].start};
      plan.variant = form % 2;
      plan.diagonal = form / 2;
      go(&cases[i].call, &plan, path, 8, y);
      close_to("path", y[0], plan.variant ? cases[i].milstein : cases[i].euler, 1e-14);
    }
  }
}

/* ---- the definition ---- */

static void rhs(double t, const double *y, double *f) {
  f[0] = y[1] - t;
  f[1] = sin(y[0]);
}
/* Commutes not at all: what is tried is the formula. */
static void noise(double t, const double *y, double *g) {
  g[0] = y[0] * y[1], g[1] = 0.3 + t, g[2] = sin(y[1]);
  g[3] = y[0] - 1.0, g[4] = y[1] * y[1], g[5] = 0.5 * y[0] * y[0];
}
static void noise_slope(double t, const double *y, double *dg) {
  (void)t;
  const double all[] = {y[1], y[0], 0.0, 0.0, 0.0, cos(y[1]), 1.0, 0.0, 0.0, 2.0 * y[1], y[0], 0.0};
  for (int i = 0; i < N * M * N; i++) dg[i] = all[i];
}
static void own(double t, const double *y, double *g) {
  g[0] = (1.0 + t) * y[0] * y[0];
  g[1] = sin(y[1]);
}
static void own_slope(double t, const double *y, double *dg) {
  dg[0] = 2.0 * (1.0 + t) * y[0];
  dg[1] = cos(y[1]);
}

/* X_k + h f_k + sum g_kj dW_j + sum over j1, j2, i of g_i,j1 dg_k,j2/dx_i I(j1, j2), I = (dW_j1
 * dW_j2 - [j1 = j2] h)/2, or without the h: as Kloeden and Platen write it. Of general noise; with
 * `root` the derivative in direction g_j1 is Platen's difference. */
static void definition(int stratonovich, double root, double h, const double *dw, const double *y,
                       double *out) {
  double f[N], g[N * M], dg[N * M * N], there[N * M];
  rhs(0.0, y, f);
  noise(0.0, y, g);
  noise_slope(0.0, y, dg);
  for (int k = 0; k < N; k++) out[k] = y[k] + h * f[k];
  for (int a = 0; a < M; a++) {
    const double moved[N] = {y[0] + g[a] * root, y[1] + g[M + a] * root};
    noise(0.0, moved, there);
    for (int k = 0; k < N; k++) {
      out[k] += g[k * M + a] * dw[a];
      for (int b = 0; b < M; b++) {
        const double integral = 0.5 * (dw[a] * dw[b] - (a == b && !stratonovich ? h : 0.0));
        double along = 0.0;
        for (int i = 0; i < N; i++) along += g[i * M + a] * dg[(k * M + b) * N + i];
        if (root > 0.0) along = (there[k * M + b] - g[k * M + b]) / root;
        out[k] += along * integral;
      }
    }
  }
}

static void forms(void **state) {
  (void)state;
  const double h = 0.04, dw[M] = {0.3, -0.15, 0.22}, y[N] = {0.7, -1.1};
  const ode_call general = {N, M, rhs, noise, noise_slope}, diagonal = {N, N, rhs, own, own_slope};
  double f[N], g[N * M], dg[N], there[N * M];
  for (int form = 0; form < 8; form++) {
    const int stratonovich = form & 1, known = form >> 1 & 1, has_own = form >> 2;
    ode_plan plan = {.kind = ODE_NOISY, .variant = ODE_MILSTEIN, .dt = h};
    double expected[N], found[N] = {y[0], y[1]}, behind[N];
    plan.stratonovich = stratonovich;
    plan.has_noise_jacobian = known;
    plan.diagonal = has_own;
    go(has_own ? &diagonal : &general, &plan, dw, 1, found);
    rhs(0.0, y, f);
    if (!has_own) {
      definition(stratonovich, known ? 0.0 : sqrt(h), h, dw, y, expected);
      noise(0.0, y, g);
      for (int k = 0; k < N; k++) {
        behind[k] = y[k] + g[k * M] * dw[0] + g[k * M + 1] * dw[1] + g[k * M + 2] * dw[2];
      }
      noise(0.0, behind, there);
      for (int k = 0; k < N && stratonovich && !known; k++) {
        expected[k] = y[k] + h * f[k];
        for (int j = 0; j < M; j++) {
          expected[k] += 0.5 * (g[k * M + j] + there[k * M + j]) * dw[j];
        }
      }
    } else {
      own(0.0, y, g);
      own_slope(0.0, y, dg);
      for (int k = 0; k < N; k++) {
        const double square = 0.5 * (dw[k] * dw[k] - (stratonovich ? 0.0 : h));
        double moved[N] = {y[0], y[1]};
        moved[k] += g[k] * (stratonovich ? dw[k] : sqrt(h));
        own(0.0, moved, there);
        expected[k] = y[k] + h * f[k] + g[k] * dw[k];
        if (known) {
          expected[k] += g[k] * dg[k] * square;
        } else if (stratonovich) {
          expected[k] += 0.5 * (there[k] - g[k]) * dw[k];
        } else {
          expected[k] += (there[k] - g[k]) / sqrt(h) * square;
        }
      }
    }
    for (int k = 0; k < N; k++) close_to("step", found[k], expected[k], 1e-14);
  }
}

/* Additive noise: all methods are Euler-Maruyama, bit for bit, and ask for it once a step. */
static void additive(void **state) {
  (void)state;
  const ode_call call = {1, 1, ou_rhs, ou_noise, ou_slope};
  ode_plan plain = {.kind = ODE_NOISY, .dt = 0.125};
  double expected[N] = {0.4};
  go(&call, &plain, path, 8, expected);
  for (int form = 1; form < 4; form++) {
    ode_plan plan = {.kind = ODE_NOISY, .dt = 0.125, .additive = 1};
    double y[N] = {0.4};
    plan.variant = form & 1;
    plan.stratonovich = form >> 1;
    asked = 0;
    go(&call, &plan, path, 8, y);
    assert_same_bits(y[0], expected[0]);
    assert_int_equal(asked, 8);
  }
}

/* Ends of the line between two states are the states. */
static void ends(void **state) {
  (void)state;
  ode_plan plan = {.components = 2};
  double y[N] = {1.0, -2.0}, u[N] = {1e-17, 3.0}, v[N];
  ode_work w = {.plan = &plan, .y = y, .u = u, .v = v};
  const double x[] = {0.0, 0.25, 1.0, ode_noise_fraction(1e-10), ode_noise_fraction(1.0 - 1e-10)};
  const double first[] = {1.0, 0.75, 1e-17, 1.0, 1e-17}, second[] = {-2.0, -0.75, 3.0, -2.0, 3.0};
  for (int i = 0; i < 5; i++) {
    ode_between_noisy(&w, x + i);
    assert_same_bits(v[0], first[i]);
    assert_same_bits(v[1], second[i]);
  }
}

/* Which steps are whole parts of a span. */
static void whole(void **state) {
  (void)state;
  assert_int_equal(ode_noise_steps(0.0, 1.0, 0.1), 10);
  assert_int_equal(ode_noise_steps(0.0, 3.0, 0.3), 10);
  assert_int_equal(ode_noise_steps(1.0, 2.0, 1.0 / 3.0), 3);
  assert_int_equal(ode_noise_steps(0.0, 1.0, 1e-9), 1000000000);
  assert_int_equal(ode_noise_steps(0.0, 2.0, 2.0), 1);
  const double refused[][3] = {{0.0, 1.0, 0.3},   {0.0, 1.0, 3.0},         {1.0, 0.0, -0.1},
                               {1.0, 0.0, 0.1},   {0.0, 0.0, 0.1},         {0.0, 1.0, 0.0},
                               {0.0, 1.0, 1e-16}, {0.0, 1.0, 0.333333333}, {0.0, NAN, 0.1}};
  for (int i = 0; i < 9; i++) {
    assert_int_equal(ode_noise_steps(refused[i][0], refused[i][1], refused[i][2]), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(references), cmocka_unit_test(forms),
                                     cmocka_unit_test(additive), cmocka_unit_test(ends),
                                     cmocka_unit_test(whole)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
