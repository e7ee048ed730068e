/* empty.c - is there any text at all? And: the shortest, how many, does this one match?
 *
 * Problem   a & b can be empty though neither a nor b is; then a byte that leads there would be a
 *           dead end.
 * Idea      Search the graph of derivatives for an expression that matches ε. Best first by hope():
 *           where a text exists it is usually found after as many steps as the text has bytes. Only
 *           an empty language is searched to the end; its graph is finite.
 * Example   Of 13 searches ".*ab1.*", ".*b12.*" … in exactly 60 characters, 200 expressions are
 *           looked at, not 100,000.
 * Lengths   "At most 100 characters, and these" is another expression after each character, though
 *           all of them ask the same of the rest: how few characters it takes. So it is the rest
 *           that is searched, without the limit: for any text first, and if that is too long for
 *           one of the fewest characters; what was found holds for every limit, and for all that
 *           the text goes by.
 * Memory    What was found is noted in the nodes: SEARCHED on the way to a text, EMPTY on all of a
 *           graph without one; and how many characters it takes, of the last ones, in a table.
 * Cost      Steps count against max_steps of the grammar.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/deriv.h"

#define SHORTEST_DEPTH_MAX 200u
#define LONG_SEARCH 64u /* expressions after which derivatives are worth remembering */

/* ---- a small set of expressions with a place for each ---------------------------------------- */

typedef struct visit {
  tsl__expr e;
  uint32_t from; /* index of the visit that led here */
  uint32_t cost; /* bytes from the start */
  uint32_t next; /* byte to go on with */
} visit;

typedef struct graph {
  TSL__VEC(visit) visits;
  TSL__VEC(uint32_t) queue; /* indices of visits: a binary heap by key */
  TSL__VEC(uint64_t) keys;  /* of the heap entries */
  uint32_t *slots;          /* visit index + 1 */
  uint32_t slot_count;
} graph;

static void graph_free(const tsl_allocator *a, graph *g) {
  tsl__vec_free(a, &g->visits);
  tsl__vec_free(a, &g->queue);
  tsl__vec_free(a, &g->keys);
  tsl__free(a, g->slots, g->slot_count * sizeof *g->slots);
}

static uint32_t *graph_slot(graph *g, tsl__expr e) {
  uint32_t mask = g->slot_count - 1, i = (uint32_t)tsl__mix(e) & mask;
  while (g->slots[i] && g->visits.at[g->slots[i] - 1].e != e) i = (i + 1) & mask;
  return &g->slots[i];
}

static bool graph_grow(const tsl_allocator *a, graph *g) {
  uint32_t count = g->slot_count ? g->slot_count * 2 : 64, old = g->slot_count;
  uint32_t *slots = tsl__alloc_zero(a, count * sizeof *slots);
  if (!slots) return false;
  tsl__free(a, g->slots, old * sizeof *slots);
  g->slots = slots;
  g->slot_count = count;
  for (uint32_t i = 0; i < g->visits.n; i++) *graph_slot(g, g->visits.at[i].e) = i + 1;
  return true;
}

static bool heap_push(const tsl_allocator *a, graph *g, uint64_t key, uint32_t index) {
  if (!tsl__vec_push(a, &g->queue, index) || !tsl__vec_push(a, &g->keys, key)) return false;
  size_t i = g->queue.n - 1;
  while (i > 0 && g->keys.at[(i - 1) / 2] > key) {
    g->keys.at[i] = g->keys.at[(i - 1) / 2];
    g->queue.at[i] = g->queue.at[(i - 1) / 2];
    i = (i - 1) / 2;
  }
  g->keys.at[i] = key;
  g->queue.at[i] = index;
  return true;
}

static uint32_t heap_pop(graph *g) {
  uint32_t top = g->queue.at[0], index = g->queue.at[--g->queue.n];
  uint64_t key = g->keys.at[--g->keys.n];
  size_t i = 0;
  for (;;) {
    size_t c = 2 * i + 1;
    if (c >= g->queue.n) break;
    if (c + 1 < g->queue.n && g->keys.at[c + 1] < g->keys.at[c]) c++;
    if (g->keys.at[c] >= key) break;
    g->keys.at[i] = g->keys.at[c];
    g->queue.at[i] = g->queue.at[c];
    i = c;
  }
  if (g->queue.n) {
    g->keys.at[i] = key;
    g->queue.at[i] = index;
  }
  return top;
}

/* Add a visit unless the expression was seen at no greater cost. */
static bool graph_add(const tsl_allocator *a, graph *g, visit v, uint64_t key) {
  if (g->visits.n * 2 >= g->slot_count && !graph_grow(a, g)) return false;
  uint32_t *slot = graph_slot(g, v.e);
  if (*slot) {
    visit *old = &g->visits.at[*slot - 1];
    if (old->cost <= v.cost) return true;
    *old = v;
    return heap_push(a, g, key, *slot - 1);
  }
  if (!tsl__vec_push(a, &g->visits, v)) return false;
  *slot = (uint32_t)g->visits.n;
  return heap_push(a, g, key, (uint32_t)g->visits.n - 1);
}

/* ---- how many texts, at least ---------------------------------------------------------------- */

#define AT_LEAST_NODES 256u /* that are looked at */
#define ENDLESS UINT64_MAX

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* base to the n-th power, at most ENDLESS - 1. */
static uint64_t power(uint64_t base, uint32_t n) {
  uint64_t all = 1;
  for (uint32_t i = 0; i < n && base > 1 && all < ENDLESS - 1; i++)
    all = all < (ENDLESS - 1) / base ? all * base : ENDLESS - 1;
  return all;
}

