/* oneof.c - which branches of a oneOf must be kept apart, and which are apart anyway.
 *
 * Problem   "Exactly one of n" is n alternatives, each with n - 1 negations: branch i holds, and
 *           the others fail. A thousand kinds of resources would be a million negations, though a
 *           member `kind` distinguishes all of them. Where that member is not required it says
 *           nothing: {} is an object of every kind, so it must be refused.
 * Idea      Look for the member of which most branches list the values: the discriminator. A table
 *           of these values puts the branches into groups that share none. Two branches of
 *           different groups never hold together where the discriminator is there, so no pair of
 *           them is looked at. Where it may be absent, there are two cases. It is there, and all is
 *           as before; or it is absent, and only branches that do not require it are left.
 * Fallback  A branch may list no values of the discriminator, such as one for all other kinds. Its
 *           values are divided by the discriminator's value: either no other branch lists that
 *           value, so that all of these fail. Or one branch does, and its negation is the only one.
 * Numbers   Numbers are grouped by their bounds instead (spans.c).
 * Private   Without the discriminator closed branches are still distinguished by the names that one
 *           branch alone has. If one of these names is there, its branch is the only one. If none
 *           is there, what is left are the names that several branches share.
 * Example   oneOf of {"kind": {"const": "A"}, "a": …} and {"kind": {"const": "B"}, "b": …}, both
 *           closed, without `required`. Either kind is there, and is A or B. Or it is absent. Then
 *           a is there (the first branch), or b is (the second). {} is neither.
 * Sound     Every case is exact: cases only divide the objects. A negation is left out only for a
 *           pair that is plainly disjoint within its case.
 * Cost      Linear in the branches and their listed values, where the discriminator is required.
 *           A fallback costs an alternative for each other branch. Pairs that nothing
 *           distinguishes cost a negation each.
 * Tested by tests/schema/test_oneof.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/goal.h"

#define SPLIT_MIN 17u   /* branches; fewer are compared pair by pair */
#define KEYS_MAX 8u     /* members that are tried as discriminator */
#define NAMES_MAX 4096u /* of one branch, that are looked at */

/* A member of which some branches list the values, or a name that closed branches have. */
struct member_name {
  const tsl__json *at;
  uint32_t branches; /* that list its values, or have it */
  uint32_t last;     /* of these */
};

struct value {
  const tsl__json *at;
  uint32_t branch;
};

struct one_of {
  struct expansion *e;
  const struct branch *base;
  const struct tracker *tracker;
  const struct keyword_value *v;
  uint32_t *live, n; /* indices of the branches that are not plainly impossible */
  lit *lits;
  /* by live branch: its group's first branch + 1, 0: it does not list values of the key */
  uint32_t *group;
  sid *listing;         /* by live branch of a group: the subschema that lists the values */
  bool *alone;          /* by live branch: it is a group of its own */
  bool *demands;        /* by live branch: the key is required */
  const tsl__json *key; /* NULL: there is no discriminator */
  const tsl__number_spec *spans; /* by live branch, where they are grouped by these; else NULL */
  uint32_t *lists;               /* room for two by live branch */
  uint32_t at;                   /* the branch that is being looked at */
  TSL__VEC(struct member_name) names;
  struct table name_table;
  TSL__VEC(struct value) values;
  struct table value_table;
};

static sid branch_at(const struct one_of *o, uint32_t i) { return o->v->children[o->live[i]]; }

/* ---- tables ---------------------------------------------------------------------------------- */

struct name_key {
  const struct one_of *o;
  const tsl__json *at;
};

static bool name_same(const void *ctx, uint32_t i) {
  const struct name_key *k = ctx;
  return tsl__json_same_key(k->o->names.at[i].at, k->at);
}

static uint32_t find_name(const struct one_of *o, const tsl__json *at) {
  const struct name_key key = {o, at};
  return tsl__table_find(&o->name_table, tsl__hash(at->key, at->key_length), name_same, &key);
}

