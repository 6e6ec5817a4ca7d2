/* A matrix of the hierarchy as its set-up sees it (amg.h): with a halo plan in host memory and the
 * diagonal of all its columns.
 *
 * Rows above DENSE entries (a hub that touches everything) take no part in aggregates: through such
 * a row everything would be near everything, and the coarser matrix full. They are smoothed only.
 */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "amg.h"
#include "team.h"

enum { DENSE = 1024 };

status amg_share(amg_grid *g, uint64_t *word) {
  status rc = STATUS_OK;
  halo *h = &g->plan;
  for (lidx i = 0; i < h->sends; i++) memcpy(&h->send_buffer[i], &word[h->send_row[i]], 8);
  TRY(halo_begin(h));
  TRY(halo_end(h));
  if (h->ghosts > 0) memcpy(word + g->a->rows, h->ghost_buffer, (size_t)h->ghosts * 8);
done:
  return rc;
}

typedef struct looking {
  amg_grid *g;
  double *largest; /* [threads] */
} looking;

/* Diagonal entries, and the largest row sum of |D^-1 A|: infinite where D has a zero. */
static void look_part(void *context, int number, int64_t begin, int64_t end) {
  const looking *l = context;
  const csr_block *a = l->g->a;
  double largest = 0.0;
  for (lidx i = (lidx)begin; i < end; i++) {
    double diagonal = 0.0, sum = 0.0;
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      if (a->column[e] == i) diagonal = a->value[e];
      sum += fabs(a->value[e]);
    }
    const double bound = sum / fabs(diagonal);
    if (!(bound <= largest)) largest = bound < INFINITY ? bound : INFINITY;
    l->g->diagonal[i] = diagonal;
    l->g->root[i] = a->offset[i + 1] - a->offset[i] > DENSE ? INFINITY : sqrt(fabs(diagonal));
  }
  l->largest[number] = largest;
}

status amg_grid_open(comm *c, int threads, const csr_block *a, const ownership *owned,
                     amg_grid *out) {
  status rc = STATUS_OK;
  looking l = {.g = out};
  *out = (amg_grid){.world = c, .threads = threads, .a = a, .owned = owned};
  rc = alloc_array(&out->diagonal, (int64_t)a->rows + a->ghosts, sizeof(double), "diagonal");
  if (rc == STATUS_OK) {
    rc = alloc_array(&out->root, (int64_t)a->rows + a->ghosts, sizeof(double), "diagonal");
  }
  if (rc == STATUS_OK) rc = alloc_zeroed(&l.largest, threads, sizeof(double), "row sums");
  TRY(comm_agree(c, rc));
  TRY(halo_create(c, owned, a->ghost, a->ghosts, &out->plan));
  team_for(threads, a->rows, look_part, &l);
  for (int t = 0; t < threads; t++) out->largest = fmax(out->largest, l.largest[t]);
  TRY(comm_max_f64(c, &out->largest, 1));
  TRY(amg_share(out, (uint64_t *)(void *)out->diagonal));
  TRY(amg_share(out, (uint64_t *)(void *)out->root));
done:
  alloc_free(&l.largest);
  if (rc != STATUS_OK) amg_grid_release(out);
  return rc;
}

void amg_grid_release(amg_grid *g) {
  halo_release(&g->plan);
  alloc_free(&g->diagonal);
  alloc_free(&g->root);
  memset(g, 0, sizeof *g);
}
