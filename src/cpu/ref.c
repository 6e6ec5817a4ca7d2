/* The reference backend: plain serial loops over CSR, one operation after another, nothing fused.
 * It is the oracle of the parity tests and is meant to be checked by reading; use `omp` for work.
 *
 * Sums are made as docs/reproducibility.md says and no other way: the terms of a sum block, the
 * block's sum in its fixed order, the block sum into the wide accumulator. */
#include <string.h>

#include "alloc.h"
#include "ref_device.h"
#include "row_product.h"

struct matrix {
  csr_block a;
  unsigned char *boundary; /* [tiles] whether a row of the tile has a ghost */
  lidx boundary_rows, long_rows;
};

static status ref_open(const device_request *request, device **out) {
  (void)request;
  return alloc_zeroed(out, 1, sizeof **out, "backend ref");
}

static void ref_close(device **d) { alloc_free(d); }

/* Fresh memory is all NaN: a value that was never written cannot pass for one. */
static status ref_alloc(device *d, int64_t bytes, const char *what, dptr *out) {
  (void)d;
  status rc = alloc_array(&out->at, bytes, 1, what);
  if (rc == STATUS_OK) memset(out->at, 0xff, (size_t)bytes);
  return rc;
}

void ref_matrix_release(device *d, matrix **m) {
  (void)d;
  if (*m == NULL) return;
  csr_block_release(&(*m)->a);
  alloc_free(&(*m)->boundary);
  alloc_free(m);
}

static status copy_block(const csr_block *from, csr_block *to) {
  status rc = STATUS_OK;
  const eidx entries = from->offset[from->rows];
  to->first_row = from->first_row;
  to->rows = from->rows;
  to->columns = from->columns;
  to->ghosts = from->ghosts;
  TRY(alloc_array(&to->offset, from->rows + 1, sizeof *to->offset, "row offsets"));
  TRY(alloc_array(&to->column, entries, sizeof *to->column, "matrix columns"));
  TRY(alloc_array(&to->value, entries, sizeof *to->value, "matrix values"));
  memcpy(to->offset, from->offset, ((size_t)from->rows + 1) * sizeof *to->offset);
  if (entries > 0) {
    memcpy(to->column, from->column, (size_t)entries * sizeof *to->column);
    memcpy(to->value, from->value, (size_t)entries * sizeof *to->value);
  }
done:
  return rc;
}

status ref_matrix_create(device *d, const csr_block *a, matrix_format format, matrix **out) {
  status rc = STATUS_OK;
  (void)format; /* always CSR: the oracle */
  TRY(alloc_zeroed(out, 1, sizeof **out, "matrix"));
  matrix *m = *out;
  TRY(copy_block(a, &m->a));
  TRY(alloc_zeroed(&m->boundary, tile_count(a->rows), 1, "tiles"));
  for (lidx i = 0; i < a->rows; i++) {
    m->long_rows += a->offset[i + 1] - a->offset[i] > ROW_CHAIN;
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      if (a->column[e] >= a->columns) m->boundary[i / TILE] = 1;
    }
  }
  for (lidx t = 0; t < tile_count(a->rows); t++) {
    if (m->boundary[t]) m->boundary_rows += tile_end(t, a->rows) - t * TILE;
  }
done:
  if (rc != STATUS_OK) ref_matrix_release(d, out);
  return rc;
}

void ref_matrix_describe(const matrix *m, matrix_facts *out) {
  const int64_t entries = m->a.offset[m->a.rows];
  out->format = "csr";
  out->sweep_bytes = entries * 12 + (int64_t)(m->a.rows + 1) * 8;
  out->bytes = out->sweep_bytes + tile_count(m->a.rows);
  out->boundary_rows = m->boundary_rows;
  out->interior_rows = m->a.rows - m->boundary_rows;
  out->long_rows = m->long_rows;
  out->shapes = out->shape_rows = 0;
}

const csr_block *ref_matrix_rows(const matrix *m) { return &m->a; }

int ref_matrix_boundary(const matrix *m, lidx tile) { return m->boundary[tile]; }

static status ref_pack(device *d, const halo *h, vec x) {
  (void)d;
  for (lidx i = 0; i < h->sends; i++) h->send_buffer[i] = vec_at(x)[h->send_row[i]];
  return STATUS_OK;
}

