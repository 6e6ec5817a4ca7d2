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

#include "stream.h"

enum { SYNC_EACH_LAUNCH = CUDA_SYNC };

static const char *const ROW_PASS_NAME[] = {
    "kernel product", "kernel residual",  "kernel sweep",          "kernel cg product",
    "kernel relax",   "kernel relax set", "kernel sweep in float", "kernel cg product in float"};
static const char *const SHAPES_PASS_NAME[] = {
    "kernel product", "kernel residual",   "kernel sweep",    "kernel cg product",
    "kernel relax",   "kernel cg advance", "kernel cg reduce"};
static const char *const VECTOR_PASS_NAME[] = {"kernel dot", "kernel cg residual",
                                               "kernel cg residual in float"};

status device_copied(device *d, cudaError_t error, const char *what) {
  d->facts.copies++;
  return device_check(d, error, what);
}

status device_launched(device *d, cudaError_t error, const char *what) {
  d->facts.launches++;
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
  const kept_kind kind = k->kind;
  status rc = STATUS_OK;
  k->kind = KEPT_NONE;
  switch (kind) {
  case KEPT_ROWS:
    k->rows.end = *end;
    rc = device_launched(d,
                         kernel_rows(d->main, (row_pass)k->pass, &k->rows, d->row_blocks[k->pass]),
                         ROW_PASS_NAME[k->pass]);
    if (rc != STATUS_OK || k->used == NULL) return rc;
    return device_check(d, cudaEventRecord(k->used, d->main), "cudaEventRecord");
  case KEPT_SHAPES:
    k->shapes.end = *end;
    return device_launched(d,
                           kernel_shapes(d->main, (shapes_pass_kind)k->pass, &k->shapes,
                                         d->shape_blocks[k->pass], d->processors),
                           SHAPES_PASS_NAME[k->pass]);
  case KEPT_VECTORS:
    k->vectors.end = *end;
    return device_launched(d,
                           kernel_vectors(d->main, (vector_pass)k->pass, &k->vectors,
                                          d->vector_blocks[k->pass], d->processors),
                           VECTOR_PASS_NAME[k->pass]);
  case KEPT_NONE:
    break;
  }
  return STATUS_OK;
}

