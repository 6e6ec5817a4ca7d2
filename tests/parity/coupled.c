/* Coupled systems on the CPU backends, operation by operation: derivatives at once and in two
 * parts, their Jacobians, error norms; compiled and interpreted, on several threads; and whole
 * runs. The reference does point by point what the other does in chunks. */
#include "coupled_newton.h"
#include "coupled_try.h"

static comm *world;
static compiler *with;

typedef struct setting {
  const char *name;
  gidx n, m;
} setting;

static const setting OF[] = {
    {"lorenz96", 1, 0},           {"lorenz96", 1000, 0}, {"kuramoto-ring", 257, 0},
    {"rc-ladder", 300, 0},        {"heat1d", 2, 0},      {"reaction-diffusion", 300, 3},
    {"reaction-diffusion", 5, 9}, {"n-body", 300, 0}};
enum { SETTINGS = sizeof OF / sizeof *OF };

static void open_one(coupled_try *e, const backend *b, compiler *w, int threads, const setting *is,
                     const char *method) {
  coupled_try_start(e, b, world, w, threads, is->name, is->n, method, 0.05, 0.0);
  e->run.m = is->m;
  coupled_try_open(e);
}

static void same(coupled_try *a, coupled_try *b, vec x, vec y, const char *what) {
  assert_ok(linear_store(&a->run.space, a->y, x));
  assert_ok(linear_store(&b->run.space, b->y, y));
  for (lidx i = 0; i < x.rows; i++) {
    if (bits_of(a->y[i]) == bits_of(b->y[i])) continue;
    fail_msg("%s of %s, %d points: component %d is %.17g, not %.17g", what, a->run.system->name,
             (int)a->run.layout.n, (int)i, b->y[i], a->y[i]);
  }
}

static void rhs_of(coupled_try *e, int split) {
  coupled_run *r = &e->run;
  const coupled_backend *b = r->kernels->coupled;
  assert_ok(r->kernels->fill(r->place, r->u, NAN));
  if (split) {
    assert_ok(b->rhs(r->place, r->work, PART_INTERIOR, 0.3, r->y, r->u));
    assert_ok(b->rhs(r->place, r->work, PART_BOUNDARY, 0.3, r->y, r->u));
  } else {
    assert_ok(b->rhs(r->place, r->work, PART_ALL, 0.3, r->y, r->u));
  }
}

static void derivatives(void **state) {
  (void)state;
  for (int i = 0; i < SETTINGS; i++) {
    coupled_try ref;
    open_one(&ref, &BACKEND_ref, NULL, 1, &OF[i], "tsit5");
    rhs_of(&ref, 0);
    for (int way = 0; way < 4; way++) {
      coupled_try other;
      open_one(&other, &BACKEND_omp, way == 3 || i % 2 == 0 ? NULL : with, way == 1 ? 3 : 1, &OF[i],
               "tsit5");
      rhs_of(&other, way == 2);
      same(&ref, &other, ref.run.u, other.run.u, "the derivative");
      coupled_try_close(&other);
    }
    coupled_try_close(&ref);
  }
}

static void jacobians(void **state) {
  (void)state;
  for (int i = 0; i < SETTINGS - 1; i++) { /* the last one's would be full */
    coupled_try ref, other;
    open_one(&ref, &BACKEND_ref, NULL, 1, &OF[i], "tr-bdf2");
    open_one(&other, &BACKEND_omp, i == 5 ? with : NULL, 2, &OF[i], "tr-bdf2");
    csr_block *a = &ref.run.newton->rows, *b = &other.run.newton->rows;
    assert_ok(BACKEND_ref.coupled->jacobian(ref.run.place, ref.run.work, 0.3, ref.run.y, 0.7, a));
    assert_ok(
        BACKEND_omp.coupled->jacobian(other.run.place, other.run.work, 0.3, other.run.y, 0.7, b));
    assert_int_equal(a->offset[a->rows], b->offset[b->rows]);
    for (eidx e = 0; e < a->offset[a->rows]; e++) {
      assert_int_equal(a->column[e], b->column[e]);
      assert_same_bits(a->value[e], b->value[e]);
    }
    coupled_try_close(&ref);
    coupled_try_close(&other);
  }
}

