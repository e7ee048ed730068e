/* array.c - how arrays are followed: plain ones, counters, lists of values, equal items.
 *
 * Problem   What items may stand in an array depends on their place and number. It also depends on
 *           how many satisfy `contains`, and on which values were there before.
 * Plain     arrays (items by position, then all alike, a length) are regular expressions over the
 *           items' rules:
 *             BEGIN ( ] | first ITEM ( NEXT ITEM ){m,n} END )
 *           with large m and n left to the core's counters. BEGIN, NEXT and END, with the brackets,
 *           comma and white space, are frames that all arrays share. Where any number of items may
 *           follow, what stands after one is a rule that is nothing but calls of these:
 *             TAIL = END | NEXT ITEM TAIL
 *           The rule has no expression, and its walks are mostly those of the shared frames.
 * Counted   contains and the negation of items count: "between min and max of the items satisfy S".
 *           A state is the position and the counts, both clamped. An item is an alternative of
 *           "satisfies S, counted" and, where a maximum makes it matter, "does not", else "not
 *           counted, whatever it is".
 * Unique    uniqueItems over items out of a finite list of scalars (enum, const, booleans): the
 *           state is the set of values used. Otherwise items get a guard, and the runtime compares
 *           them (unique/). Where some items have few values, the state knows which of those were
 *           used, and only the others get a guard.
 * Repeats   The negation of uniqueItems asks for an item that is one of the earlier ones:
 *             ITEM NEW ( NEXT ITEM NEW )* NEXT ITEM SAME, then any others
 *           The runtime decides which of the two guards holds. Any number of items must be allowed,
 *           so that what was begun can always be repeated.
 * Example   {"items": {"type": "integer"}, "contains": {"const": 7}} has one counter, of at least
 *           one 7. In the state [index 0, count 0] an item is 7, counted, or any integer, not
 *           counted; "]" is allowed from count 1 on.
 * Cost      States: places times counts, both clamped; for lists the sets of values used.
 * Tested by tests/schema/test_schema.c, tests/position/test_repeats.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/expr/deriv.h"
#include "compiler/expr/meaning.h"
#include "compiler/schema/array.h"
#include "compiler/schema/object.h"
#include "runtime/automaton/state.h"

/* ---- plain arrays ---------------------------------------------------------------------------- */

static bool plain(const struct array *a) {
  return !a->counter_count && !a->unique && !a->listed_count;
}
static goal goal_at(const struct array *a, uint32_t index) {
  return index < a->prefix_count ? a->prefix[index] : a->rest;
}

/* The length at which an item is needed that nothing satisfies, or the maximum. */
static uint32_t reach(const struct array *a) {
  for (uint32_t i = 0; i < a->prefix_count && i < a->max; i++)
    if (!tsl__schema_possible(a->schema, a->prefix[i])) return i;
  if (a->max > a->prefix_count && !tsl__schema_possible(a->schema, a->rest)) return a->prefix_count;
  return a->max;
}

/* Bytes of n items, n > 0, each as short as it can be, with all around them. */
static uint64_t bytes_of_items(const struct array *a, const struct gaps *g, uint32_t n) {
  uint64_t bytes = 2 + (uint64_t)g->first_cost + g->close_cost + (uint64_t)(n - 1) * g->comma_cost +
                   (uint64_t)n * g->item_cost;
  for (uint32_t i = 0; i < n && i < a->prefix_count; i++)
    bytes += tsl__schema_shortest(a->schema, a->prefix[i]);
  if (n > a->prefix_count)
    bytes += (uint64_t)(n - a->prefix_count) * tsl__schema_shortest(a->schema, a->rest);
  return bytes;
}

static uint32_t plain_shortest(const struct array *a) {
  const struct gaps *g = tsl__schema_gaps(a->schema, a->level);
  if (!g) return TSL__INF;
  if (!a->min) return 2;
  if (reach(a) < a->min) return TSL__INF;
  uint64_t bytes = bytes_of_items(a, g, a->min);
  return bytes >= UNKNOWN ? UNKNOWN - 1 : (uint32_t)bytes;
}

