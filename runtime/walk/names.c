/* names.c - see names.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/names.h"

#include "runtime/walk/fixed.h"

#include <stdlib.h>

/* Where there are a thousand names, their number counts. So many words of bits to be gone through
 * are a step, and as many steps if each name is requested. */
#define STEP_WORDS 16u
#define STEP_NAMES (64u * STEP_WORDS)

/* ---- RESUME ---------------------------------------------------------------------------------- */

bool tsl__resume_make(tsl__space *space, tsl__state_rec *r, uint32_t names) {
  size_t words = (names + 63) / 64;
  if (!tsl__space_step(space, (uint32_t)words / STEP_WORDS)) return false;
  tsl__resume *made = tsl__arena_alloc(&space->arena, sizeof *made);
  uint64_t *bits = tsl__arena_alloc(&space->arena, 2 * words * sizeof *bits);
  if (!made || !bits) return tsl__space_no_memory(space), false;
  memset(bits, 0, 2 * words * sizeof *bits);
  *made = (tsl__resume){names, bits, bits + words};
  r->resume = made;
  r->flags |= TSL__STATE_RESUME;
  return true;
}

/* Look up once the names, among 64, whose answer is known at once, before any name is looked up by
 * itself. */
static void ask_word(tsl__space *space, tsl__state resume, const tsl__resume *r, uint32_t word) {
  uint64_t allowed = 0;
  if (r->known[word] || !space->hook || !space->hook->names.allowed) return;
  r->known[word] = space->hook->names.allowed(space->hook_ctx, resume, word, &allowed);
  r->allowed[word] = allowed;
}

bool tsl__resume_allows(tsl__space *space, tsl__state resume, uint32_t name) {
  const tsl__resume *r = tsl__state_at(space, resume)->resume;
  uint64_t bit = (uint64_t)1 << (name & 63);
  uint32_t word = name >> 6;
  ask_word(space, resume, r, word);
  if (!(r->known[word] & bit) && space->hook) {
    if (space->hook->names.allows(space->hook_ctx, resume, name)) r->allowed[word] |= bit;
    if (space->status != TSL_OK) return false; /* not known */
    r->known[word] |= bit;
  }
  return r->allowed[word] & bit;
}

/* Bits of the 64 names from number 64 * `word` on that are in the range. */
static uint64_t names_of(const tsl__name_range *names, uint32_t word) {
  uint64_t bits = UINT64_MAX;
  if (word == names->lo >> 6) bits <<= names->lo & 63;
  if (word == (names->hi - 1) >> 6) bits &= UINT64_MAX >> (63 - ((names->hi - 1) & 63));
  return bits;
}

/* One name that is known to be allowed is enough. Otherwise the names that are not known are looked
 * up. */
static bool any_of_words(tsl__space *space, tsl__state resume, const tsl__resume *r,
                         const tsl__name_range *names, uint32_t first, uint32_t last) {
  if (!tsl__space_step(space, (last - first) / STEP_WORDS)) return false;
  for (uint32_t w = first; w <= last; w++) {
    ask_word(space, resume, r, w);
    if (r->allowed[w] & names_of(names, w)) return true;
  }
  for (uint32_t w = first; w <= last; w++) {
    uint64_t bits = names_of(names, w) & ~r->known[w];
    if (bits && w % STEP_WORDS == STEP_WORDS - 1 && !tsl__space_step(space, STEP_WORDS))
      return false;
    for (; bits; bits &= bits - 1)
      if (tsl__resume_allows(space, resume, w * 64 + (uint32_t)__builtin_ctzll(bits))) return true;
  }
  return false;
}

static inline bool any_of_range(tsl__space *space, tsl__state resume, const tsl__resume *r,
                                const tsl__name_range *names) {
  if (names->lo >= names->hi) return false;
  uint32_t first = names->lo >> 6, last = (names->hi - 1) >> 6;
  uint64_t bits = names_of(names, first);
  if (r->allowed[first] & bits) return true;
  return (first != last || bits & ~r->known[first]) &&
         any_of_words(space, resume, r, names, first, last);
}

bool tsl__resume_any(tsl__space *space, tsl__state resume, const tsl__keyed *names) {
  const tsl__resume *r = tsl__state_at(space, resume)->resume;
  for (uint32_t i = 0; i < names->n; i++)
    if (any_of_range(space, resume, r, &names->range[i])) return true;
  return false;
}

