/* Passes over matrix rows, one row per thread, on a persistent grid. A warp computes a slice of
 * SELL-32: entry k of its rows is one coalesced load of values and one of columns; five are in
 * flight before the first use. A thread block takes a group of tiles at a time: one, or four where
 * slices differ much in length; then a warp's slices come from other ranks of their tiles, so that
 * no warp has the long ones only. Terms of sums go to shared memory in the order of rows, and one
 * warp, a different one each turn, adds them while the others go on (two buffers: one barrier a
 * group).
 *
 * Rows above 64 entries are made before by long_rows, a warp per row or per 4096-entry segment,
 * longest first; the pass only looks their sums up (a bisection in the tile's few) and chains those
 * of segments.
 *
 * Numbers are doubles, or floats in the ROWS_SINGLE_ passes (mixed_backend.h): REAL. Terms of sums
 * are doubles in both.
 *
 * Traffic of a row of n entries: 12 n (packed slices less, sell.h) + 2.5, and 8 for each vector.
 * Source of the format: Kreutzer et al., SIAM J. Sci. Comput. 36 (2014) C401. */
#include "passes.h"

enum { FLIGHT = 5, LONG_FLIGHT = 16, WARPS = TILE / WARP, UNEVEN_GROUP = 4 };

/* What a thread needs to know of a slice before it can load entries; fetched a slice ahead. */
struct slice_head {
  lidx tile;
  int slot;
  slice where;
};

/* The slice of this warp in the tile at position i of the list. */
template <int GROUP>
static __device__ inline void head_load(const rows_args &p, lidx i, slice_head *head) {
  const matrix_view &m = p.m;
  if (i >= m.list_count) return;
  const lidx at = p.reverse ? m.list_count - 1 - i : i;
  const int rank = (int)(threadIdx.x / WARP + i * (WARPS / GROUP)) % WARPS;
  head->tile = m.list == nullptr ? at : m.list[at];
  head->slot = m.slot[(int64_t)head->tile * TILE + rank * WARP + threadIdx.x % WARP];
  head->where = m.slices[(int64_t)head->tile * WARPS + rank];
}

/* Adds entries of one lane's row to s (and sa): KIND as in sell.h. */
template <int KIND, bool ABSOLUTE, class REAL>
static __device__ inline void
slice_rows(const REAL *__restrict__ value, const lidx *__restrict__ column,
           const REAL *__restrict__ x, int lane, int longest, int length, REAL *s, REAL *sa) {
  for (int k = 0; k < longest; k += FLIGHT) {
    REAL a[FLIGHT], y[FLIGHT];
    lidx c[FLIGHT];
#pragma unroll
    for (int u = 0; u < FLIGHT; u++) {
      if (k + u >= length) continue;
      a[u] = value[KIND == SLICE_CONSTANT ? k + u : (k + u) * WARP + lane];
      c[u] = KIND == SLICE_GATHER ? column[(k + u) * WARP + lane] : column[k + u] + lane;
    }
#pragma unroll
    for (int u = 0; u < FLIGHT; u++) {
      if (k + u < length) y[u] = x[c[u]];
    }
#pragma unroll
    for (int u = 0; u < FLIGHT; u++) {
      if (k + u >= length) continue;
      *s = fma(a[u], y[u], *s);
      if (ABSOLUTE) *sa = fma(fabs(a[u]), fabs(y[u]), *sa);
    }
  }
}

