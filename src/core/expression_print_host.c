/* Expressions as C text: loops for the host compiler that vectorise (expression_print.h).
 *
 * Points are done by chunks. Functions with a rare slow path run as their branch-free ordinary form
 * and note whether an argument was rare; such a chunk is done again by the plain code
 * (include/runtime/formula_driver.h). An expression is cut into parts, a loop each: after
 * PART_COST, since compilers need more than linear time for a loop, and where conditions of one
 * function would be merged with those of another (print_nature). Values that cross from a part to a
 * later one lie in rooms, arrays of a chunk, numbered by the slots of the schedule, so there are at
 * most SLOTS_MAX; they stay in the first-level cache. */
#include "expression_print.h"

#include <string.h>

#include "alloc.h"
#include "expression_print_internal.h"

enum { PART_COST = 300 };

/* One expression cut into parts. */
typedef struct cutting {
  const expression *e;
  int output; /* which one it is */
  print_style how;
  int32_t *part; /* of each node */
  int32_t *read; /* of each node: one more than the last part that read it from its room */
  char *crosses; /* of each node: its value is used in a later part */
  int32_t parts;
  char *input; /* of each place: whether the part at work reads it */
  char room[SLOTS_MAX];
  int32_t begin, end; /* of the part at work, in the order */
} cutting;

/* Whether node n must not be in the part that made its operands. `made` says of what natures each
 * value was made within its part. */
static int parts_with(const cutting *c, const node *n, const char *made) {
  int operands = 0;
  for (int k = 0; k < OPERATIONS[n->code].operands; k++) {
    if (c->part[n->operand[k]] == c->parts) operands |= made[n->operand[k]];
  }
  switch (print_nature_of(c->e, n)) {
  case PRINT_FUNCTION:
    return operands != 0;
  case PRINT_CHOICE:
    return (operands & PRINT_FUNCTION) != 0;
  default:
    return 0;
  }
}

static status cut(cutting *c) {
  status rc = STATUS_OK;
  const expression *e = c->e;
  char *made = NULL;
  int64_t cost = 0;
  TRY(alloc_zeroed(&c->part, e->node_count, sizeof *c->part, "parts of an expression"));
  TRY(alloc_zeroed(&c->read, e->node_count, sizeof *c->read, "parts of an expression"));
  TRY(alloc_zeroed(&c->crosses, e->node_count, 1, "parts of an expression"));
  TRY(alloc_zeroed(&made, e->node_count, 1, "parts of an expression"));
  for (int32_t i = 0; i < e->order_count; i++) {
    const int32_t at = e->order[i];
    const node *n = &e->nodes[at];
    if ((cost > 0 && cost + print_node_cost(e, n) > PART_COST) || parts_with(c, n, made)) {
      c->parts++;
      cost = 0;
    }
    cost += print_node_cost(e, n);
    c->part[at] = c->parts;
    made[at] = (char)print_nature_of(e, n);
    for (int k = 0; k < OPERATIONS[n->code].operands; k++) {
      const int32_t child = n->operand[k];
      if (print_is_leaf(&e->nodes[child])) continue;
      if (c->part[child] == c->parts) {
        made[at] = (char)(made[at] | made[child]);
      } else {
        c->crosses[child] = 1;
      }
    }
  }
  c->parts++;
done:
  alloc_free(&made);
  return rc;
}

/* The lines that read rooms: before any that write them, for a room may be used again. A value that
 * several nodes share is read once. */
static status write_reads(cutting *c, text_builder *out) {
  status rc = STATUS_OK;
  for (int32_t i = c->begin; i < c->end; i++) {
    const int32_t at = c->e->order[i];
    const node *n = &c->e->nodes[at];
    for (int k = 0; k < OPERATIONS[n->code].operands; k++) {
      const int32_t child = n->operand[k];
      const node *m = &c->e->nodes[child];
      if (m->code == OPERATION_VARIABLE) c->input[c->how.place[m->operand[0]]] = 1;
      if (print_is_leaf(m) || c->part[child] == c->part[at]) continue;
      if (c->read[child] == c->part[at] + 1) continue;
      c->read[child] = c->part[at] + 1;
      c->room[m->slot] = 1;
      TRY(text_print(out, "    const double t%d = r%d[i];\n", (int)child, (int)m->slot));
    }
  }
done:
  return rc;
}

static status write_body(cutting *c, int32_t p, text_builder *out) {
  status rc = STATUS_OK;
  const int32_t root = c->e->node_count - 1;
  char written[OPERAND_ROOM];
  TRY(write_reads(c, out));
  for (int32_t i = c->begin; i < c->end; i++) {
    const int32_t at = c->e->order[i];
    const node *n = &c->e->nodes[at];
    if (n->code == OPERATION_VARIABLE) c->input[c->how.place[n->operand[0]]] = 1;
    if (print_is_leaf(n)) continue;
    TRY(print_node(c->e, at, c->how, out));
    if (!c->crosses[at]) continue;
    c->room[n->slot] = 1;
    TRY(text_print(out, "    r%d[i] = t%d;\n", (int)n->slot, (int)at));
  }
  if (p == c->parts - 1) {
    print_operand(c->e, root, c->how, written);
    TRY(text_print(out, "    o[i] = %s;\n", written));
  }
done:
  return rc;
}

