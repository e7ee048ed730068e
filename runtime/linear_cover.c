/* linear_cover.c - see linear_cover.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/linear_cover.h"

#include "runtime/classes.h"

/* The path to a node. */
typedef struct path {
  uint8_t bytes; /* TSL__UNCOVERED: it is no word, or too long */
  bool spaced;
} path;

static bool is_letter(uint8_t byte) { return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'; }

static path path_on(path p, const tsl__linear_node *n) {
  bool space = n->above == 0 && n->byte == ' ';
  p.spaced |= space;
  p.bytes = (space || is_letter(n->byte)) && p.bytes < TSL__UNCOVERED - 1 ? (uint8_t)(p.bytes + 1) : TSL__UNCOVERED;
  return p;
}

/* From the last node to the first: a node is as deep as the deepest below it. What is nothing but a space is read: from there on it is known what may follow it. */
static void put_deep(tsl__linear *l) {
  for (uint32_t i = l->n; i-- > 1;) {
    tsl__linear_node *n = &l->nodes[i];
    for (uint32_t c = i + 1; c < n->next; c = l->nodes[c].next)
      if (l->nodes[c].deep > n->deep) n->deep = l->nodes[c].deep;
    if (n->above == 0 && n->byte == ' ') n->deep = TSL__UNCOVERED;
  }
}

bool tsl__cover_make(tsl__space *base, tsl__linear *l) {
  size_t size = ((size_t)base->vocab->trie.nodes[0].height + 1) * sizeof(path);
  uint32_t number, *words[2] = {NULL, NULL};
  for (unsigned k = 0; k < 2; k++)
    if (!(l->words[k] = words[k] = tsl__bitset_new(base, &number))) return false;
  path *paths = tsl__alloc_zero(&base->alloc, size);
  if (!paths) return tsl__space_no_memory(base);
  for (uint32_t i = 1; i < l->n; i++) {
    tsl__linear_node *n = &l->nodes[i];
    path p = paths[n->above + 1] = path_on(paths[n->above], n);
    n->deep = p.bytes;
    if (p.bytes != TSL__UNCOVERED && n->token < l->tokens) tsl__mask_bit_set(words[p.spaced], n->token);
  }
  tsl__free(&base->alloc, paths, size);
  put_deep(l);
  return true;
}

void tsl__cover_mark(tsl__space *space, const tsl__linear *l, bool spaced, uint32_t bytes, uint32_t *marks) {
  const tsl__lengths *lengths = bytes ? tsl__lengths_of(space) : NULL;
  const uint32_t *words = l->words[spaced];
  size_t n = tsl_vocab_mask_words(space->vocab);
  if (!lengths) return;
  const uint32_t *short_ones = lengths->at_most[(bytes < TSL__SHORT_MAX ? bytes : TSL__SHORT_MAX) - 1];
  for (size_t i = 0; i < n; i++) marks[i] |= words[i] & short_ones[i];
  for (uint32_t i = 0; i < lengths->longer_count && bytes > TSL__SHORT_MAX; i++)
    if (lengths->longer_length[i] <= bytes && tsl__mask_bit(words, lengths->longer[i])) tsl__mask_bit_set(marks, lengths->longer[i]);
}
