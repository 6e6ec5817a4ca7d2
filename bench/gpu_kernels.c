/* bench_gpu_kernels [FILE.json [PROBLEMS]] (PROBLEMS: digits 0 .. 5, all of them if left out):
 * iterations on one GPU as the drivers run them (every step judged, the host looking `lag` steps
 * behind), against the copy bandwidth of the same run.
 *
 * Bytes per row are a model, each array once from memory: the matrix as stored (describe), and of
 * vectors 8 bytes for each read or write:
 *   jacobi: x, b, weight, next                                          32
 *   cg:     p, q | q, 1/d, r, r | r, 1/d, p, p, x, x                    96
 *   and where rows are kept by their shape, which knows weight and 1/d:
 *   jacobi: x, b, next                                                  24
 *   cg:     r, p, p, x, x | p, r, r                                     64
 *   product: x, y                                                       16
 * Copy bandwidth counts bytes read and written. Times are the median of REPEATS runs of a fixed
 * number of iterations, by the host's clock, from the first call to the last state looked at. */
#include <math.h>
#include <stdio.h>

#include "cuda_plain.h"
#include "measured.h"
#include "stencil.h"

enum { REPEATS = 5, PROBLEMS = 6 };

typedef struct setting {
  const backend *b;
  device *d;
  comm *world;
  matrix *m;
  vec v[6], start[5]; /* v[5]: the other direction */
  int shaped;         /* wholly kept by row shapes */
  dptr state;
  int64_t issued, looked;
  int verdict;
} setting;

typedef status method(setting *, int k);

static status judge(setting *s, judge_kind kind) {
  s->issued++;
  return s->b->solve->judge(s->d, s->world, kind, s->state, 0);
}

static status look(setting *s, int drain) {
  status rc = STATUS_OK;
  solve_state seen;
  while (s->issued - s->looked > (drain ? 0 : s->b->solve->lag)) {
    TRY(s->b->solve->look(s->d, s->state, ++s->looked, &seen));
    s->verdict = seen.verdict;
  }
done:
  return rc;
}

static status jacobi(setting *s, int k) {
  status rc = STATUS_OK;
  TRY(s->b->solve->sweep(s->d, s->m, PART_ALL, s->v[k % 2], s->v[2], s->v[3], s->v[1 - k % 2],
                         s->state));
  TRY(judge(s, JUDGE_SWEEP));
  TRY(look(s, 0));
done:
  return rc;
}

static status gradients(setting *s, int k) {
  status rc = STATUS_OK;
  (void)k;
  TRY(s->b->solve->cg_product(s->d, s->m, PART_ALL, s->v[1], s->v[4], s->state));
  TRY(judge(s, JUDGE_CG_PRODUCT));
  TRY(s->b->solve->cg_residual(s->d, s->v[4], s->v[3], s->v[0], s->state));
  TRY(judge(s, JUDGE_CG_RESIDUAL));
  TRY(s->b->solve->cg_direction(s->d, s->v[0], s->v[3], s->v[1], s->v[2], s->state));
  TRY(look(s, 0));
done:
  return rc;
}

/* The same in two passes; the first direction is in v[1]. */
static status two_passes(setting *s, int k) {
  status rc = STATUS_OK;
  const vec from = s->v[k % 2 == 0 ? 1 : 5], to = s->v[k % 2 == 0 ? 5 : 1];
  TRY(s->b->solve->cg_advance(s->d, s->m, PART_ALL, s->v[0], s->v[3], from, to, s->v[2], s->v[4],
                              s->state));
  TRY(judge(s, JUDGE_CG_PRODUCT));
  TRY(s->b->solve->cg_reduce(s->d, s->m, to, s->v[4], s->v[3], s->v[0], s->state));
  TRY(judge(s, JUDGE_CG_RESIDUAL));
  TRY(look(s, 0));
done:
  return rc;
}

static status product(setting *s, int k) {
  return s->b->solve->product(s->d, s->m, PART_ALL, s->v[k % 2], s->v[4]);
}

static status residual_only(setting *s, int k) {
  (void)k;
  return s->b->solve->cg_residual(s->d, s->v[4], s->v[3], s->v[0], s->state);
}

static status direction_only(setting *s, int k) {
  (void)k;
  return s->b->solve->cg_direction(s->d, s->v[0], s->v[3], s->v[1], s->v[2], s->state);
}

static status copy_only(setting *s, int k) { return s->b->copy(s->d, s->v[k % 2], s->v[4]); }

