/* test_leftover.c - sets of trie nodes: what a set is, and what follows it by each byte, against
 * the tokens' texts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/grammar.h"
#include "runtime/automaton/leftover.h"
#include "tests/support/check.h"

static tsl_vocab *vocab;
static tsl_grammar *grammar;
static tsl__space *space;
static uint64_t seed = 8;
static uint32_t below(uint32_t n) { return (uint32_t)(tsl_test_random(&seed) % n); }

#define SIZE 300u

/* Texts of few letters, so that many begin with one another. */
static void set_up(void) {
  uint8_t bytes[SIZE * 8];
  uint32_t offsets[SIZE + 1], n = 0;
  for (uint32_t i = 0; i < SIZE; i++) {
    offsets[i] = n;
    for (uint32_t left = 1 + below(6); left > 0; left--)
      bytes[n++] = (uint8_t)("abc\xC3\xA4"[below(5)]);
  }
  offsets[SIZE] = n;
  const tsl_vocab_desc desc = {.bytes = bytes, .offsets = offsets, .size = SIZE};
  CHECK(tsl_vocab_new(&desc, NULL, &vocab, NULL) == TSL_OK &&
        tsl_grammar_regex(vocab, "a", 1, NULL, NULL, &grammar, NULL) == TSL_OK);
  space = grammar->space;
}

static bool in(const uint32_t *at, uint32_t n, uint32_t x) {
  for (uint32_t i = 0; i < n; i++)
    if (at[i] == x) return true;
  return false;
}

static uint32_t child_of(uint32_t node, unsigned byte) {
  const tsl__trie_node *n = &vocab->trie.nodes[node];
  for (uint32_t c = n->first_child; c < n->first_child + n->children; c++)
    if (vocab->trie.nodes[c].byte == byte) return c;
  return 0;
}

/* Bytes of the longest path below, and all bytes on the way. */
static uint32_t height_below(uint32_t node, bool seen[256]) {
  const tsl__trie_node *n = &vocab->trie.nodes[node];
  uint32_t height = 0;
  for (uint32_t c = n->first_child; c < n->first_child + n->children; c++) {
    uint32_t h = 1 + height_below(c, seen);
    seen[vocab->trie.nodes[c].byte] = true;
    if (h > height) height = h;
  }
  return height;
}

static void check_child(tsl__leftover t, unsigned byte) {
  const tsl__leftover_rec *r = tsl__leftover_at(space, t);
  const tsl__child *c = tsl__leftover_child(space, t, (uint8_t)byte);
  CHECK(c != NULL && c == tsl__leftover_child(space, t, (uint8_t)byte));
  if (!c) return;
  uint32_t tokens = 0, going = 0;
  bool good = true;
  for (uint32_t i = 0; i < r->n; i++) {
    uint32_t at = child_of(r->nodes[i], byte);
    if (!at) continue;
    const tsl__trie_node *n = &vocab->trie.nodes[at];
    for (uint32_t k = n->begin; k < n->own_end; k++, tokens++)
      good = good && in(c->tokens, c->count, vocab->trie.order[k]);
    if (!n->children) continue;
    going++;
    good = good && c->to &&
           in(tsl__leftover_at(space, c->to)->nodes, tsl__leftover_at(space, c->to)->n, at);
  }
  CHECKF(good && c->count == tokens && (c->to ? tsl__leftover_at(space, c->to)->n : 0) == going,
         "byte %u after set %u", byte, t);
}

static void check_set(tsl__leftover t, const uint32_t *nodes, uint32_t n) {
  const tsl__leftover_rec *r = tsl__leftover_at(space, t);
  uint32_t kept = 0, height = 0, tokens = 0;
  bool seen[256] = {false}, good = true;
  for (uint32_t i = 0; i < n; i++) {
    if (!vocab->trie.nodes[nodes[i]].children) continue;
    kept += !in(nodes, i, nodes[i]);
    good = good && in(r->nodes, r->n, nodes[i]);
    uint32_t h = height_below(nodes[i], seen);
    if (h > height) height = h;
  }
  for (uint32_t i = 1; i < r->n; i++) good = good && r->nodes[i - 1] < r->nodes[i];
  for (uint32_t i = 0; i < r->n; i++)
    tokens += vocab->trie.nodes[r->nodes[i]].end - vocab->trie.nodes[r->nodes[i]].own_end;
  CHECKF(good && r->n == kept && r->height == height, "set %u: %u nodes for %u, height %u for %u",
         t, r->n, kept, r->height, height);
  CHECKF(r->tokens == (tokens < UINT16_MAX ? tokens : UINT16_MAX), "set %u: %u tokens for %u", t,
         r->tokens, tokens);
  for (unsigned b = 0; b < 256; b++) {
    bool next = false;
    for (uint32_t i = 0; i < r->n; i++) next = next || child_of(r->nodes[i], b);
    CHECK(tsl__bytes_has(&r->next, b) == next && (tsl__bytes_has(&r->below, b) || !seen[b]));
    if (next) check_child(t, b);
  }
}

