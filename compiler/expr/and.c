/* and.c - intersections and complements.
 *
 * A meet is the intersection of its parts. Its derivative is the meet of the parts' derivatives,
 * and that of a complement is the complement of its inside's. So no automaton has to be multiplied.
 * What is left is to see at once that a meet is empty (empty.c searches), and to keep meets small.
 * Counts meet as numbers, and lengths that the others imply are dropped.
 *
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/deriv.h"

#define FEW_CONJUNCTS 16u
#define FEW_TEXTS 64u /* that are looked at one by one */

/* ---- intersection and complement ------------------------------------------------------------- */

/* r{m,n} & any_char{p,q} where r is one code point: the counts meet. Returns false where the rule
 * does not apply. */
static bool meet_of_repeats(tsl__exprs *x, tsl__expr a, tsl__expr b, tsl__expr *out) {
  tsl__expr any = tsl__expr_any_char(x);
  tsl__node na = tsl__node_at(x, a), nb = tsl__node_at(x, b);
  if (nb.kind != TSL__K_REPEAT || nb.a != any) {
    tsl__node t = na;
    na = nb;
    nb = t;
    a = b;
  }
  if (nb.kind != TSL__K_REPEAT || nb.a != any) return false;
  /* text & e = e */
  if (nb.b == 0 && nb.c == TSL__INF && (na.flags & TSL__TEXTUAL)) return *out = a, true;
  uint32_t body = a, m = 1, n = 1;
  if (na.kind == TSL__K_REPEAT) {
    body = na.a, m = na.b, n = na.c;
  }
  if (!(tsl__node_at(x, body).flags & TSL__CHAR)) return false;
  uint32_t lo = m > nb.b ? m : nb.b, hi = n < nb.c ? n : nb.c;
  return *out = tsl__expr_repeat(x, body, lo, hi), true;
}

static bool lengths_of_alternatives(tsl__exprs *x, tsl__expr e, const tsl__node *n, unsigned depth,
                                    uint32_t *min, uint32_t *max);

/* Bounds of the length in code points of those members that are texts, or the end of one, by
 * structure. False: the structure does not show them. */
static bool length_bounds(tsl__exprs *x, tsl__expr e, unsigned depth, uint32_t *min,
                          uint32_t *max) {
  uint32_t lo = 0, hi = 0;
  for (;;) {
    tsl__node n = tsl__node_at(x, e), h = n;
    tsl__worked(x, 1);
    if (n.kind == TSL__K_SEQ) h = tsl__node_at(x, n.a);
    uint32_t a = 0, b = 0;
    if (h.flags & TSL__CHAR) {
      a = b = 1;
    } else if (h.kind == TSL__K_EPS) {
    } else if (h.kind == TSL__K_BYTES) { /* of a character: counted with the first of them */
      const tsl__bytes *set = tsl__set_at(x, h.a);
      if (set->w[2] && (set->w[0] | set->w[1] | set->w[3])) return false;
      a = b = !set->w[2];
    } else if (h.kind == TSL__K_LIT) {
      const uint8_t *t = tsl__literal_at(x, h.a);
      for (uint32_t i = 0; i < h.b; i++) a += (t[i] & 0xC0) != 0x80;
      b = a;
    } else if (h.kind == TSL__K_REPEAT && depth < 32) {
      if (!length_bounds(x, h.a, depth + 1, &a, &b)) return false;
      a = tsl__multiply(a, h.b);
      b = h.c == TSL__INF ? TSL__INF : tsl__multiply(b, h.c);
    } else if (h.kind == TSL__K_ALT && depth < 32) {
      if (!lengths_of_alternatives(x, n.kind == TSL__K_SEQ ? n.a : e, &h, depth, &a, &b))
        return false;
    } else if (h.kind == TSL__K_NATIVE) {
      tsl__length own = tsl__native_characters(x, &h);
      a = own.least, b = own.most;
    } else {
      return false;
    }
    lo = tsl__add(lo, a);
    hi = tsl__add(hi, b);
    if (n.kind != TSL__K_SEQ) break;
    e = n.b;
  }
  *min = lo;
  *max = hi;
  return true;
}

