/* A compiler for tests, with its helper process: call test_helper() before comm_open(). */
#ifndef COMPILER_FOR_TESTS_H
#define COMPILER_FOR_TESTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile.h"
#include "test.h"

/* This process's end of a helper. */
static inline int test_helper(int *pid) {
  int end[2];
  if (compile_channel(end) != STATUS_OK) abort();
  *pid = fork();
  if (*pid == 0) {
    close(end[0]);
    compile_serve(end[1]);
    _exit(0);
  }
  close(end[1]);
  return end[0];
}

/* Another compiler on the same helper, as the environment says now. */
static inline compiler *test_compiler(int end) {
  compiler *w;
  assert_ok(compiler_open(dup(end), -1, &w));
  return w;
}

/* The cache of compiled code is in the test's own folder from here on; `empty`: and is cleared. */
static inline void test_own_cache(const char *name, int empty) {
  char path[4096], clear[4200];
  if (getcwd(path, sizeof path - 100) == NULL) abort();
  snprintf(path + strlen(path), 90, "/%s", name);
  snprintf(clear, sizeof clear, "rm -rf '%s'", path);
  if (empty && system(clear) != 0) abort();
  mkdir(path, 0700);
  setenv("XDG_CACHE_HOME", path, 1);
}

#endif
