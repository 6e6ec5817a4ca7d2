/* The option table: defaults, file, command line, and what is said when something is wrong. */
#include "options.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "alloc.h"
#include "options_fixture.h"

static const command FIXTURE_TEXT = {"solve", "main key is an expression", "f", FIXTURE_TABLE,
                                     NULL};

static const char *const FOLDER = "options_test_folder";
static const char *const INI = "options_test_folder/t.ini";

static options *loaded(const char *words) {
  options *o = NULL;
  if (fixture_load(&FIXTURE, words, &o) != STATUS_OK) fail_msg("%s: %s", words, fail_text());
  return o;
}

static options *loaded_file(const char *text) {
  fixture_write(INI, text);
  return loaded(INI);
}

static void expect(const char *words, const char *part, const char *other) {
  options *o = NULL;
  if (fixture_load(&FIXTURE, words, &o) != STATUS_USAGE) fail_msg("taken: %s", words);
  if (strstr(fail_text(), part) == NULL || strstr(fail_text(), other) == NULL) {
    fail_msg("'%s' does not say '%s' and '%s'", fail_text(), part, other);
  }
  assert_null(o);
  fail_clear();
}

static void expect_file(const char *text, const char *part, const char *other) {
  fixture_write(INI, text);
  expect(INI, part, other);
}

static void defaults_then_file_then_command_line(void **state) {
  (void)state;
  fixture_write(INI, "[solve]\nrtol = 1e-3\nmax-iterations = 7\n");
  options *o = loaded("options_test_folder/t.ini|A.mtx|--rtol|1e-5|--seed=3|--run.progress|off");
  assert_same_bits(options_real(o, "solve.rtol"), 1e-5);
  assert_int_equal(options_integer(o, "solve.max_iterations"), 7);
  assert_int_equal(options_integer(o, "run.seed"), 3);
  assert_string_equal(options_text(o, "solve.matrix"), "A.mtx");
  assert_string_equal(options_text(o, "run.progress"), "off");
  assert_string_equal(options_text(o, "run.backend"), "auto");
  assert_int_equal(options_integer(o, "solve.buffer"), 1 << 20);
  assert_true(options_given(o, "solve.max_iterations"));
  assert_false(options_given(o, "solve.divergence"));
  assert_true(options_has(o, "solve.divergence"));
  assert_false(options_has(o, "solve.omega"));
  assert_null(options_text(o, "run.output"));
  options_release(&o);
}

static void lists_and_bounds(void **state) {
  (void)state;
  const double *r;
  const int64_t *n;
  options *o = loaded("--lower|-inf, 2*pi,0|--n=10,\n 2^5|--divergence|inf");
  assert_int_equal(options_reals(o, "solve.lower", &r), 3);
  assert_same_bits(r[0], -INFINITY);
  assert_same_bits(r[1], 6.283185307179586);
  assert_int_equal(options_integers(o, "solve.n", &n), 2);
  assert_int_equal(n[1], 32);
  assert_true(isinf(options_real(o, "solve.divergence")));
  options_release(&o);
  expect("--n|1 2", "--n", "junk");
  expect("--n|0", "--n", "at least 1");
  expect("--n|4 ,", "--n = 4 ,: ", "empty");
  expect("--rtol|inf", "--rtol", "makes no sense");
  expect("--rtol|-1", "--rtol", "at least 0");
  expect("--rtol|1e-8x", "--rtol", "junk");
  expect("--omega|0", "--omega", "above 0");
  expect("--omega|3", "--omega", "at most 2");
  expect("--max-iterations|1.5", "whole number", "integer");
}

static void tuples(void **state) {
  (void)state;
  const double *x;
  int length;
  options *o = loaded("--probe|(1/2, 0.5),(pi,-2)");
  assert_int_equal(options_tuples(o, "solve.probe", &x, &length), 2);
  assert_int_equal(length, 2);
  assert_same_bits(x[0], 0.5);
  assert_same_bits(x[2], 3.141592653589793);
  assert_same_bits(x[3], -2.0);
  assert_non_null(strstr(options_effective(o), "probe = (0.5, 0.5), (3.141592653589793, -2)\n"));
  char *first = strdup(options_effective(o));
  options_release(&o);
  o = loaded_file(first);
  assert_string_equal(options_effective(o), first);
  free(first);
  options_release(&o);
  o = loaded("");
  assert_int_equal(options_tuples(o, "solve.probe", &x, &length), 0);
  assert_null(x);
  options_release(&o);
  expect("--probe|(1, 2), (3)", "(1, 2), (3)", "not of one length");
  expect("--probe|1, 2", "--probe = 1", "parentheses");
  expect("--probe|(1, 2", "--probe", "not closed");
  expect("--probe|(1, 99)", "--probe", "at most 10");
  expect("--probe|(1, x)", "--probe", "(0.5, 0.5)");
  expect("--probe|()", "--probe", "empty");
  expect("--probe|\"\", (1)", "--probe", "parentheses");
}

