/* pread and pwrite until all is moved, in pieces below the kernel's limit of 2 GiB a call
 * (layout.h). */
#include <errno.h>
#include <unistd.h>

#include "layout.h"

enum { PIECE = 1 << 30 };

/* One of `to` and `from` is set. */
static int move(int descriptor, char *to, const char *from, int64_t bytes, int64_t at) {
  for (int64_t moved = 0; moved < bytes;) {
    const size_t piece = (size_t)(bytes - moved < PIECE ? bytes - moved : PIECE);
    const ssize_t done = to != NULL ? pread(descriptor, to + moved, piece, at + moved)
                                    : pwrite(descriptor, from + moved, piece, at + moved);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done == 0 || errno == 0 ? EIO : errno;
    moved += done;
  }
  return 0;
}

int bytes_write(int descriptor, const void *data, int64_t bytes, int64_t at) {
  return move(descriptor, NULL, data, bytes, at);
}

int bytes_read(int descriptor, void *data, int64_t bytes, int64_t at) {
  return move(descriptor, data, NULL, bytes, at);
}
