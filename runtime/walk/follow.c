/* follow.c - see follow.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/follow.h"

#include "runtime/automaton/frames.h"
#include "runtime/walk/walk.h"

#define BEGINS_MAX 64u /* states that are looked at for what something may begin with */
/* frames inside one another, from which on nobody asks what follows them all */
#define NESTED_MOST 64u
#define BYTES_MOST 160u        /* bytes from which on telling them apart helps nobody */
#define SIGNS_MOST 64u         /* bytes from which on it is no matter of signs */
#define NUMBERS_MAX UINT16_MAX /* a walk has 16 bits for the number: walk.h */
#define LEADS_MAX 8u           /* states that are counted */
#define REACHED_MAX 32u        /* states that letters lead to */
#define NESTED_LEAST 8u        /* calls, one as the first thing of another */

/* ---- what something begins with -------------------------------------------------------------- */

/* The states that were looked at: each is once. */
typedef struct begins {
  tsl__bytes bytes;
  uint32_t n;
  tsl__state at[BEGINS_MAX];
  bool over[BEGINS_MAX]; /* it may be over at once */
  bool open[BEGINS_MAX]; /* its calls are being looked at */
} begins;

static bool begin_state(tsl__space *space, begins *b, tsl__state state, bool *over);

/* Where a target leads: of a loop, to any of its three states. */
static bool begin_target(tsl__space *space, begins *b, tsl__target t, bool *over) {
  tsl__state state = tsl__target_state(t);
  uint32_t copies = tsl__state_at(space, state)->flags & TSL__STATE_LOOP ? 3 : 1;
  for (uint32_t i = 0; i < copies; i++)
    if (!begin_state(space, b, state + i, over)) return false;
  return true;
}

/* The calls of a state, and what follows those that may be over at once. */
static bool begin_calls(tsl__space *space, begins *b, const tsl__state_rec *r, bool *over) {
  for (uint32_t i = 0; i < r->edges; i++) {
    const tsl__edge *e = &tsl__state_edges(r)[i];
    bool fork = r->flags & TSL__STATE_FORK, empty = false;
    if (!begin_target(space, b, e->to, &empty)) return false;
    if (fork)
      *over |= empty;
    else if (empty && !begin_target(space, b, e->push, over))
      return false;
  }
  return true;
}

static bool begin_state(tsl__space *space, begins *b, tsl__state state, bool *over) {
  uint32_t mine = 0;
  while (mine < b->n && b->at[mine] != state) mine++;
  /* calls that may be over at once come back to it: it is not known yet whether it may be over,
   * too */
  if (mine < b->n) return *over |= b->over[mine], !b->open[mine];
  const tsl__state_rec *r = tsl__state_at(space, state);
  if (mine == BEGINS_MAX || r->flags & (TSL__STATE_KEYED | TSL__STATE_RESUME) ||
      tsl__state_fixed(r) || !(r = tsl__state_expanded(space, state)))
    return false;
  b->n++;
  b->at[mine] = state;
  b->open[mine] = true;
  b->over[mine] = r->flags & TSL__STATE_NULLABLE;
  tsl__bytes_or(&b->bytes, &r->live);
  if (!begin_calls(space, b, r, &b->over[mine])) return false;
  b->open[mine] = false;
  *over |= b->over[mine];
  return true;
}

bool tsl__calls_begin(tsl__space *space, const tsl__state_rec *r, tsl__bytes *out) {
  begins b = {.n = 0};
  bool over = false, read = begin_calls(space, &b, r, &over);
  tsl__bytes_or(out, &b.bytes);
  return read && !over;
}

bool tsl__next_meets(const tsl__trie *trie, const tsl__trie_node *n, const tsl__bytes *set) {
  if (!tsl__trie_below_meets(trie, n, set)) return false;
  for (uint32_t c = n->first_child; c < n->first_child + n->children; c++)
    if (tsl__bytes_has(set, trie->labels[c])) return true;
  return false;
}

