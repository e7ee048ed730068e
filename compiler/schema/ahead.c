/* ahead.c - masks that the first text of a larger schema is likely to need, made by the compile.
 *
 * Problem   States are made when a text first visits them, so the first text is slow at each new
 *           place. Such places are the root's first key, the end of each name, each kind of value,
 *           and each position within a pattern. Their steps take 5 to 50 µs, others a quarter of a
 *           microsecond, and a batch waits for its slowest. A compile runs once, before the first
 *           token, and often beside the prefill.
 * Idea      Make the masks of places that most texts come by, breadth first from the root's first
 *           key. A member has such places at the end of its name, before its value, behind the
 *           quote of a string, and behind a digit. Then come the objects among the values, and in
 *           arrays, in the same way. Of members that begin with the same frame one is enough. Last
 *           come strings whose letters a pattern or a format gives: position by position, each by
 *           the first letter that leads to a new one. The masks lie in the grammar's tables as if a
 *           text had requested them.
 * Required  Only required members are looked at, as every text has them. Optional ones cost nine
 *           times the instructions that the first text of a new schema saved by them.
 * Bounds    PLACES objects and members, one for each subschema, among the first NAMES of an object.
 *           LETTERS positions of a string. STATES, STEPS and DERIVATIVES of work. Half of
 *           max_memory. In schemas of fewer than SUBSCHEMAS only strings are looked at, and only if
 *           a pattern is among them. There two more masks take as long as the compile. A bound or a
 *           failure ends the looking ahead, but not the compile: the text that gets there has the
 *           failure.
 * Cost      On schemas of MaskBench an eighth of the compile's instructions, on larger ones half of
 *           them. It takes some 300 µs at most, unless a single mask takes more. The first text
 *           saves half of that.
 * Not       Not looked at: names that need an escape, indented objects, and schemas within tags.
 *           Nor, by order `schema`, what comes after the first required member.
 * Tested by tests/artifact/test_ahead.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/object.h"

#define SUBSCHEMAS 14u
#define PLACES 32u
#define NAMES 128u  /* of an object */
#define LETTERS 16u /* positions of a string */
#define SPELLED 8u  /* bytes that may come next, up to which a string is one of a list */
#define STATES 192u
#define STEPS 8192u
#define DERIVATIVES 512u

/* An object: the position after the quote of its first key, and the goal of its values. */
typedef struct entered {
  tsl__stack at;
  goal values;
} entered;

typedef struct ahead {
  struct schema *s;
  tsl__space *space;
  bool strings_alone;
  uint64_t last_step, derivatives; /* until which of tsl__space_steps; how many more */
  uint32_t last_state, left, seen_count, found_count, string_count;
  tsl__expr seen[PLACES]; /* frames that members begin with */
  entered found[PLACES];
  tsl__stack strings[PLACES]; /* behind the quotes of those that are known by their letters */
} ahead;

/* Begin a piece of work; false: it is over. */
static bool go_on(ahead *a) {
  uint64_t steps = tsl__space_steps(a->space), used = tsl__exprs_steps(a->s->x);
  if (a->space->status != TSL_OK || steps >= a->last_step || used >= a->derivatives ||
      tsl__space_count(a->space, states) >= a->last_state)
    return false;
  a->derivatives -= used;
  tsl__space_begin(a->space);
  a->space->work.max_steps = a->last_step - steps;
  tsl__exprs_bound(a->s->x, a->derivatives);
  return true;
}

static void look(ahead *a, tsl__stack at) {
  if (at && go_on(a)) tsl__stack_mask(a->space, at);
}

static void look_at_place(ahead *a, tsl__stack at) {
  if (!a->strings_alone) look(a, at);
}

/* The position after a text; 0: it does not fit, or the end of it all. */
static tsl__stack read(ahead *a, tsl__stack at, const char *text, size_t n) {
  size_t accepted;
  return at && go_on(a) ? tsl__stack_bytes(a->space, at, (const uint8_t *)text, n, &accepted) : 0;
}

static bool is_among(const uint32_t *list, uint32_t n, uint32_t number) {
  for (uint32_t i = 0; i < n; i++)
    if (list[i] == number) return true;
  return false;
}

static bool is_fresh(ahead *a, tsl__expr frame) {
  if (is_among(a->seen, a->seen_count, frame)) return false;
  if (a->seen_count < PLACES) a->seen[a->seen_count++] = frame;
  return true;
}

static bool needs_escape(tsl__string name) {
  for (uint32_t i = 0; i < name.length; i++)
    if (!tsl__stands_raw((uint8_t)name.at[i])) return true;
  return false;
}

static void find(ahead *a, tsl__stack at, goal values) {
  if (at && values != GOAL_NONE && a->found_count < PLACES)
    a->found[a->found_count++] = (entered){at, values};
}

