/* deriv.c - see deriv.h.
 * Recursion follows the nesting of an expression, which the front ends bound (max_depth), never the
 * length of a text. SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"

#define ALTERNATIVES 32u /* parts of so many alternatives are joined at once */
#define MANY 40u         /* derivatives of what has parts from which on they are */
#define CALLS_MANY 400u  /* derivatives of what holds calls from which on they are remembered */

void tsl__parts_add(tsl__exprs *x, tsl__parts *parts, tsl__count count, tsl__expr e) {
  if (e == TSL__NONE) return;
  uint32_t loop = tsl__node_at(x, e).loop;
  if (!loop) count = TSL__COUNT_CLEAR;
  for (uint32_t i = 0; i < parts->n; i++) {
    if (parts->at[i].count != count || tsl__node_at(x, parts->at[i].e).loop != loop) continue;
    parts->at[i].e = tsl__expr_alt(x, parts->at[i].e, e);
    return;
  }
  if (parts->n == TSL__PARTS_MAX) {
    tsl__exprs_fail(x, TSL_ERR_LIMIT, "too many counted repetitions can begin at one place");
    return;
  }
  parts->at[parts->n++] = (tsl__part){count, e};
}

tsl__expr tsl__counted(tsl__exprs *x, const tsl__node *repeat) {
  tsl__node n = *repeat;
  n.kind = TSL__K_COUNTED;
  n.flags = (uint8_t)((n.flags & ~(TSL__NULLABLE_LOW | TSL__FINITE)) | TSL__NULLABLE_HIGH |
                      TSL__COUNTS | TSL__SEARCHED);
  if (n.b == 0) n.flags |= TSL__NULLABLE_LOW;
  n.shortest = 0;
  n.loop = 0;
  tsl__expr e = tsl__intern(x, n);
  if (e >= x->base && e > TSL__EPS) x->nodes.at[e - x->base].loop = e;
  return e;
}

tsl__expr tsl__one_fewer(tsl__exprs *x, const tsl__node *n) {
  return tsl__expr_repeat(x, n->a, n->b ? n->b - 1 : 0, n->c == TSL__INF ? TSL__INF : n->c - 1);
}

bool tsl__unfold(tsl__exprs *x) {
  if (x->depth < TSL__UNFOLD_MAX) return x->depth++, true;
  tsl__exprs_fail(x, TSL_ERR_LIMIT, "rules unfold without end before a byte is read");
  return false;
}

/* ---- plain derivatives ----------------------------------------------------------------------- */

void tsl__known_steps_make(tsl__exprs *x) {
  if (!x->known_steps &&
      !(x->known_steps = tsl__alloc_zero(&x->alloc, TSL__KNOWN_STEPS * sizeof *x->known_steps)))
    tsl__expr_no_memory(x);
}

/* Where a table of n groups of places keeps the derivative with this key; NULL: there is no
 * table. */
static tsl__known_step *step_slot(tsl__known_step *table, uint32_t n, uint32_t group,
                                  uint64_t key) {
  return table ? &table[tsl__mix(key) % n * group] : NULL;
}

static bool is_of(const tsl__known_step *known, uint64_t key) {
  return known && known->low == (uint32_t)key && known->high == key >> 32;
}

static void remember(const tsl__exprs *x, tsl__known_step *known, uint64_t key, tsl__expr d) {
  if (known && x->status == TSL_OK)
    *known = (tsl__known_step){(uint32_t)key, (uint32_t)(key >> 32), d};
}

/* A group of two places, the first for the later derivative. */
static tsl__known_step *pair_slot(const tsl__exprs *x, uint64_t key) {
  return step_slot(x->known_steps, TSL__KNOWN_STEPS / 2, 2, key);
}

bool tsl__step_known(const tsl__exprs *x, uint64_t key, tsl__expr *d) {
  const tsl__known_step *known = pair_slot(x, key);
  if (!known || (!is_of(known, key) && !is_of(++known, key))) return false;
  *d = known->d;
  return true;
}

void tsl__step_remember(const tsl__exprs *x, uint64_t key, tsl__expr d) {
  tsl__known_step *known = pair_slot(x, key);
  if (known && x->status == TSL_OK) known[1] = known[0];
  remember(x, known, key, d);
}

