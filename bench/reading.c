/* Reading speed and memory: writes a Matrix Market file of a 3-D Poisson-like matrix with
 * full-length values (or reads the file given), then times matrix_read.
 *
 *   mpirun -n P bench_reading [-m MEGABYTES] [-k KIND] [FILE]
 *
 * KIND: long (17 digits, the default), short (-1 and 6, as Poisson files have), random (long
 * values, entries in no order). Prints MB/s of text per rank, by the clock and by CPU time (the
 * machine may be shared), and the growth of the largest resident size over the share of the matrix
 * (12 bytes an entry). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "comm.h"
#include "log.h"
#include "reading.h"

static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Seven entries a row, n rows; line k is entry (start + k step) mod (7 n), step prime to 7 n. */
static int write_file(const char *path, int64_t megabytes, const char *kind) {
  const int random = strcmp(kind, "random") == 0, small = strcmp(kind, "short") == 0;
  const int64_t n = megabytes * 1000000 / (7 * (small ? 17 : 35)), far = 40 * 40;
  const int64_t reach[7] = {-far, -40, -1, 0, 1, 40, far}, entries = 7 * n;
  int64_t step = random ? 1000000007 : 1;
  FILE *file = fopen(path, "w");
  if (file == NULL) return 1;
  fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%lld %lld %lld\n", (long long)n,
          (long long)n, (long long)entries);
  for (int64_t k = 0, e = 0; k < entries; k++, e = (e + step) % entries) {
    int64_t row = e / 7, column = (row + reach[e % 7] + n) % n;
    if (small) {
      fprintf(file, "%lld %lld %d\n", (long long)row + 1, (long long)column + 1,
              e % 7 == 3 ? 6 : -1);
    } else {
      double value = (double)(mix((uint64_t)e) >> 11) * 0x1p-53 - 0.5;
      fprintf(file, "%lld %lld %.17g\n", (long long)row + 1, (long long)column + 1, value);
    }
  }
  return fclose(file);
}

static status measure(comm *c, const char *path, int64_t bytes) {
  status rc = STATUS_OK;
  csr_rows a;
  ownership owned;
  matrix_file facts;
  double *rhs = NULL;
  memset(&a, 0, sizeof a);
  memset(&owned, 0, sizeof owned);
  int64_t before = alloc_peak_bytes();
  TRY(comm_barrier(c));
  const clock_t busy = clock();
  double start = comm_clock();
  TRY(matrix_read(c, path, &a, &owned, &facts, &rhs));
  double seconds = comm_clock() - start, worked = (double)(clock() - busy) / CLOCKS_PER_SEC;
  TRY(comm_max_f64(c, &seconds, 1));
  TRY(comm_max_f64(c, &worked, 1));
  double growth = (double)(alloc_peak_bytes() - before), share = 12.0 * (double)a.offset[a.rows];
  double over = growth / share, beside = (growth - 2.5 * share) / 1048576.0;
  TRY(comm_max_f64(c, &over, 1));
  TRY(comm_max_f64(c, &beside, 1));
  double speed = (double)bytes / seconds / 1e6;
  log_info(
      "%s: %.1f MB, %lld entries, %d ranks: %.3f s, %.0f MB/s a rank (%.0f a second of its CPU); "
      "memory %.2f x the share, %.0f MiB over 2.5 x (64 allowed); content %016llx",
      path, (double)bytes / 1e6, (long long)facts.merged, comm_size(c), seconds,
      speed / comm_size(c), (double)bytes / worked / 1e6 / comm_size(c), over, beside,
      (unsigned long long)facts.content);
done:
  csr_rows_release(&a);
  ownership_release(&owned);
  alloc_free(&rhs);
  return rc;
}

int main(int argc, char **argv) {
  comm *c = NULL;
  int64_t megabytes = 200, bytes = 0;
  const char *kind = "long";
  char path[4096] = "";
  int letter;
  if (comm_open(&argc, &argv, &c) != STATUS_OK) return 1;
  log_open(comm_rank(c) == 0, 0);
  while ((letter = getopt(argc, argv, "m:k:")) != -1) {
    if (letter == 'm') megabytes = atoll(optarg);
    if (letter == 'k') kind = optarg;
  }
  const int ours = optind >= argc;
  if (comm_rank(c) == 0) {
    snprintf(path, sizeof path, "%s", ours ? "bench_reading.mtx" : argv[optind]);
    if (ours && write_file(path, megabytes, kind) != 0) return 1;
    FILE *file = fopen(path, "r");
    if (file != NULL) {
      fseek(file, 0, SEEK_END);
      bytes = ftell(file);
      fclose(file);
    }
  }
  status rc = comm_broadcast(c, path, sizeof path, 0);
  if (rc == STATUS_OK) rc = comm_broadcast(c, &bytes, sizeof bytes, 0);
  if (rc == STATUS_OK) rc = measure(c, path, bytes);
  if (ours && comm_rank(c) == 0) remove(path);
  comm_close(&c);
  return rc;
}
