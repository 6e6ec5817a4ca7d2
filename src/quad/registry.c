/* The quadrature rules there are (rules.def), and how runs end. */
#include <string.h>

#include "quad_run.h"
#include "registry.h"

#define RULE(id, name) extern const quad_rule RULE_##id;
#include "rules.def"
#undef RULE

#define RULE(id, name) &RULE_##id,
static const quad_rule *const rules[] = {
#include "rules.def"
};
#undef RULE

REGISTRY(quad_rule, quad_rule, rules)

/* A box of n directions costs Malik's rule about 2^n points: up to 6 its error falls faster than
 * sampling's, above that sampling's, which does not know n. */
const quad_rule *quad_rule_choose(const char *word, int dims, int counted, const char **why) {
  *why = NULL;
  if (strcmp(word, "auto") != 0) return quad_rule_find(word);
  if (counted && dims <= 6) {
    *why = "a number of points is given: a fixed rule";
    return quad_rule_find("trapezoid");
  }
  *why = dims == 1   ? "one direction: Gauss-Kronrod, halving where the error is"
         : dims <= 6 ? "2 to 6 directions: cubature, halving where the error is"
                     : "more than 6 directions: boxes have too many corners, sampling does not";
  return quad_rule_find(dims == 1 ? "adaptive" : dims <= 6 ? "genz-malik" : "sobol");
}

typedef struct ending {
  const char *name;
  status code;
} ending;

static const ending endings[QUAD_REASONS] = {
    [QUAD_CONVERGED] = {"converged", STATUS_OK},
    [QUAD_FIXED_COUNT] = {"fixed_count", STATUS_OK},
    [QUAD_MAX_EVALUATIONS] = {"max_evaluations", STATUS_STOPPED},
    [QUAD_ROUND_OFF] = {"round_off", STATUS_STOPPED},
    [QUAD_NOT_FINITE] = {"not_finite", STATUS_DIVERGED},
    [QUAD_EMPTY_RANGE] = {"empty_range", STATUS_OK},
    [QUAD_MISSED] = {"tolerance_missed", STATUS_STOPPED},
    [QUAD_TIME_LIMIT] = {"time_limit", STATUS_STOPPED},
    [QUAD_UNSEEN] = {"nothing_seen", STATUS_STOPPED},
    [QUAD_SIGNAL] = {"signal", STATUS_STOPPED},
};

const char *quad_reason_name(quad_reason reason) { return endings[reason].name; }

status quad_reason_status(quad_reason reason) { return endings[reason].code; }
