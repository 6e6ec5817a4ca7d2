/* Halo plans of planes: every number sent is a function of the global plane, the point in it and
 * the round, so that a wrong plane, place or exchange cannot pass. Slabs of grids with fewer planes
 * than ranks, halos deeper than slabs and than the whole grid, periodic and not.
 * ranks: 1 2 3 5 */
#include "alloc.h"
#include "comm.h"
#include "halo.h"
#include "test.h"

#include <stdlib.h>

static comm *world;

static double value_of(gidx plane, int64_t point, int round) {
  return (double)plane + 1e-3 * (double)point + 1000.0 * round;
}

/* Sends and receives by the plan alone. */
static void exchange_and_check(halo *h, const ownership *o, const gidx *ghost, lidx ghosts,
                               int64_t points, int round) {
  unsigned char *seen;
  assert_ok(alloc_zeroed(&seen, ghosts, 1, "planes seen"));
  for (lidx i = 0; i < h->sends; i++) {
    assert_in_range(h->send_row[i], 0, ownership_end(o) - ownership_begin(o) - 1);
    for (int64_t k = 0; k < points; k++) {
      h->send_buffer[i * points + k] = value_of(ownership_begin(o) + h->send_row[i], k, round);
    }
  }
  for (int64_t k = 0; k < h->ghosts * points; k++) h->ghost_buffer[k] = -1.0;
  assert_ok(halo_begin(h));
  assert_ok(halo_end(h));
  for (lidx i = 0; i < h->ghosts; i++) {
    const lidx row = h->ghost_row[i];
    assert_in_range(row, 0, ghosts - 1);
    seen[row]++;
    for (int64_t k = 0; k < points; k++) {
      assert_same_bits(h->ghost_buffer[i * points + k], value_of(ghost[row], k, round));
    }
  }
  for (lidx i = 0; i < ghosts; i++) assert_int_equal(seen[i], ghost[i] >= 0);
  alloc_free(&seen);
}

static void slabs(gidx planes, gidx block, int64_t points, int64_t depth, int periodic) {
  ownership o;
  halo h;
  gidx *ghost;
  assert_ok(ownership_aligned(world, planes, block, &o));
  for (int r = 0; r < o.size; r++) assert_true(o.first[r] % block == 0 || o.first[r] == planes);
  const gidx first = ownership_begin(&o), mine = ownership_end(&o) - first;
  const lidx ghosts = mine == 0 ? 0 : (lidx)(2 * depth);
  assert_ok(alloc_array(&ghost, ghosts, sizeof *ghost, "ghosts"));
  for (lidx i = 0; i < ghosts; i++) {
    gidx plane = i < depth ? first - depth + i : first + mine + i - depth;
    if (periodic) plane = (plane % planes + planes) % planes;
    ghost[i] = plane < 0 || plane >= planes ? -1 : plane;
  }
  assert_ok(halo_create_planes(world, &o, points, ghost, ghosts, &h));
  assert_int_equal(h.unit, points);
  for (int round = 0; round < 3; round++) {
    exchange_and_check(&h, &o, ghost, ghosts, points, round);
  }
  /* each neighbour is one run of the ghost buffer: planes come grouped by owner, ascending */
  for (lidx i = 1; i < h.ghosts; i++) {
    assert_true(ghost[h.ghost_row[i - 1]] <= ghost[h.ghost_row[i]]);
  }
  halo_release(&h);
  alloc_free(&ghost);
  ownership_release(&o);
}

static void grids_of_few_planes(void **state) {
  (void)state;
  const gidx sizes[] = {1, 2, 3, 4, 7, 16};
  const int64_t depths[] = {1, 2, 5};
  for (int s = 0; s < 6; s++) {
    for (int d = 0; d < 3; d++) {
      for (int periodic = 0; periodic < 2; periodic++) {
        slabs(sizes[s], 1, 1 + 6 * (s % 2), depths[d], periodic);
      }
    }
  }
}

static void points_by_blocks(void **state) {
  (void)state;
  slabs(100, 256, 1, 3, 1);
  slabs(257, 256, 1, 2, 1);
  slabs(3000, 256, 1, 9, 0);
  slabs(3000, 256, 1, 600, 1);
}

/* Any order, the same plane several times, our own among them, gaps. */
static void any_order(void **state) {
  (void)state;
  enum { PLANES = 11, GHOSTS = 40 };
  ownership o;
  halo h;
  gidx ghost[GHOSTS];
  assert_ok(ownership_aligned(world, PLANES, 1, &o));
  for (int i = 0; i < GHOSTS; i++) ghost[i] = (i * 7 + o.rank) % (PLANES + 1) - 1;
  assert_ok(halo_create_planes(world, &o, 5, ghost, GHOSTS, &h));
  for (int round = 0; round < 2; round++) exchange_and_check(&h, &o, ghost, GHOSTS, 5, round);
  halo_release(&h);
  halo_release(&h);
  ownership_release(&o);
}

/* A plane out of range on one rank is refused by all. */
static void a_plane_that_is_not_there(void **state) {
  (void)state;
  ownership o;
  halo h;
  gidx ghost = comm_rank(world) == comm_size(world) - 1 ? 8 : 0;
  assert_ok(ownership_aligned(world, 8, 1, &o));
  assert_int_equal(halo_create_planes(world, &o, 4, &ghost, 1, &h), STATUS_BUG);
  assert_null(h.requests);
  ownership_release(&o);
}

static void no_memory_on_one_rank(void **state) {
  (void)state;
  ownership o;
  const int last = comm_rank(world) == comm_size(world) - 1;
  gidx ghost[2] = {0, 3};
  const int64_t live = alloc_live();
  int n = 0;
  assert_ok(ownership_aligned(world, 8, 1, &o));
  for (int done = 0; !done; n++) {
    halo h;
    if (last) alloc_fail_at(n + 1);
    const status rc = halo_create_planes(world, &o, 4, ghost, 2, &h);
    alloc_fail_at(0);
    done = rc == STATUS_OK;
    if (!done) assert_int_equal(rc, STATUS_UNAVAILABLE);
    halo_release(&h);
    assert_int_equal(alloc_live(), live + 1);
  }
  assert_in_range(n, 10, 20);
  ownership_release(&o);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grids_of_few_planes),
      cmocka_unit_test(points_by_blocks),
      cmocka_unit_test(any_order),
      cmocka_unit_test(a_plane_that_is_not_there),
      cmocka_unit_test(no_memory_on_one_rank),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  setenv("CMOCKA_TEST_ABORT", "1", 1); /* a rank that fails ends them all */
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
