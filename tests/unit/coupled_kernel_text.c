/* The kernels of coupled systems without a GPU: the text GPU threads run (cuda/coupled_thread.h
 * around a system, the GPU's forms of functions among it), compiled by the host compiler as C, a
 * thread after the other, gives the bits of the reference backend: derivatives at near points
 * before the ghosts have come, at far ones after; sums over all points; Jacobians. On one rank and
 * as one of three.
 *
 * ranks: 3 */
#include "compiler.h"
#include "coupled_cases.h"
#include "coupled_define.h"
#include "coupled_newton.h"
#include "text.h"

static comm *world, *self;
static compiler *with;
static char folder[4096];

typedef struct kernels {
  void (*near)(const coupled_rhs_args *), (*far)(const coupled_rhs_args *);
  void (*sums)(const coupled_sums_args *);
  void (*jacobian)(const coupled_jacobian_args *);
} kernels;

static const char *const KERNELS =
    "#include \"coupled_thread.h\"\n"
    "#define EXPORT __attribute__((visibility(\"default\")))\n"
    "EXPORT void near_text(const coupled_rhs_args *a) {\n"
    "  for (int64_t b = 0; b < a->blocks; b++)\n"
    "    for (int t = 0; t < COUPLED_THREADS; t++) coupled_near_points(a, b, t);\n"
    "}\n"
    "EXPORT void far_text(const coupled_rhs_args *a) {\n"
    "  for (int64_t k = 0; k < a->far_count; k++) coupled_far_point(a, a->far[k]);\n"
    "}\n"
    "EXPORT void sums_text(const coupled_sums_args *a) {\n"
    "  const gidx all = a->s.layout.n * a->s.layout.m;\n"
    "  for (lidx q = a->begin; q < a->end; q++) {\n"
    "    double in[COUPLED_IN_SUMS], sum[COUPLED_ANY_SUMS];\n"
    "    coupled_own(&a->s, q, in);\n"
    "    for (gidx b = 0; b < all; b += BLOCK_MAX) {\n"
    "      coupled_block(&a->s, in, b, all - b < BLOCK_MAX ? (int)(all - b) : BLOCK_MAX, sum);\n"
    "      for (int m = 0; m < COUPLED_N_SUMS; m++) {\n"
    "        double *to = &a->sum[(int64_t)q*COUPLED_N_SUMS + m];\n"
    "        *to = (b == 0 ? 0.0 : *to) + sum[m];\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "}\n"
    "EXPORT void jacobian_text(const coupled_jacobian_args *a) {\n"
    "  for (lidx q = a->begin; q < a->end; q++) coupled_rows(a, q);\n"
    "}\n";

/* cuda/pair.h, as C. */
#define PAIRS                                                                                      \
  "static inline void pair_load(const double *at, double *a, double *b) { *a = at[0]; *b = "       \
  "at[1]; }\n"                                                                                     \
  "static inline void pair_store(double *at, double a, double b) { at[0] = a; at[1] = b; }\n"

/* What cuda/rtc.c puts together, as C. */
static status write_source(const coupled_layout *l, const coupled_functions *f, int at_once,
                           text_builder *out) {
  status rc = STATUS_OK;
  rtc_text text[COUPLED_TEXTS];
  rtc_check_define define[COUPLED_DEFINES];
  formula look;
  char reaches[COUPLED_LOOK];
  coupled_texts(l, f, &look, reaches, text);
  coupled_defines(l, f, at_once, define);
  TRY(text_append(out, "#include \"formula_gpu.h\"\n" PAIRS));
  for (int i = 0; i < COUPLED_DEFINES; i++) {
    TRY(text_print(out, "#define %s %ld\n", define[i].name, define[i].value));
  }
  for (int i = 0; i < COUPLED_TEXTS; i++) {
    TRY(text_print(out, "#define formula_value %s\n", text[i].name));
    TRY(text_append(out, text[i].f != NULL
                             ? text[i].f->text
                             : "PORTABLE void formula_value(const double *in, double *out) {}"));
    TRY(text_append(out, "\n#undef formula_value\n"));
  }
  TRY(text_append(out, KERNELS));
done:
  return rc;
}