static uint64_t at_least(const tsl__exprs *x, tsl__expr e, uint32_t *left);

/* Of texts, but those of some finite sets. */
static uint64_t at_least_both(const tsl__exprs *x, const tsl__node *n, uint32_t *left) {
  uint64_t all = ENDLESS, without = 0;
  tsl__expr other = TSL__NONE;
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__expr c = tsl__list_at(x, n->a)[i];
    tsl__node m = tsl__node_at(x, c), not = m.kind == TSL__K_NOT ? tsl__node_at(x, m.a) : m;
    if (c == x->text) continue;
    if (m.kind == TSL__K_NOT && not .flags & TSL__FINITE)
      without = larger(without, not .kind == TSL__K_STRSET ? not .c - not .b
                                : not .kind == TSL__K_LIT  ? 1
                                                           : ENDLESS - 1);
    else if (other || !(m.flags & TSL__TEXTUAL))
      return 0;
    else
      other = c;
  }
  if (other) all = at_least(x, other, left);
  return all == ENDLESS || without == 0 ? all : all / n->b > without ? all - n->b * without : 0;
}

/* So many members there are at least, as far as the expression itself tells. More than none only
 * where that is certain, though a meet in it, which a search may have made, be empty. */
static uint64_t at_least(const tsl__exprs *x, tsl__expr e, uint32_t *left) {
  tsl__node n = tsl__node_at(x, e);
  uint64_t all = 0, rest;
  if (e == x->text) return ENDLESS;
  if (e == TSL__NONE || !*left) return 0;
  --*left;
  switch (n.kind) {
  case TSL__K_BYTES: return tsl__bytes_count(tsl__set_at(x, n.a));
  case TSL__K_REPEAT:
    all = at_least(x, n.a, left);
    if (!all) return n.b == 0;
    if (n.c == TSL__INF) return ENDLESS;
    return tsl__node_at(x, n.a).flags & TSL__CHAR && all < ENDLESS ? power(all, n.c) : all;
  case TSL__K_SEQ:
    all = at_least(x, n.a, left);
    rest = all ? at_least(x, n.b, left) : 0;
    return rest ? larger(all, rest) : 0;
  case TSL__K_ALT:
    for (uint32_t i = 0; i < n.b; i++)
      all = larger(all, at_least(x, tsl__list_at(x, n.a)[i], left));
    return all;
  case TSL__K_AND: return at_least_both(x, &n, left);
  case TSL__K_STRSET: return n.c - n.b;
  case TSL__K_EPS:
  case TSL__K_LIT:
  case TSL__K_NATIVE: return 1;
  default: return 0;
  }
}

/* Is it a class of single characters that surely has one? */
static bool is_class(const tsl__exprs *x, const tsl__node *n) {
  if (n->kind == TSL__K_ALT)
    return n->flags & TSL__CHAR && tsl__node_at(x, tsl__list_at(x, n->a)[0]).kind != TSL__K_AND;
  return n->flags & TSL__CHAR && (n->kind == TSL__K_BYTES || n->kind == TSL__K_LIT);
}

/* Characters of one member, of the shortest that the expression itself tells of; ENDLESS: it tells
 * of none. */
static uint64_t characters_of_one(const tsl__exprs *x, tsl__expr e, uint32_t *left) {
  uint64_t sum = 0;
  while (*left) {
    tsl__node n = tsl__node_at(x, e);
    uint64_t best = ENDLESS;
    --*left;
    if (n.flags & TSL__NULLABLE_LOW) return sum;
    if (is_class(x, &n)) return sum + 1;
    if (n.kind == TSL__K_SEQ) {
      best = characters_of_one(x, n.a, left);
      if (best == ENDLESS) return ENDLESS;
      sum += best;
      e = n.b;
      continue;
    }
    if (n.kind == TSL__K_LIT) {
      best = 0;
      for (uint32_t i = 0; i < n.b; i++) best += (tsl__literal_at(x, n.a)[i] & 0xC0) != 0x80;
    } else if (n.kind == TSL__K_ALT) {
      for (uint32_t i = 0; i < n.b; i++) {
        uint64_t one = characters_of_one(x, tsl__list_at(x, n.a)[i], left);
        if (one < best) best = one;
      }
    } else if (n.kind == TSL__K_REPEAT) {
      best = characters_of_one(x, n.a, left);
      best = best < UINT32_MAX ? best * n.b : ENDLESS;
    } else if (n.kind == TSL__K_NATIVE && tsl__native_at(x, n.a)->ops->characters) {
      best = tsl__native_characters(x, &n);
    }
    return best < UINT32_MAX && sum < UINT32_MAX ? sum + best : ENDLESS;
  }
  return ENDLESS;
}

/* Are these texts of which one has such a length? */
static bool has_length(const tsl__exprs *x, const tsl__node *n) {
  for (int i = 0; n->b == 2 && i < 2; i++) {
    tsl__expr texts = tsl__list_at(x, n->a)[1 - i];
    tsl__node length = tsl__node_at(x, tsl__list_at(x, n->a)[i]);
    uint32_t left = AT_LEAST_NODES;
    if (length.kind != TSL__K_REPEAT || length.a != x->any_char ||
        !(tsl__node_at(x, texts).flags & TSL__TEXTUAL))
      continue;
    uint64_t characters = characters_of_one(x, texts, &left);
    return characters >= length.b && characters <= length.c;
  }
  return false;
}

/* ---- searching ------------------------------------------------------------------------------- */

