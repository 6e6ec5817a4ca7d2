/* Saved times across a restart (heat_outputs.h): rows are in the checkpoint; fields are where the
 * run before left them, and are copied into this one's file. */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "checkpointing.h"
#include "heat_outputs.h"
#include "log.h"

static const char ROWS[] = "/heat/rows", PARTIAL[] = "/heat/partial";

/* When a checkpoint is written; it counts on the fields saved so far. Local. */
static status refresh_rows(void *context, checkpoint_item *item) {
  heat_outputs *out = context;
  item->data = &out->nothing;
  item->length = 0;
  if (out->file != NULL) {
    status rc = field_sync(out->file);
    if (rc != STATUS_OK) return rc;
  }
  if (out->wanted) {
    item->data = out->words;
    item->length = heat_outputs_head(out) + out->rows * heat_outputs_width(out);
  }
  return STATUS_OK;
}

static status refresh_partial(void *context, checkpoint_item *item) {
  heat_outputs *out = context;
  item->data = &out->nothing;
  item->length = 0;
  if (out->file != NULL) {
    const char *name = field_partial(out->file);
    memcpy(&item->data, &name, sizeof name);
    item->length = (int64_t)strlen(name);
  }
  return STATUS_OK;
}

status heat_outputs_add(heat_outputs *out, struct checkpointing *saving) {
  status rc = STATUS_OK;
  const checkpoint_item rows = {.name = ROWS, .type = CHECKPOINT_I64, .replicated = 1};
  const checkpoint_item partial = {.name = PARTIAL, .type = CHECKPOINT_BYTES, .replicated = 1};
  TRY(checkpointing_add(saving, &rows, refresh_rows, out));
  TRY(checkpointing_add(saving, &partial, refresh_partial, out));
done:
  return rc;
}

/* Where probe p of this run is among those of the checkpoint; -1: it is a new one. */
static int find_probe(const heat_outputs *out, int p, const int64_t *head) {
  const size_t bytes = (size_t)out->dims * sizeof *head;
  for (int q = 0; q < (int)head[0]; q++) {
    if (memcmp(head + 2 + (int64_t)q * out->dims, out->probe + (int64_t)p * out->dims, bytes) == 0)
      return q;
  }
  return -1;
}

/* Rows of the checkpoint become rows of this run; probes that were not asked for then are NaN. */
static status take_rows(heat_outputs *out, const int64_t *head, int64_t count) {
  status rc = STATUS_OK;
  const int64_t first = 2 + head[0] * head[1], width = ROW_PROBES + head[0];
  const int64_t own_head = heat_outputs_head(out), own = heat_outputs_width(out);
  const double unknown = NAN;
  TRY(alloc_grow(&out->words, own_head, own_head + (count + 1) * own, sizeof *out->words,
                 "saved rows"));
  out->room = count + 1;
  for (int64_t i = 0; i < count; i++) {
    int64_t *row = heat_outputs_row(out, i);
    memcpy(row, head + first + i * width, ROW_PROBES * sizeof *row);
    for (int p = 0; p < out->probes; p++) {
      const int q = find_probe(out, p, head);
      memcpy(row + ROW_PROBES + p, &unknown, sizeof unknown);
      if (q >= 0) row[ROW_PROBES + p] = head[first + i * width + ROW_PROBES + q];
    }
  }
  out->rows = count;
done:
  return rc;
}

/* Numbers of fields come in order: rows without one are passed over. */
static status take_fields(heat_outputs *out, const heat_run *run, const char *partial) {
  status rc = STATUS_OK;
  uint64_t *print = NULL;
  int64_t count = 0;
  int taken = 0;
  TRY(comm_agree(run->world, alloc_array(&print, out->rows, sizeof *print, "saved fields")));
  for (int64_t i = 0; i < out->rows; i++) {
    const int64_t *row = heat_outputs_row(out, i);
    if (row[ROW_SLOT] == count) print[count++] = (uint64_t)row[ROW_PRINT];
  }
  if (out->file != NULL) TRY(field_resume(out->file, partial, count, print, &taken));
  if (taken) out->fields = count;
  for (int64_t i = 0; !taken && i < out->rows; i++) heat_outputs_row(out, i)[ROW_SLOT] = -1;
  if (out->file != NULL && !taken) {
    log_warning("the %lld fields saved before step %lld are neither in the output file nor in %s "
                "beside it: the new file begins after them",
                (long long)count, (long long)run->step,
                partial[0] != '\0' ? partial : "a temporary");
  }
done:
  alloc_free(&print);
  return rc;
}

status heat_outputs_resume(heat_outputs *out, heat_run *run, const struct checkpointing *saving) {
  status rc = STATUS_OK;
  int64_t words, letters;
  char partial[FIELD_NAME] = "";
  const int64_t *head = checkpointing_loaded(saving, ROWS, &words);
  const char *name = checkpointing_loaded(saving, PARTIAL, &letters);
  if (!out->wanted || words < 2) return STATUS_OK;
  const int64_t width = ROW_PROBES + head[0], left = words - 2 - head[0] * head[1];
  if (head[0] < 0 || head[0] > HEAT_PROBES || head[1] != out->dims || left < 0 ||
      left % width != 0 || letters >= FIELD_NAME) {
    return comm_agree(run->world,
                      fail(STATUS_IO, "a checkpoint of another layout: its saved rows are odd"));
  }
  memcpy(partial, name, (size_t)letters);
  TRY(comm_agree(run->world, take_rows(out, head, left / width)));
  for (int64_t i = 0; i < out->rows; i++) {
    for (int c = 0; c < ROW_PROBES - ROW_TIME + out->probes; c++) {
      double value;
      memcpy(&value, heat_outputs_row(out, i) + ROW_TIME + c, sizeof value);
      history_row(out->history, heat_outputs_row(out, i)[ROW_STEP], 1 + c, value);
    }
  }
  rc = take_fields(out, run, partial);
done:
  return rc;
}
