/* members.c - following an object: states, and the expressions of what may come next.
 *
 *   object   EMPTY | BEGIN key" MEMBER next
 *              one frame per object; BEGIN is its brace and the quote of a key, EMPTY both braces
 *              (begin.c)
 *   next     END | MORE key" MEMBER next
 *              unfolded in place, by state
 *   MEMBER   colon VALUE
 *              one frame per goal of a value
 *   EXTRA    rest of an additional key" MEMBER
 *              one frame per group of keys and goal of their values
 *   MORE     after comma "
 *              one frame for all objects
 *   END      after close }
 *              one frame for all objects
 *   FIRST    the rest of object after BEGIN
 *              unfolded in place; how a plain object begins is known without it
 *
 * What may come after a member, and after the opening quote of the next key, is nothing but calls.
 * If an object has no clauses, its calls are made directly (next_calls, tsl__object_keys_calls). No
 * expression is made, as it would never be looked up again. What follows the quote stays an
 * unexpanded rule until a text gets there.
 *
 * Parts that do not depend on the state have frames of their own. These are walked once, so a
 * further state costs next to nothing. "key" is an expression over the sorted known keys
 * (tsl__expr_keys). It makes a continuation only when a text reaches that key. For other keys it
 * calls the frame of extra keys. A state is three things: the keys seen, the clauses fulfilled, and
 * the number of members if it matters. Equal states are one, so the order of keys is forgotten.
 * With order `schema` the bits mean "passed": a key and all that stand before it.
 *
 * No dead ends: a key is offered if its value is possible and the object can still be completed
 * after it (empty.c decides).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/expr/deriv.h"
#include "compiler/schema/object.h"
#include "runtime/automaton/state.h"

/* ---- states ---------------------------------------------------------------------------------- */

static uint64_t state_hash(const struct object_state *st) {
  uint64_t h = tsl__mix((uint64_t)(uintptr_t)st->object + st->count * 2 + st->first);
  for (uint32_t i = 0; i < st->object->words + st->object->counted; i++)
    h = tsl__mix(h * 31 + st->bits[i]);
  return h;
}

struct state_key {
  const struct schema *s;
  const struct object_state *st;
};

static bool state_same(const void *ctx, uint32_t i) {
  const struct state_key *k = ctx;
  const struct object_state *a = k->s->states.at[i], *b = k->st;
  return a->object == b->object && a->count == b->count && a->first == b->first &&
         !memcmp(a->bits, b->bits, (a->object->words + a->object->counted) * sizeof *a->bits);
}

size_t tsl__state_size(const struct object *o) {
  return sizeof(struct object_state) + (o->words + o->counted) * sizeof(uint64_t);
}

uint32_t tsl__state_intern(struct schema *s, const struct object_state *st) {
  uint64_t hash = state_hash(st);
  struct state_key key = {s, st};
  uint32_t found = tsl__table_find(&s->state_table, hash, state_same, &key);
  if (found != UINT32_MAX) return found;
  struct object_state *copy = tsl__arena_copy(&s->arena, st, tsl__state_size(st->object));
  uint32_t id = (uint32_t)s->states.n;
  if (!copy || !tsl__vec_push(s->alloc, &s->states, copy) ||
      !tsl__table_add(s, &s->state_table, hash, id)) {
    tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
    return UINT32_MAX;
  }
  return id;
}

static bool fulfilled_at_end(const struct object *o, const struct object_state *st,
                             const struct clause *c);

/* Are all clauses of the branch fulfilled, now that no more members come? */
static bool holds_at_end(const struct object *o, const struct object_state *st, uint32_t branch) {
  const struct branch_clauses *all = &o->branches[branch];
  for (uint32_t i = all->from; i < all->from + all->n; i++)
    if (!tsl__clause_done(o, st->bits, i) && !fulfilled_at_end(o, st, &o->clauses[i])) return false;
  return true;
}

/* Recursion is as deep as branches stand inside branches (choice/clause.c). */
static bool fulfilled_at_end(const struct object *o, const struct object_state *st,
                             const struct clause *c) {
  for (uint32_t j = 0; j < c->n; j++) {
    const struct target *t = &c->targets[j];
    if (t->kind == ATOM_ABSENT && !tsl__bit(st->bits, t->key)) return true;
    if (t->kind == ATOM_NONE && !tsl__clause_spoilt(o, st->bits, c)) return true;
    if (t->kind == ATOM_MIN && st->count >= t->count) return true;
    if (t->kind == ATOM_MAX && st->count <= t->count) return true;
    if (t->kind == ATOM_HOLDS && holds_at_end(o, st, t->count)) return true;
  }
  return false;
}

