/* Names: finding what the user wrote in the table, and when it is not there, saying what is near.
 *
 * Nearness is the restricted Damerau-Levenshtein distance (insert, delete, replace, swap
 * neighbours), at most a third of the longer name. Habits from other programs come first: they are
 * rarely near in letters. */
#include <stdio.h>
#include <string.h>

#include "options_internal.h"

typedef struct habit {
  const char *theirs;
  const char *ours; /* a key of this program ... */
  const char *note; /* ... or what to do instead */
} habit;

static const habit HABITS[] = {
    {"ksp_type", "method", NULL},
    {"solver", "method", NULL},
    {"pc_type", "preconditioner", NULL},
    {"pc", "preconditioner", NULL},
    {"precond", "preconditioner", NULL},
    {"ksp_rtol", "rtol", NULL},
    {"ksp_atol", "atol", NULL},
    {"ksp_divtol", "divergence", NULL},
    {"ksp_max_it", "max_iterations", NULL},
    {"ksp_monitor", "history", NULL},
    {"tol", "rtol", NULL},
    {"tolerance", "rtol", NULL},
    {"eps", "rtol", NULL},
    {"epsilon", "rtol", NULL},
    {"abstol", "atol", NULL},
    {"reltol", "rtol", NULL},
    {"maxit", "max_iterations", NULL},
    {"maxiter", "max_iterations", NULL},
    {"max_it", "max_iterations", NULL},
    {"max_iter", "max_iterations", NULL},
    {"iter", "max_iterations", NULL},
    {"niter", "iterations", NULL},
    {"relaxation", "omega", NULL},
    {"damping", "omega", NULL},
    {"b", "rhs", NULL},
    {"mat", "matrix", NULL},
    {"guess", "x0", NULL},
    {"dt0", "dt", NULL},
    {"nthreads", "threads", NULL},
    {"num_threads", "threads", NULL},
    {"omp_num_threads", "threads", NULL},
    {"out", "output", NULL},
    {"o", "output", NULL},
    {"device", "backend", NULL},
    {"gpu", "backend", NULL},
    {"verbose", "progress", NULL},
    {"np", NULL, "the number of ranks is the launcher's: mpirun -n N halosweep ..."},
    {"nprocs", NULL, "the number of ranks is the launcher's: mpirun -n N halosweep ..."},
    {"config", NULL, "a config file is given without a key: halosweep COMMAND FILE.ini"},
};

static int smallest(int a, int b, int c) {
  int m = a < b ? a : b;
  return m < c ? m : c;
}

/* Both shorter than OPTIONS_NAME_MAX. */
static int distance(const char *a, const char *b) {
  int row[3][OPTIONS_NAME_MAX + 1];
  int n = (int)strlen(b), i, j;
  for (j = 0; j <= n; j++) row[0][j] = j;
  for (i = 1; a[i - 1] != '\0'; i++) {
    int *now = row[i % 3], *above = row[(i + 2) % 3], *before = row[(i + 1) % 3];
    now[0] = i;
    for (j = 1; j <= n; j++) {
      int change = a[i - 1] != b[j - 1];
      now[j] = smallest(above[j] + 1, now[j - 1] + 1, above[j - 1] + change);
      int swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped && before[j - 2] + 1 < now[j]) now[j] = before[j - 2] + 1;
    }
  }
  return row[(i + 2) % 3][n];
}

typedef struct candidate {
  const char *word;
  int best;
  char name[2 * OPTIONS_NAME_MAX];
} candidate;

/* Keeps `name` (shown as prefix + name) if it is nearer than what is there. */
static void consider(candidate *c, const char *prefix, const char *name) {
  size_t longer = strlen(name), length = strlen(c->word);
  if (longer >= OPTIONS_NAME_MAX || length >= OPTIONS_NAME_MAX) return;
  if (length > longer) longer = length;
  int d = distance(c->word, name);
  if (d > (int)(longer < 3 ? 1 : longer / 3 > 1 ? longer / 3 : 1) || d >= (int)longer) return;
  if (c->name[0] != '\0' && d >= c->best) return;
  c->best = d;
  snprintf(c->name, sizeof c->name, "%s%s", prefix, name);
}

/* Each of "a|b|c". */
static void consider_words(candidate *c, const char *names) {
  for (const char *p = names; *p != '\0';) {
    char name[OPTIONS_NAME_MAX];
    size_t length = strcspn(p, "|");
    if (length < sizeof name) {
      memcpy(name, p, length);
      name[length] = '\0';
      consider(c, "", name);
    }
    p += length + (p[length] == '|');
  }
}

int options_nearest(const char *word, const char *names, char out[OPTIONS_NAME_MAX]) {
  candidate c = {.word = word};
  consider_words(&c, names);
  snprintf(out, OPTIONS_NAME_MAX, "%.63s", c.name);
  return c.name[0] != '\0';
}

const option *options_find(const command *cmd, const char *section, const char *key) {
  const option *const tables[] = {cmd->options, OPTIONS_COMMON};
  for (int t = 0; t < 2; t++) {
    for (const option *is = tables[t]; is->section != NULL; is++) {
      if (strcmp(is->section, section) != 0) continue;
      if (key == NULL || strcmp(is->key, key) == 0 || strcmp(is->key, OPTION_ANY_KEY) == 0) {
        return is;
      }
    }
  }
  return NULL;
}

