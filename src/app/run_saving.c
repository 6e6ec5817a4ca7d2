/* The ends of runs that checkpoint (run_saving.h). */
#include "run_saving.h"

#include "stop.h"

status run_saving_exit_code(const checkpointing_facts *facts, const run_ending *end) {
  if (facts->failed != STATUS_OK && end->code != STATUS_DIVERGED) return STATUS_IO;
  if (!end->stopped) return end->code;
  if (facts->stopped_safe) return STATUS_AGAIN;
  return end->by_signal ? (status)(STATUS_SIGNAL + facts->signal) : end->code;
}

status run_saving_stopped(const checkpointing_facts *facts, const run_ending *end) {
  const status code = run_saving_exit_code(facts, end);
  const char *why = end->by_signal ? stop_signal_name(facts->signal) : "the time limit";
  if (code == STATUS_IO) {
    return fail(code, "the last checkpoint could not be written (after %s); %s%s", end->done,
                facts->saved[0] != '\0' ? "the one before is " : "there is no earlier one",
                facts->saved);
  }
  if (code == STATUS_AGAIN) {
    return fail(code, "stopped by %s after %s; %s is written: go on with --restart latest", why,
                end->done, facts->saved);
  }
  if (end->stopped) {
    return fail(code,
                "stopped by %s after %s, not converged%s; with --checkpoint FILE it could be "
                "continued",
                why, end->done, end->left);
  }
  return STATUS_OK;
}
