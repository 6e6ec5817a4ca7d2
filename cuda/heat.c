/* The heat equation on the GPU: the operations of the table (heat_args.h says what is where).
 *
 * Everything runs on `main`, in order, except the halo: pack() copies the boundary planes to pinned
 * memory and marks a point on main (`fork`); unpack() and stages of a boundary plane run on
 * `urgent` from there on, beside the interior planes on main; main waits for them (`join`) before
 * whatever comes next. Planes are contiguous, so halos are plain copies. Where the plan's buffers
 * are in device memory (transport mpi) nothing goes through the host. */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "block_sum.h"
#include "heat_work.h"

static double *at(heat_field f) { return f.data.at; }

static status ready(device *d) {
  status rc = device_settle(d);
  return rc == STATUS_OK ? device_join(d) : rc;
}

void cuda_heat_release(device *d, heat_work **out) {
  heat_work *w = *out;
  if (w == NULL) return;
  cudaStreamSynchronize(d->main);
  cudaStreamSynchronize(d->urgent);
  for (int i = 0; i < HEAT_DIMS; i++) {
    if (w->face[i] != NULL) device_free(d, w->face[i]);
  }
  for (int i = 0; i < HEAT_TWINS; i++) {
    if (w->twin[i] != NULL) device_free(d, w->twin[i]);
  }
  if (w->extreme != NULL) device_free(d, w->extreme);
  if (w->send != NULL) cudaFreeHost(w->send);
  if (w->ghost != NULL) cudaFreeHost(w->ghost);
  if (w->received != NULL) cudaEventDestroy(w->received);
  alloc_free(out);
}

status cuda_heat_create(device *d, const heat_slab *s, const heat_medium *m, heat_work **out) {
  status rc = STATUS_OK;
  const int64_t bytes = heat_points(s) * (int64_t)sizeof(double);
  TRY(alloc_zeroed(out, 1, sizeof **out, "heat slab"));
  heat_work *w = *out;
  w->s = *s;
  w->m = *m;
  TRY(device_alloc(d, 3 * (int64_t)sizeof *w->extreme, "extremes", &w->extreme));
  TRY(device_check(d, cudaEventCreateWithFlags(&w->received, cudaEventDisableTiming),
                   "cudaEventCreate"));
  for (int i = 0; i < s->g.dims && m->face[0] != NULL; i++) {
    TRY(device_alloc(d, bytes, "face coefficients", &w->face[i]));
    TRY(device_upload(d, w->face[i], m->face[i], bytes));
    w->m.face[i] = w->face[i];
  }
done:
  if (rc != STATUS_OK) cuda_heat_release(d, out);
  return rc;
}

/* ---- stages ---- */

heat_pass cuda_heat_pass_of(const heat_work *w, double scale, const heat_input *in, const double *u,
                            double *out) {
  const heat_grid *g = &w->s.g;
  heat_pass p = {.s = w->s,
                 .u = u,
                 .out = out,
                 .scale = scale,
                 .source = at(in->source),
                 .source_value = in->source_value};
  for (int i = 0; i < g->dims; i++) {
    p.face[i] = w->face[i];
    p.c[i] = heat_coefficient(scale, w->m.alpha, g->spacing[i]);
  }
  for (int f = 0; f < 2 * g->dims; f++) {
    p.inflow[f] = scale * heat_inflow(g, f);
    p.flux[f] = in->flux[f];
    p.flux_at[f] = at(in->flux_at[f]);
    p.is_robin[f] = w->m.is_robin[f];
    p.robin[f] = w->m.robin[f];
  }
  return p;
}

status cuda_heat_stream(device *d, const heat_slab *s, int64_t from, int64_t to,
                        cudaStream_t *out) {
  status rc = STATUS_OK;
  const int forked = d->forked, inside = from >= 1 && to <= s->planes - 1;
  TRY(device_settle(d));
  *out = forked && d->joining && (to <= 1 || from >= s->planes - 1) ? d->urgent : d->main;
  if (*out == d->main) {
    TRY(device_join(d));
    if (inside) d->forked = forked;
  }
done:
  return rc;
}

status cuda_heat_urgent(device *d) {
  d->joining = 1;
  return device_check(d, cudaEventRecord(d->join, d->urgent), "cudaEventRecord");
}

