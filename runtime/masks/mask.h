/* mask.h - what is allowed: shared bitsets, and a few tokens more or less.
 *
 * Problem   A mask of 128,256 tokens is 16 KB; nearly all states differ from a few common masks by
 *           some tokens.
 * Idea      A mask is (B₁ ∪ B₂ ∪ … − minus) ∪ plus: numbers of shared bitsets and two short sorted
 *           lists. Writing one out is a copy, a few ors, and a few single bits. A mask with more
 *           than TSL__PATCH_MAX tokens in the lists becomes a bitset of its own. A list is kept in
 *           stretches of 65,536 tokens, so that a token takes 16 bits. Two positions seldom have
 *           the same mask, unless both are made of the same masks. So a position's mask is joined:
 *           its lists are those of the masks that it is made of, one behind the other. The lists
 *           are not sorted, and no equal mask is looked for.
 * Equal     Two states often have the same mask, though their leftovers differ. A bitset is looked
 *           up by its words, so both share it. In grammars of programming languages half of all
 *           bitsets would be doubles.
 * Cost      0.06 µs to copy, 0.1 to or (128k tokens), about 1 ns a patch.
 * Tested by tests/masks/test_mask.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_MASKS_MASK_H
#define TSL_RUNTIME_MASKS_MASK_H

#include "runtime/automaton/space.h"

#define TSL__PATCH_MAX 200u  /* tokens in the two lists */
#define TSL__JOINED_MAX 512u /* in those of a joined mask */
#define TSL__BASES_MAX 0xFFu
#define TSL__STRETCH 16u /* bits of a token within its stretch */

typedef uint32_t tsl__mask; /* number of a mask; 0 is the empty one */

typedef struct tsl__mask_rec {
  const uint32_t *first; /* the words of the first base; NULL: there is none */
  /* numbers of the bases, then two sorted lists of patches. `minus`: tokens of a base that are not
   * allowed. `plus`: allowed tokens that are in no base */
  const uint32_t *lists;
  uint16_t plus_count;
  uint8_t minus_count, base_count;
  /* how often the mask was lent; only the first time matters (borrow.h) */
  atomic_ushort lent;
  /* requested: a row that grammars share was looked for (runtime/walk/shared_walks.h). shared:
   * `row` is such a row */
  bool requested : 1, shared : 1;
  /* `plus` is not sorted. It may hold a token twice, or one that a base or `minus` has. All its
   * tokens are allowed */
  bool joined : 1;
  tsl__mask number;
  _Atomic(uint32_t *) row;    /* written out for good; NULL: not yet */
  _Atomic(uint64_t) identity; /* XXH3-64 of the words, once requested (0: not yet) */
} tsl__mask_rec;

/* Some of a mask's tokens, sorted. For each stretch up to that of the last token: how many tokens
 * it has, then their lower 16 bits. */
typedef struct tsl__patches {
  const uint16_t *at;
  uint32_t n;
} tsl__patches;

/* The bit of a token. */
static inline bool tsl__mask_bit(const uint32_t *bits, tsl_token t) {
  return bits[t >> 5] >> (t & 31) & 1;
}
static inline void tsl__mask_bit_set(uint32_t *bits, tsl_token t) {
  bits[t >> 5] |= (uint32_t)1 << (t & 31);
}
static inline void tsl__mask_bit_clear(uint32_t *bits, tsl_token t) {
  bits[t >> 5] &= ~((uint32_t)1 << (t & 31));
}

#define TSL__UNION_MAX 8u            /* masks and tokens whose union is remembered */
#define TSL__UNION_TOKEN 0x80000000u /* marks a token in `parts` */

/* The union of a few masks and tokens. */
typedef struct tsl__union {
  uint32_t parts[TSL__UNION_MAX]; /* sorted: masks, then tokens, then zeros */
  tsl__mask all;
} tsl__union;

/* A mask being gathered. While it consists of at most TSL__UNION_MAX masks and of tokens, the
 * numbers of the masks are kept: their union may be known (union_memo.h). So may their union with
 * the few tokens that they lack. Otherwise everything goes into the lists. These may hold doubles
 * until the mask is made. */
typedef struct tsl__gather {
  TSL__VEC(uint32_t) bases;
  TSL__VEC(tsl_token) minus, plus;
  tsl__mask masks[TSL__UNION_MAX]; /* those that are not in the lists; no two are equal */
  tsl__mask parts[TSL__UNION_MAX]; /* the same, sorted; 0 behind the last */
  uint32_t mask_count;
  bool listed; /* the lists hold more than single tokens: further masks go there, too */
} tsl__gather;