static void mark_path(tsl__exprs *x, const graph *g, uint32_t index) {
  for (;;) {
    const visit *v = &g->visits.at[index];
    if (v->e >= x->base && v->e > TSL__EPS) x->nodes.at[v->e - x->base].flags |= TSL__SEARCHED;
    if (v->from == index) return;
    index = v->from;
  }
}

static void mark_empty(tsl__exprs *x, const graph *g) {
  for (size_t i = 0; i < g->visits.n; i++) {
    tsl__expr e = g->visits.at[i].e;
    if (e >= x->base && e > TSL__EPS) x->nodes.at[e - x->base].marks |= TSL__EMPTY;
  }
}

/* ---- characters ------------------------------------------------------------------------------ */

/* Where it is noted how many characters the texts of e have; NULL: nowhere. */
static tsl__known_fewest *fewest_slot(const tsl__exprs *x, tsl__expr e) {
  return x->known_fewest ? &x->known_fewest[e % TSL__KNOWN_FEWEST] : NULL;
}

/* Characters of some text of e, or of one with the fewest; TSL__INF: that is not known. */
static uint32_t known_characters(const tsl__exprs *x, tsl__expr e, bool fewest) {
  const tsl__known_fewest *known = fewest_slot(x, e);
  if (tsl__node_at(x, e).flags & TSL__NULLABLE_LOW) return 0;
  return known && known->e == e && (!fewest || known->least == known->some) ? known->some
                                                                            : TSL__INF;
}

/* A lower bound of the characters of a meet, by its parts. */
static uint32_t characters_by_parts(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  uint32_t most = 0, least, other;
  if (n.kind != TSL__K_AND) tsl__expr_characters(x, e, &most, &other);
  for (uint32_t i = 0; n.kind == TSL__K_AND && i < n.b; i++) {
    tsl__expr_characters(x, tsl__list_at(x, n.a)[i], &least, &other);
    if (least > most) most = least;
  }
  return most;
}

/* What is noted of e, which is asked for more than once; NULL: there is no room. */
static tsl__known_fewest *note_of(tsl__exprs *x, tsl__expr e) {
  /* or none */
  if (!x->known_fewest)
    x->known_fewest = tsl__alloc_zero(&x->alloc, TSL__KNOWN_FEWEST * sizeof *x->known_fewest);
  tsl__known_fewest *known = fewest_slot(x, e);
  if (known && known->e != e) *known = (tsl__known_fewest){e, characters_by_parts(x, e), TSL__INF};
  return known;
}

static void note_characters(tsl__exprs *x, tsl__expr e, uint32_t least, uint32_t some) {
  tsl__known_fewest *known = note_of(x, e);
  if (known && least > known->least) known->least = least;
  if (known && some < known->some) known->some = some;
}

/* No text of e has fewer characters. */
static uint32_t least_characters(tsl__exprs *x, tsl__expr e) {
  if (tsl__node_at(x, e).flags & TSL__NULLABLE_LOW) return 0;
  const tsl__known_fewest *known = note_of(x, e);
  return known ? known->least : characters_by_parts(x, e);
}

/* ---- the search ------------------------------------------------------------------------------ */

/* In order of hope the bound of what is left counts, and a known one ends the search; else the cost
 * so far counts too. */
/* BY_TEXT: as BY_HOPE, but characters are counted and no search ends where they are not */
typedef enum order { BY_HOPE, BY_LENGTH, BY_SPELLING, BY_TEXT, BY_CHARACTERS } order;

/* A*: the estimate of the whole first; among equals the one that has come further, which is nearer
 * to the end. */
static uint64_t by_estimate(uint32_t left, uint32_t cost) {
  uint64_t whole = (uint64_t)left + cost;
  return (whole > UINT32_MAX ? UINT32_MAX : whole) << 32 | (UINT32_MAX - cost);
}

/* How far from a text, to order the search by: the conjuncts that are left, then the bytes that
 * each of them needs. A conjunct that is fulfilled is gone, so that the search takes them on one
 * after the other; by the bytes alone it would hold on to what it has of each and never finish
 * one. */
#define CONJUNCT ((uint64_t)1 << 40)
#define HOPE_DEPTH_MAX 4u
#define HOPE_PARTS_MAX 64u

/* A native automaton knows how far it is from its end, which is more than its node says. */
static uint32_t native_shortest(const tsl__exprs *x, const tsl__node *n) {
  const tsl__native *native = tsl__native_at(x, n->a);
  return native->ops->shortest(native->ctx, n->b);
}

static uint64_t hope(const tsl__exprs *x, const tsl__node *n, unsigned depth) {
  if (n->kind == TSL__K_NATIVE) return native_shortest(x, n);
  if (depth == HOPE_DEPTH_MAX || n->b > HOPE_PARTS_MAX ||
      (n->kind != TSL__K_AND && n->kind != TSL__K_ALT))
    return n->shortest;
  uint64_t sum = 0, least = UINT64_MAX;
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__node part = tsl__node_at(x, tsl__list_at(x, n->a)[i]);
    uint64_t h = hope(x, &part, depth + 1);
    sum += h + CONJUNCT;
    if (h < least) least = h;
  }
  return n->kind == TSL__K_AND ? sum : least;
}

#define CHARACTER_BYTES 4u /* that an escape can stand for */

static uint32_t bound(const tsl__exprs *x, const tsl__node *n);

/* In a JSON string: no byte is spelled by less than one; what an escape has begun may stand for a
 * whole character. */
