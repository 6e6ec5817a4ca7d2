/* Randomised quasi-Monte Carlo: 16 independently scrambled Sobol sequences of m = 2^k points each.
 * The value is the mean of the 16 means, the error estimate STUDENT times their standard error: the
 * true error is below it in 99 of 100 runs, if the means are normal. Without a number of points
 * the sequences are continued to twice the length until the estimate is within the tolerance; no
 * point is evaluated twice.
 *
 * Cost: one evaluation a point, and for each direction at most 8 xors and an fma; tables of 16 x
 * dims x 392 bytes. The error falls like m^-1.5 for smooth integrands, m^-1 with kinks, and m^-0.5
 * at worst (m^-(d+1)/2d for jumps across general surfaces), whatever the dimension.
 * When not to use it: smooth integrands in up to three directions, where product rules need far
 * fewer points.
 * Source: Owen, Scrambled net variance for integrals of smooth functions, Ann. Statist. 25 (1997);
 * L'Ecuyer, Lemieux, Recent advances in randomized quasi-Monte Carlo methods (2002). */
#include "sobol.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "log.h"
#include "quad_run.h"

/* Student's t with 15 degrees of freedom: 0.995 quantile. */
static const double STUDENT = 2.946712883338615;

/* Points of a replicate's first level: enough that a level cannot miss the integrand by symmetry,
 * and one whole block. */
enum { FIRST = 256 };

typedef struct sampling {
  quad_run *run;
  uint64_t *table;
  quad_grid g, host; /* the table on the backend, and here */
  double volume;
  int64_t done;                 /* points of each replicate so far */
  double sum[SOBOL_REPLICATES]; /* of weight * f */
} sampling;

/* The tables, here and in backend memory. */
static status make_table(sampling *s) {
  status rc = STATUS_OK;
  const quad_run *run = s->run;
  const int dims = run->integral.dims;
  const int64_t words = (int64_t)SOBOL_REPLICATES * dims * SOBOL_STRIDE;
  const int64_t bytes = words * (int64_t)sizeof *s->table;
  TRY(alloc_array(&s->table, words, sizeof *s->table, "direction numbers"));
  for (int r = 0; r < SOBOL_REPLICATES; r++) {
    for (int d = 0; d < dims; d++) {
      sobol_scramble(run->limits.seed, r, d, s->table + (r * dims + d) * SOBOL_STRIDE);
    }
  }
  s->host.table.at = s->table;
  TRY(run->kernels->alloc(run->place, bytes, "direction numbers", &s->g.table));
  TRY(run->kernels->copy_in(run->place, s->g.table, (hptr){s->table}, bytes));
done:
  return rc;
}

static status begin(quad_run *run, sampling *s) {
  status rc = STATUS_OK;
  memset(s, 0, sizeof *s);
  s->run = run;
  s->volume = 1.0;
  s->g = (quad_grid){
      .kind = QUAD_SOBOL, .dims = run->integral.dims, .single = run->limits.single, .scale = 1.0};
  for (int d = 0; d < s->g.dims; d++) {
    quad_axis *a = &s->g.axis[d];
    quad_axis_range(&run->integral, d, a);
    TRY(quad_check_width(a, d));
    a->step = a->upper - a->lower;
    s->volume *= a->step;
  }
  s->host = s->g;
  run->value = NAN; /* until the first level is done */
  run->error = INFINITY;
  rc = comm_agree(run->world, make_table(s));
done:
  return rc;
}

/* Continues every replicate to `end` points. */
static status extend(sampling *s, int64_t end) {
  status rc = STATUS_OK;
  s->g.first = s->done;
  s->g.points = end - s->done;
  for (int r = 0; r < SOBOL_REPLICATES; r++) {
    double more;
    s->g.replicate = r;
    TRY(quad_sum_grid(s->run, &s->g, &more));
    if (quad_stopped(s->run)) goto done;
    if (!isfinite(more)) {
      s->host.first = s->g.first;
      s->host.points = s->g.points;
      s->host.replicate = r;
      rc = quad_find_bad(s->run, &s->g, &s->host);
      goto done;
    }
    s->sum[r] += more;
  }
  s->done = end;
done:
  return rc;
}

