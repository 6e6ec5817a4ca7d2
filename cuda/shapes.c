/* Rows kept by their shape (pattern.h) on the device: codes, the table of shapes, which tiles have
 * one shape only, and in what order tiles are worked on.
 *
 * A warp takes runs of tiles (shapes.cu). In a grid whose lines are a multiple of 256 points a run
 * goes down a column, LONGEST lines at most, a tile of each: what a tile's rows refer to in the
 * next line is that line's own, and stays in registers (a CROSS). Runs that lie side by side follow
 * each other, those with tiles of several shapes (the ends of lines) first: they take longest.
 * Elsewhere a run is a few tiles in the order of the rows. */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "device.h"

enum { LONGEST = 16, SHORT_RUN = 2, RUNS_A_WARP = 2, WARPS_EACH = 16 };

/* What is made on the host. */
typedef struct plan {
  shaped_tile *list;
  tile_run *runs;
  lidx tiles, run_count;
  lidx far, longest; /* far 0: no column to go down */
} plan;

static void plan_release(plan *g) {
  alloc_free(&g->list);
  alloc_free(&g->runs);
}

/* (-far, -1, 0, 1, far), far a multiple of a tile: far; else 0. */
static lidx cross_far(const row_pattern *p, lidx shape) {
  const lidx first = p->first[shape];
  const lidx *offset = p->offset + first;
  if (p->first[shape + 1] - first != 5) return 0;
  const lidx far = offset[4];
  const int cross = offset[0] == -far && offset[1] == -1 && offset[2] == 0 && offset[3] == 1;
  return cross && far > TILE && far % TILE == 0 ? far : 0;
}

/* Of the shape that most rows have. */
static lidx find_far(const row_pattern *p) {
  lidx most = 0;
  for (lidx s = 1; s < p->shapes; s++) {
    if (p->rows_of[s] > p->rows_of[most]) most = s;
  }
  return cross_far(p, most);
}

/* The one shape of a full tile's rows; -1: several, or not full. */
static int32_t only_shape(const row_pattern *p, lidx tile, lidx far) {
  const lidx begin = tile * TILE;
  if (p->rows - begin < TILE) return -1;
  const lidx shape = pattern_code(p, begin);
  for (lidx i = 1; i < TILE; i++) {
    if (pattern_code(p, begin + i) != shape) return -1;
  }
  return shape | (far > 0 && cross_far(p, shape) == far ? CROSS : 0);
}

static int wanted(const row_pattern *p, const unsigned char *boundary, int kind, lidx t) {
  return t < p->tiles && p->fits[t] && (boundary[t] != 0) == kind;
}

/* Appends a run from tile `t` on, `step` apart, of at most `longest`; ends where one is not wanted.
 */
static void add_run(plan *g, const row_pattern *p, const unsigned char *boundary, int kind, lidx t,
                    lidx step, lidx longest) {
  tile_run run = {g->tiles, 0};
  for (lidx k = 0; k < longest; k++, t += step) {
    if (!wanted(p, boundary, kind, t)) {
      if (run.count > 0) g->runs[g->run_count++] = run;
      run = (tile_run){g->tiles, 0};
      if (t > p->tiles - step) break; /* t + step would lie beyond */
      continue;
    }
    g->list[g->tiles++] = (shaped_tile){t, only_shape(p, t, g->far)};
    run.count++;
    if (t > p->tiles - step) break;
  }
  if (run.count > 0) g->runs[g->run_count++] = run;
}

/* Columns of `longest` lines: those at the ends of lines first. */
static void add_columns(plan *g, const row_pattern *p, const unsigned char *boundary, int kind) {
  const lidx across = g->far / TILE;
  for (int64_t top = 0; top < p->tiles; top += (int64_t)across * g->longest) {
    for (lidx c = 0; c < across; c++) {
      const lidx column = c == 0 ? 0 : c == 1 ? across - 1 : c - 1; /* the two ends, the others */
      if (top + column >= p->tiles) continue;
      add_run(g, p, boundary, kind, (lidx)(top + column), across, g->longest);
    }
  }
}

static void add_tiles(plan *g, const row_pattern *p, const unsigned char *boundary, int kind) {
  for (lidx t = 0; t < p->tiles; t += SHORT_RUN) {
    add_run(g, p, boundary, kind, t, 1, SHORT_RUN);
  }
}

