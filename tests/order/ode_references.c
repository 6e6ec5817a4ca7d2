/* Non-stiff problems of ../shared/references by the adaptive explicit methods: the errors at every
 * instant of ode_solutions.tsv, from texts as users write them and from the built-in systems.
 * Skipped where the references are not.
 *
 * A tolerance is that of a step, and errors grow as the problem makes them grow: with t where
 * nothing is damped, five times as fast along an orbit whose energy is off, by 1e4 in ten units of
 * Lorenz's time, by 1e5 over Arenstorf's orbit (ode_problems.tsv says so). They are held to ten
 * tolerances times that growth; and they fall with the tolerance. */
#include "methods.h"
#include "ode_reference.h"
#include "ode_try.h"
#include "systems.h"

enum { PARAMETERS = 4, COMPONENTS = 4 };

static comm *world;

typedef struct problem {
  const char *id;
  const char *names[2 + COMPONENTS + PARAMETERS], *rhs[COMPONENTS];
  int components;
  double start[COMPONENTS];
  double growth; /* of errors of steps */
} problem;

static const problem PROBLEMS[] = {
    {"decay", {"t", "y1"}, {"-y1"}, 1, {1.0}, 1.0},
    {"harmonic", {"t", "y1", "y2"}, {"y2", "-4*y1"}, 2, {1.0}, 100.0},
    {"harmonic_back", {"t", "y1", "y2"}, {"y2", "-2^2*y1"}, 2, {1.0}, 3.0},
    {"driven", {"t", "y1", "y2"}, {"y2", "-0.2*y2 - y1 + cos(1.5*t)"}, 2, {1.0}, 10.0},
    {"logistic", {"t", "y1"}, {"y1/4*(1 - y1/20)"}, 1, {1.0}, 1.0},
    {"ycos", {"t", "y1"}, {"y1*cos(t)"}, 1, {1.0}, 7.0},
    {"rigid",
     {"t", "y1", "y2", "y3"},
     {"y2*y3", "-y1*y3", "-0.51*y1*y2"},
     3,
     {0.0, 1.0, 1.0},
     20.0},
};

/* The built-in systems that are problems there, as they come. */
static const struct {
  const char *system, *id;
  double growth;
} BUILT_IN[] = {{"kepler", "kepler03", 100.0},
                {"van-der-pol", "vdpol1", 20.0},
                {"brusselator", "brusselator", 20.0},
                {"lotka-volterra", "lotka", 20.0},
                {"lorenz", "lorenz", 1e4},
                {"arenstorf", "arenstorf", 1e5}};

/* A built-in system as a problem: its parameters are written into the texts' inputs. */
static void take_built_in(const ode_system *s, const char *id, double growth, problem *p,
                          double *parameters) {
  const char *where[COMPONENTS];
  const char *names[PARAMETERS + 1] = {NULL};
  formula_input in[PARAMETERS];
  double *out[COMPONENTS];
  function *initial;
  memset(p, 0, sizeof *p);
  p->id = id;
  p->growth = growth;
  p->components = s->components;
  p->names[0] = "t";
  for (int c = 0; c < s->components; c++) {
    p->names[1 + c] = s->component[c];
    p->rhs[c] = s->rhs[c];
    where[c] = s->name;
    out[c] = &p->start[c];
  }
  for (int k = 0; k < s->parameters; k++) {
    p->names[1 + s->components + k] = names[k] = s->parameter[k];
    parameters[k] = s->value[k];
    in[k] = (formula_input){&parameters[k], 0};
  }
  const function_request request = {
      .texts = s->initial, .where = where, .names = names, .outputs = s->components, .plain = 1};
  assert_ok(function_create(world, NULL, &request, &initial));
  const formula *f = function_formula(initial);
  f->batch(f->context, 1, in, out);
  function_release(&initial);
}

/* The largest error over rtol |y| + atol. */
static double solve(const problem *p, const double *parameters, const reference *r,
                    const ode_method *m, double tolerance) {
  ode_try e;
  double worst = 0.0;
  int count = 0;
  while (p->names[1 + p->components + count] != NULL) count++;
  ode_setting is = {p->names, p->rhs, NULL, p->components, count, {0}, NULL};
  is.plan = (ode_plan){.kind = (int32_t)m->kind, .variant = m->variant, .adaptive = 1};
  is.plan.order = m->error_order;
  is.plan.t_end = r->instants[r->instant_count - 1];
  is.plan.rtol = is.plan.atol = tolerance;
  is.plan.saves = r->instant_count;
  is.plan.save_at.at = (void *)(uintptr_t)r->instants;
  ode_try_open(&e, &BACKEND_ref, world, NULL, 1, &is, 1);
  for (int c = 0; c < p->components; c++) *ode_try_y(&e, c, 0) = p->start[c];
  for (int k = 0; k < count; k++) *ode_try_p(&e, k, 0) = parameters[k];
  ode_try_run(&e, INT64_MAX);
  assert_int_equal(ode_try_status(&e, 0), ODE_DONE);
  for (int i = 0; i < r->count; i++) {
    const reference_row *at = &r->rows[i];
    const double y = ((double *)e.s.saved.at)[at->instant * p->components + at->component - 1];
    const double error = fabs(y - at->value) / (tolerance * fabs(at->value) + tolerance);
    if (!(error <= worst)) worst = error;
    if (at->instant == r->instant_count - 1) {
      assert_same_bits(y, *ode_try_y(&e, at->component - 1, 0));
    }
  }
  ode_try_close(&e);
  return worst;
}

static void try_problem(const char *path, const problem *p, const double *parameters) {
  static reference r;
  reference_read(path, p->id, &r);
  for (int i = 0; ode_method_at(i) != NULL; i++) {
    const ode_method *m = ode_method_at(i);
    if (m->kind != ODE_RUNGE_KUTTA || m->error_order == 0) continue;
    const double loose = solve(p, parameters, &r, m, 1e-6);
    const double tight = solve(p, parameters, &r, m, 1e-10);
    if (loose <= 10.0 * p->growth && tight <= 10.0 * p->growth && tight < 100.0 * loose) continue;
    fail_msg("%s by %s: errors %g and %g times the tolerance", p->id, m->name, loose, tight);
  }
}

static void texts(void **state) {
  for (size_t i = 0; i < sizeof PROBLEMS / sizeof *PROBLEMS; i++) {
    try_problem(*state, &PROBLEMS[i], NULL);
  }
}

static void built_in(void **state) {
  for (size_t i = 0; i < sizeof BUILT_IN / sizeof *BUILT_IN; i++) {
    problem p;
    double parameters[PARAMETERS];
    const ode_system *s = ode_system_find(BUILT_IN[i].system);
    assert_non_null(s);
    take_built_in(s, BUILT_IN[i].id, BUILT_IN[i].growth, &p, parameters);
    try_problem(*state, &p, parameters);
  }
}

int main(int argc, char **argv) {
  char path[1024];
  if (reference_find(path, sizeof path) != 0) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(texts, path),
                                     cmocka_unit_test_prestate(built_in, path)};
  assert_ok(comm_open(&argc, &argv, &world));
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
