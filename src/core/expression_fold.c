/* From the tree as written to the tree as evaluated, in three passes over the node array, none of
 * them recursive (a sum of thousands of terms is thousands of nodes deep):
 *
 * fuse      a sum or difference with a product as direct operand becomes one fma. If both operands
 *           are products, the left one is fused. Decided before folding and from the shape alone,
 *           so that replacing a variable by its value never changes a bit.
 * fold      a node whose operands are constants becomes one, by the operation evaluation would use.
 * schedule  Sethi and Ullman (1970): the operand that needs most slots is evaluated first. The i-th
 *           operand evaluated sits in slot base + i while the next are evaluated. A node with
 *           operands that need n0 >= n1 >= n2 needs max(n0, n1 + 1, n2 + 2), so one slot more takes
 *           at least sqrt(3) times the leaves: 32768 leaves (65536 characters) need at most 20.
 *
 * Derivatives share nodes and come in an order that is good already: expression_arrange leaves out
 * what is not needed and gives each value a slot from its node to its last parent. */
#include <stddef.h>

#include "alloc.h"
#include "expression_tree.h"

static int is(const expression *e, int32_t i, operation_code code) {
  return e->nodes[i].code == code;
}

static void become(node *n, operation_code code, int32_t a, int32_t b, int32_t c) {
  n->code = code;
  n->operand[0] = a;
  n->operand[1] = b;
  n->operand[2] = c;
}

void expression_fuse(const expression *e, node *n) {
  if (n->code != OPERATION_ADD && n->code != OPERATION_SUBTRACT) return;
  const int minus = n->code == OPERATION_SUBTRACT;
  const int32_t left = n->operand[0], right = n->operand[1];
  if (is(e, left, OPERATION_MULTIPLY)) {
    const node *product = &e->nodes[left];
    become(n, minus ? OPERATION_FMA_SUBTRACT : OPERATION_FMA, product->operand[0],
           product->operand[1], right);
  } else if (is(e, right, OPERATION_MULTIPLY)) {
    const node *product = &e->nodes[right];
    become(n, minus ? OPERATION_FMA_NEGATE : OPERATION_FMA, product->operand[0],
           product->operand[1], left);
  }
}

void expression_fold(const expression *e, node *n) {
  const operation *o = &OPERATIONS[n->code];
  double argument[3] = {0.0, 0.0, 0.0};
  for (int i = 0; i < o->operands; i++) {
    if (!is(e, n->operand[i], OPERATION_CONSTANT)) return;
    argument[i] = e->nodes[n->operand[i]].constant;
  }
  if (o->operands == 0) return;
  n->constant = o->value(argument[0], argument[1], argument[2]);
  n->code = OPERATION_CONSTANT;
}

/* The operands of n, those with the largest need first; equal ones as written. */
static int by_need(const node *n, const int32_t *need, int32_t *sorted) {
  const int count = OPERATIONS[n->code].operands;
  for (int i = 0; i < count; i++) {
    int at = i;
    for (; at > 0 && need[sorted[at - 1]] < need[n->operand[i]]; at--) sorted[at] = sorted[at - 1];
    sorted[at] = n->operand[i];
  }
  return count;
}

/* Sizes of subtrees and slots they need from the leaves up; places and slots from the root down. */
static status schedule(expression *e, int32_t *need, int32_t *size, int32_t *place) {
  const int32_t root = e->node_count - 1;
  int32_t sorted[3];
  for (int32_t i = 0; i <= root; i++) {
    const int count = by_need(&e->nodes[i], need, sorted);
    need[i] = 1;
    size[i] = 1;
    place[i] = -1; /* dead, until a parent says otherwise */
    for (int k = 0; k < count; k++) {
      if (need[sorted[k]] + k > need[i]) need[i] = need[sorted[k]] + k;
      size[i] += size[sorted[k]];
    }
  }
  if (need[root] > SLOTS_MAX) return fail(STATUS_USAGE, "the expression is too complicated");
  e->order_count = size[root];
  place[root] = size[root] - 1;
  e->nodes[root].slot = 0;
  for (int32_t i = root; i >= 0; i--) {
    if (place[i] < 0) continue;
    e->order[place[i]] = i;
    int32_t end = place[i];
    for (int k = by_need(&e->nodes[i], need, sorted) - 1; k >= 0; k--) {
      place[sorted[k]] = end - 1;
      e->nodes[sorted[k]].slot = e->nodes[i].slot + k;
      end -= size[sorted[k]];
    }
  }
  return STATUS_OK;
}

