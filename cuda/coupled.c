/* Large coupled systems on a GPU: a thread has a point, or a few (coupled_thread.h), by kernels
 * that are compiled around the system's formulas and reaches (rtc.h).
 *
 * INTERIOR are the points whose places are known by counting, on main; BOUNDARY is a list of all
 * others, on urgent where halos travel. Without ghosts one launch makes both. Sums over all points
 * come before, by a kernel of their own whose launches are cut so that none lasts long.
 *
 * A Jacobian is made piece by piece in a buffer of at most BUFFER bytes and copied to the host,
 * where matrices are built from rows (matrix.c): 8 bytes an entry out, 8 a row in. */
#include "coupled_cuda.h" /* before device.h, some of whose names are variables in there */

#include <string.h>

#include "alloc.h"
#include "coupled_define.h"
#include "device.h"
#include "rtc.h"

_Static_assert((int)COUPLED_TEXTS <= RTC_TEXTS && (int)COUPLED_DEFINES <= RTC_DEFINES,
               "a request has room");

static const int64_t BUFFER = INT64_C(64) << 20;

/* Pairs of points of a launch: some tenths of a second. */
static const int64_t PAIRS = INT64_C(1) << 35;

struct coupled_work {
  coupled_layout l; /* its ghosts on the device */
  coupled_functions f;
  rtc_kernel rhs, sums, jacobian;
  coupled_state s;
  coupled_near near;
  int at_once;
  int64_t near_blocks, far_count;
  gidx *ghost; /* device, like all that follow */
  lidx *far;
  double *sum;
  double *entry; /* [piece fields (reaches + 1)] */
  int64_t *offset;
  lidx piece; /* points of a Jacobian at a time */
};

static double *at(vec x) { return x.data.at; }

static void release(device *d, coupled_work **out) {
  coupled_work *w = *out;
  if (w == NULL) return;
  cudaStreamSynchronize(d->main);
  cudaStreamSynchronize(d->urgent);
  void *const room[] = {w->ghost, w->far, w->sum, w->entry, w->offset};
  for (size_t i = 0; i < sizeof room / sizeof *room; i++) {
    if (room[i] != NULL) device_free(d, room[i]);
  }
  rtc_kernel_release(&w->rhs);
  rtc_kernel_release(&w->sums);
  rtc_kernel_release(&w->jacobian);
  alloc_free(out);
}

/* ---- kernels ---- */

typedef enum coupled_kernel { OF_RHS, OF_SUMS, OF_JACOBIAN, KERNELS } coupled_kernel;

static const char *const KERNEL_NAME[KERNELS] = {"coupled_rhs", "coupled_sums", "coupled_jacobian"};

static const formula *formula_of(const coupled_functions *f, coupled_kernel which) {
  return which == OF_RHS ? f->rhs : which == OF_SUMS ? f->sums : f->jacobian;
}

/* What is compiled. look, text: room for texts that the request points to. STATUS_UNAVAILABLE: it
 * cannot be. */
static status make_request(const coupled_layout *l, const coupled_functions *f, int at_once,
                           coupled_kernel which, formula *look, char text[COUPLED_LOOK],
                           rtc_request *r) {
  const formula *of = formula_of(f, which);
  rtc_check_define define[COUPLED_DEFINES];
  memset(r, 0, sizeof *r);
  if (of->text == NULL) {
    return fail(STATUS_UNAVAILABLE, "the %s has no text for a GPU", of->kind);
  }
  if (f->count > COUPLED_VALUES) {
    return fail(STATUS_UNAVAILABLE, "a coupled system on a GPU has at most %d parameters, not %d",
                COUPLED_VALUES, f->count);
  }
  r->kernel = KERNEL_NAME[which];
  r->f = of;
  r->texts = COUPLED_TEXTS;
  r->before = "pair.h";
  coupled_texts(l, f, look, text, r->text);
  for (int i = 0; i < COUPLED_TEXTS; i++) { /* of the formulas only the kernel's own */
    if (r->text[i].f != of && r->text[i].f != look) r->text[i].f = NULL;
  }
  coupled_defines(l, f, at_once, define);
  for (int i = 0; i < COUPLED_DEFINES; i++) rtc_define(r, define[i].name, define[i].value);
  return STATUS_OK;
}

