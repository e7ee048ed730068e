/* subtract.c - see walk_less.h.
 *
 * Points    The graph's points are the states that a text leads to, between two characters or
 *           within one (`part` tells which bytes may go on: texts are UTF-8, as everywhere where
 *           there are letters beyond ASCII). Registers are left to other ways.
 * Needed    The bytes of one shortest way to death are the candidates: at each of its steps those
 *           that go the same way (`C` and `c`). What all ways need is a greatest fixed point: a
 *           point needs what each of its ways on needs.
 * Failure   Most points are those of a word under way (compiler/states/failure.h): but for the
 *           bytes by which it goes on their ways are those of an earlier point, and are copied.
 * Nowhere   What no text may hold wherever it stands (a slash in names without one) is looked for
 *           in no tree: a bitset has the tokens with it. Ways by such bytes are none then, and what
 *           is left mostly needs several bytes.
 * Words     Two words may have no byte in common: where all ways together need none, or too many
 *           tokens have what they need, tokens are looked for that die by one way, by the next one,
 *           and so on.
 * Letters   Where a quote is told from the characters beside it, as in JSON strings, letters are
 *           raw characters; else a text's are all, and it may be one that may end anywhere, if
 *           nothing follows.
 * Kinds     Most patterns have `.`, which U+2028 dies of, and few tokens have that: those that die
 *           within a character beyond ASCII are looked for apart, since such ways have nothing in
 *           common with others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/reference.h"

#include "runtime/walk/classes.h"
#include "runtime/walk/fixed.h"
#include "runtime/walk/linear.h"
#include "runtime/kernels/logits.h"
#include "runtime/core/trie.h"
#include "runtime/vocab/token_ring.h"

/* Beyond these another way to walk is faster. */
#define POINTS_MAX 512u
#define WAYS_MAX 4096u
#define SLOTS 1024u
#define BRANCHES_MAX 4u   /* states that a text leads to at once */
#define NEW_MAX 96u       /* states that are made for the graph of a conjunction */
#define NEW_FEW 2u        /* and of others: letters (runtime/automaton/state.h) are found faster */
#define DERIVED_MAX 1024u /* targets that are made for it */
/* live bytes: of conjunctions all are that are no control characters, until they are asked for */
#define CONJUNCTION 200u
#define ASCII_MIN 64u      /* letters that must be legal first */
#define NEEDED_MAX 16u     /* candidates */
#define FEW_BYTES 4u       /* of a candidate: its tokens are told by bitsets */
#define SUSPECTS_MAX 4096u /* tokens with all that is needed: they are tried one by one */
#define WORDS_MAX 16u      /* ways to death that are looked at one by one */
#define NODES_MAX 24576u   /* of the trie that are looked at for a conjunction */
#define NODES_FEW 1024u    /* and for others */
#define TYPICAL 0xE1u      /* where this is not legal first, most tokens die */
#define RANGES_MAX 64u     /* of a state, to be told which are alike */
#define BEYOND_MAX 4u      /* places that characters beyond ASCII lead to */
/* points that fall to none of the graph before no more are asked about that */
#define STRAY_MAX 4u
#define FAR UINT32_MAX

/* Numbers of points that are none. */
/* ALIVE: whatever letters follow; ELSEWHERE: such tokens are looked for apart */
enum { DEAD, ALIVE, ELSEWHERE, FIRST };

/* Within a character: the bytes that may come next, and what part comes then. */
typedef struct part {
  uint8_t lo, hi, then;
} part;

enum { BETWEEN, LAST_ONE, LAST_TWO, LAST_THREE, AFTER_E0, AFTER_ED, AFTER_F0, AFTER_F4, WHOLE };
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

typedef struct point {
  /* at once; sorted, 0 behind the last. All were expanded: tsl__state_expanded has the record,
   * which of the vocabulary's may be one that stands in for it */
  tsl__state states[BRANCHES_MAX];
  uint32_t away;   /* bytes to the nearest death; FAR: none */
  uint32_t needed; /* candidates that each way there has */
  uint16_t ways;   /* its first one; they end where those of the next point begin */
  /* WHOLE more: the states are those after the character under way, whichever it is */
  uint8_t part;
} point;

/* From a point, by some bytes in a row. A point's are in the order of their bytes. */
typedef struct way {
  uint16_t from, to;
  uint8_t lo, hi;
  uint16_t candidates; /* of which all these bytes are */
} way;

