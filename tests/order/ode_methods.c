/* The methods of `ode`, over their registry: algebraic order conditions of every tableau, of its
 * error estimate and of its dense output; observed order of fixed steps and of states inside them;
 * last steps that are shorter; backwards in time; and rk4 to the last bits.
 *
 * Order conditions: a rooted tree of n vertices is a list of parents, parent[k] < k. With
 * w_i = product over children of sum_j a_ij w_j at every vertex, order n asks for
 * sum_i b_i w_i(root) = 1 / (product over vertices of the sizes of their subtrees), for every tree
 * of n vertices (Hairer, Norsett, Wanner I, II.2); at the fraction x of a step x^n times that. */
#include <stdio.h>

#include "methods.h"
#include "ode_tableau.h"
#include "ode_try.h"

enum { VERTICES = 5, HALVINGS = 3, INSIDE = 40 };

static comm *world;

/* ---- order conditions ---- */

typedef struct tree {
  int vertices, parent[VERTICES];
} tree;

/* The next list of parents with as many vertices; 0: that was the last. */
static int tree_next(tree *t) {
  for (int k = t->vertices - 1; k > 0; k--) {
    if (++t->parent[k] < k) return 1;
    t->parent[k] = 0;
  }
  return 0;
}

/* The product of the sizes of all subtrees. */
static double tree_density(const tree *t) {
  double product = 1.0;
  int size[VERTICES];
  for (int k = t->vertices - 1; k >= 0; k--) {
    size[k] = 1;
    for (int child = k + 1; child < t->vertices; child++) {
      if (t->parent[child] == k) size[k] += size[child];
    }
    product *= size[k];
  }
  return product;
}

/* weight[i] of the root, per stage. */
static void tree_weights(const tree *t, const ode_tableau *m, double weight[ODE_STAGES]) {
  double w[VERTICES][ODE_STAGES];
  for (int k = t->vertices - 1; k >= 0; k--) {
    for (int i = 0; i < m->stages; i++) {
      w[k][i] = 1.0;
      for (int child = k + 1; child < t->vertices; child++) {
        double sum = 0.0;
        if (t->parent[child] != k) continue;
        for (int j = 0; j < i; j++) sum += m->a[i][j] * w[child][j];
        w[k][i] *= sum;
      }
    }
  }
  memcpy(weight, w[0], sizeof w[0]);
}

/* By how much weights b miss the conditions of order n at x; *scale: how large the sums are. */
static double missed(const ode_tableau *m, const double *b, int n, double x, double *scale) {
  tree t = {.vertices = n};
  double worst = 0.0;
  *scale = 0.0;
  do {
    double weight[ODE_STAGES], sum = 0.0, size = 0.0;
    tree_weights(&t, m, weight);
    for (int i = 0; i < m->stages; i++) {
      sum += b[i] * weight[i];
      size += fabs(b[i] * weight[i]);
    }
    worst = fmax(worst, fabs(sum - pow(x, n) / tree_density(&t)));
    *scale = fmax(*scale, size);
  } while (tree_next(&t));
  return worst;
}

/* Weights b have this order at x, and not the next one. */
static void has_order(const ode_tableau *m, const double *b, int order, double x,
                      const char *what) {
  for (int n = 1; n <= order + 1 && n <= VERTICES; n++) {
    double scale;
    const double off = missed(m, b, n, x, &scale);
    if (n <= order ? off <= 4e-15 * fmax(scale, 1.0) : off > 1e-6 * pow(x, n)) continue;
    fail_msg("%s at %g: conditions of order %d missed by %g, of order %d", what, x, n, off, order);
  }
}

static void weights_at(const ode_tableau *m, double x, double *b, double *slope) {
  for (int j = 0; j < m->stages; j++) {
    const double *d = m->dense[j];
    b[j] = x * (d[0] + x * (d[1] + x * (d[2] + x * d[3])));
    slope[j] = d[0] + x * (2.0 * d[1] + x * (3.0 * d[2] + x * 4.0 * d[3]));
  }
}

/* Order 4 at every fraction; at the ends the states and slopes of the step itself. */
static void dense_output(const ode_tableau *m, const char *name) {
  double b[ODE_STAGES], slope[ODE_STAGES];
  for (int i = 1; i < 16; i++) {
    weights_at(m, i / 16.0, b, slope);
    for (int n = 1; n <= 4; n++) {
      double scale;
      const double off = missed(m, b, n, i / 16.0, &scale);
      if (!(off <= 1e-14 * fmax(scale, 1.0))) {
        fail_msg("%s, dense output at %g: conditions of order %d missed by %g", name, i / 16.0, n,
                 off);
      }
    }
  }
  weights_at(m, 1.0, b, slope);
  for (int j = 0; j < m->stages; j++) {
    assert_true(fabs(b[j] - m->b[j]) < 3e-14);
    assert_true(fabs(slope[j] - (j == m->stages - 1)) < 1e-13);
    assert_true(m->dense[j][0] == (j == 0));
  }
}