static void out_of_memory(struct one_of *o) {
  tsl__schema_fail(o->e->s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
}

/* Branch o->at has the name: once, however often it says so. */
static void count_name(struct one_of *o, const tsl__json *at) {
  uint32_t found = find_name(o, at);
  if (found != UINT32_MAX) {
    struct member_name *m = &o->names.at[found];
    m->branches += m->last != o->at;
    m->last = o->at;
    return;
  }
  const struct member_name m = {at, 1, o->at};
  if (!tsl__vec_push(o->e->s->alloc, &o->names, m)) {
    out_of_memory(o);
    return;
  }
  tsl__table_add(o->e->s, &o->name_table, tsl__hash(at->key, at->key_length),
                 (uint32_t)o->names.n - 1);
}

static void forget_names(struct one_of *o) {
  o->names.n = 0;
  tsl__table_free(o->e->s, &o->name_table);
}

struct value_key {
  const struct one_of *o;
  const tsl__json *at;
};

static bool value_same(const void *ctx, uint32_t i) {
  const struct value_key *k = ctx;
  return tsl__schema_work(k->o->e->s, 4) && tsl__json_equal(k->o->values.at[i].at, k->at);
}

/* ---- the discriminator ----------------------------------------------------------------------- */

static void count_listed(void *ctx, const tsl__json *member, sid child) {
  (void)child;
  count_name(ctx, member);
}

/* The first branch of a branch's group; shortens the way there. */
static uint32_t first_of(struct one_of *o, uint32_t i) {
  while (o->group[i] != i + 1) {
    o->group[i] = o->group[o->group[i] - 1];
    i = o->group[i] - 1;
  }
  return i;
}

/* Branch o->at may have the value: it is in one group with all others that may. */
static void note_value(struct one_of *o, const tsl__json *at) {
  const struct value_key key = {o, at};
  uint64_t hash = tsl__schema_value_hash(at);
  uint32_t found = tsl__table_find(&o->value_table, hash, value_same, &key);
  if (found != UINT32_MAX) {
    uint32_t other = first_of(o, o->values.at[found].branch), own = first_of(o, o->at);
    o->group[own > other ? own : other] = (own > other ? other : own) + 1;
    return;
  }
  const struct value value = {at, o->at};
  if (tsl__vec_push(o->e->s->alloc, &o->values, value))
    tsl__table_add(o->e->s, &o->value_table, hash, (uint32_t)o->values.n - 1);
  else
    out_of_memory(o);
}

struct listed {
  struct one_of *o;
  bool found;
};

static void note_listed(void *ctx, const tsl__json *member, sid child) {
  struct listed *l = ctx;
  uint32_t n;
  if (l->found || !tsl__json_same_key(member, l->o->key)) return;
  const tsl__json *values = tsl__schema_listed(l->o->e->s, child, &n);
  l->found = values != NULL;
  l->o->listing[l->o->at] = child;
  for (uint32_t i = 0; values && i < n && tsl__schema_ok(l->o->e->s); i++)
    note_value(l->o, &values[i]);
}

/* Which branches are groups of their own? Returns how many groups there are. */
static uint32_t find_alone(struct one_of *o) {
  uint32_t groups = 0;
  for (uint32_t i = 0; i < o->n; i++) {
    o->alone[i] = o->group[i] == i + 1;
    groups += o->alone[i];
  }
  for (uint32_t i = 0; i < o->n; i++)
    if (o->group[i] && !o->alone[i]) o->alone[o->group[i] - 1] = false;
  return groups;
}

/* Put the branches into groups by the values that they list for the key. Returns how many groups
 * there are. */
static uint32_t make_groups(struct one_of *o, const tsl__json *key) {
  struct schema *s = o->e->s;
  o->key = key;
  o->values.n = 0;
  tsl__table_free(s, &o->value_table);
  for (o->at = 0; o->at < o->n && tsl__schema_work(s, 4); o->at++) {
    struct listed l = {.o = o};
    o->group[o->at] = o->at + 1;
    tsl__schema_each_listed(s, branch_at(o, o->at), note_listed, &l);
    if (!l.found) o->group[o->at] = 0;
    o->demands[o->at] = tsl__schema_demands(s, branch_at(o, o->at), key->key, key->key_length);
  }
  for (uint32_t i = 0; i < o->n; i++)
    if (o->group[i]) o->group[i] = first_of(o, i) + 1;
  return find_alone(o);
}

/* Numbers: the groups of spans that meet. */
static bool find_spans(struct one_of *o) {
  if (o->e->type != T_NUMBER || o->n < 2) return false;
  for (uint32_t i = 0; i < o->n; i++) o->listing[i] = branch_at(o, i);
  o->spans = tsl__schema_spans(o->e->s, o->listing, o->n, o->group);
  find_alone(o);
  return o->spans != NULL;
}

/* Is there a discriminator: of the first KEYS_MAX names that two branches or more list values of,
 * the one that makes most groups? Then the branches' groups are known. */
static bool find_groups(struct one_of *o) {
  const tsl__json *keys[KEYS_MAX], *best = NULL;
  uint32_t n = 0, most = 1;
  if (o->e->type != T_OBJECT || o->n < SPLIT_MIN) return false;
  for (o->at = 0; o->at < o->n && tsl__schema_work(o->e->s, 4); o->at++)
    tsl__schema_each_listed(o->e->s, branch_at(o, o->at), count_listed, o);
  for (size_t i = 0; i < o->names.n && n < KEYS_MAX; i++)
    if (o->names.at[i].branches > 1) keys[n++] = o->names.at[i].at;
  forget_names(o);
  for (uint32_t i = 0; i < n && tsl__schema_ok(o->e->s); i++) {
    const uint32_t groups = make_groups(o, keys[i]);
    if (groups <= most) continue;
    most = groups;
    best = keys[i];
  }
  if (best && best != o->key) make_groups(o, best);
  o->key = best;
  return best && tsl__schema_ok(o->e->s);
}

/* How many branches leave the discriminator out, and list values of it that others do not? */
static uint32_t undemanding(const struct one_of *o) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < o->n; i++) n += o->group[i] && !o->demands[i];
  return n;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Are the two distinguished by the discriminator, if it is there? */
