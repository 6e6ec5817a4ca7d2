#define _POSIX_C_SOURCE 200809L /* fdopen */
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "alloc.h"
#include "swap_file.h"

enum { DEPTH = 8 };

struct report {
  json_t *level[DEPTH]; /* level[0] is the root; the others are owned by their parents */
  int depth;
  int failed;
  char *text;
};

status report_create(report **out) {
  status rc = alloc_zeroed(out, 1, sizeof **out, "report");
  if (rc != STATUS_OK) return rc;
  (*out)->level[0] = json_object();
  if ((*out)->level[0] != NULL) return STATUS_OK;
  alloc_free(out);
  return fail(STATUS_UNAVAILABLE, "not enough memory for the report");
}

void report_release(report **out) {
  report *r = *out;
  if (r == NULL) return;
  json_decref(r->level[0]);
  free(r->text); /* jansson's own allocation */
  alloc_free(out);
}

/* Takes over `value`. */
static void put(report *r, const char *key, json_t *value) {
  json_t *at = r->level[r->depth];
  const int bad =
      key != NULL ? json_object_set_new(at, key, value) : json_array_append_new(at, value);
  if (bad) r->failed = 1;
}

void report_word(report *r, const char *key, const char *text) {
  put(r, key, text != NULL ? json_string(text) : json_null());
}

void report_integer(report *r, const char *key, int64_t value) { put(r, key, json_integer(value)); }

void report_flag(report *r, const char *key, int value) { put(r, key, json_boolean(value)); }

void report_real(report *r, const char *key, double value) {
  if (isfinite(value)) {
    put(r, key, json_real(value));
    return;
  }
  put(r, key, json_null());
  if (key == NULL) return;
  char beside[80];
  snprintf(beside, sizeof beside, "%s_is", key);
  put(r, beside, json_string(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"));
}

static void open_level(report *r, const char *key, json_t *inner) {
  put(r, key, inner);
  if (r->depth + 1 == DEPTH || r->failed) abort(); /* a bug of the caller, or no memory at all */
  r->level[++r->depth] = inner;
}

void report_open(report *r, const char *key) { open_level(r, key, json_object()); }

void report_open_list(report *r, const char *key) { open_level(r, key, json_array()); }

void report_close(report *r) { r->depth--; }

status report_text(report *r, const char **text) {
  free(r->text);
  r->text = r->failed ? NULL : json_dumps(r->level[0], JSON_INDENT(2) | JSON_REAL_PRECISION(17));
  *text = r->text;
  if (r->text == NULL) return fail(STATUS_UNAVAILABLE, "not enough memory for the report");
  return STATUS_OK;
}

static int write_all(FILE *file, const char *text) {
  int bad = fputs(text, file) < 0;
  bad |= fputc('\n', file) == EOF;
  return bad;
}

status report_write(report *r, const char *path) {
  const char *text;
  status rc = report_text(r, &text);
  return rc == STATUS_OK ? report_write_text(text, path) : rc;
}

status report_write_text(const char *text, const char *path) {
  status rc = STATUS_OK;
  swap_file swap;
  if (strcmp(path, "-") == 0) {
    if (write_all(stdout, text) || fflush(stdout) != 0) {
      rc = fail(STATUS_IO, "writing the report to stdout failed: %s", strerror(errno));
    }
    goto done;
  }
  TRY(swap_open(path, &swap));
  FILE *file = fdopen(dup(swap.descriptor), "w");
  int bad = file == NULL || write_all(file, text);
  if (file != NULL) bad |= fclose(file) != 0;
  if (bad) {
    rc = fail(STATUS_IO, "%s: writing the report failed: %s", path, strerror(errno));
    swap_discard(&swap);
  } else {
    rc = swap_commit(&swap);
  }
done:
  return rc;
}

void report_bytes(double bytes, char out[REPORT_BYTES]) {
  static const char *const units[] = {"kB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (bytes /= 1e3; bytes >= 999.95 && unit + 1 < sizeof units / sizeof *units; unit++)
    bytes /= 1e3;
  snprintf(out, REPORT_BYTES, "%.1f %s", bytes, units[unit]);
}

void report_count(int64_t count, const char *what, char out[REPORT_COUNT]) {
  snprintf(out, REPORT_COUNT, "%lld %.30s%s", (long long)count, what, count == 1 ? "" : "s");
}

void report_print(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
}

char *report_lookup(const char *json, const char *key) {
  json_t *root = json_loads(json, 0, NULL);
  char *dumped = NULL, *text = NULL;
  json_t *value = json_object_get(root, key);
  if (value != NULL) dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
  if (dumped != NULL) {
    const char *from = dumped;
    size_t length = strlen(dumped);
    if (json_is_string(value)) from = json_string_value(value), length = strlen(from);
    if (alloc_array(&text, (int64_t)length + 1, 1, "report value") == STATUS_OK) {
      memcpy(text, from, length + 1);
    }
  }
  free(dumped);
  json_decref(root);
  return text;
}