static uint32_t bound_of_string(const tsl__exprs *x, const tsl__node *n) {
  tsl__node inner = tsl__node_at(x, n->a);
  uint32_t left = bound(x, &inner);
  if (n->kind == TSL__K_JSTR)
    left += left < TSL__INF;
  else
    left = left > CHARACTER_BYTES ? left - CHARACTER_BYTES + 2
                                  : 0; /* and a byte of the escape, and the quote */
  return left > n->shortest ? left : n->shortest;
}

/* At least so many bytes are left. */
static uint32_t bound(const tsl__exprs *x, const tsl__node *n) {
  if (n->kind == TSL__K_JSTR || n->kind == TSL__K_JESC || n->kind == TSL__K_JHEX)
    return bound_of_string(x, n);
  uint32_t most = n->kind == TSL__K_NATIVE ? native_shortest(x, n) : n->shortest;
  for (uint32_t i = 0; n->kind == TSL__K_AND && i < n->b && i < HOPE_PARTS_MAX; i++) {
    tsl__node part = tsl__node_at(x, tsl__list_at(x, n->a)[i]);
    uint32_t left = part.kind == TSL__K_NATIVE ? native_shortest(x, &part) : 0;
    if (left > most) most = left;
  }
  return most;
}

/* Bytes by which a search goes on differently than by the one before. */
static void edges_of(tsl__exprs *x, tsl__expr e, order by, tsl__bytes *edges) {
  tsl__boundaries(x, e, edges);
  for (const char *c = "\b\t\n\f\r \"\\"; by == BY_SPELLING && *c;
       c++) { /* bytes of different cost are different */
    tsl__bytes_add(edges, (uint8_t)*c);
    tsl__bytes_add(edges, (uint8_t)*c + 1u);
  }
}

static uint32_t cost_of(order by, uint8_t byte) {
  return by == BY_SPELLING                      ? tsl__spelling_cost(byte)
         : by == BY_TEXT || by == BY_CHARACTERS ? (byte & 0xC0) != 0x80
                                                : 1;
}

/* Is it known that this leads to a text? */
static bool ends(const tsl__exprs *x, tsl__expr e, const tsl__node *n, order by) {
  if (by == BY_HOPE) return n->flags & (TSL__SEARCHED | TSL__NULLABLE_LOW);
  return by == BY_TEXT && known_characters(x, e, false) != TSL__INF;
}

static bool by_hope(order by) { return by == BY_HOPE || by == BY_TEXT; }

static uint64_t key_of(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint32_t cost, order by) {
  if (by_hope(by)) return hope(x, n, 0) + 1;
  return by_estimate(by == BY_CHARACTERS ? least_characters(x, e) : bound(x, n), cost);
}

#define NOT_ASCII 0x80u

/* All derivatives of visit `index`; in order of hope those by ASCII, and where one of them is
 * nearer to a text the others only when the visit's turn comes again: classes of characters have
 * many. */
static bool expand(tsl__exprs *x, graph *g, uint32_t index, order by) {
  visit from = g->visits.at[index];
  tsl__node own = tsl__node_at(x, from.e);
  uint64_t from_key = by_hope(by) ? key_of(x, from.e, &own, from.cost, by) : 0;
  bool nearer = false, last = false;
  tsl__bytes edges;
  for (unsigned b = from.next; b < 256 && !last; b++) {
    if (b == NOT_ASCII && nearer) {
      g->visits.at[index].next = b;
      if (heap_push(&x->alloc, g, from_key, index)) break;
      tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
      return false;
    }
    /* the first byte is often enough */
    if (b && (b == 1 || b == from.next)) edges_of(x, from.e, by, &edges);
    if (b && b != from.next && !tsl__bytes_has(&edges, b)) continue;
    tsl__expr d = tsl__derive_plain(x, from.e, (uint8_t)b);
    if (!d) continue;
    tsl__node n = tsl__node_at(x, d);
    if (n.marks & TSL__EMPTY) continue;
    visit v = {d, index, from.cost + cost_of(by, (uint8_t)b), 0};
    last = ends(x, d, &n, by); /* it comes first, and ends the search */
    uint64_t key = last ? 0 : key_of(x, d, &n, v.cost, by);
    nearer |= key < from_key;
    if (!graph_add(&x->alloc, g, v, key)) {
      tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
      return false;
    }
  }
  return tsl__exprs_step(x);
}

/* Is it a meet of which it is plain that one text has the length that is asked for, or that there
 * are more texts than are left out? */
static bool plainly_some(tsl__exprs *x, tsl__expr e, const tsl__node *n) {
  uint32_t left = AT_LEAST_NODES;
  if (n->kind != TSL__K_AND || e < x->base || (!has_length(x, n) && !at_least_both(x, n, &left)))
    return false;
  x->nodes.at[e - x->base].flags |= TSL__SEARCHED;
  return true;
}

/* Does it go on, by the byte that is tried first, as something that has a text? Most meets are made
 * of others so. */
static bool leads_to_some(tsl__exprs *x, tsl__expr e) {
  x->searching = true;
  tsl__expr d = tsl__derive_plain(x, e, 0);
  x->searching = false;
  if (!d || e < x->base || !(tsl__node_at(x, d).flags & (TSL__SEARCHED | TSL__NULLABLE_LOW)))
    return false;
  x->nodes.at[e - x->base].flags |= TSL__SEARCHED;
  return true;
}

#define BOUNDED_PARTS 16u

/* Do all texts of e go on as texts of e with any number of one ASCII character behind them? By
 * structure; false if in doubt. */
