/* local.c - conditions that look no further than the expression around them.
 *
 * Problem   In (?:(?!-)[a-z-]{1,63}(?<!-)\.)+ each iteration has conditions, and an iteration's
 *           continuation is the loop itself.
 * Idea      A condition on at most n code points may stand where the next (or last) n code points
 *           lie inside the body. Then it says something about the body only, and can be met there.
 *           The parts from the look-ahead on that are together at least n code points long become
 *             (parts) & R·text,   (parts) & !(R·text),   for a look-behind (parts) & text·R.
 *           The body is flattened to sequences of parts and conditions (alternatives with open
 *           conditions are multiplied out). Every condition gets the shortest interval of parts
 *           that decides it. Intervals that cross are made to nest by making one longer (a longer
 *           interval decides as well). Then they are met from the inside out.
 * Example   (?!-) [a-z-]{1,63} (?<!-) \. : both conditions have the interval [a-z-]{1,63}:
 *           ([a-z-]{1,63} & !(-·text) & !(text·-))·\.
 * Limits    PARTS_MAX parts, SEQUENCES_MAX sequences; past them the answer is "not local".
 * Tested by tests/regex/test_regex.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/regex/lower.h"

#define PARTS_MAX 128u
#define SEQUENCES_MAX 64u

/* A part that consumes, or a condition. */
typedef struct part {
  const tsl__rx *look; /* the condition, or NULL */
  tsl__expr e;         /* what is consumed */
  uint32_t least;      /* code points of it */
} part;

typedef struct pending {
  const tsl__rx *node;
  const struct pending *next;
} pending;

typedef struct flattening {
  tsl__rx_lowering *l;
  part *part; /* PARTS_MAX */
  uint32_t sequences;
  tsl__expr result;
} flattening;

/* A condition on parts lo … hi (only consuming parts are counted). */
typedef struct interval {
  uint32_t lo, hi;
  bool ahead;
  tsl__expr must; /* the members must be in here */
} interval;

/* ---- one sequence ---------------------------------------------------------------------------- */

/* The parts that a condition at `at` (parts before it) needs to see; false if they are not
 * there. */
static bool find_interval(const part *eat, uint32_t n, uint32_t at, uint32_t need, interval *out) {
  uint32_t seen = 0;
  if (out->ahead) {
    out->lo = out->hi = at;
    for (; out->hi < n; out->hi++) {
      seen += eat[out->hi].least;
      if (seen >= need) return true;
    }
    return false;
  }
  out->hi = at - 1;
  for (out->lo = at; out->lo > 0;) {
    seen += eat[--out->lo].least;
    if (seen >= need) return true;
  }
  return false;
}

/* Make intervals nest: a look-ahead's end and a look-behind's beginning may move outwards. False if
 * that does not do. */
static bool nest(interval *at, uint32_t n) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t k = 0; k < n; k++) {
        /* i begins and ends earlier */
        if (!(at[i].lo < at[k].lo && at[k].lo <= at[i].hi && at[i].hi < at[k].hi)) continue;
        if (at[i].ahead)
          at[i].hi = at[k].hi;
        else if (!at[k].ahead)
          at[k].lo = at[i].lo;
        else
          return false;
        changed = true;
      }
  }
  return true;
}

static int by_length(const interval *a, const interval *b) {
  return (int)(a->hi - a->lo) - (int)(b->hi - b->lo);
}

static void sort(interval *at, uint32_t n) {
  for (uint32_t i = 1; i < n; i++)
    for (uint32_t k = i; k > 0 && by_length(&at[k - 1], &at[k]) > 0; k--) {
      interval t = at[k];
      at[k] = at[k - 1];
      at[k - 1] = t;
    }
}

/* The condition as an interval. *dead: it never holds; *idle: it always does. */
static bool condition(tsl__rx_lowering *l, const part *eat, uint32_t n, uint32_t at,
                      const tsl__rx *look, interval *out, bool *dead, bool *idle) {
  const tsl__rx *child = look->u.child[0];
  tsl__expr e;
  if (child->most == TSL__INF || !tsl__rx_local(l, child, &e)) return false;
  bool always = e && tsl__expr_nullable(l->x, e);
  *idle = look->negative ? e == TSL__NONE : always;
  *dead = look->negative ? always : e == TSL__NONE;
  if (*idle || *dead) return true;
  out->ahead = look->ahead;
  if (!find_interval(eat, n, at, child->most, out)) return false;
  e = look->ahead ? tsl__expr_seq(l->x, e, l->text) : tsl__expr_seq(l->x, l->text, e);
  out->must = look->negative ? tsl__expr_not(l->x, e) : e;
  return true;
}

