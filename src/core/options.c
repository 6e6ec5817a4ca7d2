/* The option table at work (options.h): defaults, then the config file, then the command line.
 *
 * The command line is taken apart first, since only the table tells a flag from a key that takes
 * the next word, and hence which word is the config file; its values are applied last. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "file_name.h"
#include "log.h"
#include "options_internal.h"

/* A value on the command line, waiting for the file to be read. */
typedef struct argument {
  named_key name;
  const option *is;
  char *value; /* cleaned, with quotes */
  char *where;
} argument;

typedef struct command_line {
  const command *cmd;
  argument *argument;
  int64_t count, room;
  const char *file;       /* the INI */
  int after_comma;        /* the last word was a value ending in a comma */
  const char *after_flag; /* the last word was this flag, without a value */
} command_line;

static void command_line_release(command_line *line) {
  for (int64_t i = 0; i < line->count; i++) {
    alloc_free(&line->argument[i].value);
    alloc_free(&line->argument[i].where);
  }
  alloc_free(&line->argument);
}

static setting *find_setting(const options *o, const char *section, const char *key) {
  for (int64_t i = 0; i < o->count; i++) {
    setting *s = &o->setting[i];
    if (strcmp(s->is->section, section) == 0 && strcmp(setting_key(s), key) == 0) return s;
  }
  return NULL;
}

static status add_setting(options *o, const option *is, const char *free_key, setting **out) {
  status rc = STATUS_OK;
  if (o->count == o->room) {
    int64_t want = 2 * o->room + 64;
    TRY(alloc_grow(&o->setting, o->count, want, sizeof *o->setting, "options"));
    o->room = want;
  }
  setting *s = &o->setting[o->count];
  memset(s, 0, sizeof *s);
  s->is = is;
  if (free_key != NULL) TRY(text_copy(&s->key, free_key));
  o->count++;
  if (out != NULL) *out = s;
done:
  return rc;
}

static status add_defaults(options *o, const option *table) {
  status rc = STATUS_OK;
  for (const option *is = table; is->section != NULL; is++) {
    setting *s;
    if (strcmp(is->key, OPTION_ANY_KEY) == 0) continue;
    TRY(add_setting(o, is, NULL, &s));
    if (is->fallback == NULL) continue;
    TRY(text_copy(&s->where, is->key));
    TRY(setting_read(s, is->fallback, ""));
    alloc_free(&s->where);
    TRY(text_copy(&s->standard, s->text));
  }
done:
  return rc;
}

/* Sets section.key, making the setting when its section has free keys. `where` is copied. */
static status assign(options *o, const option *is, const char *section, const char *key,
                     const char *where, const char *value, const char *directory) {
  status rc = STATUS_OK;
  setting *s = find_setting(o, section, key);
  if (s == NULL) TRY(add_setting(o, is, key, &s));
  alloc_free(&s->where);
  TRY(text_copy(&s->where, where));
  TRY(setting_read(s, value, directory));
  s->given = 1;
done:
  return rc;
}

/* ---- the config file ---- */

static status check_sections(const command *cmd, const char *path, const ini *file) {
  for (int64_t i = 0; i < file->sections; i++) {
    const ini_section *s = &file->section[i];
    if (options_find(cmd, s->name, NULL) != NULL) continue;
    if (strcmp(cmd->name, s->name) == 0 || options_foreign_section(cmd, s->name)) continue;
    char where[INI_WHERE];
    snprintf(where, sizeof where, "%.900s:%ld", path, s->line);
    return options_unknown_section(cmd, where, s->name);
  }
  return STATUS_OK;
}

