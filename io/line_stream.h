/* Whole lines of a range of a file, or of a gzip stream, block by block. A line belongs to the
 * range its first byte is in. Lines may be of any length: the buffer grows to hold the longest.
 * Local. */
#ifndef LINE_STREAM_H
#define LINE_STREAM_H

#include "byte_source.h"

typedef struct line_stream {
  byte_source *source;
  char *buffer;
  int64_t capacity; /* without the margin behind it */
  int64_t begin;    /* buffer[begin, filled): read, not handed out yet */
  int64_t filled;
  int64_t chunk;    /* bytes asked of the file at a time */
  int64_t position; /* of the next byte to read */
  int64_t stop;     /* lines that start here belong to someone else */
  int skipping;     /* the range starts in the middle of someone else's line */
  int ended;
} line_stream;

/* Lines that start in [start, stop) of a plain file, where `first` is a line start at or before
 * `start`; of a gzip source the whole stream (start = first = 0, stop = INT64_MAX). */
status line_stream_open(byte_source *source, int64_t first, int64_t start, int64_t stop,
                        int64_t chunk, line_stream *out);
void line_stream_close(line_stream *s);

/* Hands out text[0, length): whole lines, at least one, every one ended by '\n' (added at the end
 * of the file), DECIMAL_MARGIN bytes readable behind. length 0 at the end. The text stays until the
 * next call. */
status line_stream_block(line_stream *s, char **text, int64_t *length);

/* The same, one line; `keep` != 0 leaves it there to be handed out again. */
status line_stream_line(line_stream *s, int keep, char **text, int64_t *length);

#endif
