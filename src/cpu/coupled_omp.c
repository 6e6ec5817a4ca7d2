/* Coupled systems on all cores. A thread goes through its points (those whose components its tiles
 * of vectors have) in chunks of up to 256 of one line; what a chunk sees through a reach is read in
 * place, or copied together where a chunk ends at an end of the line or sees ghosts, and the
 * formula is called for all of them at once. Bytes per component: 8 read for each field, 16 written
 * (the reaches share what is in the cache).
 *
 * Sums over all points: the state of all is laid out by fields first, then each point calls its
 * formula for blocks of 256 others: n^2 evaluations in all, from the second-level cache. */
#include <float.h>
#include <math.h>

#include "alloc.h"
#include "block_sum.h"
#include "omp_team.h"

enum { CHUNK = 256 };

/* Of one thread. */
typedef struct bench {
  formula_input *in;
  double **out;
  double *room;                          /* all of the following, [..][CHUNK] */
  double *number, *seen, *value, *slope; /* i; what is copied; derivatives; theirs */
  double *sum, *term, *other;
} bench;

struct coupled_work {
  const coupled_layout *l;
  coupled_functions f;
  int threads;
  bench *bench; /* [threads] */
  double *all;  /* [fields][points], with sums */
};

static void release(device *d, coupled_work **w) {
  (void)d;
  if (*w == NULL) return;
  for (int t = 0; (*w)->bench != NULL && t < (*w)->threads; t++) {
    alloc_free(&(*w)->bench[t].in);
    alloc_free(&(*w)->bench[t].out);
    alloc_free(&(*w)->bench[t].room);
  }
  alloc_free(&(*w)->bench);
  alloc_free(&(*w)->all);
  alloc_free(w);
}

static status open_bench(const coupled_work *w, bench *b) {
  status rc = STATUS_OK;
  const coupled_layout *l = w->l;
  const int slopes = w->f.jacobian == NULL ? 0 : l->fields * l->reaches;
  const int64_t inputs = COUPLED_COMMON + l->reaches + 2 * l->fields + w->f.count + l->sums;
  const int64_t rooms = 2 + l->reaches + l->fields + slopes + 2 * l->sums;
  TRY(alloc_zeroed(&b->in, inputs, sizeof *b->in, "coupled system"));
  TRY(alloc_zeroed(&b->out, l->fields + slopes + l->sums, sizeof *b->out, "coupled system"));
  TRY(alloc_array(&b->room, rooms * CHUNK, sizeof *b->room, "coupled system"));
  b->number = b->room;
  b->other = b->number + CHUNK;
  b->seen = b->other + CHUNK;
  b->value = b->seen + (int64_t)l->reaches * CHUNK;
  b->slope = b->value + (int64_t)l->fields * CHUNK;
  b->sum = b->slope + (int64_t)slopes * CHUNK;
  b->term = b->sum + (int64_t)l->sums * CHUNK;
done:
  return rc;
}

static status create(device *d, const coupled_layout *l, const coupled_functions *f,
                     coupled_work **out) {
  status rc = STATUS_OK;
  TRY(alloc_zeroed(out, 1, sizeof **out, "coupled system"));
  coupled_work *w = *out;
  w->l = l;
  w->f = *f;
  w->threads = d->threads;
  TRY(alloc_zeroed(&w->bench, d->threads, sizeof *w->bench, "coupled system"));
  for (int t = 0; t < d->threads; t++) TRY(open_bench(w, &w->bench[t]));
  if (l->sums > 0) {
    TRY(alloc_array(&w->all, l->n * l->m * l->fields, sizeof *w->all, "state of all points"));
  }
done:
  if (rc != STATUS_OK) release(d, out);
  return rc;
}

/* ---- what a chunk sees ---- */

/* Points q .. q + count - 1 of this rank, of one line, from number i of line j on. */
typedef struct chunk {
  lidx q;
  int count;
  gidx i, j;
} chunk;

