/* tables.c - the tokenizer's tables as a whole: checking, naming, freeing.
 *
 * Checking  Tables that come out of a cache file are not believed. Every id must be one of the
 *           vocabulary, and every text must lie within the pool. Every enumeration must have a
 *           value that exists. Every table of slots must have a free one, at which a search ends.
 * Naming    The hash goes over the numbers in a fixed order of bytes, so that a vocabulary has one
 *           identity on all machines. A table under a drawn key lies differently each time. So the
 *           hashes of its slots are added up, which does not depend on their order.
 * Example   Slots A, B and free against B, free and A: both sums are hash(A) + hash(B) +
 *           hash(free).
 * Cost      One pass over the tables for each.
 * Tested by tests/vocab_files/test_vocab_files.c, tests/vocab_files/test_vocab_hostile.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tokenizer/tokenizer.h"

static bool known(tsl_token id, uint32_t size) { return id < size || id == TSL_NO_TOKEN; }

static bool check_facts(const tsl__span *span, uint32_t size) {
  const tsl__tok_facts *f = span->at;
  if (span->size != sizeof *f || f->units > TSL__UNITS_NONE || !known(f->unknown, size))
    return false;
  for (unsigned b = 0; b < 256; b++)
    if (!known(f->bytes[b], size)) return false;
  return true;
}

/* A search ends at a free slot, so every table needs one. These tables are large, and which slots
 * are free is as good as random: nothing here branches on a slot. */
static bool check_merges(const tsl__span *span, uint32_t size) {
  const tsl__merge *m = span->at;
  size_t n = span->size / sizeof *m, used = 0;
  uint32_t bad = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t occupied = m[i].left != TSL_NO_TOKEN;
    used += occupied;
    bad |= occupied & ((uint32_t)(m[i].left >= size) | (uint32_t)(m[i].right >= size) |
                       (uint32_t)(m[i].result >= size));
  }
  return !bad && span->size % sizeof *m == 0 && n <= UINT32_MAX && (!n || used < n);
}

static bool check_lookup(const tsl__span *span, uint32_t size) {
  const uint32_t *slots = span->at;
  size_t n = span->size / sizeof *slots, used = 0;
  uint32_t bad = 0;
  for (size_t i = 0; i < n; i++) {
    used += slots[i] != 0;
    bad |= slots[i] > size;
  }
  return !bad && span->size % sizeof *slots == 0 && n <= UINT32_MAX && (!n || used < n);
}

static bool check_points(const tsl__span *span, uint32_t size) {
  const tsl__point *p = span->at;
  size_t n = span->size / sizeof *p, used = 0;
  uint32_t bad = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t occupied = p[i].id != TSL_NO_TOKEN;
    used += occupied;
    bad |= occupied & (uint32_t)(p[i].id >= size);
  }
  return !bad && span->size % sizeof *p == 0 && n <= UINT32_MAX && (!n || used < n);
}

static bool in_pool(uint32_t at, uint32_t length, size_t pool) {
  return (uint64_t)at + length <= pool;
}

/* How a step splits, or when it prepends, is a number of its own kind. */
static bool check_steps(const tsl__span *span, size_t pool) {
  const tsl__step *s = span->at;
  for (size_t i = 0; i < span->size / sizeof *s; i++) {
    if (s[i].kind > TSL__STEP_SPLIT_REGEX || s[i].how > TSL__SPLIT_CONTIGUOUS ||
        s[i].dialect > TSL__DIALECT_RUST)
      return false;
    if (s[i].normaliser && s[i].kind >= TSL__STEP_SPLIT_TEXT) return false;
    if (!in_pool(s[i].text, s[i].text_length, pool) ||
        !in_pool(s[i].content, s[i].content_length, pool))
      return false;
  }
  return span->size % sizeof *s == 0;
}

static bool check_added(const tsl__span *span, uint32_t size, size_t pool) {
  const tsl__added *t = span->at;
  for (size_t i = 0; i < span->size / sizeof *t; i++)
    if (t[i].id >= size || !in_pool(t[i].text, t[i].text_length, pool)) return false;
  return span->size % sizeof *t == 0 && span->size / sizeof *t <= TSL_MAX_VOCAB;
}

