/* How this process was started (launch.h). Cores are counted from the affinity mask and the
 * topology files of Linux: hardware threads with the same (package, core) are one core. Ranks share
 * cores when they have the same mask on the same host: hashes of both are gathered, 32 bytes a
 * rank. */
#define _GNU_SOURCE
#include "launch.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "fingerprint.h"
#include "log.h"
#include "processors.h"

enum { CPUS_MAX = 8192 };

/* A whole number of at least `least`, alone or before a comma (OMP_NUM_THREADS=4,2); else -1. */
static int64_t variable(const char *name, int64_t least) {
  const char *text = getenv(name);
  char *end;
  if (text == NULL || *text == '\0') return -1;
  long long value = strtoll(text, &end, 10);
  return end != text && (*end == '\0' || *end == ',') && value >= least && value < 1000000000
             ? value
             : -1;
}

launcher launch_read(void) {
  static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
  static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
  launcher l = {0};
  for (int i = 2; i >= 0; i--) { /* the first that is set wins */
    int64_t rank = variable(ranks[i], 0), size = variable(sizes[i], 1);
    if (rank >= 0) l.rank = (int)rank;
    if (size >= 0) l.size = size, l.size_from = sizes[i];
  }
  return l;
}

status launch_check(const launcher *l, int64_t stated, int mpi_size) {
  if (stated > 0 && stated != mpi_size) {
    return fail(STATUS_UNAVAILABLE,
                "run.ranks is %lld, but MPI has %d rank%s: start with mpirun -n %lld halosweep ... "
                "or srun --mpi=pmix -n %lld halosweep ...",
                (long long)stated, mpi_size, mpi_size == 1 ? "" : "s", (long long)stated,
                (long long)stated);
  }
  if (stated > 0 || l->size == 0 || l->size == mpi_size) return STATUS_OK;
  return fail(
      STATUS_UNAVAILABLE,
      "the launcher started %lld tasks (%s), but MPI has %d rank%s: these are separate copies "
      "that would write the same files. With Slurm use srun --mpi=pmix (srun --mpi=list shows "
      "what there is), or mpirun of the MPI that halosweep was built with. If separate copies "
      "are meant: --ranks %d",
      (long long)l->size, l->size_from, mpi_size, mpi_size == 1 ? "" : "s", mpi_size);
}

/* ---- cores ---- */

static int topology(int cpu, const char *what) {
  char path[128];
  int value = -1;
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, what);
  FILE *file = fopen(path, "r");
  if (file == NULL) return -1;
  if (fscanf(file, "%d", &value) != 1) value = -1;
  fclose(file);
  return value;
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Distinct (package, core) among the CPUs of the mask (NULL: all); a CPU without topology files
 * counts as a core. */
static int count_cores(const cpu_set_t *mask, int cpus) {
  static const int64_t alone = INT64_C(1) << 40;
  int64_t *core = NULL;
  int found = 0, distinct = 0;
  if (alloc_array(&core, cpus, sizeof *core, "cores") != STATUS_OK) {
    fail_clear(); /* a guess will do */
    return 1;
  }
  for (int cpu = 0; cpu < cpus; cpu++) {
    if (mask != NULL && !CPU_ISSET_S((size_t)cpu, CPUS_MAX / 8, mask)) continue;
    int id = topology(cpu, "core_id"), package = topology(cpu, "physical_package_id");
    if (mask == NULL && id < 0) continue;
    core[found++] = id < 0 ? alone + cpu : ((int64_t)package << 20) + id;
  }
  qsort(core, (size_t)found, sizeof *core, ascending);
  for (int i = 0; i < found; i++) distinct += i == 0 || core[i] != core[i - 1];
  alloc_free(&core);
  return distinct;
}

/* The affinity mask of this thread; 0 when it cannot be had. */
static int read_mask(cpu_set_t **mask) {
  if (alloc_zeroed(mask, CPUS_MAX / 8, 1, "affinity mask") != STATUS_OK) {
    fail_clear();
    return 0;
  }
  return sched_getaffinity(0, CPUS_MAX / 8, *mask) == 0;
}

