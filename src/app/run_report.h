/* What every command's report and summary begin with: the keys that do not depend on the problem.
 * All local. */
#ifndef RUN_REPORT_H
#define RUN_REPORT_H

#include "backend_choice.h"
#include "report.h"
#include "timers.h"

typedef struct run_facts {
  const char *command;
  int exit_code;
  const char *reason;
  uint64_t fingerprint;
  const char *reproducible; /* "all", "ranks", "none" */
  const backend_choice *chosen;
  const phase_summary *phases;
  int64_t host_peak;          /* bytes, largest over ranks */
  double bytes;               /* moved by the computation, all ranks, by its traffic model */
  const char *restarted_from; /* file; "" or NULL: a fresh start */
  int64_t restarted_at;
} run_facts;

void run_report_common(const run_context *run, const run_facts *facts, report *r);

/* For people: the lines "ran on", and at the end "time" and "fingerprint". */
void run_report_print_place(const run_context *run, const backend_choice *chosen);
void run_report_print_end(const phase_summary *phases, uint64_t fingerprint);

#endif
