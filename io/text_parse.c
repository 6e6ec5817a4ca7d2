/* The parallel part of parsing (text_parse.h). Ranks parse their segments without talking and then
 * settle: positions of entries and numbers of lines follow from prefix sums, and of all complaints
 * the one with the lowest line is made. A rank below the complaining one has finished its part, so
 * the sums that number the lowest bad line are right. Cost: three reductions of a word a segment.
 */
#include "text_parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decimal.h"

/* Where a segment begins. */
typedef struct segment_start {
  int64_t place; /* position of its first entry in the file */
  int64_t line;  /* number of its first line */
} segment_start;

static int64_t count_words(const char *at, int coordinate) {
  const char *word;
  int64_t count = 0;
  while (text_word(&at, &word) > 0 && *word != '%') count++;
  return coordinate && count > 1 ? 1 : count;
}

/* The line, counted from 0 at `text`, that holds entry number `index` (from 0); *index is lowered
 * by the entries met. -1 when it is not here; *lines then grows by the lines passed. */
static int64_t line_of_entry(const text_feed *f, const char *text, int64_t length, int64_t *index,
                             int64_t *lines) {
  for (const char *at = text, *end = text + length; at < end; ++*lines) {
    int64_t count = count_words(at, f->head.layout == TEXT_COORDINATE);
    if (*index < count) return *lines;
    *index -= count;
    at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
  }
  return -1;
}

/* The same for this rank's current segment: a gzip block is still there, a range is read again. */
static status find_entry(text_feed *f, const char *text, int64_t length, int64_t index,
                         int64_t *line) {
  status rc = STATUS_OK;
  int64_t lines = 0;
  char *again = NULL;
  *line = -1;
  if (f->gzip) {
    *line = line_of_entry(f, text, length, &index, &lines);
    return rc;
  }
  TRY(text_feed_rewind(f));
  while (*line < 0) {
    TRY(text_feed_next(f, &again, &length));
    if (length == 0) break;
    *line = line_of_entry(f, again, length, &index, &lines);
  }
done:
  return rc;
}

/* Fails on all ranks with the text of the rank whose `line` is lowest; INT64_MAX: no complaint. */
static status complain(const text_feed *f, int64_t line, const char *text) {
  int64_t lowest = line;
  status rc = comm_min_i64(f->c, &lowest, 1);
  if (rc != STATUS_OK || lowest == INT64_MAX) return rc;
  if (line == lowest) rc = fail(STATUS_INPUT, "%s:%" PRId64 ": %s", f->path, line, text);
  return comm_agree(f->c, rc);
}

/* Ends a segment on all ranks: agrees, numbers it, and complains about bad or surplus lines.
 * `place` is the position of the first entry of rank 0's segment. */
static status settle(text_parser *p, text_feed *f, status mine, const char *text, int64_t length,
                     segment_start start) {
  status rc = STATUS_OK;
  const int64_t stored = f->head.stored;
  char surplus[100];
  int64_t bad = INT64_MAX, lines = p->lines, place = p->entries;
  TRY(comm_agree(f->c, mine));
  TRY(comm_exscan_i64(f->c, &place));
  if (!f->gzip) {
    TRY(comm_exscan_i64(f->c, &lines));
    start.line += lines;
  }
  place += start.place;
  entry_store_place(p->store, place);
  if (p->bad) bad = start.line + p->lines;
  snprintf(surplus, sizeof surplus, "data after the last of %" PRId64 " entries", stored);
  if (stored >= 0 && place <= stored && place + p->entries + p->bad > stored) {
    snprintf(p->error, sizeof p->error, "%s", surplus);
    if (place + p->entries > stored) {
      int64_t line;
      mine = find_entry(f, text, length, stored - place, &line);
      bad = start.line + line;
    }
  } else if (stored >= 0 && place > stored && p->bad) {
    snprintf(p->error, sizeof p->error, "%s", surplus);
  }
  TRY(comm_agree(f->c, mine));
  TRY(complain(f, bad, p->error));
done:
  return rc;
}

static status parse_block(text_parser *p, const char *text, int64_t length) {
  return p->head->layout == TEXT_COORDINATE ? text_coordinate_block(p, text, text + length)
                                            : text_values_block(p, text, text + length);
}

static status parse_range(text_parser *p, text_feed *f) {
  status rc = STATUS_OK;
  char *text;
  int64_t length;
  TRY(entry_store_segment(p->store, f->size / 6));
  while (!p->bad) {
    TRY(text_feed_next(f, &text, &length));
    if (length == 0) break;
    TRY(parse_block(p, text, length));
  }
done:
  return rc;
}

