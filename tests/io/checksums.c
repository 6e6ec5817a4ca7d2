/* CRC-32C by known answers and by pieces; block sums that do not depend on who holds what.
 * ranks: 1 2 3 5 */
#include "alloc.h"
#include "checkpoint_blocks.h"
#include "crc32c.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static comm *world;

/* Bit by bit, by the definition. */
static uint32_t by_bits(const unsigned char *p, size_t bytes) {
  uint32_t crc = ~UINT32_C(0);
  for (size_t i = 0; i < bytes; i++) {
    crc ^= p[i];
    for (int b = 0; b < 8; b++) crc = (crc & 1) != 0 ? crc >> 1 ^ UINT32_C(0x82f63b78) : crc >> 1;
  }
  return ~crc;
}

static void fill(unsigned char *p, size_t bytes) {
  uint32_t x = 12345;
  for (size_t i = 0; i < bytes; i++) {
    x = x * 1664525u + 1013904223u;
    p[i] = (unsigned char)(x >> 24);
  }
}

/* RFC 3720, B.4. */
static void known_answers(void **state) {
  (void)state;
  unsigned char zeros[32] = {0}, ones[32];
  memset(ones, 0xff, sizeof ones);
  assert_int_equal(crc32c("123456789", 9), 0xe3069283);
  assert_int_equal(crc32c(zeros, 32), 0x8a9136aa);
  assert_int_equal(crc32c(ones, 32), 0x62a8ab43);
}

static void all_lengths_and_pieces(void **state) {
  (void)state;
  enum { ROOM = 5000 };
  static unsigned char data[ROOM];
  fill(data, ROOM);
  for (size_t n = 0; n < ROOM; n = n * 9 / 8 + 1) {
    const uint32_t right = by_bits(data, n);
    assert_int_equal(crc32c(data, n), right);
    for (size_t cut = 0; cut <= n; cut += n / 7 + 1) {
      const uint32_t head = crc32c_shift(crc32c_run(0, data, cut), n - cut);
      const uint32_t tail = crc32c_run(0, data + cut, n - cut);
      assert_int_equal(crc32c_close(head ^ tail, n), right);
    }
  }
}

/* Each block's sum, wherever it was made, is that of the whole array in one hand. */
static void blocks_on_any_ranks(void **state) {
  (void)state;
  enum { LENGTH = 5 * CHECKSUM_BLOCK / 2 + 7 };
  const int size = comm_size(world), rank = comm_rank(world);
  int64_t *all = malloc(LENGTH * sizeof *all);
  assert_non_null(all);
  for (int64_t i = 0; i < LENGTH; i++) all[i] = i * i + 3;
  for (int shape = 0; shape < 4; shape++) {
    /* even; all on the last; first half on rank 0; ranks inside one block */
    int64_t first = LENGTH * (int64_t)rank / size, end = LENGTH * (int64_t)(rank + 1) / size;
    if (shape == 1) first = rank == size - 1 ? 0 : 0, end = rank == size - 1 ? LENGTH : 0;
    if (shape == 2 && size > 1) {
      first = rank == 0 ? 0 : LENGTH / 2, end = rank == 0 ? LENGTH / 2 : rank == 1 ? LENGTH : first;
      if (rank > 1) first = end = LENGTH;
    }
    if (shape == 3) {
      first = rank * 100, end = rank == size - 1 ? LENGTH : (rank + 1) * 100;
    }
    const block_span span = {LENGTH, first, end - first};
    block_sums sums;
    int64_t seen;
    assert_ok(block_sums_make(world, &span, sizeof *all, all + first, &sums));
    seen = sums.span.count;
    for (int64_t k = 0; k < sums.span.count; k++) {
      const int64_t begin = (sums.span.first + k) * CHECKSUM_BLOCK;
      const int64_t stop = begin + CHECKSUM_BLOCK < LENGTH ? begin + CHECKSUM_BLOCK : LENGTH;
      assert_int_equal(sums.sum[k], crc32c(all + begin, (size_t)(stop - begin) * sizeof *all));
    }
    assert_ok(comm_sum_i64(world, &seen, 1));
    assert_int_equal(seen, block_sums_count(LENGTH));
    block_sums_release(&sums);
  }
  free(all);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_answers),
      cmocka_unit_test(all_lengths_and_pieces),
      cmocka_unit_test(blocks_on_any_ranks),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
