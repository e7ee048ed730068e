/* alt.c - alternatives, and the sets of characters that are made of them.
 *
 * Problem   item "," rest | item "]" would be two stacks that read the same item. Each byte can add
 *           an alternative to a derivative, unless alternatives that are equal become one.
 * Idea      Each alternative is a branch: a head and a tail. Passes over the list of branches join
 *           what they can, in this order:
 *             merge_strings      JSON strings with the same tail: one string of either text
 *             absorb_into_text   any text swallows alternatives that are texts
 *             merge_loops        r{1,3}·t | r{2,5}·t is r{1,5}·t
 *             merge_byte_heads   [a]·t | [b]·t is [ab]·t
 *             factor_heads       a·x | a·y is a·(x|y), and so on in the tails
 *           What is left is sorted by number, so that the same alternatives are one node.
 * Calls     A call at the head counts as a head too: item "," rest | item "]" opens one frame.
 * Example   c·a·t | c·b·t | d, with a, b, c, d bytes and t a rule. The tails a·t, b·t and ε
 *           differ, so merge_byte_heads finds nothing. factor_heads finds the head c twice, with
 *           the tails a·t and b·t. These tails become branches in their turn, with the same tail
 *           t. So merge_byte_heads makes [ab]·t of them. The result is c·[ab]·t | d.
 * Limits    It recurses into the tails; past FACTOR_DEPTH_MAX common heads the alternatives stay
 *           as they are, which is slower but equal.
 * Sets      A set of code points becomes sequences of byte ranges: UTF-8 of U+0080 to U+07FF is
 *           [C2-DF][80-BF]. Sets that were split before are found again by their ranges.
 * Cost      Sorting the branches, and some nodes for each. Two branches that have neither head nor
 *           tail in common become one node without the passes.
 * Tested by tests/expr/test_expr.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/charset.h"
#include "compiler/expr/node.h"

#include <stdlib.h>

#define FACTOR_DEPTH_MAX 64
#define FEW 16u /* alternatives that need no memory while one is made of them */

/* ---- alternation ----------------------------------------------------------------------------- */

typedef struct branch {
  tsl__expr head, tail;
} branch;
typedef TSL__VEC(branch) branches;

bool tsl__is_byte_set(const tsl__exprs *x, tsl__expr e, tsl__bytes *set) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind == TSL__K_BYTES) return *set = *tsl__set_at(x, n.a), true;
  if (n.kind != TSL__K_LIT || n.b != 1) return false;
  memset(set, 0, sizeof *set);
  tsl__bytes_add(set, *tsl__literal_at(x, n.a));
  return true;
}

static int by_tail(const void *p, const void *q) {
  const branch *a = p, *b = q;
  return a->tail != b->tail   ? (a->tail < b->tail ? -1 : 1)
         : a->head != b->head ? (a->head < b->head ? -1 : 1)
                              : 0;
}
static int by_head(const void *p, const void *q) {
  const branch *a = p, *b = q;
  return a->head != b->head   ? (a->head < b->head ? -1 : 1)
         : a->tail != b->tail ? (a->tail < b->tail ? -1 : 1)
                              : 0;
}

static branch as_branch(const tsl__node *n, tsl__expr e) {
  return n->kind == TSL__K_SEQ ? (branch){n->a, n->b} : (branch){e, TSL__EPS};
}

/* Sort small arrays by insertion: the usual case is a handful of branches. */
static void sort_branches(branch *at, size_t n, int (*order)(const void *, const void *)) {
  if (n > 16) {
    qsort(at, n, sizeof *at, order);
    return;
  }
  for (size_t i = 1; i < n; i++)
    for (size_t j = i; j > 0 && order(&at[j - 1], &at[j]) > 0; j--) {
      branch t = at[j];
      at[j] = at[j - 1];
      at[j - 1] = t;
    }
}

