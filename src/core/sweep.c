/* Reading [sweep] (sweep.h). A value is `linspace(` or `geomspace(` with three numbers, or a list
 * of numbers; numbers are those of the config grammar (numbers.h). */
#include "sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "ini.h"
#include "numbers.h"

enum { KEY_ROOM = 128 };

static const int64_t MEMBERS_MAX = INT64_C(1) << 53;

static status refuse(const options *o, const char *key, const char *wrong, const char *at) {
  const char *text = options_text(o, key);
  return fail(STATUS_USAGE,
              "%s = %.80s%s: %s%s%.40s%s; expected linspace(lo, hi, n), geomspace(lo, hi, n) or a "
              "list of numbers",
              options_where(o, key), text, strlen(text) > 80 ? "..." : "", wrong,
              at != NULL ? ", at '" : "", at != NULL ? at : "", at != NULL ? "'" : "");
}

/* A finite number. */
static status read_number(const options *o, const char *key, const char *text, double *out) {
  const char *at = NULL;
  const char *wrong = number_real(text, out, &at);
  if (wrong != NULL) return refuse(o, key, wrong, text);
  return isfinite(*out) ? STATUS_OK : refuse(o, key, "inf makes no sense here", NULL);
}

static status read_list(const options *o, const char *key, char *text, sweep_axis *a) {
  status rc = STATUS_OK;
  int64_t most = 1;
  for (const char *p = text; *p != '\0'; p++) most += *p == ',';
  a->kind = SWEEP_LIST;
  TRY(alloc_array((double **)&a->list.at, most, sizeof(double), "a sweep's list"));
  for (char *rest = text, *item; rest != NULL;) {
    const char *wrong = ini_list(&rest, &item);
    if (wrong != NULL) {
      rc = refuse(o, key, wrong, item);
      goto done;
    }
    TRY(read_number(o, key, item, (double *)a->list.at + a->count));
    a->count++;
  }
done:
  return rc;
}

/* The three numbers between the parentheses. */
static status read_space(const options *o, const char *key, char *text, sweep_axis *a) {
  status rc = STATUS_OK;
  char *item[4], *rest = text;
  int items = 0;
  while (rest != NULL && items < 4) {
    const char *wrong = ini_list(&rest, &item[items]);
    if (wrong != NULL) return refuse(o, key, wrong, item[items]);
    items++;
  }
  if (items != 3 || rest != NULL) return refuse(o, key, "three numbers go in parentheses", NULL);
  TRY(read_number(o, key, item[0], &a->low));
  TRY(read_number(o, key, item[1], &a->high));
  const char *wrong = number_integer(item[2], &a->count, NULL);
  if (wrong != NULL) return refuse(o, key, wrong, item[2]);
  if (a->count < 1) return refuse(o, key, "n is at least 1", item[2]);
  if (a->count > MEMBERS_MAX) return refuse(o, key, "n is at most 2^53", item[2]);
done:
  return rc;
}

static status finish_space(const options *o, const char *key, sweep_axis *a) {
  if (a->kind == SWEEP_LINSPACE) {
    a->step = a->count > 1 ? (a->high - a->low) / (double)(a->count - 1) : 0.0;
    return isfinite(a->step) ? STATUS_OK : refuse(o, key, "hi - lo overflows", NULL);
  }
  const double ratio = a->high / a->low;
  if (a->low == 0.0 || a->high == 0.0 || (a->low < 0.0) != (a->high < 0.0)) {
    return refuse(o, key, "lo and hi of geomspace have one sign, and neither is 0", NULL);
  }
  a->step = elementary_log10(ratio);
  return isfinite(a->step) && isfinite(ratio) ? STATUS_OK
                                              : refuse(o, key, "hi / lo overflows", NULL);
}

