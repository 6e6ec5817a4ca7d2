/* The slab and medium of the CPU backends, and several stages one by one (heat_host.h). */
#include "heat_host.h"

#include <string.h>

#include "alloc.h"
#include "host.h"

void heat_host_release(device *d, heat_work **w) {
  (void)d;
  if (*w == NULL) return;
  for (int k = 0; k < HEAT_DIMS; k++) alloc_free(&(*w)->face[k]);
  alloc_free(w);
}

status heat_host_create(device *d, const heat_slab *s, const heat_medium *m, heat_work **out) {
  status rc = STATUS_OK;
  int64_t stride = 1;
  const int64_t points = heat_points(s);
  TRY(alloc_zeroed(out, 1, sizeof **out, "heat slab"));
  heat_work *w = *out;
  w->s = *s;
  w->m = *m;
  for (int k = 0; k < s->g.dims; k++) {
    w->stride[k] = stride;
    stride *= s->g.n[k];
    if (m->face[0] == NULL) continue;
    TRY(alloc_array(&w->face[k], points, sizeof **w->face, "face coefficients"));
    memcpy(w->face[k], m->face[k], (size_t)points * sizeof **w->face);
    w->m.face[k] = w->face[k];
  }
done:
  if (rc != STATUS_OK) heat_host_release(d, out);
  return rc;
}

void heat_host_range(const heat_slab *s, int margin, int64_t *from, int64_t *to) {
  const int last = s->g.dims - 1;
  const int64_t n = s->g.n[last];
  *from = *to = 0;
  if (s->planes == 0) return;
  *from = -margin;
  *to = s->planes + margin;
  if (s->g.face[2 * last] == HEAT_PERIODIC && n > 1) return;
  if (*from < -s->first) *from = -s->first;
  if (*to > n - s->first) *to = n - s->first;
}

status heat_host_pass(device *d, heat_work *w, const heat_backend *by, const heat_stage *s,
                      int count, part which) {
  status rc = STATUS_OK;
  for (int i = 0; i < count && which != PART_INTERIOR; i++) {
    int64_t from, to;
    heat_host_range(&w->s, count - 1 - i, &from, &to);
    TRY(by->stage(d, w, &s[i], from, to));
  }
done:
  return rc;
}