/* Branches with the same tail whose heads are byte sets become one. */
static void merge_byte_heads(tsl__exprs *x, branches *bs) {
  sort_branches(bs->at, bs->n, by_tail);
  size_t out = 0;
  for (size_t i = 0; i < bs->n;) {
    tsl__expr tail = bs->at[i].tail;
    tsl__bytes all = {{0}}, one;
    size_t merged = 0, j = i, first = 0;
    for (; j < bs->n && bs->at[j].tail == tail; j++) {
      if (!tsl__is_byte_set(x, bs->at[j].head, &one)) {
        bs->at[out++] = bs->at[j];
        continue;
      }
      tsl__bytes_or(&all, &one);
      if (merged++ == 0) first = out++, bs->at[first] = bs->at[j];
    }
    if (merged > 1) bs->at[first].head = tsl__expr_bytes(x, &all);
    i = j;
  }
  bs->n = out;
}

static tsl__expr alt_of_branches(tsl__exprs *x, branches *bs, unsigned depth);

/* Of sorted branches each once. */
static void drop_equal(branches *bs) {
  size_t out = 0;
  for (size_t i = 0; i < bs->n; i++)
    if (!i || by_head(&bs->at[i - 1], &bs->at[i]) != 0) bs->at[out++] = bs->at[i];
  bs->n = out;
}

/* Branches with the same head become head·(tails). */
static void factor_heads(tsl__exprs *x, branches *bs, unsigned depth) {
  sort_branches(bs->at, bs->n, by_head);
  drop_equal(bs);
  size_t out = 0;
  for (size_t i = 0; i < bs->n;) {
    size_t j = i + 1;
    while (j < bs->n && bs->at[j].head == bs->at[i].head) j++;
    branch b = bs->at[i];
    if (j - i > 1 && depth < FACTOR_DEPTH_MAX) {
      branches tails = {0};
      bool eps = false;
      for (size_t k = i; k < j; k++) {
        tsl__expr t = bs->at[k].tail;
        tsl__node n = tsl__node_at(x, t);
        if (t == TSL__EPS) {
          eps = true;
          continue;
        }
        const uint32_t *children = &t;
        uint32_t count = 1;
        if (n.kind == TSL__K_ALT) children = tsl__list_at(x, n.a), count = n.b;
        for (uint32_t c = 0; c < count; c++) {
          if (children[c] == TSL__EPS) {
            eps = true;
            continue;
          }
          tsl__node m = tsl__node_at(x, children[c]);
          branch tb = as_branch(&m, children[c]);
          if (!tsl__vec_push(&x->alloc, &tails, tb)) tsl__expr_no_memory(x);
        }
      }
      if (eps && x->status == TSL_OK) {
        branch e = {TSL__EPS, TSL__EPS};
        if (!tsl__vec_push(&x->alloc, &tails, e)) tsl__expr_no_memory(x);
      }
      b.tail = alt_of_branches(x, &tails, depth + 1);
      tsl__vec_free(&x->alloc, &tails);
      bs->at[out++] = b;
    } else {
      for (size_t k = i; k < j; k++) bs->at[out++] = bs->at[k];
    }
    i = j;
  }
  bs->n = out;
}

static tsl__node alt_node(const tsl__exprs *x, const tsl__expr *children, size_t n) {
  tsl__node node = {.kind = TSL__K_ALT, .b = (uint32_t)n, .shortest = TSL__INF};
  uint8_t all = 0xFF, any = 0;
  for (size_t i = 0; i < n; i++) {
    tsl__node c = tsl__node_at(x, children[i]);
    all &= c.flags;
    any |= c.flags;
    if (c.shortest < node.shortest) node.shortest = c.shortest;
    if (c.loop) node.loop = c.loop;
    node.traits |= c.traits & (TSL__EXITS | TSL__OVERLAPS | TSL__GROUPS);
  }
  node.flags =
      (any & (TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH | TSL__CALLS | TSL__COUNTS | TSL__SEARCHED)) |
      (all & (TSL__FINITE | TSL__CHAR | TSL__TEXTUAL));
  return node;
}

static tsl__expr intern_alt(tsl__exprs *x, tsl__expr *children, size_t n) {
  if (n == 0) return TSL__NONE;
  if (n == 1) return children[0];
  tsl__node node = alt_node(x, children, n);
  if (!tsl__push_list(x, children, n, &node.a)) return TSL__NONE;
  return tsl__intern_list(x, node, n);
}

