/* bench_heat [THREADS [REPEATS [DEPTH]]]: steps of the heat equation on the OpenMP backend, several
 * in a pass over memory, beside a plain OpenMP loop over the grid with the same compiler flags and
 * threads, and beside the backend's single stages. Prints JSON. Repeats are interleaved, medians
 * compared, minima and processor times (of all threads, for machines that are shared) printed
 * beside them.
 *
 * Prediction, from bytes alone. With B bytes/s of a triad and C point updates/s of single stages on
 * a grid that fits the second-level cache of each thread, both measured here, a point update takes
 *
 *   plain loop          max(24 / B, 1 / C)      u read, out fetched and written
 *   k stages in a pass  max(32 / (k B), 1 / C)  both fields read and written once per k stages
 *
 * with 8 bytes more per coefficient field, source, base or term that is another field, which are
 * read once per pass too. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alloc.h"
#include "heat_backend.h"
#include "measured.h"

enum { FIELDS = 4, MOST = 64, STEPS = 16 };

typedef struct problem {
  const char *name;
  int dims;
  int64_t n[HEAT_DIMS];
  int variable, stabilised; /* alpha per face; rkl2's stages */
} problem;

typedef struct setting {
  const problem *p;
  device *d;
  heat_work *w;
  heat_slab s;
  heat_field f[FIELDS];
  int threads, depth;
  double c[HEAT_DIMS];
} setting;

static const backend *const OURS = &BACKEND_omp;

/* ---- the plain loop ---- */

static double *at(heat_field f) { return f.data.at; }

static void plain_1d(const setting *x, const double *u, double *out) {
  const int64_t n = x->s.g.n[0];
  const double c = x->c[0];
#pragma omp parallel for num_threads(x->threads) schedule(static)
  for (int64_t i = 1; i < n - 1; i++) out[i] = heat_add(u[i], c, u[i - 1], u[i], u[i + 1]);
}

static void plain_2d(const setting *x, const double *u, double *out) {
  const int64_t nx = x->s.g.n[0], ny = x->s.g.n[1];
  const double cx = x->c[0], cy = x->c[1];
#pragma omp parallel for num_threads(x->threads) schedule(static)
  for (int64_t j = 1; j < ny - 1; j++) {
    for (int64_t i = j * nx + 1; i < (j + 1) * nx - 1; i++) {
      out[i] =
          heat_add(heat_add(u[i], cx, u[i - 1], u[i], u[i + 1]), cy, u[i - nx], u[i], u[i + nx]);
    }
  }
}

static void plain_3d(const setting *x, const double *u, double *out) {
  const int64_t nx = x->s.g.n[0], ny = x->s.g.n[1], nz = x->s.g.n[2], plane = nx * ny;
  const double cx = x->c[0], cy = x->c[1], cz = x->c[2];
#pragma omp parallel for num_threads(x->threads) schedule(static)
  for (int64_t k = 1; k < nz - 1; k++) {
    for (int64_t j = 1; j < ny - 1; j++) {
      const int64_t row = k * plane + j * nx;
      for (int64_t i = row + 1; i < row + nx - 1; i++) {
        const double x_only = heat_add(u[i], cx, u[i - 1], u[i], u[i + 1]);
        const double xy = heat_add(x_only, cy, u[i - nx], u[i], u[i + nx]);
        out[i] = heat_add(xy, cz, u[i - plane], u[i], u[i + plane]);
      }
    }
  }
}

static status plain(setting *x) {
  double *u = at(x->f[0]) + x->s.halo * x->s.plane, *out = at(x->f[1]) + x->s.halo * x->s.plane;
  for (int i = 0; i < STEPS; i++) {
    double *swap = u;
    (x->p->dims == 1 ? plain_1d : x->p->dims == 2 ? plain_2d : plain_3d)(x, u, out);
    u = out;
    out = swap;
  }
  return STATUS_OK;
}

/* ---- ours ---- */

/* Stage i of a step: explicit Euler, or as those of rkl2 (weights that keep values bounded). */
static heat_stage stage_of(const setting *x, int i) {
  const double dt = 1e-6;
  if (!x->p->stabilised) {
    const heat_field u = x->f[i % 2];
    return (heat_stage){.base = u, .scale = dt, .u = u, .out = x->f[1 - i % 2]};
  }
  const heat_field now = x->f[2 + i % 2], before = x->f[3 - i % 2];
  return (heat_stage){.base = x->f[0],
                      .terms = 3,
                      .weight = {1.5, -0.6, 0.05},
                      .term = {now, before, x->f[1]},
                      .scale = dt,
                      .u = now,
                      .out = before};
}

