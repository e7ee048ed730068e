/* walk.c - see walk.h.
 *
 * Problem   A walk that is not remembered has to be made, and for most states there is a faster way
 *           than the search. A few fields of the state say which way.
 * Idea      The ways stand in one table, the surest and fastest first. Each has a cheap test, and a
 *           function that makes the walk or returns that it cannot. The last one is the search
 *           (search.h), which can make any walk.
 * Example   A string of at most 40 characters that matches `^a`, after its opening quote. The ways
 *           for states that only call, and for strings of *any* characters, do not apply. But its
 *           hint names the state without the limit, so near_limit.c makes the walk from that of
 *           `^a` alone. The walk of `^a` is not known either. Its state has no such hint, no
 *           similar state was walked yet, and its letters are no class. So the search makes that
 *           walk.
 * Cycles    A loop around something that may be empty can come back to a walk in progress without
 *           having read a byte. The outer walk gathers everything anyway, so the inner one adds
 *           nothing. But walks between the two are incomplete and must not be remembered (`cycle`).
 * Cost      To go through the table takes some 20 ns; the cost of each way stands in its own file.
 * Tested by tests/walk/test_shortcuts.c, tests/engine/test_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/walk.h"

#include "runtime/kernels/logits.h"
#include "runtime/walk/text/any_text.h"
#include "runtime/walk/classes.h"
#include "runtime/walk/memo.h"
#include "runtime/walk/names.h"
#include "runtime/walk/reference.h"
#include "runtime/walk/search.h"

/* times its steps that a walk by a graph of letters (subtract.c) has cost: the graph is made
 * first */
#define GRAPH_WORTH 8u
/* steps from which a walk over the whole vocabulary is worth leaving to other grammars. One over a
 * set is so with any, as it is mostly put together from others, which is no step */
#define COMMON_MIN 12u
/* tokens below a set from which it may have so many: fewer are walked before it is known what the
 * state means */
#define COMMON_TOKENS 64u
/* tokens below a set from which a called frame has a walk of its own: what follows it is heeded */
#define WITHIN_TOKENS 512u
#define COST_STATE 8u /* steps that making a state is worth */

typedef tsl__level level;
typedef tsl__level_entry entry;

/* ---- loops over one class of letters --------------------------------------------------------- */

/* The walk of a state over the whole vocabulary, far from its limit, with its parts; NULL: not done
 * yet. */
static const tsl__walk *find_free(tsl__space *space, tsl__state state, bool last) {
  const tsl__walk *w = tsl__memo_fetch(space, state, TSL__ROOM_FREE << 1 | last, TSL__WHOLE);
  return w && w->reach != TSL__UNSPLIT
             ? w
             : tsl__memo_fetch(space, state, TSL__MEMO_SPLIT | TSL__ROOM_FREE << 1 | last,
                               TSL__WHOLE);
}

/* The limit was out of reach of every path: the same answer holds for any higher one, and for
 * none. */
static void remember_free(tsl__space *space, level *l, const tsl__hint *h, tsl__state state,
                          const tsl__walk *from) {
  uint32_t context = TSL__ROOM_FREE << 1 | l->last;
  tsl__gather g = {0};
  if (find_free(space, state, l->last)) return;
  if (tsl__memo_find(space, state, context, TSL__WHOLE)) context |= TSL__MEMO_SPLIT;
  tsl__gather_mask(space, &g, from->exits);
  tsl__gather_mask(space, &g, tsl__class_mask(space, &h->letters, h->nonascii, 0, UINT32_MAX));
  tsl__mask mask = tsl__gather_done(space, &g);
  tsl__gather_free(space, &g);
  tsl__walk *w = space->status == TSL_OK ? tsl__pool_add(&space->walks.pool, &space->kept) : NULL;
  if (!w) {
    tsl__space_no_memory(space);
    return;
  }
  *w = *from;
  w->state = state;
  w->context = context;
  w->over = TSL__WHOLE;
  w->mask = mask;
  w->left = tsl__level_left(space, l);
  tsl__memo_put(space, w);
}

