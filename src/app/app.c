/* A run from start to end: the only place that starts MPI and that ends the program.
 *
 *   words -> command (or libexec/halosweep-X) -> options -> MPI -> launcher checks -> threads ->
 *   the command -> agreement -> exit code
 *
 * Everything before MPI is local and the same on every process; of a launcher's processes only its
 * rank 0 speaks then. */
#define _GNU_SOURCE
#include "app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fp_check.h"
#include "helper.h"
#include "log.h"
#include "stop.h"
#include "team.h"

enum { PATH_ROOM = 4096 };

/* The end of a run that failed before MPI: the launcher's rank 0 says why. The others wait a
 * moment, since mpirun kills the job at the first failing exit, and the text could be lost. */
static int give_up(const launcher *l, status rc) {
  if (l->rank == 0) {
    log_error("%s", fail_text()[0] != '\0' ? fail_text() : "failed without saying why");
  } else {
    const struct timespec moment = {0, 400000000};
    nanosleep(&moment, NULL);
  }
  return (int)rc;
}

static int is_command_name(const char *name) {
  size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_");
  return length > 0 && name[length] == '\0' && name[0] != '-' && length < OPTIONS_NAME_MAX;
}

/* The folder of this binary, with a slash; 0 when unknown. */
static int own_folder(char out[PATH_ROOM]) {
  ssize_t length = readlink("/proc/self/exe", out, PATH_ROOM - 1);
  if (length <= 0) return 0;
  out[length] = '\0';
  char *slash = strrchr(out, '/');
  if (slash == NULL) return 0;
  slash[1] = '\0';
  return 1;
}

/* This binary, in HALOSWEEP: a command outside that starts halosweep starts the one it came from.
 */
static void say_who_runs(void) {
  char self[PATH_ROOM];
  ssize_t length = readlink("/proc/self/exe", self, PATH_ROOM - 1);
  if (length <= 0) return;
  self[length] = '\0';
  setenv("HALOSWEEP", self, 1);
}

/* Runs libexec/halosweep-NAME in place of this process; comes back when there is none. */
static status run_external(const char *name, char **argv) {
  char folder[PATH_ROOM], path[2 * PATH_ROOM] = "";
  const char *said = getenv("HALOSWEEP_LIBEXEC");
  for (int place = 0; place < 2; place++) {
    if (place == 0) {
      if (said == NULL || *said == '\0') continue;
      snprintf(path, sizeof path, "%.4000s/halosweep-%s", said, name);
    } else {
      if (!own_folder(folder)) continue;
      snprintf(path, sizeof path, "%s../libexec/halosweep/halosweep-%s", folder, name);
    }
    if (access(path, F_OK) != 0) continue;
    argv[0] = path;
    say_who_runs();
    execv(path, argv);
    return fail(STATUS_UNAVAILABLE, "%s: cannot be run", path);
  }
  for (const outside_command *is = COMMANDS_OUTSIDE; is->name != NULL; is++) {
    if (strcmp(name, is->name) != 0) continue;
    return fail(STATUS_UNAVAILABLE,
                "'%s' is a program of its own, which is not here: %s (install halosweep, or name "
                "its folder in HALOSWEEP_LIBEXEC)",
                name, path);
  }
  return STATUS_OK;
}

static status unknown_command(const char *name) {
  char names[512] = "", near[OPTIONS_NAME_MAX];
  for (const command_entry *e = COMMANDS; e->is != NULL; e++) {
    size_t length = strlen(names);
    snprintf(names + length, sizeof names - length, "%s%s", length > 0 ? "|" : "", e->is->name);
  }
  for (const outside_command *e = COMMANDS_OUTSIDE; e->name != NULL; e++) {
    size_t length = strlen(names);
    snprintf(names + length, sizeof names - length, "|%s", e->name);
  }
  int found = options_nearest(name, names, near);
  return fail(STATUS_USAGE, "unknown command '%.60s'; expected one of %s%s%s%s", name, names,
              found ? "; did you mean '" : "", near, found ? "'?" : "");
}