static chunk chunk_at(const coupled_layout *l, lidx q, lidx end) {
  const gidx p = l->first + q, i = p % l->n;
  gidx count = end - q < CHUNK ? end - q : CHUNK;
  if (l->n - i < count) count = l->n - i;
  return (chunk){q, (int)count, i, p / l->n};
}

/* A piece's values, copied. */
static void copy_piece(const coupled_layout *l, coupled_piece p, int field, const double *y,
                       double *to) {
  for (gidx done = 0; done < p.count;) {
    const gidx count = p.step == 0 ? p.count : coupled_together(l, p.from + done, p.count - done);
    const double *from = p.from < 0 ? NULL : y + coupled_place(l, p.from + p.step * done) + field;
    const int64_t step = (int64_t)p.step * l->fields;
    for (gidx k = 0; k < count; k++) to[done + k] = from == NULL ? 0.0 : from[k * step];
    done += count;
  }
}

static int has_ghosts(const coupled_layout *l, coupled_piece p) {
  const gidx last = p.from + p.step * (p.count - 1);
  return p.from >= 0 && (p.from < l->first || last >= l->first + l->count);
}

/* Whether any of the chunk's reaches sees a ghost. */
static int sees_ghosts(const coupled_layout *l, const chunk *c) {
  for (int k = 0; k < l->reaches; k++) {
    for (int done = 0; done < c->count;) {
      const coupled_piece p = coupled_piece_of(l, l->reach[k], c->i + done, c->j, c->count - done);
      if (has_ghosts(l, p)) return 1;
      done += (int)p.count;
    }
  }
  return 0;
}

/* Where the formula reads what the chunk sees through reach k: in place, or from `room`. */
static formula_input look(const coupled_layout *l, const chunk *c, int k, const double *y,
                          double *room) {
  const int field = l->reach[k].field;
  for (int done = 0; done < c->count;) {
    const coupled_piece p = coupled_piece_of(l, l->reach[k], c->i + done, c->j, c->count - done);
    if (p.count == c->count && p.step == 1 && coupled_together(l, p.from, p.count) == p.count) {
      return (formula_input){y + coupled_place(l, p.from) + field, l->fields};
    }
    copy_piece(l, p, field, y, room + done);
    done += (int)p.count;
  }
  return (formula_input){room, 1};
}

/* Inputs that all formulas have; returns how many. */
static int common(const coupled_work *w, bench *b, const chunk *c, double *shared, double t) {
  shared[COUPLED_T] = t;
  shared[COUPLED_I] = (double)c->i;
  shared[COUPLED_J] = (double)c->j;
  shared[COUPLED_N] = (double)w->l->n;
  shared[COUPLED_M] = (double)w->l->m;
  shared[COUPLED_OTHER] = 0.0;
  for (int k = 0; k < COUPLED_COMMON; k++) b->in[k] = (formula_input){&shared[k], 0};
  return COUPLED_COMMON;
}

static int parameters(const coupled_work *w, bench *b, int at) {
  for (int k = 0; k < w->f.count; k++) b->in[at++] = (formula_input){&w->f.parameters[k], 0};
  return at;
}

