/* What a rank does before it iterates, by one thread and by several: the same rows, the same facts
 * about them, the same local numbers, the same fingerprints.
 * ranks: 1 2 3 */
#include "alloc.h"
#include "fingerprint.h"
#include "problems.h"
#include "survey.h"
#include "team.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static comm *world;

static const int THREADS[] = {2, 3, 7};

/* Sizes that leave parts of several lengths, and some none. */
static const struct {
  const char *name;
  int64_t n;
} PROBLEMS[] = {{"poisson1d", 5},
                {"poisson2d", 61},
                {"poisson3d", 17},
                {"convdiff2d", 45},
                {"random-dominant", 2111}};

enum { PROBLEM_COUNT = sizeof PROBLEMS / sizeof *PROBLEMS };

/* A system from its name to its local columns. */
typedef struct made {
  csr_rows rows;
  ownership owned;
  matrix_survey facts;
  double *diagonal;
  csr_block block;
} made;

static problem_request request_of(int which, int threads) {
  return (problem_request){.name = PROBLEMS[which].name,
                           .n = &PROBLEMS[which].n,
                           .n_count = 1,
                           .peclet = 0.5,
                           .entries_per_row = 9,
                           .seed = 4,
                           .threads = threads};
}

static void make(int which, int threads, made *m) {
  const problem_request request = request_of(which, threads);
  memset(m, 0, sizeof *m);
  assert_ok(problem_build(world, &request, &m->rows, &m->owned));
  if (m->rows.rows > 40) { /* something for every field of the survey */
    m->rows.value[m->rows.offset[20]] = 0.0;
    m->rows.value[m->rows.offset[m->rows.rows - 20]] = -1e9;
  }
  assert_ok(survey_matrix(world, threads, &m->rows, &m->facts));
  assert_ok(alloc_array(&m->diagonal, m->rows.rows, sizeof(double), "diagonal"));
  survey_diagonal(threads, &m->rows, m->diagonal);
}

static void release(made *m) {
  csr_rows_release(&m->rows);
  csr_block_release(&m->block);
  ownership_release(&m->owned);
  alloc_free(&m->diagonal);
}

static void same_rows(const csr_rows *a, const csr_rows *b) {
  const size_t entries = (size_t)a->offset[a->rows];
  assert_int_equal(a->rows, b->rows);
  assert_int_equal(a->first_row, b->first_row);
  assert_memory_equal(a->offset, b->offset, ((size_t)a->rows + 1) * sizeof *a->offset);
  if (entries == 0) return;
  assert_memory_equal(a->column, b->column, entries * sizeof *a->column);
  assert_memory_equal(a->value, b->value, entries * sizeof *a->value);
}

static void same_facts(const matrix_survey *a, const matrix_survey *b) {
  const int64_t x[] = {a->entries,           a->missing_diagonal, a->zero_diagonal,
                       a->negative_diagonal, a->empty_rows,       a->first_missing,
                       a->first_zero,        a->first_negative,   a->first_empty,
                       a->strictly_dominant, a->weakly_dominant,  a->symmetric,
                       a->odd_row,           a->odd_column,       a->bandwidth,
                       a->shortest,          a->longest};
  const int64_t y[] = {b->entries,           b->missing_diagonal, b->zero_diagonal,
                       b->negative_diagonal, b->empty_rows,       b->first_missing,
                       b->first_zero,        b->first_negative,   b->first_empty,
                       b->strictly_dominant, b->weakly_dominant,  b->symmetric,
                       b->odd_row,           b->odd_column,       b->bandwidth,
                       b->shortest,          b->longest};
  for (size_t i = 0; i < sizeof x / sizeof *x; i++) assert_int_equal(x[i], y[i]);
  assert_memory_equal(a->lengths, b->lengths, sizeof a->lengths);
  assert_same_bits(a->largest, b->largest);
  assert_same_bits(a->odd_value, b->odd_value);
  assert_same_bits(a->odd_mirror, b->odd_mirror);
}

static void same_block(const csr_block *a, const csr_block *b) {
  const size_t entries = (size_t)a->offset[a->rows];
  assert_int_equal(a->ghosts, b->ghosts);
  if (a->ghosts > 0) {
    assert_memory_equal(a->ghost, b->ghost, (size_t)a->ghosts * sizeof *a->ghost);
  }
  if (entries > 0) assert_memory_equal(a->column, b->column, entries * sizeof *a->column);
}

/* Local columns by their definition. */
static void check_block(const csr_rows *rows, const csr_block *b) {
  for (lidx g = 0; g < b->ghosts; g++) {
    assert_true(b->ghost[g] < b->first_row || b->ghost[g] >= b->first_row + b->rows);
    if (g > 0) assert_true(b->ghost[g - 1] < b->ghost[g]);
  }
  for (eidx e = 0; e < b->offset[b->rows]; e++) {
    const lidx at = b->column[e];
    assert_in_range(at, 0, b->rows + b->ghosts - 1);
    const gidx gi = at < b->rows ? b->first_row + at : b->ghost[at - b->rows];
    assert_int_equal(gi, rows->column[e]);
  }
}

