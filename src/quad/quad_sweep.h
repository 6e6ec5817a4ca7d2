/* Sweeps of quadrature: one integral per member of a family of integrands. Members are split over
 * ranks in blocks, and no rank holds more than its own; each has a value, an error estimate, an
 * ending and a number of evaluations. */
#ifndef QUAD_SWEEP_H
#define QUAD_SWEEP_H

#include "ownership.h"
#include "quad_run.h"
#include "sweep.h"

typedef struct quad_results {
  double *value, *error;
  int64_t *evaluations;
  unsigned char *reason; /* quad_reason */
} quad_results;

/* Of results, a member. */
enum { QUAD_MEMBER_BYTES = 25 };

typedef struct quad_sweep {
  const sweep *swept;
  int fixed_count; /* run->integral.parameters: so many, then room for the swept ones */
  int keep;        /* keep the results of this rank's members in `mine` */

  /* results; the counts are of all ranks */
  ownership owned;   /* of members */
  quad_results mine; /* [this rank's members] where kept, released by quad_sweep_release */
  int64_t ended[QUAD_REASONS];
  int64_t failures;     /* members whose ending is a failure ... */
  int64_t first_failed; /* ... and the lowest of them */
  quad_reason first_reason;
  uint64_t fingerprint;
} quad_sweep;

/* Runs `rule` for every member. run->evaluations counts them all; run->reason is converged or
 * fixed_count when no member failed. Failing members harm no others. Collective. */
status quad_sweep_run(quad_run *run, const quad_rule *rule, quad_sweep *s);
void quad_sweep_release(quad_sweep *s);

#endif
