/* The cycle of amg: the same bits on ranks, threads and backends as on one rank with plain loops;
 * symmetric and positive. HALOSWEEP_TEST_BACKEND=cuda adds that backend, and skips where there is
 * no GPU. ranks: 1 2 3 */
#include "amg_fixture.h"
#include "fingerprint.h"
#include "gpu.h"

#include <stdlib.h>

static comm *world, *self;
static int with_gpu;

/* M^-1 of a made vector, `times` of one hierarchy. *z: [rows]. */
static void apply(comm *c, const backend *b, int threads, const char *problem, amg_kind kind,
                  int64_t n, double **z, gidx *first, lidx *rows) {
  amg_case k;
  preconditioning m;
  vec r, to;
  amg_case_open(c, b, threads, problem, kind, n, &k);
  const preconditioner_request q = amg_request(&k);
  assert_ok(preconditioning_open(&k.s, preconditioner_find("amg"), &q, &m));
  amg_random(&k, 5, 0, &r);
  assert_ok(linear_vector(&k.s, "z", &to));
  assert_ok(preconditioning_apply(&k.s, &m, r, to));
  assert_ok(k.s.kernels->fill(k.s.place, to, 7.0)); /* what z held does not matter */
  assert_ok(preconditioning_apply(&k.s, &m, r, to));
  assert_ok(k.s.failure);
  assert_ok(alloc_array(z, k.s.rows, sizeof **z, "z"));
  assert_ok(linear_store(&k.s, *z, to));
  *first = k.s.first_row;
  *rows = k.s.rows;
  linear_vector_release(&k.s, &r);
  linear_vector_release(&k.s, &to);
  preconditioning_close(&k.s, &m);
  amg_case_close(&k);
}

static void everywhere(const char *problem, amg_kind kind, int64_t n) {
  double *whole, *mine;
  gidx first;
  lidx rows;
  const int64_t live = alloc_live();
  const backend *const backends[] = {&BACKEND_ref, &BACKEND_omp, &BACKEND_omp, &BACKEND_cuda};
  const int threads[] = {1, 1, 3, 1};
  apply(self, &BACKEND_ref, 1, problem, kind, n, &whole, &first, &rows);
  for (int i = 0; i < (with_gpu ? 4 : 3); i++) {
    apply(world, backends[i], threads[i], problem, kind, n, &mine, &first, &rows);
    for (lidx j = 0; j < rows; j++) assert_same_bits(mine[j], whole[first + j]);
    alloc_free(&mine);
  }
  alloc_free(&whole);
  assert_int_equal(alloc_live(), live);
}

static void the_same_bits_everywhere(void **state) {
  (void)state;
  for (amg_kind kind = 0; kind < KINDS; kind++) {
    everywhere(NULL, kind, 1);
    everywhere(NULL, kind, 40); /* two levels at least, but diagonal */
  }
  everywhere("poisson1d", 0, 3000);
  everywhere("poisson3d", 0, 20);
  everywhere("convdiff2d", 0, 30);
}

/* (M^-1 u, v) = (u, M^-1 v) up to rounding, (M^-1 u, u) > 0. */
static void symmetric_and_positive(void **state) {
  (void)state;
  for (amg_kind kind = 0; kind < KIND_WIND; kind++) {
    amg_case k;
    preconditioning m;
    vec u, v, mu, mv;
    amg_case_open(world, &BACKEND_omp, 1, NULL, kind, 40, &k);
    const preconditioner_request q = amg_request(&k);
    assert_ok(preconditioning_open(&k.s, preconditioner_find("amg"), &q, &m));
    const int constant = kind == KIND_NEUMANN || kind == KIND_PARTS;
    amg_random(&k, 1, constant, &u);
    amg_random(&k, 2, constant, &v);
    assert_ok(linear_vector(&k.s, "M^-1 u", &mu));
    assert_ok(linear_vector(&k.s, "M^-1 v", &mv));
    assert_ok(preconditioning_apply(&k.s, &m, u, mu));
    assert_ok(preconditioning_apply(&k.s, &m, v, mv));
    const double a = amg_dot(&k, mu, v), b = amg_dot(&k, u, mv);
    const double size = sqrt(amg_dot(&k, mu, u) * amg_dot(&k, mv, v));
    assert_true(amg_dot(&k, mu, u) > 0.0 && amg_dot(&k, mv, v) > 0.0);
    /* the two parts' constants are solved up to a small shift: their size is that of 2^36 */
    assert_true(fabs(a - b) <= 1e-12 * (kind == KIND_PARTS ? 1e3 : 1.0) * size);
    vec *all[] = {&u, &v, &mu, &mv};
    for (int i = 0; i < 4; i++) linear_vector_release(&k.s, all[i]);
    preconditioning_close(&k.s, &m);
    amg_case_close(&k);
  }
}

/* A rank that has failed takes part to the end. */
static void a_failing_rank_goes_along(void **state) {
  (void)state;
  const int last = comm_rank(world) == comm_size(world) - 1;
  amg_case k;
  preconditioning m;
  vec u, z;
  amg_case_open(world, &BACKEND_ref, 1, NULL, KIND_POISSON, 40, &k);
  const preconditioner_request q = amg_request(&k);
  assert_ok(preconditioning_open(&k.s, preconditioner_find("amg"), &q, &m));
  amg_random(&k, 1, 0, &u);
  assert_ok(linear_vector(&k.s, "z", &z));
  if (last) k.s.failure = STATUS_BROKEN;
  assert_ok(preconditioning_apply(&k.s, &m, u, z));
  assert_int_equal(k.s.failure, last ? STATUS_BROKEN : STATUS_OK);
  linear_vector_release(&k.s, &u);
  linear_vector_release(&k.s, &z);
  preconditioning_close(&k.s, &m);
  amg_case_close(&k);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_bits_everywhere),
      cmocka_unit_test(symmetric_and_positive),
      cmocka_unit_test(a_failing_rank_goes_along),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  setenv("CMOCKA_TEST_ABORT", "1", 1); /* a rank that fails ends them all */
  const char *more = getenv("HALOSWEEP_TEST_BACKEND");
  with_gpu = more != NULL && strcmp(more, "cuda") == 0;
  int failed = with_gpu ? gpu_skip(world) : 0;
  if (failed == 0) failed = comm_self(&self) != STATUS_OK;
  if (failed == 0) failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&self);
  comm_close(&world);
  return failed;
}
