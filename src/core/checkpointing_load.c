/* Going on: which checkpoint, whether it is of this problem, and its state (checkpointing.h).
 *
 * restart = FILE: that one, or an error. latest: the highest number that is whole; a damaged one is
 * passed over with its reason; a whole one of another problem is an error. Rank 0 lists, all decide
 * together. A checkpoint's problem is looked at before its state, so that another problem is not
 * taken for damage. */
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "checkpointing_internal.h"
#include "log.h"

const char *const CHECKPOINTING_TEXT_NAMES[CHECKPOINTING_TEXTS] = {"/run/command", "/run/version",
                                                                   "/run/config", "/run/problem"};

enum { DIFFERENCES = 800 };

/* Whether the checkpoint at `path` is of this problem: STATUS_USAGE naming the keys if not,
 * STATUS_IO when it cannot be told. */
static status check_problem(const checkpointing *cp, const char *path) {
  status rc = STATUS_OK;
  char *of = NULL, *problem = NULL, keys[DIFFERENCES];
  TRY(checkpoint_text(cp->c, path, CHECKPOINTING_TEXT_NAMES[0], &of));
  TRY(checkpoint_text(cp->c, path, CHECKPOINTING_TEXT_NAMES[CHECKPOINTING_PROBLEM], &problem));
  if (strcmp(of, cp->text[0]) != 0) {
    rc = fail(STATUS_USAGE, "%s: a checkpoint of '%.40s', not of '%s'", path, of, cp->text[0]);
  } else if (problems_differ(problem, cp->text[CHECKPOINTING_PROBLEM], keys, sizeof keys)) {
    rc = fail(STATUS_USAGE,
              "%s: a checkpoint of another problem: %s; give what it has to go on with it, another "
              "name of checkpoints to begin anew",
              path, keys);
  }
done:
  alloc_free(&of);
  alloc_free(&problem);
  return rc;
}

/* The checkpoints under the name, rank 0's list on all ranks, descending. */
static status list_all(const checkpointing *cp, int64_t **numbers, int64_t *count) {
  status rc = STATUS_OK;
  *numbers = NULL;
  *count = 0;
  TRY(comm_agree(cp->c,
                 comm_rank(cp->c) == 0 ? checkpoint_list(cp->file, numbers, count) : STATUS_OK));
  TRY(comm_broadcast(cp->c, count, sizeof *count, 0));
  if (comm_rank(cp->c) != 0) rc = alloc_array(numbers, *count, sizeof **numbers, "checkpoints");
  TRY(comm_agree(cp->c, rc));
  TRY(comm_broadcast(cp->c, *numbers, *count * (int64_t)sizeof **numbers, 0));
done:
  return rc;
}

/* A fresh start under a name that has checkpoints: those of this problem would be continued by
 * `latest`, those of another would stand in its way. */
static status check_fresh(const checkpointing *cp) {
  status rc = STATUS_OK;
  int64_t *all = NULL, count = 0;
  char path[CHECKPOINT_PATH];
  TRY(list_all(cp, &all, &count));
  for (int64_t i = 0; i < count; i++) {
    TRY(checkpoint_path(cp->file, all[i], path));
    rc = check_problem(cp, path);
    if (rc == STATUS_USAGE) {
      rc = comm_agree(cp->c, rc);
      goto done;
    }
    fail_clear();
    rc = STATUS_OK;
  }
  if (count > 0 && comm_rank(cp->c) == 0) {
    TRY(checkpoint_path(cp->file, all[0], path));
    log_info("%s is there: this run starts afresh and writes beside it (--restart latest would go "
             "on from it)",
             path);
  }
done:
  alloc_free(&all);
  return rc;
}

status checkpointing_identify(checkpointing *cp, const char *name, const char *version,
                              const char *config, const char *problem) {
  status rc = STATUS_OK;
  const char *const texts[CHECKPOINTING_TEXTS] = {name, version, config, problem};
  for (int i = 0; i < CHECKPOINTING_TEXTS && rc == STATUS_OK; i++) {
    alloc_free(&cp->text[i]); /* of the method before, where a run has changed it */
    rc = alloc_text(&cp->text[i], texts[i], "text of a checkpoint");
  }
  TRY(comm_agree(cp->c, rc));
  if (cp->file != NULL && cp->restart == NULL) TRY(check_fresh(cp));
done:
  return rc;
}