static bool groups_differ(const struct one_of *o, uint32_t i, uint32_t j) {
  return o->group[i] && o->group[j] && o->group[i] != o->group[j];
}

static void alternative(struct one_of *o, const struct branch *b, uint32_t i, uint32_t n) {
  o->lits[0] = POS(branch_at(o, i));
  tsl__expand_with(o->e, b, o->lits, n + 1, o->tracker);
}

static const struct fact *key_fact(struct one_of *o, const struct branch *b, const tsl__json *key,
                                   bool absent) {
  struct fact *f = tsl__schema_alloc(o->e->s, sizeof *f);
  if (!f) return b->facts;
  *f = (struct fact){.next = b->facts,
                     .s = SID_TRUE,
                     .key = key->key,
                     .length = key->key_length,
                     .absent = absent};
  return f;
}

/* The member's value, if the member is there, satisfies l. */
static void key_value(struct one_of *o, struct branch *b, const tsl__json *key, lit l) {
  struct part *p = tsl__expand_part(o->e, b, PART_KEY);
  if (!p) return;
  p->key = key->key;
  p->key_length = key->key_length;
  p->l = l;
}

static void with_key(struct one_of *o, struct branch *b) {
  tsl__expand_required_part(o->e, b, o->key->key, o->key->key_length);
  b->facts = key_fact(o, b, o->key, false);
}

static void without_key(struct one_of *o, struct branch *b, const tsl__json *key) {
  key_value(o, b, key, POS(SID_FALSE));
  b->facts = key_fact(o, b, key, true);
}

/* Branch i, which the first n lits keep apart from some others. Each of the branches `lists` is a
 * group of its own. Either the discriminator has a value that none of them lists. Or it has one of
 * theirs, and that branch fails. */
