/* mask.c - see mask.h.
 *
 * Example   The masks ({base 4}, minus {9}) and ({base 4}, plus {70000}) are gathered. Both name
 *           bitset 4, which is listed once. Token 9 is missing in one alone, and the other has it,
 *           so it is no longer missing. Token 70000 is listed as plus. The union is ({base 4},
 *           plus {70000}): 4,464 in the second stretch of 65,536 tokens.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/masks/mask.h"

#include "runtime/kernels/logits.h"
#include "runtime/masks/union_memo.h"

void tsl__gather_clear(tsl__gather *g) {
  g->bases.n = g->minus.n = g->plus.n = 0;
  memset(g->parts, 0, sizeof g->parts);
  g->mask_count = 0;
  g->listed = false;
}

void tsl__gather_free(tsl__space *space, tsl__gather *g) {
  tsl__vec_free(&space->alloc, &g->bases);
  tsl__vec_free(&space->alloc, &g->minus);
  tsl__vec_free(&space->alloc, &g->plus);
}

/* tokens that there is room for past those that come: more follow mostly, and a list that grows
 * little by little is moved each time */
#define PLUS_SPARE 64u

static inline bool reserve_plus(tsl__space *space, tsl__gather *g, size_t n) {
  return TSL__LIKELY(g->plus.n + n <= g->plus.cap) ||
         tsl__vec_reserve(&space->alloc, &g->plus, n + PLUS_SPARE) || tsl__space_no_memory(space);
}

static bool list_tokens(tsl__space *space, tsl__gather *g, const tsl_token *tokens, size_t n) {
  if (!reserve_plus(space, g, n)) return false;
  if (n) memcpy(g->plus.at + g->plus.n, tokens, n * sizeof *tokens);
  g->plus.n += n;
  return true;
}

/* Tokens that were removed from one side come back if the other side has them. */
static void keep_missing(tsl__gather *g, size_t from, const uint32_t *bits) {
  size_t out = from;
  for (size_t i = from; i < g->minus.n; i++)
    if (!tsl__mask_bit(bits, g->minus.at[i])) g->minus.at[out++] = g->minus.at[i];
  g->minus.n = out;
}

static bool list_base(tsl__space *space, tsl__gather *g, uint32_t bitset) {
  for (size_t i = 0; i < g->bases.n; i++)
    if (g->bases.at[i] == bitset && g->minus.n == 0) return true;
  keep_missing(g, 0, tsl__bitset_at(space, bitset));
  for (size_t i = 0; i < g->bases.n; i++)
    if (g->bases.at[i] == bitset) return true;
  return tsl__vec_push(&space->alloc, &g->bases, bitset) || tsl__space_no_memory(space);
}

static bool in_list(const tsl_token *at, size_t n, tsl_token t) {
  size_t i = tsl__lower_bound(at, n, t);
  return i < n && at[i] == t;
}

/* room for both lists */
#define PACKED_MAX (TSL__PATCH_MAX + 2 * ((TSL_MAX_VOCAB >> TSL__STRETCH) + 1))

/* Into stretches; returns the end. */
static uint16_t *pack(uint16_t *out, const tsl_token *at, size_t n) {
  uint32_t stretch = 0;
  for (size_t begin = 0, end; begin < n; stretch++, begin = end) {
    end = at[n - 1] >> TSL__STRETCH == stretch
              ? n
              : begin + tsl__lower_bound(at + begin, n - begin, (stretch + 1) << TSL__STRETCH);
    *out++ = (uint16_t)(end - begin);
    TSL__AT_ONCE
    for (size_t i = begin; i < end; i++) out[i - begin] = (uint16_t)at[i];
    out += end - begin;
  }
  return out;
}

const tsl_token *tsl__patches_read(tsl__patches p, tsl_token *out) {
  for (uint32_t passed = 0, stretch = 0; passed < p.n; stretch += 1u << TSL__STRETCH) {
    uint32_t n = *p.at++;
    TSL__AT_ONCE
    for (uint32_t i = 0; i < n; i++) out[passed + i] = stretch | p.at[i];
    passed += n;
    p.at += n;
  }
  return out;
}

