/* walk.c - see walk.h.
 *
 * A walk has a level: the mask and the leftover being gathered, and the stack of a depth-first search. Calls open a level of their own. Levels are kept for
 * reuse, so a walk allocates nothing once warm.
 *
 * Cycles. A loop around something that may be empty can come back to a walk in progress without having read a byte. What that would add is what the outer one
 * adds already, so it adds nothing; but walks between the two are incomplete and must not be remembered (`cycle`).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk.h"

#include "runtime/classes.h"
#include "runtime/common.h"
#include "runtime/fixed.h"
#include "runtime/linear.h"
#include "runtime/names.h"
#include "runtime/walk_kin.h"
#include "runtime/walk_less.h"
#include "runtime/walk_near.h"
#include "runtime/wide.h"

#define HINT_MIN 96u      /* tokens below a node from which letters are worth a class */
#define ASK_MIN 512u      /* the same within a set, whose states may be met nowhere else, and be asked for letters that were not yet */
#define NEAR_COST 4u     /* steps that trying one is worth */
#define NEAR_MIN 64u      /* longer tokens to be tried, from which kin is looked for */
#define LESS_WORTH 8u    /* times its steps that a walk told from a class has cost: the graph is made first */
#define COMMON_MIN 12u    /* steps from which a walk is worth leaving to other grammars */
#define COMMON_TOKENS 64u /* tokens below a set from which it may have so many: fewer are walked before it is known what the state means */
#define COST_STATE 8u     /* steps that making a state is worth */
#define SIEVE_MAX 8u      /* bytes other than letters that children are sifted by */
#define LEAD 0xC2u         /* the first byte that begins a character beyond ASCII */
#define TYPICAL_LEAD 0xE1u
#define TYPICAL_LETTER 'e'
#define PER_NODE_MIN 48u  /* live bytes from which a set is walked node by node: merging would cost more than it saves */

typedef struct entry {
  uint32_t node;
  tsl__state state;
  uint32_t count, depth;
  const tsl__hint *hint; /* not NULL: only letters so far; their tokens are in the class's mask */
} entry;

/* What tells the children of a node apart that hold something else than the letters of a hint: bits by node. */
typedef struct sieve {
  const tsl__hint *of;
  const uint64_t *at[SIEVE_MAX + 2];
  uint32_t n; /* 0: too many */
} sieve;

typedef struct level {
  tsl__gather gather;
  tsl__words left;
  TSL__VEC(entry) stack, together; /* together: of one node, being read on */
  tsl__fixed_walk fixed;
  tsl__linear_asides aside;
  tsl__kin kin;
  tsl__less less;
  sieve sieve;
  uint32_t *marks; /* tokens gathered by linear.h; NULL: none yet */
  bool whole, last;
  bool graph; /* a graph was made of what letters do to the state (walk_less.h) */
  uint32_t reach, top; /* deepest node entered; highest register there */
  bool counted;        /* `top` is of all paths */
  tsl__state state; /* key of the walk in progress */
  uint32_t context;
  tsl__leftover over;
} level;

struct tsl__scratch {
  TSL__VEC(level *) levels;
};

/* ---- levels --------------------------------------------------------------------------------------------------- */

static bool out_of_memory(tsl__space *space) {
  tsl__space_fail(space, TSL_ERR_NO_MEMORY, "out of memory");
  return false;
}

static level *level_open(tsl__space *space) {
  if (!space->scratch && !(space->scratch = tsl__alloc_zero(&space->alloc, sizeof *space->scratch))) return out_of_memory(space), NULL;
  if (space->depth >= TSL__WALK_DEPTH_MAX) return tsl__space_fail(space, TSL_ERR_LIMIT, "calls nest too deeply within one token"), NULL;
  if (space->depth == space->scratch->levels.n) {
    level *fresh = tsl__alloc_zero(&space->alloc, sizeof *fresh);
    if (!fresh) return out_of_memory(space), NULL;
    if (!tsl__vec_push(&space->alloc, &space->scratch->levels, fresh)) {
      tsl__free(&space->alloc, fresh, sizeof *fresh);
      return out_of_memory(space), NULL;
    }
  }
  level *l = space->scratch->levels.at[space->depth++];
  tsl__gather_clear(&l->gather);
  l->left.n = l->stack.n = l->together.n = l->aside.n = 0;
  l->whole = l->graph = l->counted = false;
  l->reach = l->top = 0;
  l->sieve.of = NULL;
  return l;
}

void tsl__walk_scratch_free(tsl__space *space) {
  if (!space->scratch) return;
  for (size_t i = 0; i < space->scratch->levels.n; i++) {
    level *l = space->scratch->levels.at[i];
    tsl__gather_free(space, &l->gather);
    tsl__vec_free(&space->alloc, &l->left);
    tsl__vec_free(&space->alloc, &l->stack);
    tsl__vec_free(&space->alloc, &l->together);
    tsl__fixed_walk_free(space, &l->fixed);
    tsl__vec_free(&space->alloc, &l->aside);
    tsl__kin_free(space, &l->kin);
    tsl__less_free(space, &l->less);
    tsl__free(&space->alloc, l, sizeof *l);
  }
  tsl__vec_free(&space->alloc, &space->scratch->levels);
  tsl__free(&space->alloc, space->scratch, sizeof *space->scratch);
  space->scratch = NULL;
}

/* ---- the key -------------------------------------------------------------------------------------------------- */

static uint32_t height_of(const tsl__space *space, tsl__leftover over) {
  if (over & TSL__WHOLE) return space->vocab->trie.nodes[0].height;
  return tsl__leftover_at(space, over)->height;
}

#define NEED(n) ((n) << 16)

/* The register as far as it matters over tokens of that height: iterations still needed and still allowed. */
static uint32_t context_of(const tsl__space *space, tsl__state state, uint32_t count, tsl__leftover over, bool last) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  if (!(r->flags & TSL__STATE_LOOP)) return last;
  uint32_t height = height_of(space, over);
  uint32_t need = count < r->loop_min ? r->loop_min - count : 0;
  uint32_t room = r->loop_max == TSL__COUNT_INF ? 0x7FFF : r->loop_max - count;
  if (need > height) need = height + 1;
  if (room > height) room = 0x7FFF;
  return NEED(need) | room << 1 | last;
}
#define ROOM_FREE 0x7FFFu
#define SPLIT (1u << 31)      /* a walk remembered for its parts, beside one that was not done in parts */
static uint32_t room_of(uint32_t context) { return context >> 1 & 0x7FFF; }
static uint32_t need_of(uint32_t context) { return context >> 16 & 0x7FFF; }

static uint64_t walk_hash(tsl__state state, uint32_t context, tsl__leftover over) {
  return tsl__mix(((uint64_t)state << 32 | over) + (uint64_t)context * 0x9e3779b97f4a7c15u);
}