static void expand_fallback(struct one_of *o, const struct branch *b, uint32_t i, uint32_t n,
                            const uint32_t *lists, uint32_t count) {
  struct branch other = *b;
  for (uint32_t k = 0; k < count; k++) key_value(o, &other, o->key, NEG(o->listing[lists[k]]));
  alternative(o, &other, i, n);
  for (uint32_t k = 0; k < count && tsl__schema_ok(o->e->s); k++) {
    struct branch same = *b;
    with_key(o, &same);
    key_value(o, &same, o->key, POS(o->listing[lists[k]]));
    o->lits[n + 1] = NEG(branch_at(o, lists[k]));
    alternative(o, &same, i, n + 1);
  }
}

static bool grouped(const struct one_of *o) { return o->key || o->spans; }

/* Is the branch distinguished by the discriminator from all others that list values of it? `there`:
 * the discriminator is. */
static bool is_single(const struct one_of *o, uint32_t i, bool there) {
  return grouped(o) && o->alone[i] && (there || o->demands[i]);
}

/* Do the two need a negation to be kept apart? */
static bool may_meet(struct one_of *o, uint32_t i, uint32_t j, bool there) {
  if (j == i || (grouped(o) && (there || o->demands[i] || o->demands[j]) && groups_differ(o, i, j)))
    return false;
  if (o->spans && tsl__schema_work(o->e->s, 1) &&
      tsl__schema_spans_apart(&o->spans[i], &o->spans[j]))
    return false;
  return tsl__schema_work(o->e->s, 16) &&
         !tsl__schema_disjoint(o->e->s, o->e->type, branch_at(o, i), branch_at(o, j));
}

/* Branch i holds, and those that are not distinguished from it fail: `others` are all that may not
 * be, in order. */
static void expand_one(struct one_of *o, const struct branch *b, uint32_t i, bool there,
                       const uint32_t *others, uint32_t count) {
  const bool lists = grouped(o) && o->group[i];
  uint32_t n = 0, listing = 0, *single = o->lists + o->n;
  for (uint32_t k = 0; k < (lists ? count : o->n) && tsl__schema_work(o->e->s, 1); k++) {
    const uint32_t j = lists ? others[k] : k;
    if (!may_meet(o, i, j, there)) continue;
    if (!lists && is_single(o, j, there))
      single[listing++] = j;
    else
      o->lits[++n] = NEG(branch_at(o, j));
  }
  if (listing >= SPLIT_MIN) {
    expand_fallback(o, b, i, n, single, listing);
    return;
  }
  for (uint32_t k = 0; k < listing; k++) o->lits[++n] = NEG(branch_at(o, single[k]));
  alternative(o, b, i, n);
}

/* One of them holds, and no other. `there`: the discriminator is. */
static void expand_pairs(struct one_of *o, const struct branch *b, bool there) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < o->n; i++)
    if (!is_single(o, i, there)) o->lists[count++] = i;
  for (uint32_t i = 0; i < o->n && tsl__schema_ok(o->e->s); i++)
    expand_one(o, b, i, there, o->lists, count);
}

static void count_own(void *ctx, const tsl__json *member, sid child) {
  (void)child;
  count_name(ctx, member);
}

struct privates {
  struct one_of *o;
  struct branch *without;
  const struct atom *any; /* one of them is there */
  bool demanded;          /* and must be */
};

static void note_private(void *ctx, const tsl__json *member, sid child) {
  struct privates *p = ctx;
  uint32_t found = find_name(p->o, member);
  (void)child;
  if (found == UINT32_MAX || p->o->names.at[found].branches > 1 ||
      (p->o->key && tsl__json_same_key(member, p->o->key)))
    return;
  p->demanded = p->demanded || tsl__schema_demands(p->o->e->s, branch_at(p->o, p->o->at),
                                                   member->key, member->key_length);
  p->any =
      tsl__expand_atom(p->o->e, p->any, ATOM_KEY, member->key, member->key_length, POS(SID_TRUE));
  without_key(p->o, p->without, member);
}

/* Are all branches that may do without the discriminator closed? Then it is known how many have
 * each name. */
