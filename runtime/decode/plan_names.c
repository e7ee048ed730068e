/* plan_names.c - the names of members that a plan spells, and whether a token may spell one of them
 * first: see plan.h.
 *
 * Problem   Landings forget the name that a token spells, so that all tokens share one plan. But
 *           the plan may write a member of the same name later, and a name may come once only.
 * Idea      For each plan find which of its bytes end a name. This is done once, from the plan's
 *           end backwards: is a name under way at each of its positions? If any byte ends a name,
 *           the names are gathered. A token whose text could be, or become, one of them gets a
 *           search of its own; all others keep the shared plan.
 * Example   In {"a":1," the plan of the landing is `b":0}`, so its name is "b". The token `b` could
 *           become "b" and gets a search of its own. The token `c` could not, and shares the plan.
 * Cost      Each position of a plan is visited once. A token costs one comparison with each name.
 * Tested by tests/decode/test_budget.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/decode/plan_table.h"
#include "runtime/position/distinct_run.h"

static bool add_bytes(tsl__planner *p, tsl__name_list *out, const void *bytes, size_t n) {
  if (!tsl__vec_reserve(&p->alloc, out, n)) return tsl__plan_no_memory(p), false;
  if (n) memcpy(out->at + out->n, bytes, n);
  out->n += n;
  return true;
}

bool tsl__planner_naming(tsl__planner *p, tsl__stack at, tsl__plan_naming *out) {
  tsl__space *space = tsl__plan_space(p);
  tsl__run *r = tsl__run_take(space);
  const tsl__spelling *s =
      r && tsl__run_load(space, r, at) && r->in_name ? tsl__run_spelling(space, r) : NULL;
  out->under_way = s != NULL;
  out->escape = s && s->open_count;
  out->written.n = 0;
  out->known =
      tsl__plan_fine(p) && (!s || add_bytes(p, &out->written, s->decoded.at, s->decoded.n));
  tsl__run_give(space, r);
  return out->known;
}

/* Which bytes of the plan's way end names: from its end on, or from where that is known. */
static void find_names(tsl__planner *p, tsl__plan *plan) {
  TSL__VEC(tsl__plan *) way = {0};
  tsl__plan_naming now = {0};
  tsl__plan *at = plan;
  for (tsl__plan *next; tsl__plan_fine(p) && at->names == TSL__NAMES_UNKNOWN && at->next &&
                        (next = tsl__plan_find(p, at->next));
       at = next)
    if (!tsl__vec_push(&p->alloc, &way, at)) tsl__plan_no_memory(p);
  bool naming = tsl__plan_fine(p) && tsl__planner_naming(p, at->at, &now) && now.under_way;
  if (tsl__plan_fine(p) && at->names == TSL__NAMES_UNKNOWN)
    at->names = at->bytes == 0 ? TSL__NAMES_NONE : TSL__NAMES_ANY;
  for (uint8_t names = at->names; way.n-- > 0 && tsl__plan_fine(p); at->names = names) {
    bool named_then = naming;
    at = way.at[way.n];
    naming = tsl__planner_naming(p, at->at, &now) && now.under_way;
    at->ends_name = naming && !named_then;
    if (at->ends_name && names == TSL__NAMES_NONE) names = TSL__NAMES_SOME;
    if (!tsl__plan_fine(p)) names = TSL__NAMES_UNKNOWN;
  }
  tsl__vec_free(&p->alloc, &now.written);
  tsl__vec_free(&p->alloc, &way);
}

tsl__later_names tsl__planner_names(tsl__planner *p, tsl__stack from, tsl__name_list *out) {
  tsl__plan *plan = tsl__plan_find(p, from);
  tsl__plan_naming now = {0};
  out->n = 0;
  if (!plan) return TSL__NAMES_UNKNOWN;
  if (plan->names == TSL__NAMES_UNKNOWN) find_names(p, plan);
  tsl__later_names names = plan->names;
  for (const tsl__plan *at = plan;
       names == TSL__NAMES_SOME && tsl__plan_fine(p) && at->names == TSL__NAMES_SOME;
       at = tsl__plan_find(p, at->next)) {
    if (!at->ends_name || !tsl__planner_naming(p, at->at, &now)) continue;
    uint32_t n = (uint32_t)now.written.n;
    if (!add_bytes(p, out, &n, sizeof n) || !add_bytes(p, out, now.written.at, n)) break;
  }
  tsl__vec_free(&p->alloc, &now.written);
  return tsl__plan_fine(p) ? names : TSL__NAMES_UNKNOWN;
}

/* Is there a name that begins with two pieces, or, `whole`, is them? */
static bool one_begins(const tsl__name_list *names, const tsl__name_list *first,
                       const uint8_t *then, size_t n, bool whole) {
  uint32_t length;
  for (size_t i = 0; i < names->n; i += length) {
    memcpy(&length, names->at + i, sizeof length);
    const uint8_t *name = names->at + (i += sizeof length);
    size_t all = first->n + n;
    if (whole ? length != all : length < all) continue;
    if ((!first->n || !memcmp(name, first->at, first->n)) &&
        (!n || !memcmp(name + first->n, then, n)))
      return true;
  }
  return false;
}

bool tsl__may_name(const tsl_vocab *v, const tsl__plan_naming *begun, tsl_token token,
                   const tsl__name_list *names) {
  const uint8_t *bytes = v->bytes + v->offsets[token], *quote = NULL;
  size_t n = v->offsets[token + 1] - v->offsets[token], quotes = 0;
  for (size_t i = 0; i < n; i++) {
    if (bytes[i] == '\\') return true;
    if (bytes[i] == '"') quotes++, quote = bytes + i;
  }
  if (quotes > 1 || begun->escape) return true;
  /* right after its opening quote it need not be known that one is under way */
  const tsl__name_list none = {0}, *written = begun->under_way ? &begun->written : &none;
  if (one_begins(names, written, bytes, quote ? (size_t)(quote - bytes) : n, quote != NULL))
    return true;
  return !begun->under_way && quote &&
         one_begins(names, &none, quote + 1, n - (size_t)(quote + 1 - bytes), false);
}
