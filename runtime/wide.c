/* wide.c - see wide.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/wide.h"

#define INVALID 0xFFu

/* Where a node's path ends: the bits of its last character so far. */
typedef struct ending {
  uint32_t bits;
  uint8_t missing, length; /* bytes still to come, and of the whole character; missing INVALID: no UTF-8 */
} ending;

static bool meets(const tsl__wide *w, uint32_t lo, uint32_t hi) {
  uint32_t a = 0, b = w->count;
  while (a < b) { /* the first range that ends at lo or later */
    uint32_t mid = (a + b) / 2;
    if (w->pairs[2 * mid + 1] < lo) a = mid + 1;
    else b = mid;
  }
  return a < w->count && w->pairs[2 * a] <= hi;
}

static ending step(ending from, uint8_t byte) {
  ending to = {0};
  if (from.missing == INVALID) return from;
  if (from.missing) {
    to = (ending){from.bits << 6 | (byte & 0x3F), (uint8_t)(from.missing - 1), from.length};
    if ((byte & 0xC0) != 0x80) to.missing = INVALID;
  } else if (byte >= 0x80) {
    to.length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    to.missing = (uint8_t)(to.length - 1);
    to.bits = byte & (0x7Fu >> to.length);
    if (byte < 0xC2 || byte > 0xF4) to.missing = INVALID;
  }
  return to;
}

/* Can the last character be one of the class? */
static bool fits(const tsl__wide *w, ending e) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (e.missing == INVALID) return false;
  uint32_t lo = e.bits << (6 * e.missing), hi = lo | (((uint32_t)1 << (6 * e.missing)) - 1);
  if (lo < least[e.length]) lo = least[e.length];
  return lo <= hi && meets(w, lo, hi);
}

static void set_bit(uint64_t *bits, uint32_t node) { bits[node >> 6] |= (uint64_t)1 << (node & 63); }

/* A node and those above it are dirty. */
static void soil(const uint32_t *parents, uint64_t *dirty, uint32_t node) {
  while (!tsl__wide_bit(dirty, node)) {
    set_bit(dirty, node);
    node = parents[node]; /* the root is its own */
  }
}

/* Children have higher numbers than their parents. `endings` and `parents` are zero. */
static void mark(const tsl__trie *trie, const tsl__wide *w, ending *endings, uint32_t *parents, uint64_t *exit, uint64_t *dirty, uint64_t *midway) {
  for (uint32_t n = 0; n < trie->node_count; n++)
    for (uint32_t c = trie->nodes[n].first_child, end = c + trie->nodes[n].children; c < end; c++) {
      uint8_t byte = trie->nodes[c].byte;
      parents[c] = n;
      if (byte < 0x80 && !endings[n].missing) continue;
      endings[c] = step(endings[n], byte);
      if (endings[c].missing) set_bit(midway, c);
      if (fits(w, endings[c])) continue;
      set_bit(exit, c);
      soil(parents, dirty, n);
    }
}

static uint32_t make(tsl__space *space, tsl__wide w) {
  const tsl__trie *trie = &space->vocab->trie;
  size_t words = trie->node_count / 64 + 1, size = trie->node_count * sizeof(ending), parents_size = trie->node_count * sizeof(uint32_t);
  uint64_t *bits = tsl__arena_alloc(&space->arena, 3 * words * sizeof *bits);
  ending *endings = tsl__alloc_zero(&space->alloc, size);
  uint32_t *parents = tsl__alloc_zero(&space->alloc, parents_size);
  const uint32_t *pairs = tsl__arena_copy(&space->arena, w.pairs, 2 * w.count * sizeof *pairs);
  tsl__wide *made = bits && endings && parents && pairs ? tsl__pool_add(&space->wides.pool, &space->alloc) : NULL;
  if (made) {
    memset(bits, 0, 3 * words * sizeof *bits);
    mark(trie, &w, endings, parents, bits, bits + words, bits + 2 * words);
    *made = (tsl__wide){w.hash, pairs, w.count, bits, bits + words, bits + 2 * words};
  }
  tsl__free(&space->alloc, endings, size);
  tsl__free(&space->alloc, parents, parents_size);
  uint32_t number = tsl__space_count(space, wides) - 1;
  if (made && tsl__index_add(&space->wides.index, &space->alloc, w.hash, number)) return number;
  return tsl__space_fail(space, TSL_ERR_NO_MEMORY, "out of memory"), 0;
}

uint32_t tsl__wide_of(tsl__space *space, const uint32_t *pairs, uint32_t count) {
  tsl__wide wanted = {.hash = tsl__hash(pairs, 2 * count * sizeof *pairs), .pairs = pairs, .count = count};
  for (const tsl__space *layer = space; layer; layer = layer->parent) {
    tsl__index_iter it = tsl__index_first(&layer->wides.index, wanted.hash);
    for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
      const tsl__wide *w = tsl__wide_at(space, i);
      if (w->count == count && !memcmp(w->pairs, pairs, 2 * count * sizeof *pairs)) return i;
    }
  }
  return make(space, wanted);
}
