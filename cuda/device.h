/* The inside of the CUDA backend, shared by its files:
 *   probe.c     finding a GPU that works, opening and closing it
 *   memory.c    allocations, accounts and copies
 *   matrix.c    SELL-32 on the device
 *   halo.c      packing and unpacking through pinned memory
 *   work.c      the operations: arguments of kernels, and what is launched when
 *   many.c      the operations on several vectors at once (many.cu)
 *   judge.c     the end of a step
 *   table.c     the tables
 *   cudss.c     direct solution by cuDSS, which cudss_open.[ch] finds
 *   rtc.[ch]    kernels compiled at run time around a formula
 *   quad.c      quadrature: its kernels are texts (quad_*.cuh), and quad_estimates.cu
 *   coupled.c   large coupled systems: kernels are texts (coupled_*.cuh), and coupled_weigh.cu
 *   shapes.c    rows kept by their shape (pattern.h): their tables, and which tiles come when
 *   stream.c    matrices that are kept on the host and come in chunks
 *   passes.h    device code shared by: rows.cu (passes over matrix rows), shapes.cu (over rows kept
 *               by their shape), vectors.cu, steps.cu
 *   block_tally.h   the sums of a thread block, there and in kernels compiled at run time
 *
 * A pass works on tiles of 256 rows, a thread block a tile at a time, one row a thread. Sums of a
 * block go to a wide accumulator of the thread block in shared memory, its touched words once to
 * `words` in device memory by integer atomics. A pass that is known to end a step (cuda_judge
 * follows it and this rank is alone) is kept back until judge() is called, and launched with the
 * rule as its tail: the last thread block to finish rounds the sums, moves the state on and posts a
 * copy of it to a ring in pinned host memory. So a Jacobi iteration is one kernel, a CG iteration
 * three, and the host waits for none of them. */
#ifndef CUDA_DEVICE_H
#define CUDA_DEVICE_H

#include <cuda_runtime_api.h>

#include "sell.h"
#include "solve_backend.h"
#include "stream_plan.h"
#include "warp.h"
#include "wide.h"

enum {
  TILE = SELL_TILE,
  TALLY_WORDS = SUMS_MAX * WIDE_WORDS + COUNTERS,
  LAG = 8,
  RING = 32,       /* posted states, more than the host may lag behind */
  RING_WORDS = 32, /* 8-byte words of a posted state: 4 of content, 4 of step number */
  STATE_WORDS = (int)(sizeof(solve_state) / sizeof(uint32_t)),
  HALO_CHUNKS = 16,
  HALO_PLANS = 96
};

/* How a pass ends: where its sums go, and the rule to apply when all blocks are done. */
typedef struct ending {
  int64_t *words;     /* [TALLY_WORDS] sums, then counters */
  unsigned *ticket;   /* blocks that are done */
  solve_state *state; /* NULL: no rule */
  uint64_t *slot;     /* [RING_WORDS] in pinned memory */
  uint32_t sequence;  /* of this judged step */
  int32_t kind, stop;
} ending;

/* A slice of 32 rows; where its values start (a multiple of 8) and, in the low bits, its kind. */
typedef struct slice {
  int64_t value_at, column_at;
} slice;

/* A long row, or a 4096-entry segment of a very long one: a warp's work. */
typedef struct long_item {
  int64_t begin;
  int32_t count, target; /* entries; position of its sum */
} long_item;

/* Device memory of a matrix, see sell.h. */
typedef struct matrix_view {
  lidx rows, tiles;
  int32_t uneven;       /* slices of a tile differ much in length */
  const slice *slices;  /* [8 tiles] */
  const uint16_t *slot; /* [256 tiles] length | place << 8 */
  const void *value;    /* of the pass's numbers: doubles, or floats in ROWS_SINGLE_ passes */
  const lidx *column;
  const lidx *list; /* tiles to work on; NULL: all */
  lidx list_count;
  lidx long_rows, items;
  lidx item_count;        /* of these, to be made for the tiles of the list */
  const lidx *long_first; /* [tiles + 1]; NULL: there are no long rows */
  const lidx *long_row;   /* [long_rows] */
  const lidx *first_item; /* [long_rows + 1] the sums of long row j */
  const long_item *item;  /* [item_count] longest first */
  const void *long_value;
  const lidx *long_column;
  double *item_sum; /* [2 items] sums of a x; of |a||x| */
} matrix_view;

