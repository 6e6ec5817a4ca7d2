/* Log and failure texts. The only mutable globals of the program live here (and in alloc.c's test
 * hooks): who speaks, the warnings so far, and the pending failure. */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 8192, WARNING_MAX = 2048, WARNINGS_MAX = 64 };

static struct {
  int speaks, quiet;
  int warnings;
  char warning[WARNINGS_MAX][WARNING_MAX];
  char failure[TEXT_MAX];
} journal = {.speaks = 1};

void log_open(int speaks, int quiet) {
  journal.speaks = speaks;
  journal.quiet = quiet;
}

static void print(const char *prefix, const char *format, va_list arguments) {
  char text[TEXT_MAX];
  vsnprintf(text, sizeof text, format, arguments);
  /* one write per line, so that ranks do not interleave inside it */
  fprintf(stderr, "%s%s\n", prefix, text);
}

void log_info(const char *format, ...) {
  if (!journal.speaks || journal.quiet) return;
  va_list arguments;
  va_start(arguments, format);
  print("", format, arguments);
  va_end(arguments);
}

void log_warning(const char *format, ...) {
  char text[WARNING_MAX];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  for (int i = 0; i < journal.warnings; i++) {
    if (strcmp(journal.warning[i], text) == 0) return;
  }
  if (journal.warnings < WARNINGS_MAX) strcpy(journal.warning[journal.warnings++], text);
  if (journal.speaks) fprintf(stderr, "halosweep: warning: %s\n", text);
}

void log_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print("halosweep: error: ", format, arguments);
  va_end(arguments);
}

const char *log_warning_at(int index) {
  return index >= 0 && index < journal.warnings ? journal.warning[index] : NULL;
}

status fail(status code, const char *format, ...) {
  if (journal.failure[0] != '\0') return code;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(journal.failure, sizeof journal.failure, format, arguments);
  va_end(arguments);
  return code;
}

const char *fail_text(void) { return journal.failure; }

void fail_clear(void) { journal.failure[0] = '\0'; }