/* The bounds of several alternatives, by structure. */
static bool count_alternatives(tsl__exprs *x, const tsl__node *n, unsigned depth, uint32_t *min,
                               uint32_t *max) {
  *min = TSL__INF;
  *max = 0;
  for (uint32_t i = 0; i < n->b; i++) {
    uint32_t lo, hi;
    if (!length_bounds(x, tsl__list_at(x, n->a)[i], depth + 1, &lo, &hi)) return false;
    if (lo < *min) *min = lo;
    if (hi > *max) *max = hi;
  }
  return true;
}

/* What a long pattern ends in is met again behind each of its characters. */
static bool lengths_of_alternatives(tsl__exprs *x, tsl__expr e, const tsl__node *n, unsigned depth,
                                    uint32_t *min, uint32_t *max) {
  tsl__known_length *known = &x->known_lengths[e % TSL__KNOWN_LENGTHS];
  if (depth) return count_alternatives(x, n, depth, min, max);
  if (known->e != e) {
    bool exact = count_alternatives(x, n, depth, min, max);
    *known = (tsl__known_length){e, *min, *max, exact};
  }
  *min = known->min;
  *max = known->max;
  return known->exact;
}

/* Drop any_char{m,n} conjuncts that the other conjuncts imply; decide those that contradict them.
 * Returns false for an empty meet. */
static bool drop_implied_lengths(tsl__exprs *x, tsl__expr *at, size_t *n) {
  tsl__expr any = tsl__expr_any_char(x);
  for (size_t i = 0; i < *n; i++) {
    tsl__node m = tsl__node_at(x, at[i]);
    if (m.kind != TSL__K_REPEAT || m.a != any) continue;
    for (size_t j = 0; j < *n; j++) {
      uint32_t lo, hi;
      if (j == i || !length_bounds(x, at[j], 0, &lo, &hi)) continue;
      if (lo > m.c || hi < m.b) return false;
      if (lo < m.b || hi > m.c) continue;
      memmove(at + i, at + i + 1, (*n - i - 1) * sizeof *at);
      (*n)--;
      i--;
      break;
    }
  }
  return true;
}

/* The lengths of what satisfies all conjuncts that have one of the flags (0: any), as far as their
 * structure shows that. False: it does of none. */
static bool joint_lengths(tsl__exprs *x, const tsl__expr *at, size_t n, uint8_t flags,
                          tsl__length *out) {
  bool some = false;
  *out = (tsl__length){0, TSL__INF};
  for (size_t i = 0; i < n; i++) {
    uint32_t lo, hi;
    if ((flags && !(tsl__node_at(x, at[i]).flags & flags)) || !length_bounds(x, at[i], 0, &lo, &hi))
      continue;
    some = true;
    if (lo > out->least) out->least = lo;
    if (hi < out->most) out->most = hi;
  }
  return some;
}

/* The same of complements of any_char{m,n}: beside texts of other lengths they say nothing, and of
 * texts whose lengths they all exclude none is left. */
static bool drop_excluded_lengths(tsl__exprs *x, tsl__expr *at, size_t *n) {
  tsl__expr any = tsl__expr_any_char(x);
  for (size_t i = *n; i-- > 0;) {
    tsl__node not = tsl__node_at(x, at[i]);
    if (not .kind != TSL__K_NOT) continue;
    tsl__node m = tsl__node_at(x, not .a);
    if (m.kind != TSL__K_REPEAT || m.a != any) continue;
    tsl__length of;
    if (!joint_lengths(x, at, *n, TSL__TEXTUAL, &of)) continue;
    if (of.least >= m.b && of.most <= m.c) return false;
    if (of.most < m.b || of.least > m.c) at[i] = at[--*n];
  }
  return true;
}

/* Is a native automaton farther from its end than another conjunct lets a text go on? It would take
 * a long search to see that. */