typedef enum row_pass {
  ROWS_PRODUCT,
  ROWS_RESIDUAL,
  ROWS_SWEEP,
  ROWS_CG_PRODUCT,
  ROWS_RELAX,
  ROWS_RELAX_SET,
  ROWS_SINGLE_SWEEP, /* from here on in float */
  ROWS_SINGLE_CG_PRODUCT,
  ROW_PASSES
} row_pass;
typedef enum shapes_pass_kind {
  SHAPES_PRODUCT,
  SHAPES_RESIDUAL,
  SHAPES_SWEEP,
  SHAPES_CG_PRODUCT,
  SHAPES_RELAX,
  SHAPES_CG_ADVANCE,
  SHAPES_CG_REDUCE,
  SHAPES_PASSES
} shapes_pass_kind;
typedef enum vector_pass {
  VECTOR_DOT,
  VECTOR_CG_RESIDUAL,
  VECTOR_SINGLE_CG_RESIDUAL,
  VECTOR_PASSES
} vector_pass;

typedef struct rows_args {
  matrix_view m;
  const void *x, *b, *weight, *y; /* the pass's numbers; ROWS_RELAX: any may be NULL */
  void *out;                      /* may be NULL for ROWS_RESIDUAL */
  const lidx *set; /* ROWS_RELAX_SET: the entries that rows are, in x, b, weight and out */
  int32_t keep;    /* ... and whether out is added to */
  const solve_state *state;
  double scale;
  int32_t block;   /* elements of a sum block */
  int32_t reverse; /* last tile first */
  int32_t early;   /* may start while the last pass ends */
  ending end;
} rows_args;

/* A tile, and the shape of all its rows; -1: they have several. */
typedef struct shaped_tile {
  lidx tile;
  int32_t shape;
} shaped_tile;

/* Device memory of the tiles of a matrix that are kept by their rows' shapes (pattern.h). */
typedef struct shapes_view {
  lidx rows;
  const shaped_tile *list; /* tiles to work on */
  lidx list_count;
  const uint8_t *code1; /* as in pattern.h */
  const uint16_t *code2;
  const lidx *first, *offset;
  const double *value;
  const double *weight; /* [shapes] of a sweep; NULL: a vector has it */
} shapes_view;

typedef struct shapes_args {
  shapes_view m;
  int32_t vector;  /* weights (inverse diagonal of CG) are a vector's; 0: the view's, or */
  double diagonal; /* ... this one number's */
  const double *x; /* what is multiplied; the old direction of CG_ADVANCE */
  const double *b, *y, *weight; /* of sweeps and relax */
  const double *r, *inverse;    /* of CG; inverse may be NULL: 1 */
  double *out;                  /* result; the residual of CG_REDUCE */
  double *solution;             /* of CG_ADVANCE */
  const solve_state *state;
  double scale;
  int32_t block, reverse, early;
  ending end;
} shapes_args;

typedef struct vector_args {
  lidx rows, tiles;
  const void *x, *inverse; /* the pass's numbers; y of a dot; inverse may be NULL */
  void *r;
  const solve_state *state;
  double scale;
  int32_t block, reverse, early;
  ending end;
} vector_args;

typedef struct direction_args {
  lidx rows;
  int32_t reverse, early;
  int32_t single;                 /* numbers are floats, and a verdict ends all */
  const void *r, *inverse, *from; /* inverse may be NULL; from may be the direction itself */
  void *direction, *x;
  const solve_state *state;
} direction_args;

/* Passes over up to SUMS_MAX vectors x. */
typedef struct many_args {
  lidx rows, tiles;
  int32_t count, block, reverse;
  double scale;              /* of the products of dots */
  double factor[SUMS_MAX];   /* of accumulate; [0], [1] of combine */
  const double *x[SUMS_MAX]; /* combine: [0], [1] may be NULL */
  const double *y;
  double *out;
  int64_t *words;
} many_args;

/* Terms of coupled_backend's weigh(); e may be NULL. */
typedef struct weigh_args {
  lidx rows, tiles;
  int32_t block, reverse;
  double rtol, atol;
  const double *e, *y, *u;
  ending end;
} weigh_args;

/* Which tiles, interior ones first, then boundary ones. */
typedef struct tile_counts {
  lidx interior, boundary;
} tile_counts;

