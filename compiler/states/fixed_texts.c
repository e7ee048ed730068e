/* fixed_texts.c - states that spell listed texts, or any text but these.
 *
 * Problem   The members of an object are a list of names, an enum is a list of strings. As
 *           expressions each letter of each name would be a node, a derivative and a state.
 * Idea      Such a list is sorted, so the texts that begin with the bytes read so far are a range
 *           [lo, hi). So (list, lo, hi, depth) says all. A state stands for that range without any
 *           expression. The expression is made only when something asks for a byte that the list
 *           does not answer, such as an escape.
 * Example   Of the names {"name", "next", "size"} the range after "n" is [0, 2) at depth 1. After
 *           "ne" it is [1, 2) at depth 2.
 * Others    "Any text but these" has the same range, as the texts that must not end here.
 * Cost      One binary search for each byte, and one record for each range that is met.
 * Tested by tests/walk/test_fixed.c, tests/position/test_named.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/states/grow.h"
#include "runtime/walk/names.h"

/* Any text but those of *texts? */
static bool other_texts(const tsl__exprs *x, const tsl__node *n, tsl__node *texts) {
  if (n->kind != TSL__K_AND || n->b != 2) return false;
  for (int i = 0; i < 2; i++) {
    tsl__expr both[2] = {tsl__list_at(x, n->a)[i], tsl__list_at(x, n->a)[1 - i]};
    tsl__node m = tsl__node_at(x, both[1]);
    if (both[0] != x->text || m.kind != TSL__K_NOT) continue;
    *texts = tsl__node_at(x, m.a);
    return tsl__is_texts(texts);
  }
  return false;
}

/* Does the rule spell texts of a set, or others? */
static bool is_set(const tsl__rule *rule) {
  return rule->flags & (TSL__RULE_NAMES | TSL__RULE_OTHERS);
}

/* The node of fixed texts that e spells as the rest of a JSON string, or of those that it does not.
 * `plain`: a plain one. False if it is something else. */
static bool fixed_texts(tsl__exprs *x, tsl__expr e, tsl__node *texts, bool *others, bool *plain) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind == TSL__K_RULE) {
    const tsl__rule *rule = tsl__rule_at(x, n.a);
    if (is_set(rule)) {
      *texts = (tsl__node){
          .kind = TSL__K_STRSET, .a = rule->param, .c = tsl__stringset_size(x, rule->param)};
      *others = rule->flags & TSL__RULE_OTHERS;
      *plain = x->plain_strings;
      return true;
    }
    if (!rule->body) return false;
    n = tsl__node_at(x, rule->body);
  }
  if (n.kind != TSL__K_JSTR) return false;
  *texts = tsl__node_at(x, n.a);
  *plain = n.d & TSL__JSON_PLAIN;
  *others = !tsl__is_texts(texts);
  return !*others ||
         other_texts(x, &(tsl__node){.kind = texts->kind, .a = texts->a, .b = texts->b}, texts);
}

bool tsl__may_be_fixed(const tsl__exprs *x, const tsl__node *n) {
  if (n->kind != TSL__K_RULE) return n->kind == TSL__K_JSTR;
  const tsl__rule *rule = tsl__rule_at(x, n->a);
  return is_set(rule) || (rule->body && tsl__node_at(x, rule->body).kind == TSL__K_JSTR);
}

/* The bytes of a literal, where they stay; NULL when out of memory. */
static const char *literal_text(tsl__states *c, const tsl__node *n) {
  uint32_t end = n->a + n->b;
  tsl__literal_copy *copy = &c->copies[tsl__mix(end) & (TSL__COPIES - 1)];
  if (!copy->at || copy->end != end || n->a < copy->begin)
    *copy = (tsl__literal_copy){
        n->a, end, tsl__arena_copy(&c->space->arena, tsl__literal_at(c->x, n->a), n->b)};
  return copy->at ? copy->at + (n->a - copy->begin) : NULL;
}

bool tsl__note_fixed(tsl__states *c, tsl__expr e, tsl__state_rec *r) {
  tsl__arena *arena = &c->space->arena;
  tsl__node n;
  bool others, plain;
  if (!fixed_texts(c->x, e, &n, &others, &plain)) return true;
  tsl__listed_texts made = {{NULL, 0, 1, 0, others, plain},
                            n.kind == TSL__K_LIT ? UINT32_MAX : n.a};
  if (n.kind == TSL__K_LIT) {
    tsl__string only = {literal_text(c, &n), n.b};
    made.fixed.texts = only.at ? tsl__arena_copy(arena, &only, sizeof only) : NULL;
  } else {
    made.fixed = (tsl__fixed){tsl__strings_at(c->x, n.a)->at, n.b, n.c, n.d, others, plain};
  }
  const tsl__listed_texts *kept =
      made.fixed.texts ? tsl__arena_copy(arena, &made, sizeof made) : NULL;
  r->fixed = kept ? &kept->fixed : NULL;
  if (!r->fixed) tsl__space_no_memory(c->space);
  return r->fixed;
}

/* Names, and texts other than names, are spelled without expressions. A state between two of their
 * characters has none until somebody reads a byte that the table does not have. */
typedef struct spelled {
  tsl__listed_texts listed;
  tsl__keyed keyed;
} spelled;

