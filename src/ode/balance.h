/* Evening out what is left of an ensemble: whole blocks go to another rank for a round and come
 * home with what has become of them. */
#ifndef BALANCE_H
#define BALANCE_H

#include "ensemble.h"

/* What every rank tells all others when they meet. */
typedef struct ode_standing {
  int64_t unfinished;     /* blocks of its own */
  int64_t asks;           /* it wants all to meet for checkpointing */
  int64_t attempts, done; /* of its own trajectories, so far */
} ode_standing;

/* Blocks that rank `from` lends to rank `to` for a round. */
typedef struct ode_loan {
  int from, to;
  int64_t blocks;
} ode_loan;

/* From what all ranks have: who lends to whom, nobody getting more than `most` blocks; at most
 * `size` loans, the result is how many. None while everybody has enough of its own. Local, the same
 * on every rank. */
int ode_balance(const ode_standing *all, int size, int64_t most, ode_loan *loans);

/* So many blocks are moved in less time than a round takes. Local. */
int64_t ode_balance_most(const ode_plan *plan);

/* Blocks lent to this rank. */
typedef struct ode_guests {
  int64_t blocks;
  int64_t *block; /* [blocks] their numbers */
  ode_rows rows;  /* block after block */
} ode_guests;

/* The loans begin: block[0 ..) are the numbers of those this rank lends, in the order of its loans.
 * The loans end: what was lent comes home, *g is released. Collective. */
status ode_loans_begin(ode_ensemble *e, const ode_loan *loans, int count, const int64_t *block,
                       ode_guests *g);
status ode_loans_end(ode_ensemble *e, const ode_loan *loans, int count, const int64_t *block,
                     ode_guests *g);

/* The guests from number i on whose blocks follow each other, as rows with their true numbers; the
 * result is the number of the first that is not among them. Local. */
int64_t ode_guests_run(const ode_ensemble *e, const ode_guests *g, int64_t i, ode_rows *view);

/* Local. */
void ode_guests_release(ode_guests *g);

#endif
