/* meaning.c - what an expression stands for, as a digest.
 *
 * Problem   Walks of one grammar could serve others (runtime/walk/shared_walks.h). But numbers of
 *           expressions, rules and sets mean nothing outside their grammar.
 * Idea      A digest over what is in an expression: its kind, its bytes, the digests of its parts.
 *           What the vocabulary's layer has is named by its number there, which is the same for
 *           all. A rule says itself what it stands for, if it can. A rule that only puts a frame
 *           around an expression has the meaning of that expression.
 * Order     Parts of alternations and meets are in the order of their numbers, which differ from
 *           grammar to grammar: their digests are added up.
 * Loops     The bounds of an active loop are not part of the digest: what is left of them is in the
 *           context of a walk. In other loops, a bound that no token reaches is not part of it
 *           either. A string of at most 255 characters has the meaning of one of at most 300. But
 *           in a meet or a complement a far bound may decide whether there is any text, so there
 *           all bounds count.
 * Cost      One XXH3 of some 50 bytes a node, 2,000 nodes at most. Nodes met lately are remembered;
 *           those within a meet apart from others.
 * Tested by tests/walk/test_shared_walks.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/meaning.h"

#include "compiler/expr/kind.h"
#include "runtime/kernels/digest.h"

#define NODES_MAX 2000u
#define DEPTH_MAX 200u

static bool within(tsl__meaning *m, tsl__expr e, tsl__digest *out);

static bool digest(tsl__meaning *m, const void *data, size_t size, tsl__digest *out) {
  *out = tsl__digest_of(m->secret, data, size);
  return true;
}

bool tsl__meaning_data(tsl__meaning *m, uint32_t kind, const void *data, size_t size,
                       tsl__digest *out) {
  struct {
    uint64_t kind;
    tsl__digest data;
  } of = {TSL__KIND_COUNT + 1 + (uint64_t)kind, tsl__digest_of(m->secret, data, size)};
  return digest(m, &of, sizeof of, out);
}

bool tsl__meaning_spend(tsl__meaning *m, uint64_t nodes) {
  bool enough = m->room >= nodes;
  m->room = enough ? m->room - (uint32_t)nodes : 0;
  return enough;
}

bool tsl__meaning_node(tsl__meaning *m, const tsl__node *n, uint32_t b, uint32_t c, uint32_t d,
                       tsl__expr left, tsl__expr right, tsl__digest *out) {
  struct {
    uint32_t kind, b, c, d;
    tsl__digest left, right;
  } of = {.kind = n->kind, .b = b, .c = c, .d = d};
  /* first: what a grammar alone has is mostly at the end, the members of an object */
  if (right != TSL__NONE && !within(m, right, &of.right)) return false;
  if (left != TSL__NONE && !within(m, left, &of.left)) return false;
  return digest(m, &of, sizeof of, out);
}

bool tsl__meaning_list(tsl__meaning *m, const tsl__node *n, tsl__digest *out) {
  struct {
    uint32_t kind, count;
    tsl__digest sum;
  } of = {.kind = n->kind, .count = n->b};
  if (!tsl__meaning_spend(m, n->b)) return false;
  for (uint32_t i = n->b; i-- > 0;) { /* the last first: what a grammar has for itself is newer */
    tsl__digest part;
    if (!within(m, tsl__list_at(m->x, n->a)[i], &part)) return false;
    of.sum.lo += part.lo;
    of.sum.hi += part.hi;
  }
  return digest(m, &of, sizeof of, out);
}

bool tsl__meaning_bytes(tsl__meaning *m, const tsl__node *n, const void *data, size_t size,
                        tsl__digest *out) {
  struct {
    uint64_t kind, size;
    tsl__digest data;
  } of = {n->kind, size, {0, 0}};
  return tsl__meaning_spend(m, size / 64) && digest(m, data, size, &of.data) &&
         digest(m, &of, sizeof of, out);
}

/* The place where the last answer for an expression of this slot is; NULL when out of memory. */
static tsl__known_meaning *slot_of(const tsl__meaning *m, tsl__expr e) {
  tsl__exprs *x = m->x;
  if (!x->meanings)
    x->meanings = tsl__alloc_zero(&x->alloc, TSL__KNOWN_MEANINGS * sizeof *x->meanings);
  return x->meanings ? &x->meanings[e % TSL__KNOWN_MEANINGS] : NULL;
}

static bool within(tsl__meaning *m, tsl__expr e, tsl__digest *out) {
  if (e < m->x->base) {
    uint32_t of[4] = {TSL__KIND_COUNT, e, 0, 0};
    return digest(m, of, sizeof of, out);
  }
  tsl__known_meaning *known = slot_of(m, e);
  if (known && known->e == e && known->bounded == (m->bounded != 0)) {
    *out = known->digest;
    return known->digest.lo || known->digest.hi;
  }
  if (m->depth == DEPTH_MAX || !tsl__meaning_spend(m, 1)) return false;
  m->depth++;
  tsl__node n = tsl__node_at(m->x, e);
  const tsl__kind_ops *kind = tsl__kinds[n.kind];
  bool fine = kind->meaning && kind->meaning(m, e, &n, out);
  m->depth--;
  if (known) *known = (tsl__known_meaning){e, m->bounded != 0, fine ? *out : (tsl__digest){0, 0}};
  return fine;
}

/* Does it, or the newest of its alternatives, end in what a grammar has for itself? So do most that
 * stand for nothing: the members of an object, or a value, come last. */
static bool is_private(const tsl__exprs *x, tsl__expr e) {
  for (;;) {
    if (e < x->base) return false;
    const tsl__node *n = &x->nodes.at[e - x->base];
    if (n->kind == TSL__K_RESUME) return true;
    if (n->kind == TSL__K_RULE) return !tsl__rule_at(x, n->a)->ops->meaning;
    if (n->kind != TSL__K_SEQ && n->kind != TSL__K_ALT) return false;
    e = n->kind == TSL__K_SEQ ? n->b : tsl__list_at(x, n->a)[n->b - 1];
  }
}

bool tsl__meaning_within(tsl__meaning *m, tsl__expr e, tsl__digest *out) {
  return !is_private(m->x, e) && within(m, e, out);
}

bool tsl__meaning_of(tsl__exprs *x, const uint8_t *secret, uint32_t height, tsl__expr e,
                     tsl__digest *out) {
  tsl__meaning m = {.x = x, .secret = secret, .height = height, .room = NODES_MAX};
  return tsl__meaning_within(&m, e, out);
}