status coupled_kernel_check(const coupled_layout *l, const coupled_functions *f, int which,
                            int64_t *bytes) {
  enum { OLDEST = 80 };
  status rc = STATUS_OK;
  rtc_request r;
  formula look;
  char text[COUPLED_LOOK], *code = NULL;
  *bytes = 0;
  TRY(make_request(l, f, coupled_at_once(l), (coupled_kernel)which, &look, text, &r));
  TRY(rtc_compile(&r, OLDEST, &code, bytes));
done:
  alloc_free(&code);
  return rc;
}

static status make_kernel(device *d, const coupled_work *w, coupled_kernel which, rtc_kernel *out) {
  status rc = STATUS_OK;
  rtc_request r;
  formula look;
  char text[COUPLED_LOOK];
  if (formula_of(&w->f, which) == NULL) return STATUS_OK;
  TRY(make_request(&w->l, &w->f, w->at_once, which, &look, text, &r));
  rc = rtc_kernel_create(d, &r, COUPLED_THREADS, out);
done:
  return rc;
}

/* ---- opening ---- */

static status upload_far(device *d, coupled_work *w) {
  status rc = STATUS_OK;
  lidx *far = NULL;
  const int64_t bytes = w->far_count * (int64_t)sizeof *far;
  TRY(alloc_array(&far, w->far_count, sizeof *far, "points at ends"));
  coupled_far_of(&w->l, &w->near, w->at_once, far);
  TRY(device_alloc(d, bytes, "points at ends", &w->far));
  TRY(device_upload(d, w->far, far, bytes));
done:
  alloc_free(&far);
  return rc;
}

static status open_jacobian(device *d, coupled_work *w) {
  status rc = STATUS_OK;
  const int64_t rows = w->l.fields, each = rows * (w->l.reaches + 1) * (int64_t)sizeof(double);
  w->piece = BUFFER / each < w->l.count ? (lidx)(BUFFER / each) : w->l.count;
  TRY(device_alloc(d, w->piece * each, "derivatives", &w->entry));
  TRY(device_alloc(d, w->piece * rows * (int64_t)sizeof *w->offset, "row offsets", &w->offset));
done:
  return rc;
}

static status create(device *d, const coupled_layout *l, const coupled_functions *f,
                     coupled_work **out) {
  status rc = STATUS_OK;
  *out = NULL;
  TRY(device_ok(d));
  TRY(alloc_zeroed(out, 1, sizeof **out, "coupled system"));
  coupled_work *w = *out;
  const int64_t ghosts = l->ghosts * (int64_t)sizeof *w->ghost;
  w->l = *l;
  w->f = *f;
  w->at_once = coupled_at_once(l);
  w->near = coupled_near_of(l, w->at_once);
  w->near_blocks = coupled_near_blocks(l, &w->near);
  w->far_count = coupled_far_of(l, &w->near, w->at_once, NULL);
  TRY(make_kernel(d, w, OF_RHS, &w->rhs));
  TRY(make_kernel(d, w, OF_SUMS, &w->sums));
  TRY(make_kernel(d, w, OF_JACOBIAN, &w->jacobian));
  TRY(upload_far(d, w));
  TRY(device_alloc(d, ghosts, "points of other ranks", &w->ghost));
  TRY(device_upload(d, w->ghost, l->ghost, ghosts));
  w->l.ghost = w->ghost;
  if (l->sums > 0) {
    const int64_t sums = (int64_t)l->count * l->sums * (int64_t)sizeof *w->sum;
    TRY(device_alloc(d, sums, "sums over all points", &w->sum));
  }
  if (f->jacobian != NULL) TRY(open_jacobian(d, w));
  coupled_state_of(&w->l, f, &w->s);
  w->s.sum = w->sum;
done:
  if (rc != STATUS_OK) release(d, out);
  return rc;
}

/* ---- derivatives ---- */

