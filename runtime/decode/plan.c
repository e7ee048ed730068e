/* plan.c - see plan.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/decode/plan_table.h"
#include "runtime/position/distinct_run.h"

#define NEAR_MAX 1500u
#define NEAR_MIN 24u

/* ---- the table ------------------------------------------------------------------------------- */

void tsl__planner_init(tsl__planner *p, tsl_grammar *grammar, const tsl_allocator *a) {
  *p = (tsl__planner){.alloc = *a, .grammar = grammar, .near = NEAR_MAX};
  tsl__pool_init(&p->plans, sizeof(tsl__plan));
  tsl__pool_init(&p->laters, sizeof(tsl__later));
  tsl_grammar_retain(grammar);
}

void tsl__planner_free(tsl__planner *p) {
  tsl__pool_free(&p->plans, &p->alloc);
  tsl__index_free(&p->index, &p->alloc);
  tsl__free(&p->alloc, p->rows, TSL__BYTE_ROWS * sizeof *p->rows);
  tsl__pool_free(&p->laters, &p->alloc);
  tsl__index_free(&p->laters_index, &p->alloc);
  tsl__vec_free(&p->alloc, &p->later_items);
  tsl_grammar_release(p->grammar);
}

static bool is_end(const tsl__planner *p, tsl__stack at) {
  return tsl__stack_at(tsl__plan_space(p), at)->complete;
}

/* The plan of a position, made if it was not there: then without any way, or none is needed. NULL
 * on failure. */
static tsl__plan *entry(tsl__planner *p, tsl__stack at) {
  tsl__plan *plan = tsl__plan_find(p, at);
  if (plan) return plan;
  uint32_t missing = tsl__stack_shortest(tsl__plan_space(p), at),
           known = is_end(p, at) ? 0 : TSL__PLAN_NONE;
  if (!tsl__plan_fine(p)) return NULL;
  plan = tsl__pool_add(&p->plans, &p->alloc);
  if (plan)
    *plan = (tsl__plan){
        .at = at, .token = TSL_NO_TOKEN, .bytes = known, .tokens = known, .missing = missing};
  if (plan && tsl__index_add(&p->index, &p->alloc, tsl__mix(at), p->plans.n - 1)) return plan;
  tsl__plan_no_memory(p);
  return NULL;
}

/* Note with which token a way begins, and how many it has. */
static void note_first(const tsl__planner *p, tsl__plan *plan, uint32_t tokens, tsl_token token,
                       tsl__stack after) {
  plan->tokens = tokens;
  plan->token = token;
  plan->after = after;
  plan->unfollowed = tsl__plan_space(p)->names_tokens;
}

/* The fewest bytes to the end, at least. */
static uint32_t missing_at(tsl__planner *p, tsl__stack at) {
  const tsl__plan *plan = entry(p, at);
  return plan ? plan->missing : 0;
}

/* ---- a search's open and closed positions ---------------------------------------------------- */

typedef struct place {
  tsl__stack at;
  tsl__stack like;     /* places that are alike are one */
  uint32_t parent;     /* place before; its own number at the root */
  uint32_t cost, hope; /* spent so far; at least needed from here */
  uint32_t by;         /* byte or token that leads here */
  bool closed;
} place;

typedef struct search {
  tsl__planner *p;
  TSL__VEC(place) places;
  tsl__heap open;   /* numbers of places */
  tsl__index index; /* places by `like`: one each */
  uint64_t steps;
} search;

static void search_free(search *s) {
  tsl__vec_free(&s->p->alloc, &s->places);
  tsl__vec_free(&s->p->alloc, &s->open);
  tsl__index_free(&s->index, &s->p->alloc);
}

/* Cheapest first; of equals the one that has come furthest. */
static bool before(const void *ctx, uint32_t a, uint32_t b) {
  const search *s = ctx;
  const place *x = &s->places.at[a], *y = &s->places.at[b];
  uint64_t fx = (uint64_t)x->cost + x->hope, fy = (uint64_t)y->cost + y->hope;
  return fx != fy ? fx < fy : x->cost > y->cost;
}

