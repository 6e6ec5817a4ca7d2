/* Ensembles that meet every way through ode_march.h: all explicit methods, fixed and adaptive,
 * events, instants to be saved, shared parameters, blow-ups, functions with several ways, time that
 * runs backwards, systems of one and of many components. For tests that one way of advancing
 * trajectories is as good as another. */
#ifndef ODE_CASES_H
#define ODE_CASES_H

#include <stdio.h>

#include "ode_tableau.h"
#include "ode_try.h"

enum { ODE_CASE_MANY = 20 /* components: more than stay in registers */ };

/* One case: `count` trajectories, started by ode_case_fill(); noise: NULL, or ode_try_open_noisy's.
 */
typedef void ode_case_run(const ode_setting *is, const char *const *noise, int64_t count,
                          const char *what);

static inline ode_plan ode_case_plan(int kind, int variant, int adaptive) {
  static double saves[] = {0.0, 0.05, 0.1, 0.3333, 0.5, 0.9999, 1.0};
  ode_plan p = {.kind = kind, .variant = variant, .adaptive = adaptive, .order = 5};
  p.t_end = 1.0;
  p.dt = adaptive ? 0.0 : 0.0011;
  p.rtol = 1e-6;
  p.atol = 1e-9;
  p.save_at.at = saves;
  return p;
}

static inline void ode_case_fill(ode_try *e) {
  for (int64_t i = 0; i < e->s.count; i++) {
    const double s = (double)i / 100.0;
    for (int c = 0; c < e->plan.components; c++) {
      *ode_try_y(e, c, i) = c == 0 ? 1.0 + s : c == 1 ? 1.0 - s : 0.5 * s + 0.01 * (c - 2);
    }
    if (e->plan.parameters > 0) *ode_try_p(e, 0, i) = 20.0 + (double)(i % 17);
  }
}

/* Lorenz-96. */
static inline void ode_case_many(ode_case_run *run, int variant, int adaptive) {
  static char text[ODE_CASE_MANY][80], name[ODE_CASE_MANY][8];
  static const char *texts[ODE_CASE_MANY], *names[ODE_CASE_MANY + 3] = {"t"};
  enum { N = ODE_CASE_MANY };
  for (int i = 0; i < N; i++) {
    snprintf(name[i], sizeof name[i], "x%d", i);
    snprintf(text[i], sizeof text[i], "(x%d - x%d)*x%d - x%d + F/4", (i + 1) % N, (i + N - 2) % N,
             (i + N - 1) % N, i);
    names[1 + i] = name[i];
    texts[i] = text[i];
  }
  names[1 + N] = "F";
  names[2 + N] = NULL;
  ode_setting is = {names, texts, NULL, N, 1, ode_case_plan(ODE_RUNGE_KUTTA, variant, adaptive),
                    NULL};
  is.plan.saves = 7;
  run(&is, NULL, 33, adaptive ? "many components, adaptive" : "many components");
}

/* few: not all of them. */
static inline void ode_cases_of_three(ode_case_run *run, int variant, int adaptive, int few) {
  static const int64_t counts[] = {1, 31, 32, 127, 129, 257};
  static const char *const names[] = {"t", "x", "y", "z", "r", NULL};
  static const char *const texts[][3] = {
      {"10*(y - x)", "x*(r - z) - y", "x*y - 8/3*z"},
      {"y", "-x - 0.2*y + cos(1.5*t)*r/28", "1/(1 + t) - z"},
      {"x*x*r/28", "-y", "sin(t)"},
      {"sin(40*y) - x", "exp(-x) - tan(x/9)", "r*cos(z) + x^1.5"}};
  for (int system = 0; system < 4; system++) {
    char what[100];
    if (few && (adaptive ? system % 2 == 1 : system == 0)) continue;
    ode_setting is = {
        names, texts[system], NULL, 3, 1, ode_case_plan(ODE_RUNGE_KUTTA, variant, adaptive), NULL};
    if (system == 1 || (system == 0 && adaptive)) is.event = system == 1 ? "x - 1.3" : "y - 20";
    if ((variant + system) % 2 == 1) is.plan.saves = 7;
    snprintf(what, sizeof what, "method %d, adaptive %d, system %d", variant, adaptive, system);
    run(&is, NULL, counts[(2 * variant + system + adaptive) % 6], what);
  }
}

/* Stiff methods: a Jacobian of the system's, or differences; singular where x = y = 0. */
static inline void ode_cases_stiff(ode_case_run *run, int few) {
  static const char *const names[] = {"t", "x", "y", "z", "r", NULL};
  static const char *const robertson[] = {"-0.04*x + 1e4*y*z", "0.04*x - 1e4*y*z - r*1e6*y^2",
                                          "r*1e6*y^2"};
  static const char *const jacobian[] = {"-0.04",  "1e4*z", "1e4*y",   "0.04", "-1e4*z - r*2e6*y",
                                         "-1e4*y", "0",     "r*2e6*y", "0"};
  static const char *const driven[] = {"y", "100*(1 - x*x)*y - x + cos(t)*r", "1/(1 + t) - z"};
  static const int kinds[] = {ODE_ROSENBROCK, ODE_IMPLICIT, ODE_IMPLICIT};
  static const int variants[] = {0, ODE_TR_BDF2, ODE_BACKWARD_EULER}, orders[] = {4, 3, 2};
  for (int method = 0; method < 3; method++) {
    for (int system = 0; system < 2; system++) {
      char what[100];
      const int adaptive = (method + system) % 2 == 0 || few;
      if (few && system != (method == 0 ? 0 : 1)) continue;
      if (few && method == 2) continue;
      ode_setting is = {names, system ? driven : robertson,
                        NULL,  3,
                        1,     ode_case_plan(kinds[method], variants[method], adaptive),
                        NULL};
      is.plan.order = orders[method];
      is.plan.rtol = method == 2 ? 1e-2 : 1e-4; /* few steps */
      if (!adaptive) is.plan.dt = 0.02;
      if (system == 0) is.jacobian = jacobian;
      if (system == 1) is.event = "z - 0.6";
      if (method != 1) is.plan.saves = 7;
      snprintf(what, sizeof what, "stiff method %d, adaptive %d, system %d", method, adaptive,
               system);
      run(&is, NULL, 67, what);
    }
  }
}

