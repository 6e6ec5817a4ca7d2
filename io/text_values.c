/* Lines of bare numbers: array files (by columns, any number on a line) and plain text (a row a
 * line). Only values are kept; where they belong is worked out when all ranks have counted. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "decimal.h"
#include "text_parse.h"

enum { QUOTE = 60 };

static void explain(text_parser *p, const char *word, double value, const char *after) {
  char quoted[QUOTE];
  const char *at = word;
  int64_t size = text_word(&at, &word);
  text_quote(quoted, sizeof quoted, word, size);
  const char *sign = word + (*word == '-' || *word == '+');
  if ((*sign | 0x20) == 'n' || (*sign | 0x20) == 'i') {
    snprintf(p->error, sizeof p->error, "value '%s' is not finite", quoted);
  } else if (after != at) {
    snprintf(p->error, sizeof p->error, "found '%s', expected a number", quoted);
  } else if (value - value != 0.0) {
    snprintf(p->error, sizeof p->error, "value '%s' is beyond the range of a double", quoted);
  } else {
    snprintf(p->error, sizeof p->error, "found '%s', expected an integer (banner)", quoted);
  }
}

/* The numbers of one line, appended to the store; *count of them. Returns the '\n', or NULL with
 * p->bad set. */
static const char *parse_line(text_parser *p, const char *at, const char *end, int64_t *count,
                              status *rc) {
  const int integer = p->head->field == TEXT_INTEGER;
  const char comment = p->head->layout == TEXT_PLAIN ? '#' : '%';
  for (*count = 0;; ++*count) {
    double value = 0.0;
    while (*at == ' ' || *at == '\t' || *at == '\r') at++;
    if (*at == '\n') return at;
    if (*at == '%' || *at == comment) {
      return memchr(at, '\n', (size_t)(end - at));
    }
    const char *word = at;
    at = decimal_read(word, &value);
    int ends = at != NULL && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n');
    if (!ends || value - value != 0.0 || (integer && value != floor(value))) {
      p->bad = 1;
      explain(p, word, value, at);
      return NULL;
    }
    *rc = entry_store_room(p->store);
    if (*rc != STATUS_OK) return NULL;
    entry_chunk *chunk = p->store->last;
    chunk->value[chunk->count++] = value;
  }
}

status text_values_block(text_parser *p, const char *text, const char *end) {
  const int plain = p->head->layout == TEXT_PLAIN;
  status rc = STATUS_OK;
  for (const char *at = text; at < end; at++) {
    int64_t count;
    at = parse_line(p, at, end, &count, &rc);
    if (at == NULL) break;
    if (plain && count > 0 && count != p->head->columns) {
      p->uneven++;
      if (p->strict) {
        p->bad = 1;
        snprintf(p->error, sizeof p->error,
                 "found %" PRId64 " numbers, expected %" PRId64 " as on the first line", count,
                 p->head->columns);
        break;
      }
    }
    p->lines++;
    p->filled += count > 0;
    p->entries += count;
  }
  return rc;
}
