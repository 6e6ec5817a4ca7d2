/* Files by range, gzip by stream (byte_source.h). Ranges are read with pread: independent of any
 * shared file position, restarted when interrupted, with the system's own error text. */
#include "byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "alloc.h"

enum { INPUT_BYTES = 1 << 16, GZIP_WINDOW = 15 + 16 };

typedef struct inflater {
  z_stream stream;
  int ended; /* the last member is complete */
  unsigned char input[INPUT_BYTES];
} inflater;

static status inflater_open(byte_source *s) {
  status rc = alloc_zeroed(&s->inflater, 1, sizeof(inflater), "gzip input");
  if (rc != STATUS_OK) return rc;
  inflater *z = s->inflater;
  if (inflateInit2(&z->stream, GZIP_WINDOW) != Z_OK) {
    alloc_free(&s->inflater);
    return fail(STATUS_UNAVAILABLE, "%s: zlib does not start", s->path);
  }
  return STATUS_OK;
}

status byte_source_open(const char *path, byte_source *out) {
  status rc = STATUS_OK;
  struct stat facts;
  unsigned char magic[2];
  int64_t got;
  *out = (byte_source){.path = path, .descriptor = -1};
  /* without O_NONBLOCK opening a pipe would wait for its writer */
  out->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (out->descriptor < 0 || fstat(out->descriptor, &facts) != 0) {
    rc = fail(STATUS_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
    goto done;
  }
  if (S_ISDIR(facts.st_mode)) {
    rc = fail(STATUS_INPUT, "%s: is a directory, expected a file", path);
    goto done;
  }
  if (!S_ISREG(facts.st_mode)) {
    rc = fail(STATUS_INPUT, "%s: is not a regular file (pipes cannot be read in parts)", path);
    goto done;
  }
  out->size = facts.st_size;
  TRY(byte_source_read(out, 0, magic, 2, &got));
  out->gzip = got == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
  if (out->gzip) TRY(inflater_open(out));
done:
  if (rc != STATUS_OK) byte_source_close(out);
  return rc;
}

void byte_source_close(byte_source *s) {
  if (s->inflater != NULL) {
    inflater *z = s->inflater;
    inflateEnd(&z->stream);
    alloc_free(&s->inflater);
  }
  if (s->path != NULL && s->descriptor >= 0) close(s->descriptor);
  s->descriptor = -1;
}

status byte_source_read(byte_source *s, int64_t at, void *to, int64_t count, int64_t *got) {
  *got = 0;
  while (*got < count) {
    ssize_t n = pread(s->descriptor, (char *)to + *got, (size_t)(count - *got), at + *got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(STATUS_INPUT, "%s: cannot be read: %s", s->path, strerror(errno));
    if (n == 0) break;
    *got += n;
  }
  return STATUS_OK;
}

static status refill(byte_source *s, inflater *z) {
  int64_t got;
  status rc = byte_source_read(s, s->at, z->input, INPUT_BYTES, &got);
  s->at += got;
  z->stream.next_in = z->input;
  z->stream.avail_in = (unsigned)got;
  return rc;
}

/* After the end of a member: another one, padding with zeros, or nothing. */
static status next_member(byte_source *s, inflater *z) {
  for (;;) {
    while (z->stream.avail_in > 0 && *z->stream.next_in == 0) {
      z->stream.next_in++;
      z->stream.avail_in--;
    }
    if (z->stream.avail_in > 0) break;
    status rc = refill(s, z);
    if (rc != STATUS_OK) return rc;
    if (z->stream.avail_in == 0) {
      z->ended = 1;
      return STATUS_OK;
    }
  }
  if (*z->stream.next_in != 0x1f) {
    return fail(STATUS_INPUT, "%s:%" PRId64 ": something else follows the gzip data", s->path,
                s->lines + 1);
  }
  inflateReset(&z->stream);
  return STATUS_OK;
}

static int64_t count_lines(const char *text, int64_t length) {
  int64_t lines = 0;
  for (const char *at = text, *end = text + length;
       (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++) {
    lines++;
  }
  return lines;
}

status byte_source_inflate(byte_source *s, void *to, int64_t count, int64_t *got) {
  status rc = STATUS_OK;
  inflater *z = s->inflater;
  *got = 0;
  while (*got < count && !z->ended) {
    if (z->stream.avail_in == 0) {
      TRY(refill(s, z));
      if (z->stream.avail_in == 0) {
        rc = fail(STATUS_INPUT, "%s:%" PRId64 ": the gzip data end too early (cut off?)", s->path,
                  s->lines + 1);
        goto done;
      }
    }
    const int64_t most = 1 << 30;
    unsigned room = (unsigned)(count - *got < most ? count - *got : most);
    z->stream.next_out = (unsigned char *)to + *got;
    z->stream.avail_out = room;
    int code = inflate(&z->stream, Z_NO_FLUSH);
    s->lines += count_lines((const char *)to + *got, room - z->stream.avail_out);
    *got += room - z->stream.avail_out;
    if (code == Z_STREAM_END) {
      TRY(next_member(s, z));
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      rc = fail(STATUS_INPUT, "%s:%" PRId64 ": damaged gzip data: %s", s->path, s->lines + 1,
                z->stream.msg != NULL ? z->stream.msg : "unknown reason");
      goto done;
    }
  }
done:
  return rc;
}
