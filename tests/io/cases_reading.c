/* Reading matrices: the shared cases and real matrices with their known counts, sums and norms, and
 * files made here for what they lack. Every good file must give the same content and the same rows
 * on any number of ranks, with any size of block and round.
 * ranks: 1 2 3 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "log.h"
#include "reading_fixture.h"

static const char *shared;

/* Sizes of blocks and rounds, down to where every line and entry is a boundary. */
static const reading_sizes all_sizes[] = {{(int64_t)1 << 22, (int64_t)1 << 24, 0, 2},
                                          {64, 1, 0, 1},
                                          {7, 100, 2, 1},
                                          {4096, 1 << 16, 2, 2}};
enum { SIZES = sizeof all_sizes / sizeof *all_sizes };

/* Field `index` of a tab-separated line, in `room`. */
static const char *field(const char *line, int index, char *room, size_t size) {
  for (; index > 0 && line != NULL; index--) {
    line = strchr(line, '\t');
    if (line != NULL) line++;
  }
  size_t length = line == NULL ? 0 : strcspn(line, "\t\n");
  if (length >= size) length = size - 1;
  if (length > 0) memcpy(room, line, length);
  room[length] = '\0';
  return room;
}

static FILE *open_table(const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", shared, name);
  FILE *file = fopen(path, "r");
  if (file == NULL) fail_msg("%s cannot be opened", path);
  return file;
}

/* Sum of all entries, Frobenius norm and |A 1|, each row summed in long double, all rows added. */
typedef struct norms {
  double sum, frobenius, ones;
} norms;

static norms norms_of(const reading *r) {
  long double part[3] = {0.0L, 0.0L, 0.0L}, whole[3] = {0.0L, 0.0L, 0.0L};
  long double *all = malloc((size_t)comm_size(world) * sizeof part);
  for (lidx i = 0; i < r->a.rows; i++) {
    long double row = 0.0L;
    for (eidx e = r->a.offset[i]; e < r->a.offset[i + 1]; e++) {
      row += (long double)r->a.value[e];
      part[1] += (long double)r->a.value[e] * (long double)r->a.value[e];
    }
    part[0] += row;
    part[2] += row * row;
  }
  assert_ok(comm_allgather(world, part, all, sizeof part));
  for (int k = 0; k < comm_size(world); k++) {
    for (int j = 0; j < 3; j++) whole[j] += all[3 * k + j];
  }
  free(all);
  return (norms){(double)whole[0], (double)sqrtl(whole[1]), (double)sqrtl(whole[2])};
}

static void assert_near(const char *name, const char *what, double found, const char *text,
                        double relative, double absolute) {
  double expected = strtod(text, NULL);
  if (isinf(expected) || strcmp(text, "n/a") == 0) return; /* long double has more range */
  if (fabs(found - expected) > relative * fabs(expected) + absolute) {
    fail_msg("%s: %s is %.17g, expected %s", name, what, found, text);
  }
}

static void assert_count(const char *name, const char *what, int64_t found, const char *text) {
  if (found != strtoll(text, NULL, 10)) {
    fail_msg("%s: %s is %lld, expected %s", name, what, (long long)found, text);
  }
}

/* Rows as they must be: ours, sorted, without duplicates, balanced at block boundaries. */
static void assert_sound(const char *name, const reading *r) {
  const csr_rows *a = &r->a;
  assert_int_equal(a->first_row, ownership_begin(&r->owned));
  assert_int_equal(a->rows, ownership_end(&r->owned) - ownership_begin(&r->owned));
  assert_int_equal(a->offset[0], 0);
  for (lidx i = 0; i < a->rows; i++) {
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
      if (a->column[e] < 0 || a->column[e] >= a->global_columns ||
          (e > a->offset[i] && a->column[e] <= a->column[e - 1])) {
        fail_msg("%s: row %lld is not sorted", name, (long long)(a->first_row + i));
      }
    }
  }
  int64_t entries = a->offset[a->rows];
  assert_ok(comm_sum_i64(world, &entries, 1));
  assert_int_equal(entries, r->facts.merged);
}