static uint64_t resumed_hash(tsl__state resume, uint32_t name) {
  return tsl__mix(((uint64_t)resume << 32 | name) + 1);
}

/* The record of a RESUME and a name, if there is one; `whole`: in one step. */
static const tsl__resumed *find_resumed(const tsl__space *space, tsl__state resume, uint32_t name,
                                        bool whole) {
  tsl__index_iter it = tsl__index_first(&space->resumed.index, resumed_hash(resume, name));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__resumed *r = tsl__space_at_of(space, resumed, i, sizeof *r);
    if (r->resume == resume && r->name == name && !(whole && r->frame)) return r;
  }
  return NULL;
}

static const tsl__resumed *add_resumed(tsl__space *space, tsl__resumed made) {
  tsl__resumed *r = tsl__pool_add(&space->resumed.pool, &space->kept);
  if (r) *r = made;
  if (r &&
      tsl__index_add(&space->resumed.index, &space->alloc, resumed_hash(made.resume, made.name),
                     tsl__space_count(space, resumed) - 1))
    return r;
  return tsl__space_no_memory(space), NULL;
}

static const tsl__resumed *resume_whole(tsl__space *space, tsl__state resume, uint32_t name) {
  if (!space->hook)
    return tsl__space_fail(space, TSL_ERR_STATE, "a name that was not expanded ahead of time"),
           NULL;
  tsl__target to = space->hook->names.resume(space->hook_ctx, resume, name);
  if (!to)
    return tsl__space_fail(space, TSL_ERR_LIMIT, space->hook->life.why(space->hook_ctx)), NULL;
  return add_resumed(space, (tsl__resumed){resume, name, 0, to});
}

tsl__target tsl__resume_to(tsl__space *space, tsl__state resume, uint32_t name) {
  const tsl__resumed *known = find_resumed(space, resume, name, true);
  if (!known) known = resume_whole(space, resume, name);
  return known ? known->to : 0;
}

const tsl__resumed *tsl__resume_known(const tsl__space *space, tsl__state resume, uint32_t name) {
  return find_resumed(space, resume, name, false);
}

tsl__state tsl__resume_begins(tsl__space *space, tsl__state resume, uint32_t name) {
  return space->hook && space->hook->names.begins
             ? space->hook->names.begins(space->hook_ctx, resume, name)
             : 0;
}

const tsl__resumed *tsl__resume_anew(tsl__space *space, tsl__state resume, uint32_t name) {
  tsl__state then = 0, frame = space->hook && space->hook->names.calls
                                   ? space->hook->names.calls(space->hook_ctx, resume, name, &then)
                                   : 0;
  if (space->status != TSL_OK) return NULL;
  const tsl__state_rec *r = frame ? tsl__state_at(space, then) : NULL;
  if (!r || r->guarded ||
      r->flags & (TSL__STATE_NULLABLE | TSL__STATE_FORK | TSL__STATE_FINAL | TSL__STATE_LOOP))
    return resume_whole(space, resume, name);
  return add_resumed(space,
                     (tsl__resumed){resume, name, frame, tsl__target_make(then, TSL__OP_CLEAR)});
}

uint32_t tsl__named_shortest(tsl__space *space, tsl__state keyed, tsl__state resume) {
  const tsl__keyed *names = tsl__state_at(space, keyed)->keyed;
  uint64_t best = UINT32_MAX;
  for (uint32_t i = 0; i < names->n; i++)
    for (uint32_t k = names->range[i].lo; k < names->range[i].hi; k++) {
      if (k % STEP_NAMES == STEP_NAMES - 1 && !tsl__space_step(space, STEP_WORDS))
        return UINT32_MAX;
      if (!tsl__resume_allows(space, resume, k)) continue;
      uint64_t bytes = (uint64_t)space->hook->names.name_shortest(space->hook_ctx, keyed, k) +
                       space->hook->names.name_shortest(space->hook_ctx, resume, k);
      if (bytes < best) best = bytes;
    }
  return (uint32_t)best;
}

/* ---- walks ----------------------------------------------------------------------------------- */

static uint64_t walk_hash(tsl__state state, tsl__leftover over) {
  return tsl__mix(((uint64_t)state << 32 | over) + 7);
}

typedef struct place {
  uint32_t node;
  tsl__state state;
} place;

