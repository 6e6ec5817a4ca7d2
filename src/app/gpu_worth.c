#include "gpu_worth.h"

/* Rows, and points of explicit schemes: on 16 cores beside an H200 omp wins below, the GPU above.
 * A scheme that solves linear systems has more to do at a point: a step of backward-euler at 512^2
 * takes 2.3 ms instead of 11.7, so 60 steps pay for the start of 0.6 s. Evaluations and steps:
 * about a second's work of 16 cores; starting a GPU with a kernel to compile takes as long. */
static const int64_t ROWS_FROM = 1000000, POINTS_FROM = 1000000, IMPLICIT_FROM = 250000,
                     EVALUATIONS_FROM = 4000000000, STEPS_FROM = 10000000000;

static int64_t whole(double count) {
  return count < 1e18 ? (int64_t)count : INT64_C(1000000000000000000);
}

problem_size gpu_worth_rows(int64_t rows) {
  return (problem_size){.count = rows, .unit = "rows", .gpu_from = ROWS_FROM};
}

problem_size gpu_worth_points(int64_t points, int implicit) {
  return (problem_size){
      .count = points, .unit = "points", .gpu_from = implicit ? IMPLICIT_FROM : POINTS_FROM};
}

problem_size gpu_worth_evaluations(double count) {
  return (problem_size){.count = whole(count), .unit = "evaluations", .gpu_from = EVALUATIONS_FROM};
}

problem_size gpu_worth_steps(double count) {
  return (problem_size){.count = whole(count), .unit = "steps", .gpu_from = STEPS_FROM};
}
