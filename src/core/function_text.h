/* The texts made of a user's C file; nobody but function*.c includes this. */
#ifndef FUNCTION_TEXT_H
#define FUNCTION_TEXT_H

#include "function.h"
#include "text.h"

/* A C file as it was read. */
typedef struct c_file {
  char path[4096];
  char *text;
} c_file;

/* For devices: formula.h's text. */
status function_text_device(const function_request *r, const c_file *f, text_builder *out);

/* For the host: a formula_batch_main(). `noting`: by formula_noting.h, else by plain functions. */
status function_text_host(const function_request *r, const c_file *f, int inputs, int noting,
                          text_builder *out);

#endif