typedef struct finished {
  uint32_t name, node;
} finished;

/* A walk in progress; its lists are kept for the next. */
typedef struct tsl__naming {
  TSL__VEC(place) stack;
  TSL__VEC(tsl__named_token) tokens;
  TSL__VEC(finished) done;
  TSL__VEC(uint32_t) nodes; /* of one leftover */
  tsl__fixed_walk fixed;
  struct {
    tsl__fixed texts; /* whether they are excluded ones does not matter */
    tsl__leftover over;
    bool goes_on, known;
  } question;               /* the last question that needed no states */
  uint32_t quote;           /* its node in the trie, once requested */
  tsl__leftover quote_left; /* what is below it */
  tsl__gather gather;       /* tokens of one walk */
  TSL__VEC(tsl_token) gone;
} search;

void tsl__naming_free(tsl__space *space) {
  search *s = space->walking.naming;
  if (!s) return;
  tsl__vec_free(&space->alloc, &s->stack);
  tsl__vec_free(&space->alloc, &s->tokens);
  tsl__vec_free(&space->alloc, &s->done);
  tsl__vec_free(&space->alloc, &s->nodes);
  tsl__fixed_walk_free(space, &s->fixed);
  tsl__gather_free(space, &s->gather);
  tsl__vec_free(&space->alloc, &s->gone);
  tsl__free(&space->alloc, s, sizeof *s);
  space->walking.naming = NULL;
}

size_t tsl__naming_memory(const tsl__space *space) {
  const search *s = space->walking.naming;
  if (!s) return 0;
  size_t n = sizeof *s + tsl__vec_memory(&s->stack) + tsl__vec_memory(&s->tokens) +
             tsl__vec_memory(&s->done) + tsl__vec_memory(&s->nodes) + tsl__vec_memory(&s->gone);
  return n + tsl__fixed_walk_memory(&s->fixed) + tsl__gather_memory(&s->gather);
}

/* A node reached in a (keyed) state: its tokens, and what is below. */
static void reach(tsl__space *space, search *s, uint32_t c, tsl__state state) {
  const tsl__trie *trie = &space->vocab->trie;
  const tsl__trie_node *n = &trie->nodes[c];
  const tsl__state_rec *r = tsl__state_at(space, state);
  bool fine = true;
  for (uint32_t k = n->begin; fine && k < n->own_end; k++)
    for (uint32_t i = 0; fine && i < r->keyed->n; i++) {
      tsl__named_token t = {trie->order[k], r->keyed->range[i]};
      fine = tsl__vec_push(&space->alloc, &s->tokens, t);
    }
  place below = {c, state};
  finished done = {r->keyed->range[0].lo, c};
  if (fine && n->children)
    fine = r->flags & TSL__STATE_NULLABLE ? tsl__vec_push(&space->alloc, &s->done, done)
                                          : tsl__vec_push(&space->alloc, &s->stack, below);
  if (!fine) tsl__space_no_memory(space);
}

/* Spell names by the states: where texts are not fixed, or are spelled with escapes. */
static void run(tsl__space *space, search *s) {
  const tsl__trie *trie = &space->vocab->trie;
  while (s->stack.n && space->status == TSL_OK) {
    place at = s->stack.at[--s->stack.n];
    const tsl__state_rec *r = tsl__state_expanded(space, at.state);
    if (!r || !tsl__space_step(space, 1)) return;
    for (int w = 0; w < 4; w++)
      for (uint64_t bits = r->live.w[w]; bits; bits &= bits - 1) {
        uint8_t byte = (uint8_t)(w * 64 + __builtin_ctzll(bits));
        uint32_t c = tsl__trie_child(trie, at.node, byte);
        tsl__target t = c ? tsl__state_step(space, r, byte) : 0;
        if (t) reach(space, s, c, tsl__target_state(t));
      }
  }
}