static bool in_patches(tsl__patches p, tsl_token t) {
  uint32_t stretch = t >> TSL__STRETCH, passed = 0;
  for (; stretch && passed < p.n; stretch--, p.at += *p.at + 1) passed += *p.at;
  if (passed == p.n) return false;
  uint32_t lo = 1, hi = *p.at + 1u, end = hi;
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2;
    if (p.at[mid] < (uint16_t)t)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < end && p.at[lo] == (uint16_t)t;
}

static bool in_bases(const tsl__space *space, const tsl__mask_rec *r, tsl_token t) {
  if (!r->first) return false;
  if (tsl__mask_bit(r->first, t)) return true;
  for (uint32_t i = 1; i < r->base_count; i++)
    if (tsl__mask_bit(tsl__bitset_at(space, tsl__mask_bases(r)[i]), t)) return true;
  return false;
}

/* The same where they are in no order within a stretch. */
static bool in_joined(tsl__patches p, tsl_token t) {
  uint32_t stretch = t >> TSL__STRETCH, passed = 0, found = 0;
  for (; stretch && passed < p.n; stretch--, p.at += *p.at + 1) passed += *p.at;
  if (passed == p.n) return false;
  TSL__AT_ONCE_INTO(|, found)
  for (uint32_t i = 1; i <= *p.at; i++) found |= p.at[i] == (uint16_t)t; /* it is not left early */
  return found;
}

static bool has(const tsl__space *space, const tsl__mask_rec *r, tsl_token t) {
  if (in_bases(space, r, t) && !(r->minus_count && in_patches(tsl__mask_minus(r), t))) return true;
  if (TSL__UNLIKELY(r->joined)) return in_joined(tsl__mask_plus(r), t);
  return r->plus_count && in_patches(tsl__mask_plus(r), t);
}

bool tsl__mask_has(const tsl__space *space, tsl__mask m, tsl_token t) {
  return has(space, tsl__mask_at(space, m), t);
}

/* (A − x) ∪ (B − y) = (A ∪ B) − (x not in B − y) − (y not in A − x); `plus` needs no care: it is
 * added last. */
static bool gather_with_minus(tsl__space *space, tsl__gather *g, tsl__mask m) {
  const tsl__mask_rec *r = tsl__mask_at(space, m);
  tsl_token some[TSL__PATCH_MAX];
  const tsl_token *minus = tsl__patches_read(tsl__mask_minus(r), some);
  size_t own = g->minus.n, out = 0;
  if (!tsl__vec_reserve(&space->alloc, &g->minus, r->minus_count))
    return tsl__space_no_memory(space);
  for (uint32_t i = 0; i < r->minus_count; i++) { /* y: dropped where this side has the token */
    tsl_token t = minus[i];
    bool here = false;
    for (size_t k = 0; k < g->bases.n && !here; k++)
      here = tsl__mask_bit(tsl__bitset_at(space, g->bases.at[k]), t);
    for (size_t k = 0; k < own && here; k++) here = g->minus.at[k] != t;
    if (!here) g->minus.at[g->minus.n++] = t;
  }
  for (size_t k = 0; k < own; k++) { /* x: dropped where the other side has the token */
    tsl_token t = g->minus.at[k];
    bool there = false;
    for (uint32_t i = 0; i < r->base_count && !there; i++)
      there = tsl__mask_bit(tsl__bitset_at(space, tsl__mask_bases(r)[i]), t);
    if (there && !in_list(minus, r->minus_count, t)) continue;
    g->minus.at[out++] = t;
  }
  memmove(g->minus.at + out, g->minus.at + own, (g->minus.n - own) * sizeof *g->minus.at);
  g->minus.n -= own - out;
  for (uint32_t i = 0; i < r->base_count; i++) {
    bool known = false;
    for (size_t k = 0; k < g->bases.n && !known; k++)
      known = g->bases.at[k] == tsl__mask_bases(r)[i];
    if (!known && !tsl__vec_push(&space->alloc, &g->bases, tsl__mask_bases(r)[i]))
      return tsl__space_no_memory(space);
  }
  return true;
}

