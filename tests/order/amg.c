/* How fast amg converges: iterations of CG with it, and the factor of the cycle alone, on matrices
 * of one, two and three dimensions, anisotropic, with jumps, singular, in parts. Bounds are what
 * the theory promises with room (a factor that does not depend on the size), not what was measured.
 */
#include "amg_fixture.h"

#include <stdlib.h>

static comm *world;

typedef struct outcome {
  int iterations;
  double factor;   /* of the residual, mean over the last iterations of the cycle alone */
  double residual; /* relative, recomputed */
} outcome;

/* CG to 1e-8 from a random right-hand side; `limit` iterations at most. */
static void conjugate_gradients(amg_case *k, const preconditioning *m, int constant, int limit,
                                outcome *out) {
  const backend *b = k->s.kernels;
  device *d = k->s.place;
  vec x, r, z, p, q, rhs;
  vec *made[] = {&x, &z, &p, &q};
  double old = 1.0;
  amg_random(k, 7, constant, &rhs);
  amg_random(k, 7, constant, &r);
  for (int i = 0; i < 4; i++) assert_ok(linear_vector(&k->s, "cg", made[i]));
  const double size = amg_dot(k, rhs, rhs);
  for (out->iterations = 0; out->iterations < limit; out->iterations++) {
    if (amg_dot(k, r, r) <= 1e-16 * size) break;
    assert_ok(preconditioning_apply(&k->s, m, r, z));
    const double rz = amg_dot(k, r, z);
    assert_ok(b->combine(d, 1.0, z, out->iterations == 0 ? 0.0 : rz / old, p, p));
    assert_ok(linear_product(&k->s, p, q));
    const double alpha = rz / amg_dot(k, p, q);
    assert_ok(b->combine(d, alpha, p, 1.0, x, x));
    assert_ok(b->combine(d, -alpha, q, 1.0, r, r));
    old = rz;
  }
  assert_ok(linear_product(&k->s, x, q));
  assert_ok(b->combine(d, 1.0, rhs, -1.0, q, r));
  out->residual = sqrt(amg_dot(k, r, r) / size);
  for (int i = 0; i < 4; i++) linear_vector_release(&k->s, made[i]);
  linear_vector_release(&k->s, &rhs);
  linear_vector_release(&k->s, &r);
}

/* x += M^-1 (b - A x), by its residuals: the mean factor of the last five of fifteen. */
static void stationary(amg_case *k, const preconditioning *m, int constant, outcome *out) {
  const backend *b = k->s.kernels;
  vec r, z, q;
  double before = 1.0;
  amg_random(k, 9, constant, &r);
  assert_ok(linear_vector(&k->s, "z", &z));
  assert_ok(linear_vector(&k->s, "q", &q));
  for (int i = 0; i < 15; i++) {
    if (i == 10) before = amg_dot(k, r, r);
    assert_ok(preconditioning_apply(&k->s, m, r, z));
    assert_ok(linear_product(&k->s, z, q));
    assert_ok(b->combine(k->s.place, -1.0, q, 1.0, r, r));
  }
  out->factor = pow(amg_dot(k, r, r) / before, 0.1);
  linear_vector_release(&k->s, &r);
  linear_vector_release(&k->s, &z);
  linear_vector_release(&k->s, &q);
}

static void run(const char *problem, amg_kind kind, int64_t n, outcome *out) {
  amg_case k;
  preconditioning m;
  amg_case_open(world, &BACKEND_omp, 2, problem, kind, n, &k);
  const int constant = problem == NULL && (kind == KIND_NEUMANN || kind == KIND_PARTS);
  const preconditioner_request q = amg_request(&k);
  assert_ok(preconditioning_open(&k.s, preconditioner_find("amg"), &q, &m));
  conjugate_gradients(&k, &m, constant, 100, out);
  stationary(&k, &m, constant, out);
  assert_ok(k.s.failure);
  preconditioning_close(&k.s, &m);
  amg_case_close(&k);
}

/* In 1-D, where a point has two neighbours and aggregates three or four points, a V-cycle's factor
 * grows with the levels. */
static void counts_hardly_grow(void **state) {
  (void)state;
  static const struct {
    const char *problem;
    int64_t small, large;
    int most, growth;
    double factor;
  } list[] = {{"poisson1d", 600, 20000, 25, 12, 0.8},
              {"poisson2d", 30, 200, 15, 4, 0.7},
              {"poisson3d", 10, 32, 12, 3, 0.5}};
  for (int i = 0; i < 3; i++) {
    outcome small, large;
    run(list[i].problem, 0, list[i].small, &small);
    run(list[i].problem, 0, list[i].large, &large);
    print_message("%s: %d and %d iterations, factors %.3f and %.3f\n", list[i].problem,
                  small.iterations, large.iterations, small.factor, large.factor);
    assert_true(large.residual <= 1.1e-8);
    assert_true(large.iterations <= list[i].most);
    assert_true(large.iterations <= small.iterations + list[i].growth);
    assert_true(large.factor < list[i].factor);
  }
}

