/* bench_gpu_quad [FILE.json]: quadrature on one GPU.
 *
 *  - compiling a kernel by NVRTC;
 *  - the sum operation, from its call to the collected sum, at 1e8 points of sin(x) exp(-0.05 x) by
 *    the trapezoid rule: as an expression, a built-in integrand (whose text is an expression) and a
 *    C file; target 0.32 ms, and 5 % of each other;
 *  - a family of 1e6 integrals by 64-point Gauss-Legendre, in the batches a sweep makes and as one,
 *    against the rate of the same integrand summed; target 90 %;
 *  - a Genz integrand in five directions to 1e-6 by genz-malik, on the GPU and on one core of this
 *    host; target 20 times.
 *
 * Medians of REPEATS runs by the host's clock. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "elementary_array.h"
#include "measured.h"
#include "quad_run.h"
#include "quad_sweep.h"

enum { REPEATS = 15, FAMILY = 1000000, BATCH = 1 << 16, NODES = 64 };

static FILE *json;
static comm *world;

#define VALUE "PORTABLE void formula_value(const double *in, double *out) "

static const char *const EXPRESSION =
    VALUE "{ const double t0 = elementary_sin(in[0]); const double t1 = -0.05*in[0];\n"
          "  const double t2 = elementary_exp(t1); out[0] = t0*t2; }\n";
static const char *const C_FILE =
    "#include <math.h>\n#include \"elementary.h\"\n#include \"halosweep_functions.h\"\n"
    "double integrand(const double *x, const double *p) { return sin(x[0])*exp(-0.05*x[0]); "
    "}\n" VALUE "{ out[0] = integrand(in, in + 1); }\n";
static const char *const MEMBER =
    VALUE "{ out[0] = elementary_sin(in[1]*in[0])*elementary_exp(-0.05*in[0]); }\n";

static quad_grid trapezoid(int64_t points) {
  quad_grid g = {.dims = 1, .points = points, .scale = 1.0};
  const double pi = 3.14159265358979323846;
  g.axis[0] = (quad_axis){.kind = QUAD_TRAPEZOID,
                          .upper = pi,
                          .step = pi / (double)(points - 1),
                          .count = points,
                          .panels = 1};
  return g;
}

/* Seconds of one sum with its collection. */
static status time_sum(const backend *b, device *d, const char *text, int inputs, int64_t points,
                       double *seconds, double *sum, double *first) {
  status rc = STATUS_OK;
  const formula f = {.inputs = inputs, .outputs = 1, .text = text, .kind = "test"};
  const double parameter = 1.0;
  const quad_grid g = trapezoid(points);
  double t[REPEATS];
  quad_work *w = NULL;
  wide total;
  const double start = comm_clock();
  TRY(b->quad->create(d, &f, 1, &w));
  for (int r = -2; r < REPEATS; r++) {
    const double begin = comm_clock();
    TRY(b->quad->sum(d, w, &g, &parameter, 0, quad_blocks(&g)));
    TRY(b->quad->collect(d, world, 1, &total));
    if (r >= 0) t[r] = comm_clock() - begin;
    if (r == -2) *first = comm_clock() - start;
  }
  *sum = g.axis[0].step * wide_round(&total);
  *seconds = median_of(t, REPEATS);
done:
  b->quad->release(d, &w);
  return rc;
}

static status bench_sums(const backend *b, device *d) {
  status rc = STATUS_OK;
  const int64_t POINTS = 100000000;
  double seconds, c_seconds, sum, c_sum, first;
  TRY(time_sum(b, d, EXPRESSION, 1, POINTS, &seconds, &sum, &first));
  measured_line(json, "first sum, kernel compiled or kept", first * 1e3, "ms", 0.0);
  measured_line(json, "trapezoid, 1e8 points, expression or built-in", seconds * 1e3, "ms", 0.32);
  TRY(time_sum(b, d, EXPRESSION, 1, 3 * POINTS, &c_seconds, &c_sum, &first));
  measured_line(json, "  each further 1e8 points", (c_seconds - seconds) / 2.0 * 1e3, "ms", 0.0);
  TRY(time_sum(b, d, C_FILE, 1, POINTS, &c_seconds, &c_sum, &first));
  measured_line(json, "trapezoid, 1e8 points, C file", c_seconds * 1e3, "ms", 0.32);
  printf("  %.17g, %.17g\n", sum, c_sum);
done:
  return rc;
}

