/* The registry of methods (methods.h). */
#include "methods.h"

#include "ode_tableau.h"
#include "registry.h"

#define METHOD(name, kind, variant, order, error_order, flags, help, source)                       \
  &(const ode_method){name, help, source, kind, variant, order, error_order, flags},
static const ode_method *const methods[] = {
#include "methods.def"
};
#undef METHOD

REGISTRY(ode_method, ode_method, methods)
