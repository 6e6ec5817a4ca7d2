/* The operations of the table: arguments of kernels, and on which stream they run.
 *
 * Everything runs on `main`, in order, except halos: pack() marks a point on main (`fork`);
 * unpack() and the boundary rows run on `urgent` from there on, beside the interior rows on main;
 * main waits for them (`join`) before whatever comes next. Without ghosts there is no second
 * stream, and the pass of a judged step is kept back for judge() (device.h).
 *
 * Passes run through their tiles forwards and backwards in turn: what the last one touched last is
 * still in the cache. */
#include <string.h>

#include "device.h"

enum { SYNC_EACH_LAUNCH = CUDA_SYNC };

static const char *const ROW_PASS_NAME[] = {"kernel product", "kernel residual",
                                            "kernel sweep",   "kernel cg product",
                                            "kernel relax",   "kernel relax set"};
static const char *const VECTOR_PASS_NAME[] = {"kernel dot", "kernel cg residual"};

status device_launched(device *d, cudaError_t error, const char *what) {
  status rc = device_check(d, error, what);
  if (rc == STATUS_OK && SYNC_EACH_LAUNCH) rc = device_check(d, cudaDeviceSynchronize(), what);
  return rc;
}

static double *at(vec x) { return x.data.at; }

ending plain_ending(const device *d) { return (ending){.words = d->words, .ticket = d->ticket}; }

status device_join(device *d) {
  status rc = device_ok(d);
  d->forked = 0;
  if (rc == STATUS_OK && d->joining) {
    d->joining = 0;
    rc = device_check(d, cudaStreamWaitEvent(d->main, d->join, 0), "cudaStreamWaitEvent");
  }
  return rc;
}

status launch_kept(device *d, const ending *end) {
  kept *k = &d->kept;
  k->active = 0;
  if (k->is_rows) {
    k->rows.end = *end;
    return device_launched(
        d, kernel_rows(d->main, (row_pass)k->pass, &k->rows, d->row_blocks[k->pass]),
        ROW_PASS_NAME[k->pass]);
  }
  k->vectors.end = *end;
  return device_launched(d,
                         kernel_vectors(d->main, (vector_pass)k->pass, &k->vectors,
                                        d->vector_blocks[k->pass], d->processors),
                         VECTOR_PASS_NAME[k->pass]);
}

status device_settle(device *d) {
  const ending end = plain_ending(d);
  status rc = device_ok(d);
  if (d->kept.active && rc == STATUS_OK) rc = launch_kept(d, &end);
  d->kept.active = 0;
  return rc;
}

status device_ready(device *d) {
  status rc = device_settle(d);
  return rc == STATUS_OK ? device_join(d) : rc;
}

int device_turn(device *d) { return d->reverse = !d->reverse; }

/* ---- vectors ---- */

status cuda_fill(device *d, vec x, double value) {
  status rc = device_ready(d);
  const int64_t count = (int64_t)x.rows + x.ghosts;
  if (rc != STATUS_OK || count == 0) return rc;
  return device_launched(d, kernel_fill(d->main, at(x), count, value), "kernel fill");
}

status cuda_copy(device *d, vec to, vec from) {
  status rc = device_ready(d);
  if (rc != STATUS_OK || to.rows == 0) return rc;
  const size_t bytes = (size_t)to.rows * sizeof(double);
  return device_launched(
      d, cudaMemcpyAsync(at(to), at(from), bytes, cudaMemcpyDeviceToDevice, d->main),
      "copy on the GPU");
}

status cuda_max_abs(device *d, vec x, double *out) {
  status rc = STATUS_OK;
  *out = 0.0;
  TRY(device_ready(d));
  if (x.rows == 0) goto done;
  TRY(device_launched(d, kernel_max_abs(d->main, at(x), x.rows, d->largest, d->processors),
                      "kernel max"));
  TRY(device_check(d,
                   cudaMemcpyAsync(d->pinned + TALLY_WORDS, d->largest, sizeof *d->largest,
                                   cudaMemcpyDeviceToHost, d->main),
                   "copy from the GPU"));
  TRY(device_check(d, cudaStreamSynchronize(d->main), "kernel max"));
  *out = double_of((uint64_t)d->pinned[TALLY_WORDS]);
  if (*out != *out) *out = double_of(UINT64_C(0x7ff8) << 48);
done:
  return rc;
}

static lidx tiles_of(lidx rows) { return rows / TILE + (rows % TILE != 0); }

/* Launches a pass over vectors, or keeps it back. */
static status vectors_work(device *d, vector_pass pass, const vector_args *args, int judged) {
  status rc = STATUS_OK;
  TRY(device_ready(d));
  if (args->rows == 0) goto done;
  d->kept.active = 1;
  d->kept.is_rows = 0;
  d->kept.pass = (int)pass;
  d->kept.vectors = *args;
  d->kept.vectors.tiles = tiles_of(args->rows);
  d->kept.vectors.reverse = device_turn(d);
  d->kept.vectors.early = d->early;
  if (!judged) TRY(device_settle(d));
done:
  return rc;
}

status cuda_dot(device *d, vec x, vec y, double scale) {
  const vector_args args = {
      .rows = x.rows, .x = at(x), .inverse = at(y), .scale = scale, .block = x.block};
  return vectors_work(d, VECTOR_DOT, &args, 0);
}

