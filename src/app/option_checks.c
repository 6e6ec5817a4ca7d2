/* Shared checks (option_checks.h). */
#include "option_checks.h"

#include <string.h>

status check_needs(const options *o, const char *key, int met, const char *what) {
  if (met || !options_given(o, key) || options_is_default(o, key)) return STATUS_OK;
  return fail(STATUS_USAGE, "%s: %s", options_where(o, key), what);
}

status check_output_kind(const char *path, const char *endings, const char *said) {
  if (path == NULL) return STATUS_OK;
  const size_t length = strlen(path);
  for (const char *end = endings; *end != '\0';) {
    const size_t tail = strcspn(end, "|");
    if (length >= tail && strncmp(path + length - tail, end, tail) == 0) return STATUS_OK;
    end += tail + (end[tail] == '|');
  }
  return fail(STATUS_USAGE, "output %s: expected a name that ends in %s", path, said);
}
