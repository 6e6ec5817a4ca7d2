/* Reading and writing files made here: mirrors, duplicates that fall on both sides of every
 * boundary, plain text, vectors, damaged gzip, failing allocations and full disks. Names carry the
 * number of ranks, so that tests may run side by side.
 * ranks: 1 2 3 7 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "alloc.h"
#include "captured.h"
#include "log.h"
#include "reading.h"
#include "test.h"

static comm *world;

static const reading_sizes all_sizes[] = {
    {(int64_t)1 << 22, (int64_t)1 << 24, 0}, {64, 1, 0}, {5, 100, 2}, {1000, 500, 1}};
enum { SIZES = sizeof all_sizes / sizeof *all_sizes };

static const char *name_of(const char *stem) {
  static char name[8][256];
  static int turn;
  turn = (turn + 1) % 8;
  snprintf(name[turn], sizeof name[turn], "made-%d-%s", comm_size(world), stem);
  return name[turn];
}

/* Collective: rank 0 writes, plainly or as gzip. */
static const char *make(const char *stem, const char *text) {
  const char *name = name_of(stem);
  if (comm_rank(world) == 0) {
    if (strstr(stem, ".gz") != NULL) {
      gzFile file = gzopen(name, "w");
      gzwrite(file, text, (unsigned)strlen(text));
      gzclose(file);
    } else {
      FILE *file = fopen(name, "w");
      fputs(text, file);
      fclose(file);
    }
  }
  assert_ok(comm_barrier(world));
  return name;
}

static void unmake(const char *name) {
  assert_ok(comm_barrier(world));
  if (comm_rank(world) == 0) remove(name);
}

typedef struct reading {
  csr_rows a;
  ownership owned;
  matrix_file facts;
  double *rhs;
  status code;
  char said[CAPTURED_BYTES];
} reading;

static void read_with(const char *path, int sizes, reading *r) {
  int64_t before = alloc_live();
  captured s = captured_begin();
  r->code = matrix_read_sized(world, path, &all_sizes[sizes], &r->a, &r->owned, &r->facts, &r->rhs);
  captured_end(&s, world, r->said);
  if (r->code != STATUS_OK) assert_int_equal(alloc_live(), before);
}

static void release(reading *r) {
  csr_rows_release(&r->a);
  ownership_release(&r->owned);
  alloc_free(&r->rhs);
}

/* Reads `text`, plain and as gzip, with all sizes: refused each time with `why` in one error. */
static void assert_refused(const char *text, const char *why) {
  static const char *const stems[] = {"refused.mtx", "refused.mtx.gz"};
  for (int k = 0; k < 2; k++) {
    const char *name = make(stems[k], text);
    for (int s = 0; s < SIZES; s++) {
      reading r;
      read_with(name, s, &r);
      if (r.code != STATUS_INPUT) fail_msg("code %d, not %d: %s", (int)r.code, STATUS_INPUT, text);
      if (strstr(r.said, why) == NULL) fail_msg("'%s' not in: %s", why, r.said);
      const char *first = strstr(r.said, "error:");
      if (first == NULL || strstr(first + 1, "error:") != NULL)
        fail_msg("not one error: %s", r.said);
    }
    unmake(name);
  }
}

/* Reads `text` in all ways; all give the same content and `merged` entries; returns the content. */
static uint64_t content_of(const char *text, int64_t merged, const char *warning) {
  static const char *const stems[] = {"content.mtx", "content.mtx.gz"};
  uint64_t content = 0;
  for (int k = 0; k < 2; k++) {
    const char *name = make(stems[k], text);
    for (int s = 0; s < SIZES; s++) {
      reading r;
      read_with(name, s, &r);
      if (r.code != STATUS_OK) fail_msg("%s: %s", text, r.said);
      if (s == 0 && k == 0) content = r.facts.content;
      assert_int_equal(r.facts.merged, merged);
      if (r.facts.content != content) fail_msg("another content with sizes %d: %s", s, text);
      if (s == 0 && k == 0 && warning != NULL && strstr(r.said, warning) == NULL) {
        fail_msg("'%s' not in: %s", warning, r.said);
      }
      release(&r);
    }
    unmake(name);
  }
  return content;
}

