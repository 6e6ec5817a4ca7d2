/* Progress for people, on stderr: a line that rewrites itself on a terminal; elsewhere (mpirun's
 * pipe, a batch log) plain lines, the first, the last, and at most one per 5 s between. Only the
 * rank told to speak prints. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>

typedef enum progress_mode { PROGRESS_OFF, PROGRESS_LINES, PROGRESS_BAR } progress_mode;

typedef struct progress {
  progress_mode mode;
  double next; /* clock before which nothing is printed */
  double began;
  int printed;         /* lines so far */
  int open_line;       /* the bar's line is not ended yet */
  int64_t last;        /* the k printed last */
  const char *what;    /* "iteration", ... */
  const char *measure; /* what its value is: "residual" */
} progress;

/* choice: "off", "on", or "auto": on unless quiet. Local. */
void progress_start(progress *p, const char *choice, int quiet, int speaks, const char *what,
                    const char *measure);

/* At iteration (step, evaluation, ...) k of at most `total` (0: unknown), with the value of the
 * measure (NaN: unknown). Local. */
void progress_step(progress *p, int64_t k, int64_t total, double value);

/* The last line. Local. */
void progress_end(progress *p, int64_t k, double value);

#endif