/* Which ranges of a state lead to the same place. */
typedef struct alikes {
  const tsl__state_rec *of; /* the one that was asked for last */
  bool told;
  uint8_t first[RANGES_MAX]; /* of each the first that is alike */
} alikes;

typedef struct graph {
  tsl__space *space;
  bool quoted; /* the letters are those of a JSON string, else of any text */
  bool last;   /* nothing follows: that a text may end means nothing */
  point points[FIRST + POINTS_MAX + 1];
  way ways[WAYS_MAX];
  tsl__bytes candidates[NEEDED_MAX];
  tsl__bytes fatal; /* by which anything dies */
  uint32_t n, way_count, candidate_count;
  uint32_t derived; /* targets that were made */
  alikes alike[BRANCHES_MAX];
  uint32_t stray; /* points that fall to none of the graph */
  uint64_t leads; /* those that were told apart from no others at the last point */
  /* states that there may be in all; nodes of the trie that are looked at */
  uint32_t states_max, nodes_max;
  uint16_t slots[SLOTS]; /* by states and part; 0: empty */
  /* the ways by where they end: those of a point from into[point] to into[point + 1] */
  uint16_t into[FIRST + POINTS_MAX + 1], by_end[WAYS_MAX];
} graph;

/* ---- the graph ------------------------------------------------------------------------------- */

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
  if (r && r->flags & TSL__STATE_FORK && depth < BRANCHES_MAX) {
    for (uint32_t k = 0; k < r->edges; k++)
      if (!add_branch(g, p, tsl__state_edges(r)[k].to, depth + 1)) return false;
    return true;
  }
  if (!r || !is_plain(g, r)) return false;
  while (i < BRANCHES_MAX && p->states[i] && p->states[i] < state) i++;
  if (i < BRANCHES_MAX && p->states[i] == state) return true;
  if (p->states[BRANCHES_MAX - 1]) return false;
  memmove(p->states + i + 1, p->states + i, (BRANCHES_MAX - 1 - i) * sizeof *p->states);
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
  uint32_t slot = (uint32_t)(tsl__hash(made->states, sizeof made->states) + made->part) % SLOTS;
  for (; g->slots[slot]; slot = (slot + 1) % SLOTS) {
    const point *p = &g->points[g->slots[slot]];
    if (p->part == made->part && !memcmp(p->states, made->states, sizeof p->states)) break;
  }
  return slot;
}

/* The number of a point; DEAD if there is no room. */
static uint32_t point_of(graph *g, const point *made) {
  if (is_alive(g, made)) return ALIVE;
  uint32_t slot = slot_of(g, made);
  if (g->slots[slot]) return g->slots[slot];
  if (g->n == FIRST + POINTS_MAX || tsl__space_count(g->space, states) > g->states_max) return DEAD;
  g->slots[slot] = (uint16_t)g->n;
  g->points[g->n] = *made;
  return g->n++;
}

/* The first range of a point's state (by number) that leads where range i does. It is asked for
 * once, for a point that all ranges are followed from. */
static uint32_t first_alike(graph *g, const tsl__state_rec *r, unsigned branch, uint32_t i) {
  tsl__space *space = g->space;
  alikes *a = &g->alike[branch];
  if (!space->hook || !space->hook->alike || r->ranges > RANGES_MAX) return i;
  if (a->of != r) {
    a->of = r;
    a->told = space->hook->alike(space->hook_ctx, r, a->first);
  }
  return a->told ? a->first[i] : i;
}

/* Where a point's state (by number) goes by a byte, and by all up to *end, which may become less.
 * *range: not above the one of the byte, which it becomes. */
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
  uint32_t ranges[BRANCHES_MAX] = {0};
  for (unsigned b = lo, end; b <= hi; b = end + 1) {
    point to = {.part = then, .away = FAR, .needed = UINT16_MAX};
    uint32_t number = DEAD;
    end = hi;
    for (unsigned i = 0; i < BRANCHES_MAX && g->points[from].states[i]; i++) {
      tsl__target t =
          step(g, tsl__state_expanded(g->space, g->points[from].states[i]), i, b, &ranges[i], &end);
      if (t && !add_branch(g, &to, t, 0)) return false;
    }
    if (to.states[0] && (number = point_of(g, &to)) == DEAD) return false;
    if (g->space->status != TSL_OK || g->way_count == WAYS_MAX || g->derived > DERIVED_MAX)
      return false;
    g->ways[g->way_count++] = (way){(uint16_t)from, (uint16_t)number, (uint8_t)b, (uint8_t)end, 0};
  }
  return true;
}

