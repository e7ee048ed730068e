/* backref.c - back-references, by trying every text that the group can have captured.
 *
 * Problem   "What group 1 captured" is no regular language, unless the group matches finitely many
 *           texts.
 * Idea      Take the smallest sequence that holds the group and all references to it. It becomes an
 *           alternation over those texts v: that sequence, with the group and each reference
 *           replaced by v. A group that need not take part, as in (["'])?x\1 and (?:(a)|b)\1, adds
 *           the case that it is absent. There a reference matches the empty text (ECMA-262). So
 *           does a reference that is met before its group, in a look-behind one after it. Captures
 *           are undefined again at the beginning of each iteration of a loop.
 * Example   (a|b)x\1 becomes axa|bxb; (?:(a)|b)\1 becomes aa|b.
 * Limits    At most VALUES_MAX texts. The group must not be inside a loop or a look-around that its
 *           references are outside of (no backtracking goes into the latter). Where references
 *           stand both in an alternative that holds the group and after it, they are refused too.
 * Cost      One copy of the sequence for each text; nodes count against TSL__REGEX_MAX_NODES.
 * Tested by tests/regex/test_regex.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/unicode_cache.h"
#include "compiler/regex/ast.h"

#define VALUES_MAX 256u

static const char *const too_hard =
    "this back-reference is not supported: its group must stand in no loop and no look-around that "
    "it is outside of, and match at most 256 texts";

/* A text as code points. */
typedef struct value {
  uint32_t *at;
  uint32_t n;
} value;

typedef struct values {
  value *at; /* room for VALUES_MAX */
  uint32_t n;
} values;

static tsl__rx *refuse(tsl__rx_tree *t, const tsl__rx *back) {
  return tsl__rx_fail(t, TSL_ERR_UNSUPPORTED, back->offset, too_hard);
}

/* ---- the texts of a group -------------------------------------------------------------------- */

static bool enumerate(tsl__rx_tree *t, const tsl__rx *node, values *out);

static bool values_new(tsl__rx_tree *t, values *v) {
  v->at = tsl__arena_alloc(t->arena, VALUES_MAX * sizeof *v->at);
  v->n = 0;
  if (!v->at) tsl__rx_fail(t, TSL_ERR_NO_MEMORY, 0, "out of memory");
  return v->at != NULL;
}

/* Add a·b unless it is there. */
static bool add_joined(tsl__rx_tree *t, values *out, value a, value b) {
  value joined = {tsl__arena_alloc(t->arena, (a.n + b.n + 1) * sizeof *joined.at), a.n + b.n};
  if (!joined.at) return tsl__rx_fail(t, TSL_ERR_NO_MEMORY, 0, "out of memory"), false;
  if (a.n) memcpy(joined.at, a.at, a.n * sizeof *a.at);
  if (b.n) memcpy(joined.at + a.n, b.at, b.n * sizeof *b.at);
  for (uint32_t i = 0; i < out->n; i++)
    if (out->at[i].n == joined.n && !memcmp(out->at[i].at, joined.at, joined.n * sizeof *joined.at))
      return true;
  if (out->n == VALUES_MAX) return false;
  out->at[out->n++] = joined;
  return true;
}

/* out = out · node */
static bool append(tsl__rx_tree *t, const tsl__rx *node, values *out) {
  values right, joined;
  if (!values_new(t, &right) || !values_new(t, &joined) || !enumerate(t, node, &right))
    return false;
  for (uint32_t i = 0; i < out->n; i++)
    for (uint32_t k = 0; k < right.n; k++)
      if (!add_joined(t, &joined, out->at[i], right.at[k])) return false;
  *out = joined;
  return true;
}

static bool enumerate_set(tsl__rx_tree *t, const tsl__rx *node, values *out) {
  for (uint32_t i = 0; i < node->n; i++) {
    if (node->u.ranges[i].hi - node->u.ranges[i].lo >= VALUES_MAX) return false;
    for (uint32_t cp = node->u.ranges[i].lo; cp <= node->u.ranges[i].hi; cp++)
      if (!add_joined(t, out, (value){&cp, 1}, (value){NULL, 0})) return false;
  }
  return true;
}

/* All numbers of iterations from min to max; the most a text takes is bounded before this is
 * called. */
static bool enumerate_repeat(tsl__rx_tree *t, const tsl__rx *node, values *out) {
  values now;
  if (!values_new(t, &now) || !add_joined(t, &now, (value){NULL, 0}, (value){NULL, 0}))
    return false;
  for (uint32_t i = 0;; i++) {
    for (uint32_t k = 0; i >= node->min && k < now.n; k++)
      if (!add_joined(t, out, now.at[k], (value){NULL, 0})) return false;
    if (i == node->max || now.n == 0 || (i >= node->min && now.n == 1 && now.at[0].n == 0 && i > 0))
      return true;
    if (!append(t, node->u.child[0], &now)) return false;
  }
}