/* text | r = text for every r whose members are texts. This keeps unanchored searches and residuals
 * of look-ahead from growing. */
static void absorb_into_text(tsl__exprs *x, branches *bs) {
  size_t i = 0, out = 0;
  while (i < bs->n && !(bs->at[i].head == x->text && bs->at[i].tail == TSL__EPS)) i++;
  if (!x->text || i == bs->n) return;
  const branch text = bs->at[i];
  bs->at[i] = bs->at[0];
  bs->at[out++] = text;
  for (i = 1; i < bs->n; i++)
    if (!(tsl__node_at(x, bs->at[i].head).flags & tsl__node_at(x, bs->at[i].tail).flags &
          TSL__TEXTUAL))
      bs->at[out++] = bs->at[i];
  bs->n = out;
}

/* Are there strings that are no alternatives of one text? Each set of names has a frame of its own.
 * What follows CASES depends on its text. */
static bool stays_apart(const tsl__exprs *x, tsl__expr text) {
  uint8_t kind = tsl__node_at(x, text).kind;
  return kind == TSL__K_KEYS || kind == TSL__K_CASES;
}

/* JSTR(a)·t | JSTR(b)·t = JSTR(a | b)·t. */
static void merge_strings(tsl__exprs *x, branches *bs) {
  size_t out = 0;
  for (size_t i = 0; i < bs->n; i++) {
    tsl__node n = tsl__node_at(x, bs->at[i].head);
    size_t k = out;
    if (n.kind == TSL__K_JSTR && !n.loop && !stays_apart(x, n.a))
      for (k = 0; k < out; k++) {
        tsl__node m = tsl__node_at(x, bs->at[k].head);
        if (m.kind != TSL__K_JSTR || m.loop || m.d != n.d || bs->at[k].tail != bs->at[i].tail ||
            stays_apart(x, m.a))
          continue;
        bs->at[k].head = tsl__expr_json_string(x, tsl__expr_alt(x, m.a, n.a));
        break;
      }
    if (k == out) bs->at[out++] = bs->at[i];
  }
  bs->n = out;
}

/* A branch that begins with a loop. */
typedef struct loop_branch {
  tsl__expr body, tail;
  uint32_t min, max;
} loop_branch;

static int by_loop(const void *p, const void *q) {
  const loop_branch *a = p, *b = q;
  if (a->tail != b->tail) return a->tail < b->tail ? -1 : 1;
  if (a->body != b->body) return a->body < b->body ? -1 : 1;
  return a->min != b->min ? (a->min < b->min ? -1 : 1) : a->max < b->max ? -1 : a->max > b->max;
}

static bool is_loop(const tsl__exprs *x, tsl__expr e) {
  return tsl__node_at(x, e).kind == TSL__K_REPEAT;
}

/* r{a,b}·t | r{c,d}·t = r{min(a,c),max(b,d)}·t if no number between is missing. Else a loop in a
 * loop that counts down, as under `and`, would be one alternative more with each iteration. */
static void merge_loops(tsl__exprs *x, branches *bs) {
  TSL__VEC(loop_branch) loops = {0};
  size_t count = 0, out = 0;
  for (size_t i = 0; i < bs->n && count < 2; i++) count += is_loop(x, bs->at[i].head);
  if (count < 2) return;
  for (size_t i = 0; i < bs->n; i++) {
    tsl__node n = tsl__node_at(x, bs->at[i].head);
    loop_branch loop = {n.a, bs->at[i].tail, n.b, n.c};
    if (n.kind != TSL__K_REPEAT)
      bs->at[out++] = bs->at[i];
    else if (!tsl__vec_push(&x->alloc, &loops, loop))
      tsl__expr_no_memory(x);
  }
  if (loops.n) qsort(loops.at, loops.n, sizeof *loops.at, by_loop);
  for (size_t i = 0; i < loops.n;) {
    loop_branch all = loops.at[i++];
    for (; i < loops.n && loops.at[i].tail == all.tail && loops.at[i].body == all.body &&
           loops.at[i].min <= tsl__add(all.max, 1);
         i++)
      if (loops.at[i].max > all.max) all.max = loops.at[i].max;
    bs->at[out++] = (branch){tsl__expr_repeat(x, all.body, all.min, all.max), all.tail};
  }
  bs->n = out;
  tsl__vec_free(&x->alloc, &loops);
}

