/* The list of regions (region_list.h). A binary heap of ids: the order is total, so what comes off
 * does not depend on how it went in. 40 + 16 dims bytes a region. */
#include "region_list.h"

#include "alloc.h"

status region_list_reserve(region_list *l, int64_t count) {
  status rc = STATUS_OK;
  if (count <= l->room) return STATUS_OK;
  const int64_t room = count > l->room + l->room / 2 ? count : l->room + l->room / 2;
  TRY(alloc_grow(&l->edge, l->count * 2 * l->dims, room * 2 * l->dims, sizeof *l->edge, "regions"));
  TRY(alloc_grow(&l->at, l->count, room, sizeof *l->at, "regions"));
  TRY(alloc_grow(&l->heap, l->waiting, room, sizeof *l->heap, "regions"));
  l->room = room;
done:
  return rc;
}

void region_list_release(region_list *l) {
  alloc_free(&l->edge);
  alloc_free(&l->at);
  alloc_free(&l->heap);
  l->count = l->room = l->waiting = 0;
}

double *region_list_edge(const region_list *l, int64_t id) { return l->edge + 2 * l->dims * id; }

static int before(const region_list *l, int64_t a, int64_t b) {
  const double error_a = l->at[a].error, error_b = l->at[b].error;
  return error_a > error_b || (error_a == error_b && a < b);
}

void region_list_wait(region_list *l, int64_t id) {
  int64_t i = l->waiting++;
  for (; i > 0 && before(l, id, l->heap[(i - 1) / 2]); i = (i - 1) / 2) {
    l->heap[i] = l->heap[(i - 1) / 2];
  }
  l->heap[i] = id;
}

int64_t region_list_take(region_list *l) {
  const int64_t first = l->heap[0], last = l->heap[--l->waiting];
  int64_t i = 0;
  for (int64_t child = 1; child < l->waiting; child = 2 * i + 1) {
    if (child + 1 < l->waiting && before(l, l->heap[child + 1], l->heap[child])) child++;
    if (!before(l, l->heap[child], last)) break;
    l->heap[i] = l->heap[child];
    i = child;
  }
  l->heap[i] = last;
  return first;
}
