/* From how much work on `auto` takes a GPU, in one place: for the commands, which choose by it, and
 * for `info`, which says it beforehand. Below, starting a GPU costs more than it can save
 * (docs/performance.md has the measurements). All local. */
#ifndef GPU_WORTH_H
#define GPU_WORTH_H

#include "backend_choice.h"

/* Sizes of problems; 0: not known in advance. Counts that are doubles may pass 64 bits. */
problem_size gpu_worth_rows(int64_t rows);
problem_size gpu_worth_points(int64_t points, int implicit); /* a scheme that solves systems */
problem_size gpu_worth_evaluations(double count);
problem_size gpu_worth_steps(double count);

#endif
