/* leftover.c - see leftover.h.
 *
 * Example   A frame ends at the trie nodes of `"` and `",`. Both are sorted, and nodes without
 *           children are dropped: nothing is left to spell behind them. The rest is hashed and
 *           looked up in this layer and in those below. A new set notes the bytes of its nodes'
 *           children (`next`), the bytes anywhere below, and the number of tokens below.
 *           tsl__leftover_child by `,` is then a set again: the `,` children of its nodes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/automaton/leftover.h"

static size_t with_children(const tsl__trie *trie, uint32_t *nodes, size_t n) {
  size_t out = 0;
  for (size_t i = 0; i < n; i++)
    if (trie->nodes[nodes[i]].children) nodes[out++] = nodes[i];
  return out;
}

/* What of a node is looked at lies in three places. */
static void ask_below(const tsl__trie *trie, const tsl__trie_node *node) {
  TSL__PREFETCH(&trie->nodes[node->first_child]);
  if (node->below != UINT16_MAX) TSL__PREFETCH(&trie->sets[node->below]);
}

static tsl__leftover find(const tsl__space *space, const uint32_t *nodes, size_t n, uint64_t hash) {
  for (const tsl__space *layer = space; layer; layer = layer->parent) {
    tsl__index_iter it = tsl__index_first(&layer->leftovers.index, hash);
    for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
      const tsl__leftover_rec *r = tsl__leftover_at(space, i);
      if (r->n == n && !memcmp(r->nodes, nodes, n * sizeof *nodes)) return i;
    }
  }
  return 0;
}

tsl__leftover tsl__leftover_intern(tsl__space *space, uint32_t *nodes, size_t n) {
  const tsl__trie *trie = &space->vocab->trie;
  n = tsl__sort_unique(nodes, with_children(trie, nodes, n));
  if (n == 0) return 0;
  uint64_t hash = tsl__hash(nodes, n * sizeof *nodes);
  tsl__leftover found = find(space, nodes, n, hash);
  if (found) return found;
  tsl__leftover_rec *r = tsl__pool_add(&space->leftovers.pool, &space->kept);
  if (r) r->nodes = tsl__arena_copy(&space->arena, nodes, n * sizeof *nodes);
  uint32_t number = tsl__space_count(space, leftovers) - 1;
  if (!r || !r->nodes) return tsl__space_no_memory(space), 0;
  size_t tokens = 0;
  r->n = (uint32_t)n;
  for (size_t i = 0; i < n; i++) ask_below(trie, &trie->nodes[nodes[i]]);
  for (size_t i = 0; i < n; i++) {
    const tsl__trie_node *node = &trie->nodes[nodes[i]];
    if (node->height > r->height) r->height = node->height;
    tokens += node->end - node->own_end;
    for (uint32_t c = node->first_child; c < node->first_child + node->children; c++)
      tsl__bytes_add(&r->next, trie->labels[c]);
    if (node->below == UINT16_MAX)
      memset(&r->below, 0xFF, sizeof r->below);
    else
      tsl__bytes_or(&r->below, &trie->sets[node->below]);
  }
  r->tokens = tokens < UINT16_MAX ? (uint16_t)tokens : UINT16_MAX;
  if (!tsl__index_add(&space->leftovers.index, &space->alloc, hash, number))
    return tsl__space_no_memory(space), 0;
  return number;
}

tsl__leftover tsl__leftover_minus(tsl__space *space, tsl__leftover a, tsl__leftover b) {
  const tsl__leftover_rec *r = tsl__leftover_at(space, a), *s = tsl__leftover_at(space, b);
  uint32_t *nodes = a == b ? NULL : tsl__alloc(&space->alloc, r->n * sizeof *nodes);
  size_t n = 0;
  if (!nodes) return a == b ? 0 : (tsl__space_no_memory(space), 0);
  for (size_t i = 0, k = 0; i < r->n; i++) {
    k = tsl__bound_from(s->nodes, s->n, k, r->nodes[i]);
    if (k == s->n || s->nodes[k] != r->nodes[i]) nodes[n++] = r->nodes[i];
  }
  tsl__leftover rest = n == r->n ? a : tsl__leftover_intern(space, nodes, n);
  tsl__free(&space->alloc, nodes, r->n * sizeof *nodes);
  return rest;
}

