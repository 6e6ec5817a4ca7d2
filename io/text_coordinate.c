/* Lines of coordinate files: "row column value". One loop per field, specialised by the compiler;
 * a line it does not understand is looked at once more, word by word, to say what is wrong.
 *
 * Cost: about 25 bytes of text and 16 bytes of entry a line; numbers by decimal.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "decimal.h"
#include "portable.h"
#include "text_parse.h"

enum { QUOTE = 60 };

static inline int blank(char c) { return c == ' ' || c == '\t'; }

static inline const char *skip_blanks(const char *at) {
  while (blank(*at)) at++;
  return at;
}

static int finite_value(double x) { return x - x == 0.0; }

/* Why `line` is wrong; "" when this function finds nothing wrong with it. */
static void explain(text_parser *p, const char *line) {
  const text_head *head = p->head;
  const char *at = line, *word;
  char quoted[QUOTE];
  static const char *const name[2] = {"row", "column"};
  const gidx most[2] = {head->rows, head->columns};
  int64_t index[2], size;
  double value = 1.0;
  for (int i = 0; i < 2; i++) {
    size = text_word(&at, &word);
    text_quote(quoted, sizeof quoted, word, size);
    const char *digits = word + (size > 0 && *word == '-');
    if (size == 0 || decimal_index(digits, &index[i]) != at) {
      snprintf(p->error, sizeof p->error, "found '%s', expected a %s index", quoted, name[i]);
      return;
    }
    if (digits != word || index[i] < 1 || index[i] > most[i]) {
      snprintf(p->error, sizeof p->error, "%s index %s is outside 1..%" PRId64, name[i], quoted,
               most[i]);
      return;
    }
  }
  if (head->field != TEXT_PATTERN) {
    size = text_word(&at, &word);
    text_quote(quoted, sizeof quoted, word, size);
    if (size == 0) {
      snprintf(p->error, sizeof p->error, "no value: expected row, column and value");
      return;
    }
    const char *sign = word + (*word == '-' || *word == '+');
    if ((*sign | 0x20) == 'n' || (*sign | 0x20) == 'i') {
      snprintf(p->error, sizeof p->error, "value '%s' is not finite", quoted);
      return;
    }
    if (decimal_read(word, &value) != at) {
      snprintf(p->error, sizeof p->error, "found '%s', expected a number", quoted);
      return;
    }
    if (!finite_value(value)) {
      snprintf(p->error, sizeof p->error, "value '%s' is beyond the range of a double", quoted);
      return;
    }
    if (head->field == TEXT_INTEGER && value != floor(value)) {
      snprintf(p->error, sizeof p->error, "found '%s', expected an integer (banner)", quoted);
      return;
    }
    if (head->symmetry == TEXT_SKEW && index[0] == index[1] && value != 0.0) {
      snprintf(p->error, sizeof p->error,
               "diagonal entry (%" PRId64 ", %" PRId64
               ") = %s: must be 0 in a skew-symmetric matrix",
               index[0], index[1], quoted);
      return;
    }
  } else if (head->symmetry == TEXT_SKEW && index[0] == index[1]) {
    snprintf(p->error, sizeof p->error,
             "diagonal entry (%" PRId64 ", %" PRId64 "): a skew-symmetric matrix has none",
             index[0], index[1]);
    return;
  }
  size = text_word(&at, &word);
  text_quote(quoted, sizeof quoted, word, size);
  snprintf(p->error, sizeof p->error, "found '%s' after the entry, expected the end of the line",
           quoted);
}

/* field and words are constants at every call below. */
static inline status parse(text_parser *p, const char *at, const char *end, const text_field field,
                           const int words) {
  const gidx rows = p->head->rows, columns = p->head->columns;
  const int skew = p->head->symmetry == TEXT_SKEW;
  entry_store *store = p->store;
  entry_chunk *chunk = store->last;
  int64_t count = chunk->count, lines = 0, filled = 0, above = 0;
  status rc = STATUS_OK;
  while (at < end) {
    const char *line = at;
    gidx row, column;
    double value = 1.0;
    at = skip_blanks(at);
    if ((unsigned char)*at <= '%') { /* blank or comment; no digit is that low */
      if (*at == '%' || *at == '\n' || (*at == '\r' && *skip_blanks(at + 1) == '\n')) {
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
        lines++;
        continue;
      }
    }
    if (count == chunk->room) {
      chunk->count = count;
      TRY(entry_store_room(store));
      chunk = store->last;
      count = 0;
    }
    at = decimal_index(at, &row);
    p->bad = at == NULL || !blank(*at);
    if (p->bad == 0) {
      at = decimal_index(skip_blanks(at), &column);
      p->bad = at == NULL;
    }
    if (field != TEXT_PATTERN && p->bad == 0) {
      p->bad = !blank(*at) || (at = decimal_read(skip_blanks(at), &value)) == NULL;
    }
    if (p->bad == 0) {
      while (blank(*at) || *at == '\r') at++;
      p->bad = *at != '\n' || (uint64_t)(row - 1) >= (uint64_t)rows ||
               (uint64_t)(column - 1) >= (uint64_t)columns || !finite_value(value) ||
               (field == TEXT_INTEGER && value != floor(value)) ||
               (skew && row == column && value != 0.0);
    }
    if (p->bad != 0) {
      explain(p, line);
      break;
    }
    at++;
    above += row < column;
    key_put(chunk->key + count * words, words, row - 1, column - 1, 0);
    chunk->value[count] = value;
    count++;
    lines++;
    filled++;
  }
done:
  chunk->count = count;
  p->lines += lines;
  p->entries += filled;
  p->filled += filled;
  p->above += above;
  return rc;
}

status text_coordinate_block(text_parser *p, const char *text, const char *end) {
  if (p->store->words == 2) return parse(p, text, end, p->head->field, 2);
  switch (p->head->field) {
  case TEXT_REAL:
    return parse(p, text, end, TEXT_REAL, 1);
  case TEXT_INTEGER:
    return parse(p, text, end, TEXT_INTEGER, 1);
  default:
    return parse(p, text, end, TEXT_PATTERN, 1);
  }
}
