/* Stored arrays: PETSc files made byte by byte, CSR groups as other programs write them, what is
 * refused and why, and that what is written comes back bit for bit.
 * ranks: 1 3 */
#include <hdf5.h>
#include <math.h>
#include <unistd.h>

#include "big_endian.h"
#include "made_file.h"
#include "stored.h"

/* Rows of 3 x 3: (0: 4, 1), (1: 5), (2: 1, -0, 6); the right-hand side 7, 8, 9. */
static const int64_t lengths[3] = {2, 1, 3}, offsets[4] = {0, 2, 3, 6},
                     columns[6] = {0, 1, 1, 0, 1, 2};
static const double values[6] = {4, 1, 5, 1, -0.0, 6}, rhs[3] = {7, 8, 9};

static void put(FILE *f, const int64_t *words, int64_t count, int width) {
  char bytes[64];
  big_endian_put(words, count, width, bytes);
  fwrite(bytes, (size_t)width, (size_t)count, f);
}

static void put_reals(FILE *f, const double *x, int64_t count) {
  char bytes[64];
  big_endian_put_reals(x, count, bytes);
  fwrite(bytes, 8, (size_t)count, f);
}

/* A Mat, and a Vec behind it where `with_rhs`; cut to `keep` bytes where that is not negative. */
static const char *petsc(int width, const int64_t head[4], const int64_t *length,
                         const int64_t *column, int with_rhs, long keep) {
  const char *name = name_of("a.petsc");
  if (comm_rank(world) == 0) {
    FILE *f = fopen(name, "wb");
    put(f, head, 4, width);
    put(f, length, 3, width);
    put(f, column, 6, width);
    put_reals(f, values, 6);
    if (with_rhs) {
      put(f, (const int64_t[2]){PETSC_VEC, 3}, 2, width);
      put_reals(f, rhs, 3);
    }
    fclose(f);
    if (keep >= 0) assert_int_equal(truncate(name, keep), 0);
  }
  assert_ok(comm_barrier(world));
  return name;
}

static void read_file(const char *path, reading *r) {
  const int64_t before = alloc_live();
  captured s = captured_begin();
  r->code = matrix_read(world, path, 2, &r->a, &r->owned, &r->facts, &r->rhs);
  captured_end(&s, world, r->said);
  if (r->code != STATUS_OK) assert_int_equal(alloc_live(), before);
}

/* The matrix above, whoever wrote it. */
static void assert_is_ours(const reading *r) {
  if (r->code != STATUS_OK) fail_msg("%s", r->said);
  assert_int_equal(r->facts.rows, 3);
  assert_int_equal(r->facts.columns, 3);
  assert_int_equal(r->facts.merged, 6);
  for (lidx i = 0; i < r->a.rows; i++) {
    const int64_t first = offsets[r->a.first_row + i];
    assert_int_equal(r->a.offset[i + 1] - r->a.offset[i], lengths[r->a.first_row + i]);
    for (int64_t k = 0; k < lengths[r->a.first_row + i]; k++) {
      assert_int_equal(r->a.column[r->a.offset[i] + k], columns[first + k]);
      assert_same_bits(r->a.value[r->a.offset[i] + k], values[first + k]);
    }
  }
}

static void petsc_files(void **state) {
  (void)state;
  static const int64_t head[4] = {PETSC_MAT, 3, 3, 6};
  for (int width = 4; width <= 8; width += 4) {
    for (int with_rhs = 0; with_rhs < 2; with_rhs++) {
      reading r;
      const char *name = petsc(width, head, lengths, columns, with_rhs, -1);
      read_file(name, &r);
      assert_is_ours(&r);
      assert_true((r.rhs != NULL) == with_rhs);
      for (lidx i = 0; with_rhs && i < r.a.rows; i++) {
        assert_same_bits(r.rhs[i], rhs[r.a.first_row + i]);
      }
      release(&r);
      unmake(name);
    }
  }
}

static void assert_petsc_refused(const int64_t head[4], const int64_t *length,
                                 const int64_t *column, int with_rhs, long keep, const char *why) {
  reading r;
  const char *name = petsc(4, head, length, column, with_rhs, keep);
  read_file(name, &r);
  if (r.code != STATUS_INPUT || strstr(r.said, why) == NULL) {
    fail_msg("code %d, '%s' not in: %s", (int)r.code, why, r.said);
  }
  unmake(name);
}

