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

/* For checkpoints, which carry the rows so far. A row is three numbers: k, residual, true residual.
 *
 * history_remember keeps all rows in memory from now on (24 bytes each); where there is no history
 * it makes one that writes no file. history_rows: those so far, the held one included; owned by h,
 * valid until the next row. history_restore: rows as given, into an empty history; the last is
 * held. history_forget_true: the held row's true residual was not computed after all. Local. */
enum { HISTORY_COLUMNS = 3 };
status history_remember(history **h);
status history_rows(history *h, const double **rows, int64_t *count);
void history_restore(history *h, const double *rows, int64_t count);
void history_forget_true(history *h);

/* Writes what is held back, closes and renames (keep != 0), or throws away. STATUS_IO when any
 * write failed. Always releases. Local. */
status history_close(history **h, int keep);

#endif