static bool too_long(tsl__exprs *x, const tsl__expr *at, size_t n) {
  uint32_t lo, hi, least = 0;
  tsl__length all;
  for (size_t i = 0; i < n; i++) {
    tsl__node m = tsl__node_at(x, at[i]);
    if (m.kind == TSL__K_SEQ) m = tsl__node_at(x, m.b);
    if (m.kind == TSL__K_NATIVE && length_bounds(x, at[i], 0, &lo, &hi) && lo > least) least = lo;
  }
  return least && joint_lengths(x, at, n, 0, &all) && least > all.most;
}

/* Is there r & !r, or !text & r where r's members are texts? */
static bool contradicts(const tsl__exprs *x, tsl__expr a, tsl__expr b) {
  tsl__node na = tsl__node_at(x, a), nb = tsl__node_at(x, b);
  if (na.kind == TSL__K_NOT) return na.a == b || (na.a == x->text && (nb.flags & TSL__TEXTUAL));
  return nb.kind == TSL__K_NOT && (nb.a == a || (nb.a == x->text && (na.flags & TSL__TEXTUAL)));
}

/* One text meets what it is a member of. */
static bool meet_of_literal(tsl__exprs *x, tsl__expr a, tsl__expr b, tsl__expr *out) {
  tsl__node na = tsl__node_at(x, a), nb = tsl__node_at(x, b);
  if (na.kind != TSL__K_LIT && nb.kind != TSL__K_LIT) return false;
  tsl__expr text = na.kind == TSL__K_LIT ? a : b, other = na.kind == TSL__K_LIT ? b : a;
  for (uint32_t i = 0; i < tsl__node_at(x, text).b && other; i++) { /* the text may move */
    tsl__node n = tsl__node_at(x, text);
    other =
        tsl__exprs_step(x) ? tsl__derive_plain(x, other, tsl__literal_at(x, n.a)[i]) : TSL__NONE;
  }
  *out = other && tsl__expr_nullable(x, other) ? text : TSL__NONE;
  return true;
}

/* Not empty, and something that is so, or is when it has one repetition more or one alternative
 * less. Any text but the empty one stays as it is: others stand beside it. */
static bool meet_of_some(tsl__exprs *x, tsl__expr a, tsl__expr b, tsl__expr *out) {
  const uint8_t nullable = TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH;
  tsl__node na = tsl__node_at(x, a), nb = tsl__node_at(x, b), n;
  if (na.kind == TSL__K_NOT && na.a == TSL__EPS)
    *out = b, n = nb;
  else if (nb.kind == TSL__K_NOT && nb.a == TSL__EPS)
    *out = a, n = na;
  else
    return false;
  if (*out == x->text) return false;
  if (!(n.flags & nullable)) return true;
  if (n.kind == TSL__K_REPEAT && n.b == 0 && !(tsl__node_at(x, n.a).flags & nullable))
    return *out = tsl__expr_repeat(x, n.a, 1, n.c), true;
  if (n.kind != TSL__K_ALT) return false;
  tsl__expr rest = TSL__NONE;
  for (uint32_t i = 0; i < n.b; i++)
    if (tsl__list_at(x, n.a)[i] != TSL__EPS) rest = tsl__expr_alt(x, rest, tsl__list_at(x, n.a)[i]);
  *out = rest;
  return !(tsl__node_at(x, rest).flags & nullable);
}

static bool has_bytes(const tsl__bytes *set, const void *text, size_t n) {
  const uint8_t *at = text;
  size_t i = 0;
  while (i < n && tsl__bytes_has(set, at[i])) i++;
  return i == n;
}

