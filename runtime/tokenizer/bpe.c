/* bpe.c - byte pair encoding of one piece of text.
 *
 * Problem   Merge neighbouring symbols, always the pair of the lowest rank (leftmost of equals),
 *           until no pair is in the table. The textbook loop is quadratic, and in vocabularies
 *           without pre-tokenisation (Gemma) a piece is the whole text.
 * Idea      Symbols are a linked list in an array; pairs wait in a binary heap of (rank, index of
 *           the left symbol), one 64-bit number each. A symbol remembers the rank of its current
 *           pair, so a heap entry that does not say the same is stale and is dropped.
 *
 * Example   "lower", merges lo=0, er=1, lo+w=2:  l o w e r -> lo w e r -> lo w er -> low er
 * Cost      O(n log n) for n symbols, and 52 bytes of work memory for each (28 for the symbol, up
 *           to three heap entries of 8).
 * Tables    Merges and tokens are found by open addressing with linear probing at a load of two
 *           thirds. A slot index is a 32-bit hash times the number of slots, shifted down, so that
 *           tables need not be powers of two.
 * Crowds    Whoever knows the hash can write a file whose tokens all want the same few slots. In a
 *           table of real tokens at most 200 neighbouring slots are full. A table where a search
 *           passes CROWD of them, or would, is filled anew with random numbers in its hashes. So
 *           the tables of real files are the same each time, and no file makes a search long.
 *
 * Tested by tests/tokenizer/test_encode.c, tests/vocab_files/test_vocab_files.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/tokenizer/tokenizer.h"

/* ---- tables ---------------------------------------------------------------------------------- */

static uint32_t slot_of(uint64_t hash, uint32_t slots) {
  return (uint32_t)((hash >> 32) * slots >> 32);
}
static uint32_t after(uint32_t slot, uint32_t slots) { return slot + 1 == slots ? 0 : slot + 1; }

#define CROWD 512u /* occupied slots in a row that no table of real tokens has */

void tsl__slot_key_draw(tsl__slot_key *key) {
  uint8_t secret[TSL__SECRET];
  if (!tsl__secret_draw(secret)) memset(secret, 0, sizeof secret);
  memcpy(key, secret, sizeof *key);
  key->second |= 1; /* not that of a table under no key */
}

static bool is_drawn(const tsl__slot_key *key) { return key->second != 0; }

static uint64_t mix(const tsl__slot_key *key, uint64_t x) {
  uint64_t h = tsl__mix(x ^ key->first);
  return is_drawn(key) ? tsl__mix(h ^ key->second) : h;
}

/* Are CROWD neighbouring slots full, the first of which is a multiple of that? A slot has `step`
 * numbers, whose first is `vacant` in a free one. */
static bool is_crowded(const uint32_t *slots, uint32_t n, size_t step, uint32_t vacant) {
  for (size_t first = 0; first + CROWD <= n; first += CROWD) {
    size_t occupied = 0;
    while (occupied < CROWD && slots[(first + occupied) * step] != vacant) occupied++;
    if (occupied == CROWD) return true;
  }
  return false;
}

static uint32_t first_merge_slot(uint32_t n, const tsl__slot_key *key, tsl_token left,
                                 tsl_token right) {
  return slot_of(mix(key, (uint64_t)left << 32 | right), n);
}

static bool is_other_merge(const tsl__merge *slot, tsl_token left, tsl_token right) {
  return slot->left != TSL_NO_TOKEN && (slot->left != left || slot->right != right);
}

bool tsl__merge_put(tsl__merge *slots, uint32_t n, const tsl__slot_key *key, tsl__merge m) {
  uint32_t at = first_merge_slot(n, key, m.left, m.right), passed = 0;
  for (; is_other_merge(&slots[at], m.left, m.right); at = after(at, n))
    if (++passed > CROWD && !is_drawn(key)) return false;
  slots[at] = m;
  return true;
}

