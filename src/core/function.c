/* From an option's text to a formula (function.h).
 *
 * Expressions: parse -> print -> compile -> try against the tree; whatever is missing on the way
 * leaves the interpreter, with the same bits. A Jacobian is a function of n * n such expressions.
 * C files: rank 0 reads, all ranks get the text; compiled twice, as plain code, and as fast code
 * that notes rare arguments and sends such chunks through the plain one. */
#define _GNU_SOURCE
#include "function.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "alloc.h"
#include "expression.h"
#include "expression_print.h"
#include "function_text.h"
#include "log.h"
#include "portable.h"

enum {
  INPUTS_MAX = 256,    /* of compiled functions: a chunk of each is kept on the stack */
  COST_MAX = 8000,     /* of expressions together (expression_print_cost): 5 s of compiling */
  OUTPUT_COST = 4,     /* and of each that is no constant: a loop of its own */
  NODES_MAX = 1 << 18, /* of a Jacobian's texts: about 10 MiB */
  FILE_MAX = 16 << 20, /* bytes of a C file */
  TRIED = 8            /* points that compiled code is tried on */
};

/* Measured by bench/formula.c; docs/expressions.md has the table. */
#define FUNCTION_SLOWER "1.1 to 8 times"

struct function {
  formula is;
  int expressions, plain_only;
  expression **e;
  text_builder text;
  module *code, *plain_code;
  formula_batch plain; /* of plain_code: where fast code sends chunks with rare arguments */
};

const formula *function_formula(const function *f) { return &f->is; }

int function_constant(const function *f, double *value) {
  return f->expressions == 1 && expression_constant(f->e[0], value);
}

int function_uses(const function *f, int output, int input) {
  return f->expressions == 0 || expression_uses(f->e[output], input);
}

int function_is_file(const char *text) {
  const size_t length = strlen(text);
  return length > 2 && strcmp(text + length - 2, ".c") == 0;
}

void function_release(function **f) {
  if (*f == NULL) return;
  for (int k = 0; k < (*f)->expressions; k++) expression_release(&(*f)->e[k]);
  alloc_free(&(*f)->e);
  text_release(&(*f)->text);
  module_release(&(*f)->code);
  module_release(&(*f)->plain_code);
  alloc_free(f);
}

static void interpret(const void *context, int64_t n, const formula_input *in, double *const *out) {
  const function *f = context;
  for (int k = 0; k < f->expressions; k++) expression_values(f->e[k], n, in, out[k]);
}

/* ---- expressions ---- */

static status parse(const function_request *r, function *f) {
  status rc = STATUS_OK;
  char why[4000];
  TRY(alloc_zeroed(&f->e, r->outputs, sizeof(expression *), "expressions"));
  f->expressions = r->outputs;
  for (int k = 0; k < r->outputs; k++) {
    if (function_is_file(r->texts[k])) {
      rc = fail(STATUS_USAGE, "%s: found the C file %.200s; expected an expression", r->where[k],
                r->texts[k]);
      goto done;
    }
    rc = expression_parse(r->texts[k], r->names, &f->e[k]);
    if (rc == STATUS_OK) continue;
    snprintf(why, sizeof why, "%s", fail_text());
    fail_clear();
    rc = fail(rc, "%s: %s", r->where[k], why);
    goto done;
  }
done:
  return rc;
}

static int same(double a, double b) { return (a != a && b != b) || bits_of(a) == bits_of(b); }

/* Whether the compiled code has the tree's bits on a few points, an argument that is rare among
 * them. The values mean nothing. */
