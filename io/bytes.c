/* pread and pwrite until all is moved, in pieces below the kernel's limit of 2 GiB a call
 * (layout.h). */
#include <errno.h>
#include <unistd.h>

#include "layout.h"

enum { PIECE = 1 << 30 };

int bytes_write(int descriptor, const void *data, int64_t bytes, int64_t at) {
  const char *p = data;
  while (bytes > 0) {
    const ssize_t done = pwrite(descriptor, p, (size_t)(bytes < PIECE ? bytes : PIECE), at);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done == 0 || errno == 0 ? EIO : errno;
    p += done;
    at += done;
    bytes -= done;
  }
  return 0;
}

int bytes_read(int descriptor, void *data, int64_t bytes, int64_t at) {
  char *p = data;
  while (bytes > 0) {
    const ssize_t done = pread(descriptor, p, (size_t)(bytes < PIECE ? bytes : PIECE), at);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done == 0 || errno == 0 ? EIO : errno;
    p += done;
    at += done;
    bytes -= done;
  }
  return 0;
}
