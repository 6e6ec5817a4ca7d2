/* The built-in systems, over their registry: shapes, names and initial states; what is said to stay
 * the same along a trajectory does, as well as the tolerance says. And over many periods: verlet's
 * energy stays bounded where that of rk4 drifts away. */
#include "methods.h"
#include "ode_try.h"
#include "systems.h"

enum { INPUTS = 1 + SYSTEM_COMPONENTS + SYSTEM_PARAMETERS, INSTANTS = 400 };

static comm *world;

/* The inputs of a system's functions. */
static int names_of(const ode_system *s, const char *names[INPUTS + 1]) {
  int count = 0;
  names[count++] = "t";
  for (int c = 0; c < s->components; c++) names[count++] = s->component[c];
  for (int k = 0; k < s->parameters; k++) names[count++] = s->parameter[k];
  names[count] = NULL;
  return count;
}

/* `texts` in the names from number `first` on, at the values `in`. */
static void values_of(const ode_system *s, const char *const *texts, int outputs, int first,
                      const double *in, double *out) {
  const char *names[INPUTS + 1], *where[SYSTEM_COMPONENTS];
  formula_input inputs[INPUTS];
  double *to[SYSTEM_COMPONENTS];
  function *f;
  const int count = names_of(s, names);
  for (int i = first; i < count; i++) inputs[i - first] = (formula_input){&in[i], 0};
  for (int c = 0; c < outputs; c++) {
    where[c] = s->name;
    to[c] = &out[c];
  }
  const function_request request = {
      .texts = texts, .where = where, .names = names + first, .outputs = outputs, .plain = 1};
  assert_ok(function_create(world, NULL, &request, &f));
  function_formula(f)->batch(function_formula(f)->context, 1, inputs, to);
  function_release(&f);
}

/* Opens one trajectory of a system from its own start by `m`; *start: the inputs there. */
static void open_system(ode_try *e, const ode_system *s, const ode_method *m, ode_plan plan,
                        double *start) {
  const char *names[INPUTS + 1];
  names_of(s, names);
  ode_setting is = {names, s->rhs, NULL, s->components, s->parameters, plan, NULL};
  is.plan.kind = (int32_t)m->kind;
  is.plan.variant = m->variant;
  is.plan.order = m->error_order;
  is.plan.adaptive = (m->flags & METHOD_FIXED) == 0;
  start[0] = plan.t_start;
  for (int k = 0; k < s->parameters; k++) start[1 + s->components + k] = s->value[k];
  values_of(s, s->initial, s->components, 1 + s->components, start, start + 1);
  ode_try_open(e, &BACKEND_ref, world, NULL, 1, &is, 1);
  for (int c = 0; c < s->components; c++) *ode_try_y(e, c, 0) = start[1 + c];
  for (int k = 0; k < s->parameters; k++) *ode_try_p(e, k, 0) = s->value[k];
}

/* How far the invariant of saved instants [begin, end) is from its value at the start. */
static double drift(const ode_try *e, const ode_system *s, const double *start, int begin,
                    int end) {
  double first, now, most = 0.0, in[INPUTS];
  memcpy(in, start, sizeof in);
  values_of(s, &s->invariant, 1, 0, in, &first);
  for (int i = begin; i < end; i++) {
    in[0] = ((double *)e->plan.save_at.at)[i];
    memcpy(in + 1, (double *)e->s.saved.at + i * s->components, (size_t)s->components * sizeof *in);
    values_of(s, &s->invariant, 1, 0, in, &now);
    if (!(fabs(now - first) <= most)) most = fabs(now - first);
  }
  return most / fmax(fabs(first), 1.0);
}

static void shapes(void **state) {
  (void)state;
  int count = 0;
  for (; ode_system_at(count) != NULL; count++) {
    const ode_system *s = ode_system_at(count);
    double start[INPUTS], slope[SYSTEM_COMPONENTS];
    ode_try e;
    assert_ptr_equal(ode_system_find(s->name), s);
    assert_true(s->help[0] != '\0' && s->source[0] != '\0');
    assert_true(s->components > 0 && s->components <= SYSTEM_COMPONENTS);
    assert_true(s->parameters >= 0 && s->parameters <= SYSTEM_PARAMETERS);
    open_system(&e, s, ode_method_find("rk4"), (ode_plan){.t_end = 1.0, .dt = 1.0}, start);
    values_of(s, s->rhs, s->components, 0, start, slope);
    for (int c = 0; c < s->components; c++)
      assert_true(isfinite(start[1 + c]) && isfinite(slope[c]));
    ode_try_close(&e);
  }
  assert_true(count >= 11);
}

