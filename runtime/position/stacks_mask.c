/* stacks_mask.c - what may come after a position: its mask, the bytes that may be next, and the
 * fewest bytes to a complete text. See stacks.h.
 *
 * Masks     The top frame is walked over the whole vocabulary. The walk gives the tokens that stay
 *           within the frame. Of the tokens that run past its end it gives a leftover: what remains
 *           to be spelled. The frame below is walked over that leftover, and so on down
 *           (gather_chain). The mask is the union of all these walks.
 * Bytes     tsl__stack_next visits the frames that may be next to read, and joins the bytes that
 *           they can read.
 * Fewest    The shortest completion of a stack is the sum over its frames; that of a set is the
 *           least over its stacks. Each set keeps its answer in the table of moves
 *           (tsl__key_fewest).
 * Example   After `{"a":1` the top frame is the number. Its walk allows `2` and `.5`, and leaves
 *           `}` and `,"` over. The frame of the object below allows them.
 * Cost      A mask that is known: one load. Otherwise a walk for each frame that a token can reach;
 *           walks are kept by state and leftover (runtime/walk/walk.h).
 * Limits    A stack that is deeper than TSL__NESTED_MAX is summed in parts, from below.
 * Tested by tests/engine/test_oracle.c, tests/matcher/test_matcher.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/position/stacks.h"

#include "runtime/walk/shared_walks.h"
#include "runtime/walk/fixed.h"
#include "runtime/position/distinct_run.h"
#include "runtime/walk/names.h"
#include "runtime/position/stacks_step.h"

/* ---- what was gathered already
 * ------------------------------------------------------------------------------------
 *
 * Tails are shared: of an ambiguous text there may be 2^n ways down to where they meet. What
 * follows there, over what is left to spell, is gathered once. Mostly there are few ways, so only a
 * mask that is gathered of many keeps account.
 */

#define CHAINS_FREE 512u /* stacks that a mask is gathered of before it keeps account */
#define CHAINS_FIRST 1024u

static uint64_t *chain_slot(const tsl__chains *c, uint64_t key) {
  size_t i = (size_t)tsl__mix(key) & (c->capacity - 1);
  while (c->slots[i] && c->slots[i] != key) i = (i + 1) & (c->capacity - 1);
  return &c->slots[i];
}

static bool chains_grow(tsl__space *space) {
  tsl__chains *c = &space->positions.chains, bigger = *c;
  bigger.capacity = c->capacity ? c->capacity * 2 : CHAINS_FIRST;
  if (!(bigger.slots = tsl__alloc_zero(&space->alloc, bigger.capacity * sizeof *bigger.slots)))
    return tsl__space_no_memory(space);
  for (size_t i = 0; i < c->capacity; i++)
    if (c->slots[i]) *chain_slot(&bigger, c->slots[i]) = c->slots[i];
  tsl__free(&space->alloc, c->slots, c->capacity * sizeof *c->slots);
  *c = bigger;
  return true;
}

static void chains_clear(tsl__space *space) {
  tsl__free(&space->alloc, space->positions.chains.slots,
            space->positions.chains.capacity * sizeof *space->positions.chains.slots);
  space->positions.chains = (tsl__chains){0};
}

/* Has it been gathered? True after a failure, too. */
static bool was_gathered(tsl__space *space, tsl__stack at, tsl__leftover over) {
  tsl__chains *c = &space->positions.chains;
  uint64_t key = (uint64_t)at << 32 | over;
  if (!tsl__space_step(space, 1) || (c->n * 2 >= c->capacity && !chains_grow(space))) return true;
  uint64_t *slot = chain_slot(c, key);
  if (*slot == key) return true;
  *slot = key;
  c->n++;
  return false;
}

/* ---- masks ----------------------------------------------------------------------------------- */

static void gather_chain(tsl__space *space, tsl__gather *g, tsl__stack at, tsl__leftover over,
                         uint32_t depth);

/* Gather what follows a complete name, over its leftover: the place where the RESUME goes on, and
 * the frames below. */
