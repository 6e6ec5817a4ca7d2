/* A checkpoint that was changed in any place is refused, or what was changed is not used: bits
 * flipped everywhere, files cut at every length that matters. It never brings the program down.
 * ranks: 1 2 */
#include "alloc.h"
#include "checkpoint_io.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LENGTH = 2000, ITEMS = 3 };

static comm *world;
static const char PATH[] = "damage-ck.h5", COPY[] = "damage-copy.h5";
static double x[LENGTH];
static char said[600]; /* by the last read */
static char text[] = "some words that are a text";

static double value(int64_t i) { return 1.0 / (double)(i + 3); }

static void items_of(checkpoint_item *items) {
  const int64_t first = LENGTH * (int64_t)comm_rank(world) / comm_size(world);
  const int64_t end = LENGTH * (int64_t)(comm_rank(world) + 1) / comm_size(world);
  items[0] = (checkpoint_item){.name = "/a/x",
                               .type = CHECKPOINT_F64,
                               .length = LENGTH,
                               .first = first,
                               .count = end - first,
                               .data = x + first};
  items[1] = (checkpoint_item){.name = "/a/text",
                               .type = CHECKPOINT_BYTES,
                               .replicated = 1,
                               .length = (int64_t)strlen(text),
                               .data = text};
  items[2] = (checkpoint_item){
      .name = "/a/none", .type = CHECKPOINT_I64, .replicated = 1, .length = 0, .data = text};
}

/* Reads COPY: refused as damaged, or exactly what was written. Returns whether it was refused. */
static int read_copy(void) {
  checkpoint_item items[ITEMS];
  items_of(items);
  memset(x, 0, sizeof x);
  status rc = checkpoint_read(world, COPY, items, ITEMS, NULL);
  snprintf(said, sizeof said, "%s", fail_text());
  fail_clear();
  if (rc != STATUS_OK) {
    assert_int_equal(rc, STATUS_IO);
    return 1;
  }
  for (int64_t i = items[0].first; i < items[0].first + items[0].count; i++) {
    assert_same_bits(x[i], value(i));
  }
  assert_int_equal(items[1].length, strlen(text));
  assert_string_equal((const char *)items[1].data, text);
  assert_int_equal(items[2].length, 0);
  for (int i = 0; i < ITEMS; i++) {
    if (items[i].replicated) alloc_free(&items[i].data);
  }
  return 0;
}

static char *content;
static int64_t size;

static void put_copy(const char *bytes, int64_t count) {
  assert_ok(comm_barrier(world));
  if (comm_rank(world) == 0) {
    FILE *file = fopen(COPY, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, (size_t)count, file), count);
    fclose(file);
  }
  assert_ok(comm_barrier(world));
}

static int make(void **state) {
  (void)state;
  checkpoint_item items[ITEMS];
  for (int64_t i = 0; i < LENGTH; i++) x[i] = value(i);
  items_of(items);
  if (checkpoint_write(world, PATH, items, ITEMS, NULL) != STATUS_OK) return -1;
  FILE *file = fopen(PATH, "rb");
  struct stat found;
  if (file == NULL || fstat(fileno(file), &found) != 0) return -1;
  size = (int64_t)found.st_size;
  content = malloc((size_t)size);
  if (content == NULL || fread(content, 1, (size_t)size, file) != (size_t)size) return -1;
  fclose(file);
  return 0;
}

static int clean(void **state) {
  (void)state;
  free(content);
  if (comm_barrier(world) == STATUS_OK && comm_rank(world) == 0) {
    remove(PATH);
    remove(COPY);
  }
  return 0;
}

static void as_written(void **state) {
  (void)state;
  put_copy(content, size);
  assert_false(read_copy());
}

static void any_byte_changed(void **state) {
  (void)state;
  int refused = 0, tried = 0;
  const int64_t step = comm_size(world) == 1 ? 11 : 97;
  for (int64_t at = 0; at < size; at += at < 512 ? 1 : step) {
    const char was = content[at];
    content[at] = (char)(was ^ (1 << (at % 8)));
    put_copy(content, size);
    refused += read_copy();
    tried++;
    content[at] = was;
  }
  assert_true(refused > tried / 4); /* the rest is unused room of HDF5's structures */
}

/* Every changed byte of the data and of the mark is seen. */
static void data_changed(void **state) {
  (void)state;
  int found = 0;
  const double first = value(0);
  for (int64_t at = 0; at + 8 <= size && !found; at++) {
    if (memcmp(content + at, &first, 8) != 0) continue;
    found = 1;
    for (int64_t k = 0; k < LENGTH * 8; k += 613) {
      content[at + k] ^= 0x10;
      put_copy(content, size);
      assert_true(read_copy());
      assert_non_null(strstr(said, "/a/x is damaged: wrong checksum of elements 0 to 2000"));
      content[at + k] ^= 0x10;
    }
  }
  assert_true(found);
  for (int64_t at = 0; at < 49; at++) {
    content[at] ^= 0x01;
    put_copy(content, size);
    assert_true(read_copy());
    content[at] ^= 0x01;
  }
}

static void cut_anywhere(void **state) {
  (void)state;
  for (int64_t length = 0; length < size; length += length < 1200 ? 50 : size / 60) {
    put_copy(content, length);
    assert_true(read_copy());
  }
  put_copy(content, size - 1);
  assert_true(read_copy());
}

/* Whole, but of another shape. */
static void other_items(void **state) {
  (void)state;
  checkpoint_item items[ITEMS];
  put_copy(content, size);
  items_of(items);
  items[0].length = LENGTH + 1;
  assert_int_equal(checkpoint_read(world, COPY, items, ITEMS, NULL), STATUS_IO);
  fail_clear();
  items_of(items);
  items[1].name = "/a/other";
  assert_int_equal(checkpoint_read(world, COPY, items, ITEMS, NULL), STATUS_IO);
  fail_clear();
  items_of(items);
  items[2].type = CHECKPOINT_F64;
  assert_int_equal(checkpoint_read(world, COPY, items, ITEMS, NULL), STATUS_IO);
  fail_clear();
  items_of(items); /* part of what was sealed */
  assert_int_equal(checkpoint_read(world, COPY, items, 2, NULL), STATUS_IO);
  fail_clear();
}

static status take_all(void *context, checkpoint_item *item, int64_t length) {
  checkpoint_item items[ITEMS];
  items_of(items);
  *(int64_t *)context = length;
  item->first = items[0].first;
  item->count = items[0].count;
  item->data = items[0].data;
  return STATUS_OK;
}

/* An item that is as long as it is in the file. */
static void another_length(void **state) {
  (void)state;
  checkpoint_item items[ITEMS];
  int64_t told = 0;
  put_copy(content, size);
  items_of(items);
  items[0].length = items[0].first = items[0].count = 0;
  items[0].resize = take_all;
  items[0].context = &told;
  memset(x, 0, sizeof x);
  assert_ok(checkpoint_read(world, COPY, items, ITEMS, NULL));
  assert_int_equal(told, LENGTH);
  assert_int_equal(items[0].length, LENGTH);
  for (int64_t i = items[0].first; i < items[0].first + items[0].count; i++) {
    assert_same_bits(x[i], value(i));
  }
  for (int i = 1; i < ITEMS; i++) alloc_free(&items[i].data);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_written),   cmocka_unit_test(any_byte_changed),
      cmocka_unit_test(data_changed), cmocka_unit_test(cut_anywhere),
      cmocka_unit_test(other_items),  cmocka_unit_test(another_length),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int failed = cmocka_run_group_tests(tests, make, clean);
  comm_close(&world);
  return failed;
}
