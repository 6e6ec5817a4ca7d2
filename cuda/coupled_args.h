/* What the kernels of coupled systems (coupled_*.cuh) are given: by value, so that a launch is all
 * there is, and layout and parameters come from constant memory. */
#ifndef CUDA_COUPLED_ARGS_H
#define CUDA_COUPLED_ARGS_H

#include "coupled.h"

enum {
  COUPLED_THREADS = 256, /* of a thread block */
  COUPLED_VALUES = 64,   /* parameters and constants at most */
  COUPLED_ROW = 32       /* points of a thread block that makes sums */
};

/* A system at a state. Pointers are the device's, that of the layout too. */
typedef struct coupled_state {
  coupled_layout layout;
  double t;
  const double *y;   /* ghosts behind the owned */
  const double *sum; /* [count][sums] */
  double value[COUPLED_VALUES];
} coupled_state;

/* Points whose places are found by counting on: all they see lies in the owned run, a fixed way
 * off. They come in groups of COUPLED_AT_ONCE, a thread a group. On a line a group's points are
 * COUPLED_THREADS apart, and `groups` counts thread blocks; on a grid they are those of as many
 * lines with the same i, and `groups` counts groups of whole lines. All other points are far. */
typedef struct coupled_near {
  gidx start;       /* the first point; on a grid: line */
  gidx left, right; /* grid: i in [left, right) */
  int64_t groups;
  double inverse; /* 1/n */
} coupled_near;

typedef struct coupled_rhs_args {
  coupled_state s;
  coupled_near near;
  int64_t blocks;  /* thread blocks for near points; those that follow are for */
  const lidx *far; /* [far_count] local numbers of points */
  int64_t far_count;
  double *out;
} coupled_rhs_args;

typedef struct coupled_sums_args {
  coupled_state s;
  lidx begin, end; /* owned points */
  double *sum;     /* [count][sums] */
} coupled_sums_args;

typedef struct coupled_jacobian_args {
  coupled_state s;
  double scale;
  lidx begin, end;       /* owned points */
  const int64_t *offset; /* [(end - begin) fields] where rows begin in a matrix, */
  int64_t before;        /* of which so many entries come before `entry` */
  double *entry;
} coupled_jacobian_args;

#endif
