/* strings.c - sorted sets of strings, and keys that lead on to different things.
 *
 * A node over a set is a range [lo, hi) of its strings, all of which agree on the first d bytes; reading a byte narrows the range by binary
 * search. 100,000 enum values are one array and as many nodes as a generation visits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr_node.h"

#include <stdlib.h>

typedef struct sorted {
  tsl__string s;
  uint32_t input;
} sorted;

static int by_spelling(const void *p, const void *q) {
  const sorted *a = p, *b = q;
  uint32_t n = a->s.length < b->s.length ? a->s.length : b->s.length;
  int c = n ? memcmp(a->s.at, b->s.at, n) : 0;
  return c ? c : a->s.length != b->s.length ? (a->s.length < b->s.length ? -1 : 1) : 0;
}

tsl__stringset tsl__stringset_new(tsl__exprs *x, const tsl__string *strings, size_t n, uint32_t *order) {
  if (n >= UINT32_MAX) return tsl__exprs_fail(x, TSL_ERR_LIMIT, "too many strings in a set"), 0;
  sorted *all = tsl__alloc(&x->alloc, (n ? n : 1) * sizeof *all);
  tsl__string *kept = tsl__exprs_alloc(x, (n ? n : 1) * sizeof *kept);
  uint32_t count = 0;
  if (!all || !kept) {
    tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
    tsl__free(&x->alloc, all, (n ? n : 1) * sizeof *all);
    return 0;
  }
  for (size_t i = 0; i < n; i++) all[i] = (sorted){strings[i], (uint32_t)i};
  qsort(all, n, sizeof *all, by_spelling);
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || by_spelling(&all[i - 1], &all[i]) != 0) {
      char *copy = tsl__arena_copy(&x->arena, all[i].s.at, all[i].s.length);
      if (!copy) tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
      kept[count++] = (tsl__string){copy, all[i].s.length};
    }
    if (order) order[all[i].input] = count - 1;
  }
  tsl__free(&x->alloc, all, (n ? n : 1) * sizeof *all);
  tsl__strings set = {kept, count};
  if (x->status == TSL_OK && !tsl__vec_push(&x->alloc, &x->strings, set)) tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
  return x->status == TSL_OK ? x->strings_base + (uint32_t)x->strings.n - 1 : 0;
}

uint32_t tsl__stringset_size(const tsl__exprs *x, tsl__stringset s) { return tsl__strings_at(x, s)->n; }
tsl__string tsl__stringset_at(const tsl__exprs *x, tsl__stringset s, uint32_t index) { return tsl__strings_at(x, s)->at[index]; }

/* First index in [lo, hi) whose byte at `depth` is at least `byte`; a string that ends there comes first. */
static uint32_t lower_bound(const tsl__strings *s, uint32_t lo, uint32_t hi, uint32_t depth, unsigned byte) {
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    bool less = s->at[mid].length == depth || (uint8_t)s->at[mid].at[depth] < byte;
    if (less) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

bool tsl__strings_narrow(const tsl__strings *s, uint32_t *lo, uint32_t *hi, uint32_t depth, uint8_t byte) {
  uint32_t first = lower_bound(s, *lo, *hi, depth, byte);
  if (first == *hi || (uint8_t)s->at[first].at[depth] != byte) return false;
  *hi = lower_bound(s, first, *hi, depth, byte + 1u);
  *lo = first;
  return true;
}

tsl__expr tsl__strset_node(tsl__exprs *x, tsl__stringset set, uint32_t lo, uint32_t hi, uint32_t depth) {
  const tsl__strings *s = tsl__strings_at(x, set);
  if (lo == hi) return TSL__NONE;
  if (hi - lo == 1) return tsl__expr_literal(x, s->at[lo].at + depth, s->at[lo].length - depth);
  tsl__node n = {.kind = TSL__K_STRSET, .a = set, .b = lo, .c = hi, .d = depth, .shortest = TSL__INF, .flags = TSL__FINITE | TSL__SEARCHED};
  bool textual = true;
  for (uint32_t i = lo; i < hi; i++) {
    if (s->at[i].length - depth < n.shortest) n.shortest = s->at[i].length - depth;
    if (s->at[i].length > depth && ((uint8_t)s->at[i].at[depth] & 0xC0) == 0x80) textual = false;
    if (n.shortest == 0 && i - lo > 64) break; /* the first ones decide */
  }
  if (s->at[lo].length == depth) n.flags |= TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH;
  if (textual) n.flags |= TSL__TEXTUAL;
  return tsl__intern(x, n);
}

tsl__expr tsl__expr_stringset(tsl__exprs *x, tsl__stringset s) { return tsl__strset_node(x, s, 0, tsl__stringset_size(x, s), 0); }

static bool any_allowed(const tsl__keys *k, uint32_t lo, uint32_t hi) {
  if (!k->ops || !k->ops->allows) return lo < hi;
  for (uint32_t i = lo; i < hi; i++)
    if (k->ops->allows(k->ctx, k->param, i)) return true;
  return false;
}

tsl__expr tsl__keys_node(tsl__exprs *x, uint32_t keys, uint32_t lo, uint32_t hi, uint32_t depth) {
  const tsl__keys *k = tsl__keys_at(x, keys);
  const tsl__strings *s = tsl__strings_at(x, k->set);
  if (!any_allowed(k, lo, hi)) return TSL__NONE;
  tsl__node n = {.kind = TSL__K_KEYS, .a = keys, .b = lo, .c = hi, .d = depth, .flags = TSL__SEARCHED};
  n.shortest = k->shortest > depth + 1 ? k->shortest - depth - 1 : 0; /* the quote is counted by JSTR */
  if (s->at[lo].length == depth && any_allowed(k, lo, lo + 1)) n.flags |= TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH;
  return tsl__intern(x, n);
}

tsl__expr tsl__expr_keys(tsl__exprs *x, tsl__stringset set, const tsl__keys_ops *ops, void *ctx, uint32_t param, uint32_t shortest) {
  tsl__keys keys = {set, ops, ctx, param, shortest};
  if (!tsl__vec_push(&x->alloc, &x->keys, keys)) {
    tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
    return TSL__NONE;
  }
  tsl__expr inner = tsl__keys_node(x, x->keys_base + (uint32_t)x->keys.n - 1, 0, tsl__stringset_size(x, set), 0);
  return tsl__expr_json_string(x, inner);
}
