/* Direct solution by a package of the backend (a fake one): who is chosen and what is said, rows
 * gathered on rank 0 and solutions scattered, whoever owns how many; one triangle of symmetric
 * matrices; scaling; singular matrices told from those whose replaced pivots do no harm; no memory.
 * ranks: 1 2 3 */
#include "direct.h"
#include "captured.h"
#include "fake_direct.h"

static comm *world;
static ownership owned;
static backend table;
static linear_system sys;

enum { N = 37 };

typedef double entry_of(gidx i, gidx j);

/* Not symmetric, diagonally dominant. */
static double general(gidx i, gidx j) {
  if (i == j) return 6.0 + (double)(i % 3);
  return j == i + 1 || j == i - 1 || j == (7 * i + 3) % N ? -1.0 / (double)(1 + j % 4) : 0.0;
}

static double symmetric(gidx i, gidx j) {
  const gidx low = i < j ? i : j, gap = i < j ? j - i : i - j;
  return gap == 0 ? 5.0 : gap == 1 || gap == 6 ? -1.0 / (double)(1 + low % 5) : 0.0;
}

static int unit(gidx i) { return (int)(i * 97 % 400) - 200; }

static double badly_scaled(gidx i, gidx j) { return ldexp(general(i, j), unit(i) - 2 * unit(j)); }

static double scaled_symmetric(gidx i, gidx j) { return ldexp(symmetric(i, j), unit(i) + unit(j)); }

/* The Laplacian of a path without boundary: constants are its null space. */
static double path(gidx i, gidx j) {
  if (i == j) return i == 0 || i == N - 1 ? 1.0 : 2.0;
  return j == i + 1 || j == i - 1 ? -1.0 : 0.0;
}

/* Pairs of unknowns in each other's equations: every second pivot is zero. */
static double pairs(gidx i, gidx j) {
  if (i == j) return i == N - 1 ? 1.0 : 0.0;
  return i / 2 == j / 2 ? 1.0 + (double)(i % 2) : 0.0;
}

/* The solution, in the unknowns' units: 2^(-units unit(i)). */
static int units;
static double wanted(gidx i) { return ldexp(1.0 + (double)(i % 7) / 4.0, -units * unit(i)); }

/* lopsided: the row that weighs more than all others; ranks may have no row then. */
static void own(gidx lopsided) {
  int64_t *weight;
  if (lopsided < 0) {
    assert_ok(ownership_aligned(world, N, 1, &owned));
    return;
  }
  const block_share share = ownership_share(N, comm_rank(world), comm_size(world));
  assert_ok(alloc_array(&weight, share.count, sizeof *weight, "weights"));
  for (gidx b = 0; b < share.count; b++) {
    weight[b] = share.first + b == lopsided ? 1000000 : 1;
  }
  assert_ok(ownership_by_weight(world, N, share, weight, &owned));
  alloc_free(&weight);
}

static void make(entry_of *of, csr_block *a) {
  const gidx first = ownership_begin(&owned);
  const lidx rows = (lidx)(ownership_end(&owned) - first);
  csr_rows r = {.global_rows = N, .global_columns = N, .first_row = first, .rows = rows};
  assert_ok(alloc_array(&r.offset, rows + 1, sizeof *r.offset, "offsets"));
  assert_ok(alloc_array(&r.column, (int64_t)rows * N, sizeof *r.column, "columns"));
  assert_ok(alloc_array(&r.value, (int64_t)rows * N, sizeof *r.value, "values"));
  eidx at = 0;
  for (lidx i = 0; i < rows; i++) {
    r.offset[i] = at;
    for (gidx j = 0; j < N; j++) {
      const double value = of(first + i, j);
      if (value == 0.0) continue;
      r.column[at] = j;
      r.value[at++] = value;
    }
  }
  r.offset[rows] = at;
  assert_ok(csr_localise(1, &r, a));
}

/* The largest relative error of A x = b, x known, on any rank; two right-hand sides. */
static double error_of(direct *d, entry_of *of) {
  const gidx first = ownership_begin(&owned), end = ownership_end(&owned);
  double x[N + 1], worst = 0.0;
  for (int twice = 1; twice <= 2; twice++) {
    for (gidx i = first; i < end; i++) {
      x[i - first] = 0.0;
      for (gidx j = 0; j < N; j++) x[i - first] += of(i, j) * wanted(j) * twice;
    }
    assert_ok(direct_solve(d, x));
    for (gidx i = first; i < end; i++) {
      worst = fmax(worst, fabs(x[i - first] / twice / wanted(i) - 1.0));
    }
  }
  assert_ok(comm_max_f64(world, &worst, 1));
  return worst;
}

static int entries(entry_of *of, int half) {
  int count = 0;
  for (gidx i = 0; i < N; i++) {
    for (gidx j = 0; j < (half ? i + 1 : N); j++) count += of(i, j) != 0.0;
  }
  return count;
}

static direct *factorise(entry_of *of, int half, char broke[DIRECT_TEXT]) {
  csr_block a;
  direct *d;
  make(of, &a);
  assert_ok(direct_open(&sys, &a, &owned, half, &d, broke));
  csr_block_release(&a);
  if (comm_rank(world) == 0) assert_int_equal(fake.entries, entries(of, half));
  return d;
}