static bool list_mask(tsl__space *space, tsl__gather *g, tsl__mask m) {
  const tsl__mask_rec *r = tsl__mask_at(space, m);
  if (r->minus_count) {
    if (!gather_with_minus(space, g, m)) return false;
  } else {
    for (uint32_t i = 0; i < r->base_count; i++)
      if (!list_base(space, g, tsl__mask_bases(r)[i])) return false;
  }
  if (!reserve_plus(space, g, r->plus_count)) return false;
  if (r->plus_count) tsl__patches_read(tsl__mask_plus(r), g->plus.at + g->plus.n);
  g->plus.n += r->plus_count;
  return true;
}

/* Move the gathered masks into the lists. */
static bool list_all(tsl__space *space, tsl__gather *g) {
  bool fine = true;
  g->listed = true;
  for (uint32_t i = 0; i < g->mask_count && fine; i++) fine = list_mask(space, g, g->masks[i]);
  memset(g->parts, 0, sizeof g->parts);
  g->mask_count = 0;
  return fine;
}

bool tsl__gather_mask(tsl__space *space, tsl__gather *g, tsl__mask m) {
  uint32_t at = g->mask_count;
  if (m == 0) return true;
  for (uint32_t i = 0; i < at; i++)
    if (g->parts[i] == m) return true;
  if (TSL__UNLIKELY(g->listed || at == TSL__UNION_MAX))
    return list_all(space, g) && list_mask(space, g, m);
  g->masks[g->mask_count++] = m;
  for (; at && g->parts[at - 1] > m; at--) g->parts[at] = g->parts[at - 1];
  g->parts[at] = m;
  return true;
}

bool tsl__gather_tokens(tsl__space *space, tsl__gather *g, const tsl_token *tokens, size_t n) {
  return !n || list_tokens(space, g, tokens, n);
}
bool tsl__gather_token(tsl__space *space, tsl__gather *g, tsl_token token) {
  return tsl__gather_tokens(space, g, &token, 1);
}
bool tsl__gather_base(tsl__space *space, tsl__gather *g, uint32_t bitset) {
  return list_all(space, g) && list_base(space, g, bitset);
}

bool tsl__gather_remove_all(tsl__space *space, tsl__gather *g, const tsl_token *tokens, size_t n) {
  size_t out = 0;
  if (n == 0) return true;
  if (!list_all(space, g)) return false;
  for (size_t i = 0; i < g->plus.n; i++)
    if (!in_list(tokens, n, g->plus.at[i])) g->plus.at[out++] = g->plus.at[i];
  g->plus.n = out;
  if (g->bases.n == 0) return true;
  if (!tsl__vec_reserve(&space->alloc, &g->minus, n)) return tsl__space_no_memory(space);
  memcpy(g->minus.at + g->minus.n, tokens, n * sizeof *tokens);
  g->minus.n += n;
  return true;
}

bool tsl__gather_remove(tsl__space *space, tsl__gather *g, tsl_token token) {
  return tsl__gather_remove_all(space, g, &token, 1);
}

static void set_bits(uint32_t *bits, const tsl_token *at, size_t n) {
  for (size_t i = 0; i < n; i++) tsl__mask_bit_set(bits, at[i]);
}
static void clear_bits(uint32_t *bits, const tsl_token *at, size_t n) {
  for (size_t i = 0; i < n; i++) tsl__mask_bit_clear(bits, at[i]);
}

#define STRETCH_WORDS ((1u << TSL__STRETCH) / 32)

/* Four at once: the loop would cost half as much as the bits. */
static inline void set_patches(uint32_t *bits, tsl__patches p) {
  for (uint32_t passed = 0; passed < p.n; bits += STRETCH_WORDS) {
    uint32_t n = *p.at++;
    const uint16_t *end = p.at + n, *fours = p.at + n / 4 * 4;
    passed += n;
    for (; p.at != fours; p.at += 4)
      for (int i = 0; i < 4; i++) tsl__mask_bit_set(bits, p.at[i]);
    for (; p.at != end; p.at++) tsl__mask_bit_set(bits, *p.at);
  }
}
static inline void clear_patches(uint32_t *bits, tsl__patches p) {
  for (uint32_t passed = 0; passed < p.n; bits += STRETCH_WORDS) {
    uint32_t n = *p.at++;
    passed += n;
    for (const uint16_t *end = p.at + n; p.at != end; p.at++) tsl__mask_bit_clear(bits, *p.at);
  }
}

