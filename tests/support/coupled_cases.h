/* Coupled systems for tests of kernels: every kind of edge, one field to three, reaches far and
 * across, formulas of t, i, j, n and m, conditions, sums over all points; sizes that leave near
 * points (coupled_args.h) beside far ones, and some that leave none. */
#ifndef COUPLED_CASES_H
#define COUPLED_CASES_H

#include "coupled_try.h"

static const coupled_system CASE_WIDE = {
    .name = "wide ring",
    .dims = 1,
    .edge = COUPLED_PERIODIC,
    .derivative = {{"u", "u[-7]*v[12] - 0.3*u[2] + 0.1*cos(t)"}, {"v", "u[1] - v[-1] + u*v"}},
    .initial = {{"u", "sin(0.37*i)"}, {"v", "cos(i*i/n)"}}};

static const coupled_system CASE_ACROSS = {
    .name = "across",
    .dims = 2,
    .edge = COUPLED_COPY,
    .derivative = {{"u", "0.1*u[-1,2] + 0.5*u[2,-1]*u[1,0] - u*j/m + (i < 9 ? t : 0.01*i/n)"}},
    .initial = {{"u", "sin(0.3*i)*cos(0.2*j)"}}};

static const coupled_system CASE_THREE = {
    .name = "three fields",
    .dims = 2,
    .edge = COUPLED_ZERO,
    .derivative = {{"a", "b[1,0] - b[-1,0] + exp(-a*a)"},
                   {"b", "c[0,1] - c[0,-1] - rate*b"},
                   {"c", "a[1,1] - a[-1,-1] + c[0,0]*b"}},
    .initial = {{"a", "sin(0.3*i + j)"}, {"b", "0.01*j"}, {"c", "cos(i*j)"}},
    .parameter = {{"rate", 0.7}}};

static const coupled_system CASE_ALL = {
    .name = "all with all",
    .dims = 1,
    .edge = COUPLED_COPY,
    .derivative = {{"x", "v + 0.1*mean"}, {"v", "pull - x + 0.2*(x[1] - x[-1])"}},
    .initial = {{"x", "sin(1.3*i)"}, {"v", "cos(0.7*i)"}},
    .sum = {{"pull", "(x[k] - x)*exp(-(x[k] - x)^2)"}, {"mean", "x[k]/n + (k == i ? t : 1e-3*i)"}}};

typedef struct coupled_case {
  const coupled_system *system; /* NULL: the registered one of this name */
  const char *name;
  gidx n, m;
  int at_once; /* points of a thread where that can be chosen */
} coupled_case;

static const coupled_case COUPLED_CASES[] = {{NULL, "lorenz96", 5000, 0, 4},
                                             {NULL, "rc-ladder", 4500, 0, 2},
                                             {NULL, "reaction-diffusion", 41, 53, 4},
                                             {&CASE_WIDE, NULL, 2003, 0, 1},
                                             {&CASE_ACROSS, NULL, 67, 40, 2},
                                             {&CASE_THREE, NULL, 300, 5, 1},
                                             {&CASE_ALL, NULL, 777, 0, 1},
                                             {NULL, "n-body", 300, 0, 1},
                                             {NULL, "lorenz96", 3, 0, 4},
                                             {NULL, "heat1d", 2, 0, 4}};
enum { COUPLED_CASE_COUNT = sizeof COUPLED_CASES / sizeof *COUPLED_CASES };

/* Opened, with its ghosts. dt > 0: steps of that length. */
static inline void coupled_case_open(coupled_try *e, const backend *b, comm *c, int threads,
                                     const coupled_case *is, const char *method, double t_end,
                                     double dt) {
  coupled_try_start(e, b, c, NULL, threads, is->name != NULL ? is->name : "lorenz96", is->n, method,
                    t_end, dt);
  e->run.m = is->m;
  if (is->system != NULL) {
    e->run.system = is->system;
    for (int k = 0; k < coupled_parameters(is->system); k++) {
      e->parameter[k] = is->system->parameter[k].value;
    }
  }
  coupled_try_open(e);
  assert_ok(linear_ghosts(&e->run.space, e->run.y));
}

static inline const char *coupled_case_name(const coupled_case *is) {
  return is->name != NULL ? is->name : is->system->name;
}

static inline int coupled_case_sums(const coupled_try *e) { return e->run.layout.sums > 0; }

#endif
