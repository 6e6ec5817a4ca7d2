/* matrix_read (matrix_io.h): text to entries, entries to owners, entries to rows. Peak memory a
 * rank is 24 bytes an entry of its share (deal_rows.c) and about 40 MiB of buffers. */
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "alloc.h"
#include "deal.h"
#include "fingerprint.h"
#include "log.h"
#include "reading.h"
#include "stored.h"
#include "team.h"
#include "text_parse.h"

/* Plain text: rows are known now. n numbers a row, or n + 1 with the right-hand side last; or one,
 * a vector. */
static status plain_shape(text_feed *feed, const text_totals *totals, int *with_rhs) {
  text_head *head = &feed->head;
  head->rows = totals->filled;
  *with_rhs = head->columns == head->rows + 1;
  if (head->columns == head->rows || head->columns == 1 || *with_rhs) return STATUS_OK;
  return fail(
      STATUS_INPUT,
      "%s: found %" PRId64 " rows of %" PRId64 " numbers, expected n rows of n numbers, or of "
      "n + 1 with the right-hand side last (a Matrix Market file begins with %%%%MatrixMarket)",
      feed->path, head->rows, head->columns);
}

static status own_rows(comm *c, const text_feed *feed, const entry_store *store, ownership *owned) {
  status rc = STATUS_OK;
  const gidx rows = feed->head.rows;
  const block_share share = ownership_share(rows, comm_rank(c), comm_size(c));
  int64_t *weight = NULL;
  if (rows / comm_size(c) > LIDX_MAX) {
    rc = fail(STATUS_UNAVAILABLE,
              "%s: %" PRId64 " rows on %d ranks, at most %d fit on one: use more", feed->path, rows,
              comm_size(c), LIDX_MAX);
  }
  TRY(comm_agree(c, rc));
  TRY(deal_weigh(c, store, feed->head.symmetry != TEXT_GENERAL, rows, share, &weight));
  TRY(ownership_by_weight(c, rows, share, weight, owned));
done:
  alloc_free(&weight);
  return rc;
}

/* Agrees on what the rows showed. Warnings have the same text on all ranks. */
static status judge_rows(comm *c, text_feed *feed, const text_totals *totals,
                         const row_facts *mine) {
  status rc = STATUS_OK, sums = STATUS_OK;
  int64_t least = mine->mixed_row >= 0 ? mine->mixed_row : INT64_MAX, other = INT64_MAX;
  int64_t duplicates = mine->duplicates;
  if (mine->beyond_row >= 0) {
    sums = fail(STATUS_INPUT,
                "%s: the duplicates of entry (%" PRId64 ", %" PRId64
                ") add up to more than a double holds",
                feed->path, mine->beyond_row + 1, mine->beyond_column + 1);
  }
  TRY(comm_min_i64(c, &least, 1));
  if (least != INT64_MAX) {
    if (mine->mixed_row == least) other = mine->mixed_column;
    TRY(comm_min_i64(c, &other, 1));
    fail_clear();
    rc = text_feed_reopen(feed);
    TRY(comm_agree(c, rc));
    TRY(text_conflict(feed, least, other));
  }
  TRY(comm_agree(c, sums));
  TRY(comm_sum_i64(c, &duplicates, 1));
  if (duplicates > 0) {
    log_warning("%s: %" PRId64 " entries repeat a position: added up in file order", feed->path,
                duplicates);
  }
  if (feed->head.symmetry != TEXT_GENERAL && totals->above > 0) {
    log_warning("%s: %" PRId64
                " entries of the symmetric file are above the diagonal: taken as the "
                "triangle that is stored",
                feed->path, totals->above);
  }
done:
  return rc;
}

/* Takes the last column, which is the right-hand side, out of the rows. Local. */
static status split_rhs(csr_rows *a, double **rhs) {
  status rc = alloc_zeroed(rhs, a->rows, sizeof **rhs, "right-hand side");
  if (rc != STATUS_OK) return rc;
  eidx kept = 0, at = 0;
  const gidx last = --a->global_columns;
  for (lidx i = 0; i < a->rows; i++) {
    for (const eidx end = a->offset[i + 1]; at < end; at++) {
      if (a->column[at] == last) {
        (*rhs)[i] = a->value[at];
      } else {
        a->column[kept] = a->column[at];
        a->value[kept++] = a->value[at];
      }
    }
    a->offset[i + 1] = kept;
  }
  return STATUS_OK;
}

typedef struct hashing {
  const csr_rows *a;
  atomic_llong zeros;
  atomic_ullong hash;
} hashing;

static void hash_part(void *context, int part, int64_t begin, int64_t end) {
  hashing *h = context;
  const csr_rows *a = h->a;
  int64_t zeros = 0;
  uint64_t hash = 0;
  (void)part;
  for (int64_t i = begin; i < end; i++) {
    const uint64_t row = fingerprint_mix((uint64_t)(a->first_row + i));
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      zeros += a->value[e] == 0.0;
      hash += entry_hash(row, a->column[e], a->value[e]);
    }
  }
  atomic_fetch_add(&h->zeros, zeros);
  atomic_fetch_add(&h->hash, hash);
}

rows_content rows_content_of(int threads, const csr_rows *a) {
  hashing h = {.a = a};
  atomic_init(&h.zeros, 0);
  atomic_init(&h.hash, 0);
  team_for(threads > 0 ? threads : 1, a->rows, hash_part, &h);
  return (rows_content){atomic_load(&h.zeros), atomic_load(&h.hash)};
}

