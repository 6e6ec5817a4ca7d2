/* From text to entries: every line once, on the rank that got it. */
#ifndef TEXT_PARSE_H
#define TEXT_PARSE_H

#include "entry_store.h"
#include "text_feed.h"

/* The state of a rank's parser; the line loops of text_coordinate.c and text_values.c advance it.
 */
typedef struct text_parser {
  const text_head *head;
  entry_store *store;
  int strict;      /* plain text: every line must hold head->columns numbers */
  int64_t lines;   /* of this segment, done */
  int64_t entries; /* of this segment */
  int64_t filled;  /* lines that hold something, in all */
  int64_t above;   /* entries above the diagonal, in all */
  int64_t uneven;  /* lines with another count of numbers than head->columns, in all */
  int bad;         /* the line after `lines` is wrong, `error` says why */
  char error[400];
} text_parser;

/* What the whole file held; the same on all ranks. */
typedef struct text_totals {
  int64_t entries, filled, above, uneven;
} text_totals;

/* Parses whole lines; stops at the first bad one. Local. */
status text_coordinate_block(text_parser *p, const char *text, const char *end);
status text_values_block(text_parser *p, const char *text, const char *end);

/* Reads the rest of the feed into `store`, in segments whose places are known. `strict` as above.
 * Collective; a failure has been agreed, the lowest bad line named. */
status text_parse(text_feed *feed, int strict, entry_store *store, text_totals *totals);

/* Reads the file once more, for an entry that the matrix cannot hold together with its mirror:
 * fails with the line of the later one. Collective, agreed. */
status text_conflict(text_feed *feed, gidx row, gidx column);

#endif
