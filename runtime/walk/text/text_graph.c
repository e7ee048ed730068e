/* text_graph.c - see text_graph.h.
 *
 * The graph is made by a worklist. Each point's ways are added in the order of their bytes. A way
 * to states that are no point yet makes a new point. Points are found by a hash of their states and
 * part, so each is made once. If the grammar says that ranges of a state lead to the same place,
 * one of them is derived for all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/text/text_graph.h"

#include "runtime/walk/fixed.h"

#define ASCII_MIN 64u     /* letters that must be legal first */
#define DERIVED_MAX 1024u /* targets that are made for it */
#define TYPICAL 0xE1u     /* where this is not legal first, most tokens die */
#define NONASCII_MAX 4u   /* places that characters past ASCII lead to */
/* points that fall to none of the graph before no more are looked up there */
#define STRAY_MAX 4u

typedef tsl__graph graph;
typedef tsl__graph_point point;
typedef tsl__graph_way way;
typedef tsl__graph_alikes alikes;

/* Within a character: the bytes that may come next, and what part comes then. */
typedef struct part {
  uint8_t lo, hi, then;
} part;

enum {
  BETWEEN = TSL__GRAPH_BETWEEN,
  LAST_ONE,
  LAST_TWO,
  LAST_THREE,
  AFTER_E0,
  AFTER_ED,
  AFTER_F0,
  AFTER_F4,
  WHOLE
};
static const part parts[] = {
    [LAST_ONE] = {0x80, 0xBF, BETWEEN},    [LAST_TWO] = {0x80, 0xBF, LAST_ONE},
    [LAST_THREE] = {0x80, 0xBF, LAST_TWO}, [AFTER_E0] = {0xA0, 0xBF, LAST_ONE},
    [AFTER_ED] = {0x80, 0x9F, LAST_ONE},   [AFTER_F0] = {0x90, 0xBF, LAST_TWO},
    [AFTER_F4] = {0x80, 0x8F, LAST_TWO},
};
/* The raw characters of a JSON string that are ASCII, and bytes that begin others. */
static const part rows[] = {{0x20, 0x21, BETWEEN}, {0x23, 0x5B, BETWEEN}, {0x5D, 0x7F, BETWEEN}};
static const part leads[] = {{0xC2, 0xDF, LAST_ONE},   {0xE0, 0xE0, AFTER_E0},
                             {0xE1, 0xEC, LAST_TWO},   {0xED, 0xED, AFTER_ED},
                             {0xEE, 0xEF, LAST_TWO},   {0xF0, 0xF0, AFTER_F0},
                             {0xF1, 0xF3, LAST_THREE}, {0xF4, 0xF4, AFTER_F4}};
#define ROWS (sizeof rows / sizeof *rows)
#define LEADS (sizeof leads / sizeof *leads)

/* Does it nothing but read, with no register? */
static bool is_plain(const graph *g, const tsl__state_rec *r) {
  return tsl__state_reads_on(r, g->last) && !(r->flags & TSL__STATE_LOOP) && !tsl__is_fixed(r);
}

/* Add what a target leads to to the states of a point; of a fork, all that it stands for. False if
 * it is none for a graph, or there are too many. */
static bool add_branch(graph *g, point *p, tsl__target target, unsigned depth) {
  tsl__state state = tsl__target_state(target);
  const tsl__state_rec *r =
      tsl__target_op(target) == TSL__OP_CLEAR ? tsl__state_expanded(g->space, state) : NULL;
  unsigned i = 0;
  if (r && r->flags & TSL__STATE_FORK && depth < TSL__GRAPH_BRANCHES) {
    for (uint32_t k = 0; k < r->edges; k++)
      if (!add_branch(g, p, tsl__state_edges(r)[k].to, depth + 1)) return false;
    return true;
  }
  if (!r || !is_plain(g, r)) return false;
  while (i < TSL__GRAPH_BRANCHES && p->states[i] && p->states[i] < state) i++;
  if (i < TSL__GRAPH_BRANCHES && p->states[i] == state) return true;
  if (p->states[TSL__GRAPH_BRANCHES - 1]) return false;
  memmove(p->states + i + 1, p->states + i, (TSL__GRAPH_BRANCHES - 1 - i) * sizeof *p->states);
  p->states[i] = state;
  return true;
}

