/* Saved times as VTKHDF: what HDF5, as any tool, finds in the file; numbers of places; files of
 * fewer planes than ranks, of flat and tiny grids.
 * ranks: 1 2 3 5
 * With the arguments "write FILE" it writes a file (tests/io/field_bytes.sh, field_h5py.sh). */
#include "field_fixture.h"

#include <hdf5.h>

static hid_t open_file(const char *where) {
  hid_t file = H5Fopen(where, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  return file;
}

static void read_set(hid_t file, const char *name, hid_t type, int dims, const hsize_t *wanted,
                     void *values) {
  hsize_t extent[DATASET_DIMS];
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
  assert_int_equal(H5Sget_simple_extent_ndims(space), dims);
  H5Sget_simple_extent_dims(space, extent, NULL);
  for (int d = 0; d < dims; d++) assert_int_equal(extent[d], wanted[d]);
  assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Sclose(space);
  H5Dclose(set);
}

/* An attribute of /VTKHDF, or of its Steps, with `count` numbers. */
static void read_attribute(hid_t file, const char *group, const char *name, hid_t type, int count,
                           void *values) {
  hid_t at = H5Aopen_by_name(file, group, name, H5P_DEFAULT, H5P_DEFAULT), space;
  assert_true(at >= 0);
  space = H5Aget_space(at);
  assert_int_equal(H5Sget_simple_extent_npoints(space), count);
  assert_true(H5Aread(at, type, values) >= 0);
  H5Sclose(space);
  H5Aclose(at);
}

/* Readers ask for a text of fixed length. */
static void check_type(hid_t file) {
  char text[10] = "";
  hid_t at = H5Aopen_by_name(file, "/VTKHDF", "Type", H5P_DEFAULT, H5P_DEFAULT);
  assert_true(at >= 0);
  hid_t type = H5Aget_type(at);
  assert_int_equal(H5Tget_class(type), H5T_STRING);
  assert_int_equal(H5Tis_variable_str(type), 0);
  assert_int_equal(H5Tget_size(type), 9);
  assert_int_equal(H5Tget_cset(type), H5T_CSET_ASCII);
  assert_true(H5Aread(at, type, text) >= 0);
  assert_string_equal(text, "ImageData");
  H5Tclose(type);
  H5Aclose(at);
}

static void check_head(hid_t file, const heat_grid *g, int64_t count) {
  int64_t version[2], extent[6], steps;
  double origin[3], spacing[3], direction[9];
  check_type(file);
  read_attribute(file, "/VTKHDF", "Version", H5T_NATIVE_INT64, 2, version);
  read_attribute(file, "/VTKHDF", "WholeExtent", H5T_NATIVE_INT64, 6, extent);
  read_attribute(file, "/VTKHDF", "Origin", H5T_NATIVE_DOUBLE, 3, origin);
  read_attribute(file, "/VTKHDF", "Spacing", H5T_NATIVE_DOUBLE, 3, spacing);
  read_attribute(file, "/VTKHDF", "Direction", H5T_NATIVE_DOUBLE, 9, direction);
  read_attribute(file, "/VTKHDF/Steps", "NSteps", H5T_NATIVE_INT64, 1, &steps);
  assert_int_equal(version[0], 2);
  assert_int_equal(version[1], 0);
  assert_int_equal(steps, count);
  for (int d = 0; d < 3; d++) {
    assert_int_equal(extent[2 * d], 0);
    assert_int_equal(extent[2 * d + 1], g->n[d] - 1);
    assert_same_bits(origin[d], d < g->dims ? g->origin[d] : 0.0);
    assert_same_bits(spacing[d], d < g->dims ? g->spacing[d] : 1.0);
  }
  for (int i = 0; i < 9; i++) assert_same_bits(direction[i], i % 4 == 0 ? 1.0 : 0.0);
}

static void check_file(const char *where, const heat_grid *g, int64_t count) {
  double time[FIELD_TIMES], *u;
  int64_t offset[FIELD_TIMES];
  const int directions = g->n[2] > 1 ? 3 : g->n[1] > 1 ? 2 : 1;
  hsize_t shape[DATASET_DIMS] = {(hsize_t)count};
  for (int d = 0; d < directions; d++) shape[directions - d] = (hsize_t)g->n[d];
  const int64_t points = field_points(g);
  hid_t file = open_file(where);
  check_head(file, g, count);
  read_set(file, "/VTKHDF/Steps/Values", H5T_NATIVE_DOUBLE, 1, shape, time);
  read_set(file, "/VTKHDF/Steps/PointDataOffsets/u", H5T_NATIVE_INT64, 1, shape, offset);
  assert_ok(alloc_array(&u, count * points, sizeof *u, "all times"));
  read_set(file, "/VTKHDF/PointData/u", H5T_NATIVE_DOUBLE, 1 + directions, shape, u);
  for (int64_t k = 0; k < count; k++) {
    assert_same_bits(time[k], FIELD_TIME[k]);
    assert_int_equal(offset[k], k);
    for (int64_t i = 0; i < points; i++) assert_same_bits(u[k * points + i], field_value(g, i, k));
  }
  alloc_free(&u);
  H5Fclose(file);
}

/* Shape (time, 2, 3, 4), extent 0 3 0 2 0 1, spacing x first, [t][1][2][3] is 123 + 1000 t. */
static void case_106(void **state) {
  (void)state;
  const heat_grid g = field_grid(3, 4, 3, 2);
  field_write(path, &g, 3, 0);
  assert_same_bits(field_value(&g, 1 * 12 + 2 * 4 + 3, 0), 123.0);
  ON_RANK_0(check_file(path, &g, 3));
  check_text(path, "format", "halosweep result 1");
  check_text(path, "command", "heat");
  ON_RANK_0(assert_int_equal(files(), 1));
}

/* x to the right with 5 points, y up with 3. */
static void case_107(void **state) {
  (void)state;
  const heat_grid g = field_grid(2, 5, 3, 1);
  field_write(path, &g, 5, 5);
  ON_RANK_0(check_file(path, &g, 5));
}

/* Cases 98 and 100: fewer planes than ranks, the smallest grids. */
static void flat_and_tiny_grids(void **state) {
  (void)state;
  const heat_grid grids[] = {field_grid(2, 3, 3, 1),   field_grid(2, 7, 1, 1),
                             field_grid(2, 1, 7, 1),   field_grid(1, 1, 1, 1),
                             field_grid(1, 7, 1, 1),   field_grid(3, 1, 1, 1),
                             field_grid(3, 40, 30, 5), field_grid(3, 6, 5, 1)};
  for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
    for (int64_t count = 1; count <= FIELD_TIMES; count += 4) {
      field_write(path, &grids[i], count, i % 2 == 0 ? 0 : 9); /* room for more than come */
      ON_RANK_0(check_file(path, &grids[i], count));
    }
  }
}

