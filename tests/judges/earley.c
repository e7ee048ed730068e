/* earley.c - see earley.h. Ref: Earley 1970; what may be empty is passed over at once (Aycock,
 * Horspool 2002).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/judges/earley.h"

#include <stdlib.h>
#include <string.h>

typedef struct production {
  uint32_t rule, first, count; /* of symbols */
  uint32_t other;              /* production of the rule, plus 1 */
  bool dead;                   /* comes to no end */
} production;

#define NO_RULE UINT32_MAX

typedef struct item {
  uint32_t production, dot, origin;
  uint32_t rule;  /* that it waits for; NO_RULE: bytes or a token, or it is over */
  uint32_t other; /* item of the set that waits for the same rule, plus 1 */
} item;

typedef struct set {
  item *at;
  size_t n, capacity;
  uint32_t *slots;   /* where an item is, plus 1; 0: empty. Twice as many as there is capacity */
  uint32_t *waiting; /* for each rule: the last item that waits for it, plus 1 */
} set;

struct earley {
  const tsl_vocab *vocab;
  earley_symbol *symbols;
  production *productions;
  bool *nullable, *productive; /* of each rule */
  bool *predicted;             /* of each rule, in the set that is completed */
  uint32_t *produced;          /* for each rule: its last production, plus 1 */
  set *sets;
  size_t *ends; /* the set at each place between tokens */
  size_t symbol_count, production_count, rule_count, set_count, set_room, end_count;
};

/* An array with room for one more, where `n` is a power of two or 0. */
static void *grown(void *array, size_t n, size_t size) {
  if (n & (n - 1)) return array;
  array = realloc(array, (n ? n * 2 : 1) * size);
  if (!array) abort();
  return array;
}

earley *earley_new(const tsl_vocab *vocab) {
  earley *e = calloc(1, sizeof *e);
  if (!e) abort();
  e->vocab = vocab;
  return e;
}

void earley_free(earley *e) {
  if (!e) return;
  for (size_t i = 0; i < e->set_room; i++)
    free(e->sets[i].at), free(e->sets[i].slots), free(e->sets[i].waiting);
  free(e->sets);
  free(e->ends);
  free(e->symbols);
  free(e->productions);
  free(e->nullable);
  free(e->productive);
  free(e->predicted);
  free(e->produced);
  free(e);
}

uint32_t earley_rule(earley *e) {
  e->nullable = grown(e->nullable, e->rule_count, sizeof *e->nullable);
  e->productive = grown(e->productive, e->rule_count, sizeof *e->productive);
  e->predicted = grown(e->predicted, e->rule_count, sizeof *e->predicted);
  e->produced = grown(e->produced, e->rule_count, sizeof *e->produced);
  e->nullable[e->rule_count] = e->productive[e->rule_count] = false;
  e->produced[e->rule_count] = 0;
  return (uint32_t)e->rule_count++;
}

void earley_production(earley *e, uint32_t rule) {
  e->productions = grown(e->productions, e->production_count, sizeof *e->productions);
  e->productions[e->production_count++] =
      (production){rule, (uint32_t)e->symbol_count, 0, e->produced[rule], false};
  e->produced[rule] = (uint32_t)e->production_count;
}

void earley_add(earley *e, earley_symbol symbol) {
  e->symbols = grown(e->symbols, e->symbol_count, sizeof *e->symbols);
  e->symbols[e->symbol_count++] = symbol;
  e->productions[e->production_count - 1].count++;
}

earley_symbol earley_range(unsigned from, unsigned to) {
  earley_symbol s = {.kind = EARLEY_BYTES};
  for (unsigned b = from; b <= to; b++) s.bytes[b / 32] |= (uint32_t)1 << b % 32;
  return s;
}

/* ---- the grammar ----------------------------------------------------------------------------- */

static bool is_named(const earley *e, const earley_symbol *s, tsl_token t) {
  size_t n;
  bool listed = false;
  for (uint32_t i = 0; i < s->count; i++) listed |= s->tokens[i] == t;
  tsl_vocab_bytes(e->vocab, t, &n);
  return listed != s->others && n && !tsl_vocab_is_eog(e->vocab, t);
}

