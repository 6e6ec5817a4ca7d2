/* The inside of the reference backend, shared by its files: ref.c (memory, matrices, vectors, the
 * table), ref_single.c, quad_ref.c, heat_ref.c and
 * heat_level_ref.c. */
#ifndef REF_DEVICE_H
#define REF_DEVICE_H

#include "coupled_backend.h"
#include "heat_backend.h"
#include "host.h"
#include "mixed_backend.h"
#include "ode_backend.h"
#include "quad_backend.h"
#include "tally.h"

struct device {
  tally sums;
};

/* ref.c: rows, and whether a tile of them has a ghost. */
status ref_matrix_create(device *d, const csr_block *a, matrix_format format, matrix **out);
void ref_matrix_release(device *d, matrix **m);
void ref_matrix_describe(const matrix *m, matrix_facts *out);
const csr_block *ref_matrix_rows(const matrix *m);
int ref_matrix_boundary(const matrix *m, lidx tile);

extern const mixed_backend MIXED_ref;
extern const quad_backend QUAD_ref;
extern const ode_backend ODE_ref;
extern const coupled_backend COUPLED_ref;
extern const heat_backend HEAT_ref;
extern const heat_level_backend HEAT_LEVEL_ref;

#endif
