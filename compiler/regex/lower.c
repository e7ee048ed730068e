/* lower.c - look-around, anchors and boundaries, exactly.
 *
 * Problem   (?=…), ^ and \b say something about the text around a place, which a plain regular
 *           expression can't.
 * Idea      Lower from right to left, and carry along what may follow the place: a language of
 *           continuations. Then a look-ahead is an intersection:
 *
 *             (?=R)·K = R·text & K
 *             (?!R)·K = K & !(R·text)
 *             $·K     = K & ε
 *
 *           The text before a place is not known there. So the continuation is a union of items
 *           (condition, expression). A condition is about the code point before (a set, or the
 *           beginning of the text). That is enough for ^, \b and all look-behinds of one code
 *           point. Or the condition is about the whole text before: (?<=R) is "the text before is
 *           in text·R". A condition is discharged as soon as what stands before it is known:
 *
 *             L·(c, K) = (true, (L & c)·K)   where L's members are long enough to decide c, or L
 *                                            begins the text
 *
 *           For a condition on one code point also where L may be empty: the item (c, K) itself is
 *           then kept beside the other. At the beginning of the text, what is left is decided by ε.
 * Example   A search of \bab. `text` is what may follow.
 *
 *             ab     (true, ab·text)
 *             \b     splits in two: (?<=\w)(?!\w) contradicts the a and is gone, (?<!\w)(?=\w)
 *                    leaves (no \w before, ab·text)
 *             text   which a search puts in front: (true, text·\W·ab·text), (no \w before, ab·text)
 *             begin  nothing is before: the union of both
 *
 * Loops     A loop whose body has conditions is written out if it has few iterations. It is an
 *           ordinary loop if the conditions look no further than the body (local.c: the
 *           (?!-)[a-z-]{1,63}(?<!-)\. of host names). Else, if it is unbounded and what follows it
 *           has no conditions on what stands before, it is an automaton of its own (loop.c: the
 *           (?:(?!-->).)* of comments).
 * Refused   Look-behind of several code points is refused where what stands before it in the
 *           pattern may be shorter than it looks. So are look-ahead inside a look-behind, and
 *           conditions in loops of the other kinds. TSL_ERR_UNSUPPORTED with the position.
 * Cost      Plain patterns with anchors at their ends take a single pass without intersections.
 * Tested by tests/regex/test_regex.c, against PCRE2
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/regex/lower.h"

#include <stdlib.h>

#include "compiler/expr/node.h"

static const tsl__rx_cond no_condition = {.any = true};

/* ---- failure and counting -------------------------------------------------------------------- */

bool tsl__rx_failed(const tsl__rx_lowering *l) {
  return l->tree->status != TSL_OK || tsl__exprs_status(l->x) != TSL_OK;
}

bool tsl__rx_count(tsl__rx_lowering *l, const tsl__rx *node) {
  if (l->steps++ < TSL__RX_MAX_STEPS) return !tsl__rx_failed(l);
  tsl__rx_fail(l->tree, TSL_ERR_LIMIT, node->offset,
               "look-around makes this regular expression too large");
  return false;
}

static tsl__rx_rests refuse(tsl__rx_lowering *l, uint32_t offset, const char *message) {
  tsl__rx_fail(l->tree, TSL_ERR_UNSUPPORTED, offset, message);
  return (tsl__rx_rests){NULL, 0};
}

/* ---- conditions ------------------------------------------------------------------------------ */

static bool is_true(const tsl__rx_cond *c) { return c->any && !c->before; }
static bool is_false(const tsl__rx_cond *c) { return !c->any && !c->begin && !c->prev.n; }

static bool same_cond(const tsl__rx_cond *a, const tsl__rx_cond *b) {
  if (a->before != b->before || a->any != b->any) return false;
  return a->any || (a->begin == b->begin && tsl__rx_ranges_equal(a->prev, b->prev));
}

/* The intersection of two expressions that are subsets of `text`. */
static tsl__expr meet(tsl__rx_lowering *l, tsl__expr a, tsl__expr b) {
  if (a == l->text) return b;
  if (b == l->text) return a;
  return tsl__expr_and(l->x, a, b);
}

