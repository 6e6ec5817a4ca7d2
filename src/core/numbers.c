/* Numbers (numbers.h): a recursive-descent evaluator over the text, one character ahead.
 *
 *   sum     = product { (+ | -) product }
 *   product = signed { (* | /) signed }
 *   signed  = { + | - } power
 *   power   = atom [ (^ | **) signed ]
 *   atom    = literal | pi | inf | ( sum )
 *
 * Cost: linear in the text; nesting is limited, so a hostile file cannot exhaust the stack.
 * Literals go to strtod (correctly rounded; the program never calls setlocale, so the point is a
 * point) after our own scan, since strtod alone would also take hexadecimal, "nan" and "infinity".
 */
#include "numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NESTING_MAX = 64, LITERAL_MAX = 400, EXPONENT_MAX = 4096 };

static const double PI = 3.141592653589793238;
static const double EXACT_MAX = 9007199254740992.0; /* 2^53: doubles count by ones up to here */

static const char TOO_LARGE[] = "the value overflows";
static const char JUNK[] = "junk after the number";

typedef struct scanner {
  const char *at;
  int depth;
  int infinite;      /* `inf` was written, so an infinite result is meant */
  const char *wrong; /* the first trouble, and where */
  const char *wrong_at;
} scanner;

static int digit(char c) { return c >= '0' && c <= '9'; }
static int letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static int blank(char c) { return c == ' ' || c == '\t'; }

static const char *skip_blanks(const char *p) {
  while (blank(*p)) p++;
  return p;
}

static double trouble(scanner *s, const char *what, const char *at) {
  if (s->wrong == NULL) s->wrong = what, s->wrong_at = at;
  return 0.0;
}

/* The end of the decimal literal at p; p itself when there is none. */
static const char *literal_end(const char *p) {
  const char *begin = p;
  int digits = 0;
  while (digit(*p)) p++, digits++;
  if (*p == '.') p++;
  while (digit(*p)) p++, digits++;
  if (digits == 0) return begin;
  if (*p == 'e' || *p == 'E') {
    const char *e = p + 1;
    if (*e == '+' || *e == '-') e++;
    if (digit(*e)) {
      while (digit(*e)) e++;
      p = e;
    }
  }
  return p;
}

static int all_zero(const char *p, const char *end) {
  for (; p < end && *p != 'e' && *p != 'E'; p++) {
    if (*p >= '1' && *p <= '9') return 0;
  }
  return 1;
}

static double literal(scanner *s) {
  char text[LITERAL_MAX];
  const char *begin = s->at, *end = literal_end(begin);
  size_t length = (size_t)(end - begin);
  if (length >= sizeof text) return trouble(s, "a number with too many digits", begin);
  memcpy(text, begin, length);
  text[length] = '\0';
  double value = strtod(text, NULL);
  if (isinf(value)) return trouble(s, TOO_LARGE, begin);
  if (value == 0.0 && !all_zero(begin, end)) {
    return trouble(s, "the value is too small for a double", begin);
  }
  s->at = end;
  return value;
}

static double sum(scanner *s);

static double named(scanner *s) {
  const char *begin = s->at, *end = begin;
  while (letter(*end) || digit(*end)) end++;
  size_t length = (size_t)(end - begin);
  s->at = end;
  if (length == 2 && memcmp(begin, "pi", 2) == 0) return PI;
  if (length == 3 && memcmp(begin, "inf", 3) == 0) {
    s->infinite = 1;
    return HUGE_VAL;
  }
  if (length == 3 && (begin[0] | 32) == 'n' && (begin[1] | 32) == 'a' && (begin[2] | 32) == 'n') {
    return trouble(s, "NaN is not a number one can ask for", begin);
  }
  return trouble(s, "an unknown name (numbers know pi and inf)", begin);
}

static double atom(scanner *s) {
  s->at = skip_blanks(s->at);
  char c = *s->at;
  if (literal_end(s->at) != s->at) return literal(s);
  if (letter(c)) return named(s);
  if (c == '(') {
    const char *open = s->at++;
    double value = sum(s);
    s->at = skip_blanks(s->at);
    if (*s->at != ')') return trouble(s, "a parenthesis that is not closed", open);
    s->at++;
    return value;
  }
  return trouble(s, c == '\0' ? "the number ends too early" : "not a number", s->at);
}

/* x^k for whole k >= 0 by squaring: the same multiplications everywhere. */
static double whole_power(double x, int k) {
  double result = 1.0;
  for (; k > 0; k >>= 1) {
    if (k & 1) result *= x;
    if (k > 1) x *= x;
  }
  return result;
}

