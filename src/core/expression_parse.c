/* The parser of expressions: precedence climbing over a hand-made scanner, one character of
 * look-ahead beyond the token. Nodes are appended children first. Recursion happens only in
 * nesting() and is bounded by NESTING_MAX; a chain of binary operators is a loop. Cost: linear in
 * the text times the number of names. */
#include <ctype.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "expression_tree.h"

typedef struct parser {
  const char *text;
  size_t at; /* next character */
  const char *const *names;
  expression *e;
  int depth;
} parser;

/* Binary operators, longer spellings before their prefixes; a higher level binds tighter. ?: is
 * level 1, unary minus and ! lie between 7 and powers. */
typedef struct binary {
  const char *spelling;
  int level;
  operation_code code;
} binary;

enum { LEVEL_LOWEST = 2, LEVEL_UNARY = 8, LEVEL_POWER = 9 };

static const binary BINARIES[] = {
    {"||", 2, OPERATION_OR},
    {"&&", 3, OPERATION_AND},
    {"==", 4, OPERATION_EQUAL},
    {"!=", 4, OPERATION_NOT_EQUAL},
    {"<=", 5, OPERATION_LESS_EQUAL},
    {">=", 5, OPERATION_GREATER_EQUAL},
    {"<", 5, OPERATION_LESS},
    {">", 5, OPERATION_GREATER},
    {"**", LEVEL_POWER, OPERATION_POWER},
    {"^", LEVEL_POWER, OPERATION_POWER},
    {"+", 6, OPERATION_ADD},
    {"-", 6, OPERATION_SUBTRACT},
    {"*", 7, OPERATION_MULTIPLY},
    {"/", 7, OPERATION_DIVIDE},
};
enum { BINARY_COUNT = sizeof BINARIES / sizeof BINARIES[0] };

static status parse_choice(parser *p, int32_t *out);

static void skip_blanks(parser *p) {
  while (p->text[p->at] != '\0' && strchr(" \t\r\n", p->text[p->at]) != NULL) p->at++;
}

/* The column is `at`, counted from 1; what was found there is shown. */
static status complain(const parser *p, size_t at, const char *format, ...) FORMAT_LIKE(3, 4);
static status complain(const parser *p, size_t at, const char *format, ...) {
  char wanted[512], found[64];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(wanted, sizeof wanted, format, arguments);
  va_end(arguments);
  const unsigned char c = (unsigned char)p->text[at];
  if (c == '\0') {
    snprintf(found, sizeof found, "the end");
  } else if (isalnum(c) || c == '_') {
    int length = 0;
    while (length < 40 && (isalnum((unsigned char)p->text[at + (size_t)length]) ||
                           p->text[at + (size_t)length] == '_')) {
      length++;
    }
    snprintf(found, sizeof found, "'%.*s'", length, p->text + at);
  } else if (isprint(c)) {
    snprintf(found, sizeof found, "'%c'", c);
  } else {
    snprintf(found, sizeof found, "byte 0x%02x", c);
  }
  return fail(STATUS_USAGE, "expression, column %zu: found %s, expected %s", at + 1, found, wanted);
}

static status append(parser *p, operation_code code, const int32_t *operand, double constant,
                     int32_t *out) {
  expression *e = p->e;
  if (e->node_count == e->room) {
    const int32_t room = e->room == 0 ? 32 : 2 * e->room;
    status rc = alloc_grow(&e->nodes, e->room, room, sizeof *e->nodes, "expression");
    if (rc != STATUS_OK) return rc;
    e->room = room;
  }
  node *n = &e->nodes[e->node_count];
  memset(n, 0, sizeof *n);
  n->code = code;
  n->constant = constant;
  if (operand != NULL) memcpy(n->operand, operand, sizeof n->operand);
  *out = e->node_count++;
  return STATUS_OK;
}

static status append_binary(parser *p, operation_code code, int32_t left, int32_t right,
                            int32_t *out) {
  const int32_t operand[3] = {left, right, 0};
  return append(p, code, operand, 0.0, out);
}

/* ---- leaves ---- */

static int digit_at(const parser *p, size_t at) { return isdigit((unsigned char)p->text[at]) != 0; }

static size_t skip_digits(const parser *p, size_t at) {
  while (digit_at(p, at)) at++;
  return at;
}

