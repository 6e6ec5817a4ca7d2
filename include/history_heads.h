/* The first lines of history files (CSV), and their columns: what one recognises its own files by.
 * Column 0 is a whole number that grows from row to row, the others are real numbers. A family that
 * writes a history adds its heading here. */
#ifndef HISTORY_HEADS_H
#define HISTORY_HEADS_H

/* Linear solves: |b - A x_k| / |b| as the method carries it, and recomputed where it was. */
#define HISTORY_SOLVE "iteration,residual,true_residual"
enum { HISTORY_RESIDUAL = 1, HISTORY_TRUE_RESIDUAL = 2 };

/* Heat: a row per saved time. Columns of probes follow: probe_1, probe_2, ... */
#define HISTORY_HEAT  "step,time,total_heat,minimum,maximum,mean"
#define HISTORY_PROBE ",probe_"

/* All of them. */
#define HISTORY_HEADS                                                                              \
  { HISTORY_SOLVE, HISTORY_HEAT }

#endif
