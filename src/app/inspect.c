/* halosweep inspect FILE: the facts of a matrix, which method is likely to work on it and why, what
 * it takes in memory; or what a result file holds. */
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "inspect_checkpoint.h"
#include "inspect_storage.h"
#include "log.h"
#include "matrix_io.h"
#include "report.h"
#include "result_io.h"
#include "run_memory.h"
#include "solve_job.h"
#include "spectrum_report.h"

static int leads(const run_context *run) { return comm_rank(run->c) == 0; }

/* ---- results ---- */

static const char *const result_keys[] = {
    "command", "reason", "rows",  "method", "iterations",  "relative_residual",
    "points",  "scheme", "steps", "time",   "saved_times", "fingerprint"};

static status print_result(run_context *run, const char *path) {
  status rc = STATUS_OK;
  char *version = NULL, *json = NULL, *list = NULL;
  TRY(result_read_text(run->c, path, "version", &version));
  TRY(result_read_text(run->c, path, "report", &json));
  TRY(result_list(run->c, path, &list));
  if (leads(run)) {
    report_print("%s: a result of halosweep %s\n", path, version);
    for (size_t i = 0; i < sizeof result_keys / sizeof *result_keys; i++) {
      char *value = report_lookup(json, result_keys[i]);
      if (value != NULL) report_print("  %-18s %s\n", result_keys[i], value);
      alloc_free(&value);
    }
    report_print("datasets (name, elements):\n%s", list);
    report_print("%s--config prints an INI that reproduces it\n",
                 list[0] != '\0' && list[strlen(list) - 1] != '\n' ? "\n" : "");
  }
done:
  alloc_free(&version);
  alloc_free(&json);
  alloc_free(&list);
  return rc;
}

static status inspect_result(run_context *run, const char *path) {
  status rc = STATUS_OK;
  char *text = NULL;
  const char *to = options_text(run->o, "run.report");
  if (options_flag(run->o, "inspect.config")) {
    TRY(result_read_text(run->c, path, "config", &text));
    if (leads(run))
      report_print("%s%s", text, text[0] == '\0' || text[strlen(text) - 1] == '\n' ? "" : "\n");
    goto done;
  }
  if (to == NULL) {
    TRY(print_result(run, path));
    goto done;
  }
  TRY(result_read_text(run->c, path, "report", &text));
  if (leads(run)) rc = report_write_text(text, to);
  rc = comm_agree(run->c, rc);
done:
  alloc_free(&text);
  return rc;
}

/* ---- matrices ---- */

typedef struct findings {
  const char *path;
  matrix_file facts;
  matrix_survey survey;
  spectrum spectrum;
  method_choice choice;  /* the method likely to work, or "none" */
  storage_facts storage; /* of square matrices */
} findings;

/* Bytes a rank needs for its share to be solved: the entries as rows (16 bytes each) and what
 * solving takes beside them. */
static double rank_bytes(const matrix_survey *s, int64_t ranks) {
  const double entries = (double)s->entries / (double)ranks;
  const double rows = (double)s->rows / (double)ranks;
  return 16.0 * entries + 8.0 * rows + survey_bytes_to_solve(rows, entries);
}

static void print_lengths(const matrix_survey *s) {
  report_print("row lengths     %lld to %lld entries\n", (long long)s->shortest,
               (long long)s->longest);
  for (int bin = 0; bin < LENGTH_BINS; bin++) {
    if (s->lengths[bin] == 0) continue;
    char range[64], rows[REPORT_COUNT];
    const long long low = bin == 0 ? 0 : 1LL << (bin - 1), high = bin == 0 ? 0 : (1LL << bin) - 1;
    if (low == high) {
      snprintf(range, sizeof range, "%lld", low);
    } else {
      snprintf(range, sizeof range, "%lld-%lld", low, high);
    }
    report_count(s->lengths[bin], "row", rows);
    report_print("  %-13s %s\n", range, rows);
  }
}

static void print_row_count(const char *what, int64_t count, gidx first) {
  report_print("%-15s %lld", what, (long long)count);
  if (count > 0) report_print(" (first: row %lld)", (long long)first + 1);
  report_print("\n");
}

static void print_spectrum(const findings *f) {
  const spectrum *p = &f->spectrum;
  if (p->how == SPECTRUM_UNKNOWN) return;
  if (p->how == SPECTRUM_LANCZOS) {
    report_print("D^-1 A          eigenvalues from %.6g (+- %.1e) to %.6g (+- %.1e), %d Lanczos "
                 "steps%s\n",
                 p->ends.low, p->ends.low_error, p->ends.high, p->ends.high_error, p->steps,
                 p->ends.indefinite ? ": indefinite" : "");
  }
  report_print("Jacobi's rho    in [%.6g, %.6g]%s; 1 - rho in [%.3g, %.3g]: %s\n", p->rho_low,
               p->rho_high, p->how == SPECTRUM_LANCZOS ? "" : " (estimates by Arnoldi)",
               1.0 - p->rho_high, 1.0 - p->rho_low, p->resolved ? "resolved" : "not resolved");
}

