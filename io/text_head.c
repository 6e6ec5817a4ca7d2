/* The head of a text file (text_head.h). Format: Boisvert, Pozo, Remington, "The Matrix Market
 * Exchange Formats" (1996). Accepted beyond it: a byte order mark, CR LF, banner words in any case,
 * blank and comment lines anywhere, indentation. */
#include "text_head.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "decimal.h"

enum { QUOTE = 80 };

static const char *const layout_word[] = {"coordinate", "array"};
static const char *const field_word[] = {"real", "integer", "pattern"};
static const char *const symmetry_word[] = {"general", "symmetric", "skew-symmetric"};

#define FORMATS(layout, field)                                                                     \
  {                                                                                                \
    "Matrix Market " layout " " field " general", "Matrix Market " layout " " field " symmetric",  \
        "Matrix Market " layout " " field " skew-symmetric"                                        \
  }

static const char *const format_text[2][3][3] = {
    {FORMATS("coordinate", "real"), FORMATS("coordinate", "integer"),
     FORMATS("coordinate", "pattern")},
    {FORMATS("array", "real"), FORMATS("array", "integer"), FORMATS("array", "pattern")}};

const char *text_head_format(const text_head *head) {
  if (head->layout == TEXT_PLAIN) return "dense text";
  return format_text[head->layout][head->field][head->symmetry];
}

const char *text_quote(char *to, size_t room, const char *text, int64_t length) {
  size_t kept = 0;
  while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r')) length--;
  for (; kept < room - 1 && (int64_t)kept < length; kept++) {
    to[kept] = text[kept] >= ' ' && text[kept] <= '~' ? text[kept] : '?';
  }
  if ((int64_t)kept < length && room > 4) memcpy(to + kept - 3, "...", 3);
  to[kept] = '\0';
  return to;
}

static int blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

int64_t text_word(const char **at, const char **word) {
  const char *p = *at;
  while (blank(*p)) p++;
  *word = p;
  while (*p != '\n' && !blank(*p)) p++;
  *at = p;
  return p - *word;
}

static int same(const char *word, int64_t length, const char *expected) {
  return (int64_t)strlen(expected) == length && strncasecmp(word, expected, (size_t)length) == 0;
}

/* The next banner word's place in `words`; -1 when it is none of them. */
static int choose(const char **at, const char *const *words, int count, char *found) {
  const char *word;
  int64_t length = text_word(at, &word);
  text_quote(found, QUOTE, word, length);
  for (int i = 0; i < count; i++) {
    if (same(word, length, words[i])) return i;
  }
  return -1;
}

static status banner(const char *at, const char *path, text_head *out) {
  char found[QUOTE];
  static const char *const object[] = {"matrix"};
  if (choose(&at, object, 1, found) < 0) {
    return fail(STATUS_INPUT, "%s:1: banner: found object '%s', expected 'matrix'", path, found);
  }
  int layout = choose(&at, layout_word, 2, found);
  if (layout < 0) {
    return fail(STATUS_INPUT, "%s:1: banner: found format '%s', expected coordinate or array", path,
                found);
  }
  int field = choose(&at, field_word, 3, found);
  if (field < 0 && strcasecmp(found, "complex") == 0) {
    return fail(STATUS_INPUT, "%s:1: the matrix is complex: only real systems are solved", path);
  }
  if (field < 0) {
    return fail(STATUS_INPUT, "%s:1: banner: found field '%s', expected real, integer or pattern",
                path, found);
  }
  int symmetry = choose(&at, symmetry_word, 3, found);
  if (symmetry < 0 && strcasecmp(found, "hermitian") == 0) {
    return fail(STATUS_INPUT, "%s:1: the matrix is hermitian: only real systems are solved", path);
  }
  if (symmetry < 0) {
    return fail(STATUS_INPUT,
                "%s:1: banner: found symmetry '%s', expected general, symmetric or skew-symmetric",
                path, found);
  }
  if (layout == TEXT_ARRAY && field == TEXT_PATTERN) {
    return fail(STATUS_INPUT, "%s:1: banner: an array cannot be a pattern", path);
  }
  if (choose(&at, NULL, 0, found) < 0 && found[0] != '\0') {
    return fail(STATUS_INPUT, "%s:1: banner: found '%s' after its last word", path, found);
  }
  out->layout = (text_layout)layout;
  out->field = (text_field)field;
  out->symmetry = (text_symmetry)symmetry;
  return STATUS_OK;
}

/* Values an array file holds; -1 when the number does not fit. */
static int64_t array_values(const text_head *head) {
  int64_t n = head->rows, whole;
  if (__builtin_mul_overflow(head->rows, head->columns, &whole)) return -1;
  switch (head->symmetry) {
  case TEXT_SYMMETRIC:
    return (whole - n) / 2 + n;
  case TEXT_SKEW:
    return (whole - n) / 2;
  default:
    return whole;
  }
}