static place *place_of(search *s, tsl__stack like) {
  tsl__index_iter it = tsl__index_first(&s->index, tsl__mix(like));
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (s->places.at[i].like == like) return &s->places.at[i];
  return NULL;
}

/* Is a way known to such a place that is as good? */
static bool overtaken(search *s, tsl__stack like, uint32_t cost) {
  const place *known = place_of(s, like);
  return known && (known->closed || known->cost <= cost);
}

/* A way to a position; dropped if it is no better than the one that is known. Entries of the queue
 * that are overtaken stay in it: the second time, their place is closed. */
static void open_place(search *s, tsl__stack at, tsl__stack like, uint32_t parent, uint32_t cost,
                       uint32_t hope, uint32_t by) {
  place *known = place_of(s, like), fresh = {at, like, parent, cost, hope, by, false};
  uint32_t number = known ? (uint32_t)(known - s->places.at) : (uint32_t)s->places.n;
  if (overtaken(s, like, cost)) return;
  if (known)
    *known = fresh;
  else if (!tsl__vec_push(&s->p->alloc, &s->places, fresh) ||
           !tsl__index_add(&s->index, &s->p->alloc, tsl__mix(like), number)) {
    tsl__plan_no_memory(s->p);
    return;
  }
  if (!tsl__heap_push(&s->p->alloc, &s->open, number, before, s)) tsl__plan_no_memory(s->p);
}

/* The next position to look at, closed now; UINT32_MAX: none is left. */
static uint32_t next_place(search *s) {
  while (s->open.n && tsl__plan_fine(s->p)) {
    uint32_t n = tsl__heap_pop(&s->open, before, s);
    if (s->places.at[n].closed) continue;
    s->places.at[n].closed = true;
    return n;
  }
  return UINT32_MAX;
}

/* ---- a way in bytes -------------------------------------------------------------------------- */

/* One byte of a way, from a position. */
typedef struct hop {
  tsl__stack at, next;
  uint8_t byte;
} hop;
typedef TSL__VEC(hop) hops;

/* Bytes that close a value or container are tried first, then digits: `1` before `0`, so that a
 * year is not 0000. */
static uint8_t byte_in_order(unsigned i) {
  static const char first[] = "\"}],:1";
  return i < sizeof first - 1 ? (uint8_t)first[i] : (uint8_t)(i - (sizeof first - 1) + '0');
}
#define BYTES_IN_ORDER (256u + 6u) /* the first ones come twice */

/* May what is spelled become a name that the object has? Then there are better ways. */
static bool rivalled(const tsl__planner *p, tsl__stack at) {
  const tsl__space *space = tsl__plan_space(p);
  return tsl__distinct_at(space, tsl__with_distinct_at(space, at)->distinct)->name &&
         tsl__distinct_blank(tsl__plan_space(p), at) == at;
}

/* Is a byte of white space between values required, as a line break before a closing bracket is?
 * Then fewer bytes are missing after it. */
static bool asks_for(tsl__space *space, tsl__stack plain, uint8_t byte) {
  tsl__stack to = tsl__stack_byte(space, plain, byte);
  return to && tsl__stack_shortest(space, to) < tsl__stack_shortest(space, plain);
}

/* White space that nothing asks for leads nowhere, in many ways. So does, but with `exponents`, the
 * exponent of a number that must be new: there are other spellings. */
static void drop_spellings(tsl__space *space, tsl__stack at, bool exponents, tsl__bytes *next) {
  const tsl__with_distinct own = *tsl__with_distinct_at(space, at);
  const tsl__distinct m = *tsl__distinct_at(space, own.distinct);
  tsl__bytes others = *next;
  if (!own.distinct || m.in_string) return;
  for (const char *c = " \t\n\r"; *c; c++)
    if (tsl__bytes_has(next, (uint8_t)*c) && !asks_for(space, own.plain, (uint8_t)*c))
      others.w[0] &= ~((uint64_t)1 << *c);
  if (m.n) others.w[1] &= ~((uint64_t)!exponents << ('e' - 64) | (uint64_t)1 << ('E' - 64));
  if (!tsl__bytes_empty(&others)) *next = others;
}