static status ref_unpack(device *d, const halo *h, vec x) {
  (void)d;
  for (lidx i = 0; i < h->ghosts; i++) vec_at(x)[x.rows + i] = h->ghost_buffer[i];
  return STATUS_OK;
}

static status ref_fill(device *d, vec x, double value) {
  (void)d;
  for (lidx i = 0; i < x.rows + x.ghosts; i++) vec_at(x)[i] = value;
  return STATUS_OK;
}

static status ref_copy(device *d, vec to, vec from) {
  (void)d;
  for (lidx i = 0; i < to.rows; i++) vec_at(to)[i] = vec_at(from)[i];
  return STATUS_OK;
}

static status ref_max_abs(device *d, vec x, double *out) {
  (void)d;
  double largest = 0.0;
  int nan = 0;
  for (lidx i = 0; i < x.rows; i++) {
    double size = fabs(vec_at(x)[i]);
    if (size > largest) largest = size;
    if (size != size) nan = 1;
  }
  *out = nan ? double_of(UINT64_C(0x7ff8) << 48) : largest;
  return STATUS_OK;
}

/* Adds a block's sum of (scale x)(scale y) to sum number `which`. */
static void add_block(device *d, int which, const double *x, const double *y, int count,
                      double scale) {
  double p[BLOCK_MAX], q[BLOCK_MAX];
  for (int i = 0; i < count; i++) {
    p[i] = scale * x[i];
    q[i] = scale * y[i];
  }
  tally_add(&d->sums, which, block_dot(p, q, count));
}

/* The end of x's sum block that starts at `begin`. */
static lidx block_end(vec x, lidx begin) {
  return x.rows - begin < x.block ? x.rows : begin + x.block;
}

static status ref_dot(device *d, vec x, vec y, double scale) {
  for (lidx i = 0, end; i < x.rows; i = end) {
    end = block_end(x, i);
    add_block(d, 0, vec_at(x) + i, vec_at(y) + i, end - i, scale);
  }
  return STATUS_OK;
}

static status ref_dots(device *d, int count, const vec *x, vec y, double scale) {
  for (int k = 0; k < count; k++) {
    for (lidx i = 0, end; i < y.rows; i = end) {
      end = block_end(y, i);
      add_block(d, k, vec_at(x[k]) + i, vec_at(y) + i, end - i, scale);
    }
  }
  return STATUS_OK;
}

static status ref_combine(device *d, double a, vec x, double b, vec y, vec out) {
  (void)d;
  const double *px = vec_at(x), *py = vec_at(y);
  for (lidx i = 0; i < out.rows; i++) {
    vec_at(out)[i] = px == NULL   ? (py == NULL ? 0.0 : b * py[i])
                     : py == NULL ? a * px[i]
                                  : fma(a, px[i], b * py[i]);
  }
  return STATUS_OK;
}

static status ref_multiply(device *d, vec w, vec x, vec out) {
  (void)d;
  for (lidx i = 0; i < out.rows; i++) vec_at(out)[i] = vec_at(w)[i] * vec_at(x)[i];
  return STATUS_OK;
}

static status ref_accumulate(device *d, int count, const double *a, const vec *x, vec out) {
  (void)d;
  for (int k = 0; k < count; k++) {
    for (lidx i = 0; i < out.rows; i++) {
      vec_at(out)[i] = fma(a[k], vec_at(x[k])[i], vec_at(out)[i]);
    }
  }
  return STATUS_OK;
}

static double row_times(const csr_block *a, lidx i, const double *x, int absolute) {
  return row_product(a->value + a->offset[i], a->column + a->offset[i],
                     a->offset[i + 1] - a->offset[i], x, absolute);
}

static status ref_product(device *d, const matrix *m, part p, vec x, vec y) {
  (void)d;
  for (lidx i = 0; i < m->a.rows; i++) {
    if (part_has(p, m->boundary[i / TILE])) vec_at(y)[i] = row_times(&m->a, i, vec_at(x), 0);
  }
  return STATUS_OK;
}

