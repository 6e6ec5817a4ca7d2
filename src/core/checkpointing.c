/* When to save, and saving (checkpointing.h).
 *
 * `every` = COUNT saves at the first meeting at or past a multiple of it, on all ranks alike
 * without asking. `every` = DURATION is rank 0's clock; after a save the pause is at least 19 times
 * what the save took, so that checkpoints stay under 5 % of the run. The deadline leaves twice the
 * last save's time; before the first one, what the state takes at 100 MB/s, a slow disk. */
#include "checkpointing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "checkpointing_internal.h"
#include "log.h"
#include "stop.h"

static const double SHARE = 19.0;       /* pause over cost: 1 / 20 of the run */
static const double FIRST_RATE = 100e6; /* bytes per second, assumed before the first save */

const char *stop_cause_name(stop_cause cause) {
  return cause == STOP_SIGNAL ? "signal" : "time_limit";
}

/* The deadline: run.time_limit, or the end of the allocation where that is earlier. */
static double allowed_end(const options *o, double began, int *allocation) {
  const double asked =
      options_has(o, "run.time_limit") ? began + options_real(o, "run.time_limit") : INFINITY;
  const double end = stop_allocation_end();
  *allocation = end < asked;
  return fmin(end, asked);
}

/* Rank 0: is the name usable, and is there what `restart` names? */
static status claim(checkpointing *cp) {
  status rc = STATUS_OK;
  FILE *found;
  if (cp->latest && cp->file == NULL) {
    return fail(STATUS_USAGE, "restart = latest needs checkpoint.file, the name to look for");
  }
  if (cp->restart != NULL && !cp->latest) {
    found = fopen(cp->restart, "rb");
    if (found == NULL) {
      return fail(STATUS_USAGE, "%s: no such checkpoint, or it cannot be read", cp->restart);
    }
    fclose(found);
  }
  if (cp->file == NULL) return STATUS_OK;
  TRY(checkpoint_lock(cp->file, &cp->lock));
  checkpoint_tidy(cp->file);
done:
  return rc;
}

status checkpointing_open(comm *c, const options *o, double began, checkpointing **out) {
  status rc = STATUS_OK;
  checkpointing *cp = NULL;
  *out = NULL;
  TRY(comm_agree(c, alloc_zeroed(&cp, 1, sizeof *cp, "checkpoints")));
  cp->c = c;
  cp->lock = -1;
  cp->last = cp->facts.restarted_at = -1;
  cp->file = options_text(o, "checkpoint.file");
  cp->restart = options_text(o, "checkpoint.restart");
  cp->latest = cp->restart != NULL && options_is_word(o, "checkpoint.restart");
  cp->go_on = strcmp(options_text(o, "checkpoint.on_failure"), "continue") == 0;
  cp->keep = options_integer(o, "checkpoint.keep");
  options_interval(o, "checkpoint.every", &cp->every_seconds, &cp->every_count);
  cp->deadline = allowed_end(o, began, &cp->facts.allocation);
  cp->due = cp->every_seconds > 0.0 ? comm_clock() + cp->every_seconds : INFINITY;
  TRY(comm_agree(c, comm_rank(c) == 0 ? claim(cp) : STATUS_OK));
  *out = cp;
  cp = NULL;
done:
  checkpointing_close(&cp);
  return rc;
}

void checkpointing_close(checkpointing **out) {
  checkpointing *cp = *out;
  if (cp == NULL) return;
  *out = NULL;
  for (int i = 0; i < cp->count; i++) alloc_free(&cp->item[i].loaded);
  for (int i = 0; i < CHECKPOINTING_TEXTS; i++) alloc_free(&cp->text[i]);
  alloc_free(&cp->buffer);
  if (cp->file != NULL) checkpoint_unlock(cp->file, &cp->lock);
  alloc_free(&cp);
}

status checkpointing_add(checkpointing *cp, const checkpoint_item *item,
                         checkpointing_refresh refresh, void *context) {
  if (cp->count == CHECKPOINTING_ITEMS) return fail(STATUS_BUG, "too many items in a checkpoint");
  cp->item[cp->count++] = (saved_item){.is = *item, .refresh = refresh, .context = context};
  return STATUS_OK;
}

