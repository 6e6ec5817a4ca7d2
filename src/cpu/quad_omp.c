/* Quadrature on all cores: blocks of samples are dealt to the workers in equal runs; each worker
 * makes a block's points, evaluates the formula on all of them at once (the formula vectorises) and
 * adds the block's sum to its own accumulator. Nothing is stored but one block: 28 KiB a worker. */
#include "omp_team.h"

#include "quad_host.h"
#include "team.h"

/* Where a formula reads the coordinates of `s`, and the parameters all samples share. */
static void bind(const quad_work *w, const quad_samples *s, const double *parameters,
                 formula_input *in) {
  for (int i = 0; i < w->f->inputs; i++) {
    in[i].at = i < w->dims ? s->x[i] : &parameters[i - w->dims];
    in[i].step = i < w->dims ? 1 : 0;
  }
}

static void sum_run(worker *me, const quad_work *w, const quad_grid *g, const double *parameters,
                    int64_t first, int64_t last) {
  quad_samples s;
  formula_input in[QUAD_INPUTS];
  double *out = s.value;
  bind(w, &s, parameters, in);
  for (int64_t block = first; block < last; block++) {
    quad_samples_make(g, block, &s);
    w->f->batch(w->f->context, s.count, in, &out);
    double sum[2];
    quad_samples_sum(g, &s, sum);
    for (int k = 0; k <= g->estimate; k++) worker_add(me, k, sum[k]);
  }
  worker_settle(me);
}

static status sum(device *d, quad_work *w, const quad_grid *g, const double *parameters,
                  int64_t first, int64_t last) {
  const int64_t blocks = last - first;
#pragma omp parallel for num_threads(d->threads) schedule(static)
  for (int t = 0; t < d->threads; t++) {
    sum_run(&d->worker[t], w, g, parameters, first + team_begin(d->threads, blocks, t),
            first + team_begin(d->threads, blocks, t + 1));
  }
  return STATUS_OK;
}

static status collect(device *d, comm *c, int count, wide *out) {
  return quad_host_collect(workers_merge(d, count), c, count, out);
}

const quad_backend QUAD_omp = {.create = quad_host_create,
                               .release = quad_host_release,
                               .sum = sum,
                               .collect = collect,
                               .members = quad_omp_members,
                               .regions = quad_omp_regions};