enum { MATRIX_ROOMS = 24 };

/* What can be kept on the host: entries of slices, and of long rows. */
typedef enum stream_kind { STREAM_TILES, STREAM_LONG, STREAM_KINDS } stream_kind;
typedef struct matrix_stream {
  stream_extent *tile; /* of slice_tiles */
  int value_bytes;     /* 8, or 4: floats */
  int64_t values[STREAM_KINDS], columns[STREAM_KINDS];
  void *value[STREAM_KINDS]; /* pinned; NULL: on the device, or none */
  lidx *column[STREAM_KINDS];
  stream_chunk *chunk[STREAM_KINDS][2]; /* interior, boundary */
  lidx chunks[STREAM_KINDS][2];
} matrix_stream;

struct matrix {
  matrix_view view;   /* of the tiles in `slices` */
  shapes_view shapes; /* of those in `shaped` */
  tile_counts slices, shaped;
  lidx *slice_tiles; /* device: those in slices */
  lidx ghosts, shape_count;
  lidx interior_items;   /* first in view.item; then those of boundary tiles */
  row_pattern pattern;   /* host: the codes, to learn weights by; none: no tile is shaped */
  const double *weighed; /* the vector that is known by shape; NULL: none */
  double *weight;        /* device: [shapes] what it is */
  int uniform_weight;    /* all the same number: */
  double one_weight;
  void *room[MATRIX_ROOMS];
  int rooms;
  int streamed; /* entries are on the host: view.value and so on are NULL */
  matrix_stream stream;
  matrix *next; /* of this device */
  matrix_facts facts;
};

/* A pass kept back until it is known how it ends. */
typedef enum kept_kind { KEPT_NONE, KEPT_ROWS, KEPT_SHAPES, KEPT_VECTORS } kept_kind;
typedef struct kept {
  kept_kind kind;
  int pass;
  const solve_state *state;
  cudaEvent_t used; /* to be recorded after it; NULL: none */
  rows_args rows;
  shapes_args shapes;
  vector_args vectors;
} kept;

typedef struct allocation {
  void *at;
  int64_t bytes;
} allocation;

/* What this device keeps of a halo plan. `row` and `rows_there` hold the plan's send rows. */
typedef struct halo_plan {
  const halo *key;
  lidx sends, ghosts;
  int adopted; /* the plan's buffers are device memory: nothing is pinned */
  lidx *row, *rows_there;
  double *send, *send_there; /* pinned, as the host and as the device see it */
  double *ghost;             /* pinned */
  double *wide;              /* device: ghosts that become floats; NULL: none did yet */
  cudaEvent_t sent[HALO_CHUNKS], received;
} halo_plan;

/* How matrices come that are kept on the host (stream.c). */
typedef struct device_stream {
  cudaStream_t copies; /* NULL: not opened */
  void *buffer[STREAM_BUFFERS];
  int64_t room; /* bytes of each */
  cudaEvent_t arrived[STREAM_BUFFERS], used[STREAM_BUFFERS];
  int turn; /* the buffer filled last */
} device_stream;

struct device {
  device_facts facts;
  int processors, threads;
  int early;                 /* passes may overlap (sm_90) */
  cudaStream_t main, urgent; /* urgent: halos and boundary rows, of high priority */
  cudaEvent_t fork, join;
  int forked, joining; /* urgent may start at `fork`; main has to wait for `join` */

  allocation *list;
  int64_t count, room, used;
  int64_t limit; /* of `used`; 0: what the GPU has */

  matrix *first; /* all there are */
  device_stream stream;
  int always_stream, small_chunks; /* for tests */

  int64_t *words; /* device: tally, ticket, largest */
  unsigned *ticket;
  uint64_t *largest;
  int used_sums; /* of the tally, that may not be zero, where more than PASS_SUMS + 1 are */
  int64_t *pinned, *pinned_there; /* [TALLY_WORDS + 1] */
  uint64_t *ring, *ring_there;    /* [RING * RING_WORDS] */
  uint32_t sequence;              /* of the last judged step */

  void *state_at;     /* the state last copied in or judged, */
  uint32_t base;      /* the step it was copied in after, */
  solve_state mirror; /* and its value, while several ranks judge on the host */

  kept kept;
  int reverse;
  int row_blocks[ROW_PASSES], shape_blocks[SHAPES_PASSES], vector_blocks[VECTOR_PASSES];
  int long_blocks;
  halo_plan plan[HALO_PLANS];
  int plans;
  status broken;
  char broken_text[256];
};

