/* The end of a step (device.h). One rank: the device applies the rule and posts its state, and
 * nothing here waits. Several ranks: the sums come to pinned memory, are added over ranks on the
 * host, and the rule is applied to a copy of the state kept here (`mirror`), which is then stored
 * on the device: every rank applies the same rule to the same numbers.
 *
 * A rank whose device has failed goes on taking part: its sums are NaN, which stops all ranks at
 * this step, and its own operations answer with the failure. */
#include <string.h>

#include "device.h"
#include "solve_rules.h"

void device_note_state(device *d, void *at, const void *content) {
  d->state_at = at;
  d->base = d->sequence;
  memcpy(&d->mirror, content, sizeof d->mirror);
}

/* A state that was not copied in last: its steps count from here. */
static status adopt_state(device *d, dptr state) {
  solve_state copy = {0};
  if (d->state_at == state.at) return STATUS_OK;
  status rc = cuda_copy_out(d, (hptr){&copy}, state, sizeof copy);
  device_note_state(d, state.at, &copy);
  return rc;
}

static uint64_t *slot_of(uint64_t *ring, uint32_t sequence) {
  return ring + (sequence % RING) * RING_WORDS;
}

/* This rank's tally, normalised, `count` sums and the counters; clears it. NaN on failure. */
static status local_tally(device *d, int count, int64_t *words) {
  status rc = STATUS_OK;
  const int64_t used = (int64_t)count * WIDE_WORDS;
  int sums = d->used_sums > count ? d->used_sums : count;
  if (sums <= PASS_SUMS) sums = PASS_SUMS + 1;
  TRY(device_ready(d));
  TRY(device_launched(d, kernel_collect(d->main, d->words, sums, d->pinned_there),
                      "kernel collect"));
  d->used_sums = 0;
  TRY(device_check(d, cudaStreamSynchronize(d->main), "kernel collect"));
  for (int i = 0; i < count; i++) {
    wide w;
    memcpy(w.word, d->pinned + i * WIDE_WORDS, sizeof w.word);
    wide_normalise(&w);
    memcpy(words + i * WIDE_WORDS, w.word, sizeof w.word);
  }
  memcpy(words + used, d->pinned + sums * WIDE_WORDS, COUNTERS * sizeof *words);
done:
  if (rc != STATUS_OK) {
    memset(words, 0, ((size_t)used + COUNTERS) * sizeof *words);
    for (int i = 0; i < count; i++) words[i * WIDE_WORDS + WIDE_NAN] = 1;
  }
  return rc;
}

/* Adds over ranks and rounds. A local failure is reported only when nobody waits for this rank. */
static status total(device *d, comm *c, int count, int stop, double *out, int64_t *counter) {
  status rc = STATUS_OK;
  int64_t words[TALLY_WORDS];
  int64_t *counters = words + (size_t)count * WIDE_WORDS;
  const status mine = local_tally(d, count, words);
  counters[COUNTER_STOP] = stop || mine != STATUS_OK;
  TRY(comm_sum_i64(c, words, (int64_t)count * WIDE_WORDS + COUNTERS));
  for (int i = 0; i < count; i++) {
    wide w;
    memcpy(w.word, words + i * WIDE_WORDS, sizeof w.word);
    out[i] = wide_round_window(&w, 0, WIDE_LIMBS - 1);
  }
  memcpy(counter, counters, COUNTERS * sizeof *counter);
  if (comm_size(c) == 1) rc = mine;
done:
  return rc;
}

static status judge_on_device(device *d, judge_kind kind, dptr state, int stop) {
  status rc = STATUS_OK;
  const kept *k = &d->kept;
  TRY(device_ok(d));
  if (d->state_at != state.at) {
    d->state_at = state.at;
    d->base = d->sequence;
  }
  ending end = plain_ending(d);
  end.state = state.at;
  end.sequence = ++d->sequence;
  end.slot = slot_of(d->ring_there, end.sequence);
  end.kind = (int32_t)kind;
  end.stop = stop != 0;
  if (k->kind != KEPT_NONE && k->state == state.at) {
    TRY(launch_kept(d, &end));
  } else {
    TRY(device_settle(d));
    TRY(device_join(d));
    TRY(device_launched(d, kernel_judge(d->main, &end), "kernel judge"));
  }
done:
  return rc;
}