static double raise(scanner *s, double base, double exponent, const char *at) {
  double twice = 2.0 * exponent;
  if (!(fabs(twice) <= EXPONENT_MAX) || twice != floor(twice)) {
    return trouble(s, "exponents in numbers are whole or half, at most 2048", at);
  }
  int halves = (int)fabs(twice);
  if (halves % 2 == 1 && base < 0.0) return trouble(s, "the root of a negative number", at);
  double value = whole_power(base, halves / 2);
  if (halves % 2 == 1) value *= sqrt(base);
  return exponent < 0.0 ? 1.0 / value : value;
}

static double signed_value(scanner *s);

static double power(scanner *s) {
  double base = atom(s);
  const char *p = skip_blanks(s->at);
  int wide = p[0] == '*' && p[1] == '*';
  if (*p != '^' && !wide) return base;
  s->at = p + (wide ? 2 : 1);
  const char *at = skip_blanks(s->at);
  double exponent = signed_value(s);
  return s->wrong != NULL ? 0.0 : raise(s, base, exponent, at);
}

static double signed_value(scanner *s) {
  int negative = 0;
  if (++s->depth > NESTING_MAX) return trouble(s, "nested too deeply", s->at);
  for (s->at = skip_blanks(s->at); *s->at == '-' || *s->at == '+'; s->at = skip_blanks(s->at + 1)) {
    negative ^= *s->at == '-';
  }
  double value = power(s);
  s->depth--;
  return negative ? -value : value;
}

static double product(scanner *s) {
  double value = signed_value(s);
  while (s->wrong == NULL) {
    s->at = skip_blanks(s->at);
    char c = *s->at;
    if (c != '*' && c != '/') break;
    const char *at = s->at++;
    double other = signed_value(s);
    if (c == '/' && other == 0.0 && s->wrong == NULL) return trouble(s, "division by zero", at);
    value = c == '*' ? value * other : value / other;
  }
  return value;
}

static double sum(scanner *s) {
  double value = product(s);
  while (s->wrong == NULL) {
    s->at = skip_blanks(s->at);
    char c = *s->at;
    if (c != '+' && c != '-') break;
    s->at++;
    double other = product(s);
    value = c == '+' ? value + other : value - other;
  }
  return value;
}

static const char *report(const scanner *s, const char **at) {
  if (at != NULL) *at = s->wrong_at;
  return s->wrong;
}

const char *number_real(const char *text, double *out, const char **at) {
  scanner s = {.at = text};
  double value = sum(&s);
  s.at = skip_blanks(s.at);
  if (s.wrong == NULL && *s.at != '\0') trouble(&s, JUNK, s.at);
  if (s.wrong == NULL && isnan(value)) trouble(&s, "the value is not a number", text);
  if (s.wrong == NULL && isinf(value) && !s.infinite) trouble(&s, TOO_LARGE, text);
  *out = s.wrong == NULL ? value : 0.0;
  return report(&s, at);
}

/* value = 10 value + d, unless that leaves int64. */
static int push_digit(int64_t *value, int d) {
  if (*value > (INT64_MAX - d) / 10) return 0;
  *value = 10 * *value + d;
  return 1;
}

/* A plain literal as an exact integer, without going through a double: the digits, shifted by the
 * exponent. 1: done; 0: not a plain literal (arithmetic); otherwise *wrong is set. */
static int exact_literal(const char *text, int64_t *out, const char **wrong) {
  const char *p = skip_blanks(text);
  int negative = *p == '-', shift = 0, fraction = 0;
  int64_t value = 0;
  if (*p == '-' || *p == '+') p++;
  const char *end = literal_end(p);
  if (end == p || *skip_blanks(end) != '\0') return 0;
  const char *digits_end = p;
  while (digits_end < end && (digit(*digits_end) || *digits_end == '.')) digits_end++;
  if (digits_end < end) {
    long exponent = strtol(digits_end + 1, NULL, 10); /* saturates */
    shift = (int)(exponent > 999 ? 999 : exponent < -999 ? -999 : exponent);
  }
  const char *last = digits_end; /* trailing zeros of a fraction say nothing */
  if (memchr(p, '.', (size_t)(digits_end - p)) != NULL) {
    while (last > p && last[-1] == '0') last--;
  }
  for (; p < last; p++) {
    if (*p == '.') {
      fraction = 1;
      continue;
    }
    shift -= fraction;
    if (!push_digit(&value, *p - '0')) *wrong = "the integer does not fit 64 bits";
  }
  for (; value != 0 && shift > 0 && *wrong == NULL; shift--) {
    if (!push_digit(&value, 0)) *wrong = "the integer does not fit 64 bits";
  }
  for (; value != 0 && shift < 0 && *wrong == NULL; shift++) {
    if (value % 10 != 0) *wrong = "not a whole number";
    value /= 10;
  }
  *out = negative ? -value : value;
  return 1;
}

