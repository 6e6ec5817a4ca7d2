/* Kernels compiled at run time, around a formula's text, by NVRTC.
 *
 * A kernel is a text of this folder (KERNEL_TEXTS, *.cuh: embedded in the binary, and compiled once
 * at build time around a sample formula) that calls formula_value(). It is compiled with the
 * embedded headers, our math.h first, for the GPU at hand, without contraction; kept between runs
 * (kernel_cache.h); and loaded through the runtime, so nothing links to the driver. NVRTC itself is
 * opened on the first compilation: a run whose kernels are all kept does not need it.
 *
 * Cost: 0.1 to 0.5 s a kernel, a few ms from the cache. Every rank compiles or reads for itself. */
#ifndef CUDA_RTC_H
#define CUDA_RTC_H

#include <cuda_runtime_api.h>

#include "device.h"
#include "embedded.h"
#include "formula.h"
#include "rtc_check.h"

/* The kernels' texts and the headers of this folder they include. */
extern const embedded_file KERNEL_TEXTS[];

enum { RTC_DEFINES = 16, RTC_DEFINE = 48, RTC_TEXTS = 5 };

typedef struct rtc_request {
  const char *kernel; /* "quad_sum": also the text's name, with .cuh */
  const formula *f;   /* formula_value; the one messages name */
  rtc_text text[RTC_TEXTS];
  int texts;          /* not 0: these are the kernel's functions, and f is one of them */
  const char *before; /* a header that texts need, besides; NULL: none */
  int wide; /* points a call of formula_points() at a time, where the text allows; 0: one */
  char define[RTC_DEFINES][RTC_DEFINE]; /* "-DNAME=value" */
  int defines;
} rtc_request;

typedef struct rtc_kernel {
  cudaLibrary_t library; /* NULL: none */
  const void *entry;     /* for cudaLaunchKernelExC */
  int blocks;            /* thread blocks of `threads` that fill the GPU */
  int points;            /* GPU_WIDE */
} rtc_kernel;

/* Appends -DNAME=value. */
void rtc_define(rtc_request *r, const char *name, long value);

/* What is compiled: the text, and NVRTC's options for compute capability `capability` (90), *count
 * of them. Needs no GPU. The text is freed by alloc_free. */
enum { RTC_OPTIONS = RTC_DEFINES + 12 };
status rtc_program(const rtc_request *r, int capability, char **text,
                   char option[RTC_OPTIONS][RTC_DEFINE], int *count);

/* Compiles to a cubin, *bytes of it, freed by alloc_free. Needs no GPU. STATUS_UNAVAILABLE: there
 * is no NVRTC, or it does not know this GPU; STATUS_INPUT: the formula does not compile, with
 * NVRTC's words. Local. */
status rtc_compile(const rtc_request *r, int capability, void *cubin, int64_t *bytes);

/* Makes a kernel ready on the device, from the cache or by rtc_compile; the log says how long it
 * took. Local. Released also after a failure. */
status rtc_kernel_create(device *d, const rtc_request *r, int threads, rtc_kernel *out);
void rtc_kernel_release(rtc_kernel *k);

/* Launches with one argument, a struct by value. */
status rtc_launch(device *d, const rtc_kernel *k, cudaStream_t stream, int64_t blocks, int threads,
                  void *args, const char *what);

#endif