static inline void patch(const tsl__mask_rec *r, uint32_t *out) {
  clear_patches(out, tsl__mask_minus(r));
  set_patches(out, tsl__mask_plus(r));
}

void tsl__mask_patch(const tsl__mask_rec *r, uint32_t *out) { patch(r, out); }

/* The bitsets, `first` of them given by its words (NULL: there is none). */
static inline void unite_bases(const tsl__space *space, const uint32_t *first,
                               const uint32_t *bases, size_t n, uint32_t *out) {
  size_t words = space->mask_words;
  if (!first)
    memset(out, 0, words * sizeof *out);
  else if (n > 1)
    tsl__mask_unite(out, first, tsl__bitset_at(space, bases[1]), words);
  else
    tsl__mask_copy(out, first, words);
  for (size_t i = 2; i < n; i++) tsl__mask_or(out, tsl__bitset_at(space, bases[i]), words);
}

static inline void put(const tsl__space *space, const tsl__mask_rec *r, uint32_t *out) {
  /* bytes, about: on their way while the bases are copied */
  uint32_t lists = r->base_count * 4u + (r->minus_count + r->plus_count) * 2u;
  for (uint32_t at = 0; at <= lists; at += TSL__LINE) TSL__PREFETCH((const char *)r->lists + at);
  unite_bases(space, r->first, tsl__mask_bases(r), r->base_count, out);
  patch(r, out);
}

void tsl__mask_put(const tsl__space *space, const tsl__mask_rec *r, uint32_t *out) {
  put(space, r, out);
}

TSL__EACH_TOKEN void tsl__mask_write(const tsl__space *space, const tsl__mask_rec *r,
                                     uint32_t *out) {
  const uint32_t *row =
      atomic_load_explicit(&((tsl__mask_rec *)(uintptr_t)r)->row, memory_order_acquire);
  if (row)
    tsl__mask_copy(out, row, space->mask_words);
  else
    put(space, r, out);
}

#define MARKS 4096u    /* words: vocabularies of up to 262,144 tokens */
#define MARKED_MIN 32u /* tokens from which marking is faster than comparing */

/* Sort and drop doubles by merging. Else mark tokens in a bitset, and its words in another, where
 * sorting by comparison takes n log n. */
static size_t sort_tokens(const tsl__space *space, tsl_token *at, size_t n) {
  size_t merged = n < MARKED_MIN ? tsl__sort_unique(at, n) : tsl__sort_runs(at, n);
  if (merged != TSL__NOT_RUNS) return merged;
  uint64_t marks[MARKS], touched[MARKS / 64] = {0};
  size_t words = (space->vocab->size + 63u) / 64, out = 0;
  if (words > MARKS) return tsl__sort_unique(at, n);
  for (size_t i = 0; i < n; i++) { /* a word of marks means nothing before it is touched */
    uint64_t *mark = &marks[at[i] >> 6], *touch = &touched[at[i] >> 12],
             bit = (uint64_t)1 << (at[i] >> 6 & 63);
    *mark = (*touch & bit ? *mark : 0) | (uint64_t)1 << (at[i] & 63);
    *touch |= bit;
  }
  for (size_t k = 0; k < (words + 63) / 64; k++)
    for (uint64_t some = touched[k]; some; some &= some - 1) {
      size_t word = k * 64 + (size_t)__builtin_ctzll(some);
      for (uint64_t bits = marks[word]; bits; bits &= bits - 1)
        at[out++] = (tsl_token)(word * 64 + (size_t)__builtin_ctzll(bits));
    }
  return out;
}

static bool based(const tsl__space *space, const tsl__gather *g, tsl_token t) {
  for (size_t k = 0; k < g->bases.n; k++)
    if (tsl__mask_bit(tsl__bitset_at(space, g->bases.at[k]), t)) return true;
  return false;
}

/* Drop from `plus` what the bases have, before it is sorted: most goes. Who rewrites one mask into
 * another (borrow.c) relies on that, and on the same for `minus`. */
