/* completion.c - can an object be completed, and how short?
 *
 * Problem   A member may be offered only if the object can still end after it. Members that are
 *           required and have values, counts and clauses together make that a small search.
 * Idea      An object's open clauses are satisfied by choosing one target each. The search is depth
 *           first and ends as soon as a choice costs no more than the required members do anyway.
 *           It is bounded by TSL__SCHEMA_SEARCH steps (an error, not a guess).
 * Branches  To choose that a branch holds is to want its clauses (choice/held.c). Those of other
 *           branches are passed by.
 * Memo      A way to the end that was found mostly leads on from the next state too (struct
 *           ending), and is tried first.
 * Example   (a absent ∨ b present) ∧ (b absent ∨ c present): after a, b must come, then c.
 * Cost      Clauses times targets for each step of the search; one step for each choice.
 * Tested by tests/schema/test_choices.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/object.h"

#include <stdlib.h>

/* A way to the end that was found: other states of the object mostly have it, too. */
struct ending {
  bool known;
  /* by known key: 0 it need not, 1 it does, and its value is possible, 2 it had come already */
  uint8_t *comes;
  /* by clause: which of its targets that hits; UINT32_MAX: it is not plain which */
  uint32_t *targets;
};

struct added { /* an extra member that a clause wants */
  uint32_t cell;
  goal value;
};

#define ALL_GROUPS UINT32_MAX

struct plan {
  const struct object *o;
  struct schema *s;
  const uint64_t *bits;
  uint32_t count, min, max;
  bool first;
  bool any; /* whatever way is found is enough: bytes say only whether there is one */
  /* by known key: 0 free, 1 must come, 2 and more: must not come, for so many reasons and one */
  uint16_t *must;
  goal *values;        /* by known key */
  struct added *added; /* room for one by clause */
  uint32_t added_count, steps, best, floor;
  uint32_t group;  /* clauses that are looked at together; ALL_GROUPS: all */
  uint8_t *wanted; /* by branch: for so many reasons its clauses must be fulfilled */
  /* what is decided as nothing else is left to fulfil a clause, one after the other */
  const struct target **forced;
  uint32_t forced_count;
};

static uint32_t value_cost(struct plan *p, goal value) {
  if (p->any) return tsl__schema_possible(p->s, value) ? 1 : TSL__INF;
  return tsl__schema_shortest(p->s, value);
}

/* Of the shortest key of a cell. */
static uint32_t key_length(struct plan *p, uint32_t cell) {
  struct cell *c = &p->o->cells[cell];
  if (c->length || p->any) return c->length ? c->length : 2;
  uint32_t length = c->all ? 2 : tsl__add(1, tsl__expr_shortest(p->s->x, c->rest));
  if (tsl__schema_ok(p->s)) c->length = length;
  return length;
}

static uint32_t member_cost(struct plan *p, uint32_t length, goal value, const struct gaps *g) {
  return tsl__add(tsl__add(length, g->colon_cost + g->comma_cost), value_cost(p, value));
}

/* Members that need not come, `left` of the same cost. */
struct offer {
  uint32_t cost, left;
};

/* Most members cost little, so that offers of such costs are counted and not sorted. */
#define CHEAP 256u

struct offers {
  uint64_t cheap[CHEAP]; /* how many of each cost */
  struct offer *others;
  uint32_t count; /* of the others */
};

static void offer(struct offers *all, uint32_t cost, uint32_t left) {
  if (cost < CHEAP)
    all->cheap[cost] += left;
  else
    all->others[all->count++] = (struct offer){cost, left};
}

static int by_cost(const void *a, const void *b) {
  uint32_t x = ((const struct offer *)a)->cost, y = ((const struct offer *)b)->cost;
  return x < y ? -1 : x > y;
}

/* What the n cheapest cost; TSL__INF: there are not so many. */
static uint32_t cheapest(struct offers *all, uint64_t n) {
  uint64_t total = 0;
  for (uint32_t cost = 0; cost < CHEAP && n; cost++) {
    uint64_t used = all->cheap[cost] < n ? all->cheap[cost] : n;
    total += used * cost;
    n -= used;
  }
  if (n && all->count) qsort(all->others, all->count, sizeof *all->others, by_cost);
  for (uint32_t i = 0; i < all->count && n && total < TSL__INF; i++) {
    uint64_t used = all->others[i].left < n ? all->others[i].left : n;
    total = all->others[i].cost == TSL__INF ? TSL__INF : total + used * all->others[i].cost;
    n -= used;
  }
  return n || total >= TSL__INF ? TSL__INF : (uint32_t)total;
}

