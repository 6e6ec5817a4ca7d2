/* Cutting a streamed matrix into chunks (stream_plan.h): greedy, one pass to count and one to fill.
 * Cost O(elements). */
#include "stream_plan.h"

#include "alloc.h"

enum { PAGE = 4096 };

int64_t stream_buffer_bytes(int64_t memory) {
  const int64_t share = memory / STREAM_SHARE / PAGE * PAGE;
  return share < STREAM_LEAST ? STREAM_LEAST : share > STREAM_MOST ? STREAM_MOST : share;
}

int64_t stream_columns_at(const stream_chunk *c) {
  return (c->values * 8 + STREAM_ALIGN - 1) / STREAM_ALIGN * STREAM_ALIGN;
}

int64_t stream_chunk_bytes(const stream_chunk *c) { return stream_columns_at(c) + c->columns * 4; }

/* A chunk with one more element. */
static stream_chunk grown(const stream_chunk *c, const stream_extent *e) {
  stream_chunk with = *c;
  with.count++;
  if (e->values == 0 && e->columns == 0) return with;
  if (c->values == 0 && c->columns == 0) {
    with.value_at = e->value_at;
    with.column_at = e->column_at;
  }
  with.values = e->value_at + e->values - with.value_at;
  with.columns = e->column_at + e->columns - with.column_at;
  return with;
}

/* Bytes between a chunk's end and the element. */
static int64_t gap(const stream_chunk *c, const stream_extent *e) {
  if ((c->values == 0 && c->columns == 0) || (e->values == 0 && e->columns == 0)) return 0;
  return (e->value_at - c->value_at - c->values) * 8 +
         (e->column_at - c->column_at - c->columns) * 4;
}

/* `out` NULL: only counts. */
static lidx cut(const stream_extent *of, lidx count, int64_t room, stream_chunk *out) {
  lidx chunks = 0;
  stream_chunk open = {0};
  for (lidx i = 0; i < count; i++) {
    const stream_chunk with = grown(&open, &of[i]);
    if (open.count == 0 || (stream_chunk_bytes(&with) <= room && gap(&open, &of[i]) < STREAM_GAP)) {
      open = with;
      continue;
    }
    if (out != NULL) out[chunks] = open;
    chunks++;
    open = grown(&(stream_chunk){.first = i}, &of[i]);
  }
  if (open.count == 0) return chunks;
  if (out != NULL) out[chunks] = open;
  return chunks + 1;
}

status stream_cut(const stream_extent *of, lidx count, int64_t room, stream_chunk **out,
                  lidx *chunks) {
  status rc = STATUS_OK;
  for (lidx i = 0; i < count; i++) {
    const stream_chunk one = grown(&(stream_chunk){.first = i}, &of[i]);
    if (stream_chunk_bytes(&one) <= room) continue;
    return fail(STATUS_BUG, "stream_cut: element %d of %lld bytes in a buffer of %lld", i,
                (long long)stream_chunk_bytes(&one), (long long)room);
  }
  *chunks = cut(of, count, room, NULL);
  TRY(alloc_array(out, *chunks, sizeof **out, "chunks of the matrix"));
  cut(of, count, room, *out);
done:
  return rc;
}
