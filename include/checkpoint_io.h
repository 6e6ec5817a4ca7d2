/* Checkpoint files (HDF5, written and read by all ranks) and their folder.
 *
 * A checkpoint is a set of items: named arrays, distributed in runs of global indices or held alike
 * by all ranks. The file does not depend on the number of ranks, and any number reads it. Every
 * item has a CRC-32C per block of global indices under /checksums; the mark in the user block,
 * written last, closes the file and seals items, names, sizes and checksums (docs/file-formats.md).
 *
 * The functions of the first half are collective; a failure is the same status on all ranks, and
 * its text is recorded on all of them but printed by none: the caller decides whether a damaged
 * file is an error or is passed over. Those of the second half are local, for the one rank that
 * handles the folder. */
#ifndef CHECKPOINT_IO_H
#define CHECKPOINT_IO_H

#include "comm.h"
#include "dataset.h"

typedef enum checkpoint_type {
  CHECKPOINT_F64 = DATASET_F64,
  CHECKPOINT_I64 = DATASET_I64,
  CHECKPOINT_BYTES = DATASET_BYTES
} checkpoint_type;

typedef struct checkpoint_item {
  const char *name; /* "/solve/x" */
  checkpoint_type type;
  int replicated;       /* every rank has all of it; rank 0's is written */
  int64_t length;       /* elements, over all ranks */
  int64_t first, count; /* this rank's run of them (not for replicated ones) */
  /* Where it lies: `data`, or where `move` takes it from (to_file) and puts it. */
  void *data;
  status (*move)(void *context, void *buffer, int to_file);
  /* Distributed items whose length in a file may be another: called before its content is read,
   * with that length, to set first, count, and where it goes (data; move NULL). NULL: it must be
   * the same. Local. */
  status (*resize)(void *context, struct checkpoint_item *item, int64_t length);
  void *context;
} checkpoint_item;

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of one element. Local. */
size_t checkpoint_size(checkpoint_type type);

/* Writes all items to `path`: temporary file, checksums, seal, fsync, rename. `buffer` has room for
 * the largest part of an item with `move`. STATUS_IO: nothing is left of the file, what stood there
 * before still stands. */
status checkpoint_write(comm *c, const char *path, const checkpoint_item *items, int count,
                        void *buffer);

/* Reads all items (the same set that was written) and proves the file whole: format, names, types,
 * sizes, checksums, seal. A replicated item gets `length` and an array at `data` of its own, to be
 * freed with alloc_free; a distributed one without `resize` must have its length in the file.
 * STATUS_IO when the file is damaged or of another version: the items' memory is then not to be
 * used. */
status checkpoint_read(comm *c, const char *path, checkpoint_item *items, int count, void *buffer);

/* Whether `path` carries the mark of a checkpoint, whole or damaged; nothing there is no failure.
 */
status checkpoint_recognise(comm *c, const char *path, int *yes);

/* One replicated item of bytes as text (freed with alloc_free), checked by its checksum only. */
status checkpoint_text(comm *c, const char *path, const char *name, char **text);

/* Leaves all ranks with the status and the recorded text of the lowest failing rank. */
status checkpoint_settle(comm *c, status mine);

/* ---- local ---- */

enum { CHECKPOINT_PATH = 4096 };

/* The name of checkpoint `number` of FILE: ck.h5 gives ck.000200.h5. */
status checkpoint_path(const char *file, int64_t number, char out[CHECKPOINT_PATH]);

/* The numbers of the checkpoints there are, descending; freed with alloc_free. */
status checkpoint_list(const char *file, int64_t **numbers, int64_t *count);

/* Whether `path` is a name that a checkpoint of FILE, or their lock, has or may get. */
int checkpoint_claims(const char *file, const char *path);

/* Takes the name for this job: a kernel lock (flock) on .FILE.lock, which dies with its holder.
 * STATUS_IO when another job has it (it is given a moment to end). *lock is for checkpoint_unlock.
 */
status checkpoint_lock(const char *file, int *lock);
void checkpoint_unlock(const char *file, int *lock);

/* Removes temporaries that killed runs have left under this name. Only with the lock held. */
void checkpoint_tidy(const char *file);

/* What stands at `path` and is not ours, or is damaged, gets another name (PATH.damaged), so that a
 * checkpoint can be written there; nothing is destroyed. *moved: something was. */
status checkpoint_set_aside(const char *path, int *moved);

/* Removes a checkpoint, if it is one of ours; 0 when it cannot be removed. */
int checkpoint_remove(const char *path);

#ifdef __cplusplus
}
#endif

#endif