static status apply_file(options *o, const char *path) {
  status rc = STATUS_OK;
  ini file = {0};
  char *directory = NULL;
  TRY(ini_read(path, &file));
  TRY(check_sections(o->cmd, path, &file));
  TRY(text_copy(&directory, path));
  char *slash = strrchr(directory, '/');
  slash == NULL ? (void)(directory[0] = '\0') : (void)(slash[1] = '\0');
  for (int64_t i = 0; i < file.entries; i++) {
    const ini_entry *e = &file.entry[i];
    char where[INI_WHERE];
    const option *is = options_find(o->cmd, e->section, e->key);
    if (options_foreign_section(o->cmd, e->section)) continue;
    snprintf(where, sizeof where, "%.900s:%ld", path, e->line);
    if (is == NULL) {
      rc = options_unknown_key(o->cmd, where, e->section, e->key);
      goto done;
    }
    snprintf(where, sizeof where, "%.900s:%ld: %.60s", path, e->line, e->key);
    TRY(assign(o, is, e->section, e->key, where, e->value, directory));
  }
done:
  alloc_free(&directory);
  ini_release(&file);
  return rc;
}

/* ---- the command line ---- */

static int ends_in_comma(const char *text) {
  size_t length = strlen(text);
  while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
  return length > 0 && text[length - 1] == ',';
}

static status add_argument(command_line *line, const named_key *name, const option *is,
                           const char *where, const char *value) {
  status rc = STATUS_OK;
  char *copy = NULL, *clean = NULL;
  for (int64_t i = 0; i < line->count; i++) {
    const argument *a = &line->argument[i];
    if (strcmp(a->name.section, name->section) == 0 && strcmp(a->name.key, name->key) == 0) {
      return fail(STATUS_USAGE,
                  "command line: %.100s: '%s' is given again; it was given first as "
                  "%.100s",
                  where, name->key, a->where);
    }
  }
  TRY(text_copy(&copy, value));
  TRY(ini_argument(where, copy, &clean));
  line->after_comma = ends_in_comma(clean);
  if (line->count == line->room) {
    int64_t want = 2 * line->room + 16;
    TRY(alloc_grow(&line->argument, line->count, want, sizeof *line->argument, "arguments"));
    line->room = want;
  }
  argument *a = &line->argument[line->count];
  *a = (argument){.name = *name, .is = is};
  TRY(text_copy(&a->value, clean));
  line->count++;
  TRY(text_copy(&a->where, where));
done:
  alloc_free(&copy);
  return rc;
}

static int begins_option(const char *word) {
  char c = word[0] == '-' && word[1] == '-' ? (char)(word[2] | 32) : '\0';
  return c >= 'a' && c <= 'z';
}

/* --key, --key=value, --section.key; *used is set when the next word was taken. */
static status take_option(command_line *line, const char *word, const char *next, int *used) {
  status rc = STATUS_OK;
  char name[OPTIONS_NAME_MAX + 1], where[OPTIONS_NAME_MAX + 8];
  const char *value = strchr(word, '=');
  size_t length = value == NULL ? strlen(word) : (size_t)(value - word);
  named_key key;
  const option *is = NULL;
  snprintf(name, sizeof name, "%.*s", (int)(length - 2 > 64 ? 64 : length - 2), word + 2);
  snprintf(where, sizeof where, "--%.64s", name);
  TRY(options_resolve(line->cmd, name, where, &key, &is));
  line->after_flag = NULL;
  if (value != NULL) {
    value++;
  } else if (is->type == OPTION_FLAG) {
    value = "on";
    line->after_flag = word;
  } else if (next == NULL || begins_option(next)) {
    rc = fail(STATUS_USAGE, "command line: %s needs a value%s%.60s", where,
              next == NULL ? "" : ", found ", next == NULL ? "" : next);
    goto done;
  } else {
    value = next;
    *used = 1;
  }
  TRY(add_argument(line, &key, is, where, value));
done:
  return rc;
}

static int flag_word(const char *word) {
  static const char *const words[] = {"on", "off", "true", "false", "yes", "no"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcmp(words[i], word) == 0) return 1;
  }
  return 0;
}