status cuda_heat_stage(device *d, heat_work *w, const heat_stage *s, int64_t from, int64_t to) {
  status rc = STATUS_OK;
  cudaStream_t stream;
  heat_stage_args a = {.p = cuda_heat_pass_of(w, s->scale, &s->input, at(s->u), at(s->out)),
                       .base = at(s->base),
                       .terms = s->terms};
  TRY(device_ok(d));
  if (from >= to || w->s.plane == 0) goto done;
  a.p.from = from;
  a.p.to = to;
  for (int i = 0; i < s->terms; i++) {
    a.weight[i] = s->weight[i];
    a.term[i] = at(s->term[i]);
  }
  for (int f = 0; f < HEAT_FACES; f++) a.held[f] = at(s->held[f]);
  TRY(cuda_heat_stream(d, &w->s, from, to, &stream));
  TRY(device_launched(d, kernel_heat_stage(stream, &a), "kernel heat stage"));
  if (stream == d->urgent) TRY(cuda_heat_urgent(d));
done:
  return rc;
}

/* ---- passes ---- */

void cuda_heat_range(const heat_slab *s, int margin, int64_t *from, int64_t *to) {
  const int last = s->g.dims - 1;
  const int64_t n = s->g.n[last];
  *from = *to = 0;
  if (s->planes == 0 || s->plane == 0) return;
  *from = -margin;
  *to = s->planes + margin;
  if (s->g.face[2 * last] == HEAT_PERIODIC && n > 1) return;
  if (*from < -s->first) *from = -s->first;
  if (*to > n - s->first) *to = n - s->first;
}

/* Steps of one launch at most. */
static int most_steps(int dims, int variable) {
  if (dims == 1) return LINE_STEPS;
  if (dims == 2) return variable ? ROWS_STEPS_VARIABLE : ROWS_STEPS;
  return variable ? PLANES_STEPS_VARIABLE : PLANES_STEPS;
}

/* Whether stages are Euler steps one after the other, of which only the last one's result counts,
 * with the same input and held points that stay. */
static int are_steps(const heat_stage *s, int count) {
  for (int i = 0; i < count; i++) {
    if (s[i].terms != 0 || at(s[i].base) != at(s[i].u) || s[i].scale != s[0].scale) return 0;
    if (memcmp(&s[i].input, &s[0].input, sizeof s->input) != 0) return 0;
    if (i > 0 && at(s[i].u) != at(s[i - 1].out)) return 0;
    if (at(s[i].out) != at(s[i % 2].out) || (i > 0 && at(s[1].out) != at(s[0].u))) return 0;
    if (i + 1 < count && !s[i].fleeting) return 0;
    for (int f = 0; f < HEAT_FACES; f++) {
      if (at(s[i].held[f]) != NULL) return 0;
    }
  }
  return 1;
}

/* Of the planes [begin, end) that `reach` steps make, those that need no ghost plane; none where
 * they are so few that launches of their own would cost more than waiting. */
static void inside_of(const heat_slab *s, int reach, int64_t begin, int64_t end, int64_t *from,
                      int64_t *to) {
  enum { WORTH = 8 };
  const int last = s->g.dims - 1, around = s->g.face[2 * last] == HEAT_PERIODIC;
  *from = around || s->first > 0 ? reach : begin;
  *to = around || s->first + s->planes < s->g.n[last] ? s->planes - reach : end;
  if (*to - *from < WORTH * reach) *from = *to = begin;
}

/* One launch: a->steps steps to planes [from, to). */
static status launch_steps(device *d, heat_march_args *a, int64_t from, int64_t to) {
  a->p.from = from;
  a->p.to = to;
  if (from >= to) return STATUS_OK;
  switch (a->p.s.g.dims) {
  case 1:
    return device_launched(d, kernel_heat_line(d->main, a), "kernel heat line");
  case 2:
    return device_launched(d, kernel_heat_rows(d->main, a, d->processors), "kernel heat rows");
  default:
    return device_launched(d, kernel_heat_planes(d->main, a, d->processors), "kernel heat planes");
  }
}

status cuda_heat_march(device *d, heat_march_args *a, int margin) {
  int64_t from, to;
  cuda_heat_range(&a->p.s, margin, &from, &to);
  return launch_steps(d, a, from, to);
}

/* Steps between the two fields in turn: an even number of launches where the result's field is that
 * of the first input, else an odd one. Before the ghost planes come the first launch makes what
 * needs none: it writes the other field, so what the rest needs is still there. */
