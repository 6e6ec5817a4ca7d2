/* Typed values: from config text to what the getters return, with the checks of the option's
 * descriptor. A value is read into a fresh setting first and swapped in when all is well. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "numbers.h"
#include "options_internal.h"

static const char *const EXPECTED[] = {
    [OPTION_WORD] = "one of its words",
    [OPTION_TEXT] = "a text",
    [OPTION_INPUT] = "a file to read",
    [OPTION_OUTPUT] = "a file to write",
    [OPTION_INTEGER] = "an integer",
    [OPTION_REAL] = "a number",
    [OPTION_FLAG] = "on or off",
    [OPTION_DURATION] = "a duration (30s, 5m, 2h, [D-]HH:MM:SS, MM:SS)",
    [OPTION_SIZE] = "a size (K, M, G, T: powers of 1024)",
    [OPTION_INTERVAL] = "a duration (30s, 5m, 2h) or a whole number",
    [OPTION_REALS] = "a list of numbers, commas between",
    [OPTION_INTEGERS] = "a list of integers, commas between",
};

const char *setting_key(const setting *s) { return s->key != NULL ? s->key : s->is->key; }

static void values_release(setting *s) {
  alloc_free(&s->text);
  alloc_free(&s->reals);
  alloc_free(&s->integers);
}

void setting_release(setting *s) {
  values_release(s);
  alloc_free(&s->key);
  alloc_free(&s->where);
  alloc_free(&s->standard);
}

status text_copy(char **out, const char *text) {
  size_t bytes = strlen(text) + 1;
  status rc = alloc_array(out, (int64_t)bytes, 1, "an option's text");
  if (rc == STATUS_OK) memcpy(*out, text, bytes);
  return rc;
}

/* The error for a value: where it stands, what it is, what is wrong, what was expected. */
static status refuse(const setting *s, const char *value, const char *wrong) {
  const char *more = strlen(value) > 60 ? "..." : "";
  if (s->is->type == OPTION_WORD) {
    char near[OPTIONS_NAME_MAX];
    int found = options_nearest(value, s->is->words, near);
    return fail(STATUS_USAGE, "%s = %.60s%s: %s; expected one of %s%s%s%s", s->where, value, more,
                wrong, s->is->words, found ? "; did you mean '" : "", near, found ? "'?" : "");
  }
  return fail(STATUS_USAGE, "%s = %.60s%s: %s; expected %s", s->where, value, more, wrong,
              EXPECTED[s->is->type]);
}

static status check_bounds(const setting *s, const char *value, double x) {
  const option *is = s->is;
  int bounded = is->minimum != 0.0 || is->maximum != 0.0;
  char low[NUMBER_TEXT], high[NUMBER_TEXT];
  if (!bounded && !isinf(x)) return STATUS_OK;
  if (bounded && x >= is->minimum && x <= is->maximum) return STATUS_OK;
  if (isinf(x)) return refuse(s, value, "inf makes no sense here");
  number_print(is->minimum, low);
  number_print(is->maximum, high);
  char wrong[160];
  if (x > is->maximum) {
    snprintf(wrong, sizeof wrong, "too large, at most %s", high);
  } else if (is->minimum == OPTION_POSITIVE) {
    snprintf(wrong, sizeof wrong, "too small, it must be above 0");
  } else {
    snprintf(wrong, sizeof wrong, "too small, at least %s", low);
  }
  return refuse(s, value, wrong);
}

static int is_word(const char *words, const char *value) {
  size_t length = strlen(value);
  for (const char *p = words; p != NULL; p = strchr(p, '|')) {
    p += *p == '|';
    if (length != 0 && strcspn(p, "|") == length && memcmp(p, value, length) == 0) return 1;
  }
  return 0;
}

static int flag_value(const char *value) {
  if (is_word("on|true|yes|1", value)) return 1;
  return is_word("off|false|no|0", value) ? 0 : -1;
}

/* Files: `~` and `$VAR` are the shell's; nothing here expands them, and a file of that literal name
 * would come as a surprise. ./~x names one all the same. */
static status read_file(setting *fresh, const char *value, const char *directory) {
  const char *dollar = strchr(value, '$');
  if (*value == '\0') return refuse(fresh, value, "an empty file name");
  if (*value == '~') return refuse(fresh, value, "~ is not expanded: write the whole path");
  if (dollar != NULL && (dollar[1] == '{' || dollar[1] == '_' ||
                         ((dollar[1] | 32) >= 'a' && (dollar[1] | 32) <= 'z'))) {
    return refuse(fresh, value, "$VAR is not expanded: write the whole path");
  }
  fresh->word = fresh->is->type == OPTION_INPUT && is_word(fresh->is->words, value);
  if (fresh->word || fresh->is->type != OPTION_INPUT || *value == '/') directory = "";
  size_t front = strlen(directory), bytes = front + strlen(value) + 1;
  status rc = alloc_array(&fresh->text, (int64_t)bytes, 1, "a file name");
  if (rc != STATUS_OK) return rc;
  memcpy(fresh->text, directory, front);
  memcpy(fresh->text + front, value, bytes - front);
  return STATUS_OK;
}

