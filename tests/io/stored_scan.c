/* Stored arrays of several blocks of entries (stored_scan.c), a row longer than a block among them:
 * PETSc, HDF5 and text give one matrix and one content on any number of threads; rows out of order,
 * with duplicates, and wrong entries far inside are noticed, and named.
 * ranks: 1 2 */
#include <hdf5.h>
#include <math.h>
#include <string.h>

#include "made_file.h"
#include "result_io.h"

enum { ROWS = 3000, LONG_ROW = 1700, LONG = 40000, COLUMNS = 50000 };

/* Row gi: 0 .. 24 entries, or LONG; those of rank's own rows. */
static int64_t length_of(gidx gi) { return gi == LONG_ROW ? LONG : gi * 37 % 25; }

static void make_rows(csr_rows *a, ownership *owned) {
  memset(a, 0, sizeof *a);
  assert_ok(ownership_even(world, ROWS, owned));
  a->global_rows = ROWS;
  a->global_columns = COLUMNS;
  a->first_row = ownership_begin(owned);
  a->rows = (lidx)(ownership_end(owned) - a->first_row);
  assert_ok(alloc_array(&a->offset, (int64_t)a->rows + 1, sizeof *a->offset, "rows"));
  a->offset[0] = 0;
  for (lidx i = 0; i < a->rows; i++) {
    a->offset[i + 1] = a->offset[i] + length_of(a->first_row + i);
  }
  assert_ok(alloc_array(&a->column, a->offset[a->rows], sizeof *a->column, "columns"));
  assert_ok(alloc_array(&a->value, a->offset[a->rows], sizeof *a->value, "values"));
  for (lidx i = 0; i < a->rows; i++) {
    const gidx gi = a->first_row + i;
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const int64_t k = e - a->offset[i];
      a->column[e] = gi == LONG_ROW ? k : k * 1999 + gi % 1999;
      a->value[e] = k % 11 == 5 ? 0.0 : (double)(gi * 31 + k) / 7.0;
    }
  }
}

static void write_h5(const char *path, const csr_rows *a) {
  result_file *f = NULL;
  assert_ok(result_create(world, path, &f));
  assert_ok(matrix_store(f, world, a));
  assert_ok(result_close(&f, 1));
}

static void assert_same_rows(const reading *x, const reading *y) {
  assert_true(x->facts.content == y->facts.content);
  assert_int_equal(x->facts.merged, y->facts.merged);
  assert_int_equal(x->facts.explicit_zeros, y->facts.explicit_zeros);
  assert_int_equal(x->a.rows, y->a.rows);
  const size_t entries = (size_t)x->a.offset[x->a.rows];
  assert_memory_equal(x->a.offset, y->a.offset, ((size_t)x->a.rows + 1) * sizeof *x->a.offset);
  assert_memory_equal(x->a.column, y->a.column, entries * sizeof *x->a.column);
  assert_memory_equal(x->a.value, y->a.value, entries * sizeof *x->a.value);
}

static void read_by(const char *path, int threads, reading *r) {
  captured s = captured_begin();
  r->code = matrix_read(world, path, threads, &r->a, &r->owned, &r->facts, &r->rhs);
  captured_end(&s, world, r->said);
}

static void one_matrix_from_all_formats(void **state) {
  (void)state;
  static const char *const stems[] = {"scan.mtx", "scan.petsc", "scan.h5"};
  csr_rows a;
  ownership owned;
  reading first, again;
  make_rows(&a, &owned);
  for (int k = 0; k < 3; k++) {
    const char *path = name_of(stems[k]);
    if (k < 2) {
      assert_ok(matrix_write(world, path, &a));
    } else {
      write_h5(path, &a);
    }
    for (int threads = 1; threads <= 3; threads++) {
      read_by(path, threads, &again);
      if (again.code != STATUS_OK) fail_msg("%s, %d threads: %s", path, threads, again.said);
      if (k == 0 && threads == 1) {
        first = again;
        continue;
      }
      assert_same_rows(&first, &again);
      release(&again);
    }
    unmake(path);
  }
  release(&first);
  csr_rows_release(&a);
  ownership_release(&owned);
}

/* Changes one number of a dataset of a file that is there. */
static void spoil(const char *path, const char *set, hsize_t at, hid_t type, const void *to) {
  if (comm_rank(world) == 0) {
    const hsize_t one = 1;
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), data = H5Dopen2(file, set, H5P_DEFAULT);
    hid_t space = H5Dget_space(data), memory = H5Screate_simple(1, &one, NULL);
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL) >= 0);
    assert_true(H5Dwrite(data, type, memory, space, H5P_DEFAULT, to) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(data);
    H5Fclose(file);
  }
  assert_ok(comm_barrier(world));
}

/* The first entry of a row in the file. */
static hsize_t entry_of(gidx row) {
  hsize_t at = 0;
  for (gidx i = 0; i < row; i++) at += (hsize_t)length_of(i);
  return at;
}

static void what_is_wrong_is_named(void **state) {
  (void)state;
  csr_rows a;
  ownership owned;
  reading r;
  const char *path = name_of("spoilt.h5");
  const int64_t outside = COLUMNS, second = 1;
  const double not_finite = NAN;
  const hsize_t long_at = entry_of(LONG_ROW), late = entry_of(2990);
  make_rows(&a, &owned);
  write_h5(path, &a);
  /* the third entry of the long row says column 1, as the second does: added up */
  spoil(path, "/matrix/indices", long_at + 2, H5T_NATIVE_INT64, &second);
  read_by(path, 2, &r);
  assert_ok(r.code);
  assert_non_null(strstr(r.said, comm_rank(world) == 0 ? "1 entries repeat a position" : ""));
  assert_int_equal(r.facts.merged, r.facts.stored - 1);
  release(&r);
  spoil(path, "/matrix/data", late, H5T_NATIVE_DOUBLE, &not_finite);
  read_by(path, 2, &r);
  assert_int_equal(r.code, STATUS_INPUT);
  if (comm_rank(world) == 0) assert_non_null(strstr(r.said, "is not finite"));
  spoil(path, "/matrix/indices", long_at + 39999, H5T_NATIVE_INT64, &outside);
  read_by(path, 3, &r);
  assert_int_equal(r.code, STATUS_INPUT);
  if (comm_rank(world) == 0) assert_non_null(strstr(r.said, "has column 50000"));
  unmake(path);
  csr_rows_release(&a);
  ownership_release(&owned);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_matrix_from_all_formats),
      cmocka_unit_test(what_is_wrong_is_named),
  };
  RUN_READING_TESTS(argc, argv, tests);
}
