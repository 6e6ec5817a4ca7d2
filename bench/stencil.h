/* What the kernel benchmarks share: Poisson matrices as CSR, vectors, and timing. The fastest of
 * several repetitions is reported: what the machine can do when nobody disturbs it. */
#ifndef STENCIL_H
#define STENCIL_H

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "block_sum.h"
#include "solve_backend.h"

typedef struct stencil {
  const char *name;
  lidx nx, ny, nz; /* nz 1: the 5-point matrix */
  int varied;      /* coefficients differ: no constant slices */
} stencil;

static inline lidx stencil_rows(const stencil *s) { return s->nx * s->ny * s->nz; }

/* The coupling of cells i and j: 1, or a number between 1 and 2 that does not compress. */
static inline double stencil_coupling(const stencil *s, lidx i, lidx j) {
  return s->varied ? 1.0 + (double)((int64_t)(i + j) * 2654435761 % 1048573) / 1048573.0 : 1.0;
}

static inline status stencil_matrix(const stencil *s, csr_block *a) {
  status rc = STATUS_OK;
  const lidx rows = stencil_rows(s), plane = s->nx * s->ny;
  eidx at = 0;
  memset(a, 0, sizeof *a);
  a->rows = a->columns = rows;
  TRY(alloc_array(&a->offset, (int64_t)rows + 1, sizeof *a->offset, "offsets"));
  TRY(alloc_array(&a->column, 7 * (int64_t)rows, sizeof *a->column, "columns"));
  TRY(alloc_array(&a->value, 7 * (int64_t)rows, sizeof *a->value, "values"));
  for (lidx i = 0; i < rows; i++) {
    const lidx x = i % s->nx, y = i / s->nx % s->ny, z = i / plane;
    const lidx neighbour[] = {z > 0 ? i - plane : -1,
                              y > 0 ? i - s->nx : -1,
                              x > 0 ? i - 1 : -1,
                              i,
                              x + 1 < s->nx ? i + 1 : -1,
                              y + 1 < s->ny ? i + s->nx : -1,
                              z + 1 < s->nz ? i + plane : -1};
    a->offset[i] = at;
    for (int k = 0; k < 7; k++) {
      if (neighbour[k] < 0) continue;
      a->column[at] = neighbour[k];
      a->value[at++] = k != 3       ? -stencil_coupling(s, i, neighbour[k])
                       : s->nz == 1 ? (s->varied ? 8.5 : 4.0)
                                    : (s->varied ? 12.5 : 6.0);
    }
  }
  a->offset[rows] = at;
done:
  return rc;
}

/* A vector filled with a value. */
static inline status stencil_vector(const backend *b, device *d, lidx rows, double value,
                                    vec *out) {
  status rc = STATUS_OK;
  *out = (vec){.rows = rows, .block = (int32_t)block_size(rows)};
  TRY(b->alloc(d, (int64_t)rows * 8, "vector", &out->data));
  TRY(b->fill(d, *out, value));
done:
  return rc;
}

#endif
