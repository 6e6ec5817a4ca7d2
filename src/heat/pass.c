/* Stages over all ranks, several in one pass over memory (heat_backend.h: pass).
 *
 * Schemes queue their stages; the queue is run when it is as long as the backend likes its passes,
 * over the ends of steps, and before anything looks at a field. The halo is as deep as a pass is
 * long, and exchanged once per pass: stages recompute what they need of the neighbours' planes.
 *
 *   pack -> halo_begin -> PART_INTERIOR -> halo_end -> unpack -> PART_BOUNDARY
 *
 * Fields that are not written keep their halo; so where a step of many stages is several passes,
 * its first field is sent once. Where a source or the values of a face are fields that change in
 * time passes are of one stage (or of those that are at the same time), for there is one such
 * field. The bits are those of one stage at a time. */
#include <math.h>

#include "alloc.h"
#include "scheme.h"

static int changes(const heat_supply *s) { return s->field.data.at != NULL && s->value->in_time; }

/* Whether the stages queued need values of other times than these. */
static int is_fed_otherwise(const heat_run *run, double t_in, double t_out) {
  int in = changes(&run->source), out = 0;
  for (int f = 0; f < HEAT_FACES; f++) {
    in |= changes(&run->flux[f]);
    out |= changes(&run->held[f]);
  }
  return (in && run->fed_in != t_in) || (out && run->fed_out != t_out);
}

/* ---- halos ---- */

/* How deep the halo of a field holds its values. */
static int64_t *depth_of(heat_run *run, heat_field f) {
  enum { KNOWN = sizeof run->known / sizeof *run->known };
  for (int i = 0; i < KNOWN; i++) {
    if (run->known[i].at == f.data.at) return &run->known[i].depth;
  }
  run->next_known = (run->next_known + 1) % KNOWN;
  run->known[run->next_known] = (heat_known){f.data.at, 0};
  return &run->known[run->next_known].depth;
}

void heat_forget_halos(heat_run *run) {
  for (size_t i = 0; i < sizeof run->known / sizeof *run->known; i++) run->known[i].depth = 0;
}

enum { FETCHED_MOST = 2 * (HEAT_TERMS + 2) };

typedef struct fetching {
  int count;
  heat_field field[FETCHED_MOST];
} fetching;

/* Stage i reads f, `margin` planes into the halo: is it to be fetched first? */
static void fetch(heat_run *run, int i, heat_field f, int64_t margin, fetching *all) {
  for (int k = 0; k < i; k++) {
    if (run->queue[k].out.data.at == f.data.at) return;
  }
  for (int k = 0; k < all->count; k++) {
    if (all->field[k].data.at == f.data.at) return;
  }
  if (*depth_of(run, f) < margin) all->field[all->count++] = f;
}

static fetching find_fetched(heat_run *run) {
  fetching all = {0};
  for (int i = 0; i < run->queued; i++) {
    const heat_stage *s = &run->queue[i];
    const int64_t margin = run->queued - 1 - i;
    fetch(run, i, s->u, margin + 1, &all);
    fetch(run, i, s->base, margin, &all);
    for (int k = 0; k < s->terms; k++) fetch(run, i, s->term[k], margin, &all);
  }
  return all;
}

static void note_halos(heat_run *run, const fetching *fetched) {
  for (int i = 0; i < fetched->count; i++) *depth_of(run, fetched->field[i]) = run->slab.halo;
  for (int i = 0; i < run->queued; i++) *depth_of(run, run->queue[i].out) = run->queued - 1 - i;
}

/* ---- the queue ---- */

/* An out that is written again, or after whole steps is not the field, is not read any more. */
static void mark_fleeting(heat_run *run) {
  const int whole = run->queued == run->whole;
  for (int i = 0; i < run->queued; i++) {
    heat_stage *s = &run->queue[i];
    s->fleeting = whole && s->out.data.at != run->u.data.at;
    for (int k = i + 1; k < run->queued; k++)
      s->fleeting |= run->queue[k].out.data.at == s->out.data.at;
  }
}

static status do_part(heat_run *run, part which) {
  heat_count_pass(run);
  return run->kernels->heat->pass(run->place, run->work, run->queue, run->queued, which);
}

