/* search.c - see search.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/search.h"

#include "runtime/walk/classes.h"
#include "runtime/walk/nonascii.h"

/* tokens below a node of a set from which the letters of a state are looked up: it may be
 * met nowhere else */
#define ASK_MIN 512u
/* nodes left over from which what follows is looked up where the frame may go on with letters */
#define LEFT_SOME 64u
#define LOOPS_MIN 16u /* live bytes from which a state is worth looking whether it stays as it is */
#define MET_MIN 512u  /* nodes of a set from which it is noted where the search was */
/* live bytes from which a set is walked node by node: merging would cost more than it saves */
#define PER_NODE_MIN 48u
/* the same of those nodes of a set that have so many tokens below: letters help there, and little
 * of it would be merged */
#define PER_NODE_LIVE 24u
#define PER_NODE_TOKENS 1024u
#define AT_ONCE_MIN 32u /* nodes of a set from which its children are made in one pass */

typedef tsl__level level;
typedef tsl__level_entry entry;
typedef tsl__sieve sieve;

/* ---- the search ------------------------------------------------------------------------------ */

/* Can a call of a state begin with what is below a node? Between letters of free text mostly none
 * can, and there are as many such places as the vocabulary has. */
static bool may_call(tsl__space *space, level *l, const tsl__state_rec *r, tsl__state state,
                     const tsl__trie_node *n) {
  if (l->calls_of != state) {
    l->begins = (tsl__bytes){{0}};
    if (!tsl__calls_begin(space, r, &l->begins)) l->begins = TSL__BYTES_ALL;
    l->calls_of = state;
  }
  return tsl__next_meets(&space->vocab->trie, n, &l->begins);
}

/* Need a frame that may end at a node not be left there, as what follows adds nothing to its
 * letters? Requested once some was left. */
static bool is_spared(tsl__space *space, level *l, const tsl__state_rec *r, tsl__state state,
                      uint32_t node) {
  const tsl__trie *trie = &space->vocab->trie;
  if (TSL__LIKELY(!l->after || l->left.n < LEFT_SOME) || l->last || !node ||
      !tsl__level_heed(space, l))
    return false;
  /* letters cost more to find than some nodes that are left */
  const tsl__hint *h = r->hinted == TSL__HINTED_ALL || tsl__level_visits_often(l, state)
                           ? tsl__state_hint(space, r)
                           : NULL;
  if (!h || tsl__bytes_empty(&h->letters) || !h->ends || h->counted || h->limit != TSL__COUNT_INF)
    return false;
  const tsl__letters_after *a = tsl__letters_before(space, r, h, l->follow);
  return a && !tsl__letters_leave(trie, &trie->nodes[node], a, 0, state);
}

/* Does a state of this grammar stay as it is, whatever is read below a node? Then all tokens there
 * live, and what it calls or leaves on the way adds none. What the walk leaves lacks nodes then of
 * which all tokens are in its mask. */
static bool stays_below(tsl__space *space, level *l, const tsl__state_rec *r, tsl__state state,
                        uint32_t node) {
  if (!node || (!l->after && !l->last) || state < space->states.first ||
      r->flags & (TSL__STATE_LOOP | TSL__STATE_FORK) || r->live_count < LOOPS_MIN)
    return false;
  if (l->loops_of != state) {
    l->loops_of = state;
    l->loops = (tsl__bytes){{0}};
    for (unsigned i = 0, b = 0; i < r->ranges; b = tsl__state_upper(r)[i++] + 1u)
      if (r->targets[i] == tsl__target_make(state, TSL__OP_CLEAR))
        tsl__bytes_add_range(&l->loops, b, tsl__state_upper(r)[i]);
  }
  return tsl__trie_below_within(&space->vocab->trie, &space->vocab->trie.nodes[node], &l->loops);
}

/* What a state does at a place before it reads a byte there. `t` is the place if it is a set of
 * nodes, or 0: it is `node`. Returns the state to read on with, or NULL if it was a fork (all done)
 * or on failure. */