/* The same where some items are equal: two of those with a goal of their own, or the first two of
 * the rest. */
static uint32_t repeats_shortest(const struct array *a) {
  struct schema *s = a->schema;
  const struct gaps *g = tsl__schema_gaps(s, a->level);
  uint64_t best = TSL__INF;
  if (!a->prefix_count || !g || reach(a) != TSL__INF) return plain_shortest(a);
  for (uint32_t j = 1; j < a->prefix_count + 2 && tsl__schema_ok(s); j++) {
    uint64_t bytes =
        bytes_of_items(a, g, tsl__larger(a->min, j + 1)) - tsl__schema_shortest(s, goal_at(a, j));
    for (uint32_t i = 0; i < j; i++) {
      const struct goal_entry *e = tsl__goal_of(s, goal_at(a, i));
      uint32_t both =
          tsl__schema_shortest(s, tsl__schema_goal_and(s, goal_at(a, j), e->lits, e->n));
      uint64_t all = bytes - tsl__schema_shortest(s, goal_at(a, i)) + 2 * (uint64_t)both;
      if (both != TSL__INF && all < best) best = all;
    }
  }
  return best >= UNKNOWN ? UNKNOWN - 1 : (uint32_t)best;
}

static tsl__expr bracket(const struct schema *s, tsl__expr literal) {
  return tsl__schema_nests(s) ? TSL__EPS : literal;
}

/* ITEM, then what follows. `compared`: if items are guarded, the runtime looks at this one, too. */
static tsl__expr item(struct array *a, goal value, bool compared, tsl__expr rest) {
  tsl__exprs *x = a->schema->x;
  bool guarded = a->guarded && compared;
  tsl__expr one = tsl__schema_nests(a->schema) ? tsl__schema_styled_item(a->schema, value)
                  : guarded                    ? tsl__schema_value(a->schema, value)
                                               : tsl__schema_item(a->schema, value);
  if (!guarded) return tsl__expr_seq(x, one, rest);
  return tsl__expr_seq(x, tsl__schema_frame(a->schema, one),
                       tsl__expr_seq(x, tsl__expr_guard(x, TSL__NEW_ITEM), rest));
}

static tsl__expr any_more(struct schema *s, goal value);

static tsl__expr one_more(struct schema *s, goal value) {
  return tsl__expr_seq(s->x, tsl__schema_item(s, value), any_more(s, value));
}

static tsl__expr unfold_tail(tsl__exprs *x, void *ctx, uint32_t g) {
  struct schema *s = ctx;
  return tsl__expr_alt(x, s->shared.end_array,
                       tsl__expr_seq(x, s->shared.next_item, one_more(s, g)));
}

static void print_tail(void *ctx, uint32_t g, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "more#%u", (unsigned)g);
}

static bool tail_calls(tsl__exprs *x, void *ctx, uint32_t g, tsl__calls *out) {
  struct schema *s = ctx;
  if (!tsl__calls_add_last(x, out, s->shared.end_array)) return false;
  tsl__calls_add(x, out, s->shared.next_item, one_more(s, g));
  return true;
}

/* What its items are, if that is known by now, and the white space between them. */
static bool tail_meaning(tsl__meaning *m, void *ctx, uint32_t g, tsl__digest *out) {
  const struct schema *s = ctx;
  tsl__expr value = tsl__goal_of(ctx, g)->value;
  struct {
    tsl__digest value;
    struct space_bounds space;
    uint32_t unused; /* no padding */
  } of = {.space = tsl__schema_space(&s->options)};
  return value != TSL__NONE && tsl__meaning_within(m, value, &of.value) &&
         tsl__meaning_data(m, TSL__MEANS_MORE, &of, sizeof of, out);
}

static const tsl__rule_ops tail_ops = {unfold_tail, print_tail, tail_meaning, NULL, tail_calls};