/* The part that comes after one of a whole character. */
static uint8_t whole(uint8_t then) { return then == BETWEEN ? then : (uint8_t)(WHOLE + then); }

/* A way by bytes of a character of which only that it is beyond ASCII matters; *to: where the whole
 * character leads. False if there is no room. */
static bool add_whole(graph *g, uint32_t from, const part *bytes, const point *to) {
  point next = *to;
  uint32_t number = DEAD;
  next.part = whole(bytes->then);
  if (g->way_count == WAYS_MAX || (next.states[0] && (number = point_of(g, &next)) == DEAD))
    return false;
  g->ways[g->way_count++] = (way){(uint16_t)from, (uint16_t)number, bytes->lo, bytes->hi, 0};
  return true;
}

/* Characters that begin with some bytes (TSL__LEADS) lead to one place, if that is known. */
typedef struct beyond {
  uint64_t leads;
  point to;
  bool known;
} beyond;

/* Where the characters that begin with some bytes lead to from a point between two: of some of them
 * at least. */
static beyond find_beyond(graph *g, uint32_t from, uint64_t of) {
  tsl__space *space = g->space;
  /* what others begin from is made in full */
  beyond b = {
      of, {.away = FAR, .needed = UINT16_MAX}, space->parent && space->hook && space->hook->beyond};
  for (unsigned i = 0; i < BRANCHES_MAX && g->points[from].states[i] && b.known; i++) {
    g->derived++;
    tsl__target t = space->hook->beyond(
        space->hook_ctx, tsl__state_expanded(space, g->points[from].states[i]), &b.leads);
    b.known =
        !tsl__target_is_later(t) && (!t || add_branch(g, &b.to, t, 0)) && space->status == TSL_OK;
  }
  return b;
}

/* All ways by characters beyond ASCII whose first bytes are of one kind, as `b` tells: of its bytes
 * in a row each. */
static bool add_leads(graph *g, uint32_t from, const part *lead, const beyond *b, size_t n) {
  for (unsigned lo = lead->lo, hi; lo <= lead->hi; lo = hi + 1) {
    const beyond *of = b;
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

/* Characters beyond ASCII: all at once, but for those that a class of the pattern tells apart. */
static bool add_beyond(graph *g, uint32_t from) {
  beyond b[BEYOND_MAX];
  size_t n = 0;
  for (uint64_t left = TSL__ALL_LEADS; left; left &= ~b[n++].leads)
    b[n] = n + 1 < BEYOND_MAX ? find_beyond(g, from, left & g->leads ? left & g->leads : left)
                              : (beyond){.leads = left};
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
  return add_beyond(g, from);
}

/* The earlier point that one between two characters goes with by all bytes but *but, which are
 * ASCII; DEAD: none is known. */
static uint32_t falls_to(graph *g, uint32_t from, tsl__bytes *but) {
  tsl__space *space = g->space;
  const point *p = &g->points[from];
  point to = {.part = BETWEEN};
  if (!space->hook || !space->hook->falls_to || p->states[1] || g->stray == STRAY_MAX) return DEAD;
  to.states[0] =
      space->hook->falls_to(space->hook_ctx, tsl__state_expanded(space, p->states[0]), but);
  uint32_t number = to.states[0] && !but->w[2] && !but->w[3] ? g->slots[slot_of(g, &to)] : DEAD;
  if (number != DEAD && number < from) return number;
  g->stray++;
  return DEAD;
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
      if (g->way_count == WAYS_MAX) return false;
      g->ways[g->way_count++] = (way){(uint16_t)from, w.to, (uint8_t)lo, (uint8_t)hi, 0};
    }
  }
  return true;
}

static bool add_ways_of(graph *g, uint32_t from) {
  const point p = g->points[from];
  tsl__bytes but;
  uint32_t other = p.part == BETWEEN ? falls_to(g, from, &but) : DEAD;
  if (g->space->status != TSL_OK) return false;
  if (other != DEAD) return add_ways_but(g, from, other, &but);
  if (p.part == BETWEEN) return add_between(g, from);
  if (p.part >= WHOLE) return add_whole(g, from, &parts[p.part - WHOLE], &p);
  return add_ways(g, from, parts[p.part].lo, parts[p.part].hi, parts[p.part].then);
}

/* Are nearly all letters legal at the first point? Else most tokens die. */
static bool is_wide(const graph *g) {
  unsigned ascii = 0;
  for (const way *w = g->ways; w < g->ways + g->way_count; w++) {
    if (w->to == DEAD && w->lo >= 0x80) return false;
    ascii += w->to != DEAD && w->lo < 0x80 ? w->hi - w->lo + 1u : 0;
  }
  return ascii >= ASCII_MIN;
}