/* Are b few texts of ASCII, each one of a, which is any number of characters of a class? */
static bool spells_within(tsl__exprs *x, tsl__expr a, tsl__expr b) {
  tsl__node loop = tsl__node_at(x, a), n = tsl__node_at(x, b);
  tsl__reads r;
  if ((n.kind != TSL__K_LIT && n.kind != TSL__K_STRSET) || loop.kind != TSL__K_REPEAT || loop.b ||
      loop.c != TSL__INF || !(tsl__node_at(x, loop.a).flags & TSL__CHAR))
    return false;
  tsl__reads_of(x, loop.a, &r);
  if (r.guessed || (n.kind == TSL__K_STRSET && n.c - n.b > FEW_TEXTS)) return false;
  r.live.w[2] = r.live.w[3] = 0;
  if (n.kind == TSL__K_LIT) return has_bytes(&r.live, tsl__literal_at(x, n.a), n.b);
  for (uint32_t i = n.b; i < n.c; i++) {
    tsl__string s = tsl__strings_at(x, n.a)->at[i];
    tsl__worked(x, s.length - n.d);
    if (!has_bytes(&r.live, s.at + n.d, s.length - n.d)) return false;
  }
  return true;
}

/* !a & !b, where b has nothing that a has not: names that no pattern takes, but for some that it
 * takes. */
static bool meet_of_excluded(tsl__exprs *x, tsl__expr a, tsl__expr b, tsl__expr *out) {
  tsl__node na = tsl__node_at(x, a), nb = tsl__node_at(x, b);
  if (na.kind != TSL__K_NOT || nb.kind != TSL__K_NOT) return false;
  *out = spells_within(x, na.a, nb.a) ? a : spells_within(x, nb.a, na.a) ? b : TSL__NONE;
  return *out != TSL__NONE;
}

/* Does one of the conjuncts say it: by being the same, or by having no other lengths? */
static bool is_said(tsl__exprs *x, tsl__expr e, const tsl__expr *at, size_t n) {
  tsl__node lengths = tsl__node_at(x, e);
  uint32_t least = 0, most = TSL__INF, lo, hi;
  bool texts = false;
  for (size_t i = 0; i < n; i++) {
    if (at[i] == e) return true;
    texts = texts || tsl__node_at(x, at[i]).flags & TSL__TEXTUAL;
  }
  if (!texts || lengths.kind != TSL__K_REPEAT || lengths.a != tsl__expr_any_char(x)) return false;
  for (size_t i = 0; i < n; i++) {
    tsl__expr_characters(x, at[i], &lo, &hi);
    if (lo > least) least = lo;
    if (hi < most) most = hi;
  }
  return least >= lengths.b && most <= lengths.c;
}

/* a & !(a & b) = a & !b, as oneOf makes of schemas of which one says more than the other. Without
 * this, a long search would find that a & b & !a is empty. Where *at is the complement of a meet of
 * conjuncts and more, it becomes that of the rest. */
static bool leave_out_known(tsl__exprs *x, tsl__expr *at, const tsl__expr *all, size_t n) {
  tsl__node not = tsl__node_at(x, *at), meet;
  if (not .kind != TSL__K_NOT || (meet = tsl__node_at(x, not .a)).kind != TSL__K_AND || n < 2)
    return false;
  tsl__expr few[FEW_CONJUNCTS];
  size_t kept = 0;
  if (meet.b > FEW_CONJUNCTS) return false;
  tsl__worked(x, n);
  for (uint32_t i = 0; i < meet.b; i++) {
    tsl__expr e = tsl__list_at(x, meet.a)[i];
    if (!is_said(x, e, all, n)) few[kept++] = e;
  }
  if (kept == meet.b) return false;
  *at = kept ? tsl__expr_not(x, tsl__and_n(x, few, kept)) : TSL__NONE;
  return true;
}

static tsl__expr intern_and(tsl__exprs *x, tsl__expr *at, size_t n) {
  if (n == 1) return at[0];
  tsl__node node = {.kind = TSL__K_AND, .b = (uint32_t)n};
  uint8_t all = 0xFF, any = 0;
  for (size_t i = 0; i < n; i++) {
    tsl__node c = tsl__node_at(x, at[i]);
    all &= c.flags;
    any |= c.flags;
    if (c.kind != TSL__K_NOT && c.shortest > node.shortest) node.shortest = c.shortest;
  }
  node.flags = (all & (TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH)) |
               (any & (TSL__FINITE | TSL__TEXTUAL | TSL__CHAR));
  if (!tsl__push_list(x, at, n, &node.a)) return TSL__NONE;
  tsl__expr e = tsl__intern_list(x, node, n);
  return tsl__search_empty(x, e) ? TSL__NONE : e;
}

