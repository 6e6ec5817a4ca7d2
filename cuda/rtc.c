/* Run-time compilation for GPUs (rtc.h). What is compiled is
 *
 *   #include "formula_gpu.h", the formula's text (or several), #include "KERNEL.cuh"
 *
 * with every header out of the binary. The cache's key is all of these texts, the options and the
 * CUDA version of the build; an entry made by an older NVRTC than today's is as good, as long as
 * the driver loads it: if not, it is compiled again. */
#include "rtc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "kernel_cache.h"
#include "log.h"
#include "nvrtc_open.h"
#include "rtc_check.h"

enum { SAID = 6000, HEADERS_MAX = 128 };

#define AS_TEXT(x)    AS_WRITTEN(x)
#define AS_WRITTEN(x) #x

void rtc_define(rtc_request *r, const char *name, long value) {
  snprintf(r->define[r->defines++], RTC_DEFINE, "-D%.30s=%ld", name, value);
}

/* Appends words to a text that has room for `room` bytes. */
static void add(char *text, size_t room, const char *format, ...) {
  const size_t used = strlen(text);
  va_list words;
  va_start(words, format);
  vsnprintf(text + used, room - used, format, words);
  va_end(words);
}

/* The texts of a kernel with several functions: each in a namespace, for all may hold the same
 * file of the user's. */
static void add_texts(const rtc_request *r, char *text, size_t room) {
  add(text, room, "#include \"halosweep_functions.h\"\n"); /* its names are global */
  if (r->before != NULL) add(text, room, "#include \"%s\"\n", r->before);
  for (int i = 0; i < r->texts; i++) {
    const rtc_text *t = &r->text[i];
    if (t->f == NULL) {
      add(text, room, "PORTABLE void %s(const double *, double *) {}\n", t->name);
    } else {
      add(text, room,
          "#define formula_value %s\nFORMULA_OPEN(%s)\n%s\nFORMULA_CLOSE(%s)\n#undef "
          "formula_value\n",
          t->name, t->name, t->f->text, t->name);
    }
  }
}

/* Bytes that the texts take, more or less: room for what is around them is not counted. */
static size_t texts_length(const rtc_request *r) {
  size_t length = 2 * strlen(r->f->text);
  for (int i = 0; i < r->texts; i++) {
    length += r->text[i].f != NULL ? strlen(r->text[i].f->text) : 0;
  }
  return length;
}

status rtc_program(const rtc_request *r, int capability, char **text,
                   char option[RTC_OPTIONS][RTC_DEFINE], int *count) {
  static const char *const fixed[] = {"--std=c++17",
                                      "-default-device",
                                      "-fmad=false",
                                      "-ftz=false",
                                      "-prec-div=true",
                                      "-prec-sqrt=true",
                                      "-Drestrict=__restrict__",
                                      "--disable-warnings"};
  const size_t room = texts_length(r) + strlen(r->kernel) + 1000;
  status rc = alloc_zeroed(text, (int64_t)room, 1, "kernel text");
  if (rc != STATUS_OK) return rc;
  add(*text, room, "#include \"formula_gpu.h\"\n");
  if (r->texts > 0) {
    add_texts(r, *text, room);
  } else if (r->wide) {
    add(*text, room,
        "%s\n#include \"formula_wide.h\"\nnamespace several {\n#define double gpu_lanes\n%s\n"
        "#undef double\n}\n#include \"formula_both.h\"\n",
        r->f->text, r->f->text);
  } else {
    add(*text, room, "%s\n#include \"formula_one.h\"\n", r->f->text);
  }
  add(*text, room, "#line 1 \"kernel\"\n#include \"%s.cuh\"\n", r->kernel);
  int n = 0;
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
    snprintf(option[n++], RTC_DEFINE, "%s", fixed[i]);
  }
  snprintf(option[n++], RTC_DEFINE, "--gpu-architecture=sm_%d", capability);
  snprintf(option[n++], RTC_DEFINE, "-DFORMULA_INPUTS=%d", r->f->inputs);
  if (r->wide > 0) snprintf(option[n++], RTC_DEFINE, "-DGPU_WIDE=%d", r->wide);
  for (int i = 0; i < r->defines; i++) snprintf(option[n++], RTC_DEFINE, "%s", r->define[i]);
  *count = n;
  return STATUS_OK;
}

/* All headers a kernel may include. */
static int list_headers(const char **name, const char **text) {
  const embedded_file *const tables[] = {EMBEDDED, KERNEL_TEXTS};
  int n = 0;
  for (int t = 0; t < 2; t++) {
    for (const embedded_file *f = tables[t]; f->name != NULL && n < HEADERS_MAX; f++, n++) {
      name[n] = f->name;
      text[n] = f->text;
    }
  }
  return n;
}

