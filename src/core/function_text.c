/* Around a user's C file (function_text.h): what comes before it, and the loop over points that
 * calls it. Compilers name the user's file and line. */
#include "function_text.h"

#include <string.h>

enum { MISSING = 8 };

/* #line 1 "path": a path may hold anything. */
static status append_line_mark(const char *path, text_builder *out) {
  status rc = STATUS_OK;
  TRY(text_append(out, "#line 1 \""));
  for (const char *p = path; *p != '\0'; p++) {
    const unsigned char c = (unsigned char)*p;
    if (c < 32 || c == 127 || c == '"' || c == '\\') {
      TRY(text_print(out, "\\%03o", (unsigned)c));
    } else {
      const char piece[2] = {*p, '\0'};
      TRY(text_append(out, piece));
    }
  }
  TRY(text_append(out, "\"\n"));
done:
  return rc;
}

static status append_user(const c_file *f, text_builder *out) {
  status rc = STATUS_OK;
  TRY(append_line_mark(f->path, out));
  TRY(text_append(out, f->text));
  TRY(text_append(out, "\n#line 1 \"around the function\"\n"));
done:
  return rc;
}

status function_text_device(const function_request *r, const c_file *f, text_builder *out) {
  status rc = STATUS_OK;
  TRY(text_append(out, "#include <math.h>\n\n#include \"elementary.h\"\n"
                       "#include \"halosweep_functions.h\"\n"));
  TRY(append_user(f, out));
  TRY(text_print(out,
                 "PORTABLE void formula_value(const double *in, double *out) {\n  %.1000s\n}\n",
                 r->call));
done:
  return rc;
}

/* The loop over points. Behind the parameters that were given come numbers that are none, so that a
 * function that reads more of them does not get a plausible result. */
static status append_points(const function_request *r, int inputs, text_builder *out) {
  status rc = STATUS_OK;
  TRY(text_append(out, "static FORMULA_LOOP void formula_points(int64_t n"));
  for (int j = 0; j < inputs; j++) TRY(text_print(out, ", const double *restrict v%d", j));
  for (int k = 0; k < r->outputs; k++) TRY(text_print(out, ", double *restrict o%d", k));
  TRY(text_append(out, ") {\n  for (int64_t i = 0; i < n; i++) {\n    const double in[] = {"));
  for (int j = 0; j < inputs; j++) TRY(text_print(out, "v%d[i], ", j));
  for (int k = 0; k < MISSING; k++) TRY(text_append(out, "__builtin_nan(\"\"), "));
  TRY(text_append(out, "};\n    double out[FORMULA_OUTPUTS];\n"));
  TRY(text_print(out, "    %.1000s\n", r->call));
  for (int k = 0; k < r->outputs; k++) TRY(text_print(out, "    o%d[i] = out[%d];\n", k, k));
  TRY(text_append(out, "  }\n}\n\n"));
done:
  return rc;
}

static status append_chunk(const function_request *r, int inputs, int noting, text_builder *out) {
  status rc = STATUS_OK;
  TRY(text_append(out, "static uint64_t formula_chunk(int64_t n, const double *const *v, "
                       "double *const *o) {\n  (void)v;\n"));
  if (noting) TRY(text_append(out, "  formula_rare = 0;\n"));
  TRY(text_append(out, "  formula_points(n"));
  for (int j = 0; j < inputs; j++) TRY(text_print(out, ", v[%d]", j));
  for (int k = 0; k < r->outputs; k++) TRY(text_print(out, ", o[%d]", k));
  TRY(text_print(out, ");\n  return %s;\n}\n\n", noting ? "formula_rare" : "0"));
done:
  return rc;
}

status function_text_host(const function_request *r, const c_file *f, int inputs, int noting,
                          text_builder *out) {
  status rc = STATUS_OK;
  TRY(text_append(out, "#include <math.h>\n\n#include \"formula_host.h\"\n"));
  if (noting) TRY(text_append(out, "#include \"formula_noting.h\"\n"));
  /* what is not declared would be taken to return int */
  TRY(text_append(out, "#pragma GCC diagnostic error \"-Wimplicit-function-declaration\"\n"));
  /* its definition becomes static by this, and the loop can take it in */
  TRY(text_print(out, "static inline %.1000s;\n#include \"halosweep_functions.h\"\n",
                 r->prototype));
  TRY(append_user(f, out));
  TRY(text_append(out, "static const int formula_input_at[] = {"));
  for (int j = 0; j < inputs; j++) TRY(text_print(out, "%d, ", j));
  TRY(text_print(out,
                 "-1};\nenum { FORMULA_PLACES = %d, FORMULA_INPUTS = %d, FORMULA_OUTPUTS = %d "
                 "};\n\n",
                 inputs, inputs, r->outputs));
  TRY(append_points(r, inputs, out));
  TRY(append_chunk(r, inputs, noting, out));
  TRY(text_append(out, "#include \"formula_elsewhere.h\"\n#include \"formula_driver.h\"\n"));
done:
  return rc;
}