/* Spell names by their table. */
static void run_fixed(tsl__space *space, search *s, tsl__state state, uint32_t node) {
  const tsl__trie *trie = &space->vocab->trie;
  tsl__fixed_walk *w = &s->fixed;
  w->reached.n = w->ends.n = w->rests.n = 0;
  bool fine = tsl__fixed_over(space, tsl__state_at(space, state), node, w);
  for (size_t i = 0; fine && i < w->reached.n; i++) {
    const tsl__trie_node *n = &trie->nodes[w->reached.at[i].node];
    for (uint32_t k = n->begin; fine && k < n->own_end; k++) {
      tsl__named_token t = {trie->order[k], {w->reached.at[i].lo, w->reached.at[i].hi}};
      fine = tsl__vec_push(&space->alloc, &s->tokens, t);
    }
  }
  for (size_t i = 0; fine && i < w->ends.n; i++) {
    finished done = {w->ends.at[i].text, w->ends.at[i].node};
    fine = !trie->nodes[done.node].children || tsl__vec_push(&space->alloc, &s->done, done);
  }
  for (size_t i = 0; fine && i < w->rests.n; i++) {
    place rest = {w->rests.at[i].node, w->rests.at[i].state};
    fine = tsl__vec_push(&space->alloc, &s->stack, rest);
  }
  if (!fine && space->status == TSL_OK) tsl__space_no_memory(space);
}

static int by_name(const void *p, const void *q) {
  const finished *a = p, *b = q;
  return a->name != b->name  ? (a->name < b->name ? -1 : 1)
         : a->node < b->node ? -1
                             : a->node > b->node;
}

/* The leftovers, one for each name. */
static const tsl__named_left *lefts_of(tsl__space *space, search *s, uint32_t *count) {
  tsl__named_left *lefts = tsl__arena_alloc(&space->arena, (s->done.n + 1) * sizeof *lefts);
  *count = 0;
  s->nodes.n = 0;
  if (!lefts) tsl__space_no_memory(space);
  if (s->done.n > 1) qsort(s->done.at, s->done.n, sizeof *s->done.at, by_name);
  for (size_t i = 0; i < s->done.n && space->status == TSL_OK; i++) {
    if (!tsl__vec_push(&space->alloc, &s->nodes, s->done.at[i].node)) tsl__space_no_memory(space);
    if (i + 1 < s->done.n && s->done.at[i + 1].name == s->done.at[i].name) continue;
    lefts[(*count)++] =
        (tsl__named_left){s->done.at[i].name, tsl__leftover_intern(space, s->nodes.at, s->nodes.n)};
    s->nodes.n = 0;
  }
  return lefts;
}

static tsl__named_walk *find_walk(const tsl__space *space, tsl__state state, tsl__leftover over) {
  tsl__index_iter it = tsl__index_first(&space->named.index, walk_hash(state, over));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__named_walk *w = tsl__space_at(space, named, i);
    if (w->state == state && w->over == over) return (tsl__named_walk *)(uintptr_t)w;
  }
  return NULL;
}

/* One of which nothing is known but whether its names go on. */
static tsl__named_walk *add_walk(tsl__space *space, tsl__state state, tsl__leftover over,
                                 bool goes_on) {
  tsl__named_walk *w = tsl__pool_add(&space->named.pool, &space->kept);
  if (w) *w = (tsl__named_walk){.state = state, .over = over, .goes_on = goes_on};
  if (w && tsl__index_add(&space->named.index, &space->alloc, walk_hash(state, over),
                          tsl__space_count(space, named) - 1))
    return w;
  return tsl__space_no_memory(space), NULL;
}

static const tsl__named_walk *list(tsl__space *space, search *s, tsl__named_walk *w) {
  w->lefts = lefts_of(space, s, &w->left_count);
  w->token_count = (uint32_t)s->tokens.n;
  w->tokens = space->status == TSL_OK
                  ? tsl__arena_copy(&space->arena, s->tokens.at, s->tokens.n * sizeof *s->tokens.at)
                  : NULL;
  if (w->tokens) return w;
  if (space->status == TSL_OK) tsl__space_no_memory(space);
  return NULL;
}

/* NULL on failure (sticky). */
static search *search_of(tsl__space *space) {
  if (!space->walking.naming &&
      !(space->walking.naming = tsl__alloc_zero(&space->alloc, sizeof *space->walking.naming)))
    tsl__space_no_memory(space);
  return space->walking.naming;
}

/* A name in its middle is looked at twice where other names may come, too: once for each
 * frame. */
