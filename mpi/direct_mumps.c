/* Direct solution by MUMPS (direct_package.h): parallel multifrontal LU, or L D L' of a symmetric
 * matrix.
 *
 * Each rank gives its own rows (distributed assembled input, ICNTL(18) = 3); right-hand sides are
 * gathered on rank 0 and solutions scattered from there: 8 n bytes of one rank. Pivots are chosen
 * by MUMPS as it is set up; its workspace is enlarged where it says that it was short. Needs the
 * header of the version that is opened: its struct is passed. Source: Amestoy, Duff, L'Excellent,
 * Koster, SIAM J. Matrix Anal. Appl. 23 (2001) 15-41; users' guide of MUMPS 5.5. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <dmumps_c.h>

#include "alloc.h"
#include "comm_native.h"
#include "direct_package.h"
#include "fp_check.h"

typedef void mumps_call(DMUMPS_STRUC_C *);

struct mumps {
  comm *c;
  mumps_call *call;
  DMUMPS_STRUC_C m;
  int begun;
  MUMPS_INT *row, *column;
  double *value;
  int *count, *first; /* rank 0: rows of each rank, where they begin */
  double *all;        /* rank 0: [n] */
  int rows;
};

/* Jobs of MUMPS, and places in its arrays (from 0; its guide counts from 1). */
enum { JOB_BEGIN = -1, JOB_END = -2, JOB_FACTORISE = 4, JOB_SOLVE = 3 };
enum { PRINT_LEVEL = 3, ENLARGE = 13, DISTRIBUTED = 17 };
enum {
  SINGULAR = -10,
  STRUCTURE = -6,
  SHORT_INTEGERS = -8,
  SHORT_REALS = -9,
  SHORT_BUFFER = -17,
  SHORT_BUFFER_2 = -20,
  NO_MEMORY = -13
};

/* "libdmumps-5.5.so" of header version "5.5.1", as Debian names it; else as MUMPS's make does. */
static status find(mumps_call **call) {
  char name[64];
  const char *dot = strchr(MUMPS_VERSION, '.'), *second = dot == NULL ? NULL : strchr(dot + 1, '.');
  const int kept = second == NULL ? (int)strlen(MUMPS_VERSION) : (int)(second - MUMPS_VERSION);
  snprintf(name, sizeof name, "libdmumps-%.*s.so", kept, MUMPS_VERSION);
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) library = dlopen("libdmumps.so", RTLD_NOW | RTLD_LOCAL);
  void *p = library == NULL ? NULL : dlsym(library, "dmumps_c");
  memcpy(call, &p, sizeof p); /* POSIX lets an address of data be one of a function */
  if (p == NULL) {
    return fail(
        STATUS_UNAVAILABLE,
        "MUMPS (%s), for method direct on CPUs, was not found; install it (Debian and Ubuntu: "
        "libmumps-%.*s, clusters: module load mumps) or put its folder on LD_LIBRARY_PATH",
        name, kept, MUMPS_VERSION);
  }
  return fp_check("after MUMPS was loaded");
}

status mumps_find(void) {
  mumps_call *call;
  return find(&call);
}

/* MUMPS marks its own failures; `what` was asked of it. The same on all ranks. */
static status check(const mumps *d, const char *what) {
  const int code = d->m.infog[0];
  if (code >= 0) return STATUS_OK;
  if (code == NO_MEMORY || code == -19) {
    return fail(STATUS_UNAVAILABLE, "not enough memory for MUMPS to %s (INFOG(1) = %d, %d)", what,
                code, (int)d->m.infog[1]);
  }
  return fail(STATUS_BROKEN, "MUMPS failed to %s: INFOG(1) = %d, INFOG(2) = %d", what, code,
              (int)d->m.infog[1]);
}

/* Own entries with global places, from 1; of a symmetric matrix those on and below the diagonal. */
static status take_entries(mumps *d, const csr_block *a, int symmetric) {
  status rc = STATUS_OK;
  const eidx entries = a->offset[a->rows];
  eidx at = 0;
  TRY(alloc_array(&d->row, entries, sizeof *d->row, "rows for MUMPS"));
  TRY(alloc_array(&d->column, entries, sizeof *d->column, "columns for MUMPS"));
  TRY(alloc_array(&d->value, entries, sizeof *d->value, "values for MUMPS"));
  for (lidx i = 0; i < a->rows; i++) {
    const gidx row = a->first_row + i;
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      const lidx j = a->column[e];
      const gidx column = j < a->rows ? a->first_row + j : a->ghost[j - a->rows];
      if (symmetric && column > row) continue;
      d->row[at] = (MUMPS_INT)row + 1;
      d->column[at] = (MUMPS_INT)column + 1;
      d->value[at++] = a->value[e];
    }
  }
  d->m.nnz_loc = (MUMPS_INT8)at;
  d->m.irn_loc = d->row;
  d->m.jcn_loc = d->column;
  d->m.a_loc = d->value;
done:
  return rc;
}

