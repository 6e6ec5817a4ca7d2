/* The getters. A key that is not in the table, or is of another type, is a bug in the caller. */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "log.h"
#include "options_internal.h"

static _Noreturn void bug(const char *key, const char *what) {
  log_error("internal error: option '%s' %s", key, what);
  abort();
}

/* Whether the section of "section.key", `length` characters, has free keys in this table. */
static int has_free_keys(const option *table, const char *key, size_t length) {
  for (const option *is = table; is->section != NULL; is++) {
    int here = strncmp(is->section, key, length) == 0 && is->section[length] == '\0';
    if (here && strcmp(is->key, OPTION_ANY_KEY) == 0) return 1;
  }
  return 0;
}

/* The setting of "section.key"; NULL for a free key nobody gave. */
static setting *look_up(const options *o, const char *key) {
  const char *dot = strchr(key, '.');
  if (dot == NULL) bug(key, "is asked for without its section");
  size_t length = (size_t)(dot - key);
  for (int64_t i = 0; i < o->count; i++) {
    setting *s = &o->setting[i];
    if (strncmp(s->is->section, key, length) != 0 || s->is->section[length] != '\0') continue;
    if (strcmp(setting_key(s), dot + 1) == 0) return s;
  }

  if (has_free_keys(o->cmd->options, key, length)) return NULL;
  if (has_free_keys(OPTIONS_COMMON, key, length)) return NULL;
  bug(key, "is not in the table");
}

/* The same, checked to be of one of the types in the mask; NULL when it has no value. */
static const setting *look_up_typed(const options *o, const char *key, unsigned types) {
  const setting *s = look_up(o, key);
  if (s == NULL) return NULL;
  if ((types >> s->is->type & 1U) == 0) bug(key, "is read as another type");
  return s->set ? s : NULL;
}

int options_given(const options *o, const char *key) {
  const setting *s = look_up(o, key);
  return s != NULL && s->given;
}

int options_has(const options *o, const char *key) {
  const setting *s = look_up(o, key);
  return s != NULL && s->set;
}

int options_is_default(const options *o, const char *key) {
  const setting *s = look_up(o, key);
  return s != NULL && s->set && s->standard != NULL && strcmp(s->text, s->standard) == 0;
}

const char *options_text(const options *o, const char *key) {
  const setting *s = look_up(o, key);
  unsigned types = 1U << OPTION_WORD | 1U << OPTION_TEXT | 1U << OPTION_INPUT | 1U << OPTION_OUTPUT;
  if (s != NULL && s->is->words != NULL) types |= 1U << OPTION_INTEGER | 1U << OPTION_REAL;
  s = look_up_typed(o, key, types);
  return s == NULL ? NULL : s->text;
}

int64_t options_integer(const options *o, const char *key) {
  const setting *s = look_up_typed(o, key, 1U << OPTION_INTEGER | 1U << OPTION_SIZE);
  return s == NULL ? 0 : s->integer;
}

double options_real(const options *o, const char *key) {
  const setting *s = look_up_typed(o, key, 1U << OPTION_REAL | 1U << OPTION_DURATION);
  return s == NULL ? 0.0 : s->real;
}

int options_flag(const options *o, const char *key) {
  const setting *s = look_up_typed(o, key, 1U << OPTION_FLAG);
  return s != NULL && s->integer != 0;
}

int options_reals(const options *o, const char *key, const double **values) {
  const setting *s = look_up_typed(o, key, 1U << OPTION_REALS);
  *values = s == NULL ? NULL : s->reals;
  return s == NULL ? 0 : s->count;
}

int options_integers(const options *o, const char *key, const int64_t **values) {
  const setting *s = look_up_typed(o, key, 1U << OPTION_INTEGERS);
  *values = s == NULL ? NULL : s->integers;
  return s == NULL ? 0 : s->count;
}

int options_tuples(const options *o, const char *key, const double **values, int *length) {
  const setting *s = look_up_typed(o, key, 1U << OPTION_TUPLES);
  *values = s == NULL ? NULL : s->reals;
  *length = s == NULL ? 0 : s->length;
  return s == NULL || s->length == 0 ? 0 : s->count / s->length;
}

void options_interval(const options *o, const char *key, double *seconds, int64_t *count) {
  const setting *s = look_up_typed(o, key, 1U << OPTION_INTERVAL);
  *seconds = s == NULL ? 0.0 : s->real;
  *count = s == NULL ? 0 : s->integer;
}

int options_is_word(const options *o, const char *key) {
  const setting *s =
      look_up_typed(o, key, 1U << OPTION_INPUT | 1U << OPTION_INTEGER | 1U << OPTION_REAL);
  return s != NULL && s->word;
}

const char *options_free_key(const options *o, const char *section, int index) {
  for (int64_t i = 0; i < o->count; i++) {
    const setting *s = &o->setting[i];
    if (s->key == NULL || strcmp(s->is->section, section) != 0) continue;
    if (index-- == 0) return s->key;
  }
  return NULL;
}

const char *options_file_at(const options *o, option_type type, int index, const option **is) {
  for (int64_t i = 0; i < o->count; i++) {
    const setting *s = &o->setting[i];
    if (s->is->type != type || !s->set || s->word || index-- > 0) continue;
    *is = s->is;
    return s->text;
  }
  return NULL;
}

const char *options_where(const options *o, const char *key) {
  const setting *s = look_up(o, key);
  return s != NULL && s->where != NULL ? s->where : key;
}

status options_override(options *o, const char *key, const char *value) {
  status rc = STATUS_OK;
  setting *s = look_up(o, key);
  if (s == NULL) bug(key, "cannot be overridden");
  if (s->where == NULL) TRY(text_copy(&s->where, key));
  TRY(setting_read(s, value, ""));
done:
  return rc;
}
