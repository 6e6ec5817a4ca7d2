/* Halo plans: which owned entries go to which neighbour, and in what order ghosts arrive: by
 * ascending global index, hence grouped by owner, so what arrives from one neighbour is one
 * contiguous run. An entry is a number (of a vector) or `unit` of them (a plane of a grid). The
 * plan owns a send and a receive buffer in host memory and persistent requests on them; a backend
 * packs the one and unpacks the other. A plan can be moved onto buffers in the backend's own memory
 * where MPI is proved to reach it (src/core/transport.h).
 *
 *   pack send buffer -> halo_begin -> work that needs no ghosts -> halo_end -> unpack receive
 * buffer
 *
 * Cost per exchange: 8 unit bytes per ghost and one message per neighbour each way. */
#ifndef HALO_H
#define HALO_H

#include "comm.h"
#include "ownership.h"

typedef struct halo_requests halo_requests; /* the MPI side */

typedef struct halo {
  lidx ghosts;          /* entries received */
  lidx sends;           /* entries sent, over all neighbours */
  int64_t unit;         /* numbers an entry has */
  lidx *send_row;       /* [sends] local row of each entry of the send buffer */
  lidx *ghost_row;      /* [ghosts] which ghost each received entry is; NULL: in their order */
  double *send_buffer;  /* [sends * unit] */
  double *ghost_buffer; /* [ghosts * unit] */
  int adopted;          /* the buffers are the caller's, in backend memory (halo_adopt) */
  int neighbours;       /* ranks we send to or receive from, we among them with planes */
  halo_requests *requests;
} halo;

#ifdef __cplusplus
extern "C" {
#endif

/* ghost[ghosts]: global indices needed from others, ascending, none of them owned here. Collective.
 */
status halo_create(comm *c, const ownership *o, const gidx *ghost, lidx ghosts, halo *out);

/* The same for slabs of planes of `points` numbers. ghost[i], i in [0, ghosts): the global number
 * of ghost plane i, in any order, several times the same and planes of our own included, so that
 * periodic grids work on any number of ranks and slabs may be thinner than the halo; negative:
 * there is no such plane, nothing arrives. ghost_row says which i each received plane is.
 * Collective. */
status halo_create_planes(comm *c, const ownership *planes, int64_t points, const gidx *ghost,
                          lidx ghosts, halo *out);

void halo_release(halo *h);

/* Starts the messages; send_buffer must be packed and is not to be touched until halo_end, which
 * waits for all of them. Every rank that has neighbours must call both, in step. */
status halo_begin(halo *h);
status halo_end(halo *h);

/* Moves the plan onto buffers of the caller's, for sends and ghosts entries, in any memory that MPI
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
