/* The table of commands. */
#include "commands.h"

#include <string.h>

const command_entry COMMANDS[] = {
    {&COMMAND_solve, check_solve, command_solve, 1},
    {&COMMAND_quad, check_quad, command_quad, 1},
    {&COMMAND_inspect, check_inspect, command_inspect, 0},
    {&COMMAND_info, NULL, command_info, 0},
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

status command_check(const command_entry *entry, const options *o) {
  status rc = check_names(o);
  return rc != STATUS_OK || entry->check == NULL ? rc : entry->check(o);
}