/* May the object end here? */
static bool complete(const struct object_state *st) {
  const struct object *o = st->object;
  if (st->count < o->min || st->count > o->max) return false;
  for (uint32_t k = 0; k < o->n; k++)
    if (o->known[k].required && !tsl__bit(st->bits, k)) return false;
  for (uint32_t i = 0; i < o->clause_count; i++)
    if (!o->clauses[i].branch && !tsl__clause_done(o, st->bits, i) &&
        !fulfilled_at_end(o, st, &o->clauses[i]))
      return false;
  return true;
}

/* Key k can never come now: clauses that wait for its absence are fulfilled. */
static void pass(struct object_state *st, uint32_t k) {
  const struct object *o = st->object;
  tsl__bit_set(st->bits, k);
  for (uint32_t i = 0; i < o->clause_count; i++)
    for (uint32_t j = 0; j < o->clauses[i].n; j++)
      if (o->clauses[i].targets[j].kind == ATOM_ABSENT && o->clauses[i].targets[j].key == k)
        tsl__bit_set(st->bits + o->done, i);
}

/* With order `schema`: keys placed before `place` are passed. False if one of them is required. */
static bool pass_before(struct object_state *st, uint32_t place) {
  const struct object *o = st->object;
  if (o->schema->options.order != TSL_ORDER_SCHEMA) return true;
  if (place > o->placed_count) place = o->placed_count;
  for (uint32_t i = 0; i < place; i++) {
    uint32_t k = o->placed[i];
    if (tsl__bit(st->bits, k)) continue;
    if (o->known[k].required) return false;
    pass(st, k);
  }
  return true;
}

bool tsl__target_lists(const struct target *t, uint32_t k) {
  for (uint32_t i = 0; t->kind == ATOM_NONE && i < t->count; i++)
    if (t->list[i] == k) return true;
  return false;
}

/* Key k has come: it was not to, by clauses that are not fulfilled otherwise. */
static void spoil(struct object_state *st, uint32_t k) {
  const struct object *o = st->object;
  for (uint32_t i = 0; i < o->clause_count; i++)
    for (uint32_t j = 0; j < o->clauses[i].n; j++)
      if (tsl__target_lists(&o->clauses[i].targets[j], k)) tsl__bit_set(st->bits + o->spoilt, i);
  for (uint32_t w = 0; w < o->clause_words; w++) st->bits[o->spoilt + w] &= ~st->bits[o->done + w];
}

/* The state after a member: known key k or, if that is UINT32_MAX, an extra one of a cell. False if
 * the order forbids it. */
bool tsl__state_take(struct object_state *st, uint32_t k, uint32_t cell) {
  if (!pass_before(st, k == UINT32_MAX ? UINT32_MAX : st->object->known[k].place)) return false;
  if (k != UINT32_MAX)
    tsl__bit_set(st->bits, k);
  else if (st->object->cells[cell].count != TSL__INF)
    st->bits[st->object->words + st->object->cells[cell].slot]++;
  if (k != UINT32_MAX && st->object->spoilt != UINT32_MAX) spoil(st, k);
  if (st->count < st->object->clamp) st->count++;
  st->first = false;
  return true;
}

uint32_t tsl__state_cost(struct object_state *st) {
  if (st->shortest != UNKNOWN) return st->shortest;
  uint32_t c = tsl__object_cost(st->object, st->bits, st->count, st->first);
  if (!st->object->schema->measuring && tsl__schema_ok(st->object->schema)) st->shortest = c;
  return c;
}

bool tsl__state_can_end(struct object_state *st) {
  if (st->ends) return st->ends == 2;
  if (st->shortest != UNKNOWN) return st->shortest != TSL__INF;
  bool found = tsl__object_ends(st->object, st->bits, st->count, st->first);
  if (!st->object->schema->measuring && tsl__schema_ok(st->object->schema))
    st->ends = found ? 2 : 1;
  return found;
}

/* ---- the rule that goes on after a member ---------------------------------------------------- */

static tsl__expr keys_rule(struct schema *s, uint32_t id);
static bool some_key(struct schema *s, uint32_t id);
static bool some_extra(struct schema *s, uint32_t id);
static tsl__expr styled_members(struct schema *s, uint32_t id);

