/* Outputs against inputs and checkpoints (run_files.h). */
#include "run_files.h"

#include <string.h>

#include "checkpoint_io.h"
#include "result_io.h"

enum { OUTPUTS = 16, INPUTS = 64 };

/* An output that has the name of one of the run's own checkpoints, or of their lock. */
static status check_names(const run_context *run, const char *path) {
  const char *file = options_text(run->o, "checkpoint.file");
  status rc = STATUS_OK;
  if (comm_rank(run->c) == 0 && file != NULL && checkpoint_claims(file, path)) {
    rc = fail(STATUS_USAGE,
              "%s: this output has a name that checkpoints of checkpoint.file = %s get: choose "
              "another",
              path, file);
  }
  return comm_agree(run->c, rc);
}

status run_files_check(const run_context *run, const char *const *inputs, int count) {
  status rc = STATUS_OK;
  const options *o = run->o;
  const char *read[INPUTS + 1] = {NULL}, *written[OUTPUTS + 1] = {NULL}, *path;
  const option *is;
  int reads = 0, writes = 0;
  if (options_file(o) != NULL) read[reads++] = options_file(o);
  for (int i = 0; i < count && reads < INPUTS; i++) {
    if (inputs[i] != NULL) read[reads++] = inputs[i];
  }
  for (int i = 0; (path = options_file_at(o, OPTION_INPUT, i, &is)) != NULL && reads < INPUTS; i++)
    read[reads++] = path;
  for (int i = 0; (path = options_file_at(o, OPTION_OUTPUT, i, &is)) != NULL; i++) {
    const int checkpoints = strcmp(is->section, "checkpoint") == 0; /* a pattern, not a file */
    if (checkpoints || strcmp(path, "-") == 0 || writes == OUTPUTS) continue;
    TRY(result_check(run->c, path, read));
    TRY(check_names(run, path));
    written[writes++] = path;
  }
  TRY(result_check_distinct(run->c, written));
done:
  return rc;
}