static int sums_of(judge_kind kind, const solve_state *s) {
  if (kind == JUDGE_SWEEP) return s->monitor_update ? 2 : 1;
  return kind == JUDGE_CG_PRODUCT ? 1 : 2;
}

static status judge_on_host(device *d, comm *c, judge_kind kind, dptr state, int stop) {
  status rc = STATUS_OK;
  double sum[PASS_SUMS] = {0.0};
  int64_t counter[COUNTERS];
  uint32_t word[STATE_WORDS];
  adopt_state(d,
              state); /* its failure, and the next one's, are met again by the caller's kernels */
  TRY(total(d, c, sums_of(kind, &d->mirror), stop, sum, counter));
  rules_apply(kind, &d->mirror, sum, counter);
  const uint32_t sequence = ++d->sequence;
  volatile uint64_t *slot = slot_of(d->ring, sequence);
  memcpy(word, &d->mirror, sizeof word);
  for (int i = 0; i < STATE_WORDS; i++) slot[i] = (uint64_t)sequence << 32 | word[i];
  if (d->broken == STATUS_OK) {
    device_launched(d, kernel_store_state(d->main, state.at, &d->mirror), "kernel store state");
  }
done:
  return rc;
}

status cuda_judge(device *d, comm *c, judge_kind kind, dptr state, int stop) {
  if (comm_size(c) == 1) return judge_on_device(d, kind, state, stop);
  return judge_on_host(d, c, kind, state, stop);
}

/* Whether the state of step `sequence` has been posted; copies it. */
static int posted(const device *d, uint32_t sequence, solve_state *out) {
  const volatile uint64_t *slot = slot_of(d->ring, sequence);
  uint32_t word[STATE_WORDS];
  for (int i = 0; i < STATE_WORDS; i++) {
    const uint64_t both = slot[i];
    if (both >> 32 != sequence) return 0;
    word[i] = (uint32_t)both;
  }
  memcpy(out, word, sizeof word);
  return 1;
}

status cuda_look(device *d, dptr state, int64_t step, solve_state *out) {
  enum { PATIENCE = 1000 }; /* looks between questions to the driver */
  const uint32_t sequence = d->base + (uint32_t)step, age = d->sequence - sequence;
  if (state.at != d->state_at || step < 1 || age >= RING) {
    return fail(STATUS_BUG, "look: step %lld was not judged, or too long ago", (long long)step);
  }
  for (int i = 0; !posted(d, sequence, out); i++) {
    if (i % PATIENCE != PATIENCE - 1) continue;
    const cudaError_t error = cudaStreamQuery(d->main);
    if (error == cudaErrorNotReady) continue;
    status rc = device_check(d, error, "a kernel");
    if (rc != STATUS_OK) return rc;
    if (posted(d, sequence, out)) break;
    return fail(STATUS_BUG, "look: the GPU is idle and has not judged step %lld", (long long)step);
  }
  return STATUS_OK;
}

/* quad_backend.h's `collect`. A rank that failed brings NaN, as in total(). */
status cuda_collect(device *d, comm *c, int count, wide *out) {
  int64_t words[TALLY_WORDS];
  const status mine = local_tally(d, count, words);
  for (int i = 0; i < count; i++) {
    memcpy(out[i].word, words + (size_t)i * WIDE_WORDS, sizeof out[i].word);
  }
  const status rc = comm_sum_i64(c, out[0].word, (int64_t)count * WIDE_WORDS);
  return rc != STATUS_OK || comm_size(c) > 1 ? rc : mine;
}

status cuda_sums(device *d, comm *c, int count, int64_t *asked, double *out) {
  int64_t counter[COUNTERS] = {0};
  status rc = total(d, c, count, asked != NULL && *asked != 0, out, counter);
  if (asked != NULL) *asked = counter[COUNTER_STOP];
  return rc;
}
