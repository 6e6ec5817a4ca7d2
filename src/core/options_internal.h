/* What the files of the option table share; nobody else includes this. */
#ifndef OPTIONS_INTERNAL_H
#define OPTIONS_INTERNAL_H

#include <stddef.h>

#include "ini.h"
#include "options.h"
#include "text.h"

enum { INI_WHERE = 1024 }; /* room for "FILE:LINE: key" */

/* One key and what it is now. */
typedef struct setting {
  const option *is;
  char *key;      /* of a free key: our copy; else NULL */
  int given;      /* by file or command line */
  int set;        /* given, default or override */
  char *where;    /* "a.ini:7: n", "--n": begins error texts */
  char *standard; /* the default as text; NULL: none */
  char *text;     /* the value as it is written in a config; text values without quotes */
  int word;       /* an INPUT or a number that is one of the words */
  int64_t integer;
  double real;
  double *reals;
  int64_t *integers;
  int count;  /* of list items */
  int length; /* of each of the tuples */
} setting;

struct options {
  const command *cmd;
  char *file; /* the config file, NULL: none */
  setting *setting;
  int64_t count, room;
  text_builder effective, problem;
};

/* The sections of commands other than `cmd` and [cmd] itself: legal in a file, not looked at. */
int options_foreign_section(const command *cmd, const char *section);

const char *setting_key(const setting *s);
void setting_release(setting *s);

/* Reads `value` (config grammar) as the option's type into *s. `directory` goes in front of a
 * relative INPUT ("" or "dir/"). On failure *s keeps what it had. Errors begin with s->where. */
status setting_read(setting *s, const char *value, const char *directory);

/* A private copy, freed with alloc_free. */
status text_copy(char **out, const char *text);

/* One key the user wrote, resolved: names in canonical form. */
typedef struct named_key {
  char section[OPTIONS_NAME_MAX], key[OPTIONS_NAME_MAX];
} named_key;

/* The descriptor of section.key, or NULL. */
const option *options_find(const command *cmd, const char *section, const char *key);

/* "section.key" or a bare or alias name from the command line. STATUS_USAGE naming the nearest
 * known name and, for habits of other programs, ours. `shown` is the name as it was written. */
status options_resolve(const command *cmd, const char *name, const char *shown, named_key *out,
                       const option **found);

/* The error for an unknown key of a known section. */
status options_unknown_key(const command *cmd, const char *where, const char *section,
                           const char *key);

/* The error for an unknown section. */
status options_unknown_section(const command *cmd, const char *where, const char *section);

#endif
