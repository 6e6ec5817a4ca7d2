/* `info`: what this build is, what it finds here, how the ranks sit, what is missing and how to get
 * it, and whether a problem is worth a GPU: "name: value" lines on standard output, or a report. */
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "direct_package.h"
#include "info.h"
#include "result_io.h"

static const backend *const BACKENDS[] = {&BACKEND_ref, &BACKEND_omp, &BACKEND_cuda};

/* What this build or this machine lacks: a sentence each that says how to get it. */
enum { LACKS = 4, LACK_TEXT = 300 };
typedef struct lacking {
  int count;
  const char *what[LACKS];
  char how[LACKS][LACK_TEXT];
} lacking;

static void add(lacking *l, const char *what, const char *how) {
  l->what[l->count] = what;
  snprintf(l->how[l->count++], LACK_TEXT, "%s", how);
}

static void find_lacks(const run_context *run, const info_seat *seat, lacking *l) {
  l->count = 0;
  if (!seat->has_gpu) add(l, "GPU", seat->no_gpu);
  if (mumps_find() != STATUS_OK) add(l, "MUMPS", fail_text());
  fail_clear();
  const direct_package *own = BACKEND_cuda.direct; /* NULL in a build without CUDA */
  if (own != NULL && seat->has_gpu && own->find() != STATUS_OK) add(l, own->name, fail_text());
  fail_clear();
  if (!compiler_found(run->compiler)) {
    char text[LACK_TEXT];
    snprintf(text, sizeof text,
             "C files and compiled formulas: %.150s is not there; install a C compiler, or "
             "HALOSWEEP_CC=/path/to/cc",
             compiler_name(run->compiler));
    add(l, "compiler", text);
  }
}

static const char *cuda_aware(void) {
  const int claim = comm_device_claim();
  return claim > 0 ? "yes" : claim == 0 ? "no" : "it does not say";
}

static void print_build(const run_context *run) {
  char mpi[COMM_LIBRARY], hdf5[32];
  comm_library(mpi);
  result_library(hdf5);
  report_print("version: %s\n", HALOSWEEP_VERSION);
  report_print("compiler: %s\n", HALOSWEEP_COMPILER);
  report_print("build: %s, x86-64-v3, no contraction\n", HALOSWEEP_BUILD);
  report_print("MPI: %s\n", mpi);
  report_print("MPI takes GPU memory, by its own words: %s\n", cuda_aware());
  report_print("HDF5: %s\n", hdf5);
  report_print("compiler of C files: %s\n", compiler_name(run->compiler));
  for (size_t i = 0; i < sizeof BACKENDS / sizeof *BACKENDS; i++) {
    report_print("backend %s: %s\n", BACKENDS[i]->name, BACKENDS[i]->help);
  }
}

static void print_launch(const run_context *run) {
  const placement *seat = run->seat;
  report_print("ranks: %d\n", comm_size(run->c));
  report_print("ranks on this node: %d\n", comm_node_size(run->c));
  report_print("threads per rank: %d (%s)\n", run->threads, seat->threads_from);
  report_print("cores of this node: %d\n", seat->machine_cores);
  report_print("cores of the affinity mask: %d, shared by %d rank%s\n", seat->mask_cores,
               seat->sharing, seat->sharing == 1 ? "" : "s");
}

static void print_bandwidth(const run_context *run, const bandwidth *b) {
  if (b->rate > 0.0) {
    report_print("memory bandwidth: %.1f GB/s (triad on %d rank%s x %d thread%s, best of %d passes "
                 "over %.0f MB%s)\n",
                 b->rate / 1e9, comm_size(run->c), comm_size(run->c) == 1 ? "" : "s", run->threads,
                 run->threads == 1 ? "" : "s", b->passes, b->bytes / 1e6,
                 b->in_cache ? ", partly in caches" : "");
  } else {
    report_print("memory bandwidth: not measured%s\n", b->no_memory ? ": no memory for it" : "");
  }
}

static void report_build(const run_context *run, report *r) {
  char mpi[COMM_LIBRARY], hdf5[32];
  comm_library(mpi);
  result_library(hdf5);
  report_word(r, "program", "halosweep");
  report_word(r, "command", "info");
  report_word(r, "version", HALOSWEEP_VERSION);
  report_integer(r, "exit_code", 0);
  report_word(r, "compiler", HALOSWEEP_COMPILER);
  report_word(r, "build", HALOSWEEP_BUILD);
  report_word(r, "mpi", mpi);
  report_word(r, "mpi_takes_gpu_memory", cuda_aware());
  report_word(r, "hdf5", hdf5);
  report_word(r, "c_file_compiler", compiler_name(run->compiler));
  report_integer(r, "ranks", comm_size(run->c));
  report_integer(r, "ranks_on_node", comm_node_size(run->c));
  report_integer(r, "threads", run->threads);
  report_word(r, "threads_from", run->seat->threads_from);
  report_integer(r, "cores_of_node", run->seat->machine_cores);
}

static void report_bandwidth(const bandwidth *b, report *r) {
  if (b->passes == 0) {
    report_word(r, "bandwidth", NULL);
    return;
  }
  report_open(r, "bandwidth");
  report_real(r, "bytes_per_second", b->rate);
  report_real(r, "bytes", b->bytes);
  report_integer(r, "passes", b->passes);
  report_flag(r, "partly_in_caches", b->in_cache);
  report_close(r);
}

static void report_lacks(const lacking *l, report *r) {
  report_open_list(r, "missing");
  for (int i = 0; i < l->count; i++) {
    report_open(r, NULL);
    report_word(r, "what", l->what[i]);
    report_word(r, "how", l->how[i]);
    report_close(r);
  }
  report_close(r);
}

/* An INI's report is that of the run it describes. */
static const char *report_name(const options *o) {
  const char *name = options_text(o, "run.report");
  return name != NULL && strncmp(options_where(o, "run.report"), "--", 2) == 0 ? name : NULL;
}

status command_info(run_context *run) {
  status rc = STATUS_OK;
  const int leads = comm_rank(run->c) == 0;
  const char *to = report_name(run->o);
  const int prints = leads && (to == NULL || strcmp(to, "-") != 0);
  bandwidth measured = {0};
  lacking lacks = {0};
  info_seat *seats = NULL;
  report *r = NULL;
  if (options_flag(run->o, "info.bandwidth")) TRY(info_bandwidth(run, &measured));
  TRY(info_seats(run, &seats));
  if (leads) find_lacks(run, &seats[0], &lacks);
  if (leads && to != NULL) rc = report_create(&r);
  TRY(comm_agree(run->c, rc));
  if (r != NULL) {
    report_build(run, r);
    info_seats_report(run, seats, r);
    report_bandwidth(&measured, r);
    report_lacks(&lacks, r);
  }
  if (prints) {
    print_build(run);
    print_launch(run);
    info_seats_print(run, seats);
    print_bandwidth(run, &measured);
    for (int i = 0; i < lacks.count; i++) report_print("missing: %s\n", lacks.how[i]);
  }
  TRY(info_problems(run, prints, r));
  if (r != NULL) rc = report_write(r, to);
  rc = comm_agree(run->c, rc);
done:
  report_release(&r);
  alloc_free(&seats);
  return rc;
}
