/* level.c - the levels of a walk in progress (search.h): opened, filled, and made a mask of.
 *
 * Problem   A walk gathers tokens and leftover nodes while calls open further walks within it. None
 *           of them may allocate memory once the first few walks were done.
 * Idea      A level has all lists that one walk needs. Levels are kept, by depth, and used again.
 *           Tokens are gathered as lists (masks/mask.h) or, where the trie is read along a table,
 *           as bits (`marks`); tsl__level_mask puts the two together.
 * Leftover  A node is left over only if what follows the frame may begin below it. What follows is
 *           looked up only once there are many nodes (LEFT_MANY). Then the nodes that were added
 *           before are checked, too.
 * Met       In a large leftover a loop reaches the same node from each node above. A bit for each
 *           node and state says where the search was, so each node is searched once.
 * Example   Walking `"` of a member's name: level 0 is the object's walk. It calls the frame of the
 *           name, which gathers into level 1. The leftover of that frame is interned, and level 1
 *           is free again. Then level 1 serves the frame of the value.
 * Cost      To open a level is some twenty stores. A note takes one bit a node and state.
 * Tested by tests/engine/test_oracle.c, tests/engine/test_faults.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/core/trie.h"
#include "runtime/kernels/logits.h"
#include "runtime/walk/search.h"

#define LEFT_MANY 1024u /* nodes left over from which it is looked up what follows */
#define MET_STATES 4u   /* states of which it is noted where the search was */

typedef tsl__level level;

/* ---- levels ---------------------------------------------------------------------------------- */

level *tsl__level_open(tsl__space *space) {
  if (!space->walking.scratch &&
      !(space->walking.scratch = tsl__alloc_zero(&space->alloc, sizeof *space->walking.scratch)))
    return tsl__space_no_memory(space), NULL;
  if (space->walking.depth >= TSL__WALK_DEPTH_MAX)
    return tsl__space_fail(space, TSL_ERR_LIMIT, "calls nest too deeply within one token"), NULL;
  if (space->walking.depth == space->walking.scratch->levels.n) {
    level *fresh = tsl__alloc_zero(&space->alloc, sizeof *fresh);
    if (!fresh) return tsl__space_no_memory(space), NULL;
    if (!tsl__vec_push(&space->alloc, &space->walking.scratch->levels, fresh)) {
      tsl__free(&space->alloc, fresh, sizeof *fresh);
      return tsl__space_no_memory(space), NULL;
    }
  }
  level *l = space->walking.scratch->levels.at[space->walking.depth++];
  tsl__gather_clear(&l->gather);
  l->left.n = l->stack.n = l->together.n = l->aside.n = 0;
  l->late.n = l->late_nodes.n = l->late_from = 0;
  l->whole = l->graph = l->counted = false;
  l->reach = l->top = l->within = 0;
  l->only = 0;
  l->met = NULL;
  l->calls_of = l->loops_of = l->key.state = 0;
  l->after = NULL;
  l->follow = 0;
  memset(l->visits, 0, sizeof l->visits);
  l->sieve.of = NULL;
  return l;
}

void tsl__walk_scratch_free(tsl__space *space) {
  tsl__linear_forget(space);
  if (!space->walking.scratch) return;
  for (size_t i = 0; i < space->walking.scratch->levels.n; i++) {
    level *l = space->walking.scratch->levels.at[i];
    tsl__gather_free(space, &l->gather);
    tsl__vec_free(&space->alloc, &l->left);
    tsl__vec_free(&space->alloc, &l->stack);
    tsl__vec_free(&space->alloc, &l->together);
    tsl__vec_free(&space->alloc, &l->late);
    tsl__vec_free(&space->alloc, &l->late_nodes);
    tsl__fixed_walk_free(space, &l->fixed);
    tsl__vec_free(&space->alloc, &l->aside);
    tsl__reference_free(space, &l->reference);
    tsl__free(&space->alloc, l, sizeof *l);
  }
  tsl__vec_free(&space->alloc, &space->walking.scratch->levels);
  tsl__free(&space->alloc, space->walking.scratch, sizeof *space->walking.scratch);
  space->walking.scratch = NULL;
}