static bool goes_on(tsl__exprs *x, tsl__expr e, uint8_t byte, unsigned depth) {
  tsl__node n = tsl__node_at(x, e);
  while (n.kind == TSL__K_SEQ) n = tsl__node_at(x, n.b);
  if (n.kind == TSL__K_REPEAT)
    return n.c == TSL__INF && tsl__node_at(x, n.a).flags & TSL__CHAR &&
           tsl__derive_plain(x, n.a, byte) == TSL__EPS;
  if (n.kind != TSL__K_ALT || depth == HOPE_DEPTH_MAX || n.b > HOPE_PARTS_MAX) return false;
  for (uint32_t i = 0; i < n.b; i++)
    if (!goes_on(x, tsl__list_at(x, n.a)[i], byte, depth + 1)) return false;
  return true;
}

static bool all_go_on(tsl__exprs *x, const tsl__expr *e, uint32_t n) {
  for (const char *c = "e1"; *c; c++) {
    uint32_t i = 0;
    while (i < n && goes_on(x, e[i], (uint8_t)*c, 0)) i++;
    if (i == n) return true;
  }
  return false;
}

/* The parts of a meet, of those of so many characters of one class the bounds apart. */
typedef struct bounds {
  tsl__expr rest[BOUNDED_PARTS], free[BOUNDED_PARTS]; /* without the most; without any */
  uint32_t n, least, most;
} bounds;

/* False: it is none, or of too many parts. */
static bool bounds_of(tsl__exprs *x, const tsl__node *n, bounds *out) {
  *out = (bounds){.n = n->b, .most = TSL__INF};
  if (n->kind != TSL__K_AND || n->b > BOUNDED_PARTS) return false;
  for (uint32_t i = 0; i < n->b; i++) {
    out->free[i] = out->rest[i] = tsl__list_at(x, n->a)[i];
    tsl__node m = tsl__node_at(x, out->rest[i]);
    if (m.kind != TSL__K_REPEAT || !(tsl__node_at(x, m.a).flags & TSL__CHAR)) continue;
    if (m.c != TSL__INF) out->rest[i] = tsl__expr_repeat(x, m.a, m.b, TSL__INF);
    out->free[i] = tsl__expr_star(x, m.a);
    if (m.b > out->least) out->least = m.b;
    if (m.c < out->most) out->most = m.c;
  }
  return out->least <= out->most;
}

tsl__expr tsl__without_bounds(tsl__exprs *x, tsl__expr e, uint32_t *most) {
  bounds b;
  tsl__node n = tsl__node_at(x, e);
  if (n.loop || !bounds_of(x, &n, &b) ||
      (b.least ? !all_go_on(x, b.free, b.n) : b.most == TSL__INF))
    return TSL__NONE;
  *most = b.most;
  return tsl__and_n(x, b.free, b.n);
}

/* A meet without the most characters that some of its parts let a text have, and without the least
 * where a shorter text could go on until it has them; NONE: it has no text, or (*most: TSL__INF) no
 * such parts. */
static tsl__expr without_most(tsl__exprs *x, const tsl__node *n, uint32_t *most) {
  bounds b;
  bool bounded = bounds_of(x, n, &b);
  *most = b.most;
  if (!bounded || b.most == TSL__INF) return TSL__NONE;
  return tsl__and_n(x, b.least && all_go_on(x, b.free, b.n) ? b.free : b.rest, b.n);
}

static void search_on(tsl__exprs *x, graph *g, uint32_t index, order by) {
  /* or none */
  if (g->visits.n > LONG_SEARCH && !x->search_steps)
    x->search_steps = tsl__alloc_zero(&x->alloc, TSL__SEARCH_STEPS * sizeof *x->search_steps);
  expand(x, g, index, by);
}

/* What the way to a text of so many characters tells of all that lie on it. */
static void note_path(tsl__exprs *x, const graph *g, uint32_t index, uint32_t characters,
                      bool fewest) {
  mark_path(x, g, index);
  for (;; index = g->visits.at[index].from) {
    const visit *v = &g->visits.at[index];
    note_characters(x, v->e, fewest ? characters - v->cost : 0, characters - v->cost);
    if (v->from == index) return;
  }
}

/* Characters of a text of e, or (BY_CHARACTERS) of one with the fewest, if these are not more than
 * `most`; TSL__INF: there is none. */
static uint32_t find_characters(tsl__exprs *x, tsl__expr e, order by, uint32_t most) {
  graph g = {0};
  uint32_t found = TSL__INF;
  bool beyond = false;
  if (!graph_add(&x->alloc, &g, (visit){e, 0, 0, 0}, 0))
    tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
  while (x->status == TSL_OK && g.queue.n && found == TSL__INF && !beyond) {
    uint32_t index = heap_pop(&g),
             left = known_characters(x, g.visits.at[index].e, by == BY_CHARACTERS);
    if (by == BY_CHARACTERS &&
        tsl__add(g.visits.at[index].cost, least_characters(x, g.visits.at[index].e)) > most)
      beyond = true;
    else if (left == TSL__INF)
      search_on(x, &g, index, by);
    else
      note_path(x, &g, index, found = tsl__add(left, g.visits.at[index].cost), by == BY_CHARACTERS);
  }
  if (beyond) found = most + 1;
  for (size_t i = 0;
       by == BY_CHARACTERS && found != TSL__INF && i < g.visits.n && x->status == TSL_OK; i++)
    note_characters(x, g.visits.at[i].e,
                    found > g.visits.at[i].cost ? found - g.visits.at[i].cost : 0, TSL__INF);
  if (found == TSL__INF && x->status == TSL_OK) mark_empty(x, &g);
  graph_free(&x->alloc, &g);
  return found;
}

