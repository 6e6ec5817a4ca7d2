/* Coupled systems by the reference backend: point by point, value by value, the formula called for
 * one point at a time. */
#include <float.h>
#include <math.h>

#include "alloc.h"
#include "block_sum.h"
#include "ref_device.h"

struct coupled_work {
  const coupled_layout *l;
  coupled_functions f;
  formula_input *in; /* of the formula called */
};

static void release(device *d, coupled_work **w) {
  (void)d;
  if (*w == NULL) return;
  alloc_free(&(*w)->in);
  alloc_free(w);
}

static status create(device *d, const coupled_layout *l, const coupled_functions *f,
                     coupled_work **out) {
  status rc = STATUS_OK;
  const int64_t most = COUPLED_COMMON + COUPLED_REACHES + 2 * COUPLED_FIELDS + COUPLED_SUMS;
  TRY(alloc_zeroed(out, 1, sizeof **out, "coupled system"));
  (*out)->l = l;
  (*out)->f = *f;
  TRY(alloc_zeroed(&(*out)->in, most + f->count, sizeof(formula_input), "coupled system"));
done:
  if (rc != STATUS_OK) release(d, out);
  return rc;
}

static const double ZERO = 0.0;

/* What point p sees through reach k; NULL: a ghost where there are to be none. */
static const double *seen(const coupled_work *w, const double *y, gidx p, int k, int ghosts) {
  const coupled_layout *l = w->l;
  const coupled_piece s = coupled_piece_of(l, l->reach[k], p % l->n, p / l->n, 1);
  if (s.from < 0) return &ZERO;
  if (!ghosts && (s.from < l->first || s.from >= l->first + l->count)) return NULL;
  return y + coupled_place(l, s.from) + l->reach[k].field;
}

static int common(const coupled_work *w, double *value, double t, gidx p) {
  const coupled_layout *l = w->l;
  const gidx line = p / l->n;
  value[COUPLED_T] = t;
  value[COUPLED_I] = (double)(p % l->n);
  value[COUPLED_J] = (double)line;
  value[COUPLED_N] = (double)l->n;
  value[COUPLED_M] = (double)l->m;
  value[COUPLED_OTHER] = 0.0;
  for (int k = 0; k < COUPLED_COMMON; k++) w->in[k] = (formula_input){&value[k], 0};
  return COUPLED_COMMON;
}

static int parameters(const coupled_work *w, int at) {
  for (int k = 0; k < w->f.count; k++) w->in[at++] = (formula_input){&w->f.parameters[k], 0};
  return at;
}

/* The sums of point p over all points, block by block. */
static void add_up(const coupled_work *w, double t, const double *y, gidx p, double *sum) {
  const coupled_layout *l = w->l;
  const gidx points = l->n * l->m;
  const double *own = y + coupled_place(l, p);
  double value[COUPLED_COMMON], term[COUPLED_SUMS][BLOCK_MAX], *out[COUPLED_SUMS];
  int at = common(w, value, t, p);
  for (int f = 0; f < l->fields; f++) w->in[at++] = (formula_input){own + f, 0};
  parameters(w, at + l->fields);
  for (int s = 0; s < l->sums; s++) sum[s] = 0.0;
  for (gidx begin = 0; begin < points; begin += BLOCK_MAX) {
    const int count = points - begin < BLOCK_MAX ? (int)(points - begin) : BLOCK_MAX;
    for (int q = 0; q < count; q++) {
      const double *theirs = y + coupled_place(l, begin + q);
      value[COUPLED_OTHER] = (double)(begin + q);
      for (int f = 0; f < l->fields; f++) w->in[at + f] = (formula_input){theirs + f, 0};
      for (int s = 0; s < l->sums; s++) out[s] = &term[s][q];
      w->f.sums->batch(w->f.sums->context, 1, w->in, out);
    }
    for (int s = 0; s < l->sums; s++) sum[s] += block_sum(term[s], count);
  }
}