/* The start of a run: b, and so on, vary from row to row; nothing comes to rest or overflows. */
static status load_start(setting *s) {
  status rc = STATUS_OK;
  static const double content[] = {1.0, 0.0, 1.0, 0.01, 0.0};
  double *host = NULL;
  const lidx n = s->v[0].rows;
  TRY(alloc_array(&host, n, sizeof *host, "vector"));
  for (int i = 0; i < 5; i++) {
    for (lidx j = 0; j < n; j++) {
      host[j] = content[i] * (i == 3 ? 1.0 : 1.0 + (double)(j % 1009) * 1e-4);
    }
    TRY(s->b->copy_in(s->d, s->start[i].data, (hptr){host}, (int64_t)n * 8));
  }
done:
  alloc_free(&host);
  return rc;
}

static status restart(setting *s, method *once) {
  status rc = STATUS_OK;
  const solve_state start = {
      .scale = 1.0, .limit = 1e300, .target = -1.0, .alpha = 1e-3, .beta = 1e-3, .pending = 1};
  const solve_state none = {.scale = 1.0, .limit = 1e300, .target = -1.0};
  for (int i = 0; i < 5; i++) TRY(s->b->copy(s->d, s->v[i], s->start[i]));
  s->issued = s->looked = 0;
  s->verdict = VERDICT_NONE;
  const int whole = once == gradients || once == two_passes;
  const solve_state *from = whole ? &none : &start;
  TRY(s->b->copy_in(s->d, s->state, (hptr){(void *)(uintptr_t)from}, sizeof start));
  if (!whole) goto done;
  TRY(s->b->fill(s->d, s->v[2], 0.0)); /* x = 0, r = b, p = z */
  TRY(s->b->solve->cg_residual(s->d, s->v[4], s->v[3], s->v[0], s->state));
  TRY(judge(s, JUDGE_CG_START));
  /* two passes begin with what is pending */
  if (once == gradients) {
    TRY(s->b->solve->cg_direction(s->d, s->v[0], s->v[3], s->v[1], s->v[2], s->state));
  }
done:
  return rc;
}

static status wait_for(setting *s) {
  double one;
  return s->b->copy_out(s->d, (hptr){&one}, s->v[0].data, 8);
}

/* Seconds per iteration. */
static status measure(setting *s, method *once, int count, double *out) {
  status rc = STATUS_OK;
  double seconds[REPEATS + 1];
  for (int r = 0; r <= REPEATS; r++) { /* the first run warms up */
    TRY(restart(s, once));
    TRY(wait_for(s));
    const double start = comm_clock();
    for (int k = 0; k < count; k++) TRY(once(s, k));
    TRY(look(s, 1));
    if (s->issued == 0) TRY(wait_for(s)); /* nothing was judged */
    seconds[r] = (comm_clock() - start) / count;
    if (s->verdict != VERDICT_NONE) printf("  (stopped by verdict %d)\n", s->verdict);
  }
  *out = median_of(seconds + 1, REPEATS);
done:
  return rc;
}

static FILE *json;
static double copy_rate; /* bytes per second, of the largest vectors */

static void line(const char *problem, const char *what, double seconds, double rows, double bytes,
                 double target_us) {
  const double rate = bytes / seconds;
  printf("  %-21s %9.2f us  %7.1f B/row  %7.0f GB/s  %5.1f %% of copy", what, seconds * 1e6,
         bytes / rows, rate * 1e-9, 100.0 * rate / copy_rate);
  if (target_us > 0.0) {
    printf("   target %.0f us: %s", target_us, seconds * 1e6 <= target_us ? "met" : "MISSED");
  }
  printf("\n");
  if (json == NULL) return;
  fprintf(json,
          ",\n  {\"problem\": \"%s\", \"what\": \"%s\", \"rows\": %.0f, \"us\": %.3f, "
          "\"model_bytes_per_row\": %.2f, \"gb_per_s\": %.1f, \"fraction_of_copy\": %.3f, "
          "\"target_us\": %.0f}",
          problem, what, rows, seconds * 1e6, bytes / rows, rate * 1e-9, rate / copy_rate,
          target_us);
}

typedef struct work {
  const char *what;
  method *once;
  double vector_bytes, shaped_bytes; /* per row */
  int with_matrix, with_shapes;      /* with_shapes: only where all rows are kept so */
} work;