static bool texts_go_on(tsl__space *space, const tsl__state_rec *r, tsl__leftover over) {
  const tsl__fixed *f = tsl__state_fixed(r);
  search *s = f ? search_of(space) : NULL;
  if (!s) return false;
  const tsl__fixed *last = &s->question.texts;
  if (s->question.known && s->question.over == over && last->texts == f->texts &&
      last->lo == f->lo && last->hi == f->hi && last->depth == f->depth)
    return s->question.goes_on;
  bool goes_on = tsl__fixed_goes_on(space, r, over, &s->fixed);
  s->question.texts = *f;
  s->question.over = over;
  s->question.goes_on = goes_on;
  s->question.known = space->status == TSL_OK && !s->fixed.past_ascii;
  return goes_on;
}

bool tsl__names_go_on(tsl__space *space, tsl__state names, tsl__leftover over, bool often) {
  const tsl__named_walk *known = often ? find_walk(space, names, over) : NULL;
  if (known) return known->goes_on;
  bool goes_on = texts_go_on(space, tsl__state_at(space, names), over);
  return (!often || (space->status == TSL_OK && add_walk(space, names, over, goes_on))) && goes_on;
}

const tsl__named_walk *tsl__named_walk_over(tsl__space *space, tsl__state state,
                                            tsl__leftover over) {
  tsl__named_walk *w = find_walk(space, state, over);
  if (w && w->tokens) return w;
  search *s = search_of(space);
  if (!s || (!w && !(w = add_walk(space, state, over, false)))) return NULL;
  s->stack.n = s->tokens.n = s->done.n = 0;
  const tsl__leftover_rec *set = over & TSL__WHOLE ? NULL : tsl__leftover_at(space, over);
  for (uint32_t i = 0; i < (set ? set->n : 1) && space->status == TSL_OK; i++) {
    place start = {set ? set->nodes[i] : 0, state};
    if (tsl__is_fixed(tsl__state_at(space, state)))
      run_fixed(space, s, start.state, start.node);
    else if (!tsl__vec_push(&space->alloc, &s->stack, start))
      tsl__space_no_memory(space);
    run(space, s);
  }
  return space->status == TSL_OK ? list(space, s, w) : NULL;
}

bool tsl__named_end_of(tsl__space *space, tsl__state state, tsl__named_end *out) {
  const tsl__fixed *f = tsl__state_fixed(tsl__state_at(space, state));
  search *s =
      f && f->hi - f->lo == 1 && f->texts[f->lo].length == f->depth ? search_of(space) : NULL;
  if (!s) return false;
  if (!s->quote && (s->quote = tsl__trie_child(&space->vocab->trie, 0, '"')))
    s->quote_left = tsl__leftover_intern(space, &(uint32_t){s->quote}, 1);
  *out = (tsl__named_end){s->quote, {f->lo, s->quote_left}};
  return s->quote && space->status == TSL_OK;
}

/* The first n of 64 names. */
static uint64_t first_names(uint32_t n) { return n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX; }

/* Where there are at most 64 names, and of each it is known whether it is allowed: without a
 * branch, as neighbours differ. */
static void gather_few(tsl__space *space, tsl__gather *g, const tsl__named_walk *w,
                       uint64_t allowed) {
  if (!tsl__vec_reserve(&space->alloc, &g->plus, w->token_count)) {
    tsl__space_no_memory(space);
    return;
  }
  tsl_token *out = g->plus.at + g->plus.n;
  for (uint32_t i = 0; i < w->token_count; i++) {
    const tsl__named_token *t = &w->tokens[i];
    *out = t->token;
    out += (allowed & first_names(t->names.hi) & ~first_names(t->names.lo)) != 0;
  }
  g->plus.n = (size_t)(out - g->plus.at);
}

static void gather_all(tsl__space *space, tsl__gather *g, const tsl__named_walk *w,
                       tsl__state resume) {
  const tsl__resume *r = tsl__state_at(space, resume)->resume;
  if (w->token_count && r->names && r->names <= 64) {
    ask_word(space, resume, r, 0);
    if (space->status != TSL_OK) return;
    if (!(first_names(r->names) & ~r->known[0])) {
      gather_few(space, g, w, r->allowed[0]);
      return;
    }
  }
  tsl__name_range last = {0, 0}; /* neighbours often have the same */
  bool any = false;
  tsl_token some[64];
  uint32_t n = 0;
  for (uint32_t i = 0; i < w->token_count && space->status == TSL_OK; i++) {
    tsl__name_range names = w->tokens[i].names;
    if (names.lo != last.lo || names.hi != last.hi) any = any_of_range(space, resume, r, &names);
    last = names;
    some[n] = w->tokens[i].token;
    n += any;
    if (n < sizeof some / sizeof *some) continue;
    tsl__gather_tokens(space, g, some, n);
    n = 0;
  }
  tsl__gather_tokens(space, g, some, n);
}

