/* A folder of its own for each test, results with known content in it, and quiet failures: shared
 * by the tests of result files. Rank 0 handles the folder, between barriers. */
#ifndef RESULT_FOLDER_H
#define RESULT_FOLDER_H

#include "alloc.h"
#include "comm.h"
#include "result_internal.h"
#include "result_io.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static comm *world;
static char folder[200];
static char path[300]; /* folder/run.h5 */

static inline int is_root_rank(void) { return comm_rank(world) == 0; }

/* Tests act on the folder from rank 0, between barriers. */
#define ON_RANK_0(action)                                                                          \
  do {                                                                                             \
    assert_ok(comm_barrier(world));                                                                \
    if (is_root_rank()) {                                                                          \
      action;                                                                                      \
    }                                                                                              \
    assert_ok(comm_barrier(world));                                                                \
  } while (0)

static inline void in_folder(const char *name, char *out, size_t room) {
  assert_true((size_t)snprintf(out, room, "%s/%s", folder, name) < room);
}

static inline int enter(void **state) {
  (void)state;
  strcpy(folder, "result-XXXXXX");
  if (is_root_rank() && mkdtemp(folder) == NULL) return -1;
  if (comm_broadcast(world, folder, sizeof folder, 0) != STATUS_OK) return -1;
  in_folder("run.h5", path, sizeof path);
  return 0;
}

static inline int leave(void **state) {
  (void)state;
  if (comm_barrier(world) != STATUS_OK) return -1;
  if (!is_root_rank()) return 0;
  DIR *open_folder = opendir(folder);
  for (struct dirent *e; open_folder != NULL && (e = readdir(open_folder)) != NULL;) {
    char name[600];
    snprintf(name, sizeof name, "%s/%s", folder, e->d_name);
    remove(name);
  }
  if (open_folder != NULL) closedir(open_folder);
  return rmdir(folder);
}

/* Files in the folder, hidden ones too. */
static inline int files(void) {
  int count = 0;
  DIR *open_folder = opendir(folder);
  assert_non_null(open_folder);
  for (struct dirent *e; (e = readdir(open_folder)) != NULL;) {
    count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
  }
  closedir(open_folder);
  return count;
}

static inline void put(const char *where, const char *text, size_t bytes) {
  FILE *file = fopen(where, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, bytes, file), bytes);
  assert_int_equal(fclose(file), 0);
}

/* The whole file; *bytes receives its length. Freed with alloc_free. */
static inline char *get(const char *where, size_t *bytes) {
  struct stat facts;
  char *text;
  assert_int_equal(stat(where, &facts), 0);
  assert_ok(alloc_array(&text, facts.st_size + 1, 1, "file"));
  FILE *file = fopen(where, "rb");
  assert_non_null(file);
  *bytes = fread(text, 1, (size_t)facts.st_size, file);
  assert_int_equal(*bytes, facts.st_size);
  fclose(file);
  text[*bytes] = '\0';
  return text;
}

static inline char *find(char *text, size_t bytes, const void *what, size_t length) {
  for (size_t i = 0; i + length <= bytes; i++) {
    if (memcmp(text + i, what, length) == 0) return text + i;
  }
  return NULL;
}

static inline double value_of(gidx gi, int version) {
  return 1.0 / (double)(gi + 3) + 1e6 * version;
}

static inline void fill(const ownership *o, int version, double **values) {
  gidx begin = ownership_begin(o), rows = ownership_end(o) - begin;
  *values = NULL; /* a rank without rows may well have no array */
  if (rows == 0) return;
  assert_ok(alloc_array(values, rows, sizeof **values, "values"));
  for (gidx i = 0; i < rows; i++) (*values)[i] = value_of(begin + i, version);
}

/* Two vectors and a text; the status of the first step that failed. */
static inline status write_result(const char *where, const ownership *o, int version,
                                  const char *text) {
  result_file *file = NULL;
  double *values;
  fill(o, version, &values);
  status rc = STATUS_OK;
  TRY(result_create(world, where, &file));
  TRY(result_vector(file, "/solve/x", o, values));
  TRY(result_text(file, "config", text));
  TRY(result_vector(file, "/solve/again", o, values));
  TRY(result_close(&file, 1));
done:
  if (file != NULL) assert_ok(result_close(&file, 0));
  alloc_free(&values);
  return rc;
}

static inline void check_values(const char *where, const char *name, const ownership *o,
                                int version) {
  double *values;
  assert_ok(result_read_vector(world, where, name, o, &values));
  for (gidx gi = ownership_begin(o); gi < ownership_end(o); gi++) {
    assert_same_bits(values[gi - ownership_begin(o)], value_of(gi, version));
  }
  alloc_free(&values);
}

static inline void check_text(const char *where, const char *name, const char *wanted) {
  char *text;
  assert_ok(result_read_text(world, where, name, &text));
  assert_string_equal(text, wanted);
  alloc_free(&text);
}

/* The global vector lies in the file as consecutive little-endian doubles, once per dataset. */
static inline void check_bytes(const char *where, gidx rows, int version) {
  double *all;
  size_t bytes, length = (size_t)rows * sizeof *all;
  if (!is_root_rank() || rows == 0) return;
  assert_ok(alloc_array(&all, rows, sizeof *all, "whole vector"));
  for (gidx gi = 0; gi < rows; gi++) all[gi] = value_of(gi, version);
  char *text = get(where, &bytes);
  char *first = find(text, bytes, all, length);
  assert_non_null(first);
  assert_non_null(find(first + length, bytes - (size_t)(first + length - text), all, length));
  alloc_free(&text);
  alloc_free(&all);
}

/* Agreed failures are printed; here they are expected, so nobody needs to read them. */
static inline int silence(void) {
  int kept = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);
  fflush(stderr);
  dup2(nowhere, STDERR_FILENO);
  close(nowhere);
  return kept;
}

static inline void speak(int kept) {
  fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)

/* Runs the group with a world; a rank that fails ends them all. */
#define RUN_WITH_WORLD(tests)                                                                      \
  (setenv("CMOCKA_TEST_ABORT", "1", 1), cmocka_run_group_tests(tests, NULL, NULL))

#endif
