/* The heat equation on the GPU: what its kernels are told (heat.c fills it in).
 *   heat.c          the operations of the table; halos through pinned memory
 *   heat_chains.c   stages that are more than Euler steps, several in a launch
 *   heat_point.cuh  what one point does, shared by the kernels below
 *   heat_stage.cu   one stage, one thread a point; totals
 *   heat_line.cu    several steps in 1-D    } one launch, one pass
 *   heat_rows.cu    several steps in 2-D    } over memory
 *   heat_planes.cu  several steps in 3-D    }
 *   heat_*_staged.cu, heat_*_held.cu  the same: stages with terms; the plainest steps, faster */
#ifndef HEAT_ARGS_H
#define HEAT_ARGS_H

#include "device.h"
#include "heat_backend.h"

/* Steps of one launch at most, by dimension: measured (docs/performance.md). STAGES: those of rk4,
 * rkl2 and of inputs that are numbers changing in time. */
enum {
  LINE_STEPS = 48,
  LINE_STAGES = 16,
  ROWS_STEPS = 8,
  ROWS_STEPS_VARIABLE = 6,
  ROWS_STAGES = 4,
  PLANES_STEPS = 4,
  PLANES_STEPS_VARIABLE = 3,
  PLANES_STAGES = 3,
  STAGES_MOST = 16
};

/* A rate and what it is made from. u and out begin at the first halo plane, as do the coefficients
 * and the source. */
typedef struct heat_pass {
  heat_slab s;
  const double *u;
  double *out;
  const double *face[HEAT_DIMS]; /* NULL: constant alpha */
  double scale, c[HEAT_DIMS];    /* c: heat_coefficient */
  const double *source;          /* NULL: source_value */
  double source_value;
  double inflow[HEAT_FACES]; /* scale * heat_inflow */
  double flux[HEAT_FACES];
  const double *flux_at[HEAT_FACES];
  int32_t is_robin[HEAT_FACES];
  double robin[HEAT_FACES];
  int64_t from, to; /* planes, from the first owned one */
} heat_pass;

typedef struct heat_stage_args {
  heat_pass p;
  const double *base;
  int32_t terms;
  double weight[HEAT_TERMS];
  const double *term[HEAT_TERMS];
  const double *held[HEAT_FACES]; /* NULL: they stay */
} heat_stage_args;

/* One stage of several: what differs between them. */
typedef struct heat_part {
  double scale, c[HEAT_DIMS], source_value, inflow[HEAT_FACES], flux[HEAT_FACES];
  double weight[HEAT_TERMS];
  int32_t terms;    /* 0 or 3: its own u, that of the stage before, what `first` says; */
  int32_t swapped;  /* ... or the first and the last of them the other way round */
  int32_t own_base; /* the base is u */
} heat_part;

enum { KEPT_FIRST, KEPT_BEFORE, KEPT };

/* Several steps; or (parts > 0) several stages, each the u of the next one. The last one's result
 * goes to p.out. */
typedef struct heat_march_args {
  heat_pass p;
  int32_t steps;
  int32_t strips[2]; /* pieces that x and y are cut into */
  int64_t chunk;     /* planes a warp or thread block marches over */
  int64_t units;     /* warps in 1-D and 2-D, thread blocks in 3-D */
  int32_t parts;
  int32_t makes_first; /* `first` is what the first stage makes */
  const double *base, *before, *first;
  double *keep[KEPT]; /* NULL, or where to: the first stage's result, the last but one's */
  int64_t keep_from[KEPT], keep_to[KEPT]; /* planes of it */
  heat_part part[STAGES_MOST];
} heat_march_args;

typedef struct heat_totals_args {
  heat_slab s;
  const double *u;
  int64_t length, blocks; /* of a line: points, sum blocks */
  int64_t units;          /* sum blocks in all */
  uint64_t *extreme;      /* least, greatest as ordered integers; whether there is a NaN */
  ending end;
} heat_totals_args;

#ifdef __cplusplus
extern "C" {
#endif

/* heat.c */
status cuda_heat_create(device *d, const heat_slab *s, const heat_medium *m, heat_work **out);
void cuda_heat_release(device *d, heat_work **w);
status cuda_heat_stage(device *d, heat_work *w, const heat_stage *s, int64_t from, int64_t to);
status cuda_heat_pass(device *d, heat_work *w, const heat_stage *s, int count, part which);
int cuda_heat_depth(const device *d, const heat_grid *g, int variable, int64_t planes);
status cuda_heat_pack(device *d, heat_work *w, const halo *h, heat_field u);
status cuda_heat_unpack(device *d, heat_work *w, const halo *h, heat_field u);
status cuda_heat_totals(device *d, heat_work *w, heat_field u, double *minimum, double *maximum);

/* The stream for work on planes [from, to) of a slab: a single boundary plane follows unpack() on
 * urgent. After a launch there, cuda_heat_urgent(): main has to wait for it. */
status cuda_heat_stream(device *d, const heat_slab *s, int64_t from, int64_t to, cudaStream_t *out);
status cuda_heat_urgent(device *d);

/* Kernels. Each returns the launch's error; none waits. */
cudaError_t kernel_heat_stage(cudaStream_t s, const heat_stage_args *a);
cudaError_t kernel_heat_totals(cudaStream_t s, const heat_totals_args *a, int processors);

/* a->p and a->steps are set; the rest is chosen here. a->p.out gets planes [from, to). */
cudaError_t kernel_heat_line(cudaStream_t s, heat_march_args *a);
cudaError_t kernel_heat_rows(cudaStream_t s, heat_march_args *a, int processors);
cudaError_t kernel_heat_planes(cudaStream_t s, heat_march_args *a, int processors);
cudaError_t kernel_heat_rows_staged(cudaStream_t s, heat_march_args *a, int processors);
cudaError_t kernel_heat_planes_staged(cudaStream_t s, heat_march_args *a, int processors);
cudaError_t kernel_heat_rows_held(cudaStream_t s, heat_march_args *a, int processors);
cudaError_t kernel_heat_planes_held(cudaStream_t s, heat_march_args *a, int processors);

#ifdef __cplusplus
}
#endif

#endif
