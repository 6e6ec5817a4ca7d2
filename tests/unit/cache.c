/* The cache of compiled code: what is trusted, what is not, and that nothing depends on it. */
#define _GNU_SOURCE
#include "kernel_cache.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "log.h"

static char root[2000], folder[2100];

static const char *const KEY[] = {"one", "two", NULL}, *const OTHER[] = {"onet", "wo", NULL};

static void clear(void) {
  char command[6000];
  snprintf(command, sizeof command, "rm -rf '%s'; mkdir -m 700 '%s'", root, root);
  assert_int_equal(system(command), 0);
}

static kernel_cache *opened(void) {
  kernel_cache *cache;
  assert_ok(kernel_cache_open(&cache));
  return cache;
}

/* What is under KEY: 1 the right bytes, 0 nothing. */
static int found(kernel_cache *cache, kernel_key key, const char *expected) {
  char *bytes = NULL;
  int64_t count = -1;
  assert_ok(kernel_cache_read(cache, key, &bytes, &count));
  if (bytes == NULL) return 0;
  assert_int_equal(count, (int64_t)strlen(expected));
  assert_memory_equal(bytes, expected, (size_t)count);
  alloc_free(&bytes);
  return 1;
}

/* The path of the one entry. */
static const char *entry_path(void) {
  static char path[6000];
  DIR *listing = opendir(folder);
  assert_non_null(listing);
  path[0] = '\0';
  for (const struct dirent *d; (d = readdir(listing)) != NULL;) {
    if (d->d_name[0] == '.') continue;
    assert_string_equal(path, "");
    snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
  }
  closedir(listing);
  assert_string_not_equal(path, "");
  return path;
}

static void kept_and_found(void **state) {
  (void)state;
  clear();
  kernel_cache *cache = opened();
  assert_non_null(cache);
  assert_false(found(cache, KEY, "code"));
  kernel_cache_write(cache, KEY, "code", 4);
  assert_true(found(cache, KEY, "code"));
  assert_false(found(cache, OTHER, "code")); /* parts are not just joined */
  kernel_cache_write(cache, KEY, "better", 6);
  assert_true(found(cache, KEY, "better"));
  kernel_cache_close(&cache);
  assert_null(cache);
  cache = opened();
  assert_true(found(cache, KEY, "better"));
  struct stat s;
  assert_int_equal(stat(folder, &s), 0);
  assert_int_equal(s.st_mode & 07777, 0700);
  assert_int_equal(stat(entry_path(), &s), 0);
  assert_int_equal(s.st_mode & 07777, 0600);
  kernel_cache_close(&cache);
}

/* Any changed byte, any length: as good as none. */
static void damaged_entries_are_not_used(void **state) {
  (void)state;
  clear();
  kernel_cache *cache = opened();
  kernel_cache_write(cache, KEY, "code", 4);
  char whole[200];
  FILE *file = fopen(entry_path(), "rb");
  const size_t size = fread(whole, 1, sizeof whole, file);
  fclose(file);
  assert_true(size > 40 && size < sizeof whole);
  for (size_t i = 0; i < 2 * size; i++) {
    file = fopen(entry_path(), "wb");
    whole[i % size] ^= 0x10;
    fwrite(whole, 1, i < size ? size : i - size, file);
    fclose(file);
    whole[i % size] ^= 0x10;
    assert_false(found(cache, KEY, "code"));
  }
  kernel_cache_write(cache, KEY, "code", 4);
  assert_true(found(cache, KEY, "code"));
  kernel_cache_close(&cache);
}

/* An entry under the name of another key: the whole key decides. */
static void the_key_is_compared(void **state) {
  (void)state;
  clear();
  kernel_cache *cache = opened();
  char mine[6000], theirs[6000];
  kernel_cache_write(cache, KEY, "code", 4);
  snprintf(mine, sizeof mine, "%s", entry_path());
  assert_int_equal(rename(mine, "elsewhere"), 0);
  kernel_cache_write(cache, OTHER, "other", 5);
  snprintf(theirs, sizeof theirs, "%s", entry_path());
  assert_int_equal(rename("elsewhere", theirs), 0);
  assert_false(found(cache, OTHER, "code"));
  kernel_cache_close(&cache);
}

static void links_and_strangers_are_not_followed(void **state) {
  (void)state;
  clear();
  kernel_cache *cache = opened();
  kernel_cache_write(cache, KEY, "code", 4);
  char path[6000];
  snprintf(path, sizeof path, "%s", entry_path());
  assert_int_equal(rename(path, "elsewhere"), 0);
  assert_int_equal(symlink("elsewhere", path), 0);
  char real[6000];
  assert_non_null(realpath("elsewhere", real));
  unlink(path);
  assert_int_equal(symlink(real, path), 0);
  assert_false(found(cache, KEY, "code")); /* a link */
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_false(found(cache, KEY, "code")); /* would wait for ever */
  unlink(path);
  assert_int_equal(rename("elsewhere", path), 0);
  assert_true(found(cache, KEY, "code"));
  assert_int_equal(chmod(path, 0622), 0);
  assert_false(found(cache, KEY, "code")); /* others may write it */
  assert_int_equal(chmod(path, 0600), 0);
  if (chown(path, 12345, 12345) == 0) { /* root only */
    assert_false(found(cache, KEY, "code"));
  }
  kernel_cache_close(&cache);
}

