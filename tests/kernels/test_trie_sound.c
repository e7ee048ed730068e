/* test_trie_sound.c - is a spoilt trie sound? tsl__trie_sound, with each level of the kernels,
 * against the definition, node by node.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/kernels/logits.h"
#include "runtime/kernels/trie_sound.h"
#include "tests/support/check.h"

/* ---- the definition -------------------------------------------------------------------------- */

static bool children_sound(const tsl__trie *t, const tsl__trie_node *n) {
  uint32_t begin = n->own_end;
  int before = -1;
  for (uint32_t i = n->first_child; i < n->first_child + n->children; i++) {
    const tsl__trie_node *child = &t->nodes[i];
    if (child->begin != begin || child->end <= begin || child->height >= n->height ||
        child->byte <= before)
      return false;
    before = child->byte;
    begin = child->end;
  }
  return begin == n->end;
}

static bool sound(const tsl__trie *t, uint32_t size) {
  uint64_t known = 1;
  if (!t->node_count || t->nodes[0].begin || t->nodes[0].end != t->order_count ||
      t->set_count > UINT16_MAX)
    return false;
  for (uint32_t i = 0; i < t->node_count; i++) {
    const tsl__trie_node *n = &t->nodes[i];
    if (n->first_child != known || n->begin > n->own_end || n->own_end > n->end ||
        n->end > t->order_count)
      return false;
    if ((n->below != UINT16_MAX && n->below >= t->set_count) || i >= known ||
        (!n->children && n->own_end != n->end))
      return false;
    known += n->children;
    if (known > t->node_count || !children_sound(t, n)) return false;
  }
  for (uint32_t i = 0; i < t->order_count; i++)
    if (t->order[i] >= size) return false;
  return known == t->node_count;
}

/* Are these the bytes of all nodes, and zeros behind them? */
static bool labelled(const tsl__trie *t, const uint8_t *labels) {
  size_t n = tsl__trie_labels(t), wrong = 0;
  for (size_t i = 0; i < n; i++) wrong += labels[i] != (i < t->node_count ? t->nodes[i].byte : 0);
  return wrong == 0;
}

/* Does each level say the same as the definition, and label the nodes? */
static bool agrees(const tsl__trie *t, uint32_t size, bool *verdict) {
  bool same = true;
  *verdict = sound(t, size);
  for (int level = 0; level < TSL__LOGITS_LEVELS; level++) {
    uint8_t *labels = calloc(tsl__trie_labels(t) + 1, 1);
    if (labels && tsl__logits_force((tsl__logits_level)level)) {
      same = same && tsl__trie_sound(t, size, labels) == *verdict &&
             tsl__trie_sound(t, size, NULL) == *verdict;
      same = same && (!*verdict || labelled(t, labels));
    }
    free(labels);
  }
  tsl__logits_force(TSL__LOGITS_AUTO);
  return same;
}

/* ---- tries ----------------------------------------------------------------------------------- */

/* Of `size` random tokens of up to `longest` of `alphabet` bytes. */
static tsl__trie random_trie(uint64_t *seed, uint32_t size, uint32_t longest, uint32_t alphabet) {
  tsl__trie trie;
  uint8_t *bytes = malloc((size_t)size * longest + 1);
  uint32_t *offsets = malloc(((size_t)size + 1) * sizeof *offsets);
  offsets[0] = 0;
  for (uint32_t i = 0; i < size; i++) {
    uint32_t n = (uint32_t)(tsl_test_random(seed) % (longest + 1));
    for (uint32_t k = 0; k < n; k++)
      bytes[offsets[i] + k] = (uint8_t)(tsl_test_random(seed) % alphabet);
    offsets[i + 1] = offsets[i] + n;
  }
  CHECK(tsl__trie_build(&trie, &tsl__malloc, bytes, offsets, size, NULL) == TSL_OK);
  free(bytes);
  free(offsets);
  return trie;
}

static const struct {
  uint32_t size, longest, alphabet;
} shapes[] = {{1, 0, 1},  {1, 1, 1},     {3, 2, 2},   {8, 3, 2},     {20, 4, 3},    {40, 9, 2},
              {60, 2, 9}, {300, 2, 256}, {700, 6, 3}, {900, 1, 256}, {2000, 3, 40}, {600, 40, 2}};
#define SHAPES (sizeof shapes / sizeof *shapes)

static void test_built(void) {
  uint64_t seed = 1;
  bool verdict;
  for (unsigned round = 0; round < 40; round++)
    for (size_t s = 0; s < SHAPES; s++) {
      tsl__trie t =
          random_trie(&seed, shapes[s].size + round, shapes[s].longest, shapes[s].alphabet);
      CHECKF(agrees(&t, shapes[s].size + round, &verdict) && verdict, "round %u, shape %zu", round,
             s);
      tsl__trie_free(&t, &tsl__malloc);
    }
}

/* ---- spoilt ones ----------------------------------------------------------------------------- */

