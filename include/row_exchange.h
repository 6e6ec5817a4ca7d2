/* Rows of a distributed matrix that other ranks own, and entries sent to the ranks that own their
 * rows: the set-up of preconditioners. Bytes travel once, by one exchange each way. */
#ifndef ROW_EXCHANGE_H
#define ROW_EXCHANGE_H

#include "comm.h"
#include "csr.h"
#include "ownership.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Row i of *out is global row wanted[i] (ascending, none owned here; first_row is -1, columns are
 * global, in the owner's order). `mine`: this rank's rows under `owned`. Collective; all ranks
 * leave with the same status. */
status rows_fetch(comm *c, const ownership *owned, const csr_rows *mine, const gidx *wanted,
                  lidx count, csr_rows *out);

/* Entries (row[i], column[i], value[i]), anywhere: each goes to the rank that owns its row. What
 * arrives is sorted by row, then column; entries with the same place keep the order of the sending
 * ranks and of each rank's list. Arrays of the result are the caller's (alloc.h). Collective. */
typedef struct entry_list {
  int64_t count;
  gidx *row, *column;
  double *value;
} entry_list;
status entries_deliver(comm *c, const ownership *owned, const entry_list *mine, entry_list *out);
void entry_list_release(entry_list *l);

#ifdef __cplusplus
}
#endif

#endif
