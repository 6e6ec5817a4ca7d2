/* The preconditioner of `solve`: chosen, checked against method and matrix, made. */
#include <stdio.h>
#include <string.h>

#include "solve_job.h"

const char *solve_preconditioner_name(const solve_job *j) {
  return j->preconditioner == NULL ? "none" : j->preconditioner->name;
}

/* Jacobi where nothing was said, if the diagonal allows. cg insists: a diagonal entry that is not
 * positive means that it does not apply at all. */
void solve_choose_preconditioner(solve_job *j) {
  const char *asked = options_text(j->run->o, "solve.preconditioner");
  const matrix_survey *s = &j->survey;
  j->preconditioner = NULL;
  if (!(j->method->flags & SOLVER_TAKES_PRECONDITIONER)) return;
  if (asked != NULL) {
    j->preconditioner = preconditioner_find(asked);
    return;
  }
  const int definite = j->method->flags & SOLVER_NEEDS_SYMMETRY;
  const int64_t zero = s->missing_diagonal + s->zero_diagonal;
  if ((j->method->flags & SOLVER_NEEDS_DEFINITE) ||
      (zero == 0 && !(definite && s->negative_diagonal > 0))) {
    j->preconditioner = preconditioner_find("jacobi");
    return;
  }
  const size_t used = strlen(j->why);
  snprintf(j->why + used, sizeof j->why - used, "; no preconditioner: %lld diagonal entries are %s",
           (long long)(zero > 0 ? zero : s->negative_diagonal),
           zero > 0 ? "zero or missing" : "negative");
}

status solve_check_diagonal(const solve_job *j, const char *kind, const char *name) {
  const matrix_survey *s = &j->survey;
  if (s->missing_diagonal + s->zero_diagonal == 0) return STATUS_OK;
  const int missing =
      s->first_zero < 0 || (s->first_missing >= 0 && s->first_missing < s->first_zero);
  return fail(STATUS_INPUT,
              "row %lld has %s diagonal entry (rows that have none or zero: %lld); %s%s "
              "divides by it%s",
              (long long)(missing ? s->first_missing : s->first_zero) + 1,
              missing ? "no" : "a zero", (long long)(s->missing_diagonal + s->zero_diagonal), kind,
              name, j->preconditioner != NULL ? "; try --preconditioner none" : "");
}

/* "jacobi, ssor": the preconditioners that have a flag. */
static void list_with(unsigned flag, char *text, size_t room) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; preconditioner_at(i) != NULL; i++) {
    if (!(preconditioner_at(i)->flags & flag) || used >= room) continue;
    used += (size_t)snprintf(text + used, room - used, "%s%s", used == 0 ? "" : ", ",
                             preconditioner_at(i)->name);
  }
}

status solve_check_preconditioner(const solve_job *j) {
  const preconditioner *p = j->preconditioner;
  const matrix_survey *s = &j->survey;
  char text[WHY_MAX];
  if (p == NULL) return STATUS_OK;
  const int symmetric = j->method->flags & SOLVER_NEEDS_SYMMETRY;
  if (symmetric && !(p->flags & PRECONDITIONER_KEEPS_SYMMETRY)) {
    list_with(PRECONDITIONER_KEEPS_SYMMETRY, text, sizeof text);
    return fail(STATUS_USAGE,
                "method %s needs a symmetric positive definite preconditioner; %s is not: expected "
                "none, %s",
                j->method->name, p->name, text);
  }
  if ((p->flags & PRECONDITIONER_NEEDS_SYMMETRY) && !s->symmetric) {
    choice_describe_asymmetry(s, text, sizeof text);
    return fail(STATUS_INPUT, "preconditioner %s needs a symmetric matrix; this one is %s", p->name,
                text);
  }
  if (p->flags & PRECONDITIONER_DIVIDES_BY_DIAGONAL) {
    status rc = solve_check_diagonal(j, "preconditioner ", p->name);
    if (rc != STATUS_OK) return rc;
  }
  if (symmetric && !(j->method->flags & SOLVER_NEEDS_DEFINITE) && s->negative_diagonal > 0) {
    return fail(STATUS_INPUT,
                "method %s needs a positive definite preconditioner; %s is not here: %lld diagonal "
                "entries are negative, the first in row %lld; try --preconditioner none",
                j->method->name, p->name, (long long)s->negative_diagonal,
                (long long)s->first_negative + 1);
  }
  return STATUS_OK;
}

void solve_request(solve_job *j) {
  const options *o = j->run->o;
  j->rows = (preconditioner_request){.a = &j->block,
                                     .owned = &j->owned,
                                     .diagonal = j->diagonal,
                                     .symmetric = j->survey.symmetric,
                                     .threads = j->run->threads,
                                     .omega = options_real(o, "solve.omega"), /* 0: auto */
                                     .block_size = options_integer(o, "solve.block_size"),
                                     .degree = (int)options_integer(o, "solve.degree"),
                                     .seed = (uint64_t)options_integer(o, "run.seed")};
}

status solve_make_preconditioner(solve_job *j) {
  status rc = STATUS_OK;
  TRY(preconditioning_open(&j->system, j->preconditioner, &j->rows, &j->made));
  j->solve.preconditioning = &j->made;
  j->solve.inverse_diagonal = preconditioning_diagonal(&j->made);
done:
  return rc;
}
