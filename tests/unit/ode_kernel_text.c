/* The kernel of trajectories without a GPU: the text a GPU thread runs (cuda/ode_thread.h around a
 * system, the GPU's forms of functions among it), compiled by the host compiler as C, a trajectory
 * after the other, gives the bits of the OpenMP backend; in one go and in launches of few attempts.
 */
#include "compiler.h"
#include "ode_args.h"
#include "ode_cases.h"
#include "ode_define.h"
#include "text.h"

static comm *world;
static compiler *with;
static char folder[4096];
static int64_t ends[ODE_STATUSES]; /* how many trajectories ended how */

/* What cuda/rtc.c puts together, as C. */
static status write_source(const ode_functions *f, const ode_plan *plan, text_builder *out) {
  status rc = STATUS_OK;
  rtc_text text[ODE_TEXTS];
  rtc_check_define define[ODE_DEFINES];
  ode_texts(f, plan, text);
  ode_defines(f, plan, define);
  TRY(text_append(out, "#include \"formula_gpu.h\"\n"));
  for (int i = 0; i < ODE_DEFINES; i++) {
    TRY(text_print(out, "#define %s %ld\n", define[i].name, define[i].value));
  }
  for (int i = 0; i < ODE_TEXTS; i++) {
    TRY(text_print(out, "#define formula_value %s\n", text[i].name));
    TRY(text_append(out, text[i].f != NULL
                             ? text[i].f->text
                             : "PORTABLE void formula_value(const double *in, double *out) {}"));
    TRY(text_append(out, "\n#undef formula_value\n"));
  }
  TRY(text_append(out,
                  "#include \"ode_thread.h\"\n"
                  "__attribute__((visibility(\"default\")))\n"
                  "void ode_kernel_text(const ode_advance_args *a) {\n"
                  "  for (int64_t i = a->begin; i < a->end; i++) *a->running += ode_thread(a, i);\n"
                  "}\n"));
done:
  return rc;
}

static void run_text(ode_try *e, void (*kernel)(const ode_advance_args *), int64_t attempts) {
  ode_advance_args a = {.plan = e->plan, .states = e->s, .end = e->s.count, .attempts = attempts};
  a.step = ode_args_step(&e->plan);
  int64_t running = 1;
  a.running = &running;
  for (int j = 0; j < e->plan.shared; j++) a.common[j] = ((const double *)e->plan.common.at)[j];
  while (running > 0) {
    running = 0;
    kernel(&a);
  }
}

static void one_case(const ode_setting *is, const char *const *noise, int64_t count,
                     const char *what) {
  static const int64_t attempts[] = {INT64_MAX, 37};
  text_builder source = {0};
  compile_outcome outcome;
  char said[COMPILE_SAID], name[200];
  void (*kernel)(const ode_advance_args *);
  module *code;
  ode_try want, got;
  ode_try_open_noisy(&want, &BACKEND_omp, world, NULL, 1, is, noise, count);
  ode_case_fill(&want);
  ode_try_run(&want, INT64_MAX);
  for (int64_t i = 0; i < count; i++) ends[ode_try_status(&want, i)]++;
  assert_ok(write_source(&want.f, &want.plan, &source));
  const compile_request request = {source.text, folder, 1};
  assert_ok(compiler_build(world, with, &request, &outcome, said, &code));
  if (outcome != COMPILE_DONE) fail_msg("%s: %s", what, said);
  module_function(code, "ode_kernel_text", &kernel);
  assert_non_null(kernel);
  for (int i = 0; i < 2; i++) {
    snprintf(name, sizeof name, "%s, %lld attempts at a time", what, (long long)attempts[i]);
    ode_try_open_noisy(&got, &BACKEND_ref, world, NULL, 1, is, noise, count);
    ode_case_fill(&got);
    run_text(&got, kernel, attempts[i]);
    ode_case_compare(&want, &got, name);
    ode_try_close(&got);
  }
  ode_try_close(&want);
  module_release(&code);
  text_release(&source);
}

static void noisy(void **state) {
  (void)state;
  ode_cases_noisy(one_case);
}

static void same_bits(void **state) {
  (void)state;
  ode_cases(one_case, 1);
  for (int end = ODE_DONE; end < ODE_STATUSES; end++) {
    if (ends[end] == 0) fail_msg("no trajectory ended with status %d", end);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(noisy)};
  int pid;
  const int end = test_helper(&pid);
  const char *source = getenv("HALOSWEEP_SOURCE");
  snprintf(folder, sizeof folder, "%s/cuda", source != NULL ? source : ".");
  test_own_cache("ode_text_cache", 0);
  assert_ok(comm_open(&argc, &argv, &world));
  assert_ok(compiler_open(end, pid, &with));
  compiler_settle(with, world);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  compiler_close(&with);
  comm_close(&world);
  return failed;
}