/* The end, or any number of items more. */
static tsl__expr any_more(struct schema *s, goal value) {
  struct goal_entry *e = tsl__goal_of(s, value);
  if (e->tail == TSL__NONE)
    e->tail = tsl__expr_rule(s->x, &tail_ops, s, value, TSL__RULE_INLINE, 1);
  return e->tail;
}

static bool has_tail(const struct array *a, uint32_t from, uint32_t max) {
  return max == TSL__INF && a->min <= from && !a->guarded && !a->schema->levels &&
         !tsl__schema_nests(a->schema);
}

/* What follows when `index` items, at least one, are there. */
static tsl__expr plain_tail(struct array *a, const struct gaps *g, uint32_t index, uint32_t max) {
  tsl__exprs *x = a->schema->x;
  uint32_t from = tsl__larger(a->prefix_count, index); /* the loop of alike items begins here */
  tsl__expr tail = g->end_array;
  if (has_tail(a, from, max)) {
    tail = any_more(a->schema, a->rest);
  } else if (max > from) {
    tsl__expr one = tsl__expr_seq(x, g->next_item, item(a, a->rest, true, TSL__EPS));
    tail = tsl__expr_seq(x,
                         tsl__expr_repeat(x, one, a->min > from ? a->min - from : 0,
                                          max == TSL__INF ? TSL__INF : max - from),
                         tail);
  }
  for (uint32_t i = tsl__smaller(from, max);
       i-- > index;) { /* items i of the prefix, from the last */
    tail = tsl__expr_seq(x, g->next_item, item(a, a->prefix[i], true, tail));
    if (i >= a->min) tail = tsl__expr_alt(x, tail, g->end_array);
  }
  return tail;
}

/* An item that the runtime looks at, then what follows if it is new, and if it is not. */
static tsl__expr compared(struct array *a, goal value, tsl__expr is_new, tsl__expr is_same) {
  tsl__exprs *x = a->schema->x;
  tsl__expr after = tsl__expr_alt(x, tsl__expr_seq(x, tsl__expr_guard(x, TSL__NEW_ITEM), is_new),
                                  tsl__expr_seq(x, tsl__expr_guard(x, TSL__SAME_ITEM), is_same));
  return tsl__expr_seq(x, tsl__schema_frame(a->schema, tsl__schema_value(a->schema, value)), after);
}

/* Some item is one of the earlier ones. */
static tsl__expr repeats_body(struct array *a, const struct gaps *g) {
  tsl__exprs *x = a->schema->x;
  /* from there on items are alike, and none is needed */
  uint32_t from = tsl__larger(a->prefix_count, a->min);
  if (reach(a) != TSL__INF) return TSL__NONE;
  tsl__expr one = tsl__expr_seq(x, g->next_item, compared(a, a->rest, TSL__EPS, TSL__NONE)),
            last = tsl__expr_seq(x, g->next_item,
                                 compared(a, a->rest, TSL__NONE, plain_tail(a, g, from, TSL__INF)));
  tsl__expr tail = tsl__expr_seq(x, tsl__expr_repeat(x, one, 0, TSL__INF), last);
  for (uint32_t i = from; i-- > 1;)
    tail = tsl__expr_seq(x, g->next_item,
                         compared(a, goal_at(a, i), tail, plain_tail(a, g, i + 1, TSL__INF)));
  return tsl__expr_seq(x, g->first, compared(a, goal_at(a, 0), tail, TSL__NONE));
}

static tsl__expr plain_body(struct array *a, const struct gaps *g) {
  tsl__exprs *x = a->schema->x;
  uint32_t max = reach(a);
  tsl__expr inner = a->min ? TSL__NONE : bracket(a->schema, a->schema->shared.right_bracket);
  if (max)
    inner = tsl__expr_alt(
        x, inner,
        tsl__expr_seq(x, g->first, item(a, goal_at(a, 0), true, plain_tail(a, g, 1, max))));
  return inner;
}

/* ---- states ---------------------------------------------------------------------------------- */

static uint64_t state_hash(const struct array_state *st) {
  uint64_t h = tsl__mix((uint64_t)(uintptr_t)st->array + st->index);
  for (uint32_t i = 0; i < st->words; i++) h = tsl__mix(h * 31 + st->data[i]);
  return h;
}

