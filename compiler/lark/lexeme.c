/* lexeme.c - lazy rules against the terminals that may stand in their place.
 *
 * Problem     start: (call)* TEXT
 *             call: head "=f>" …
 *             head[lazy]: TEXT "<function"
 *           The author means: any text, until "<function" is there; then a call must follow. But a
 *           text may be cut into lexemes in any way. So a text with "<function" could be a TEXT as
 *           well, and nothing would be forced.
 * Idea      llguidance's lexer runs all lexemes that may come at a place side by side. A lazy one
 *           is over, and accepted, as soon as it matches. So no other lexeme at that place may
 *           begin with a text of the lazy one. Say the texts of `head` are HEAD. Where `head` may
 *           begin, TEXT becomes TEXT & ~(HEAD any*). Another lazy lexeme LAZY becomes
 *           LAZY & ~(HEAD any+).
 * Places    Each place has a set of lazy lexemes that may begin there. Each use of a rule has two
 *           sets: one for the place where the rule begins, and one for the place behind its end.
 *           For each pair of sets the rule is made once. In a loop, and after items that may be
 *           empty, a place is reached in two ways. The set of such a place has the lexemes that
 *           are in the sets of both ways.
 * Example   start: (call)* TEXT. Before each call, and before TEXT, the set is {head}. TEXT holds
 *           no "<function"; head is as it was.
 * Cost      Nothing in a grammar without lazy rules; else linear in the rules times the pairs.
 * Limits    64 different lazy texts, TSL__LARK_INSTANCES_MAX rules that are made
 * Tested by tests/lark/test_lark.c, tests/programs/test_lark.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/items.h"

#define LAZY_MAX 64u

/* A rule with the two sets of a use: lazy texts as bits of `lazy` below. */
typedef struct variant {
  uint32_t rule, made;
  uint64_t here, after;
} variant;

typedef struct passes {
  tsl__lark *l;
  tsl__gbnf *g;
  TSL__VEC(tsl__expr) lazy; /* different texts of lazy lexemes */
  TSL__VEC(uint64_t) first; /* of each rule: which may begin it */
  TSL__VEC(uint64_t) more;  /* of each rule: which may go on with it where it may end */
  TSL__VEC(uint8_t) empty;  /* of each rule: it may be empty */
  TSL__VEC(variant) variants;
  tsl__index by_place; /* of variants */
  TSL__VEC(uint32_t) pending;
} passes;

static bool failed(passes *p) {
  if (p->g->no_memory) tsl__lark_no_memory(p->l);
  return tsl__lark_failed(p->l);
}

/* ---- what may begin a node ------------------------------------------------------------------- */

static const tsl__lexeme *lexeme_of(const passes *p, const tsl__gnode *n) {
  return n->kind == TSL__G_EXPR && n->c ? &p->l->lexemes.at[n->c - 1] : NULL;
}

static uint64_t bit_of(const passes *p, tsl__expr text) {
  for (size_t i = 0; i < p->lazy.n; i++)
    if (p->lazy.at[i] == text) return (uint64_t)1 << i;
  return 0;
}

static bool number_lazy(passes *p) {
  for (size_t i = 0; i < p->l->lexemes.n; i++) {
    const tsl__lexeme *e = &p->l->lexemes.at[i];
    if (!e->lazy || bit_of(p, e->text)) continue;
    if (p->lazy.n == LAZY_MAX) {
      p->l->status = tsl__fail(p->l->error, TSL_ERR_LIMIT,
                               "the grammar has too many lazy rules (limit %u)", LAZY_MAX);
      return false;
    }
    if (!tsl__vec_push(&p->l->alloc, &p->lazy, e->text)) return tsl__lark_no_memory(p->l);
  }
  return true;
}

/* Adds the lazy lexemes that may begin a node; is it empty, maybe? Depth: the node's height. */
static bool begins(passes *p, uint32_t node, uint64_t *out) {
  const tsl__gnode *n = &p->g->nodes.at[node];
  const tsl__lexeme *e = lexeme_of(p, n);
  tsl__exprs_work(p->l->x, 1);
  switch ((tsl__gkind)n->kind) {
  case TSL__G_EMPTY: return true;
  case TSL__G_REF: *out |= p->first.at[n->a]; return p->empty.at[n->a];
  case TSL__G_REPEAT: return begins(p, n->a, out) || n->b == 0;
  case TSL__G_PLUS: return begins(p, n->a, out);
  case TSL__G_SEQ:
    for (uint32_t i = 0; i < n->b; i++)
      if (!begins(p, p->g->lists.at[n->a + i], out)) return false;
    return true;
  case TSL__G_ALT: {
    bool empty = false;
    for (uint32_t i = 0; i < n->b; i++) empty |= begins(p, p->g->lists.at[n->a + i], out);
    return empty;
  }
  case TSL__G_EXPR:
    if (e && e->lazy) *out |= bit_of(p, e->text);
    return n->a != TSL__NONE && tsl__expr_nullable(p->l->x, n->a);
  default: return false;
  }
}