static status read_axis(const options *o, const char *key, sweep_axis *a) {
  status rc = STATUS_OK;
  static const char *const word[] = {
      [SWEEP_LINSPACE] = "linspace", [SWEEP_GEOMSPACE] = "geomspace"};
  const char *text = options_text(o, key);
  char *copy = NULL, *at;
  TRY(alloc_text(&copy, text, "a sweep's text"));
  for (int k = SWEEP_LINSPACE; k <= SWEEP_GEOMSPACE; k++) {
    const size_t length = strlen(word[k]);
    if (strncmp(copy, word[k], length) != 0) continue;
    at = copy + length;
    while (*at == ' ' || *at == '\t') at++;
    const size_t left = strlen(at);
    if (*at != '(' || at[left - 1] != ')') {
      rc = refuse(o, key, "three numbers go in parentheses", NULL);
      goto done;
    }
    at[left - 1] = '\0';
    a->kind = k;
    TRY(read_space(o, key, at + 1, a));
    rc = finish_space(o, key, a);
    goto done;
  }
  rc = read_list(o, key, copy, a);
done:
  alloc_free(&copy);
  return rc;
}

status sweep_read(const options *o, sweep *out) {
  status rc = STATUS_OK;
  const char *name;
  memset(out, 0, sizeof *out);
  out->grid.members = 1;
  for (int k = 0; (name = options_free_key(o, "sweep", k)) != NULL; k++) {
    char key[KEY_ROOM], twin[KEY_ROOM];
    snprintf(key, sizeof key, "sweep.%.63s", name);
    snprintf(twin, sizeof twin, "parameters.%.63s", name);
    if (k == SWEEP_AXES) {
      return fail(STATUS_USAGE, "%s: more than %d swept parameters", options_where(o, key),
                  SWEEP_AXES);
    }
    if (options_has(o, twin)) {
      return fail(STATUS_USAGE, "%s is in [sweep], and in [parameters] too (%s)",
                  options_where(o, key), options_where(o, twin));
    }
    sweep_axis *a = &out->grid.axis[k];
    out->name[k] = name;
    out->grid.axes = k + 1; /* what is allocated is released */
    TRY(read_axis(o, key, a));
    if (a->count > MEMBERS_MAX / out->grid.members) {
      return fail(STATUS_USAGE, "%s: %lld times %lld members are more than 2^53",
                  options_where(o, key), (long long)out->grid.members, (long long)a->count);
    }
    out->grid.members *= a->count;
  }
done:
  return rc;
}

void sweep_release(sweep *s) {
  for (int k = 0; k < s->grid.axes; k++) {
    if (s->grid.axis[k].kind == SWEEP_LIST) alloc_free(&s->grid.axis[k].list.at);
  }
  s->grid.axes = 0;
}

/* Appends to a text of SWEEP_TEXT; what does not fit is left out. */
static void append(char *out, const char *more) {
  const size_t length = strlen(out);
  snprintf(out + length, SWEEP_TEXT - length, "%s", more);
}

void sweep_describe(const sweep *s, char out[SWEEP_TEXT]) {
  out[0] = '\0';
  for (int k = 0; k < s->grid.axes; k++) {
    char part[KEY_ROOM];
    snprintf(part, sizeof part, "%s%.63s (%lld)", k > 0 ? " x " : "", s->name[k],
             (long long)s->grid.axis[k].count);
    append(out, part);
  }
  char total[KEY_ROOM];
  snprintf(total, sizeof total, ": %lld member%s", (long long)s->grid.members,
           s->grid.members == 1 ? "" : "s");
  append(out, total);
}

void sweep_member_text(const sweep *s, int64_t m, char out[SWEEP_TEXT]) {
  double value[SWEEP_AXES] = {0.0};
  out[0] = '\0';
  sweep_member(&s->grid, m, value);
  for (int k = 0; k < s->grid.axes; k++) {
    char part[KEY_ROOM], number[NUMBER_TEXT];
    number_print(value[k], number);
    snprintf(part, sizeof part, "%s%.63s = %s", k > 0 ? ", " : "", s->name[k], number);
    append(out, part);
  }
}
