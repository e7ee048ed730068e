/* mask_table.c - masks that a host keeps on its device: which mask is in which row.
 *
 * Problem   A mask of 128k tokens is 16 KB, for each sequence and step. Nearly all steps have a
 *           mask that was there before, in the same or in another sequence.
 * Idea      The host has room for some rows on its device. This table says, for a matcher's mask,
 *           in which row it is, and whether the host must copy it there first. So 4 bytes a
 *           sequence travel instead of 16 KB. Masks are known by their identity: XXH3-64 of the
 *           words, the same in all grammars of a vocabulary. They are compared with the table's own
 *           copy, so that two masks never share a row.
 * Known     A mask has a number in the tables of its grammar, as long as these live. The table
 *           remembers for which number, of which tables, it handed out a row last. A few numbers
 *           share a slot for this. A mask that is remembered is not compared: for a batch of
 *           hundreds that would read megabytes.
 * Rows      are given up least recently used first, but none that was handed out since the last
 *           tsl_mask_table_step: the host applies a step's masks at once.
 * Cost      Two probes where the number is remembered: 0.07 µs in a batch of 256 grammars.
 *           Otherwise the mask is written out and compared: 0.3 µs, or 1 µs where its words are in
 *           no cache.
 * Tested by tests/matcher/test_mask_table.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/matcher.h"

typedef struct row {
  uint64_t id;           /* 0: empty */
  uint64_t used;         /* the step in which it was last handed out */
  uint64_t given;        /* which copy of the table's it is: other content, another number */
  uint32_t next;         /* row + 1 of the same hash slot */
  uint32_t older, newer; /* rows + 1 by use */
} row;

/* A mask of a grammar's, and its row: as long as the row has that content. */
typedef struct known {
  uint64_t tables; /* their serial number; 0: nothing */
  uint64_t given;  /* of the row at that time */
  tsl__mask mask;
  uint32_t row;
} known;

#define KNOWN 4u

struct tsl_mask_table {
  tsl_allocator alloc;
  tsl_vocab *vocab;
  size_t words;
  uint32_t rows, used; /* used: rows that hold a mask */
  uint32_t slot_count; /* power of two */
  uint32_t *slots;     /* row + 1 */
  known *known;        /* KNOWN × slot_count */
  uint32_t oldest, newest;
  row *row;
  uint32_t *masks; /* rows × words */
  uint64_t step;
  tsl_mask_table_stats stats;
};

void tsl_mask_table_free(tsl_mask_table *t) {
  if (!t) return;
  tsl_allocator a = t->alloc;
  tsl__free(&a, t->slots, t->slot_count * sizeof *t->slots);
  tsl__free(&a, t->known, (size_t)KNOWN * t->slot_count * sizeof *t->known);
  tsl__free(&a, t->row, t->rows * sizeof *t->row);
  tsl__free(&a, t->masks, t->rows * t->words * sizeof *t->masks);
  tsl_vocab_release(t->vocab);
  tsl__free(&a, t, sizeof *t);
}

tsl_status tsl_mask_table_new(tsl_vocab *vocab, uint32_t rows, const tsl_allocator *allocator,
                              tsl_mask_table **out) {
  allocator = tsl__allocator_or_default(allocator);
  *out = NULL;
  if (!vocab || rows == 0 || rows > TSL_MAX_MASK_ROWS) return TSL_ERR_ARGUMENT;
  tsl_mask_table *t = tsl__alloc_zero(allocator, sizeof *t);
  if (!t) return TSL_ERR_NO_MEMORY;
  *t = (tsl_mask_table){.alloc = *allocator,
                        .vocab = vocab,
                        .words = tsl_vocab_mask_words(vocab),
                        .rows = rows,
                        .slot_count = 64,
                        .step = 1};
  tsl_vocab_retain(vocab);
  while (t->slot_count < rows) t->slot_count *= 2;
  t->slots = tsl__alloc_zero(allocator, t->slot_count * sizeof *t->slots);
  t->known = tsl__alloc_zero(allocator, (size_t)KNOWN * t->slot_count * sizeof *t->known);
  t->row = tsl__alloc_zero(allocator, rows * sizeof *t->row);
  t->masks = tsl__alloc(allocator, rows * t->words * sizeof *t->masks);
  if (t->slots && t->known && t->row && t->masks) return *out = t, TSL_OK;
  tsl_mask_table_free(t);
  return TSL_ERR_NO_MEMORY;
}

