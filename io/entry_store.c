/* Chunks of entries (entry_store.h). A chunk's arrays are of half a mebibyte: the C library gives
 * such blocks back to the system when they are freed (deal.c asks it to). */
#include "entry_store.h"

enum { CHUNK_ENTRIES = 1 << 16 };

static status add_chunk(entry_store *s, int64_t room) {
  status rc = STATUS_OK;
  entry_chunk *chunk = NULL;
  if (room > CHUNK_ENTRIES) room = CHUNK_ENTRIES;
  TRY(alloc_zeroed(&chunk, 1, sizeof *chunk, "entries"));
  chunk->room = room;
  if (s->keyed) TRY(alloc_array(&chunk->key, room * s->words, sizeof *chunk->key, "entries"));
  TRY(alloc_array(&chunk->value, room, sizeof *chunk->value, "entries"));
  if (s->last != NULL) {
    s->last->next = chunk;
  } else {
    s->first = chunk;
  }
  s->last = chunk;
done:
  if (rc != STATUS_OK) entry_chunk_free(&chunk);
  return rc;
}

status entry_store_segment(entry_store *s, int64_t expected) {
  if (s->last != NULL) s->last->ends_segment = 1;
  status rc = add_chunk(s, expected + 1);
  s->segment = s->last;
  return rc;
}

status entry_store_room(entry_store *s) {
  if (s->last->count < s->last->room) return STATUS_OK;
  return add_chunk(s, CHUNK_ENTRIES);
}

void entry_store_place(entry_store *s, int64_t place) {
  for (entry_chunk *chunk = s->segment; chunk != NULL; chunk = chunk->next) {
    chunk->place = place;
    place += chunk->count;
  }
}

entry_chunk *entry_store_take(entry_store *s) {
  entry_chunk *chunk = s->first;
  if (chunk != NULL) s->first = chunk->next;
  if (s->first == NULL) s->last = s->segment = NULL;
  return chunk;
}

void entry_chunk_free(entry_chunk **chunk) {
  if (*chunk == NULL) return;
  alloc_free(&(*chunk)->key);
  alloc_free(&(*chunk)->value);
  alloc_free(chunk);
}

void entry_store_release(entry_store *s) {
  for (entry_chunk *chunk; (chunk = entry_store_take(s)) != NULL;) entry_chunk_free(&chunk);
}
