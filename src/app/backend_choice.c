#include "backend_choice.h"

#include <string.h>

#include "alloc.h"
#include "fp_check.h"
#include "log.h"

/* Up to so many ranks the map of ranks to GPUs is printed. */
enum { MAP_RANKS = 16 };

/* Opens a GPU on every rank, or on none: *out stays NULL then, and the log says why. */
static status try_gpu(const run_context *run, const problem_size *size,
                      const device_request *request, device **out) {
  status rc = STATUS_OK;
  const backend *gpu = &BACKEND_cuda;
  int64_t missing = 0;
  if (size->count == 0) {
    log_info(
        "backend omp: how many %s it takes is not known in advance (--backend cuda asks for a GPU)",
        size->unit);
    return STATUS_OK;
  }
  if (size->count < size->gpu_from) {
    log_info("backend omp: %s are too few for a GPU: %lld (auto takes one from %lld on)",
             size->unit, (long long)size->count, (long long)size->gpu_from);
    return STATUS_OK;
  }
  missing = gpu->open(request, out) != STATUS_OK;
  if (missing) log_info("backend omp: %s", fail_text());
  fail_clear();
  const int64_t mine = missing;
  TRY(comm_sum_i64(run->c, &missing, 1));
  if (missing == 0) {
    log_info("backend cuda: every rank has a GPU and there are %lld %s", (long long)size->count,
             size->unit);
  } else {
    if (!mine) log_info("backend omp: ranks without a GPU: %lld", (long long)missing);
    if (*out != NULL) gpu->close(out);
  }
done:
  return rc;
}

status backend_devices(const run_context *run, backend_choice *b) {
  status rc = STATUS_OK;
  device_facts mine;
  if (b->kernels->describe == NULL) return STATUS_OK;
  if (b->devices == NULL) {
    rc = alloc_array(&b->devices, comm_size(run->c), sizeof *b->devices, "device facts");
    TRY(comm_agree(run->c, rc));
  }
  memset(&mine, 0, sizeof mine);
  b->kernels->describe(b->place, &mine);
  TRY(comm_allgather(run->c, &mine, b->devices, sizeof mine));
done:
  return rc;
}

/* Which rank computes on which GPU; a summary where that would be a page. */
static void announce_devices(const run_context *run, const backend_choice *b) {
  const int size = comm_size(run->c);
  if (b->devices == NULL) return;
  for (int r = 0; r < size && size <= MAP_RANKS; r++) {
    const device_facts *d = &b->devices[r];
    log_info("rank %d: %s, device %d of %d, %s", r, d->name, d->index, d->visible, d->uuid);
  }
  if (size > MAP_RANKS) log_info("%d ranks, each on a GPU (%s ...)", size, b->devices[0].name);
  const int shared = comm_node_size(run->c), visible = b->devices[comm_rank(run->c)].visible;
  if (shared > visible && comm_rank(run->c) == 0) {
    log_warning("%d ranks of this node share %d GPU%s: start one rank a GPU for speed", shared,
                visible, visible == 1 ? "" : "s");
  }
}

status backend_transport(const run_context *run, const transport_side *side, backend_choice *b) {
  return transport_choose(side, options_text(run->o, "run.transport"), comm_device_claim(),
                          &b->transport);
}

void backend_choice_release(backend_choice *b) {
  if (b->place != NULL) b->kernels->close(&b->place);
  alloc_free(&b->devices);
}

static const backend *backend_named(const char *name) {
  static const backend *const all[] = {&BACKEND_omp, &BACKEND_ref, &BACKEND_cuda};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (strcmp(all[i]->name, name) == 0) return all[i];
  }
  return NULL; /* auto */
}

status backend_choose(const run_context *run, const problem_size *size, backend_choice *out) {
  status rc = STATUS_OK;
  const device_request request = {
      .threads = run->threads, .node_rank = comm_node_rank(run->c), .memory = size->device_memory};
  TRY(comm_agree(run->c, transport_check(options_text(run->o, "run.transport"))));
  out->kernels = backend_named(options_text(run->o, "run.backend"));
  if (out->kernels == NULL) {
    TRY(try_gpu(run, size, &request, &out->place));
    out->kernels = out->place != NULL ? &BACKEND_cuda : &BACKEND_omp;
  }
  if (out->place == NULL) rc = out->kernels->open(&request, &out->place);
  if (rc == STATUS_OK) rc = fp_check("after the backend was opened"); /* libraries were loaded */
  TRY(comm_agree(run->c, rc));
  TRY(backend_devices(run, out));
  announce_devices(run, out);
done:
  if (rc != STATUS_OK) backend_choice_release(out);
  return rc;
}