static const tsl__walk *find(const tsl__space *space, tsl__state state, uint32_t context, tsl__leftover over) {
  uint64_t hash = walk_hash(state, context, over);
  for (const tsl__space *layer = space; layer; layer = layer->parent) {
    tsl__index_iter it = tsl__index_first(&layer->walks.index, hash);
    for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
      const tsl__walk *w = tsl__space_at(space, walks, i);
      if (w->state == state && w->over == over && w->context == context) return w;
    }
    /* The layer below can't have walked a state or a leftover of this one. */
    if (state >= space->states.first || tsl__leftover_set(over) >= space->leftovers.first) break;
  }
  return NULL;
}

static bool remember(tsl__space *space, const tsl__walk *w) {
  return tsl__index_add(&space->walks.index, &space->alloc, walk_hash(w->state, w->context, w->over), tsl__space_count(space, walks) - 1) || out_of_memory(space);
}

/* The same, and where the tables don't have it: one that was done ahead. NULL on failure too (sticky). */
static const tsl__walk *fetch(tsl__space *space, tsl__state state, uint32_t context, tsl__leftover over) {
  tsl__walk made;
  const tsl__walk *known = find(space, state, context, over);
  if (known || !space->hook || !space->hook->walk || !space->hook->walk(space->hook_ctx, state, context, over, &made)) return known;
  tsl__walk *w = tsl__pool_add(&space->walks.pool, &space->alloc);
  if (!w) return out_of_memory(space), NULL;
  *w = made;
  return remember(space, w) ? w : NULL;
}

/* ---- gathering ------------------------------------------------------------------------------------------------ */

static void leave_node(tsl__space *space, level *l, uint32_t node) {
  if (l->last) return;
  if (node == 0) l->whole = true;
  else if (space->vocab->trie.nodes[node].children && !tsl__vec_push(&space->alloc, &l->left, node)) out_of_memory(space);
}

static void leave_over(tsl__space *space, level *l, tsl__leftover t) {
  if (l->last) return;
  if (t & TSL__WHOLE) l->whole = true;
  if (!tsl__leftover_set(t)) return;
  const tsl__leftover_rec *r = tsl__leftover_at(space, t);
  if (!tsl__vec_reserve(&space->alloc, &l->left, r->n)) {
    out_of_memory(space);
    return;
  }
  memcpy(l->left.at + l->left.n, r->nodes, r->n * sizeof *r->nodes);
  l->left.n += r->n;
}

/* Is this token special? Only a grammar's naming it lets it through; end-of-generation tokens never come this way. */
static void gather_token_edge(tsl__space *space, level *l, const tsl__token_edge *e) {
  const tsl_vocab *v = space->vocab;
  if (!e->complement) {
    for (uint32_t i = 0; i < e->count; i++)
      if (!tsl_vocab_is_eog(v, e->tokens[i])) tsl__gather_token(space, &l->gather, e->tokens[i]);
    return;
  }
  uint32_t number, *bits = tsl__bitset_new(space, &number), k = 0;
  if (!bits) return;
  for (tsl_token t = 0; t < v->size; t++) {
    while (k < e->count && e->tokens[k] < t) k++;
    if ((k < e->count && e->tokens[k] == t) || tsl_vocab_is_eog(v, t) || v->offsets[t] == v->offsets[t + 1]) continue;
    bits[t >> 5] |= (uint32_t)1 << (t & 31);
  }
  tsl__gather_base(space, &l->gather, number);
}

/* ---- the search ----------------------------------------------------------------------------------------------- */

static void walk_node(tsl__space *space, level *l, tsl__state state, uint32_t count, uint32_t node, uint32_t depth);
static void enter_node(tsl__space *space, level *l, tsl__state state, uint32_t count, uint32_t node, uint32_t depth);
static void walk_set(tsl__space *space, level *l, tsl__state state, uint32_t count, tsl__leftover set);

/* A call of a frame that spells names: each name goes on in its own way. */
static void call_named(tsl__space *space, level *l, tsl__state callee, tsl__state resume, tsl__leftover over) {
  for (int part = 0; part < 2; part++) {
    tsl__leftover t = part ? tsl__leftover_set(over) : over & TSL__WHOLE;
    const tsl__named_walk *w = t ? tsl__named_walk_over(space, callee, t) : NULL;
    if (!w) continue;
    tsl__named_gather(space, &l->gather, w, resume);
    for (uint32_t i = 0; i < w->left_count && space->status == TSL_OK; i++) {
      const tsl__walk *rest = tsl__walk_after_name(space, resume, &w->lefts[i], l->last);
      if (!rest) continue;
      tsl__gather_mask(space, &l->gather, rest->mask);
      leave_over(space, l, rest->left);
    }
  }
}

/* A call at a place: the called frame over what is left there, then this frame again over what that leaves. */
static void call(tsl__space *space, level *l, const tsl__edge *e, uint32_t count, tsl__leftover over) {
  uint32_t c;
  tsl__state callee = tsl__target_resolve(space, e->to, 0, &c);
  if (tsl__state_at(space, callee)->flags & TSL__STATE_KEYED) {
    call_named(space, l, callee, tsl__target_resolve(space, e->push, count, &c), over);
    return;
  }
  const tsl__walk *inner = tsl__walk_over(space, callee, 0, over, false);
  if (!inner) return;
  tsl__gather_mask(space, &l->gather, inner->mask);
  tsl__leftover left = inner->left;
  if (!left) return;
  tsl__state then = tsl__target_resolve(space, e->push, count, &c);
  for (int part = 0; part < 2; part++) {
    tsl__leftover t = part ? tsl__leftover_set(left) : left & TSL__WHOLE;
    const tsl__walk *rest = t ? tsl__walk_over(space, then, c, t, l->last) : NULL;
    if (!rest) continue;
    tsl__gather_mask(space, &l->gather, rest->mask);
    leave_over(space, l, rest->left);
  }
}

static tsl__leftover over_node(tsl__space *space, uint32_t node) {
  return node == 0 ? TSL__WHOLE : tsl__leftover_intern(space, &node, 1);
}

/* What a state does at a place before it reads a byte there. `t` is the place if it is a set of nodes, or 0: it is `node`. Returns the state to read on with,
 * or NULL if it was a fork (all done) or on failure. */
static const tsl__state_rec *arrive(tsl__space *space, level *l, tsl__state state, uint32_t count, uint32_t node, tsl__leftover t, uint32_t depth) {
  const tsl__state_rec *r = tsl__state_expanded(space, state);
  if (!r) return NULL;
  if (TSL__LIKELY(tsl__state_reads(r))) return r;
  if (r->flags & TSL__STATE_FORK) {
    for (uint32_t i = 0; i < r->edges && space->status == TSL_OK; i++) {
      uint32_t c;
      tsl__state s = tsl__target_resolve(space, tsl__state_edges(r)[i].to, count, &c);
      if (t) walk_set(space, l, s, c, t);
      else if (depth) enter_node(space, l, s, c, node, depth); /* what follows is the search's that is under way */
      else walk_node(space, l, s, c, node, 0);
    }
    return NULL;
  }
  if (r->flags & TSL__STATE_NULLABLE) {
    if (t) leave_over(space, l, t);
    else leave_node(space, l, node);
  }
  if (r->edges && !t && (node == 0 || space->vocab->trie.nodes[node].children)) t = over_node(space, node);
  for (uint32_t i = 0; i < r->edges && t && space->status == TSL_OK; i++) call(space, l, &tsl__state_edges(r)[i], count, t);
  if (node == 0)
    for (uint32_t i = 0; i < r->token_edges; i++) gather_token_edge(space, l, &tsl__state_token_edges(r)[i]);
  return space->status == TSL_OK ? r : NULL;
}

