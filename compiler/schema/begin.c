/* begin.c - how values begin that are arrays or objects and nothing else, and members that have
 * such values, or lists of strings.
 *
 * Problem   A new object costs a state each for its brace, its white space, and the quote of its
 *           first key. Every member with such a value costs a frame of colon and value. Each
 *           grammar would expand all of this anew, and walk it over the vocabulary and over what
 *           names leave.
 * Idea      It may be plain how the values of a goal begin (plain.c). Then what is the same for all
 *           of them is a call of a frame that all grammars share. BEGIN is `{ "`, EMPTY `{ }`,
 *           BEGIN_ARRAY `[`. With a colon before them these are frames, too. So are a colon and a
 *           quote, for members whose values are listed strings. A value, or a member, does nothing
 *           but call them. What is its own comes after the call: the first key, or the first item.
 * Example   {"a": {"type": "object", "properties": {"b": ...}, "required": ["b"]}} : after "a" the
 *           member is <member-begin><first#>; its masks up to the quote of "b" are those of
 *           <member-begin>.
 * Cost      No state and no walk of its own before the first key; one state before the first item.
 * Tested by tests/schema/test_schema.c, tests/position/test_distinct.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/expr/deriv.h"
#include "compiler/schema/array.h"
#include "compiler/schema/object.h"
#include "runtime/automaton/state.h"

/* The outermost value, which everybody enters, is opened with the first mask; values that are
 * spelled out (tsl__schema_blank) have none, and are walked all together. */
bool tsl__schema_begins_plainly(struct schema *s, goal g, struct plain_containers *out) {
  const struct goal_entry *e = tsl__goal_of(s, g);
  return s->root_goal && g != s->root_goal && !s->levels && !s->style && e->n == 1 &&
         !(e->lits[0] & 1) && tsl__schema_plain_containers(s, e->lits[0] >> 1, out);
}

goal tsl__schema_object_begun(struct schema *s, const struct goal_entry *e,
                              const struct plain_containers *c) {
  lit l = POS(c->object);
  goal object =
      c->object == SID_FALSE || c->any_object ? GOAL_NONE : tsl__schema_goal(s, &l, 1, e->level);
  return tsl__schema_possible(s, object) ? object : GOAL_NONE;
}

goal tsl__schema_entered(struct schema *s, goal g) {
  struct plain_containers c;
  if (g == GOAL_NONE) return GOAL_NONE;
  return tsl__schema_begins_plainly(s, g, &c) ? tsl__schema_object_begun(s, tsl__goal_of(s, g), &c)
                                              : g;
}

goal tsl__schema_first_item(struct schema *s, goal g) {
  const struct goal_entry *e = tsl__goal_of(s, g);
  struct plain_containers c;
  struct array plain;
  const struct array *a = e->opened && e->array_count ? e->arrays[0] : NULL;
  if (!a && tsl__schema_begins_plainly(s, g, &c) && c.array != SID_FALSE &&
      tsl__array_plain(s, e->level, c.array, &plain))
    a = &plain;
  return !a ? GOAL_NONE : a->prefix_count ? a->prefix[0] : a->rest;
}

/* What the values of a goal plainly are (goal_entry.alone). */
enum alone { NOT_LOOKED, NOT_ALONE, OBJECT_ALONE, OBJECT_OR_EMPTY, ARRAY_ALONE };

static enum alone find_alone(struct schema *s, goal g, uint32_t *of) {
  struct goal_entry *e = tsl__goal_of(s, g);
  struct plain_containers c;
  struct array a;
  uint8_t types = tsl__goal_types(s, e);
  if ((types != T_OBJECT && types != T_ARRAY) || !tsl__schema_begins_plainly(s, g, &c))
    return NOT_ALONE;
  if (types == T_OBJECT)
    return (*of = tsl__schema_object_begun(s, e, &c)) == GOAL_NONE ? NOT_ALONE
           : c.ends                                                ? OBJECT_OR_EMPTY
                                                                   : OBJECT_ALONE;
  *of = c.array;
  return c.array != SID_FALSE && tsl__array_plain(s, e->level, c.array, &a) && !a.any &&
                 tsl__array_possible(&a)
             ? ARRAY_ALONE
             : NOT_ALONE;
}

static enum alone look_alone(struct schema *s, goal g) {
  if (tsl__goal_of(s, g)->alone != NOT_LOOKED) return tsl__goal_of(s, g)->alone;
  uint32_t of = 0;
  enum alone alone = find_alone(s, g, &of);
  /* not known: what is not possible yet may turn out to be */
  if (!tsl__schema_ok(s) || s->measuring || !s->root_goal) return NOT_ALONE;
  struct goal_entry *e = tsl__goal_of(s, g);
  e->alone_of = of;
  return e->alone = (uint8_t)alone;
}