#define JOINED_MAX 32u /* nodes of two sets that are joined */

static tsl__leftover join_sets(tsl__space *space, tsl__leftover a, tsl__leftover b) {
  const tsl__leftover_rec *r = tsl__leftover_at(space, a), *s = tsl__leftover_at(space, b);
  uint32_t nodes[JOINED_MAX];
  if (r->n + s->n > JOINED_MAX) return 0;
  memcpy(nodes, r->nodes, r->n * sizeof *nodes);
  memcpy(nodes + r->n, s->nodes, s->n * sizeof *nodes);
  return tsl__leftover_intern(space, nodes, r->n + s->n);
}

tsl__leftover tsl__leftover_join(tsl__space *space, tsl__leftover a, tsl__leftover b) {
  tsl__leftover flag = (a | b) & TSL__WHOLE, sets[2] = {tsl__leftover_set(a), tsl__leftover_set(b)};
  if (!sets[0] || !sets[1]) return flag | sets[0] | sets[1];
  tsl__joined *known = &space->joined[(sets[0] ^ sets[1]) % TSL__JOINED];
  if (known->a != sets[0] || known->b != sets[1])
    *known = (tsl__joined){sets[0], sets[1], join_sets(space, sets[0], sets[1])};
  return known->both ? flag | known->both : 0;
}

static uint64_t child_hash(tsl__leftover t, uint8_t byte) {
  return tsl__mix(((uint64_t)t << 8 | byte) + 1);
}

static const tsl__child *find_child(const tsl__space *space, tsl__leftover t, uint8_t byte,
                                    uint64_t hash) {
  for (const tsl__space *layer = space; layer; layer = layer->parent) {
    /* the layer below can't know this set */
    if (layer != space && t >= space->leftovers.first) continue;
    tsl__index_iter it = tsl__index_first(&layer->children.index, hash);
    for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
      const tsl__child *c = tsl__space_at(space, children, i);
      if (c->set == t && c->byte == byte) return c;
    }
  }
  return NULL;
}

/* A child of a set of which it is known that it is new: the n nodes (in place) that its byte leads
 * to. NULL on failure (sticky). */
static const tsl__child *add_child(tsl__space *space, tsl__leftover t, uint8_t byte,
                                   uint32_t *nodes, size_t n) {
  const tsl__trie *trie = &space->vocab->trie;
  tsl__child made = {.set = t, .byte = byte};
  for (size_t i = 0; i < n; i++)
    made.count += trie->nodes[nodes[i]].own_end - trie->nodes[nodes[i]].begin;
  if (made.count) {
    tsl_token *tokens = tsl__arena_alloc(&space->arena, made.count * sizeof *tokens);
    if (!tokens) return tsl__space_no_memory(space), NULL;
    made.tokens = tokens;
    for (size_t i = 0; i < n; i++) {
      const tsl__trie_node *node = &trie->nodes[nodes[i]];
      for (uint32_t k = node->begin; k < node->own_end; k++) *tokens++ = trie->order[k];
    }
  }
  made.to = tsl__leftover_intern(space, nodes, n);
  tsl__child *child =
      space->status == TSL_OK ? tsl__pool_add(&space->children.pool, &space->kept) : NULL;
  if (child) *child = made;
  if (!child || !tsl__index_add(&space->children.index, &space->alloc, child_hash(t, byte),
                                tsl__space_count(space, children) - 1))
    return tsl__space_no_memory(space), NULL;
  return child;
}

const tsl__child *tsl__leftover_child(tsl__space *space, tsl__leftover t, uint8_t byte) {
  const tsl__child *found = find_child(space, t, byte, child_hash(t, byte));
  if (found) return found;
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__leftover_rec *r = tsl__leftover_at(space, t);
  TSL__VEC(uint32_t) nodes = {0};
  bool fine = true;
  for (uint32_t i = 0; i < r->n; i++)
    TSL__PREFETCH(&trie->nodes[trie->nodes[r->nodes[i]].first_child]);
  for (uint32_t i = 0; i < r->n && fine; i++) {
    uint32_t c = tsl__trie_child(trie, r->nodes[i], byte);
    fine = !c || tsl__vec_push(&space->alloc, &nodes, c);
  }
  const tsl__child *child = fine ? add_child(space, t, byte, nodes.at, nodes.n) : NULL;
  tsl__vec_free(&space->alloc, &nodes);
  if (!child) tsl__space_no_memory(space);
  return child;
}