static const tsl__state_rec *arrive(tsl__space *space, level *l, tsl__state state, uint32_t count,
                                    uint32_t node, tsl__leftover t, uint32_t depth) {
  const tsl__state_rec *r = tsl__state_expanded(space, state);
  if (!r) return NULL;
  if (TSL__LIKELY(tsl__state_reads(r))) return r;
  if (!t && stays_below(space, l, r, state, node)) {
    const tsl__trie_node *n = &space->vocab->trie.nodes[node];
    tsl__gather_tokens(space, &l->gather, space->vocab->trie.order + n->own_end,
                       n->end - n->own_end);
    return NULL;
  }
  if (r->flags & TSL__STATE_FORK) {
    for (uint32_t i = 0; i < r->edges && space->status == TSL_OK; i++) {
      uint32_t c;
      tsl__state s = tsl__target_resolve(space, tsl__state_edges(r)[i].to, count, &c);
      if (t)
        tsl__search_set(space, l, s, c, t);
      else if (depth)
        tsl__search_below(space, l, s, c, node,
                          depth); /* what follows is the search's that is under way */
      else
        tsl__search_node(space, l, s, c, node);
    }
    return NULL;
  }
  if (r->flags & TSL__STATE_NULLABLE) {
    if (t)
      tsl__level_leave_over(space, l, t);
    else if (!is_spared(space, l, r, state, node))
      tsl__level_leave_node(space, l, node);
  }
  for (uint32_t i = 0; i < r->edges && t && space->status == TSL_OK; i++)
    tsl__search_call(space, l, r, &tsl__state_edges(r)[i], count, t);
  if (r->edges && !t &&
      (node == 0 || may_call(space, l, r, state, &space->vocab->trie.nodes[node]))) {
    /* walks of their own go on from the calls: at most an iteration a byte */
    uint32_t below = space->vocab->trie.nodes[node].height;
    tsl__level_reach(l, depth + below, count + below);
    tsl__search_call_at(space, l, r, count, node);
  }
  if (node == 0)
    for (uint32_t i = 0; i < r->token_edges; i++)
      tsl__level_token_edge(space, l, &tsl__state_token_edges(r)[i]);
  return space->status == TSL_OK ? r : NULL;
}

const tsl__hint *tsl__search_letters(tsl__space *space, level *l, const tsl__state_rec *r,
                                     uint32_t count, uint32_t node) {
  const tsl__trie_node *n = &space->vocab->trie.nodes[node];
  uint32_t tokens = n->end - n->own_end;
  if (tokens < TSL__HINT_MIN || tsl__shortcut_is_off(space, TSL__SHORTCUT_LETTERS) ||
      (l->key.over != TSL__WHOLE && tokens < ASK_MIN && r->hinted != TSL__HINTED_ALL))
    return NULL;
  const tsl__hint *h = tsl__state_hint(space, r);
  if (!h || tsl__bytes_empty(&h->letters) || (h->ends && !l->last && !l->after)) return NULL;
  if (h->counted && (!node || !tsl__letters_have_room(r, h, count, n->height))) return NULL;
  if (h->nonascii && node && tsl__nonascii_bit(tsl__nonascii_at(space, h->nonascii)->midway, node))
    return NULL;
  /* see use_letters */
  if (!h->counted && h->limit < space->vocab->trie.nodes[0].height &&
      (l->key.over != TSL__WHOLE ||
       (h->limit <= TSL__SHORT_MAX && tsl__letters_from(space, l, h, node) == TSL__FROM_NOWHERE)))
    return NULL;
  bool ends = h->ends && !l->last;
  if (h->calls || ends) {
    const tsl__letters_after *a = !ends || tsl__level_heed(space, l)
                                      ? tsl__letters_before(space, r, h, ends ? l->follow : 0)
                                      : NULL;
    return a ? &a->hint : NULL;
  }
  const tsl__linear *linear = tsl__linear_of(space, r, node);
  return linear && tsl__linear_beats(space, linear, r, h, node) ? NULL : h;
}

