/* Rows of references/ode_solutions.tsv, for tests: states of initial value problems at some
 * instants that two independent computations agree on. */
#ifndef ODE_REFERENCE_H
#define ODE_REFERENCE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

enum { REFERENCE_INSTANTS = 32, REFERENCE_ROWS = 200 };

typedef struct reference_row {
  double t, value;
  int component, instant;
} reference_row;

typedef struct reference {
  reference_row rows[REFERENCE_ROWS];
  double instants[REFERENCE_INSTANTS]; /* in the order they are met */
  int count, instant_count;
} reference;

/* The rows of one problem. */
static inline void reference_read(const char *path, const char *id, reference *r) {
  char line[300], name[40];
  reference_row here;
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  r->count = r->instant_count = 0;
  while (fgets(line, sizeof line, f) != NULL) {
    if (sscanf(line, "%39[^\t]\t%lf\t%d\t%lf", name, &here.t, &here.component, &here.value) != 4)
      continue;
    if (strcmp(name, id) != 0) continue;
    if (r->instant_count == 0 || here.t != r->instants[r->instant_count - 1]) {
      r->instants[r->instant_count++] = here.t;
    }
    here.instant = r->instant_count - 1;
    r->rows[r->count++] = here;
  }
  fclose(f);
  assert_true(r->count > 0);
}

/* The file's path. 77, the exit code of a test that is skipped, where it is not there; else 0. */
static inline int reference_find(char *path, size_t room) {
  const char *shared = getenv("HALOSWEEP_SHARED");
  snprintf(path, room, "%.900s/references/ode_solutions.tsv", shared == NULL ? "." : shared);
  FILE *f = fopen(path, "r");
  if (f == NULL) {
    printf("skipped: %s is not there\n", path);
    return 77;
  }
  fclose(f);
  return 0;
}

#endif
