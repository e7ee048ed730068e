/* deriv.c - see deriv.h.
 * Recursion follows the nesting of an expression, which the front ends bound (max_depth), never the
 * length of a text. SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/deriv.h"

#define CLASS_MIN 4u     /* parts of a class whose derivatives are remembered */
#define ALTERNATIVES 32u /* derivatives of so many are joined at once */
#define MANY 40u         /* derivatives of what has parts from which on they are */

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

/* The same loop, entered: the node carries itself as its active loop. */
static tsl__expr counted(tsl__exprs *x, const tsl__node *repeat) {
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

static bool is_big(const tsl__node *n) {
  return (n->c != TSL__INF && n->c > TSL__UNROLL_MAX) || n->b > TSL__UNROLL_MAX;
}

tsl__expr tsl__one_fewer(tsl__exprs *x, const tsl__node *n) {
  return tsl__expr_repeat(x, n->a, n->b ? n->b - 1 : 0, n->c == TSL__INF ? TSL__INF : n->c - 1);
}

static bool is_call(const tsl__exprs *x, const tsl__node *n) {
  return n->kind == TSL__K_RULE && !(tsl__rule_at(x, n->a)->flags & TSL__RULE_INLINE);
}

static bool enter(tsl__exprs *x) {
  if (x->depth < TSL__UNFOLD_MAX) return x->depth++, true;
  tsl__exprs_fail(x, TSL_ERR_LIMIT, "rules unfold without end before a byte is read");
  return false;
}

/* Does e begin with bytes, and not with this one? Most alternatives do. */
static inline bool begins_otherwise(const tsl__exprs *x, tsl__expr e, uint8_t byte) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind == TSL__K_SEQ) n = tsl__node_at(x, n.a);
  return n.kind == TSL__K_LIT
             ? *tsl__literal_at(x, n.a) != byte
             : n.kind == TSL__K_BYTES && !tsl__bytes_has(tsl__set_at(x, n.a), byte);
}

/* ---- plain derivatives ----------------------------------------------------------------------- */

static tsl__expr derive_plain(tsl__exprs *x, tsl__expr e, uint8_t byte, bool last);
static const tsl__known_reads *class_reads(tsl__exprs *x, tsl__expr e, const tsl__node *n);

/* Is it a class that is spelled in some ten ways? Such are met again in most parts of a pattern,
 * and in every state of it. */
static bool is_class(const tsl__node *n) {
  return (n->flags & (TSL__CHAR | TSL__CALLS)) == TSL__CHAR && n->b >= CLASS_MIN;
}

static tsl__expr derive_seq(tsl__exprs *x, tsl__node n, uint8_t byte, bool last) {
  tsl__expr result = TSL__NONE;
  for (;;) {
    tsl__node h = tsl__node_at(x, n.a);
    tsl__expr d = derive_plain(x, n.a, byte, false);
    if (d) result = tsl__expr_alt(x, result, tsl__expr_seq(x, d, n.b));
    if (!(h.flags & TSL__NULLABLE_LOW) || is_call(x, &h)) return result;
    tsl__node t = tsl__node_at(x, n.b);
    if (t.kind != TSL__K_SEQ) return tsl__expr_alt(x, result, derive_plain(x, n.b, byte, last));
    n = t;
  }
}

static tsl__expr derive_alt(tsl__exprs *x, tsl__node n, uint8_t byte, bool last) {
  tsl__expr few[ALTERNATIVES];
  TSL__VEC(tsl__expr) many = {0};
  size_t count = 0;
  tsl__worked(x, n.b);
  for (uint32_t i = 0; i < n.b; i++) {
    tsl__expr e = tsl__list_at(x, n.a)[i],
              d = begins_otherwise(x, e, byte) ? TSL__NONE : derive_plain(x, e, byte, last);
    if (!d) continue;
    if (count < ALTERNATIVES)
      few[count] = d;
    else if (!tsl__vec_push(&x->alloc, &many, d))
      tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
    count++;
  }
  tsl__expr result = count == 0 ? TSL__NONE
                     : count == 1
                         ? few[0]
                         : tsl__expr_alt_n(x, few, count < ALTERNATIVES ? count : ALTERNATIVES);
  if (many.n) result = tsl__expr_alt(x, result, tsl__expr_alt_n(x, many.at, many.n));
  tsl__vec_free(&x->alloc, &many);
  return result;
}

