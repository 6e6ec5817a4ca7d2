/* bench_gpu_heat [FILE.json [CASES]] (CASES: digits 0 .. 7, all of them if left out): explicit
 * Euler steps of the heat equation and stages of rkl2 on one GPU, several in a pass over memory, as
 * the driver asks for them, against the copy bandwidth of the same run.
 *
 * The bound, from bytes alone: a launch makes k steps and moves each array once, 16 bytes a point
 * (u read, out written) and 8 more for each coefficient field of a variable alpha (a stage of rkl2:
 * 48 bytes, for four fields read and two written); so with a copy of B bytes/s it makes at most k B
 * / (bytes a point) point updates a second. Points that neighbours compute twice are counted once.
 * Times are the median of REPEATS passes of `depth` steps, by the host's clock, from the first call
 * until the GPU is idle. */
#include <math.h>
#include <stdio.h>

#include "alloc.h"
#include "heat_backend.h"
#include "measured.h"

enum { REPEATS = 7, CASES = 8, MOST = 128, FIELDS = 4 };

typedef struct problem {
  const char *name;
  int dims, variable, flux, stabilised;
  int64_t n;
  int launch; /* steps of one launch */
} problem;

static const problem PROBLEM[CASES] = {{"line", 1, 0, 0, 0, 100000000, 48},
                                       {"rectangle", 2, 0, 0, 0, 16384, 8},
                                       {"box", 3, 0, 0, 0, 768, 4},
                                       {"rectangle, variable alpha", 2, 1, 0, 0, 8192, 6},
                                       {"box, variable alpha", 3, 1, 0, 0, 384, 3},
                                       {"rectangle, insulated", 2, 0, 1, 0, 8192, 8},
                                       {"rectangle, rkl2", 2, 0, 0, 1, 8192, 4},
                                       {"box, rkl2", 3, 0, 0, 1, 384, 3}};

typedef struct setting {
  const backend *b;
  device *d;
  comm *world;
  heat_work *w;
  heat_slab s;
  heat_field f[FIELDS]; /* rkl2: the last two are base and first stage */
  int depth;
} setting;

static status idle(setting *x) { /* copy_out waits */
  double word;
  return x->b->copy_out(x->d, (hptr){&word}, x->f[0].data, (int64_t)sizeof word);
}

/* Field values that nobody can guess at; they stay bounded. */
static status load(setting *x) {
  status rc = STATUS_OK;
  double *host = NULL;
  const int64_t points = heat_points(&x->s);
  TRY(alloc_array(&host, points, sizeof *host, "field"));
  for (int64_t i = 0; i < points; i++) host[i] = 1.0 + (double)(i % 1009) * 1e-3;
  for (int i = 0; i < FIELDS; i++) {
    TRY(x->b->copy_in(x->d, x->f[i].data, (hptr){host}, points * (int64_t)sizeof *host));
  }
done:
  alloc_free(&host);
  return rc;
}

static status make_medium(setting *x, const problem *p) {
  status rc = STATUS_OK;
  heat_medium m = {.alpha = 1.0};
  double *face = NULL;
  if (p->variable) {
    TRY(alloc_array(&face, heat_points(&x->s), sizeof *face, "coefficients"));
    for (int64_t i = 0; i < heat_points(&x->s); i++) face[i] = 1.0 + (double)(i % 997) * 1e-3;
    for (int d = 0; d < p->dims; d++) m.face[d] = face;
  }
  rc = x->b->heat->create(x->d, &x->s, &m, &x->w);
done:
  alloc_free(&face);
  return rc;
}

static status set_up(setting *x, const problem *p) {
  status rc = STATUS_OK;
  x->s = (heat_slab){.g = {.dims = p->dims, .n = {1, 1, 1}}, .planes = p->n, .plane = 1, .halo = 1};
  for (int d = 0; d < p->dims; d++) {
    x->s.g.n[d] = p->n;
    x->s.g.spacing[d] = 1.0;
    x->s.g.face[2 * d] = x->s.g.face[2 * d + 1] = p->flux ? HEAT_FLUX : HEAT_HELD;
    if (d + 1 < p->dims) x->s.plane *= p->n;
  }
  x->depth = x->b->heat->depth(x->d, &x->s.g, p->variable, x->s.planes);
  if (x->depth > MOST) x->depth = MOST;
  for (int i = 0; i < FIELDS; i++) {
    TRY(x->b->alloc(x->d, heat_points(&x->s) * (int64_t)sizeof(double), "field", &x->f[i].data));
  }
  TRY(load(x));
  rc = make_medium(x, p);
done:
  return rc;
}

static void tear_down(setting *x) {
  for (int i = 0; i < FIELDS; i++) x->b->release(x->d, &x->f[i].data);
  if (x->w != NULL) x->b->heat->release(x->d, &x->w);
}