#define RISES_MAX 64u /* of one plan: a few for each array that is open */

/* A byte after which fewer are missing. Some items may have to be repeated. The bound does not know
 * that an item which is about to begin cannot be one of the earlier ones and cheap at once. It does
 * when that one has begun: where no byte leaves fewer, one that leaves the least is chosen, more or
 * not. */
static bool descend(tsl__planner *p, tsl__stack at, hop *out) {
  tsl__space *space = tsl__plan_space(p);
  uint32_t missing = missing_at(p, at), least = UINT32_MAX;
  bool found = false, may_rise = (space->positions.watches & TSL__SAME_ITEM) &&
                                 tsl__with_distinct_at(space, at)->distinct && p->rises < RISES_MAX;
  tsl__bytes next, rising;
  hop up = {0};
  if (missing == 0 || !tsl__stack_next(space, at, &next)) return false;
  rising = next;
  if (may_rise) drop_spellings(space, at, false, &rising);
  for (unsigned i = 0; i < BYTES_IN_ORDER && space->status == TSL_OK; i++) {
    uint8_t byte = byte_in_order(i);
    tsl__stack to = tsl__bytes_has(&next, byte) ? tsl__stack_byte(space, at, byte) : 0;
    uint32_t then = to ? missing_at(p, to) : UINT32_MAX;
    if (then >= missing) {
      if (then < least && may_rise && tsl__bytes_has(&rising, byte))
        least = then, up = (hop){at, to, byte};
      continue;
    }
    if (!found || !rivalled(p, to)) *out = (hop){at, to, byte};
    found = true;
    if (!rivalled(p, to)) return true;
  }
  if (found || least == UINT32_MAX) return found;
  p->rises++;
  *out = up;
  return true;
}

/* How far it is from a position, at least. */
static uint32_t hope_in_bytes(search *s, tsl__stack at) {
  const tsl__plan *plan = entry(s->p, at);
  return !plan ? TSL__PLAN_NONE : plan->bytes != TSL__PLAN_NONE ? plan->bytes : plan->missing;
}

/* Append the bytes on the way to a place. */
static bool trace(search *s, uint32_t n, hops *way) {
  size_t first = way->n;
  for (; s->places.at[n].parent != n; n = s->places.at[n].parent) {
    const place *to = &s->places.at[n];
    hop l = {s->places.at[to->parent].at, to->at, (uint8_t)to->by};
    if (!tsl__vec_push(&s->p->alloc, way, l)) return tsl__plan_no_memory(s->p), false;
  }
  for (size_t i = first, j = way->n; i + 1 < j; i++) {
    hop l = way->at[i];
    way->at[i] = way->at[--j];
    way->at[j] = l;
  }
  return true;
}

/* Is the way to a place one to keep? It leads to an end or to a position whose way is known. Or,
 * for `ahead`, to one from which fewer bytes are missing than where the search began. */
static bool arrives(search *s, uint32_t n, bool ahead) {
  const tsl__plan *plan = tsl__plan_find(s->p, s->places.at[n].at);
  return is_end(s->p, s->places.at[n].at) || (plan && plan->bytes != TSL__PLAN_NONE) ||
         (ahead && s->places.at[n].hope < s->places.at[0].hope);
}

/* A* from a position at which the descent is stuck. *most: places that it may look at, and then may
 * yet. */