/* Is nothing but letters below a node? */
static bool is_pure(const tsl__trie *trie, const tsl__trie_node *n, const tsl__hint *h) {
  if (n->below == UINT16_MAX) return !n->children;
  const tsl__bytes *below = &trie->sets[n->below];
  return !below->w[2] && !below->w[3] && !(below->w[0] & ~h->letters.w[0]) &&
         !(below->w[1] & ~h->letters.w[1]);
}

bool tsl__letters_leave(const tsl__trie *trie, const tsl__trie_node *n, const tsl__letters_after *a,
                        tsl__state from, tsl__state state) {
  const tsl__hint *h = &a->hint;
  tsl__bytes set = a->leaves;
  if (state == a->at && (!a->twice || (from == state && tsl__bytes_has(&a->spared, n->byte))))
    tsl__bytes_remove(&set, &a->spared);
  if (!tsl__trie_below_meets(trie, n, &set)) return false;
  for (uint32_t c = n->first_child; c < n->first_child + n->children; c++) {
    uint8_t b = trie->labels[c];
    if (tsl__bytes_has(&set, b) &&
        (b >= 0x80 || !tsl__bytes_has(&h->letters, b) || !is_pure(trie, &trie->nodes[c], h)))
      return true;
  }
  return false;
}

/* ---- what follows ---------------------------------------------------------------------------- */

/* The first bytes of the frames of a position. *own: those of the first frame, if there is only
 * one. *below: those of what may follow that frame at once. */
static bool begin_tail(tsl__space *space, uint32_t tail, tsl__follow *f, tsl__bytes *own,
                       tsl__bytes *below) {
  begins b = {.n = 0};
  for (bool first = true, over = true; over && tail; first = false) {
    const tsl__stack_rec *r = tsl__stack_at(space, tail);
    over = false;
    for (uint32_t i = 0; i < r->n; i++) {
      const tsl__cell *c = tsl__stack_cell(space, r, i);
      bool empty = false;
      b.n = 0;
      if (!begin_state(space, &b, c->state, &empty) || (empty && over && tail != c->tail))
        return false;
      if (first && r->n == 1)
        f->then = c->state, f->count = c->count, *own = b.bytes, b.bytes = (tsl__bytes){{0}};
      if (empty) over = true, tail = c->tail;
    }
  }
  *below = b.bytes;
  return true;
}

/* The first bytes of a state, in *own, and whether it may end at once; false: not known. */
static bool begin_alone(tsl__space *space, tsl__state state, tsl__bytes *own, bool *over) {
  begins b = {.n = 0};
  *over = false;
  if (!begin_state(space, &b, state, over)) return false;
  *own = b.bytes;
  return true;
}

/* The first bytes of the place where a caller goes on, and of what follows the caller. */
static bool begin_caller(tsl__space *space, const tsl__after *a, tsl__follow *f, tsl__bytes *own,
                         tsl__bytes *below) {
  bool over;
  if (!begin_alone(space, a->then, own, &over)) return false;
  f->then = a->then;
  f->count = a->count;
  if (!over || a->last) return true;
  uint32_t outer = a->outer ? tsl__follow_of(space, a->outer) : 0;
  if (outer) *below = tsl__follow_at(space, outer)->bytes;
  return outer;
}

/* Find the bytes with which `then` begins only by calls that come back to it. */
static void find_again(tsl__space *space, tsl__follow *f, const tsl__bytes *own,
                       const tsl__bytes *below) {
  const tsl__state_rec *r = tsl__state_expanded(space, f->then);
  begins b = {.n = 0};
  uint32_t count;
  if (!r || r->guarded || r->flags & TSL__STATE_FORK) return;
  for (uint32_t i = 0; i < r->edges; i++) {
    const tsl__edge *e = &tsl__state_edges(r)[i];
    bool over = false;
    if (tsl__target_resolve(space, e->push, f->count, &count) == f->then && count == f->count)
      begin_target(space, &b, e->to, &over);
  }
  for (int w = 0; w < 4; w++)
    f->again.w[w] = b.bytes.w[w] & own->w[w] & ~below->w[w] & ~r->live.w[w];
}

