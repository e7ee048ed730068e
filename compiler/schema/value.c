/* value.c - from goals to expressions.
 *
 * Problem   A goal says what a value must satisfy. The matcher follows expressions and frames, and
 *           masks are shared where states are the same.
 * Idea      A value is an alternation over its types. Small things stand in place: null, true,
 *           false, strings out of a list. A string with constraints, a number, and anything with
 *           arrays or objects is a rule, that is a frame of its own. All places that ask the same
 *           then share its states. All alternatives of a goal that are arrays or objects are
 *           unfolded in one frame, where they share prefixes and run in lockstep.
 * Late      Goals are opened when that is needed, those of most objects when a generation enters
 *           them.
 * Example   {"type": ["null", "boolean", "integer"]} is null | false | true | <integer>, where the
 *           last one is the rule that all schemas share (shared.c).
 * Cost      One expression for each goal; opening it costs what its parts cost (conj.c).
 * Tested by tests/schema/test_schema.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/expr/node.h"
#include "compiler/formats/formats.h"
#include "compiler/states/hints.h"
#include "compiler/expr/meaning.h"
#include "compiler/schema/array.h"
#include "compiler/schema/object.h"
#include "runtime/automaton/state.h"

/* ---- frames ---------------------------------------------------------------------------------- */

/* A frame's parameter is its body: there is nothing to unfold but that. */
static tsl__expr unfold_frame(tsl__exprs *x, void *ctx, uint32_t body) {
  (void)x;
  (void)ctx;
  return body;
}

static void print_frame(void *ctx, uint32_t body, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "frame#%u", (unsigned)body);
}

static bool frame_meaning(tsl__meaning *m, void *ctx, uint32_t body, tsl__digest *out) {
  (void)ctx;
  return tsl__meaning_within(m, body, out);
}

/* The shared format whose strings are these; NULL: they are of none. */
const struct shared_format *tsl__schema_format_of(const struct schema *s, tsl__expr value) {
  for (uint32_t i = 0; i < TSL__SHARED_FORMATS; i++)
    if (s->shared.formats[i].value == value) return &s->shared.formats[i];
  return NULL;
}

static uint32_t frame_shortest(tsl__exprs *x, void *ctx, uint32_t body) {
  const struct shared_format *f = tsl__schema_format_of(ctx, body);
  return f ? f->shortest : tsl__expr_shortest(x, body);
}

static const tsl__rule_ops frame_ops = {unfold_frame, print_frame, frame_meaning, frame_shortest,
                                        NULL};

struct frame_key {
  const struct schema *s;
  tsl__expr body;
};

static bool frame_same(const void *ctx, uint32_t i) {
  const struct frame_key *k = ctx;
  return k->s->frames.at[i].body == k->body;
}

/* The rule for a body, one for all places that have the same. */
tsl__expr tsl__schema_frame(struct schema *s, tsl__expr body) {
  if (body == TSL__NONE) return body;
  struct frame_key key = {s, body};
  uint32_t found = tsl__table_find(&s->frame_table, tsl__mix(body), frame_same, &key);
  if (found != UINT32_MAX) return s->frames.at[found].rule;
  uint32_t flags = tsl__expr_nullable(s->x, body) ? TSL__RULE_NULLABLE : 0;
  struct frame f = {
      body, tsl__expr_rule(s->x, &frame_ops, s, body, flags, tsl__node_at(s->x, body).shortest)};
  /* which is at hand */
  if (f.rule == TSL__NONE || tsl__rule_body(s->x, tsl__node_at(s->x, f.rule).a) == TSL__NONE)
    return TSL__NONE;
  if (!tsl__vec_push(s->alloc, &s->frames, f) ||
      !tsl__table_add(s, &s->frame_table, tsl__mix(body), (uint32_t)s->frames.n - 1))
    tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
  return f.rule;
}

/* ---- white space ----------------------------------------------------------------------------- */

