/* A plain file written by all ranks, each its own bytes at places it knows, that appears complete
 * or not at all. Functions are collective unless they say local; all ranks leave with the same
 * status.
 */
#ifndef PLACED_FILE_H
#define PLACED_FILE_H

#include "comm.h"
#include "swap_file.h"

enum { PLACED_NAME = 4096 };

typedef struct placed_file {
  comm *c;
  const char *path;       /* the caller's */
  swap_file swap;         /* rank 0 */
  char name[PLACED_NAME]; /* of the temporary */
  int descriptor;         /* of the temporary, this rank's own */
} placed_file;

/* The temporary, with `head` in front, open on all ranks. An existing file is replaced only if
 * halosweep wrote it: else STATUS_USAGE. *f is to be released also after a failure. */
status placed_create(comm *c, const char *path, const void *head, int64_t bytes, placed_file *f);

/* Local. */
status placed_write(const placed_file *f, const void *data, int64_t bytes, int64_t at);

/* All bytes are durable, then the file is there. `mine`: how this rank's writing went. */
status placed_commit(placed_file *f, status mine);

/* Throws away what was not committed. Local. */
void placed_release(placed_file *f);

#endif
