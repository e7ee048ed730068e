/* goal.c - goals: sets of signed subschemas that one value must satisfy together.
 *
 * Problem   The same set of subschemas is met in many places: through references, allOf, members
 *           that several patterns name. What is found out about a set should be found out once.
 * Idea      A goal is the set sorted, without doubles and without detours (through references and
 *           `not`), and interned: it is a number. Goal 0 asks for nothing. Goal 1 is what nothing
 *           satisfies. A goal with `false` in it, or with a lit and its opposite, becomes goal 1.
 * Example   {"allOf": [{"$ref": "#/$defs/a"}, {"not": {"not": {"$ref": "#/$defs/a"}}}]} asks for
 *           the node of "a" twice, behind detours. The goal is that of {"$ref": "#/$defs/a"} alone.
 * Cost      Sorting a few numbers and one look into a table for each goal that is requested.
 * Tested by tests/schema/test_schema.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/node.h"
#include "compiler/schema/goal.h"

#include <stdlib.h>

static uint64_t goal_hash(const lit *lits, uint32_t n, uint32_t level) {
  uint64_t h = level + 1;
  for (uint32_t i = 0; i < n; i++) h = tsl__mix(h * 31 + lits[i]);
  return h;
}

struct goal_key {
  const struct schema *s;
  const lit *lits;
  uint32_t n, level;
};

static bool goal_same(const void *ctx, uint32_t i) {
  const struct goal_key *k = ctx;
  const struct goal_entry *g = k->s->goals.at[i];
  return g->n == k->n && g->level == k->level && !memcmp(g->lits, k->lits, k->n * sizeof *k->lits);
}

/* A lit without detours: through nodes that are nothing but a reference, a not, or one of these
 * around true or false. */
lit tsl__schema_simplify(const struct schema *s, lit l) {
  for (uint32_t steps = 0; steps < 1000; steps++) {
    const struct node *n = tsl__node_of(s, l >> 1);
    if (!n->mask) return ((l >> 1 == SID_FALSE) ^ (l & 1)) ? POS(SID_FALSE) : POS(SID_TRUE);
    if (n->mask == OF(REF))
      l = POS(n->values[0].children[0]) | (l & 1);
    else if (n->mask == OF(NOT))
      l = (POS(n->values[0].children[0]) | (l & 1)) ^ 1;
    else
      return l;
  }
  return l;
}

static int by_number(const void *a, const void *b) {
  lit x = *(const lit *)a, y = *(const lit *)b;
  return x < y ? -1 : x > y;
}

static uint32_t sort_lits(lit *lits, uint32_t n) {
  if (n < 2) return n;
  if (n == 2) {
    if (lits[0] > lits[1]) {
      lit t = lits[0];
      lits[0] = lits[1];
      lits[1] = t;
    }
  } else {
    qsort(lits, n, sizeof *lits, by_number);
  }
  uint32_t kept = 1;
  for (uint32_t i = 1; i < n; i++)
    if (lits[i] != lits[kept - 1]) lits[kept++] = lits[i];
  return kept;
}

static goal goal_new(struct schema *s, const lit *lits, uint32_t n, uint32_t level) {
  struct goal_entry *g = tsl__schema_alloc(s, sizeof *g + n * sizeof *lits);
  if (!g) return GOAL_NONE;
  memcpy(g + 1, lits, n * sizeof *lits);
  g->lits = (const lit *)(g + 1);
  g->n = n;
  g->level = level;
  g->shortest = TSL__INF;
  g->from = GOAL_NONE;
  goal id = (goal)s->goals.n;
  if (!tsl__vec_push(s->alloc, &s->goals, g))
    return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), GOAL_NONE;
  return id;
}

static goal goal_intern(struct schema *s, const lit *lits, uint32_t n, uint32_t level) {
  /* most are found there */
  struct node *alone = n == 1 && !(*lits & 1) && !level ? s->nodes.at[*lits >> 1] : NULL;
  if (alone && alone->alone) return alone->alone;
  uint64_t hash = alone ? 0 : goal_hash(lits, n, level);
  struct goal_key key = {s, lits, n, level};
  uint32_t found = alone ? UINT32_MAX : tsl__table_find(&s->goal_table, hash, goal_same, &key);
  if (found != UINT32_MAX) return found;
  goal id = goal_new(s, lits, n, level);
  if (id == GOAL_NONE) return id;
  if (alone) return alone->alone = id;
  return tsl__table_add(s, &s->goal_table, hash, id) ? id : GOAL_NONE;
}

/* Without detours, and the same for all places that say the same, where there are alternatives to
 * distinguish. */
