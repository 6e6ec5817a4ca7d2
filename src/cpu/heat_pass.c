/* Several stages in one pass over memory (temporal blocking), in place.
 *
 * A wave runs along the last direction: at front f, stage i does plane f - i (in 1-D: a block of
 * points that begins at f - i). Its u, one plane further, was made just before by stage i - 1, and
 * what is read is still in the cache. The fields are whole arrays and nothing is computed twice:
 * stage i writes plane f - i, while the stages before it go on from plane f - i + 1, reading from
 * plane f - i on at most their own out's old values, so any list of stages may be run this way,
 * whatever fields they share.
 *
 * Across the wave (x in 2-D, y in 3-D) tiles keep the planes in flight within the second-level
 * cache: stage i does points [begin - i, end - i) of a tile, and tiles follow each other upwards,
 * by the same argument. A periodic direction is one tile.
 *
 * Threads take runs of planes: first each the planes [begin + i, end - i), whose inputs are its
 * own, then, after a barrier, [cut - i, cut + i) around each cut between two runs. While halo
 * planes travel, the interior is planes [1 + i, planes - 1 - i) in the same way; the rest, then,
 * a few planes at each end, is done stage by stage.
 *
 * Traffic of a pass of k stages of ftcs: 32 bytes per point, both fields read and written, where k
 * single stages move 24 k (out is fetched before it is written). Source: Wellein, Hager, Zeiser,
 * Wittmann, Fehske, Efficient temporal blocking for stencil computations by multicore-aware
 * wavefront parallelization, COMPSAC 2009; the cuts: Orozco, Gao, Mapping the FDTD application to
 * many-core chip architectures, ICPP 2009 (split tiling). */
#include "heat_pass.h"

#include "alloc.h"

/* Stages of a pass that are worth having in 1, 2 and 3 dimensions (bench/heat.c: measured; bits are
 * equal), and those that are run as one wave at most. */
enum { DEPTH_1D = 16, DEPTH_2D = 16, DEPTH_3D = 8, WAVE_MOST = 32 };

enum {
  BLOCK_1D = 2048,         /* points of a block in 1-D */
  CACHE = 1024 * 1024,     /* bytes that planes in flight may take: a second-level cache */
  TILE_LEAST = 32,         /* lines of a tile in 3-D, */
  POINTS_LEAST = 1024,     /* points of a tile in 2-D, whatever the cache */
  WORTH_A_TEAM = 16 * 1024 /* points */
};

/* Stage i: at + i * step. */
typedef struct edge {
  int64_t at, step;
} edge;

typedef struct wave {
  const heat_slab *s;
  const heat_job *job; /* [count] */
  int count;
  int across;          /* the direction of tiles; -1: none */
  int64_t tile, block; /* their points; planes of a front */
} wave;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t at_stage(edge e, int i) { return e.at + i * e.step; }
static edge later(edge e, int stages) { return (edge){e.at + stages * e.step, e.step}; }

/* ---- one thread's waves ---- */

/* Stage i of planes [from, to) and, across them, of the tile that begins at `begin`. */
static void run_tile(const wave *v, int i, int64_t from, int64_t to, int64_t begin) {
  heat_part p = heat_planes(v->s, from, to);
  if (from >= to) return;
  if (v->across >= 0) {
    const int64_t n = v->s->g.n[v->across], end = begin + v->tile;
    if (begin > 0) p.from[v->across] = larger(0, begin - i);
    if (end < n) p.to[v->across] = larger(0, end - i);
  }
  heat_job_run(&v->job[i], &p);
}

/* All stages, stage i on planes [low + i low.step, high + i high.step) of those in the domain. */
static void run_wave(const wave *v, edge low, edge high) {
  int64_t from[WAVE_MOST], to[WAVE_MOST], first = INT64_MAX, last = INT64_MIN;
  for (int i = 0; i < v->count; i++) {
    int64_t least, most;
    heat_host_range(v->s, (int)v->s->halo, &least, &most);
    from[i] = larger(least, at_stage(low, i));
    to[i] = smaller(most, at_stage(high, i));
    if (from[i] >= to[i]) continue;
    first = smaller(first, from[i] + i);
    last = larger(last, to[i] + i);
  }
  const int64_t width = v->across < 0 ? 1 : v->s->g.n[v->across];
  for (int64_t begin = 0; begin < width; begin += v->tile) {
    for (int64_t front = first; front < last; front += v->block) {
      for (int i = 0; i < v->count; i++) {
        run_tile(v, i, larger(from[i], front - i), smaller(to[i], front + v->block - i), begin);
      }
    }
  }
}

/* ---- a team's ---- */

/* The planes that all stages have, in `team` runs: where run t begins. */
static int64_t cut_at(edge low, edge high, int count, int team, int t) {
  const int64_t begin = larger(low.at, at_stage(low, count - 1));
  const int64_t end = larger(begin, smaller(high.at, at_stage(high, count - 1)));
  return begin + (end - begin) * t / team;
}