static void print_matrix(const run_context *run, const findings *f) {
  const matrix_survey *s = &f->survey;
  const int64_t *ranks;
  const int count = options_integers(run->o, "inspect.for_ranks", &ranks);
  report_print("%s: %s\n", f->path, f->facts.format);
  report_print("size            %lld x %lld\n", (long long)s->rows, (long long)s->columns);
  report_print("entries         %lld stored, %lld expanded, %lld merged, %lld explicit zeros\n",
               (long long)f->facts.stored, (long long)f->facts.expanded, (long long)f->facts.merged,
               (long long)f->facts.explicit_zeros);
  report_print("symmetric       %s", s->symmetric ? "yes (a_ij = a_ji exactly)" : "no");
  if (!s->symmetric && s->odd_row >= 0) {
    report_print(": a(%lld,%lld) = %.17g, a(%lld,%lld) = %.17g", (long long)s->odd_row + 1,
                 (long long)s->odd_column + 1, s->odd_value, (long long)s->odd_column + 1,
                 (long long)s->odd_row + 1, s->odd_mirror);
  }
  report_print("\n");
  print_row_count("no diagonal", s->missing_diagonal, s->first_missing);
  print_row_count("zero diagonal", s->zero_diagonal, s->first_zero);
  print_row_count("neg. diagonal", s->negative_diagonal, s->first_negative);
  print_row_count("empty rows", s->empty_rows, s->first_empty);
  report_print("dominant rows   %lld strictly, %lld weakly, of %lld\n",
               (long long)s->strictly_dominant, (long long)s->weakly_dominant, (long long)s->rows);
  if (s->zero_sums == s->rows && s->rows > 0) {
    report_print("row sums        all zero: constants are in the null space (nullspace = auto)\n");
  }
  report_print("bandwidth       %lld\n", (long long)s->bandwidth);
  print_lengths(s);
  if (s->rows == s->columns) inspect_storage_print(&f->storage);
  for (int i = 0; i < count; i++) {
    char bytes[REPORT_BYTES];
    report_bytes(rank_bytes(s, ranks[i]), bytes);
    report_print("memory          %s a rank on %lld rank%s\n", bytes, (long long)ranks[i],
                 ranks[i] == 1 ? "" : "s");
  }
  print_spectrum(f);
  report_print("likely method   %s%s%s: %s\n", f->choice.method,
               strcmp(f->choice.preconditioner, "none") == 0 ? "" : " + ",
               strcmp(f->choice.preconditioner, "none") == 0 ? "" : f->choice.preconditioner,
               f->choice.why);
}

static void fill_report(const run_context *run, const findings *f, report *r) {
  const matrix_survey *s = &f->survey;
  const int64_t *ranks;
  const int count = options_integers(run->o, "inspect.for_ranks", &ranks);
  report_word(r, "program", "halosweep");
  report_word(r, "command", "inspect");
  report_word(r, "version", HALOSWEEP_VERSION);
  report_integer(r, "exit_code", 0);
  report_word(r, "file", f->path);
  report_word(r, "format", f->facts.format);
  report_integer(r, "rows", s->rows);
  report_integer(r, "columns", s->columns);
  report_integer(r, "stored", f->facts.stored);
  report_integer(r, "expanded", f->facts.expanded);
  report_integer(r, "entries", f->facts.merged);
  report_integer(r, "explicit_zeros", f->facts.explicit_zeros);
  report_flag(r, "symmetric", s->symmetric);
  report_integer(r, "missing_diagonal", s->missing_diagonal);
  report_integer(r, "zero_diagonal", s->zero_diagonal);
  report_integer(r, "negative_diagonal", s->negative_diagonal);
  report_integer(r, "empty_rows", s->empty_rows);
  report_integer(r, "strictly_dominant_rows", s->strictly_dominant);
  report_integer(r, "weakly_dominant_rows", s->weakly_dominant);
  report_integer(r, "bandwidth", s->bandwidth);
  report_integer(r, "shortest_row", s->shortest);
  report_integer(r, "longest_row", s->longest);
  report_open_list(r, "row_lengths"); /* from (inclusive), rows */
  for (int bin = 0; bin < LENGTH_BINS; bin++) {
    if (s->lengths[bin] == 0) continue;
    report_open(r, NULL);
    report_integer(r, "from", bin == 0 ? 0 : INT64_C(1) << (bin - 1));
    report_integer(r, "rows", s->lengths[bin]);
    report_close(r);
  }
  report_close(r);
  if (s->rows == s->columns) inspect_storage_report(&f->storage, r);
  report_open_list(r, "memory_per_rank");
  for (int i = 0; i < count; i++) {
    report_open(r, NULL);
    report_integer(r, "ranks", ranks[i]);
    report_real(r, "bytes", rank_bytes(s, ranks[i]));
    report_close(r);
  }
  report_close(r);
  report_real(r, "largest_off_diagonal_ratio", f->survey.off_diagonal);
  report_integer(r, "zero_row_sums", f->survey.zero_sums);
  spectrum_report(&f->spectrum, r);
  report_word(r, "likely_method", f->choice.method);
  report_word(r, "likely_preconditioner", f->choice.preconditioner);
  report_word(r, "why", f->choice.why);
}