static module *build(const coupled_run *r, int at_once, kernels *out) {
  text_builder source = {0};
  compile_outcome outcome;
  char said[COMPILE_SAID];
  module *code;
  assert_ok(write_source(&r->layout, &r->functions, at_once, &source));
  const compile_request request = {source.text, folder, 1};
  assert_ok(compiler_build(world, with, &request, &outcome, said, &code));
  if (outcome != COMPILE_DONE) fail_msg("%s: %s", r->system->name, said);
  module_function(code, "near_text", &out->near);
  module_function(code, "far_text", &out->far);
  module_function(code, "sums_text", &out->sums);
  module_function(code, "jacobian_text", &out->jacobian);
  assert_non_null(out->near);
  assert_non_null(out->jacobian);
  text_release(&source);
  return code;
}

/* Near points first, with no ghosts to see (they are NaN), then the rest. */
static void run_rhs(coupled_run *r, const kernels *k, int at_once, double *out) {
  const coupled_layout *l = &r->layout;
  const int64_t values = (int64_t)(l->count + l->ghosts) * l->fields;
  coupled_rhs_args a = {.near = coupled_near_of(l, at_once), .out = out};
  double *poisoned, *sum;
  lidx *far;
  coupled_state_of(l, &r->functions, &a.s);
  a.blocks = coupled_near_blocks(l, &a.near);
  a.far_count = coupled_far_of(l, &a.near, at_once, NULL);
  assert_ok(alloc_array(&far, a.far_count, sizeof *far, "test"));
  assert_ok(alloc_array(&poisoned, values, sizeof *poisoned, "test"));
  assert_ok(alloc_array(&sum, (int64_t)l->count * l->sums, sizeof *sum, "test"));
  coupled_far_of(l, &a.near, at_once, far);
  memcpy(poisoned, r->y.data.at, (size_t)values * sizeof *poisoned);
  for (int64_t g = (int64_t)l->count * l->fields; g < values; g++) poisoned[g] = NAN;
  a.far = far;
  a.s.t = 0.3;
  a.s.sum = sum;
  a.s.y = r->y.data.at;
  const coupled_sums_args sums = {.s = a.s, .end = l->count, .sum = sum};
  if (l->sums > 0) k->sums(&sums);
  a.s.y = poisoned;
  k->near(&a);
  for (int64_t f = 0; f < a.far_count; f++) {
    for (int c = 0; c < l->fields; c++) {
      if (isnan(out[(int64_t)far[f] * l->fields + c])) continue;
      fail_msg("%s: point %d is near and far", r->system->name, (int)far[f]);
    }
  }
  a.s.y = r->y.data.at;
  k->far(&a);
  alloc_free(&far);
  alloc_free(&poisoned);
  alloc_free(&sum);
}

static void compare(const coupled_run *r, const double *want, const double *got, int64_t count,
                    const char *what) {
  for (int64_t i = 0; i < count; i++) {
    if (bits_of(want[i]) == bits_of(got[i])) continue;
    fail_msg("%s of %s, %lld points: number %lld is %.17g, not %.17g", what, r->system->name,
             (long long)r->layout.n, (long long)i, got[i], want[i]);
  }
}

static void check_jacobian(coupled_run *r, const kernels *k) {
  const coupled_layout *l = &r->layout;
  csr_block *m = &r->newton->rows;
  const eidx entries = m->offset[m->rows];
  const lidx half = l->count / 2;
  coupled_jacobian_args a = {.scale = 0.7, .end = half, .offset = m->offset};
  double *got;
  assert_ok(BACKEND_ref.coupled->jacobian(r->place, r->work, 0.3, r->y, 0.7, m));
  assert_ok(alloc_array(&got, entries, sizeof *got, "test"));
  coupled_state_of(l, &r->functions, &a.s);
  a.s.t = 0.3;
  a.s.y = r->y.data.at;
  a.entry = got;
  k->jacobian(&a);
  a.begin = half;
  a.end = l->count;
  a.offset += (int64_t)half * l->fields;
  a.before = a.offset[0];
  a.entry = got + a.before;
  k->jacobian(&a);
  compare(r, m->value, got, entries, "the Jacobian");
  alloc_free(&got);
}