/* What a pass is asked for: Euler steps, or stages in the middle of a step of rkl2. */
static void make_list(const setting *x, const problem *p, heat_stage *list) {
  for (int i = 0; i < x->depth; i++) {
    const heat_field u = x->f[i % 2], other = x->f[1 - i % 2];
    list[i] =
        (heat_stage){.base = u, .scale = 0.05, .u = u, .out = other, .fleeting = i + 1 < x->depth};
    if (!p->stabilised) continue;
    list[i].base = x->f[2];
    list[i].terms = 3;
    list[i].weight[0] = 1.2;
    list[i].weight[1] = -0.4;
    list[i].weight[2] = -0.1;
    list[i].term[0] = u;
    list[i].term[1] = other;
    list[i].term[2] = x->f[3];
    list[i].fleeting = i + 2 < x->depth;
  }
}

/* Seconds of a pass of x->depth steps. */
static status time_pass(setting *x, const problem *p, double *seconds) {
  status rc = STATUS_OK;
  heat_stage list[MOST];
  double t[REPEATS];
  make_list(x, p, list);
  for (int i = -1; i < REPEATS; i++) {
    TRY(idle(x));
    const double begin = comm_clock();
    TRY(x->b->heat->pass(x->d, x->w, list, x->depth, PART_ALL));
    TRY(idle(x));
    if (i >= 0) t[i] = comm_clock() - begin;
  }
  *seconds = median_of(t, REPEATS);
done:
  return rc;
}

/* Bytes per second of a copy on the GPU, read and written. */
static status time_copy(setting *x, double *bandwidth) {
  status rc = STATUS_OK;
  const lidx n = 1 << 28;
  vec v[2] = {{.rows = n, .block = 256}, {.rows = n, .block = 256}};
  double t[REPEATS];
  for (int i = 0; i < 2; i++) TRY(x->b->alloc(x->d, (int64_t)n * 8, "vector", &v[i].data));
  for (int i = 0; i < 2; i++) TRY(x->b->fill(x->d, v[i], 1.0));
  for (int i = -1; i < REPEATS; i++) {
    double word;
    TRY(x->b->copy_out(x->d, (hptr){&word}, v[1].data, 8));
    const double begin = comm_clock();
    TRY(x->b->copy(x->d, v[1], v[0]));
    TRY(x->b->copy_out(x->d, (hptr){&word}, v[1].data, 8));
    if (i >= 0) t[i] = comm_clock() - begin;
  }
  *bandwidth = 16.0 * n / median_of(t, REPEATS);
done:
  for (int i = 0; i < 2; i++) x->b->release(x->d, &v[i].data);
  return rc;
}

static status measure(setting *x, const problem *p, double bandwidth, FILE *json,
                      const char *comma) {
  status rc = STATUS_OK;
  double seconds;
  TRY(set_up(x, p));
  TRY(time_pass(x, p, &seconds));
  const double bytes = (p->stabilised ? 48.0 : 16.0) + 8.0 * p->variable * p->dims;
  const double rate = (double)heat_owned(&x->s) * x->depth / seconds * 1e-9;
  const double bound = p->launch * bandwidth / bytes * 1e-9;
  printf("%-28s n %9lld  k %2d  %8.1f Gpoint/s  bound by bytes %8.1f (%2.0f%%)\n", p->name,
         (long long)p->n, p->launch, rate, bound, 100.0 * rate / bound);
  fprintf(json,
          "%s\n  {\"case\": \"%s\", \"dims\": %d, \"n\": %lld, \"steps_per_launch\": %d, "
          "\"gpoints_per_second\": %.1f, \"bytes_per_point\": %.0f, \"bound\": %.1f}",
          comma, p->name, p->dims, (long long)p->n, p->launch, rate, bytes, bound);
done:
  tear_down(x);
  return rc;
}

int main(int argc, char **argv) {
  status rc = STATUS_OK;
  setting x = {.b = &BACKEND_cuda};
  const device_request request = {0};
  double bandwidth;
  FILE *json = NULL;
  const char *comma = "";
  if (comm_open(&argc, &argv, &x.world) != STATUS_OK) return 1;
  json = fopen(argc > 1 ? argv[1] : "/dev/null", "w");
  if (json == NULL) rc = fail(STATUS_INPUT, "cannot write %s", argv[1]);
  TRY(rc);
  TRY(x.b->open(&request, &x.d));
  TRY(time_copy(&x, &bandwidth));
  printf("copy %.0f GB/s\n", bandwidth * 1e-9);
  fprintf(json, "{\"copy_gb_per_second\": %.0f, \"heat\": [", bandwidth * 1e-9);
  for (int i = 0; i < CASES; i++) {
    int chosen = argc <= 2;
    for (const char *c = argc > 2 ? argv[2] : ""; *c != 0; c++) chosen |= *c - '0' == i;
    if (!chosen) continue;
    x.w = NULL;
    TRY(measure(&x, &PROBLEM[i], bandwidth, json, comma));
    comma = ",";
  }
  fprintf(json, "]}\n");
done:
  if (rc != STATUS_OK) fprintf(stderr, "%s\n", fail_text());
  if (json != NULL && fclose(json) != 0) rc = STATUS_BROKEN;
  x.b->close(&x.d);
  comm_close(&x.world);
  return (int)rc;
}
