/* Initial state and conductivity out of HDF5 files: each rank reads the planes it needs. Their
 * content is part of the problem that checkpoints are of. */
#include "alloc.h"
#include "fingerprint.h"
#include "heat_job.h"
#include "timers.h"

static status read_planes(void *context, int64_t first, int64_t planes, double *values) {
  return field_planes(context, first, planes, values);
}

/* The fingerprint of what is in there, of even shares of its planes, one at a time. */
static status read_content(heat_job *j, field_source *from, uint64_t *content) {
  status rc = STATUS_OK;
  const heat_grid *g = &j->in.problem.grid;
  const int64_t plane = field_plane(g);
  double *values = NULL;
  uint64_t sum = 0;
  int64_t share;
  ownership o = {.first = NULL};
  TRY(ownership_even(j->run->c, g->n[g->dims - 1], &o));
  rc = alloc_array(&values, plane, sizeof *values, "plane");
  for (gidx p = ownership_begin(&o); p < ownership_end(&o) && rc == STATUS_OK; p++) {
    rc = field_planes(from, p, 1, values);
    if (rc == STATUS_OK) sum += fingerprint_of(values, p * plane, plane);
  }
  TRY(comm_agree(j->run->c, rc));
  share = (int64_t)sum;
  TRY(comm_sum_i64(j->run->c, &share, 1));
  *content = (uint64_t)share;
done:
  alloc_free(&values);
  ownership_release(&o);
  return rc;
}

static status open_one(heat_job *j, int which, field_source **file, heat_reader *from,
                       uint64_t *content) {
  status rc = STATUS_OK;
  const char *text = j->in.of[which].text;
  if (text == NULL || !field_is_file(text)) return rc;
  TRY(field_open(j->run->c, text, &j->in.problem.grid, file));
  TRY(read_content(j, *file, content));
  *from = (heat_reader){read_planes, *file};
done:
  return rc;
}

status heat_files_open(heat_job *j) {
  status rc = STATUS_OK;
  heat_problem *p = &j->in.problem;
  const phase before = timers_switch(&j->timers, PHASE_READ);
  TRY(open_one(j, HEAT_INITIAL, &j->initial_file, &p->initial_from, &j->content_initial));
  TRY(open_one(j, HEAT_ALPHA, &j->alpha_file, &p->alpha_from, &j->content_alpha));
done:
  timers_switch(&j->timers, before);
  return rc;
}

void heat_files_close(heat_job *j) {
  field_source_close(&j->initial_file);
  field_source_close(&j->alpha_file);
}