/* How many members of the cell may still be added? */
static uint32_t left(const struct plan *p, uint32_t cell) {
  uint32_t n = tsl__cell_left(p->o, &p->o->cells[cell], p->bits);
  for (uint32_t i = 0; i < p->added_count && n != TSL__INF && n; i++) n -= p->added[i].cell == cell;
  return n;
}

/* The cheapest `n` members that need not come: extra ones as often as there are names, known ones
 * once. */
static uint32_t fill(struct plan *p, uint32_t n, const struct gaps *g) {
  const struct object *o = p->o;
  struct offers all = {.count = 0};
  size_t size = (o->n + o->cell_count + 1) * sizeof *all.others;
  if (!tsl__exprs_work(p->s->x, o->n)) return TSL__INF;
  all.others = tsl__alloc(p->s->alloc, size);
  if (!all.others)
    return tsl__schema_fail(p->s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), TSL__INF;
  for (uint32_t c = 0; c < o->cell_count; c++)
    offer(&all, member_cost(p, key_length(p, c), o->cells[c].value, g), left(p, c));
  for (uint32_t k = 0; k < o->n; k++)
    if (!tsl__bit(p->bits, k) && !p->must[k] && o->known[k].value != GOAL_NONE)
      offer(&all, member_cost(p, tsl__object_key_length(o, k), o->known[k].value, g), 1);
  uint32_t total = cheapest(&all, n);
  tsl__free(p->s->alloc, all.others, size);
  return total;
}

/* The cost of what has been decided: all members that must come, with their commas, enough others,
 * and the end. */
static uint32_t leaf(struct plan *p) {
  const struct object *o = p->o;
  const struct gaps *g = tsl__schema_gaps(p->s, o->level);
  if (!g || !tsl__exprs_work(p->s->x, o->n / 2)) return TSL__INF;
  uint32_t members = p->added_count, bytes = 1;
  for (uint32_t k = 0; k < o->n && bytes != TSL__INF; k++) {
    if (p->must[k] != 1 || tsl__bit(p->bits, k)) continue;
    members++;
    bytes = tsl__add(bytes, member_cost(p, tsl__object_key_length(o, k), p->values[k], g));
  }
  for (uint32_t i = 0; i < p->added_count; i++)
    bytes = tsl__add(bytes, member_cost(p, key_length(p, p->added[i].cell), p->added[i].value, g));
  if (bytes == TSL__INF) return TSL__INF;
  uint32_t total = p->count + members;
  if (total < p->min) {
    bytes = tsl__add(bytes, fill(p, p->min - total, g));
    members += p->min - total;
    total = p->min;
  }
  if (total > p->max || bytes == TSL__INF) return TSL__INF;
  if (!p->first) return tsl__add(bytes, g->close_cost);
  if (!members) return bytes; /* {} */
  return tsl__add(bytes, g->close_cost) - g->comma_cost + g->first_cost;
}

static void search(struct plan *p, const uint64_t *done);

static void with_key(struct plan *p, const uint64_t *done, uint32_t k, lit l) {
  if (tsl__bit(p->bits, k) || p->must[k] >= 2 || tsl__schema_excludes(p->s, p->values[k], l))
    return;
  uint16_t must = p->must[k];
  goal value = p->values[k];
  p->must[k] = 1;
  p->values[k] = tsl__schema_goal_and(p->s, value, &l, 1);
  if (p->values[k] != GOAL_NONE && value_cost(p, p->values[k]) != TSL__INF) search(p, done);
  p->must[k] = must;
  p->values[k] = value;
}

static void with_cell(struct plan *p, const uint64_t *done, uint32_t c, lit l) {
  for (uint32_t i = 0; i < p->added_count; i++) { /* one that comes anyway */
    if (p->added[i].cell != c) continue;
    goal value = p->added[i].value;
    p->added[i].value = tsl__schema_goal_and(p->s, value, &l, 1);
    if (p->added[i].value != GOAL_NONE && value_cost(p, p->added[i].value) != TSL__INF)
      search(p, done);
    p->added[i].value = value;
  }
  goal value = left(p, c) ? tsl__schema_goal_and(p->s, p->o->cells[c].value, &l, 1) : GOAL_NONE;
  if (value == GOAL_NONE || value_cost(p, value) == TSL__INF) return;
  p->added[p->added_count++] = (struct added){c, value};
  search(p, done);
  p->added_count--;
}

