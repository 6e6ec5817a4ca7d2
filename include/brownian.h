/* Brownian paths as a function of (seed, trajectory), on dyadic levels: halving dt refines the same
 * path. Written once for CPUs (lanes are trajectories) and GPUs (one lane a thread).
 *
 * A path of N = m 2^L steps (m odd) has m parts at level 0; level l has those of level l - 1
 * halved. With h = dt 2^L, exact, the increment over part j of level 0 is sqrt(h) Z(0, j); part i
 * of level l - 1, of length h' = h 2^(1-l) and increment D, has the halves
 *   left = sqrt(h')/2 Z(l, i) + D/2, in one fma, and right = D - left (the Brownian bridge).
 * Steps are the parts of level L. Since h, so every level's scale, is the same for dt/2 with 2 N
 * steps, the increments of all levels have the same bits whatever levels lie below; the increments
 * of steps add up to them to rounding, and W at common times agrees to rounding.
 *
 * Z(l, i) of noise component c is a normal of the position (trajectory, level l, step i, pair c/2):
 * the first for even c, the second for odd c. The last of an odd number of components has no
 * partner: it takes step index i/2, the first normal for even i and the second for odd i, so that
 * none is wasted. Level bytes are 0 to 48, below the streams of philox.h.
 *
 * Two ways to the increments, equal bit for bit: from the counter alone (brownian_increments, L + 1
 * normals a component), and in order (brownian_begin at any step, then brownian_advance): each part
 * is then made once, one normal a step and component on average, none for right halves. The state
 * of a walk is a stack: the parts of every level that hold the step, (L + 1) 2 ceil(components / 2)
 * doubles a lane.
 *
 * Antithetic paths: trajectories 2 k and 2 k + 1 take the path of k, the odd one with all signs
 * turned, exactly.
 *
 * Source: Levy's construction (1948) by midpoints; Kloeden, Platen, Numerical Solution of
 * Stochastic Differential Equations (1992), section 1.8. */
#ifndef BROWNIAN_H
#define BROWNIAN_H

#include "gaussian.h"
#include "philox.h"
#include "portable.h"

enum { BROWNIAN_LEVELS = 48 /* L is at most that: step indices have 48 bits */ };

/* What the paths of an ensemble share. */
typedef struct brownian {
  uint64_t seed;
  double root[2]; /* sqrt(h), sqrt(h/2) */
  int32_t levels; /* L; level 0 comes on top of them */
  int32_t components;
  int32_t antithetic; /* 0 or 1 */
  int32_t unused;
} brownian;

/* Whose path a trajectory takes. */
typedef struct brownian_source {
  uint64_t trajectory;
  uint32_t opposite; /* 1: with all signs turned */
} brownian_source;

/* 2^n, |n| below 1000. */
PORTABLE double brownian_power(int n) { return double_of((uint64_t)(1023 + n) << 52); }

/* Paths of `steps` (1 to 2^48) steps of dt > 0. */
PORTABLE brownian brownian_make(uint64_t seed, uint64_t steps, double dt, int components,
                                int antithetic) {
  brownian b;
  int levels = 0;
  while (levels < BROWNIAN_LEVELS && (steps >> levels & 1) == 0) levels++;
  b.seed = seed;
  b.levels = levels;
  b.components = components;
  b.antithetic = antithetic != 0;
  b.unused = 0;
  const double h = dt * brownian_power(levels);
  b.root[0] = sqrt(h);
  b.root[1] = sqrt(0.5 * h);
  return b;
}

PORTABLE brownian_source brownian_source_of(const brownian *b, uint64_t trajectory) {
  brownian_source s;
  s.trajectory = trajectory >> b->antithetic;
  s.opposite = (uint32_t)trajectory & (uint32_t)b->antithetic;
  return s;
}

/* What a normal of a level is multiplied by: sqrt(h), then sqrt(h 2^(1-l))/2. */
PORTABLE double brownian_scale(const brownian *b, int level) {
  const double root = level > 0 && level % 2 == 0 ? b->root[1] : b->root[0];
  return root * brownian_power(-((level + 1) / 2));
}

/* Whether a pair is the last of an odd number of components. */
PORTABLE int brownian_alone(const brownian *b, int pair) { return 2 * pair + 1 == b->components; }

/* Doubles of a level in a walk's stack, per lane: two a pair (the second of one that is alone is
 * the next normal). */
PORTABLE int brownian_slots(const brownian *b) { return (b->components + 1) / 2 * 2; }

/* Doubles of a walk's stack, per lane. */
PORTABLE int brownian_stack(const brownian *b) { return (b->levels + 1) * brownian_slots(b); }

/* The two normals of a position for a trajectory. */
PORTABLE void brownian_normals(const brownian *b, uint64_t trajectory, int level, uint64_t step,
                               int pair, double *first, double *second) {
  const brownian_source s = brownian_source_of(b, trajectory);
  const philox_words w = philox_at(b->seed, s.trajectory, (uint32_t)level, step, (uint32_t)pair);
  gaussian_pair(gaussian_opposite(w, s.opposite), first, second);
}

