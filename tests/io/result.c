/* Result files: what is written is found again, by us and as plain bytes of the file, with empty
 * ranks, tables, fields and long texts.
 * ranks: 1 2 3 7
 * With the arguments "write FILE" it writes a result (tests/io/result_bytes.sh). */
#include "result_folder.h"

#include <hdf5.h>

static void what_is_written_is_found_again(void **state) {
  (void)state;
  const gidx sizes[] = {0, 1, 3, 1000, 70001};
  for (int s = 0; s < 5; s++) {
    ownership o;
    char *list, wanted[100];
    assert_ok(ownership_even(world, sizes[s], &o));
    assert_ok(write_result(path, &o, s, "[solve]\nn = 3\n"));
    check_values(path, "/solve/x", &o, s);
    check_values(path, "/solve/again", &o, s);
    check_bytes(path, sizes[s], s);
    check_text(path, "config", "[solve]\nn = 3\n");
    check_text(path, "format", "halosweep result 1");
    snprintf(wanted, sizeof wanted, "/solve/again %d\n/solve/x %d\n", (int)sizes[s], (int)sizes[s]);
    assert_ok(result_list(world, path, &list));
    assert_string_equal(list, wanted);
    alloc_free(&list);
    ON_RANK_0(assert_int_equal(files(), 1));
    ownership_release(&o);
  }
}

/* ---- tables, and a field that is written a time at a time ---- */

enum { ROWS = 37, WIDTH = 5, TIMES = 3, PLANES = 6, PLANE = 4 * 3 };

static void write_shapes(result_file *file) {
  ownership o, planes;
  int64_t table[ROWS * WIDTH];
  double field[PLANES * PLANE];
  unsigned char flags[ROWS];
  int set;
  const dataset shape = {"/heat/u", DATASET_F64, 4, {TIMES, PLANES, 4, 3}};
  assert_ok(ownership_even(world, ROWS, &o));
  assert_ok(ownership_even(world, PLANES, &planes));
  const gidx begin = ownership_begin(&o), rows = ownership_end(&o) - begin;
  for (gidx i = 0; i < rows; i++) {
    flags[i] = (unsigned char)(begin + i);
    for (int k = 0; k < WIDTH; k++) table[i * WIDTH + k] = 100 * (begin + i) + k;
  }
  assert_ok(result_table(file, "/ode/steps", DATASET_I64, ROWS, WIDTH, begin, rows, table));
  assert_ok(result_dataset(file, &shape, &set));
  assert_ok(result_table(file, "/ode/status", DATASET_BYTES, ROWS, 0, begin, rows, flags));
  const gidx first = ownership_begin(&planes) * PLANE;
  const gidx cells = ownership_end(&planes) * PLANE - first;
  for (int t = TIMES - 1; t >= 0; t--) { /* in any order */
    for (gidx i = 0; i < cells; i++) field[i] = value_of(first + i, t);
    assert_ok(result_run(file, set, t * PLANES * PLANE + first, cells, field));
  }
  ownership_release(&o);
  ownership_release(&planes);
}

