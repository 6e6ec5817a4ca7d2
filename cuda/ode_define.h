/* What ode_thread.h is compiled with: constants, and the system's functions by their names. Shared
 * by the driver (ode.c) and the test that compiles the same text for the host. */
#ifndef CUDA_ODE_DEFINE_H
#define CUDA_ODE_DEFINE_H

#include "ode_backend.h"
#include "rtc_check.h"

enum { ODE_DEFINES = 8, ODE_TEXTS = 2 };

static inline void ode_defines(const ode_plan *plan, rtc_check_define out[ODE_DEFINES]) {
  const rtc_check_define all[ODE_DEFINES] = {{"ODE_N", plan->components},
                                             {"ODE_N_SHARED", plan->shared},
                                             {"ODE_N_OWN", plan->parameters},
                                             {"ODE_THE_KIND", plan->kind},
                                             {"ODE_THE_VARIANT", plan->variant},
                                             {"ODE_IS_ADAPTIVE", plan->adaptive != 0},
                                             {"ODE_HAS_EVENT", plan->has_event != 0},
                                             {"ODE_HAS_SAVES", plan->saves > 0}};
  for (int i = 0; i < ODE_DEFINES; i++) out[i] = all[i];
}

static inline void ode_texts(const ode_functions *f, rtc_text out[ODE_TEXTS]) {
  out[0] = (rtc_text){"ode_value", f->rhs};
  out[1] = (rtc_text){"ode_event_value", f->event};
}

#endif