/* Has e a text of at most so many characters? */
static bool some_within(tsl__exprs *x, tsl__expr e, uint32_t most) {
  if (e == TSL__NONE || tsl__node_at(x, e).marks & TSL__EMPTY) return false;
  uint32_t some = known_characters(x, e, false);
  if (some <= most) return true;
  if (least_characters(x, e) > most) return false;
  if (some == TSL__INF && (some = find_characters(x, e, BY_TEXT, TSL__INF)) <= most) return true;
  return some != TSL__INF && find_characters(x, e, BY_CHARACTERS, most) <= most;
}

/* Of a meet with a limit of its length: is there a text? -1: it has none. */
static int bounded_some(tsl__exprs *x, tsl__expr e, const tsl__node *n) {
  uint32_t most;
  tsl__expr rest = without_most(x, n, &most);
  if (most == TSL__INF) return -1;
  bool some = some_within(x, rest, most);
  if (x->status != TSL_OK || e < x->base) return some;
  if (some)
    x->nodes.at[e - x->base].flags |= TSL__SEARCHED;
  else
    x->nodes.at[e - x->base].marks |= TSL__EMPTY;
  return some;
}

/* Searched without more ado; the graph is marked. */
static bool search_some(tsl__exprs *x, tsl__expr e) {
  graph g = {0};
  bool found = false;
  if (!graph_add(&x->alloc, &g, (visit){e, 0, 0, 0}, 0))
    tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
  while (x->status == TSL_OK && g.queue.n && !found) {
    uint32_t index = heap_pop(&g);
    tsl__node v = tsl__node_at(x, g.visits.at[index].e);
    int some = v.flags & (TSL__SEARCHED | TSL__NULLABLE_LOW)
                   ? 1
                   : bounded_some(x, g.visits.at[index].e, &v);
    if ((found = some > 0))
      mark_path(x, &g, index);
    else if (some < 0)
      search_on(x, &g, index, BY_HOPE);
  }
  if (!found && x->status == TSL_OK) mark_empty(x, &g);
  graph_free(&x->alloc, &g);
  return found;
}

bool tsl__search_empty(tsl__exprs *x, tsl__expr e) {
  if (e == TSL__NONE) return true;
  tsl__node n = tsl__node_at(x, e);
  if (n.marks & TSL__EMPTY) return true;
  if (x->searching || (n.flags & (TSL__SEARCHED | TSL__NULLABLE_LOW))) return false;
  if (plainly_some(x, e, &n)) return false;
  x->searching = true;
  int some = bounded_some(x, e, &n);
  x->searching = false;
  if (some >= 0) return !some;
  if (leads_to_some(x, e)) return false;
  x->searching = true;
  bool found = search_some(x, e);
  x->searching = false;
  return !found;
}

/* ---- the shortest text ----------------------------------------------------------------------- */

static uint32_t plus(uint64_t a, uint64_t b) {
  return a + b >= TSL__INF ? TSL__INF : (uint32_t)(a + b);
}

/* bytes from which what is on a way is asked for again, one after the other, as by a budget */
#define LONG_WAY 32u

static tsl__known_shortest *way_slot(const tsl__exprs *x, tsl__expr e, bool spelled) {
  return x->way_shortest ? &x->way_shortest[tsl__mix((uint64_t)e * 2 + spelled) % TSL__WAY_SHORTEST]
                         : NULL;
}

/* What was noted of an expression on a long way; TSL__INF: nothing. */
static uint32_t known_on_way(const tsl__exprs *x, tsl__expr e, bool spelled) {
  const tsl__known_shortest *known = way_slot(x, e, spelled);
  return known && known->e == e && known->spelled == spelled ? known->bytes : TSL__INF;
}

/* The rest of a shortest way is one, too. */
static void note_way(tsl__exprs *x, const graph *g, uint32_t index, uint32_t total, bool spelled) {
  if (total < LONG_WAY || total == TSL__INF) return;
  /* or none */
  if (!x->way_shortest)
    x->way_shortest = tsl__alloc_zero(&x->alloc, TSL__WAY_SHORTEST * sizeof *x->way_shortest);
  if (!x->way_shortest) return;
  for (;; index = g->visits.at[index].from) {
    const visit *v = &g->visits.at[index];
    *way_slot(x, v->e, spelled) = (tsl__known_shortest){v->e, total - v->cost, spelled};
    if (v->from == index) return;
  }
}

/* Dijkstra over the derivatives; with `spelled`, a byte costs what it costs in a JSON string. */
static uint32_t shortest_by_search(tsl__exprs *x, tsl__expr e, bool spelled) {
  tsl__known_shortest *known = &x->known_shortest[(e * 2 + spelled) % TSL__KNOWN_SHORTEST];
  graph g = {0};
  uint32_t result = TSL__INF, end = 0;
  if (known->e == e && known->spelled == spelled) return known->bytes;
  if (!graph_add(&x->alloc, &g, (visit){e, 0, 0, 0}, 0))
    tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
  /* what is left in the queue would be longer */
  while (x->status == TSL_OK && g.queue.n && g.keys.at[0] >> 32 < result) {
    uint32_t index = heap_pop(&g);
    visit v = g.visits.at[index];
    uint32_t left =
        tsl__node_at(x, v.e).flags & TSL__NULLABLE_LOW ? 0 : known_on_way(x, v.e, spelled);
    if (left == TSL__INF)
      expand(x, &g, index, spelled ? BY_SPELLING : BY_LENGTH);
    else if (plus(v.cost, left) < result)
      result = plus(v.cost, left), end = index;
  }
  if (x->status == TSL_OK) note_way(x, &g, end, result, spelled);
  graph_free(&x->alloc, &g);
  if (x->status != TSL_OK) return tsl__node_at(x, e).shortest;
  *known = (tsl__known_shortest){e, result, spelled};
  return result;
}

