/* Result files: what is written is found again, by us and as plain bytes of the file; what must not
 * be replaced is left alone; a failure leaves the old file and no rubbish. Each test works in a
 * folder of its own.
 * ranks: 1 2 3 7
 * With the arguments "write FILE" it writes a result (tests/io/result_bytes.sh). */
#define _XOPEN_SOURCE 700 /* SIGXFSZ */
#include "alloc.h"
#include "comm.h"
#include "result_internal.h"
#include "result_io.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static comm *world;
static char folder[200];
static char path[300]; /* folder/run.h5 */

static int is_root_rank(void) { return comm_rank(world) == 0; }

/* Tests act on the folder from rank 0, between barriers. */
#define ON_RANK_0(action)                                                                          \
  do {                                                                                             \
    assert_ok(comm_barrier(world));                                                                \
    if (is_root_rank()) {                                                                          \
      action;                                                                                      \
    }                                                                                              \
    assert_ok(comm_barrier(world));                                                                \
  } while (0)

static void in_folder(const char *name, char *out, size_t room) {
  assert_true((size_t)snprintf(out, room, "%s/%s", folder, name) < room);
}

static int enter(void **state) {
  (void)state;
  strcpy(folder, "result-XXXXXX");
  if (is_root_rank() && mkdtemp(folder) == NULL) return -1;
  if (comm_broadcast(world, folder, sizeof folder, 0) != STATUS_OK) return -1;
  in_folder("run.h5", path, sizeof path);
  return 0;
}

static int leave(void **state) {
  (void)state;
  if (comm_barrier(world) != STATUS_OK) return -1;
  if (!is_root_rank()) return 0;
  DIR *open_folder = opendir(folder);
  for (struct dirent *e; open_folder != NULL && (e = readdir(open_folder)) != NULL;) {
    char name[600];
    snprintf(name, sizeof name, "%s/%s", folder, e->d_name);
    remove(name);
  }
  if (open_folder != NULL) closedir(open_folder);
  return rmdir(folder);
}

/* Files in the folder, hidden ones too. */
static int files(void) {
  int count = 0;
  DIR *open_folder = opendir(folder);
  assert_non_null(open_folder);
  for (struct dirent *e; (e = readdir(open_folder)) != NULL;) {
    count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
  }
  closedir(open_folder);
  return count;
}

static void put(const char *where, const char *text, size_t bytes) {
  FILE *file = fopen(where, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, bytes, file), bytes);
  assert_int_equal(fclose(file), 0);
}

/* The whole file; *bytes receives its length. Freed with alloc_free. */
static char *get(const char *where, size_t *bytes) {
  struct stat facts;
  char *text;
  assert_int_equal(stat(where, &facts), 0);
  assert_ok(alloc_array(&text, facts.st_size + 1, 1, "file"));
  FILE *file = fopen(where, "rb");
  assert_non_null(file);
  *bytes = fread(text, 1, (size_t)facts.st_size, file);
  assert_int_equal(*bytes, facts.st_size);
  fclose(file);
  text[*bytes] = '\0';
  return text;
}

static char *find(char *text, size_t bytes, const void *what, size_t length) {
  for (size_t i = 0; i + length <= bytes; i++) {
    if (memcmp(text + i, what, length) == 0) return text + i;
  }
  return NULL;
}

static double value_of(gidx gi, int version) { return 1.0 / (double)(gi + 3) + 1e6 * version; }

static void fill(const ownership *o, int version, double **values) {
  gidx begin = ownership_begin(o), rows = ownership_end(o) - begin;
  *values = NULL; /* a rank without rows may well have no array */
  if (rows == 0) return;
  assert_ok(alloc_array(values, rows, sizeof **values, "values"));
  for (gidx i = 0; i < rows; i++) (*values)[i] = value_of(begin + i, version);
}

/* Two vectors and a text; the status of the first step that failed. */
static status write_result(const char *where, const ownership *o, int version, int64_t round,
                           const char *text) {
  result_file *file = NULL;
  double *values;
  fill(o, version, &values);
  status rc = STATUS_OK;
  TRY(result_create(world, where, &file));
  if (round > 0) result_set_round(file, round);
  TRY(result_vector(file, "/solve/x", o, values));
  TRY(result_text(file, "config", text));
  TRY(result_vector(file, "/solve/again", o, values));
  TRY(result_close(&file, 1));
done:
  if (file != NULL) assert_ok(result_close(&file, 0));
  alloc_free(&values);
  return rc;
}

