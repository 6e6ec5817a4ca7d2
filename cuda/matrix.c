/* A rank's rows on the device: by their shapes (shapes.c) where these are few, else SELL-32
 * (sell.h), with length and place of a row in one 16-bit word and what a warp must know of a slice
 * in 16 bytes. It is built on the host, then copied; entries that do not fit stay on the host
 * (stream.c).
 *
 * Long rows become items, a warp's work each: a row up to 8192 entries, or a segment of a longer
 * one. Items of interior tiles come first, then those of boundary tiles, each longest first, so
 * that the last warp to finish has little to do. */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "stream.h"

/* What is made on the host beside the sell. */
typedef struct staging {
  sell s;
  slice *slices;
  uint16_t *slot;
  lidx *list; /* tiles in slices: interior ones, then boundary ones */
  lidx interior, boundary;
  lidx *first_item;
  long_item *item;
  lidx items, interior_items;
  int value_bytes; /* 8; 4: s.value and s.long_value hold floats */
} staging;

static void staging_release(staging *g) {
  sell_release(&g->s);
  alloc_free(&g->slices);
  alloc_free(&g->slot);
  alloc_free(&g->list);
  alloc_free(&g->first_item);
  alloc_free(&g->item);
}

static status stage_slices(staging *g) {
  status rc = STATUS_OK;
  const sell *s = &g->s;
  const int64_t slots = (int64_t)s->tiles * TILE, stored = (int64_t)s->slices * WARP;
  TRY(alloc_array(&g->slices, slots / WARP, sizeof *g->slices, "slices"));
  TRY(alloc_array(&g->slot, slots, sizeof *g->slot, "row lengths"));
  for (int64_t i = 0; i < slots / WARP; i++) {
    const int64_t from = i < s->slices ? i : s->slices;
    g->slices[i].value_at =
        s->value_at[from] | (i < s->slices ? slice_shape(s->kind[i]) : SLICE_GATHER);
    g->slices[i].column_at = s->column_at[from];
  }
  for (int64_t i = 0; i < slots; i++) {
    const int place = i < stored ? s->place[i] : (int)(i % TILE);
    g->slot[i] = (uint16_t)((i < stored ? s->length[i] : 0) | place << 8);
  }
done:
  return rc;
}

static status stage_tiles(staging *g) {
  status rc = alloc_array(&g->list, g->s.tiles, sizeof *g->list, "tiles");
  if (rc != STATUS_OK) return rc;
  for (lidx t = 0; t < g->s.tiles; t++) {
    if (!g->s.boundary[t] && !sell_has_shapes(&g->s, t)) g->list[g->interior++] = t;
  }
  for (lidx t = 0; t < g->s.tiles; t++) {
    if (!g->s.boundary[t] || sell_has_shapes(&g->s, t)) continue;
    g->list[g->interior + g->boundary++] = t;
  }
  return rc;
}

static int by_falling_length(const void *x, const void *y) {
  const long_item *a = x, *b = y;
  if (a->count != b->count) return a->count < b->count ? 1 : -1;
  return a->target < b->target ? -1 : a->target > b->target;
}

/* Items of the tiles of one kind, appended. */
static void add_items(staging *g, int boundary) {
  const sell *s = &g->s;
  for (lidx j = 0; j < s->long_rows; j++) {
    const eidx begin = s->long_offset[j], count = s->long_offset[j + 1] - begin;
    const lidx parts = g->first_item[j + 1] - g->first_item[j];
    if ((s->boundary[s->long_row[j] / TILE] != 0) != boundary) continue;
    for (lidx k = 0; k < parts; k++) {
      const eidx left = count - k * (eidx)ROW_SEGMENT;
      long_item *item = &g->item[g->items++];
      item->begin = begin + k * (eidx)ROW_SEGMENT;
      item->count = (int32_t)(parts > 1 && left > ROW_SEGMENT ? ROW_SEGMENT : left);
      item->target = g->first_item[j] + k;
    }
  }
}

static status stage_items(staging *g) {
  status rc = STATUS_OK;
  const sell *s = &g->s;
  int64_t items = 0;
  lidx narrow;
  TRY(alloc_array(&g->first_item, (int64_t)s->long_rows + 1, sizeof *g->first_item, "long rows"));
  g->first_item[0] = 0;
  for (lidx j = 0; j < s->long_rows; j++) {
    const int64_t segments = row_segments(s->long_offset[j + 1] - s->long_offset[j]);
    items += segments > 0 ? segments : 1;
    TRY(index_narrow(items, "parts of long rows", &narrow));
    g->first_item[j + 1] = narrow;
  }
  TRY(alloc_array(&g->item, items, sizeof *g->item, "long rows"));
  add_items(g, 0);
  g->interior_items = g->items;
  add_items(g, 1);
  qsort(g->item, (size_t)g->interior_items, sizeof *g->item, by_falling_length);
  qsort(g->item + g->interior_items, (size_t)(g->items - g->interior_items), sizeof *g->item,
        by_falling_length);
done:
  return rc;
}

