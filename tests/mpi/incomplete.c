/* Incomplete factors, SSOR and block inverses of distributed matrices: what one rank and one thread
 * alone make, bit for bit; (D + L) D^-1 (D + U) is A on A's pattern, SSOR its definition, blocks
 * times their inverses are one.
 * ranks: 1 2 3 5 */
#include "incomplete.h"
#include "alloc.h"
#include "blocks.h"
#include "captured.h"
#include "problems.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static comm *world, *alone;

/* A matrix as its rows on each rank, made by a function of the global row. */
typedef struct subject {
  const char *problem;
  int64_t n[3];
  int directions;
} subject;

static const subject SUBJECTS[] = {{"poisson2d", {13, 11}, 2},  {"poisson3d", {5, 6, 7}, 3},
                                   {"convdiff2d", {9, 14}, 2},  {"random-dominant", {640}, 1},
                                   {"random-dominant", {5}, 1}, {"poisson1d", {1}, 1}};
enum { COUNT = sizeof SUBJECTS / sizeof *SUBJECTS };

static void make(comm *c, const subject *p, csr_block *a, ownership *owned) {
  csr_rows rows;
  const problem_request request = {.name = p->problem,
                                   .n = p->n,
                                   .n_count = p->directions,
                                   .peclet = 0.7,
                                   .entries_per_row = 6,
                                   .seed = 11,
                                   .threads = 1};
  assert_ok(problem_build(c, &request, &rows, owned));
  assert_ok(csr_localise(1, &rows, a));
}

/* Entry (i, j) of the factors; 0 where there is none. */
static double entry(const csr_block *a, const double *value, lidx i, lidx j) {
  for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
    if (a->column[e] == j) return value[e];
  }
  return 0.0;
}

static void check_product(const csr_block *a, const colouring *k, const incomplete *f,
                          const char *what) {
  for (lidx i = 0; i < a->rows; i++) {
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const lidx j = a->column[e];
      double sum = f->value[e], size = fabs(f->value[e]);
      for (eidx h = a->offset[i]; h < a->offset[i + 1]; h++) {
        const lidx m = a->column[h];
        if (k->colour[m] >= k->colour[i] || k->colour[m] >= k->colour[j]) continue;
        const double term = f->value[h] / f->pivot[m] * entry(a, f->value, m, j);
        sum += term;
        size += fabs(term);
      }
      if (fabs(sum - a->value[e]) > 1e-14 * size) {
        fail_msg("%s: (LU)(%d,%d) = %.17g, a = %.17g", what, i, j, sum, a->value[e]);
      }
      if (i == j) assert_same_bits(f->value[e], f->pivot[i]);
    }
  }
}

static void factors(void **state) {
  (void)state;
  for (int n = 0; n < COUNT; n++) {
    csr_block a, one;
    ownership owned, all;
    colouring k, whole;
    incomplete f, reference;
    const int64_t live = alloc_live();
    make(world, &SUBJECTS[n], &a, &owned);
    make(alone, &SUBJECTS[n], &one, &all);
    assert_ok(colouring_make(world, &owned, &a, 0, &k));
    assert_ok(colouring_make(alone, &all, &one, 0, &whole));
    assert_ok(incomplete_make(alone, &all, &one, &whole, n == 0, 1, &reference));
    assert_same_bits(reference.shift, 0.0);
    check_product(&one, &whole, &reference, SUBJECTS[n].problem);
    for (int threads = 1; threads <= 3; threads += 2) {
      assert_ok(incomplete_make(world, &owned, &a, &k, n == 0, threads, &f));
      const eidx from = one.offset[a.first_row];
      for (eidx e = 0; e < a.offset[a.rows]; e++) {
        assert_same_bits(f.value[e], reference.value[from + e]);
      }
      for (lidx i = 0; i < a.rows; i++) {
        assert_same_bits(f.pivot[i], reference.pivot[a.first_row + i]);
      }
      incomplete_release(&f);
    }
    incomplete_release(&reference);
    colouring_release(&k);
    colouring_release(&whole);
    csr_block_release(&a);
    csr_block_release(&one);
    ownership_release(&owned);
    ownership_release(&all);
    assert_int_equal(alloc_live(), live);
  }
}

/* Five diagonals, ones beside a smaller main one: three colours, and pivots below zero. */
static void make_hard(comm *c, double diagonal, csr_block *a, ownership *owned) {
  enum { ROWS = 300 };
  csr_rows rows = {.global_rows = ROWS, .global_columns = ROWS};
  eidx at = 0;
  assert_ok(ownership_even(c, ROWS, owned));
  rows.first_row = ownership_begin(owned);
  rows.rows = (lidx)(ownership_end(owned) - rows.first_row);
  assert_ok(alloc_array(&rows.offset, rows.rows + 1, sizeof *rows.offset, "offsets"));
  assert_ok(alloc_array(&rows.column, 5 * (int64_t)rows.rows, sizeof *rows.column, "columns"));
  assert_ok(alloc_array(&rows.value, 5 * (int64_t)rows.rows, sizeof *rows.value, "values"));
  for (lidx i = 0; i < rows.rows; i++) {
    const gidx gi = rows.first_row + i;
    rows.offset[i] = at;
    for (gidx j = gi - 2; j <= gi + 2; j++) {
      if (j < 0 || j >= ROWS) continue;
      rows.column[at] = j;
      rows.value[at++] = j == gi ? diagonal : 1.0;
    }
  }
  rows.offset[rows.rows] = at;
  assert_ok(csr_localise(1, &rows, a));
}