static void gather_after_name(tsl__space *space, tsl__gather *g, const tsl__cell *resume,
                              const tsl__named_left *left, uint32_t depth) {
  tsl__leftover rest = tsl__walk_after_name(space, g, resume->state, left, resume->tail == 0);
  if (rest && resume->tail) gather_chain(space, g, resume->tail, rest, depth + 1);
}

/* A frame of which the closing quote of a name is left. */
static void gather_name_end(tsl__space *space, tsl__gather *g, const tsl__stack_rec *below,
                            const tsl__named_end *end, uint32_t depth) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__trie_node *quote = &trie->nodes[end->node];
  bool any = false;
  for (uint32_t i = 0; i < below->n && space->status == TSL_OK; i++) {
    const tsl__cell *r = tsl__stack_cell(space, below, i);
    if (!tsl__resume_allows(space, r->state, end->left.name)) continue;
    if (!any)
      tsl__gather_tokens(space, g, trie->order + quote->begin, quote->own_end - quote->begin);
    any = true;
    if (end->left.left) gather_after_name(space, g, r, &end->left, depth);
  }
}

/* A frame in the middle of a name, over all that is left to spell. Each RESUME below picks its
 * names, and goes on after them. */
static void gather_named(tsl__space *space, tsl__gather *g, const tsl__cell *c, tsl__leftover over,
                         uint32_t depth) {
  const tsl__stack_rec *below = tsl__stack_at(space, c->tail);
  tsl__named_end end;
  if (over == TSL__WHOLE && tsl__named_end_of(space, c->state, &end)) {
    gather_name_end(space, g, below, &end, depth);
    return;
  }
  const tsl__named_walk *w = tsl__named_walk_over(space, c->state, over);
  for (uint32_t i = 0; w && i < below->n && space->status == TSL_OK; i++) {
    const tsl__cell *r = tsl__stack_cell(space, below, i);
    tsl__named_gather(space, g, w, r->state);
    for (uint32_t k = 0; k < w->left_count && space->status == TSL_OK; k++)
      gather_after_name(space, g, r, &w->lefts[k], depth);
  }
}

/* Does another frame of the position take any text but some? Then, where none of the names ends
 * within a token, what may come of them is text and no more. */
static bool is_text_yet(tsl__space *space, const tsl__stack_rec *at, const tsl__cell *c,
                        tsl__leftover over) {
  bool beside = false;
  for (uint32_t i = 0; i < at->n && !beside; i++)
    beside = tsl__is_others(tsl__state_at(space, tsl__stack_cell(space, at, i)->state));
  return beside && tsl__names_go_on(space, c->state, over, false);
}

/* Gather what follows a frame, over its leftover: of the whole vocabulary, of a set, or of both.
 * White space, which may be empty, leaves both. Then a state of this grammar is walked over both
 * together. */
static void gather_below(tsl__space *space, tsl__gather *g, tsl__stack at, tsl__leftover whole,
                         tsl__leftover set, uint32_t depth) {
  bool own = whole && set &&
             tsl__stack_cell(space, tsl__stack_at(space, at), 0)->state >= space->states.first;
  tsl__leftover both = own ? tsl__leftover_join(space, whole, set) : 0;
  if (both) whole = both, set = 0;
  if (whole) gather_chain(space, g, at, whole, depth);
  if (set) gather_chain(space, g, at, set, depth);
}

/* The chain: the frame over what is left to spell, then what follows it over what that leaves. */
static void gather_chain(tsl__space *space, tsl__gather *g, tsl__stack at, tsl__leftover over,
                         uint32_t depth) {
  const tsl__stack_rec *r = tsl__stack_at(space, at);
  if (depth > TSL__STEP_DEPTH_MAX / 10) {
    tsl__space_fail(space, TSL_ERR_LIMIT, "too many frames end within one token");
    return;
  }
  if (TSL__UNLIKELY(++space->positions.chains.looked > CHAINS_FREE) &&
      was_gathered(space, at, over))
    return;
  for (uint32_t i = 0; i < r->n && space->status == TSL_OK; i++) {
    const tsl__cell *c = tsl__stack_cell(space, r, i);
    if (tsl__state_at(space, c->state)->flags & TSL__STATE_KEYED) {
      if (!is_text_yet(space, r, c, over)) gather_named(space, g, c, over, depth);
      continue;
    }
    tsl__leftover left[2] = {0, 0};
    for (int part = 0; part < 2; part++) {
      tsl__leftover t = part ? tsl__leftover_set(over) : over & TSL__WHOLE;
      const tsl__walk *w = t ? tsl__walk_above(space, c->state, c->count, t, c->tail) : NULL;
      if (w) tsl__gather_mask(space, g, w->mask), left[part] = w->left;
    }
    if (c->tail && (left[0] | left[1]))
      gather_below(space, g, c->tail, left[0], left[1], depth + 1);
  }
}