/* Has nothing been decided about a member's value? Then no target is plainly excluded, nor hit by a
 * required member: the clauses were made without those. */
static bool undecided(const struct plan *p, uint32_t k) {
  return p->values[k] == p->o->known[k].value;
}

static bool is_open(const struct plan *p, const struct clause *c, const struct target *t);

/* May all clauses of the branch still be fulfilled? */
static bool branch_open(const struct plan *p, uint32_t branch) {
  const struct object *o = p->o;
  const struct branch_clauses *all = &o->branches[branch];
  for (uint32_t i = all->from; i < all->from + all->n; i++) {
    const struct clause *c = &o->clauses[i];
    uint32_t j = 0;
    if (tsl__clause_done(o, p->bits, i)) continue;
    while (j < c->n && !is_open(p, c, &c->targets[j])) j++;
    if (j == c->n) return false;
  }
  return true;
}

/* May what has been decided still come to fulfil the target? Recursion is as deep as branches stand
 * inside branches (choice/clause.c). */
static bool is_open(const struct plan *p, const struct clause *c, const struct target *t) {
  for (uint32_t i = 0; t->kind == ATOM_NONE && i < t->count; i++)
    if (p->must[t->list[i]] == 1 && !tsl__bit(p->bits, t->list[i])) return false;
  if (t->kind == ATOM_NONE) return !tsl__clause_spoilt(p->o, p->bits, c);
  if (t->kind == ATOM_HOLDS) return p->wanted[t->count] || branch_open(p, t->count);
  if (t->kind == ATOM_ABSENT) return !tsl__bit(p->bits, t->key) && p->must[t->key] != 1;
  if (t->kind != ATOM_KEY) return true;
  return !tsl__bit(p->bits, t->key) && p->must[t->key] < 2 &&
         (undecided(p, t->key) || !tsl__schema_excludes(p->s, p->values[t->key], t->l));
}

/* Keys that are not to come, for one reason more or less. */
static void keep_away(struct plan *p, const struct target *t, int reasons) {
  uint32_t n;
  const uint32_t *list = tsl__target_bars(t, &n);
  for (uint32_t i = 0; i < n; i++)
    if (!tsl__bit(p->bits, list[i])) p->must[list[i]] = (uint16_t)(p->must[list[i]] + 2 * reasons);
}

/* Keys that have come or, with order `schema`, can't any more say nothing: it is known whether that
 * spoilt the clause. */
static void with_none(struct plan *p, const uint64_t *done, const struct target *t) {
  keep_away(p, t, 1);
  search(p, done);
  keep_away(p, t, -1);
}

static void with_target(struct plan *p, const uint64_t *done, const struct clause *clause,
                        const struct target *t) {
  uint32_t min = p->min, max = p->max;
  switch (t->kind) {
  case ATOM_ABSENT:
    if (tsl__bit(p->bits, t->key) || p->must[t->key] == 1) return;
    with_none(p, done, t);
    return;
  case ATOM_KEY: with_key(p, done, t->key, t->l); return;
  case ATOM_NONE:
    if (is_open(p, clause, t)) with_none(p, done, t);
    return;
  case ATOM_HOLDS:
    if (p->wanted[t->count] == UINT8_MAX || !is_open(p, clause, t)) return;
    p->wanted[t->count]++;
    search(p, done);
    p->wanted[t->count]--;
    return;
  case ATOM_PATTERN:
    for (uint32_t c = 0; c < p->o->cell_count; c++)
      if (tsl__bit(t->cells, c)) with_cell(p, done, c, t->l);
    for (uint32_t k = 0; k < p->o->n; k++)
      if (tsl__bit(t->keys, k)) with_key(p, done, k, t->l);
    return;
  default:
    if (t->kind == ATOM_MIN && t->count > min) p->min = t->count;
    if (t->kind == ATOM_MAX && t->count < max) p->max = t->count;
    search(p, done);
    p->min = min;
    p->max = max;
  }
}

