/* SELL storage: every entry of every row is found again, in order, whatever the form of its slice;
 * kinds, tiles and padding are as described. */
#include "sell.h"
#include "alloc.h"
#include "test.h"

#include <string.h>

/* A band matrix of distances {-3, -1, 0, 1, 3} whose rows are changed here and there. */
typedef struct sample {
  lidx rows, ghosts;
  int varied;    /* values differ from row to row */
  lidx every;    /* every so many rows: a row of another length (0: none) */
  lidx long_row; /* of long_size entries; -1: none */
  lidx long_size;
  lidx ghost_row; /* has an entry in a ghost column; -1: none */
} sample;

static lidx row_entries(const sample *p, lidx i, lidx *column) {
  static const lidx distance[] = {-3, -1, 0, 1, 3};
  lidx n = 0;
  if (i == p->long_row) {
    for (; n < p->long_size; n++) column[n] = n % p->rows;
    return n;
  }
  if (p->every > 0 && i % p->every == 2) {
    for (; n < i % 65; n++) column[n] = (n * 5 + i) % p->rows;
    return n;
  }
  for (int k = 0; k < 5; k++) {
    const lidx j = i + distance[k];
    if (j >= 0 && j < p->rows) column[n++] = j;
  }
  if (i == p->ghost_row) column[n++] = p->rows + p->ghosts - 1;
  return n;
}

static double entry_value(const sample *p, lidx i, lidx k) {
  return p->varied ? 1.0 + i + 1000.0 * k : 1.0 + k;
}

static void build(const sample *p, csr_block *a) {
  memset(a, 0, sizeof *a);
  a->rows = p->rows;
  a->columns = p->rows;
  a->ghosts = p->ghosts;
  const eidx room = 65 * (eidx)p->rows + p->long_size;
  assert_ok(alloc_array(&a->offset, (int64_t)p->rows + 1, sizeof *a->offset, "offsets"));
  assert_ok(alloc_array(&a->column, room, sizeof *a->column, "columns"));
  assert_ok(alloc_array(&a->value, room, sizeof *a->value, "values"));
  a->offset[0] = 0;
  for (lidx i = 0; i < p->rows; i++) {
    const eidx begin = a->offset[i];
    const lidx n = row_entries(p, i, a->column + begin);
    for (lidx k = 0; k < n; k++) a->value[begin + k] = entry_value(p, i, k);
    a->offset[i + 1] = begin + n;
  }
}

/* Entry k of a slot, by the layout's description. */
static void entry_at(const sell *s, lidx slice, int lane, int k, double *value, lidx *column) {
  const int kind = s->kind[slice];
  const double *v = s->value + s->value_at[slice];
  const lidx *c = s->column + s->column_at[slice];
  *value = kind == SLICE_CONSTANT ? v[k] : v[k * s->lanes + lane];
  *column = kind == SLICE_GATHER ? c[k * s->lanes + lane] : c[k] + lane;
}

static void check_slots(const sell *s, const csr_block *a, unsigned char *seen) {
  for (lidx slice = 0; slice < s->slices; slice++) {
    const lidx tile = slice / sell_slices_per_tile(s);
    assert_int_equal(s->value_at[slice] % SELL_ALIGN, 0);
    assert_int_equal(s->column_at[slice] % SELL_ALIGN, 0);
    for (int l = 0; l < s->lanes; l++) {
      const lidx slot = slice * s->lanes + l, row = tile * SELL_TILE + s->place[slot];
      if (l > 0) assert_true(s->length[slot] <= s->length[slot - 1]);
      if (row >= s->rows) {
        assert_int_equal(s->length[slot], 0);
        continue;
      }
      assert_int_equal(seen[row]++, 0);
      const eidx n = a->offset[row + 1] - a->offset[row];
      assert_int_equal(s->length[slot], n > ROW_CHAIN ? 0 : n);
      for (int k = 0; k < s->length[slot]; k++) {
        double value;
        lidx column;
        entry_at(s, slice, l, k, &value, &column);
        assert_int_equal(column, a->column[a->offset[row] + k]);
        assert_same_bits(value, a->value[a->offset[row] + k]);
      }
    }
  }
}

static void check_long_rows(const sell *s, const csr_block *a) {
  lidx at = 0;
  for (lidx i = 0; i < a->rows; i++) {
    const eidx begin = a->offset[i], n = a->offset[i + 1] - begin;
    if (n <= ROW_CHAIN) continue;
    assert_int_equal(s->long_row[at], i);
    assert_in_range(at, s->long_first[i / SELL_TILE], s->long_first[i / SELL_TILE + 1] - 1);
    assert_int_equal(s->long_offset[at + 1] - s->long_offset[at], n);
    assert_memory_equal(s->long_value + s->long_offset[at], a->value + begin, (size_t)n * 8);
    assert_memory_equal(s->long_column + s->long_offset[at], a->column + begin, (size_t)n * 4);
    at++;
  }
  assert_int_equal(s->long_rows, at);
}