static status ref_residual(device *d, const matrix *m, part p, vec x, vec b, vec r, double scale) {
  double residual[BLOCK_MAX], size[BLOCK_MAX];
  for (lidx begin = 0, end; begin < m->a.rows; begin = end) {
    end = block_end(x, begin);
    if (!part_has(p, m->boundary[begin / TILE])) continue;
    for (lidx i = begin; i < end; i++) {
      residual[i - begin] = vec_at(b)[i] - row_times(&m->a, i, vec_at(x), 0);
      size[i - begin] = row_times(&m->a, i, vec_at(x), 1);
      if (r.data.at != NULL) vec_at(r)[i] = residual[i - begin];
    }
    add_block(d, 0, residual, residual, end - begin, scale);
    add_block(d, 1, size, size, end - begin, scale);
  }
  return STATUS_OK;
}

static status ref_relax(device *d, const matrix *m, part p, vec x, double c, vec w, vec b, vec y,
                        vec out) {
  (void)d;
  for (lidx i = 0; i < m->a.rows; i++) {
    if (!part_has(p, m->boundary[i / TILE])) continue;
    const double s = x.data.at == NULL ? 0.0 : row_times(&m->a, i, vec_at(x), 0);
    const double r = b.data.at == NULL ? -s : vec_at(b)[i] - s;
    const double factor = w.data.at == NULL ? c : c * vec_at(w)[i];
    vec_at(out)[i] = y.data.at == NULL ? factor * r : fma(factor, r, vec_at(y)[i]);
  }
  return STATUS_OK;
}

static status ref_relax_set(device *d, const matrix *m, part p, dptr set, vec w, vec b, int keep,
                            vec x) {
  (void)d;
  const lidx *row = set.at;
  for (lidx k = 0; k < m->a.rows; k++) {
    if (!part_has(p, m->boundary[k / TILE])) continue;
    const lidx i = row[k];
    const double r = (b.data.at == NULL ? 0.0 : vec_at(b)[i]) - row_times(&m->a, k, vec_at(x), 0);
    vec_at(x)[i] = fma(vec_at(w)[i], r, keep ? vec_at(x)[i] : 0.0);
  }
  return STATUS_OK;
}

static status ref_sweep(device *d, const matrix *m, part p, vec x, vec b, vec weight, vec next,
                        dptr state) {
  const solve_state *s = state_at(state);
  double residual[BLOCK_MAX], update[BLOCK_MAX];
  if (s->verdict != VERDICT_NONE) return STATUS_OK;
  for (lidx begin = 0, end; begin < m->a.rows; begin = end) {
    end = block_end(x, begin);
    if (!part_has(p, m->boundary[begin / TILE])) continue;
    for (lidx i = begin; i < end; i++) {
      double old = vec_at(x)[i], r = vec_at(b)[i] - row_times(&m->a, i, vec_at(x), 0);
      double new = fma(vec_at(weight)[i], r, old);
      vec_at(next)[i] = new;
      residual[i - begin] = r;
      update[i - begin] = new - old;
      d->sums.counter[COUNTER_CHANGED] += bits_of(new) != bits_of(old);
    }
    if (s->monitor_update) {
      add_block(d, 0, update, update, end - begin, s->update_scale);
      add_block(d, 1, vec_at(next) + begin, vec_at(next) + begin, end - begin, s->update_scale);
    } else {
      add_block(d, 0, residual, residual, end - begin, s->scale);
    }
  }
  return STATUS_OK;
}

static status ref_cg_product(device *d, const matrix *m, part p, vec direction, vec q, dptr state) {
  const solve_state *s = state_at(state);
  if (s->verdict != VERDICT_NONE) return STATUS_OK;
  for (lidx begin = 0, end; begin < m->a.rows; begin = end) {
    end = block_end(direction, begin);
    if (!part_has(p, m->boundary[begin / TILE])) continue;
    for (lidx i = begin; i < end; i++) vec_at(q)[i] = row_times(&m->a, i, vec_at(direction), 0);
    add_block(d, 0, vec_at(direction) + begin, vec_at(q) + begin, end - begin, s->scale);
  }
  return STATUS_OK;
}

/* z_i of the preconditioned residual. */
static double preconditioned(vec inverse_diagonal, lidx i, double r) {
  return inverse_diagonal.data.at == NULL ? r : vec_at(inverse_diagonal)[i] * r;
}

