/* Saved times and trouble: a rank that cannot write, times of a run that was killed, and of one
 * that ended in order.
 * ranks: 1 2 3 5 */
#define _XOPEN_SOURCE 700 /* SIGXFSZ */
#include "field_fixture.h"

#include <signal.h>
#include <sys/resource.h>

static heat_grid big(void) { return field_grid(3, 40, 30, 50); }

static void limit_files(int here, rlim_t bytes) {
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = here ? bytes : limit.rlim_max;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A disk that is full for the ranks told so, from the second time on: all fail alike, nobody waits,
 * the old file stays. */
static void fill_disk(int here) {
  const heat_grid g = big(), small = field_grid(2, 5, 3, 1);
  field_write(path, &small, 1, 0);
  field_file *f = field_start(path, &g, 0);
  assert_ok(field_put(f, &g, 0));
  limit_files(here, (rlim_t)(field_points(&g) * 8 + 6000));
  int kept = silence();
  assert_int_equal(field_put(f, &g, 1), STATUS_IO);
  assert_int_equal(field_put(f, &g, 2), STATUS_IO);
  limit_files(0, 0);
  assert_int_equal(field_sync(f), STATUS_IO);
  assert_int_equal(field_end(&f, 1), STATUS_IO);
  speak(kept);
  check_text(path, "command", "heat");
  ON_RANK_0(assert_int_equal(files(), 1));
}

static void a_full_disk(void **state) {
  (void)state;
  fill_disk(1);
  fill_disk(comm_rank(world) == 0);
  fill_disk(comm_rank(world) == comm_size(world) - 1);
}

/* The room for all times that are known of is asked for before the first. */
static void room_is_asked_for_before(void **state) {
  (void)state;
  const heat_grid g = big();
  int64_t first, planes;
  field_file *f;
  field_share(&g, &first, &planes);
  int kept = silence();
  limit_files(1, 3000000);
  assert_int_equal(field_create(world, path, &g, first, planes, 10, &f), STATUS_IO);
  limit_files(0, 0);
  speak(kept);
  assert_null(f);
  ON_RANK_0(assert_int_equal(files(), 0));
}

static void prints_of(const heat_grid *g, uint64_t print[FIELD_TIMES]) {
  for (int k = 0; k < FIELD_TIMES; k++) print[k] = field_print(g, k);
}

static void check_time(const char *where, const heat_grid *g, int64_t k) {
  char text[400];
  int64_t first, planes;
  field_source *s;
  double *values;
  snprintf(text, sizeof text, "%s:/VTKHDF/PointData/u[%d]", where, (int)k);
  field_share(g, &first, &planes);
  assert_ok(alloc_array(&values, planes * field_plane(g), sizeof *values, "field"));
  assert_ok(field_open(world, text, g, &s));
  assert_ok(field_planes(s, first, planes, values));
  for (int64_t i = 0; i < planes * field_plane(g); i++)
    assert_same_bits(values[i], field_value(g, first * field_plane(g) + i, k));
  field_source_close(&s);
  alloc_free(&values);
}

/* A run saved three times, the checkpoint counts on two of them; `killed`: it is gone, its
 * temporary is there. Returns the temporary's name. */
static field_file *leave_temporary(const heat_grid *g, char partial[FIELD_NAME]) {
  field_file *f = field_start(path, g, 0);
  for (int k = 0; k < 3; k++) assert_ok(field_put(f, g, k));
  assert_ok(field_sync(f));
  strcpy(partial, field_partial(f));
  return f;
}

static void a_killed_run_goes_on(void **state) {
  (void)state;
  const heat_grid g = field_grid(3, 4, 3, 7);
  char partial[FIELD_NAME], name[600];
  uint64_t print[FIELD_TIMES];
  int taken = 0;
  prints_of(&g, print);
  field_file *killed = leave_temporary(&g, partial), *f = field_start(path, &g, 0);
  assert_ok(field_resume(f, partial, 2, print, &taken));
  assert_true(taken);
  for (int k = 2; k < 4; k++) assert_ok(field_put(f, &g, k));
  assert_ok(field_end(&f, 4));
  for (int k = 0; k < 4; k++) check_time(path, &g, k);
  in_folder(partial, name, sizeof name);
  ON_RANK_0(assert_int_equal(access(name, F_OK), 0)); /* a process has it open */
  assert_ok(field_close(&killed, 0));
  ON_RANK_0(assert_int_equal(files(), 1));
}

/* The temporary that was copied from goes when the file is complete. */
static void what_was_copied_from_is_removed(void **state) {
  (void)state;
  const heat_grid g = field_grid(1, 30, 1, 1);
  char partial[FIELD_NAME], name[600], left[600];
  uint64_t print[FIELD_TIMES];
  int taken = 0;
  prints_of(&g, print);
  field_file *killed = leave_temporary(&g, partial);
  in_folder(partial, name, sizeof name);
  in_folder(".left.part", left, sizeof left);
  ON_RANK_0(assert_int_equal(link(name, left), 0));
  assert_ok(field_close(&killed, 0));
  field_file *f = field_start(path, &g, 0);
  assert_ok(field_resume(f, ".left.part", 3, print, &taken));
  assert_true(taken);
  assert_ok(field_end(&f, 3));
  ON_RANK_0(assert_int_equal(files(), 1));
  check_time(path, &g, 2);
}

/* A run that was stopped in order has left the file itself, with its last field behind. */
static void a_stopped_run_goes_on(void **state) {
  (void)state;
  const heat_grid g = field_grid(2, 4, 9, 1);
  uint64_t print[FIELD_TIMES];
  int taken = 0;
  prints_of(&g, print);
  field_write(path, &g, 4, 0);
  field_file *f = field_start(path, &g, 0);
  assert_ok(field_resume(f, ".run.h5.1-0.part", 3, print, &taken));
  assert_true(taken);
  for (int k = 3; k < 5; k++) assert_ok(field_put(f, &g, k));
  assert_ok(field_end(&f, 5));
  for (int k = 0; k < 5; k++) check_time(path, &g, k);
}

/* Nothing is taken of other fields, other grids, short files, files of others, odd names. */
static void what_does_not_fit_is_not_taken(void **state) {
  (void)state;
  const heat_grid g = field_grid(2, 4, 9, 1), other = field_grid(2, 9, 4, 1);
  char partial[FIELD_NAME];
  uint64_t print[FIELD_TIMES], wrong[FIELD_TIMES];
  int taken = 1;
  prints_of(&g, print);
  prints_of(&g, wrong);
  wrong[1]++;
  field_file *killed = leave_temporary(&g, partial), *f = field_start(path, &g, 0);
  assert_ok(field_resume(f, partial, 3, wrong, &taken));
  assert_false(taken);
  assert_ok(field_resume(f, partial, 4, print, &taken)); /* it has three */
  assert_false(taken);
  assert_ok(field_resume(f, "", 1, print, &taken));
  assert_false(taken);
  assert_ok(field_resume(f, "../x.part", 1, print, &taken));
  assert_false(taken);
  assert_ok(field_close(&killed, 0));
  field_write(path, &other, 4, 0);
  assert_ok(field_resume(f, partial, 1, print, &taken));
  assert_false(taken);
  ON_RANK_0(put(path, "not ours\n", 9));
  assert_ok(field_resume(f, partial, 1, print, &taken));
  assert_false(taken);
  assert_ok(field_resume(f, partial, 0, print, &taken)); /* nothing is wanted */
  assert_true(taken);
  assert_ok(field_close(&f, 0));
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      IN_A_FOLDER(a_full_disk),           IN_A_FOLDER(room_is_asked_for_before),
      IN_A_FOLDER(a_killed_run_goes_on),  IN_A_FOLDER(what_was_copied_from_is_removed),
      IN_A_FOLDER(a_stopped_run_goes_on), IN_A_FOLDER(what_does_not_fit_is_not_taken),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit fails with EFBIG instead */
  int failed = RUN_WITH_WORLD(tests);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