/* The hint whose letters can be used below this node; NULL: none. A counted class only from the root of a walk, where the caller takes care of the limit. */
static const tsl__hint *may_use_letters(tsl__space *space, const level *l, const tsl__state_rec *r, uint32_t node) {
  const tsl__trie_node *n = &space->vocab->trie.nodes[node];
  uint32_t tokens = n->end - n->own_end;
  if (tokens < HINT_MIN || (l->over != TSL__WHOLE && tokens < ASK_MIN && r->hinted != TSL__HINTED_ALL)) return NULL;
  const tsl__hint *h = tsl__state_hint(space, r);
  if (!h || tsl__bytes_empty(&h->letters) || h->counted || (h->ends && !l->last)) return NULL;
  if (h->wide && node && tsl__wide_bit(tsl__wide_at(space, h->wide)->midway, node)) return NULL;
  if (h->limit < space->vocab->trie.nodes[0].height && (l->over != TSL__WHOLE || h->limit <= TSL__SHORT_MAX)) return NULL; /* see use_letters */
  const tsl__linear *linear = tsl__linear_of(space, r, node);
  return linear && tsl__linear_beats(space, linear, r, h, node) ? NULL : h;
}

/* The same; the class's tokens are gathered. */
static const tsl__hint *use_letters(tsl__space *space, level *l, const tsl__state_rec *r, uint32_t node) {
  const tsl__hint *h = may_use_letters(space, l, r, node);
  if (!h) return NULL;
  /* Tokens of more letters are left to the search; it knows depths in a walk of the whole vocabulary only. */
  uint32_t limit = h->limit < space->vocab->trie.nodes[0].height ? h->limit : UINT32_MAX;
  tsl__gather_mask(space, &l->gather, tsl__class_mask(space, &h->letters, h->wide, node, limit));
  return h;
}

/* Characters over which the state is as `like`. */
static uint32_t like_limit(const tsl__space *space, tsl__state state, uint32_t count, const tsl__hint *h) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  if (!h->like_unit || r->loop_max == TSL__COUNT_INF) return h->like_limit;
  uint64_t left = (uint64_t)(r->loop_max - count) * h->like_unit;
  return left < h->like_limit ? (uint32_t)left : h->like_limit;
}

/* The state below a node: without its limits, if nothing there reaches them. */
static const tsl__state_rec *far_from_limits(tsl__space *space, const tsl__state_rec *r, const tsl__trie_node *n, tsl__state *state, uint32_t *count) {
  const tsl__hint *h = n->end - n->own_end < HINT_MIN ? NULL : tsl__state_form(space, r);
  if (!h || !h->like || like_limit(space, *state, *count, h) < n->height) return r;
  *state = h->like;
  *count = 0;
  return tsl__state_expanded(space, *state);
}

static void note_reach(level *l, uint32_t depth, uint32_t count) {
  if (depth > l->reach) l->reach = depth;
  if (count > l->top) l->top = count;
}

static void push(tsl__space *space, level *l, entry e) {
  note_reach(l, e.depth, e.count);
  if (!tsl__vec_push(&space->alloc, &l->stack, e)) out_of_memory(space);
}

/* One child, reached by letters only: its tokens are in the class's mask already. A fork goes on along each of its branches. */
static void push_letter(tsl__space *space, level *l, entry e) {
  const tsl__state_rec *r = tsl__state_at(space, e.state);
  if (!(r->flags & TSL__STATE_FORK)) {
    push(space, l, e);
    return;
  }
  for (uint32_t i = 0; i < r->edges; i++) {
    entry branch = e;
    branch.state = tsl__target_resolve(space, tsl__state_edges(r)[i].to, e.count, &branch.count);
    push_letter(space, l, branch);
  }
}

/* A node with children, reached by a byte that is not (only) a letter. */
static void enter_node(tsl__space *space, level *l, tsl__state state, uint32_t count, uint32_t node, uint32_t depth) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__trie_node *n = &trie->nodes[node];
  const tsl__state_rec *r = arrive(space, l, state, count, node, 0, depth);
  if (!r || !tsl__trie_below_meets(trie, n, &r->live) || !(r = far_from_limits(space, r, n, &state, &count))) return;
  if (tsl__trie_below_within(trie, n, r->self)) tsl__gather_tokens(space, &l->gather, trie->order + n->own_end, n->end - n->own_end);
  else push(space, l, (entry){node, state, count, depth, use_letters(space, l, r, node)});
}

/* The same of a child; its own tokens are gathered. */
static void enter_child(tsl__space *space, level *l, tsl__state state, uint32_t count, uint32_t child, uint32_t depth) {
  const tsl__trie_node *n = &space->vocab->trie.nodes[child];
  tsl__gather_tokens(space, &l->gather, space->vocab->trie.order + n->begin, n->own_end - n->begin);
  note_reach(l, depth, count);
  if (n->children) enter_node(space, l, state, count, child, depth);
}

/* Read on from a node by the byte of one child, which is live. */
static void search_child(tsl__space *space, level *l, const entry *e, const tsl__state_rec *r, uint32_t c) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__trie_node *child = &trie->nodes[c];
  bool letter = e->hint && tsl__bytes_has(&e->hint->letters, child->byte), beyond = false;
  const tsl__wide *wide = letter && e->hint->wide ? tsl__wide_at(space, e->hint->wide) : NULL;
  if (wide && child->byte >= 0x80 && tsl__wide_bit(wide->exit, c)) letter = false;
  if (letter && !e->hint->counted) { /* tokens of more letters than the limit are not in the class's mask */
    letter = e->depth + 1 <= e->hint->limit;
    beyond = e->depth + 1u + child->height > e->hint->limit;
  }
  if (letter && !beyond && (!child->children || (!tsl__trie_below_meets(trie, child, &e->hint->exits) && !(wide && tsl__wide_bit(wide->dirty, c))))) return;
  uint32_t count;
  tsl__target t = tsl__state_step(space, r, child->byte);
  if (!t) return;
  tsl__state to = tsl__target_resolve(space, t, e->count, &count);
  if (letter) push_letter(space, l, (entry){c, to, count, e->depth + 1, e->hint});
  else enter_child(space, l, to, count, c, e->depth + 1);
}