/* Both conditions; false if they contradict each other. */
static bool cond_and(tsl__rx_lowering *l, const tsl__rx_cond *a, const tsl__rx_cond *b,
                     tsl__rx_cond *out) {
  *out = a->any ? *b : *a;
  if (!a->any && !b->any) {
    out->begin = a->begin && b->begin;
    out->prev = tsl__rx_ranges_and(l->tree, a->prev, b->prev);
  }
  out->before = a->before ? a->before : b->before;
  out->reach = a->reach > b->reach ? a->reach : b->reach;
  out->offset = a->before ? a->offset : b->offset;
  if (a->before && b->before) {
    out->before = meet(l, a->before, b->before);
    if (!out->before) return false;
  }
  return !is_false(out);
}

/* The texts before a place that satisfy the part of a condition about one code point. */
static tsl__expr texts_ending(tsl__rx_lowering *l, const tsl__rx_cond *c) {
  if (c->any) return l->text;
  tsl__expr e = tsl__expr_seq(l->x, l->text, tsl__rx_set_expr(l, c->prev));
  return c->begin ? tsl__expr_alt(l->x, e, TSL__EPS) : e;
}

/* ---- lists of rests -------------------------------------------------------------------------- */

/* Can two items with equal expressions be one? Only if they differ in nothing but the code point
 * before. */
static bool join_conditions(tsl__rx_lowering *l, tsl__rx_rest *a, const tsl__rx_rest *b) {
  if (a->e != b->e || a->cond.before || b->cond.before) return false;
  if (a->cond.any || b->cond.any) {
    a->cond = no_condition;
  } else {
    a->cond.begin |= b->cond.begin;
    a->cond.prev = tsl__rx_ranges_or(l->tree, a->cond.prev, b->cond.prev);
    if (a->cond.begin && tsl__rx_ranges_equal(a->cond.prev, tsl__rx_ranges_all()))
      a->cond = no_condition;
  }
  a->first = tsl__rx_ranges_or(l->tree, a->first, b->first);
  return true;
}

void tsl__rx_list_add(tsl__rx_lowering *l, tsl__rx_rests *out, tsl__rx_rest item) {
  if (!item.e || is_false(&item.cond)) return;
  for (uint32_t i = 0; i < out->n; i++) {
    tsl__rx_rest *old = &out->at[i];
    if (join_conditions(l, old, &item)) return;
    if (!same_cond(&old->cond, &item.cond)) continue;
    old->e = tsl__expr_alt(l->x, old->e, item.e);
    old->first = tsl__rx_ranges_or(l->tree, old->first, item.first);
    if (item.cond.reach > old->cond.reach) old->cond.reach = item.cond.reach;
    return;
  }
  out->at[out->n++] = item;
}

tsl__rx_rests tsl__rx_list_new(tsl__rx_lowering *l, size_t room) {
  tsl__rx_rests out = {NULL, 0};
  l->steps += (uint32_t)(room / 8);
  if (room < TSL__RX_MAX_STEPS)
    out.at = tsl__arena_alloc(l->tree->arena, (room + 1) * sizeof *out.at);
  if (!out.at) {
    if (room < TSL__RX_MAX_STEPS)
      tsl__rx_fail(l->tree, TSL_ERR_NO_MEMORY, 0, "out of memory");
    else
      tsl__rx_fail(l->tree, TSL_ERR_LIMIT, 0,
                   "look-around makes this regular expression too large");
  }
  return out;
}

static tsl__rx_rests always(tsl__rx_lowering *l, tsl__expr e, tsl__rx_ranges first) {
  tsl__rx_rests out = tsl__rx_list_new(l, 1);
  if (out.at) tsl__rx_list_add(l, &out, (tsl__rx_rest){no_condition, e, first});
  return out;
}

static tsl__rx_rests everything(tsl__rx_lowering *l) {
  return always(l, l->text, tsl__rx_ranges_all());
}

static tsl__rx_rests unite(tsl__rx_lowering *l, tsl__rx_rests a, tsl__rx_rests b) {
  tsl__rx_rests out = tsl__rx_list_new(l, (size_t)a.n + b.n);
  for (uint32_t i = 0; out.at && i < a.n; i++) tsl__rx_list_add(l, &out, a.at[i]);
  for (uint32_t i = 0; out.at && i < b.n; i++) tsl__rx_list_add(l, &out, b.at[i]);
  return out;
}

