/* NVRTC as found at run time: the few of its functions that rtc.c calls. */
#ifndef CUDA_NVRTC_OPEN_H
#define CUDA_NVRTC_OPEN_H

#include <nvrtc.h>

#include "status.h"

typedef struct nvrtc {
  nvrtcResult (*version)(int *, int *);
  nvrtcResult (*create)(nvrtcProgram *, const char *, const char *, int, const char *const *,
                        const char *const *);
  nvrtcResult (*destroy)(nvrtcProgram *);
  nvrtcResult (*compile)(nvrtcProgram, int, const char *const *);
  nvrtcResult (*log_size)(nvrtcProgram, size_t *);
  nvrtcResult (*log)(nvrtcProgram, char *);
  nvrtcResult (*cubin_size)(nvrtcProgram, size_t *);
  nvrtcResult (*cubin)(nvrtcProgram, char *);
  const char *(*error)(nvrtcResult);
  int major, minor;
} nvrtc;

/* Opens the library; it stays open until the process ends. STATUS_UNAVAILABLE says what to install.
 */
status nvrtc_open(nvrtc *out);

#endif
