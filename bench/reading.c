/* Reading speed and memory: writes a Matrix Market file of a 3-D Poisson-like matrix with
 * full-length values (or reads the files given), then times matrix_read.
 *
 *   mpirun -n P bench_reading [-m MEGABYTES] [-k KIND] [-t THREADS] [-o FILE | [-r ROUNDS] FILE...]
 *
 * -o writes FILE and ends. Several FILEs, one matrix in several formats, are read in turns, and the
 * best time of each is compared with the first one's; they have to have one content.
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

/* What reading a file took. */
typedef struct reading {
  double seconds, worked, over, beside; /* memory: over the share; MiB beside 2.5 x the share */
  int64_t bytes, entries;
  uint64_t content;
} reading;

static int64_t size_of(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  fseek(file, 0, SEEK_END);
  const int64_t bytes = ftell(file);
  fclose(file);
  return bytes;
}

static status measure(comm *c, const char *path, int threads, reading *out) {
  status rc = STATUS_OK;
  csr_rows a;
  ownership owned;
  matrix_file facts;
  double *rhs = NULL;
  memset(&a, 0, sizeof a);
  memset(&owned, 0, sizeof owned);
  const int64_t before = alloc_peak_bytes();
  TRY(comm_barrier(c));
  const clock_t busy = clock();
  const double start = comm_clock();
  TRY(matrix_read(c, path, threads, &a, &owned, &facts, &rhs));
  double most[4] = {comm_clock() - start, (double)(clock() - busy) / CLOCKS_PER_SEC};
  const double share = 12.0 * (double)a.offset[a.rows];
  const double growth = (double)(alloc_peak_bytes() - before);
  most[2] = growth / share;
  most[3] = (growth - 2.5 * share) / 1048576.0;
  TRY(comm_max_f64(c, most, 4));
  *out = (reading){most[0], most[1], most[2], most[3], size_of(path), facts.merged, facts.content};
done:
  csr_rows_release(&a);
  ownership_release(&owned);
  alloc_free(&rhs);
  return rc;
}

/* One file, with its memory. */
static status read_one(comm *c, const char *path, int threads) {
  reading r;
  const status rc = measure(c, path, threads, &r);
  if (rc != STATUS_OK) return rc;
  const double mb = (double)r.bytes / 1e6, ranks = comm_size(c);
  log_info(
      "%s: %.1f MB, %lld entries, %d ranks: %.3f s, %.0f MB/s a rank (%.0f a second of its CPU); "
      "memory %.2f x the share, %.0f MiB over 2.5 x (64 allowed); content %016llx",
      path, mb, (long long)r.entries, comm_size(c), r.seconds, mb / r.seconds / ranks,
      mb / r.worked / ranks, r.over, r.beside, (unsigned long long)r.content);
  return rc;
}

/* Several, in turns: times over the first one's. */
static status compare(comm *c, int count, char *const *path, int rounds, int threads) {
  status rc = STATUS_OK;
  enum { MOST = 8 };
  reading best[MOST], now;
  if (count > MOST) count = MOST;
  for (int r = 0; r < rounds; r++) {
    for (int i = 0; i < count; i++) {
      TRY(measure(c, path[i], threads, &now));
      const double worked = r == 0 || now.worked < best[i].worked ? now.worked : best[i].worked;
      if (r == 0 || now.seconds < best[i].seconds) best[i] = now;
      best[i].worked = worked;
    }
  }
  for (int i = 0; i < count; i++) {
    log_info("%-28s %8.1f MB  %lld entries, %d ranks x %d threads: best of %d %.4f s, %.1f x as "
             "fast as the first; by CPU time %.4f s, %.1f x%s",
             path[i], (double)best[i].bytes / 1e6, (long long)best[i].entries, comm_size(c),
             threads, rounds, best[i].seconds, best[0].seconds / best[i].seconds, best[i].worked,
             best[0].worked / best[i].worked,
             best[i].content == best[0].content ? "" : ": ANOTHER CONTENT");
  }
done:
  return rc;
}

int main(int argc, char **argv) {
  status rc = STATUS_OK;
  comm *c = NULL;
  int64_t megabytes = 200;
  const char *kind = "long", *keep = NULL, *made = "bench_reading.mtx";
  int letter, rounds = 5, threads = 1, failed = 0;
  if (comm_open(&argc, &argv, &c) != STATUS_OK) return 1;
  log_open(comm_rank(c) == 0, 0);
  while ((letter = getopt(argc, argv, "m:k:o:r:t:")) != -1) {
    if (letter == 'm') megabytes = atoll(optarg);
    if (letter == 'k') kind = optarg;
    if (letter == 'o') keep = optarg;
    if (letter == 'r') rounds = atoi(optarg);
    if (letter == 't') threads = atoi(optarg);
  }
  const int files = argc - optind, leads = comm_rank(c) == 0;
  if (files == 0 && leads) failed = write_file(keep != NULL ? keep : made, megabytes, kind);
  if (failed) rc = fail(STATUS_IO, "cannot write the file");
  TRY(comm_agree(c, rc));
  if (files > 1) {
    TRY(compare(c, files, argv + optind, rounds, threads));
  } else if (keep == NULL) {
    TRY(read_one(c, files == 1 ? argv[optind] : made, threads));
  }
done:
  if (rc != STATUS_OK) fprintf(stderr, "%s\n", fail_text());
  if (files == 0 && keep == NULL && leads) remove(made);
  comm_close(&c);
  return rc;
}