/* One array of the matrix: its host side, its size and where its device address belongs. */
typedef struct piece {
  const void *from; /* NULL: scratch */
  int64_t bytes;
  void *to;
  const char *what;
} piece;

enum { PIECES = 12 };

/* Slices and lengths are there for all tiles, unless none is in slices. */
static void list_pieces(const staging *g, matrix *m, piece *out) {
  const sell *s = &g->s;
  const int64_t slots = g->interior + g->boundary > 0 ? (int64_t)s->tiles * TILE : 0;
  const int64_t items = g->items, rows = s->long_rows;
  const piece all[PIECES] = {
      {g->slices, slots / WARP * (int64_t)sizeof *g->slices, &m->view.slices, "slices"},
      {g->slot, slots * (int64_t)sizeof *g->slot, &m->view.slot, "row lengths"},
      {s->value, s->value_at[s->slices] * g->value_bytes, &m->view.value, "matrix values"},
      {s->column, s->column_at[s->slices] * 4, &m->view.column, "matrix columns"},
      {g->list, (int64_t)(g->interior + g->boundary) * 4, &m->slice_tiles, "tiles"},
      {s->long_first, rows > 0 ? ((int64_t)s->tiles + 1) * 4 : 0, &m->view.long_first, "long rows"},
      {s->long_row, rows * 4, &m->view.long_row, "long rows"},
      {g->first_item, rows > 0 ? (rows + 1) * 4 : 0, &m->view.first_item, "long rows"},
      {g->item, items * (int64_t)sizeof *g->item, &m->view.item, "long rows"},
      {s->long_value, s->long_offset[rows] * g->value_bytes, &m->view.long_value,
       "values of long rows"},
      {s->long_column, s->long_offset[rows] * 4, &m->view.long_column, "columns of long rows"},
      {NULL, 2 * items * 8, &m->view.item_sum, "sums of long rows"}};
  memcpy(out, all, sizeof all);
}

status matrix_piece(device *d, matrix *m, const void *from, int64_t bytes, const char *what,
                    void *to) {
  status rc = STATUS_OK;
  void *there;
  if (bytes == 0) goto done;
  TRY(device_alloc(d, bytes, what, &there));
  m->room[m->rooms++] = there;
  m->facts.bytes += bytes;
  memcpy(to, &there, sizeof there);
  if (from != NULL) TRY(device_upload(d, there, from, bytes));
done:
  return rc;
}

/* Entries may stay on the host. */
static int is_entries(const matrix *m, const piece *p) {
  const void *to = p->to;
  return to == &m->view.value || to == &m->view.column || to == &m->view.long_value ||
         to == &m->view.long_column;
}

/* Allocates and copies what is not empty; the rest stays NULL. */
static status upload(device *d, const staging *g, matrix *m) {
  status rc = STATUS_OK;
  piece all[PIECES];
  int64_t bytes = 0, room = 0;
  list_pieces(g, m, all);
  for (int i = 0; i < PIECES; i++) bytes += all[i].bytes;
  TRY(device_room(d, &room));
  if ((bytes > room || d->always_stream) && stream_bytes(m) > 0) {
    TRY(stream_take(d, m, &g->s, g->item));
  }
  for (int i = 0; i < PIECES; i++) {
    if (m->streamed && is_entries(m, &all[i])) continue;
    TRY(matrix_piece(d, m, all[i].from, all[i].bytes, all[i].what, all[i].to));
  }
done:
  return rc;
}

/* Bytes of slices, lengths, entries, long rows, and codes. */
static int64_t sweep_bytes(const staging *g) {
  const sell *s = &g->s;
  return pattern_bytes(&s->shapes) +
         (int64_t)(g->interior + g->boundary) * (TILE * 2 + TILE / WARP * (int64_t)sizeof(slice)) +
         s->value_at[s->slices] * g->value_bytes + s->column_at[s->slices] * 4 +
         s->long_offset[s->long_rows] * (g->value_bytes + 4) +
         g->items * (int64_t)(sizeof(long_item) + 16);
}

/* Whether warps that wait for their tile's longest slice would wait long: slices of a tile are as
 * long as their first row. */
static int32_t uneven(const sell *s) {
  int64_t work = 0, time = 0;
  for (lidx i = 0; i < s->slices; i++) {
    work += s->length[(int64_t)i * WARP];
    time += s->length[(int64_t)(i / (TILE / WARP)) * TILE];
  }
  return 2 * time > 3 * work;
}

