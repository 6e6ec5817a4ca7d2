/* A block may lie on several ranks. Each rank runs over its own elements once; the piece at its
 * start, where that is not the start of a block, is moved to its place in the block and handed to
 * all (16 bytes per rank), and whoever holds the block's first element adds the pieces up: CRCs are
 * linear. Cost: one pass over the data, one small allgather. */
#include "checkpoint_blocks.h"

#include "alloc.h"
#include "crc32c.h"
#include "fingerprint.h"

int64_t block_sums_count(int64_t length) { return (length + CHECKSUM_BLOCK - 1) / CHECKSUM_BLOCK; }

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Elements [begin, end) of block `block`, moved to their place in it. */
static uint32_t piece(const block_span *span, size_t size, const char *data, int64_t block,
                      int64_t begin, int64_t end) {
  const int64_t last = smaller((block + 1) * CHECKSUM_BLOCK, span->length);
  const uint32_t run =
      crc32c_run(0, data + (begin - span->first) * (int64_t)size, (size_t)(end - begin) * size);
  return crc32c_shift(run, (uint64_t)(last - end) * size);
}

typedef struct head_piece {
  int64_t block; /* -1: none */
  int64_t crc;
} head_piece;

static void add_pieces(comm *c, const head_piece *all, block_sums *b) {
  for (int r = 0; r < comm_size(c); r++) {
    const int64_t at = all[r].block - b->span.first;
    if (all[r].block >= 0 && at >= 0 && at < b->span.count) b->sum[at] ^= all[r].crc;
  }
}

status block_sums_make(comm *c, const block_span *span, size_t size, const void *data,
                       block_sums *out) {
  status rc = STATUS_OK;
  const int64_t end = span->first + span->count;
  const int64_t first = block_sums_count(span->first), last = block_sums_count(end);
  head_piece mine = {-1, 0}, *all = NULL;
  *out = (block_sums){.span = {.length = block_sums_count(span->length),
                               .first = first,
                               .count = span->count == 0 ? 0 : last - first}};
  if (span->count > 0 && span->first % CHECKSUM_BLOCK != 0) {
    mine.block = first - 1;
    mine.crc =
        piece(span, size, data, mine.block, span->first, smaller(first * CHECKSUM_BLOCK, end));
  }
  rc = alloc_array(&out->sum, out->span.count, sizeof *out->sum, "checksums");
  if (rc == STATUS_OK) rc = alloc_array(&all, comm_size(c), sizeof *all, "checksums");
  for (int64_t k = 0; rc == STATUS_OK && k < out->span.count; k++) {
    const int64_t begin = (first + k) * CHECKSUM_BLOCK;
    out->sum[k] = piece(span, size, data, first + k, begin, smaller(begin + CHECKSUM_BLOCK, end));
  }
  TRY(comm_agree(c, rc));
  TRY(comm_allgather(c, &mine, all, sizeof mine));
  add_pieces(c, all, out);
  for (int64_t k = 0; k < out->span.count; k++) {
    const int64_t begin = (first + k) * CHECKSUM_BLOCK;
    const int64_t length = smaller(begin + CHECKSUM_BLOCK, span->length) - begin;
    out->sum[k] = crc32c_close((uint32_t)out->sum[k], (uint64_t)length * size);
  }
done:
  alloc_free(&all);
  if (rc != STATUS_OK) block_sums_release(out);
  return rc;
}

void block_sums_release(block_sums *b) { alloc_free(&b->sum); }

uint64_t block_sums_seal(const block_sums *b, uint64_t array) {
  uint64_t seal = 0;
  for (int64_t k = 0; k < b->span.count; k++) {
    const uint64_t place = fingerprint_mix(array ^ (uint64_t)(b->span.first + k));
    seal += fingerprint_mix(place ^ (uint64_t)b->sum[k]);
  }
  return seal;
}