/* How many letters may come; TSL__ROOM_FREE: more than any token has. */
static uint32_t room_of(const tsl__space *space, const tsl__state_rec *r, const tsl__hint *h,
                        uint32_t context) {
  if (r->flags & TSL__STATE_LOOP) return tsl__memo_room(context);
  return h->limit <= tsl__memo_height(space, TSL__WHOLE) ? h->limit : TSL__ROOM_FREE;
}

/* A state whose letters are iterations of its loop, over the whole vocabulary. The class's mask is
 * limited to the room left. The rest is that of the unlimited walk if its tokens are short
 * enough. */
static void walk_counted(tsl__space *space, level *l, const tsl__state_rec *r, const tsl__hint *h,
                         tsl__state state, uint32_t count, uint32_t context, tsl__walk *out) {
  bool loop = r->flags & TSL__STATE_LOOP;
  uint32_t room = room_of(space, r, h, context);
  bool near = loop && room != TSL__ROOM_FREE && !tsl__memo_need(context) && !h->calls;
  const tsl__walk *any =
      near && r->loop_max != TSL__COUNT_INF ? find_free(space, state, l->last) : NULL;
  if (any && any->reach <= room) {
    tsl__gather_mask(space, &l->gather, any->exits);
    tsl__level_leave_over(space, l, any->left);
    out->exits = any->exits;
    out->reach = any->reach;
    tsl__gather_mask(space, &l->gather, tsl__class_mask(space, &h->letters, h->nonascii, 0, room));
    return;
  }
  if (!l->last && r->flags & TSL__STATE_NULLABLE) tsl__level_leave_node(space, l, 0);
  size_t floor = l->stack.n;
  tsl__level_push(space, l, (entry){0, state, count, 0, false, TSL__FROM_NOWHERE, h});
  tsl__search_on(space, l, floor);
  tsl__search_late(space, l);
  /* What was gathered so far is the part without letters only; keep it apart, then add the
   * class. */
  out->exits = tsl__level_mask(space, l);
  tsl__gather_clear(&l->gather);
  tsl__gather_mask(space, &l->gather, out->exits);
  tsl__gather_mask(space, &l->gather,
                   tsl__class_mask(space, &h->letters, h->nonascii, 0,
                                   room == TSL__ROOM_FREE ? UINT32_MAX : room));
  out->reach = (uint16_t)(l->reach < TSL__UNSPLIT ? l->reach : TSL__UNSPLIT);
  if (near && l->reach < room && space->status == TSL_OK) remember_free(space, l, h, state, out);
}

/* ---- the ways -------------------------------------------------------------------------------- */

/* A walk that is being made. */
typedef struct making {
  tsl__space *space;
  level *l;
  const tsl__state_rec *r; /* expanded */
  tsl__state state;
  uint32_t count, context;
  tsl__leftover over;
  const tsl__hint *form; /* of the state; NULL: it has none, or it was not looked up (`formed`) */
  bool formed;
  bool open; /* any raw characters leave the state's string open for ever */
  tsl__walk *out;
} making;

/* Are there fewer tokens than that? */
static bool is_below(const tsl__space *space, tsl__leftover over, uint32_t least) {
  return !(over & TSL__WHOLE) && tsl__leftover_at(space, over)->tokens < least;
}

/* The state's special form, if there are tokens enough to make it worth looking up. */
static const tsl__hint *form_of(making *m) {
  if (!m->formed && !is_below(m->space, m->over, TSL__HINT_MIN))
    m->form = tsl__state_form(m->space, m->r);
  m->formed = true;
  return m->form;
}

static bool apply(making *m) {
  tsl__reference_apply(m->space, m->l, &m->l->reference);
  return true;
}

static bool is_whole(making *m) { return m->over == TSL__WHOLE; }

static bool only_calls(making *m) { return tsl__memo_calls_alone(m->space, m->r, m->state); }

/* The calls over one part of a leftover. Those edges are left in w->ended whose frame leaves
 * nothing of it. */
static void call_over(tsl__space *space, level *l, const tsl__state_rec *r, tsl__leftover over,
                      tsl__walk *w) {
  for (uint32_t i = 0; i < r->edges && over && space->status == TSL_OK; i++)
    if (tsl__search_call(space, l, r, &tsl__state_edges(r)[i], 0, over))
      w->ended &= (uint16_t) ~(1u << i);
}