static void drop_based(const tsl__space *space, tsl__gather *g) {
  if (g->bases.n > 1) g->bases.n = tsl__sort_unique(g->bases.at, g->bases.n);
  if (g->minus.n) g->minus.n = g->bases.n ? sort_tokens(space, g->minus.at, g->minus.n) : 0;
  for (size_t k = 0, out = 0; k < g->bases.n; k++, g->plus.n = out, out = 0) {
    const uint32_t *bits = tsl__bitset_at(space, g->bases.at[k]);
    for (size_t i = 0; i < g->plus.n; i++) {
      tsl_token t = g->plus.at[i];
      g->plus.at[out] = t;
      out += !tsl__mask_bit(bits, t) || (g->minus.n && in_list(g->minus.at, g->minus.n, t));
    }
  }
}

/* Sort what is left, and drop from `minus` what is allowed, or in no base. */
static void normalise(tsl__space *space, tsl__gather *g) {
  size_t out = 0, allowed = 0;
  if (g->plus.n > 1) g->plus.n = sort_tokens(space, g->plus.at, g->plus.n);
  for (size_t i = 0; i < g->minus.n; i++) {
    tsl_token t = g->minus.at[i];
    allowed = tsl__bound_from(g->plus.at, g->plus.n, allowed, t);
    if (!(allowed < g->plus.n && g->plus.at[allowed] == t) && based(space, g, t))
      g->minus.at[out++] = t;
  }
  g->minus.n = out;
  /* what is in both lists is simply allowed: it left `minus`, and may stay in `plus` though a base
   * has it */
}

/* Make a bitset of the tokens of the lists and of `marks` (NULL: none). */
static bool make_bitset(tsl__space *space, tsl__gather *g, const uint32_t *marks) {
  size_t words = tsl_vocab_mask_words(space->vocab);
  uint32_t number, *bits = tsl__bits_room(space);
  if (!bits) return false;
  if (marks && !g->bases.n) {
    tsl__mask_copy(bits, marks, words);
  } else {
    unite_bases(space, g->bases.n ? tsl__bitset_at(space, g->bases.at[0]) : NULL, g->bases.at,
                g->bases.n, bits);
    clear_bits(bits, g->minus.at, g->minus.n);
    if (marks) tsl__mask_or(bits, marks, words);
  }
  set_bits(bits, g->plus.at, g->plus.n);
  g->bases.n = g->minus.n = g->plus.n = 0;
  if (!(number = tsl__bitset_settle(space, bits))) return false;
  return tsl__vec_push(&space->alloc, &g->bases, number) || tsl__space_no_memory(space);
}

/* The tokens of a bitset, one by one. */
static bool list_bits(tsl__space *space, tsl__gather *g, const uint32_t *marks) {
  for (size_t w = 0; w < space->mask_words; w++)
    for (uint32_t bits = marks[w]; bits; bits &= bits - 1)
      if (!tsl__gather_token(space, g, (tsl_token)(w * 32 + (size_t)__builtin_ctz(bits))))
        return false;
  return true;
}

bool tsl__gather_bits(tsl__space *space, tsl__gather *g, const uint32_t *marks) {
  size_t n = tsl_mask_count(marks, (size_t)space->mask_words * 32);
  if (!list_all(space, g)) return false;
  if (n > TSL__PATCH_MAX) return make_bitset(space, g, marks);
  return !n || list_bits(space, g, marks);
}

bool tsl__gather_room(tsl__space *space, tsl__gather *g, uint32_t *bits) {
  if (tsl_mask_count(bits, (size_t)space->mask_words * 32) <= TSL__PATCH_MAX)
    return space->spare_bits = bits, list_bits(space, g, bits);
  uint32_t number = tsl__bitset_settle(space, bits);
  return number && tsl__gather_base(space, g, number);
}

/* The lists of patches as they are kept. */
typedef struct packed {
  uint16_t at[PACKED_MAX];
  size_t size; /* bytes */
} packed;

static void pack_lists(const tsl__gather *g, packed *p) {
  uint16_t *end = pack(pack(p->at, g->minus.at, g->minus.n), g->plus.at, g->plus.n);
  p->size = (size_t)(end - p->at) * sizeof *end;
}

