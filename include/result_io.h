/* Result files (HDF5, written by all ranks). Root attributes: version, format, command, config,
 * report, fingerprint; datasets by absolute name, global and independent of the number of ranks.
 * Collective. Written to a temporary file in the same folder, renamed when complete; an existing
 * file is replaced only if halosweep wrote it. */
#ifndef RESULT_IO_H
#define RESULT_IO_H

#include "comm.h"
#include "dataset.h"
#include "ownership.h"

typedef struct result_file result_file;

#ifdef __cplusplus
extern "C" {
#endif

/* The version of HDF5, "1.14.3". Local. */
void result_library(char out[32]);

/* Before the work: is the folder writable, is an existing file ours (else STATUS_USAGE), is it none
 * of the inputs (same inode; `inputs` ends with NULL, or is NULL)? STATUS_IO when it cannot be
 * written. Also for vectors as text: a text file is ours when a comment line (% or #) within its
 * first 512 bytes says "written by halosweep". A symbolic link is followed and stays a link. */
status result_check(comm *c, const char *path, const char *const *inputs);

/* Before the work: whether two of `outputs` (ends with NULL) are one file, by name or through
 * links: the later would replace the earlier. STATUS_USAGE naming both. */
status result_check_distinct(comm *c, const char *const *outputs);

status result_create(comm *c, const char *path, result_file **out);

/* A new dataset; its handle is *set. What nobody writes reads as zero. */
status result_dataset(result_file *f, const dataset *shape, int *set);

/* This rank's run of it: elements [first, first + count), counted through all dimensions, the last
 * fastest; doubles, int64 or bytes, as its type says. Any number of calls, in any order, each by
 * all ranks (count 0: nothing here): a field with times is written a time at a time. */
status result_run(result_file *f, int set, int64_t first, int64_t count, const void *values);

/* Both in one: this rank's rows [first, first + count) of a table of `rows` x `width` (width 0: a
 * plain vector of `rows`). */
status result_table(result_file *f, const char *name, dataset_type type, int64_t rows,
                    int64_t width, int64_t first, int64_t count, const void *values);

/* This rank's part of a distributed vector of doubles, as dataset `name` ("/solve/x"). */
status result_vector(result_file *f, const char *name, const ownership *owned,
                     const double *values);

/* A root attribute, of any length. Text is the same on all ranks. `format` is written by
 * result_close. */
status result_text(result_file *f, const char *name, const char *text);

/* Make durable, close, rename (keep != 0), or throw away. Always releases *f. */
status result_close(result_file **f, int keep);

/* The root attribute `name` of a result; *text is to be freed with alloc_free. STATUS_INPUT when
 * the file is not a halosweep result. */
status result_read_text(comm *c, const char *path, const char *name, char **text);

/* This rank's part of the dataset `name` of a result; *values is to be freed with alloc_free.
 * STATUS_INPUT when its length is not owned->rows. */
status result_read_vector(comm *c, const char *path, const char *name, const ownership *owned,
                          double **values);

/* The datasets of a result, one line each: "/solve/x 900" (name, elements). *text is to be freed
 * with alloc_free. */
status result_list(comm *c, const char *path, char **text);

/* Whether `path` is a halosweep result (by content); anything else, or nothing, is no failure. */
status result_is_result(comm *c, const char *path, int *yes);

#ifdef __cplusplus
}
#endif

#endif