/* Texts that are in both unions: item by item. */
static tsl__rx_rests intersect(tsl__rx_lowering *l, tsl__rx_rests a, tsl__rx_rests b) {
  tsl__rx_rests out = tsl__rx_list_new(l, (size_t)a.n * b.n);
  for (uint32_t i = 0; out.at && i < a.n; i++)
    for (uint32_t k = 0; k < b.n && !tsl__rx_failed(l); k++) {
      tsl__rx_rest item;
      if (!cond_and(l, &a.at[i].cond, &b.at[k].cond, &item.cond)) continue;
      item.e = meet(l, a.at[i].e, b.at[k].e);
      item.first = tsl__rx_ranges_and(l->tree, a.at[i].first, b.at[k].first);
      tsl__rx_list_add(l, &out, item);
    }
  return out;
}

/* What is not in one item: its condition and not its expression, or not its condition. */
static tsl__rx_rests negate_one(tsl__rx_lowering *l, const tsl__rx_rest *r) {
  tsl__rx_rests out = tsl__rx_list_new(l, 3);
  tsl__rx_rest item = {r->cond, TSL__NONE, tsl__rx_ranges_all()};
  if (!out.at) return out;
  if (r->e != l->text) item.e = tsl__expr_text_not(l->x, r->e);
  tsl__rx_list_add(l, &out, item);
  item.e = l->text;
  if (!r->cond.any) {
    item.cond =
        (tsl__rx_cond){.begin = !r->cond.begin, .prev = tsl__rx_ranges_not(l->tree, r->cond.prev)};
    tsl__rx_list_add(l, &out, item);
  }
  if (r->cond.before) {
    item.cond = r->cond;
    item.cond.any = true;
    item.cond.before = tsl__expr_text_not(l->x, r->cond.before);
    if (item.cond.before) tsl__rx_list_add(l, &out, item);
  }
  return out;
}

static tsl__rx_rests negate(tsl__rx_lowering *l, tsl__rx_rests a) {
  tsl__rx_rests out = everything(l);
  for (uint32_t i = 0; i < a.n && !tsl__rx_failed(l); i++)
    out = intersect(l, out, negate_one(l, &a.at[i]));
  return out;
}

/* ---- looking ahead --------------------------------------------------------------------------- */

/* The members of an item that begin with a code point of the set (or, if `end`, are empty). */
static tsl__rx_rest keep_first(tsl__rx_lowering *l, tsl__rx_rest r, tsl__rx_ranges set, bool end) {
  bool nullable = tsl__expr_nullable(l->x, r.e);
  tsl__rx_ranges both = tsl__rx_ranges_and(l->tree, r.first, set);
  if (both.n == 0) {
    r.e = nullable && end ? TSL__EPS : TSL__NONE;
  } else if (!tsl__rx_ranges_equal(both, r.first) || (nullable && !end)) {
    tsl__expr begins = tsl__expr_seq(l->x, tsl__rx_set_expr(l, set), l->text);
    if (end) begins = tsl__expr_alt(l->x, begins, TSL__EPS);
    r.e = meet(l, r.e, begins);
  }
  r.first = both;
  return r;
}

static tsl__rx_rests look_ahead(tsl__rx_lowering *l, const tsl__rx *child, bool negative,
                                tsl__rx_rests rests, bool first) {
  tsl__rx_ranges set;
  tsl__rx_rests out;
  if (!tsl__rx_one_char(l, child, &set)) {
    out = tsl__rx_lower(l, child, everything(l), first);
    return intersect(l, negative ? negate(l, out) : out, rests);
  }
  if (negative) set = tsl__rx_ranges_not(l->tree, set);
  out = tsl__rx_list_new(l, rests.n);
  for (uint32_t i = 0; out.at && i < rests.n; i++)
    tsl__rx_list_add(l, &out, keep_first(l, rests.at[i], set, negative));
  return out;
}

/* ---- looking behind -------------------------------------------------------------------------- */

static tsl__rx_rests behind(tsl__rx_lowering *l, const tsl__rx *node, bool negative);

