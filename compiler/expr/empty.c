/* empty.c - is there any text at all?
 *
 * Problem   a & b can be empty though neither a nor b is; then a byte that leads there would be a
 *           dead end.
 * Idea      Search the graph of derivatives for an expression that matches ε. Best first by hope():
 *           where a text exists it is usually found after as many steps as the text has bytes. Only
 *           an empty language is searched to the end; its graph is finite.
 * Example   A text of exactly 60 characters must match 13 patterns such as ".*ab1.*" and ".*b12.*".
 *           The search looks at 200 expressions, not at 100,000.
 * Lengths   "At most 100 characters, and this pattern" is another expression after each character.
 *           All of these expressions depend on one number: how few characters the rest of the
 *           pattern takes. So the rest is searched without the limit: first for any text, and if
 *           the ways get too long, for one of the fewest characters. What is found holds for every
 *           limit, and for each expression that the text comes by.
 * Memory    What was found is noted in the nodes: SEARCHED on the way to a text, EMPTY on all of a
 *           graph without one. How many characters it takes is kept in a table, for the last ones.
 * Cost      Steps count against max_steps of the grammar.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/search.h"

#define CHARACTER_BYTES 4u /* at most, also of what an escape stands for */
#define LONG_SEARCH 64u    /* expressions after which derivatives are worth remembering */
#define WAYS_LEFT_MAX 64u  /* of a search, as too long; then the fewest characters are looked for */

/* ---- searching ------------------------------------------------------------------------------- */

static void mark_path(tsl__exprs *x, const tsl__graph *g, uint32_t index) {
  for (;;) {
    const tsl__visit *v = &g->visits.at[index];
    if (v->e >= x->base && v->e > TSL__EPS) x->nodes.at[v->e - x->base].flags |= TSL__SEARCHED;
    if (v->from == index) return;
    index = v->from;
  }
}