/* The sum of a row kept aside, if it is one. */
template <bool ABSOLUTE, class REAL>
static __device__ inline void long_row(const matrix_view &m, lidx tile, lidx row, REAL *s,
                                       REAL *sa) {
  lidx low = m.long_first[tile], high = m.long_first[tile + 1];
  while (low < high) {
    const lidx middle = low + (high - low) / 2;
    if (m.long_row[middle] < row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low >= m.long_first[tile + 1] || m.long_row[low] != row) return;
  for (lidx i = m.first_item[low]; i < m.first_item[low + 1]; i++) {
    *s += static_cast<REAL>(m.item_sum[i]);
    if (ABSOLUTE) *sa += static_cast<REAL>(m.item_sum[m.items + i]);
  }
}

/* s = row times x (sa: of absolute values), in the fixed order. */
template <bool ABSOLUTE, class REAL>
static __device__ inline void row_times(const matrix_view &m, const REAL *x, const slice_head &head,
                                        lidx row, REAL *s, REAL *sa) {
  const int lane = (int)threadIdx.x % WARP, kind = (int)(head.where.value_at & (SELL_ALIGN - 1));
  const int length = head.slot & 255, longest = __shfl_sync(ALL_LANES, length, 0);
  const REAL *value = static_cast<const REAL *>(m.value) + (head.where.value_at - kind);
  const lidx *column = m.column + head.where.column_at;
  *s = 0;
  *sa = 0;
  if (kind == SLICE_GATHER) {
    slice_rows<SLICE_GATHER, ABSOLUTE>(value, column, x, lane, longest, length, s, sa);
  } else if (kind == SLICE_RUN) {
    slice_rows<SLICE_RUN, ABSOLUTE>(value, column, x, lane, longest, length, s, sa);
  } else {
    slice_rows<SLICE_CONSTANT, ABSOLUTE>(value, column, x, lane, longest, length, s, sa);
  }
  if (m.long_first != nullptr && length == 0 && row < m.rows) {
    long_row<ABSOLUTE>(m, head.tile, row, s, sa);
  }
}

/* What a row leaves: its result, and the terms of sums (u u, or u v for cg_product). */
template <int PASS, class REAL>
static __device__ inline void row_result(const rows_args &p, int update, double scale, lidx row,
                                         REAL s, REAL sa, REAL mine, REAL b, REAL w, double *u,
                                         double *v, int *changed) {
  REAL *out = static_cast<REAL *>(p.out);
  if (PASS == ROWS_PRODUCT) {
    out[row] = s;
  } else if (PASS == ROWS_RELAX) {
    const REAL c = static_cast<REAL>(scale);
    const REAL r = p.b == nullptr ? -s : b - s, factor = p.weight == nullptr ? c : c * w;
    out[row] = p.y == nullptr ? factor * r : fma(factor, r, mine);
  } else if (PASS == ROWS_RELAX_SET) {
    out[row] = fma(w, b - s, mine);
  } else if (PASS == ROWS_RESIDUAL) {
    const REAL r = b - s;
    if (out != nullptr) out[row] = r;
    *u = scale * r;
    *v = scale * sa;
  } else if (PASS == ROWS_SWEEP) {
    const REAL r = b - s, next = fma(w, r, mine);
    out[row] = next;
    *changed += bits_of(next) != bits_of(mine);
    *u = scale * (update ? next - mine : r);
    *v = scale * next;
  } else {
    out[row] = s;
    *u = scale * mine;
    *v = scale * s;
  }
}

/* Sums of a group of tiles from their terms. Each sum is added by one warp, so plainly. */
template <int PASS>
static __device__ inline void group_sums(block_tally *t, const double (*term)[PASS_SUMS][TILE],
                                         int tiles, int update, int block, int turn) {
  const bool two = PASS == ROWS_RESIDUAL || (PASS == ROWS_SWEEP && update);
  const int which = ((int)threadIdx.x / WARP + turn) % WARPS;
  for (int g = 0; g < tiles; g++) {
    const double *u = term[g][0], *v = term[g][1];
    if (block == TILE) {
      if (which == 0) tile_sum(t, 0, u, PASS == ROWS_CG_PRODUCT ? v : u);
      if (which == 1 && two) tile_sum(t, 1, v, v);
    } else {
      tile_sums_small(t, 0, u, PASS == ROWS_CG_PRODUCT ? v : u, block);
      if (two) tile_sums_small(t, 1, v, v, block);
    }
  }
}

template <int PASS, int GROUP, class REAL>
__global__ void __launch_bounds__(TILE, PASS == ROWS_SWEEP ? 3 : 4)
    rows_pass(const __grid_constant__ rows_args p) {
  constexpr bool SUMS = PASS != ROWS_PRODUCT && PASS != ROWS_RELAX && PASS != ROWS_RELAX_SET;
  __shared__ double term[2][GROUP][PASS_SUMS][TILE];
  __shared__ block_tally tally;
  __shared__ verdict_room room;
  const matrix_view &m = p.m;
  const REAL *xs = static_cast<const REAL *>(p.x), *bs = static_cast<const REAL *>(p.b);
  const REAL *ws = static_cast<const REAL *>(p.weight), *ys = static_cast<const REAL *>(p.y);
  slice_head next = {};
  /* the matrix does not change: this load need not wait for the pass before */
  let_next_start();
  head_load<GROUP>(p, (lidx)blockIdx.x * GROUP, &next);
  if (SUMS) tally_zero(&tally); /* seen by all after the first barrier */
  wait_for_last();
  const bool open = state_open(p.state);
  int changed = 0;
  int update = 0, turn = 0;
  double scale = p.scale;
  if (PASS == ROWS_SWEEP) update = p.state->monitor_update;
  if (PASS == ROWS_SWEEP) scale = update ? p.state->update_scale : p.state->scale;
  if (PASS == ROWS_CG_PRODUCT) scale = p.state->scale;
  for (lidx first = (lidx)blockIdx.x * GROUP; open && first < m.list_count;
       first += (lidx)gridDim.x * GROUP, turn++) {
    const int tiles = GROUP == 1 ? 1 : min(GROUP, m.list_count - first);
#pragma unroll 1
    for (int g = 0; g < tiles; g++) {
      const slice_head head = next;
      const int place = head.slot >> 8;
      const lidx row = head.tile * TILE + place;
      const bool there = row < m.rows;
      const lidx entry = PASS == ROWS_RELAX_SET && there ? p.set[row] : row;
      REAL s, sa, mine = 0, b = 0, w = 0;
      double u = 0.0, v = 0.0;
      if (there && (PASS == ROWS_SWEEP || PASS == ROWS_CG_PRODUCT)) mine = xs[row];
      if (there && (PASS == ROWS_SWEEP || PASS == ROWS_RESIDUAL)) b = bs[row];
      if (there && PASS == ROWS_SWEEP) w = ws[row];
      if (there && PASS == ROWS_RELAX) {
        if (p.y != nullptr) mine = ys[row];
        if (p.b != nullptr) b = bs[row];
        if (p.weight != nullptr) w = ws[row];
      }
      if (there && PASS == ROWS_RELAX_SET) {
        if (p.keep) mine = static_cast<const REAL *>(p.out)[entry];
        if (p.b != nullptr) b = bs[entry];
        w = ws[entry];
      }
      head_load<GROUP>(p, g + 1 < tiles ? first + g + 1 : first + (lidx)gridDim.x * GROUP, &next);
      if (PASS == ROWS_RELAX && p.x == nullptr) {
        s = 0;
        sa = 0;
      } else {
        row_times<PASS == ROWS_RESIDUAL>(m, xs, head, row, &s, &sa);
      }
      if (there) {
        row_result<PASS>(p, update, scale, entry, s, sa, mine, b, w, &u, &v, &changed);
      }
      if (SUMS) {
        term[turn % 2][g][0][place] = u;
        term[turn % 2][g][1][place] = v;
      }
    }
    if (!SUMS) continue;
    __syncthreads();
    group_sums<PASS>(&tally, term[turn % 2], tiles, update, p.block, turn);
  }
  if (!SUMS) return;
  if (PASS == ROWS_SWEEP) {
    for (int half = WARP / 2; half >= 1; half /= 2) {
      changed += __shfl_xor_sync(ALL_LANES, changed, half);
    }
    __syncthreads(); /* no tile at all: the zeros are not there yet */
    if (threadIdx.x % WARP == 0) add_shared(&tally.word[BLOCK_WORDS - 1], changed);
  }
  pass_end(p.end, &tally, &room);
}

/* One item of long_rows by a warp: lane l chains entries l, l + 32, ... */
template <bool ABSOLUTE, class REAL>
static __device__ inline void long_sum(const matrix_view &m, const REAL *__restrict__ x,
                                       long_item item) {
  const int lane = (int)threadIdx.x % WARP;
  const REAL *__restrict__ value = static_cast<const REAL *>(m.long_value) + item.begin;
  const lidx *__restrict__ column = m.long_column + item.begin;
  REAL s = 0, sa = 0;
  for (int k = lane; k < item.count; k += LONG_FLIGHT * WARP) {
    REAL a[LONG_FLIGHT], y[LONG_FLIGHT];
    lidx c[LONG_FLIGHT];
#pragma unroll
    for (int u = 0; u < LONG_FLIGHT; u++) {
      if (k + u * WARP >= item.count) continue;
      a[u] = value[k + u * WARP];
      c[u] = column[k + u * WARP];
    }
#pragma unroll
    for (int u = 0; u < LONG_FLIGHT; u++) {
      if (k + u * WARP < item.count) y[u] = x[c[u]];
    }
#pragma unroll
    for (int u = 0; u < LONG_FLIGHT; u++) {
      if (k + u * WARP >= item.count) continue;
      s = fma(a[u], y[u], s);
      if (ABSOLUTE) sa = fma(fabs(a[u]), fabs(y[u]), sa);
    }
  }
  __syncwarp();
  s = lane_tree(s, WARP);
  if (ABSOLUTE) sa = lane_tree(sa, WARP);
  if (lane == 0) {
    m.item_sum[item.target] = s;
    if (ABSOLUTE) m.item_sum[m.items + item.target] = sa;
  }
}

template <bool ABSOLUTE, class REAL>
__global__ void __launch_bounds__(TILE, 2) long_rows(const __grid_constant__ rows_args p) {
  const lidx warps = (lidx)gridDim.x * WARPS;
  if (!state_open(p.state)) return;
  /* items fall in length: neighbours go to different multiprocessors */
  for (lidx i = (lidx)(threadIdx.x / WARP * gridDim.x + blockIdx.x); i < p.m.item_count;
       i += warps) {
    long_sum<ABSOLUTE>(p.m, static_cast<const REAL *>(p.x), p.m.item[i]);
  }
}

/* By pass, and by whether slices are uneven. */
#define BOTH(pass, type)                                                                           \
  { (const void *)rows_pass<pass, 1, type>, (const void *)rows_pass<pass, UNEVEN_GROUP, type> }
static const void *const ROW_KERNELS[][2] = {
    BOTH(ROWS_PRODUCT, double),    BOTH(ROWS_RESIDUAL, double), BOTH(ROWS_SWEEP, double),
    BOTH(ROWS_CG_PRODUCT, double), BOTH(ROWS_RELAX, double),    BOTH(ROWS_RELAX_SET, double),
    BOTH(ROWS_SWEEP, float),       BOTH(ROWS_CG_PRODUCT, float)};

extern "C" cudaError_t kernel_rows(cudaStream_t s, row_pass pass, const rows_args *a,
                                   int most_blocks) {
  rows_args args = *a;
  const int uneven = a->m.uneven != 0, group = uneven ? UNEVEN_GROUP : 1;
  const int blocks = blocks_for((a->m.list_count + group - 1) / group, most_blocks);
  return launch(s, ROW_KERNELS[pass][uneven], blocks, TILE, &args, a->early);
}

extern "C" cudaError_t kernel_rows_fit(row_pass pass, int *blocks) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, ROW_KERNELS[pass][1], TILE, 0);
}

extern "C" cudaError_t kernel_long_rows(cudaStream_t s, const rows_args *a, row_pass pass,
                                        int most_blocks) {
  const int blocks = blocks_for((a->m.item_count + WARPS - 1) / WARPS, most_blocks);
  if (pass >= ROWS_SINGLE_SWEEP) {
    long_rows<false, float><<<blocks, TILE, 0, s>>>(*a);
  } else if (pass == ROWS_RESIDUAL) {
    long_rows<true, double><<<blocks, TILE, 0, s>>>(*a);
  } else {
    long_rows<false, double><<<blocks, TILE, 0, s>>>(*a);
  }
  return cudaGetLastError();
}

extern "C" cudaError_t kernel_long_rows_fit(int *blocks) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, (const void *)long_rows<true, double>, TILE, 0);
}
