/* What a compiler and its helper say to each other; nobody else includes this. Both are the same
 * binary on the same machine, so structures travel as they are. */
#ifndef COMPILE_WIRE_H
#define COMPILE_WIRE_H

#include <stdint.h>

#include "compile.h"

typedef enum wire_task { WIRE_PREPROCESS, WIRE_COMPILE, WIRE_COMPILE_PREPROCESSED } wire_task;

/* Followed by that many bytes of each, without their final zeros. */
typedef struct wire_request {
  int64_t task;
  int64_t compiler_bytes, folder_bytes, source_bytes;
} wire_request;

typedef struct wire_reply {
  int64_t outcome; /* compile_outcome */
  int64_t product_bytes;
  char said[COMPILE_SAID];
} wire_reply;

enum { WIRE_BYTES_MAX = 1 << 28 };

/* All of it, or 0. A closed other end is a failure, not a signal. */
int wire_send(int end, const void *bytes, int64_t count);
int wire_receive(int end, void *bytes, int64_t count);

#endif