static const work WORKS[] = {{"copy", copy_only, 16, 16, 0, 0},
                             {"product", product, 16, 16, 1, 0},
                             {"jacobi + norm", jacobi, 32, 24, 1, 0},
                             {"cg residual", residual_only, 32, 32, 0, 0},
                             {"cg direction", direction_only, 48, 48, 0, 0},
                             {"cg + jacobi", gradients, 96, 96, 1, 0},
                             {"cg + jacobi, 2 passes", two_passes, 64, 64, 1, 1}};
enum { WORK_COUNT = 7, JACOBI = 2, GRADIENTS = 5, TWO_PASSES = 6 };

static status bench_matrix(const backend *b, comm *world, const char *name, const csr_block *a,
                           int symmetric, int count, double jacobi_us, double gradients_us) {
  status rc = STATUS_OK;
  setting s = {.b = b, .world = world};
  const device_request request = {.node_rank = 0};
  matrix_facts facts;
  double seconds;
  char problem[100];
  TRY(b->open(&request, &s.d));
  TRY(b->solve->matrix_create(s.d, a, FORMAT_AUTO, &s.m));
  b->solve->matrix_describe(s.m, &facts);
  for (int i = 0; i < 5; i++) {
    TRY(stencil_vector(b, s.d, a->rows, 0.0, &s.v[i]));
    TRY(stencil_vector(b, s.d, a->rows, 0.0, &s.start[i]));
  }
  TRY(stencil_vector(b, s.d, a->rows, 0.0, &s.v[5]));
  TRY(load_start(&s));
  TRY(b->copy(s.d, s.v[3], s.start[3]));
  if (b->solve->matrix_weigh != NULL) TRY(b->solve->matrix_weigh(s.d, s.m, s.v[3]));
  s.shaped = facts.shape_rows == a->rows;
  TRY(b->alloc(s.d, sizeof(solve_state), "state", &s.state));
  snprintf(problem, sizeof problem, "%s, %s", name, facts.format);
  printf("%s: %d rows, %lld entries, %lld bytes of matrix a sweep\n", problem, a->rows,
         (long long)a->offset[a->rows], (long long)facts.sweep_bytes);
  for (int i = 0; i < (symmetric ? WORK_COUNT : GRADIENTS); i++) {
    const work *w = &WORKS[i];
    if (w->with_shapes && !s.shaped) continue;
    const double vectors = s.shaped ? w->shaped_bytes : w->vector_bytes;
    const double times = i == TWO_PASSES ? 2.0 : w->with_matrix; /* the matrix is read so often */
    const double bytes = vectors * a->rows + times * (double)facts.sweep_bytes;
    TRY(measure(&s, w->once, count, &seconds));
    if (i == 0 && copy_rate == 0.0) copy_rate = bytes / seconds; /* the first is the largest */
    line(problem, w->what, seconds, a->rows, bytes,
         i == JACOBI                                ? jacobi_us
         : i == (s.shaped ? TWO_PASSES : GRADIENTS) ? gradients_us
                                                    : 0.0);
  }
done:
  for (int i = 0; i < 5; i++) {
    b->release(s.d, &s.v[i].data);
    b->release(s.d, &s.start[i].data);
  }
  b->release(s.d, &s.v[5].data);
  b->release(s.d, &s.state);
  b->solve->matrix_release(s.d, &s.m);
  b->close(&s.d);
  return rc;
}

/* Row lengths 1 .. 1e5 with P(length) ~ length^-1.83, about 2e7 entries in 1e6 rows, in scrambled
 * order. Columns are spread evenly over all columns, with jitter: no locality at all; or, `hubs`,
 * most of them towards low indices (density ~ j^-1/2), as where the same rows and columns are busy.
 * The diagonal is added and dominates. */
enum { POWER_ROWS = 1000000, POWER_LONGEST = 100000 };

