/* What `halosweep solve` holds from its options to its report, and the steps it is made of. */
#ifndef SOLVE_JOB_H
#define SOLVE_JOB_H

#include "backend_choice.h"
#include "checkpointing.h"
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

enum { WHY_MAX = 512 };

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
  int exponent;      /* A and b are those of the input times 2^-exponent */
  matrix_survey survey;

  /* on the backend */
  linear_system system;
  backend_choice chosen; /* owns the device that system.place points to */
  matrix_facts storage;
  solve_run solve;
  preconditioning made;
  history *history;
  checkpointing *saving;
  uint64_t content_rhs, content_x0; /* of what files brought; 0: none */
  progress progress;

  /* what was decided */
  const solver *method;
  char why[WHY_MAX];
  const preconditioner *preconditioner; /* NULL: none */
  const char *rhs;                      /* "ones", "A*ones", "random", a file name */
  int solution_is_ones;                 /* the exact solution is known: ones */
  int trivial;                          /* b = 0: x = 0 at once */

  /* results */
  double *x; /* [rows], host */
  uint64_t fingerprint;
  double error_max;                    /* max|x_i - 1| where solution_is_ones */
  int64_t entries, bytes, sweep_bytes; /* over all ranks */
  int64_t host_peak;                   /* largest over ranks */
  phase_summary phases;
} solve_job;

/* solve_input.c. All collective; all ranks leave with the same status. */
status solve_read_matrix(solve_job *j);
status solve_read_rhs(solve_job *j, double **b, double **x0);

/* solve_scale.c. b: this rank's part of a given right-hand side, scaled along, or NULL. */
status solve_scale_system(solve_job *j, double *b);

/* solve_plan.c */
status solve_choose_method(solve_job *j);
status solve_check_method(const solve_job *j);
status solve_open_backend(solve_job *j);
status solve_load_system(solve_job *j, const double *b, const double *x0);
status solve_load_method(solve_job *j);
void solve_print_plan(const solve_job *j);
void solve_close(solve_job *j);

/* solve_precondition.c. The first three are local, alike on all ranks; make is collective. */
const char *solve_preconditioner_name(const solve_job *j);
void solve_choose_preconditioner(solve_job *j); /* adds to j->why where it is not as usual */
status solve_check_preconditioner(const solve_job *j);
status solve_make_preconditioner(solve_job *j);
/* What "row k has a zero diagonal entry" has to say, for `name` that divides by it. Local. */
status solve_check_diagonal(const solve_job *j, const char *kind, const char *name);
/* "not symmetric: a(1,2) = ...". Local. */
void solve_describe_asymmetry(const matrix_survey *s, char *text, size_t room);

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
