/* Where the ranks of this job sit: host, CPUs allowed, threads, GPU. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "info.h"

/* Up to so many ranks are printed one by one. */
enum { SEATS_SHOWN = 16 };

static void look_at_gpu(const run_context *run, info_seat *seat) {
  device *place = NULL;
  const device_request request = {.threads = run->threads, .node_rank = comm_node_rank(run->c)};
  if (BACKEND_cuda.open(&request, &place) == STATUS_OK) {
    seat->has_gpu = 1;
    BACKEND_cuda.describe(place, &seat->gpu);
  } else {
    snprintf(seat->no_gpu, sizeof seat->no_gpu, "%.190s", fail_text());
    fail_clear();
  }
  if (place != NULL) BACKEND_cuda.close(&place);
}

status info_seats(const run_context *run, info_seat **seats) {
  status rc = STATUS_OK;
  info_seat mine;
  memset(&mine, 0, sizeof mine);
  rc = alloc_array(seats, comm_size(run->c), sizeof **seats, "ranks' seats");
  TRY(comm_agree(run->c, rc));
  if (gethostname(mine.host, sizeof mine.host - 1) != 0) mine.host[0] = '\0';
  launch_cpus(mine.cpus);
  mine.threads = run->threads;
  mine.cores = run->seat->cores;
  look_at_gpu(run, &mine);
  rc = comm_allgather(run->c, &mine, *seats, sizeof mine);
done:
  return rc;
}

void info_seats_print(const run_context *run, const info_seat *seats) {
  const int size = comm_size(run->c);
  int gpus = 0;
  for (int r = 0; r < size; r++) gpus += seats[r].has_gpu;
  for (int r = 0; r < size && r < SEATS_SHOWN; r++) {
    const info_seat *s = &seats[r];
    report_print("rank %d: on %s, CPUs %s, %d thread%s on %d core%s", r, s->host, s->cpus,
                 s->threads, s->threads == 1 ? "" : "s", s->cores, s->cores == 1 ? "" : "s");
    if (s->has_gpu) {
      char bytes[REPORT_BYTES];
      report_bytes((double)s->gpu.memory_bytes, bytes);
      report_print(", GPU %d of %d: %s, %s, %s", s->gpu.index, s->gpu.visible, s->gpu.name, bytes,
                   s->gpu.uuid);
    }
    report_print("\n");
  }
  if (size > SEATS_SHOWN) report_print("... %d ranks more\n", size - SEATS_SHOWN);
  report_print("ranks with a GPU: %d of %d\n", gpus, size);
}

void info_seats_report(const run_context *run, const info_seat *seats, report *r) {
  report_open_list(r, "seats");
  for (int i = 0; i < comm_size(run->c); i++) {
    const info_seat *s = &seats[i];
    report_open(r, NULL);
    report_integer(r, "rank", i);
    report_word(r, "host", s->host);
    report_word(r, "cpus", s->cpus);
    report_integer(r, "threads", s->threads);
    report_integer(r, "cores", s->cores);
    report_word(r, "gpu", s->has_gpu ? s->gpu.name : NULL);
    if (s->has_gpu) {
      report_word(r, "uuid", s->gpu.uuid);
      report_integer(r, "gpu_memory_bytes", s->gpu.memory_bytes);
    } else {
      report_word(r, "no_gpu", s->no_gpu);
    }
    report_close(r);
  }
  report_close(r);
}
