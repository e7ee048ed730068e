/* walk.c - see walk.h.
 *
 * What a walk is remembered by, and how one is told that nobody did yet: from another walk that is
 * much like it, from a class of letters, or by the search (search.h).
 *
 * Cycles. A loop around something that may be empty can come back to a walk in progress without
 * having read a byte. What that would add is what the outer one adds already, so it adds nothing;
 * but walks between the two are incomplete and must not be remembered (`cycle`).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/walk.h"

#include "runtime/walk/classes.h"
#include "runtime/kernels/logits.h"
#include "runtime/walk/names.h"
#include "runtime/walk/limited.h"
#include "runtime/walk/near_limit.h"
#include "runtime/walk/search.h"
#include "runtime/walk/any_text.h"

#define NEAR_COST 4u /* steps that trying one is worth */
#define NEAR_MIN 64u /* longer tokens to be tried, from which delta is looked for */
/* times its steps that a walk told from a class has cost: the graph is made first */
#define LESS_WORTH 8u
/* steps from which a walk over the whole vocabulary is worth leaving to other grammars; one over a
 * set is with any, as it is mostly put together from others, which is no step */
#define COMMON_MIN 12u
/* tokens below a set from which it may have so many: fewer are walked before it is known what the
 * state means */
#define COMMON_TOKENS 64u
#define COST_STATE 8u /* steps that making a state is worth */
/* edges of a state that does nothing but call, up to which its walk is found by these */
#define ENDED_MAX 16u

typedef tsl__level level;
typedef tsl__level_entry entry;

/* ---- the key --------------------------------------------------------------------------------- */

static uint32_t height_of(const tsl__space *space, tsl__leftover over) {
  if (over & TSL__WHOLE) return space->vocab->trie.nodes[0].height;
  return tsl__leftover_at(space, over)->height;
}

#define NEED(n) ((n) << 16)
/* in the place of a register's room, of a state that has none: what follows (follow.h) */
#define FOLLOW(number) ((number) << 1)

/* The register as far as it matters over tokens of that height: iterations still needed and still
 * allowed. */
static uint32_t context_of(const tsl__space *space, const tsl__state_rec *r, uint32_t count,
                           tsl__leftover over, bool last) {
  if (!(r->flags & TSL__STATE_LOOP)) return last;
  uint32_t height = height_of(space, over);
  uint32_t need = count < r->loop_min ? r->loop_min - count : 0;
  uint32_t room = r->loop_max == TSL__COUNT_INF ? 0x7FFF : r->loop_max - count;
  if (need > height) need = height + 1;
  if (room > height) room = 0x7FFF;
  return NEED(need) | room << 1 | last;
}
#define ROOM_FREE 0x7FFFu
/* a walk remembered for its parts, beside one that was not done in parts */
#define SPLIT (1u << 31)
static uint32_t room_of(uint32_t context) { return context >> 1 & 0x7FFF; }
static uint32_t need_of(uint32_t context) { return context >> 16 & 0x7FFF; }

static uint64_t walk_hash(tsl__state state, uint32_t context, tsl__leftover over) {
  return tsl__mix(((uint64_t)state << 32 | over) + (uint64_t)context * 0x9e3779b97f4a7c15u);
}

/* In the tables of one layer. */
static const tsl__walk *find_in(const tsl__space *layer, tsl__state state, uint32_t context,
                                tsl__leftover over) {
  tsl__index_iter it = tsl__index_first(&layer->walks.index, walk_hash(state, context, over));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__walk *w = tsl__pool_at(&layer->walks.pool, i - layer->walks.first);
    if (w->state == state && w->over == over && w->context == context) return w;
  }
  return NULL;
}

/* Most walks that a grammar asks for are the vocabulary's, and have mostly not been looked at for
 * long: they are laid. There is no walk of state 0. */
static tsl__walk *laid_slot(const tsl__frozen *t, tsl__state state, uint32_t context,
                            tsl__leftover over) {
  for (uint64_t i = walk_hash(state, context, over);; i++) {
    tsl__walk *w = (tsl__walk *)t->at + (i & t->last);
    if (!w->state || (w->state == state && w->over == over && w->context == context)) return w;
  }
}

/* Only those that the index has are whole. */
bool tsl__walks_lay(tsl__space *space) {
  tsl__frozen *t = tsl__frozen_new(&space->alloc, space->walks.index.n, sizeof(tsl__walk));
  if (!t) return tsl__space_no_memory(space);
  tsl__index_settle(&space->walks.index, &space->alloc);
  const tsl__index_table *known =
      atomic_load_explicit(&space->walks.index.table, memory_order_relaxed);
  for (uint32_t i = 0; known && i < known->count; i++) {
    uint32_t held = (uint32_t)tsl__index_slot(known, i);
    const tsl__walk *w = held ? tsl__pool_at(&space->walks.pool, held - 1) : NULL;
    if (w) *laid_slot(t, w->state, w->context, w->over) = *w;
  }
  tsl__index_free(&space->walks.index, &space->alloc);
  space->frozen = t;
  return true;
}