static status parse_rounds(text_parser *p, text_feed *f) {
  status rc = STATUS_OK;
  segment_start start = {0, 0};
  int more = 1;
  for (;;) {
    char *text = NULL;
    int64_t length, sum;
    TRY(text_feed_round(f, &text, &length, &start.line, &more));
    if (!more) break;
    p->lines = p->entries = 0;
    status mine = entry_store_segment(p->store, length / 4);
    if (mine == STATUS_OK) mine = parse_block(p, text, length);
    TRY(settle(p, f, mine, text, length, start));
    sum = p->entries;
    TRY(comm_sum_i64(f->c, &sum, 1));
    start.place += sum;
  }
done:
  return rc;
}

status text_parse(text_feed *feed, int strict, entry_store *store, text_totals *totals) {
  status rc = STATUS_OK;
  text_parser parser = {.head = &feed->head, .store = store, .strict = strict};
  text_parser *p = &parser;
  int64_t sums[4];
  if (feed->gzip) {
    TRY(parse_rounds(p, feed));
  } else {
    segment_start start = {0, feed->head.data_line};
    rc = parse_range(p, feed);
    TRY(settle(p, feed, rc, NULL, 0, start));
  }
  sums[0] = 0;
  sums[1] = p->filled;
  sums[2] = p->above;
  sums[3] = p->uneven;
  for (const entry_chunk *chunk = store->first; chunk != NULL; chunk = chunk->next) {
    sums[0] += chunk->count;
  }
  TRY(comm_sum_i64(feed->c, sums, 4));
  *totals = (text_totals){sums[0], sums[1], sums[2], sums[3]};
  if (feed->head.stored >= 0 && totals->entries < feed->head.stored) {
    rc = fail(STATUS_INPUT, "%s:%" PRId64 ": expected %" PRId64 " entries, found %" PRId64,
              feed->path, feed->head.data_line - 1, feed->head.stored, totals->entries);
  }
  TRY(comm_agree(feed->c, rc));
done:
  return rc;
}

/* What the second reading looks for, and the lines found: of the entry and of its mirror. */
typedef struct pair_search {
  gidx row, column;
  int64_t line[2];
} pair_search;

static void search_block(pair_search *search, const char *text, int64_t length, int64_t *lines) {
  for (const char *at = text, *end = text + length; at < end; ++*lines) {
    const char *word;
    gidx row, column;
    text_word(&at, &word);
    if (decimal_index(word, &row) != NULL && text_word(&at, &word) > 0 &&
        decimal_index(word, &column) != NULL) {
      int mirror = row == search->column && column == search->row;
      if ((mirror || (row == search->row && column == search->column)) &&
          search->line[mirror] == INT64_MAX) {
        search->line[mirror] = *lines;
      }
    }
    at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
  }
}

/* All blocks of this rank, lines numbered from the start of the range (plain) or the file (gzip).
 */
static status search_all(text_feed *f, pair_search *search, int64_t *lines) {
  status rc = STATUS_OK;
  char *text;
  int64_t length, line;
  int more = 1;
  *lines = 0;
  for (;;) {
    if (f->gzip) {
      TRY(text_feed_round(f, &text, &length, &line, &more));
      if (!more) break;
      *lines = line;
    } else {
      TRY(text_feed_next(f, &text, &length));
      if (length == 0) break;
    }
    search_block(search, text, length, lines);
  }
done:
  return rc;
}

status text_conflict(text_feed *feed, gidx row, gidx column) {
  status rc = STATUS_OK;
  pair_search search = {row + 1, column + 1, {INT64_MAX, INT64_MAX}};
  int64_t lines, first[2];
  rc = search_all(feed, &search, &lines);
  TRY(comm_agree(feed->c, rc));
  int64_t before = lines;
  TRY(comm_exscan_i64(feed->c, &before));
  for (int i = 0; i < 2; i++) {
    if (!feed->gzip && search.line[i] != INT64_MAX) {
      search.line[i] += before + feed->head.data_line;
    }
    first[i] = search.line[i];
  }
  TRY(comm_min_i64(feed->c, first, 2));
  int later = first[1] > first[0];
  gidx here[2] = {later ? column + 1 : row + 1, later ? row + 1 : column + 1};
  rc = fail(STATUS_INPUT,
            "%s:%" PRId64 ": entry (%" PRId64 ", %" PRId64 "): its mirror (%" PRId64 ", %" PRId64
            ") is stored too, on line %" PRId64
            "; a symmetric or skew-symmetric file holds one triangle",
            feed->path, first[later], here[0], here[1], here[1], here[0], first[!later]);
  TRY(comm_agree(feed->c, rc));
done:
  return rc;
}
