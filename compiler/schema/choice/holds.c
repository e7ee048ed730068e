/* holds.c - branches of a choice, as an object has them: which of them can still hold.
 *
 * Problem   Clauses of branches (held.c) need not be fulfilled. An object must know when a branch
 *           is out of reach, or members would be offered after which nothing can end.
 * Idea      A branch is a range of the object's clauses, and out of reach as soon as one of them is
 *           hopeless. A clause is hopeless if it is not fulfilled, and all keys that it names have
 *           passed. The state needs no bit for that. The bits of the branch's other clauses have no
 *           meaning then. They are cleared, so that states which differ in them alone are one.
 * When made Targets that are plain when the object is made are dropped. A branch without clauses
 *           holds. A branch with a clause that cannot be fulfilled never holds. If a branch has to
 *           hold, its clauses become the object's own.
 * Example   {"k": 1} was read, and branch B has the clauses (k absent ∨ k is 2) and (c absent ∨ c
 *           is a string). The first is hopeless, so B is out of reach, whatever c will be.
 * Cost      The clauses of a branch, with their targets. Branches inside of branches are looked
 *           through, as deep as clause.c goes into combinations.
 * Tested by tests/schema/test_choices.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/object.h"

/* ---- when the object is made ----------------------------------------------------------------- */

uint32_t tsl__maker_branch(struct maker *m, const struct held_branch *h) {
  for (uint32_t i = 0; i < m->branches.n; i++)
    if (m->branches.at[i] == h) return i;
  if (!tsl__vec_push(m->s->alloc, &m->branches, h)) tsl__maker_out_of_memory(m);
  return (uint32_t)m->branches.n - 1;
}

bool tsl__branches_make(struct maker *m) {
  struct object *o = m->o;
  o->branch_count = (uint32_t)m->branches.n;
  if (!o->branch_count) return true;
  o->branches = tsl__schema_alloc(m->s, o->branch_count * sizeof *o->branches);
  return o->branches != NULL;
}

void tsl__branches_look(struct object *o) {
  for (uint32_t b = 0; b < o->branch_count; b++) o->branches[b].n = 0, o->branches[b].used = false;
  for (uint32_t i = 0; i < o->clause_count && o->branch_count; i++) {
    const struct clause *c = &o->clauses[i];
    if (c->branch && !o->branches[c->branch - 1].n++) o->branches[c->branch - 1].from = i;
    for (uint32_t j = 0; j < c->n; j++)
      if (c->targets[j].kind == ATOM_HOLDS) o->branches[c->targets[j].count].used = true;
  }
}

void tsl__branch_must_hold(struct object *o, uint32_t b) {
  for (uint32_t i = 0; i < o->clause_count; i++)
    if (o->clauses[i].branch == b + 1) o->clauses[i].branch = 0;
}

/* ---- of a state ------------------------------------------------------------------------------ */

/* Can no member that is left hit the target, nor the end? */
static bool is_gone(const struct object *o, const uint64_t *bits, const struct clause *c,
                    const struct target *t) {
  switch (t->kind) {
  case ATOM_ABSENT:
  case ATOM_KEY: return tsl__bit(bits, t->key);
  case ATOM_NONE: return tsl__clause_spoilt(o, bits, c);
  case ATOM_HOLDS: return tsl__branch_dead(o, bits, t->count);
  default: return false;
  }
}

bool tsl__branch_dead(const struct object *o, const uint64_t *bits, uint32_t b) {
  const struct branch_clauses *all = &o->branches[b];
  for (uint32_t i = bits ? all->from : all->from + all->n; i < all->from + all->n; i++) {
    const struct clause *c = &o->clauses[i];
    if (tsl__clause_done(o, bits, i)) continue;
    uint32_t j = 0;
    while (j < c->n && is_gone(o, bits, c, &c->targets[j])) j++;
    if (j == c->n) return true;
  }
  return false;
}

const uint32_t *tsl__target_bars(const struct target *t, uint32_t *n) {
  *n = t->kind == ATOM_NONE ? t->count : t->kind == ATOM_ABSENT;
  return t->kind == ATOM_NONE ? t->list : &t->key;
}

/* Count the clauses against each key; or, with `fill`, write them down. */
static void list_against(struct object *o, bool fill) {
  for (uint32_t i = 0; i < o->clause_count; i++)
    for (uint32_t j = 0; j < o->clauses[i].n && !o->clauses[i].branch; j++) {
      uint32_t n;
      const uint32_t *keys = tsl__target_bars(&o->clauses[i].targets[j], &n);
      for (uint32_t k = 0; k < n; k++) {
        uint32_t *at = &o->against_from[keys[k] + 1];
        if (fill) o->against[*at] = i;
        ++*at;
      }
    }
}

/* Sorted by counting: from[key + 1] first counts, then says where the key's next one goes. */
static bool find_against(struct object *o) {
  struct schema *s = o->schema;
  uint32_t *from = o->against_from = tsl__schema_alloc(s, (o->n + 2) * sizeof *from);
  if (!from) return false;
  memset(from, 0, (o->n + 2) * sizeof *from);
  list_against(o, false);
  uint32_t sum = 0;
  for (uint32_t k = 0; k <= o->n; k++) {
    uint32_t count = from[k + 1];
    from[k + 1] = sum;
    sum += count;
  }
  o->against = tsl__schema_alloc(s, (sum + 1) * sizeof *o->against);
  if (o->against) list_against(o, true);
  return o->against != NULL;
}

bool tsl__target_gone(const struct object *o, const uint64_t *bits, const struct clause *c,
                      const struct target *t, uint32_t key) {
  return (t->kind == ATOM_ABSENT && t->key == key) || tsl__target_lists(t, key) ||
         is_gone(o, bits, c, t);
}

bool tsl__key_barred(struct object *o, const uint64_t *bits, uint32_t key) {
  if (!o->clause_count || (!o->against && !find_against(o))) return false;
  for (uint32_t i = o->against_from[key]; i < o->against_from[key + 1]; i++) {
    const struct clause *c = &o->clauses[o->against[i]];
    uint32_t j = 0;
    if (tsl__clause_done(o, bits, o->against[i])) continue;
    while (j < c->n && tsl__target_gone(o, bits, c, &c->targets[j], key)) j++;
    if (j == c->n) return true;
  }
  return false;
}

void tsl__branches_tidy(const struct object *o, uint64_t *bits) {
  for (uint32_t b = 0; b < o->branch_count; b++) {
    if (!tsl__branch_dead(o, bits, b)) continue;
    for (uint32_t i = o->branches[b].from; i < o->branches[b].from + o->branches[b].n; i++)
      bits[o->done + (i >> 6)] &= ~((uint64_t)1 << (i & 63));
  }
}