static const tsl__walk *find_below(const tsl__space *space, tsl__state state, uint32_t context,
                                   tsl__leftover over) {
  if (!space->parent->frozen) return find_in(space->parent, state, context, over);
  const tsl__walk *w = laid_slot(space->parent->frozen, state, context, over);
  return w->state ? w : NULL;
}

/* Does the layer below know both? Then it has mostly walked the one over the other. */
static bool belongs_below(const tsl__space *space, tsl__state state, tsl__leftover over) {
  return state < space->states.first && tsl__leftover_set(over) < space->leftovers.first;
}

static const tsl__walk *find(const tsl__space *space, tsl__state state, uint32_t context,
                             tsl__leftover over) {
  const tsl__walk *w =
      belongs_below(space, state, over) ? find_below(space, state, context, over) : NULL;
  return w ? w : find_in(space, state, context, over);
}

static bool remember(tsl__space *space, const tsl__walk *w) {
  if (w->state >= space->states.first)
    tsl__state_own(space, w->state)->walked |=
        tsl__walk_is_followed(space, w) ? TSL__WALKED_BEFORE : TSL__WALKED_ALONE;
  return tsl__index_add(&space->walks.index, &space->alloc,
                        walk_hash(w->state, w->context, w->over),
                        tsl__space_count(space, walks) - 1) ||
         tsl__space_no_memory(space);
}

/* The same, and where the tables don't have it: one that was done ahead. NULL on failure too
 * (sticky). */
static const tsl__walk *fetch(tsl__space *space, tsl__state state, uint32_t context,
                              tsl__leftover over) {
  tsl__walk made;
  const tsl__walk *known = find(space, state, context, over);
  if (known || !space->hook || !space->hook->walk ||
      !space->hook->walk(space->hook_ctx, state, context, over, &made))
    return known;
  tsl__walk *w = tsl__pool_add(&space->walks.pool, &space->kept);
  if (!w) return tsl__space_no_memory(space), NULL;
  *w = made;
  return remember(space, w) ? w : NULL;
}

/* ---- states that do nothing but call --------------------------------------------------------- */

/* Is an expanded state of a grammar such a one? The vocabulary's are asked for by number, from its
 * grammars. */
static bool calls_alone(const tsl__space *space, const tsl__state_rec *r, tsl__state state) {
  return state >= space->states.first && space->parent && !r->flags && r->edges &&
         r->edges <= ENDED_MAX && !r->token_edges && tsl__bytes_empty(&r->live);
}

static uint64_t calls_hash(const tsl__state_rec *r, tsl__leftover over) {
  uint64_t hash = over;
  for (uint32_t i = 0; i < r->edges; i++)
    hash = tsl__mix(hash << 32 ^ hash ^ tsl__state_edges(r)[i].to);
  return hash;
}

/* Do they call the same, and come back to the same where that matters? */
static bool calls_as(const tsl__state_rec *r, const tsl__state_rec *other, uint32_t ended) {
  if (r->edges != other->edges) return false;
  for (uint32_t i = 0; i < r->edges; i++) {
    const tsl__edge *a = &tsl__state_edges(r)[i], *b = &tsl__state_edges(other)[i];
    if (a->to != b->to || (a->push != b->push && !(ended >> i & 1))) return false;
  }
  return true;
}

/* Is a walk found by its calls? If it depends on where the grammar's own states come back to,
 * seldom is there another that does the same there. */
static bool is_alike(const tsl__space *space, const tsl__state_rec *r, const tsl__walk *w) {
  for (uint32_t i = 0; i < r->edges && w->ended; i++)
    if (!(w->ended >> i & 1) &&
        tsl__target_state(tsl__state_edges(r)[i].push) >= space->states.first)
      return false;
  return w->ended;
}

/* The walk of such a state, by what it calls. */
static const tsl__walk *find_calls(const tsl__space *space, const tsl__state_rec *r,
                                   uint32_t context, tsl__leftover over) {
  tsl__index_iter it = tsl__index_first(&space->walks.index, calls_hash(r, over));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__walk *w = tsl__pool_at(&space->walks.pool, i - space->walks.first);
    /* the context is whether it is the last frame */
    const tsl__state_rec *other =
        w->over == over && w->context <= context ? tsl__state_at(space, w->state) : NULL;
    if (other && calls_alone(space, other, w->state) && is_alike(space, other, w) &&
        calls_as(r, other, w->ended))
      return w;
  }
  return NULL;
}

static bool remember_calls(tsl__space *space, const tsl__state_rec *r, const tsl__walk *w) {
  return tsl__index_add(&space->walks.index, &space->alloc, calls_hash(r, w->over),
                        tsl__space_count(space, walks) - 1) ||
         tsl__space_no_memory(space);
}