static void run_team(const wave *v, edge low, edge high, int team) {
  const int count = v->count;
#pragma omp parallel num_threads(team)
  {
#pragma omp for schedule(static)
    for (int t = 0; t < team; t++) {
      run_wave(v, t == 0 ? low : (edge){cut_at(low, high, count, team, t), 1},
               t == team - 1 ? high : (edge){cut_at(low, high, count, team, t + 1), -1});
    }
#pragma omp for schedule(static)
    for (int t = 1; t < team; t++) {
      const int64_t cut = cut_at(low, high, count, team, t);
      run_wave(v, (edge){cut, -1}, (edge){cut, 1});
    }
  }
}

/* ---- how ---- */

/* Bytes of all fields at one point. */
static int64_t point_bytes(const heat_work *w, const heat_stage *s) {
  const int fields =
      2 + s->terms + (w->m.face[0] != NULL ? w->s.g.dims : 0) + (s->input.source.data.at != NULL);
  return fields * (int64_t)sizeof(double);
}

/* Tiles of equal size, as large as the cache allows for the planes in flight. */
static void choose_tile(const heat_work *w, wave *v) {
  const heat_grid *g = &w->s.g;
  v->block = g->dims == 1 ? BLOCK_1D : 1;
  v->across = g->dims - 2;
  v->tile = INT64_MAX / 2;
  if (v->across < 0 || g->face[2 * v->across] == HEAT_PERIODIC) {
    v->across = -1;
    return;
  }
  const int64_t n = g->n[v->across], unit = g->dims == 3 ? g->n[0] : 1, in_flight = v->count + 2;
  const int64_t fits = CACHE / (point_bytes(w, v->job->s) * in_flight * unit);
  const int64_t most = larger(fits, g->dims == 3 ? TILE_LEAST : POINTS_LEAST);
  const int64_t tiles = (n + most - 1) / most;
  v->tile = (n + tiles - 1) / tiles;
}

/* Stages [0, count) between two edges. Where runs of planes are too short for so many stages they
 * are made in several waves, of one stage each by lines. */
static void run_stages(device *d, const heat_work *w, const heat_job *job, int count, edge low,
                       edge high) {
  const int64_t planes = cut_at(low, high, count, 1, 1) - cut_at(low, high, count, 1, 0);
  const int team = planes * w->s.plane > WORTH_A_TEAM ? d->threads : 1;
  int64_t most = team > 1 ? planes / team / 2 + 1 : WAVE_MOST;
  if (most > WAVE_MOST) most = WAVE_MOST;
  for (int i = 0; i < count; i += (int)most) {
    wave v = {.s = &w->s, .job = job + i, .count = (int)smaller(most, count - i)};
    if (most == 1) {
      int64_t from, to;
      heat_host_range(&w->s, (int)w->s.halo, &from, &to);
      heat_job_spread(d, v.job, larger(from, at_stage(low, i)), smaller(to, at_stage(high, i)));
      continue;
    }
    choose_tile(w, &v);
    run_team(&v, later(low, i), later(high, i), team);
  }
}

/* Whether there are ghost planes before (side 0) and behind. */
static int has_ghosts(const heat_slab *s, int side) {
  int64_t from, to;
  heat_host_range(s, 1, &from, &to);
  return side == 0 ? from < 0 : to > s->planes;
}

/* What needs ghost planes, after PART_INTERIOR: at each end, stage by stage. */
static void run_ends(device *d, const heat_work *w, const heat_job *job, int count) {
  for (int i = 0; i < count; i++) {
    int64_t from, to;
    heat_host_range(&w->s, count - 1 - i, &from, &to);
    if (has_ghosts(&w->s, 0)) heat_job_spread(d, &job[i], from, 1 + i);
    if (has_ghosts(&w->s, 1)) heat_job_spread(d, &job[i], w->s.planes - 1 - i, to);
  }
}

static void run_part(device *d, const heat_work *w, const heat_job *job, int count, part which) {
  const heat_slab *s = &w->s;
  const int before = has_ghosts(s, 0), behind = has_ghosts(s, 1);
  const int split = which != PART_ALL && s->planes >= 4 * count;
  const edge low = {0, 0}, high = {s->planes, 0};
  if (which == PART_INTERIOR && split) {
    run_stages(d, w, job, count, before ? (edge){1, 1} : low,
               behind ? (edge){s->planes - 1, -1} : high);
  } else if (which == PART_BOUNDARY && split) {
    run_ends(d, w, job, count);
  } else if (which != PART_INTERIOR) {
    run_stages(d, w, job, count, before ? (edge){1 - count, 1} : low,
               behind ? (edge){s->planes + count - 1, -1} : high);
  }
}

status heat_pass_omp(device *d, heat_work *w, const heat_stage *s, int count, part which) {
  status rc = STATUS_OK;
  heat_job *job = NULL;
  TRY(alloc_array(&job, count, sizeof *job, "stages of a pass"));
  for (int i = 0; i < count; i++) job[i] = heat_job_of(w, &s[i]);
  run_part(d, w, job, count, which);
done:
  alloc_free(&job);
  return rc;
}

int heat_depth_omp(const device *d, const heat_grid *g, int variable, int64_t planes) {
  static const int depth[] = {DEPTH_1D, DEPTH_2D, DEPTH_3D};
  (void)d, (void)variable;
  (void)planes;
  return depth[g->dims - 1];
}