static bool comes_to_an_end(const earley *e, const earley_symbol *s) {
  if (s->kind != EARLEY_TOKENS) return s->kind == EARLEY_BYTES || e->productive[s->rule];
  for (tsl_token t = 0; t < tsl_vocab_size(e->vocab); t++)
    if (is_named(e, s, t)) return true;
  return false;
}

bool earley_close(earley *e) {
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < e->production_count; i++) {
      production *p = &e->productions[i];
      bool empty = true;
      p->dead = false;
      for (uint32_t k = 0; k < p->count; k++) {
        const earley_symbol *s = &e->symbols[p->first + k];
        empty &= s->kind == EARLEY_RULE && e->nullable[s->rule];
        p->dead |= !comes_to_an_end(e, s);
      }
      more |= (empty && !e->nullable[p->rule]) || (!p->dead && !e->productive[p->rule]);
      e->nullable[p->rule] |= empty;
      e->productive[p->rule] |= !p->dead;
    }
  }
  return e->productive[0];
}

/* ---- sets ------------------------------------------------------------------------------------ */

static size_t push(earley *e) {
  if (e->set_count == e->set_room) {
    e->sets = grown(e->sets, e->set_room, sizeof *e->sets);
    e->sets[e->set_room] = (set){.waiting = malloc(e->rule_count * sizeof(uint32_t))};
    if (!e->sets[e->set_room++].waiting) abort();
  }
  set *s = &e->sets[e->set_count];
  s->n = 0;
  memset(s->waiting, 0, e->rule_count * sizeof *s->waiting);
  if (s->slots) memset(s->slots, 0, s->capacity * 2 * sizeof *s->slots);
  return e->set_count++;
}

static uint32_t *slot_of(const set *s, const item *i) {
  size_t mask = s->capacity * 2 - 1,
         k = (i->production * 0x9E3779B1u) ^ (i->dot * 0x85EBCA6Bu) ^ (i->origin * 0xC2B2AE35u);
  for (k ^= k >> 15;; k++) {
    uint32_t *slot = &s->slots[k & mask];
    const item *o = *slot ? &s->at[*slot - 1] : NULL;
    if (!o || (o->production == i->production && o->dot == i->dot && o->origin == i->origin))
      return slot;
  }
}

static void grow(set *s) {
  s->at = grown(s->at, s->capacity, sizeof *s->at);
  s->capacity = s->capacity ? s->capacity * 2 : 1;
  free(s->slots);
  s->slots = calloc(s->capacity * 2, sizeof *s->slots);
  if (!s->slots) abort();
  for (size_t k = 0; k < s->n; k++) *slot_of(s, &s->at[k]) = (uint32_t)k + 1;
}

/* What an item waits for; NULL: it is over. */
static const earley_symbol *awaited(const earley *e, const item *i) {
  const production *p = &e->productions[i->production];
  return i->dot < p->count ? &e->symbols[p->first + i->dot] : NULL;
}

static void add(earley *e, size_t at, uint32_t of, uint32_t dot, uint32_t origin) {
  set *s = &e->sets[at];
  item i = {of, dot, origin, NO_RULE, 0};
  if (s->n == s->capacity) grow(s);
  uint32_t *slot = slot_of(s, &i);
  if (*slot) return;
  const earley_symbol *next = awaited(e, &i);
  if (next && next->kind == EARLEY_RULE) i.rule = next->rule, i.other = s->waiting[i.rule];
  s->at[s->n++] = i;
  *slot = (uint32_t)s->n;
  if (i.rule != NO_RULE) s->waiting[i.rule] = *slot;
}

static void predict(earley *e, size_t at, uint32_t rule) {
  if (e->predicted[rule]) return;
  e->predicted[rule] = true;
  for (uint32_t k = e->produced[rule]; k; k = e->productions[k - 1].other)
    if (!e->productions[k - 1].dead) add(e, at, k - 1, 0, (uint32_t)at);
}

/* All that follows from the items that are there. */
static void complete(earley *e, size_t at) {
  memset(e->predicted, 0, e->rule_count * sizeof *e->predicted);
  for (size_t i = 0; i < e->sets[at].n; i++) {
    item now = e->sets[at].at[i];
    if (now.rule != NO_RULE) {
      predict(e, at, now.rule);
      if (e->nullable[now.rule]) add(e, at, now.production, now.dot + 1, now.origin);
    }
    if (awaited(e, &now) || now.origin == at) continue;
    const set *began = &e->sets[now.origin];
    for (uint32_t k = began->waiting[e->productions[now.production].rule]; k;
         k = began->at[k - 1].other) {
      const item *waits = &began->at[k - 1];
      add(e, at, waits->production, waits->dot + 1, waits->origin);
    }
  }
}

