/* cycles.c - references that lead back to where they began, for the same value.
 *
 * Problem   {"$defs": {"a": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/a"}]}}}: whether a
 *           value is an a depends on whether it is an a. Programs that write schemas make such
 *           unions, and all other passes go through subschemas of one value without an end.
 * Idea      A value is what a finite argument shows it to be (the least fixed point). An argument
 *           that shows that v is an a needs no step "as v is an a". So a way from an alternative
 *           of `a` back to `a` may be cut: that alternative is `false`.
 * Unions    Two unions may lead to one another: a = string or b, b = number or a. Then they have
 *           the same values, and both become one list: string or number.
 * Several   If the way goes through more than unions, that is wrong: a = string or (b and c), b =
 *           number or a. If a's way to b were cut in place, b would lack the strings. So each
 *           alternative of the cycle leads to a copy of the way, up to where it would come back,
 *           and the copy is cut.
 * Example   a = string or (b' and c), b' = number or false; b = number or a', a' = string or false.
 * Errors    Without an alternative, as in {"$ref": "#"}, nothing ever says yes. With oneOf, not and
 *           if there may be no answer: a = exactly one of string and a. Where unevaluated… counts
 *           what alternatives evaluate, it would matter which way is cut. All of these are refused.
 * Cost      Each node and each reference once, and once more for each cycle on the way to it;
 *           COPIES_MAX nodes more.
 * Tested by tests/schema/test_choices.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/goal.h"

#define COPIES_MAX 256u /* docs/limits.md */

enum { WHITE, GREY, BLACK };

struct step {
  sid s;
  uint32_t keyword, child; /* of the next subschema */
  uint32_t height; /* of what has been seen below: subschemas of one value inside one another */
};

typedef TSL__VEC(sid) sids;

struct search {
  struct schema *s;
  size_t room; /* nodes for which the three have room */
  uint8_t *colour;
  uint32_t *heights;
  struct step *stack;
  size_t n;
  /* of cycles of unions: what nodes are now, the unions, and what else they list */
  uint32_t *marks, mark;
  sids unions, listed;
};

/* Those of the same value. Of a JSON text in a string too: whether there is such a string depends
 * on whether there is such a value. */
static uint64_t followed_keywords(void) { return tsl__keyword_sets.in_place | OF(CONTENT_SCHEMA); }

/* The next subschema of the same value, or UINT32_MAX. */
static sid next_in_place(const struct schema *s, struct step *at) {
  const struct node *n = tsl__node_of(s, at->s);
  const uint64_t followed = followed_keywords();
  if (!(n->mask & followed)) return UINT32_MAX;
  for (; at->keyword < KW_COUNT; at->keyword++, at->child = 0) {
    enum keyword k = (enum keyword)at->keyword;
    if (!(followed >> k & 1) || !tsl__has(n, k)) continue;
    const struct keyword_value *v = tsl__keyword(n, k);
    /* says nothing */
    if ((k == KW_THEN || k == KW_ELSE) && !tsl__has(n, KW_IF)) continue;
    while (at->child < v->count) {
      sid c = v->children[at->child++];
      if (c != UINT32_MAX) return c;
    }
  }
  return UINT32_MAX;
}

/* ---- cutting --------------------------------------------------------------------------------- */

/* The subschema that a step went to last becomes another one. False: memory did not suffice. */
static bool redirect(struct schema *s, struct node *n, const struct step *at, sid to) {
  size_t index = (size_t)(tsl__keyword(n, (enum keyword)at->keyword) - n->values);
  size_t count = tsl__ones(n->mask);
  struct keyword_value *values = tsl__arena_copy(&s->arena, n->values, count * sizeof *values);
  sid *children = values ? tsl__arena_copy(&s->arena, values[index].children,
                                           values[index].count * sizeof *children)
                         : NULL;
  if (!children) return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), false;
  children[at->child - 1] = to;
  values[index].children = children;
  n->values = values;
  return true;
}

/* A copy of a node which goes elsewhere; SID_FALSE: memory did not suffice. */
static sid copy(struct schema *s, const struct step *at, sid to) {
  struct node *n = tsl__schema_alloc(s, sizeof *n);
  if (!n) return SID_FALSE;
  *n = *tsl__node_of(s, at->s);
  if (!redirect(s, n, at, to)) return SID_FALSE;
  if (!tsl__vec_push(s->alloc, &s->nodes, n))
    return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), SID_FALSE;
  s->nodes_read = s->nodes.n;
  return (sid)(s->nodes.n - 1);
}

static bool chooses(const struct step *at) { return at->keyword == KW_ANY_OF; }

/* How many steps of the cycle choose; 0: it can't be cut. */
static size_t choices_of(const struct search *f, size_t from) {
  size_t choices = 0;
  if (f->s->keywords & (OF(UNEVALUATED_ITEMS) | OF(UNEVALUATED_PROPERTIES))) return 0;
  for (size_t i = from; i < f->n; i++) {
    const struct step *at = &f->stack[i];
    if (chooses(at))
      choices++;
    else if (!(tsl__keyword_sets.conjunctive >> at->keyword & 1))
      return 0;
  }
  return choices;
}

