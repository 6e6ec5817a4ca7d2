/* Chunks of a streamed matrix: they hold every element once, in order, fit the buffer, copy each
 * byte that is needed, and leave out what lies between. */
#include "stream_plan.h"

#include <string.h>

#include "alloc.h"
#include "test.h"

enum { MANY = 3000 };

static void buffers_follow_the_memory(void **state) {
  (void)state;
  assert_int_equal(stream_buffer_bytes(0), STREAM_LEAST);
  assert_int_equal(stream_buffer_bytes(INT64_C(1) << 20), STREAM_LEAST);
  assert_int_equal(stream_buffer_bytes(INT64_C(16) << 20), 1 << 20);
  assert_int_equal(stream_buffer_bytes((INT64_C(16) << 20) + 4096 * 16 - 1), 1 << 20);
  assert_int_equal(stream_buffer_bytes(INT64_C(140) << 30), STREAM_MOST);
  /* the widest tile, and the longest part of a row */
  const stream_chunk tile = {.values = 256 * 64, .columns = 256 * 64};
  const stream_chunk segment = {.values = 8192, .columns = 8192};
  assert_true(stream_chunk_bytes(&tile) <= STREAM_LEAST);
  assert_true(stream_chunk_bytes(&segment) <= STREAM_LEAST);
}

/* Elements of 0 .. 64 KiB; every 100th is followed by a gap where `gaps` is set. */
static void make(stream_extent *of, int gaps) {
  eidx value = 16, column = 0;
  for (lidx i = 0; i < MANY; i++) {
    const lidx n = i % 7 == 3 ? 0 : (i * 37 + 11) % 4096;
    of[i] = (stream_extent){value, column, n, i % 3 == 0 ? n / 32 : n};
    value += of[i].values;
    column += of[i].columns;
    if (gaps && i % 100 == 99) value += i % 200 == 99 ? 1000000 : 100;
  }
}

static void check_chunks(const stream_extent *of, lidx count, int64_t room, int64_t most) {
  stream_chunk *chunk = NULL;
  lidx chunks = 0, next = 0;
  int64_t copied = 0;
  assert_ok(stream_cut(of, count, room, &chunk, &chunks));
  for (lidx c = 0; c < chunks; c++) {
    assert_int_equal(chunk[c].first, next);
    assert_true(chunk[c].count > 0);
    assert_true(stream_chunk_bytes(&chunk[c]) <= room);
    for (lidx i = next; i < next + chunk[c].count; i++) {
      if (of[i].values == 0 && of[i].columns == 0) continue;
      assert_true(of[i].value_at >= chunk[c].value_at);
      assert_true(of[i].column_at >= chunk[c].column_at);
      assert_true(of[i].value_at + of[i].values <= chunk[c].value_at + chunk[c].values);
      assert_true(of[i].column_at + of[i].columns <= chunk[c].column_at + chunk[c].columns);
    }
    next += chunk[c].count;
    copied += chunk[c].values * 8 + chunk[c].columns * 4;
  }
  assert_int_equal(next, count);
  assert_true(copied <= most);
  alloc_free(&chunk);
}

static void every_element_travels_once(void **state) {
  (void)state;
  static stream_extent of[MANY];
  for (int gaps = 0; gaps < 2; gaps++) {
    int64_t need = 0;
    make(of, gaps);
    for (lidx i = 0; i < MANY; i++) need += of[i].values * 8 + of[i].columns * 4;
    /* small gaps are copied: 15 of 100 values, at most */
    for (int64_t room = STREAM_LEAST; room <= STREAM_MOST; room *= 2) {
      check_chunks(of, MANY, room, need + (gaps ? 15 * 800 : 0));
    }
    check_chunks(of, 1, STREAM_LEAST, need);
    check_chunks(of, 0, STREAM_LEAST, 0);
  }
}

/* Without gaps no two neighbours would fit one buffer. */
static void chunks_are_full(void **state) {
  (void)state;
  static stream_extent of[MANY];
  stream_chunk *chunk = NULL;
  lidx chunks = 0;
  make(of, 0);
  assert_ok(stream_cut(of, MANY, STREAM_LEAST, &chunk, &chunks));
  assert_true(chunks > 10);
  for (lidx c = 0; c + 1 < chunks; c++) {
    assert_true(stream_chunk_bytes(&chunk[c]) + 4096 * 12 + STREAM_ALIGN > STREAM_LEAST);
  }
  alloc_free(&chunk);
}

static void elements_larger_than_a_buffer(void **state) {
  (void)state;
  const stream_extent of[] = {{0, 0, 100, 100}, {100, 100, STREAM_LEAST / 8, 1}};
  stream_chunk *chunk = NULL;
  lidx chunks = 0;
  assert_int_equal(stream_cut(of, 2, STREAM_LEAST, &chunk, &chunks), STATUS_BUG);
  assert_non_null(strstr(fail_text(), "element 1"));
  fail_clear();
  alloc_free(&chunk);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(buffers_follow_the_memory),
      cmocka_unit_test(every_element_travels_once),
      cmocka_unit_test(chunks_are_full),
      cmocka_unit_test(elements_larger_than_a_buffer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