static tsl__expr unfold_next(tsl__exprs *x, void *ctx, uint32_t id) {
  struct schema *s = ctx;
  struct object_state *st = s->states.at[id];
  const struct gaps *g = tsl__schema_gaps(s, st->object->level);
  if (!g) return TSL__NONE;
  if (st->object->styled) return styled_members(s, id);
  return tsl__expr_alt_alone(x, complete(st) ? g->end : TSL__NONE,
                             tsl__expr_seq_alone(x, g->more, tsl__object_keys(s, id)));
}

static void print_next(void *ctx, uint32_t id, char *out, size_t n) {
  const struct schema *s = ctx;
  snprintf(out, n, "members#%u(%u)", (unsigned)id, (unsigned)s->states.at[id]->count);
}

static uint32_t next_shortest(tsl__exprs *x, void *ctx, uint32_t id) {
  struct object_state *st = ((struct schema *)ctx)->states.at[id];
  (void)x;
  if (st->object->styled && complete(st)) return 0;
  uint32_t bytes = tsl__state_cost(st);
  return bytes != TSL__INF && tsl__schema_nests(ctx) ? bytes - 1 : bytes; /* no brace */
}

static bool next_calls(tsl__exprs *x, void *ctx, uint32_t id, tsl__calls *out) {
  struct schema *s = ctx;
  const struct object_state *st = s->states.at[id];
  const struct object *o = st->object;
  const struct gaps *g = tsl__schema_gaps(s, o->level);
  size_t before = out->n;
  if (!g || o->styled || o->clause_count) return false;
  if (complete(st) && !tsl__calls_add_last(x, out, g->end)) return false;
  if (some_key(s, id) || some_extra(s, id)) tsl__calls_add(x, out, g->more, keys_rule(s, id));
  return out->n > before;
}

static const tsl__rule_ops next_ops = {unfold_next, print_next, NULL, next_shortest, next_calls};

tsl__expr tsl__object_next(struct schema *s, uint32_t id) {
  struct object_state *st = s->states.at[id];
  if (st->next == TSL__NONE) {
    bool ends = st->object->styled && complete(st); /* then nothing has to follow */
    st->next = tsl__expr_rule(s->x, &next_ops, s, id,
                              TSL__RULE_INLINE | (ends ? TSL__RULE_NULLABLE : 0), !ends);
  }
  return st->next;
}

/* Has the key not come yet, or does the cell have names that have not? */
bool tsl__member_left(const struct object_state *from, uint32_t key, uint32_t cell) {
  return key == UINT32_MAX
             ? tsl__cell_left(from->object, &from->object->cells[cell], from->bits) > 0
             : !tsl__bit(from->bits, key);
}

/* ---- one member of an object without clauses ------------------------------------------------- */

/* Does an extra member of the cell leave the state as it is? */
static bool stays(const struct object_state *st, const struct cell *c) {
  return !st->first && st->count >= st->object->clamp && c->count == TSL__INF &&
         st->object->schema->options.order == TSL_ORDER_ANY;
}

static uint32_t state_after(struct schema *s, const struct object_state *from, uint32_t key,
                            uint32_t cell) {
  uint64_t room[64];
  size_t size = tsl__state_size(from->object);
  struct object_state *st = size <= sizeof room ? (void *)room : tsl__schema_alloc(s, size);
  if (!st) return UINT32_MAX;
  memcpy(st, from, size);
  st->next = st->keys = TSL__NONE;
  st->shortest = UNKNOWN;
  st->ends = 0;
  return tsl__state_take(st, key, cell) ? tsl__state_intern(s, st) : UINT32_MAX;
}

static tsl__expr extra_frame(struct schema *s, const struct object *o, struct cell *c) {
  if (c->extra == TSL__NONE) {
    tsl__expr frame = c->cases ? tsl__schema_frame(s, tsl__expr_json_string(s->x, c->cases))
                               : tsl__schema_extra(s, c, tsl__schema_member(s, c->value, o->level));
    if (!tsl__schema_ok(s)) return TSL__NONE;
    c->extra = frame;
  }
  return c->extra;
}

/* What may follow one whose value is possible. TSL__NONE: nothing. */
static tsl__expr members_after(struct schema *s, uint32_t id, uint32_t key, uint32_t cell) {
  const struct object_state *st = s->states.at[id];
  uint32_t next =
      key == UINT32_MAX && stays(st, &st->object->cells[cell]) ? id : state_after(s, st, key, cell);
  /* what a simple one needs is possible, or nobody would have entered it */
  if (next == UINT32_MAX || (!st->object->simple && !tsl__state_can_end(s->states.at[next])))
    return TSL__NONE;
  return tsl__object_next(s, next);
}

