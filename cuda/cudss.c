/* Direct solution of a whole matrix by cuDSS on one GPU (direct_package.h): reordering, symbolic
 * analysis and a supernodal L U, or L D L' of a symmetric matrix, once; then solves.
 *
 * The matrix stays on the GPU beside the factors (12 bytes an entry, 4 a row), with one right-hand
 * side and one solution. cuDSS pivots within diagonal blocks and replaces pivots below its epsilon
 * (of matrices whose entries are about 1, as direct_scaling.h makes them); rows of a general matrix
 * are matched to columns first, so that large entries lie on the diagonal. Memory of its own is not
 * in the account of memory.c: after the analysis its estimate is held against what is free, or
 * allowed. Source: NVIDIA, cuDSS documentation. */
#include "cudss.h"

#include <stdio.h>

#include "alloc.h"
#include "cudss_open.h"
#include "device.h"

typedef struct factors {
  device *d;
  cudss lib;
  cudss_handle *handle;
  cudss_config *config;
  cudss_data *data;
  cudss_matrix *a, *x, *b;
  int64_t bytes; /* of a vector */
  int32_t *offset;
  lidx *column;
  double *value, *right, *solution;
} factors;

static status find(void) {
  cudss lib;
  return cudss_open(&lib);
}

/* cuDSS answers a call; `what` was asked of it. */
static status check(const factors *f, int answer, const char *what) {
  const device_facts *g = &f->d->facts;
  if (answer == CUDSS_ANSWER_OK) return STATUS_OK;
  if (answer == CUDSS_ANSWER_NO_MEMORY) {
    return fail(
        STATUS_UNAVAILABLE,
        "not enough memory on GPU %d (%s) for cuDSS to %s; --backend omp has MUMPS, in host "
        "memory and spread over ranks",
        g->index, g->name, what);
  }
  return fail(STATUS_BROKEN, "GPU %d (%s): cuDSS %d.%d.%d failed to %s: status %d", g->index,
              g->name, f->lib.major, f->lib.minor, f->lib.patch, what, answer);
}

static status create(factors *f) {
  const int answer = f->lib.create(&f->handle);
  if (answer == CUDSS_ANSWER_OK || answer == CUDSS_ANSWER_NO_MEMORY) {
    return check(f, answer, "begin");
  }
  f->handle = NULL;
  return fail(STATUS_UNAVAILABLE,
              "cuDSS %d.%d.%d does not start here (status %d): it may be of another CUDA than the "
              "driver supports; --backend omp has MUMPS",
              f->lib.major, f->lib.minor, f->lib.patch, answer);
}

static status upload(factors *f, const direct_matrix *a) {
  status rc = STATUS_OK;
  device *d = f->d;
  const int64_t entries = a->offset[a->rows], index = (int64_t)sizeof(int32_t),
                real = (int64_t)sizeof(double), rows = (int64_t)a->rows + 1;
  f->bytes = a->rows * real;
  TRY(device_alloc(d, rows * index, "row offsets for cuDSS", &f->offset));
  TRY(device_alloc(d, entries * index, "columns for cuDSS", &f->column));
  TRY(device_alloc(d, entries * real, "values for cuDSS", &f->value));
  TRY(device_alloc(d, f->bytes, "right-hand side for cuDSS", &f->right));
  TRY(device_alloc(d, f->bytes, "solution of cuDSS", &f->solution));
  TRY(device_upload(d, f->offset, a->offset, rows * index));
  TRY(device_upload(d, f->column, a->column, entries * index));
  TRY(device_upload(d, f->value, a->value, entries * real));
done:
  return rc;
}

static int wrap(factors *f, const direct_matrix *a) {
  const int kind = a->symmetric ? CUDSS_SYMMETRIC : CUDSS_GENERAL;
  const int half = a->symmetric ? CUDSS_LOWER : CUDSS_WHOLE;
  const int64_t n = a->rows, entries = a->offset[n];
  if (f->lib.create_csr == NULL) {
    return f->lib.create_csr_7(&f->a, n, n, entries, f->offset, NULL, f->column, f->value,
                               CUDA_R_32I, CUDA_R_64F, kind, half, CUDSS_FROM_ZERO);
  }
  return f->lib.create_csr(&f->a, n, n, entries, f->offset, NULL, f->column, f->value, CUDA_R_32I,
                           CUDA_R_32I, CUDA_R_64F, kind, half, CUDSS_FROM_ZERO);
}