/* All sizes of block and round give the same. `limit`: skip the tiny ones for larger files. */
static void assert_same_everywhere(const char *path, const reading *r, int64_t limit) {
  for (int s = 1; s < SIZES; s++) {
    if (r->facts.stored > limit && all_sizes[s].chunk < 1000) continue;
    reading again;
    read_with(path, &all_sizes[s], &again);
    if (again.code != STATUS_OK) fail_msg("%s: sizes %d: %s", path, s, again.said);
    if (again.facts.content != r->facts.content) fail_msg("%s: sizes %d: other content", path, s);
    assert_int_equal(again.facts.merged, r->facts.merged);
    assert_int_equal(again.a.rows, r->a.rows);
    assert_memory_equal(again.a.offset, r->a.offset, (size_t)(r->a.rows + 1) * sizeof(eidx));
    eidx entries = r->a.offset[r->a.rows];
    if (entries > 0) {
      assert_memory_equal(again.a.column, r->a.column, (size_t)entries * sizeof(gidx));
      assert_memory_equal(again.a.value, r->a.value, (size_t)entries * sizeof(double));
    }
    release(&again);
  }
}

/* The oracle: a plain serial reader (gzgets, sscanf, strtod, qsort) of good coordinate files. */
typedef struct naive_entry {
  gidx row, column;
  int64_t order;
  double value;
} naive_entry;

static int naive_order(const void *a, const void *b) {
  const naive_entry *x = a, *y = b;
  if (x->row != y->row) return x->row < y->row ? -1 : 1;
  if (x->column != y->column) return x->column < y->column ? -1 : 1;
  return (x->order > y->order) - (x->order < y->order);
}

static uint64_t naive_mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static int64_t naive_read(const char *path, naive_entry **out) {
  gzFile file = gzopen(path, "r");
  char line[8192], banner[256], *at;
  long long rows, columns, stored;
  int64_t count = 0, kept = 0;
  naive_entry *entry;
  if (file == NULL || gzgets(file, banner, sizeof banner) == NULL) abort();
  const int pattern = strstr(banner, "pattern") != NULL, skew = strstr(banner, "skew") != NULL;
  const int mirrors = strstr(banner, "symmetric") != NULL;
  do {
    if (gzgets(file, line, sizeof line) == NULL) abort();
  } while (line[0] == '%' || sscanf(line, "%lld %lld %lld", &rows, &columns, &stored) != 3);
  entry = malloc((size_t)(2 * stored + 1) * sizeof *entry);
  while (gzgets(file, line, sizeof line) != NULL) {
    long long i = strtoll(line, &at, 10), j = strtoll(at, &at, 10);
    if (line[0] == '%' || i == 0) continue;
    double value = pattern ? 1.0 : strtod(at, NULL);
    entry[count] = (naive_entry){i - 1, j - 1, count, value};
    count++;
    if (mirrors && i != j) {
      entry[count] = (naive_entry){j - 1, i - 1, count, skew ? -value : value};
      count++;
    }
  }
  gzclose(file);
  qsort(entry, (size_t)count, sizeof *entry, naive_order);
  for (int64_t k = 0; k < count; k++) {
    if (kept > 0 && entry[kept - 1].row == entry[k].row &&
        entry[kept - 1].column == entry[k].column) {
      entry[kept - 1].value += entry[k].value;
    } else {
      entry[kept++] = entry[k];
    }
  }
  *out = entry;
  return kept;
}

/* This rank's rows and the content hash against the oracle's, bit for bit. */
static void assert_as_naive(const char *path, const reading *r) {
  naive_entry *entry;
  uint64_t content = 0;
  int64_t count = naive_read(path, &entry), at = 0;
  assert_int_equal(count, r->facts.merged);
  while (at < count && entry[at].row < r->a.first_row) at++;
  for (lidx i = 0; i < r->a.rows; i++) {
    for (eidx e = r->a.offset[i]; e < r->a.offset[i + 1]; e++, at++) {
      assert_int_equal(entry[at].row, r->a.first_row + i);
      assert_int_equal(entry[at].column, r->a.column[e]);
      assert_same_bits(entry[at].value, r->a.value[e]);
    }
  }
  for (int64_t k = 0; k < count; k++) {
    uint64_t row = naive_mix((uint64_t)entry[k].row);
    content += naive_mix(naive_mix(row ^ (uint64_t)entry[k].column) ^ bits_of(entry[k].value));
  }
  if (content != r->facts.content) fail_msg("%s: other content", path);
  free(entry);
}

