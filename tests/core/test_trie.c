/* test_trie.c - the vocabulary trie against its own invariants and against a search through the
 * list of tokens.
 *
 * Random vocabularies over small and large alphabets, with empty, repeated, long, nested and
 * skipped tokens. Every trie must pass tsl__trie_check and find what a naive search finds. A trie
 * with any one field spoilt must fail the check. Every allocation is made to fail once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/core/trie.h"

#include "tests/support/check.h"
#include "tests/support/failing.h"

typedef struct tokens {
  uint8_t *bytes, *skip;
  uint32_t *offsets, size;
} tokens;

static void tokens_free(tokens *t) {
  free(t->bytes);
  free(t->skip);
  free(t->offsets);
}

/* `size` tokens of up to `longest` bytes out of `alphabet` values; one in eight is empty or
 * skipped. */
static tokens random_tokens(uint64_t *seed, uint32_t size, uint32_t longest, uint32_t alphabet,
                            uint32_t step) {
  tokens t = {malloc((size_t)size * longest + 1), calloc(size, 1),
              malloc((size + 1) * sizeof(uint32_t)), size};
  t.offsets[0] = 0;
  for (uint32_t i = 0; i < size; i++) {
    uint32_t n = (uint32_t)(tsl_test_random(seed) % (longest + 1));
    if (tsl_test_random(seed) % 16 == 0) n = 0;
    t.skip[i] = tsl_test_random(seed) % 16 == 0;
    for (uint32_t k = 0; k < n; k++)
      t.bytes[t.offsets[i] + k] = (uint8_t)(tsl_test_random(seed) % alphabet * step);
    t.offsets[i + 1] = t.offsets[i] + n;
  }
  return t;
}

static tokens from_words(const char *const *words, uint32_t size) {
  tokens t = {malloc(4096), calloc(size, 1), malloc((size + 1) * sizeof(uint32_t)), size};
  t.offsets[0] = 0;
  for (uint32_t i = 0; i < size; i++) {
    uint32_t n = (uint32_t)strlen(words[i]);
    memcpy(t.bytes + t.offsets[i], words[i], n);
    t.offsets[i + 1] = t.offsets[i] + n;
  }
  return t;
}

static tsl_status build(tsl__trie *trie, const tokens *t) {
  return tsl__trie_build(trie, &tsl__malloc, t->bytes, t->offsets, t->size, t->skip);
}

static bool check(const tsl__trie *trie, const tokens *t) {
  return tsl__trie_check(trie, t->bytes, t->offsets, t->size, t->skip);
}

static uint32_t find_node(const tsl__trie *trie, const uint8_t *text, uint32_t length,
                          bool *found) {
  uint32_t node = 0;
  *found = true;
  for (uint32_t i = 0; i < length; i++) {
    node = tsl__trie_child(trie, node, text[i]);
    if (!node) *found = false;
    if (!node) return 0;
  }
  return node;
}

/* What the trie says about `text` is what a search through all tokens says. */
static bool agrees(const tsl__trie *trie, const tokens *t, const uint8_t *text, uint32_t length) {
  uint32_t equal = 0, below = 0, height = 0;
  tsl__bytes set = {{0}};
  for (uint32_t i = 0; i < t->size; i++) {
    uint32_t n = t->offsets[i + 1] - t->offsets[i];
    if (!n || t->skip[i] || n < length || memcmp(t->bytes + t->offsets[i], text, length)) continue;
    if (n == length)
      equal++;
    else
      below++;
    for (uint32_t k = length; k < n; k++) tsl__bytes_add(&set, t->bytes[t->offsets[i] + k]);
    if (n - length > height) height = n - length;
  }
  bool found;
  const tsl__trie_node *node = &trie->nodes[find_node(trie, text, length, &found)];
  if (!found) return !equal && !below;
  return node->own_end - node->begin == equal && node->end - node->own_end == below &&
         node->height == height && tsl__bytes_equal(&trie->sets[node->below], &set);
}

static void test_example(void) {
  const char *words[] = {"a", "ab", "b"};
  tokens t = from_words(words, 3);
  tsl__trie trie;
  CHECK(build(&trie, &t) == TSL_OK && check(&trie, &t));
  CHECK(trie.node_count == 4 && trie.order_count == 3);
  CHECK(trie.order[0] == 0 && trie.order[1] == 1 && trie.order[2] == 2);
  uint32_t a = tsl__trie_child(&trie, 0, 'a'), b = tsl__trie_child(&trie, 0, 'b'),
           ab = tsl__trie_child(&trie, a, 'b');
  CHECK(a == 1 && b == 2 && ab == 3 && !tsl__trie_child(&trie, b, 'a') &&
        !tsl__trie_child(&trie, 0, 'c'));
  CHECK(trie.nodes[a].begin == 0 && trie.nodes[a].own_end == 1 && trie.nodes[a].end == 2);
  CHECK(trie.nodes[0].height == 2 && trie.nodes[a].height == 1 && trie.nodes[ab].height == 0);
  tsl__trie_free(&trie, &tsl__malloc);
  tokens_free(&t);
}

