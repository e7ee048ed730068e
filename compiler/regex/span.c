/* span.c - a counted run of characters in a pattern, as a bound on the length of the text.
 *
 * Problem   In [a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?, the name of a resource, each letter may be one
 *           of the run or the last one. So a register cannot count, and each of 61 places is an
 *           expression of its own with a walk of its own. That takes 1.5 ms for every token of a
 *           name.
 * Idea      If all that stands around the run has a fixed length, a text with n characters in the
 *           run has n and so many more. So the bound of the run is a bound of the text:
 *             A(C{0,61}X)?  =  A(C*X)?  and at most 63 characters
 *           What is left is a pattern whose states come back to themselves, and a length, which
 *           every state of strings knows how to count.
 * Beside    Texts that go past the run, as A alone does, must not be longer than the bound. The
 *           pattern must be the whole text, have one such run, and have it in no loop.
 * Left      Runs whose characters never begin what follows: a register counts those.
 * Example   ^[a-z]{1,9}-[a-z]{0,40}x$ stays as it is: what stands before the run has no fixed
 *           length.
 * Cost      One pass over the tree.
 * Tested by tests/regex/test_span.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/node.h"
#include "compiler/regex/lower.h"

/* What a part of the pattern is to the run. */
typedef struct span {
  const tsl__rx *run; /* the run in it; NULL: there is none */
  uint32_t with;      /* characters of a match through the run, besides those of the run */
  bool skips;         /* it matches without the run, too, */
  uint32_t most;      /* and has at most so many characters then */
} span;

static span without_run(const tsl__rx *node) { return (span){.skips = true, .most = node->most}; }

/* Is it a run that no register can count, before `next`? */
static bool is_run(tsl__rx_lowering *l, const tsl__rx *node, const tsl__rx *next) {
  tsl__rx_ranges set;
  if (node->kind != TSL__RX_REPEAT || node->min > TSL__UNROLL_MAX || node->max <= TSL__UNROLL_MAX ||
      node->max == TSL__INF || !next->least || !tsl__rx_one_char(l, node->u.child[0], &set))
    return false;
  return tsl__rx_ranges_and(l->tree, set, tsl__rx_first(l, next)).n > 0;
}

static bool look(tsl__rx_lowering *l, const tsl__rx *node, span *out);

/* All parts but the one with the run have a fixed length. */
static bool look_along(tsl__rx_lowering *l, const tsl__rx *node, span *out) {
  uint32_t fixed = 0;
  *out = (span){.skips = true};
  for (uint32_t i = 0; i < node->n; i++) {
    const tsl__rx *part = node->u.child[i];
    span one = {.run = part};
    if ((i + 1 == node->n || !is_run(l, part, node->u.child[i + 1])) && !look(l, part, &one))
      return false;
    if (one.run && out->run) return false;
    if (one.run)
      *out = one;
    else if (part->least != part->most)
      fixed = TSL__INF;
    else
      fixed = tsl__add(fixed, part->least);
  }
  if (!out->run) return *out = without_run(node), true;
  out->with = tsl__add(out->with, fixed);
  out->most = tsl__add(out->most, fixed);
  return fixed != TSL__INF;
}

/* One of the branches has the run. */
static bool look_beside(tsl__rx_lowering *l, const tsl__rx *node, span *out) {
  uint32_t most = 0;
  *out = (span){.skips = true};
  for (uint32_t i = 0; i < node->n; i++) {
    span one;
    if (!look(l, node->u.child[i], &one) || (one.run && out->run)) return false;
    if (one.skips && one.most > most) most = one.most;
    if (one.run) *out = one;
  }
  out->skips = true;
  out->most = most;
  return true;
}

/* Recursion is as deep as the pattern is nested, as everywhere in this room. False: its run is no
 * bound of the length. */
static bool look(tsl__rx_lowering *l, const tsl__rx *node, span *out) {
  *out = without_run(node);
  switch (node->kind) {
  case TSL__RX_SEQ: return look_along(l, node, out);
  case TSL__RX_ALT: return look_beside(l, node, out);
  case TSL__RX_GROUP: return look(l, node->u.child[0], out);
  case TSL__RX_REPEAT:
    if (node->max != 1 || node->min) return true; /* a run within a loop stays one */
    if (!look(l, node->u.child[0], out)) return false;
    if (!out->skips) out->skips = true, out->most = 0;
    return true;
  default: return true;
  }
}

/* The node with that run unbounded. NULL on failure. */
static tsl__rx *unbound(tsl__rx_tree *t, tsl__rx *node, const tsl__rx *run) {
  if (node == run) return tsl__rx_repeat(t, node->offset, node->u.child[0], node->min, TSL__INF);
  if (node->kind != TSL__RX_SEQ && node->kind != TSL__RX_ALT && node->kind != TSL__RX_GROUP &&
      node->kind != TSL__RX_REPEAT)
    return node;
  tsl__rx **child = tsl__arena_copy(t->arena, node->u.child, node->n * sizeof *child);
  if (!child && node->n) return tsl__rx_fail(t, TSL_ERR_NO_MEMORY, 0, "out of memory");
  bool changed = false;
  for (uint32_t i = 0; i < node->n; i++) {
    if (!(child[i] = unbound(t, node->u.child[i], run))) return NULL;
    changed |= child[i] != node->u.child[i];
  }
  if (!changed) return node;
  if (node->kind == TSL__RX_GROUP) return tsl__rx_group(t, node->offset, node->min, child[0]);
  return node->kind == TSL__RX_REPEAT
             ? tsl__rx_repeat(t, node->offset, child[0], node->min, node->max)
             : tsl__rx_list(t, (tsl__rx_kind)node->kind, node->offset, child, node->n);
}

/* Is it ^ (`ahead` false) or $? */
static bool is_edge(const tsl__rx *node, bool ahead) {
  const tsl__rx *set = node->kind == TSL__RX_LOOK ? node->u.child[0] : NULL;
  return set && node->negative && node->ahead == ahead && set->kind == TSL__RX_SET &&
         tsl__rx_ranges_equal((tsl__rx_ranges){set->u.ranges, set->n}, tsl__rx_ranges_all());
}

tsl__rx *tsl__rx_unbound(tsl__rx_lowering *l, tsl__rx *root, bool search, uint32_t *most) {
  const bool listed = root->kind == TSL__RX_SEQ && root->n;
  tsl__rx *one[] = {root}, **part = listed ? root->u.child : one;
  uint32_t from = 0, to = listed ? root->n : 1;
  *most = TSL__INF;
  const bool begins = is_edge(part[0], false), ends = to > 1 && is_edge(part[to - 1], true);
  if (search && !(begins && ends)) return root;
  from += begins;
  to -= ends;
  for (uint32_t i = from; i < to; i++)
    if (!part[i]->plain) return root;
  span s;
  const tsl__rx middle = {
      .kind = TSL__RX_SEQ, .n = to > from ? to - from : 0, .u.child = part + from};
  if (!look_along(l, &middle, &s) || !s.run) return root;
  const uint32_t bound = tsl__add(s.run->max, s.with);
  if (bound == TSL__INF || (s.skips && s.most > bound)) return root;
  tsl__rx *free = unbound(l->tree, root, s.run);
  if (free) *most = bound;
  return free;
}
