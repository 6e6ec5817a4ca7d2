/* Systems near the ends of the double range: A and b times one power of two, so that the largest
 * |a_ij| is of order one. x stays, relative residuals stay, and nothing is rounded: where any entry
 * would lose digits, nothing is scaled. Without this, products A p with p of the size of b leave
 * the range from |a_ij| = 1e+-154 on, and CG takes a definite matrix for an indefinite one. Costs
 * two passes over the own entries, in the rare case that it applies; the survey has found the
 * largest. */
#include <math.h>

#include "log.h"
#include "solve_job.h"

/* Within this exponent, the products of three such numbers are far from both ends. */
enum { MODEST = 128 };

static int keeps_digits(const double *value, int64_t count, int shift) {
  for (int64_t i = 0; i < count; i++) {
    const double moved = ldexp(value[i], shift);
    if (ldexp(moved, -shift) != value[i]) return 0;
  }
  return 1;
}

static void move(double *value, int64_t count, int shift) {
  for (int64_t i = 0; i < count; i++) value[i] = ldexp(value[i], shift);
}

status solve_scale_system(solve_job *j, double *b) {
  status rc = STATUS_OK;
  const int64_t entries = j->a.offset[j->a.rows], rows = b != NULL ? j->a.rows : 0;
  const double largest = j->survey.largest;
  int64_t refused;
  const int exponent = largest > 0.0 ? ilogb(largest) : 0;
  if (exponent >= -MODEST && exponent <= MODEST) goto done;
  refused = !keeps_digits(j->a.value, entries, -exponent) || !keeps_digits(b, rows, -exponent);
  TRY(comm_max_i64(j->run->c, &refused, 1));
  if (refused) goto done;
  move(j->a.value, entries, -exponent);
  move(b, rows, -exponent);
  j->exponent = exponent;
  log_info("the largest entry is %.3e: A and b are scaled by 2^%d, which is exact", largest,
           -exponent);
done:
  return rc;
}
