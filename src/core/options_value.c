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
    [OPTION_TUPLES] = "tuples of numbers, all of one length: (0.5, 0.5), (0.2, 0.2)",
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

status text_copy(char **out, const char *text) { return alloc_text(out, text, "an option's text"); }

/* The error for a value: where it stands, what it is, what is wrong, what was expected. */
static status refuse(const setting *s, const char *value, const char *wrong) {
  const char *more = strlen(value) > 60 ? "..." : "";
  if (s->is->type == OPTION_WORD) {
    char near[OPTIONS_NAME_MAX];
    int found = options_nearest(value, s->is->words, near);
    return fail(STATUS_USAGE, "%s = %.60s%s: %s; expected one of %s%s%s%s", s->where, value, more,
                wrong, s->is->words, found ? "; did you mean '" : "", near, found ? "'?" : "");
  }
  const int either = s->is->words != NULL && s->is->type != OPTION_INPUT;
  return fail(STATUS_USAGE, "%s = %.60s%s: %s; expected %s%s%s", s->where, value, more, wrong,
              EXPECTED[s->is->type], either ? ", or one of " : "", either ? s->is->words : "");
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

int options_word_in(const char *words, const char *word) {
  size_t length = strlen(word);
  for (const char *p = words; p != NULL; p = strchr(p, '|')) {
    p += *p == '|';
    if (length != 0 && strcspn(p, "|") == length && memcmp(p, word, length) == 0) return 1;
  }
  return 0;
}

static int flag_value(const char *value) {
  if (options_word_in("on|true|yes|1", value)) return 1;
  return options_word_in("off|false|no|0", value) ? 0 : -1;
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
  fresh->word = fresh->is->type == OPTION_INPUT && options_word_in(fresh->is->words, value);
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

/* Room for as many numbers as a list of this text can have. */
static status list_room(setting *fresh, const char *value) {
  status rc = STATUS_OK;
  int64_t most = 1;
  for (const char *p = value; *p != '\0'; p++) most += *p == ',';
  TRY(alloc_array(&fresh->reals, most, sizeof *fresh->reals, "a list"));
  TRY(alloc_array(&fresh->integers, most, sizeof *fresh->integers, "a list"));
done:
  return rc;
}

/* The numbers of one list, added to those of `fresh` and to its text. `whole`: the value as it was
 * written, for error texts (lists are written over while they are taken apart). */
static status read_items(setting *fresh, char *list, const char *whole, text_builder *joined) {
  status rc = STATUS_OK;
  const option_type type = fresh->is->type == OPTION_INTEGERS ? OPTION_INTEGER : OPTION_REAL;
  int first = 1;
  for (char *rest = list, *item; rest != NULL; first = 0) {
    char text[NUMBER_TEXT];
    const char *wrong = ini_list(&rest, &item);
    if (wrong != NULL) return refuse(fresh, whole, wrong);
    TRY(read_number(fresh, item, type, text));
    fresh->reals[fresh->count] = fresh->real;
    fresh->integers[fresh->count++] = fresh->integer;
    if (!first) TRY(text_append(joined, ", "));
    TRY(text_append(joined, text));
  }
done:
  return rc;
}

static status read_list(setting *fresh, char *value, const char *whole) {
  status rc = STATUS_OK;
  text_builder joined = {0};
  TRY(list_room(fresh, value));
  TRY(read_items(fresh, value, whole, &joined));
  TRY(text_copy(&fresh->text, joined.text));
done:
  text_release(&joined);
  return rc;
}

static status read_tuples(setting *fresh, char *value, const char *whole) {
  status rc = STATUS_OK;
  text_builder joined = {0};
  TRY(list_room(fresh, value));
  for (char *rest = value, *item; rest != NULL;) {
    const int before = fresh->count;
    const char *wrong = ini_list(&rest, &item);
    const size_t length = strlen(item);
    if (wrong != NULL) {
      rc = refuse(fresh, whole, wrong);
      goto done;
    }
    if (length < 2 || item[0] != '(' || item[length - 1] != ')') {
      rc = refuse(fresh, item, "not in parentheses");
      goto done;
    }
    item[length - 1] = '\0';
    TRY(text_append(&joined, before > 0 ? ", (" : "("));
    TRY(read_items(fresh, item + 1, whole, &joined));
    TRY(text_append(&joined, ")"));
    if (before == 0) fresh->length = fresh->count;
    if (fresh->count - before != fresh->length) {
      rc = refuse(fresh, whole, "the tuples are not of one length");
      goto done;
    }
  }
  TRY(text_copy(&fresh->text, joined.text));
done:
  text_release(&joined);
  return rc;
}

/* A number, or one of the words that stand for one. */
static status read_number_or_word(setting *fresh, const char *value) {
  char text[NUMBER_TEXT + 2] = "";
  fresh->word = options_word_in(fresh->is->words, value);
  if (fresh->word) return text_copy(&fresh->text, value);
  status rc = read_number(fresh, value, fresh->is->type, text);
  return rc == STATUS_OK ? text_copy(&fresh->text, text) : rc;
}

/* `copy` is the value, to be written over. */
static status read_typed(setting *fresh, char *copy, const char *original, const char *directory) {
  char *value = NULL, text[NUMBER_TEXT + 2] = "";
  const option *is = fresh->is;
  if (is->type == OPTION_REALS || is->type == OPTION_INTEGERS) {
    return read_list(fresh, copy, original);
  }
  if (is->type == OPTION_TUPLES) return read_tuples(fresh, copy, original);
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
    if (!options_word_in(is->words, value)) return refuse(fresh, value, "not a known word");
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
  default:
    return read_number_or_word(fresh, value);
  }
}

status setting_read(setting *s, const char *value, const char *directory) {
  status rc = STATUS_OK;
  char *copy = NULL;
  setting fresh = {.is = s->is, .where = s->where};
  TRY(text_copy(&copy, value));
  TRY(read_typed(&fresh, copy, value, directory));
  values_release(s);
  s->text = fresh.text;
  s->reals = fresh.reals;
  s->integers = fresh.integers;
  s->integer = fresh.integer;
  s->real = fresh.real;
  s->count = fresh.count;
  s->length = fresh.length;
  s->word = fresh.word;
  s->set = 1;
done:
  if (rc != STATUS_OK) values_release(&fresh);
  alloc_free(&copy);
  return rc;
}
