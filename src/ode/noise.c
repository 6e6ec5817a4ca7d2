/* Whether noise commutes (noise.h): D_j g_k, the derivative of g_k in direction g_j, by central
 * differences with a step of 2^-17 of the state's size, whose relative errors are about 1e-10;
 * D_j g_k and D_k g_j count as different when they differ by more than 1e-6 of their size and 1e-8
 * of the size that derivatives have there. Memory: noises times the values of the noise. */
#include "noise.h"

#include <math.h>
#include <stdio.h>

#include "alloc.h"
#include "philox.h"

enum { PROBES = 16, PLACE_MAX = 400 };

typedef struct prober {
  const formula *noise;
  const ode_plan *plan;
  int n, m, values;
  double *in;     /* inputs: t, y, p */
  double *x;      /* [n]: the probe */
  double *g;      /* [values] there */
  double *behind; /* [values] at another point */
  double *d;      /* [m][values]: derivatives in direction j */
  double **out;   /* [values] */
  formula_input *input;
} prober;

static void evaluate(prober *p, double *values) {
  for (int v = 0; v < p->noise->inputs; v++) p->input[v] = (formula_input){p->in + v, 0};
  for (int k = 0; k < p->values; k++) p->out[k] = values + k;
  p->noise->batch(p->noise->context, 1, p->input, p->out);
}

/* g_cj, and the derivative of g_ck in direction j. */
static double value(const prober *p, int c, int j) {
  if (p->plan->diagonal) return c == j ? p->g[c] : 0.0;
  return p->g[c * p->m + j];
}
static double slope(const prober *p, int j, int c, int k) {
  const double *d = p->d + (int64_t)j * p->values;
  if (p->plan->diagonal) return c == k ? d[c] : 0.0;
  return d[c * p->m + k];
}

/* Goes to probe r. */
static void place(prober *p, const ode_noise_request *is, int r) {
  const ode_plan *plan = p->plan;
  const double u = philox_uniform(philox_at(0, (uint64_t)r, PHILOX_PROBE, 0, 0), 0);
  p->in[0] = fma(u, plan->t_end - plan->t_start, plan->t_start);
  for (int c = 0; c < p->n; c++) {
    const philox_words w = philox_at(0, (uint64_t)r, PHILOX_PROBE, 1 + (uint64_t)c, 0);
    const double shift = r < PROBES / 2 ? 0.5 * philox_uniform(w, 0) : philox_uniform(w, 0) - 0.5;
    p->x[c] = is->y[c] + (is->y[c] != 0.0 ? fabs(is->y[c]) : 1.0) * shift;
    p->in[1 + c] = p->x[c];
  }
}

/* g and all derivatives at the probe; `size`: what is large among the derivatives there. 0: they
 * are not all finite. */
static int differentiate(prober *p, double *size) {
  double look = 0.0, most = 0.0, length = 0.0;
  evaluate(p, p->g);
  for (int k = 0; k < p->values; k++) {
    look = fma(0.0, p->g[k], look);
    most = fmax(most, fabs(p->g[k]));
  }
  for (int c = 0; c < p->n; c++) length = fmax(length, fabs(p->x[c]));
  *size = most * most / length;
  for (int j = 0; j < p->m; j++) {
    double *d = p->d + (int64_t)j * p->values;
    double along = 0.0;
    for (int c = 0; c < p->n; c++) along = fmax(along, fabs(value(p, c, j)));
    const double step = along > 0.0 ? 0x1p-17 * length / along : 0.0;
    for (int c = 0; c < p->n; c++) p->in[1 + c] = fma(step, value(p, c, j), p->x[c]);
    evaluate(p, d);
    for (int c = 0; c < p->n; c++) p->in[1 + c] = fma(-step, value(p, c, j), p->x[c]);
    evaluate(p, p->behind);
    for (int k = 0; k < p->values; k++) {
      d[k] = step > 0.0 ? (d[k] - p->behind[k]) / (2.0 * step) : 0.0;
      look = fma(0.0, d[k], look);
    }
  }
  return look == 0.0;
}