static bool by_calls(making *m) {
  m->out->ended = UINT16_MAX;
  call_over(m->space, m->l, m->r, m->over & TSL__WHOLE, m->out);
  call_over(m->space, m->l, m->r, tsl__leftover_set(m->over), m->out);
  return true;
}

static bool by_text(making *m) {
  return tsl__walk_text(m->space, m->l, m->r, m->state, m->count, &m->open);
}

static bool has_limit(making *m) {
  const tsl__hint *h = form_of(m);
  return h && (h->like || h->open || (h->alone && m->l->last));
}
static bool by_limit(making *m) {
  const tsl__linear_from from = {m->state, m->count, 0, 0, m->l->last, NULL};
  return tsl__near_find(m->space, m->form, &from, m->over, &m->l->reference) && apply(m);
}

static bool is_difference(making *m) { return form_of(m) && m->form->base; }
static bool by_difference(making *m) {
  return tsl__difference_find(m->space, m->l, m->form, m->over, &m->l->reference) && apply(m);
}

static bool by_delta(making *m, tsl__delta_reach reach) {
  return tsl__delta_find(m->space, m->state, m->count, m->l->last, reach, &m->l->reference) &&
         apply(m);
}
static bool by_near_delta(making *m) { return by_delta(m, TSL__DELTA_NEAR); }

static bool may_subtract(making *m) {
  return is_whole(m) && !m->open && !(form_of(m) && m->form->like) &&
         tsl__linear_of(m->space, m->r, 0) && m->r->live_count >= m->space->walking.subtract_bytes;
}
static bool by_subtract(making *m) {
  if (!tsl__subtract_find(m->space, m->state, m->l->last, &m->l->reference)) return false;
  m->l->graph = true;
  m->space->walking.subtract_met++;
  return apply(m);
}

static bool is_counted(making *m) {
  const tsl__hint *h = is_whole(m) ? tsl__state_hint(m->space, m->r) : NULL;
  return h && h->counted && !tsl__bytes_empty(&h->letters) && !m->r->edges &&
         (m->l->last || !h->ends || m->l->after);
}
/* The letters of a frame that may end among them, before what follows. Where that may begin with
 * letters, too, no token may reach the most that the loop allows: it would go on with them. */
static const tsl__hint *counted_before(making *m) {
  const tsl__hint *h = m->r->hint;
  if (m->l->last || !h->ends) return h;
  if (!tsl__level_heed(m->space, m->l)) return NULL;
  const tsl__bytes *first = &tsl__follow_at(m->space, m->l->follow)->bytes;
  bool free = room_of(m->space, m->r, h, m->context) == TSL__ROOM_FREE;
  if (tsl__bytes_meet(first, &h->letters) && !free) return NULL;
  const tsl__letters_after *a = tsl__letters_before(m->space, m->r, h, m->l->follow);
  return a ? &a->hint : NULL;
}
static bool by_count(making *m) {
  const tsl__hint *h = counted_before(m);
  if (!h) return false;
  m->l->counted = true;
  walk_counted(m->space, m->l, m->r, h, m->state, m->count, m->context, m->out);
  return true;
}

static bool may_be_far(making *m) {
  return m->over & TSL__WHOLE && m->space->walking.delta_count &&
         tsl__linear_of(m->space, m->r, 0) && !tsl__search_letters(m->space, m->l, m->r, 0, 0);
}
static bool by_far_delta(making *m) {
  if (!by_delta(m, TSL__DELTA_FAR)) return false;
  tsl__leftover set = tsl__leftover_set(m->over);
  if (set) tsl__search_set(m->space, m->l, m->state, m->count, set);
  return true;
}

static bool always(making *m) { return m->space; }
static bool by_search(making *m) {
  tsl__leftover set = tsl__leftover_set(m->over);
  m->l->counted = is_whole(m) && !m->r->edges;
  if (m->over & TSL__WHOLE) tsl__search_node(m->space, m->l, m->state, m->count, 0);
  if (set) tsl__search_set(m->space, m->l, m->state, m->count, set);
  return true;
}

