/* Code compiled at run time, kept between runs: $XDG_CACHE_HOME/halosweep, else ~/.cache/halosweep.
 *
 * Content-addressed: a key is everything the code depends on (source, headers, compiler, flags,
 * version), and an entry holds its whole key, so a wrong hit cannot happen. Only a folder (mode
 * 0700) and regular files of this user are trusted, links are not followed; a damaged entry is as
 * good as none. Entries appear complete or not at all. When all of them pass 256 MiB, those not
 * used for longest go. Where the folder cannot be used, everything works without, and one line says
 * so. Everything here is local; one rank of a run reads and writes. */
#ifndef KERNEL_CACHE_H
#define KERNEL_CACHE_H

#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kernel_cache kernel_cache;

/* What the code depends on, in a fixed order. Ends with NULL. */
typedef const char *const *kernel_key;

/* *out is NULL, and the reason logged, when there can be no cache; the functions below accept that.
 * STATUS_UNAVAILABLE: no memory. */
status kernel_cache_open(kernel_cache **out);
void kernel_cache_close(kernel_cache **cache);

/* *bytes is NULL when there is no such entry; else *count bytes, freed with alloc_free. */
status kernel_cache_read(kernel_cache *cache, kernel_key key, void *bytes, int64_t *count);

/* Keeps a copy. A failure is no failure of the run: it is logged, once. */
void kernel_cache_write(kernel_cache *cache, kernel_key key, const void *bytes, int64_t count);

#ifdef __cplusplus
}
#endif

#endif