/* The sieve of a hint; NULL: none, or not for this node, below which some text of letters is longer than the limit. */
static const sieve *sieve_of(tsl__space *space, level *l, const entry *e) {
  const tsl__hint *h = e->hint;
  sieve *s = &l->sieve;
  if (!h || (!h->counted && e->depth + space->vocab->trie.nodes[e->node].height > h->limit)) return NULL;
  if (s->of == h) return s->n ? s : NULL;
  const tsl__lengths *lengths = tsl__lengths_of(space);
  const tsl__wide *wide = h->wide ? tsl__wide_at(space, h->wide) : NULL;
  bool beyond = h->exits.w[2] || h->exits.w[3];
  *s = (sieve){.of = h};
  if (!lengths || (unsigned)(__builtin_popcountll(h->exits.w[0]) + __builtin_popcountll(h->exits.w[1])) + beyond > SIEVE_MAX) return NULL;
  for (unsigned b = 0; b < 128; b++)
    if (tsl__bytes_has(&h->exits, b)) s->at[s->n++] = lengths->holding[b];
  if (beyond) s->at[s->n++] = lengths->holding[128];
  if (wide) s->at[s->n++] = wide->exit, s->at[s->n++] = wide->dirty;
  return s->n ? s : NULL;
}

/* Read on from a node by those children that hold something else than letters. */
static void search_sifted(tsl__space *space, level *l, const entry *e, const tsl__state_rec *r, const sieve *s) {
  const tsl__trie_node *nodes = space->vocab->trie.nodes;
  uint32_t first = nodes[e->node].first_child, last = first + nodes[e->node].children - 1u;
  for (uint32_t w = first >> 6; w <= last >> 6; w++) {
    uint64_t bits = w == first >> 6 ? ~(uint64_t)0 << (first & 63) : ~(uint64_t)0, held = 0;
    if (w == last >> 6) bits &= ~(uint64_t)0 >> (63 - (last & 63));
    for (uint32_t k = 0; k < s->n; k++) held |= s->at[k][w];
    for (bits &= held; bits; bits &= bits - 1) {
      uint32_t c = w * 64 + (uint32_t)__builtin_ctzll(bits);
      if (tsl__bytes_has(&r->live, nodes[c].byte)) search_child(space, l, e, r, c);
    }
  }
}

static size_t marks_size(const tsl__space *space) { return (tsl_vocab_mask_words(space->vocab) + 1) * sizeof(uint32_t); }

static bool need_marks(tsl__space *space, level *l) { return l->marks || (l->marks = tsl__alloc_zero(&space->alloc, marks_size(space))) || out_of_memory(space); }

/* All that is below along the table; what that sets aside is entered as ever. */
static void search_linear(tsl__space *space, level *l, const tsl__linear *t, const entry *e) {
  tsl__linear_from from = {e->state, e->count, e->node, (uint16_t)e->depth, l->last};
  uint32_t deepest = e->depth + space->vocab->trie.nodes[e->node].height;
  note_reach(l, deepest, e->count + deepest - e->depth);
  if (!need_marks(space, l)) return;
  size_t floor = l->aside.n; /* entering may come back here */
  tsl__linear_read(space, t, &from, l->marks, &l->aside);
  for (size_t i = floor; i < l->aside.n && space->status == TSL_OK; i++) {
    tsl__linear_aside a = l->aside.at[i];
    uint32_t count;
    tsl__state to = tsl__target_resolve(space, a.to, a.count, &count);
    enter_child(space, l, to, count, a.node, a.depth);
  }
  l->aside.n = floor;
}

/* What was pushed for one node: once each. */
static void push_once(level *l, size_t from) {
  entry *at = l->stack.at;
  size_t n = from;
  for (size_t i = from; i < l->stack.n; i++) {
    size_t k = from;
    while (k < n && (at[k].state != at[i].state || at[k].count != at[i].count || at[k].hint != at[i].hint)) k++;
    if (k == n) at[n++] = at[i];
  }
  l->stack.n = n;
}

static bool is_at(const level *l, size_t floor, uint32_t node) { return l->stack.n > floor && l->stack.at[l->stack.n - 1].node == node; }

/* Several states at one node, as an ambiguous loop has with different registers: child by child, so that those which become one are followed once. */
static void search_together(tsl__space *space, level *l, size_t floor, uint32_t node) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__trie_node *n = &trie->nodes[node];
  size_t first = l->together.n;
  while (is_at(l, floor, node)) {
    entry e = l->stack.at[--l->stack.n];
    const tsl__state_rec *r = tsl__state_expanded(space, e.state);
    if (!r || !tsl__space_step(space, 1u + n->children / 8)) return;
    const tsl__linear *t = e.hint ? NULL : tsl__linear_of(space, r, node);
    if (t) search_linear(space, l, t, &e);
    else if (!tsl__vec_push(&space->alloc, &l->together, e)) out_of_memory(space);
  }
  for (uint32_t c = n->first_child, end = c + n->children; c < end && space->status == TSL_OK; c++) {
    size_t from = l->stack.n;
    for (size_t i = first; i < l->together.n; i++) {
      entry e = l->together.at[i];
      const tsl__state_rec *r = tsl__state_at(space, e.state);
      if (tsl__bytes_has(&r->live, trie->nodes[c].byte)) search_child(space, l, &e, r, c);
    }
    push_once(l, from);
  }
  l->together.n = first;
}

/* Do few bytes live where a target leads? */
static bool is_narrow(tsl__space *space, tsl__target t, uint32_t count) {
  const tsl__state_rec *r = t ? tsl__state_expanded(space, tsl__target_resolve(space, t, count, &count)) : NULL;
  return !r || r->live_count < TSL__LINEAR_BYTES;
}

/* Characters beyond ASCII that all lead to one place, where few bytes are live, as where a letter leads (else the table is faster). Their first bytes are told. */
static void tell_beyond(tsl__space *space, level *l, const entry *e, const tsl__state_rec *r, tsl__bytes *told) {
  uint64_t leads = TSL__ALL_LEADS;
  uint32_t count = 0;
  if (!tsl__bytes_has(&r->live, TYPICAL_LEAD) || r->flags & TSL__STATE_LOOP || !space->hook || !space->hook->beyond) return;
  if (!is_narrow(space, tsl__state_step(space, r, TYPICAL_LETTER), e->count)) return;
  const tsl__lengths *lengths = tsl__lengths_of(space);
  tsl__target t = lengths ? space->hook->beyond(space->hook_ctx, r, &leads) : TSL__TARGET_LATER;
  if (tsl__target_is_later(t)) return;
  if (!is_narrow(space, t, e->count) || space->status != TSL_OK || !need_marks(space, l)) return;
  tsl__state to = t ? tsl__target_resolve(space, t, e->count, &count) : 0;
  for (unsigned k = 0; k < TSL__LEADS && space->status == TSL_OK; k++) {
    if (!(leads >> k & 1)) continue;
    tsl__bytes_add(told, LEAD + k);
    for (uint32_t i = lengths->ones_of[k]; i < lengths->ones_of[k + 1] && to; i++) tsl__mask_bit_set(l->marks, lengths->ones[i]);
    for (uint32_t i = lengths->wholes_of[k]; i < lengths->wholes_of[k + 1] && to; i++) enter_node(space, l, to, count, lengths->wholes[i], e->depth + 1);
  }
}

