/* bench_threads [MOST_THREADS [ROUNDS [ITERATIONS [RANDOM_ROWS]]]]: the classic study of a threaded
 * Jacobi sweep. A plain CSR loop over rows, 100 iterations, on a 2-D five-point matrix of 708 x 708
 * = 501 264 rows, and on random-dominant (500 000 rows, 8 entries in scattered columns): threads x
 * schedule x prefetch distance. Distance d asks, while row i is computed, for the entries of x that
 * row i + d will read; 0 asks for nothing. dynamic and guided hand out 256 rows at least.
 *
 * Bytes of an iteration, each array once: 12 an entry, 8 a row of offsets, and x, b, weight, next:
 * 32 a row. Triad: a_i = b_i + s c_i over vectors of the same length as the matrix has bytes / 24,
 * same threads, 24 bytes an element, the best of all rounds. Rounds go through all settings, so
 * that a neighbour's load does not fall on one; times are the fastest round's.
 *
 * "Pays up to T threads": T is the least number whose best time is within 5 % of the best of all.
 * "Prefetch wins": the best distance's time against distance 0, same threads and schedule. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "problems.h"
#include "stencil.h"

enum { SCHEDULES = 3, DISTANCES = 4, LEVELS = 12, CHUNK = 256 };

static const omp_sched_t SCHEDULE[SCHEDULES] = {omp_sched_static, omp_sched_dynamic,
                                                omp_sched_guided};
static const char *const SCHEDULE_NAME[SCHEDULES] = {"static", "dynamic", "guided"};
static const int DISTANCE[DISTANCES] = {0, 2, 4, 8};

typedef struct study {
  const char *name;
  csr_block a;
  double *x, *next, *b, *weight;
  double *triad[3];
  int64_t triad_count;
  int threads[LEVELS], levels, rounds, iterations;
  double seconds[LEVELS][SCHEDULES][DISTANCES]; /* of an iteration */
  double triad_rate[LEVELS];                    /* bytes per second */
} study;

/* One row; `ahead`: also asks for what row i + ahead reads. */
static inline void row(const csr_block *a, const double *x, const double *b, const double *weight,
                       double *next, lidx i, lidx ahead) {
  double s = 0.0;
  if (ahead > 0 && i + ahead < a->rows) {
    for (eidx e = a->offset[i + ahead]; e < a->offset[i + ahead + 1]; e++) {
      __builtin_prefetch(&x[a->column[e]], 0, 3);
    }
  }
  for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
    s = fma(a->value[e], x[a->column[e]], s);
  }
  next[i] = fma(weight[i], b[i] - s, x[i]);
}

/* The distance is a constant in each loop, as the study's programs have it. */
#define SWEEP(distance)                                                                            \
  case distance:                                                                                   \
    _Pragma("omp parallel for schedule(runtime)") for (lidx i = 0; i < a->rows; i++) {             \
      row(a, x, b, weight, next, i, distance);                                                     \
    }                                                                                              \
    break

static void sweep(const csr_block *a, const double *x, const double *b, const double *weight,
                  double *next, int distance) {
  switch (distance) {
    SWEEP(0);
    SWEEP(2);
    SWEEP(4);
    SWEEP(8);
  }
}

static double time_of(study *s, int threads, int schedule, int distance) {
  omp_set_num_threads(threads);
  omp_set_schedule(SCHEDULE[schedule], schedule == 0 ? 0 : CHUNK);
  sweep(&s->a, s->x, s->b, s->weight, s->next, distance);
  const double start = omp_get_wtime();
  for (int k = 0; k < s->iterations; k++) {
    sweep(&s->a, k % 2 ? s->next : s->x, s->b, s->weight, k % 2 ? s->x : s->next, distance);
  }
  return (omp_get_wtime() - start) / s->iterations;
}

static double triad_of(study *s, int threads) {
  enum { TIMES = 3 };
  double best = 1e300, *a = s->triad[0];
  const double *b = s->triad[1], *c = s->triad[2];
  omp_set_num_threads(threads);
  for (int k = 0; k < TIMES; k++) {
    const double start = omp_get_wtime();
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->triad_count; i++) a[i] = b[i] + 0.5 * c[i];
    const double spent = omp_get_wtime() - start;
    if (spent < best) best = spent;
  }
  return 24.0 * (double)s->triad_count / best;
}

static double bytes_of(const study *s) {
  return 12.0 * (double)s->a.offset[s->a.rows] + 40.0 * s->a.rows;
}

/* Pages lie where a static schedule of all threads would touch them first. */
static status make_vectors(study *s) {
  status rc = STATUS_OK;
  const lidx n = s->a.rows;
  TRY(alloc_array(&s->x, n, sizeof *s->x, "x"));
  TRY(alloc_array(&s->next, n, sizeof *s->next, "next"));
  TRY(alloc_array(&s->b, n, sizeof *s->b, "b"));
  TRY(alloc_array(&s->weight, n, sizeof *s->weight, "weight"));
  s->triad_count = (int64_t)(bytes_of(s) / 24.0);
  for (int i = 0; i < 3; i++) {
    TRY(alloc_array(&s->triad[i], s->triad_count, sizeof(double), "triad"));
  }
  omp_set_num_threads(s->threads[s->levels - 1]);
#pragma omp parallel for schedule(static)
  for (lidx i = 0; i < n; i++) {
    s->x[i] = s->next[i] = 0.0;
    s->b[i] = 1.0 + i % 7;
    for (eidx e = s->a.offset[i]; e < s->a.offset[i + 1]; e++) {
      if (s->a.column[e] == i) s->weight[i] = 1.0 / s->a.value[e];
    }
  }
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < s->triad_count; i++) {
    s->triad[0][i] = 0.0;
    s->triad[1][i] = s->triad[2][i] = 1.0;
  }
