/* The slab and medium of the CPU backends, and several steps by plain stages (heat_host.h). */
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

status heat_host_steps(device *d, heat_work *w, const heat_backend *by, heat_field u,
                       heat_field out, double dt, const heat_input *input, int steps) {
  status rc = STATUS_OK;
  const heat_slab *s = &w->s;
  const int last = s->g.dims - 1, around = s->g.face[2 * last] == HEAT_PERIODIC;
  heat_field from = u, to = out;
  for (int i = steps - 1; i >= 0; i--) {
    heat_stage stage = {.base = from, .scale = dt, .u = from, .out = to, .input = *input};
    int64_t begin = -i, end = s->planes + i;
    if (!around && begin < -s->first) begin = -s->first;
    if (!around && end > s->g.n[last] - s->first) end = s->g.n[last] - s->first;
    TRY(by->stage(d, w, &stage, begin, end));
    to = from;
    from = stage.out;
  }
  if (from.data.at != out.data.at) {
    memcpy(heat_owned_plane(w, out, 0), heat_owned_plane(w, from, 0),
           (size_t)heat_owned(s) * sizeof(double));
  }
done:
  return rc;
}