static status time_members(const backend *b, device *d, quad_work *w, const quad_grid *g,
                           int64_t batch, double *seconds) {
  status rc = STATUS_OK;
  double t[REPEATS], last;
  dptr sums = {NULL};
  quad_family family = {.fixed_count = 0};
  family.swept.axes = 1;
  family.swept.members = FAMILY;
  family.swept.axis[0] = (sweep_axis){SWEEP_LINSPACE, FAMILY, 0.5, 1.5, 1.0 / (FAMILY - 1), {NULL}};
  TRY(b->alloc(d, FAMILY * 8, "sums", &sums));
  for (int r = -2; r < REPEATS; r++) {
    const double begin = comm_clock();
    for (int64_t at = 0; at < FAMILY; at += batch) {
      const int64_t count = FAMILY - at < batch ? FAMILY - at : batch;
      TRY(b->quad->members(d, w, g, &family, at, count, (dptr){(double *)sums.at + at}));
    }
    TRY(b->copy_out(d, (hptr){&last}, (dptr){(double *)sums.at + FAMILY - 1}, 8));
    if (r >= 0) t[r] = comm_clock() - begin;
  }
  *seconds = median_of(t, REPEATS);
done:
  b->release(d, &sums);
  return rc;
}

static status bench_family(const backend *b, device *d) {
  status rc = STATUS_OK;
  const formula f = {.inputs = 2, .outputs = 1, .text = MEMBER, .kind = "test"};
  const quad_rule *rule = quad_rule_find("gauss-legendre");
  double table[3 * NODES], seconds, scale, sum, first;
  quad_work *w = NULL;
  dptr there = {NULL};
  quad_grid g = trapezoid(NODES);
  TRY(time_sum(b, d, MEMBER, 2, INT64_C(64) * FAMILY, &seconds, &sum, &first));
  const double rate = 64.0 * FAMILY / seconds;
  measured_line(json, "the same integrand summed, evaluations", rate * 1e-9, "1e9/s", 0.0);
  TRY(rule->axis(NODES, 1, 1, 0, &g.axis[0], &scale));
  TRY(rule->table(NODES, 1, 0, table, table + NODES, table + 2 * NODES));
  TRY(b->alloc(d, sizeof table, "nodes", &there));
  TRY(b->copy_in(d, there, (hptr){table}, sizeof table));
  g.axis[0].node.at = there.at;
  g.axis[0].weight.at = (double *)there.at + NODES;
  g.axis[0].coarse.at = (double *)there.at + 2 * NODES;
  TRY(b->quad->create(d, &f, 1, &w));
  TRY(time_members(b, d, w, &g, FAMILY, &seconds));
  measured_line(json, "family of 1e6, 64 points each, one call", seconds * 1e3, "ms", 0.0);
  measured_line(json, "  of the summing rate", 64.0 * FAMILY / seconds / rate, "", 0.9);
  TRY(time_members(b, d, w, &g, BATCH, &seconds));
  measured_line(json, "family of 1e6, batches of 65536", seconds * 1e3, "ms", 0.0);
  measured_line(json, "  of the summing rate", 64.0 * FAMILY / seconds / rate, "", 0.9);
done:
  b->quad->release(d, &w);
  b->release(d, &there);
  return rc;
}

