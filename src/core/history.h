/* The history of a run as CSV, 17 digits: iteration, residual, true_residual. No clock is in it, so
 * equal runs give equal files. Rank 0 writes; on other ranks every call does nothing. Rows go to a
 * temporary file in the same folder, renamed by history_close; a row is held back until the next
 * one, because its true residual may be known later. */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdint.h>

#include "status.h"

typedef struct history history;

/* The first line of every history: how one recognises its own. */
#define HISTORY_HEADER "iteration,residual,true_residual"

/* *out is NULL, and everything else does nothing, where `path` is NULL. Local. */
status history_open(const char *path, history **out);

/* Row k. A residual that was not computed is NaN and leaves an empty field. Local. */
void history_row(history *h, int64_t iteration, double residual);

/* The true residual of iterate k, which must be the latest row or, when it is not there yet, the
 * next. Local. */
void history_true(history *h, int64_t iteration, double residual);

/* Writes what is held back, closes and renames (keep != 0), or throws away. STATUS_IO when any
 * write failed. Always releases. Local. */
status history_close(history **h, int keep);

#endif