/* The calls over one part of a leftover. Those edges are left in w->ended whose frame leaves
 * nothing of it. */
static void walk_calls(tsl__space *space, level *l, const tsl__state_rec *r, tsl__leftover over,
                       tsl__walk *w) {
  for (uint32_t i = 0; i < r->edges && over && space->status == TSL_OK; i++)
    if (tsl__search_call(space, l, r, &tsl__state_edges(r)[i], 0, over))
      w->ended &= (uint16_t) ~(1u << i);
}

/* As its delta, but for some trees: those are walked. False if it has none within reach, or on
 * failure (sticky). */
static bool walk_kin(tsl__space *space, level *l, const tsl__state_rec *r, tsl__state state,
                     uint32_t count, tsl__delta_reach reach) {
  tsl__delta *delta = &l->delta;
  if (!space->delta_count || !tsl__linear_of(space, r, 0) ||
      (reach == TSL__DELTA_FAR && tsl__search_letters(space, l, r, 0)))
    return false;
  if (!tsl__delta_find(space, state, count, l->last, reach, delta)) return false;
  tsl__leftover left = delta->walk->left;
  const tsl__leftover_rec *t =
      tsl__leftover_set(left) ? tsl__leftover_at(space, tsl__leftover_set(left)) : NULL;
  if (!tsl__level_but(space, l, delta->walk->mask, delta->tokens.at, delta->tokens.n)) return true;
  for (uint32_t i = 0; t && i < t->n; i++)
    if (!tsl__delta_within(space, delta, t->nodes[i])) tsl__level_leave_node(space, l, t->nodes[i]);
  size_t floor = l->stack.n;
  for (size_t i = 0; i < delta->enter.n && space->status == TSL_OK; i++)
    tsl__search_enter(space, l, delta->enter.at[i].state, delta->enter.at[i].count,
                      delta->enter.at[i].node, delta->enter.at[i].depth);
  tsl__search_on(space, l, floor);
  return true;
}

/* As all texts of letters, but for what dies; what else is legal among them is searched for. False
 * if it is not best walked like that, or on failure (sticky). */
static bool walk_less(tsl__space *space, level *l, const tsl__state_rec *r, tsl__state state,
                      uint32_t count) {
  tsl__subtract *less = &l->less;
  if (!tsl__linear_of(space, r, 0) || r->live_count < space->subtract_bytes ||
      !tsl__subtract_find(space, state, l->last, less))
    return false;
  l->graph = true;
  space->subtract_met++;
  if (!tsl__level_but(space, l, tsl__class_mask(space, &less->hint.letters, 0, 0, UINT32_MAX),
                      less->tokens.at, less->tokens.n))
    return true;
  size_t floor = l->stack.n;
  tsl__level_push(space, l, (entry){0, state, count, 0, false, &less->hint});
  tsl__search_on(space, l, floor);
  return true;
}

/* ---- special forms --------------------------------------------------------------------------- */

/* Is there a closing quote below a node? Only with that a string is spelled in full. */
static bool quote_below(const tsl__trie *trie, const tsl__trie_node *n) {
  return n->below == UINT16_MAX || tsl__bytes_has(&trie->sets[n->below], '"');
}

#define REMOVED_MAX 4096u

/* What is taken out of a walk: the nodes where an excluded string ends. */
typedef struct removal {
  tsl__mask base;
  uint32_t *nodes;
  size_t n;
} removal;

/* An excluded string is spelled in full at a node: the tokens that end there go, and so does the
 * leftover. */
static void except_here(tsl__space *space, level *l, uint32_t node, removal *out) {
  const tsl__trie *trie = &space->vocab->trie;
  for (uint32_t k = trie->nodes[node].begin; k < trie->nodes[node].own_end; k++)
    if (tsl__mask_has(space, out->base, trie->order[k]))
      tsl__gather_remove(space, &l->gather, trie->order[k]);
  if (out->n < REMOVED_MAX)
    out->nodes[out->n++] = node;
  else
    tsl__space_fail(space, TSL_ERR_LIMIT, "too many excluded strings end within tokens");
}

/* What `state`, of an excluded JSON string, spells in full below a node, is taken out. */
static void except_node(tsl__space *space, level *l, tsl__state state, uint32_t node,
                        removal *out) {
  const tsl__trie *trie = &space->vocab->trie;
  size_t floor = l->stack.n;
  tsl__level_push(space, l, (entry){node, state, 0, 0, false, NULL});
  while (l->stack.n > floor && space->status == TSL_OK) {
    entry e = l->stack.at[--l->stack.n];
    const tsl__state_rec *r = tsl__state_expanded(space, e.state);
    const tsl__trie_node *n = &trie->nodes[e.node];
    if (!r || !tsl__space_step(space, 1)) return;
    if (!quote_below(trie, n)) continue;
    for (uint32_t c = n->first_child; c < n->first_child + n->children; c++) {
      uint32_t count;
      if (trie->labels[c] != '"' && !quote_below(trie, &trie->nodes[c])) continue;
      tsl__target t = tsl__state_step(space, r, trie->labels[c]);
      if (!t) continue;
      tsl__state to = tsl__target_resolve(space, t, e.count, &count);
      const tsl__state_rec *rt = tsl__state_expanded(space, to);
      if (!rt) return;
      if (rt->flags & TSL__STATE_NULLABLE) except_here(space, l, c, out);
      if (trie->nodes[c].children) tsl__level_push(space, l, (entry){c, to, count, 0, false, NULL});
    }
  }
}

