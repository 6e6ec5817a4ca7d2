/* Chebyshev preconditioner: z = p(D^-1 A) D^-1 r with the polynomial p of degree `degree` - 1 that
 * makes 1 - t p(t) smallest on [low, high], by its three-term recurrence. Symmetric positive
 * definite where A is, since 1 - t p(t) < 1 for 0 < t < low + high; a fixed operator without inner
 * products, so that no rank waits for another but its neighbours.
 *
 * high is 1.1 times the largest Ritz value of a few Lanczos steps, low the smallest one, but at
 * least high / 30: the rest is left to the outer method.
 *
 * Cost of one application: degree - 1 products; vectors: 24 bytes a row, and 80 for each product.
 * Sources: Saad (2003), 12.3.2, alg. 12.1; Adams, Brezina, Hu, Tuminaro, J. Comput. Phys. 188
 * (2003) 593-610 (1/30 and safety factors: as smoother). */
#include "alloc.h"
#include "chebyshev.h"
#include "preconditioner.h"
#include "team.h"

enum { STEPS = 12 };
static const double NARROWEST = 30.0, SAFETY = 1.1;

status chebyshev_measure(linear_system *s, vec inverse_diagonal, int steps, const char *what,
                         chebyshev_interval *out) {
  status rc = STATUS_OK;
  lanczos_interval e;
  int64_t failed;
  TRY(lanczos_extremes(s, inverse_diagonal, steps, &e));
  failed = s->failure != STATUS_OK;
  TRY(comm_max_i64(s->world, &failed, 1));
  *out = (chebyshev_interval){1.0, 2.0};
  if (failed) goto done; /* nothing is known: the driver finds out why */
  if (e.indefinite || !(e.low > 0.0)) {
    rc = e.steps == 0 ? fail(STATUS_INPUT,
                             "%s needs a positive definite matrix; this one has a diagonal "
                             "entry that is not positive",
                             what)
                      : fail(STATUS_INPUT,
                             "%s needs a positive definite matrix; this one is not: D^-1 A has "
                             "an eigenvalue at or below %.6g",
                             what, e.low);
    goto done;
  }
  *out = (chebyshev_interval){e.low, SAFETY * e.high};
done:
  return rc;
}

void chebyshev_next(const chebyshev_interval *i, chebyshev_step *step) {
  const double middle = 0.5 * (i->low + i->high), half = 0.5 * (i->high - i->low);
  const double before = step->ratio;
  if (before == 0.0) { /* the first step: d = D^-1 r / middle */
    *step = (chebyshev_step){half / middle, 0.0, 1.0 / middle};
    return;
  }
  step->ratio = 1.0 / (2.0 * (middle / half) - before);
  step->before = step->ratio * before;
  step->factor = 2.0 * step->ratio / half;
}

typedef struct polynomial {
  vec inverse, d;
  chebyshev_interval interval;
  int degree;
} polynomial;

typedef struct inverse_work {
  double *inverse;
  const double *diagonal;
} inverse_work;

static void inverse_part(void *context, int number, int64_t begin, int64_t end) {
  const inverse_work *w = context;
  (void)number;
  for (int64_t i = begin; i < end; i++) w->inverse[i] = 1.0 / w->diagonal[i];
}

static status polynomial_open(linear_system *s, const preconditioner_request *q, void **out) {
  status rc = STATUS_OK;
  double *inverse = NULL;
  polynomial *p = NULL;
  ATTEMPT(s, alloc_zeroed(&p, 1, sizeof *p, "preconditioner chebyshev"));
  *out = p;
  ATTEMPT(s, alloc_array(&inverse, s->rows, sizeof *inverse, "inverse diagonal"));
  TRY(comm_agree(s->world, s->failure));
  inverse_work w = {inverse, q->diagonal};
  team_for(q->threads, s->rows, inverse_part, &w);
  p->degree = q->degree;
  ATTEMPT(s, linear_vector(s, "inverse diagonal", &p->inverse));
  ATTEMPT(s, linear_vector(s, "Chebyshev direction", &p->d));
  ATTEMPT(s, linear_load(s, p->inverse, inverse));
  TRY(comm_agree(s->world, s->failure));
  TRY(chebyshev_measure(s, p->inverse, STEPS, "preconditioner chebyshev", &p->interval));
  if (p->interval.low < p->interval.high / NARROWEST) {
    p->interval.low = p->interval.high / NARROWEST;
  }
done:
  alloc_free(&inverse);
  return rc;
}

typedef struct relaxing {
  linear_system *s;
  vec x, w, b, d;
  double factor;
} relaxing;

/* d += factor w (b - A x) */
static status relax_part(void *context, part p) {
  const relaxing *r = context;
  return r->s->kernels->solve->relax(r->s->place, r->s->a, p, r->x, r->factor, r->w, r->b, r->d,
                                     r->d);
}

static status polynomial_apply(linear_system *s, void *data, vec r, vec z) {
  status rc = STATUS_OK;
  polynomial *p = data;
  const vec none = {.rows = 0};
  chebyshev_step step = {.ratio = 0.0};
  chebyshev_next(&p->interval, &step);
  ATTEMPT(s, s->kernels->multiply(s->place, p->inverse, r, z));
  ATTEMPT(s, s->kernels->combine(s->place, step.factor, z, 0.0, none, z));
  if (p->degree > 1) ATTEMPT(s, s->kernels->copy(s->place, p->d, z));
  for (int k = 1; k < p->degree; k++) {
    chebyshev_next(&p->interval, &step);
    ATTEMPT(s, s->kernels->combine(s->place, step.before, p->d, 0.0, none, p->d));
    relaxing work = {s, z, p->inverse, r, p->d, step.factor};
    TRY(linear_apply(s, z, relax_part, &work));
    ATTEMPT(s, s->kernels->combine(s->place, 1.0, z, 1.0, p->d, z));
  }
done:
  return rc;
}

static void polynomial_close(linear_system *s, void **data) {
  polynomial *p = *data;
  linear_vector_release(s, &p->inverse);
  linear_vector_release(s, &p->d);
  alloc_free(data);
}

const preconditioner PRECONDITIONER_chebyshev = {
    .name = "chebyshev",
    .help = "a polynomial in D^-1 A, bounds by Lanczos; degree - 1 products",
    .source = "Saad (2003), alg. 12.1; Adams et al. (2003)",
    .flags = PRECONDITIONER_DIVIDES_BY_DIAGONAL | PRECONDITIONER_NEEDS_SYMMETRY |
             PRECONDITIONER_KEEPS_SYMMETRY,
    .open = polynomial_open,
    .apply = polynomial_apply,
    .close = polynomial_close,
};
