/* Globally adaptive quadrature in generations: rules `adaptive` (1-D, Gauss-Kronrod 7/15) and
 * `genz-malik` (2-D to 10-D, degree 7/5).
 *
 * The list of regions lives on every rank's host, the same everywhere. A generation halves regions
 * by falling error (ties: the lower id) until the errors of those that stay sum to at most the
 * tolerance: no algorithm that halves regions could do with fewer. Their halves are one batch for
 * the backend: dealt to the ranks in runs, the estimates gathered. Totals are wide sums (wide.h)
 * from which a halved region is taken out exactly. So the bits are the same for any ranks, threads
 * and backend; and a batch keeps a GPU busy.
 *
 * Errors: the rule's own (quad_regions.h); in one direction, where halving hardly helped (the
 * error fell by a ratio r above 1/2, as at a singular point), divided by 1 - r, the rest of the
 * geometric series that further halving would bring; in several, DOUBT of what the halves' values
 * changed is added (after Hahn, CUBA, Comput. Phys. Commun. 168 (2005): Cuhre); and
 * at least what probes (probe.h) saw in the region and its points did not. A region at the level of
 * rounding, or too narrow, is never halved; when only such ones are left and the tolerance is not
 * met, the run ends with QUAD_ROUND_OFF.
 *
 * Cost: n points a region, two regions a halving; O(log regions) host work each; 40 + 16 dims bytes
 * a region, at most max_evaluations / (2 n) + first level regions.
 *
 * Sources: Piessens et al., QUADPACK (1983), QAG; Genz, Malik (1980); Berntsen, Espelid, Genz, An
 * adaptive algorithm for the approximate calculation of multiple integrals, ACM TOMS 17 (1991). */
#include "adaptive.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "timers.h"

enum {
  HALVINGS_MAX = 1 << 17, /* of a generation: bounds its arrays */
  REGIONS_LEAST = 8       /* nothing has converged with fewer */
};

/* Regions are halved until the others' errors are this part of what the tolerance allows: 1 takes
 * the fewest evaluations, less takes fewer generations. */
#define KEEP 0.8

/* Once what cannot be halved is above the tolerance, the rest is refined to this part of it. */
#define IN_VAIN 0.1

/* In several directions, where a box may hold what its points do not meet: of what two halves'
 * values differ from the whole's, this part is added to the error of each. */
#define DOUBT (1.0 / 32.0)

#define TAIL_LEAST (1.0 / 256.0) /* 1 - r at least */

/* An integrand whose own size (the sum of |value| over regions) seems to be below this part of atol
 * is resolved to this part of its size before atol is believed: the feet of a peak not met yet look
 * like that. */
#define TINY     0x1p-10
#define RESOLVED 0x1p-6

static void engine_release(engine *e) {
  region_list_release(&e->list);
  probe_set_release(&e->probes);
  alloc_free(&e->edge);
  alloc_free(&e->part);
  alloc_free(&e->whole);
  alloc_free(&e->parent);
  for (int i = 0; i < ADAPTIVE_ITEMS; i++) alloc_free(&e->packed[i]);
}

static int64_t share_of(const engine *e, int64_t count) {
  const int64_t size = comm_size(e->run->world);
  return (count + size - 1) / size;
}

status adaptive_reserve(engine *e, int64_t count) {
  status rc = STATUS_OK;
  if (count <= e->room) return STATUS_OK;
  const int64_t room = count > 2 * e->room ? count : 2 * e->room, share = share_of(e, room);
  TRY(alloc_grow(&e->edge, 0, room * 2 * e->frame.dims, sizeof *e->edge, "regions"));
  TRY(alloc_grow(&e->part, 0, share, sizeof *e->part, "regions"));
  TRY(alloc_grow(&e->whole, 0, share * comm_size(e->run->world), sizeof *e->whole, "regions"));
  TRY(alloc_grow(&e->parent, 0, room / 2 + 1, sizeof *e->parent, "regions"));
  e->room = room;
done:
  return rc;
}

status adaptive_evaluate(engine *e, int64_t count, status mine) {
  status rc = STATUS_OK;
  quad_run *q = e->run;
  const int64_t share = share_of(e, count), rank = comm_rank(q->world);
  const int64_t first = rank * share < count ? rank * share : count;
  const int64_t end = first + share < count ? first + share : count;
  if (mine == STATUS_OK) {
    memset(e->part, 0, (size_t)share * sizeof *e->part);
    mine = q->kernels->quad->regions(q->place, q->work, &e->frame, q->integral.parameters,
                                     end - first, e->edge + first * 2 * e->frame.dims, e->part);
  }
  const phase before = timers_switch(q->timers, PHASE_COMMUNICATE);
  rc = comm_agree(q->world, mine);
  if (rc == STATUS_OK) {
    rc = comm_allgather(q->world, e->part, e->whole, share * (int64_t)sizeof *e->part);
  }
  timers_switch(q->timers, before);
  q->evaluations += count * e->points;
  return rc;
}

