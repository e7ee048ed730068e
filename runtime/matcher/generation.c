/* generation.c - see generation.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/generation.h"

#include "runtime/matcher/edition.h"
#include "runtime/position/carry.h"

/* ---- how full tables are --------------------------------------------------------------------- */

/* Memory is looked at again when the arena has grown by this part of what is left: indexes and
 * lists grow beside it. */
#define LOOK_PART 4u

static void look_after(tsl__tables *t, uint64_t bytes) {
  t->space->work.full_at = t->space->arena.total + bytes / LOOK_PART + 1;
}

static bool is_closed(const tsl__tables *t) {
  return atomic_load_explicit(&((tsl__tables *)(uintptr_t)t)->closed, memory_order_relaxed);
}

/* The texts so far are part of what was made ahead. */
static void begin_to_fill(tsl__tables *t, uint64_t share) {
  t->born = tsl__space_own_memory(t->space);
  t->share = share;
  look_after(t, share);
}

void tsl__grammar_born(tsl_grammar *g) {
  const tsl__space *s = g->space;
  uint64_t made = tsl__space_own_memory(s), most = s->work.max_memory / TSL__SHARE_PART,
           share = made > TSL__SHARE ? made : TSL__SHARE;
  if (s->work.text_memory) share = s->work.text_memory;
  begin_to_fill(g->tables, share < most ? share : most);
  g->tables->compiled = tsl__space_memory(s) - made;
}

#define SHARES_OF_EXPRESSIONS 4u

bool tsl__grammar_used_up(const tsl_grammar *g) {
  const tsl__tables *first = g->tables->first;
  uint64_t now = tsl__space_memory(first->space) - tsl__space_own_memory(first->space);
  return tsl__is_crowded(first) || now > 2 * first->compiled + SHARES_OF_EXPRESSIONS * first->share;
}

static void look_at_space(tsl__tables *t) {
  uint64_t own = tsl__space_own_memory(t->space), used = own > t->born ? own - t->born : 0;
  if (used < t->share) {
    look_after(t, t->share - used);
    return;
  }
  atomic_store_explicit(&t->closed, true, memory_order_relaxed);
  if (used < 2 * t->share) {
    look_after(t, 2 * t->share - used);
    return;
  }
  atomic_store_explicit(&t->space->left, true, memory_order_relaxed);
  t->space->work.full_at = UINT64_MAX;
}

void tsl__tables_look(tsl__tables *t) {
  if (t->space->arena.total >= t->space->work.full_at) look_at_space(t);
  tsl__expressions_look(t->first);
}

