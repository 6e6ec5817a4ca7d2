/* Saving and going on with adaptive runs, between generations. The state is the list of regions,
 * the probes with their places in the regions' lists, the exact totals and the count of
 * evaluations; the heap follows from the regions. 7 to 25 doubles a region are packed when a
 * checkpoint is written. Checkpoints are numbered by regions. */
#include <string.h>

#include "adaptive.h"
#include "alloc.h"
#include "quad_saving.h"

/* Of a region beside its edges: value, error, rule_error, axis, probe; of a probe beside its place:
 * g, share, next. */
enum { REGION_NUMBERS = 5, PROBE_NUMBERS = 3, TOTALS = 4 };

static int region_width(const engine *e) { return 2 * e->frame.dims + REGION_NUMBERS; }
static int probe_width(const engine *e) { return e->frame.dims + PROBE_NUMBERS; }

static wide *total_at(engine *e, int i) {
  wide *const all[TOTALS] = {&e->value, &e->size, &e->error, &e->stuck};
  return all[i];
}

static status pack_regions(void *context, checkpoint_item *item) {
  status rc = STATUS_OK;
  engine *e = context;
  const int edges = 2 * e->frame.dims, width = region_width(e);
  alloc_free(&e->packed[0]);
  TRY(alloc_array(&e->packed[0], e->list.count * width, sizeof(double), "regions to save"));
  for (int64_t id = 0; id < e->list.count; id++) {
    const region *r = &e->list.at[id];
    const double number[REGION_NUMBERS] = {r->value, r->error, r->rule_error, r->axis, r->probe};
    memcpy(e->packed[0] + id * width, region_list_edge(&e->list, id),
           (size_t)edges * sizeof(double));
    memcpy(e->packed[0] + id * width + edges, number, sizeof number);
  }
  item->data = e->packed[0];
  item->length = e->list.count * width;
done:
  return rc;
}

static status pack_probes(void *context, checkpoint_item *item) {
  status rc = STATUS_OK;
  engine *e = context;
  const int dims = e->frame.dims, width = probe_width(e);
  alloc_free(&e->packed[1]);
  TRY(alloc_array(&e->packed[1], (int64_t)e->probes.count * width, sizeof(double),
                  "probes to save"));
  for (int64_t i = 0; i < e->probes.count; i++) {
    const probe *p = &e->probes.at[i];
    const double number[PROBE_NUMBERS] = {p->g, p->share, p->next};
    memcpy(e->packed[1] + i * width, p->place, (size_t)dims * sizeof(double));
    memcpy(e->packed[1] + i * width + dims, number, sizeof number);
  }
  item->data = e->packed[1];
  item->length = (int64_t)e->probes.count * width;
done:
  return rc;
}

static status pack_totals(void *context, checkpoint_item *item) {
  engine *e = context;
  quad_saver *s = e->run->saver;
  for (int i = 0; i < TOTALS; i++) {
    memcpy(s->word + i * WIDE_WORDS, total_at(e, i)->word, WIDE_WORDS * sizeof *s->word);
  }
  s->word[TOTALS * WIDE_WORDS] = e->run->evaluations;
  item->data = s->word;
  return STATUS_OK;
}

static status add_items(engine *e) {
  status rc = STATUS_OK;
  checkpointing *is = e->run->saver->is;
  checkpoint_item item = {.type = CHECKPOINT_F64, .replicated = 1};
  item.name = "/quad/regions";
  TRY(checkpointing_add(is, &item, pack_regions, e));
  item.name = "/quad/probes";
  TRY(checkpointing_add(is, &item, pack_probes, e));
  item.name = "/quad/totals";
  item.type = CHECKPOINT_I64;
  item.length = TOTALS * WIDE_WORDS + 1;
  TRY(checkpointing_add(is, &item, pack_totals, e));
done:
  return rc;
}

static status unpack_regions(engine *e, const double *packed, int64_t count) {
  status rc = STATUS_OK;
  const int edges = 2 * e->frame.dims, width = region_width(e);
  TRY(region_list_reserve(&e->list, count));
  e->list.count = count;
  for (int64_t id = 0; id < count; id++) {
    const double *number = packed + id * width + edges;
    memcpy(region_list_edge(&e->list, id), packed + id * width, (size_t)edges * sizeof(double));
    e->list.at[id] = (region){.value = number[0],
                              .error = number[1],
                              .rule_error = number[2],
                              .axis = (int32_t)number[3],
                              .probe = (int32_t)number[4]};
    if (e->list.at[id].axis != QUAD_WHOLE) region_list_wait(&e->list, id);
  }
done:
  return rc;
}

static status unpack_probes(engine *e, const double *packed, int64_t count) {
  status rc = STATUS_OK;
  const int dims = e->frame.dims, width = probe_width(e);
  TRY(alloc_array(&e->probes.at, count, sizeof *e->probes.at, "probes"));
  e->probes.count = (int)count;
  for (int64_t i = 0; i < count; i++) {
    const double *number = packed + i * width + dims;
    probe *p = &e->probes.at[i];
    memcpy(p->place, packed + i * width, (size_t)dims * sizeof(double));
    p->g = number[0];
    p->share = number[1];
    p->next = (int32_t)number[2];
  }
done:
  return rc;
}

/* What the file held, into the engine. Local. */
static status unpack(engine *e) {
  status rc = STATUS_OK;
  const checkpointing *is = e->run->saver->is;
  int64_t regions, probes, totals;
  const double *edge = checkpointing_loaded(is, "/quad/regions", &regions);
  const double *place = checkpointing_loaded(is, "/quad/probes", &probes);
  const int64_t *total = checkpointing_loaded(is, "/quad/totals", &totals);
  if (regions % region_width(e) != 0 || probes % probe_width(e) != 0 ||
      totals != TOTALS * WIDE_WORDS + 1) {
    return fail(STATUS_IO, "a checkpoint of another layout");
  }
  TRY(unpack_regions(e, edge, regions / region_width(e)));
  TRY(unpack_probes(e, place, probes / probe_width(e)));
  for (int i = 0; i < TOTALS; i++) {
    memcpy(total_at(e, i)->word, total + i * WIDE_WORDS, WIDE_WORDS * sizeof *total);
  }
  e->run->evaluations = total[TOTALS * WIDE_WORDS];
done:
  return rc;
}

status adaptive_load(engine *e, int *loaded) {
  status rc = STATUS_OK;
  int64_t number;
  *loaded = 0;
  if (e->run->saver == NULL) return STATUS_OK;
  TRY(comm_agree(e->run->world, add_items(e)));
  TRY(checkpointing_load(e->run->saver->is, &number));
  if (number < 0) goto done;
  TRY(comm_agree(e->run->world, unpack(e)));
  *loaded = 1;
done:
  return rc;
}

status adaptive_meet(engine *e) {
  quad_run *run = e->run;
  quad_progress(run, e->list.count, 0, run->error);
  if (run->saver == NULL) return STATUS_OK;
  run->saver->blocks = e->list.count;
  return quad_saver_look(run, e->list.count);
}

status adaptive_finish(engine *e) {
  const quad_run *run = e->run;
  if (run->saver == NULL || quad_stopped(run) || run->reason == QUAD_NOT_FINITE) return STATUS_OK;
  run->saver->blocks = e->list.count;
  return checkpointing_finish(run->saver->is, e->list.count);
}
