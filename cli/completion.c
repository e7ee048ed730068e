/* completion.c - the bytes of a shortest completion. See completion.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "completion.h"

#include <stdlib.h>
#include <string.h>

/* A text that may follow: that of `parent` and one byte more. Node 0 is the empty one. */
typedef struct node {
  uint32_t parent, length;
  uint64_t missing; /* bytes, at least */
  uint8_t byte;
} node;

typedef struct search {
  tsl_matcher *matcher; /* stands after the text of `at` */
  uint32_t at;
  size_t pieces; /* in which that text was accepted: what rollback has to undo */
  node *nodes;
  uint32_t *heap; /* open nodes, the best first */
  size_t count, open, capacity;
  cli_text text; /* scratch: a node's text */
} search;

/* ---- the queue ------------------------------------------------------------------------------------------------ */

static bool before(const search *s, uint32_t a, uint32_t b) {
  const node *x = &s->nodes[a], *y = &s->nodes[b];
  uint64_t fx = x->length + x->missing, fy = y->length + y->missing;
  if (fx != fy) return fx < fy;
  return x->length != y->length ? x->length > y->length : a < b;
}

static void swap(uint32_t *a, uint32_t *b) {
  uint32_t t = *a;
  *a = *b;
  *b = t;
}

static void push(search *s, node n) {
  if (s->count == s->capacity) {
    size_t capacity = s->capacity * 2 + 256;
    node *nodes = cli_allocate(capacity, sizeof *nodes);
    uint32_t *heap = cli_allocate(capacity, sizeof *heap);
    if (s->count) memcpy(nodes, s->nodes, s->count * sizeof *nodes);
    if (s->open) memcpy(heap, s->heap, s->open * sizeof *heap);
    free(s->nodes);
    free(s->heap);
    s->nodes = nodes;
    s->heap = heap;
    s->capacity = capacity;
  }
  size_t i = s->open++;
  s->nodes[s->count] = n;
  s->heap[i] = (uint32_t)s->count++;
  for (; i && before(s, s->heap[i], s->heap[(i - 1) / 2]); i = (i - 1) / 2) swap(&s->heap[i], &s->heap[(i - 1) / 2]);
}

static uint32_t pop(search *s) {
  uint32_t best = s->heap[0];
  s->heap[0] = s->heap[--s->open];
  for (size_t i = 0;;) {
    size_t child = 2 * i + 1;
    if (child + 1 < s->open && before(s, s->heap[child + 1], s->heap[child])) child++;
    if (child >= s->open || !before(s, s->heap[child], s->heap[i])) return best;
    swap(&s->heap[child], &s->heap[i]);
    i = child;
  }
}

/* ---- steps ---------------------------------------------------------------------------------------------------- */

static void spell(search *s, uint32_t n) {
  uint32_t length = s->nodes[n].length;
  cli_text_free(&s->text);
  cli_text_add(&s->text, "", 0);
  for (uint32_t i = 0; i < length; i++) cli_text_add(&s->text, "", 1);
  for (; n; n = s->nodes[n].parent) s->text.at[--length] = (char)s->nodes[n].byte;
}

/* Put the matcher after the text of node n. */
static bool go_to(search *s, uint32_t n) {
  if (s->at == n) return true;
  bool below = s->nodes[n].parent == s->at;
  s->at = n;
  if (below) {
    s->pieces++;
    return tsl_matcher_accept_bytes(s->matcher, &s->nodes[n].byte, 1, NULL) == TSL_OK;
  }
  spell(s, n);
  if (tsl_matcher_rollback(s->matcher, s->pieces) != TSL_OK) return false;
  s->pieces = 1;
  return tsl_matcher_accept_bytes(s->matcher, s->text.at, s->text.length, NULL) == TSL_OK;
}

/* Push every text that is one byte longer than that of node n. */
static bool extend(search *s, uint32_t n) {
  uint32_t set[8], length = s->nodes[n].length;
  if (tsl_matcher_next_bytes(s->matcher, set) != TSL_OK) return false;
  for (unsigned i = 0; i < 256; i++) {
    uint8_t byte = (uint8_t)('1' + i); /* of equals the first: 1 before 0, so that dates are not in the year 0 */
    uint64_t missing;
    if (!(set[byte >> 5] >> (byte & 31) & 1) || tsl_matcher_accept_bytes(s->matcher, &byte, 1, NULL) != TSL_OK) continue;
    if (tsl_matcher_shortest_completion(s->matcher, &missing) == TSL_OK && missing < UINT32_MAX)
      push(s, (node){n, length + 1, missing, byte});
    tsl_matcher_rollback(s->matcher, 1);
  }
  return true;
}

static bool run(search *s) {
  uint64_t missing;
  if (tsl_matcher_shortest_completion(s->matcher, &missing) != TSL_OK || missing >= UINT32_MAX) return false;
  push(s, (node){0, 0, missing, 0});
  for (uint32_t steps = 0; s->open && steps < COMPLETION_MAX_STEPS; steps++) {
    uint32_t n = pop(s);
    if (!go_to(s, n)) return false;
    if (tsl_matcher_is_complete(s->matcher)) {
      spell(s, n);
      return true;
    }
    if (!extend(s, n)) return false;
  }
  return false;
}

bool completion_find(const tsl_matcher *from, cli_text *out) {
  search s = {0};
  if (tsl_matcher_fork(from, &s.matcher) != TSL_OK) return false;
  bool found = run(&s);
  if (found) cli_text_add(out, s.text.at, s.text.length);
  tsl_matcher_free(s.matcher);
  free(s.nodes);
  free(s.heap);
  cli_text_free(&s.text);
  return found;
}
