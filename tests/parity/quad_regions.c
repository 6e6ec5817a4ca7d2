/* Regions of adaptive quadrature: the OpenMP backend against the reference backend, bit for bit:
 * all dimensions and ranges, batches of awkward sizes, values that are not finite, threads. */
#include "alloc.h"
#include "backend.h"
#include "expression.h"
#include "philox.h"
#include "quad_fixture.h"

enum { REGIONS = 61 };

static double uniform(int i, int k) {
  return philox_uniform(philox_at(7, (uint64_t)i, 1, (uint64_t)k, 0), 0);
}

/* A frame with a range of each kind in turn, and regions of it at both ends. */
static void make(int dims, quad_frame *f, double *edge) {
  memset(f, 0, sizeof *f);
  f->dims = dims;
  f->rule = dims == 1 ? QUAD_KRONROD : QUAD_MALIK;
  for (int d = 0; d < dims; d++) {
    const int range = (d + dims) % 4;
    f->axis[d] = (quad_axis){.range = range, .upper = 1.0, .anchor = 0.25};
    if (range == QUAD_FINITE || range == QUAD_LINE) f->axis[d].lower = -1.0;
    for (int r = 0; r < REGIONS; r++) {
      const double low = 0.5 * uniform(r, d), high = low + (0.5 - low) * uniform(r, d + 100);
      double *at = edge + 2 * (r * dims + d);
      at[0] = r % 3 == 0 ? -high : low;
      at[1] = r % 3 == 0 ? -low : high;
      if (r % 7 == 0) at[r % 3 == 0 ? 1 : 0] = 0.0;
    }
  }
}

static int same(double a, double b) { return (a != a && b != b) || bits_of(a) == bits_of(b); }

static void run(const backend *b, int threads, const formula *fn, const quad_frame *f, int count,
                const double *edge, quad_estimate *out) {
  const double parameters[] = {1.25};
  const device_request request = {.threads = threads};
  device *d;
  quad_work *w;
  assert_ok(b->open(&request, &d));
  assert_ok(b->quad->create(d, fn, f->dims, &w));
  assert_ok(b->quad->regions(d, w, f, parameters, count, edge, out));
  b->quad->release(d, &w);
  b->close(&d);
}

static void every_estimate_is_that_of_ref(void **state) {
  (void)state;
  static const char *const names[] = {"x0", "x1", "x2", "x3", "x4", "x5",
                                      "x6", "x7", "x8", "x9", "p"};
  static const int counts[] = {0, 1, 2, 18, REGIONS}, threads[] = {1, 2, 3, 7};
  for (int dims = 1; dims <= QUAD_DIMS; dims++) {
    for (int spoilt = 0; spoilt < 2; spoilt++) {
      char text[512] = "exp(-p*x0*x0)";
      const char *used[QUAD_DIMS + 2] = {0};
      double edge[2 * QUAD_DIMS * REGIONS];
      quad_estimate want[REGIONS], have[REGIONS];
      quad_frame f;
      expression *tree;
      for (int d = 0; d < dims; d++) {
        used[d] = names[d];
        const size_t length = strlen(text);
        if (d > 0) snprintf(text + length, sizeof text - length, "/(1+p*(x%d-0.3)^2)", d);
      }
      used[dims] = "p";
      if (spoilt) strcat(text, "+log(0.9-x0*x0)");
      assert_ok(expression_parse(text, used, &tree));
      const formula fn = {.inputs = dims + 1, .outputs = 1, .batch = fixture_tree, .context = tree};
      make(dims, &f, edge);
      run(&BACKEND_ref, 1, &fn, &f, REGIONS, edge, want);
      int finite = 0;
      for (int r = 0; r < REGIONS; r++) finite += isfinite(want[r].value);
      assert_true(spoilt ? finite < REGIONS : finite == REGIONS);
      for (int t = 0; t < 4; t++) {
        for (int c = 0; c < 5; c++) {
          memset(have, 0xff, sizeof have);
          run(&BACKEND_omp, threads[t], &fn, &f, counts[c], edge, have);
          for (int r = 0; r < counts[c]; r++) {
            const quad_estimate *a = &want[r], *b = &have[r];
            if (!same(a->value, b->value) || !same(a->error, b->error) || !same(a->low, b->low) ||
                !same(a->high, b->high) || a->axis != b->axis) {
              fail_msg("%d directions, region %d: %a +- %a, axis %d; should be %a +- %a, axis %d",
                       dims, r, b->value, b->error, b->axis, a->value, a->error, a->axis);
            }
          }
        }
      }
      expression_release(&tree);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_estimate_is_that_of_ref)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
