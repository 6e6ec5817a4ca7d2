/* The collected integrals (../shared/references/quadrature.tsv), as expressions. */
#ifndef QUAD_TABLE_H
#define QUAD_TABLE_H

#include <stdlib.h>

#include "quad_fixture.h"

typedef struct quad_row {
  char id[32], class[48], f[1024], parameters[256];
  double exact;
  quad_case c;
} quad_row;

/* The number after `key` ("a=[", "u=[", "u1=") and its followers: how many. */
static inline int table_numbers(const char *parameters, const char *key, double *out) {
  const char *at = strstr(parameters, key);
  int count = 0;
  if (at == NULL) return 0;
  for (at += strlen(key); count < QUAD_DIMS;) {
    char *end;
    const double x = strtod(at, &end);
    if (end == at) break;
    out[count++] = x;
    at = end;
  }
  return count;
}

/* Writes a piece for each direction, `between` between them; X, A, U stand for x[d], a[d], u[d]. */
static inline void table_join(char *to, size_t room, const char *piece, int dims,
                              const char *between, const double *a, const double *u) {
  for (int d = 0; d < dims; d++) {
    if (d > 0) strncat(to, between, room - strlen(to) - 1);
    for (const char *p = piece; *p != '\0'; p++) {
      char one[40] = {*p, '\0'};
      if (*p == 'X') memcpy(one, (const char[]){'x', '[', (char)('0' + d), ']'}, 4);
      if (*p == 'A' || *p == 'U') snprintf(one, sizeof one, "%.17g", *p == 'A' ? a[d] : u[d]);
      strncat(to, one, room - strlen(to) - 1);
    }
  }
}

/* The six families of Genz, from their parameters. */
static inline void table_genz(quad_row *r, const char *parameters) {
  double a[QUAD_DIMS], u[QUAD_DIMS], u1[QUAD_DIMS];
  const int n = r->c.dims;
  const size_t room = sizeof r->f;
  assert_int_equal(table_numbers(parameters, "a=[", a), n);
  table_numbers(parameters, "u=[", u);
  table_numbers(parameters, "u1=", u1);
  switch (r->id[3]) {
  case '1':
    snprintf(r->f, room, "cos(2*pi*%.17g+", u1[0]);
    table_join(r->f, room, "A*X", n, "+", a, u);
    strcat(r->f, ")");
    return;
  case '2':
    table_join(r->f, room, "1/(A^(-2)+(X-U)^2)", n, "*", a, u);
    return;
  case '3':
    snprintf(r->f, room, "(1+");
    table_join(r->f, room, "A*X", n, "+", a, u);
    snprintf(r->f + strlen(r->f), 32, ")^(-%d)", n + 1);
    return;
  case '4':
    snprintf(r->f, room, "exp(-(");
    table_join(r->f, room, "A^2*(X-U)^2", n, "+", a, u);
    strcat(r->f, "))");
    return;
  case '5':
    snprintf(r->f, room, "exp(-(");
    table_join(r->f, room, "A*abs(X-U)", n, "+", a, u);
    strcat(r->f, "))");
    return;
  default:
    snprintf(r->f, room, "(x[0]>%.17g || x[1]>%.17g) ? 0 : exp(", u[0], u[1]);
    table_join(r->f, room, "A*X", n, "+", a, u);
    strcat(r->f, ")");
  }
}

static inline double table_limit(const char *text) {
  expression *e = NULL;
  double x;
  if (strncmp(text, "inf", 3) == 0) return INFINITY;
  if (strncmp(text, "-inf", 4) == 0) return -INFINITY;
  char copy[64];
  snprintf(copy, sizeof copy, "%s", text);
  char *each = strstr(copy, " (each)");
  if (each != NULL) *each = '\0';
  assert_ok(expression_parse(copy, NULL, &e));
  assert_true(expression_constant(e, &x));
  expression_release(&e);
  return x;
}

/* Integrands of the table that are written in other words there. */
static inline const char *table_words(const char *id) {
  static const char *const other[][2] = {
      {"m01", "exp(x[0]+x[1]+x[2])"},
      {"m02", "1/(1-x[0]*x[1])"},
      {"m03", "x[0]^2+x[1]^2<=1 ? 1 : 0"},
      {"m05", "x[0]^2+x[1]^2+x[2]^2+x[3]^2<=1 ? 1 : 0"},
      {"m07", "sin(x[0]+x[1])"},
      {"m09", "cos(x[0])*cos(x[1])*cos(x[2])*cos(x[3])*cos(x[4])*cos(x[5])"},
      {"m11", "1/sqrt(x[0]*x[1])"},
      {"m12", "exp(-(x[0]^2+x[1]^2+x[2]^2+x[3]^2+x[4]^2+x[5]^2+x[6]^2+x[7]^2+x[8]^2+x[9]^2))"}};
  for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
    if (strcmp(other[i][0], id) == 0) return other[i][1];
  }
  return NULL;
}

/* Reads the next integral; 0 at the end. */
static inline int table_next(FILE *file, quad_row *r) {
  char line[4096], *field[12];
  while (fgets(line, sizeof line, file) != NULL) {
    if (line[0] == '#' || strncmp(line, "id\t", 3) == 0) continue;
    int count = 0;
    for (char *p = line; p != NULL && count < 12;) {
      field[count++] = p;
      p = strchr(p, '\t');
      if (p != NULL) *p++ = '\0';
    }
    assert_true(count >= 9);
    memset(r, 0, sizeof *r);
    snprintf(r->id, sizeof r->id, "%.31s", field[0]);
    snprintf(r->class, sizeof r->class, "%.47s", field[2]);
    r->c.dims = atoi(field[1]);
    r->c.lower = table_limit(field[4]);
    r->c.upper = table_limit(field[5]);
    r->exact = strtod(field[8], NULL);
    if (r->id[0] == 'g')
      table_genz(r, field[6]);
    else {
      const char *words = table_words(r->id);
      snprintf(r->f, sizeof r->f, "%s", words != NULL ? words : field[3]);
    }
    r->c.f = r->f;
    return 1;
  }
  return 0;
}

#endif