/* Is a point that of such a string alone? Texts of letters are the beginnings of others for ever;
 * but quotes and escapes nothing else is legal. */
static bool is_alive(const graph *g, const point *p) {
  return g->quoted && (p->part == BETWEEN || p->part >= WHOLE) && !p->states[1] &&
         tsl__is_others(tsl__state_at(g->space, p->states[0]));
}

/* The slot that has the number of a point, or that it belongs into. */
static uint32_t slot_of(const graph *g, const point *made) {
  uint32_t slot =
      (uint32_t)(tsl__hash(made->states, sizeof made->states) + made->part) % TSL__GRAPH_SLOTS;
  for (; g->slots[slot]; slot = (slot + 1) % TSL__GRAPH_SLOTS) {
    const point *p = &g->points[g->slots[slot]];
    if (p->part == made->part && !memcmp(p->states, made->states, sizeof p->states)) break;
  }
  return slot;
}

/* The number of a point; TSL__GRAPH_DEAD if there is no room. */
static uint32_t point_of(graph *g, const point *made) {
  if (is_alive(g, made)) return TSL__GRAPH_ALIVE;
  uint32_t slot = slot_of(g, made);
  if (g->slots[slot]) return g->slots[slot];
  if (g->n == TSL__GRAPH_FIRST + TSL__GRAPH_POINTS ||
      tsl__space_count(g->space, states) > g->states_max)
    return TSL__GRAPH_DEAD;
  g->slots[slot] = (uint16_t)g->n;
  g->points[g->n] = *made;
  return g->n++;
}

/* The first range of a point's state (by number) that leads where range i does. It is requested
 * once, for a point that all ranges are followed from. */
static uint32_t first_alike(graph *g, const tsl__state_rec *r, unsigned branch, uint32_t i) {
  tsl__space *space = g->space;
  alikes *a = &g->alike[branch];
  if (!space->hook || !space->hook->states.alike || r->ranges > TSL__GRAPH_RANGES) return i;
  if (a->of != r) {
    a->of = r;
    a->known = space->hook->states.alike(space->hook_ctx, r, a->first);
  }
  return a->known ? a->first[i] : i;
}

/* Where a point's state (by number) goes by a byte, and by all up to *end, which may become
 * smaller. *range: not above the one of the byte, which it becomes. */
static tsl__target step(graph *g, const tsl__state_rec *r, unsigned branch, unsigned b,
                        uint32_t *range, unsigned *end) {
  uint32_t i = *range, first;
  if (!r->ranges) return 0;
  const uint8_t *upper = tsl__state_upper(r);
  while (upper[i] < b) i++;
  *range = i;
  if (upper[i] < *end) *end = upper[i];
  if (!tsl__target_is_later(r->targets[i])) return r->targets[i];
  first = first_alike(g, r, branch, i);
  g->derived += tsl__target_is_later(r->targets[first]);
  tsl__target t = tsl__state_range(g->space, r, first, upper[first]);
  if (g->space->status == TSL_OK) r->targets[i] = t;
  return t;
}

/* All ways from a point by bytes lo … hi, letters all of them. False if the graph cannot be
 * made. */
static bool add_ways(graph *g, uint32_t from, unsigned lo, unsigned hi, uint8_t then) {
  uint32_t ranges[TSL__GRAPH_BRANCHES] = {0};
  for (unsigned b = lo, end; b <= hi; b = end + 1) {
    point to = {.part = then, .away = TSL__GRAPH_FAR, .needed = UINT16_MAX};
    uint32_t number = TSL__GRAPH_DEAD;
    end = hi;
    for (unsigned i = 0; i < TSL__GRAPH_BRANCHES && g->points[from].states[i]; i++) {
      tsl__target t =
          step(g, tsl__state_expanded(g->space, g->points[from].states[i]), i, b, &ranges[i], &end);
      if (t && !add_branch(g, &to, t, 0)) return false;
    }
    if (to.states[0] && (number = point_of(g, &to)) == TSL__GRAPH_DEAD) return false;
    if (g->space->status != TSL_OK || g->way_count == TSL__GRAPH_WAYS || g->derived > DERIVED_MAX)
      return false;
    g->ways[g->way_count++] = (way){(uint16_t)from, (uint16_t)number, (uint8_t)b, (uint8_t)end, 0};
  }
  return true;
}

