#include "parallel.h"

#include <omp.h>

void parallel_for(int threads, int64_t count, int64_t grain,
                  void (*work)(void *context, int64_t begin, int64_t end), void *context) {
  const int64_t grains = count / grain + (count % grain != 0);
  const int team = grains > 1 ? threads : 1;
#pragma omp parallel for num_threads(team) schedule(static)
  for (int t = 0; t < threads; t++) {
    const int64_t begin = grains * t / threads * grain;
    const int64_t end = grains * (t + 1) / threads * grain;
    if (begin < end && begin < count) work(context, begin, end < count ? end : count);
  }
}