/* The lazy lexemes that go on with a node, wherever it may end: those of a loop at its end. Depth:
 * the node's height. */
static uint64_t goes_on(passes *p, uint32_t node) {
  const tsl__gnode *n = &p->g->nodes.at[node];
  uint64_t set = 0, all = UINT64_MAX;
  tsl__exprs_work(p->l->x, 1);
  switch ((tsl__gkind)n->kind) {
  case TSL__G_REF: return p->more.at[n->a];
  case TSL__G_PLUS: return goes_on(p, n->a);
  case TSL__G_REPEAT:
    if (n->c != 1) begins(p, n->a, &set);
    return set | goes_on(p, n->a);
  case TSL__G_SEQ: return goes_on(p, p->g->lists.at[n->a + n->b - 1]);
  case TSL__G_ALT:
    for (uint32_t i = 0; i < n->b; i++) all &= goes_on(p, p->g->lists.at[n->a + i]);
    return all;
  default: return 0;
  }
}

static bool find_first(passes *p) {
  const tsl_allocator *a = &p->l->alloc;
  for (size_t i = 0; i < p->g->rules.n; i++)
    if (!tsl__vec_push(a, &p->first, 0) || !tsl__vec_push(a, &p->more, 0) ||
        !tsl__vec_push(a, &p->empty, 0))
      return tsl__lark_no_memory(p->l);
  for (bool changed = true; changed && !failed(p);) {
    changed = false;
    for (size_t i = 0; i < p->g->rules.n; i++) {
      uint64_t first = p->first.at[i];
      bool empty = begins(p, p->g->rules.at[i].body, &first);
      uint64_t more = goes_on(p, p->g->rules.at[i].body);
      changed |= first != p->first.at[i] || empty != p->empty.at[i] || more != p->more.at[i];
      p->more.at[i] = more;
      p->first.at[i] = first;
      p->empty.at[i] = empty;
    }
  }
  return !failed(p);
}

/* ---- rules in their places ------------------------------------------------------------------- */

/* The rule that stands for another one in such a place; its body is made later. */
static uint32_t variant_of(passes *p, uint32_t rule, uint64_t here, uint64_t after) {
  uint64_t hash = tsl__mix(tsl__mix(here) + tsl__mix(after + rule));
  tsl__index_iter it = tsl__index_first(&p->by_place, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const variant *known = &p->variants.at[i];
    if (known->rule == rule && known->here == here && known->after == after) return known->made;
  }
  tsl__grule copy = p->g->rules.at[rule];
  variant v = {rule, (uint32_t)p->g->rules.n, here, after};
  if (p->variants.n >= TSL__LARK_INSTANCES_MAX) {
    p->l->status = tsl__fail_at(p->l->error, TSL_ERR_LIMIT, p->g->text, p->g->length, copy.offset,
                                "lazy rules make too many kinds of places (limit %u)",
                                TSL__LARK_INSTANCES_MAX);
    return 0;
  }
  if (!tsl__vec_push(&p->l->alloc, &p->g->rules, copy) ||
      !tsl__vec_push(&p->l->alloc, &p->variants, v) ||
      !tsl__index_add(&p->by_place, &p->l->alloc, hash, (uint32_t)p->variants.n - 1))
    return tsl__lark_no_memory(p->l), 0;
  return v.made;
}

/* A lexeme where these lazy ones may begin as well. */
static uint32_t confine(passes *p, uint32_t node, uint64_t here) {
  tsl__exprs *x = p->l->x;
  const tsl__gnode n = p->g->nodes.at[node];
  const tsl__lexeme *e = lexeme_of(p, &n);
  if (!e) return node;
  tsl__expr text = e->text, any = tsl__expr_range(x, 0, 255), all = tsl__expr_star(x, any);
  for (size_t i = 0; i < p->lazy.n; i++) {
    if (!(here >> i & 1) || p->lazy.at[i] == e->text) continue;
    tsl__expr then = e->lazy ? tsl__expr_seq(x, any, all) : all;
    tsl__expr past = tsl__expr_seq(x, p->lazy.at[i], then);
    text = tsl__expr_and(x, text, tsl__expr_not(x, past));
  }
  return text == e->text
             ? node
             : tsl__gbnf_node(p->g, TSL__G_EXPR, tsl__expr_seq(x, text, e->skip), n.b, 0);
}