/* Errors agree for all sizes too: code and text. */
static void assert_same_error(const char *path, const reading *r) {
  for (int s = 1; s < SIZES; s++) {
    reading again;
    read_with(path, &all_sizes[s], &again);
    assert_int_equal(again.code, r->code);
    assert_string_equal(again.said, r->said);
  }
}

static void assert_refused(const char *path, const reading *r) {
  const char *stem = strrchr(path, '/') + 1;
  if (r->code == STATUS_OK) fail_msg("%s was read", path);
  assert_int_equal(r->code, STATUS_INPUT);
  if (strstr(r->said, stem) == NULL) fail_msg("%s is not named: %s", stem, r->said);
  const char *first = strstr(r->said, "error:");
  if (first == NULL || strstr(first + 1, "error:") != NULL) fail_msg("not one error: %s", r->said);
}

/* Texts that the rulings ask for. */
static void assert_text(const char *name, const char *said) {
  static const char *const wanted[][2] = {
      {"007_", "%MatrixMarket matrix coordinate pattern symmetric"},
      {"008_", "not a Matrix Market file"},
      {"010_", "tar archive"},
      {"013_", "expected 50 entries, found 3"},
      {"014_rhs", "014_rhs_appended.mtx:14: data after the last of 10 entries"},
      {"014_one", "014_one_entry_too_many.mtx:6: data after the last of 3 entries"},
      {"016_", "016_zero_based.mtx:3: row index 0 is outside 1..3"},
      {"017_row", "mtx:6: row index 4 is outside 1..3"},
      {"017_col", "mtx:6: column index 4 is outside 1..3"},
      {"019_", "18446744073709551615"},
      {"020_", "4294967296 4294967296"},
      {"022_", "mtx:2: size line"},
      {"025_a", "mtx:4: value 'nan' is not finite"},
      {"025_b", "mtx:4: value '-Infinity' is not finite"},
      {"038_a", "complex"},
      {"038_b", "complex"},
      {"046_b", "empty"},
      {"050_b", "mtx:3: found '4,75'"},
      {"071_a", "empty"},
      {"071_b", "size line"},
      {"071_c", "size line"},
      {"074_", "mtx:4: found '2.5', expected an integer"},
      {"mangled11", "mtx:5: found 'zero', expected a column index"},
      {"mangled13", "mtx:7: column index 9999 is outside 1..4"},
      {"comments_west0067", "mtx:6: value 'nan' is not finite"},
      {"lis_", "mtx:5: size line: found '100 100 460 1 0'"},
      {"west0067_noheader", "%%MatrixMarket"}};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    if (strncmp(name, wanted[i][0], strlen(wanted[i][0])) != 0) continue;
    if (strstr(said, wanted[i][1]) == NULL)
      fail_msg("%s: '%s' not in: %s", name, wanted[i][1], said);
  }
}

static void the_cases(void **state) {
  (void)state;
  char line[2048], name[256], text[256], path[4096];
  FILE *table = open_table("cases/expected.tsv");
  int seen = 0, refused = 0;
  while (fgets(line, sizeof line, table) != NULL) {
    int number = atoi(line);
    if (number < 1 || number > 75) continue;
    field(line, 1, name, sizeof name);
    snprintf(path, sizeof path, "%s/cases/%s", shared, name);
    reading r;
    read_with(path, &all_sizes[0], &r);
    seen++;
    if (strcmp(field(line, 3, text, sizeof text), "error") == 0) {
      assert_refused(path, &r);
      assert_text(name, r.said);
      assert_same_error(path, &r);
      refused++;
      continue;
    }
    if (r.code != STATUS_OK) fail_msg("%s: %s", name, r.said);
    assert_sound(name, &r);
    assert_count(name, "rows", r.facts.rows, field(line, 5, text, sizeof text));
    assert_count(name, "columns", r.facts.columns, field(line, 6, text, sizeof text));
    assert_count(name, "expanded", r.facts.expanded, field(line, 7, text, sizeof text));
    assert_count(name, "merged", r.facts.merged, field(line, 8, text, sizeof text));
    norms found = norms_of(&r);
    assert_near(name, "sum", found.sum, field(line, 9, text, sizeof text), 1e-15, 1e-15);
    assert_near(name, "norm_b", found.ones, field(line, 10, text, sizeof text), 1e-15, 1e-185);
    if (number == 40) {
      assert_non_null(strstr(r.said, "2 entries repeat a position"));
      assert_int_equal(r.facts.stored, 7);
    } else if (r.said[0] != '\0') {
      fail_msg("%s: said %s", name, r.said);
    }
    if (number == 41) assert_int_equal(r.facts.explicit_zeros, 3);
    if (strstr(r.facts.format, "coordinate") != NULL && number != 26) assert_as_naive(path, &r);
    assert_same_everywhere(path, &r, 20000);
    release(&r);
  }
  fclose(table);
  assert_int_equal(seen, 69);
  assert_int_equal(refused, 25);
}

