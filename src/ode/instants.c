#include "instants.h"

#include <stdio.h>

#include "alloc.h"
#include "text.h"

enum { SHOWN = 6 };

status instants_match(const ode_plan *plan, const double *now, const double *then, int64_t there,
                      instants *out) {
  status rc = STATUS_OK;
  *out = (instants){.plan = plan, .now = now, .then = then, .there = there};
  TRY(alloc_array(&out->from, plan->saves, sizeof *out->from, "saved times"));
  TRY(alloc_zeroed(&out->missed, plan->saves, sizeof *out->missed, "saved times"));
  for (int64_t k = 0, i = 0; k < plan->saves; k++) {
    while (i < there && ode_before(plan, then[i], now[k])) i++;
    out->from[k] = i < there && then[i] == now[k] ? i : -1;
  }
done:
  return rc;
}

void instants_release(instants *m) {
  alloc_free(&m->from);
  alloc_free(&m->missed);
}

int64_t instants_source(instants *m, int64_t k, double t, int ending) {
  if (m->from[k] >= 0) return m->from[k];
  if (ode_before(m->plan, t, m->now[k])) return INSTANT_NONE;
  /* the state at an event is not what dense output has there, to the last bit */
  if (t == m->now[k] && ending != ODE_EVENT) return INSTANT_NOW;
  m->missed[k]++;
  return INSTANT_NONE;
}

/* "3, 4, 5": those with a count above 0, or all of them (counts NULL). */
static status list(const double *at, const int64_t *counts, int64_t length, text_builder *out) {
  status rc = STATUS_OK;
  int64_t shown = 0, more = 0;
  for (int64_t k = 0; k < length; k++) {
    if (counts != NULL && counts[k] == 0) continue;
    if (shown == SHOWN) {
      more++;
      continue;
    }
    TRY(text_print(out, "%s%.10g", shown++ > 0 ? ", " : "", at[k]));
  }
  if (more > 0) TRY(text_print(out, " and %lld more", (long long)more));
  if (shown == 0) TRY(text_append(out, "none"));
done:
  return rc;
}

static status refuse(const instants *m, int64_t past, int64_t trajectories) {
  status rc = STATUS_OK;
  text_builder missed = {0}, there = {0};
  char who[80] = "it is";
  if (trajectories > 1) {
    snprintf(who, sizeof who, "%lld of %lld trajectories are", (long long)past,
             (long long)trajectories);
  }
  TRY(list(m->now, m->missed, m->plan->saves, &missed));
  TRY(list(m->then, NULL, m->there, &there));
  rc = fail(STATUS_USAGE,
            "ode.save_at: the states at t = %s are not in the checkpoint (it has t = %s), and %s "
            "past that; expected those it has, later ones, or a fresh start",
            missed.text, there.text, who);
done:
  text_release(&missed);
  text_release(&there);
  return rc;
}

status instants_check(comm *c, instants *m, int64_t trajectories) {
  status rc = STATUS_OK;
  int64_t most = 0;
  TRY(comm_sum_i64(c, m->missed, (int)m->plan->saves));
  for (int64_t k = 0; k < m->plan->saves; k++) {
    if (m->missed[k] > most) most = m->missed[k];
  }
  rc = comm_agree(c, most > 0 ? refuse(m, most, trajectories) : STATUS_OK);
done:
  return rc;
}
