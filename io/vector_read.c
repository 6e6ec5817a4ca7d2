/* vector_read (matrix_io.h): the same way as a matrix, but only the entries of one column travel,
 * to owners that are given. */
#include <inttypes.h>
#include <string.h>

#include "alloc.h"
#include "deal.h"
#include "reading.h"
#include "stored.h"
#include "text_parse.h"

/* Plain text is rows of columns when it has as many lines as rows are expected, else one column
 * with any number of values on a line. */
static status plain_shape(text_feed *feed, const text_totals *totals, gidx rows) {
  text_head *head = &feed->head;
  const gidx lines = totals->filled, width = head->columns;
  head->rows = lines;
  if (totals->uneven == 0 && lines == rows) return STATUS_OK;
  if (totals->uneven > 0 || width > 1) {
    head->rows = totals->entries;
    head->columns = 1;
    if (totals->entries == rows) return STATUS_OK;
  }
  return fail(STATUS_INPUT,
              "%s: found %" PRId64 " numbers on %" PRId64 " lines, expected %" PRId64
              " (one for each row)",
              feed->path, totals->entries, lines, rows);
}

static status check_shape(const text_feed *feed, gidx rows, int64_t column) {
  const text_head *head = &feed->head;
  if (head->rows != rows) {
    return fail(STATUS_INPUT, "%s: a vector of length %" PRId64 ", expected length %" PRId64,
                feed->path, head->rows, rows);
  }
  if (head->symmetry != TEXT_GENERAL && rows > 1) {
    return fail(STATUS_INPUT, "%s: a %s is no vector", feed->path, text_head_format(head));
  }
  if (column < 0 || column >= head->columns) {
    return fail(STATUS_INPUT, "%s: has %" PRId64 " column%s, and column %" PRId64 " was asked for",
                feed->path, head->columns, head->columns == 1 ? "" : "s", column + 1);
  }
  return STATUS_OK;
}

static void keep_column(entry_store *store, gidx only) {
  const int words = store->words;
  for (entry_chunk *chunk = store->first; chunk != NULL; chunk = chunk->next) {
    int64_t kept = 0;
    for (int64_t i = 0; i < chunk->count; i++) {
      if (key_column(chunk->key + i * words, words) != only) continue;
      memmove(chunk->key + kept * words, chunk->key + i * words, (size_t)words * sizeof(uint64_t));
      chunk->value[kept++] = chunk->value[i];
    }
    chunk->count = kept;
  }
}

/* Dense files say each value once, and -0 shall stay -0; coordinate files may repeat. */
static status fill(const char *path, const dealt *d, const ownership *owned, int adds,
                   double *values) {
  const gidx begin = ownership_begin(owned), end = ownership_end(owned);
  for (int64_t p = 0; p < d->size * d->rounds; p++) {
    deal_piece piece = deal_piece_at(d, p);
    for (int64_t i = 0; i < piece.count; i++) {
      double *to = values + (key_row(piece.key + i * d->words, d->words) - begin);
      *to = adds ? *to + piece.value[i] : piece.value[i];
    }
  }
  for (gidx gi = begin; gi < end; gi++) {
    double value = values[gi - begin];
    if (value - value != 0.0) {
      return fail(STATUS_INPUT,
                  "%s: the duplicates of entry %" PRId64 " add up to more than a double holds",
                  path, gi + 1);
    }
  }
  return STATUS_OK;
}

status vector_read_sized(comm *c, const char *path, const reading_sizes *sizes,
                         const ownership *owned, int64_t column, double **values,
                         int64_t *columns) {
  status rc = STATUS_OK;
  text_feed feed;
  entry_store store = {0};
  text_totals totals;
  dealt arrived = {0};
  *values = NULL;
  deal_prepare_memory();
  TRY(text_feed_open(c, path, sizes->chunk, &feed));
  if (feed.head.layout != TEXT_PLAIN) {
    TRY(comm_agree(c, check_shape(&feed, owned->rows, column)));
  }
  store.keyed = feed.head.layout == TEXT_COORDINATE;
  store.words = sizes->words != 0 ? sizes->words : key_words(feed.head.rows, feed.head.columns);
  TRY(text_parse(&feed, 0, &store, &totals));
  text_feed_pause(&feed);
  if (feed.head.layout == TEXT_PLAIN) {
    rc = plain_shape(&feed, &totals, owned->rows);
    if (rc == STATUS_OK) rc = check_shape(&feed, owned->rows, column);
    TRY(comm_agree(c, rc));
  }
  if (store.keyed) {
    keep_column(&store, column);
  } else {
    rc = deal_place(&store, &feed.head, column, 1);
  }
  TRY(comm_agree(c, rc));
  TRY(deal_send(c, &store, TEXT_GENERAL, owned, sizes->round, feed.gzip, &arrived));
  rc = alloc_zeroed(values, ownership_end(owned) - ownership_begin(owned), sizeof **values,
                    "vector");
  if (rc == STATUS_OK) {
    rc = fill(path, &arrived, owned, feed.head.layout == TEXT_COORDINATE, *values);
  }
  TRY(comm_agree(c, rc));
  if (columns != NULL) *columns = feed.head.columns;
done:
  text_feed_close(&feed);
  entry_store_release(&store);
  dealt_release(&arrived);
  if (rc != STATUS_OK) alloc_free(values);
  return rc;
}

status vector_read(comm *c, const char *path, const ownership *owned, int64_t column,
                   double **values, int64_t *columns) {
  const reading_sizes sizes = reading_default();
  stored_kind kind;
  *values = NULL;
  status rc = stored_recognise(c, path, &kind);
  if (rc != STATUS_OK) return rc;
  return kind == STORED_NOT ? vector_read_sized(c, path, &sizes, owned, column, values, columns)
                            : stored_vector_read(c, path, owned, column, values, columns);
}
