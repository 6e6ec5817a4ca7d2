/* Finding NVRTC (nvrtc_open.h): by the names its packages install, newest first, where the dynamic
 * linker looks (LD_LIBRARY_PATH, ldconfig), then where the toolkit puts itself by default. The
 * build links nothing of it. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "fp_check.h"
#include "nvrtc_open.h"

static const char *const NAMES[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
static const char *const FOLDERS[] = {"", "/usr/local/cuda/lib64/", "/opt/cuda/lib64/"};

static void *open_library(void) {
  char path[64];
  for (size_t f = 0; f < sizeof FOLDERS / sizeof *FOLDERS; f++) {
    for (size_t n = 0; n < sizeof NAMES / sizeof *NAMES; n++) {
      snprintf(path, sizeof path, "%s%s", FOLDERS[f], NAMES[n]);
      void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
      if (library != NULL) return library;
    }
  }
  return NULL;
}

/* POSIX lets an address of data be one of a function. */
static int find(void *library, const char *name, void *function) {
  void *p = dlsym(library, name);
  memcpy(function, &p, sizeof p);
  return p != NULL;
}

status nvrtc_open(nvrtc *n) {
  void *library = open_library();
  if (library == NULL) {
    return fail(STATUS_UNAVAILABLE,
                "formulas cannot be compiled for the GPU: NVRTC (libnvrtc.so.13 or .12) was not "
                "found; install the CUDA toolkit's NVRTC library (Debian and Ubuntu: cuda-nvrtc, "
                "clusters: module load cuda), put its folder on LD_LIBRARY_PATH, or use --backend "
                "omp");
  }
  if (!find(library, "nvrtcVersion", &n->version) ||
      !find(library, "nvrtcCreateProgram", &n->create) ||
      !find(library, "nvrtcDestroyProgram", &n->destroy) ||
      !find(library, "nvrtcCompileProgram", &n->compile) ||
      !find(library, "nvrtcGetProgramLogSize", &n->log_size) ||
      !find(library, "nvrtcGetProgramLog", &n->log) ||
      !find(library, "nvrtcGetCUBINSize", &n->cubin_size) ||
      !find(library, "nvrtcGetCUBIN", &n->cubin) ||
      !find(library, "nvrtcGetErrorString", &n->error) ||
      n->version(&n->major, &n->minor) != NVRTC_SUCCESS) {
    return fail(STATUS_UNAVAILABLE, "the NVRTC library found is not one of CUDA 12 or 13");
  }
  return fp_check("after NVRTC was loaded");
}