static uint32_t near(uint64_t *seed, uint32_t x) {
  switch (tsl_test_random(seed) % 8) {
  case 0: return 0;
  case 1: return UINT32_MAX;
  case 2: return INT32_MAX;
  case 3: return (uint32_t)tsl_test_random(seed);
  case 4: return x + 1 + (uint32_t)(tsl_test_random(seed) % 5);
  case 5: return x - 1 - (uint32_t)(tsl_test_random(seed) % 5);
  case 6: return x + 1;
  default: return x - 1;
  }
}

/* Change a field of a node, or two neighbours so that they fit each other again. */
static void spoil(uint64_t *seed, tsl__trie *t) {
  uint32_t i = (uint32_t)(tsl_test_random(seed) % t->node_count),
           other = (uint32_t)(tsl_test_random(seed) % t->node_count);
  tsl__trie_node *n = &t->nodes[i], *next = &t->nodes[i + 1 < t->node_count ? i + 1 : i];
  switch (tsl_test_random(seed) % 13) {
  case 0: n->first_child = near(seed, n->first_child); break;
  case 1: n->begin = near(seed, n->begin); break;
  case 2: n->own_end = near(seed, n->own_end); break;
  case 3: n->end = near(seed, n->end); break;
  case 4: n->children = (uint16_t)near(seed, n->children); break;
  case 5: n->height = (uint16_t)near(seed, n->height); break;
  case 6: n->below = (uint16_t)near(seed, t->set_count); break;
  case 7: n->byte = (uint8_t)near(seed, n->byte); break;
  case 8: n->reserved = (uint8_t)tsl_test_random(seed); break;
  case 9: *n = t->nodes[other]; break;
  case 10: next->begin = n->end = near(seed, n->end); break;
  case 11: n->end = n->own_end = near(seed, n->own_end); break;
  default:
    n->children++;
    next->children--;
    next->first_child++;
    break;
  }
}

static void test_spoilt(void) {
  uint64_t seed = 2;
  unsigned good = 0, bad = 0, wrong = 0;
  for (unsigned round = 0; round < 60; round++)
    for (size_t s = 0; s < SHAPES; s++) {
      tsl__trie t = random_trie(&seed, shapes[s].size, shapes[s].longest, shapes[s].alphabet);
      size_t bytes = t.node_count * sizeof *t.nodes;
      tsl__trie_node *saved = malloc(bytes);
      memcpy(saved, t.nodes, bytes);
      for (unsigned i = 0; i < 60; i++) {
        bool verdict;
        for (uint64_t k = 0, changes = 1 + tsl_test_random(&seed) % 3; k < changes; k++)
          spoil(&seed, &t);
        wrong += !agrees(&t, shapes[s].size, &verdict);
        *(verdict ? &good : &bad) += 1;
        memcpy(t.nodes, saved, bytes);
      }
      free(saved);
      tsl__trie_free(&t, &tsl__malloc);
    }
  CHECKF(!wrong && good > 2000 && bad > 20000, "%u judged wrongly; %u sound, %u not", wrong, good,
         bad);
}

/* What a trie says of itself beside its nodes. */
static void test_counts(void) {
  uint64_t seed = 3;
  bool verdict;
  tsl__trie t = random_trie(&seed, 50, 4, 3), u = t;
  CHECK(agrees(&t, 50, &verdict) && verdict);
  u.node_count--;
  CHECK(agrees(&u, 50, &verdict) && !verdict);
  u.node_count = 0;
  CHECK(agrees(&u, 50, &verdict) && !verdict);
  u = t;
  u.order_count--;
  CHECK(agrees(&u, 50, &verdict) && !verdict);
  u = t;
  u.set_count = UINT16_MAX + 1;
  CHECK(agrees(&u, 50, &verdict) && !verdict);
  for (uint32_t i = 0; i < t.order_count; i++) {
    tsl_token saved = t.order[i];
    t.order[i] = 50;
    CHECK(agrees(&t, 50, &verdict) && !verdict);
    t.order[i] = saved;
  }
  tsl__trie_free(&t, &tsl__malloc);
}

/* Chains of more nodes than a word of 16 bits counts, whose numbers of children make 2^32 more:
 * nodes that nobody is the parent of. */
static void test_wrapped(void) {
  enum { NODES = 70000 };
  tsl__trie_node *nodes = calloc(NODES, sizeof *nodes);
  tsl__trie t = {.nodes = nodes, .node_count = NODES};
  uint64_t known = 1, left = ((uint64_t)1 << 32) + NODES - 1;
  bool verdict;
  for (uint32_t i = 0; i < NODES; i++) {
    uint64_t most = left < UINT16_MAX ? left : UINT16_MAX;
    nodes[i] = (tsl__trie_node){.first_child = (uint32_t)known,
                                .children = (uint16_t)most,
                                .below = UINT16_MAX,
                                .byte = (uint8_t)i};
    known += most;
    left -= most;
  }
  CHECK(agrees(&t, 1, &verdict) && !verdict);
  free(nodes);
}

int main(void) {
  RUN(test_built, "a trie that was built is sound");
  RUN(test_spoilt, "spoilt tries: every level says what the definition says");
  RUN(test_counts, "counts and the order");
  RUN(test_wrapped, "numbers of children that overflow");
  return tsl_test_end();
}
