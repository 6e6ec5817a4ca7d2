/* A matrix file read by all ranks, what was said meanwhile, and that nothing leaks when it is
 * refused. */
#ifndef READING_FIXTURE_H
#define READING_FIXTURE_H

#include "alloc.h"
#include "captured.h"
#include "reading.h"
#include "test.h"

static comm *world;

typedef struct reading {
  csr_rows a;
  ownership owned;
  matrix_file facts;
  double *rhs;
  status code;
  char said[CAPTURED_BYTES];
} reading;

static inline void read_with(const char *path, const reading_sizes *sizes, reading *r) {
  int64_t before = alloc_live();
  captured s = captured_begin();
  r->code = matrix_read_sized(world, path, sizes, &r->a, &r->owned, &r->facts, &r->rhs);
  captured_end(&s, world, r->said);
  if (r->code != STATUS_OK) assert_int_equal(alloc_live(), before);
}

static inline void release(reading *r) {
  csr_rows_release(&r->a);
  ownership_release(&r->owned);
  alloc_free(&r->rhs);
}

#endif