/* Genz's Gaussian and corner peak: what a compiled expression would be. */
static void gaussian(const void *context, int64_t n, const formula_input *in, double *const *out) {
  (void)context;
  for (int64_t i = 0; i < n; i++) {
    double sum = 0.0;
    for (int d = 0; d < 5; d++) {
      const double t = in[d].at[i] - 0.4;
      sum = fma(t, t, sum);
    }
    out[0][i] = elementary_exp(-9.0 * sum);
  }
}

static const char *const GAUSSIAN =
    VALUE "{ double sum = 0.0; for (int d = 0; d < 5; d++) { const double t = in[d] - 0.4; sum = "
          "fma(t, t, sum); } out[0] = elementary_exp(-9.0*sum); }\n";

static status time_genz(const backend *b, double rtol, double *seconds, quad_run *run) {
  status rc = STATUS_OK;
  enum { TIMES = 3 };
  const formula f = {
      .inputs = 5, .outputs = 1, .text = GAUSSIAN, .batch = gaussian, .kind = "test"};
  const device_request request = {.threads = 1};
  device *d = NULL;
  *seconds = 1e300;
  TRY(b->open(&request, &d));
  for (int r = 0; r < TIMES; r++) {
    memset(run, 0, sizeof *run);
    run->kernels = b;
    run->place = d;
    run->world = world;
    run->integral = (quad_integral){.dims = 5, .f = &f};
    for (int i = 0; i < 5; i++) run->integral.upper[i] = 1.0;
    run->limits = (quad_limits){.rtol = rtol, .max_evaluations = INT64_C(1) << 40, .panels = 1};
    TRY(b->quad->create(d, &f, 5, &run->work));
    const double begin = comm_clock();
    TRY(quad_integrate(run, quad_rule_find("genz-malik")));
    const double took = comm_clock() - begin;
    if (took < *seconds) *seconds = took;
    b->quad->release(d, &run->work);
  }
done:
  if (d != NULL) b->close(&d);
  return rc;
}

static status bench_genz(double rtol) {
  status rc = STATUS_OK;
  quad_run gpu, cpu;
  double there, here;
  char what[80];
  TRY(time_genz(&BACKEND_cuda, rtol, &there, &gpu));
  TRY(time_genz(&BACKEND_omp, rtol, &here, &cpu));
  snprintf(what, sizeof what, "Genz Gaussian 5-D to %.0e, evaluations", rtol);
  measured_line(json, what, (double)gpu.evaluations, "", 0.0);
  measured_line(json, "  one core of this host", here * 1e3, "ms", 0.0);
  measured_line(json, "  GPU", there * 1e3, "ms", 0.0);
  measured_line(json, "  ratio", here / there, "", 20.0);
  printf("  %.17g +- %.3g, %s bits\n", gpu.value, gpu.error,
         bits_of(gpu.value) == bits_of(cpu.value) ? "the same" : "DIFFERENT");
done:
  return rc;
}

static status run(const char *file) {
  status rc = STATUS_OK;
  const backend *b = &BACKEND_cuda;
  const device_request request = {.threads = 1};
  device *d = NULL;
  device_facts facts;
  TRY(b->open(&request, &d));
  b->describe(d, &facts);
  if (file != NULL) json = fopen(file, "w");
  if (json != NULL) fprintf(json, "[{\"device\": \"%s\"}", facts.name);
  printf("%s\n", facts.name);
  TRY(bench_sums(b, d));
  TRY(bench_family(b, d));
  TRY(bench_genz(1e-6));
done:
  if (json != NULL) {
    fprintf(json, "]\n");
    fclose(json);
  }
  if (d != NULL) b->close(&d);
  return rc;
}

int main(int argc, char **argv) {
  status rc = comm_open(&argc, &argv, &world);
  if (rc == STATUS_OK) rc = run(argc > 1 ? argv[1] : NULL);
  if (rc != STATUS_OK) fprintf(stderr, "%s\n", fail_text());
  comm_close(&world);
  return rc;
}
