/* Quadrature on a GPU. The kernels are compiled around the integrand when an operation first needs
 * them (rtc.h), each for the kind of grid it is called with: an adaptive run compiles one kernel, a
 * trapezoid another one, and no kernel carries registers for what it does not do.
 *
 * Launches are cut so that none lasts much longer than LONGEST: other users of the GPU, watchdogs
 * and signals get their turn. How long one takes is known from the last. */
#include "quad_cuda.h" /* before device.h, some of whose names are variables in there */

#include <string.h>

#include "alloc.h"
#include "device.h"
#include "rtc.h"

enum { KERNELS = 16 };

/* Thread blocks per place on the GPU: warps do not advance evenly, and a place that falls free gets
 * another one. */
enum { ROUNDS = 8 };

static const double LONGEST = 0.2; /* seconds */

/* Evaluations of a launch before anything is known, and of a batch of regions. */
static const int64_t FIRST_LAUNCH = INT64_C(1) << 24, BATCH_POINTS = INT64_C(1) << 22;

/* A compiled kernel and what it was compiled for. */
typedef struct variant {
  rtc_request request;
  rtc_kernel kernel;
  cudaEvent_t begun, ended;
  int64_t timed; /* evaluations between the two; 0: none were launched */
  double each;   /* seconds an evaluation; 0: not known */
} variant;

struct quad_work {
  const formula *f;
  int dims;
  variant list[KERNELS];
  int variants;
  /* regions: [room] of each, in pinned and device memory */
  int64_t room;
  double *edge, *edge_there, *g;
  quad_estimate *out, *out_there;
  unsigned char *code; /* device */
};

static status create(device *d, const formula *f, int dims, quad_work **out) {
  status rc = STATUS_OK;
  *out = NULL;
  TRY(device_ok(d));
  if (f->text == NULL) return fail(STATUS_UNAVAILABLE, "the %s has no text for a GPU", f->kind);
  if (f->inputs - dims > QUAD_PARAMETERS) {
    return fail(STATUS_USAGE, "an integrand on a GPU has at most %d parameters", QUAD_PARAMETERS);
  }
  TRY(alloc_zeroed(out, 1, sizeof **out, "integrand"));
  (*out)->f = f;
  (*out)->dims = dims;
done:
  return rc;
}

static void release_batch(device *d, quad_work *w) {
  if (w->edge != NULL) cudaFreeHost(w->edge);
  if (w->out != NULL) cudaFreeHost(w->out);
  device_free(d, w->edge_there);
  device_free(d, w->out_there);
  device_free(d, w->g);
  w->edge = w->edge_there = w->g = NULL;
  w->out = w->out_there = NULL;
  w->room = 0;
}

static void release(device *d, quad_work **out) {
  quad_work *w = *out;
  if (w == NULL) return;
  cudaStreamSynchronize(d->main);
  release_batch(d, w);
  device_free(d, w->code);
  for (int i = 0; i < w->variants; i++) {
    rtc_kernel_release(&w->list[i].kernel);
    if (w->list[i].begun != NULL) cudaEventDestroy(w->list[i].begun);
    if (w->list[i].ended != NULL) cudaEventDestroy(w->list[i].ended);
  }
  alloc_free(out);
}

/* ---- kernels ---- */

static int same_request(const rtc_request *a, const rtc_request *b) {
  if (strcmp(a->kernel, b->kernel) != 0 || a->defines != b->defines) return 0;
  for (int i = 0; i < a->defines; i++) {
    if (strcmp(a->define[i], b->define[i]) != 0) return 0;
  }
  return 1;
}

/* The kernel of a request, compiled if need be. */
static status get_kernel(device *d, quad_work *w, const rtc_request *r, variant **out) {
  status rc = STATUS_OK;
  for (int i = 0; i < w->variants; i++) {
    *out = &w->list[i];
    if (same_request(&w->list[i].request, r)) return STATUS_OK;
  }
  if (w->variants == KERNELS) return fail(STATUS_BUG, "too many kinds of kernels");
  variant *v = *out = &w->list[w->variants];
  memset(v, 0, sizeof *v);
  v->request = *r;
  TRY(rtc_kernel_create(d, r, QUAD_THREADS, &v->kernel));
  w->variants++;
  TRY(device_check(d, cudaEventCreate(&v->begun), "cudaEventCreate"));
  TRY(device_check(d, cudaEventCreate(&v->ended), "cudaEventCreate"));
done:
  return rc;
}