/* Does a state go by all bytes of another as that one does? Neither has a register. */
static bool goes_as(tsl__space *space, const tsl__state_rec *r, const tsl__state_rec *start) {
  if (!tsl__bytes_within(&start->live, &r->live)) return false;
  for (uint32_t i = 0, k = 0, b = 0; i < start->ranges && space->status == TSL_OK; b = tsl__state_upper(start)[i++] + 1u) {
    if (!start->targets[i]) continue;
    for (; b <= tsl__state_upper(start)[i]; b = tsl__state_upper(r)[k] + 1u) {
      while (tsl__state_upper(r)[k] < b) k++;
      if (tsl__state_range(space, r, k, (uint8_t)b) != tsl__state_range(space, start, i, (uint8_t)b)) return false;
    }
  }
  return space->status == TSL_OK;
}

/* What begins as a number, a string, or any value of another kind does. The bytes that these begin with are told. */
static void tell_starts(tsl__space *space, level *l, const entry *e, const tsl__state_rec *r, tsl__bytes *told) {
  const tsl__space *base = space->parent;
  if (!base || r->live_count >= TSL__STARTS_LIVE || e->state < base->states.first) return;
  for (unsigned i = 0; i < TSL__STARTS_MAX && base->starts[i]; i++) {
    const tsl__state_rec *start = tsl__state_at(space, base->starts[i]);
    if (tsl__bytes_meet(&start->live, told) || !goes_as(space, r, start)) continue;
    const tsl__walk *w = tsl__walk_over(space, base->starts[i], 0, TSL__WHOLE, l->last);
    if (!w) return;
    tsl__gather_mask(space, &l->gather, w->mask);
    leave_over(space, l, w->left);
    tsl__bytes_or(told, &start->live);
    l->counted = false;
  }
}

/* Of what a state reads from the root: those bytes of which it is known without a search, their trees are gathered. */
static tsl__bytes tell(tsl__space *space, level *l, const entry *e, const tsl__state_rec *r) {
  tsl__bytes told = {{0}};
  tell_starts(space, l, e, r, &told);
  tell_beyond(space, l, e, r, &told);
  return told;
}

static void search(tsl__space *space, level *l, size_t floor) {
  const tsl__trie *trie = &space->vocab->trie;
  while (l->stack.n > floor && space->status == TSL_OK) {
    entry e = l->stack.at[--l->stack.n];
    if (TSL__UNLIKELY(is_at(l, floor, e.node))) {
      l->stack.n++;
      search_together(space, l, floor, e.node);
      continue;
    }
    const tsl__state_rec *r = tsl__state_expanded(space, e.state);
    const tsl__trie_node *n = &trie->nodes[e.node];
    if (!r || !tsl__space_step(space, 1u + n->children / 8)) return;
    tsl__bytes told = {{0}}, rest = r->live;
    if (e.node == 0 && !e.hint) {
      told = tell(space, l, &e, r);
      for (int w = 0; w < 4; w++) rest.w[w] &= ~told.w[w];
    }
    const tsl__linear *t = e.hint || !tsl__bytes_empty(&told) ? NULL : tsl__linear_of(space, r, e.node);
    if (t) {
      search_linear(space, l, t, &e);
      continue;
    }
    const sieve *sift = sieve_of(space, l, &e);
    if (sift) {
      search_sifted(space, l, &e, r, sift);
      continue;
    }
    if (r->live_count * 8u < n->children) { /* few bytes are live: look each of them up */
      for (int w = 0; w < 4; w++)
        for (uint64_t bits = rest.w[w]; bits; bits &= bits - 1) {
          uint32_t c = tsl__trie_child(trie, e.node, (uint8_t)(w * 64 + __builtin_ctzll(bits)));
          if (c) search_child(space, l, &e, r, c);
        }
      continue;
    }
    for (uint32_t c = n->first_child, end = c + n->children; c < end; c++)
      if (tsl__bytes_has(&rest, trie->nodes[c].byte)) search_child(space, l, &e, r, c);
  }
}

/* What was gathered so far, as a mask; the level is ready for more. */
static tsl__mask gathered(tsl__space *space, level *l) {
  if (l->marks && space->status == TSL_OK) tsl__gather_marks(space, &l->gather, l->marks);
  tsl__free(&space->alloc, l->marks, marks_size(space));
  l->marks = NULL;
  return tsl__gather_done(space, &l->gather);
}

/* From a node, nothing of it read yet. */
static void walk_node(tsl__space *space, level *l, tsl__state state, uint32_t count, uint32_t node, uint32_t depth) {
  const tsl__state_rec *r = arrive(space, l, state, count, node, 0, depth);
  if (!r || !tsl__trie_below_meets(&space->vocab->trie, &space->vocab->trie.nodes[node], &r->live)) return;
  size_t floor = l->stack.n;
  push(space, l, (entry){node, state, count, depth, use_letters(space, l, r, node)});
  search(space, l, floor);
}

/* A mask without some tokens, which are sorted here: they are listed if they are few. */
static bool gather_but(tsl__space *space, level *l, tsl__mask mask, tsl_token *tokens, size_t n) {
  if (n <= TSL__PATCH_MAX) return tsl__gather_mask(space, &l->gather, mask) && tsl__gather_remove_all(space, &l->gather, tokens, tsl__sort_unique(tokens, n));
  if (!need_marks(space, l)) return false;
  tsl__mask_write(space, mask, l->marks);
  for (size_t i = 0; i < n; i++) tsl__mask_bit_clear(l->marks, tokens[i]);
  return true;
}

/* As its kin, but for some trees: those are walked. False if it has none within reach, or on failure (sticky). */
static bool walk_kin(tsl__space *space, level *l, const tsl__state_rec *r, tsl__state state, uint32_t count, tsl__kin_reach reach) {
  tsl__kin *kin = &l->kin;
  if (!space->kin_count || !tsl__linear_of(space, r, 0) || (reach == TSL__KIN_FAR && may_use_letters(space, l, r, 0))) return false;
  if (!tsl__kin_find(space, state, count, l->last, reach, kin)) return false;
  tsl__leftover left = kin->walk->left;
  const tsl__leftover_rec *t = tsl__leftover_set(left) ? tsl__leftover_at(space, tsl__leftover_set(left)) : NULL;
  if (!gather_but(space, l, kin->walk->mask, kin->tokens.at, kin->tokens.n)) return true;
  for (uint32_t i = 0; t && i < t->n; i++)
    if (!tsl__kin_within(space, kin, t->nodes[i])) leave_node(space, l, t->nodes[i]);
  size_t floor = l->stack.n;
  for (size_t i = 0; i < kin->enter.n && space->status == TSL_OK; i++) enter_child(space, l, kin->enter.at[i].state, kin->enter.at[i].count, kin->enter.at[i].node, kin->enter.at[i].depth);
  search(space, l, floor);
  return true;
}