static uint32_t *slot_of(const tsl_mask_table *t, uint64_t id) {
  return &t->slots[tsl__mix(id) & (t->slot_count - 1)];
}
static uint32_t *words_of(const tsl_mask_table *t, uint32_t r) { return t->masks + r * t->words; }

/* ---- by use ---------------------------------------------------------------------------------- */

static void unlink_row(tsl_mask_table *t, uint32_t r) {
  row *at = &t->row[r];
  if (at->newer)
    t->row[at->newer - 1].older = at->older;
  else
    t->newest = at->older;
  if (at->older)
    t->row[at->older - 1].newer = at->newer;
  else
    t->oldest = at->newer;
}

static void link_newest(tsl_mask_table *t, uint32_t r) {
  row *at = &t->row[r];
  at->older = t->newest;
  at->newer = 0;
  if (t->newest)
    t->row[t->newest - 1].newer = r + 1;
  else
    t->oldest = r + 1;
  t->newest = r + 1;
  at->used = t->step;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool find(const tsl_mask_table *t, uint64_t id, const uint32_t *words, uint32_t *out) {
  for (uint32_t r = *slot_of(t, id); r; r = t->row[r - 1].next)
    if (t->row[r - 1].id == id && !memcmp(words_of(t, r - 1), words, t->words * sizeof *words))
      return *out = r - 1, true;
  return false;
}

/* A row to be written; false: all were handed out in this step. */
static bool take_row(tsl_mask_table *t, uint32_t *out) {
  if (t->used < t->rows) return *out = t->used++, true;
  uint32_t r = t->oldest - 1, *at = slot_of(t, t->row[r].id);
  if (t->row[r].used == t->step) return false;
  while (*at != r + 1) at = &t->row[*at - 1].next;
  *at = t->row[r].next;
  unlink_row(t, r);
  t->stats.evictions++;
  return *out = r, true;
}

/* The row of words that a matcher lends. */
static tsl_status row_of_words(tsl_mask_table *t, tsl_matcher *matcher, uint32_t *out,
                               const uint32_t **fresh) {
  const uint32_t *words;
  uint64_t id;
  uint32_t r;
  tsl_status status = tsl_matcher_mask_borrow(matcher, &words, &id);
  if (status != TSL_OK || find(t, id, words, out)) return status;
  if (!take_row(t, &r)) return TSL_ERR_LIMIT;
  memcpy(words_of(t, r), words, t->words * sizeof *words);
  uint32_t *slot = slot_of(t, id);
  t->row[r] = (row){.id = id, .next = *slot, .given = ++t->stats.copies};
  *slot = r + 1;
  *fresh = words_of(t, r);
  link_newest(t, r);
  return *out = r, TSL_OK;
}

static void hand_out(tsl_mask_table *t, uint32_t r) {
  t->stats.hits++;
  if (t->row[r].used == t->step) return;
  unlink_row(t, r);
  link_newest(t, r);
}

/* Where a mask of some tables is remembered, if at all. */
static known *known_at(const tsl_mask_table *t, uint64_t tables, tsl__mask mask) {
  return &t->known[tsl__mix(tables << 32 ^ tables >> 32 ^ mask) & (KNOWN * t->slot_count - 1)];
}

tsl_status tsl_mask_table_row(tsl_mask_table *t, tsl_matcher *matcher, uint32_t *out,
                              const uint32_t **fresh) {
  const tsl__mask_rec *mask;
  *fresh = NULL;
  if (matcher->grammar->vocab->logits_width != t->vocab->logits_width) return TSL_ERR_ARGUMENT;
  tsl_status status = tsl__matcher_mask(matcher, &mask);
  if (status != TSL_OK) return status;
  /* another vocabulary counts its tables by itself */
  bool named = mask && matcher->grammar->vocab == t->vocab;
  uint64_t tables = matcher->grammar->tables->serial;
  known *k = named ? known_at(t, tables, mask->number) : NULL;
  if (k && k->tables == tables && k->mask == mask->number && k->given == t->row[k->row].given) {
    *out = k->row;
  } else {
    status = row_of_words(t, matcher, out, fresh);
    if (status != TSL_OK) return status;
    if (k)
      *k =
          (known){.tables = tables, .given = t->row[*out].given, .mask = mask->number, .row = *out};
  }
  if (!*fresh) hand_out(t, *out);
  return TSL_OK;
}

void tsl_mask_table_step(tsl_mask_table *t) { t->step++; }

void tsl_mask_table_get_stats(const tsl_mask_table *t, tsl_mask_table_stats *stats) {
  *stats = t->stats;
  stats->rows = t->used;
}