/* The same; the class's tokens are gathered. `depth`: of the node. */
static const tsl__hint *use_letters(tsl__space *space, level *l, const tsl__state_rec *r,
                                    uint32_t count, uint32_t node, uint32_t depth) {
  const tsl__hint *h = tsl__search_letters(space, l, r, count, node);
  if (!h) return NULL;
  /* Tokens of more letters are left to the search, which knows depths from the root only. */
  const tsl__trie_node *n = &space->vocab->trie.nodes[node];
  const uint32_t most = tsl__letters_to(h, tsl__letters_from(space, l, h, node));
  if (h->counted) tsl__level_reach(l, depth + n->height, count + n->height);
  bool limited = !h->counted && most < depth + n->height,
       few = node && n->end - n->own_end < space->mask_words;
  if (!limited && few && tsl__level_bits(space, l))
    tsl__class_gather(space, &h->letters, h->nonascii, node, &l->gather, l->marks);
  else
    tsl__gather_mask(
        space, &l->gather,
        tsl__class_mask(space, &h->letters, h->nonascii, node, limited ? most : UINT32_MAX));
  return h;
}

/* The state below a node: without its limits, if nothing there reaches them. */
static const tsl__state_rec *far_from_limits(tsl__space *space, const tsl__state_rec *r,
                                             const tsl__trie_node *n, tsl__state *state,
                                             uint32_t *count) {
  const tsl__hint *h =
      n->end - n->own_end < TSL__HINT_MIN || tsl__shortcut_is_off(space, TSL__SHORTCUT_LIMIT)
          ? NULL
          : tsl__state_form(space, r);
  if (!h || !h->like || tsl__like_limit(space, *state, *count, h) < n->height) return r;
  *state = h->like;
  *count = 0;
  return tsl__state_expanded(space, *state);
}

/* A child reached by letters among which the frame may call, or end: it does, where what begins or
 * follows then is next. Such letters are those of tsl__letters_before. */
static void arrive_letter(tsl__space *space, level *l, const entry *e, tsl__state from) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__trie_node *n = &trie->nodes[e->node];
  const tsl__state_rec *r = tsl__state_expanded(space, e->state);
  if (!r || !n->children) return;
  if (r->flags & TSL__STATE_NULLABLE && !l->last &&
      tsl__letters_leave(trie, n, (const tsl__letters_after *)(const void *)e->hint, from,
                         e->state))
    tsl__level_leave_node(space, l, e->node);
  if (!r->edges || !may_call(space, l, r, e->state, n)) return;
  tsl__search_call_at(space, l, r, e->count, e->node);
}

/* One child, reached by letters only: its tokens are in the class's mask already. A fork goes on
 * along each of its branches. `from`: the state before its letter; 0: that is not known. */
static void push_letter(tsl__space *space, level *l, entry e, tsl__state from) {
  const tsl__state_rec *r = tsl__state_at(space, e.state);
  if (!(r->flags & TSL__STATE_FORK)) {
    if (e.hint->calls) arrive_letter(space, l, &e, from);
    tsl__level_push(space, l, e);
    return;
  }
  for (uint32_t i = 0; i < r->edges; i++) {
    entry branch = e;
    branch.state = tsl__target_resolve(space, tsl__state_edges(r)[i].to, e.count, &branch.count);
    push_letter(space, l, branch, from);
  }
}

/* A node with children, reached by a byte that is not (only) a letter. */
void tsl__search_below(tsl__space *space, level *l, tsl__state state, uint32_t count, uint32_t node,
                       uint32_t depth) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__trie_node *n = &trie->nodes[node];
  const tsl__state_rec *r = (l->met && tsl__met_before(l->met, state, count, node))
                                ? NULL
                                : arrive(space, l, state, count, node, 0, depth);
  if (!r || !tsl__trie_below_meets(trie, n, &r->live) ||
      !(r = far_from_limits(space, r, n, &state, &count)))
    return;
  if (tsl__trie_below_within(trie, n, r->self))
    tsl__gather_tokens(space, &l->gather, trie->order + n->own_end, n->end - n->own_end);
  else {
    const tsl__hint *h = use_letters(space, l, r, count, node, depth);
    uint8_t from = tsl__letters_from(space, l, h, node);
    tsl__level_push(space, l, (entry){node, state, count, (uint16_t)depth, false, from, h});
  }
}

