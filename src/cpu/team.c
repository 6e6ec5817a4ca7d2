/* The loops of team.h, by OpenMP. A team is all threads or one: one that changes its size between
 * one and all ends and starts threads each time, and new threads have not been through fp_check.
 * Starting a loop costs a few microseconds (a barrier), so short ones stay on one thread. */
#include "team.h"

#include <stdatomic.h>
#include <string.h>

#include "fingerprint.h"
#include "fp_check.h"

enum { SHORT = 512, LINE = 64 };

int64_t team_begin(int threads, int64_t count, int part) {
  return count / threads * part + count % threads * part / threads;
}

void team_for(int threads, int64_t count, team_work *work, void *context) {
  const int team = count > SHORT ? threads : 1;
#pragma omp parallel for num_threads(team) schedule(static)
  for (int t = 0; t < threads; t++) {
    work(context, t, team_begin(threads, count, t), team_begin(threads, count, t + 1));
  }
}

status team_check(int threads) {
  status rc = STATUS_OK;
#pragma omp parallel num_threads(threads)
  {
#pragma omp critical(fp_check)
    if (rc == STATUS_OK) rc = fp_check("in a thread");
  }
  return rc;
}

typedef struct marking {
  const double *x;
  int64_t first;
  atomic_ullong sum;
} marking;

static void mark_part(void *context, int part, int64_t begin, int64_t end) {
  marking *m = context;
  (void)part;
  atomic_fetch_add(&m->sum, fingerprint_of(m->x + begin, m->first + begin, end - begin));
}

uint64_t team_fingerprint(int threads, const double *x, int64_t first, int64_t count) {
  marking m = {.x = x, .first = first};
  atomic_init(&m.sum, 0);
  team_for(threads, count, mark_part, &m);
  return atomic_load(&m.sum);
}

typedef struct copying {
  char *to;
  const char *from;
  int64_t bytes;
} copying;

static void copy_part(void *context, int part, int64_t begin, int64_t end) {
  copying *c = context;
  (void)part;
  const int64_t from = begin * LINE, to = end * LINE < c->bytes ? end * LINE : c->bytes;
  if (from < to) memcpy(c->to + from, c->from + from, (size_t)(to - from));
}

void team_copy(int threads, void *to, const void *from, int64_t bytes) {
  copying c = {.to = to, .from = from, .bytes = bytes};
  team_for(threads, bytes / LINE + (bytes % LINE != 0), copy_part, &c);
}
