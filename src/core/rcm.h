/* Reverse Cuthill-McKee: an order of rows and columns that makes the bandwidth small. */
#ifndef RCM_H
#define RCM_H

#include "comm.h"
#include "csr.h"
#include "ownership.h"

/* old[i]: the old number of new row i, of all rows, on every rank (alloc_free). The pattern is
 * taken as symmetric. Rank 0 holds the whole pattern meanwhile: 16 bytes an entry, 40 a row.
 * Collective; all ranks leave with the same status. */
status rcm_order(comm *c, const ownership *owned, const csr_rows *a, gidx **old);

#endif
