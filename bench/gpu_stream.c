/* bench_gpu_stream [FILE.json [SIDE]]: iterations over a matrix that is kept on the host and comes
 * to the GPU anew each time (cuda/stream.c), because device_memory does not hold it: SIDE x SIDE
 * rows (4096), five entries each in scattered columns, values that do not compress: 12 bytes an
 * entry. The bytes that came over the time of an iteration, against the rate of plain copies of
 * pinned memory in the same run (target: 85 %). Median of REPEATS runs. */
#include <stdio.h>

#include "cuda_plain.h"
#include "measured.h"
#include "stencil.h"

enum { REPEATS = 5, COUNT = 8, VECTORS = 6 };

typedef struct setting {
  const backend *b;
  device *d;
  comm *world;
  matrix *m;
  vec v[VECTORS];
  dptr state;
  int64_t steps;
} setting;

static status judge(setting *s, judge_kind kind) {
  s->steps++;
  return s->b->solve->judge(s->d, s->world, kind, s->state, 0);
}

static status product(setting *s, int k) {
  return s->b->solve->product(s->d, s->m, PART_ALL, s->v[k % 2], s->v[4]);
}

static status jacobi(setting *s, int k) {
  status rc = s->b->solve->sweep(s->d, s->m, PART_ALL, s->v[k % 2], s->v[2], s->v[3],
                                 s->v[1 - k % 2], s->state);
  return rc == STATUS_OK ? judge(s, JUDGE_SWEEP) : rc;
}

static status gradients(setting *s, int k) {
  status rc = STATUS_OK;
  (void)k;
  TRY(s->b->solve->cg_product(s->d, s->m, PART_ALL, s->v[1], s->v[4], s->state));
  TRY(judge(s, JUDGE_CG_PRODUCT));
  TRY(s->b->solve->cg_residual(s->d, s->v[4], s->v[3], s->v[0], s->state));
  TRY(judge(s, JUDGE_CG_RESIDUAL));
  TRY(s->b->solve->cg_direction(s->d, s->v[0], s->v[3], s->v[1], s->v[2], s->state));
done:
  return rc;
}

static int64_t streamed(const setting *s) {
  device_facts facts;
  s->b->describe(s->d, &facts);
  return facts.streamed_bytes;
}

/* Nothing comes to rest, nothing ends. */
static status restart(setting *s) {
  status rc = STATUS_OK;
  const solve_state start = {
      .scale = 1.0, .limit = 1e300, .target = -1.0, .rho = 1.0, .alpha = 1e-3, .beta = 1e-3};
  for (int i = 0; i < VECTORS; i++) TRY(s->b->fill(s->d, s->v[i], i == 3 ? 0.01 : 1.0 + i));
  TRY(s->b->copy_in(s->d, s->state, (hptr){(void *)(uintptr_t)&start}, sizeof start));
  s->steps = 0;
done:
  return rc;
}

/* Seconds of an iteration, and the bytes that came for it. */
static status measure(setting *s, status (*once)(setting *, int), double *seconds, double *bytes) {
  status rc = STATUS_OK;
  double run[REPEATS], one;
  for (int r = 0; r < REPEATS; r++) {
    TRY(restart(s));
    TRY(once(s, 0)); /* under way */
    TRY(s->b->copy_out(s->d, (hptr){&one}, s->v[0].data, 8));
    const int64_t before = streamed(s);
    const double start = comm_clock();
    for (int k = 1; k <= COUNT; k++) TRY(once(s, k));
    TRY(s->b->copy_out(s->d, (hptr){&one}, s->v[0].data, 8));
    run[r] = (comm_clock() - start) / COUNT;
    *bytes = (double)(streamed(s) - before) / COUNT;
  }
  *seconds = median_of(run, REPEATS);
done:
  return rc;
}

