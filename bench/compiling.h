/* What benchmarks of compiled formulas share: the helper that compiles (src/core/compile.h). */
#ifndef COMPILING_H
#define COMPILING_H

#include <unistd.h>

#include "compile.h"

/* Forks the helper: before MPI starts. */
static inline status start_compiler(compiler **out) {
  status rc = STATUS_OK;
  int end[2];
  TRY(compile_channel(end));
  const int pid = (int)fork();
  if (pid == 0) {
    close(end[0]);
    compile_serve(end[1]);
    _exit(0);
  }
  close(end[1]);
  rc = compiler_open(end[0], pid, out);
done:
  return rc;
}

#endif
