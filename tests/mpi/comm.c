/* The communicator, with transfers cut into pieces as small as one element so that the cutting is
 * exercised. Data are functions of rank and position.
 * ranks: 1 2 3 4 7
 * With the argument "broken" it makes an MPI call fail on the last rank while the others wait
 * (tests/mpi/broken.sh). */
#include "comm.h"
#include "alloc.h"
#include "comm_native.h"
#include "log.h"
#include "test.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static comm *world;
static const int64_t limits[] = {INT_MAX, 1000, 7, 1};
enum { LIMITS = sizeof limits / sizeof limits[0] };

static int64_t value_of(int rank, int64_t i) { return ((int64_t)1 << 40) * (rank + 1) + i * 3; }

static void reductions_are_exact(void **state) {
  (void)state;
  enum { COUNT = 40 };
  const int size = comm_size(world);
  for (int l = 0; l < LIMITS; l++) {
    int64_t sum[COUNT], most[COUNT];
    comm_set_limit(world, limits[l]);
    for (int i = 0; i < COUNT; i++) sum[i] = most[i] = value_of(comm_rank(world), i);
    assert_ok(comm_sum_i64(world, sum, COUNT));
    assert_ok(comm_max_i64(world, most, COUNT));
    for (int i = 0; i < COUNT; i++) {
      assert_int_equal(sum[i], ((int64_t)1 << 39) * size * (size + 1) + 3 * (int64_t)i * size);
      assert_int_equal(most[i], value_of(size - 1, i));
    }
    assert_ok(comm_sum_i64(world, NULL, 0));
  }
  comm_set_limit(world, INT_MAX);
}

static void extremes_of_doubles(void **state) {
  (void)state;
  const int rank = comm_rank(world), last = comm_size(world) - 1;
  double base[6] = {-1.0 - rank,
                    rank == last ? 1e308 : -1e308,
                    rank == last ? -INFINITY : 5.0,
                    rank == last ? NAN : INFINITY,
                    rank == last ? -0.0 : 0.0,
                    5e-324 * (rank + 1)};
  double most[6], least[6];
  memcpy(most, base, sizeof most);
  memcpy(least, base, sizeof least);
  assert_ok(comm_max_f64(world, most, 6));
  assert_ok(comm_min_f64(world, least, 6));
  assert_same_bits(most[0], -1.0);
  assert_same_bits(least[0], -1.0 - last);
  assert_same_bits(most[1], 1e308);
  assert_same_bits(least[1], last == 0 ? 1e308 : -1e308);
  assert_same_bits(most[2], last == 0 ? -INFINITY : 5.0);
  assert_same_bits(least[2], -INFINITY);
  assert_true(isnan(most[3]) && isnan(least[3]));
  assert_same_bits(most[4], last == 0 ? -0.0 : 0.0);
  assert_same_bits(least[4], -0.0);
  assert_same_bits(most[5], 5e-324 * (last + 1));
  assert_same_bits(least[5], 5e-324);
}

static void scan_is_exclusive(void **state) {
  (void)state;
  const int rank = comm_rank(world);
  int64_t value = 3000000000 + rank, below = 0;
  for (int r = 0; r < rank; r++) below += 3000000000 + r;
  assert_ok(comm_exscan_i64(world, &value));
  assert_int_equal(value, below);
}

static void broadcast_and_gather(void **state) {
  (void)state;
  enum { BYTES = 100 };
  const int rank = comm_rank(world), size = comm_size(world);
  unsigned char mine[BYTES], sent[BYTES], *all;
  assert_ok(alloc_array(&all, (int64_t)size * BYTES, 1, "gathered"));
  for (int l = 0; l < LIMITS; l++) {
    comm_set_limit(world, limits[l]);
    for (int root = 0; root < size; root++) {
      for (int i = 0; i < BYTES; i++) {
        mine[i] = (unsigned char)(31 * rank + i);
        sent[i] = rank == root ? (unsigned char)(17 * root + i) : 0;
      }
      assert_ok(comm_broadcast(world, sent, BYTES, root));
      for (int i = 0; i < BYTES; i++) assert_int_equal(sent[i], (unsigned char)(17 * root + i));
    }
    memset(all, 0xee, (size_t)size * BYTES);
    assert_ok(comm_allgather(world, mine, all, BYTES));
    for (int i = 0; i < size * BYTES; i++) {
      assert_int_equal(all[i], (unsigned char)(31 * (i / BYTES) + i % BYTES));
    }
  }
  alloc_free(&all);
  comm_set_limit(world, INT_MAX);
}

/* How many bytes a sends b: some pairs nothing, sizes uneven. */
static int64_t bytes_between(int a, int b) { return (a * 5 + b * 3) % 4 == 1 ? 0 : 13 * a + b + 1; }

