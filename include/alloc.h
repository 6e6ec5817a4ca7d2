/* Host memory. Every array is asked for here: sizes are checked for overflow, a failure is a status
 * with the size in its text, debug builds fill fresh and released memory with NaN, and tests can
 * make the n-th allocation fail. */
#ifndef ALLOC_H
#define ALLOC_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Room for count elements of `size` bytes, aligned to 64, not zeroed. *out is never NULL on success
 * (count 0 gives a pointer that may be freed). `out` is the address of a pointer of any type.
 * STATUS_UNAVAILABLE when there is not enough memory. */
status alloc_array(void *out, int64_t count, size_t size, const char *what);

/* The same, zeroed. */
status alloc_zeroed(void *out, int64_t count, size_t size, const char *what);

/* Grows (never shrinks) *out from `have` to at least `want` elements, keeping the first `have`. */
status alloc_grow(void *out, int64_t have, int64_t want, size_t size, const char *what);

/* A copy of `text`, with room for nothing else. */
status alloc_text(char **out, const char *text, const char *what);

/* Frees *out and sets it to NULL; `out` is the address of a pointer of any type, *out may be NULL.
 */
void alloc_free(void *out);

/* Tests: the n-th call from now (1 = the next) fails once; 0 switches it off. */
void alloc_fail_at(int64_t nth);

/* Tests: arrays asked for and not freed yet. */
int64_t alloc_live(void);

/* Largest resident size of this process so far, bytes. */
int64_t alloc_peak_bytes(void);

#ifdef __cplusplus
}
#endif

#endif