static void a_number_or_a_word(void **state) {
  (void)state;
  options *o = loaded("--stages|auto");
  assert_true(options_is_word(o, "solve.dt") && options_is_word(o, "solve.stages"));
  assert_true(options_has(o, "solve.dt") && options_real(o, "solve.dt") == 0.0);
  assert_string_equal(options_text(o, "solve.dt"), "auto");
  assert_non_null(strstr(options_effective(o), "dt = auto\n"));
  options_release(&o);
  o = loaded("--dt|1/4|--stages|5");
  assert_false(options_is_word(o, "solve.dt") || options_is_word(o, "solve.stages"));
  assert_true(options_real(o, "solve.dt") == 0.25);
  assert_int_equal(options_integer(o, "solve.stages"), 5);
  options_release(&o);
  expect("--dt|atuo", "--dt = atuo", "a number, or one of auto|longest");
  expect("--dt|0", "--dt", "above 0");
  expect("--stages|longest", "--stages", "an integer, or one of auto");
}

static void free_keys_of_its_own(void **state) {
  (void)state;
  options *o = loaded_file("[equations]\ndx = y\ndy = -x\n");
  assert_string_equal(options_free_key(o, "equations", 1), "dy");
  assert_string_equal(options_text(o, "equations.dy"), "-x");
  assert_null(options_text(o, "equations.dz"));
  assert_false(options_has(o, "equations.dz"));
  options_release(&o);
}

static void flags_never_take_the_next_word(void **state) {
  (void)state;
  options *o = loaded("--quiet|A.mtx|--dry-run=off");
  assert_true(options_flag(o, "run.quiet"));
  assert_false(options_flag(o, "run.dry_run"));
  assert_string_equal(options_text(o, "solve.matrix"), "A.mtx");
  options_release(&o);
  expect("--quiet|off", "--quiet=off", "off");
  expect("--quiet=maybe", "--quiet", "on or off");
}

static void keys_take_the_next_word_unless_it_is_an_option(void **state) {
  (void)state;
  options *o = loaded("--lower|-inf|--f|-x^2");
  assert_string_equal(options_text(o, "solve.f"), "-x^2");
  options_release(&o);
  expect("--rtol|--quiet", "--rtol", "needs a value");
  expect("--rtol", "--rtol", "needs a value");
  expect("--rtol=", "--rtol", "no value");
}

static void positional_words(void **state) {
  (void)state;
  options *o = NULL;
  assert_ok(fixture_load(&FIXTURE_TEXT, "-exp(-x)", &o));
  assert_string_equal(options_text(o, "solve.f"), "-exp(-x)");
  options_release(&o);
  expect("A.mtx|B.mtx", "B.mtx", "A.mtx");
  expect("--matrix|A.mtx|B.mtx", "B.mtx", "A.mtx");
  expect("a.ini|b.ini", "b.ini", "a.ini");
  expect("--n|10,|20", "20", "quote the list");
  expect("--n=10,|20", "20", "quote the list");
  expect("-rtol|3", "-rtol", "two dashes");
}

static void aliases_and_prefixes(void **state) {
  (void)state;
  double seconds;
  int64_t count;
  options *o = loaded("--checkpoint|ck.h5|--restart|latest|--checkpoint.every|1e3");
  assert_string_equal(options_text(o, "checkpoint.file"), "ck.h5");
  assert_true(options_is_word(o, "checkpoint.restart"));
  options_interval(o, "checkpoint.every", &seconds, &count);
  assert_int_equal(count, 1000);
  assert_true(seconds == 0.0);
  options_release(&o);
  o = loaded("--checkpoint.every=2:30");
  options_interval(o, "checkpoint.every", &seconds, &count);
  assert_int_equal(count, 0);
  assert_true(seconds == 150.0);
  options_release(&o);
  expect("--every|3", "--every", "checkpoint.every");
  expect("--checkpoint|a|--checkpoint.file|b", "--checkpoint.file", "--checkpoint");
  expect("--n|1|--solve.n|2", "--solve.n", "given first as --n");
}

