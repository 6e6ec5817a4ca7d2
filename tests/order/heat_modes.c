/* The decay of eigenmodes of the grid against the amplification factor of every time scheme, and
 * the limits of stability: references/heat_discrete.tsv (the ids are its). */
#include <stdio.h>

#include "heat_try.h"

static comm *world;

#define D  BOUNDARY_DIRICHLET
#define P  BOUNDARY_PERIODIC
#define PI 3.14159265358979323846

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
      cmocka_unit_test(decay_of_modes),
      cmocka_unit_test(an_unstable_mode),
      cmocka_unit_test(factors_and_limits),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
