/* Looks at a matrix as the OpenMP backend would keep it in each format, without keeping it: shapes,
 * distinct values and the kinds of slices are found, entries are not copied. */
#include "inspect_storage.h"

#include <stdio.h>
#include <string.h>

#include "sell.h"
#include "values.h"

enum { LANES = 8 };

static const char *const NAMES[STORAGE_FORMATS] = {"csr", "sell", "packed", "pattern"};

/* Bytes that a product reads with slices of `level`, shapes or not. */
static status measure(const run_context *run, const csr_block *a, sell_level level, int shapes,
                      storage_facts *f, int64_t *bytes) {
  status rc = STATUS_OK;
  sell s;
  const sell_plan plan = {
      .lanes = LANES, .level = level, .shapes = shapes, .threads = run->threads};
  TRY(sell_open(a, &plan, &s));
  sell_measure(&s, a, 0, s.tiles);
  TRY(sell_place(&s));
  *bytes = sell_sweep_bytes(&s);
  if (shapes) {
    f->distinct = s.shapes.distinct;
    f->given_up = s.shapes.given_up;
    f->shapes = s.shapes.shapes;
    f->shape_rows = s.shapes.fit_rows;
  }
done:
  sell_release(&s);
  return rc;
}

static status look(const run_context *run, const csr_block *a, storage_facts *f) {
  status rc = STATUS_OK;
  values v = {0};
  f->rows = a->rows;
  f->bytes[0] = a->offset[a->rows] * 12 + ((int64_t)a->rows + 1) * 8;
  TRY(measure(run, a, SELL_SLICES, 0, f, &f->bytes[1]));
  TRY(measure(run, a, SELL_PACKED, 0, f, &f->bytes[2]));
  TRY(measure(run, a, SELL_SLICES, 1, f, &f->bytes[3]));
  TRY(values_create(run->threads, a, NULL, &v));
  f->values = v.distinct;
done:
  values_release(&v);
  return rc;
}

status inspect_storage(const run_context *run, const csr_block *a, storage_facts *out) {
  status rc = STATUS_OK;
  memset(out, 0, sizeof *out);
  TRY(comm_agree(run->c, look(run, a, out)));
  int64_t most[] = {out->distinct, out->shapes, out->values, out->given_up};
  int64_t sums[2 + STORAGE_FORMATS] = {out->rows, out->shape_rows};
  memcpy(sums + 2, out->bytes, sizeof out->bytes);
  TRY(comm_max_i64(run->c, most, 4));
  TRY(comm_sum_i64(run->c, sums, 2 + STORAGE_FORMATS));
  out->distinct = most[0];
  out->shapes = most[1];
  out->values = most[2];
  out->given_up = (int)most[3];
  out->rows = sums[0];
  out->shape_rows = sums[1];
  memcpy(out->bytes, sums + 2, sizeof out->bytes);
done:
  return rc;
}

static double share(int64_t part, int64_t all) {
  return all == 0 ? 0.0 : (double)part / (double)all;
}

void inspect_storage_print(const storage_facts *f) {
  report_print("row shapes      %lld%s met, %lld in use for %.1f %% of the rows\n",
               (long long)f->distinct, f->given_up ? " or more" : "", (long long)f->shapes,
               100.0 * share(f->shape_rows, f->rows));
  if (f->values > VALUES_MOST) {
    report_print("distinct values more than %d, or few that repeat\n", VALUES_MOST);
  } else {
    report_print("distinct values %lld\n", (long long)f->values);
  }
  report_print("bytes per row  ");
  for (int i = 0; i < STORAGE_FORMATS; i++) {
    report_print(" %s %.1f%s", NAMES[i], share(f->bytes[i], f->rows),
                 i + 1 < STORAGE_FORMATS ? "," : "\n");
  }
}

void inspect_storage_report(const storage_facts *f, report *r) {
  report_integer(r, "row_shapes", f->distinct);
  report_flag(r, "row_shapes_given_up", f->given_up);
  report_integer(r, "row_shapes_used", f->shapes);
  report_real(r, "row_shapes_coverage", share(f->shape_rows, f->rows));
  report_integer(r, "distinct_values", f->values);
  report_open(r, "bytes_per_row");
  for (int i = 0; i < STORAGE_FORMATS; i++) {
    report_real(r, NAMES[i], share(f->bytes[i], f->rows));
  }
  report_close(r);
}