static size_t level_memory(const level *l) {
  size_t n = sizeof *l + tsl__gather_memory(&l->gather) + tsl__vec_memory(&l->left) +
             tsl__vec_memory(&l->stack) + tsl__vec_memory(&l->together) +
             tsl__vec_memory(&l->late) + tsl__vec_memory(&l->late_nodes) +
             tsl__fixed_walk_memory(&l->fixed);
  return n + tsl__vec_memory(&l->aside) + tsl__reference_memory(&l->reference);
}

size_t tsl__walk_scratch_memory(const tsl__space *space) {
  const struct tsl__scratch *s = space->walking.scratch;
  size_t n = s ? sizeof *s + tsl__vec_memory(&s->levels) : 0;
  for (size_t i = 0; s && i < s->levels.n; i++) n += level_memory(s->levels.at[i]);
  return n;
}

/* ---- gathering ------------------------------------------------------------------------------- */

bool tsl__level_heed(tsl__space *space, level *l) {
  if (!l->follow && l->after && !(l->follow = tsl__follow_of(space, l->after))) l->after = NULL;
  return l->follow;
}

/* Is nothing of what follows next below a node? */
static bool is_done(const tsl__space *space, const level *l, uint32_t node) {
  const tsl__trie *trie = &space->vocab->trie;
  return !tsl__next_meets(trie, &trie->nodes[node], &tsl__follow_at(space, l->follow)->bytes);
}

void tsl__level_leave_node(tsl__space *space, level *l, uint32_t node) {
  if (l->last) return;
  if (node == 0) {
    l->whole = true;
    return;
  }
  if (TSL__UNLIKELY(l->after && l->left.n >= LEFT_MANY)) tsl__level_heed(space, l);
  if (TSL__UNLIKELY(l->follow) && is_done(space, l, node)) return;
  l->only = 0;
  if (space->vocab->trie.nodes[node].children && !tsl__vec_push(&space->alloc, &l->left, node))
    tsl__space_no_memory(space);
}

void tsl__level_leave_over(tsl__space *space, level *l, tsl__leftover t) {
  if (l->last) return;
  if (t & TSL__WHOLE) l->whole = true;
  if (!tsl__leftover_set(t)) return;
  const tsl__leftover_rec *r = tsl__leftover_at(space, t);
  if (!tsl__vec_reserve(&space->alloc, &l->left, r->n)) {
    tsl__space_no_memory(space);
    return;
  }
  memcpy(l->left.at + l->left.n, r->nodes, r->n * sizeof *r->nodes);
  l->only = l->left.n ? 0 : tsl__leftover_set(t);
  l->only_count = r->n;
  l->left.n += r->n;
}

/* Remove leftover nodes with which what follows cannot begin. They were added before it was known
 * what follows. */
static TSL__SELDOM void take_back(tsl__space *space, level *l) {
  size_t n = l->left.n;
  if (!tsl__level_heed(space, l)) return;
  l->left.n = 0;
  for (size_t i = 0; i < n; i++)
    if (!is_done(space, l, l->left.at[i])) l->left.at[l->left.n++] = l->left.at[i];
}

tsl__leftover tsl__level_left(tsl__space *space, level *l) {
  tsl__leftover whole = l->whole ? TSL__WHOLE : 0;
  if (l->follow || (l->after && l->left.n >= LEFT_MANY)) take_back(space, l);
  if (l->left.n == 0) return whole;
  return (l->only && l->left.n == l->only_count
              ? l->only
              : tsl__leftover_intern(space, l->left.at, l->left.n)) |
         whole;
}

void tsl__level_token_edge(tsl__space *space, level *l, const tsl__token_edge *e) {
  const tsl_vocab *v = space->vocab;
  if (!e->complement) {
    for (uint32_t i = 0; i < e->count; i++)
      if (tsl__vocab_has_name(v, e->tokens[i])) tsl__gather_token(space, &l->gather, e->tokens[i]);
    return;
  }
  uint32_t number, *bits = tsl__bitset_new(space, &number), k = 0;
  if (!bits) return;
  for (tsl_token t = 0; t < v->size; t++) {
    while (k < e->count && e->tokens[k] < t) k++;
    if ((k < e->count && e->tokens[k] == t) || !tsl__vocab_has_name(v, t)) continue;
    bits[t >> 5] |= (uint32_t)1 << (t & 31);
  }
  tsl__gather_base(space, &l->gather, number);
}