/* "The text before is in (or, negative, not in) `e`", as a list whose expressions are `text`. */
static tsl__rx_rests whole_before(tsl__rx_lowering *l, const tsl__rx *node, tsl__expr e,
                                  uint32_t reach, bool negative) {
  tsl__rx_rests out = everything(l);
  if (negative) e = tsl__expr_text_not(l->x, e);
  if (!e || !out.n) return (tsl__rx_rests){out.at, 0};
  out.at[0].cond.before = e;
  out.at[0].cond.reach = reach;
  out.at[0].cond.offset = node->offset;
  return out;
}

static tsl__rx_rests one_before(tsl__rx_lowering *l, tsl__rx_ranges set, bool negative) {
  tsl__rx_rests out = tsl__rx_list_new(l, 1);
  tsl__rx_cond cond = {.begin = negative,
                       .prev = negative ? tsl__rx_ranges_not(l->tree, set) : set};
  if (out.at) tsl__rx_list_add(l, &out, (tsl__rx_rest){cond, l->text, tsl__rx_ranges_all()});
  return out;
}

/* A condition followed by plain text, such as (?<=^ab): the texts before are those that satisfy the
 * condition, followed by that text. */
static tsl__rx_rests condition_before(tsl__rx_lowering *l, const tsl__rx *node, bool negative) {
  const tsl__rx *head = node->u.child[0];
  tsl__expr all = TSL__NONE, tail;
  tsl__rx rest = *node;
  rest.u.child++;
  rest.n--;
  if (head->kind != TSL__RX_LOOK || head->ahead)
    return refuse(l, node->offset, "this look-around inside a look-behind is not supported");
  for (uint32_t i = 0; i < rest.n; i++)
    if (!rest.u.child[i]->plain)
      return refuse(l, rest.u.child[i]->offset,
                    "this look-around inside a look-behind is not supported");
  tail = tsl__rx_plain(l, &rest, TSL__EPS);
  tsl__rx_rests conds = behind(l, head->u.child[0], head->negative);
  for (uint32_t i = 0; i < conds.n; i++) {
    const tsl__rx_cond *c = &conds.at[i].cond;
    tsl__expr e = texts_ending(l, c);
    if (c->before) e = meet(l, e, c->before);
    all = tsl__expr_alt(l->x, all, tsl__expr_seq(l->x, e, tail));
  }
  return whole_before(l, node, all, TSL__INF, negative);
}

/* The conditions that (?<=node) or (?<!node) stands for: a list whose expressions are `text`. */
static tsl__rx_rests behind(tsl__rx_lowering *l, const tsl__rx *node, bool negative) {
  tsl__rx_ranges set;
  tsl__rx_rests out;
  if (!tsl__rx_count(l, node)) return (tsl__rx_rests){NULL, 0};
  if (tsl__rx_one_char(l, node, &set)) return one_before(l, set, negative);
  if (node->kind == TSL__RX_GROUP) return behind(l, node->u.child[0], negative);
  if (node->plain && node->least == 0) return negative ? (tsl__rx_rests){NULL, 0} : everything(l);
  if (node->plain)
    return whole_before(l, node, tsl__expr_seq(l->x, l->text, tsl__rx_plain(l, node, TSL__EPS)),
                        node->most, negative);
  if (node->kind == TSL__RX_LOOK && !node->ahead)
    return behind(l, node->u.child[0], node->negative != negative);
  if (node->kind == TSL__RX_SEQ) return condition_before(l, node, negative);
  if (node->kind != TSL__RX_ALT)
    return refuse(l, node->offset, "this look-around inside a look-behind is not supported");
  out = negative ? everything(l) : tsl__rx_list_new(l, 1);
  for (uint32_t i = 0; i < node->n && !tsl__rx_failed(l); i++) {
    tsl__rx_rests one = behind(l, node->u.child[i], negative);
    out = negative ? intersect(l, out, one) : unite(l, out, one);
  }
  return out;
}

/* ---- consuming ------------------------------------------------------------------------------- */

/* What consumes: a plain node, or the expression of a local loop. */
typedef struct eater {
  const tsl__rx *node;
  tsl__expr e; /* NONE: the plain language of `node` */
} eater;

