/* Finding cuDSS (cudss_open.h): by the names of its two series, the newer first, where the dynamic
 * linker looks (LD_LIBRARY_PATH, ldconfig), then where the toolkit puts itself by default. The
 * build links nothing of it. It loads cuBLAS, and from 1.0 on NVRTC: where one of them is what is
 * not there, the text says so. */
#include "cudss_open.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "fp_check.h"

static const char *const NAMES[] = {"libcudss.so.1", "libcudss.so.0"};
static const char *const FOLDERS[] = {"", "/usr/local/cuda/lib64/", "/opt/cuda/lib64/"};

enum { WHY = 256, OLDEST = 7 /* 0.7 */ };

/* why: what the linker says of a library that was found and could not be loaded; else "". */
static void *open_library(char why[WHY]) {
  char path[64];
  why[0] = '\0';
  for (size_t f = 0; f < sizeof FOLDERS / sizeof *FOLDERS; f++) {
    for (size_t n = 0; n < sizeof NAMES / sizeof *NAMES; n++) {
      snprintf(path, sizeof path, "%s%s", FOLDERS[f], NAMES[n]);
      void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
      if (library != NULL) return library;
      const char *said = dlerror();
      if (said != NULL && strncmp(said, path, strlen(path)) != 0) snprintf(why, WHY, "%s", said);
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

static int find_all(void *library, cudss *s) {
  return find(library, "cudssGetProperty", &s->property) &&
         find(library, "cudssCreate", &s->create) && find(library, "cudssDestroy", &s->destroy) &&
         find(library, "cudssSetStream", &s->set_stream) &&
         find(library, "cudssConfigCreate", &s->config_create) &&
         find(library, "cudssConfigDestroy", &s->config_destroy) &&
         find(library, "cudssConfigSet", &s->config_set) &&
         find(library, "cudssDataCreate", &s->data_create) &&
         find(library, "cudssDataDestroy", &s->data_destroy) &&
         find(library, "cudssDataGet", &s->data_get) &&
         find(library, "cudssMatrixCreateCsr", &s->create_csr) &&
         find(library, "cudssMatrixCreateCsr", &s->create_csr_7) &&
         find(library, "cudssMatrixCreateDn", &s->create_dense) &&
         find(library, "cudssMatrixDestroy", &s->matrix_destroy) &&
         find(library, "cudssExecute", &s->execute) &&
         s->property(MAJOR_VERSION, &s->major) == CUDSS_ANSWER_OK &&
         s->property(MINOR_VERSION, &s->minor) == CUDSS_ANSWER_OK &&
         s->property(PATCH_LEVEL, &s->patch) == CUDSS_ANSWER_OK;
}

/* What changed between versions. */
static void fit(cudss *s) {
  const int before_8 = s->major == 0 && s->minor < 8;
  if (before_8) {
    s->create_csr = NULL;
  } else {
    s->create_csr_7 = NULL;
  }
  s->ask_memory = before_8 ? 12 : 13;
  s->matching_auto = before_8 ? 1 : s->major == 0 ? 6 : 0;
}

status cudss_open(cudss *s) {
  char why[WHY];
  void *library = open_library(why);
  memset(s, 0, sizeof *s);
  if (library == NULL && why[0] != '\0') {
    return fail(STATUS_UNAVAILABLE,
                "cuDSS, for method direct on GPUs, cannot be loaded: %s; put the folder of that "
                "library on LD_LIBRARY_PATH too",
                why);
  }
  if (library == NULL) {
    return fail(STATUS_UNAVAILABLE,
                "cuDSS (libcudss.so.1 or .0), for method direct on GPUs, was not found; install it "
                "(NVIDIA's packages: cudss, pip: nvidia-cudss-cu13, clusters: module load cudss) "
                "and put its folder on LD_LIBRARY_PATH");
  }
  if (!find_all(library, s)) {
    return fail(STATUS_UNAVAILABLE, "the cuDSS library found is not one of 0.7 to 1.x");
  }
  if (s->major > 1 || (s->major == 0 && s->minor < OLDEST)) {
    return fail(STATUS_UNAVAILABLE,
                "the cuDSS library found is version %d.%d.%d; known are 0.7 to "
                "1.x",
                s->major, s->minor, s->patch);
  }
  fit(s);
  return fp_check("after cuDSS was loaded");
}
