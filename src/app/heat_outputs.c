/* Saved times of `heat` (heat_outputs.h): which steps, and what is recorded there. */
#include "heat_outputs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "file_name.h"
#include "fingerprint.h"
#include "log.h"
#include "timers.h"

enum { COUNTED = 1 << 20 }; /* saved times up to here are counted beforehand */

static const char *field_output(const options *o) {
  const char *path = options_text(o, "run.output");
  return path != NULL && file_name_ends(path, ".vtkhdf|.h5|.hdf5") ? path : NULL;
}

/* ---- which steps ---- */

/* The first step at, or next after, an asked time: a time that a step misses by rounding is its
 * own. A time beyond the last step is not reached. */
static int64_t step_of(const heat_run *run, double time) {
  const double steps = ceil((time - run->t_0) / run->dt - 1e-9);
  if (steps <= 0.0) return run->step_0;
  return steps < OPTION_COUNT_MAX ? run->step_0 + (int64_t)steps : INT64_MAX;
}

/* Whether an asked time lies in (the last row's, `time`]: where a scheme chooses its steps, which
 * step an asked time belongs to shows when it is made. */
static int has_passed(const heat_outputs *out, double time) {
  double before = -INFINITY;
  if (out->rows > 0) memcpy(&before, heat_outputs_row(out, out->rows - 1) + ROW_TIME, 8);
  for (int i = 0; i < out->times; i++) {
    if (out->at[i] > before && out->at[i] <= time) return 1;
  }
  return 0;
}

static int64_t next_step(void *context, const heat_run *run, int64_t step) {
  const heat_outputs *out = context;
  int64_t next = INT64_MAX;
  if (out->every > 0 && step < INT64_MAX - out->every) {
    next = step < 0 ? 0 : (step / out->every + 1) * out->every;
  }
  if (run->rtol > 0.0) return has_passed(out, INFINITY) && step + 1 < next ? step + 1 : next;
  for (int i = 0; i < out->times; i++) {
    const int64_t k = step_of(run, out->at[i]);
    if (k > step && k < next) next = k;
  }
  return next;
}

/* 0: too many to count. */
static int64_t count_fields(const heat_outputs *out, const heat_run *run) {
  int64_t count = 0, step = -1;
  if (run->rtol > 0.0) return 0; /* nobody knows */
  while (step < run->last && count < COUNTED) {
    step = next_step((void *)(uintptr_t)out, run, step);
    if (step > run->last) step = run->last;
    count++;
  }
  return count < COUNTED ? count : 0;
}

/* ---- rows ---- */

int64_t heat_outputs_head(const heat_outputs *out) { return 2 + (int64_t)out->probes * out->dims; }

int64_t heat_outputs_width(const heat_outputs *out) { return ROW_PROBES + out->probes; }

int64_t *heat_outputs_row(const heat_outputs *out, int64_t i) {
  return out->words + heat_outputs_head(out) + i * heat_outputs_width(out);
}

static status make_room(heat_outputs *out) {
  status rc = STATUS_OK;
  const int64_t head = heat_outputs_head(out), width = heat_outputs_width(out);
  if (out->rows < out->room) return rc;
  const int64_t more = 2 * out->room + 64;
  TRY(alloc_grow(&out->words, out->words == NULL ? 0 : head + out->rows * width,
                 head + more * width, sizeof *out->words, "saved rows"));
  out->room = more;
done:
  return rc;
}

static void tell_history(const heat_outputs *out, const int64_t *row) {
  const int columns = ROW_PROBES - ROW_TIME + out->probes;
  for (int i = 0; i < columns; i++) {
    double value;
    memcpy(&value, row + ROW_TIME + i, sizeof value);
    history_row(out->history, row[ROW_STEP], 1 + i, value);
  }
}

/* The mean weighs points by their part of the domain: total heat over its measure. */
static double measure(const heat_grid *g) {
  double volume = 1.0;
  for (int d = 0; d < g->dims; d++) {
    const int closed = g->face[2 * d] != HEAT_PERIODIC && g->n[d] > 1;
    volume *= g->spacing[d] * (double)(g->n[d] - closed);
  }
  return volume;
}

static int is_there(const heat_outputs *out, int64_t step) {
  return out->rows > 0 && heat_outputs_row(out, out->rows - 1)[ROW_STEP] >= step;
}

static status record(heat_outputs *out, heat_run *run) {
  status rc = STATUS_OK;
  heat_totals t;
  const heat_slab *s = &run->slab;
  double *probed = NULL;
  rc = make_room(out);
  if (rc == STATUS_OK) rc = alloc_array(&probed, out->probes, sizeof *probed, "probes");
  if (rc == STATUS_OK) rc = heat_store(run, run->host, run->u);
  TRY(comm_agree(run->world, rc));
  TRY(heat_totals_of(run, run->u, &t));
  TRY(heat_probes_read(out, run, run->host, probed));
  int64_t print = (int64_t)fingerprint_of(run->host, s->first * s->plane, heat_owned(s));
  TRY(comm_sum_i64(run->world, &print, 1));
  if (out->file != NULL) TRY(field_save(out->file, out->fields, run->host));
  int64_t *row = heat_outputs_row(out, out->rows);
  const double real[] = {heat_time(run, run->step), t.heat, t.minimum, t.maximum,
                         t.heat / measure(&s->g)};
  row[ROW_STEP] = run->step;
  row[ROW_SLOT] = out->file != NULL ? out->fields++ : -1;
  row[ROW_PRINT] = print;
  memcpy(row + ROW_TIME, real, sizeof real);
  if (out->probes > 0) memcpy(row + ROW_PROBES, probed, (size_t)out->probes * sizeof *probed);
  tell_history(out, row);
  out->rows++;
done:
  alloc_free(&probed);
  return rc;
}

