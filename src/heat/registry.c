/* The time schemes there are (schemes.def), and how runs end. */
#include <string.h>

#include "scheme.h"

#define SCHEME(name, text) extern const heat_scheme SCHEME_##name;
#include "schemes.def"
#undef SCHEME

#define SCHEME(name, text) &SCHEME_##name,
static const heat_scheme *const schemes[] = {
#include "schemes.def"
};
#undef SCHEME

enum { SCHEMES = sizeof schemes / sizeof *schemes };

const heat_scheme *heat_scheme_at(int index) {
  return index >= 0 && index < SCHEMES ? schemes[index] : NULL;
}

const heat_scheme *heat_scheme_find(const char *name) {
  for (int i = 0; i < SCHEMES; i++) {
    if (strcmp(schemes[i]->name, name) == 0) return schemes[i];
  }
  return NULL;
}

typedef struct ending {
  const char *name;
  status code;
} ending;

static const ending endings[] = {
    [HEAT_DONE] = {"done", STATUS_OK},
    [HEAT_REQUESTED] = {"requested", STATUS_STOPPED},
    [HEAT_UNSOLVED] = {"max_iterations", STATUS_STOPPED},
    [HEAT_FAILED] = {"failed", STATUS_BROKEN},
    [HEAT_NOT_FINITE] = {"not_finite", STATUS_DIVERGED},
};

const char *heat_reason_name(heat_reason reason) { return endings[reason].name; }

status heat_reason_status(heat_reason reason) { return endings[reason].code; }