static void kinds_of_matrices(void **state) {
  (void)state;
  /* jumps and weak couplings cost a few more; parts cannot be made orthogonal to each constant */
  for (amg_kind kind = 0; kind < KIND_WIND; kind++) {
    outcome o;
    if (kind == KIND_PARTS) continue;
    run(NULL, kind, 64, &o);
    print_message("%s: %d iterations, factor %.3f\n", AMG_KIND[kind], o.iterations, o.factor);
    assert_true(o.residual <= 1.1e-8);
    assert_true(o.iterations <= (kind == KIND_DIAGONAL ? 2 : 22));
    if (kind != KIND_DIAGONAL) assert_true(o.factor < 0.8);
  }
}

/* b = A x, so that each part's right-hand side is orthogonal to its constants. */
static void parts_with_a_consistent_right_side(void **state) {
  (void)state;
  amg_case k;
  preconditioning m;
  vec x, b, r, z, p, q;
  vec *made[] = {&b, &r, &z, &p, &q};
  double old = 1.0;
  int n = 0;
  amg_case_open(world, &BACKEND_omp, 1, NULL, KIND_PARTS, 64, &k);
  const preconditioner_request asked = amg_request(&k);
  assert_ok(preconditioning_open(&k.s, preconditioner_find("amg"), &asked, &m));
  amg_random(&k, 3, 0, &x);
  for (int i = 0; i < 5; i++) assert_ok(linear_vector(&k.s, "cg", made[i]));
  assert_ok(linear_product(&k.s, x, b));
  assert_ok(k.s.kernels->copy(k.s.place, r, b));
  for (; n < 60 && amg_dot(&k, r, r) > 1e-16 * amg_dot(&k, b, b); n++) {
    assert_ok(preconditioning_apply(&k.s, &m, r, z));
    const double rz = amg_dot(&k, r, z);
    assert_ok(k.s.kernels->combine(k.s.place, 1.0, z, n == 0 ? 0.0 : rz / old, p, p));
    assert_ok(linear_product(&k.s, p, q));
    assert_ok(k.s.kernels->combine(k.s.place, -(rz / amg_dot(&k, p, q)), q, 1.0, r, r));
    old = rz;
  }
  print_message("parts: %d iterations\n", n);
  assert_true(n <= 20);
  for (int i = 0; i < 5; i++) linear_vector_release(&k.s, made[i]);
  linear_vector_release(&k.s, &x);
  preconditioning_close(&k.s, &m);
  amg_case_close(&k);
}

/* 100 rows are solved by the dense factor alone: z has mean 0 and A z = r less its mean, which no
 * cycle can reach. */
static void a_singular_coarsest_level_is_solved_by_the_pseudo_inverse(void **state) {
  (void)state;
  amg_case k;
  preconditioning m;
  vec r, z, q, one;
  amg_case_open(world, &BACKEND_omp, 1, NULL, KIND_NEUMANN, 10, &k);
  const preconditioner_request asked = amg_request(&k);
  assert_ok(preconditioning_open(&k.s, preconditioner_find("amg"), &asked, &m));
  amg_random(&k, 3, 0, &r);
  vec *made[] = {&z, &q, &one};
  for (int i = 0; i < 3; i++) assert_ok(linear_vector(&k.s, "z", made[i]));
  assert_ok(k.s.kernels->fill(k.s.place, one, 1.0));
  const double mean = amg_dot(&k, r, one) / 100.0;
  assert_true(fabs(mean) > 1e-3);
  assert_ok(preconditioning_apply(&k.s, &m, r, z));
  assert_true(fabs(amg_dot(&k, z, one)) < 1e-12);
  assert_ok(linear_product(&k.s, z, q));
  assert_ok(k.s.kernels->combine(k.s.place, 1.0, r, -mean, one, r));
  assert_ok(k.s.kernels->combine(k.s.place, 1.0, r, -1.0, q, q));
  assert_true(amg_dot(&k, q, q) < 1e-24 * amg_dot(&k, r, r));
  for (int i = 0; i < 3; i++) linear_vector_release(&k.s, made[i]);
  linear_vector_release(&k.s, &r);
  preconditioning_close(&k.s, &m);
  amg_case_close(&k);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_hardly_grow),
      cmocka_unit_test(kinds_of_matrices),
      cmocka_unit_test(parts_with_a_consistent_right_side),
      cmocka_unit_test(a_singular_coarsest_level_is_solved_by_the_pseudo_inverse),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