/* Add the texts of a plain node; false if there are too many (or memory ran out: see the tree's
 * status). */
static bool enumerate(tsl__rx_tree *t, const tsl__rx *node, values *out) {
  values product;
  if (node->most > VALUES_MAX) return false;
  switch (node->kind) {
  case TSL__RX_SET: return enumerate_set(t, node, out);
  case TSL__RX_GROUP: return enumerate(t, node->u.child[0], out);
  case TSL__RX_REPEAT:
    return node->min <= VALUES_MAX && (node->max <= VALUES_MAX || node->most == 0) &&
           enumerate_repeat(t, node, out);
  case TSL__RX_ALT:
    for (uint32_t i = 0; i < node->n; i++)
      if (!enumerate(t, node->u.child[i], out)) return false;
    return true;
  default: break;
  }
  /* SEQ */
  if (!values_new(t, &product) || !add_joined(t, &product, (value){NULL, 0}, (value){NULL, 0}))
    return false;
  for (uint32_t i = 0; i < node->n; i++)
    if (!append(t, node->u.child[i], &product)) return false;
  for (uint32_t i = 0; i < product.n; i++)
    if (!add_joined(t, out, product.at[i], (value){NULL, 0})) return false;
  return true;
}

/* ---- putting a text in place ----------------------------------------------------------------- */

/* How often group `number` and references to it occur. */
static uint32_t uses(const tsl__rx *node, uint32_t number) {
  uint32_t n = (node->kind == TSL__RX_GROUP || node->kind == TSL__RX_BACK) && node->min == number;
  for (uint32_t i = 0; node->kind != TSL__RX_SET && i < node->n; i++)
    n += uses(node->u.child[i], number);
  return n;
}

/* How many of them are references. */
static uint32_t backs(const tsl__rx *node, uint32_t number) {
  uint32_t n = node->kind == TSL__RX_BACK && node->min == number;
  for (uint32_t i = 0; node->kind != TSL__RX_SET && i < node->n; i++)
    n += backs(node->u.child[i], number);
  return n;
}

static bool has_group(const tsl__rx *node, uint32_t number) {
  if (node->kind == TSL__RX_GROUP && node->min == number) return true;
  for (uint32_t i = 0; node->kind != TSL__RX_SET && i < node->n; i++)
    if (has_group(node->u.child[i], number)) return true;
  return false;
}

/* The text as a sequence of characters, with both cases where `fold`. */
static tsl__rx *literal(tsl__rx_tree *t, uint32_t offset, const value *v, bool fold) {
  tsl__rx **part = tsl__arena_alloc(t->arena, (v->n + 1) * sizeof *part);
  if (!part) return tsl__rx_fail(t, TSL_ERR_NO_MEMORY, 0, "out of memory");
  for (uint32_t i = 0; i < v->n; i++) {
    tsl__charset set = {0};
    bool ok = tsl__charset_add(t->arena->alloc, &set, v->at[i], v->at[i]) &&
              (!fold || tsl__unicode_fold(t->x, &set));
    part[i] = ok ? tsl__rx_set(t, offset, set.ranges.at, set.ranges.n)
                 : tsl__rx_fail(t, TSL_ERR_NO_MEMORY, 0, "out of memory");
    tsl__charset_free(t->arena->alloc, &set);
    if (!part[i]) return NULL;
  }
  return tsl__rx_list(t, TSL__RX_SEQ, offset, part, v->n);
}

static tsl__rx *replace(tsl__rx_tree *t, tsl__rx *node, uint32_t number, const value *v);

/* An option that holds the group: it is there where the group is present. Else it is left out, or
 * stands there without the group. */
static tsl__rx *replace_option(tsl__rx_tree *t, tsl__rx *node, uint32_t number, const value *v) {
  tsl__rx *present = replace(t, node->u.child[0], number, v), **branch;
  if (v || !present || !(branch = tsl__arena_alloc(t->arena, 2 * sizeof *branch))) return present;
  branch[0] = present;
  branch[1] = tsl__rx_list(t, TSL__RX_SEQ, node->offset, NULL, 0);
  return branch[1] ? tsl__rx_list(t, TSL__RX_ALT, node->offset, branch, 2) : NULL;
}

/* A copy with group and references replaced by *v; NULL stands for "absent". What has neither is
 * shared. */
