/* What the kernels of levels share: which points a thread has, and how they are launched.
 *
 * 1-D: threads are points of the slab. 2-D: threads are points of an x-line, and go through `chunk`
 * lines. 3-D: thread blocks are 32 x 8 points of a plane, and go through `chunk` planes. So what a
 * neighbour in y or z reads comes from the first-level cache mostly. */
#ifndef HEAT_LEVEL_CUH
#define HEAT_LEVEL_CUH

#include "heat_level_args.h"
#include "passes.h"

enum { LEVEL_THREADS = 256, GRID_ROWS = 65535, CHUNK_MOST = 16 };

/* Thread blocks for planes [from, to) of a slab, and the planes each goes through: as many as leave
 * enough blocks for all multiprocessors, several times over. */
struct level_grid {
  dim3 blocks, threads;
  int64_t chunk;
};

static inline level_grid level_grid_of(const heat_slab *s, int64_t planes, int processors) {
  level_grid g;
  const int dims = s->g.dims;
  const int64_t line = dims == 1 ? planes : s->g.n[0], rows = dims == 3 ? s->g.n[1] : 1;
  const int most = dims == 3 ? LEVEL_THREADS / 8 : LEVEL_THREADS;
  int wide = WARP;
  while (wide < line && wide < most) wide *= 2;
  g.threads = dim3((unsigned)wide, dims == 3 ? 8 : 1);
  g.blocks = dim3((unsigned)((line + wide - 1) / wide));
  g.chunk = 1;
  if (dims == 1) return g;
  if (dims == 3) {
    const int64_t pieces = (rows + 7) / 8;
    g.blocks.y = (unsigned)(pieces < GRID_ROWS ? pieces : GRID_ROWS);
  }
  const int64_t enough = 32 * (int64_t)processors, across = (int64_t)g.blocks.x * g.blocks.y;
  while (g.chunk < CHUNK_MOST && across * (planes / (2 * g.chunk)) >= enough) g.chunk *= 2;
  while ((planes + g.chunk - 1) / g.chunk > GRID_ROWS) g.chunk *= 2;
  const unsigned chunks = (unsigned)((planes + g.chunk - 1) / g.chunk);
  if (dims == 3) {
    g.blocks.z = chunks;
  } else {
    g.blocks.y = chunks;
  }
  return g;
}

/* Work at points: start(j) is told the coordinates of all directions but the last one, then
 * point(at, j) is called for each of this thread's points of planes [from, to) there: its place in
 * the slab and its global coordinates. */
template <int DIMS, class Work>
static __device__ inline void level_points(const heat_slab &s, int64_t from, int64_t to,
                                           int64_t chunk, Work &work) {
  const int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  int64_t j[HEAT_DIMS] = {x, 0, 0};
  if (DIMS == 1) {
    j[0] = from + x + s.first;
    work.start(j);
    if (from + x < to) work.point(from + x + s.halo, j);
    return;
  }
  if (x >= s.g.n[0]) return;
  const int64_t rows = DIMS == 3 ? s.g.n[1] : 1, across = DIMS == 3 ? gridDim.y * blockDim.y : 1;
  const int64_t begin = from + (DIMS == 3 ? blockIdx.z : blockIdx.y) * chunk;
  const int64_t end = min(begin + chunk, to);
  for (int64_t y = DIMS == 3 ? blockIdx.y * blockDim.y + threadIdx.y : 0; y < rows; y += across) {
    int64_t at = (begin + s.halo) * s.plane + y * s.g.n[0] + x;
    j[1] = y;
    work.start(j);
    for (int64_t plane = begin; plane < end; plane++) {
      j[DIMS - 1] = plane + s.first;
      work.point(at, j);
      at += s.plane;
    }
  }
}

/* Whether a face of direction d holds the points of coordinate j. */
static __device__ inline bool level_holds(const heat_grid &g, int d, int64_t j) {
  return (j == 0 && g.face[2 * d] == HEAT_HELD) ||
         (j == g.n[d] - 1 && g.face[2 * d + 1] == HEAT_HELD);
}

/* The same for any direction but the last one. */
template <int DIMS>
static __device__ inline bool level_line_is_held(const heat_grid &g, const int64_t *j) {
  bool held = false;
#pragma unroll
  for (int d = 0; d < DIMS - 1; d++) held |= level_holds(g, d, j[d]);
  return held;
}

/* Whether coordinate j of direction d has half a cell. (Shares are powers of two: their product has
 * no order.) */
static __device__ inline bool level_is_half(const heat_grid &g, int d, int64_t j) {
  return g.n[d] > 1 && g.face[2 * d] != HEAT_PERIODIC && (j == 0 || j == g.n[d] - 1);
}

/* Launches a kernel whose one argument is `args`; `early`: it may start while the last one ends. */
static inline cudaError_t level_launch(cudaStream_t s, const void *kernel, dim3 blocks,
                                       dim3 threads, void *args, int early) {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  void *list[] = {args};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = blocks;
  config.blockDim = threads;
  config.stream = s;
  config.attrs = &attribute;
  config.numAttrs = early ? 1 : 0;
  return cudaLaunchKernelExC(&config, kernel, list);
}

#endif