void checkpointing_forget(checkpointing *cp) {
  cp->count = 0;
  alloc_free(&cp->buffer); /* was for the items that were */
}

void checkpointing_time(checkpointing *cp, timers *t) { cp->timers = t; }

const checkpointing_facts *checkpointing_look(const checkpointing *cp) { return &cp->facts; }

int64_t checkpointing_next(const checkpointing *cp, int64_t number) {
  if (cp == NULL || cp->file == NULL || cp->every_count == 0) return INT64_MAX;
  return (number / cp->every_count + 1) * cp->every_count;
}

/* Whether a multiple of `every` = COUNT has been reached or passed since the last meeting. */
static int passes(const checkpointing *cp, int64_t number) {
  return cp->every_count > 0 && number / cp->every_count > cp->met / cp->every_count;
}

/* ---- what a rank wants ---- */

static double saving_time(const checkpointing *cp) {
  if (cp->file == NULL) return 0.0;
  if (cp->facts.count > 0) return 2.0 * cp->cost;
  double bytes = 0.0;
  for (int i = 0; i < cp->count; i++) {
    const checkpoint_item *is = &cp->item[i].is;
    if (!is->replicated) bytes += (double)is->length * (double)checkpoint_size(is->type);
  }
  return 2.0 * bytes / FIRST_RATE;
}

static int time_is_up(const checkpointing *cp) {
  return comm_clock() > cp->deadline - saving_time(cp);
}

static int is_due(const checkpointing *cp) {
  return cp->file != NULL && comm_rank(cp->c) == 0 && comm_clock() > cp->due;
}

int checkpointing_asks(const checkpointing *cp) {
  return cp != NULL && (stop_signal() != 0 || time_is_up(cp) || is_due(cp));
}

/* ---- saving ---- */

static status refresh_items(checkpointing *cp) {
  for (int i = 0; i < cp->count; i++) {
    saved_item *s = &cp->item[i];
    status rc = s->refresh == NULL ? STATUS_OK : s->refresh(s->context, &s->is);
    if (rc != STATUS_OK) return rc;
  }
  return STATUS_OK;
}

static status write_all(checkpointing *cp, const char *path, int64_t number) {
  status rc = STATUS_OK;
  checkpoint_item items[CHECKPOINTING_OWN + CHECKPOINTING_ITEMS];
  int count = 0;
  for (int i = 0; i < CHECKPOINTING_TEXTS; i++) {
    items[count++] = (checkpoint_item){.name = CHECKPOINTING_TEXT_NAMES[i],
                                       .type = CHECKPOINT_BYTES,
                                       .replicated = 1,
                                       .length = (int64_t)strlen(cp->text[i]),
                                       .data = cp->text[i]};
  }
  items[count++] = (checkpoint_item){.name = CHECKPOINTING_NUMBER,
                                     .type = CHECKPOINT_I64,
                                     .replicated = 1,
                                     .length = 1,
                                     .data = &number};
  TRY(comm_agree(cp->c, refresh_items(cp)));
  for (int i = 0; i < cp->count; i++) {
    items[count] = cp->item[i].is;
    /* replicated items are written by rank 0, which alone may know how long they are */
    if (items[count].replicated) {
      TRY(comm_broadcast(cp->c, &items[count].length, sizeof items[count].length, 0));
    }
    count++;
  }
  rc = checkpoint_write(cp->c, path, items, count, cp->buffer);
done:
  return rc;
}

/* Rank 0: the checkpoints up to `number` beyond the `keep` newest. Higher ones are not ours to
 * judge: they are of an earlier run that got further. */
static void drop_older(const checkpointing *cp, int64_t number) {
  int64_t *all = NULL, count = 0, seen = 0;
  char path[CHECKPOINT_PATH];
  if (checkpoint_list(cp->file, &all, &count) != STATUS_OK) fail_clear();
  for (int64_t i = 0; i < count; i++) {
    if (all[i] > number || ++seen <= cp->keep) continue;
    if (checkpoint_path(cp->file, all[i], path) != STATUS_OK || !checkpoint_remove(path)) {
      fail_clear();
    }
  }
  alloc_free(&all);
}

