/* listing.c - states and positions as data, for pictures and for people.
 *
 * Problem   A frame's state says what is left of it, but not which rule it was begun for. States
 *           are shared by all who call them, and a state after the first byte has forgotten its
 *           name.
 * Idea      Ask the callers. The frame below waits in a state that some call named as its way on.
 *           What that call began, and what leads from there to the frame's state without a byte of
 *           another frame, is what it was begun for. Rules that stand last in another have no frame
 *           of their own: the compiler unfolds them in the frame that names them. Regular rules
 *           have no frame either.
 * Example     root ::= expr
 *             expr ::= term ("+" term)*
 *             term ::= [0-9]+ | "(" expr ")"
 *           After "(1" the frames are
 *             [0-9]*        for <term>
 *             ([+]<term>)*  for <expr>
 *             \)            for <term>
 *             ([+]<term>)*  for <root>
 * Cost      One pass over all states for the calls that matter, then a search of at most SEARCH_MAX
 *           states for each frame.
 * Tested by tests/matcher/test_listing.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/matcher.h"
#include "runtime/position/distinct.h"

#define SEARCH_MAX 1000u /* states looked at for one frame's name */
#define EXPRESSION_MAX 1024
#define RULE_MAX 256

static tsl__space *take_lock(const tsl_grammar *g) {
  return tsl__grammar_lock((tsl_grammar *)(uintptr_t)g);
}
static tsl_status give_lock(const tsl_grammar *g) {
  return tsl__grammar_unlock((tsl_grammar *)(uintptr_t)g);
}
static bool is_expanded(const tsl__state_rec *r) {
  return atomic_load(&((tsl__state_rec *)(uintptr_t)r)->expanded);
}

static void print_state(const tsl__space *space, tsl__state state, char *out, size_t n) {
  *out = 0;
  if (space->hook && !(tsl__state_at(space, state)->flags & TSL__STATE_FORK))
    space->hook->states.print(space->hook_ctx, state, out, n);
}

/* ---- states ---------------------------------------------------------------------------------- */

typedef TSL__VEC(tsl_edge) edges;

/* The edge of bytes to that state, added if there is none. NULL when out of memory. */
static tsl_edge *edge_to(const tsl_allocator *a, edges *list, uint32_t to) {
  for (size_t i = 0; i < list->n; i++)
    if (list->at[i].to == to) return &list->at[i];
  tsl_edge fresh = {.kind = TSL_EDGE_BYTES, .to = to};
  return tsl__vec_push(a, list, fresh) ? &list->at[list->n - 1] : NULL;
}

/* A state that was visited has all its edges: targets that waited are made. */
static bool add_bytes(tsl__space *space, const tsl__state_rec *r, edges *list) {
  for (uint32_t k = 0; k < r->ranges && space->status == TSL_OK; k++) {
    tsl__target to = tsl__state_range(space, r, k, tsl__state_upper(r)[k]);
    if (!to) continue;
    tsl_edge *e = edge_to(&space->alloc, list, tsl__target_state(to));
    if (!e) return false;
    for (unsigned b = k ? tsl__state_upper(r)[k - 1] + 1u : 0; b <= tsl__state_upper(r)[k]; b++)
      e->bytes[b >> 5] |= 1u << (b & 31);
  }
  return true;
}

static bool add_calls(const tsl_allocator *a, const tsl__state_rec *r, edges *list) {
  for (uint32_t k = 0; k < r->edges; k++) {
    const tsl__edge *edge = &tsl__state_edges(r)[k];
    tsl_edge e = {.kind = edge->push ? TSL_EDGE_CALL : TSL_EDGE_OR,
                  .to = tsl__target_state(edge->to),
                  .then = tsl__target_state(edge->push)};
    if (!tsl__vec_push(a, list, e)) return false;
  }
  for (uint32_t k = 0; k < r->token_edges; k++) {
    const tsl__token_edge *edge = &tsl__state_token_edges(r)[k];
    tsl_edge e = {.kind = TSL_EDGE_TOKENS,
                  .to = tsl__target_state(edge->to),
                  .tokens = edge->count,
                  .complement = edge->complement};
    if (!tsl__vec_push(a, list, e)) return false;
  }
  return true;
}

static bool list_state(tsl__space *space, tsl__state i, edges *list, tsl_state_sink sink,
                       void *ctx) {
  char expression[EXPRESSION_MAX];
  const tsl__state_rec *r = tsl__state_at(space, i);
  list->n = 0;
  if (!add_bytes(space, r, list) || !add_calls(&space->alloc, r, list)) return false;
  if (space->status != TSL_OK) return true;
  print_state(space, i, expression, sizeof expression);
  tsl_state state = {
      i, (r->flags & TSL__STATE_NULLABLE) != 0, is_expanded(r), expression, list->at, list->n};
  sink(ctx, &state);
  return true;
}