/* There is one way: its frame is the same in all states, and the state after it is all that is left
 * to find. TSL__NONE: there is none. *then: what follows the frame. */
static tsl__expr plain_step(struct schema *s, uint32_t id, uint32_t key, uint32_t cell,
                            tsl__expr *then) {
  const struct object_state *st = s->states.at[id];
  const struct object *o = st->object;
  struct cell *c = key == UINT32_MAX ? &o->cells[cell] : NULL;
  goal value = c ? c->value : o->known[key].value;
  if (!tsl__member_left(st, key, cell) || !tsl__schema_possible(s, value) ||
      (*then = members_after(s, id, key, cell)) == TSL__NONE)
    return TSL__NONE;
  return c ? extra_frame(s, o, c) : tsl__schema_member(s, value, o->level);
}

static tsl__expr plain_way(struct schema *s, uint32_t id, uint32_t key, uint32_t cell) {
  tsl__expr then = TSL__NONE, one = plain_step(s, id, key, cell, &then);
  return tsl__expr_seq(s->x, one, then);
}

/* ---- all members that may come --------------------------------------------------------------- */

static bool order_allows(const struct object_state *st, uint32_t key) {
  const struct object *o = st->object;
  if (o->schema->options.order != TSL_ORDER_SCHEMA) return true;
  uint32_t place = key == UINT32_MAX ? UINT32_MAX : o->known[key].place;
  for (uint32_t i = 0; i < o->placed_count && i < place; i++)
    if (o->known[o->placed[i]].required && !tsl__bit(st->bits, o->placed[i])) return false;
  return true;
}

/* Does taking the key, whose value is possible, leave all that was possible before? */
static bool is_free(const struct object *o, uint32_t key) {
  return o->simple || (!o->capped && o->schema->options.order == TSL_ORDER_ANY &&
                       (!o->tied || !tsl__bit(o->tied, key)));
}

static void note_sure(struct object *o, uint32_t key) {
  if (!o->sure && !(o->sure = tsl__schema_alloc(o->schema, o->words * sizeof *o->sure))) return;
  tsl__bit_set(o->sure, key);
}

static uint64_t allowed(void *ctx, uint32_t id, uint32_t word, uint64_t *allowed) {
  const struct object_state *st = ((struct schema *)ctx)->states.at[id];
  uint64_t sure = st->object->sure ? st->object->sure[word] : 0;
  *allowed = sure & ~st->bits[word];
  return sure | st->bits[word];
}

static bool allows(void *ctx, uint32_t id, uint32_t key) {
  struct schema *s = ctx;
  struct object_state *st = s->states.at[id];
  const struct object *o = st->object;
  if (tsl__bit(st->bits, key) || o->known[key].value == GOAL_NONE) return false;
  if (is_free(o, key)) {
    if (!order_allows(st, key) || !tsl__schema_possible(s, o->known[key].value)) return false;
    if (o->schema->options.order == TSL_ORDER_ANY) note_sure(st->object, key);
    return true;
  }
  return tsl__object_ways(s, st, key, UINT32_MAX, true, false).possible;
}

static tsl__expr after(tsl__exprs *x, void *ctx, uint32_t id, uint32_t key) {
  struct schema *s = ctx;
  (void)x;
  if (!s->states.at[id]->object->clause_count) return plain_way(s, id, key, UINT32_MAX);
  return tsl__object_ways(s, s->states.at[id], key, UINT32_MAX, false, false).all;
}

/* Without clauses there is one way: the value's frame, and the members that may come then. */
static bool has_one_way(const struct object *o) { return !o->clause_count && !o->styled; }

static tsl__expr calls(void *ctx, uint32_t id, uint32_t key, tsl__expr *then) {
  const struct schema *s = ctx;
  return has_one_way(s->states.at[id]->object) ? plain_step(ctx, id, key, UINT32_MAX, then)
                                               : TSL__NONE;
}

static tsl__expr begins(void *ctx, uint32_t id, uint32_t key) {
  struct schema *s = ctx;
  const struct object *o = s->states.at[id]->object;
  return has_one_way(o) ? tsl__schema_member_begins(s, o->known[key].value, o->level) : TSL__NONE;
}

static uint32_t cost_after(void *ctx, uint32_t id, uint32_t key) {
  struct schema *s = ctx;
  return tsl__object_ways(s, s->states.at[id], key, UINT32_MAX, true, true).shortest;
}