#define BANNER "%%MatrixMarket matrix coordinate real "

static void an_entry_and_its_mirror(void **state) {
  (void)state;
  assert_refused(BANNER "symmetric\n5 5 6\n1 1 4\n5 3 1\n\n% x\n2 1 1\n3 5 1\n4 4 1\n5 5 1\n",
                 ":8: entry (3, 5): its mirror (5, 3) is stored too, on line 4");
  assert_refused(BANNER "skew-symmetric\n5 5 3\n1 2 4\n5 3 1\n2 1 -4\n",
                 ":5: entry (2, 1): its mirror (1, 2) is stored too, on line 3");
  /* a whole matrix under a symmetric banner: the first line that is too much */
  assert_refused(BANNER "symmetric\n3 3 7\n1 1 2\n1 2 1\n2 1 1\n2 2 2\n2 3 1\n3 2 1\n3 3 2\n",
                 ":5: entry (2, 1)");
}

static void the_diagonal_of_a_skew_matrix(void **state) {
  (void)state;
  assert_refused(BANNER "skew-symmetric\n3 3 3\n2 1 4\n2 2 1e-300\n3 1 1\n",
                 ":4: diagonal entry (2, 2)");
  content_of(BANNER "skew-symmetric\n3 3 3\n2 1 4\n2 2 0\n3 1 1\n", 5, NULL);
  assert_refused("%%MatrixMarket matrix coordinate pattern skew-symmetric\n3 3 2\n2 1\n3 3\n",
                 ":4: diag");
}

static void the_upper_triangle_alone(void **state) {
  (void)state;
  uint64_t lower = content_of(BANNER "symmetric\n3 3 4\n1 1 2\n2 1 5\n3 1 7\n3 3 1\n", 6, NULL);
  uint64_t upper = content_of(BANNER "symmetric\n3 3 4\n1 1 2\n1 2 5\n1 3 7\n3 3 1\n", 6,
                              "2 entries of the symmetric file are above the diagonal");
  assert_true(lower == upper);
  uint64_t full =
      content_of(BANNER "general\n3 3 6\n3 3 1\n1 1 2\n1 2 -5\n1 3 7\n2 1 5\n3 1 -7\n", 6, NULL);
  uint64_t skew = content_of(BANNER "skew-symmetric\n3 3 2\n1 2 -5\n3 1 -7\n", 4, NULL);
  uint64_t same = content_of(BANNER "general\n3 3 4\n3 1 -7\n1 2 -5\n1 3 7\n2 1 5\n", 4, NULL);
  assert_true(skew == same);
  assert_true(full != same);
}

/* Three values a position, far apart in the file, whose sum tells their order: 1e16 + 1 - 1e16 is
 * 0, 1e16 - 1e16 + 1 is 1. */