static status try_code(const function *f, formula_batch batch, int *agrees) {
  static const double value[TRIED] = {0.5, -1.25, 3.0, 0x1.921fb54442d18p+1, -0.0, 17.0, 1e12, 0.1};
  status rc = STATUS_OK;
  formula_input *in = NULL;
  double *at = NULL, theirs[TRIED], *mine = NULL, **outs = NULL;
  const int inputs = f->is.inputs, outputs = f->is.outputs;
  TRY(alloc_array(&in, inputs, sizeof *in, "trial"));
  TRY(alloc_array(&at, (int64_t)inputs * TRIED, sizeof *at, "trial"));
  TRY(alloc_array(&mine, (int64_t)outputs * TRIED, sizeof *mine, "trial"));
  TRY(alloc_array(&outs, outputs, sizeof *outs, "trial"));
  for (int v = 0; v < inputs; v++) {
    for (int i = 0; i < TRIED; i++) at[v * TRIED + i] = value[(i + 3 * v) % TRIED];
    in[v] = (formula_input){at + v * TRIED, 1};
  }
  for (int k = 0; k < outputs; k++) outs[k] = mine + k * TRIED;
  batch(NULL, TRIED, in, outs);
  for (int k = 0; k < outputs; k++) {
    expression_values(f->e[k], TRIED, in, theirs);
    for (int i = 0; i < TRIED; i++) *agrees = *agrees && same(outs[k][i], theirs[i]);
  }
done:
  alloc_free(&in);
  alloc_free(&at);
  alloc_free(&mine);
  alloc_free(&outs);
  return rc;
}

/* Why nothing is compiled, for the log; the same text for every formula of a run is said once. */
static void say_interpreted(const char *why) {
  log_warning("formulas are interpreted, with the same bits but " FUNCTION_SLOWER " slower: %.400s",
              why);
}

static status compile_expressions(comm *c, compiler *with, function *f) {
  status rc = STATUS_OK;
  const expression *const *e = (const expression *const *)f->e;
  text_builder source = {0};
  char said[COMPILE_SAID];
  compile_outcome outcome;
  int64_t cost = 0;
  int used = 0, agrees = 1;
  for (int k = 0; k < f->expressions; k++) {
    cost += expression_print_cost(e[k]) + (expression_constant(e[k], NULL) ? 0 : OUTPUT_COST);
  }
  for (int v = 0; v < f->is.inputs; v++) {
    int uses = 0;
    for (int k = 0; k < f->expressions; k++) uses |= expression_uses(e[k], v);
    used += uses;
  }
  if (cost > COST_MAX || used > INPUTS_MAX) {
    say_interpreted("they are too long to be compiled in reasonable time");
    return STATUS_OK;
  }
  rc = text_append(&source, f->text.text);
  if (rc == STATUS_OK) rc = expression_print_batch(e, f->expressions, f->is.inputs, &source);
  TRY(comm_agree(c, rc));
  const compile_request request = {source.text, NULL, 0};
  TRY(compiler_build(c, with, &request, &outcome, said, &f->code));
  if (outcome != COMPILE_DONE) {
    say_interpreted(said);
    goto done;
  }
  formula_batch batch;
  module_function(f->code, "formula_batch_main", &batch);
  rc = batch == NULL ? fail(STATUS_BUG, "compiled formula without its function")
                     : try_code(f, batch, &agrees);
  if (rc == STATUS_OK && !agrees) {
    rc = fail(STATUS_UNAVAILABLE,
              "code compiled by %s computes other bits than the formula says: the compiler, or a "
              "wrapper around it, changes the arithmetic; HALOSWEEP_CC names another one",
              compiler_name(with));
  }
  TRY(comm_agree(c, rc));
  f->is.batch = batch;
  f->is.context = NULL;
done:
  text_release(&source);
  return rc;
}

/* From parsed expressions to what evaluates them; `rc`: how parsing went here. */
static status from_expressions(comm *c, compiler *with, status rc, function *f) {
  f->is.kind = "expression";
  f->is.batch = interpret;
  f->is.context = f;
  if (rc == STATUS_OK) {
    rc = text_append(&f->text, "#include <math.h>\n\n#include \"elementary.h\"\n\n");
  }
  if (rc == STATUS_OK) {
    rc = expression_print_value((const expression *const *)f->e, f->expressions, &f->text);
  }
  TRY(comm_agree(c, rc));
  f->is.text = f->text.text;
  if (!f->plain_only && with != NULL) TRY(compile_expressions(c, with, f));
done:
  return rc;
}

/* The derivatives into `to`: of each output by `count` inputs, 0: by one, its own; *exist: whether
 * there are any of reasonable size. */
