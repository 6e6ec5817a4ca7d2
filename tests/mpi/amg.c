/* What amg is made of: aggregates by their definition, interpolation, Galerkin products against
 * plain dense ones; and all of it on several ranks and threads the same, bit for bit, as on one
 * rank alone. ranks: 1 2 3 5 */
#include "amg_fixture.h"
#include "sparse_product.h"

#include <stdlib.h>

static comm *world, *self;

/* One step coarser from a matrix. */
typedef struct step {
  amg_case k;
  amg_grid g;
  amg_strength strong;
  gidx *aggregate;
  amg_coarser next;
} step;

static const double THETA = 0.08;

static void step_open(comm *c, int threads, const char *problem, amg_kind kind, int64_t n,
                      step *t) {
  ownership coarse;
  memset(t, 0, sizeof *t);
  amg_case_open(c, &BACKEND_ref, threads, problem, kind, n, &t->k);
  assert_ok(amg_grid_open(c, threads, &t->k.a, &t->k.owned, &t->g));
  assert_ok(amg_strength_open(&t->g, THETA, &t->strong));
  assert_ok(alloc_array(&t->aggregate, (int64_t)t->k.a.rows + t->k.a.ghosts, sizeof(gidx), "a"));
  assert_ok(amg_aggregate(&t->g, &t->strong, t->aggregate, &coarse));
  assert_ok(amg_coarsen(&t->g, THETA, t->g.largest, &t->next));
  if (t->next.owned.rows > 0) assert_int_equal(coarse.rows, t->next.owned.rows);
  ownership_release(&coarse);
}

static void step_close(step *t) {
  amg_coarser_release(&t->next);
  alloc_free(&t->aggregate);
  amg_strength_release(&t->strong);
  amg_grid_release(&t->g);
  amg_case_close(&t->k);
}

/* ---- by definition, on one rank alone ---- */

/* Rows within distance 2 of i, i too. */
static void mark_near(const amg_strength *s, lidx i, int distance, unsigned char *near) {
  near[i] = 1;
  if (distance == 0) return;
  for (eidx e = s->offset[i]; e < s->offset[i + 1]; e++) {
    mark_near(s, s->column[e], distance - 1, near);
  }
}

/* The members of an aggregate are near each other; every connected row has one; each root's
 * neighbours are its own; numbers rise with the first row that can be a root. */
static void check_aggregates(const step *t) {
  const lidx rows = t->k.a.rows;
  const amg_strength *s = &t->strong;
  unsigned char *near;
  lidx *root;
  gidx count = 0;
  assert_ok(alloc_array(&near, rows, 1, "marks"));
  for (lidx i = 0; i < rows; i++) {
    assert_int_equal(t->aggregate[i] < 0, s->offset[i] == s->offset[i + 1]);
    if (t->aggregate[i] >= count) count = t->aggregate[i] + 1;
  }
  assert_ok(alloc_array(&root, count, sizeof *root, "roots"));
  for (gidx a = 0; a < count; a++) root[a] = -1;
  /* a root is a row all whose neighbours are in its aggregate, and that is within 2 of every
   * member: several rows may look like one, and roots of different aggregates are 3 apart */
  for (lidx i = 0; i < rows; i++) {
    if (t->aggregate[i] < 0) continue;
    int all = 1;
    for (eidx e = s->offset[i]; e < s->offset[i + 1]; e++) {
      all &= t->aggregate[s->column[e]] == t->aggregate[i];
    }
    if (!all) continue;
    memset(near, 0, (size_t)rows);
    mark_near(s, i, 2, near);
    for (lidx j = 0; j < rows; j++) all &= t->aggregate[j] != t->aggregate[i] || near[j];
    if (all) root[t->aggregate[i]] = i;
  }
  for (gidx a = 0; a < count; a++) assert_true(root[a] >= 0);
  if (t->next.owned.rows > 0) assert_int_equal(count, t->next.owned.rows);
  alloc_free(&near);
  alloc_free(&root);
}

static double *dense_of(const csr_block *a, lidx rows, lidx columns) {
  double *d;
  assert_ok(alloc_zeroed(&d, (int64_t)rows * columns, sizeof *d, "dense"));
  for (lidx i = 0; i < rows; i++) {
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      d[(int64_t)i * columns + a->column[e]] += a->value[e];
    }
  }
  return d;
}