#define WITHIN_BRANCHES 12u /* of so many each is compared with each */
#define WITHIN_PARTS 8u     /* that may be missing, before a loop that is sought */
#define WITHIN_LOOKS 2048u  /* at parts, for one alternative */
#define LOOKS_A_STEP 8u

/* May the first part of a branch be missing, so that the branch has what its tail has? */
static bool may_skip(const tsl__exprs *x, branch b) {
  return (tsl__node_at(x, b.head).flags & (TSL__NULLABLE_LOW | TSL__CALLS)) == TSL__NULLABLE_LOW;
}

/* Is a branch, `of`, part of p: of what p has where its first parts are missing? a? b? c has b? c.
 * x? b{0,9} has b{0,7}. What follows has a smaller number, so few parts are looked at. False if
 * *looks of them are not enough. */
static bool is_within(const tsl__exprs *x, branch of, branch p, unsigned *looks) {
  if (p.tail <= of.tail || !may_skip(x, p)) return false;
  tsl__node loop = tsl__node_at(x, of.head);
  bool counted = loop.kind == TSL__K_REPEAT && loop.c != TSL__INF;
  if (loop.loop) return false;
  for (unsigned i = 0; p.tail > of.tail && may_skip(x, p) && *looks; i++) {
    tsl__node rest = tsl__node_at(x, p.tail);
    p = as_branch(&rest, p.tail);
    --*looks;
    if (p.tail != of.tail) continue;
    tsl__node m = tsl__node_at(x, p.head);
    return p.head == of.head || (counted && i < WITHIN_PARTS && m.kind == TSL__K_REPEAT &&
                                 m.a == loop.a && m.b <= loop.b && m.c >= loop.c);
  }
  return false;
}

/* a? b | b = a? b. Else parts that may be missing would be alternatives one of another, and counts
 * beside one another would be one alternative more with each character. */
static void drop_within(tsl__exprs *x, branches *bs) {
  unsigned looks = WITHIN_LOOKS;
  for (size_t k = 0; k < bs->n && bs->n <= WITHIN_BRANCHES && looks; k++) {
    if (!may_skip(x, bs->at[k])) continue;
    branch p = bs->at[k];
    size_t out = 0;
    for (size_t i = 0; i < bs->n; i++) {
      if (i == k)
        k = out;
      else if (is_within(x, bs->at[i], p, &looks))
        continue;
      bs->at[out++] = bs->at[i];
    }
    bs->n = out;
  }
  tsl__worked(x, (WITHIN_LOOKS - looks) / LOOKS_A_STEP);
}

static tsl__expr alt_of_branches(tsl__exprs *x, branches *bs, unsigned depth) {
  if (x->status != TSL_OK) return TSL__NONE;
  tsl__worked(x, 8 * bs->n); /* each may become a node */
  if (bs->n > 1) merge_strings(x, bs);
  if (bs->n > 1) absorb_into_text(x, bs);
  if (bs->n > 1) merge_loops(x, bs);
  if (bs->n > 1) drop_within(x, bs);
  if (bs->n > 1) merge_byte_heads(x, bs);
  if (bs->n > 1) factor_heads(x, bs, depth);
  tsl__expr few[FEW + 1], *children = few, result = TSL__NONE;
  size_t n = 0, room = bs->n + 1;
  bool eps = false, nullable = false;
  if (bs->n > FEW && !(children = tsl__alloc(&x->alloc, room * sizeof *children)))
    return tsl__expr_no_memory(x);
  for (size_t i = 0; i < bs->n; i++) {
    tsl__expr e = tsl__expr_seq(x, bs->at[i].head, bs->at[i].tail);
    if (e == TSL__NONE) continue;
    if (e == TSL__EPS) {
      eps = true;
      continue;
    }
    nullable |= (tsl__node_at(x, e).flags & TSL__NULLABLE_LOW) != 0;
    children[n++] = e;
  }
  if (eps && !nullable) children[n++] = TSL__EPS;
  if (x->status == TSL_OK) {
    n = tsl__sort_unique(children, n);
    result = n ? intern_alt(x, children, n) : eps ? TSL__EPS : TSL__NONE;
  }
  if (children != few) tsl__free(&x->alloc, children, room * sizeof *children);
  return result;
}