const char *number_integer(const char *text, int64_t *out, const char **at) {
  const char *wrong = NULL;
  double value = 0.0;
  *out = 0;
  if (exact_literal(text, out, &wrong)) {
    if (at != NULL) *at = text;
    if (wrong != NULL) *out = 0;
    return wrong;
  }
  wrong = number_real(text, &value, at);
  if (wrong != NULL) return wrong;
  if (at != NULL) *at = text;
  if (value != floor(value) && !isinf(value)) return "not a whole number";
  if (!(fabs(value) <= EXACT_MAX)) return "arithmetic on integers is exact up to 2^53 only";
  *out = (int64_t)value;
  return NULL;
}

/* Reads 1 to 9 digits; NULL when there are none, or more. */
static const char *field(const char *p, int64_t *out) {
  int digits = 0;
  for (*out = 0; digit(*p); p++) {
    if (++digits > 9) return NULL;
    *out = 10 * *out + (*p - '0');
  }
  return digits == 0 ? NULL : p;
}

static const char CLOCK[] = "a time is [D-]HH:MM:SS or MM:SS, minutes and seconds below 60";

/* [D-]HH:MM:SS or MM:SS, blanks around stripped already. */
static const char *clock_time(const char *p, double *seconds) {
  int64_t part[4] = {0};
  int days = 0, parts = 0;
  for (;;) {
    p = parts < 4 ? field(p, &part[parts++]) : NULL;
    if (p == NULL) return CLOCK;
    if (*skip_blanks(p) == '\0') break;
    if (*p == '-' && parts == 1) {
      days = 1;
    } else if (*p != ':' || (days && parts == 1)) {
      return CLOCK;
    }
    p++;
  }
  if (days ? parts != 4 : (parts != 2 && parts != 3)) return CLOCK;
  if (part[parts - 1] > 59 || (parts > 2 && part[parts - 2] > 59) || (days && part[1] > 23)) {
    return CLOCK;
  }
  const int64_t weight[4] = {1, 60, 3600, 86400};
  int64_t total = 0;
  for (int i = 0; i < parts; i++) total += part[i] * weight[parts - 1 - i];
  *seconds = (double)total;
  return NULL;
}

const char *number_duration(const char *text, double *seconds, const char **at) {
  scanner s = {.at = skip_blanks(text)};
  *seconds = 0.0;
  if (at != NULL) *at = s.at;
  if (strchr(s.at, ':') != NULL) return clock_time(s.at, seconds);
  if (literal_end(s.at) == s.at) return "not a duration (30s, 5m, 2h, HH:MM:SS)";
  double value = literal(&s);
  if (s.wrong != NULL) return report(&s, at);
  const char *unit = skip_blanks(s.at);
  if (at != NULL) *at = unit;
  if (*unit == '\0') {
    return "a duration needs its unit (30s, 5m, 2h, HH:MM:SS): a bare number would mean minutes to "
           "Slurm";
  }
  double factor = *unit == 's' ? 1.0 : *unit == 'm' ? 60.0 : *unit == 'h' ? 3600.0 : 0.0;
  if (factor == 0.0 || *skip_blanks(unit + 1) != '\0') return "units of time are s, m and h";
  if (!isfinite(value * factor)) return TOO_LARGE;
  *seconds = value * factor;
  return NULL;
}

const char *number_size(const char *text, int64_t *bytes, const char **at) {
  static const char units[] = "KMGT";
  scanner s = {.at = skip_blanks(text)};
  const char *begin = s.at;
  *bytes = 0;
  if (at != NULL) *at = begin;
  if (literal_end(begin) == begin) return "not a size (512M, 4G)";
  double value = literal(&s);
  if (s.wrong != NULL) return report(&s, at);
  const char *unit = skip_blanks(s.at);
  const char *known = *unit != '\0' ? strchr(units, *unit) : NULL;
  if (*unit != '\0' && (known == NULL || *skip_blanks(unit + 1) != '\0')) {
    if (at != NULL) *at = unit;
    return "units of size are K, M, G and T (powers of 1024)";
  }
  value = ldexp(value, known == NULL ? 0 : 10 * (int)(known - units + 1));
  if (value != floor(value)) return "not a whole number of bytes";
  if (!(value < 9.2e18)) return TOO_LARGE;
  *bytes = (int64_t)value;
  return NULL;
}

void number_print(double x, char out[NUMBER_TEXT]) {
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(out, NUMBER_TEXT, "%.*g", digits, x);
    if (strtod(out, NULL) == x) return;
  }
}
