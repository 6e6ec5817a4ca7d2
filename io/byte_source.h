/* The bytes of an input file: a plain file read by ranges (any rank, any range), or a gzip file
 * read as one stream. Functions are local; failures are STATUS_INPUT naming the file. */
#ifndef BYTE_SOURCE_H
#define BYTE_SOURCE_H

#include <stdint.h>

#include "status.h"

typedef struct byte_source {
  const char *path; /* the caller's; must outlive the source */
  int descriptor;   /* -1: closed */
  int gzip;         /* by content: the two magic bytes */
  int64_t size;     /* bytes in the file */
  int64_t at;       /* gzip: file bytes given to zlib so far */
  int64_t lines;    /* gzip: line ends inflated so far */
  void *inflater;
} byte_source;

/* Opens for reading; directories, pipes and unreadable files are refused. */
status byte_source_open(const char *path, byte_source *out);
void byte_source_close(byte_source *s);

/* Up to `count` bytes from position `at` on; fewer only at the end of the file (*got). */
status byte_source_read(byte_source *s, int64_t at, void *to, int64_t count, int64_t *got);

/* The next up to `count` bytes of the inflated stream; fewer only at its end. Members that follow
 * each other are one stream, as gzip has it. */
status byte_source_inflate(byte_source *s, void *to, int64_t count, int64_t *got);

#endif