/* digits [. digits] [e [sign] digits], or . digits: no hexadecimal, no inf, no nan. */
static status parse_number(parser *p, int32_t *out) {
  const size_t begin = p->at;
  size_t end = skip_digits(p, begin);
  if (p->text[end] == '.') end = skip_digits(p, end + 1);
  if (p->text[end] == 'e' || p->text[end] == 'E') {
    size_t exponent = end + 1;
    if (p->text[exponent] == '+' || p->text[exponent] == '-') exponent++;
    if (digit_at(p, exponent)) end = skip_digits(p, exponent);
  }
  const char next = p->text[end];
  if (isalpha((unsigned char)next) || next == '_' || next == '.') {
    return complain(p, end, "an operator after the number (a product is written with *)");
  }
  char *stop = NULL;
  const double value = strtod(p->text + begin, &stop); /* the C locale; correctly rounded */
  if (stop != p->text + end) return complain(p, begin, "a decimal number");
  if (value - value != 0.0) return complain(p, begin, "a number that fits a double");
  p->at = end;
  return append(p, OPERATION_CONSTANT, NULL, value, out);
}

/* The length of names[v] if it stands here as a whole word, else 0. */
static size_t name_here(const parser *p, const char *name) {
  const size_t length = strlen(name);
  if (length == 0 || strncmp(p->text + p->at, name, length) != 0) return 0;
  const unsigned char next = (unsigned char)p->text[p->at + length];
  const int ends = name[length - 1] == ']' || !(isalnum(next) || next == '_');
  return ends ? length : 0;
}

static size_t word_length(const parser *p) {
  size_t length = 0;
  for (;; length++) {
    const unsigned char c = (unsigned char)p->text[p->at + length];
    if (!(isalnum(c) || c == '_')) return length;
  }
}

/* "x, y, pi, e and the functions exp, ..." into `text`. */
static const char *what_is_known(const parser *p, char *text, size_t room) {
  size_t used = 0;
  text[0] = '\0';
  for (int v = 0; p->names != NULL && p->names[v] != NULL && used + 40 < room / 2; v++) {
    if (p->names[v][0] == '\0') continue; /* an input that no text can name */
    used += (size_t)snprintf(text + used, room - used, "%.30s, ", p->names[v]);
  }
  used += (size_t)snprintf(text + used, room - used, "pi, e or a function of");
  for (int i = 0; i < OPERATION_COUNT && used + 10 < room; i++) {
    if (OPERATIONS[i].name == NULL) continue;
    used += (size_t)snprintf(text + used, room - used, " %s", OPERATIONS[i].name);
  }
  return text;
}

static status expect(parser *p, char c, const char *where) {
  skip_blanks(p);
  if (p->text[p->at] != c) return complain(p, p->at, "'%c' %s", c, where);
  p->at++;
  return STATUS_OK;
}

/* After the name of a function: its arguments. min and max take two or more. */
static status parse_call(parser *p, operation_code code, int32_t *out) {
  status rc = STATUS_OK;
  const operation *o = &OPERATIONS[code];
  const int open_ended = code == OPERATION_MIN || code == OPERATION_MAX;
  int32_t argument, result = 0;
  char where[64];
  snprintf(where, sizeof where, "%s %s", o->operands == 1 ? "after the argument of" : "in",
           o->name);
  TRY(expect(p, '(', "after the name of a function"));
  TRY(parse_choice(p, &result));
  if (o->operands == 1) {
    const int32_t operand[3] = {result, 0, 0};
    TRY(append(p, code, operand, 0.0, &result));
  } else {
    do {
      TRY(expect(p, ',', where));
      TRY(parse_choice(p, &argument));
      TRY(append_binary(p, code, result, argument, &result));
      skip_blanks(p);
    } while (open_ended && p->text[p->at] == ',');
  }
  TRY(expect(p, ')', where));
  *out = result;
done:
  return rc;
}

static status parse_word(parser *p, int32_t *out) {
  char known[400];
  int32_t operand[3] = {0, 0, 0};
  size_t longest = 0; /* "x[0]" before "x" */
  for (int32_t v = 0; p->names != NULL && p->names[v] != NULL; v++) {
    const size_t here = name_here(p, p->names[v]);
    if (here > longest) longest = here, operand[0] = v;
  }
  if (longest > 0) {
    p->at += longest;
    return append(p, OPERATION_VARIABLE, operand, 0.0, out);
  }
  const size_t length = word_length(p);
  const char *word = p->text + p->at;
  if (length == 2 && strncmp(word, "pi", 2) == 0) {
    p->at += length;
    return append(p, OPERATION_CONSTANT, NULL, 0x1.921fb54442d18p+1, out);
  }
  if (length == 1 && word[0] == 'e') {
    p->at += length;
    return append(p, OPERATION_CONSTANT, NULL, 0x1.5bf0a8b145769p+1, out);
  }
  for (int i = 0; i < OPERATION_COUNT; i++) {
    const char *name = OPERATIONS[i].name;
    if (name != NULL && strlen(name) == length && strncmp(word, name, length) == 0) {
      p->at += length;
      return parse_call(p, (operation_code)i, out);
    }
  }
  return complain(p, p->at, "%s", what_is_known(p, known, sizeof known));
}

