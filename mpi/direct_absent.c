/* Direct solution in a build without MUMPS's headers: says how to get it (direct_package.h). */
#include "direct_package.h"

status mumps_find(void) {
  return fail(STATUS_UNAVAILABLE,
              "this halosweep was built without the headers of MUMPS, for method direct on CPUs; "
              "install libmumps-dev (Debian and Ubuntu) and configure and build again");
}

status mumps_open(comm *c, const csr_block *a, const ownership *owned, int symmetric, mumps **out,
                  char broke[DIRECT_TEXT]) {
  (void)a, (void)owned, (void)symmetric;
  *out = 0;
  broke[0] = '\0';
  return comm_agree(c, mumps_find());
}

status mumps_solve(mumps *d, double *x) {
  (void)d, (void)x;
  return STATUS_BUG;
}

void mumps_close(mumps **d) { *d = 0; }
