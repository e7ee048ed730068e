/* ways.c - in which ways a member can come, where clauses look at its value.
 *
 * Problem   A clause is fulfilled by a member's value, or by another member later. When a key
 *           comes, it has to be decided which of the open clauses its value fulfils. That is part
 *           of what the value must satisfy, and of the state after it.
 * Idea      Go through the open clauses that the member can fulfil. For each, the value satisfies
 *           the clause's lit, or it does not. Each combination that has a value is a way: a frame
 *           for the value, and the state after it. What the lits so far imply is not demanded
 *           again.
 * Example   Two clauses, "a is 1, or b is there" and "a is a string, or c is there". When a comes
 *           there are three ways. It is 1 and fulfils the first clause, or it is a string and
 *           fulfils the second. Or it is something else and leaves both to b and c.
 * Needed    Sometimes only a branch is left to fulfil a clause. That branch must hold, so what it
 *           asks of the value is decided before all else. Where a member of one of 60 branches has
 *           come already, that leaves one way of 60.
 * Distinct  Where the negation of a lit is cheap, a value that leaves a clause open must not
 *           satisfy it. So no two ways take the same value, and a text is in one state. In a clause
 *           of a branch (held.c) that is done for every lit, as there are many of those.
 * Cost      One goal for each way; at most OPTIONS_MAX ways. A clause that is implied, or hopeless,
 *           doubles nothing.
 * Tested by tests/schema/test_choices.c, tests/schema/test_oneof.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/object.h"

#define OPTIONS_MAX 1024u /* ways in which one member can fulfil open clauses */

struct member {
  struct schema *s;
  const struct object_state *from;
  uint32_t key, cell; /* one of them is UINT32_MAX */
  bool ask_only;      /* stop at the first way */
  bool measure;       /* `shortest` is wanted */
  bool possible;
  tsl__expr all; /* the ways so far */
  uint32_t ways, shortest;
  lit *lits;      /* at most three for a clause */
  lit *declined;  /* one for a clause: that would have fulfilled it further out */
  uint64_t *done; /* clauses that the way fulfils; those of take_needed, that all ways do */
  uint32_t lit_count, declined_count;
  /* so many of the lits are more than any value can satisfy; UINT32_MAX: not that it is known */
  uint32_t hopeless;
};

/* The value of a member that satisfies the first n lits. */
static goal value_of(const struct member *m, uint32_t n) {
  const struct object *o = m->from->object;
  goal base = m->key != UINT32_MAX ? o->known[m->key].value : o->cells[m->cell].value;
  return tsl__schema_goal_and(m->s, base, m->lits, n);
}

/* No value satisfies the lits. What if fewer of them were demanded, as will be next? */
static void find_hopeless(struct member *m) {
  if (m->s->measuring) return; /* what is demanded may turn out to be possible yet */
  m->hopeless = m->lit_count;
  while (m->hopeless && tsl__schema_ok(m->s) &&
         !tsl__schema_possible(m->s, value_of(m, m->hopeless - 1)))
    m->hopeless--;
}

/* A way is decided: its value and the state after it. */
static void finish_way(struct member *m) {
  struct schema *s = m->s;
  const struct object *o = m->from->object;
  uint64_t room[64];
  size_t size = tsl__state_size(o);
  struct object_state *st = size <= sizeof room ? (void *)room : tsl__schema_alloc(s, size);
  goal value = value_of(m, m->lit_count);
  uint32_t bytes = m->measure                       ? tsl__schema_shortest(s, value)
                   : tsl__schema_possible(s, value) ? 0
                                                    : TSL__INF;
  if (bytes == TSL__INF) find_hopeless(m);
  if (!st || bytes == TSL__INF) return;
  memcpy(st, m->from, size);
  st->next = st->keys = TSL__NONE;
  st->shortest = UNKNOWN;
  st->ends = 0;
  for (uint32_t w = 0; w < o->clause_words; w++) st->bits[o->done + w] |= m->done[w];
  if (!tsl__state_take(st, m->key, m->cell)) return;
  tsl__branches_tidy(o, st->bits);
  /* with clauses the cost is a search, and worth remembering */
  uint32_t id = o->clause_count || !m->ask_only ? tsl__state_intern(s, st) : UINT32_MAX;
  if (id == UINT32_MAX && !tsl__schema_ok(s)) return;
  struct object_state *then = id == UINT32_MAX ? st : s->states.at[id];
  /* what a simple one needs is possible, or nobody would have entered it */
  uint32_t rest = m->measure                              ? tsl__state_cost(then)
                  : o->simple || tsl__state_can_end(then) ? 0
                                                          : TSL__INF;
  if (rest == TSL__INF) return;
  const struct gaps *g = tsl__schema_gaps(s, o->level);
  if (!g) return;
  m->possible = true;
  bytes = tsl__add(tsl__add(bytes, rest), g->colon_cost);
  if (bytes < m->shortest) m->shortest = bytes;
  if (m->ask_only) return;
  if (++m->ways > OPTIONS_MAX) {
    tsl__exprs_fail(s->x, TSL_ERR_LIMIT,
                    "a member can fulfil open constraints in more than 1024 ways");
    return;
  }
  tsl__expr one = o->styled ? tsl__schema_styled_member(s, o, m->key, m->cell, value)
                            : tsl__schema_member(s, value, o->level);
  m->all = tsl__expr_alt(s->x, m->all, tsl__expr_seq(s->x, one, tsl__object_next(s, id)));
}

