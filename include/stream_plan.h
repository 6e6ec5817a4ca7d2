/* A matrix that does not fit into the device's memory travels there anew in each pass, in chunks of
 * tiles (and of parts of long rows) through two buffers: while one is worked on, the other is
 * filled. Here is the arithmetic of that: how large a buffer is, and where the chunks end.
 *
 * A chunk is a run of a list's elements, in the list's order; what it needs of values and columns
 * is one range of each, copied at once: values first, columns from stream_columns_at() on. A chunk
 * ends where the buffer would overflow, and before a gap (elements of another list) that would cost
 * more to copy than to leave out. Local. */
#ifndef STREAM_PLAN_H
#define STREAM_PLAN_H

#include "index.h"

enum {
  STREAM_BUFFERS = 2,
  STREAM_LEAST = 256 * 1024,      /* a tile: 256 rows of 64 entries are 192 KiB */
  STREAM_MOST = 32 * 1024 * 1024, /* 0.6 ms of copying: its start costs 1 % of that */
  STREAM_SHARE = 16,              /* a buffer's part of the memory */
  STREAM_GAP = 64 * 1024,         /* bytes copied in the time a copy takes to start */
  STREAM_ALIGN = 64
};

/* What an element needs: ranges of the arrays of values and of columns. */
typedef struct stream_extent {
  eidx value_at, column_at;
  lidx values, columns;
} stream_extent;

typedef struct stream_chunk {
  lidx first, count; /* elements of the list */
  eidx value_at, column_at;
  int64_t values, columns;
} stream_chunk;

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of each buffer where the device may hold `memory` bytes. */
int64_t stream_buffer_bytes(int64_t memory);

/* Where a chunk's columns start in a buffer, and how much of it is used, in bytes. */
int64_t stream_columns_at(const stream_chunk *c);
int64_t stream_chunk_bytes(const stream_chunk *c);

/* Cuts a list whose extents do not fall; `room`, of a buffer, holds any one of them (else
 * STATUS_BUG). *out is the caller's to free. */
status stream_cut(const stream_extent *of, lidx count, int64_t room, stream_chunk **out,
                  lidx *chunks);

#ifdef __cplusplus
}
#endif

#endif
