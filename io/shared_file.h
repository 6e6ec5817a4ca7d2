/* A file written by all ranks that appears complete or not at all (shared_file.c): the ground of
 * results and checkpoints. Collective unless a comment says local; all ranks leave with the same
 * status. */
#ifndef SHARED_FILE_H
#define SHARED_FILE_H

#include "comm.h"
#include "layout.h"
#include "swap_file.h"

typedef struct shared_file {
  comm *c;
  char *path;       /* the final name */
  swap_file swap;   /* rank 0 */
  layout *layout;   /* rank 0 */
  int descriptor;   /* of the temporary, this rank's own */
  int64_t wanted;   /* bytes, so far; rank 0 */
  int64_t reserved; /* rank 0 */
} shared_file;

/* The temporary, open on all ranks. *f is to be released also after a failure. */
status shared_create(comm *c, const char *path, int64_t user_block, shared_file *f);

/* Reserves room for so many bytes in so many data sets at once: a full disk is found before
 * anything is written. Without it each is reserved as it is added. */
status shared_reserve(shared_file *f, int64_t bytes, int64_t sets);

/* The first data set, at a place (layout_open_at) where it may have been written already. */
status shared_add_at(shared_file *f, const dataset *set, int64_t at);

/* A new data set; *place is for shared_write. */
status shared_add(shared_file *f, const dataset *set, int64_t *place);

/* Attributes of groups; rank 0's. */
status shared_attributes(shared_file *f, const attribute *all, int count);

/* A root attribute; the text is rank 0's. */
status shared_text(shared_file *f, const char *name, const char *text);

/* Local: elements [first, first + count) of the set at `place`, `width` bytes each. */
status shared_write(const shared_file *f, int64_t place, size_t width, int64_t first, int64_t count,
                    const void *data);

/* Local: this rank's bytes so far are on disk; the file stays open. */
status shared_sync(const shared_file *f);

/* Every rank's bytes are on disk: nothing more is written by shared_write. */
status shared_settle(shared_file *f);

/* Local, rank 0, after shared_settle: HDF5's structures. What is left: swap_commit(&f->swap). */
status shared_close(shared_file *f);

/* Local. Throws away what was not committed; accepts a zeroed or released *f. */
void shared_release(shared_file *f);

#endif