/* The same, along their table if the excluded strings are fixed texts. */
static void except_below(tsl__space *space, level *l, tsl__state except, uint32_t node,
                         removal *out) {
  const tsl__state_rec *r = tsl__state_at(space, except);
  tsl__fixed_walk *w = &l->fixed;
  if (!tsl__is_fixed(r)) {
    except_node(space, l, except, node, out);
    return;
  }
  w->reached.n = w->ends.n = w->rests.n = 0;
  if (!tsl__fixed_ends(space, r, node, w)) return;
  for (size_t i = 0; i < w->ends.n && space->status == TSL_OK; i++)
    except_here(space, l, w->ends.at[i].node, out);
  for (size_t i = 0; i < w->rests.n && space->status == TSL_OK; i++)
    except_node(space, l, w->rests.at[i].state, w->rests.at[i].node, out);
}

static bool walk_difference(tsl__space *space, level *l, const tsl__hint *h, tsl__leftover over) {
  const tsl__walk *found = tsl__walk_over(space, h->base, 0, over, l->last);
  if (!found) return false;
  tsl__walk base = *found;
  uint32_t nodes[REMOVED_MAX];
  removal removed = {base.mask, nodes, 0};
  tsl__gather_mask(space, &l->gather, base.mask);
  if (over & TSL__WHOLE) {
    except_below(space, l, h->except, 0, &removed);
  } else {
    const tsl__leftover_rec *t = tsl__leftover_at(space, over);
    for (uint32_t i = 0; i < t->n && space->status == TSL_OK; i++)
      except_below(space, l, h->except, t->nodes[i], &removed);
  }
  tsl__level_leave_over(space, l, base.left);
  size_t out = 0;
  for (size_t i = 0; i < l->left.n; i++) {
    bool gone = false;
    for (size_t k = 0; k < removed.n && !gone; k++) gone = nodes[k] == l->left.at[i];
    if (!gone) l->left.at[out++] = l->left.at[i];
  }
  l->left.n = out;
  return space->status == TSL_OK;
}

/* The walk of a state over the whole vocabulary, far from its limit, with its parts; NULL: not done
 * yet. */
static const tsl__walk *find_free(tsl__space *space, tsl__state state, bool last) {
  const tsl__walk *w = fetch(space, state, ROOM_FREE << 1 | last, TSL__WHOLE);
  return w && w->reach != TSL__UNSPLIT
             ? w
             : fetch(space, state, SPLIT | ROOM_FREE << 1 | last, TSL__WHOLE);
}

/* The limit was out of reach of every path: the same answer holds for any higher one, and for
 * none. */
static void remember_free(tsl__space *space, level *l, const tsl__hint *h, tsl__state state,
                          const tsl__walk *from) {
  uint32_t context = ROOM_FREE << 1 | l->last;
  tsl__gather g = {0};
  if (find_free(space, state, l->last)) return;
  if (find(space, state, context, TSL__WHOLE)) context |= SPLIT;
  tsl__gather_mask(space, &g, from->exits);
  tsl__gather_mask(space, &g, tsl__class_mask(space, &h->letters, h->wide, 0, UINT32_MAX));
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
  remember(space, w);
}

/* The mask of the tokens that the state surely takes, none of which goes on beyond the string; 0:
 * nothing is known. */
static tsl__mask surely(tsl__space *space, const level *l, tsl__state state, uint32_t count,
                        const tsl__hint *h) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  if (!h->low ||
      (h->low_left && r->loop_max != TSL__COUNT_INF && r->loop_max - count < h->low_left))
    return 0;
  const tsl__walk *low = tsl__walk_over(space, h->low, 0, TSL__WHOLE, l->last);
  return low ? low->mask : 0;
}

/* As `like`, less the longer tokens that the state denies. False if they cannot be told. */
static bool gather_like(tsl__space *space, level *l, const tsl__near *n, tsl__leftover over) {
  if (!tsl__near_known(space, n)) return false;
  const tsl__walk *found = tsl__walk_over(space, n->hint->like, 0, over, l->last);
  if (!found) return true;
  tsl__gather_mask(space, &l->gather, found->mask);
  tsl__level_leave_over(space, l, found->left);
  for (uint32_t i = 0; i < n->longer; i++)
    if (tsl__near_denies(space, n, found->mask, i))
      tsl__gather_remove(space, &l->gather, n->lengths->longer[i]);
  return true;
}