static rtc_request request_for(const quad_work *w, const char *kernel) {
  rtc_request r;
  memset(&r, 0, sizeof r);
  r.kernel = kernel;
  r.f = w->f;
  rtc_define(&r, "QUAD_NDIMS", w->dims);
  return r;
}

/* How many points of a lane are evaluated at once (formula_wide.h): as many as registers allow;
 * long texts have more values alive. Measured: docs/performance.md. */
static int points_together(const quad_work *w, const quad_grid *g, int fixed) {
  const size_t length = strlen(w->f->text);
  if (w->dims > 3 || length > 2000) return 0;
  return fixed < 0 && (g->kind != QUAD_PRODUCT || w->dims > 1) ? 0 : 4;
}

/* Thread blocks a multiprocessor has to hold, which bounds the registers: 64 a thread for 4. */
static int thread_blocks(const quad_work *w, int points, int is_members) {
  if (w->dims > 3) return 3;
  return points == 0 ? 5 : is_members ? 2 : 4;
}

/* The kernel for a grid. fixed: of a family, else -1. */
static status grid_kernel(device *d, quad_work *w, const char *kernel, const quad_grid *g,
                          int fixed, variant **out) {
  rtc_request r = request_for(w, kernel);
  rtc_define(&r, "QUAD_KIND", g->kind);
  rtc_define(&r, "QUAD_ESTIMATE", g->estimate != 0);
  rtc_define(&r, "QUAD_SINGLE", g->single != 0);
  r.wide = points_together(w, g, fixed);
  rtc_define(&r, "QUAD_RESIDENT", thread_blocks(w, r.wide, fixed >= 0));
  if (fixed >= 0) rtc_define(&r, "QUAD_FIXED", fixed);
  return get_kernel(d, w, &r, out);
}

/* ---- launches of bounded length ---- */

/* Learns from the last timed launch, which has ended or is waited for. */
static status look_back(device *d, variant *v, int wait) {
  float ms = 0.0f;
  if (v->timed == 0 || (!wait && cudaEventQuery(v->ended) == cudaErrorNotReady)) return STATUS_OK;
  status rc = device_check(d, cudaEventSynchronize(v->ended), v->request.kernel);
  if (rc == STATUS_OK) {
    rc = device_check(d, cudaEventElapsedTime(&ms, v->begun, v->ended), "cudaEventElapsedTime");
  }
  if (rc == STATUS_OK) v->each = 1e-3 * (double)ms / (double)v->timed;
  v->timed = 0;
  return rc;
}

/* Items of `size` evaluations for the next launch, of `left`. */
static int64_t next_piece(const variant *v, int64_t left, int64_t size) {
  const double most =
      v->each > 0.0 ? LONGEST / (v->each * (double)size) : (double)FIRST_LAUNCH / (double)size;
  return most >= (double)left ? left : most > 1.0 ? (int64_t)most : 1;
}

static status timed_launch(device *d, variant *v, int64_t blocks, int rounds, void *args,
                           int64_t evaluations) {
  status rc = STATUS_OK;
  const int64_t most = rounds * v->kernel.blocks;
  TRY(device_check(d, cudaEventRecord(v->begun, d->main), "cudaEventRecord"));
  TRY(rtc_launch(d, &v->kernel, d->main, blocks < most ? blocks : most, QUAD_THREADS, args,
                 v->request.kernel));
  TRY(device_check(d, cudaEventRecord(v->ended, d->main), "cudaEventRecord"));
  v->timed = evaluations;
done:
  return rc;
}

static status ready(device *d) {
  status rc = device_settle(d);
  return rc == STATUS_OK ? device_join(d) : rc;
}