struct state_key {
  const struct schema *s;
  const struct array_state *st;
};

static bool state_same(const void *ctx, uint32_t i) {
  const struct state_key *k = ctx;
  const struct array_state *a = k->s->array_states.at[i];
  return a->array == k->st->array && a->index == k->st->index &&
         !memcmp(a->data, k->st->data, a->words * sizeof *a->data);
}

static uint32_t intern(struct schema *s, const struct array_state *st) {
  tsl__exprs_work(s->x, 8 + st->words);
  uint64_t hash = state_hash(st);
  struct state_key key = {s, st};
  uint32_t found = tsl__table_find(&s->array_state_table, hash, state_same, &key);
  if (found != UINT32_MAX) return found;
  struct array_state *copy =
      tsl__arena_copy(&s->arena, st, sizeof *st + st->words * sizeof *st->data);
  uint32_t id = (uint32_t)s->array_states.n;
  if (!copy || !tsl__vec_push(s->alloc, &s->array_states, copy) ||
      !tsl__table_add(s, &s->array_state_table, hash, id)) {
    tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
    return UINT32_MAX;
  }
  return id;
}

/* From this position on it does not matter in which order items come. */
static uint32_t alike_from(const struct array *a) {
  uint32_t n = a->prefix_count;
  for (uint32_t i = 0; i < a->counter_count; i++) n = tsl__larger(n, a->counters[i].from);
  return n;
}

/* From this position on more items help only by being counted. */
static uint32_t settled_at(const struct array *a) { return tsl__larger(alike_from(a), a->min); }

static bool complete(const struct array_state *st) {
  const struct array *a = st->array;
  if (st->index < a->min) return false;
  for (uint32_t i = 0; i < a->counter_count; i++)
    if (st->data[i] < a->counters[i].min) return false;
  return true;
}

/* ---- one item -------------------------------------------------------------------------------- */

struct choosing { /* the ways in which the next item can count */
  struct array *a;
  const struct array_state *from;
  struct array_state *to;
  lit *lits;
  lit *declined; /* of counters that it could be counted by */
  uint32_t lit_count, declined_count;
  uint32_t must; /* the counter that must count it; UINT32_MAX: none must */
  bool listed;   /* it is one of the listed values */
  bool shortest; /* of ways that are alike the cheapest will do */
  void (*way)(struct choosing *c, goal value, uint32_t next);
  void *ctx;
};

static void choose_goal(struct choosing *c) {
  const struct array *a = c->a;
  goal value = tsl__schema_goal_and(a->schema, goal_at(a, c->from->index), c->lits, c->lit_count);
  if (value == GOAL_NONE) return;
  uint32_t next = intern(a->schema, c->to);
  if (next != UINT32_MAX) c->way(c, value, next);
}

/* One of the listed values that are left, or none of those listed. For the shortest end, where the
 * order does not matter, the cheapest of each kind will do: else all sets of values are tried. */
static void choose_value(struct choosing *c) {
  const struct array *a = c->a;
  uint64_t *used = c->to->data + a->counter_count;
  bool cheap = c->shortest && c->from->index >= alike_from(a);
  c->listed = true;
  for (uint32_t i = 0; i < a->listed_count && tsl__schema_ok(a->schema); i++) {
    if (tsl__bit(used, i) || (cheap && tsl__array_has_cheaper(c->a, used, i))) continue;
    uint64_t before = used[i >> 6];
    tsl__bit_set(used, i);
    c->lits[c->lit_count++] = a->listed[i];
    choose_goal(c);
    c->lit_count--;
    used[i >> 6] = before;
  }
  c->listed = false;
  for (uint32_t i = 0; i < a->listed_count; i++) c->lits[c->lit_count++] = a->listed[i] ^ 1;
  choose_goal(c);
  c->lit_count -= a->listed_count;
}

static void choose(struct choosing *c, uint32_t i);

