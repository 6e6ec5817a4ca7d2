/* Halo plans: which owned entries go to which neighbour, and in what order ghosts arrive. Ghosts
 * are numbered by ascending global index, hence grouped by owner, so what arrives from one
 * neighbour is one contiguous run. The plan owns a send and a receive buffer in host memory and
 * persistent requests on them; a backend packs the one and unpacks the other. A plan can be moved
 * onto buffers in the backend's own memory where MPI is proved to reach it (src/core/transport.h).
 *
 *   pack send buffer -> halo_begin -> work that needs no ghosts -> halo_end -> unpack receive
 * buffer
 *
 * Cost per exchange: 8 bytes per ghost and one message per neighbour each way. */
#ifndef HALO_H
#define HALO_H

#include "comm.h"
#include "ownership.h"

typedef struct halo_requests halo_requests; /* the MPI side */

typedef struct halo {
  lidx ghosts;          /* entries received */
  lidx sends;           /* entries sent, over all neighbours */
  lidx *send_row;       /* [sends] local row of each entry of the send buffer */
  double *send_buffer;  /* [sends] */
  double *ghost_buffer; /* [ghosts] */
  int adopted;          /* the buffers are the caller's, in backend memory (halo_adopt) */
  int neighbours;       /* ranks we send to or receive from */
  halo_requests *requests;
} halo;

#ifdef __cplusplus
extern "C" {
#endif

/* ghost[ghosts]: global indices needed from others, ascending, none of them owned here. Collective.
 */
status halo_create(comm *c, const ownership *o, const gidx *ghost, lidx ghosts, halo *out);
void halo_release(halo *h);

/* Starts the messages; send_buffer must be packed and is not to be touched until halo_end, which
 * waits for all of them. Every rank that has neighbours must call both, in step. */
status halo_begin(halo *h);
status halo_end(halo *h);

/* Moves the plan onto buffers of the caller's, of sends and ghosts entries, in any memory that MPI
 * can reach; they must live until halo_disown or halo_release. halo_disown moves it back onto its
 * own. Neither may come between halo_begin and halo_end. Local: neighbours need not do the same. */
status halo_adopt(halo *h, double *send, double *ghost);
status halo_disown(halo *h);

/* halo_begin and halo_end on memory that MPI may turn out not to reach. When MPI fails or crashes
 * on it, its inside is not to be trusted any more and other ranks wait: the reason is printed, and
 * the whole job ends with STATUS_UNAVAILABLE. */
status halo_trial(halo *h);

#ifdef __cplusplus
}
#endif

#endif