tsl__expr tsl__schema_shared_array(struct schema *s, goal g) {
  struct array a;
  if (look_alone(s, g) != ARRAY_ALONE ||
      !tsl__array_plain(s, tsl__goal_of(s, g)->level, tsl__goal_of(s, g)->alone_of, &a) || a.min ||
      a.max != TSL__INF)
    return TSL__NONE;
  const struct goal_entry *e = tsl__goal_of(s, a.rest);
  const struct node *n = e->n == 1 && !(e->lits[0] & 1) ? tsl__node_of(s, e->lits[0] >> 1) : NULL;
  if (!n || !tsl__only_types(n)) return TSL__NONE;
  if (n->possible == T_STRING) return s->shared.strings;
  return n->possible != T_NUMBER || n->digits ? TSL__NONE
         : n->integer                         ? s->shared.integers
                                              : s->shared.numbers;
}

bool tsl__schema_container_calls(struct schema *s, goal g, tsl__expr begin, tsl__expr empty,
                                 tsl__expr begin_array, tsl__calls *out) {
  enum alone alone = look_alone(s, g);
  const struct goal_entry *e = tsl__goal_of(s, g);
  struct array a;
  if (alone == ARRAY_ALONE && tsl__array_plain(s, e->level, e->alone_of, &a))
    tsl__calls_add(s->x, out, begin_array, tsl__array_rest(&a));
  if (alone == OBJECT_ALONE || alone == OBJECT_OR_EMPTY)
    tsl__calls_add(s->x, out, begin, tsl__object_first(s, e->alone_of));
  if (alone == OBJECT_OR_EMPTY) tsl__calls_add(s->x, out, empty, TSL__EPS);
  return alone != NOT_ALONE && tsl__schema_ok(s);
}

/* ---- members --------------------------------------------------------------------------------- */

static tsl__expr unfold_member(tsl__exprs *x, void *ctx, uint32_t g) {
  struct schema *s = ctx;
  return tsl__expr_seq(x, s->shared.colon, tsl__schema_value(s, g));
}

static void print_member(void *ctx, uint32_t g, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "member#%u", (unsigned)g);
}

static uint32_t member_shortest(tsl__exprs *x, void *ctx, uint32_t g) {
  (void)x;
  return tsl__add(1, tsl__schema_shortest(ctx, g));
}

static bool member_calls(tsl__exprs *x, void *ctx, uint32_t g, tsl__calls *out) {
  struct schema *s = ctx;
  (void)x;
  return tsl__schema_container_calls(s, g, s->shared.member_begin, s->shared.member_empty,
                                     s->shared.member_array, out);
}

/* Of objects that are opened by those who enter one, and of arrays: colon and opening bracket are
 * one frame for all of them. */
static const tsl__rule_ops member_ops = {unfold_member, print_member, NULL, member_shortest,
                                         member_calls};

static bool string_calls(tsl__exprs *x, void *ctx, uint32_t g, tsl__calls *out) {
  struct schema *s = ctx;
  tsl__calls_add(x, out, s->shared.member_string,
                 tsl__derive_plain(x, tsl__goal_of(s, g)->string, '"'));
  return tsl__schema_ok(s);
}

/* Of strings that are listed: the same with colon and quote. Others are walked with the tables of
 * all strings, from their quote on. */
static const tsl__rule_ops string_ops = {unfold_member, print_member, NULL, member_shortest,
                                         string_calls};

static bool is_list_of_strings(struct schema *s, const struct goal_entry *e) {
  return tsl__goal_types(s, e) == T_STRING && !s->levels && !s->style && tsl__goal_listed(s, e);
}

static tsl__expr make_member(struct schema *s, goal g, uint32_t level) {
  enum alone alone = look_alone(s, g);
  if (alone == OBJECT_ALONE || alone == OBJECT_OR_EMPTY ||
      (alone == ARRAY_ALONE && tsl__schema_shared_array(s, g) == TSL__NONE))
    return tsl__expr_rule(s->x, &member_ops, s, g, 0, 1);
  const struct gaps *gaps = tsl__schema_gaps(s, level);
  tsl__expr value = tsl__schema_value(s, g);
  if (!gaps || value == TSL__NONE) return TSL__NONE;
  for (uint32_t i = 0; i < s->shared.member_count && !s->levels; i++)
    if (s->shared.members[i].value == value) return s->shared.members[i].rule;
  if (is_list_of_strings(s, tsl__goal_of(s, g)))
    return tsl__expr_rule(s->x, &string_ops, s, g, 0, 1);
  return tsl__schema_frame(s, tsl__expr_seq(s->x, gaps->colon, value));
}