void tsl__merge_expect(const tsl__merge *slots, uint32_t n, const tsl__slot_key *key,
                       tsl_token left, tsl_token right) {
  TSL__PREFETCH(&slots[first_merge_slot(n, key, left, right)]);
}

const tsl__merge *tsl__merge_find(const tsl__merge *slots, uint32_t n, const tsl__slot_key *key,
                                  tsl_token left, tsl_token right) {
  if (!n) return NULL;
  uint32_t at = first_merge_slot(n, key, left, right);
  while (is_other_merge(&slots[at], left, right)) at = after(at, n);
  return slots[at].left == TSL_NO_TOKEN ? NULL : &slots[at];
}

bool tsl__merges_crowded(const tsl__merge *slots, uint32_t n, const tsl__slot_key *key) {
  return !is_drawn(key) &&
         is_crowded(&slots->left, n, sizeof *slots / sizeof slots->left, TSL_NO_TOKEN);
}

tsl_token tsl__point_find(const tsl__tok_tables *t, uint32_t cp) {
  const tsl__span *span = &t->span[TSL__SPAN_POINTS];
  const tsl__point *slots = span->at;
  uint32_t n = (uint32_t)(span->size / sizeof *slots);
  if (!n) return TSL_NO_TOKEN;
  uint32_t at = slot_of(mix(&tsl__tok_facts_of(t)->points_key, cp), n);
  while (slots[at].id != TSL_NO_TOKEN && slots[at].cp != cp) at = after(at, n);
  return slots[at].id;
}

/* False: crowded. */
static bool fill_points(tsl__point *slots, uint32_t n, const tsl__slot_key *key,
                        const tsl__point *points, size_t count) {
  memset(slots, 0xFF, n * sizeof *slots);
  for (size_t i = 0; i < count; i++) {
    uint32_t at = slot_of(mix(key, points[i].cp), n), passed = 0;
    for (; slots[at].id != TSL_NO_TOKEN && slots[at].cp != points[i].cp; at = after(at, n))
      if (++passed > CROWD && !is_drawn(key)) return false;
    if (slots[at].id == TSL_NO_TOKEN) slots[at] = points[i];
  }
  return is_drawn(key) ||
         !is_crowded(&slots->id, n, sizeof *slots / sizeof slots->id, TSL_NO_TOKEN);
}

bool tsl__points_build(tsl__vocab_builder *b, const tsl__point *points, size_t count) {
  uint32_t n = tsl__slots_for(count);
  tsl__point *slots = tsl__alloc(b->alloc, n * sizeof *slots);
  if (!slots) return false;
  while (!fill_points(slots, n, &b->facts.points_key, points, count))
    tsl__slot_key_draw(&b->facts.points_key);
  b->tables.span[TSL__SPAN_POINTS] = (tsl__span){slots, n * sizeof *slots};
  return true;
}

static uint32_t first_bytes_slot(uint32_t n, const tsl__slot_key *key, const uint8_t *text,
                                 uint32_t length) {
  return slot_of(XXH3_64bits_withSeed(text, length, key->first), n);
}

/* Does this slot hold a token that spells something else? */
static bool is_other_token(uint32_t slot, const uint8_t *bytes, const uint32_t *offsets,
                           const uint8_t *text, uint32_t length) {
  if (!slot) return false;
  uint32_t id = slot - 1;
  return offsets[id + 1] - offsets[id] != length || memcmp(bytes + offsets[id], text, length);
}

tsl_token tsl__lookup_bytes(const tsl__tok_tables *t, const tsl_vocab *v, const uint8_t *text,
                            uint32_t length) {
  const tsl__span *span = &t->span[TSL__SPAN_LOOKUP];
  const uint32_t *slots = span->at;
  uint32_t n = (uint32_t)(span->size / sizeof *slots);
  if (!n) return TSL_NO_TOKEN;
  uint32_t at = first_bytes_slot(n, &tsl__tok_facts_of(t)->lookup_key, text, length);
  while (is_other_token(slots[at], v->bytes, v->offsets, text, length)) at = after(at, n);
  return slots[at] - 1; /* 0 - 1 is TSL_NO_TOKEN */
}