static uint32_t follow_number(tsl__space *space, const tsl__follow *f) {
  uint64_t hash = tsl__hash(f, sizeof *f);
  tsl__index_iter it = tsl__index_first(&space->follows.index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (!memcmp(tsl__follow_at(space, i), f, sizeof *f)) return i;
  tsl__follow *made = tsl__space_count(space, follows) < NUMBERS_MAX
                          ? tsl__pool_add(&space->follows.pool, &space->kept)
                          : NULL;
  if (!made) return 0;
  *made = *f;
  if (tsl__bytes_count(&f->bytes) <= SIGNS_MOST)
    tsl__bytes_or(&space->walking.follow_bytes, &f->bytes);
  uint32_t number = tsl__space_count(space, follows) - 1;
  return tsl__index_add(&space->follows.index, &space->alloc, hash, number)
             ? number
             : (tsl__space_no_memory(space), 0);
}

uint32_t tsl__follow_before(tsl__space *space, const tsl__bytes *bytes) {
  tsl__follow f;
  memset(&f, 0, sizeof f);
  f.bytes = *bytes;
  return follow_number(space, &f);
}

/* What follows a frame that is the last thing in its caller is what follows that one. */
static bool is_last_thing(tsl__space *space, const tsl__after *a) {
  const tsl__state_rec *r = a->then && !a->last ? tsl__state_expanded(space, a->then) : NULL;
  return r && r->flags & TSL__STATE_FINAL;
}

uint32_t tsl__follow_of(tsl__space *space, tsl__after *a) {
  if (a->requested) return a->number;
  a->requested = true;
  tsl__bytes own = {{0}}, below = {{0}};
  tsl__follow f;
  memset(&f, 0, sizeof f);
  if (a->depth > NESTED_MOST || tsl__shortcut_is_off(space, TSL__SHORTCUT_FOLLOW)) return 0;
  if (is_last_thing(space, a)) return a->number = a->outer ? tsl__follow_of(space, a->outer) : 0;
  if (!(a->then ? begin_caller(space, a, &f, &own, &below)
                : begin_tail(space, a->tail, &f, &own, &below)) ||
      space->status != TSL_OK)
    return 0;
  f.bytes = own;
  tsl__bytes_or(&f.bytes, &below);
  if (f.then) find_again(space, &f, &own, &below);
  if (tsl__bytes_empty(&f.again)) f.then = f.count = 0;
  return a->number = tsl__bytes_count(&f.bytes) > BYTES_MOST ? 0 : follow_number(space, &f);
}

/* ---- letters --------------------------------------------------------------------------------- */

/* The bytes that a frame may begin with in a state, and those of them after which it is in `to`
 * alone. */
typedef struct leads {
  tsl__bytes any, only;
} leads;

static void lead_also(leads *l, const leads *m) {
  for (int w = 0; w < 4; w++) {
    uint64_t other = (l->any.w[w] & ~l->only.w[w]) | (m->any.w[w] & ~m->only.w[w]);
    l->any.w[w] |= m->any.w[w];
    l->only.w[w] = (l->only.w[w] | m->only.w[w]) & ~other;
  }
}

static bool lead_from(tsl__space *space, tsl__state state, tsl__state to, unsigned depth,
                      leads *l) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  uint32_t count;
  if (r->flags & (TSL__STATE_KEYED | TSL__STATE_RESUME | TSL__STATE_LOOP | TSL__STATE_FORK |
                  TSL__STATE_NULLABLE) ||
      tsl__state_fixed(r) || !(r = tsl__state_expanded(space, state)))
    return false;
  l->any = r->live;
  for (unsigned i = 0, b = 0; i < r->ranges; b = tsl__state_upper(r)[i++] + 1u)
    if (r->targets[i] && !tsl__target_is_later(r->targets[i]) &&
        tsl__target_resolve(space, r->targets[i], 0, &count) == to && !count)
      tsl__bytes_add_range(&l->only, b, tsl__state_upper(r)[i]);
  for (uint32_t i = 0; i < r->edges; i++) {
    const tsl__edge *e = &tsl__state_edges(r)[i];
    const tsl__state_rec *push = tsl__state_expanded(space, tsl__target_state(e->push));
    leads m = {{{0}}, {{0}}};
    if (!push || !depth || !lead_from(space, tsl__target_state(e->to), to, depth - 1, &m))
      return false;
    if (!(push->flags & TSL__STATE_FINAL)) m.only = (tsl__bytes){{0}};
    lead_also(l, &m);
  }
  return true;
}

