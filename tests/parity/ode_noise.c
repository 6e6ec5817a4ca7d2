/* Trajectories with noise on every CPU backend: the same bits in one go and interrupted, in threads
 * and batches, beside neighbours at other steps of their paths; every path another (cases 155, 157
 * and 158). */
#include <stdio.h>
#include <stdlib.h>

#include "compiler.h"
#include "ode_try.h"

static comm *world;
static compiler *with;

static const char *const names[] = {"t", "x", "y", "z", "r", NULL};
static const char *const drift[] = {"-0.5*x + r/50", "x - y*z + sin(3*t)", "0.1 - z"};
static const char *const blow[] = {"r*x*x/12", "-y", "x - z"};
static const char *const own[] = {"0.3*x", "0.2 + 0.1*sin(y)", "0.2*sqrt(1 + z*z)"};
static const char *const both[] = {"0.3*x", "0.1*x", "0.2*y", "-0.4*y", "0", "0.1*z"};
static const char *const mixed[] = {"0.3*y", "0.1", "0.2*x*t", "0.1*z", "0", "0.2*x"};
static const char *const plain[] = {"0.1", "0.2*t", "0.3"};
static double saves[] = {0.0, 0.05, 0.1, 0.3333, 0.5, 0.9999, 1.0}, *saves_at = saves;

typedef struct noisy {
  const char *what;
  const char *const *rhs, *const *noise;
  int noises, diagonal, variant, stratonovich, antithetic, has_event, saves, steps;
} noisy;

static const noisy ALL[] = {
    {"euler-maruyama", drift, own, 3, 1, ODE_EULER_MARUYAMA, 0, 0, 0, 7, 91},
    {"milstein, diagonal", drift, own, 3, 1, ODE_MILSTEIN, 0, 1, 0, 0, 96},
    {"milstein, commuting", drift, both, 2, 0, ODE_MILSTEIN, 0, 0, 0, 7, 40},
    {"milstein, Stratonovich", drift, both, 2, 0, ODE_MILSTEIN, 1, 1, 1, 7, 128},
    {"Heun", drift, mixed, 2, 0, ODE_EULER_MARUYAMA, 1, 0, 1, 0, 64},
    {"additive", drift, plain, 3, 1, ODE_MILSTEIN, 0, 0, 0, 0, 70},
    {"not finite", blow, own, 3, 1, ODE_EULER_MARUYAMA, 0, 0, 0, 7, 90},
    {"not finite, Milstein", blow, both, 2, 0, ODE_MILSTEIN, 0, 0, 1, 0, 72}};
enum { SETTINGS = sizeof ALL / sizeof *ALL };

static void open_one(ode_try *e, const backend *b, compiler *c, int threads, const noisy *is,
                     int64_t first, int64_t count) {
  ode_setting setting = {.names = names, .rhs = is->rhs, .components = 3, .parameters = 1};
  ode_plan *p = &setting.plan;
  p->kind = ODE_NOISY;
  p->variant = is->variant;
  p->noises = is->noises;
  p->diagonal = is->diagonal;
  p->stratonovich = is->stratonovich;
  p->antithetic = is->antithetic;
  p->t_end = 1.0;
  p->dt = 1.0 / is->steps;
  p->seed = 77;
  p->saves = is->saves;
  p->save_at.at = saves_at;
  if (is->has_event) setting.event = "x - 1.4";
  ode_try_open_noisy(e, b, world, c, threads, &setting, is->noise, count);
  e->s.first = first;
  for (int64_t i = 0; i < count; i++) {
    const double s = (double)(first + i) / 100.0;
    for (int k = 0; k < 3; k++) *ode_try_y(e, k, i) = k == 1 ? 1.0 - s : 1.0 + 0.2 * s;
    *ode_try_p(e, 0, i) = 5.0 + (double)((first + i) % 17);
  }
}

