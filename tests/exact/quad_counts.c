/* Evaluations of the adaptive rules against one region at a time (one_at_a_time.h): generations may
 * not cost more than 1.5 times as many, on Genz's families in 5 directions and on others. With the
 * argument "table" it prints the table of docs/numerics.md (1e-6, minutes). */
#include "backend.h"
#include "one_at_a_time.h"
#include "quad_table.h"

static comm *world;
static char path[4096];

static void compare(quad_row *r, int print) {
  quad_run q;
  const yardstick y = one_at_a_time(&r->c);
  assert_ok(quad_case_run(&r->c, "genz-malik", &BACKEND_omp, 2, world, &q));
  const double ratio = (double)q.evaluations / (double)y.evaluations;
  if (print) {
    print_message("| %-24s | %11lld | %11lld | %5.3f | %.1e | %.1e | %.1e |\n", r->class,
                  (long long)y.evaluations, (long long)q.evaluations, ratio,
                  q.error / fabs(r->exact), fabs(q.value / r->exact - 1.0),
                  fabs(y.value / r->exact - 1.0));
    return;
  }
  assert_int_equal(q.reason, QUAD_CONVERGED);
  assert_true(y.error <= r->c.rtol * fabs(y.value));
  if (ratio > 1.5)
    fail_msg("%s: %lld evaluations, one at a time %lld", r->id, (long long)q.evaluations,
             (long long)y.evaluations);
  assert_true(ratio > 0.9);
}

static void families(double rtol, int64_t budget, int print) {
  FILE *file = fopen(path, "r");
  quad_row r;
  int count = 0;
  assert_non_null(file);
  while (table_next(file, &r)) {
    if (r.id[0] != 'g' || r.c.dims != 5) continue;
    r.c.rtol = rtol;
    r.c.atol = 0.0;
    r.c.max_evaluations = budget;
    compare(&r, print);
    count++;
  }
  fclose(file);
  assert_int_equal(count, 6);
}

static void generations_cost_no_more(void **state) {
  (void)state;
  families(3e-4, 4000000, 0);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(generations_cost_no_more)};
  const char *shared = getenv("HALOSWEEP_SHARED");
  snprintf(path, sizeof path, "%s/references/quadrature.tsv", shared == NULL ? "." : shared);
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    print_message("skipped: no %s\n", path);
    return 77;
  }
  fclose(file);
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int rc = 0;
  if (argc > 1 && strcmp(argv[1], "table") == 0) {
    families(1e-6, INT64_C(1000000000), 1);
  } else {
    rc = cmocka_run_group_tests(tests, NULL, NULL);
  }
  comm_close(&world);
  return rc;
}
