/* Every time scheme of the registry: its order in time against a manufactured solution that the
 * grid has no error for, order two in space against the exact solutions of
 * references/heat_problems.tsv (the ids are its), and the decay of eigenmodes of the grid against
 * its amplification factor. Windows are two-sided: a scheme that is better than it says is wrong
 * too. */
#include <stdio.h>

#include "heat_try.h"

static comm *world;

#define D  BOUNDARY_DIRICHLET
#define N  BOUNDARY_NEUMANN
#define R  BOUNDARY_ROBIN
#define P  BOUNDARY_PERIODIC
#define PI 3.14159265358979323846

/* ---- order in space ---- */

/* Two grids: the coarse one's points per direction are given; times are short enough that dt by
 * stability makes the error in time scale with spacing^2 too. */
typedef struct space_case {
  heat_texts is;
  double t_end;
} space_case;

static const space_case SPACE[] = {
    {{"h01",
      1,
      {17},
      {0},
      {0},
      NULL,
      NULL,
      "sin(pi*x)",
      "exp(-pi^2*t)*sin(pi*x)",
      {D, D},
      {NULL},
      {0}},
     0.05},
    {{"h02",
      1,
      {65},
      {0},
      {2},
      "0.3",
      NULL,
      "sin(pi*x/2)+0.5*sin(3*pi*x/2)-0.2*sin(4*pi*x)",
      "exp(-0.3*pi^2/4*t)*sin(pi*x/2)+0.5*exp(-0.3*9*pi^2/4*t)*sin(3*pi*x/2)-"
      "0.2*exp(-0.3*16*pi^2*t)*sin(4*pi*x)",
      {D, D},
      {NULL},
      {0}},
     0.05},
    {{"h03",
      1,
      {33},
      {0},
      {1},
      "0.5",
      NULL,
      "1+cos(2*pi*x)",
      "1+exp(-2*pi^2*t)*cos(2*pi*x)",
      {N, N},
      {NULL},
      {0}},
     0.02},
    {{"h04",
      1,
      {64},
      {0},
      {2 * PI},
      "0.1",
      NULL,
      "1+sin(x)+0.25*cos(5*x)",
      "1+exp(-0.1*t)*sin(x)+0.25*exp(-2.5*t)*cos(5*x)",
      {P, P},
      {NULL},
      {0}},
     0.5},
    {{"h08",
      1,
      {33},
      {0},
      {1},
      "(1+x)^2",
      NULL,
      "(1+x)^(-0.5)*sin(pi*log(1+x)/log(2))",
      "exp(-(0.25+(pi/log(2))^2)*t)*(1+x)^(-0.5)*sin(pi*log(1+x)/log(2))",
      {D, D},
      {NULL},
      {0}},
     0.02},
    {{"h09",
      2,
      {17, 33},
      {0},
      {1, 1},
      NULL,
      NULL,
      "sin(pi*x)*sin(2*pi*y)",
      "exp(-5*pi^2*t)*sin(pi*x)*sin(2*pi*y)",
      {D, D, D, D},
      {NULL},
      {0}},
     0.01},
    {{"h10",
      2,
      {17, 17},
      {0},
      {1, 2},
      "0.2",
      NULL,
      "2+cos(pi*x)*cos(pi*y/2)",
      "2+exp(-0.2*pi^2*1.25*t)*cos(pi*x)*cos(pi*y/2)",
      {N, N, N, N},
      {NULL},
      {0}},
     0.1},
    {{"h12",
      3,
      {9, 9, 9},
      {0},
      {1, 1, 1},
      NULL,
      NULL,
      "sin(pi*x)*sin(pi*y)*sin(pi*z)",
      "exp(-3*pi^2*t)*sin(pi*x)*sin(pi*y)*sin(pi*z)",
      {D, D, D, D, D, D},
      {NULL},
      {0}},
     0.02},
    {{"h13",
      1,
      {17},
      {0},
      {1},
      "0.8",
      NULL,
      "1+2*x+sin(pi*x)",
      "1+2*x+exp(-0.8*pi^2*t)*sin(pi*x)",
      {D, D},
      {"1", "3"},
      {0}},
     0.05},
    {{"h16",
      3,
      {12, 12, 12},
      {0},
      {2 * PI, 2 * PI, 2 * PI},
      "0.05",
      NULL,
      "sin(x)*cos(2*y)+0.5*sin(z)",
      "exp(-0.25*t)*sin(x)*cos(2*y)+0.5*exp(-0.05*t)*sin(z)",
      {P, P, P, P, P, P},
      {NULL},
      {0}},
     1.0},
    /* a travelling front on a Robin face to the left, a flux that depends on time to the right */
    {{"robin and flux",
      1,
      {17},
      {0},
      {1},
      NULL,
      NULL,
      "sin(x)",
      "exp(-t)*sin(x)",
      {R, N},
      {"-0.5*exp(-t)", "exp(-t)*cos(1)"},
      {2.0, 0.0}},
     0.1},
    /* variable conductivity with a source, faces of every kind, manufactured */
    {{"mixed faces",
      2,
      {9, 13},
      {0},
      {1, 1},
      "1+0.5*x*y",
      "-exp(-t)*cos(x)*sin(y)+exp(-t)*(2*(1+0.5*x*y)*cos(x)*sin(y)+0.5*y*sin(x)*sin(y)-"
      "0.5*x*cos(x)*cos(y))",
      "cos(x)*sin(y)",
      "exp(-t)*cos(x)*sin(y)",
      {N, D, R, N},
      {"0", "exp(-t)*cos(1)*sin(y)", "-exp(-t)*cos(x)/3", "(1+0.5*x)*exp(-t)*cos(x)*cos(1)"},
      {0, 0, 3.0, 0}},
     0.05},
};

