/* Interpolation of smoothed aggregation, and the next coarser matrix (amg.h).
 *
 * T interpolates constants: entry (i, aggregate of i) is 1. One damped Jacobi step on the filtered
 * matrix smooths it: P = (I - omega D^-1 A_F) T, omega = 4 / (3 lambda_max(D^-1 A)). Row i of P is
 * made from row i of A: entries in one aggregate are added in the order of the row. R = P^T, stored
 * with sorted rows, and R (A P) by two products (sparse_product.h), so every coarse entry is one
 * chain in the order of global indices.
 * Source: Vanek, Mandel, Brezina, Computing 56 (1996) 179. */
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "amg.h"
#include "sparse_product.h"
#include "team.h"

typedef struct smoothing {
  const amg_grid *g;
  const amg_strength *s;
  double theta, omega;
  const gidx *aggregate;
  csr_rows *out;
  gidx *key;     /* [threads][longest + 1] a row of P */
  double *value; /* likewise */
  int64_t longest;
} smoothing;

/* The place of `key` in a sorted list of distinct ones, put in where it is new. */
static eidx place_of(gidx *key, double *value, eidx *count, gidx wanted) {
  const eidx at = index_lower_bound(key, 0, *count, wanted);
  if (at < *count && key[at] == wanted) return at;
  memmove(key + at + 1, key + at, (size_t)(*count - at) * sizeof *key);
  memmove(value + at + 1, value + at, (size_t)(*count - at) * sizeof *value);
  key[at] = wanted;
  value[at] = 0.0;
  ++*count;
  return at;
}

/* Row i of A_F T; returns its length. */
static eidx filtered_row(const smoothing *m, lidx i, gidx *key, double *value) {
  const csr_block *a = m->g->a;
  eidx count = 0;
  double own = 0.0;
  for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
    if (!amg_is_strong(m->g, m->theta, i, a->column[e], a->value[e])) own += a->value[e];
  }
  for (eidx e = a->offset[i]; e < a->offset[i + 1]; e++) {
    const lidx j = a->column[e];
    const int strong = amg_is_strong(m->g, m->theta, i, j, a->value[e]);
    if (m->aggregate[j] < 0 || (j != i && !strong)) continue;
    value[place_of(key, value, &count, m->aggregate[j])] += j == i ? own : a->value[e];
  }
  return count;
}

static void measure_part(void *context, int number, int64_t begin, int64_t end) {
  const smoothing *m = context;
  gidx *key = m->key + number * (m->longest + 1);
  double *value = m->value + number * (m->longest + 1);
  for (lidx i = (lidx)begin; i < end; i++) {
    eidx count = 0;
    if (m->aggregate[i] >= 0) {
      place_of(key, value, &count, m->aggregate[i]);
      for (eidx e = m->s->offset[i]; e < m->s->offset[i + 1]; e++) {
        const gidx other = m->aggregate[m->s->column[e]];
        if (other >= 0) place_of(key, value, &count, other);
      }
    }
    m->out->offset[i + 1] = count;
  }
}

static void fill_part(void *context, int number, int64_t begin, int64_t end) {
  const smoothing *m = context;
  gidx *key = m->key + number * (m->longest + 1);
  double *value = m->value + number * (m->longest + 1);
  for (lidx i = (lidx)begin; i < end; i++) {
    const eidx first = m->out->offset[i];
    const double factor = -(m->omega / m->g->diagonal[i]);
    if (m->aggregate[i] < 0) continue;
    eidx count = filtered_row(m, i, key, value);
    place_of(key, value, &count, m->aggregate[i]); /* also where no diagonal entry is stored */
    for (eidx k = 0; k < count; k++) {
      m->out->column[first + k] = key[k];
      m->out->value[first + k] = fma(factor, value[k], key[k] == m->aggregate[i] ? 1.0 : 0.0);
    }
  }
}

status amg_prolongator(amg_grid *g, const amg_strength *s, double theta, double omega,
                       const gidx *aggregate, gidx coarse_rows, csr_rows *out) {
  status rc = STATUS_OK;
  const csr_block *a = g->a;
  smoothing m = {
      .g = g, .s = s, .theta = theta, .omega = omega, .aggregate = aggregate, .out = out};
  memset(out, 0, sizeof *out);
  for (lidx i = 0; i < a->rows; i++) {
    const int64_t length = a->offset[i + 1] - a->offset[i];
    if (length > m.longest) m.longest = length;
  }
  const int64_t room = g->threads * (m.longest + 1);
  rc = alloc_array(&m.key, room, sizeof *m.key, "a row of the prolongator");
  if (rc == STATUS_OK)
    rc = alloc_array(&m.value, room, sizeof *m.value, "a row of the prolongator");
  if (rc == STATUS_OK) {
    rc = alloc_array(&out->offset, (int64_t)a->rows + 1, sizeof *out->offset, "row offsets");
  }
  TRY(comm_agree(g->world, rc));
  team_for(g->threads, a->rows, measure_part, &m);
  out->offset[0] = 0;
  for (lidx i = 0; i < a->rows; i++) out->offset[i + 1] += out->offset[i];
  const eidx entries = out->offset[a->rows];
  rc = alloc_array(&out->column, entries, sizeof *out->column, "prolongator");
  if (rc == STATUS_OK) rc = alloc_array(&out->value, entries, sizeof *out->value, "prolongator");
  TRY(comm_agree(g->world, rc));
  team_for(g->threads, a->rows, fill_part, &m);
  out->global_rows = g->owned->rows;
  out->global_columns = coarse_rows;
  out->first_row = a->first_row;
  out->rows = a->rows;
done:
  alloc_free(&m.key);
  alloc_free(&m.value);
  if (rc != STATUS_OK) csr_rows_release(out);
  return rc;
}

