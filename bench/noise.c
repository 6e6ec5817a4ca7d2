/* Nanoseconds per number of the noise of `ode`, 64 lanes that stay in cache: Philox alone, normals,
 * increments of a path in order and from the counter alone. Usage: noise [repetitions]. The best of
 * the repetitions counts; one thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "brownian.h"

enum { LANES = 64, STEPS = 1000, COMPONENTS = 2, STACK = 16 * COMPONENTS * LANES };

static uint64_t trajectory[LANES];
static double x[LANES], y[LANES], stack[STACK];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Each makes STEPS times COMPONENTS numbers a lane and adds some of them. */
static double uniforms(const brownian *b) {
  double sum = 0.0;
  for (uint64_t k = 0; k < STEPS; k++) {
    for (int l = 0; l < LANES; l++) {
      const philox_words w = philox_at(b->seed, trajectory[l], 0, k, 0);
      x[l] = philox_uniform(w, 0);
      y[l] = philox_uniform(w, 1);
    }
    sum += x[k % LANES] + y[k % LANES];
  }
  return sum;
}

static double normals(const brownian *b) {
  double sum = 0.0;
  for (uint64_t k = 0; k < STEPS; k++) {
    for (int l = 0; l < LANES; l++)
      gaussian_pair(philox_at(b->seed, trajectory[l], 0, k, 0), &x[l], &y[l]);
    sum += x[k % LANES] + y[k % LANES];
  }
  return sum;
}

static double walk(const brownian *b) {
  double sum = 0.0;
  for (uint64_t k = 0; k < STEPS; k++) {
    if (k == 0) {
      brownian_begin(b, LANES, trajectory, 0, stack);
    } else {
      brownian_advance(b, LANES, trajectory, k - 1, stack);
    }
    sum += brownian_step(b, LANES, stack)[k % LANES];
  }
  return sum;
}

static double counter(const brownian *b) {
  double sum = 0.0, dw[COMPONENTS];
  for (uint64_t k = 0; k < STEPS; k++) {
    for (int l = 0; l < LANES; l++) {
      brownian_increments(b, trajectory[l], k, dw);
      sum += dw[0];
    }
  }
  return sum;
}

static void measure(const char *name, double (*run)(const brownian *), int components,
                    uint64_t steps, int repetitions) {
  const brownian b = brownian_make(1, steps, 0.001, components, 0);
  double best = 1e300, sum = 0.0;
  for (int r = 0; r < repetitions; r++) {
    const double start = now();
    sum += run(&b);
    const double each = (now() - start) * 1e9 / ((double)components * STEPS * LANES);
    if (each < best) best = each;
  }
  printf("%-52s %8.2f   (%g)\n", name, best, sum);
}

int main(int argc, char **argv) {
  const int repetitions = argc > 1 ? atoi(argv[1]) : 50;
  for (int l = 0; l < LANES; l++) trajectory[l] = 1000 + (uint64_t)l;
  printf("%-52s %8s\n", "64 lanes", "ns per number");
  measure("uniforms", uniforms, 2, STEPS, repetitions);
  measure("normals", normals, 2, STEPS, repetitions);
  measure("increments in order, 1 component, 1001 steps", walk, 1, 1001, repetitions);
  measure("increments in order, 1 component, 1000 steps", walk, 1, 1000, repetitions);
  measure("increments in order, 1 component, 1024 steps", walk, 1, 1024, repetitions);
  measure("increments in order, 2 components, 1001 steps", walk, 2, 1001, repetitions);
  measure("increments in order, 2 components, 1000 steps", walk, 2, 1000, repetitions);
  measure("increments in order, 2 components, 1024 steps", walk, 2, 1024, repetitions);
  measure("increments from the counter, 2 components, 1000 steps", counter, 2, 1000, repetitions);
  return 0;
}