/* Do the lits so far, or what is demanded of the item anyway, make sure of l? */
static bool is_sure(const struct choosing *c, lit l) {
  for (uint32_t i = 0; i < c->lit_count; i++)
    if (tsl__schema_lit_implies(c->a->schema, c->lits[i], l)) return true;
  return tsl__schema_implies(c->a->schema, goal_at(c->a, c->from->index), l);
}

/* The same with one more lit. Where no item satisfies it with those so far, the way ends here: ways
 * that end nowhere would be 2^n. */
static void choose_with(struct choosing *c, uint32_t i, lit l) {
  struct schema *s = c->a->schema;
  c->lits[c->lit_count++] = l;
  goal value = i + 1 < c->a->counter_count
                   ? tsl__schema_goal_and(s, goal_at(c->a, c->from->index), c->lits, c->lit_count)
                   : GOAL_ANY;
  if (value != GOAL_NONE &&
      (i + 1 == c->a->counter_count || tsl__schema_shortest(s, value) != TSL__INF))
    choose(c, i + 1);
  c->lit_count--;
}

#define COUNTS_FEW 8u /* so many counts may be alive together */

/* Counted, unless that would make sure of what was declined: where that is counted too there is at
 * least as much room. */
static void choose_counted(struct choosing *c, uint32_t i) {
  const struct counter *k = &c->a->counters[i];
  for (uint32_t j = 0; j < c->declined_count; j++)
    if (tsl__schema_lit_implies(c->a->schema, k->l, c->declined[j])) return;
  c->to->data[i]++;
  choose_with(c, i, k->l);
  c->to->data[i]--;
}

static void choose(struct choosing *c, uint32_t i) {
  const struct array *a = c->a;
  if (!tsl__schema_work(a->schema, 16)) return;
  if (i == a->counter_count) {
    choose_value(c);
    return;
  }
  const struct counter *k = &a->counters[i];
  uint64_t count = c->from->data[i];
  c->to->data[i] = count;
  if (c->from->index < k->from || (k->max == TSL__INF && count >= k->min)) {
    choose(c, i + 1);
    return;
  }
  if (count < k->max) choose_counted(c, i);
  if (c->must == i || (a->counter_count > 1 && is_sure(c, k->l))) return;
  /* no item is in two ways, where that is cheap to say: else each of many counts stays alive */
  bool several = a->counter_count > 1 || k->min > COUNTS_FEW;
  if (k->max != TSL__INF || (several && tsl__schema_denies(a->schema, k->l))) {
    choose_with(c, i, k->l ^ 1);
  } else {
    c->declined[c->declined_count++] = k->l;
    choose(c, i + 1);
    c->declined_count--;
  }
}

static void each_way(struct array *a, const struct array_state *from, uint32_t must, bool shortest,
                     void (*way)(struct choosing *c, goal value, uint32_t next), void *ctx) {
  struct schema *s = a->schema;
  struct choosing c = {
      .a = a, .from = from, .must = must, .shortest = shortest, .way = way, .ctx = ctx};
  if (from->index >= a->max) return;
  size_t size = sizeof *c.to + from->words * sizeof *from->data,
         all = size + (2 * (size_t)a->counter_count + a->listed_count) * sizeof *c.lits;
  c.to = tsl__alloc(s->alloc, all);
  if (!c.to) {
    tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
    return;
  }
  memcpy(c.to, from, size);
  c.lits = (lit *)(void *)((char *)c.to + size);
  c.declined = c.lits + a->counter_count + a->listed_count;
  c.to->next = TSL__NONE;
  c.to->round = 0;
  uint32_t clamp = a->max == TSL__INF ? settled_at(a) : a->max;
  if (c.to->index < clamp) c.to->index++;
  choose(&c, 0);
  tsl__free(s->alloc, c.to, all);
}

static uint32_t cost(struct schema *s, uint32_t id);

struct cheapest {
  uint32_t bytes;
  const struct gaps *g;
};

