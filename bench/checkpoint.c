/* Checkpoints against a bare collective HDF5 write and read of the same doubles, in the same run,
 * on the same folder; and the checksum's rate of one core.
 *
 *   mpirun -n P bench_checkpoint FOLDER [MIB per rank] [repeats]
 *
 * Each is made `repeats` times in turn; the best of each is printed. Both sides end with the data
 * on disk: the bare side calls H5Fflush, and rank 0 fsync. Reading is
 * from the page cache, and once more after the kernel was asked to drop the file (a real disk). */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "alloc.h"
#include "checkpoint_io.h"
#include "comm_native.h"
#include "crc32c.h"

typedef struct trial {
  comm *c;
  char bare[300], ours[300];
  int64_t length, first, count;
  double *x;
} trial;

static void demand(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "bench_checkpoint: %s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double bare(trial *t, int writing) {
  const hsize_t length = (hsize_t)t->length, at = (hsize_t)t->first, count = (hsize_t)t->count;
  comm_barrier(t->c);
  const double began = comm_clock();
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_fapl_mpio(access, comm_native(t->c), MPI_INFO_NULL);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  hid_t file = writing ? H5Fcreate(t->bare, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                       : H5Fopen(t->bare, H5F_ACC_RDONLY, access);
  hid_t space = H5Screate_simple(1, &length, NULL), memory = H5Screate_simple(1, &count, NULL);
  hid_t set = writing ? H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT,
                                   H5P_DEFAULT)
                      : H5Dopen2(file, "x", H5P_DEFAULT);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &count, NULL);
  const herr_t code = writing ? H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, transfer, t->x)
                              : H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, transfer, t->x);
  demand(code >= 0, "the bare transfer");
  H5Dclose(set);
  H5Sclose(memory);
  H5Sclose(space);
  if (writing) H5Fflush(file, H5F_SCOPE_GLOBAL);
  H5Fclose(file);
  H5Pclose(transfer);
  H5Pclose(access);
  if (writing && comm_rank(t->c) == 0) {
    int descriptor = open(t->bare, O_WRONLY);
    fsync(descriptor);
    close(descriptor);
  }
  comm_barrier(t->c);
  return comm_clock() - began;
}

static double ours(trial *t, int writing) {
  checkpoint_item item = {.name = "/x",
                          .type = CHECKPOINT_F64,
                          .length = t->length,
                          .first = t->first,
                          .count = t->count,
                          .data = t->x};
  comm_barrier(t->c);
  const double began = comm_clock();
  demand((writing ? checkpoint_write(t->c, t->ours, &item, 1, NULL)
                  : checkpoint_read(t->c, t->ours, &item, 1, NULL)) == STATUS_OK,
         "the checkpoint");
  comm_barrier(t->c);
  return comm_clock() - began;
}

static void forget(trial *t, const char *path) {
  comm_barrier(t->c);
  int descriptor = open(path, O_RDONLY);
  posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  close(descriptor);
  comm_barrier(t->c);
}

static double checksum(const trial *t) {
  const double began = comm_clock();
  volatile uint32_t kept = crc32c(t->x, (size_t)t->count * sizeof *t->x);
  (void)kept;
  return comm_clock() - began;
}

int main(int argc, char **argv) {
  trial t = {.c = NULL};
  double best[7];
  for (int i = 0; i < 7; i++) best[i] = INFINITY;
  if (comm_open(&argc, &argv, &t.c) != STATUS_OK || argc < 2) return 1;
  const int64_t mib = argc > 2 ? atoll(argv[2]) : 64;
  const int repeats = argc > 3 ? atoi(argv[3]) : 5, ranks = comm_size(t.c);
  t.count = mib << 17;
  t.length = t.count * ranks;
  t.first = t.count * comm_rank(t.c);
  snprintf(t.bare, sizeof t.bare, "%.200s/bench-bare.h5", argv[1]);
  snprintf(t.ours, sizeof t.ours, "%.200s/bench-ck.h5", argv[1]);
  demand(alloc_array(&t.x, t.count, sizeof *t.x, "vector") == STATUS_OK, "memory");
  for (int64_t i = 0; i < t.count; i++) t.x[i] = 1.0 / (double)(t.first + i + 1);
  for (int r = 0; r < repeats; r++) {
    best[0] = fmin(best[0], bare(&t, 1));
    best[1] = fmin(best[1], ours(&t, 1));
    best[2] = fmin(best[2], bare(&t, 0));
    best[3] = fmin(best[3], ours(&t, 0));
    best[4] = fmin(best[4], checksum(&t));
    forget(&t, t.bare);
    best[5] = fmin(best[5], bare(&t, 0));
    forget(&t, t.ours);
    best[6] = fmin(best[6], ours(&t, 0));
  }
  if (comm_rank(t.c) == 0) {
    const double mb = (double)t.length * 8e-6;
    printf("%d ranks, %.0f MB, best of %d\n", ranks, mb, repeats);
    printf("  write MB/s: bare HDF5 %.0f, checkpoint %.0f (%.0f %%)\n", mb / best[0], mb / best[1],
           100.0 * best[0] / best[1]);
    printf("  read  MB/s: bare HDF5 %.0f, checkpoint %.0f (%.0f %%)\n", mb / best[2], mb / best[3],
           100.0 * best[2] / best[3]);
    printf("  the same, dropped from the page cache: bare HDF5 %.0f, checkpoint %.0f (%.0f %%)\n",
           mb / best[5], mb / best[6], 100.0 * best[5] / best[6]);
    printf("  checksum GB/s a core (all ranks at once): %.1f\n", (double)t.count * 8e-9 / best[4]);
    remove(t.bare);
    remove(t.ours);
  }
  alloc_free(&t.x);
  comm_close(&t.c);
  return 0;
}