static bool search_way(tsl__planner *p, tsl__stack from, bool ahead, bool exponents, uint64_t *most,
                       hops *way) {
  tsl__space *space = tsl__plan_space(p);
  search s = {.p = p};
  bool found = false,
       items = (space->positions.watches & (TSL__NEW_ITEM | TSL__SAME_ITEM)) == TSL__NEW_ITEM;
  open_place(&s, from, from, 0, 0, hope_in_bytes(&s, from), 0);
  for (uint32_t n; !found && s.steps < *most && (n = next_place(&s)) != UINT32_MAX; s.steps++) {
    tsl__stack at = s.places.at[n].at;
    uint32_t cost = s.places.at[n].cost + 1;
    tsl__bytes next;
    if (arrives(&s, n, ahead)) {
      found = trace(&s, n, way);
      break;
    }
    /* the step budget is for a piece of work of that size */
    if (s.steps % 64 == 0) tsl__space_go_on(space);
    if (!tsl__stack_next(space, at, &next)) break;
    drop_spellings(space, at, exponents, &next);
    for (unsigned i = 0; i < BYTES_IN_ORDER && tsl__plan_fine(p); i++) {
      uint8_t byte = byte_in_order(i);
      bool forgot = false;
      if (!tsl__bytes_has(&next, byte)) continue;
      tsl__stack to = items ? tsl__distinct_byte_forget(space, at, byte, &forgot)
                            : tsl__stack_byte(space, at, byte);
      /* else each name were a way of its own, and each item that is new: any one will do */
      tsl__stack like = to ? tsl__distinct_blank(space, to) : 0;
      if (!like || overtaken(&s, like, cost)) continue;
      to = forgot ? tsl__distinct_blank(space, tsl__stack_byte(space, at, byte)) : like;
      uint32_t hope = hope_in_bytes(&s, to);
      if (hope != UINT32_MAX) open_place(&s, to, like, n, cost, hope, byte);
    }
  }
  *most -= s.steps;
  search_free(&s);
  return found;
}

/* The shortest way if it is soon found. Else one that goes ahead, to be followed from there. Where
 * items must differ, the bound knows nothing of that. To go back to what was written before would
 * be to try all that might have been. Nothing that is written is a dead end. */
static bool search_bytes(tsl__planner *p, tsl__stack from, hops *way) {
  uint64_t near = p->near, some = NEAR_MAX, far = TSL__PLAN_POSITIONS;
  bool found = search_way(p, from, false, true, &near, way);
  if (found && p->near < NEAR_MAX) p->near *= 2;
  if (found || near || !tsl__plan_fine(p)) return found;
  /* what all these looks leave in the tables is more than a few bytes are worth */
  if (p->near > NEAR_MIN) p->near /= 2;
  return search_way(p, from, true, true, &some, way) ||
         (tsl__plan_fine(p) && !some && search_way(p, from, true, false, &far, way));
}

/* The fewest tokens that spell the way from a plan on: those after it are known. */
static void count_tokens(const tsl__planner *p, tsl__plan *plan) {
  const tsl__trie *trie = &tsl__plan_space(p)->vocab->trie;
  uint32_t node = 0;
  for (const tsl__plan *at = plan; at->next;) {
    node = tsl__trie_child(trie, node, at->byte);
    if (!node) return;
    const tsl__trie_node *t = &trie->nodes[node];
    at = tsl__plan_find(p, at->next);
    if (t->begin == t->own_end || at->tokens == TSL__PLAN_NONE || at->tokens + 1 >= plan->tokens)
      continue;
    note_first(p, plan, at->tokens + 1, trie->order[t->begin], at->at);
  }
}

/* Note the way, its end first. */
static bool keep_way(tsl__planner *p, const hops *way) {
  for (size_t i = way->n; i-- > 0;) {
    const tsl__plan *then = tsl__plan_find(p, way->at[i].next);
    tsl__plan *plan = then ? entry(p, way->at[i].at) : NULL;
    if (!plan) return false;
    if (plan->bytes != TSL__PLAN_NONE) continue; /* the search came by here on another way */
    plan->next = way->at[i].next;
    plan->byte = way->at[i].byte;
    plan->bytes = then->bytes < TSL__PLAN_NONE - 1 ? then->bytes + 1 : TSL__PLAN_NONE;
    count_tokens(p, plan);
  }
  return true;
}

