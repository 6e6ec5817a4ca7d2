/* The typed option table: what may be set, by whom, and what it is now.
 *
 * A command lists its options as const descriptors; the config file, the command line, `--help`,
 * the man page and the report's `config` all come from that one table. Values are checked when they
 * are loaded (docs/handbook.md has the grammar), so the getters cannot fail: asking for a key that
 * is not in the table, or as another type, is a bug and aborts. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdint.h>

#include "status.h"

typedef enum option_type {
  OPTION_WORD,   /* one of `words` */
  OPTION_TEXT,   /* any text: a value that may be a word, a file or an expression */
  OPTION_INPUT,  /* a file to read; relative to the INI that names it, else to the working directory
                  */
  OPTION_OUTPUT, /* a file to write; relative to the working directory */
  OPTION_INTEGER,  /* 64-bit; 1e6 is accepted */
  OPTION_REAL,     /* a double; pi and arithmetic are accepted */
  OPTION_FLAG,     /* on/off; given without a value it is on */
  OPTION_DURATION, /* seconds: 30s, 5m, 2h, [D-]HH:MM:SS, MM:SS */
  OPTION_SIZE,     /* bytes: K M G T */
  OPTION_INTERVAL, /* a duration, or a bare count */
  OPTION_REALS,    /* a list of reals */
  OPTION_INTEGERS  /* a list of integers */
} option_type;

enum { OPTION_PROBLEM = 1 }; /* flag: a problem key: a checkpoint of another value does not fit */

typedef struct option {
  const char *section, *key;
  option_type type;
  const char *fallback;    /* default, in the config grammar; NULL: none */
  const char *words;       /* OPTION_WORD: "auto|omp|ref" */
  double minimum, maximum; /* of numbers and of each list entry; both 0: no bounds */
  unsigned flags;
  const char *help; /* one line, with the unit */
} option;

typedef struct command {
  const char *name;
  const char *help;      /* one line */
  const char *main_key;  /* what a positional that is not an INI sets; NULL: none */
  const option *options; /* its own section's; ends with a zeroed one */
} command;

typedef struct options options;

/* Reads a command's options: file (may be absent), then command line. `arguments` are the words
 * after the command. STATUS_USAGE with file and line, what was found, what was expected, the
 * nearest known name. Local: every rank parses the same text. */
status options_load(const command *cmd, int count, char *const *arguments, options **out);
void options_release(options **o);

/* Keys are written "section.key". */
int options_given(const options *o, const char *key); /* set by file or command line */
int options_has(const options *o, const char *key);   /* given, or has a default */
const char *options_text(const options *o,
                         const char *key); /* WORD, TEXT, INPUT, OUTPUT; NULL: not set */
int64_t options_integer(const options *o, const char *key); /* INTEGER, SIZE */
double options_real(const options *o, const char *key);     /* REAL, DURATION */
int options_flag(const options *o, const char *key);
int options_reals(const options *o, const char *key, const double **values);     /* how many */
int options_integers(const options *o, const char *key, const int64_t **values); /* how many */
/* INTERVAL: *seconds or *count is set, the other is 0. */
void options_interval(const options *o, const char *key, double *seconds, int64_t *count);

/* A value the program decided (auto), for the effective config. */
status options_override(options *o, const char *key, const char *value);

/* The effective config as INI text that reproduces the run (inputs as absolute paths). Owned by
 * `o`. */
const char *options_effective(options *o);

/* The same restricted to problem keys, for checkpoints. Owned by `o`. */
const char *options_problem(options *o);

#endif
