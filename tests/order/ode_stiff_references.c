/* Stiff methods on the problems of ../shared/references: the errors at every instant of
 * ode_solutions.tsv, with the Jacobian given and with differences; and what is conserved stays so.
 * Skipped where the references are not.
 *
 * A tolerance is that of a step. rodas4 is held to 100 times of it at any time; methods of lower
 * order, whose steps are many, to twice the tolerance a step, and to 20 times where errors grow: a
 * relaxation oscillator after its jumps, fronts that have hardly formed. And errors fall with the
 * tolerance. */
#include "ode_reference.h"
#include "ode_stiff_problems.h"
#include "ode_try.h"

static comm *world;

typedef struct method {
  const char *name;
  int kind, variant, order; /* of the error estimate plus one */
} method;

static const method METHOD[] = {{"rodas4", ODE_ROSENBROCK, 0, 4},
                                {"tr-bdf2", ODE_IMPLICIT, ODE_TR_BDF2, 3},
                                {"backward-euler", ODE_IMPLICIT, ODE_BACKWARD_EULER, 2}};

typedef struct outcome {
  double worst; /* error over rtol |y| + atol */
  double mass;  /* |sum of y - 1| at the worst instant */
  int64_t steps, rejected;
} outcome;

static outcome solve(const problem *p, const reference *r, const method *m, double rtol,
                     int given) {
  ode_try e;
  outcome out = {0};
  ode_setting is = {p->names, p->rhs, NULL, p->components, 0, {0}, given ? p->jacobian : NULL};
  is.plan = (ode_plan){.kind = m->kind, .variant = m->variant, .adaptive = 1, .order = m->order};
  is.plan.t_end = r->instants[r->instant_count - 1];
  is.plan.rtol = rtol;
  is.plan.atol = p->atol;
  is.plan.saves = r->instant_count;
  is.plan.save_at.at = (void *)(uintptr_t)r->instants;
  ode_try_open(&e, &BACKEND_ref, world, NULL, 1, &is, 1);
  for (int c = 0; c < p->components; c++) *ode_try_y(&e, c, 0) = p->start[c];
  ode_try_run(&e, INT64_MAX);
  const double *saved = e.s.saved.at;
  if (ode_try_status(&e, 0) != ODE_DONE) {
    fail_msg("%s by %s: status %d at %g", p->id, m->name, ode_try_status(&e, 0), ode_try_t(&e, 0));
  }
  for (int i = 0; i < r->count; i++) {
    const reference_row *at = &r->rows[i];
    const double y = saved[at->instant * p->components + at->component - 1];
    const double error = fabs(y - at->value) / (rtol * fabs(at->value) + p->atol);
    if (!(error <= out.worst)) out.worst = error;
  }
  for (int i = 0; i < r->instant_count; i++) {
    double sum = -1.0;
    for (int c = 0; c < p->components; c++) sum += saved[i * p->components + c];
    if (!(fabs(sum) <= out.mass)) out.mass = fabs(sum);
  }
  out.steps = ode_try_steps(&e, 0);
  ode_try_close(&e);
  return out;
}

/* How many tolerances an outcome may be off. */
static double allowed(const problem *p, const method *m, const outcome *o) {
  const int grows = strcmp(p->id, "vdpol1000") == 0 || strcmp(p->id, "allencahn") == 0;
  if (m->kind == ODE_ROSENBROCK) return 100.0;
  return (grows ? 20.0 : 2.0) * (double)o->steps;
}

static void problems(void **state) {
  static reference r;
  static problem p;
  for (int i = 0; i < PROBLEMS; i++) {
    problem_make(i, &p);
    reference_read(*state, p.id, &r);
    for (int j = 0; j < 3 * 2; j++) {
      const method *m = &METHOD[j / 2];
      const int given = j % 2;
      if (given && (p.jacobian[0] == NULL || m->order == 2)) continue; /* many steps: once */
      const double smaller = m->order == 2 ? 0.1 : 0.01;
      const outcome loose = solve(&p, &r, m, 1e-4, given);
      const outcome tight = solve(&p, &r, m, 1e-4 * smaller, given);
      if (!(loose.worst <= allowed(&p, m, &loose) && tight.worst <= allowed(&p, m, &tight))) {
        fail_msg("%s by %s (%d): errors %g and %g times the tolerance", p.id, m->name, given,
                 loose.worst, tight.worst);
      }
      if (loose.worst > 1.0 && !(smaller * tight.worst < 0.5 * loose.worst)) {
        fail_msg("%s by %s (%d): errors %g and %g times the tolerance do not fall", p.id, m->name,
                 given, loose.worst, tight.worst);
      }
    }
  }
}

/* Robertson's masses sum to one: to rounding where columns of the Jacobian sum to zero, and with
 * differences to what those are off. */
static void mass(void **state) {
  static reference r;
  static problem p;
  problem_make(0, &p);
  reference_read(*state, p.id, &r);
  for (int i = 0; i < 3; i++) {
    const outcome given = solve(&p, &r, &METHOD[i], 1e-4, 1);
    const outcome differences = solve(&p, &r, &METHOD[i], 1e-4, 0);
    if (!(given.mass < 1e-14 && differences.mass < 1e-10)) {
      fail_msg("%s: mass off by %g and, with differences, %g", METHOD[i].name, given.mass,
               differences.mass);
    }
  }
}

int main(int argc, char **argv) {
  char path[1024];
  if (reference_find(path, sizeof path) != 0) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(problems, path),
                                     cmocka_unit_test_prestate(mass, path)};
  assert_ok(comm_open(&argc, &argv, &world));
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
