/* Every solver of the registry on every CPU backend and with verdicts that lag behind: the same
 * reason, iteration, history and bits. The lagging backend is `ref` with its states remembered per
 * judged step, so that the host runs ahead as it would on a GPU. HALOSWEEP_TEST_BACKEND=cuda adds
 * that backend, and skips where there is no GPU. ranks: 1 2 3 */
#include <math.h>
#include <stdlib.h>

#include "gpu.h"
#include "late.h"
#include "trial.h"

/* ---- ref, whose matrix work fails on the last rank ---- */

static int work_left;

static status worn_out(void) {
  if (comm_rank(world) != comm_size(world) - 1 || work_left-- > 0) return STATUS_OK;
  return fail(STATUS_BROKEN, "rank %d wore out", comm_rank(world));
}

static status weary_sweep(device *d, const matrix *a, part p, vec x, vec b, vec weight, vec next,
                          dptr state) {
  status rc = worn_out();
  return rc != STATUS_OK ? rc : BACKEND_ref.solve->sweep(d, a, p, x, b, weight, next, state);
}

static status weary_cg_product(device *d, const matrix *a, part p, vec direction, vec q,
                               dptr state) {
  status rc = worn_out();
  return rc != STATUS_OK ? rc : BACKEND_ref.solve->cg_product(d, a, p, direction, q, state);
}

static status weary_product(device *d, const matrix *a, part p, vec x, vec y) {
  status rc = worn_out();
  return rc != STATUS_OK ? rc : BACKEND_ref.solve->product(d, a, p, x, y);
}

static status weary_relax(device *d, const matrix *a, part p, vec x, double c, vec w, vec b, vec y,
                          vec out) {
  status rc = worn_out();
  return rc != STATUS_OK ? rc : BACKEND_ref.solve->relax(d, a, p, x, c, w, b, y, out);
}

static status weary_relax_set(device *d, const matrix *a, part p, dptr set, vec w, vec b, int keep,
                              vec x) {
  status rc = worn_out();
  return rc != STATUS_OK ? rc : BACKEND_ref.solve->relax_set(d, a, p, set, w, b, keep, x);
}

static status weary_advance(device *d, const matrix *a, part p, vec r, vec inverse, vec from,
                            vec to, vec x, vec q, dptr state) {
  status rc = worn_out();
  if (rc != STATUS_OK) return rc;
  return BACKEND_ref.solve->cg_advance(d, a, p, r, inverse, from, to, x, q, state);
}

/* The reference with directions that take turns in two vectors, as on GPUs. */
static status turning_advance(device *d, const matrix *a, part p, vec r, vec inverse, vec from,
                              vec to, vec x, vec q, dptr state) {
  const solve_state *s = to.data.at == from.data.at ? NULL : state.at;
  assert_non_null(s);
  if (s->pending) {
    const lidx begin = p == PART_BOUNDARY ? to.rows : 0;
    const lidx end = p == PART_INTERIOR ? to.rows : to.rows + to.ghosts;
    const double *old = from.data.at;
    double *new = to.data.at;
    for (lidx i = begin; i < end; i++) new[i] = old[i];
  }
  return BACKEND_ref.solve->cg_advance(d, a, p, r, inverse, to, to, x, q, state);
}

static const solve_limits usual = {
    .rtol = 1e-8, .divergence = 1e5, .max_iterations = 1000, .check_every = 50};

static int with_gpu;

/* Runs the trial everywhere; *out is the reference's outcome (x released). */
static void everywhere(const trial *t, outcome *out) {
  static outcome other;
  static const int lags[] = {2, 1, 5};
  const int64_t live = alloc_live();
  run_trial(t, &BACKEND_ref, 1, out);
  for (int threads = 1; threads <= 2; threads++) {
    run_trial(t, &BACKEND_omp, threads, &other);
    same_outcome(out, &other, "omp");
    alloc_free(&other.x);
  }
  for (size_t i = 0; i < sizeof lags / sizeof *lags; i++) {
    solve_backend turning;
    backend lagging = late_by(lags[i]);
    if (i == 0) {
      turning = *lagging.solve;
      turning.cg_two_vectors = 1;
      turning.cg_advance = turning_advance;
      lagging.solve = &turning;
    }
    run_trial(t, &lagging, 1, &other);
    same_outcome(out, &other, "late");
    alloc_free(&other.x);
    if (late.judged == 0) break; /* a method that the host drives judges nothing on the device */
    if (out->iterations > 2 * lags[i]) assert_true(late.ahead > lags[i]);
  }
  if (with_gpu) {
    run_trial(t, &BACKEND_cuda, 1, &other);
    same_outcome(out, &other, "cuda");
    alloc_free(&other.x);
  }
  alloc_free(&out->x);
  assert_int_equal(alloc_live(), live);
}

