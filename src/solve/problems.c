/* Model problems, row by row. poissonNd: 2N on the diagonal, -1 to each of the 2N neighbours,
 * Dirichlet points eliminated, x fastest. convdiff2d: upwind convection and diffusion. random-
 * dominant: entries_per_row - 1 distinct columns a row and a diagonal one larger than the sum of
 * their sizes, so that Jacobi converges; not symmetric.
 *
 * Passes over rows, shared by the threads: entries per block (to balance), row lengths, entries. A
 * row costs O(its entries) (random-dominant: their square in moves of 8 bytes, which for rows of
 * hundreds is little). Random columns are drawn without replacement by Floyd's algorithm (Bentley,
 * CACM 30 (1987) 754). */
#include "problems.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "block_sum.h"
#include "memory.h"
#include "philox.h"
#include "survey.h"
#include "team.h"

enum { DIMS_MAX = 3 };

typedef struct problem problem;

typedef struct making {
  const problem *problem;
  const problem_request *request;
  gidx n[DIMS_MAX];
  gidx rows;
  gidx longest; /* entries a row has at most */
} making;

/* Writes row gi (columns ascending) and returns its length; NULL arrays: the length alone. */
typedef gidx (*row_maker)(const making *m, gidx gi, gidx *column, double *value);

struct problem {
  const char *name;
  int dims;
  row_maker row;
};

/* One stencil row: `down[d]` and `up[d]` are the values towards smaller and larger coordinates. */
static gidx stencil_row(const making *m, gidx gi, const double *down, double centre,
                        const double *up, gidx *column, double *value) {
  const int dims = m->problem->dims;
  gidx at[DIMS_MAX], stride[DIMS_MAX], rest = gi, step = 1, count = 0;
  for (int d = 0; d < dims; d++) {
    at[d] = rest % m->n[d];
    rest /= m->n[d];
    stride[d] = step;
    step *= m->n[d];
  }
  for (int d = dims - 1; d >= 0; d--) {
    if (at[d] == 0) continue;
    if (column != NULL) column[count] = gi - stride[d], value[count] = down[d];
    count++;
  }
  if (column != NULL) column[count] = gi, value[count] = centre;
  count++;
  for (int d = 0; d < dims; d++) {
    if (at[d] == m->n[d] - 1) continue;
    if (column != NULL) column[count] = gi + stride[d], value[count] = up[d];
    count++;
  }
  return count;
}

static gidx poisson_row(const making *m, gidx gi, gidx *column, double *value) {
  static const double minus[DIMS_MAX] = {-1.0, -1.0, -1.0};
  return stencil_row(m, gi, minus, 2.0 * m->problem->dims, minus, column, value);
}

static gidx convdiff_row(const making *m, gidx gi, gidx *column, double *value) {
  static const double up[DIMS_MAX] = {-1.0, -1.0, -1.0};
  const double p = m->request->peclet;
  const double down[DIMS_MAX] = {-1.0 - p, -1.0 - p, 0.0};
  return stencil_row(m, gi, down, 4.0 + 2.0 * p, up, column, value);
}

/* Uniform in [0, bound): the high half of a 128-bit product (bias below bound / 2^64). */
static gidx draw(const making *m, gidx gi, int64_t step, gidx bound) {
  const philox_words w =
      philox_at(m->request->seed, (uint64_t)gi, PHILOX_RANDOM_DOMINANT, (uint64_t)step, 0);
  __extension__ typedef unsigned __int128 wide_product;
  return (gidx)((wide_product)philox_bits(w, 0) * (uint64_t)bound >> 64);
}

static void insert(gidx *sorted, gidx count, gidx at, gidx key) {
  memmove(sorted + at + 1, sorted + at, (size_t)(count - at) * sizeof *sorted);
  sorted[at] = key;
}

/* Floyd: `wanted` of the numbers [0, rows - 1), which are the columns with the diagonal left out.
 */