enum { SPACES = sizeof SPACE / sizeof *SPACE };

static double refine(const heat_texts *is, int factor, heat_texts *fine) {
  *fine = *is;
  for (int d = 0; d < is->dims; d++) {
    const int open = is->kind[2 * d] != P;
    fine->n[d] = (is->n[d] - open) * factor + open;
  }
  return 1.0 / factor;
}

static double space_error(const space_case *c, const heat_scheme *scheme, int factor) {
  heat_try t;
  heat_texts fine;
  refine(&c->is, factor, &fine);
  heat_try_open(&t, &BACKEND_omp, world, 1, &fine, scheme);
  t.run.dt = 0.5 * (isfinite(scheme->limit(0)) ? scheme->limit(0) : 4.0) / t.run.lambda;
  t.run.t_end = c->t_end;
  heat_try_march(&t);
  const double error = heat_try_error(&t);
  heat_try_close(&t);
  return error;
}

static void order_in_space(void **state) {
  (void)state;
  const heat_scheme *scheme;
  for (int s = 0; (scheme = heat_scheme_at(s)) != NULL; s++) {
    for (int i = 0; i < SPACES && scheme->order > 0; i++) {
      const double coarse = space_error(&SPACE[i], scheme, 1);
      const double fine = space_error(&SPACE[i], scheme, 2);
      const double order = log2(coarse / fine);
      if (!(order > 1.8 && order < 2.25)) {
        fail_msg("%s, %s: errors %.3e, %.3e: order %.2f in space, expected 2", scheme->name,
                 SPACE[i].is.name, coarse, fine, order);
      }
    }
  }
}

/* ---- order in time ---- */

/* Linear or quadratic in space, so that differences are exact; not polynomial in time. */
static const space_case TIME[] = {
    {{"h07",
      1,
      {9},
      {0},
      {1},
      "0.7",
      "exp(-t)*(1.4-x*(1-x))",
      "x*(1-x)",
      "exp(-t)*x*(1-x)",
      {D, D},
      {NULL},
      {0}},
     1.0},
    {{"h14",
      2,
      {6, 5},
      {0},
      {1, 1},
      "0.5",
      "cos(t)*x^2*y-(1+sin(t))*y",
      "x^2*y",
      "(1+sin(t))*x^2*y",
      {D, D, D, D},
      {"(1+sin(t))*x^2*y", "(1+sin(t))*x^2*y", "(1+sin(t))*x^2*y", "(1+sin(t))*x^2*y"},
      {0}},
     1.0},
    {{"fluxes in time",
      1,
      {6},
      {0},
      {1},
      "0.4",
      "2*cos(2*t)*x-0.8*0",
      "x",
      "(1+sin(2*t))*x",
      {R, N},
      {"-0.2*(1+sin(2*t))", "0.4*(1+sin(2*t))"},
      {2.0, 0.0}},
     1.0},
};

