/* Mixed precision of the OpenMP backend (mixed_backend.h): SELL-8 with values in float, eight lanes
 * in one register, and the fused passes on it; rows kept by their shapes are not. Tiles, workers
 * and sums are those of omp_team.h. Budgets in bytes per row beside the matrix, 4 for each float
 * read and 8 for one written. */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "lanes.h"
#include "mixed_backend.h"
#include "omp_team.h"

#define REAL       float
#define LANE_TYPE  single_lanes
#define LANE(name) single_lanes_##name
#define ROW(name)  single_row_##name
#define NAMED(f)   single_##f
#include "omp_slices.def"

struct single_matrix {
  matrix *m; /* all but the values */
  float *value, *long_value;
  float *segment_sum; /* [segments] */
};

/* A pass in float: as `pass`, which carries it. */
typedef struct single_pass {
  pass all;
  const single_matrix *m;
  const float *x, *b, *weight;
  float *y, *z;
} single_pass;

static float *at(single_vec x) { return x.data.at; }

static const single_pass *of(const pass *p) { return (const single_pass *)p; }

/* ---- storage ---- */

static void release(device *d, single_matrix **a) {
  if (*a == NULL) return;
  omp_matrix_release(d, &(*a)->m);
  alloc_free(&(*a)->value);
  alloc_free(&(*a)->long_value);
  alloc_free(&(*a)->segment_sum);
  alloc_free(a);
}

/* The last tile may have fewer slices than others. */
static lidx first_slice(const sell *s, lidx tile) {
  return tile == s->tiles ? s->slices : sell_slice_begin(s, tile);
}

/* The values become floats: each worker its tiles', so that pages lie near their user. */
static status narrow_values(device *d, single_matrix *a, double scale) {
  status rc = STATUS_OK;
  sell *s = &a->m->s;
  TRY(alloc_array(&a->value, s->value_at[s->slices], sizeof *a->value, "matrix values in float"));
#pragma omp parallel for num_threads(d->threads) schedule(static, 1)
  for (int t = 0; t < d->threads; t++) {
    const eidx end = s->value_at[first_slice(s, a->m->cut[t + 1])];
    for (eidx e = s->value_at[first_slice(s, a->m->cut[t])]; e < end; e++) {
      a->value[e] = (float)(scale * s->value[e]);
    }
  }
  const eidx entries = s->long_offset[s->long_rows];
  TRY(alloc_array(&a->long_value, entries, sizeof *a->long_value, "matrix values in float"));
  for (eidx e = 0; e < entries; e++) a->long_value[e] = (float)(scale * s->long_value[e]);
  TRY(alloc_array(&a->segment_sum, a->m->segments, sizeof *a->segment_sum, "row segments"));
  alloc_free(&s->value);
  alloc_free(&s->long_value);
done:
  return rc;
}

static status create(device *d, const csr_block *a, double scale, single_matrix **out) {
  status rc = STATUS_OK;
  TRY(alloc_zeroed(out, 1, sizeof **out, "matrix in float"));
  TRY(omp_matrix_create(d, a, FORMAT_SELL, &(*out)->m));
  TRY(narrow_values(d, *out, scale));
done:
  if (rc != STATUS_OK) release(d, out);
  return rc;
}

static void describe(const single_matrix *a, matrix_facts *out) {
  const sell *s = &a->m->s;
  const eidx values = s->value_at[s->slices] + s->long_offset[s->long_rows];
  omp_matrix_describe(a->m, out);
  out->format = "sell-8 in float";
  out->bytes -= 4 * values;
  out->sweep_bytes -= 4 * values;
}

/* ---- vectors ---- */

static status pack(device *d, const halo *h, single_vec x) {
  const float *from = at(x);
  const int team = team_size(d, tile_count(h->sends) / 8);
#pragma omp parallel for num_threads(team) schedule(static)
  for (lidx i = 0; i < h->sends; i++) h->send_buffer[i] = (double)from[h->send_row[i]];
  return STATUS_OK;
}

static status unpack(device *d, const halo *h, single_vec x) {
  (void)d;
  for (lidx i = 0; i < h->ghosts; i++) at(x)[x.rows + i] = (float)h->ghost_buffer[i];
  return STATUS_OK;
}