static void check(coupled_run *r, const kernels *k, int at_once) {
  assert_ok(BACKEND_ref.fill(r->place, r->v, NAN));
  assert_ok(BACKEND_ref.coupled->rhs(r->place, r->work, PART_ALL, 0.3, r->y, r->u));
  run_rhs(r, k, at_once, r->v.data.at);
  compare(r, r->u.data.at, r->v.data.at, r->space.rows, "the derivative");
  if (r->newton != NULL) check_jacobian(r, k);
}

static void same_bits(void **state) {
  (void)state;
  int64_t near = 0, far = 0;
  for (int i = 0; i < COUPLED_CASE_COUNT; i++) {
    const coupled_case *is = &COUPLED_CASES[i];
    const char *method = i == 6 || i == 7 ? "tsit5" : "tr-bdf2";
    coupled_try all, alone;
    kernels k;
    coupled_case_open(&all, &BACKEND_ref, world, 1, is, method, 1.0, 0.0);
    coupled_case_open(&alone, &BACKEND_ref, self, 1, is, method, 1.0, 0.0);
    module *code = build(&all.run, is->at_once, &k);
    check(&all.run, &k, is->at_once);
    check(&alone.run, &k, is->at_once);
    const coupled_layout *l = &all.run.layout;
    const coupled_near points = coupled_near_of(l, is->at_once);
    const int64_t others = coupled_far_of(l, &points, is->at_once, NULL);
    near += l->count - others;
    far += others;
    coupled_try_close(&all);
    coupled_try_close(&alone);
    module_release(&code);
  }
  if (near < 2000 || far < 2000) fail_msg("%lld near, %lld far", (long long)near, (long long)far);
}

/* By the inverse, as by division: lines of every length, at their ends. */
#define COUPLED_N_FIELDS             1
#define COUPLED_N_REACHES            1
#define COUPLED_N_VALUES             0
#define COUPLED_N_SUMS               0
#define COUPLED_AT_ONCE              1
#define COUPLED_IS_GRID              1
#define coupled_value(in, out)       (void)((out)[0] = (in)[0])
#define coupled_jacobian_value       coupled_value
#define coupled_sum_value            coupled_value
#define coupled_look(y, line, s, in) (void)((in)[0] = (y)[(s) * (line)])
#define pair_store(at, a, b)         (void)((at)[0] = (a), (at)[1] = (b))
#include "coupled_thread.h"

static void lines(void **state) {
  (void)state;
  for (gidx n = 1; n < INT64_C(1) << 46; n += n / 7 + 1) {
    const double inverse = 1.0 / (double)n;
    for (gidx line = 0; line < (INT64_C(1) << 47) / n; line += line / 3 + 1) {
      for (int way = 0; way < 3; way++) {
        const gidx p = line * n + (way == 0 ? 0 : way == 1 ? n / 2 : n - 1);
        if (coupled_line_of(p, n, inverse) != line) {
          fail_msg("%lld of %lld", (long long)p, (long long)n);
        }
      }
    }
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(lines)};
  int pid;
  const int end = test_helper(&pid);
  const char *source = getenv("HALOSWEEP_SOURCE");
  snprintf(folder, sizeof folder, "%s/cuda", source != NULL ? source : ".");
  test_own_cache("coupled_text_cache", 0);
  assert_ok(comm_open(&argc, &argv, &world));
  assert_ok(comm_self(&self));
  assert_ok(compiler_open(end, pid, &with));
  compiler_settle(with, world);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  compiler_close(&with);
  comm_close(&self);
  comm_close(&world);
  return failed;
}