/* The part that comes after one of a whole character. */
static uint8_t whole(uint8_t then) { return then == BETWEEN ? then : (uint8_t)(WHOLE + then); }

/* A way by bytes of a character of which only that it is past ASCII matters; *to: where the whole
 * character leads. False if there is no room. */
static bool add_whole(graph *g, uint32_t from, const part *bytes, const point *to) {
  point next = *to;
  uint32_t number = TSL__GRAPH_DEAD;
  next.part = whole(bytes->then);
  if (g->way_count == TSL__GRAPH_WAYS ||
      (next.states[0] && (number = point_of(g, &next)) == TSL__GRAPH_DEAD))
    return false;
  g->ways[g->way_count++] = (way){(uint16_t)from, (uint16_t)number, bytes->lo, bytes->hi, 0};
  return true;
}

/* Characters that begin with some bytes (TSL__LEADS) lead to one place, if that is known. */
typedef struct nonascii {
  uint64_t leads;
  point to;
  bool known;
} nonascii;

/* Where the characters that begin with some bytes lead to from a point between two: of some of them
 * at least. */
static nonascii find_nonascii(graph *g, uint32_t from, uint64_t of) {
  tsl__space *space = g->space;
  /* what others begin from is made in full */
  nonascii b = {of,
                {.away = TSL__GRAPH_FAR, .needed = UINT16_MAX},
                space->parent && space->hook && space->hook->states.past_ascii};
  for (unsigned i = 0; i < TSL__GRAPH_BRANCHES && g->points[from].states[i] && b.known; i++) {
    g->derived++;
    tsl__target t = space->hook->states.past_ascii(
        space->hook_ctx, tsl__state_expanded(space, g->points[from].states[i]), &b.leads);
    b.known =
        !tsl__target_is_later(t) && (!t || add_branch(g, &b.to, t, 0)) && space->status == TSL_OK;
  }
  return b;
}

/* All ways by characters past ASCII whose first bytes are of one kind, as `b` says: of its bytes
 * in a row each. */
static bool add_leads(graph *g, uint32_t from, const part *lead, const nonascii *b, size_t n) {
  for (unsigned lo = lead->lo, hi; lo <= lead->hi; lo = hi + 1) {
    const nonascii *of = b;
    while (of + 1 < b + n && !(of->leads >> (lo - TSL__LEAD) & 1)) of++;
    for (hi = n == 1 ? lead->hi : lo; hi < lead->hi && of->leads >> (hi + 1 - TSL__LEAD) & 1;
         hi++) {
    }
    part row = {(uint8_t)lo, (uint8_t)hi, lead->then};
    if (!(of->known ? add_whole(g, from, &row, &of->to) : add_ways(g, from, lo, hi, lead->then)))
      return false;
  }
  return true;
}

/* Characters past ASCII: all at once, but for those that a class of the pattern keeps apart. */
static bool add_nonascii(graph *g, uint32_t from) {
  nonascii b[NONASCII_MAX];
  size_t n = 0;
  for (uint64_t left = TSL__ALL_LEADS; left; left &= ~b[n++].leads)
    b[n] = n + 1 < NONASCII_MAX ? find_nonascii(g, from, left & g->leads ? left & g->leads : left)
                                : (nonascii){.leads = left};
  if (b[0].known) g->leads = b[0].leads;
  for (size_t i = 0; i < LEADS; i++)
    if (!add_leads(g, from, &leads[i], b, n)) return false;
  return true;
}

/* Between two characters: ASCII letters in rows, and what begins longer ones. */
static bool add_between(graph *g, uint32_t from) {
  if (!g->quoted && !add_ways(g, from, 0, 0x7F, BETWEEN)) return false;
  for (size_t i = 0; g->quoted && i < ROWS; i++)
    if (!add_ways(g, from, rows[i].lo, rows[i].hi, rows[i].then)) return false;
  return add_nonascii(g, from);
}

/* The earlier point that one between two characters goes with by all bytes but *but, which are
 * ASCII; TSL__GRAPH_DEAD: none is known. */