/* As `open`, less the longer tokens that the state denies, where no quote and no backslash comes;
 * what holds one is read. False if it cannot be told. */
static bool gather_open(tsl__space *space, level *l, const tsl__near *n, const tsl__linear *t) {
  const tsl__bytes letters = tsl__raw_letters();
  size_t words = tsl_vocab_mask_words(space->vocab), floor = l->stack.n;
  if (!tsl__near_known(space, n)) return false;
  const tsl__walk *found = tsl__walk_over(space, n->like, 0, TSL__WHOLE, l->last);
  if (!found || !tsl__level_bits(space, l)) return true;
  tsl__mask_write(space, tsl__mask_at(space, found->mask), l->marks);
  for (uint32_t i = 0; i < n->longer; i++)
    if (n->denied[i]) tsl__mask_bit_clear(l->marks, n->lengths->longer[i]);
  tsl__mask_andnot(l->marks, n->lengths->having['"'], words);
  tsl__mask_andnot(l->marks, n->lengths->having['\\'], words);
  tsl__search_quoted(space, l, t->quoted, &(tsl__linear_from){n->state, n->count, 0, 0, l->last},
                     &letters, NULL);
  tsl__search_on(space, l, floor);
  return true;
}

/* As `like` or `open`, less the tokens that are too long: those are tried one by one, but such as a
 * part of the state's texts takes. False if that does not settle it. */
static bool walk_like(tsl__space *space, level *l, const tsl__state_rec *r, tsl__state state,
                      uint32_t count, const tsl__hint *h, tsl__leftover over) {
  tsl__near n = {.state = state,
                 .count = count,
                 .hint = h,
                 .like = h->open ? h->open : h->like,
                 .last = l->last,
                 .limit = tsl__like_limit(space, state, count, h)};
  const tsl__linear *t = tsl__linear_of(space, r, 0);
  bool near = n.limit < height_of(space, over);
  if (h->open && (over != TSL__WHOLE || !t || !tsl__state_is_plain(r))) return false;
  if (near && (h->like_far || over != TSL__WHOLE || n.limit < TSL__SHORT_MAX)) return false;
  if ((near || h->open) && !(n.lengths = tsl__lengths_of(space))) return false;
  while (near && n.longer < n.lengths->longer_count && n.lengths->longer_length[n.longer] > n.limit)
    n.longer++;
  if (n.longer >= NEAR_MIN && walk_kin(space, l, r, state, count, TSL__DELTA_NEAR)) return true;
  if (!tsl__space_step(space, NEAR_COST * n.longer)) return true;
  n.low = n.longer ? surely(space, l, state, count, h) : 0;
  if (n.longer && !(n.denied = tsl__alloc(&space->alloc, n.longer)))
    return !tsl__space_no_memory(space);
  bool settled = h->open ? gather_open(space, l, &n, t) : gather_like(space, l, &n, over);
  tsl__free(&space->alloc, n.denied, n.longer);
  return settled;
}

/* A state whose letters are iterations of its loop, over the whole vocabulary: the class's mask is
 * limited to the room left; the rest is that of the unlimited walk if its tokens are short enough.
 * Returns false if the walk must be done in full. */
static bool walk_counted(tsl__space *space, level *l, const tsl__state_rec *r, tsl__state state,
                         uint32_t count, uint32_t context, tsl__walk *out) {
  const tsl__hint *h = r->hint;
  uint32_t room = room_of(context);
  if (!(r->flags & TSL__STATE_LOOP))
    room = h->limit <= height_of(space, TSL__WHOLE) ? h->limit : ROOM_FREE;
  if ((r->flags & TSL__STATE_LOOP) && room != ROOM_FREE && (context >> 16) == 0 &&
      r->loop_max != TSL__COUNT_INF) {
    const tsl__walk *any = find_free(space, state, l->last);
    if (any && any->reach <= room) {
      tsl__gather_mask(space, &l->gather, any->exits);
      tsl__level_leave_over(space, l, any->left);
      out->exits = any->exits;
      out->reach = any->reach;
      tsl__gather_mask(space, &l->gather, tsl__class_mask(space, &h->letters, h->wide, 0, room));
      return true;
    }
  }
  size_t floor = l->stack.n;
  tsl__level_push(space, l, (entry){0, state, count, 0, false, h});
  tsl__search_on(space, l, floor);
  /* What was gathered so far is the part without letters only; keep it apart, then add the
   * class. */
  out->exits = tsl__level_mask(space, l);
  tsl__gather_clear(&l->gather);
  tsl__gather_mask(space, &l->gather, out->exits);
  tsl__gather_mask(
      space, &l->gather,
      tsl__class_mask(space, &h->letters, h->wide, 0, room == ROOM_FREE ? UINT32_MAX : room));
  out->reach = (uint16_t)(l->reach < TSL__UNSPLIT ? l->reach : TSL__UNSPLIT);
  if ((r->flags & TSL__STATE_LOOP) && room != ROOM_FREE && (context >> 16) == 0 &&
      l->reach < room && space->status == TSL_OK)
    remember_free(space, l, h, state, out);
  return true;
}