static int is_over(const sampling *s) {
  return quad_stopped(s->run) || s->run->reason == QUAD_NOT_FINITE;
}

static void estimate(sampling *s) {
  double mean[SOBOL_REPLICATES], all = 0.0, squares = 0.0;
  for (int r = 0; r < SOBOL_REPLICATES; r++) {
    mean[r] = s->volume * (s->sum[r] / (double)s->done);
    all += mean[r];
  }
  all /= SOBOL_REPLICATES;
  for (int r = 0; r < SOBOL_REPLICATES; r++) {
    squares = fma(mean[r] - all, mean[r] - all, squares);
  }
  s->run->value = all;
  s->run->error = STUDENT * sqrt(squares / (SOBOL_REPLICATES * (SOBOL_REPLICATES - 1)));
  s->run->points[0] = SOBOL_REPLICATES * s->done;
  s->run->panels = SOBOL_REPLICATES;
}

/* As many points as asked for, rounded up to 16 x 2^k. */
static status count_given(sampling *s) {
  quad_run *run = s->run;
  int64_t m = 1;
  while (m * SOBOL_REPLICATES < run->limits.n) m *= 2;
  if (m > INT64_C(1) << SOBOL_COLUMNS) {
    return fail(STATUS_USAGE, "quad: n = %lld: sobol has at most 16 x 2^%d points",
                (long long)run->limits.n, SOBOL_COLUMNS);
  }
  if (m * SOBOL_REPLICATES != run->limits.n) {
    log_info("sobol: n = %lld is rounded up to %lld = 16 replicates x %lld points",
             (long long)run->limits.n, (long long)(m * SOBOL_REPLICATES), (long long)m);
  }
  run->reason = QUAD_FIXED_COUNT;
  status rc = extend(s, m);
  if (rc != STATUS_OK || is_over(s)) return rc;
  estimate(s);
  if (!isfinite(run->value)) run->reason = QUAD_NOT_FINITE; /* the replicates overflow together */
  if (run->limits.demanded && !quad_tolerated(run)) run->reason = QUAD_MISSED;
  return STATUS_OK;
}

/* Two levels at least: 16 means of a narrow peak may all be 0 once. */
static status refine(sampling *s) {
  status rc = STATUS_OK;
  quad_run *run = s->run;
  run->reason = QUAD_CONVERGED;
  for (int64_t m = FIRST;; m *= 2) {
    const int64_t more = SOBOL_REPLICATES * (m - s->done);
    if (m > INT64_C(1) << SOBOL_COLUMNS ||
        (s->done > 0 && more > run->limits.max_evaluations - run->evaluations)) {
      run->reason = QUAD_MAX_EVALUATIONS;
      break;
    }
    TRY(extend(s, m));
    if (is_over(s)) break;
    estimate(s);
    if (!isfinite(run->value)) run->reason = QUAD_NOT_FINITE;
    if (is_over(s) || (m > FIRST && quad_tolerated(run))) break;
  }
done:
  return rc;
}

static status run_sobol(quad_run *run, const quad_rule *rule) {
  sampling s;
  (void)rule;
  status rc = begin(run, &s);
  if (rc == STATUS_OK) rc = run->limits.n != 0 ? count_given(&s) : refine(&s);
  if (run->reason == QUAD_NOT_FINITE) run->value = run->error = NAN;
  run->kernels->release(run->place, &s.g.table);
  alloc_free(&s.table);
  return rc;
}

const quad_rule RULE_sobol = {
    .name = "sobol",
    .help = "randomised quasi-Monte Carlo, 16 replicates; for many dimensions",
    .source = "Joe, Kuo (2008); Owen (1997)",
    .flags = QUAD_RULE_SAMPLING,
    .dims_min = 1,
    .dims_max = QUAD_DIMS,
    .run = run_sobol,
};