static outcome result;

static trial usual_trial(const solver *method, const char *problem, int64_t n) {
  trial t = {.problem = problem,
             .n = n,
             .method = method,
             .limits = usual,
             .omega = 1.0,
             .preconditioned = 1,
             .rhs_scale = 1.0};
  if (method->flags & SOLVER_TAKES_OMEGA) t.omega = 0.75;
  return t;
}

static void all_methods_converge_alike(void **state) {
  (void)state;
  for (int i = 0; method_at(i) != NULL; i++) {
    const trial t = usual_trial(method_at(i), "poisson1d", 9);
    everywhere(&t, &result);
    assert_int_equal(result.reason, REASON_CONVERGED);
    assert_true(result.relative_residual <= 1e-8);
    const trial plane = usual_trial(method_at(i), "poisson2d", 6);
    everywhere(&plane, &result);
    assert_int_equal(result.reason, REASON_CONVERGED);
  }
}

static void limits_stop_at_the_same_iterate(void **state) {
  (void)state;
  for (int i = 0; method_at(i) != NULL; i++) {
    trial t = usual_trial(method_at(i), "poisson2d", 30);
    t.limits.rtol = 0.0;
    t.limits.max_iterations = 17;
    everywhere(&t, &result);
    assert_int_equal(result.reason, REASON_MAX_ITERATIONS);
    assert_int_equal(result.iterations, 17);
    t.limits.fixed_count = 1;
    t.limits.max_iterations = 61;
    everywhere(&t, &result);
    assert_int_equal(result.reason, REASON_FIXED_COUNT);
    assert_int_equal(result.iterations, 61);
    /* rows 0 .. 61 and the heading */
    int lines = 0;
    for (const char *c = result.history; *c != '\0'; c++) lines += *c == '\n';
    if (comm_rank(world) == 0) assert_int_equal(lines, 63);
  }
}

static void round_off_is_stagnation(void **state) {
  (void)state;
  for (int i = 0; method_at(i) != NULL; i++) {
    trial t = usual_trial(method_at(i), "poisson2d", 5);
    t.limits.rtol = 1e-30;
    t.limits.max_iterations = 2000;
    everywhere(&t, &result);
    assert_int_equal(result.reason, REASON_STAGNATED);
    assert_true(result.relative_residual < 1e-13);
    assert_true(result.relative_residual > 0.0);
  }
}

static void tiny_and_huge_right_sides_count_the_same(void **state) {
  (void)state;
  static const double scales[] = {0x1p-600, 0x1p-60, 0x1p600, 0x1p1000};
  for (int i = 0; method_at(i) != NULL; i++) {
    trial t = usual_trial(method_at(i), "poisson2d", 7);
    everywhere(&t, &result);
    const int64_t iterations = result.iterations;
    const double residual = result.relative_residual;
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
      t.rhs_scale = scales[k];
      if (k == 0) {
        everywhere(&t, &result);
      } else {
        run_trial(&t, &BACKEND_ref, 1, &result);
        alloc_free(&result.x);
      }
      assert_int_equal(result.reason, REASON_CONVERGED);
      assert_int_equal(result.iterations, iterations);
      assert_same_bits(result.relative_residual, residual);
    }
  }
}