static status parse_leaf(parser *p, int32_t *out) {
  const unsigned char c = (unsigned char)p->text[p->at];
  if (isdigit(c) || (c == '.' && digit_at(p, p->at + 1))) return parse_number(p, out);
  if (isalpha(c) || c == '_') return parse_word(p, out);
  if (c != '(') return complain(p, p->at, "a number, a name or '('");
  p->at++;
  status rc = parse_choice(p, out);
  return rc == STATUS_OK ? expect(p, ')', "for the '(' before") : rc;
}

/* ---- operators ---- */

static const binary *binary_here(const parser *p) {
  for (int i = 0; i < BINARY_COUNT; i++) {
    const binary *b = &BINARIES[i];
    if (strncmp(p->text + p->at, b->spelling, strlen(b->spelling)) == 0) return b;
  }
  return NULL;
}

static status parse_unary(parser *p, int32_t *out);

/* A leaf, or leaf ^ unary: the exponent may be signed and is itself a power (right-associative). */
static status parse_power(parser *p, int32_t *out) {
  status rc = STATUS_OK;
  int32_t base, exponent;
  TRY(parse_leaf(p, &base));
  skip_blanks(p);
  const binary *b = binary_here(p);
  *out = base;
  if (b != NULL && b->level == LEVEL_POWER) {
    p->at += strlen(b->spelling);
    TRY(parse_unary(p, &exponent));
    TRY(append_binary(p, OPERATION_POWER, base, exponent, out));
  }
done:
  return rc;
}

/* Every recursion passes here. */
static status parse_unary(parser *p, int32_t *out) {
  status rc = STATUS_OK;
  skip_blanks(p);
  if (++p->depth > NESTING_MAX) {
    rc = complain(p, p->at, "less nesting (%d levels of parentheses, signs, powers or ?: fit)",
                  NESTING_MAX / 2);
    goto done;
  }
  const char c = p->text[p->at];
  if (c == '-' || c == '+' || c == '!') {
    int32_t operand[3] = {0, 0, 0};
    p->at++;
    TRY(parse_unary(p, &operand[0]));
    *out = operand[0];
    if (c != '+') TRY(append(p, c == '-' ? OPERATION_NEGATE : OPERATION_NOT, operand, 0.0, out));
  } else {
    TRY(parse_power(p, out));
  }
done:
  p->depth--;
  return rc;
}

/* Operators of `level` and tighter, left-associative. At most one recursion per level. */
static status parse_level(parser *p, int level, int32_t *out) {
  status rc = STATUS_OK;
  int32_t left, right;
  if (level == LEVEL_UNARY) return parse_unary(p, out);
  TRY(parse_level(p, level + 1, &left));
  for (;;) {
    skip_blanks(p);
    const binary *b = binary_here(p);
    if (b == NULL || b->level != level) break;
    p->at += strlen(b->spelling);
    TRY(parse_level(p, level + 1, &right));
    TRY(append_binary(p, b->code, left, right, &left));
  }
  *out = left;
done:
  return rc;
}

/* condition ? this : that, right-associative. */
static status parse_choice(parser *p, int32_t *out) {
  status rc = STATUS_OK;
  int32_t operand[3] = {0, 0, 0};
  p->depth++;
  TRY(parse_level(p, LEVEL_LOWEST, out));
  skip_blanks(p);
  if (p->text[p->at] == '?') {
    p->at++;
    operand[0] = *out;
    TRY(parse_choice(p, &operand[1]));
    TRY(expect(p, ':', "of the '?' before"));
    TRY(parse_choice(p, &operand[2]));
    TRY(append(p, OPERATION_SELECT, operand, 0.0, out));
  }
done:
  p->depth--;
  return rc;
}

status expression_build(const char *text, const char *const *names, expression *e) {
  status rc = STATUS_OK;
  int32_t root;
  parser p = {.text = text, .names = names, .e = e};
  if (strlen(text) > TEXT_BYTES_MAX) {
    rc = fail(STATUS_USAGE, "expression of %zu characters, at most %d are allowed", strlen(text),
              TEXT_BYTES_MAX);
    goto done;
  }
  TRY(parse_choice(&p, &root));
  skip_blanks(&p);
  if (text[p.at] != '\0') rc = complain(&p, p.at, "an operator or the end");
done:
  return rc;
}
