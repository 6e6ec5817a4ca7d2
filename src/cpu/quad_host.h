/* What the CPU backends share of quadrature: an integrand, and a block of samples as arrays. The
 * samples have quad_point's bits; the loops are the vectorising form of it. */
#ifndef QUAD_HOST_H
#define QUAD_HOST_H

#include "quad_backend.h"
#include "tally.h"

struct quad_work {
  const formula *f;
  int dims;
  double point_seconds; /* regions: what a point took last; 0: not known */
};

typedef struct quad_samples {
  int count;
  int64_t first; /* sample number */
  double x[QUAD_DIMS][BLOCK_MAX];
  double weight[BLOCK_MAX];
  double coarse[BLOCK_MAX]; /* where the grid asks for an estimate */
  double value[BLOCK_MAX];
} quad_samples;

status quad_host_create(struct device *d, const formula *f, int dims, quad_work **out);
void quad_host_release(struct device *d, quad_work **w);

/* Points and weights of block `block` of the grid. */
void quad_samples_make(const quad_grid *g, int64_t block, quad_samples *out);

/* The same for samples [first, first + count), count at most BLOCK_MAX; for sobol grids both are
 * multiples of a power of two not below count. */
void quad_samples_run(const quad_grid *g, int64_t first, int count, quad_samples *out);

/* The sum of weight * value over up to BLOCK_MAX samples, as one block. */
double quad_terms_sum(const quad_grid *g, int count, const double *weight, const double *value);

/* The block's sums: of weight * value into sum[0], with an estimate of coarse * value into sum[1].
 */
void quad_samples_sum(const quad_grid *g, const quad_samples *s, double sum[2]);

/* quad_backend.h's `regions` of the two CPU backends (quad_regions_ref.c, quad_regions_omp.c). */
status quad_ref_regions(struct device *d, quad_work *w, const quad_frame *f,
                        const double *parameters, int64_t count, const double *edge,
                        quad_estimate *out);
status quad_omp_regions(struct device *d, quad_work *w, const quad_frame *f,
                        const double *parameters, int64_t count, const double *edge,
                        quad_estimate *out);

/* quad_backend.h's `members` of the OpenMP backend (quad_members_omp.c). */
status quad_omp_members(struct device *d, quad_work *w, const quad_grid *g,
                        const quad_family *family, int64_t first, int64_t count, dptr sums);

/* The device's sums of all workers in one tally, over ranks, exact; clears it. */
status quad_host_collect(tally *t, comm *c, int count, wide *out);

#endif
