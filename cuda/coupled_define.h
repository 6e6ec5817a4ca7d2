/* What coupled_thread.h is compiled with and given: constants, functions by their names, which
 * points are near. Shared by the driver (coupled.c) and the test that compiles the same text for
 * the host. */
#ifndef CUDA_COUPLED_DEFINE_H
#define CUDA_COUPLED_DEFINE_H

#include <stdio.h>

#include "coupled_args.h"
#include "coupled_backend.h"
#include "rtc_check.h"

enum { COUPLED_DEFINES = 6, COUPLED_TEXTS = 4, COUPLED_LOOK = 100 * COUPLED_REACHES + 100 };

static inline int coupled_is_grid(const coupled_layout *l) { return l->m > 1; }

/* ---- near points ---- */

/* How far reaches go: in i, and in the numbers of points. Outside [left, right) and within `below`
 * or `above` of the ends of the owned run points are far. 0: all are. */
typedef struct coupled_extent {
  gidx left, right, below, above;
} coupled_extent;

static inline int coupled_extent_of(const coupled_layout *l, coupled_extent *e) {
  *e = (coupled_extent){0, l->n, 0, 0};
  for (int k = 0; k < l->reaches; k++) {
    const coupled_reach r = l->reach[k];
    if (r.dy >= l->m || -r.dy >= l->m) return 0;
    const gidx way = r.dx + r.dy * l->n;
    if (-r.dx > e->left) e->left = -r.dx;
    if (l->n - r.dx < e->right) e->right = l->n - r.dx;
    if (-way > e->below) e->below = -way;
    if (way > e->above) e->above = way;
  }
  return e->left < e->right;
}

static inline coupled_near coupled_near_line(const coupled_layout *l, const coupled_extent *e,
                                             int at_once) {
  enum { ALIGNED = 32 }; /* points: warps begin where lines of the cache do */
  const gidx end = l->first + l->count;
  gidx low = l->first + e->below, high = end - e->above;
  if (low < e->left) low = e->left;
  if (high > e->right) high = e->right;
  low = l->first + (low - l->first + ALIGNED - 1) / ALIGNED * ALIGNED;
  return (coupled_near){.start = low,
                        .groups = high > low ? (high - low) / (COUPLED_THREADS * at_once) : 0};
}

static inline coupled_near coupled_near_grid(const coupled_layout *l, const coupled_extent *e,
                                             int at_once) {
  const gidx low = l->first + e->below - e->left;              /* i = left of a line's is above */
  const gidx high = l->first + l->count - e->above - e->right; /* right's is not */
  const gidx from = low > 0 ? (low + l->n - 1) / l->n : 0;     /* lines [from, end) */
  const gidx end = high >= 0 ? high / l->n + 1 : 0;
  return (coupled_near){.start = from,
                        .left = e->left,
                        .right = e->right,
                        .groups = end > from ? (end - from) / at_once : 0,
                        .inverse = 1.0 / (double)l->n};
}

static inline coupled_near coupled_near_of(const coupled_layout *l, int at_once) {
  coupled_extent e;
  const coupled_near none = {.start = l->first};
  if (!coupled_extent_of(l, &e)) return none;
  return coupled_is_grid(l) ? coupled_near_grid(l, &e, at_once) : coupled_near_line(l, &e, at_once);
}

/* Thread blocks for them. */
static inline int64_t coupled_near_blocks(const coupled_layout *l, const coupled_near *near) {
  if (!coupled_is_grid(l)) return near->groups;
  return (near->groups * l->n + COUPLED_THREADS - 1) / COUPLED_THREADS;
}

/* How many points of a thread: many where registers hold what all of them see, and where leaving
 * the last lines of a grid to far points costs little. */
static inline int coupled_at_once(const coupled_layout *l) {
  enum { SEEN = 16, MANY = 4, LINES = 512 };
  if (l->sums > 0 || l->reaches > SEEN) return 1;
  if (!coupled_is_grid(l)) return l->reaches > SEEN / 2 ? MANY / 2 : MANY;
  return coupled_near_of(l, 1).groups >= LINES ? MANY : 1;
}

/* The owned points that are not near: local numbers, into far[] (NULL: none are written). Returns
 * how many. */
