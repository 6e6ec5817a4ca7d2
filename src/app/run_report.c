/* The common part of reports (run_report.h; keys: docs/file-formats.md). */
#include "run_report.h"

#include "fingerprint.h"
#include "log.h"

static void put_devices(const run_context *run, const backend_choice *chosen, report *r) {
  const device_facts *d = chosen->devices;
  report_open_list(r, "devices");
  for (int rank = 0; d != NULL && rank < comm_size(run->c); rank++) {
    report_open(r, NULL);
    report_integer(r, "rank", rank);
    report_word(r, "name", d[rank].name);
    report_word(r, "uuid", d[rank].uuid);
    report_close(r);
  }
  report_close(r);
}

/* A command without halos has chosen none. */
static void put_transport(const transport_choice *t, report *r) {
  report_word(r, "transport", t->name != NULL ? t->name : "none");
  report_open_list(r, "transport_tried");
  for (int i = 0; i < t->tried; i++) {
    report_open(r, NULL);
    report_word(r, "transport", t->trial[i].name);
    report_word(r, "refused", t->trial[i].refused);
    report_close(r);
  }
  report_close(r);
}

static int64_t device_peak(const run_context *run, const backend_choice *chosen) {
  int64_t peak = 0;
  for (int rank = 0; chosen->devices != NULL && rank < comm_size(run->c); rank++) {
    const int64_t bytes = chosen->devices[rank].peak_bytes;
    if (bytes > peak) peak = bytes;
  }
  return peak;
}

static int64_t streamed(const run_context *run, const backend_choice *chosen) {
  int64_t bytes = 0;
  for (int rank = 0; chosen->devices != NULL && rank < comm_size(run->c); rank++) {
    bytes += chosen->devices[rank].streamed_bytes;
  }
  return bytes;
}

static void put_run(const run_context *run, const run_facts *f, report *r) {
  char mark[FINGERPRINT_TEXT];
  fingerprint_text(f->fingerprint, mark);
  report_word(r, "program", "halosweep");
  report_word(r, "command", f->command);
  report_word(r, "version", HALOSWEEP_VERSION);
  report_word(r, "config", options_effective(run->o));
  report_integer(r, "exit_code", f->exit_code);
  report_word(r, "reason", f->reason);
  report_word(r, "fingerprint", mark);
  report_word(r, "reproducible", f->reproducible);
  report_integer(r, "ranks", comm_size(run->c));
  report_integer(r, "threads", run->threads);
  report_word(r, "backend", f->chosen->kernels->name);
  put_devices(run, f->chosen, r);
  put_transport(&f->chosen->transport, r);
  report_open(r, "memory");
  report_integer(r, "host_peak_bytes", f->host_peak);
  report_integer(r, "device_peak_bytes", device_peak(run, f->chosen));
  report_integer(r, "streamed_bytes", streamed(run, f->chosen));
  report_close(r);
}

static void put_phases(const phase_summary *s, report *r) {
  report_open(r, "seconds");
  for (int p = 0; p < PHASES; p++) report_real(r, phase_name((phase)p), s->slowest[p]);
  report_real(r, "total", s->total);
  report_close(r);
  report_open(r, "phases");
  for (int p = 0; p < PHASES; p++) {
    report_open(r, phase_name((phase)p));
    report_real(r, "min", s->low[p]);
    report_real(r, "mean", s->mean[p]);
    report_real(r, "max", s->high[p]);
    report_close(r);
  }
  report_close(r);
}

static void put_traffic(const run_facts *f, report *r) {
  const double busy = f->phases->slowest[PHASE_COMPUTE] + f->phases->slowest[PHASE_COMMUNICATE];
  report_open(r, "traffic");
  report_integer(r, "bytes", (int64_t)f->bytes);
  report_real(r, "gbytes_per_second", busy > 0.0 ? f->bytes / busy * 1e-9 : 0.0);
  report_word(r, "fraction_of_measured_peak", NULL);
  report_close(r);
}

static void put_restart(const run_facts *f, report *r) {
  if (f->restarted_from == NULL || f->restarted_from[0] == '\0') {
    report_word(r, "restarted_from", NULL);
    return;
  }
  report_open(r, "restarted_from");
  report_word(r, "file", f->restarted_from);
  report_integer(r, "iteration", f->restarted_at);
  report_close(r);
}

void run_report_common(const run_context *run, const run_facts *f, report *r) {
  put_run(run, f, r);
  put_phases(f->phases, r);
  put_traffic(f, r);
  put_restart(f, r);
  report_open_list(r, "warnings");
  for (int i = 0; log_warning_at(i) != NULL; i++) report_word(r, NULL, log_warning_at(i));
  report_close(r);
}

void run_report_print_place(const run_context *run, const backend_choice *chosen) {
  const int ranks = comm_size(run->c);
  report_print("ran on       %d rank%s x %d thread%s, backend %s\n", ranks, ranks == 1 ? "" : "s",
               run->threads, run->threads == 1 ? "" : "s", chosen->kernels->name);
}

void run_report_print_end(const phase_summary *phases, uint64_t fingerprint) {
  char mark[FINGERPRINT_TEXT];
  report_print("time         %.3f s", phases->total);
  for (int p = 0, shown = 0; p < PHASES; p++) {
    if (phases->slowest[p] <= 0.0) continue;
    report_print("%s%s %.3f", shown++ == 0 ? ": " : ", ", phase_name((phase)p), phases->slowest[p]);
  }
  fingerprint_text(fingerprint, mark);
  report_print("\nfingerprint  %s\n", mark);
}