#define STRINGS_MAX 64u /* of a list that is measured one by one */

/* Of the strings in a short list, where a byte costs what it costs in a JSON string; a long one is
 * searched. */
static uint32_t shortest_of_strings(tsl__exprs *x, tsl__expr e, const tsl__node *n) {
  uint32_t best = TSL__INF;
  if (n->c - n->b > STRINGS_MAX) return shortest_by_search(x, e, true);
  for (uint32_t i = n->b; i < n->c; i++) {
    tsl__string s = tsl__stringset_at(x, n->a, i);
    uint32_t cost = 0;
    for (uint32_t k = n->d; k < s.length && cost < best; k++)
      cost = plus(cost, tsl__spelling_cost((uint8_t)s.at[k]));
    if (cost < best) best = cost;
  }
  return best;
}

static uint32_t shortest_head(tsl__exprs *x, tsl__expr e, bool spelled, unsigned depth);

/* Fewest bytes of e, part by part. Where an expression nests deeper than DEPTH_MAX its stored lower
 * bound is taken. */
static uint32_t shortest(tsl__exprs *x, tsl__expr e, bool spelled, unsigned depth) {
  uint32_t total = 0;
  for (;;) {
    tsl__node n = tsl__node_at(x, e);
    if (n.kind != TSL__K_SEQ) return plus(total, shortest_head(x, e, spelled, depth));
    total = plus(total, shortest_head(x, n.a, spelled, depth));
    e = n.b;
  }
}

static uint32_t rule_shortest(tsl__exprs *x, uint32_t index) {
  const tsl__rule *rule = tsl__rule_at(x, index);
  if (!rule->ops->shortest || rule->flags & TSL__RULE_MEASURED) return rule->shortest;
  /* may make rules, which move them */
  uint32_t bytes = rule->ops->shortest(x, rule->ctx, rule->param);
  if (x->status != TSL_OK || index < x->rule_base) return bytes;
  tsl__rule_at(x, index)->shortest = bytes;
  tsl__rule_at(x, index)->flags |= TSL__RULE_MEASURED;
  return bytes;
}

static uint32_t shortest_head(tsl__exprs *x, tsl__expr e, bool spelled, unsigned depth) {
  tsl__node n = tsl__node_at(x, e);
  if (depth > SHORTEST_DEPTH_MAX) return n.shortest;
  switch ((tsl__kind)n.kind) {
  case TSL__K_LIT: {
    uint32_t cost = n.b;
    for (uint32_t i = 0; spelled && i < n.b; i++)
      cost = plus(cost, tsl__spelling_cost(tsl__literal_at(x, n.a)[i]) - 1);
    return cost;
  }
  case TSL__K_BYTES: {
    uint32_t best = spelled ? 6 : 1;
    const tsl__bytes *set = tsl__set_at(x, n.a);
    for (unsigned b = 0; b < 256 && best > 1; b++) {
      if (!(b & 63) && !set->w[b >> 6])
        b += 63;
      else if (tsl__bytes_has(set, b) && tsl__spelling_cost((uint8_t)b) < best)
        best = tsl__spelling_cost((uint8_t)b);
    }
    return best;
  }
  case TSL__K_ALT: {
    uint32_t best = TSL__INF;
    /* the stored bound is no larger than any */
    for (uint32_t i = 0; i < n.b && best > n.shortest; i++) {
      uint32_t c = shortest(x, tsl__list_at(x, n.a)[i], spelled, depth + 1);
      if (c < best) best = c;
    }
    return best;
  }
  case TSL__K_REPEAT:
    return n.b == 0 ? 0 : plus((uint64_t)n.b * shortest(x, n.a, spelled, depth + 1), 0);
  case TSL__K_SEQ: return shortest(x, e, spelled, depth + 1);
  case TSL__K_AND:
  case TSL__K_NOT: return shortest_by_search(x, e, spelled);
  case TSL__K_STRSET: return spelled ? shortest_of_strings(x, e, &n) : n.shortest;
  case TSL__K_JSTR: return plus(1, shortest(x, n.a, true, depth + 1));
  case TSL__K_JESC: /* which characters an escape can be, only a search tells */
  case TSL__K_JHEX:
    return n.loop || (n.flags & TSL__CALLS) ? n.shortest : shortest_by_search(x, e, false);
  case TSL__K_RESUME: return tsl__resume_fewest(x, &n);
  case TSL__K_RULE: return rule_shortest(x, n.a);
  case TSL__K_NATIVE: return native_shortest(x, &n);
  default: return n.shortest;
  }
}

uint32_t tsl__expr_shortest(tsl__exprs *x, tsl__expr e) { return shortest(x, e, false, 0); }

uint32_t tsl__expr_shortest_spelled(tsl__exprs *x, tsl__expr e) { return shortest(x, e, true, 0); }

bool tsl__expr_matches(tsl__exprs *x, tsl__expr e, const void *bytes, size_t length) {
  const uint8_t *at = bytes;
  for (size_t i = 0; i < length && e; i++)
    e = tsl__exprs_step(x) ? tsl__derive_plain(x, e, at[i]) : TSL__NONE;
  return e && tsl__expr_nullable(x, e);
}

/* ---- counting -------------------------------------------------------------------------------- */

