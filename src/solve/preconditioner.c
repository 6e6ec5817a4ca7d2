/* The preconditioners there are (preconditioners.def), and one made ready (preconditioner.h). */
#include "preconditioner.h"

#include "registry.h"

#define PRECONDITIONER(word, name) extern const preconditioner PRECONDITIONER_##name;
#include "preconditioners.def"
#undef PRECONDITIONER

#define PRECONDITIONER(word, name) &PRECONDITIONER_##name,
static const preconditioner *const preconditioners[] = {
#include "preconditioners.def"
};
#undef PRECONDITIONER

REGISTRY(preconditioner, preconditioner, preconditioners)

status preconditioning_open(linear_system *s, const preconditioner *kind,
                            const preconditioner_request *q, preconditioning *out) {
  *out = (preconditioning){.kind = kind};
  if (kind == NULL) return STATUS_OK;
  return comm_agree(s->world, kind->open(s, q, &out->data));
}

status preconditioning_apply(linear_system *s, const preconditioning *p, vec r, vec z) {
  if (p != NULL && p->kind != NULL) return p->kind->apply(s, p->data, r, z);
  ATTEMPT(s, s->kernels->copy(s->place, z, r));
  return STATUS_OK;
}

void preconditioning_close(linear_system *s, preconditioning *p) {
  if (p->kind != NULL && p->data != NULL) p->kind->close(s, &p->data);
  p->kind = NULL;
}

vec preconditioning_diagonal(const preconditioning *p) {
  if (p->kind == NULL || p->kind->diagonal == NULL) return (vec){.rows = 0};
  return p->kind->diagonal(p->data);
}