bool tsl__chain_known(const tsl__exprs *x, tsl__expr e, uint8_t byte, tsl__expr *d) {
  uint64_t key = (uint64_t)e << 8 | byte;
  const tsl__known_step *known = step_slot(x->chain_steps, TSL__CHAIN_STEPS, 1, key);
  if (!is_of(known, key)) return false;
  return *d = known->d, true;
}

void tsl__chain_remember(tsl__exprs *x, tsl__expr e, uint8_t byte, tsl__expr d) {
  uint64_t key = (uint64_t)e << 8 | byte;
  if (!x->chain_steps)
    x->chain_steps = tsl__alloc_zero(&x->alloc, TSL__CHAIN_STEPS * sizeof *x->chain_steps);
  if (!x->chain_steps) tsl__expr_no_memory(x);
  remember(x, step_slot(x->chain_steps, TSL__CHAIN_STEPS, 1, key), key, d);
}

/* In a long search the same conjuncts are met in many combinations. What is found there is not kept
 * for others: inside a search meets are not searched. */
tsl__expr tsl__derive_conjunct(tsl__exprs *x, tsl__expr e, uint8_t byte) {
  uint64_t key = (uint64_t)e << 8 | byte;
  tsl__known_step *known =
      x->searching ? step_slot(x->search_steps, TSL__SEARCH_STEPS, 1, key) : NULL;
  if (is_of(known, key)) return known->d;
  tsl__expr d = tsl__derive_in(x, e, byte, false);
  remember(x, known, key, d);
  return d;
}

/* Is where it leads remembered? A class of non-ASCII characters is spelled in some ten ways.
 * Whatever has parts is met again at every state of a pattern that holds it. */
static bool is_remembered(const tsl__exprs *x, const tsl__node *n) {
  if (n->flags & TSL__CHAR) return n->b >= TSL__CLASS_MIN;
  return !(n->flags & TSL__CALLS) && !n->loop && !x->searching;
}

tsl__expr tsl__derive_remembered(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint8_t byte,
                                 bool last,
                                 tsl__expr (*compute)(tsl__exprs *, const tsl__node *, uint8_t,
                                                      bool)) {
  uint64_t key = (uint64_t)e << 8 | byte;
  tsl__expr d;
  if (!is_remembered(x, n)) return compute(x, n, byte, last);
  if (tsl__step_known(x, key, &d)) return d;
  d = compute(x, n, byte, last);
  if (x->known_steps)
    tsl__step_remember(x, key, d);
  else if (++x->derived >= MANY)
    tsl__known_steps_make(x);
  return d;
}

tsl__expr tsl__derive_in(tsl__exprs *x, tsl__expr e, uint8_t byte, bool last) {
  tsl__node n = tsl__node_at(x, e);
  const tsl__kind_ops *kind = tsl__kinds[n.kind];
  tsl__worked(x, 1);
  /* after a failure nothing is kept, so what is left need not be derived */
  return kind->derive && x->status == TSL_OK ? kind->derive(x, e, &n, byte, last) : TSL__NONE;
}

tsl__expr tsl__derive_plain(tsl__exprs *x, tsl__expr e, uint8_t byte) {
  return tsl__derive_in(x, e, byte, false);
}

/* ---- derivatives with registers -------------------------------------------------------------- */

/* Add each part of `from`, followed by `then`. */
static void add_followed(tsl__exprs *x, const tsl__parts *from, tsl__expr then, tsl__parts *out) {
  bool active = tsl__node_at(x, then).loop != 0;
  for (uint32_t i = 0; i < from->n; i++) {
    tsl__count count =
        from->at[i].count == TSL__COUNT_CLEAR && active ? TSL__COUNT_KEEP : from->at[i].count;
    tsl__parts_add(x, out, count, tsl__expr_seq(x, from->at[i].e, then));
  }
}

static void derive_seq_parts(tsl__exprs *x, tsl__node n, uint8_t byte, tsl__step how,
                             tsl__parts *out) {
  tsl__node h = tsl__node_at(x, n.a), t = tsl__node_at(x, n.b);
  tsl__parts head = {0};
  /* An active loop further on owns the register: what stands before it counts down. */
  bool registers = how.registers && !(t.loop && !h.loop);
  tsl__derive_parts(x, n.a, byte, (tsl__step){how.phase, registers, false}, &head);
  add_followed(x, &head, n.b, out);
  if (tsl__nullable_in(&h, how.phase) && !tsl__node_is_call(x, &h))
    tsl__derive_parts(x, n.b, byte, how, out);
}