/* The section a bare key of ours may be written without, or NULL. */
static const option *find_bare(const command *cmd, const char *key) {
  const option *is = options_find(cmd, cmd->name, key);
  return is != NULL ? is : options_find(cmd, "run", key);
}

/* ": did you mean ...", or the habit's note, or nothing. `section`: where the key was
 * written; NULL: on the command line, without a prefix. */
static void advise(const command *cmd, const char *key, const char *section, char *out,
                   size_t room) {
  out[0] = '\0';
  for (size_t i = 0; i < sizeof HABITS / sizeof *HABITS; i++) {
    const habit *h = &HABITS[i];
    if (strcmp(h->theirs, key) != 0) continue;
    if (h->note != NULL) {
      snprintf(out, room, "; %s", h->note);
    } else if (find_bare(cmd, h->ours) != NULL) {
      snprintf(out, room, "; here it is called '%s'", h->ours);
    }
    if (out[0] != '\0') return;
  }
  candidate c = {.word = key};
  const option *const tables[] = {cmd->options, OPTIONS_COMMON};
  for (int pass = 0; pass < 2; pass++) { /* the section itself first, then the others */
    for (int t = 0; t < 2; t++) {
      for (const option *is = tables[t]; is->section != NULL; is++) {
        int here =
            section != NULL ? strcmp(is->section, section) == 0 : find_bare(cmd, is->key) == is;
        if (here != (pass == 0) || strcmp(is->key, OPTION_ANY_KEY) == 0) continue;
        char prefix[OPTIONS_NAME_MAX + 2] = "";
        if (pass == 1) snprintf(prefix, sizeof prefix, "%.60s.", is->section);
        consider(&c, prefix, is->key);
      }
    }
  }
  if (c.name[0] != '\0') snprintf(out, room, "; did you mean '%s'?", c.name);
}

status options_unknown_key(const command *cmd, const char *where, const char *section,
                           const char *key) {
  char advice[256];
  advise(cmd, key, section, advice, sizeof advice);
  return fail(STATUS_USAGE, "%s: unknown key '%.60s' in [%s]%s", where, key, section, advice);
}

status options_unknown_section(const command *cmd, const char *where, const char *section) {
  candidate c = {.word = section};
  consider(&c, "", cmd->name);
  for (const option *is = OPTIONS_COMMON; is->section != NULL; is++) consider(&c, "", is->section);
  consider_words(&c, OPTIONS_SECTIONS);
  if (c.name[0] == '\0') {
    return fail(STATUS_USAGE, "%s: unknown section [%.60s]", where, section);
  }
  return fail(STATUS_USAGE, "%s: unknown section [%.60s]; did you mean [%s]?", where, section,
              c.name);
}

/* Copies `length` characters in canonical form; anything that is not a name stays unknown. */
static void canonical_copy(char out[OPTIONS_NAME_MAX], const char *name, size_t length) {
  if (length >= OPTIONS_NAME_MAX) length = OPTIONS_NAME_MAX - 1;
  memcpy(out, name, length);
  out[length] = '\0';
  for (char *p = out; *p != '\0'; p++) {
    if (*p == '-') *p = '_';
  }
}

static status resolve_prefixed(const command *cmd, const char *name, size_t section_length,
                               const char *shown, named_key *out, const option **found) {
  char where[2 * OPTIONS_NAME_MAX], key[OPTIONS_NAME_MAX];
  snprintf(where, sizeof where, "command line: %.100s", shown);
  canonical_copy(out->section, name, section_length);
  canonical_copy(out->key, name + section_length + 1, strlen(name + section_length + 1));
  strcpy(key, out->key);
  if (options_foreign_section(cmd, out->section)) {
    return fail(STATUS_USAGE, "%s: [%s] is not a section of '%s'", where, out->section, cmd->name);
  }
  if (options_find(cmd, out->section, NULL) == NULL) {
    return options_unknown_section(cmd, where, out->section);
  }
  *found = options_find(cmd, out->section, out->key);
  if (*found == NULL || !ini_canonical(key)) {
    return options_unknown_key(cmd, where, out->section, out->key);
  }
  return STATUS_OK;
}

status options_resolve(const command *cmd, const char *name, const char *shown, named_key *out,
                       const option **found) {
  size_t length = strlen(name);
  const char *dot = strchr(name, '.');
  if (length >= OPTIONS_NAME_MAX) {
    return fail(STATUS_USAGE, "command line: unknown option %.60s...", shown);
  }
  if (dot != NULL) {
    return resolve_prefixed(cmd, name, (size_t)(dot - name), shown, out, found);
  }
  canonical_copy(out->key, name, length);
  if (strcmp(out->key, "checkpoint") == 0) strcpy(out->key, "file");
  int alias = strcmp(name, "checkpoint") == 0 || strcmp(name, "restart") == 0;
  *found = alias ? options_find(cmd, "checkpoint", out->key) : find_bare(cmd, out->key);
  if (*found == NULL) {
    char advice[256];
    advise(cmd, out->key, NULL, advice, sizeof advice);
    return fail(STATUS_USAGE, "command line: unknown option %.80s%s", shown, advice);
  }
  snprintf(out->section, sizeof out->section, "%.63s", (*found)->section);
  return STATUS_OK;
}