static void check_values(const char *where, const char *name, const ownership *o, int version) {
  double *values;
  assert_ok(result_read_vector(world, where, name, o, &values));
  for (gidx gi = ownership_begin(o); gi < ownership_end(o); gi++) {
    assert_same_bits(values[gi - ownership_begin(o)], value_of(gi, version));
  }
  alloc_free(&values);
}

static void check_text(const char *where, const char *name, const char *wanted) {
  char *text;
  assert_ok(result_read_text(world, where, name, &text));
  assert_string_equal(text, wanted);
  alloc_free(&text);
}

/* The global vector lies in the file as consecutive little-endian doubles, once per dataset. */
static void check_bytes(const char *where, gidx rows, int version) {
  double *all;
  size_t bytes, length = (size_t)rows * sizeof *all;
  if (!is_root_rank() || rows == 0) return;
  assert_ok(alloc_array(&all, rows, sizeof *all, "whole vector"));
  for (gidx gi = 0; gi < rows; gi++) all[gi] = value_of(gi, version);
  char *text = get(where, &bytes);
  char *first = find(text, bytes, all, length);
  assert_non_null(first);
  assert_non_null(find(first + length, bytes - (size_t)(first + length - text), all, length));
  alloc_free(&text);
  alloc_free(&all);
}

static void what_is_written_is_found_again(void **state) {
  (void)state;
  const gidx sizes[] = {0, 1, 3, 1000, 70001};
  const int64_t rounds[] = {0, 100, 7};
  for (int s = 0; s < 5; s++) {
    for (int k = 0; k < 3; k++) {
      ownership o;
      char *list, wanted[100];
      if (sizes[s] > 1000 && rounds[k] == 7) continue; /* ten thousand collectives: too slow */
      int version = 10 * s + k;
      assert_ok(ownership_even(world, sizes[s], &o));
      assert_ok(write_result(path, &o, version, rounds[k], "[solve]\nn = 3\n"));
      check_values(path, "/solve/x", &o, version);
      check_values(path, "/solve/again", &o, version);
      check_bytes(path, sizes[s], version);
      check_text(path, "config", "[solve]\nn = 3\n");
      check_text(path, "format", "halosweep result 1");
      snprintf(wanted, sizeof wanted, "/solve/again %d\n/solve/x %d\n", (int)sizes[s],
               (int)sizes[s]);
      assert_ok(result_list(world, path, &list));
      assert_string_equal(list, wanted);
      alloc_free(&list);
      ON_RANK_0(assert_int_equal(files(), 1));
      ownership_release(&o);
    }
  }
}

/* All rows on one rank: the others write nothing, and read nothing. */
static void empty_ranks_take_part(void **state) {
  (void)state;
  ownership o;
  int64_t weight[300] = {0};
  weight[299] = (int64_t)1 << 40; /* rows 0..298 weigh nothing beside it */
  assert_ok(ownership_by_weight(world, 300, weight, &o));
  assert_ok(write_result(path, &o, 1, 11, ""));
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
    assert_ok(write_result(path, &o, 1, 0, text));
    check_text(path, "config", text);
    check_values(path, "/solve/x", &o, 1);
    alloc_free(&text);
  }
  ownership_release(&o);
}

/* Agreed failures are printed; here they are expected, so nobody needs to read them. */
static int silence(void) {
  int kept = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);
  fflush(stderr);
  dup2(nowhere, STDERR_FILENO);
  close(nowhere);
  return kept;
}

static void speak(int kept) {
  fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
}

static void check_refused(status wanted, const char *where, const char *const *inputs) {
  int kept = silence();
  status rc = result_check(world, where, inputs);
  speak(kept);
  if (rc != wanted) fail_msg("result_check of %s: %d, expected %d", where, rc, wanted);
}

/* The attribute that makes an HDF5 file ours now belongs to somebody else. */
static void make_foreign(const char *where) {
  size_t bytes;
  char *text = get(where, &bytes);
  char *mark = find(text, bytes, "halosweep result", 16);
  assert_non_null(mark);
  memcpy(mark, "otherprog", 9);
  put(where, text, bytes);
  alloc_free(&text);
}