/* Noise: diagonal with derivatives, general without and with them, events and saved instants. */
static inline void ode_cases_noisy(ode_case_run *run) {
  static const char *const names[] = {"t", "x", "y", "r", NULL};
  static const char *const rhs[] = {"-0.5*x + r/50", "x - y*x"};
  static const char *const diagonal[] = {"0.3*x*t", "0.2*sqrt(1 + y*y)"};
  static const char *const general[] = {"0.3*x", "0.1*x", "-0.1*x", "0.2*y", "-0.4*y", "0.1*y"};
  for (int form = 0; form < 4; form++) {
    const int is_diagonal = form == 0;
    char what[40];
    ode_setting is = {.names = names, .rhs = rhs, .components = 2, .parameters = 1};
    is.plan = ode_case_plan(ODE_NOISY, form < 2 ? ODE_MILSTEIN : ODE_EULER_MARUYAMA, 0);
    is.plan.dt = 1.0 / (form == 3 ? 91.0 : 288.0);
    is.plan.noises = is_diagonal ? 2 : 3;
    is.plan.diagonal = is_diagonal;
    is.plan.stratonovich = form == 2;
    is.plan.antithetic = form == 0;
    is.plan.seed = 11;
    is.plan.saves = form % 2 == 0 ? 7 : 0;
    if (form == 2) is.event = "x - 1.5";
    snprintf(what, sizeof what, "noise %d", form);
    run(&is, is_diagonal ? diagonal : general, 65, what);
  }
}

/* All of them; `few`: a choice, for tests to whom each costs a compilation. */
static inline void ode_cases(ode_case_run *run, int few) {
  static double common[] = {2.5, 0.75};
  static const char *const shared_names[] = {"t", "x", "a", "b", "r", NULL};
  static const char *const shared[] = {"a*sin(t) - b*x + r/30"};
  static const char *const spring_names[] = {"t", "x", "v", "r", NULL};
  static const char *const spring[] = {"v", "-r*x + 0*t"};
  for (int variant = ODE_EULER; variant <= ODE_TSIT5; variant++) {
    if (!few || variant == ODE_RK4) ode_cases_of_three(run, variant, 0, few);
    if (variant == ODE_TSIT5 || (!few && variant == ODE_DOPRI5)) {
      ode_cases_of_three(run, variant, 1, few);
    }
  }
  for (int adaptive = 0; adaptive < 2; adaptive++) {
    const int variant = adaptive ? ODE_TSIT5 : ODE_RK4;
    ode_setting one = {
        shared_names, shared, NULL, 1, 1, ode_case_plan(ODE_RUNGE_KUTTA, variant, adaptive), NULL};
    one.plan.shared = 2;
    one.plan.common.at = common;
    one.plan.t_start = 1.0;
    one.plan.t_end = -0.7;
    if (!adaptive) one.plan.dt = -0.003;
    one.plan.max_steps = adaptive ? 12 : 500; /* not enough */
    run(&one, NULL, 65, adaptive ? "backwards, adaptive" : "backwards");
    if (!few || !adaptive) ode_case_many(run, variant, adaptive);
  }
  ode_setting two = {spring_names, spring, NULL, 2, 1, ode_case_plan(ODE_VERLET, 0, 0), NULL};
  two.plan.saves = 7;
  run(&two, NULL, 65, "verlet");
  ode_cases_stiff(run, few);
}

static inline void ode_case_compare(const ode_try *a, const ode_try *b, const char *what) {
  const int64_t count = a->s.count, n = a->plan.components;
  for (int64_t i = 0; i < count; i++) {
    const int64_t *steps[] = {a->s.attempts.at, b->s.attempts.at, a->s.rejected.at,
                              b->s.rejected.at};
    int differ = ode_try_status(a, i) != ode_try_status(b, i) || steps[0][i] != steps[1][i] ||
                 steps[2][i] != steps[3][i] || bits_of(ode_try_t(a, i)) != bits_of(ode_try_t(b, i));
    for (int c = 0; c < n; c++) {
      differ |= bits_of(*ode_try_y(a, c, i)) != bits_of(*ode_try_y(b, c, i));
    }
    for (int64_t k = 0; k < a->plan.saves * n; k++) {
      const double x = ((double *)a->s.saved.at)[k * count + i];
      const double y = ((double *)b->s.saved.at)[k * count + i];
      differ |= (x == x || y == y) && bits_of(x) != bits_of(y);
    }
    if (!differ) continue;
    fail_msg("%s: trajectory %d of %d: status %d %d, t %.17g %.17g, attempts %lld %lld, first "
             "component %.17g %.17g",
             what, (int)i, (int)count, ode_try_status(a, i), ode_try_status(b, i), ode_try_t(a, i),
             ode_try_t(b, i), (long long)steps[0][i], (long long)steps[1][i], *ode_try_y(a, 0, i),
             *ode_try_y(b, 0, i));
  }
}

#endif