static status record_timed(heat_outputs *out, heat_run *run) {
  const phase before = timers_switch(run->timers, PHASE_WRITE);
  status rc = record(out, run);
  timers_switch(run->timers, before);
  return rc;
}

static status look(void *context, heat_run *run) {
  heat_outputs *out = context;
  if (is_there(out, run->step)) return STATUS_OK; /* gone on from here */
  const int64_t every = out->every;
  const int counted = every > 0 && run->step % every == 0;
  if (run->rtol > 0.0 && !counted && !has_passed(out, heat_time(run, run->step))) return STATUS_OK;
  return record_timed(out, run);
}

status heat_outputs_end(heat_outputs *out, heat_run *run) {
  if (!out->wanted || run->reason == HEAT_NOT_FINITE || run->reason == HEAT_FAILED) {
    return STATUS_OK;
  }
  double end = heat_time(run, run->step);
  int late = 0;
  for (int i = 0; i < out->times && run->reason == HEAT_DONE; i++) late += out->at[i] > end;
  if (late > 0) {
    log_warning("save_at: %d of the times lie behind the last step, at %.17g: not saved", late,
                end);
  }
  return is_there(out, run->step) ? STATUS_OK : record_timed(out, run);
}

/* ---- options ---- */

static status check_probes(const options *o, const heat_grid *g) {
  const double *probe;
  int length = 0;
  const int count = options_tuples(o, "heat.probe", &probe, &length);
  if (count > 0 && length != g->dims) {
    return fail(STATUS_USAGE, "%s: tuples of %d, expected %d coordinates",
                options_where(o, "heat.probe"), length, g->dims);
  }
  if (count > HEAT_PROBES) {
    return fail(STATUS_USAGE, "%s: %d probes, expected at most %d", options_where(o, "heat.probe"),
                count, HEAT_PROBES);
  }
  for (int p = 0; p < count; p++) {
    if (heat_probe_inside(g, probe + (int64_t)p * length)) continue;
    return fail(STATUS_USAGE, "%s: probe number %d lies outside the domain",
                options_where(o, "heat.probe"), p + 1);
  }
  return STATUS_OK;
}

status heat_outputs_check(const options *o, const heat_grid *g) {
  static const char *const keys[] = {"heat.save_every", "heat.save_at", "heat.probe"};
  status rc = STATUS_OK;
  const double *at;
  const char *path = options_text(o, "run.output");
  const int times = options_reals(o, "heat.save_at", &at);
  if (path != NULL && !file_name_ends(path, ".vtkhdf|.h5|.hdf5|.mtx|.txt")) {
    return fail(STATUS_USAGE,
                "%s = %s: expected a name that ends in .vtkhdf (or .h5, .hdf5), .mtx or .txt",
                options_where(o, "run.output"), path);
  }
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (!options_given(o, keys[i]) || field_output(o) != NULL || options_has(o, "run.history"))
      continue;
    return fail(STATUS_USAGE,
                "%s: there is no file to record in; add --output run.vtkhdf or "
                "--history run.csv",
                options_where(o, keys[i]));
  }
  for (int i = 0; i < times && options_has(o, "heat.t_end"); i++) {
    if (at[i] <= options_real(o, "heat.t_end")) continue;
    return fail(STATUS_USAGE, "%s: %.17g lies behind t_end = %.17g",
                options_where(o, "heat.save_at"), at[i], options_real(o, "heat.t_end"));
  }
  TRY(check_probes(o, g));
done:
  return rc;
}

static status open_history(heat_outputs *out, const options *o) {
  enum { COLUMN = 16 };
  status rc = STATUS_OK;
  char *heading = NULL;
  const size_t fixed = strlen(HISTORY_HEAT), room = fixed + (size_t)out->probes * COLUMN + 1;
  TRY(alloc_array(&heading, (int64_t)room, 1, "heading"));
  size_t used = (size_t)snprintf(heading, room, "%s", HISTORY_HEAT);
  for (int p = 0; p < out->probes; p++)
    used += (size_t)snprintf(heading + used, room - used, HISTORY_PROBE "%d", p + 1);
  rc = history_open(options_text(o, "run.history"), heading, &out->history);
done:
  alloc_free(&heading);
  return rc;
}

status heat_outputs_open(heat_outputs *out, heat_run *run, const options *o) {
  status rc = STATUS_OK;
  const char *path = field_output(o);
  const heat_slab *s = &run->slab;
  out->wanted = path != NULL || options_has(o, "run.history");
  if (!out->wanted) return STATUS_OK;
  out->every = options_has(o, "heat.save_every") ? options_integer(o, "heat.save_every") : 0;
  out->times = options_reals(o, "heat.save_at", &out->at);
  out->probes = options_tuples(o, "heat.probe", &out->probe, &out->dims);
  out->dims = s->g.dims;
  rc = make_room(out);
  if (rc == STATUS_OK) {
    out->words[0] = out->probes;
    out->words[1] = out->dims;
    if (out->probes > 0) {
      memcpy(out->words + 2, out->probe, (size_t)(heat_outputs_head(out) - 2) * sizeof *out->words);
    }
    if (comm_rank(run->world) == 0) rc = open_history(out, o);
  }
  TRY(comm_agree(run->world, rc));
  if (path != NULL) {
    TRY(field_create(run->world, path, &s->g, s->first, s->planes, count_fields(out, run),
                     &out->file));
  }
  run->visitor[run->visitors++] = (heat_visitor){next_step, look, out};
done:
  return rc;
}

void heat_outputs_close(heat_outputs *out) {
  (void)field_close(&out->file, 0);
  (void)history_close(&out->history, 0);
  alloc_free(&out->words);
}
