/* The effective config: the settings as INI text. Reading it back gives the same settings; inputs
 * are written as absolute paths, so it may lie in any folder. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "options_internal.h"

enum { PATH_ROOM = 4096 };

/* Would the reader change this text? Then it needs quotes. */
static int needs_quotes(const char *text) {
  size_t length = strlen(text);
  if (length == 0 || text[0] == ' ' || text[0] == '\t') return 1;
  if (text[length - 1] == ' ' || text[length - 1] == '\t') return 1;
  for (const char *p = text; *p != '\0'; p++) {
    if ((*p == '#' || *p == ';') && (p == text || p[-1] == ' ' || p[-1] == '\t')) return 1;
  }
  return 0;
}

static status append_value(text_builder *t, const setting *s, unsigned flags) {
  status rc = STATUS_OK;
  char folder[PATH_ROOM] = "";
  if (s->is->type == OPTION_INPUT && !s->word && (flags & OPTION_PROBLEM) != 0) {
    return text_append(t, "(a file)"); /* what is in it counts, not where it lies */
  }
  int relative = s->is->type == OPTION_INPUT && !s->word && s->text[0] != '/';
  if (relative && getcwd(folder, sizeof folder) == NULL) folder[0] = '\0';
  int quotes = strchr(s->text, '"') == NULL && (needs_quotes(s->text) || needs_quotes(folder));
  if (folder[0] == '\0') quotes = strchr(s->text, '"') == NULL && needs_quotes(s->text);
  if (quotes) TRY(text_append(t, "\""));
  if (folder[0] != '\0') {
    TRY(text_append(t, folder));
    TRY(text_append(t, "/"));
  }
  TRY(text_append(t, s->text));
  if (quotes) TRY(text_append(t, "\""));
done:
  return rc;
}

static status append_section(text_builder *t, const options *o, const char *section,
                             unsigned flags) {
  status rc = STATUS_OK;
  int begun = 0;
  for (int64_t i = 0; i < o->count; i++) {
    const setting *s = &o->setting[i];
    if (!s->set || strcmp(s->is->section, section) != 0) continue;
    if ((s->is->flags & flags) != flags || (s->is->flags & OPTION_ONCE) != 0) continue;
    if (!begun) {
      if (t->length > 0) TRY(text_append(t, "\n"));
      TRY(text_append(t, "["));
      TRY(text_append(t, section));
      TRY(text_append(t, "]\n"));
      begun = 1;
    }
    TRY(text_append(t, setting_key(s)));
    TRY(text_append(t, " = "));
    TRY(append_value(t, s, flags));
    TRY(text_append(t, "\n"));
  }
done:
  return rc;
}

static const char *write_config(const options *o, text_builder *t, unsigned flags) {
  status rc = STATUS_OK;
  const char *previous = "";
  t->length = 0;
  TRY(text_append(t, ""));
  const option *const tables[] = {o->cmd->options, OPTIONS_COMMON};
  for (int k = 0; k < 2; k++) {
    for (const option *is = tables[k]; is->section != NULL; is++) {
      if (strcmp(is->section, previous) == 0) continue; /* tables are sorted by section */
      previous = is->section;
      TRY(append_section(t, o, previous, flags));
    }
  }
done:
  return rc == STATUS_OK ? t->text : NULL;
}

const char *options_effective(options *o) { return write_config(o, &o->effective, 0); }

const char *options_problem(options *o) { return write_config(o, &o->problem, OPTION_PROBLEM); }
