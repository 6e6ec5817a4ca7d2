/* The stiff problems of references/ode_problems.tsv as texts, for tests; equations and sources are
 * there. */
#ifndef ODE_STIFF_PROBLEMS_H
#define ODE_STIFF_PROBLEMS_H

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PROBLEM_LARGEST = 64, PROBLEMS = 9 };

typedef struct problem {
  const char *id;
  const char *names[PROBLEM_LARGEST + 2], *rhs[PROBLEM_LARGEST];
  const char *jacobian[9]; /* NULL: differences only */
  int components;
  double start[PROBLEM_LARGEST], atol;
} problem;

static const problem SMALL_PROBLEMS[] = {
    {"robertson",
     {"t", "y1", "y2", "y3"},
     {"-0.04*y1 + 1e4*y2*y3", "0.04*y1 - 1e4*y2*y3 - 3e7*y2*y2", "3e7*y2*y2"},
     {"-0.04", "1e4*y3", "1e4*y2", "0.04", "-1e4*y3 - 6e7*y2", "-1e4*y2", "0", "6e7*y2", "0"},
     3,
     {1.0},
     1e-13},
    {"vdpol1000",
     {"t", "y1", "y2"},
     {"y2", "1000*(1 - y1*y1)*y2 - y1"},
     {"0", "1", "-2000*y1*y2 - 1", "1000*(1 - y1*y1)"},
     2,
     {2.0},
     1e-9},
    {"hires",
     {"t", "y1", "y2", "y3", "y4", "y5", "y6", "y7", "y8"},
     {"-1.71*y1 + 0.43*y2 + 8.32*y3 + 0.0007", "1.71*y1 - 8.75*y2",
      "-10.03*y3 + 0.43*y4 + 0.035*y5", "8.32*y2 + 1.71*y3 - 1.12*y4",
      "-1.745*y5 + 0.43*y6 + 0.43*y7", "-280*y6*y8 + 0.69*y4 + 1.71*y5 - 0.43*y6 + 0.69*y7",
      "280*y6*y8 - 1.81*y7", "-280*y6*y8 + 1.81*y7"},
     {NULL},
     8,
     {1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057},
     1e-10},
    {"curtiss", {"t", "y1"}, {"-50*(y1 - cos(t))"}, {"-50"}, 1, {0.0}, 1e-9},
    {"prothero", {"t", "y1"}, {"-1e6*(y1 - cos(t)) - sin(t)"}, {"-1e6"}, 1, {1.0}, 1e-9},
    {"decay50", {"t", "y1"}, {"-50*y1"}, {NULL}, 1, {1.0}, 1e-9},
    {"linstiff",
     {"t", "y1", "y2"},
     {"998*y1 + 1998*y2", "-999*y1 - 1999*y2"},
     {"998", "1998", "-999", "-1999"},
     2,
     {1.0, 0.0},
     1e-9},
};

/* A chain of n cells with zero beyond its ends: y_i' = scale (y_{i-1} - 2 y_i + y_{i+1}) + more,
 * where `more` is printed with i, three times at most. The texts live in static memory. */
static inline void problem_chain(problem *p, const char *id, int n, const char *scale,
                                 const char *more) {
  static char names[2][PROBLEM_LARGEST][8], texts[2][PROBLEM_LARGEST][100];
  static int made;
  const int here = made++ % 2;
  memset(p, 0, sizeof *p);
  p->id = id;
  p->components = n;
  p->atol = 1e-9;
  p->names[0] = "t";
  for (int i = 0; i < n; i++) {
    char left[16] = "0", right[16] = "0", rest[40];
    if (i > 0) snprintf(left, sizeof left, "y%d", i);
    if (i + 1 < n) snprintf(right, sizeof right, "y%d", i + 2);
    snprintf(names[here][i], sizeof names[here][i], "y%d", i + 1);
    snprintf(rest, sizeof rest, more, i + 1, i + 1, i + 1, i + 1);
    snprintf(texts[here][i], sizeof texts[here][i], "%s*(%s - 2*y%d + %s)%s", scale, left, i + 1,
             right, rest);
    p->names[1 + i] = names[here][i];
    p->rhs[i] = texts[here][i];
  }
}

/* Problem number i of PROBLEMS. */
static inline void problem_make(int i, problem *p) {
  const double pi = 3.14159265358979323846;
  if (i < 7) {
    *p = SMALL_PROBLEMS[i];
  } else if (i == 7) {
    problem_chain(p, "heatmol", 49, "2500", "");
    for (int j = 0; j < 49; j++) {
      const double x = pi * (j + 1) / 50.0;
      p->start[j] = sin(x) + 0.5 * sin(5.0 * x);
    }
  } else {
    problem_chain(p, "allencahn", 63, "10.24", " + y%d - y%d*y%d*y%d");
    for (int j = 0; j < 63; j++) {
      const double x = pi * (j + 1) / 64.0;
      p->start[j] = 0.4 * sin(2.0 * x) + 0.3 * sin(3.0 * x);
    }
  }
}

#endif