status expression_finish(expression *e) {
  status rc = STATUS_OK;
  int32_t *need = NULL, *size = NULL, *place = NULL;
  for (int32_t i = 0; i < e->node_count; i++) expression_fuse(e, &e->nodes[i]);
  for (int32_t i = 0; i < e->node_count; i++) expression_fold(e, &e->nodes[i]);
  TRY(alloc_array(&need, e->node_count, sizeof *need, "expression"));
  TRY(alloc_array(&size, e->node_count, sizeof *size, "expression"));
  TRY(alloc_array(&place, e->node_count, sizeof *place, "expression"));
  TRY(alloc_array(&e->order, e->node_count, sizeof *e->order, "expression"));
  TRY(schedule(e, need, size, place));
done:
  alloc_free(&need);
  alloc_free(&size);
  alloc_free(&place);
  return rc;
}

/* ---- shared nodes ---- */

/* Leaves out what the root does not need. number[i]: room for i up to the root. */
static void compact(expression *e, int32_t root, int32_t *number) {
  int32_t count = 0;
  for (int32_t i = 0; i <= root; i++) number[i] = i == root ? 0 : -1;
  for (int32_t i = root; i >= 0; i--) {
    const node *n = &e->nodes[i];
    for (int k = 0; k < OPERATIONS[n->code].operands && number[i] == 0; k++) {
      number[n->operand[k]] = 0;
    }
  }
  for (int32_t i = 0; i <= root; i++) {
    if (number[i] < 0) continue;
    node *n = &e->nodes[count];
    *n = e->nodes[i];
    const int operands = OPERATIONS[n->code].operands;
    for (int k = 0; k < operands; k++) n->operand[k] = number[n->operand[k]];
    for (int k = operands > 0 ? operands : 1; k < 3; k++) n->operand[k] = 0;
    number[i] = count++;
  }
  e->node_count = count;
}

/* From the root back: a node gives its slot back where it is made, its operands take the first free
 * ones unless a later parent has made them. */
static status give_slots(expression *e) {
  uint64_t taken = 1;
  for (int32_t i = 0; i < e->node_count; i++) e->nodes[i].slot = i == e->node_count - 1 ? 0 : -1;
  for (int32_t i = e->node_count - 1; i >= 0; i--) {
    node *n = &e->nodes[i];
    taken &= ~((uint64_t)1 << n->slot);
    for (int k = 0; k < OPERATIONS[n->code].operands; k++) {
      node *operand = &e->nodes[n->operand[k]];
      if (operand->slot >= 0) continue;
      operand->slot = 0;
      while (((taken >> operand->slot) & 1) != 0) operand->slot++;
      if (operand->slot >= SLOTS_MAX) {
        return fail(STATUS_USAGE, "the derivative keeps more than %d values at once", SLOTS_MAX);
      }
      taken |= (uint64_t)1 << operand->slot;
    }
  }
  return STATUS_OK;
}

status expression_arrange(expression *e, int32_t root) {
  status rc = STATUS_OK;
  int32_t *number = NULL;
  TRY(alloc_array(&number, root + 1, sizeof *number, "derivative"));
  compact(e, root, number);
  TRY(alloc_array(&e->order, e->node_count, sizeof *e->order, "derivative"));
  e->order_count = e->node_count;
  for (int32_t i = 0; i < e->node_count; i++) e->order[i] = i;
  TRY(give_slots(e));
done:
  alloc_free(&number);
  return rc;
}