static bool add_branch(tsl__exprs *x, branches *bs, tsl__expr e) {
  if (e == TSL__NONE) return true;
  tsl__node n = tsl__node_at(x, e);
  branch b = as_branch(&n, e);
  if (e == TSL__EPS) b.head = TSL__EPS;
  return tsl__vec_push(&x->alloc, bs, b) ? true : (tsl__expr_no_memory(x), false);
}

/* Have the two, none of which is an alternative itself, nothing to share? */
static bool stand_apart(const tsl__exprs *x, tsl__expr a, tsl__expr b) {
  tsl__node m = tsl__node_at(x, a), n = tsl__node_at(x, b);
  if (m.kind == TSL__K_ALT || n.kind == TSL__K_ALT || a <= TSL__EPS || b <= TSL__EPS ||
      a == x->text || b == x->text)
    return false;
  branch p = as_branch(&m, a), q = as_branch(&n, b);
  unsigned looks = WITHIN_PARTS; /* more are looked at where it is put together */
  return p.head != q.head && p.tail != q.tail && !is_within(x, p, q, &looks) &&
         !is_within(x, q, p, &looks) && looks;
}

tsl__expr tsl__expr_alt_n(tsl__exprs *x, const tsl__expr *e, size_t n) {
  branch few[FEW];
  branches bs = {0};
  size_t count = 0;
  if (n == 1 && x->status == TSL_OK) return e[0];
  if (n == 2 && x->status == TSL_OK && stand_apart(x, e[0], e[1])) { /* most pairs do */
    tsl__expr pair[2] = {e[0] < e[1] ? e[0] : e[1], e[0] < e[1] ? e[1] : e[0]};
    tsl__worked(x, 8 * 2);
    return intern_alt(x, pair, 2);
  }
  for (size_t i = 0; i < n; i++) {
    tsl__node m = tsl__node_at(x, e[i]);
    count += m.kind == TSL__K_ALT ? m.b : 1;
  }
  if (count <= FEW) bs.at = few, bs.cap = FEW;
  for (size_t i = 0; i < n; i++) {
    tsl__node m = tsl__node_at(x, e[i]);
    if (m.kind == TSL__K_ALT) {
      const uint32_t *children = tsl__list_at(x, m.a);
      for (uint32_t k = 0; k < m.b; k++) add_branch(x, &bs, children[k]);
    } else {
      add_branch(x, &bs, e[i]);
    }
  }
  tsl__expr result = alt_of_branches(x, &bs, 0);
  if (bs.at != few) tsl__vec_free(&x->alloc, &bs);
  return result;
}

tsl__expr tsl__expr_alt(tsl__exprs *x, tsl__expr a, tsl__expr b) {
  if (a == b || b == TSL__NONE) return a;
  if (a == TSL__NONE) return b;
  tsl__expr pair[2] = {a, b};
  return tsl__expr_alt_n(x, pair, 2);
}

tsl__expr tsl__expr_alt_alone(tsl__exprs *x, tsl__expr a, tsl__expr b) {
  if (a == TSL__NONE || x->status != TSL_OK || !tsl__is_alone(x, b) || !stand_apart(x, a, b))
    return tsl__expr_alt(x, a, b);
  tsl__expr pair[2] = {a < b ? a : b, a < b ? b : a};
  tsl__node node = alt_node(x, pair, 2);
  tsl__worked(x, 8 * 2);
  return tsl__push_list(x, pair, 2, &node.a) ? tsl__append(x, node) : TSL__NONE;
}

/* ---- code points ----------------------------------------------------------------------------- */

/* Bytes lo[i] … hi[i] in a row. */
static tsl__expr byte_ranges(tsl__exprs *x, const uint8_t *lo, const uint8_t *hi, unsigned n) {
  tsl__expr e = TSL__EPS;
  while (n-- > 0) e = tsl__expr_seq(x, tsl__expr_range(x, lo[n], hi[n]), e);
  return e;
}

