/* ahead.c - every state of a grammar, expanded and written down.
 *
 * Breadth first from the first state, over all that a state can lead to. These are its targets
 * (those left for later are made), its edges, and the states that hints speak of. For a RESUME
 * there is also what follows each of its names. Numbers are given in the order of discovery; the
 * three states of a loop stay in a row. What is looked up of a state goes through the space's own
 * functions and its hook. So it does not matter whether the compiler stands behind it or another
 * artifact.
 *
 * The fewest bytes to the end of a frame depend on the register where a loop is active. With need >
 * 0 iterations still to come they are least(one + (need - 1) × unit, most). They are found by
 * asking for some counts, and checked by asking for others.
 *
 * Example  A loop of 3 to 5 words of at least two bytes, of which one was read: need is 2. Two more
 *          take at least 4 bytes. The row holds one 2, unit 2, most without end: 2 + (2 - 1) × 2.
 * Cost     1 to 5 µs a state.
 * Tested by tests/artifact/test_artifact.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/artifact/artifact.h"
#include "runtime/walk/names.h"
#include "runtime/walk/nonascii.h"

#define NAMES_PER_STATE 32u  /* names of a RESUME that count as one state */
#define WORDS_MAX (1u << 28) /* of BODY and RANGES: a GiB */

typedef struct lister {
  tsl__space *space;
  tsl__a_draft *draft;
  tsl__words number;          /* by the space's number: the file's, 0 = none yet */
  TSL__VEC(tsl__state) order; /* by the file's number */
  uint64_t spent, max;        /* states, and what counts as some */
} lister;

static bool fail(lister *l, tsl_status status, const char *why) {
  return tsl__space_fail(l->space, status, why), false;
}
static bool fine(const lister *l) { return l->space->status == TSL_OK; }
static bool out_of_memory(lister *l) { return fail(l, TSL_ERR_NO_MEMORY, "out of memory"); }

/* Append a word. A failure is sticky, so that callers need not look each time. */
static void put_in(lister *l, unsigned section, uint32_t word) {
  tsl__words *v = &l->draft->section[section];
  if (v->n >= WORDS_MAX)
    fail(l, TSL_ERR_LIMIT, "max_states: the states are too large to be listed");
  else if (!tsl__vec_push(l->draft->a, v, word))
    out_of_memory(l);
}
static void put(lister *l, uint32_t word) { put_in(l, TSL__A_BODY, word); }