/* The same of a child; its own tokens are gathered. */
void tsl__search_enter(tsl__space *space, level *l, tsl__state state, uint32_t count,
                       uint32_t child, uint32_t depth) {
  const tsl__trie_node *n = &space->vocab->trie.nodes[child];
  tsl__gather_tokens(space, &l->gather, space->vocab->trie.order + n->begin, n->own_end - n->begin);
  tsl__level_reach(l, depth, count);
  if (n->children) tsl__search_below(space, l, state, count, child, depth);
}

/* Read on from a node by the byte of one child, which is live. `sifted`: it or what is below it is
 * known to hold something else than letters. */
static inline void search_child(tsl__space *space, level *l, const entry *e,
                                const tsl__state_rec *r, uint32_t c, bool sifted) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__trie_node *child = &trie->nodes[c];
  bool letter = e->hint && tsl__bytes_has(&e->hint->letters, child->byte), too_long = false;
  const tsl__nonascii *nonascii =
      letter && e->hint->nonascii ? tsl__nonascii_at(space, e->hint->nonascii) : NULL;
  if (nonascii && child->byte >= 0x80 && tsl__nonascii_bit(nonascii->exit, c)) letter = false;
  /* tokens of more letters than the limit die, or are not in the class's mask */
  if (letter && !e->hint->counted &&
      e->depth + 1u + child->height > tsl__letters_to(e->hint, e->from)) {
    letter = e->depth + 1u <= tsl__letters_to(e->hint, e->from),
    too_long = e->from == TSL__FROM_NOWHERE;
    if (!letter && !too_long) return;
  }
  if (letter && !too_long && !sifted &&
      (!child->children || (!tsl__trie_below_meets(trie, child, &e->hint->exits) &&
                            !(nonascii && tsl__nonascii_bit(nonascii->dirty, c)))))
    return;
  uint32_t count;
  tsl__target t = tsl__state_step(space, r, child->byte);
  if (!t) return;
  tsl__state to = tsl__target_resolve(space, t, e->count, &count);
  if (letter)
    push_letter(space, l,
                (entry){c, to, count, (uint16_t)(e->depth + 1), e->quoted, e->from, e->hint},
                e->state);
  else
    tsl__search_enter(space, l, to, count, c, e->depth + 1);
}

/* Children of one node lie side by side, but the sets of what is below them anywhere. Those that
 * are not live are not looked at. */
static void ask_for_sets(const tsl__trie *trie, const tsl__trie_node *n, const tsl__bytes *live) {
  for (uint32_t c = n->first_child, end = c + n->children; n->children > 1 && c < end; c++) {
    if (!tsl__bytes_has(live, trie->labels[c])) continue;
    const tsl__trie_node *child = &trie->nodes[c];
    if (child->children && child->below != UINT16_MAX) TSL__PREFETCH(&trie->sets[child->below]);
  }
}

/* Read on from a node without letters: child by child, the ranges of the state beside them. */
static void search_plain(tsl__space *space, level *l, const entry *e, const tsl__state_rec *r) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__trie_node *n = &trie->nodes[e->node];
  const uint8_t *upper = tsl__state_upper(r), *labels = trie->labels;
  uint32_t range = 0, count;
  ask_for_sets(trie, n, &r->live);
  for (uint32_t c = n->first_child, end = c + n->children; c < end; c++) {
    if (!tsl__bytes_has(&r->live, labels[c])) continue;
    const tsl__trie_node *child = &trie->nodes[c];
    while (upper[range] < labels[c]) range++;
    tsl__target t = tsl__state_range(space, r, range, labels[c]);
    if (!t) continue;
    tsl__state to = tsl__target_resolve(space, t, e->count, &count);
    tsl__level_reach(l, e->depth + 1, count);
    /* with those beside it that have nothing below either, and lead to the same */
    if (!child->children) {
      while (c + 1 < end && labels[c + 1] <= upper[range] && !trie->nodes[c + 1].children) c++;
      tsl__level_tokens(space, l, trie->order + child->begin, trie->nodes[c].end - child->begin);
      continue;
    }
    const tsl__state_rec *next = tsl__state_expanded(space, to);
    if (!next) return;
    tsl__level_tokens(space, l, trie->order + child->begin, child->own_end - child->begin);
    if (child->end - child->own_end >= TSL__HINT_MIN || !tsl__state_reads(next))
      tsl__search_below(space, l, to, count, c, e->depth + 1);
    else if (!tsl__trie_below_meets(trie, child, &next->live))
      continue;
    else if (tsl__trie_below_within(trie, child, next->self))
      tsl__gather_tokens(space, &l->gather, trie->order + child->own_end,
                         child->end - child->own_end);
    else
      tsl__level_push(space, l, (entry){c, to, count, (uint16_t)(e->depth + 1), false, 0, NULL});
  }
}