static void unknown_names_name_the_nearest(void **state) {
  (void)state;
  expect("--max_iteration|3", "--max_iteration", "'max_iterations'");
  expect("--omeag|1", "--omeag", "'omega'");
  expect("--run.sed|1", "--run.sed", "'seed'");
  expect("--rnu.seed|1", "--rnu.seed", "[run]");
  expect("--heat.n|1", "[heat]", "not a section of");
  expect("--method|jacobbi", "--method", "'jacobi'");
  expect("--zzzzzz|1", "--zzzzzz", "unknown");
  expect_file("[solve]\n\nomga = 1\n", "t.ini:3:", "'omega'");
  expect_file("[solvee]\nomega = 1\n", "t.ini:1:", "[solve]");
  expect_file("[convret]\n", "t.ini:1:", "[convert]");
  expect_file("[xyzzy]\n", "t.ini:1:", "unknown section");
}

static void habits_get_a_hint(void **state) {
  (void)state;
  expect("--ksp_type|cg", "--ksp_type", "'method'");
  expect("-ksp_rtol|1", "-ksp_rtol", "'rtol'");
  expect("--tol|1", "--tol", "'rtol'");
  expect("--eps|1", "--eps", "'rtol'");
  expect("--maxit|1", "--maxit", "'max_iterations'");
  expect("--np|4", "--np", "mpirun -n");
  expect_file("[solve]\nksp-rtol = 1\n", "t.ini:2:", "'rtol'");
}

static void values_are_checked_where_they_stand(void **state) {
  (void)state;
  expect_file("[solve]\nrtol = 1e-8 7\n", "t.ini:2: rtol = 1e-8 7", "junk");
  expect_file("[solve]\nmethod = \"cg\" x\n", "t.ini:2:", "junk after the closing quote");
  expect_file("[run]\ntime_limit = 30\n", "t.ini:2:", "Slurm");
  expect_file("[run]\nquiet =\n", "t.ini:2:", "no value");
  expect_file("[run]\nquiet\n", "t.ini:2:", "key = value");
  expect_file("[parameters]\nsigma = nan\n", "t.ini:2:", "NaN");
}

static void sections_of_other_commands_are_skipped(void **state) {
  (void)state;
  options *o = loaded_file("[heat]\nwhatever = (\n[equations]\ndx = y\n[solve]\nomega = 1\n");
  assert_true(options_real(o, "solve.omega") == 1.0);
  options_release(&o);
}

static void paths_belong_to_the_file_that_names_them(void **state) {
  (void)state;
  options *o = loaded_file("[solve]\nmatrix = a/b.mtx\nrhs = random\n[run]\noutput = x.h5\n");
  assert_string_equal(options_text(o, "solve.matrix"), "options_test_folder/a/b.mtx");
  assert_string_equal(options_text(o, "solve.rhs"), "random");
  assert_true(options_is_word(o, "solve.rhs"));
  assert_string_equal(options_text(o, "run.output"), "x.h5");
  options_release(&o);
  o = loaded_file("[solve]\nmatrix = /a.mtx\nrhs = ./random\n");
  assert_string_equal(options_text(o, "solve.matrix"), "/a.mtx");
  assert_string_equal(options_text(o, "solve.rhs"), "options_test_folder/./random");
  assert_false(options_is_word(o, "solve.rhs"));
  options_release(&o);
  o = loaded("b.mtx");
  assert_string_equal(options_text(o, "solve.matrix"), "b.mtx");
  options_release(&o);
  expect("--matrix|~/a.mtx", "--matrix", "~ is not expanded");
  expect("--output|$HOME/a", "--output", "$VAR is not expanded");
  expect("--output|\"\"", "--output", "empty");
}

static void free_keys_keep_their_order(void **state) {
  (void)state;
  fixture_write(INI, "[sweep]\nb = linspace(0, 1, 3)\na = 1, 2\n[parameters]\nsigma = 2*5\n");
  options *o = loaded("options_test_folder/t.ini|--sweep.c|3|--parameters.sigma|11|--sweep.b|4");
  assert_string_equal(options_free_key(o, "sweep", 0), "b");
  assert_string_equal(options_free_key(o, "sweep", 1), "a");
  assert_string_equal(options_free_key(o, "sweep", 2), "c");
  assert_null(options_free_key(o, "sweep", 3));
  assert_string_equal(options_text(o, "sweep.a"), "1, 2");
  assert_string_equal(options_text(o, "sweep.b"), "4");
  assert_true(options_real(o, "parameters.sigma") == 11.0);
  assert_false(options_has(o, "parameters.rho"));
  options_release(&o);
  expect("--parameters.Sigma|1", "Sigma", "unknown");
}