/* All steps from `from` to the end of the stack are a cycle. Each of its choices goes on to a copy
 * of the rest, whose last step goes nowhere. */
static bool cut(struct search *f, size_t from, size_t choices) {
  struct schema *s = f->s;
  size_t length = f->n - from, copies = choices > 1 ? choices * (length - 1) : 0;
  if (copies > f->room - s->nodes.n) return false;
  size_t nodes = s->nodes.n;
  sid *first = choices > 1 ? tsl__alloc(s->alloc, length * sizeof *first) : NULL;
  if (choices > 1 && !first)
    return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), true;
  for (size_t i = 0; i < length && choices > 1; i++) {
    first[i] = SID_FALSE;
    if (!chooses(&f->stack[from + i])) continue;
    for (size_t k = length - 1; k > 0 && tsl__schema_ok(s); k--)
      first[i] = copy(s, &f->stack[from + (i + k) % length], first[i]);
  }
  for (size_t i = 0; i < length && tsl__schema_ok(s); i++) {
    const struct step *at = &f->stack[from + i];
    if (chooses(at)) redirect(s, s->nodes.at[at->s], at, first ? first[i] : SID_FALSE);
  }
  if (first) tsl__free(s->alloc, first, length * sizeof *first);
  for (; nodes < s->nodes.n; nodes++) f->colour[nodes] = WHITE;
  return true;
}

/* ---- unions ---------------------------------------------------------------------------------- */

/* What marks say of a node, above f->mark. */
enum { LISTED = 1, UNION, EQUAL, MARKS };

static bool is_union(const struct schema *s, sid id) {
  return tsl__node_of(s, id)->mask == OF(ANY_OF);
}

/* Unions and references to them, and nothing else. */
static bool all_unions(const struct search *f, size_t from) {
  for (size_t i = from; i < f->n; i++)
    if (!is_union(f->s, f->stack[i].s) && tsl__node_of(f->s, f->stack[i].s)->mask != OF(REF))
      return false;
  return true;
}

/* Behind references alone; a cycle of these ends anywhere on it. */
static sid referred(const struct search *f, sid id) {
  for (size_t i = 0; i < f->s->nodes.n && tsl__node_of(f->s, id)->mask == OF(REF); i++) {
    if (!tsl__exprs_work(f->s->x, 1)) break;
    id = tsl__node_of(f->s, id)->values[0].children[0];
  }
  return id;
}

static bool add_to(struct search *f, sids *list, sid id, uint32_t mark) {
  f->marks[id] = f->mark + mark;
  if (tsl__vec_push(f->s->alloc, list, id)) return true;
  return tsl__schema_fail(f->s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), false;
}

/* All unions that the first one leads to, through unions alone, and the rest of what they list. */
static void collect(struct search *f, sid first) {
  f->mark += MARKS;
  f->unions.n = f->listed.n = 0;
  if (!add_to(f, &f->unions, first, EQUAL)) return;
  for (size_t i = 0; i < f->unions.n; i++) {
    const struct keyword_value *v = tsl__node_of(f->s, f->unions.at[i])->values;
    for (uint32_t k = 0; k < v->count; k++) {
      sid c = referred(f, v->children[k]);
      if (!tsl__exprs_work(f->s->x, 1)) return;
      if (f->marks[c] > f->mark) continue;
      bool u = is_union(f->s, c);
      if (!add_to(f, u ? &f->unions : &f->listed, c, u ? UNION : LISTED)) return;
    }
  }
}

/* Does one of these lead to the first one? */
static bool leads_back(struct search *f, sid id) {
  const struct keyword_value *v = tsl__node_of(f->s, id)->values;
  for (uint32_t k = 0; k < v->count && tsl__exprs_work(f->s->x, 1); k++)
    if (f->marks[referred(f, v->children[k])] == f->mark + EQUAL) return true;
  return false;
}

/* Mark all that lead to the first one: they are equal to it. */
static void find_equal(struct search *f) {
  for (bool more = true; more && tsl__schema_ok(f->s);) {
    more = false;
    for (size_t i = f->unions.n; i-- > 0;) {
      sid id = f->unions.at[i];
      if (f->marks[id] != f->mark + UNION || !leads_back(f, id)) continue;
      f->marks[id] = f->mark + EQUAL;
      more = true;
    }
  }
}

