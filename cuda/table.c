/* The tables of the CUDA backend. */
#include "cuda_plain.h"
#include "device.h"

#define TABLE(create)                                                                              \
  {                                                                                                \
    .name = "cuda", .help = "one NVIDIA GPU per rank", .lag = LAG, .open = cuda_open,              \
    .close = cuda_close, .describe = cuda_describe, .alloc = cuda_alloc, .release = cuda_release,  \
    .copy_in = cuda_copy_in, .copy_out = cuda_copy_out, .matrix_create = (create),                 \
    .matrix_release = cuda_matrix_release, .matrix_describe = cuda_matrix_describe,                \
    .pack = cuda_pack, .unpack = cuda_unpack, .fill = cuda_fill, .copy = cuda_copy,                \
    .max_abs = cuda_max_abs, .dot = cuda_dot, .product = cuda_product, .residual = cuda_residual,  \
    .sweep = cuda_sweep, .cg_product = cuda_cg_product, .cg_residual = cuda_cg_residual,           \
    .cg_direction = cuda_cg_direction, .judge = cuda_judge, .look = cuda_look, .sums = cuda_sums,  \
  }

const backend BACKEND_cuda = TABLE(cuda_matrix_create);
const backend BACKEND_cuda_plain = TABLE(cuda_matrix_create_plain);