/* Where the probe is, for a message. */
static void print_place(const prober *p, const ode_noise_request *is, char text[PLACE_MAX]) {
  int length = snprintf(text, PLACE_MAX, "%s = %.6g", is->names[0], p->in[0]);
  for (int c = 0; c < p->n && length < PLACE_MAX - 100; c++) {
    length += snprintf(text + length, (size_t)(PLACE_MAX - length), ", %.60s = %.6g",
                       is->names[1 + c], p->x[c]);
  }
}

/* STATUS_USAGE if two noises do not commute at the probe. */
static status compare(const prober *p, const ode_noise_request *is, double size) {
  char at[PLACE_MAX];
  for (int j = 0; j < p->m; j++) {
    for (int k = 0; k < j; k++) {
      for (int c = 0; c < p->n; c++) {
        const double a = slope(p, j, c, k), b = slope(p, k, c, j);
        if (fabs(a - b) <= fma(1e-6, fabs(a) + fabs(b), 1e-8 * size)) continue;
        print_place(p, is, at);
        return fail(
            STATUS_USAGE,
            "%s: found noise that does not commute; expected D_j g_k = D_k g_j of every two "
            "noises: in d%.60s, D_%d g_%d is %.6g and D_%d g_%d is %.6g at %s. "
            "euler-maruyama takes any noise",
            is->where, is->names[1 + c], j + 1, k + 1, a, k + 1, j + 1, b, at);
      }
    }
  }
  return STATUS_OK;
}

/* Whether the expressions alone show that it commutes. */
static int is_plain(const function *noise, const ode_plan *plan) {
  if (plan->noises == 1) return 1;
  if (!plan->diagonal) return 0;
  for (int i = 0; i < plan->components; i++) {
    for (int j = 0; j < plan->components; j++) {
      if (i != j && function_uses(noise, i, 1 + j)) return 0;
    }
  }
  return 1;
}

status ode_noise_commutes(const function *noise, const ode_noise_request *is,
                          const ode_plan *plan) {
  status rc = STATUS_OK;
  int seen = 0;
  double size;
  if (is_plain(noise, plan)) return STATUS_OK;
  prober p = {.noise = function_formula(noise), .plan = plan};
  p.n = plan->components;
  p.m = plan->noises;
  p.values = p.noise->outputs;
  const int64_t own = p.noise->inputs + p.n + (int64_t)(2 + p.m) * p.values;
  TRY(alloc_zeroed(&p.in, own, sizeof *p.in, "noise"));
  TRY(alloc_zeroed(&p.out, p.values, sizeof *p.out, "noise"));
  TRY(alloc_zeroed(&p.input, p.noise->inputs, sizeof *p.input, "noise"));
  p.x = p.in + p.noise->inputs;
  p.g = p.x + p.n;
  p.behind = p.g + p.values;
  p.d = p.behind + p.values;
  for (int j = 0; j < plan->shared + plan->parameters; j++) p.in[1 + p.n + j] = is->p[j];
  for (int r = 0; r < PROBES; r++) {
    place(&p, is, r);
    if (!differentiate(&p, &size)) continue;
    seen = 1;
    TRY(compare(&p, is, size));
  }
  if (!seen) {
    rc = fail(STATUS_USAGE,
              "%s: found noise that is not finite anywhere near the initial state; expected noise "
              "whose derivatives can be compared. euler-maruyama takes any noise",
              is->where);
  }
done:
  alloc_free(&p.in);
  alloc_free(&p.out);
  alloc_free(&p.input);
  return rc;
}

status ode_noise_create(comm *c, compiler *with, const function *noise, const ode_noise_request *is,
                        ode_plan *plan, function **jacobian) {
  status rc = STATUS_OK;
  const int outputs = function_formula(noise)->outputs;
  *jacobian = NULL;
  plan->additive = 1;
  for (int k = 0; k < outputs; k++) {
    for (int i = 0; i < plan->components; i++) {
      if (function_uses(noise, k, 1 + i)) plan->additive = 0;
    }
  }
  plan->has_noise_jacobian = 0;
  if (plan->additive || plan->variant != ODE_MILSTEIN) return STATUS_OK;
  TRY(comm_agree(c, ode_noise_commutes(noise, is, plan)));
  if (plan->diagonal) {
    TRY(function_jacobian_diagonal(c, with, noise, 1, jacobian));
  } else {
    TRY(function_jacobian(c, with, noise, 1, plan->components, jacobian));
  }
  plan->has_noise_jacobian = *jacobian != NULL;
done:
  return rc;
}