/* The Jacobian is that of the derivative: along some direction, by differences. */
static void jacobians_are_derivatives(void **state) {
  (void)state;
  for (int i = 0; i < SETTINGS - 1; i++) {
    coupled_try e;
    open_one(&e, &BACKEND_omp, NULL, 1, &OF[i], "tr-bdf2");
    coupled_run *r = &e.run;
    const csr_block *a = &r->newton->rows;
    double *d, *f[2];
    const double h = 1e-5;
    assert_ok(alloc_array(&d, r->space.rows, sizeof *d, "direction"));
    for (int k = 0; k < 2; k++) assert_ok(alloc_array(&f[k], r->space.rows, sizeof **f, "slopes"));
    assert_ok(BACKEND_omp.coupled->jacobian(r->place, r->work, 0.3, r->y, 1.0, &r->newton->rows));
    assert_ok(linear_store(&r->space, e.y, r->y));
    for (lidx k = 0; k < r->space.rows; k++) d[k] = 1.0 + k % 3;
    for (int side = 0; side < 2; side++) {
      for (lidx k = 0; k < r->space.rows; k++) f[side][k] = e.y[k] + (side ? h : -h) * d[k];
      assert_ok(linear_load(&r->space, r->u, f[side]));
      assert_ok(coupled_rhs(r, 0.3, r->u, r->v));
      assert_ok(linear_store(&r->space, f[side], r->v));
    }
    for (lidx k = 0; k < r->space.rows; k++) {
      double sum = d[k]; /* 1 - J */
      for (eidx p = a->offset[k]; p < a->offset[k + 1]; p++) sum -= a->value[p] * d[a->column[p]];
      const double seen = (f[1][k] - f[0][k]) / (2.0 * h);
      if (!(fabs(sum - seen) <= 1e-4 * (1.0 + fabs(seen)))) {
        fail_msg("%s row %d: %.9g, by differences %.9g", OF[i].name, (int)k, sum, seen);
      }
    }
    for (int k = 0; k < 2; k++) alloc_free(&f[k]);
    alloc_free(&d);
    coupled_try_close(&e);
  }
}

static void norms(void **state) {
  (void)state;
  static const setting is = {"reaction-diffusion", 70, 11};
  coupled_try ref, other;
  double a, b;
  open_one(&ref, &BACKEND_ref, NULL, 1, &is, "tsit5");
  for (int threads = 1; threads < 4; threads++) {
    open_one(&other, &BACKEND_omp, NULL, threads, &is, "tsit5");
    rhs_of(&ref, 0);
    rhs_of(&other, 0);
    assert_ok(coupled_weigh(&ref.run, ref.run.u, ref.run.y, ref.run.y, &a));
    assert_ok(coupled_weigh(&other.run, other.run.u, other.run.y, other.run.y, &b));
    assert_same_bits(a, b);
    assert_true(a > 0.0);
    assert_ok(BACKEND_omp.fill(other.run.place, other.run.v, INFINITY));
    assert_ok(coupled_weigh(&other.run, other.run.u, other.run.y, other.run.v, &b));
    assert_true(isnan(b));
    assert_ok(coupled_weigh(&other.run, (vec){.rows = 0}, other.run.y, other.run.v, &b));
    assert_true(isnan(b));
    coupled_try_close(&other);
  }
  coupled_try_close(&ref);
}

static void whole_runs(void **state) {
  (void)state;
  static const char *const methods[] = {"tsit5", "tr-bdf2", "dopri5", "backward-euler"};
  for (int i = 1; i < SETTINGS; i++) {
    const char *method = methods[i == SETTINGS - 1 ? 0 : i % 4];
    coupled_try ref, other;
    open_one(&ref, &BACKEND_ref, NULL, 1, &OF[i], method);
    coupled_try_march(&ref);
    open_one(&other, &BACKEND_omp, NULL, 2, &OF[i], method);
    coupled_try_march(&other);
    assert_int_equal(ref.run.clock.status[0], ODE_DONE);
    assert_int_equal(ref.run.clock.attempts[0], other.run.clock.attempts[0]);
    assert_true(coupled_try_fingerprint(&ref) == coupled_try_fingerprint(&other));
    coupled_try_close(&ref);
    coupled_try_close(&other);
  }
}

/* The n-th allocation fails: no leak, no crash, the status comes up. */
static void failing_allocations(void **state) {
  (void)state;
  static const setting is = {"reaction-diffusion", 9, 4};
  int failures = 0;
  for (int n = 1; n < 400; n += n < 100 ? 1 : 23) {
    const int64_t before = alloc_live();
    coupled_try e;
    coupled_try_start(&e, &BACKEND_omp, world, NULL, 1, is.name, is.n, "tr-bdf2", 0.5, 0.25);
    e.run.m = is.m;
    alloc_fail_at(n);
    status rc = coupled_open(&e.run);
    if (rc == STATUS_OK) rc = coupled_march(&e.run);
    alloc_fail_at(0);
    fail_clear();
    failures += rc == STATUS_UNAVAILABLE;
    assert_true(rc == STATUS_OK || rc == STATUS_UNAVAILABLE);
    coupled_try_close(&e);
    assert_int_equal(alloc_live(), before);
  }
  assert_in_range(failures, 40, 130);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(derivatives),
                                     cmocka_unit_test(jacobians),
                                     cmocka_unit_test(jacobians_are_derivatives),
                                     cmocka_unit_test(norms),
                                     cmocka_unit_test(whole_runs),
                                     cmocka_unit_test(failing_allocations)};
  int pid;
  const int end = test_helper(&pid);
  test_own_cache("coupled_cache", 0);
  assert_ok(comm_open(&argc, &argv, &world));
  assert_ok(compiler_open(end, pid, &with));
  compiler_settle(with, world);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  compiler_close(&with);
  comm_close(&world);
  return failed;
}
