/* matrix_write and matrix_store (matrix_io.h). Every part of the file has a place that sizes tell:
 * the lines of a coordinate file have one length (indices padded with blanks), PETSc's arrays
 * follow each other. So each rank writes its own rows; nothing is gathered. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "big_endian.h"
#include "file_name.h"
#include "matrix_io.h"
#include "placed_file.h"
#include "stored.h"

enum { PIECE = 1 << 15, HEAD_BYTES = 200, VALUE_BYTES = 24, REAL_BYTES = 8, HEAD_WORDS = 4 };
enum { LINE_ROOM = 2 * 20 + VALUE_BYTES + 4 };

int petsc_width(int64_t rows, int64_t entries) {
  return rows > INT32_MAX || entries > INT32_MAX ? 8 : 4;
}

typedef struct writing {
  const placed_file *f;
  const csr_rows *a;
  int64_t first, entries; /* number of this rank's first entry; of all */
  int64_t head;           /* bytes */
  char *piece;
} writing;

static int digits(int64_t number) {
  int count = 1;
  for (; number > 9; number /= 10) count++;
  return count;
}

/* A number of at most `width` digits, blanks in front, one behind; returns where it ends. */
static char *put_index(char *to, int width, int64_t number) {
  for (int i = width - 1; i >= 0; i--, number /= 10) {
    to[i] = (char)(number > 0 ? '0' + number % 10 : ' ');
  }
  to[width] = ' ';
  return to + width + 1;
}

static status write_lines(const writing *w, int width_row, int width_column) {
  status rc = STATUS_OK;
  const csr_rows *a = w->a;
  const int64_t line = width_row + 1 + width_column + 1 + VALUE_BYTES + 1;
  int64_t held = 0, at = w->head + w->first * line;
  for (lidx i = 0; i < a->rows; i++) {
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      char *to = w->piece + held * line;
      to = put_index(to, width_row, a->first_row + i + 1);
      to = put_index(to, width_column, a->column[e] + 1);
      snprintf(to, VALUE_BYTES + 2, "%24.17g\n",
               a->value[e]); /* its end is the next line's start */
      if (++held < PIECE) continue;
      TRY(placed_write(w->f, w->piece, held * line, at));
      at += held * line;
      held = 0;
    }
  }
  rc = placed_write(w->f, w->piece, held * line, at);
done:
  return rc;
}

static status write_words(const writing *w, const int64_t *words, int64_t count, int width,
                          int64_t at) {
  status rc = STATUS_OK;
  for (int64_t i = 0; i < count; i += PIECE) {
    const int64_t some = count - i < PIECE ? count - i : PIECE;
    big_endian_put(words + i, some, width, w->piece);
    TRY(placed_write(w->f, w->piece, some * width, at + i * width));
  }
done:
  return rc;
}

static status write_arrays(const writing *w, int width) {
  status rc = STATUS_OK;
  const csr_rows *a = w->a;
  const int64_t columns = w->head + a->global_rows * width;
  const int64_t values = columns + w->entries * width, count = a->offset[a->rows];
  int64_t *length = NULL;
  TRY(alloc_array(&length, a->rows, sizeof *length, "row lengths"));
  for (lidx i = 0; i < a->rows; i++) length[i] = a->offset[i + 1] - a->offset[i];
  TRY(write_words(w, length, a->rows, width, w->head + a->first_row * width));
  TRY(write_words(w, a->column, count, width, columns + w->first * width));
  for (int64_t i = 0; i < count; i += PIECE) {
    const int64_t some = count - i < PIECE ? count - i : PIECE;
    big_endian_put_reals(a->value + i, some, w->piece);
    TRY(placed_write(w->f, w->piece, some * REAL_BYTES, values + (w->first + i) * REAL_BYTES));
  }
done:
  alloc_free(&length);
  return rc;
}

/* The number of this rank's first entry, and of all entries. */
static status count_entries(comm *c, const csr_rows *a, int64_t *first, int64_t *all) {
  status rc = STATUS_OK;
  *first = *all = a->offset[a->rows];
  TRY(comm_exscan_i64(c, first));
  TRY(comm_sum_i64(c, all, 1));
done:
  return rc;
}

status matrix_write(comm *c, const char *path, const csr_rows *a) {
  status rc = STATUS_OK;
  placed_file f;
  writing w = {.f = &f, .a = a};
  char head[HEAD_BYTES];
  memset(&f, 0, sizeof f);
  TRY(count_entries(c, a, &w.first, &w.entries));
  const int binary = file_name_ends(path, MATRIX_PETSC_NAMES);
  const int width = petsc_width(a->global_rows, w.entries);
  if (binary) {
    const int64_t words[HEAD_WORDS] = {PETSC_MAT, a->global_rows, a->global_columns, w.entries};
    big_endian_put(words, HEAD_WORDS, width, head);
    w.head = HEAD_WORDS * (int64_t)width;
  } else {
    w.head = snprintf(head, sizeof head,
                      "%%%%MatrixMarket matrix coordinate real general\n%% written by halosweep\n"
                      "%" PRId64 " %" PRId64 " %" PRId64 "\n",
                      a->global_rows, a->global_columns, w.entries);
  }
  TRY(comm_agree(c, alloc_array(&w.piece, PIECE * LINE_ROOM + 1, 1, "text")));
  TRY(placed_create(c, path, head, w.head, &f));
  rc = binary ? write_arrays(&w, width)
              : write_lines(&w, digits(a->global_rows), digits(a->global_columns));
  rc = placed_commit(&f, rc);
done:
  placed_release(&f);
  alloc_free(&w.piece);
  return rc;
}

status matrix_store(result_file *file, comm *c, const csr_rows *a) {
  status rc = STATUS_OK;
  int64_t first, entries, *offset = NULL;
  const int64_t shape[2] = {a->global_rows, a->global_columns};
  const int speaks = comm_rank(c) == 0, last = a->first_row + a->rows == a->global_rows;
  TRY(count_entries(c, a, &first, &entries));
  TRY(comm_agree(c, alloc_array(&offset, (int64_t)a->rows + 1, sizeof *offset, "row offsets")));
  for (lidx i = 0; i <= a->rows; i++) offset[i] = first + a->offset[i];
  TRY(result_table(file, "/matrix/shape", DATASET_I64, 2, 0, 0, speaks ? 2 : 0, shape));
  TRY(result_table(file, "/matrix/indptr", DATASET_I64, a->global_rows + 1, 0, a->first_row,
                   a->rows + (last && (a->rows > 0 || speaks)), offset));
  TRY(result_table(file, "/matrix/indices", DATASET_I64, entries, 0, first, a->offset[a->rows],
                   a->column));
  TRY(result_table(file, "/matrix/data", DATASET_F64, entries, 0, first, a->offset[a->rows],
                   a->value));
done:
  alloc_free(&offset);
  return rc;
}
