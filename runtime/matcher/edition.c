/* edition.c - see edition.h.
 *
 * Problem   One thread must compile a grammar again while others use it. A thread that needs no new
 *           edition must not wait.
 * Idea      The flag `crowded` says that no matcher begins over these expressions any more. The
 *           first call that begins or moves a matcher then takes `renewing`, compiles without any
 *           lock, and puts the edition behind the origin's door. Other calls go on in the current
 *           edition meanwhile.
 * Failing   Where the compile fails, or takes too long, all stay where they are. It is tried again
 *           after some more calls.
 * Example   Edition 3 is made. New matchers begin there. Edition 2 is the elder now, and its
 *           matchers stay. Edition 1 is left, however full it is: its matchers move at their next
 *           call. So two editions are alive, and those whose matchers make no call.
 * Cost      See edition.h.
 * Tested by tests/matcher/test_edition.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/edition.h"

#include "runtime/matcher/generation.h"

/* ---- how many expressions there are ---------------------------------------------------------- */

/* Expressions are closed when they have grown by so many shares and what compiling made, and left
 * when they have grown twice as much. */
#define SHARES 2u
/* Expressions are measured again when their number has grown by this part, and by a few. */
#define LOOK_PART 16u
#define LOOK_MOST 4096u
/* a text of whose expressions take this part of what closes an edition gets one of its own */
#define OWN_PART 4u
#define CALLS_AFTER_FAILURE 64u

static size_t expressions(const tsl__space *s) { return s->hook->life.memory(s->hook_ctx); }

/* Bytes by which they may grow: at twice that much there is still half of the room. */
static uint64_t most_of(const tsl__tables *first) {
  uint64_t max = first->space->work.max_memory, most = first->compiled + SHARES * first->share,
           room = max > first->compiled ? (max - first->compiled) / 4 : 0;
  return most < room ? most : room;
}

static void look_later(tsl__tables *first, uint32_t count) {
  uint32_t more = count / LOOK_PART;
  first->look_count = count + LOOK_PART + (more < LOOK_MOST ? more : LOOK_MOST);
}

/* All matchers over these expressions move. */
static void leave_all(tsl__tables *first) {
  first->look_count = UINT32_MAX;
  atomic_store_explicit(&first->crowded, true, memory_order_relaxed);
  atomic_store_explicit(&first->deserted, true, memory_order_relaxed);
  atomic_store_explicit(&first->space->left, true, memory_order_relaxed);
  for (tsl__tables *t = first->others; t; t = t->older)
    atomic_store_explicit(&t->space->left, true, memory_order_relaxed);
}

void tsl__expressions_look(tsl__tables *first) {
  const tsl__space *s = first->space;
  uint32_t count = s->hook->life.count(s->hook_ctx);
  if (!first->renewable || count < first->look_count) return;
  uint64_t now = expressions(s), grown = now > first->compiled ? now - first->compiled : 0,
           most = most_of(first);
  look_later(first, count);
  if (grown > most) atomic_store_explicit(&first->crowded, true, memory_order_relaxed);
  if (grown > 2 * most) leave_all(first);
}

void tsl__grammar_keep(tsl_grammar *g, const tsl__again *again, void *kept) {
  g->again = again;
  g->kept = kept;
  tsl__tables *first = g->tables->first;
  if (first->renewable) return;
  first->renewable = true;
  look_later(first, first->space->hook->life.count(first->space->hook_ctx));
}

/* ---- editions -------------------------------------------------------------------------------- */

static tsl_grammar *compile_again(tsl_grammar *origin) {
  const tsl__space *s = origin->space;
  const tsl_limits limits = {.max_memory = s->work.max_memory,
                             .max_stacks = s->positions.max_stacks,
                             .max_steps = s->work.max_steps,
                             .cancel = s->work.cancel,
                             .deadline_us = s->work.deadline_us,
                             .text_memory = s->work.text_memory};
  tsl_grammar *e = NULL;
  if (origin->again->compile(origin->kept, origin->vocab, &limits, &e) != TSL_OK) return NULL;
  e->origin = origin;
  if (e->again) e->again->free(e->kept, &e->alloc); /* the origin has it */
  e->again = NULL;
  tsl__mutex_lock(&origin->door);
  e->next_edition = origin->editions;
  origin->editions = e;
  tsl__mutex_unlock(&origin->door);
  return e;
}

void tsl__edition_unlink(tsl_grammar *g) {
  tsl__mutex_lock(&g->origin->door);
  tsl_grammar **at = &g->origin->editions;
  while (*at != g) at = &(*at)->next_edition;
  *at = g->next_edition;
  g->origin->gone += 1 + g->tables->first->begun;
  tsl__mutex_unlock(&g->origin->door);
}

/* The newest one, retained. */
static tsl_grammar *newest(tsl_grammar *origin) {
  tsl__mutex_lock(&origin->door);
  tsl_grammar *e = origin->edition ? origin->edition : origin;
  tsl_grammar_retain(e);
  tsl__mutex_unlock(&origin->door);
  return e;
}

