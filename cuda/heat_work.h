/* A slab of the heat equation on the GPU, for the files that work on it (heat_args.h). */
#ifndef HEAT_WORK_H
#define HEAT_WORK_H

#include "heat_args.h"

enum { HEAT_TWINS = 3 };

struct heat_work {
  heat_slab s;
  heat_medium m;
  double *face[HEAT_DIMS]; /* device */
  uint64_t *extreme;       /* device: [3] of totals */
  double *send, *ghost;    /* pinned */
  int64_t sends, ghosts;   /* numbers they have room for */
  cudaEvent_t received;
  double *twin[HEAT_TWINS]; /* device: results that cannot go where they belong yet; or NULL */
  int lacks_twins;          /* there is no memory for them */
};

/* What a stage with these inputs is told. */
heat_pass cuda_heat_pass_of(const heat_work *w, double scale, const heat_input *in, const double *u,
                            double *out);

/* The planes within `margin` of the owned ones that are in the domain; none where none is owned. */
void cuda_heat_range(const heat_slab *s, int margin, int64_t *from, int64_t *to);

/* One launch: a->steps steps or stages to planes within `margin` of the owned ones. */
status cuda_heat_march(device *d, heat_march_args *a, int margin);

/* A list of stages, several in a launch where they are a chain. */
status cuda_heat_chains(device *d, heat_work *w, const heat_stage *list, int count);

#endif
