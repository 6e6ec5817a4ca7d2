/* The inside of the reference backend, shared by its files: ref.c (memory, matrices, vectors, the
 * table), quad_ref.c, heat_ref.c
 * and heat_level_ref.c. */
#ifndef REF_DEVICE_H
#define REF_DEVICE_H

#include "heat_backend.h"
#include "host.h"
#include "quad_backend.h"
#include "tally.h"

struct device {
  tally sums;
};

extern const quad_backend QUAD_ref;
extern const heat_backend HEAT_ref;
extern const heat_level_backend HEAT_LEVEL_ref;

#endif