static void the_effective_config_reads_back(void **state) {
  (void)state;
  options *o = loaded(
      "A.mtx|--rtol|1/3|--n|1, 2|--f|\"a # b\"|--lower|-inf|--run.time_limit|1:30"
      "|--parameters.sigma|10|--sweep.q|linspace(0, 1, 2)|--output|\" x.h5\"|--restart|ck.h5");
  assert_ok(options_override(o, "run.backend", "omp"));
  char *first = strdup(options_effective(o));
  assert_non_null(strstr(first, "backend = omp\n"));
  assert_non_null(strstr(first, "matrix = /"));
  assert_non_null(strstr(first, "f = \"a # b\"\n"));
  assert_null(strstr(first, "omega"));
  assert_null(strstr(first, "restart")); /* the result does not depend on it, and it may be gone */
  options_release(&o);
  o = loaded_file(first);
  assert_string_equal(options_effective(o), first);
  assert_same_bits(options_real(o, "solve.rtol"), 1.0 / 3.0);
  assert_string_equal(options_text(o, "solve.f"), "a # b");
  assert_true(options_given(o, "solve.divergence") && options_is_default(o, "solve.divergence"));
  assert_false(options_is_default(o, "solve.rtol") || options_is_default(o, "solve.omega"));
  assert_string_equal(options_text(o, "run.output"), " x.h5");
  options_release(&o);
  free(first);
}

static void the_problem_is_a_part_of_it(void **state) {
  (void)state;
  options *o = loaded("A.mtx|--rtol|1e-3|--threads|2|--n|3|--parameters.sigma|10");
  const char *text = options_problem(o);
  const char *const in[] = {"matrix = ", "n = 3", "method = auto", "seed = 1", "sigma = 10"};
  const char *const out[] = {"rtol", "threads", "max_iterations", "divergence", "[checkpoint]"};
  for (size_t i = 0; i < sizeof in / sizeof *in; i++) assert_non_null(strstr(text, in[i]));
  for (size_t i = 0; i < sizeof out / sizeof *out; i++) assert_null(strstr(text, out[i]));
  options_release(&o);
}

static void failing_memory_leaks_nothing(void **state) {
  (void)state;
  int64_t before = alloc_live();
  options *o = NULL;
  status rc = STATUS_UNAVAILABLE;
  fixture_write(INI, "[solve]\nn = 1, 2\n[parameters]\nsigma = 1\n");
  for (int64_t nth = 1; rc != STATUS_OK; nth++) {
    alloc_fail_at(nth);
    rc = fixture_load(&FIXTURE, "options_test_folder/t.ini|A.mtx|--sweep.a|1", &o);
    if (rc != STATUS_OK) {
      assert_int_equal(rc, STATUS_UNAVAILABLE);
      assert_null(o);
      assert_int_equal(alloc_live(), before);
    }
    fail_clear();
    assert_true(nth < 10000);
  }
  alloc_fail_at(0);
  options_release(&o);
  assert_int_equal(alloc_live(), before);
}

static int make_folder(void **state) {
  (void)state;
  mkdir(FOLDER, 0777);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  unlink(INI);
  rmdir(FOLDER);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_then_file_then_command_line),
      cmocka_unit_test(lists_and_bounds),
      cmocka_unit_test(tuples),
      cmocka_unit_test(a_number_or_a_word),
      cmocka_unit_test(free_keys_of_its_own),
      cmocka_unit_test(flags_never_take_the_next_word),
      cmocka_unit_test(keys_take_the_next_word_unless_it_is_an_option),
      cmocka_unit_test(positional_words),
      cmocka_unit_test(aliases_and_prefixes),
      cmocka_unit_test(unknown_names_name_the_nearest),
      cmocka_unit_test(habits_get_a_hint),
      cmocka_unit_test(values_are_checked_where_they_stand),
      cmocka_unit_test(sections_of_other_commands_are_skipped),
      cmocka_unit_test(paths_belong_to_the_file_that_names_them),
      cmocka_unit_test(free_keys_keep_their_order),
      cmocka_unit_test(the_effective_config_reads_back),
      cmocka_unit_test(the_problem_is_a_part_of_it),
      cmocka_unit_test(failing_memory_leaks_nothing),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