/* All that texts of letters lead to. *live: the bytes that are legal somewhere among them. */
static bool explore(graph *g, tsl__state state, tsl__bytes *live) {
  point first = {.part = BETWEEN, .away = FAR, .needed = UINT16_MAX};
  if (!add_branch(g, &first, tsl__target_make(state, TSL__OP_CLEAR), 0) ||
      point_of(g, &first) != FIRST)
    return false;
  beyond any = find_beyond(g, FIRST, TSL__ALL_LEADS);
  if (any.known ? !any.to.states[0]
                : !tsl__state_step(g->space, tsl__state_expanded(g->space, state), TYPICAL))
    return false;
  for (uint32_t i = FIRST; i < g->n; i++) {
    point *p = &g->points[i];
    p->ways = (uint16_t)g->way_count;
    if (!tsl__space_step(g->space, 1) || !add_ways_of(g, i)) return false;
    if (i == FIRST && !is_wide(g)) return false;
    for (unsigned k = 0; k < BRANCHES_MAX && p->states[k] && p->part == BETWEEN; k++)
      tsl__bytes_or(live, &tsl__state_expanded(g->space, p->states[k])->live);
  }
  g->points[g->n].ways = (uint16_t)g->way_count;
  return true;
}

/* ---- ways to death --------------------------------------------------------------------------- */

/* How far death is where a way ends. */
static uint32_t away_after(const graph *g, const way *w) {
  return w->to == DEAD ? 0 : w->to < FIRST ? FAR : g->points[w->to].away;
}

/* The ways by where they end: counts become ends, and ends become beginnings. */
static void turn_around(graph *g) {
  memset(g->into, 0, (g->n + 1) * sizeof *g->into);
  for (uint32_t i = 0; i < g->way_count; i++) g->into[g->ways[i].to]++;
  for (uint32_t k = 0; k < g->n; k++) g->into[k + 1] = (uint16_t)(g->into[k + 1] + g->into[k]);
  for (uint32_t i = g->way_count; i-- > 0;) g->by_end[--g->into[g->ways[i].to]] = (uint16_t)i;
}

/* How far each point is from death: backwards from there, the nearest first. */
static void measure(graph *g) {
  uint16_t order[FIRST + POINTS_MAX + 1];
  uint32_t n = 0;
  turn_around(g);
  order[n++] = DEAD;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t away = order[k] == DEAD ? 1 : g->points[order[k]].away + 1;
    for (uint32_t i = g->into[order[k]]; i < g->into[order[k] + 1]; i++) {
      point *from = &g->points[g->ways[g->by_end[i]].from];
      if (from->away != FAR) continue;
      from->away = away;
      order[n++] = (uint16_t)(from - g->points);
    }
  }
}

/* The steps of a shortest way from the first point: all bytes that go the same way. */
static void find_candidates(graph *g) {
  for (uint32_t at = FIRST; at != DEAD && g->candidate_count < NEEDED_MAX;) {
    const way *w = g->ways + g->points[at].ways, *end = g->ways + g->points[at + 1].ways, *next = w;
    tsl__bytes *bytes = &g->candidates[g->candidate_count++];
    while (away_after(g, next) + 1 != g->points[at].away) next++;
    for (*bytes = (tsl__bytes){{0}}; w < end; w++)
      if (w->to == next->to) tsl__bytes_add_range(bytes, w->lo, w->hi);
    at = next->to;
  }
}

/* Has a set all of these bytes? */
static bool has_row(const tsl__bytes *set, unsigned lo, unsigned hi) {
  tsl__bytes row = {{0}};
  if (!tsl__bytes_has(set, lo) || !tsl__bytes_has(set, hi)) return false;
  if (hi - lo < 2) return true;
  tsl__bytes_add_range(&row, lo, hi);
  return tsl__bytes_within(&row, set);
}

/* What all ways need that go on from where these end. A point that needs less than before is looked
 * at once more. */
