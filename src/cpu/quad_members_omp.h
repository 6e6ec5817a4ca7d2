/* Sweeps on all cores (quad_members_omp.c). */
#ifndef QUAD_MEMBERS_OMP_H
#define QUAD_MEMBERS_OMP_H

#include "quad_backend.h"

status omp_quad_members(struct device *d, quad_work *w, const quad_grid *g,
                        const quad_family *family, int64_t first, int64_t count, dptr which,
                        dptr sums);

#endif
