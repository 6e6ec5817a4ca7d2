/* What ode_thread.h is compiled with: constants, and the system's functions by their names. Shared
 * by the driver (ode.c) and the test that compiles the same text for the host. */
#ifndef CUDA_ODE_DEFINE_H
#define CUDA_ODE_DEFINE_H

#include <string.h>

#include "ode_args.h"
#include "ode_backend.h"
#include "ode_paths.h"
#include "rtc_check.h"

enum { ODE_DEFINES = 14, ODE_TEXTS = 5 };

/* What ode_thread.h takes apart: flags of the noise, and the levels of its paths. */
static inline long ode_noise_is(const ode_plan *plan) {
  if (plan->kind != ODE_NOISY) return 0;
  const brownian paths = ode_paths(plan);
  return (plan->diagonal ? ODE_NOISE_DIAGONAL : 0) | (plan->additive ? ODE_NOISE_ADDITIVE : 0) |
         (plan->has_noise_jacobian ? ODE_NOISE_KNOWN : 0) |
         (plan->stratonovich ? ODE_NOISE_STRATONOVICH : 0) |
         (plan->antithetic ? ODE_NOISE_ANTITHETIC : 0) | paths.levels * ODE_NOISE_LEVEL;
}

/* Fixed steps in a row without a jump: several where the function is a few operations. */
static inline int ode_steps_together(const formula *rhs) {
  static const char *const longer[] = {"sin", "cos",  "tan",   "exp",  "log",  "pow",
                                       "erf", "cbrt", "for (", "for(", "while"};
  enum { SHORT = 1500, SEVERAL = 8 };
  for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
    if (strstr(rhs->text, longer[i]) != NULL) return 1;
  }
  return strlen(rhs->text) < SHORT ? SEVERAL : 1;
}

/* Thread blocks that a multiprocessor is to hold at once: so many that the loop over fixed steps of
 * a few slopes still fits into registers, for more warps hide more of what fma waits for; what is
 * around the loop may spill. A warp that is alone on its scheduler does better with all registers.
 * 1: as many as it comes to. */
static inline int ode_blocks(const ode_plan *plan) {
  enum { REGISTERS = 512 /* for a thread of each block */, LOOP = 12, MOST = 12, LEAST = 8 };
  enum { MANY = 100000 /* trajectories: some warps for each scheduler of a large GPU */ };
  const int need = (LOOP + 8 * plan->components + 2 * plan->parameters + 7) / 8 * 8;
  const int is_short = plan->variant == ODE_EULER || plan->variant == ODE_RK4;
  if (plan->kind != ODE_RUNGE_KUTTA || plan->adaptive || !is_short || plan->together < MANY) {
    return 1;
  }
  const int blocks = REGISTERS / need;
  return blocks > MOST ? MOST : blocks >= LEAST ? blocks : 1;
}

static inline void ode_defines(const ode_functions *f, const ode_plan *plan,
                               rtc_check_define out[ODE_DEFINES]) {
  const rtc_check_define all[ODE_DEFINES] = {{"ODE_N", plan->components},
                                             {"ODE_N_SHARED", plan->shared},
                                             {"ODE_N_OWN", plan->parameters},
                                             {"ODE_THE_KIND", plan->kind},
                                             {"ODE_THE_VARIANT", plan->variant},
                                             {"ODE_IS_ADAPTIVE", plan->adaptive != 0},
                                             {"ODE_HAS_EVENT", plan->has_event != 0},
                                             {"ODE_HAS_SAVES", plan->saves > 0},
                                             {"ODE_N_NOISES", plan->noises},
                                             {"ODE_NOISE_IS", ode_noise_is(plan)},
                                             {"ODE_HAS_JACOBIAN", plan->has_jacobian != 0},
                                             {"ODE_HAS_TIME", plan->has_time != 0},
                                             {"ODE_TOGETHER", ode_steps_together(f->rhs)},
                                             {"ODE_BLOCKS", ode_blocks(plan)}};
  for (int i = 0; i < ODE_DEFINES; i++) out[i] = all[i];
}

static inline void ode_texts(const ode_functions *f, const ode_plan *plan,
                             rtc_text out[ODE_TEXTS]) {
  const int noisy = plan->kind == ODE_NOISY;
  out[0] = (rtc_text){"ode_value", f->rhs};
  out[1] = (rtc_text){"ode_event_value", plan->has_event ? f->event : NULL};
  out[2] = (rtc_text){"ode_jacobian_value", noisy                ? f->noise_jacobian
                                            : plan->has_jacobian ? f->jacobian
                                                                 : NULL};
  out[3] = (rtc_text){"ode_noise_value", noisy ? f->noise : NULL};
  out[4] = (rtc_text){"ode_time_value", plan->has_time ? f->time : NULL};
}

#endif