static void find_needed_before(graph *g) {
  uint16_t less[FIRST + POINTS_MAX + 1];
  bool waits[FIRST + POINTS_MAX + 1] = {false};
  uint32_t n = 0;
  less[n++] = DEAD;
  while (n) {
    uint32_t at = less[--n], then = at == DEAD ? 0 : g->points[at].needed;
    waits[at] = false;
    for (uint32_t i = g->into[at]; i < g->into[at + 1]; i++) {
      const way *w = &g->ways[g->by_end[i]];
      uint32_t needed = g->points[w->from].needed & (w->candidates | then);
      if (needed == g->points[w->from].needed) continue;
      g->points[w->from].needed = needed;
      if (!waits[w->from]) less[n++] = w->from;
      waits[w->from] = true;
    }
  }
}

/* Which candidates have each byte. */
static void find_having(const graph *g, uint16_t having[256]) {
  memset(having, 0, 256 * sizeof *having);
  for (uint32_t k = 0; k < g->candidate_count; k++)
    for (unsigned w = 0; w < 4; w++)
      for (uint64_t bits = g->candidates[k].w[w]; bits; bits &= bits - 1)
        having[w * 64 + (unsigned)__builtin_ctzll(bits)] |= (uint16_t)(1u << k);
}

static void find_needed(graph *g) {
  uint16_t having[256];
  find_candidates(g);
  find_having(g, having);
  for (way *w = g->ways; w < g->ways + g->way_count; w++) {
    if (w->to == DEAD) tsl__bytes_add_range(&g->fatal, w->lo, w->hi);
    unsigned candidates = having[w->lo] & having[w->hi]; /* mostly none */
    for (unsigned b = w->lo + 1u; candidates && b < w->hi; b++) candidates &= having[b];
    w->candidates = (uint16_t)candidates;
  }
  find_needed_before(g);
}

/* ---- the trie -------------------------------------------------------------------------------- */

/* Can no text below a node die that leads to a point? */
static bool is_safe(const graph *g, const tsl__trie *trie, const tsl__trie_node *n,
                    const point *p) {
  if (n->height < p->away ||
      (n->below != UINT16_MAX && !tsl__bytes_meet(&trie->sets[n->below], &g->fatal)))
    return true;
  for (uint32_t k = 0; n->below != UINT16_MAX && k < g->candidate_count; k++)
    if (p->needed >> k & 1 && !tsl__bytes_meet(&trie->sets[n->below], &g->candidates[k]))
      return true;
  return false;
}

typedef struct place {
  uint32_t node, at;
} place;

static bool add_tokens(const graph *g, tsl__reference *out, const tsl_token *tokens, uint32_t n) {
  if (!tsl__vec_reserve(&g->space->alloc, &out->tokens, n)) return tsl__space_no_memory(g->space);
  memcpy(out->tokens.at + out->tokens.n, tokens, n * sizeof *tokens);
  out->tokens.n += n;
  return true;
}

/* The tokens that die, by the trees that they are in. False if there is too much to look at, or on
 * failure (sticky). */
static bool find_in_trie(const graph *g, tsl__reference *out) {
  tsl__space *space = g->space;
  const tsl__trie *trie = &space->vocab->trie;
  TSL__VEC(place) stack = {0};
  uint32_t looked = 0;
  bool fine =
      tsl__vec_push(&space->alloc, &stack, ((place){0, FIRST})) || tsl__space_no_memory(space);
  while (fine && stack.n) {
    place p = stack.at[--stack.n];
    const tsl__trie_node *n = &trie->nodes[p.node];
    const way *w = g->ways + g->points[p.at].ways, *last = g->ways + g->points[p.at + 1].ways;
    looked += 1 + n->children;
    fine = looked <= g->nodes_max && tsl__space_step(space, 1u + n->children / 8);
    for (uint32_t c = n->first_child, end = c + n->children; c < end && fine; c++) {
      while (w < last && w->hi < trie->labels[c]) w++;
      if (w == last) break;
      if (trie->labels[c] < w->lo) continue; /* no letter */
      const tsl__trie_node *child = &trie->nodes[c];
      if (w->to == DEAD)
        fine = add_tokens(g, out, trie->order + child->begin, child->end - child->begin);
      else if (w->to >= FIRST && !is_safe(g, trie, child, &g->points[w->to]))
        fine = tsl__vec_push(&space->alloc, &stack, ((place){c, w->to})) ||
               tsl__space_no_memory(space);
    }
  }
  tsl__vec_free(&space->alloc, &stack);
  return fine;
}

/* Where the ways from a point lead, by byte. */
typedef struct onward {
  bool made[FIRST + POINTS_MAX];
  uint16_t to[][256];
} onward;