/* The sieve of a hint; NULL: none, or not for this node, below which some text of letters may live
 * past the limit. */
static const sieve *sieve_of(tsl__space *space, level *l, const entry *e) {
  const tsl__hint *h = e->hint;
  sieve *s = &l->sieve;
  if (!h || (e->from == TSL__FROM_NOWHERE && !h->counted &&
             e->depth + space->vocab->trie.nodes[e->node].height > h->limit))
    return NULL;
  if (s->of == h && s->quoted == e->quoted) return s->none ? NULL : s;
  const tsl__lengths *lengths = tsl__lengths_of(space);
  const tsl__nonascii *nonascii = h->nonascii ? tsl__nonascii_at(space, h->nonascii) : NULL;
  tsl__bytes by = h->exits; /* children are sifted by these */
  if (e->quoted) by.w[0] &= ~((uint64_t)1 << '"'), by.w[1] &= ~((uint64_t)1 << ('\\' & 63));
  bool past_ascii = by.w[2] || by.w[3];
  *s = (sieve){.of = h,
               .quoted = e->quoted,
               .none = !lengths ||
                       tsl__ones(by.w[0]) + tsl__ones(by.w[1]) + past_ascii > TSL__SIEVE_MAX};
  if (s->none) return NULL;
  for (unsigned b = 0; b < 128; b++)
    if (tsl__bytes_has(&by, b)) s->at[s->n++] = lengths->holding[b];
  if (past_ascii) s->at[s->n++] = lengths->holding[128];
  s->exact = !past_ascii;
  if (nonascii) s->at[s->n++] = nonascii->exit, s->at[s->n++] = nonascii->dirty;
  return s;
}

/* Read on from a node by those children that hold something else than letters. The sieve is copied,
 * as what a child calls may be searched with another one in its place. */
static void search_sifted(tsl__space *space, level *l, const entry *e, const tsl__state_rec *r,
                          const sieve *found) {
  const sieve own = *found, *s = &own;
  const tsl__trie_node *nodes = space->vocab->trie.nodes;
  const uint8_t *labels = space->vocab->trie.labels;
  uint32_t first = nodes[e->node].first_child, last = first + nodes[e->node].children - 1u;
  for (uint32_t w = first >> 6; w <= last >> 6; w++) {
    uint64_t bits = w == first >> 6 ? ~(uint64_t)0 << (first & 63) : ~(uint64_t)0, held = 0;
    if (w == last >> 6) bits &= ~(uint64_t)0 >> (63 - (last & 63));
    for (uint32_t k = 0; k < s->n; k++) held |= s->at[k][w];
    for (uint64_t ahead = bits &= held; ahead; ahead &= ahead - 1)
      TSL__PREFETCH(&nodes[w * 64 + (uint32_t)__builtin_ctzll(ahead)]);
    for (; bits; bits &= bits - 1) {
      uint32_t c = w * 64 + (uint32_t)__builtin_ctzll(bits);
      if (tsl__bytes_has(&r->live, labels[c])) search_child(space, l, e, r, c, s->exact);
    }
  }
}

/* Is a child, whose letter leads back to the state itself, in the class's mask with all that lives
 * below it? So it is if nothing there leads elsewhere, or is no letter. */
static bool is_steady(const tsl__trie *trie, const entry *e, uint32_t c, const tsl__bytes *turns) {
  const tsl__trie_node *child = &trie->nodes[c];
  return e->depth + 1u + child->height <= e->hint->limit &&
         (!child->children || !tsl__trie_below_meets(trie, child, turns));
}

