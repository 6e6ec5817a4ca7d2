/* Random mutations of good configs and command lines, the same ones every time: nothing may crash
 * (the debug preset watches memory), every refusal has a text, and what is accepted survives being
 * written out and read again. */
#include <stdlib.h>

#include "alloc.h"
#include "ini.h"
#include "numbers.h"
#include "options_fixture.h"

enum {
  TEXT_MAX = 1024,
  INI_ROUNDS = 40000,
  FILE_ROUNDS = 500,
  LINE_ROUNDS = 20000,
  TRIPS_EACH = 256
};

static const char *const FILE_NAME = "options_fuzz_test.ini";

static const char *const CONFIGS[] = {
    "[solve]\nmatrix = a.mtx\nn = 10,\n  20\nrtol = 1e-8 # c\n[run]\nquiet = on\nseed = 1e3\n",
    "\xef\xbb\xbf[solve]\r\nf = \"a # b\"\r\nlower = -inf, (1+2)*pi\r\n; c\r\n[heat]\r\nx = (\r\n",
    "[parameters]\nsigma = 10\nrho = 2^-3\n[sweep]\na = linspace(0, 1, 3)\nb = 1, 2\n[sample]\n",
    "[checkpoint]\nevery = 1-2:03:04\nfile = ck.h5\nrestart = latest\n[solve]\nbuffer = 1.5G\n",
};

static const char *const LINES[] = {
    "A.mtx|--rtol|1e-8|--n=10, 20|--quiet|--lower|-inf,2",
    "--solve.f|-x^2|--checkpoint|ck.h5|--restart|latest|--parameters.sigma|2*pi",
    "--method|cg|--omega|1.5|--buffer|4K|--run.time_limit|2h|--divergence|inf",
    "--sweep.a|1, 2|--sweep.b|\"x # y\"|--checkpoint.every|10m|-q|--max-iterations|1e6",
};

static const char *const PIECES[] = {"\n",    "[",    "]",       "=",       "\"",  "#", ";", ",",
                                     "(",     ")",    "  ",      "\t",      "--",  "-", "|", "\r\n",
                                     "inf",   "nan",  "1e999",   "pi",      "^",   ".", "~", "$A",
                                     "solve", "\xff", "[run]\n", "n = 1\n", "--n", "s"};

typedef struct random_state {
  uint64_t at;
} random_state;