static status make_plan(const row_pattern *p, const unsigned char *boundary, int processors,
                        plan *g, tile_counts *runs) {
  status rc = STATUS_OK;
  const int64_t even = (int64_t)processors * WARPS_EACH * RUNS_A_WARP;
  g->far = find_far(p);
  g->longest = p->tiles / even > LONGEST ? LONGEST : (lidx)(p->tiles / even);
  if (g->longest < SHORT_RUN) g->far = 0; /* too few for anything to be kept */
  TRY(alloc_array(&g->list, p->tiles, sizeof *g->list, "tiles"));
  TRY(alloc_array(&g->runs, p->tiles, sizeof *g->runs, "tiles"));
  for (int kind = 0; kind < 2; kind++) {
    if (g->far > 0) {
      add_columns(g, p, boundary, kind);
    } else {
      add_tiles(g, p, boundary, kind);
    }
    if (kind == 0) runs->interior = g->run_count;
  }
  runs->boundary = g->run_count - runs->interior;
done:
  return rc;
}

status shapes_create(device *d, matrix *m, const unsigned char *boundary) {
  status rc = STATUS_OK;
  const row_pattern *p = &m->pattern;
  const int64_t codes = (int64_t)p->tiles * TILE, entries = p->shapes > 0 ? p->first[p->shapes] : 0;
  plan g = {.far = 0};
  m->shape_count = p->shapes;
  if (p->shapes == 0) goto done;
  TRY(make_plan(p, boundary, d->processors, &g, &m->shaped));
  m->shapes.rows = p->rows;
  m->shapes.far = g.far;
  TRY(matrix_piece(d, m, g.list, g.tiles * (int64_t)sizeof *g.list, "tiles", &m->shapes.list));
  TRY(matrix_piece(d, m, g.runs, g.run_count * (int64_t)sizeof *g.runs, "tiles", &m->shapes.runs));
  if (p->code1 != NULL) TRY(matrix_piece(d, m, p->code1, codes, "row codes", &m->shapes.code1));
  if (p->code2 != NULL) TRY(matrix_piece(d, m, p->code2, 2 * codes, "row codes", &m->shapes.code2));
  TRY(matrix_piece(d, m, p->first, ((int64_t)p->shapes + 1) * 4, "row shapes", &m->shapes.first));
  TRY(matrix_piece(d, m, p->offset, entries * 4, "row shapes", &m->shapes.offset));
  TRY(matrix_piece(d, m, p->value, entries * 8, "row shapes", &m->shapes.value));
  TRY(matrix_piece(d, m, NULL, (int64_t)p->shapes * 8, "weights", &m->weight));
done:
  plan_release(&g);
  return rc;
}

status cuda_matrix_weigh(device *d, matrix *a, vec weight) {
  status rc = STATUS_OK;
  double *x = NULL, *by_shape = NULL;
  a->weighed = NULL;
  if (a->shape_count == 0 || weight.data.at == NULL) goto done;
  TRY(alloc_array(&x, weight.rows, sizeof *x, "weights"));
  TRY(alloc_array(&by_shape, a->shape_count, sizeof *by_shape, "weights"));
  TRY(cuda_copy_out(d, (hptr){x}, weight.data, (int64_t)weight.rows * 8));
  if (!pattern_learn(d->threads, &a->pattern, x, by_shape)) goto done;
  TRY(device_upload(d, a->weight, by_shape, (int64_t)a->shape_count * 8));
  a->weighed = weight.data.at;
  a->one_weight = by_shape[0];
  a->uniform_weight = 1;
  for (lidx s = 1; s < a->shape_count; s++) {
    if (bits_of(by_shape[s]) != bits_of(by_shape[0])) a->uniform_weight = 0;
  }
done:
  alloc_free(&x);
  alloc_free(&by_shape);
  return rc;
}

shapes_args shapes_of(const matrix *a, part p, vec weight) {
  const tile_counts *r = &a->shaped;
  shapes_args args = {.m = a->shapes, .diagonal = 1.0};
  args.m.runs = a->shapes.runs + (p == PART_BOUNDARY ? r->interior : 0);
  args.m.run_count = p == PART_ALL        ? r->interior + r->boundary
                     : p == PART_INTERIOR ? r->interior
                                          : r->boundary;
  args.weight = args.inverse = weight.data.at;
  args.vector = weight.data.at != NULL && weight.data.at != (const void *)a->weighed;
  if (!args.vector && weight.data.at != NULL) args.m.weight = a->weight;
  return args;
}