/* ---- bits ------------------------------------------------------------------------------------ */

static size_t marks_size(const tsl__space *space) {
  return (tsl_vocab_mask_words(space->vocab) + TSL__LINEAR_SPARE) * sizeof(uint32_t);
}

bool tsl__level_bits(tsl__space *space, level *l) {
  return l->marks || (l->marks = tsl__alloc_zero(&space->alloc, marks_size(space))) ||
         tsl__space_no_memory(space);
}

bool tsl__level_but(tsl__space *space, level *l, tsl__mask mask, tsl_token *tokens, size_t n) {
  if (n <= TSL__PATCH_MAX)
    return tsl__gather_mask(space, &l->gather, mask) &&
           tsl__gather_remove_all(space, &l->gather, tokens, tsl__sort_unique(tokens, n));
  if (!tsl__level_bits(space, l)) return false;
  tsl__mask_write(space, tsl__mask_at(space, mask), l->marks);
  size_t fours = n / 4 * 4;
  for (size_t i = 0; i < fours; i += 4) /* else the loop would cost half as much as the bits */
    for (size_t k = 0; k < 4; k++) tsl__mask_bit_clear(l->marks, tokens[i + k]);
  for (size_t i = fours; i < n; i++) tsl__mask_bit_clear(l->marks, tokens[i]);
  return true;
}

tsl__mask tsl__level_mask(tsl__space *space, level *l) {
  if (l->marks) {
    if (space->status == TSL_OK) tsl__gather_bits(space, &l->gather, l->marks);
    tsl__free(&space->alloc, l->marks, marks_size(space));
    l->marks = NULL;
  }
  return tsl__gather_done(space, &l->gather);
}

uint8_t tsl__letters_from(const tsl__space *space, const level *l, const tsl__hint *h,
                          uint32_t node) {
  const tsl__trie_node *nodes = space->vocab->trie.nodes;
  if (!h || h->counted || l->key.over != TSL__WHOLE || !tsl__hint_is_exact(h))
    return TSL__FROM_NOWHERE;
  if (!node) return 0;
  bool below_root = node - nodes[0].first_child < nodes[0].children;
  return below_root && nodes[node].byte < 0x80 ? 1 : TSL__FROM_NOWHERE;
}

void tsl__level_push(tsl__space *space, level *l, tsl__level_entry e) {
  const tsl__trie_node *nodes = space->vocab->trie.nodes;
  tsl__level_reach(l, e.depth, e.count);
  TSL__PREFETCH(&nodes[nodes[e.node].first_child]);
  if (!tsl__vec_push(&space->alloc, &l->stack, e)) tsl__space_no_memory(space);
}

/* ---- where the search was -------------------------------------------------------------------- */

/* The nodes that the search was at in some states. Of a large set many lie below others: a loop
 * reaches them from each. */
struct tsl__met {
  tsl__state states[MET_STATES]; /* 0: not one yet */
  size_t words;                  /* of the bits of each */
  uint64_t bits[];
};

static size_t met_size(const tsl__trie *trie, size_t *words) {
  *words = trie->node_count / 64u + 1;
  return sizeof(tsl__met) + MET_STATES * *words * sizeof(uint64_t);
}

tsl__met *tsl__met_new(tsl__space *space) {
  size_t words, size = met_size(&space->vocab->trie, &words);
  tsl__met *m = tsl__alloc_zero(&space->alloc, size);
  if (m)
    m->words = words;
  else
    tsl__space_no_memory(space);
  return m;
}

void tsl__met_free(tsl__space *space, tsl__met *m) {
  size_t words, size = met_size(&space->vocab->trie, &words);
  tsl__free(&space->alloc, m, size);
}

bool tsl__met_before(tsl__met *m, tsl__state state, uint32_t count, uint32_t node) {
  if (count) return false;
  for (uint32_t i = 0; i < MET_STATES; i++) {
    if (!m->states[i]) m->states[i] = state;
    if (m->states[i] != state) continue;
    uint64_t *word = &m->bits[i * m->words + node / 64], bit = (uint64_t)1 << node % 64;
    bool was = *word & bit;
    *word |= bit;
    return was;
  }
  return false;
}
