/* Parsed entries of one rank in file order, in chunks of a mebibyte that are given up one by one as
 * their entries travel to their owners.
 *
 * An entry is a key (row and column, from 0) and a value. Keys take one word while rows and columns
 * are below 2^31, two above. Values of dense files come without keys: their place follows from how
 * many came before, which is known once all ranks have counted (entry_store_place). Local. */
#ifndef ENTRY_STORE_H
#define ENTRY_STORE_H

#include "alloc.h"
#include "index.h"

typedef struct entry_chunk entry_chunk;
struct entry_chunk {
  entry_chunk *next;
  int64_t count, room;
  int64_t place;    /* the first entry's position in the whole file, from 0 */
  int ends_segment; /* text_feed.h */
  uint64_t *key;    /* [room * words]; NULL: values only */
  double *value;    /* [room] */
};

typedef struct entry_store {
  int words; /* of a key: 1 or 2 */
  int keyed;
  entry_chunk *first, *last;
  entry_chunk *segment; /* the current segment's first chunk */
} entry_store;

/* Begins a segment of about `expected` entries. */
status entry_store_segment(entry_store *s, int64_t expected);

/* Makes sure that the last chunk has room for one more. */
status entry_store_room(entry_store *s);

/* The current segment starts at position `place` of the file: numbers its chunks. */
void entry_store_place(entry_store *s, int64_t place);

/* Takes the first chunk out; NULL when there is none. Free it with entry_chunk_free. */
entry_chunk *entry_store_take(entry_store *s);
void entry_chunk_free(entry_chunk **chunk);

void entry_store_release(entry_store *s);

/* Keys. `mirrored` marks an entry made from one on the other side of the diagonal. */
static inline int key_words(gidx rows, gidx columns) {
  return rows <= (gidx)1 << 31 && columns <= (gidx)1 << 31 ? 1 : 2;
}

static inline void key_put(uint64_t *key, int words, gidx row, gidx column, int mirrored) {
  if (words == 1) {
    key[0] = (uint64_t)row << 32 | (uint64_t)mirrored << 31 | (uint64_t)column;
  } else {
    key[0] = (uint64_t)row;
    key[1] = (uint64_t)mirrored << 63 | (uint64_t)column;
  }
}

static inline gidx key_row(const uint64_t *key, int words) {
  return words == 1 ? (gidx)(key[0] >> 32) : (gidx)key[0];
}

static inline gidx key_column(const uint64_t *key, int words) {
  return words == 1 ? (gidx)(key[0] & 0x7fffffff) : (gidx)(key[1] & INT64_MAX);
}

static inline int key_mirrored(const uint64_t *key, int words) {
  return words == 1 ? (int)(key[0] >> 31 & 1) : (int)(key[1] >> 63);
}

#endif
