/* A file that appears complete or not at all: written under a temporary name in the folder of the
 * final one, made durable, then renamed. Everything here is local, for the one rank that handles
 * the folder; the bytes may be written by all ranks. A symbolic link as final name is followed: the
 * file it points to is replaced, the link stays. */
#ifndef SWAP_FILE_H
#define SWAP_FILE_H

#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct swap_file {
  char *path;      /* the final name, links followed */
  char *temporary; /* the name written to */
  int descriptor;  /* of the temporary; -1: none */
} swap_file;

/* Where `path` leads: itself, or what a chain of symbolic links points to. *out is freed with
 * alloc_free. STATUS_USAGE for a link that leads nowhere. */
status swap_resolve(const char *path, char **out);

/* Makes an empty temporary file under a name of its own (O_EXCL, O_NOFOLLOW); nothing existing is
 * touched. STATUS_IO with path and system text. */
status swap_open(const char *path, swap_file *out);

/* Makes sure that the temporary can grow to `bytes`, so that no later write meets a full disk, a
 * quota or a size limit in the middle of a collective call. */
status swap_reserve(swap_file *s, int64_t bytes);

/* fsync, rename to the final name, fsync of the folder; releases *s. On failure the final name is
 * as before and the temporary is gone. */
status swap_commit(swap_file *s);

/* Removes the temporary; releases *s. A zeroed or released *s is accepted. */
void swap_discard(swap_file *s);

/* Takes the lock of a temporary that is still empty; it is let go when the file is closed, or its
 * process dies. Then: removes the temporaries of that name that were left behind, which are not
 * empty and whose lock nobody has. What cannot be removed stays. */
void swap_hold(const swap_file *s);
void swap_tidy(const swap_file *s);

/* Whether a file can be made next to `path`, by making one and removing it. */
status swap_probe(const char *path);

#ifdef __cplusplus
}
#endif

#endif