static bool same(const tsl__mask_rec *r, const tsl__gather *g, const packed *p) {
  size_t bases = g->bases.n * sizeof *g->bases.at;
  if (r->base_count != g->bases.n || r->minus_count != g->minus.n || r->plus_count != g->plus.n ||
      tsl__mask_lists_size(r) != bases + p->size)
    return false;
  return (!bases || !memcmp(tsl__mask_bases(r), g->bases.at, bases)) &&
         !memcmp(tsl__mask_minus(r).at, p->at, p->size);
}

/* A new mask of the bases gathered and these lists, `size` bytes; NULL on failure. */
static tsl__mask_rec *add_record(tsl__space *space, const tsl__gather *g, const uint16_t *patches,
                                 size_t size) {
  tsl__mask_rec *r = tsl__pool_add(&space->masks.pool, &space->kept);
  uint32_t *lists = r ? tsl__arena_alloc(&space->arena, g->bases.n * sizeof *lists + size) : NULL;
  if (!lists) return tsl__space_no_memory(space), NULL;
  r->first = g->bases.n ? tsl__bitset_at(space, g->bases.at[0]) : NULL;
  r->lists = lists;
  r->base_count = (uint8_t)g->bases.n;
  r->minus_count = (uint8_t)g->minus.n;
  r->plus_count = (uint16_t)g->plus.n;
  if (g->bases.n) memcpy(lists, g->bases.at, g->bases.n * sizeof *lists);
  memcpy(lists + g->bases.n, patches, size);
  r->number = tsl__space_count(space, masks) - 1;
  return r;
}

static tsl__mask intern(tsl__space *space, tsl__gather *g) {
  packed p;
  /* then the layer below can't know it */
  bool own = g->bases.n && g->bases.at[g->bases.n - 1] >= space->bitsets.first;
  pack_lists(g, &p);
  uint64_t hash = tsl__hash(p.at, p.size) ^
                  tsl__mix(tsl__hash(g->bases.at, g->bases.n * sizeof *g->bases.at) + g->minus.n);
  for (const tsl__space *layer = space; layer; layer = own ? NULL : layer->parent) {
    tsl__index_iter it = tsl__index_first(&layer->masks.index, hash);
    for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;)
      if (same(tsl__mask_at(space, i), g, &p)) return i;
  }
  const tsl__mask_rec *r = add_record(space, g, p.at, p.size);
  if (!r) return 0;
  return tsl__index_add(&space->masks.index, &space->alloc, hash, r->number)
             ? r->number
             : (tsl__space_no_memory(space), 0u);
}

/* ---- unions ---------------------------------------------------------------------------------- */

/* The masks and tokens that were gathered, in order. */
static inline void list_parts(const tsl__gather *g, tsl__union *u) {
  memcpy(u->parts, g->parts, sizeof u->parts);
  for (size_t k = 0; k < g->plus.n; k++) {
    uint32_t part = TSL__UNION_TOKEN | g->plus.at[k];
    size_t i = g->mask_count + k;
    /* not past a mask, which is less */
    for (; u->parts[i - 1] > part; i--) u->parts[i] = u->parts[i - 1];
    u->parts[i] = part;
  }
}

/* Does one of the masks have it? */
static bool have(const tsl__space *space, const tsl__gather *g, tsl_token t) {
  for (uint32_t i = 0; i < g->mask_count; i++)
    if (has(space, tsl__mask_at(space, g->masks[i]), t)) return true;
  return false;
}

/* Do the masks have all the tokens beside them? Mostly they have all or none. */
static bool have_all(const tsl__space *space, const tsl__gather *g) {
  for (size_t i = 0; i < g->plus.n; i++)
    if (!have(space, g, g->plus.at[i])) return false;
  return true;
}

/* ---- joined masks ---------------------------------------------------------------------------- */

/* room for both lists */
#define JOINED_ROOM (TSL__PATCH_MAX + TSL__JOINED_MAX + 2 * ((TSL_MAX_VOCAB >> TSL__STRETCH) + 1))

/* tokens that a mask lacks of its bases, up to which each is looked for elsewhere */
#define MADE_GOOD_MAX 4u

/* Is what one of the masks lacks of its bases in another, or among the tokens beside? So it is with
 * any text but a name, beside that name: of it, its quote. */