status device_settle(device *d) {
  const ending end = plain_ending(d);
  status rc = device_ok(d);
  if (rc == STATUS_OK) rc = launch_kept(d, &end);
  d->kept.kind = KEPT_NONE;
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
  TRY(device_copied(d,
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
  d->kept.kind = KEPT_VECTORS;
  d->kept.pass = (int)pass;
  d->kept.state = args->state;
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

status vectors_judged(device *d, vector_pass pass, const vector_args *args) {
  return vectors_work(d, pass, args, 1);
}

status direction_judged(device *d, direction_args *args) {
  status rc = device_ready(d);
  if (rc != STATUS_OK || args->rows == 0) return rc;
  args->reverse = device_turn(d);
  args->early = d->early;
  return device_launched(d, kernel_direction(d->main, args), "kernel cg direction");
}

static status direction_work(device *d, vec r, vec inverse_diagonal, vec from, vec to, vec x,
                             dptr state) {
  direction_args args = {.rows = r.rows,
                         .r = at(r),
                         .inverse = at(inverse_diagonal),
                         .from = at(from),
                         .direction = at(to),
                         .x = at(x),
                         .state = state.at};
  return direction_judged(d, &args);
}

status cuda_cg_direction(device *d, vec r, vec inverse_diagonal, vec direction, vec x, dptr state) {
  return direction_work(d, r, inverse_diagonal, direction, direction, x, state);
}

/* ---- rows ---- */

static lidx boundary_tiles(const matrix *a) { return a->slices.boundary + a->shaped.boundary; }

/* The tiles in slices and the long rows of a part. */
static matrix_view view_of(const matrix *a, part p) {
  matrix_view v = a->view;
  const tile_counts *l = &a->slices;
  v.list_count = p == PART_ALL        ? l->interior + l->boundary
                 : p == PART_INTERIOR ? l->interior
                                      : l->boundary;
  v.list = v.list_count == v.tiles ? NULL : a->slice_tiles + (p == PART_BOUNDARY ? l->interior : 0);
  if (p == PART_ALL || boundary_tiles(a) == 0) return v; /* BOUNDARY of nothing: no list */
  v.item += p == PART_INTERIOR ? 0 : a->interior_items;
  v.item_count = p == PART_INTERIOR ? a->interior_items : v.items - a->interior_items;
  return v;
}

status device_stream_for(device *d, part p, cudaStream_t *out) {
  status rc = STATUS_OK;
  const int forked = d->forked;
  TRY(device_settle(d));
  *out = p == PART_BOUNDARY && forked ? d->urgent : d->main;
  if (*out == d->main) TRY(device_join(d));
  if (p == PART_INTERIOR) d->forked = forked;
done:
  return rc;
}

status device_note_urgent(device *d, cudaStream_t stream) {
  if (stream != d->urgent) return STATUS_OK;
  d->joining = 1;
  return device_check(d, cudaEventRecord(d->join, d->urgent), "cudaEventRecord");
}

/* A pass of a judged step, of which nothing else follows. */
static int may_keep(const matrix *a, const solve_state *state) {
  return state != NULL && a->ghosts == 0 && boundary_tiles(a) == 0;
}

/* The tiles in slices. `last`: no other launch of this pass follows. */
static status slices_work(device *d, const matrix *a, part p, row_pass pass, rows_args *args,
                          cudaStream_t stream, int last) {
  status rc = STATUS_OK;
  const int streamed = a->streamed && args->x != NULL, leave = last && may_keep(a, args->state);
  if (args->m.list_count == 0) goto done;
  args->early = d->early && stream == d->main && args->m.item_count == 0;
  if (streamed) {
    TRY(stream_rows(d, a, p, pass, args, stream, leave));
    if (!leave) {
      rc = device_note_urgent(d, stream);
      goto done;
    }
  } else if (args->m.item_count > 0 && args->x != NULL) {
    TRY(device_launched(d, kernel_long_rows(stream, args, pass, d->long_blocks),
                        "kernel long rows"));
  }
  if (leave) {
    d->kept.kind = KEPT_ROWS;
    d->kept.used = streamed ? stream_event(d) : NULL;
    d->kept.pass = (int)pass;
    d->kept.state = args->state;
    d->kept.rows = *args;
    goto done;
  }
  TRY(device_launched(d, kernel_rows(stream, pass, args, d->row_blocks[pass]),
                      ROW_PASS_NAME[pass]));
  rc = device_note_urgent(d, stream);
done:
  return rc;
}

/* The tiles kept by shapes. */
static status shapes_work(device *d, const matrix *a, shapes_pass_kind pass, shapes_args *args,
                          cudaStream_t stream) {
  status rc = STATUS_OK;
  if (args->m.list_count == 0) goto done;
  args->reverse = device_turn(d);
  args->early = d->early && stream == d->main;
  args->end = plain_ending(d);
  if (may_keep(a, args->state)) {
    d->kept.kind = KEPT_SHAPES;
    d->kept.pass = (int)pass;
    d->kept.state = args->state;
    d->kept.shapes = *args;
    goto done;
  }
  TRY(device_launched(d, kernel_shapes(stream, pass, args, d->shape_blocks[pass], d->processors),
                      SHAPES_PASS_NAME[pass]));
  rc = device_note_urgent(d, stream);
done:
  return rc;
}

/* The shapes' pass that does what this one does. */
static shapes_pass_kind shapes_pass_of(row_pass pass) {
  switch (pass) {
  case ROWS_RESIDUAL:
    return SHAPES_RESIDUAL;
  case ROWS_SWEEP:
    return SHAPES_SWEEP;
  case ROWS_CG_PRODUCT:
    return SHAPES_CG_PRODUCT;
  case ROWS_RELAX:
    return SHAPES_RELAX;
  default:
    return SHAPES_PRODUCT;
  }
}

static status rows_work(device *d, const matrix *a, part p, row_pass pass, vec weight,
                        rows_args *args) {
  status rc = STATUS_OK;
  cudaStream_t stream;
  TRY(device_ok(d));
  if (p == PART_BOUNDARY && boundary_tiles(a) == 0) goto done; /* leaves a kept pass alone */
  TRY(device_stream_for(d, p, &stream));
  shapes_args shaped = shapes_of(a, p, weight);
  args->m = view_of(a, p);
  args->weight = at(weight);
  args->reverse = device_turn(d);
  args->end = plain_ending(d);
  shaped.x = args->x;
  shaped.b = args->b;
  shaped.y = args->y;
  shaped.out = args->out;
  shaped.state = args->state;
  shaped.scale = args->scale;
  shaped.block = args->block;
  TRY(slices_work(d, a, p, pass, args, stream, shaped.m.list_count == 0));
  TRY(shapes_work(d, a, shapes_pass_of(pass), &shaped, stream));
done:
  return rc;
}

status rows_judged(device *d, const matrix *a, part p, row_pass pass, vec weight, rows_args *args) {
  return rows_work(d, a, p, pass, weight, args);
}

static const vec NO_VECTOR = {.rows = 0};

status cuda_product(device *d, const matrix *a, part p, vec x, vec y) {
  rows_args args = {.x = at(x), .out = at(y), .block = x.block};
  return rows_work(d, a, p, ROWS_PRODUCT, NO_VECTOR, &args);
}

status cuda_residual(device *d, const matrix *a, part p, vec x, vec b, vec r, double scale) {
  rows_args args = {.x = at(x), .b = at(b), .out = at(r), .scale = scale, .block = x.block};
  return rows_work(d, a, p, ROWS_RESIDUAL, NO_VECTOR, &args);
}

status cuda_relax(device *d, const matrix *a, part p, vec x, double c, vec w, vec b, vec y,
                  vec out) {
  rows_args args = {
      .x = at(x), .b = at(b), .y = at(y), .out = at(out), .scale = c, .block = out.block};
  return rows_work(d, a, p, ROWS_RELAX, w, &args);
}

status cuda_relax_set(device *d, const matrix *a, part p, dptr set, vec w, vec b, int keep, vec x) {
  rows_args args = {
      .x = at(x), .b = at(b), .out = at(x), .set = set.at, .keep = keep, .block = x.block};
  return rows_work(d, a, p, ROWS_RELAX_SET, w, &args);
}

status cuda_sweep(device *d, const matrix *a, part p, vec x, vec b, vec weight, vec next,
                  dptr state) {
  rows_args args = {.x = at(x), .b = at(b), .out = at(next), .state = state.at, .block = x.block};
  return rows_work(d, a, p, ROWS_SWEEP, weight, &args);
}

status cuda_cg_product(device *d, const matrix *a, part p, vec direction, vec q, dptr state) {
  rows_args args = {.x = at(direction), .out = at(q), .state = state.at, .block = direction.block};
  return rows_work(d, a, p, ROWS_CG_PRODUCT, NO_VECTOR, &args);
}

/* ---- conjugate gradients in two passes ---- */

/* Wholly of shapes: every neighbour's direction is made where it is needed. */
static shapes_args cg_args(const matrix *a, part p, vec inverse_diagonal, dptr state, int block) {
  shapes_args args = shapes_of(a, p, inverse_diagonal);
  args.state = state.at;
  args.block = block;
  if (!args.vector && inverse_diagonal.data.at != NULL) {
    args.vector = !a->uniform_weight;
    args.diagonal = a->one_weight;
  }
  return args;
}

static int all_shaped(const matrix *a) { return a->slices.interior + a->slices.boundary == 0; }

/* The ghosts of the new direction, after those of r have arrived. */
static status ghosts_work(device *d, cudaStream_t stream, vec r, vec inverse_diagonal, vec from,
                          vec to, dptr state) {
  const shapes_args args = {
      .x = at(from), .r = at(r), .inverse = at(inverse_diagonal), .out = at(to), .state = state.at};
  if (r.ghosts == 0) return STATUS_OK;
  const status rc = device_launched(d, kernel_advance_ghosts(stream, &args, r.rows, r.ghosts),
                                    "kernel cg direction of ghosts");
  return rc == STATUS_OK ? device_note_urgent(d, stream) : rc;
}

/* One after the other; the product of boundary rows waits for the interior. */
static status advance_by_steps(device *d, const matrix *a, part p, vec r, vec inverse_diagonal,
                               vec from, vec to, vec x, vec q, dptr state) {
  status rc = STATUS_OK;
  if (p != PART_BOUNDARY) TRY(direction_work(d, r, inverse_diagonal, from, to, x, state));
  if (p != PART_INTERIOR && r.ghosts > 0) {
    TRY(device_ready(d));
    TRY(ghosts_work(d, d->main, r, inverse_diagonal, from, to, state));
  }
  rc = cuda_cg_product(d, a, p, to, q, state);
done:
  return rc;
}

status cuda_cg_advance(device *d, const matrix *a, part p, vec r, vec inverse_diagonal, vec from,
                       vec to, vec x, vec q, dptr state) {
  status rc = STATUS_OK;
  cudaStream_t stream;
  if (!all_shaped(a)) {
    return advance_by_steps(d, a, p, r, inverse_diagonal, from, to, x, q, state);
  }
  TRY(device_ok(d));
  if (p == PART_BOUNDARY && boundary_tiles(a) == 0) goto done;
  TRY(device_stream_for(d, p, &stream));
  shapes_args args = cg_args(a, p, inverse_diagonal, state, r.block);
  args.x = at(from);
  args.r = at(r);
  args.out = at(to);
  args.solution = at(x);
  if (p != PART_INTERIOR) TRY(ghosts_work(d, stream, r, inverse_diagonal, from, to, state));
  TRY(shapes_work(d, a, SHAPES_CG_ADVANCE, &args, stream));
done:
  return rc;
}

status cuda_cg_reduce(device *d, const matrix *a, vec direction, vec q, vec inverse_diagonal, vec r,
                      dptr state) {
  status rc = STATUS_OK;
  if (!all_shaped(a)) return cuda_cg_residual(d, q, inverse_diagonal, r, state);
  shapes_args args = cg_args(a, PART_ALL, inverse_diagonal, state, r.block);
  TRY(device_ready(d));
  args.x = at(direction);
  args.out = at(r);
  if (args.m.list_count == 0) goto done;
  args.reverse = device_turn(d);
  args.early = d->early;
  d->kept.kind = KEPT_SHAPES; /* all tiles, nothing follows */
  d->kept.pass = SHAPES_CG_REDUCE;
  d->kept.state = args.state;
  d->kept.shapes = args;
done:
  return rc;
}
