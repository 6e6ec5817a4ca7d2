/* A named array of a file, global and independent of the number of ranks. */
#ifndef DATASET_H
#define DATASET_H

#include <stdint.h>

typedef enum dataset_type { DATASET_F64, DATASET_I64, DATASET_BYTES } dataset_type;

enum { DATASET_DIMS = 4 };

typedef struct dataset {
  const char *name; /* "/solve/x"; groups on the way are made */
  dataset_type type;
  int dims;                     /* 1 to DATASET_DIMS */
  int64_t extent[DATASET_DIMS]; /* slowest first: rows x width, time x z x y x x */
} dataset;

#endif