static bool is_made_good(const tsl__space *space, const tsl__gather *g, uint32_t lacking) {
  const tsl__mask_rec *r = tsl__mask_at(space, g->masks[lacking]);
  tsl_token minus[MADE_GOOD_MAX];
  if (r->minus_count > MADE_GOOD_MAX) return false;
  tsl__patches_read(tsl__mask_minus(r), minus);
  for (uint32_t k = 0; k < r->minus_count; k++) {
    bool found = false;
    for (size_t i = 0; i < g->plus.n && !found; i++) found = g->plus.at[i] == minus[k];
    for (uint32_t i = 0; i < g->mask_count && !found; i++)
      found = i != lacking && has(space, tsl__mask_at(space, g->masks[i]), minus[k]);
    if (!found) return false;
  }
  return true;
}

/* Has none of the others a base? What that mask lacks of its own is then in their lists or nowhere,
 * and these come last. So it is with a text of a limited length, beside what follows it. */
static bool has_bases_alone(const tsl__space *space, const tsl__gather *g, uint32_t number) {
  for (uint32_t i = 0; i < g->mask_count; i++)
    if (i != number && tsl__mask_at(space, g->masks[i])->base_count) return false;
  return true;
}

/* The bases of the masks gathered. */
static bool join_bases(tsl__space *space, tsl__gather *g) {
  for (uint32_t i = 0; i < g->mask_count; i++) {
    const tsl__mask_rec *r = tsl__mask_at(space, g->masks[i]);
    for (uint32_t k = 0; k < r->base_count; k++)
      if (!tsl__vec_push(&space->alloc, &g->bases, tsl__mask_bases(r)[k]))
        return tsl__space_no_memory(space);
  }
  if (g->bases.n > 1) g->bases.n = tsl__sort_unique(g->bases.at, g->bases.n);
  return true;
}

/* Their lists and the tokens beside them, `n` in all, one behind the other in each stretch; returns
 * the end. */
static uint16_t *join_lists(const tsl__space *space, const tsl__gather *g, size_t n,
                            uint16_t *out) {
  tsl__patches rest[TSL__UNION_MAX]; /* of each mask: how many are left, and where */
  for (uint32_t i = 0; i < g->mask_count; i++)
    rest[i] = tsl__mask_plus(tsl__mask_at(space, g->masks[i]));
  for (uint32_t stretch = 0; n; stretch++) {
    uint16_t *count = out++, *begin = out;
    for (uint32_t i = 0; i < g->mask_count; i++) {
      if (!rest[i].n) continue;
      uint32_t some = *rest[i].at++;
      memcpy(out, rest[i].at, some * sizeof *out);
      out += some;
      rest[i].at += some;
      rest[i].n -= some;
    }
    for (size_t i = 0; i < g->plus.n; i++)
      if (g->plus.at[i] >> TSL__STRETCH == stretch) *out++ = (uint16_t)g->plus.at[i];
    *count = (uint16_t)(out - begin);
    n -= *count;
  }
  return out;
}

/* A new mask without a row: its bases of the vocabulary's layer become one, if there is one for
 * them. */
static void unite_common(tsl__space *space, tsl__mask_rec *r) {
  uint32_t *lists = (uint32_t *)(uintptr_t)r->lists, n = 0;
  while (n < r->base_count && lists[n] < space->bitsets.first) n++;
  uint32_t number = n > 1 ? space->layer->shared_base(space, lists, n) : 0;
  if (!number) return;
  memmove(lists + 1, lists + n, tsl__mask_lists_size(r) - n * sizeof *lists);
  lists[0] = number;
  r->first = tsl__bitset_at(space, number);
  r->base_count = (uint8_t)(r->base_count - n + 1);
}

/* The bases gathered but for what they lack, the masks' lists and the tokens beside them, `n` in
 * all, as one mask. 0 on failure (sticky). */