/* R = P^T exactly; R A P to rounding; P 1 = 1 where a row of A sums to nothing. */
static void check_products(const step *t) {
  const lidx n = t->k.a.rows, m = (lidx)t->next.owned.rows;
  double *a = dense_of(&t->k.a, n, n), *p = dense_of(&t->next.prolong, n, m);
  double *r = dense_of(&t->next.restriction, m, n), *c = dense_of(&t->next.a, m, m), *ap;
  assert_ok(alloc_zeroed(&ap, (int64_t)n * m, sizeof *ap, "dense"));
  for (int64_t i = 0; i < n; i++) {
    double row = 0.0, ones = 0.0;
    for (int64_t j = 0; j < n; j++) row += a[i * n + j];
    for (int64_t j = 0; j < m; j++) {
      ones += p[i * m + j];
      assert_same_bits(r[j * n + i], p[i * m + j]);
      for (int64_t k = 0; k < n; k++) ap[i * m + j] += a[i * n + k] * p[k * m + j];
    }
    if (row == 0.0 && t->aggregate[i] >= 0) assert_true(fabs(ones - 1.0) < 1e-14);
  }
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < m; j++) {
      double sum = 0.0, size = 0.0;
      for (int64_t k = 0; k < n; k++) {
        sum += r[i * n + k] * ap[k * m + j];
        size += fabs(r[i * n + k] * ap[k * m + j]);
      }
      assert_true(fabs(sum - c[i * m + j]) <= 1e-14 * (size + fabs(c[i * m + i])));
    }
  }
  alloc_free(&a), alloc_free(&p), alloc_free(&r), alloc_free(&c), alloc_free(&ap);
}

static void what_it_is_by_definition(void **state) {
  (void)state;
  if (comm_rank(world) != 0) return;
  for (amg_kind kind = 0; kind < KINDS; kind++) {
    step t;
    step_open(self, 1, NULL, kind, 13, &t);
    if (kind != KIND_WIND) check_aggregates(&t);
    assert_int_equal(t.next.owned.rows == 0, kind == KIND_DIAGONAL);
    if (kind == KIND_POISSON) assert_in_range(t.next.owned.rows, 13 * 13 / 12, 13 * 13 / 5);
    if (t.next.owned.rows > 0) check_products(&t);
    step_close(&t);
  }
}

/* ---- the same on all ranks ---- */

static gidx global_column(const csr_block *b, const ownership *columns, lidx j) {
  return j < b->columns ? ownership_begin(columns) + j : b->ghost[j - b->columns];
}

/* Own rows of b, whose rows are `rows`, against the whole matrix. */
static void same_rows(const csr_block *b, const ownership *rows, const ownership *columns,
                      const csr_block *whole) {
  for (lidx i = 0; i < b->rows; i++) {
    const gidx gi = ownership_begin(rows) + i;
    const eidx at = b->offset[i], n = b->offset[i + 1] - at, to = whole->offset[gi];
    assert_int_equal(n, whole->offset[gi + 1] - to);
    for (eidx e = 0; e < n; e++) {
      assert_int_equal(global_column(b, columns, b->column[at + e]), whole->column[to + e]);
      assert_same_bits(b->value[at + e], whole->value[to + e]);
    }
  }
}

static void same_on_all(const char *problem, amg_kind kind, int64_t n) {
  step whole, mine;
  step_open(self, 1, problem, kind, n, &whole);
  for (int threads = 1; threads <= 3; threads += 2) {
    step_open(world, threads, problem, kind, n, &mine);
    const gidx first = mine.k.a.first_row;
    assert_same_bits(mine.g.largest, whole.g.largest);
    for (lidx i = 0; i < mine.k.a.rows; i++) {
      assert_int_equal(mine.aggregate[i], whole.aggregate[first + i]);
    }
    for (lidx i = 0; i < mine.k.a.ghosts; i++) {
      assert_int_equal(mine.aggregate[mine.k.a.rows + i], whole.aggregate[mine.k.a.ghost[i]]);
    }
    const ownership *fine = &mine.k.owned, *coarse = &mine.next.owned;
    assert_int_equal(coarse->rows, whole.next.owned.rows);
    if (coarse->rows > 0) {
      same_rows(&mine.next.prolong, fine, coarse, &whole.next.prolong);
      same_rows(&mine.next.restriction, coarse, fine, &whole.next.restriction);
      same_rows(&mine.next.a, coarse, coarse, &whole.next.a);
    }
    step_close(&mine);
  }
  step_close(&whole);
}