static void duplicates_add_in_file_order(void **state) {
  (void)state;
  enum { ROWS = 700 };
  static const double part[3][3] = {{1e16, 1.0, -1e16}, {1e16, -1e16, 1.0}, {1.0, 1e16, -1e16}};
  static const double sum[3] = {0.0, 1.0, 0.0};
  char *text = malloc(ROWS * 3 * 64), *to = text;
  to += sprintf(to, "%sgeneral\n%d %d %d\n", BANNER, ROWS, ROWS, 3 * ROWS);
  for (int p = 0; p < 3; p++) {
    for (int i = 0; i < ROWS; i++) {
      int row = (i * 37 + p * 11) % ROWS;
      to += sprintf(to, "%d %d %.17g\n", row + 1, (row * 5) % ROWS + 1, part[row % 3][p]);
    }
  }
  for (int k = 0; k < 2; k++) {
    const char *name = make(k == 0 ? "duplicates.mtx" : "duplicates.mtx.gz", text);
    for (int s = 0; s < SIZES; s++) {
      reading r;
      read_with(name, s, &r);
      assert_int_equal(r.code, STATUS_OK);
      assert_int_equal(r.facts.expanded, 3 * ROWS);
      assert_int_equal(r.facts.merged, ROWS);
      if (s == 0) assert_non_null(strstr(r.said, "1400 entries repeat a position"));
      for (lidx i = 0; i < r.a.rows; i++) {
        assert_int_equal(r.a.offset[i + 1], i + 1);
        assert_int_equal(r.a.column[i], (r.a.first_row + i) * 5 % ROWS);
        assert_same_bits(r.a.value[i], sum[(r.a.first_row + i) % 3]);
      }
      release(&r);
    }
    unmake(name);
  }
  free(text);
  assert_refused(BANNER "general\n2 2 3\n1 1 1e308\n2 2 1\n1 1 1e308\n", "entry (1, 1) add up");
}

/* One long row in no order, with duplicates: sorted by column, each column's values in file order.
 */
static void a_dense_row_is_sorted(void **state) {
  (void)state;
  enum { ROWS = 2000 };
  static const double part[3] = {1e16, -1e16, 0.25};
  char *text = malloc(ROWS * 3 * 64), *to = text;
  to += sprintf(to, "%sgeneral\n%d %d %d\n", BANNER, ROWS, ROWS, 3 * ROWS);
  for (int p = 0; p < 3; p++) {
    for (int i = 0; i < ROWS; i++) {
      to += sprintf(to, "1000 %d %.17g\n", (i * 1237 + 5) % ROWS + 1, part[p]);
    }
  }
  const char *name = make("dense-row.mtx", text);
  for (int s = 0; s < SIZES; s++) {
    reading r;
    read_with(name, s, &r);
    assert_int_equal(r.code, STATUS_OK);
    assert_int_equal(r.facts.merged, ROWS);
    for (eidx e = 0; e < r.a.offset[r.a.rows]; e++) {
      assert_int_equal(r.a.column[e], e);
      assert_same_bits(r.a.value[e], 0.25);
    }
    release(&r);
  }
  unmake(name);
  free(text);
}

static void arrays_are_by_columns(void **state) {
  (void)state;
  uint64_t whole = content_of(
      BANNER "general\n3 3 7\n1 1 1\n2 1 2\n3 1 3\n1 2 2\n1 3 3\n3 3 6\n2 3 5\n", 7, NULL);
  assert_true(
      whole ==
      content_of("%%MatrixMarket matrix array real general\n3 3\n1\n2\n3\n2\n0\n0\n3\n5\n6\n", 7,
                 NULL));
  assert_true(whole ==
              content_of("%%MatrixMarket matrix array real general\n%\n3 3\n1 2 3\n\n 2 0 0 3\n5 6",
                         7, NULL));
  uint64_t symmetric = content_of(
      BANNER "general\n3 3 7\n1 1 1\n2 1 2\n3 1 3\n1 2 2\n1 3 3\n3 3 6\n2 2 5\n", 7, NULL);
  assert_true(symmetric ==
              content_of("%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n5\n0\n6\n",
                         7, NULL));
  uint64_t skew = content_of(BANNER "general\n3 3 4\n2 1 2\n3 1 3\n1 2 -2\n1 3 -3\n", 4, NULL);
  assert_true(skew == content_of("%%MatrixMarket matrix array real skew-symmetric\n3 3\n2\n3\n0\n",
                                 4, NULL));
  assert_refused("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
                 "expected 4 entries, found 3");
  assert_refused("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n\n4\n%\n5\n",
                 ":9: data after the last of 4 entries");
  assert_refused("%%MatrixMarket matrix array real general\n2 2\n1\n2x\n3\n4\n",
                 ":4: found '2x', expected a number");
  assert_refused("%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3.5\n4\n",
                 ":5: found '3.5', expected an integer");
}

