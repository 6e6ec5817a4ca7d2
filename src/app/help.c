/* The help texts and the manual page, generated from the option tables: what is not in a table is
 * not documented, and what is documented is there. */
#include <stdio.h>
#include <string.h>

#include "app.h"

enum { WIDTH = 96, INDENT = 28 };

/* What a value looks like, for the left column. */
static const char *value_name(const option *is) {
  switch (is->type) {
  case OPTION_WORD:
    return is->words;
  case OPTION_INPUT:
  case OPTION_OUTPUT:
    return "FILE";
  case OPTION_INTEGER:
    return "N";
  case OPTION_REAL:
    return "NUMBER";
  case OPTION_FLAG:
    return "";
  case OPTION_DURATION:
    return "TIME";
  case OPTION_SIZE:
    return "SIZE";
  case OPTION_INTERVAL:
    return "TIME|N";
  case OPTION_REALS:
  case OPTION_INTEGERS:
  case OPTION_TUPLES:
    return "LIST";
  default:
    return "TEXT";
  }
}

/* The key as it is written on the command line: keys of a command and of [run] need no prefix. */
static void option_name(const option *is, int bare, char *out, size_t room) {
  const char *key = strcmp(is->key, OPTION_ANY_KEY) == 0 ? "NAME" : is->key;
  const char *value = value_name(is);
  char words[192] = "";
  if (is->type != OPTION_WORD && is->words != NULL) snprintf(words, sizeof words, "|%s", is->words);
  snprintf(out, room, "--%s%s%s%s%s%s", bare ? "" : is->section, bare ? "" : ".", key,
           *value == '\0' ? "" : " ", value, words);
}

static void option_help(const option *is, char *out, size_t room) {
  int shown = is->fallback != NULL && is->type != OPTION_FLAG;
  snprintf(out, room, "%s%s%s%s", is->help, shown ? " (" : "", shown ? is->fallback : "",
           shown ? ")" : "");
}

/* Prints words from column `at` on, breaking lines before WIDTH. */
static void print_wrapped(const char *text, int at) {
  while (*text != '\0') {
    int length = (int)strcspn(text, " ");
    if (at + 1 + length > WIDTH && at > INDENT) {
      printf("\n%*s", INDENT, "");
      at = INDENT;
    }
    printf("%s%.*s", at > INDENT ? " " : "", length, text);
    at += length + (at > INDENT);
    text += length;
    while (*text == ' ') text++;
  }
  printf("\n");
}

static void print_option(const option *is, int bare) {
  char name[512], help[512];
  option_name(is, bare, name, sizeof name);
  option_help(is, help, sizeof help);
  if ((int)strlen(name) + 4 > INDENT) {
    printf("  %s\n%*s", name, INDENT, "");
  } else {
    printf("  %-*s", INDENT - 2, name);
  }
  print_wrapped(help, INDENT);
}

static int is_bare(const option *is) {
  return is->section != NULL && strcmp(is->section, "checkpoint") != 0 &&
         strcmp(is->key, OPTION_ANY_KEY) != 0;
}

/* `of`: only what this command honours; NULL: all. */
static void print_table(const option *table, const command_entry *of) {
  const char *section = "";
  for (const option *is = table; is->section != NULL; is++) {
    if (of != NULL && !command_honours(of, is)) continue;
    if (strcmp(is->section, section) != 0) printf("\n[%s]\n", is->section);
    section = is->section;
    print_option(is, is_bare(is));
  }
}

void help_global(void) {
  puts(
      "usage: [mpirun -n P] halosweep COMMAND [FILE.ini] [MAIN] [--key value | --section.key value]"
      " ...\n\ncommands:");
  for (const command_entry *e = COMMANDS; e->is != NULL; e++) {
    printf("  %-10s %s\n", e->is->name, e->is->help);
  }
  for (const outside_command *e = COMMANDS_OUTSIDE; e->name != NULL; e++) {
    printf("  %-10s %s\n", e->name, e->help);
  }
  puts("\nhalosweep COMMAND --help lists a command's options; halosweep --version; halosweep X "
       "runs\n"
       "libexec/halosweep/halosweep-X when X is not a command.\n\noptions of every command:");
  print_table(OPTIONS_COMMON, NULL);
}

void help_command(const command_entry *entry) {
  const command *is = entry->is;
  printf("usage: halosweep %s [FILE.ini]%s%s%s [--key value] ...\n%s\n", is->name,
         is->main_key != NULL ? " [" : "", is->main_key != NULL ? is->main_key : "",
         is->main_key != NULL ? "]" : "", is->help);
  print_table(is->options, NULL);
  print_table(OPTIONS_COMMON, entry);
  puts("\nThe same keys go into FILE.ini as `key = value` under their [section]; the command line "
       "wins.");
}

