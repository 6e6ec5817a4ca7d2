/* matrix_io.h with the sizes of its steps as parameters: for tests, where boundaries shall fall
 * everywhere, and for measurements. */
#ifndef READING_H
#define READING_H

#include "fingerprint.h"
#include "matrix_io.h"

typedef struct reading_sizes {
  int64_t chunk; /* bytes of text read at a time */
  int64_t round; /* bytes of entries a rank sends in a round */
  int words;     /* of a key (entry_store.h); 0: as the sizes ask */
  int threads;   /* that hash; 0: one */
} reading_sizes;

status matrix_read_sized(comm *c, const char *path, const reading_sizes *sizes, csr_rows *out,
                         ownership *owned, matrix_file *facts, double **rhs);
status vector_read_sized(comm *c, const char *path, const reading_sizes *sizes,
                         const ownership *owned, int64_t column, double **values, int64_t *columns);

/* Explicit zeros and the hash of this rank's rows. Local. */
typedef struct rows_content {
  int64_t zeros;
  uint64_t hash;
} rows_content;
rows_content rows_content_of(int threads, const csr_rows *a);

/* The hash of an entry, to be added modulo 2^64; `row`: fingerprint_mix of its global row. */
static inline uint64_t entry_hash(uint64_t row, gidx column, double value) {
  return fingerprint_mix(fingerprint_mix(row ^ (uint64_t)column) ^ bits_of(value));
}

/* The facts of rows that are there. Collective. */
status matrix_facts_gather(comm *c, const char *format, const csr_rows *a,
                           const rows_content *content, int64_t stored, int64_t expanded,
                           matrix_file *facts);

/* 4 MiB of text (fits a second-level cache not, a third-level one well; far above any stripe), and
 * rounds of 16 MiB. */
static inline reading_sizes reading_default(void) {
  return (reading_sizes){(int64_t)1 << 22, (int64_t)1 << 24, 0, 1};
}

#endif
