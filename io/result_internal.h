/* What the result files' own sources and tests share. */
#ifndef RESULT_INTERNAL_H
#define RESULT_INTERNAL_H

#include "result_io.h"
#include "shared_file.h"

/* The root attribute that marks a file as ours, and how its text begins. */
#define RESULT_MARK      "format"
#define RESULT_MARK_TEXT "halosweep result 1"

/* A dataset of an open result. */
typedef struct opened_set {
  int64_t place, count; /* elements */
  size_t width;         /* bytes */
} opened_set;

struct result_file {
  comm *c;
  status failed; /* of an earlier call */
  shared_file file;
  opened_set *sets;
  int set_count, set_room;
};

/* Whether the existing file at `path` was written by halosweep: an HDF5 result, or text (a vector)
 * whose second line says so. *ours is 0 for anything else, unreadable files included. Local. */
status result_recognise(const char *path, int *ours);

#endif
