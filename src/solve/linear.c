/* Vectors, applies and norms of linear solves (linear.h). Sources of the stopping rules:
 * docs/numerics.md; of the stagnation bound: Higham, Accuracy and Stability of Numerical
 * Algorithms (2002), 7.1 (a residual below gamma (|A||x| + |b|) is rounding). */
#include "linear.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "block_sum.h"
#include "solve_rules.h"
#include "timers.h"

void linear_phase(linear_system *s, int p) { timers_switch(s->timers, (phase)p); }

void linear_meet(linear_system *s) {
  if (comm_size(s->world) > 1) linear_phase(s, PHASE_COMMUNICATE);
}

transport_side linear_side(linear_system *s) {
  return (transport_side){s->kernels, s->place, s->world, &s->plan, &s->halo_send, &s->halo_ghost};
}

status linear_apply(linear_system *s, vec x, linear_work work, void *context) {
  status rc = STATUS_OK;
  ATTEMPT(s, s->kernels->pack(s->place, &s->plan, x));
  if (s->failure != STATUS_OK && s->plan.adopted) TRY(halo_disown(&s->plan));
  linear_phase(s, PHASE_COMMUNICATE);
  TRY(halo_begin(&s->plan));
  linear_phase(s, PHASE_COMPUTE);
  ATTEMPT(s, work(context, PART_INTERIOR));
  linear_phase(s, PHASE_COMMUNICATE);
  TRY(halo_end(&s->plan));
  linear_phase(s, PHASE_COMPUTE);
  ATTEMPT(s, s->kernels->unpack(s->place, &s->plan, x));
  ATTEMPT(s, work(context, PART_BOUNDARY));
done:
  return rc;
}

static status collect(linear_system *s, int count, double *out) {
  int64_t asked = s->ask || s->failure != STATUS_OK;
  linear_meet(s);
  status rc = s->kernels->sums(s->place, s->world, count, &asked, out);
  linear_phase(s, PHASE_COMPUTE);
  if (asked > s->asked) s->asked = asked;
  return rc;
}

static status no_part(void *context, part p) {
  (void)context;
  (void)p;
  return STATUS_OK;
}

status linear_ghosts(linear_system *s, vec x) { return linear_apply(s, x, no_part, NULL); }

typedef struct product_work {
  linear_system *s;
  vec x, y;
} product_work;

static status product_part(void *context, part p) {
  product_work *w = context;
  return w->s->kernels->solve->product(w->s->place, w->s->a, p, w->x, w->y);
}

status linear_product(linear_system *s, vec x, vec y) {
  product_work w = {s, x, y};
  return linear_apply(s, x, product_part, &w);
}

typedef struct residual_work {
  linear_system *s;
  vec x, b, r;
  double scale;
} residual_work;

static status residual_part(void *context, part p) {
  residual_work *w = context;
  return w->s->kernels->solve->residual(w->s->place, w->s->a, p, w->x, w->b, w->r, w->scale);
}

/* Where no room is given for r, its norm is summed anew with other scales until its digits are
 * kept: 2^400 apart, since sums of squares in range span more than that twice. A residual of zero
 * tries them all. */
static status norm_in_range(linear_system *s, residual_work *w, double sum, double *norm) {
  status rc = STATUS_OK;
  const int given = ilogb(w->scale), step = fabs(sum) < 1.0 ? 400 : -400;
  double sums[2] = {sum, 0.0};
  int exponent = given + step;
  while (rules_out_of_range(sums[0]) && exponent >= -1022 && exponent <= 1022) {
    w->scale = ldexp(1.0, exponent);
    TRY(linear_apply(s, w->x, residual_part, w));
    TRY(collect(s, 2, sums));
    *norm = ldexp(sqrt(sums[0]), given - exponent);
    exponent += step;
  }
done:
  return rc;
}

status linear_residual(linear_system *s, vec x, vec b, vec r, double scale, double norm[2]) {
  status rc = STATUS_OK;
  residual_work w = {s, x, b, r, scale};
  double sum[2];
  TRY(linear_apply(s, x, residual_part, &w));
  TRY(collect(s, 2, sum));
  norm[0] = sqrt(sum[0]);
  norm[1] = sqrt(sum[1]);
  if (!rules_out_of_range(sum[0])) goto done;
  if (r.data.at != NULL) {
    TRY(linear_norm(s, r, scale, &norm[0]));
  } else {
    TRY(norm_in_range(s, &w, sum[0], &norm[0]));
  }
done:
  return rc;
}