/* Recursive residuals of CG go on falling; their squares leave the range of a double. */
static void sums_out_of_range_are_redone(void **state) {
  (void)state;
  trial t = usual_trial(solver_find("cg"), "poisson1d", 12);
  t.limits.fixed_count = 1;
  t.limits.max_iterations = 260;
  everywhere(&t, &result);
  assert_int_equal(result.reason, REASON_FIXED_COUNT);
  assert_true(result.relative_residual < 1e-13);
  assert_true(result.recursive_residual < 1e-250);
  trial sweeps = usual_trial(solver_find("jor"), "poisson2d", 4);
  sweeps.omega = 2.5; /* diverges by about 3.5 a sweep, through 1e140 */
  sweeps.limits.fixed_count = 1;
  sweeps.limits.max_iterations = 300;
  everywhere(&sweeps, &result);
  assert_int_equal(result.reason, REASON_FIXED_COUNT);
  assert_true(result.recursive_residual > 1e150);
  assert_true(isfinite(result.recursive_residual));
  sweeps.limits.max_iterations = 2000;
  everywhere(&sweeps, &result);
  assert_int_equal(result.reason, REASON_NOT_FINITE);
}

static void divergence_stops_early(void **state) {
  (void)state;
  trial t = usual_trial(solver_find("jor"), "poisson2d", 9);
  t.omega = 1.8;
  everywhere(&t, &result);
  assert_int_equal(result.reason, REASON_DIVERGED);
  assert_true(result.relative_residual > 1e5 && result.relative_residual < 1e7);
}

static void the_update_is_only_a_hint(void **state) {
  (void)state;
  trial t = usual_trial(solver_find("jacobi"), "poisson2d", 12);
  t.limits.monitor_update = 1;
  t.limits.rtol = 1e-6;
  t.limits.max_iterations = 3000;
  everywhere(&t, &result);
  assert_int_equal(result.reason, REASON_CONVERGED);
  assert_true(result.relative_residual <= 1e-6);
  t.rhs_scale = 0x1p-700;
  const int64_t iterations = result.iterations;
  everywhere(&t, &result);
  assert_int_equal(result.iterations, iterations);
}

static void nonsymmetric_and_random_matrices(void **state) {
  (void)state;
  trial t = usual_trial(solver_find("jacobi"), "convdiff2d", 11);
  t.limits.max_iterations = 3000;
  everywhere(&t, &result);
  assert_int_equal(result.reason, REASON_CONVERGED);
  t = usual_trial(solver_find("jacobi"), "random-dominant", 700);
  everywhere(&t, &result);
  assert_int_equal(result.reason, REASON_CONVERGED);
  assert_true(result.iterations < 100);
  t = usual_trial(solver_find("cg"), "convdiff2d", 11); /* not symmetric: may do anything, alike */
  t.preconditioned = 0;
  everywhere(&t, &result);
}

/* One rank's failure ends the run on all of them, at the next sum. */
static void a_failing_rank_takes_all_along(void **state) {
  (void)state;
  solve_backend wearing = *BACKEND_ref.solve;
  backend weary = BACKEND_ref;
  wearing.sweep = weary_sweep;
  wearing.cg_product = weary_cg_product;
  wearing.product = weary_product;
  wearing.relax = weary_relax;
  wearing.relax_set = weary_relax_set;
  wearing.cg_advance = weary_advance;
  weary.solve = &wearing;
  for (int i = 0; method_at(i) != NULL; i++) {
    trial t = usual_trial(method_at(i), "poisson2d", 30);
    const int last = comm_rank(world) == comm_size(world) - 1;
    t.limits.rtol = 0.0;
    work_left = 14; /* two parts an iteration: the eighth fails at the latest */
    run_trial(&t, &weary, 1, &result);
    assert_int_equal(result.failure, last ? STATUS_BROKEN : STATUS_OK);
    assert_true(result.iterations <= 8);
    alloc_free(&result.x);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_methods_converge_alike),
      cmocka_unit_test(limits_stop_at_the_same_iterate),
      cmocka_unit_test(round_off_is_stagnation),
      cmocka_unit_test(tiny_and_huge_right_sides_count_the_same),
      cmocka_unit_test(sums_out_of_range_are_redone),
      cmocka_unit_test(divergence_stops_early),
      cmocka_unit_test(the_update_is_only_a_hint),
      cmocka_unit_test(nonsymmetric_and_random_matrices),
      cmocka_unit_test(a_failing_rank_takes_all_along),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  const char *more = getenv("HALOSWEEP_TEST_BACKEND");
  with_gpu = more != NULL && strcmp(more, "cuda") == 0;
  int failed = with_gpu ? gpu_skip(world) : 0;
  if (failed == 0) failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
