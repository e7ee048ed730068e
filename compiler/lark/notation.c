/* notation.c - how long a terminal is as one regular expression in Lark.
 *
 * Lark's lexer tries terminals of the same priority and the same longest text by the length of
 * their notation: a longer one comes first. Lark writes each terminal as one regular expression for
 * Python. So does this file, but it only counts the characters:
 *
 *   "a+b"          3, and a\+b within another terminal: 4
 *   "ab"i          2, and (?i:ab): 7
 *   /[a-z]/        5, within another terminal too
 *   "a".."z"       [a-z]: 5
 *   A B            what both are within it
 *   A | B          (?:A|B)
 *   A?  A ~ 2..3   (?:A)?  (?:A){2,3}
 *
 * What Lark does not have (`&`, `~` before an item) counts as nothing.
 *
 * Tested by tests/lark/test_lexers.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/items.h"

#include <stdio.h>

/* Characters of a literal or a regular expression; `escaped`: as Python's re.escape writes it. */
static uint32_t characters(const tsl__lark *l, const tsl__lnode *n, bool escaped) {
  static const char special[] = "()[]{}?*+-|^$\\.&~# \t\n\r\v\f";
  uint32_t count = 0;
  for (uint32_t i = 0; i < n->b; i++) {
    uint8_t c = l->bytes.at[n->a + i];
    if ((c & 0xC0) == 0x80) continue; /* the rest of a character */
    count += 1 + (escaped && c && strchr(special, c));
  }
  return count;
}

/* What (?i: and the like add. */
static uint32_t of_flags(uint32_t flags) {
  uint32_t count = 0;
  for (; flags; flags &= flags - 1) count += 5;
  return count;
}

static uint32_t of_count(uint32_t min, uint32_t max) {
  if (max == 1 || max == TSL__INF) return 1; /* ? * + */
  return (uint32_t)(min == max ? snprintf(NULL, 0, "{%u}", min)
                               : snprintf(NULL, 0, "{%u,%u}", min, max));
}

/* `within`: as a part of another terminal. Depth: the node's height. */
static uint32_t measure(tsl__lark *l, uint32_t module, uint32_t node, bool within) {
  const tsl__lnode *n = &l->nodes.at[node];
  uint64_t sum = 0;
  tsl__exprs_work(l->x, 1);
  switch ((tsl__lkind)n->kind) {
  case TSL__L_LITERAL: return characters(l, n, within) + (within ? of_flags(n->c) : 0);
  case TSL__L_PATTERN: return characters(l, n, false) + (within ? of_flags(n->c) : 0);
  case TSL__L_RANGE: return 5;
  case TSL__L_NAME: {
    uint32_t def = tsl__lark_find(l, module, tsl__lark_text(l, module, n->at), n->a);
    return within ? l->defs.at[def].wrapped : l->defs.at[def].notation;
  }
  case TSL__L_SEQ:
  case TSL__L_ALT:
    for (uint32_t i = 0; i < n->b; i++) sum += measure(l, module, l->lists.at[n->a + i], true);
    if (n->kind == TSL__L_ALT) sum += 3 + n->b;
    return sum < TSL__INF ? (uint32_t)sum : TSL__INF;
  case TSL__L_REPEAT: return tsl__add(measure(l, module, n->a, true), 4 + of_count(n->b, n->c));
  default: return 0;
  }
}

uint32_t tsl__lark_notation(tsl__lark *l, uint32_t module, uint32_t node) {
  return measure(l, module, node, false);
}

void tsl__lark_measure(tsl__lark *l, tsl__ldef *d) {
  uint32_t bodies = 0, sum = 0, alone = 0;
  for (uint32_t b = d->body; b != TSL__LARK_NOWHERE; b = l->bodies.at[b].next, bodies++) {
    sum = tsl__add(sum, measure(l, l->bodies.at[b].module, l->bodies.at[b].node, true));
    alone = measure(l, l->bodies.at[b].module, l->bodies.at[b].node, false);
  }
  d->wrapped = bodies > 1 ? tsl__add(sum, 3 + bodies) : sum;
  d->notation = bodies > 1 ? d->wrapped : alone;
}