/* The ways, in order. A predicate looks only. A function returns true if the walk is made (or
 * failed for good). It returns false if another way must be chosen, nothing gathered. */
static const struct {
  uint32_t shortcut; /* 0: cannot be turned off */
  bool (*applies)(making *m);
  bool (*walk)(making *m);
} ways[] = {
    {TSL__SHORTCUT_CALLS, only_calls, by_calls},
    {TSL__SHORTCUT_TEXT, is_whole, by_text},
    {TSL__SHORTCUT_LIMIT, has_limit, by_limit},
    {TSL__SHORTCUT_DIFFERENCE, is_difference, by_difference},
    {TSL__SHORTCUT_DELTA, is_whole, by_near_delta},
    {TSL__SHORTCUT_SUBTRACT, may_subtract, by_subtract},
    {TSL__SHORTCUT_COUNTED, is_counted, by_count},
    {TSL__SHORTCUT_DELTA, may_be_far, by_far_delta},
    {0, always, by_search},
};

/* Fixed texts: along their table. The frame is over after each. */
static void search_fixed(tsl__space *space, level *l, const tsl__state_rec *r, uint32_t node) {
  const tsl__trie *trie = &space->vocab->trie;
  tsl__fixed_walk *w = &l->fixed;
  w->reached.n = w->ends.n = w->rests.n = 0;
  if (!tsl__fixed_over(space, r, node, w)) return;
  for (size_t i = 0; i < w->reached.n; i++) {
    const tsl__trie_node *n = &trie->nodes[w->reached.at[i].node];
    tsl__gather_tokens(space, &l->gather, trie->order + n->begin, n->own_end - n->begin);
  }
  for (size_t i = 0; i < w->ends.n; i++) tsl__level_leave_node(space, l, w->ends.at[i].node);
  size_t floor = l->stack.n;
  for (size_t i = 0; i < w->rests.n; i++)
    tsl__level_push(space, l,
                    (entry){w->rests.at[i].node, w->rests.at[i].state, 0, 0, false, 0, NULL});
  tsl__search_on(space, l, floor);
}

/* Fixed texts go along their table, whichever they are. */
static void walk_fixed(tsl__space *space, level *l, const tsl__state_rec *r, tsl__leftover over) {
  const tsl__leftover_rec *t =
      tsl__leftover_set(over) ? tsl__leftover_at(space, tsl__leftover_set(over)) : NULL;
  if (over & TSL__WHOLE) search_fixed(space, l, r, 0);
  for (uint32_t i = 0; t && i < t->n && space->status == TSL_OK; i++)
    search_fixed(space, l, r, t->nodes[i]);
}

static void make_walk(making *m) {
  tsl__space *space = m->space;
  m->r = tsl__state_at(space, m->state);
  if (tsl__is_fixed(m->r)) {
    walk_fixed(space, m->l, m->r, m->over);
    return;
  }
  m->r = tsl__state_expanded(space, m->state);
  for (size_t i = 0; m->r && i < sizeof ways / sizeof *ways && space->status == TSL_OK; i++)
    if (!tsl__shortcut_is_off(space, ways[i].shortcut) && ways[i].applies(m) && ways[i].walk(m))
      return;
}

/* ---- walking --------------------------------------------------------------------------------- */

/* Is this walk in progress further out? */
static bool in_progress(tsl__space *space, tsl__state state, uint32_t context, tsl__leftover over) {
  for (uint32_t d = space->walking.depth; d-- > 0;) {
    const tsl__level_key *key = &space->walking.scratch->levels.at[d]->key;
    while (key && (key->state != state || key->context != context || key->over != over))
      key = key->outer;
    if (!key) continue;
    if (d < space->walking.cycle) space->walking.cycle = d;
    return true;
  }
  return false;
}

static uint32_t gain_of(const level *l, uint32_t count) {
  uint32_t gain = l->top > count ? l->top - count : 0;
  return l->counted && gain < TSL__UNCOUNTED ? gain : TSL__UNCOUNTED;
}