static status run(comm *world, FILE *json, lidx side) {
  status rc = STATUS_OK;
  static const char *const names[] = {"product", "jacobi + norm", "cg + jacobi"};
  static status (*const works[])(setting *, int) = {product, jacobi, gradients};
  const stencil problem = {"scattered, varied", side, side, 1, 1, 1};
  const int64_t rows = stencil_rows(&problem);
  /* vectors, heads of slices and two buffers fit; entries (60 bytes a row) do not */
  const device_request request = {.memory = rows * (8 * VECTORS + 4) + (INT64_C(80) << 20)};
  setting s = {.b = &BACKEND_cuda, .world = world};
  csr_block a = {0};
  matrix_facts facts;
  device_facts where;
  double rate, seconds, bytes;
  TRY(stencil_matrix(&problem, &a));
  TRY(s.b->open(&request, &s.d));
  TRY(s.b->solve->matrix_create(s.d, &a, FORMAT_SELL, &s.m));
  csr_block_release(&a);
  for (int i = 0; i < VECTORS; i++) TRY(stencil_vector(s.b, s.d, (lidx)rows, 0.0, &s.v[i]));
  TRY(s.b->alloc(s.d, sizeof(solve_state), "state", &s.state));
  s.b->solve->matrix_describe(s.m, &facts);
  TRY(cuda_stream_rate(s.d, INT64_C(1) << 30, &rate));
  s.b->describe(s.d, &where);
  printf("%s, %s, %lld rows: %s, %.3f GB a product; device_memory %.3f GB, peak %.3f GB\n"
         "  copies from pinned memory: %.2f GB/s\n",
         where.name, problem.name, (long long)rows, facts.format,
         (double)facts.streamed_bytes * 1e-9, (double)request.memory * 1e-9,
         (double)where.peak_bytes * 1e-9, rate * 1e-9);
  if (json != NULL) {
    fprintf(json,
            "[{\"device\": \"%s\", \"rows\": %lld, \"matrix_bytes\": %lld, \"device_memory\": "
            "%lld, \"device_peak_bytes\": %lld, \"copy_gb_per_s\": %.2f}",
            where.name, (long long)rows, (long long)facts.streamed_bytes, (long long)request.memory,
            (long long)where.peak_bytes, rate * 1e-9);
  }
  for (int i = 0; i < 3; i++) {
    TRY(measure(&s, works[i], &seconds, &bytes));
    const double share = bytes / seconds / rate;
    printf("  %-14s %8.3f ms  %6.3f GB came, %6.2f GB/s  %5.1f %% of copies   target 85 %%: %s\n",
           names[i], seconds * 1e3, bytes * 1e-9, bytes / seconds * 1e-9, 100.0 * share,
           share >= 0.85 ? "met" : "MISSED");
    if (json == NULL) continue;
    fprintf(json, ",\n  {\"what\": \"%s\", \"ms\": %.4f, \"bytes\": %.0f, \"fraction\": %.4f}",
            names[i], seconds * 1e3, bytes, share);
  }
  if (json != NULL) fprintf(json, "]\n");
done:
  csr_block_release(&a);
  for (int i = 0; i < VECTORS && s.d != NULL; i++) s.b->release(s.d, &s.v[i].data);
  if (s.d != NULL) s.b->release(s.d, &s.state);
  if (s.m != NULL) s.b->solve->matrix_release(s.d, &s.m);
  if (s.d != NULL) s.b->close(&s.d);
  return rc;
}

int main(int argc, char **argv) {
  comm *world = NULL;
  FILE *json = argc > 1 ? fopen(argv[1], "w") : NULL;
  status rc = comm_open(&argc, &argv, &world);
  if (rc == STATUS_OK) rc = run(world, json, argc > 2 ? atoi(argv[2]) : 4096);
  if (rc != STATUS_OK) fprintf(stderr, "%s\n", fail_text());
  if (json != NULL) fclose(json);
  comm_close(&world);
  return rc;
}