void tsl__search_linear(tsl__space *space, level *l, const tsl__linear *t,
                        const tsl__linear_from *from) {
  uint32_t height = space->vocab->trie.nodes[from->node].height;
  tsl__level_reach(l, from->depth + height, from->count + height);
  if (!tsl__level_bits(space, l)) return;
  size_t floor = l->aside.n; /* entering may come back here */
  tsl__linear_read(space, t, from, l->marks, &l->aside);
  for (size_t i = floor; i < l->aside.n && space->status == TSL_OK; i++) {
    tsl__linear_aside a = l->aside.at[i];
    uint32_t count;
    tsl__state to = tsl__target_resolve(space, a.to, a.count, &count);
    tsl__search_enter(space, l, to, count, a.node, a.depth);
  }
  l->aside.n = floor;
}

static void search_linear(tsl__space *space, level *l, const tsl__linear *t, const entry *e) {
  tsl__search_linear(
      space, l, t,
      &(tsl__linear_from){e->state, e->count, e->node, (uint16_t)e->depth, l->last, NULL});
}

void tsl__search_stop(tsl__space *space, level *l, const tsl__linear_stop *stop) {
  arrive(space, l, stop->state, stop->count, stop->node, 0, stop->depth);
}

/* Is a hint one of letters in a JSON string, among which a quote may be legal? */
static bool is_of_string(const tsl__hint *h) {
  return tsl__bytes_has(&h->exits, '"') && !tsl__bytes_has(&h->letters, '"') &&
         !tsl__bytes_has(&h->letters, '\\');
}

bool tsl__search_quoted(tsl__space *space, level *l, const tsl__linear *quoted,
                        const tsl__linear_from *from, const tsl__bytes *letters,
                        const tsl__hint *hint) {
  size_t floor = l->aside.n;
  if (!tsl__vec_reserve(&space->alloc, &l->gather.plus, quoted->n) ||
      !tsl__vec_reserve(&space->alloc, &l->left, quoted->n))
    return tsl__space_no_memory(space);
  tsl__linear_found found = {.tokens = l->gather.plus.at + l->gather.plus.n,
                             .left = l->left.at + l->left.n};
  if (!tsl__linear_read_quoted(space, quoted, from, letters, &found, &l->aside)) return false;
  l->gather.plus.n += found.n;
  if (!l->last && found.left_n) l->left.n += found.left_n, l->only = 0;
  tsl__level_reach(l, found.reach, found.top);
  for (size_t i = floor; i < l->aside.n && space->status == TSL_OK; i++) {
    tsl__linear_aside a = l->aside.at[i];
    uint32_t count;
    tsl__state to = tsl__target_resolve(space, a.to, a.count, &count);
    if (a.letters && hint)
      push_letter(space, l, (entry){a.node, to, count, a.depth, false, TSL__FROM_NOWHERE, hint}, 0);
    else
      tsl__search_enter(space, l, to, count, a.node, a.depth);
  }
  l->aside.n = floor;
  return space->status == TSL_OK;
}

/* Letters from the root: what goes on with a quote or a backslash is read along its table, if the
 * rest can be sifted. */
static void read_quoted(tsl__space *space, level *l, entry *e) {
  const tsl__linear *t = tsl__linear_table(space);
  entry rest = *e;
  rest.quoted = true;
  if (!t || !is_of_string(e->hint) || !sieve_of(space, l, &rest)) return;
  if (tsl__search_quoted(space, l, t->quoted,
                         &(tsl__linear_from){e->state, e->count, 0, 0, l->last, NULL},
                         &e->hint->letters, e->hint))
    *e = rest;
}

/* Does a lead to all that b, of the same node, leads to? */
static bool takes(const tsl__space *space, const entry *a, const entry *b) {
  if (a->hint != b->hint || a->quoted != b->quoted) return false;
  return (a->state == b->state && a->count == b->count) ||
         tsl__loop_takes(space, a->state, a->count, b->state, b->count);
}

/* What was pushed for one node: once each, and none that another leads to as well. */
static void push_once(const tsl__space *space, level *l, size_t from) {
  entry *at = l->stack.at;
  size_t n = from;
  for (size_t i = from; i < l->stack.n; i++) {
    entry e = at[i];
    size_t k = from;
    while (k < n && !takes(space, &at[k], &e)) k++;
    if (k < n) continue;
    for (k = from; k < n;) /* what it takes goes */
      if (takes(space, &e, &at[k]))
        at[k] = at[--n];
      else
        k++;
    at[n++] = e;
  }
  l->stack.n = n;
}