/* Where a frame that begins in a state is after a byte, as far as that is plain to see; 0: it is
 * not. */
static tsl__state lead_by(tsl__space *space, tsl__state state, uint8_t byte, unsigned depth) {
  const tsl__state_rec *r = tsl__state_at(space, state);
  uint32_t count;
  if (r->flags & (TSL__STATE_KEYED | TSL__STATE_RESUME | TSL__STATE_FORK) || tsl__state_fixed(r) ||
      !(r = tsl__state_expanded(space, state)))
    return 0;
  tsl__target t = tsl__state_step(space, r, byte);
  tsl__state to = t ? tsl__target_resolve(space, t, 0, &count) : 0;
  for (uint32_t i = 0; i < r->edges && !to && depth; i++)
    to = lead_by(space, tsl__target_state(tsl__state_edges(r)[i].to), byte, depth - 1);
  return to;
}

/* Where most of these bytes lead from the calls of a state. */
static tsl__state most_lead_to(tsl__space *space, const tsl__state_rec *r, const tsl__bytes *by) {
  tsl__state to[LEADS_MAX] = {0}, best = 0;
  unsigned times[LEADS_MAX] = {0}, most = 0;
  for (unsigned b = 0; b < 0x80; b++) {
    tsl__state s = 0;
    for (uint32_t i = 0; i < r->edges && tsl__bytes_has(by, b) && !s; i++)
      s = lead_by(space, tsl__target_state(tsl__state_edges(r)[i].to), (uint8_t)b, NESTED_LEAST);
    for (unsigned k = 0; s && k < LEADS_MAX; k++) {
      if (to[k] && to[k] != s) continue;
      to[k] = s;
      if (++times[k] > most) most = times[k], best = s;
      break;
    }
  }
  return best;
}

/* What follows a frame that is in state `at` may begin with a letter. It does so by calling a frame
 * that is in one state after most, and stays there. That need not be begun before a letter if it
 * can be begun before the letter in front of that one. It need not be begun at all if that state is
 * `at`, which stays there as well. */
static void spare(tsl__space *space, const tsl__follow *f, tsl__letters_after *out) {
  const tsl__state_rec *r = tsl__state_expanded(space, f->then);
  tsl__state to = r ? most_lead_to(space, r, &f->again) : 0;
  leads all = {{{0}}, {{0}}};
  uint32_t count;
  for (uint32_t i = 0; to && i < r->edges; i++) {
    const tsl__edge *e = &tsl__state_edges(r)[i];
    leads m = {{{0}}, {{0}}};
    if (!lead_from(space, tsl__target_state(e->to), to, NESTED_LEAST, &m)) return;
    if (tsl__target_resolve(space, e->push, f->count, &count) != f->then || count != f->count)
      m.only = (tsl__bytes){{0}};
    lead_also(&all, &m);
  }
  r = to ? tsl__state_expanded(space, to) : NULL;
  for (unsigned b = 0; r && b < 0x80; b++) {
    if (!tsl__bytes_has(&f->again, b) || !tsl__bytes_has(&all.only, b)) continue;
    tsl__target t = tsl__state_step(space, r, (uint8_t)b);
    if (t && tsl__target_resolve(space, t, 0, &count) == to) tsl__bytes_add(&out->spared, b);
  }
  out->twice = to != out->at;
}

/* Something that begins with these bytes may be read among the letters: the bytes become exits. If
 * some of them are letters, any byte may come after them. */
static bool may_read(tsl__hint *h, const tsl__bytes *first) {
  tsl__bytes_or(&h->exits, first);
  if (!tsl__bytes_meet(first, &h->letters)) return true;
  for (int w = 0; w < 4; w++) h->exits.w[w] = w < 2 || !h->letters.w[3] ? ~h->letters.w[w] : 0;
  return h->limit == TSL__COUNT_INF || h->counted;
}