/* One of the words that print and end; *entry is set when a command is to be run instead. */
static status first_words(int argc, char **argv, const launcher *l, const command_entry **entry) {
  const char *word = argc > 1 ? argv[1] : NULL;
  int speaks = l->rank == 0;
  *entry = NULL;
  if (word == NULL) {
    return fail(STATUS_USAGE, "no command; halosweep --help lists them");
  }
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
    const command_entry *about = argc > 2 ? command_find(argv[2]) : NULL;
    if (speaks && about != NULL) help_command(about);
    if (speaks && about == NULL) help_global();
    return STATUS_OK;
  }
  if (strcmp(word, "--version") == 0) {
    if (speaks) puts("halosweep " HALOSWEEP_VERSION);
    return STATUS_OK;
  }
  if (strcmp(word, "--man") == 0) { /* how the build makes the manual page */
    if (speaks) help_manual();
    return STATUS_OK;
  }
  if (word[0] == '-') {
    return fail(STATUS_USAGE, "%.60s before a command; expected halosweep COMMAND --key value ...",
                word);
  }
  *entry = command_find(word);
  if (*entry == NULL) {
    status rc = is_command_name(word) ? run_external(word, argv + 1) : STATUS_OK;
    return rc != STATUS_OK ? rc : unknown_command(word);
  }
  for (int i = 2; i < argc; i++) {
    if (strcmp(argv[i], "--help") != 0 && strcmp(argv[i], "-h") != 0) continue;
    if (speaks) help_command(*entry);
    *entry = NULL;
    break;
  }
  return STATUS_OK;
}

/* Values of sections with free keys that the command does not compute with: given on the command
 * line they are a mistake, while those of a file may be meant for another command. */
static void warn_of_unused(const command_entry *entry, const options *o) {
  for (const option *is = OPTIONS_COMMON; is->section != NULL; is++) {
    const char *name;
    if (strcmp(is->key, OPTION_ANY_KEY) != 0 || command_honours(entry, is)) continue;
    for (int k = 0; (name = options_free_key(o, is->section, k)) != NULL; k++) {
      char key[2 * OPTIONS_NAME_MAX + 2];
      snprintf(key, sizeof key, "%.60s.%.60s", is->section, name);
      if (strncmp(options_where(o, key), "--", 2) != 0) continue;
      log_warning("%s has no effect: '%s' does not use [%s]", options_where(o, key),
                  entry->is->name, is->section);
    }
  }
}

/* With MPI running: checks of the launch, threads, the command. Ends with an agreement, so the code
 * is the same on all ranks and its text has been printed. */
static status run_with_mpi(const command_entry *entry, options *o, comm *c, compiler *w) {
  status rc = STATUS_OK;
  placement seat;
  char number[32];
  run_context run = {.o = o, .c = c, .compiler = w, .started = comm_clock(), .seat = &seat};
  TRY(comm_agree(c, fp_check("at start"))); /* MPI has loaded its plug-ins by now */
  TRY(launch_place(c, options_integer(o, "run.threads"), &seat));
  TRY(launch_announce(c, HALOSWEEP_VERSION, entry->is->name, &seat));
  warn_of_unused(entry, o);
  run.threads = seat.threads;
  TRY(comm_agree(c, team_check(run.threads)));
  snprintf(number, sizeof number, "%d", seat.threads);
  TRY(comm_agree(c, options_override(o, "run.threads", number)));
  rc = entry->run(&run);
done:
  return comm_agree(c, rc);
}

int app_main(int argc, char **argv) {
  launcher l = launch_read();
  const command_entry *entry = NULL;
  options *o = NULL;
  comm *c = NULL;
  compiler *w = NULL;
  status rc = STATUS_OK;
  TRY(first_words(argc, argv, &l, &entry));
  if (entry == NULL) goto done;
  TRY(options_load(entry->is, argc - 2, argv + 2, &o));
  TRY(command_check(entry, o));
  if (entry->stops) TRY(stop_install());
  if (entry->compiles) TRY(helper_start(&w));
  TRY(comm_open(&argc, &argv, &c));
  compiler_settle(w, c);
  if (comm_rank(c) != 0) l.rank = comm_rank(c);
  TRY(launch_check(&l, options_integer(o, "run.ranks"), comm_size(c)));
  log_open(comm_rank(c) == 0, options_flag(o, "run.quiet"));
  rc = run_with_mpi(entry, o, c, w);
  compiler_close(&w);
  fail_clear();
  options_release(&o);
  comm_close(&c);
  if (rc == STATUS_OK && (fflush(stdout) != 0 || ferror(stdout))) {
    log_error("standard output cannot be written");
    rc = STATUS_IO;
  }
  return (int)rc;
done:
  compiler_close(&w);
  options_release(&o);
  if (rc == STATUS_OK) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    rc = fail(STATUS_IO, "standard output cannot be written");
  }
  int code = give_up(&l, rc);
  if (c != NULL) comm_close(&c);
  return code;
}