/* Does what has been decided fulfil the target? Then nothing else needs to be tried. */
static bool holds(const struct plan *p, const struct clause *c, const struct target *t) {
  for (uint32_t i = 0; t->kind == ATOM_NONE && i < t->count; i++)
    if (p->must[t->list[i]] < 2 && !tsl__bit(p->bits, t->list[i])) return false;
  if (t->kind == ATOM_NONE) return !tsl__clause_spoilt(p->o, p->bits, c);
  if (t->kind == ATOM_ABSENT) return !tsl__bit(p->bits, t->key) && p->must[t->key] >= 2;
  if (t->kind == ATOM_HOLDS) return p->wanted[t->count];
  if (t->kind == ATOM_MIN) return p->min >= t->count;
  if (t->kind == ATOM_MAX) return p->max <= t->count;
  if (t->kind != ATOM_KEY || tsl__bit(p->bits, t->key) || p->must[t->key] != 1 ||
      (undecided(p, t->key) && p->o->known[t->key].required))
    return false;
  return tsl__schema_implies(p->s, p->values[t->key], t->l);
}

static bool fulfilled(const struct plan *p, const struct clause *c) {
  for (uint32_t j = 0; j < c->n; j++)
    if (holds(p, c, &c->targets[j])) return true;
  return false;
}

/* How many targets are open; *only: the last of them. */
static uint32_t open_targets(const struct plan *p, const struct clause *c,
                             const struct target **only) {
  uint32_t n = 0;
  for (uint32_t j = 0; j < c->n; j++)
    if (is_open(p, c, &c->targets[j])) n++, *only = &c->targets[j];
  return n;
}

/* Nothing else is left to fulfil a clause: keys stay away. False: there is more to decide. */
static bool force(struct plan *p, const struct target *only) {
  if (only->kind != ATOM_ABSENT && only->kind != ATOM_NONE) return false;
  keep_away(p, only, 1);
  p->forced[p->forced_count++] = only;
  return true;
}

static void take_back(struct plan *p, uint32_t count) {
  while (p->forced_count > count) keep_away(p, p->forced[--p->forced_count], -1);
}

/* The clause that leaves least to choose, of those not done. Fulfilled clauses are done. So are
 * those that leave one thing to do, if that is a key that stays away. */
static uint32_t next_clause(struct plan *p, uint64_t *done) {
  uint32_t best, least, forced;
  do {
    best = p->o->clause_count;
    least = UINT32_MAX;
    forced = p->forced_count;
    for (uint32_t i = 0; i < p->o->clause_count && least > 1; i++) {
      const struct target *only = NULL;
      if (tsl__bit(done, i)) continue;
      if (p->o->clauses[i].branch && !p->wanted[p->o->clauses[i].branch - 1]) continue;
      bool settled = fulfilled(p, &p->o->clauses[i]);
      uint32_t n = settled ? 0 : open_targets(p, &p->o->clauses[i], &only);
      if (settled || (n == 1 && force(p, only))) {
        tsl__bit_set(done, i);
        continue;
      }
      if (n >= least) continue;
      least = n;
      best = i;
    }
  } while (p->forced_count != forced && least > 1 && best != p->o->clause_count);
  return best;
}

/* Keep what has been decided for the group, if that is no more than which of the known keys
 * come. */
static void keep_ending(const struct plan *p) {
  const struct object *o = p->o;
  struct ending *e = o->ending;
  e->known = e->known && !p->added_count && p->min == o->min && p->max == o->max;
  for (uint32_t k = 0; k < o->n; k++)
    if (p->must[k] == 1) e->comes[k] = tsl__bit(p->bits, k) ? 2 : 1;
  for (uint32_t i = 0; i < o->clause_count; i++) {
    const struct clause *c = &o->clauses[i];
    if (p->group != ALL_GROUPS && o->groups[i] != p->group) continue;
    e->targets[i] = UINT32_MAX;
    for (uint32_t j = 0; j < c->n && e->targets[i] == UINT32_MAX; j++)
      if ((c->targets[j].kind == ATOM_ABSENT || c->targets[j].kind == ATOM_KEY ||
           c->targets[j].kind == ATOM_NONE || c->targets[j].kind == ATOM_HOLDS) &&
          holds(p, c, &c->targets[j]))
        e->targets[i] = j;
  }
}

/* Likely to cost nothing: something stays away, or comes anyway. */
static bool cheap(const struct plan *p, const struct target *t) {
  return t->kind == ATOM_ABSENT || t->kind == ATOM_NONE || t->kind == ATOM_MAX ||
         (t->kind == ATOM_KEY && p->must[t->key] == 1);
}

static void search_on(struct plan *p, uint64_t *done);