/* The row of a point, made when it is first asked for. By what is no letter it leads ELSEWHERE. */
static const uint16_t *row_of(const graph *g, onward *o, uint32_t at) {
  if (o->made[at]) return o->to[at];
  o->made[at] = true;
  for (unsigned b = 0; b < 256; b++) o->to[at][b] = ELSEWHERE;
  for (const way *w = g->ways + g->points[at].ways; w < g->ways + g->points[at + 1].ways; w++)
    for (unsigned b = w->lo; b <= w->hi; b++) o->to[at][b] = w->to;
  return o->to[at];
}

/* Does a token die by its letters? */
static bool dies(const graph *g, onward *o, const uint8_t *bytes, const uint8_t *end) {
  uint32_t at = FIRST;
  for (; at >= FIRST && (size_t)(end - bytes) >= g->points[at].away; bytes++)
    at = row_of(g, o, at)[*bytes];
  return at == DEAD;
}

/* Only the tokens that have one of n bytes are kept. */
static void keep_having(uint32_t *restrict bits, const uint32_t *const *having, uint32_t n,
                        size_t words) {
  const uint32_t *a = having[0], *b = having[n > 1], *c = having[n > 2 ? 2 : 0], *d = having[n - 1];
  if (n == 1) {
    tsl__mask_and(bits, a, words);
  } else if (n == 2) {
    TSL__AT_ONCE
    for (size_t i = 0; i < words; i++) bits[i] &= a[i] | b[i];
  } else {
    TSL__AT_ONCE
    for (size_t i = 0; i < words; i++) bits[i] &= a[i] | b[i] | c[i] | d[i];
  }
}

/* The tokens that have all that is needed, as far as candidates of few bytes tell. False if there
 * is no such candidate. */
static bool find_suspects(const graph *g, const tsl__lengths *l, uint32_t *bits) {
  size_t words = tsl_vocab_mask_words(g->space->vocab);
  bool any = false;
  memset(bits, 0xFF, words * sizeof *bits);
  for (uint32_t k = 0; k < g->candidate_count; k++) {
    const uint32_t *having[FEW_BYTES];
    uint32_t n = 0;
    const tsl__bytes *c = &g->candidates[k];
    if (!(g->points[FIRST].needed >> k & 1) || c->w[2] || c->w[3] ||
        tsl__ones(c->w[0]) + tsl__ones(c->w[1]) > FEW_BYTES)
      continue;
    for (unsigned b = 0; b < 0x80; b++)
      if (tsl__bytes_has(c, b)) having[n++] = l->having[b];
    if (n == 0) continue;
    keep_having(bits, having, n, words);
    any = true;
  }
  return any;
}

/* Those tokens of a bitset that die. */
static bool try_bitset(const graph *g, const uint32_t *bits, tsl__reference *out) {
  const tsl_vocab *v = g->space->vocab;
  size_t size = sizeof(onward) + g->n * sizeof(uint16_t[256]);
  onward *o = tsl__alloc(&g->space->alloc, size);
  bool fine = o || tsl__space_no_memory(g->space);
  tsl__turns turns = tsl__turns_of(v, bits);
  if (o) memset(o->made, 0, sizeof o->made);
  for (tsl_token t; fine && tsl__turns_next(&turns, &t);)
    if (dies(g, o, v->bytes + v->offsets[t], v->bytes + v->offsets[t + 1]))
      fine = add_tokens(g, out, &t, 1);
  tsl__free(&g->space->alloc, o, size);
  return fine;
}

/* The tokens that die, among those few that have all that is needed. False if they are not few, or
 * on failure (sticky). */
static bool find_among_suspects(const graph *g, tsl__reference *out) {
  const tsl__lengths *l = tsl__lengths_of(g->space);
  size_t words = tsl_vocab_mask_words(g->space->vocab);
  uint32_t *bits = l ? tsl__alloc(&g->space->alloc, words * sizeof *bits) : NULL;
  if (l && !bits) return tsl__space_no_memory(g->space);
  bool fine = l && find_suspects(g, l, bits);
  size_t n = fine ? tsl_mask_count(bits, words * 32) : 0;
  fine = fine && n <= SUSPECTS_MAX && tsl__space_step(g->space, n) &&
         (n == 0 || try_bitset(g, bits, out));
  tsl__free(&g->space->alloc, bits, words * sizeof *bits);
  return fine;
}

