/* Expressions: life and evaluation (expression.h). Both evaluators walk the scheduled nodes; the
 * block form does CHUNK points at a time, slot by slot, so the walk costs little per point: about
 * 8 bytes read per operand and 8 written per node and point, all of it in the first-level cache. A
 * variable that is an array is read where it lies. */
#include "expression.h"

#include <stddef.h>
#include <string.h>

#include "alloc.h"
#include "expression_tree.h"

status expression_parse(const char *text, const char *const *names, expression **out) {
  status rc = STATUS_OK;
  expression *e = NULL;
  *out = NULL;
  TRY(alloc_zeroed(&e, 1, sizeof *e, "expression"));
  TRY(expression_build(text, names, e));
  TRY(expression_finish(e));
  *out = e;
  e = NULL;
done:
  expression_release(&e);
  return rc;
}

void expression_release(expression **e) {
  if (*e == NULL) return;
  alloc_free(&(*e)->nodes);
  alloc_free(&(*e)->order);
  alloc_free(e);
}

double expression_value(const expression *e, const double *variables) {
  double slot[SLOTS_MAX];
  for (int32_t i = 0; i < e->order_count; i++) {
    const node *n = &e->nodes[e->order[i]];
    const operation *o = &OPERATIONS[n->code];
    if (n->code == OPERATION_CONSTANT) {
      slot[n->slot] = n->constant;
    } else if (n->code == OPERATION_VARIABLE) {
      slot[n->slot] = variables[n->operand[0]];
    } else {
      double argument[3];
      for (int k = 0; k < 3; k++) {
        argument[k] = slot[e->nodes[n->operand[k < o->operands ? k : 0]].slot];
      }
      slot[n->slot] = o->value(argument[0], argument[1], argument[2]);
    }
  }
  return slot[0];
}

static void spread(int64_t n, double value, double *out) {
  for (int64_t i = 0; i < n; i++) out[i] = value;
}

/* Points [begin, begin + n), n <= CHUNK. */
static void chunk_values(const expression *e, int64_t begin, int64_t n,
                         const formula_input *variables, double *out) {
  double room[SLOTS_MAX][CHUNK];
  const double *slot[SLOTS_MAX];
  for (int32_t i = 0; i < e->order_count; i++) {
    const node *at = &e->nodes[e->order[i]];
    const operation *o = &OPERATIONS[at->code];
    double *mine = i == e->order_count - 1 ? out : room[at->slot];
    if (at->code == OPERATION_CONSTANT) {
      spread(n, at->constant, mine);
    } else if (at->code == OPERATION_VARIABLE) {
      const formula_input v = variables[at->operand[0]];
      if (v.step == 1) {
        slot[at->slot] = v.at + begin;
        continue;
      }
      for (int64_t p = 0; p < n; p++) mine[p] = v.at[(begin + p) * v.step];
    } else {
      const double *argument[3];
      for (int k = 0; k < 3; k++) {
        argument[k] = slot[e->nodes[at->operand[k < o->operands ? k : 0]].slot];
      }
      o->values(n, argument[0], argument[1], argument[2], mine);
    }
    slot[at->slot] = mine;
  }
  if (slot[0] != out) memcpy(out, slot[0], (size_t)n * sizeof *out); /* a bare variable */
}

void expression_values(const expression *e, int64_t n, const formula_input *variables,
                       double *out) {
  for (int64_t begin = 0; begin < n; begin += CHUNK) {
    chunk_values(e, begin, n - begin < CHUNK ? n - begin : CHUNK, variables, out + begin);
  }
}

int expression_size(const expression *e) { return e->order_count; }

int expression_uses(const expression *e, int v) {
  for (int32_t i = 0; i < e->order_count; i++) {
    const node *n = &e->nodes[e->order[i]];
    if (n->code == OPERATION_VARIABLE && n->operand[0] == v) return 1;
  }
  return 0;
}

/* Whether operand k of n is known to be 0. */
static int is_zero(const expression *e, const node *n, int k, const int *known,
                   const double *slot) {
  const int32_t at = e->nodes[n->operand[k]].slot;
  return known[at] && slot[at] == 0.0;
}

/* What a node is where not all of its operands are known: 1, with its value through *out. */
static int follows(const expression *e, const node *n, const int *known, const double *slot,
                   double *out) {
  const operation_code code = n->code;
  *out = 0.0;
  if (code == OPERATION_DIVIDE) return is_zero(e, n, 0, known, slot);
  if (code == OPERATION_POWER) {
    *out = 1.0;
    return is_zero(e, n, 1, known, slot);
  }
  const int fused =
      code == OPERATION_FMA || code == OPERATION_FMA_SUBTRACT || code == OPERATION_FMA_NEGATE;
  if (!fused && code != OPERATION_MULTIPLY && code != OPERATION_AND) return 0;
  if (!is_zero(e, n, 0, known, slot) && !is_zero(e, n, 1, known, slot)) return 0;
  if (!fused) return 1;
  const int32_t third = e->nodes[n->operand[2]].slot;
  *out = code == OPERATION_FMA_SUBTRACT ? -slot[third] : slot[third];
  return known[third];
}

int expression_settled(const expression *e, const double *variables, int unknown) {
  double slot[SLOTS_MAX] = {0.0};
  int known[SLOTS_MAX] = {0};
  for (int32_t i = 0; i < e->order_count; i++) {
    const node *n = &e->nodes[e->order[i]];
    const operation *o = &OPERATIONS[n->code];
    double value = n->constant;
    int settled = n->code != OPERATION_VARIABLE || n->operand[0] >= unknown;
    if (n->code == OPERATION_VARIABLE) {
      value = settled ? variables[n->operand[0]] : 0.0;
    } else if (n->code != OPERATION_CONSTANT) {
      double argument[3];
      for (int k = 0; k < 3; k++) {
        const int32_t from = e->nodes[n->operand[k < o->operands ? k : 0]].slot;
        argument[k] = slot[from];
        settled = settled && known[from];
      }
      if (settled)
        value = o->value(argument[0], argument[1], argument[2]);
      else
        settled = follows(e, n, known, slot, &value);
    }
    slot[n->slot] = value;
    known[n->slot] = settled;
  }
  return known[0];
}

int expression_constant(const expression *e, double *value) {
  const node *root = &e->nodes[e->node_count - 1];
  if (root->code != OPERATION_CONSTANT) return 0;
  if (value != NULL) *value = root->constant;
  return 1;
}
