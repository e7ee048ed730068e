/* overlap.c - loops that a text can go through in more than one way at a time.
 *
 * Problem   A loop with large bounds is counted by a register (deriv.h). In (word " "?){1,200} a
 *           word may end after each of its letters. After "quick" there are one to five words, and
 *           so five registers: five stacks, each with a walk of its own. In (.{0,100}","){5} each
 *           comma begins one more.
 * Idea      Such loops are counted down in the expression instead, as small loops are. The counts
 *           that are possible then stand side by side as r{0,199}, r{0,198}, … , and alt.c makes
 *           one interval of them: r{0,199}. So the stacks do not multiply.
 * Which     Two traits of an expression say so, found when it is made (node.h):
 *             TSL__EXITS     it holds a counted loop, and a byte that begins an iteration may also
 *                            begin what follows the loop
 *             TSL__OVERLAPS  texts can stand in two counted loops, or twice in one. Either an
 *                            expression with EXITS is followed by another counted loop. Or a byte
 *                            may go on with an iteration of a loop, and also begin the next one
 *           tsl__derive follows an expression with OVERLAPS without registers.
 * Bounds    Intervals join where the loop's least number is at most half of its greatest. Others,
 *           such as [0-9a-f]{40}, keep their register, and so does a loop without an upper bound.
 * Example   (w " "?){3,40} with w = [a-z]{1,30}: after a w the bytes a to z go on, and begin the
 *           next w. So it has OVERLAPS. ([a-z]{1,30} " "){3,40} does not.
 * Also      (r{a,b}){c,d} is r{ac,bd} where that leaves no gap.
 * Rules     A loop over a call keeps its register: what its body begins with may not be made yet.
 * Cost      A look at the body of a counted loop, remembered for the last bodies.
 * Tested by tests/expr/test_overlap.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/kind.h"

#define DEPTH_MAX 8u   /* parts within parts that are looked at */
#define PARTS_MAX 128u /* parts of a sequence that are */

static bool is_nullable(const tsl__node *n) {
  return n->flags & (TSL__NULLABLE_LOW | TSL__NULLABLE_HIGH);
}

/* Of what holds rules nothing is said: their bodies may not be made yet. */
static void add_first(tsl__exprs *x, tsl__expr e, tsl__bytes *out) {
  tsl__reads reads;
  if (tsl__node_at(x, e).flags & TSL__CALLS) return;
  tsl__reads_of(x, e, &reads);
  tsl__bytes_or(out, &reads.live);
}

/* Does the loop have an upper bound, and room below it in which intervals join? */
static bool has_room(uint32_t min, uint32_t max) { return max != TSL__INF && min <= max / 2; }

static bool is_counted(const tsl__node *n) {
  return (n->kind == TSL__K_REPEAT || n->kind == TSL__K_COUNTED) && tsl__node_is_big(n) &&
         has_room(n->b, n->c);
}

/* Bytes that begin one more iteration of a counted loop that e may end with. */
static void add_iterations(tsl__exprs *x, tsl__expr e, unsigned depth, tsl__bytes *out) {
  for (unsigned parts = 0; depth < DEPTH_MAX && parts < PARTS_MAX; parts++) {
    tsl__node n = tsl__node_at(x, e);
    if (!(n.flags & TSL__COUNTS)) return;
    tsl__worked(x, 1);
    if (n.kind == TSL__K_ALT) {
      for (uint32_t i = 0; i < n.b && i < PARTS_MAX; i++)
        add_iterations(x, tsl__list_at(x, n.a)[i], depth + 1, out);
      return;
    }
    if (is_counted(&n)) add_first(x, n.a, out);
    if (n.kind == TSL__K_REPEAT) {
      e = n.a;
      depth++;
      continue;
    }
    if (n.kind != TSL__K_SEQ) return;
    tsl__node rest = tsl__node_at(x, n.b);
    if (is_nullable(&rest)) add_iterations(x, n.a, depth + 1, out);
    e = n.b;
  }
}

