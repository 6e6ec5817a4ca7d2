/* What `inspect` says about how a matrix can be kept (solve: format). */
#ifndef INSPECT_STORAGE_H
#define INSPECT_STORAGE_H

#include "commands.h"
#include "csr.h"
#include "report.h"

enum { STORAGE_FORMATS = 4 }; /* csr, sell, packed, pattern */

typedef struct storage_facts {
  int64_t rows;
  int64_t distinct, shapes;       /* row shapes met, and in use; the most of any rank */
  int64_t shape_rows;             /* rows kept by their shape, over all ranks */
  int64_t values;                 /* distinct values, the most of any rank; VALUES_MOST + 1: more */
  int given_up;                   /* there are more shapes than `distinct` */
  int64_t bytes[STORAGE_FORMATS]; /* a product reads, over all ranks */
} storage_facts;

/* Of this rank's rows of a square matrix. Collective. */
status inspect_storage(const run_context *run, const csr_block *a, storage_facts *out);

void inspect_storage_print(const storage_facts *f);
void inspect_storage_report(const storage_facts *f, report *r);

#endif
