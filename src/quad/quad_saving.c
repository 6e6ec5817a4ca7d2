/* Saving and going on (quad_saving.h). */
#include "quad_saving.h"

#include <math.h>
#include <string.h>

#include "alloc.h"

static const double NOTHING = 0.0; /* an empty list still needs an address */

static status refresh_done(void *context, checkpoint_item *item) {
  quad_saver *s = context;
  item->length = QUAD_SAVER_SUMS * s->count;
  if (s->count > 0)
    item->data = s->done;
  else
    memcpy(&item->data, &(const double *){&NOTHING}, sizeof item->data);
  return STATUS_OK;
}

status quad_saver_open(quad_saver *s, checkpointing *is, int sums) {
  status rc = STATUS_OK;
  memset(s, 0, sizeof *s);
  s->is = is;
  s->sums = sums;
  if (!sums) return STATUS_OK;
  const checkpoint_item done = {.name = "/quad/done", .type = CHECKPOINT_F64, .replicated = 1};
  const checkpoint_item words = {.name = "/quad/words",
                                 .type = CHECKPOINT_I64,
                                 .replicated = 1,
                                 .length = QUAD_SAVER_SUMS * WIDE_WORDS,
                                 .data = s->word};
  const checkpoint_item whole = {.name = "/quad/integers",
                                 .type = CHECKPOINT_I64,
                                 .replicated = 1,
                                 .length = 2,
                                 .data = s->whole};
  TRY(checkpointing_add(is, &done, refresh_done, s));
  TRY(checkpointing_add(is, &words, NULL, NULL));
  TRY(checkpointing_add(is, &whole, NULL, NULL));
done:
  return rc;
}

void quad_saver_close(quad_saver *s) { alloc_free(&s->done); }

static status make_room(quad_saver *s, int64_t count) {
  if (count <= s->room) return STATUS_OK;
  double *more = NULL;
  const int64_t room = 2 * count + 16;
  status rc = alloc_array(&more, QUAD_SAVER_SUMS * room, sizeof *more, "finished sums");
  if (rc != STATUS_OK) return rc;
  if (s->count > 0) memcpy(more, s->done, (size_t)(QUAD_SAVER_SUMS * s->count) * sizeof *more);
  alloc_free(&s->done);
  s->done = more;
  s->room = room;
  return STATUS_OK;
}

status quad_saver_load(quad_run *run) {
  status rc = STATUS_OK;
  quad_saver *s = run->saver;
  int64_t number, done_length, word_length, whole_length;
  if (s == NULL || !s->sums) return STATUS_OK;
  TRY(checkpointing_load(s->is, &number));
  if (number < 0) goto done;
  const double *sums = checkpointing_loaded(s->is, "/quad/done", &done_length);
  const int64_t *word = checkpointing_loaded(s->is, "/quad/words", &word_length);
  const int64_t *whole = checkpointing_loaded(s->is, "/quad/integers", &whole_length);
  if (done_length % QUAD_SAVER_SUMS != 0 || word_length != QUAD_SAVER_SUMS * WIDE_WORDS ||
      whole_length != 2) {
    rc = comm_agree(run->world, fail(STATUS_IO, "a checkpoint of another layout"));
    goto done;
  }
  TRY(comm_agree(run->world, make_room(s, done_length / QUAD_SAVER_SUMS)));
  s->count = done_length / QUAD_SAVER_SUMS;
  if (s->count > 0) memcpy(s->done, sums, (size_t)done_length * sizeof *sums);
  memcpy(s->word, word, QUAD_SAVER_SUMS * WIDE_WORDS * sizeof *word);
  s->at = whole[0];
  s->blocks = whole[1];
  s->resumed = s->at > 0;
done:
  return rc;
}

int quad_saver_recall(quad_saver *s, int count, double *out) {
  if (s == NULL || s->recalled >= s->count) return 0;
  memcpy(out, s->done + QUAD_SAVER_SUMS * s->recalled, (size_t)count * sizeof *out);
  s->recalled++;
  return 1;
}

void quad_saver_resume(quad_saver *s, wide *total, int64_t *at) {
  if (s == NULL || !s->resumed) return;
  for (int k = 0; k < QUAD_SAVER_SUMS; k++) {
    memcpy(total[k].word, s->word + k * WIDE_WORDS, sizeof total[k].word);
  }
  *at = s->at;
  s->resumed = 0;
}

int64_t quad_saver_until(const quad_saver *s, int64_t at, int64_t end) {
  if (s == NULL) return end;
  const int64_t next = checkpointing_next(s->is, s->blocks + at);
  return next - s->blocks < end ? next - s->blocks : end;
}

static void keep(quad_saver *s, const wide *total, int64_t at) {
  for (int k = 0; k < QUAD_SAVER_SUMS; k++) {
    if (total == NULL)
      memset(s->word + k * WIDE_WORDS, 0, sizeof total[k].word);
    else
      memcpy(s->word + k * WIDE_WORDS, total[k].word, sizeof total[k].word);
  }
  s->whole[0] = at;
  s->whole[1] = s->blocks;
}

status quad_saver_meet(quad_run *run, const wide *total, int64_t at) {
  quad_saver *s = run->saver;
  if (s == NULL) return STATUS_OK;
  keep(s, total, at);
  return quad_saver_look(run, s->blocks + at);
}

status quad_saver_look(quad_run *run, int64_t number) {
  status rc = STATUS_OK;
  stop_cause cause = STOP_NONE;
  TRY(checkpointing_meet(run->saver->is, number, 0, &cause));
  if (cause == STOP_SIGNAL) run->reason = QUAD_SIGNAL;
  if (cause == STOP_TIME) run->reason = QUAD_TIME_LIMIT;
done:
  return rc;
}

status quad_saver_note(quad_saver *s, int count, const double *out, int64_t blocks) {
  if (s == NULL) return STATUS_OK;
  status rc = make_room(s, s->count + 1);
  if (rc != STATUS_OK) return rc;
  double *row = s->done + QUAD_SAVER_SUMS * s->count;
  for (int k = 0; k < QUAD_SAVER_SUMS; k++) row[k] = k < count ? out[k] : 0.0;
  s->count++;
  s->recalled = s->count;
  s->blocks += blocks;
  return STATUS_OK;
}

status quad_saver_finish(quad_run *run) {
  quad_saver *s = run->saver;
  if (s == NULL || !s->sums || quad_stopped(run) || run->reason == QUAD_NOT_FINITE)
    return STATUS_OK;
  keep(s, NULL, 0);
  return checkpointing_finish(s->is, s->blocks);
}