static void the_malformed(void **state) {
  (void)state;
  char line[2048], name[256], text[256], path[4096];
  FILE *table = open_table("matrices/malformed/index.tsv");
  int seen = 0;
  while (fgets(line, sizeof line, table) != NULL) {
    if (line[0] == '#' || strncmp(line, "file\t", 5) == 0) continue;
    field(line, 0, name, sizeof name);
    field(line, 1, text, sizeof text);
    snprintf(path, sizeof path, "%s/matrices/malformed/%s", shared, name);
    reading r;
    read_with(path, &all_sizes[0], &r);
    seen++;
    if (strncmp(text, "accept", 6) == 0) {
      if (r.code != STATUS_OK) fail_msg("%s: %s", name, r.said);
      assert_sound(name, &r);
      assert_same_everywhere(path, &r, 20000);
      release(&r);
    } else if (strcmp(text, "reject (rectangular)") == 0) { /* legal to read, not to solve */
      if (r.code != STATUS_OK) fail_msg("%s: %s", name, r.said);
      assert_int_not_equal(r.facts.rows, r.facts.columns);
      assert_non_null(strstr(r.said, "repeat a position"));
      release(&r);
    } else {
      assert_refused(path, &r);
      assert_text(name, r.said);
      assert_same_error(path, &r);
    }
  }
  fclose(table);
  assert_int_equal(seen, 16);
}

static void the_matrices(void **state) {
  (void)state;
  char line[4096], name[256], text[256], path[4096];
  FILE *table = open_table("matrices/index.tsv");
  int seen = 0;
  while (fgets(line, sizeof line, table) != NULL) {
    if (line[0] == '#' || strncmp(line, "name\t", 5) == 0) continue;
    field(line, 1, name, sizeof name);
    snprintf(path, sizeof path, "%s/matrices/%s", shared, name);
    reading r;
    read_with(path, &all_sizes[0], &r);
    seen++;
    if (strcmp(field(line, 12, text, sizeof text), "complex") == 0) {
      assert_refused(path, &r);
      continue;
    }
    if (r.code != STATUS_OK) fail_msg("%s: %s", name, r.said);
    assert_string_equal(r.said, "");
    assert_sound(name, &r);
    assert_count(name, "rows", r.facts.rows, field(line, 8, text, sizeof text));
    assert_count(name, "columns", r.facts.columns, field(line, 9, text, sizeof text));
    assert_count(name, "stored", r.facts.stored, field(line, 10, text, sizeof text));
    assert_count(name, "expanded", r.facts.expanded, field(line, 11, text, sizeof text));
    assert_count(name, "merged", r.facts.merged, text);
    /* the table counts zeros in the file; ours are of the expanded matrix */
    long long zeros = atoll(field(line, 15, text, sizeof text)),
              diagonal = atoll(field(line, 19, text, sizeof text));
    if (strcmp(field(line, 13, text, sizeof text), "general") != 0) zeros = 2 * zeros - diagonal;
    assert_int_equal(r.facts.explicit_zeros, zeros);
    norms found = norms_of(&r);
    assert_near(name, "norm_fro", found.frobenius, field(line, 43, text, sizeof text), 6e-14, 0.0);
    assert_near(name, "norm2_b", found.ones, field(line, 46, text, sizeof text), 6e-14, 0.0);
    if (r.facts.stored < 300000) assert_as_naive(path, &r);
    assert_same_everywhere(path, &r, 2000);
    release(&r);
  }
  fclose(table);
  assert_int_equal(seen, 33);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_cases),
      cmocka_unit_test(the_malformed),
      cmocka_unit_test(the_matrices),
  };
  shared = getenv("HALOSWEEP_SHARED");
  if (shared == NULL || access(shared, R_OK) != 0) return 77;
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  log_open(comm_rank(world) == 0, 0);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed != 0;
}