enum { TIMES = sizeof TIME / sizeof *TIME };

static double time_error(const space_case *c, const heat_scheme *scheme, int64_t steps) {
  heat_try t;
  heat_try_open(&t, &BACKEND_omp, world, 1, &c->is, scheme);
  t.run.dt = c->t_end / (double)steps;
  assert_true(t.run.dt * t.run.lambda <= scheme->limit(0));
  t.run.t_end = c->t_end;
  heat_try_march(&t);
  assert_int_equal(t.run.step, steps);
  const double error = heat_try_error(&t);
  heat_try_close(&t);
  return error;
}

static void order_in_time(void **state) {
  (void)state;
  const heat_scheme *scheme;
  for (int s = 0; (scheme = heat_scheme_at(s)) != NULL; s++) {
    for (int i = 0; i < TIMES && scheme->order > 0; i++) {
      /* few stages for stabilised schemes too: their asymptotic range */
      const double coarse = time_error(&TIME[i], scheme, 128);
      const double fine = time_error(&TIME[i], scheme, 256);
      const double order = log2(coarse / fine);
      if (!(order > scheme->order - 0.15 && order < scheme->order + 0.3)) {
        fail_msg("%s, %s: errors %.3e, %.3e: order %.2f in time, expected %d", scheme->name,
                 TIME[i].is.name, coarse, fine, order, scheme->order);
      }
    }
  }
}

/* Many stages: stable, and still of second order. */
static void many_stages(void **state) {
  (void)state;
  const space_case c = {
      {"h01", 1, {65}, {0}, {1}, NULL, NULL, "sin(pi*x)", "0", {D, D}, {NULL}, {0}}, 0.0625};
  const heat_scheme *rkl2 = heat_scheme_find("rkl2");
  const double dx = 1.0 / 64, mu = 4.0 / (dx * dx) * pow(sin(PI * dx / 2.0), 2.0);
  double error[2];
  for (int i = 0; i < 2; i++) {
    heat_try t;
    heat_try_open(&t, &BACKEND_omp, world, 1, &c.is, rkl2);
    t.run.dt = c.t_end / (8 << i);
    assert_true(rkl2->stages(t.run.dt * t.run.lambda) > 10);
    t.run.last = 8 << i;
    heat_try_march(&t);
    error[i] = fabs(heat_try_field(&t)[32] - exp(-mu * c.t_end)); /* the grid's own solution */
    heat_try_close(&t);
  }
  const double order = log2(error[0] / error[1]);
  if (!(order > 1.8 && order < 2.3)) fail_msg("errors %.3e, %.3e", error[0], error[1]);
}

/* ---- decay of eigenmodes of the grid: references/heat_discrete.tsv ---- */

/* R(z) of a scheme by its definition, z = dt times an eigenvalue (negative). */
static double factor_of(const heat_scheme *scheme, double z) {
  if (strcmp(scheme->name, "ftcs") == 0) return 1.0 + z;
  if (strcmp(scheme->name, "rk4") == 0)
    return 1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0)));
  if (strcmp(scheme->name, "backward-euler") == 0) return 1.0 / (1.0 - z);
  if (strcmp(scheme->name, "crank-nicolson") == 0) return (1.0 + z / 2.0) / (1.0 - z / 2.0);
  if (strcmp(scheme->name, "tr-bdf2") == 0) {
    const double g = 2.0 - sqrt(2.0), v = (1.0 + g * z / 2.0) / (1.0 - g * z / 2.0);
    return (v / (g * (2.0 - g)) - (1.0 - g) * (1.0 - g) / (g * (2.0 - g))) /
           (1.0 - (1.0 - g) / (2.0 - g) * z);
  }
  return NAN;
}