static bool may_be_empty(tsl__rx_lowering *l, const eater *a) {
  return a->e ? tsl__expr_nullable(l->x, a->e) : a->node->least == 0;
}

static tsl__expr eat(tsl__rx_lowering *l, const eater *a, tsl__expr tail) {
  return a->e ? tsl__expr_seq(l->x, a->e, tail) : tsl__rx_plain(l, a->node, tail);
}

/* The members that end in a code point of the set. */
static tsl__expr eat_ending(tsl__rx_lowering *l, const eater *a, tsl__rx_ranges set) {
  if (!a->e) return tsl__rx_ending(l, a->node, set);
  return tsl__expr_and(l->x, a->e, tsl__expr_seq(l->x, l->text, tsl__rx_set_expr(l, set)));
}

/* The code points that `a` followed by r can begin with; all, where nobody asks. */
static tsl__rx_ranges eat_first(tsl__rx_lowering *l, const eater *a, const tsl__rx_rest *r) {
  tsl__rx_ranges first;
  if (!l->tree->looks || a->e) return tsl__rx_ranges_all();
  first = tsl__rx_first(l, a->node);
  return may_be_empty(l, a) ? tsl__rx_ranges_or(l->tree, first, r->first) : first;
}

/* An item that asks nothing of the text before, now with `a` in front. */
static void eat_free(tsl__rx_lowering *l, tsl__rx_rests *out, const eater *a,
                     const tsl__rx_rest *r) {
  tsl__rx_list_add(l, out, (tsl__rx_rest){no_condition, eat(l, a, r->e), eat_first(l, a, r)});
}

/* An item with a condition: the members of `a` that satisfy it, and the item itself where `a` may
 * be empty. `first`: nothing stands before `a`. */
static void eat_conditional(tsl__rx_lowering *l, tsl__rx_rests *out, const eater *a,
                            const tsl__rx_rest *r, bool first) {
  const tsl__rx_cond *c = &r->cond;
  tsl__rx_rest item = {no_condition, TSL__NONE, eat_first(l, a, r)};
  if (c->before && !first && a->node->least < c->reach) {
    refuse(l, c->offset,
           "this look-behind is not supported: what stands before it may be shorter than what it "
           "looks at");
    return;
  }
  item.e = c->any ? eat(l, a, TSL__EPS) : eat_ending(l, a, c->prev);
  if (c->before && item.e) item.e = meet(l, item.e, c->before);
  if (item.e) item.e = tsl__expr_seq(l->x, item.e, r->e);
  tsl__rx_list_add(l, out, item);
  if (!c->any && may_be_empty(l, a)) tsl__rx_list_add(l, out, *r);
}

static tsl__rx_rests eat_all(tsl__rx_lowering *l, eater a, tsl__rx_rests rests, bool first) {
  tsl__rx_rests out = tsl__rx_list_new(l, (size_t)rests.n * 2);
  for (uint32_t i = 0; out.at && i < rests.n && !tsl__rx_failed(l); i++) {
    if (is_true(&rests.at[i].cond))
      eat_free(l, &out, &a, &rests.at[i]);
    else
      eat_conditional(l, &out, &a, &rests.at[i], first);
  }
  return out;
}

/* ---- loops with conditions inside ------------------------------------------------------------ */

static tsl__rx_rests write_out(tsl__rx_lowering *l, const tsl__rx *node, tsl__rx_rests rests,
                               bool first) {
  tsl__rx_rests out = rests;
  for (uint32_t i = node->max; i > 0 && !tsl__rx_failed(l); i--) {
    out = tsl__rx_lower(l, node->u.child[0], out, first && i == 1);
    /* the loop may end after i - 1 iterations */
    if (i - 1 >= node->min) out = unite(l, out, rests);
  }
  return out;
}