static void a_shift_after_a_breakdown(void **state) {
  (void)state;
  csr_block a, one;
  ownership owned, all;
  colouring k, whole;
  incomplete f, reference;
  make_hard(world, 0.9, &a, &owned);
  make_hard(alone, 0.9, &one, &all);
  assert_ok(colouring_make(world, &owned, &a, 1, &k));
  assert_ok(colouring_make(alone, &all, &one, 1, &whole));
  assert_ok(incomplete_make(world, &owned, &a, &k, 1, 2, &f));
  assert_ok(incomplete_make(alone, &all, &one, &whole, 1, 1, &reference));
  assert_true(reference.shift >= 1e-3);
  assert_same_bits(f.shift, reference.shift);
  assert_int_equal(f.failed, reference.failed);
  for (lidx i = 0; i < a.rows; i++) {
    assert_true(f.pivot[i] > 0.0);
    assert_same_bits(f.pivot[i], reference.pivot[a.first_row + i]);
  }
  /* it is the factor of the shifted matrix */
  for (lidx i = 0; i < one.rows; i++) {
    for (eidx e = one.offset[i]; e < one.offset[i + 1]; e++) {
      if (one.column[e] == i) one.value[e] += reference.shift * one.value[e];
    }
  }
  check_product(&one, &whole, &reference, "shifted");
  incomplete_release(&f);
  incomplete_release(&reference);
  assert_ok(incomplete_make(alone, &all, &one, &whole, 1, 1, &reference));
  assert_same_bits(reference.shift, 0.0);
  incomplete_release(&reference);
  colouring_release(&k);
  colouring_release(&whole);
  csr_block_release(&a);
  csr_block_release(&one);
  ownership_release(&owned);
  ownership_release(&all);
}

static void open_system(const backend *kernels, comm *c, const csr_block *a, const ownership *owned,
                        linear_system *s) {
  const device_request where = {.threads = 2};
  *s = (linear_system){.kernels = kernels,
                       .world = c,
                       .global_rows = owned->rows,
                       .first_row = a->first_row,
                       .rows = a->rows,
                       .ghosts = a->ghosts};
  assert_ok(kernels->open(&where, &s->place));
}

/* z = B^-1 r with r a function of the global row. */
static void apply_blocks(const backend *kernels, comm *c, const subject *p, int64_t size,
                         int symmetric, double *z, csr_block *a, ownership *owned) {
  linear_system s;
  blocks b;
  vec in, out;
  make(c, p, a, owned);
  open_system(kernels, c, a, owned, &s);
  const preconditioner_request q = {
      .a = a, .owned = owned, .symmetric = symmetric, .threads = 2, .block_size = size};
  assert_ok(blocks_open(&s, &q, &b));
  assert_ok(linear_vector(&s, "in", &in));
  assert_ok(linear_vector(&s, "out", &out));
  for (lidx i = 0; i < a->rows; i++) z[i] = 1.0 / (double)(3 + (a->first_row + i) * 7 % 11);
  assert_ok(linear_load(&s, in, z));
  assert_ok(blocks_apply(&s, &b, in, 0, out));
  assert_ok(linear_store(&s, z, out));
  assert_ok(s.failure);
  linear_vector_release(&s, &in);
  linear_vector_release(&s, &out);
  blocks_close(&s, &b);
  kernels->close(&s.place);
}

/* z = M^-1 r with r as above. */
static void apply_ssor(const backend *kernels, comm *c, const subject *p, double omega, double *z,
                       csr_block *a, ownership *owned) {
  linear_system s;
  preconditioning made;
  vec in, out;
  double diagonal[700];
  make(c, p, a, owned);
  open_system(kernels, c, a, owned, &s);
  for (lidx i = 0; i < a->rows; i++) diagonal[i] = entry(a, a->value, i, i);
  const preconditioner_request q = {
      .a = a, .owned = owned, .diagonal = diagonal, .threads = 1, .omega = omega};
  assert_ok(halo_create(c, owned, a->ghost, a->ghosts, &s.plan));
  assert_ok(preconditioning_open(&s, preconditioner_find("ssor"), &q, &made));
  assert_ok(linear_vector(&s, "in", &in));
  assert_ok(linear_vector(&s, "out", &out));
  for (lidx i = 0; i < a->rows; i++) z[i] = 1.0 / (double)(3 + (a->first_row + i) * 7 % 11);
  assert_ok(linear_load(&s, in, z));
  assert_ok(preconditioning_apply(&s, &made, in, out));
  assert_ok(linear_store(&s, z, out));
  linear_vector_release(&s, &in);
  linear_vector_release(&s, &out);
  preconditioning_close(&s, &made);
  halo_release(&s.plan);
  kernels->close(&s.place);
}

