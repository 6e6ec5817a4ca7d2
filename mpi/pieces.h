/* MPI counts are int; ours are 64-bit. A transfer of `count` elements travels as pieces of at most
 * `limit`, in order, sender and receiver cutting alike. Positions are computed in 64 bits. */
#ifndef PIECES_H
#define PIECES_H

#include <stdint.h>

/* How many pieces: 0 for nothing. */
static inline int64_t pieces_number(int64_t count, int64_t limit) {
  return count / limit + (count % limit != 0);
}

/* Where piece k begins. */
static inline int64_t pieces_begin(int64_t k, int64_t limit) { return k * limit; }

/* How long piece k is: 0 past the last. */
static inline int pieces_length(int64_t count, int64_t k, int64_t limit) {
  if (k >= pieces_number(count, limit)) return 0;
  int64_t left = count - pieces_begin(k, limit);
  return (int)(left < limit ? left : limit);
}

#endif
