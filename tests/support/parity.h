/* Every operation of a backend against the reference backend, bit for bit: awkward sizes, empty and
 * long rows, stencils (packed slices), ghosts, threads, and both ways to run a matrix operation (at
 * once, or interior then boundary). Outputs start as NaN. A test program sets `subject` and calls
 * the cases below. */
#ifndef PARITY_H
#define PARITY_H

#include "alloc.h"
#include "block_sum.h"
#include "solve_backend.h"
#include "test.h"

#include <math.h>
#include <string.h>

static comm *world;

/* What is tested, and the thread counts to test it with. */
static const backend *subject;
static const int *thread_counts;
static int thread_count_count;

static uint64_t scramble(uint64_t z) {
  z += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* In (-1, 1), a function of its argument. */
static double value_at(uint64_t i) { return (double)(int64_t)scramble(i) * 0x1p-63; }

/* A problem: the middle `rows` rows of a global matrix, with `ghosts` ghost columns. */
typedef struct shape {
  const char *what;
  lidx rows, ghosts;
  int stencil;       /* 1: band with constant values, 2: band with other values, 0: random */
  int spoilt;        /* every 97th entry of vectors is NaN, infinite or huge */
  lidx long_row[4];  /* rows (-1: none) of ... */
  lidx long_size[4]; /* ... this many entries */
} shape;

/* Entries of row i of a random matrix: mostly 0 to 12, every 50th row up to 64. */
static lidx row_size(const shape *p, lidx i) {
  for (int k = 0; k < 4; k++) {
    if (p->long_size[k] > 0 && p->long_row[k] == i) return p->long_size[k];
  }
  lidx n = (lidx)(scramble((uint64_t)i) % 13);
  if (i % 50 == 7) n = (lidx)(scramble((uint64_t)i) % 65);
  return n;
}

static lidx random_column(const shape *p, lidx i, lidx k) {
  const uint64_t r = scramble((uint64_t)i * 100003 + (uint64_t)k);
  /* ghosts from a few tiles only, so that both kinds of tile occur */
  const lidx columns = p->rows + (i / 256 % 3 == 1 || p->rows < 256 ? p->ghosts : 0);
  return (lidx)(r % (uint64_t)columns);
}

/* The columns of row i of a band: i - 30, i - 1, i, i + 1, i + 30, as far as they exist. */
static lidx band_columns(const shape *p, lidx i, lidx *column) {
  static const lidx distance[] = {-30, -1, 0, 1, 30};
  lidx n = 0;
  for (int k = 0; k < 5; k++) {
    lidx j = i + distance[k];
    if (j >= 0 && j < p->rows + (i + 40 > p->rows ? p->ghosts : 0)) column[n++] = j;
  }
  return n;
}

static void build(const shape *p, csr_block *a) {
  eidx at = 0, room = 5 * (eidx)p->rows;
  memset(a, 0, sizeof *a);
  a->rows = p->rows;
  a->columns = p->rows;
  a->ghosts = p->ghosts;
  if (!p->stencil) {
    room = 0;
    for (lidx i = 0; i < p->rows; i++) room += row_size(p, i);
  }
  assert_ok(alloc_array(&a->offset, p->rows + 1, sizeof *a->offset, "offsets"));
  assert_ok(alloc_array(&a->column, room, sizeof *a->column, "columns"));
  assert_ok(alloc_array(&a->value, room, sizeof *a->value, "values"));
  for (lidx i = 0; i < p->rows; i++) {
    a->offset[i] = at;
    lidx n = p->stencil ? band_columns(p, i, a->column + at) : row_size(p, i);
    for (lidx k = 0; k < n; k++, at++) {
      if (!p->stencil) a->column[at] = random_column(p, i, k);
      a->value[at] = p->stencil == 1 ? (a->column[at] == i ? 4.0 : -1.0) : value_at((uint64_t)at);
    }
  }
  a->offset[p->rows] = at;
}

static const double SPOIL[] = {1e300, -INFINITY, NAN, 5e-324};

/* One backend at work on a problem. */
typedef struct bench {
  const backend *b;
  device *d;
  matrix *m;
  vec v[6];
  dptr state;
} bench;

static void send(bench *w, vec v, const double *from) {
  assert_ok(w->b->copy_in(w->d, v.data, (hptr){(void *)(uintptr_t)from},
                          ((int64_t)v.rows + v.ghosts) * 8));
}

static bench setup(const backend *b, const shape *p, const csr_block *a, int threads, gidx total) {
  bench w = {.b = b};
  const device_request request = {.threads = threads};
  assert_ok(b->open(&request, &w.d));
  assert_ok(b->solve->matrix_create(w.d, a, &w.m));
  for (int i = 0; i < 6; i++) {
    const int64_t room = (int64_t)p->rows + p->ghosts;
    w.v[i] = (vec){.rows = p->rows, .ghosts = p->ghosts, .block = (int32_t)block_size(total)};
    assert_ok(b->alloc(w.d, room * 8, "vector", &w.v[i].data));
    if (i == 5) continue; /* v[5] stays NaN: outputs */
    double *host;
    assert_ok(alloc_array(&host, room, sizeof *host, "vector"));
    for (int64_t j = 0; j < room; j++) {
      host[j] = value_at((uint64_t)(j * 6 + i)) * (j % 7 == 0 ? 1000.0 : 1.0);
      if (p->spoilt && j % 97 == 0) host[j] = SPOIL[(j / 97 + i) % 4];
    }
    send(&w, w.v[i], host);
    alloc_free(&host);
  }
  assert_ok(b->alloc(w.d, sizeof(solve_state), "state", &w.state));
  return w;
}

static void teardown(bench *w) {
  for (int i = 0; i < 6; i++) w->b->release(w->d, &w->v[i].data);
  w->b->release(w->d, &w->state);
  w->b->solve->matrix_release(w->d, &w->m);
  w->b->close(&w->d);
}

static void set_state(bench *w, const solve_state *s) {
  assert_ok(w->b->copy_in(w->d, w->state, (hptr){(void *)(uintptr_t)s}, sizeof *s));
}

static void same_vectors(const char *what, const shape *p, const bench *x, const bench *y, int v) {
  const int64_t count = (int64_t)p->rows + p->ghosts;
  double *a, *b;
  assert_ok(alloc_array(&a, count, sizeof *a, "vector"));
  assert_ok(alloc_array(&b, count, sizeof *b, "vector"));
  assert_ok(x->b->copy_out(x->d, (hptr){a}, x->v[v].data, count * 8));
  assert_ok(y->b->copy_out(y->d, (hptr){b}, y->v[v].data, count * 8));
  for (int64_t i = 0; i < count; i++) {
    if (a[i] != a[i] && b[i] != b[i]) continue;
    if (bits_of(a[i]) != bits_of(b[i])) {
      fail_msg("%s, %s: entry %lld is %a, should be %a", p->what, what, (long long)i, b[i], a[i]);
    }
  }
  alloc_free(&a);
  alloc_free(&b);
}

static void same_sums(const char *what, const shape *p, bench *x, bench *y, int count) {
  double a[SUMS_MAX], b[SUMS_MAX];
  assert_ok(x->b->sums(x->d, world, count, NULL, a));
  assert_ok(y->b->sums(y->d, world, count, NULL, b));
  for (int i = 0; i < count; i++) {
    if (a[i] != a[i] && b[i] != b[i]) continue;
    if (bits_of(a[i]) != bits_of(b[i])) {
      fail_msg("%s, %s: sum %d is %a, should be %a", p->what, what, i, b[i], a[i]);
    }
  }
}

static void same_states(const char *what, const shape *p, bench *x, bench *y, judge_kind kind) {
  solve_state a, b;
  assert_ok(x->b->solve->judge(x->d, world, kind, x->state, 0));
  assert_ok(y->b->solve->judge(y->d, world, kind, y->state, 0));
  assert_ok(x->b->solve->look(x->d, x->state, 1, &a));
  assert_ok(y->b->solve->look(y->d, y->state, 1, &b));
  if (a.verdict != b.verdict || a.iteration != b.iteration || a.pending != b.pending) {
    fail_msg("%s, %s: verdict %d, should be %d", p->what, what, b.verdict, a.verdict);
  }
  const double have[] = {b.residual, b.alpha, b.beta, b.rho, b.curvature};
  const double want[] = {a.residual, a.alpha, a.beta, a.rho, a.curvature};
  for (int i = 0; i < 5; i++) {
    if (have[i] != have[i] && want[i] != want[i]) continue;
    if (bits_of(have[i]) != bits_of(want[i])) {
      fail_msg("%s, %s: scalar %d is %a, should be %a", p->what, what, i, have[i], want[i]);
    }
  }
}

/* Runs a statement for `w` as the reference (at once) or the other backend (parts[0 .. runs)). */
#define EACH_PART(w, parts, runs, call)                                                            \
  do {                                                                                             \
    for (int run_ = 0; run_ < (runs); run_++) {                                                    \
      const part part_ = (parts)[run_];                                                            \
      assert_ok((w)->b->solve->call);                                                              \
    }                                                                                              \
  } while (0)

static const part AT_ONCE[] = {PART_ALL}, SPLIT[] = {PART_INTERIOR, PART_BOUNDARY};

static void vectors(const shape *p, bench *x, bench *y) {
  bench *both[] = {x, y};
  double largest[2];
  for (int i = 0; i < 2; i++) {
    bench *w = both[i];
    assert_ok(w->b->max_abs(w->d, w->v[0], &largest[i]));
    assert_ok(w->b->dot(w->d, w->v[0], w->v[1], 0x1p-3));
    assert_ok(w->b->copy(w->d, w->v[5], w->v[1]));
    assert_ok(w->b->fill(w->d, w->v[4], -0.0));
  }
  if (!isnan(largest[0]) || !isnan(largest[1])) assert_same_bits(largest[1], largest[0]);
  same_sums("dot", p, x, y, 1);
  same_vectors("copy", p, x, y, 5);
  same_vectors("fill", p, x, y, 4);
}

/* Batches of dots of 1 and of SUMS_MAX vectors; the ways to combine; more vectors to accumulate
 * than one kernel takes. */
static void many_vectors(const shape *p, bench *x, bench *y) {
  enum { LONGEST = SUMS_MAX + 5 };
  bench *both[] = {x, y};
  const vec none = {.rows = p->rows};
  static const int counts[] = {1, 3, SUMS_MAX};
  double factor[LONGEST];
  for (int k = 0; k < LONGEST; k++) factor[k] = value_at((uint64_t)k);
  for (int c = 0; c < 3; c++) {
    for (int i = 0; i < 2; i++) {
      bench *w = both[i];
      vec list[SUMS_MAX];
      for (int k = 0; k < counts[c]; k++) list[k] = w->v[(k + c) % 4];
      assert_ok(w->b->dots(w->d, counts[c], list, w->v[1], 0x1p-2));
    }
    same_sums("dots", p, x, y, counts[c]);
  }
  for (int way = 0; way < 6; way++) {
    for (int i = 0; i < 2; i++) {
      bench *w = both[i];
      const vec first = way == 1 || way == 3 ? none : w->v[0];
      const vec second = way == 2 || way == 3 ? none : w->v[1];
      const vec out = way == 4 ? w->v[0] : way == 5 ? w->v[1] : w->v[5];
      assert_ok(w->b->combine(w->d, 0.7, first, -1.3, second, out));
    }
    same_vectors("combine", p, x, y, way == 4 ? 0 : way == 5 ? 1 : 5);
  }
  for (int i = 0; i < 2; i++) {
    bench *w = both[i];
    vec list[LONGEST];
    for (int k = 0; k < LONGEST; k++) list[k] = w->v[k % 3];
    assert_ok(w->b->multiply(w->d, w->v[2], w->v[1], w->v[5]));
    assert_ok(w->b->multiply(w->d, w->v[2], w->v[0], w->v[0]));
    assert_ok(w->b->accumulate(w->d, LONGEST, factor, list, w->v[3]));
    assert_ok(w->b->accumulate(w->d, 2, factor, list, w->v[5]));
  }
  same_vectors("multiply in place", p, x, y, 0);
  same_vectors("accumulate", p, x, y, 3);
  same_vectors("multiply, accumulate 2", p, x, y, 5);
}

static void products(const shape *p, bench *x, bench *y, const part *parts, int runs) {
  const vec none = {.rows = p->rows};
  bench *both[] = {x, y};
  for (int i = 0; i < 2; i++) {
    bench *w = both[i];
    const part *q = i == 0 ? AT_ONCE : parts;
    const int n = i == 0 ? 1 : runs;
    EACH_PART(w, q, n, product(w->d, w->m, part_, w->v[0], w->v[5]));
    EACH_PART(w, q, n, residual(w->d, w->m, part_, w->v[0], w->v[1], w->v[4], 0x1p2));
  }
  same_sums("residual", p, x, y, 2);
  same_vectors("product", p, x, y, 5);
  same_vectors("residual", p, x, y, 4);
  for (int i = 0; i < 2; i++) {
    bench *w = both[i];
    EACH_PART(w, i == 0 ? AT_ONCE : parts, i == 0 ? 1 : runs,
              residual(w->d, w->m, part_, w->v[0], w->v[1], none, 1.0));
  }
  same_sums("residual not stored", p, x, y, 2);
}

/* With each of w, b, y there or not, out beside them or one of them; from zero. */
static void relaxations(const shape *p, bench *x, bench *y, const part *parts, int runs) {
  const vec none = {.rows = p->rows};
  bench *both[] = {x, y};
  for (int way = 0; way < 12; way++) {
    for (int i = 0; i < 2; i++) {
      bench *w = both[i];
      const vec weight = way & 1 ? w->v[2] : none, b = way & 2 ? w->v[1] : none;
      const vec from = way >= 8 ? none : w->v[0], to = way == 7 ? w->v[3] : w->v[5];
      const vec added = way & 4 ? w->v[3] : none;
      EACH_PART(w, i == 0 ? AT_ONCE : parts, i == 0 ? 1 : runs,
                relax(w->d, w->m, part_, from, -0.7, weight, b, added, to));
    }
    same_vectors("relax", p, x, y, way == 7 ? 3 : 5);
  }
}

/* Every third row of a matrix, referring to no other of them. */
static lidx pick_set(const csr_block *a, csr_block *out, lidx **set) {
  eidx at = 0;
  *out = (csr_block){.rows = (a->rows + 1) / 3, .columns = a->columns, .ghosts = a->ghosts};
  assert_ok(alloc_array(set, out->rows, sizeof **set, "set"));
  assert_ok(alloc_array(&out->offset, out->rows + 1, sizeof *out->offset, "offsets"));
  assert_ok(alloc_array(&out->column, a->offset[a->rows], sizeof *out->column, "columns"));
  assert_ok(alloc_array(&out->value, a->offset[a->rows], sizeof *out->value, "values"));
  for (lidx k = 0; k < out->rows; k++) {
    const lidx i = 3 * k + 1;
    (*set)[k] = i;
    out->offset[k] = at;
    for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++, at++) {
      const lidx j = a->column[e];
      out->column[at] = j != i && j < a->columns && j % 3 == 1 ? j - 1 : j;
      out->value[at] = a->value[e];
    }
  }
  out->offset[out->rows] = at;
  return out->rows;
}

