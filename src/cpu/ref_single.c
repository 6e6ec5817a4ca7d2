/* Mixed precision of the reference backend (mixed_backend.h): plain loops over CSR in float. */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "ref_device.h"
#include "row_product.h"

struct single_matrix {
  matrix *rows; /* offsets, columns and tiles; its doubles are not used */
  const csr_block *a;
  float *value;
};

static float *at(single_vec x) { return x.data.at; }

static lidx block_end(single_vec x, lidx begin) {
  return x.rows - begin < x.block ? x.rows : begin + x.block;
}

static void single_release(device *d, single_matrix **a) {
  if (*a == NULL) return;
  ref_matrix_release(d, &(*a)->rows);
  alloc_free(&(*a)->value);
  alloc_free(a);
}

static status single_create(device *d, const csr_block *a, double scale, single_matrix **out) {
  status rc = STATUS_OK;
  const eidx entries = a->offset[a->rows];
  TRY(alloc_zeroed(out, 1, sizeof **out, "matrix in float"));
  single_matrix *m = *out;
  TRY(ref_matrix_create(d, a, FORMAT_CSR, &m->rows));
  m->a = ref_matrix_rows(m->rows);
  TRY(alloc_array(&m->value, entries, sizeof *m->value, "matrix values in float"));
  for (eidx e = 0; e < entries; e++) m->value[e] = (float)(scale * a->value[e]);
done:
  if (rc != STATUS_OK) single_release(d, out);
  return rc;
}

static void single_describe(const single_matrix *a, matrix_facts *out) {
  ref_matrix_describe(a->rows, out);
  out->format = "csr in float";
  out->sweep_bytes -= a->a->offset[a->a->rows] * 4;
}

static float row_times(const single_matrix *m, lidx i, single_vec x) {
  const eidx begin = m->a->offset[i];
  return single_row_product(m->value + begin, m->a->column + begin, m->a->offset[i + 1] - begin,
                            at(x), 0);
}

static status single_pack(device *d, const halo *h, single_vec x) {
  (void)d;
  for (lidx i = 0; i < h->sends; i++) h->send_buffer[i] = (double)at(x)[h->send_row[i]];
  return STATUS_OK;
}

static status single_unpack(device *d, const halo *h, single_vec x) {
  (void)d;
  for (lidx i = 0; i < h->ghosts; i++) at(x)[x.rows + i] = (float)h->ghost_buffer[i];
  return STATUS_OK;
}

static status single_narrow(device *d, double c, vec from, single_vec to) {
  (void)d;
  if (from.data.at == NULL) {
    for (lidx i = 0; i < to.rows + to.ghosts; i++) at(to)[i] = 0.0F;
    return STATUS_OK;
  }
  for (lidx i = 0; i < to.rows; i++) at(to)[i] = (float)(c * vec_at(from)[i]);
  return STATUS_OK;
}

static status single_correct(device *d, double c, single_vec e, vec x) {
  (void)d;
  for (lidx i = 0; i < x.rows; i++) vec_at(x)[i] = fma(c, (double)at(e)[i], vec_at(x)[i]);
  return STATUS_OK;
}

/* Adds a block's sum of (scale x)(scale y) to sum number `which`. */
static void add_block(device *d, int which, const float *x, const float *y, int count,
                      double scale) {
  double p[BLOCK_MAX], q[BLOCK_MAX];
  for (int i = 0; i < count; i++) {
    p[i] = scale * (double)x[i];
    q[i] = scale * (double)y[i];
  }
  tally_add(&d->sums, which, block_dot(p, q, count));
}

static status single_sweep(device *d, const single_matrix *m, part p, single_vec x, single_vec b,
                           single_vec weight, single_vec next, dptr state) {
  const solve_state *s = state_at(state);
  float residual[BLOCK_MAX];
  if (s->verdict != VERDICT_NONE) return STATUS_OK;
  for (lidx begin = 0, end; begin < x.rows; begin = end) {
    end = block_end(x, begin);
    if (!part_has(p, ref_matrix_boundary(m->rows, begin / TILE))) continue;
    for (lidx i = begin; i < end; i++) {
      const float r = at(b)[i] - row_times(m, i, x), to = fmaf(at(weight)[i], r, at(x)[i]);
      at(next)[i] = to;
      residual[i - begin] = r;
      d->sums.counter[COUNTER_CHANGED] += bits_differ(to, at(x)[i]);
    }
    add_block(d, 0, residual, residual, end - begin, s->scale);
  }
  return STATUS_OK;
}

static status single_cg_product(device *d, const single_matrix *m, part p, single_vec direction,
                                single_vec q, dptr state) {
  const solve_state *s = state_at(state);
  if (s->verdict != VERDICT_NONE) return STATUS_OK;
  for (lidx begin = 0, end; begin < q.rows; begin = end) {
    end = block_end(q, begin);
    if (!part_has(p, ref_matrix_boundary(m->rows, begin / TILE))) continue;
    for (lidx i = begin; i < end; i++) at(q)[i] = row_times(m, i, direction);
    add_block(d, 0, at(direction) + begin, at(q) + begin, end - begin, s->scale);
  }
  return STATUS_OK;
}

static float preconditioned(single_vec inverse_diagonal, lidx i, float r) {
  return inverse_diagonal.data.at == NULL ? r : at(inverse_diagonal)[i] * r;
}

static status single_cg_residual(device *d, single_vec q, single_vec inverse_diagonal, single_vec r,
                                 dptr state) {
  const solve_state *s = state_at(state);
  const float minus = -(float)s->alpha;
  float z[BLOCK_MAX];
  if (s->verdict != VERDICT_NONE) return STATUS_OK;
  for (lidx begin = 0, end; begin < r.rows; begin = end) {
    end = block_end(r, begin);
    for (lidx i = begin; i < end; i++) {
      at(r)[i] = fmaf(minus, at(q)[i], at(r)[i]);
      z[i - begin] = preconditioned(inverse_diagonal, i, at(r)[i]);
    }
    add_block(d, 0, at(r) + begin, z, end - begin, s->scale);
    add_block(d, 1, at(r) + begin, at(r) + begin, end - begin, s->scale);
  }
  return STATUS_OK;
}

static status single_cg_direction(device *d, single_vec r, single_vec inverse_diagonal,
                                  single_vec direction, single_vec x, dptr state) {
  (void)d;
  const solve_state *s = state_at(state);
  const float alpha = (float)s->alpha, beta = (float)s->beta;
  if (!s->pending || s->verdict != VERDICT_NONE) return STATUS_OK;
  for (lidx i = 0; i < r.rows; i++) {
    const float p = at(direction)[i];
    at(x)[i] = fmaf(alpha, p, at(x)[i]);
    at(direction)[i] = fmaf(beta, p, preconditioned(inverse_diagonal, i, at(r)[i]));
  }
  return STATUS_OK;
}

const mixed_backend MIXED_ref = {.matrix_create = single_create,
                                 .matrix_release = single_release,
                                 .matrix_describe = single_describe,
                                 .pack = single_pack,
                                 .unpack = single_unpack,
                                 .narrow = single_narrow,
                                 .correct = single_correct,
                                 .sweep = single_sweep,
                                 .cg_product = single_cg_product,
                                 .cg_residual = single_cg_residual,
                                 .cg_direction = single_cg_direction};
