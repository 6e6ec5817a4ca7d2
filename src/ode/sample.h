/* [sample]: values drawn for every trajectory, as functions of (seed, trajectory): uniform(lo, hi),
 * normal(mean, sigma), sobol(lo, hi) (one scrambled sequence, a direction a key), or a column of a
 * file, one value a trajectory. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "options.h"
#include "quad_sobol.h"
#include "row_window.h"

enum { SAMPLE_KEYS = 32 };

typedef enum sample_kind { SAMPLE_UNIFORM, SAMPLE_NORMAL, SAMPLE_SOBOL, SAMPLE_COLUMN } sample_kind;

typedef struct sample {
  const char *name; /* owned by the options */
  int kind;
  double a, b;       /* lo and hi, or mean and sigma */
  const char *file;  /* SAMPLE_COLUMN: FILE.h5:/DATASET; owned by the options */
  row_window column; /* its values, a row each; who has read them releases them */
  int stream;        /* number of the key */
  uint64_t table[SOBOL_STRIDE];
} sample;

typedef struct samples {
  int count;
  sample of[SAMPLE_KEYS];
} samples;

/* Reads the section. STATUS_USAGE with the place, what was found and what was expected. Local. */
status samples_read(const options *o, uint64_t seed, samples *out);

/* The value for trajectory i, the `replicate`-th of its sweep. Local. */
double sample_value(const sample *s, uint64_t seed, int64_t i, int64_t replicate);

#endif
