/* The registry of integrands (integrands.h). Adding one is an entry here, and its exact value; the
 * tests loop over the registry.
 *
 * Sources: Genz, Testing multidimensional integration routines, in Tools, Methods and Languages for
 * Scientific and Engineering Computation, North-Holland (1984) 81-94; Kahaner, Comparison of
 * numerical quadrature formulas, in Rice (ed.), Mathematical Software, Academic Press (1971)
 * 229-259; Piessens et al., QUADPACK, Springer (1983), chapter 4. */
#include "integrands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double PI = 3.141592653589793238462643;

/* Of the demo: k and its default, the integral of sin(x) exp(-k x) over [0, pi]. */
static double exact_demo(int dims, const double *p) {
  (void)dims;
  return (1.0 + exp(-p[0] * PI)) / (1.0 + p[0] * p[0]);
}

static double exact_runge(int dims, const double *p) {
  (void)dims;
  return 2.0 * atan(sqrt(p[0])) / sqrt(p[0]);
}

static double exact_peak(int dims, const double *p) {
  (void)dims;
  return atan((4.0 - PI) * pow(4.0, p[0] - 1.0)) + atan(PI * pow(4.0, p[0] - 1.0));
}

static double exact_singular(int dims, const double *p) {
  (void)dims;
  return 1.0 / ((1.0 + p[0]) * (1.0 + p[0]));
}

static double exact_periodic(int dims, const double *p) {
  (void)dims, (void)p;
  return 2.0 / sqrt(3.0);
}

static double exact_debye(int dims, const double *p) {
  (void)dims, (void)p;
  return 0.777504634112248276417586545426; /* log(1 - 1/e) - Li2(1/e) + pi^2/6 */
}

static double exact_bump(int dims, const double *p) {
  (void)dims, (void)p;
  return 1.58223296372967293311746894903;
}

static double exact_wiggly(int dims, const double *p) {
  (void)dims, (void)p;
  return 0.838676342694429614542554699586; /* no closed form; 50-digit quadrature */
}

/* Re exp(2 pi i u1) prod (exp(i a) - 1)/(i a) = cos(2 pi u1 + sum a/2) prod sin(a/2)/(a/2) */
static double exact_oscillatory(int dims, const double *p) {
  double angle = 2.0 * PI * p[dims], product = 1.0;
  for (int d = 0; d < dims; d++) {
    const double half = p[d] / 2.0;
    angle += half;
    if (half != 0.0) product *= sin(half) / half;
  }
  return cos(angle) * product;
}

static double exact_product_peak(int dims, const double *p) {
  double product = 1.0;
  for (int d = 0; d < dims; d++) {
    const double a = p[d], u = p[dims + d];
    product *= a * (atan(a * (1.0 - u)) + atan(a * u));
  }
  return product;
}

/* 1/(d! prod a) sum over the corners v of (-1)^|v| / (1 + a.v), in long double: it cancels. */
static double exact_corner_peak(int dims, const double *p) {
  long double sum = 0.0L, below = 1.0L;
  for (unsigned corner = 0; corner < 1U << dims; corner++) {
    long double reach = 1.0L;
    int odd = 0;
    for (int d = 0; d < dims; d++) {
      if ((corner >> d & 1U) == 0) continue;
      reach += (long double)p[d];
      odd = !odd;
    }
    sum += odd ? -1.0L / reach : 1.0L / reach;
  }
  for (int d = 0; d < dims; d++) below *= (long double)(d + 1) * (long double)p[d];
  return (double)(sum / below);
}

static double exact_gaussian(int dims, const double *p) {
  double product = 1.0;
  for (int d = 0; d < dims; d++) {
    const double a = p[d], u = p[dims + d];
    product *= sqrt(PI) / (2.0 * a) * (erf(a * (1.0 - u)) + erf(a * u));
  }
  return product;
}

static double exact_continuous(int dims, const double *p) {
  double product = 1.0;
  for (int d = 0; d < dims; d++) {
    const double a = p[d], u = p[dims + d];
    product *= (2.0 - exp(-a * u) - exp(-a * (1.0 - u))) / a;
  }
  return product;
}

static double exact_discontinuous(int dims, const double *p) {
  double product = 1.0;
  for (int d = 0; d < dims; d++) {
    product *= expm1(d < 2 ? p[d] * fmin(fmax(p[dims + d], 0.0), 1.0) : p[d]) / p[d];
  }
  return product;
}