/* As all texts of letters, but for what dies; what else is legal among them is searched for. False if it is not best walked like that, or on failure (sticky). */
static bool walk_less(tsl__space *space, level *l, const tsl__state_rec *r, tsl__state state, uint32_t count) {
  tsl__less *less = &l->less;
  if (!tsl__linear_of(space, r, 0) || r->live_count < space->less_bytes || !tsl__less_find(space, state, less)) return false;
  l->graph = true;
  space->less_met++;
  if (!gather_but(space, l, tsl__class_mask(space, &less->hint.letters, 0, 0, UINT32_MAX), less->tokens.at, less->tokens.n)) return true;
  size_t floor = l->stack.n;
  push(space, l, (entry){0, state, count, 0, &less->hint});
  search(space, l, floor);
  return true;
}

/* From a set of nodes, merged byte by byte. Recursion is bounded by the longest token. */
static void walk_set(tsl__space *space, level *l, tsl__state state, uint32_t count, tsl__leftover set) {
  const tsl__leftover_rec *t = tsl__leftover_at(space, set);
  const tsl__state_rec *r = arrive(space, l, state, count, UINT32_MAX, set, 0);
  if (!r || !tsl__bytes_meet(&r->live, &t->next) || !tsl__space_step(space, 1)) return;
  if (t->n == 1 || r->live_count >= PER_NODE_MIN) {
    size_t floor = l->stack.n;
    for (uint32_t i = 0; i < t->n && space->status == TSL_OK; i++) push(space, l, (entry){t->nodes[i], state, count, 0, use_letters(space, l, r, t->nodes[i])});
    search(space, l, floor);
    return;
  }
  for (int w = 0; w < 4; w++) {
    for (uint64_t bits = t->next.w[w] & r->live.w[w]; bits && space->status == TSL_OK; bits &= bits - 1) {
      uint8_t b = (uint8_t)(w * 64 + __builtin_ctzll(bits));
      tsl__target target = tsl__state_step(space, r, b);
      const tsl__child *child = target ? tsl__leftover_child(space, set, b) : NULL;
      if (!child) continue;
      tsl__gather_tokens(space, &l->gather, child->tokens, child->count);
      uint32_t c;
      tsl__state to = tsl__target_resolve(space, target, count, &c);
      if (child->to) walk_set(space, l, to, c, child->to);
    }
  }
}

/* Fixed texts: along their table. The frame is over after each. */
static void walk_fixed(tsl__space *space, level *l, const tsl__state_rec *r, uint32_t node) {
  const tsl__trie *trie = &space->vocab->trie;
  tsl__fixed_walk *w = &l->fixed;
  w->reached.n = w->ends.n = w->rests.n = w->stack.n = 0;
  if (!tsl__fixed_over(space, r, node, w)) return;
  for (size_t i = 0; i < w->reached.n; i++) {
    const tsl__trie_node *n = &trie->nodes[w->reached.at[i].node];
    tsl__gather_tokens(space, &l->gather, trie->order + n->begin, n->own_end - n->begin);
  }
  for (size_t i = 0; i < w->ends.n; i++) leave_node(space, l, w->ends.at[i].node);
  size_t floor = l->stack.n;
  for (size_t i = 0; i < w->rests.n; i++) push(space, l, (entry){w->rests.at[i].node, w->rests.at[i].state, 0, 0, NULL});
  search(space, l, floor);
}

/* ---- special forms -------------------------------------------------------------------------------------------- */

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

/* An excluded string is spelled in full at a node: the tokens that end there go, and so does the leftover. */
static void except_here(tsl__space *space, level *l, uint32_t node, removal *out) {
  const tsl__trie *trie = &space->vocab->trie;
  for (uint32_t k = trie->nodes[node].begin; k < trie->nodes[node].own_end; k++)
    if (tsl__mask_has(space, out->base, trie->order[k])) tsl__gather_remove(space, &l->gather, trie->order[k]);
  if (out->n < REMOVED_MAX) out->nodes[out->n++] = node;
  else tsl__space_fail(space, TSL_ERR_LIMIT, "too many excluded strings end within tokens");
}

/* What `state`, of an excluded JSON string, spells in full below a node, is taken out. */
static void except_node(tsl__space *space, level *l, tsl__state state, uint32_t node, removal *out) {
  const tsl__trie *trie = &space->vocab->trie;
  size_t floor = l->stack.n;
  push(space, l, (entry){node, state, 0, 0, NULL});
  while (l->stack.n > floor && space->status == TSL_OK) {
    entry e = l->stack.at[--l->stack.n];
    const tsl__state_rec *r = tsl__state_expanded(space, e.state);
    const tsl__trie_node *n = &trie->nodes[e.node];
    if (!r || !tsl__space_step(space, 1)) return;
    if (!quote_below(trie, n)) continue;
    for (uint32_t c = n->first_child; c < n->first_child + n->children; c++) {
      uint32_t count;
      if (trie->nodes[c].byte != '"' && !quote_below(trie, &trie->nodes[c])) continue;
      tsl__target t = tsl__state_step(space, r, trie->nodes[c].byte);
      if (!t) continue;
      tsl__state to = tsl__target_resolve(space, t, e.count, &count);
      const tsl__state_rec *rt = tsl__state_expanded(space, to);
      if (!rt) return;
      if (rt->flags & TSL__STATE_NULLABLE) except_here(space, l, c, out);
      if (trie->nodes[c].children) push(space, l, (entry){c, to, count, 0, NULL});
    }
  }
}

/* The same, along their table if the excluded strings are fixed texts. */
static void except_below(tsl__space *space, level *l, tsl__state except, uint32_t node, removal *out) {
  const tsl__state_rec *r = tsl__state_at(space, except);
  tsl__fixed_walk *w = &l->fixed;
  if (!tsl__is_fixed(r)) {
    except_node(space, l, except, node, out);
    return;
  }
  w->reached.n = w->ends.n = w->rests.n = w->stack.n = 0;
  if (!tsl__fixed_over(space, r, node, w)) return;
  for (size_t i = 0; i < w->ends.n && space->status == TSL_OK; i++) except_here(space, l, w->ends.at[i].node, out);
  for (size_t i = 0; i < w->rests.n && space->status == TSL_OK; i++) except_node(space, l, w->rests.at[i].state, w->rests.at[i].node, out);
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
    for (uint32_t i = 0; i < t->n && space->status == TSL_OK; i++) except_below(space, l, h->except, t->nodes[i], &removed);
  }
  leave_over(space, l, base.left);
  size_t out = 0;
  for (size_t i = 0; i < l->left.n; i++) {
    bool gone = false;
    for (size_t k = 0; k < removed.n && !gone; k++) gone = nodes[k] == l->left.at[i];
    if (!gone) l->left.at[out++] = l->left.at[i];
  }
  l->left.n = out;
  return space->status == TSL_OK;
}

/* The walk of a state over the whole vocabulary, far from its limit, with its parts; NULL: not done yet. */
static const tsl__walk *find_free(tsl__space *space, tsl__state state, bool last) {
  const tsl__walk *w = fetch(space, state, ROOM_FREE << 1 | last, TSL__WHOLE);
  return w && w->reach != TSL__UNSPLIT ? w : fetch(space, state, SPLIT | ROOM_FREE << 1 | last, TSL__WHOLE);
}