/* ---- sums and members ---- */

static void fill_samples(const quad_grid *g, const double *parameters, int count,
                         quad_samples_args *a) {
  a->grid = *g;
  for (int i = 0; i < g->dims && g->kind == QUAD_PRODUCT; i++) {
    a->inverse[i] = 1.0 / (double)g->axis[i].count;
  }
  for (int i = 0; i < count; i++) a->parameters[i] = parameters[i];
}

/* Whether inner blocks are what quad_sum.cuh calls plain. */
static int is_plain(const quad_grid *g, int64_t block) {
  const quad_axis *a = &g->axis[0];
  return g->kind == QUAD_PRODUCT && g->dims == 1 && a->range == QUAD_FINITE && !g->single &&
         block == BLOCK_MAX &&
         (a->kind == QUAD_TRAPEZOID || (a->kind == QUAD_MIDPOINT && !g->estimate));
}

static status sum(device *d, quad_work *w, const quad_grid *g, const double *parameters,
                  int64_t first, int64_t last) {
  status rc = STATUS_OK;
  variant *v;
  quad_sum_args a;
  TRY(ready(d));
  TRY(grid_kernel(d, w, "quad_sum", g, -1, &v));
  memset(&a, 0, sizeof a);
  fill_samples(g, parameters, w->f->inputs - w->dims, &a.s);
  a.block = (int32_t)block_size(g->points);
  a.plain = is_plain(g, a.block);
  a.words = d->words;
  while (first < last) {
    TRY(look_back(d, v, v->each == 0.0));
    const int64_t piece = next_piece(v, last - first, a.block);
    a.first = first;
    a.last = first += piece;
    TRY(timed_launch(d, v, (piece + QUAD_THREADS / WARP - 1) / (QUAD_THREADS / WARP), ROUNDS, &a,
                     piece * a.block));
  }
done:
  return rc;
}

/* The threads of a member: enough of them to fill the GPU, no more than there are lanes. */
static int member_threads(const device *d, int64_t count, int width) {
  const int64_t wanted = (int64_t)d->processors * 1024;
  int threads = width > LANES_MOST ? width / LANES_MOST : 1;
  while (threads < width && count * threads < wanted) threads *= 2;
  return threads;
}

static status members(device *d, quad_work *w, const quad_grid *g, const quad_family *family,
                      int64_t first, int64_t count, dptr sums) {
  status rc = STATUS_OK;
  variant *v;
  quad_members_args a;
  int width = 1;
  TRY(ready(d));
  TRY(grid_kernel(d, w, "quad_members", g, family->fixed_count, &v));
  memset(&a, 0, sizeof a);
  fill_samples(g, family->fixed, family->fixed_count, &a.s);
  a.swept = family->swept;
  while (width < WARP && width < g->points) width *= 2;
  a.width = width;
  for (int64_t at = 0; at < count;) {
    TRY(look_back(d, v, v->each == 0.0));
    a.count = next_piece(v, count - at, g->points);
    a.threads = member_threads(d, a.count / v->kernel.points, width);
    a.first = first + at;
    a.sums = (double *)sums.at + at * (1 + (g->estimate != 0));
    const int64_t together = (int64_t)QUAD_THREADS / a.threads * v->kernel.points;
    TRY(timed_launch(d, v, (a.count + together - 1) / together, 1, &a, a.count * g->points));
    at += a.count;
  }
done:
  return rc;
}

/* ---- regions ---- */

static status reserve_batch(device *d, quad_work *w, int64_t count, int points) {
  status rc = STATUS_OK;
  if (count <= w->room) return STATUS_OK;
  const size_t edges = (size_t)count * 2 * (size_t)w->dims * sizeof(double);
  const size_t outs = (size_t)count * sizeof(quad_estimate);
  release_batch(d, w);
  TRY(device_check(d, cudaHostAlloc((void **)&w->edge, edges, cudaHostAllocDefault),
                   "cudaHostAlloc"));
  TRY(device_check(d, cudaHostAlloc((void **)&w->out, outs, cudaHostAllocDefault),
                   "cudaHostAlloc"));
  TRY(device_alloc(d, (int64_t)edges, "regions", &w->edge_there));
  TRY(device_alloc(d, (int64_t)outs, "regions", &w->out_there));
  TRY(device_alloc(d, count * points * (int64_t)sizeof(double), "regions", &w->g));
  w->room = count;
done:
  return rc;
}

