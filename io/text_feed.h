/* A text file dealt out to all ranks in blocks of whole lines. A plain file: each rank reads its
 * own byte range, nobody talks. A gzip file cannot be split: rank 0 inflates it as a stream and
 * deals the blocks out in rounds of at most 16 MiB.
 *
 * A segment is what a rank gets in one piece of the file's order: its whole range of a plain file
 * (so file order is rank by rank), or one block of a gzip file (file order is round by round, rank
 * by rank within a round). */
#ifndef TEXT_FEED_H
#define TEXT_FEED_H

#include "comm.h"
#include "text_head.h"

typedef struct text_feed {
  comm *c;
  const char *path;
  text_head head; /* the same on all ranks */
  int gzip;       /* the same on all ranks */
  int64_t size;
  int64_t chunk;
  byte_source source; /* gzip: open on rank 0 only */
  line_stream lines;
  char *block; /* gzip: this rank's block of the round */
  int64_t block_room;
  char *round; /* gzip, rank 0: the blocks of a round */
  int64_t round_room;
  int64_t line; /* gzip, rank 0: number of the next line to deal out */
} text_feed;

/* Opens the file and reads its head. Collective; a failure has been agreed. `chunk`: bytes read at
 * a time. */
status text_feed_open(comm *c, const char *path, int64_t chunk, text_feed *out);
void text_feed_close(text_feed *f);

/* Frees the buffers and closes the file; and opens it anew, at its first data line. The second is
 * local for plain files; gzip files are read by rank 0 alone. */
void text_feed_pause(text_feed *f);
status text_feed_reopen(text_feed *f);

/* Plain files: the next block of this rank's range, *length 0 at its end. Local. */
status text_feed_next(text_feed *f, char **text, int64_t *length);

/* Plain files: back to the start of the range. Local. */
status text_feed_rewind(text_feed *f);

/* gzip: the next round: this rank's block (*length may be 0) and the number of its first line;
 * *more is 0 (on all ranks) when the stream was at its end. Collective; a failure has been agreed.
 */
status text_feed_round(text_feed *f, char **text, int64_t *length, int64_t *line, int *more);

#endif