static void tableaux(void **state) {
  (void)state;
  int seen = 0;
  for (int i = 0; ode_method_at(i) != NULL; i++) {
    const ode_method *method = ode_method_at(i);
    double embedded[ODE_STAGES], rest = 0.0;
    if (method->kind != ODE_RUNGE_KUTTA) continue;
    const ode_tableau m = ode_tableau_of(method->variant);
    seen++;
    assert_int_equal(m.order, method->order);
    for (int s = 0; s < m.stages; s++) {
      double sum = 0.0;
      for (int j = 0; j < ODE_STAGES; j++) {
        sum += m.a[s][j];
        assert_true(j < s || m.a[s][j] == 0.0);
      }
      if (!(fabs(sum - m.c[s]) < 4e-15)) fail_msg("%s: row %d sums to %g", method->name, s, sum);
      embedded[s] = m.b[s] - m.e[s];
      rest += fabs(m.e[s]);
      if (m.first_same) assert_true(m.a[m.stages - 1][s] == m.b[s] && m.c[m.stages - 1] == 1.0);
    }
    has_order(&m, m.b, m.order, 1.0, method->name);
    assert_int_equal(rest > 0.0, method->error_order > 0);
    if (rest > 0.0) has_order(&m, embedded, method->error_order - 1, 1.0, "its error estimate");
    if (m.dense[0][0] != 0.0) dense_output(&m, method->name);
  }
  assert_true(seen >= 4);
}

/* ---- runs ---- */

static void run(ode_try *e, const ode_setting *is, const double *start) {
  ode_try_open(e, &BACKEND_ref, world, NULL, 1, is, 1);
  for (int c = 0; c < is->components; c++) *ode_try_y(e, c, 0) = start[c];
  ode_try_run(e, INT64_MAX);
  assert_int_equal(ode_try_status(e, 0), ODE_DONE);
}

static ode_plan fixed(const ode_method *m, double t_start, double t_end, double dt) {
  ode_plan p = {.kind = (int32_t)m->kind, .variant = m->variant, .order = m->error_order};
  p.t_start = t_start;
  p.t_end = t_end;
  p.dt = copysign(dt, t_end - t_start);
  return p;
}

/* x = exp(sin t), y = 1 / (1 + t^2), errors of one driving the other; and x'' = -(1 + t/2) x + g,
 * x = cos(t) + t^2 / 4, which is separable. */
static const char *const names[] = {"t", "x", "y", NULL};
static const char *const coupled[] = {"x*cos(t) + x*(y*(1 + t*t) - 1)",
                                      "-2*t*y*y + y*(x - exp(sin(t)))"};
static const char *const split[] = {"y*(1 + 0*t)",
                                    "-(1 + t/2)*x + 1/2 - cos(t) + (1 + t/2)*(cos(t) + t*t/4)"};

static void exact(const ode_method *m, double t, double *y) {
  const int apart = (m->flags & METHOD_SPLIT) != 0;
  y[0] = apart ? cos(t) + 0.25 * t * t : exp(sin(t));
  y[1] = apart ? -sin(t) + 0.5 * t : 1.0 / (1.0 + t * t);
}

/* The errors at the end and inside steps, from t = `from` to `to`. */
static void errors(const ode_method *m, double from, double to, double dt, double *end,
                   double *inside) {
  double at[INSIDE], y[2];
  ode_setting is = {names, (m->flags & METHOD_SPLIT) != 0 ? split : coupled, NULL, 2, 0, {0}, NULL};
  ode_try e;
  is.plan = fixed(m, from, to, dt);
  for (int i = 0; i < INSIDE; i++) at[i] = from + (to - from) * (i + 0.37) / INSIDE;
  is.plan.saves = INSIDE;
  is.plan.save_at.at = at;
  exact(m, from, y);
  run(&e, &is, y);
  assert_same_bits(ode_try_t(&e, 0), to);
  assert_int_equal(ode_try_steps(&e, 0), (int64_t)ceil(fabs(to - from) / dt - 1e-9));
  exact(m, to, y);
  *end = fmax(fabs(*ode_try_y(&e, 0, 0) - y[0]), fabs(*ode_try_y(&e, 1, 0) - y[1]));
  *inside = 0.0;
  for (int i = 0; i < 2 * INSIDE; i++) {
    exact(m, at[i / 2], y);
    const double error = fabs(((double *)e.s.saved.at)[i] - y[i % 2]);
    if (!(error <= *inside)) *inside = error;
  }
  ode_try_close(&e);
}

/* Steps halved twice, the second time showing the order; spans that steps divide, and spans with a
 * shorter last step; both ways. Inside steps at least order 4 or the method's. */