/* dw[components]: the increments of step `step`, from the counter alone. */
PORTABLE void brownian_increments(const brownian *b, uint64_t trajectory, uint64_t step,
                                  double *dw) {
  for (int pair = 0; 2 * pair < b->components; pair++) {
    const int alone = brownian_alone(b, pair);
    double first = 0.0, second = 0.0;
    for (int level = 0; level <= b->levels; level++) {
      const uint64_t piece =
          step >> (b->levels - level); /* of this level, and what it is made of */
      const uint64_t index = level > 0 ? piece >> 1 : piece;
      const double scale = brownian_scale(b, level);
      double x, y;
      brownian_normals(b, trajectory, level, alone ? index >> 1 : index, pair, &x, &y);
      if (alone && (index & 1) != 0) x = y;
      const double left = fma(scale, x, 0.5 * first), left_second = fma(scale, y, 0.5 * second);
      const int is_right = level > 0 && (piece & 1) != 0;
      first = is_right ? first - left : left;
      second = is_right ? second - left_second : left_second;
    }
    dw[2 * pair] = first;
    if (!alone) dw[2 * pair + 1] = second;
  }
}

/* A level of a walk, laid out [slot][lane]: left halves made of part `index` of the level above
 * (level 0: part `index` itself). `fresh`: the normal that `index` may need was not kept. */
PORTABLE void brownian_left(const brownian *b, int lanes, const uint64_t *trajectory, int level,
                            uint64_t index, int fresh, double *own) {
  const double *above = level > 0 ? own - brownian_slots(b) * lanes : own;
  const double scale = brownian_scale(b, level);
  const int count = b->components * lanes, odd = (int)(index & 1);
  for (int i = 0; i < count; i++) own[i] = level > 0 ? 0.5 * above[i] : 0.0;
  for (int pair = 0; 2 * pair < b->components; pair++) {
    double *first = own + 2 * pair * lanes, *second = first + lanes;
    if (!brownian_alone(b, pair)) {
      for (int l = 0; l < lanes; l++) {
        double x, y;
        brownian_normals(b, trajectory[l], level, index, pair, &x, &y);
        first[l] = fma(scale, x, first[l]);
        second[l] = fma(scale, y, second[l]);
      }
    } else if (fresh || !odd) {
      for (int l = 0; l < lanes; l++) {
        double x, y;
        brownian_normals(b, trajectory[l], level, index >> 1, pair, &x, &y);
        first[l] = fma(scale, odd ? y : x, first[l]);
        second[l] = y;
      }
    } else {
      for (int l = 0; l < lanes; l++) first[l] = fma(scale, second[l], first[l]);
    }
  }
}

/* The same level: right halves instead of left ones. */
PORTABLE void brownian_right(const brownian *b, int lanes, double *own) {
  const double *above = own - brownian_slots(b) * lanes;
  const int count = b->components * lanes;
  for (int i = 0; i < count; i++) own[i] = above[i] - own[i];
}

/* Begins a walk of lanes (trajectory[lanes]) at `step`. The stack is [level][slot][lane]. */
PORTABLE void brownian_begin(const brownian *b, int lanes, const uint64_t *trajectory,
                             uint64_t step, double *stack) {
  const int size = brownian_slots(b) * lanes;
  for (int level = 0; level <= b->levels; level++) {
    const uint64_t piece = step >> (b->levels - level);
    double *own = stack + level * size;
    brownian_left(b, lanes, trajectory, level, level > 0 ? piece >> 1 : piece, 1, own);
    if (level > 0 && (piece & 1) != 0) brownian_right(b, lanes, own);
  }
}

/* Goes from `step` to step + 1, which must be below the number of steps. */
PORTABLE void brownian_advance(const brownian *b, int lanes, const uint64_t *trajectory,
                               uint64_t step, double *stack) {
  const uint64_t next = step + 1;
  const int size = brownian_slots(b) * lanes;
  int level = b->levels; /* the highest whose part is another: a right half, or level 0 */
  while (level > 0 && (next >> (b->levels - level) & 1) == 0) level--;
  if (level > 0) {
    brownian_right(b, lanes, stack + level * size);
  } else {
    brownian_left(b, lanes, trajectory, 0, next >> b->levels, 0, stack);
  }
  for (level++; level <= b->levels; level++) {
    brownian_left(b, lanes, trajectory, level, next >> (b->levels - level + 1), 0,
                  stack + level * size);
  }
}

/* The increments of the step a walk is at: component c of lane l is at [c lanes + l]. */
PORTABLE const double *brownian_step(const brownian *b, int lanes, const double *stack) {
  return stack + b->levels * brownian_slots(b) * lanes;
}

#endif
