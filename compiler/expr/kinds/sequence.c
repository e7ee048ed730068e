/* sequence.c - SEQ: one expression, then another.
 *
 * The derivative of a·b is D(a)·b, and D(b) as well where a matches the empty text. A sequence is a
 * chain of SEQs with the long part behind, so loops follow `b`, and recursion only looks at `a`.
 *
 * Example   D_x((x|ε)·x): D_x of the first part is ε, so ε·x = x is one way. The first part may be
 *           empty, so D_x(x) = ε is another. The derivative is x|ε.
 * Chains    Parts that may all be missing, by the hundred: see from_milestone below.
 * Shortest  The sum of both parts. Characters: the sum of their bounds, none if one has none.
 * Tested by tests/expr/test_expr.c, tests/expr/test_chain.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"
#include "compiler/expr/meaning.h"

#define MILESTONE 8u /* one of so many tails of a chain is a milestone */
#define WAYS 8u
#define LONG 8u /* parts that may be missing, after which a sequence is such a chain */

static bool is_milestone(tsl__expr e) { return tsl__mix(e) % MILESTONE == 0; }

/* Of a head that may be missing, which most bytes do not begin: ε | "word". */
static bool skips(const tsl__exprs *x, const tsl__node *head, uint8_t byte) {
  if (head->kind != TSL__K_ALT || head->b != 2) return false;
  const tsl__expr *either = tsl__list_at(x, head->a);
  tsl__expr other = either[0] == TSL__EPS ? either[1] : either[0];
  return either[0] == TSL__EPS && tsl__begins_otherwise(x, other, byte);
}

/* Ways that are not in one alternative yet: the more at once, the less is merged again. */
typedef struct ways {
  unsigned n;
  tsl__expr at[WAYS];
} ways;

static void add_way(tsl__exprs *x, ways *w, tsl__expr e) {
  if (w->n == WAYS) w->at[0] = tsl__expr_alt_n(x, w->at, WAYS), w->n = 1;
  if (e) w->at[w->n++] = e;
}

/* What the parts from *node on lead to, after `missing` parts were left out. It ends at a part
 * that must not be missing, or at the end of the sequence. With `next` it also ends at a
 * milestone, which is then *next. That is so once LONG parts were left out. */
static void ways_from(tsl__exprs *x, const tsl__node *node, uint8_t byte, bool last,
                      unsigned missing, tsl__expr *next, ways *out) {
  tsl__node n = *node;
  for (;; missing++) {
    tsl__node h = tsl__node_at(x, n.a);
    tsl__expr d = skips(x, &h, byte) ? TSL__NONE : tsl__derive_in(x, n.a, byte, false);
    if (d) add_way(x, out, tsl__expr_seq(x, d, n.b));
    if (!(h.flags & TSL__NULLABLE_LOW) || tsl__node_is_call(x, &h)) return;
    tsl__node t = tsl__node_at(x, n.b);
    if (t.kind != TSL__K_SEQ) {
      add_way(x, out, tsl__derive_in(x, n.b, byte, last));
      return;
    }
    if (next && missing >= LONG && is_milestone(n.b)) {
      *next = n.b;
      return;
    }
    n = t;
  }
}

/* The next milestone behind this one. NONE: a part must come before, or has a frame of its own, or
 * the sequence ends. */
static tsl__expr milestone_after(const tsl__exprs *x, tsl__expr e) {
  for (tsl__node n = tsl__node_at(x, e);;) {
    tsl__node h = tsl__node_at(x, n.a);
    e = n.b;
    n = tsl__node_at(x, e);
    if (!(h.flags & TSL__NULLABLE_LOW) || tsl__node_is_call(x, &h) || n.kind != TSL__K_SEQ)
      return TSL__NONE;
    if (is_milestone(e)) return e;
  }
}

typedef TSL__VEC(tsl__expr) milestones;

/* The milestones from e on, before one of which the answer is noted; that one, or NONE. They are
 * found from the first to the last, and their answers are made backwards: no call nests. */
static tsl__expr milestones_from(tsl__exprs *x, tsl__expr e,
                                 bool (*noted)(const tsl__exprs *, tsl__expr, unsigned),
                                 unsigned what, milestones *out) {
  for (; e && x->status == TSL_OK && !noted(x, e, what); e = milestone_after(x, e))
    if (tsl__exprs_work(x, MILESTONE) && !tsl__vec_push(&x->alloc, out, e)) tsl__expr_no_memory(x);
  return e;
}