static void check(const sample *p, int lanes, int packed) {
  csr_block a;
  sell s;
  unsigned char *seen;
  build(p, &a);
  assert_ok(sell_create(&a, lanes, packed, &s));
  assert_ok(alloc_zeroed(&seen, p->rows, 1, "rows seen"));
  check_slots(&s, &a, seen);
  for (lidx i = 0; i < p->rows; i++) assert_int_equal(seen[i], 1);
  check_long_rows(&s, &a);
  for (lidx t = 0; t < s.tiles; t++) {
    assert_int_equal(s.boundary[t], p->ghosts > 0 && p->ghost_row / SELL_TILE == t);
  }
  if (!packed) {
    for (lidx i = 0; i < s.slices; i++) assert_int_equal(s.kind[i], SLICE_GATHER);
  }
  alloc_free(&seen);
  sell_release(&s);
  csr_block_release(&a);
}

static void every_entry_is_found_again(void **state) {
  (void)state;
  static const lidx sizes[] = {0, 1, 7, 8, 9, 255, 256, 257, 1000};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    const lidx n = sizes[i];
    const sample samples[] = {
        {.rows = n, .long_row = -1, .ghost_row = -1},
        {.rows = n, .long_row = -1, .ghost_row = n - 1, .ghosts = 3, .varied = 1},
        /* a row with the same first entries as its neighbours, and one more */
        {.rows = n, .long_row = -1, .ghost_row = n / 2, .ghosts = 3},
        {.rows = n, .long_row = n / 2, .long_size = 65, .ghost_row = -1, .every = 5},
        {.rows = n,
         .long_row = n - 1,
         .long_size = 9000,
         .ghost_row = -1,
         .every = 11,
         .varied = 1}};
    for (int k = 0; k < 5; k++) {
      for (int lanes = 8; lanes <= 32; lanes *= 2) {
        check(&samples[k], lanes, 0);
        check(&samples[k], lanes, 1);
      }
    }
  }
}

static lidx count_kind(const sell *s, int kind) {
  lidx count = 0;
  for (lidx i = 0; i < s->slices; i++) count += s->kind[i] == kind;
  return count;
}

/* 512 rows of a band: but for the ends' shorter rows all slices are packed. */
static void stencils_are_packed(void **state) {
  (void)state;
  sample p = {.rows = 512, .long_row = -1, .ghost_row = -1};
  for (int varied = 0; varied < 2; varied++) {
    csr_block a;
    sell s;
    p.varied = varied;
    build(&p, &a);
    assert_ok(sell_create(&a, 8, 1, &s));
    assert_int_equal(count_kind(&s, varied ? SLICE_RUN : SLICE_CONSTANT), 62);
    assert_int_equal(count_kind(&s, SLICE_GATHER), 2);
    assert_int_equal(s.value_at[s.slices], varied ? 64 * 40 : 62 * 8 + 2 * 40);
    assert_int_equal(s.column_at[s.slices], 62 * 8 + 2 * 40);
    sell_release(&s);
    csr_block_release(&a);
  }
}

static void one_different_value_or_column_unpacks_a_slice(void **state) {
  (void)state;
  const sample p = {.rows = 256, .long_row = -1, .ghost_row = -1};
  csr_block a;
  sell s;
  build(&p, &a);
  a.value[a.offset[103] + 4] = -a.value[a.offset[103] + 4];
  a.column[a.offset[203] + 4] = 0;
  assert_ok(sell_create(&a, 8, 1, &s));
  assert_int_equal(count_kind(&s, SLICE_RUN), 1);
  assert_int_equal(count_kind(&s, SLICE_GATHER), 2); /* with the short rows' */
  sell_release(&s);
  csr_block_release(&a);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  const sample p = {.rows = 300, .long_row = 7, .long_size = 99, .ghost_row = -1};
  csr_block a;
  sell s;
  int failures = 0;
  build(&p, &a);
  const int64_t before = alloc_live();
  for (int n = 1; n < 30; n++) {
    alloc_fail_at(n);
    const status rc = sell_create(&a, 8, 1, &s);
    alloc_fail_at(0);
    failures += rc == STATUS_UNAVAILABLE;
    fail_clear();
    sell_release(&s);
    assert_int_equal(alloc_live(), before);
  }
  assert_int_equal(failures, 13);
  csr_block_release(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_entry_is_found_again),
      cmocka_unit_test(stencils_are_packed),
      cmocka_unit_test(one_different_value_or_column_unpacks_a_slice),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