/* e[0] e[1] … e[n - 1], joined from the end, so that each part is looked at once. */
tsl__expr tsl__schema_sequence(tsl__exprs *x, const tsl__expr *e, size_t n) {
  tsl__expr all = TSL__EPS;
  while (n-- > 0) all = tsl__expr_seq(x, e[n], all);
  return all;
}

/* A line break and the indentation of a level; *bytes grows by their number. */
static tsl__expr line(struct schema *s, uint32_t level, uint32_t *bytes) {
  uint32_t n = 1 + level * s->options.indent;
  char *text = tsl__schema_alloc(s, n);
  if (!text) return TSL__NONE;
  memset(text, ' ', n);
  text[0] = '\n';
  *bytes += n;
  return tsl__expr_literal(s->x, text, n);
}

/* What stands between members and items at a level, and how many bytes it takes. Compact text
 * has none; pretty text has lines; a style of tools' calls (style.c) has no quotes and braces of
 * its own. */
static void fill_gaps(struct schema *s, uint32_t level, struct gaps *g) {
  tsl__exprs *x = s->x;
  g->colon_cost = g->comma_cost = 1;
  g->first = g->colon = g->more = g->end = g->begin = g->empty = g->begin_array = g->next_item =
      g->end_array = TSL__EPS;
  /* elements stand one after the other; values count as two bytes longer more than they do, as
   * keys, for the brackets and quotes */
  if (tsl__schema_wraps(s)) { /* as JSON, but for quotes around keys */
    g->colon_cost = 0;
    g->comma_cost = s->style->separator != NULL;
    if (s->style->item_separator)
      g->next_item = s->style->text(s->style->ctx, s->style->item_separator);
    return;
  }
  if (tsl__schema_nests(s)) {
    g->colon_cost = 0;
    g->comma_cost = g->first_cost = tsl__schema_element_cost(s) - 4;
    g->item_cost = 2 + 2 * (uint32_t)strlen("item");
    return;
  }
  g->colon = s->shared.colon;
  g->more = s->shared.more;
  g->end = s->shared.end;
  g->begin = s->shared.begin;
  g->empty = s->shared.empty;
  g->begin_array = s->shared.begin_array;
  g->next_item = s->shared.next_item;
  g->end_array = s->shared.end_array;
  if (s->options.whitespace != TSL_WS_PRETTY) return;
  g->first = line(s, level + 1, &g->first_cost);
  tsl__expr close = line(s, level, &g->close_cost),
            comma = tsl__expr_seq(x, tsl__expr_literal(x, ",", 1), g->first);
  g->comma_cost = 1 + g->first_cost;
  g->colon = tsl__expr_literal(x, ": ", 2);
  g->colon_cost = 2;
  g->more = tsl__schema_frame(s, tsl__expr_seq(x, comma, s->shared.quote));
  g->end = tsl__schema_frame(s, tsl__expr_seq(x, close, s->shared.right_brace));
  g->begin =
      tsl__schema_sequence(x, (tsl__expr[]){s->shared.left_brace, g->first, s->shared.quote}, 3);
  g->empty = tsl__expr_seq(x, s->shared.left_brace, s->shared.right_brace);
  g->begin_array = s->shared.left_bracket;
  g->next_item = tsl__schema_frame(s, comma);
  g->end_array = tsl__schema_frame(s, tsl__expr_seq(x, close, s->shared.right_bracket));
}

const struct gaps *tsl__schema_gaps(struct schema *s, uint32_t level) {
  if (!s->levels) level = 0;
  while (s->gaps.n <= level) {
    struct gaps *g = tsl__schema_alloc(s, sizeof *g);
    if (!g || !tsl__vec_push(s->alloc, &s->gaps, g))
      return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), NULL;
    fill_gaps(s, (uint32_t)s->gaps.n - 1, g);
    if (!tsl__schema_ok(s)) return s->gaps.n--, NULL;
  }
  return s->gaps.at[level];
}

/* ---- goals ----------------------------------------------------------------------------------- */

struct collecting {
  struct schema *s;
  uint32_t level;
  struct object **objects; /* room for as many as the next power of two */
  struct array **arrays;
  uint32_t object_count, array_count;
};