static void cost_way(struct choosing *c, goal value, uint32_t next) {
  struct schema *s = c->a->schema;
  struct cheapest *best = c->ctx;
  uint32_t bytes = tsl__schema_shortest(s, value);
  if (bytes < best->bytes)
    bytes = tsl__add(bytes, tsl__add(cost(s, next), best->g->comma_cost + best->g->item_cost));
  if (bytes < best->bytes) best->bytes = bytes;
}

/* With uniqueItems: the cheapest values that are left, as many as are still needed. */
static uint32_t unique_cost(const struct array_state *st, const struct gaps *g) {
  struct array *a = st->array;
  uint32_t need = a->min > st->index ? a->min - st->index : 0,
           bytes = need ? tsl__array_unused_bytes(a, need, st->data) : 0;
  return tsl__add(tsl__add(bytes, tsl__multiply(need, g->comma_cost)), g->close_cost + 1);
}

/* Where the order does not matter, an item that counts for the first counter that needs more may as
 * well be the next. */
static uint32_t next_needed(const struct array_state *st) {
  const struct array *a = st->array;
  uint32_t i = 0;
  if (st->index < alike_from(a)) return UINT32_MAX;
  while (i < a->counter_count && st->data[i] >= a->counters[i].min) i++;
  return i == a->counter_count && st->index < a->min ? UINT32_MAX : i;
}

/* The fewest bytes from after an item (or, less a comma, from the beginning) to the end. Recursion
 * is bounded by TSL__SCHEMA_CHAIN. */
static uint32_t cost(struct schema *s, uint32_t id) {
  struct array_state *st = s->array_states.at[id];
  const struct gaps *g = tsl__schema_gaps(s, st->array->level);
  if (st->round == UINT32_MAX || (s->measuring && st->round == s->round)) return st->shortest;
  if (!g) return TSL__INF;
  uint32_t bytes = g->close_cost + 1;
  st->shortest = TSL__INF;
  st->round = s->round;
  if (st->array->unique) {
    bytes = unique_cost(st, g);
  } else if (st->array->listed_count && st->array->counter_count <= 1 && !complete(st) &&
             st->index >= alike_from(st->array)) {
    uint32_t n = 0, items = tsl__array_listed_bytes(st->array, st->index, st->data[0],
                                                    st->data + st->array->counter_count, &n);
    bytes = items == TSL__INF
                ? items
                : tsl__add(bytes, tsl__add(items, n * (g->comma_cost + g->item_cost)));
  } else if (!complete(st)) {
    struct cheapest best = {TSL__INF, g};
    each_way(st->array, st, next_needed(st), true, cost_way, &best);
    bytes = best.bytes;
  }
  st = s->array_states.at[id];
  st->shortest = bytes;
  if (!tsl__schema_ok(s))
    st->round = 0; /* not known */
  else if (!s->measuring)
    st->round = UINT32_MAX;
  return bytes;
}

static uint32_t first_state(struct array *a) {
  struct schema *s = a->schema;
  uint32_t words =
      a->unique ? a->value_count / 64 + 1 : a->counter_count + (a->listed_count + 63) / 64;
  uint64_t needed = (uint64_t)a->min + a->listed_count;
  for (uint32_t i = 0; i < a->counter_count; i++)
    needed += (uint64_t)a->counters[i].min + a->counters[i].from;
  if (a->counter_count && needed > TSL__SCHEMA_CHAIN) {
    tsl__schema_fail(s, TSL_ERR_LIMIT, NULL,
                     "contains together with more than %u items that are needed",
                     TSL__SCHEMA_CHAIN);
    return UINT32_MAX;
  }
  struct array_state *st = tsl__schema_alloc(s, sizeof *st + words * sizeof *st->data);
  if (!st) return UINT32_MAX;
  st->array = a;
  st->words = words;
  return intern(s, st);
}

uint32_t tsl__array_shortest(struct array *a) {
  if (a->repeats) return repeats_shortest(a);
  if (plain(a)) return plain_shortest(a);
  const struct gaps *g = tsl__schema_gaps(a->schema, a->level);
  uint32_t id = first_state(a);
  if (!g || id == UINT32_MAX) return TSL__INF;
  if (complete(a->schema->array_states.at[id])) return 2;
  uint32_t bytes = cost(a->schema, id);
  return bytes == TSL__INF ? bytes : tsl__add(bytes, 1) - g->comma_cost + g->first_cost;
}

