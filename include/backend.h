/* A backend: the node-local work of one rank, as a table. `ref` is plain serial loops and the
 * oracle of all parity tests, `omp` the same bits on all cores, `cuda` on a GPU. Drivers (src/solve
 * ...) are written once against this table and never touch backend memory.
 *
 * Here is what every family needs: a device, its memory, halos, plain vectors, sums. What one
 * family computes is a table of its own (solve_backend.h, quad_backend.h, ode_backend.h). An
 * operation is there because more than one backend needs its own version of it. Functions are local
 * (they talk to no other rank) unless they say collective. Operations with sums add to the device's
 * current sums, which sums() (or a family's rule) collects and clears. */
#ifndef BACKEND_H
#define BACKEND_H

#include "comm.h"
#include "halo.h"
#include "space.h"

typedef struct device device; /* an opened backend: threads, or a GPU */

/* What can be done while halos travel, what is done after they arrived, and both. */
typedef enum part { PART_INTERIOR, PART_BOUNDARY, PART_ALL } part;

/* What one reduction carries: exact sums (wide.h; most steps have one to three, and pay for no
 * more), and a few counters. */
enum { SUMS_MAX = 32, COUNTERS = 2 };

typedef struct device_request {
  int threads;    /* CPU threads of this rank */
  int node_rank;  /* picks the GPU */
  int64_t memory; /* bytes of a GPU that may be used; 0: all it has */
} device_request;

/* What a device is, for the report. */
typedef struct device_facts {
  char name[128];         /* "NVIDIA H200" */
  char uuid[48];          /* "GPU-..." */
  int index, visible;     /* which of how many this process sees */
  int64_t memory_bytes;   /* of the whole device */
  int64_t peak_bytes;     /* allocated here at most, so far */
  int64_t launches;       /* kernels started so far */
  int64_t copies;         /* of data between host and device, so far */
  int64_t streamed_bytes; /* of matrices kept on the host that came for a pass, so far */
} device_facts;

typedef struct backend {
  const char *name;
  const char *help;

  status (*open)(const device_request *request, device **out);
  void (*close)(device **d);

  /* NULL where the device is the host itself. */
  void (*describe)(const device *d, device_facts *out);

  /* Memory. copy_in and copy_out count bytes and are complete when they return. */
  status (*alloc)(device *d, int64_t bytes, const char *what, dptr *out);
  void (*release)(device *d, dptr *p);
  status (*copy_in)(device *d, dptr to, hptr from, int64_t bytes);
  status (*copy_out)(device *d, hptr to, dptr from, int64_t bytes);

  /* Halo: owned entries of x into the plan's send buffer; the ghost buffer into x's ghosts. */
  status (*pack)(device *d, const halo *h, vec x);
  status (*unpack)(device *d, const halo *h, vec x);

  /* Vectors (owned entries). fill writes ghosts too. max_abs: exact, NaN when an entry is NaN. */
  status (*fill)(device *d, vec x, double value);
  status (*copy)(device *d, vec to, vec from);
  status (*max_abs)(device *d, vec x, double *out);
  /* sum 0: (scale x_i)(scale y_i) */
  status (*dot)(device *d, vec x, vec y, double scale);
  /* sum k, 0 <= k < count <= SUMS_MAX: (scale x[k]_i)(scale y_i) */
  status (*dots)(device *d, int count, const vec *x, vec y, double scale);
  /* out = fma(a, x, b y); NULL data of x or y: that term is left out (b y, a x, 0), nothing is
   * read. out may be x or y. */
  status (*combine)(device *d, double a, vec x, double b, vec y, vec out);
  /* out_i = w_i x_i; out may be x */
  status (*multiply)(device *d, vec w, vec x, vec out);
  /* out = fma(a[k], x[k], out) for k = 0, 1, .. count - 1, in this order, in one pass; any count */
  status (*accumulate)(device *d, int count, const double *a, const vec *x, vec out);

  /* Ends a step without a rule: `count` rounded sums into `out`. Clears the sums. *asked (may be
   * NULL): not 0 where this rank asks all to meet; returns how many ask. Collective. */
  status (*sums)(device *d, comm *c, int count, int64_t *asked, double *out);

  const struct solve_backend *solve;
  const struct quad_backend *quad;
  const struct heat_backend *heat;       /* NULL: not there */
  const struct ode_backend *ode;         /* NULL: not there */
  const struct coupled_backend *coupled; /* NULL: not there */
  const struct direct_package *direct;   /* factorises matrices on this device; NULL: none does */
} backend;

#ifdef __cplusplus
extern "C" {
#endif

extern const backend BACKEND_ref, BACKEND_omp, BACKEND_cuda;

#ifdef __cplusplus
}
#endif

#endif