tsl__expr tsl__schema_member(struct schema *s, goal value, uint32_t level) {
  struct goal_entry *e = tsl__goal_of(s, value);
  if (e->member == TSL__NONE) {
    tsl__expr member = make_member(s, value, level);
    if (!tsl__schema_ok(s)) return TSL__NONE;
    tsl__goal_of(s, value)->member = member;
    return member;
  }
  return e->member;
}

tsl__expr tsl__schema_member_begins(struct schema *s, goal value, uint32_t level) {
  if (tsl__goal_of(s, value)->member != TSL__NONE) return tsl__goal_of(s, value)->member;
  enum alone alone = look_alone(s, value);
  if (alone == OBJECT_ALONE) return s->shared.member_begin;
  return alone == OBJECT_OR_EMPTY ? s->shared.member_object : tsl__schema_member(s, value, level);
}

/* ---- extra members --------------------------------------------------------------------------- */

static tsl__expr new_member(tsl__exprs *x, tsl__expr member) {
  return tsl__expr_seq(x, tsl__expr_guard(x, TSL__NEW_NAME), member);
}

static tsl__expr unfold_extra(tsl__exprs *x, void *ctx, uint32_t member) {
  const struct cell *c = ctx;
  return tsl__expr_seq(x, c->rest, new_member(x, member));
}

static void print_extra(void *ctx, uint32_t member, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "extra#%u", (unsigned)member);
}

static uint32_t extra_shortest(tsl__exprs *x, void *ctx, uint32_t member) {
  const struct cell *c = ctx;
  return tsl__add(tsl__expr_shortest(x, c->rest), tsl__expr_shortest(x, member));
}

static bool extra_calls(tsl__exprs *x, void *ctx, uint32_t member, tsl__calls *out) {
  const struct cell *c = ctx;
  tsl__calls_add(x, out, c->rest, new_member(x, member));
  return true;
}

static const tsl__rule_ops extra_ops = {unfold_extra, print_extra, NULL, extra_shortest,
                                        extra_calls};

tsl__expr tsl__schema_extra(struct schema *s, struct cell *c, tsl__expr member) {
  if (member != TSL__NONE && c->alone) return tsl__expr_rule(s->x, &extra_ops, c, member, 0, 1);
  return tsl__schema_frame(s, tsl__expr_seq(s->x, c->rest, new_member(s->x, member)));
}

/* ---- an object that is not opened yet -------------------------------------------------------- */

/* After the quote of the first key: now the object is. */
static tsl__expr unfold_first(tsl__exprs *x, void *ctx, uint32_t g) {
  struct schema *s = ctx;
  (void)x;
  if (!tsl__schema_open(s, g)) return TSL__NONE;
  struct goal_entry *e = tsl__goal_of(s, g);
  if (e->first == TSL__NONE && e->object_count) {
    uint32_t id = tsl__object_first_state(e->objects[0]);
    tsl__expr first = id == UINT32_MAX ? TSL__NONE : tsl__object_keys(s, id);
    if (tsl__schema_ok(s)) e->first = first;
  }
  return e->first;
}

static void print_first(void *ctx, uint32_t g, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "first#%u", (unsigned)g);
}

static uint32_t first_shortest(tsl__exprs *x, void *ctx, uint32_t g) {
  tsl__expr first = unfold_first(x, ctx, g);
  return first == TSL__NONE ? TSL__INF : tsl__expr_shortest(x, first);
}

static bool first_calls(tsl__exprs *x, void *ctx, uint32_t g, tsl__calls *out) {
  struct schema *s = ctx;
  if (!tsl__schema_open(s, g)) return false;
  const struct goal_entry *e = tsl__goal_of(s, g);
  if (e->first != TSL__NONE || !e->object_count) return false;
  uint32_t id = tsl__object_first_state(e->objects[0]);
  return id != UINT32_MAX && tsl__object_keys_calls(x, s, id, out);
}

static const tsl__rule_ops first_ops = {unfold_first, print_first, NULL, first_shortest,
                                        first_calls};

tsl__expr tsl__object_first(struct schema *s, goal g) {
  struct goal_entry *e = tsl__goal_of(s, g);
  if (e->unopened == TSL__NONE)
    e->unopened = tsl__expr_rule(s->x, &first_ops, s, g, TSL__RULE_INLINE, 1);
  return e->unopened;
}

tsl__expr tsl__object_unopened(struct schema *s, goal g, bool ends) {
  return tsl__object_braces(s, tsl__goal_of(s, g)->level, ends, tsl__object_first(s, g));
}