/* 16 */
static void narrow_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  (void)w;
  (void)tile;
  float *restrict to = of(p)->y;
  if (p->x == NULL) {
    for (lidx i = begin; i < end; i++) to[i] = 0.0F;
  } else {
    for (lidx i = begin; i < end; i++) to[i] = (float)(p->scale * p->x[i]);
  }
}

static status narrow(device *d, double c, vec from, single_vec to) {
  const single_pass p = {.all = {.x = vec_at(from), .scale = c}, .y = at(to)};
  run_vector(d, to.rows, &p.all, narrow_tile);
  for (lidx i = 0; from.data.at == NULL && i < to.ghosts; i++) at(to)[to.rows + i] = 0.0F;
  return STATUS_OK;
}

/* 20 */
static void correct_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  (void)w;
  (void)tile;
  const float *restrict e = of(p)->x;
  for (lidx i = begin; i < end; i++) p->y[i] = fma(p->scale, (double)e[i], p->y[i]);
}

static status correct(device *d, double c, single_vec e, vec x) {
  const single_pass p = {.all = {.y = vec_at(x), .scale = c}, .x = at(e)};
  run_vector(d, x.rows, &p.all, correct_tile);
  return STATUS_OK;
}

/* ---- rows ---- */

static void run_rows(device *d, part which, const single_pass *p, tile_work *work) {
  const matrix *m = p->m->m;
#pragma omp parallel for num_threads(d->threads) schedule(static) if (m->segments > 0)
  for (lidx i = 0; i < m->segments; i++) {
    const segment *g = &m->segment[i];
    const eidx begin = m->s.long_offset[g->row], count = m->s.long_offset[g->row + 1] - begin;
    if (!part_has(which, m->s.boundary[m->s.long_row[g->row] / TILE])) continue;
    p->m->segment_sum[i] = single_row_segment(p->m->long_value + begin, m->s.long_column + begin,
                                              count, g->number, p->x, 0);
  }
  run_matrix(d, which, &p->all, 0, work);
}

static inline void tile_times(const single_pass *p, lidx tile, float *out) {
  const single_matrix *a = p->m;
  single_sell_rows(&a->m->s, a->value, tile, p->x, out, 0);
  single_tile_long_rows(a->m, a->long_value, a->segment_sum, tile, p->x, out, 0);
}

/* next = x + weight (b - A x), the residual's norm: 20. */
static void sweep_tile(worker *w, const pass *q, lidx tile, lidx begin, lidx end) {
  const single_pass *p = of(q);
  const float *restrict x = p->x + begin, *restrict b = p->b + begin;
  const float *restrict weight = p->weight + begin;
  float *restrict next = p->y + begin, sum[TILE];
  double term[TILE];
  const lidx n = end - begin;
  int changed = 0;
  tile_times(p, tile, sum);
  for (lidx j = 0; j < n; j++) {
    const float r = b[j] - sum[j], to = fmaf(weight[j], r, x[j]);
    next[j] = to;
    term[j] = q->scale * (double)r;
    changed += bits_differ(to, x[j]);
  }
  add_blocks(w, 0, term, term, n, q->block);
  w->sums.counter[COUNTER_CHANGED] += changed;
}

static status sweep(device *d, const single_matrix *a, part which, single_vec x, single_vec b,
                    single_vec weight, single_vec next, dptr state) {
  const solve_state *s = state_at(state);
  const single_pass p = {.all = {.m = a->m, .scale = s->scale, .block = x.block},
                         .m = a,
                         .x = at(x),
                         .b = at(b),
                         .weight = at(weight),
                         .y = at(next)};
  if (s->verdict == VERDICT_NONE) run_rows(d, which, &p, sweep_tile);
  return STATUS_OK;
}

/* ---- conjugate gradients ---- */

