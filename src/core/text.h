/* A growing text. Starts zeroed; `text` is NULL until something is appended. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

typedef struct text_builder {
  char *text;
  int64_t length, room;
} text_builder;

/* STATUS_UNAVAILABLE: no memory. */
status text_append(text_builder *t, const char *text);

/* One piece of at most 4 KiB, as printf would write it. */
status text_print(text_builder *t, const char *format, ...) FORMAT_LIKE(2, 3);

void text_release(text_builder *t);

#endif