/* Where the points of Malik's rule are. */
static status make_code(device *d, quad_work *w, int points) {
  status rc = STATUS_OK;
  unsigned char code[QUAD_DIMS * QUAD_MALIK_POINTS];
  const int bytes = w->dims * points;
  if (w->code != NULL) return STATUS_OK;
  for (int i = 0; i < bytes; i++) {
    code[i] = (unsigned char)quad_malik_code(w->dims, i % points, i / points);
  }
  TRY(device_alloc(d, bytes, "points of a region", &w->code));
  TRY(device_upload(d, w->code, code, bytes));
done:
  return rc;
}

static status run_batch(device *d, quad_work *w, variant *v, const quad_frame *f, int points,
                        quad_values_args *a, const double *edge, quad_estimate *out) {
  status rc = STATUS_OK;
  const size_t edges = (size_t)a->count * 2 * (size_t)w->dims * sizeof(double);
  const size_t outs = (size_t)a->count * sizeof *out;
  const quad_estimates_args e = {
      .frame = *f, .count = a->count, .edge = w->edge_there, .g = w->g, .out = w->out_there};
  memcpy(w->edge, edge, edges);
  TRY(device_check(d,
                   cudaMemcpyAsync(w->edge_there, w->edge, edges, cudaMemcpyHostToDevice, d->main),
                   "copy to the GPU"));
  const int64_t blocks = (a->count * points + QUAD_THREADS - 1) / QUAD_THREADS;
  TRY(rtc_launch(d, &v->kernel, d->main, blocks < v->kernel.blocks ? blocks : v->kernel.blocks,
                 QUAD_THREADS, a, "quad_values"));
  TRY(device_launched(d, kernel_quad_estimates(d->main, &e), "kernel estimates"));
  TRY(device_check(d, cudaMemcpyAsync(w->out, w->out_there, outs, cudaMemcpyDeviceToHost, d->main),
                   "copy from the GPU"));
  TRY(device_check(d, cudaStreamSynchronize(d->main), "quad_values"));
  memcpy(out, w->out, outs);
done:
  return rc;
}

static status regions(device *d, quad_work *w, const quad_frame *f, const double *parameters,
                      int64_t count, const double *edge, quad_estimate *out) {
  status rc = STATUS_OK;
  variant *v;
  quad_values_args a;
  const int points = quad_region_points(f);
  const int64_t most = BATCH_POINTS / points;
  rtc_request r = request_for(w, "quad_values");
  TRY(ready(d));
  if (count == 0) goto done;
  rtc_define(&r, "QUAD_RULE", f->rule);
  rtc_define(&r, "QUAD_KIND", 0);
  rtc_define(&r, "QUAD_ESTIMATE", 0);
  rtc_define(&r, "QUAD_SINGLE", 0);
  TRY(get_kernel(d, w, &r, &v));
  if (f->rule == QUAD_MALIK) TRY(make_code(d, w, points));
  TRY(reserve_batch(d, w, count < most ? count : most, points));
  memset(&a, 0, sizeof a);
  a.frame = *f;
  for (int i = 0; i < w->f->inputs - w->dims; i++) a.parameters[i] = parameters[i];
  a.edge = w->edge_there;
  a.code = w->code;
  a.g = w->g;
  for (int64_t at = 0; at < count; at += a.count) {
    a.count = count - at < most ? count - at : most;
    TRY(run_batch(d, w, v, f, points, &a, edge + at * 2 * w->dims, out + at));
  }
done:
  return rc;
}

const quad_backend QUAD_cuda = {.create = create,
                                .release = release,
                                .sum = sum,
                                .collect = cuda_collect,
                                .members = members,
                                .regions = regions};