uint64_t tsl__grammar_memory(const tsl_grammar *g) {
  const tsl__tables *first = g->tables->first;
  uint64_t n = tsl__space_memory(first->space) + sizeof *first + sizeof *g + g->report_size;
  for (const tsl__tables *t = first->others; t; t = t->older)
    n += tsl__space_own_memory(t->space) + sizeof *t + sizeof *g;
  return n;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* An empty space over the expressions of another; NULL when out of memory, or where these cannot be
 * shared. */
static tsl__space *space_like(const tsl__space *old) {
  tsl__space *s;
  if (!old->hook || !old->hook->life.again) return NULL;
  const tsl_limits limits = {.max_memory = old->work.max_memory,
                             .max_stacks = old->positions.max_stacks,
                             .max_steps = old->work.max_steps,
                             .cancel = old->work.cancel,
                             .deadline_us = old->work.deadline_us,
                             .text_memory = old->work.text_memory};
  if (old->layer->make(old->parent, old->vocab, &old->alloc, &limits, &s) != TSL_OK) return NULL;
  s->work.until = old->work.until;
  s->positions.watches = old->positions.watches;
  s->names_tokens = old->names_tokens;
  s->walking.delta_work = old->walking.delta_work;
  s->walking.subtract_bytes = old->walking.subtract_bytes;
  s->walking.shortcuts_off = old->walking.shortcuts_off;
  s->hook_ctx = old->hook->life.again(old->hook_ctx, s);
  if (s->hook_ctx) return s->hook = old->hook, s;
  tsl__space_free(s);
  return NULL;
}

/* Empty tables beside others, with one reference; NULL: there are none. Needs the lock. */
static tsl__tables *tables_like(tsl__tables *first, tsl_vocab *vocab, const tsl_allocator *a) {
  tsl__tables *t = tsl__alloc_zero(a, sizeof *t);
  tsl__space *space = t ? space_like(first->space) : NULL;
  if (!space) {
    if (t) tsl__free(a, t, sizeof *t);
    return NULL;
  }
  t->space = space;
  t->first = first;
  t->serial = 1 + atomic_fetch_add_explicit(&vocab->tables_made, 1, memory_order_relaxed);
  atomic_init(&t->references, 1);
  t->older = first->others;
  if (t->older) t->older->newer = t;
  first->others = t;
  first->begun++;
  begin_to_fill(t, first->share);
  return t;
}

static void unlink_tables(tsl__tables *t) {
  if (t->newer)
    t->newer->older = t->older;
  else
    t->first->others = t->older;
  if (t->older) t->older->newer = t->newer;
}

/* One reference less; true: it was the last, and the tables are in no list any more. */
static bool give_up(tsl__tables *t) {
  if (atomic_fetch_sub_explicit(&t->references, 1, memory_order_acq_rel) != 1) return false;
  if (t != t->first) unlink_tables(t);
  return true;
}

static void free_tables(tsl__tables *t, const tsl_allocator *a) {
  tsl__space_free(t->space);
  tsl__free(a, t, sizeof *t);
}

void tsl__tables_release(tsl__tables *t, const tsl_allocator *a) {
  tsl__tables *first = t->first;
  tsl__mutex_lock(&first->lock);
  bool last = give_up(t);
  tsl__mutex_unlock(&first->lock);
  if (!last) return;
  if (t == first) { /* nobody is left who could take the lock */
    tsl__tables *newest = first->newest;
    if (newest && give_up(newest)) free_tables(newest, a);
    tsl__mutex_free(&first->lock);
  }
  free_tables(t, a);
}

/* Generations with matchers are left, the oldest first, until few enough are not. Needs the
 * lock. */
static void leave_oldest(tsl__tables *first, const tsl_grammar *whole) {
  uint32_t most = TSL__GENERATIONS +
                  atomic_load_explicit(&((tsl_grammar *)(uintptr_t)whole)->references,
                                       memory_order_relaxed) /
                      TSL__MATCHERS_EACH,
           n = 0;
  for (tsl__tables *t = first->others; t; t = t->older)
    if (!t->alone && ++n > most) atomic_store_explicit(&t->space->left, true, memory_order_relaxed);
}

/* The tables in which matchers begin, with a reference; *old: some that are to be freed. NULL: new
 * ones are needed, and cannot be made. Needs the lock. */
static tsl__tables *tables_now(const tsl_grammar *whole, tsl__tables **old) {
  tsl__tables *first = whole->tables->first, *newest = first->newest;
  *old = NULL;
  if (!newest || is_closed(newest)) {
    tsl__tables *made = tables_like(first, whole->vocab, &whole->alloc);
    if (!made) return NULL;
    if (newest && give_up(newest)) *old = newest;
    first->newest = newest = made;
    leave_oldest(first, whole);
  }
  atomic_fetch_add_explicit(&newest->references, 1, memory_order_relaxed);
  return newest;
}

/* ---- views ----------------------------------------------------------------------------------- */

/* A view over tables, whose reference it takes over; *why: how it failed, then the reference is
 * kept. Needs the lock. */
static tsl_grammar *view_over(tsl_grammar *whole, tsl__tables *t) {
  tsl__space *space = t->space;
  tsl_grammar *v = tsl__alloc_zero(&whole->alloc, sizeof *v);
  if (!v) return NULL;
  *v = (tsl_grammar){.vocab = whole->vocab,
                     .space = space,
                     .lock = whole->lock,
                     .alloc = whole->alloc,
                     .tables = t,
                     .front = whole->front,
                     .dress = whole->dress,
                     .whole = whole};
  atomic_init(&v->references, 1);
  tsl__space_begin_by(space, tsl__deadline(space->work.deadline_us));
  v->start = space->hook->life.carry(space->hook_ctx, whole->space, whole->start);
  v->begin = v->start ? tsl__stack_begin(space, v->start) : 0;
  if (v->begin && (!v->dress || v->dress(v)) && space->status == TSL_OK) return v;
  tsl__free(&whole->alloc, v, sizeof *v);
  return NULL;
}

/* One of the references that are not counted with the grammar. */
static void drop_view(tsl_grammar *v) {
  if (!v || atomic_fetch_sub_explicit(&v->references, 1, memory_order_acq_rel) != 1) return;
  tsl_allocator a = v->alloc;
  tsl__tables_release(v->tables, &a);
  tsl__free(&a, v, sizeof *v);
}

void tsl__views_free(tsl_grammar *whole) {
  drop_view(whole->view);
  tsl__mutex_free(&whole->door);
}

static void add_reference(tsl_grammar *g) {
  atomic_fetch_add_explicit(&g->references, 1, memory_order_relaxed);
}

void tsl_grammar_retain(tsl_grammar *g) {
  tsl_grammar *whole = g->whole;
  add_reference(g);
  if (whole != g) add_reference(whole);
  if (whole->origin != whole) add_reference(whole->origin);
}

/* The newest view, if it is still good, retained. */
static tsl_grammar *good_view(tsl_grammar *whole, bool any) {
  tsl__mutex_lock(&whole->door);
  tsl_grammar *v = whole->view;
  if (v && (any || !is_closed(v->tables)))
    tsl_grammar_retain(v);
  else
    v = NULL;
  tsl__mutex_unlock(&whole->door);
  return v;
}

/* A new view becomes the newest, and is retained. */
static void install(tsl_grammar *whole, tsl_grammar *v) {
  tsl_grammar_retain(v);
  tsl__mutex_lock(&whole->door);
  tsl_grammar *old = whole->view;
  whole->view = v;
  tsl__mutex_unlock(&whole->door);
  drop_view(old);
}

static tsl_grammar *new_view(tsl_grammar *whole) {
  tsl__tables *old;
  tsl__mutex_lock(whole->lock);
  tsl__tables *t = tables_now(whole, &old);
  tsl_grammar *v = t ? view_over(whole, t) : NULL;
  tsl__mutex_unlock(whole->lock);
  if (old) free_tables(old, &whole->alloc);
  if (v)
    install(whole, v);
  else if (t)
    tsl__tables_release(t, &whole->alloc);
  return v;
}

/* The newest view of an edition, retained. */
static tsl_grammar *view_now(tsl_grammar *whole) {
  tsl_grammar *v = whole;
  if (!is_closed(whole->tables)) return tsl_grammar_retain(v), v;
  if ((v = good_view(whole, false)) || (v = new_view(whole)) || (v = good_view(whole, true)))
    return v;
  return tsl_grammar_retain(whole), whole;
}

tsl_grammar *tsl__grammar_now(tsl_grammar *g) {
  tsl_grammar *origin = g->whole->origin;
  if (TSL__LIKELY(!tsl__is_crowded(origin->tables->first))) return view_now(origin);
  tsl_grammar *e = tsl__edition_now(origin), *v = view_now(e);
  tsl_grammar_release(e);
  return v;
}

/* A view over tables of its own, retained; NULL: there is none. Needs the lock. */
static tsl_grammar *view_alone(tsl_grammar *whole, tsl__tables **unused) {
  tsl__tables *t = *unused = tables_like(whole->tables->first, whole->vocab, &whole->alloc);
  tsl_grammar *v = t ? view_over(whole, t) : NULL;
  if (!v) return NULL;
  *unused = NULL;
  t->alone = true;
  atomic_store_explicit(&t->closed, true, memory_order_relaxed);
  tsl_grammar_retain(whole);
  return v;
}

/* ---- a matcher moves ------------------------------------------------------------------------- */

/* The positions that a matcher needs: its history, in the places of the ring, and where it is. */
static bool carry_all(const tsl_matcher *m, tsl__carry *c, uint32_t *ring, tsl__stack *at) {
  for (uint32_t i = 0; i < m->history_n; i++) {
    uint32_t k = (m->history_next + m->history_cap - 1 - i) & (m->history_cap - 1);
    if (!(ring[k] = tsl__carry_stack(c, m->history[k]))) return false;
  }
  return (*at = tsl__carry_stack(c, m->at)) != 0;
}

/* Carry a matcher's positions into a view. Needs the lock. *over: that would take more than `most`
 * bytes. */
static bool carry_into(const tsl_matcher *m, const tsl_grammar *v, uint64_t most, uint32_t *ring,
                       tsl__stack *at, bool *over) {
  tsl__space *to = v->space;
  tsl__carry c = {.to = to, .from = m->space, .most = SIZE_MAX};
  if (most) c.most = to->arena.total + (size_t)most;
  tsl__space_begin_by(to, tsl__deadline(to->work.deadline_us));
  bool fine = carry_all(m, &c, ring, at);
  *over = c.over;
  tsl__carry_free(&c);
  return fine && to->status == TSL_OK;
}

/* The matcher stands in the view from now on, whose reference it takes over. */
static void stand_in(tsl_matcher *m, tsl_grammar *v, const uint32_t *ring, tsl__stack at) {
  tsl_grammar *before = m->grammar;
  if (m->history_cap) memcpy(m->history, ring, m->history_cap * sizeof *ring);
  m->grammar = v;
  m->space = v->space;
  memset(m->borrowed.mask, 0, sizeof m->borrowed.mask);
  tsl__matcher_stand(m, at);
  tsl_grammar_release(before);
}

/* Into a view; where that would take too much of it, into one that the matcher has alone. */
static tsl_grammar *carry(const tsl_matcher *m, tsl_grammar *v, uint32_t *ring, tsl__stack *at) {
  tsl_grammar *whole = m->grammar->whole, *own = NULL;
  tsl__tables *unused = NULL;
  bool over = false;
  tsl__mutex_lock(whole->lock);
  uint64_t share = whole->tables->first->share;
  bool fine = carry_into(m, v, share / LOOK_PART + 1, ring, at, &over);
  if (!fine && over && (own = view_alone(whole, &unused)) != NULL) {
    fine = carry_into(m, own, 0, ring, at, &over);
    uint64_t need = tsl__space_own_memory(own->space);
    begin_to_fill(own->tables, need > share ? need : share);
  }
  tsl__tables_look(v->tables);
  tsl__mutex_unlock(whole->lock);
  if (unused) tsl__tables_release(unused, &whole->alloc);
  tsl_grammar *unneeded = fine && own ? v : own;
  if (unneeded) tsl_grammar_release(unneeded);
  if (!fine) {
    tsl_grammar_release(v);
    return NULL;
  }
  return own ? own : v;
}

void tsl__matcher_renew(tsl_matcher *m) {
  const tsl__space *before = m->space;
  m->grammar = tsl__grammar_renew(m->grammar);
  m->space = m->grammar->space;
  if (m->space != before) memset(m->borrowed.mask, 0, sizeof m->borrowed.mask);
}

bool tsl__matcher_move(tsl_matcher *m) {
  tsl_grammar *whole = m->grammar->whole,
              *v = tsl__is_left(whole->tables->first) ? tsl__grammar_now(whole) : view_now(whole);
  if (v == m->grammar || atomic_load_explicit(&v->space->left, memory_order_relaxed)) {
    tsl_grammar_release(v);
    return false;
  }
  if (v->whole != whole) return tsl__matcher_reread(m, v);
  uint32_t *ring =
      m->history_cap ? tsl__alloc_zero(&m->alloc, m->history_cap * sizeof *ring) : NULL;
  tsl__stack at = 0;
  if (!m->history_cap || ring)
    v = carry(m, v, ring, &at);
  else
    tsl_grammar_release(v), v = NULL;
  if (v) stand_in(m, v, ring, at);
  tsl__free(&m->alloc, ring, ring ? m->history_cap * sizeof *ring : 0);
  return v != NULL;
}