static bool check_bos(const tsl__span *span, uint32_t size) {
  const tsl_token *ids = span->at;
  for (size_t i = 0; i < span->size / sizeof *ids; i++)
    if (ids[i] >= size) return false;
  return span->size % sizeof *ids == 0;
}

/* One rank for each token where there are ranks, and ranks where they are looked up. */
static bool check_ranks(const tsl__span *span, const tsl__tok_facts *f, uint32_t size) {
  const uint32_t *ranks = span->at;
  for (uint32_t i = 0; span->size && i < size && span->size == (size_t)size * sizeof *ranks; i++)
    if (ranks[i] == UINT32_MAX) return false;
  return span->size == (f->units == TSL__UNITS_SCORES ? (size_t)size * sizeof *ranks : 0);
}

bool tsl__tok_tables_check(const tsl__tok_tables *t, uint32_t size) {
  const tsl__span *s = t->span;
  return check_facts(&s[TSL__SPAN_FACTS], size) && check_merges(&s[TSL__SPAN_MERGES], size) &&
         check_lookup(&s[TSL__SPAN_LOOKUP], size) && check_points(&s[TSL__SPAN_POINTS], size) &&
         check_steps(&s[TSL__SPAN_STEPS], s[TSL__SPAN_POOL].size) &&
         check_added(&s[TSL__SPAN_ADDED], size, s[TSL__SPAN_POOL].size) &&
         check_bos(&s[TSL__SPAN_BOS], size) &&
         check_ranks(&s[TSL__SPAN_RANKS], s[TSL__SPAN_FACTS].at, size);
}

/* Of a table under a drawn key: its slots in whatever order they lie, so that a file has one
 * name. */
static void hash_slots(const tsl__span *span, size_t slot, uint8_t hash[16]) {
  uint64_t sum[2] = {0}, half[2];
  for (size_t at = 0; at < span->size; at += slot) {
    uint8_t one[16] = {0};
    tsl__hash128_chain_u32(one, (const uint32_t *)((const uint8_t *)span->at + at), slot / 4);
    memcpy(half, one, sizeof half);
    for (int i = 0; i < 2; i++) sum[i] += half[i];
  }
  tsl__hash128_chain(hash, sum, sizeof sum);
}

/* The size of a slot of a table under a drawn key, else 0. */
static size_t drawn_slot(const tsl__tok_facts *f, int span) {
  if (span == TSL__SPAN_MERGES && f->merges_key.second) return sizeof(tsl__merge);
  if (span == TSL__SPAN_LOOKUP && f->lookup_key.second) return sizeof(uint32_t);
  return span == TSL__SPAN_POINTS && f->points_key.second ? sizeof(tsl__point) : 0;
}

/* All tables but the pool are 32-bit numbers. */
void tsl__tok_tables_hash(const tsl__tok_tables *t, uint8_t hash[16]) {
  const tsl__tok_facts *f = tsl__tok_facts_of(t);
  memset(hash, 0, 16);
  for (int i = 0; i < TSL__SPAN_COUNT; i++) {
    const size_t n =
        (i == TSL__SPAN_FACTS ? offsetof(tsl__tok_facts, merges_key) : t->span[i].size) / 4;
    const uint32_t words = (uint32_t)n;
    /* a vocabulary without ranks is named as before there were any */
    if (i == TSL__SPAN_RANKS && !words) continue;
    tsl__hash128_chain_u32(hash, &words, 1);
    if (i == TSL__SPAN_POOL)
      tsl__hash128_chain(hash, t->span[i].at, t->span[i].size);
    else if (drawn_slot(f, i))
      hash_slots(&t->span[i], drawn_slot(f, i), hash);
    else
      tsl__hash128_chain_u32(hash, t->span[i].at, n);
  }
}

void tsl__tok_tables_free(tsl__tok_tables *t, const tsl_allocator *a) {
  for (int i = 0; i < TSL__SPAN_COUNT; i++) tsl__free(a, t->span[i].at, t->span[i].size);
  memset(t, 0, sizeof *t);
}