/* ---- walking --------------------------------------------------------------------------------- */

/* Are there fewer tokens than that? */
static bool is_below(const tsl__space *space, tsl__leftover over, uint32_t least) {
  return !(over & TSL__WHOLE) && tsl__leftover_at(space, over)->tokens < least;
}

static void walk_any(tsl__space *space, level *l, tsl__state state, uint32_t count,
                     uint32_t context, tsl__leftover over, tsl__walk *out) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  if (tsl__is_fixed(r)) {
    const tsl__leftover_rec *t =
        tsl__leftover_set(over) ? tsl__leftover_at(space, tsl__leftover_set(over)) : NULL;
    if (over & TSL__WHOLE) tsl__search_fixed(space, l, r, 0);
    for (uint32_t i = 0; t && i < t->n && space->status == TSL_OK; i++)
      tsl__search_fixed(space, l, r, t->nodes[i]);
    return;
  }
  r = tsl__state_expanded(space, state);
  if (!r) return;
  if (calls_alone(space, r, state)) {
    out->ended = UINT16_MAX;
    walk_calls(space, l, r, over & TSL__WHOLE, out);
    walk_calls(space, l, r, tsl__leftover_set(over), out);
    return;
  }
  bool open = false;
  if (over == TSL__WHOLE && tsl__walk_text(space, l, r, state, count, &open)) {
    out->reach = TSL__UNSPLIT;
    return;
  }
  /* of fewer none is worth asking for */
  const tsl__hint *h = is_below(space, over, TSL__HINT_MIN) ? NULL : tsl__state_form(space, r);
  if (h && (h->like || h->open) && walk_like(space, l, r, state, count, h, over)) {
    out->reach = TSL__UNSPLIT;
    return;
  }
  if (h && h->base) {
    walk_difference(space, l, h, over);
    return;
  }
  if (over == TSL__WHOLE && walk_kin(space, l, r, state, count, TSL__DELTA_NEAR)) return;
  if (over == TSL__WHOLE && !open && !(h && h->like) && walk_less(space, l, r, state, count))
    return;
  if (over == TSL__WHOLE && tsl__walk_limited(space, l, r, state, count)) return;
  if (over == TSL__WHOLE) h = tsl__state_hint(space, r);
  l->counted = over == TSL__WHOLE && !r->edges;
  if (h && h->counted && !tsl__bytes_empty(&h->letters) && over == TSL__WHOLE && !r->edges &&
      (l->last || !h->ends)) {
    walk_counted(space, l, r, state, count, context, out);
  } else {
    if (over & TSL__WHOLE) {
      if (walk_kin(space, l, r, state, count, TSL__DELTA_FAR))
        l->counted = false;
      else
        tsl__search_node(space, l, state, count, 0);
    }
    if (tsl__leftover_set(over)) tsl__search_set(space, l, state, count, tsl__leftover_set(over));
  }
}

/* Is this walk in progress further out? */
static bool in_progress(tsl__space *space, tsl__state state, uint32_t context, tsl__leftover over) {
  for (uint32_t d = space->depth; d-- > 0;) {
    const tsl__level_key *key = &space->scratch->levels.at[d]->key;
    while (key && (key->state != state || key->context != context || key->over != over))
      key = key->outer;
    if (!key) continue;
    if (d < space->cycle) space->cycle = d;
    return true;
  }
  return false;
}

/* ---- far from the least that a loop needs ---------------------------------------------------- */

static uint32_t gain_of(const level *l, uint32_t count) {
  uint32_t gain = l->top > count ? l->top - count : 0;
  return l->counted && gain < TSL__UNCOUNTED ? gain : TSL__UNCOUNTED;
}

/* The context of one that needs more iterations than any token has, if this one needs some. Near
 * the most that the loop allows, nobody else is at this place. */
static bool far_context(const tsl__space *space, uint32_t context, tsl__leftover over,
                        uint32_t *far) {
  if (!need_of(context) || room_of(context) != ROOM_FREE) return false;
  *far = (context & ~NEED(0x7FFFu)) | NEED(height_of(space, over) + 1);
  return context != *far;
}

/* No path of the walk far from the least began as many as are needed here: it is this one, too. */
static const tsl__walk *fetch_far(const tsl__space *space, tsl__state state, uint32_t context,
                                  tsl__leftover over) {
  uint32_t far;
  const tsl__walk *w =
      far_context(space, context, over, &far) ? find(space, state, far, over) : NULL;
  return w && w->gain < need_of(context) ? w : NULL;
}