/* Bytes with which a text of e may go on to a longer one. */
static void add_continuations(tsl__exprs *x, tsl__expr e, unsigned depth, tsl__bytes *out) {
  for (unsigned parts = 0; depth < DEPTH_MAX && parts < PARTS_MAX; parts++) {
    tsl__node n = tsl__node_at(x, e);
    tsl__worked(x, 1);
    if (n.kind == TSL__K_ALT) {
      tsl__node all = n;
      for (uint32_t i = 0; i < n.b && i < PARTS_MAX; i++)
        add_continuations(x, tsl__list_at(x, n.a)[i], depth + 1, out);
      if (is_nullable(&all)) add_first(x, e, out);
      return;
    }
    if (n.kind == TSL__K_REPEAT) {
      if (n.c > n.b) add_first(x, n.a, out);
      e = n.a;
      depth++;
      continue;
    }
    if (n.kind != TSL__K_SEQ) return;
    tsl__node rest = tsl__node_at(x, n.b);
    if (is_nullable(&rest)) {
      add_continuations(x, n.a, depth + 1, out);
      add_first(x, n.b, out);
    }
    e = n.b;
  }
}

/* May an iteration of the body go on with a byte that begins the next one? */
static bool goes_on_as_it_begins(tsl__exprs *x, tsl__expr body) {
  tsl__known_overlap *known = &x->known_overlaps[body % TSL__KNOWN_OVERLAPS];
  if (known->body == body) return known->overlaps;
  tsl__bytes more = {{0}}, first = {{0}};
  add_continuations(x, body, 0, &more);
  if (!tsl__bytes_empty(&more)) add_first(x, body, &first);
  *known = (tsl__known_overlap){body, tsl__bytes_meet(&more, &first)};
  return known->overlaps;
}

uint16_t tsl__overlap_of_seq(tsl__exprs *x, tsl__expr a, tsl__expr b) {
  tsl__node na = tsl__node_at(x, a), nb = tsl__node_at(x, b);
  uint16_t traits = (na.traits | nb.traits) & (TSL__EXITS | TSL__OVERLAPS);
  tsl__bytes iterations = {{0}}, first = {{0}};
  if (!(na.flags & TSL__COUNTS) || traits & TSL__OVERLAPS) return traits;
  add_iterations(x, a, 0, &iterations);
  if (!tsl__bytes_empty(&iterations)) add_first(x, b, &first);
  bool exits = tsl__bytes_meet(&iterations, &first);
  if (exits) traits |= TSL__EXITS;
  if ((exits || na.traits & TSL__EXITS) && nb.flags & TSL__COUNTS) traits |= TSL__OVERLAPS;
  return traits;
}

uint16_t tsl__overlap_of_loop(tsl__exprs *x, tsl__expr body, uint32_t min, uint32_t max) {
  tsl__node n = tsl__node_at(x, body);
  tsl__node loop = {.kind = TSL__K_REPEAT, .b = min, .c = max};
  uint16_t traits = n.traits & (TSL__EXITS | TSL__OVERLAPS);
  bool counted = is_counted(&loop);
  if (traits & TSL__EXITS) traits |= TSL__OVERLAPS;
  if (traits & TSL__OVERLAPS || !(counted || n.flags & TSL__COUNTS) || n.flags & TSL__CHAR)
    return traits;
  if (goes_on_as_it_begins(x, body)) traits |= TSL__OVERLAPS;
  return traits;
}

bool tsl__loops_join(const tsl__node *loop, uint32_t min, uint32_t max) {
  const uint32_t a = loop->b, b = loop->c;
  if (b != TSL__INF && max != TSL__INF && tsl__multiply(b, max) == TSL__INF) return false;
  if (tsl__multiply(a, min) == TSL__INF) return false;
  /* ka to kb and (k+1)a to (k+1)b touch, from the least k on */
  return min == 0 ? a <= 1 : b == TSL__INF || (uint64_t)min * (b - a) + 1 >= a;
}

bool tsl__overlaps(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  if (n.kind == TSL__K_RULE && tsl__rule_at(x, n.a)->body)
    n = tsl__node_at(x, tsl__rule_at(x, n.a)->body);
  return n.traits & TSL__OVERLAPS;
}
