/* Memory bandwidth as the triad a_i = b_i + s c_i by all threads of all ranks at once: 24 bytes an
 * element are counted, as STREAM does (McCalpin 1995); what the cache reads before a write is not.
 * The arrays of all ranks of a node together are four times the last cache, but at least 96 MB and
 * at most 384 MB, since touching them first takes as long as measuring; a rate on less than four
 * caches is marked. Each pass begins at a barrier and takes as long as its slowest rank; the best
 * pass counts. */
#include <unistd.h>

#include "alloc.h"
#include "info.h"
#include "team.h"

enum { ARRAY_LEAST = 1 << 25, ARRAY_MOST = 1 << 27, PASSES_LEAST = 3 };
static const double SECONDS = 0.5;

typedef struct triad {
  double *a, *b, *c;
  double s;
} triad;

static void fill_part(void *context, int number, int64_t begin, int64_t end) {
  const triad *t = context;
  (void)number;
  for (int64_t i = begin; i < end; i++) t->a[i] = 0.0, t->b[i] = 1.0, t->c[i] = 2.0;
}

static void triad_part(void *context, int number, int64_t begin, int64_t end) {
  const triad *t = context;
  (void)number;
  for (int64_t i = begin; i < end; i++) t->a[i] = t->b[i] + t->s * t->c[i];
}

/* Bytes of the last cache; 0: not known. */
static int64_t last_cache(void) {
  const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? bytes : 0;
}

/* Elements of an array of one rank. */
static int64_t elements(const run_context *run) {
  int64_t bytes = 4 * last_cache() / 3;
  if (bytes < ARRAY_LEAST) bytes = ARRAY_LEAST;
  if (bytes > ARRAY_MOST) bytes = ARRAY_MOST;
  return bytes / (int64_t)sizeof(double) / comm_node_size(run->c);
}

/* One pass; the seconds of the slowest rank. */
static status pass(const run_context *run, triad *t, int64_t count, double *seconds) {
  status rc = STATUS_OK;
  TRY(comm_barrier(run->c));
  const double begin = comm_clock();
  team_for(run->threads, count, triad_part, t);
  *seconds = comm_clock() - begin;
  rc = comm_max_f64(run->c, seconds, 1);
done:
  return rc;
}

status info_bandwidth(const run_context *run, bandwidth *out) {
  status rc = STATUS_OK;
  triad t = {NULL, NULL, NULL, 3.0};
  int64_t count = elements(run), all = count, missing = 0;
  double best = 0.0, spent = 0.0, seconds;
  *out = (bandwidth){0};
  missing = alloc_array(&t.a, count, sizeof *t.a, "triad") != STATUS_OK ||
            alloc_array(&t.b, count, sizeof *t.b, "triad") != STATUS_OK ||
            alloc_array(&t.c, count, sizeof *t.c, "triad") != STATUS_OK;
  fail_clear();
  TRY(comm_sum_i64(run->c, &missing, 1));
  TRY(comm_sum_i64(run->c, &all, 1));
  out->no_memory = missing > 0;
  out->bytes = 24.0 * (double)all;
  out->in_cache = elements(run) * comm_node_size(run->c) < last_cache() / 7; /* 24 bytes each */
  if (missing > 0) goto done;
  team_for(run->threads, count, fill_part, &t);
  while (out->passes < PASSES_LEAST || spent < SECONDS) { /* times are those of all: alike */
    TRY(pass(run, &t, count, &seconds));
    if (out->passes++ == 0 || seconds < best) best = seconds;
    spent += seconds;
  }
  if (best > 0.0) out->rate = out->bytes / best;
done:
  alloc_free(&t.a);
  alloc_free(&t.b);
  alloc_free(&t.c);
  return rc;
}