/* The fewest bytes after the opening quote over all known keys that may come. `rest`: from here to
 * the end if no more than the required come. */
static uint32_t shortest_key(struct schema *s, const struct object_state *st) {
  const struct object *o = st->object;
  const struct gaps *g = tsl__schema_gaps(s, o->level);
  uint32_t best = TSL__INF, rest = o->simple ? tsl__object_cost(o, st->bits, st->count, false) : 0;
  for (uint32_t k = 0; g && k < o->n; k++) {
    uint32_t bytes;
    if (tsl__bit(st->bits, k) || o->known[k].value == GOAL_NONE) continue;
    if (!o->simple) {
      struct member_ways m = tsl__object_ways(s, st, k, UINT32_MAX, true, true);
      bytes = tsl__add(m.shortest, tsl__object_key_length(o, k) - 1);
    } else if (!order_allows(st, k)) {
      continue;
    } else if (o->known[k].required) {
      bytes = rest - 1 - g->comma_cost; /* it is among the required: all but its comma and quote */
    } else {
      bytes = tsl__add(tsl__add(tsl__schema_shortest(s, o->known[k].value),
                                tsl__object_key_length(o, k) - 1 + g->colon_cost),
                       rest);
    }
    if (bytes < best) best = bytes;
  }
  return best;
}

static uint32_t fewest(void *ctx, uint32_t id) {
  struct schema *s = ctx;
  return shortest_key(s, s->states.at[id]);
}

static const tsl__keys_ops keys_ops = {allows, fewest, cost_after, after, calls, begins, allowed};

static tsl__expr extra(struct schema *s, uint32_t id, uint32_t cell) {
  struct object_state *st = s->states.at[id];
  const struct object *o = st->object;
  if (!order_allows(st, UINT32_MAX)) return TSL__NONE;
  if (!o->clause_count) return plain_way(s, id, UINT32_MAX, cell);
  /* in one of several ways: the name is read once for all of them */
  struct member_ways m = tsl__object_ways(s, st, UINT32_MAX, cell, false, false);
  if (m.all == TSL__NONE) return TSL__NONE;
  return tsl__expr_seq(s->x, o->cells[cell].rest,
                       tsl__expr_seq(s->x, tsl__expr_guard(s->x, TSL__NEW_NAME), m.all));
}

/* Is it known already that a key may come? */
static bool any_sure(const struct object_state *st) {
  for (uint32_t w = 0; w < st->object->words; w++)
    if (st->object->sure[w] & ~st->bits[w]) return true;
  return false;
}

/* May a known key come? */
static bool some_key(struct schema *s, uint32_t id) {
  const struct object_state *st = s->states.at[id];
  const struct object *o = st->object;
  bool some = o->sure && any_sure(st);
  for (uint32_t k = 0; k < o->n && !some && tsl__schema_ok(s); k++) some = allows(s, id, k);
  return some;
}

/* May an extra one come, in an object without clauses? */
static bool some_extra(struct schema *s, uint32_t id) {
  const struct object_state *st = s->states.at[id];
  tsl__expr then;
  if (!order_allows(st, UINT32_MAX)) return false;
  for (uint32_t c = 0; c < st->object->cell_count && tsl__schema_ok(s); c++)
    if (plain_step(s, id, UINT32_MAX, c, &then) != TSL__NONE) return true;
  return false;
}

/* Everything that may follow the opening quote of a key. */
tsl__expr tsl__object_keys(struct schema *s, uint32_t id) {
  const struct object *o = s->states.at[id]->object;
  tsl__expr all = TSL__NONE;
  if (some_key(s, id)) all = tsl__expr_keys(s->x, o->set, &keys_ops, s, id);
  for (uint32_t c = 0; c < o->cell_count && tsl__schema_ok(s); c++)
    all = tsl__expr_alt_alone(s->x, extra(s, id, c), all);
  return all;
}

/* The same as calls, of an object without clauses: one spells the known keys, the others the extra
 * ones. */
bool tsl__object_keys_calls(tsl__exprs *x, void *ctx, uint32_t id, tsl__calls *out) {
  struct schema *s = ctx;
  const struct object_state *st = s->states.at[id];
  const struct object *o = st->object;
  tsl__expr then = TSL__NONE, one;
  size_t before = out->n;
  if (o->clause_count) return false;
  if (some_key(s, id)) {
    one = tsl__expr_names(x, o->set, &keys_ops, s, id, &then);
    tsl__calls_add(x, out, one, then);
  }
  for (uint32_t c = 0; c < o->cell_count && order_allows(st, UINT32_MAX) && tsl__schema_ok(s);
       c++) {
    one = plain_step(s, id, UINT32_MAX, c, &then);
    if (one != TSL__NONE) tsl__calls_add(x, out, one, then);
  }
  return out->n > before;
}