tsl_status tsl_grammar_states(const tsl_grammar *grammar, tsl_state_sink sink, void *ctx) {
  tsl__space *space = take_lock(grammar);
  edges list = {0};
  for (tsl__state i = space->states.first ? space->states.first : 1;
       i < tsl__space_count(space, states) && space->status == TSL_OK; i++)
    if (!list_state(space, i, &list, sink, ctx)) tsl__space_no_memory(space);
  tsl__vec_free(&space->alloc, &list);
  return give_lock(grammar);
}

/* ---- the rule of a frame --------------------------------------------------------------------- */

/* A call: the state that it begins in, and the one that its frame waits in. */
typedef struct call {
  tsl__state back, to;
} call;

typedef struct lister {
  tsl__space *space;
  tsl__cells cells;            /* found so far */
  TSL__VEC(uint32_t) depths;   /* of each */
  TSL__VEC(uint32_t) below;    /* of the frame at hand */
  TSL__VEC(call) calls;        /* whose frames wait in one of the cells */
  TSL__VEC(tsl__state) places; /* that the search came to */
  uint32_t *marks;             /* per state: the search that came to it last */
  uint32_t states, search;
} lister;

static bool is_back(const lister *l, tsl__state state) {
  for (size_t i = 0; i < l->cells.n; i++)
    if (l->cells.at[i].state == state) return true;
  return false;
}

static void note_call(lister *l, tsl__state back, tsl__state to) {
  call c = {back, to};
  if (is_back(l, back) && !tsl__vec_push(&l->space->alloc, &l->calls, c))
    tsl__space_no_memory(l->space);
}

/* A state that is one of a loop stands for three. */
static uint32_t phases(const tsl__state_rec *r) { return r->flags & TSL__STATE_LOOP ? 3 : 1; }

static void note_edge(lister *l, const tsl__edge *e) {
  tsl__state back = tsl__target_state(e->push), to = tsl__target_state(e->to);
  const tsl__state_rec *r = tsl__state_at(l->space, back);
  if (!e->push) return;
  for (uint32_t p = 0; p < phases(r); p++) note_call(l, back + p, to);
  if (r->flags & TSL__STATE_FORK)
    for (uint32_t k = 0; k < r->edges; k++) {
      tsl__state branch = tsl__target_state(tsl__state_edges(r)[k].to);
      for (uint32_t p = 0; p < phases(tsl__state_at(l->space, branch)); p++)
        note_call(l, branch + p, to);
    }
}

static void find_calls(lister *l) {
  for (tsl__state i = 1; i < tsl__space_count(l->space, states) && l->space->status == TSL_OK;
       i++) {
    const tsl__state_rec *r = tsl__state_at(l->space, i);
    if (!is_expanded(r)) continue;
    for (uint32_t k = 0; k < r->edges; k++) note_edge(l, &tsl__state_edges(r)[k]);
  }
}

/* Has this search been there? Notes it otherwise. */
static bool seen(lister *l, tsl__state state) {
  if (l->marks[state] == l->search) return true;
  l->marks[state] = l->search;
  return false;
}

static void come_to(lister *l, tsl__target to) {
  if (!to || tsl__target_is_later(to) || l->places.n >= SEARCH_MAX) return;
  tsl__state first = tsl__target_state(to);
  for (uint32_t p = 0; p < phases(tsl__state_at(l->space, first)); p++)
    if (!seen(l, first + p) && !tsl__vec_push(&l->space->alloc, &l->places, first + p))
      tsl__space_no_memory(l->space);
}

/* Where a state leads within its frame: by bytes, tokens, forks, and after calls. */
static void go_on(lister *l, tsl__state state) {
  const tsl__state_rec *r = tsl__state_at(l->space, state);
  if (!is_expanded(r)) return;
  for (uint32_t k = 0; k < r->ranges; k++) come_to(l, r->targets[k]);
  for (uint32_t k = 0; k < r->token_edges; k++) come_to(l, tsl__state_token_edges(r)[k].to);
  for (uint32_t k = 0; k < r->edges; k++)
    come_to(l,
            tsl__state_edges(r)[k].push ? tsl__state_edges(r)[k].push : tsl__state_edges(r)[k].to);
}

/* Is `state` reached from a frame that begins in `first`? */
static bool begun_in(lister *l, tsl__state first, tsl__state state) {
  l->places.n = 0;
  l->search++;
  come_to(l, first);
  for (size_t i = 0; i < l->places.n && l->space->status == TSL_OK; i++) {
    if (l->places.at[i] == state) return true;
    go_on(l, l->places.at[i]);
  }
  return false;
}

/* The rule that a state's expression begins with: <expr> of "<expr>\)", and of "<%expr>\)", which
 * leaves the empty text out. */
static void name_of(const tsl__space *space, tsl__state state, char rule[RULE_MAX]) {
  char expression[EXPRESSION_MAX];
  print_state(space, state, expression, sizeof expression);
  size_t n = strcspn(expression, ">") + 1;
  if (expression[0] != '<' || !expression[n - 1] || n >= RULE_MAX) return;
  memcpy(rule, expression, n);
  rule[n] = 0;
  if (rule[1] == '%') memmove(rule + 1, rule + 2, n - 1);
}