static void observed(void **state) {
  (void)state;
  static const double spans[][2] = {{0.0, 1.6}, {1.6, 0.0}, {0.0, 1.613}, {1.613, 0.0}};
  for (int i = 0; ode_method_at(i) != NULL; i++) {
    const ode_method *m = ode_method_at(i);
    if ((m->flags & METHOD_NOISY) != 0) continue;
    /* coarser: their derivatives in time are differences, good for half of the digits */
    const double dt = (m->flags & METHOD_STIFF) != 0 ? 0.05 : 0.025;
    for (int s = 0; s < 4; s++) {
      double end[HALVINGS], inside[HALVINGS];
      for (int k = 0; k < HALVINGS; k++) {
        errors(m, spans[s][0], spans[s][1], dt / (1 << k), &end[k], &inside[k]);
      }
      const double order = log2(end[1] / end[2]), dense = log2(inside[1] / inside[2]);
      const int least = m->order < 4 ? m->order : 4;
      if (fabs(order - m->order) < 0.3 && dense > least - 0.3 && inside[2] < 20.0 * end[2] + 1e-7) {
        continue;
      }
      fail_msg("%s from %g to %g: errors %g %g %g (order %.2f), inside %g %g %g (order %.2f)",
               m->name, spans[s][0], spans[s][1], end[0], end[1], end[2], order, inside[0],
               inside[1], inside[2], dense);
    }
  }
}

/* Time and right-hand side with the other sign: the same bits. */
static void mirrored(void **state) {
  (void)state;
  static const char *const there[] = {"y", "-x - x*x*x/3"}, *const back[] = {"-y", "x + x*x*x/3"};
  static const double start[] = {1.25, 0.5};
  for (int i = 0; ode_method_at(i) != NULL; i++) {
    const ode_method *m = ode_method_at(i);
    if ((m->flags & METHOD_NOISY) != 0) continue;
    for (int adaptive = 0; adaptive <= (m->error_order > 0); adaptive++) {
      ode_setting is = {names, there, NULL, 2, 0, fixed(m, 0.0, 3.0, 0.07), NULL};
      ode_try a, b;
      is.plan.adaptive = adaptive;
      if (adaptive) is.plan.dt = 0.0;
      is.plan.rtol = is.plan.atol = 1e-3;
      run(&a, &is, start);
      is.rhs = back;
      is.plan.t_end = -3.0;
      is.plan.dt = -is.plan.dt;
      run(&b, &is, start);
      assert_int_equal(ode_try_steps(&a, 0), ode_try_steps(&b, 0));
      assert_same_bits(ode_try_t(&a, 0), -ode_try_t(&b, 0));
      for (int c = 0; c < 2; c++) assert_same_bits(*ode_try_y(&a, c, 0), *ode_try_y(&b, c, 0));
      ode_try_close(&a);
      ode_try_close(&b);
    }
  }
}

/* Case 145: y' = y from 1 to t = 1; 4 steps of which the last is 0.1, 10 steps, one step of 1. */
static void to_the_last_bits(void **state) {
  (void)state;
  static const char *const name_one[] = {"t", "x", NULL}, *const growth[] = {"x"};
  static const double dt[] = {0.3, 0.1, 5.0}, start = 1.0;
  static const double truth[] = {2.7181528975017692, 2.7182797441351627, 2.7083333333333335};
  static const int64_t steps[] = {4, 10, 1};
  for (int i = 0; i < 3; i++) {
    ode_setting is = {name_one, growth, NULL, 1, 0, {0}, NULL};
    ode_try e;
    is.plan = fixed(ode_method_find("rk4"), 0.0, 1.0, dt[i]);
    run(&e, &is, &start);
    assert_int_equal(ode_try_steps(&e, 0), steps[i]);
    assert_same_bits(ode_try_t(&e, 0), 1.0);
    assert_true(fabs(*ode_try_y(&e, 0, 0) - truth[i]) <= 4e-15);
    ode_try_close(&e);
  }
}

/* How many steps a span takes, and how long they are: no step of nothing at the end. */
static void step_counts(void **state) {
  (void)state;
  for (int n = 1; n <= 1000; n++) {
    ode_plan p = {.t_start = 0.0, .t_end = 1.0, .dt = 1.0 / n};
    assert_int_equal(p.steps = ode_step_count(0.0, 1.0, p.dt), n);
    assert_same_bits(ode_length(&p, n - 1), p.dt);
    assert_same_bits(ode_instant(&p, n), 1.0);
    assert_int_equal(ode_step_count(-0.7, -0.7 - n * 0.1, -0.1), n);
    assert_int_equal(ode_step_count(0.0, n + 0.001, 1.0), n + 1);
  }
  assert_int_equal(ode_step_count(0.0, 1.0, -0.1), 0);
  assert_int_equal(ode_step_count(0.0, 1.0, 1e-300), 0);
  assert_int_equal(ode_step_count(0.0, 1e-300, 1.0), 1);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tableaux), cmocka_unit_test(observed),
                                     cmocka_unit_test(mirrored), cmocka_unit_test(to_the_last_bits),
                                     cmocka_unit_test(step_counts)};
  assert_ok(comm_open(&argc, &argv, &world));
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