static void describe(const staging *g, int packed, matrix *m) {
  const sell *s = &g->s;
  const int slices = g->interior + g->boundary > 0, shapes = s->shapes.shapes > 0;
  m->facts.format = g->value_bytes == 4 ? "sell-32 in float"
                    : !packed           ? "sell-32 plain"
                    : !shapes           ? "sell-32"
                    : slices            ? "pattern + sell-32"
                                        : "pattern";
  m->facts.sweep_bytes = sweep_bytes(g);
  m->facts.long_rows = s->long_rows;
  m->facts.shapes = s->shapes.shapes;
  m->facts.shape_rows = s->shapes.fit_rows;
  for (lidx t = 0; t < s->tiles; t++) {
    if (s->boundary[t]) m->facts.boundary_rows += sell_row_end(s, t) - t * TILE;
  }
  m->facts.interior_rows = s->rows - m->facts.boundary_rows;
}

/* Doubles become floats in place, from the first on. */
static void narrow_values(double *value, eidx count, double scale) {
  char *to = (char *)value;
  for (eidx e = 0; e < count; e++, to += sizeof(float)) {
    const float narrow = (float)(scale * value[e]);
    memcpy(to, &narrow, sizeof narrow);
  }
}

/* narrow: values times this in float; 0: as they are. */
static status create(device *d, const csr_block *a, const sell_plan *plan, double narrow,
                     matrix **out) {
  status rc = STATUS_OK;
  staging g;
  memset(&g, 0, sizeof g);
  TRY(alloc_zeroed(out, 1, sizeof **out, "matrix"));
  matrix *m = *out;
  TRY(device_settle(d));
  TRY(sell_create(a, plan, &g.s));
  g.value_bytes = narrow == 0.0 ? 8 : 4;
  if (narrow != 0.0) {
    narrow_values(g.s.value, g.s.value_at[g.s.slices], narrow);
    narrow_values(g.s.long_value, g.s.long_offset[g.s.long_rows], narrow);
  }
  TRY(stage_slices(&g));
  TRY(stage_tiles(&g));
  TRY(stage_items(&g));
  TRY(stream_note(&g.s, g.value_bytes, g.list, g.interior + g.boundary, m));
  m->view.rows = g.s.rows;
  m->view.tiles = m->view.list_count = g.s.tiles;
  m->view.long_rows = g.s.long_rows;
  m->view.items = m->view.item_count = g.items;
  m->view.uneven = uneven(&g.s);
  m->ghosts = g.s.ghosts;
  m->interior_items = g.interior_items;
  m->slices.interior = g.interior;
  m->slices.boundary = g.boundary;
  TRY(upload(d, &g, m));
  m->next = d->first; /* from here on it may have to move */
  d->first = m;
  describe(&g, plan->level != SELL_PLAIN, m);
  m->pattern = g.s.shapes; /* taken over */
  memset(&g.s.shapes, 0, sizeof g.s.shapes);
  TRY(shapes_create(d, m, g.s.boundary));
done:
  staging_release(&g);
  if (rc != STATUS_OK) cuda_matrix_release(d, out);
  return rc;
}

/* Rows from which on AUTO looks for shapes: they save memory traffic, and below all is in the cache
 * (500 000 rows: 12.5 us a sweep against 11.8 of slices; 16.8 million: 170 against 275). */
enum { SHAPES_FROM = 1 << 21 };

/* Formats that are not there become the nearest: sell. */
status cuda_matrix_create(device *d, const csr_block *a, matrix_format format, matrix **out) {
  const sell_plan plan = {.lanes = WARP,
                          .level = SELL_SLICES,
                          .shapes = format == FORMAT_PATTERN ||
                                    (format == FORMAT_AUTO && a->rows >= SHAPES_FROM),
                          .threads = d->threads};
  return create(d, a, &plan, 0.0, out);
}

status cuda_matrix_create_single(device *d, const csr_block *a, double scale, matrix **out) {
  const sell_plan plan = {.lanes = WARP, .level = SELL_SLICES, .threads = d->threads};
  return create(d, a, &plan, scale, out);
}

status cuda_matrix_create_plain(device *d, const csr_block *a, matrix_format format, matrix **out) {
  const sell_plan plan = {.lanes = WARP, .level = SELL_PLAIN, .threads = 1};
  (void)format;
  return create(d, a, &plan, 0.0, out);
}

void cuda_matrix_release(device *d, matrix **a) {
  if (*a == NULL) return;
  device_settle(d);
  stream_release(d, *a);
  for (int i = 0; i < (*a)->rooms; i++) device_free(d, (*a)->room[i]);
  pattern_release(&(*a)->pattern);
  alloc_free(a);
}

/* With where the entries are. */
void cuda_matrix_describe(const matrix *a, matrix_facts *out) {
  static const char *const names[][2] = {{"sell-32 in float", "sell-32 in float, streamed"},
                                         {"sell-32 plain", "sell-32 plain, streamed"},
                                         {"sell-32", "sell-32, streamed"},
                                         {"pattern + sell-32", "pattern + sell-32, streamed"}};
  *out = a->facts;
  for (int i = 0; i < 4 && a->streamed; i++) {
    if (strcmp(names[i][0], a->facts.format) == 0) out->format = names[i][1];
  }
}