static void petsc_files_that_are_wrong(void **state) {
  (void)state;
  static const int64_t head[4] = {PETSC_MAT, 3, 3, 6}, negative[4] = {PETSC_MAT, 3, -3, 6},
                       dense[4] = {PETSC_MAT, 3, 3, -1}, huge[4] = {PETSC_MAT, 3, 3, 2147483647},
                       long_row[3] = {2, 1, 900}, below[3] = {2, -1, 5}, fewer[3] = {2, 1, 2},
                       more[3] = {2, 2, 3}, outside[6] = {0, 1, 1, 0, 1, 3},
                       before[6] = {0, -1, 1, 0, 1, 2};
  assert_petsc_refused(negative, lengths, columns, 0, -1, "not negative");
  assert_petsc_refused(dense, lengths, columns, 0, -1, "a dense PETSc matrix");
  assert_petsc_refused(huge, lengths, columns, 0, -1, "asks for more bytes");
  assert_petsc_refused(head, long_row, columns, 0, -1, "row 2 (counted from 0) has 900 entries");
  assert_petsc_refused(head, below, columns, 0, -1, "row 1 (counted from 0) has -1 entries");
  assert_petsc_refused(head, fewer, columns, 0, -1,
                       "add up to 5, expected the number of entries, 6");
  assert_petsc_refused(head, more, columns, 0, -1,
                       "add up to 7, expected the number of entries, 6");
  assert_petsc_refused(head, lengths, outside, 0, -1, "has column 3, expected 0..2");
  assert_petsc_refused(head, lengths, before, 0, -1, "has column -1, expected 0..2");
  assert_petsc_refused(head, lengths, columns, 0, 99, "asks for more bytes");
  assert_petsc_refused(head, lengths, columns, 1, 120, "is not one Vec of 3 numbers");
  assert_petsc_refused(head, lengths, columns, 1, 103, "3 bytes follow the matrix");
  assert_petsc_refused(head, lengths, columns, 0, 10, "ends within its head");
}

/* ---- HDF5 ---- */

