/* Results on a full disk, for all ranks or for some, and with a rank that cannot open the file: the
 * old result is kept, no temporary stays, nobody hangs.
 * ranks: 1 2 3 7 */
#define _XOPEN_SOURCE 700 /* SIGXFSZ */
#include "result_folder.h"

#include <signal.h>
#include <sys/resource.h>

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
  assert_ok(write_result(path, &o, 1, "kept"));
  limit_files(here, bytes);
  int kept = silence();
  status rc = write_result(path, &o, 2, "lost");
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

/* After a failure the result can only be thrown away, whatever is asked for. */
static void what_failed_is_not_kept(void **state) {
  (void)state;
  ownership o;
  double *values;
  result_file *file;
  assert_ok(ownership_even(world, 100000, &o));
  assert_ok(write_result(path, &o, 1, ""));
  fill(&o, 2, &values);
  int kept = silence();
  assert_ok(result_create(world, path, &file));
  assert_ok(result_vector(file, "/solve/x", &o, values));
  limit_files(1, 1000000);
  assert_int_equal(result_vector(file, "/solve/again", &o, values), STATUS_IO);
  limit_files(0, 0);
  assert_int_equal(result_vector(file, "/solve/again", &o, values), STATUS_IO);
  assert_int_equal(result_text(file, "config", ""), STATUS_IO);
  assert_int_equal(result_close(&file, 1), STATUS_IO);
  speak(kept);
  check_values(path, "/solve/x", &o, 1);
  ON_RANK_0(assert_int_equal(files(), 1));
  alloc_free(&values);
  ownership_release(&o);
}

/* Rank 0's reservation sees no trouble, another rank meets it in the middle of its data: all fail
 * alike, nobody waits. (A limit that a rank's part stays below does not fail.) */
static void a_full_disk_for_another_rank(void **state) {
  (void)state;
  const int size = comm_size(world);
  for (int r = 1; r < size; r++) {
    assert_false(write_to_full_disk(comm_rank(world) == r, 1000));
    assert_false(write_to_full_disk(comm_rank(world) == r, (rlim_t)(800000 * r / size + 90000)));
  }
  if (size > 1) assert_false(write_to_full_disk(comm_rank(world) != 0, 100000));
}

/* One rank that can open nothing (as if its node did not see the folder): no rank waits for it. */
static void a_rank_that_cannot_open(void **state) {
  (void)state;
  struct rlimit usual, none = {0};
  ownership o;
  double *values;
  assert_ok(ownership_even(world, 10, &o));
  assert_ok(write_result(path, &o, 1, ""));
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
  none.rlim_max = usual.rlim_max;
  int kept = silence();
  if (comm_rank(world) == comm_size(world) - 1) setrlimit(RLIMIT_NOFILE, &none);
  status writing = write_result(path, &o, 2, "");
  status reading = result_read_vector(world, path, "/solve/x", &o, &values);
  setrlimit(RLIMIT_NOFILE, &usual);
  speak(kept);
  assert_int_equal(writing, STATUS_IO);
  assert_int_equal(reading, STATUS_INPUT);
  check_values(path, "/solve/x", &o, 1);
  ON_RANK_0(assert_int_equal(files(), 1));
  ownership_release(&o);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      IN_A_FOLDER(a_full_disk_keeps_the_old_result),
      IN_A_FOLDER(a_full_disk_for_another_rank),
      IN_A_FOLDER(what_failed_is_not_kept),
      IN_A_FOLDER(a_rank_that_cannot_open),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit fails with EFBIG instead */
  int failed = RUN_WITH_WORLD(tests);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