/* The work done so far, in steps. */
static uint64_t work_of(const tsl__space *space) {
  return tsl__space_steps(space) + COST_STATE * (uint64_t)tsl__space_count(space, states);
}

/* Is it the frame of a member of any name but some, none of which ends within a token there? Then
 * it is walked as that of any name. */
static bool is_any_extra(tsl__space *space, const tsl__state_rec *r, tsl__leftover over) {
  tsl__state any = space->parent->warm.extra;
  if (!any || r->edges != 1 ||
      tsl__state_edges(r)->push != tsl__state_edges(tsl__state_at(space, any))->push)
    return false;
  tsl__state callee = tsl__target_state(tsl__state_edges(r)->to);
  return tsl__is_others(tsl__state_at(space, callee)) &&
         tsl__names_go_on(space, callee, over, true);
}

/* The walk of a state that only calls one frame, if that frame leaves nothing over: the frame's own
 * walk. NULL: the layer below does not have it. */
static const tsl__walk *recall_called(const tsl__space *space, const tsl__state_rec *r,
                                      tsl__leftover over) {
  tsl__state callee = tsl__target_state(tsl__state_edges(r)->to);
  if (r->edges != 1 || !tsl__memo_is_below(space, callee, over) ||
      tsl__state_at(space, callee)->flags & (TSL__STATE_KEYED | TSL__STATE_LOOP))
    return NULL;
  const tsl__walk *w = tsl__memo_find_below(space, callee, 0, over);
  return w && !w->left ? w : NULL;
}

/* The walk of a string of any characters with a least and a most number. The vocabulary's layer has
 * it, or has a state with the same walk, which is walked and needs no other states. */
static const tsl__walk *recall_text(tsl__space *space, const tsl__state_rec *r, uint32_t count,
                                    tsl__leftover over) {
  tsl__state like;
  const tsl__walk *known = tsl__text_known(space, r, count, over, &like);
  return known || !like ? known : tsl__walk_over(space, like, 0, over, false);
}

/* What is remembered of a state over a leftover; as if something followed will do: that leaves
 * something over, which nobody asks for. A grammar's state is expanded, as what it calls may say
 * so. NULL: nothing, or on failure (sticky). */
static const tsl__walk *recall(tsl__space *space, const tsl__state_rec *r, tsl__state state,
                               uint32_t count, uint32_t context, tsl__leftover over) {
  uint32_t followed = context & ~1u;
  bool below = tsl__memo_is_below(space, state, over), last = followed != context,
       here = state < space->states.first || r->walked;
  /* there nearly all walks are such */
  const tsl__walk *known = below ? tsl__memo_find_below(space, state, followed, over) : NULL;
  if (known || (here && (known = tsl__memo_find_in(space, state, context, over)))) return known;
  if (last && ((here && (known = tsl__memo_find_in(space, state, followed, over))) ||
               (below && (known = tsl__memo_find_below(space, state, context, over)))))
    return known;
  if (space->hook && space->hook->states.walk) {
    known = tsl__memo_fetch(space, state, context, over);
    if (!known && last && space->status == TSL_OK)
      known = tsl__memo_fetch(space, state, followed, over);
  }
  if (known || space->status != TSL_OK) return known;
  if (tsl__may_be_text(space, r, state) &&
      ((known = recall_text(space, r, count, over)) || space->status != TSL_OK))
    return known;
  if (state >= space->states.first && !tsl__state_fixed(r) && !tsl__state_expanded(space, state))
    return NULL;
  if (!tsl__memo_calls_alone(space, r, state))
    return tsl__memo_find_far(space, state, context, over);
  if (is_any_extra(space, r, over) &&
      (known = tsl__memo_find(space, space->parent->warm.extra, context & ~1u, over)))
    return known;
  if ((known = recall_called(space, r, over))) return known;
  return tsl__memo_find_calls(space, r, context, over);
}

/* May what follows the frame be heeded? A state of the layer below is known by itself. */
static bool may_heed(const tsl__space *space, tsl__state state, bool last) {
  return !last && state >= space->states.first;
}