/* The limit was out of reach of every path: the same answer holds for any higher one, and for none. */
static void remember_free(tsl__space *space, level *l, const tsl__hint *h, tsl__state state, const tsl__walk *from) {
  uint32_t context = ROOM_FREE << 1 | l->last;
  tsl__gather g = {0};
  if (find_free(space, state, l->last)) return;
  if (find(space, state, context, TSL__WHOLE)) context |= SPLIT;
  tsl__gather_mask(space, &g, from->exits);
  tsl__gather_mask(space, &g, tsl__class_mask(space, &h->letters, h->wide, 0, UINT32_MAX));
  tsl__mask mask = tsl__gather_done(space, &g);
  tsl__gather_free(space, &g);
  tsl__walk *w = space->status == TSL_OK ? tsl__pool_add(&space->walks.pool, &space->alloc) : NULL;
  if (!w) {
    out_of_memory(space);
    return;
  }
  *w = *from;
  w->state = state;
  w->context = context;
  w->over = TSL__WHOLE;
  w->mask = mask;
  w->left = tsl__leftover_intern(space, l->left.at, l->left.n) | (l->whole ? TSL__WHOLE : 0);
  remember(space, w);
}

/* The mask of the tokens that the state surely takes, none of which goes on beyond the string; 0: nothing is known. */
static tsl__mask surely(tsl__space *space, const level *l, tsl__state state, uint32_t count, const tsl__hint *h) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  if (!h->low || (h->low_left && r->loop_max != TSL__COUNT_INF && r->loop_max - count < h->low_left)) return 0;
  const tsl__walk *low = tsl__walk_over(space, h->low, 0, TSL__WHOLE, l->last);
  return low ? low->mask : 0;
}

/* As `like`, less the longer tokens that the state denies. False if they cannot be told. */
static bool gather_like(tsl__space *space, level *l, const tsl__near *n, tsl__leftover over) {
  if (!tsl__near_known(space, n)) return false;
  const tsl__walk *found = tsl__walk_over(space, n->hint->like, 0, over, l->last);
  if (!found) return true;
  tsl__gather_mask(space, &l->gather, found->mask);
  leave_over(space, l, found->left);
  for (uint32_t i = 0; i < n->longer; i++)
    if (tsl__near_denies(space, n, found->mask, i)) tsl__gather_remove(space, &l->gather, n->lengths->longer[i]);
  return true;
}

/* As `like`, less the tokens that are too long: those are tried one by one, but such as a part of the state's texts takes. False if that does not settle it. */
static bool walk_like(tsl__space *space, level *l, const tsl__state_rec *r, tsl__state state, uint32_t count, const tsl__hint *h, tsl__leftover over) {
  tsl__near n = {.state = state, .count = count, .hint = h, .limit = like_limit(space, state, count, h)};
  bool near = n.limit < height_of(space, over);
  if (near && (h->like_far || over != TSL__WHOLE || n.limit < TSL__SHORT_MAX || !(n.lengths = tsl__lengths_of(space)))) return false;
  while (near && n.longer < n.lengths->longer_count && n.lengths->longer_length[n.longer] > n.limit) n.longer++;
  if (n.longer >= NEAR_MIN && walk_kin(space, l, r, state, count, TSL__KIN_NEAR)) return true;
  if (!tsl__space_step(space, NEAR_COST * n.longer)) return true;
  n.low = n.longer ? surely(space, l, state, count, h) : 0;
  if (n.longer && !(n.denied = tsl__alloc(&space->alloc, n.longer))) return !out_of_memory(space);
  bool settled = gather_like(space, l, &n, over);
  tsl__free(&space->alloc, n.denied, n.longer);
  return settled;
}

/* A state whose letters are iterations of its loop, over the whole vocabulary: the class's mask is limited to the room left; the rest is that of the
 * unlimited walk if its tokens are short enough. Returns false if the walk must be done in full. */
static bool walk_counted(tsl__space *space, level *l, const tsl__state_rec *r, tsl__state state, uint32_t count, uint32_t context, tsl__walk *out) {
  const tsl__hint *h = r->hint;
  uint32_t room = room_of(context);
  if (!(r->flags & TSL__STATE_LOOP)) room = h->limit <= height_of(space, TSL__WHOLE) ? h->limit : ROOM_FREE;
  if ((r->flags & TSL__STATE_LOOP) && room != ROOM_FREE && (context >> 16) == 0 && r->loop_max != TSL__COUNT_INF) {
    const tsl__walk *any = find_free(space, state, l->last);
    if (any && any->reach <= room) {
      tsl__gather_mask(space, &l->gather, any->exits);
      leave_over(space, l, any->left);
      out->exits = any->exits;
      out->reach = any->reach;
      tsl__gather_mask(space, &l->gather, tsl__class_mask(space, &h->letters, h->wide, 0, room));
      return true;
    }
  }
  size_t floor = l->stack.n;
  push(space, l, (entry){0, state, count, 0, h});
  search(space, l, floor);
  /* What was gathered so far is the part without letters only; keep it apart, then add the class. */
  out->exits = gathered(space, l);
  tsl__gather_clear(&l->gather);
  tsl__gather_mask(space, &l->gather, out->exits);
  tsl__gather_mask(space, &l->gather, tsl__class_mask(space, &h->letters, h->wide, 0, room == ROOM_FREE ? UINT32_MAX : room));
  out->reach = (uint16_t)(l->reach < TSL__UNSPLIT ? l->reach : TSL__UNSPLIT);
  if ((r->flags & TSL__STATE_LOOP) && room != ROOM_FREE && (context >> 16) == 0 && l->reach < room && space->status == TSL_OK) remember_free(space, l, h, state, out);
  return true;
}

/* ---- walking -------------------------------------------------------------------------------------------------- */

/* Are there fewer tokens than that? */
static bool is_below(const tsl__space *space, tsl__leftover over, uint32_t least) {
  if (over & TSL__WHOLE) return false;
  const tsl__leftover_rec *t = tsl__leftover_at(space, over);
  uint32_t tokens = 0;
  for (uint32_t i = 0; i < t->n && tokens < least; i++) tokens += space->vocab->trie.nodes[t->nodes[i]].end - space->vocab->trie.nodes[t->nodes[i]].own_end;
  return tokens < least;
}