/* The mask of a plain position as its frames make it. */
static tsl__mask frames_mask(tsl__space *space, tsl__stack at) {
  const tsl__stack_rec *r = tsl__stack_at(space, at);
  tsl__gather *g = space->gather;
  tsl__gather_clear(g);
  space->positions.chains.looked = 0;
  gather_chain(space, g, at, TSL__WHOLE, 0);
  if (TSL__UNLIKELY(space->positions.chains.capacity)) chains_clear(space);
  if (r->complete) tsl__gather_tokens(space, g, space->vocab->eog, space->vocab->eog_count);
  return tsl__gather_joined(space, g);
}

/* A token that a position denies without its distinct record is denied with it, too. The exception
 * is where an item must equal an earlier one: without the record there is no earlier item. */
static tsl__mask plain_mask(tsl__space *space, tsl__stack plain) {
  return space->positions.watches & TSL__SAME_ITEM ? frames_mask(space, plain)
                                                   : tsl__stack_mask(space, plain);
}

tsl__mask tsl__stack_mask(tsl__space *space, tsl__stack at) {
  tsl__stack_rec *r = (tsl__stack_rec *)(uintptr_t)tsl__stack_at(space, at);
  const tsl__mask_rec *known = atomic_load_explicit(&r->mask, memory_order_acquire);
  if (known) return known->number;
  tsl__mask m = r->has_distinct ? plain_mask(space, tsl__with_distinct_at(space, at)->plain)
                                : frames_mask(space, at);
  if (tsl__distinct_narrows(space, r) && space->status == TSL_OK)
    m = tsl__distinct_mask(space, at, m);
  if (space->status != TSL_OK) return 0;
  tsl__mask_share(space, m);
  atomic_store_explicit(&r->mask, tsl__mask_at(space, m), memory_order_release);
  return m;
}

/* ---- the next byte --------------------------------------------------------------------------- */

/* The bytes that a frame can read: of ranges that wait each byte is tried, and so is each byte of a
 * name, requested below. They are added to *ctx. */
static void add_live(tsl__space *space, tsl__stepping *s, const tsl__state_rec *r, uint32_t count,
                     tsl__stack tail, void *ctx) {
  tsl__bytes *out = ctx;
  bool names = r->flags & TSL__STATE_KEYED;
  (void)s;
  (void)count;
  for (unsigned i = 0, b = 0; i < r->ranges && space->status == TSL_OK;
       b = tsl__state_upper(r)[i++] + 1u) {
    if (!names && r->targets[i] && !tsl__target_is_later(r->targets[i]))
      tsl__bytes_add_range(out, b, tsl__state_upper(r)[i]);
    if (!r->targets[i] || (!names && !tsl__target_is_later(r->targets[i]))) continue;
    for (unsigned byte = b; byte <= tsl__state_upper(r)[i] && space->status == TSL_OK; byte++) {
      tsl__target t = tsl__bytes_has(out, byte) ? 0 : tsl__state_step(space, r, (uint8_t)byte);
      if (t && (!names ||
                tsl__names_below(space, tsl__state_at(space, tsl__target_state(t))->keyed, tail)))
        tsl__bytes_add(out, byte);
    }
  }
}

bool tsl__stack_next(tsl__space *space, tsl__stack at, tsl__bytes *out) {
  if (tsl__stack_at(space, at)->has_distinct) return tsl__distinct_next(space, at, out);
  tsl__stepping s = tsl__step_new(space);
  memset(out, 0, sizeof *out);
  tsl__step_visit(
      space, &s, at,
      &(tsl__visit){add_live, out, "frames open and close without end before a byte is read"});
  tsl__step_free(space, &s);
  return space->status == TSL_OK;
}