static status ref_cg_residual(device *d, vec q, vec inverse_diagonal, vec r, dptr state) {
  const solve_state *s = state_at(state);
  double z[BLOCK_MAX];
  if (s->verdict != VERDICT_NONE) return STATUS_OK;
  for (lidx begin = 0, end; begin < r.rows; begin = end) {
    end = block_end(r, begin);
    for (lidx i = begin; i < end; i++) {
      vec_at(r)[i] = fma(-s->alpha, vec_at(q)[i], vec_at(r)[i]);
      z[i - begin] = preconditioned(inverse_diagonal, i, vec_at(r)[i]);
    }
    add_block(d, 0, vec_at(r) + begin, z, end - begin, s->scale);
    add_block(d, 1, vec_at(r) + begin, vec_at(r) + begin, end - begin, s->scale);
  }
  return STATUS_OK;
}

static status ref_cg_direction(device *d, vec r, vec inverse_diagonal, vec direction, vec x,
                               dptr state) {
  (void)d;
  const solve_state *s = state_at(state);
  if (!s->pending) return STATUS_OK;
  for (lidx i = 0; i < r.rows; i++) {
    double p = vec_at(direction)[i];
    vec_at(x)[i] = fma(s->alpha, p, vec_at(x)[i]);
    vec_at(direction)[i] = fma(s->beta, p, preconditioned(inverse_diagonal, i, vec_at(r)[i]));
  }
  return STATUS_OK;
}

static status ref_cg_advance(device *d, const matrix *m, part p, vec r, vec inverse_diagonal,
                             vec from, vec to, vec x, vec q, dptr state) {
  const solve_state *s = state_at(state);
  (void)from; /* one vector with `to` */
  if (p != PART_BOUNDARY) ref_cg_direction(d, r, inverse_diagonal, to, x, state);
  if (p != PART_INTERIOR && s->pending) {
    for (lidx i = r.rows; i < r.rows + r.ghosts; i++) {
      const double z = preconditioned(inverse_diagonal, i, vec_at(r)[i]);
      vec_at(to)[i] = fma(s->beta, vec_at(to)[i], z);
    }
  }
  return ref_cg_product(d, m, p, to, q, state);
}

static status ref_cg_reduce(device *d, const matrix *m, vec direction, vec q, vec inverse_diagonal,
                            vec r, dptr state) {
  (void)m;
  (void)direction;
  return ref_cg_residual(d, q, inverse_diagonal, r, state);
}

static status ref_judge(device *d, comm *c, judge_kind kind, dptr state, int stop) {
  return tally_judge(c, &d->sums, kind, state_at(state), stop);
}

static status ref_sums(device *d, comm *c, int count, int64_t *asked, double *out) {
  return tally_end(c, &d->sums, count, asked, out);
}

static const solve_backend SOLVE_ref = {.lag = 0,
                                        .matrix_create = ref_matrix_create,
                                        .matrix_release = ref_matrix_release,
                                        .matrix_describe = ref_matrix_describe,
                                        .product = ref_product,
                                        .residual = ref_residual,
                                        .relax = ref_relax,
                                        .relax_set = ref_relax_set,
                                        .sweep = ref_sweep,
                                        .cg_product = ref_cg_product,
                                        .cg_residual = ref_cg_residual,
                                        .cg_direction = ref_cg_direction,
                                        .cg_advance = ref_cg_advance,
                                        .cg_reduce = ref_cg_reduce,
                                        .judge = ref_judge,
                                        .look = host_look,
                                        .mixed = &MIXED_ref};

const backend BACKEND_ref = {.name = "ref",
                             .help = "plain serial loops, the reference of all tests",
                             .open = ref_open,
                             .close = ref_close,
                             .alloc = ref_alloc,
                             .release = host_release,
                             .copy_in = host_copy_in,
                             .copy_out = host_copy_out,
                             .pack = ref_pack,
                             .unpack = ref_unpack,
                             .fill = ref_fill,
                             .copy = ref_copy,
                             .max_abs = ref_max_abs,
                             .dot = ref_dot,
                             .dots = ref_dots,
                             .combine = ref_combine,
                             .multiply = ref_multiply,
                             .accumulate = ref_accumulate,
                             .sums = ref_sums,
                             .solve = &SOLVE_ref,
                             .quad = &QUAD_ref,
                             .ode = &ODE_ref,
                             .coupled = &COUPLED_ref,
                             .heat = &HEAT_ref};