static lit as_one(struct schema *s, lit l) {
  l = tsl__schema_simplify(s, l);
  return s->joins_alike && l >> 1 > SID_FALSE ? tsl__schema_first_alike(s, l) : l;
}

/* What one lit asks where the level does not matter, as most goals do. */
static goal goal_of_one(struct schema *s, lit l) {
  tsl__worked(s->x, 5);
  l = as_one(s, l);
  if (l >> 1 <= SID_FALSE) return (l >> 1 == SID_FALSE) ^ (l & 1) ? GOAL_NONE : GOAL_ANY;
  if (l & 1) return goal_intern(s, &l, 1, 0);
  struct node *n = s->nodes.at[l >> 1];
  if (n->alone) return n->alone;
  goal id = goal_new(s, &l, 1, 0);
  if (id != GOAL_NONE) n->alone = id;
  return id;
}

static goal goal_of_all(struct schema *s, const lit *lits, uint32_t n, uint32_t level) {
  lit few[64], *out = n <= 64 ? few : tsl__schema_alloc(s, n * sizeof *out);
  uint32_t kept = 0;
  tsl__worked(s->x, 4 + n);
  for (uint32_t i = 0; out && i < n; i++) {
    lit l = as_one(s, lits[i]);
    if (l == POS(SID_FALSE)) return GOAL_NONE;
    if (l != POS(SID_TRUE)) out[kept++] = l;
  }
  if (!out) return GOAL_NONE;
  kept = sort_lits(out, kept);
  for (uint32_t i = 1; i < kept; i++)
    if ((out[i] ^ 1) == out[i - 1]) return GOAL_NONE;
  return goal_intern(s, out, kept, s->levels ? level : 0);
}

goal tsl__schema_goal(struct schema *s, const lit *lits, uint32_t n, uint32_t level) {
  return n == 1 && !s->levels ? goal_of_one(s, lits[0]) : goal_of_all(s, lits, n, level);
}

goal tsl__schema_goal_and(struct schema *s, goal g, const lit *lits, uint32_t n) {
  if (!n || g == GOAL_NONE) return g;
  const struct goal_entry *e = tsl__goal_of(s, g);
  lit few[64], *all = e->n + n <= 64 ? few : tsl__schema_alloc(s, (e->n + n) * sizeof *all);
  if (!all) return GOAL_NONE;
  memcpy(all, e->lits, e->n * sizeof *all);
  memcpy(all + e->n, lits, n * sizeof *all);
  size_t before = s->goals.n;
  goal made = tsl__schema_goal(s, all, e->n + n, e->level);
  if (n == 1 && made != GOAL_NONE && s->goals.n > before) {
    struct goal_entry *new = s->goals.at[made];
    new->from = g;
    new->with = as_one(s, *lits);
  }
  return made;
}

struct union_key {
  struct schema *s;
  enum keyword keyword;
  const sid *children;
  uint32_t n;
};

static bool union_same(const void *ctx, uint32_t index) {
  const struct union_key *k = ctx;
  const struct keyword_value *v = k->s->nodes.at[index]->values;
  return v->keyword == k->keyword && v->count == k->n &&
         !memcmp(v->children, k->children, k->n * sizeof *k->children);
}

/* The same children are the same node: what holds itself among its items would else ask something
 * else of them on each level. */
sid tsl__schema_choice_of(struct schema *s, enum keyword k, const sid *children, uint32_t n) {
  sid *copy = tsl__arena_copy(&s->arena, children, n * sizeof *copy);
  if (!copy || !tsl__schema_work(s, n))
    return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), SID_FALSE;
  n = k == KW_ONE_OF ? n : sort_lits(copy, n); /* one that comes twice is none of a oneOf */
  uint64_t hash = goal_hash(copy, n, k);
  struct union_key key = {s, k, copy, n};
  uint32_t found = tsl__table_find(&s->union_table, hash, union_same, &key);
  if (found != UINT32_MAX) return found;
  struct node *node = tsl__schema_alloc(s, sizeof *node);
  struct keyword_value *v = tsl__schema_alloc(s, sizeof *v);
  sid id = (sid)s->nodes.n;
  if (!node || !v || !tsl__vec_push(s->alloc, &s->nodes, node))
    return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), SID_FALSE;
  *v = (struct keyword_value){.children = copy, .count = n, .keyword = (uint8_t)k};
  node->values = v;
  node->mask = (uint64_t)1 << k;
  node->types = node->possible = T_ALL;
  node->resource = s->modern;
  if (s->nodes_read + 1 == s->nodes.n) s->nodes_read++;
  return tsl__table_add(s, &s->union_table, hash, id) ? id : SID_FALSE;
}