#define LONG_MEET 16u /* conjuncts from which most pairs are complements */

/* Are they two complements of which no rule says anything? */
static bool stay_apart(const tsl__exprs *x, tsl__expr a, tsl__expr b) {
  tsl__node na = tsl__node_at(x, a);
  if (a == b || na.kind != TSL__K_NOT || na.a == TSL__EPS) return false;
  tsl__node nb = tsl__node_at(x, b);
  if (nb.kind != TSL__K_NOT || nb.a == TSL__EPS) return false;
  na = tsl__node_at(x, na.a);
  nb = tsl__node_at(x, nb.a);
  return na.kind == TSL__K_REPEAT
             ? nb.kind != TSL__K_LIT && nb.kind != TSL__K_STRSET
             : nb.kind != TSL__K_REPEAT || (na.kind != TSL__K_LIT && na.kind != TSL__K_STRSET);
}

/* The meet of conjuncts, none of which is an AND; works in `at`. */
static tsl__expr and_of(tsl__exprs *x, tsl__expr *at, size_t n) {
  bool changed = true;
  while (changed) { /* pairwise rules to a fixed point */
    changed = false;
    for (size_t i = 0; i < n && !changed; i++) {
      if (at[i] == TSL__NONE) return TSL__NONE;
      tsl__worked(x, n - i);
      if (n > 1 && tsl__is_anything(x, at[i]))
        at[i] = at[--n], changed = true;
      else
        changed = leave_out_known(x, &at[i], at, n);
      for (size_t j = i + 1; j < n && !changed; j++) {
        tsl__expr meet = TSL__NONE;
        tsl__bytes p, q;
        bool apply = at[i] == at[j];
        if (n > LONG_MEET && stay_apart(x, at[i], at[j])) continue;
        if (contradicts(x, at[i], at[j])) return TSL__NONE;
        if (apply)
          meet = at[i];
        else if (tsl__is_byte_set(x, at[i], &p) && tsl__is_byte_set(x, at[j], &q)) {
          for (int k = 0; k < 4; k++) p.w[k] &= q.w[k];
          meet = tsl__expr_bytes(x, &p), apply = true;
        } else if (at[i] == TSL__EPS || at[j] == TSL__EPS) {
          tsl__expr other = at[i] == TSL__EPS ? at[j] : at[i];
          meet = tsl__expr_nullable(x, other) ? TSL__EPS : TSL__NONE, apply = true;
        } else {
          apply = meet_of_repeats(x, at[i], at[j], &meet) ||
                  meet_of_literal(x, at[i], at[j], &meet) || meet_of_some(x, at[i], at[j], &meet) ||
                  meet_of_excluded(x, at[i], at[j], &meet);
        }
        if (!apply) continue;
        if (meet == TSL__NONE) return TSL__NONE;
        at[i] = meet;
        at[j] = at[--n];
        changed = true;
      }
    }
  }
  if (!drop_implied_lengths(x, at, &n) || !drop_excluded_lengths(x, at, &n) || too_long(x, at, n))
    return TSL__NONE;
  return intern_and(x, at, tsl__sort_unique(at, n));
}

static bool reject_calls(tsl__exprs *x, tsl__expr e) {
  if (!tsl__expr_has_calls(x, e)) return false;
  tsl__exprs_fail(x, TSL_ERR_UNSUPPORTED, "a rule or token under intersection or complement");
  return true;
}

/* All conjuncts of some expressions, one after another. Returns how many; `at` NULL: they are
 * counted only. */
static size_t conjuncts_of(const tsl__exprs *x, const tsl__expr *e, size_t n_e, tsl__expr *at) {
  size_t count = 0;
  for (size_t i = 0; i < n_e; i++) {
    tsl__node n = tsl__node_at(x, e[i]);
    const uint32_t *items = n.kind == TSL__K_AND ? tsl__list_at(x, n.a) : &e[i];
    uint32_t own = n.kind == TSL__K_AND ? n.b : 1;
    for (uint32_t k = 0; at && k < own; k++) at[count + k] = items[k];
    count += own;
  }
  return count;
}