status cuda_cg_residual(device *d, vec q, vec inverse_diagonal, vec r, dptr state) {
  const vector_args args = {.rows = r.rows,
                            .x = at(q),
                            .inverse = at(inverse_diagonal),
                            .r = at(r),
                            .state = state.at,
                            .block = r.block};
  return vectors_work(d, VECTOR_CG_RESIDUAL, &args, 1);
}

status cuda_cg_direction(device *d, vec r, vec inverse_diagonal, vec direction, vec x, dptr state) {
  status rc = device_ready(d);
  if (rc != STATUS_OK || r.rows == 0) return rc;
  const direction_args args = {.rows = r.rows,
                               .reverse = device_turn(d),
                               .early = d->early,
                               .r = at(r),
                               .inverse = at(inverse_diagonal),
                               .direction = at(direction),
                               .x = at(x),
                               .state = state.at};
  return device_launched(d, kernel_direction(d->main, &args), "kernel cg direction");
}

/* ---- rows ---- */

/* The tiles and long rows of a part. */
static matrix_view view_of(const matrix *a, part p) {
  matrix_view v = a->view;
  if (p == PART_ALL || a->boundary_tiles == 0) return v; /* BOUNDARY of nothing never gets here */
  v.list = p == PART_INTERIOR ? a->interior : a->boundary;
  v.list_count = p == PART_INTERIOR ? v.tiles - a->boundary_tiles : a->boundary_tiles;
  v.item += p == PART_INTERIOR ? 0 : a->interior_items;
  v.item_count = p == PART_INTERIOR ? a->interior_items : v.items - a->interior_items;
  return v;
}

/* The stream of a part: boundary rows follow unpack() on urgent. */
static status stream_for(device *d, part p, cudaStream_t *out) {
  status rc = STATUS_OK;
  const int forked = d->forked;
  TRY(device_settle(d));
  *out = p == PART_BOUNDARY && forked ? d->urgent : d->main;
  if (*out == d->main) TRY(device_join(d));
  if (p == PART_INTERIOR) d->forked = forked;
done:
  return rc;
}

static status rows_work(device *d, const matrix *a, part p, row_pass pass, rows_args *args) {
  status rc = STATUS_OK;
  cudaStream_t stream;
  TRY(device_ok(d));
  if (p == PART_BOUNDARY && a->boundary_tiles == 0) goto done; /* leaves a kept pass alone */
  TRY(stream_for(d, p, &stream));
  args->m = view_of(a, p);
  args->reverse = device_turn(d);
  args->early = d->early && stream == d->main && args->m.item_count == 0;
  args->end = plain_ending(d);
  if (args->m.list_count == 0) goto done;
  if (args->m.item_count > 0 && args->x != NULL) {
    TRY(device_launched(d, kernel_long_rows(stream, args, pass == ROWS_RESIDUAL, d->long_blocks),
                        "kernel long rows"));
  }
  if (args->state != NULL && args->m.list == NULL && a->ghosts == 0) {
    d->kept.active = 1;
    d->kept.is_rows = 1;
    d->kept.pass = (int)pass;
    d->kept.rows = *args;
    goto done;
  }
  TRY(device_launched(d, kernel_rows(stream, pass, args, d->row_blocks[pass]),
                      ROW_PASS_NAME[pass]));
  if (stream == d->urgent) {
    TRY(device_check(d, cudaEventRecord(d->join, d->urgent), "cudaEventRecord"));
    d->joining = 1;
  }
done:
  return rc;
}

status cuda_product(device *d, const matrix *a, part p, vec x, vec y) {
  rows_args args = {.x = at(x), .out = at(y), .block = x.block};
  return rows_work(d, a, p, ROWS_PRODUCT, &args);
}

status cuda_residual(device *d, const matrix *a, part p, vec x, vec b, vec r, double scale) {
  rows_args args = {.x = at(x), .b = at(b), .out = at(r), .scale = scale, .block = x.block};
  return rows_work(d, a, p, ROWS_RESIDUAL, &args);
}

status cuda_relax(device *d, const matrix *a, part p, vec x, double c, vec w, vec b, vec y,
                  vec out) {
  rows_args args = {.x = at(x),
                    .b = at(b),
                    .weight = at(w),
                    .y = at(y),
                    .out = at(out),
                    .scale = c,
                    .block = out.block};
  return rows_work(d, a, p, ROWS_RELAX, &args);
}

status cuda_relax_set(device *d, const matrix *a, part p, dptr set, vec w, vec b, int keep, vec x) {
  rows_args args = {.x = at(x),
                    .b = at(b),
                    .weight = at(w),
                    .out = at(x),
                    .set = set.at,
                    .keep = keep,
                    .block = x.block};
  return rows_work(d, a, p, ROWS_RELAX_SET, &args);
}

status cuda_sweep(device *d, const matrix *a, part p, vec x, vec b, vec weight, vec next,
                  dptr state) {
  rows_args args = {.x = at(x),
                    .b = at(b),
                    .weight = at(weight),
                    .out = at(next),
                    .state = state.at,
                    .block = x.block};
  return rows_work(d, a, p, ROWS_SWEEP, &args);
}

status cuda_cg_product(device *d, const matrix *a, part p, vec direction, vec q, dptr state) {
  rows_args args = {.x = at(direction), .out = at(q), .state = state.at, .block = direction.block};
  return rows_work(d, a, p, ROWS_CG_PRODUCT, &args);
}
