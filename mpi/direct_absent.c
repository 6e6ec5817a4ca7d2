/* Direct solution in a build without MUMPS's headers: says how to get it (direct.h). */
#include "direct.h"

status direct_find(void) {
  return fail(STATUS_UNAVAILABLE,
              "method direct: this halosweep was built without MUMPS's headers; "
              "install libmumps-dev (Debian and Ubuntu) and configure and build again");
}

static status absent(comm *c) { return comm_agree(c, direct_find()); }

status direct_look(comm *c) { return absent(c); }

status direct_open(comm *c, const csr_block *a, const ownership *owned, int symmetric, direct **out,
                   char broke[DIRECT_TEXT]) {
  (void)a, (void)owned, (void)symmetric;
  *out = 0;
  broke[0] = '\0';
  return absent(c);
}

status direct_solve(direct *d, double *x) {
  (void)d, (void)x;
  return STATUS_BUG;
}

void direct_close(direct **d) { *d = 0; }