static status make_sums(device *d, const coupled_work *w, const coupled_state *s,
                        cudaStream_t stream) {
  status rc = STATUS_OK;
  const int64_t most = PAIRS / (w->l.n * w->l.m) / COUPLED_ROW * COUPLED_ROW;
  const lidx piece = most >= w->l.count   ? w->l.count
                     : most > COUPLED_ROW ? (lidx)most
                                          : COUPLED_ROW;
  coupled_sums_args a = {.s = *s, .sum = w->sum};
  for (; a.begin < w->l.count; a.begin = a.end) {
    a.end = w->l.count - a.begin < piece ? w->l.count : a.begin + piece;
    TRY(rtc_launch(d, &w->sums, stream, (a.end - a.begin + COUPLED_ROW - 1) / COUPLED_ROW,
                   COUPLED_THREADS, &a, "coupled_sums"));
  }
done:
  return rc;
}

/* Whether a part has the near points, and the far ones. */
static void split(const coupled_work *w, part p, int *near, int *far) {
  const int all_at_once = w->l.ghosts == 0 && w->l.sums == 0;
  *near = p == PART_ALL || p == (w->l.sums > 0 ? PART_BOUNDARY : PART_INTERIOR);
  *far = p == PART_ALL || p == (all_at_once ? PART_INTERIOR : PART_BOUNDARY);
}

static status rhs(device *d, coupled_work *w, part p, double t, vec y, vec out) {
  status rc = STATUS_OK;
  cudaStream_t stream;
  coupled_rhs_args a = {.s = w->s, .near = w->near, .far = w->far, .out = at(out)};
  int near, far;
  split(w, p, &near, &far);
  TRY(device_ok(d));
  a.s.t = t;
  a.s.y = at(y);
  a.blocks = near ? w->near_blocks : 0;
  a.far_count = far ? w->far_count : 0;
  const int64_t blocks = a.blocks + (a.far_count + COUPLED_THREADS - 1) / COUPLED_THREADS;
  if (blocks == 0) goto done;
  TRY(device_stream_for(d, p, &stream));
  if (w->l.sums > 0) TRY(make_sums(d, w, &a.s, stream));
  TRY(rtc_launch(d, &w->rhs, stream, blocks, COUPLED_THREADS, &a, "coupled_rhs"));
  rc = device_note_urgent(d, stream);
done:
  return rc;
}

/* ---- Jacobians ---- */

static status jacobian(device *d, coupled_work *w, double t, vec y, double scale, csr_block *m) {
  status rc = STATUS_OK;
  const int64_t rows = w->l.fields;
  coupled_jacobian_args a = {.s = w->s, .scale = scale, .offset = w->offset, .entry = w->entry};
  TRY(device_ready(d));
  a.s.t = t;
  a.s.y = at(y);
  for (; a.begin < w->l.count; a.begin = a.end) {
    a.end = w->l.count - a.begin < w->piece ? w->l.count : a.begin + w->piece;
    const eidx *offset = m->offset + a.begin * rows;
    const int64_t count = (a.end - a.begin) * rows;
    a.before = offset[0];
    TRY(device_upload(d, w->offset, offset, count * (int64_t)sizeof *offset));
    TRY(rtc_launch(d, &w->jacobian, d->main,
                   (a.end - a.begin + COUPLED_THREADS - 1) / COUPLED_THREADS, COUPLED_THREADS, &a,
                   "coupled_jacobian"));
    TRY(cuda_copy_out(d, (hptr){m->value + a.before}, (dptr){w->entry},
                      (offset[count] - a.before) * (int64_t)sizeof(double)));
  }
done:
  return rc;
}

/* ---- errors ---- */

static status weigh(device *d, vec e, vec y, vec u, double rtol, double atol) {
  status rc = device_ready(d);
  const weigh_args a = {.rows = u.rows,
                        .tiles = u.rows / TILE + (u.rows % TILE != 0),
                        .block = u.block,
                        .reverse = device_turn(d),
                        .rtol = rtol,
                        .atol = atol,
                        .e = at(e),
                        .y = at(y),
                        .u = at(u),
                        .end = plain_ending(d)};
  if (rc != STATUS_OK || u.rows == 0) return rc;
  return device_launched(d, kernel_weigh(d->main, &a, d->processors), "kernel weigh");
}

const coupled_backend COUPLED_cuda = {
    .create = create, .release = release, .rhs = rhs, .jacobian = jacobian, .weigh = weigh};
