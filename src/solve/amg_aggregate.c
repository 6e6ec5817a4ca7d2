/* Aggregates for smoothed aggregation (amg.h): a maximal set of rows no two of which are within
 * distance 2 in the graph of strong connections (MIS-2) are roots; their neighbours join them; who
 * is left joins the aggregate most of its neighbours have joined.
 *
 * MIS-2 as Bell, Dalton and Olson (SIAM J. Sci. Comput. 34 (2012) C123) find it, in rounds: each
 * row has a word, its state in the upper two bits, below them 22 bits of a hash of its global
 * number and the number itself, so that all words differ. Twice, each row takes the largest word
 * among its neighbours'; an undecided row that sees its own word becomes a root, one that sees a
 * root's is out. Integers only, functions of global numbers: the same set for any ranks.
 *
 * Rows without strong connections are left out: smoothing alone solves them.
 * Cost: some ten rounds, each two looks at the connections of rows that can still change. */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "amg.h"
#include "block_sum.h"
#include "fingerprint.h"
#include "team.h"

/* ---- strength ---- */

int amg_is_strong(const amg_grid *g, double theta, lidx i, lidx j, double value) {
  /* two roots: the product of two diagonal entries may not be in range */
  return j != i && value != 0.0 && fabs(value) > theta * (g->root[i] * g->root[j]);
}

typedef struct strength_work {
  const amg_grid *g;
  double theta;
  amg_strength *s;
} strength_work;

static void strength_count(void *context, int number, int64_t begin, int64_t end) {
  const strength_work *w = context;
  const csr_block *a = w->g->a;
  (void)number;
  for (lidx i = (lidx)begin; i < end; i++) {
    eidx count = 0;
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      count += amg_is_strong(w->g, w->theta, i, a->column[e], a->value[e]);
    }
    w->s->offset[i + 1] = count;
  }
}

static void strength_fill(void *context, int number, int64_t begin, int64_t end) {
  const strength_work *w = context;
  const csr_block *a = w->g->a;
  (void)number;
  for (lidx i = (lidx)begin; i < end; i++) {
    eidx at = w->s->offset[i];
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      if (amg_is_strong(w->g, w->theta, i, a->column[e], a->value[e])) {
        w->s->column[at++] = a->column[e];
      }
    }
  }
}

status amg_strength_open(const amg_grid *g, double theta, amg_strength *out) {
  status rc = STATUS_OK;
  const lidx rows = g->a->rows;
  strength_work w = {g, theta, out};
  memset(out, 0, sizeof *out);
  rc = alloc_array(&out->offset, (int64_t)rows + 1, sizeof *out->offset, "strong connections");
  if (rc == STATUS_OK) {
    out->offset[0] = 0;
    team_for(g->threads, rows, strength_count, &w);
    for (lidx i = 0; i < rows; i++) out->offset[i + 1] += out->offset[i];
    rc = alloc_array(&out->column, out->offset[rows], sizeof *out->column, "strong connections");
  }
  TRY(comm_agree(g->world, rc));
  team_for(g->threads, rows, strength_fill, &w);
done:
  if (rc != STATUS_OK) amg_strength_release(out);
  return rc;
}

void amg_strength_release(amg_strength *s) {
  alloc_free(&s->offset);
  alloc_free(&s->column);
}

/* ---- roots ---- */

enum { ASKED = 128 };

enum { STATE_SHIFT = 62, NUMBER_BITS = 40, HASH_BITS = STATE_SHIFT - NUMBER_BITS };
static const uint64_t UNDECIDED = UINT64_C(1) << STATE_SHIFT, ROOT = UINT64_C(2) << STATE_SHIFT;

/* 0 is a row that is out. */
static uint64_t first_word(gidx row) {
  return UNDECIDED | fingerprint_mix((uint64_t)row) >> (64 - HASH_BITS) << NUMBER_BITS |
         (uint64_t)row;
}

typedef struct rooting {
  const amg_grid *g;
  const amg_strength *s;
  uint64_t *word; /* [rows + ghosts] */
  uint64_t *near; /* [rows + ghosts] the largest word within distance 1 */
  int64_t *left;  /* [threads] undecided rows of a part */
} rooting;

static uint64_t largest_of(const rooting *r, const uint64_t *word, lidx i) {
  uint64_t most = word[i];
  for (eidx e = r->s->offset[i]; e < r->s->offset[i + 1]; e++) {
    const uint64_t other = word[r->s->column[e]];
    if (other > most) most = other;
  }
  return most;
}

static void rooting_start(void *context, int number, int64_t begin, int64_t end) {
  const rooting *r = context;
  (void)number;
  for (int64_t i = begin; i < end; i++) {
    const int alone = r->s->offset[i] == r->s->offset[i + 1];
    r->word[i] = alone ? 0 : first_word(r->g->a->first_row + i);
    r->near[i] = UNDECIDED;
  }
}

/* A root nearby stays one, and who is out stays out: then nothing can change. */
static void rooting_near(void *context, int number, int64_t begin, int64_t end) {
  const rooting *r = context;
  (void)number;
  for (lidx i = (lidx)begin; i < end; i++) {
    if (r->near[i] != 0 && r->near[i] < ROOT) r->near[i] = largest_of(r, r->word, i);
  }
}

static void rooting_decide(void *context, int number, int64_t begin, int64_t end) {
  const rooting *r = context;
  int64_t left = 0;
  for (lidx i = (lidx)begin; i < end; i++) {
    const uint64_t mine = r->word[i];
    if (mine == 0 || mine >= ROOT) continue;
    const uint64_t most = largest_of(r, r->near, i);
    if (most == mine) {
      r->word[i] = mine + UNDECIDED;
    } else if (most >= ROOT) {
      r->word[i] = 0;
    } else {
      left++;
    }
  }
  r->left[number] = left;
}

