/* Host memory (alloc.h). A header of 64 bytes in front of each array keeps its size, for poisoning.
 *
 * Large arrays ask for large pages before they are first touched. With small ones, a set-up that
 * touches everything once spends a third of its time in page faults, and a sweep that streams
 * through a dozen arrays up to half of it in address translation and in prefetches that stop at
 * page ends (measured). */
#define _DEFAULT_SOURCE /* madvise */
#include "alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { ALIGNMENT = 64, PAGE = 4096, LARGE = 4 << 20 };

static atomic_llong live;
static atomic_llong fail_countdown;

#ifdef ALLOC_POISON
enum { POISON = 1 };
#else
enum { POISON = 0 };
#endif

/* Every byte 0xff: a NaN as double, -1 as integer. */
static void poison(void *p, size_t bytes) {
  if (POISON) memset(p, 0xff, bytes);
}

static int told_to_fail(void) {
  return atomic_load(&fail_countdown) > 0 && atomic_fetch_sub(&fail_countdown, 1) == 1;
}

/* A hint: failure is silent. */
static void ask_for_large_pages(const char *room, size_t bytes) {
  const uintptr_t begin = ((uintptr_t)room + PAGE - 1) / PAGE * PAGE;
  const uintptr_t end = ((uintptr_t)room + bytes) / PAGE * PAGE;
  if (bytes >= LARGE) madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

static status reserve(void **out, int64_t count, size_t size, const char *what, size_t *bytes) {
  *out = NULL;
  *bytes = 0;
  if (count < 0 || (size != 0 && (uint64_t)count > (SIZE_MAX - 2 * ALIGNMENT) / size)) {
    return fail(STATUS_UNAVAILABLE, "%s: %lld x %zu bytes is more than this machine can address",
                what, (long long)count, size);
  }
  *bytes = (size_t)count * size;
  size_t padded = (*bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  char *room = told_to_fail() ? NULL : aligned_alloc(ALIGNMENT, padded + ALIGNMENT);
  if (room == NULL) {
    return fail(STATUS_UNAVAILABLE, "not enough memory for %s: %zu bytes", what, *bytes);
  }
  ask_for_large_pages(room, padded + ALIGNMENT);
  memcpy(room, bytes, sizeof *bytes);
  atomic_fetch_add(&live, 1);
  *out = room + ALIGNMENT;
  return STATUS_OK;
}

/* The caller's pointer may be of any object type: move it as bytes. */
static void store(void *out, void *p) { memcpy(out, &p, sizeof p); }

static void *load(const void *out) {
  void *p;
  memcpy(&p, out, sizeof p);
  return p;
}

status alloc_array(void *out, int64_t count, size_t size, const char *what) {
  void *p;
  size_t bytes;
  status rc = reserve(&p, count, size, what, &bytes);
  if (rc == STATUS_OK) poison(p, bytes);
  store(out, p);
  return rc;
}

status alloc_zeroed(void *out, int64_t count, size_t size, const char *what) {
  void *p;
  size_t bytes;
  status rc = reserve(&p, count, size, what, &bytes);
  if (rc == STATUS_OK) memset(p, 0, bytes);
  store(out, p);
  return rc;
}

status alloc_grow(void *out, int64_t have, int64_t want, size_t size, const char *what) {
  void *p;
  status rc = alloc_array(&p, want, size, what);
  if (rc != STATUS_OK) return rc;
  void *old = load(out);
  if (old != NULL) memcpy(p, old, (size_t)(have < want ? have : want) * size);
  alloc_free(out);
  store(out, p);
  return STATUS_OK;
}

status alloc_text(char **out, const char *text, const char *what) {
  const size_t bytes = strlen(text) + 1;
  status rc = alloc_array(out, (int64_t)bytes, 1, what);
  if (rc == STATUS_OK) memcpy(*out, text, bytes);
  return rc;
}

void alloc_free(void *out) {
  char *p = load(out);
  if (p == NULL) return;
  size_t bytes;
  memcpy(&bytes, p - ALIGNMENT, sizeof bytes);
  poison(p, bytes);
  free(p - ALIGNMENT);
  atomic_fetch_sub(&live, 1);
  store(out, NULL);
}

void alloc_fail_at(int64_t nth) { atomic_store(&fail_countdown, nth); }

int64_t alloc_live(void) { return atomic_load(&live); }

int64_t alloc_peak_bytes(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return (int64_t)usage.ru_maxrss * 1024;
}