static void draw_columns(const making *m, gidx gi, gidx wanted, gidx *column) {
  gidx count = 0;
  for (gidx j = m->rows - 1 - wanted; j < m->rows - 1; j++) {
    const gidx drawn = draw(m, gi, count, j + 1);
    gidx at = index_lower_bound(column, 0, count, drawn);
    if (at < count && column[at] == drawn) {
      insert(column, count, count, j); /* j is larger than all before */
    } else {
      insert(column, count, at, drawn);
    }
    count++;
  }
  for (gidx e = 0; e < count; e++) column[e] += column[e] >= gi;
}

static gidx random_row(const making *m, gidx gi, gidx *column, double *value) {
  const gidx others = m->longest - 1;
  if (column == NULL) return m->longest;
  draw_columns(m, gi, others, column);
  const gidx diagonal = index_lower_bound(column, 0, others, gi);
  insert(column, others, diagonal, gi);
  double size = 1.0;
  for (gidx e = 0; e <= others; e++) {
    if (e == diagonal) continue;
    /* pair 1 is another position than the draws of columns */
    const philox_words w = philox_at(m->request->seed, (uint64_t)gi, PHILOX_RANDOM_DOMINANT,
                                     (uint64_t)(e - (e > diagonal)), 1);
    value[e] = fma(2.0, philox_uniform(w, 0), -1.0);
    size += fabs(value[e]);
  }
  value[diagonal] = size;
  return others + 1;
}

double problem_random_rhs(uint64_t seed, gidx gi) {
  return fma(2.0, philox_uniform(philox_at(seed, (uint64_t)gi, PHILOX_RHS, 0, 0), 0), -1.0);
}

#define PROBLEM(name, dims, row) {name, dims, row},
static const problem problems[] = {
#include "problems.def"
};
#undef PROBLEM

static const problem *find_problem(const char *name) {
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
    if (strcmp(problems[i].name, name) == 0) return &problems[i];
  }
  return NULL;
}

int problem_dims(const char *name) {
  const problem *p = find_problem(name);
  return p == NULL ? 0 : p->dims;
}

static status prepare(const problem_request *request, making *m) {
  memset(m, 0, sizeof *m);
  m->request = request;
  m->problem = find_problem(request->name);
  if (m->problem == NULL) return fail(STATUS_USAGE, "problem %s is unknown", request->name);
  const int dims = m->problem->dims;
  if (request->n_count == 0) {
    return fail(STATUS_USAGE, "problem %s needs n, the number of unknowns per direction",
                request->name);
  }
  if (request->n_count != 1 && request->n_count != dims) {
    return fail(STATUS_USAGE,
                "problem %s takes one n, or one for each of its %d directions; %d given",
                request->name, dims, request->n_count);
  }
  m->rows = 1;
  for (int d = 0; d < dims; d++) {
    m->n[d] = request->n[request->n_count == 1 ? 0 : d];
    if (m->n[d] < 1) {
      return fail(STATUS_USAGE, "n = %lld: at least 1 is needed", (long long)m->n[d]);
    }
    if (__builtin_mul_overflow(m->rows, m->n[d], &m->rows) || m->rows > INT64_MAX / 256) {
      return fail(STATUS_USAGE,
                  "problem %s: the product of its sizes is too large a number of rows",
                  request->name);
    }
  }
  m->longest = 2 * dims + 1;
  if (m->problem->row == random_row) {
    m->longest = request->entries_per_row < m->rows ? request->entries_per_row : m->rows;
    if (m->longest < 1) {
      return fail(STATUS_USAGE, "entries_per_row = %lld: at least 1 is needed",
                  (long long)request->entries_per_row);
    }
  }
  return STATUS_OK;
}

/* Rows beyond what all ranks together can hold are refused at once, before they are counted. */
static status check_room(comm *c, const making *m) {
  const int64_t size = comm_size(c), share = m->rows / size;
  if (share <= INT32_MAX) return STATUS_OK;
  return fail(STATUS_UNAVAILABLE,
              "problem %s: %lld rows on %d rank%s, at most %d fit each: use at least %lld ranks",
              m->request->name, (long long)m->rows, (int)size, size == 1 ? "" : "s", INT32_MAX,
              (long long)(m->rows / INT32_MAX + 1));
}