static void test_random(void) {
  static const struct {
    uint32_t size, longest, alphabet, step;
  } shapes[] = {
      {1, 3, 2, 1},    {3, 1, 1, 1},     {40, 5, 2, 255},   {200, 12, 2, 1},
      {300, 20, 1, 1}, {600, 3, 256, 1}, {300, 30, 3, 127}, {500, 9, 26, 1},
  };
  uint64_t seed = 1;
  for (uint32_t round = 0; round < 25; round++) {
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
      tokens t = random_tokens(&seed, shapes[s].size, shapes[s].longest, shapes[s].alphabet,
                               shapes[s].step);
      tsl__trie trie;
      CHECK(build(&trie, &t) == TSL_OK);
      CHECK(check(&trie, &t));
      bool all = true;
      for (uint32_t i = 0; i < t.size; i++) {
        uint32_t n = t.offsets[i + 1] - t.offsets[i],
                 cut = n ? (uint32_t)(tsl_test_random(&seed) % n) : 0;
        uint8_t text[32];
        memcpy(text, t.bytes + t.offsets[i], n);
        all = all && agrees(&trie, &t, text, n) && agrees(&trie, &t, text, cut);
        text[n] = (uint8_t)tsl_test_random(&seed);
        all = all && agrees(&trie, &t, text, n + 1);
      }
      CHECKF(all, "round %u, shape %zu", round, s);
      tsl__trie_free(&trie, &tsl__malloc);
      tokens_free(&t);
    }
  }
}

/* Every byte as a token, and all pairs: nodes with 256 children. */
static void test_all_bytes(void) {
  uint32_t size = 256 + 65536;
  tokens t = {malloc(256 + 2 * 65536), calloc(size, 1), malloc((size + 1) * sizeof(uint32_t)),
              size};
  uint32_t at = 0;
  for (uint32_t i = 0; i < size; i++) {
    t.offsets[i] = at;
    if (i >= 256) t.bytes[at++] = (uint8_t)((i - 256) >> 8);
    t.bytes[at++] = (uint8_t)i;
  }
  t.offsets[size] = at;
  tsl__trie trie;
  CHECK(build(&trie, &t) == TSL_OK && check(&trie, &t));
  CHECK(trie.node_count == 1 + 256 + 65536 && trie.set_count == 2);
  bool all = true;
  for (unsigned b = 0; b < 256; b++) all = all && tsl__trie_child(&trie, 0, (uint8_t)b) == 1 + b;
  CHECK(all);
  tsl__trie_free(&trie, &tsl__malloc);
  tokens_free(&t);
}

/* More than 65,535 different byte sets: of 150,000 random tokens. Those of the smallest subtrees
 * are left out, those of the larger ones are not. */
static void test_many_sets(void) {
  uint32_t size = 150000;
  uint64_t seed = 7;
  tokens t = {malloc((size_t)size * 9), calloc(size, 1), malloc((size + 1) * sizeof(uint32_t)),
              size};
  t.offsets[0] = 0;
  for (uint32_t i = 0; i < size; i++) {
    uint8_t *p = t.bytes + t.offsets[i];
    for (unsigned k = 0; k < 3; k++) p[k] = (uint8_t)(i >> (8 * k));
    for (unsigned k = 3; k < 9; k++) p[k] = (uint8_t)tsl_test_random(&seed);
    t.offsets[i + 1] = t.offsets[i] + 9;
  }
  tsl__trie trie;
  CHECK(build(&trie, &t) == TSL_OK && check(&trie, &t));
  uint32_t unknown = 0, largest = 0, smallest = UINT32_MAX;
  for (uint32_t i = 0; i < trie.node_count; i++) {
    const tsl__trie_node *n = &trie.nodes[i];
    bool known = n->below != UINT16_MAX;
    unknown += !known;
    if (!known && n->end - n->begin > largest) largest = n->end - n->begin;
    if (known && n->children && n->end - n->begin < smallest) smallest = n->end - n->begin;
  }
  CHECK(trie.set_count < UINT16_MAX && unknown > 0 && trie.nodes[0].below != UINT16_MAX);
  CHECKF(largest < smallest, "unknown with %u tokens, known with %u", largest, smallest);
  tsl__trie_free(&trie, &tsl__malloc);
  tokens_free(&t);
}