static inline const tsl__mask_rec *tsl__mask_at(const tsl__space *s, tsl__mask m) {
  return tsl__space_at_of(s, masks, m, sizeof(tsl__mask_rec));
}
static inline const uint32_t *tsl__mask_bases(const tsl__mask_rec *r) { return r->lists; }
static inline tsl__patches tsl__mask_minus(const tsl__mask_rec *r) {
  return (tsl__patches){(const uint16_t *)(const void *)(r->lists + r->base_count), r->minus_count};
}
static inline tsl__patches tsl__mask_plus(const tsl__mask_rec *r) {
  tsl__patches p = tsl__mask_minus(r);
  for (uint32_t passed = 0; passed < p.n; p.at += *p.at + 1) passed += *p.at;
  p.n = r->plus_count;
  return p;
}
/* Bytes of the lists. */
static inline size_t tsl__mask_lists_size(const tsl__mask_rec *r) {
  tsl__patches p = tsl__mask_plus(r);
  for (uint32_t passed = 0; passed < p.n; p.at += *p.at + 1) passed += *p.at;
  return (size_t)((const char *)p.at - (const char *)r->lists);
}
/* The tokens, one by one: there is room for TSL__JOINED_MAX of them (TSL__PATCH_MAX are enough if
 * it was not joined). Returns `out`. */
const tsl_token *tsl__patches_read(tsl__patches p, tsl_token *out);

void tsl__gather_clear(tsl__gather *g);
void tsl__gather_free(tsl__space *space, tsl__gather *g);
/* bytes of its lists */
static inline size_t tsl__gather_memory(const tsl__gather *g) {
  return tsl__vec_memory(&g->bases) + tsl__vec_memory(&g->minus) + tsl__vec_memory(&g->plus);
}
bool tsl__gather_token(tsl__space *space, tsl__gather *g, tsl_token token);
bool tsl__gather_tokens(tsl__space *space, tsl__gather *g, const tsl_token *tokens, size_t n);
bool tsl__gather_base(tsl__space *space, tsl__gather *g, uint32_t bitset);
/* Remove tokens from what was gathered. Several tokens are sorted: one pass removes all of them. */
bool tsl__gather_remove(tsl__space *space, tsl__gather *g, tsl_token token);
bool tsl__gather_remove_all(tsl__space *space, tsl__gather *g, const tsl_token *tokens, size_t n);
bool tsl__gather_mask(tsl__space *space, tsl__gather *g, tsl__mask m);
/* All tokens that are marked in a bitset of the caller's. */
bool tsl__gather_bits(tsl__space *space, tsl__gather *g, const uint32_t *marks);
/* The mask gathered so far, interned by content of its lists. 0 on failure too (sticky). */
tsl__mask tsl__gather_done(tsl__space *space, tsl__gather *g);
/* The same for the mask of a position, which may be joined. */
tsl__mask tsl__gather_joined(tsl__space *space, tsl__gather *g);

/* A new bitset of the vocabulary's mask width, all zero, to be filled at once; its number in
 * *number. NULL when out of memory (sticky). */
uint32_t *tsl__bitset_new(tsl__space *space, uint32_t *number);
/* Room for a bitset that has no number yet; its words are not set, and the caller writes them all.
 * NULL when out of memory (sticky). */
uint32_t *tsl__bits_room(tsl__space *space);
/* The number of a bitset with these words, which lie in such room. It is one that is there already,
 * and the room is used again; or it is a new one. 0 when out of memory (sticky). Cost: a hash, some
 * 1 µs. */
uint32_t tsl__bitset_settle(tsl__space *space, uint32_t *bits);
/* Gather the tokens of a bitset in such room, and give the room up. Up to TSL__PATCH_MAX tokens are
 * listed; more become a base. */
bool tsl__gather_room(tsl__space *space, tsl__gather *g, uint32_t *bits);
/* As tsl__bitset_new, for a caller that writes all words: they are not set. */
uint32_t *tsl__bitset_raw(tsl__space *space, uint32_t *number);
static inline const uint32_t *tsl__bitset_at(const tsl__space *s, uint32_t number) {
  return *(uint32_t *const *)tsl__space_at_of(s, bitsets, number, sizeof(uint32_t *));
}

/* Write a mask out: space->mask_words words. */
void tsl__mask_write(const tsl__space *space, const tsl__mask_rec *r, uint32_t *out);
/* The same for a record that need not be in the space's table. Its row is not used. */
void tsl__mask_put(const tsl__space *space, const tsl__mask_rec *r, uint32_t *out);
/* Apply a mask's patches to words that hold its bases. */
void tsl__mask_patch(const tsl__mask_rec *r, uint32_t *out);
bool tsl__mask_has(const tsl__space *space, tsl__mask m, tsl_token token);

/* a mask of one bitset and so many patches is copied faster from a row than it is put together */
#define TSL__ROW_PATCHES 32u

/* A position gets this mask. If many positions have had it, find or make its row, which all
 * grammars of the vocabulary share. Failures are sticky. */
static inline void tsl__mask_share(tsl__space *space, tsl__mask mask) {
  const tsl__mask_rec *m = tsl__mask_at(space, mask);
  if (!m->requested && (m->base_count > 1 || m->minus_count + m->plus_count >= TSL__ROW_PATCHES))
    space->layer->shared_row(space, mask, m);
}

#endif
