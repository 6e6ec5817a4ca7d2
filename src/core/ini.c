/* The config reader (ini.h): one pass over a private copy of the text, which is cut in place; a
 * continued value moves left over the line break before it, so nothing is ever copied out. Cost:
 * linear, plus the square of the number of keys in a section (they are compared for repeats). */
#include "ini.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "alloc.h"

typedef struct reader {
  const char *name;
  ini *to;
  long line;
  int has_section;
  long section_line;
  const char *section;
  char *value_end; /* where the last value ends, for continuation; NULL: nothing to continue */
} reader;

static int blank(char c) { return c == ' ' || c == '\t'; }

void ini_release(ini *i) {
  alloc_free(&i->text);
  alloc_free(&i->entry);
  alloc_free(&i->section);
  memset(i, 0, sizeof *i);
}

int ini_canonical(char *name) {
  if (!(*name >= 'a' && *name <= 'z')) return 0;
  for (char *p = name; *p != '\0'; p++) {
    if (*p == '-') *p = '_';
    if (!((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_')) return 0;
  }
  return 1;
}

/* Moves *end back over a comment and the blanks before it. 0: a quote is left open. */
static int cut_comment(const char *begin, char **end) {
  int quoted = 0;
  char *p;
  for (p = (char *)begin; p < *end; p++) {
    if (*p == '"') quoted = !quoted;
    if (!quoted && (*p == '#' || *p == ';') && (p == begin || blank(p[-1]))) break;
  }
  if (quoted) return 0;
  while (p > begin && blank(p[-1])) p--;
  *end = p;
  return 1;
}

static int has_control(const char *p, const char *end) {
  for (; p < end; p++) {
    if (((unsigned char)*p < 32 && *p != '\t') || *p == 127) return 1;
  }
  return 0;
}

static status repeated(const reader *r, const char *what, const char *name, long first) {
  return fail(STATUS_USAGE, "%s:%ld: %s '%.60s' is given again; it was given first at line %ld",
              r->name, r->line, what, name, first);
}

static status take_section(reader *r, char *begin, char *end) {
  status rc = STATUS_OK;
  ini *to = r->to;
  char *close = memchr(begin, ']', (size_t)(end - begin));
  if (close == NULL) {
    return fail(STATUS_USAGE, "%s:%ld: '%.60s': expected ']' after the section's name", r->name,
                r->line, begin);
  }
  if (close + 1 < end) {
    return fail(STATUS_USAGE, "%s:%ld: junk after the section's name: '%.60s'", r->name, r->line,
                close + 1);
  }
  char *name = begin + 1;
  while (name < close && blank(*name)) name++;
  while (close > name && blank(close[-1])) close--;
  *close = '\0';
  if (!ini_canonical(name)) {
    return fail(
        STATUS_USAGE,
        "%s:%ld: section '%.60s': expected a name of lower-case letters, digits, '_' or '-'",
        r->name, r->line, name);
  }
  for (int64_t i = 0; i < to->sections; i++) {
    if (strcmp(to->section[i].name, name) == 0) {
      return repeated(r, "section", name, to->section[i].line);
    }
  }
  if (to->sections == to->section_room) {
    int64_t want = 2 * to->section_room + 8;
    TRY(alloc_grow(&to->section, to->sections, want, sizeof *to->section, "config sections"));
    to->section_room = want;
  }
  to->section[to->sections++] = (ini_section){name, r->line};
  r->has_section = 1;
  r->section = name;
  r->section_line = r->line;
  r->value_end = NULL;
done:
  return rc;
}

static status take_key(reader *r, char *begin, char *end) {
  status rc = STATUS_OK;
  ini *to = r->to;
  char *equals = memchr(begin, '=', (size_t)(end - begin));
  if (equals == NULL) {
    return fail(STATUS_USAGE, "%s:%ld: '%.60s': expected key = value or [section]", r->name,
                r->line, begin);
  }
  char *name_end = equals;
  while (name_end > begin && blank(name_end[-1])) name_end--;
  *name_end = '\0';
  if (!ini_canonical(begin)) {
    return fail(STATUS_USAGE,
                "%s:%ld: key '%.60s': expected a name of lower-case letters, digits, '_' or '-'",
                r->name, r->line, begin);
  }
  if (!r->has_section) {
    return fail(STATUS_USAGE, "%s:%ld: key '%.60s' stands before the first [section]", r->name,
                r->line, begin);
  }
  for (int64_t i = to->entries; i > 0 && to->entry[i - 1].section == r->section; i--) {
    if (strcmp(to->entry[i - 1].key, begin) == 0) {
      return repeated(r, "key", begin, to->entry[i - 1].line);
    }
  }
  char *value = equals + 1;
  while (value < end && blank(*value)) value++;
  if (to->entries == to->entry_room) {
    int64_t want = 2 * to->entry_room + 32;
    TRY(alloc_grow(&to->entry, to->entries, want, sizeof *to->entry, "config entries"));
    to->entry_room = want;
  }
  to->entry[to->entries++] = (ini_entry){r->section, begin, value, r->line, r->section_line};
  r->value_end = end;
done:
  return rc;
}

/* Moves the text left to the end of the value it continues, one blank between. */
static void append(char **value_end, int empty, const char *begin, const char *end) {
  char *to = *value_end;
  if (!empty) *to++ = ' ';
  size_t length = (size_t)(end - begin);
  memmove(to, begin, length);
  to[length] = '\0';
  *value_end = to + length;
}

static status take_line(reader *r, char *begin, char *end) {
  r->line++;
  if (end > begin && end[-1] == '\r') end--;
  if (end - begin > INI_LINE_MAX) {
    return fail(STATUS_USAGE, "%s:%ld: the line has %ld bytes, at most %d are read", r->name,
                r->line, (long)(end - begin), INI_LINE_MAX);
  }
  if (has_control(begin, end)) {
    return fail(STATUS_USAGE, "%s:%ld: a control character: expected a text file in UTF-8", r->name,
                r->line);
  }
  if (!cut_comment(begin, &end)) {
    return fail(STATUS_USAGE, "%s:%ld: a double quote is not closed on its line", r->name, r->line);
  }
  int indented = end > begin && blank(*begin);
  while (begin < end && blank(*begin)) begin++;
  if (begin == end) return STATUS_OK;
  if (indented) {
    if (r->value_end == NULL) {
      return fail(
          STATUS_USAGE,
          "%s:%ld: '%.*s': an indented line continues the value above it, and there is none",
          r->name, r->line, (int)(end - begin > 60 ? 60 : end - begin), begin);
    }
    append(&r->value_end, *r->to->entry[r->to->entries - 1].value == '\0', begin, end);
    return STATUS_OK;
  }
  *end = '\0';
  return *begin == '[' ? take_section(r, begin, end) : take_key(r, begin, end);
}

status ini_parse(const char *name, const char *text, size_t length, ini *out) {
  status rc = STATUS_OK;
  reader r = {.name = name, .to = out};
  memset(out, 0, sizeof *out);
  TRY(alloc_array(&out->text, (int64_t)length + 1, 1, "config text"));
  memcpy(out->text, text, length);
  out->text[length] = '\0';
  char *p = out->text, *end = out->text + length;
  if (length >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) p += 3;
  while (p < end) {
    char *line_end = memchr(p, '\n', (size_t)(end - p));
    if (line_end == NULL) line_end = end;
    TRY(take_line(&r, p, line_end));
    p = line_end + 1;
  }
done:
  if (rc != STATUS_OK) ini_release(out);
  return rc;
}

status ini_read(const char *path, ini *out) {
  status rc = STATUS_OK;
  char *text = NULL;
  struct stat facts;
  memset(out, 0, sizeof *out);
  FILE *file = fopen(path, "rb");
  if (file == NULL || fstat(fileno(file), &facts) != 0) {
    rc = fail(STATUS_USAGE, "%s: the config file cannot be opened", path);
    goto done;
  }
  if (S_ISDIR(facts.st_mode)) {
    rc = fail(STATUS_USAGE, "%s: a directory, expected a config file", path);
    goto done;
  }
  size_t have = 0, got, room = 1 << 16;
  TRY(alloc_array(&text, (int64_t)room, 1, "config text"));
  while ((got = fread(text + have, 1, room - have, file)) > 0) {
    have += got;
    if (have > INI_FILE_MAX) {
      rc = fail(STATUS_USAGE, "%s: larger than %d bytes: not a config file", path, INI_FILE_MAX);
      goto done;
    }
    if (have == room) {
      TRY(alloc_grow(&text, (int64_t)have, 2 * (int64_t)room, 1, "config text"));
      room *= 2;
    }
  }
  if (ferror(file)) {
    rc = fail(STATUS_USAGE, "%s: reading the config file failed", path);
    goto done;
  }
  TRY(ini_parse(path, text, have, out));
done:
  alloc_free(&text);
  if (file != NULL) fclose(file);
  return rc;
}

status ini_argument(const char *where, char *text, char **out) {
  char *value_end = text, *end = text + strlen(text);
  int empty = 1;
  for (char *p = text, *next; p != NULL; p = next) {
    char *line_end = strchr(p, '\n');
    next = line_end == NULL ? NULL : line_end + 1;
    if (line_end == NULL) line_end = end;
    if (line_end > p && line_end[-1] == '\r') line_end--;
    if (line_end - p > INI_LINE_MAX) {
      return fail(STATUS_USAGE, "%s: the value has more than %d bytes", where, INI_LINE_MAX);
    }
    if (has_control(p, line_end)) {
      return fail(STATUS_USAGE, "%s: a control character in the value", where);
    }
    if (!cut_comment(p, &line_end)) {
      return fail(STATUS_USAGE, "%s: a double quote is not closed", where);
    }
    while (p < line_end && blank(*p)) p++;
    if (p == line_end) continue;
    append(&value_end, empty, p, line_end);
    empty = 0;
  }
  *value_end = '\0';
  *out = text;
  return STATUS_OK;
}

const char *ini_scalar(char *text, char **out) {
  while (blank(*text)) text++;
  char *end = text + strlen(text);
  while (end > text && blank(end[-1])) end--;
  *end = '\0';
  *out = text;
  char *quote = strchr(text, '"');
  if (quote == NULL) return *text == '\0' ? "there is no value" : NULL;
  if (quote != text) return "a double quote inside the value: quotes enclose the whole of it";
  char *close = strchr(text + 1, '"');
  if (close == NULL) return "a double quote is not closed";
  if (close[1] != '\0') return "junk after the closing quote";
  *close = '\0';
  *out = text + 1;
  return NULL;
}

const char *ini_list(char **rest, char **item) {
  int depth = 0, quoted = 0;
  char *p = *rest;
  *item = p;
  for (; *p != '\0'; p++) {
    if (*p == '"') quoted = !quoted;
    if (quoted) continue;
    if (*p == '(' || *p == '[') depth++;
    if ((*p == ')' || *p == ']') && --depth < 0) return "a parenthesis closes that was not opened";
    if (*p == ',' && depth == 0) break;
  }
  if (depth > 0) return "a parenthesis is not closed";
  char *begin = *rest;
  *rest = *p == ',' ? p + 1 : NULL;
  *p = '\0';
  const char *wrong = ini_scalar(begin, item);
  if (wrong != NULL && **item == '\0') return "an item of the list is empty";
  return wrong;
}