status heat_flush(heat_run *run) {
  status rc = STATUS_OK;
  if (run->queued == 0) return rc;
  const fetching fetched = find_fetched(run);
  const int alone = run->plan.sends == 0 && run->plan.ghosts == 0;
  mark_fleeting(run);
  for (int i = 0; i + 1 < fetched.count; i++) TRY(heat_exchange(run, fetched.field[i]));
  if (fetched.count > 0) TRY(heat_exchange_begin(run, fetched.field[fetched.count - 1]));
  if (fetched.count > 0 && !alone) HEAT_ATTEMPT(run, do_part(run, PART_INTERIOR));
  if (fetched.count > 0) TRY(heat_exchange_end(run, fetched.field[fetched.count - 1]));
  HEAT_ATTEMPT(run, do_part(run, fetched.count > 0 && !alone ? PART_BOUNDARY : PART_ALL));
  note_halos(run, &fetched);
  run->passed += heat_owned(&run->slab) +
                 (alone ? 0 : 2 * (run->queued - 1) * run->slab.plane * (run->slab.planes > 0));
  run->queued = run->whole = 0;
done:
  return rc;
}

status heat_queue_stage(heat_run *run, const heat_stage *s, double t_in, double t_out) {
  status rc = STATUS_OK;
  if (run->queued == run->depth || is_fed_otherwise(run, t_in, t_out)) TRY(heat_flush(run));
  heat_stage *mine = &run->queue[run->queued];
  *mine = *s;
  HEAT_ATTEMPT(run, heat_input_at(run, t_in, &mine->input));
  HEAT_ATTEMPT(run, heat_held_at(run, t_out, mine->held));
  run->fed_in = t_in;
  run->fed_out = t_out;
  run->queued++;
  run->stages++;
done:
  return rc;
}

status heat_run_stage(heat_run *run, const heat_stage *s, double t_in, double t_out) {
  status rc = STATUS_OK;
  TRY(heat_flush(run));
  heat_forget_halos(run);
  TRY(heat_queue_stage(run, s, t_in, t_out));
  rc = heat_flush(run);
done:
  return rc;
}

/* ---- how long ---- */

static int is_timed_field(const heat_value *v, int always) {
  return v->f != NULL && v->in_time && (v->in_space || always);
}

/* Whether a field of inputs changes in time. */
static int is_timed(const heat_problem *p) {
  int timed = is_timed_field(&p->source, 0);
  for (int f = 0; f < 2 * p->grid.dims; f++) {
    const heat_boundary *b = &p->face[f];
    timed |= is_timed_field(&b->value, b->kind == BOUNDARY_DIRICHLET);
  }
  return timed;
}

/* Stages at the ends of a slab are computed twice, on both sides: at most for so many planes. */
enum { PLANES_PER_STAGE = 8 };

/* Whether slabs have others' planes beside them. */
static int is_cut(const heat_run *run) {
  const heat_grid *g = &run->problem->grid;
  return comm_size(run->world) > 1 || g->face[2 * (g->dims - 1)] == HEAT_PERIODIC;
}

/* What serves a slab of so many planes. */
static int64_t serving_depth(const heat_run *run, int64_t planes) {
  const int64_t useful = planes / PLANES_PER_STAGE;
  int64_t depth = run->kernels->heat->depth(run->place, &run->problem->grid,
                                            heat_alpha_varies(run->problem), planes);
  if (is_cut(run) && planes > 0 && depth > useful) depth = useful;
  return is_timed(run->problem) || depth < 1 ? 1 : depth;
}

static int64_t halo_of(const heat_run *run, int64_t depth) {
  const heat_grid *g = &run->problem->grid;
  return is_cut(run) && g->n[g->dims - 1] > 1 && depth > HEAT_REACH ? depth : HEAT_REACH;
}

int64_t heat_halo_for(const heat_run *run, int64_t planes) {
  return halo_of(run, serving_depth(run, planes));
}

status heat_choose_depth(heat_run *run, int64_t wanted) {
  status rc = STATUS_OK;
  heat_slab *s = &run->slab;
  int64_t word[2];
  if (wanted == 0) {
    word[0] = s->planes > 0 ? -serving_depth(run, s->planes) : INT64_MIN;
    TRY(comm_max_i64(run->world, word, 1));
    wanted = -word[0];
  }
  run->depth = (int)wanted;
  s->halo = halo_of(run, wanted);
  rc = comm_agree(run->world, alloc_array(&run->queue, run->depth, sizeof *run->queue, "stages"));
done:
  return rc;
}
