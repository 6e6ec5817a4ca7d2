/* Device memory: plain allocations, each in the account with its size. A request that does not fit
 * makes matrices move to the host, largest first (stream.c); when none is left it is refused, with
 * the sizes in the text. */
#include <string.h>

#include "alloc.h"
#include "stream.h"

static double gib(int64_t bytes) { return (double)bytes / 1073741824.0; }

static status too_large(const device *d, int64_t bytes, int64_t free_bytes, const char *what) {
  if (d->limit > 0 && free_bytes == d->limit - d->used) {
    return fail(STATUS_UNAVAILABLE,
                "device_memory = %lld (%.2f GiB) on GPU %d (%s) is not enough: %lld bytes are "
                "needed for %s, %lld are free; what can stay on the host does so already",
                (long long)d->limit, gib(d->limit), d->facts.index, d->facts.name, (long long)bytes,
                what, (long long)free_bytes);
  }
  return fail(STATUS_UNAVAILABLE,
              "not enough memory on GPU %d (%s) for %s: %lld bytes (%.2f GiB) are needed, %lld "
              "bytes (%.2f of %.2f GiB) are free; use more GPUs",
              d->facts.index, d->facts.name, what, (long long)bytes, gib(bytes),
              (long long)free_bytes, gib(free_bytes), gib(d->facts.memory_bytes));
}

/* Bytes that may still be allocated. */
status device_room(device *d, int64_t *bytes) {
  size_t free_bytes = 0, all = 0;
  status rc = device_check(d, cudaMemGetInfo(&free_bytes, &all), "cudaMemGetInfo");
  *bytes = (int64_t)free_bytes;
  if (d->limit > 0 && d->limit - d->used < *bytes) *bytes = d->limit - d->used;
  return rc;
}

/* Tries; *p stays NULL where there is no room. */
static status try_alloc(device *d, int64_t bytes, void **p, int64_t *room) {
  status rc = STATUS_OK;
  TRY(device_room(d, room));
  if (bytes > *room) goto done;
  const cudaError_t error = cudaMalloc(p, (size_t)bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError(); /* not sticky */
    *p = NULL;
    goto done;
  }
  rc = device_check(d, error, "cudaMalloc");
done:
  return rc;
}

static status note_allocation(device *d, void *p, int64_t bytes) {
  if (d->count == d->room) {
    const int64_t want = d->room == 0 ? 32 : 2 * d->room;
    status rc = alloc_grow(&d->list, d->room, want, sizeof *d->list, "account of GPU memory");
    if (rc != STATUS_OK) return rc;
    d->room = want;
  }
  d->list[d->count++] = (allocation){p, bytes};
  d->used += bytes;
  if (d->used > d->facts.peak_bytes) d->facts.peak_bytes = d->used;
  return STATUS_OK;
}

status device_alloc(device *d, int64_t bytes, const char *what, void *out) {
  status rc = STATUS_OK;
  void *p = NULL;
  memcpy(out, &p, sizeof p);
  TRY(device_ok(d));
  const int64_t size = bytes > 0 ? bytes : 1;
  for (;;) {
    int64_t room = 0;
    int moved = 0;
    TRY(try_alloc(d, size, &p, &room));
    if (p != NULL) break;
    TRY(stream_spill(d, &moved));
    if (!moved) {
      rc = too_large(d, size, room, what);
      goto done;
    }
  }
  TRY(note_allocation(d, p, size));
  memcpy(out, &p, sizeof p);
  p = NULL;
done:
  if (p != NULL) cudaFree(p);
  return rc;
}

void device_free(device *d, void *p) {
  for (int64_t i = 0; i < d->count; i++) {
    if (d->list[i].at != p) continue;
    d->used -= d->list[i].bytes;
    d->list[i] = d->list[--d->count];
    cudaFree(p); /* waits for the kernels that use it */
    return;
  }
}

/* Fresh memory is all NaN, as in the reference backend. */
status cuda_alloc(device *d, int64_t bytes, const char *what, dptr *out) {
  status rc = device_alloc(d, bytes, what, &out->at);
  if (rc != STATUS_OK || bytes == 0) return rc;
  rc = device_check(d, cudaMemsetAsync(out->at, 0xff, (size_t)bytes, d->main), "cudaMemset");
  if (rc != STATUS_OK) cuda_release(d, out);
  return rc;
}

void cuda_release(device *d, dptr *p) {
  if (p->at == NULL) return;
  device_settle(d);
  if (d->state_at == p->at) d->state_at = NULL;
  device_free(d, p->at);
  p->at = NULL;
}

status device_upload(device *d, void *to, const void *from, int64_t bytes) {
  status rc = STATUS_OK;
  TRY(device_settle(d));
  TRY(device_join(d));
  if (bytes == 0) goto done;
  TRY(device_copied(d, cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyHostToDevice, d->main),
                    "copy to the GPU"));
  TRY(device_check(d, cudaStreamSynchronize(d->main), "copy to the GPU"));
done:
  return rc;
}

status cuda_copy_in(device *d, dptr to, hptr from, int64_t bytes) {
  status rc = device_upload(d, to.at, from.at, bytes);
  /* also when it failed: the other ranks go on judging, and so does this one */
  if (bytes == (int64_t)sizeof(solve_state)) device_note_state(d, to.at, from.at);
  return rc;
}

status cuda_copy_out(device *d, hptr to, dptr from, int64_t bytes) {
  status rc = STATUS_OK;
  TRY(device_settle(d));
  TRY(device_join(d));
  if (bytes == 0) goto done;
  TRY(device_copied(d,
                    cudaMemcpyAsync(to.at, from.at, (size_t)bytes, cudaMemcpyDeviceToHost, d->main),
                    "copy from the GPU"));
  TRY(device_check(d, cudaStreamSynchronize(d->main), "copy from the GPU"));
done:
  return rc;
}