static void set(hid_t at, const char *name, hid_t type, hid_t memory, hsize_t count,
                const void *data) {
  hid_t space = H5Screate_simple(1, &count, NULL);
  hid_t made = H5Dcreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(made, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  H5Dclose(made);
  H5Sclose(space);
}

typedef struct group_of {
  const char *name;
  const int64_t *offset, *column, *shape; /* shape NULL: none */
  int64_t entries;                        /* of the indices */
  const char *order;                      /* an attribute h5sparse_format; NULL: none */
  int dims;                               /* numbers of `shape`; 0: 2 */
} group_of;

static const char *hdf5(const group_of *g) {
  const char *name = name_of("a.h5");
  if (comm_rank(world) == 0) {
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t group = H5Gcreate2(file, g->name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    set(group, "indptr", H5T_STD_I32LE, H5T_NATIVE_INT64, 4, g->offset);
    set(group, "indices", H5T_STD_I32BE, H5T_NATIVE_INT64, (hsize_t)g->entries, g->column);
    set(group, "data", H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, 6, values);
    if (g->shape != NULL) {
      set(group, "shape", H5T_STD_I64LE, H5T_NATIVE_INT64, g->dims == 0 ? 2 : (hsize_t)g->dims,
          g->shape);
    }
    if (g->order != NULL) {
      hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
      H5Tset_size(type, strlen(g->order) + 1);
      hid_t made = H5Acreate2(group, "h5sparse_format", type, space, H5P_DEFAULT, H5P_DEFAULT);
      H5Awrite(made, type, g->order);
      H5Aclose(made);
      H5Tclose(type);
      H5Sclose(space);
    }
    H5Gclose(group);
    set(file, "b", H5T_IEEE_F32LE, H5T_NATIVE_DOUBLE, 3, rhs);
    H5Fclose(file);
  }
  assert_ok(comm_barrier(world));
  return name;
}

static void csr_groups(void **state) {
  (void)state;
  static const int64_t shape[2] = {3, 3};
  static const group_of all[] = {{"/A", offsets, columns, NULL, 6, NULL, 0},
                                 {"/A", offsets, columns, shape, 6, "csr", 0},
                                 {"/matrix", offsets, columns, shape, 6, NULL, 0}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    reading r;
    char path[300], vector[300];
    const char *name = hdf5(&all[i]);
    snprintf(path, sizeof path, "%s:%s", name, all[i].name);
    snprintf(vector, sizeof vector, "%s:/b", name);
    for (int k = 0; k < 2; k++) {
      double *b = NULL;
      read_file(k == 0 ? path : name, &r);
      assert_is_ours(&r);
      assert_ok(vector_read(world, vector, &r.owned, 0, &b, NULL));
      for (lidx row = 0; row < r.a.rows; row++) assert_same_bits(b[row], rhs[r.a.first_row + row]);
      alloc_free(&b);
      release(&r);
    }
    unmake(name);
  }
}

static void assert_group_refused(const group_of *g, const char *why) {
  reading r;
  const char *name = hdf5(g);
  read_file(name, &r);
  if (r.code != STATUS_INPUT || strstr(r.said, why) == NULL) {
    fail_msg("code %d, '%s' not in: %s", (int)r.code, why, r.said);
  }
  unmake(name);
}

static void csr_groups_that_are_wrong(void **state) {
  (void)state;
  static const int64_t one[4] = {1, 2, 3, 6}, end[4] = {0, 2, 3, 5}, fall[4] = {0, 4, 3, 6},
                       outside[6] = {0, 1, 1, 0, 1, 9}, flat[2] = {3, 2}, tall[2] = {4, 3},
                       deep[3] = {3, 3, 3};
  assert_group_refused(&(group_of){"/A", one, columns, NULL, 6, NULL, 0}, "indptr begins with 1");
  assert_group_refused(&(group_of){"/A", end, columns, NULL, 6, NULL, 0}, "indptr ends with 5");
  assert_group_refused(&(group_of){"/A", fall, columns, NULL, 6, NULL, 0}, "do not fall");
  assert_group_refused(&(group_of){"/A", offsets, outside, NULL, 6, NULL, 0}, "has column 9");
  assert_group_refused(&(group_of){"/A", offsets, columns, flat, 6, NULL, 0}, "has column 2");
  assert_group_refused(&(group_of){"/A", offsets, columns, tall, 6, NULL, 0}, "expected rows + 1");
  assert_group_refused(&(group_of){"/A", offsets, columns, deep, 6, NULL, 3}, "is not two numbers");
  assert_group_refused(&(group_of){"/A", offsets, columns, NULL, 5, NULL, 0},
                       "5 indices but 6 data");
  assert_group_refused(&(group_of){"/A", offsets, columns, NULL, 6, "csc", 0}, "stored by columns");
}

/* ---- writing ---- */

static void what_is_written_comes_back(void **state) {
  (void)state;
  static const char *const stems[] = {"back.mtx", "back.petsc"};
  reading r, again;
  const char *name = petsc(4, (const int64_t[4]){PETSC_MAT, 3, 3, 6}, lengths, columns, 0, -1);
  read_file(name, &r);
  unmake(name);
  for (int k = 0; k < 2; k++) {
    const char *path = name_of(stems[k]);
    assert_ok(matrix_write(world, path, &r.a));
    read_file(path, &again);
    assert_is_ours(&again);
    assert_true(again.facts.content == r.facts.content);
    release(&again);
    unmake(path);
  }
  const char *path = name_of("vector.bin");
  double part[3], *b = NULL;
  for (lidx i = 0; i < r.a.rows; i++) part[i] = rhs[r.a.first_row + i];
  assert_ok(vector_write(world, path, &r.owned, part));
  assert_ok(vector_read(world, path, &r.owned, 0, &b, NULL));
  for (lidx i = 0; i < r.a.rows; i++) assert_same_bits(b[i], part[i]);
  alloc_free(&b);
  captured s = captured_begin();
  const status code = vector_write(world, path, &r.owned, part); /* it carries no mark */
  captured_end(&s, world, r.said);
  assert_int_equal(code, STATUS_USAGE);
  unmake(path);
  release(&r);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(petsc_files),
      cmocka_unit_test(petsc_files_that_are_wrong),
      cmocka_unit_test(csr_groups),
      cmocka_unit_test(csr_groups_that_are_wrong),
      cmocka_unit_test(what_is_written_comes_back),
  };
  RUN_READING_TESTS(argc, argv, tests);
}