static void ours_are_replaced_and_foreign_files_are_not(void **state) {
  (void)state;
  char text_path[300];
  size_t before = 0, after = 0;
  char *old = NULL, *now = NULL;
  ownership o;
  assert_ok(ownership_even(world, 100, &o));
  assert_ok(result_check(world, path, NULL));
  assert_ok(write_result(path, &o, 1, 0, "one"));
  assert_ok(result_check(world, path, NULL));
  assert_ok(write_result(path, &o, 2, 0, "two"));
  check_values(path, "/solve/x", &o, 2);

  ON_RANK_0(make_foreign(path); old = get(path, &before));
  check_refused(STATUS_USAGE, path, NULL);
  int kept = silence();
  assert_int_equal(write_result(path, &o, 3, 0, "three"), STATUS_IO); /* appeared meanwhile */
  char *text;
  double *values;
  assert_int_equal(result_read_text(world, path, "config", &text), STATUS_INPUT);
  assert_null(text);
  assert_int_equal(result_read_vector(world, path, "/solve/x", &o, &values), STATUS_INPUT);
  assert_null(values);
  speak(kept);
  ON_RANK_0(now = get(path, &after));
  if (is_root_rank()) {
    assert_int_equal(before, after);
    assert_memory_equal(old, now, after);
  }
  alloc_free(&old);
  alloc_free(&now);

  in_folder("x.mtx", text_path, sizeof text_path);
  ON_RANK_0(put(text_path, "1\n2\n", 4));
  check_refused(STATUS_USAGE, text_path, NULL);
  ON_RANK_0(put(text_path, "", 0));
  check_refused(STATUS_USAGE, text_path, NULL);
  ON_RANK_0(put(text_path, "\x89HDF\r\n\x1a\nrubbish", 15));
  check_refused(STATUS_USAGE, text_path, NULL);
  const char ours[] =
      "%%MatrixMarket matrix array real general\n% written by halosweep 1\n1 1\n2\n";
  ON_RANK_0(put(text_path, ours, sizeof ours - 1));
  assert_ok(result_check(world, text_path, NULL));
  ON_RANK_0(assert_int_equal(files(), 2));
  ownership_release(&o);
}

static void names_that_cannot_be(void **state) {
  (void)state;
  char other[300], linked[300];
  ownership o;
  assert_ok(ownership_even(world, 10, &o));
  assert_ok(write_result(path, &o, 1, 0, ""));
  check_refused(STATUS_USAGE, "", NULL);
  check_refused(STATUS_USAGE, folder, NULL);
  in_folder("nowhere/", other, sizeof other);
  check_refused(STATUS_USAGE, other, NULL);
  in_folder("nowhere/x.h5", other, sizeof other);
  check_refused(STATUS_IO, other, NULL);
  in_folder("run.h5/x.h5", other, sizeof other);
  check_refused(STATUS_IO, other, NULL);
  check_refused(STATUS_USAGE, "/dev/null", NULL);
  check_refused(STATUS_IO, "/proc/x.h5", NULL); /* not even root may write there */

  /* an input under another name */
  in_folder("input.h5", linked, sizeof linked);
  ON_RANK_0(assert_int_equal(link(path, linked), 0));
  const char *const inputs[] = {"/etc/passwd", linked, NULL};
  check_refused(STATUS_USAGE, path, inputs);
  ON_RANK_0(unlink(linked));
  assert_ok(result_check(world, path, inputs));
  ON_RANK_0(assert_int_equal(files(), 1));
  ownership_release(&o);
}

