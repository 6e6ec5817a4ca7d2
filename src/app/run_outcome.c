#include "run_outcome.h"

#include "stop.h"

static const char *cause_text(const checkpointing_facts *f) {
  if (f->cause == STOP_SIGNAL) return stop_signal_name(f->signal);
  return f->allocation ? "the time limit (SLURM_JOB_END_TIME, the end of the allocation)"
                       : "the time limit";
}

const char *run_ending_reason(const run_ending *e) {
  return e->stopped ? stop_cause_name(e->saved->cause) : e->reason;
}

status run_ending_code(const run_ending *e) {
  const checkpointing_facts *f = e->saved;
  if (f->failed != STATUS_OK && e->code != STATUS_DIVERGED) return STATUS_IO;
  if (!e->stopped) return e->code;
  if (f->stopped_safe) return STATUS_AGAIN;
  return f->cause == STOP_SIGNAL ? (status)(STATUS_SIGNAL + f->signal) : e->code;
}

status run_ending_failure(const run_ending *e) {
  const checkpointing_facts *f = e->saved;
  const status code = run_ending_code(e);
  if (code == STATUS_IO) {
    return fail(code, "the last checkpoint could not be written (after %s); %s%s", e->done,
                f->saved[0] != '\0' ? "the one before is " : "there is no earlier one", f->saved);
  }
  if (code == STATUS_AGAIN) {
    return fail(code, "stopped by %s after %s; %s is written: go on with --restart latest",
                cause_text(f), e->done, f->saved);
  }
  if (!e->stopped) return STATUS_OK;
  return fail(code, "stopped by %s after %s, %s; with --checkpoint FILE it could be continued",
              cause_text(f), e->done, e->state);
}

status run_stop_early(const run_context *run, checkpointing *cp, const char *doing) {
  status rc = STATUS_OK;
  stop_cause cause;
  const int saves = options_has(run->o, "checkpoint.file");
  TRY(checkpointing_early(cp, &cause));
  if (cause == STOP_NONE) goto done;
  const checkpointing_facts *f = checkpointing_look(cp);
  const status code = saves                  ? STATUS_AGAIN
                      : cause == STOP_SIGNAL ? (status)(STATUS_SIGNAL + f->signal)
                                             : STATUS_STOPPED;
  rc = comm_agree(run->c, fail(code,
                               "stopped by %s during the set-up, after %s: nothing was "
                               "computed yet%s",
                               cause_text(f), doing, saves ? "; run again" : ""));
done:
  return rc;
}
