/* Rows from entries in file order (deal.h): count, scatter, sort each row by column keeping file
 * order, add duplicates.
 *
 * Values and columns are scattered one after the other, and what is not needed any more is freed in
 * between: 24 bytes an entry at most (16 arrived + 8, then 8 + 8 + 8), twice the 12 bytes of an
 * entry in CSR. A row that is sorted already (most are) costs one look. */
#include "deal.h"

#include <string.h>

#define MIRRORED ((gidx)1 << 62) /* marks a column until duplicates are added */

enum { SHORT_ROW = 32 };

static status count_rows(const dealt *d, gidx begin, lidx rows, eidx **offset) {
  status rc = alloc_zeroed(offset, (int64_t)rows + 1, sizeof **offset, "row offsets");
  if (rc != STATUS_OK) return rc;
  for (int64_t p = 0; p < d->size * d->rounds; p++) {
    deal_piece piece = deal_piece_at(d, p);
    for (int64_t i = 0; i < piece.count; i++) {
      ++(*offset)[key_row(piece.key + i * d->words, d->words) - begin + 1];
    }
  }
  for (lidx i = 0; i < rows; i++) (*offset)[i + 1] += (*offset)[i];
  return STATUS_OK;
}

/* Scattering moves offset[i] to the row's end, which is the next row's start: moved back here. */
static void restore(eidx *offset, lidx rows) {
  memmove(offset + 1, offset, (size_t)rows * sizeof *offset);
  offset[0] = 0;
}

static status scatter(dealt *d, gidx begin, csr_rows *a) {
  status rc = STATUS_OK;
  const int words = d->words;
  TRY(alloc_array(&a->value, d->entries, sizeof *a->value, "matrix values"));
  for (int64_t p = 0; p < d->size * d->rounds; p++) {
    deal_piece piece = deal_piece_at(d, p);
    for (int64_t i = 0; i < piece.count; i++) {
      a->value[a->offset[key_row(piece.key + i * words, words) - begin]++] = piece.value[i];
    }
  }
  restore(a->offset, a->rows);
  for (int64_t k = 0; k < d->rounds; k++) alloc_free(&d->round[k].value);

  TRY(alloc_array(&a->column, d->entries, sizeof *a->column, "matrix columns"));
  for (int64_t p = 0; p < d->size * d->rounds; p++) {
    deal_piece piece = deal_piece_at(d, p);
    for (int64_t i = 0; i < piece.count; i++) {
      const uint64_t *key = piece.key + i * words;
      gidx column = key_column(key, words) | (key_mirrored(key, words) ? MIRRORED : 0);
      a->column[a->offset[key_row(key, words) - begin]++] = column;
    }
  }
  restore(a->offset, a->rows);
done:
  return rc;
}

static inline gidx plain(gidx column) { return column & ~MIRRORED; }

static int sorted(const gidx *column, eidx count) {
  for (eidx i = 1; i < count; i++) {
    if (plain(column[i - 1]) > plain(column[i])) return 0;
  }
  return 1;
}

static void insert_sort(gidx *column, double *value, eidx count) {
  for (eidx i = 1; i < count; i++) {
    gidx c = column[i];
    double v = value[i];
    eidx j = i;
    for (; j > 0 && plain(column[j - 1]) > plain(c); j--) {
      column[j] = column[j - 1];
      value[j] = value[j - 1];
    }
    column[j] = c;
    value[j] = v;
  }
}

typedef struct row_room {
  gidx *column;
  double *value;
  eidx room;
} row_room;

/* Merges [low, middle) and [middle, high); equal columns: the left one first. */
static void merge(const gidx *column, const double *value, eidx low, eidx middle, eidx high,
                  gidx *to_column, double *to_value) {
  eidx i = low, j = middle;
  for (eidx k = low; k < high; k++) {
    eidx from = i < middle && (j >= high || plain(column[i]) <= plain(column[j])) ? i++ : j++;
    to_column[k] = column[from];
    to_value[k] = value[from];
  }
}

