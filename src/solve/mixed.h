/* Mixed precision: methods whose iterations are made in float on A e = r, and corrected in double:
 * x += e, r = b - A x. One step of the shared driver (stepping.h) is the iterations between two
 * corrections; the residual it is judged by is always the true one.
 *
 * What lives between steps is double and unscaled by floats' range: x, r, and what a method keeps.
 * In a step, r and what is kept are narrowed after multiplication by a power of two that brings |r|
 * to one, so that floats neither over- nor underflow however small the residual has become. */
#ifndef MIXED_H
#define MIXED_H

#include "mixed_backend.h"
#include "stepping.h"

extern const step_method MIXED_CG, MIXED_SWEEPS;

enum { MIXED_FAILURES = 3 }; /* corrections in a row that bring nothing: float is not enough */

/* Where the counts of a run are in stepping.real, so that a restart goes on with them. */
enum { MIXED_CORRECTIONS, MIXED_FAILED, MIXED_OWN };

typedef struct mixed {
  single_matrix *a;
  double scale;      /* power of two: the matrix is (float)(scale A) */
  double boost;      /* of this step: floats are boost * run->scale times the doubles */
  single_vec weight; /* 1 / a_ii of it, times omega for sweeps; data.at NULL: none */
  judged judged;
  solve_state state; /* as last looked at; iteration counts from 0 in each step */
  int64_t issued;
} mixed;

/* The matrix in float, and `weight` (NULL data: none) along with it; refused where a diagonal entry
 * would not be a float. Collective. */
status mixed_open(stepping *t, mixed *m, vec weight);
void mixed_close(stepping *t, mixed *m);

status mixed_vector(linear_system *s, const char *what, single_vec *out);
void mixed_vector_release(linear_system *s, single_vec *v);

/* linear_apply for a float vector. Collective. */
status mixed_apply(linear_system *s, single_vec x, linear_work work, void *context);

const mixed_backend *mixed_kernels(const stepping *t);

/* Starts a step: boost, to = the residual in float, and m->state: converged at `fall` of the
 * residual or where the run is. Local. */
void mixed_begin(stepping *t, mixed *m, single_vec to, double fall);

/* Ends a kernel step of the inner iteration, which nothing but a failure stops; and looks at the
 * verdicts that are due (`drain`: at all). */
status mixed_judge(stepping *t, mixed *m, judge_kind kind);
status mixed_look(stepping *t, mixed *m, int drain);

/* How many inner iterations a step may make that would like `want`; *cut: fewer than that, for the
 * run's limit. */
int64_t mixed_room(const stepping *t, int64_t want, int *cut);

/* x += factor e of this step (factor 1: e as it is). Local. */
void mixed_correct(stepping *t, const mixed *m, double factor, single_vec e);

/* After x was corrected: r = b - A x, and what it says: whether to go on. `falls`: the residual
 * ought to have fallen by now, as it need not in the first sweeps of many. Collective. */
status mixed_end(stepping *t, int falls);

#endif