/* The same the other way round: what was just walked is also the answer for all who need more. */
static bool remember_far(tsl__space *space, const tsl__walk *made) {
  uint32_t far;
  if (!far_context(space, made->context, made->over, &far) ||
      made->gain >= need_of(made->context) || find(space, made->state, far, made->over))
    return true;
  tsl__walk *w = tsl__pool_add(&space->walks.pool, &space->kept);
  if (!w) return tsl__space_no_memory(space);
  *w = *made;
  w->context = far;
  return remember(space, w);
}

/* What was done so far, in steps. */
static uint64_t work_of(const tsl__space *space) {
  return tsl__space_steps(space) + COST_STATE * (uint64_t)tsl__space_count(space, states);
}

/* Is it the frame of a member of any name but some, none of which ends within a token there? Then
 * it is walked as that of any name. */
static bool is_any_extra(tsl__space *space, const tsl__state_rec *r, tsl__leftover over) {
  tsl__state any = space->parent->extra;
  if (!any || r->edges != 1 ||
      tsl__state_edges(r)->push != tsl__state_edges(tsl__state_at(space, any))->push)
    return false;
  tsl__state callee = tsl__target_state(tsl__state_edges(r)->to);
  return tsl__is_others(tsl__state_at(space, callee)) &&
         tsl__names_go_on(space, callee, over, true);
}

/* Of a state that calls one frame and does nothing else: where that leaves nothing over, its walk.
 * NULL: it is not known below. */
static const tsl__walk *recall_called(const tsl__space *space, const tsl__state_rec *r,
                                      tsl__leftover over) {
  tsl__state callee = tsl__target_state(tsl__state_edges(r)->to);
  if (r->edges != 1 || !belongs_below(space, callee, over) ||
      tsl__state_at(space, callee)->flags & (TSL__STATE_KEYED | TSL__STATE_LOOP))
    return NULL;
  const tsl__walk *w = find_below(space, callee, 0, over);
  return w && !w->left ? w : NULL;
}

/* Of a string of any characters, so many to so many: what the vocabulary's layer knows of such, or
 * its state that this one is as is walked, which needs no other states. */
static const tsl__walk *recall_text(tsl__space *space, const tsl__state_rec *r, uint32_t count,
                                    tsl__leftover over) {
  tsl__state like;
  const tsl__walk *known = tsl__text_known(space, r, count, over, &like);
  return known || !like ? known : tsl__walk_over(space, like, 0, over, false);
}

/* What is remembered of a state over a leftover; as if something followed will do: that leaves
 * something over, which nobody asks for. A grammar's state is expanded, as what it calls may tell.
 * NULL: nothing, or on failure (sticky). */
static const tsl__walk *recall(tsl__space *space, const tsl__state_rec *r, tsl__state state,
                               uint32_t count, uint32_t context, tsl__leftover over) {
  uint32_t followed = context & ~1u;
  bool below = belongs_below(space, state, over), last = followed != context,
       here = state < space->states.first || r->walked;
  /* there nearly all walks are such */
  const tsl__walk *known = below ? find_below(space, state, followed, over) : NULL;
  if (known || (here && (known = find_in(space, state, context, over)))) return known;
  if (last && ((here && (known = find_in(space, state, followed, over))) ||
               (below && (known = find_below(space, state, context, over)))))
    return known;
  if (space->hook && space->hook->walk) {
    known = fetch(space, state, context, over);
    if (!known && last && space->status == TSL_OK) known = fetch(space, state, followed, over);
  }
  if (known || space->status != TSL_OK) return known;
  if (tsl__may_be_text(space, r, state) &&
      ((known = recall_text(space, r, count, over)) || space->status != TSL_OK))
    return known;
  if (state >= space->states.first && !tsl__state_fixed(r) && !tsl__state_expanded(space, state))
    return NULL;
  if (!calls_alone(space, r, state)) return fetch_far(space, state, context, over);
  if (is_any_extra(space, r, over) &&
      (known = find(space, space->parent->extra, context & ~1u, over)))
    return known;
  if ((known = recall_called(space, r, over))) return known;
  return find_calls(space, r, context, over);
}

/* May what follows the frame be heeded? A state of a loop is known by its register, one of the
 * layer below by itself. */
static bool may_heed(const tsl__space *space, const tsl__state_rec *r, tsl__state state,
                     bool last) {
  return !last && state >= space->states.first && !(r->flags & TSL__STATE_LOOP);
}

/* What is remembered where that follows. */
static const tsl__walk *recall_before(tsl__space *space, const tsl__state_rec *r, tsl__state state,
                                      uint32_t context, tsl__leftover over, tsl__after *after) {
  uint32_t number =
      after && r->walked & TSL__WALKED_BEFORE && !(context & 1) ? tsl__follow_of(space, after) : 0;
  return number ? find_in(space, state, context | FOLLOW(number), over) : NULL;
}

