/* The tables of the CUDA backend. */
#include "quad_cuda.h"

#include "coupled_cuda.h"
#include "cuda_plain.h"
#include "cudss.h"
#include "device.h"
#include "heat_level_args.h"
#include "ode_cuda.h"

#define SOLVE(create)                                                                              \
  {                                                                                                \
    .lag = LAG, .matrix_create = (create), .matrix_release = cuda_matrix_release,                  \
    .matrix_describe = cuda_matrix_describe, .matrix_weigh = cuda_matrix_weigh,                    \
    .product = cuda_product, .residual = cuda_residual, .relax = cuda_relax,                       \
    .relax_set = cuda_relax_set, .sweep = cuda_sweep, .cg_product = cuda_cg_product,               \
    .cg_residual = cuda_cg_residual, .cg_direction = cuda_cg_direction, .cg_two_vectors = 1,       \
    .cg_advance = cuda_cg_advance, .cg_reduce = cuda_cg_reduce, .judge = cuda_judge,               \
    .look = cuda_look, .mixed = &MIXED_cuda,                                                       \
  }

static const solve_backend SOLVE_cuda = SOLVE(cuda_matrix_create);
static const solve_backend SOLVE_cuda_plain = SOLVE(cuda_matrix_create_plain);

static const heat_backend HEAT_cuda = {.create = cuda_heat_create,
                                       .release = cuda_heat_release,
                                       .stage = cuda_heat_stage,
                                       .pass = cuda_heat_pass,
                                       .depth = cuda_heat_depth,
                                       .pack = cuda_heat_pack,
                                       .unpack = cuda_heat_unpack,
                                       .totals = cuda_heat_totals,
                                       .levels = &HEAT_LEVEL_cuda};

#define TABLE(opened, solver)                                                                      \
  {                                                                                                \
    .name = "cuda", .help = "one NVIDIA GPU per rank", .open = (opened), .close = cuda_close,      \
    .describe = cuda_describe, .alloc = cuda_alloc, .release = cuda_release,                       \
    .copy_in = cuda_copy_in, .copy_out = cuda_copy_out, .pack = cuda_pack, .unpack = cuda_unpack,  \
    .fill = cuda_fill, .copy = cuda_copy, .max_abs = cuda_max_abs, .dot = cuda_dot,                \
    .dots = cuda_dots, .combine = cuda_combine, .multiply = cuda_multiply,                         \
    .accumulate = cuda_accumulate, .sums = cuda_sums, .solve = (solver), .quad = &QUAD_cuda,       \
    .heat = &HEAT_cuda, .ode = &ODE_cuda, .coupled = &COUPLED_cuda, .direct = &DIRECT_cudss,       \
  }

const backend BACKEND_cuda = TABLE(cuda_open, &SOLVE_cuda);
const backend BACKEND_cuda_plain = TABLE(cuda_open, &SOLVE_cuda_plain);
const backend BACKEND_cuda_streamed = TABLE(cuda_open_streamed, &SOLVE_cuda);