/* Room for one more than n pointers. */
static void *widened(struct schema *s, void *at, uint32_t n) {
  if (n & (n - 1)) return at;
  void *wider = tsl__schema_alloc(s, (n ? 2 * (size_t)n : 1) * sizeof(void *));
  if (wider && at) memcpy(wider, at, n * sizeof(void *));
  return wider;
}

/* One alternative that is an object; none if no object satisfies it. */
static void object_leaf(void *ctx, const struct part *parts, const tsl__number_spec *number) {
  (void)number;
  struct collecting *c = ctx;
  /* each member of each alternative is a way of its own, and within it each of its alternatives */
  c->s->joins_alike |= c->object_count > 0;
  struct object *o = tsl__object_new(c->s, c->level, parts);
  if (o && (c->objects = widened(c->s, c->objects, c->object_count)))
    c->objects[c->object_count++] = o;
}

/* One that is an array. */
static void array_leaf(void *ctx, const struct part *parts, const tsl__number_spec *number) {
  (void)number;
  struct collecting *c = ctx;
  struct array *a = tsl__array_new(c->s, c->level, parts);
  if (a && (c->arrays = widened(c->s, c->arrays, c->array_count))) c->arrays[c->array_count++] = a;
}

/* All alternatives of a goal that are objects, and all that are arrays, each followed on its
 * own. */
static void open_containers(struct schema *s, goal g, uint8_t types) {
  struct goal_entry *e = tsl__goal_of(s, g);
  struct collecting c = {.s = s, .level = e->level};
  if (types & T_OBJECT) tsl__schema_expand(s, g, T_OBJECT, object_leaf, &c);
  if (types & T_ARRAY) tsl__schema_expand(s, g, T_ARRAY, array_leaf, &c);
  e->objects = c.objects;
  e->arrays = c.arrays;
  e->object_count = c.object_count;
  e->array_count = c.array_count;
}

/* The types that every lit of a goal allows, as far as positive ones say so. */
uint8_t tsl__goal_types(const struct schema *s, const struct goal_entry *e) {
  uint8_t types = T_ALL;
  for (uint32_t i = 0; i < e->n; i++)
    if (!(e->lits[i] & 1)) types &= tsl__node_of(s, e->lits[i] >> 1)->possible;
  return types;
}

/* The numbers of a node that says nothing but which types there are. */
static tsl__expr numbers_alone(const struct schema *s, const struct node *n) {
  return n->digits    ? s->shared.digits_text
         : n->integer ? s->shared.integer_text
                      : s->shared.number_text;
}

/* Strings and numbers of a node that says nothing but which types there are. */
static void open_types(struct schema *s, struct goal_entry *e, const struct node *n) {
  e->any_string = n->possible & T_STRING;
  if (e->any_string) e->string = s->shared.string;
  if (n->possible & T_NUMBER) e->number = numbers_alone(s, n);
}

/* Strings and numbers that satisfy all lits. */
static void open_scalars(struct schema *s, goal g, uint8_t types) {
  struct goal_entry *e = tsl__goal_of(s, g);
  if (types & T_STRING) {
    tsl__expr text = tsl__schema_written_text(s, e->lits, e->n, &e->any_string, &e->inner);
    bool written = tsl__expr_has_calls(s->x, text); /* as it stands in a string: text_grammar.c */
    tsl__expr rest = written         ? tsl__expr_seq(s->x, text, s->shared.quote)
                     : e->any_string ? TSL__EPS
                                     : tsl__expr_json_string(s->x, text);
    e->string = e->any_string ? s->shared.string : tsl__expr_seq(s->x, s->shared.quote, rest);
  }
  if (types & T_NUMBER) e->number = tsl__schema_numbers(s, g);
}

