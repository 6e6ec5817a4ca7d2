/* Finding a GPU that works. What can be missing is told apart, each with a sentence of its own: the
 * driver, a new enough driver, a GPU, code for this kind of GPU. The last is found out by launching
 * a kernel and looking at its answer. The CUDA runtime is linked statically and opens the driver's
 * library on its first call, so a process that never gets here needs no driver. */
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "block_sum.h"
#include "stream.h"

status device_check(device *d, cudaError_t error, const char *what) {
  if (error == cudaSuccess) return STATUS_OK;
  if (d->broken == STATUS_OK) {
    d->broken = STATUS_BROKEN;
    snprintf(d->broken_text, sizeof d->broken_text, "GPU %d (%s): %s failed: %s (%s)",
             d->facts.index, d->facts.name, what, cudaGetErrorString(error),
             cudaGetErrorName(error));
  }
  return device_ok(d);
}

status device_ok(const device *d) {
  if (d->broken == STATUS_OK) return STATUS_OK;
  return fail(d->broken, "%s", d->broken_text);
}

/* How many GPUs this process may use. */
static status count_devices(int *count) {
  int driver = 0, runtime = 0;
  cudaError_t error = cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (error != cudaSuccess || driver == 0) {
    return fail(STATUS_UNAVAILABLE, "backend cuda: no NVIDIA driver is installed on this machine");
  }
  error = cudaGetDeviceCount(count);
  if (error == cudaErrorInsufficientDriver || error == cudaErrorSystemDriverMismatch) {
    return fail(STATUS_UNAVAILABLE,
                "backend cuda: the NVIDIA driver is too old: it supports CUDA %d.%d, this "
                "halosweep needs CUDA %d.%d",
                driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && *count == 0)) {
    return fail(STATUS_UNAVAILABLE, "backend cuda: the NVIDIA driver shows no GPU to this process "
                                    "(CUDA_VISIBLE_DEVICES hides them, or there is none)");
  }
  if (error != cudaSuccess) {
    return fail(STATUS_UNAVAILABLE, "backend cuda: looking for GPUs failed: %s (%s)",
                cudaGetErrorString(error), cudaGetErrorName(error));
  }
  return STATUS_OK;
}

static void name_uuid(const unsigned char *b, char *out, size_t room) {
  snprintf(out, room, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
           b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
           b[14], b[15]);
}

/* Chooses the device; what is wrong with it before anything ran on it is STATUS_UNAVAILABLE. */
static status choose_device(device *d, int node_rank, struct cudaDeviceProp *property) {
  status rc = STATUS_OK;
  cudaError_t error;
  TRY(count_devices(&d->facts.visible));
  d->facts.index = node_rank % d->facts.visible;
  if ((error = cudaSetDevice(d->facts.index)) != cudaSuccess ||
      (error = cudaGetDeviceProperties(property, d->facts.index)) != cudaSuccess) {
    rc = fail(STATUS_UNAVAILABLE, "backend cuda: GPU %d of %d cannot be used: %s (%s)",
              d->facts.index, d->facts.visible, cudaGetErrorString(error), cudaGetErrorName(error));
    goto done;
  }
  snprintf(d->facts.name, sizeof d->facts.name, "%.120s", property->name);
  name_uuid((const unsigned char *)property->uuid.bytes, d->facts.uuid, sizeof d->facts.uuid);
  d->facts.memory_bytes = (int64_t)property->totalGlobalMem;
  d->processors = property->multiProcessorCount;
  d->early = property->major >= 9;
done:
  return rc;
}

static int no_code(cudaError_t error) {
  return error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion ||
         error == cudaErrorInvalidDeviceFunction || error == cudaErrorInvalidPtx ||
         error == cudaErrorJitCompilerNotFound;
}

/* Runs a kernel and checks what it wrote. */
static status try_kernel(device *d, const struct cudaDeviceProp *property) {
  enum { SEED = 12345 };
  uint32_t answer[WARP] = {0};
  cudaError_t error = kernel_probe(d->main, (uint32_t *)d->words, SEED);
  if (error == cudaSuccess) error = cudaStreamSynchronize(d->main);
  if (error == cudaSuccess) {
    error = cudaMemcpy(answer, d->words, sizeof answer, cudaMemcpyDeviceToHost);
  }
  if (no_code(error)) {
    return fail(STATUS_UNAVAILABLE,
                "backend cuda: GPU %d (%s, compute capability %d.%d) is of a kind this halosweep "
                "has no code for; configure with -DCMAKE_CUDA_ARCHITECTURES=%d%d",
                d->facts.index, d->facts.name, property->major, property->minor, property->major,
                property->minor);
  }
  if (error != cudaSuccess) {
    return fail(STATUS_UNAVAILABLE, "backend cuda: a trial kernel on GPU %d (%s) failed: %s (%s)",
                d->facts.index, d->facts.name, cudaGetErrorString(error), cudaGetErrorName(error));
  }
  for (uint32_t i = 0; i < WARP; i++) {
    if (answer[i] != SEED * UINT32_C(2654435761) + i) {
      return fail(STATUS_UNAVAILABLE,
                  "backend cuda: a trial kernel on GPU %d (%s) gave a wrong "
                  "answer",
                  d->facts.index, d->facts.name);
    }
  }
  return STATUS_OK;
}

