/* Conjugate gradients with any preconditioner, one iteration at a time (cg.c has the driver for
 * diagonal ones). */
#ifndef CG_STEPS_H
#define CG_STEPS_H

#include "stepping.h"

extern const step_method CG_STEPS;

#endif
