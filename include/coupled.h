/* Large coupled systems of ordinary differential equations: one state of up to 1e9 components,
 * spread over ranks in runs of points.
 *
 * Points lie on a line, or on a grid of n x m of them (number i + n j, i fastest); each carries
 * `fields` values, component field + fields point of the state. The derivative of a point's values
 * is a function (formula.h) of time, of i and j, of the values at a few points near by (reaches)
 * and of parameters; with `sums`, also of sums over all points of functions of that point's values
 * and of one's own (coupling = all). What a reach sees beyond the ends is said by `edge`.
 *
 * A rank owns points [first, first + count), and has copies of the others that its reaches see:
 * whole points, ascending, at the end of its vectors (space.h). So a line of the grid may begin on
 * one rank and end on the next, and one and two dimensions are alike. The runs of points that a run
 * of points sees through a reach are found piece by piece (coupled_piece_of). */
#ifndef COUPLED_H
#define COUPLED_H

#include "index.h"
#include "portable.h"

enum {
  COUPLED_FIELDS = 8,
  COUPLED_REACHES = 64,
  COUPLED_SUMS = 8,
  COUPLED_COLUMNS = COUPLED_REACHES + 1
};

typedef enum coupled_edge {
  COUPLED_PERIODIC,
  COUPLED_ZERO, /* beyond the ends all values are 0 */
  COUPLED_COPY  /* beyond the ends they are those of the nearest point */
} coupled_edge;

/* The value of `field` at the point (i + dx, j + dy). */
typedef struct coupled_reach {
  int32_t field, dx, dy;
} coupled_reach;

typedef struct coupled_layout {
  gidx n, m;      /* points in a line, lines */
  int32_t fields; /* values of a point */
  int32_t edge;   /* coupled_edge */
  int32_t sums;   /* over all points; 0: none */
  int32_t reaches;
  coupled_reach reach[COUPLED_REACHES];
  uint64_t used[COUPLED_FIELDS]; /* bit k: a field's derivative depends on reach k */
  gidx first;                    /* owned points */
  lidx count;                    /* how many */
  lidx ghosts;                   /* points of others */
  gidx *ghost;                   /* [ghosts] their numbers, ascending */
} coupled_layout;

/* Inputs of the derivative's formula, in this order: these, the reaches, the parameters, the sums.
 * Of a sum's formula: these (i, j of the own point, `other` the number of the other one), the own
 * values, the other's values, the parameters. */
enum { COUPLED_T, COUPLED_I, COUPLED_J, COUPLED_N, COUPLED_M, COUPLED_OTHER, COUPLED_COMMON };

/* Points [from, from + count) that a run of as many points sees; step 0: all see point `from`;
 * from negative: they see nothing, zeros. */
typedef struct coupled_piece {
  gidx from, count;
  int32_t step;
} coupled_piece;

/* The first piece of what points i .. i + count - 1 of line j see through a reach. */
PORTABLE coupled_piece coupled_piece_of(const coupled_layout *l, coupled_reach r, gidx i, gidx j,
                                        gidx count) {
  gidx x = i + r.dx, y = j + r.dy;
  coupled_piece p = {0, count, 1};
  if (l->edge == COUPLED_PERIODIC) { /* divisions are slow, and seldom needed */
    if (x < 0 || x >= l->n) x = (x % l->n + l->n) % l->n;
    if (y < 0 || y >= l->m) y = (y % l->m + l->m) % l->m;
  } else if (y < 0 || y >= l->m) {
    if (l->edge == COUPLED_ZERO) {
      p.from = -1;
      p.step = 0; /* nothing lies side by side there */
      return p;
    }
    y = y < 0 ? 0 : l->m - 1;
  }
  if (x < 0 || x >= l->n) { /* not periodic */
    if (x < 0 && -x < count) p.count = -x;
    p.from = l->edge == COUPLED_ZERO ? -1 : y * l->n + (x < 0 ? 0 : l->n - 1);
    p.step = 0;
    return p;
  }
  if (l->n - x < count) p.count = l->n - x;
  p.from = y * l->n + x;
  return p;
}

/* Where point number `point`, owned or a ghost, is in a vector: its first value. */
PORTABLE int64_t coupled_place(const coupled_layout *l, gidx point) {
  int64_t low = 0, high = l->ghosts;
  if (point >= l->first && point - l->first < l->count) return (point - l->first) * l->fields;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (l->ghost[middle] < point) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return (l->count + low) * l->fields;
}

/* How many of the points [from, from + count) lie side by side in a vector, from the first on. */
PORTABLE gidx coupled_together(const coupled_layout *l, gidx from, gidx count) {
  const gidx end = l->first + l->count;
  gidx most = count;
  if (from < l->first && l->first - from < most) most = l->first - from;
  if (from >= l->first && from < end && end - from < most) most = end - from;
  return most;
}

/* The components that the derivative of a point's field depends on, itself always among them:
 * column[], room for COUPLED_COLUMNS, ascending, each once; what[k]: the position of reach k among
 * them (negative: none). Returns how many. */
PORTABLE int coupled_columns(const coupled_layout *l, gidx point, int field, gidx *column,
                             int *what) {
  gidx of[COUPLED_REACHES];
  const gidx i = point % l->n, j = point / l->n;
  int count = 1;
  column[0] = point * l->fields + field;
  for (int k = 0; k < l->reaches; k++) {
    const coupled_piece p = coupled_piece_of(l, l->reach[k], i, j, 1);
    int at = count;
    of[k] =
        p.from < 0 || (l->used[field] >> k & 1) == 0 ? -1 : p.from * l->fields + l->reach[k].field;
    if (of[k] < 0) continue;
    while (at > 0 && column[at - 1] >= of[k]) at--;
    if (at < count && column[at] == of[k]) continue;
    for (int c = count; c > at; c--) column[c] = column[c - 1];
    column[at] = of[k];
    count++;
  }
  for (int k = 0; k < l->reaches; k++) {
    what[k] = -1;
    for (int c = 0; c < count && of[k] >= 0; c++) {
      if (column[c] == of[k]) what[k] = c;
    }
  }
  return count;
}

#endif
