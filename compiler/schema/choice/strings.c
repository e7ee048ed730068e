/* strings.c - strings of several branches: lists that become one, and texts that do not meet.
 *
 * Problem   oneOf of n strings asks which of n sets of strings meet. For each pair that is a
 *           search, or a list that is compared with a list.
 * Lists     One table has the strings of all lists. It knows of each whether a second list has it.
 * Texts     Most sets of texts begin with fixed bytes, their prefix. Two sets can meet only if one
 *           prefix begins with the other. Sort the prefixes. Those that begin with the same shorter
 *           one stand side by side, right behind it: they are one group. Sets of different groups
 *           never meet.
 * Example   The prefixes of ^ab, ^a, ^b and ^bc are sorted: a, ab, b, bc. The groups are {^a, ^ab}
 *           and {^b, ^bc}.
 * Sound     "In different groups" is certain. Within a group two sets may meet or not.
 * Cost      A look at each string of a list, and a sort of the prefixes.
 * Tested by tests/schema/test_oneof.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/node.h"
#include "compiler/schema/goal.h"

/* ---- lists ----------------------------------------------------------------------------------- */

struct sought {
  const tsl__string *set;
  tsl__string text;
};

static bool is_sought(const void *ctx, uint32_t index) {
  const struct sought *k = ctx;
  return tsl__string_equal(k->set[index], k->text);
}

uint32_t tsl__schema_find_text(const struct table *by_hash, uint64_t hash, const tsl__string *set,
                               tsl__string text) {
  const struct sought key = {set, text};
  return tsl__table_find(by_hash, hash, is_sought, &key);
}

/* A string of list i is in the set; list[index] is the one list that has it, or SEVERAL. */
#define SEVERAL UINT32_MAX
static void put(struct schema *s, struct table *by_hash, tsl__string *set, uint32_t *list,
                uint32_t *n, tsl__string text, uint32_t i) {
  const uint64_t hash = tsl__hash(text.at, text.length);
  const uint32_t found = tsl__schema_find_text(by_hash, hash, set, text);
  if (found != UINT32_MAX) {
    if (list[found] != i) list[found] = SEVERAL;
    return;
  }
  tsl__table_add(s, by_hash, hash, *n);
  list[*n] = i;
  set[(*n)++] = text;
}

struct strings tsl__schema_lists_joined(struct schema *s, const struct strings *const *lists,
                                        uint32_t n, uint32_t *once) {
  struct strings out = {.is_set = true};
  struct table by_hash = {0};
  uint32_t count = 0, alone = 0;
  for (uint32_t i = 0; i < n; i++) count += lists[i]->count;
  tsl__string *set = tsl__schema_alloc(s, (count + 1) * (sizeof *set + sizeof(uint32_t)));
  if (once) *once = 0;
  if (!set) return out;
  uint32_t *list = (uint32_t *)(set + count);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < lists[i]->count && tsl__schema_work(s, 4); k++)
      put(s, &by_hash, set, list, &out.count, lists[i]->set[k], i);
  tsl__table_free(s, &by_hash);
  for (uint32_t i = 0; once && i < out.count; i++) {
    const tsl__string text = set[i];
    if (list[i] == SEVERAL) continue;
    set[i] = set[alone];
    list[i] = list[alone];
    set[alone++] = text;
  }
  if (once) *once = alone;
  out.set = set;
  return out;
}

/* ---- texts ----------------------------------------------------------------------------------- */

#define MEETS_MAX 16u  /* sets of a meet whose prefixes are looked at */
#define PREFIX_MAX 64u /* bytes of a prefix; the rest is not looked at */

/* The bytes that every text of e, which is no meet, begins with. They lie in the pool. */
static tsl__string literal_prefix(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind == TSL__K_SEQ) n = tsl__node_at(x, n.a);
  if (n.kind != TSL__K_LIT) return (tsl__string){"", 0};
  return (tsl__string){(const char *)tsl__literal_at(x, n.a), n.b < PREFIX_MAX ? n.b : PREFIX_MAX};
}

/* The same of any expression: of a meet the longest one. */
static tsl__string prefix_of(struct schema *s, tsl__expr e) {
  const tsl__node n = tsl__node_at(s->x, e);
  tsl__string longest = literal_prefix(s->x, e);
  for (uint32_t i = 0; n.kind == TSL__K_AND && i < n.b && i < MEETS_MAX; i++) {
    const tsl__string one = literal_prefix(s->x, tsl__list_at(s->x, n.a)[i]);
    if (one.length > longest.length) longest = one;
  }
  const char *kept = tsl__arena_copy(&s->arena, longest.at, longest.length);
  if (!kept) tsl__schema_fail(s, TSL_ERR_NO_MEMORY, NULL, "out of memory");
  return (tsl__string){kept, kept ? longest.length : 0};
}

void tsl__schema_text_groups(struct schema *s, const tsl__expr *texts, uint32_t n,
                             uint32_t *group) {
  tsl__string *prefixes = tsl__schema_alloc(s, (n + 1) * (sizeof *prefixes + sizeof *group));
  tsl__string first = {"", 0};
  uint32_t groups = 0;
  if (!prefixes || !n) return;
  uint32_t *by_rank = (uint32_t *)(prefixes + n);
  for (uint32_t i = 0; i < n && tsl__schema_work(s, 4); i++) prefixes[i] = prefix_of(s, texts[i]);
  if (!tsl__schema_ok(s)) return;
  const tsl__stringset sorted = tsl__stringset_new(s->x, prefixes, n, group);
  if (!tsl__schema_ok(s)) return;
  for (uint32_t rank = 0; rank < tsl__stringset_size(s->x, sorted); rank++) {
    const tsl__string prefix = tsl__stringset_at(s->x, sorted, rank);
    if (!rank || !tsl__string_begins(prefix, first)) first = prefix, groups++;
    by_rank[rank] = groups;
  }
  for (uint32_t i = 0; i < n; i++) group[i] = by_rank[group[i]];
}
