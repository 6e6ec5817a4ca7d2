/* bench_judge: what ending a step costs on one rank, by the number of threads: the sums of a CG
 * residual step over short vectors (a tile a thread), and the judging of it, which one thread does
 * after the others. Threads beyond the cores take turns: the step is then theirs, the judging still
 * the one thread's. Best of ROUNDS. */
#include <stdio.h>
#include <string.h>

#include "solve_backend.h"

enum { ROUNDS = 40, STEPS = 25, TILE_ROWS = 256 };

typedef struct setting {
  device *d;
  dptr state;
  vec q, r;
} setting;

static const backend *const omp = &BACKEND_omp;

static status vector_open(device *d, lidx rows, vec *out) {
  status rc = STATUS_OK;
  *out = (vec){.rows = rows, .block = TILE_ROWS};
  TRY(omp->alloc(d, (int64_t)rows * 8, "vector", &out->data));
  TRY(omp->fill(d, *out, 1.5));
done:
  return rc;
}

static status set_state(setting *s) {
  solve_state start = {.scale = 1.0, .limit = 1e300, .target = -1.0, .rho = 1.0, .alpha = 1e-9};
  return omp->copy_in(s->d, s->state, (hptr){&start}, sizeof start);
}

static status measure(comm *world, setting *s, double best[2]) {
  status rc = STATUS_OK;
  best[0] = best[1] = 1e300;
  for (int round = 0; round < ROUNDS; round++) {
    double spent[2] = {0.0, 0.0};
    for (int k = 0; k < STEPS; k++) {
      TRY(set_state(s));
      const double start = comm_clock();
      TRY(omp->solve->cg_residual(s->d, s->q, (vec){.rows = 0}, s->r, s->state));
      const double middle = comm_clock();
      TRY(omp->solve->judge(s->d, world, JUDGE_CG_RESIDUAL, s->state, 0));
      spent[0] += middle - start;
      spent[1] += comm_clock() - middle;
    }
    for (int i = 0; i < 2; i++) best[i] = spent[i] < best[i] ? spent[i] : best[i];
  }
  for (int i = 0; i < 2; i++) best[i] *= 1e6 / STEPS;
done:
  return rc;
}

static status bench_threads(comm *world, int threads) {
  status rc = STATUS_OK;
  setting s;
  double best[2];
  const device_request request = {.threads = threads};
  memset(&s, 0, sizeof s);
  TRY(omp->open(&request, &s.d));
  TRY(omp->alloc(s.d, sizeof(solve_state), "state", &s.state));
  TRY(vector_open(s.d, TILE_ROWS * threads, &s.q));
  TRY(vector_open(s.d, TILE_ROWS * threads, &s.r));
  TRY(measure(world, &s, best));
  printf("%4d threads: residual step %8.2f us, judging %7.2f us\n", threads, best[0], best[1]);
done:
  omp->release(s.d, &s.q.data);
  omp->release(s.d, &s.r.data);
  omp->release(s.d, &s.state);
  omp->close(&s.d);
  return rc;
}

int main(int argc, char **argv) {
  status rc = STATUS_OK;
  comm *world = NULL;
  TRY(comm_open(&argc, &argv, &world));
  for (int threads = 1; threads <= 128; threads *= 2) TRY(bench_threads(world, threads));
done:
  if (rc != STATUS_OK) fprintf(stderr, "%s\n", fail_text());
  comm_close(&world);
  return rc;
}