/* NVRTC's words, cut to what fits. */
static void read_log(const nvrtc *n, nvrtcProgram program, char said[SAID]) {
  size_t bytes = 0;
  char *all = NULL;
  said[0] = '\0';
  if (n->log_size(program, &bytes) != NVRTC_SUCCESS || bytes == 0) return;
  if (alloc_zeroed(&all, (int64_t)bytes + 1, 1, "log") != STATUS_OK) return;
  if (n->log(program, all) == NVRTC_SUCCESS) snprintf(said, SAID, "%.5900s", all);
  alloc_free(&all);
}

static status refused(const rtc_request *r, const nvrtc *n, nvrtcProgram program, int capability,
                      nvrtcResult result) {
  char said[SAID];
  if (result == NVRTC_ERROR_INVALID_OPTION) {
    return fail(STATUS_UNAVAILABLE,
                "NVRTC %d.%d does not know GPUs of compute capability %d.%d: install a newer one",
                n->major, n->minor, capability / 10, capability % 10);
  }
  read_log(n, program, said);
  if (result != NVRTC_ERROR_COMPILATION) {
    return fail(STATUS_UNAVAILABLE, "NVRTC %d.%d failed: %s %s", n->major, n->minor,
                n->error(result), said);
  }
  return fail(STATUS_INPUT, "the %s does not compile for the GPU (NVRTC %d.%d):\n%s", r->f->kind,
              n->major, n->minor, said);
}

status rtc_compile(const rtc_request *r, int capability, void *cubin, int64_t *bytes) {
  status rc = STATUS_OK;
  const char *name[HEADERS_MAX], *header[HEADERS_MAX], *options[RTC_OPTIONS];
  char option[RTC_OPTIONS][RTC_DEFINE], *text = NULL, *code = NULL;
  int count = 0;
  size_t size = 0;
  nvrtc n;
  nvrtcProgram program = NULL;
  TRY(nvrtc_open(&n));
  TRY(rtc_program(r, capability, &text, option, &count));
  for (int i = 0; i < count; i++) options[i] = option[i];
  const int headers = list_headers(name, header);
  nvrtcResult result = n.create(&program, text, "formula", headers, header, name);
  if (result == NVRTC_SUCCESS) result = n.compile(program, count, options);
  if (result == NVRTC_SUCCESS) result = n.cubin_size(program, &size);
  if (result != NVRTC_SUCCESS) {
    rc = refused(r, &n, program, capability, result);
    goto done;
  }
  TRY(alloc_array(&code, (int64_t)size, 1, "compiled kernel"));
  if (n.cubin(program, code) != NVRTC_SUCCESS) {
    rc = fail(STATUS_UNAVAILABLE, "NVRTC gave no code");
    goto done;
  }
  memcpy(cubin, &code, sizeof code);
  code = NULL;
  *bytes = (int64_t)size;
done:
  if (program != NULL) n.destroy(&program);
  alloc_free(&text);
  alloc_free(&code);
  return rc;
}

status rtc_check(const char *kernel, const formula *f, int points, const rtc_check_define *defines,
                 int64_t *bytes) {
  enum { OLDEST = 80 };
  rtc_request r;
  char *code = NULL;
  memset(&r, 0, sizeof r);
  r.kernel = kernel;
  r.f = f;
  r.wide = points;
  for (; defines->name != NULL; defines++) rtc_define(&r, defines->name, defines->value);
  *bytes = 0;
  const status rc = rtc_compile(&r, OLDEST, &code, bytes);
  alloc_free(&code);
  return rc;
}

/* ---- on the device ---- */

static status load(device *d, const rtc_request *r, const void *code, rtc_kernel *out) {
  cudaKernel_t kernel = NULL;
  cudaError_t error = cudaLibraryLoadData(&out->library, code, NULL, NULL, 0, NULL, NULL, 0);
  if (error == cudaSuccess) error = cudaLibraryGetKernel(&kernel, out->library, r->kernel);
  out->entry = (const void *)kernel;
  if (error == cudaSuccess) return STATUS_OK;
  cudaGetLastError(); /* not sticky */
  rtc_kernel_release(out);
  return fail(STATUS_UNAVAILABLE,
              "GPU %d (%s) does not load kernel %s: %s (%s); is NVRTC newer than the driver?",
              d->facts.index, d->facts.name, r->kernel, cudaGetErrorString(error),
              cudaGetErrorName(error));
}

/* The cache's key: everything the code depends on. */
static int make_key(const char *text, char option[RTC_OPTIONS][RTC_DEFINE], int options,
                    const char **key) {
  static const char version[] = "cuda " AS_TEXT(CUDART_VERSION);
  const char *name[HEADERS_MAX], *header[HEADERS_MAX];
  const int headers = list_headers(name, header);
  int n = 0;
  key[n++] = version;
  key[n++] = text;
  for (int i = 0; i < options; i++) key[n++] = option[i];
  for (int i = 0; i < headers; i++) {
    key[n++] = name[i];
    key[n++] = header[i];
  }
  key[n] = NULL;
  return n;
}

enum { KEY = 2 + RTC_OPTIONS + 2 * HEADERS_MAX + 1 };

