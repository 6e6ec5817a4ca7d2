/* bench_kernels [THREADS [BACKEND [FORMAT [PROBLEM]]]]: time per row of a Jacobi sweep with its
 * norm and of a CG iteration in each format of the matrix, and the bytes per second they stand for,
 * beside triads (x += alpha p, p = r + beta p) measured in the same run on vectors of the same
 * length; the last column is time over that of the bytes at the triads' rate.
 *
 * Bytes are those of the budgets in src/cpu/omp_passes.c and omp_cg.c and of the matrix as stored.
 * A rate above the triad's means that part of it came from a cache. */
#include <stdio.h>

#include "stencil.h"

enum { REPEATS = 60, CALLS = 2, CG_RECOMPUTES = 4 };

typedef struct setting {
  const backend *b;
  device *d;
  comm *world;
  matrix *m;
  vec v[5];
  dptr state;
} setting;

static status sweep_once(setting *s, int k) {
  status rc = STATUS_OK;
  TRY(s->b->solve->sweep(s->d, s->m, PART_ALL, s->v[k % 2], s->v[2], s->v[3], s->v[1 - k % 2],
                         s->state));
  TRY(s->b->solve->judge(s->d, s->world, JUDGE_SWEEP, s->state, 0));
done:
  return rc;
}

/* An iteration of whatever passes the backend has. */
static status cg_once(setting *s, int k) {
  status rc = STATUS_OK;
  const solve_backend *t = s->b->solve;
  (void)k;
  if (t->cg_advance != NULL) {
    TRY(t->cg_advance(s->d, s->m, PART_ALL, s->v[0], s->v[3], s->v[1], s->v[1], s->v[2], s->v[4],
                      s->state));
  } else {
    TRY(t->cg_direction(s->d, s->v[0], s->v[3], s->v[1], s->v[2], s->state));
    TRY(t->cg_product(s->d, s->m, PART_ALL, s->v[1], s->v[4], s->state));
  }
  TRY(t->judge(s->d, s->world, JUDGE_CG_PRODUCT, s->state, 0));
  TRY(t->cg_reduce != NULL ? t->cg_reduce(s->d, s->m, s->v[1], s->v[4], s->v[3], s->v[0], s->state)
                           : t->cg_residual(s->d, s->v[4], s->v[3], s->v[0], s->state));
  TRY(t->judge(s->d, s->world, JUDGE_CG_RESIDUAL, s->state, 0));
done:
  return rc;
}

static status product_once(setting *s, int k) {
  return s->b->solve->product(s->d, s->m, PART_ALL, s->v[k % 2], s->v[4]);
}

/* Vectors and state as at the start of a solve: no iterate comes to rest, nothing overflows. */
static status restart(setting *s) {
  status rc = STATUS_OK;
  const solve_state start = {
      .scale = 1.0, .limit = 1e300, .target = -1.0, .rho = 1.0, .pending = 1};
  for (int i = 0; i < 5; i++) {
    TRY(s->b->fill(s->d, s->v[i], i == 3 ? 0.06 : i == 1 ? 0.0 : 1.0));
  }
  TRY(s->b->copy_in(s->d, s->state, (hptr){(void *)(uintptr_t)&start}, sizeof start));
done:
  return rc;
}

/* Seconds per call, the best of REPEATS. */
static status measure(setting *s, status (*once)(setting *, int), double *best) {
  status rc = STATUS_OK;
  *best = 1e300;
  for (int r = 0; r < REPEATS; r++) {
    TRY(restart(s));
    const double start = comm_clock();
    for (int k = 0; k < CALLS; k++) TRY(once(s, k));
    const double spent = (comm_clock() - start) / CALLS;
    if (spent < *best) *best = spent;
  }
done:
  return rc;
}

/* a = b + s c through the backend's own threads and pages: cg_direction without D is
 * x += alpha p; p = r + beta p, two triads that share p, 40 bytes a row: r, and x and p
 * read and written. */
static status triad_once(setting *s, int k) {
  (void)k;
  return s->b->solve->cg_direction(s->d, s->v[0], (vec){.rows = s->v[0].rows}, s->v[1], s->v[2],
                                   s->state);
}

/* One line; `triad` is the triads' bytes per second. */
static void row(const char *what, double seconds, double rows, double bytes, double triad) {
  const double rate = bytes / seconds;
  printf("  %-22s %8.3f ms %8.3f ns/row %7.1f B/row %7.2f GB/s  x %.2f\n", what, seconds * 1e3,
         seconds * 1e9 / rows, bytes / rows, rate * 1e-9, triad / rate);
}

