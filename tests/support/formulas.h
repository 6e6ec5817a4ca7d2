/* Random formulas: text grows from a grammar, the seed is fixed. */
#ifndef FORMULAS_H
#define FORMULAS_H

#include <stdio.h>

#include "philox.h"

typedef struct writer {
  char text[4096];
  size_t used;
  uint64_t draws;
  const char *const *names;
  const double *constants; /* write a variable as its value */
  int variables;
} writer;

static inline uint32_t draw(writer *w, uint32_t below) {
  return philox_at(7, w->draws++, PHILOX_PROBE, 0, 0).word[0] % below;
}

static inline void put(writer *w, const char *text) {
  w->used += (size_t)snprintf(w->text + w->used, sizeof w->text - w->used, "%s", text);
}

static inline void write_formula(writer *w, int depth) {
  static const char *const binaries[] = {" + ", " - ", "*", "/", "^", " < ", " && ", " || ", "=="};
  static const char *const calls[] = {"sin(",   "cos(",  "exp(",  "log(",  "sqrt(",    "abs(",
                                      "floor(", "-(",    "!(",    "sign(", "(",        "cbrt(",
                                      "tan(",   "asin(", "acos(", "atan(", "atan2(2,", "sinh(",
                                      "cosh(",  "tanh(", "erf("};
  enum { CALLS = sizeof calls / sizeof calls[0] };
  char number[40];
  const uint32_t kind = depth == 0 ? draw(w, 2) : draw(w, 10);
  if (kind == 0) {
    snprintf(number, sizeof number, "%g", draw(w, 50) / 10.0);
    put(w, number);
  } else if (kind == 1) {
    const uint32_t v = draw(w, (uint32_t)w->variables);
    if (w->constants != NULL) snprintf(number, sizeof number, "(%.17g)", w->constants[v]);
    put(w, w->constants != NULL ? number : w->names[v]);
  } else if (kind == 2) {
    put(w, calls[draw(w, CALLS)]);
    write_formula(w, depth - 1);
    put(w, ")");
  } else if (kind == 3) {
    put(w, "(");
    write_formula(w, depth - 1);
    put(w, " ? ");
    write_formula(w, depth - 1);
    put(w, " : ");
    write_formula(w, depth - 1);
    put(w, ")");
  } else {
    write_formula(w, depth - 1);
    put(w, binaries[draw(w, kind < 8 ? 4 : 9)]);
    write_formula(w, depth - 1);
  }
}

#endif