static void check_shape(hid_t file, const char *name, hid_t type, int dims, const hsize_t *wanted,
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

/* Read by HDF5 alone, as any tool would. */
static void check_shapes(void) {
  int64_t table[ROWS][WIDTH];
  double field[TIMES][PLANES * PLANE];
  unsigned char flags[ROWS];
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  check_shape(file, "/ode/steps", H5T_NATIVE_INT64, 2, (hsize_t[]){ROWS, WIDTH}, table);
  check_shape(file, "/ode/status", H5T_NATIVE_UCHAR, 1, (hsize_t[]){ROWS}, flags);
  check_shape(file, "/heat/u", H5T_NATIVE_DOUBLE, 4, (hsize_t[]){TIMES, PLANES, 4, 3}, field);
  H5Fclose(file);
  for (int i = 0; i < ROWS; i++) {
    assert_int_equal(flags[i], i);
    for (int k = 0; k < WIDTH; k++) assert_int_equal(table[i][k], 100 * i + k);
  }
  for (int t = 0; t < TIMES; t++) {
    for (int i = 0; i < PLANES * PLANE; i++) assert_same_bits(field[t][i], value_of(i, t));
  }
}

static void many_shapes_in_one_file(void **state) {
  (void)state;
  result_file *file;
  assert_ok(result_create(world, path, &file));
  write_shapes(file);
  assert_ok(result_text(file, "config", "after the data"));
  assert_ok(result_close(&file, 1));
  ON_RANK_0(check_shapes());
  check_text(path, "config", "after the data");
}

/* More datasets than the tables begin with; a run beyond the end is a bug that is told. */
static void many_datasets(void **state) {
  (void)state;
  result_file *file;
  ownership o;
  double *values;
  char name[40];
  assert_ok(ownership_even(world, 50, &o));
  fill(&o, 1, &values);
  assert_ok(result_create(world, path, &file));
  for (int i = 0; i < 60; i++) {
    snprintf(name, sizeof name, "/many/x%d", i);
    assert_ok(result_vector(file, name, &o, values));
  }
  assert_ok(result_close(&file, 1));
  for (int i = 0; i < 60; i += 59) {
    snprintf(name, sizeof name, "/many/x%d", i);
    check_values(path, name, &o, 1);
  }
  int kept = silence();
  assert_ok(result_create(world, path, &file));
  assert_int_equal(result_table(file, "/x", DATASET_F64, 4, 2, 3, 2, (double[4]){0}), STATUS_BUG);
  assert_int_equal(result_close(&file, 1), STATUS_BUG);
  speak(kept);
  check_values(path, "/many/x0", &o, 1);
  alloc_free(&values);
  ownership_release(&o);
}

/* All rows on one rank: the others write nothing, and read nothing. */
static void empty_ranks_take_part(void **state) {
  (void)state;
  ownership o;
  int64_t weight[300] = {0};
  weight[299] = (int64_t)1 << 40; /* rows 0..298 weigh nothing beside it */
  const block_share share = ownership_share(300, comm_rank(world), comm_size(world));
  assert_ok(ownership_by_weight(world, 300, share, weight + share.first, &o));
  assert_ok(write_result(path, &o, 1, ""));
  check_values(path, "/solve/x", &o, 1);
  check_bytes(path, 300, 1);
  check_text(path, "config", "");
  ownership_release(&o);
}

static void long_texts(void **state) {
  (void)state;
  const int64_t lengths[] = {65535, 200 << 10, 5 << 20};
  ownership o;
  assert_ok(ownership_even(world, 10, &o));
  for (int k = 0; k < 3; k++) {
    char *text;
    assert_ok(alloc_array(&text, lengths[k] + 1, 1, "text"));
    for (int64_t i = 0; i < lengths[k]; i++) text[i] = (char)(32 + i % 90);
    text[lengths[k]] = '\0';
    assert_ok(write_result(path, &o, 1, text));
    check_text(path, "config", text);
    check_values(path, "/solve/x", &o, 1);
    alloc_free(&text);
  }
  ownership_release(&o);
}

static void another_length_is_refused(void **state) {
  (void)state;
  ownership o, shorter;
  double *values;
  assert_ok(ownership_even(world, 100, &o));
  assert_ok(ownership_even(world, 99, &shorter));
  assert_ok(write_result(path, &o, 1, ""));
  int kept = silence();
  status length = result_read_vector(world, path, "/solve/x", &shorter, &values);
  status name = result_read_vector(world, path, "/solve/y", &o, &values);
  status nothing = result_read_vector(world, "no-such.h5", "/solve/x", &o, &values);
  speak(kept);
  assert_int_equal(length, STATUS_INPUT);
  assert_int_equal(name, STATUS_INPUT);
  assert_int_equal(nothing, STATUS_INPUT);
  ownership_release(&o);
  ownership_release(&shorter);
}

static void a_result_thrown_away_leaves_nothing(void **state) {
  (void)state;
  result_file *file;
  ownership o;
  double *values;
  assert_ok(ownership_even(world, 1000, &o));
  fill(&o, 1, &values);
  assert_ok(result_create(world, path, &file));
  assert_ok(result_vector(file, "/solve/x", &o, values));
  ON_RANK_0(assert_int_equal(files(), 1));
  assert_ok(result_close(&file, 0));
  assert_null(file);
  assert_ok(result_close(&file, 0));
  ON_RANK_0(assert_int_equal(files(), 0));
  alloc_free(&values);
  ownership_release(&o);
}

static int write_only(const char *where) {
  ownership o;
  status rc = ownership_even(world, 70001, &o);
  if (rc == STATUS_OK) rc = write_result(where, &o, 5, "the same text");
  ownership_release(&o);
  comm_close(&world);
  return rc;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      IN_A_FOLDER(what_is_written_is_found_again),
      IN_A_FOLDER(many_shapes_in_one_file),
      IN_A_FOLDER(many_datasets),
      IN_A_FOLDER(empty_ranks_take_part),
      IN_A_FOLDER(long_texts),
      IN_A_FOLDER(another_length_is_refused),
      IN_A_FOLDER(a_result_thrown_away_leaves_nothing),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  if (argc > 2) return write_only(argv[2]);
  int failed = RUN_WITH_WORLD(tests);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
