/* Which stages of a list one launch can make, one after the other.
 *
 * In a chain each stage's u is the result of the one before. Beside it, a point reads fields that
 * are the same for the whole chain: a base and a `first` (in memory from before the chain, or made
 * by its first stage), and `before`: the u of the stage before, which for the chain's first stage
 * is in memory. So chains are Euler steps, the stages of rk4, and those of rkl2. A chain ends where
 * a stage needs something else, and where more results are wanted afterwards than can be kept.
 *
 * Fields are written again and again in a list: two names mean the same values only if the same
 * stage wrote them last (writer_of). The list is short; nothing here is worth being quicker. */
#include "heat_chain.h"

#include <string.h>

/* The last stage before i that writes f; -1: none does. */
static int writer_of(const heat_stage *list, int i, const void *f) {
  for (i--; i >= 0; i--) {
    if (list[i].out.data.at == f) return i;
  }
  return -1;
}

static int reads(const heat_stage *s, const void *f) {
  int found = s->u.data.at == f || s->base.data.at == f;
  for (int i = 0; i < s->terms; i++) found |= s->term[i].data.at == f;
  return found;
}

int heat_chain_is_wanted(const heat_stage *list, int count, int i, int last) {
  const void *f = list[i].out.data.at;
  for (int k = i + 1; k < count; k++) {
    if (k > last && reads(&list[k], f)) return 1;
    if (list[k].out.data.at == f) return 0;
  }
  return !list[i].fleeting;
}

/* The same fields, and values that stay at held points. */
static int has_same_fields(const heat_stage *a, const heat_stage *b) {
  int same = a->input.source.data.at == b->input.source.data.at;
  for (int f = 0; f < HEAT_FACES; f++) {
    same &= a->input.flux_at[f].data.at == b->input.flux_at[f].data.at;
    same &= b->held[f].data.at == NULL;
  }
  return same;
}

/* A field that is the same for the whole chain and was there before it. */
static int is_settled(const void **known, const void *f) {
  if (*known == NULL) *known = f;
  return *known == f;
}

static int join_terms(const heat_stage *list, int i, heat_chain *c) {
  const heat_stage *s = &list[i];
  const int at = i - c->from, swapped = s->term[0].data.at != s->u.data.at;
  const void *before = s->term[1].data.at, *first = s->term[swapped ? 0 : 2].data.at;
  if (s->terms != 3 || s->term[swapped ? 2 : 0].data.at != s->u.data.at) return 0;
  c->part[at].terms = s->terms;
  c->part[at].swapped = swapped;
  if (at == 0) {
    c->before = before;
  } else if (before != s[-1].u.data.at ||
             writer_of(list, i, before) != writer_of(list, i - 1, before)) {
    return 0;
  }
  const int writer = writer_of(list, i, first);
  if (writer < c->from) return !c->makes_first && is_settled(&c->first, first);
  c->makes_first = 1;
  return writer == c->from && c->first == NULL;
}

/* Adds stage i, if it goes on with the chain. */
static int join(const heat_stage *list, int i, heat_chain *c) {
  const heat_stage *s = &list[i];
  const int at = i - c->from;
  if (!has_same_fields(&list[c->from], s)) return 0;
  if (at > 0 && s->u.data.at != s[-1].out.data.at) return 0;
  c->part[at].own_base = s->base.data.at == s->u.data.at;
  if (c->part[at].own_base) return s->terms == 0;
  if (writer_of(list, i, s->base.data.at) >= c->from) return 0;
  if (!is_settled(&c->base, s->base.data.at)) return 0;
  return s->terms == 0 || join_terms(list, i, c);
}

/* Whether results that are wanted afterwards can be kept. */
static int keep(const heat_stage *list, int count, heat_chain *c) {
  const int last = c->from + c->count - 1;
  for (int i = c->from; i < last; i++) {
    if (!heat_chain_is_wanted(list, count, i, last)) continue;
    if (i == c->from) {
      c->keeps[0] = 1;
    } else if (i == last - 1) {
      c->keeps[1] = 1;
    } else {
      return 0;
    }
  }
  return 1;
}

heat_chain heat_chain_at(const heat_stage *list, int count, int from, int most) {
  if (most > CHAIN_MOST) most = CHAIN_MOST;
  if (most > count - from) most = count - from;
  for (int n = most; n > 1; n--) {
    heat_chain c = {.from = from, .count = n};
    int joined = 1;
    for (int i = from; joined && i < from + n; i++) joined = join(list, i, &c);
    if (joined && keep(list, count, &c)) return c;
  }
  return (heat_chain){.from = from, .count = 1};
}