static uint32_t falls_to(graph *g, uint32_t from, tsl__bytes *but) {
  tsl__space *space = g->space;
  const point *p = &g->points[from];
  point to = {.part = BETWEEN};
  if (!space->hook || !space->hook->states.falls_to || p->states[1] || g->stray == STRAY_MAX)
    return TSL__GRAPH_DEAD;
  to.states[0] =
      space->hook->states.falls_to(space->hook_ctx, tsl__state_expanded(space, p->states[0]), but);
  uint32_t number =
      to.states[0] && !but->w[2] && !but->w[3] ? g->slots[slot_of(g, &to)] : TSL__GRAPH_DEAD;
  if (number != TSL__GRAPH_DEAD && number < from) return number;
  g->stray++;
  return TSL__GRAPH_DEAD;
}

/* The ways of another point but by some ASCII bytes, which are followed. Those are a few ranges, of
 * which none is like another. */
static bool add_ways_but(graph *g, uint32_t from, uint32_t other, const tsl__bytes *but) {
  g->alike[0] = (alikes){.of = tsl__state_expanded(g->space, g->points[from].states[0])};
  for (uint32_t i = g->points[other].ways, end = g->points[other + 1].ways; i < end; i++) {
    const way w = g->ways[i];
    for (unsigned lo = w.lo, hi; lo <= w.hi; lo = hi + 1) {
      bool own = tsl__bytes_has(but, lo);
      for (hi = lo; hi < w.hi && tsl__bytes_has(but, hi + 1) == own; hi++) {
      }
      if (own && !add_ways(g, from, lo, hi, BETWEEN)) return false;
      if (own) continue;
      if (g->way_count == TSL__GRAPH_WAYS) return false;
      g->ways[g->way_count++] = (way){(uint16_t)from, w.to, (uint8_t)lo, (uint8_t)hi, 0};
    }
  }
  return true;
}

static bool add_ways_of(graph *g, uint32_t from) {
  const point p = g->points[from];
  tsl__bytes but;
  uint32_t other = p.part == BETWEEN ? falls_to(g, from, &but) : TSL__GRAPH_DEAD;
  if (g->space->status != TSL_OK) return false;
  if (other != TSL__GRAPH_DEAD) return add_ways_but(g, from, other, &but);
  if (p.part == BETWEEN) return add_between(g, from);
  if (p.part >= WHOLE) return add_whole(g, from, &parts[p.part - WHOLE], &p);
  return add_ways(g, from, parts[p.part].lo, parts[p.part].hi, parts[p.part].then);
}

/* Are nearly all letters legal at the first point? Else most tokens die. */
static bool is_nonascii(const graph *g) {
  unsigned ascii = 0;
  for (const way *w = g->ways; w < g->ways + g->way_count; w++) {
    if (w->to == TSL__GRAPH_DEAD && w->lo >= 0x80) return false;
    ascii += w->to != TSL__GRAPH_DEAD && w->lo < 0x80 ? w->hi - w->lo + 1u : 0;
  }
  return ascii >= ASCII_MIN;
}

/* All that texts of letters lead to. *live: the bytes that are legal somewhere among them. */
bool tsl__graph_explore(graph *g, tsl__state state, tsl__bytes *live) {
  point first = {.part = BETWEEN, .away = TSL__GRAPH_FAR, .needed = UINT16_MAX};
  if (!add_branch(g, &first, tsl__target_make(state, TSL__OP_CLEAR), 0) ||
      point_of(g, &first) != TSL__GRAPH_FIRST)
    return false;
  nonascii any = find_nonascii(g, TSL__GRAPH_FIRST, TSL__ALL_LEADS);
  if (any.known ? !any.to.states[0]
                : !tsl__state_step(g->space, tsl__state_expanded(g->space, state), TYPICAL))
    return false;
  for (uint32_t i = TSL__GRAPH_FIRST; i < g->n; i++) {
    point *p = &g->points[i];
    p->ways = (uint16_t)g->way_count;
    if (!tsl__space_step(g->space, 1) || !add_ways_of(g, i)) return false;
    if (i == TSL__GRAPH_FIRST && !is_nonascii(g)) return false;
    for (unsigned k = 0; k < TSL__GRAPH_BRANCHES && p->states[k] && p->part == BETWEEN; k++)
      tsl__bytes_or(live, &tsl__state_expanded(g->space, p->states[k])->live);
  }
  g->points[g->n].ways = (uint16_t)g->way_count;
  return true;
}