/* The ASCII letters by which a text dies from any point between two characters. */
static tsl__bytes find_nowhere(const graph *g) {
  tsl__bytes all = {{UINT64_MAX, UINT64_MAX, 0, 0}};
  for (uint32_t i = FIRST; i < g->n; i++) {
    tsl__bytes dead = {{0}};
    for (const way *w = g->ways + g->points[i].ways; w < g->ways + g->points[i + 1].ways; w++) {
      if (w->to == ALIVE) return (tsl__bytes){{0}};
      if (w->to == DEAD) tsl__bytes_add_range(&dead, w->lo, w->hi);
    }
    for (int k = 0; k < 2 && g->points[i].part == BETWEEN; k++) all.w[k] &= dead.w[k];
  }
  return all;
}

/* The tokens that are texts of letters and hold one of some ASCII characters die. False on failure
 * (sticky). */
static bool add_holding(const graph *g, const tsl__bytes *any, tsl__reference *out) {
  tsl__space *space = g->space;
  const tsl__lengths *l = tsl__lengths_of(space);
  tsl__mask letters = l ? tsl__class_mask(space, &out->hint.letters, 0, 0, UINT32_MAX) : 0;
  size_t words = tsl_vocab_mask_words(space->vocab);
  uint32_t *bits = letters ? tsl__alloc_zero(&space->alloc, 2 * words * sizeof *bits) : NULL,
           *having = bits ? bits + words : NULL;
  if (!bits) return letters ? tsl__space_no_memory(space) : space->status == TSL_OK;
  tsl__mask_write(space, tsl__mask_at(space, letters), bits);
  for (unsigned b = 0; b < 0x80; b++)
    if (tsl__bytes_has(any, b)) tsl__mask_or(having, l->having[b], words);
  tsl__mask_and(bits, having, words);
  size_t n = tsl_mask_count(bits, words * 32);
  bool fine = tsl__space_step(space, n) &&
              (tsl__vec_reserve(&space->alloc, &out->tokens, n) || tsl__space_no_memory(space));
  for (size_t i = 0; i < words && fine; i++)
    for (uint32_t word = bits[i]; word; word &= word - 1)
      out->tokens.at[out->tokens.n++] = (tsl_token)(i * 32) + (tsl_token)__builtin_ctz(word);
  tsl__free(&space->alloc, bits, 2 * words * sizeof *bits);
  return fine;
}

/* Ways to death by what no text may hold are none from here on: tokens that hold it are told at
 * once. */
static void drop_nowhere(graph *g, const tsl__bytes *nowhere) {
  for (way *w = g->ways; w < g->ways + g->way_count; w++)
    if (w->to == DEAD && has_row(nowhere, w->lo, w->hi)) w->to = ELSEWHERE;
}

/* What the ways to death that the graph has now need. False if there are none. */
static bool look_at_deaths(graph *g) {
  for (uint32_t i = FIRST; i < g->n; i++) g->points[i].away = FAR, g->points[i].needed = UINT16_MAX;
  g->candidate_count = 0;
  g->fatal = (tsl__bytes){{0}};
  measure(g);
  if (g->points[FIRST].away == FAR) return false;
  find_needed(g);
  return true;
}

/* The same tokens, death by death: each needs more than all have in common. False if it is too
 * much, or on failure (sticky); what they need is told anew then. */
static bool find_by_words(graph *g, tsl__reference *out) {
  way *dead[WORDS_MAX];
  uint32_t n = 0;
  for (way *w = g->ways; w < g->ways + g->way_count; w++) {
    if (w->to != DEAD) continue;
    if (n == WORDS_MAX) return false;
    dead[n++] = w;
  }
  if (n < 2) return false;
  size_t before = out->tokens.n;
  bool fine = true;
  for (uint32_t i = 0; i < n; i++) dead[i]->to = ELSEWHERE;
  for (uint32_t i = 0; i < n && fine; i++) {
    dead[i]->to = DEAD;
    fine = !look_at_deaths(g) || find_among_suspects(g, out);
    dead[i]->to = ELSEWHERE;
  }
  for (uint32_t i = 0; i < n; i++) dead[i]->to = DEAD;
  if (!fine) out->tokens.n = before, look_at_deaths(g);
  return fine;
}

/* The tokens that die by the ways to death that the graph has now. False if it is too much, or on
 * failure (sticky). */
static bool find_kind(graph *g, tsl__reference *out) {
  return !look_at_deaths(g) || find_among_suspects(g, out) ||
         (g->space->status == TSL_OK && find_by_words(g, out)) ||
         (g->space->status == TSL_OK && find_in_trie(g, out));
}

