/* Result files: what is written is found again, by us and as plain bytes of the file, with empty
 * ranks, many rounds and long texts.
 * ranks: 1 2 3 7
 * With the arguments "write FILE" it writes a result (tests/io/result_bytes.sh). */
#include "result_folder.h"

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
  if (rc == STATUS_OK) rc = write_result(where, &o, 5, 1000, "the same text");
  ownership_release(&o);
  comm_close(&world);
  return rc;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      IN_A_FOLDER(what_is_written_is_found_again),
      IN_A_FOLDER(empty_ranks_take_part),
      IN_A_FOLDER(long_texts),
      IN_A_FOLDER(a_result_thrown_away_leaves_nothing),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  if (argc > 2) return write_only(argv[2]);
  int failed = RUN_WITH_WORLD(tests);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