/* The UTF-8 of lo … hi, both of the same length in bytes. The range is split until all bytes but
 * the first differing one run over their whole range. */
static bool utf8_split(tsl__exprs *x, branches *out, uint32_t lo, uint32_t hi) {
  uint8_t a[4], b[4];
  unsigned n = tsl__utf8_encode(lo, a);
  tsl__utf8_encode(hi, b);
  for (unsigned i = 1; i < n; i++) {
    uint32_t low_bits = ((uint32_t)1 << (6 * i)) - 1;
    if ((lo & ~low_bits) == (hi & ~low_bits)) continue;
    if (lo & low_bits)
      return utf8_split(x, out, lo, lo | low_bits) && utf8_split(x, out, (lo | low_bits) + 1, hi);
    if ((hi & low_bits) != low_bits)
      return utf8_split(x, out, lo, (hi & ~low_bits) - 1) && utf8_split(x, out, hi & ~low_bits, hi);
  }
  return add_branch(x, out, byte_ranges(x, a, b, n));
}

static void add_code_points(tsl__exprs *x, branches *out, uint32_t lo, uint32_t hi) {
  static const uint32_t first[] = {0, 0x80, 0x800, 0xE000, 0x10000},
                        last[] = {0x7F, 0x7FF, 0xD7FF, 0xFFFF, 0x10FFFF};
  for (int i = 0; i < 5; i++) {
    uint32_t a = lo > first[i] ? lo : first[i], b = hi < last[i] ? hi : last[i];
    if (a <= b) utf8_split(x, out, a, b);
  }
}

/* Note on a node that lies in x itself what the structure does not show. */
static tsl__expr mark(tsl__exprs *x, tsl__expr e, uint8_t flags) {
  if (e >= x->base && e > TSL__EPS && x->status == TSL_OK) x->nodes.at[e - x->base].flags |= flags;
  return e;
}

/* The characters that begin with the byte 0xC2 + lead. */
static void characters_of_lead(unsigned lead, uint32_t *lo, uint32_t *hi) {
  uint32_t b = 0xC2 + lead;
  if (b < 0xE0)
    *lo = (b & 0x1F) << 6, *hi = *lo + 0x3F;
  else if (b < 0xF0)
    *lo = b == 0xE0 ? 0x800 : (b & 0xF) << 12, *hi = b == 0xED ? 0xD7FF : *lo | 0xFFF;
  else
    *lo = b == 0xF0 ? 0x10000 : (b & 7) << 18, *hi = b == 0xF4 ? TSL__CP_MAX : *lo | 0x3FFFF;
}

static void note_leads(tsl__nonascii_class *w) {
  for (unsigned lead = 0, k = 0; lead < TSL__LEADS; lead++) {
    uint32_t lo, hi, has = 0;
    characters_of_lead(lead, &lo, &hi);
    while (k < w->count && w->pairs[2 * k + 1] < lo) k++;
    for (unsigned i = k; i < w->count && w->pairs[2 * i] <= hi; i++) {
      uint32_t from = w->pairs[2 * i], to = w->pairs[2 * i + 1];
      has += (to < hi ? to : hi) - (from > lo ? from : lo) + 1;
    }
    if (has == hi - lo + 1)
      w->all |= (uint64_t)1 << lead;
    else if (has)
      w->some |= (uint64_t)1 << lead;
  }
}

/* What a set has of ASCII, and pairs past it: lo, hi, lo, hi …, without surrogates. */
typedef struct parts {
  tsl__bytes ascii;
  TSL__VEC(uint32_t) pairs;
} parts;