status matrix_facts_gather(comm *c, const char *format, const csr_rows *a,
                           const rows_content *content, int64_t stored, int64_t expanded,
                           matrix_file *facts) {
  status rc = STATUS_OK;
  uint64_t hash = 0;
  int64_t sums[4] = {expanded, a->offset[a->rows], content->zeros, 0};
  memcpy(&sums[3], &content->hash, sizeof hash); /* two's complement sums are sums modulo 2^64 */
  TRY(comm_sum_i64(c, sums, 4));
  memcpy(&hash, &sums[3], sizeof hash);
  *facts = (matrix_file){.rows = a->global_rows,
                         .columns = a->global_columns,
                         .stored = stored,
                         .expanded = sums[0],
                         .merged = sums[1],
                         .explicit_zeros = sums[2],
                         .format = format,
                         .content = hash};
done:
  return rc;
}

status matrix_read_sized(comm *c, const char *path, const reading_sizes *sizes, csr_rows *out,
                         ownership *owned, matrix_file *facts, double **rhs) {
  status rc = STATUS_OK;
  text_feed feed;
  entry_store store = {0};
  text_totals totals;
  dealt arrived = {0};
  row_facts found;
  int with_rhs = 0;
  memset(out, 0, sizeof *out);
  memset(owned, 0, sizeof *owned);
  memset(facts, 0, sizeof *facts);
  *rhs = NULL;
  deal_prepare_memory();
  TRY(text_feed_open(c, path, sizes->chunk, &feed));
  store.keyed = feed.head.layout == TEXT_COORDINATE;
  store.words = sizes->words != 0 ? sizes->words : key_words(feed.head.rows, feed.head.columns);
  TRY(text_parse(&feed, 1, &store, &totals));
  text_feed_pause(&feed);
  if (feed.head.layout == TEXT_PLAIN) TRY(comm_agree(c, plain_shape(&feed, &totals, &with_rhs)));
  if (!store.keyed) {
    rc = deal_place(&store, &feed.head, -1, 0);
    TRY(comm_agree(c, rc));
  }
  TRY(own_rows(c, &feed, &store, owned));
  TRY(deal_send(c, &store, feed.head.symmetry, owned, sizes->round, feed.gzip, &arrived));
  int64_t expanded = arrived.entries;
  rc = deal_rows(&arrived, owned, feed.head.columns, out, &found);
  TRY(comm_agree(c, rc));
  TRY(judge_rows(c, &feed, &totals, &found));
  if (with_rhs) {
    rc = split_rhs(out, rhs);
    TRY(comm_agree(c, rc));
    expanded = out->offset[out->rows];
  }
  const rows_content content = rows_content_of(sizes->threads, out);
  TRY(matrix_facts_gather(c, text_head_format(&feed.head), out, &content, totals.entries, expanded,
                          facts));
done:
  text_feed_close(&feed);
  entry_store_release(&store);
  dealt_release(&arrived);
  if (rc != STATUS_OK) {
    csr_rows_release(out);
    ownership_release(owned);
    alloc_free(rhs);
  }
  return rc;
}

/* The shortest entry of a coordinate file is "1 1" and a line end, a dense file's a digit and a
 * blank; deflate packs at most 1032 to 1. Plain text promises nothing: a usual 8 bytes a number, a
 * usual 4 to 1. */
enum { ENTRY_BYTES = 4, NUMBER_BYTES = 2, DEFLATE_MOST = 1032, USUAL_BYTES = 8, USUAL_RATIO = 4 };

status matrix_look(comm *c, const char *path, matrix_promise *out) {
  status rc = STATUS_OK;
  text_feed feed;
  stored_kind kind;
  memset(out, 0, sizeof *out);
  memset(&feed, 0, sizeof feed);
  TRY(stored_recognise(c, path, &kind));
  if (kind != STORED_NOT) return stored_look(c, path, out);
  TRY(text_feed_open(c, path, reading_default().chunk, &feed));
  const text_head *head = &feed.head;
  const int64_t bytes = feed.size < INT64_MAX / DEFLATE_MOST ? feed.size : INT64_MAX / DEFLATE_MOST;
  if (head->layout == TEXT_PLAIN) {
    out->numbers = bytes * (feed.gzip ? USUAL_RATIO : 1) / USUAL_BYTES;
    goto done;
  }
  const int64_t each = head->layout == TEXT_COORDINATE ? ENTRY_BYTES : NUMBER_BYTES;
  int64_t most = bytes * (feed.gzip ? DEFLATE_MOST : 1) / each + 1;
  if (head->stored < most) most = head->stored;
  if (head->symmetry != TEXT_GENERAL) most *= 2;
  out->rows = head->rows;
  *(head->layout == TEXT_COORDINATE ? &out->entries : &out->numbers) = most;
done:
  text_feed_close(&feed);
  return rc;
}

status matrix_read(comm *c, const char *path, int threads, csr_rows *out, ownership *owned,
                   matrix_file *facts, double **rhs) {
  reading_sizes sizes = reading_default();
  sizes.threads = threads;
  stored_kind kind;
  memset(out, 0, sizeof *out);
  memset(owned, 0, sizeof *owned);
  memset(facts, 0, sizeof *facts);
  *rhs = NULL;
  status rc = stored_recognise(c, path, &kind);
  if (rc != STATUS_OK) return rc;
  return kind == STORED_NOT ? matrix_read_sized(c, path, &sizes, out, owned, facts, rhs)
                            : stored_matrix_read(c, path, threads, out, owned, facts, rhs);
}