static status merge_sort(gidx *column, double *value, eidx count, row_room *spare) {
  if (spare->room < count) {
    alloc_free(&spare->column);
    alloc_free(&spare->value);
    spare->room = 0;
    status rc = alloc_array(&spare->column, count, sizeof *column, "row to sort");
    if (rc == STATUS_OK) rc = alloc_array(&spare->value, count, sizeof *value, "row to sort");
    if (rc != STATUS_OK) return rc;
    spare->room = count;
  }
  for (eidx low = 0; low < count; low += SHORT_ROW) {
    insert_sort(column + low, value + low, count - low < SHORT_ROW ? count - low : SHORT_ROW);
  }
  gidx *from_column = column, *to_column = spare->column;
  double *from_value = value, *to_value = spare->value;
  for (eidx width = SHORT_ROW; width < count; width *= 2) {
    for (eidx low = 0; low < count; low += 2 * width) {
      eidx middle = low + width < count ? low + width : count;
      eidx high = middle + width < count ? middle + width : count;
      merge(from_column, from_value, low, middle, high, to_column, to_value);
    }
    gidx *c = from_column;
    double *v = from_value;
    from_column = to_column, from_value = to_value;
    to_column = c, to_value = v;
  }
  if (from_column != column) {
    memcpy(column, from_column, (size_t)count * sizeof *column);
    memcpy(value, from_value, (size_t)count * sizeof *value);
  }
  return STATUS_OK;
}

static status sort_rows(csr_rows *a) {
  status rc = STATUS_OK;
  row_room spare = {NULL, NULL, 0};
  for (lidx i = 0; i < a->rows; i++) {
    eidx begin = a->offset[i], count = a->offset[i + 1] - begin;
    if (sorted(a->column + begin, count)) continue;
    if (count <= SHORT_ROW) {
      insert_sort(a->column + begin, a->value + begin, count);
    } else {
      TRY(merge_sort(a->column + begin, a->value + begin, count, &spare));
    }
  }
done:
  alloc_free(&spare.column);
  alloc_free(&spare.value);
  return rc;
}

/* Remembers the pair that a sorted file shows first: the least larger index, then the other. */
static void note_mixed(row_facts *facts, gidx row, gidx column) {
  gidx high = row > column ? row : column, low = row > column ? column : row;
  if (facts->mixed_row >= 0 &&
      (facts->mixed_row < high || (facts->mixed_row == high && facts->mixed_column <= low))) {
    return;
  }
  facts->mixed_row = high;
  facts->mixed_column = low;
}

static void add_duplicates(csr_rows *a, row_facts *facts) {
  eidx kept = 0, at = 0;
  for (lidx i = 0; i < a->rows; i++) {
    const eidx begin = kept, end = a->offset[i + 1];
    gidx before = -1; /* with its mark */
    for (; at < end; at++) {
      gidx column = a->column[at];
      if (kept > begin && plain(column) == plain(before)) {
        a->value[kept - 1] += a->value[at];
        if (column != before) note_mixed(facts, a->first_row + i, plain(column));
        if (!(column & MIRRORED)) facts->duplicates++;
        double sum = a->value[kept - 1];
        if (sum - sum != 0.0 && facts->beyond_row < 0) {
          facts->beyond_row = a->first_row + i;
          facts->beyond_column = plain(column);
        }
      } else {
        a->column[kept] = plain(column);
        a->value[kept] = a->value[at];
        kept++;
        before = column;
      }
    }
    a->offset[i + 1] = kept;
  }
}

status rows_tidy(csr_rows *a, row_facts *facts) {
  *facts = (row_facts){0, -1, -1, -1, -1};
  status rc = sort_rows(a);
  if (rc == STATUS_OK) add_duplicates(a, facts);
  return rc;
}

status deal_rows(dealt *d, const ownership *owned, gidx columns, csr_rows *out, row_facts *facts) {
  status rc = STATUS_OK;
  const gidx begin = ownership_begin(owned);
  memset(out, 0, sizeof *out);
  out->global_rows = owned->rows;
  out->global_columns = columns;
  out->first_row = begin;
  TRY(index_narrow(ownership_end(owned) - begin, "rows", &out->rows));
  TRY(count_rows(d, begin, out->rows, &out->offset));
  TRY(scatter(d, begin, out));
  dealt_release(d);
  TRY(rows_tidy(out, facts));
done:
  if (rc != STATUS_OK) csr_rows_release(out);
  return rc;
}
