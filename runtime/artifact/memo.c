/* memo.c - walks that were done ahead, read out of a file when a walk is wanted.
 *
 * Problem   The file has numbers of its own for states, leftovers, masks and bitsets. The space
 *           gives other numbers, in the order in which things are met.
 * Idea      A walk is looked up under the file's numbers, and what it refers to gets a number in
 *           the space when it is first met. Maps in both directions remember the pairs. The space
 *           may have made a leftover itself before: then its content says which one of the file's
 *           it is.
 * Example   A walk of state 7 over the whole vocabulary is wanted. The file calls that state 3. The
 *           slot of (3, no context, whole) says walk 12: left 5, mask 9. Mask 9 is bitset 2 minus
 *           two tokens. Bitset 2 lies in the file as it is used and is not copied. The mask becomes
 *           number 40 of the space. The next walk that has mask 9 finds 40 in the map.
 * Cost      A few lines of memory for a walk whose mask was met before, where the search would
 *           visit thousands of nodes.
 * Tested by tests/artifact/test_artifact.c, tests/artifact/test_forged.c, fuzz/fuzz_artifact.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/artifact/artifact.h"

/* Slots of a hash table that are looked at for one entry. Half of them are free, and in no table of
 * a file's size are so many full in a row. What a forged one holds further on is not found, and
 * walked. */
#define PROBES_MAX 256u

/* How many of a table's slots to look at. */
static uint64_t probes_of(uint64_t slots) { return slots < PROBES_MAX ? slots : PROBES_MAX; }

static bool out_of_memory(tsl__reader *r) { return tsl__space_no_memory(r->space); }

/* ---- bitsets and masks ----------------------------------------------------------------------- */

/* Turns the bits of listed tokens over. */
static bool flip(tsl__reader *r, uint32_t *bits, const uint32_t *tokens, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (tokens[i] >= r->space->vocab->size) return tsl__a_bad(r, "the artifact is damaged: tokens");
    bits[tokens[i] >> 5] ^= (uint32_t)1 << (tokens[i] & 31);
  }
  return true;
}

/* The words of a whole bitset of the file, which has no bits past the vocabulary. */
static const uint32_t *dense(tsl__reader *r, uint32_t row) {
  uint32_t size = r->space->vocab->size, excess = 0;
  size_t words = tsl_vocab_mask_words(r->space->vocab);
  const uint32_t *bits = tsl__a_words(r, TSL__A_DENSE, (uint64_t)row * words, words);
  if (bits && size % 32) excess = bits[size / 32] >> size % 32;
  for (size_t i = (size + 31u) / 32; bits && i < words; i++) excess |= bits[i];
  return excess ? (tsl__a_bad(r, "the artifact is damaged: tokens"), NULL) : bits;
}

/* One that is written as what it differs in. */
static uint32_t unpack(tsl__reader *r, const uint32_t *entry) {
  uint32_t row = entry[0] >> 2, number = 0;
  size_t words = tsl_vocab_mask_words(r->space->vocab);
  const uint32_t *tokens = tsl__a_words(r, TSL__A_LISTS, entry[1], entry[2]);
  const uint32_t *from = tokens && (entry[0] & 3) == TSL__BITS_DELTA ? dense(r, row) : NULL;
  uint32_t *bits = r->space->status == TSL_OK ? tsl__bitset_new(r->space, &number) : NULL;
  if (!bits) return 0;
  if (from) memcpy(bits, from, words * sizeof *bits);
  if ((entry[0] & 3) == TSL__BITS_COMPLEMENT)
    for (tsl_token t = 0; t < r->space->vocab->size; t++) bits[t >> 5] |= (uint32_t)1 << (t & 31);
  return flip(r, bits, tokens, entry[2]) ? number : 0;
}

/* The space's number of a bitset of the file; 0 on failure. A whole one is used where it lies:
 * processes share its pages. */
