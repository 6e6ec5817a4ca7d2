/* The table of commands. */
#include "commands.h"

#include <string.h>

const command_entry COMMANDS[] = {
    {&COMMAND_solve, check_solve, command_solve, 1},
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

status command_check(const command_entry *entry, const options *o) {
  return entry->check == NULL ? STATUS_OK : entry->check(o);
}