static status differentiate(const function *f, int first, int count, function *to, int *exist) {
  status rc = STATUS_OK;
  int64_t nodes = 0;
  *exist = 1;
  TRY(alloc_zeroed(&to->e, to->is.outputs, sizeof(expression *), "expressions"));
  to->expressions = to->is.outputs;
  for (int k = 0; k < to->expressions && *exist; k++) {
    const int output = count > 0 ? k / count : k, input = first + (count > 0 ? k % count : k);
    rc = expression_derivative(f->e[output], input, &to->e[k]);
    if (rc == STATUS_OK) nodes += expression_size(to->e[k]);
    *exist = rc == STATUS_OK && nodes <= NODES_MAX;
    if (rc != STATUS_USAGE) continue;
    fail_clear(); /* keeps too many values at once */
    rc = STATUS_OK;
  }
done:
  return rc;
}

static status derive(comm *c, compiler *with, const function *f, int first, int count,
                     int64_t outputs, function **out) {
  status rc = STATUS_OK;
  function *j = NULL;
  int exist = 0;
  *out = NULL;
  if (f->expressions == 0 || outputs == 0 || outputs > JACOBIAN_OUTPUTS_MAX) return STATUS_OK;
  TRY(comm_agree(c, alloc_zeroed(&j, 1, sizeof *j, "Jacobian")));
  j->is.inputs = f->is.inputs;
  j->is.outputs = (int)outputs;
  j->plain_only = f->plain_only;
  rc = differentiate(f, first, count, j, &exist);
  TRY(comm_agree(c, rc));
  if (!exist) goto done;
  TRY(from_expressions(c, with, STATUS_OK, j));
  *out = j;
  j = NULL;
done:
  function_release(&j);
  return rc;
}

status function_jacobian(comm *c, compiler *with, const function *f, int first, int count,
                         function **out) {
  return derive(c, with, f, first, count, (int64_t)f->is.outputs * count, out);
}

status function_jacobian_diagonal(comm *c, compiler *with, const function *f, int first,
                                  function **out) {
  return derive(c, with, f, first, 0, f->is.outputs, out);
}

/* ---- C files ---- */

/* Relative to the INI, if that is where the name stands. */
static void find_file(const function_request *r, char path[4096]) {
  const char *name = r->texts[0];
  const char *slash = r->ini == NULL ? NULL : strrchr(r->ini, '/');
  const int from_ini = slash != NULL && name[0] != '/' && strncmp(r->where[0], "--", 2) != 0;
  snprintf(path, 4096, "%.*s%.2000s", from_ini ? (int)(slash - r->ini) + 1 : 0,
           from_ini ? r->ini : "", name);
}

static status read_c_file(const function_request *r, c_file *f, int64_t *bytes) {
  status rc = STATUS_OK;
  struct stat s;
  FILE *file = fopen(f->path, "re");
  if (file == NULL) {
    return fail(STATUS_INPUT, "%s: %s cannot be opened: %s%s", r->where[0], f->path,
                strerror(errno),
                strpbrk(r->texts[0], "~$") != NULL ? " (~ and $VAR are not expanded)" : "");
  }
  if (fstat(fileno(file), &s) != 0 || !S_ISREG(s.st_mode) || s.st_size > FILE_MAX) {
    rc = fail(STATUS_INPUT, "%s: %s: expected a C file of at most %d MiB", r->where[0], f->path,
              FILE_MAX >> 20);
    goto done;
  }
  TRY(alloc_array(&f->text, s.st_size + 1, 1, "C file"));
  *bytes = (int64_t)fread(f->text, 1, (size_t)s.st_size, file);
  f->text[*bytes] = '\0';
  if (ferror(file)) {
    rc = fail(STATUS_INPUT, "%s: %s cannot be read: %s", r->where[0], f->path, strerror(errno));
  } else if (strlen(f->text) != (size_t)*bytes) {
    rc = fail(STATUS_INPUT, "%s: %s holds a zero byte: not C", r->where[0], f->path);
  }
done:
  fclose(file);
  return rc;
}

