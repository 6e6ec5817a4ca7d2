/* The history of a run as CSV, 17 digits: a row per iteration, step or refinement, whose columns
 * its heading names (history_heads.h). No clock is in it, so equal runs give equal files. Rank 0
 * writes; on other ranks, where the history is NULL, every call does nothing. Rows go to a
 * temporary file in the same folder, renamed by history_close; a row is held back until the next
 * one, because some of its values may be known later. Local. */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdint.h>

#include "history_heads.h"
#include "status.h"

typedef struct history history;

enum { HISTORY_COLUMNS_MAX = 1024 };

/* Columns of a heading, the number of the row included. */
int history_columns(const char *heading);

/* *out is NULL where `path` is NULL. */
status history_open(const char *path, const char *heading, history **out);

/* A value of row `number`, which is the latest row or, when it is not there yet, the next. The
 * first value stands when a row is told again; NaN (not computed) leaves an empty field. */
void history_row(history *h, int64_t number, int column, double value);

/* The same, in place of what was there. */
void history_revise(history *h, int64_t number, int column, double value);

/* A value of the latest row was not computed after all. */
void history_forget(history *h, int column);

/* The number of the latest row; -1: there is none. */
int64_t history_last(const history *h);

/* For checkpoints, which carry the rows so far, history_columns() numbers each.
 *
 * history_remember keeps all rows in memory from now on (8 bytes a column and row); where there is
 * no history it makes one that writes no file. history_rows: those so far, the held one included;
 * owned by h, valid until the next row. history_restore: rows as given, into an empty history; the
 * last is held. */
status history_remember(const char *heading, history **h);
status history_rows(history *h, const double **rows, int64_t *count);
void history_restore(history *h, const double *rows, int64_t count);

/* Writes what is held back, closes and renames (keep != 0), or throws away. STATUS_IO when any
 * write failed. Always releases. */
status history_close(history **h, int keep);

#endif
