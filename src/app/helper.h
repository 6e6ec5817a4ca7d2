/* The helper process that compiles (compile.h): an MPI process must not fork, so it is started
 * before MPI. */
#ifndef HELPER_H
#define HELPER_H

#include "compile.h"

/* Starts one, for commands that may compile. Where no process can be had, that is what a compiler
 * asked later says. Released with compiler_close, which ends it. Local, before MPI starts. */
status helper_start(compiler **out);

#endif