/* Rank 0 reads, all get it. */
static status get_c_file(comm *c, const function_request *r, c_file *f) {
  status rc = STATUS_OK;
  int64_t bytes = 0;
  find_file(r, f->path);
  if (comm_rank(c) == 0) rc = read_c_file(r, f, &bytes);
  TRY(comm_agree(c, rc));
  TRY(comm_broadcast(c, &bytes, sizeof bytes, 0));
  if (comm_rank(c) != 0) rc = alloc_zeroed(&f->text, bytes + 1, 1, "C file");
  TRY(comm_agree(c, rc));
  TRY(comm_broadcast(c, f->text, bytes, 0));
done:
  return rc;
}

/* What a compiler had against the file. The same on all ranks: one says it. */
static status complain(const function_request *r, const c_file *f, const compiler *with,
                       compile_outcome outcome, const char *said) {
  if (outcome == COMPILE_MISSING) {
    return fail(STATUS_UNAVAILABLE,
                "%s: no compiler for the C file %s: %s (HALOSWEEP_CC names one)", r->where[0],
                f->path, said);
  }
  if (strncmp(said, "undefined symbol", 16) == 0) {
    return fail(STATUS_INPUT,
                "%s: %s: %s; expected it to define %s, and to call only what it defines and what "
                "halosweep's math.h has",
                r->where[0], f->path, said, r->prototype);
  }
  return fail(STATUS_INPUT, "%s: %s does not compile (%s):\n%s", r->where[0], f->path,
              compiler_name(with), said);
}

static status compile_c(comm *c, compiler *with, const function_request *r, const c_file *file,
                        int inputs, int noting, module **out, formula_batch *batch) {
  status rc = STATUS_OK;
  text_builder source = {0};
  char said[COMPILE_SAID], folder[4096];
  compile_outcome outcome;
  snprintf(folder, sizeof folder, "%s", file->path);
  char *slash = strrchr(folder, '/');
  snprintf(slash == NULL ? folder : slash + 1, 2, "%s", slash == NULL ? "." : "");
  TRY(comm_agree(c, function_text_host(r, file, inputs, noting, &source)));
  const compile_request request = {source.text, folder, 1};
  TRY(compiler_build(c, with, &request, &outcome, said, out));
  if (outcome != COMPILE_DONE) {
    rc = comm_agree(c, complain(r, file, with, outcome, said));
    goto done;
  }
  module_function(*out, "formula_batch_main", batch);
  if (*batch == NULL) rc = fail(STATUS_BUG, "compiled C file without its function");
  rc = comm_agree(c, rc);
done:
  text_release(&source);
  return rc;
}

static status from_c_file(comm *c, compiler *with, const function_request *r, function *f) {
  status rc = STATUS_OK;
  c_file file = {.text = NULL};
  if (r->prototype == NULL || f->is.inputs > INPUTS_MAX) {
    rc = fail(STATUS_USAGE,
              r->prototype == NULL ? "%s: found the C file %.200s; expected an expression"
                                   : "%s: the C file %.200s would get more than 256 values",
              r->where[0], r->texts[0]);
  } else if (with == NULL) {
    rc = fail(STATUS_BUG, "a C file where nothing is compiled");
  }
  TRY(comm_agree(c, rc));
  TRY(get_c_file(c, r, &file));
  TRY(compile_c(c, with, r, &file, f->is.inputs, 0, &f->plain_code, &f->plain));
  f->is.batch = f->plain;
  if (!r->plain) TRY(compile_c(c, with, r, &file, f->is.inputs, 1, &f->code, &f->is.batch));
  TRY(comm_agree(c, function_text_device(r, &file, &f->text)));
  f->is.context = &f->plain;
  f->is.text = f->text.text;
  f->is.kind = "C file";
done:
  alloc_free(&file.text);
  return rc;
}

status function_create(comm *c, compiler *with, const function_request *r, function **out) {
  status rc = STATUS_OK;
  function *f = NULL;
  *out = NULL;
  TRY(comm_agree(c, alloc_zeroed(&f, 1, sizeof *f, "function")));
  while (r->names != NULL && r->names[f->is.inputs] != NULL) f->is.inputs++;
  f->is.outputs = r->outputs;
  f->plain_only = r->plain;
  if (function_is_file(r->texts[0])) {
    TRY(from_c_file(c, with, r, f));
  } else {
    TRY(from_expressions(c, with, parse(r, f), f));
  }
  *out = f;
  f = NULL;
done:
  function_release(&f);
  return rc;
}