static bool is_at(const level *l, size_t floor, uint32_t node) {
  return l->stack.n > floor && l->stack.at[l->stack.n - 1].node == node;
}

/* Several states at one node, as an ambiguous loop has with different registers: child by child, so
 * that those which become one are followed once. */
static void search_together(tsl__space *space, level *l, size_t floor, uint32_t node) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__trie_node *n = &trie->nodes[node];
  size_t first = l->together.n;
  while (is_at(l, floor, node)) {
    entry e = l->stack.at[--l->stack.n];
    const tsl__state_rec *r = tsl__state_expanded(space, e.state);
    if (!r || !tsl__space_step(space, 1u + n->children / 8)) return;
    const tsl__linear *t = e.hint ? NULL : tsl__linear_of(space, r, node);
    if (t)
      search_linear(space, l, t, &e);
    else if (!tsl__vec_push(&space->alloc, &l->together, e))
      tsl__space_no_memory(space);
  }
  for (uint32_t c = n->first_child, end = c + n->children; c < end && space->status == TSL_OK;
       c++) {
    size_t from = l->stack.n;
    for (size_t i = first; i < l->together.n; i++) {
      entry e = l->together.at[i];
      const tsl__state_rec *r = tsl__state_expanded(space, e.state);
      if (tsl__bytes_has(&r->live, trie->nodes[c].byte)) search_child(space, l, &e, r, c, false);
    }
    push_once(space, l, from);
  }
  l->together.n = first;
}

void tsl__search_on(tsl__space *space, level *l, size_t floor) {
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
    tsl__bytes known = {{0}}, rest = r->live;
    if (e.node == 0 && !e.hint) {
      known = tsl__from_root(space, l, &e, r);
      tsl__bytes_remove(&rest, &known);
    }
    const tsl__linear *t = tsl__bytes_empty(&known) ? tsl__stops_table(space, l, &e, r) : NULL;
    if (t && !(e.hint && sieve_of(space, l, &e))) {
      tsl__search_stops(space, l, t, &e);
      continue;
    }
    t = e.hint || !tsl__bytes_empty(&known) ? NULL : tsl__linear_of(space, r, e.node);
    if (t) {
      search_linear(space, l, t, &e);
      continue;
    }
    if (!e.hint && e.node && r->live_count * 8u >= n->children) {
      search_plain(space, l, &e, r);
      continue;
    }
    if (e.hint && e.node == 0) read_quoted(space, l, &e);
    const sieve *sift = sieve_of(space, l, &e);
    if (sift) {
      search_sifted(space, l, &e, r, sift);
      continue;
    }
    if (r->live_count * 8u < n->children) { /* few bytes are live: look each of them up */
      for (int w = 0; w < 4; w++)
        for (uint64_t bits = rest.w[w]; bits; bits &= bits - 1) {
          uint32_t c = tsl__trie_child(trie, e.node, (uint8_t)(w * 64 + __builtin_ctzll(bits)));
          if (c) search_child(space, l, &e, r, c, false);
        }
      continue;
    }
    ask_for_sets(trie, n, &rest);
    tsl__bytes same = {{0}}, turns = rest;
    for (int w = 0; e.hint && !e.hint->counted && w < 2; w++)
      turns.w[w] &= ~(same.w[w] = r->self->w[w] & e.hint->letters.w[w]);
    for (uint32_t c = n->first_child, end = c + n->children; c < end; c++) {
      if (!tsl__bytes_has(&rest, trie->labels[c]) ||
          (tsl__bytes_has(&same, trie->labels[c]) && is_steady(trie, &e, c, &turns)))
        continue;
      search_child(space, l, &e, r, c, false);
    }
  }
}

