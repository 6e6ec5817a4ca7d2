/* Reading and drawing [sample] (sample.h). Uniform and normal values are Philox's stream
 * PHILOX_SAMPLE at (trajectory, key); Sobol point number i is trajectory i's. */
#include "sample.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "file_name.h"
#include "gaussian.h"
#include "ini.h"
#include "numbers.h"
#include "sobol.h"

enum { KEY_ROOM = 128 };

static status refuse(const options *o, const char *key, const char *wrong) {
  return fail(STATUS_USAGE,
              "%s = %.80s: %s; expected uniform(lo, hi), normal(mean, sigma), sobol(lo, hi) or "
              "FILE.h5:/DATASET",
              options_where(o, key), options_text(o, key), wrong);
}

/* The two numbers between the parentheses that `at` begins with. */
static status read_pair(const options *o, const char *key, char *at, sample *s) {
  char *rest, *item;
  double value[2];
  const size_t length = strlen(at);
  if (*at != '(' || at[length - 1] != ')') {
    return refuse(o, key, "two numbers go in parentheses");
  }
  at[length - 1] = '\0';
  rest = at + 1;
  for (int i = 0; i < 2; i++) {
    if (rest == NULL) return refuse(o, key, "two numbers go in parentheses");
    const char *wrong = ini_list(&rest, &item);
    if (wrong == NULL) wrong = number_real(item, &value[i], NULL);
    if (wrong == NULL && !isfinite(value[i])) wrong = "inf makes no sense here";
    if (wrong != NULL) return refuse(o, key, wrong);
  }
  if (rest != NULL) return refuse(o, key, "two numbers go in parentheses");
  s->a = value[0];
  s->b = value[1];
  if (s->kind == SAMPLE_NORMAL && s->b < 0.0) return refuse(o, key, "sigma is not negative");
  if (s->kind != SAMPLE_NORMAL && s->b < s->a) return refuse(o, key, "lo is not above hi");
  return isfinite(s->b - s->a) ? STATUS_OK : refuse(o, key, "hi - lo overflows");
}

/* Whether a text is FILE.h5 or FILE.h5:/DATASET. */
static int is_file(const char *text) {
  char name[4096];
  const char *colon = strstr(text, ":/");
  snprintf(name, sizeof name, "%.*s", colon == NULL ? 4000 : (int)(colon - text), text);
  return file_name_ends(name, ".h5|.hdf5");
}

static status read_one(const options *o, const char *key, sample *s) {
  status rc = STATUS_OK;
  static const char *const word[] = {"uniform", "normal", "sobol"};
  char *copy = NULL;
  TRY(alloc_text(&copy, options_text(o, key), "a sample's text"));
  if (is_file(copy)) {
    s->kind = SAMPLE_COLUMN;
    s->file = options_text(o, key);
    goto done;
  }
  for (int k = SAMPLE_UNIFORM; k <= SAMPLE_SOBOL; k++) {
    char *at = copy + strlen(word[k]);
    if (strncmp(copy, word[k], strlen(word[k])) != 0) continue;
    while (*at == ' ' || *at == '\t') at++;
    s->kind = k;
    rc = read_pair(o, key, at, s);
    goto done;
  }
  rc = refuse(o, key, "nothing that can be drawn from");
done:
  alloc_free(&copy);
  return rc;
}

status samples_read(const options *o, uint64_t seed, samples *out) {
  status rc = STATUS_OK;
  const char *name;
  int directions = 0;
  memset(out, 0, sizeof *out);
  for (int k = 0; (name = options_free_key(o, "sample", k)) != NULL; k++) {
    char key[KEY_ROOM], twin[2][KEY_ROOM];
    snprintf(key, sizeof key, "sample.%.63s", name);
    snprintf(twin[0], KEY_ROOM, "parameters.%.63s", name);
    snprintf(twin[1], KEY_ROOM, "sweep.%.63s", name);
    if (k == SAMPLE_KEYS) {
      return fail(STATUS_USAGE, "%s: more than %d samples", options_where(o, key), SAMPLE_KEYS);
    }
    for (int i = 0; i < 2; i++) {
      if (!options_has(o, twin[i])) continue;
      return fail(STATUS_USAGE, "%s is in [sample], and elsewhere too (%s)", options_where(o, key),
                  options_where(o, twin[i]));
    }
    sample *s = &out->of[k];
    s->name = name;
    s->stream = k;
    TRY(read_one(o, key, s));
    if (s->kind == SAMPLE_SOBOL && directions == SOBOL_DIMS) {
      return fail(STATUS_USAGE, "%s: sobol has at most %d directions", options_where(o, key),
                  SOBOL_DIMS);
    }
    if (s->kind == SAMPLE_SOBOL) sobol_scramble(seed, 0, directions++, s->table);
    out->count = k + 1;
  }
done:
  return rc;
}

double sample_value(const sample *s, uint64_t seed, int64_t i, int64_t replicate) {
  if (s->kind == SAMPLE_COLUMN)
    return s->column.values == NULL ? NAN : row_window_at(&s->column, replicate)[0];
  if (s->kind == SAMPLE_SOBOL) {
    return fma(sobol_uniform(sobol_digits(s->table, (uint64_t)i)), s->b - s->a, s->a);
  }
  const philox_words w = philox_at(seed, (uint64_t)i, PHILOX_SAMPLE, (uint64_t)s->stream, 0);
  double first, second;
  if (s->kind == SAMPLE_UNIFORM) return fma(philox_uniform(w, 0), s->b - s->a, s->a);
  gaussian_pair(w, &first, &second);
  return fma(first, s->b, s->a);
}