/* ---- many tokens ----------------------------------------------------------------------------- */

/* tokens of a walk from which those for one RESUME are found from those for another. Members and
 * items come one by one, and each takes out few */
#define MANY TSL__PATCH_MAX
#define GONE_MAX 64u /* tokens that such a mask lacks of its base */

/* Does a RESUME let nothing through that the other does not? *gone: between the first and the last
 * name that only the other does. False: or that is not known at once. */
static bool lets_less(tsl__space *space, tsl__state resume, const tsl__resume *other,
                      tsl__name_range *gone) {
  const tsl__resume *r = tsl__state_at(space, resume)->resume;
  *gone = (tsl__name_range){0, 0};
  if (r->names != other->names) return false;
  for (uint32_t w = 0; w * 64 < r->names; w++) {
    uint64_t all = first_names(r->names - w * 64), gained;
    ask_word(space, resume, r, w);
    if (all & ~(r->known[w] & other->known[w]) || all & r->allowed[w] & ~other->allowed[w])
      return false;
    if (!(gained = all & other->allowed[w] & ~r->allowed[w])) continue;
    if (!gone->hi) gone->lo = w * 64 + (uint32_t)__builtin_ctzll(gained);
    gone->hi = w * 64 + 64 - (uint32_t)__builtin_clzll(gained);
  }
  return true;
}

/* Does a RESUME let the token of an entry through? One with two ranges of names has two entries. */
static bool lets_token(tsl__space *space, tsl__state resume, const tsl__named_walk *w,
                       uint32_t entry) {
  const tsl__resume *r = tsl__state_at(space, resume)->resume;
  for (uint32_t i = entry ? entry - 1 : 0; i <= entry + 1 && i < w->token_count; i++)
    if (w->tokens[i].token == w->tokens[entry].token &&
        any_of_range(space, resume, r, &w->tokens[i].names))
      return true;
  return false;
}

/* The tokens with some of these names that a RESUME does not let through. */
static bool list_gone(tsl__space *space, search *s, const tsl__named_walk *w, tsl__state resume,
                      tsl__name_range names) {
  s->gone.n = 0;
  for (uint32_t i = 0; i < w->token_count; i++) {
    const tsl__named_token *t = &w->tokens[i];
    if (t->names.lo >= names.hi || t->names.hi <= names.lo || lets_token(space, resume, w, i))
      continue;
    if (!tsl__vec_push(&space->alloc, &s->gone, t->token)) return tsl__space_no_memory(space);
  }
  s->gone.n = tsl__sort_unique(s->gone.at, s->gone.n);
  return space->status == TSL_OK;
}

/* The mask of a walk's tokens that a RESUME lets through: mostly that of the RESUME before, without
 * a few tokens. */
static tsl__mask mask_of(tsl__space *space, search *s, tsl__named_walk *w, tsl__state resume) {
  tsl__gather *g = &s->gather;
  tsl__name_range names;
  if (w->resume == resume) return w->mask;
  tsl__gather_clear(g);
  if (w->resume && tsl__mask_at(space, w->mask)->minus_count <= GONE_MAX &&
      lets_less(space, resume, tsl__state_at(space, w->resume)->resume, &names)) {
    if (!list_gone(space, s, w, resume, names)) return 0;
    tsl__gather_mask(space, g, w->mask);
    tsl__gather_remove_all(space, g, s->gone.at, s->gone.n);
  } else {
    gather_all(space, g, w, resume);
  }
  tsl__mask made = tsl__gather_done(space, g);
  if (space->status == TSL_OK) w->resume = resume, w->mask = made;
  return made;
}

/* Over the whole vocabulary each token is there once, and with all of its names. */
void tsl__named_gather(tsl__space *space, tsl__gather *g, const tsl__named_walk *w,
                       tsl__state resume) {
  search *s = w->token_count > MANY && w->over == TSL__WHOLE ? search_of(space) : NULL;
  tsl__mask made = s ? mask_of(space, s, (tsl__named_walk *)(uintptr_t)w, resume) : 0;
  if (made)
    tsl__gather_mask(space, g, made);
  else if (!s)
    gather_all(space, g, w, resume);
}