static void the_same_on_all_ranks(void **state) {
  (void)state;
  for (amg_kind kind = 0; kind < KINDS; kind++) {
    same_on_all(NULL, kind, 1);
    same_on_all(NULL, kind, 3);
    same_on_all(NULL, kind, 26);
  }
  same_on_all("poisson1d", 0, 700);
  same_on_all("poisson3d", 0, 9);
}

static double entry_of(int side, gidx i, gidx j) {
  return (double)((i * 31 + j * 17 + side) % 23 - 11) / 7.0;
}

/* Rows above the length that is sorted by insertion: dense ones, on several ranks. */
static void long_rows(void **state) {
  (void)state;
  enum { ROWS = 150 };
  for (int which = 0; which < 2; which++) {
    comm *c = which == 0 ? self : world;
    ownership o;
    csr_rows rows = {.global_rows = ROWS, .global_columns = ROWS}, product;
    csr_block a, b, made_of;
    assert_ok(ownership_even(c, ROWS, &o));
    rows.first_row = ownership_begin(&o);
    rows.rows = (lidx)(ownership_end(&o) - rows.first_row);
    for (int side = 0; side < 2; side++) {
      csr_rows made = rows;
      assert_ok(alloc_array(&made.offset, rows.rows + 1, sizeof(eidx), "offsets"));
      assert_ok(alloc_array(&made.column, (int64_t)rows.rows * ROWS, sizeof(gidx), "columns"));
      assert_ok(alloc_array(&made.value, (int64_t)rows.rows * ROWS, sizeof(double), "values"));
      made.offset[0] = 0;
      for (lidx i = 0; i < rows.rows; i++) {
        eidx at = made.offset[i];
        for (gidx j = 0; j < ROWS; j++) {
          if ((rows.first_row + i + j * 7) % 3 == side) continue;
          made.column[at] = j;
          made.value[at++] = entry_of(side, rows.first_row + i, j);
        }
        made.offset[i + 1] = at;
      }
      if (side == 0) assert_ok(csr_localise(2, &made, &a));
      if (side == 1) assert_ok(sparse_extend(c, 2, &o, &made, a.ghost, a.ghosts, &o, &b));
    }
    assert_ok(sparse_product(2, &a, &b, ownership_begin(&o), &made_of));
    assert_ok(sparse_globalise(2, &made_of, ownership_begin(&o), &product));
    for (lidx i = 0; i < product.rows; i++) {
      const gidx gi = rows.first_row + i;
      assert_int_equal(product.offset[i + 1] - product.offset[i], ROWS);
      for (gidx j = 0; j < ROWS; j++) {
        double sum = 0.0;
        for (gidx k = 0; k < ROWS; k++) {
          if ((gi + k * 7) % 3 == 0 || (k + j * 7) % 3 == 1) continue;
          sum = fma(entry_of(0, gi, k), entry_of(1, k, j), sum);
        }
        assert_int_equal(product.column[product.offset[i] + j], j);
        assert_same_bits(product.value[product.offset[i] + j], sum);
      }
    }
    csr_rows_release(&product);
    csr_block_release(&a);
    csr_block_release(&b);
    ownership_release(&o);
  }
}

/* The n-th allocation of the last rank fails: all leave with the same code, nothing leaks. */
static void no_memory_on_one_rank(void **state) {
  (void)state;
  const int last = comm_rank(world) == comm_size(world) - 1;
  amg_case k;
  amg_case_open(world, &BACKEND_ref, 1, NULL, KIND_POISSON, 17, &k);
  const preconditioner_request q = amg_request(&k);
  const int64_t live = alloc_live();
  int n = 0;
  for (int done = 0; !done; n += 1 + n / 5) {
    preconditioning m = {0};
    if (last) alloc_fail_at(n + 1);
    status rc = preconditioning_open(&k.s, preconditioner_find("amg"), &q, &m);
    alloc_fail_at(0);
    done = rc == STATUS_OK;
    if (!done) assert_int_equal(rc, STATUS_UNAVAILABLE);
    preconditioning_close(&k.s, &m);
    k.s.failure = STATUS_OK;
    assert_int_equal(alloc_live(), live);
  }
  assert_true(n > 60); /* of about 100 */
  amg_case_close(&k);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_it_is_by_definition),
      cmocka_unit_test(the_same_on_all_ranks),
      cmocka_unit_test(long_rows),
      cmocka_unit_test(no_memory_on_one_rank),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  setenv("CMOCKA_TEST_ABORT", "1", 1); /* a rank that fails ends them all */
  int failed = comm_self(&self) != STATUS_OK;
  if (failed == 0) failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&self);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
