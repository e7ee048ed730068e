/* matcher.c - one generation in progress: a position in the grammar's tables, and the positions
 * before it.
 *
 * The position is a number (runtime/position/stacks.h). This sequence or another one has usually
 * looked up the same before. Then the answer is read without a lock. Otherwise the matcher takes
 * the grammar's lock, and the tables grow. When they have grown enough, the matcher moves over to
 * newer ones (generation.h): calls that may add to tables look for that first.
 *
 * Example   At position 12 the mask is requested: its record is there, so it is written out
 *           without the lock. Token 917 is accepted. The first token that anyone accepted at 12
 *           was 917, and it led to 15: the position is 15, and 12 goes into the history. Token 4 is
 *           accepted next, which no sequence has accepted at 15. The lock is held while its bytes
 *           are followed to a position, and the move (15, 4) is noted for the next sequence. A
 *           rollback of 2 is two steps back in the history: position 12.
 * Tested by tests/matcher/test_matcher.c, tests/matcher/test_threads.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/edition.h"
#include "runtime/matcher/generation.h"

/* ---- life ------------------------------------------------------------------------------------ */

tsl_status tsl_matcher_new(tsl_grammar *grammar, const tsl_allocator *allocator,
                           tsl_matcher **out) {
  if (!allocator) allocator = &grammar->alloc;
  *out = tsl__alloc(allocator, sizeof **out);
  if (!*out) return TSL_ERR_NO_MEMORY;
  tsl__timed call = tsl__timed_begin(grammar->space->work.deadline_us);
  grammar = tsl__grammar_now(grammar);
  tsl__timed_end(call);
  **out = tsl__matcher_of(grammar, allocator, grammar->begin);
  (*out)->rereads = true;
  return TSL_OK;
}

static inline size_t mask_bytes(const tsl_matcher *m) {
  return m->space->mask_words * sizeof(uint32_t);
}

void tsl_matcher_free(tsl_matcher *m) {
  if (!m) return;
  tsl_allocator a = m->alloc;
  tsl__free(&a, m->history, m->history_cap * sizeof *m->history);
  tsl__free(&a, m->counted_history, m->counted_history ? m->history_cap * sizeof *m->history : 0);
  tsl__text_free(m);
  tsl__borrowed_free(m->space, &m->borrowed, &a);
  tsl_grammar_release(m->grammar);
  tsl__free(&a, m, sizeof *m);
}

/* A call may move the matcher, and all of that has one deadline. */
static inline tsl__timed begin_call(const tsl_matcher *m) {
  return tsl__timed_begin(m->space->work.deadline_us);
}

tsl_grammar *tsl_matcher_grammar(const tsl_matcher *m) { return m->grammar->whole->origin; }

void tsl_matcher_reset(tsl_matcher *m) {
  tsl__timed call = begin_call(m);
  tsl__matcher_renew(m);
  tsl__timed_end(call);
  tsl__matcher_stand(m, m->grammar->begin);
  m->counted = 0;
  m->terminated = false;
  m->history_n = m->history_next = 0;
  m->text_n = 0;
  m->text_bytes.n = 0;
  m->rereads = true;
}

static uint32_t *copied(const tsl_allocator *a, const uint32_t *ring, uint32_t cap) {
  uint32_t *copy = tsl__alloc(a, cap * sizeof *copy);
  return copy ? memcpy(copy, ring, cap * sizeof *copy) : NULL;
}

