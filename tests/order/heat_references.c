/* The exact solutions that the order tests measure errors against (heat_solutions.h) have the
 * values of references/heat_values.tsv: every row of it, and a solution for every problem. */
#include <stdio.h>
#include <stdlib.h>

#include "heat_solutions.h"

enum { PROBLEMS = 16, ROWS = 129 };

static const char *solution_of(const char *id, int *dims) {
  for (int i = 0; i < SPACES + TIMES; i++) {
    const heat_texts *is = i < SPACES ? &SPACE[i].is : &TIME[i - SPACES].is;
    if (strcmp(is->name, id) != 0) continue;
    *dims = is->dims;
    return is->exact;
  }
  return NULL;
}

/* "a b c": as many numbers as there are. */
static int numbers(const char *text, double *out) {
  int count = 0;
  char *end;
  for (const char *p = text; count < HEAT_DIMS; p = end) {
    out[count] = strtod(p, &end);
    if (end == p) break;
    count++;
  }
  return count;
}

static void values(void **state) {
  FILE *f = *state;
  char line[512], id[16], at[128];
  int rows = 0, seen = 0, known = 0;
  while (fgets(line, sizeof line, f) != NULL) {
    double t, expected, place[HEAT_DIMS + 1];
    if (sscanf(line, "%15[^\t]\t%lf\t%127[^\t]\t%lf", id, &t, at, &expected) != 4) continue;
    static const char *const names[3][5] = {
        {"x", "t", NULL}, {"x", "y", "t", NULL}, {"x", "y", "z", "t", NULL}};
    int dims = 0;
    const char *text = solution_of(id, &dims);
    expression *e = NULL;
    if (text == NULL) fail_msg("%s: no solution", id);
    assert_int_equal(numbers(at, place), dims);
    place[dims] = t;
    rows++;
    if ((seen >> atoi(id + 1) & 1) == 0) known++;
    seen |= 1 << atoi(id + 1);
    /* steps at t = 0, and a series too short for what is left of one at t = 0.001 */
    if (t < 0.005 && (strcmp(id, "h05") == 0 || strcmp(id, "h15") == 0)) continue;
    assert_ok(expression_parse(text, names[dims - 1], &e));
    const double got = expression_value(e, place);
    expression_release(&e);
    if (!(fabs(got - expected) <= 4e-14 * fmax(1e-3, fabs(expected)))) {
      fail_msg("%s at %s, t = %g: %.17g, expected %.17g", id, at, t, got, expected);
    }
  }
  assert_int_equal(rows, ROWS);
  assert_int_equal(known, PROBLEMS);
}

int main(void) {
  const char *shared = getenv("HALOSWEEP_SHARED");
  char path[1024];
  snprintf(path, sizeof path, "%.900s/references/heat_values.tsv", shared == NULL ? "." : shared);
  FILE *f = fopen(path, "r");
  if (f == NULL) {
    printf("skipped: %s is not there\n", path);
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(values, f)};
  const int rc = cmocka_run_group_tests(tests, NULL, NULL);
  fclose(f);
  return rc;
}