bool tsl__array_possible(struct array *a) {
  return plain(a) ? reach(a) >= a->min : tsl__array_shortest(a) != TSL__INF;
}

/* ---- expressions of states ------------------------------------------------------------------- */

static tsl__expr ways(struct schema *s, uint32_t id);

static tsl__expr unfold_next(tsl__exprs *x, void *ctx, uint32_t id) {
  struct schema *s = ctx;
  struct array_state *st = s->array_states.at[id];
  const struct gaps *g = tsl__schema_gaps(s, st->array->level);
  if (!g) return TSL__NONE;
  tsl__expr end = complete(st) ? g->end_array : TSL__NONE;
  return tsl__expr_alt(x, end, tsl__expr_seq(x, g->next_item, ways(s, id)));
}

static void print_next(void *ctx, uint32_t id, char *out, size_t n) {
  const struct schema *s = ctx;
  snprintf(out, n, "items#%u(%u)", (unsigned)id, (unsigned)s->array_states.at[id]->index);
}

static const tsl__rule_ops next_ops = {unfold_next, print_next, NULL, NULL, NULL};

static tsl__expr next_rule(struct schema *s, uint32_t id) {
  struct array_state *st = s->array_states.at[id];
  if (st->next == TSL__NONE) {
    /* then nothing has to follow */
    bool nests = tsl__schema_nests(s), ends = nests && complete(st);
    /* no bracket */
    st->next =
        tsl__expr_rule(s->x, &next_ops, s, id, TSL__RULE_INLINE | (ends ? TSL__RULE_NULLABLE : 0),
                       ends ? 0 : cost(s, id) - nests);
  }
  return st->next;
}

typedef TSL__VEC(tsl__expr) exprs;

static void build_way(struct choosing *c, goal value, uint32_t next) {
  struct schema *s = c->a->schema;
  exprs *all = c->ctx;
  if (tsl__schema_shortest(s, value) == TSL__INF || cost(s, next) == TSL__INF) return;
  if (!tsl__vec_push(s->alloc, all, item(c->a, value, !c->listed, next_rule(s, next))))
    tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
}

static bool used_up(const struct array_state *st, uint32_t i) {
  return tsl__bit(st->data, i) || st->index >= st->array->max;
}

/* The state after value i; UINT32_MAX if it is used up or leads nowhere. */
static uint32_t use(struct schema *s, uint32_t id, uint32_t i) {
  const struct array_state *st = s->array_states.at[id];
  uint64_t
      room[(sizeof *st + (TSL__SCHEMA_UNIQUE / 64 + 1) * sizeof *st->data) / sizeof(uint64_t) + 1];
  struct array_state *to = (void *)room;
  if (used_up(st, i)) return UINT32_MAX;
  memcpy(to, st, sizeof *st + st->words * sizeof *st->data);
  to->next = TSL__NONE;
  to->round = 0;
  to->index++;
  tsl__bit_set(to->data, i);
  uint32_t next = intern(s, to);
  return next == UINT32_MAX || cost(s, next) == TSL__INF ? UINT32_MAX : next;
}

/* The fewest bytes to the end after value i; TSL__INF if it is used up or leads nowhere. A state
 * that needs no more items is not made for that. */
static uint32_t cost_after(struct schema *s, uint32_t id, uint32_t i) {
  const struct array_state *st = s->array_states.at[id];
  const struct gaps *g = tsl__schema_gaps(s, st->array->level);
  if (!g || used_up(st, i)) return TSL__INF;
  if (st->index + 1 >= st->array->min) return g->close_cost + 1;
  uint32_t next = use(s, id, i);
  return next == UINT32_MAX ? TSL__INF : cost(s, next);
}

static bool string_allowed(void *ctx, uint32_t id, uint32_t i) {
  return cost_after(ctx, id, i) != TSL__INF;
}