/* Is this position an end, or is its way known? An end's plan is made. */
static bool arrived(tsl__planner *p, tsl__stack at) {
  const tsl__plan *plan = is_end(p, at) ? entry(p, at) : tsl__plan_find(p, at);
  return plan && plan->bytes != TSL__PLAN_NONE;
}

/* Find a way in bytes from a position, if there is one, and note it. */
static void plan_bytes(tsl__planner *p, tsl__stack at) {
  hops way = {0};
  hop l = {at, at, 0};
  bool found = true;
  p->rises = 0;
  /* who asks whether it is an end may have found no memory to note that */
  while (found && !arrived(p, l.next) && tsl__plan_fine(p)) {
    if (way.n % 1024 == 0) tsl__space_go_on(tsl__plan_space(p));
    if (descend(p, l.next, &l)) {
      if (!tsl__vec_push(&p->alloc, &way, l)) tsl__plan_no_memory(p);
      continue;
    }
    found = search_bytes(p, l.next, &way);
    if (found) l = way.at[way.n - 1];
  }
  if (tsl__plan_fine(p) && found) keep_way(p, &way);
  tsl__vec_free(&p->alloc, &way);
}

/* ---- a way in tokens ------------------------------------------------------------------------- */

typedef struct token_search {
  search s;
  uint32_t from;  /* the place that is looked at */
  uint64_t limit; /* ways of more tokens are of no interest */
  uint64_t most;  /* landings */
} token_search;

/* where no item is forgotten: each landing is a text of its own, which stays in the tables */
#define EXACT_STEPS (TSL__PLAN_STEPS / 10)

/* A token spells at most so many bytes; one that is named may stand for none. */
static uint32_t hope_in_tokens(tsl__planner *p, tsl__stack at) {
  const tsl__space *space = tsl__plan_space(p);
  uint32_t longest = space->vocab->trie.nodes[0].height, missing = missing_at(p, at);
  if (is_end(p, at) || space->names_tokens || longest == 0) return 0;
  return missing / longest + (missing % longest != 0);
}

static bool open_landing(void *ctx, tsl__stack to, const tsl_token *tokens, size_t n) {
  token_search *t = ctx;
  uint32_t cost = t->s.places.at[t->from].cost + 1, hope = hope_in_tokens(t->s.p, to);
  if (n && (uint64_t)cost + hope <= t->limit)
    open_place(&t->s, to, to, t->from, cost, hope, tokens[0]);
  return ++t->s.steps < t->most;
}

/* A token on a way, and the position before it. */
typedef struct taking {
  tsl__stack at;
  tsl_token token;
} taking;
typedef TSL__VEC(taking) takings;

/* The way to a place, as it is if nothing is forgotten; 0: it leads nowhere, or on failure. Else
 * the position that it leads to. */
static tsl__stack follow_way(const search *s, uint32_t n, takings *way) {
  tsl__space *space = tsl__plan_space(s->p);
  uint32_t tokens = s->places.at[n].cost;
  if (!tsl__vec_reserve(&s->p->alloc, way, tokens)) return tsl__plan_no_memory(s->p), 0;
  for (way->n = tokens; s->places.at[n].parent != n; n = s->places.at[n].parent)
    way->at[s->places.at[n].cost - 1].token = s->places.at[n].by;
  tsl__stack at = s->places.at[n].at;
  for (size_t i = 0; i < way->n && at; i++) {
    way->at[i].at = at;
    at = tsl__stack_token(space, at, way->at[i].token);
  }
  return at;
}

/* Note a way in tokens whose end has a plan, its end first. */
static void note_way(tsl__planner *p, const takings *way, tsl__stack end) {
  const tsl__plan *then = tsl__plan_find(p, end);
  for (size_t i = way->n; then && i-- > 0;) {
    tsl__plan *own = entry(p, way->at[i].at);
    if (own && own->tokens > then->tokens + 1) {
      note_first(p, own, then->tokens + 1, way->at[i].token, then->at);
      own->names = TSL__NAMES_ANY;
    }
    then = own;
  }
}

