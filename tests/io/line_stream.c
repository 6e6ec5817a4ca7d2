/* Ranges of lines: however a file is cut, every line is handed out once, whole, by the range its
 * first byte is in; and the buffer stays as small as the longest line allows. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "decimal.h"
#include "line_stream.h"
#include "test.h"

static const char text[] =
    "first\n\nthird line\r\n  a somewhat longer fourth line\n5\n6\n\n\nno newline";
enum { BYTES = sizeof text - 1 };

static const char *made(void) {
  static const char name[] = "line_stream.txt";
  FILE *file = fopen(name, "w");
  fwrite(text, 1, BYTES, file);
  fclose(file);
  return name;
}

/* Appends what [start, stop) hands out to `all`. */
static size_t take(byte_source *source, int64_t start, int64_t stop, int64_t chunk, int by_line,
                   char *all, size_t filled) {
  line_stream lines;
  char *block;
  int64_t length;
  assert_ok(line_stream_open(source, 0, start, stop, chunk, &lines));
  for (;;) {
    assert_ok(by_line ? line_stream_line(&lines, 0, &block, &length)
                      : line_stream_block(&lines, &block, &length));
    if (length == 0) break;
    assert_int_equal(block[length - 1], '\n');
    memcpy(all + filled, block, (size_t)length);
    filled += (size_t)length;
  }
  line_stream_close(&lines);
  return filled;
}

static void every_cut_gives_every_line_once(void **state) {
  (void)state;
  byte_source source;
  const char *name = made();
  assert_ok(byte_source_open(name, &source));
  for (int64_t chunk = 1; chunk < 80; chunk += chunk < 10 ? 1 : 23) {
    for (int64_t one = 0; one <= BYTES; one++) {
      for (int64_t two = one; two <= BYTES; two += 3) {
        char all[BYTES + 64];
        size_t filled = take(&source, 0, one, chunk, 0, all, 0);
        /* the first range ends with the line that starts last in it */
        if (one > 0 && one < BYTES) assert_true((int64_t)filled >= one);
        if (one > 0) assert_null(memchr(all + one - 1, '\n', filled - (size_t)one));
        filled = take(&source, one, two, chunk, 1, all, filled);
        filled = take(&source, two, BYTES, chunk, 0, all, filled);
        assert_int_equal(filled, BYTES + 1);
        assert_memory_equal(all, text, BYTES);
      }
    }
  }
  byte_source_close(&source);
  remove(name);
}

static void the_buffer_does_not_grow_for_short_lines(void **state) {
  (void)state;
  byte_source source;
  line_stream lines;
  char *block;
  int64_t length, bytes = 0;
  const char name[] = "line_stream_long.txt";
  FILE *file = fopen(name, "w");
  for (int i = 0; i < 5000; i++) bytes += fprintf(file, "%d %d\n", i, 3 * i);
  fclose(file);
  assert_ok(byte_source_open(name, &source));
  assert_ok(line_stream_open(&source, 0, 0, bytes, 64, &lines));
  do {
    assert_ok(line_stream_block(&lines, &block, &length));
    bytes -= length;
  } while (length > 0);
  assert_int_equal(bytes, 0);
  assert_int_equal(lines.capacity, 64);
  line_stream_close(&lines);
  byte_source_close(&source);
  remove(name);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_cut_gives_every_line_once),
      cmocka_unit_test(the_buffer_does_not_grow_for_short_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