/* The states that letters were found to lead to, by how many of them. */
typedef struct reached {
  tsl__state at[REACHED_MAX];
  unsigned times[REACHED_MAX], most;
  uint32_t n;
} reached;

/* Where the letters of one range of bytes lead, from `b` on; false: it is one too many, or it
 * counts. */
static bool reach_range(tsl__space *space, const tsl__state_rec *r, uint32_t range, unsigned b,
                        tsl__letters_after *out, reached *to) {
  const tsl__bytes *letters = &out->hint.letters;
  unsigned last = tsl__state_upper(r)[range], times = 0, first = 0;
  for (; b <= last; b++)
    if (tsl__bytes_has(letters, b) && !times++) first = b;
  tsl__target t = times && tsl__bytes_has(&r->live, first)
                      ? tsl__state_range(space, r, range, (uint8_t)first)
                      : 0;
  uint32_t k = 0, count;
  tsl__state at = t ? tsl__target_resolve(space, t, 0, &count) : 0;
  if (!at) return true;
  while (k < to->n && to->at[k] != at) k++;
  if (k == REACHED_MAX ||
      tsl__state_at(space, at)->flags & (TSL__STATE_LOOP | TSL__STATE_FORK | TSL__STATE_KEYED))
    return false;
  if (k == to->n) to->at[to->n++] = at, to->times[k] = 0;
  if ((to->times[k] += times) > to->most) to->most = to->times[k], out->at = at;
  return true;
}

/* The states that letters lead to, and the calls of these; false: there are many, or they count.
 * Most of the letters lead to out->at. */
static bool reach_letters(tsl__space *space, const tsl__state_rec *r, tsl__letters_after *out) {
  reached to = {.n = 0};
  tsl__bytes first = {{0}};
  for (uint32_t i = 0; r && tsl__calls_begin(space, r, &first);
       i++, r = tsl__state_expanded(space, to.at[i - 1])) {
    for (uint32_t k = 0, b = 0; k < r->ranges; b = tsl__state_upper(r)[k++] + 1u)
      if (!reach_range(space, r, k, b, out, &to)) return false;
    if (i == to.n) return may_read(&out->hint, &first);
  }
  return false;
}

static bool make_letters(tsl__space *space, const tsl__state_rec *r, tsl__letters_after *out) {
  tsl__hint *h = &out->hint;
  /* letters that are counted lead to states of the same loop, which do not call */
  if (!h->counted && !reach_letters(space, r, out)) return false;
  h->calls = true;
  h->ends = false;
  if (!out->follow) return true;
  const tsl__follow *f = tsl__follow_at(space, out->follow);
  out->leaves = f->bytes;
  if (f->then && out->at) spare(space, f, out);
  tsl__bytes before = f->bytes;
  if (!out->twice) tsl__bytes_remove(&before, &out->spared);
  return may_read(h, &before);
}

const tsl__letters_after *tsl__letters_before(tsl__space *space, const tsl__state_rec *r,
                                              const tsl__hint *h, uint32_t follow) {
  uint64_t hash = tsl__mix((uint64_t)(uintptr_t)h + follow);
  tsl__index_iter it = tsl__index_first(&space->letters_after.index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;) {
    const tsl__letters_after *a = tsl__space_at(space, letters_after, i);
    if (a->of == h && a->follow == follow) return a->known ? a : NULL;
  }
  tsl__letters_after made = {.of = h, .follow = follow, .hint = *h};
  made.known = make_letters(space, r, &made);
  tsl__letters_after *a =
      space->status == TSL_OK ? tsl__pool_add(&space->letters_after.pool, &space->kept) : NULL;
  if (!a) return space->status == TSL_OK ? (tsl__space_no_memory(space), NULL) : NULL;
  *a = made;
  if (!tsl__index_add(&space->letters_after.index, &space->alloc, hash,
                      tsl__space_count(space, letters_after) - 1))
    return tsl__space_no_memory(space), NULL;
  return a->known ? a : NULL;
}
