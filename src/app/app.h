/* What main() starts once the CPU is known to be able to run it, and the texts of help.c. */
#ifndef APP_H
#define APP_H

#include "commands.h"

/* Parses the command line, runs the command, returns the exit code. */
int app_main(int argc, char **argv);

/* To standard output. */
void help_global(void);
void help_command(const command_entry *entry);
void help_manual(void);

#endif