static status check_memory(comm *c, const making *m) {
  const double rows = (double)m->rows / comm_size(c), entries = rows * (double)m->longest;
  return memory_check(c, 16.0 * entries + 8.0 * rows + survey_bytes_to_solve(rows, entries),
                      m->request->name);
}

typedef struct weighing {
  const making *m;
  gidx block, first; /* rows of a block, the share's first block */
  int64_t *weight;
} weighing;

static void weigh_part(void *context, int part, int64_t begin, int64_t end) {
  const weighing *w = context;
  const making *m = w->m;
  (void)part;
  for (int64_t b = begin; b < end; b++) {
    const gidx from = (w->first + b) * w->block;
    const gidx to = m->rows - from < w->block ? m->rows : from + w->block;
    w->weight[b] = 0;
    for (gidx gi = from; gi < to; gi++) w->weight[b] += m->problem->row(m, gi, NULL, NULL);
  }
}

/* Entries per sum block of this rank's share of the blocks. */
static status weigh(const making *m, block_share share, int64_t **weight) {
  status rc = STATUS_OK;
  TRY(alloc_array(weight, share.count, sizeof **weight, "block weights"));
  weighing w = {m, block_size(m->rows), share.first, *weight};
  team_for(m->request->threads, share.count, weigh_part, &w);
done:
  return rc;
}

typedef struct filling {
  const making *m;
  csr_rows *a;
} filling;

/* Lengths, at the place of the offsets behind them. */
static void measure_part(void *context, int part, int64_t begin, int64_t end) {
  const filling *f = context;
  (void)part;
  for (int64_t i = begin; i < end; i++) {
    f->a->offset[i + 1] = f->m->problem->row(f->m, f->a->first_row + i, NULL, NULL);
  }
}

static void fill_part(void *context, int part, int64_t begin, int64_t end) {
  const filling *f = context;
  csr_rows *a = f->a;
  (void)part;
  for (int64_t i = begin; i < end; i++) {
    const eidx at = a->offset[i];
    f->m->problem->row(f->m, a->first_row + i, a->column + at, a->value + at);
  }
}

static status make_rows(const making *m, const ownership *owned, csr_rows *out) {
  status rc = STATUS_OK;
  const gidx begin = ownership_begin(owned), end = ownership_end(owned);
  const int threads = m->request->threads;
  filling f = {m, out};
  *out = (csr_rows){.global_rows = m->rows, .global_columns = m->rows, .first_row = begin};
  TRY(index_narrow(end - begin, "rows", &out->rows));
  TRY(alloc_array(&out->offset, (int64_t)out->rows + 1, sizeof *out->offset, "row offsets"));
  out->offset[0] = 0;
  team_for(threads, out->rows, measure_part, &f);
  for (lidx i = 0; i < out->rows; i++) out->offset[i + 1] += out->offset[i];
  const eidx entries = out->offset[out->rows];
  TRY(alloc_array(&out->column, entries, sizeof *out->column, "matrix columns"));
  TRY(alloc_array(&out->value, entries, sizeof *out->value, "matrix values"));
  team_for(threads, out->rows, fill_part, &f);
done:
  if (rc != STATUS_OK) csr_rows_release(out);
  return rc;
}

status problem_build(comm *c, const problem_request *request, csr_rows *out, ownership *owned) {
  status rc = STATUS_OK;
  making m;
  int64_t *weight = NULL;
  memset(out, 0, sizeof *out);
  memset(owned, 0, sizeof *owned);
  rc = prepare(request, &m);
  if (rc == STATUS_OK) rc = check_room(c, &m);
  TRY(comm_agree(c, rc));
  TRY(check_memory(c, &m));
  const block_share share = ownership_share(m.rows, comm_rank(c), comm_size(c));
  TRY(comm_agree(c, weigh(&m, share, &weight)));
  TRY(ownership_by_weight(c, m.rows, share, weight, owned));
  rc = make_rows(&m, owned, out);
  TRY(comm_agree(c, rc));
done:
  alloc_free(&weight);
  if (rc != STATUS_OK) {
    csr_rows_release(out);
    ownership_release(owned);
  }
  return rc;
}
