/* Outputs against inputs (run_files.h). */
#include "run_files.h"

#include <string.h>

#include "result_io.h"

status run_files_check(const run_context *run, const char *const *inputs, int count) {
  status rc = STATUS_OK;
  const options *o = run->o;
  static const char *const outputs[] = {"run.output", "run.report", "run.history"};
  enum { OUTPUTS = sizeof outputs / sizeof *outputs };
  const char *read[RUN_INPUTS + 1] = {NULL}, *written[OUTPUTS + 1] = {NULL};
  int reads = 0, writes = 0;
  if (options_file(o) != NULL) read[reads++] = options_file(o);
  if (options_has(o, "checkpoint.restart") && !options_is_word(o, "checkpoint.restart")) {
    read[reads++] = options_text(o, "checkpoint.restart");
  }
  for (int i = 0; i < count; i++) {
    if (inputs[i] != NULL) read[reads++] = inputs[i];
  }
  for (int i = 0; i < OUTPUTS; i++) {
    const char *path = options_text(o, outputs[i]);
    if (path == NULL || strcmp(path, "-") == 0) continue;
    TRY(result_check(run->c, path, read));
    written[writes++] = path;
  }
  TRY(result_check_distinct(run->c, written));
done:
  return rc;
}
