/* The headers that code compiled at run time may include, as text inside the binary: the write-once
 * maths of include/, halosweep_functions.h, and our own math.h, stdint.h and stddef.h
 * (include/runtime/). An installed halosweep needs none of its sources. The list is in
 * src/CMakeLists.txt. */
#ifndef EMBEDDED_H
#define EMBEDDED_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct embedded_file {
  const char *name; /* as it is included: "elementary.h", "math.h" */
  const char *text;
} embedded_file;

/* Ends with a zeroed one. */
extern const embedded_file EMBEDDED[];

#ifdef __cplusplus
}
#endif

#endif