static tsl__rx *replace(tsl__rx_tree *t, tsl__rx *node, uint32_t number, const value *v) {
  static const value empty = {NULL, 0};
  tsl__rx **child;
  if (node->kind == TSL__RX_SET || !uses(node, number)) return node;
  if (node->kind == TSL__RX_GROUP && node->min == number)
    return v ? literal(t, node->offset, v, false) : tsl__rx_set(t, node->offset, NULL, 0);
  if (node->kind == TSL__RX_BACK && node->min == number)
    return literal(t, node->offset, v ? v : &empty, node->max != 0);
  if (node->kind == TSL__RX_REPEAT && has_group(node, number))
    return replace_option(t, node, number, v);
  /* present: an alternative with the group matched */
  bool only = node->kind == TSL__RX_ALT && v && has_group(node, number);
  uint32_t n = 0;
  child = tsl__arena_alloc(t->arena, node->n * sizeof *child);
  if (!child) return tsl__rx_fail(t, TSL_ERR_NO_MEMORY, 0, "out of memory");
  for (uint32_t i = 0; i < node->n; i++)
    if (!only || has_group(node->u.child[i], number))
      if (!(child[n++] = replace(t, node->u.child[i], number, v))) return NULL;
  switch (node->kind) {
  case TSL__RX_REPEAT: return tsl__rx_repeat(t, node->offset, child[0], node->min, node->max);
  case TSL__RX_LOOK: return tsl__rx_look(t, node->offset, node->ahead, node->negative, child[0]);
  case TSL__RX_GROUP: return tsl__rx_group(t, node->offset, node->min, child[0]);
  default: return tsl__rx_list(t, (tsl__rx_kind)node->kind, node->offset, child, n);
  }
}

/* ---- one group ------------------------------------------------------------------------------- */

/* Is the way from `node` to the group through sequences, groups, options and alternatives only? An
 * earlier expansion may have left copies of the group in alternatives: all of them are looked at,
 * and are alike. */
static bool find_group(tsl__rx *node, uint32_t number, tsl__rx **group, bool *optional) {
  uint32_t held = 0;
  if (node->kind == TSL__RX_GROUP && node->min == number) return *group = node, true;
  bool option = node->kind == TSL__RX_REPEAT && node->min == 0 && node->max == 1;
  if (node->kind != TSL__RX_SEQ && node->kind != TSL__RX_GROUP && node->kind != TSL__RX_ALT &&
      !option)
    return false;
  *optional |= option || node->kind == TSL__RX_ALT;
  for (uint32_t i = 0; i < node->n; i++) {
    if (!has_group(node->u.child[i], number)) continue;
    if ((held++ && node->kind != TSL__RX_ALT) ||
        !find_group(node->u.child[i], number, group, optional))
      return false;
  }
  return true;
}

/* A copy of the sequence in which references that are met before the group, which is in child `at`,
 * match the empty text. */
static tsl__rx *without_early(tsl__rx_tree *t, tsl__rx *seq, uint32_t number, uint32_t at,
                              bool backwards) {
  tsl__rx **child = tsl__arena_alloc(t->arena, (seq->n + 1) * sizeof *child);
  if (!child) return tsl__rx_fail(t, TSL_ERR_NO_MEMORY, 0, "out of memory");
  for (uint32_t i = 0; i < seq->n; i++) {
    bool early = backwards ? i > at : i < at;
    child[i] = early ? replace(t, seq->u.child[i], number, NULL) : seq->u.child[i];
    if (!child[i]) return NULL;
  }
  return tsl__rx_list(t, TSL__RX_SEQ, seq->offset, child, seq->n);
}

/* The sequence with a group and all its references, as an alternation without them. In a
 * look-behind it is matched from its end. */
static tsl__rx *expand_sequence(tsl__rx_tree *t, tsl__rx *seq, const tsl__rx *back,
                                bool backwards) {
  uint32_t number = back->min, at = 0, n = 0;
  bool optional = false;
  values v;
  tsl__rx *group = NULL, **branch;
  while (!has_group(seq->u.child[at], number)) at++;
  seq = without_early(t, seq, number, at, backwards);
  if (!seq || !backs(seq, number)) return seq;
  if (!find_group(seq->u.child[at], number, &group, &optional) || !group->plain ||
      backs(seq->u.child[at], number))
    return refuse(t, back);
  if (!values_new(t, &v)) return NULL;
  if (!enumerate(t, group->u.child[0], &v)) return refuse(t, back);
  branch = tsl__arena_alloc(t->arena, (v.n + 1) * sizeof *branch);
  if (!branch) return tsl__rx_fail(t, TSL_ERR_NO_MEMORY, 0, "out of memory");
  for (; n < v.n; n++)
    if (!(branch[n] = replace(t, seq, number, &v.at[n]))) return NULL;
  if (optional && !(branch[n++] = replace(t, seq, number, NULL))) return NULL;
  if (n == 0) return tsl__rx_set(t, group->offset, NULL, 0); /* the group matches nothing */
  return tsl__rx_list(t, TSL__RX_ALT, seq->offset, branch, n);
}

