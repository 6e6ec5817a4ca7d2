/* Rows of trajectories (ensemble.h), and their way to the backend and back: a piece of consecutive
 * rows is turned into arrays of components, advanced, and turned back. */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "ensemble.h"

double ode_row_bytes(const ode_plan *plan) {
  const double numbers =
      (double)plan->components * (1.0 + (double)plan->saves) + (double)plan->parameters + 5.0;
  return 8.0 * numbers + 1.0;
}

status ode_rows_create(const ode_plan *plan, int64_t first, int64_t count, ode_rows *out) {
  status rc = STATUS_OK;
  const int64_t n = plan->components;
  memset(out, 0, sizeof *out);
  out->first = first;
  out->count = count;
  TRY(alloc_array(&out->y, n * count, sizeof *out->y, "states"));
  TRY(alloc_array(&out->p, plan->parameters * count, sizeof *out->p, "parameters"));
  TRY(alloc_array(&out->t, count, sizeof *out->t, "times"));
  TRY(alloc_array(&out->h, count, sizeof *out->h, "steps"));
  TRY(alloc_array(&out->memory, count, sizeof *out->memory, "errors"));
  TRY(alloc_array(&out->attempts, count, sizeof *out->attempts, "counts of steps"));
  TRY(alloc_array(&out->rejected, count, sizeof *out->rejected, "counts of steps"));
  TRY(alloc_array(&out->status, count, 1, "endings"));
  TRY(alloc_array(&out->saved, plan->saves * n * count, sizeof *out->saved, "saved states"));
done:
  return rc;
}

void ode_rows_release(ode_rows *r) {
  alloc_free(&r->y);
  alloc_free(&r->p);
  alloc_free(&r->t);
  alloc_free(&r->h);
  alloc_free(&r->memory);
  alloc_free(&r->attempts);
  alloc_free(&r->rejected);
  alloc_free(&r->status);
  alloc_free(&r->saved);
}

void ode_rows_start(ode_ensemble *e, ode_rows *r, int64_t first, int64_t count) {
  const ode_plan *plan = &e->plan;
  const int64_t i = first - r->first, saved = plan->saves * plan->components;
  e->start(e->context, first, count, r->y + i * plan->components, r->p + i * plan->parameters);
  for (int64_t k = i; k < i + count; k++) {
    r->t[k] = plan->t_start;
    r->h[k] = plan->adaptive ? plan->dt : 0.0;
    r->memory[k] = 0.0;
    r->attempts[k] = r->rejected[k] = 0;
    r->status[k] = ODE_RUNNING;
  }
  for (int64_t k = i * saved; k < (i + count) * saved; k++) r->saved[k] = NAN;
}

/* ---- staging ---- */

struct ode_staging {
  int64_t most;
  double *turned; /* [most][...]: one array of a piece, components first */
  ode_states s;   /* the backend's */
};

static status room(ode_ensemble *e, int64_t count, size_t size, dptr *out) {
  return e->kernels->alloc(e->place, count * (int64_t)size, "trajectories", out);
}

static int64_t widest(const ode_plan *plan) {
  const int64_t saved = plan->saves * plan->components;
  int64_t width = plan->components > plan->parameters ? plan->components : plan->parameters;
  if (saved > width) width = saved;
  return width > 0 ? width : 1;
}

status ode_staging_create(ode_ensemble *e, int64_t most, ode_staging **out) {
  status rc = STATUS_OK;
  const ode_plan *plan = &e->plan;
  TRY(alloc_zeroed(out, 1, sizeof **out, "trajectories"));
  ode_staging *g = *out;
  g->most = most;
  TRY(alloc_array(&g->turned, widest(plan) * most, sizeof *g->turned, "trajectories"));
  TRY(room(e, plan->components * most, sizeof(double), &g->s.y));
  TRY(room(e, plan->parameters * most, sizeof(double), &g->s.p));
  TRY(room(e, most, sizeof(double), &g->s.t));
  TRY(room(e, most, sizeof(double), &g->s.h));
  TRY(room(e, most, sizeof(double), &g->s.memory));
  TRY(room(e, most, sizeof(int64_t), &g->s.attempts));
  TRY(room(e, most, sizeof(int64_t), &g->s.rejected));
  TRY(room(e, most, 1, &g->s.status));
  TRY(room(e, plan->saves * plan->components * most, sizeof(double), &g->s.saved));
done:
  return rc;
}

