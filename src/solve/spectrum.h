/* What few products say about the spectrum of D^-1 A: how fast Jacobi would converge, and whether
 * that is known. Functions are collective unless they say local. */
#ifndef SPECTRUM_H
#define SPECTRUM_H

#include "lanczos.h"
#include "survey.h"

typedef enum spectrum_how {
  SPECTRUM_UNKNOWN, /* not square, empty, or a diagonal entry is missing or zero */
  SPECTRUM_LANCZOS, /* symmetric, positive diagonal: real eigenvalues, rho_low is certain */
  SPECTRUM_ARNOLDI  /* else: rho_low and rho_high are estimates, capped by row sums */
} spectrum_how;

enum { SPECTRUM_STEPS_MAX = 32 }; /* of Arnoldi, which keeps a vector a step */

/* rho: the spectral radius of I - D^-1 A, by whose powers Jacobi's error falls. */
typedef struct spectrum {
  spectrum_how how;
  int steps;
  lanczos_interval ends; /* of D^-1 A; SPECTRUM_LANCZOS only */
  double rho;            /* the estimate: of Lanczos the lower end, of Arnoldi the middle */
  double rho_low, rho_high;
  int resolved; /* the interval of 1 - rho is no wider than a tenth of its larger end */
} spectrum;

/* inverse_diagonal: 1 / a_ii on the backend (read unless `facts` rules it out). `steps` products,
 * of Arnoldi at most SPECTRUM_STEPS_MAX. */
status spectrum_measure(linear_system *s, const matrix_survey *facts, vec inverse_diagonal,
                        int steps, spectrum *out);

/* Whether Lanczos applies: symmetric, and every diagonal entry is positive. Local. */
int spectrum_is_real(const matrix_survey *facts);

/* "lambda_min <= 0.0123 (+- 0.004), ..."; what is not known is said to be that. Local. */
enum { SPECTRUM_TEXT = 256 };
void spectrum_describe(const spectrum *p, char text[SPECTRUM_TEXT]);

/* The spectral radius of a small matrix, h[row * stride + column], count <= SPECTRUM_STEPS_MAX;
 * *last: how much of the dominant eigenvectors' norm is in their last component. Local. */
double spectrum_small_radius(int count, const double *h, int stride, double *last);

#endif
