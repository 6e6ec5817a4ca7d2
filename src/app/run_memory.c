#include "run_memory.h"

#include "matrix_io.h"
#include "memory.h"
#include "survey.h"

status run_memory_to_read(const run_context *run, const char *path, int solves) {
  status rc = STATUS_OK;
  matrix_promise promise;
  TRY(matrix_look(run->c, path, &promise));
  /* an even share; a dense file's zeros will be dropped, so that only its numbers are certain */
  const double ranks = comm_size(run->c);
  const double rows = (double)promise.rows / ranks, entries = (double)promise.entries / ranks;
  double bytes = survey_bytes_to_read(rows, entries) + 8.0 * (double)promise.numbers / ranks;
  if (solves) bytes += survey_bytes_to_solve(rows, entries);
  TRY(memory_check(run->c, bytes, path));
done:
  return rc;
}