/* Replace parts lo … hi by their meet with a language, put at lo. */
static void apply(tsl__rx_lowering *l, part *eat, const interval *v) {
  tsl__expr e = TSL__EPS;
  for (uint32_t i = v->hi + 1; i-- > v->lo;) {
    e = tsl__expr_seq(l->x, eat[i].e, e);
    eat[i].e = TSL__EPS;
  }
  eat[v->lo].e = tsl__expr_and(l->x, e, v->must);
}

/* Add the language of a finished sequence to the result. */
static bool resolve(flattening *f, uint32_t n) {
  part *eat = tsl__arena_alloc(f->l->tree->arena, (n + 1) * sizeof *eat);
  interval *at = tsl__arena_alloc(f->l->tree->arena, (n + 1) * sizeof *at);
  uint32_t eaters = 0, conditions = 0, before = 0;
  tsl__expr e = TSL__EPS;
  if (!eat || !at) return tsl__rx_fail(f->l->tree, TSL_ERR_NO_MEMORY, 0, "out of memory"), false;
  if (f->sequences++ == SEQUENCES_MAX) return false;
  for (uint32_t i = 0; i < n; i++)
    if (!f->part[i].look) eat[eaters++] = f->part[i];
  for (uint32_t i = 0; i < n; i++) {
    bool dead = false, idle = false;
    if (!f->part[i].look) {
      before++;
      continue;
    }
    if (!condition(f->l, eat, eaters, before, f->part[i].look, &at[conditions], &dead, &idle))
      return false;
    if (dead) return true;
    if (!idle) conditions++;
  }
  if (!nest(at, conditions)) return false;
  sort(at, conditions);
  for (uint32_t i = 0; i < conditions; i++) apply(f->l, eat, &at[i]);
  for (uint32_t i = eaters; i-- > 0;) e = tsl__expr_seq(f->l->x, eat[i].e, e);
  f->result = tsl__expr_alt(f->l->x, f->result, e);
  return true;
}

/* ---- flattening ------------------------------------------------------------------------------ */

static const pending *push(flattening *f, const tsl__rx *node, const pending *next) {
  pending *p = tsl__arena_alloc(f->l->tree->arena, sizeof *p);
  if (!p) return tsl__rx_fail(f->l->tree, TSL_ERR_NO_MEMORY, 0, "out of memory"), NULL;
  *p = (pending){node, next};
  return p;
}

static bool flatten(flattening *f, uint32_t n, const pending *todo);

/* An alternation: go on with each child. An option goes on with its body and without it. */
static bool branch(flattening *f, const tsl__rx *node, uint32_t n, const pending *todo) {
  if (node->kind == TSL__RX_REPEAT && !flatten(f, n, todo)) return false;
  for (uint32_t i = 0; i < node->n; i++) {
    const pending *p = push(f, node->u.child[i], todo);
    if (!p || !flatten(f, n, p)) return false;
  }
  return true;
}

/* Take the nodes of `todo` after the n parts that there are. Recursion is through alternatives
 * only, so it is bounded by SEQUENCES_MAX and the depth of the tree. */
static bool flatten(flattening *f, uint32_t n, const pending *todo) {
  while (todo) {
    const tsl__rx *node = todo->node;
    tsl__expr e;
    if (n == PARTS_MAX || f->sequences >= SEQUENCES_MAX || !tsl__rx_count(f->l, node)) return false;
    todo = todo->next;
    if (node->plain) {
      e = tsl__rx_plain(f->l, node, TSL__EPS);
      if (!e) return true; /* a part that matches nothing: the sequence is empty */
      f->part[n++] = (part){NULL, e, node->least};
    } else if (node->kind == TSL__RX_LOOK) {
      f->part[n++] = (part){node, TSL__NONE, 0};
    } else if (node->kind == TSL__RX_SEQ || node->kind == TSL__RX_GROUP) {
      for (uint32_t i = node->n; i-- > 0;)
        if (!(todo = push(f, node->u.child[i], todo))) return false;
    } else if (node->kind == TSL__RX_REPEAT && node->max != 1) {
      if (!tsl__rx_local(f->l, node->u.child[0], &e)) return false;
      e = tsl__expr_repeat(f->l->x, e, node->min, node->max);
      if (!e) return true;
      f->part[n++] = (part){NULL, e, node->least};
    } else {
      return branch(f, node, n, todo);
    }
  }
  return resolve(f, n);
}

bool tsl__rx_local(tsl__rx_lowering *l, const tsl__rx *node, tsl__expr *out) {
  flattening f = {.l = l, .result = TSL__NONE};
  const pending *todo;
  if (node->plain) return *out = tsl__rx_plain(l, node, TSL__EPS), true;
  f.part = tsl__arena_alloc(l->tree->arena, PARTS_MAX * sizeof *f.part);
  if (!f.part) return tsl__rx_fail(l->tree, TSL_ERR_NO_MEMORY, 0, "out of memory"), false;
  todo = push(&f, node, NULL);
  if (!todo || !flatten(&f, 0, todo) || tsl__rx_failed(l)) return false;
  *out = f.result;
  return true;
}
