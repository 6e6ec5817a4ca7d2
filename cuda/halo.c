/* Packing and unpacking of halos. Transport `host`: the GPU gathers owned entries straight into
 * pinned memory, in chunks, and the host copies each chunk on into the plan's send buffer while the
 * next is under way; ghosts go the other way. Transport `mpi` (the plan's buffers are in device
 * memory, halo_adopt): the GPU gathers into the send buffer, and the host waits for that, since MPI
 * reads it at once; ghosts are copied on the device. What a plan needs on this side is made at its
 * first use and kept; plans are told apart by address and content, since a released plan's address
 * may come back. */
#include <string.h>

#include "alloc.h"
#include "device.h"

enum { CHUNK_LEAST = 65536 }; /* entries */

static void plan_release(device *d, halo_plan *p) {
  alloc_free(&p->row);
  if (p->rows_there != NULL) device_free(d, p->rows_there);
  if (p->wide != NULL) device_free(d, p->wide);
  if (p->send != NULL) cudaFreeHost(p->send);
  if (p->ghost != NULL) cudaFreeHost(p->ghost);
  for (int i = 0; i < HALO_CHUNKS; i++) {
    if (p->sent[i] != NULL) cudaEventDestroy(p->sent[i]);
  }
  if (p->received != NULL) cudaEventDestroy(p->received);
  memset(p, 0, sizeof *p);
}

void halo_plans_release(device *d) {
  for (int i = 0; i < d->plans; i++) plan_release(d, &d->plan[i]);
  d->plans = 0;
}

/* No room for it is this program's trouble, not the device's. */
static status pinned(device *d, lidx count, double **out) {
  const size_t bytes = ((size_t)count + 1) * sizeof **out;
  const cudaError_t error = cudaHostAlloc((void **)out, bytes, cudaHostAllocMapped);
  if (error != cudaErrorMemoryAllocation) return device_check(d, error, "cudaHostAlloc");
  cudaGetLastError(); /* not sticky */
  return fail(STATUS_UNAVAILABLE, "not enough pinned host memory for the halo: %zu bytes", bytes);
}

static status plan_create(device *d, const halo *h, halo_plan *p) {
  status rc = STATUS_OK;
  const int64_t bytes = (int64_t)h->sends * (int64_t)sizeof *p->row;
  p->key = h;
  p->sends = h->sends;
  p->ghosts = h->ghosts;
  p->adopted = h->adopted;
  TRY(alloc_array(&p->row, h->sends, sizeof *p->row, "halo rows"));
  if (bytes > 0) memcpy(p->row, h->send_row, (size_t)bytes);
  TRY(device_alloc(d, bytes, "halo rows", &p->rows_there));
  TRY(device_upload(d, p->rows_there, p->row, bytes));
  if (!h->adopted) {
    TRY(pinned(d, h->sends, &p->send));
    TRY(device_check(d, cudaHostGetDevicePointer((void **)&p->send_there, p->send, 0),
                     "cudaHostGetDevicePointer"));
    TRY(pinned(d, h->ghosts, &p->ghost));
  }
  for (int i = 0; i < HALO_CHUNKS; i++) {
    TRY(device_check(d, cudaEventCreateWithFlags(&p->sent[i], cudaEventDisableTiming),
                     "cudaEventCreate"));
  }
  TRY(device_check(d, cudaEventCreateWithFlags(&p->received, cudaEventDisableTiming),
                   "cudaEventCreate"));
done:
  return rc;
}

static int plan_fits(const halo_plan *p, const halo *h) {
  return p->key == h && p->sends == h->sends && p->ghosts == h->ghosts &&
         p->adopted == h->adopted &&
         (h->sends == 0 || memcmp(p->row, h->send_row, (size_t)h->sends * sizeof *p->row) == 0);
}

static status plan_of(device *d, const halo *h, halo_plan **out) {
  int i = 0;
  while (i < d->plans && d->plan[i].key != h) i++;
  *out = &d->plan[i % HALO_PLANS];
  if (i < d->plans && plan_fits(*out, h)) return STATUS_OK;
  status rc = device_check(d, cudaStreamSynchronize(d->urgent), "cudaStreamSynchronize");
  if (rc != STATUS_OK) return rc;
  plan_release(d, *out);
  if (i == d->plans && i < HALO_PLANS) d->plans++;
  rc = plan_create(d, h, *out);
  if (rc != STATUS_OK) plan_release(d, *out);
  return rc;
}

/* Entries of a chunk, so that there are at most HALO_CHUNKS. */
static lidx chunk_of(lidx entries) {
  const lidx share = entries / HALO_CHUNKS + 1;
  return share > CHUNK_LEAST ? share : CHUNK_LEAST;
}

static lidx chunk_end(lidx begin, lidx chunk, lidx entries) {
  return entries - begin < chunk ? entries : begin + chunk;
}

