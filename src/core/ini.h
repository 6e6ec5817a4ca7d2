/* The config reader: `[section]`, `key = value`, one per line; docs/handbook.md has the grammar.
 *
 * Ours because the packaged readers were measured to lose line numbers, split long lines silently
 * and cut quoted text. It yields entries in file order with their lines; values are text without
 * comments, still with their quotes (ini_scalar and ini_list take those off). What a key may hold
 * is the option table's affair (options.h). Local; failures are STATUS_USAGE, "FILE:LINE: ...". */
#ifndef INI_H
#define INI_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

enum { INI_LINE_MAX = 65536, INI_FILE_MAX = 1 << 26 };

typedef struct ini_entry {
  const char *section; /* names in canonical form: lower case, '-' written as '_' */
  const char *key;
  const char *value;
  long line;         /* of the key */
  long section_line; /* of its [section] */
} ini_entry;

typedef struct ini_section {
  const char *name;
  long line;
} ini_section;

typedef struct ini {
  char *text; /* everything below points into it */
  ini_entry *entry;
  int64_t entries, entry_room;
  ini_section *section;
  int64_t sections, section_room;
} ini;

/* Parses `length` bytes; `name` is for error texts. *out is released on failure. */
status ini_parse(const char *name, const char *text, size_t length, ini *out);

/* Reads and parses a file. */
status ini_read(const char *path, ini *out);

void ini_release(ini *i);

/* A value from the command line, by the rules of a value in a file: comments and blanks around go,
 * later lines continue the first. Writes over `text`; *out points into it. `where` begins error
 * texts. */
status ini_argument(const char *where, char *text, char **out);

/* One value without its quotes, which must enclose all of it. Writes over `text`. NULL and *out on
 * success, else what is wrong. */
const char *ini_scalar(char *text, char **out);

/* The next item of a list, without its quotes: commas at top level separate, those in parentheses,
 * brackets or quotes do not. *rest is moved on, and is NULL after the last item; on failure *item
 * is the offending text. Writes over the text. */
const char *ini_list(char **rest, char **item);

/* '-' becomes '_'. 0 when `name` is not a name: a lower-case letter, then letters, digits, '_'. */
int ini_canonical(char *name);

#endif
