#include "history.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "swap_file.h"

struct history {
  FILE *file; /* NULL: rows are remembered only */
  swap_file swap;
  int failed; /* errno of the first write that failed */
  int columns;
  int held;                        /* a row is waiting */
  int64_t number;                  /* of the held row */
  double row[HISTORY_COLUMNS_MAX]; /* its values, from 1 on */
  int remember;
  double *rows; /* all flushed ones, `columns` numbers each */
  int64_t count, room;
};

static void note_failure(history *h) {
  if (h->failed == 0) h->failed = errno != 0 ? errno : EIO;
}

int history_columns(const char *heading) {
  int columns = 1;
  for (const char *p = heading; *p != '\0'; p++) columns += *p == ',';
  return columns < HISTORY_COLUMNS_MAX ? columns : HISTORY_COLUMNS_MAX;
}

static status create(const char *heading, history **out) {
  status rc = alloc_zeroed(out, 1, sizeof **out, "history");
  if (rc == STATUS_OK) (*out)->columns = history_columns(heading);
  return rc;
}

status history_open(const char *path, const char *heading, history **out) {
  status rc = STATUS_OK;
  history *h = NULL;
  *out = NULL;
  if (path == NULL) return STATUS_OK;
  TRY(create(heading, &h));
  TRY(swap_open(path, &h->swap));
  swap_hold(&h->swap);
  swap_tidy(&h->swap); /* what a killed run left; its rows are in its checkpoints */
  h->file = fdopen(dup(h->swap.descriptor), "w");
  if (h->file == NULL) {
    rc = fail(STATUS_IO, "%s: cannot write the history: %s", path, strerror(errno));
    goto done;
  }
  if (fprintf(h->file, "%s\n", heading) < 0 || fflush(h->file) != 0) note_failure(h);
  *out = h;
  h = NULL;
done:
  history_close(&h, 0);
  return rc;
}

static void put_number(history *h, double value) {
  if (isnan(value)) return;
  if (fprintf(h->file, "%.17g", value) < 0) note_failure(h);
}

/* Appends the held row to the remembered ones. A history that has no memory to grow fails at the
 * next history_rows. */
static void remember_row(history *h) {
  if (h->count == h->room) {
    const int64_t more = 2 * h->room + 256;
    if (alloc_grow(&h->rows, h->room * h->columns, more * h->columns, sizeof *h->rows,
                   "remembered history") != STATUS_OK) {
      h->remember = 0;
      fail_clear();
      return;
    }
    h->room = more;
  }
  double *row = h->rows + h->count * h->columns;
  row[0] = (double)h->number;
  for (int i = 1; i < h->columns; i++) row[i] = h->row[i];
  h->count++;
}

static void flush_row(history *h) {
  if (!h->held) return;
  h->held = 0;
  if (h->remember) remember_row(h);
  if (h->file == NULL) return;
  if (fprintf(h->file, "%lld", (long long)h->number) < 0) note_failure(h);
  for (int i = 1; i < h->columns; i++) {
    if (fputc(',', h->file) == EOF) note_failure(h);
    put_number(h, h->row[i]);
  }
  if (fputc('\n', h->file) == EOF) note_failure(h);
}

/* Makes this row the held one; rows come in ascending order, a repeated number is the same row. */
static void hold(history *h, int64_t number) {
  if (h->held && h->number == number) return;
  flush_row(h);
  h->held = 1;
  h->number = number;
  for (int i = 1; i < h->columns; i++) h->row[i] = NAN;
}

void history_row(history *h, int64_t number, int column, double value) {
  if (h == NULL) return;
  hold(h, number);
  if (isnan(h->row[column])) h->row[column] = value;
}

void history_revise(history *h, int64_t number, int column, double value) {
  if (h == NULL) return;
  hold(h, number);
  h->row[column] = value;
}

void history_forget(history *h, int column) {
  if (h != NULL && h->held) h->row[column] = NAN;
}

int64_t history_last(const history *h) { return h != NULL && h->held ? h->number : -1; }

status history_remember(const char *heading, history **h) {
  status rc = STATUS_OK;
  if (*h == NULL) TRY(create(heading, h));
  (*h)->remember = 1;
done:
  return rc;
}

status history_rows(history *h, const double **rows, int64_t *count) {
  const int64_t before = h->count;
  if (h->held && h->remember) {
    remember_row(h);
    h->count = before; /* still held */
  }
  *rows = h->rows;
  *count = before + h->held;
  if (h->remember) return STATUS_OK;
  return fail(STATUS_UNAVAILABLE, "not enough memory to remember the history");
}

void history_restore(history *h, const double *rows, int64_t count) {
  if (h == NULL) return;
  for (int64_t i = 0; i < count; i++) {
    const double *row = rows + i * h->columns;
    hold(h, (int64_t)row[0]);
    for (int j = 1; j < h->columns; j++) h->row[j] = row[j];
  }
}

status history_close(history **out, int keep) {
  history *h = *out;
  status rc = STATUS_OK;
  if (h == NULL) return STATUS_OK;
  *out = NULL;
  if (h->file != NULL) {
    flush_row(h);
    if (fclose(h->file) != 0) note_failure(h);
    if (keep && h->failed != 0) {
      rc = fail(STATUS_IO, "%s: writing the history failed: %s", h->swap.path, strerror(h->failed));
    }
  }
  if (keep && h->file != NULL && rc == STATUS_OK) {
    rc = swap_commit(&h->swap);
  } else {
    swap_discard(&h->swap);
  }
  alloc_free(&h->rows);
  alloc_free(&h);
  return rc;
}