/* q = A p and p.q: 12. */
static void product_tile(worker *w, const pass *q, lidx tile, lidx begin, lidx end) {
  const single_pass *p = of(q);
  const float *restrict direction = p->x + begin;
  float *restrict to = p->y + begin, sum[TILE];
  double u[TILE], v[TILE];
  const lidx n = end - begin;
  tile_times(p, tile, sum);
  for (lidx j = 0; j < n; j++) {
    to[j] = sum[j];
    u[j] = q->scale * (double)direction[j];
    v[j] = q->scale * (double)sum[j];
  }
  add_blocks(w, 0, u, v, n, q->block);
}

static status cg_product(device *d, const single_matrix *a, part which, single_vec direction,
                         single_vec q, dptr state) {
  const solve_state *s = state_at(state);
  const single_pass p = {.all = {.m = a->m, .scale = s->scale, .block = q.block},
                         .m = a,
                         .x = at(direction),
                         .y = at(q)};
  if (s->verdict == VERDICT_NONE) run_rows(d, which, &p, product_tile);
  return STATUS_OK;
}

/* r -= alpha q, z = D^-1 r, r.z and r.r: 16. */
static void residual_tile(worker *w, const pass *q, lidx tile, lidx begin, lidx end) {
  (void)tile;
  const single_pass *p = of(q);
  const float *restrict from = p->x + begin;
  const float minus = -(float)q->state->alpha;
  float *restrict r = p->y + begin;
  double u[TILE], v[TILE];
  const lidx n = end - begin;
  for (lidx j = 0; j < n; j++) {
    r[j] = fmaf(minus, from[j], r[j]);
    u[j] = q->scale * (double)r[j];
  }
  if (p->weight == NULL) {
    add_blocks(w, 0, u, u, n, q->block);
  } else {
    const float *restrict inverse = p->weight + begin;
    for (lidx j = 0; j < n; j++) {
      const float z = inverse[j] * r[j];
      v[j] = q->scale * (double)z;
    }
    add_blocks(w, 0, u, v, n, q->block);
  }
  add_blocks(w, 1, u, u, n, q->block);
}

static status cg_residual(device *d, single_vec q, single_vec inverse_diagonal, single_vec r,
                          dptr state) {
  const solve_state *s = state_at(state);
  const single_pass p = {.all = {.state = s, .scale = s->scale, .block = r.block},
                         .x = at(q),
                         .weight = at(inverse_diagonal),
                         .y = at(r)};
  if (s->verdict == VERDICT_NONE) run_vector(d, r.rows, &p.all, residual_tile);
  return STATUS_OK;
}

/* x += alpha p; p = D^-1 r + beta p: 24. */
static void direction_tile(worker *w, const pass *q, lidx tile, lidx begin, lidx end) {
  (void)w;
  (void)tile;
  const single_pass *p = of(q);
  const float alpha = (float)q->state->alpha, beta = (float)q->state->beta;
  const float *restrict r = p->x + begin;
  float *restrict direction = p->y + begin, *restrict x = p->z + begin;
  const lidx n = end - begin;
  for (lidx j = 0; j < n; j++) x[j] = fmaf(alpha, direction[j], x[j]);
  if (p->weight == NULL) {
    for (lidx j = 0; j < n; j++) direction[j] = fmaf(beta, direction[j], r[j]);
  } else {
    const float *restrict inverse = p->weight + begin;
    for (lidx j = 0; j < n; j++) direction[j] = fmaf(beta, direction[j], inverse[j] * r[j]);
  }
}

static status cg_direction(device *d, single_vec r, single_vec inverse_diagonal,
                           single_vec direction, single_vec x, dptr state) {
  const solve_state *s = state_at(state);
  const single_pass p = {.all = {.state = s},
                         .x = at(r),
                         .weight = at(inverse_diagonal),
                         .y = at(direction),
                         .z = at(x)};
  if (s->pending && s->verdict == VERDICT_NONE) run_vector(d, r.rows, &p.all, direction_tile);
  return STATUS_OK;
}

const mixed_backend MIXED_omp = {.matrix_create = create,
                                 .matrix_release = release,
                                 .matrix_describe = describe,
                                 .pack = pack,
                                 .unpack = unpack,
                                 .narrow = narrow,
                                 .correct = correct,
                                 .sweep = sweep,
                                 .cg_product = cg_product,
                                 .cg_residual = cg_residual,
                                 .cg_direction = cg_direction};