tsl_status tsl_matcher_fork(const tsl_matcher *m, tsl_matcher **out) {
  tsl_matcher *f = *out = tsl__alloc(&m->alloc, sizeof *f);
  if (!f) return TSL_ERR_NO_MEMORY;
  *f = tsl__matcher_of(m->grammar, &m->alloc, m->at);
  tsl_grammar_retain(m->grammar);
  f->counted = m->counted;
  f->terminated = m->terminated;
  f->rereads = m->rereads;
  if (!m->history_cap) return TSL_OK;
  f->history = copied(&f->alloc, m->history, m->history_cap);
  f->history_cap = f->history ? m->history_cap : 0;
  if (m->counted_history && f->history)
    f->counted_history = copied(&f->alloc, m->counted_history, m->history_cap);
  if (!f->history || (m->counted_history && !f->counted_history) || !tsl__text_copy(m, f)) {
    tsl_matcher_free(f);
    *out = NULL;
    return TSL_ERR_NO_MEMORY;
  }
  f->history_n = m->history_n;
  f->history_next = m->history_next;
  return TSL_OK;
}

/* ---- history --------------------------------------------------------------------------------- */

/* A wider ring, rewritten from the entry that would be overwritten next. In a ring that is not full
 * the entries in use come last, and stay the last. */
static uint32_t *widened(const tsl_matcher *m, const uint32_t *ring, uint32_t cap) {
  uint32_t *wider = tsl__alloc(&m->alloc, cap * sizeof *wider), first = m->history_next;
  if (!wider || !ring) return wider;
  memcpy(wider, ring + first, (m->history_cap - first) * sizeof *wider);
  memcpy(wider + m->history_cap - first, ring, first * sizeof *wider);
  return wider;
}

/* The text is never shorter than the history. It has no more room, but where the history has all
 * that it may have. So while there is room for the text there is room for a position. */
static inline bool has_room(const tsl_matcher *m) { return m->text_n < m->text_cap; }

#define HISTORY_FIRST TSL__TEXT_FIRST /* positions that there is room for at first */

static TSL__SELDOM bool make_room(tsl_matcher *m) {
  if (m->text_cap < m->history_cap || m->history_cap == TSL_MAX_ROLLBACK)
    return tsl__text_room(m, 0);
  uint32_t cap = m->history_cap ? m->history_cap * 2 : HISTORY_FIRST;
  bool counts = m->has_quotas;
  uint32_t *ring = widened(m, m->history, cap),
           *counted = counts ? widened(m, m->counted_history, cap) : NULL;
  if (!ring || (counts && !counted)) {
    tsl__free(&m->alloc, ring, ring ? cap * sizeof *ring : 0);
    tsl__free(&m->alloc, counted, counted ? cap * sizeof *ring : 0);
    return false;
  }
  tsl__free(&m->alloc, m->history, m->history_cap * sizeof *ring);
  tsl__free(&m->alloc, m->counted_history, m->counted_history ? m->history_cap * sizeof *ring : 0);
  m->history = ring;
  m->counted_history = counted;
  m->history_next = m->history_cap;
  m->history_cap = cap;
  return tsl__text_room(m, 0);
}

/* Room for one more position. */
static inline bool history_room(tsl_matcher *m) { return TSL__LIKELY(has_room(m)) || make_room(m); }
/* The same, and for these bytes in the text. */
static bool bytes_room(tsl_matcher *m, size_t bytes) {
  return history_room(m) && tsl__text_room(m, bytes);
}

_Static_assert((TSL_MAX_ROLLBACK & (TSL_MAX_ROLLBACK - 1)) == 0, "capacities are powers of two");

/* The position goes into the history, and what is accepted there into the text; history_room was
 * called. */
static inline void note_position(tsl_matcher *m, uint32_t accepted) {
  uint32_t next = m->history_next;
  m->text[m->text_n++] = accepted;
  m->history[next] = m->at;
  m->history_next = (next + 1) & (m->history_cap - 1);
  m->history_n += m->history_n < m->history_cap;
}

/* Move on; history_room was called. */
static inline void advance(tsl_matcher *m, uint32_t accepted, tsl__stack to, uint32_t counted) {
  if (m->counted_history) m->counted_history[m->history_next] = m->counted;
  note_position(m, accepted);
  tsl__matcher_stand(m, to);
  m->counted = counted;
}

size_t tsl_matcher_history(const tsl_matcher *m) { return m->history_n; }

