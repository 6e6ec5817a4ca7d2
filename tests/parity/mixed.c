/* Mixed precision on every CPU backend, and with verdicts that lag behind: the same reason, counts,
 * history and bits, and as small a true residual as double's. HALOSWEEP_TEST_BACKEND=cuda adds that
 * backend, and skips where there is no GPU. ranks: 1 2 3 */
#include <math.h>
#include <stdlib.h>

#include "gpu.h"
#include "late.h"
#include "mixed_backend.h"
#include "trial.h"

static int with_gpu;
static outcome result;

static trial mixed_trial(const char *method, const char *problem, int64_t n) {
  return (trial){
      .problem = problem,
      .n = n,
      .method = solver_find(method),
      .limits = {.rtol = 1e-8, .divergence = 1e5, .max_iterations = 5000, .check_every = 50},
      .omega = strcmp(method, "jor") == 0 ? 0.9 : 1.0,
      .preconditioned = 1,
      .mixed = 100,
      .rhs_scale = 1.0};
}

static void everywhere(const trial *t, outcome *out) {
  static outcome other;
  const int64_t live = alloc_live();
  run_trial(t, &BACKEND_ref, 1, out);
  for (int threads = 1; threads <= 2; threads++) {
    run_trial(t, &BACKEND_omp, threads, &other);
    same_outcome(out, &other, "omp");
    alloc_free(&other.x);
  }
  const backend lagging = late_by(5);
  run_trial(t, &lagging, 1, &other);
  same_outcome(out, &other, "late");
  if (out->iterations > 12 * out->corrections) assert_true(late.ahead > 5);
  alloc_free(&other.x);
  if (with_gpu) {
    run_trial(t, &BACKEND_cuda, 1, &other);
    same_outcome(out, &other, "cuda");
    alloc_free(&other.x);
  }
  alloc_free(&out->x);
  assert_int_equal(alloc_live(), live);
}

/* Everywhere; converged, and in at most `share` of double's iterations (and 2). */
static void against_double(const trial *t, double share) {
  static outcome twice;
  trial wide = *t;
  wide.mixed = 0;
  run_trial(&wide, &BACKEND_omp, 1, &twice);
  alloc_free(&twice.x);
  everywhere(t, &result);
  assert_int_equal(result.reason, REASON_CONVERGED);
  assert_true(result.relative_residual <= t->limits.rtol);
  assert_true(result.corrections > 0);
  if ((double)result.iterations > share * (double)twice.iterations + 2.0) {
    fail_msg("%s: %lld iterations, %lld in double", t->problem, (long long)result.iterations,
             (long long)twice.iterations);
  }
}

/* Boundary tiles, ghosts, blocks below 32 and of 32; an odd number of rows. */
static void converges_like_double(void **state) {
  (void)state;
  static const char *const methods[] = {"jacobi", "jor", "cg"};
  static const struct {
    const char *problem;
    int64_t n;
  } systems[] = {{"poisson1d", 9}, {"poisson3d", 7}, {"poisson2d", 94}};
  for (size_t m = 0; m < 3; m++) {
    for (size_t i = 0; i < (m < 2 ? 2 : 3); i++) {
      trial t = mixed_trial(methods[m], systems[i].problem, systems[i].n);
      against_double(&t, m < 2 ? 1.02 : 1.2);
      t.preconditioned = 0;
      if (m == 2) against_double(&t, 1.2);
    }
  }
  trial t = mixed_trial("jacobi", "random-dominant", 700);
  against_double(&t, 1.1);
}

/* Far below float's own precision, and where double's ends. */
static void the_last_digits_are_doubles(void **state) {
  (void)state;
  static const char *const methods[] = {"jacobi", "cg"};
  for (int m = 0; m < 2; m++) {
    trial t = mixed_trial(methods[m], "poisson2d", m == 0 ? 7 : 12);
    t.limits.rtol = 1e-14;
    against_double(&t, 1.5);
    t.limits.rtol = 1e-30;
    everywhere(&t, &result);
    assert_int_equal(result.reason, REASON_STAGNATED);
    assert_true(result.relative_residual < 1e-13);
  }
}

/* The counts and the residual of any power of two. */
static void sizes_beyond_floats_count_the_same(void **state) {
  (void)state;
  static const double scales[] = {0x1p-600, 0x1p-160, 0x1p600, 0x1p1000};
  static const char *const methods[] = {"jacobi", "cg"};
  for (int m = 0; m < 2; m++) {
    trial t = mixed_trial(methods[m], "poisson2d", 7);
    everywhere(&t, &result);
    const outcome first = result;
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
      t.rhs_scale = scales[k];
      everywhere(&t, &result);
      assert_int_equal(result.reason, REASON_CONVERGED);
      assert_int_equal(result.iterations, first.iterations);
      assert_same_bits(result.relative_residual, first.relative_residual);
    }
  }
}

