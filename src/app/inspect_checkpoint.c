/* What `inspect` says of a checkpoint: whose it is, and of what problem; --config prints the config
 * of the run that wrote it. */
#include "inspect_checkpoint.h"

#include <stdio.h>

#include "alloc.h"
#include "checkpoint_io.h"
#include "report.h"

enum { COMMAND, VERSION, CONFIG, PROBLEM, TEXTS };
enum { TEXT_MAX = 1024 };

static status put(const char *path, char *const *text, const char *to) {
  status rc = STATUS_OK;
  report *r = NULL;
  TRY(report_create(&r));
  report_word(r, "program", "halosweep");
  report_word(r, "command", "inspect");
  report_word(r, "version", HALOSWEEP_VERSION);
  report_integer(r, "exit_code", 0);
  report_word(r, "file", path);
  report_open(r, "checkpoint");
  report_word(r, "command", text[COMMAND]);
  report_word(r, "version", text[VERSION]);
  report_word(r, "config", text[CONFIG]);
  report_word(r, "problem", text[PROBLEM]);
  report_close(r);
  rc = report_write(r, to);
done:
  report_release(&r);
  return rc;
}

/* Rank 0. */
static status tell(const run_context *run, const char *path, char *const *text) {
  const char *to = options_text(run->o, "run.report");
  if (options_flag(run->o, "inspect.config")) {
    report_print("%s", text[CONFIG]);
    return STATUS_OK;
  }
  if (to == NULL || to[0] != '-' || to[1] != '\0') {
    report_print("checkpoint   of halosweep %s, version %s: go on with --restart %s\n",
                 text[COMMAND], text[VERSION], path);
    report_print("problem\n%s", text[PROBLEM]);
  }
  return to == NULL ? STATUS_OK : put(path, text, to);
}

status inspect_checkpoint(run_context *run, const char *path, int *is_one) {
  status rc = STATUS_OK;
  static const char *const names[TEXTS] = {"/run/command", "/run/version", "/run/config",
                                           "/run/problem"};
  char *text[TEXTS] = {NULL};
  TRY(checkpoint_recognise(run->c, path, is_one));
  if (!*is_one) goto done;
  for (int i = 0; i < TEXTS && rc == STATUS_OK; i++) {
    rc = checkpoint_text(run->c, path, names[i], &text[i]);
  }
  if (rc != STATUS_OK) {
    char why[TEXT_MAX];
    snprintf(why, sizeof why, "%s", fail_text());
    fail_clear();
    rc = fail(rc, "damaged checkpoint: %s", why);
  }
  TRY(comm_agree(run->c, rc));
  rc = comm_agree(run->c, comm_rank(run->c) == 0 ? tell(run, path, text) : STATUS_OK);
done:
  for (int i = 0; i < TEXTS; i++) alloc_free(&text[i]);
  return rc;
}
