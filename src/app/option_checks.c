/* Shared checks (option_checks.h). */
#include "option_checks.h"

#include "file_name.h"

status check_needs(const options *o, const char *key, int met, const char *what) {
  if (met || !options_given(o, key) || options_is_default(o, key)) return STATUS_OK;
  return fail(STATUS_USAGE, "%s: %s", options_where(o, key), what);
}

status check_output_kind(const char *path, const char *endings, const char *said) {
  if (path == NULL) return STATUS_OK;
  if (file_name_ends(path, endings)) return STATUS_OK;
  return fail(STATUS_USAGE, "output %s: expected a name that ends in %s", path, said);
}