/* b->sum of the chunk's points. */
static void add_up(const coupled_work *w, bench *b, const chunk *c, const double *y, double t) {
  const coupled_layout *l = w->l;
  const gidx points = l->n * l->m;
  double shared[COUPLED_COMMON];
  const int own = common(w, b, c, shared, t), theirs = own + l->fields;
  parameters(w, b, theirs + l->fields);
  b->in[COUPLED_OTHER] = (formula_input){b->other, 1};
  for (int s = 0; s < l->sums; s++) b->out[s] = b->term + s * CHUNK;
  for (int q = 0; q < c->count; q++) {
    shared[COUPLED_I] = (double)(c->i + q);
    for (int f = 0; f < l->fields; f++) {
      b->in[own + f] = (formula_input){y + (int64_t)(c->q + q) * l->fields + f, 0};
    }
    for (int s = 0; s < l->sums; s++) b->sum[s * CHUNK + q] = 0.0;
    for (gidx begin = 0; begin < points; begin += BLOCK_MAX) {
      const int count = points - begin < BLOCK_MAX ? (int)(points - begin) : BLOCK_MAX;
      for (int k = 0; k < count; k++) b->other[k] = (double)(begin + k);
      for (int f = 0; f < l->fields; f++) {
        b->in[theirs + f] = (formula_input){w->all + f * points + begin, 1};
      }
      w->f.sums->batch(w->f.sums->context, count, b->in, b->out);
      for (int s = 0; s < l->sums; s++) {
        b->sum[s * CHUNK + q] += block_sum(b->term + s * CHUNK, count);
      }
    }
  }
}

/* The inputs of the derivative for a chunk. */
static void bind(const coupled_work *w, bench *b, const chunk *c, double *shared, double t,
                 const double *y) {
  const coupled_layout *l = w->l;
  if (l->sums > 0) add_up(w, b, c, y, t);
  int at = common(w, b, c, shared, t);
  for (int k = 0; k < c->count; k++) b->number[k] = (double)(c->i + k);
  b->in[COUPLED_I] = (formula_input){b->number, 1};
  for (int k = 0; k < l->reaches; k++) b->in[at++] = look(l, c, k, y, b->seen + k * CHUNK);
  at = parameters(w, b, at);
  for (int s = 0; s < l->sums; s++) b->in[at++] = (formula_input){b->sum + s * CHUNK, 1};
}

/* ---- over all points ---- */

/* The first point of thread t: those before it have their first component in tiles before its. */
static lidx points_begin(const device *d, const coupled_layout *l, int t) {
  const int64_t components = (int64_t)l->count * l->fields;
  int64_t begin = (int64_t)share_begin(d, (lidx)components, t) * TILE;
  if (begin > components) begin = components;
  return (lidx)((begin + l->fields - 1) / l->fields);
}

static void rhs_chunk(const coupled_work *w, bench *b, const chunk *c, double t, const double *y,
                      double *out) {
  const int fields = w->l->fields;
  double shared[COUPLED_COMMON];
  double *to = out + (int64_t)c->q * fields;
  bind(w, b, c, shared, t, y);
  for (int f = 0; f < fields; f++) b->out[f] = fields == 1 ? to : b->value + f * CHUNK;
  w->f.rhs->batch(w->f.rhs->context, c->count, b->in, b->out);
  for (int f = 0; f < fields && fields > 1; f++) {
    const double *from = b->value + f * CHUNK;
    for (int k = 0; k < c->count; k++) to[(int64_t)k * fields + f] = from[k];
  }
}

/* The state of all points, by fields. */
static void lay_out(const device *d, coupled_work *w, const double *y) {
  const coupled_layout *l = w->l;
  const gidx points = l->n * l->m;
#pragma omp parallel for num_threads(d->threads) schedule(static)
  for (gidx p = 0; p < points; p++) {
    const double *from = y + coupled_place(l, p);
    for (int f = 0; f < l->fields; f++) w->all[f * points + p] = from[f];
  }
}

static status rhs(device *d, coupled_work *w, part which, double t, vec y, vec out) {
  const coupled_layout *l = w->l;
  const int team = l->sums > 0 ? d->threads : team_size(d, tile_count(out.rows));
  if (l->sums > 0 && which == PART_INTERIOR) return STATUS_OK;
  if (l->sums > 0 && l->count > 0) lay_out(d, w, vec_at(y)); /* no ghosts without points */
#pragma omp parallel for num_threads(team) schedule(static)
  for (int k = 0; k < d->threads; k++) {
    /* with sums a point is work enough: points, not tiles, are dealt */
    const lidx end =
        l->sums > 0 ? (lidx)((int64_t)l->count * (k + 1) / d->threads) : points_begin(d, l, k + 1);
    lidx q = l->sums > 0 ? (lidx)((int64_t)l->count * k / d->threads) : points_begin(d, l, k);
    while (q < end) {
      const chunk c = chunk_at(l, q, end);
      if (l->sums > 0 || which == PART_ALL || part_has(which, sees_ghosts(l, &c))) {
        rhs_chunk(w, &w->bench[k], &c, t, vec_at(y), vec_at(out));
      }
      q += c.count;
    }
  }
  return STATUS_OK;
}

