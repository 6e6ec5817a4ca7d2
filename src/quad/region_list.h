/* The regions of an adaptive integral: their edges, what is known of them, and which is to be
 * halved next. The same list on every rank. Local throughout. */
#ifndef REGION_LIST_H
#define REGION_LIST_H

#include <stdint.h>

#include "status.h"

typedef struct region {
  double value;
  double error;      /* what counts */
  double rule_error; /* the rule's own estimate */
  int32_t axis;      /* to be halved; QUAD_WHOLE: cannot be */
  int32_t probe;     /* the first probe in it, -1: none */
} region;

typedef struct region_list {
  int dims;
  int64_t count, room;
  double *edge; /* [room][2 dims] (quad_regions.h) */
  region *at;   /* [room] */
  /* ids that wait to be halved: a heap, largest error first, then the lower id */
  int64_t *heap; /* [room] */
  int64_t waiting;
} region_list;

/* Room for `count` regions; grows by halves at least. */
status region_list_reserve(region_list *l, int64_t count);
void region_list_release(region_list *l);

double *region_list_edge(const region_list *l, int64_t id);

/* Region `id`, which does not wait yet, is to be halved. O(log n). */
void region_list_wait(region_list *l, int64_t id);

/* Takes the region of the largest error off the heap; waiting > 0. O(log n). */
int64_t region_list_take(region_list *l);

#endif