/* Gathers the send rows by chunks and marks the end of each. */
static status gather(device *d, const halo_plan *p, vec x, int single, double *to, lidx chunk) {
  status rc = STATUS_OK;
  for (lidx begin = 0, end, i = 0; begin < p->sends; begin = end, i++) {
    end = chunk_end(begin, chunk, p->sends);
    TRY(device_launched(
        d,
        single ? kernel_gather_single(d->main, x.data.at, p->rows_there, begin, end, to)
               : kernel_gather(d->main, x.data.at, p->rows_there, begin, end, to),
        "kernel gather"));
    TRY(device_check(d, cudaEventRecord(p->sent[i], d->main), "cudaEventRecord"));
  }
  TRY(device_check(d, cudaEventRecord(d->fork, d->main), "cudaEventRecord"));
  d->forked = 1;
done:
  return rc;
}

static status pack(device *d, const halo *h, vec x, int single) {
  status rc = STATUS_OK;
  halo_plan *p;
  if (h->sends == 0 && h->ghosts == 0) goto done; /* leaves a kept pass alone */
  TRY(device_settle(d));
  TRY(device_join(d));
  TRY(plan_of(d, h, &p));
  if (h->adopted) {
    TRY(gather(d, p, x, single, h->send_buffer, h->sends > 0 ? h->sends : 1));
    /* MPI reads what was gathered, and writes where the last unpack() read */
    TRY(device_check(d, cudaEventSynchronize(d->fork), "kernel gather"));
    goto done;
  }
  const lidx chunk = chunk_of(h->sends);
  TRY(gather(d, p, x, single, p->send_there, chunk));
  for (lidx begin = 0, end, i = 0; begin < h->sends; begin = end, i++) {
    end = chunk_end(begin, chunk, h->sends);
    TRY(device_check(d, cudaEventSynchronize(p->sent[i]), "kernel gather"));
    memcpy(h->send_buffer + begin, p->send + begin, (size_t)(end - begin) * sizeof(double));
  }
done:
  return rc;
}

status cuda_pack(device *d, const halo *h, vec x) { return pack(d, h, x, 0); }

status cuda_pack_single(device *d, const halo *h, vec x) { return pack(d, h, x, 1); }

/* Ghosts through pinned memory to `to`, in chunks. */
static status send_ghosts(device *d, const halo *h, halo_plan *p, double *to, cudaStream_t stream) {
  status rc = STATUS_OK;
  /* the copies of the last exchange have left the pinned buffer */
  TRY(device_check(d, cudaEventSynchronize(p->received), "copy to the GPU"));
  const lidx chunk = chunk_of(h->ghosts);
  for (lidx begin = 0, end; begin < h->ghosts; begin = end) {
    end = chunk_end(begin, chunk, h->ghosts);
    const size_t bytes = (size_t)(end - begin) * sizeof(double);
    memcpy(p->ghost + begin, h->ghost_buffer + begin, bytes);
    TRY(device_launched(
        d, cudaMemcpyAsync(to + begin, p->ghost + begin, bytes, cudaMemcpyHostToDevice, stream),
        "copy to the GPU"));
  }
  TRY(device_check(d, cudaEventRecord(p->received, stream), "cudaEventRecord"));
done:
  return rc;
}

static status unpack(device *d, const halo *h, vec x, int single) {
  status rc = STATUS_OK;
  halo_plan *p;
  if (h->ghosts == 0) goto done;
  const int forked = d->forked;
  TRY(device_settle(d));
  TRY(plan_of(d, h, &p));
  if (forked) {
    TRY(device_check(d, cudaStreamWaitEvent(d->urgent, d->fork, 0), "cudaStreamWaitEvent"));
  } else {
    TRY(device_join(d));
  }
  const cudaStream_t stream = forked ? d->urgent : d->main;
  if (single && p->wide == NULL) {
    TRY(device_alloc(d, h->ghosts * (int64_t)sizeof *p->wide, "ghosts", &p->wide));
  }
  double *to = single ? p->wide : (double *)x.data.at + x.rows;
  if (h->adopted) {
    const size_t bytes = (size_t)h->ghosts * sizeof(double);
    TRY(device_copied(d, cudaMemcpyAsync(to, h->ghost_buffer, bytes, cudaMemcpyDefault, stream),
                      "copy on the GPU"));
  } else {
    TRY(send_ghosts(d, h, p, to, stream));
  }
  if (single) {
    TRY(device_launched(d, kernel_narrow(stream, 1.0, to, h->ghosts, (float *)x.data.at + x.rows),
                        "kernel narrow"));
  }
  if (forked) {
    TRY(device_check(d, cudaEventRecord(d->join, d->urgent), "cudaEventRecord"));
    d->joining = 1;
  }
done:
  return rc;
}

status cuda_unpack(device *d, const halo *h, vec x) { return unpack(d, h, x, 0); }

status cuda_unpack_single(device *d, const halo *h, vec x) { return unpack(d, h, x, 1); }
