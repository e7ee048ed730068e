/* meaning.c - what an expression stands for, as a digest.
 *
 * Problem   Walks of one grammar would serve others (runtime/walk/shared_walks.h), but numbers of
 *           expressions, rules and sets mean nothing outside their grammar.
 * Idea      A digest over what is in an expression: its kind, its bytes, the digests of its parts.
 *           What the vocabulary's layer has is named by its number there, which is the same for
 *           all. A rule says itself what it stands for, if it can: a frame around an expression
 *           means what that means.
 * Order     Parts of alternations and meets are in the order of their numbers, which differ from
 *           grammar to grammar: their digests are added up.
 * Loops     The bounds of a loop that is active are not part of it: what is left of them is in the
 *           context of a walk. Of other loops those are not that no token reaches: a string of at
 *           most 255 characters is to them one of at most 300. But in a meet or a complement a far
 *           bound may decide whether there is any text at all.
 * Cost      One XXH3 of some 50 bytes a node, nodes met lately remembered, those within a meet
 *           apart; 2,000 nodes at most.
 * Tested by tests/walk/test_shared_walks.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/states/meaning.h"

#include "compiler/expr/node.h"
#include "compiler/states/outline.h"
#include "runtime/kernels/digest.h"

#define NODES_MAX 2000u
#define DEPTH_MAX 200u
#define WORDS_MAX 256u /* of an automaton */

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

static bool spend(tsl__meaning *m, uint64_t nodes) {
  bool enough = m->room >= nodes;
  m->room = enough ? m->room - (uint32_t)nodes : 0;
  return enough;
}

/* A node made of numbers and at most two parts. */
static bool node(tsl__meaning *m, const tsl__node *n, uint32_t b, uint32_t c, uint32_t d,
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

static bool list(tsl__meaning *m, const tsl__node *n, tsl__digest *out) {
  struct {
    uint32_t kind, count;
    tsl__digest sum;
  } of = {.kind = n->kind, .count = n->b};
  if (!spend(m, n->b)) return false;
  for (uint32_t i = n->b; i-- > 0;) { /* the last first: what a grammar has for itself is newer */
    tsl__digest part;
    if (!within(m, tsl__list_at(m->x, n->a)[i], &part)) return false;
    of.sum.lo += part.lo;
    of.sum.hi += part.hi;
  }
  return digest(m, &of, sizeof of, out);
}

static bool bytes(tsl__meaning *m, const tsl__node *n, const void *data, size_t size,
                  tsl__digest *out) {
  struct {
    uint64_t kind, size;
    tsl__digest data;
  } of = {n->kind, size, {0, 0}};
  return spend(m, size / 64) && digest(m, data, size, &of.data) && digest(m, &of, sizeof of, out);
}

/* What is left of each of the strings. */
static bool strings(tsl__meaning *m, const tsl__node *n, tsl__digest *out) {
  struct {
    uint32_t kind, count;
    tsl__digest sum;
  } of = {.kind = n->kind, .count = n->c - n->b};
  const tsl__strings *s = tsl__strings_at(m->x, n->a);
  for (uint32_t i = n->b; i < n->c; i++) {
    uint32_t length = s->at[i].length - n->d;
    tsl__digest one;
    if (!spend(m, 1 + length / 64) || !digest(m, s->at[i].at + n->d, length, &one)) return false;
    of.sum.lo += one.lo;
    of.sum.hi += one.hi;
  }
  return digest(m, &of, sizeof of, out);
}

/* An iteration takes a byte at least. */
static bool repeat(tsl__meaning *m, const tsl__node *n, tsl__digest *out) {
  bool far = !m->bounded;
  uint32_t least = far && n->b > m->height ? m->height + 1 : n->b,
           most = far && n->c > m->height ? TSL__INF : n->c;
  return node(m, n, least, most, 0, n->a, TSL__NONE, out);
}

typedef struct words {
  uint32_t at[WORDS_MAX], n;
} words;

static bool put_word(void *to, uint32_t word) {
  words *w = to;
  if (w->n == WORDS_MAX) return false;
  w->at[w->n++] = word;
  return true;
}

static bool automaton(tsl__meaning *m, const tsl__node *n, tsl__expr e, tsl__digest *out) {
  const tsl__native *native = tsl__native_at(m->x, n->a);
  struct {
    uint32_t kind, param;
    uint64_t ops, context;
  } of = {n->kind, n->b, (uintptr_t)native->ops, native->ctx != NULL};
  if (native->ops->plain) return digest(m, &of, sizeof of, out);
  words w;
  w.n = 0;
  return spend(m, 16) && tsl__outline_write(m->x, e, &w, put_word) &&
         bytes(m, n, w.at, w.n * sizeof *w.at, out);
}

static bool rule(tsl__meaning *m, const tsl__node *n, tsl__digest *out) {
  const tsl__rule *r = tsl__rule_at(m->x, n->a);
  struct {
    uint32_t kind, flags;
    tsl__digest body;
  } of = {.kind = n->kind, .flags = r->flags & ~TSL__RULE_MEASURED};
  return r->ops->meaning && r->ops->meaning(m, r->ctx, r->param, &of.body) &&
         digest(m, &of, sizeof of, out);
}

static bool bounded(tsl__meaning *m, const tsl__node *n, tsl__digest *out) {
  m->bounded++;
  bool fine = n->kind == TSL__K_NOT ? node(m, n, 0, 0, 0, n->a, TSL__NONE, out) : list(m, n, out);
  m->bounded--;
  return fine;
}

static bool meaning(tsl__meaning *m, tsl__expr e, tsl__digest *out) {
  tsl__node n = tsl__node_at(m->x, e);
  switch ((tsl__kind)n.kind) {
  case TSL__K_NONE:
  case TSL__K_EPS: return node(m, &n, 0, 0, 0, TSL__NONE, TSL__NONE, out);
  case TSL__K_BYTES: return bytes(m, &n, tsl__set_at(m->x, n.a), sizeof(tsl__bytes), out);
  case TSL__K_LIT: return bytes(m, &n, tsl__literal_at(m->x, n.a), n.b, out);
  case TSL__K_SEQ: return node(m, &n, 0, 0, 0, n.a, n.b, out);
  case TSL__K_REPEAT: return repeat(m, &n, out);
  case TSL__K_COUNTED: return node(m, &n, 0, 0, 0, n.a, TSL__NONE, out);
  case TSL__K_JSTR:
  case TSL__K_JESC: return node(m, &n, 0, 0, 0, n.a, TSL__NONE, out);
  case TSL__K_JHEX: return node(m, &n, n.b, n.c, n.d, n.a, TSL__NONE, out);
  case TSL__K_ALT: return list(m, &n, out);
  case TSL__K_AND:
  case TSL__K_NOT: return bounded(m, &n, out);
  case TSL__K_STRSET: return strings(m, &n, out);
  case TSL__K_NATIVE: return automaton(m, &n, e, out);
  case TSL__K_RULE: return rule(m, &n, out);
  case TSL__K_TOKEN:
  case TSL__K_KEYS:
  case TSL__K_NAME:
  case TSL__K_RESUME:
  case TSL__KIND_COUNT: break;
  }
  return false;
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
  if (m->depth == DEPTH_MAX || !spend(m, 1)) return false;
  m->depth++;
  bool fine = meaning(m, e, out);
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
