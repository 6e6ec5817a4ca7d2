/* What a result must not replace is refused and left as it was: foreign files, inputs, folders,
 * devices; a symbolic link is followed.
 * ranks: 1 3 */
#include "result_folder.h"

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
  assert_ok(write_result(path, &o, 1, "one"));
  assert_ok(result_check(world, path, NULL));
  assert_ok(write_result(path, &o, 2, "two"));
  check_values(path, "/solve/x", &o, 2);

  ON_RANK_0(make_foreign(path); old = get(path, &before));
  check_refused(STATUS_USAGE, path, NULL);
  int kept = silence();
  assert_int_equal(write_result(path, &o, 3, "three"), STATUS_IO); /* appeared meanwhile */
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
  assert_ok(write_result(path, &o, 1, ""));
  check_refused(STATUS_USAGE, "", NULL);
  check_refused(STATUS_USAGE, folder, NULL);
  in_folder("nowhere/", other, sizeof other);
  check_refused(STATUS_USAGE, other, NULL);
  in_folder("nowhere/x.h5", other, sizeof other);
  check_refused(STATUS_IO, other, NULL);
  in_folder("run.h5/x.h5", other, sizeof other);
  check_refused(STATUS_IO, other, NULL);
  check_refused(STATUS_USAGE, "/dev/null", NULL);
  in_folder("fifo", other, sizeof other);
  ON_RANK_0(assert_int_equal(mkfifo(other, 0600), 0));
  check_refused(STATUS_USAGE, other, NULL); /* and is not waited for */
  ON_RANK_0(unlink(other));
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
  assert_ok(write_result(path, &o, 1, ""));
  assert_ok(result_check(world, link_path, NULL));
  assert_ok(write_result(link_path, &o, 2, ""));
  check_values(path, "/solve/x", &o, 2);
  ON_RANK_0(assert_int_equal(lstat(link_path, &facts), 0); assert_true(S_ISLNK(facts.st_mode)));
  ownership_release(&o);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      IN_A_FOLDER(ours_are_replaced_and_foreign_files_are_not),
      IN_A_FOLDER(names_that_cannot_be),
      IN_A_FOLDER(a_link_is_followed),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int failed = RUN_WITH_WORLD(tests);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
