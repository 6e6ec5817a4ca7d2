/* The coefficients of rodas4 satisfy the order conditions of Rosenbrock methods: order 4 of the
 * step, 3 of the embedded method and of the dense output at any fraction; row sums; stiff accuracy.
 *
 * In the form of the theory, k_i = h f(y + sum alpha_ij k_j) + h J sum gamma_ij k_j, with beta =
 * alpha + gamma: Gamma = (I / gamma - G)^-1, alpha = A Gamma, b = m Gamma. Conditions: Hairer,
 * Wanner, Solving Ordinary Differential Equations II (1996), IV.7, table 7.1. */
#include <math.h>

#include "ode_rodas.h"
#include "test.h"

enum { S = ODE_RODAS_STAGES };

typedef struct standard {
  double alpha[S][S], beta[S][S]; /* beta with its diagonal */
  double full[S][S];              /* Gamma */
  double c[S], sum[S];            /* rows of alpha, of beta */
} standard;

/* What a step weights the u_j by, the argument of stage i (S: the step itself). */
static double weight(const ode_rodas *m, int i, int j) {
  if (i >= S - 1) return j >= S - 1 ? (i == S && j == S - 1) : j == S - 2 ? 1.0 : m->a[4][j];
  return j < i ? m->a[i][j] : 0.0;
}

static standard standard_of(const ode_rodas *m) {
  standard s = {0};
  for (int j = 0; j < S; j++) { /* column j of (I / gamma - G)^-1, G being strictly lower */
    for (int i = j; i < S; i++) {
      double x = i == j;
      for (int k = j; k < i; k++) x += m->g[i][k] * s.full[k][j];
      s.full[i][j] = m->gamma * x;
    }
  }
  for (int i = 0; i < S; i++) {
    for (int j = 0; j < S; j++) {
      for (int k = 0; k < S; k++) s.alpha[i][j] += weight(m, i, k) * s.full[k][j];
      s.beta[i][j] = s.alpha[i][j] + s.full[i][j];
      s.c[i] += s.alpha[i][j];
      s.sum[i] += s.beta[i][j];
    }
  }
  return s;
}

/* What weights b give for the trees up to order 4, one after the other, times what they should. */
static void trees(const standard *s, const double *b, double *out) {
  for (int t = 0; t < 8; t++) out[t] = 0.0;
  for (int i = 0; i < S; i++) {
    double beta_beta = 0.0, beta_square = 0.0, alpha_beta = 0.0, deep = 0.0;
    for (int j = 0; j < S; j++) {
      beta_beta += s->beta[i][j] * s->sum[j];
      beta_square += s->beta[i][j] * s->c[j] * s->c[j];
      alpha_beta += s->alpha[i][j] * s->sum[j];
      for (int k = 0; k < S; k++) deep += s->beta[i][j] * s->beta[j][k] * s->sum[k];
    }
    out[0] += b[i];
    out[1] += 2.0 * b[i] * s->sum[i];
    out[2] += 3.0 * b[i] * s->c[i] * s->c[i];
    out[3] += 6.0 * b[i] * beta_beta;
    out[4] += 4.0 * b[i] * s->c[i] * s->c[i] * s->c[i];
    out[5] += 8.0 * b[i] * s->c[i] * alpha_beta;
    out[6] += 12.0 * b[i] * beta_square;
    out[7] += 24.0 * b[i] * deep;
  }
}

static void close(double got, double expected, double within, const char *what, int t) {
  if (fabs(got - expected) <= within) return;
  fail_msg("%s, condition %d: %.17g, expected %.17g", what, t, got, expected);
}

/* b = m Gamma for the weights m of the u_j. */
static void weights_of(const standard *s, const double *m, double *b) {
  for (int j = 0; j < S; j++) {
    b[j] = 0.0;
    for (int k = 0; k < S; k++) b[j] += m[k] * s->full[k][j];
  }
}

static void steps(void **state) {
  (void)state;
  const ode_rodas m = ode_rodas4();
  const standard s = standard_of(&m);
  double b[S], embedded[S], of[S], got[8];
  for (int j = 0; j < S; j++) of[j] = weight(&m, S, j);
  weights_of(&s, of, b);
  trees(&s, b, got);
  for (int t = 0; t < 8; t++) close(got[t], 1.0, 2e-13, "step", t);
  of[S - 1] = 0.0; /* the error is u_6 */
  weights_of(&s, of, embedded);
  trees(&s, embedded, got);
  double off = 0.0;
  for (int t = 0; t < 4; t++) close(got[t], 1.0, 2e-13, "embedded", t);
  for (int t = 4; t < 8; t++) off = fmax(off, fabs(got[t] - 1.0));
  assert_true(off > 1e-3); /* else it would estimate nothing */
  for (int j = 0; j < S; j++) {
    close(b[j], s.beta[S - 1][j], 1e-14, "stiffly accurate", j);
    close(embedded[j], s.beta[S - 2][j], 1e-14, "embedded stiffly accurate", j);
  }
}

static void rows(void **state) {
  (void)state;
  const ode_rodas m = ode_rodas4();
  const standard s = standard_of(&m);
  for (int i = 0; i < S; i++) {
    close(s.c[i], i < 5 ? m.c[i] : 1.0, 1e-14, "instant", i);
    close(s.sum[i] - s.c[i], i < 4 ? m.d[i] : 0.0, 2e-15, "weight of df/dt", i);
  }
}

static void dense(void **state) {
  (void)state;
  const ode_rodas m = ode_rodas4();
  const standard s = standard_of(&m);
  static const double fractions[] = {0.0, 0.1, 0.25, 0.5, 0.77, 1.0};
  for (int i = 0; i < 6; i++) {
    const double x = fractions[i];
    static const int order[] = {1, 2, 3, 3};
    double of[S], b[S], got[8];
    for (int j = 0; j < S; j++) {
      const double p = j < 5 ? m.dense[0][j] + x * m.dense[1][j] : 0.0;
      of[j] = x * (weight(&m, S, j) + (1.0 - x) * p);
    }
    weights_of(&s, of, b);
    trees(&s, b, got);
    for (int t = 0; t < 4; t++) close(got[t], pow(x, order[t]), 2e-13, "dense", t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps), cmocka_unit_test(rows),
                                     cmocka_unit_test(dense)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
