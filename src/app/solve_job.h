/* What `halosweep solve` holds from its options to its report, and the steps it is made of. */
#ifndef SOLVE_JOB_H
#define SOLVE_JOB_H

#include "backend_choice.h"
#include "checkpointing.h"
#include "choice.h"
#include "commands.h"
#include "history.h"
#include "matrix_io.h"
#include "options.h"
#include "preconditioner.h"
#include "problems.h"
#include "progress.h"
#include "report.h"
#include "run_outcome.h"
#include "solver.h"
#include "survey.h"
#include "timers.h"

enum { WHY_MAX = CHOICE_TEXT, ADVICE_MAX = 384 };

/* Constants as the null space of A. */
typedef struct nullspace {
  int constant;        /* they are, and b is split; all else is of that case */
  int incompatible;    /* the mean of b alone is above the tolerance */
  int nothing_left;    /* b is its mean */
  vec given;           /* b as given */
  double mean, norm_b; /* of it */
  double share;        /* |mean| sqrt(n) / |b|, the least relative residual there is */
  double solved_share; /* |b - mean| / |b| */
} nullspace;

typedef struct solve_job {
  run_context *run;
  timers timers;

  /* the system as read or made */
  csr_rows a;      /* given up for the block, */
  csr_block block; /* and that when backend and preconditioner have their own forms */
  ownership owned;
  matrix_file facts; /* of a file; rows and entries also of a problem */
  double *file_rhs;  /* the right-hand side a matrix file brought, or NULL */
  double *diagonal;  /* [rows] */
  double *x0;        /* [rows] of a file, or NULL: zero */
  int exponent;      /* A and b are those of the input times 2^-exponent */
  matrix_survey survey;

  /* on the backend */
  matrix_format format;  /* asked for */
  int64_t device_memory; /* bytes of a GPU that may be used; 0: all */
  linear_system system;
  backend_choice chosen; /* owns the device that system.place points to */
  matrix_facts storage;
  solve_run solve;
  preconditioner_request rows; /* what preconditioner and method are made from */
  preconditioning made;
  history *history;
  checkpointing *saving;
  uint64_t content_rhs, content_x0; /* of what files brought; 0: none */
  progress progress;

  /* what was decided */
  const solver *method;
  spectrum spectrum;           /* as measured last; SPECTRUM_UNKNOWN: not at all */
  method_choice choice;        /* of method = auto; method NULL: it was named */
  const solver *switched_from; /* it broke down, `method` is the next choice; NULL: none did */
  int64_t switched_at;         /* its last iteration */
  solve_reason switched_reason;
  int left_mixed;        /* float was not enough: on in double from there */
  int64_t left_mixed_at; /* its last iteration */
  nullspace nullspace;
  int scaled; /* by `scale`, s_i: the system is S A S, S b (solve_equilibrate.c) */
  vec scale;
  double omega; /* of methods that take one */
  char why[WHY_MAX];
  char advice[ADVICE_MAX];              /* measured after a failure; "": none */
  const preconditioner *preconditioner; /* NULL: none */
  const char *rhs;                      /* "ones", "A*ones", "random", a file name */
  int solution_is_ones;                 /* the exact solution is known: ones */
  int trivial;                          /* b = 0: x = 0 at once */

  /* results */
  double *x; /* [rows], host */
  uint64_t fingerprint;
  double error_max;                                    /* max|x_i - 1| where solution_is_ones */
  int64_t entries, bytes, sweep_bytes, streamed_bytes; /* over all ranks */
  int64_t host_peak;                                   /* largest over ranks */
  phase_summary phases;
} solve_job;

/* solve_input.c. All collective; all ranks leave with the same status. */
status solve_read_matrix(solve_job *j);
status solve_read_rhs(solve_job *j, double **b, double **x0);

/* solve_scale.c. b: this rank's part of a given right-hand side, scaled along, or NULL. */
status solve_scale_system(solve_job *j, double *b);

/* solve_spectrum.c */
status solve_measure(solve_job *j, int steps); /* j->spectrum */
status solve_auto_omega(solve_job *j, double *omega);
status solve_explain_divergence(solve_job *j);

/* solve_nullspace.c. find: b is there, the method is not; finish: the run has ended. */
status solve_find_nullspace(solve_job *j);
void solve_limit_nullspace(solve_job *j); /* local, alike on all ranks */
status solve_finish_nullspace(solve_job *j);

/* solve_equilibrate.c. The block is there, the backend's matrix is not. */
status solve_equilibrate(solve_job *j);
void solve_equilibrate_vectors(solve_job *j, int given_b); /* both local */
void solve_unscale_solution(solve_job *j);

/* solve_auto.c */
status solve_choose_method(solve_job *j);
/* After a breakdown in mixed precision: makes the rest in double ready; *again: as below. */
status solve_leave_mixed(solve_job *j, int *again);
/* After a breakdown of what auto chose: makes the next choice ready; *again: it is to be run. */
status solve_switch_method(solve_job *j, int *again);

/* solve_plan.c */
status solve_check_method(solve_job *j);
matrix_format solve_format_asked(const options *o); /* local */
status solve_open_backend(solve_job *j);
status solve_load_system(solve_job *j, const double *b, const double *x0);
status solve_load_method(solve_job *j);
void solve_release_method(solve_job *j); /* the opposite of solve_load_method. Local. */
void solve_print_plan(const solve_job *j);
void solve_close(solve_job *j);

/* solve_precondition.c. The first three are local, alike on all ranks; make is collective. */
const char *solve_preconditioner_name(const solve_job *j);
void solve_choose_preconditioner(solve_job *j); /* adds to j->why where it is not as usual */
status solve_check_preconditioner(const solve_job *j);
status solve_make_preconditioner(solve_job *j);
void solve_request(solve_job *j); /* fills j->rows; local */
/* What "row k has a zero diagonal entry" has to say, for `name` that divides by it. Local. */
status solve_check_diagonal(const solve_job *j, const char *kind, const char *name);

/* solve_saving.c */
status solve_open_saving(solve_job *j);
status solve_note_content(solve_job *j, const double *b, const double *x0);
status solve_identify(solve_job *j); /* also gives the run a history that checkpoints can carry */
/* Where the run stands as others that can be stopped do; the texts live in `text`. Local. */
enum { ENDING_TEXT = 200 };
run_ending solve_ending(const solve_job *j, char text[ENDING_TEXT]);

/* solve_output.c */
status solve_collect(solve_job *j);
status solve_write(solve_job *j);
status solve_outcome(const solve_job *j);

#endif
