/* Sums over ranks (tally.h): one allreduce of 70 words a sum and the counters behind them. */
#include "tally.h"

#include <string.h>

#include "solve_rules.h"

void tally_clear(tally *t) {
  for (int i = 0; i < SUMS_MAX && t->used >> i != 0; i++) {
    if ((t->used >> i & 1) != 0) wide_clear(&t->sum[i]);
  }
  t->used = 0;
  memset(t->counter, 0, sizeof t->counter);
}

status tally_total(comm *c, tally *t, int count, double *out, int64_t *counter) {
  status rc = STATUS_OK;
  int64_t words[SUMS_MAX * WIDE_WORDS + COUNTERS];
  const size_t sums = (size_t)count * WIDE_WORDS;
  for (int i = 0; i < count; i++) {
    wide_normalise(&t->sum[i]);
    memcpy(words + i * WIDE_WORDS, t->sum[i].word, sizeof t->sum[i].word);
  }
  memcpy(words + sums, t->counter, sizeof t->counter);
  TRY(comm_sum_i64(c, words, (int64_t)sums + COUNTERS));
  for (int i = 0; i < count; i++) {
    wide w;
    memcpy(w.word, words + i * WIDE_WORDS, sizeof w.word);
    out[i] = wide_round(&w);
  }
  if (counter != NULL) memcpy(counter, words + sums, sizeof t->counter);
done:
  return rc;
}

int tally_sums(judge_kind kind, const solve_state *s) {
  switch (kind) {
  case JUDGE_SWEEP:
    return s->monitor_update ? 2 : 1;
  case JUDGE_CG_PRODUCT:
    return 1;
  default:
    return 2;
  }
}

status tally_judge(comm *c, tally *t, judge_kind kind, solve_state *s, int stop) {
  status rc = STATUS_OK;
  double sum[2] = {0.0};
  int64_t counter[COUNTERS];
  t->counter[COUNTER_STOP] = stop != 0;
  TRY(tally_total(c, t, tally_sums(kind, s), sum, counter));
  rules_apply(kind, s, sum, counter);
done:
  tally_clear(t);
  return rc;
}