/* That trajectories of b from `from` on are those of a. */
static void compare(const ode_try *a, const ode_try *b, int64_t from, const char *what) {
  for (int64_t i = 0; i < b->s.count; i++) {
    const int64_t j = from + i;
    int differ = ode_try_status(a, j) != ode_try_status(b, i) ||
                 bits_of(ode_try_t(a, j)) != bits_of(ode_try_t(b, i)) ||
                 ode_try_steps(a, j) != ode_try_steps(b, i);
    for (int c = 0; c < 3; c++) {
      differ |= bits_of(*ode_try_y(a, c, j)) != bits_of(*ode_try_y(b, c, i));
    }
    for (int64_t k = 0; k < a->plan.saves * 3; k++) {
      const double x = ((double *)a->s.saved.at)[k * a->s.count + j];
      const double y = ((double *)b->s.saved.at)[k * b->s.count + i];
      differ |= x == x || y == y ? bits_of(x) != bits_of(y) : 0;
    }
    if (!differ) continue;
    fail_msg("%s: trajectory %d: status %d %d, t %.17g %.17g, steps %d %d, x %.17g %.17g", what,
             (int)j, ode_try_status(a, j), ode_try_status(b, i), ode_try_t(a, j), ode_try_t(b, i),
             (int)ode_try_steps(a, j), (int)ode_try_steps(b, i), *ode_try_y(a, 0, j),
             *ode_try_y(b, 0, i));
  }
}

/* Some trajectories go ahead of others: neighbours are at other steps afterwards. */
static void scatter(ode_try *e) {
  unsigned char *is = e->s.status.at;
  for (int turn = 0; turn < 4; turn++) {
    for (int64_t i = 0; i < e->s.count; i++) {
      if (is[i] == ODE_RUNNING && (i * i + i / 3) % 5 != turn) is[i] = ODE_STATUSES;
    }
    assert_ok(e->kernels->ode->advance(e->place, e->kernel, &e->s, 3 * turn + 1));
    for (int64_t i = 0; i < e->s.count; i++) {
      if (is[i] == ODE_STATUSES) is[i] = ODE_RUNNING;
    }
  }
}