static bool fits(const struct member *m, const struct target *t) {
  if (t->kind == ATOM_KEY) return t->key == m->key;
  if (t->kind != ATOM_PATTERN) return false;
  return m->key != UINT32_MAX ? tsl__bit(t->keys, m->key) : tsl__bit(t->cells, m->cell);
}

static bool among(const lit *lits, uint32_t n, lit l) {
  for (uint32_t i = 0; i < n; i++)
    if (lits[i] == l) return true;
  return false;
}

/* What the way asks for so far says of a lit. */
typedef enum verdict { OPEN, HOLDS, FAILS } verdict;

/* Mostly the last lit that was added says it, whichever it is. */
static verdict verdict_on(const struct member *m, goal base, lit l) {
  for (uint32_t i = m->lit_count; i-- > 0;) {
    tsl__exprs_work(m->s->x, 1);
    if (tsl__schema_lit_implies(m->s, m->lits[i], l)) return HOLDS;
    if (tsl__schema_lit_implies(m->s, m->lits[i], l ^ 1)) return FAILS;
  }
  for (unsigned fails = 0; fails < 2; fails++) {
    tsl__exprs_work(m->s->x, m->lit_count);
    if (tsl__schema_implies(m->s, base, l ^ fails) ||
        tsl__schema_rest_implies(m->s, base, m->lits, m->lit_count, l ^ fails))
      return fails ? FAILS : HOLDS;
  }
  return OPEN;
}

/* Is this member the last by which the clause can be fulfilled? To leave it open then, clause by
 * clause, is to go 2^n ways that all end nowhere. */
static bool last_chance(const struct member *m, const struct clause *c) {
  if (c->branch) return false; /* the branch may do without */
  for (uint32_t j = 0; j < c->n; j++) {
    const struct target *t = &c->targets[j];
    if (t->kind == ATOM_NONE &&
        (tsl__target_lists(t, m->key) || tsl__clause_spoilt(m->from->object, m->from->bits, c)))
      continue;
    if (t->kind != ATOM_ABSENT && t->kind != ATOM_KEY) return false;
    if (t->key != m->key && !tsl__bit(m->from->bits, t->key)) return false;
  }
  return true;
}

/* Is clause i fulfilled, or is it another member that may fulfil it? */
static bool leaves_open(const struct member *m, uint32_t i) {
  const struct clause *c = &m->from->object->clauses[i];
  if (tsl__clause_done(m->from->object, m->from->bits, i) || tsl__bit(m->done, i) ||
      (c->branch && tsl__branch_dead(m->from->object, m->from->bits, c->branch - 1)))
    return true;
  for (uint32_t j = 0; j < c->n; j++)
    if (fits(m, &c->targets[j])) return false;
  return !last_chance(m, c);
}

/* Clauses from `i` on: fulfilled by this member or not. Recursion is bounded by
 * TSL__SCHEMA_CLAUSES. A lit that was declined is not picked up again for a later clause. There is
 * at least as much room where it is picked up at once, and the later clause fulfilled with it.
 * Where that is cheap the value must not satisfy it then. So no two ways take the same value, and a
 * text is in one state and not in one of each 2^n. */
