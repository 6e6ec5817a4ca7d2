/* Which method suits a matrix: what `method = auto` takes and `inspect` recommends. A function of
 * measured facts alone, so the same on any ranks, threads, backends. Local. */
#ifndef CHOICE_H
#define CHOICE_H

#include "spectrum.h"

enum { CHOICE_TEXT = 1024, CHOICE_STEPS = 8 /* products `auto` spends on looking */ };

typedef struct method_choice {
  const char *method; /* "none": nothing applies */
  const char *next;   /* taken where the method breaks down; NULL: none */
  const char *preconditioner;
  char why[CHOICE_TEXT]; /* the facts */
} method_choice;

void choice_make(const matrix_survey *facts, const spectrum *p, method_choice *out);

/* "not symmetric: a(3,4) = 1 but a(4,3) = 2"; the same length of text as `why` at most. */
void choice_describe_asymmetry(const matrix_survey *facts, char *text, size_t room);

#endif