/* Room for the largest part of an item that is moved through host memory: at start, so that no save
 * fails for want of it. */
static status make_buffer(checkpointing *cp) {
  int64_t most = 0;
  if (cp->buffer != NULL) return STATUS_OK;
  for (int i = 0; i < cp->count; i++) {
    const checkpoint_item *is = &cp->item[i].is;
    const int64_t bytes = is->count * (int64_t)checkpoint_size(is->type);
    if (is->move != NULL && bytes > most) most = bytes;
  }
  return alloc_array(&cp->buffer, most, 1, "checkpoint buffer");
}

static status read_state(checkpointing *cp, const char *path) {
  status rc = STATUS_OK;
  checkpoint_item items[CHECKPOINTING_OWN + CHECKPOINTING_ITEMS];
  int count = 0;
  for (int i = 0; i < CHECKPOINTING_TEXTS; i++) {
    items[count++] = (checkpoint_item){
        .name = CHECKPOINTING_TEXT_NAMES[i], .type = CHECKPOINT_BYTES, .replicated = 1};
  }
  items[count++] =
      (checkpoint_item){.name = CHECKPOINTING_NUMBER, .type = CHECKPOINT_I64, .replicated = 1};
  for (int i = 0; i < cp->count; i++) items[count++] = cp->item[i].is;
  TRY(checkpoint_read(cp->c, path, items, count, cp->buffer));
  cp->facts.restarted_at = *(const int64_t *)items[CHECKPOINTING_TEXTS].data;
  for (int i = 0; i < CHECKPOINTING_OWN; i++) alloc_free(&items[i].data);
  for (int i = 0; i < cp->count; i++) {
    if (!cp->item[i].is.replicated) continue;
    cp->item[i].loaded = items[CHECKPOINTING_OWN + i].data;
    cp->item[i].loaded_length = items[CHECKPOINTING_OWN + i].length;
  }
done:
  return rc;
}

static status load_file(checkpointing *cp, const char *path) {
  status rc = STATUS_OK;
  TRY(check_problem(cp, path));
  TRY(read_state(cp, path));
  snprintf(cp->facts.restarted, sizeof cp->facts.restarted, "%s", path);
done:
  return rc;
}

static status load_latest(checkpointing *cp, int *found) {
  status rc = STATUS_OK;
  int64_t *all = NULL, count = 0;
  char path[CHECKPOINT_PATH];
  TRY(list_all(cp, &all, &count));
  for (int64_t i = 0; i < count; i++) {
    TRY(checkpoint_path(cp->file, all[i], path));
    rc = load_file(cp, path);
    if (rc != STATUS_IO) {
      *found = rc == STATUS_OK;
      goto done;
    }
    if (comm_rank(cp->c) == 0) log_warning("checkpoint passed over: %s", fail_text());
    fail_clear();
    rc = STATUS_OK;
  }
  if (count > 0) {
    rc = fail(STATUS_IO, "%s: all %lld checkpoints of this name are damaged", cp->file,
              (long long)count);
  } else {
    if (comm_rank(cp->c) == 0) log_info("%s: no checkpoint yet: starting afresh", cp->file);
  }
done:
  alloc_free(&all);
  return rc;
}

status checkpointing_load(checkpointing *cp, int64_t *number) {
  status rc = STATUS_OK;
  int found = 0;
  *number = -1;
  if (cp->file == NULL && cp->restart == NULL) goto done;
  TRY(comm_agree(cp->c, make_buffer(cp)));
  if (cp->restart == NULL) goto done;
  if (cp->latest) {
    rc = load_latest(cp, &found);
  } else {
    rc = load_file(cp, cp->restart);
    found = rc == STATUS_OK;
  }
  TRY(comm_agree(cp->c, rc));
  if (!found) goto done;
  TRY(comm_agree(cp->c, checkpointing_restore_history(cp)));
  *number = cp->met = cp->facts.restarted_at;
  if (comm_rank(cp->c) == 0) {
    log_info("going on from %s, at %lld", cp->facts.restarted, (long long)*number);
  }
done:
  return rc;
}

const void *checkpointing_loaded(const checkpointing *cp, const char *name, int64_t *length) {
  for (int i = 0; i < cp->count; i++) {
    if (strcmp(cp->item[i].is.name, name) != 0) continue;
    *length = cp->item[i].loaded_length;
    return cp->item[i].loaded;
  }
  *length = 0;
  return NULL;
}
