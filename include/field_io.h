/* Fields on a grid in files: a run's saved times as VTKHDF ImageData, and any HDF5 dataset of the
 * grid's shape as input. Arrays are (time,) z, y, x, slowest first (time, y, x in 2-D), whole
 * doubles; a rank holds planes [first, first + planes) of the grid's last direction. Collective
 * unless a comment says local; all ranks leave with the same status. docs/file-formats.md shows the
 * layout. */
#ifndef FIELD_IO_H
#define FIELD_IO_H

#include "heat.h"
#include "result_io.h"

/* Points of the grid, and of a plane of its last direction. Local. */
static inline int64_t field_points(const heat_grid *g) { return g->n[0] * g->n[1] * g->n[2]; }
static inline int64_t field_plane(const heat_grid *g) {
  return field_points(g) / g->n[g->dims - 1];
}

#ifdef __cplusplus
extern "C" {
#endif

/* ---- writing ---- */

typedef struct field_file field_file;

enum { FIELD_PLACE = 4096, FIELD_NAME = 256 };

/* Where plane `plane` of the time number `k` begins, bytes from the start of the file: the data are
 * contiguous from FIELD_PLACE on, so a rank's planes of a time are one run. -1: beyond what a file
 * may hold. Local. */
int64_t field_place(const heat_grid *g, int64_t k, int64_t plane);

/* The temporary of a file of saved times. Room for `expected` of them is reserved at once (0: not
 * known; it grows by one time after the other). STATUS_IO. */
status field_create(comm *c, const char *path, const heat_grid *g, int64_t first, int64_t planes,
                    int64_t expected, field_file **out);

/* Time number k: this rank's planes. Any number, once each. After a failure nothing more is done.
 */
status field_save(field_file *f, int64_t k, const double *values);

/* Makes durable what this rank saved so far: before a checkpoint that counts on it. Local. */
status field_sync(field_file *f);

/* The name of the temporary, without its folder: where a run that is killed leaves its times. Owned
 * by f. Local. */
const char *field_partial(const field_file *f);

/* Times [0, count) of an earlier run that this one goes on from, copied to the same numbers: out of
 * its temporary `partial` in the folder of the path, or, where that is gone, out of the file that
 * stands under the path. print[k]: the fingerprint of time k; another one is not taken. *taken: all
 * were found and are there (else none is to be counted on). */
status field_resume(field_file *f, const char *partial, int64_t count, const uint64_t *print,
                    int *taken);

/* Lays the file out around times [0, count), which have been saved; `time`: when they are. What is
 * left to do: result_text and result_table on field_result(). */
status field_finish(field_file *f, int64_t count, const double *time);

/* Local; owned by f. */
result_file *field_result(field_file *f);

/* result_close of it (keep != 0: the file appears), and the temporary that field_resume copied from
 * is removed, unless a process has it open. Always releases *f. */
status field_close(field_file **f, int keep);

/* ---- reading ---- */

typedef struct field_source field_source;

/* Whether the text of an option names a data file: FILE.h5, .hdf5 or .vtkhdf, or one of them and
 * :/DATASET. Local. */
int field_is_file(const char *text);

/* Opens FILE:/DATASET, or FILE.vtkhdf for its PointData/u. The shape is the grid's, (z, y, x), (y,
 * x) or (x), or all three directions; with time in front the last one is meant, or the one asked
 * for by FILE:/DATASET[K], counted from 0. Of VTKHDF the grid must be the same one. STATUS_INPUT
 * naming both shapes. */
status field_open(comm *c, const char *text, const heat_grid *g, field_source **out);

/* The same of a table of rows x width, a row a plane; of one column, (rows) too. Dimensions in
 * front are times only where FILE:/DATASET[K] asks for one. */
status field_open_rows(comm *c, const char *text, int64_t rows, int64_t width, field_source **out);

/* Planes [first, first + planes). Local; STATUS_INPUT. */
status field_planes(field_source *s, int64_t first, int64_t planes, double *values);

/* Local. */
void field_source_close(field_source **s);

#ifdef __cplusplus
}
#endif

#endif
