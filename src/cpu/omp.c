/* The OpenMP backend: device, memory, the loop over tiles, vector operations, and the table. */
#include "omp_team.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "team.h"

static void omp_close(device **d) {
  if (*d == NULL) return;
  alloc_free(&(*d)->worker);
  alloc_free(&(*d)->cut);
  alloc_free(d);
}

static status omp_open(const device_request *request, device **out) {
  status rc = STATUS_OK;
  const int threads = request->threads > 0 ? request->threads : 1;
  TRY(alloc_zeroed(out, 1, sizeof **out, "backend omp"));
  device *d = *out;
  d->threads = threads;
  d->rows = -1;
  TRY(alloc_zeroed(&d->worker, threads, sizeof *d->worker, "threads"));
  for (int t = 0; t < threads; t++) d->worker[t].number = t;
  TRY(alloc_zeroed(&d->cut, (int64_t)threads + 1, sizeof *d->cut, "threads"));
  TRY(team_check(threads));
done:
  if (rc != STATUS_OK) omp_close(out);
  return rc;
}

lidx share_begin(const device *d, lidx rows, int t) {
  if (rows == d->rows) return d->cut[t];
  return (lidx)((int64_t)tile_count(rows) * t / d->threads);
}

int team_size(const device *d, lidx tiles) { return tiles > 1 ? d->threads : 1; }

void worker_settle(worker *w) {
  for (int i = 0; i < SUMS_MAX && w->sums.used >> i != 0; i++) {
    if ((w->sums.used >> i & 1) == 0) continue;
    wide *sum = &w->sums.sum[i];
    int low = 0, high = WIDE_WORDS;
    wide_normalise(sum);
    while (low < WIDE_WORDS && sum->word[low] == 0) low++;
    while (high > low && sum->word[high - 1] == 0) high--;
    w->low[i] = (unsigned char)low;
    w->high[i] = (unsigned char)high;
  }
}

tally *workers_merge(device *d, int count) {
  tally *all = &d->worker[0].sums;
  for (int t = 1; t < d->threads; t++) {
    worker *one = &d->worker[t];
    for (int i = 0; i < SUMS_MAX && one->sums.used >> i != 0; i++) {
      if ((one->sums.used >> i & 1) == 0) continue;
      if (i < count) all->used |= UINT32_C(1) << i;
      int64_t *word = one->sums.sum[i].word;
      for (int k = one->low[i]; k < one->high[i]; k++) {
        if (i < count) all->sum[i].word[k] += word[k];
        word[k] = 0;
      }
    }
    for (int i = 0; i < COUNTERS; i++) {
      all->counter[i] += one->sums.counter[i];
      one->sums.counter[i] = 0;
    }
    one->sums.used = 0;
  }
  return all;
}

/* The shares of all workers are gone through by however many threads there are. */
void run_vector(device *d, lidx rows, const pass *p, tile_work *work) {
  const int team = team_size(d, tile_count(rows));
#pragma omp parallel for num_threads(team) schedule(static)
  for (int t = 0; t < d->threads; t++) {
    const lidx last = share_begin(d, rows, t + 1);
    for (lidx i = share_begin(d, rows, t); i < last; i++) {
      work(&d->worker[t], p, i, i * TILE, tile_end(i, rows));
    }
    worker_settle(&d->worker[t]);
  }
}

static void run_segments(const matrix *m, part which, const double *x, int absolute, int team) {
#pragma omp parallel for num_threads(team) schedule(static)
  for (lidx i = 0; i < m->segments; i++) {
    if (!part_has(which, m->s.boundary[m->s.long_row[m->segment[i].row] / TILE])) continue;
    segment_product(m, i, x, 0);
    if (absolute) segment_product(m, i, x, 1);
  }
}

void run_matrix(device *d, part which, const pass *p, int absolute, tile_work *work) {
  const matrix *m = p->m;
  const int team = team_size(d, m->s.tiles);
  if (m->segments > 0 && p->x != NULL) run_segments(m, which, p->x, absolute, d->threads);
#pragma omp parallel for num_threads(team) schedule(static)
  for (int t = 0; t < d->threads; t++) {
    for (lidx i = m->cut[t]; i < m->cut[t + 1]; i++) {
      if (!part_has(which, m->s.boundary[i])) continue;
      work(&d->worker[t], p, i, i * TILE, sell_row_end(&m->s, i));
    }
    worker_settle(&d->worker[t]);
  }
}

/* Fresh memory is all NaN, written by the thread that will work on it: pages live near their user.
 * The array is taken to be a vector of the matrix's length if it is long enough, and ghosts. */
static status omp_array(device *d, int64_t bytes, const char *what, dptr *out) {
  status rc = alloc_array(&out->at, bytes, 1, what);
  if (rc != STATUS_OK) return rc;
  char *at = out->at;
  const int64_t length = bytes / 8;
  const lidx rows = d->rows >= 0 && length >= d->rows ? d->rows
                    : length < LIDX_MAX - TILE        ? (lidx)length
                                                      : LIDX_MAX - TILE;
#pragma omp parallel for num_threads(d->threads) schedule(static)
  for (int t = 0; t < d->threads; t++) {
    const int64_t begin = (int64_t)share_begin(d, rows, t) * TILE * 8;
    const int64_t end = (int64_t)share_begin(d, rows, t + 1) * TILE * 8;
    if (begin < bytes) memset(at + begin, 0xff, (size_t)((end < bytes ? end : bytes) - begin));
  }
  const int64_t done = (int64_t)tile_count(rows) * TILE * 8;
  if (done < bytes) memset(at + done, 0xff, (size_t)(bytes - done));
  return STATUS_OK;
}