static status run_steps(device *d, heat_work *w, const heat_stage *s, int count, part which) {
  status rc = STATUS_OK;
  const int most = most_steps(w->s.g.dims, w->face[0] != NULL);
  int passes = (count + most - 1) / most;
  if (passes % 2 != count % 2) passes++;
  for (int i = 0, left = count; i < passes; i++) {
    double *u = at(i % 2 == 0 ? s->u : s->out), *out = at(i % 2 == 0 ? s->out : s->u);
    heat_march_args a = {.p = cuda_heat_pass_of(w, s->scale, &s->input, u, out)};
    a.steps = (left + passes - i - 1) / (passes - i);
    left -= a.steps;
    int64_t begin, end, from, to;
    cuda_heat_range(&w->s, left, &begin, &end);
    inside_of(&w->s, a.steps, begin, end, &from, &to);
    if (which == PART_INTERIOR) {
      TRY(launch_steps(d, &a, from, to));
      break;
    }
    if (i > 0 || which == PART_ALL) {
      TRY(launch_steps(d, &a, begin, end));
    } else {
      TRY(launch_steps(d, &a, begin, from));
      TRY(launch_steps(d, &a, to, end));
    }
  }
done:
  return rc;
}

/* Stages one after the other; the first one's planes that need no ghost plane come first. */
static status run_stages(device *d, heat_work *w, const heat_stage *s, int count, part which) {
  status rc = STATUS_OK;
  for (int i = 0; i < count; i++) {
    int64_t begin, end, from, to;
    cuda_heat_range(&w->s, count - 1 - i, &begin, &end);
    inside_of(&w->s, 1, begin, end, &from, &to);
    if (which == PART_INTERIOR) {
      TRY(cuda_heat_stage(d, w, s, from, to));
      break;
    }
    if (i > 0 || which == PART_ALL) {
      TRY(cuda_heat_stage(d, w, &s[i], begin, end));
    } else {
      TRY(cuda_heat_stage(d, w, s, begin, from));
      TRY(cuda_heat_stage(d, w, s, to, end));
    }
  }
done:
  return rc;
}

status cuda_heat_pass(device *d, heat_work *w, const heat_stage *s, int count, part which) {
  status rc = STATUS_OK;
  const int forked = d->forked;
  if (count < 2) return run_stages(d, w, s, count, which);
  const int steps = are_steps(s, count);
  if (!steps && which == PART_INTERIOR) return device_ok(d); /* all of it follows as the boundary */
  TRY(ready(d));
  if (!steps) {
    rc = cuda_heat_chains(d, w, s, count);
    goto done;
  }
  if (which == PART_INTERIOR) d->forked = forked; /* the halo comes beside it */
  rc = run_steps(d, w, s, count, which);
done:
  return rc;
}

/* Two launches: the result is where the driver wants it. */
int cuda_heat_depth(const device *d, const heat_grid *g, int variable, int64_t planes) {
  (void)d, (void)planes;
  return 2 * most_steps(g->dims, variable);
}

/* ---- halo ---- */

/* Pinned memory for `count` numbers; no room for it is this program's trouble, not the device's. */
static status make_pinned(device *d, int64_t count, double **buffer, int64_t *room) {
  if (count <= *room) return STATUS_OK;
  if (*buffer != NULL) cudaFreeHost(*buffer);
  *buffer = NULL;
  *room = 0;
  const size_t bytes = (size_t)count * sizeof **buffer;
  const cudaError_t error = cudaHostAlloc((void **)buffer, bytes, cudaHostAllocDefault);
  if (error == cudaSuccess) *room = count;
  if (error != cudaErrorMemoryAllocation) return device_check(d, error, "cudaHostAlloc");
  cudaGetLastError(); /* not sticky */
  return fail(STATUS_UNAVAILABLE, "not enough pinned host memory for the halo: %zu bytes", bytes);
}

/* How many planes from number i on lie one after the other: row[i ..] count up; a run does not
 * reach over `fence`, where the ghost planes before the slab end. */
static lidx run_of(const lidx *row, lidx i, lidx count, int64_t fence) {
  lidx n = 1;
  while (i + n < count && row[i + n] == row[i] + n && row[i + n] != fence) n++;
  return n;
}

/* To or from a halo's buffer; that of a plan with adopted ones is device memory. */
static status copy(device *d, const halo *h, void *to, const void *from, int64_t numbers,
                   cudaStream_t stream) {
  const size_t bytes = (size_t)numbers * sizeof(double);
  const cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
  return h->adopted ? device_check(d, error, "copy of planes")
                    : device_copied(d, error, "copy of planes");
}