typedef struct mode_case {
  const char *id, *scheme;
  heat_texts is;
  double alpha, dt;
  int64_t steps;
  struct {
    int64_t at[HEAT_DIMS];
    double u;
  } point[3];
  int points;
} mode_case;

static const mode_case MODES[] = {
    {"d1a",
     "ftcs",
     {"d1a", 1, {65}, {0}, {1}, "1", NULL, "sin(pi*x)", NULL, {D, D}, {NULL}, {0}},
     1.0,
     0.00009765625,
     500,
     {{{8}, 0.2363132569348168087914},
      {{32}, 0.6175162992406943921811},
      {{61}, 0.09060845957150623195401}},
     3},
    {"d1b",
     "backward-euler",
     {"d1b", 1, {65}, {0}, {1}, "1", NULL, "sin(pi*x)", NULL, {D, D}, {NULL}, {0}},
     1.0,
     0.001220703125,
     200,
     {{{8}, 0.03490095863595013887794},
      {{32}, 0.09120059998482958271363},
      {{61}, 0.01338190730638770244222}},
     3},
    {"d1c",
     "crank-nicolson",
     {"d1c", 1, {65}, {0}, {1}, "1", NULL, "sin(pi*x)", NULL, {D, D}, {NULL}, {0}},
     1.0,
     0.001220703125,
     200,
     {{{8}, 0.03440119772531749784352},
      {{32}, 0.08989466179057858008024},
      {{61}, 0.01319028637553587444716}},
     3},
    {"d1d",
     "rk4",
     {"d1d", 1, {65}, {0}, {1}, "1", NULL, "sin(pi*x)", NULL, {D, D}, {NULL}, {0}},
     1.0,
     0.000146484375,
     300,
     {{{8}, 0.2480356123185615375803},
      {{32}, 0.6481482900517345269318},
      {{61}, 0.09510310611672243235151}},
     3},
    {"d2",
     "ftcs",
     {"d2", 1, {100}, {0}, {1}, "0.5", NULL, "sin(6*pi*x)", NULL, {P, P}, {NULL}, {0}},
     0.5,
     0.00005,
     1000,
     {{{7}, 0.0001326566488429591578879}, {{50}, 0.0}, {{91}, -0.0001358795164174175249502}},
     3},
    {"d3",
     "ftcs",
     {"d3",
      2,
      {49, 49},
      {0},
      {1, 1},
      "1",
      NULL,
      "sin(pi*x)*sin(2*pi*y)",
      NULL,
      {D, D, D, D},
      {NULL},
      {0}},
     1.0,
     0.000086805555555555555556,
     400,
     {{{24, 12}, 0.1799518386398491319917}, {{5, 40}, -0.05009404678541482820558}},
     2},
    {"d4",
     "ftcs",
     {"d4",
      3,
      {33, 33, 33},
      {0},
      {1, 1, 1},
      "1",
      NULL,
      "sin(pi*x)*sin(pi*y)*sin(pi*z)",
      NULL,
      {D, D, D, D, D, D},
      {NULL},
      {0}},
     1.0,
     0.0001220703125,
     200,
     {{{16, 16, 16}, 0.4850038700435621938973}, {{3, 10, 29}, 0.03398128595963121666081}},
     2},
};

static void decay_of_modes(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof MODES / sizeof *MODES; i++) {
    const mode_case *m = &MODES[i];
    heat_try t;
    heat_try_open(&t, &BACKEND_omp, world, 1, &m->is, heat_scheme_find(m->scheme));
    t.run.dt = m->dt;
    t.run.solver_rtol = 1e-14;
    t.run.last = m->steps;
    heat_try_march(&t);
    const double *u = heat_try_field(&t);
    for (int p = 0; p < m->points; p++) {
      const int64_t *at = m->point[p].at;
      const double got = u[(at[2] * m->is.n[1] + at[1]) * m->is.n[0] + at[0]];
      if (!(fabs(got - m->point[p].u) <= 1e-13)) {
        fail_msg("%s, point %lld: %.17g, expected %.17g", m->id, (long long)at[0], got,
                 m->point[p].u);
      }
    }
    heat_try_close(&t);
  }
}

