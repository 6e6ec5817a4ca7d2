/* PETSc's binary files (stored.h): big-endian integers of 4 or, from a build with 64-bit indices, 8
 * bytes; binary64 numbers.
 *   Mat: 1211216, rows, columns, entries; entries of each row; columns; values
 *   Vec: 1211214, rows; values
 * A Vec may follow a Mat in the same file: its right-hand side. Everything has a place that the
 * head tells, so ranks read their own ranges. Layout: PETSc manual, MatLoad and VecLoad. */
#include <inttypes.h>
#include <string.h>

#include "alloc.h"
#include "big_endian.h"
#include "stored.h"

enum { PIECE = 1 << 16, REAL_BYTES = 8, HEAD_WORDS = 4 };

static status read_exactly(stored_file *f, int64_t at, void *to, int64_t bytes) {
  int64_t got;
  status rc = byte_source_read(&f->source, at, to, bytes, &got);
  if (rc == STATUS_OK && got < bytes) {
    rc = fail(STATUS_INPUT, "%s: the file ends at byte %" PRId64 ", expected more (cut off?)",
              f->path, at + got);
  }
  return rc;
}

/* Words [0, count) from byte `at` on, a piece at a time. */
static status read_words(stored_file *f, int64_t at, int64_t count, int width, void *out,
                         int reals) {
  status rc = STATUS_OK;
  unsigned char *piece = NULL;
  TRY(alloc_array(&piece, PIECE, 1, "part of a file"));
  for (int64_t i = 0; i < count;) {
    int64_t words = PIECE / width;
    if (words > count - i) words = count - i;
    TRY(read_exactly(f, at + i * width, piece, words * width));
    for (int64_t k = 0; k < words; k++, i++) {
      if (reals) {
        const uint64_t bits = big_endian_get(piece + k * width, width);
        memcpy((double *)out + i, &bits, sizeof bits);
      } else {
        ((int64_t *)out)[i] = big_endian_signed(piece + k * width, width);
      }
    }
  }
done:
  alloc_free(&piece);
  return rc;
}

static status too_short(const stored_file *f) {
  return fail(STATUS_INPUT,
              "%s: a head of %" PRId64 " rows and %" PRId64
              " entries asks for more bytes than the file has, %" PRId64 " (cut off, damaged, or "
              "single precision)",
              f->path, f->rows, f->entries, f->source.size);
}

/* A Vec right behind the matrix; anything else there is refused. */
static status find_rhs(stored_file *f, int64_t end) {
  status rc = STATUS_OK;
  unsigned char head[16] = {0};
  const int64_t words = 2 * (int64_t)f->width, left = f->source.size - end;
  if (left == 0) return STATUS_OK;
  if (left < words) {
    return fail(STATUS_INPUT, "%s: %" PRId64 " bytes follow the matrix: expected a Vec, or nothing",
                f->path, left);
  }
  TRY(read_exactly(f, end, head, words));
  const int64_t class = big_endian_signed(head, f->width),
                rows = big_endian_signed(head + f->width, f->width);
  if (left == f->entries * REAL_BYTES && class != PETSC_VEC) {
    rc = fail(STATUS_INPUT, "%s: the values are complex; expected real ones", f->path);
  } else if (class != PETSC_VEC || rows != f->rows || left != words + rows * REAL_BYTES) {
    rc = fail(STATUS_INPUT,
              "%s: what follows the matrix at byte %" PRId64 " is not one Vec of %" PRId64
              " numbers (complex values, or several objects?)",
              f->path, end, f->rows);
  } else {
    f->rhs_at = end + words;
  }
done:
  return rc;
}

static status open_matrix(stored_file *f, const int64_t *head) {
  const int64_t at = HEAD_WORDS * (int64_t)f->width, size = f->source.size;
  f->rows = head[1];
  f->columns = head[2];
  f->entries = head[3];
  if (f->entries == -1) {
    return fail(STATUS_INPUT, "%s: a dense PETSc matrix; expected a sparse one (MATAIJ)", f->path);
  }
  if (f->rows < 0 || f->columns < 0 || f->entries < 0) {
    return fail(STATUS_INPUT,
                "%s: the head says %" PRId64 " x %" PRId64 " with %" PRId64
                " entries: expected numbers that are not negative",
                f->path, f->rows, f->columns, f->entries);
  }
  if (f->rows > size / f->width || f->entries > size / (f->width + REAL_BYTES)) {
    return too_short(f);
  }
  f->lengths_at = at;
  f->columns_at = at + f->rows * f->width;
  f->values_at = f->columns_at + f->entries * f->width;
  const int64_t end = f->values_at + f->entries * REAL_BYTES;
  return end > size ? too_short(f) : find_rhs(f, end);
}

static status open_vector(stored_file *f, const int64_t *head) {
  const int64_t at = 2 * (int64_t)f->width, left = f->source.size - at;
  f->rows = head[1];
  f->columns = 1;
  f->entries = -1;
  f->values_at = at;
  if (f->rows >= 0 && f->rows <= left / REAL_BYTES && left == f->rows * REAL_BYTES) {
    return STATUS_OK;
  }
  return fail(STATUS_INPUT,
              "%s: a Vec of %" PRId64 " numbers takes %" PRId64 " bytes, found %" PRId64
              " (complex, cut off, or several objects)",
              f->path, f->rows, at + 8 * f->rows, f->source.size);
}

status petsc_open(stored_file *f) {
  status rc = STATUS_OK;
  unsigned char first[4];
  unsigned char bytes[HEAD_WORDS * 8] = {0};
  int64_t head[HEAD_WORDS] = {0};
  TRY(read_exactly(f, 0, first, 4));
  f->width = big_endian_get(first, 4) == 0 ? 8 : 4;
  const int words = big_endian_signed(first, 4) == PETSC_VEC ? 2 : HEAD_WORDS;
  const int64_t room = f->source.size < words * f->width ? f->source.size : words * f->width;
  TRY(read_exactly(f, 0, bytes, room));
  for (int i = 0; i < words; i++) head[i] = big_endian_signed(bytes + i * f->width, f->width);
  if (head[0] == PETSC_VEC) {
    rc = open_vector(f, head);
  } else if (room < words * f->width) {
    rc = fail(STATUS_INPUT, "%s: the file ends within its head (cut off?)", f->path);
  } else {
    rc = open_matrix(f, head);
  }
done:
  return rc;
}

status petsc_lengths(stored_file *f, gidx first, int64_t count, int64_t *out) {
  status rc = read_words(f, f->lengths_at + first * f->width, count, f->width, out, 0);
  for (int64_t i = 0; i < count && rc == STATUS_OK; i++) {
    if (out[i] >= 0 && out[i] <= f->entries) continue;
    rc = fail(STATUS_INPUT,
              "%s: row lengths: row %" PRId64 " (counted from 0) has %" PRId64
              " entries, expected 0..%" PRId64,
              f->path, first + i, out[i], f->entries);
  }
  return rc;
}

status petsc_columns(stored_file *f, int64_t first, int64_t count, gidx *out) {
  return read_words(f, f->columns_at + first * f->width, count, f->width, out, 0);
}

status petsc_values(stored_file *f, int64_t at, int64_t first, int64_t count, double *out) {
  return read_words(f, at + first * REAL_BYTES, count, REAL_BYTES, out, 1);
}
