/* Numbers as people write them in a config file or on the command line.
 *
 * Reals: decimal literals, `pi`, `inf`, + - * / ^ (or **) and parentheses; powers bind tighter than
 * a sign and to the right; exponents are whole numbers or halves, so that a value never depends on
 * a libm. Integers: the same, exact (1e6 is 1000000); durations: 30s, 5m, 2h, [D-]HH:MM:SS, MM:SS;
 * sizes: K M G T, powers of 1024. Everything else, NaN and overflow included, is refused.
 *
 * Each reader takes the whole text and returns NULL, or what is wrong as a constant text; *at (may
 * be NULL) then points at the place in `text`. Local; nothing is kept. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* May be infinite, where the text says so: the caller checks bounds. Never NaN. */
const char *number_real(const char *text, double *out, const char **at);

const char *number_integer(const char *text, int64_t *out, const char **at);

/* Seconds. A bare number is refused. */
const char *number_duration(const char *text, double *seconds, const char **at);

/* Bytes. */
const char *number_size(const char *text, int64_t *bytes, const char **at);

/* The shortest decimal text that reads back as the same bits. */
enum { NUMBER_TEXT = 32 };
void number_print(double x, char out[NUMBER_TEXT]);

#endif