/* Rows of a set in place, added to and replaced, from another vector and from their own. */
static void relax_sets(const shape *p, const csr_block *a, bench *x, bench *y, const part *parts,
                       int runs) {
  bench *both[] = {x, y};
  csr_block some;
  lidx *host;
  const lidx rows = pick_set(a, &some, &host);
  matrix *m[2];
  dptr set[2] = {{NULL}, {NULL}};
  for (int i = 0; i < 2; i++) {
    bench *w = both[i];
    assert_ok(w->b->solve->matrix_create(w->d, &some, &m[i]));
    assert_ok(w->b->alloc(w->d, rows * (int64_t)sizeof(lidx), "set", &set[i]));
    assert_ok(w->b->copy_in(w->d, set[i], (hptr){host}, rows * (int64_t)sizeof(lidx)));
  }
  for (int way = 0; way < 6; way++) {
    for (int i = 0; i < 2; i++) {
      bench *w = both[i];
      const vec b = way & 2 ? w->v[0] : way & 4 ? (vec){.rows = p->rows} : w->v[1];
      EACH_PART(w, i == 0 ? AT_ONCE : parts, i == 0 ? 1 : runs,
                relax_set(w->d, m[i], part_, set[i], w->v[2], b, way & 1, w->v[0]));
    }
    same_vectors("relax set", p, x, y, 0);
  }
  for (int i = 0; i < 2; i++) {
    both[i]->b->release(both[i]->d, &set[i]);
    both[i]->b->solve->matrix_release(both[i]->d, &m[i]);
  }
  csr_block_release(&some);
  alloc_free(&host);
}

