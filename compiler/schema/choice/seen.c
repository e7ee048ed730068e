/* seen.c - which members are evaluated, said in clauses.
 *
 * Problem   unevaluatedProperties asks something of the members that no branch evaluates. Where
 *           choices are clauses (clause.c), bits of the state say which branches hold.
 * Idea      A member that branches name is absent, or is what unevaluatedProperties asks, or one of
 *           the branches that name it holds. If the condition of each branch is one clause, so is
 *           this.
 * Groups    Members that the same branches name share a clause (ATOM_NONE): where nothing else may
 *           come, they are absent together. Where a single branch names a member that must be
 *           absent otherwise, what the branch asks of the member needs no clause.
 * Example   Say if {"properties": {"a": {"const": 1}}, "required": ["a"]} then {"properties": {"b":
 *           B}}, unevaluatedProperties false. Then b is B where it is there, and (b absent ∨ a is
 *           1).
 * Cost      Members of branches times branches. Members whose clauses would multiply to more than
 *           PRODUCT_MAX leave the choice to its alternatives.
 * Tested by tests/schema/test_choices.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/choice/clause.h"

static const struct keyword_value *properties(const struct schema *s, sid id) {
  return tsl__keyword_or_null(tsl__node_of(s, id), KW_PROPERTIES);
}

bool tsl__names_member(const struct schema *s, sid id, const tsl__json *key) {
  const struct keyword_value *v = properties(s, id);
  return v && tsl__json_get(v->value, key->key, key->key_length);
}

/* What the node asks of one of its properties. */
static lit lit_of_member(const struct schema *s, sid id, const tsl__json *m) {
  const struct keyword_value *v = properties(s, id);
  return tsl__schema_simplify(s, POS(v->children[m - v->value->items]));
}

static bool has_pattern_of(const struct schema *s, sid id, const tsl__json *key) {
  const struct keyword_value *v = tsl__keyword_or_null(tsl__node_of(s, id), KW_PATTERN_PROPERTIES);
  for (uint32_t i = 0; v && i < v->count; i++)
    if (tsl__expr_matches(s->x, v->exprs[i], key->key, key->key_length)) return true;
  return false;
}

/* Is the member evaluated in any case? */
static bool seen_anyway(const struct schema *s, const struct part *parts,
                        const struct tracker *tracker, const tsl__json *key) {
  for (const struct part *p = parts; p; p = p->next) {
    if (p->kind != PART_SEEN || !tsl__tracks(p->tracker, tracker)) continue;
    if (p->key && p->key_length == key->key_length && !memcmp(p->key, key->key, p->key_length))
      return true;
    const struct node *n = tsl__node_of(s, p->s);
    if (tsl__has(n, KW_ADDITIONAL_PROPERTIES) ||
        (tsl__has(n, KW_UNEVALUATED_PROPERTIES) && p->tracker != tracker) ||
        tsl__names_member(s, p->s, key) || has_pattern_of(s, p->s, key))
      return true;
  }
  return false;
}

static bool seen_before(const struct schema *s, const struct seen *from, const struct seen *to,
                        const struct tracker *tracker, const tsl__json *key) {
  for (; from != to; from = from->next)
    if (tsl__tracks(from->tracker, tracker) && tsl__names_member(s, from->s, key)) return true;
  return false;
}

/* Is the node the first that names the member, of those whose evaluations count? */
static bool is_first(const struct expansion *e, const struct branch *b, const struct part *rest,
                     const struct seen *p, const tsl__json *key) {
  return !seen_anyway(e->s, b->parts, rest->tracker, key) &&
         !seen_before(e->s, b->seen, p, rest->tracker, key);
}

/* Do the same nodes name both? */
static bool named_alike(const struct expansion *e, const struct part *rest, const struct seen *p,
                        const tsl__json *a, const tsl__json *b) {
  for (; p && tsl__schema_work(e->s, 1); p = p->next)
    if (tsl__tracks(p->tracker, rest->tracker) &&
        tsl__names_member(e->s, p->s, a) != tsl__names_member(e->s, p->s, b))
      return false;
  return true;
}

/* Members that are evaluated by the same nodes, of which p is the first: its properties from number
 * i on that are like it. Where nothing else may come, they are to be absent together. */
static struct atom *none_of(struct expansion *e, const struct branch *b, const struct part *rest,
                            const struct seen *p, uint32_t i, lit l) {
  const struct keyword_value *v = properties(e->s, p->s);
  struct atom *none = tsl__expand_atom(e, NULL, ATOM_NONE, v->value->items[i].key,
                                       v->value->items[i].key_length, 0);
  if (!none) return NULL;
  for (uint32_t j = i; j < v->count && (j == i || l == POS(SID_FALSE)); j++) {
    const tsl__json *key = &v->value->items[j];
    if (j > i &&
        !(is_first(e, b, rest, p, key) && named_alike(e, rest, p, &v->value->items[i], key)))
      continue;
    none->l = j > i;
    none->keys = tsl__expand_atom(e, none->keys, ATOM_ABSENT, key->key, key->key_length, 0);
  }
  return none;
}