/* Any text but those of `rest`; the empty one alone is excluded at the end of each name. */
static tsl__expr text_but(tsl__states *c, tsl__expr rest) {
  if (rest == TSL__NONE) return tsl__expr_text(c->x);
  if (rest != TSL__EPS) return tsl__expr_text_not(c->x, rest);
  if (c->some_text == TSL__NONE) c->some_text = tsl__expr_text_not(c->x, rest);
  return c->some_text;
}

tsl__expr tsl__states_expr(tsl__states *c, const tsl__state_rec *r) {
  const tsl__listed_texts *s = tsl__spelled_of(r);
  if (!s) return r->handle;
  if (s->fixed.others)
    return tsl__expr_json_string(c->x, text_but(c, tsl__strset_node(c->x, s->set, s->fixed.lo,
                                                                    s->fixed.hi, s->fixed.depth)));
  return tsl__expr_json_string(
      c->x, tsl__keys_node(c->x, s->set, s->fixed.lo, s->fixed.hi, s->fixed.depth));
}

static uint64_t spelled_hash(const tsl__listed_texts *s) {
  return tsl__mix(((uint64_t)s->set << 32 | s->fixed.depth) ^
                  tsl__mix((uint64_t)s->fixed.lo << 32 | s->fixed.hi)) +
         s->fixed.others;
}

static tsl__state find_spelled(const tsl__space *space, const tsl__listed_texts *s, uint64_t hash) {
  for (const tsl__space *layer = space; layer; layer = layer->parent) {
    tsl__index_iter it = tsl__index_first(&layer->states.index, hash);
    for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
      const tsl__listed_texts *is = tsl__spelled_of(tsl__state_at(space, i));
      if (is && is->set == s->set && is->fixed.lo == s->fixed.lo && is->fixed.hi == s->fixed.hi &&
          is->fixed.depth == s->fixed.depth && is->fixed.others == s->fixed.others &&
          is->fixed.plain == s->fixed.plain)
        return i;
    }
  }
  return 0;
}

tsl__state tsl__spelled_state(tsl__states *c, tsl__stringset set, uint32_t lo, uint32_t hi,
                              uint32_t depth, bool others) {
  const spelled s = {
      {{tsl__strings_at(c->x, set)->at, lo, hi, depth, others, c->x->plain_strings}, set},
      {1, {{lo, hi}}}};
  uint64_t hash = spelled_hash(&s.listed);
  tsl__state state = find_spelled(c->space, &s.listed, hash);
  if (state) return state;
  const spelled *kept = tsl__arena_copy(&c->space->arena, &s, sizeof s);
  if (kept && !(state = tsl__state_new(c->space, 1))) return 0;
  if (kept) {
    tsl__state_rec *r = tsl__state_own(c->space, state);
    r->flags = others ? 0 : TSL__STATE_KEYED;
    r->fixed = &kept->listed.fixed;
    r->keyed = others ? NULL : &kept->keyed;
  }
  if (kept && tsl__index_add(&c->space->states.index, &c->space->alloc, hash, state)) return state;
  return tsl__space_no_memory(c->space), 0;
}

/* Is one text left, and spelled? */
static bool is_at_end(const tsl__string *texts, uint32_t lo, uint32_t hi, uint32_t depth) {
  return hi - lo == 1 && texts[lo].length == depth;
}

/* The rest of a text that may not be one of these, whose spelling ends here: any text, or any but
 * the empty one. Both are kept once made. */
static tsl__state other_end(tsl__states *c, bool some) {
  tsl__state *known = some ? &c->some_rest : &c->any_rest;
  if (*known) return *known;
  tsl__state s =
      tsl__states_of(c, tsl__expr_json_string(c->x, text_but(c, some ? TSL__EPS : TSL__NONE)));
  return tsl__states_fine(c) ? *known = s : 0;
}

/* The rest of fixed texts as an expression; TSL__NONE: none is left. */
static tsl__expr rest_of(tsl__states *c, const tsl__state_rec *from, uint32_t lo, uint32_t hi,
                         uint32_t depth) {
  const tsl__listed_texts *t = tsl__texts_of(from);
  tsl__node n;
  bool others, plain;
  if (lo >= hi) return TSL__NONE;
  if (t->set != UINT32_MAX) return tsl__strset_node(c->x, t->set, lo, hi, depth);
  return fixed_texts(c->x, from->handle, &n, &others, &plain) ? tsl__literal_tail(c->x, &n, depth)
                                                              : TSL__NONE;
}

tsl__state tsl__states_fixed(void *ctx, const tsl__state_rec *from, uint32_t lo, uint32_t hi,
                             uint32_t depth) {
  tsl__states *c = ctx;
  const tsl__listed_texts *t = tsl__texts_of(from);
  bool others = t->fixed.others, ended = lo >= hi || is_at_end(t->fixed.texts, lo, hi, depth);
  if (others && ended) return other_end(c, lo < hi);
  if (lo < hi && t->set != UINT32_MAX && (others || from->flags & TSL__STATE_KEYED))
    return tsl__spelled_state(c, t->set, lo, hi, depth, others);
  tsl__expr rest = rest_of(c, from, lo, hi, depth);
  tsl__state s = tsl__states_of(c, tsl__expr_json_string(c->x, others ? text_but(c, rest) : rest));
  return tsl__states_fine(c) ? s : 0;
}