static status tell(const run_context *run, const findings *f) {
  status rc = STATUS_OK;
  const char *to = options_text(run->o, "run.report");
  report *r = NULL;
  if (to == NULL || strcmp(to, "-") != 0) print_matrix(run, f);
  if (to == NULL) return STATUS_OK;
  TRY(report_create(&r));
  fill_report(run, f, r);
  rc = report_write(r, to);
done:
  report_release(&r);
  return rc;
}

/* Of a square matrix the storage, and the spectrum, on the backend the options ask for, by what
 * `solve` itself does. Takes the rows. */
static status measure(run_context *run, csr_rows *a, ownership *owned, findings *f) {
  status rc = STATUS_OK;
  const int steps = (int)options_integer(run->o, "inspect.steps");
  solve_job j;
  memset(&j, 0, sizeof j);
  j.run = run;
  if (f->survey.rows != f->survey.columns) goto done;
  j.a = *a;
  j.owned = *owned;
  j.survey = f->survey;
  memset(a, 0, sizeof *a);
  memset(owned, 0, sizeof *owned);
  timers_start(&j.timers);
  if (steps == 0 || f->survey.rows == 0) {
    TRY(comm_agree(run->c, csr_localise(run->threads, &j.a, &j.block)));
    TRY(inspect_storage(run, &j.block, &f->storage));
    goto done;
  }
  TRY(solve_scale_system(&j, NULL));
  TRY(comm_agree(run->c, alloc_array(&j.diagonal, j.a.rows, sizeof(double), "diagonal")));
  survey_diagonal(run->threads, &j.a, j.diagonal);
  TRY(solve_open_backend(&j));
  TRY(inspect_storage(run, &j.block, &f->storage));
  TRY(solve_measure(&j, steps));
  f->spectrum = j.spectrum;
done:
  solve_close(&j);
  return rc;
}

static status inspect_matrix(run_context *run, const char *path) {
  status rc = STATUS_OK;
  findings f = {.path = path};
  csr_rows a;
  ownership owned;
  double *rhs = NULL;
  memset(&a, 0, sizeof a);
  memset(&owned, 0, sizeof owned);
  TRY(run_memory_to_read(run, path, options_integer(run->o, "inspect.steps") > 0));
  TRY(matrix_read(run->c, path, run->threads, &a, &owned, &f.facts, &rhs));
  TRY(survey_matrix(run->c, run->threads, &a, &f.survey));
  TRY(measure(run, &a, &owned, &f));
  choice_make(&f.survey, &f.spectrum, &f.choice);
  rc = comm_agree(run->c, leads(run) ? tell(run, &f) : STATUS_OK);
done:
  alloc_free(&rhs);
  csr_rows_release(&a);
  ownership_release(&owned);
  return rc;
}

/* A result that `convert` wrote: its matrix is what matters. */
static status holds_matrix(run_context *run, const char *path, int *yes) {
  status rc = STATUS_OK;
  char *list = NULL;
  TRY(result_list(run->c, path, &list));
  *yes = strstr(list, "/matrix/indptr ") != NULL;
done:
  alloc_free(&list);
  return rc;
}

status command_inspect(run_context *run) {
  status rc = STATUS_OK;
  const char *path = options_text(run->o, "inspect.file");
  const char *to = options_text(run->o, "run.report");
  const char *const inputs[] = {path, options_file(run->o), NULL};
  int result = 0, checkpoint = 0, holds = 0;
  if (to != NULL && strcmp(to, "-") != 0) TRY(result_check(run->c, to, inputs));
  TRY(inspect_checkpoint(run, path, &checkpoint));
  if (checkpoint) goto done;
  TRY(result_is_result(run->c, path, &result));
  if (result) TRY(holds_matrix(run, path, &holds));
  if (result && !(holds && !options_flag(run->o, "inspect.config"))) {
    TRY(inspect_result(run, path));
  } else if (options_flag(run->o, "inspect.config")) {
    rc = comm_agree(run->c, fail(STATUS_INPUT,
                                 "%s: not a halosweep result: it has no config to "
                                 "print",
                                 path));
  } else {
    TRY(inspect_matrix(run, path));
  }
done:
  return rc;
}