static status prepare(factors *f, const direct_matrix *a) {
  status rc = STATUS_OK;
  const cudss *c = &f->lib;
  const int64_t n = a->rows;
  TRY(create(f));
  TRY(check(f, c->set_stream(f->handle, f->d->main), "take a stream"));
  TRY(check(f, c->config_create(&f->config), "make its settings"));
  TRY(check(f, c->data_create(f->handle, &f->data), "make its data"));
  if (c->matching_auto != 0 && !a->symmetric) {
    TRY(check(
        f, c->config_set(f->config, CUDSS_SET_MATCHING, &c->matching_auto, sizeof c->matching_auto),
        "turn matching on"));
  }
  TRY(upload(f, a));
  TRY(check(f, wrap(f, a), "take the matrix"));
  TRY(check(f, c->create_dense(&f->b, n, 1, n, f->right, CUDA_R_64F, CUDSS_BY_COLUMNS),
            "take a right-hand side"));
  TRY(check(f, c->create_dense(&f->x, n, 1, n, f->solution, CUDA_R_64F, CUDSS_BY_COLUMNS),
            "take a solution"));
done:
  return rc;
}

static status execute(factors *f, int phase, const char *what) {
  return check(f, f->lib.execute(f->handle, phase, f->config, f->data, f->a, f->x, f->b), what);
}

/* What the factorisation will take must be free, and allowed. */
static status check_memory(factors *f) {
  status rc = STATUS_OK;
  int64_t bytes[CUDSS_MEMORY_NUMBERS] = {0}, room;
  size_t written;
  if (f->lib.data_get(f->handle, f->data, f->lib.ask_memory, bytes, sizeof bytes, &written) !=
      CUDSS_ANSWER_OK) {
    return STATUS_OK; /* it does not say: it will refuse where it must */
  }
  TRY(device_room(f->d, &room));
  if (bytes[CUDSS_MEMORY_MOST] > room) {
    rc = fail(STATUS_UNAVAILABLE,
              "cuDSS needs %lld bytes on GPU %d (%s) to factorise the matrix, %lld may be used; "
              "--backend omp has MUMPS, in host memory and spread over ranks",
              (long long)bytes[CUDSS_MEMORY_MOST], f->d->facts.index, f->d->facts.name,
              (long long)room);
  }
done:
  return rc;
}

/* A number that cuDSS keeps as the matrix's index type, or as int: here both are. */
static status ask(const factors *f, int what, int *out) {
  size_t written = 0;
  return check(f, f->lib.data_get(f->handle, f->data, what, out, sizeof *out, &written),
               "say how it went");
}

static void close_factors(void **made) {
  factors *f = *made;
  if (f == NULL) return;
  device *d = f->d;
  cudaStreamSynchronize(d->main);
  if (f->a != NULL) f->lib.matrix_destroy(f->a);
  if (f->x != NULL) f->lib.matrix_destroy(f->x);
  if (f->b != NULL) f->lib.matrix_destroy(f->b);
  if (f->data != NULL) f->lib.data_destroy(f->handle, f->data);
  if (f->config != NULL) f->lib.config_destroy(f->config);
  if (f->handle != NULL) f->lib.destroy(f->handle);
  device_free(d, f->offset);
  device_free(d, f->column);
  device_free(d, f->value);
  device_free(d, f->right);
  device_free(d, f->solution);
  alloc_free(made);
}

static status open_factors(device *d, const direct_matrix *a, void **out, int64_t *replaced,
                           char broke[DIRECT_TEXT]) {
  status rc = STATUS_OK;
  factors *f = NULL;
  int info = 0, pivots = 0;
  TRY(alloc_zeroed(&f, 1, sizeof *f, "cuDSS"));
  f->d = d;
  TRY(cudss_open(&f->lib));
  TRY(device_ready(d));
  TRY(prepare(f, a));
  TRY(execute(f, CUDSS_ANALYSE, "analyse the matrix"));
  TRY(check_memory(f));
  TRY(execute(f, CUDSS_FACTORISE, "factorise the matrix"));
  TRY(device_check(d, cudaStreamSynchronize(d->main), "factorisation by cuDSS"));
  TRY(ask(f, CUDSS_ASK_INFO, &info));
  TRY(ask(f, CUDSS_ASK_REPLACED, &pivots));
  if (info != 0) {
    snprintf(broke, DIRECT_TEXT, "the matrix is singular to cuDSS (its error indicator is %d)",
             info);
    goto done;
  }
  *replaced = pivots;
  *out = f;
  f = NULL;
done:
  if (f != NULL) close_factors((void **)&f);
  return rc;
}

static status solve(void *made, double *x) {
  status rc = STATUS_OK;
  factors *f = made;
  TRY(device_upload(f->d, f->right, x, f->bytes));
  TRY(execute(f, CUDSS_SOLVE, "solve"));
  TRY(cuda_copy_out(f->d, (hptr){x}, (dptr){f->solution}, f->bytes));
done:
  return rc;
}

const direct_package DIRECT_cudss = {
    .name = "cuDSS", .find = find, .open = open_factors, .solve = solve, .close = close_factors};
