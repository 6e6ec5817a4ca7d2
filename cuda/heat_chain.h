/* Lists of stages as chains that one launch can make (heat_chain.c). */
#ifndef HEAT_CHAIN_H
#define HEAT_CHAIN_H

#include "heat_backend.h"

enum { CHAIN_MOST = 16, CHAIN_KEPT = 2 };

/* Stages [from, from + count) of a list. Fields are addresses, NULL: none. */
typedef struct heat_chain {
  int from, count;
  const void *base, *before, *first; /* in memory; before: of the first stage */
  int makes_first;                   /* `first` is what the first stage makes */
  int keeps[CHAIN_KEPT]; /* results that are wanted beside the last one's: the first stage's, the
                            last but one's */
  struct {
    int own_base, terms, swapped; /* heat_part */
  } part[CHAIN_MOST];
} heat_chain;

/* The longest chain of at most `most` stages that begins with stage `from` of a list; of one stage
 * where two make none. */
heat_chain heat_chain_at(const heat_stage *list, int count, int from, int most);

/* Whether what stage i makes is wanted after stage `last` of the list. */
int heat_chain_is_wanted(const heat_stage *list, int count, int i, int last);

#endif