/* False: crowded. */
static bool fill_lookup(const tsl__vocab_builder *b, uint32_t *slots, uint32_t n, uint32_t size,
                        const uint8_t *take) {
  const tsl__slot_key *key = &b->facts.lookup_key;
  memset(slots, 0, n * sizeof *slots);
  for (uint32_t id = 0; id < size; id++) {
    const uint8_t *text = b->bytes.at + b->offsets.at[id];
    uint32_t length = b->offsets.at[id + 1] - b->offsets.at[id], passed = 0;
    if (!take[id] || !length) continue;
    uint32_t at = first_bytes_slot(n, key, text, length);
    for (; is_other_token(slots[at], b->bytes.at, b->offsets.at, text, length); at = after(at, n))
      if (++passed > CROWD && !is_drawn(key)) return false;
    if (!slots[at]) slots[at] = id + 1;
  }
  return is_drawn(key) || !is_crowded(slots, n, 1, 0);
}

bool tsl__lookup_build(tsl__vocab_builder *b, uint32_t size, const uint8_t *take) {
  size_t occupied = 0;
  for (uint32_t id = 0; id < size; id++)
    occupied += take[id] && b->offsets.at[id + 1] > b->offsets.at[id];
  uint32_t n = tsl__slots_for(occupied), *slots = tsl__alloc(b->alloc, n * sizeof *slots);
  if (!slots) return false;
  while (!fill_lookup(b, slots, n, size, take)) tsl__slot_key_draw(&b->facts.lookup_key);
  b->tables.span[TSL__SPAN_LOOKUP] = (tsl__span){slots, n * sizeof *slots};
  return true;
}

size_t tsl__lookup_count(const tsl__tok_tables *t) {
  const tsl__span *span = &t->span[TSL__SPAN_LOOKUP];
  const uint32_t *slots = span->at;
  size_t found = 0;
  for (size_t i = 0; i < span->size / sizeof *slots; i++) found += slots[i] != 0;
  return found;
}

/* ---- symbols --------------------------------------------------------------------------------- */

/* The piece that is being merged. */
typedef struct merger {
  const tsl__bpe_tokenizer *t;
  const tsl__tok_facts *facts;
  const tsl_vocab *vocab;
  const uint8_t *piece;
  tsl__encode_work *work;
  const tsl__merge *merges;
  uint32_t merge_slots;
  /* the last symbol stands for text that is no token: the unknown token may be a token of text as
   * well */
  bool after_unknown;
} merger;

/* There is room for a symbol per byte. */
static void add_symbol(merger *m, tsl_token id, uint32_t start, uint32_t length) {
  uint32_t i = (uint32_t)m->work->symbols.n++;
  /* 0 - 1 is TSL__NO_SYMBOL */
  m->work->symbols.at[i] = (tsl__symbol){id, i - 1, i + 1, start, length, UINT32_MAX, TSL_NO_TOKEN};
  m->after_unknown = false;
}

static bool add_bytes(merger *m, uint32_t start, uint32_t length) {
  for (uint32_t i = start; i < start + length; i++)
    if (m->facts->bytes[m->piece[i]] == TSL_NO_TOKEN) return false;
  for (uint32_t i = start; i < start + length; i++)
    add_symbol(m, m->facts->bytes[m->piece[i]], i, 1);
  return true;
}

static bool add_unknown(merger *m, uint32_t start, uint32_t length) {
  if (m->facts->unknown == TSL_NO_TOKEN) return false;
  if (m->facts->fuse_unknown && m->after_unknown)
    m->work->symbols.at[m->work->symbols.n - 1].length += length;
  else
    add_symbol(m, m->facts->unknown, start, length);
  m->after_unknown = true;
  return true;
}