/* ---- the shortest completion ----------------------------------------------------------------- */

/* Depth-first over the shared tails; each set remembers its answer. is_new: no item under way is
 * one of the earlier ones, which some have to be (TSL__SAME_ITEM). */
static uint32_t shortest_of(tsl__space *space, tsl__stack at, bool is_new, uint32_t depth);

static uint32_t sum(uint32_t a, uint32_t b) {
  return a == UINT32_MAX || b >= UINT32_MAX - a ? UINT32_MAX : a + b;
}
static uint32_t state_shortest(tsl__space *space, tsl__state state, uint32_t count) {
  if (!state) return UINT32_MAX;
  if (TSL__UNLIKELY(space->positions.spelled_end && (state == space->positions.spelled_end ||
                                                     state == space->positions.spelled_end + 1)))
    return state == space->positions.spelled_end ? 0 : UINT32_MAX;
  return space->hook ? space->hook->states.shortest(space->hook_ctx, state, count) : 0;
}

/* In the middle of a name: with what each RESUME below makes of it. */
static uint32_t shortest_name(tsl__space *space, const tsl__cell *c, bool is_new, uint32_t depth) {
  const tsl__stack_rec *below = tsl__stack_at(space, c->tail);
  uint32_t best = UINT32_MAX;
  for (uint32_t i = 0; space->hook && i < below->n && space->status == TSL_OK; i++) {
    const tsl__cell *r = tsl__stack_cell(space, below, i);
    uint32_t own = tsl__named_shortest(space, c->state, r->state);
    uint32_t all = depth < TSL__NESTED_MAX
                       ? sum(own, shortest_of(space, r->tail, is_new, depth + 1))
                       : UINT32_MAX;
    if (all < best) best = all;
  }
  return best;
}

/* Where a frame goes on to which something new comes back; 0: nowhere. */
static tsl__state after_new(const tsl__space *space, tsl__state state) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  return r->guarded & TSL__SAME_ITEM ? r->differs : state;
}

/* frames looked at for one answer; there are mostly a few, one below the other */
#define LOOKS_MAX 4096u

typedef struct after_same {
  bool is_new;   /* what that one is in is new */
  uint32_t left; /* of LOOKS_MAX */
} after_same;

/* After an item under way, if it is one of the earlier ones; UINT32_MAX: that helps nobody. `skip`:
 * items under way, each in another, that are inside that one. */
static uint32_t shortest_after(tsl__space *space, after_same *q, tsl__stack at, uint32_t skip,
                               uint32_t depth) {
  const tsl__stack_rec *r = tsl__stack_at(space, at);
  uint32_t best = UINT32_MAX;
  for (uint32_t i = 0;
       at && depth < TSL__NESTED_MAX && i < r->n && q->left && space->status == TSL_OK; i++) {
    const tsl__cell *c = tsl__stack_cell(space, r, i);
    const tsl__state_rec *state = tsl__state_at(space, c->state);
    bool item = depth && state->guarded & (TSL__NEW_ITEM | TSL__SAME_ITEM);
    uint32_t all = UINT32_MAX;
    q->left--;
    if (!item || skip)
      all = shortest_after(space, q, c->tail, skip - (item && skip), depth + 1);
    else if (state->guarded & TSL__SAME_ITEM)
      all = sum(state_shortest(space, state->otherwise, c->count),
                shortest_of(space, c->tail, q->is_new, depth + 1));
    if (all < best) best = all;
  }
  return best;
}

/* The fewest bytes from a deny to the end of the item that would be a repetition. */
static uint32_t shortest_denied(tsl__space *space, tsl__stack deny, uint32_t depth) {
  tsl__space *spelled = tsl__deny_enter(space);
  uint32_t bytes = spelled ? shortest_of(spelled, deny, false, depth) : UINT32_MAX;
  tsl__deny_leave(space);
  return bytes;
}

/* The fewest bytes to a complete text where some items must equal earlier ones. The item under way
 * may become an earlier one, or is new. */
