/* What result files and checkpoints share of HDF5: quiet errors whose innermost message becomes the
 * text of our failure, no plug-ins, texts and vectors. Everything here is local: no call waits for
 * another rank (layout.h says why). */
#ifndef H5_H
#define H5_H

#include <hdf5.h>

#include "ownership.h"

/* Switches off HDF5's printing and its plug-ins. To be called before any other HDF5 call; again
 * does no harm. */
status h5_start(void);

/* Records "PATH: cannot WHAT: innermost HDF5 message" with this code. */
status h5_fail(status code, const char *path, const char *what);

/* An existing file, for this rank alone; `code` is what a failure is. */
status h5_open_alone(const char *path, unsigned flags, status code, hid_t *file);

/* Closes what is open of these identifiers (negative: not open). */
void h5_close_all(hid_t *ids, int count);

/* Reads this rank's part of a vector of numbers, which has owned->rows of them. */
status h5_read_vector(hid_t file, const char *path, const char *name, const ownership *owned,
                      double *values);

/* A root attribute of text, any length (a scalar string of variable length, UTF-8). *text is freed
 * with alloc_free. */
status h5_write_text(hid_t file, const char *path, const char *name, const char *text);
status h5_read_text(hid_t file, const char *path, const char *name, char **text);

#endif