/* Code points that are no token stay one symbol without an id: with a neighbour they may become a
 * token. */
static void add_scored(merger *m, uint32_t length) {
  for (uint32_t at = 0, n; at < length; at += n) {
    uint32_t cp;
    n = tsl__utf8_decode(m->piece + at, length - at, &cp);
    add_symbol(m, n ? tsl__point_find(&m->t->tables, cp) : TSL_NO_TOKEN, at, n ? n : 1);
    if (!n) n = 1;
  }
}

static bool add_points(merger *m, uint32_t length) {
  for (uint32_t at = 0, n; at < length; at += n) {
    uint32_t cp;
    n = tsl__utf8_decode(m->piece + at, length - at, &cp);
    tsl_token id = n ? tsl__point_find(&m->t->tables, cp) : TSL_NO_TOKEN;
    if (!n) n = 1;
    if (id != TSL_NO_TOKEN)
      add_symbol(m, id, at, n);
    else if (!add_bytes(m, at, n) && !add_unknown(m, at, n))
      return false;
  }
  return true;
}

/* ---- merging --------------------------------------------------------------------------------- */

static void heap_push(tsl__encode_work *w, uint64_t x) {
  size_t i = w->heap.n++;
  for (uint64_t *h = w->heap.at; i && h[(i - 1) / 2] > x; i = (i - 1) / 2) h[i] = h[(i - 1) / 2];
  w->heap.at[i] = x;
}

static uint64_t heap_pop(tsl__encode_work *w) {
  uint64_t *h = w->heap.at, top = h[0], x = h[--w->heap.n];
  size_t n = w->heap.n, i = 0;
  for (size_t child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && h[child + 1] < h[child]) child++;
    if (h[child] >= x) break;
    h[i] = h[child];
  }
  h[i] = x;
  return top;
}

/* Look up what symbol i and the next one make; wait in the heap if they make something. */
static void offer(merger *m, uint32_t i) {
  tsl__symbol *s = m->work->symbols.at, *left = &s[i],
              *right = left->next == TSL__NO_SYMBOL ? NULL : &s[left->next];
  left->rank = UINT32_MAX;
  if (!right) return;
  if (m->facts->units == TSL__UNITS_RANKS) {
    left->rank = left->result = tsl__lookup_bytes(&m->t->tables, m->vocab, m->piece + left->start,
                                                  left->length + right->length);
  } else if (m->facts->units == TSL__UNITS_SCORES) {
    const uint32_t *ranks = m->t->tables.span[TSL__SPAN_RANKS].at;
    left->result = tsl__lookup_bytes(&m->t->tables, m->vocab, m->piece + left->start,
                                     left->length + right->length);
    if (left->result != TSL_NO_TOKEN) left->rank = ranks[left->result];
  } else {
    const tsl__merge *merge =
        tsl__merge_find(m->merges, m->merge_slots, &m->facts->merges_key, left->id, right->id);
    if (merge) left->rank = merge->rank, left->result = merge->result;
  }
  if (left->rank != UINT32_MAX) heap_push(m->work, (uint64_t)left->rank << 32 | i);
}

static void merge_at(merger *m, uint32_t i) {
  tsl__symbol *s = m->work->symbols.at, *left = &s[i], *right = &s[left->next];
  left->id = left->result;
  left->length += right->length;
  left->next = right->next;
  right->rank = UINT32_MAX;
  if (left->next != TSL__NO_SYMBOL) s[left->next].previous = i;
  offer(m, i);
  if (left->previous != TSL__NO_SYMBOL) offer(m, left->previous);
}

