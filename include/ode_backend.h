/* Ensembles of trajectories on a backend. All functions are local. */
#ifndef ODE_BACKEND_H
#define ODE_BACKEND_H

#include "formula.h"
#include "ode.h"
#include "status.h"

struct device;

/* The functions of ode_fused.h for ODE_HOST_LANES lanes, compiled for this system on this CPU;
 * NULL: not there. The argument is an ode_work. */
enum { ODE_HOST_LANES = 64 };
typedef struct ode_fused {
  void (*steps)(void *work, int64_t count);
  void (*attempt)(void *work);
} ode_fused;

/* The functions of a system. Inputs of all: t, the components of y, the shared parameters, each
 * trajectory's own. */
typedef struct ode_functions {
  const formula *rhs;      /* [components] */
  const formula *jacobian; /* [components][components]: d rhs_i / d y_j; NULL: differences */
  const formula *time;     /* [components]: d rhs_i / d t, for rodas4; NULL: a difference */
  const formula *noise;    /* [components][noises], or [components] where diagonal; NULL: none */
  /* [components]: d noise_i / d y_i where diagonal, else [components][noises][components]; NULL:
   * differences */
  const formula *noise_jacobian;
  const formula *event; /* [1]; NULL: none */
  ode_fused fused;      /* of rhs, for the OpenMP backend */
} ode_functions;

typedef struct ode_kernel ode_kernel; /* a system and a plan made ready on a device */

typedef struct ode_backend {
  /* The functions, the plan and what it points to must outlive *out. STATUS_UNAVAILABLE: a kernel
   * that cannot be compiled for this device. */
  status (*create)(struct device *d, const ode_functions *f, const ode_plan *plan,
                   ode_kernel **out);
  void (*release)(struct device *d, ode_kernel **k);

  /* Advances the trajectories that are ODE_RUNNING, each by at most `attempts` steps tried. */
  status (*advance)(struct device *d, ode_kernel *k, const ode_states *s, int64_t attempts);
} ode_backend;

#endif