/* omega (2 - omega) r = (D + omega L) D^-1 (D + omega U) z, L the entries of earlier colours. */
static void check_ssor(const csr_block *a, const colouring *k, double omega, const double *z) {
  double y[700];
  for (lidx i = 0; i < a->rows; i++) {
    double sum = 0.0;
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      if (k->colour[a->column[e]] > k->colour[i]) sum += a->value[e] * z[a->column[e]];
    }
    y[i] = z[i] + omega * sum / entry(a, a->value, i, i);
  }
  for (lidx i = 0; i < a->rows; i++) {
    double sum = entry(a, a->value, i, i) * y[i];
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      if (k->colour[a->column[e]] < k->colour[i]) sum += omega * a->value[e] * y[a->column[e]];
    }
    const double r = 1.0 / (double)(3 + i * 7 % 11);
    assert_true(fabs(sum / (omega * (2.0 - omega)) - r) < 1e-13);
  }
}

static void ssor_by_definition(void **state) {
  (void)state;
  static double z[700], reference[700];
  for (int n = 0; n < COUNT; n++) {
    const subject *p = &SUBJECTS[n];
    const double omega = n % 2 ? 0.7 : 1.6;
    const int64_t live = alloc_live();
    csr_block a, one;
    ownership owned, all;
    colouring whole;
    apply_ssor(&BACKEND_ref, alone, p, omega, reference, &one, &all);
    assert_ok(colouring_make(alone, &all, &one, 0, &whole));
    check_ssor(&one, &whole, omega, reference);
    apply_ssor(&BACKEND_omp, world, p, omega, z, &a, &owned);
    for (lidx i = 0; i < a.rows; i++) assert_same_bits(z[i], reference[a.first_row + i]);
    colouring_release(&whole);
    csr_block_release(&a);
    csr_block_release(&one);
    ownership_release(&owned);
    ownership_release(&all);
    assert_int_equal(alloc_live(), live);
  }
}

static void block_inverses(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 3, 16, 70};
  static double z[700], reference[700];
  for (int n = 0; n < COUNT; n++) {
    for (int k = 0; k < 4; k++) {
      const int64_t size = sizes[k], live = alloc_live();
      const subject *p = &SUBJECTS[n];
      csr_block a, one;
      ownership owned, all;
      apply_blocks(&BACKEND_ref, alone, p, size, n < 2, reference, &one, &all);
      for (lidx i = 0; i < one.rows; i++) { /* the block's row times z is r */
        double sum = 0.0;
        for (eidx e = one.offset[i]; e < one.offset[i + 1]; e++) {
          if (one.column[e] / size == i / size) sum += one.value[e] * reference[one.column[e]];
        }
        assert_true(fabs(sum - 1.0 / (double)(3 + i * 7 % 11)) < 1e-13);
      }
      apply_blocks(&BACKEND_omp, world, p, size, n < 2, z, &a, &owned);
      for (lidx i = 0; i < a.rows; i++) assert_same_bits(z[i], reference[a.first_row + i]);
      csr_block_release(&a);
      csr_block_release(&one);
      ownership_release(&owned);
      ownership_release(&all);
      assert_int_equal(alloc_live(), live);
    }
  }
}

static void a_singular_block_is_named(void **state) {
  (void)state;
  csr_block a;
  ownership owned;
  linear_system s;
  blocks b;
  char said[CAPTURED_BYTES];
  make_hard(world, 1.0, &a, &owned); /* all ones near the diagonal: rows 1, 2 of a block of 2 */
  open_system(&BACKEND_ref, world, &a, &owned, &s);
  const preconditioner_request q = {.a = &a, .owned = &owned, .threads = 1, .block_size = 2};
  captured c = captured_begin();
  const status rc = blocks_open(&s, &q, &b);
  captured_end(&c, world, said);
  assert_int_equal(rc, STATUS_INPUT);
  if (comm_rank(world) == 0) assert_non_null(strstr(said, "rows 1 to 2 is singular"));
  s.kernels->close(&s.place);
  csr_block_release(&a);
  ownership_release(&owned);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factors),
      cmocka_unit_test(a_shift_after_a_breakdown),
      cmocka_unit_test(ssor_by_definition),
      cmocka_unit_test(block_inverses),
      cmocka_unit_test(a_singular_block_is_named),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int failed = comm_self(&alone) != STATUS_OK;
  if (!failed) failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&alone);
  comm_close(&world);
  return failed;
}