static tsl__mask add_joined(tsl__space *space, tsl__gather *g, tsl__patches minus, size_t n) {
  uint16_t at[JOINED_ROOM], *end = at;
  for (uint32_t passed = 0; passed < minus.n;
       passed += *minus.at, minus.at += *minus.at + 1, end += *end + 1)
    memcpy(end, minus.at, (*minus.at + 1u) * sizeof *end);
  end = join_lists(space, g, n, end);
  tsl__mask_rec *r = add_record(space, g, at, (size_t)(end - at) * sizeof *end);
  if (!r) return 0;
  r->minus_count = (uint8_t)minus.n;
  r->plus_count = (uint16_t)n;
  r->joined = true;
  tsl__mask number = tsl__space_count(space, masks) - 1;
  tsl__mask_share(space, number);
  if (!atomic_load_explicit(&r->row, memory_order_relaxed)) unite_common(space, r);
  return space->status == TSL_OK ? number : 0;
}

/* The masks and tokens gathered as one mask; 0: that is not done, or on failure (sticky). */
static tsl__mask join(tsl__space *space, tsl__gather *g) {
  size_t n = g->plus.n, bases = 0;
  tsl__patches minus = {NULL, 0};
  for (uint32_t i = 0; i < g->mask_count; i++) {
    const tsl__mask_rec *r = tsl__mask_at(space, g->masks[i]);
    if (r->minus_count && !is_made_good(space, g, i)) {
      if (!has_bases_alone(space, g, i)) return 0;
      minus = tsl__mask_minus(r);
    }
    n += r->plus_count;
    bases += r->base_count;
  }
  return n <= TSL__JOINED_MAX && bases <= TSL__BASES_MAX && join_bases(space, g)
             ? add_joined(space, g, minus, n)
             : 0;
}

/* The mask of what is in the lists. A position's is not sorted where it has many tokens: nobody
 * else will have it. */
static tsl__mask made_of_lists(tsl__space *space, tsl__gather *g, bool joined) {
  if (g->bases.n == 0 && g->plus.n == 0) return 0;
  bool many = g->minus.n + g->plus.n > 4 * TSL__PATCH_MAX; /* not worth sorting */
  if (!many) {
    drop_based(space, g);
    joined = joined && !g->minus.n && g->plus.n >= MARKED_MIN && g->bases.n <= TSL__BASES_MAX;
    if (joined && g->plus.n <= TSL__JOINED_MAX)
      return add_joined(space, g, (tsl__patches){NULL, 0}, g->plus.n);
    normalise(space, g);
  }
  if ((many || g->minus.n + g->plus.n > TSL__PATCH_MAX || g->bases.n > TSL__BASES_MAX) &&
      !make_bitset(space, g, NULL))
    return 0;
  return intern(space, g);
}

/* ---- done ------------------------------------------------------------------------------------ */

/* A union that is not known yet. */
static TSL__SELDOM tsl__mask unite(tsl__space *space, tsl__gather *g, tsl__union *u, uint64_t hash,
                                   bool joined) {
  u->all = joined ? join(space, g) : 0;
  if (!u->all && space->status == TSL_OK && list_all(space, g))
    u->all = made_of_lists(space, g, joined);
  return u->all && tsl__union_add(space, u, hash) ? u->all : 0;
}

static inline bool is_single(const tsl__gather *g) {
  return !g->listed && g->mask_count <= 1 && g->plus.n == 0;
}

static TSL__SELDOM tsl__mask made(tsl__space *space, tsl__gather *g, bool joined) {
  if (!g->mask_count || g->mask_count + g->plus.n > TSL__UNION_MAX)
    return list_all(space, g) ? made_of_lists(space, g, joined) : 0;
  tsl__union u;
  list_parts(g, &u);
  uint64_t hash;
  tsl__mask known = tsl__union_find(space, &u, &hash);
  return known ? known : unite(space, g, &u, hash, joined);
}

tsl__mask tsl__gather_done(tsl__space *space, tsl__gather *g) {
  if (space->status != TSL_OK) return 0;
  return is_single(g) ? g->parts[0] : made(space, g, false);
}

/* Tokens that the masks have are dropped: their lists would hold them twice. Elsewhere that is
 * seldom, and seen when they are sorted. */
tsl__mask tsl__gather_joined(tsl__space *space, tsl__gather *g) {
  if (space->status != TSL_OK) return 0;
  if (g->mask_count && g->plus.n && have_all(space, g)) g->plus.n = 0;
  return is_single(g) ? g->parts[0] : made(space, g, true);
}
