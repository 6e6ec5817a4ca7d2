/* The log: everything a person reads while the program works goes to stderr through here, and only
 * from the rank that log_open() was told to speak for (rank 0). Results go to stdout by the report.
 */
#ifndef LOG_H
#define LOG_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `speaks`: whether this process prints; `quiet`: only warnings and errors. */
void log_open(int speaks, int quiet);

void log_info(const char *format, ...) FORMAT_LIKE(1, 2);

/* Printed, and kept for the report's `warnings` (each distinct text once). */
void log_warning(const char *format, ...) FORMAT_LIKE(1, 2);

/* Printed with "halosweep: error:" in front, even when quiet; by every process that calls it, since
 * only one is asked to (comm_agree chooses which). */
void log_error(const char *format, ...) FORMAT_LIKE(1, 2);

/* The warnings so far; NULL past the last. */
const char *log_warning_at(int index);

#ifdef __cplusplus
}
#endif

#endif