static void random_sets(void) {
  for (int round = 0; round < 300; round++) {
    uint32_t nodes[40], given[40], n = 1 + below(39), inner = 0;
    for (uint32_t i = 0; i < n; i++) given[i] = nodes[i] = 1 + below(vocab->trie.node_count - 1);
    for (uint32_t i = 0; i < n; i++) inner += vocab->trie.nodes[nodes[i]].children > 0;
    tsl__leftover t = tsl__leftover_intern(space, nodes, n);
    CHECK((t != 0) == (inner > 0) && space->status == TSL_OK);
    if (!t) continue;
    if (round % 3) { /* some children, or all, are made at once, and one before */
      tsl__bytes bytes = {{0}};
      for (unsigned b = 0; b < 256; b++)
        if (round % 3 == 1 || below(2)) tsl__bytes_add(&bytes, b);
      if (tsl__bytes_has(&tsl__leftover_at(space, t)->next, 'b')) check_child(t, 'b');
      uint32_t had = tsl__space_count(space, children);
      CHECK(tsl__leftover_children(space, t, &bytes));
      for (unsigned b = 0; b < 256 && tsl__space_count(space, children) > had; b++)
        if (tsl__bytes_has(&bytes, b) && tsl__bytes_has(&tsl__leftover_at(space, t)->next, b))
          check_child(t, b);
      uint32_t made = tsl__space_count(space, children);
      CHECK(tsl__leftover_children(space, t, &bytes) && tsl__space_count(space, children) == made);
    }
    check_set(t, given, n);
    for (uint32_t i = n; i-- > 1;) { /* in another order it is the same set */
      uint32_t k = below(i + 1), swap = given[i];
      given[i] = given[k];
      given[k] = swap;
    }
    CHECK(tsl__leftover_intern(space, given, n) == t);
  }
}

static tsl__leftover random_set(uint32_t *nodes, uint32_t n) {
  uint32_t given[40];
  for (uint32_t i = 0; i < n; i++) given[i] = nodes[i] = 1 + below(vocab->trie.node_count - 1);
  return tsl__leftover_intern(space, given, n);
}

/* Two sets as one are what all their nodes are, looked up once or again, in either order; large
 * ones are not joined. */
static void joined_sets(void) {
  for (int round = 0; round < 300; round++) {
    uint32_t nodes[80], n = 1 + below(8), m = 1 + below(8);
    tsl__leftover a = random_set(nodes, n), b = random_set(nodes + n, m),
                  all = tsl__leftover_intern(space, nodes, n + m);
    CHECK(tsl__leftover_join(space, a, b) == all && tsl__leftover_join(space, a, b) == all &&
          tsl__leftover_join(space, b, a) == all);
    CHECK(tsl__leftover_join(space, a | TSL__WHOLE, b) == (all | TSL__WHOLE) &&
          tsl__leftover_join(space, a, b | TSL__WHOLE) == (all | TSL__WHOLE));
    CHECK(tsl__leftover_join(space, a, TSL__WHOLE) == (a | TSL__WHOLE) && space->status == TSL_OK);
    a = random_set(nodes, 40);
    b = random_set(nodes + 40, 40);
    if (a && b && tsl__leftover_at(space, a)->n + tsl__leftover_at(space, b)->n > 32)
      CHECK(tsl__leftover_join(space, a, b) == 0);
  }
}

/* A set less another, of any sizes: one may be far longer. */
static void less_sets(void) {
  static const uint32_t sizes[] = {1, 2, 7, 40};
  for (int round = 0; round < 400; round++) {
    uint32_t nodes[80], rest[40], n = sizes[below(4)], m = sizes[below(4)], k = 0;
    tsl__leftover a = random_set(nodes, n), b = random_set(nodes + 40, m);
    if (!a || !b) continue;
    const tsl__leftover_rec *r = tsl__leftover_at(space, a), *s = tsl__leftover_at(space, b);
    for (uint32_t i = 0; i < r->n; i++)
      if (!in(s->nodes, s->n, r->nodes[i])) rest[k++] = r->nodes[i];
    CHECK(tsl__leftover_minus(space, a, b) == tsl__leftover_intern(space, rest, k) &&
          space->status == TSL_OK);
  }
}

int main(void) {
  set_up();
  RUN(random_sets, "sets of nodes, and what follows by each byte");
  RUN(joined_sets, "two sets as one");
  RUN(less_sets, "a set less another");
  tsl_grammar_release(grammar);
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