static bool leads_noted(const tsl__exprs *x, tsl__expr e, unsigned byte) {
  return tsl__chain_known(x, e, (uint8_t)byte, &(tsl__expr){TSL__NONE});
}

/* What a milestone leads to. In a chain of hundreds of parts that may all be missing each tail is a
 * state. Each would derive all that follows, by each byte. So milestones remember where they
 * lead. */
static tsl__expr from_milestone(tsl__exprs *x, tsl__expr e, uint8_t byte) {
  milestones way = {0};
  tsl__expr rest = TSL__NONE, next = milestones_from(x, e, leads_noted, byte, &way);
  if (next) tsl__chain_known(x, next, byte, &rest);
  for (size_t i = way.n; i-- > 0 && x->status == TSL_OK;) {
    tsl__node n = tsl__node_at(x, way.at[i]);
    ways all = {.n = 0};
    ways_from(x, &n, byte, false, LONG, &next, &all);
    add_way(x, &all, rest);
    rest = all.n ? tsl__expr_alt_n(x, all.at, all.n) : TSL__NONE;
    tsl__chain_remember(x, way.at[i], byte, rest);
  }
  tsl__vec_free(&x->alloc, &way);
  return rest;
}

static tsl__expr compute(tsl__exprs *x, const tsl__node *n, uint8_t byte, bool last) {
  bool plain = !(n->flags & TSL__CALLS) && !n->loop && !x->searching;
  tsl__expr next = TSL__NONE;
  ways all = {.n = 0};
  ways_from(x, n, byte, last, 0, plain ? &next : NULL, &all);
  if (next) add_way(x, &all, from_milestone(x, next, byte));
  return all.n ? tsl__expr_alt_n(x, all.at, all.n) : TSL__NONE;
}

static tsl__expr derive(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint8_t byte, bool last) {
  uint8_t head = tsl__node_at(x, n->a).kind;
  if (head == TSL__K_BYTES || head == TSL__K_LIT) return compute(x, n, byte, last);
  return tsl__derive_remembered(x, e, n, byte, last, compute);
}

/* Does the sequence read what its second part reads? */
static bool reads_second(const tsl__exprs *x, const tsl__node *n) {
  tsl__node h = tsl__node_at(x, n->a);
  return h.flags & (TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH) && !tsl__node_is_call(x, &h);
}

/* Does e begin with fixed bytes in each alternative? */
static bool begins_fixed(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  for (uint32_t i = 0; n.kind == TSL__K_ALT && i < n.b; i++) {
    tsl__node m = tsl__node_at(x, tsl__list_at(x, n.a)[i]);
    if (m.kind == TSL__K_SEQ) m = tsl__node_at(x, m.a);
    if (m.kind != TSL__K_LIT && m.kind != TSL__K_EPS) return false;
  }
  return n.kind == TSL__K_ALT || n.kind == TSL__K_LIT;
}

/* May LONG parts from here on be missing? */
static bool is_long(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  for (unsigned i = 0; i < LONG && n.kind == TSL__K_SEQ && reads_second(x, &n); i++)
    n = tsl__node_at(x, n.b);
  return n.kind == TSL__K_SEQ && reads_second(x, &n);
}

/* What the parts from a milestone to the next one read, and then what `next` says. */
static void read_parts(tsl__exprs *x, tsl__known_reads *own, const tsl__known_reads *next) {
  tsl__reads r = {.guessed = next && next->guessed};
  if (next) r.edges = next->edges, r.live = next->live;
  own->fixed = !next || next->fixed;
  for (tsl__expr e = own->e; !next || e != next->e;) {
    tsl__node n = tsl__node_at(x, e);
    bool second = n.kind == TSL__K_SEQ && reads_second(x, &n);
    tsl__expr part = n.kind == TSL__K_SEQ ? n.a : e;
    tsl__reads_add(x, part, n.kind != TSL__K_SEQ && own->last, &r);
    own->fixed &= begins_fixed(x, part);
    if (!second) break;
    e = n.b;
  }
  own->guessed = r.guessed, own->edges = r.edges, own->live = r.live;
}