static tsl__expr unfold_keys(tsl__exprs *x, void *ctx, uint32_t id) {
  (void)x;
  return tsl__object_keys(ctx, id);
}

static void print_keys(void *ctx, uint32_t id, char *out, size_t n) {
  (void)ctx;
  snprintf(out, n, "keys#%u", (unsigned)id);
}

static uint32_t keys_shortest(tsl__exprs *x, void *ctx, uint32_t id) {
  const struct object_state *st = ((struct schema *)ctx)->states.at[id];
  tsl__expr all = tsl__rule_body(x, tsl__node_at(x, st->keys).a);
  return all == TSL__NONE ? TSL__INF : tsl__expr_shortest(x, all);
}

static tsl__expr keys_rule(struct schema *s, uint32_t id) {
  static const tsl__rule_ops ops = {unfold_keys, print_keys, NULL, keys_shortest,
                                    tsl__object_keys_calls};
  struct object_state *st = s->states.at[id];
  if (st->keys == TSL__NONE) st->keys = tsl__expr_rule(s->x, &ops, s, id, TSL__RULE_INLINE, 1);
  return st->keys;
}

/* The same in a style that is not JSON: members one after the other, and no bracket at the end. */
static tsl__expr styled_members(struct schema *s, uint32_t id) {
  struct object_state *st = s->states.at[id];
  const struct object *o = st->object;
  tsl__expr all = TSL__NONE;
  for (uint32_t k = 0; k < o->n && tsl__schema_ok(s); k++)
    if (allows(s, id, k))
      all = tsl__expr_alt(s->x, all,
                          tsl__object_ways(s, s->states.at[id], k, UINT32_MAX, false, false).all);
  for (uint32_t c = 0; c < o->cell_count && order_allows(st, UINT32_MAX) && tsl__schema_ok(s); c++)
    all = tsl__expr_alt(s->x, all,
                        tsl__object_ways(s, s->states.at[id], UINT32_MAX, c, false, false).all);
  if (!st->first && s->style->separator)
    all = tsl__expr_seq(s->x, s->style->text(s->style->ctx, s->style->separator), all);
  return tsl__expr_alt(s->x, complete(st) ? TSL__EPS : TSL__NONE, all);
}

/* The state before the first member, which is looked up here alone; UINT32_MAX on failure. */
uint32_t tsl__object_first_state(struct object *o) {
  struct schema *s = o->schema;
  if (o->begun) return o->begun - 1;
  struct object_state *st = tsl__schema_alloc(s, tsl__state_size(o));
  if (!st) return UINT32_MAX;
  st->object = o;
  st->first = true;
  st->shortest = UNKNOWN;
  if (!tsl__vec_push(s->alloc, &s->states, st))
    return tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), UINT32_MAX;
  o->begun = (uint32_t)s->states.n;
  return o->begun - 1;
}

bool tsl__object_may_begin(struct object *o, uint32_t key, uint32_t cell) {
  struct schema *s = o->schema;
  uint32_t id = tsl__object_first_state(o), next = UINT32_MAX;
  if (id != UINT32_MAX && tsl__member_left(s->states.at[id], key, cell))
    next = state_after(s, s->states.at[id], key, cell);
  return next != UINT32_MAX && tsl__state_can_end(s->states.at[next]);
}

/* From the opening brace on; `members` follow the quote of the first key. */
tsl__expr tsl__object_braces(struct schema *s, uint32_t level, bool ends, tsl__expr members) {
  const struct gaps *g = tsl__schema_gaps(s, level);
  return g ? tsl__expr_alt(s->x, ends ? g->empty : TSL__NONE,
                           tsl__expr_seq(s->x, g->begin, members))
           : TSL__NONE;
}

tsl__expr tsl__object_body(struct object *o) {
  struct schema *s = o->schema;
  uint32_t id = tsl__object_first_state(o);
  if (id == UINT32_MAX) return TSL__NONE;
  if (o->styled) return tsl__object_next(s, id);
  return tsl__object_braces(s, o->level, complete(s->states.at[id]), tsl__object_keys(s, id));
}
