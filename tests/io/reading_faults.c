/* Files that are none, damaged gzip, failing allocations: one error on all ranks, nothing leaks.
 * ranks: 1 3 */
#include "made_file.h"

static void files_that_are_none(void **state) {
  (void)state;
  static const char *const names[][2] = {{".", "is a directory"},
                                         {"no-such-file.mtx", "No such file"},
                                         {"/dev/null", "not a regular file"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    reading r;
    read_with(names[i][0], &all_sizes[0], &r);
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
      read_with(name, &all_sizes[s], &r);
      assert_int_equal(r.code, cut == 0 ? STATUS_OK : STATUS_INPUT);
      if (cut > 0 && strstr(r.said, "gzip data") == NULL) fail_msg("%s", r.said);
      if (cut > 0 && strstr(r.said, "joined.gz:") == NULL) fail_msg("no line: %s", r.said);
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
      cmocka_unit_test(files_that_are_none),
      cmocka_unit_test(damaged_gzip),
      cmocka_unit_test(allocations_that_fail),
  };
  RUN_READING_TESTS(argc, argv, tests);
}
