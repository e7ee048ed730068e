/* cells.c - the keys that a schema does not name, sorted into cells of keys that are alike.
 *
 * Problem   patternProperties, additionalProperties and propertyNames constrain keys that nobody
 *           listed. An object must know, for any such key, what its value has to satisfy.
 * Idea      Each pattern is a splitter: a set of keys. The splitters in sight divide all other keys
 *           into cells. All keys of a cell satisfy the same splitters, so their values have one
 *           goal. Cells without keys, and cells whose value nothing satisfies, are dropped. Cells
 *           with equal goals are joined.
 * Example   {"patternProperties": {"^x": A, "y$": B}, "additionalProperties": false}
 *             cell      ^x   y$   goal
 *             xay       yes  yes  A and B
 *             xa        yes  no   A
 *             ay        no   yes  B
 *             a         no   no   false: dropped
 * Names     The keys of a small finite cell become known keys. Those of a larger one are counted,
 *           since no name may come twice.
 * Cost      A product of expressions for each cell, at most TSL__SCHEMA_CELLS of them. The sets are
 *           split one pattern at a time, and a set that is empty is not split further.
 * Tested by tests/schema/test_schema.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/node.h"
#include "compiler/expr/deriv.h"
#include "compiler/schema/object.h"

#define OVERLAPPING_BYTES \
  96u /* by so many the keys of a cell may begin, to be followed beside others */

/* ---- patterns that are lists ----------------------------------------------------------------- */

struct texts {
  const tsl__string *at;
  uint32_t n;
  tsl__string one;
};

/* The texts of an expression that is one text, or a short list. */
static bool few_texts(const struct maker *m, tsl__expr e, struct texts *out) {
  tsl__node n = tsl__node_at(m->s->x, e);
  if (n.kind == TSL__K_LIT) {
    out->one = (tsl__string){(const char *)tsl__literal_at(m->s->x, n.a), n.b};
    out->at = &out->one;
    out->n = 1;
    return true;
  }
  if (n.kind != TSL__K_STRSET || n.d || n.c - n.b > TSL__SCHEMA_LISTED) return false;
  out->at = tsl__strings_at(m->s->x, n.a)->at + n.b;
  out->n = n.c - n.b;
  return true;
}

static bool all_known(const struct maker *m, tsl__expr e) {
  struct texts few;
  if (!few_texts(m, e, &few)) return false;
  for (uint32_t i = 0; i < few.n; i++)
    if (tsl__maker_index_of(m, few.at[i].at, few.at[i].length) == UINT32_MAX) return false;
  return true;
}

void tsl__maker_list_patterns(struct maker *m) {
  for (uint32_t i = 0; i < m->part_count; i++) {
    const struct keyword_value *v =
        m->parts[i]->kind == PART_MEMBERS
            ? tsl__keyword_or_null(tsl__node_of(m->s, m->parts[i]->s), KW_PATTERN_PROPERTIES)
            : NULL;
    struct texts few;
    for (uint32_t j = 0; v && j < v->count; j++)
      for (uint32_t k = 0; few_texts(m, v->exprs[j], &few) && k < few.n; k++)
        tsl__maker_list_name(m, (const uint8_t *)few.at[k].at, few.at[k].length);
  }
}

/* ---- splitters ------------------------------------------------------------------------------- */

uint32_t tsl__maker_splitter_index(const struct maker *m, tsl__expr e) {
  for (uint32_t i = 0; i < m->splitter_count; i++)
    if (m->splitters[i] == e) return i;
  return UINT32_MAX;
}