/* Parameters of the tests of this program in up to six directions. */
static const double oscillatory_a[] = {2.5, 1.7, 0.9, 3.1, 1.3, 2.2};
static const double product_a[] = {3.0, 5.5, 4.25, 2.75, 6.0, 3.5};
static const double corner_a[] = {0.5, 0.8, 0.3, 0.6, 0.4, 0.7};
static const double gaussian_a[] = {3.2, 2.1, 4.4, 1.6, 2.8, 3.7};
static const double continuous_a[] = {1.5, 3.3, 2.2, 0.9, 4.1, 1.8};
static const double discontinuous_a[] = {1.2, 0.7, 2.0, 0.4, 1.6, 0.9};
static const double places[] = {0.3, 0.65, 0.45, 0.8, 0.2, 0.55};
static const double jumps[] = {0.55, 0.7, 0.0, 0.0, 0.0, 0.0};

static const char GENZ[] = "Genz (1984)";

static const integrand integrands[] = {
    {.name = "demo",
     .help = "sin(x) exp(-k x) over [0, pi]; k = 0.05",
     .source = "elementary",
     .dims_min = 1,
     .dims_max = 1,
     .lower = 0.0,
     .upper = 3.141592653589793238462643,
     .before = "sin(x[0])*exp(-k*x[0])",
     .other = "k",
     .other_default = 0.05,
     .exact = exact_demo},
    {.name = "runge",
     .help = "1/(1 + c x^2) over [-1, 1]; c = 25",
     .source = "elementary",
     .dims_min = 1,
     .dims_max = 1,
     .lower = -1.0,
     .upper = 1.0,
     .before = "1/(1 + c*x[0]^2)",
     .other = "c",
     .other_default = 25.0,
     .exact = exact_runge},
    {.name = "peak",
     .help = "a peak of width 4^-alpha at pi/4, over [0, 1]; alpha = 3",
     .source = "QUADPACK (1983), test integral 2",
     .dims_min = 1,
     .dims_max = 1,
     .upper = 1.0,
     .before = "4^-alpha/((x[0] - pi/4)^2 + 16^-alpha)",
     .other = "alpha",
     .other_default = 3.0,
     .exact = exact_peak},
    {.name = "singular",
     .help = "x^alpha log(1/x) over [0, 1], alpha > -1; alpha = -0.5",
     .source = "QUADPACK (1983), test integral 1",
     .dims_min = 1,
     .dims_max = 1,
     .upper = 1.0,
     .before = "-x[0]^alpha*log(x[0])",
     .other = "alpha",
     .other_default = -0.5,
     .exact = exact_singular},
    {.name = "kahaner5",
     .help = "1/(x^4 + x^2 + 0.9) over [-1, 1]",
     .source = "Kahaner (1971), 5",
     .dims_min = 1,
     .dims_max = 1,
     .lower = -1.0,
     .upper = 1.0,
     .before = "1/(x[0]^4 + x[0]^2 + 0.9)",
     .exact = exact_bump},
    {.name = "kahaner9",
     .help = "2/(2 + sin(10 pi x)) over [0, 1]: periodic",
     .source = "Kahaner (1971), 9",
     .dims_min = 1,
     .dims_max = 1,
     .upper = 1.0,
     .before = "2/(2 + sin(10*pi*x[0]))",
     .exact = exact_periodic},
    {.name = "kahaner12",
     .help = "x/(exp(x) - 1) over [0, 1]: 0/0 at 0, taken as 1",
     .source = "Kahaner (1971), 12",
     .dims_min = 1,
     .dims_max = 1,
     .upper = 1.0,
     .before = "x[0] == 0 ? 1 : x[0]/(exp(x[0]) - 1)",
     .exact = exact_debye},
    {.name = "kahaner18",
     .help = "cos(cos x + 3 sin x + 2 cos 2x + 3 sin 2x + 3 cos 3x) over [0, pi]",
     .source = "Kahaner (1971), 18",
     .dims_min = 1,
     .dims_max = 1,
     .upper = 3.141592653589793238462643,
     .before = "cos(cos(x[0]) + 3*sin(x[0]) + 2*cos(2*x[0]) + 3*sin(2*x[0]) + 3*cos(3*x[0]))",
     .exact = exact_wiggly},
    {.name = "genz-oscillatory",
     .help = "cos(2 pi u1 + sum a_i x_i) over the unit cube",
     .source = GENZ,
     .dims_min = 2,
     .dims_max = 10,
     .upper = 1.0,
     .before = "cos(2*pi*u1 + ",
     .term = "a#*x[@]",
     .join = " + ",
     .after = ")",
     .a = oscillatory_a,
     .u = places,
     .u_count = 1,
     .exact = exact_oscillatory},
    {.name = "genz-product-peak",
     .help = "product of 1/(a_i^-2 + (x_i - u_i)^2) over the unit cube",
     .source = GENZ,
     .dims_min = 2,
     .dims_max = 10,
     .upper = 1.0,
     .before = "",
     .term = "1/(a#^-2 + (x[@] - u#)^2)",
     .join = "*",
     .after = "",
     .a = product_a,
     .u = places,
     .exact = exact_product_peak},
    {.name = "genz-corner-peak",
     .help = "(1 + sum a_i x_i)^-(d + 1) over the unit cube",
     .source = GENZ,
     .dims_min = 2,
     .dims_max = 10,
     .upper = 1.0,
     .before = "(1 + ",
     .term = "a#*x[@]",
     .join = " + ",
     .after = ")^-&",
     .a = corner_a,
     .exact = exact_corner_peak},
    {.name = "genz-gaussian",
     .help = "exp(-sum a_i^2 (x_i - u_i)^2) over the unit cube",
     .source = GENZ,
     .dims_min = 2,
     .dims_max = 10,
     .upper = 1.0,
     .before = "exp(-(",
     .term = "a#^2*(x[@] - u#)^2",
     .join = " + ",
     .after = "))",
     .a = gaussian_a,
     .u = places,
     .exact = exact_gaussian},
    {.name = "genz-continuous",
     .help = "exp(-sum a_i |x_i - u_i|) over the unit cube: kinks",
     .source = GENZ,
     .dims_min = 2,
     .dims_max = 10,
     .upper = 1.0,
     .before = "exp(-(",
     .term = "a#*abs(x[@] - u#)",
     .join = " + ",
     .after = "))",
     .a = continuous_a,
     .u = places,
     .exact = exact_continuous},
    {.name = "genz-discontinuous",
     .help = "exp(sum a_i x_i), 0 where x_1 > u1 or x_2 > u2, over the unit cube: jumps",
     .source = GENZ,
     .dims_min = 2,
     .dims_max = 10,
     .upper = 1.0,
     .before = "x[0] > u1 || x[1] > u2 ? 0 : exp(",
     .term = "a#*x[@]",
     .join = " + ",
     .after = ")",
     .a = discontinuous_a,
     .u = jumps,
     .u_count = 2,
     .exact = exact_discontinuous},
};