static void sweeps(const shape *p, bench *x, bench *y, const part *parts, int runs) {
  bench *both[] = {x, y};
  for (int monitor = 0; monitor < 2; monitor++) {
    for (int stopped = 0; stopped < 2; stopped++) {
      const solve_state s = {.scale = 0x1p-5,
                             .update_scale = 0x1p3,
                             .limit = 1e300,
                             .rtol = 1e-8,
                             .monitor_update = monitor,
                             .verdict = stopped ? VERDICT_DIVERGED : VERDICT_NONE};
      for (int i = 0; i < 2; i++) {
        bench *w = both[i];
        set_state(w, &s);
        assert_ok(w->b->fill(w->d, w->v[5], 7.0));
        EACH_PART(w, i == 0 ? AT_ONCE : parts, i == 0 ? 1 : runs,
                  sweep(w->d, w->m, part_, w->v[0], w->v[1], w->v[2], w->v[5], w->state));
      }
      same_vectors("sweep", p, x, y, 5);
      same_states("sweep", p, x, y, JUDGE_SWEEP);
    }
  }
}

static void repeats(const shape *p, bench *x, bench *y) {
  bench *both[] = {x, y};
  const solve_state s = {.scale = 1.0, .limit = INFINITY, .target = -1.0};
  for (int i = 0; i < 2; i++) {
    bench *w = both[i];
    set_state(w, &s);
    assert_ok(w->b->fill(w->d, w->v[4], 0.0)); /* weight 0: nothing changes */
    assert_ok(
        w->b->solve->sweep(w->d, w->m, PART_ALL, w->v[0], w->v[1], w->v[4], w->v[5], w->state));
  }
  same_states("sweep that changes nothing", p, x, y, JUDGE_SWEEP);
  solve_state out;
  assert_ok(y->b->solve->look(y->d, y->state, 1, &out));
  assert_int_equal(out.verdict, p->rows == 0 ? VERDICT_RANGE
                                : p->spoilt  ? VERDICT_NOT_FINITE
                                             : VERDICT_REPEATS);
}

