/* The history as a part of every checkpoint, so that a continued run writes the same file
 * (checkpointing.h): rows of numbers, rank 0's, item /run/history. */
#include <string.h>

#include "checkpointing_internal.h"

static status refresh(void *context, checkpoint_item *item) {
  checkpointing *cp = context;
  const double *rows = NULL;
  int64_t count = 0;
  item->data = &cp->nothing;
  item->length = 0;
  if (cp->history == NULL) return STATUS_OK; /* not rank 0 */
  status rc = history_rows(cp->history, &rows, &count);
  if (rc == STATUS_OK && count > 0) {
    memcpy(&item->data, &rows, sizeof rows);
    item->length = count * cp->history_columns;
  }
  return rc;
}

status checkpointing_history(checkpointing *cp, const char *heading, history **h) {
  status rc = STATUS_OK;
  const checkpoint_item rows = {
      .name = CHECKPOINTING_HISTORY, .type = CHECKPOINT_F64, .replicated = 1};
  if (cp->file != NULL && comm_rank(cp->c) == 0) TRY(history_remember(heading, h));
  cp->history = *h;
  cp->history_columns = history_columns(heading);
  TRY(checkpointing_add(cp, &rows, refresh, cp));
done:
  return rc;
}

status checkpointing_restore_history(const checkpointing *cp) {
  int64_t length;
  if (cp->history_columns == 0) return STATUS_OK;
  const double *rows = checkpointing_loaded(cp, CHECKPOINTING_HISTORY, &length);
  if (length % cp->history_columns != 0) {
    return fail(STATUS_IO, "%s: its history has %lld numbers, expected rows of %d",
                cp->facts.restarted, (long long)length, cp->history_columns);
  }
  history_restore(cp->history, rows, length / cp->history_columns);
  return STATUS_OK;
}
