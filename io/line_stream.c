/* Lines by range (line_stream.h). A range that does not start at a known line start begins one byte
 * early and drops everything up to the first '\n': so a line that starts exactly there is ours, and
 * one that started before is not. At the end of the range reading goes on until the last line is
 * whole. Every byte is moved at most once besides being read (the cut-off line at a block's end).
 */
#include "line_stream.h"

#include <string.h>

#include "alloc.h"
#include "decimal.h"

enum { BEYOND_BYTES = 4096 };

status line_stream_open(byte_source *source, int64_t first, int64_t start, int64_t stop,
                        int64_t chunk, line_stream *out) {
  *out = (line_stream){.source = source, .chunk = chunk, .stop = stop, .capacity = chunk};
  out->skipping = start > first;
  out->position = out->skipping ? start - 1 : start;
  out->ended = start >= stop;
  return alloc_array(&out->buffer, chunk + DECIMAL_MARGIN + 1, 1, "text block");
}

void line_stream_close(line_stream *s) {
  alloc_free(&s->buffer);
  s->begin = s->filled = 0;
  s->ended = 1;
}

static status make_room(line_stream *s) {
  if (s->begin > 0) {
    memmove(s->buffer, s->buffer + s->begin, (size_t)(s->filled - s->begin));
    s->filled -= s->begin;
    s->begin = 0;
  }
  if (s->filled < s->capacity) return STATUS_OK;
  status rc =
      alloc_grow(&s->buffer, s->filled, 2 * s->capacity + DECIMAL_MARGIN + 1, 1, "text line");
  if (rc == STATUS_OK) s->capacity *= 2;
  return rc;
}

static void skip_first(line_stream *s, const char *newline) {
  s->begin = newline != NULL ? newline + 1 - s->buffer : s->filled;
  s->skipping = newline == NULL;
}

/* Reads once more into the buffer, or finds that nothing more belongs to us. */
static status read_more(line_stream *s) {
  status rc = make_room(s);
  if (rc != STATUS_OK) return rc;
  int64_t count = s->capacity - s->filled, got = 0;
  int beyond = s->position >= s->stop;
  if (beyond) {
    if (s->skipping || s->filled == s->begin || s->buffer[s->filled - 1] == '\n') {
      s->ended = 1;
      return STATUS_OK;
    }
    if (count > BEYOND_BYTES) count = BEYOND_BYTES;
  } else if (count > s->stop - s->position) {
    count = s->stop - s->position;
  }
  char *fresh = s->buffer + s->filled;
  rc = s->source->gzip ? byte_source_inflate(s->source, fresh, count, &got)
                       : byte_source_read(s->source, s->position, fresh, count, &got);
  if (rc != STATUS_OK) return rc;
  if (got < count) s->ended = 1;
  s->position += got;
  s->filled += got;
  const char *newline = beyond || s->skipping ? memchr(fresh, '\n', (size_t)got) : NULL;
  if (beyond && newline != NULL) {
    s->filled = newline + 1 - s->buffer;
    s->ended = 1;
  }
  if (s->skipping) skip_first(s, newline);
  return STATUS_OK;
}

static int64_t last_newline(const line_stream *s, int64_t from) {
  for (int64_t i = s->filled; i > from; i--) {
    if (s->buffer[i - 1] == '\n') return i;
  }
  return -1;
}

status line_stream_block(line_stream *s, char **text, int64_t *length) {
  int64_t end = last_newline(s, s->begin), seen = s->filled - s->begin;
  while (end < 0 && !s->ended) {
    status rc = read_more(s);
    if (rc != STATUS_OK) return rc;
    end = last_newline(s, s->begin + seen); /* what was seen before has none */
    seen = s->filled - s->begin;
  }
  if (end < 0) { /* the end of the file, and of a last line without '\n', if there is one */
    if (s->filled > s->begin) s->buffer[s->filled++] = '\n';
    end = s->filled;
  }
  *text = s->buffer + s->begin;
  *length = end - s->begin;
  s->begin = end;
  return STATUS_OK;
}

status line_stream_line(line_stream *s, int keep, char **text, int64_t *length) {
  int64_t begin = s->begin;
  const char *newline = memchr(s->buffer + begin, '\n', (size_t)(s->filled - begin));
  if (newline == NULL) {
    status rc = line_stream_block(s, text, length);
    if (rc != STATUS_OK || *length == 0) return rc;
    begin = *text - s->buffer;
    newline = memchr(*text, '\n', (size_t)*length);
  }
  *text = s->buffer + begin;
  *length = newline + 1 - *text;
  s->begin = keep ? begin : begin + *length;
  return STATUS_OK;
}