/* The walk that is remembered with what follows. */
static const tsl__walk *recall_before(tsl__space *space, const tsl__state_rec *r, tsl__state state,
                                      uint32_t context, tsl__leftover over, tsl__after *after) {
  uint32_t number =
      after && r->walked & TSL__WALKED_BEFORE && !(context & 1) ? tsl__follow_of(space, after) : 0;
  if (!number) return NULL;
  const tsl__walk *known = tsl__memo_find_before(space, state, context, over, number);
  return known ? known : tsl__narrowed_find(space, state, context, over, number);
}

/* May it be that another grammar has left such a walk? What a state does that does nothing but call
 * is quickly put together. */
static bool is_common(const tsl__space *space, const tsl__state_rec *r, tsl__state state,
                      tsl__leftover over) {
  return !tsl__shortcut_is_off(space, TSL__SHORTCUT_SHARED) &&
         !is_below(space, over, COMMON_TOKENS) && !tsl__is_others(r) &&
         !tsl__memo_calls_alone(space, r, state);
}

/* Walked, and remembered. */
static TSL__SELDOM const tsl__walk *walk_anew(tsl__space *space, const tsl__state_rec *r,
                                              tsl__state state, uint32_t count, uint32_t context,
                                              tsl__leftover over, bool last, tsl__after *after) {
  if (in_progress(space, state, context, over)) return NULL;
  uint32_t depth = space->walking.depth;
  level *l = tsl__level_open(space);
  if (!l) return NULL;
  l->key = (tsl__level_key){state, context, over, NULL};
  l->last = last;
  l->after = may_heed(space, state, last) ? after : NULL;
  /* a state that was walked before another follower is walked before more (narrowed.c) */
  uint32_t own = l->after && after->requested && r->walked & TSL__WALKED_BEFORE ? after->number : 0;
  if (own) after->number = tsl__follow_wider(space, own);
  tsl__walk made = {.state = state, .context = context, .over = over, .reach = TSL__UNSPLIT};
  tsl__digest key;
  uint64_t work = work_of(space);
  bool common =
           is_common(space, r, state, over) && tsl__common_key(space, state, context, over, &key),
       given = common && tsl__common_take(space, &key, &l->gather, &l->left, &l->whole);
  if (!given)
    make_walk(&(making){.space = space,
                        .l = l,
                        .state = state,
                        .count = count,
                        .context = context,
                        .over = over,
                        .out = &made});
  tsl__search_late(space, l);
  made.left = tsl__level_left(space, l);
  if (own) after->number = own;
  made.mask = tsl__level_mask(space, l);
  made.gain = gain_of(l, count);
  made.follow = (uint16_t)l->follow;
  space->walking.depth = depth;
  if (!depth && space->walking.rows) tsl__linear_forget(space);
  tsl__walk *w = space->status == TSL_OK ? tsl__pool_add(&space->walks.pool, &space->kept) : NULL;
  if (!w) return space->status == TSL_OK ? (tsl__space_no_memory(space), NULL) : NULL;
  *w = made;
  bool complete = space->walking.cycle >= depth;
  if (space->walking.cycle == depth) space->walking.cycle = UINT32_MAX;
  work = work_of(space) - work;
  if (l->follow && complete) {
    if (!tsl__memo_put(space, w)) return NULL;
    tsl__narrowed_note(space, w);
    return own ? tsl__narrowed_to(space, w, own) : w;
  }
  if (complete && common && !given && (over != TSL__WHOLE || work >= COMMON_MIN))
    tsl__common_put(space, &key, w);
  if (!complete) return w;
  if (tsl__memo_by_calls(space, tsl__state_at(space, state), w))
    return tsl__memo_put_calls(space, tsl__state_at(space, state), w) ? w : NULL;
  if (!tsl__memo_put(space, w) || !tsl__memo_put_far(space, w)) return NULL;
  if (over == TSL__WHOLE && (l->graph ? work * GRAPH_WORTH : work) >= space->walking.delta_work)
    tsl__delta_note(space, w, count);
  return w;
}

