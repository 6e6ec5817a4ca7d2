/* Many integrals of one family on all cores: members are dealt to the threads in groups of up to
 * 256. A group makes a block of samples once and evaluates it for each of its members; where a
 * member has at most 128 samples, as many members as fit 256 points share one evaluation, their
 * parameters repeated as arrays, so that a call of the formula always has points enough to run at
 * full rate. Cost: one evaluation a point and member; 60 KiB a thread. */
#include "omp_team.h"
#include "quad_host.h"

enum { GROUP = 256 };

typedef struct group {
  const quad_work *w;
  const quad_grid *g;
  const quad_family *family;
  int count;                            /* members */
  double parameter[SWEEP_AXES][GROUP];  /* swept ones, of each member */
  double spread[SWEEP_AXES][BLOCK_MAX]; /* the same for the points of an evaluation */
  double sum[GROUP][2];
  quad_samples s;
  formula_input in[QUAD_INPUTS];
} group;

static void begin_group(group *m, int64_t first, int count) {
  const sweep_grid *swept = &m->family->swept;
  double value[SWEEP_AXES];
  m->count = count;
  for (int i = 0; i < count; i++) {
    sweep_member(swept, first + i, value);
    for (int k = 0; k < swept->axes; k++) m->parameter[k][i] = value[k];
    m->sum[i][0] = m->sum[i][1] = 0.0;
  }
}

/* Where the formula reads its inputs; swept ones at `swept` with this step. */
static void bind(group *m) {
  const int dims = m->w->dims, fixed = m->family->fixed_count;
  for (int v = 0; v < m->w->f->inputs; v++) {
    const int k = v - dims;
    if (k < 0) {
      m->in[v] = (formula_input){m->s.x[v], 1};
    } else if (k < fixed) {
      m->in[v] = (formula_input){&m->family->fixed[k], 0};
    } else {
      m->in[v] = (formula_input){m->spread[k - fixed], 1};
    }
  }
}

/* Members of up to 128 samples: `each` of them an evaluation. The samples are there `each` times.
 */
static void small_members(group *m, int each) {
  const int points = (int)m->g->points, axes = m->family->swept.axes;
  double *out = m->s.value;
  quad_samples_run(m->g, 0, points, &m->s);
  for (int i = points; i < each * points; i++) {
    m->s.weight[i] = m->s.weight[i - points];
    if (m->g->estimate) m->s.coarse[i] = m->s.coarse[i - points];
    for (int d = 0; d < m->g->dims; d++) m->s.x[d][i] = m->s.x[d][i - points];
  }
  for (int at = 0; at < m->count; at += each) {
    const int some = m->count - at < each ? m->count - at : each;
    for (int k = 0; k < axes; k++) {
      for (int i = 0; i < some; i++) {
        const double value = m->parameter[k][at + i];
        for (int p = 0; p < points; p++) m->spread[k][i * points + p] = value;
      }
    }
    m->w->f->batch(m->w->f->context, (int64_t)some * points, m->in, &out);
    for (int i = 0; i < some; i++) {
      double *sum = m->sum[at + i];
      const int from = i * points;
      sum[0] += quad_terms_sum(m->g, points, m->s.weight + from, out + from);
      if (m->g->estimate) sum[1] += quad_terms_sum(m->g, points, m->s.coarse + from, out + from);
    }
  }
}

/* Larger ones: block by block, every member of the group on each. */
static void large_members(group *m) {
  const int axes = m->family->swept.axes, first_swept = m->w->dims + m->family->fixed_count;
  double *out = m->s.value;
  for (int64_t first = 0; first < m->g->points; first += BLOCK_MAX) {
    const int64_t left = m->g->points - first;
    quad_samples_run(m->g, first, (int)(left < BLOCK_MAX ? left : BLOCK_MAX), &m->s);
    for (int i = 0; i < m->count; i++) {
      for (int k = 0; k < axes; k++) {
        m->in[first_swept + k] = (formula_input){&m->parameter[k][i], 0};
      }
      m->w->f->batch(m->w->f->context, m->s.count, m->in, &out);
      m->sum[i][0] += quad_terms_sum(m->g, m->s.count, m->s.weight, out);
      if (!m->g->estimate) continue;
      m->sum[i][1] += quad_terms_sum(m->g, m->s.count, m->s.coarse, out);
    }
  }
}

status quad_omp_members(struct device *d, quad_work *w, const quad_grid *g,
                        const quad_family *family, int64_t first, int64_t count, dptr sums) {
  const int64_t share = (count + d->threads - 1) / d->threads;
  const int size = share < GROUP ? share < 1 ? 1 : (int)share : GROUP;
  const int64_t groups = (count + size - 1) / size;
  const int each = g->points <= BLOCK_MAX / 2 ? BLOCK_MAX / (int)g->points : 1;
#pragma omp parallel for num_threads(d->threads) schedule(dynamic)
  for (int64_t k = 0; k < groups; k++) {
    const int64_t at = k * size;
    double *out = (double *)sums.at + at * (1 + g->estimate);
    group m;
    m.w = w;
    m.g = g;
    m.family = family;
    begin_group(&m, first + at, (int)(count - at < size ? count - at : size));
    bind(&m);
    each > 1 ? small_members(&m, each) : large_members(&m);
    for (int i = 0; i < m.count; i++) {
      for (int s = 0; s <= g->estimate; s++) *out++ = m.sum[i][s];
    }
  }
  return STATUS_OK;
}
