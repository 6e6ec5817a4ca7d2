/* bench_reductions [THREADS]: what same-bits sums cost. The fused Jacobi sweep of the omp backend
 * against the same loop with a plain sum: eight running lanes a tile, one double a thread, added as
 * they come. Both are timed in turn, in the same run; the figure is the ratio of the fastest. */
#include <stdio.h>

#include "lanes.h"
#include "omp_team.h"
#include "stencil.h"

enum { REPEATS = 300, CALLS = 1 };

/* sweep_tile of omp_passes.c with a plain sum, kept at p->z, a cache line per worker. */
static void plain_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  const double *restrict x = p->x + begin, *restrict b = p->b + begin;
  const double *restrict weight = p->weight + begin;
  double *restrict next = p->y + begin;
  const double scale = p->scale;
  double sum[TILE], lane[8] = {0.0};
  const lidx n = end - begin;
  int64_t changed = 0;
  lanes_ask_for(b, n);
  lanes_ask_for(weight, n);
  lanes_ask_for(next, n);
  tile_product(p->m, tile, p->x, sum);
  for (lidx j = 0; j < n; j++) {
    const double r = b[j] - sum[j], to = fma(weight[j], r, x[j]);
    next[j] = to;
    sum[j] = scale * r;
    changed += bits_of(to) != bits_of(x[j]);
  }
  lidx j = 0;
  for (; j + 8 <= n; j += 8) {
    for (int l = 0; l < 8; l++) lane[l] = fma(sum[j + l], sum[j + l], lane[l]);
  }
  for (; j < n; j++) lane[0] = fma(sum[j], sum[j], lane[0]);
  p->z[8 * w->number] +=
      lane[0] + lane[1] + lane[2] + lane[3] + lane[4] + lane[5] + lane[6] + lane[7];
  w->sums.counter[COUNTER_CHANGED] += changed;
}

typedef struct setting {
  device *d;
  comm *world;
  matrix *m;
  vec x[2], b, weight;
  dptr state;
  double *sums; /* [8 threads] */
} setting;

static status time_exact(setting *s, double *best) {
  status rc = STATUS_OK;
  const double start = comm_clock();
  for (int k = 0; k < CALLS; k++) {
    TRY(BACKEND_omp.solve->sweep(s->d, s->m, PART_ALL, s->x[k % 2], s->b, s->weight,
                                 s->x[1 - k % 2], s->state));
    TRY(BACKEND_omp.solve->judge(s->d, s->world, JUDGE_SWEEP, s->state, 0));
  }
  const double spent = (comm_clock() - start) / CALLS;
  if (spent < *best) *best = spent;
done:
  return rc;
}

static void time_plain(setting *s, double *best, double *total) {
  const double start = comm_clock();
  for (int k = 0; k < CALLS; k++) {
    const pass p = {.m = s->m,
                    .x = vec_at(s->x[k % 2]),
                    .b = vec_at(s->b),
                    .weight = vec_at(s->weight),
                    .y = vec_at(s->x[1 - k % 2]),
                    .z = s->sums,
                    .scale = 1.0};
    for (int t = 0; t < s->d->threads; t++) s->sums[8 * t] = 0.0;
    run_matrix(s->d, PART_ALL, &p, 0, plain_tile);
    for (int t = 0; t < s->d->threads; t++) *total += s->sums[8 * t];
  }
  const double spent = (comm_clock() - start) / CALLS;
  if (spent < *best) *best = spent;
}

static status bench_one(comm *world, const stencil *problem, int threads) {
  status rc = STATUS_OK;
  setting s = {.world = world};
  csr_block a = {0};
  double exact = 1e300, plain = 1e300, total = 0.0;
  const backend *b = &BACKEND_omp;
  const lidx n = stencil_rows(problem);
  const device_request request = {.threads = threads};
  const solve_state start = {.scale = 1.0, .limit = 1e300, .target = -1.0};
  TRY(stencil_matrix(problem, &a));
  TRY(b->open(&request, &s.d));
  TRY(b->solve->matrix_create(s.d, &a, FORMAT_AUTO, &s.m));
  TRY(stencil_vector(b, s.d, n, 0.0, &s.x[0]));
  TRY(stencil_vector(b, s.d, n, 0.0, &s.x[1]));
  TRY(stencil_vector(b, s.d, n, 1.0, &s.b));
  TRY(stencil_vector(b, s.d, n, 0.06, &s.weight));
  TRY(b->alloc(s.d, sizeof start, "state", &s.state));
  TRY(b->copy_in(s.d, s.state, (hptr){(void *)(uintptr_t)&start}, sizeof start));
  TRY(alloc_zeroed(&s.sums, 8 * (int64_t)threads, sizeof *s.sums, "sums"));
  for (int r = 0; r < REPEATS; r++) {
    TRY(b->fill(s.d, s.x[0], 0.0)); /* from the start: no iterate comes to rest */
    TRY(time_exact(&s, &exact));
    time_plain(&s, &plain, &total);
    tally_clear(&s.d->worker[0].sums);
  }
  printf("%-22s %d threads: exact sums %.3f ms, plain sums %.3f ms: %+.2f %%%s\n", problem->name,
         threads, exact * 1e3, plain * 1e3, (exact / plain - 1.0) * 100.0, total < 0.0 ? "!" : "");
done:
  csr_block_release(&a);
  for (int i = 0; i < 2; i++) b->release(s.d, &s.x[i].data);
  b->release(s.d, &s.b.data);
  b->release(s.d, &s.weight.data);
  b->release(s.d, &s.state);
  b->solve->matrix_release(s.d, &s.m);
  b->close(&s.d);
  alloc_free(&s.sums);
  return rc;
}

int main(int argc, char **argv) {
  status rc = STATUS_OK;
  comm *world = NULL;
  static const stencil problems[] = {{"poisson2d 708", 708, 708, 1, 0, 0},
                                     {"poisson3d 128", 128, 128, 128, 0, 0},
                                     {"poisson2d 708, varied", 708, 708, 1, 1, 0},
                                     {"poisson3d 128, varied", 128, 128, 128, 1, 0}};
  TRY(comm_open(&argc, &argv, &world));
  for (int i = 0; i < 4; i++) TRY(bench_one(world, &problems[i], argc > 1 ? atoi(argv[1]) : 1));
done:
  if (rc != STATUS_OK) fprintf(stderr, "%s\n", fail_text());
  comm_close(&world);
  return rc;
}
