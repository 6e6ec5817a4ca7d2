/* Mixed precision of the CUDA backend (mixed_backend.h): SELL-32 with values in float; the passes
 * are those of rows.cu and vectors.cu, made for floats. Rows kept by their shapes are not there. */
#include "mixed_backend.h"

#include "alloc.h"
#include "device.h"

struct single_matrix {
  matrix *m;
};

/* As the functions of halos and rows take it; who reads it knows what it holds. */
static vec as_vec(single_vec x) { return (vec){x.data, x.rows, x.ghosts, x.block}; }

static void release(device *d, single_matrix **a) {
  if (*a == NULL) return;
  cuda_matrix_release(d, &(*a)->m);
  alloc_free(a);
}

static status create(device *d, const csr_block *a, double scale, single_matrix **out) {
  status rc = STATUS_OK;
  TRY(alloc_zeroed(out, 1, sizeof **out, "matrix in float"));
  TRY(cuda_matrix_create_single(d, a, scale, &(*out)->m));
done:
  if (rc != STATUS_OK) release(d, out);
  return rc;
}

static void describe(const single_matrix *a, matrix_facts *out) { cuda_matrix_describe(a->m, out); }

static status pack(device *d, const halo *h, single_vec x) {
  return cuda_pack_single(d, h, as_vec(x));
}

static status unpack(device *d, const halo *h, single_vec x) {
  return cuda_unpack_single(d, h, as_vec(x));
}

static status narrow(device *d, double c, vec from, single_vec to) {
  status rc = device_ready(d);
  const int64_t count = from.data.at == NULL ? (int64_t)to.rows + to.ghosts : to.rows;
  if (rc != STATUS_OK || count == 0) return rc;
  return device_launched(d, kernel_narrow(d->main, c, from.data.at, count, to.data.at),
                         "kernel narrow");
}

static status correct(device *d, double c, single_vec e, vec x) {
  status rc = device_ready(d);
  if (rc != STATUS_OK || x.rows == 0) return rc;
  return device_launched(d, kernel_correct(d->main, c, e.data.at, x.rows, x.data.at),
                         "kernel correct");
}

static status sweep(device *d, const single_matrix *a, part p, single_vec x, single_vec b,
                    single_vec weight, single_vec next, dptr state) {
  rows_args args = {
      .x = x.data.at, .b = b.data.at, .out = next.data.at, .state = state.at, .block = x.block};
  return rows_judged(d, a->m, p, ROWS_SINGLE_SWEEP, as_vec(weight), &args);
}

static status cg_product(device *d, const single_matrix *a, part p, single_vec direction,
                         single_vec q, dptr state) {
  const vec none = {.rows = 0};
  rows_args args = {
      .x = direction.data.at, .out = q.data.at, .state = state.at, .block = direction.block};
  return rows_judged(d, a->m, p, ROWS_SINGLE_CG_PRODUCT, none, &args);
}

static status cg_residual(device *d, single_vec q, single_vec inverse_diagonal, single_vec r,
                          dptr state) {
  const vector_args args = {.rows = r.rows,
                            .x = q.data.at,
                            .inverse = inverse_diagonal.data.at,
                            .r = r.data.at,
                            .state = state.at,
                            .block = r.block};
  return vectors_judged(d, VECTOR_SINGLE_CG_RESIDUAL, &args);
}

static status cg_direction(device *d, single_vec r, single_vec inverse_diagonal,
                           single_vec direction, single_vec x, dptr state) {
  direction_args args = {.rows = r.rows,
                         .single = 1,
                         .r = r.data.at,
                         .inverse = inverse_diagonal.data.at,
                         .from = direction.data.at,
                         .direction = direction.data.at,
                         .x = x.data.at,
                         .state = state.at};
  return direction_judged(d, &args);
}

const mixed_backend MIXED_cuda = {.matrix_create = create,
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