/* Behind the quote of a string: may so many letters come next that it is not one of a list? */
static bool is_open(ahead *a, tsl__stack in) {
  tsl__bytes next;
  return go_on(a) && tsl__stack_next(a->space, in, &next) && tsl__bytes_count(&next) > SPELLED;
}

static void look_into_string(ahead *a, tsl__stack in, goal values) {
  const struct goal_entry *g = tsl__goal_of(a->s, values);
  look_at_place(a, in);
  if (in && g->simple_known && g->string != TSL__NONE && !g->any_string &&
      a->string_count < PLACES && is_open(a, in))
    a->strings[a->string_count++] = in;
}

static void look_into_value(ahead *a, tsl__stack before, goal values) {
  goal item = tsl__schema_first_item(a->s, values);
  look_into_string(a, read(a, before, "\"", 1), values);
  if (!a->strings_alone) look(a, read(a, before, "1", 1));
  find(a, read(a, before, "{\"", 2), tsl__schema_entered(a->s, values));
  if (item == GOAL_NONE) return;
  look_into_string(a, read(a, before, "[\"", 2), item);
  find(a, read(a, before, "[{\"", 3), tsl__schema_entered(a->s, item));
}

static void look_at_member(ahead *a, tsl__stack from, const struct object *o, uint32_t k) {
  tsl__string name = tsl__stringset_at(a->s->x, o->set, k);
  goal values = o->known[k].value;
  if (values == GOAL_NONE || needs_escape(name) || !go_on(a) ||
      !is_fresh(a, tsl__schema_member_begins(a->s, values, o->level)))
    return;
  tsl__stack end = read(a, from, name.at, name.length);
  if (!end) return;
  a->left--;
  look_at_place(a, end);
  tsl__stack before = read(a, end, "\":", 2);
  look_at_place(a, before);
  look_into_value(a, before, values);
}

static void look_at_object(ahead *a, const entered *e) {
  const struct goal_entry *g = tsl__goal_of(a->s, e->values);
  if (!g->opened || !g->object_count) return;
  a->left--;
  look_at_place(a, e->at);
  const struct object *o = g->objects[0];
  for (uint32_t i = 0; i < o->n && i < NAMES && a->left; i++) {
    uint32_t k = o->placed_count == o->n ? o->placed[i] : i;
    if (o->known[k].required) look_at_member(a, e->at, o, k);
  }
}

/* By the first byte that may come. */
static tsl__stack go_anywhere(ahead *a, tsl__stack at) {
  tsl__bytes next;
  if (!go_on(a) || !tsl__stack_next(a->space, at, &next)) return 0;
  for (char c = ' ' + 1; c < 0x7F; c++)
    if (c != '"' && c != '\\' && tsl__bytes_has(&next, (uint8_t)c)) return read(a, at, &c, 1);
  return 0;
}

/* The position that follows the last one of those met by the first letter that leads to another; 0:
 * none. */
static tsl__stack go_further(ahead *a, const tsl__stack *met, uint32_t n) {
  static const char letters[] = "a0A-. /:_";
  bool some = false;
  for (const char *c = letters; *c; c++) {
    tsl__stack to = read(a, met[n - 1], c, 1);
    if (to && !is_among(met, n, to)) return to;
    some |= to != 0;
  }
  return some ? 0 : go_anywhere(a, met[n - 1]);
}

static void look_along(ahead *a, tsl__stack string) {
  tsl__stack met[LETTERS];
  uint32_t n = 0;
  for (tsl__stack at = string; at && n < LETTERS && !is_among(met, n, at);
       at = go_further(a, met, n)) {
    met[n++] = at;
    look(a, at);
  }
}

void tsl__schema_look_ahead(struct schema *s, tsl__space *space, tsl__stack begin) {
  bool is_small = s->nodes.n < SUBSCHEMAS;
  if (s->options.lazy || (is_small && !(s->keywords >> KW_PATTERN & 1))) return;
  uint64_t max_steps = space->work.max_steps, max_memory = space->work.max_memory,
           derivatives = tsl__exprs_bound(s->x, DERIVATIVES);
  tsl__space_begin(space);
  space->work.max_memory /= 2;
  ahead a = {.s = s,
             .space = space,
             .strings_alone = is_small,
             .derivatives = DERIVATIVES,
             .last_step = tsl__space_steps(space) + STEPS};
  a.last_state = tsl__space_count(space, states) + STATES;
  a.left = s->nodes.n < PLACES ? (uint32_t)s->nodes.n : PLACES;
  look_at_place(&a, begin);
  find(&a, read(&a, begin, "{\"", 2), s->root_goal);
  for (uint32_t i = 0; i < a.found_count && a.left; i++) look_at_object(&a, &a.found[i]);
  for (uint32_t i = 0; i < a.string_count; i++) look_along(&a, a.strings[i]);
  space->work.max_steps = max_steps;
  space->work.max_memory = max_memory;
  tsl__exprs_bound(s->x, derivatives);
  tsl__space_begin(space);
}