static status in_passes(setting *x, int depth) {
  status rc = STATUS_OK;
  heat_stage list[MOST];
  for (int i = 0; i < STEPS; i += depth) {
    const int count = STEPS - i < depth ? STEPS - i : depth;
    for (int k = 0; k < count; k++) list[k] = stage_of(x, i + k);
    TRY(OURS->heat->pass(x->d, x->w, list, count, PART_ALL));
  }
done:
  return rc;
}

static status passes(setting *x) { return in_passes(x, x->depth); }

static status single(setting *x) {
  status rc = STATUS_OK;
  for (int i = 0; i < STEPS; i++) {
    const heat_stage s = stage_of(x, i);
    TRY(OURS->heat->stage(x->d, x->w, &s, 0, x->s.planes));
  }
done:
  return rc;
}

/* a = b + c s on three fields: 24 bytes counted a point, 32 moved. */
static status triad(setting *x) {
  double *a = at(x->f[0]);
  const double *b = at(x->f[1]), *c = at(x->f[2]);
  const int64_t n = heat_points(&x->s);
  for (int r = 0; r < STEPS; r++) {
#pragma omp parallel for num_threads(x->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) a[i] = fma(1e-9, c[i], b[i]);
  }
  return STATUS_OK;
}

/* ---- measuring ---- */

typedef struct times {
  double best, median; /* seconds per step */
  double cpu;          /* processor seconds of all threads per step, median */
} times;

typedef status (*work)(setting *x);

enum { WORKS = 4, REPEATS_MOST = 99 };

/* Each work `repeats` times, by turns. A work of NULL is left out. */
static status measure(setting *x, const work *works, int count, int repeats, times *out) {
  status rc = STATUS_OK;
  static double spent[WORKS][REPEATS_MOST], busy[WORKS][REPEATS_MOST];
  for (int r = 0; r < repeats; r++) {
    for (int k = 0; k < count; k++) {
      if (works[k] == NULL) continue;
      const double start = comm_clock();
      const clock_t cpu = clock();
      TRY(works[k](x));
      busy[k][r] = (double)(clock() - cpu) / CLOCKS_PER_SEC / STEPS;
      spent[k][r] = (comm_clock() - start) / STEPS;
    }
  }
  for (int k = 0; k < count; k++) {
    if (works[k] == NULL) continue;
    const double middle = median_of(spent[k], repeats), cpu = median_of(busy[k], repeats);
    out[k] = (times){spent[k][0], middle, cpu};
  }
done:
  return rc;
}

static status open_problem(setting *x) {
  status rc = STATUS_OK;
  const problem *p = x->p;
  heat_medium m = {.alpha = 1.0};
  double *face = NULL;
  x->s = (heat_slab){.g = {.dims = p->dims, .n = {1, 1, 1}}, .plane = 1, .halo = 1};
  for (int d = 0; d < p->dims; d++) {
    x->s.g.n[d] = p->n[d];
    x->s.g.spacing[d] = 0.01 * (d + 1);
    x->c[d] = heat_coefficient(1e-6, 1.0, x->s.g.spacing[d]);
    if (d < p->dims - 1) x->s.plane *= p->n[d];
  }
  x->s.planes = p->n[p->dims - 1];
  const int64_t points = heat_points(&x->s);
  if (p->variable) {
    TRY(alloc_array(&face, points, sizeof *face, "coefficients"));
    for (int64_t i = 0; i < points; i++) face[i] = 1e4 + (double)(i % 1009);
    for (int d = 0; d < p->dims; d++) m.face[d] = face;
  }
  TRY(OURS->heat->create(x->d, &x->s, &m, &x->w));
  for (int i = 0; i < FIELDS; i++) {
    TRY(OURS->alloc(x->d, points * 8, "field", &x->f[i].data));
#pragma omp parallel for num_threads(x->threads) schedule(static)
    for (int64_t k = 0; k < points; k++) at(x->f[i])[k] = (double)(k % 97);
  }
  if (x->depth == 0) x->depth = OURS->heat->depth(x->d, &x->s.g, p->variable, x->s.planes);
done:
  alloc_free(&face);
  return rc;
}

static void close_problem(setting *x) {
  for (int i = 0; i < FIELDS; i++) OURS->release(x->d, &x->f[i].data);
  OURS->heat->release(x->d, &x->w);
  OURS->close(&x->d);
}

/* Points per second of single stages on a small grid of the same kind, one to each thread's cache.
 */
static status cached_rate(const problem *p, int threads, double *rate) {
  status rc = STATUS_OK;
  static const int64_t small[HEAT_DIMS][HEAT_DIMS] = {{16384, 1, 1}, {512, 32, 1}, {128, 16, 8}};
  problem q = *p;
  times t[1] = {{0}};
  const work works[] = {single};
  setting x = {.p = &q, .threads = 1, .depth = 1};
  const device_request request = {.threads = 1};
  memcpy(q.n, small[p->dims - 1], sizeof q.n);
  TRY(OURS->open(&request, &x.d));
  TRY(open_problem(&x));
  TRY(measure(&x, works, 1, 50, t));
  *rate = threads * (double)heat_owned(&x.s) / t[0].best;
done:
  close_problem(&x);
  return rc;
}