/* Branch and bound; recursion is bounded by TSL__SCHEMA_CLAUSES. */
static void search(struct plan *p, const uint64_t *before) {
  uint64_t done[TSL__SCHEMA_CLAUSES / 64];
  uint32_t forced = p->forced_count;
  if (p->best <= p->floor || !tsl__schema_ok(p->s)) return;
  tsl__exprs_work(p->s->x, 8 + p->o->n);
  if (++p->steps > TSL__SCHEMA_SEARCH) {
    tsl__schema_fail(p->s, TSL_ERR_LIMIT, NULL,
                     "the constraints on one object are too entangled: %u steps of search",
                     TSL__SCHEMA_SEARCH);
    return;
  }
  memcpy(done, before, p->o->clause_words * sizeof *done);
  search_on(p, done);
  take_back(p, forced);
}

static void search_on(struct plan *p, uint64_t *done) {
  uint32_t clause = next_clause(p, done);
  bool last = clause == p->o->clause_count;
  /* choices that are still open only add to it */
  uint32_t bytes = last || !p->any || p->max != TSL__INF ? leaf(p) : 0;
  if (bytes >= p->best) return;
  if (last) {
    p->best = bytes;
    if (p->any) keep_ending(p);
    return;
  }
  const struct clause *c = &p->o->clauses[clause];
  tsl__bit_set(done, clause);
  for (int first = 1; first >= 0; first--)
    for (uint32_t j = 0; j < c->n; j++)
      if (cheap(p, &c->targets[j]) == (first == 1)) with_target(p, done, c, &c->targets[j]);
}

/* All clauses, group by group: what one group adds to the members that must come anyway does not
 * depend on the others. */
static void search_groups(struct plan *p, const uint64_t *before) {
  const struct object *o = p->o;
  uint64_t done[TSL__SCHEMA_CLAUSES / 64];
  const struct gaps *g = tsl__schema_gaps(p->s, o->level);
  bool first = p->first;
  uint32_t floor = p->floor;
  p->first = false;
  uint32_t anyway = leaf(p), total = anyway;
  if (!p->any) p->floor = anyway;
  for (uint32_t i = 0; i < o->group_count && total != TSL__INF && tsl__schema_ok(p->s); i++) {
    p->best = TSL__INF;
    p->group = i;
    memcpy(done, before, o->clause_words * sizeof *done);
    for (uint32_t c = 0; c < o->clause_count; c++)
      if (o->groups[c] != i) tsl__bit_set(done, c);
    search(p, done);
    total = p->best == TSL__INF ? TSL__INF : tsl__add(total, p->best - anyway);
  }
  p->first = first;
  if (first && g && total != TSL__INF)
    total = total == anyway ? floor : total - g->comma_cost + g->first_cost;
  p->best = total;
}

/* The fewest bytes, or, of the ways to the end, those of the one that is found first. */
static uint32_t find_way(const struct object *o, const uint64_t *bits, uint32_t count, bool first,
                         bool any) {
  struct plan p = {.o = o,
                   .s = o->schema,
                   .bits = bits,
                   .count = count,
                   .min = o->min,
                   .max = o->max,
                   .first = first,
                   .any = any && !o->schema->measuring,
                   .best = TSL__INF,
                   .group = ALL_GROUPS};
  size_t size = o->clause_count * (sizeof *p.forced + sizeof *p.added) +
                o->n * (sizeof(goal) + sizeof *p.must) + o->branch_count;
  uint64_t room[128];
  void *block = size <= sizeof room ? room : tsl__alloc(o->schema->alloc, size);
  if (!block)
    return tsl__schema_fail(o->schema, TSL_ERR_NO_MEMORY, NULL, "out of memory"), TSL__INF;
  p.forced = block;
  p.added = (struct added *)(p.forced + o->clause_count);
  p.values = (goal *)(p.added + o->clause_count);
  p.must = (uint16_t *)(p.values + o->n);
  p.wanted = (uint8_t *)(p.must + o->n);
  if (o->branch_count) memset(p.wanted, 0, o->branch_count);
  for (uint32_t k = 0; k < o->n; k++) {
    p.values[k] = o->known[k].value;
    p.must[k] = o->known[k].required ? 1 : o->known[k].value == GOAL_NONE ? 2 : 0;
  }
  struct ending *ending = p.any && o->clause_count ? o->ending : NULL;
  p.floor = leaf(&p);
  if (any && p.floor != TSL__INF) p.floor = TSL__INF - 1; /* whatever is found is enough */
  if (ending) memset(ending->comes, 0, o->n);
  if (ending) ending->known = true;
  if (!o->clause_count)
    p.best = p.floor;
  else if (o->groups)
    search_groups(&p, bits + o->done);
  else
    search(&p, bits + o->done);
  if (ending && p.best == TSL__INF) ending->known = false;
  if (block != room) tsl__free(o->schema->alloc, block, size);
  return p.best;
}