static void add_splitter(struct maker *m, tsl__expr e, const struct node *culprit) {
  if (tsl__maker_splitter_index(m, e) != UINT32_MAX) return;
  if (m->splitter_count == SPLITTERS) {
    tsl__schema_fail(m->s, TSL_ERR_LIMIT, culprit ? culprit->at : NULL,
                     "more than %u different patterns of keys for one object", SPLITTERS);
    return;
  }
  struct texts few;
  bool list = few_texts(m, e, &few);
  for (uint32_t i = 0; list && i < few.n; i++) {
    uint32_t key = tsl__maker_index_of(m, few.at[i].at, few.at[i].length);
    if (key != UINT32_MAX) m->masks[key] |= (uint64_t)1 << m->splitter_count;
  }
  for (uint32_t i = 0; i < m->o->n && !list; i++) {
    tsl__string key = tsl__stringset_at(m->s->x, m->o->set, i);
    if (tsl__expr_matches(m->s->x, e, key.at, key.length))
      m->masks[i] |= (uint64_t)1 << m->splitter_count;
  }
  m->splitters[m->splitter_count++] = e;
}

static void add_node_patterns(struct maker *m, sid id) {
  const struct node *n = tsl__node_of(m->s, id);
  const struct keyword_value *v = tsl__keyword_or_null(n, KW_PATTERN_PROPERTIES);
  for (uint32_t i = 0; v && i < v->count; i++) add_splitter(m, v->exprs[i], n);
}

tsl__expr tsl__maker_name_text(const struct maker *m, lit l) {
  bool any;
  return tsl__schema_text(m->s, &l, 1, &any);
}

void tsl__maker_collect_splitters(struct maker *m) {
  for (uint32_t i = 0; i < m->part_count; i++) {
    const struct part *p = m->parts[i];
    if (p->kind == PART_MEMBERS) add_node_patterns(m, p->s);
    if (p->kind == PART_NAMES && !tsl__schema_string_list(m->s, p->l))
      add_splitter(m, tsl__maker_name_text(m, p->l), NULL);
    if (p->kind != PART_CLAUSE) continue;
    for (const struct atom *a = p->atoms; a; a = a->next) {
      if (a->kind == ATOM_PATTERN || a->kind == ATOM_EXTRA) add_node_patterns(m, a->s);
      if (a->kind == ATOM_NAME) add_splitter(m, tsl__maker_name_text(m, a->l), NULL);
    }
  }
}

/* The splitters of a node's patterns. */
uint64_t tsl__maker_pattern_mask(const struct maker *m, sid id) {
  const struct keyword_value *v =
      tsl__keyword_or_null(tsl__node_of(m->s, id), KW_PATTERN_PROPERTIES);
  uint64_t mask = 0;
  for (uint32_t i = 0; v && i < v->count; i++)
    mask |= (uint64_t)1 << tsl__maker_splitter_index(m, v->exprs[i]);
  return mask;
}

lit tsl__maker_additional(const struct maker *m, sid id) {
  const struct keyword_value *v =
      tsl__keyword_or_null(tsl__node_of(m->s, id), KW_ADDITIONAL_PROPERTIES);
  return POS(v ? v->children[0] : SID_TRUE);
}

/* Is it plain, when splitters up to `decided` are, that no part allows extra keys with this
 * mask? */