static void conjugate_gradients(const shape *p, bench *x, bench *y, const part *parts, int runs) {
  bench *both[] = {x, y};
  for (int trial = 0; trial < 4; trial++) {
    /* with and without D, with and without a verdict */
    const solve_state s = {.scale = 0x1p1,
                           .alpha = 0.3,
                           .beta = -0.7,
                           .rho = 1.1,
                           .limit = 1e300,
                           .pending = trial < 2,
                           .verdict = trial < 2 ? VERDICT_NONE : VERDICT_CONVERGED};
    for (int i = 0; i < 2; i++) {
      bench *w = both[i];
      const vec inverse = trial % 2 ? (vec){.rows = p->rows} : w->v[2];
      set_state(w, &s);
      assert_ok(w->b->fill(w->d, w->v[5], 7.0));
      assert_ok(w->b->solve->cg_direction(w->d, w->v[0], inverse, w->v[1], w->v[3], w->state));
      EACH_PART(w, i == 0 ? AT_ONCE : parts, i == 0 ? 1 : runs,
                cg_product(w->d, w->m, part_, w->v[1], w->v[5], w->state));
    }
    same_vectors("direction", p, x, y, 1);
    same_vectors("iterate", p, x, y, 3);
    same_vectors("cg product", p, x, y, 5);
    same_states("cg product", p, x, y, JUDGE_CG_PRODUCT);
    for (int i = 0; i < 2; i++) {
      bench *w = both[i];
      const vec inverse = trial % 2 ? (vec){.rows = p->rows} : w->v[2];
      set_state(w, &s);
      assert_ok(w->b->solve->cg_residual(w->d, w->v[5], inverse, w->v[0], w->state));
    }
    same_vectors("cg residual", p, x, y, 0);
    same_states("cg residual", p, x, y, trial == 0 ? JUDGE_CG_START : JUDGE_CG_RESIDUAL);
  }
}