tsl_status tsl_matcher_rollback(tsl_matcher *m, size_t count) {
  if (count > m->history_n) return TSL_ERR_STATE;
  if (count == 0) return TSL_OK;
  m->history_next = (m->history_next + m->history_cap - (uint32_t)count) % m->history_cap;
  m->history_n -= (uint32_t)count;
  tsl__text_drop(m, count);
  tsl__matcher_stand(m, m->history[m->history_next]);
  m->counted = m->counted_history ? m->counted_history[m->history_next] : 0;
  m->terminated = false;
  return TSL_OK;
}

/* ---- work under the lock --------------------------------------------------------------------- */

static tsl__space *lock(const tsl_matcher *m) { return tsl__grammar_lock(m->grammar); }
static tsl_status unlock(const tsl_matcher *m) { return tsl__grammar_unlock(m->grammar); }

TSL__EACH_TOKEN tsl_status tsl__grammar_lead(tsl_grammar *g, tsl__stack from, tsl_token token,
                                             tsl__stack *to) {
  if (tsl__stack_find_token(g->space, from, token, to)) return TSL_OK;
  *to = tsl__stack_token_anew(tsl__grammar_lock(g), from, token);
  return tsl__grammar_unlock(g);
}

TSL__EACH_TOKEN tsl_status tsl__grammar_lead_counted(tsl_grammar *g, tsl__stack from,
                                                     tsl_token token, tsl__stack *to,
                                                     uint32_t *counted) {
  if (TSL__LIKELY(!g->quota_count)) return *counted = 0, tsl__grammar_lead(g, from, token, to);
  *to = 0;
  if (tsl__quota_finishing(g, from, *counted) && !tsl__quota_finishes(g, token)) return TSL_OK;
  tsl_status status = tsl__grammar_lead(g, from, token, to);
  size_t n;
  return status == TSL_OK && *to
             ? tsl__quota_step(g, from, *tsl_vocab_bytes(g->vocab, token, &n), to, counted)
             : status;
}

/* `r`: the position's record. */
static inline tsl_status find_mask(tsl_grammar *g, tsl__stack at, const tsl__stack_rec *r,
                                   const tsl__mask_rec **mask) {
  *mask = atomic_load_explicit(&((tsl__stack_rec *)(uintptr_t)r)->mask, memory_order_acquire);
  if (*mask) return TSL_OK;
  *mask = tsl__mask_at(g->space, tsl__stack_mask(tsl__grammar_lock(g), at));
  return tsl__grammar_unlock(g);
}

/* m->mask */
static inline tsl_status own_mask(tsl_matcher *m) {
  if (m->mask) return TSL_OK;
  m->mask =
      atomic_load_explicit(&((tsl__stack_rec *)(uintptr_t)m->record)->mask, memory_order_acquire);
  if (m->mask) return TSL_OK;
  tsl__timed call = begin_call(m);
  tsl_status status = find_mask(m->grammar, m->at, m->record, &m->mask);
  if (tsl__matcher_again(m, status)) status = find_mask(m->grammar, m->at, m->record, &m->mask);
  tsl__timed_end(call);
  if (TSL__UNLIKELY(status != TSL_OK)) m->mask = NULL;
  return status;
}

TSL__EACH_TOKEN tsl_status tsl__grammar_mask(tsl_grammar *g, tsl__stack at,
                                             const tsl__mask_rec **mask) {
  return find_mask(g, at, tsl__stack_at(g->space, at), mask);
}

/* ---- masks ----------------------------------------------------------------------------------- */

#define PAGE 4096u

