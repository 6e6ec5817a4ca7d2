/* What the CPU backends share of quadrature: an integrand, and a block of samples as arrays. The
 * samples have quad_point's bits; the loops are the vectorising form of it. */
#ifndef QUAD_HOST_H
#define QUAD_HOST_H

#include <stddef.h>

#include "quad_backend.h"

enum { QUAD_INPUTS = QUAD_DIMS + 64 }; /* coordinates and parameters of a formula, at most */

struct quad_work {
  const formula *f;
  int dims;
};

typedef struct quad_samples {
  int count;
  int64_t first; /* sample number */
  double x[QUAD_DIMS][BLOCK_MAX];
  double weight[BLOCK_MAX];
  double value[BLOCK_MAX];
} quad_samples;

status quad_host_create(struct device *d, const formula *f, int dims, quad_work **out);
void quad_host_release(struct device *d, quad_work **w);

/* Points and weights of block `block` of the grid. */
void quad_samples_make(const quad_grid *g, int64_t block, quad_samples *out);

/* The same for samples [first, first + count), count at most BLOCK_MAX; for sobol grids both are
 * multiples of a power of two not below count. */
void quad_samples_run(const quad_grid *g, int64_t first, int count, quad_samples *out);

/* The member's number: which[i], or first + i where `which` is NULL. */
static inline int64_t quad_member(const int64_t *which, int64_t first, int64_t i) {
  return which != NULL ? which[i] : first + i;
}

/* The block's sum of weight * value. */
double quad_samples_sum(const quad_samples *s);

/* quad_backend.h's `regions` of the two CPU backends (quad_regions_ref.c, quad_regions_omp.c). */
status quad_ref_regions(struct device *d, quad_work *w, const quad_frame *f,
                        const double *parameters, int64_t count, const double *edge,
                        quad_estimate *out);
status quad_omp_regions(struct device *d, quad_work *w, const quad_frame *f,
                        const double *parameters, int64_t count, const double *edge,
                        quad_estimate *out);

#endif