/* A word that belongs to no key: the config file, or the command's main key. */
static status take_positional(command_line *line, const char *word) {
  const command *cmd = line->cmd;
  named_key name;
  if (line->after_comma) {
    return fail(STATUS_USAGE,
                "command line: '%.60s' follows a value that ends in a comma: quote the "
                "list, --key \"1, 2\"",
                word);
  }
  if (line->after_flag != NULL && flag_word(word)) {
    return fail(STATUS_USAGE, "command line: '%.60s' after %.60s: write %.60s=%.60s", word,
                line->after_flag, line->after_flag, word);
  }
  line->after_flag = NULL;
  if (file_name_ends(word, ".ini")) {
    if (line->file != NULL) {
      return fail(STATUS_USAGE, "command line: a second config file '%.200s', after '%.200s'", word,
                  line->file);
    }
    line->file = word;
    return STATUS_OK;
  }
  if (cmd->main_key == NULL) {
    return fail(STATUS_USAGE,
                "command line: '%.60s': '%s' takes no such word; expected --key value "
                "or FILE.ini",
                word, cmd->name);
  }
  snprintf(name.section, sizeof name.section, "%.63s", cmd->name);
  snprintf(name.key, sizeof name.key, "%.63s", cmd->main_key);
  const option *is = options_find(cmd, name.section, name.key);
  for (int64_t i = 0; i < line->count; i++) {
    if (line->argument[i].is != is) continue;
    return fail(STATUS_USAGE, "command line: '%.60s': the %s is given already, as '%.60s'", word,
                cmd->main_key, line->argument[i].value);
  }
  return add_argument(line, &name, is, cmd->main_key, word);
}

/* One dash: not our way of writing options; an expression may begin with one, a file hardly. */
static status take_dash(command_line *line, const char *word) {
  named_key key;
  const option *is = line->cmd->main_key == NULL
                         ? NULL
                         : options_find(line->cmd, line->cmd->name, line->cmd->main_key);
  if (is != NULL && is->type == OPTION_TEXT && word[1] != '\0') return take_positional(line, word);
  char shown[OPTIONS_NAME_MAX + 8];
  snprintf(shown, sizeof shown, "%.60s", word);
  status rc = options_resolve(line->cmd, word + 1 + (word[1] == '-'), shown, &key, &is);
  if (rc != STATUS_OK) return rc;
  return fail(STATUS_USAGE, "command line: %s: options begin with two dashes: --%s", shown,
              key.key);
}

static status take_words(command_line *line, int count, char *const *arguments) {
  status rc = STATUS_OK;
  for (int i = 0; i < count; i++) {
    const char *word = arguments[i], *next = i + 1 < count ? arguments[i + 1] : NULL;
    int used = 0;
    if (begins_option(word)) {
      TRY(take_option(line, word, next, &used));
    } else if (word[0] == '-') {
      TRY(take_dash(line, word));
    } else {
      TRY(take_positional(line, word));
    }
    i += used;
  }
done:
  return rc;
}

status options_load(const command *cmd, int count, char *const *arguments, options **out) {
  status rc = STATUS_OK;
  command_line line = {.cmd = cmd};
  options *o = NULL;
  *out = NULL;
  TRY(take_words(&line, count, arguments));
  TRY(alloc_zeroed(&o, 1, sizeof *o, "options"));
  o->cmd = cmd;
  TRY(add_defaults(o, cmd->options));
  TRY(add_defaults(o, OPTIONS_COMMON));
  if (line.file != NULL) {
    TRY(text_copy(&o->file, line.file));
    TRY(apply_file(o, line.file));
  }
  for (int64_t i = 0; i < line.count; i++) {
    const argument *a = &line.argument[i];
    TRY(assign(o, a->is, a->name.section, a->name.key, a->where, a->value, ""));
  }
  *out = o;
  o = NULL;
done:
  options_release(&o);
  command_line_release(&line);
  return rc;
}

const char *options_file(const options *o) { return o->file; }

void options_release(options **o) {
  if (*o == NULL) return;
  for (int64_t i = 0; i < (*o)->count; i++) setting_release(&(*o)->setting[i]);
  alloc_free(&(*o)->setting);
  alloc_free(&(*o)->file);
  text_release(&(*o)->effective);
  text_release(&(*o)->problem);
  alloc_free(o);
}