TSL__EACH_TOKEN tsl_status tsl_matcher_mask(tsl_matcher *m, uint32_t *out) {
  /* on its way while the mask is looked up */
  for (size_t at = 0, size = mask_bytes(m); at < size; at += PAGE)
    TSL__PREFETCH_WRITE((char *)out + at);
  if (m->terminated) return memset(out, 0, mask_bytes(m)), TSL_OK;
  tsl_status status = own_mask(m);
  if (status != TSL_OK) return status;
  tsl__mask_write(m->space, m->mask, out);
  if (TSL__UNLIKELY(m->has_quotas) && tsl__quota_finishing(m->grammar, m->at, m->counted))
    tsl__quota_finishers(m->grammar, out);
  return TSL_OK;
}

/* XXH3-64 of the words: equal masks are equal numbers in every grammar of a vocabulary. 0 is kept
 * for "not known". */
static uint64_t identity_of(const tsl_matcher *m, const uint32_t *words) {
  uint64_t h = tsl__hash(words, mask_bytes(m));
  return h ? h : 1;
}

/* A mask that is this matcher's alone. */
static tsl_status borrow_own(tsl_matcher *m, const uint32_t **out, uint64_t *id) {
  uint32_t *words = tsl__borrow_words(m->space, &m->borrowed, &m->alloc);
  if (!words) return TSL_ERR_NO_MEMORY;
  tsl_status status = tsl_matcher_mask(m, words);
  if (status != TSL_OK) return status;
  *out = words;
  if (id) *id = identity_of(m, words);
  return TSL_OK;
}

TSL__EACH_TOKEN tsl_status tsl__matcher_mask(tsl_matcher *m, const tsl__mask_rec **mask) {
  if (m->terminated) return *mask = tsl__mask_at(m->space, 0), TSL_OK;
  if (m->has_quotas && tsl__quota_finishing(m->grammar, m->at, m->counted))
    return *mask = NULL, TSL_OK;
  tsl_status status = own_mask(m);
  *mask = m->mask;
  return status;
}