static void walk_any(tsl__space *space, level *l, tsl__state state, uint32_t count, uint32_t context, tsl__leftover over, tsl__walk *out) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  if (tsl__is_fixed(r)) {
    const tsl__leftover_rec *t = tsl__leftover_set(over) ? tsl__leftover_at(space, tsl__leftover_set(over)) : NULL;
    if (over & TSL__WHOLE) walk_fixed(space, l, r, 0);
    for (uint32_t i = 0; t && i < t->n && space->status == TSL_OK; i++) walk_fixed(space, l, r, t->nodes[i]);
    return;
  }
  r = tsl__state_expanded(space, state);
  if (!r) return;
  const tsl__hint *h = is_below(space, over, HINT_MIN) ? NULL : tsl__state_form(space, r); /* of fewer none is worth asking for */
  if (h && h->like && walk_like(space, l, r, state, count, h, over)) {
    out->reach = TSL__UNSPLIT;
    return;
  }
  if (h && h->base) {
    walk_difference(space, l, h, over);
    return;
  }
  if (over == TSL__WHOLE && walk_kin(space, l, r, state, count, TSL__KIN_NEAR)) return;
  if (over == TSL__WHOLE && !(h && h->like) && walk_less(space, l, r, state, count)) return;
  if (over == TSL__WHOLE) h = tsl__state_hint(space, r);
  l->counted = over == TSL__WHOLE && !r->edges;
  if (h && h->counted && !tsl__bytes_empty(&h->letters) && over == TSL__WHOLE && !r->edges && (l->last || !h->ends)) {
    walk_counted(space, l, r, state, count, context, out);
  } else {
    if (over & TSL__WHOLE) {
      if (walk_kin(space, l, r, state, count, TSL__KIN_FAR)) l->counted = false;
      else walk_node(space, l, state, count, 0, 0);
    }
    if (tsl__leftover_set(over)) walk_set(space, l, state, count, tsl__leftover_set(over));
  }
}

/* Is this walk in progress further out? */
static bool in_progress(tsl__space *space, tsl__state state, uint32_t context, tsl__leftover over) {
  for (uint32_t d = space->depth; d-- > 0;) {
    const level *l = space->scratch->levels.at[d];
    if (l->state != state || l->context != context || l->over != over) continue;
    if (d < space->cycle) space->cycle = d;
    return true;
  }
  return false;
}

/* ---- far from the least that a loop needs ---------------------------------------------------------------------- */

static uint32_t gain_of(const level *l, uint32_t count) {
  uint32_t gain = l->top > count ? l->top - count : 0;
  return l->counted && gain < TSL__UNCOUNTED ? gain : TSL__UNCOUNTED;
}

/* The context of one that needs more iterations than any token has, if this one needs some. Near the most that the loop allows, nobody else is at this place. */
static bool far_context(const tsl__space *space, uint32_t context, tsl__leftover over, uint32_t *far) {
  if (!need_of(context) || room_of(context) != ROOM_FREE) return false;
  *far = (context & ~NEED(0x7FFFu)) | NEED(height_of(space, over) + 1);
  return context != *far;
}

/* No path of the walk far from the least began as many as are needed here: it is this one, too. */
static const tsl__walk *fetch_far(const tsl__space *space, tsl__state state, uint32_t context, tsl__leftover over) {
  uint32_t far;
  const tsl__walk *w = far_context(space, context, over, &far) ? find(space, state, far, over) : NULL;
  return w && w->gain < need_of(context) ? w : NULL;
}

/* The same the other way round: what was just walked is also the answer for all who need more. */
static bool remember_far(tsl__space *space, const tsl__walk *made) {
  uint32_t far;
  if (!far_context(space, made->context, made->over, &far) || made->gain >= need_of(made->context) || find(space, made->state, far, made->over)) return true;
  tsl__walk *w = tsl__pool_add(&space->walks.pool, &space->alloc);
  if (!w) return out_of_memory(space);
  *w = *made;
  w->context = far;
  return remember(space, w);
}

/* What was done so far, in steps. */
static uint64_t work_of(const tsl__space *space) { return space->walk_steps + COST_STATE * (uint64_t)tsl__space_count(space, states); }

const tsl__walk *tsl__walk_over(tsl__space *space, tsl__state state, uint32_t count, tsl__leftover over, bool last) {
  if (space->status != TSL_OK) return NULL;
  uint32_t context = context_of(space, state, count, over, last);
  const tsl__walk *known = fetch(space, state, context, over);
  if (!known && last && space->status == TSL_OK) known = fetch(space, state, context & ~1u, over); /* as if something followed: it leaves something over, which nobody asks for */
  if (known || space->status != TSL_OK || (known = fetch_far(space, state, context, over))) return known;
  if (in_progress(space, state, context, over)) return NULL;
  uint32_t depth = space->depth;
  level *l = level_open(space);
  if (!l) return NULL;
  l->state = state;
  l->context = context;
  l->over = over;
  l->last = last;
  tsl__walk made = {.state = state, .context = context, .over = over};
  tsl__digest key;
  uint64_t work = work_of(space);
  bool common = !is_below(space, over, COMMON_TOKENS) && tsl__common_key(space, state, context, over, &key), given = common && tsl__common_take(space, &key, &l->gather, &l->left, &l->whole);
  if (given) made.reach = TSL__UNSPLIT;
  else walk_any(space, l, state, count, context, over, &made);
  made.left = tsl__leftover_intern(space, l->left.at, l->left.n) | (l->whole ? TSL__WHOLE : 0);
  made.mask = gathered(space, l);
  made.gain = gain_of(l, count);
  space->depth = depth;
  tsl__walk *w = space->status == TSL_OK ? tsl__pool_add(&space->walks.pool, &space->alloc) : NULL;
  if (!w) return space->status == TSL_OK ? (out_of_memory(space), NULL) : NULL;
  *w = made;
  bool complete = space->cycle >= depth;
  if (space->cycle == depth) space->cycle = UINT32_MAX;
  work = work_of(space) - work;
  if (complete && common && !given && work >= COMMON_MIN) tsl__common_put(space, &key, w);
  if (!complete) return w;
  if (!remember(space, w) || !remember_far(space, w)) return NULL;
  if (over == TSL__WHOLE && (l->graph ? work * LESS_WORTH : work) >= space->kin_work) tsl__kin_note(space, w, count);
  return w;
}

/* Where the frame that follows a name leaves nothing over, its walk is all: most names can be begun, few are, and where the object goes on after each need not be known. */
static const tsl__walk *begun_after_name(tsl__space *space, tsl__state resume, const tsl__named_left *left) {
  if (!space->hook || !space->hook->begins || tsl__resume_known(space, resume, left->name)) return NULL;
  tsl__state frame = space->hook->begins(space->hook_ctx, resume, left->name);
  const tsl__walk *w = frame ? tsl__walk_over(space, frame, 0, left->left, false) : NULL;
  return w && !w->left ? w : NULL;
}

const tsl__walk *tsl__walk_after_name(tsl__space *space, tsl__state resume, const tsl__named_left *left, bool last) {
  uint32_t count = 0;
  if (!tsl__resume_allows(space, resume, left->name)) return NULL;
  const tsl__walk *begun = begun_after_name(space, resume, left);
  if (begun || space->status != TSL_OK) return begun;
  tsl__target to = tsl__resume_to(space, resume, left->name);
  return to ? tsl__walk_over(space, tsl__target_resolve(space, to, 0, &count), count, left->left, last) : NULL;
}

tsl_status tsl__walk_prepare(tsl__space *base) { return tsl__lengths_make(base) == TSL_OK ? tsl__linear_make(base) : base->status; }