/* May it be that another grammar has left such a walk? What a state does that does nothing but call
 * is quickly put together. */
static bool is_common(const tsl__space *space, const tsl__state_rec *r, tsl__state state,
                      tsl__leftover over) {
  return !is_below(space, over, COMMON_TOKENS) && !tsl__is_others(r) &&
         !calls_alone(space, r, state);
}

/* Walked, and remembered. */
static TSL__SELDOM const tsl__walk *walk_anew(tsl__space *space, const tsl__state_rec *r,
                                              tsl__state state, uint32_t count, uint32_t context,
                                              tsl__leftover over, bool last, tsl__after *after) {
  if (in_progress(space, state, context, over)) return NULL;
  uint32_t depth = space->depth;
  level *l = tsl__level_open(space);
  if (!l) return NULL;
  l->key = (tsl__level_key){state, context, over, NULL};
  l->last = last;
  l->after = may_heed(space, r, state, last) ? after : NULL;
  tsl__walk made = {.state = state, .context = context, .over = over};
  tsl__digest key;
  uint64_t work = work_of(space);
  bool common =
           is_common(space, r, state, over) && tsl__common_key(space, state, context, over, &key),
       given = common && tsl__common_take(space, &key, &l->gather, &l->left, &l->whole);
  if (given)
    made.reach = TSL__UNSPLIT;
  else
    walk_any(space, l, state, count, context, over, &made);
  made.left = tsl__level_left(space, l);
  made.mask = tsl__level_mask(space, l);
  made.gain = gain_of(l, count);
  if (l->follow) made.context |= FOLLOW(l->follow);
  space->depth = depth;
  tsl__walk *w = space->status == TSL_OK ? tsl__pool_add(&space->walks.pool, &space->kept) : NULL;
  if (!w) return space->status == TSL_OK ? (tsl__space_no_memory(space), NULL) : NULL;
  *w = made;
  bool complete = space->cycle >= depth;
  if (space->cycle == depth) space->cycle = UINT32_MAX;
  work = work_of(space) - work;
  if (l->follow && complete) return remember(space, w) ? w : NULL;
  if (complete && common && !given && (over != TSL__WHOLE || work >= COMMON_MIN))
    tsl__common_put(space, &key, w);
  if (!complete) return w;
  if (is_alike(space, tsl__state_at(space, state), w))
    return remember_calls(space, tsl__state_at(space, state), w) ? w : NULL;
  if (!remember(space, w) || !remember_far(space, w)) return NULL;
  if (over == TSL__WHOLE && (l->graph ? work * LESS_WORTH : work) >= space->delta_work)
    tsl__delta_note(space, w, count);
  return w;
}

static const tsl__walk *walk_state(tsl__space *space, const tsl__state_rec *r, tsl__state state,
                                   uint32_t count, tsl__leftover over, bool last) {
  uint32_t context = context_of(space, r, count, over, last);
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
    state = space->hook->fixed(space->hook_ctx, r, 0, 0, 0);
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
  uint32_t context = context_of(space, r, count, over, !tail);
  const tsl__walk *known = recall(space, r, state, count, context, over);
  return known || space->status != TSL_OK ? known
                                          : walk_above(space, r, state, count, context, over, tail);
}

/* Is a walk that is not known seldom asked for again? Over a set, that of what begins with reading;
 * and after a call that of few tokens. Of an ambiguous grammar each is: a level does few. What the
 * vocabulary's layer may do for all, as long as it is made, is asked for by others. */
static bool is_seldom(tsl__space *space, const level *l, tsl__state state, tsl__leftover over,
                      bool called) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  if ((over & TSL__WHOLE) || l->within == TSL__WITHIN_MAX || !space->parent || tsl__state_fixed(r))
    return false;
  if (!space->parent->frozen && belongs_below(space, state, over)) return false;
  if (!called && state >= space->states.first && is_below(space, over, COMMON_TOKENS)) return true;
  r = tsl__state_expanded(space, state);
  return r && tsl__state_reads(r) && r->live_count < TSL__STARTS_LIVE;
}

/* It is searched for where it is asked for, and not remembered. */
static void search_within(tsl__space *space, level *l, const tsl__level_key *key, uint32_t count,
                          bool last, bool called) {
  tsl__level_key outer = l->key;
  tsl__after *outer_after = l->after;
  uint32_t follow = l->follow;
  bool outer_last = l->last;
  if (in_progress(space, key->state, key->context, key->over)) return;
  l->within++;
  l->last = last;
  l->key = *key;
  l->key.outer = &outer;
  if (called) l->after = NULL, l->follow = 0; /* what it leaves is told at once, and little */
  tsl__search_set(space, l, key->state, count, key->over);
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
  uint32_t context = context_of(space, r, count, over, last);
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

/* Where the frame that is called after a name leaves nothing over, that is all: most names can be
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