static inline int64_t coupled_far_of(const coupled_layout *l, const coupled_near *near, int at_once,
                                     lidx *far) {
  const int is_grid = coupled_is_grid(l);
  const gidx end = l->first + l->count;
  int64_t count = 0;
  for (gidx p = l->first, last; p < end; p = last) { /* a line after the other */
    const gidx j = p / l->n, line = j * l->n;
    gidx from = near->start, to = from + near->groups * at_once * COUPLED_THREADS;
    last = line + l->n < end ? line + l->n : end;
    if (is_grid) {
      const int is_near = j >= near->start && j < near->start + near->groups * at_once;
      from = line + near->left;
      to = is_near ? line + near->right : from;
    }
    for (gidx q = p; q < last; q++) {
      if (q == from && to > from) q = to;
      if (q >= last) break;
      if (far != NULL) far[count] = (lidx)(q - l->first);
      count++;
    }
  }
  return count;
}

/* ---- texts ---- */

/* The reach that sees the other field of a pair (0 and 1, 2 and 3, ...) where reach k looks;
 * negative: none, or no pair lies at a multiple of 16 bytes. */
static inline int coupled_mate(const coupled_layout *l, int k) {
  const coupled_reach a = l->reach[k];
  for (int i = 0; i < l->reaches && l->fields % 2 == 0; i++) {
    const coupled_reach b = l->reach[i];
    if (b.field == (a.field ^ 1) && b.dx == a.dx && b.dy == a.dy) return i;
  }
  return -1;
}

/* Text of coupled_look(): places that are constants but for the length of a line. */
static inline void coupled_look_text(const coupled_layout *l, char text[COUPLED_LOOK]) {
  int at = snprintf(text, COUPLED_LOOK,
                    "PORTABLE void coupled_look(const double *y, int64_t line, int s, double *in) "
                    "{\n");
  for (int k = 0; k < l->reaches; k++) {
    const coupled_reach r = l->reach[k];
    const long long way = (long long)r.dx * l->fields + r.field;
    const int dy = coupled_is_grid(l) ? r.dy : 0; /* on one line: no point is near */
    const int mate = coupled_mate(l, k);
    const size_t room = (size_t)(COUPLED_LOOK - at);
    if (mate < 0) {
      at += snprintf(text + at, room, "  in[%d] = y[(s + %d)*line + %lld];\n", k, dy, way);
    } else if (r.field % 2 == 0) {
      at += snprintf(text + at, room, "  pair_load(y + (s + %d)*line + %lld, &in[%d], &in[%d]);\n",
                     dy, way, k, mate);
    }
  }
  snprintf(text + at, (size_t)(COUPLED_LOOK - at), "}\n");
}

/* The functions by their names. `look` receives coupled_look's, in `text`; both outlive out[]. */
static inline void coupled_texts(const coupled_layout *l, const coupled_functions *f, formula *look,
                                 char text[COUPLED_LOOK], rtc_text out[COUPLED_TEXTS]) {
  coupled_look_text(l, text);
  *look = (formula){.text = text, .kind = "reaches"};
  out[0] = (rtc_text){"coupled_value", f->rhs};
  out[1] = (rtc_text){"coupled_look", look};
  out[2] = (rtc_text){"coupled_jacobian_value", f->jacobian};
  out[3] = (rtc_text){"coupled_sum_value", f->sums};
}

static inline void coupled_defines(const coupled_layout *l, const coupled_functions *f, int at_once,
                                   rtc_check_define out[COUPLED_DEFINES]) {
  const rtc_check_define all[COUPLED_DEFINES] = {
      {"COUPLED_N_FIELDS", l->fields}, {"COUPLED_N_REACHES", l->reaches},
      {"COUPLED_N_VALUES", f->count},  {"COUPLED_N_SUMS", l->sums},
      {"COUPLED_AT_ONCE", at_once},    {"COUPLED_IS_GRID", coupled_is_grid(l)}};
  for (int i = 0; i < COUPLED_DEFINES; i++) out[i] = all[i];
}

/* What all launches are given: device pointers are left to be set. */
static inline void coupled_state_of(const coupled_layout *l, const coupled_functions *f,
                                    coupled_state *s) {
  s->layout = *l;
  s->t = 0.0;
  s->y = s->sum = NULL;
  for (int k = 0; k < COUPLED_VALUES; k++) s->value[k] = k < f->count ? f->parameters[k] : 0.0;
}

#endif