static void any_number_of_threads(void **state) {
  (void)state;
  for (int p = 0; p < PROBLEM_COUNT; p++) {
    made one, several, kept;
    make(p, 1, &one);
    make(p, 1, &kept);
    if (strcmp(PROBLEMS[p].name, "poisson1d") != 0) {
      assert_true(one.facts.odd_row >= 0);
      assert_same_bits(one.facts.largest, 1e9);
    }
    assert_ok(csr_localise(1, &one.rows, &one.block));
    check_block(&kept.rows, &one.block);
    for (size_t t = 0; t < sizeof THREADS / sizeof *THREADS; t++) {
      make(p, THREADS[t], &several);
      same_rows(&kept.rows, &several.rows);
      same_facts(&kept.facts, &several.facts);
      for (lidx i = 0; i < kept.rows.rows; i++) {
        assert_same_bits(kept.diagonal[i], several.diagonal[i]);
      }
      for (int r = 0; r <= kept.owned.size; r++) {
        assert_int_equal(kept.owned.first[r], several.owned.first[r]);
      }
      assert_ok(csr_localise(THREADS[t], &several.rows, &several.block));
      same_block(&one.block, &several.block);
      release(&several);
    }
    release(&one);
    release(&kept);
  }
}

/* Every element of a loop is some part's, once. */
static void mark_part(void *context, int part, int64_t begin, int64_t end) {
  int *times = context;
  (void)part;
  for (int64_t i = begin; i < end; i++) times[i]++;
}

static void parts_cover_all_elements(void **state) {
  (void)state;
  const int64_t counts[] = {0, 1, 2, 511, 512, 513, 10007};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    for (int threads = 1; threads < 9; threads++) {
      int *times;
      assert_ok(alloc_zeroed(&times, counts[k], sizeof *times, "marks"));
      team_for(threads, counts[k], mark_part, times);
      for (int64_t i = 0; i < counts[k]; i++) assert_int_equal(times[i], 1);
      alloc_free(&times);
    }
  }
  const int64_t huge = INT64_MAX - 1; /* products with it do not fit */
  assert_int_equal(team_begin(1000, huge, 1000), huge);
  for (int t = 0; t < 1000; t++) {
    assert_in_range(team_begin(1000, huge, t + 1) - team_begin(1000, huge, t), huge / 1000,
                    huge / 1000 + 1);
  }
}

static void fingerprints_and_copies(void **state) {
  (void)state;
  enum { COUNT = 5003 };
  double *x, *y;
  assert_ok(alloc_array(&x, COUNT, sizeof *x, "numbers"));
  assert_ok(alloc_array(&y, COUNT, sizeof *y, "numbers"));
  for (int i = 0; i < COUNT; i++) x[i] = problem_random_rhs(1, i);
  for (int threads = 1; threads < 9; threads += 3) {
    const int64_t counts[] = {0, 1, 700, COUNT};
    for (int k = 0; k < 4; k++) {
      assert_true(team_fingerprint(threads, x, 77, counts[k]) == fingerprint_of(x, 77, counts[k]));
      const size_t bytes = (size_t)counts[k] * 8, odd = bytes == 0 ? 0 : bytes - 3;
      memset(y, 0xff, COUNT * sizeof *y);
      team_copy(threads, y, x, (int64_t)odd);
      assert_true(odd == 0 || memcmp(x, y, odd) == 0);
      for (size_t i = odd; i < COUNT * sizeof *y; i++) {
        assert_int_equal(((unsigned char *)y)[i], 0xff);
      }
    }
  }
  alloc_free(&x);
  alloc_free(&y);
}

/* The n-th allocation of the last rank fails: all leave with the same code, nothing leaks. */
static void no_memory_on_one_rank(void **state) {
  (void)state;
  const int last = comm_rank(world) == comm_size(world) - 1;
  const problem_request request = request_of(4, 3);
  const int64_t live = alloc_live();
  int n = 0;
  for (int done = 0; !done; n++) {
    csr_rows a;
    csr_block block;
    ownership owned;
    matrix_survey facts;
    memset(&block, 0, sizeof block);
    if (last) alloc_fail_at(n + 1);
    status rc = problem_build(world, &request, &a, &owned);
    if (rc == STATUS_OK) rc = survey_matrix(world, 3, &a, &facts);
    if (rc == STATUS_OK) rc = comm_agree(world, csr_localise(3, &a, &block));
    alloc_fail_at(0);
    done = rc == STATUS_OK;
    if (!done) assert_int_equal(rc, STATUS_UNAVAILABLE);
    csr_rows_release(&a);
    csr_block_release(&block);
    ownership_release(&owned);
    assert_int_equal(alloc_live(), live);
  }
  assert_true(n > 8);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_cover_all_elements),
      cmocka_unit_test(fingerprints_and_copies),
      cmocka_unit_test(any_number_of_threads),
      cmocka_unit_test(no_memory_on_one_rank),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  setenv("CMOCKA_TEST_ABORT", "1", 1); /* a rank that fails ends them all */
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
