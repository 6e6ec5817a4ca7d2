/* What the result files' own sources and tests share. */
#ifndef RESULT_INTERNAL_H
#define RESULT_INTERNAL_H

#include "h5_span.h"
#include "result_io.h"

/* The root attribute that marks a file as ours, and how its text begins. */
#define RESULT_MARK      "format"
#define RESULT_MARK_TEXT "halosweep result 1"

/* The text of the mark, which is written last: another kind of file may set its own (up to
 * RESULT_MARK_MAX characters) before result_close. Rank 0's counts. Local. */
enum { RESULT_MARK_MAX = 120 };
void result_set_mark(result_file *f, const char *text);

/* This rank's part of any array, as result_vector. Collective. */
status result_span(result_file *f, const char *name, h5_type type, const h5_span *span,
                   const void *values);

/* Whether the existing file at `path` was written by halosweep: an HDF5 result, or text (a vector)
 * whose second line says so. *ours is 0 for anything else, unreadable files included. Local. */
status result_recognise(const char *path, int *ours);

/* Tests: elements per rank and transfer. All ranks alike. Local. */
void result_set_round(result_file *f, int64_t elements);

#endif