static void bad_lines(void **state) {
  (void)state;
  assert_refused(BANNER "general\n3 3 3\n1 1 1\n2 2\n3 3 1\n", ":4: no value");
  assert_refused(BANNER "general\n3 3 3\n1 1 1\n2 2 1 7\n3 3 1\n", ":4: found '7' after the entry");
  assert_refused(BANNER "general\n3 3 3\n1 1 1\n2 -2 1\n3 3 1\n",
                 ":4: column index -2 is outside 1..3");
  assert_refused(BANNER "general\n3 3 3\n1 1 1\n2 2 1e999\n3 3 1\n", ":4: value '1e999' is beyond");
  assert_refused(BANNER "general\n3 3 3\n1 1 1\n2 2 1\n", "expected 3 entries, found 2");
  assert_refused(BANNER "general\n3 3 9000000000000000000\n1 1 1\n2 2 1\n",
                 "expected 9000000000000000000");
  assert_refused(BANNER "general\n3 3 1\n1 1 1\nnonsense\n",
                 ":4: data after the last of 1 entries");
  assert_refused("%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1 1\n",
                 ":3: found '1' after");
  assert_refused(BANNER "symmetric\n3 4 1\n1 1 1\n", ":2: a symmetric matrix must be square");
  assert_refused(BANNER "general extra\n3 3 1\n1 1 1\n", ":1: banner: found 'extra'");
  assert_refused("%%MatrixMarket matrix coordinate real\n3 3 1\n1 1 1\n",
                 ":1: banner: found symmetry ''");
  assert_refused("\n\n", "only comments");
  assert_refused("<html>\n", ":1: found '<html>': not a Matrix Market file");
}

static void plain_text(void **state) {
  (void)state;
  uint64_t four = content_of(BANNER "general\n2 2 3\n1 1 4\n1 2 -1\n2 2 3\n", 3, NULL);
  assert_true(four == content_of("4 -1\n0 3\n", 3, NULL));
  assert_true(four == content_of("# made by hand\r\n\r\n  4.0\t-1e0 \r\n\r\n0 3", 3, NULL));
  const char *name = make("plain.txt", "4 -1 0 7\n-1 4 -1 8\n0 -1 4 9.5\n");
  for (int s = 0; s < SIZES; s++) {
    reading r;
    read_with(name, s, &r);
    assert_int_equal(r.code, STATUS_OK);
    assert_string_equal(r.facts.format, "dense text");
    assert_int_equal(r.facts.columns, 3);
    assert_int_equal(r.facts.expanded, 7);
    assert_int_equal(r.facts.merged, 7);
    assert_non_null(r.rhs);
    static const double b[3] = {7.0, 8.0, 9.5};
    for (lidx i = 0; i < r.a.rows; i++) assert_same_bits(r.rhs[i], b[r.a.first_row + i]);
    for (eidx e = 0; e < r.a.offset[r.a.rows]; e++) assert_true(r.a.column[e] < 3);
    release(&r);
  }
  unmake(name);
  assert_refused("1 2 3\n4 5 6\n\n7 8\n", ":4: found 2 numbers, expected 3");
  assert_refused("1 2 3\n4 5 6\n7 8 9\n1 2 3\n", "found 4 rows of 3 numbers");
}

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