static void merge_all(merger *m) {
  tsl__encode_work *w = m->work;
  w->symbols.at[w->symbols.n - 1].next = TSL__NO_SYMBOL;
  for (uint32_t i = 0; i + 1 < w->symbols.n; i++) offer(m, i);
  while (w->heap.n) {
    uint64_t top = heap_pop(w);
    if (w->symbols.at[(uint32_t)top].rank == (uint32_t)(top >> 32)) merge_at(m, (uint32_t)top);
  }
}

/* ---- results --------------------------------------------------------------------------------- */

/* A symbol without an id: its bytes' tokens, else the unknown token, once for neighbours where the
 * model says so. */
static bool put_unknown(const merger *m, const tsl__symbol *symbol, bool *after_unknown,
                        tsl__id_sink *sink) {
  const uint8_t *s = m->piece + symbol->start;
  bool spelled = true;
  for (uint32_t i = 0; i < symbol->length; i++)
    spelled = spelled && m->facts->bytes[s[i]] != TSL_NO_TOKEN;
  for (uint32_t i = 0; spelled && i < symbol->length; i++) tsl__id_put(sink, m->facts->bytes[s[i]]);
  if (!spelled && m->facts->unknown == TSL_NO_TOKEN) return false;
  if (!spelled && !(m->facts->fuse_unknown && *after_unknown)) tsl__id_put(sink, m->facts->unknown);
  *after_unknown = !spelled;
  return true;
}

static bool put_all(const merger *m, tsl__id_sink *sink) {
  const tsl__symbol *s = m->work->symbols.at;
  bool after_unknown = false;
  for (uint32_t i = 0; i != TSL__NO_SYMBOL; i = s[i].next) {
    if (s[i].id == TSL_NO_TOKEN && !put_unknown(m, &s[i], &after_unknown, sink)) return false;
    if (s[i].id == TSL_NO_TOKEN) continue;
    tsl__id_put(sink, s[i].id);
    after_unknown = false;
  }
  return true;
}

/* Byte by byte, as HF does: one that is no token is the unknown token, where there is one. */
static bool add_single_bytes(merger *m, uint32_t length) {
  for (uint32_t at = 0; at < length; at++)
    if (!add_bytes(m, at, 1) && !add_unknown(m, at, 1)) return false;
  return true;
}

/* The symbols before the first merge; false if a byte is no token. */
static bool add_symbols(merger *m, uint32_t length) {
  if (m->facts->units == TSL__UNITS_POINTS) return add_points(m, length);
  if (m->facts->units == TSL__UNITS_BYTES) return add_single_bytes(m, length);
  if (m->facts->units != TSL__UNITS_SCORES) return add_bytes(m, 0, length);
  add_scored(m, length);
  return true;
}

tsl_status tsl__bpe(const tsl__bpe_tokenizer *t, const tsl_vocab *vocab, const uint8_t *piece,
                    uint32_t length, tsl__encode_work *w, tsl__id_sink *sink) {
  const tsl__span *merges = &t->tables.span[TSL__SPAN_MERGES];
  merger m = {t,
              tsl__tok_facts_of(&t->tables),
              vocab,
              piece,
              w,
              merges->at,
              (uint32_t)(merges->size / sizeof(tsl__merge)),
              false};
  tsl_token whole =
      m.facts->whole_pieces ? tsl__lookup_bytes(&t->tables, vocab, piece, length) : TSL_NO_TOKEN;
  if (whole != TSL_NO_TOKEN) {
    tsl__id_put(sink, whole);
    return TSL_OK;
  }
  w->symbols.n = w->heap.n = 0;
  if (!tsl__vec_reserve(w->alloc, &w->symbols, length) ||
      !tsl__vec_reserve(w->alloc, &w->heap, 3 * (size_t)length))
    return TSL_ERR_NO_MEMORY;
  if (!add_symbols(&m, length)) return TSL_ERR_SYNTAX;
  if (!w->symbols.n) return TSL_OK;
  merge_all(&m);
  return put_all(&m, sink) ? TSL_OK : TSL_ERR_SYNTAX;
}
