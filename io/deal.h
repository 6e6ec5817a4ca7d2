/* Entries travel to the owners of their rows, in rounds of at most 16 MiB a rank, and become rows
 * there. What arrives is kept apart by source and round, so that its file order can be had again:
 * duplicates are added in that order, with the same bits on any number of ranks. */
#ifndef DEAL_H
#define DEAL_H

#include "csr.h"
#include "entry_store.h"
#include "ownership.h"
#include "text_head.h"

/* What one round brought; offset[r] is where the entries from rank r begin. */
typedef struct deal_round {
  uint64_t *key;
  double *value;
  int64_t *offset; /* [size + 1] */
} deal_round;

typedef struct dealt {
  int words;
  int size;     /* ranks */
  int by_round; /* file order is round by round (gzip), else rank by rank */
  int64_t rounds, room;
  int64_t entries;
  deal_round *round;
} dealt;

/* One piece of what arrived; pieces 0 .. size * rounds - 1 in turn are in file order. */
typedef struct deal_piece {
  const uint64_t *key;
  const double *value;
  int64_t count;
} deal_piece;

/* Gives values that came without keys their rows and columns (head: layout, symmetry, sizes). Zeros
 * are dropped unless `zeros`; only column `only` is kept, -1: all. Local. */
status deal_place(entry_store *store, const text_head *head, gidx only, int zeros);

/* Counts the entries of all ranks, mirrored ones too, in each row block of this rank's share of the
 * blocks (ownership_share). *weight is the caller's to free. Collective; a failure has been agreed.
 */
status deal_weigh(comm *c, const entry_store *store, int mirrors, gidx rows, block_share share,
                  int64_t **weight);

/* Sends everything in `store`, which is left empty. Collective; a failure has been agreed. */
status deal_send(comm *c, entry_store *store, text_symmetry symmetry, const ownership *owned,
                 int64_t round_bytes, int by_round, dealt *out);
void dealt_release(dealt *d);

deal_piece deal_piece_at(const dealt *d, int64_t index);

/* What becomes of duplicates. */
typedef struct row_facts {
  int64_t duplicates;             /* entries added to one before them, without mirrored ones */
  gidx mixed_row, mixed_column;   /* an entry stored with its mirror: the least; row -1: none */
  gidx beyond_row, beyond_column; /* duplicates whose sum is not finite; row -1: none */
} row_facts;

/* Sorts each row by column, file order kept, and adds duplicates. Local. */
status rows_tidy(csr_rows *a, row_facts *facts);

/* Makes rows of what arrived and frees it. Local. */
status deal_rows(dealt *d, const ownership *owned, gidx columns, csr_rows *out, row_facts *facts);

/* Asks the C library to give large blocks back to the system as soon as they are freed: the reader
 * frees entries while it asks for matrix arrays of the same size. */
void deal_prepare_memory(void);

#endif
