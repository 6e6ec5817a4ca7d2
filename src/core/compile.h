/* Compiling C at run time for this CPU.
 *
 *   main: fork a helper before MPI starts (compile_channel, compile_serve), keep its other end in a
 *   compiler; compiler_build(): rank 0 looks in the cache or asks its helper to run the host
 *   compiler, the bytes are broadcast, every rank loads them from memory (memfd: no file system
 *   needs to allow execution) and checks the floating-point state after that.
 *
 * The helper exists because an MPI process must not fork; it never sees MPI, is idle until asked,
 * and ends when its end of the channel closes, at the latest with its parent. The compiler is that
 * of the build (absolute path) or HALOSWEEP_CC. */
#ifndef COMPILE_H
#define COMPILE_H

#include "comm.h"
#include "status.h"

typedef struct compiler compiler;
typedef struct module module; /* compiled code in this process */

enum { COMPILE_SAID = 6000 }; /* room for what a compiler says */

/* A pair of connected ends: the helper's is end[1]. */
status compile_channel(int end[2]);

/* The helper: answers requests until the other end closes. Local, in a process of its own. */
void compile_serve(int end);

/* Takes over this process's end of a helper (pid: its process; -1: there is none), before MPI
 * starts. compiler_close ends the helper. */
status compiler_open(int end, int pid, compiler **out);
void compiler_close(compiler **w);

/* MPI has started: only rank 0 needs its helper. Local. */
void compiler_settle(compiler *w, const comm *c);

typedef struct compile_request {
  const char *source; /* the text of one file */
  const char *folder; /* where its #include "..." may find files; NULL: nowhere */
  int included;       /* it includes files of the user: they belong to what is compiled */
} compile_request;

typedef enum compile_outcome {
  COMPILE_DONE,
  COMPILE_REFUSED, /* the text does not compile, or lacks a function it calls */
  COMPILE_MISSING  /* no compiler, or it cannot be run */
} compile_outcome;

/* *out is NULL unless the outcome is COMPILE_DONE; `said` then holds why: the compiler's words, the
 * first 30 lines. A failure is a real one: no memory, or code that changes this process's
 * arithmetic (STATUS_UNAVAILABLE). Same result on every rank. Collective. */
status compiler_build(comm *c, compiler *w, const compile_request *r, compile_outcome *outcome,
                      char said[COMPILE_SAID], module **out);

/* The function of that name, NULL when there is none. A pointer to it is written to *f (of any
 * function pointer type). */
void module_function(const module *m, const char *name, void *f);
void module_release(module **m);

/* The compiler's path as messages name it; whether it is there, by that path. Local. */
const char *compiler_name(const compiler *w);
int compiler_found(const compiler *w);

#endif
