/* For LD_PRELOAD: the FAIL_AT-th call of FAIL_CALL (write, fsync, rename) on a checkpoint's file
 * fails with EIO (write: with ENOSPC), counted over this process. Built by the test that uses it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int counted(const char *call) {
  static long count;
  const char *which = getenv("FAIL_CALL"), *at = getenv("FAIL_AT");
  if (which == NULL || at == NULL || strcmp(which, call) != 0) return 0;
  return ++count == atol(at);
}

static int is_ours(int descriptor) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = '\0';
  return length > 5 && strcmp(path + length - 5, ".part") == 0 && strstr(path, "ck.") != NULL;
}

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

#define FAILING_WRITE(name, parameters, ...)                                                       \
  ssize_t name parameters {                                                                        \
    if (is_ours(fd) && counted("write")) {                                                         \
      errno = ENOSPC;                                                                              \
      return -1;                                                                                   \
    }                                                                                              \
    return REAL(name)(__VA_ARGS__);                                                                \
  }

FAILING_WRITE(write, (int fd, const void *buffer, size_t bytes), fd, buffer, bytes)
FAILING_WRITE(pwrite, (int fd, const void *buffer, size_t bytes, off_t at), fd, buffer, bytes, at)
FAILING_WRITE(pwrite64, (int fd, const void *buffer, size_t bytes, off64_t at), fd, buffer, bytes,
              at)
FAILING_WRITE(writev, (int fd, const struct iovec *parts, int count), fd, parts, count)
FAILING_WRITE(pwritev, (int fd, const struct iovec *parts, int count, off_t at), fd, parts, count,
              at)

int fsync(int fd) {
  if (counted("fsync")) {
    errno = EIO;
    return -1;
  }
  return REAL(fsync)(fd);
}

int rename(const char *from, const char *to) {
  if (strstr(to, "ck.") != NULL && counted("rename")) {
    errno = EIO;
    return -1;
  }
  return REAL(rename)(from, to);
}