static bool hopeless(const struct maker *m, uint64_t mask, uint32_t decided) {
  const uint64_t later = decided + 1 >= 64 ? 0 : ~(uint64_t)0 << (decided + 1);
  for (uint32_t i = 0; i < m->part_count; i++) {
    const struct part *p = m->parts[i];
    if (p->kind == PART_NAMES) {
      uint32_t own = tsl__schema_string_list(m->s, p->l)
                         ? UINT32_MAX
                         : tsl__maker_splitter_index(m, tsl__maker_name_text(m, p->l));
      if (own == UINT32_MAX || (own <= decided && !((mask >> own) & 1u))) return true;
    }
    if (p->kind != PART_MEMBERS || tsl__maker_additional(m, p->s) != POS(SID_FALSE)) continue;
    uint64_t own = tsl__maker_pattern_mask(m, p->s);
    if (!(own & mask) && !(own & later)) return true;
  }
  return false;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void push_cell(struct maker *m, tsl__expr key, uint64_t mask, bool all) {
  struct cell c = {.key = key, .mask = mask, .all = all};
  if (key == TSL__NONE) return;
  if (m->cells.n >= TSL__SCHEMA_CELLS)
    tsl__schema_fail(m->s, TSL_ERR_LIMIT, NULL, "patterns distinguish more than %u groups of keys",
                     TSL__SCHEMA_CELLS);
  else if (!tsl__vec_push(m->s->alloc, &m->cells, c))
    tsl__maker_out_of_memory(m);
}

static void split(struct maker *m, uint32_t splitter) {
  tsl__exprs *x = m->s->x;
  tsl__expr e = m->splitters[splitter];
  size_t n = m->cells.n;
  if (all_known(m, e)) return; /* no cell has any of them */
  for (size_t i = 0; i < n && tsl__schema_ok(m->s); i++) {
    struct cell c = m->cells.at[i];
    uint64_t in = c.mask | (uint64_t)1 << splitter;
    bool out_lives = !hopeless(m, c.mask, splitter), in_lives = !hopeless(m, in, splitter);
    m->cells.at[i].key = TSL__NONE;
    if (in_lives) push_cell(m, c.all ? e : tsl__expr_and(x, c.key, e), in, false);
    if (!out_lives) continue;
    tsl__expr not_e = tsl__expr_text_not(x, e);
    push_cell(m, c.all ? not_e : tsl__expr_and(x, not_e, c.key), c.mask, false);
  }
  size_t kept = 0;
  for (size_t i = 0; i < m->cells.n; i++)
    if (m->cells.at[i].key != TSL__NONE) m->cells.at[kept++] = m->cells.at[i];
  m->cells.n = kept;
}

/* Has a node whose evaluations count for `tracker` evaluated keys with this mask (or the known key
 * `index`)? */
bool tsl__maker_evaluated(const struct maker *m, const struct tracker *tracker, uint64_t mask,
                          uint32_t index) {
  for (uint32_t i = 0; i < m->part_count; i++) {
    const struct part *p = m->parts[i];
    if (p->kind != PART_SEEN || !tsl__tracks(p->tracker, tracker)) continue;
    if (p->key && index != UINT32_MAX && tsl__maker_index_of(m, p->key, p->key_length) == index)
      return true;
    const struct node *n = tsl__node_of(m->s, p->s);
    if (tsl__has(n, KW_ADDITIONAL_PROPERTIES) ||
        (tsl__has(n, KW_UNEVALUATED_PROPERTIES) && p->tracker != tracker))
      return true;
    if (mask & tsl__maker_pattern_mask(m, p->s)) return true;
    if (index == UINT32_MAX || !tsl__has(n, KW_PROPERTIES)) continue;
    tsl__string key = tsl__stringset_at(m->s->x, m->o->set, index);
    if (tsl__json_get(tsl__keyword(n, KW_PROPERTIES)->value, key.at, key.length)) return true;
  }
  return false;
}

/* Is it left to clauses whether the known key `index` is evaluated for `tracker`? */
static bool evaluated_if(const struct maker *m, const struct tracker *tracker, uint32_t index) {
  for (uint32_t i = 0; i < m->part_count && index != UINT32_MAX; i++) {
    const struct part *p = m->parts[i];
    if (p->kind == PART_SEEN_IF && p->tracker == tracker &&
        tsl__maker_index_of(m, p->key, p->key_length) == index)
      return true;
  }
  return false;
}

/* What the parts ask of the value of a key with this mask; `own` says whether a part's properties
 * name the key itself. */
uint32_t tsl__maker_lits_of(struct maker *m, uint64_t mask, uint32_t index, lit *lits) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->part_count; i++) {
    const struct part *p = m->parts[i];
    if (p->kind != PART_MEMBERS) continue;
    const struct keyword_value *v =
        tsl__keyword_or_null(tsl__node_of(m->s, p->s), KW_PATTERN_PROPERTIES);
    bool covered = false;
    for (uint32_t j = 0; v && j < v->count; j++) {
      if (!((mask >> tsl__maker_splitter_index(m, v->exprs[j])) & 1u)) continue;
      lits[n++] = POS(v->children[j]);
      covered = true;
    }
    const struct keyword_value *named =
        covered || index == UINT32_MAX ? NULL : tsl__maker_properties(m, p);
    if (named) {
      tsl__string key = tsl__stringset_at(m->s->x, m->o->set, index);
      covered = tsl__json_get(named->value, key.at, key.length) != NULL;
    }
    if (!covered) lits[n++] = tsl__maker_additional(m, p->s);
  }
  for (uint32_t i = 0; i < m->part_count; i++)
    if (m->parts[i]->kind == PART_REST &&
        !tsl__maker_evaluated(m, m->parts[i]->tracker, mask, index) &&
        !evaluated_if(m, m->parts[i]->tracker, index))
      lits[n++] = m->parts[i]->l;
  return n;
}