static size_t pick(random_state *r, size_t below) { /* splitmix64 */
  uint64_t z = (r->at += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (size_t)((z ^ (z >> 31)) % below);
}

static void splice(char *text, size_t at, size_t cut, const char *piece) {
  char result[2 * TEXT_MAX];
  snprintf(result, sizeof result, "%.*s%s%s", (int)at, text, piece, text + at + cut);
  snprintf(text, TEXT_MAX, "%.*s", TEXT_MAX - 1, result);
}

static void mutate(random_state *r, char *text) {
  for (size_t times = pick(r, 6); times > 0; times--) {
    size_t length = strlen(text), at = pick(r, length + 1), left = length - at;
    char byte[2] = {(char)(1 + pick(r, 255)), '\0'};
    switch (pick(r, 4)) {
    case 0:
      splice(text, at, 0, PIECES[pick(r, sizeof PIECES / sizeof *PIECES)]);
      break;
    case 1:
      splice(text, at, pick(r, (left < 8 ? left : (size_t)8) + 1), "");
      break;
    case 2:
      splice(text, at, left > 0, byte);
      break;
    default: { /* a run of the text again, elsewhere */
      char run[32];
      snprintf(run, sizeof run, "%.*s", (int)pick(r, sizeof run), text + at);
      splice(text, pick(r, length + 1), 0, run);
    }
    }
  }
}

/* Whatever a value is, all readers of values stand it. */
static void read_every_way(const char *value) {
  char copy[TEXT_MAX], *item, *rest = copy;
  double x;
  int64_t n;
  number_integer(value, &n, NULL);
  number_duration(value, &x, NULL);
  number_size(value, &n, NULL);
  if (number_real(value, &x, NULL) == NULL) assert_true(x == x);
  snprintf(copy, sizeof copy, "%s", value);
  while (rest != NULL && ini_list(&rest, &item) == NULL) number_real(item, &x, NULL);
  snprintf(copy, sizeof copy, "%s", value);
  ini_scalar(copy, &item);
}

static void mutated_configs_parse_or_are_refused(void **state) {
  (void)state;
  random_state r = {1};
  int64_t before = alloc_live();
  int taken = 0;
  for (int i = 0; i < INI_ROUNDS; i++) {
    char text[TEXT_MAX];
    ini parsed;
    snprintf(text, sizeof text, "%s", CONFIGS[i % 4]);
    mutate(&r, text);
    status rc = ini_parse("t.ini", text, strlen(text), &parsed);
    if (rc != STATUS_OK) {
      assert_int_equal(rc, STATUS_USAGE);
      assert_true(strncmp(fail_text(), "t.ini:", 6) == 0);
      fail_clear();
      continue;
    }
    taken++;
    for (int64_t e = 0; e < parsed.entries; e++) {
      const char *value = parsed.entry[e].value;
      size_t length = strlen(value);
      if (e > 0) assert_true(parsed.entry[e].line > parsed.entry[e - 1].line);
      if (length > 0) assert_true(value[0] != ' ' && value[length - 1] != ' ');
      read_every_way(value);
    }
    ini_release(&parsed);
  }
  assert_true(taken > INI_ROUNDS / 10 && taken < INI_ROUNDS);
  assert_int_equal(alloc_live(), before);
}

/* What was accepted is written, read, and written again: the same text. */
static void check_round_trip(options *o, const char *from) {
  char *first = strdup(options_effective(o));
  options *again = NULL;
  assert_non_null(options_problem(o));
  fixture_write(FILE_NAME, first);
  if (fixture_load(&FIXTURE, FILE_NAME, &again) != STATUS_OK) {
    fail_msg("%s\nfrom:\n%s\nwritten:\n%s", fail_text(), from, first);
  }
  if (strcmp(options_effective(again), first) != 0) {
    fail_msg("written:\n%s\nand again:\n%s", first, options_effective(again));
  }
  options_release(&again);
  free(first);
}

/* Four in TRIPS_EACH rounds (one of each seed) are written out: files are slow. */
static int load_and_check(const char *words, const char *from, int round) {
  options *o = NULL;
  status rc = fixture_load(&FIXTURE, words, &o);
  if (rc == STATUS_OK) {
    if (round % TRIPS_EACH < 4) check_round_trip(o, from);
  } else {
    assert_int_equal(rc, STATUS_USAGE);
    assert_true(strlen(fail_text()) > 10);
    fail_clear();
  }
  options_release(&o);
  return rc == STATUS_OK;
}

static void mutated_files_load_or_are_refused(void **state) {
  (void)state;
  random_state r = {2};
  int taken = 0;
  for (int i = 0; i < FILE_ROUNDS; i++) {
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "%s", CONFIGS[i % 4]);
    mutate(&r, text);
    fixture_write(FILE_NAME, text);
    taken += load_and_check(FILE_NAME, text, i);
  }
  assert_true(taken > FILE_ROUNDS / 10 && taken < FILE_ROUNDS);
}

static void mutated_command_lines_load_or_are_refused(void **state) {
  (void)state;
  random_state r = {3};
  int64_t before = alloc_live();
  int taken = 0;
  for (int i = 0; i < LINE_ROUNDS; i++) {
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "%s", LINES[i % 4]);
    mutate(&r, text);
    taken += load_and_check(text, text, i);
  }
  assert_true(taken > LINE_ROUNDS / 10 && taken < LINE_ROUNDS);
  assert_int_equal(alloc_live(), before);
}

static int remove_file(void **state) {
  (void)state;
  unlink(FILE_NAME);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mutated_configs_parse_or_are_refused),
      cmocka_unit_test(mutated_files_load_or_are_refused),
      cmocka_unit_test(mutated_command_lines_load_or_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, remove_file);
}