static status norm_once(linear_system *s, vec x, double scale, double *sum) {
  ATTEMPT(s, s->kernels->dot(s->place, x, x, scale));
  return collect(s, 1, sum);
}

status linear_norm(linear_system *s, vec x, double scale, double *norm) {
  status rc = STATUS_OK;
  double sum, largest;
  TRY(norm_once(s, x, scale, &sum));
  *norm = sqrt(sum);
  if (!rules_out_of_range(sum)) goto done;
  TRY(linear_max_abs(s, x, &largest));
  if (largest == 0.0 || !rules_finite(largest)) {
    *norm = largest;
    goto done;
  }
  const double own = linear_scale_for(largest);
  TRY(norm_once(s, x, own, &sum));
  *norm = sqrt(sum) / own * scale;
done:
  return rc;
}

status linear_dots(linear_system *s, int count, const vec *x, vec y, double scale, double *out) {
  status rc = STATUS_OK;
  for (int at = 0; at < count; at += SUMS_MAX) {
    const int n = count - at < SUMS_MAX ? count - at : SUMS_MAX;
    ATTEMPT(s, s->kernels->dots(s->place, n, x + at, y, scale));
    TRY(collect(s, n, out + at));
  }
done:
  return rc;
}

/* The scale lies between those of x and y, so that neither product nor sum leaves the range. */
status linear_redo(linear_system *s, vec x, vec y, double scale, double *sum) {
  status rc = STATUS_OK;
  double largest_x, largest_y, again;
  if (!rules_out_of_range(*sum)) goto done;
  TRY(linear_max_abs(s, x, &largest_x));
  TRY(linear_max_abs(s, y, &largest_y));
  if (!rules_finite(largest_x) || !rules_finite(largest_y)) {
    *sum = NAN;
    goto done;
  }
  if (largest_x == 0.0 || largest_y == 0.0) {
    *sum = 0.0;
    goto done;
  }
  const double own = linear_scale_for(sqrt(largest_x) * sqrt(largest_y));
  if (own == scale) goto done;
  TRY(linear_dots(s, 1, &x, y, own, &again));
  *sum = linear_rescale_square(again, own, scale);
done:
  return rc;
}

status linear_dot(linear_system *s, vec x, vec y, double scale, double *out) {
  status rc = STATUS_OK;
  TRY(linear_dots(s, 1, &x, y, scale, out));
  TRY(linear_redo(s, x, y, scale, out));
done:
  return rc;
}

status linear_max_abs(linear_system *s, vec x, double *out) {
  double largest = 0.0;
  ATTEMPT(s, s->kernels->max_abs(s->place, x, &largest));
  /* MPI_MAX leaves NaN undefined: infinity says "not finite" as well */
  if (!rules_finite(largest) || s->failure != STATUS_OK) largest = INFINITY;
  linear_meet(s);
  status rc = comm_max_f64(s->world, &largest, 1);
  linear_phase(s, PHASE_COMPUTE);
  *out = largest;
  return rc;
}

status linear_vector(linear_system *s, const char *what, vec *out) {
  status rc = STATUS_OK;
  *out = (vec){.rows = s->rows, .ghosts = s->ghosts, .block = (int32_t)block_size(s->global_rows)};
  const int64_t length = (int64_t)s->rows + s->ghosts;
  TRY(s->kernels->alloc(s->place, length * (int64_t)sizeof(double), what, &out->data));
  TRY(s->kernels->fill(s->place, *out, 0.0));
done:
  return rc;
}

void linear_vector_release(linear_system *s, vec *v) {
  if (v->data.at != NULL) s->kernels->release(s->place, &v->data);
}

status linear_load(linear_system *s, vec to, const double *from) {
  /* copy_in reads only; the type hptr has no const form */
  hptr host;
  memcpy(&host.at, &from, sizeof host.at);
  return s->kernels->copy_in(s->place, to.data, host, s->rows * (int64_t)sizeof(double));
}

status linear_store(linear_system *s, double *to, vec from) {
  return s->kernels->copy_out(s->place, (hptr){to}, from.data, s->rows * (int64_t)sizeof(double));
}

double linear_scale_for(double largest) {
  if (largest == 0.0 || !rules_finite(largest)) return 1.0;
  int exponent = ilogb(largest);
  if (exponent < -1022) exponent = -1022; /* 2^1023 is the largest power of two */
  if (exponent > 1022) exponent = 1022;
  return ldexp(1.0, -exponent);
}

double linear_rescale_square(double value, double from, double to) {
  return ldexp(value, 2 * (ilogb(to) - ilogb(from)));
}