/* Inputs of the derivative at point p. 0: it is not of this part. */
static int bind_inputs(const coupled_work *w, part which, double t, const double *y, gidx p,
                       double *value, double *sum) {
  const coupled_layout *l = w->l;
  int boundary = l->sums > 0;
  for (int k = 0; k < l->reaches; k++) boundary |= seen(w, y, p, k, 0) == NULL;
  if (!part_has(which, boundary)) return 0;
  if (l->sums > 0) add_up(w, t, y, p, sum);
  int at = common(w, value, t, p);
  for (int k = 0; k < l->reaches; k++) w->in[at++] = (formula_input){seen(w, y, p, k, 1), 0};
  at = parameters(w, at);
  for (int s = 0; s < l->sums; s++) w->in[at++] = (formula_input){&sum[s], 0};
  return 1;
}

static status rhs(device *d, coupled_work *w, part which, double t, vec y, vec out) {
  const coupled_layout *l = w->l;
  double value[COUPLED_COMMON], sum[COUPLED_SUMS];
  (void)d;
  for (lidx q = 0; q < l->count; q++) {
    double *to[COUPLED_FIELDS];
    if (!bind_inputs(w, which, t, vec_at(y), l->first + q, value, sum)) continue;
    for (int f = 0; f < l->fields; f++) to[f] = vec_at(out) + (int64_t)q * l->fields + f;
    w->f.rhs->batch(w->f.rhs->context, 1, w->in, to);
  }
  return STATUS_OK;
}

static status jacobian(device *d, coupled_work *w, double t, vec y, double scale, csr_block *a) {
  const coupled_layout *l = w->l;
  double value[COUPLED_COMMON], sum[COUPLED_SUMS];
  double slope[COUPLED_FIELDS * COUPLED_REACHES], *to[COUPLED_FIELDS * COUPLED_REACHES];
  gidx column[COUPLED_COLUMNS];
  int what[COUPLED_REACHES];
  (void)d;
  for (lidx q = 0; q < l->count; q++) {
    const gidx p = l->first + q;
    bind_inputs(w, PART_ALL, t, vec_at(y), p, value, sum);
    for (int k = 0; k < l->fields * l->reaches; k++) to[k] = &slope[k];
    w->f.jacobian->batch(w->f.jacobian->context, 1, w->in, to);
    for (int f = 0; f < l->fields; f++) {
      const int columns = coupled_columns(l, p, f, column, what);

      double *row = a->value + a->offset[q * l->fields + f];
      for (int c = 0; c < columns; c++) row[c] = 0.0;
      for (int k = 0; k < l->reaches; k++) {
        if (what[k] >= 0) row[what[k]] += slope[f * l->reaches + k];
      }
      for (int c = 0; c < columns; c++) {
        row[c] = fma(-scale, row[c], column[c] == p * l->fields + f ? 1.0 : 0.0);
      }
    }
  }
  return STATUS_OK;
}

static double scaled(const double *e, double y, double u, double rtol, double atol) {
  const double a = fabs(y), b = fabs(u);
  if (e == NULL) return 0.0 * u;
  return *e / fmax(fma(rtol, a > b ? a : b, atol), DBL_MIN) + 0.0 * u;
}

static status weigh(device *d, vec e, vec y, vec u, double rtol, double atol) {
  double q[BLOCK_MAX];
  for (lidx i = 0; i < u.rows; i += u.block) {
    const int count = u.rows - i < u.block ? u.rows - i : u.block;
    for (int j = 0; j < count; j++) {
      q[j] = scaled(vec_at(e) == NULL ? NULL : vec_at(e) + i + j, vec_at(y)[i + j],
                    vec_at(u)[i + j], rtol, atol);
    }
    tally_add(&d->sums, 0, block_dot(q, q, count));
  }
  return STATUS_OK;
}

const coupled_backend COUPLED_ref = {
    .create = create, .release = release, .rhs = rhs, .jacobian = jacobian, .weigh = weigh};