static tsl__expr after_string(tsl__exprs *x, void *ctx, uint32_t id, uint32_t i) {
  struct schema *s = ctx;
  uint32_t next = use(s, id, i);
  (void)x;
  return next == UINT32_MAX ? TSL__NONE : next_rule(s, next);
}

static uint32_t cost_after_string(void *ctx, uint32_t id, uint32_t i) {
  return cost_after(ctx, id, i);
}

static uint32_t fewest_string(void *ctx, uint32_t id) {
  struct schema *s = ctx;
  struct array *a = s->array_states.at[id]->array;
  uint32_t best = TSL__INF;
  for (uint32_t i = 0; i < a->string_count; i++) {
    uint32_t after = cost_after_string(ctx, id, i),
             bytes = after == TSL__INF ? after : tsl__add(tsl__array_value_bytes(a, i) - 1, after);
    if (bytes < best) best = bytes;
  }
  return best;
}

/* Where no further items are needed, those that were used are not. */
static uint64_t strings_allowed(void *ctx, uint32_t id, uint32_t word, uint64_t *allowed) {
  struct schema *s = ctx;
  const struct array_state *st = s->array_states.at[id];
  if (st->index + 1 < st->array->min || !tsl__schema_gaps(s, st->array->level)) return 0;
  *allowed = st->index >= st->array->max ? 0 : ~st->data[word];
  return UINT64_MAX;
}

static const tsl__keys_ops string_ops = {
    string_allowed, fewest_string, cost_after_string, after_string, NULL, NULL, strings_allowed};

static tsl__expr unique_ways(struct schema *s, uint32_t id) {
  struct array *a = s->array_states.at[id]->array;
  bool strings = false;
  tsl__expr all = TSL__NONE;
  /* their states are made when one comes */
  for (uint32_t i = 0; i < a->string_count && !strings && tsl__schema_ok(s); i++)
    strings = string_allowed(s, id, i);
  for (uint32_t i = a->string_count; i < a->value_count && tsl__schema_ok(s); i++) {
    uint32_t next = use(s, id, i);
    if (next != UINT32_MAX)
      all =
          tsl__expr_alt(s->x, all, tsl__expr_seq(s->x, tsl__array_value(a, i), next_rule(s, next)));
  }
  if (!strings) return all;
  tsl__expr keys = tsl__expr_keys(s->x, a->strings, &string_ops, s, id);
  return tsl__expr_alt(s->x, all, tsl__expr_seq(s->x, tsl__expr_literal(s->x, "\"", 1), keys));
}

/* The items that may come next, each with what follows it. */
static tsl__expr ways(struct schema *s, uint32_t id) {
  struct array_state *st = s->array_states.at[id];
  exprs all = {0};
  if (st->array->unique) return unique_ways(s, id);
  each_way(st->array, st, UINT32_MAX, false, build_way, &all);
  tsl__expr one = tsl__schema_ok(s) ? tsl__expr_alt_n(s->x, all.at, all.n) : TSL__NONE;
  tsl__vec_free(s->alloc, &all);
  return one;
}

tsl__expr tsl__array_rest(struct array *a) {
  struct schema *s = a->schema;
  const struct gaps *g = tsl__schema_gaps(s, a->level);
  if (!g) return TSL__NONE;
  if (a->repeats) return repeats_body(a, g);
  if (plain(a)) return plain_body(a, g);
  uint32_t id = first_state(a);
  if (id == UINT32_MAX) return TSL__NONE;
  tsl__expr end =
      complete(s->array_states.at[id]) ? bracket(s, s->shared.right_bracket) : TSL__NONE;
  return tsl__expr_alt(s->x, end, tsl__expr_seq(s->x, g->first, ways(s, id)));
}

tsl__expr tsl__array_body(struct array *a) {
  const struct gaps *g = tsl__schema_gaps(a->schema, a->level);
  return g ? tsl__expr_seq(a->schema->x, g->begin_array, tsl__array_rest(a)) : TSL__NONE;
}