/* Case 101: no chunks, and places in 64 bits. */
static void places_are_wide(void **state) {
  (void)state;
  const heat_grid plane = field_grid(2, 32768, 32768, 1), box = field_grid(3, 32768, 32768, 4);
  const heat_grid vast = field_grid(3, (int64_t)1 << 31, (int64_t)1 << 31, (int64_t)1 << 31);
  const int64_t field = (int64_t)8 << 30;
  assert_true(field_place(&plane, 0, 0) == 4096);
  assert_true(field_place(&plane, 1, 0) == 4096 + field);
  assert_true(field_place(&plane, 100, 32767) == 4096 + 101 * field - 32768 * 8);
  assert_true(field_place(&box, 3, 2) == 4096 + 14 * field);
  assert_true(field_place(&plane, (int64_t)1 << 28, 0) > 0);
  assert_true(field_place(&plane, (int64_t)1 << 29, 0) == -1);
  assert_true(field_place(&plane, (int64_t)1 << 40, 0) == -1);
  assert_true(field_place(&vast, 1, 0) == -1);
}

/* Twice to one name; what was there before is replaced, and only when the new file is complete. */
static void the_old_file_stays_until_the_new_is_complete(void **state) {
  (void)state;
  const heat_grid g = field_grid(3, 4, 3, 2), other = field_grid(2, 5, 3, 1);
  field_write(path, &g, 2, 0);
  field_file *f = field_start(path, &other, 0);
  assert_ok(field_put(f, &other, 0));
  ON_RANK_0(check_file(path, &g, 2));
  assert_ok(field_close(&f, 0));
  ON_RANK_0(check_file(path, &g, 2));
  f = field_start(path, &other, 0);
  assert_ok(field_put(f, &other, 0));
  assert_ok(field_end(&f, 1));
  ON_RANK_0(check_file(path, &other, 1));
  ON_RANK_0(assert_int_equal(files(), 1));
}

static int write_only(const char *where) {
  const heat_grid g = field_grid(3, 4, 3, 2);
  field_write(where, &g, 3, 0);
  comm_close(&world);
  return 0;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      IN_A_FOLDER(case_106),
      IN_A_FOLDER(case_107),
      IN_A_FOLDER(flat_and_tiny_grids),
      cmocka_unit_test(places_are_wide),
      IN_A_FOLDER(the_old_file_stays_until_the_new_is_complete),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  if (argc > 2) return write_only(argv[2]);
  int failed = RUN_WITH_WORLD(tests);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