TSL__EACH_TOKEN tsl_status tsl_matcher_mask_borrow(tsl_matcher *m, const uint32_t **out,
                                                   uint64_t *id) {
  const tsl__mask_rec *mask;
  tsl_status status = tsl__matcher_mask(m, &mask);
  if (status != TSL_OK) return status;
  if (!mask) return borrow_own(m, out, id);
  const uint32_t *words = tsl__borrow(m->space, m->grammar->lock, &m->borrowed, &m->alloc, mask);
  if (!words) return TSL_ERR_NO_MEMORY;
  *out = words;
  if (!id) return TSL_OK;
  if (m->terminated) return *id = identity_of(m, *out), TSL_OK;
  tsl__mask_rec *r = (tsl__mask_rec *)(uintptr_t)mask;
  *id = atomic_load_explicit(&r->identity, memory_order_relaxed);
  if (*id) return TSL_OK;
  *id = identity_of(m, *out);
  atomic_store_explicit(&r->identity, *id, memory_order_relaxed);
  return TSL_OK;
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* Where the token leads; the matcher moves to other tables where these are full. */
static TSL__SELDOM tsl_status lead_or_move(tsl_matcher *m, tsl_token token, tsl__stack *to,
                                           uint32_t *counted) {
  tsl__timed call = begin_call(m);
  tsl_status status = tsl__grammar_lead_counted(m->grammar, m->at, token, to, counted);
  if (tsl__matcher_again(m, status)) { /* it may be another one inside */
    *counted = m->counted;
    status = history_room(m) ? tsl__grammar_lead_counted(m->grammar, m->at, token, to, counted)
                             : TSL_ERR_NO_MEMORY;
  }
  tsl__timed_end(call);
  return status;
}

static TSL__EACH_TOKEN TSL__SELDOM tsl_status accept_looked_up(tsl_matcher *m, tsl_token token) {
  const tsl_vocab *v = m->vocab;
  if (token >= v->size) return token < v->logits_width ? TSL_REJECTED : TSL_ERR_ARGUMENT;
  if (m->terminated) return TSL_REJECTED;
  if (!history_room(m)) return TSL_ERR_NO_MEMORY;
  if (tsl_vocab_is_eog(v, token)) {
    if (!tsl_matcher_is_complete(m)) return TSL_REJECTED;
    advance(m, token, m->at, m->counted);
    m->terminated = true;
    return TSL_OK;
  }
  tsl__stack to;
  uint32_t counted = m->has_quotas ? m->counted : 0;
  /* with a deadline: what is known needs no look at the clock */
  bool known = m->space->work.deadline_us && !m->has_quotas &&
               tsl__stack_find_token(m->space, m->at, token, &to);
  tsl_status status = known ? TSL_OK : lead_or_move(m, token, &to, &counted);
  if (status != TSL_OK) return status;
  if (to == 0) return TSL_REJECTED;
  advance(m, token, to, counted);
  return TSL_OK;
}

/* A token that is not the first which was requested, where some leave the frame as it is. */
static TSL__EACH_TOKEN TSL__SELDOM tsl_status accept_kept(tsl_matcher *m, tsl_token token) {
  bool plain = token < m->vocab->size && !m->terminated && !m->has_quotas && has_room(m);
  if (!m->kept) m->keeps = *tsl__stack_self(m->space, m->record), m->kept = true;
  if (!plain || !tsl__vocab_within(m->vocab, token, &m->keeps)) return accept_looked_up(m, token);
  note_position(m, token);
  return TSL_OK;
}

/* The same where the matcher is to move first. */
static TSL__SELDOM tsl_status accept_moved(tsl_matcher *m, tsl_token token) {
  tsl__timed call = begin_call(m);
  tsl__matcher_settle(m);
  tsl_status status = m->record->stays ? accept_kept(m, token) : accept_looked_up(m, token);
  tsl__timed_end(call);
  return status;
}

/* The first token that was requested here is known to end nothing, and the position notes where it
 * leads. No more than that is looked at. */
TSL__EACH_TOKEN tsl_status tsl_matcher_accept(tsl_matcher *m, tsl_token token) {
  /* fetched while the token is looked up: they say where the next record is */
  TSL__PREFETCH(&m->space->stacks.pool);
  TSL__PREFETCH(tsl__pool_chunk_of);
  uint64_t first = tsl__stack_first(m->record);
  tsl__stack to = tsl__lead_to((tsl__lead){(uint32_t)first});
  if (TSL__UNLIKELY(first >> 32 != TSL__FIRST(token) || !to || m->terminated || m->has_quotas ||
                    !has_room(m) || tsl__matcher_is_left(m))) {
    if (tsl__matcher_is_left(m)) return accept_moved(m, token);
    return m->record->stays ? accept_kept(m, token) : accept_looked_up(m, token);
  }
  note_position(m, token); /* nothing is counted */
  tsl__matcher_stand(m, to);
  TSL__PREFETCH(m->record); /* its mask is requested next */
  return TSL_OK;
}

/* Where bytes lead from a position, and what is counted then. *accepted of them were not rejected,
 * which *to = 0 says. */
static tsl_status lead_bytes(const tsl_matcher *m, const uint8_t *bytes, size_t length,
                             tsl__stack *to, uint32_t *counted, size_t *accepted) {
  size_t n;
  tsl_status status = tsl__quota_finish(m->grammar, to, counted, bytes, length, accepted);
  tsl__stack from = *to;
  if (status != TSL_OK || !from || *accepted == length) return status;
  *to = tsl__stack_bytes(lock(m), from, bytes + *accepted, length - *accepted, &n);
  status = unlock(m);
  if (status == TSL_OK) status = tsl__quota_step(m->grammar, from, bytes[*accepted], to, counted);
  *accepted += n;
  return status;
}

/* The same from where the matcher is, with room for them in its text. */
static tsl_status bytes_or_move(tsl_matcher *m, const uint8_t *bytes, size_t length, tsl__stack *to,
                                uint32_t *counted, size_t *accepted) {
  *to = m->at;
  *counted = m->counted;
  *accepted = 0;
  return bytes_room(m, length) ? lead_bytes(m, bytes, length, to, counted, accepted)
                               : TSL_ERR_NO_MEMORY;
}

tsl_status tsl_matcher_accept_bytes(tsl_matcher *m, const void *bytes, size_t length,
                                    size_t *accepted) {
  size_t n = 0;
  if (accepted) *accepted = 0;
  if (length == 0) return TSL_OK;
  if (length >= TSL__TEXT_BYTES) return TSL_ERR_LIMIT;
  if (m->terminated) return TSL_REJECTED;
  tsl__stack to;
  uint32_t counted;
  tsl__timed call = begin_call(m);
  tsl__matcher_settle(m);
  tsl_status status = bytes_or_move(m, bytes, length, &to, &counted, &n);
  if (tsl__matcher_again(m, status)) status = bytes_or_move(m, bytes, length, &to, &counted, &n);
  tsl__timed_end(call);
  if (accepted) *accepted = n;
  if (status != TSL_OK) return status;
  if (to == 0) return TSL_REJECTED;
  memcpy(m->text_bytes.at + m->text_bytes.n, bytes, length);
  m->text_bytes.n += length;
  advance(m, TSL__TEXT_BYTES | (uint32_t)length, to, counted);
  return TSL_OK;
}

static tsl_status validate(const tsl_matcher *m, const tsl_token *tokens, size_t count,
                           size_t *valid) {
  const tsl_vocab *v = m->vocab;
  tsl__stack at = m->at;
  uint32_t counted = m->counted;
  bool ended = m->terminated;
  *valid = 0;
  for (size_t i = 0; i < count && !ended; i++) {
    if (tokens[i] >= v->size) break;
    if (tsl_vocab_is_eog(v, tokens[i])) {
      if (!tsl__stack_at(m->space, at)->complete) break;
      ended = true;
    } else {
      tsl__stack to;
      tsl_status status = tsl__grammar_lead_counted(m->grammar, at, tokens[i], &to, &counted);
      if (status != TSL_OK) return status;
      if (to == 0) break;
      at = to;
    }
    (*valid)++;
  }
  return TSL_OK;
}

tsl_status tsl_matcher_validate(tsl_matcher *m, const tsl_token *tokens, size_t count,
                                size_t *valid) {
  tsl__timed call = begin_call(m);
  tsl__matcher_settle(m);
  tsl_status status = validate(m, tokens, count, valid);
  if (tsl__matcher_again(m, status)) status = validate(m, tokens, count, valid);
  tsl__timed_end(call);
  return status;
}

/* ---- questions ------------------------------------------------------------------------------- */

bool tsl_matcher_is_complete(const tsl_matcher *m) { return m->record->complete; }
bool tsl_matcher_is_terminated(const tsl_matcher *m) { return m->terminated; }

/* A way along forced bytes. One token alone may be accepted by its name as well. Then what it
 * spells must be what comes, and must lead to where the token does. */
typedef struct forced_way {
  tsl__space *space;
  tsl__stack at;
  bool spells_names;   /* else the way is over where a token may be accepted by its name */
  tsl_token named;     /* the one that is being spelled; TSL_NO_TOKEN: none */
  tsl__stack named_to; /* where it leads */
  uint32_t spelled;    /* bytes of it */
} forced_way;

/* Is there no token by name, or does the byte go on with what it spells? */
static bool names_agree(forced_way *w, uint8_t byte) {
  const tsl_vocab *v = w->space->vocab;
  tsl_token t = tsl__stack_named(w->space, w->at);
  bool is_named = t != TSL_NO_TOKEN;
  if (is_named && (!w->spells_names || t == TSL__SEVERAL_TOKENS || w->named != TSL_NO_TOKEN))
    return false;
  if (is_named) w->named = t, w->spelled = 0, w->named_to = tsl__stack_token(w->space, w->at, t);
  return w->named == TSL_NO_TOKEN || v->bytes[v->offsets[w->named] + w->spelled] == byte;
}

/* The only byte that may come next; false: there is none. */
static bool forced_byte(forced_way *w, uint8_t *byte) {
  tsl__bytes next;
  if (!w->at || tsl__stack_at(w->space, w->at)->complete ||
      !tsl__stack_next(w->space, w->at, &next) || tsl__bytes_count(&next) != 1)
    return false;
  unsigned word = 0;
  while (!next.w[word]) word++;
  *byte = (uint8_t)(word * 64 + (unsigned)__builtin_ctzll(next.w[word]));
  return names_agree(w, *byte);
}

/* On by that byte; false on failure. `at` is 0 where nothing is known to be forced behind it. */
static bool forced_on(forced_way *w, uint8_t byte) {
  const tsl_vocab *v = w->space->vocab;
  w->at = tsl__stack_byte(w->space, w->at, byte);
  bool fine = w->at != 0;
  if (w->named != TSL_NO_TOKEN && ++w->spelled == v->offsets[w->named + 1] - v->offsets[w->named]) {
    if (w->at != w->named_to) w->at = 0;
    w->named = TSL_NO_TOKEN;
  }
  return fine;
}

static tsl_status forced(tsl_matcher *m, bool spells_names, uint8_t *bytes, size_t capacity,
                         size_t *length) {
  *length = 0;
  if (m->terminated) return TSL_OK;
  forced_way w = {
      .space = lock(m), .at = m->at, .spells_names = spells_names, .named = TSL_NO_TOKEN};
  for (uint8_t byte; *length < capacity && forced_byte(&w, &byte) && forced_on(&w, byte);)
    bytes[(*length)++] = byte;
  return unlock(m);
}

tsl_status tsl__matcher_forced(tsl_matcher *m, bool spells_names, uint8_t *bytes, size_t capacity,
                               size_t *length) {
  tsl__timed call = begin_call(m);
  tsl__matcher_settle(m);
  tsl_status status = forced(m, spells_names, bytes, capacity, length);
  if (tsl__matcher_again(m, status)) status = forced(m, spells_names, bytes, capacity, length);
  tsl__timed_end(call);
  return status;
}

tsl_status tsl_matcher_forced_bytes(tsl_matcher *m, uint8_t *bytes, size_t capacity,
                                    size_t *length) {
  return tsl__matcher_forced(m, true, bytes, capacity, length);
}

static tsl_status shortest(const tsl_matcher *m, uint64_t *bytes) {
  tsl__space *space = lock(m);
  uint32_t n = tsl__stack_shortest(space, m->at);
  *bytes = n == UINT32_MAX ? UINT64_MAX : n;
  return unlock(m);
}

tsl_status tsl_matcher_shortest_completion(tsl_matcher *m, uint64_t *bytes) {
  if (m->terminated) return *bytes = 0, TSL_OK;
  tsl__timed call = begin_call(m);
  tsl__matcher_settle(m);
  tsl_status status = shortest(m, bytes);
  if (tsl__matcher_again(m, status)) status = shortest(m, bytes);
  tsl__timed_end(call);
  return status;
}

static tsl_status next_bytes(const tsl_matcher *m, uint32_t set[8]) {
  tsl__bytes next;
  tsl__stack_next(lock(m), m->at, &next);
  for (unsigned i = 0; i < 8; i++) set[i] = (uint32_t)(next.w[i / 2] >> (i % 2 * 32));
  return unlock(m);
}

tsl_status tsl_matcher_next_bytes(tsl_matcher *m, uint32_t set[8]) {
  memset(set, 0, 8 * sizeof *set);
  if (m->terminated) return TSL_OK;
  tsl__timed call = begin_call(m);
  tsl__matcher_settle(m);
  tsl_status status = next_bytes(m, set);
  if (tsl__matcher_again(m, status)) status = next_bytes(m, set);
  tsl__timed_end(call);
  return status;
}
