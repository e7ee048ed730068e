/* schema_ahead.c - what the first text of a larger schema is likely to ask, looked at while it is compiled.
 *
 * Problem   States grow when they are visited. The first text pays for what it is the first to see: the root's first key, the end of each name, each kind of value, in steps of 5 to 50 µs
 *           among those of a quarter of a microsecond, and a batch waits for its slowest. Compile runs once, before the first token, and often beside the prefill.
 * Idea      Ask for the masks of places that most texts come by, breadth first from the root's first key: the end of a name, before its value, behind the quote of a string; then the
 *           objects among the values, and in arrays, likewise. Members required go before others, and of those that begin with the same frame one is enough. What is found lies in the
 *           grammar's tables as if a text had asked; nothing tells it apart.
 * Bounds    One object or member for two subschemas, PLACES at most, among the first NAMES of an object; STEPS of work; half of max_memory. Schemas of fewer than SUBSCHEMAS are left alone: two such masks take as long as their
 *           compile does. To run into a bound or a failure ends it and fails nothing: a text that comes there is told.
 * Cost      On schemas of MaskBench as long again as the compile itself, and longer; some 200 µs at most, but for a single mask that takes more. Three fifths of it is saved by the first texts.
 * Not       Names that need an escape; indented objects; by order `schema`, what comes after the first required member; schemas within tags.
 * Tested by tests/test_ahead.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema_ahead.h"
#include "compiler/schema_parts.h"

#define SUBSCHEMAS 14u
#define PLACES 16u
#define STEPS 1024u
#define NAMES 128u /* of an object */

/* An object: the position after the quote of its first key, and the goal of its values. */
typedef struct entered {
  tsl__stack at;
  goal values;
} entered;

typedef struct ahead {
  struct schema *s;
  tsl__space *space;
  uint64_t until; /* of tsl__space_steps */
  uint32_t left, seen_count, found_count;
  tsl__expr seen[PLACES]; /* frames that members begin with */
  entered found[PLACES];
} ahead;

/* Begin a piece of work; false: it is over. */
static bool go_on(ahead *a) {
  uint64_t spent = tsl__space_steps(a->space);
  if (a->space->status != TSL_OK || spent >= a->until) return false;
  tsl__space_begin(a->space);
  a->space->max_steps = a->until - spent;
  return true;
}

static void look(ahead *a, tsl__stack at) {
  if (at && go_on(a)) tsl__stack_mask(a->space, at);
}

/* The position after a text; 0: it does not fit, or the end of it all. */
static tsl__stack read(ahead *a, tsl__stack at, const char *text, size_t n) {
  size_t accepted;
  return at && go_on(a) ? tsl__stack_bytes(a->space, at, (const uint8_t *)text, n, &accepted) : 0;
}

static bool is_fresh(ahead *a, tsl__expr frame) {
  for (uint32_t i = 0; i < a->seen_count; i++)
    if (a->seen[i] == frame) return false;
  if (a->seen_count < PLACES) a->seen[a->seen_count++] = frame;
  return true;
}

static bool needs_escape(tsl__string name) {
  for (uint32_t i = 0; i < name.length; i++)
    if ((uint8_t)name.at[i] < 0x20 || name.at[i] == '"' || name.at[i] == '\\') return true;
  return false;
}

static void find(ahead *a, tsl__stack at, goal values) {
  if (at && values != GOAL_NONE && a->found_count < PLACES) a->found[a->found_count++] = (entered){at, values};
}

static void look_into_value(ahead *a, tsl__stack before, goal values) {
  look(a, read(a, before, "\"", 1));
  find(a, read(a, before, "{\"", 2), tsl__schema_entered(a->s, values));
  find(a, read(a, before, "[{\"", 3), tsl__schema_entered(a->s, tsl__schema_first_item(a->s, values)));
}

static void look_at_member(ahead *a, tsl__stack from, const struct object *o, uint32_t k) {
  tsl__string name = tsl__stringset_at(a->s->x, o->set, k);
  goal values = o->known[k].value;
  if (values == GOAL_NONE || needs_escape(name) || !go_on(a) || !is_fresh(a, tsl__schema_member_begins(a->s, values, o->level))) return;
  tsl__stack end = read(a, from, name.at, name.length);
  if (!end) return;
  a->left--;
  look(a, end);
  tsl__stack before = read(a, end, "\":", 2);
  look(a, before);
  look_into_value(a, before, values);
}

static void look_at_members(ahead *a, tsl__stack from, const struct object *o, bool required) {
  for (uint32_t i = 0; i < o->n && i < NAMES && a->left; i++) {
    uint32_t k = o->placed_count == o->n ? o->placed[i] : i;
    if (o->known[k].required == required) look_at_member(a, from, o, k);
  }
}

static void look_at_object(ahead *a, const entered *e) {
  const struct goal_entry *g = tsl__goal_of(a->s, e->values);
  if (!g->opened || !g->object_count) return;
  a->left--;
  look(a, e->at);
  look_at_members(a, e->at, g->objects[0], true);
  look_at_members(a, e->at, g->objects[0], false);
}

void tsl__schema_look_ahead(struct schema *s, tsl__space *space, tsl__stack begin) {
  uint32_t places = (uint32_t)s->nodes.n / 2;
  if (s->options.lazy || s->nodes.n < SUBSCHEMAS) return;
  ahead a = {.s = s, .space = space, .until = tsl__space_steps(space) + STEPS, .left = places < PLACES ? places : PLACES};
  uint64_t max_steps = space->max_steps, max_memory = space->max_memory, derivatives = tsl__exprs_bound(s->x, STEPS);
  space->max_memory /= 2;
  look(&a, begin);
  find(&a, read(&a, begin, "{\"", 2), s->root_goal);
  for (uint32_t i = 0; i < a.found_count && a.left; i++) look_at_object(&a, &a.found[i]);
  space->max_steps = max_steps;
  space->max_memory = max_memory;
  tsl__exprs_bound(s->x, derivatives);
  tsl__space_begin(space);
}
