/* Dealing text out (text_feed.h). Memory: a chunk a rank; gzip: rank 0 holds one round besides. */
#include "text_feed.h"

#include <string.h>

#include "alloc.h"
#include "decimal.h"

enum { ROUND_BYTES = 1 << 24, LEAST_BLOCK = 1 << 14, MOST_BLOCK = 1 << 20 };

/* What rank 0 found, for everybody. */
typedef struct opening {
  text_head head;
  int64_t size;
  int32_t gzip;
  int32_t code;
} opening;

/* So that a round stays at 16 MiB on any number of ranks, and what a rank stages for its entries
 * too (deal.c): an entry of two bytes takes 16. */
static int64_t gzip_block(const text_feed *f) {
  int64_t block = ROUND_BYTES / comm_size(f->c);
  if (block > MOST_BLOCK) block = MOST_BLOCK;
  if (block < LEAST_BLOCK) block = LEAST_BLOCK;
  return block < f->chunk ? block : f->chunk;
}

static status open_range(text_feed *f) {
  const int64_t first = f->head.data_at, bytes = f->size - first;
  const int64_t rank = comm_rank(f->c), size = comm_size(f->c);
  const int64_t share = bytes / size, rest = bytes % size;
  int64_t start = first + share * rank + (rank < rest ? rank : rest);
  int64_t stop = start + share + (rank < rest);
  return line_stream_open(&f->source, first, start, stop, f->chunk, &f->lines);
}

static status open_head(text_feed *f, opening *found) {
  status rc = STATUS_OK;
  TRY(byte_source_open(f->path, &f->source));
  found->gzip = f->source.gzip;
  found->size = f->source.size;
  TRY(line_stream_open(&f->source, 0, 0, INT64_MAX, f->source.gzip ? gzip_block(f) : f->chunk,
                       &f->lines));
  TRY(text_head_read(&f->lines, f->path, &found->head));
done:
  return rc;
}

status text_feed_open(comm *c, const char *path, int64_t chunk, text_feed *out) {
  status rc = STATUS_OK;
  opening found;
  memset(&found, 0, sizeof found);
  *out = (text_feed){.c = c, .path = path, .chunk = chunk, .source = {.descriptor = -1}};
  if (comm_rank(c) == 0) rc = open_head(out, &found);
  TRY(comm_agree(c, rc));
  TRY(comm_broadcast(c, &found, sizeof found, 0));
  out->head = found.head;
  out->gzip = found.gzip;
  out->size = found.size;
  out->line = found.head.data_line;
  if (!out->gzip) {
    if (comm_rank(c) == 0) {
      line_stream_close(&out->lines);
    } else {
      rc = byte_source_open(path, &out->source);
    }
    if (rc == STATUS_OK) rc = open_range(out);
    TRY(comm_agree(c, rc));
  }
done:
  if (rc != STATUS_OK) text_feed_close(out);
  return rc;
}

status text_feed_reopen(text_feed *f) {
  status rc = STATUS_OK;
  text_feed_pause(f);
  if (!f->gzip) {
    TRY(byte_source_open(f->path, &f->source));
    TRY(open_range(f));
  } else if (comm_rank(f->c) == 0) {
    opening found;
    TRY(open_head(f, &found));
    f->line = found.head.data_line;
  }
done:
  return rc;
}

void text_feed_close(text_feed *f) { text_feed_pause(f); }

void text_feed_pause(text_feed *f) {
  line_stream_close(&f->lines);
  byte_source_close(&f->source);
  alloc_free(&f->block);
  alloc_free(&f->round);
  f->block_room = f->round_room = 0;
}

status text_feed_next(text_feed *f, char **text, int64_t *length) {
  return line_stream_block(&f->lines, text, length);
}

status text_feed_rewind(text_feed *f) {
  line_stream_close(&f->lines);
  return open_range(f);
}

static int64_t count_lines(const char *text, int64_t length) {
  int64_t lines = 0;
  const char *end = text + length, *at = text;
  while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
    lines++;
    at++;
  }
  return lines;
}

/* Room for `want` bytes in *buffer, of which `have` are kept. */
static status ensure(char **buffer, int64_t *room, int64_t have, int64_t want) {
  if (want <= *room) return STATUS_OK;
  int64_t more = want > 2 * *room ? want : 2 * *room;
  status rc = alloc_grow(buffer, have, more, 1, "gzip round");
  if (rc == STATUS_OK) *room = more;
  return rc;
}

/* Rank 0: cuts the blocks of a round off the stream. record: for each rank the length of its block
 * and the number of its first line. */
static status cut_round(text_feed *f, int64_t *record) {
  status rc = STATUS_OK;
  int64_t filled = 0;
  for (int r = 0; r < comm_size(f->c); r++) {
    char *text;
    int64_t length;
    TRY(line_stream_block(&f->lines, &text, &length));
    TRY(ensure(&f->round, &f->round_room, filled, filled + length));
    if (length > 0) memcpy(f->round + filled, text, (size_t)length);
    record[2 * r] = length;
    record[2 * r + 1] = f->line;
    f->line += count_lines(text, length);
    filled += length;
  }
done:
  return rc;
}

status text_feed_round(text_feed *f, char **text, int64_t *length, int64_t *line, int *more) {
  status rc = STATUS_OK;
  const int size = comm_size(f->c), rank = comm_rank(f->c);
  int64_t *record = NULL, *counts = NULL;
  *more = 0;
  *length = 0;
  rc = alloc_zeroed(&record, 2 * size, sizeof *record, "gzip round");
  if (rc == STATUS_OK) rc = alloc_zeroed(&counts, 4 * size, sizeof *counts, "gzip round");
  if (rc == STATUS_OK && rank == 0) rc = cut_round(f, record);
  TRY(comm_agree(f->c, rc));
  TRY(comm_broadcast(f->c, record, 2 * size * (int64_t)sizeof *record, 0));
  *length = record[2 * rank];
  *line = record[2 * rank + 1];
  *more = record[0] > 0;
  if (!*more) goto done;

  int64_t *send = counts, *send_at = counts + size, *take = counts + 2 * size,
          *take_at = counts + 3 * size;
  int64_t at = 0;
  for (int r = 0; r < size && rank == 0; r++) {
    send[r] = record[2 * r];
    send_at[r] = at;
    at += send[r];
  }
  take[0] = *length;
  rc = ensure(&f->block, &f->block_room, 0, *length + DECIMAL_MARGIN);
  TRY(comm_agree(f->c, rc));
  TRY(comm_exchange(f->c, f->round, send, send_at, f->block, take, take_at));
  *text = f->block;
done:
  alloc_free(&record);
  alloc_free(&counts);
  return rc;
}