uint32_t tsl__maker_most_lits(const struct maker *m) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->part_count; i++) {
    const struct keyword_value *v =
        m->parts[i]->kind == PART_MEMBERS
            ? tsl__keyword_or_null(tsl__node_of(m->s, m->parts[i]->s), KW_PATTERN_PROPERTIES)
            : NULL;
    n += 1 + (v ? v->count : 0);
  }
  return n;
}

uint32_t tsl__maker_child_level(const struct maker *m) { return m->o->level + 1; }

goal tsl__maker_goal(struct maker *m, uint64_t mask) {
  lit few[FEW_LITS], *lits = tsl__maker_most_lits(m) <= FEW_LITS
                                 ? few
                                 : tsl__schema_alloc(m->s, tsl__maker_most_lits(m) * sizeof *lits);
  return lits ? tsl__schema_goal(m->s, lits, tsl__maker_lits_of(m, mask, UINT32_MAX, lits),
                                 tsl__maker_child_level(m))
              : GOAL_NONE;
}

/* Nothing distinguishes extra keys: they are all but the known ones. A frame of these is made
 * without their texts, which only a style needs. */
bool tsl__maker_one_cell(struct maker *m) {
  struct schema *s = m->s;
  struct object *o = m->o;
  if (hopeless(m, 0, 0)) return true;
  goal value = tsl__maker_goal(m, 0);
  if (value == GOAL_NONE) return tsl__schema_ok(s);
  struct cell *c = tsl__schema_alloc(s, sizeof *c);
  if (!c) return false;
  *c = (struct cell){.key = tsl__expr_text(s->x),
                     .value = value,
                     .count = TSL__INF,
                     .all = !o->n,
                     .rest = s->shared.string_rest};
  if (o->n && s->style) c->key = tsl__expr_text_not(s->x, tsl__expr_stringset(s->x, o->set));
  if (o->n) c->rest = tsl__expr_others(s->x, o->set), c->alone = true;
  o->cells = c;
  o->cell_count = 1;
  return tsl__schema_ok(s);
}

bool tsl__maker_cells(struct maker *m) {
  struct schema *s = m->s;
  struct object *o = m->o;
  lit *lits = tsl__schema_alloc(s, (tsl__maker_most_lits(m) + 1) * sizeof *lits);
  if (!lits) return false;
  push_cell(
      m, o->n ? tsl__expr_text_not(s->x, tsl__expr_stringset(s->x, o->set)) : tsl__expr_text(s->x),
      0, !o->n);
  for (uint32_t i = 0; i < m->splitter_count && tsl__schema_ok(s); i++) split(m, i);
  size_t kept = 0;
  for (size_t i = 0; i < m->cells.n && tsl__schema_ok(s); i++) {
    struct cell c = m->cells.at[i];
    c.value = hopeless(m, c.mask, 63)
                  ? GOAL_NONE
                  : tsl__schema_goal(s, lits, tsl__maker_lits_of(m, c.mask, UINT32_MAX, lits),
                                     tsl__maker_child_level(m));
    if (c.value != GOAL_NONE) m->cells.at[kept++] = c;
  }
  m->cells.n = kept;
  return tsl__schema_ok(s);
}