static void print_load(const char *when) {
  double load = -1.0;
  FILE *f = fopen("/proc/loadavg", "r");
  if (f != NULL) {
    if (fscanf(f, "%lf", &load) != 1) load = -1.0;
    fclose(f);
  }
  printf("  \"load_%s\": %.2f,\n", when, load);
}

static void print_times(const char *what, times t, double points) {
  printf("     \"%s\": {\"gpoints_per_s_median\": %.3f, \"gpoints_per_s_best\": %.3f, "
         "\"cpu_ns_per_point\": %.3f},\n",
         what, points / t.median * 1e-9, points / t.best * 1e-9, t.cpu * 1e9 / points);
}

static status bench_one(const problem *p, int threads, int repeats, int depth, int is_last) {
  status rc = STATUS_OK;
  setting x = {.p = p, .threads = threads, .depth = depth};
  const device_request request = {.threads = threads};
  const work works[WORKS] = {p->variable || p->stabilised ? NULL : plain, single, passes, triad};
  times t[WORKS] = {{0}};
  double cached = 0.0;
  TRY(cached_rate(p, threads, &cached));
  TRY(OURS->open(&request, &x.d));
  TRY(open_problem(&x));
  TRY(measure(&x, works, WORKS, 1, t));
  TRY(measure(&x, works, WORKS, repeats, t));
  const double points = (double)heat_owned(&x.s), bytes = 32.0 * points / t[3].best;
  const double more = 8.0 * ((p->variable ? p->dims : 0) + (p->stabilised ? 2 : 0));
  const double one = fmax((24.0 + more) / bytes, 1.0 / cached);
  const double many = fmax((32.0 + more) / (x.depth * bytes), 1.0 / cached);
  printf("    {\"problem\": \"%s\", \"stages_in_a_pass\": %d,\n", p->name, x.depth);
  printf("     \"triad_gbytes_per_s\": %.1f, \"cached_gpoints_per_s\": %.3f,\n", bytes * 1e-9,
         cached * 1e-9);
  if (works[0] != NULL) print_times("plain_loop", t[0], points);
  print_times("single_stages", t[1], points);
  print_times("passes", t[2], points);
  const times peer = t[works[0] != NULL ? 0 : 1];
  printf("     \"predicted_ratio\": %.2f, \"ratio_median\": %.2f, \"ratio_best\": %.2f, "
         "\"ratio_cpu\": %.2f}%s\n",
         one / many, peer.median / t[2].median, peer.best / t[2].best, peer.cpu / t[2].cpu,
         is_last ? "" : ",");
done:
  close_problem(&x);
  return rc;
}

int main(int argc, char **argv) {
  status rc = STATUS_OK;
  comm *world = NULL;
  static const problem problems[] = {{"1d 33554432", 1, {33554432}, 0, 0},
                                     {"2d 4096^2", 2, {4096, 4096}, 0, 0},
                                     {"3d 256^3", 3, {256, 256, 256}, 0, 0},
                                     {"2d 4096^2, variable alpha", 2, {4096, 4096}, 1, 0},
                                     {"3d 256^3, variable alpha", 3, {256, 256, 256}, 1, 0},
                                     {"2d 4096^2, rkl2", 2, {4096, 4096}, 0, 1},
                                     {"3d 256^3, rkl2", 3, {256, 256, 256}, 0, 1}};
  enum { PROBLEMS = sizeof problems / sizeof *problems };
  TRY(comm_open(&argc, &argv, &world));
  const int threads = argc > 1 ? atoi(argv[1]) : 1, repeats = argc > 2 ? atoi(argv[2]) : 9;
  const int depth = argc > 3 ? atoi(argv[3]) : 0;
  printf("{\n  \"threads\": %d,\n  \"repeats\": %d,\n", threads, repeats);
  print_load("before");
  printf("  \"results\": [\n");
  for (int i = 0; i < PROBLEMS; i++) {
    TRY(bench_one(&problems[i], threads, repeats < REPEATS_MOST ? repeats : REPEATS_MOST,
                  depth < MOST ? depth : MOST, i == PROBLEMS - 1));
  }
  printf("  ],\n");
  print_load("after");
  printf("  \"unit\": \"10^9 point updates per second; ratio: to plain_loop, else to "
         "single_stages\"\n}\n");
done:
  if (rc != STATUS_OK) fprintf(stderr, "%s\n", fail_text());
  comm_close(&world);
  return rc;
}