/* A way to compile a request: several points at a time, or one. */
typedef struct way {
  rtc_request request;
  char option[RTC_OPTIONS][RTC_DEFINE], *text;
  const char *key[KEY];
  int refused; /* the text is known not to compile like this */
} way;

static status make_way(const rtc_request *r, int points, int capability, way *w) {
  status rc = STATUS_OK;
  int options = 0;
  w->request = *r;
  w->request.wide = points;
  TRY(rtc_program(&w->request, capability, &w->text, w->option, &options));
  make_key(w->text, w->option, options, w->key);
done:
  return rc;
}

/* From the cache; *out stays empty when it is not there, or does not load. An empty entry says that
 * the text does not compile like this. */
static status recall(device *d, way *w, kernel_cache *cache, rtc_kernel *out) {
  status rc = STATUS_OK;
  char *code = NULL;
  int64_t bytes = 0;
  TRY(kernel_cache_read(cache, w->key, &code, &bytes));
  w->refused = code != NULL && bytes == 0;
  if (bytes > 0 && load(d, &w->request, code, out) != STATUS_OK) fail_clear();
done:
  alloc_free(&code);
  return rc;
}

static status compile_and_keep(device *d, const way *w, int capability, kernel_cache *cache,
                               rtc_kernel *out) {
  status rc = STATUS_OK;
  char *code = NULL;
  int64_t bytes = 0;
  TRY(rtc_compile(&w->request, capability, &code, &bytes));
  TRY(load(d, &w->request, code, out));
  kernel_cache_write(cache, w->key, code, bytes);
done:
  alloc_free(&code);
  return rc;
}

/* The ways in turn, the best first, until one compiles. */
static status try_ways(device *d, way *w, int ways, int capability, rtc_kernel *out, int *found) {
  status rc = STATUS_OK;
  kernel_cache *cache = NULL;
  TRY(kernel_cache_open(&cache));
  for (int i = 0; i < ways && out->library == NULL; i++) {
    TRY(recall(d, &w[i], cache, out));
    *found = out->library != NULL;
    if (!*found && w[i].refused) continue;
    if (!*found) rc = compile_and_keep(d, &w[i], capability, cache, out);
    out->points = w[i].request.wide > 0 ? w[i].request.wide : 1;
    if (rc != STATUS_INPUT || i + 1 == ways) break;
    kernel_cache_write(cache, w[i].key, "", 0);
    fail_clear();
  }
done:
  kernel_cache_close(&cache);
  return rc;
}

static status find_capability(device *d, int *capability) {
  status rc = STATUS_OK;
  int major = 0, minor = 0;
  TRY(device_check(
      d, cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, d->facts.index),
      "cudaDeviceGetAttribute"));
  TRY(device_check(
      d, cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, d->facts.index),
      "cudaDeviceGetAttribute"));
  *capability = 10 * major + minor;
done:
  return rc;
}

status rtc_kernel_create(device *d, const rtc_request *r, int threads, rtc_kernel *out) {
  status rc = STATUS_OK;
  way *w = NULL;
  int ways = 0, found = 0, capability = 0, fit = 0;
  const double start = comm_clock();
  memset(out, 0, sizeof *out);
  if (r->f->text == NULL) return fail(STATUS_BUG, "a %s without a text", r->f->kind);
  TRY(device_ok(d));
  TRY(find_capability(d, &capability));
  TRY(alloc_zeroed(&w, 2, sizeof *w, "kernel texts"));
  if (r->wide > 0) TRY(make_way(r, r->wide, capability, &w[ways++]));
  TRY(make_way(r, 0, capability, &w[ways++]));
  TRY(try_ways(d, w, ways, capability, out, &found));
  TRY(device_check(d, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, out->entry, threads, 0),
                   "occupancy"));
  out->blocks = (fit > 0 ? fit : 1) * d->processors;
  log_info("kernel %s: %s in %.3f s", r->kernel, found ? "kept, loaded" : "compiled by NVRTC",
           comm_clock() - start);
done:
  for (int i = 0; i < ways; i++) alloc_free(&w[i].text);
  alloc_free(&w);
  if (rc != STATUS_OK) rtc_kernel_release(out);
  return rc;
}

void rtc_kernel_release(rtc_kernel *k) {
  if (k->library != NULL) cudaLibraryUnload(k->library);
  memset(k, 0, sizeof *k);
}

status rtc_launch(device *d, const rtc_kernel *k, cudaStream_t stream, int64_t blocks, int threads,
                  void *args, const char *what) {
  cudaLaunchConfig_t config;
  void *list[] = {args};
  memset(&config, 0, sizeof config);
  config.gridDim = (dim3){(unsigned)(blocks < 1 ? 1 : blocks), 1, 1};
  config.blockDim = (dim3){(unsigned)threads, 1, 1};
  config.stream = stream;
  return device_launched(d, cudaLaunchKernelExC(&config, k->entry, list), what);
}
