/* Failures are values: a function that can fail returns a status, and the caller passes it up with
 * TRY.
 *
 *   status work(...) {
 *     status rc = STATUS_OK;
 *     TRY(first(...));
 *     ...
 *   done:
 *     release everything;
 *     return rc;
 *   }
 *
 * The numbers are the exit codes of the program (docs/handbook.md). The text of a failure is kept
 * by fail() until an agreement point (comm_agree) prints it once, or main does. */
#ifndef STATUS_H
#define STATUS_H

typedef enum status {
  STATUS_OK = 0,
  STATUS_BUG = 1,         /* internal error: please report */
  STATUS_USAGE = 2,       /* wrong usage or configuration */
  STATUS_INPUT = 3,       /* bad input file, or input that does not fit the method */
  STATUS_STOPPED = 4,     /* stopped without converging */
  STATUS_DIVERGED = 5,    /* diverged or broke down */
  STATUS_IO = 6,          /* writing failed, damaged checkpoint */
  STATUS_UNAVAILABLE = 7, /* not available here: no GPU, no memory, wrong launcher */
  STATUS_BROKEN = 8,      /* a device, MPI or a node failed in mid-run */
  STATUS_AGAIN = 75,      /* stopped on request with a checkpoint written: run again to go on */
  STATUS_SIGNAL = 128     /* plus its number: stopped by a signal, without a checkpoint */
} status;

/* Pass a failure up to this function's one exit. */
#define TRY(call)                                                                                  \
  do {                                                                                             \
    rc = (call);                                                                                   \
    if (rc != STATUS_OK) goto done;                                                                \
  } while (0)

/* Runs a local step of something that keeps its first failure in `failure`, unless it has failed
 * already: in a collective sequence a rank that fails alone goes on to the next agreement. */
#define ATTEMPT(owner, call)                                                                       \
  do {                                                                                             \
    if ((owner)->failure == STATUS_OK) (owner)->failure = (call);                                  \
  } while (0)

#if defined(__GNUC__)
#define FORMAT_LIKE(at, first) __attribute__((format(printf, at, first)))
#else
#define FORMAT_LIKE(at, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Records the text of a failure and returns its code: `return fail(STATUS_INPUT, "%s:%ld: ...")`.
 * The first text since fail_clear() is kept: it is the cause, later ones are consequences. Local.
 */
status fail(status code, const char *format, ...) FORMAT_LIKE(2, 3);

/* The recorded text, "" when there is none; and forgetting it. */
const char *fail_text(void);
void fail_clear(void);

#ifdef __cplusplus
}
#endif

#endif
