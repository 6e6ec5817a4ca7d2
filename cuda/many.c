/* The operations of the table on several vectors at once: arguments of the kernels in many.cu. All
 * run on `main`; none is the pass of a judged step. */
#include "device.h"

static double *at(vec x) { return x.data.at; }

/* A rank without rows launches nothing. */
static status begin(device *d, vec out, many_args *args) {
  *args = (many_args){.rows = out.rows,
                      .tiles = out.rows / TILE + (out.rows % TILE != 0),
                      .block = out.block,
                      .out = at(out),
                      .words = d->words};
  return device_ready(d);
}

status cuda_dots(device *d, int count, const vec *x, vec y, double scale) {
  many_args args;
  status rc = begin(d, y, &args);
  if (rc != STATUS_OK || y.rows == 0 || count == 0) return rc;
  args.count = count;
  args.reverse = device_turn(d);
  args.scale = scale;
  args.y = at(y);
  for (int k = 0; k < count; k++) args.x[k] = at(x[k]);
  if (count > d->used_sums) d->used_sums = count;
  return device_launched(d, kernel_dots(d->main, &args, d->processors), "kernel dots");
}

status cuda_combine(device *d, double a, vec x, double b, vec y, vec out) {
  many_args args;
  status rc = begin(d, out, &args);
  if (rc != STATUS_OK || out.rows == 0) return rc;
  args.factor[0] = a;
  args.factor[1] = b;
  args.x[0] = at(x);
  args.x[1] = at(y);
  return device_launched(d, kernel_combine(d->main, &args), "kernel combine");
}

status cuda_multiply(device *d, vec w, vec x, vec out) {
  many_args args;
  status rc = begin(d, out, &args);
  if (rc != STATUS_OK || out.rows == 0) return rc;
  args.x[0] = at(w);
  args.x[1] = at(x);
  return device_launched(d, kernel_multiply(d->main, &args), "kernel multiply");
}

status cuda_accumulate(device *d, int count, const double *a, const vec *x, vec out) {
  many_args args;
  status rc = begin(d, out, &args);
  if (out.rows == 0) return rc;
  for (int first = 0; first < count && rc == STATUS_OK; first += SUMS_MAX) {
    args.count = count - first < SUMS_MAX ? count - first : SUMS_MAX;
    for (int k = 0; k < args.count; k++) {
      args.factor[k] = a[first + k];
      args.x[k] = at(x[first + k]);
    }
    rc = device_launched(d, kernel_accumulate(d->main, &args), "kernel accumulate");
  }
  return rc;
}