void launch_cores(int *mask_cores, int *machine_cores) {
  cpu_set_t *mask = NULL;
  long configured = sysconf(_SC_NPROCESSORS_CONF);
  int cpus = configured > 0 && configured < CPUS_MAX ? (int)configured : 1;
  *machine_cores = count_cores(NULL, cpus);
  if (*machine_cores == 0) *machine_cores = cpus;
  *mask_cores = *machine_cores;
  if (read_mask(&mask)) {
    int in_mask = CPU_COUNT_S(CPUS_MAX / 8, mask), seen = processors_at_start();
    *mask_cores = count_cores(mask, CPUS_MAX);
    /* OMP_PROC_BIND narrows this thread's mask to its own place at start: the OpenMP library still
     * knows how many CPUs there were, so scale by the threads per core seen in the mask. */
    if (seen > in_mask && in_mask > 0) *mask_cores = seen * *mask_cores / in_mask;
    if (*mask_cores > *machine_cores) *mask_cores = *machine_cores;
  }
  if (*mask_cores < 1) *mask_cores = 1;
  alloc_free(&mask);
}

void launch_cpus(char out[LAUNCH_CPUS]) {
  cpu_set_t *mask = NULL;
  size_t used = 0;
  out[0] = '\0';
  const int cpus = read_mask(&mask) ? CPUS_MAX : 0;
  for (int cpu = 0, last; cpu < cpus; cpu = last + 1) {
    last = cpu;
    if (!CPU_ISSET_S((size_t)cpu, CPUS_MAX / 8, mask)) continue;
    while (last + 1 < CPUS_MAX && CPU_ISSET_S((size_t)last + 1, CPUS_MAX / 8, mask)) last++;
    if (used + 16 > LAUNCH_CPUS) {
      snprintf(out + used, LAUNCH_CPUS - used, "...");
      break;
    }
    int wrote = snprintf(out + used, LAUNCH_CPUS - used, cpu == last ? "%s%d" : "%s%d-%d",
                         used > 0 ? "," : "", cpu, last);
    used += (size_t)wrote;
  }
  alloc_free(&mask);
}

/* ---- sharing, threads ---- */

typedef struct seat {
  uint64_t host, mask;
  int64_t threads, cores;
} seat;

static seat my_seat(void) {
  char host[256] = "";
  cpu_set_t *mask = NULL;
  seat s = {0};
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  s.host = fingerprint_bytes(FINGERPRINT_BASIS, host, (int64_t)strlen(host));
  s.mask = read_mask(&mask) ? fingerprint_bytes(FINGERPRINT_BASIS, mask, CPUS_MAX / 8)
                            : FINGERPRINT_BASIS;
  alloc_free(&mask);
  return s;
}

/* Ranks with this rank's host and mask. Collective. */
static status count_sharing(comm *c, int *sharing) {
  status rc = STATUS_OK;
  seat *all = NULL, mine = my_seat();
  *sharing = 0;
  TRY(comm_agree(c, alloc_array(&all, comm_size(c), sizeof *all, "ranks' masks")));
  TRY(comm_allgather(c, &mine, all, sizeof mine));
  for (int r = 0; r < comm_size(c); r++) {
    *sharing += all[r].host == mine.host && all[r].mask == mine.mask;
  }
done:
  alloc_free(&all);
  return rc;
}

/* What is set and no number is not passed over: another number of threads than the one meant would
 * go unnoticed. As in OpenMP, of a list (one number a nesting level) the first counts. */
