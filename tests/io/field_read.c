/* Fields out of HDF5 datasets of the grid's shape, plane by plane; other shapes are named.
 * ranks: 1 3 */
#include "field_fixture.h"
#include "file_name.h"

#include <hdf5.h>

/* A dataset of this shape whose numbers count up; chunked and compressed, as others write them,
 * where `packed`. Rank 0. */
static void make_set(const char *name, int dims, const hsize_t *extent, hid_t type, int packed) {
  hid_t file = access(path, F_OK) == 0 ? H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT)
                                       : H5Fcreate(path, H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = H5Screate_simple(dims, extent, NULL), create = H5Pcreate(H5P_DATASET_CREATE);
  double values[1000];
  for (int i = 0; i < 1000; i++) values[i] = i;
  if (packed) {
    hsize_t chunk[5] = {1, 2, 2, 2, 2};
    H5Pset_chunk(create, dims, chunk);
    H5Pset_deflate(create, 1);
  }
  hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  assert_true(set >= 0);
  assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(set);
  H5Pclose(create);
  H5Sclose(space);
  H5Fclose(file);
}

static const char *text_of(const char *name) {
  static char text[400];
  snprintf(text, sizeof text, "%s%s%s", path, name[0] == '\0' ? "" : ":", name);
  return text;
}

/* Every rank reads every plane, and all at once. The first number is `start`. */
static void check_planes(const char *name, const heat_grid *g, double start) {
  field_source *s;
  double values[1000];
  const int64_t planes = g->n[g->dims - 1], plane = field_plane(g);
  assert_ok(field_open(world, text_of(name), g, &s));
  for (int64_t p = 0; p < planes; p++) {
    assert_ok(field_planes(s, p, 1, values));
    for (int64_t i = 0; i < plane; i++)
      assert_same_bits(values[i], start + (double)(p * plane + i));
  }
  assert_ok(field_planes(s, 0, planes, values));
  assert_same_bits(values[planes * plane - 1], start + (double)(planes * plane - 1));
  assert_ok(field_planes(s, 0, 0, NULL));
  field_source_close(&s);
}

static void shapes_of_the_grid(void **state) {
  (void)state;
  const heat_grid box = field_grid(3, 4, 3, 2), sheet = field_grid(2, 4, 3, 1),
                  line = field_grid(1, 4, 1, 1);
  ON_RANK_0({
    make_set("/box", 3, (hsize_t[]){2, 3, 4}, H5T_IEEE_F64LE, 0);
    make_set("/packed", 3, (hsize_t[]){2, 3, 4}, H5T_IEEE_F32BE, 1);
    make_set("/sheet", 2, (hsize_t[]){3, 4}, H5T_STD_I32LE, 0);
    make_set("/sheet3", 3, (hsize_t[]){1, 3, 4}, H5T_IEEE_F64LE, 0);
    make_set("/sheets", 3, (hsize_t[]){5, 3, 4}, H5T_IEEE_F64LE, 0);
    make_set("/sheets4", 4, (hsize_t[]){5, 1, 3, 4}, H5T_IEEE_F64LE, 0);
    make_set("/two", 2, (hsize_t[]){2, 4}, H5T_IEEE_F64LE, 1);
    make_set("/line", 1, (hsize_t[]){4}, H5T_IEEE_F64LE, 0);
    make_set("/times", 4, (hsize_t[]){5, 2, 3, 4}, H5T_IEEE_F64LE, 1);
    make_set("/lines", 4, (hsize_t[]){3, 1, 1, 4}, H5T_IEEE_F64LE, 0);
  });
  check_planes("/box", &box, 0);
  check_planes("/packed", &box, 0);
  check_planes("/sheet", &sheet, 0);
  check_planes("/sheet3", &sheet, 0);
  check_planes("/sheets", &sheet, 48);
  check_planes("/sheets[1]", &sheet, 12);
  check_planes("/sheets4[3]", &sheet, 36);
  check_planes("/two", &line, 4);
  check_planes("/line", &line, 0);
  check_planes("/times", &box, 96);
  check_planes("/times[0]", &box, 0);
  check_planes("/times[2]", &box, 48);
  check_planes("/lines", &line, 8);
}

static void refuse(const char *name, const heat_grid *g) {
  field_source *s;
  int kept = silence();
  status rc = field_open(world, text_of(name), g, &s);
  speak(kept);
  assert_int_equal(rc, STATUS_INPUT);
  assert_null(s);
}

static void other_shapes_are_refused(void **state) {
  (void)state;
  const heat_grid box = field_grid(3, 4, 3, 2), sheet = field_grid(2, 4, 3, 1);
  ON_RANK_0({
    make_set("/box", 3, (hsize_t[]){2, 3, 4}, H5T_IEEE_F64LE, 0);
    make_set("/turned", 3, (hsize_t[]){4, 3, 2}, H5T_IEEE_F64LE, 0);
    make_set("/flat", 1, (hsize_t[]){24}, H5T_IEEE_F64LE, 0);
    make_set("/none", 4, (hsize_t[]){0, 2, 3, 4}, H5T_IEEE_F64LE, 0);
    make_set("/five", 5, (hsize_t[]){1, 1, 2, 3, 4}, H5T_IEEE_F64LE, 0);
  });
  check_planes("/box", &box, 0);
  static const char *const wrong[] = {"/turned", "/flat",   "/none",    "/five",    "/absent",
                                      "/box[0]", "/box[x]", "/box[-1]", "/box[0]]", ""};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) refuse(wrong[i], &box);
  refuse("/turned", &sheet);
  ON_RANK_0(put(path, "not HDF5", 8));
  refuse("/box", &box);
  ON_RANK_0(remove(path));
  refuse("/box", &box);
}

/* A run's own file, by its name alone: the last time; another grid of the same shape is refused. */
static void saved_times(void **state) {
  (void)state;
  const heat_grid g = field_grid(2, 5, 3, 1);
  heat_grid moved = g, wider = g;
  moved.origin[1] += 1e-15;
  wider.spacing[0] = 0.5;
  char old[300];
  strcpy(old, path);
  in_folder("run.vtkhdf", path, sizeof path);
  field_write(path, &g, 3, 0);
  field_source *s;
  double values[15];
  assert_ok(field_open(world, path, &g, &s));
  assert_ok(field_planes(s, 1, 2, values));
  assert_same_bits(values[0], 2010.0);
  assert_same_bits(values[9], 2024.0);
  field_source_close(&s);
  refuse("/VTKHDF/PointData/u[3]", &g);
  refuse("", &moved);
  refuse("", &wider);
  strcpy(path, old);
}

static void names(void **state) {
  (void)state;
  static const char *const files_[] = {"a.h5", "a.hdf5", "run.vtkhdf", "d/a.h5:/x/y", "b.h5:/u[3]"};
  static const char *const others[] = {"sin(x)", "a.c", ".h5", "a.h5x", "a.h5 + 1", "x:/a.h5", ""};
  for (size_t i = 0; i < sizeof files_ / sizeof *files_; i++) assert_true(field_is_file(files_[i]));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_false(field_is_file(others[i]));
  const char *rest = NULL;
  assert_int_equal(file_name_data("d/a.h5:/x/y", &rest), strlen("d/a.h5"));
  assert_string_equal(rest, "/x/y");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      IN_A_FOLDER(shapes_of_the_grid),
      IN_A_FOLDER(other_shapes_are_refused),
      IN_A_FOLDER(saved_times),
      cmocka_unit_test(names),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int failed = RUN_WITH_WORLD(tests);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