static bool parts_of(tsl__exprs *x, const tsl__charset *set, parts *out) {
  static const uint32_t nonascii[][2] = {{0x80, 0xD7FF}, {0xE000, TSL__CP_MAX}};
  for (size_t i = 0; i < set->ranges.n; i++) {
    const tsl__range *r = &set->ranges.at[i];
    if (r->lo < 0x80)
      tsl__bytes_add_range(&out->ascii, (uint8_t)r->lo, r->hi < 0x80 ? (uint8_t)r->hi : 0x7F);
    for (int p = 0; p < 2; p++) {
      uint32_t lo = r->lo > nonascii[p][0] ? r->lo : nonascii[p][0],
               hi = r->hi < nonascii[p][1] ? r->hi : nonascii[p][1];
      if (lo <= hi && (!tsl__vec_push(&x->alloc, &out->pairs, lo) ||
                       !tsl__vec_push(&x->alloc, &out->pairs, hi)))
        return false;
    }
  }
  return true;
}

static bool has_all_nonascii(const parts *p) {
  const uint32_t *at = p->pairs.at;
  return p->pairs.n == 4 && at[0] == 0x80 && at[1] == 0xD7FF && at[2] == 0xE000 &&
         at[3] == TSL__CP_MAX;
}

/* The expression of a set that was made before: to split one into UTF-8 costs
 * microseconds, and patterns have few different ones. */
static tsl__expr known_set(const tsl__exprs *x, const parts *p) {
  for (; x; x = x->parent)
    for (size_t i = 0; i < x->nonascii_sets.n; i++) {
      const tsl__nonascii_class *w = &x->nonascii_sets.at[i];
      if (w->count * 2 == p->pairs.n && !memcmp(w->ascii, p->ascii.w, sizeof w->ascii) &&
          !memcmp(w->pairs, p->pairs.at, p->pairs.n * sizeof *w->pairs))
        return w->e;
    }
  return TSL__NONE;
}

/* Notes what e has past ASCII, which is neither nothing nor everything. */
static bool note_nonascii(tsl__exprs *x, tsl__expr e, const parts *p) {
  if (e == TSL__NONE || tsl__nonascii_class_of(x, e)) return true;
  tsl__nonascii_class w = {
      .e = e, .count = (uint32_t)p->pairs.n / 2, .ascii = {p->ascii.w[0], p->ascii.w[1]}};
  if (!(w.pairs = tsl__arena_copy(&x->arena, p->pairs.at, p->pairs.n * sizeof *p->pairs.at)))
    return false;
  note_leads(&w);
  return tsl__vec_push(&x->alloc, &x->nonascii_sets, w);
}

static tsl__expr split_set(tsl__exprs *x, const tsl__charset *set) {
  branches bs = {0};
  for (size_t i = 0; i < set->ranges.n; i++)
    add_code_points(x, &bs, set->ranges.at[i].lo, set->ranges.at[i].hi);
  tsl__expr e = alt_of_branches(x, &bs, 0);
  tsl__vec_free(&x->alloc, &bs);
  return mark(x, e, TSL__CHAR | TSL__TEXTUAL);
}

tsl__expr tsl__expr_charset(tsl__exprs *x, const tsl__charset *set) {
  parts p = {0};
  bool fine = parts_of(x, set, &p), noted = fine && p.pairs.n && !has_all_nonascii(&p);
  tsl__expr e = noted ? known_set(x, &p) : TSL__NONE;
  if (e == TSL__NONE && fine) {
    e = split_set(x, set);
    fine = !noted || note_nonascii(x, e, &p);
  }
  tsl__vec_free(&x->alloc, &p.pairs);
  return fine ? e : tsl__expr_no_memory(x);
}

const tsl__nonascii_class *tsl__nonascii_class_of(const tsl__exprs *x, tsl__expr e) {
  for (; x; x = x->parent)
    for (size_t i = 0; i < x->nonascii_sets.n; i++)
      if (x->nonascii_sets.at[i].e == e) return &x->nonascii_sets.at[i];
  return NULL;
}

tsl__expr tsl__expr_any_char(tsl__exprs *x) {
  if (!x->any_char) {
    tsl__range all = {0, TSL__CP_MAX};
    tsl__charset set = {.ranges = {&all, 1, 1}};
    x->any_char = tsl__expr_charset(x, &set);
  }
  return x->any_char;
}

tsl__expr tsl__expr_text(tsl__exprs *x) {
  if (!x->text) x->text = tsl__expr_star(x, tsl__expr_any_char(x));
  return x->text;
}
