/* param.c - the parameter of 64 bits that a rule may have, and conditions on it.
 *
 * Problem   "Each of these at most once, in any order" has 2^n rules, one for each set of those
 *           that are there. llguidance writes one rule with a parameter for all of them.
 * Idea      perm::_ is a rule for each value of its parameter. A use of the rule gives the new
 *           value as a function of the current one: perm::set_bit(3). An alternative with a
 *           condition, %if bit_clear(3), is there only for the values of which it holds. build.c
 *           makes the rules that the start leads to, and no others.
 * Example     start: p::0
 *             p::_: "" | "a" p::set_bit(0) %if bit_clear(0)
 *           The start leads to two rules, p::0 and p::1.
 * Bits [x:y] of the parameter p are (p >> x) & (2^(y-x) - 1); "_" is all of them.
 *
 * Limits    TSL__LARK_INSTANCES_MAX rules (build.c): a parameter without bound is refused
 * Tested by tests/lark/test_lark.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/scan.h"

typedef enum op {
  OP_SELF,
  OP_NUMBER,
  OP_SET_BIT,
  OP_CLEAR_BIT,
  OP_BIT_AND,
  OP_BIT_OR,
  OP_INCR,
  OP_DECR,
  OP_TRUE,
  OP_BIT_CLEAR,
  OP_BIT_SET,
  OP_IS_ONES,
  OP_IS_ZEROS,
  OP_EQ,
  OP_NE,
  OP_LT,
  OP_LE,
  OP_GT,
  OP_GE,
  OP_COUNT_EQ,
  OP_COUNT_NE,
  OP_COUNT_LT,
  OP_COUNT_LE,
  OP_COUNT_GT,
  OP_COUNT_GE,
  OP_AND,
  OP_OR,
  OP_NOT
} op;

/* What stands in the brackets: a bit, a number, a range, a range and a number, conditions. */
typedef enum content { NOTHING, BIT, NUMBER, RANGE, RANGE_NUMBER, CONDITION, CONDITIONS } content;

static const struct {
  const char *name;
  op op;
  content form;
} functions[] = {{"set_bit", OP_SET_BIT, BIT},
                 {"clear_bit", OP_CLEAR_BIT, BIT},
                 {"bit_and", OP_BIT_AND, NUMBER},
                 {"bit_or", OP_BIT_OR, NUMBER},
                 {"incr", OP_INCR, RANGE},
                 {"decr", OP_DECR, RANGE},
                 {"true", OP_TRUE, NOTHING},
                 {"bit_clear", OP_BIT_CLEAR, BIT},
                 {"bit_set", OP_BIT_SET, BIT},
                 {"is_ones", OP_IS_ONES, RANGE},
                 {"is_zeros", OP_IS_ZEROS, RANGE},
                 {"eq", OP_EQ, RANGE_NUMBER},
                 {"ne", OP_NE, RANGE_NUMBER},
                 {"lt", OP_LT, RANGE_NUMBER},
                 {"le", OP_LE, RANGE_NUMBER},
                 {"gt", OP_GT, RANGE_NUMBER},
                 {"ge", OP_GE, RANGE_NUMBER},
                 {"bit_count_eq", OP_COUNT_EQ, RANGE_NUMBER},
                 {"bit_count_ne", OP_COUNT_NE, RANGE_NUMBER},
                 {"bit_count_lt", OP_COUNT_LT, RANGE_NUMBER},
                 {"bit_count_le", OP_COUNT_LE, RANGE_NUMBER},
                 {"bit_count_gt", OP_COUNT_GT, RANGE_NUMBER},
                 {"bit_count_ge", OP_COUNT_GE, RANGE_NUMBER},
                 {"and", OP_AND, CONDITIONS},
                 {"or", OP_OR, CONDITIONS},
                 {"not", OP_NOT, CONDITION}};

/* ---- reading --------------------------------------------------------------------------------- */

static int hex_digit(int c) { return c < 0 ? -1 : tsl__hex_value((uint8_t)c); }

/* 64 bits: decimal, or hexadecimal after 0x, binary after 0b. */
static bool number(tsl__lscan *p, uint64_t *out) {
  size_t start = p->at;
  uint64_t base = tsl__scan_take_text(p, "0x") ? 16 : tsl__scan_take_text(p, "0b") ? 2 : 10;
  size_t digits = p->at;
  *out = 0;
  for (int d; (d = hex_digit(tsl__scan_peek(p))) >= 0 && (uint64_t)d < base; p->at++) {
    if (*out > (UINT64_MAX - (uint64_t)d) / base)
      return FAIL_AT(p, start, "a number of more than 64 bits");
    *out = *out * base + (uint64_t)d;
  }
  return p->at > digits || FAIL_AT(p, start, "expected a number");
}

static bool expect(tsl__lscan *p, char c) {
  tsl__scan_skip(p, true);
  if (!tsl__scan_take(p, c)) return FAIL(p, "expected '%c'", c);
  tsl__scan_skip(p, true);
  return true;
}

/* [x:y] or _ */
static bool range(tsl__lscan *p, tsl__lparam *n) {
  size_t start = p->at;
  uint64_t low, high;
  n->low = 0;
  n->high = 64;
  if (tsl__scan_take(p, '_')) return true;
  if (!tsl__scan_take(p, '[')) return FAIL(p, "expected bits, as [0:8], or _");
  tsl__scan_skip(p, true);
  if (!number(p, &low) || !expect(p, ':') || !number(p, &high) || !expect(p, ']')) return false;
  if (low >= high || high > 64)
    return FAIL_AT(p, start, "bits go from a lower to a higher one, up to 64");
  n->low = (uint8_t)low;
  n->high = (uint8_t)high;
  return true;
}