/* At most correct_every sweeps are made between corrections, and limits hold inside. */
static void corrections_and_limits(void **state) {
  (void)state;
  trial t = mixed_trial("jacobi", "poisson2d", 20);
  t.mixed = 7;
  t.limits.rtol = 0.0;
  t.limits.max_iterations = 61;
  everywhere(&t, &result);
  assert_int_equal(result.reason, REASON_MAX_ITERATIONS);
  assert_int_equal(result.iterations, 61);
  assert_int_equal(result.corrections, 8); /* the last five sweeps are added at the end */
  t.limits.fixed_count = 1;
  t.method = solver_find("cg");
  everywhere(&t, &result);
  assert_int_equal(result.reason, REASON_FIXED_COUNT);
  assert_int_equal(result.iterations, 61);
  t = mixed_trial("jor", "poisson2d", 9);
  t.omega = 1.8;
  everywhere(&t, &result);
  assert_int_equal(result.reason, REASON_DIVERGED);
}

/* The operations themselves, on rows of every length: of segments, of lanes, of a chain. */
static void long_rows_in_float(void **state) {
  (void)state;
  enum { ROWS = 300, LONG = 9000 };
  csr_block a = {.rows = ROWS, .columns = ROWS};
  eidx entries = 0;
  if (comm_size(world) > 1) return;
  assert_ok(alloc_array(&a.offset, ROWS + 1, sizeof *a.offset, "offsets"));
  for (lidx i = 0; i <= ROWS; i++) {
    a.offset[i] = entries;
    entries += i == 3 ? LONG : i == 290 ? 100 : 1 + i % 9;
  }
  assert_ok(alloc_array(&a.column, entries, sizeof *a.column, "columns"));
  assert_ok(alloc_array(&a.value, entries, sizeof *a.value, "values"));
  for (eidx e = 0; e < entries; e++) {
    a.column[e] = (lidx)(e * 7 % ROWS);
    a.value[e] = sin((double)e) / 3.0;
  }
  const backend *const all[] = {&BACKEND_ref, &BACKEND_omp, &BACKEND_cuda};
  static float out[3][ROWS];
  double sums[3];
  for (int b = 0; b < 2 + with_gpu; b++) {
    const device_request where = {.threads = 2};
    const mixed_backend *k = all[b]->solve->mixed;
    const solve_state fresh = {.scale = 1.0};
    device *d = NULL;
    single_matrix *m = NULL;
    single_vec x = {.rows = ROWS, .block = 1}, q = x;
    vec wide = {.rows = ROWS, .block = 1};
    dptr scalars;
    double *values;
    assert_ok(alloc_array(&values, ROWS, sizeof *values, "x"));
    for (lidx i = 0; i < ROWS; i++) values[i] = cos((double)i);
    assert_ok(all[b]->open(&where, &d));
    assert_ok(k->matrix_create(d, &a, 0.5, &m));
    assert_ok(all[b]->alloc(d, ROWS * 4, "x", &x.data));
    assert_ok(all[b]->alloc(d, ROWS * 4, "q", &q.data));
    assert_ok(all[b]->alloc(d, ROWS * 8, "wide", &wide.data));
    assert_ok(all[b]->alloc(d, sizeof fresh, "state", &scalars));
    assert_ok(all[b]->copy_in(d, wide.data, (hptr){values}, ROWS * 8));
    solve_state copy = fresh;
    assert_ok(all[b]->copy_in(d, scalars, (hptr){&copy}, sizeof copy));
    assert_ok(k->narrow(d, 1.0, wide, x));
    assert_ok(k->cg_product(d, m, PART_ALL, x, q, scalars));
    assert_ok(all[b]->sums(d, world, 1, NULL, &sums[b]));
    assert_ok(all[b]->copy_out(d, (hptr){out[b]}, q.data, ROWS * 4));
    for (lidx i = 0; b > 0 && i < ROWS; i++) assert_memory_equal(&out[b][i], &out[0][i], 4);
    assert_same_bits(sums[b], sums[0]);
    /* against double: float's rounding, not less, not much more */
    double row = 0.0;
    for (eidx e = a.offset[3]; e < a.offset[4]; e++) row += 0.5 * a.value[e] * values[a.column[e]];
    assert_true(fabs(row - (double)out[b][3]) < 1e-3 && row != (double)out[b][3]);
    k->matrix_release(d, &m);
    all[b]->release(d, &x.data);
    all[b]->release(d, &q.data);
    all[b]->release(d, &wide.data);
    all[b]->release(d, &scalars);
    all[b]->close(&d);
    alloc_free(&values);
  }
  csr_block_release(&a);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(converges_like_double),
      cmocka_unit_test(the_last_digits_are_doubles),
      cmocka_unit_test(sizes_beyond_floats_count_the_same),
      cmocka_unit_test(corrections_and_limits),
      cmocka_unit_test(long_rows_in_float),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  const char *more = getenv("HALOSWEEP_TEST_BACKEND");
  with_gpu = more != NULL && strcmp(more, "cuda") == 0;
  int failed = with_gpu ? gpu_skip(world) : 0;
  if (failed == 0) failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
