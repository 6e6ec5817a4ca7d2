/* The table of commands. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

const command_entry COMMANDS[] = {
    {&COMMAND_solve, check_solve, command_solve, 1, 0, NULL},
    {&COMMAND_heat, check_heat, command_heat, 1, 1,
     "backend|threads|ranks|output|report|history|progress|quiet|transport|time_limit|dry_run|"
     "file|every|keep|restart|on_failure"},
    {&COMMAND_quad, check_quad, command_quad, 1, 1,
     "backend|threads|ranks|output|report|seed|progress|quiet|time_limit|dry_run|file|every|keep|"
     "restart|on_failure"},
    {&COMMAND_ode, check_ode, command_ode, 1, 1,
     "backend|threads|ranks|output|report|seed|progress|quiet|time_limit|dry_run|file|every|keep|"
     "restart|on_failure"},
    {&COMMAND_inspect, check_inspect, command_inspect, 0, 0, "threads|ranks|report|quiet"},
    {&COMMAND_convert, check_convert, command_convert, 0, 0, "threads|ranks|output|report|quiet"},
    {&COMMAND_info, check_info, command_info, 0, 1, "threads|ranks|report|quiet"},
    {0},
};

const outside_command COMMANDS_OUTSIDE[] = {
    {"plot", "draw results: history, heat, ode, quad, scale, compare (Python)"},
    {"scale", "a scaling study of a config file: runs, table, figures (Python)"},
    {0},
};

const command_entry *command_find(const char *name) {
  for (const command_entry *entry = COMMANDS; entry->is != NULL; entry++) {
    if (strcmp(entry->is->name, name) == 0) return entry;
  }
  return NULL;
}

/* Only the report goes to standard output; a file called - would come as a surprise. */
static status check_names(const options *o) {
  static const char *const files[] = {"run.output", "run.history"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    const char *path = options_text(o, files[i]);
    if (path == NULL || strcmp(path, "-") != 0) continue;
    return fail(STATUS_USAGE,
                "%s = -: expected a file name; only --report goes to standard output (./- names a "
                "file)",
                options_where(o, files[i]));
  }
  return STATUS_OK;
}

int command_honours(const command_entry *entry, const option *is) {
  if (strcmp(is->key, OPTION_ANY_KEY) == 0) return options_word_in(entry->is->uses, is->section);
  return entry->honours == NULL || options_word_in(entry->honours, is->key);
}

/* A common key that would have no effect, given by hand. */
static status check_honoured(const command_entry *entry, const options *o) {
  for (const option *is = OPTIONS_COMMON; is->section != NULL; is++) {
    char key[2 * OPTIONS_NAME_MAX];
    if (strcmp(is->key, OPTION_ANY_KEY) == 0 || command_honours(entry, is)) continue;
    snprintf(key, sizeof key, "%.60s.%.60s", is->section, is->key);
    if (!options_given(o, key) || strncmp(options_where(o, key), "--", 2) != 0) continue;
    return fail(STATUS_USAGE,
                "%s: '%s' makes no use of it (halosweep %s --help lists what it does)",
                options_where(o, key), entry->is->name, entry->is->name);
  }
  return STATUS_OK;
}

status command_check(const command_entry *entry, const options *o) {
  status rc = check_honoured(entry, o);
  if (rc == STATUS_OK) rc = check_names(o);
  return rc != STATUS_OK || entry->check == NULL ? rc : entry->check(o);
}
