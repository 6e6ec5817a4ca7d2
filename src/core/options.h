/* The typed option table: what may be set, by whom, and what it is now.
 *
 * A command lists its options as const descriptors; the config file, the command line, `--help`,
 * the man page and the report's `config` all come from that one table. Values are checked when they
 * are loaded (docs/handbook.md has the grammar), so the getters cannot fail: asking for a key that
 * is not in the table, or as another type, is a bug and aborts.
 *
 * Cost: keys are looked up by comparing names; read options before a loop, not in it. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdint.h>

#include "status.h"

typedef enum option_type {
  OPTION_WORD,     /* one of `words` */
  OPTION_TEXT,     /* any text: a value that may be a word, a file or an expression */
  OPTION_INPUT,    /* a file to read, or one of `words`; relative to the INI that names it, else to
                      the working directory */
  OPTION_OUTPUT,   /* a file to write; relative to the working directory */
  OPTION_INTEGER,  /* 64-bit; 1e6 is accepted; or one of `words`, if there are any */
  OPTION_REAL,     /* a double; pi and arithmetic are accepted; or one of `words` (auto) */
  OPTION_FLAG,     /* on/off; given without a value it is on */
  OPTION_DURATION, /* seconds: 30s, 5m, 2h, [D-]HH:MM:SS, MM:SS */
  OPTION_SIZE,     /* bytes: K M G T */
  OPTION_INTERVAL, /* a duration, or a bare count */
  OPTION_REALS,    /* a list of reals */
  OPTION_INTEGERS, /* a list of integers */
  OPTION_TUPLES    /* a list of tuples of reals, all of one length: (0.5, 0.5), (0.2, 0.2) */
} option_type;

enum {
  OPTION_PROBLEM = 1, /* a problem key: a checkpoint of another value does not fit */
  OPTION_ONCE = 2     /* of this run alone: not part of the config that reproduces its result */
};

/* The key of a section whose keys the user makes up ([parameters]): one descriptor for all. */
#define OPTION_ANY_KEY "*"

typedef struct option {
  const char *section, *key;
  option_type type;
  const char *fallback;    /* default, in the config grammar; NULL: none */
  const char *words;       /* OPTION_WORD, INPUT, INTEGER, REAL: "auto|omp|ref" */
  double minimum, maximum; /* of numbers and of each list entry; both 0: any finite one. An infinite
                              bound admits inf; minimum OPTION_POSITIVE: above 0 */
  unsigned flags;
  const char *help; /* one line, with the unit */
} option;

#define OPTION_POSITIVE  0x1p-1074               /* the smallest double above 0 */
#define OPTION_FINITE    0x1.fffffffffffffp+1023 /* the largest finite double */
#define OPTION_COUNT_MAX 9007199254740992.0      /* 2^53 */

typedef struct command {
  const char *name;
  const char *help;      /* one line */
  const char *main_key;  /* what a positional that is not an INI sets; NULL: none */
  const option *options; /* its own section's (several, sorted); ends with a zeroed one */
  const char *uses;      /* sections of free keys common to all that it computes with:
                            "parameters|sweep"; NULL: none */
} command;

typedef struct options options;

/* The options every command has ([run], [checkpoint], ...); ends with a zeroed one. */
extern const option OPTIONS_COMMON[];

/* Every section that belongs to some command, of this version or not, as "a|b|c". */
extern const char OPTIONS_SECTIONS[];

/* Whether `word` is one of the words in "a|b|c" (NULL: none). */
int options_word_in(const char *words, const char *word);

/* Reads a command's options: file (may be absent), then command line. `arguments` are the words
 * after the command. STATUS_USAGE with file and line, what was found, what was expected, the
 * nearest known name. Local: every rank parses the same text. */
status options_load(const command *cmd, int count, char *const *arguments, options **out);
void options_release(options **o);

/* Keys are written "section.key". Where a key is neither given nor has a default, the getters
 * return NULL, 0, or a list of no values. */
int options_given(const options *o, const char *key); /* set by file or command line */
int options_has(const options *o, const char *key);   /* given, or has a default */
/* Given as what it is by default anyway, as in a config written by options_effective. */
int options_is_default(const options *o, const char *key);
const char *options_text(const options *o,
                         const char *key); /* WORD, TEXT, INPUT, OUTPUT, and numbers that may be
                                              words; NULL: not set */
int64_t options_integer(const options *o, const char *key); /* INTEGER, SIZE */
double options_real(const options *o, const char *key);     /* REAL, DURATION */
int options_flag(const options *o, const char *key);
int options_reals(const options *o, const char *key, const double **values);     /* how many */
int options_integers(const options *o, const char *key, const int64_t **values); /* how many */
/* TUPLES: how many; *values has `*length` numbers for each, one tuple after the other. */
int options_tuples(const options *o, const char *key, const double **values, int *length);
/* INTERVAL: *seconds or *count is set, the other is 0. */
void options_interval(const options *o, const char *key, double *seconds, int64_t *count);

/* Whether the value of an INPUT or a number is one of its words; a number reads as 0 then. */
int options_is_word(const options *o, const char *key);

/* The keys of a section with free keys, in the order given (file, then command line); NULL past the
 * last. options_real(o, "parameters.sigma") and so on read them. */
const char *options_free_key(const options *o, const char *section, int index);

/* The config file that was read, NULL when there was none. */
const char *options_file(const options *o);

/* The `index`-th value that is a file of this type: OPTION_INPUT (its words are no files) or
 * OPTION_OUTPUT; NULL past the last. *is: its descriptor. */
const char *options_file_at(const options *o, option_type type, int index, const option **is);

/* Where a given value came from, to begin an error text with: "a.ini:7: n" or "--n". */
const char *options_where(const options *o, const char *key);

/* A value the program decided (auto), for the effective config. */
status options_override(options *o, const char *key, const char *value);

/* The effective config as INI text that reproduces the run (inputs as absolute paths). Owned by
 * `o`. */
const char *options_effective(options *o);

/* The same restricted to problem keys, for checkpoints; input files are "(a file)": their content
 * is the caller's to add. Owned by `o`. */
const char *options_problem(options *o);

/* The nearest of the names in "a|b|c" to `word`, copied to `out`; 0 when none is near. */
enum { OPTIONS_NAME_MAX = 64 };
int options_nearest(const char *word, const char *names, char out[OPTIONS_NAME_MAX]);

#endif