static size_t last(const earley *e) { return e->ends[e->end_count - 1]; }

static void put_end(earley *e, size_t at) {
  e->ends = grown(e->ends, e->end_count, sizeof *e->ends);
  e->ends[e->end_count++] = at;
}

void earley_begin(earley *e) {
  e->set_count = e->end_count = 0;
  put_end(e, push(e));
  memset(e->predicted, 0, e->rule_count * sizeof *e->predicted);
  predict(e, 0, 0);
  complete(e, 0);
}

static void read_byte(earley *e, size_t from, size_t to, uint8_t byte) {
  for (size_t i = 0; i < e->sets[from].n; i++) {
    item now = e->sets[from].at[i];
    const earley_symbol *s = awaited(e, &now);
    if (s && s->kind == EARLEY_BYTES && s->bytes[byte / 32] >> byte % 32 & 1)
      add(e, to, now.production, now.dot + 1, now.origin);
  }
}

static void take_name(earley *e, size_t from, size_t to, tsl_token token) {
  for (size_t i = 0; i < e->sets[from].n; i++) {
    item now = e->sets[from].at[i];
    const earley_symbol *s = awaited(e, &now);
    if (s && s->kind == EARLEY_TOKENS && is_named(e, s, token))
      add(e, to, now.production, now.dot + 1, now.origin);
  }
}

bool earley_take(earley *e, tsl_token token) {
  size_t n, before = e->set_count, from = last(e), at = from;
  const uint8_t *bytes = tsl_vocab_bytes(e->vocab, token, &n);
  if (!n || tsl_vocab_is_eog(e->vocab, token)) return false;
  bool spelled = !tsl_vocab_is_special(e->vocab, token);
  for (size_t i = 0; i + 1 < n && spelled; i++) {
    size_t next = push(e);
    read_byte(e, at, next, bytes[i]);
    spelled = e->sets[next].n != 0;
    complete(e, next);
    at = next;
  }
  size_t to = push(e);
  if (spelled) read_byte(e, at, to, bytes[n - 1]);
  take_name(e, from, to, token);
  if (!e->sets[to].n) return e->set_count = before, false;
  complete(e, to);
  put_end(e, to);
  return true;
}

void earley_back(earley *e, size_t tokens) {
  e->end_count -= tokens;
  e->set_count = last(e) + 1;
}

bool earley_complete(const earley *e) {
  const set *s = &e->sets[last(e)];
  for (size_t i = 0; i < s->n; i++)
    if (!s->at[i].origin && !awaited(e, &s->at[i]) && !e->productions[s->at[i].production].rule)
      return true;
  return false;
}

/* Could it begin a token? Most bytes do not. */
static bool may_begin(const earley *e, tsl_token t) {
  size_t n;
  const uint8_t *bytes = tsl_vocab_bytes(e->vocab, t, &n);
  const set *s = &e->sets[last(e)];
  for (size_t i = 0; i < s->n && n; i++) {
    const earley_symbol *next = awaited(e, &s->at[i]);
    if (next && (next->kind == EARLEY_TOKENS
                     ? is_named(e, next, t)
                     : next->kind == EARLEY_BYTES && next->bytes[*bytes / 32] >> *bytes % 32 & 1))
      return true;
  }
  return false;
}

void earley_mask(earley *e, uint32_t *mask) {
  memset(mask, 0, tsl_vocab_mask_words(e->vocab) * sizeof *mask);
  for (tsl_token t = 0; t < tsl_vocab_size(e->vocab); t++) {
    bool ends = tsl_vocab_is_eog(e->vocab, t);
    if (ends ? !earley_complete(e) : !may_begin(e, t) || !earley_take(e, t)) continue;
    if (!ends) earley_back(e, 1);
    mask[t / 32] |= (uint32_t)1 << t % 32;
  }
}

size_t earley_items(const earley *e) { return e->sets[last(e)].n; }
