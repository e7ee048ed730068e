/* ahead_walks.c - walks done before a text needs them, and written down.
 *
 * Problem   A server that maps a grammar should find its masks there. But which walks will texts
 *           need? A walk depends on the state and on what the frame above left over.
 * Idea      Follow what can happen, from the first frame on, until nothing is new.
 * Which     From each state of a frame over the whole vocabulary. What such a walk leaves over is
 *           met by what follows the frame: the places that its callers come back to. These are
 *           walked over that leftover. What they leave over goes to what follows the callers'
 *           frames, until nothing is new or the steps are spent. Frames that spell names are walked
 *           likewise, each name with all that it goes on to. Registers take one value for each of a
 *           loop's three states: others are walked when they are met.
 * Example   The frame of a string is called by the frame of a member, which comes back to "a comma
 *           or a brace". The string's walk leaves over L, the rests of tokens that begin with a
 *           quote. So (comma or brace, L) is walked. It leaves M, rests that begin behind a brace.
 *           The member's frame is followed by nothing but the end, so M is looked at no further.
 * Where     The walks are done in a grammar that was loaded from the states just written, so they
 *           have the file's numbers. And a grammar that has been in use can be saved with all that
 *           it has walked.
 * Masks     A bitset may be written as the tokens that it has, lacks, or differs in from another
 *           one. That must take an eighth of its size at most. Otherwise it is written whole, so
 *           that it is used where it lies.
 * Limits    PAIRS_MAX pairs of a frame and a leftover, and the steps that the caller allows.
 * Tested by tests/artifact/test_artifact.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/artifact/artifact.h"
#include "runtime/walk/names.h"

#define PAIRS_MAX 200000u /* (frame, leftover) that are looked at */

typedef TSL__VEC(tsl__state) states;

/* What comes after a frame: a place in a calling frame. */
typedef struct follower {
  uint32_t frame; /* of the caller */
  tsl__target place;
} follower;

typedef struct frame {
  tsl__state start;
  bool bottom, keyed;
  states states;
  TSL__VEC(follower) followers;
} frame;

/* A frame may leave this over. */
typedef struct pending {
  uint32_t frame;
  tsl__leftover left;
} pending;

typedef struct warmer {
  tsl__space *space;
  const tsl_allocator *a;
  uint64_t until; /* of tsl__space_steps */
  TSL__VEC(frame) frames;
  TSL__VEC(pending) pending; /* all that were met; those from `next` on are to be looked at */
  size_t next;
  tsl__index known, by_start; /* of pending, of frames */
} warmer;