static lidx power_length(const double *below, double q) {
  lidx low = 1, high = POWER_LONGEST;
  while (low < high) {
    const lidx middle = low + (high - low) / 2;
    if (below[middle] < q) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static double fraction(uint64_t z) {
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static status power_matrix(int hubs, csr_block *a) {
  status rc = STATUS_OK;
  double *below = NULL;
  memset(a, 0, sizeof *a);
  a->rows = a->columns = POWER_ROWS;
  TRY(alloc_array(&below, POWER_LONGEST + 1, sizeof *below, "distribution"));
  below[0] = 0.0;
  for (int k = 1; k <= POWER_LONGEST; k++) below[k] = below[k - 1] + pow(k, -1.83);
  TRY(alloc_array(&a->offset, POWER_ROWS + 1, sizeof *a->offset, "offsets"));
  a->offset[0] = 0;
  for (int64_t i = 0; i < POWER_ROWS; i++) {
    const int64_t rank = i * 514229 % POWER_ROWS;
    const double q = ((double)rank + 0.5) / POWER_ROWS * below[POWER_LONGEST];
    a->offset[i + 1] = a->offset[i] + power_length(below, q);
  }
  TRY(alloc_array(&a->column, a->offset[POWER_ROWS], sizeof *a->column, "columns"));
  TRY(alloc_array(&a->value, a->offset[POWER_ROWS], sizeof *a->value, "values"));
  for (int64_t i = 0; i < POWER_ROWS; i++) {
    const eidx begin = a->offset[i], n = a->offset[i + 1] - begin;
    for (eidx k = 0; k < n; k++) {
      double at = ((double)k + fraction((uint64_t)(begin + k) * 0x9e3779b97f4a7c15u)) / (double)n;
      if (hubs) at *= at;
      a->column[begin + k] = n == 1 ? (lidx)i : (lidx)(at * POWER_ROWS);
      a->value[begin + k] = 1.0 / (double)(n + k);
    }
  }
done:
  alloc_free(&below);
  return rc;
}

/* Targets: [0] of plain values, [1] of the format chosen. */
typedef struct target {
  double jacobi_us[2], gradients_us[2];
} target;

static status bench_stencil(comm *world, const stencil *p, int count, const target *t) {
  status rc = STATUS_OK;
  csr_block a = {0};
  TRY(stencil_matrix(p, &a));
  TRY(bench_matrix(&BACKEND_cuda_plain, world, p->name, &a, 1, count, t->jacobi_us[0],
                   t->gradients_us[0]));
  TRY(bench_matrix(&BACKEND_cuda, world, p->name, &a, 1, count, t->jacobi_us[1],
                   t->gradients_us[1]));
done:
  csr_block_release(&a);
  return rc;
}

static status bench_power(comm *world, int hubs) {
  status rc = STATUS_OK;
  csr_block a = {0};
  TRY(power_matrix(hubs, &a));
  TRY(bench_matrix(&BACKEND_cuda_plain, world, hubs ? "power law, hubs" : "power law, spread", &a,
                   0, 50, 0.0, 0.0));
done:
  csr_block_release(&a);
  return rc;
}

static status run(comm *world, const char *file, const char *wanted) {
  status rc = STATUS_OK;
  static const stencil problems[] = {{"poisson2d 4096", 4096, 4096, 1, 0, 0},
                                     {"poisson2d 708", 708, 708, 1, 0, 0},
                                     {"poisson2d 400 x 250", 400, 250, 1, 0, 0},
                                     {"poisson3d 200", 200, 200, 200, 1, 0}};
  device *d = NULL;
  device_facts facts;
  const device_request request = {.node_rank = 0};
  TRY(BACKEND_cuda.open(&request, &d));
  BACKEND_cuda.describe(d, &facts);
  BACKEND_cuda.close(&d);
  if (file != NULL) json = fopen(file, "w");
  if (json != NULL) fprintf(json, "[{\"device\": \"%s\"}", facts.name);
  printf("%s\n", facts.name);
  static const int counts[] = {100, 300, 300, 100};
  static const target targets[] = {{{420.0, 125.0}, {680.0, 300.0}},
                                   {{16.0, 6.0}, {0.0, 0.0}},
                                   {{0.0, 0.0}, {20.0, 0.0}},
                                   {{0.0, 0.0}, {0.0, 0.0}}};
  for (int i = 0; i < PROBLEMS; i++) {
    if (strchr(wanted, '0' + i) == NULL) continue;
    if (i < 4) TRY(bench_stencil(world, &problems[i], counts[i], &targets[i]));
    if (i >= 4) TRY(bench_power(world, i - 4));
  }
done:
  if (json != NULL) {
    fprintf(json, "]\n");
    fclose(json);
  }
  return rc;
}

int main(int argc, char **argv) {
  comm *world = NULL;
  status rc = comm_open(&argc, &argv, &world);
  if (rc == STATUS_OK) {
    rc = run(world, argc > 1 ? argv[1] : NULL, argc > 2 ? argv[2] : "012345");
  }
  if (rc != STATUS_OK) fprintf(stderr, "%s\n", fail_text());
  comm_close(&world);
  return rc;
}
