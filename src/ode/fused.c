/* From a right-hand side's text to fused steps (fused.h): text, constants and ode_fused.h in one
 * file for the host compiler. */
#include "fused.h"

#include <string.h>

#include "text.h"

enum { COMPONENTS_MAX = 16, TEXT_MAX = 20000 };

/* Functions whose plain form has a rare slow path: with it no loop becomes vectors. */
static int is_straight(const char *text) {
  static const char *const rare[] = {"sin", "cos", "tan", "pow", "for ", "while"};
  for (size_t i = 0; i < sizeof rare / sizeof *rare; i++) {
    if (strstr(text, rare[i]) != NULL) return 0;
  }
  return strlen(text) < TEXT_MAX;
}

static status write_source(const formula *rhs, const ode_plan *plan, text_builder *out) {
  status rc = STATUS_OK;
  TRY(text_append(out, "#define formula_value ode_value\n"));
  TRY(text_append(out, rhs->text));
  TRY(text_print(out, "\n#define ODE_LANES %d\n", (int)ODE_HOST_LANES));
  TRY(text_print(out, "#define ODE_N %d\n", (int)plan->components));
  TRY(text_append(out, "#define ODE_COMPONENTS(plan) ODE_N\n"));
  TRY(text_print(out, "#define ODE_SHARED(plan) %d\n", (int)plan->shared));
  TRY(text_print(out, "#define ODE_PARAMETERS(plan) %d\n", (int)plan->parameters));
  TRY(text_print(out, "#define ODE_KIND(plan) %d\n", (int)plan->kind));
  TRY(text_print(out, "#define ODE_VARIANT(plan) %d\n", (int)plan->variant));
  TRY(text_append(out, "#define ODE_STEP(w) ((const ode_tableau *)0)\n"));
  TRY(text_append(out, "#define ODE_SYSTEM_H\n"
                       "typedef struct ode_call ode_call;\n"
                       "#include \"ode_fused.h\"\n"
                       "__attribute__((visibility(\"default\"), flatten))\n"));
  if (plan->adaptive) {
    TRY(text_append(out, "void ode_fused_main(void *w) { ode_attempt_fused((ode_work *)w); }\n"));
  } else {
    TRY(text_append(out, "void ode_fused_main(void *w, int64_t count) {\n"
                         "  ode_steps_fused((ode_work *)w, count);\n}\n"));
  }
done:
  return rc;
}

status ode_fused_create(comm *c, compiler *with, const formula *rhs, const ode_plan *plan,
                        module **code, ode_fused *out) {
  status rc = STATUS_OK;
  text_builder source = {0};
  char said[COMPILE_SAID];
  compile_outcome outcome;
  *code = NULL;
  *out = (ode_fused){NULL, NULL};
  if (with == NULL || rhs->text == NULL || plan->kind != ODE_RUNGE_KUTTA ||
      plan->components > COMPONENTS_MAX || !is_straight(rhs->text)) {
    return STATUS_OK;
  }
  TRY(comm_agree(c, write_source(rhs, plan, &source)));
  const compile_request request = {source.text, NULL, 0};
  TRY(compiler_build(c, with, &request, &outcome, said, code));
  if (outcome != COMPILE_DONE) goto done;
  if (plan->adaptive) {
    module_function(*code, "ode_fused_main", &out->attempt);
  } else {
    module_function(*code, "ode_fused_main", &out->steps);
  }
done:
  text_release(&source);
  return rc;
}