static void test_edges(void) {
  tsl__trie trie;
  const uint32_t none[] = {0, 0}, longest[] = {0, TSL_MAX_TOKEN_BYTES},
                 too_long[] = {0, TSL_MAX_TOKEN_BYTES + 1};
  uint8_t text[TSL_MAX_TOKEN_BYTES + 1] = {0};
  CHECK(tsl__trie_build(&trie, &tsl__malloc, NULL, none, 1, NULL) == TSL_OK);
  CHECK(trie.node_count == 1 && trie.order_count == 0 && trie.nodes[0].children == 0 &&
        !tsl__trie_child(&trie, 0, 0));
  CHECK(tsl__trie_check(&trie, NULL, none, 1, NULL));
  tsl__trie_free(&trie, &tsl__malloc);
  CHECK(tsl__trie_build(&trie, &tsl__malloc, text, longest, 1, NULL) == TSL_OK);
  CHECK(tsl__trie_check(&trie, text, longest, 1, NULL) &&
        trie.nodes[0].height == TSL_MAX_TOKEN_BYTES);
  tsl__trie_free(&trie, &tsl__malloc);
  CHECK(tsl__trie_build(&trie, &tsl__malloc, text, too_long, 1, NULL) == TSL_ERR_LIMIT &&
        !trie.nodes);
}

/* The check notices any field of any node that is off by one, and any order that is not sorted. */
static void test_check_notices(void) {
  uint64_t seed = 3;
  tokens t = random_tokens(&seed, 30, 5, 3, 1);
  tsl__trie trie;
  CHECK(build(&trie, &t) == TSL_OK && check(&trie, &t));
#define SPOIL(field, value)                           \
  do {                                                \
    tsl__trie_node saved = *n;                        \
    n->field = (value);                               \
    CHECKF(!check(&trie, &t), "node %u: " #field, i); \
    *n = saved;                                       \
  } while (0)
  for (uint32_t i = 0; i < trie.node_count; i++) {
    tsl__trie_node *n = &trie.nodes[i];
    SPOIL(begin, n->begin + 1);
    SPOIL(own_end, n->own_end + 1);
    SPOIL(end, n->end + 1);
    SPOIL(first_child, n->first_child + 1);
    SPOIL(children, (uint16_t)(n->children + 1));
    SPOIL(height, (uint16_t)(n->height + 1));
    SPOIL(below, (uint16_t)((n->below + 1u) % trie.set_count));
    if (!n->children) SPOIL(below, UINT16_MAX);
    SPOIL(below, (uint16_t)trie.set_count);
    if (i) SPOIL(byte, (uint8_t)(n->byte + 1));
  }
#undef SPOIL
  for (uint32_t i = 1; i < trie.order_count; i++) {
    tsl_token saved = trie.order[i];
    trie.order[i] = trie.order[i - 1];
    CHECKF(!check(&trie, &t), "order %u", i);
    trie.order[i] = saved;
  }
  CHECK(check(&trie, &t));
  tsl__trie_free(&trie, &tsl__malloc);
  tokens_free(&t);
}

static void test_no_memory(void) {
  uint64_t seed = 5;
  tokens t = random_tokens(&seed, 2000, 8, 200, 1);
  unsigned failures = 0;
  for (long n = 0;; n++) {
    failing f = {n, 0};
    tsl_allocator a = failing_allocator(&f);
    tsl__trie trie;
    tsl_status status = tsl__trie_build(&trie, &a, t.bytes, t.offsets, t.size, t.skip);
    if (!status) {
      CHECK(check(&trie, &t));
      tsl__trie_free(&trie, &a);
      CHECK(f.held == 0);
      if (!failing_failed(&f)) break;
      continue;
    }
    failures++;
    CHECKF(status == TSL_ERR_NO_MEMORY && f.held == 0 && !trie.nodes,
           "allocation %ld: %ld bytes held", n, f.held);
  }
  CHECK(failures >= 6);
  tokens_free(&t);
}

int main(void) {
  RUN(test_example, "the example of runtime/core/trie.h");
  RUN(test_random, "random vocabularies against a naive search");
  RUN(test_all_bytes, "nodes with 256 children");
  RUN(test_many_sets, "more byte sets than fit");
  RUN(test_edges, "no bytes, longest token, too long");
  RUN(test_check_notices, "the check fails on spoilt tries");
  RUN(test_no_memory, "each allocation fails once");
  return tsl_test_end();
}