/* What is neither array nor object. */
static void open_simple(struct schema *s, goal g, uint8_t types) {
  struct goal_entry *e = tsl__goal_of(s, g);
  if (e->simple_known) return;
  e->simple_known = true;
  e->scalars = types & (T_NULL | T_FALSE | T_TRUE);
  for (uint32_t i = 0; i < e->n && e->scalars; i++)
    e->scalars &= tsl__schema_scalars(s, e->lits[i]);
  const struct node *first =
      e->n == 1 && !(e->lits[0] & 1) ? tsl__node_of(s, e->lits[0] >> 1) : NULL;
  if (first && tsl__only_types(first))
    open_types(s, e, first);
  else
    open_scalars(s, g, types);
}

/* All of it, or all but `containers`. */
static bool open_goal(struct schema *s, goal g, bool containers) {
  struct goal_entry *e = tsl__goal_of(s, g);
  const tsl__json *before = s->at;
  if (e->n && tsl__node_of(s, e->lits[0] >> 1)->at) s->at = tsl__node_of(s, e->lits[0] >> 1)->at;
  uint8_t types = tsl__goal_types(s, e);
  open_simple(s, g, types);
  /* which opens others where uniqueItems must know how many values there are */
  if (containers && types & (T_ARRAY | T_OBJECT) && !(s->max_nesting && e->level >= s->max_nesting))
    open_containers(s, g, types);
  tsl__schema_note(s);
  s->at = before;
  if (tsl__schema_ok(s)) return true;
  /* to be opened anew */
  *e = (struct goal_entry){
      .lits = e->lits, .n = e->n, .level = e->level, .shortest = TSL__INF, .active = e->active};
  return false;
}

/* Find out what values a goal has. The second call costs nothing; one that failed may be made
 * again. */
bool tsl__schema_open(struct schema *s, goal g) {
  struct goal_entry *e = tsl__goal_of(s, g);
  if (e->opened) return tsl__schema_ok(s);
  if (s->opening == TSL__SCHEMA_OPENING) {
    tsl__schema_fail(s, TSL_ERR_LIMIT, NULL,
                     "unique items nested deeper than %u whose number must be known",
                     TSL__SCHEMA_OPENING);
    return false;
  }
  e->opened = true;
  if (g == GOAL_NONE) return true;
  s->opening++;
  bool fine = open_goal(s, g, true);
  s->opening--;
  return fine;
}

/* Numbers that all schemas share have a rule there; others are a frame of their own. */
static tsl__expr number_value(struct schema *s, tsl__expr e) {
  if (e == s->shared.number_text) return s->shared.number;
  if (e == s->shared.digits_text) return s->shared.digits;
  if (e == s->shared.integer_text) return s->shared.integer;
  for (uint32_t i = 0; i < TSL__SHARED_FROM && e != TSL__NONE; i++)
    if (e == s->shared.from[i].text) return s->shared.from[i].rule;
  return tsl__schema_frame(s, e);
}

/* Are its strings a list, so that each can be written where it stands? */
bool tsl__goal_listed(struct schema *s, const struct goal_entry *e) {
  for (uint32_t i = 0; i < e->n && e->string != TSL__NONE && !e->any_string; i++)
    if (tsl__schema_string_list(s, e->lits[i])) return true;
  return false;
}

/* Lists of strings stand in place; other strings are a frame. */
static tsl__expr string_value(struct schema *s, const struct goal_entry *e) {
  if (e->any_string) return s->shared.string;
  if (tsl__goal_listed(s, e)) return e->string;
  const struct shared_format *f = tsl__schema_format_of(s, e->string);
  return f ? f->rule : tsl__schema_frame(s, e->string);
}

#define SIMPLE_PARTS 5

/* The alternatives that are neither arrays nor objects, SIMPLE_PARTS at most. */
static uint32_t simple_parts(struct schema *s, const struct goal_entry *e, tsl__expr *out) {
  uint32_t n = 0;
  if (e->scalars & T_NULL) out[n++] = s->shared.null;
  if (e->scalars & T_FALSE) out[n++] = s->shared.no;
  if (e->scalars & T_TRUE) out[n++] = s->shared.yes;
  if (e->number != TSL__NONE) out[n++] = number_value(s, e->number);
  if (e->string != TSL__NONE && tsl__schema_possible(s, e->inner)) out[n++] = string_value(s, e);
  return n;
}

