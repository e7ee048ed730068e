/* linear_cover.c - see linear_cover.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/linear_cover.h"

#define NO_WORD UINT8_MAX

/* The path to a node. */
typedef struct path {
  uint8_t letters; /* NO_WORD: it is no word, or too long */
  bool spaced;
} path;

static bool is_letter(uint8_t byte) { return byte >> 6 == 1 && TSL__WORD_LETTERS >> (byte & 63) & 1; }

/* A space alone is no word: what follows it has to be read. */
static path path_on(path p, const tsl__linear_node *n) {
  bool space = n->above == 0 && n->byte == ' ';
  p.spaced |= space;
  if (!space) p.letters = is_letter(n->byte) && p.letters < TSL__WORDS_HIGH ? (uint8_t)(p.letters + 1) : NO_WORD;
  return p;
}

/* Which nodes are words and have nothing else below: from the last to the first. *more: nodes that are not. */
static void find_covered(const tsl__linear *l, bool *covered, uint32_t *more) {
  *more = 1;
  for (uint32_t i = l->n; i-- > 1;) {
    for (uint32_t c = i + 1; c < l->nodes[i].next && covered[i]; c = l->nodes[c].next) covered[i] = covered[c];
    *more += !covered[i];
  }
}

/* All words; *covered: each node that is one. */
static bool put_words(tsl__space *base, tsl__linear *l, bool *covered) {
  size_t size = ((size_t)base->vocab->trie.nodes[0].height + 1) * sizeof(path);
  uint32_t number, *words[2] = {NULL, NULL};
  for (unsigned k = 0; k < 2; k++)
    if (!(l->words[k] = words[k] = tsl__bitset_new(base, &number))) return false;
  path *paths = tsl__alloc_zero(&base->alloc, size);
  if (!paths) return tsl__space_no_memory(base);
  for (uint32_t i = 1; i < l->n; i++) {
    const tsl__linear_node *n = &l->nodes[i];
    path p = paths[n->above + 1] = path_on(paths[n->above], n);
    covered[i] = p.letters && p.letters != NO_WORD;
    if (covered[i] && n->token < l->tokens) tsl__mask_bit_set(words[p.spaced], n->token);
  }
  tsl__free(&base->alloc, paths, size);
  return true;
}

/* The table without what is covered. *before: room for a number each. */
static void put_rest(const tsl__linear *l, const bool *covered, uint32_t *before, tsl__linear *rest) {
  for (uint32_t i = 0, n = 0; i <= l->n; i++) {
    before[i] = n;
    n += i < l->n && !covered[i];
  }
  for (uint32_t i = 0; i < l->n; i++) {
    if (covered[i]) continue;
    rest->nodes[rest->n] = l->nodes[i];
    rest->nodes[rest->n++].next = before[l->nodes[i].next];
  }
  rest->space = before[l->space];
}

bool tsl__cover_make(tsl__space *base, tsl__linear *l) {
  uint32_t more = 0;
  bool *covered = tsl__alloc_zero(&base->alloc, l->n * sizeof *covered);
  uint32_t *before = tsl__alloc(&base->alloc, (l->n + (size_t)1) * sizeof *before);
  bool fine = covered && before;
  if (!fine) tsl__space_no_memory(base);
  fine = fine && put_words(base, l, covered);
  if (fine) find_covered(l, covered, &more);
  tsl__linear *rest = fine ? tsl__arena_alloc(&base->arena, sizeof *rest) : NULL;
  tsl__linear_node *nodes = rest ? tsl__arena_alloc(&base->arena, more * sizeof *nodes) : NULL;
  if (nodes) {
    *rest = (tsl__linear){.nodes = nodes, .tokens = l->tokens, .least = l->least};
    put_rest(l, covered, before, rest);
    l->rest = rest;
  } else if (fine) {
    tsl__space_no_memory(base);
  }
  tsl__free(&base->alloc, covered, l->n * sizeof *covered);
  tsl__free(&base->alloc, before, (l->n + (size_t)1) * sizeof *before);
  return nodes != NULL;
}