/* Does a property before number i lead the members that i is like? */
static bool is_led(const struct expansion *e, const struct branch *b, const struct part *rest,
                   const struct seen *p, uint32_t i, lit l) {
  const struct keyword_value *v = properties(e->s, p->s);
  for (uint32_t j = 0; j < i && l == POS(SID_FALSE); j++)
    if (is_first(e, b, rest, p, &v->value->items[j]) &&
        named_alike(e, rest, p, &v->value->items[j], &v->value->items[i]))
      return true;
  return false;
}

/* How many clauses say whether a member is evaluated? More than PRODUCT_MAX: too many. */
static uint32_t product(const struct expansion *e, const struct part *rest, const struct seen *p,
                        const tsl__json *key) {
  uint32_t n = 1;
  for (; p && n <= PRODUCT_MAX; p = p->next)
    if (tsl__tracks(p->tracker, rest->tracker) && tsl__names_member(e->s, p->s, key)) n *= p->n;
  return n;
}

/* Is the node the only one that names the member? */
static bool is_sole(const struct expansion *e, const struct part *rest, const struct seen *p,
                    const tsl__json *key) {
  return !seen_before(e->s, p->next, NULL, rest->tracker, key);
}

/* Clauses that are fulfilled where the member is absent or satisfies l. */
static uint32_t fulfilled_by(const struct branch *b, const tsl__json *key, lit l) {
  const struct atom sought = {.key = key->key, .key_length = key->key_length};
  uint32_t n = 0;
  for (const struct part *p = b->parts; p; p = p->next)
    n += p->kind == PART_CLAUSE && tsl__atoms_have(p->atoms, ATOM_KEY, &sought, l) &&
         tsl__atoms_have(p->atoms, ATOM_ABSENT, &sought, 0);
  return n;
}

/* The members are absent, or are what they must be where nothing evaluates them, or are evaluated
 * by a node from `p` on. Where that is the only one, and nothing else may come, they are what it
 * says wherever they are there. */
static void expand_group(struct expansion *e, struct branch *b, const struct part *rest,
                         const struct seen *p, uint32_t i, lit l) {
  struct saying y = {.e = e};
  const tsl__json *key = &properties(e->s, p->s)->value->items[i];
  struct atom *none = none_of(e, b, rest, p, i, l),
              *value = l == POS(SID_FALSE)
                           ? NULL
                           : tsl__expand_atom(e, none, ATOM_KEY, key->key, key->key_length, l);
  struct clauses any = {.at = {value ? value : none}, .n = 1};
  const sid first = p->s;
  const bool sole = l == POS(SID_FALSE) && is_sole(e, rest, p, key);
  for (; p && none; p = p->next) {
    struct clauses when = {.n = p->n};
    if (!tsl__tracks(p->tracker, rest->tracker) || !tsl__names_member(e->s, p->s, key)) continue;
    memcpy(when.at, p->when, p->n * sizeof *p->when);
    if (!tsl__clauses_or(&y, &any, &when)) return; /* there was room for it: a failure */
  }
  for (uint32_t j = 0; j < any.n; j++) {
    struct part *part = tsl__expand_part(e, b, PART_CLAUSE);
    if (part) part->atoms = any.at[j];
  }
  for (const struct atom *k = none ? none->keys : NULL; k; k = k->next) {
    struct part *part = tsl__expand_part(e, b, PART_SEEN_IF);
    if (!part) return;
    part->tracker = rest->tracker;
    part->key = k->key;
    part->key_length = k->key_length;
    if (!sole || !(part = tsl__expand_part(e, b, PART_KEY))) continue;
    part->key = k->key;
    part->key_length = k->key_length;
    part->l = lit_of_member(e->s, first,
                            tsl__json_get(properties(e->s, first)->value, k->key, k->key_length));
  }
}

/* Say which members are evaluated, or only count all clauses that are left then. */
static uint32_t say_seen(struct expansion *e, struct branch *b, bool count_only) {
  uint32_t total = 0, moot = 0;
  for (const struct part *rest = b->parts; rest; rest = rest->next) {
    const lit l = rest->kind == PART_REST ? tsl__schema_simplify(e->s, rest->l) : POS(SID_TRUE);
    for (const struct seen *p = l == POS(SID_TRUE) ? NULL : b->seen; p; p = p->next) {
      const struct keyword_value *v = properties(e->s, p->s);
      for (uint32_t i = 0; i < v->count && (!count_only || total <= SEEN_MAX) &&
                           tsl__tracks(p->tracker, rest->tracker) && tsl__schema_work(e->s, 1);
           i++) {
        const tsl__json *key = &v->value->items[i];
        if (!is_first(e, b, rest, p, key)) continue;
        if (count_only && l == POS(SID_FALSE) && rest->tracker == p->tracker &&
            is_sole(e, rest, p, key))
          moot += fulfilled_by(b, key, lit_of_member(e->s, p->s, key));
        if (is_led(e, b, rest, p, i, l)) continue;
        uint32_t n = product(e, rest, p, key);
        total = n > PRODUCT_MAX ? 2 * SEEN_MAX : total + n;
        if (!count_only) expand_group(e, b, rest, p, i, l);
      }
    }
  }
  for (const struct part *p = b->parts; p; p = p->next) total += p->kind == PART_CLAUSE;
  return total - moot;
}

uint32_t tsl__seen_count(struct expansion *e, struct branch *b) { return say_seen(e, b, true); }

void tsl__expand_seen(struct expansion *e, struct branch *b) { say_seen(e, b, false); }
