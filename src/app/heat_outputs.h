/* What `heat` records while it runs: at the steps that save_every and save_at ask for, and at the
 * end, a row (step, time, totals, probes) and, with an output file of fields, the field. Looking
 * changes no bit of the run: times are those of steps that are made anyway.
 *
 * Rows travel with the checkpoints; of the fields a checkpoint says how many it counts on, their
 * fingerprints, and the name of the temporary that holds them (field_resume). Collective unless a
 * comment says local. */
#ifndef HEAT_OUTPUTS_H
#define HEAT_OUTPUTS_H

#include "field_io.h"
#include "history.h"
#include "options.h"
#include "scheme.h"

/* A row, in words of 64 bits; doubles by their bits. */
enum {
  ROW_STEP,
  ROW_SLOT, /* number of the field in the file; -1: not there */
  ROW_PRINT,
  ROW_TIME,
  ROW_HEAT,
  ROW_MINIMUM,
  ROW_MAXIMUM,
  ROW_MEAN,
  ROW_PROBES /* as many as there are */
};

enum { HEAT_PROBES = 1000 };

typedef struct heat_outputs {
  int wanted; /* anything is: an output file of fields, a history */
  int64_t every;
  const double *at; /* asked times */
  int times;
  const double *probe; /* [probes][dims] */
  int probes, dims;

  int64_t *words; /* head (probes, dims, places of probes), then rows */
  int64_t rows, room;
  field_file *file; /* NULL: none */
  int64_t fields;   /* in it */
  history *history; /* rank 0's */
  int64_t nothing;  /* what a checkpoint holds where there is nothing */
} heat_outputs;

/* The options against each other and the grid. Local. */
status heat_outputs_check(const options *o, const heat_grid *g);

/* Makes the files' temporaries and gives the run its visitor. Released also after a failure. */
status heat_outputs_open(heat_outputs *out, heat_run *run, const options *o);
void heat_outputs_close(heat_outputs *out); /* local; throws away what was not written */

/* Items of checkpoints (local), and what those of the one gone on from say. */
status heat_outputs_add(heat_outputs *out, struct checkpointing *saving);
status heat_outputs_resume(heat_outputs *out, heat_run *run, const struct checkpointing *saving);

/* After the last step: its row and field, if they are not there yet. */
status heat_outputs_end(heat_outputs *out, heat_run *run);

/* Words of the head, and of a row; row i. Local. */
int64_t heat_outputs_head(const heat_outputs *out);
int64_t heat_outputs_width(const heat_outputs *out);
int64_t *heat_outputs_row(const heat_outputs *out, int64_t i);

/* heat_probes.c: the field at the probes, `values` on all ranks; u: this rank's owned points.
 * Linear in each direction between grid points, whose own values are taken as they are. */
status heat_probes_read(const heat_outputs *out, const heat_run *run, const double *u,
                        double *values);

/* Whether a place lies on the grid. Local. */
int heat_probe_inside(const heat_grid *g, const double *place);

#endif