/* d5: the step function alone; the mode grows by g each step. */
static void an_unstable_mode(void **state) {
  (void)state;
  const heat_texts is = {"d5",           1,    {65},   {0},    {1}, NULL, NULL,
                         "sin(63*pi*x)", NULL, {D, D}, {NULL}, {0}};
  heat_try t;
  heat_try_open(&t, &BACKEND_omp, world, 1, &is, heat_scheme_find("ftcs"));
  t.run.dt = 0.00013427734375;
  t.run.last = 200;
  heat_try_march(&t);
  const double *u = heat_try_field(&t);
  assert_true(fabs(u[1] / 269826829476585.3993523 - 1.0) < 1e-10);
  assert_true(fabs(u[32] / -5499075168635242.978892 - 1.0) < 1e-10);
  heat_try_close(&t);
}

/* Every mode of a small grid is multiplied by R(dt mu) in a step, up to the limit of stability, and
 * just beyond it the fastest one grows. */
static void factors_and_limits(void **state) {
  (void)state;
  const heat_scheme *scheme;
  for (int s = 0; (scheme = heat_scheme_at(s)) != NULL; s++) {
    double z_limit = isfinite(scheme->limit(0)) ? scheme->limit(0) : scheme->limit(9);
    if (!isfinite(z_limit)) z_limit = 1000.0; /* implicit: far beyond all limits */
    if (scheme->order == 0) continue;
    for (int mode = 1; mode < 16; mode++) {
      char text[40];
      snprintf(text, sizeof text, "sin(%d*pi*x)", mode);
      const heat_texts is = {"mode", 1,    {17}, {0},    {1},    NULL,
                             NULL,   text, NULL, {D, D}, {NULL}, {0}};
      heat_try t;
      heat_try_open(&t, &BACKEND_omp, world, 1, &is, scheme);
      t.run.dt = z_limit * (1.0 - 1e-12) / t.run.lambda;
      t.run.last = 1;
      const int at = mode % 2 == 0 ? 4 : 8; /* a point where the mode is not small */
      const double before = heat_try_field(&t)[mode % 4 == 0 ? 2 : at], dx = 1.0 / 16;
      heat_try_march(&t);
      const double after = heat_try_field(&t)[mode % 4 == 0 ? 2 : at];
      const double mu = -4.0 / (dx * dx) * pow(sin(mode * PI * dx / 2.0), 2.0);
      const double expected = factor_of(scheme, t.run.dt * mu);
      if (fabs(before) > 1e-3) {
        assert_true(fabs(after / before) <= 1.0 + 1e-12);
        if (!isnan(expected)) assert_true(fabs(after / before - expected) < 1e-11);
      }
      heat_try_close(&t);
    }
    if (!isfinite(scheme->limit(0))) continue;
    /* beyond: the fastest mode of a fine grid, whose eigenvalue is nearly lambda_max */
    const heat_texts is = {"fast",          1,    {129},  {0},    {1}, NULL, NULL,
                           "sin(127*pi*x)", NULL, {D, D}, {NULL}, {0}};
    heat_try t;
    heat_try_open(&t, &BACKEND_omp, world, 1, &is, scheme);
    const double before = fabs(heat_try_field(&t)[1]);
    t.run.dt = z_limit * 1.002 / t.run.lambda;
    t.run.last = 50;
    heat_try_march(&t);
    assert_true(fabs(heat_try_field(&t)[1]) > before);
    heat_try_close(&t);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(decay_of_modes),     cmocka_unit_test(an_unstable_mode),
      cmocka_unit_test(factors_and_limits), cmocka_unit_test(order_in_time),
      cmocka_unit_test(many_stages),        cmocka_unit_test(order_in_space),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