void ode_staging_release(ode_ensemble *e, ode_staging **s) {
  if (*s == NULL) return;
  ode_states *at = &(*s)->s;
  dptr *all[] = {&at->y,        &at->p,        &at->t,      &at->h,    &at->memory,
                 &at->attempts, &at->rejected, &at->status, &at->saved};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) e->kernels->release(e->place, all[i]);
  alloc_free(&(*s)->turned);
  alloc_free(s);
}

/* A column array of a piece, as rows [count][width] in host memory, to the backend or back. */
static status turn(ode_ensemble *e, double *rows, int64_t width, int64_t count, dptr columns,
                   int to_backend) {
  status rc = STATUS_OK;
  double *turned = e->staging->turned;
  const int64_t bytes = width * count * (int64_t)sizeof *turned;
  if (bytes == 0) return rc;
  if (!to_backend) TRY(e->kernels->copy_out(e->place, (hptr){turned}, columns, bytes));
  for (int64_t i = 0; i < count; i++) {
    for (int64_t c = 0; c < width; c++) {
      if (to_backend) {
        turned[c * count + i] = rows[i * width + c];
      } else {
        rows[i * width + c] = turned[c * count + i];
      }
    }
  }
  if (to_backend) TRY(e->kernels->copy_in(e->place, columns, (hptr){turned}, bytes));
done:
  return rc;
}

static status move(ode_ensemble *e, void *host, dptr there, int64_t bytes, int to_backend) {
  return to_backend ? e->kernels->copy_in(e->place, there, (hptr){host}, bytes)
                    : e->kernels->copy_out(e->place, (hptr){host}, there, bytes);
}

/* Rows [at, at + count) of r, all of their state. */
static status carry(ode_ensemble *e, ode_rows *r, int64_t at, int64_t count, int to_backend) {
  status rc = STATUS_OK;
  const ode_plan *plan = &e->plan;
  const ode_states *s = &e->staging->s;
  const int64_t n = plan->components, bytes = count * 8;
  TRY(turn(e, r->y + at * n, n, count, s->y, to_backend));
  if (to_backend) TRY(turn(e, r->p + at * plan->parameters, plan->parameters, count, s->p, 1));
  TRY(move(e, r->t + at, s->t, bytes, to_backend));
  TRY(move(e, r->h + at, s->h, bytes, to_backend));
  TRY(move(e, r->memory + at, s->memory, bytes, to_backend));
  TRY(move(e, r->attempts + at, s->attempts, bytes, to_backend));
  TRY(move(e, r->rejected + at, s->rejected, bytes, to_backend));
  TRY(move(e, r->status + at, s->status, count, to_backend));
  TRY(turn(e, r->saved + at * plan->saves * n, plan->saves * n, count, s->saved, to_backend));
done:
  return rc;
}

status ode_piece_load(ode_ensemble *e, ode_rows *r, int64_t first, int64_t count) {
  ode_states *s = &e->staging->s;
  s->first = first;
  s->count = count;
  return carry(e, r, first - r->first, count, 1);
}

status ode_piece_store(ode_ensemble *e, ode_rows *r) {
  const ode_states *s = &e->staging->s;
  return carry(e, r, s->first - r->first, s->count, 0);
}

status ode_piece_advance(ode_ensemble *e, ode_rows *r, int64_t attempts, int *open) {
  status rc = STATUS_OK;
  const ode_states *s = &e->staging->s;
  unsigned char *ended = r->status + (s->first - r->first);
  TRY(e->kernels->ode->advance(e->place, e->kernel, s, attempts));
  TRY(e->kernels->copy_out(e->place, (hptr){ended}, s->status, s->count));
  *open = memchr(ended, ODE_RUNNING, (size_t)s->count) != NULL;
done:
  return rc;
}