static void mark_empty(tsl__exprs *x, const tsl__graph *g) {
  for (size_t i = 0; i < g->visits.n; i++) {
    tsl__expr e = g->visits.at[i].e;
    if (e >= x->base && e > TSL__EPS) x->nodes.at[e - x->base].traits |= TSL__EMPTY;
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
  tsl__node n = tsl__node_at(x, e);
  if (n.flags & TSL__NULLABLE_LOW) return 0;
  if (tsl__native_counts(x, &n)) return tsl__native_characters(x, &n).least;
  return known && known->e == e && (!fewest || known->least == known->some) ? known->some
                                                                            : TSL__INF;
}

/* Is it bytes that end a character? */
static bool ends_character(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  const tsl__bytes *set = n.kind == TSL__K_BYTES ? tsl__set_at(x, n.a) : NULL;
  return set && !(set->w[0] | set->w[1] | set->w[3]);
}

/* How many characters part n of a meet of texts asks for: m + 1, if it is !any_char{0,m}, perhaps
 * in the middle of a character. 0: it is something else. */
static uint32_t characters_past(const tsl__exprs *x, const tsl__node *n) {
  if (n->kind != TSL__K_NOT) return 0;
  tsl__node m = tsl__node_at(x, n->a);
  while (m.kind == TSL__K_SEQ && ends_character(x, m.a)) m = tsl__node_at(x, m.b);
  return m.kind == TSL__K_REPEAT && m.a == x->any_char && !m.b && m.c != TSL__INF ? m.c + 1 : 0;
}

/* A lower bound of the characters of a meet, by its parts. */
static uint32_t characters_by_parts(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  uint32_t most = 0, least, other;
  if (n.kind != TSL__K_AND) tsl__expr_characters(x, e, &most, &other);
  for (uint32_t i = 0; n.kind == TSL__K_AND && i < n.b; i++) {
    tsl__node part = tsl__node_at(x, tsl__list_at(x, n.a)[i]);
    if (part.kind == TSL__K_NOT)
      least = n.flags & TSL__TEXTUAL ? characters_past(x, &part) : 0;
    else
      tsl__expr_characters(x, tsl__list_at(x, n.a)[i], &least, &other);
    if (least > most) most = least;
  }
  return most;
}

/* What is noted of e, which is looked up more than once; NULL: there is no room. */
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

/* A*: the estimate of the whole first; among equals the one that has come further, which is nearer
 * to the end. */
static uint64_t by_estimate(uint32_t left, uint32_t cost) {
  uint64_t whole = (uint64_t)left + cost;
  return (whole > UINT32_MAX ? UINT32_MAX : whole) << 32 | (UINT32_MAX - cost);
}

/* How far from a text, to order the search by: the conjuncts that are left, then the bytes that
 * each of them needs. A conjunct that is fulfilled is gone, so that the search takes them on one
 * after the other. By the bytes alone it would hold on to what it has of each and never finish
 * one. */
#define CONJUNCT ((uint64_t)1 << 40)
#define HOPE_DEPTH_MAX 4u
#define HOPE_PARTS_MAX 64u

static uint64_t hope(const tsl__exprs *x, const tsl__node *n, unsigned depth) {
  uint64_t sum = 0, least = UINT64_MAX, past;
  if (n->kind == TSL__K_NATIVE) return tsl__native_shortest(x, n);
  if (n->kind == TSL__K_NOT && (past = characters_past(x, n))) return past;
  if (depth == HOPE_DEPTH_MAX || n->b > HOPE_PARTS_MAX ||
      (n->kind != TSL__K_AND && n->kind != TSL__K_ALT))
    return n->shortest;
  for (uint32_t i = 0; i < n->b; i++) {
    tsl__node part = tsl__node_at(x, tsl__list_at(x, n->a)[i]);
    uint64_t h = hope(x, &part, depth + 1);
    sum += h + CONJUNCT;
    if (h < least) least = h;
  }
  return n->kind == TSL__K_AND ? sum : least;
}

static uint32_t bound(const tsl__exprs *x, const tsl__node *n);

/* In a JSON string: no byte is spelled by less than one; what an escape has begun may stand for a
 * whole character. */
static uint32_t bound_of_string(const tsl__exprs *x, const tsl__node *n) {
  tsl__node inner = tsl__node_at(x, n->a);
  uint32_t left = bound(x, &inner);
  uint32_t quote = !(n->d & TSL__JSON_OPEN);
  if (n->kind == TSL__K_JSTR || n->kind == TSL__K_JOPEN)
    left = tsl__add(left, quote);
  else /* and a byte of the escape, and the quote */
    left = left > CHARACTER_BYTES ? left - CHARACTER_BYTES + 1 + quote : 0;
  return left > n->shortest ? left : n->shortest;
}

/* At least so many bytes are left. */
static uint32_t bound(const tsl__exprs *x, const tsl__node *n) {
  if (n->kind == TSL__K_JSTR || n->kind == TSL__K_JESC || n->kind == TSL__K_JHEX ||
      n->kind == TSL__K_JOPEN)
    return bound_of_string(x, n);
  uint32_t most = n->kind == TSL__K_NATIVE ? tsl__native_shortest(x, n) : n->shortest;
  for (uint32_t i = 0; n->kind == TSL__K_AND && i < n->b && i < HOPE_PARTS_MAX; i++) {
    tsl__node part = tsl__node_at(x, tsl__list_at(x, n->a)[i]);
    uint32_t left = part.kind == TSL__K_NATIVE ? tsl__native_shortest(x, &part) : 0;
    if (left > most) most = left;
  }
  return most;
}

/* Bytes by which a search goes on differently than by the one before. */
static void edges_of(tsl__exprs *x, tsl__expr e, tsl__order by, tsl__bytes *edges) {
  tsl__boundaries(x, e, edges);
  for (const char *c = "\b\t\n\f\r \"\\"; by == TSL__BY_SPELLING && *c;
       c++) { /* bytes of different cost are different */
    tsl__bytes_add(edges, (uint8_t)*c);
    tsl__bytes_add(edges, (uint8_t)*c + 1u);
  }
}

static uint32_t cost_of(tsl__order by, uint8_t byte) {
  return by == TSL__BY_SPELLING                           ? tsl__spelling_cost(byte)
         : by == TSL__BY_TEXT || by == TSL__BY_CHARACTERS ? (byte & 0xC0) != 0x80
                                                          : 1;
}

/* Is it known that this leads to a text? */
static bool ends(const tsl__exprs *x, tsl__expr e, const tsl__node *n, tsl__order by) {
  if (by == TSL__BY_HOPE) return n->flags & (TSL__SEARCHED | TSL__NULLABLE_LOW);
  return by == TSL__BY_TEXT && known_characters(x, e, false) != TSL__INF;
}

static bool by_hope(tsl__order by) { return by == TSL__BY_HOPE || by == TSL__BY_TEXT; }

static uint64_t key_of(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint32_t cost,
                       tsl__order by) {
  if (by_hope(by)) return hope(x, n, 0) + 1;
  return by_estimate(by == TSL__BY_CHARACTERS ? least_characters(x, e) : bound(x, n), cost);
}

#define NOT_ASCII 0x80u
#define ALIKE_MIN 4u /* parts of a meet from which it is worth knowing which bytes are alike */

/* All derivatives of visit `index`, those by ASCII in order of hope. Where one of these is nearer
 * to a text, the others wait until the visit's turn comes again: classes of characters have
 * many. */
bool tsl__search_expand(tsl__exprs *x, tsl__graph *g, uint32_t index, tsl__order by) {
  tsl__visit from = g->visits.at[index];
  tsl__node own = tsl__node_at(x, from.e);
  uint64_t from_key = by_hope(by) ? key_of(x, from.e, &own, from.cost, by) : 0;
  bool nearer = false, last = false, partial = false;
  tsl__bytes edges;
  tsl__alike parts;
  for (unsigned b = from.next; b < 256 && !last; b++) {
    if (b == NOT_ASCII && nearer) {
      g->visits.at[index].next = b;
      if (tsl__graph_push(&x->alloc, g, from_key, index)) break;
      tsl__expr_no_memory(x);
      return false;
    }
    /* the first byte is often enough */
    if (b && (b == 1 || b == from.next)) {
      edges_of(x, from.e, by, &edges);
      partial = b < NOT_ASCII && by != TSL__BY_SPELLING && own.kind == TSL__K_AND &&
                own.b >= ALIKE_MIN && tsl__alike_of(x, from.e, &edges, &parts);
    }
    if (b && b != from.next && !tsl__bytes_has(&edges, b)) continue;
    if (partial && b && b < NOT_ASCII && tsl__alike_first(&parts, parts.range[b]) < parts.range[b])
      continue; /* a byte before leads there */
    tsl__expr d = tsl__derive_plain(x, from.e, (uint8_t)b);
    if (!d) continue;
    tsl__node n = tsl__node_at(x, d);
    if (n.traits & TSL__EMPTY) continue;
    tsl__visit v = {d, index, from.cost + cost_of(by, (uint8_t)b), 0};
    last = ends(x, d, &n, by); /* it comes first, and ends the search */
    uint64_t key = last ? 0 : key_of(x, d, &n, v.cost, by);
    nearer |= key < from_key;
    if (!tsl__graph_add(&x->alloc, g, v, key)) {
      tsl__expr_no_memory(x);
      return false;
    }
  }
  return tsl__exprs_step(x);
}

/* Is it a meet that is plainly not empty? One text has the length that is needed, or there are more
 * texts than are left out. */
static bool plainly_some(tsl__exprs *x, tsl__expr e, const tsl__node *n) {
  uint32_t left = TSL__AT_LEAST_NODES;
  if (n->kind != TSL__K_AND || e < x->base ||
      (!tsl__has_length(x, n) && !tsl__at_least_both(x, n, &left)))
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
  bool within; /* are some in the middle of a character? */
} bounds;

/* A loop over one class, behind the bytes that end a character. */
typedef struct class_loop {
  tsl__expr bytes[CHARACTER_BYTES], class;
  uint32_t n, least, most;
} class_loop;

static bool class_loop_of(const tsl__exprs *x, tsl__expr e, class_loop *out) {
  tsl__node n = tsl__node_at(x, e);
  out->n = 0;
  while (n.kind == TSL__K_SEQ && out->n < CHARACTER_BYTES && ends_character(x, n.a)) {
    out->bytes[out->n++] = n.a;
    n = tsl__node_at(x, n.b);
  }
  if (n.kind != TSL__K_REPEAT || !(tsl__node_at(x, n.a).flags & TSL__CHAR)) return false;
  out->class = n.a;
  out->least = n.b;
  out->most = n.c;
  return true;
}

/* The same with other bounds. */
static tsl__expr class_loop_with(tsl__exprs *x, const class_loop *loop, uint32_t least) {
  tsl__expr e = tsl__expr_repeat(x, loop->class, least, TSL__INF);
  for (uint32_t i = loop->n; i-- > 0;) e = tsl__expr_seq(x, loop->bytes[i], e);
  return e;
}

/* False: it is none, or of too many parts. */
static bool bounds_of(tsl__exprs *x, const tsl__node *n, bounds *out) {
  *out = (bounds){.n = n->b, .most = TSL__INF};
  if (n->kind != TSL__K_AND || n->b > BOUNDED_PARTS) return false;
  for (uint32_t i = 0; i < n->b; i++) {
    out->free[i] = out->rest[i] = tsl__list_at(x, n->a)[i];
    class_loop loop;
    if (!class_loop_of(x, out->rest[i], &loop)) continue;
    if (loop.most != TSL__INF) out->rest[i] = class_loop_with(x, &loop, loop.least);
    out->free[i] = class_loop_with(x, &loop, 0);
    if (loop.least > out->least) out->least = loop.least;
    if (loop.most < out->most) out->most = loop.most;
    out->within |= loop.n != 0;
  }
  return out->least <= out->most;
}

tsl__expr tsl__without_bounds(tsl__exprs *x, tsl__expr e, uint32_t *most) {
  bounds b;
  tsl__node n = tsl__node_at(x, e);
  if (n.loop || !bounds_of(x, &n, &b) || b.within ||
      (b.least ? !all_go_on(x, b.free, b.n) : b.most == TSL__INF))
    return TSL__NONE;
  *most = b.most;
  return tsl__and_n(x, b.free, b.n);
}

/* A meet without the most characters that some of its parts let a text have, and without the least.
 * A shorter text could go on until it has that least. NONE: it has no text, or (*most: TSL__INF) no
 * such parts. */
static tsl__expr without_most(tsl__exprs *x, const tsl__node *n, uint32_t *most) {
  bounds b;
  bool bounded = bounds_of(x, n, &b);
  *most = b.most;
  if (!bounded || b.most == TSL__INF) return TSL__NONE;
  return tsl__and_n(x, b.least && all_go_on(x, b.free, b.n) ? b.free : b.rest, b.n);
}

static void search_on(tsl__exprs *x, tsl__graph *g, uint32_t index, tsl__order by) {
  /* or none */
  if (g->visits.n > LONG_SEARCH && !x->search_steps)
    x->search_steps = tsl__alloc_zero(&x->alloc, TSL__SEARCH_STEPS * sizeof *x->search_steps);
  tsl__search_expand(x, g, index, by);
}

/* What the way to a text of so many characters says of all that lie on it. */
static void note_path(tsl__exprs *x, const tsl__graph *g, uint32_t index, uint32_t characters,
                      bool fewest) {
  mark_path(x, g, index);
  for (;; index = g->visits.at[index].from) {
    const tsl__visit *v = &g->visits.at[index];
    note_characters(x, v->e, fewest ? characters - v->cost : 0, characters - v->cost);
    if (v->from == index) return;
  }
}

/* Characters of a text of e, or (BY_CHARACTERS) of one with the fewest. More than `most`: none that
 * short was found. Without BY_CHARACTERS a way past `most` is left, so there may be such a text all
 * the same. Only if no way was left, e is marked as empty. */
static uint32_t find_characters(tsl__exprs *x, tsl__expr e, tsl__order by, uint32_t most) {
  tsl__graph g = {0};
  uint32_t found = TSL__INF, ways_left = 0;
  bool too_long = false, fewest = by == TSL__BY_CHARACTERS;
  if (!tsl__graph_add(&x->alloc, &g, (tsl__visit){e, 0, 0, 0}, 0)) tsl__expr_no_memory(x);
  while (x->status == TSL_OK && g.queue.n && found == TSL__INF && !too_long) {
    uint32_t index = tsl__graph_pop(&g), cost = g.visits.at[index].cost,
             left = known_characters(x, g.visits.at[index].e, fewest);
    if (left != TSL__INF)
      note_path(x, &g, index, found = tsl__add(left, cost), fewest);
    else if (tsl__add(cost, least_characters(x, g.visits.at[index].e)) <= most)
      search_on(x, &g, index, by);
    else
      too_long = fewest || ++ways_left > WAYS_LEFT_MAX;
  }
  if (too_long && fewest) found = most + 1;
  for (size_t i = 0; fewest && found != TSL__INF && i < g.visits.n && x->status == TSL_OK; i++)
    note_characters(x, g.visits.at[i].e,
                    found > g.visits.at[i].cost ? found - g.visits.at[i].cost : 0, TSL__INF);
  if (found == TSL__INF && !ways_left && x->status == TSL_OK) mark_empty(x, &g);
  tsl__graph_free(&x->alloc, &g);
  return found;
}

/* Has e a text of at most so many characters? */
static bool some_within(tsl__exprs *x, tsl__expr e, uint32_t most) {
  if (e == TSL__NONE || tsl__node_at(x, e).traits & TSL__EMPTY) return false;
  uint32_t some = known_characters(x, e, false);
  if (some <= most) return true;
  if (least_characters(x, e) > most) return false;
  if (some == TSL__INF && find_characters(x, e, TSL__BY_TEXT, most) <= most) return true;
  return !(tsl__node_at(x, e).traits & TSL__EMPTY) &&
         find_characters(x, e, TSL__BY_CHARACTERS, most) <= most;
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
    x->nodes.at[e - x->base].traits |= TSL__EMPTY;
  return some;
}

/* Searched without more ado; the graph is marked. */
static bool search_some(tsl__exprs *x, tsl__expr e) {
  tsl__graph g = {0};
  bool found = false;
  if (!tsl__graph_add(&x->alloc, &g, (tsl__visit){e, 0, 0, 0}, 0)) tsl__expr_no_memory(x);
  while (x->status == TSL_OK && g.queue.n && !found) {
    uint32_t index = tsl__graph_pop(&g);
    tsl__node v = tsl__node_at(x, g.visits.at[index].e);
    int some = v.flags & (TSL__SEARCHED | TSL__NULLABLE_LOW)
                   ? 1
                   : bounded_some(x, g.visits.at[index].e, &v);
    if ((found = some > 0))
      mark_path(x, &g, index);
    else if (some < 0)
      search_on(x, &g, index, TSL__BY_HOPE);
  }
  if (!found && x->status == TSL_OK) mark_empty(x, &g);
  tsl__graph_free(&x->alloc, &g);
  return found;
}

bool tsl__search_empty(tsl__exprs *x, tsl__expr e) {
  if (e == TSL__NONE) return true;
  tsl__node n = tsl__node_at(x, e);
  if (n.traits & TSL__EMPTY) return true;
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