static status make_streams(device *d) {
  status rc = STATUS_OK;
  int least = 0, greatest = 0;
  TRY(device_check(d, cudaDeviceGetStreamPriorityRange(&least, &greatest), "stream priorities"));
  TRY(device_check(d, cudaStreamCreateWithPriority(&d->main, cudaStreamNonBlocking, least),
                   "cudaStreamCreate"));
  TRY(device_check(d, cudaStreamCreateWithPriority(&d->urgent, cudaStreamNonBlocking, greatest),
                   "cudaStreamCreate"));
  TRY(device_check(d, cudaEventCreateWithFlags(&d->fork, cudaEventDisableTiming),
                   "cudaEventCreate"));
  TRY(device_check(d, cudaEventCreateWithFlags(&d->join, cudaEventDisableTiming),
                   "cudaEventCreate"));
done:
  return rc;
}

/* The tally, the ring and pinned words. */
static status make_room(device *d) {
  status rc = STATUS_OK;
  const int64_t bytes = (TALLY_WORDS + 2) * (int64_t)sizeof(int64_t);
  TRY(device_alloc(d, bytes, "sums on the GPU", &d->words));
  /* on main: cudaMemset's stream is not ordered with those that do not block, and may come after
   * the trial kernel where others use the GPU too */
  TRY(device_check(d, cudaMemsetAsync(d->words, 0, (size_t)bytes, d->main), "cudaMemsetAsync"));
  d->ticket = (unsigned *)(d->words + TALLY_WORDS);
  d->largest = (uint64_t *)(d->words + TALLY_WORDS + 1);
  TRY(device_check(d,
                   cudaHostAlloc((void **)&d->pinned, (TALLY_WORDS + 1) * sizeof *d->pinned,
                                 cudaHostAllocMapped),
                   "cudaHostAlloc"));
  TRY(device_check(d, cudaHostGetDevicePointer((void **)&d->pinned_there, d->pinned, 0),
                   "cudaHostGetDevicePointer"));
  const size_t ring = RING * RING_WORDS * sizeof *d->ring;
  TRY(device_check(d, cudaHostAlloc((void **)&d->ring, ring, cudaHostAllocMapped),
                   "cudaHostAlloc"));
  memset(d->ring, 0, ring);
  TRY(device_check(d, cudaHostGetDevicePointer((void **)&d->ring_there, d->ring, 0),
                   "cudaHostGetDevicePointer"));
done:
  return rc;
}

/* Grids that just fill the GPU. */
static status size_grids(device *d) {
  status rc = STATUS_OK;
  for (int i = 0; i < ROW_PASSES; i++) {
    TRY(device_check(d, kernel_rows_fit((row_pass)i, &d->row_blocks[i]), "occupancy"));
    d->row_blocks[i] *= d->processors;
  }
  for (int i = 0; i < SHAPES_PASSES; i++) {
    TRY(device_check(d, kernel_shapes_fit((shapes_pass_kind)i, &d->shape_blocks[i]), "occupancy"));
    d->shape_blocks[i] *= d->processors;
  }
  for (int i = 0; i < VECTOR_PASSES; i++) {
    TRY(device_check(d, kernel_vectors_fit((vector_pass)i, &d->vector_blocks[i]), "occupancy"));
    d->vector_blocks[i] *= d->processors;
  }
  TRY(device_check(d, kernel_long_rows_fit(&d->long_blocks), "occupancy"));
  d->long_blocks *= d->processors;
done:
  return rc;
}

status cuda_open(const device_request *request, device **out) {
  status rc = STATUS_OK;
  struct cudaDeviceProp property;
  TRY(alloc_zeroed(out, 1, sizeof **out, "backend cuda"));
  device *d = *out;
  d->threads = request->threads > 0 ? request->threads : 1;
  d->limit = request->memory;
  TRY(choose_device(d, request->node_rank, &property));
  TRY(make_streams(d));
  TRY(make_room(d));
  TRY(try_kernel(d, &property));
  TRY(device_check(d, cudaMemsetAsync(d->words, 0, WARP * sizeof(uint32_t), d->main),
                   "cudaMemsetAsync"));
  TRY(device_check(d, cudaDeviceSynchronize(), "cudaDeviceSynchronize"));
  TRY(size_grids(d));
done:
  if (rc != STATUS_OK) cuda_close(out);
  return rc == STATUS_BROKEN ? STATUS_UNAVAILABLE : rc; /* not in mid-run: not there */
}

status cuda_open_streamed(const device_request *request, device **out) {
  const status rc = cuda_open(request, out);
  if (rc == STATUS_OK) (*out)->always_stream = (*out)->small_chunks = 1;
  return rc;
}

void cuda_close(device **out) {
  device *d = *out;
  if (d == NULL) return;
  if (d->main != NULL) cudaStreamSynchronize(d->main);
  if (d->urgent != NULL) cudaStreamSynchronize(d->urgent);
  halo_plans_release(d);
  stream_close(d);
  if (d->words != NULL) device_free(d, d->words);
  if (d->pinned != NULL) cudaFreeHost(d->pinned);
  if (d->ring != NULL) cudaFreeHost(d->ring);
  if (d->fork != NULL) cudaEventDestroy(d->fork);
  if (d->join != NULL) cudaEventDestroy(d->join);
  if (d->main != NULL) cudaStreamDestroy(d->main);
  if (d->urgent != NULL) cudaStreamDestroy(d->urgent);
  alloc_free(&d->list);
  alloc_free(out);
}

void cuda_describe(const device *d, device_facts *out) { *out = d->facts; }
