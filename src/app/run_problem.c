#include "run_problem.h"

#include <string.h>

#include "fingerprint.h"
#include "text.h"

status run_identify(const run_context *run, checkpointing *cp, const char *name,
                    const char *content) {
  status rc = STATUS_OK;
  text_builder problem = {0};
  const char *keys = options_problem(run->o);
  rc = keys == NULL ? fail(STATUS_UNAVAILABLE, "not enough memory") : text_append(&problem, keys);
  if (rc == STATUS_OK && content != NULL) rc = text_append(&problem, "\n[content]\n");
  if (rc == STATUS_OK && content != NULL) rc = text_append(&problem, content);
  TRY(comm_agree(run->c, rc));
  rc = checkpointing_identify(cp, name, HALOSWEEP_VERSION, options_effective(run->o), problem.text);
done:
  text_release(&problem);
  return rc;
}

uint64_t run_formulas_hash(const formula *const *f, int count) {
  uint64_t hash = FINGERPRINT_BASIS;
  for (int i = 0; i < count; i++) {
    const char *text = f[i] == NULL || f[i]->text == NULL ? "" : f[i]->text;
    hash = fingerprint_bytes(hash, text, (int64_t)strlen(text) + 1);
  }
  return hash;
}

status run_result_texts(const run_context *run, result_file *f, const char *name, const char *json,
                        uint64_t fingerprint) {
  status rc = STATUS_OK;
  char mark[FINGERPRINT_TEXT];
  fingerprint_text(fingerprint, mark);
  TRY(result_text(f, "version", HALOSWEEP_VERSION));
  TRY(result_text(f, "command", name));
  TRY(result_text(f, "config", options_effective(run->o)));
  TRY(result_text(f, "report", json));
  rc = result_text(f, "fingerprint", mark);
done:
  return rc;
}