static void a_link_is_followed(void **state) {
  (void)state;
  char link_path[300];
  struct stat facts;
  ownership o;
  assert_ok(ownership_even(world, 10, &o));
  in_folder("link.h5", link_path, sizeof link_path);
  ON_RANK_0(assert_int_equal(symlink("run.h5", link_path), 0));
  check_refused(STATUS_USAGE, link_path, NULL); /* leads nowhere */
  assert_ok(write_result(path, &o, 1, 0, ""));
  assert_ok(result_check(world, link_path, NULL));
  assert_ok(write_result(link_path, &o, 2, 0, ""));
  check_values(path, "/solve/x", &o, 2);
  ON_RANK_0(assert_int_equal(lstat(link_path, &facts), 0); assert_true(S_ISLNK(facts.st_mode)));
  ownership_release(&o);
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

/* A file may not grow beyond `bytes` on the ranks told so: as a full disk, but quickly made. */
static void limit_files(int here, rlim_t bytes) {
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = here ? bytes : limit.rlim_max;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Returns whether the result could be written after all. */
static int write_to_full_disk(int here, rlim_t bytes) {
  ownership o;
  assert_ok(ownership_even(world, 100000, &o));
  assert_ok(write_result(path, &o, 1, 0, "kept"));
  limit_files(here, bytes);
  int kept = silence();
  status rc = write_result(path, &o, 2, 0, "lost");
  speak(kept);
  limit_files(0, 0);
  if (rc != STATUS_OK) assert_int_equal(rc, STATUS_IO);
  check_values(path, "/solve/x", &o, rc == STATUS_OK ? 2 : 1);
  check_values(path, "/solve/again", &o, rc == STATUS_OK ? 2 : 1);
  check_bytes(path, 100000, rc == STATUS_OK ? 2 : 1);
  check_text(path, "config", rc == STATUS_OK ? "lost" : "kept");
  ON_RANK_0(assert_int_equal(files(), 1));
  ownership_release(&o);
  return rc == STATUS_OK;
}

static void a_full_disk_keeps_the_old_result(void **state) {
  (void)state;
  assert_false(write_to_full_disk(1, 0));       /* nothing fits */
  assert_false(write_to_full_disk(1, 500000));  /* not the first vector */
  assert_false(write_to_full_disk(1, 1000000)); /* not the second */
  assert_false(write_to_full_disk(comm_rank(world) == 0, 1000000));
}

/* Where rank 0's reservation sees no trouble and other ranks cannot write. MPI-IO may let a rank
 * write for them; then the result must be whole. (Limits below 64 KiB would hit MPI's own files.)
 */
static void a_full_disk_for_another_rank(void **state) {
  (void)state;
  for (int r = 1; r < comm_size(world); r++) {
    write_to_full_disk(comm_rank(world) == r, 100000);
    write_to_full_disk(comm_rank(world) == r, 700000);
  }
  write_to_full_disk(comm_rank(world) != 0, 100000);
}

/* One rank that can open nothing (as if its node did not see the folder): no rank waits for it. */
static void a_rank_that_cannot_open(void **state) {
  (void)state;
  struct rlimit usual, none = {0};
  ownership o;
  double *values;
  assert_ok(ownership_even(world, 10, &o));
  assert_ok(write_result(path, &o, 1, 0, ""));
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
  none.rlim_max = usual.rlim_max;
  int kept = silence();
  if (comm_rank(world) == comm_size(world) - 1) setrlimit(RLIMIT_NOFILE, &none);
  status writing = write_result(path, &o, 2, 0, "");
  status reading = result_read_vector(world, path, "/solve/x", &o, &values);
  setrlimit(RLIMIT_NOFILE, &usual);
  speak(kept);
  assert_int_equal(writing, STATUS_IO);
  assert_int_equal(reading, STATUS_INPUT);
  check_values(path, "/solve/x", &o, 1);
  ON_RANK_0(assert_int_equal(files(), 1));
  ownership_release(&o);
}

static int write_only(const char *where) {
  ownership o;
  status rc = ownership_even(world, 70001, &o);
  if (rc == STATUS_OK) rc = write_result(where, &o, 5, 1000, "the same text");
  ownership_release(&o);
  comm_close(&world);
  return rc;
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      IN_A_FOLDER(what_is_written_is_found_again),
      IN_A_FOLDER(empty_ranks_take_part),
      IN_A_FOLDER(long_texts),
      IN_A_FOLDER(ours_are_replaced_and_foreign_files_are_not),
      IN_A_FOLDER(names_that_cannot_be),
      IN_A_FOLDER(a_link_is_followed),
      IN_A_FOLDER(a_result_thrown_away_leaves_nothing),
      IN_A_FOLDER(a_full_disk_keeps_the_old_result),
      IN_A_FOLDER(a_full_disk_for_another_rank),
      IN_A_FOLDER(a_rank_that_cannot_open),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  if (argc > 2) return write_only(argv[2]);
  signal(SIGXFSZ, SIG_IGN);            /* a write beyond the limit fails with EFBIG instead */
  setenv("CMOCKA_TEST_ABORT", "1", 1); /* a rank that fails ends them all */
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
