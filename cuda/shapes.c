/* Rows kept by their shape (pattern.h) on the device: codes, the table of shapes, which tiles have
 * one shape only, and the order in which tiles are worked on.
 *
 * That order: a tile's rows refer to rows at the far offsets of its shapes (a grid's next line, or
 * plane). Tiles of one column of the grid, GROUP of them side by side, come one after the other, so
 * that what one brings into a multiprocessor's cache the next ones find there. A thread block takes
 * a run of the list (shapes.cu). Without far offsets it is the order of the rows. */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "device.h"

enum { GROUP = 8 * TILE }; /* rows */

/* The largest offset of the shape that most rows have; 0 when it is near. */
static lidx far_offset(const row_pattern *p) {
  lidx most = 0, far = 0;
  for (lidx s = 1; s < p->shapes; s++) {
    if (p->rows_of[s] > p->rows_of[most]) most = s;
  }
  for (lidx e = p->first[most]; e < p->first[most + 1]; e++) {
    if (p->offset[e] > far) far = p->offset[e];
  }
  return far > GROUP ? far : 0;
}

typedef struct ranked {
  int64_t column;
  lidx tile;
} ranked;

static int by_column(const void *x, const void *y) {
  const ranked *a = x, *b = y;
  if (a->column != b->column) return a->column < b->column ? -1 : 1;
  return a->tile < b->tile ? -1 : a->tile > b->tile;
}

/* The one shape of a full tile's rows; -1: several, or not full. */
static int32_t only_shape(const row_pattern *p, lidx tile) {
  const lidx begin = tile * TILE;
  if (!p->fits[tile] || p->rows - begin < TILE) return -1;
  const lidx shape = pattern_code(p, begin);
  for (lidx i = 1; i < TILE; i++) {
    if (pattern_code(p, begin + i) != shape) return -1;
  }
  return shape;
}

/* Lists the tiles kept by shapes that are (not) boundary tiles. */
static status list_tiles(const row_pattern *p, const unsigned char *boundary, int wanted,
                         shaped_tile *list, lidx *count) {
  const lidx far = far_offset(p);
  ranked *all = NULL;
  const status rc = alloc_array(&all, p->tiles, sizeof *all, "tiles");
  if (rc != STATUS_OK) return rc;
  *count = 0;
  for (lidx t = 0; t < p->tiles; t++) {
    if (!p->fits[t] || (boundary[t] != 0) != wanted) continue;
    all[*count].column = far == 0 ? 0 : (int64_t)t * TILE % far / GROUP;
    all[(*count)++].tile = t;
  }
  qsort(all, (size_t)*count, sizeof *all, by_column);
  for (lidx i = 0; i < *count; i++)
    list[i] = (shaped_tile){all[i].tile, only_shape(p, all[i].tile)};
  alloc_free(&all);
  return rc;
}

status shapes_create(device *d, matrix *m, const unsigned char *boundary) {
  status rc = STATUS_OK;
  const row_pattern *p = &m->pattern;
  const int64_t codes = (int64_t)p->tiles * TILE, entries = p->shapes > 0 ? p->first[p->shapes] : 0;
  shaped_tile *list = NULL;
  m->shape_count = p->shapes;
  if (p->shapes == 0) goto done;
  TRY(alloc_array(&list, p->tiles, sizeof *list, "tiles"));
  TRY(list_tiles(p, boundary, 0, list, &m->shaped.interior));
  TRY(list_tiles(p, boundary, 1, list + m->shaped.interior, &m->shaped.boundary));
  const int64_t tiles = m->shaped.interior + m->shaped.boundary;
  m->shapes.rows = p->rows;
  TRY(matrix_piece(d, m, list, tiles * (int64_t)sizeof *list, "tiles", &m->shapes.list));
  if (p->code1 != NULL) TRY(matrix_piece(d, m, p->code1, codes, "row codes", &m->shapes.code1));
  if (p->code2 != NULL) TRY(matrix_piece(d, m, p->code2, 2 * codes, "row codes", &m->shapes.code2));
  TRY(matrix_piece(d, m, p->first, ((int64_t)p->shapes + 1) * 4, "row shapes", &m->shapes.first));
  TRY(matrix_piece(d, m, p->offset, entries * 4, "row shapes", &m->shapes.offset));
  TRY(matrix_piece(d, m, p->value, entries * 8, "row shapes", &m->shapes.value));
  TRY(matrix_piece(d, m, NULL, (int64_t)p->shapes * 8, "weights", &m->weight));
done:
  alloc_free(&list);
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
  const tile_counts *l = &a->shaped;
  shapes_args args = {.m = a->shapes, .diagonal = 1.0};
  args.m.list = a->shapes.list + (p == PART_BOUNDARY ? l->interior : 0);
  args.m.list_count = p == PART_ALL        ? l->interior + l->boundary
                      : p == PART_INTERIOR ? l->interior
                                           : l->boundary;
  args.weight = args.inverse = weight.data.at;
  args.vector = weight.data.at != NULL && weight.data.at != (const void *)a->weighed;
  if (!args.vector && weight.data.at != NULL) args.m.weight = a->weight;
  return args;
}