/* ---- derivatives ---- */

static void jacobian_rows(const coupled_work *w, const bench *b, const chunk *c, double scale,
                          csr_block *a) {
  const coupled_layout *l = w->l;
  gidx column[COUPLED_COLUMNS];
  int what[COUPLED_REACHES];
  for (int k = 0; k < c->count; k++) {
    const gidx p = l->first + c->q + k;
    for (int f = 0; f < l->fields; f++) {
      const int columns = coupled_columns(l, p, f, column, what);

      double *row = a->value + a->offset[(int64_t)(c->q + k) * l->fields + f];
      for (int i = 0; i < columns; i++) row[i] = 0.0;
      for (int r = 0; r < l->reaches; r++) {
        if (what[r] >= 0) row[what[r]] += b->slope[(f * l->reaches + r) * CHUNK + k];
      }
      for (int i = 0; i < columns; i++) {
        row[i] = fma(-scale, row[i], column[i] == p * l->fields + f ? 1.0 : 0.0);
      }
    }
  }
}

static status jacobian(device *d, coupled_work *w, double t, vec y, double scale, csr_block *a) {
  const coupled_layout *l = w->l;
  const int team = team_size(d, tile_count(y.rows));
#pragma omp parallel for num_threads(team) schedule(static)
  for (int n = 0; n < d->threads; n++) {
    bench *b = &w->bench[n];
    const lidx end = points_begin(d, l, n + 1);
    for (lidx q = points_begin(d, l, n); q < end;) {
      const chunk c = chunk_at(l, q, end);
      double shared[COUPLED_COMMON];
      bind(w, b, &c, shared, t, vec_at(y));
      for (int k = 0; k < l->fields * l->reaches; k++) b->out[k] = b->slope + k * CHUNK;
      w->f.jacobian->batch(w->f.jacobian->context, c.count, b->in, b->out);
      jacobian_rows(w, b, &c, scale, a);
      q += c.count;
    }
  }
  return STATUS_OK;
}

/* ---- errors ---- */

/* 24 bytes per row. */
static void weigh_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  const double rtol = p->factor[0], atol = p->factor[1];
  const lidx n = end - begin;
  double q[TILE];
  (void)tile;
  for (lidx j = 0; j < n; j++) {
    const double a = fabs(p->b[begin + j]), b = fabs(p->weight[begin + j]);
    const double scale = fma(rtol, a > b ? a : b, atol);
    q[j] = p->x[begin + j] / (scale > DBL_MIN ? scale : DBL_MIN) + 0.0 * p->weight[begin + j];
  }
  add_blocks(w, 0, q, q, n, p->block);
}

static void look_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  const lidx n = end - begin;
  double q[TILE];
  (void)tile;
  for (lidx j = 0; j < n; j++) q[j] = 0.0 * p->weight[begin + j];
  add_blocks(w, 0, q, q, n, p->block);
}

static status weigh(device *d, vec e, vec y, vec u, double rtol, double atol) {
  const double factor[] = {rtol, atol};
  const pass p = {
      .x = vec_at(e), .b = vec_at(y), .weight = vec_at(u), .factor = factor, .block = u.block};
  run_vector(d, u.rows, &p, vec_at(e) == NULL ? look_tile : weigh_tile);
  return STATUS_OK;
}

const coupled_backend COUPLED_omp = {
    .create = create, .release = release, .rhs = rhs, .jacobian = jacobian, .weigh = weigh};
