/* The report: one JSON object, built key by key in the order it is to be read. Real numbers get 17
 * digits, 64-bit integers are exact; a real that is not finite becomes null with the reason in a
 * sibling key KEY_is ("nan", "inf", "-inf"). A failure while building (no memory) is kept and
 * returned by report_text(). Local. */
#ifndef REPORT_H
#define REPORT_H

#include <stdint.h>

#include "status.h"

typedef struct report report;

status report_create(report **out);
void report_release(report **r);

void report_word(report *r, const char *key, const char *text); /* NULL text: null */
void report_integer(report *r, const char *key, int64_t value);
void report_real(report *r, const char *key, double value);
void report_flag(report *r, const char *key, int value);

/* Keys set until the matching close go into a nested object, or (key NULL in the setters) into a
 * list. Nesting up to 8 deep. */
void report_open(report *r, const char *key);
void report_open_list(report *r, const char *key);
void report_close(report *r);

/* The text; owned by the report, valid until it is changed or released. */
status report_text(report *r, const char **text);

/* To a file, through a temporary one and a rename; "-" is stdout. STATUS_IO naming the file. */
status report_write(report *r, const char *path);

/* Text that is a report already (out of a result file), likewise. */
status report_write_text(const char *text, const char *path);

/* A line (or more) for people on stdout: results go there, everything else to the log. */
void report_print(const char *format, ...) FORMAT_LIKE(1, 2);

/* A number of bytes to read: "12.3 kB", "1.5 GB" (powers of 1000). */
enum { REPORT_BYTES = 32 };
void report_bytes(double bytes, char out[REPORT_BYTES]);

/* "1 row", "20 rows": `what` is the word for one. */
enum { REPORT_COUNT = 64 };
void report_count(int64_t count, const char *what, char out[REPORT_COUNT]);

/* One value of a finished report, as text; NULL when the text is no report or lacks the key. Free
 * with alloc_free. */
char *report_lookup(const char *json, const char *key);

#endif