static const char *const FORMAT_NAMES[] = {"auto", "csr", "sell", "packed", "pattern"};

static status bench_one(const backend *b, comm *world, const stencil *problem, int threads,
                        matrix_format format) {
  status rc = STATUS_OK;
  setting s = {.b = b, .world = world};
  csr_block a = {0};
  double seconds;
  const lidx n = stencil_rows(problem);
  const device_request request = {.threads = threads};
  matrix_facts facts;
  TRY(stencil_matrix(problem, &a));
  TRY(b->open(&request, &s.d));
  TRY(b->solve->matrix_create(s.d, &a, format, &s.m));
  csr_block_release(&a);
  b->solve->matrix_describe(s.m, &facts);
  for (int i = 0; i < 5; i++) TRY(stencil_vector(b, s.d, n, 0.0, &s.v[i]));
  TRY(b->alloc(s.d, sizeof(solve_state), "state", &s.state));
  const double matrix_bytes = (double)facts.sweep_bytes;
  /* weights that follow from shapes are not read */
  const double weights = 8.0 * (n - facts.shape_rows);
  const int twice = matrix_bytes <= CG_RECOMPUTES * (double)n;
  printf("%s: %d rows, %d threads, %s: %s, matrix %.1f B/row\n", problem->name, n, threads,
         FORMAT_NAMES[format], facts.format, matrix_bytes / n);
  TRY(measure(&s, triad_once, &seconds));
  const double triad = 40.0 * n / seconds;
  row("two triads", seconds, n, 40.0 * n, triad);
  TRY(measure(&s, product_once, &seconds));
  row("product", seconds, n, matrix_bytes + 24.0 * n, triad);
  TRY(restart(&s));
  if (b->solve->matrix_weigh != NULL) TRY(b->solve->matrix_weigh(s.d, s.m, s.v[3]));
  TRY(measure(&s, sweep_once, &seconds));
  row("jacobi sweep + norm", seconds, n, matrix_bytes + weights + 32.0 * n, triad);
  TRY(measure(&s, cg_once, &seconds));
  row(twice ? "cg, A p made twice" : "cg, A p stored", seconds, n,
      twice ? 2.0 * matrix_bytes + 2.0 * weights + 64.0 * n
            : matrix_bytes + 2.0 * weights + 80.0 * n,
      triad);
  solve_state end;
  TRY(b->solve->look(s.d, s.state, 1, &end));
  if (end.verdict != VERDICT_NONE) printf("  (cg ended with verdict %d)\n", end.verdict);
done:
  csr_block_release(&a);
  for (int i = 0; i < 5; i++) b->release(s.d, &s.v[i].data);
  b->release(s.d, &s.state);
  b->solve->matrix_release(s.d, &s.m);
  b->close(&s.d);
  return rc;
}

int main(int argc, char **argv) {
  status rc = STATUS_OK;
  comm *world = NULL;
  static const stencil problems[] = {{"poisson2d 708", 708, 708, 1, 0, 0},
                                     {"poisson3d 128", 128, 128, 128, 0, 0},
                                     {"poisson2d 708, varied", 708, 708, 1, 1, 0},
                                     {"poisson3d 128, varied", 128, 128, 128, 1, 0},
                                     {"poisson3d 128, five values", 128, 128, 128, 2, 0},
                                     {"poisson3d 128, floats", 128, 128, 128, 3, 0},
                                     {"scattered, varied", 128, 128, 128, 1, 1},
                                     {"scattered, five values", 128, 128, 128, 2, 1}};
  TRY(comm_open(&argc, &argv, &world));
  const int threads = argc > 1 ? atoi(argv[1]) : 1;
  const backend *b = argc > 2 && strcmp(argv[2], "ref") == 0 ? &BACKEND_ref : &BACKEND_omp;
  for (int i = 0; i < 8; i++) {
    if (argc > 4 && atoi(argv[4]) != i) continue;
    for (int f = 0; f < 5; f++) {
      if (argc > 3 && strcmp(argv[3], FORMAT_NAMES[f]) != 0 && strcmp(argv[3], "all") != 0)
        continue;
      TRY(bench_one(b, world, &problems[i], threads, (matrix_format)f));
    }
  }
done:
  if (rc != STATUS_OK) fprintf(stderr, "%s\n", fail_text());
  comm_close(&world);
  return rc;
}