/* Rank 0: a damaged checkpoint may stand where the new one goes. */
static status make_way(const char *path) {
  int moved = 0;
  status rc = checkpoint_set_aside(path, &moved);
  if (moved) log_warning("%s was no whole checkpoint: it is now %s.damaged", path, path);
  return rc;
}

static status save(checkpointing *cp, int64_t number) {
  status rc = STATUS_OK;
  char path[CHECKPOINT_PATH];
  const phase was = timers_switch(cp->timers, PHASE_CHECKPOINT);
  const double began = comm_clock();
  rc = comm_agree(cp->c, checkpoint_path(cp->file, number, path));
  if (rc == STATUS_OK) {
    rc = comm_agree(cp->c, comm_rank(cp->c) == 0 ? make_way(path) : STATUS_OK);
  }
  if (rc == STATUS_OK) rc = write_all(cp, path, number);
  if (rc == STATUS_OK) {
    if (comm_rank(cp->c) == 0) drop_older(cp, number);
    snprintf(cp->facts.saved, sizeof cp->facts.saved, "%s", path);
    cp->last = number;
    cp->facts.count++;
  }
  const double now = comm_clock();
  cp->cost = now - began; /* each rank's own: only asks, never decides */
  cp->facts.seconds += cp->cost;
  cp->facts.failed = rc;
  if (cp->every_seconds > 0.0) cp->due = now + fmax(cp->every_seconds, SHARE * cp->cost);
  timers_switch(cp->timers, was);
  return rc;
}

/* A failed save, where the run is to go on. */
static void say_kept(const checkpointing *cp) {
  if (comm_rank(cp->c) != 0) return;
  log_warning("checkpoint not written; %s%s",
              cp->facts.saved[0] != '\0' ? "the last good one is " : "there is none yet",
              cp->facts.saved);
}

enum { WANT_FAILURE, WANT_SIGNAL, WANT_TIME, WANT_SAVE, WANTS };

/* What the ranks want, all of them together; the cause to stop, if any. */
static status gather_wants(checkpointing *cp, int failed, int64_t want[WANTS], stop_cause *cause) {
  status rc = STATUS_OK;
  want[WANT_FAILURE] = failed != 0;
  want[WANT_SIGNAL] = stop_signal();
  want[WANT_TIME] = time_is_up(cp);
  want[WANT_SAVE] = is_due(cp);
  *cause = STOP_NONE;
  TRY(comm_max_i64(cp->c, want, WANTS));
  *cause = want[WANT_FAILURE] != 0  ? STOP_FAILURE
           : want[WANT_SIGNAL] != 0 ? STOP_SIGNAL
           : want[WANT_TIME] != 0   ? STOP_TIME
                                    : STOP_NONE;
  cp->facts.cause = *cause;
  cp->facts.signal = (int)want[WANT_SIGNAL];
done:
  return rc;
}

status checkpointing_early(checkpointing *cp, stop_cause *cause) {
  int64_t want[WANTS];
  return gather_wants(cp, 0, want, cause);
}

status checkpointing_meet(checkpointing *cp, int64_t number, int failed, stop_cause *cause) {
  status rc = STATUS_OK;
  int64_t want[WANTS];
  TRY(gather_wants(cp, failed, want, cause));
  if (cp->file == NULL || *cause == STOP_FAILURE) goto done;
  const int stopping = *cause != STOP_NONE, passed = passes(cp, number);
  cp->met = number;
  if (!stopping && want[WANT_SAVE] == 0 && !passed) goto done;
  if (cp->last != number) rc = save(cp, number);
  cp->facts.stopped_safe = stopping && rc == STATUS_OK;
  if (rc == STATUS_IO && cp->go_on && !stopping) {
    say_kept(cp);
    rc = STATUS_OK;
  }
done:
  return rc;
}

status checkpointing_finish(checkpointing *cp, int64_t number) {
  if (cp == NULL || cp->file == NULL) return STATUS_OK;
  status rc = save(cp, number);
  if (rc != STATUS_IO) return rc;
  say_kept(cp);
  if (cp->go_on) cp->facts.failed = STATUS_OK;
  return STATUS_OK;
}