/* The edition takes the place of the newest one; that before it is left. */
static void install(tsl_grammar *origin, tsl_grammar *e) {
  tsl__mutex_lock(&origin->door);
  tsl_grammar *elder = origin->elder, *before = origin->edition;
  origin->elder = before;
  origin->edition = e;
  tsl__mutex_unlock(&origin->door);
  tsl_grammar *left = elder ? elder : before ? origin : NULL;
  if (left) {
    tsl__mutex_lock(left->lock);
    leave_all(left->tables->first);
    tsl__mutex_unlock(left->lock);
  }
  tsl__edition_drop(elder);
}

/* A new edition, which matchers begin in from now on. Where there can be none, or somebody makes
 * one, nothing changes. */
static void renew(tsl_grammar *origin) {
  unsigned wait = atomic_load_explicit(&origin->renew_in, memory_order_relaxed);
  if (wait) {
    atomic_store_explicit(&origin->renew_in, wait - 1, memory_order_relaxed);
    return;
  }
  if (atomic_exchange_explicit(&origin->renewing, true, memory_order_acquire)) return;
  tsl_grammar *e = compile_again(origin);
  if (e)
    install(origin, e);
  else
    atomic_store_explicit(&origin->renew_in, CALLS_AFTER_FAILURE, memory_order_relaxed);
  atomic_store_explicit(&origin->renewing, false, memory_order_release);
}

tsl_grammar *tsl__edition_now(tsl_grammar *origin) {
  tsl_grammar *e = newest(origin);
  if (!origin->again || !tsl__is_crowded(e->tables->first)) return e;
  renew(origin);
  tsl_grammar_release(e);
  return newest(origin);
}

void tsl__editions_free(tsl_grammar *origin) {
  tsl__edition_drop(origin->elder);
  tsl__edition_drop(origin->edition);
  if (origin->again) origin->again->free(origin->kept, &origin->alloc);
}

uint64_t tsl__editions_memory(tsl_grammar *origin, uint32_t *generations) {
  uint64_t n = origin->again ? origin->again->memory(origin->kept) : 0;
  tsl__mutex_lock(&origin->door);
  *generations += origin->gone;
  for (tsl_grammar *e = origin->editions; e; e = e->next_edition) {
    tsl__tables *first = e->tables->first;
    if (tsl__mutex_try(e->lock)) {
      first->memory = (size_t)tsl__grammar_memory(e);
      first->known = 1 + first->begun;
      tsl__mutex_unlock(e->lock);
    }
    n += first->memory;
    *generations += first->known;
  }
  tsl__mutex_unlock(&origin->door);
  return n;
}

/* ---- a matcher's text ------------------------------------------------------------------------ */

bool tsl__text_room(tsl_matcher *m, size_t bytes) {
  if (m->text_n == m->text_cap) {
    uint32_t cap = m->text_cap ? m->text_cap * 2 : TSL__TEXT_FIRST;
    uint32_t *wider = cap > m->text_cap ? tsl__alloc(&m->alloc, cap * sizeof *wider) : NULL;
    if (!wider) return false;
    if (m->text_n) memcpy(wider, m->text, m->text_n * sizeof *wider);
    tsl__free(&m->alloc, m->text, m->text_cap * sizeof *wider);
    m->text = wider;
    m->text_cap = cap;
  }
  return !bytes || tsl__vec_reserve(&m->alloc, &m->text_bytes, bytes);
}

void tsl__text_drop(tsl_matcher *m, size_t count) {
  while (count--) {
    uint32_t last = m->text[--m->text_n];
    if (last & TSL__TEXT_BYTES) m->text_bytes.n -= last & ~TSL__TEXT_BYTES;
  }
}

void tsl__text_free(tsl_matcher *m) {
  tsl__free(&m->alloc, m->text, m->text_cap * sizeof *m->text);
  tsl__vec_free(&m->alloc, &m->text_bytes);
}

bool tsl__text_copy(const tsl_matcher *from, tsl_matcher *to) {
  size_t bytes = from->text_bytes.n;
  if (from->text_cap) {
    to->text = tsl__alloc(&to->alloc, from->text_cap * sizeof *to->text);
    if (!to->text) return false;
    memcpy(to->text, from->text, from->text_n * sizeof *to->text);
    to->text_cap = from->text_cap;
    to->text_n = from->text_n;
  }
  if (!bytes) return true;
  if (!tsl__vec_reserve(&to->alloc, &to->text_bytes, bytes)) return false;
  memcpy(to->text_bytes.at, from->text_bytes.at, bytes);
  to->text_bytes.n = bytes;
  return true;
}

/* ---- a matcher reads its text again ---------------------------------------------------------- */

#define LOOK_EACH 64u /* tokens after which time and memory are looked at */