static bool read(tsl__lscan *p, bool condition, uint32_t depth, uint32_t *out);

static bool arguments(tsl__lscan *p, content form, uint32_t depth, tsl__lparam *n) {
  size_t at = p->at;
  if (form == BIT) {
    if (!number(p, &n->value)) return false;
    return n->value < 64 || FAIL_AT(p, at, "a bit is a number below 64");
  }
  if (form == NUMBER) return number(p, &n->value);
  if (form == RANGE) return range(p, n);
  if (form == RANGE_NUMBER) return range(p, n) && expect(p, ',') && number(p, &n->value);
  if (form == NOTHING) return true;
  if (!read(p, true, depth + 1, &n->a)) return false;
  return form == CONDITION || (expect(p, ',') && read(p, true, depth + 1, &n->b));
}

static bool keep(tsl__lscan *p, const tsl__lparam *n, uint32_t *out) {
  *out = (uint32_t)p->l->params64.n;
  return tsl__vec_push(&p->l->alloc, &p->l->params64, *n) || tsl__lark_no_memory(p->l);
}

static bool function(tsl__lscan *p, bool condition, uint32_t depth, tsl__lparam *n) {
  size_t start = p->at, i = 0, count = sizeof functions / sizeof *functions;
  uint32_t length = tsl__scan_name_length(p);
  for (; i < count; i++)
    if (strlen(functions[i].name) == length && !memcmp(functions[i].name, p->text + start, length))
      break;
  if (i == count || (functions[i].op >= OP_TRUE) != condition)
    return FAIL(p, "expected a %s",
                condition ? "condition, as bit_set(0)"
                          : "value: a number, _, set_bit(0), incr(_), …");
  p->at += length;
  n->op = (uint8_t)functions[i].op;
  bool bracket = tsl__scan_peek(p) == '(';
  if (!bracket && functions[i].form == NOTHING) return true;
  return expect(p, '(') && arguments(p, functions[i].form, depth, n) && expect(p, ')');
}

/* Depth: conditions around it. */
static bool read(tsl__lscan *p, bool condition, uint32_t depth, uint32_t *out) {
  tsl__lparam n = {.op = OP_SELF};
  if (depth >= p->l->max_depth) return tsl__scan_too_deep(p, p->at);
  if (!condition && tsl__scan_peek(p) == '_' &&
      !tsl__scan_begins_name(tsl__scan_byte(p, p->at + 1)))
    return p->at++, keep(p, &n, out);
  if (!condition && tsl__scan_digit(tsl__scan_peek(p))) {
    n.op = OP_NUMBER;
    return number(p, &n.value) && keep(p, &n, out);
  }
  return function(p, condition, depth, &n) && keep(p, &n, out);
}

bool tsl__scan_param(tsl__lscan *p, bool condition, uint32_t *out) {
  tsl__scan_skip(p, false);
  size_t end = p->at;
  if (!read(p, condition, 0, out)) return false;
  /* white space after a closing bracket may have been a newline, which ends the rule */
  for (end = p->at; end > 0 && memchr(" \t\r\n", p->text[end - 1], 4); end--) {
  }
  p->at = end;
  tsl__scan_skip(p, false);
  return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

static uint64_t mask_of(const tsl__lparam *n) {
  uint32_t width = (uint32_t)(n->high - n->low);
  return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

uint64_t tsl__lark_param_value(const tsl__lark *l, uint32_t param, uint64_t p) {
  const tsl__lparam *n = &l->params64.at[param];
  uint64_t bits = p >> n->low & mask_of(n);
  switch ((op)n->op) {
  case OP_NUMBER: return n->value;
  case OP_SET_BIT: return p | (uint64_t)1 << n->value;
  case OP_CLEAR_BIT: return p & ~((uint64_t)1 << n->value);
  case OP_BIT_AND: return p & n->value;
  case OP_BIT_OR: return p | n->value;
  case OP_INCR: return bits == mask_of(n) ? p : p + ((uint64_t)1 << n->low);
  case OP_DECR: return bits == 0 ? p : p - ((uint64_t)1 << n->low);
  default: return p;
  }
}

/* Depth: conditions inside one another, at most max_depth. */
bool tsl__lark_param_holds(const tsl__lark *l, uint32_t param, uint64_t p) {
  const tsl__lparam *n = &l->params64.at[param];
  uint64_t bits = p >> n->low & mask_of(n), count = (uint64_t)__builtin_popcountll(bits);
  switch ((op)n->op) {
  case OP_BIT_CLEAR: return !(p >> n->value & 1);
  case OP_BIT_SET: return p >> n->value & 1;
  case OP_IS_ONES: return bits == mask_of(n);
  case OP_IS_ZEROS: return bits == 0;
  case OP_EQ: return bits == n->value;
  case OP_NE: return bits != n->value;
  case OP_LT: return bits < n->value;
  case OP_LE: return bits <= n->value;
  case OP_GT: return bits > n->value;
  case OP_GE: return bits >= n->value;
  case OP_COUNT_EQ: return count == n->value;
  case OP_COUNT_NE: return count != n->value;
  case OP_COUNT_LT: return count < n->value;
  case OP_COUNT_LE: return count <= n->value;
  case OP_COUNT_GT: return count > n->value;
  case OP_COUNT_GE: return count >= n->value;
  case OP_AND: return tsl__lark_param_holds(l, n->a, p) && tsl__lark_param_holds(l, n->b, p);
  case OP_OR: return tsl__lark_param_holds(l, n->a, p) || tsl__lark_param_holds(l, n->b, p);
  case OP_NOT: return !tsl__lark_param_holds(l, n->a, p);
  default: return true;
  }
}
