/* Whether a problem is worth a GPU, before anybody waits for it: those of an INI (a section that is
 * there is a problem), a matrix file by its head, a made problem by its name and n. */
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "gpu_worth.h"
#include "heat_job.h"
#include "info.h"
#include "matrix_io.h"
#include "ode_coupled.h"
#include "ode_job.h"
#include "problems.h"
#include "quad_job.h"

/* A run of one command with the options of the file, for the parts of it that only look. */
typedef struct subject {
  run_context run;
  problem_size size;
} subject;

static status size_of_matrix(subject *s, const char *path) {
  matrix_promise promise;
  status rc = matrix_look(s->run.c, path, &promise);
  if (rc == STATUS_OK) s->size = gpu_worth_rows(promise.rows);
  return rc; /* its agreement has told why */
}

static status size_of_problem(subject *s, const char *name, int count, const int64_t *n) {
  double rows = 1.0;
  const int dims = problem_dims(name);
  if (count != 1 && count != dims) {
    return fail(STATUS_USAGE, "problem %s: expected one n, or one for each of %d directions", name,
                dims);
  }
  for (int d = 0; d < dims; d++) rows *= (double)n[count == 1 ? 0 : d];
  s->size = gpu_worth_rows(rows < 1e18 ? (int64_t)rows : INT64_C(1000000000000000000));
  return STATUS_OK;
}

static status size_of_solve(subject *s) {
  const options *o = s->run.o;
  const char *path = options_text(o, "solve.matrix");
  const int64_t *n;
  const int count = options_integers(o, "solve.n", &n);
  return path != NULL ? size_of_matrix(s, path)
                      : size_of_problem(s, options_text(o, "solve.problem"), count, n);
}

static status size_of_heat(subject *s) {
  heat_inputs in;
  memset(&in, 0, sizeof in);
  status rc = heat_inputs_create(s->run.o, &in);
  if (rc == STATUS_OK) s->size = heat_size(s->run.o, &in);
  heat_inputs_release(&in);
  return rc;
}

static status size_of_quad(subject *s) {
  status rc = STATUS_OK;
  quad_job j;
  memset(&j, 0, sizeof j);
  j.run = &s->run;
  s->size = gpu_worth_evaluations(0.0);
  if (options_has(s->run.o, "quad.data")) return STATUS_OK;
  TRY(quad_inputs_create(s->run.o, &j.in));
  TRY(quad_choose(&j));
  s->size = quad_size(&j);
done:
  quad_inputs_release(&j.in);
  return rc;
}

static status size_of_coupled(subject *s) {
  coupled_job j;
  memset(&j, 0, sizeof j);
  const status rc = coupled_inputs_create(s->run.o, &j);
  if (rc == STATUS_OK) s->size = coupled_size(&j.coupled);
  coupled_inputs_release(&j);
  return rc;
}

static status size_of_ode(subject *s) {
  status rc = STATUS_OK;
  ode_job j;
  memset(&j, 0, sizeof j);
  j.run = &s->run;
  if (ode_is_coupled(s->run.o)) return size_of_coupled(s);
  TRY(ode_inputs_create(s->run.o, &j.in));
  TRY(ode_choose(&j));
  s->size = ode_size(&j);
done:
  alloc_free(&j.save_at);
  ode_inputs_release(&j.in);
  return rc;
}

/* Where answers go. */
typedef struct telling {
  int prints;
  report *r; /* or NULL */
} telling;

static void print_answer(const char *name, status rc, const problem_size *size, const char *word) {
  if (rc != STATUS_OK) {
    report_print("problem %s: %s\n", name,
                 fail_text()[0] != '\0' ? fail_text() : "a file that cannot be read");
  } else if (size->count == 0) {
    report_print("problem %s: the number of %s is not known in advance%s\n", name, size->unit,
                 strcmp(size->unit, "rows") == 0 ? ", only when the file is read"
                                                 : "; auto stays on CPUs");
  } else {
    report_print("problem %s: %lld %s: %s for a GPU (auto takes one from %lld on)\n", name,
                 (long long)size->count, size->unit, word, (long long)size->gpu_from);
  }
}

/* The answer, or why there is none. */
static void tell(const telling *t, const char *name, status rc, const problem_size *size) {
  report *r = t->r;
  const char *word = rc != STATUS_OK                ? NULL
                     : size->count == 0             ? "not known"
                     : size->count < size->gpu_from ? "too small"
                                                    : "large enough";
  if (t->prints) print_answer(name, rc, size, word);
  if (r == NULL) return;
  report_open(r, NULL);
  report_word(r, "problem", name);
  report_word(r, "gpu", word);
  if (rc == STATUS_OK) {
    report_word(r, "unit", size->unit);
    report_integer(r, "count", size->count);
    report_integer(r, "gpu_from", size->gpu_from);
  } else {
    report_word(r, "why", fail_text());
  }
  report_close(r);
}

static int has_section(const command *is, const options *o) {
  for (const option *one = is->options; one->section != NULL; one++) {
    char key[2 * OPTIONS_NAME_MAX];
    snprintf(key, sizeof key, "%.60s.%.60s", one->section, one->key);
    if (strcmp(one->key, OPTION_ANY_KEY) == 0) {
      if (options_free_key(o, one->section, 0) != NULL) return 1;
    } else if (options_given(o, key)) {
      return 1;
    }
  }
  return 0;
}

/* A section with a mistake is told as that: the rest of `info` stands. */
static void look_at_file(const run_context *run, const char *file, const telling *t) {
  static const struct {
    const command *is;
    status (*size)(subject *s);
  } known[] = {{&COMMAND_solve, size_of_solve},
               {&COMMAND_heat, size_of_heat},
               {&COMMAND_quad, size_of_quad},
               {&COMMAND_ode, size_of_ode}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const command_entry *entry = command_find(known[i].is->name);
    options *o = NULL;
    char name[256];
    char *const word[] = {name};
    subject s = {.run = *run};
    snprintf(name, sizeof name, "%.255s", file);
    status rc = options_load(known[i].is, 1, word, &o);
    const int there = rc != STATUS_OK || has_section(known[i].is, o);
    if (rc == STATUS_OK && there) {
      s.run.o = o;
      rc = entry->check(o);
      if (rc == STATUS_OK) rc = known[i].size(&s);
    }
    if (there) tell(t, known[i].is->name, rc, &s.size);
    fail_clear();
    options_release(&o);
  }
}

status info_problems(const run_context *run, int prints, report *r) {
  const telling t = {prints, r};
  const char *path = options_text(run->o, "info.matrix"),
             *problem = options_text(run->o, "info.problem"), *file = options_file(run->o);
  subject s = {.run = *run};
  status rc = STATUS_OK;
  if (r != NULL) report_open_list(r, "problems");
  if (file != NULL) look_at_file(run, file, &t);
  if (path != NULL) {
    TRY(size_of_matrix(&s, path));
    tell(&t, path, rc, &s.size);
  }
  if (problem != NULL) {
    const int64_t *n;
    const int count = options_integers(run->o, "info.n", &n);
    TRY(size_of_problem(&s, problem, count, n));
    tell(&t, problem, rc, &s.size);
  }
done:
  if (r != NULL) report_close(r);
  return comm_agree(run->c, rc);
}