/* Is the target hit where the `left` required members come, and no others? */
static bool hit_by_required(const struct object *o, const uint64_t *bits, uint32_t count,
                            uint32_t left, const struct clause *c, const struct target *t);

/* Is each clause of the branch hit then? */
static bool branch_hit(const struct object *o, const uint64_t *bits, uint32_t count, uint32_t left,
                       uint32_t branch) {
  const struct branch_clauses *all = &o->branches[branch];
  for (uint32_t i = all->from; i < all->from + all->n; i++) {
    bool hit = tsl__clause_done(o, bits, i);
    for (uint32_t j = 0; j < o->clauses[i].n && !hit; j++)
      hit = hit_by_required(o, bits, count, left, &o->clauses[i], &o->clauses[i].targets[j]);
    if (!hit) return false;
  }
  return true;
}

static bool hit_by_required(const struct object *o, const uint64_t *bits, uint32_t count,
                            uint32_t left, const struct clause *c, const struct target *t) {
  /* the other kinds name no key */
  const struct known *k = t->kind == ATOM_ABSENT || t->kind == ATOM_KEY ? &o->known[t->key] : NULL;
  if (k && bits && tsl__bit(bits, t->key)) return false;
  switch (t->kind) {
  case ATOM_ABSENT: return !k->required;
  case ATOM_KEY: return k->required && tsl__schema_implies(o->schema, k->value, t->l);
  case ATOM_MIN: return count + left >= t->count;
  case ATOM_MAX: return count + left <= t->count;
  case ATOM_NONE: return !tsl__clause_spoilt(o, bits, c);
  case ATOM_HOLDS: return branch_hit(o, bits, count, left, t->count);
  default: return false;
  }
}

/* Is it plain that the required members that are left, and no others, bring the object to its end?
 * `bits` NULL: none has come. */
static bool required_suffice(const struct object *o, const uint64_t *bits, uint32_t count) {
  uint32_t left = 0;
  for (uint32_t k = 0; k < o->n; k++) left += o->known[k].required && !(bits && tsl__bit(bits, k));
  if (count + left < o->min || count + left > o->max) return false;
  for (uint32_t i = 0; i < o->clause_count; i++) {
    bool hit = o->clauses[i].branch || tsl__clause_done(o, bits, i);
    for (uint32_t j = 0; j < o->clauses[i].n && !hit; j++)
      hit = hit_by_required(o, bits, count, left, &o->clauses[i], &o->clauses[i].targets[j]);
    if (!hit) return false;
  }
  for (uint32_t k = 0; k < o->n; k++)
    if (o->known[k].required && !(bits && tsl__bit(bits, k)) &&
        !tsl__schema_possible(o->schema, o->known[k].value))
      return false;
  return true;
}

uint32_t tsl__object_cost(const struct object *o, const uint64_t *bits, uint32_t count,
                          bool first) {
  return find_way(o, bits, count, first, false);
}

static bool ending_new(struct object *o) {
  struct ending *e =
      tsl__schema_alloc(o->schema, sizeof *e + o->clause_count * sizeof *e->targets + o->n);
  if (!e) return false;
  e->targets = (uint32_t *)(void *)(e + 1);
  e->comes = (uint8_t *)(e->targets + o->clause_count);
  o->ending = e;
  return true;
}

/* Can the members that have come not have kept clause i from being hit as it was? */
static bool is_left(const struct object *o, const uint64_t *bits, uint32_t i) {
  const struct clause *c = &o->clauses[i];
  const struct target *t;
  if (tsl__clause_done(o, bits, i)) return true;
  if (o->ending->targets[i] == UINT32_MAX) return false;
  t = &c->targets[o->ending->targets[i]];
  if (t->kind != ATOM_HOLDS)
    return t->kind == ATOM_NONE ? !tsl__clause_spoilt(o, bits, c) : !tsl__bit(bits, t->key);
  const struct branch_clauses *all = &o->branches[t->count];
  for (uint32_t j = all->from; j < all->from + all->n; j++)
    if (!is_left(o, bits, j)) return false;
  return true;
}

