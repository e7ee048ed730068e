/* linear_quoted.c - see linear_quoted.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/walk/linear_quoted.h"

/* Where a node is: nowhere near; above a quote or backslash; at one, or below. */
enum { AWAY, ABOVE, FROM };

static bool is_quote(uint8_t byte) { return byte == '"' || byte == '\\'; }

/* Of each node where it is; the root is ABOVE anyway. Returns how many are not AWAY. */
static uint32_t find_places(const tsl__linear *l, uint8_t *place) {
  uint32_t n = 0;
  place[0] = ABOVE;
  for (uint32_t i = 1; i < l->n; i++)
    if (is_quote(l->nodes[i].byte)) memset(place + i, FROM, l->nodes[i].next - i);
  for (uint32_t i = l->n; i-- > 0;) {
    for (uint32_t c = i + 1; c < l->nodes[i].next && place[i] == AWAY; c = l->nodes[c].next)
      place[i] = place[c] != AWAY ? ABOVE : AWAY;
    n += place[i] != AWAY;
  }
  return n;
}

/* The table of what is not AWAY. *before: room for a number each. */
static void put_quoted(const tsl__linear *l, const uint8_t *place, uint32_t *before,
                       tsl__linear *quoted) {
  for (uint32_t i = 0, n = 0; i <= l->n; i++) {
    before[i] = n;
    n += i < l->n && place[i] != AWAY;
  }
  for (uint32_t i = 0; i < l->n; i++) {
    if (place[i] == AWAY) continue;
    tsl__linear_node *n = &quoted->nodes[quoted->n++];
    *n = l->nodes[i];
    n->next = before[n->next];
    n->below = place[i] == ABOVE;
    if (n->below) n->token = l->tokens;
  }
}

bool tsl__quoted_make(tsl__space *base, tsl__linear *l) {
  uint8_t *place = tsl__alloc_zero(&base->alloc, l->n);
  uint32_t *before = tsl__alloc(&base->alloc, (l->n + (size_t)1) * sizeof *before);
  tsl__linear *quoted = place && before ? tsl__arena_alloc(&base->arena, sizeof *quoted) : NULL;
  tsl__linear_node *nodes =
      quoted ? tsl__arena_alloc(&base->arena, (find_places(l, place) + (size_t)1) * sizeof *nodes)
             : NULL;
  if (nodes) {
    *quoted = (tsl__linear){.nodes = nodes, .tokens = l->tokens, .least = l->least};
    put_quoted(l, place, before, quoted);
    l->quoted = quoted;
  } else {
    tsl__space_no_memory(base);
  }
  tsl__free(&base->alloc, place, l->n);
  tsl__free(&base->alloc, before, (l->n + (size_t)1) * sizeof *before);
  return nodes != NULL;
}
