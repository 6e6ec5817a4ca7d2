/* HDF5's structures for a file whose data are written without HDF5 (layout.c). Local, for the one
 * rank that makes the file. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <hdf5.h>

#include "dataset.h"
#include "status.h"

typedef struct layout layout;

/* Starts a file in memory, with room in front for `user_block` bytes (0 or 512, 1024, ...). `path`
 * is for the texts of failures, and stays the caller's. */
status layout_open(const char *path, int64_t user_block, layout **out);

/* The same, with a first data set (not an empty one) at a place of its own, a power of two of at
 * least LAYOUT_FRONT, so that its data can be written before the file is laid out. */
enum { LAYOUT_FRONT = 4096 };
status layout_open_at(const char *path, const dataset *first, int64_t at, layout **out);

/* A contiguous data set; *place is where its first byte belongs (0 when it is empty). */
status layout_add(layout *l, const dataset *set, int64_t *place);

/* A root attribute of text. */
status layout_text(layout *l, const char *name, const char *text);

/* Attributes of a group, which is made where it is not there: numbers (count 0: a single one), or a
 * word (text of fixed length, where `numbers` is NULL). */
typedef struct attribute {
  const char *group, *name; /* "/VTKHDF", "Origin" */
  dataset_type type;
  int count;
  const void *numbers;
  const char *word;
} attribute;
status layout_attribute(layout *l, const attribute *a);

/* Nothing more is added: *size is the size of the file. */
status layout_finish(layout *l, int64_t *size);

/* After layout_finish: writes the structures, and nothing where data lie, to their places. */
status layout_copy(const layout *l, int descriptor);

/* Accepts NULL. */
void layout_release(layout **l);

/* Elements of a set, and bytes of one. */
int64_t dataset_count(const dataset *set);
size_t dataset_width(dataset_type type);

/* An existing file's contiguous, one-dimensional data set of this type, wholly within the file's
 * `bytes`: whether it is there, its length and place. */
int layout_find(hid_t file, const char *name, dataset_type type, int64_t bytes, int64_t *length,
                int64_t *place);

/* Whole transfers at a place of an open file; 0, or errno. */
int bytes_write(int descriptor, const void *data, int64_t bytes, int64_t at);
int bytes_read(int descriptor, void *data, int64_t bytes, int64_t at);

#endif