static const tsl__walk *walk_state(tsl__space *space, const tsl__state_rec *r, tsl__state state,
                                   uint32_t count, tsl__leftover over, bool last) {
  uint32_t context = tsl__memo_context(space, r, count, over, last);
  const tsl__walk *known = recall(space, r, state, count, context, over);
  return known || space->status != TSL_OK
             ? known
             : walk_anew(space, r, state, count, context, over, last, NULL);
}

/* Any texts but some are walked as any text is where none of those that are excluded ends within a
 * token. At the beginning of such a text that is remembered; most places in its middle are met
 * once. */
static const tsl__walk *walk_others(tsl__space *space, const tsl__state_rec *r, tsl__state state,
                                    uint32_t count, tsl__leftover over, bool last, bool called) {
  if (tsl__names_go_on(space, state, over, called)) {
    state = space->hook->states.fixed(space->hook_ctx, r, 0, 0, 0);
    r = state ? tsl__state_at(space, state) : NULL;
  }
  return r && space->status == TSL_OK ? walk_state(space, r, state, count, over, last) : NULL;
}

const tsl__walk *tsl__walk_over(tsl__space *space, tsl__state state, uint32_t count,
                                tsl__leftover over, bool last) {
  if (space->status != TSL_OK) return NULL;
  const tsl__state_rec *r = tsl__state_at(space, state);
  return tsl__is_others(r) ? walk_others(space, r, state, count, over, last, false)
                           : walk_state(space, r, state, count, over, last);
}

/* The same where it is not remembered alone. */
static TSL__SELDOM const tsl__walk *walk_above(tsl__space *space, const tsl__state_rec *r,
                                               tsl__state state, uint32_t count, uint32_t context,
                                               tsl__leftover over, uint32_t tail) {
  if (!tail) return walk_anew(space, r, state, count, context, over, true, NULL);
  tsl__after after = {.tail = tail};
  const tsl__walk *known = recall_before(space, r, state, context, over, &after);
  return known || space->status != TSL_OK
             ? known
             : walk_anew(space, r, state, count, context, over, false, &after);
}

const tsl__walk *tsl__walk_above(tsl__space *space, tsl__state state, uint32_t count,
                                 tsl__leftover over, uint32_t tail) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  if (tsl__is_others(r) || space->status != TSL_OK)
    return tsl__walk_over(space, state, count, over, !tail);
  uint32_t context = tsl__memo_context(space, r, count, over, !tail);
  const tsl__walk *known = recall(space, r, state, count, context, over);
  return known || space->status != TSL_OK ? known
                                          : walk_above(space, r, state, count, context, over, tail);
}

/* Is a walk that is not known seldom requested again? Over a set, that of what begins with reading;
 * and after a call that of few tokens. Of an ambiguous grammar each is: a level does few. What the
 * vocabulary's layer may do for all, as long as it is made, is requested by others. */
static bool is_seldom(tsl__space *space, const level *l, tsl__state state, tsl__leftover over,
                      bool called) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  if ((over & TSL__WHOLE) || tsl__shortcut_is_off(space, TSL__SHORTCUT_WITHIN) ||
      l->within == TSL__WITHIN_MAX || !space->parent || tsl__state_fixed(r))
    return false;
  if (!space->parent->warm.frozen && tsl__memo_is_below(space, state, over)) return false;
  if (!called && state >= space->states.first && is_below(space, over, COMMON_TOKENS)) return true;
  if (called && !is_below(space, over, WITHIN_TOKENS)) return false;
  r = tsl__state_expanded(space, state);
  return r && tsl__state_reads(r) && r->live_count < TSL__STARTS_LIVE;
}

/* Search a small walk within the level that needs it; the walk is not remembered. */
static void search_within(tsl__space *space, level *l, const tsl__level_key *key, uint32_t count,
                          bool last, bool called) {
  tsl__level_key outer = l->key;
  tsl__after *outer_after = l->after;
  uint32_t follow = l->follow;
  bool outer_last = l->last;
  size_t late_from = l->late_from;
  if (in_progress(space, key->state, key->context, key->over)) return;
  l->within++;
  l->last = last;
  l->key = *key;
  l->key.outer = &outer;
  if (called) l->after = NULL, l->follow = 0; /* what it leaves is requested at once, and little */
  l->late_from = l->late.n;
  tsl__search_set(space, l, key->state, count, key->over);
  tsl__search_late(space, l);
  l->late_from = late_from;
  if (called) l->after = outer_after, l->follow = follow;
  l->key = outer;
  l->last = outer_last;
}

