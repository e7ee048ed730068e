/* by_pattern.c - extra keys of which many patterns overlap: the patterns choose the value's goal.
 *
 * Problem   Ten patterns such as "foo" and "y$" can match a key in 1,024 ways. cells.c would make a
 *           cell for each, and a text would be followed in all of them side by side.
 * Idea      The object gets one cell. Its key is read by an expression that holds each pattern by
 *           itself (CASES, compiler/expr/kinds/cases.c). At the closing quote the patterns that
 *           matched are known. They say what the value must satisfy. That goal is made when a text
 *           gets there.
 * Example   {"patternProperties": {"foo": A, "bar": B, "y$": C}}: the value of "fooy" must satisfy
 *           A and C.
 * Where     A goal that no value satisfies would be found only after the key. So all patterns
 *           together must leave some value. Nothing else may look at extra keys: no clause, no
 *           propertyNames, no unevaluatedProperties, no bounds of the number of members.
 * Names     No name that the schema lists comes as an extra key. Other names may come more than
 *           once. The runtime compares names where a frame ends, and the frame that reads a name
 *           here goes on to its value. docs/schema.md says so.
 * Cost      One look at each pattern when the schema is compiled.
 * Tested by tests/schema/test_by_pattern.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/deriv.h"
#include "compiler/schema/object.h"

/* Patterns that may begin with nearly any byte, from which on cells are too many. */
#define OVERLAPPING_MIN 3u

/* What is needed of the maker when texts are followed. */
struct by_pattern {
  struct maker m; /* a copy, with the parts and the splitters */
  /* of a key that all patterns match, and of one that none matches. What satisfies `every`
   * satisfies the goal of each set of patterns but the empty one */
  goal every, none;
};

static tsl__expr after(tsl__exprs *x, void *ctx, uint32_t param, uint32_t matched) {
  struct by_pattern *b = ctx;
  goal value = tsl__maker_goal(&b->m, matched);
  (void)x, (void)param;
  return tsl__schema_ok(b->m.s) ? tsl__schema_member(b->m.s, value, b->m.o->level) : TSL__NONE;
}

static uint32_t fewest(void *ctx, uint32_t param) {
  const struct by_pattern *b = ctx;
  struct schema *s = b->m.s;
  uint32_t level = b->m.o->level;
  (void)param;
  uint32_t every = tsl__expr_shortest(s->x, tsl__schema_member(s, b->every, level)),
           none = tsl__expr_shortest(s->x, tsl__schema_member(s, b->none, level));
  return every > none ? every : none;
}

/* The maker, with parts of its own: those of the goal do not stay. */
static bool copy_parts(struct by_pattern *b, const struct maker *m) {
  struct part *copy = tsl__schema_alloc(m->s, m->part_count * sizeof *copy);
  const struct part **list = tsl__schema_alloc(m->s, m->part_count * sizeof *list);
  for (uint32_t i = 0; copy && list && i < m->part_count; i++) {
    copy[i] = *m->parts[i];
    list[i] = &copy[i];
  }
  b->m = *m;
  b->m.parts = list;
  return copy && list;
}

/* The one part that has members, where nothing but that part and names look at keys; NULL: there is
 * more. Of several such parts one may match a key while another does not, which is yet another
 * set. */
static const struct part *only_members(const struct maker *m) {
  const struct part *members = NULL;
  for (uint32_t i = 0; i < m->part_count; i++) {
    const struct part *p = m->parts[i];
    if (p->kind == PART_KEY || p->kind == PART_REQUIRED || p->kind == PART_ORDER) continue;
    if (p->kind != PART_MEMBERS || members) return NULL;
    members = p;
  }
  return members;
}

static bool overlap(const struct maker *m) {
  uint32_t overlapping = 0;
  for (uint32_t i = 0; i < m->splitter_count; i++)
    overlapping += tsl__maker_begins_anyhow(m, m->splitters[i]);
  return overlapping >= OVERLAPPING_MIN;
}

/* The texts of extra keys: all but the known ones; of a closed object those that some pattern
 * matches. */
static tsl__expr keys_of(const struct maker *m, bool closed) {
  tsl__exprs *x = m->s->x;
  tsl__expr text =
      m->o->n ? tsl__expr_text_not(x, tsl__expr_stringset(x, m->o->set)) : tsl__expr_text(x);
  return closed ? tsl__expr_and(x, text, tsl__expr_alt_n(x, m->splitters, m->splitter_count))
                : text;
}

/* Is there a value for a key, whichever patterns match it? */
static bool always_possible(struct by_pattern *b, bool closed) {
  struct schema *s = b->m.s;
  b->every = tsl__maker_goal(&b->m, ((uint64_t)1 << b->m.splitter_count) - 1);
  b->none = closed ? b->every : tsl__maker_goal(&b->m, 0);
  return tsl__schema_possible(s, b->every) && tsl__schema_possible(s, b->none);
}

bool tsl__maker_by_pattern(struct maker *m) {
  static const tsl__keys_ops ops = {.fewest = fewest, .after = after};
  struct schema *s = m->s;
  const struct part *members = only_members(m);
  if (!members || m->splitter_count > TSL__CASES_MAX || tsl__schema_nests(s) || s->style ||
      !overlap(m))
    return false;
  /* does it forbid what none of its patterns matches? */
  bool closed = tsl__maker_additional(m, members->s) == POS(SID_FALSE);
  struct by_pattern *b = tsl__schema_alloc(s, sizeof *b);
  if (!b || !copy_parts(b, m)) return false;
  tsl__expr text = keys_of(m, closed);
  if (text == TSL__NONE || !tsl__cases_possible(s->x, text, m->splitters, m->splitter_count) ||
      !always_possible(b, closed))
    return false;
  struct cell *c = tsl__schema_alloc(s, sizeof *c);
  if (!c) return false;
  *c = (struct cell){.key = text, .value = b->every, .count = TSL__INF};
  c->cases = tsl__expr_cases(s->x, text, m->splitters, m->splitter_count, &ops, b, 0);
  if (c->cases == TSL__NONE) return false;
  m->o->cells = c;
  m->o->cell_count = 1;
  return tsl__schema_ok(s);
}