status cuda_heat_pack(device *d, heat_work *w, const halo *h, heat_field u) {
  status rc = STATUS_OK;
  const int64_t plane = w->s.plane;
  double *to = h->send_buffer;
  TRY(ready(d));
  if (!h->adopted) {
    TRY(make_pinned(d, h->sends * plane, &w->send, &w->sends));
    to = w->send;
  }
  for (lidx i = 0, n; i < h->sends; i += n) {
    n = run_of(h->send_row, i, h->sends, -1);
    TRY(copy(d, h, to + i * plane, at(u) + (h->send_row[i] + w->s.halo) * plane, n * plane,
             d->main));
  }
  TRY(device_check(d, cudaEventRecord(d->fork, d->main), "cudaEventRecord"));
  d->forked = 1;
  TRY(device_check(d, cudaEventSynchronize(d->fork), "copy of planes"));
  if (!h->adopted && h->sends > 0) {
    memcpy(h->send_buffer, w->send, (size_t)(h->sends * plane) * sizeof(double));
  }
done:
  return rc;
}

/* Where ghost plane number `row`, counted over both sides, lies. */
static double *ghost_at(const heat_work *w, heat_field u, int64_t row) {
  return at(u) + (row < w->s.halo ? row : row + w->s.planes) * w->s.plane;
}

status cuda_heat_unpack(device *d, heat_work *w, const halo *h, heat_field u) {
  status rc = STATUS_OK;
  const int64_t plane = w->s.plane;
  const double *from = h->ghost_buffer;
  const int forked = d->forked;
  TRY(device_settle(d));
  if (h->ghosts == 0) goto done;
  if (forked) {
    TRY(device_check(d, cudaStreamWaitEvent(d->urgent, d->fork, 0), "cudaStreamWaitEvent"));
  } else {
    TRY(device_join(d));
  }
  const cudaStream_t stream = forked ? d->urgent : d->main;
  if (!h->adopted) {
    /* the copies of the last exchange have left the pinned buffer */
    TRY(device_check(d, cudaEventSynchronize(w->received), "copy of planes"));
    TRY(make_pinned(d, h->ghosts * plane, &w->ghost, &w->ghosts));
    memcpy(w->ghost, h->ghost_buffer, (size_t)(h->ghosts * plane) * sizeof(double));
    from = w->ghost;
  }
  for (lidx i = 0, n; i < h->ghosts; i += n) {
    n = run_of(h->ghost_row, i, h->ghosts, w->s.halo);
    TRY(copy(d, h, ghost_at(w, u, h->ghost_row[i]), from + i * plane, n * plane, stream));
  }
  TRY(device_check(d, cudaEventRecord(w->received, stream), "cudaEventRecord"));
  if (forked) TRY(cuda_heat_urgent(d));
done:
  return rc;
}

/* ---- totals ---- */

static double value_of(uint64_t key) {
  return double_of(key >> 63 != 0 ? key & (UINT64_MAX >> 1) : ~key);
}

status cuda_heat_totals(device *d, heat_work *w, heat_field u, double *minimum, double *maximum) {
  status rc = STATUS_OK;
  const heat_slab *s = &w->s;
  heat_totals_args a = {.s = *s, .u = at(u) + s->halo * s->plane, .extreme = w->extreme};
  uint64_t key[3];
  *minimum = INFINITY;
  *maximum = -INFINITY;
  TRY(ready(d));
  a.length = s->g.dims == 1 ? s->planes : s->g.n[0];
  if (heat_owned(s) == 0) goto done;
  a.blocks = (a.length + BLOCK_MAX - 1) / BLOCK_MAX;
  a.units = heat_owned(s) / a.length * a.blocks;
  a.end = plain_ending(d);
  TRY(device_launched(d, kernel_heat_totals(d->main, &a, d->processors), "kernel heat totals"));
  TRY(cuda_copy_out(d, (hptr){d->pinned}, (dptr){w->extreme}, (int64_t)sizeof key));
  memcpy(key, d->pinned, sizeof key);
  if (key[0] != UINT64_MAX) *minimum = value_of(key[0]) + 0.0; /* one of two zeros */
  if (key[1] != 0) *maximum = value_of(key[1]) + 0.0;
  if (key[2] != 0) *minimum = *maximum = NAN;
done:
  return rc;
}