/* Takes a region's numbers into the totals, or, with sign -1, out of them. */
static void account(engine *e, const region *r, double sign) {
  wide_add(&e->value, sign * r->value);
  wide_add(&e->size, sign * fabs(r->value));
  wide_add(&e->error, sign * r->error);
  if (r->axis == QUAD_WHOLE) wide_add(&e->stuck, sign * r->error);
}

void adaptive_settle(engine *e, int64_t id, const quad_estimate *estimate, double before,
                     double doubt) {
  region *r = &e->list.at[id];
  const double *edge = region_list_edge(&e->list, id);
  const double unseen = probe_unseen(&e->probes, r->probe, estimate);
  r->value = estimate->value;
  r->error = r->rule_error = estimate->error;
  r->axis = estimate->axis;
  if (e->frame.dims == 1 && r->rule_error > 0.5 * before && before > 0.0) {
    r->error /= fmax(1.0 - r->rule_error / before, TAIL_LEAST);
  }
  r->error += doubt;
  if (unseen > r->error || (doubt > r->rule_error && r->axis == QUAD_WHOLE)) {
    r->error = fmax(r->error, unseen);
    r->axis = quad_region_longest(&e->frame, edge);
  }
  account(e, r, 1.0);
  if (r->axis != QUAD_WHOLE) region_list_wait(&e->list, id);
  if (!isfinite(estimate->value + r->error) && e->run->reason != QUAD_NOT_FINITE) {
    e->run->reason = QUAD_NOT_FINITE;
    adaptive_find_bad(e->run, &e->frame, edge);
  }
}

/* Measures direction d from the upper end where that is nearer (exact: Sterbenz). */
static void measure(const quad_frame *f, double *edge, int d) {
  const double width = f->axis[d].upper - f->axis[d].lower;
  if (edge[2 * d] < 0.5 * width) return;
  edge[2 * d] -= width;
  edge[2 * d + 1] -= width;
}

/* The two halves of region `id`, into the batch from region `to` on. */
static void halve(engine *e, int64_t id, int64_t to) {
  const int edges = 2 * e->frame.dims, d = e->list.at[id].axis;
  double *left = e->edge + to * edges, *right = left + edges;
  memcpy(left, region_list_edge(&e->list, id), (size_t)edges * sizeof *left);
  memcpy(right, left, (size_t)edges * sizeof *left);
  left[2 * d + 1] = right[2 * d] = 0.5 * (left[2 * d] + left[2 * d + 1]);
  measure(&e->frame, left, d);
  measure(&e->frame, right, d);
}

/* The probes of region `left` are dealt to it and its other half. */
static void part_probes(engine *e, int64_t left, int64_t right) {
  int32_t next;
  region *a = &e->list.at[left], *b = &e->list.at[right];
  int32_t i = a->probe;
  a->probe = b->probe = -1;
  for (; i >= 0; i = next) {
    probe *p = &e->probes.at[i];
    region *to = probe_inside(&e->frame, p, region_list_edge(&e->list, right)) ? b : a;
    next = p->next;
    p->next = to->probe;
    to->probe = i;
  }
}

/* The halves of parent[j] become regions parent[j] and a new one. */
static void replace(engine *e, int64_t j) {
  const int edges = 2 * e->frame.dims;
  const int64_t left = e->parent[j], right = e->list.count++;
  const double before = e->list.at[left].rule_error;
  const quad_estimate *a = &e->whole[2 * j], *b = a + 1;
  const double doubt =
      e->frame.dims > 1 ? DOUBT * fabs(a->value + b->value - e->list.at[left].value) : 0.0;
  account(e, &e->list.at[left], -1.0);
  memcpy(region_list_edge(&e->list, left), e->edge + 2 * j * edges, (size_t)edges * sizeof(double));
  memcpy(region_list_edge(&e->list, right), e->edge + (2 * j + 1) * edges,
         (size_t)edges * sizeof(double));
  part_probes(e, left, right);
  adaptive_settle(e, left, a, before, doubt);
  adaptive_settle(e, right, b, before, doubt);
}

/* The error that is good enough. */
static double allowed_error(engine *e) {
  const quad_limits *limits = &e->run->limits;
  const double relative = limits->rtol * fabs(e->run->value), size = wide_round(&e->size);
  const double absolute =
      size < TINY * limits->atol ? fmin(limits->atol, RESOLVED * size) : limits->atol;
  return fmax(relative, absolute);
}