/* A walk that is not remembered alone: as it is where that follows. `caller` NULL: what follows the
 * level. */
static TSL__SELDOM const tsl__walk *walk_before(tsl__space *space, const level *l,
                                                const tsl__state_rec *r, const tsl__level_key *key,
                                                uint32_t count, bool last, tsl__caller *caller) {
  tsl__after called, *after = l->after;
  if (caller) {
    tsl__state then = tsl__target_resolve(space, caller->push, caller->count, &count);
    called = tsl__after_call(then, count, l->last, l->after);
    after = &called;
    count = 0;
  }
  const tsl__walk *w = recall_before(space, r, key->state, key->context, key->over, after);
  if (!w && space->status == TSL_OK)
    w = walk_anew(space, r, key->state, count, key->context, key->over, last, after);
  if (caller) caller->heeded = called.number;
  return w;
}

void tsl__walk_within(tsl__space *space, level *l, tsl__state state, uint32_t count,
                      tsl__leftover over, tsl__leftover *left, tsl__caller *caller) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  bool last = l->last && !left, others = tsl__is_others(r);
  uint32_t context = tsl__memo_context(space, r, count, over, last);
  const tsl__walk *w = others ? walk_others(space, r, state, count, over, last, true)
                              : recall(space, r, state, count, context, over);
  if (!w && !others && tsl__space_step(space, 1) && is_seldom(space, l, state, over, left)) {
    size_t floor = l->left.n;
    search_within(space, l, &(tsl__level_key){state, context, over, NULL}, count, last, left);
    if (!left) return;
    *left =
        l->left.n > floor ? tsl__leftover_intern(space, l->left.at + floor, l->left.n - floor) : 0;
    l->left.n = floor;
    return;
  }
  if (!w && !others && space->status == TSL_OK)
    w = walk_before(space, l, r, &(tsl__level_key){state, context, over, NULL}, count, last,
                    caller);
  if (w) tsl__gather_mask(space, &l->gather, w->mask);
  if (left)
    *left = w ? w->left : 0;
  else if (w)
    tsl__level_leave_over(space, l, w->left);
}

/* A state over a set, its tokens gathered: what it leaves. */
static tsl__leftover gather_over(tsl__space *space, tsl__gather *g, tsl__state state,
                                 uint32_t count, tsl__leftover over, bool last) {
  const tsl__walk *w = tsl__walk_over(space, state, count, over, last);
  if (w && g) tsl__gather_mask(space, g, w->mask);
  return w ? w->left : 0;
}

/* Where the frame that is called after a name leaves nothing over, that is all. Most names can be
 * begun, few are, and where the object goes on after each need not be known. */
tsl__leftover tsl__walk_after_name(tsl__space *space, tsl__gather *g, tsl__state resume,
                                   const tsl__named_left *left, bool last) {
  uint32_t count = 0;
  if (!tsl__resume_allows(space, resume, left->name)) return 0;
  const tsl__resumed *step = tsl__resume_known(space, resume, left->name);
  tsl__state begun = step ? step->frame : tsl__resume_begins(space, resume, left->name);
  tsl__leftover over = begun ? gather_over(space, g, begun, 0, left->left, false) : left->left;
  if (!over || space->status != TSL_OK) return 0;
  if (!step) step = tsl__resume_anew(space, resume, left->name);
  if (!step) return 0;
  if (!step->frame)
    over = left->left;
  else if (step->frame != begun)
    over = gather_over(space, g, step->frame, 0, left->left, false);
  return over ? gather_over(space, g, tsl__target_resolve(space, step->to, 0, &count), count, over,
                            last)
              : 0;
}

tsl_status tsl__walk_prepare(tsl__space *base) {
  return tsl__lengths_make(base) == TSL_OK ? tsl__linear_make(base) : base->status;
}