static uint32_t bitset_of(tsl__reader *r, uint32_t number) {
  const uint32_t *entry = number && number < r->h->bitsets
                              ? tsl__a_words(r, TSL__A_BITSETS, 3 * (uint64_t)number, 3)
                              : NULL;
  if (!entry) return tsl__a_bad(r, "the artifact is damaged: there is no such bitset"), 0;
  if (r->bitset_of[number]) return r->bitset_of[number];
  uint32_t made = 0;
  if ((entry[0] & 3) == TSL__BITS_DENSE) {
    const uint32_t *words = dense(r, entry[0] >> 2);
    const uint32_t **slot = words ? tsl__pool_add(&r->space->bitsets.pool, &r->space->kept) : NULL;
    if (words && !slot) out_of_memory(r);
    if (slot) {
      *slot = words; /* where it lies in the file */
      made = tsl__space_count(r->space, bitsets) - 1;
    }
  } else {
    made = unpack(r, entry);
  }
  return r->bitset_of[number] = made;
}

/* A mask in the space, of the same parts: bitsets, minus tokens, plus tokens. */
static bool gather(tsl__reader *r, tsl__gather *g, const uint32_t *entry, const uint32_t *lists) {
  const uint32_t *minus = lists + entry[1], *plus = minus + entry[2];
  if (!tsl__a_check_tokens(r, minus, entry[2]) || !tsl__a_check_tokens(r, plus, entry[3]))
    return false;
  for (uint32_t i = 0; i < entry[1]; i++) {
    uint32_t b = bitset_of(r, lists[i]);
    if (!b || !tsl__gather_base(r->space, g, b)) return false;
  }
  for (uint32_t i = 0; i < entry[2]; i++)
    if (!tsl__vec_push(&r->space->alloc, &g->minus, minus[i])) return out_of_memory(r);
  return tsl__gather_tokens(r->space, g, plus, entry[3]);
}

/* False on failure. */
static bool mask_of(tsl__reader *r, uint32_t number, tsl__mask *out) {
  *out = 0;
  if (!number) return true;
  const uint32_t *entry =
      number < r->h->masks ? tsl__a_words(r, TSL__A_MASKS, 4 * (uint64_t)number, 4) : NULL;
  if (!entry) return tsl__a_bad(r, "the artifact is damaged: there is no such mask");
  if (r->mask_of[number]) return *out = r->mask_of[number] - 1, true;
  const uint32_t *lists =
      tsl__a_words(r, TSL__A_LISTS, entry[0], (uint64_t)entry[1] + entry[2] + entry[3]);
  tsl__gather g = {0};
  bool fine = lists && gather(r, &g, entry, lists);
  if (fine) *out = tsl__gather_done(r->space, &g);
  tsl__gather_free(r->space, &g);
  fine = fine && r->space->status == TSL_OK;
  if (fine) r->mask_of[number] = *out + 1;
  return fine;
}

/* ---- leftovers ------------------------------------------------------------------------------- */

/* The nodes of a leftover of the file, in order. */
static const uint32_t *nodes_of(tsl__reader *r, uint32_t number, uint32_t *n) {
  const uint32_t *entry = number && number < r->h->leftovers
                              ? tsl__a_words(r, TSL__A_LEFTOVERS, 2 * (uint64_t)number, 2)
                              : NULL;
  const uint32_t *nodes = entry ? tsl__a_words(r, TSL__A_LISTS, entry[0], entry[1]) : NULL;
  if (!nodes) return tsl__a_bad(r, "the artifact is damaged: there is no such leftover"), NULL;
  *n = entry[1];
  return nodes;
}

/* Remember which leftover of the file this one of the space is; number 0 says "none of them". */
static bool note_left(tsl__reader *r, uint32_t own, uint32_t number) {
  while (r->left_id.n <= own)
    if (!tsl__vec_push(&r->space->alloc, &r->left_id, 0)) return out_of_memory(r);
  r->left_id.at[own] = number + 1;
  return true;
}