/* The value without opening the goal, where its arrays and objects are plain; objects are opened by
 * those who enter one. False: they are not plain. */
static bool unfold_plain(struct schema *s, goal g, tsl__expr *out) {
  const struct goal_entry *e = tsl__goal_of(s, g);
  struct plain_containers c;
  struct array a;
  if (!tsl__schema_begins_plainly(s, g, &c)) return false;
  tsl__expr parts[SIMPLE_PARTS + 2];
  goal object = tsl__schema_object_begun(s, e, &c);
  *out = TSL__NONE;
  if (!open_goal(s, g, false)) return true;
  uint32_t n = simple_parts(s, e, parts);
  if (c.array != SID_FALSE && tsl__array_plain(s, e->level, c.array, &a) && tsl__array_possible(&a))
    parts[n++] = a.any ? s->shared.array : tsl__array_body(&a);
  if (c.object != SID_FALSE && c.any_object) parts[n++] = s->shared.object;
  if (object != GOAL_NONE) parts[n++] = tsl__object_unopened(s, object, c.ends);
  *out = tsl__schema_ok(s) ? tsl__expr_alt_n(s->x, parts, n) : TSL__NONE;
  return true;
}

static tsl__expr unfold_value(tsl__exprs *x, void *ctx, uint32_t g) {
  struct schema *s = ctx;
  tsl__expr plain;
  if (unfold_plain(s, g, &plain)) return plain;
  if (!tsl__schema_open(s, g)) return TSL__NONE;
  const struct goal_entry *e = tsl__goal_of(s, g);
  size_t most = SIMPLE_PARTS + (size_t)e->array_count + e->object_count;
  tsl__expr *parts = tsl__alloc(s->alloc, most * sizeof *parts);
  if (!parts) return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), TSL__NONE;
  uint32_t n = simple_parts(s, e, parts);
  for (uint32_t i = 0; i < e->array_count && tsl__schema_ok(s); i++) {
    struct array *a = e->arrays[i];
    if (tsl__array_possible(a))
      parts[n++] = a->any && !s->levels ? s->shared.array : tsl__array_body(a);
  }
  for (uint32_t i = 0; i < e->object_count && tsl__schema_ok(s); i++) {
    struct object *o = e->objects[i];
    if (tsl__object_possible(s, o))
      parts[n++] = o->any && !s->levels ? s->shared.object : tsl__object_body(o);
  }
  tsl__expr all = tsl__expr_alt_n(x, parts, n); /* at once: pairwise it would be quadratic */
  tsl__free(s->alloc, parts, most * sizeof *parts);
  return all;
}

static void print_value(void *ctx, uint32_t g, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "value#%u", (unsigned)g);
}

uint32_t tsl__schema_rule_shortest(tsl__exprs *x, void *ctx, uint32_t g) {
  (void)x;
  return tsl__schema_shortest(ctx, g);
}

static bool value_calls(tsl__exprs *x, void *ctx, uint32_t g, tsl__calls *out) {
  struct schema *s = ctx;
  (void)x;
  return tsl__schema_container_calls(s, g, s->shared.begin, s->shared.empty, s->shared.begin_array,
                                     out);
}

#define VALUES_WITHIN 4u /* values within values that are looked at for a meaning */

/* What its body does, if that is made. */
static bool value_meaning(tsl__meaning *m, void *ctx, uint32_t g, tsl__digest *out) {
  const struct schema *s = ctx;
  tsl__expr value = tsl__goal_of(s, g)->value;
  tsl__expr body =
      value == TSL__NONE ? TSL__NONE : tsl__rule_at(s->x, tsl__node_at(s->x, value).a)->body;
  if (body == TSL__NONE || m->values == VALUES_WITHIN) return false;
  m->values++;
  bool fine = tsl__meaning_within(m, body, out);
  m->values--;
  return fine;
}

static const tsl__rule_ops value_ops = {unfold_value, print_value, value_meaning,
                                        tsl__schema_rule_shortest, value_calls};