void tsl__known_steps_make(tsl__exprs *x) {
  if (!x->known_steps &&
      !(x->known_steps = tsl__alloc_zero(&x->alloc, TSL__KNOWN_STEPS * sizeof *x->known_steps)))
    tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
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

/* In a long search the same conjuncts are met in many combinations. What is found there is not kept
 * for others: inside a search meets are not searched. */
static tsl__expr derive_conjunct(tsl__exprs *x, tsl__expr e, uint8_t byte) {
  uint64_t key = (uint64_t)e << 8 | byte;
  tsl__known_step *known =
      x->searching ? step_slot(x->search_steps, TSL__SEARCH_STEPS, 1, key) : NULL;
  if (is_of(known, key)) return known->d;
  tsl__expr d = derive_plain(x, e, byte, false);
  remember(x, known, key, d);
  return d;
}

/* Is where it leads remembered? A class of characters beyond ASCII is spelled in some ten ways, and
 * it and all else that has parts is met again at every state of a pattern that holds it. */
static bool is_remembered(const tsl__exprs *x, const tsl__node *n) {
  if (n->flags & TSL__CHAR) return n->b >= CLASS_MIN;
  return !(n->flags & TSL__CALLS) && !n->loop && !x->searching;
}

static tsl__expr derive_and(tsl__exprs *x, tsl__node n, uint8_t byte) {
  tsl__expr few[16];
  if (n.b > 16) { /* rare: fold pairwise */
    tsl__expr result = derive_conjunct(x, tsl__list_at(x, n.a)[0], byte);
    for (uint32_t i = 1; i < n.b && result; i++)
      result = tsl__expr_and(x, result, derive_conjunct(x, tsl__list_at(x, n.a)[i], byte));
    return result;
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < n.b; i++) {
    tsl__expr d = derive_conjunct(x, tsl__list_at(x, n.a)[i], byte);
    if (!d) return TSL__NONE;
    if (!tsl__is_anything(x, d) || (!count && i + 1 == n.b)) few[count++] = d;
  }
  return count == 1 ? few[0] : tsl__and_n(x, few, count);
}

static tsl__expr derive_strings(tsl__exprs *x, const tsl__node *n, uint8_t byte) {
  uint32_t lo = n->b, hi = n->c;
  if (!tsl__strings_narrow(tsl__strings_at(x, n->a), &lo, &hi, n->d, byte)) return TSL__NONE;
  return n->kind == TSL__K_KEYS ? tsl__keys_node(x, n->a, lo, hi, n->d + 1)
                                : tsl__strset_node(x, n->a, lo, hi, n->d + 1);
}

static tsl__expr derive_rule(tsl__exprs *x, const tsl__node *n, uint8_t byte, bool last) {
  if (!last && is_call(x, n)) return TSL__NONE;
  if (!enter(x)) return TSL__NONE;
  tsl__expr d = derive_plain(x, tsl__rule_body(x, n->a), byte, last);
  x->depth--;
  return d;
}

static tsl__expr derive_composed(tsl__exprs *x, tsl__node n, uint8_t byte, bool last) {
  if (n.kind == TSL__K_SEQ) return derive_seq(x, n, byte, last);
  if (n.kind == TSL__K_ALT) return derive_alt(x, n, byte, last);
  if (n.kind == TSL__K_AND) return derive_and(x, n, byte);
  tsl__expr d = derive_plain(x, n.a, byte, false);
  if (n.kind == TSL__K_NOT) return tsl__expr_not(x, d);
  return d ? tsl__expr_seq(x, d, tsl__one_fewer(x, &n)) : TSL__NONE;
}

static tsl__expr derive_remembered(tsl__exprs *x, tsl__expr e, tsl__node n, uint8_t byte,
                                   bool last) {
  uint64_t key = (uint64_t)e << 8 | byte;
  tsl__expr d;
  if (!is_remembered(x, &n)) return derive_composed(x, n, byte, last);
  if (tsl__step_known(x, key, &d)) return d;
  d = derive_composed(x, n, byte, last);
  if (x->known_steps)
    tsl__step_remember(x, key, d);
  else if (++x->derived >= MANY)
    tsl__known_steps_make(x);
  return d;
}

static tsl__expr derive_plain(tsl__exprs *x, tsl__expr e, uint8_t byte, bool last) {
  tsl__node n = tsl__node_at(x, e);
  tsl__worked(x, 1);
  switch ((tsl__kind)n.kind) {
  case TSL__K_BYTES: return tsl__bytes_has(tsl__set_at(x, n.a), byte) ? TSL__EPS : TSL__NONE;
  case TSL__K_LIT:
    return *tsl__literal_at(x, n.a) == byte ? tsl__literal_tail(x, &n, 1) : TSL__NONE;
  case TSL__K_SEQ: {
    uint8_t head = tsl__node_at(x, n.a).kind;
    if (head == TSL__K_BYTES || head == TSL__K_LIT) return derive_seq(x, n, byte, last);
    return derive_remembered(x, e, n, byte, last);
  }
  case TSL__K_REPEAT:
    if (e == x->text && byte < 0x80) return e;
    return derive_remembered(x, e, n, byte, last);
  case TSL__K_ALT:
    if (byte < 0x80 && is_class(&n)) { /* its characters of ASCII are those that it reads */
      const tsl__known_reads *known = class_reads(x, e, &n);
      if (known && !known->guessed)
        return tsl__bytes_has(&known->live, byte) ? TSL__EPS : TSL__NONE;
    }
    return derive_remembered(x, e, n, byte, last);
  case TSL__K_AND:
  case TSL__K_NOT: return derive_remembered(x, e, n, byte, last);
  case TSL__K_RULE: return derive_rule(x, &n, byte, last);
  case TSL__K_STRSET:
  case TSL__K_KEYS: return derive_strings(x, &n, byte);
  case TSL__K_JSTR:
  case TSL__K_JESC:
  case TSL__K_JHEX: {
    tsl__parts parts = {0};
    tsl__derive_json(x, e, byte, (tsl__step){TSL__PHASE_LOW, false, last}, &parts);
    return parts.n ? parts.at[0].e : TSL__NONE;
  }
  case TSL__K_NATIVE: {
    const tsl__native *native = tsl__native_at(x, n.a);
    return native->ops->step(x, native->ctx, n.b, byte);
  }
  case TSL__K_COUNTED:
    tsl__exprs_fail(x, TSL_ERR_UNSUPPORTED, "an active loop in a plain derivative");
    return TSL__NONE;
  case TSL__K_NONE:
  case TSL__K_EPS:
  case TSL__K_NAME:
  case TSL__K_RESUME:
  case TSL__K_TOKEN:
  case TSL__KIND_COUNT: return TSL__NONE;
  }
  return TSL__NONE;
}

tsl__expr tsl__derive_plain(tsl__exprs *x, tsl__expr e, uint8_t byte) {
  return derive_plain(x, e, byte, false);
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
  if (tsl__nullable_in(&h, how.phase) && !is_call(x, &h)) tsl__derive_parts(x, n.b, byte, how, out);
}

static void derive_repeat_parts(tsl__exprs *x, tsl__node n, uint8_t byte, tsl__step how,
                                tsl__parts *out) {
  if (is_big(&n)) {
    tsl__expr d = derive_plain(x, n.a, byte, false);
    if (d) tsl__parts_add(x, out, TSL__COUNT_FIRST, tsl__expr_seq(x, d, counted(x, &n)));
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
  tsl__expr plain[ALTERNATIVES];
  size_t count = 0;
  tsl__parts one;
  for (uint32_t i = 0; i < n.b; i++) {
    tsl__expr e = tsl__list_at(x, n.a)[i];
    if (begins_otherwise(x, e, byte)) continue;
    one.n = 0;
    tsl__derive_parts(x, e, byte, how, &one);
    for (uint32_t k = 0; k < one.n; k++) {
      if (count < ALTERNATIVES && !tsl__node_at(x, one.at[k].e).loop)
        plain[count++] = one.at[k].e;
      else
        tsl__parts_add(x, out, one.at[k].count, one.at[k].e);
    }
  }
  if (count) tsl__parts_add(x, out, TSL__COUNT_CLEAR, tsl__expr_alt_n(x, plain, count));
}

void tsl__derive_parts(tsl__exprs *x, tsl__expr e, uint8_t byte, tsl__step how, tsl__parts *out) {
  tsl__node n = tsl__node_at(x, e);
  bool json = n.kind == TSL__K_JSTR || n.kind == TSL__K_JESC || n.kind == TSL__K_JHEX;
  if (json) {
    tsl__derive_json(x, e, byte, how, out);
  } else if (n.kind == TSL__K_RULE && (how.last || !is_call(x, &n))) {
    tsl__expr body = tsl__rule_body(x, n.a);
    if (begins_otherwise(x, body, byte) || !enter(x)) return;
    tsl__derive_parts(x, body, byte, how, out);
    x->depth--;
  } else if (!(n.flags & TSL__CALLS) && (!how.registers || !(n.flags & TSL__COUNTS)) && !n.loop) {
    tsl__parts_add(x, out, TSL__COUNT_CLEAR, derive_plain(x, e, byte, how.last));
  } else if (n.kind == TSL__K_ALT) {
    derive_alt_parts(x, n, byte, how, out);
  } else if (n.kind == TSL__K_SEQ) {
    derive_seq_parts(x, n, byte, how, out);
  } else if (n.kind == TSL__K_REPEAT && how.registers) {
    derive_repeat_parts(x, n, byte, how, out);
  } else if (n.kind == TSL__K_COUNTED) {
    if (how.phase == TSL__PHASE_TOP) return;
    tsl__expr d = derive_plain(x, n.a, byte, false);
    if (d) tsl__parts_add(x, out, TSL__COUNT_NEXT, tsl__expr_seq(x, d, e));
  } else {
    tsl__parts_add(x, out, TSL__COUNT_CLEAR, derive_plain(x, e, byte, how.last));
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
static void drop_taken(tsl__exprs *x, tsl__parts *parts, tsl__phase phase) {
  for (uint32_t i = 0; i < parts->n; i++) {
    bool taken = false;
    for (uint32_t k = 0; k < parts->n && !taken; k++)
      taken = k != i && parts->at[k].e == parts->at[i].e &&
              takes_all(x, &parts->at[k], &parts->at[i], phase);
    if (taken) parts->at[i--] = parts->at[--parts->n];
  }
}

void tsl__derive(tsl__exprs *x, tsl__expr e, uint8_t byte, tsl__phase phase, tsl__parts *out) {
  out->n = 0;
  if (!tsl__exprs_step(x)) return;
  tsl__derive_parts(x, e, byte, (tsl__step){phase, true, true}, out);
  drop_taken(x, out, phase);
  join_plain_part(x, out);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void calls_of(tsl__exprs *x, tsl__expr e, tsl__step how, tsl__calls *out);

static void add_call(tsl__exprs *x, tsl__calls *out, tsl__expr callee, tsl__count count,
                     tsl__expr then) {
  tsl__call call = {callee, {count, then}};
  if (then == TSL__NONE) return;
  if (!tsl__vec_push(&x->alloc, out, call)) tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
}

void tsl__calls_add(tsl__exprs *x, tsl__calls *out, tsl__expr callee, tsl__expr then) {
  add_call(x, out, callee, TSL__COUNT_CLEAR, then);
}

/* The calls of `e`, each followed by `then`; `count` says what becomes of the register where the
 * call itself leaves it alone. */
static void calls_followed(tsl__exprs *x, tsl__expr e, tsl__expr then, tsl__count count,
                           tsl__step how, tsl__calls *out) {
  size_t first = out->n, kept = first;
  calls_of(x, e, how, out);
  for (size_t i = first; i < out->n; i++) {
    tsl__call call = out->at[i];
    if (call.then.count == TSL__COUNT_CLEAR) call.then.count = count;
    call.then.e = tsl__expr_seq(x, call.then.e, then);
    if (call.then.e != TSL__NONE) out->at[kept++] = call;
  }
  out->n = kept;
}

static void calls_of(tsl__exprs *x, tsl__expr e, tsl__step how, tsl__calls *out) {
  tsl__node n = tsl__node_at(x, e);
  if (!(n.flags & TSL__CALLS)) return;
  switch ((tsl__kind)n.kind) {
  case TSL__K_TOKEN: add_call(x, out, e, TSL__COUNT_CLEAR, TSL__EPS); return;
  case TSL__K_RULE:
    if (!how.last && is_call(x, &n)) {
      add_call(x, out, e, TSL__COUNT_CLEAR, TSL__EPS);
    } else if (enter(x)) {
      calls_of(x, tsl__rule_body(x, n.a), how, out);
      x->depth--;
    }
    return;
  case TSL__K_ALT:
    for (uint32_t i = 0; i < n.b; i++) calls_of(x, tsl__list_at(x, n.a)[i], how, out);
    return;
  case TSL__K_SEQ: {
    tsl__node h = tsl__node_at(x, n.a), t = tsl__node_at(x, n.b);
    bool registers = how.registers && !(t.loop && !h.loop);
    calls_followed(x, n.a, n.b, t.loop ? TSL__COUNT_KEEP : TSL__COUNT_CLEAR,
                   (tsl__step){how.phase, registers, false}, out);
    if (tsl__nullable_in(&h, how.phase) && !is_call(x, &h)) calls_of(x, n.b, how, out);
    return;
  }
  case TSL__K_REPEAT: {
    tsl__step inner = {how.phase, how.registers && !is_big(&n), false};
    if (how.registers && is_big(&n))
      calls_followed(x, n.a, counted(x, &n), TSL__COUNT_FIRST, inner, out);
    else
      calls_followed(x, n.a, tsl__one_fewer(x, &n), TSL__COUNT_CLEAR, inner, out);
    return;
  }
  case TSL__K_COUNTED:
    if (how.phase != TSL__PHASE_TOP)
      calls_followed(x, n.a, e, TSL__COUNT_NEXT, (tsl__step){how.phase, false, false}, out);
    return;
  default: return;
  }
}

void tsl__calls_of(tsl__exprs *x, tsl__expr e, tsl__phase phase, tsl__calls *out) {
  calls_of(x, e, (tsl__step){phase, true, true}, out);
}

bool tsl__is_call(const tsl__exprs *x, tsl__expr e, tsl__call *out) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind != TSL__K_SEQ) return false;
  tsl__node h = tsl__node_at(x, n.a);
  if (!is_call(x, &h)) return false;
  *out = (tsl__call){n.a, {tsl__node_at(x, n.b).loop ? TSL__COUNT_KEEP : TSL__COUNT_CLEAR, n.b}};
  return true;
}

/* A rule may know its calls without its body. */
static bool calls_of_rule(tsl__exprs *x, uint32_t index, tsl__calls *out) {
  const tsl__rule *rule = tsl__rule_at(x, index);
  size_t before = out->n;
  if (rule->body || !rule->ops->calls) return false;
  if (rule->ops->calls(x, rule->ctx, rule->param, out) && x->status == TSL_OK) return true;
  out->n = before;
  return false;
}

static bool only_calls(tsl__exprs *x, tsl__expr e, tsl__calls *out) {
  tsl__node n = tsl__node_at(x, e);
  tsl__call call;
  bool fine = n.flags & TSL__CALLS;
  if (!fine) return false;
  tsl__worked(x, 1);
  switch ((tsl__kind)n.kind) {
  case TSL__K_SEQ:
    if (!tsl__is_call(x, e, &call)) return false;
    add_call(x, out, call.callee, call.then.count, call.then.e);
    return true;
  case TSL__K_ALT:
    for (uint32_t i = 0; i < n.b && fine; i++) fine = only_calls(x, tsl__list_at(x, n.a)[i], out);
    return fine;
  case TSL__K_RULE: /* the last thing in the frame, which takes its place */
    if (!enter(x)) return false;
    fine = calls_of_rule(x, n.a, out) || only_calls(x, tsl__rule_body(x, n.a), out);
    x->depth--;
    return fine;
  default: return false;
  }
}

bool tsl__calls_add_last(tsl__exprs *x, tsl__calls *out, tsl__expr e) {
  return only_calls(x, e, out);
}

bool tsl__only_calls(tsl__exprs *x, tsl__expr e, tsl__calls *out) {
  tsl__node n = tsl__node_at(x, e);
  if (n.flags & TSL__CALLS && !n.loop && only_calls(x, e, out)) return true;
  out->n = 0;
  return false;
}

/* ---- classes of bytes ------------------------------------------------------------------------ */

static void edge(tsl__bytes *out, unsigned b) {
  if (b > 0 && b < 256) tsl__bytes_add(out, b);
}

bool tsl__first_bytes(const tsl__exprs *x, const tsl__node *n, tsl__bytes *out) {
  if (n->kind == TSL__K_LIT) return tsl__bytes_add(out, *tsl__literal_at(x, n->a)), true;
  if (n->kind != TSL__K_STRSET && n->kind != TSL__K_KEYS) return false;
  const tsl__strings *s = tsl__strings_at(x, n->a);
  for (uint32_t i = n->b; i < n->c;) {
    if (s->at[i].length == n->d) {
      i++;
      continue;
    }
    uint8_t byte = (uint8_t)s->at[i].at[n->d];
    tsl__bytes_add(out, byte);
    uint32_t lo = i, hi = n->c;
    tsl__strings_narrow(s, &lo, &hi, n->d, byte);
    i = hi;
  }
  return true;
}

static void read_strings(const tsl__exprs *x, const tsl__node *n, tsl__reads *out) {
  tsl__bytes first = {{0}};
  tsl__first_bytes(x, n, &first);
  uint64_t carry = 0;
  for (int i = 0; i < 4; i++) { /* each byte leads elsewhere */
    out->edges.w[i] |= first.w[i] | first.w[i] << 1 | carry;
    out->live.w[i] |= first.w[i];
    carry = first.w[i] >> 63;
  }
  out->edges.w[0] &= ~(uint64_t)1;
}

/* Live is what it says, or what its ASCII tells, and anything beyond that. */
static void read_native(const tsl__exprs *x, const tsl__node *n, tsl__reads *out) {
  const tsl__native *native = tsl__native_at(x, n->a);
  out->guessed = true;
  native->ops->boundaries(native->ctx, n->b, &out->edges);
  out->edges.w[0] &= ~(uint64_t)1;
  if (native->ops->live) {
    native->ops->live(native->ctx, n->b, &out->live);
    return;
  }
  if (!native->ops->ascii) {
    out->live = TSL__BYTES_ALL;
    return;
  }
  for (const char *c = native->ops->ascii; *c; c++) tsl__bytes_add(&out->live, (uint8_t)*c);
  out->live.w[2] = out->live.w[3] = UINT64_MAX;
}

static void reads(tsl__exprs *x, tsl__expr e, bool last, tsl__reads *out);

/* What leads anywhere in a meet leads somewhere in every part. */
static void read_and(tsl__exprs *x, const tsl__node *n, tsl__reads *out) {
  tsl__bytes before = out->live, all = TSL__BYTES_ALL;
  for (uint32_t i = 0; i < n->b; i++) {
    memset(&out->live, 0, sizeof out->live);
    reads(x, tsl__list_at(x, n->a)[i], false, out);
    for (int w = 0; w < 4; w++) all.w[w] &= out->live.w[w];
  }
  out->live = before;
  out->guessed = true;
  tsl__bytes_or(&out->live, &all);
}

static void read_alt(tsl__exprs *x, const tsl__node *n, bool last, tsl__reads *out) {
  for (uint32_t i = 0; i < n->b; i++) reads(x, tsl__list_at(x, n->a)[i], last, out);
}

/* What a class reads; NULL when out of memory. */
static const tsl__known_reads *class_reads(tsl__exprs *x, tsl__expr e, const tsl__node *n) {
  if (!x->known_reads &&
      !(x->known_reads = tsl__alloc_zero(&x->alloc, TSL__KNOWN_READS * sizeof *x->known_reads))) {
    tsl__exprs_fail(x, TSL_ERR_NO_MEMORY, "out of memory");
    return NULL;
  }
  tsl__known_reads *known = &x->known_reads[tsl__mix(e) % TSL__KNOWN_READS];
  if (known->e != e) {
    tsl__reads own = {.guessed = false};
    read_alt(x, n, false, &own);
    *known = (tsl__known_reads){e, own.guessed, own.edges, own.live};
  }
  return known;
}

static void read_class(tsl__exprs *x, tsl__expr e, const tsl__node *n, tsl__reads *out) {
  const tsl__known_reads *known = class_reads(x, e, n);
  if (!known) return;
  tsl__bytes_or(&out->edges, &known->edges);
  tsl__bytes_or(&out->live, &known->live);
  out->guessed |= known->guessed;
}

static void reads(tsl__exprs *x, tsl__expr e, bool last, tsl__reads *out) {
  for (;;) {
    tsl__node n = tsl__node_at(x, e);
    tsl__worked(x, 1);
    switch ((tsl__kind)n.kind) {
    case TSL__K_BYTES:
      tsl__bytes_edges(tsl__set_at(x, n.a), &out->edges);
      tsl__bytes_or(&out->live, tsl__set_at(x, n.a));
      return;
    case TSL__K_LIT: {
      unsigned b = *tsl__literal_at(x, n.a);
      edge(&out->edges, b);
      edge(&out->edges, b + 1);
      tsl__bytes_add(&out->live, b);
      return;
    }
    case TSL__K_SEQ: {
      tsl__node h = tsl__node_at(x, n.a);
      reads(x, n.a, false, out);
      if (!(h.flags & (TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH)) || is_call(x, &h)) return;
      e = n.b;
      continue;
    }
    case TSL__K_AND: read_and(x, &n, out); return;
    case TSL__K_ALT:
      if (is_class(&n))
        read_class(x, e, &n, out);
      else
        read_alt(x, &n, last, out);
      return;
    case TSL__K_NOT:
      reads(x, n.a, false, out);
      out->live = TSL__BYTES_ALL;
      out->guessed = true;
      return;
    case TSL__K_REPEAT:
    case TSL__K_COUNTED:
      e = n.a;
      last = false;
      continue;
    case TSL__K_RULE:
      out->guessed = true; /* a call leads nowhere by itself */
      if (!last && is_call(x, &n)) return;
      if (!enter(x)) return;
      reads(x, tsl__rule_body(x, n.a), last, out);
      x->depth--;
      return;
    case TSL__K_STRSET:
    case TSL__K_KEYS: read_strings(x, &n, out); return;
    case TSL__K_JSTR:
    case TSL__K_JESC:
    case TSL__K_JHEX:
      out->guessed = true;
      tsl__reads_json(x, &n, out);
      return;
    case TSL__K_NATIVE: read_native(x, &n, out); return;
    case TSL__K_NONE:
    case TSL__K_EPS:
    case TSL__K_NAME:
    case TSL__K_RESUME:
    case TSL__K_TOKEN:
    case TSL__KIND_COUNT: return;
    }
  }
}

void tsl__reads_of(tsl__exprs *x, tsl__expr e, tsl__reads *out) {
  memset(out, 0, sizeof *out);
  reads(x, e, true, out);
}

void tsl__boundaries(tsl__exprs *x, tsl__expr e, tsl__bytes *out) {
  tsl__reads r;
  tsl__reads_of(x, e, &r);
  *out = r.edges;
}

/* ---- bytes that are alike -------------------------------------------------------------------- */

/* Those ranges are told from the others. Those that are told from all others already are not looked
 * at again. */
static void tell_ranges_apart(tsl__alike *a, uint64_t in) {
  if (!(in & ~a->alone)) return;
  for (unsigned k = 0, parts = a->parts; k < parts; k++) {
    uint64_t out = a->part[k] & ~in, with = a->part[k] & in;
    if (!out || !with) continue;
    a->part[a->parts++] = out;
    a->part[k] = with;
    if (!(out & (out - 1))) a->alone |= out;
    if (!(with & (with - 1))) a->alone |= with;
  }
}

/* Those ranges that begin with a byte of the set are told from the others. */
static void tell_apart(tsl__alike *a, const tsl__bytes *set) {
  uint64_t in = 0;
  for (unsigned w = 0; w < 4; w++) {
    uint64_t has = a->begins.w[w] & set->w[w];
    if (has == a->begins.w[w])
      in |= a->within[w];
    else
      for (; has; has &= has - 1)
        in |= (uint64_t)1 << a->range[w * 64 + (unsigned)__builtin_ctzll(has)];
  }
  tell_ranges_apart(a, in);
}

static void tell_byte_apart(tsl__alike *a, unsigned byte) {
  if (tsl__bytes_has(&a->begins, byte)) tell_ranges_apart(a, (uint64_t)1 << a->range[byte]);
}

/* Was this class met before? Then it tells no more apart. */
static bool is_met(tsl__alike *a, tsl__expr e, const tsl__node *n) {
  tsl__expr *met = &a->met[e % TSL__ALIKE_MET];
  if (!is_class(n)) return false;
  if (*met == e) return true;
  *met = e;
  return false;
}

/* Goes where reads() goes. */
static bool alike(tsl__exprs *x, tsl__expr e, bool last, tsl__alike *out) {
  for (;;) {
    tsl__node n = tsl__node_at(x, e);
    tsl__worked(x, 1);
    switch ((tsl__kind)n.kind) {
    case TSL__K_BYTES: tell_apart(out, tsl__set_at(x, n.a)); return true;
    case TSL__K_LIT: tell_byte_apart(out, *tsl__literal_at(x, n.a)); return true;
    case TSL__K_SEQ: {
      tsl__node h = tsl__node_at(x, n.a);
      if (!alike(x, n.a, false, out)) return false;
      if (!(h.flags & (TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH)) || is_call(x, &h)) return true;
      e = n.b;
      continue;
    }
    case TSL__K_AND:
    case TSL__K_ALT:
      if (n.kind == TSL__K_ALT && is_met(out, e, &n)) return true;
      for (uint32_t i = 0; i < n.b; i++)
        if (!alike(x, tsl__list_at(x, n.a)[i], last && n.kind == TSL__K_ALT, out)) return false;
      return true;
    case TSL__K_REPEAT:
    case TSL__K_COUNTED:
    case TSL__K_NOT:
      e = n.a;
      last = false;
      continue;
    case TSL__K_RULE: {
      if (!last && is_call(x, &n)) return true;
      if (!enter(x)) return false;
      bool told = alike(x, tsl__rule_body(x, n.a), last, out);
      x->depth--;
      return told;
    }
    case TSL__K_STRSET:
    case TSL__K_KEYS: {
      tsl__bytes first = {{0}};
      tsl__first_bytes(x, &n, &first);
      for (unsigned i = 0; i < out->n; i++)
        if (tsl__bytes_has(&first, out->lower[i])) tell_ranges_apart(out, (uint64_t)1 << i);
      return true;
    }
    case TSL__K_JSTR: {
      tsl__bytes control = {{0xFFFFFFFFu, 0, 0, 0}};
      tell_apart(out, &control);
      tell_byte_apart(out, '"');
      tell_byte_apart(out, '\\');
      e = n.a;
      last = false;
      continue;
    }
    case TSL__K_JESC:
    case TSL__K_JHEX:
    case TSL__K_NATIVE: return false;
    case TSL__K_NONE:
    case TSL__K_EPS:
    case TSL__K_NAME:
    case TSL__K_RESUME:
    case TSL__K_TOKEN:
    case TSL__KIND_COUNT: return true;
    }
  }
}

bool tsl__alike_of(tsl__exprs *x, tsl__expr e, const tsl__bytes *edges, tsl__alike *out) {
  out->n = 0;
  out->begins = *edges;
  out->begins.w[0] |= 1;
  for (unsigned w = 0; w < 4; w++) {
    out->within[w] = 0;
    for (uint64_t bits = out->begins.w[w]; bits; bits &= bits - 1) {
      unsigned b = w * 64 + (unsigned)__builtin_ctzll(bits);
      if (out->n == TSL__ALIKE_MAX) return false;
      out->within[w] |= (uint64_t)1 << out->n;
      out->range[b] = (uint8_t)out->n;
      out->lower[out->n++] = (uint8_t)b;
    }
  }
  out->parts = 1;
  out->part[0] = out->n == 64 ? UINT64_MAX : ((uint64_t)1 << out->n) - 1;
  out->alone = out->n == 1;
  memset(out->met, 0, sizeof out->met);
  return alike(x, e, true, out);
}

void tsl__alike_firsts(const tsl__alike *a, uint8_t *first) {
  for (unsigned k = 0; k < a->parts; k++)
    for (uint64_t part = a->part[k], left = part; left; left &= left - 1)
      first[__builtin_ctzll(left)] = (uint8_t)__builtin_ctzll(part);
}
