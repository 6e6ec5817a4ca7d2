/* Work of the host on all its threads, for what no backend does: a user's functions at many points.
 */
#ifndef PARALLEL_H
#define PARALLEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls work(context, begin, end) for disjoint runs that make up [0, count), on up to `threads`
 * threads; each run but the last of a thread is a multiple of `grain` long. Local. */
void parallel_for(int threads, int64_t count, int64_t grain,
                  void (*work)(void *context, int64_t begin, int64_t end), void *context);

#ifdef __cplusplus
}
#endif

#endif