/* Whatever is said of a system's invariant holds, by methods that fit the system. */
static void invariants(void **state) {
  (void)state;
  static double at[INSTANTS];
  int seen = 0;
  for (int i = 0; i < 50; i++) at[i] = 0.4 * (i + 1);
  for (int i = 0; ode_system_at(i) != NULL; i++) {
    const ode_system *s = ode_system_at(i);
    double start[INPUTS], off[2];
    if (s->invariant == NULL) continue;
    seen++;
    for (int k = 0; k < 2; k++) {
      ode_try e;
      ode_plan plan = {.t_end = 20.0, .rtol = k == 0 ? 1e-6 : 1e-9, .saves = 50};
      plan.atol = plan.rtol;
      plan.save_at.at = at;
      const int stiff = (s->flags & SYSTEM_STIFF) != 0;
      open_system(&e, s, ode_method_find(stiff ? "rodas4" : "tsit5"), plan, start);
      ode_try_run(&e, INT64_MAX);
      assert_int_equal(ode_try_status(&e, 0), ODE_DONE);
      off[k] = drift(&e, s, start, 0, 50) / plan.rtol;
      ode_try_close(&e);
    }
    if (!(off[0] < 100.0 && off[1] < 100.0)) {
      fail_msg("%s: its invariant is off by %g and %g tolerances", s->name, off[0], off[1]);
    }
  }
  assert_true(seen >= 5);
}

/* States of systems that have neither an invariant nor a problem of ../shared/references.
 * oregonator: Test set, OREGO, at 360; roessler: two other programs (orders 8 and 5, 1e-13). */
static void known_states(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double t, y[3];
  } known[] = {{"roessler", 10.0, {-0.75474642234483, -3.86771682356657, 0.0288062524510139}},
               {"oregonator", 360.0, {1.000814870318523, 1228.178521549917, 132.0554942846706}}};
  for (int k = 0; k < 2; k++) {
    const ode_system *s = ode_system_find(known[k].name);
    double start[INPUTS];
    ode_try e;
    const ode_plan plan = {.t_end = known[k].t, .rtol = 1e-9, .atol = 1e-12};
    const int stiff = (s->flags & SYSTEM_STIFF) != 0;
    open_system(&e, s, ode_method_find(stiff ? "rodas4" : "tsit5"), plan, start);
    ode_try_run(&e, INT64_MAX);
    assert_int_equal(ode_try_status(&e, 0), ODE_DONE);
    for (int c = 0; c < 3; c++) {
      const double off = *ode_try_y(&e, c, 0) / known[k].y[c] - 1.0;
      if (!(fabs(off) < 1e-6)) fail_msg("%s, component %d: off by %g", s->name, c, off);
    }
    ode_try_close(&e);
  }
}

/* The energy over 200 periods of `steps` steps each, in the first and in the last 20. */
static void energies(const ode_system *s, const char *method, double period, int steps,
                     double *early, double *late) {
  static double at[INSTANTS];
  double start[INPUTS];
  ode_try e;
  ode_plan plan = {.t_end = 200.0 * period, .dt = period / steps, .saves = INSTANTS};
  for (int i = 0; i < INSTANTS; i++) {
    at[i] = (i < INSTANTS / 2 ? 0.0 : 180.0 * period) + (i % (INSTANTS / 2) + 0.5) * 0.1 * period;
  }
  plan.save_at.at = at;
  open_system(&e, s, ode_method_find(method), plan, start);
  ode_try_run(&e, INT64_MAX);
  assert_int_equal(ode_try_status(&e, 0), ODE_DONE);
  *early = drift(&e, s, start, 0, INSTANTS / 2);
  *late = drift(&e, s, start, INSTANTS / 2, INSTANTS);
  ode_try_close(&e);
}

static void bounded(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double period;
  } orbits[] = {{"kepler", 6.283185307179586}, {"pendulum", 2.0866}};
  for (int i = 0; i < 2; i++) {
    const ode_system *s = ode_system_find(orbits[i].name);
    double early, late;
    energies(s, "verlet", orbits[i].period, 100, &early, &late);
    if (!(early < 0.02 && late < 1.05 * early && late > 1e-6)) {
      fail_msg("%s: verlet's energy is off by %g, then by %g", s->name, early, late);
    }
    energies(s, "rk4", orbits[i].period, 30, &early, &late);
    if (!(late > 5.0 * early))
      fail_msg("%s: rk4's energy is off by %g, then %g", s->name, early, late);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shapes), cmocka_unit_test(invariants),
                                     cmocka_unit_test(known_states), cmocka_unit_test(bounded)};
  assert_ok(comm_open(&argc, &argv, &world));
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
