/* The history file: rows held back for their true residual, 17 digits, atomic replacement. */
#include "history.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

static void contents(const char *path, char *out, size_t room) {
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  out[fread(out, 1, room - 1, file)] = '\0';
  fclose(file);
}

/* The temporary of swap_file.h. */
static void temporary_of(const char *name, char out[100]) {
  snprintf(out, 100, ".%s.%ld-0.part", name, (long)getpid());
}

static void rows_wait_for_their_true_residual(void **state) {
  (void)state;
  char text[400];
  history *h;
  assert_ok(history_open("history-a.csv", &h));
  history_row(h, 0, 1.0);
  history_row(h, 1, 0.1);
  history_true(h, 1, 0.25);
  history_row(h, 1, 0.3); /* the same row, told again: the first stands */
  history_true(h, 2, 0.125);
  history_row(h, 2, 0.5);                              /* the truth came first */
  history_row(h, 3, NAN);                              /* not computed */
  assert_int_equal(access("history-a.csv", F_OK), -1); /* not before it is complete */
  assert_ok(history_close(&h, 1));
  assert_null(h);
  contents("history-a.csv", text, sizeof text);
  assert_string_equal(text,
                      HISTORY_HEADER "\n0,1,\n1,0.10000000000000001,0.25\n2,0.5,0.125\n3,,\n");
  remove("history-a.csv");
}

static void thrown_away_leaves_nothing(void **state) {
  (void)state;
  char temporary[100];
  history *h;
  temporary_of("history-b.csv", temporary);
  assert_ok(history_open("history-b.csv", &h));
  history_row(h, 0, 1.0);
  assert_int_equal(access(temporary, F_OK), 0);
  assert_ok(history_close(&h, 0));
  assert_int_equal(access("history-b.csv", F_OK), -1);
  assert_int_equal(access(temporary, F_OK), -1);
}

static void no_path_is_no_history(void **state) {
  (void)state;
  history *h;
  assert_ok(history_open(NULL, &h));
  history_row(h, 0, 1.0);
  history_true(h, 0, 1.0);
  assert_ok(history_close(&h, 1));
}

static void failures_are_told(void **state) {
  (void)state;
  char temporary[100];
  history *h;
  temporary_of("history-c.csv", temporary);
  assert_int_equal(history_open("no-such-folder/h.csv", &h), STATUS_IO);
  assert_non_null(strstr(fail_text(), "no-such-folder/h.csv"));
  fail_clear();
  assert_ok(history_open("history-c.csv", &h));
  history_row(h, 0, 1.0);
  remove(temporary); /* the rename finds nothing */
  assert_int_equal(history_close(&h, 1), STATUS_IO);
  fail_clear();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_wait_for_their_true_residual),
      cmocka_unit_test(thrown_away_leaves_nothing),
      cmocka_unit_test(no_path_is_no_history),
      cmocka_unit_test(failures_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