static void files_that_are_none(void **state) {
  (void)state;
  static const char *const names[][2] = {{".", "is a directory"},
                                         {"no-such-file.mtx", "No such file"},
                                         {"/dev/null", "not a regular file"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    reading r;
    read_with(names[i][0], 0, &r);
    assert_int_equal(r.code, STATUS_INPUT);
    if (strstr(r.said, names[i][1]) == NULL || strstr(r.said, names[i][0]) == NULL) {
      fail_msg("%s: %s", names[i][0], r.said);
    }
  }
}

/* A gzip file of two members is read as one; cut short, or with a byte changed, it is refused. */
static void damaged_gzip(void **state) {
  (void)state;
  const char *first = make("first.gz", BANNER "general\n3 3 3\n1 1 1\n"),
             *second = make("second.gz", "2 2 1\n3 3 1\n");
  const char *name = name_of("joined.gz");
  char bytes[1000];
  size_t count = 0;
  for (int cut = 0; cut < 3; cut++) {
    if (comm_rank(world) == 0) {
      FILE *a = fopen(first, "r"), *b = fopen(second, "r"), *out = fopen(name, "w");
      count = fread(bytes, 1, sizeof bytes, a);
      count += fread(bytes + count, 1, sizeof bytes - count, b);
      if (cut == 2) bytes[count - 12] = (char)(bytes[count - 12] ^ 0x40);
      fwrite(bytes, 1, cut == 1 ? count - 10 : count, out);
      fclose(a);
      fclose(b);
      fclose(out);
    }
    assert_ok(comm_barrier(world));
    for (int s = 0; s < SIZES; s++) {
      reading r;
      read_with(name, s, &r);
      assert_int_equal(r.code, cut == 0 ? STATUS_OK : STATUS_INPUT);
      if (cut > 0 && strstr(r.said, "gzip data") == NULL) fail_msg("%s", r.said);
      if (cut == 0) release(&r);
    }
  }
  unmake(name);
  unmake(first);
  unmake(second);
}

/* One rank after the other runs out of memory at its n-th allocation: all leave with the same code,
 * and nothing is left allocated. */
static void allocations_that_fail(void **state) {
  (void)state;
  static const char *const stems[] = {"memory.mtx", "memory.mtx.gz"};
  for (int k = 0; k < 2; k++) {
    const char *name = make(stems[k], BANNER "symmetric\n3 3 4\n1 1 2\n2 1 5\n2 1 7\n3 3 1\n");
    for (int rank = 0; rank < comm_size(world); rank++) {
      int64_t failures = 0;
      for (int64_t nth = 1; nth < 200; nth++) {
        reading r;
        int64_t before = alloc_live();
        if (comm_rank(world) == rank) alloc_fail_at(nth);
        captured s = captured_begin();
        r.code = matrix_read_sized(world, name, &all_sizes[1], &r.a, &r.owned, &r.facts, &r.rhs);
        alloc_fail_at(0);
        captured_end(&s, world, r.said);
        int64_t codes[2] = {r.code, -(int64_t)r.code};
        assert_ok(comm_max_i64(world, codes, 2));
        assert_int_equal(codes[0], -codes[1]);
        if (r.code == STATUS_OK) {
          release(&r);
          break;
        }
        assert_int_equal(r.code, STATUS_UNAVAILABLE);
        assert_int_equal(alloc_live(), before);
        failures++;
      }
      assert_true(failures > 8);
    }
    unmake(name);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_entry_and_its_mirror),
      cmocka_unit_test(the_diagonal_of_a_skew_matrix),
      cmocka_unit_test(the_upper_triangle_alone),
      cmocka_unit_test(duplicates_add_in_file_order),
      cmocka_unit_test(a_dense_row_is_sorted),
      cmocka_unit_test(arrays_are_by_columns),
      cmocka_unit_test(bad_lines),
      cmocka_unit_test(plain_text),
      cmocka_unit_test(vectors),
      cmocka_unit_test(what_is_written_comes_back_bit_for_bit),
      cmocka_unit_test(writing_that_fails),
      cmocka_unit_test(files_that_are_none),
      cmocka_unit_test(damaged_gzip),
      cmocka_unit_test(allocations_that_fail),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  log_open(comm_rank(world) == 0, 0);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed != 0;
}
