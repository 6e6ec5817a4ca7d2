/* A growing text (text.h): room doubles, so n appends cost O(total length). */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"

enum { PIECE_ROOM = 4096 };

status text_append(text_builder *t, const char *text) {
  status rc = STATUS_OK;
  int64_t more = (int64_t)strlen(text) + 1;
  if (t->length + more > t->room) {
    int64_t want = 2 * (t->length + more) + 256;
    TRY(alloc_grow(&t->text, t->room, want, 1, "text"));
    t->room = want;
  }
  memcpy(t->text + t->length, text, (size_t)more);
  t->length += more - 1;
done:
  return rc;
}

status text_print(text_builder *t, const char *format, ...) {
  char piece[PIECE_ROOM];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(piece, sizeof piece, format, arguments);
  va_end(arguments);
  if (length < 0 || length >= PIECE_ROOM) return fail(STATUS_BUG, "a text that does not fit");
  return text_append(t, piece);
}

void text_release(text_builder *t) {
  alloc_free(&t->text);
  memset(t, 0, sizeof *t);
}
