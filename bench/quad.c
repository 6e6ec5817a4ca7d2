/* What integrals cost: bench_quad [POINTS [ROUNDS [PROGRAM]]], under mpirun for several ranks, one
 * thread each. JSON.
 *
 * A trapezoid over POINTS (1e8) points of sin(x) exp(-0.05 x), the same operations as an
 * expression, as the built-in `demo`, and from a C file, against a loop with the C library's scalar
 * functions and a plain sum over the same share of the points. Then a family: 64 points of
 * Gauss-Legendre a member, as many evaluations in all. Ways are interleaved; times are medians, of
 * the slowest rank, by the wall's clock and by the processor's (which a neighbour's load disturbs
 * less). With PROGRAM (the halosweep binary; 1 rank): seconds from start to answer of a small
 * integral, cold and cached, and of a program that only says its version. */
#define _GNU_SOURCE
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend.h"
#include "comm.h"
#include "compiling.h"
#include "function.h"
#include "integrands.h"
#include "log.h"
#include "measured.h"
#include "quad_sweep.h"

extern char **environ;

enum { ROUNDS_MAX = 51, NODES = 64, WAYS = 5 };
enum { EXPRESSION, BUILT_IN, C_FILE, FAMILY, LIBRARY };
static const char *const WAY[WAYS] = {"expression", "built_in", "c_file", "family", "libm_scalar"};
static const double PI = 3.14159265358979323846;

typedef struct bench {
  comm *c;
  compiler *with;
  device *place;
  int64_t points;
  int rounds;
  function *f[LIBRARY];
  double wall[WAYS][ROUNDS_MAX], busy[WAYS][ROUNDS_MAX], value[WAYS];
} bench;

static double processor_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What one would write without halosweep; this rank's share of the points. */
static double library_sum(int64_t points, int rank, int size) {
  const double step = PI / (double)(points - 1);
  const int64_t begin = points / size * rank,
                end = rank == size - 1 ? points : begin + points / size;
  double sum = 0.0;
  for (int64_t i = begin; i < end; i++) {
    const double x = (double)i * step, y = sin(x) * exp(-0.05 * x);
    sum += i == 0 || i == points - 1 ? 0.5 * y : y;
  }
  return step * sum;
}

static status make(bench *b, int way, const char *text, const char *const *names) {
  static const char *const where[] = {"bench"};
  const char *const texts[] = {text};
  const function_request r = {.texts = texts,
                              .where = where,
                              .names = names,
                              .outputs = 1,
                              .prototype = "double integrand(const double *x, const double *p)",
                              .call = "out[0] = integrand(in, in + 1);"};
  return function_create(b->c, b->with, &r, &b->f[way]);
}

static status make_all(bench *b, const char *file) {
  status rc = STATUS_OK;
  static const char *const x[] = {"x", NULL}, *const indexed[] = {"x[0]", "k", NULL};
  static const char *const family[] = {"x", "a", NULL};
  char text[INTEGRAND_TEXT];
  integrand_text(integrand_find("demo"), 1, text);
  TRY(make(b, EXPRESSION, "sin(x)*exp(-0.05*x)", x));
  TRY(make(b, BUILT_IN, text, indexed));
  TRY(make(b, C_FILE, file, indexed));
  TRY(make(b, FAMILY, "sin(x)*exp(-a*x)", family));
done:
  return rc;
}

static status integrate(bench *b, int way, double *value) {
  status rc = STATUS_OK;
  static const double k[] = {0.05};
  const formula *f = function_formula(b->f[way]);
  quad_run run = {.kernels = &BACKEND_omp, .place = b->place, .world = b->c};
  run.integral = (quad_integral){.dims = 1, .f = f, .parameters = k};
  run.integral.upper[0] = PI;
  run.limits = (quad_limits){
      .rtol = 1e-10, .atol = 1e-14, .max_evaluations = 1 << 30, .n = b->points, .panels = 1};
  TRY(run.kernels->quad->create(b->place, f, 1, &run.work));
  rc = quad_integrate(&run, quad_rule_find("trapezoid"));
  *value = run.value;
  run.kernels->quad->release(b->place, &run.work);
done:
  return rc;
}

static status integrate_family(bench *b, double *value) {
  status rc = STATUS_OK;
  double room[1] = {0.0};
  const formula *f = function_formula(b->f[FAMILY]);
  const int64_t members = b->points / NODES;
  sweep swept = {.grid = {.axes = 1, .members = members}};
  swept.grid.axis[0] = (sweep_axis){
      .kind = SWEEP_LINSPACE, .count = members, .high = 1.0, .step = 1.0 / (double)(members - 1)};
  quad_sweep s = {.swept = &swept};
  quad_run run = {.kernels = &BACKEND_omp, .place = b->place, .world = b->c};
  run.integral = (quad_integral){.dims = 1, .f = f, .parameters = room};
  run.integral.upper[0] = PI;
  run.limits = (quad_limits){.rtol = 1e-10, .atol = 1e-14, .n = NODES, .panels = 1};
  TRY(run.kernels->quad->create(b->place, f, 1, &run.work));
  rc = quad_sweep_run(&run, quad_rule_find("gauss-legendre"), &s);
  *value = (double)run.evaluations;
  quad_sweep_release(&s);
  run.kernels->quad->release(b->place, &run.work);
done:
  return rc;
}