tsl__expr tsl__and_n(tsl__exprs *x, const tsl__expr *e, size_t n_e) {
  tsl__expr few[FEW_CONJUNCTS], result = TSL__NONE;
  size_t n = conjuncts_of(x, e, n_e, NULL);
  tsl__expr *at = n <= FEW_CONJUNCTS ? few : tsl__alloc(&x->alloc, n * sizeof *at);
  if (!at) return tsl__expr_no_memory(x);
  conjuncts_of(x, e, n_e, at);
  if (x->status == TSL_OK) result = and_of(x, at, n);
  if (at != few) tsl__free(&x->alloc, at, n * sizeof *at);
  return result;
}

tsl__expr tsl__expr_and(tsl__exprs *x, tsl__expr a, tsl__expr b) {
  if (a == b || b == TSL__NONE) return b;
  if (a == TSL__NONE) return a;
  if (reject_calls(x, a) || reject_calls(x, b)) return TSL__NONE;
  tsl__expr pair[2] = {a, b};
  return tsl__and_n(x, pair, 2);
}

tsl__expr tsl__expr_and_some(tsl__exprs *x, tsl__expr a, tsl__expr b) {
  const bool searching = x->searching;
  x->searching = true;
  tsl__expr e = tsl__expr_and(x, a, b);
  x->searching = searching;
  if (e > TSL__EPS && e >= x->base) x->nodes.at[e - x->base].flags |= TSL__SEARCHED;
  return e;
}

tsl__expr tsl__expr_not(tsl__exprs *x, tsl__expr a) {
  if (reject_calls(x, a)) return TSL__NONE;
  tsl__node na = tsl__node_at(x, a);
  if (na.kind == TSL__K_NOT) return na.a;
  bool nullable = !(na.flags & TSL__NULLABLE_LOW);
  tsl__node n = {.kind = TSL__K_NOT, .a = a, .shortest = nullable ? 0 : 1};
  if (nullable) n.flags = TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH;
  /* the complement of a finite language is not empty */
  if (na.flags & TSL__FINITE) n.flags |= TSL__SEARCHED;
  tsl__expr e = tsl__intern(x, n);
  return tsl__search_empty(x, e) ? TSL__NONE : e;
}

/* A list that nobody else has: it is not looked for, nor is what is made of it. */
static tsl__expr text_but_alone(tsl__exprs *x, tsl__expr list) {
  uint8_t nullable =
      tsl__node_at(x, list).flags & TSL__NULLABLE_LOW ? 0 : TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH;
  tsl__node not = {
      .kind = TSL__K_NOT, .a = list, .flags = nullable | TSL__SEARCHED, .shortest = !nullable};
  tsl__expr pair[2] = {tsl__expr_text(x), tsl__append(x, not )};
  tsl__node both = {.kind = TSL__K_AND, .b = 2, .flags = nullable | TSL__TEXTUAL | TSL__SEARCHED};
  return pair[1] != TSL__NONE && tsl__push_list(x, pair, 2, &both.a) ? tsl__append(x, both)
                                                                     : TSL__NONE;
}

tsl__expr tsl__expr_text_not(tsl__exprs *x, tsl__expr a) {
  if (tsl__is_alone(x, a) && tsl__node_at(x, a).kind == TSL__K_STRSET) return text_but_alone(x, a);
  tsl__expr pair[2] = {tsl__expr_text(x), tsl__expr_not(x, a)};
  tsl__node n = tsl__node_at(x, a);
  bool plain = pair[1] &&
               (n.kind == TSL__K_LIT || n.kind == TSL__K_STRSET || n.kind == TSL__K_KEYS) &&
               x->status == TSL_OK;
  if (!plain) return tsl__expr_and(x, pair[0], pair[1]);
  /* nothing more is to be said of such a pair */
  return intern_and(x, pair, tsl__sort_unique(pair, 2));
}
