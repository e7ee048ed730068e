/* ast.c - making nodes of a regular expression. See ast.h.
 *
 * Idea      Each constructor works out how many code points a match takes (least and most), and
 *           whether the node is a plain regular language. No later pass has to walk down for it.
 * Example   a{2,3}|b: the set a takes 1 to 1 code points, the repeat 2 to 3. The set b takes 1 to
 *           1, the alternatives 1 to 3. All four are plain. With (?=c) behind it the sequence is
 *           not, as a look-ahead is no plain language.
 * Fails     A node that cannot be made is NULL. The tree keeps the first error, with its offset in
 *           the pattern. Reasons are memory, too many nodes, and what bounds the whole compile.
 * Cost      Linear in the children; sets are lists of ranges in order, and all operations on them
 *           are merges.
 * Tested by tests/regex/test_regex.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/regex/ast.h"

#define NODE_WORK 4u

/* The first error counts: later ones follow from it. */
tsl__rx *tsl__rx_fail(tsl__rx_tree *t, tsl_status status, size_t offset, const char *message) {
  if (t->status == TSL_OK) {
    t->status = status;
    if (offset > t->length) offset = t->length;
    tsl__fail_at(t->error, status, t->pattern, t->length, offset, "%s", message);
  }
  return NULL;
}

static void *take(tsl__rx_tree *t, size_t size) {
  void *p = tsl__arena_alloc(t->arena, size);
  if (!p) tsl__rx_fail(t, TSL_ERR_NO_MEMORY, 0, "out of memory");
  return p;
}

/* `parts`: children or ranges that come with it. */
static tsl__rx *make(tsl__rx_tree *t, tsl__rx_kind kind, uint32_t offset, size_t parts) {
  tsl__rx *node;
  if (t->nodes >= TSL__REGEX_MAX_NODES)
    return tsl__rx_fail(t, TSL_ERR_LIMIT, offset,
                        "the regular expression is too large (more than 262144 nodes)");
  tsl__exprs_hold(t->x, t->held + t->arena->total);
  tsl__exprs_work(t->x, NODE_WORK + parts);
  if (tsl__exprs_status(t->x) != TSL_OK)
    return tsl__rx_fail(t, tsl__exprs_status(t->x), offset, tsl__exprs_why(t->x));
  node = take(t, sizeof *node);
  if (!node) return NULL;
  t->nodes++;
  memset(node, 0, sizeof *node);
  node->kind = (uint8_t)kind;
  node->offset = offset;
  return node;
}

/* Lengths stop at TSL__INF, which means "without bound". */
static uint32_t multiply(uint32_t a, uint32_t times) {
  if (!a || !times) return 0;
  return a == TSL__INF || times == TSL__INF || a > TSL__INF / times ? TSL__INF : a * times;
}

/* An empty set matches nothing: its least length is without bound, so that it loses in every
 * choice. */
tsl__rx *tsl__rx_set(tsl__rx_tree *t, uint32_t offset, const tsl__range *ranges, size_t n) {
  tsl__rx *node = make(t, TSL__RX_SET, offset, n);
  tsl__range *copy = node ? take(t, (n ? n : 1) * sizeof *copy) : NULL;
  if (!copy) return NULL;
  if (n) memcpy(copy, ranges, n * sizeof *copy);
  node->n = (uint32_t)n;
  node->u.ranges = copy;
  node->plain = true;
  node->least = n ? 1 : TSL__INF;
  node->most = n ? 1 : 0;
  return node;
}

/* A node with n children, copied. */
static tsl__rx *parent(tsl__rx_tree *t, tsl__rx_kind kind, uint32_t offset, tsl__rx *const *child,
                       size_t n) {
  tsl__rx *node = make(t, kind, offset, n);
  if (!node) return NULL;
  node->u.child = take(t, (n ? n : 1) * sizeof *child);
  if (!node->u.child) return NULL;
  if (n) memcpy(node->u.child, child, n * sizeof *child);
  node->n = (uint32_t)n;
  node->plain = true;
  for (size_t i = 0; i < n; i++) node->plain &= child[i]->plain;
  return node;
}

tsl__rx *tsl__rx_list(tsl__rx_tree *t, tsl__rx_kind kind, uint32_t offset, tsl__rx *const *child,
                      size_t n) {
  tsl__rx *node;
  if (n == 1) return child[0];
  node = parent(t, kind, offset, child, n);
  if (!node) return NULL;
  if (kind == TSL__RX_SEQ) {
    for (size_t i = 0; i < n; i++) {
      node->least = tsl__add(node->least, child[i]->least);
      node->most = tsl__add(node->most, child[i]->most);
    }
  } else {
    node->least = TSL__INF;
    for (size_t i = 0; i < n; i++) {
      if (child[i]->least < node->least) node->least = child[i]->least;
      if (child[i]->most > node->most) node->most = child[i]->most;
    }
  }
  return node;
}