/* Is it plain, before the goal is opened, that its value is a frame of its own? */
static bool plain_frame(struct schema *s, const struct goal_entry *e) {
  if (e->opened || e->n != 1 || e->lits[0] & 1 || (s->max_nesting && e->level >= s->max_nesting))
    return false;
  return tsl__schema_plain_object(s, e->lits[0] >> 1) ||
         tsl__schema_plain_container(s, e->lits[0] >> 1);
}

/* The value of a goal that says nothing but of which one type it is. Such a goal need not be
 * opened. TSL__NONE: it says more, or something else. */
static tsl__expr type_alone(struct schema *s, const struct goal_entry *e) {
  const struct node *n = e->n == 1 && !(e->lits[0] & 1) ? tsl__node_of(s, e->lits[0] >> 1) : NULL;
  if (!n || !tsl__only_types(n)) return TSL__NONE;
  if (n->possible == T_STRING) return s->shared.string;
  if (n->possible == (T_FALSE | T_TRUE)) return tsl__expr_alt(s->x, s->shared.no, s->shared.yes);
  return n->possible == T_NUMBER ? number_value(s, numbers_alone(s, n)) : TSL__NONE;
}

/* A string, or a number. */
static tsl__expr mixed_value(struct schema *s, tsl__expr value) {
  for (uint32_t i = 0; i < TSL__SHARED_MIXED; i++)
    if (value == s->shared.mixed[i].value) return s->shared.mixed[i].rule;
  return tsl__schema_frame(s, value);
}

static tsl__expr make_value(struct schema *s, goal g) {
  const struct goal_entry *e = tsl__goal_of(s, g);
  if (!s->levels && g == GOAL_ANY) return s->shared.value; /* without opening it */
  tsl__expr alone = type_alone(s, e);
  if (alone != TSL__NONE) return alone;
  if (!tsl__schema_possible(s, g)) return TSL__NONE;
  tsl__expr array = tsl__schema_shared_array(s, g);
  if (array != TSL__NONE) return array;
  /* opened when it is entered */
  if (plain_frame(s, e)) return tsl__expr_rule(s->x, &value_ops, s, g, 0, 1);
  if (!tsl__schema_open(s, g)) return TSL__NONE;
  uint32_t containers = e->array_count + e->object_count;
  if (!s->levels && containers == 1) { /* the shared rules, in place */
    if (e->object_count && e->objects[0]->any && !e->scalars && !e->number && !e->string)
      return s->shared.object;
    if (e->array_count && e->arrays[0]->any && !e->scalars && !e->number && !e->string)
      return s->shared.array;
  }
  if (containers) return tsl__expr_rule(s->x, &value_ops, s, g, 0, 1);
  tsl__expr simple[SIMPLE_PARTS];
  uint32_t n = simple_parts(s, e, simple);
  tsl__expr all = tsl__expr_alt_n(s->x, simple, n);
  return e->number != TSL__NONE && e->string != TSL__NONE ? mixed_value(s, all) : all;
}

tsl__expr tsl__schema_value(struct schema *s, goal g) {
  struct goal_entry *e = tsl__goal_of(s, g);
  if (e->value == TSL__NONE) {
    const tsl__json *before = s->at;
    if (e->n && tsl__node_of(s, e->lits[0] >> 1)->at) s->at = tsl__node_of(s, e->lits[0] >> 1)->at;
    tsl__expr value = make_value(s, g);
    tsl__schema_note(s);
    s->at = before;
    if (!tsl__schema_ok(s)) return TSL__NONE;
    e = tsl__goal_of(s, g);
    e->value = value;
  }
  return e->value;
}

/* Strings of a list are spelled along its table where nothing follows in their frame. */
tsl__expr tsl__schema_item(struct schema *s, goal g) {
  tsl__expr value = tsl__schema_value(s, g);
  if (value == TSL__NONE || tsl__node_at(s->x, value).kind == TSL__K_RULE) return value;
  return tsl__goal_listed(s, tsl__goal_of(s, g)) ? tsl__schema_frame(s, value) : value;
}
