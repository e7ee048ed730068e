/* beside.c - runs of characters side by side in a pattern, as fewer runs.
 *
 * Problem   In \p{Ll}{1,20}\p{L}*\p{L}+ each letter may be one of the first run, of the second or
 *           of the third. So after each letter the rest is a union of all of them, for each count.
 *           There are hundreds of such unions, each with a walk of its own.
 * Idea      A run next to an unbounded run of no fewer characters need not end late. What it reads
 *           past its least count, its neighbour can read. If B has all characters of A, this holds
 *           in both orders:
 *             A{m,n} B*  =  A{m} B*
 *           Two runs of the same characters are one run, whose counts are the sums. A part with a
 *           fixed count stays. This is repeated until nothing changes.
 * Example   \p{Ll}{1,20}\p{L}*\p{L}+  =  \p{Ll}\p{L}+
 * Exact     Both sides have the same texts, whatever stands around them, so conditions on the text
 *           before or after are as they were. The least and the greatest length stay, too.
 * Cost      One pass over the tree. Only the sets of runs side by side are compared.
 * Tested by tests/regex/test_span.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/node.h"
#include "compiler/regex/lower.h"

/* A part of a sequence that is one set of characters, `min` to `max` times. */
typedef struct run {
  tsl__rx *body; /* one character */
  tsl__rx_ranges set;
  uint32_t min, max;
} run;

/* The loop that a part is; NULL: it is none, or has a fixed count. */
static const tsl__rx *loop_of(const tsl__rx *node) {
  while (node->kind == TSL__RX_GROUP) node = node->u.child[0];
  return node->kind == TSL__RX_REPEAT && node->min != node->max ? node : NULL;
}

static bool is_run(tsl__rx_lowering *l, const tsl__rx *loop, run *r) {
  *r = (run){.body = loop->u.child[0], .min = loop->min, .max = loop->max};
  return tsl__rx_one_char(l, r->body, &r->set);
}

/* Can an unbounded run read whatever another one reads past its least count? */
static bool takes(tsl__rx_lowering *l, const run *a, const run *b) {
  return a->max == TSL__INF &&
         tsl__rx_ranges_equal(tsl__rx_ranges_and(l->tree, a->set, b->set), b->set);
}

/* Two runs side by side, with smaller counts. One that is left with none has `max` 0. False: they
 * stay. */
static bool join_two(tsl__rx_lowering *l, run *a, run *b) {
  const uint32_t min = tsl__add(a->min, b->min), max = tsl__add(a->max, b->max);
  if (tsl__rx_ranges_equal(a->set, b->set)) {
    const bool bounded = a->max != TSL__INF && b->max != TSL__INF;
    if (min > TSL__REGEX_MAX_REPEAT || (bounded && max > TSL__REGEX_MAX_REPEAT)) return false;
    *a = (run){a->body, a->set, min, max};
    b->min = b->max = 0;
    return true;
  }
  if (takes(l, a, b)) return b->max = b->min, true;
  return takes(l, b, a) ? a->max = a->min, true : false;
}

/* The last two of n parts, as fewer or smaller ones. Returns how many parts there are then; 0 on
 * failure. */
static uint32_t join_last(tsl__rx_lowering *l, tsl__rx **part, uint32_t n) {
  const tsl__rx *loops[] = {loop_of(part[n - 2]), loop_of(part[n - 1])};
  run runs[2];
  if (!loops[0] || !loops[1] || !is_run(l, loops[0], &runs[0]) || !is_run(l, loops[1], &runs[1]) ||
      !join_two(l, &runs[0], &runs[1]))
    return n;
  n -= 2;
  for (unsigned i = 0; i < 2; i++) {
    const run *r = &runs[i];
    if (!r->max) continue;
    part[n] = tsl__rx_repeat(l->tree, loops[i]->offset, r->body, r->min, r->max);
    if (!part[n++]) return 0;
  }
  return n;
}

/* The parts of a sequence that are left, each compared with the one before. A part that is left
 * with a fixed count joins no other. NULL on failure. */
static tsl__rx *join_along(tsl__rx_lowering *l, tsl__rx *node) {
  tsl__rx **part = node->u.child;
  uint32_t n = 0;
  for (uint32_t i = 0; i < node->n; i++) {
    part[n++] = part[i];
    for (uint32_t before = 0; n > 1 && n != before;) {
      before = n;
      if (!(n = join_last(l, part, n))) return NULL;
    }
  }
  node->n = n;
  return n == 1 ? part[0] : node;
}

tsl__rx *tsl__rx_join(tsl__rx_lowering *l, tsl__rx *node) {
  if (node->kind == TSL__RX_SET || node->kind == TSL__RX_LOOK || node->kind == TSL__RX_BACK)
    return node;
  for (uint32_t i = 0; i < node->n; i++)
    if (!(node->u.child[i] = tsl__rx_join(l, node->u.child[i]))) return NULL;
  return node->kind == TSL__RX_SEQ && node->n ? join_along(l, node) : node;
}