/* A number with its canonical text in `text`. */
static status read_number(setting *fresh, const char *value, option_type type,
                          char text[NUMBER_TEXT]) {
  const char *wrong = NULL, *at = value;
  switch (type) {
  case OPTION_REAL:
    wrong = number_real(value, &fresh->real, &at);
    number_print(fresh->real, text);
    break;
  case OPTION_DURATION:
    wrong = number_duration(value, &fresh->real, &at);
    number_print(fresh->real, text);
    strcat(text, "s");
    break;
  case OPTION_SIZE:
    wrong = number_size(value, &fresh->integer, &at);
    break;
  default:
    wrong = number_integer(value, &fresh->integer, &at);
  }
  if (type == OPTION_INTEGER || type == OPTION_SIZE) {
    snprintf(text, NUMBER_TEXT, "%lld", (long long)fresh->integer);
  }
  if (wrong != NULL) {
    char full[192];
    int show = at != value && *at != '\0';
    snprintf(full, sizeof full, "%s%s%.20s%s", wrong, show ? ", at '" : "", show ? at : "",
             show ? "'" : "");
    return refuse(fresh, value, full);
  }
  int real = type == OPTION_REAL || type == OPTION_DURATION;
  return check_bounds(fresh, value, real ? fresh->real : (double)fresh->integer);
}

/* A bare whole number is a count, anything else a duration. */
static status read_interval(setting *fresh, const char *value, char text[NUMBER_TEXT]) {
  if (number_integer(value, &fresh->integer, NULL) == NULL) {
    if (fresh->integer < 1) return refuse(fresh, value, "a count is at least 1");
    snprintf(text, NUMBER_TEXT, "%lld", (long long)fresh->integer);
    return STATUS_OK;
  }
  status rc = read_number(fresh, value, OPTION_DURATION, text);
  if (rc == STATUS_OK && !(fresh->real > 0.0)) return refuse(fresh, value, "an interval of 0");
  return rc;
}

static status read_list(setting *fresh, char *value) {
  status rc = STATUS_OK;
  int reals = fresh->is->type == OPTION_REALS;
  text_builder joined = {0};
  int64_t most = 1;
  for (const char *p = value; *p != '\0'; p++) most += *p == ',';
  TRY(alloc_array(&fresh->reals, most, sizeof *fresh->reals, "a list"));
  TRY(alloc_array(&fresh->integers, most, sizeof *fresh->integers, "a list"));
  for (char *rest = value, *item; rest != NULL;) {
    char text[NUMBER_TEXT];
    const char *wrong = ini_list(&rest, &item);
    if (wrong != NULL) {
      rc = refuse(fresh, item, wrong);
      goto done;
    }
    TRY(read_number(fresh, item, reals ? OPTION_REAL : OPTION_INTEGER, text));
    fresh->reals[fresh->count] = fresh->real;
    fresh->integers[fresh->count++] = fresh->integer;
    if (joined.length > 0) TRY(text_append(&joined, ", "));
    TRY(text_append(&joined, text));
  }
  TRY(text_copy(&fresh->text, joined.text));
done:
  text_release(&joined);
  return rc;
}

static status read_typed(setting *fresh, char *copy, const char *directory) {
  char *value = NULL, text[NUMBER_TEXT + 2] = "";
  const option *is = fresh->is;
  if (is->type == OPTION_REALS || is->type == OPTION_INTEGERS) return read_list(fresh, copy);
  const char *wrong = ini_scalar(copy, &value);
  if (wrong != NULL && is->type == OPTION_TEXT && *value != '\0') {
    wrong = NULL; /* a list of quoted items: its reader takes it apart (ini_list) */
  }
  if (wrong != NULL) return refuse(fresh, value, wrong);
  switch (is->type) {
  case OPTION_INPUT:
  case OPTION_OUTPUT:
    return read_file(fresh, value, directory);
  case OPTION_WORD:
    if (!is_word(is->words, value)) return refuse(fresh, value, "not a known word");
    return text_copy(&fresh->text, value);
  case OPTION_FLAG:
    fresh->integer = flag_value(value);
    if (fresh->integer < 0) return refuse(fresh, value, "neither on nor off");
    return text_copy(&fresh->text, fresh->integer ? "on" : "off");
  case OPTION_TEXT:
    return text_copy(&fresh->text, value);
  case OPTION_INTERVAL: {
    status rc = read_interval(fresh, value, text);
    return rc == STATUS_OK ? text_copy(&fresh->text, text) : rc;
  }
  default: {
    status rc = read_number(fresh, value, is->type, text);
    return rc == STATUS_OK ? text_copy(&fresh->text, text) : rc;
  }
  }
}

status setting_read(setting *s, const char *value, const char *directory) {
  status rc = STATUS_OK;
  char *copy = NULL;
  setting fresh = {.is = s->is, .where = s->where};
  TRY(text_copy(&copy, value));
  TRY(read_typed(&fresh, copy, directory));
  values_release(s);
  s->text = fresh.text;
  s->reals = fresh.reals;
  s->integers = fresh.integers;
  s->integer = fresh.integer;
  s->real = fresh.real;
  s->count = fresh.count;
  s->word = fresh.word;
  s->set = 1;
done:
  if (rc != STATUS_OK) values_release(&fresh);
  alloc_free(&copy);
  return rc;
}