static status find_roots(amg_grid *g, rooting *r) {
  status rc = STATUS_OK;
  int64_t left;
  team_for(g->threads, g->a->rows, rooting_start, r);
  do {
    TRY(amg_share(g, r->word));
    team_for(g->threads, g->a->rows, rooting_near, r);
    TRY(amg_share(g, r->near));
    team_for(g->threads, g->a->rows, rooting_decide, r);
    left = 0;
    for (int t = 0; t < g->threads; t++) left += r->left[t];
    TRY(comm_sum_i64(g->world, &left, 1));
  } while (left > 0);
done:
  return rc;
}

/* ---- members ---- */

typedef struct joining {
  const rooting *r;
  gidx *aggregate; /* [rows + ghosts] */
  gidx *joined;    /* [rows + ghosts] after the neighbours of roots */
} joining;

/* The aggregate most neighbours are in (of the first ASKED of a long row, if one of them is in
 * any); of equals the one whose number has the larger hash. */
static gidx favourite(const amg_strength *s, const gidx *aggregate, lidx i) {
  const eidx all = s->offset[i + 1], end = all - s->offset[i] > ASKED ? s->offset[i] + ASKED : all;
  gidx best = -1;
  eidx most = 0;
  for (eidx e = s->offset[i]; e < all && (e < end || best < 0); e++) {
    const gidx one = aggregate[s->column[e]];
    eidx count = 0;
    if (one < 0 || one == best) continue;
    for (eidx f = e; f < end; f++) count += aggregate[s->column[f]] == one;
    if (count < most ||
        (count == most && fingerprint_mix((uint64_t)one) < fingerprint_mix((uint64_t)best))) {
      continue;
    }
    best = one;
    most = count;
  }
  return best;
}

/* Neighbours of roots: aggregate -> joined. */
static void join_roots(void *context, int number, int64_t begin, int64_t end) {
  const joining *j = context;
  (void)number;
  for (lidx i = (lidx)begin; i < end; i++) {
    j->joined[i] = j->aggregate[i] >= 0 ? j->aggregate[i] : favourite(j->r->s, j->aggregate, i);
  }
}

/* The rest: joined -> aggregate. */
static void join_members(void *context, int number, int64_t begin, int64_t end) {
  const joining *j = context;
  (void)number;
  for (lidx i = (lidx)begin; i < end; i++) {
    j->aggregate[i] = j->joined[i] >= 0 ? j->joined[i] : favourite(j->r->s, j->joined, i);
  }
}

/* Numbers the roots; ownership of their numbers near that of the roots, cut at whole sum blocks. */
static status number_roots(amg_grid *g, const uint64_t *word, gidx *aggregate, ownership *coarse) {
  status rc = STATUS_OK;
  const int size = g->owned->size;
  int64_t count = 0, first;
  for (lidx i = 0; i < g->a->rows; i++) count += word[i] >= ROOT;
  first = count;
  *coarse = (ownership){.rank = g->owned->rank, .size = size};
  rc = alloc_array(&coarse->first, (int64_t)size + 1, sizeof *coarse->first, "coarse rows");
  TRY(comm_agree(g->world, rc));
  TRY(comm_exscan_i64(g->world, &first));
  TRY(comm_allgather(g->world, &first, coarse->first, sizeof first));
  coarse->rows = count;
  TRY(comm_sum_i64(g->world, &coarse->rows, 1));
  coarse->block = block_size(coarse->rows);
  for (int r = 0; r < size; r++) {
    const gidx up = (coarse->first[r] + coarse->block - 1) / coarse->block * coarse->block;
    coarse->first[r] = up < coarse->rows ? up : coarse->rows;
  }
  coarse->first[size] = coarse->rows;
  for (lidx i = 0; i < g->a->rows; i++) aggregate[i] = word[i] >= ROOT ? first++ : -1;
done:
  return rc;
}

static status share_numbers(amg_grid *g, gidx *number) {
  return amg_share(g, (uint64_t *)(void *)number);
}

status amg_aggregate(amg_grid *g, const amg_strength *s, gidx *aggregate, ownership *coarse) {
  status rc = STATUS_OK;
  rooting r = {.g = g, .s = s};
  joining j = {.r = &r, .aggregate = aggregate};
  const int64_t all = (int64_t)g->a->rows + g->a->ghosts;
  memset(coarse, 0, sizeof *coarse);
  if (g->owned->rows >> NUMBER_BITS != 0) {
    rc = fail(STATUS_UNAVAILABLE, "amg: %lld rows are more than 2^%d", (long long)g->owned->rows,
              NUMBER_BITS);
  }
  if (rc == STATUS_OK) rc = alloc_array(&r.word, all, sizeof *r.word, "aggregates");
  if (rc == STATUS_OK) rc = alloc_array(&r.near, all, sizeof *r.near, "aggregates");
  if (rc == STATUS_OK) rc = alloc_array(&r.left, g->threads, sizeof *r.left, "aggregates");
  TRY(comm_agree(g->world, rc));
  TRY(find_roots(g, &r));
  TRY(number_roots(g, r.word, aggregate, coarse));
  memcpy(&j.joined, &r.near, sizeof j.joined); /* no longer needed */
  TRY(share_numbers(g, aggregate));
  team_for(g->threads, g->a->rows, join_roots, &j);
  TRY(share_numbers(g, j.joined));
  team_for(g->threads, g->a->rows, join_members, &j);
  TRY(share_numbers(g, aggregate));
done:
  alloc_free(&r.word);
  alloc_free(&r.near);
  alloc_free(&r.left);
  if (rc != STATUS_OK) ownership_release(coarse);
  return rc;
}
