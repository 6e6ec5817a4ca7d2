/* What a sweep leaves behind: its part of the report, the table of members, a small sweep in
 * print, and the outcome. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "quad_job.h"

static int64_t begin_of(const quad_job *j) { return ownership_begin(&j->members.owned); }
static int64_t count_of(const quad_job *j) {
  return ownership_end(&j->members.owned) - ownership_begin(&j->members.owned);
}

void quad_report_sweep(const quad_job *j, report *r) {
  const quad_sweep *s = &j->members;
  const double busy = j->phases.slowest[PHASE_COMPUTE] + j->phases.slowest[PHASE_COMMUNICATE];
  report_integer(r, "members", s->swept->grid.members);
  report_integer(r, "failures", s->failures);
  report_open(r, "ended");
  for (int i = 0; i < QUAD_REASONS; i++) {
    if (s->ended[i] > 0) report_integer(r, quad_reason_name((quad_reason)i), s->ended[i]);
  }
  report_close(r);
  report_real(r, "members_per_second", busy > 0.0 ? (double)s->swept->grid.members / busy : 0.0);
  if (j->in.exact_known) report_real(r, "error_max", j->error_max);
}

/* ---- the table ---- */

/* The swept parameters, a column each. */
static status write_parameters(const quad_job *j, result_file *f) {
  status rc = STATUS_OK;
  const sweep *swept = j->members.swept;
  const int64_t first = begin_of(j), count = count_of(j);
  double *column = NULL;
  TRY(comm_agree(j->run->c, alloc_array(&column, count, sizeof *column, "parameters")));
  for (int k = 0; k < swept->grid.axes; k++) {
    char name[QUAD_NAME + 32];
    for (int64_t i = 0; i < count; i++) {
      double value[SWEEP_AXES] = {0.0};
      sweep_member(&swept->grid, first + i, value);
      column[i] = value[k];
    }
    snprintf(name, sizeof name, "/quad/members/parameters/%.60s", swept->name[k]);
    TRY(result_table(f, name, DATASET_F64, swept->grid.members, 0, first, count, column));
  }
done:
  alloc_free(&column);
  return rc;
}

status quad_write_sweep(const quad_job *j, result_file *f) {
  status rc = STATUS_OK;
  const quad_results *m = &j->members.mine;
  const int64_t members = j->members.swept->grid.members;
  const int64_t first = begin_of(j), count = count_of(j);
  char names[256] = "";
  for (int i = 0; i < QUAD_REASONS; i++) {
    const size_t length = strlen(names);
    snprintf(names + length, sizeof names - length, "%s%s", i > 0 ? "|" : "",
             quad_reason_name((quad_reason)i));
  }
  TRY(result_table(f, "/quad/members/value", DATASET_F64, members, 0, first, count, m->value));
  TRY(result_table(f, "/quad/members/error", DATASET_F64, members, 0, first, count, m->error));
  TRY(result_table(f, "/quad/members/evaluations", DATASET_I64, members, 0, first, count,
                   m->evaluations));
  TRY(result_table(f, "/quad/members/status", DATASET_BYTES, members, 0, first, count, m->reason));
  TRY(write_parameters(j, f));
  TRY(result_text(f, "status_names", names));
done:
  return rc;
}

/* ---- for people ---- */

typedef struct shown {
  double value, error;
  int64_t reason, there;
} shown;

static void print_member(const quad_job *j, int64_t m, const shown *s) {
  char text[SWEEP_TEXT];
  if (options_flag(j->run->o, "run.quiet")) {
    report_print("%.17g\n", s->value);
    return;
  }
  sweep_member_text(j->members.swept, m, text);
  const char *ended = quad_reason_name((quad_reason)s->reason);
  if (isnan(s->error)) {
    report_print("  %s: %.17g (%s)\n", text, s->value, ended);
  } else {
    report_print("  %s: %.17g, error %.1e (%s)\n", text, s->value, s->error, ended);
  }
}

status quad_print_sweep(const quad_job *j) {
  status rc = STATUS_OK;
  shown mine[QUAD_SHOWN], *all = NULL;
  comm *c = j->run->c;
  const int64_t members = j->members.swept->grid.members, first = begin_of(j), count = count_of(j);
  if (members > QUAD_SHOWN) return STATUS_OK;
  memset(mine, 0, sizeof mine);
  for (int64_t i = 0; i < count; i++) {
    mine[first + i] =
        (shown){j->members.mine.value[i], j->members.mine.error[i], j->members.mine.reason[i], 1};
  }
  TRY(comm_agree(c, alloc_array(&all, (int64_t)comm_size(c) * QUAD_SHOWN, sizeof *all, "members")));
  TRY(comm_allgather(c, mine, all, sizeof mine));
  for (int64_t m = 0; m < members && comm_rank(c) == 0; m++) {
    for (int r = 0; r < comm_size(c); r++) {
      const shown *s = &all[r * QUAD_SHOWN + m];
      if (s->there) print_member(j, m, s);
    }
  }
done:
  alloc_free(&all);
  return rc;
}

status quad_outcome_sweep(const quad_job *j) {
  const quad_sweep *s = &j->members;
  char text[SWEEP_TEXT];
  if (s->failures == 0) return STATUS_OK;
  sweep_member_text(s->swept, s->first_failed, text);
  return fail(STATUS_STOPPED,
              "%lld of %lld members failed, the first is member %lld (%s): %s; the others are not "
              "affected",
              (long long)s->failures, (long long)s->swept->grid.members, (long long)s->first_failed,
              text, quad_reason_name(s->first_reason));
}
