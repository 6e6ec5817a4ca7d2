/* Vectors made here, read and written: columns, what is refused, every bit kept, full disks.
 * ranks: 1 3 7 */
#define _XOPEN_SOURCE 700 /* SIGXFSZ */
#include "made_file.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Vectors of 5 rows, dealt evenly. */
static void vector_of(const char *text, int64_t column, const double *expected, int64_t columns,
                      const char *why) {
  ownership owned;
  assert_ok(ownership_even(world, 5, &owned));
  for (int k = 0; k < 2; k++) {
    const char *name = make(k == 0 ? "vector.txt" : "vector.txt.gz", text);
    for (int s = 0; s < SIZES; s++) {
      double *values = NULL;
      int64_t found = -1, before = alloc_live();
      char said[CAPTURED_BYTES];
      captured c = captured_begin();
      status code = vector_read_sized(world, name, &all_sizes[s], &owned, column, &values, &found);
      captured_end(&c, world, said);
      if (expected == NULL) {
        if (code != STATUS_INPUT || strstr(said, why) == NULL)
          fail_msg("'%s' not in: %s", why, said);
        assert_null(values);
        assert_int_equal(alloc_live(), before);
        continue;
      }
      if (code != STATUS_OK) fail_msg("%s: %s", text, said);
      assert_int_equal(found, columns);
      for (gidx gi = ownership_begin(&owned); gi < ownership_end(&owned); gi++) {
        assert_same_bits(values[gi - ownership_begin(&owned)], expected[gi]);
      }
      alloc_free(&values);
    }
    unmake(name);
  }
  ownership_release(&owned);
}

static void vectors(void **state) {
  (void)state;
  static const double a[5] = {1.0, -0.0, 2.5, 0.0, -3e-320}, b[5] = {5, 6, 7, 8, 9},
                      gap[5] = {0, 4, 0, 0, 1};
  vector_of("%%MatrixMarket matrix array real general\n5 1\n1\n-0\n2.5\n0\n-3e-320\n", 0, a, 1,
            NULL);
  vector_of("%%MatrixMarket matrix array real general\n5 2\n1 -0 2.5 0 -3e-320\n5 6 7 8 9\n", 1, b,
            2, NULL);
  vector_of(BANNER "general\n5 1 4\n5 1 1\n2 1 3\n2 1 1\n1 1 0\n", 0, gap, 1, NULL);
  vector_of(BANNER "general\n5 2 3\n5 2 1\n2 1 3\n2 2 4\n", 1, gap, 2, NULL);
  vector_of("1\n-0\n2.5\n\n# and\n0\n-3e-320", 0, a, 1, NULL);
  vector_of("1 -0 2.5 0 -3e-320\n", 0, a, 1, NULL);
  vector_of("1 -0\n2.5\n0 -3e-320\n", 0, a, 1, NULL);
  vector_of("1 5\n-0 6\n2.5 7\n0 8\n-3e-320 9\n", 1, b, 2, NULL);
  vector_of("1 5\n-0 6\n2.5 7\n0 8\n-3e-320 9\n", 2, NULL, 0, "has 2 columns, and column 3");
  vector_of("1\n2\nnan\n4\n5\n", 0, NULL, 0, ":3: value 'nan' is not finite");
  vector_of("1\n2\n3\n4\n", 0, NULL, 0, "found 4 numbers on 4 lines, expected 5");
  vector_of("%%MatrixMarket matrix array real general\n4 1\n1\n2\n3\n4\n", 0, NULL, 0,
            "a vector of length 4, expected length 5");
  vector_of("%%MatrixMarket matrix array real general\n5 1\n1\n2\n3\n4\n", 0, NULL, 0,
            "expected 5 entries, found 4");
}

static double sample(gidx gi) {
  uint64_t z = (uint64_t)(gi + 1) * 0x9e3779b97f4a7c15u;
  double x = double_of(z ^ (z >> 29));
  return x - x == 0.0 ? x : -0.0;
}

static void what_is_written_comes_back_bit_for_bit(void **state) {
  (void)state;
  static const char *const stems[] = {"written.mtx", "written.txt"};
  ownership owned;
  double *values, *back;
  assert_ok(ownership_even(world, 70000, &owned));
  gidx begin = ownership_begin(&owned), rows = ownership_end(&owned) - begin;
  assert_ok(alloc_array(&values, rows, sizeof *values, "values"));
  for (gidx i = 0; i < rows; i++) values[i] = sample(begin + i);
  for (int k = 0; k < 2; k++) {
    const char *name = name_of(stems[k]);
    assert_ok(vector_write(world, name, &owned, values));
    assert_ok(vector_write(world, name, &owned, values)); /* ours: replaced */
    assert_ok(vector_read(world, name, &owned, 0, &back, NULL));
    for (gidx i = 0; i < rows; i++) assert_same_bits(back[i], values[i]);
    alloc_free(&back);
    unmake(name);
  }
  alloc_free(&values);
  ownership_release(&owned);
}

/* A failing write: its code and text, nothing left behind, and the target as it was. */
static void write_refused(const char *name, const ownership *owned, const double *values,
                          status code, const char *why) {
  char said[CAPTURED_BYTES], part[512];
  captured s = captured_begin();
  status rc = vector_write(world, name, owned, values);
  captured_end(&s, world, said);
  assert_int_equal(rc, code);
  if (strstr(said, why) == NULL) fail_msg("'%s' not in: %s", why, said);
  const char *slash = strrchr(name, '/');
  const int folder = slash == NULL ? 0 : (int)(slash + 1 - name);
  snprintf(part, sizeof part, "%.*s.%s.%ld-0.part", folder, name, name + folder, (long)getpid());
  if (comm_rank(world) == 0) assert_int_not_equal(access(part, F_OK), 0);
}

static void writing_that_fails(void **state) {
  (void)state;
  ownership owned;
  double values[1000];
  assert_ok(ownership_even(world, 1000, &owned));
  for (int i = 0; i < 1000; i++) values[i] = i;
  write_refused("no/such/folder.mtx", &owned, values, STATUS_IO, "No such file");
  const char *name = make("other.txt", "someone's notes\n");
  write_refused(name, &owned, values, STATUS_USAGE, "not written by halosweep");
  unmake(name);

  name = name_of("full.mtx");
  assert_ok(vector_write(world, name, &owned, values));
  struct stat was, is;
  stat(name, &was);
  struct rlimit kept, small;
  getrlimit(RLIMIT_FSIZE, &kept);
  small = kept;
  small.rlim_cur = 9000; /* of 25000 bytes: the disk is full for the upper ranks */
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  write_refused(name, &owned, values, STATUS_IO, "File too large");
  setrlimit(RLIMIT_FSIZE, &kept);
  stat(name, &is);
  assert_int_equal(is.st_ino, was.st_ino);
  assert_int_equal(is.st_size, was.st_size);
  unmake(name);
  ownership_release(&owned);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vectors),
      cmocka_unit_test(what_is_written_comes_back_bit_for_bit),
      cmocka_unit_test(writing_that_fails),
  };
  RUN_READING_TESTS(argc, argv, tests);
}
