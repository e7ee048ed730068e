/* cases.c - CASES: a text after whose end a different thing follows for each set of patterns that
 * matched it.
 *
 * Problem   The members that ten overlapping patternProperties allow fall into 1,024 groups of
 *           names, by which patterns match. A group is a meet of ten languages. To follow a name in
 *           all groups side by side takes as many walks.
 * Idea      One node holds the text that is allowed, and each pattern by itself. Its derivative is
 *           the derivative of each. At the end of the text the patterns that are nullable are those
 *           that matched. They choose what follows, and only that is made. So the work is a sum
 *           over patterns, not a product.
 * Example   "foo" and "y$" over any text: after f the node holds (oo.* | .*foo.*) and .*y. After
 *           fooy both match, and what follows is what both ask for.
 * Where     CASES stands inside JSTR, JESC and JHEX only (json_string.c), which see the end of the
 *           text: its closing quote. The patterns have no calls, and their loops
 *           no registers.
 * Shortest  Exact of the text; of what follows the most that any set of patterns asks for. So no
 *           budget is promised that does not suffice.
 * Cost      A derivative of each pattern, which expressions remember.
 * Tested by tests/schema/test_by_pattern.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"

#define PARTS_MAX (TSL__CASES_MAX + 1u) /* the text, and the patterns */

static tsl__expr node_of(tsl__exprs *x, const tsl__expr *parts, uint32_t n, uint32_t keys) {
  tsl__node text = tsl__node_at(x, parts[0]);
  if (parts[0] == TSL__NONE) return TSL__NONE;
  tsl__node node = {.kind = TSL__K_CASES,
                    .b = n,
                    .c = keys,
                    .flags =
                        (text.flags & (TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH)) | TSL__SEARCHED,
                    .shortest = text.shortest};
  return tsl__push_list(x, parts, n, &node.a) ? tsl__intern_list(x, node, n) : TSL__NONE;
}

/* Can a pattern be followed by its derivatives alone? Its loops are counted down. */
static bool is_plain(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  return !n.loop && !(n.flags & TSL__CALLS);
}

bool tsl__cases_possible(const tsl__exprs *x, tsl__expr text, const tsl__expr *patterns,
                         uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (!is_plain(x, patterns[i])) return false;
  return n <= TSL__CASES_MAX && is_plain(x, text);
}

tsl__expr tsl__expr_cases(tsl__exprs *x, tsl__expr text, const tsl__expr *patterns, uint32_t n,
                          const tsl__keys_ops *ops, void *ctx, uint32_t param) {
  tsl__expr parts[PARTS_MAX] = {text};
  tsl__keys keys = {.ops = ops, .ctx = ctx, .param = param};
  if (!tsl__cases_possible(x, text, patterns, n))
    return tsl__exprs_fail(
               x, TSL_ERR_UNSUPPORTED,
               "patterns that decide what follows a text: too many of them, or with calls"),
           TSL__NONE;
  if (!tsl__vec_push(&x->alloc, &x->keys, keys)) return tsl__expr_no_memory(x);
  memcpy(parts + 1, patterns, n * sizeof *patterns);
  return node_of(x, parts, n + 1, x->keys_base + (uint32_t)x->keys.n - 1);
}

tsl__expr tsl__cases_text(const tsl__exprs *x, const tsl__node *n) {
  return tsl__list_at(x, n->a)[0];
}

tsl__expr tsl__cases_after(tsl__exprs *x, const tsl__node *n) {
  const tsl__keys k = *tsl__keys_at(x, n->c);
  uint32_t matched = 0;
  for (uint32_t i = 1; i < n->b; i++)
    if (tsl__expr_nullable(x, tsl__list_at(x, n->a)[i])) matched |= (uint32_t)1 << (i - 1);
  return k.ops->after(x, k.ctx, k.param, matched);
}

uint32_t tsl__cases_rest(tsl__exprs *x, const tsl__node *n) {
  const tsl__keys k = *tsl__keys_at(x, n->c);
  return k.ops->fewest(k.ctx, k.param);
}

bool tsl__cases_step(tsl__exprs *x, const tsl__node *n, void *ctx,
                     bool (*step)(void *ctx, tsl__expr e, tsl__expr *out), tsl__expr *out) {
  tsl__expr parts[PARTS_MAX];
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__expr e = tsl__list_at(x, n->a)[i];
    parts[i] = TSL__NONE;
    if (e && !step(ctx, e, &parts[i])) return false;
    if (!i && !parts[0]) return *out = TSL__NONE, true;
  }
  return *out = node_of(x, parts, n->b, n->c), true;
}

struct byte_step {
  tsl__exprs *x;
  uint8_t byte;
};

static bool step_byte(void *ctx, tsl__expr e, tsl__expr *out) {
  const struct byte_step *s = ctx;
  return *out = tsl__derive_conjunct(s->x, e, s->byte), true;
}

static tsl__expr compute(tsl__exprs *x, const tsl__node *n, uint8_t byte, bool last) {
  struct byte_step s = {x, byte};
  tsl__expr result = TSL__NONE;
  (void)last;
  tsl__cases_step(x, n, &s, step_byte, &result);
  return result;
}

static tsl__expr derive(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint8_t byte, bool last) {
  return tsl__derive_remembered(x, e, n, byte, last, compute);
}

/* Each part keeps bytes apart. The text alone says which lead anywhere. */
static tsl__expr reads(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                       tsl__reads *out) {
  tsl__bytes live = out->live;
  (void)e, (void)last;
  for (uint32_t i = 1; i < n->b; i++)
    if (tsl__list_at(x, n->a)[i]) tsl__reads_add(x, tsl__list_at(x, n->a)[i], false, out);
  out->live = live;
  tsl__reads_add(x, tsl__list_at(x, n->a)[0], false, out);
  return TSL__NONE;
}

static bool alike(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last, tsl__alike *out,
                  tsl__expr *next) {
  (void)e, (void)last, (void)next;
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__expr part = tsl__list_at(x, n->a)[i];
    if (part && !tsl__alike_in(x, part, false, out)) return false;
  }
  return true;
}

static uint32_t shortest(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool spelled,
                         unsigned depth) {
  (void)e;
  return tsl__add(tsl__shortest_in(x, tsl__cases_text(x, n), spelled, depth + 1),
                  tsl__cases_rest(x, n));
}

static void print(const tsl__exprs *x, const tsl__node *n, tsl__printer *w, unsigned depth) {
  tsl__print_list(x, n, "?", w, depth);
}

const tsl__kind_ops tsl__kind_cases = {
    .derive = derive, .reads = reads, .alike = alike, .shortest = shortest, .print = print};
