/* The commands: a table of what halosweep can do, and what a command gets to do it with.
 *
 * Adding one: src/app/NAME.c with command_NAME, its options in src/app/options_NAME.c, one line in
 * commands.c. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "comm.h"
#include "compile.h"
#include "launch.h"
#include "options.h"
#include "status.h"

typedef struct run_context {
  options *o;
  comm *c;
  int threads;           /* of this rank */
  double started;        /* comm_clock() when the run began */
  const placement *seat; /* cores and sharing, for the report */
  compiler *compiler;    /* of commands that compile, else NULL */
} run_context;

typedef struct command_entry {
  const command *is;
  /* What the table cannot say (exactly one of two keys). Local, before MPI starts. May be NULL. */
  status (*check)(const options *o);
  /* The work. Collective: every rank calls it, each returns its own status (main agrees on it). */
  status (*run)(run_context *run);
  int stops;    /* looks at requests to stop (stop.h), and saves */
  int compiles; /* may compile formulas (function.h) */
  /* The keys of [run] and [checkpoint] that it looks at, "threads|ranks|..."; NULL: all of them.
   * Others on its command line are refused; in a file they may be meant for other commands. */
  const char *honours;
} command_entry;

/* Ends with a zeroed one. */
extern const command_entry COMMANDS[];

const command_entry *command_find(const char *name);

/* Commands of our own that are programs in libexec (Python: analysis/). Ends with a zeroed one. */
typedef struct outside_command {
  const char *name, *help;
} outside_command;

extern const outside_command COMMANDS_OUTSIDE[];

/* Whether an option of OPTIONS_COMMON has an effect on the command. Local. */
int command_honours(const command_entry *entry, const option *is);

/* Checks that hold for every command, then its own. Local, before MPI starts. */
status command_check(const command_entry *entry, const options *o);

/* The tables, one file each (src/app/options_NAME.c). */
extern const command COMMAND_solve, COMMAND_heat, COMMAND_quad, COMMAND_ode, COMMAND_inspect,
    COMMAND_info, COMMAND_convert;

status check_solve(const options *o);
status check_heat(const options *o);
status check_quad(const options *o);
status check_ode(const options *o);
status check_inspect(const options *o);
status check_info(const options *o);
status check_convert(const options *o);

status command_solve(run_context *run);
status command_heat(run_context *run);
status command_quad(run_context *run);
status command_ode(run_context *run);
status command_inspect(run_context *run);
status command_info(run_context *run);
status command_convert(run_context *run);

#endif