/* How reading a text again ended. */
typedef enum outcome { READ, OVER, TOO_MUCH, TRY_AGAIN } outcome;

/* Bytes of the expressions of a grammar that others use. */
static uint64_t expressions_now(const tsl_grammar *g) {
  tsl__mutex_lock(g->lock);
  uint64_t n = expressions(g->tables->first->space);
  tsl__mutex_unlock(g->lock);
  return n;
}

/* Read another matcher's text. OVER: its expressions have grown by more than `most`. */
static outcome reread(tsl_matcher *to, const tsl_matcher *from, uint64_t most, uint64_t deadline) {
  const uint8_t *bytes = from->text_bytes.at;
  uint64_t limit = expressions_now(to->grammar); /* which may shrink, as caches are freed */
  limit = most < UINT64_MAX - limit ? limit + most : UINT64_MAX;
  for (uint32_t i = 0; i < from->text_n; i++) {
    uint32_t n = from->text[i] & ~TSL__TEXT_BYTES;
    bool spelled = from->text[i] & TSL__TEXT_BYTES;
    tsl_status status =
        spelled ? tsl_matcher_accept_bytes(to, bytes, n, NULL) : tsl_matcher_accept(to, n);
    if (spelled) bytes += n;
    if ((i % LOOK_EACH == LOOK_EACH - 1 || status == TSL_ERR_LIMIT || i + 1 == from->text_n) &&
        expressions_now(to->grammar) > limit)
      return OVER;
    if (status == TSL_ERR_LIMIT || tsl__expired(deadline)) return TOO_MUCH;
    if (status != TSL_OK) return TRY_AGAIN;
  }
  return READ;
}

static void free_text_and_history(tsl_matcher *m) {
  tsl__free(&m->alloc, m->history, m->history_cap * sizeof *m->history);
  tsl__free(&m->alloc, m->counted_history,
            m->counted_history ? m->history_cap * sizeof *m->history : 0);
  tsl__text_free(m);
}

/* A matcher with the same text in a view; nothing is left of it if it has not read all. */
static outcome make_like(const tsl_matcher *m, tsl_grammar *view, uint64_t most, uint64_t deadline,
                         tsl_matcher *like) {
  *like = tsl__matcher_of(view, &m->alloc, view->begin);
  tsl_grammar_retain(view);
  outcome is = reread(like, m, most, deadline);
  if (is == READ) return READ;
  free_text_and_history(like);
  tsl_grammar_release(like->grammar);
  return is;
}

/* The matcher becomes the other one. */
static void become(tsl_matcher *m, const tsl_matcher *like) {
  tsl_grammar *before = m->grammar;
  tsl__borrowed borrowed = m->borrowed;
  uint32_t history_n = m->history_n; /* a long text may have been rolled back */
  free_text_and_history(m);
  *m = *like;
  m->history_n = history_n;
  m->borrowed = borrowed;
  memset(m->borrowed.mask, 0, sizeof m->borrowed.mask);
  m->rereads = true;
  tsl_grammar_release(before);
}

/* A view of an edition that nobody else is in, retained; NULL: there can be none. */
static tsl_grammar *edition_alone(tsl_grammar *origin) {
  tsl_grammar *e = origin->again ? compile_again(origin) : NULL;
  if (!e) return NULL;
  e->tables->first->renewable = false; /* it is as large as max_memory lets it be */
  /* the reference that it was made with is the caller's, and holds the origin */
  atomic_fetch_add_explicit(&origin->references, 1, memory_order_relaxed);
  return e;
}

/* Has most of a call's time been there for reading? Then the text is too long for any. */
static bool was_given_time(const tsl_matcher *m, uint64_t began, uint64_t deadline) {
  return !deadline || (deadline > began && deadline - began >= m->space->work.deadline_us / 4);
}

bool tsl__matcher_reread(tsl_matcher *m, tsl_grammar *view) {
  tsl_matcher like;
  outcome is = TRY_AGAIN;
  if (m->rereads) {
    /* the other half is for what was called for */
    tsl__timed half = tsl__timed_half();
    uint64_t deadline = tsl__deadline(m->space->work.deadline_us),
             began = deadline ? tsl__now_us() : 0;
    is = make_like(m, view, most_of(view->tables->first) / OWN_PART + 1, deadline, &like);
    tsl_grammar *own = is == OVER ? edition_alone(m->grammar->whole->origin) : NULL;
    if (own) is = make_like(m, own, UINT64_MAX, deadline, &like);
    if (own) tsl_grammar_release(own);
    if (is == TOO_MUCH && tsl__expired(deadline) && !was_given_time(m, began, deadline))
      is = TRY_AGAIN;
    tsl__timed_end(half);
  }
  tsl_grammar_release(view);
  if (is == READ) become(m, &like);
  if (is == TOO_MUCH) m->rereads = false; /* it would be too much the next time */
  return is == READ;
}