static status take_layout(mumps *d, const ownership *owned) {
  status rc = STATUS_OK;
  d->rows = (int)(ownership_end(owned) - ownership_begin(owned));
  if (owned->rank != 0) goto done;
  TRY(alloc_array(&d->count, owned->size, sizeof *d->count, "layout"));
  TRY(alloc_array(&d->first, owned->size, sizeof *d->first, "layout"));
  TRY(alloc_array(&d->all, owned->rows, sizeof *d->all, "right-hand side of MUMPS"));
  for (int r = 0; r < owned->size; r++) {
    d->count[r] = (int)(owned->first[r + 1] - owned->first[r]);
    d->first[r] = (int)owned->first[r];
  }
done:
  return rc;
}

static void run_job(mumps *d, int job) {
  d->m.job = job;
  d->call(&d->m);
}

/* Analysis and factorisation, with more room as long as MUMPS asks for it. */
static void factorise(mumps *d) {
  enum { TRIES = 5 };
  for (int i = 0; i < TRIES; i++) {
    run_job(d, JOB_FACTORISE);
    const int code = d->m.infog[0];
    if (code != SHORT_INTEGERS && code != SHORT_REALS && code != SHORT_BUFFER &&
        code != SHORT_BUFFER_2) {
      return;
    }
    d->m.icntl[ENLARGE] *= 4;
  }
}

static status begin(mumps *d, gidx n, int symmetric) {
  status rc = STATUS_OK;
  d->m.par = 1;
  d->m.sym = symmetric ? 2 : 0;
  d->m.comm_fortran = (MUMPS_INT)MPI_Comm_c2f(comm_native(d->c));
  run_job(d, JOB_BEGIN);
  d->begun = 1;
  TRY(check(d, "begin"));
  if (strncmp(d->m.version_number, MUMPS_VERSION, strlen(MUMPS_VERSION)) != 0) {
    rc = fail(STATUS_UNAVAILABLE,
              "MUMPS is version %s, built with headers of %s: build halosweep anew",
              d->m.version_number, MUMPS_VERSION);
    goto done;
  }
  for (int i = 0; i < 3; i++) d->m.icntl[i] = -1; /* no words */
  d->m.icntl[PRINT_LEVEL] = 0;
  d->m.icntl[ENLARGE] = 30;
  d->m.icntl[DISTRIBUTED] = 3;
  d->m.n = (MUMPS_INT)n;
done:
  return rc;
}

status mumps_open(comm *c, const csr_block *a, const ownership *owned, int symmetric, mumps **out,
                  char broke[DIRECT_TEXT]) {
  status rc = STATUS_OK;
  mumps *d = NULL;
  broke[0] = '\0';
  *out = NULL;
  if (owned->rows >= INT_MAX) {
    rc = fail(STATUS_UNAVAILABLE, "method direct: %lld rows; MUMPS numbers up to %d",
              (long long)owned->rows, INT_MAX);
  }
  if (rc == STATUS_OK) rc = alloc_zeroed(&d, 1, sizeof *d, "direct solver");
  if (rc == STATUS_OK) {
    d->c = c;
    rc = find(&d->call);
  }
  if (rc == STATUS_OK) rc = take_layout(d, owned);
  TRY(comm_agree(c, rc));
  TRY(comm_agree(c, begin(d, owned->rows, symmetric)));
  TRY(comm_agree(c, take_entries(d, a, symmetric)));
  factorise(d);
  const int code = d->m.infog[0];
  if (code == SINGULAR || code == STRUCTURE) {
    snprintf(broke, DIRECT_TEXT, "the matrix is singular (%s %lld of %lld)",
             code == STRUCTURE ? "its structure alone gives rank" : "a pivot is zero after",
             (long long)d->m.infog[1], (long long)owned->rows);
    goto done;
  }
  TRY(comm_agree(c, check(d, "factorise")));
  *out = d;
  d = NULL;
done:
  mumps_close(&d);
  return rc;
}

status mumps_solve(mumps *d, double *x) {
  status rc = STATUS_OK;
  MPI_Comm world = comm_native(d->c);
  TRY(comm_check(
      d->c, MPI_Gatherv(x, d->rows, MPI_DOUBLE, d->all, d->count, d->first, MPI_DOUBLE, 0, world),
      "MPI_Gatherv"));
  d->m.rhs = d->all;
  d->m.nrhs = 1;
  d->m.lrhs = d->m.n;
  run_job(d, JOB_SOLVE);
  TRY(comm_agree(d->c, check(d, "solve")));
  TRY(comm_check(
      d->c, MPI_Scatterv(d->all, d->count, d->first, MPI_DOUBLE, x, d->rows, MPI_DOUBLE, 0, world),
      "MPI_Scatterv"));
done:
  return rc;
}

void mumps_close(mumps **out) {
  mumps *d = *out;
  if (d == NULL) return;
  if (d->begun) run_job(d, JOB_END);
  alloc_free(&d->row);
  alloc_free(&d->column);
  alloc_free(&d->value);
  alloc_free(&d->count);
  alloc_free(&d->first);
  alloc_free(&d->all);
  alloc_free(out);
}