tsl__rx *tsl__rx_repeat(tsl__rx_tree *t, uint32_t offset, tsl__rx *child, uint32_t min,
                        uint32_t max) {
  tsl__rx *node;
  if (min == 1 && max == 1) return child;
  node = parent(t, TSL__RX_REPEAT, offset, &child, 1);
  if (!node) return NULL;
  node->min = min;
  node->max = max;
  node->least = multiply(child->least, min);
  node->most = multiply(child->most, max);
  return node;
}

/* A look takes no code point. `looks` is set only by looks for something: (?![^]) is the end of the
 * text, which is easier. */
tsl__rx *tsl__rx_look(tsl__rx_tree *t, uint32_t offset, bool ahead, bool negative, tsl__rx *child) {
  tsl__rx *node = parent(t, TSL__RX_LOOK, offset, &child, 1);
  if (!node) return NULL;
  node->ahead = ahead;
  node->negative = negative;
  node->plain = false;
  if (child->kind != TSL__RX_SET ||
      !tsl__rx_ranges_equal((tsl__rx_ranges){child->u.ranges, child->n}, tsl__rx_ranges_all()))
    t->looks = true;
  return node;
}

tsl__rx *tsl__rx_group(tsl__rx_tree *t, uint32_t offset, uint32_t number, tsl__rx *child) {
  tsl__rx *node = parent(t, TSL__RX_GROUP, offset, &child, 1);
  if (!node) return NULL;
  node->min = number;
  node->least = child->least;
  node->most = child->most;
  return node;
}

/* What a group will have matched is not known here: from nothing to anything. */
tsl__rx *tsl__rx_back(tsl__rx_tree *t, uint32_t offset, uint32_t number) {
  tsl__rx *node = parent(t, TSL__RX_BACK, offset, NULL, 0);
  if (!node) return NULL;
  node->min = number;
  node->most = TSL__INF;
  node->plain = false;
  t->backs++;
  return node;
}

/* ---- sets as values -------------------------------------------------------------------------- */

tsl__rx_ranges tsl__rx_ranges_all(void) {
  static const tsl__range all = {0, TSL__CP_MAX};
  return (tsl__rx_ranges){&all, 1};
}

bool tsl__rx_ranges_equal(tsl__rx_ranges a, tsl__rx_ranges b) {
  return a.n == b.n && (!a.n || !memcmp(a.at, b.at, a.n * sizeof *a.at));
}

/* The gaps between the ranges: {b-d, x} becomes {0-a, e-w, y-10FFFF}. */
tsl__rx_ranges tsl__rx_ranges_not(tsl__rx_tree *t, tsl__rx_ranges a) {
  tsl__range *out = take(t, (a.n + 1) * sizeof *out);
  uint32_t n = 0, from = 0;
  if (!out) return (tsl__rx_ranges){NULL, 0};
  for (uint32_t i = 0; i < a.n; i++) {
    if (a.at[i].lo > from) out[n++] = (tsl__range){from, a.at[i].lo - 1};
    from = a.at[i].hi + 1;
  }
  if (from <= TSL__CP_MAX) out[n++] = (tsl__range){from, TSL__CP_MAX};
  return (tsl__rx_ranges){out, n};
}

/* Both lists are walked at once; the one whose range ends first goes on. */
tsl__rx_ranges tsl__rx_ranges_and(tsl__rx_tree *t, tsl__rx_ranges a, tsl__rx_ranges b) {
  tsl__range *out = take(t, (a.n + b.n + 1) * sizeof *out);
  uint32_t n = 0;
  if (!out) return (tsl__rx_ranges){NULL, 0};
  for (uint32_t i = 0, j = 0; i < a.n && j < b.n;) {
    uint32_t lo = a.at[i].lo > b.at[j].lo ? a.at[i].lo : b.at[j].lo,
             hi = a.at[i].hi < b.at[j].hi ? a.at[i].hi : b.at[j].hi;
    if (lo <= hi) out[n++] = (tsl__range){lo, hi};
    if (a.at[i].hi < b.at[j].hi)
      i++;
    else
      j++;
  }
  return (tsl__rx_ranges){out, n};
}

/* The range that begins first is next, and is joined to the last one if they meet or touch. */
tsl__rx_ranges tsl__rx_ranges_or(tsl__rx_tree *t, tsl__rx_ranges a, tsl__rx_ranges b) {
  tsl__range *out = take(t, (a.n + b.n + 1) * sizeof *out);
  uint32_t n = 0;
  if (!out) return (tsl__rx_ranges){NULL, 0};
  for (uint32_t i = 0, j = 0; i < a.n || j < b.n;) {
    tsl__range next = j == b.n || (i < a.n && a.at[i].lo <= b.at[j].lo) ? a.at[i++] : b.at[j++];
    if (n && next.lo <= out[n - 1].hi + 1) {
      if (next.hi > out[n - 1].hi) out[n - 1].hi = next.hi;
    } else {
      out[n++] = next;
    }
  }
  return (tsl__rx_ranges){out, n};
}
