/* Coupled systems on the GPU against the reference backend, bit for bit, operation by operation:
 * derivatives in parts while halos travel, Jacobians, error norms; and whole runs by explicit and
 * implicit methods.
 *
 * ranks: 1 2 */
#include "coupled_cases.h"
#include "coupled_newton.h"
#include "gpu.h"

static comm *world;

static void same(coupled_try *a, coupled_try *b, vec x, vec y, const char *what) {
  assert_ok(linear_store(&a->run.space, a->y, x));
  assert_ok(linear_store(&b->run.space, b->y, y));
  for (lidx i = 0; i < x.rows; i++) {
    if (bits_of(a->y[i]) == bits_of(b->y[i])) continue;
    fail_msg("%s of %s, %lld points: component %d is %.17g, not %.17g", what, a->run.system->name,
             (long long)a->run.layout.n, (int)i, b->y[i], a->y[i]);
  }
}

static void rhs_of(coupled_run *r, vec out) {
  assert_ok(r->kernels->fill(r->place, out, NAN));
  assert_ok(coupled_rhs(r, 0.3, r->y, out));
}

static void operations(const coupled_case *is, const char *method) {
  coupled_try ref, gpu;
  double want, got;
  coupled_case_open(&ref, &BACKEND_ref, world, 1, is, method, 1.0, 0.0);
  coupled_case_open(&gpu, &BACKEND_cuda, world, 1, is, method, 1.0, 0.0);
  coupled_run *a = &ref.run, *b = &gpu.run;
  rhs_of(a, a->u);
  rhs_of(b, b->u);
  same(&ref, &gpu, a->u, b->u, "the derivative");
  assert_ok(b->kernels->fill(b->place, b->v, NAN));
  assert_ok(linear_ghosts(&b->space, b->y));
  assert_ok(b->kernels->coupled->rhs(b->place, b->work, PART_ALL, 0.3, b->y, b->v));
  same(&ref, &gpu, a->u, b->v, "the derivative at once");
  assert_ok(coupled_weigh(a, a->u, a->y, a->y, &want));
  assert_ok(coupled_weigh(b, b->u, b->y, b->y, &got));
  assert_same_bits(want, got);
  assert_ok(b->kernels->fill(b->place, b->v, INFINITY));
  assert_ok(coupled_weigh(b, (vec){.rows = 0}, b->y, b->v, &got));
  assert_true(isnan(got));
  if (a->newton != NULL) {
    csr_block *x = &a->newton->rows, *y = &b->newton->rows;
    assert_ok(a->kernels->coupled->jacobian(a->place, a->work, 0.3, a->y, 0.7, x));
    assert_ok(b->kernels->coupled->jacobian(b->place, b->work, 0.3, b->y, 0.7, y));
    for (eidx e = 0; e < x->offset[x->rows]; e++) assert_same_bits(x->value[e], y->value[e]);
  }
  coupled_try_close(&ref);
  coupled_try_close(&gpu);
}

static void every_operation(void **state) {
  (void)state;
  static const coupled_case more[] = {{NULL, "lorenz96", 200003, 0, 0},
                                      {NULL, "reaction-diffusion", 60, 1100, 0},
                                      {NULL, "kuramoto-ring", 3001, 0, 0},
                                      {NULL, "n-body", 1500, 0, 0}};
  for (int i = 0; i < COUPLED_CASE_COUNT; i++) {
    operations(&COUPLED_CASES[i], i == 6 || i == 7 ? "tsit5" : "tr-bdf2");
  }
  for (int i = 0; i < 4; i++) operations(&more[i], "tsit5");
}

static void run_of(const coupled_case *is, const char *method, double t_end, double dt,
                   const char *linear) {
  coupled_try ref, gpu;
  coupled_try *const both[] = {&ref, &gpu};
  for (int i = 0; i < 2; i++) {
    coupled_try_start(both[i], i == 0 ? &BACKEND_omp : &BACKEND_cuda, world, NULL, 1, is->name,
                      is->n, method, t_end, dt);
    both[i]->run.m = is->m;
    both[i]->run.linear = linear;
    both[i]->run.plan.rtol = 1e-6;
    coupled_try_run(both[i]);
  }
  const ode_work *a = &ref.run.clock, *b = &gpu.run.clock;
  if (a->attempts[0] != b->attempts[0] || a->status[0] != b->status[0] ||
      bits_of(a->h[0]) != bits_of(b->h[0]) ||
      coupled_try_fingerprint(&ref) != coupled_try_fingerprint(&gpu)) {
    fail_msg("%s by %s: %d and %d steps, ended %d and %d", is->name, method, (int)a->attempts[0],
             (int)b->attempts[0], a->status[0], b->status[0]);
  }
  assert_int_equal(b->status[0], ODE_DONE);
  coupled_try_close(&ref);
  coupled_try_close(&gpu);
}

static void whole_runs(void **state) {
  (void)state;
  static const coupled_case ring = {NULL, "lorenz96", 5000, 0, 0},
                            rod = {NULL, "heat1d", 300, 0, 0},
                            ladder = {NULL, "rc-ladder", 60, 0, 0},
                            spots = {NULL, "reaction-diffusion", 40, 30, 0},
                            bodies = {NULL, "n-body", 300, 0, 0};
  run_of(&ring, "rk4", 0.1, 0.01, NULL);
  run_of(&ring, "dopri5", 0.1, 0.0, NULL);
  run_of(&spots, "tsit5", 5.0, 0.0, NULL);
  run_of(&bodies, "verlet", 0.05, 0.01, NULL);
  run_of(&bodies, "tsit5", 0.05, 0.0, NULL);
  run_of(&rod, "tr-bdf2", 2e-3, 5e-4, NULL);
  run_of(&rod, "backward-euler", 1e-3, 5e-4, "gmres");
  run_of(&spots, "tr-bdf2", 4.0, 0.0, NULL);
  run_of(&ladder, "auto", 0.5, 0.0, NULL);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_operation),
                                     cmocka_unit_test(whole_runs)};
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int rc = gpu_skip(world);
  if (rc == 0) rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