static void all_operations(const shape *p, int threads, gidx total, int split) {
  const int64_t before = alloc_live();
  csr_block a;
  build(p, &a);
  bench x = setup(&BACKEND_ref, p, &a, 1, total), y = setup(subject, p, &a, threads, total);
  const part *parts = split ? SPLIT : AT_ONCE;
  const int runs = split ? 2 : 1;
  matrix_facts rx, ry;
  x.b->solve->matrix_describe(x.m, &rx);
  y.b->solve->matrix_describe(y.m, &ry);
  assert_int_equal(rx.boundary_rows, ry.boundary_rows);
  assert_int_equal(rx.interior_rows, ry.interior_rows);
  assert_int_equal(rx.long_rows, ry.long_rows);
  products(p, &x, &y, parts, runs);
  relaxations(p, &x, &y, parts, runs);
  sweeps(p, &x, &y, parts, runs);
  repeats(p, &x, &y);
  conjugate_gradients(p, &x, &y, parts, runs);
  vectors(p, &x, &y);
  many_vectors(p, &x, &y);
  relax_sets(p, &a, &x, &y, parts, runs);
  csr_block_release(&a);
  teardown(&x);
  teardown(&y);
  assert_int_equal(alloc_live(), before);
}

static void with_all_threads(const shape *p) {
  for (int t = 0; t < thread_count_count; t++) {
    /* the small total makes blocks of 1, the others larger ones up to 256 */
    all_operations(p, thread_counts[t], p->rows, t % 2);
    all_operations(p, thread_counts[t], p->rows + 5000, 1 - t % 2);
    all_operations(p, thread_counts[t], INT64_C(1) << 33, t % 2);
  }
}

