/* Case 178 of the shared collection: its good matrices, by every method that they must converge
 * with, give the same verdict and the same bits on 1, 2 and 7 threads. */
#include <stdlib.h>
#include <unistd.h>

#include "trial.h"

static const char *shared;

/* Runs one file by one method; 1 if it did. */
static int same_on_threads(const char *path, const char *name) {
  static outcome first, other;
  trial t = {
      .file = path,
      .method = solver_find(name),
      .limits = {.rtol = 1e-10, .divergence = 1e5, .max_iterations = 10000, .check_every = 50},
      .omega = 1.0,
      .rhs_scale = 1.0};
  assert_non_null(t.method);
  run_trial(&t, &BACKEND_omp, 1, &first);
  if (first.reason != REASON_CONVERGED) {
    fail_msg("%s by %s: %s", path, name, solve_reason_name(first.reason));
  }
  for (int threads = 2; threads <= 7; threads += 5) {
    char what[4200];
    snprintf(what, sizeof what, "%s by %s, %d threads", path, name, threads);
    run_trial(&t, &BACKEND_omp, threads, &other);
    same_outcome(&first, &other, what);
    alloc_free(&other.x);
  }
  alloc_free(&first.x);
  return 1;
}

static void good_matrices_do_not_depend_on_threads(void **state) {
  (void)state;
  char path[4096], line[1024];
  snprintf(path, sizeof path, "%s/cases/expected.tsv", shared);
  FILE *table = fopen(path, "r");
  assert_non_null(table);
  int solves = 0;
  while (fgets(line, sizeof line, table) != NULL) {
    char *file = strchr(line, '\t');
    if (file == NULL || strstr(line, "\tmatrix\tok\t") == NULL) continue;
    file++;
    snprintf(path, sizeof path, "%s/cases/%.*s", shared, (int)strcspn(file, "\t"), file);
    if (strstr(line, "jacobi=ok") != NULL) solves += same_on_threads(path, "jacobi");
    if (strstr(line, "cg=ok") != NULL) solves += same_on_threads(path, "cg");
    if (strstr(line, "bicgstab=ok") != NULL) solves += same_on_threads(path, "bicgstab");
    if (strstr(line, "gmres=ok") != NULL) solves += same_on_threads(path, "gmres");
  }
  fclose(table);
  assert_true(solves >= 90);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(good_matrices_do_not_depend_on_threads),
  };
  shared = getenv("HALOSWEEP_SHARED");
  if (shared == NULL || access(shared, R_OK) != 0) return 77;
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