enum { INTEGRANDS = sizeof integrands / sizeof *integrands, DEFAULTS = 6 };

const integrand *integrand_at(int index) {
  return index >= 0 && index < INTEGRANDS ? &integrands[index] : NULL;
}

const integrand *integrand_find(const char *name) {
  for (int i = 0; i < INTEGRANDS; i++) {
    if (strcmp(integrands[i].name, name) == 0) return &integrands[i];
  }
  return NULL;
}

const char *integrand_names(void) {
#define INTEGRAND(name) "|" name
  static const char names[] =
#include "integrands.def"
      ;
#undef INTEGRAND
  return names + 1;
}

/* Appends a pattern with @, # and & replaced. */
static size_t append(char *out, size_t at, const char *pattern, int d, int dims) {
  for (; *pattern != '\0'; pattern++) {
    const size_t room = INTEGRAND_TEXT - at;
    int length;
    if (*pattern == '@') {
      length = snprintf(out + at, room, "%d", d);
    } else if (*pattern == '#') {
      length = snprintf(out + at, room, "%d", d + 1);
    } else if (*pattern == '&') {
      length = snprintf(out + at, room, "%d", dims + 1);
    } else {
      length = snprintf(out + at, room, "%c", *pattern);
    }
    at += (size_t)length;
  }
  return at;
}

void integrand_text(const integrand *f, int dims, char out[INTEGRAND_TEXT]) {
  size_t at = append(out, 0, f->before, 0, dims);
  if (f->term == NULL) return;
  for (int d = 0; d < dims; d++) {
    if (d > 0) at = append(out, at, f->join, d, dims);
    at = append(out, at, f->term, d, dims);
  }
  append(out, at, f->after, 0, dims);
}

static int u_count(const integrand *f, int dims) {
  return f->u == NULL ? 0 : f->u_count > 0 ? f->u_count : dims;
}

int integrand_parameters(const integrand *f, int dims) {
  return (f->a != NULL ? dims : 0) + u_count(f, dims) + (f->other != NULL ? 1 : 0);
}

void integrand_parameter(const integrand *f, int dims, int k, char name[16], double *value) {
  const int a_count = f->a != NULL ? dims : 0;
  if (k < a_count) {
    snprintf(name, 16, "a%d", k + 1);
    *value = f->a[k % DEFAULTS];
  } else if (k - a_count < u_count(f, dims)) {
    snprintf(name, 16, "u%d", k - a_count + 1);
    *value = f->u[(k - a_count) % DEFAULTS];
  } else {
    snprintf(name, 16, "%s", f->other);
    *value = f->other_default;
  }
}