static uint32_t place(passes *p, uint32_t node, uint64_t here, uint64_t after);

/* What may begin before each item of a sequence, and after it, to `sets`: two for each. An item
 * after one that may be empty is met in two ways. */
static bool sets_of(passes *p, const tsl__gnode *n, uint64_t here, uint64_t after, uint64_t *sets) {
  for (uint32_t i = n->b; i-- > 0;) {
    uint64_t own = 0;
    sets[2 * i + 1] = i + 1 == n->b ? after : sets[2 * i + 2];
    if (begins(p, p->g->lists.at[n->a + i], &own)) own |= sets[2 * i + 1];
    sets[2 * i] = own;
  }
  sets[0] = here;
  for (uint32_t i = 1; i < n->b; i++) {
    uint32_t before = p->g->lists.at[n->a + i - 1];
    uint64_t unused = 0;
    sets[2 * i] |= goes_on(p, before);
    if (begins(p, before, &unused)) sets[2 * i] &= sets[2 * i - 2];
  }
  return !failed(p);
}

static uint32_t place_list(passes *p, const tsl__gnode *n, uint64_t here, uint64_t after) {
  size_t base = p->pending.n, size = 2 * (size_t)n->b * sizeof(uint64_t);
  bool sequence = n->kind == TSL__G_SEQ;
  uint64_t *sets = sequence ? tsl__alloc(&p->l->alloc, size) : NULL;
  if (sequence && !sets) return tsl__lark_no_memory(p->l), 0;
  if (sequence) sets_of(p, n, here, after, sets);
  for (uint32_t i = 0; i < n->b && !failed(p); i++) {
    uint32_t made = place(p, p->g->lists.at[n->a + i], sequence ? sets[2 * i] : here,
                          sequence ? sets[2 * i + 1] : after);
    if (!tsl__vec_push(&p->l->alloc, &p->pending, made)) tsl__lark_no_memory(p->l);
  }
  tsl__free(&p->l->alloc, sets, sets ? size : 0);
  uint32_t list = failed(p) ? 0
                            : tsl__gbnf_list(p->g, sequence ? TSL__G_SEQ : TSL__G_ALT,
                                             p->pending.at + base, n->b);
  p->pending.n = base;
  return list;
}

/* A node where the lazy ones of `here` may begin, and those of `after` where it ends. Depth: the
 * node's height. */
static uint32_t place(passes *p, uint32_t node, uint64_t here, uint64_t after) {
  const tsl__gnode n = p->g->nodes.at[node];
  uint64_t again = after;
  tsl__exprs_work(p->l->x, 1);
  if (failed(p)) return 0;
  switch ((tsl__gkind)n.kind) {
  case TSL__G_EXPR: return confine(p, node, here);
  case TSL__G_REF: return tsl__gbnf_node(p->g, TSL__G_REF, variant_of(p, n.a, here, after), n.b, 0);
  case TSL__G_SEQ:
  case TSL__G_ALT: return place_list(p, &n, here, after);
  case TSL__G_REPEAT:
    if (n.c == 1) return tsl__gbnf_node(p->g, n.kind, place(p, n.a, here, after), n.b, n.c);
    begins(p, n.a, &again);
    here &= again | goes_on(p, n.a);
    return tsl__gbnf_node(p->g, n.kind, place(p, n.a, here, again), n.b, n.c);
  default: return node;
  }
}

static bool place_all(passes *p, uint32_t *root) {
  uint32_t start = variant_of(p, *root, p->first.at[*root], 0);
  for (size_t i = 0; i < p->variants.n && !failed(p); i++) {
    const variant v = p->variants.at[i];
    uint32_t body = place(p, p->g->rules.at[v.rule].body, v.here, v.after);
    p->g->rules.at[v.made].body = body;
  }
  *root = start;
  return !failed(p);
}

bool tsl__lark_lexemes(tsl__lark *l, uint32_t *root) {
  passes p = {.l = l, .g = l->g};
  if (!l->lazy) return true;
  bool fine = number_lazy(&p) && find_first(&p) && place_all(&p, root);
  tsl__vec_free(&l->alloc, &p.lazy);
  tsl__vec_free(&l->alloc, &p.first);
  tsl__vec_free(&l->alloc, &p.more);
  tsl__vec_free(&l->alloc, &p.empty);
  tsl__vec_free(&l->alloc, &p.variants);
  tsl__vec_free(&l->alloc, &p.pending);
  tsl__index_free(&p.by_place, &l->alloc);
  return fine;
}
