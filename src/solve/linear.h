/* What every driver of linear solves shares: vectors, the matrix apply with its halo exchange, the
 * true residual, scaling, and the look at a device's verdicts that may lag behind.
 *
 * A rank with a local failure does not leave: its failure is kept in system->failure, its kernels
 * are skipped, it keeps exchanging halos and judging, and asks all ranks to stop; the driver's
 * caller agrees on the outcome. Only a failing collective call is returned at once. */
#ifndef LINEAR_H
#define LINEAR_H

#include "solver.h"
#include "transport.h"

/* The system's exchanges, for transport.h. On a rank that has failed, linear_apply goes on with
 * buffers in host memory wherever they were. Local. */
transport_side linear_side(linear_system *s);

/* One matrix operation of a rank on the rows of `p`. */
typedef status (*linear_work)(void *context, part p);

/* pack -> halo_begin -> work(INTERIOR) -> halo_end -> unpack -> work(BOUNDARY). Collective. */
status linear_apply(linear_system *s, vec x, linear_work work, void *context);

/* Fills the ghosts of x. Collective. */
status linear_ghosts(linear_system *s, vec x);

/* y = A x. Collective. */
status linear_product(linear_system *s, vec x, vec y);

/* r = b - A x (r.data.at NULL: not stored); norm[0] = |scale r|, norm[1] = |scale |A||x||. A
 * residual too small or too large for `scale` is normed with a scale of its own.
 * Collective. */
status linear_residual(linear_system *s, vec x, vec b, vec r, double scale, double norm[2]);

/* out[k] = sum of (scale x[k]_i)(scale y_i), any count, SUMS_MAX in a reduction. linear_redo: one
 * of them that came out of range, with a scale of its own. Collective. */
status linear_dots(linear_system *s, int count, const vec *x, vec y, double scale, double *out);
status linear_redo(linear_system *s, vec x, vec y, double scale, double *sum);

/* Both: a dot that keeps its digits, as far as its value times scale^2 is a double. Collective. */
status linear_dot(linear_system *s, vec x, vec y, double scale, double *out);

/* |scale x|, redone with its own maximum where that loses digits. Collective. */
status linear_norm(linear_system *s, vec x, double scale, double *norm);

/* Largest |x_i| over all ranks; infinite when an entry is not finite. Collective. */
status linear_max_abs(linear_system *s, vec x, double *out);

/* A vector of zeros, ghosts included. Local. */
status linear_vector(linear_system *s, const char *what, vec *out);
void linear_vector_release(linear_system *s, vec *v);

/* Owned entries from and to host memory. Local. */
status linear_load(linear_system *s, vec to, const double *from);
status linear_store(linear_system *s, double *to, vec from);

/* Host clock charged to `p` from now on. Local. */
void linear_phase(linear_system *s, int p);

/* Before sums over ranks: the clock is charged to communication, but for a rank that is alone, who
 * waits for nothing but its device. Local. */
void linear_meet(linear_system *s);

/* 2^-e for the exponent e of `largest`; 1 for 0 and for what is not finite. Local. */
double linear_scale_for(double largest);

/* value * 2^(2 log2(to / from)): a product of two scaled values moved to another scale. Local. */
double linear_rescale_square(double value, double from, double to);

/* ---- the parts of a run ---- */

/* Scale, |b| and |r0| of a run (r is work space and receives r0). Collective. */
status solve_begin(solve_run *run, vec r);

/* A state that starts at iterate k, its sums scaled by `scale` (run->scale unless that loses
 * digits). Local. */
solve_state solve_state_at(const solve_run *run, int64_t k, double scale);

/* |r| / |b| of a state. Local. */
double solve_relative(const solve_run *run, const solve_state *s);

/* Moves a state to another scale. Local. */
void solve_rescale(const solve_run *run, solve_state *s, double scale);

typedef struct judged {
  dptr state;
  int64_t issued, looked; /* judged steps since the state was copied in */
} judged;

status judged_open(linear_system *s, judged *j);
void judged_release(linear_system *s, judged *j);

/* Starts counting steps again from the state given. Local. */
status judged_start(linear_system *s, judged *j, const solve_state *state);

/* Ends a step. Collective. */
status judged_step(solve_run *run, judged *j, judge_kind kind);

/* True when a look is due: the host is as far ahead as it may be, or `drain` and any step is left.
 */
int judged_due(const linear_system *s, const judged *j, int drain);

/* The next state not looked at yet. Local. */
status judged_look(linear_system *s, judged *j, solve_state *out);

/* The verdict on x_k by its true residual: convergence first, then divergence, then round-off.
 * VERDICT_NONE, CONVERGED, DIVERGED, NOT_FINITE or REPEATS (round-off: stagnated). Notes the true
 * residual in the history. r as in linear_residual. Collective. */
status solve_check(solve_run *run, vec x, vec r, int64_t k, verdict *out);

/* A verdict that ends a run, as a reason. Local. */
solve_reason solve_reason_of(verdict v);

#endif
