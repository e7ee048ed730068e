/* plan_items.c - items that landings forget, and items that plans after a landing still write: see
 * plan.h.
 *
 * Problem   In an array of items that must differ, every text is a position of its own. So each of
 *           100,000 tokens in a string would need a plan of its own.
 * Idea      A landing forgets the items under way in the token (tsl__distinct_byte_forget). So all
 *           tokens that go on in the same way lead to the same position, whose plan is made once.
 *           Items used before stay known, and an item is forgotten only when it differs from all of
 *           them. But the plan may write further items, and one of them may equal the forgotten
 *           one. So the plan's items are gathered once, with all their spellings. The item's text
 *           so far is compared with them, and then the token. Mostly they differ at once, for all
 *           tokens. A token for which they do not differ gets a search of its own.
 * Example   ["red","gr under minItems 3: all tokens of letters lead to one position, whose plan is
 *           `",""]`. The item begins with gr: it is not the empty string, whichever token comes.
 *           Right after the quote the item could still be the empty string. Then tokens are
 *           compared with `""`: those that begin with a letter differ.
 * Tested by tests/decode/test_budget_items.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/decode/plan.h"

#include "runtime/position/distinct_run.h"

typedef TSL__VEC(uint8_t) bytes;

/* The text of a position's plan. */
static bool spell_plan(tsl__planner *p, tsl__stack at, bytes *out) {
  const tsl_vocab *v = p->grammar->vocab;
  const tsl__plan *plan = tsl__planner_plan(p, at);
  for (; tsl__plan_leads(plan); plan = tsl__planner_plan(p, plan->after)) {
    uint32_t n = v->offsets[plan->token + 1] - v->offsets[plan->token];
    if (!tsl__vec_reserve(&p->alloc, out, n)) return tsl__space_no_memory(p->grammar->space);
    memcpy(out->at + out->n, v->bytes + v->offsets[plan->token], n);
    out->n += n;
  }
  return plan != NULL;
}

/* An item: where its text lies. */
typedef struct item {
  uint32_t depth; /* of its array; 0: it has its place in a list already */
  uint32_t from, n;
} item;
typedef TSL__VEC(item) items;

static bool add_item(tsl__planner *p, const tsl__run *r, uint32_t depth, bytes *texts, items *out) {
  item made = {depth, (uint32_t)texts->n, (uint32_t)r->raw.n};
  if (!tsl__vec_reserve(&p->alloc, texts, r->raw.n + 1) || !tsl__vec_push(&p->alloc, out, made))
    return tsl__space_no_memory(p->grammar->space);
  memcpy(texts->at + texts->n, r->raw.at, r->raw.n);
  texts->n += r->raw.n;
  return true;
}

/* The items that end in the plan, in arrays of which one was forgotten before; that one itself is
 * not watched. *follows: the plan is a way from there. */
static bool gather(tsl__planner *p, tsl__stack at, const bytes *plan, bytes *texts, items *out,
                   bool *follows) {
  tsl__space *space = p->grammar->space;
  tsl__run *r = tsl__run_take(space);
  *follows = r && tsl__run_load(space, r, at);
  for (size_t i = 0; *follows && i < plan->n; i++) {
    const tsl__open *o = r->open ? tsl__open_at(space, r->open) : NULL;
    bool ends = !r->in_string && (plan->at[i] == ',' || plan->at[i] == ']');
    if (ends && o && o->array & (TSL__ARRAY_FORGOT | TSL__ARRAY_LOST) && o->start != TSL__OPEN_NONE)
      *follows = tsl__run_item(space, r, o->start) && add_item(p, r, o->depth, texts, out);
    *follows = *follows && tsl__run_byte(space, r, plan->at[i]);
  }
  tsl__run_give(space, r);
  return space->status == TSL_OK;
}

/* One list for each array. */
static bool list_items(tsl__planner *p, items *all, const bytes *texts) {
  TSL__VEC(tsl__spelled) list = {0};
  bool fine = true;
  for (size_t i = 0; fine && i < all->n; i++) {
    uint32_t depth = all->at[i].depth;
    list.n = 0;
    for (size_t k = i; fine && depth && k < all->n; k++) {
      if (all->at[k].depth != depth) continue;
      fine = tsl__vec_push(&p->alloc, &list,
                           ((tsl__spelled){texts->at + all->at[k].from, all->at[k].n}));
      all->at[k].depth = 0;
    }
    tsl__later_item made = {
        depth,
        fine && list.n ? tsl__distinct_deny(p->grammar->space, list.at, (uint32_t)list.n) : 0};
    fine = fine && (!made.deny || tsl__vec_push(&p->alloc, &p->later_items, made));
  }
  tsl__vec_free(&p->alloc, &list);
  return fine || tsl__space_no_memory(p->grammar->space);
}

static bool forgets(const tsl__space *space, tsl__stack at) {
  for (uint32_t i = tsl__distinct_at(space, tsl__with_distinct_at(space, at)->distinct)->open; i;
       i = tsl__open_at(space, i)->below)
    if (tsl__open_at(space, i)->array & (TSL__ARRAY_FORGOT | TSL__ARRAY_LOST)) return true;
  return false;
}

static bool add_items(tsl__planner *p, tsl__stack at) {
  bytes plan = {0}, texts = {0};
  items all = {0};
  bool follows = true, fine = spell_plan(p, at, &plan) &&
                              gather(p, at, &plan, &texts, &all, &follows) &&
                              list_items(p, &all, &texts);
  if (fine && !follows) { /* a name comes twice */
    tsl__later_item any = {0};
    fine =
        tsl__vec_push(&p->alloc, &p->later_items, any) || tsl__space_no_memory(p->grammar->space);
  }
  tsl__vec_free(&p->alloc, &plan);
  tsl__vec_free(&p->alloc, &texts);
  tsl__vec_free(&p->alloc, &all);
  return fine && p->grammar->space->status == TSL_OK;
}

bool tsl__planner_later_items(tsl__planner *p, tsl__stack at, const tsl__later_item **out,
                              uint32_t *n) {
  const tsl__later *known = NULL;
  *out = NULL;
  *n = 0;
  if (!forgets(p->grammar->space, at)) return true;
  tsl__index_iter it = tsl__index_first(&p->laters_index, tsl__mix(at));
  for (uint32_t i; !known && (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__later *l = tsl__pool_at(&p->laters, i);
    if (l->at == at) known = l;
  }
  if (!known) {
    uint32_t first = (uint32_t)p->later_items.n;
    if (!add_items(p, at)) return false;
    tsl__later *made = tsl__pool_add(&p->laters, &p->alloc);
    if (made) *made = (tsl__later){at, first, (uint32_t)p->later_items.n - first};
    if (!made || !tsl__index_add(&p->laters_index, &p->alloc, tsl__mix(at), p->laters.n - 1))
      return tsl__space_no_memory(p->grammar->space);
    known = made;
  }
  if (known->n) *out = &p->later_items.at[known->first];
  *n = known->n;
  return true;
}