/* The file's number of a set of the space; 0: it has none. */
static uint32_t left_id(tsl__reader *r, uint32_t own) {
  if (own < r->left_id.n && r->left_id.at[own]) return r->left_id.at[own] - 1;
  const tsl__leftover_rec *rec = tsl__leftover_at(r->space, own);
  uint64_t slots = r->h->section[TSL__A_LEFT_SLOTS].size / 4;
  uint32_t found = 0;
  for (uint64_t at = tsl__hash(rec->nodes, rec->n * sizeof *rec->nodes),
                end = at + probes_of(slots);
       at != end; at++) {
    uint32_t n;
    const uint32_t *slot = tsl__a_words(r, TSL__A_LEFT_SLOTS, at & (slots - 1), 1);
    if (!slot || !*slot) break;
    const uint32_t *nodes = nodes_of(r, *slot, &n);
    if (!nodes) break;
    if (n != rec->n || memcmp(nodes, rec->nodes, n * sizeof *nodes)) continue;
    found = *slot;
    break;
  }
  return r->space->status == TSL_OK && note_left(r, own, found) ? found : 0;
}

/* The space's number of a set of the file, with its flag. False on failure. */
static bool leftover_of(tsl__reader *r, uint32_t file, tsl__leftover *out) {
  uint32_t number = file & ~TSL__WHOLE, n;
  *out = file & TSL__WHOLE;
  if (!number) return true;
  const uint32_t *nodes = nodes_of(r, number, &n);
  const tsl__trie *trie = &r->space->vocab->trie;
  if (!nodes) return false;
  if (r->leftover_of[number]) return *out |= r->leftover_of[number], true;
  for (uint32_t i = 0; i < n; i++)
    if (!nodes[i] || nodes[i] >= trie->node_count || !trie->nodes[nodes[i]].children ||
        (i && nodes[i] <= nodes[i - 1]))
      return tsl__a_bad(r, "the artifact is damaged: a leftover");
  /* is sorted in place */
  uint32_t *copy = n ? tsl__alloc(&r->space->alloc, n * sizeof *copy) : NULL;
  if (!copy) return n ? out_of_memory(r) : tsl__a_bad(r, "the artifact is damaged: a leftover");
  memcpy(copy, nodes, n * sizeof *copy);
  uint32_t made = tsl__leftover_intern(r->space, copy, n);
  tsl__free(&r->space->alloc, copy, n * sizeof *copy);
  if (!made || !note_left(r, made, number)) return false;
  r->leftover_of[number] = made;
  *out |= made;
  return true;
}

/* ---- walks ----------------------------------------------------------------------------------- */

static bool walk_of(tsl__reader *r, const uint32_t *w, tsl__walk *out) {
  return leftover_of(r, w[3], &out->left) && mask_of(r, w[4], &out->mask) &&
         mask_of(r, w[5], &out->exits);
}

/* The hook of the memo. False: the file does not have it, or it is damaged (sticky); the walk is
 * then done. */
bool tsl__a_find_walk(void *ctx, tsl__state state, uint32_t context, uint32_t over,
                      tsl__walk *out) {
  tsl__reader *r = ctx;
  uint64_t slots = r->h->section[TSL__A_WALK_SLOTS].size / 4;
  if (!r->walks || !slots || r->space->status != TSL_OK) return false;
  uint32_t number = tsl__a_number(r, state),
           left = number && tsl__leftover_set(over) ? left_id(r, tsl__leftover_set(over)) : 0;
  if (!number || (tsl__leftover_set(over) && !left)) return false;
  left |= over & TSL__WHOLE;
  for (uint64_t at = tsl__a_hash_walk(number, context, left), end = at + probes_of(slots);
       at != end; at++) {
    const uint32_t *slot = tsl__a_words(r, TSL__A_WALK_SLOTS, at & (slots - 1), 1);
    if (!slot || !*slot) return false;
    const uint32_t *w =
        *slot < r->h->walks ? tsl__a_words(r, TSL__A_WALKS, 7 * (uint64_t)*slot, 7) : NULL;
    if (!w) return tsl__a_bad(r, "the artifact is damaged: there is no such walk");
    if (w[0] != number || w[1] != context || w[2] != left) continue;
    *out = (tsl__walk){.state = state,
                       .context = context,
                       .over = over,
                       .reach = (uint16_t)(w[6] < TSL__UNSPLIT ? w[6] : TSL__UNSPLIT),
                       .gain = TSL__UNCOUNTED};
    return walk_of(r, w, out);
  }
  return false;
}