static status omp_copy_in(device *d, dptr to, hptr from, int64_t bytes) {
  team_copy(d->threads, to.at, from.at, bytes);
  return STATUS_OK;
}

static status omp_copy_out(device *d, hptr to, dptr from, int64_t bytes) {
  team_copy(d->threads, to.at, from.at, bytes);
  return STATUS_OK;
}

static status omp_pack(device *d, const halo *h, vec x) {
  const double *from = vec_at(x);
  const int team = team_size(d, tile_count(h->sends) / 8);
#pragma omp parallel for num_threads(team) schedule(static)
  for (lidx i = 0; i < h->sends; i++) h->send_buffer[i] = from[h->send_row[i]];
  return STATUS_OK;
}

static status omp_unpack(device *d, const halo *h, vec x) {
  (void)d;
  if (h->ghosts > 0) {
    memcpy(vec_at(x) + x.rows, h->ghost_buffer, (size_t)h->ghosts * sizeof(double));
  }
  return STATUS_OK;
}

static void fill_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  (void)w;
  (void)tile;
  for (lidx i = begin; i < end; i++) p->y[i] = p->scale;
}

static status omp_fill(device *d, vec x, double value) {
  const pass p = {.y = vec_at(x), .scale = value};
  run_vector(d, x.rows, &p, fill_tile);
  for (lidx i = 0; i < x.ghosts; i++) p.y[x.rows + i] = value;
  return STATUS_OK;
}

static void copy_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  (void)w;
  (void)tile;
  memcpy(p->y + begin, p->x + begin, (size_t)(end - begin) * sizeof(double));
}

static status omp_copy(device *d, vec to, vec from) {
  const pass p = {.x = vec_at(from), .y = vec_at(to)};
  run_vector(d, to.rows, &p, copy_tile);
  return STATUS_OK;
}

/* Bits of |x| rise with |x|; those of NaN are above infinity's. */
static void max_abs_tile(worker *w, const pass *p, lidx tile, lidx begin, lidx end) {
  (void)tile;
  int64_t largest = 0;
  for (lidx i = begin; i < end; i++) {
    const int64_t bits = (int64_t)(bits_of(p->x[i]) & INT64_MAX);
    largest = bits > largest ? bits : largest;
  }
  if ((uint64_t)largest > w->largest) w->largest = (uint64_t)largest;
}

static status omp_max_abs(device *d, vec x, double *out) {
  const pass p = {.x = vec_at(x)};
  uint64_t largest = 0;
  for (int t = 0; t < d->threads; t++) d->worker[t].largest = 0;
  run_vector(d, x.rows, &p, max_abs_tile);
  for (int t = 0; t < d->threads; t++) {
    if (d->worker[t].largest > largest) largest = d->worker[t].largest;
  }
  const uint64_t infinity = UINT64_C(0x7ff) << 52;
  *out = double_of(largest > infinity ? UINT64_C(0x7ff8) << 48 : largest);
  return STATUS_OK;
}

static status omp_judge(device *d, comm *c, judge_kind kind, dptr state, int stop) {
  solve_state *s = state_at(state);
  return tally_judge(c, workers_merge(d, tally_sums(kind, s)), kind, s, stop);
}

static status omp_sums(device *d, comm *c, int count, int64_t *asked, double *out) {
  return tally_end(c, workers_merge(d, count), count, asked, out);
}

static const solve_backend SOLVE_omp = {.lag = 0,
                                        .matrix_create = omp_matrix_create,
                                        .matrix_release = omp_matrix_release,
                                        .matrix_describe = omp_matrix_describe,
                                        .matrix_weigh = omp_matrix_weigh,
                                        .product = omp_product,
                                        .residual = omp_residual,
                                        .relax = omp_relax,
                                        .relax_set = omp_relax_set,
                                        .sweep = omp_sweep,
                                        .cg_product = omp_cg_product,
                                        .cg_residual = omp_cg_residual,
                                        .cg_direction = omp_cg_direction,
                                        .cg_advance = omp_cg_advance,
                                        .cg_reduce = omp_cg_reduce,
                                        .judge = omp_judge,
                                        .look = host_look,
                                        .mixed = &MIXED_omp};

const backend BACKEND_omp = {.name = "omp",
                             .help = "all cores of a node (OpenMP, 8 vector lanes)",
                             .open = omp_open,
                             .close = omp_close,
                             .alloc = omp_array,
                             .release = host_release,
                             .copy_in = omp_copy_in,
                             .copy_out = omp_copy_out,
                             .pack = omp_pack,
                             .unpack = omp_unpack,
                             .fill = omp_fill,
                             .copy = omp_copy,
                             .max_abs = omp_max_abs,
                             .dot = omp_dot,
                             .dots = omp_dots,
                             .combine = omp_combine,
                             .multiply = omp_multiply,
                             .accumulate = omp_accumulate,
                             .sums = omp_sums,
                             .solve = &SOLVE_omp,
                             .quad = &QUAD_omp,
                             .ode = &ODE_omp,
                             .coupled = &COUPLED_omp,
                             .heat = &HEAT_omp};
