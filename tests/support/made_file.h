/* Files made for one test and read in all ways, and what is said about them. Rank 0 makes and
 * removes them; names carry the number of ranks, so that tests may run side by side. */
#ifndef MADE_FILE_H
#define MADE_FILE_H

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "log.h"
#include "reading_fixture.h"

static const reading_sizes all_sizes[] = {
    {(int64_t)1 << 22, (int64_t)1 << 24, 0, 2}, {64, 1, 0, 1}, {5, 100, 2, 1}, {1000, 500, 1, 2}};
enum { SIZES = sizeof all_sizes / sizeof *all_sizes };

static inline const char *name_of(const char *stem) {
  static char name[8][256];
  static int turn;
  turn = (turn + 1) % 8;
  snprintf(name[turn], sizeof name[turn], "made-%d-%s", comm_size(world), stem);
  return name[turn];
}

/* Collective: rank 0 writes, plainly or as gzip. */
static inline const char *make(const char *stem, const char *text) {
  const char *name = name_of(stem);
  if (comm_rank(world) == 0) {
    if (strstr(stem, ".gz") != NULL) {
      gzFile file = gzopen(name, "w");
      gzwrite(file, text, (unsigned)strlen(text));
      gzclose(file);
    } else {
      FILE *file = fopen(name, "w");
      fputs(text, file);
      fclose(file);
    }
  }
  assert_ok(comm_barrier(world));
  return name;
}

static inline void unmake(const char *name) {
  assert_ok(comm_barrier(world));
  if (comm_rank(world) == 0) remove(name);
}

/* Reads `text`, plain and as gzip, with all sizes: refused each time with `why` in one error. */
static inline void assert_refused(const char *text, const char *why) {
  static const char *const stems[] = {"refused.mtx", "refused.mtx.gz"};
  for (int k = 0; k < 2; k++) {
    const char *name = make(stems[k], text);
    for (int s = 0; s < SIZES; s++) {
      reading r;
      read_with(name, &all_sizes[s], &r);
      if (r.code != STATUS_INPUT) fail_msg("code %d, not %d: %s", (int)r.code, STATUS_INPUT, text);
      if (strstr(r.said, why) == NULL) fail_msg("'%s' not in: %s", why, r.said);
      const char *first = strstr(r.said, "error:");
      if (first == NULL || strstr(first + 1, "error:") != NULL)
        fail_msg("not one error: %s", r.said);
    }
    unmake(name);
  }
}

/* Reads `text` in all ways; all give the same content and `merged` entries; returns the content. */
static inline uint64_t content_of(const char *text, int64_t merged, const char *warning) {
  static const char *const stems[] = {"content.mtx", "content.mtx.gz"};
  uint64_t content = 0;
  for (int k = 0; k < 2; k++) {
    const char *name = make(stems[k], text);
    for (int s = 0; s < SIZES; s++) {
      reading r;
      read_with(name, &all_sizes[s], &r);
      if (r.code != STATUS_OK) fail_msg("%s: %s", text, r.said);
      if (s == 0 && k == 0) content = r.facts.content;
      assert_int_equal(r.facts.merged, merged);
      if (r.facts.content != content) fail_msg("another content with sizes %d: %s", s, text);
      if (s == 0 && k == 0 && warning != NULL && strstr(r.said, warning) == NULL) {
        fail_msg("'%s' not in: %s", warning, r.said);
      }
      release(&r);
    }
    unmake(name);
  }
  return content;
}

#define BANNER "%%MatrixMarket matrix coordinate real "

/* Runs the tests of a file with a world. */
#define RUN_READING_TESTS(argc, argv, tests)                                                       \
  do {                                                                                             \
    if (comm_open(&(argc), &(argv), &world) != STATUS_OK) return 1;                                \
    log_open(comm_rank(world) == 0, 0);                                                            \
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);                                  \
    comm_close(&world);                                                                            \
    return failed != 0;                                                                            \
  } while (0)

#endif