/* ---- children by many bytes at once ---------------------------------------------------------- */

/* A node's labels are read one by one, unless it has so many for each byte: then each byte is
 * sought. */
#define LABELS_MANY 8u

typedef struct step {
  uint32_t to;
  uint8_t byte;
} step;
typedef TSL__VEC(step) steps;

/* Where the n bytes lead from a node. */
static bool add_steps(tsl__space *space, const tsl__trie_node *node, const tsl__bytes *bytes,
                      unsigned n, steps *out) {
  const tsl__trie *trie = &space->vocab->trie;
  const uint8_t *labels = trie->labels + node->first_child;
  bool fine = true;
  if (node->children <= n * LABELS_MANY) {
    for (uint32_t i = 0; i < node->children && fine; i++)
      if (tsl__bytes_has(bytes, labels[i]))
        fine = tsl__vec_push(&space->alloc, out, ((step){node->first_child + i, labels[i]}));
    return fine;
  }
  for (int w = 0; w < 4; w++)
    for (uint64_t bits = bytes->w[w]; bits && fine; bits &= bits - 1) {
      uint8_t byte = (uint8_t)(w * 64 + __builtin_ctzll(bits));
      uint32_t to = tsl__trie_child(trie, (uint32_t)(node - trie->nodes), byte);
      if (to) fine = tsl__vec_push(&space->alloc, out, ((step){to, byte}));
    }
  return fine;
}

/* The steps by byte, those of one in the order of the set: a child for each. */
static bool add_children(tsl__space *space, tsl__leftover t, const tsl__bytes *bytes,
                         const steps *all) {
  uint32_t begin[257] = {0}, *nodes = tsl__alloc(&space->alloc, (all->n + 1) * sizeof *nodes);
  if (!nodes) return tsl__space_no_memory(space);
  for (size_t i = 0; i < all->n; i++) begin[all->at[i].byte + 1]++;
  for (unsigned b = 0; b < 256; b++) begin[b + 1] += begin[b];
  for (size_t i = 0; i < all->n; i++) nodes[begin[all->at[i].byte]++] = all->at[i].to;
  /* each begins where the one before ends now */
  for (unsigned b = 0; b < 256 && space->status == TSL_OK; b++)
    if (tsl__bytes_has(bytes, b)) {
      uint32_t from = b ? begin[b - 1] : 0;
      add_child(space, t, (uint8_t)b, nodes + from, begin[b] - from);
    }
  tsl__free(&space->alloc, nodes, (all->n + 1) * sizeof *nodes);
  return space->status == TSL_OK;
}

bool tsl__leftover_children(tsl__space *space, tsl__leftover t, const tsl__bytes *bytes) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__leftover_rec *r = tsl__leftover_at(space, t);
  tsl__bytes missing = {{0}};
  unsigned n = 0;
  for (int w = 0; w < 4; w++)
    for (uint64_t bits = bytes->w[w] & r->next.w[w]; bits; bits &= bits - 1) {
      uint8_t byte = (uint8_t)(w * 64 + __builtin_ctzll(bits));
      if (!find_child(space, t, byte, child_hash(t, byte))) tsl__bytes_add(&missing, byte), n++;
    }
  if (n < 2) return true; /* it is made when it is requested */
  steps all = {0};
  bool fine = true;
  for (uint32_t i = 0; i < r->n; i++)
    TSL__PREFETCH(trie->labels + trie->nodes[r->nodes[i]].first_child);
  for (uint32_t i = 0; i < r->n && fine; i++)
    fine = add_steps(space, &trie->nodes[r->nodes[i]], &missing, n, &all);
  fine = (fine || tsl__space_no_memory(space)) && add_children(space, t, &missing, &all);
  tsl__vec_free(&space->alloc, &all);
  return fine;
}
