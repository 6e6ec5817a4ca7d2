/* The inside of the reference backend, shared by its files: ref.c (memory, matrices, vectors, the
 * table) and quad_ref.c. */
#ifndef REF_DEVICE_H
#define REF_DEVICE_H

#include "host.h"
#include "quad_backend.h"
#include "tally.h"

struct device {
  tally sums;
};

extern const quad_backend QUAD_ref;

#endif
