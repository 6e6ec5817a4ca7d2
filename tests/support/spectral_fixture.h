/* A problem on a backend, with 1 / a_ii beside it, for tests of spectra. A test program opens
 * `world`. */
#ifndef SPECTRAL_FIXTURE_H
#define SPECTRAL_FIXTURE_H

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "lanczos.h"
#include "problems.h"
#include "survey.h"
#include "test.h"

static comm *world;

typedef struct fixture {
  linear_system s;
  ownership owned;
  matrix_survey facts;
  vec inverse; /* 1 / a_ii */
} fixture;

/* The problem's matrix plus `shift` times I. */
static void open_shifted(fixture *f, const char *name, int64_t n, double shift,
                         const backend *kernels, int threads) {
  const problem_request request = {.name = name,
                                   .n = &n,
                                   .n_count = 1,
                                   .peclet = 1.0,
                                   .entries_per_row = 6,
                                   .seed = 3,
                                   .threads = threads};
  const device_request where = {.threads = threads};
  csr_rows a;
  csr_block block;
  double *diagonal;
  memset(f, 0, sizeof *f);
  assert_ok(problem_build(world, &request, &a, &f->owned));
  for (lidx i = 0; i < a.rows; i++) {
    for (eidx e = a.offset[i]; e < a.offset[i + 1]; e++) {
      if (a.column[e] == a.first_row + i) a.value[e] += shift;
    }
  }
  assert_ok(survey_matrix(world, threads, &a, &f->facts));
  assert_ok(alloc_array(&diagonal, a.rows, sizeof *diagonal, "diagonal"));
  survey_diagonal(threads, &a, diagonal);
  f->s = (linear_system){.kernels = kernels,
                         .world = world,
                         .global_rows = a.global_rows,
                         .first_row = a.first_row,
                         .rows = a.rows};
  assert_ok(kernels->open(&where, &f->s.place));
  assert_ok(csr_localise(threads, &a, &block));
  f->s.ghosts = block.ghosts;
  assert_ok(halo_create(world, &f->owned, block.ghost, block.ghosts, &f->s.plan));
  assert_ok(kernels->solve->matrix_create(f->s.place, &block, &f->s.a));
  for (lidx i = 0; i < f->s.rows; i++) diagonal[i] = 1.0 / diagonal[i];
  assert_ok(linear_vector(&f->s, "1 / a_ii", &f->inverse));
  assert_ok(linear_load(&f->s, f->inverse, diagonal));
  alloc_free(&diagonal);
  csr_block_release(&block);
}

static inline void open_problem(fixture *f, const char *name, int64_t n, const backend *kernels,
                                int threads) {
  open_shifted(f, name, n, 0.0, kernels, threads);
}

static void close_problem(fixture *f) {
  const transport_side side = linear_side(&f->s);
  linear_vector_release(&f->s, &f->inverse);
  f->s.kernels->solve->matrix_release(f->s.place, &f->s.a);
  transport_release(&side);
  f->s.kernels->close(&f->s.place);
  ownership_release(&f->owned);
}

#endif