static status check_thread_variables(int64_t asked) {
  static const char *const names[] = {"OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"};
  for (int i = 0; i < 2 && asked <= 0; i++) {
    const char *text = getenv(names[i]);
    if (text == NULL || *text == '\0') continue;
    if (variable(names[i], 1) > 0) return STATUS_OK; /* the later one is not used */
    return fail(STATUS_USAGE, "%s='%.60s': expected a whole number of at least 1%s", names[i], text,
                i == 0 ? ", or a list of them" : "");
  }
  return STATUS_OK;
}

static void decide_threads(int64_t asked, placement *out) {
  int64_t omp = variable("OMP_NUM_THREADS", 1), slurm = variable("SLURM_CPUS_PER_TASK", 1);
  if (asked > 0) {
    out->threads = (int)asked, out->threads_from = "--threads";
  } else if (omp > 0) {
    out->threads = (int)omp, out->threads_from = "OMP_NUM_THREADS";
  } else if (slurm > 0) {
    out->threads = (int)slurm, out->threads_from = "SLURM_CPUS_PER_TASK";
  } else {
    out->threads = out->cores, out->threads_from = "allowed cores";
  }
}

static void warn_when_crowded(const placement *p) {
  if (p->threads <= p->cores) {
    if (p->sharing > p->mask_cores) {
      log_warning("%d ranks share %d core%s: they take turns, and wait for each other; start fewer",
                  p->sharing, p->mask_cores, p->mask_cores == 1 ? "" : "s");
    }
    return;
  }
  if (p->mask_cores < p->machine_cores) {
    log_warning("%d threads (%s) on %d allowed core%s per rank: the launcher bound each rank to "
                "fewer cores than it has threads; add --bind-to none or --map-by slot:PE=%d to "
                "mpirun, --cpus-per-task=%d to srun",
                p->threads, p->threads_from, p->cores, p->cores == 1 ? "" : "s", p->threads,
                p->threads);
  } else {
    log_warning("%d threads (%s) on %d core%s per rank: they take turns; ask for fewer (--threads "
                "%d) or for fewer ranks on this machine",
                p->threads, p->threads_from, p->cores, p->cores == 1 ? "" : "s", p->cores);
  }
}

static status check_threads(const placement *p) {
  if (p->threads > LAUNCH_THREADS_MAX) {
    return fail(STATUS_USAGE, "%s: %d threads; expected at most %d per rank", p->threads_from,
                p->threads, LAUNCH_THREADS_MAX);
  }
  return processors_try(p->threads);
}

status launch_place(comm *c, int64_t asked, placement *out) {
  status rc = STATUS_OK;
  memset(out, 0, sizeof *out);
  launch_cores(&out->mask_cores, &out->machine_cores);
  TRY(count_sharing(c, &out->sharing));
  out->cores = out->mask_cores / out->sharing;
  if (out->cores < 1) out->cores = 1;
  TRY(comm_agree(c, check_thread_variables(asked)));
  decide_threads(asked, out);
  warn_when_crowded(out);
  rc = comm_agree(c, check_threads(out));
done:
  return rc;
}

/* "4", or "2-4" where ranks differ. */
static void print_range(char out[64], int64_t low, int64_t high) {
  if (low == high) {
    snprintf(out, 64, "%lld", (long long)low);
  } else {
    snprintf(out, 64, "%lld-%lld", (long long)low, (long long)high);
  }
}

status launch_announce(comm *c, const char *version, const char *name, const placement *p) {
  status rc = STATUS_OK;
  char threads[64], cores[64];
  int64_t most[2] = {p->threads, p->cores}, least[2] = {p->threads, p->cores};
  TRY(comm_max_i64(c, most, 2));
  TRY(comm_min_i64(c, least, 2));
  print_range(threads, least[0], most[0]);
  print_range(cores, least[1], most[1]);
  log_info("halosweep %s %s: %d rank%s, %s thread%s each (%s), %s allowed core%s per rank", version,
           name, comm_size(c), comm_size(c) == 1 ? "" : "s", threads, most[0] == 1 ? "" : "s",
           p->threads_from, cores, most[1] == 1 ? "" : "s");
done:
  return rc;
}