static void same_bits(void **state) {
  (void)state;
  static const int64_t counts[] = {257, 65, 64, 300, 63, 1, 257, 131};
  int ends[ODE_STATUSES] = {0};
  for (int k = 0; k < SETTINGS; k++) {
    ode_try ref, other;
    char what[100];
    open_one(&ref, &BACKEND_ref, NULL, 1, &ALL[k], 10, counts[k]);
    ode_try_run(&ref, INT64_MAX);
    for (int64_t i = 0; i < counts[k]; i++) ends[ode_try_status(&ref, i)]++;
    for (int way = 0; way < 6; way++) {
      const int64_t from = way == 5 ? counts[k] / 3 : 0; /* another batch */
      snprintf(what, sizeof what, "%s, way %d", ALL[k].what, way);
      open_one(&other, way == 0 ? &BACKEND_ref : &BACKEND_omp, way == 3 ? NULL : with,
               way == 2 ? 3 : 1, &ALL[k], 10 + from, counts[k] - from);
      if (way == 4) scatter(&other);
      ode_try_run(&other, way == 0 ? 13 : way == 2 ? 7 : INT64_MAX);
      compare(&ref, &other, from, what);
      ode_try_close(&other);
    }
    ode_try_close(&ref);
  }
  assert_true(ends[ODE_DONE] > 300 && ends[ODE_EVENT] > 30 && ends[ODE_NOT_FINITE] > 30);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* Case 155: the final values of 10000 paths are all different, and the same for any threads. */
static void distinct(void **state) {
  (void)state;
  enum { PATHS = 10000 };
  static const char *const one[] = {"t", "x", NULL}, *const rhs[] = {"0.05*x"};
  static const char *const noise[] = {"0.2*x"};
  static double end[3][PATHS];
  ode_setting setting = {.names = one, .rhs = rhs, .components = 1};
  setting.plan = (ode_plan){.kind = ODE_NOISY, .noises = 1, .t_end = 1.0, .dt = 0.125, .seed = 5};
  for (int k = 0; k < 3; k++) {
    ode_try e;
    ode_try_open_noisy(&e, &BACKEND_omp, world, with,
                       k == 0   ? 1
                       : k == 1 ? 2
                                : 8,
                       &setting, noise, PATHS);
    for (int64_t i = 0; i < PATHS; i++) *ode_try_y(&e, 0, i) = 1.0;
    ode_try_run(&e, INT64_MAX);
    for (int64_t i = 0; i < PATHS; i++) end[k][i] = *ode_try_y(&e, 0, i);
    ode_try_close(&e);
  }
  for (int64_t i = 0; i < PATHS; i++) {
    assert_same_bits(end[1][i], end[0][i]);
    assert_same_bits(end[2][i], end[0][i]);
  }
  qsort(end[0], PATHS, sizeof(double), ascending);
  for (int64_t i = 1; i < PATHS; i++) assert_true(end[0][i - 1] < end[0][i]);
}

/* Case 158: the increments after an interruption are not those from the start again. */
static void goes_on(void **state) {
  (void)state;
  static const char *const one[] = {"t", "x", NULL}, *const rhs[] = {"0"};
  static const char *const noise[] = {"1"};
  double middle[65];
  ode_setting setting = {.names = one, .rhs = rhs, .components = 1};
  setting.plan = (ode_plan){.kind = ODE_NOISY, .noises = 1, .t_end = 2.0, .dt = 0.125, .seed = 5};
  ode_try e;
  ode_try_open_noisy(&e, &BACKEND_omp, world, with, 1, &setting, noise, 65);
  assert_ok(e.kernels->ode->advance(e.place, e.kernel, &e.s, 8));
  for (int64_t i = 0; i < 65; i++) middle[i] = *ode_try_y(&e, 0, i);
  assert_ok(e.kernels->ode->advance(e.place, e.kernel, &e.s, 8));
  for (int64_t i = 0; i < 65; i++) {
    assert_int_equal(ode_try_status(&e, i), ODE_DONE);
    assert_true(fabs(*ode_try_y(&e, 0, i) - 2.0 * middle[i]) > 1e-6);
  }
  ode_try_close(&e);
}

/* What is saved at the instants of steps, though times are rounded, is the state there, bit for
 * bit; between them, the line. Looking changes nothing. */
static void saved(void **state) {
  (void)state;
  enum { STEPS = 40, PATHS = 64 };
  const noisy quiet = {"", drift, own, 3, 1, ODE_MILSTEIN, 0, 0, 0, 0, STEPS};
  const noisy looked = {"", drift, own, 3, 1, ODE_MILSTEIN, 0, 0, 0, 2 * STEPS + 1, STEPS};
  static double at[2 * STEPS + 1], states[STEPS + 1][3][PATHS];
  for (int k = 0; k <= 2 * STEPS; k++) at[k] = k / (2.0 * STEPS);
  double *kept = saves_at;
  saves_at = at;
  ode_try step, all, plain_run;
  open_one(&step, &BACKEND_ref, NULL, 1, &quiet, 3, PATHS);
  open_one(&plain_run, &BACKEND_omp, with, 1, &quiet, 3, PATHS);
  open_one(&all, &BACKEND_omp, with, 1, &looked, 3, PATHS);
  saves_at = kept;
  for (int k = 0; k <= STEPS; k++) {
    memcpy(states[k], step.s.y.at, sizeof states[k]);
    assert_ok(step.kernels->ode->advance(step.place, step.kernel, &step.s, 1));
  }
  ode_try_run(&plain_run, INT64_MAX);
  ode_try_run(&all, INT64_MAX);
  for (int i = 0; i < 3 * PATHS; i++) {
    const int c = i / PATHS, path = i % PATHS;
    assert_same_bits(*ode_try_y(&plain_run, c, path), *ode_try_y(&all, c, path));
    for (int k = 0; k <= 2 * STEPS; k++) {
      const double found = ((double *)all.s.saved.at)[k * 3 * PATHS + i];
      const double a = states[k / 2][c][path], b = states[k / 2 + k % 2][c][path];
      if (k % 2 == 0) assert_same_bits(found, a);
      assert_true(fabs(found - 0.5 * (a + b)) < 1e-14);
    }
  }
  ode_try_close(&step);
  ode_try_close(&plain_run);
  ode_try_close(&all);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(distinct),
                                     cmocka_unit_test(goes_on), cmocka_unit_test(saved)};
  int pid;
  const int end = test_helper(&pid);
  test_own_cache("ode_noise_cache", 0);
  assert_ok(comm_open(&argc, &argv, &world));
  assert_ok(compiler_open(end, pid, &with));
  compiler_settle(with, world);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  compiler_close(&with);
  comm_close(&world);
  return failed;
}