static bool count_own_names(struct one_of *o) {
  for (o->at = 0; o->at < o->n && tsl__schema_work(o->e->s, 4); o->at++)
    if (!o->demands[o->at] &&
        !tsl__schema_each_own(o->e->s, branch_at(o, o->at), NAMES_MAX, count_own, o))
      return false;
  return tsl__schema_ok(o->e->s);
}

/* The discriminator is absent, or there is none. `closed`: count_own_names has counted. */
static void expand_without(struct one_of *o, const struct branch *b, bool closed) {
  struct expansion *e = o->e;
  for (uint32_t i = o->at = 0; i < o->n && tsl__schema_ok(e->s); o->at = ++i) {
    struct branch with = *b, without = *b;
    struct privates own = {.o = o, .without = &without};
    uint32_t n = 0;
    if (o->demands[i]) continue;
    if (closed) tsl__schema_each_own(e->s, branch_at(o, i), NAMES_MAX, note_private, &own);
    if (own.any) {
      tsl__expand_clause(e, &with, own.any);
      alternative(o, &with, i, 0);
    }
    if (own.demanded) continue;
    for (uint32_t j = 0; j < o->n && tsl__schema_work(e->s, 1); j++)
      if (j != i && !o->demands[j]) o->lits[++n] = NEG(branch_at(o, j));
    alternative(o, &without, i, n);
  }
}

static void expand_cases(struct one_of *o) {
  struct branch with = *o->base, without = *o->base;
  with_key(o, &with);
  without_key(o, &without, o->key);
  expand_pairs(o, &with, true);
  expand_without(o, &without, count_own_names(o));
}

/* Do the branches' own names distinguish them? */
static bool apart_by_names(struct one_of *o) {
  o->key = NULL;
  memset(o->demands, 0, o->n * sizeof *o->demands);
  return o->e->type == T_OBJECT && o->n >= SPLIT_MIN && count_own_names(o);
}

static void expand_live(struct one_of *o) {
  if (find_spans(o)) {
    expand_pairs(o, o->base, true);
    return;
  }
  const bool found = find_groups(o);
  const uint32_t without = found ? undemanding(o) : 0;
  uint32_t grouped = 0;
  for (uint32_t i = 0; found && i < o->n; i++) grouped += o->group[i] != 0;
  if (without >= SPLIT_MIN)
    expand_cases(o);
  else if (grouped - without >= o->n / 2 || !apart_by_names(o))
    expand_pairs(o, o->base, false);
  else
    expand_without(o, o->base, true);
}

bool tsl__schema_blame_one_of(struct schema *s) {
  if (s->one_of)
    tsl__schema_fail(
        s, TSL_ERR_LIMIT, s->one_of,
        "oneOf of %u overlapping branches: require a const of its own in each, or write anyOf",
        s->one_of_count);
  return s->one_of != NULL;
}

void tsl__expand_one_of(struct expansion *e, const struct branch *b, const struct keyword_value *v,
                        const struct tracker *tracker) {
  const size_t size = v->count + 1;
  struct one_of o = {.e = e, .base = b, .tracker = tracker, .v = v};
  o.lits = tsl__schema_alloc(e->s, size * (6 * sizeof *o.lits + 2 * sizeof *o.demands));
  if (!o.lits) return;
  o.live = o.lits + size;
  o.group = o.live + size;
  o.listing = o.group + size;
  o.lists = o.listing + size;
  o.demands = (bool *)(o.lists + 2 * size);
  o.alone = o.demands + size;
  for (uint32_t i = 0; i < v->count; i++)
    if (!tsl__schema_impossible(e->s, e->type, POS(v->children[i]))) o.live[o.n++] = i;
  if (o.n >= SPLIT_MIN) {
    e->many_branches = true;
    e->s->one_of = v->value;
    e->s->one_of_count = v->count;
  }
  if (o.n) expand_live(&o);
  forget_names(&o);
  tsl__vec_free(e->s->alloc, &o.names);
  tsl__vec_free(e->s->alloc, &o.values);
  tsl__table_free(e->s, &o.value_table);
}
