/* What the first lines of a text file say: Matrix Market banner and size line, or the shape of
 * plain numbers. Recognised by content. */
#ifndef TEXT_HEAD_H
#define TEXT_HEAD_H

#include <stddef.h>

#include "index.h"
#include "line_stream.h"

typedef enum text_layout {
  TEXT_COORDINATE, /* row column value */
  TEXT_ARRAY,      /* values by columns */
  TEXT_PLAIN       /* values by rows, a row a line */
} text_layout;

typedef enum text_field { TEXT_REAL, TEXT_INTEGER, TEXT_PATTERN } text_field;
typedef enum text_symmetry { TEXT_GENERAL, TEXT_SYMMETRIC, TEXT_SKEW } text_symmetry;

typedef struct text_head {
  text_layout layout;
  text_field field;
  text_symmetry symmetry;
  gidx rows, columns; /* plain text: rows 0 (not known yet), columns = numbers on the first line */
  int64_t stored;     /* entries the file promises; -1 for plain text */
  int64_t data_at;    /* byte where the first line after the head starts (plain files) */
  int64_t data_line;  /* its line number, from 1 */
} text_head;

/* Reads the head and leaves the stream at the first line after it. Local. STATUS_INPUT naming the
 * file and the line. */
status text_head_read(line_stream *lines, const char *path, text_head *out);

/* "Matrix Market coordinate real symmetric", ...; constant. */
const char *text_head_format(const text_head *head);

/* A word or a line for an error text: cut to what fits, unprintable bytes as '?'. Returns `to`. */
const char *text_quote(char *to, size_t room, const char *text, int64_t length);

/* The next word of a line that ends with '\n': moves *at behind it; its length, 0 at the end. */
int64_t text_word(const char **at, const char **word);

#endif
