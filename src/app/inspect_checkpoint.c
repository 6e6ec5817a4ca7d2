/* What `inspect` says of a checkpoint: whose it is, and of what problem; --config prints the config
 * of the run that wrote it. */
#include "inspect_checkpoint.h"
#include "alloc.h"
#include "checkpoint_io.h"
#include "report.h"

status inspect_checkpoint(run_context *run, const char *path, int *is_one) {
  status rc = STATUS_OK;
  enum { COMMAND, VERSION, CONFIG, PROBLEM, TEXTS };
  static const char *const names[TEXTS] = {"/run/command", "/run/version", "/run/config",
                                           "/run/problem"};
  char *text[TEXTS] = {NULL};
  *is_one = checkpoint_text(run->c, path, names[COMMAND], &text[COMMAND]) == STATUS_OK;
  fail_clear();
  if (!*is_one) goto done;
  for (int i = VERSION; i < TEXTS && rc == STATUS_OK; i++) {
    rc = checkpoint_text(run->c, path, names[i], &text[i]);
  }
  TRY(comm_agree(run->c, rc));
  if (comm_rank(run->c) != 0) goto done;
  if (options_flag(run->o, "inspect.config")) {
    report_print("%s", text[CONFIG]);
  } else {
    report_print("checkpoint   of halosweep %s, version %s: go on with --restart %s\n",
                 text[COMMAND], text[VERSION], path);
    report_print("problem\n%s", text[PROBLEM]);
  }
done:
  for (int i = 0; i < TEXTS; i++) alloc_free(&text[i]);
  return rc;
}