/* Everything works without one: reading finds nothing, writing does nothing. */
static void unusable(const char *why) {
  kernel_cache *cache = opened();
  if (cache != NULL) fail_msg("a cache in spite of %s", why);
  kernel_cache_write(cache, KEY, "code", 4);
  assert_false(found(cache, KEY, "code"));
  kernel_cache_close(&cache);
}

static void unusable_folders(void **state) {
  (void)state;
  char elsewhere[6000];
  clear();
  snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", root);
  assert_int_equal(mkdir(elsewhere, 0700), 0);
  assert_int_equal(symlink(elsewhere, folder), 0);
  unusable("a link");
  unlink(folder);
  assert_int_equal(mkdir(folder, 0755), 0);
  assert_int_equal(chmod(folder, 0755), 0);
  unusable("its mode");
  assert_int_equal(chmod(folder, 0700), 0);
  if (chown(folder, 12345, 12345) == 0) unusable("its owner");
  rmdir(folder);
  fclose(fopen(folder, "w"));
  unusable("a file");
  unlink(folder);
  setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
  unusable("a place that cannot be made");
  unsetenv("XDG_CACHE_HOME");
  char *home = getenv("HOME") == NULL ? NULL : strdup(getenv("HOME"));
  unsetenv("HOME");
  unusable("no HOME");
  setenv("HOME", root, 1);
  kernel_cache *cache = opened(); /* ~/.cache/halosweep */
  assert_non_null(cache);
  kernel_cache_close(&cache);
  snprintf(elsewhere, sizeof elsewhere, "%s/.cache/halosweep", root);
  assert_int_equal(access(elsewhere, F_OK), 0);
  if (home != NULL) setenv("HOME", home, 1);
  free(home);
  setenv("XDG_CACHE_HOME", root, 1);
}

/* A folder that goes away under us: said once, nothing else. */
static void writing_fails(void **state) {
  (void)state;
  clear();
  kernel_cache *cache = opened();
  assert_int_equal(rmdir(folder), 0);
  kernel_cache_write(cache, KEY, "code", 4);
  kernel_cache_write(cache, KEY, "code", 4);
  assert_false(found(cache, KEY, "code"));
  assert_string_equal(fail_text(), "");
  kernel_cache_close(&cache);
}

static void plant(const char *name, int64_t size, int64_t age) {
  char path[6000];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(ftruncate(fileno(file), size), 0);
  const struct timespec t = {time(NULL) - age, 0}, both[2] = {t, t};
  assert_int_equal(futimens(fileno(file), both), 0);
  fclose(file);
}

static int there(const char *name) {
  char path[6000];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return access(path, F_OK) == 0;
}

/* Sparse files stand for entries; the oldest go first, others' files stay. */
static void the_size_is_bounded(void **state) {
  (void)state;
  clear();
  kernel_cache *cache = opened();
  plant("a.kernel", INT64_C(100) << 20, 5000);
  plant("b.kernel", INT64_C(100) << 20, 300);
  plant(".writing-1-2", 10, 5000);
  plant(".writing-3-4", 10, 5);
  plant("readme", INT64_C(500) << 20, 9000);
  kernel_cache_write(cache, KEY, "code", 4);
  assert_true(there("a.kernel") && there("b.kernel") && there("readme"));
  assert_false(there(".writing-1-2"));
  assert_true(there(".writing-3-4"));
  plant("c.kernel", INT64_C(100) << 20, 200);
  kernel_cache_write(cache, OTHER, "other", 5);
  assert_false(there("a.kernel") || there("b.kernel"));
  assert_true(there("c.kernel") && there("readme"));
  assert_true(found(cache, KEY, "code") && found(cache, OTHER, "other"));
  kernel_cache_close(&cache);
}

static void no_memory_is_a_failure(void **state) {
  (void)state;
  clear();
  const int64_t before = alloc_live();
  kernel_cache *cache = opened();
  kernel_cache_write(cache, KEY, "code", 4);
  for (int nth = 1; nth < 8; nth++) {
    char *bytes;
    int64_t count;
    alloc_fail_at(nth);
    const status rc = kernel_cache_read(cache, KEY, &bytes, &count);
    alloc_fail_at(0);
    assert_int_equal(rc, nth <= 3 ? STATUS_UNAVAILABLE : STATUS_OK);
    alloc_free(&bytes);
    fail_clear();
    alloc_fail_at(nth);
    kernel_cache_write(cache, OTHER, "other", 5);
    alloc_fail_at(0);
    assert_string_equal(fail_text(), "");
  }
  kernel_cache_close(&cache);
  assert_int_equal(alloc_live(), before);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kept_and_found),      cmocka_unit_test(damaged_entries_are_not_used),
      cmocka_unit_test(the_key_is_compared), cmocka_unit_test(links_and_strangers_are_not_followed),
      cmocka_unit_test(unusable_folders),    cmocka_unit_test(writing_fails),
      cmocka_unit_test(the_size_is_bounded), cmocka_unit_test(no_memory_is_a_failure),
  };
  if (getcwd(root, sizeof root - 100) == NULL) return 1;
  strcat(root, "/root");
  snprintf(folder, sizeof folder, "%s/halosweep", root);
  setenv("XDG_CACHE_HOME", root, 1);
  log_open(0, 1);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
