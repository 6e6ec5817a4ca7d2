/* What one step's reduction gathers on a CPU: the exact sums and the counters of solve_state.h, and
 * how they are brought together over ranks. */
#ifndef TALLY_H
#define TALLY_H

#include "backend.h"
#include "solve_state.h"
#include "wide.h"

typedef struct tally {
  int64_t counter[COUNTERS];
  uint32_t used; /* bit i: sum i has been added to; the others are zero */
  wide sum[SUMS_MAX];
} tally;

static inline void tally_add(tally *t, int which, double x) {
  t->used |= UINT32_C(1) << which;
  wide_add(&t->sum[which], x);
}

/* Counters, and the sums in use. */
void tally_clear(tally *t);

/* Sums 0 .. count - 1 and all counters of all ranks' tallies; each sum is rounded once into out,
 * `counter` (may be NULL) receives the counters. Only the words in use travel. Leaves *t carried.
 * Collective. */
status tally_total(comm *c, tally *t, int count, double *out, int64_t *counter);

/* How many sums a judged step of this kind has. */
int tally_sums(judge_kind kind, const solve_state *s);

/* Ends a step: total, then the rule of `kind` on *s. Clears *t. Collective. */
status tally_judge(comm *c, tally *t, judge_kind kind, solve_state *s, int stop);

#endif
