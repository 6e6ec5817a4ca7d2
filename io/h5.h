/* What result files and checkpoints share of HDF5: quiet errors whose innermost message becomes the
 * text of our failure, no plug-ins, and distributed vectors moved in rounds. */
#ifndef H5_H
#define H5_H

#include <hdf5.h>

#include "comm.h"
#include "ownership.h"

/* Switches off HDF5's printing and its plug-ins. To be called before any other HDF5 call; again
 * does no harm. Local. */
status h5_start(void);

/* Records "PATH: cannot WHAT: innermost HDF5 message" with this code. Local. */
status h5_fail(status code, const char *path, const char *what);

/* An existing file to be written anew by all ranks, or read by all. Collective; the status is this
 * rank's own, *file is negative on failure. */
status h5_create(comm *c, const char *path, hid_t *file);
status h5_open(comm *c, const char *path, hid_t *file);

/* The same file for this rank alone. Local. */
status h5_open_alone(const char *path, unsigned flags, status code, hid_t *file);

/* Elements per rank and transfer: 256 MiB, so that a call stays below MPI-IO's int counts. */
enum { H5_ROUND = 1 << 25 };

/* Writes this rank's part of a vector of doubles as a new contiguous dataset, or reads it from an
 * existing one, in rounds of at most `round` elements per rank. Collective; the status is this
 * rank's own. */
status h5_write_vector(hid_t file, const char *path, const char *name, const ownership *owned,
                       const double *values, int64_t round);
status h5_read_vector(hid_t file, const char *path, const char *name, const ownership *owned,
                      double *values, int64_t round);

/* A root attribute of text, any length (a scalar string of variable length, UTF-8). Local: the file
 * is open for this rank alone. *text is freed with alloc_free. */
status h5_write_text(hid_t file, const char *path, const char *name, const char *text);
status h5_read_text(hid_t file, const char *path, const char *name, char **text);

#endif