static void rule_of(lister *l, const tsl_grammar *g, const tsl__cell *c, char rule[RULE_MAX]) {
  *rule = 0;
  if (!c->tail && begun_in(l, g->start, c->state)) name_of(l->space, g->start, rule);
  const tsl__stack_rec *t = tsl__stack_at(l->space, c->tail);
  for (uint32_t i = 0; c->tail && i < t->n; i++)
    for (size_t k = 0; k < l->calls.n && !*rule; k++)
      if (l->calls.at[k].back == tsl__stack_cell(l->space, t, i)->state &&
          begun_in(l, l->calls.at[k].to, c->state))
        name_of(l->space, l->calls.at[k].to, rule);
}

/* ---- positions ------------------------------------------------------------------------------- */

/* The number of a cell in the listing, added if it is new; UINT32_MAX where there is no room. */
static uint32_t number_of(lister *l, const tsl__cell *cell, uint32_t depth) {
  for (size_t i = 0; i < l->cells.n; i++)
    if (!memcmp(&l->cells.at[i], cell, sizeof *cell)) return (uint32_t)i;
  if (l->cells.n == TSL_MAX_FRAMES) return UINT32_MAX;
  if (!tsl__vec_push(&l->space->alloc, &l->cells, *cell) ||
      !tsl__vec_push(&l->space->alloc, &l->depths, depth))
    return tsl__space_no_memory(l->space), UINT32_MAX;
  return (uint32_t)l->cells.n - 1;
}

/* Find the cells of a position, nearest first. */
static void find_cells(lister *l, tsl__stack at) {
  const tsl__stack_rec *r = tsl__stack_at(l->space, at);
  for (uint32_t i = 0; i < r->n; i++) number_of(l, tsl__stack_cell(l->space, r, i), 0);
  for (size_t i = 0; i < l->cells.n && l->space->status == TSL_OK; i++) {
    const tsl__cell c = l->cells.at[i];
    const tsl__stack_rec *t = tsl__stack_at(l->space, c.tail);
    for (uint32_t k = 0; c.tail && k < t->n; k++)
      number_of(l, tsl__stack_cell(l->space, t, k), l->depths.at[i] + 1);
  }
}

static void find_below(lister *l, tsl__stack tail) {
  l->below.n = 0;
  const tsl__stack_rec *t = tsl__stack_at(l->space, tail);
  for (uint32_t k = 0; tail && k < t->n; k++) {
    uint32_t number = number_of(l, tsl__stack_cell(l->space, t, k), 0);
    if (number != UINT32_MAX && !tsl__vec_push(&l->space->alloc, &l->below, number))
      tsl__space_no_memory(l->space);
  }
}

static void list_frame(lister *l, const tsl_grammar *g, uint32_t i, tsl_frame_sink sink,
                       void *ctx) {
  char expression[EXPRESSION_MAX], rule[RULE_MAX];
  const tsl__cell c = l->cells.at[i];
  find_below(l, c.tail);
  rule_of(l, g, &c, rule);
  if (l->space->status != TSL_OK) return;
  print_state(l->space, c.state, expression, sizeof expression);
  tsl_frame frame = {i,
                     l->depths.at[i],
                     l->below.at,
                     (uint32_t)l->below.n,
                     c.state,
                     c.count,
                     (tsl__state_at(l->space, c.state)->flags & TSL__STATE_NULLABLE) != 0,
                     expression,
                     rule};
  sink(ctx, &frame);
}

static void lister_free(lister *l) {
  const tsl_allocator *a = &l->space->alloc;
  tsl__vec_free(a, &l->cells);
  tsl__vec_free(a, &l->depths);
  tsl__vec_free(a, &l->below);
  tsl__vec_free(a, &l->calls);
  tsl__vec_free(a, &l->places);
  tsl__free(a, l->marks, l->states * sizeof *l->marks);
}

tsl_status tsl_matcher_frames(const tsl_matcher *matcher, uint32_t max, tsl_frame_sink sink,
                              void *ctx, uint32_t *total) {
  *total = 0;
  if (max > TSL_MAX_FRAMES) return TSL_ERR_ARGUMENT;
  const tsl_grammar *g = matcher->grammar;
  lister l = {.space = take_lock(g)};
  l.states = tsl__space_count(l.space, states);
  l.marks = tsl__alloc_zero(&l.space->alloc, l.states * sizeof *l.marks);
  if (!l.marks) tsl__space_no_memory(l.space);
  if (!matcher->terminated) find_cells(&l, matcher->at);
  find_calls(&l);
  uint32_t count = max && max < l.cells.n ? max : (uint32_t)l.cells.n;
  for (uint32_t i = 0; i < count && l.space->status == TSL_OK; i++) list_frame(&l, g, i, sink, ctx);
  if (l.space->status == TSL_OK) *total = (uint32_t)l.cells.n;
  lister_free(&l);
  return give_lock(g);
}