/* Note the way that ends at a place: where names are all that is forgotten, for the landings on
 * it. */
static void keep_tokens(search *s, uint32_t n) {
  uint32_t total = s->places.at[n].cost;
  for (; tsl__plan_fine(s->p) && s->places.at[n].parent != n; n = s->places.at[n].parent) {
    const place *to = &s->places.at[n], *from = &s->places.at[to->parent];
    tsl__plan *plan = entry(s->p, from->at);
    if (!plan || plan->tokens <= total - from->cost) continue;
    note_first(s->p, plan, total - from->cost, to->by, to->at);
    plan->names = TSL__NAMES_ANY;
  }
}

/* Landings forget names and items: if the way to a place ends there though they are not, it is
 * noted. */
static bool keep_true_way(search *s, uint32_t n) {
  tsl__planner *p = s->p;
  takings way = {0};
  tsl__stack end =
      tsl__plan_space(p)->positions.watches ? follow_way(s, n, &way) : s->places.at[n].at;
  bool ends = end && is_end(p, end);
  if (ends && tsl__plan_space(p)->positions.watches & TSL__NEW_ITEM && arrived(p, end))
    note_way(p, &way, end);
  else if (ends)
    keep_tokens(s, n);
  tsl__vec_free(&p->alloc, &way);
  return ends;
}

/* The fewest tokens from a position to an end, if they are at most `limit`. *forgot: ways were
 * given up that are none where what landings forget is known. True if, but for that, the answer is
 * certain: a way was found and noted, or there is none. */
static bool search_tokens_once(tsl__planner *p, tsl__stack at, uint64_t limit, bool *forgot) {
  token_search t = {
      .s = {.p = p}, .limit = limit, .most = p->exactly ? EXACT_STEPS : TSL__PLAN_STEPS};
  bool certain = true;
  *forgot = false;
  open_place(&t.s, at, at, 0, 0, hope_in_tokens(p, at), TSL_NO_TOKEN);
  for (uint32_t looked = 0; (t.from = next_place(&t.s)) != UINT32_MAX; looked++) {
    tsl__stack here = t.s.places.at[t.from].at;
    if (is_end(p, here) && keep_true_way(&t.s, t.from)) break;
    *forgot |= is_end(p, here); /* another way to the same place may be one that ends there */
    certain = looked < TSL__PLAN_POSITIONS && t.s.steps < t.most;
    if (!certain || !tsl__planner_landings(p, here, open_landing, &t) ||
        !tsl__planner_named_landings(p, here, open_landing, &t))
      break;
  }
  search_free(&t.s);
  return certain && tsl__plan_fine(p);
}

/* The same, with certainty where that can be had: where items were forgotten on ways that are none,
 * without forgetting any. */
static bool search_tokens(tsl__planner *p, tsl__stack at, uint64_t limit) {
  bool forgot, certain = search_tokens_once(p, at, limit, &forgot);
  if (!forgot || !tsl__plan_begins_whole(p) || !tsl__plan_fine(p)) return certain && !forgot;
  p->exactly = true;
  certain = search_tokens_once(p, at, limit, &forgot);
  p->exactly = false;
  return certain && !forgot;
}

/* ---- plans ----------------------------------------------------------------------------------- */

void tsl__planner_copy(tsl__planner *p, tsl__stack at, tsl__stack like) {
  takings way = {0};
  const tsl__plan *plan = tsl__plan_find(p, like);
  while (tsl__plan_fine(p) && at && tsl__plan_leads(plan)) {
    if (!tsl__vec_push(&p->alloc, &way, ((taking){at, plan->token}))) tsl__plan_no_memory(p);
    at = tsl__stack_token(tsl__plan_space(p), at, plan->token);
    plan = tsl__plan_find(p, plan->after);
  }
  if (tsl__plan_fine(p) && at && plan && arrived(p, at) && is_end(p, at)) note_way(p, &way, at);
  tsl__vec_free(&p->alloc, &way);
}