static uint32_t shortest_repeating(tsl__space *space, const tsl__with_distinct *p, uint32_t depth) {
  const tsl__distinct *m = tsl__distinct_at(space, p->distinct);
  uint32_t best = shortest_of(space, p->plain, true, depth);
  for (uint32_t i = 0; i < m->n && space->status == TSL_OK; i++) {
    after_same q = {i == 0, LOOKS_MAX};
    uint32_t after =
                 shortest_after(space, &q, p->plain,
                                tsl__distinct_watched_within(space, m, m->denies[i].depth), depth),
             all = sum(shortest_denied(space, m->denies[i].at, depth), after);
    if (all < best) best = all;
  }
  return best;
}

static uint32_t shortest_of(tsl__space *space, tsl__stack at, bool is_new, uint32_t depth) {
  if (at == 0) return 0;
  const tsl__stack_rec *r = tsl__stack_at(space, at);
  uint32_t best = UINT32_MAX, known;
  tsl__move_key by = is_new ? tsl__key_fewest_new() : tsl__key_fewest();
  if (r->has_distinct && space->positions.watches & TSL__SAME_ITEM)
    return shortest_repeating(space, tsl__with_distinct_at(space, at), depth);
  /* its frames are the same */
  if (r->has_distinct)
    return shortest_of(space, tsl__with_distinct_at(space, at)->plain, false, depth);
  bool keeps = !is_new || depth; /* nothing comes back to the frames that are under way */
  if (keeps && tsl__move_find(space, at, by, &known)) return known;
  for (uint32_t i = 0; i < r->n && space->status == TSL_OK; i++) {
    const tsl__cell *c = tsl__stack_cell(space, r, i);
    if (tsl__state_at(space, c->state)->flags & TSL__STATE_KEYED) {
      uint32_t named = shortest_name(space, c, is_new, depth);
      if (named < best) best = named;
      continue;
    }
    uint32_t own =
        state_shortest(space, is_new && depth ? after_new(space, c->state) : c->state, c->count);
    uint32_t all = depth < TSL__NESTED_MAX
                       ? sum(own, shortest_of(space, c->tail, is_new, depth + 1))
                       : UINT32_MAX;
    if (all < best) best = all;
  }
  if (keeps && best != UINT32_MAX && space->status == TSL_OK) tsl__move_add(space, at, by, best);
  return best;
}

/* The cells below the first frame. */
static tsl__stack first_below(const tsl__space *space, tsl__stack at) {
  const tsl__stack_rec *r = tsl__stack_at(space, at);
  if (r->has_distinct) return tsl__with_distinct_at(space, at)->plain;
  const tsl__cell *c = tsl__stack_cell(space, r, 0);
  bool named = tsl__state_at(space, c->state)->flags & TSL__STATE_KEYED;
  return named ? tsl__stack_cell(space, tsl__stack_at(space, c->tail), 0)->tail : c->tail;
}

/* frames between sets that are visited one after the other */
#define SHORTEST_STRIDE (TSL__NESTED_MAX / 2)
/* after so many it is looked whether the answer is known there */
#define SHORTEST_LOOK 100u

/* A stack that is deeper than calls may go is visited from below, a part at a time. What lies under
 * each part is known then. */
static void ask_below(tsl__space *space, tsl__stack at) {
  TSL__VEC(tsl__stack) marks = {0};
  for (uint32_t i = 1, fewest; (at = first_below(space, at)) && space->status == TSL_OK; i++) {
    if (i % SHORTEST_LOOK == 0 && tsl__move_find(space, at, tsl__key_fewest(), &fewest)) break;
    if (i % SHORTEST_STRIDE == 0 && !tsl__vec_push(&space->alloc, &marks, at))
      tsl__space_no_memory(space);
  }
  while (marks.n && space->status == TSL_OK) shortest_of(space, marks.at[--marks.n], false, 1);
  tsl__vec_free(&space->alloc, &marks);
}

uint32_t tsl__stack_shortest(tsl__space *space, tsl__stack at) {
  if (at) ask_below(space, at);
  return shortest_of(space, at, false, 0);
}
