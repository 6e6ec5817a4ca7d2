/* Colours of problems and of shared matrices: no two rows that refer to each other share one, there
 * are not too many, grids are red and black, and every number of ranks finds those that one rank
 * alone finds. ranks: 1 2 3 5 */
#include "colouring.h"
#include "alloc.h"
#include "matrix_io.h"
#include "problems.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static comm *world, *alone;

typedef struct subject {
  const char *problem, *file;
  int64_t n[3];
  int directions, red_black;
  int32_t most; /* colours */
} subject;

static status make(comm *c, const subject *p, csr_rows *a, ownership *owned) {
  const problem_request request = {.name = p->problem,
                                   .n = p->n,
                                   .n_count = p->directions,
                                   .peclet = 1.0,
                                   .entries_per_row = 5,
                                   .seed = 7,
                                   .threads = 1};
  if (p->problem != NULL) return problem_build(c, &request, a, owned);
  char path[512];
  matrix_file facts;
  double *rhs = NULL;
  const char *shared = getenv("HALOSWEEP_SHARED");
  snprintf(path, sizeof path, "%s/matrices/%s", shared, p->file);
  status rc = matrix_read(c, path, 2, a, owned, &facts, &rhs);
  alloc_free(&rhs);
  return rc;
}

/* Each row's neighbours in the whole matrix differ from it; the longest row, both ways. */
static int64_t check_valid(const csr_rows *a, const int32_t *colour, const char *what) {
  int64_t *degree, most = 0;
  assert_ok(alloc_zeroed(&degree, a->rows, sizeof *degree, "degrees"));
  for (lidx i = 0; i < a->rows; i++) {
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const gidx j = a->column[e];
      if (j == i) continue;
      degree[i]++;
      degree[j]++;
      if (colour[i] == colour[j]) {
        fail_msg("%s: rows %lld and %lld are both of colour %d", what, (long long)i, (long long)j,
                 colour[i]);
      }
    }
  }
  for (lidx i = 0; i < a->rows; i++) most = degree[i] > most ? degree[i] : most;
  alloc_free(&degree);
  return most;
}

static void same_as_alone(const subject *p, int symmetric) {
  const char *what = p->problem != NULL ? p->problem : p->file;
  csr_rows a, whole, copy;
  ownership owned, all;
  csr_block block, one;
  colouring k, reference;
  const int64_t live = alloc_live();
  assert_ok(make(world, p, &a, &owned));
  assert_ok(make(alone, p, &whole, &all));
  ownership_release(&all);
  assert_ok(make(alone, p, &copy, &all));
  assert_ok(csr_localise(1, &a, &block));
  assert_ok(csr_localise(1, &copy, &one));
  assert_ok(colouring_make(world, &owned, &block, symmetric, &k));
  assert_ok(colouring_make(alone, &all, &one, 0, &reference));
  const int64_t most = check_valid(&whole, reference.colour, what);
  if (reference.colours > most + 1 || (p->most > 0 && reference.colours > p->most)) {
    fail_msg("%s: %d colours", what, reference.colours);
  }
  assert_int_equal(k.colours, reference.colours);
  assert_int_equal(k.red_black, p->red_black);
  assert_int_equal(reference.red_black, p->red_black);
  for (lidx i = 0; i < block.rows; i++) {
    assert_int_equal(k.colour[i], reference.colour[block.first_row + i]);
  }
  for (lidx i = 0; i < block.ghosts; i++) {
    assert_int_equal(k.colour[block.rows + i], reference.colour[block.ghost[i]]);
  }
  colouring_release(&k);
  colouring_release(&reference);
  csr_block_release(&block);
  csr_block_release(&one);
  csr_rows_release(&whole);
  ownership_release(&owned);
  ownership_release(&all);
  assert_int_equal(alloc_live(), live);
}

static void problems(void **state) {
  (void)state;
  static const subject all[] = {
      {.problem = "poisson1d", .n = {301}, .directions = 1, .red_black = 1, .most = 2},
      {.problem = "poisson1d", .n = {1}, .directions = 1, .red_black = 1, .most = 1},
      {.problem = "poisson2d", .n = {23, 18}, .directions = 2, .red_black = 1, .most = 2},
      {.problem = "poisson2d", .n = {16}, .directions = 1, .red_black = 1, .most = 2},
      {.problem = "poisson3d", .n = {8, 7, 6}, .directions = 3, .red_black = 1, .most = 2},
      {.problem = "convdiff2d", .n = {20, 1}, .directions = 2, .red_black = 1, .most = 2},
      {.problem = "random-dominant", .n = {700}, .directions = 1, .most = 8},
      {.problem = "random-dominant", .n = {4}, .directions = 1, .most = 4},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) same_as_alone(&all[i], 0);
  same_as_alone(&all[2], 1);
}

static void shared_matrices(void **state) {
  (void)state;
  static const subject all[] = {
      {.file = "lap2D_5pt_n100.mtx.gz", .red_black = 1, .most = 2},
      {.file = "gr_30_30.mtx.gz", .most = 8},
      {.file = "494_bus.mtx", .most = 4},
      {.file = "memplus.mtx.gz", .most = 100},
      {.file = "adder_dcop_05.mtx.gz", .most = 30},
      {.file = "west0067.mtx", .most = 10},
      {.file = "cage9.mtx.gz", .most = 16},
      {.file = "LFAT5.mtx", .most = 5},
  };
  if (getenv("HALOSWEEP_SHARED") == NULL) skip();
  FILE *there = NULL;
  char path[512];
  snprintf(path, sizeof path, "%s/matrices/LFAT5.mtx", getenv("HALOSWEEP_SHARED"));
  there = fopen(path, "r");
  if (there == NULL) skip();
  fclose(there);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) same_as_alone(&all[i], 0);
  same_as_alone(&all[1], 1);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(problems),
      cmocka_unit_test(shared_matrices),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int failed = comm_self(&alone) != STATUS_OK;
  if (!failed) failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&alone);
  comm_close(&world);
  return failed;
}