static tsl__rx *expand_group(tsl__rx_tree *t, tsl__rx *node, const tsl__rx *back, uint32_t n,
                             bool backwards);

/* Alternatives know nothing of each other's groups: each is expanded by itself. */
static tsl__rx *expand_alternatives(tsl__rx_tree *t, tsl__rx *node, const tsl__rx *back,
                                    bool backwards) {
  uint32_t number = back->min;
  tsl__rx **child = tsl__arena_alloc(t->arena, node->n * sizeof *child);
  if (!child) return tsl__rx_fail(t, TSL_ERR_NO_MEMORY, 0, "out of memory");
  for (uint32_t i = 0; i < node->n; i++) {
    tsl__rx *c = node->u.child[i];
    bool held = has_group(c, number);
    child[i] = !backs(c, number) ? c
               : held            ? expand_group(t, c, back, uses(c, number), backwards)
                                 : replace(t, c, number, NULL);
    if (!child[i]) return NULL;
  }
  return tsl__rx_list(t, TSL__RX_ALT, node->offset, child, node->n);
}

/* Go down to the smallest node with all `n` uses; rebuild the way. `backwards`: in a
 * look-behind. */
static tsl__rx *expand_group(tsl__rx_tree *t, tsl__rx *node, const tsl__rx *back, uint32_t n,
                             bool backwards) {
  for (uint32_t i = 0; i < node->n; i++) {
    tsl__rx *child, **copy;
    if (uses(node->u.child[i], back->min) != n) continue;
    if (node->kind == TSL__RX_GROUP && node->min == back->min) return refuse(t, back);
    child = expand_group(t, node->u.child[i], back, n,
                         node->kind == TSL__RX_LOOK ? !node->ahead : backwards);
    copy = child ? tsl__arena_alloc(t->arena, node->n * sizeof *copy) : NULL;
    if (!child) return NULL;
    if (!copy) return tsl__rx_fail(t, TSL_ERR_NO_MEMORY, 0, "out of memory");
    memcpy(copy, node->u.child, node->n * sizeof *copy);
    copy[i] = child;
    switch (node->kind) {
    case TSL__RX_REPEAT: return tsl__rx_repeat(t, node->offset, child, node->min, node->max);
    case TSL__RX_LOOK: return tsl__rx_look(t, node->offset, node->ahead, node->negative, child);
    case TSL__RX_GROUP: return tsl__rx_group(t, node->offset, node->min, child);
    default: return tsl__rx_list(t, (tsl__rx_kind)node->kind, node->offset, copy, node->n);
    }
  }
  if (node->kind == TSL__RX_ALT) return expand_alternatives(t, node, back, backwards);
  return node->kind == TSL__RX_SEQ ? expand_sequence(t, node, back, backwards) : refuse(t, back);
}

/* The first reference whose group holds no other reference. */
static const tsl__rx *group_of(const tsl__rx *node, uint32_t number) {
  const tsl__rx *found = node->kind == TSL__RX_GROUP && node->min == number ? node : NULL;
  for (uint32_t i = 0; !found && node->kind != TSL__RX_SET && i < node->n; i++)
    found = group_of(node->u.child[i], number);
  return found;
}

static bool has_back(const tsl__rx *node) {
  if (node->kind == TSL__RX_BACK) return true;
  for (uint32_t i = 0; node->kind != TSL__RX_SET && i < node->n; i++)
    if (has_back(node->u.child[i])) return true;
  return false;
}

static const tsl__rx *next_back(const tsl__rx *root, const tsl__rx *node, const tsl__rx **any) {
  const tsl__rx *found = NULL;
  if (node->kind == TSL__RX_BACK) {
    const tsl__rx *group = group_of(root, node->min);
    *any = node;
    return group && !has_back(group) ? node : NULL;
  }
  for (uint32_t i = 0; !found && node->kind != TSL__RX_SET && i < node->n; i++)
    found = next_back(root, node->u.child[i], any);
  return found;
}

tsl__rx *tsl__rx_expand(tsl__rx_tree *t, tsl__rx *root) {
  while (root && t->backs) {
    const tsl__rx *any = NULL, *back = next_back(root, root, &any);
    if (!any) return root;
    if (!back) return refuse(t, any);
    root = expand_group(t, root, back, uses(root, back->min), false);
  }
  return root;
}