static status size_line(const char *line, int64_t length, const char *path, text_head *out) {
  char quoted[QUOTE];
  const char *at = line, *word;
  int64_t number[3] = {0, 0, 0};
  const int wanted = out->layout == TEXT_COORDINATE ? 3 : 2;
  int good = 1;
  for (int i = 0; i < wanted && good; i++) {
    int64_t size = text_word(&at, &word);
    good = size > 0 && decimal_index(word, &number[i]) == at;
  }
  good = good && text_word(&at, &word) == 0;
  text_quote(quoted, sizeof quoted, line, length);
  if (!good) {
    return fail(STATUS_INPUT,
                "%s:%" PRId64 ": size line: found '%s', expected %s as whole numbers below 2^63",
                path, out->data_line, quoted,
                wanted == 3 ? "rows, columns and entries" : "rows and columns");
  }
  out->rows = number[0];
  out->columns = number[1];
  if (out->rows == 0 || out->columns == 0) {
    return fail(STATUS_INPUT, "%s:%" PRId64 ": the matrix is empty (%" PRId64 " x %" PRId64 ")",
                path, out->data_line, out->rows, out->columns);
  }
  if (out->symmetry != TEXT_GENERAL && out->rows != out->columns) {
    return fail(STATUS_INPUT, "%s:%" PRId64 ": a %s matrix must be square, found '%s'", path,
                out->data_line, symmetry_word[out->symmetry], quoted);
  }
  out->stored = wanted == 3 ? number[2] : array_values(out);
  if (out->stored < 0) {
    return fail(STATUS_INPUT, "%s:%" PRId64 ": size line: '%s' is more than 2^63 values", path,
                out->data_line, quoted);
  }
  return STATUS_OK;
}

/* Moves to the next line that holds something; *length 0 at the end of the file. `kept` != 0: it is
 * left in the stream. Counts lines. */
static status next_filled(line_stream *lines, int keep, const char *comments, text_head *head,
                          char **line, int64_t *length) {
  for (;;) {
    char first;
    const char *at, *word;
    status rc = line_stream_line(lines, 1, line, length);
    if (rc != STATUS_OK || *length == 0) return rc;
    at = *line;
    first = text_word(&at, &word) == 0 ? '\0' : *word;
    if (first != '\0' && strchr(comments, first) == NULL) break;
    rc = line_stream_line(lines, 0, line, length);
    if (rc != STATUS_OK) return rc;
    head->data_at += *length;
    head->data_line++;
  }
  if (keep) return STATUS_OK;
  return line_stream_line(lines, 0, line, length);
}

static status plain_head(line_stream *lines, const char *path, text_head *out) {
  char quoted[QUOTE];
  char *line;
  int64_t length;
  status rc = next_filled(lines, 1, "#%", out, &line, &length);
  if (rc != STATUS_OK) return rc;
  if (length == 0) return fail(STATUS_INPUT, "%s: holds no numbers, only comments", path);
  const char *at = line, *word;
  out->layout = TEXT_PLAIN;
  out->stored = -1;
  while (text_word(&at, &word) > 0) {
    double value;
    if (decimal_read(word, &value) == NULL && out->columns == 0) {
      return fail(STATUS_INPUT,
                  "%s:%" PRId64
                  ": found '%s': not a Matrix Market file (no %%%%MatrixMarket banner), "
                  "and not plain numbers",
                  path, out->data_line, text_quote(quoted, sizeof quoted, line, length));
    }
    out->columns++;
  }
  return STATUS_OK;
}

status text_head_read(line_stream *lines, const char *path, text_head *out) {
  static const char magic[] = "%%MatrixMarket", mark[] = "\xef\xbb\xbf";
  char quoted[QUOTE];
  char *line;
  int64_t length;
  *out = (text_head){.data_line = 1};
  status rc = line_stream_line(lines, 1, &line, &length);
  if (rc != STATUS_OK) return rc;
  if (length == 0) return fail(STATUS_INPUT, "%s: is empty (0 bytes)", path);
  if (length >= 4 && memcmp(line, "\x89HDF", 4) == 0) {
    return fail(
        STATUS_INPUT,
        "%s: is an HDF5 file; matrices and vectors are read from Matrix Market or text files",
        path);
  }
  if (lines->filled >= 262 && memcmp(lines->buffer + 257, "ustar", 5) == 0) {
    return fail(STATUS_INPUT, "%s: is a tar archive, not a Matrix Market file: unpack it first",
                path);
  }
  if (length > 3 && memcmp(line, mark, 3) == 0) {
    lines->begin += 3;
    out->data_at = 3;
    rc = line_stream_line(lines, 1, &line, &length);
    if (rc != STATUS_OK) return rc;
  }
  const size_t size = sizeof magic - 1;
  if (length <= (int64_t)size || strncasecmp(line, magic, size) != 0) {
    if (length >= (int64_t)size && strncasecmp(line, magic + 1, size - 1) == 0) {
      return fail(STATUS_INPUT, "%s:1: found '%s': the banner must begin with two percent signs",
                  path, text_quote(quoted, sizeof quoted, line, length));
    }
    return plain_head(lines, path, out);
  }
  rc = banner(line + size, path, out);
  if (rc != STATUS_OK) return rc;
  rc = line_stream_line(lines, 0, &line, &length);
  if (rc != STATUS_OK) return rc;
  out->data_at += length;
  out->data_line++;
  rc = next_filled(lines, 0, "%", out, &line, &length);
  if (rc != STATUS_OK) return rc;
  if (length == 0) {
    return fail(STATUS_INPUT, "%s:%" PRId64 ": ends before the size line: expected %s", path,
                out->data_line,
                out->layout == TEXT_COORDINATE ? "rows, columns and entries" : "rows and columns");
  }
  rc = size_line(line, length, path, out);
  if (rc != STATUS_OK) return rc;
  out->data_at += length;
  out->data_line++;
  return STATUS_OK;
}