/* ---- the manual page (troff, man macros) ---- */

/* Text with what troff would take as its own escaped. */
static void troff(const char *text) {
  if (*text == '.' || *text == '\'') fputs("\\&", stdout);
  for (; *text != '\0'; text++) {
    if (*text == '\\') {
      fputs("\\e", stdout);
    } else if (*text == '-') {
      fputs("\\-", stdout);
    } else {
      putchar(*text);
    }
  }
}

static void troff_line(const char *text) {
  troff(text);
  putchar('\n');
}

static void troff_item(const char *term, const char *text) {
  puts(".TP");
  fputs(".B \"", stdout);
  troff(term);
  puts("\"");
  troff_line(text);
}

static void troff_table(const option *table) {
  const char *section = "";
  for (const option *is = table; is->section != NULL; is++) {
    char name[512], help[512];
    if (strcmp(is->section, section) != 0) printf(".SS [%s]\n", is->section);
    section = is->section;
    option_name(is, is_bare(is), name, sizeof name);
    option_help(is, help, sizeof help);
    troff_item(name, help);
  }
}

typedef struct item {
  const char *term, *text;
} item;

static const item GRAMMAR[] = {
    {"[section], key = value",
     "Names are lower case, - and _ are the same. Repeated keys and sections "
     "and unknown names are errors; sections of other commands are skipped."},
    {"# or ;", "begin a comment at the start of a line or after a blank, outside double quotes. "
               "Indented lines continue a value."},
    {"numbers",
     "may use pi, + - * / ^ and parentheses; integers may be written 1e6; inf where a limit "
     "may be infinite."},
    {"durations", "30s, 5m, 2h, [D-]HH:MM:SS or MM:SS; sizes K, M, G, T are powers of 1024."},
    {"lists", "have commas between their items; on the command line quote them: --n \"10, 20\"."},
    {"files",
     "to read are relative to the INI that names them; all others to the working directory. "
     "~ and $VAR are not expanded."},
    {0},
};

static const item ENVIRONMENT[] = {
    {"OMP_NUM_THREADS, SLURM_CPUS_PER_TASK", "threads per rank where --threads is not given."},
    {"HALOSWEEP_LIBEXEC", "a folder looked in first for halosweep-X."},
    {0},
};

static const item EXITS[] = {
    {"0", "done; converged where that applies"},
    {"1", "internal error: please report"},
    {"2", "wrong usage or configuration"},
    {"3", "bad input file, or input that does not fit the method"},
    {"4", "stopped without converging"},
    {"5", "diverged or broke down"},
    {"6", "writing failed, or a damaged checkpoint"},
    {"7", "not available here: no GPU, not enough memory, wrong launcher, CPU too old"},
    {"8", "a device, MPI or a node failed in mid-run"},
    {"75", "stopped on request with a checkpoint written: run again to go on"},
    {0},
};

static void troff_items(const char *title, const item *list) {
  printf(".SH %s\n", title);
  for (; list->term != NULL; list++) troff_item(list->term, list->text);
}

void help_manual(void) {
  puts(".TH HALOSWEEP 1 \"\" \"halosweep " HALOSWEEP_VERSION "\" \"User Commands\"\n.SH NAME\n"
       "halosweep \\- distributed solvers with the same bits on any number of ranks and threads\n"
       ".SH SYNOPSIS\n[\\fBmpirun \\-n\\fR \\fIP\\fR] \\fBhalosweep\\fR \\fICOMMAND\\fR "
       "[\\fIFILE.ini\\fR] [\\fIMAIN\\fR] [\\fB\\-\\-key\\fR \\fIvalue\\fR] ...\n.SH COMMANDS");
  for (const command_entry *e = COMMANDS; e->is != NULL; e++) troff_item(e->is->name, e->is->help);
  for (const outside_command *e = COMMANDS_OUTSIDE; e->name != NULL; e++) {
    troff_item(e->name, e->help);
  }
  puts(".PP\nAnother word X runs libexec/halosweep/halosweep\\-X.");
  for (const command_entry *e = COMMANDS; e->is != NULL; e++) {
    if (e->is->options->section == NULL) continue;
    printf(".SH \"OPTIONS OF %s\"\n", e->is->name);
    if (e->is->main_key != NULL) {
      printf("A word that is neither FILE.ini nor the value of a key sets \\fB%s\\fR.\n",
             e->is->main_key);
    }
    troff_table(e->is->options);
  }
  puts(".SH \"OPTIONS OF EVERY COMMAND\"");
  troff_table(OPTIONS_COMMON);
  troff_items("\"CONFIG FILE\"", GRAMMAR);
  troff_items("ENVIRONMENT", ENVIRONMENT);
  troff_items("\"EXIT STATUS\"", EXITS);
}
