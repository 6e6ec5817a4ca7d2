/* Steps compiled for one system and one method (ode_fused.h), for the OpenMP backend. */
#ifndef FUSED_H
#define FUSED_H

#include "compile.h"
#include "ode_backend.h"

/* *out's functions are NULL where they would not pay: methods without fused steps, systems of many
 * components, text with branches that keep loops from becoming vectors, no compiler. Their code is
 * *code's, NULL then; module_release. The bits of results are the same. Collective. */
status ode_fused_create(comm *c, compiler *with, const formula *rhs, const ode_plan *plan,
                        module **code, ode_fused *out);

#endif
