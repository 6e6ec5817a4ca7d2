/* Cutting rows into runs of about equal weight (ownership.h).
 *
 * With P(b) the weight of all blocks before b and W the whole weight, rank r begins at the block
 * boundary whose P is nearest to r W / size (the lower one on a tie). The boundaries ascend because
 * the targets do; a rank gets at most its fair share plus half a block at either end. Compared as
 * integers in 128 bits, so every rank finds the same cut. Cost: one reduction of a word per block,
 * one pass over them. */
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
static int64_t block_weight(const ownership *o, const int64_t *weight, gidx b) {
  return rows_before(o, b + 1) - rows_before(o, b) + (weight != NULL ? weight[b] : 0);
}

static void cut(ownership *o, const int64_t *weight) {
  const gidx blocks = block_count(o);
  wide_int whole = 0, before = 0; /* before = P(b) */
  int r = 1;
  for (gidx b = 0; b < blocks; b++) whole += block_weight(o, weight, b);
  for (gidx b = 0; b < blocks; b++) {
    wide_int after = before + block_weight(o, weight, b);
    /* target r W / size is nearer to P(b) than to P(b + 1) */
    while (r < o->size && 2 * r * whole <= (before + after) * o->size) {
      o->first[r++] = rows_before(o, b);
    }
    before = after;
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

status ownership_by_weight(comm *c, gidx rows, int64_t *weight, ownership *out) {
  status rc = STATUS_OK;
  TRY(comm_agree(c, prepare(c, rows, block_size(rows), out)));
  TRY(comm_sum_i64(c, weight, block_count(out)));
  cut(out, weight);
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
  cut(out, NULL);
  TRY(check_rows(out));
done:
  if (rc != STATUS_OK) ownership_release(out);
  return rc;
}

void ownership_release(ownership *o) {
  alloc_free(&o->first);
  memset(o, 0, sizeof *o);
}