static void exchange_moves_the_right_bytes(void **state) {
  (void)state;
  const int rank = comm_rank(world), size = comm_size(world);
  int64_t *n, sent = 0, received = 0;
  unsigned char *out, *in;
  assert_ok(alloc_zeroed(&n, 5 * (int64_t)size, sizeof *n, "counts"));
  int64_t *give = n, *take = n + size, *from = n + 2 * size, *to = n + 3 * size,
          *told = n + 4 * size;
  for (int r = 0; r < size; r++) {
    give[r] = bytes_between(rank, r), take[r] = bytes_between(r, rank);
    from[r] = sent, to[r] = received + 2; /* a gap, which must stay as it is */
    sent += give[r], received = to[r] + take[r];
  }
  assert_ok(comm_transpose(world, give, told));
  for (int r = 0; r < size; r++) assert_int_equal(told[r], take[r]);
  assert_ok(alloc_array(&out, sent, 1, "sent"));
  assert_ok(alloc_array(&in, received, 1, "received"));
  for (int r = 0; r < size; r++) {
    for (int64_t i = 0; i < give[r]; i++) out[from[r] + i] = (unsigned char)(rank * 64 + r * 8 + i);
  }
  for (int l = 0; l < LIMITS; l++) {
    comm_set_limit(world, limits[l]);
    memset(in, 0xee, (size_t)received);
    assert_ok(comm_exchange(world, out, give, from, in, take, to));
    for (int r = 0; r < size; r++) {
      assert_int_equal(in[to[r] - 1], 0xee);
      for (int64_t i = 0; i < take[r]; i++) {
        assert_int_equal(in[to[r] + i], (unsigned char)(r * 64 + rank * 8 + i));
      }
    }
  }
  alloc_free(&out);
  alloc_free(&in);
  alloc_free(&n);
  comm_set_limit(world, INT_MAX);
}

/* What this rank printed to stderr while `mine` was agreed on. */
static status agree_and_listen(status mine, char *heard, size_t room) {
  FILE *file = tmpfile();
  assert_non_null(file);
  fflush(stderr);
  int kept = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  status code = comm_agree(world, mine);
  fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  rewind(file);
  heard[fread(heard, 1, room - 1, file)] = '\0';
  fclose(file);
  return code;
}

static void the_lowest_failing_rank_speaks(void **state) {
  (void)state;
  const int rank = comm_rank(world), size = comm_size(world);
  char heard[500], wanted[100];
  for (int first = 0; first < size; first++) {
    status mine = STATUS_OK;
    if (rank >= first) mine = fail(rank == first ? STATUS_IO : STATUS_INPUT, "I am %d", rank);
    assert_int_equal(agree_and_listen(mine, heard, sizeof heard), STATUS_IO);
    if (size > 1) {
      snprintf(wanted, sizeof wanted, "halosweep: error: rank %d: I am %d\n", first, first);
    } else {
      snprintf(wanted, sizeof wanted, "halosweep: error: I am %d\n", first);
    }
    assert_string_equal(heard, rank == first ? wanted : "");
    assert_string_equal(fail_text(), "");
    /* passing the agreed failure on to an outer agreement says nothing more */
    assert_int_equal(agree_and_listen(STATUS_IO, heard, sizeof heard), STATUS_IO);
    assert_string_equal(heard, "");
    assert_int_equal(agree_and_listen(STATUS_OK, heard, sizeof heard), STATUS_OK);
    assert_string_equal(heard, "");
  }
}

static void a_failure_all_share_is_said_once(void **state) {
  (void)state;
  char heard[500];
  status mine = fail(STATUS_USAGE, "same everywhere");
  assert_int_equal(agree_and_listen(mine, heard, sizeof heard), STATUS_USAGE);
  assert_string_equal(heard, comm_rank(world) == 0 ? "halosweep: error: same everywhere\n" : "");
}

static void a_failure_without_a_text_is_said_too(void **state) {
  (void)state;
  const int last = comm_size(world) - 1;
  char heard[500];
  status mine = comm_rank(world) == last ? STATUS_UNAVAILABLE : STATUS_OK;
  assert_int_equal(agree_and_listen(mine, heard, sizeof heard), STATUS_UNAVAILABLE);
  if (comm_rank(world) == last) {
    assert_non_null(strstr(heard, "code 7 and no text"));
  } else {
    assert_string_equal(heard, "");
  }
}

static void ranks_of_a_node(void **state) {
  (void)state; /* all tests run on one node */
  assert_int_equal(comm_node_size(world), comm_size(world));
  assert_int_equal(comm_node_rank(world), comm_rank(world));
}

/* One rank fails and leaves, the others wait for it in a reduction: all must end. */
static int broken(void) {
  int64_t one = 1;
  if (comm_rank(world) == comm_size(world) - 1) {
    char byte = 0;
    status rc =
        comm_check(world, MPI_Send(&byte, 1, MPI_BYTE, -77, 0, comm_native(world)), "MPI_Send");
    comm_agree(world, rc); /* as every command does on its way out */
  } else {
    comm_sum_i64(world, &one, 1);
  }
  comm_close(&world);
  return 0;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranks_of_a_node),
      cmocka_unit_test(reductions_are_exact),
      cmocka_unit_test(extremes_of_doubles),
      cmocka_unit_test(scan_is_exclusive),
      cmocka_unit_test(broadcast_and_gather),
      cmocka_unit_test(exchange_moves_the_right_bytes),
      cmocka_unit_test(the_lowest_failing_rank_speaks),
      cmocka_unit_test(a_failure_all_share_is_said_once),
      cmocka_unit_test(a_failure_without_a_text_is_said_too),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  if (argc > 1) return strcmp(argv[1], "broken") == 0 ? broken() : 2;
  setenv("CMOCKA_TEST_ABORT", "1", 1); /* a rank that fails ends them all */
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed != 0 || alloc_live() != 0;
}
