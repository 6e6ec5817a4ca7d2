/* What a collective call says on stderr, over all ranks: for tests of error texts and warnings. */
#ifndef CAPTURED_H
#define CAPTURED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm.h"

enum { CAPTURED_BYTES = 2048 };

typedef struct captured {
  int kept;   /* the real stderr */
  FILE *file; /* what stands in for it */
} captured;

static inline captured captured_begin(void) {
  captured s;
  fflush(stderr);
  s.kept = dup(2);
  s.file = tmpfile();
  if (s.file == NULL || s.kept < 0 || dup2(fileno(s.file), 2) < 0) abort();
  return s;
}

/* Collective. `text` (CAPTURED_BYTES) gets what all ranks said, in rank order. */
static inline void captured_end(captured *s, comm *c, char *text) {
  char mine[CAPTURED_BYTES] = "";
  const int size = comm_size(c);
  char *all = malloc((size_t)size * CAPTURED_BYTES);
  fflush(stderr);
  dup2(s->kept, 2);
  close(s->kept);
  rewind(s->file);
  mine[fread(mine, 1, sizeof mine - 1, s->file)] = '\0';
  fclose(s->file);
  if (all == NULL || comm_allgather(c, mine, all, sizeof mine) != STATUS_OK) abort();
  text[0] = '\0';
  for (int r = 0; r < size; r++) {
    strncat(text, all + (size_t)r * CAPTURED_BYTES, CAPTURED_BYTES - 1 - strlen(text));
  }
  free(all);
}

#endif