/* Counts against max_states. */
static bool spend(lister *l, uint64_t n) {
  l->spent += n;
  return l->spent <= l->max ||
         fail(l, TSL_ERR_LIMIT, "max_states: the grammar has more states than that");
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The state gets the next number of the file, and waits for its turn. */
static bool append(lister *l, tsl__state s) {
  const tsl_allocator *a = l->draft->a;
  while (l->number.n <= s)
    if (!tsl__vec_push(a, &l->number, 0)) return out_of_memory(l);
  l->number.at[s] = (uint32_t)l->order.n;
  return tsl__vec_push(a, &l->order, s) || out_of_memory(l);
}

/* The file's number of a state; 0 for 0, and on failure. */
static uint32_t number_of(lister *l, tsl__state s) {
  if (s == 0) return 0;
  if (s < l->number.n && l->number.at[s]) return l->number.at[s];
  const tsl__state_rec *r = tsl__state_at(l->space, s);
  if (r->guarded & TSL__NEW_ITEM)
    return fail(l, TSL_ERR_UNSUPPORTED,
                "items that must differ from each other (uniqueItems) cannot be listed as states"),
           0;
  tsl__state first = r->flags & TSL__STATE_LOOP ? s - r->flags / TSL__STATE_PHASE : s;
  uint32_t copies = r->flags & TSL__STATE_LOOP ? 3 : 1;
  if (!spend(l, copies)) return 0;
  for (uint32_t i = 0; i < copies; i++)
    if (!append(l, first + i)) return 0;
  return l->number.at[s];
}

static uint32_t target_of(lister *l, tsl__target t) {
  return t ? tsl__target_make(number_of(l, tsl__target_state(t)), tsl__target_op(t)) : 0;
}

/* ---- parts of a state ------------------------------------------------------------------------ */

static uint32_t shortest(lister *l, tsl__state s, uint32_t count) {
  return l->space->hook->states.shortest(l->space->hook_ctx, s, count);
}

/* See the file's top. `none`: with no iteration to come. */
static void put_loop(lister *l, tsl__state s, const tsl__state_rec *r, uint32_t none) {
  uint32_t one = none, unit = 0, most = none;
  if (r->flags / TSL__STATE_PHASE == 0 && r->loop_min) {
    one = shortest(l, s, r->loop_min - 1);
    most = shortest(l, s, 0);
    uint32_t two = r->loop_min > 1 ? shortest(l, s, r->loop_min - 2) : one;
    unit = two >= one ? two - one : 0;
    for (uint32_t need = 1; need <= r->loop_min; need += 1 + r->loop_min / 5) {
      if (shortest(l, s, r->loop_min - need) == tsl__a_way_out(one, unit, need - 1, most)) continue;
      fail(l, TSL_ERR_UNSUPPORTED, "the shortest ways out of a loop cannot be listed");
    }
  }
  put(l, r->loop_min);
  put(l, r->loop_max);
  put(l, one);
  put(l, unit);
  put(l, most);
}

static uint32_t name_cost(lister *l, tsl__state s, uint32_t name) {
  return l->space->hook->names.name_shortest(l->space->hook_ctx, s, name);
}

/* Ranges of names first, then what each name costs to its end: read_names in read.c reads them
 * so. */
static void put_keyed(lister *l, tsl__state s, const tsl__keyed *k) {
  for (uint32_t i = 0; i < k->n; i++) {
    put(l, k->range[i].lo);
    put(l, k->range[i].hi);
  }
  for (uint32_t i = 0; i < k->n; i++)
    for (uint32_t name = k->range[i].lo; name < k->range[i].hi && fine(l); name++)
      put(l, name_cost(l, s, name));
}

/* Only names that are allowed are listed, each with where it goes on and what that costs. */
static void put_resume(lister *l, tsl__state s, uint32_t names) {
  uint32_t allowed = 0;
  if (!spend(l, names / NAMES_PER_STATE)) return;
  for (uint32_t k = 0; k < names; k++) allowed += tsl__resume_allows(l->space, s, k);
  put(l, names);
  put(l, allowed);
  for (uint32_t k = 0; k < names && fine(l); k++) {
    if (!tsl__resume_allows(l->space, s, k)) continue;
    tsl__target to = tsl__resume_to(l->space, s, k);
    put(l, k);
    put(l, target_of(l, to));
    put(l, name_cost(l, s, k));
  }
}

/* The state in the place of one that waits for a new name, where the name is not. */
static void put_otherwise(lister *l, tsl__state s) {
  if (s &&
      (tsl__state_at(l->space, s)->flags & ~(uint32_t)(TSL__STATE_NULLABLE | TSL__STATE_FINAL)))
    fail(l, TSL_ERR_UNSUPPORTED,
         "a choice between names that must be new and others cannot be listed as states");
  put(l, number_of(l, s));
}

static void put_set(lister *l, const tsl__bytes *set) {
  for (int i = 0; i < 4; i++) {
    put(l, (uint32_t)set->w[i]);
    put(l, (uint32_t)(set->w[i] >> 32));
  }
}

static void put_hint(lister *l, const tsl__hint *h) {
  const tsl__nonascii *w = h->nonascii ? tsl__nonascii_at(l->space, h->nonascii) : NULL;
  put(l, number_of(l, h->base));
  put(l, number_of(l, h->except));
  put(l, number_of(l, h->like));
  put(l, h->limit);
  put(l, h->like_limit);
  put(l, h->like_dead);
  put(l, h->like_unit);
  put(l, (uint32_t)h->counted | (uint32_t)h->ends << 1 | (uint32_t)h->calls << 2 |
             (w ? (uint32_t)w->whole << 3 : 0));
  put(l, w ? (uint32_t)l->draft->section[TSL__A_RANGES].n : 0);
  put(l, w ? w->count : 0);
  for (uint32_t i = 0; w && i < 2 * w->count; i++) put_in(l, TSL__A_RANGES, w->pairs[i]);
  put_set(l, &h->letters);
  put_set(l, &h->exits);
}

/* Targets, then the last bytes of their ranges, four to a word. Targets that were left for later
 * are made now. */
static void put_targets(lister *l, const tsl__state_rec *r) {
  for (uint32_t i = 0; i < r->ranges && fine(l); i++) {
    tsl__target t = r->targets[i];
    if (tsl__target_is_later(t)) t = tsl__state_derive(l->space, r, i, tsl__state_upper(r)[i]);
    put(l, target_of(l, t));
  }
  for (uint32_t i = 0; i < r->ranges; i += 4) {
    uint32_t word = 0;
    for (uint32_t k = i; k < i + 4 && k < r->ranges; k++)
      word |= (uint32_t)tsl__state_upper(r)[k] << 8 * (k - i);
    put(l, word);
  }
}

/* Calls, then edges by tokens, whose lists lie in RANGES. */
static void put_edges(lister *l, const tsl__state_rec *r) {
  for (uint32_t i = 0; i < r->edges && fine(l); i++) {
    put(l, target_of(l, tsl__state_edges(r)[i].push));
    put(l, target_of(l, tsl__state_edges(r)[i].to));
  }
  for (uint32_t i = 0; i < r->token_edges && fine(l); i++) {
    const tsl__token_edge *e = &tsl__state_token_edges(r)[i];
    put(l, (uint32_t)l->draft->section[TSL__A_RANGES].n);
    put(l, e->count);
    put(l, e->complement);
    put(l, target_of(l, e->to));
    for (uint32_t k = 0; k < e->count; k++) put_in(l, TSL__A_RANGES, e->tokens[k]);
  }
}

/* ---- outlines -------------------------------------------------------------------------------- */

static bool put_word(void *to, uint32_t word) {
  put(to, word);
  return fine(to);
}

/* A state that cannot be listed: its description, if it has one. */
static bool put_outline(lister *l, tsl__state s) {
  const tsl__hook *hook = l->space->hook;
  tsl__words *v = &l->draft->section[TSL__A_BODY];
  const tsl__state_rec *r = tsl__state_at(l->space, s);
  if (r->guarded ||
      (r->flags & (TSL__STATE_FORK | TSL__STATE_LOOP | TSL__STATE_KEYED | TSL__STATE_RESUME)) ||
      !hook->states.outline(l->space->hook_ctx, s, NULL, NULL))
    return false;
  put(l, TSL__HEAD_OUTLINE);
  put(l, 0);
  size_t begin = v->n;
  hook->states.outline(l->space->hook_ctx, s, l, put_word);
  if (fine(l)) v->at[begin - 1] = (uint32_t)(v->n - begin);
  return true;
}

/* ---- a state --------------------------------------------------------------------------------- */

/* All parts of a state, in the order in which read_body reads them. */
static void put_state(lister *l, tsl__state s) {
  tsl__space_begin(l->space);
  if (!fine(l) || put_outline(l, s)) return;
  const tsl__state_rec *named = tsl__state_at(l->space, s), *r = tsl__state_expanded(l->space, s);
  if (!r) return;
  const tsl__hint *hint =
      r->flags & (TSL__STATE_FORK | TSL__STATE_RESUME) ? NULL : tsl__state_hint(l->space, r);
  const tsl__keyed *keyed = named->flags & TSL__STATE_KEYED ? named->keyed : NULL;
  bool loop = named->flags & TSL__STATE_LOOP, fork = named->flags & TSL__STATE_FORK;
  uint32_t least = fork || !fine(l) ? 0 : shortest(l, s, loop ? named->loop_min : 0);
  uint32_t flags = named->flags & TSL__HEAD_FLAGS & ~(uint32_t)TSL__STATE_FINAL;
  put(l, flags | (uint32_t)(named->flags / TSL__STATE_PHASE) << TSL__HEAD_PHASE |
             (hint ? TSL__HEAD_HINT : 0) | (keyed ? (keyed->n & 3) << TSL__HEAD_KEYED : 0) |
             (keyed && keyed->n == 4 ? TSL__HEAD_KEYED_FOUR : 0) |
             (named->guarded ? TSL__HEAD_NAMED : 0) | (uint32_t)r->ranges << TSL__HEAD_RANGES);
  put(l, (uint32_t)r->edges | (uint32_t)r->token_edges << 16);
  put(l, least);
  if (loop) put_loop(l, s, named, least);
  if (keyed) put_keyed(l, s, keyed);
  if (named->flags & TSL__STATE_RESUME) put_resume(l, s, named->resume->names);
  if (named->guarded) put_otherwise(l, named->otherwise);
  if (hint) put_hint(l, hint);
  put_targets(l, r);
  put_edges(l, r);
}

tsl_status tsl__ahead_states(tsl__space *space, tsl__state start, uint32_t max_states,
                             tsl__a_draft *draft, const char **why) {
  lister l = {.space = space, .draft = draft, .max = max_states};
  tsl__space_begin(space);
  if (space->positions.watches & TSL__NEW_ITEM)
    fail(&l, TSL_ERR_UNSUPPORTED,
         "items that must differ from each other (uniqueItems) cannot be listed as states");
  if (fine(&l) && append(&l, 0)) {
    l.number.at[0] = 0;
    put_in(&l, TSL__A_STATES, 0);
    draft->header.start = number_of(&l, start);
  }
  for (size_t i = 1; i < l.order.n && fine(&l); i++) {
    put_in(&l, TSL__A_STATES, (uint32_t)draft->section[TSL__A_BODY].n);
    /* which begins with no failure, unless somebody waits no longer */
    if (fine(&l)) put_state(&l, l.order.at[i]);
  }
  tsl_status status = space->status;
  *why = space->why;
  draft->header.states = (uint32_t)l.order.n;
  tsl__vec_free(draft->a, &l.number);
  tsl__vec_free(draft->a, &l.order);
  return status;
}