void tsl__planner_note(tsl__planner *p, tsl__stack at, const tsl_token *tokens, size_t n) {
  takings way = {0};
  const tsl__plan *known = tsl__planner_plan(p, at);
  if (!known || known->tokens <= n) return;
  for (size_t i = 0; i < n && at && tsl__plan_fine(p); i++) {
    if (!tsl__vec_push(&p->alloc, &way, ((taking){at, tokens[i]}))) tsl__plan_no_memory(p);
    at = tsl__stack_token(tsl__plan_space(p), at, tokens[i]);
  }
  if (tsl__plan_fine(p) && at && is_end(p, at) && arrived(p, at)) note_way(p, &way, at);
  tsl__vec_free(&p->alloc, &way);
}

/* Where tokens can be accepted by their names, a token may lead to more than its spelling does.
 * Such a position has at least the ways of the one in the plan. */
static void follow_names(tsl__planner *p, tsl__plan *plan) {
  if (!tsl__plan_space(p)->names_tokens) return;
  while (tsl__plan_fine(p) && tsl__plan_leads(plan)) {
    tsl__stack to = tsl__stack_token(tsl__plan_space(p), plan->at, plan->token);
    const tsl__plan *then = tsl__plan_find(p, plan->after);
    tsl__plan *wider = to && then ? entry(p, to) : NULL;
    if (!wider) return;
    if (wider->tokens > then->tokens) note_first(p, wider, then->tokens, then->token, then->after);
    plan->unfollowed = false;
    plan = wider->unfollowed ? wider : NULL; /* else it was followed from there */
  }
}

static void follow(tsl__planner *p, tsl__plan *plan) {
  follow_names(p, plan);
  plan->unfollowed = !tsl__plan_fine(p);
}

const tsl__plan *tsl__planner_plan(tsl__planner *p, tsl__stack at) {
  const tsl__plan *known = tsl__plan_find(p, at);
  if (known && !known->unfollowed && (known->tokens != TSL__PLAN_NONE || known->searched))
    return known;
  if (!known || known->bytes == TSL__PLAN_NONE) plan_bytes(p, at);
  tsl__plan *plan = tsl__plan_fine(p) ? entry(p, at) : NULL;
  if (plan && plan->tokens == TSL__PLAN_NONE) {
    search_tokens(p, at, TSL__PLAN_NONE - 1);
    /* what was cut short is begun anew when it is requested again */
    if (tsl__plan_fine(p)) plan->searched = true;
  }
  if (plan && tsl__plan_fine(p)) follow(p, plan);
  return tsl__plan_fine(p) ? plan : NULL;
}

bool tsl__planner_fits(tsl__planner *p, tsl__stack at, uint64_t tokens) {
  const tsl__plan *plan = tsl__plan_find(p, at);
  if (plan && plan->tokens <= tokens && !plan->unfollowed) return true;
  if (hope_in_tokens(p, at) > tokens) return false;
  plan = tsl__planner_plan(p, at);
  return plan && plan->tokens <= tokens;
}

const tsl__plan *tsl__planner_within(tsl__planner *p, tsl__stack at, uint64_t tokens,
                                     bool *proven) {
  *proven = false;
  const tsl__plan *known = tsl__planner_plan(p, at);
  if (!known || known->tokens <= tokens) return known;
  uint64_t limit = known->tokens == TSL__PLAN_NONE ? tokens : (uint64_t)known->tokens - 1;
  bool certain = search_tokens(p, at, limit); /* notes a shorter way, if there is one */
  tsl__plan *plan = tsl__plan_find(p, at);
  if (tsl__plan_fine(p))
    follow(p, plan);
  else
    plan->unfollowed = true;
  *proven = certain;
  return tsl__plan_fine(p) ? plan : NULL;
}