static bool reads_noted(const tsl__exprs *x, tsl__expr e, unsigned last) {
  return tsl__chain_reads(x, e, last);
}

/* What a long chain reads from a milestone on; NULL: e is no such place. */
static const tsl__known_reads *chain_reads(tsl__exprs *x, tsl__expr e, bool last) {
  if (!is_milestone(e)) return NULL;
  const tsl__known_reads *known = tsl__chain_reads(x, e, last);
  if (known || !is_long(x, e)) return known;
  milestones way = {0};
  tsl__expr at = milestones_from(x, e, reads_noted, last, &way);
  tsl__known_reads next = {.e = at};
  if (at && (known = tsl__chain_reads(x, at, last))) next = *known;
  for (size_t i = way.n; i-- > 0 && x->status == TSL_OK;) {
    tsl__known_reads own = {.e = way.at[i], .last = last};
    read_parts(x, &own, next.e ? &next : NULL);
    if (x->status == TSL_OK) known = tsl__chain_reads_note(x, &own);
    next = own;
  }
  tsl__vec_free(&x->alloc, &way);
  return x->status == TSL_OK ? known : NULL;
}

static tsl__expr reads(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last,
                       tsl__reads *out) {
  bool both = reads_second(x, n);
  (void)e;
  tsl__reads_add(x, n->a, false, out);
  const tsl__known_reads *chain = both ? chain_reads(x, n->b, *last) : NULL;
  if (!chain) return both ? n->b : TSL__NONE;
  tsl__bytes_or(&out->edges, &chain->edges);
  tsl__bytes_or(&out->live, &chain->live);
  out->guessed |= chain->guessed;
  return TSL__NONE;
}

static bool alike(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool *last, tsl__alike *out,
                  tsl__expr *next) {
  (void)e;
  bool both = reads_second(x, n);
  if (!tsl__alike_in(x, n->a, false, out)) return false;
  const tsl__known_reads *chain = both ? chain_reads(x, n->b, *last) : NULL;
  const bool fixed = chain && chain->fixed;
  *next = both && !fixed ? n->b : TSL__NONE;
  for (unsigned w = 0; fixed && w < 4; w++)
    for (uint64_t bits = chain->live.w[w]; bits; bits &= bits - 1)
      tsl__alike_split_byte(out, w * 64 + (unsigned)__builtin_ctzll(bits));
  return true;
}

static uint32_t shortest(tsl__exprs *x, tsl__expr e, const tsl__node *n, bool spelled,
                         unsigned depth) {
  (void)n;
  return tsl__shortest_in(x, e, spelled, depth + 1);
}

static void print(const tsl__exprs *x, const tsl__node *node, tsl__printer *w, unsigned depth) {
  tsl__node n = *node;
  tsl__expr e = TSL__NONE;
  while (n.kind == TSL__K_SEQ && w->length <= w->size) {
    tsl__print_expr(x, n.a, w, depth + 1);
    e = n.b;
    n = tsl__node_at(x, e);
  }
  tsl__print_expr(x, e, w, depth + 1);
}

static tsl__expr alphabet(tsl__alphabet *a, const tsl__node *n, unsigned depth, tsl__bytes *out) {
  tsl__alphabet_add(a, n->a, depth + 1, out);
  return n->b;
}

static tsl__length characters(const tsl__exprs *x, const tsl__node *node, unsigned depth) {
  tsl__length sum = {0, 0};
  tsl__node n = *node;
  for (tsl__expr e = TSL__NONE;; e = n.b, n = tsl__node_at(x, e)) {
    tsl__length one = tsl__characters_in(x, n.kind == TSL__K_SEQ ? n.a : e, depth + 1);
    sum = (tsl__length){tsl__add(sum.least, one.least), tsl__add(sum.most, one.most)};
    if (n.kind != TSL__K_SEQ) return sum;
  }
}

static bool meaning(tsl__meaning *m, tsl__expr e, const tsl__node *n, tsl__digest *out) {
  (void)e;
  return tsl__meaning_node(m, n, 0, 0, 0, n->a, n->b, out);
}

const tsl__kind_ops tsl__kind_sequence = {.derive = derive,
                                          .reads = reads,
                                          .alike = alike,
                                          .shortest = shortest,
                                          .print = print,
                                          .alphabet = alphabet,
                                          .characters = characters,
                                          .meaning = meaning};