void tsl__maker_list_name(void *ctx, const uint8_t *at, uint32_t n) {
  struct maker *m = ctx;
  tsl__string key = {tsl__arena_copy(&m->s->arena, at, n), n};
  if (!key.at || !tsl__vec_push(m->s->alloc, &m->listed, key)) tsl__maker_out_of_memory(m);
}

/* Can the keys of the cell be used up? */
static void count_names(struct maker *m, struct cell *c) {
  struct schema *s = m->s;
  c->count = TSL__INF;
  if (s->options.repeated_names || !tsl__expr_count(s->x, c->key, TSL__SCHEMA_NAMES, &c->count) ||
      c->count > TSL__SCHEMA_NAMES)
    c->count = TSL__INF;
  else if (c->count <= TSL__SCHEMA_LISTED)
    tsl__expr_members(s->x, c->key, tsl__maker_list_name, m);
  else
    c->slot = m->o->counted++;
}

bool tsl__maker_begins_anyhow(const struct maker *m, tsl__expr key) {
  tsl__reads r;
  tsl__reads_of(m->s->x, key, &r);
  return tsl__bytes_count(&r.live) >= OVERLAPPING_BYTES;
}

/* Cells whose keys may begin with nearly any byte are followed side by side, each by a walk of its
 * own. With too many of them a single mask would be too much work. */
static void guard_overlapping(const struct maker *m) {
  uint32_t overlapping = 0;
  const struct node *at = NULL;
  for (uint32_t j = 0; j < m->o->cell_count; j++)
    overlapping += tsl__maker_begins_anyhow(m, m->o->cells[j].key);
  if (overlapping <= TSL__SCHEMA_OVERLAPPING) return;
  for (uint32_t i = 0; i < m->part_count && !at; i++)
    if (m->parts[i]->kind == PART_MEMBERS &&
        tsl__has(tsl__node_of(m->s, m->parts[i]->s), KW_PATTERN_PROPERTIES))
      at = tsl__node_of(m->s, m->parts[i]->s);
  tsl__schema_fail(m->s, TSL_ERR_LIMIT, at ? at->at : NULL,
                   "patterns that overlap distinguish %u groups of keys, more than %u: begin them "
                   "with ^, or give those that overlap one value",
                   overlapping, TSL__SCHEMA_OVERLAPPING);
}

/* Cells that no clause distinguishes are joined if their goals are equal. */
bool tsl__maker_finish_cells(struct maker *m, uint64_t splitters) {
  struct schema *s = m->s;
  struct object *o = m->o;
  o->cells = tsl__schema_alloc(s, (m->cells.n + 1) * sizeof *o->cells);
  if (!o->cells) return false;
  for (size_t i = 0; i < m->cells.n; i++) {
    struct cell c = m->cells.at[i];
    uint32_t j = 0;
    while (j < o->cell_count &&
           (o->cells[j].value != c.value || ((o->cells[j].mask ^ c.mask) & splitters)))
      j++;
    if (j < o->cell_count)
      o->cells[j].key = tsl__expr_alt(s->x, o->cells[j].key, c.key);
    else
      o->cells[o->cell_count++] = c;
  }
  for (uint32_t j = 0; j < o->cell_count; j++) {
    struct cell *c = &o->cells[j];
    c->all = c->key == tsl__expr_text(s->x);
    c->rest =
        c->all ? s->shared.string_rest : tsl__schema_frame(s, tsl__expr_json_string(s->x, c->key));
    count_names(m, c);
  }
  if (o->cell_count > TSL__SCHEMA_OVERLAPPING) guard_overlapping(m);
  return tsl__schema_ok(s);
}