static void random_matrices_of_awkward_sizes(void **state) {
  (void)state;
  static const lidx sizes[] = {1, 7, 8, 9, 31, 32, 33, 255, 256, 257, 1000};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    const shape p = {.what = "random", .rows = sizes[i], .ghosts = sizes[i] % 4 * 5};
    with_all_threads(&p);
  }
}

static void stencils_of_awkward_sizes(void **state) {
  (void)state;
  static const lidx sizes[] = {1, 8, 33, 255, 256, 300, 1000, 1031};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    for (int kind = 1; kind < 3; kind++) {
      const shape p = {
          .what = "band", .rows = sizes[i], .ghosts = sizes[i] % 3 * 10, .stencil = kind};
      with_all_threads(&p);
    }
  }
}

static void no_rows(void **state) {
  (void)state;
  const shape p = {.what = "no rows"};
  with_all_threads(&p);
}

/* NaN and infinite entries reach exactly the rows that refer to them, never through padding. */
static void not_finite_entries(void **state) {
  (void)state;
  const shape p = {.what = "NaN",
                   .rows = 1300,
                   .ghosts = 9,
                   .spoilt = 1,
                   .long_row = {0, 299, 300, 1299},
                   .long_size = {65, 100, 70, 8193}};
  const shape band = {
      .what = "NaN in a band", .rows = 2000, .ghosts = 9, .stencil = 1, .spoilt = 1};
  with_all_threads(&p);
  with_all_threads(&band);
}