/* The parameters of a part's function after `n`, or (`call`) the arguments for them. */
static status write_parameters(const cutting *c, int places, int call, text_builder *out) {
  status rc = STATUS_OK;
  for (int j = 0; j < places; j++) {
    if (!c->input[j]) continue;
    TRY(text_print(out, call ? ", v[%d]" : ", const double *restrict v%d", j));
  }
  for (int r = 0; r < SLOTS_MAX; r++) {
    if (!c->room[r]) continue;
    TRY(text_print(out, call ? ", room[%d]" : ", double *restrict r%d", r));
  }
  if (call) return text_print(out, ", o[%d]", c->output);
  TRY(text_append(out, ", double *restrict o"));
done:
  return rc;
}

static status write_part(cutting *c, int32_t p, int places, text_builder *out,
                         text_builder *calls) {
  status rc = STATUS_OK;
  text_builder body = {0};
  memset(c->input, 0, (size_t)places);
  memset(c->room, 0, sizeof c->room);
  while (c->end < c->e->order_count && c->part[c->e->order[c->end]] == p) c->end++;
  TRY(write_body(c, p, &body));
  TRY(text_print(out, "static FORMULA_LOOP uint64_t part_%d_%d(int64_t n", c->output, (int)p));
  TRY(write_parameters(c, places, 0, out));
  TRY(text_append(out, ") {\n  uint64_t rare = 0;\n  (void)o;\n"));
  TRY(text_append(out, "  for (int64_t i = 0; i < n; i++) {\n"));
  for (int j = 0; j < places; j++) {
    if (c->input[j]) TRY(text_print(out, "    const double x%d = v%d[i];\n", j, j));
  }
  TRY(text_append(out, body.text == NULL ? "" : body.text));
  TRY(text_append(out, "  }\n  return rare;\n}\n\n"));
  TRY(text_print(calls, "  rare |= part_%d_%d(n", c->output, (int)p));
  TRY(write_parameters(c, places, 1, calls));
  TRY(text_append(calls, ");\n"));
  c->begin = c->end;
done:
  text_release(&body);
  return rc;
}

static status write_expression(const expression *e, int output, print_style how, int places,
                               text_builder *out, text_builder *calls) {
  status rc = STATUS_OK;
  cutting c = {.e = e, .output = output, .how = how};
  TRY(alloc_zeroed(&c.input, places, 1, "inputs of an expression"));
  TRY(cut(&c));
  for (int32_t p = 0; p < c.parts; p++) TRY(write_part(&c, p, places, out, calls));
done:
  alloc_free(&c.input);
  alloc_free(&c.part);
  alloc_free(&c.read);
  alloc_free(&c.crosses);
  return rc;
}

/* Outputs that are constants, most of a sparse Jacobian: one table and one loop. */
static status write_constants(const expression *const *e, int count, text_builder *out) {
  status rc = STATUS_OK;
  const print_style how = {1, NULL};
  char written[OPERAND_ROOM];
  TRY(text_append(out, "  static const struct { int output; double value; } constant[] = {\n"));
  for (int k = 0; k < count; k++) {
    if (!expression_constant(e[k], NULL)) continue;
    print_operand(e[k], e[k]->node_count - 1, how, written);
    TRY(text_print(out, "    {%d, %s},\n", k, written));
  }
  TRY(text_append(out, "    {-1, 0.0}};\n"
                       "  for (int k = 0; constant[k].output >= 0; k++) {\n"
                       "    double *const at = o[constant[k].output];\n"
                       "    for (int64_t i = 0; i < n; i++) at[i] = constant[k].value;\n"
                       "  }\n"));
done:
  return rc;
}

/* Inputs that are used get places, in their order. */
static status write_places(const expression *const *e, int count, int inputs, int32_t *place,
                           int *places, text_builder *out) {
  status rc = STATUS_OK;
  *places = 0;
  TRY(text_append(out, "static const int formula_input_at[] = {"));
  for (int v = 0; v < inputs; v++) {
    int used = 0;
    for (int k = 0; k < count && !used; k++) used = expression_uses(e[k], v);
    place[v] = used ? (*places)++ : -1;
    if (used) TRY(text_print(out, "%d, ", v));
  }
  TRY(text_append(out, "-1};\n"));
  TRY(text_print(out,
                 "enum { FORMULA_PLACES = %d, FORMULA_INPUTS = %d, FORMULA_OUTPUTS = %d };\n\n",
                 *places, inputs, count));
done:
  return rc;
}

status expression_print_batch(const expression *const *e, int count, int inputs,
                              text_builder *out) {
  status rc = STATUS_OK;
  text_builder calls = {0};
  int32_t *place = NULL;
  int places;
  TRY(alloc_array(&place, inputs, sizeof *place, "inputs of an expression"));
  TRY(text_append(out, "#include \"formula_host.h\"\n\n"));
  TRY(write_places(e, count, inputs, place, &places, out));
  const print_style how = {1, place};
  for (int k = 0; k < count; k++) {
    if (expression_constant(e[k], NULL)) continue;
    TRY(write_expression(e[k], k, how, places, out, &calls));
  }
  TRY(text_append(out, "static uint64_t formula_chunk(int64_t n, const double *const *v, "
                       "double *const *o) {\n"
                       "  uint64_t rare = 0;\n"));
  TRY(text_print(out, "  double room[%d][FORMULA_CHUNK];\n  (void)room, (void)v;\n", SLOTS_MAX));
  TRY(write_constants(e, count, out));
  TRY(text_append(out, calls.text == NULL ? "" : calls.text));
  TRY(text_append(out, "  return rare;\n}\n\n"
                       "#include \"formula_again.h\"\n"
                       "#include \"formula_driver.h\"\n"));
done:
  text_release(&calls);
  alloc_free(&place);
  return rc;
}