typedef struct counting {
  tsl__expr e;
  tsl__bytes edges;     /* bytes at which the derivative may change */
  uint32_t next, width; /* byte to go on with, 256 when done; bytes of the last derivative */
  uint64_t total;       /* members found so far */
} counting;

static bool count_later(tsl__exprs *x, counting *c, tsl__expr e) {
  *c = (counting){.e = e, .total = tsl__expr_nullable(x, e) ? 1 : 0};
  tsl__boundaries(x, e, &c->edges);
  return x->status == TSL_OK;
}

/* The next derivative, and how many bytes lead there. */
static tsl__expr count_next(tsl__exprs *x, counting *c) {
  unsigned begin = c->next, end = tsl__edge_from(&c->edges, begin + 1);
  c->next = end;
  c->width = end - begin;
  return tsl__exprs_step(x) ? tsl__derive_plain(x, c->e, (uint8_t)begin) : TSL__NONE;
}

/* Depth-first over the derivatives with an explicit stack: a state met again on the way to itself
 * means infinitely many. Finished counts are kept in a table by expression. The depth is at most
 * `limit` + the longest common prefix, since every state is alive. */
bool tsl__expr_count(tsl__exprs *x, tsl__expr e, uint32_t limit, uint32_t *count) {
  TSL__VEC(counting) stack = {0};
  graph done = {0}; /* cost = count + 1 when finished, 0 while open */
  counting c;
  bool finite = true;
  uint32_t left = AT_LEAST_NODES;
  uint64_t last_total = 0, least = at_least(x, e, &left);
  *count = 0;
  if (e == TSL__NONE) return true;
  if (least > limit) return *count = least == ENDLESS ? 0 : limit + 1, least != ENDLESS;
  if (!count_later(x, &c, e) || !tsl__vec_push(&x->alloc, &stack, c) ||
      !graph_add(&x->alloc, &done, (visit){e, 0, 0, 0}, 0))
    tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
  while (stack.n && finite && x->status == TSL_OK) {
    counting *top = &stack.at[stack.n - 1];
    if (top->next == 256) {
      last_total = top->total > limit ? (uint64_t)limit + 1 : top->total;
      done.visits.at[*graph_slot(&done, top->e) - 1].cost = (uint32_t)last_total + 1;
      if (--stack.n) stack.at[stack.n - 1].total += last_total * stack.at[stack.n - 1].width;
      continue;
    }
    tsl__expr d = count_next(x, top);
    if (!d) continue;
    if (done.visits.n * 2 >= done.slot_count && !graph_grow(&x->alloc, &done))
      tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
    uint32_t seen = x->status == TSL_OK ? *graph_slot(&done, d) : 0;
    if (seen) {
      uint32_t known = done.visits.at[seen - 1].cost;
      if (known == 0)
        finite = false; /* on the way to itself */
      else
        top->total += (uint64_t)(known - 1) * top->width;
      continue;
    }
    if (top->total > limit) { /* every state can be reached: so many there are */
      last_total = (uint64_t)limit + 1;
      break;
    }
    if (!count_later(x, &c, d) || !tsl__vec_push(&x->alloc, &stack, c) ||
        !graph_add(&x->alloc, &done, (visit){d, 0, 0, 0}, 0))
      tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
  }
  tsl__vec_free(&x->alloc, &stack);
  graph_free(&x->alloc, &done);
  if (finite) *count = (uint32_t)last_total;
  return finite && x->status == TSL_OK;
}

typedef struct listing {
  tsl__expr e, below; /* where the last byte led */
  uint32_t next;      /* byte to go on with */
  tsl__bytes edges;   /* bytes from which on others may lead elsewhere */
} listing;

static listing listing_of(tsl__exprs *x, tsl__expr e) {
  listing l = {.e = e};
  tsl__boundaries(x, e, &l.edges);
  tsl__bytes_add(&l.edges, 0);
  return l;
}

/* The next byte that leads anywhere, and where; 256: there is none. */
static uint32_t next_byte(tsl__exprs *x, listing *l) {
  while (l->next < 256) {
    uint32_t byte = l->next++;
    if (tsl__bytes_has(&l->edges, byte))
      l->below = tsl__exprs_step(x) ? tsl__derive_plain(x, l->e, (uint8_t)byte) : TSL__NONE;
    if (l->below) return byte;
    l->next = tsl__edge_from(&l->edges, l->next);
  }
  return 256;
}

bool tsl__expr_members(tsl__exprs *x, tsl__expr e,
                       void (*member)(void *ctx, const uint8_t *at, uint32_t n), void *ctx) {
  TSL__VEC(listing) stack = {0};
  TSL__VEC(uint8_t) text = {0};
  bool fine = e == TSL__NONE || tsl__vec_push(&x->alloc, &stack, listing_of(x, e));
  if (e && tsl__expr_nullable(x, e)) member(ctx, text.at, 0);
  while (fine && stack.n && x->status == TSL_OK) {
    listing *top = &stack.at[stack.n - 1];
    uint32_t byte = next_byte(x, top);
    tsl__expr below = top->below;
    if (byte == 256) {
      stack.n--;
      text.n -= text.n > 0;
      continue;
    }
    fine = tsl__vec_push(&x->alloc, &text, (uint8_t)byte) &&
           tsl__vec_push(&x->alloc, &stack, listing_of(x, below));
    if (fine && tsl__expr_nullable(x, below)) member(ctx, text.at, (uint32_t)text.n);
  }
  if (!fine) tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
  tsl__vec_free(&x->alloc, &stack);
  tsl__vec_free(&x->alloc, &text);
  return x->status == TSL_OK;
}