done:
  return rc;
}

static void measure(study *s) {
  for (int r = 0; r < s->rounds; r++) {
    for (int t = 0; t < s->levels; t++) {
      const double rate = triad_of(s, s->threads[t]);
      if (r == 0 || rate > s->triad_rate[t]) s->triad_rate[t] = rate;
      for (int c = 0; c < SCHEDULES; c++) {
        for (int d = 0; d < DISTANCES; d++) {
          const double spent = time_of(s, s->threads[t], c, DISTANCE[d]);
          double *best = &s->seconds[t][c][d];
          if (r == 0 || spent < *best) *best = spent;
        }
      }
    }
  }
}

static double best_of(const study *s, int t, int from, int to) {
  double best = 1e300;
  for (int c = 0; c < SCHEDULES; c++) {
    for (int d = from; d < to; d++) best = fmin(best, s->seconds[t][c][d]);
  }
  return best;
}

static void print(const study *s) {
  double best = 1e300;
  int pays = s->levels - 1;
  printf("%s: %d rows, %lld entries, %d iterations, %.1f MB each\n", s->name, s->a.rows,
         (long long)s->a.offset[s->a.rows], s->iterations, bytes_of(s) * 1e-6);
  printf("  threads schedule prefetch  ms/iteration  %d iterations      GB/s  of triad\n",
         s->iterations);
  for (int t = 0; t < s->levels; t++) {
    for (int c = 0; c < SCHEDULES; c++) {
      for (int d = 0; d < DISTANCES; d++) {
        const double spent = s->seconds[t][c][d], rate = bytes_of(s) / spent;
        printf("  %7d %-8s %8d  %12.3f  %10.3f s  %8.2f  %7.2f\n", s->threads[t], SCHEDULE_NAME[c],
               DISTANCE[d], spent * 1e3, spent * s->iterations, rate * 1e-9,
               rate / s->triad_rate[t]);
      }
    }
    best = fmin(best, best_of(s, t, 0, DISTANCES));
  }
  while (pays > 0 && best_of(s, pays - 1, 0, DISTANCES) <= 1.05 * best) pays--;
  for (int t = 0; t < s->levels; t++) {
    const double none = best_of(s, t, 0, 1), with = best_of(s, t, 1, DISTANCES);
    printf(
        "  %d threads: triad %.2f GB/s, %.2f times the first's speed; prefetch %+.1f %% of time\n",
        s->threads[t], s->triad_rate[t] * 1e-9,
        best_of(s, 0, 0, DISTANCES) / best_of(s, t, 0, DISTANCES), 100.0 * (with / none - 1.0));
  }
  printf("  adding threads pays up to %d\n", s->threads[pays]);
}

static void release(study *s) {
  csr_block_release(&s->a);
  alloc_free(&s->x);
  alloc_free(&s->next);
  alloc_free(&s->b);
  alloc_free(&s->weight);
  for (int i = 0; i < 3; i++) alloc_free(&s->triad[i]);
}

static status five_point(csr_block *out) {
  const stencil p = {"five-point 708 x 708", 708, 708, 1, 0, 0};
  return stencil_matrix(&p, out);
}

/* The problem as `solve` makes it, on one rank. */
static status random_dominant(comm *world, int64_t rows, csr_block *out) {
  status rc = STATUS_OK;
  const problem_request request = {.name = "random-dominant",
                                   .n = &rows,
                                   .n_count = 1,
                                   .entries_per_row = 8,
                                   .seed = 1,
                                   .threads = 1};
  csr_rows a = {0};
  ownership owned = {0};
  TRY(problem_build(world, &request, &a, &owned));
  rc = csr_localise(1, &a, out);
done:
  csr_rows_release(&a);
  ownership_release(&owned);
  return rc;
}

/* 1, 2, 4 ... and the most. */
static void list_threads(study *s, int most) {
  for (int n = 1; n < most && s->levels < LEVELS - 1; n *= 2) s->threads[s->levels++] = n;
  s->threads[s->levels++] = most;
}

int main(int argc, char **argv) {
  status rc = STATUS_OK;
  comm *world = NULL;
  study s = {.name = ""};
  TRY(comm_open(&argc, &argv, &world));
  const int most = argc > 1 ? atoi(argv[1]) : omp_get_num_procs();
  const int rounds = argc > 2 ? atoi(argv[2]) : 5, iterations = argc > 3 ? atoi(argv[3]) : 100;
  const int64_t random_rows = argc > 4 ? atoll(argv[4]) : 500000;
  for (int which = 0; which < 2; which++) {
    s = (study){.name = which == 0 ? "five-point 708 x 708" : "random-dominant",
                .rounds = rounds,
                .iterations = iterations};
    list_threads(&s, most);
    TRY(which == 0 ? five_point(&s.a) : random_dominant(world, random_rows, &s.a));
    TRY(make_vectors(&s));
    measure(&s);
    print(&s);
    release(&s);
  }
done:
  if (rc != STATUS_OK) fprintf(stderr, "%s\n", fail_text());
  release(&s);
  comm_close(&world);
  return rc;
}