static void long_rows(void **state) {
  (void)state;
  const shape p = {.what = "long rows",
                   .rows = 1300,
                   .ghosts = 9,
                   .long_row = {0, 299, 300, 1299},
                   .long_size = {65, 100000, 8193, 100}};
  const shape all_long = {.what = "dense rows",
                          .rows = 3,
                          .ghosts = 2,
                          .long_row = {0, 1, 2, -1},
                          .long_size = {8192, 12289, 64, 0}};
  with_all_threads(&p);
  with_all_threads(&all_long);
}

static void large_vectors(void **state) {
  (void)state;
  const shape p = {.what = "large", .rows = 65536 + 77, .ghosts = 300};
  const shape band = {.what = "large band", .rows = 70000, .ghosts = 30, .stencil = 1};
  all_operations(&p, 2, p.rows, 1);
  all_operations(&p, 3, INT64_C(1) << 33, 0);
  all_operations(&band, 3, band.rows, 1);
}

static void the_largest_entry(void **state) {
  (void)state;
  const backend *const backends[] = {&BACKEND_ref, subject};
  for (int i = 0; i < 2; i++) {
    const backend *b = backends[i];
    double x[1000] = {0.0}, largest;
    const device_request request = {.threads = 2};
    device *d;
    vec v = {.rows = 1000};
    assert_ok(b->open(&request, &d));
    assert_ok(b->alloc(d, sizeof x, "vector", &v.data));
    x[3] = 5e-324;
    x[700] = -0.0;
    const double put[] = {0.0, -2.0, 1e300, -INFINITY, NAN, -NAN};
    const double expected[] = {5e-324, 2.0, 1e300, INFINITY, NAN, NAN};
    for (int k = 0; k < 6; k++) {
      x[999] = put[k];
      assert_ok(b->copy_in(d, v.data, (hptr){x}, sizeof x));
      assert_ok(b->max_abs(d, v, &largest));
      if (isnan(expected[k])) {
        assert_true(isnan(largest));
      } else {
        assert_same_bits(largest, expected[k]);
      }
    }
    b->release(d, &v.data);
    b->close(&d);
  }
}

/* The n-th allocation fails: no leak, no crash, the status comes up. */
static void failing_allocations(void **state) {
  (void)state;
  const shape p = {
      .what = "no memory", .rows = 600, .long_row = {5, 6, -1, -1}, .long_size = {100, 9000, 0, 0}};
  const backend *const backends[] = {&BACKEND_ref, subject};
  csr_block a;
  build(&p, &a);
  for (int i = 0; i < 2; i++) {
    const backend *b = backends[i];
    const device_request request = {.threads = 2};
    const int64_t before = alloc_live();
    int failures = 0;
    for (int n = 1; n < 50; n++) {
      device *d = NULL;
      matrix *m = NULL;
      alloc_fail_at(n);
      status rc = b->open(&request, &d);
      if (rc == STATUS_OK) rc = b->solve->matrix_create(d, &a, &m);
      alloc_fail_at(0);
      failures += rc == STATUS_UNAVAILABLE;
      fail_clear();
      if (rc == STATUS_OK) b->solve->matrix_release(d, &m);
      b->close(&d);
      assert_int_equal(alloc_live(), before);
    }
    assert_in_range(failures, 5, 40);
  }
  csr_block_release(&a);
}

#endif