static void ways(struct member *m, uint32_t i) {
  const struct object *o = m->from->object;
  if ((m->ask_only && m->possible && (!m->measure || m->shortest == 0)) || !tsl__schema_ok(m->s))
    return;
  while (i < o->clause_count && leaves_open(m, i)) i++;
  if (i >= o->clause_count) {
    finish_way(m);
    return;
  }
  const struct clause *c = &o->clauses[i];
  const goal base = m->key != UINT32_MAX ? o->known[m->key].value : o->cells[m->cell].value;
  const uint32_t declined = m->declined_count, lits_before = m->lit_count;
  bool decided = false;
  for (uint32_t j = 0; j < c->n && !decided; j++) {
    lit l = c->targets[j].l;
    if (!fits(m, &c->targets[j]) || among(m->declined, m->declined_count, l)) continue;
    verdict is = verdict_on(m, base, l);
    bool holds = is == HOLDS;
    if (is == FAILS) continue;
    if (!holds) m->lits[m->lit_count++] = l;
    tsl__bit_set(m->done, i);
    ways(m, i + 1);
    m->done[i >> 6] &= ~((uint64_t)1 << (i & 63));
    if (!holds) m->lit_count--;
    /* no need to look at ways in which it does not count, or at more that begin like this */
    decided = holds || m->lit_count >= m->hopeless;
    if (decided) continue;
    m->hopeless = UINT32_MAX;
    if (m->lit_count < 2 * o->clause_count && (c->branch || tsl__schema_denies(m->s, l)))
      m->lits[m->lit_count++] = l ^ 1;
    else if (m->declined_count < o->clause_count)
      m->declined[m->declined_count++] = l;
  }
  if (!decided && !last_chance(m, c)) ways(m, i + 1);
  m->declined_count = declined;
  m->lit_count = lits_before;
}

/* A branch that must hold: where nothing but this member's value is left to fulfil a clause of it,
 * the value does. False: no value will do. */
static bool take_branch(struct member *m, uint32_t branch) {
  const struct object *o = m->from->object;
  const goal base = o->known[m->key].value;
  for (uint32_t i = o->branches[branch].from; i < o->branches[branch].from + o->branches[branch].n;
       i++) {
    const struct clause *c = &o->clauses[i];
    const struct target *own = NULL;
    uint32_t left = 0;
    if (tsl__clause_done(o, m->from->bits, i) || tsl__bit(m->done, i)) continue;
    for (uint32_t j = 0; j < c->n; j++)
      if (fits(m, &c->targets[j]))
        own = &c->targets[j], left++;
      else
        left += !tsl__target_gone(o, m->from->bits, c, &c->targets[j], m->key);
    if (!own || left > 1) continue;
    verdict is = verdict_on(m, base, own->l);
    if (is == FAILS) return false;
    if (is == OPEN) m->lits[m->lit_count++] = own->l;
    tsl__bit_set(m->done, i);
  }
  return true;
}

/* The branches that must hold once the key has come, as nothing else is left to fulfil some clause.
 * What they ask of its value is decided first. False: no value will do. */
static bool take_needed(struct member *m) {
  const struct object *o = m->from->object;
  for (uint32_t i = 0; i < o->clause_count && o->branch_count; i++) {
    const struct clause *c = &o->clauses[i];
    const struct target *only = NULL;
    uint32_t left = 0;
    if (c->branch || tsl__clause_done(o, m->from->bits, i)) continue;
    for (uint32_t j = 0; j < c->n && left < 2; j++)
      if (fits(m, &c->targets[j]) || !tsl__target_gone(o, m->from->bits, c, &c->targets[j], m->key))
        only = &c->targets[j], left++;
    if (left == 1 && only->kind == ATOM_HOLDS && !take_branch(m, only->count)) return false;
  }
  return tsl__schema_ok(m->s);
}

#define FEW_CLAUSES 64u /* that need no memory */

static void look_through(struct member *m) {
  const uint32_t n = m->from->object->clause_count;
  const size_t size =
      (size_t)n * 4 * sizeof(lit) + m->from->object->clause_words * sizeof(uint64_t);
  uint64_t done[FEW_CLAUSES / 64] = {0}, *more = NULL;
  lit few[4 * FEW_CLAUSES];
  m->done = done;
  m->lits = few;
  if (n > FEW_CLAUSES) {
    m->done = more = tsl__alloc_zero(m->s->alloc, size);
    if (!more) {
      tsl__schema_fail(m->s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
      return;
    }
    m->lits = (lit *)(m->done + m->from->object->clause_words);
  }
  m->declined = m->lits + 3 * (size_t)n;
  if (m->key == UINT32_MAX || take_needed(m)) ways(m, 0);
  tsl__free(m->s->alloc, more, size);
}

struct member_ways tsl__object_ways(struct schema *s, const struct object_state *from, uint32_t key,
                                    uint32_t cell, bool ask_only, bool measure) {
  struct member m = {.s = s,
                     .from = from,
                     .key = key,
                     .cell = cell,
                     .ask_only = ask_only,
                     .measure = measure || tsl__schema_nests(s),
                     .shortest = TSL__INF,
                     .hopeless = UINT32_MAX};
  if (tsl__member_left(from, key, cell) &&
      (key == UINT32_MAX || !tsl__key_barred(from->object, from->bits, key)))
    look_through(&m);
  return (struct member_ways){m.possible, m.shortest, m.all};
}
