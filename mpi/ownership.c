/* Cutting rows into runs of about equal weight (ownership.h).
 *
 * With P(b) the weight of all blocks before b and W the whole weight, rank r begins at the block
 * boundary whose P is nearest to r W / size (the lower one on a tie). The boundaries ascend because
 * the targets do; a rank gets at most its fair share plus half a block at either end. Compared as
 * integers in 128 bits, so every rank finds the same cut.
 *
 * No rank knows all weights: P at its own first block is a prefix sum over ranks. Each proposes for
 * every cut the first of its own blocks that may begin there; since those that may are all blocks
 * from one on, the least proposal is that one. Cost: one pass over the own blocks, and reductions
 * of size + 2 words. */
#include "ownership.h"

#include <string.h>

#include "alloc.h"
#include "block_sum.h"

__extension__ typedef __int128 wide_int;

static gidx block_count(const ownership *o) {
  return o->rows / o->block + (o->rows % o->block != 0);
}

static gidx rows_before(const ownership *o, gidx b) {
  return b < block_count(o) ? b * o->block : o->rows;
}

static status prepare(comm *c, gidx rows, gidx block, ownership *out) {
  memset(out, 0, sizeof *out);
  if (rows < 0) return fail(STATUS_BUG, "ownership of %lld rows", (long long)rows);
  out->rows = rows;
  out->block = block;
  out->rank = comm_rank(c);
  out->size = comm_size(c);
  return alloc_zeroed(&out->first, (int64_t)out->size + 1, sizeof *out->first, "row ownership");
}

/* weight == NULL: every row weighs one. */
static int64_t block_weight(const ownership *o, block_share share, const int64_t *weight, gidx b) {
  return rows_before(o, b + 1) - rows_before(o, b) + (weight != NULL ? weight[b - share.first] : 0);
}

static int64_t share_weight(const ownership *o, block_share share, const int64_t *weight) {
  int64_t sum = 0;
  for (gidx b = share.first; b < share.first + share.count; b++) {
    sum += block_weight(o, share, weight, b);
  }
  return sum;
}

/* Proposes where ranks begin, from the blocks of a share that begins at P = before. */
static void propose(ownership *o, block_share share, const int64_t *weight, int64_t before,
                    int64_t whole) {
  wide_int twice = 2 * (wide_int)before; /* P(b) + P(b + 1), when b's weight is added */
  int r = 1;
  for (gidx b = share.first; b < share.first + share.count; b++) {
    const int64_t own = block_weight(o, share, weight, b);
    /* target r W / size is nearer to P(b) than to P(b + 1) */
    while (r < o->size && 2 * (wide_int)r * whole <= (twice + own) * o->size) {
      o->first[r++] = rows_before(o, b);
    }
    twice += 2 * (wide_int)own;
  }
  while (r <= o->size) o->first[r++] = o->rows;
}

/* A rank's rows are numbered in 32 bits. */
static status check_rows(const ownership *o) {
  status rc = STATUS_OK;
  for (int r = 0; r < o->size && rc == STATUS_OK; r++) {
    lidx narrow;
    rc = index_narrow(o->first[r + 1] - o->first[r], "rows", &narrow);
  }
  return rc;
}

block_share ownership_share(gidx rows, int rank, int size) {
  const gidx block = block_size(rows), blocks = rows / block + (rows % block != 0);
  const gidx each = blocks / size, more = blocks % size;
  return (block_share){each * rank + (rank < more ? rank : more), each + (rank < more)};
}

status ownership_by_weight(comm *c, gidx rows, block_share share, const int64_t *weight,
                           ownership *out) {
  status rc = STATUS_OK;
  TRY(comm_agree(c, prepare(c, rows, block_size(rows), out)));
  const int64_t own = share_weight(out, share, weight);
  int64_t whole = own, before = own;
  TRY(comm_sum_i64(c, &whole, 1));
  TRY(comm_exscan_i64(c, &before));
  propose(out, share, weight, before, whole);
  TRY(comm_min_i64(c, out->first, (int64_t)out->size + 1));
  TRY(comm_agree(c, check_rows(out)));
done:
  if (rc != STATUS_OK) ownership_release(out);
  return rc;
}

status ownership_even(comm *c, gidx rows, ownership *out) {
  return ownership_aligned(c, rows, block_size(rows), out);
}

status ownership_aligned(comm *c, gidx rows, gidx block, ownership *out) {
  status rc = STATUS_OK;
  TRY(prepare(c, rows, block, out));
  propose(out, (block_share){0, block_count(out)}, NULL, 0, rows);
  TRY(check_rows(out));
done:
  if (rc != STATUS_OK) ownership_release(out);
  return rc;
}

void ownership_release(ownership *o) {
  alloc_free(&o->first);
  memset(o, 0, sizeof *o);
}
