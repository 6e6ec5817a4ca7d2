/* A table with an option of every type, and loading it from texts. */
#ifndef OPTIONS_FIXTURE_H
#define OPTIONS_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "test.h"

static const option FIXTURE_TABLE[] = {
    {"solve", "matrix", OPTION_INPUT, NULL, NULL, 0, 0, OPTION_PROBLEM, "a file"},
    {"solve", "rhs", OPTION_INPUT, "A*ones", "ones|A*ones|random", 0, 0, OPTION_PROBLEM, "b"},
    {"solve", "method", OPTION_WORD, "auto", "auto|jacobi|jor|cg", 0, 0, OPTION_PROBLEM, "how"},
    {"solve", "f", OPTION_TEXT, NULL, NULL, 0, 0, 0, "an expression"},
    {"solve", "n", OPTION_INTEGERS, NULL, NULL, 1, 1e9, OPTION_PROBLEM, "sizes"},
    {"solve", "lower", OPTION_REALS, NULL, NULL, -INFINITY, INFINITY, 0, "limits"},
    {"solve", "rtol", OPTION_REAL, "1e-8", NULL, 0, OPTION_FINITE, 0, "tolerance"},
    {"solve", "omega", OPTION_REAL, NULL, NULL, OPTION_POSITIVE, 2, OPTION_PROBLEM, "factor"},
    {"solve", "divergence", OPTION_REAL, "1e5", NULL, 1, INFINITY, 0, "limit"},
    {"solve", "max_iterations", OPTION_INTEGER, "10000", NULL, 0, 1e15, 0, "limit"},
    {"solve", "buffer", OPTION_SIZE, "1M", NULL, 1, 1e15, 0, "bytes"},
    {"solve", "dt", OPTION_REAL, "auto", "auto|longest", OPTION_POSITIVE, 10, 0, "step, or a word"},
    {"solve", "stages", OPTION_INTEGER, NULL, "auto", 1, 100, 0, "a count, or a word"},
    {"solve", "probe", OPTION_TUPLES, NULL, NULL, -10, 10, 0, "points"},
    {"equations", OPTION_ANY_KEY, OPTION_TEXT, NULL, NULL, 0, 0, 0, "free keys of its own"},
    {0},
};

static const command FIXTURE = {"solve", "a test", "matrix", FIXTURE_TABLE, NULL};

enum { FIXTURE_WORDS = 24 };

/* Cuts `words` at '|' (so that words may hold blanks) and loads them. */
static inline status fixture_load(const command *cmd, const char *words, options **o) {
  char copy[2048], *word[FIXTURE_WORDS];
  int count = 0;
  snprintf(copy, sizeof copy, "%s", words);
  for (char *p = copy; p != NULL && *words != '\0' && count < FIXTURE_WORDS;) {
    char *bar = strchr(p, '|');
    word[count++] = p;
    if (bar != NULL) *bar = '\0';
    p = bar == NULL ? NULL : bar + 1;
  }
  return options_load(cmd, count, word, o);
}

static inline void fixture_write(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

#endif
