/* order.c - in which order the members of an object come, by order `schema`.
 *
 * Problem   Several subschemas name the members of one object. Readers of the schema expect them in
 *           the order of its text: an allOf, a $ref or a oneOf in front of `properties` comes
 *           first. But conjunctions are made in another order: first all that must hold, choices
 *           last.
 * Idea      A rank is the place of a subschema in the text, as a path. A step of it is a keyword,
 *           and which of the keyword's subschemas. Each part that names members has a rank. Where
 *           the paths of two parts differ first, the places of the two keywords decide, or of the
 *           two subschemas of one keyword. `then` and `else` stand where their `if` does.
 * Values    The value of one member may have to satisfy several subschemas. A goal is a set of
 *           them, without a place in the text. So each subschema has a number: its place in the
 *           order in which a reader comes to subschemas. This reader follows each reference at
 *           once.
 * Example   {"allOf": [{"properties": {"a", "b"}}], "properties": {"c", "a"}} has a, b, c. A name
 *           stands where it stands first.
 * Not       What only demands a name (`required`) gives it no place. Such members come last, in any
 *           order.
 * Cost      Parts in order: one comparison each. Others: n log n comparisons, each as long as the
 *           path between the two. Numbers: each subschema once, where a goal first needs them.
 * Tested by tests/schema/test_schema.c (tests/cases/schema/order.jsonl)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/schema/object.h"

/* ---- parts ----------------------------------------------------------------------------------- */

const struct keyword_value *tsl__maker_placed(const struct maker *m, const struct part *p) {
  return p->kind == PART_MEMBERS || p->kind == PART_ORDER ? tsl__maker_properties(m, p) : NULL;
}

/* Does what part `a` names come after what `b` names? */
static bool comes_after(struct maker *m, const struct part *a, const struct part *b) {
  struct rank x = {a->rank, a->keyword, 0, a->rank ? a->rank->depth + 1 : 1},
              y = {b->rank, b->keyword, 0, b->rank ? b->rank->depth + 1 : 1};
  while (x.outer != y.outer && tsl__schema_work(m->s, 1)) {
    uint32_t deeper = x.depth > y.depth ? x.depth : y.depth;
    if (x.depth == deeper) x = *x.outer;
    if (y.depth == deeper) y = *y.outer;
  }
  return x.keyword != y.keyword ? x.keyword > y.keyword : x.child > y.child;
}

/* Where among the n that are in order does the part belong? */
static uint32_t place_among(struct maker *m, const struct part **sorted, uint32_t n,
                            const struct part *p) {
  if (!n || !comes_after(m, sorted[n - 1], p)) return n;
  uint32_t lo = 0, hi = n - 1;
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2;
    if (comes_after(m, sorted[mid], p))
      hi = mid;
    else
      lo = mid + 1;
  }
  return lo;
}

bool tsl__maker_order(struct maker *m) {
  uint32_t n = 0, all = 0;
  for (uint32_t i = 0; i < m->part_count; i++) all += tsl__maker_placed(m, m->parts[i]) != NULL;
  if (all < 2 || m->s->options.order != TSL_ORDER_SCHEMA) return true;
  const struct part **sorted = tsl__schema_alloc(m->s, all * sizeof *sorted);
  if (!sorted) return false;
  for (uint32_t i = 0; i < m->part_count && tsl__schema_work(m->s, 1); i++) {
    if (!tsl__maker_placed(m, m->parts[i])) continue;
    uint32_t at = place_among(m, sorted, n, m->parts[i]);
    memmove(sorted + at + 1, sorted + at, (n++ - at) * sizeof *sorted);
    sorted[at] = m->parts[i];
  }
  if (!tsl__schema_ok(m->s)) return false;
  n = 0;
  for (uint32_t i = 0; i < m->part_count; i++)
    if (tsl__maker_placed(m, m->parts[i])) m->parts[i] = sorted[n++];
  return true;
}

/* ---- numbers of subschemas ------------------------------------------------------------------- */

struct reading {
  struct schema *s;
  uint32_t *numbers; /* 0: not read yet */
  uint32_t next;
  TSL__VEC(sid) ahead; /* the next one last */
};

/* The node's keywords in the order of the text; how many they are. */
static uint32_t by_text(const struct node *n, const struct keyword_value **out) {
  uint32_t count = tsl__ones(n->mask);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = i;
    for (; at && tsl__keyword_place(n, out[at - 1]) > tsl__keyword_place(n, &n->values[i]); at--)
      out[at] = out[at - 1];
    out[at] = &n->values[i];
  }
  return count;
}

/* What the node leads to is read next, in front of all that was to be read. */
static bool read_on(struct reading *r, const struct node *n) {
  const struct keyword_value *found[KW_COUNT];
  for (uint32_t k = by_text(n, found); k-- > 0;) {
    for (uint32_t i = found[k]->children ? found[k]->count : 0; i-- > 0;) {
      sid child = found[k]->children[i];
      if (child >= r->next || r->numbers[child]) continue;
      if (!tsl__schema_work(r->s, 1)) return false;
      if (!tsl__vec_push(r->s->alloc, &r->ahead, child))
        return tsl__schema_fail(r->s, TSL_ERR_NO_MEMORY, NULL, "out of memory"), false;
    }
  }
  return true;
}

/* Number all nodes. */
static void read_all(struct schema *s) {
  struct reading r = {.s = s, .next = (uint32_t)s->nodes.n};
  uint32_t number = 0;
  r.numbers = tsl__schema_alloc(s, r.next * sizeof *r.numbers);
  if (!r.numbers) return;
  for (sid root = 0; root < r.next && tsl__schema_work(s, 1); root++) {
    sid id = root;
    do {
      if (!r.numbers[id]) {
        r.numbers[id] = ++number;
        if (!read_on(&r, s->nodes.at[id])) break;
      }
      id = r.ahead.n ? r.ahead.at[--r.ahead.n] : UINT32_MAX;
    } while (id != UINT32_MAX);
  }
  tsl__vec_free(s->alloc, &r.ahead);
  s->text_numbers = r.numbers;
  s->numbered = r.next;
}

uint32_t tsl__schema_number_in_text(struct schema *s, sid id) {
  if (!s->text_numbers) read_all(s);
  return s->text_numbers && id < s->numbered ? s->text_numbers[id] : UINT32_MAX;
}
