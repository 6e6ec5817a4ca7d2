/* Entries of a stored matrix in one go: read, checked, looked at for order and hashed by blocks of
 * rows that stay in the cache, the blocks shared among threads. Per entry 16 bytes are written once
 * and nothing is read twice from memory. Where a file's arrays are not plain (chunks, filters,
 * other types), HDF5 reads them before, on one thread, and the rest is the same. What is wrong is
 * only noticed here: the caller finds it again, first one first, and says so. */
#include <stdatomic.h>
#include <string.h>

#include "alloc.h"
#include "big_endian.h"
#include "fingerprint.h"
#include "stored.h"
#include "team.h"

enum {
  BLOCK = 1 << 13, /* entries: 128 KiB, and 64 KiB of marks */
  WIDE = 8         /* marks written at a time */
};

typedef struct scanning {
  stored_file *f;
  const csr_rows *a;
  int64_t first;  /* number in the file of entry 0 */
  int raw;        /* read here */
  uint64_t *mark; /* [threads (BLOCK + WIDE)] of the rows of a block's entries */
  atomic_llong zeros;
  atomic_ullong hash;
  atomic_int wrong, disordered;
} scanning;

/* What a thread has found. */
typedef struct findings {
  int64_t zeros;
  uint64_t hash;
  int wrong, disordered;
} findings;

static int read_all(const stored_file *f, int64_t at, void *to, int64_t bytes) {
  int64_t got = 0;
  byte_source one = f->source; /* a descriptor and no state: ranges may be read side by side */
  return byte_source_read(&one, at, to, bytes, &got) == STATUS_OK && got == bytes;
}

/* Words of a block, big endian, in place: the last first where they grow. */
static void widen(void *words, int64_t count, int width) {
  const unsigned char *from = words;
  int64_t *to = words;
  for (int64_t i = count - 1; i >= 0; i--) {
    const int64_t word = big_endian_signed(from + i * width, width);
    memcpy(to + i, &word, sizeof word);
  }
}

/* Entries [begin, end) of this rank. */
static int read_block(const scanning *s, eidx begin, eidx end) {
  const stored_file *f = s->f;
  const int64_t count = end - begin, at = s->first + begin;
  gidx *column = s->a->column + begin;
  double *value = s->a->value + begin;
  if (!read_all(f, f->columns_at + at * f->width, column, count * f->width) ||
      !read_all(f, f->values_at + at * 8, value, count * 8)) {
    return 0;
  }
  if (f->kind == STORED_PETSC) {
    widen(column, count, f->width);
    widen(value, count, 8);
  }
  return 1;
}

/* Entries [begin, end), one after the other, whatever their rows: mark[k] is that of entry begin +
 * k's row, a different one for each row. A loop without branches, several entries at a time. */
static void look_at_entries(const scanning *s, eidx begin, eidx end, const uint64_t *mark,
                            findings *found) {
  const gidx columns = s->f->columns, *column = s->a->column + begin;
  const double *value = s->a->value + begin;
  const int64_t count = end - begin;
  int64_t zeros = 0, wrong = 0, disordered = 0;
  uint64_t hash = 0;
  for (int64_t k = 0; k < count; k++) {
    wrong |= (column[k] < 0) | (column[k] >= columns) | (value[k] - value[k] != 0.0);
    zeros += value[k] == 0.0;
    hash += entry_hash(mark[k], column[k], value[k]);
  }
  for (int64_t k = 1; k < count; k++) {
    disordered |= (mark[k] == mark[k - 1]) & (column[k] <= column[k - 1]);
  }
  found->zeros += zeros;
  found->hash += hash;
  found->wrong |= wrong != 0;
  found->disordered |= disordered != 0;
}

/* The mark of row i `count` times, and up to WIDE - 1 times more. */
static void mark_row(const scanning *s, lidx i, int64_t count, uint64_t *mark) {
  const uint64_t row = fingerprint_mix((uint64_t)(s->a->first_row + i));
  for (int64_t k = 0; k < count; k += WIDE) {
    for (int u = 0; u < WIDE; u++) mark[k + u] = row;
  }
}

/* Rows [from, to): BLOCK entries at most, or one row. */
static void look_at_rows(const scanning *s, lidx from, lidx to, uint64_t *mark, findings *found) {
  const eidx *offset = s->a->offset, begin = offset[from], end = offset[to];
  const gidx *column = s->a->column;
  if (end - begin > BLOCK) {
    mark_row(s, from, BLOCK, mark);
    for (eidx e = begin; e < end; e += BLOCK) {
      look_at_entries(s, e, end - e < BLOCK ? end : e + BLOCK, mark, found);
      if (e > begin) found->disordered |= column[e] <= column[e - 1];
    }
    return;
  }
  for (lidx i = from; i < to; i++) {
    mark_row(s, i, offset[i + 1] - offset[i], mark + (offset[i] - begin));
  }
  look_at_entries(s, begin, end, mark, found);
}

static void scan_part(void *context, int part, int64_t begin, int64_t end) {
  scanning *s = context;
  const csr_rows *a = s->a;
  findings found = {0, 0, 0, 0};
  for (int64_t i = begin, to; i < end && !found.wrong; i = to) {
    for (to = i + 1; to < end && a->offset[to + 1] - a->offset[i] <= BLOCK;) to++;
    if (s->raw && !read_block(s, a->offset[i], a->offset[to])) {
      found.wrong = 1;
    } else {
      look_at_rows(s, (lidx)i, (lidx)to, s->mark + (int64_t)part * (BLOCK + WIDE), &found);
    }
  }
  atomic_fetch_add(&s->zeros, found.zeros);
  atomic_fetch_add(&s->hash, found.hash);
  if (found.wrong) atomic_store(&s->wrong, 1);
  if (found.disordered) atomic_store(&s->disordered, 1);
}

status stored_scan(stored_file *f, int threads, int64_t first, const csr_rows *a,
                   stored_found *out) {
  status rc = STATUS_OK;
  const int64_t entries = a->offset[a->rows];
  scanning s = {.f = f, .a = a, .first = first, .raw = f->columns_at > 0 && f->values_at > 0};
  atomic_init(&s.zeros, 0);
  atomic_init(&s.hash, 0);
  atomic_init(&s.wrong, 0);
  atomic_init(&s.disordered, 0);
  TRY(alloc_array(&s.mark, (int64_t)threads * (BLOCK + WIDE), sizeof *s.mark, "marks of rows"));
  if (!s.raw) TRY(stored_entries(f, first, entries, a->column, a->value));
  team_for(threads, a->rows, scan_part, &s);
  fail_clear(); /* what a read said on some thread is said again */
  if (atomic_load(&s.wrong)) TRY(stored_entries(f, first, entries, a->column, a->value));
  *out = (stored_found){.ordered = !atomic_load(&s.disordered) && !atomic_load(&s.wrong),
                        .content = {atomic_load(&s.zeros), atomic_load(&s.hash)}};
done:
  alloc_free(&s.mark);
  return rc;
}
