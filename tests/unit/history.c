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
  assert_ok(history_open("history-a.csv", HISTORY_SOLVE, &h));
  history_row(h, 0, HISTORY_RESIDUAL, 1.0);
  history_row(h, 1, HISTORY_RESIDUAL, 0.1);
  history_revise(h, 1, HISTORY_TRUE_RESIDUAL, 0.25);
  history_row(h, 1, HISTORY_RESIDUAL, 0.3); /* the same row, told again: the first stands */
  history_revise(h, 2, HISTORY_TRUE_RESIDUAL, 0.125);
  history_row(h, 2, HISTORY_RESIDUAL, 0.5);            /* the truth came first */
  history_row(h, 3, HISTORY_RESIDUAL, NAN);            /* not computed */
  assert_int_equal(access("history-a.csv", F_OK), -1); /* not before it is complete */
  assert_ok(history_close(&h, 1));
  assert_null(h);
  contents("history-a.csv", text, sizeof text);
  assert_string_equal(text, HISTORY_SOLVE "\n0,1,\n1,0.10000000000000001,0.25\n2,0.5,0.125\n3,,\n");
  remove("history-a.csv");
}

/* Columns are the heading's: another family's history, with rows that a checkpoint carried. */
static void any_heading(void **state) {
  (void)state;
  static const char heading[] = "step,time,total_heat,minimum";
  char text[400];
  const double *rows;
  int64_t count;
  history *h, *again = NULL;
  assert_int_equal(history_columns(heading), 4);
  assert_ok(history_open("history-d.csv", heading, &h));
  assert_ok(history_remember(heading, &h));
  history_row(h, 0, 1, 0.0);
  history_row(h, 0, 3, -1.0);
  history_row(h, 10, 1, 0.5);
  history_row(h, 10, 2, 0.25);
  history_row(h, 10, 3, 2.0);
  history_forget(h, 3);
  assert_ok(history_rows(h, &rows, &count));
  assert_int_equal(count, 2);
  assert_same_bits(rows[3], -1.0);
  assert_same_bits(rows[4], 10.0);
  assert_same_bits(rows[6], 0.25);
  assert_ok(history_open("history-e.csv", heading, &again));
  history_restore(again, rows, count);
  history_row(again, 20, 2, 8.0);
  assert_ok(history_close(&again, 1));
  assert_ok(history_close(&h, 1));
  contents("history-d.csv", text, sizeof text);
  assert_string_equal(text, "step,time,total_heat,minimum\n0,0,,-1\n10,0.5,0.25,\n");
  contents("history-e.csv", text, sizeof text);
  assert_string_equal(text, "step,time,total_heat,minimum\n0,0,,-1\n10,0.5,0.25,\n20,,8,\n");
  remove("history-d.csv");
  remove("history-e.csv");
}

static void thrown_away_leaves_nothing(void **state) {
  (void)state;
  char temporary[100];
  history *h;
  temporary_of("history-b.csv", temporary);
  assert_ok(history_open("history-b.csv", HISTORY_SOLVE, &h));
  history_row(h, 0, HISTORY_RESIDUAL, 1.0);
  assert_int_equal(access(temporary, F_OK), 0);
  assert_ok(history_close(&h, 0));
  assert_int_equal(access("history-b.csv", F_OK), -1);
  assert_int_equal(access(temporary, F_OK), -1);
}

static void no_path_is_no_history(void **state) {
  (void)state;
  history *h;
  assert_ok(history_open(NULL, HISTORY_SOLVE, &h));
  history_row(h, 0, HISTORY_RESIDUAL, 1.0);
  history_revise(h, 0, HISTORY_TRUE_RESIDUAL, 1.0);
  assert_ok(history_close(&h, 1));
}

static void failures_are_told(void **state) {
  (void)state;
  char temporary[100];
  history *h;
  temporary_of("history-c.csv", temporary);
  assert_int_equal(history_open("no-such-folder/h.csv", HISTORY_SOLVE, &h), STATUS_IO);
  assert_non_null(strstr(fail_text(), "no-such-folder/h.csv"));
  fail_clear();
  assert_ok(history_open("history-c.csv", HISTORY_SOLVE, &h));
  history_row(h, 0, HISTORY_RESIDUAL, 1.0);
  remove(temporary); /* the rename finds nothing */
  assert_int_equal(history_close(&h, 1), STATUS_IO);
  fail_clear();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_wait_for_their_true_residual),
      cmocka_unit_test(any_heading),
      cmocka_unit_test(thrown_away_leaves_nothing),
      cmocka_unit_test(no_path_is_no_history),
      cmocka_unit_test(failures_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