/* ---- one step coarser ---- */

void amg_coarser_release(amg_coarser *c) {
  ownership_release(&c->owned);
  csr_block_release(&c->prolong);
  csr_block_release(&c->restriction);
  csr_block_release(&c->a);
  memset(c, 0, sizeof *c);
}

/* A P's own rows, and those that R meets of other ranks. Takes over *ap. */
static status extended(amg_grid *g, amg_coarser *c, csr_block *ap, csr_block *out) {
  status rc = STATUS_OK;
  csr_rows own;
  memset(&own, 0, sizeof own);
  if (comm_size(g->world) == 1) {
    *out = *ap;
    memset(ap, 0, sizeof *ap);
    goto done;
  }
  TRY(comm_agree(g->world, sparse_globalise(g->threads, ap, ownership_begin(&c->owned), &own)));
  own.global_rows = g->owned->rows;
  own.global_columns = c->owned.rows;
  TRY(sparse_extend(g->world, g->threads, g->owned, &own, c->restriction.ghost,
                    c->restriction.ghosts, &c->owned, out));
done:
  csr_rows_release(&own);
  return rc;
}

/* Only the ghosts there are entries of. */
static status tighten(amg_grid *g, const ownership *owned, csr_block *a) {
  status rc = STATUS_OK;
  csr_rows rows;
  if (comm_size(g->world) == 1) return rc;
  TRY(sparse_globalise(g->threads, a, ownership_begin(owned), &rows));
  rc = csr_localise(g->threads, &rows, a);
  csr_rows_release(&rows);
done:
  return rc;
}

/* R A P, from what is in *out already. */
static status galerkin(amg_grid *g, amg_coarser *out) {
  status rc = STATUS_OK;
  csr_block ap, all;
  const gidx first = ownership_begin(&out->owned);
  memset(&ap, 0, sizeof ap);
  memset(&all, 0, sizeof all);
  TRY(comm_agree(g->world, sparse_product(g->threads, g->a, &out->prolong, first, &ap)));
  TRY(extended(g, out, &ap, &all));
  TRY(comm_agree(g->world, sparse_product(g->threads, &out->restriction, &all, first, &out->a)));
  csr_block_release(&all);
  TRY(comm_agree(g->world, tighten(g, &out->owned, &out->a)));
done:
  csr_block_release(&ap);
  csr_block_release(&all);
  return rc;
}

/* P with the rows of ghosts, and R. */
static status interpolation(amg_grid *g, csr_rows *p, amg_coarser *out) {
  status rc = STATUS_OK;
  csr_rows r;
  memset(&r, 0, sizeof r);
  TRY(sparse_extend(g->world, g->threads, g->owned, p, g->a->ghost, g->a->ghosts, &out->owned,
                    &out->prolong));
  TRY(sparse_transpose(g->world, g->threads, g->owned, &out->prolong, &out->owned, &r));
  TRY(comm_agree(g->world, csr_localise_columns(g->threads, &r, g->a->first_row, g->a->rows,
                                                &out->restriction)));
done:
  csr_rows_release(&r);
  return rc;
}

status amg_coarsen(amg_grid *g, double theta, double lambda, amg_coarser *out) {
  status rc = STATUS_OK;
  amg_strength strong;
  csr_rows p;
  gidx *aggregate = NULL;
  const int64_t all = (int64_t)g->a->rows + g->a->ghosts;
  memset(out, 0, sizeof *out);
  memset(&p, 0, sizeof p);
  memset(&strong, 0, sizeof strong);
  TRY(amg_strength_open(g, theta, &strong));
  TRY(comm_agree(g->world, alloc_array(&aggregate, all, sizeof *aggregate, "aggregates")));
  TRY(amg_aggregate(g, &strong, aggregate, &out->owned));
  if (out->owned.rows == 0 || 10 * out->owned.rows > 9 * g->owned->rows) {
    amg_coarser_release(out);
    goto done;
  }
  TRY(amg_prolongator(g, &strong, theta, 4.0 / (3.0 * lambda), aggregate, out->owned.rows, &p));
  amg_strength_release(&strong);
  alloc_free(&aggregate);
  TRY(interpolation(g, &p, out));
  TRY(galerkin(g, out));
  out->prolong.rows = g->a->rows; /* the backend needs the own ones only */
done:
  amg_strength_release(&strong);
  alloc_free(&aggregate);
  csr_rows_release(&p);
  if (rc != STATUS_OK) amg_coarser_release(out);
  return rc;
}