static bool out_of_memory(warmer *w) { return tsl__space_no_memory(w->space); }
static bool go_on(const warmer *w) {
  return w->space->status == TSL_OK && tsl__space_steps(w->space) < w->until;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* The number of the frame that begins with a state, which is made if it is new. 0 on failure. */
static uint32_t frame_of(warmer *w, tsl__state start, bool bottom) {
  uint64_t hash = tsl__mix((uint64_t)start * 2 + bottom);
  tsl__index_iter it = tsl__index_first(&w->by_start, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (w->frames.at[i].start == start && w->frames.at[i].bottom == bottom) return i;
  frame f = {.start = start,
             .bottom = bottom,
             .keyed = tsl__state_at(w->space, start)->flags & TSL__STATE_KEYED};
  if (!tsl__vec_push(w->a, &w->frames, f) ||
      !tsl__index_add(&w->by_start, w->a, hash, (uint32_t)w->frames.n - 1))
    return out_of_memory(w), 0;
  return (uint32_t)w->frames.n - 1;
}

typedef struct closure {
  warmer *w;
  uint32_t frame;
  tsl__words seen; /* bits, by state */
} closure;

/* A state of the frame, if it is new; the three of a loop go together. */
static void reach(closure *c, tsl__target t) {
  tsl__state s = tsl__target_state(t);
  uint32_t copies = tsl__state_at(c->w->space, s)->flags & TSL__STATE_LOOP ? 3 : 1;
  if (!s || !tsl__a_number(tsl__reader_of(c->w->space), s)) return;
  while (c->seen.n <= s / 32)
    if (!tsl__vec_push(c->w->a, &c->seen, 0)) {
      out_of_memory(c->w);
      return;
    }
  if (c->seen.at[s / 32] >> (s & 31) & 1) return;
  c->seen.at[s / 32] |= (uint32_t)1 << (s & 31);
  for (uint32_t i = 0; i < copies; i++)
    if (!tsl__vec_push(c->w->a, &c->w->frames.at[c->frame].states, s + i)) out_of_memory(c->w);
}

static void reach_names(closure *c, tsl__state s, const tsl__state_rec *r) {
  for (uint32_t k = 0; k < r->resume->names && c->w->space->status == TSL_OK; k++)
    if (tsl__resume_allows(c->w->space, s, k)) reach(c, tsl__resume_to(c->w->space, s, k));
}

/* After the called frame the caller goes on at `push`: each such place is kept once. */
static void note_call(warmer *w, uint32_t from, const tsl__edge *e) {
  uint32_t to = frame_of(w, tsl__target_state(e->to), false);
  follower f = {from, e->push};
  for (size_t i = 0; i < w->frames.at[to].followers.n; i++)
    if (w->frames.at[to].followers.at[i].frame == from &&
        w->frames.at[to].followers.at[i].place == e->push)
      return;
  if (w->space->status == TSL_OK && !tsl__vec_push(w->a, &w->frames.at[to].followers, f))
    out_of_memory(w);
}

/* All states that a frame can come to. */
static void close_frame(warmer *w, uint32_t number) {
  closure c = {.w = w, .frame = number};
  reach(&c, w->frames.at[number].start);
  for (size_t i = 0; i < w->frames.at[number].states.n && w->space->status == TSL_OK; i++) {
    tsl__state s = w->frames.at[number].states.at[i];
    tsl__space_begin(w->space);
    const tsl__state_rec *r = tsl__state_expanded(w->space, s);
    if (!r) break;
    if (!(r->handle & TSL__A_LISTED)) continue; /* what it leads to has no end */
    for (uint32_t k = 0; k < r->ranges; k++)
      if (r->targets[k]) reach(&c, r->targets[k]);
    for (uint32_t k = 0; k < r->token_edges; k++) reach(&c, tsl__state_token_edges(r)[k].to);
    for (uint32_t k = 0; k < r->edges; k++) {
      reach(&c,
            tsl__state_edges(r)[k].push ? tsl__state_edges(r)[k].push : tsl__state_edges(r)[k].to);
      if (tsl__state_edges(r)[k].push) note_call(w, number, &tsl__state_edges(r)[k]);
    }
    if (r->flags & TSL__STATE_RESUME) reach_names(&c, s, r);
  }
  tsl__vec_free(w->a, &c.seen);
}

/* ---- walks ----------------------------------------------------------------------------------- */

/* A frame may leave this over: its followers are walked over that, once. Nothing lies below the
 * bottom frame. */
static void leave(warmer *w, uint32_t number, tsl__leftover left) {
  uint64_t hash = tsl__mix((uint64_t)number << 32 | left);
  if (!left || w->frames.at[number].bottom || w->pending.n >= PAIRS_MAX ||
      w->space->status != TSL_OK)
    return;
  tsl__index_iter it = tsl__index_first(&w->known, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (w->pending.at[i].frame == number && w->pending.at[i].left == left) return;
  pending p = {number, left};
  if (!tsl__vec_push(w->a, &w->pending, p) ||
      !tsl__index_add(&w->known, w->a, hash, (uint32_t)w->pending.n - 1))
    out_of_memory(w);
}

/* A state of a frame over a leftover: its parts apart, as chains do it. */
static void walk(warmer *w, uint32_t number, tsl__state s, uint32_t count, tsl__leftover over) {
  for (int part = 0; part < 2 && w->space->status == TSL_OK; part++) {
    tsl__leftover t = part ? tsl__leftover_set(over) : over & TSL__WHOLE;
    tsl__space_begin(w->space);
    const tsl__walk *done =
        t ? tsl__walk_over(w->space, s, count, t, w->frames.at[number].bottom) : NULL;
    if (done) leave(w, number, done->left);
  }
}

/* The register in each of a loop's three states: at the beginning, when it may end, and when it
 * must. */
static uint32_t usual_count(const tsl__state_rec *r) {
  if (!(r->flags & TSL__STATE_LOOP)) return 0;
  switch (r->flags / TSL__STATE_PHASE) {
  case 0: return 0;
  case 1: return r->loop_min;
  default: return r->loop_max;
  }
}

/* What follows a name: of each RESUME that may lie below its frame. */
static void walk_names(warmer *w, uint32_t number, tsl__state s, tsl__leftover over) {
  const tsl__named_walk *named = tsl__named_walk_over(w->space, s, over);
  for (size_t i = 0; named && i < w->frames.at[number].followers.n && go_on(w); i++) {
    follower f = w->frames.at[number].followers.at[i];
    for (uint32_t k = 0; k < named->left_count && w->space->status == TSL_OK; k++) {
      tsl__leftover rest = tsl__walk_after_name(w->space, NULL, tsl__target_state(f.place),
                                                &named->lefts[k], w->frames.at[f.frame].bottom);
      if (rest) leave(w, f.frame, rest);
    }
  }
}

static void walk_frame(warmer *w, uint32_t number) {
  for (size_t i = 0; i < w->frames.at[number].states.n && go_on(w); i++) {
    tsl__state s = w->frames.at[number].states.at[i];
    const tsl__state_rec *r = tsl__state_at(w->space, s);
    tsl__space_begin(w->space);
    if (r->flags & TSL__STATE_KEYED)
      walk_names(w, number, s, TSL__WHOLE);
    else if (!(r->flags & (TSL__STATE_FORK | TSL__STATE_RESUME)))
      walk(w, number, s, usual_count(r), TSL__WHOLE);
  }
}

/* Until nothing new is left over, or the steps are spent. */
static void walk_pending(warmer *w) {
  for (; w->next < w->pending.n && go_on(w); w->next++) {
    pending p = w->pending.at[w->next];
    for (size_t i = 0;
         !w->frames.at[p.frame].keyed && i < w->frames.at[p.frame].followers.n && go_on(w); i++) {
      follower f = w->frames.at[p.frame].followers.at[i];
      uint32_t count;
      tsl__state s = tsl__target_resolve(w->space, f.place, 0, &count);
      if (!(tsl__state_at(w->space, s)->flags & (TSL__STATE_FORK | TSL__STATE_RESUME)))
        walk(w, f.frame, s, count, p.left);
    }
  }
}

static void warmer_free(warmer *w) {
  for (size_t i = 0; i < w->frames.n; i++) {
    tsl__vec_free(w->a, &w->frames.at[i].states);
    tsl__vec_free(w->a, &w->frames.at[i].followers);
  }
  tsl__vec_free(w->a, &w->frames);
  tsl__vec_free(w->a, &w->pending);
  tsl__index_free(&w->known, w->a);
  tsl__index_free(&w->by_start, w->a);
}

/* Running out of steps or memory only means fewer walks; a damaged file is a failure. */
tsl_status tsl__ahead_walk(tsl_grammar *g, uint64_t max_steps) {
  warmer w = {
      .space = g->space, .a = &g->space->alloc, .until = tsl__space_steps(g->space) + max_steps};
  tsl__space_begin(g->space);
  frame_of(&w, g->start, true);
  for (uint32_t i = 0; i < w.frames.n && g->space->status == TSL_OK; i++) close_frame(&w, i);
  for (uint32_t i = 0; i < w.frames.n && go_on(&w); i++) walk_frame(&w, i);
  walk_pending(&w);
  warmer_free(&w);
  return g->space->status == TSL_ERR_LIMIT ? TSL_OK : g->space->status;
}

/* ---- writing them down ----------------------------------------------------------------------- */

typedef struct memo {
  const tsl__space *space;
  const tsl__reader *reader;
  tsl__a_draft *draft;
  tsl__words mask, bitset, left; /* by the space's number: the file's, 0 = none yet */
  tsl__words rows;               /* whole bitsets: their numbers in the space */
  tsl_status status;
} memo;

static void no_memory(memo *m) {
  if (m->status == TSL_OK) m->status = TSL_ERR_NO_MEMORY;
}

static void put(memo *m, unsigned section, uint32_t word) {
  if (m->status == TSL_OK && !tsl__vec_push(m->draft->a, &m->draft->section[section], word))
    no_memory(m);
}

static void put_all(memo *m, unsigned section, const uint32_t *at, size_t n) {
  tsl__words *v = &m->draft->section[section];
  if (m->status != TSL_OK || n == 0) return;
  if (v->n + n > UINT32_MAX || !tsl__vec_reserve(m->draft->a, v, n)) {
    no_memory(m);
    return;
  }
  memcpy(v->at + v->n, at, n * sizeof *at);
  v->n += n;
}

static uint32_t end_of(const memo *m, unsigned section) {
  return (uint32_t)m->draft->section[section].n;
}

/* The slot of a number in a map that grows; NULL on failure. */
static uint32_t *slot_of(memo *m, tsl__words *map, uint32_t number) {
  while (map->n <= number)
    if (!tsl__vec_push(m->draft->a, map, 0)) return no_memory(m), NULL;
  return &map->at[number];
}

static uint32_t ones_of(uint32_t word) { return (uint32_t)__builtin_popcount(word); }

/* Tokens in which two bitsets differ: `a` is turned over where `flip` says so. */
static void put_difference(memo *m, const uint32_t *a, const uint32_t *b, bool flip, uint32_t *n) {
  *n = 0;
  for (tsl_token t = 0; t < m->space->vocab->size; t++) {
    uint32_t one = a[t >> 5] >> (t & 31) & 1, other = b ? b[t >> 5] >> (t & 31) & 1 : 0;
    if ((one ^ other) == (flip ? 1u : 0u)) continue;
    put(m, TSL__A_LISTS, t);
    ++*n;
  }
}

/* Few tokens, all but few, few that differ from a bitset that is written already, or the whole: the
 * first that fits. */
static void put_bitset(memo *m, const uint32_t *bits) {
  const tsl_vocab *v = m->space->vocab;
  size_t words = tsl_vocab_mask_words(v);
  uint32_t ones = 0, n = 0, few = (uint32_t)(words / 8), list = end_of(m, TSL__A_LISTS), row;
  for (size_t i = 0; i < words; i++) ones += ones_of(bits[i]);
  if (ones <= few || v->size - ones <= few) {
    put_difference(m, bits, NULL, ones > few, &n);
    put(m, TSL__A_BITSETS, ones <= few ? TSL__BITS_SPARSE : TSL__BITS_COMPLEMENT);
    put(m, TSL__A_BITSETS, list);
    put(m, TSL__A_BITSETS, n);
    return;
  }
  for (row = 0; row < m->rows.n; row++) {
    const uint32_t *other = tsl__bitset_at(m->space, m->rows.at[row]);
    uint32_t differ = 0;
    for (size_t i = 0; i < words && differ <= few; i++) differ += ones_of(bits[i] ^ other[i]);
    if (differ > few) continue;
    put_difference(m, bits, other, false, &n);
    put(m, TSL__A_BITSETS, TSL__BITS_DELTA | row << 2);
    put(m, TSL__A_BITSETS, list);
    put(m, TSL__A_BITSETS, n);
    return;
  }
  put(m, TSL__A_BITSETS, TSL__BITS_DENSE | row << 2);
  put(m, TSL__A_BITSETS, 0);
  put(m, TSL__A_BITSETS, 0);
  put_all(m, TSL__A_DENSE, bits, words);
}

static uint32_t bitset_of(memo *m, uint32_t number) {
  uint32_t *slot = slot_of(m, &m->bitset, number);
  if (!slot || *slot) return slot ? *slot : 0;
  size_t rows = m->draft->section[TSL__A_DENSE].n;
  *slot = end_of(m, TSL__A_BITSETS) / 3;
  put_bitset(m, tsl__bitset_at(m->space, number));
  if (m->draft->section[TSL__A_DENSE].n != rows && !tsl__vec_push(m->draft->a, &m->rows, number))
    no_memory(m);
  return m->bitset.at[number];
}

static uint32_t mask_of(memo *m, tsl__mask number) {
  uint32_t *slot = number ? slot_of(m, &m->mask, number) : NULL;
  if (!slot || *slot) return slot ? *slot : 0;
  const tsl__mask_rec *r = tsl__mask_at(m->space, number);
  /* their lists come first */
  for (uint32_t i = 0; i < r->base_count; i++) bitset_of(m, tsl__mask_bases(r)[i]);
  *slot = end_of(m, TSL__A_MASKS) / 4;
  tsl_token minus[TSL__PATCH_MAX], plus[TSL__JOINED_MAX];
  tsl__patches_read(tsl__mask_minus(r), minus);
  tsl__patches_read(tsl__mask_plus(r), plus);
  size_t plus_count = tsl__sort_unique(plus, r->plus_count);
  put(m, TSL__A_MASKS, end_of(m, TSL__A_LISTS));
  put(m, TSL__A_MASKS, r->base_count);
  put(m, TSL__A_MASKS, r->minus_count);
  put(m, TSL__A_MASKS, (uint32_t)plus_count);
  for (uint32_t i = 0; i < r->base_count; i++)
    put(m, TSL__A_LISTS, bitset_of(m, tsl__mask_bases(r)[i]));
  put_all(m, TSL__A_LISTS, minus, r->minus_count);
  put_all(m, TSL__A_LISTS, plus, plus_count);
  return m->mask.at[number];
}

static uint32_t left_of(memo *m, tsl__leftover left) {
  uint32_t number = tsl__leftover_set(left), whole = left & TSL__WHOLE;
  uint32_t *slot = number ? slot_of(m, &m->left, number) : NULL;
  if (!slot) return whole;
  if (!*slot) {
    const tsl__leftover_rec *r = tsl__leftover_at(m->space, number);
    *slot = end_of(m, TSL__A_LEFTOVERS) / 2;
    put(m, TSL__A_LEFTOVERS, end_of(m, TSL__A_LISTS));
    put(m, TSL__A_LEFTOVERS, r->n);
    put_all(m, TSL__A_LISTS, r->nodes, r->n);
  }
  return m->left.at[number] | whole;
}

static void put_walk(memo *m, const tsl__walk *w) {
  /* none: grown past what the file describes */
  uint32_t number = tsl__a_number(m->reader, w->state);
  /* what follows has a number in this space only */
  if (!number || w->follow) return;
  uint32_t row[7] = {number,
                     w->context,
                     left_of(m, w->over),
                     left_of(m, w->left),
                     mask_of(m, w->mask),
                     mask_of(m, w->exits),
                     w->reach == TSL__UNSPLIT ? UINT32_MAX : w->reach};
  put_all(m, TSL__A_WALKS, row, 7);
}

/* Half full at most. */
static void put_slots(memo *m, unsigned section, uint32_t numbers,
                      uint64_t (*hash)(const memo *m, uint32_t number)) {
  uint32_t slots = 2;
  while (slots < 2 * numbers) slots *= 2;
  for (uint32_t i = 0; i < slots; i++) put(m, section, 0);
  uint32_t *at = m->draft->section[section].at;
  for (uint32_t n = 1; n < numbers && m->status == TSL_OK; n++) {
    uint64_t i = hash(m, n) & (slots - 1);
    while (at[i]) i = (i + 1) & (slots - 1);
    at[i] = n;
  }
}

static uint64_t hash_walk(const memo *m, uint32_t number) {
  const uint32_t *w = m->draft->section[TSL__A_WALKS].at + 7 * (size_t)number;
  return tsl__a_hash_walk(w[0], w[1], w[2]);
}

static uint64_t hash_left(const memo *m, uint32_t number) {
  const uint32_t *e = m->draft->section[TSL__A_LEFTOVERS].at + 2 * (size_t)number;
  return tsl__hash(m->draft->section[TSL__A_LISTS].at + e[0], e[1] * sizeof(uint32_t));
}

/* Does who waits for the file still wait? */
static bool in_time(memo *m) {
  tsl__space_begin((tsl__space *)(uintptr_t)m->space);
  if (m->status == TSL_OK) m->status = m->space->status;
  return m->status == TSL_OK;
}

/* Only walks that the index has are whole: see runtime/walk/walk.c on cycles. */
static void put_walks(memo *m) {
  tsl__index *known = (tsl__index *)(uintptr_t)&m->space->walks.index;
  tsl__index_settle(known, &m->space->alloc);
  const tsl__index_table *t = atomic_load(&known->table);
  TSL__VEC(uint32_t) numbers = {0};
  for (uint32_t i = 0; t && i < t->count; i++) {
    uint32_t held = (uint32_t)tsl__index_slot(t, i);
    if (held && !tsl__vec_push(m->draft->a, &numbers, known->first + held - 1)) no_memory(m);
  }
  /* in the order in which they were done: the file does not depend on the table */
  size_t n = tsl__sort_unique(numbers.at, numbers.n);
  for (size_t i = 0; i < n && in_time(m); i++)
    put_walk(m, tsl__space_at(m->space, walks, numbers.at[i]));
  tsl__vec_free(m->draft->a, &numbers);
}

tsl_status tsl__ahead_memo(const tsl_grammar *g, tsl__a_draft *draft) {
  memo m = {.space = g->space, .reader = tsl__reader_of(g->space), .draft = draft};
  static const uint32_t none[7] = {0};
  put_all(&m, TSL__A_BITSETS, none, 3); /* number 0 means none */
  put_all(&m, TSL__A_MASKS, none, 4);
  put_all(&m, TSL__A_LEFTOVERS, none, 2);
  put_all(&m, TSL__A_WALKS, none, 7);
  put_walks(&m);
  draft->header.walks = end_of(&m, TSL__A_WALKS) / 7;
  draft->header.masks = end_of(&m, TSL__A_MASKS) / 4;
  draft->header.bitsets = end_of(&m, TSL__A_BITSETS) / 3;
  draft->header.leftovers = end_of(&m, TSL__A_LEFTOVERS) / 2;
  put_slots(&m, TSL__A_LEFT_SLOTS, draft->header.leftovers, hash_left);
  put_slots(&m, TSL__A_WALK_SLOTS, draft->header.walks, hash_walk);
  tsl__vec_free(draft->a, &m.mask);
  tsl__vec_free(draft->a, &m.bitset);
  tsl__vec_free(draft->a, &m.left);
  tsl__vec_free(draft->a, &m.rows);
  return m.status;
}
