/* The rules behind `auto`.
 *
 * symmetric, positive diagonal, nothing negative seen by Lanczos  cg, else minres
 * symmetric, otherwise                                            minres
 * nonsymmetric, no zero on the diagonal, rho at most FAST         jacobi, else bicgstab
 * nonsymmetric, no zero on the diagonal                           bicgstab, else gmres
 * nonsymmetric, otherwise                                         gmres, no preconditioner
 *
 * rho is the spectral radius of Jacobi's iteration. A sweep of Jacobi costs half an iteration of
 * bicgstab and cannot break down: with rho at most FAST it needs 52 sweeps for 1e-8. Above SLOW it
 * needs 1800 and more, and is not insisted on. Sources: Barrett et al., Templates (1994), fig. D.1;
 * Saad (2003), ch. 6-7. */
#include "choice.h"

#include <stdio.h>
#include <string.h>

static const double FAST = 0.7, SLOW = 0.99;

void choice_describe_asymmetry(const matrix_survey *s, char *text, size_t room) {
  if (s->odd_row < 0) {
    snprintf(text, room, "not symmetric");
    return;
  }
  snprintf(text, room, "not symmetric: a(%lld,%lld) = %.17g but a(%lld,%lld) = %.17g",
           (long long)s->odd_row + 1, (long long)s->odd_column + 1, s->odd_value,
           (long long)s->odd_column + 1, (long long)s->odd_row + 1, s->odd_mirror);
}

static void describe_diagonal(const matrix_survey *s, char *text, size_t room) {
  const int64_t none = s->missing_diagonal + s->zero_diagonal;
  if (none + s->negative_diagonal == 0) {
    snprintf(text, room, "positive diagonal");
  } else if (none > 0) {
    snprintf(text, room, "%lld diagonal entries zero or missing", (long long)none);
  } else {
    snprintf(text, room, "%lld of %lld diagonal entries negative", (long long)s->negative_diagonal,
             (long long)s->rows);
  }
}

static void describe_dominance(const matrix_survey *s, char *text, size_t room) {
  if (s->strictly_dominant == s->rows) {
    snprintf(text, room, "every row strictly dominant");
  } else if (s->weakly_dominant == s->rows) {
    snprintf(text, room, "every row dominant, %lld strictly", (long long)s->strictly_dominant);
  } else {
    snprintf(text, room, "%lld of %lld rows dominant", (long long)s->weakly_dominant,
             (long long)s->rows);
  }
}

static const char *verdict_on_jacobi(const spectrum *p) {
  if (p->how == SPECTRUM_UNKNOWN) return "Jacobi does not apply";
  if (p->how == SPECTRUM_LANCZOS && p->rho_low > 1.0) return "Jacobi diverges";
  if (p->rho > 1.0) return "Jacobi would diverge";
  if (p->rho > SLOW || (!p->resolved && p->rho_high > SLOW)) return "Jacobi would be slow";
  return "Jacobi converges";
}

static void choose(const matrix_survey *s, const spectrum *p, method_choice *out) {
  const int whole = s->missing_diagonal + s->zero_diagonal == 0;
  out->preconditioner = whole ? "jacobi" : "none";
  if (s->symmetric) {
    const int positive = whole && s->negative_diagonal == 0;
    const int definite = positive && !(p->how == SPECTRUM_LANCZOS && p->ends.indefinite);
    out->method = definite ? "cg" : "minres";
    out->next = definite ? "minres" : NULL;
    if (!positive) out->preconditioner = "none"; /* D is not positive definite */
  } else if (whole && p->how != SPECTRUM_UNKNOWN && p->rho_high <= FAST) {
    out->method = "jacobi";
    out->next = "bicgstab";
    out->preconditioner = "none";
  } else {
    out->method = whole ? "bicgstab" : "gmres";
    out->next = whole ? "gmres" : NULL;
  }
}

void choice_make(const matrix_survey *s, const spectrum *p, method_choice *out) {
  char symmetry[192], diagonal[96], dominance[96], looked[SPECTRUM_TEXT];
  *out = (method_choice){.method = "none", .preconditioner = "none"};
  const char *none = s->rows != s->columns ? "the matrix is not square"
                     : s->rows == 0        ? "the matrix is empty"
                     : s->empty_rows > 0   ? "it has empty rows: singular"
                                           : NULL;
  if (none != NULL) {
    snprintf(out->why, sizeof out->why, "%s", none);
    return;
  }
  choose(s, p, out);
  if (s->symmetric) {
    snprintf(symmetry, sizeof symmetry, "symmetric (a_ij = a_ji exactly)");
  } else {
    choice_describe_asymmetry(s, symmetry, sizeof symmetry);
  }
  describe_diagonal(s, diagonal, sizeof diagonal);
  describe_dominance(s, dominance, sizeof dominance);
  spectrum_describe(p, looked);
  const char *indefinite =
      p->how == SPECTRUM_LANCZOS && p->ends.indefinite ? "; indefinite for certain" : "";
  if (p->how == SPECTRUM_UNKNOWN) {
    snprintf(out->why, sizeof out->why, "%s; %s; %s", symmetry, diagonal, dominance);
  } else {
    snprintf(out->why, sizeof out->why, "%s; %s; %s; %s%s; %s", symmetry, diagonal, dominance,
             looked, indefinite, verdict_on_jacobi(p));
  }
}