static tsl__rx_rests loop(tsl__rx_lowering *l, const tsl__rx *node, tsl__rx_rests rests,
                          bool first) {
  const tsl__rx *body = node->u.child[0];
  tsl__expr e;
  if (body->most == 0) return node->min ? tsl__rx_lower(l, body, rests, first) : rests;
  if (node->max <= 1) return write_out(l, node, rests, first);
  if (tsl__rx_local(l, body, &e)) {
    eater a = {node, tsl__expr_repeat(l->x, e, node->min, node->max)};
    return a.e ? eat_all(l, a, rests, first) : (tsl__rx_rests){rests.at, 0};
  }
  if (node->max <= TSL__RX_MAX_UNROLL) return write_out(l, node, rests, first);
  bool counted = node->max != TSL__INF && body->least == body->most,
       fits = node->min <= TSL__RX_MAX_UNROLL && rests.n == 1 && is_true(&rests.at[0].cond);
  if (fits && (node->max == TSL__INF || counted)) {
    tsl__rx once = *node;
    tsl__expr then = rests.at[0].e;
    rests = tsl__rx_loop(l, node->u.child[0], then);
    if (counted) rests = tsl__rx_at_most(l, node, rests, then);
    once.max = once.min;
    return once.min ? write_out(l, &once, rests, first) : rests;
  }
  return rests.n ? refuse(l, node->offset, "this look-around inside a loop is not supported")
                 : rests;
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* Children from right to left; neighbours that are plain become one. */
static tsl__rx_rests sequence(tsl__rx_lowering *l, const tsl__rx *node, tsl__rx_rests rests,
                              bool first) {
  uint32_t consuming = 0, end = node->n; /* children before this one take no text */
  while (consuming < node->n && node->u.child[consuming]->most == 0) consuming++;
  while (end > 0 && !tsl__rx_failed(l)) {
    uint32_t from = end - 1;
    while (node->u.child[end - 1]->plain && from > 0 && node->u.child[from - 1]->plain) from--;
    bool leading = first && from <= consuming;
    if (node->u.child[from]->plain) {
      tsl__rx *run = tsl__rx_list(l->tree, TSL__RX_SEQ, node->u.child[from]->offset,
                                  node->u.child + from, end - from);
      if (run) rests = eat_all(l, (eater){run, TSL__NONE}, rests, leading);
    } else {
      rests = tsl__rx_lower(l, node->u.child[from], rests, leading);
    }
    end = from;
  }
  return rests;
}

tsl__rx_rests tsl__rx_lower(tsl__rx_lowering *l, const tsl__rx *node, tsl__rx_rests rests,
                            bool first) {
  tsl__rx_rests out;
  if (!tsl__rx_count(l, node)) return (tsl__rx_rests){NULL, 0};
  if (node->plain) return eat_all(l, (eater){node, TSL__NONE}, rests, first);
  switch (node->kind) {
  case TSL__RX_SEQ: return sequence(l, node, rests, first);
  case TSL__RX_REPEAT: return loop(l, node, rests, first);
  case TSL__RX_GROUP: return tsl__rx_lower(l, node->u.child[0], rests, first);
  case TSL__RX_LOOK:
    if (node->ahead) return look_ahead(l, node->u.child[0], node->negative, rests, first);
    return intersect(l, behind(l, node->u.child[0], node->negative), rests);
  default: break;
  }
  out = tsl__rx_list_new(l, 1); /* ALT */
  for (uint32_t i = 0; i < node->n && !tsl__rx_failed(l); i++)
    out = unite(l, out, tsl__rx_lower(l, node->u.child[i], rests, first));
  return out;
}

/* ---- whole patterns -------------------------------------------------------------------------- */

static tsl__rx *trim(tsl__rx_tree *t, tsl__rx *node, bool left, bool *gone);

/* A list trimmed at each of its children, or of a sequence at those that are next to `text`. */
static tsl__rx *trim_children(tsl__rx_tree *t, tsl__rx *node, bool left) {
  tsl__rx **child = tsl__arena_copy(t->arena, node->u.child, node->n * sizeof *child);
  bool changed = false, gone = true;
  if (!child && node->n) return tsl__rx_fail(t, TSL_ERR_NO_MEMORY, 0, "out of memory");
  for (uint32_t i = 0; i < node->n && (gone || node->kind != TSL__RX_SEQ); i++) {
    uint32_t k = left ? i : node->n - 1 - i;
    if (!(child[k] = trim(t, node->u.child[k], left, &gone))) return NULL;
    changed |= child[k] != node->u.child[k];
  }
  if (!changed) return node;
  return node->kind == TSL__RX_GROUP
             ? tsl__rx_group(t, node->offset, node->min, child[0])
             : tsl__rx_list(t, (tsl__rx_kind)node->kind, node->offset, child, node->n);
}

/* With `text` before (or after) it, what can be empty is of no use, and a loop need not go past its
 * minimum. Returns the node without that, which next to `text` has the same language. NULL on
 * failure. *gone: it takes no text any more and so lets its neighbour be next to `text`. A node may
 * stand elsewhere too (backref.c), so it is not changed. */
static tsl__rx *trim(tsl__rx_tree *t, tsl__rx *node, bool left, bool *gone) {
  *gone = node->plain && node->least == 0;
  if (*gone)
    return node->kind == TSL__RX_SEQ && node->n == 0
               ? node
               : tsl__rx_list(t, TSL__RX_SEQ, node->offset, NULL, 0);
  if (node->kind == TSL__RX_GROUP || node->kind == TSL__RX_ALT || node->kind == TSL__RX_SEQ)
    return trim_children(t, node, left);
  uint32_t max = left || node->min <= TSL__UNROLL_MAX ? node->min : TSL__INF;
  return node->kind == TSL__RX_REPEAT && node->plain && max != node->max
             ? tsl__rx_repeat(t, node->offset, node->u.child[0], node->min, max)
             : node;
}

/* Does every match begin at the beginning of the text, by a ^ in front? */
static bool is_anchored(const tsl__rx *node) {
  tsl__rx_ranges all = tsl__rx_ranges_all();
  switch (node->kind) {
  case TSL__RX_LOOK:
    return !node->ahead && node->negative && node->u.child[0]->kind == TSL__RX_SET &&
           tsl__rx_ranges_equal((tsl__rx_ranges){node->u.child[0]->u.ranges, node->u.child[0]->n},
                                all);
  case TSL__RX_GROUP: return is_anchored(node->u.child[0]);
  case TSL__RX_SEQ: return node->n && is_anchored(node->u.child[0]);
  case TSL__RX_ALT:
    for (uint32_t i = 0; i < node->n; i++)
      if (!is_anchored(node->u.child[i])) return false;
    return true;
  default: return false;
  }
}

/* The same with any text in front of it. The text stands in front of each branch, so that what
 * stands before a look-behind is one run with it. */
static tsl__rx *after_any_text(tsl__rx_tree *t, tsl__rx *node) {
  tsl__rx **part, *any = tsl__rx_set(t, node->offset, tsl__rx_ranges_all().at, 1);
  any = any ? tsl__rx_repeat(t, node->offset, any, 0, TSL__INF) : NULL;
  part = any ? tsl__arena_alloc(t->arena, (node->n + 2) * sizeof *part) : NULL;
  if (!any) return NULL;
  if (!part) return tsl__rx_fail(t, TSL_ERR_NO_MEMORY, 0, "out of memory");
  if (!node->plain && node->kind == TSL__RX_ALT) {
    for (uint32_t i = 0; i < node->n; i++)
      if (!(part[i] = after_any_text(t, node->u.child[i]))) return NULL;
    return tsl__rx_list(t, TSL__RX_ALT, node->offset, part, node->n);
  }
  part[0] = any;
  part[1] = node;
  if (node->kind != TSL__RX_SEQ) return tsl__rx_list(t, TSL__RX_SEQ, node->offset, part, 2);
  memcpy(part + 1, node->u.child, node->n * sizeof *part);
  return tsl__rx_list(t, TSL__RX_SEQ, node->offset, part, node->n + 1);
}

/* What may follow the beginning of the text. */
static tsl__expr at_beginning(tsl__rx_lowering *l, tsl__rx_rests rests) {
  tsl__expr result = TSL__NONE;
  for (uint32_t i = 0; i < rests.n; i++) {
    const tsl__rx_cond *c = &rests.at[i].cond;
    if ((c->any || c->begin) && (!c->before || tsl__expr_nullable(l->x, c->before)))
      result = tsl__expr_alt(l->x, result, rests.at[i].e);
  }
  return result;
}

static tsl__expr lower_whole(tsl__rx_tree *t, tsl__exprs *x, tsl__rx *root, bool search) {
  tsl__rx_lowering l = {.tree = t, .x = x, .text = tsl__expr_text(x)};
  tsl__rx_rests rests;
  uint32_t most;
  if (!(root = tsl__rx_join(&l, root))) return TSL__NONE;
  if (!(root = tsl__rx_unbound(&l, root, search, &most))) return TSL__NONE;
  if (search) {
    bool gone;
    root = trim(t, root, true, &gone);
    root = root ? trim(t, root, false, &gone) : NULL;
    if (!root) return TSL__NONE;
    if (root->plain || !is_anchored(root)) root = after_any_text(t, root);
    if (!root) return TSL__NONE;
  }
  rests = search ? everything(&l) : always(&l, TSL__EPS, (tsl__rx_ranges){NULL, 0});
  rests = tsl__rx_lower(&l, root, rests, true);
  if (tsl__rx_failed(&l)) return TSL__NONE;
  tsl__expr all = at_beginning(&l, rests);
  return most == TSL__INF
             ? all
             : tsl__expr_and(x, all, tsl__expr_repeat(x, tsl__expr_any_char(x), 0, most));
}

/* What a match within a larger text can be: no condition may look past it. */
static tsl__expr lower_within(tsl__rx_tree *t, tsl__exprs *x, tsl__rx *root) {
  tsl__rx_lowering l = {.tree = t, .x = x, .text = tsl__expr_text(x)};
  tsl__expr e = TSL__NONE;
  if (!tsl__rx_local(&l, root, &e) && !tsl__rx_failed(&l))
    tsl__rx_fail(t, TSL_ERR_UNSUPPORTED, 0,
                 "a look-around, anchor or boundary that may look past the match is not supported");
  return e;
}

static void too_long(tsl__rx_tree *t) {
  tsl__rx_fail(t, TSL_ERR_LIMIT, TSL__REGEX_MAX_LENGTH,
               "the regular expression is too long (more than 131072 bytes)");
}

tsl_status tsl__regex_compile(tsl__exprs *x, const char *pattern, size_t length,
                              const tsl__regex_flags *flags, tsl__expr *out, tsl_error *error) {
  static const tsl__regex_flags none = {0};
  tsl__arena arena;
  tsl__rx_tree tree = {.x = x,
                       .held = tsl__exprs_held(x),
                       .arena = &arena,
                       .pattern = pattern,
                       .length = length,
                       .error = error};
  tsl__rx *root = NULL;
  *out = TSL__NONE;
  if (!flags) flags = &none;
  tsl__arena_init(&arena, tsl__exprs_allocator(x));
  if (length > TSL__REGEX_MAX_LENGTH)
    too_long(&tree);
  else
    root = tsl__rx_expand(&tree, tsl__rx_parse(&tree, tsl__exprs_allocator(x), flags));
  if (root && flags->within) *out = lower_within(&tree, x, root);
  if (root && !flags->within) *out = lower_whole(&tree, x, root, flags->search);
  tsl__arena_free(&arena);
  tsl__exprs_hold(x, tree.held);
  if (tsl__exprs_status(x) != TSL_OK) { /* what the tree says after that is only a consequence */
    tree.status = tsl__exprs_status(x);
    tsl__fail_at(error, tree.status, pattern, length, 0, "%s", tsl__exprs_why(x));
  }
  if (tree.status != TSL_OK) *out = TSL__NONE;
  return tree.status;
}

tsl_status tsl__regex_check(const tsl_allocator *a, const char *pattern, size_t length,
                            tsl_error *error) {
  static const tsl__regex_flags none = {0};
  tsl__arena arena;
  tsl__exprs *x;
  tsl_status status = tsl__exprs_new(NULL, a, NULL, &x);
  if (status != TSL_OK) return tsl__fail(error, status, "out of memory");
  tsl__rx_tree tree = {
      .x = x, .arena = &arena, .pattern = pattern, .length = length, .error = error};
  tsl__arena_init(&arena, a);
  if (length > TSL__REGEX_MAX_LENGTH)
    too_long(&tree);
  else
    tsl__rx_parse(&tree, a, &none);
  tsl__arena_free(&arena);
  tsl__exprs_free(x);
  return tree.status;
}