static void derive_repeat_parts(tsl__exprs *x, tsl__node n, uint8_t byte, tsl__step how,
                                tsl__parts *out) {
  if (tsl__node_is_big(&n)) {
    tsl__expr d = tsl__derive_in(x, n.a, byte, false);
    if (d) tsl__parts_add(x, out, TSL__COUNT_FIRST, tsl__expr_seq(x, d, tsl__counted(x, &n)));
    return;
  }
  tsl__parts body = {0};
  tsl__derive_parts(x, n.a, byte, (tsl__step){how.phase, true, false}, &body);
  add_followed(x, &body, tsl__one_fewer(x, &n), out);
}

/* Most of what the alternatives lead to holds no register, and is joined at once: one by one, lists
 * of 1, 2, 3... would be made. */
static void derive_alt_parts(tsl__exprs *x, tsl__node n, uint8_t byte, tsl__step how,
                             tsl__parts *out) {
  tsl__expr few[ALTERNATIVES], *plain = few;
  size_t count = 0, room = ALTERNATIVES;
  tsl__parts one;
  if (n.b > room && (plain = tsl__alloc(&x->alloc, n.b * sizeof *plain)) != NULL) room = n.b;
  if (!plain) tsl__expr_no_memory(x);
  for (uint32_t i = 0; i < n.b && plain; i++) {
    tsl__expr e = tsl__list_at(x, n.a)[i];
    if (tsl__begins_otherwise(x, e, byte)) continue;
    one.n = 0;
    tsl__derive_parts(x, e, byte, how, &one);
    for (uint32_t k = 0; k < one.n; k++) {
      if (count < room && !tsl__node_at(x, one.at[k].e).loop)
        plain[count++] = one.at[k].e;
      else
        tsl__parts_add(x, out, one.at[k].count, one.at[k].e);
    }
  }
  if (count) tsl__parts_add(x, out, TSL__COUNT_CLEAR, tsl__expr_alt_n(x, plain, count));
  if (plain && plain != few) tsl__free(&x->alloc, plain, room * sizeof *plain);
}

static void derive_parts_anew(tsl__exprs *x, tsl__expr e, const tsl__node *n, uint8_t byte,
                              tsl__step how, tsl__parts *out) {
  if (tsl__kinds[n->kind]->derive_parts) {
    tsl__kinds[n->kind]->derive_parts(x, e, byte, how, out);
  } else if (n->kind == TSL__K_RULE && (how.last || !tsl__node_is_call(x, n))) {
    tsl__expr body = tsl__rule_body(x, n->a);
    if (tsl__begins_otherwise(x, body, byte) || !tsl__unfold(x)) return;
    tsl__derive_parts(x, body, byte, how, out);
    x->depth--;
  } else if (!(n->flags & TSL__CALLS) && (!how.registers || !(n->flags & TSL__COUNTS)) &&
             !n->loop) {
    tsl__parts_add(x, out, TSL__COUNT_CLEAR, tsl__derive_in(x, e, byte, how.last));
  } else if (n->kind == TSL__K_ALT) {
    derive_alt_parts(x, *n, byte, how, out);
  } else if (n->kind == TSL__K_SEQ) {
    derive_seq_parts(x, *n, byte, how, out);
  } else if (n->kind == TSL__K_REPEAT && how.registers) {
    derive_repeat_parts(x, *n, byte, how, out);
  } else if (n->kind == TSL__K_COUNTED) {
    if (how.phase == TSL__PHASE_TOP) return;
    tsl__expr d = tsl__derive_in(x, n->a, byte, false);
    if (d) tsl__parts_add(x, out, TSL__COUNT_NEXT, tsl__expr_seq(x, d, e));
  } else {
    tsl__parts_add(x, out, TSL__COUNT_CLEAR, tsl__derive_in(x, e, byte, how.last));
  }
}

/* ---- derivatives of what holds calls --------------------------------------------------------- */

/* A rule of a language leads to many alternatives, each of which holds rules again. Each state of
 * the language derives most of them by each byte, as the states before did: they are remembered.
 * NULL: not this one. The key holds all that the derivative depends on. */
