/* Memory that is left: limits of control groups of both versions, and one rank's lack that stops
 * all.
 * ranks: 1 2 */
#include "memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static comm *world;

/* Each rank works in a folder of its own. */
static void put(const char *name, const char *text) {
  FILE *file = fopen(name, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static int64_t left(const char *membership) {
  put("groups", membership);
  return memory_of_group("groups", "root");
}

static void limits_of_groups(void **state) {
  (void)state;
  static const char *const folders[] = {"root",          "root/job",    "root/job/step",
                                        "root/job/free", "root/memory", "root/memory/old"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) mkdir(folders[i], 0777);
  put("root/job/memory.max", "1000\n");
  put("root/job/memory.current", "700\n");
  put("root/job/memory.stat", "anon 3\ninactive_file 200\n");
  put("root/job/step/memory.max", "max\n");
  put("root/job/step/memory.current", "600\n");
  put("root/memory/old/memory.limit_in_bytes", "5000\n");
  put("root/memory/old/memory.usage_in_bytes", "6000\n");
  put("root/memory/old/memory.stat", "");
  assert_int_equal(left("0::/job\n"), 500);
  assert_int_equal(left("0::/job/step\n"), 500);               /* the group above counts too */
  assert_int_equal(left("0::/unseen/inside\n"), INT64_MAX);    /* no limit is known */
  assert_int_equal(left("3:cpu:/job\n"), INT64_MAX);           /* not about memory */
  assert_int_equal(left("9:cpu:/\n4:memory:/old\n0::/\n"), 0); /* more than all is used */
  put("root/memory/old/memory.stat", "total_inactive_file 4000\n");
  assert_int_equal(left("4:memory:/old\n0::/job\n"), 500);
  assert_int_equal(left("4:memory:/old\n"), 3000);
  assert_int_equal(left(""), INT64_MAX);
  assert_int_equal(memory_of_group("no such file", "root"), INT64_MAX);
}

static void one_rank_that_lacks_it_stops_all(void **state) {
  (void)state;
  const char *limit;
  const int last = comm_rank(world) == comm_size(world) - 1;
  assert_true(memory_available(1, &limit) > 1000000);
  assert_true(memory_available(1 << 20, &limit) < memory_available(1, &limit));
  assert_ok(memory_check(world, 1e6, "a little"));
  assert_int_equal(memory_check(world, last ? 1e18 : 0.0, "a lot"), STATUS_UNAVAILABLE);
}

static int enter(void **state) {
  char folder[64];
  (void)state;
  snprintf(folder, sizeof folder, "memory-%d-%d", comm_size(world), comm_rank(world));
  mkdir(folder, 0777);
  return chdir(folder);
}

int main(int argc, char **argv) {
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limits_of_groups),
      cmocka_unit_test(one_rank_that_lacks_it_stops_all),
  };
  const int failed = cmocka_run_group_tests(tests, enter, NULL);
  comm_close(&world);
  return failed;
}
