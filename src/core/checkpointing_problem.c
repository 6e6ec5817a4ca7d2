/* Comparing problems: two INI texts of ours (one "key = value" a line under [section]), by keys, so
 * that a refusal can name what differs. */
#include <stdio.h>
#include <string.h>

#include "checkpointing_internal.h"

enum { PART = 64 };

typedef struct ini_line {
  char section[PART], key[PART];
  const char *value;
  int length;
} ini_line;

/* The next key of the text; 0 at its end. */
static int next_line(const char **at, ini_line *line) {
  while (**at != '\0') {
    const char *begin = *at, *end = strchr(begin, '\n');
    if (end == NULL) end = begin + strlen(begin);
    *at = *end == '\0' ? end : end + 1;
    const char *equals = memchr(begin, '=', (size_t)(end - begin));
    if (*begin == '[') {
      snprintf(line->section, PART, "%.*s", (int)strcspn(begin + 1, "]\n"), begin + 1);
    } else if (equals != NULL && equals > begin + 1 && equals + 1 < end) {
      snprintf(line->key, PART, "%.*s", (int)(equals - begin) - 1, begin);
      line->value = equals + 2;
      line->length = (int)(end - line->value);
      return 1;
    }
  }
  return 0;
}

static int find(const char *text, const ini_line *wanted, ini_line *found) {
  memset(found, 0, sizeof *found);
  while (next_line(&text, found)) {
    if (strcmp(found->section, wanted->section) == 0 && strcmp(found->key, wanted->key) == 0) {
      return 1;
    }
  }
  return 0;
}

static int add(char *out, size_t room, const char *format, const ini_line *line, int a,
               const char *there, int b, const char *here) {
  const size_t length = strlen(out);
  snprintf(out + length, room - length, format, length > 0 ? "; " : "", line->section, line->key,
           a > 60 ? 60 : a, there, b > 60 ? 60 : b, here);
  return 1;
}

int problems_differ(const char *there, const char *here, char *out, size_t room) {
  static const char format[] = "%s%s.%s: %.*s in the checkpoint, %.*s in this run";
  int differ = 0;
  ini_line a, b;
  out[0] = '\0';
  memset(&a, 0, sizeof a);
  for (const char *at = there; next_line(&at, &a);) {
    if (!find(here, &a, &b)) {
      differ |= add(out, room, format, &a, a.length, a.value, 4, "none");
    } else if (a.length != b.length || memcmp(a.value, b.value, (size_t)a.length) != 0) {
      differ |= add(out, room, format, &a, a.length, a.value, b.length, b.value);
    }
  }
  memset(&b, 0, sizeof b);
  for (const char *at = here; next_line(&at, &b);) {
    if (!find(there, &b, &a)) differ |= add(out, room, format, &b, 4, "none", b.length, b.value);
  }
  return differ;
}