/* The union of what all list, as a keyword; NULL after a failure. */
static struct keyword_value *one_list(struct search *f, const tsl__json *like) {
  struct schema *s = f->s;
  uint32_t n = (uint32_t)f->listed.n;
  sid *children = tsl__arena_copy(&s->arena, f->listed.at, n * sizeof *children);
  tsl__json *list = tsl__schema_alloc(s, sizeof *list),
            *items = tsl__schema_alloc(s, n * sizeof *items);
  struct keyword_value *value = tsl__schema_alloc(s, sizeof *value);
  if (!children || !list || !items || !value)
    return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), NULL;
  for (uint32_t i = 0; i < n; i++)
    items[i] =
        children[i] > SID_FALSE
            ? *tsl__node_of(s, children[i])->at
            : (tsl__json){.kind = children[i] == SID_TRUE ? TSL__JSON_TRUE : TSL__JSON_FALSE};
  *list = *like;
  list->items = items;
  list->length = n;
  *value =
      (struct keyword_value){.value = list, .children = children, .count = n, .keyword = KW_ANY_OF};
  return value;
}

/* A cycle of unions, which have the same values: all become one list. False: it is empty. */
static bool make_one(struct search *f, size_t from) {
  while (!is_union(f->s, f->stack[from].s)) from++;
  sid first = f->stack[from].s;
  collect(f, first);
  find_equal(f);
  if (!tsl__schema_ok(f->s)) return true;
  if (f->listed.n == 0) return false;
  struct keyword_value *value = one_list(f, tsl__node_of(f->s, first)->values[0].value);
  for (size_t i = 0; value && i < f->unions.n; i++)
    if (f->marks[f->unions.at[i]] == f->mark + EQUAL)
      f->s->nodes.at[f->unions.at[i]]->values = value;
  return true;
}

/* ---- looking for cycles ---------------------------------------------------------------------- */

static void push(struct search *f, sid c) {
  f->colour[c] = GREY;
  f->stack[f->n++] = (struct step){.s = c};
}

/* A grey node is met again: the steps since then are a cycle. Where it can be cut, what is on it is
 * looked at anew. */
static void met_again(struct search *f, sid c) {
  size_t from = f->n;
  while (f->stack[from - 1].s != c) from--;
  size_t choices = choices_of(f, --from);
  bool done =
      choices && (choices > 1 && all_unions(f, from) ? make_one(f, from) : cut(f, from, choices));
  if (!done) {
    tsl__schema_fail(f->s, TSL_ERR_SCHEMA, tsl__node_of(f->s, c)->at,
                     "the schema refers to itself without going through a property or an item");
    return;
  }
  while (f->n > from) f->colour[f->stack[--f->n].s] = WHITE;
  push(f, c);
}

/* Depth first with a stack of its own. */
static void follow(struct search *f, sid root) {
  struct schema *s = f->s;
  push(f, root);
  while (f->n && tsl__schema_ok(s)) {
    struct step *top = &f->stack[f->n - 1];
    sid c = next_in_place(s, top);
    if (!tsl__exprs_work(s->x, 1)) return;
    if (c == UINT32_MAX) {
      f->colour[top->s] = BLACK;
      f->heights[top->s] = top->height + 1;
      if (top->height > TSL__SCHEMA_DEPTH) {
        tsl__schema_fail(s, TSL_ERR_LIMIT, tsl__node_of(s, top->s)->at,
                         "more than %u references and combinations inside one another",
                         TSL__SCHEMA_DEPTH);
        return;
      }
      if (--f->n && f->heights[top->s] > top[-1].height) top[-1].height = f->heights[top->s];
    } else if (f->colour[c] == BLACK) {
      if (f->heights[c] > top->height) top->height = f->heights[c];
    } else if (f->colour[c] == GREY) {
      met_again(f, c);
    } else {
      push(f, c);
    }
  }
}

/* Without references nothing can be cyclic, as the text is a tree. */
bool tsl__schema_acyclic(struct schema *s) {
  const uint64_t references = OF(REF) | OF(DYNAMIC_REF) | OF(RECURSIVE_REF);
  for (size_t i = 0; i < s->nodes.n; i++) s->keywords |= s->nodes.at[i]->mask;
  s->refers = s->keywords & references;
  if (!s->refers) return true;
  size_t n = s->nodes.n, room = n + COPIES_MAX;
  struct search f = {.s = s,
                     .room = room,
                     .colour = tsl__alloc_zero(s->alloc, room),
                     .heights = tsl__alloc(s->alloc, room * sizeof *f.heights),
                     .stack = tsl__alloc(s->alloc, room * sizeof *f.stack),
                     .marks = tsl__alloc_zero(s->alloc, room * sizeof *f.marks)};
  if (!f.colour || !f.heights || !f.stack || !f.marks)
    tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
  for (size_t i = 0; i < s->nodes.n && tsl__schema_ok(s); i++)
    if (f.colour[i] == WHITE && s->nodes.at[i]->mask & followed_keywords()) follow(&f, (sid)i);
  tsl__vec_free(s->alloc, &f.unions);
  tsl__vec_free(s->alloc, &f.listed);
  tsl__free(s->alloc, f.marks, room * sizeof *f.marks);
  tsl__free(s->alloc, f.stack, room * sizeof *f.stack);
  tsl__free(s->alloc, f.heights, room * sizeof *f.heights);
  tsl__free(s->alloc, f.colour, room);
  return tsl__schema_ok(s);
}