static tsl__call_step *call_slot(tsl__exprs *x, const tsl__node *n, tsl__expr e, uint8_t byte,
                                 tsl__step how, uint64_t *key) {
  if (n->loop || x->searching ||
      (n->kind != TSL__K_ALT && n->kind != TSL__K_SEQ && n->kind != TSL__K_RULE))
    return NULL;
  if (!x->call_steps) {
    if (++x->call_derived < CALLS_MANY) return NULL;
    x->call_steps = tsl__alloc_zero(&x->alloc, TSL__CALL_STEPS * sizeof *x->call_steps);
    if (!x->call_steps) return tsl__expr_no_memory(x), NULL;
  }
  unsigned with = how.last | how.registers << 1 | how.phase << 2 | 1u << 4;
  *key = (uint64_t)with << 56 | (uint64_t)e << 8 | byte;
  return &x->call_steps[tsl__mix(*key) % TSL__CALL_STEPS];
}

/* All that was spent since the last tsl__exprs_begin. */
static uint64_t spent(const tsl__exprs *x) { return x->steps * TSL__WORK + x->work; }

void tsl__derive_parts(tsl__exprs *x, tsl__expr e, uint8_t byte, tsl__step how, tsl__parts *out) {
  const tsl__node n = tsl__node_at(x, e);
  uint64_t key = 0, before = spent(x);
  tsl__call_step *known = n.flags & TSL__CALLS ? call_slot(x, &n, e, byte, how, &key) : NULL;
  if (!known) {
    derive_parts_anew(x, e, &n, byte, how, out);
  } else if (known->key == key) {
    if (tsl__exprs_work(x, known->work)) tsl__parts_add(x, out, TSL__COUNT_CLEAR, known->d);
  } else {
    tsl__parts own;
    own.n = 0;
    derive_parts_anew(x, e, &n, byte, how, &own);
    tsl__expr d = own.n ? own.at[0].e : TSL__NONE;
    if (own.n <= 1 && !tsl__node_at(x, d).loop && x->status == TSL_OK)
      *known = (tsl__call_step){key, d, (uint32_t)(spent(x) - before)};
    for (uint32_t i = 0; i < own.n; i++) tsl__parts_add(x, out, own.at[i].count, own.at[i].e);
  }
}

/* A part without a register can travel with any other: fewer parts are fewer stacks. */
static void join_plain_part(tsl__exprs *x, tsl__parts *parts) {
  if (parts->n != 2) return;
  uint32_t plain = parts->at[0].count == TSL__COUNT_CLEAR   ? 0
                   : parts->at[1].count == TSL__COUNT_CLEAR ? 1
                                                            : 2;
  if (plain == 2) return;
  tsl__part other = parts->at[1 - plain];
  other.e = tsl__expr_alt(x, other.e, parts->at[plain].e);
  parts->at[0] = other;
  parts->n = 1;
}

/* Does a take all that b takes, which differs in the register alone? Of a loop without an upper
 * bound, whoever has more iterations behind does; of another, whoever has fewer, once the minimum
 * is reached. */
static bool takes_all(const tsl__exprs *x, const tsl__part *a, const tsl__part *b,
                      tsl__phase phase) {
  tsl__node loop = tsl__node_at(x, tsl__node_at(x, a->e).loop);
  if (loop.c == TSL__INF)
    return b->count == TSL__COUNT_FIRST ||
           (a->count == TSL__COUNT_NEXT && b->count == TSL__COUNT_KEEP);
  return a->count == TSL__COUNT_FIRST ? loop.b <= 1
                                      : a->count == TSL__COUNT_KEEP &&
                                            b->count == TSL__COUNT_NEXT && phase != TSL__PHASE_LOW;
}

/* Of parts with one expression those are dropped of which another takes all. A search for
 * [0-9a-f]{40} would follow up to 40, and so would ([0-9a-f]{1,40}-?)+. */
static void drop_repeated(tsl__exprs *x, tsl__parts *parts, tsl__phase phase) {
  for (uint32_t i = 0; i < parts->n; i++) {
    bool repeated = false;
    for (uint32_t k = 0; k < parts->n && !repeated; k++)
      repeated = k != i && parts->at[k].e == parts->at[i].e &&
                 takes_all(x, &parts->at[k], &parts->at[i], phase);
    if (repeated) parts->at[i--] = parts->at[--parts->n];
  }
}

void tsl__derive(tsl__exprs *x, tsl__expr e, uint8_t byte, tsl__phase phase, tsl__parts *out) {
  out->n = 0;
  if (!tsl__exprs_step(x)) return;
  tsl__derive_parts(x, e, byte, (tsl__step){phase, !tsl__overlaps(x, e), true}, out);
  drop_repeated(x, out, phase);
  join_plain_part(x, out);
}