/* Whether the run is over; else *keep is how much error may stay in regions that could be halved.
 */
static int judged(engine *e, double *keep) {
  quad_run *q = e->run;
  wide_normalise(&e->value);
  wide_normalise(&e->size);
  wide_normalise(&e->error);
  wide_normalise(&e->stuck);
  q->value = wide_round(&e->value);
  q->error = wide_round(&e->error);
  if (q->reason == QUAD_NOT_FINITE) {
    q->value = q->error = NAN;
    return 1;
  }
  const double stuck = wide_round(&e->stuck);
  const double allowed = allowed_error(e);
  const double rest = stuck > allowed ? IN_VAIN * stuck : allowed - stuck;
  *keep = KEEP * rest;
  q->reason = QUAD_CONVERGED;
  if (q->error <= allowed) {
    *keep = 0.0;
    if (e->list.count >= REGIONS_LEAST || e->list.waiting == 0) return 1;
  }
  q->reason = QUAD_ROUND_OFF;
  if (e->list.waiting == 0 || (stuck > allowed && q->error - stuck <= rest)) return 1;
  q->reason = QUAD_MAX_EVALUATIONS;
  return (q->limits.max_evaluations - q->evaluations) / (2 * e->points) < 1;
}

/* Takes the regions of a generation off the heap: their number. */
static int64_t choose(engine *e, double keep, double waiting) {
  const int64_t room = (e->run->limits.max_evaluations - e->run->evaluations) / (2 * e->points);
  const int64_t most = room < HALVINGS_MAX ? room : HALVINGS_MAX;
  int64_t count = 0;
  while (count < most && e->list.waiting > 0 && (count == 0 || waiting > keep)) {
    const int64_t id = region_list_take(&e->list);
    waiting -= e->list.at[id].error;
    e->parent[count++] = id;
  }
  return count;
}

static status generations(engine *e) {
  status rc = STATUS_OK, mine = STATUS_OK;
  double keep;
  while (!judged(e, &keep)) {
    TRY(adaptive_meet(e));
    if (quad_stopped(e->run)) break;
    /* the heap is read before the batch has room: parent[] first */
    const int64_t most = e->list.waiting < HALVINGS_MAX ? e->list.waiting : HALVINGS_MAX;
    mine = adaptive_reserve(e, 2 * most);
    if (mine == STATUS_OK) mine = region_list_reserve(&e->list, e->list.count + most);
    TRY(comm_agree(e->run->world, mine));
    const int64_t count = choose(e, keep, wide_round(&e->error) - wide_round(&e->stuck));
    for (int64_t j = 0; j < count; j++) halve(e, e->parent[j], 2 * j);
    TRY(adaptive_evaluate(e, 2 * count, STATUS_OK));
    for (int64_t j = 0; j < count; j++) replace(e, j);
  }
done:
  return rc;
}

static status adaptive_run(quad_run *run, quad_region_rule rule) {
  status rc = STATUS_OK;
  engine e;
  int loaded;
  memset(&e, 0, sizeof e);
  e.run = run;
  e.frame.dims = run->integral.dims;
  e.frame.rule = (int32_t)rule;
  e.list.dims = e.frame.dims;
  for (int d = 0; d < e.frame.dims; d++) {
    quad_axis_range(&run->integral, d, &e.frame.axis[d]);
    TRY(quad_check_width(&e.frame.axis[d], d));
  }
  e.points = quad_region_points(&e.frame);
  run->reason = QUAD_CONVERGED;
  TRY(adaptive_load(&e, &loaded));
  if (!loaded) TRY(adaptive_begin(&e));
  TRY(generations(&e));
  TRY(adaptive_finish(&e));
done:
  engine_release(&e);
  return rc;
}

static status run_kronrod(quad_run *run, const quad_rule *rule) {
  (void)rule;
  return adaptive_run(run, QUAD_KRONROD);
}

static status run_malik(quad_run *run, const quad_rule *rule) {
  (void)rule;
  return adaptive_run(run, QUAD_MALIK);
}

const quad_rule RULE_adaptive = {
    .name = "adaptive",
    .help = "Gauss-Kronrod 7/15, halving where the error is; singular ends, infinite ranges",
    .source = "Piessens et al., QUADPACK (1983)",
    .flags = QUAD_RULE_ADAPTIVE,
    .dims_min = 1,
    .dims_max = 1,
    .run = run_kronrod,
};

const quad_rule RULE_genz_malik = {
    .name = "genz-malik",
    .help = "adaptive cubature of degree 7/5, halving boxes where the error is",
    .source = "Genz, Malik (1980)",
    .flags = QUAD_RULE_ADAPTIVE,
    .dims_min = 2,
    .dims_max = QUAD_DIMS,
    .run = run_malik,
};
