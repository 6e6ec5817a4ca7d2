/* mpirun -n P bench_gpu_halo [FILE.json] [BACKEND]: what an exchange through host memory consists
 * of, for planes of a slab's grid: packing (the GPU gathers, the host copies), the messages, and
 * unpacking, each waited for; and the sweep over the interior that hides them, over a slab of as
 * many planes as the plane is wide (7 points, values and columns packed as in solves). Each rank
 * exchanges one plane with each neighbour. Times are of the slowest rank, the median of REPEATS. */
#include <stdio.h>
#include <string.h>

#include "halo.h"
#include "measured.h"
#include "stencil.h"

enum { REPEATS = 9, PARTS = 4 };

static const lidx SIDES[] = {64, 128, 256, 320};
static const char *const PART_NAME[PARTS] = {"pack", "messages", "unpack", "interior sweep"};

typedef struct setting {
  const backend *b;
  device *d;
  comm *world;
  matrix *m;
  halo h;
  vec x, y, rhs, weight;
  dptr state;
} setting;

/* Waits for what has been issued. */
static status wait_for(setting *s) {
  double unused;
  return s->b->max_abs(s->d, (vec){.data = s->weight.data, .rows = 1, .block = 1}, &unused);
}

/* A plan that exchanges the first and last plane of each rank's slab. */
static status make_plan(setting *s, lidx plane, lidx rows) {
  status rc = STATUS_OK;
  ownership o = {0};
  gidx *ghost = NULL;
  lidx count = 0;
  const int rank = comm_rank(s->world), size = comm_size(s->world);
  TRY(ownership_even(s->world, (gidx)rows * size, &o));
  TRY(alloc_array(&ghost, 2 * (int64_t)plane, sizeof *ghost, "ghosts"));
  const gidx begin = ownership_begin(&o), end = ownership_end(&o);
  for (lidx i = 0; rank > 0 && i < plane; i++) ghost[count++] = begin - plane + i;
  for (lidx i = 0; rank + 1 < size && i < plane; i++) ghost[count++] = end + i;
  TRY(halo_create(s->world, &o, ghost, count, &s->h));
done:
  alloc_free(&ghost);
  ownership_release(&o);
  return rc;
}

static status once(setting *s, double seconds[PARTS]) {
  status rc = STATUS_OK;
  double at[PARTS + 1];
  TRY(wait_for(s));
  TRY(comm_barrier(s->world));
  at[0] = comm_clock();
  TRY(s->b->pack(s->d, &s->h, s->x));
  at[1] = comm_clock();
  TRY(halo_begin(&s->h));
  TRY(halo_end(&s->h));
  at[2] = comm_clock();
  TRY(s->b->unpack(s->d, &s->h, s->x));
  TRY(wait_for(s));
  at[3] = comm_clock();
  TRY(s->b->solve->sweep(s->d, s->m, PART_ALL, s->x, s->rhs, s->weight, s->y, s->state));
  TRY(wait_for(s));
  at[4] = comm_clock();
  for (int p = 0; p < PARTS; p++) seconds[p] = at[p + 1] - at[p];
  TRY(comm_max_f64(s->world, seconds, PARTS));
done:
  return rc;
}

static status open_setting(setting *s, lidx side) {
  status rc = STATUS_OK;
  const stencil grid = {"slab", side, side, side, 0, 0};
  const lidx rows = stencil_rows(&grid);
  const solve_state start = {.scale = 1.0, .limit = 1e300, .target = -1.0};
  csr_block a = {0};
  const device_request request = {.threads = 1, .node_rank = comm_node_rank(s->world)};
  TRY(s->b->open(&request, &s->d));
  TRY(make_plan(s, side * side, rows));
  TRY(stencil_matrix(&grid, &a));
  TRY(s->b->solve->matrix_create(s->d, &a, FORMAT_AUTO, &s->m));
  vec *const all[] = {&s->x, &s->y, &s->rhs, &s->weight};
  for (int i = 0; i < 4; i++) {
    TRY(stencil_vector(s->b, s->d, rows + s->h.ghosts, 0.5, all[i]));
    *all[i] = (vec){.data = all[i]->data,
                    .rows = rows,
                    .ghosts = s->h.ghosts,
                    .block = (int32_t)block_size((gidx)rows * comm_size(s->world))};
  }
  TRY(s->b->alloc(s->d, sizeof start, "state", &s->state));
  TRY(s->b->copy_in(s->d, s->state, (hptr){(void *)(uintptr_t)&start}, sizeof start));
done:
  csr_block_release(&a);
  return rc;
}

static void close_setting(setting *s) {
  vec *const all[] = {&s->x, &s->y, &s->rhs, &s->weight};
  for (int i = 0; i < 4; i++) s->b->release(s->d, &all[i]->data);
  s->b->release(s->d, &s->state);
  s->b->solve->matrix_release(s->d, &s->m);
  halo_release(&s->h);
  s->b->close(&s->d);
}

static status bench_side(const backend *b, comm *world, lidx side, FILE *json) {
  status rc = STATUS_OK;
  setting s = {.b = b, .world = world};
  double seconds[PARTS], all[PARTS][REPEATS];
  TRY(open_setting(&s, side));
  TRY(once(&s, seconds)); /* warms up */
  for (int r = 0; r < REPEATS; r++) {
    TRY(once(&s, seconds));
    for (int p = 0; p < PARTS; p++) all[p][r] = seconds[p];
  }
  if (comm_rank(world) == 0)
    printf("halo of a plane %d x %d (%lld bytes):", side, side, (long long)side * side * 8);
  for (int p = 0; p < PARTS; p++) {
    const double us = median_of(all[p], REPEATS) * 1e6;
    if (comm_rank(world) == 0) printf("  %s %.1f us", PART_NAME[p], us);
    if (json != NULL) {
      fprintf(json, "%s\n  {\"plane_bytes\": %lld, \"part\": \"%s\", \"us\": %.2f}",
              side == SIDES[0] && p == 0 ? "" : ",", (long long)side * side * 8, PART_NAME[p], us);
    }
  }
  if (comm_rank(world) == 0) printf("\n");
done:
  close_setting(&s);
  return rc;
}

int main(int argc, char **argv) {
  status rc = STATUS_OK;
  comm *world;
  FILE *json = NULL;
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  const backend *b = argc > 2 && strcmp(argv[2], "ref") == 0 ? &BACKEND_ref : &BACKEND_cuda;
  if (argc > 1 && comm_rank(world) == 0) json = fopen(argv[1], "w");
  if (json != NULL) fprintf(json, "[");
  for (size_t i = 0; i < sizeof SIDES / sizeof *SIDES; i++) {
    TRY(comm_agree(world, bench_side(b, world, SIDES[i], json)));
  }
done:
  if (json != NULL) fprintf(json, "]\n");
  if (json != NULL) fclose(json);
  comm_close(&world);
  return rc;
}