/* Does the way that was found last lead on from here? */
static bool ends_alike(const struct object *o, const uint64_t *bits, uint32_t count) {
  const struct ending *e = o->ending;
  if (!e || !e->known) return false;
  for (uint32_t k = 0; k < o->n; k++) {
    if (!e->comes[k] || tsl__bit(bits, k)) continue;
    if (e->comes[k] == 2) return false;
    count++;
  }
  if (count < o->min || count > o->max) return false;
  for (uint32_t i = 0; i < o->clause_count; i++)
    if (!o->clauses[i].branch && !is_left(o, bits, i)) return false;
  return true;
}

bool tsl__object_ends(struct object *o, const uint64_t *bits, uint32_t count, bool first) {
  bool measured = o->schema->measuring;
  if (!measured && (required_suffice(o, bits, count) || ends_alike(o, bits, count))) return true;
  if (!measured && o->clause_count && !o->ending && !ending_new(o)) return false;
  return find_way(o, bits, count, first, true) != TSL__INF;
}

#define FEW_WORDS 16u /* that need no memory */

/* The bits of an object's state before its first member: `room`, of FEW_WORDS words, or memory that
 * tsl__free wants back. */
static uint64_t *no_members(const struct object *o, uint64_t *room) {
  uint32_t words = o->words + o->counted;
  uint64_t *bits = words <= FEW_WORDS ? memset(room, 0, FEW_WORDS * sizeof *room)
                                      : tsl__alloc_zero(o->schema->alloc, words * sizeof *bits);
  if (!bits) tsl__schema_fail(o->schema, TSL_ERR_NO_MEMORY, NULL, "out of memory");
  return bits;
}

static void free_bits(const struct object *o, uint64_t *bits, const uint64_t *room) {
  if (bits != room) tsl__free(o->schema->alloc, bits, (o->words + o->counted) * sizeof *bits);
}

uint32_t tsl__object_shortest(const struct object *o) {
  uint64_t room[FEW_WORDS], *bits = no_members(o, room);
  if (!bits) return TSL__INF;
  uint32_t bytes = tsl__add(1, tsl__object_cost(o, bits, 0, true));
  free_bits(o, bits, room);
  return bytes;
}

void tsl__schema_ask_of(struct schema *s, goal value, lit l) {
  if (value != GOAL_NONE && !tsl__schema_excludes(s, value, l))
    tsl__schema_goal_and(s, value, &l, 1);
}

void tsl__object_goals_wanted(const struct object *o) {
  for (uint32_t i = 0; i < o->clause_count; i++)
    for (const struct target *t = o->clauses[i].targets;
         t < o->clauses[i].targets + o->clauses[i].n && tsl__schema_ok(o->schema); t++) {
      if (t->kind == ATOM_KEY) tsl__schema_ask_of(o->schema, o->known[t->key].value, t->l);
      /* a value that leaves the branch behind (choice/ways.c) */
      if (t->kind == ATOM_KEY && o->clauses[i].branch)
        tsl__schema_ask_of(o->schema, o->known[t->key].value, t->l ^ 1);
      if (t->kind != ATOM_PATTERN) continue;
      for (uint32_t c = 0; c < o->cell_count; c++)
        if (tsl__bit(t->cells, c)) tsl__schema_ask_of(o->schema, o->cells[c].value, t->l);
      for (uint32_t k = 0; k < o->n; k++)
        if (tsl__bit(t->keys, k)) tsl__schema_ask_of(o->schema, o->known[k].value, t->l);
    }
}

/* Is there a way to the end, by what may be known without its length? While a schema is compiled
 * only members that must come are looked at. Where more is demanded the fewest bytes decide. That
 * opens all that may be demanded of members: so the compile finds what is not supported. */
bool tsl__object_has_needs(struct object *o) {
  if (o->simple || o->schema->text) return o->simple && required_suffice(o, NULL, 0);
  uint64_t room[FEW_WORDS], *bits = no_members(o, room);
  if (!bits) return false;
  bool ends = tsl__object_ends(o, bits, 0, true);
  free_bits(o, bits, room);
  return ends;
}

bool tsl__object_possible(struct schema *s, struct object *o) {
  return (!tsl__schema_nests(s) && tsl__object_has_needs(o)) || tsl__object_shortest(o) != TSL__INF;
}