/* From a node, nothing of it read yet. */
void tsl__search_node(tsl__space *space, level *l, tsl__state state, uint32_t count,
                      uint32_t node) {
  const tsl__state_rec *r = arrive(space, l, state, count, node, 0, 0);
  if (!r || !tsl__trie_below_meets(&space->vocab->trie, &space->vocab->trie.nodes[node], &r->live))
    return;
  size_t floor = l->stack.n;
  const tsl__hint *h =
      node == 0 && tsl__leads_to_text(space, r) ? NULL : use_letters(space, l, r, count, node, 0);
  uint8_t from = tsl__letters_from(space, l, h, node);
  tsl__level_push(space, l, (entry){node, state, count, 0, false, from, h});
  tsl__search_on(space, l, floor);
}

/* From each of n nodes. */
static void search_each(tsl__space *space, level *l, const tsl__state_rec *r, tsl__state state,
                        uint32_t count, const uint32_t *nodes, uint32_t n) {
  tsl__met *outer = l->met, *met = n >= MET_MIN ? tsl__met_new(space) : NULL;
  size_t floor = l->stack.n;
  l->met = met;
  for (uint32_t i = 0; i < n && space->status == TSL_OK; i++)
    tsl__level_push(space, l,
                    (entry){nodes[i], state, count, 0, false, TSL__FROM_NOWHERE,
                            use_letters(space, l, r, count, nodes[i], 0)});
  tsl__search_on(space, l, floor);
  l->met = outer;
  if (met) tsl__met_free(space, met);
}

/* From the nodes of a set that have many tokens below, each by itself. Returns the set of the
 * others; 0: there are none, or on failure (sticky). */
static tsl__leftover search_large(tsl__space *space, level *l, const tsl__state_rec *r,
                                  tsl__state state, uint32_t count, tsl__leftover set) {
  const tsl__trie_node *at = space->vocab->trie.nodes;
  const tsl__leftover_rec *t = tsl__leftover_at(space, set);
  uint32_t few = 0, large = t->n, *nodes;
  if (t->tokens < PER_NODE_TOKENS || r->live_count < PER_NODE_LIVE) return set;
  nodes = tsl__alloc(&space->alloc, t->n * sizeof *nodes);
  if (!nodes) return tsl__space_no_memory(space), 0;
  for (uint32_t i = 0; i < t->n; i++) {
    const tsl__trie_node *n = &at[t->nodes[i]];
    nodes[n->end - n->own_end < PER_NODE_TOKENS ? few++ : --large] = t->nodes[i];
  }
  search_each(space, l, r, state, count, nodes + large, t->n - large);
  tsl__leftover rest = few < t->n ? tsl__leftover_intern(space, nodes, few) : set;
  tsl__free(&space->alloc, nodes, t->n * sizeof *nodes);
  return rest;
}

/* From a set of nodes, merged byte by byte. Recursion is bounded by the longest token. */
void tsl__search_set(tsl__space *space, level *l, tsl__state state, uint32_t count,
                     tsl__leftover set) {
  const tsl__leftover_rec *t = tsl__leftover_at(space, set);
  const tsl__state_rec *r = arrive(space, l, state, count, UINT32_MAX, set, 0);
  if (!r || !tsl__bytes_meet(&r->live, &t->next) || !tsl__space_step(space, 1)) return;
  if (t->n == 1 || r->live_count >= PER_NODE_MIN) {
    search_each(space, l, r, state, count, t->nodes, t->n);
    return;
  }
  if (!(set = search_large(space, l, r, state, count, set))) return;
  t = tsl__leftover_at(space, set);
  if (t->n >= AT_ONCE_MIN) {
    tsl__bytes by = tsl__state_goes_on(r);
    tsl__leftover_children(space, set, &by);
  }
  for (int w = 0; w < 4; w++) {
    for (uint64_t bits = t->next.w[w] & r->live.w[w]; bits && space->status == TSL_OK;
         bits &= bits - 1) {
      uint8_t b = (uint8_t)(w * 64 + __builtin_ctzll(bits));
      tsl__target target = tsl__state_step(space, r, b);
      const tsl__child *child = target ? tsl__leftover_child(space, set, b) : NULL;
      if (!child) continue;
      tsl__gather_tokens(space, &l->gather, child->tokens, child->count);
      uint32_t c;
      tsl__state to = tsl__target_resolve(space, target, count, &c);
      if (child->to) tsl__search_set(space, l, to, c, child->to);
    }
  }
}
