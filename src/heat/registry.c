/* The time schemes there are (schemes.def), and how runs end. */
#include "registry.h"
#include "scheme.h"

#define SCHEME(name, text) extern const heat_scheme SCHEME_##name;
#include "schemes.def"
#undef SCHEME

#define SCHEME(name, text) &SCHEME_##name,
static const heat_scheme *const schemes[] = {
#include "schemes.def"
};
#undef SCHEME

REGISTRY(heat_scheme, heat_scheme, schemes)

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