static void solve(entry_of *of, int half, double most) {
  char broke[DIRECT_TEXT];
  for (gidx lopsided = -1; lopsided < N; lopsided += 12) {
    own(lopsided);
    direct *d = factorise(of, half, broke);
    assert_non_null(d);
    assert_string_equal(broke, "");
    assert_int_equal(fake.held, comm_rank(world) == 0);
    const double error = error_of(d, of);
    if (!(error <= most)) fail_msg("error %g, expected below %g", error, most);
    direct_close(&d);
    assert_null(d);
    ownership_release(&owned);
  }
  assert_int_equal(fake.held, 0);
}

static void rows_are_gathered_and_solutions_scattered(void **state) {
  (void)state;
  solve(general, 0, 1e-14);
  solve(symmetric, 1, 1e-13);
}

/* Entries range over 2^-600 .. 2^600; the largest of every row and column becomes 1 to 4. */
static void units_of_rows_and_columns_do_not_matter(void **state) {
  char broke[DIRECT_TEXT];
  (void)state;
  units = 1;
  solve(scaled_symmetric, 1, 1e-13); /* positive definite: no pivot is small */
  units = 0;
  if (comm_rank(world) == 0) assert_true(fake.least >= 1.0 && fake.most < 4.0);
  own(-1);
  direct *d = factorise(badly_scaled, 0, broke); /* to be solved by those that pivot */
  if (comm_rank(world) == 0) assert_true(fake.least >= 1.0 && fake.most < 4.0);
  direct_close(&d);
  ownership_release(&owned);
}

static void replaced_pivots_may_do_no_harm(void **state) {
  (void)state;
  solve(pairs, 0, 0.05);
}

static void singular_matrices_are_told(void **state) {
  (void)state;
  for (int half = 0; half <= 1; half++) {
    char broke[DIRECT_TEXT];
    own(-1);
    direct *d = factorise(path, half, broke);
    assert_null(d);
    assert_non_null(strstr(broke, "singular to working accuracy: Fake replaced 1 of 37 pivots"));
    assert_int_equal(fake.held, 0);
    ownership_release(&owned);
  }
}

static void the_backends_package_comes_first(void **state) {
  char text[CAPTURED_BYTES];
  (void)state;
  sys.package = NULL;
  captured said = captured_begin();
  const status rc = direct_look(&sys);
  captured_end(&said, world, text);
  assert_ok(rc);
  assert_ptr_equal(sys.package, &FAKE);
  assert_non_null(strstr(text, "Fake factorises, on rank 0's GPU"));
}

/* MUMPS then, with the same solution; neither: both are named. */
static void mumps_stands_in(void **state) {
  char text[CAPTURED_BYTES], broke[DIRECT_TEXT];
  (void)state;
  const int there = mumps_find() == STATUS_OK;
  fail_clear();
  fake.missing = 1;
  captured said = captured_begin();
  const status rc = direct_look(&sys);
  captured_end(&said, world, text);
  fake.missing = 0;
  assert_null(sys.package);
  assert_non_null(strstr(text, "Fake (libfake.so) was not found; install fake-dev"));
  if (there) {
    assert_ok(rc);
    assert_non_null(strstr(text, "MUMPS factorises, on CPUs"));
    own(-1);
    fake.entries = entries(general, 0);
    direct *d = factorise(general, 0, broke);
    assert_non_null(d);
    assert_true(error_of(d, general) <= 1e-14);
    direct_close(&d);
    ownership_release(&owned);
  } else {
    assert_int_equal(rc, STATUS_UNAVAILABLE);
    assert_non_null(strstr(text, "libmumps"));
  }
  sys.package = &FAKE;
}

static void no_memory_is_told_on_all_ranks(void **state) {
  char text[CAPTURED_BYTES], broke[DIRECT_TEXT];
  csr_block a;
  direct *d;
  (void)state;
  own(-1);
  make(general, &a);
  fake.no_memory = 1;
  captured said = captured_begin();
  assert_int_equal(direct_open(&sys, &a, &owned, 0, &d, broke), STATUS_UNAVAILABLE);
  captured_end(&said, world, text);
  fake.no_memory = 0;
  assert_null(d);
  assert_non_null(strstr(text, "not enough memory on Fake 0"));
  const int64_t live = alloc_live();
  status rc = STATUS_UNAVAILABLE;
  int nth = 0;
  said = captured_begin();
  for (int last = 0; last <= 1; last++) { /* which rank it fails on */
    const int mine = comm_rank(world) == (last ? comm_size(world) - 1 : 0);
    for (nth = 1, rc = STATUS_UNAVAILABLE; rc != STATUS_OK; nth++) {
      alloc_fail_at(mine ? nth : 0);
      rc = direct_open(&sys, &a, &owned, 0, &d, broke);
      alloc_fail_at(0);
      if (rc == STATUS_OK) direct_close(&d);
      if ((rc != STATUS_OK && rc != STATUS_UNAVAILABLE) || alloc_live() != live || d != NULL) break;
    }
    if (rc != STATUS_OK) break;
  }
  captured_end(&said, world, text);
  assert_ok(rc);
  assert_true(nth > 8);
  csr_block_release(&a);
  ownership_release(&owned);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_backends_package_comes_first),
      cmocka_unit_test(rows_are_gathered_and_solutions_scattered),
      cmocka_unit_test(units_of_rows_and_columns_do_not_matter),
      cmocka_unit_test(replaced_pivots_may_do_no_harm),
      cmocka_unit_test(singular_matrices_are_told),
      cmocka_unit_test(mumps_stands_in),
      cmocka_unit_test(no_memory_is_told_on_all_ranks),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  table = BACKEND_ref;
  table.direct = &FAKE;
  sys.kernels = &table;
  sys.world = world;
  const int rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
