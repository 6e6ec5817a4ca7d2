/* What is moved to and from datasets, without HDF5's own header. */
#ifndef H5_SPAN_H
#define H5_SPAN_H

#include <stdint.h>

typedef enum h5_type { H5_F64, H5_I64, H5_BYTES } h5_type;

/* A rank's part of a dataset: elements [first, first + count) of `length`. `most` is the largest
 * count of any rank: all make the same number of collective calls. */
typedef struct h5_span {
  int64_t length, first, count, most;
} h5_span;

#endif
