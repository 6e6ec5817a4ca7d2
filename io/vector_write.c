/* vector_write (matrix_io.h). Text: every line has the same length (25 bytes), so each rank writes
 * its own part where it belongs, a piece at a time; nothing is gathered. */
#include <inttypes.h>
#include <stdio.h>

#include "alloc.h"
#include "big_endian.h"
#include "file_name.h"
#include "matrix_io.h"
#include "placed_file.h"
#include "stored.h"

enum { LINE_BYTES = 25, PIECE = 40000, HEAD_BYTES = 160, REAL_BYTES = 8 };

static const char our_mark[] = "written by halosweep";

/* Of numbers [0, count), each `width` bytes of the file. */
static void print_lines(const double *values, int64_t count, char *out) {
  for (int64_t i = 0; i < count; i++) {
    snprintf(out + i * LINE_BYTES, LINE_BYTES + 1, "%24.17g\n", values[i]);
  }
}

static status write_part(const placed_file *f, const ownership *owned, const double *values,
                         int64_t head, int binary) {
  status rc = STATUS_OK;
  const gidx first = ownership_begin(owned), rows = ownership_end(owned) - first;
  const int64_t width = binary ? REAL_BYTES : LINE_BYTES;
  char *piece = NULL;
  TRY(alloc_array(&piece, PIECE * width + 1, 1, "numbers to write"));
  for (gidx at = 0; at < rows; at += PIECE) {
    const int64_t count = rows - at < PIECE ? rows - at : PIECE;
    if (binary) {
      big_endian_put_reals(values + at, count, piece);
    } else {
      print_lines(values + at, count, piece);
    }
    TRY(placed_write(f, piece, count * width, head + (first + at) * width));
  }
done:
  alloc_free(&piece);
  return rc;
}

status vector_write(comm *c, const char *path, const ownership *owned, const double *values) {
  status rc = STATUS_OK;
  placed_file f;
  char head[HEAD_BYTES];
  int bytes;
  const int binary = file_name_ends(path, MATRIX_PETSC_NAMES);
  if (binary) {
    const int64_t words[2] = {PETSC_VEC, owned->rows};
    const int width = petsc_width(owned->rows, 0);
    big_endian_put(words, 2, width, head);
    bytes = 2 * width;
  } else if (file_name_ends(path, ".mtx")) {
    bytes = snprintf(head, sizeof head,
                     "%%%%MatrixMarket matrix array real general\n%% %s\n%" PRId64 " 1\n", our_mark,
                     owned->rows);
  } else {
    bytes = snprintf(head, sizeof head, "# %s\n", our_mark);
  }
  TRY(placed_create(c, path, head, bytes, &f));
  TRY(placed_commit(&f, write_part(&f, owned, values, bytes, binary)));
done:
  placed_release(&f);
  return rc;
}