#ifdef __cplusplus
extern "C" {
#endif

/* A failed call or launch breaks the device for good: the text is kept and every later operation
 * answers with it. */
status device_check(device *d, cudaError_t error, const char *what);
status device_ok(const device *d);

/* The same after a launch, and after a copy between host and device was begun; both are counted.
 * Waits for a launch to end where the build asks for that (CUDA_SYNC). */
status device_launched(device *d, cudaError_t error, const char *what);
status device_copied(device *d, cudaError_t error, const char *what);

/* memory.c: plain device memory, accounted. What does not fit makes matrices move out (stream.c),
 * or is refused. */
status device_room(device *d, int64_t *bytes);
status device_alloc(device *d, int64_t bytes, const char *what, void *out);
void device_free(device *d, void *p);
status device_upload(device *d, void *to, const void *from, int64_t bytes);
status cuda_alloc(device *d, int64_t bytes, const char *what, dptr *out);
void cuda_release(device *d, dptr *p);
status cuda_copy_in(device *d, dptr to, hptr from, int64_t bytes);
status cuda_copy_out(device *d, hptr to, dptr from, int64_t bytes);

/* work.c: all that was asked for is launched, and what comes next runs on main after it. */
status device_ready(device *d);
/* Whether this pass goes through its tiles backwards. */
int device_turn(device *d);
/* Launches a pass that was kept back, without a rule; and makes main wait for urgent. */
status device_settle(device *d);
status device_join(device *d);
/* The stream of a part: boundary rows follow unpack() on urgent. What was launched there is waited
 * for by what comes next, once it is noted (of another stream: nothing happens). */
status device_stream_for(device *d, part p, cudaStream_t *out);
status device_note_urgent(device *d, cudaStream_t stream);
status launch_kept(device *d, const ending *end);
ending plain_ending(const device *d);

/* halo.c */
void halo_plans_release(device *d);
status cuda_pack(device *d, const halo *h, vec x);
status cuda_unpack(device *d, const halo *h, vec x);
/* The same for float vectors: x.data.at has floats. */
status cuda_pack_single(device *d, const halo *h, vec x);
status cuda_unpack_single(device *d, const halo *h, vec x);

/* probe.c */
status cuda_open(const device_request *request, device **out);
status cuda_open_streamed(const device_request *request, device **out);
void cuda_close(device **d);
void cuda_describe(const device *d, device_facts *out);

/* matrix.c */
status cuda_matrix_create(device *d, const csr_block *a, matrix_format format, matrix **out);
status cuda_matrix_create_plain(device *d, const csr_block *a, matrix_format format, matrix **out);
/* Its values are floats, (float)(scale a_ij): for ROWS_SINGLE_ passes. */
status cuda_matrix_create_single(device *d, const csr_block *a, double scale, matrix **out);
void cuda_matrix_release(device *d, matrix **a);
void cuda_matrix_describe(const matrix *a, matrix_facts *out);
/* Device memory for, and a copy of, an array of a matrix; released with it. */
status matrix_piece(device *d, matrix *m, const void *from, int64_t bytes, const char *what,
                    void *to);

/* shapes.c */
status shapes_create(device *d, matrix *m, const unsigned char *boundary);
status cuda_matrix_weigh(device *d, matrix *a, vec weight);
/* The tiles of a part, and what their rows' weights are (vector.data.at NULL: 1). */
shapes_args shapes_of(const matrix *a, part p, vec weight);

/* judge.c */
status cuda_judge(device *d, comm *c, judge_kind kind, dptr state, int stop);
status cuda_look(device *d, dptr state, int64_t step, solve_state *out);
status cuda_sums(device *d, comm *c, int count, int64_t *asked, double *out);
status cuda_collect(device *d, comm *c, int count, wide *out);
void device_note_state(device *d, void *at, const void *content);

/* work.c: the rest of the table. */
status cuda_fill(device *d, vec x, double value);
status cuda_copy(device *d, vec to, vec from);
status cuda_max_abs(device *d, vec x, double *out);
status cuda_dot(device *d, vec x, vec y, double scale);
status cuda_dots(device *d, int count, const vec *x, vec y, double scale);
status cuda_combine(device *d, double a, vec x, double b, vec y, vec out);
status cuda_multiply(device *d, vec w, vec x, vec out);
status cuda_accumulate(device *d, int count, const double *a, const vec *x, vec out);
status cuda_product(device *d, const matrix *a, part p, vec x, vec y);
status cuda_residual(device *d, const matrix *a, part p, vec x, vec b, vec r, double scale);
status cuda_relax(device *d, const matrix *a, part p, vec x, double c, vec w, vec b, vec y,
                  vec out);
status cuda_relax_set(device *d, const matrix *a, part p, dptr set, vec w, vec b, int keep, vec x);
status cuda_sweep(device *d, const matrix *a, part p, vec x, vec b, vec weight, vec next,
                  dptr state);
status cuda_cg_product(device *d, const matrix *a, part p, vec direction, vec q, dptr state);
status cuda_cg_residual(device *d, vec q, vec inverse_diagonal, vec r, dptr state);
status cuda_cg_advance(device *d, const matrix *a, part p, vec r, vec inverse_diagonal, vec from,
                       vec to, vec x, vec q, dptr state);
status cuda_cg_reduce(device *d, const matrix *a, vec direction, vec q, vec inverse_diagonal, vec r,
                      dptr state);
status cuda_cg_direction(device *d, vec r, vec inverse_diagonal, vec direction, vec x, dptr state);

/* work.c: passes with a state, for single.c; of args all but what the device decides is set. */
status rows_judged(device *d, const matrix *a, part p, row_pass pass, vec weight, rows_args *args);
status vectors_judged(device *d, vector_pass pass, const vector_args *args);
status direction_judged(device *d, direction_args *args);

extern const struct mixed_backend MIXED_cuda;

/* Kernels (*.cu). Each returns the launch's error; none waits. */
cudaError_t kernel_probe(cudaStream_t s, uint32_t *out, uint32_t seed);
cudaError_t kernel_rows(cudaStream_t s, row_pass pass, const rows_args *a, int most_blocks);
cudaError_t kernel_long_rows(cudaStream_t s, const rows_args *a, row_pass pass, int most_blocks);
cudaError_t kernel_shapes(cudaStream_t s, shapes_pass_kind pass, const shapes_args *a,
                          int most_blocks, int processors);
cudaError_t kernel_advance_ghosts(cudaStream_t s, const shapes_args *a, lidx begin, lidx count);
cudaError_t kernel_vectors(cudaStream_t s, vector_pass pass, const vector_args *a, int most_blocks,
                           int processors);
cudaError_t kernel_weigh(cudaStream_t s, const weigh_args *a, int processors);
cudaError_t kernel_direction(cudaStream_t s, const direction_args *a);
cudaError_t kernel_dots(cudaStream_t s, const many_args *a, int processors);
cudaError_t kernel_combine(cudaStream_t s, const many_args *a);
cudaError_t kernel_multiply(cudaStream_t s, const many_args *a);
cudaError_t kernel_accumulate(cudaStream_t s, const many_args *a);
cudaError_t kernel_fill(cudaStream_t s, double *x, int64_t count, double value);
cudaError_t kernel_max_abs(cudaStream_t s, const double *x, lidx rows, uint64_t *out,
                           int processors);
cudaError_t kernel_gather(cudaStream_t s, const double *x, const lidx *row, lidx begin, lidx end,
                          double *out);
cudaError_t kernel_narrow(cudaStream_t s, double c, const double *from, int64_t count, float *to);
cudaError_t kernel_correct(cudaStream_t s, double c, const float *e, int64_t count, double *x);
cudaError_t kernel_gather_single(cudaStream_t s, const float *x, const lidx *row, lidx begin,
                                 lidx end, double *out);
cudaError_t kernel_judge(cudaStream_t s, const ending *e);
cudaError_t kernel_collect(cudaStream_t s, int64_t *words, int sums, int64_t *out);
cudaError_t kernel_store_state(cudaStream_t s, solve_state *to, const solve_state *value);

/* Thread blocks that fit one multiprocessor. */
cudaError_t kernel_rows_fit(row_pass pass, int *blocks);
cudaError_t kernel_shapes_fit(shapes_pass_kind pass, int *blocks);
cudaError_t kernel_long_rows_fit(int *blocks);
cudaError_t kernel_vectors_fit(vector_pass pass, int *blocks);

#ifdef __cplusplus
}
#endif

#endif