static status once(bench *b, int way, int round) {
  status rc = STATUS_OK;
  double clocks[2];
  TRY(comm_agree(b->c, STATUS_OK)); /* begin together */
  const double began = comm_clock(), busy = processor_clock();
  if (way == LIBRARY)
    b->value[way] = library_sum(b->points, comm_rank(b->c), comm_size(b->c));
  else
    TRY(way == FAMILY ? integrate_family(b, &b->value[way]) : integrate(b, way, &b->value[way]));
  clocks[0] = comm_clock() - began;
  clocks[1] = processor_clock() - busy;
  TRY(comm_max_f64(b->c, clocks, 2));
  b->wall[way][round] = clocks[0];
  b->busy[way][round] = clocks[1];
done:
  return rc;
}

static void print_ways(bench *b) {
  double busy[WAYS];
  printf(" \"ways\": {\n");
  for (int w = 0; w < WAYS; w++) {
    busy[w] = median_of(b->busy[w], b->rounds);
    printf("  \"%s\": {\"wall_seconds\": %.4f, \"processor_seconds\": %.4f, \"best\": %.4f, "
           "\"evaluations_per_second\": %.4g, \"result\": %.17g}%s\n",
           WAY[w], median_of(b->wall[w], b->rounds), busy[w], b->busy[w][0],
           (double)b->points / busy[w], b->value[w], w + 1 < WAYS ? "," : "},");
  }
  printf(" \"speedup_over_libm\": %.2f, \"built_in_over_expression\": %.3f, "
         "\"c_file_over_expression\": %.3f,\n \"family_rate_over_expression\": %.3f, "
         "\"members_per_second\": %.4g",
         busy[LIBRARY] / busy[EXPRESSION], busy[BUILT_IN] / busy[EXPRESSION],
         busy[C_FILE] / busy[EXPRESSION], busy[EXPRESSION] / busy[FAMILY],
         (double)b->points / NODES / busy[FAMILY]);
}

/* Seconds of a process from start to end; negative when it fails. */
static double run_program(char *const words[]) {
  int pid, code;
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", 1, 0);
  posix_spawn_file_actions_adddup2(&quiet, 1, 2);
  const double began = comm_clock();
  const int failed = posix_spawn(&pid, words[0], &quiet, NULL, words, environ);
  const int ended =
      failed == 0 && waitpid(pid, &code, 0) == pid && WIFEXITED(code) && WEXITSTATUS(code) == 0;
  const double seconds = comm_clock() - began;
  posix_spawn_file_actions_destroy(&quiet);
  return ended ? seconds : -1.0;
}

static void print_starts(bench *b, char *program) {
  char *const answer[] = {program,   "quad", "sin(x)*exp(-0.05*x)", "--lower", "0", "--upper", "pi",
                          "--quiet", NULL};
  char *const bare[] = {program, "info", "--quiet", NULL}, *const version[] = {program, "--version",
                                                                               NULL};
  double cached[ROUNDS_MAX], starts[ROUNDS_MAX], nothing[ROUNDS_MAX];
  unsetenv("OMPI_COMM_WORLD_SIZE");
  const double cold = run_program(answer);
  for (int r = 0; r < b->rounds; r++) {
    cached[r] = run_program(answer);
    starts[r] = run_program(bare);
    nothing[r] = run_program(version);
  }
  printf(",\n \"start_to_answer_seconds\": {\"cold\": %.4f, \"cached\": %.4f, \"info_with_mpi\": "
         "%.4f, \"version_without_mpi\": %.4f}",
         cold, median_of(cached, b->rounds), median_of(starts, b->rounds),
         median_of(nothing, b->rounds));
}

static status write_c_file(const char *path) {
  FILE *f = fopen(path, "w");
  if (f == NULL) return STATUS_IO;
  fputs("#include <math.h>\n"
        "double integrand(const double *x, const double *p) {\n"
        "  return sin(x[0])*exp(-p[0]*x[0]);\n}\n",
        f);
  return fclose(f) == 0 ? STATUS_OK : STATUS_IO;
}

int main(int argc, char **argv) {
  static bench b;
  char folder[] = "/tmp/halosweep-bench-XXXXXX", file[64], clean[64];
  const device_request request = {.threads = 1};
  double load[1] = {0.0};
  status rc = STATUS_OK;
  b.points = argc > 1 ? (int64_t)strtod(argv[1], NULL) : 100000000;
  b.rounds = argc > 2 ? atoi(argv[2]) : 7;
  if (b.rounds < 1 || b.rounds > ROUNDS_MAX || b.points < 2 * NODES) return 2;
  if (mkdtemp(folder) == NULL) return 2;
  setenv("XDG_CACHE_HOME", folder, 1);
  snprintf(file, sizeof file, "%s/demo.c", folder);
  TRY(write_c_file(file));
  if (getloadavg(load, 1) != 1) load[0] = -1.0;
  TRY(start_compiler(&b.with));
  TRY(comm_open(&argc, &argv, &b.c));
  TRY(make_all(&b, file));
  TRY(BACKEND_omp.open(&request, &b.place));
  for (int round = 0; round < b.rounds; round++) {
    for (int way = 0; way < WAYS; way++) TRY(once(&b, way, round));
  }
  if (comm_rank(b.c) != 0) goto done;
  printf("{\"ranks\": %d, \"points\": %lld, \"rounds\": %d, \"load_at_start\": %.2f,\n",
         comm_size(b.c), (long long)b.points, b.rounds, load[0]);
  print_ways(&b);
  if (argc > 3 && comm_size(b.c) == 1) print_starts(&b, argv[3]);
  printf("}\n");
done:
  for (int way = 0; way < LIBRARY; way++) function_release(&b.f[way]);
  if (b.place != NULL) BACKEND_omp.close(&b.place);
  compiler_close(&b.with);
  if (b.c != NULL) comm_close(&b.c);
  snprintf(clean, sizeof clean, "rm -rf %s", folder);
  if (system(clean) != 0) rc = STATUS_IO;
  return (int)rc;
}