/* Some ways to death, by whether they are by ASCII, become none or some again. Returns how many. */
static uint32_t turn_ways(graph *g, bool ascii, uint16_t from, uint16_t to) {
  uint32_t n = 0;
  for (way *w = g->ways; w < g->ways + g->way_count; w++)
    if (w->to == from && (w->lo < 0x80) == ascii) w->to = to, n++;
  return n;
}

/* The tokens that die: by ASCII, within other characters, and by what they hold. False if it is too
 * much, or on failure (sticky). */
static bool find_dying(graph *g, tsl__reference *out) {
  tsl__bytes nowhere = find_nowhere(g);
  drop_nowhere(g, &nowhere);
  uint32_t others = turn_ways(g, false, DEAD, ELSEWHERE);
  if (!find_kind(g, out)) return false;
  turn_ways(g, true, DEAD, ELSEWHERE);
  if (others && (turn_ways(g, false, ELSEWHERE, DEAD), !find_kind(g, out))) return false;
  return tsl__bytes_empty(&nowhere) || add_holding(g, &nowhere, out);
}

/* ---- all together ---------------------------------------------------------------------------- */

/* Is a quote told from the characters beside it, as in JSON strings? */
static bool tells_quote(const tsl__state_rec *r) {
  const uint8_t *upper = tsl__state_upper(r);
  uint32_t i = 0;
  while (upper[i] < '"') i++;
  return upper[i] == '"' && i && upper[i - 1] == '!';
}

/* Do all ASCII characters that live lead to one place? The letters of a class are found faster. */
static bool is_class(tsl__space *space, const tsl__state_rec *r) {
  tsl__target all = 0;
  for (uint32_t i = 0, b = 0; b < 0x80; b = tsl__state_upper(r)[i++] + 1u) {
    tsl__target t = tsl__state_range(space, r, i, (uint8_t)b);
    if (t && all && t != all) return false;
    all = t ? t : all;
  }
  return true;
}

/* The raw characters of a JSON string, or of any text; of what a state lives on, all else is an
 * exit. */
static void take_letters(tsl__hint *h, bool quoted, const tsl__bytes *live) {
  *h = (tsl__hint){.limit = TSL__COUNT_INF, .dead = TSL__COUNT_INF};
  tsl__bytes_add_range(&h->letters, quoted ? 0x20 : 0, 0xF4);
  h->letters.w[0] &= ~((uint64_t)quoted << '"');
  h->letters.w[1] &= ~((uint64_t)quoted << ('\\' & 63));
  for (int w = 0; w < 2; w++) h->exits.w[w] = live->w[w] & ~h->letters.w[w];
}

bool tsl__subtract_find(tsl__space *space, tsl__state state, bool last, tsl__reference *out) {
  const tsl__state_rec *r = tsl__state_expanded(space, state);
  if (!r) return false;
  bool quoted = tells_quote(r);
  tsl__reference_clear(out);
  if (!quoted && is_class(space, r)) return false;
  take_letters(&out->hint, quoted, &r->live);
  if (tsl__linear_beats(space, tsl__linear_table(space), r, &out->hint, 0)) return false;
  graph *g = tsl__alloc(&space->alloc, sizeof *g);
  if (!g) return tsl__space_no_memory(space);
  tsl__bytes live = {
      {(uint64_t)quoted << '"', (uint64_t)quoted << ('\\' & 63), 0, 0}}; /* as where it is ALIVE */
  g->space = space;
  g->quoted = quoted;
  /* a text that may end anywhere and tells quotes apart is mostly one of a class, of which letters
   * are found faster */
  g->last = last && !quoted;
  g->n = FIRST;
  g->way_count = 0;
  g->derived = 0;
  g->stray = 0;
  for (unsigned i = 0; i < BRANCHES_MAX; i++) g->alike[i].of = NULL;
  g->leads = TSL__ALL_LEADS;
  bool few = quoted && r->live_count < CONJUNCTION;
  g->states_max = tsl__space_count(space, states) + (few ? NEW_FEW : NEW_MAX);
  g->nodes_max = few || !quoted ? NODES_FEW : NODES_MAX;
  memset(g->slots, 0, sizeof g->slots);
  bool fine = explore(g, state, &live);
  if (fine) {
    take_letters(&out->hint, quoted, &live);
    fine = find_dying(g, out);
  }
  if (fine) {
    out->mask = tsl__class_mask(space, &out->hint.letters, 0, 0, UINT32_MAX);
    out->among = true;
    out->from = (tsl__linear_from){state, 0, 0, 0, last};
  }
  tsl__free(&space->alloc, g, sizeof *g);
  return fine;
}
