/* trie.c - building the vocabulary trie.
 *
 * Problem   128,256 tokens must become a trie of 275,000 nodes in a few milliseconds, since this is
 *           paid at every start without a cache.
 * Idea      Sort the tokens by spelling. Then every node is a range of the sorted list. One pass
 *           appends the children of node 0, 1, 2, … to the node array. That is breadth-first
 *           already: the array is its own queue.
 * Sort      The first eight bytes of a token, read as a big-endian number, are its key. A stable
 *           byte-wise radix sort puts the keys in order. Only tokens that share a key (few) are
 *           compared byte by byte, by insertion or heap sort.
 * Size      A token adds to the trie the bytes that it does not share with the token before it. So
 *           the node count is known before the first node is made, and nothing is ever resized.
 * Bottom up Heights and byte sets are filled from the last node to the first: in breadth-first
 * order children come after their parent.
 *           Equal sets are one entry: 34,319 in Llama 3.1. Where there are more than 65,535 (Gemma
 *           3: 72,134) the sets of nodes with one token below are left out as "not known". If that
 *           is not enough, those with up to three, seven, … tokens. A walk enters so few tokens as
 *           quickly as it would skip them.
 *
 * Example   See trie.h.
 * Cost      O(total bytes) plus the sort.
 * Tested by tests/core/test_trie.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/core/trie.h"

#define KEY_BYTES 8u
#define MAX_SETS UINT16_MAX /* indices 0 … 65,534; the last value says "not known" */
#define UNKNOWN UINT16_MAX
#define INSERTION_LIMIT 24u

typedef struct entry {
  uint64_t key; /* the first eight bytes, big-endian, zero-padded */
  tsl_token id;
} entry;

/* The tokens as they were passed, and the sorted list of those that take part. */
typedef struct builder {
  const tsl_allocator *alloc;
  const uint8_t *bytes;
  const uint32_t *offsets;
  entry *entries, *scratch;
  uint32_t count;
  uint32_t *slots; /* hash table of sets: index + 1, 0 = free */
  uint32_t slot_count, set_cap;
  /* the first node of each depth; where there is none: node_count */
  uint32_t level[TSL_MAX_TOKEN_BYTES + 2];
} builder;

/* ---- sorting --------------------------------------------------------------------------------- */

/* Comparing such keys as numbers compares the texts: the first byte is the highest. A shorter token
 * is padded with zeros, so that it comes first. */
static uint64_t key_of(const uint8_t *p, uint32_t length) {
  uint64_t key = 0;
  for (uint32_t i = 0; i < KEY_BYTES; i++) key = key << 8 | (i < length ? p[i] : 0u);
  return key;
}

/* The order of the trie: by bytes, a prefix before what it begins, equal spellings by their
 * number. */
static int compare_tokens(const uint8_t *bytes, const uint32_t *offsets, tsl_token a, tsl_token b) {
  uint32_t na = offsets[a + 1] - offsets[a], nb = offsets[b + 1] - offsets[b];
  int order = memcmp(bytes + offsets[a], bytes + offsets[b], na < nb ? na : nb);
  if (order) return order;
  if (na != nb) return na < nb ? -1 : 1;
  return a < b ? -1 : a > b;
}

static bool before(const builder *b, const entry *x, const entry *y) {
  return compare_tokens(b->bytes, b->offsets, x->id, y->id) < 0;
}

/* Stable sort by key: one counting pass per byte, passes in which all bytes are equal left out. */
static void radix_sort(builder *b) {
  for (unsigned shift = 0; shift < 64; shift += 8) {
    uint32_t start[257] = {0};
    for (uint32_t i = 0; i < b->count; i++) start[(b->entries[i].key >> shift & 255) + 1]++;
    if (start[(b->entries[0].key >> shift & 255) + 1] == b->count) continue;
    for (unsigned i = 0; i < 256; i++) start[i + 1] += start[i];
    for (uint32_t i = 0; i < b->count; i++)
      b->scratch[start[b->entries[i].key >> shift & 255]++] = b->entries[i];
    entry *t = b->entries;
    b->entries = b->scratch;
    b->scratch = t;
  }
}

/* Most groups of equal keys have two or three tokens. */
static void insertion_sort(const builder *b, entry *e, uint32_t n) {
  for (uint32_t i = 1; i < n; i++) {
    entry x = e[i];
    uint32_t j = i;
    for (; j && before(b, &x, &e[j - 1]); j--) e[j] = e[j - 1];
    e[j] = x;
  }
}

static void sift_down(const builder *b, entry *e, uint32_t root, uint32_t n) {
  entry x = e[root];
  for (uint32_t child; (child = 2 * root + 1) < n; root = child) {
    if (child + 1 < n && before(b, &e[child], &e[child + 1])) child++;
    if (!before(b, &x, &e[child])) break;
    e[root] = e[child];
  }
  e[root] = x;
}

/* For vocabularies that somebody made up: many tokens that share eight bytes must not cost the
 * square of their number. In place, and never worse than n log n. */
static void heap_sort(const builder *b, entry *e, uint32_t n) {
  for (uint32_t i = n / 2; i--;) sift_down(b, e, i, n);
  while (n > 1) {
    entry x = e[0];
    e[0] = e[--n];
    e[n] = x;
    sift_down(b, e, 0, n);
  }
}

/* Tokens of equal key are not in order yet where they are longer than the key, or end in the zeroes
 * that pad it. */
static void sort_equal_keys(const builder *b) {
  for (uint32_t i = 0, end; i < b->count; i = end) {
    for (end = i + 1; end < b->count && b->entries[end].key == b->entries[i].key;) end++;
    if (end - i > INSERTION_LIMIT)
      heap_sort(b, b->entries + i, end - i);
    else if (end - i > 1)
      insertion_sort(b, b->entries + i, end - i);
  }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static uint32_t length_of(const builder *b, uint32_t i) {
  tsl_token id = b->entries[i].id;
  return b->offsets[id + 1] - b->offsets[id];
}

static uint8_t byte_at(const builder *b, uint32_t i, uint32_t depth) {
  if (depth < KEY_BYTES) return (uint8_t)(b->entries[i].key >> (56 - 8 * depth));
  return b->bytes[b->offsets[b->entries[i].id] + depth];
}

static uint32_t shared_prefix(const builder *b, uint32_t i, uint32_t j) {
  uint32_t ni = length_of(b, i), nj = length_of(b, j), n = ni < nj ? ni : nj, k = 0;
  while (k < n && byte_at(b, i, k) == byte_at(b, j, k)) k++;
  return k;
}

/* Sorted tokens share most with their neighbours. ab, abc, abd makes 2 nodes for the first, one
 * more for each of the others, and the root, 5 in all. */
static uint64_t count_nodes(const builder *b) {
  uint64_t n = 1;
  for (uint32_t i = 0; i < b->count; i++)
    n += length_of(b, i) - (i ? shared_prefix(b, i - 1, i) : 0);
  return n;
}

/* Append the children of node `at`, whose tokens share `depth` bytes; returns the number of nodes
 * after that. */
static uint32_t append_children(const builder *b, tsl__trie *trie, uint32_t at, uint32_t depth,
                                uint32_t count) {
  tsl__trie_node *node = &trie->nodes[at];
  uint32_t i = node->begin;
  while (i < node->end && length_of(b, i) == depth) i++;
  node->own_end = i;
  node->first_child = count;
  while (i < node->end) {
    uint8_t byte = byte_at(b, i, depth);
    uint32_t begin = i++;
    while (i < node->end && byte_at(b, i, depth) == byte) i++;
    trie->nodes[count++] =
        (tsl__trie_node){.begin = begin, .own_end = begin, .end = i, .byte = byte};
  }
  node->children = (uint16_t)(count - node->first_child);
  return count;
}

/* Nodes are appended while earlier ones are read: the array is the queue of the breadth-first walk.
 * Where a level ends is noted on the way. */
static void make_nodes(builder *b, tsl__trie *trie) {
  b->level[0] = 0;
  trie->nodes[0] = (tsl__trie_node){.end = b->count};
  uint32_t count = 1, depth = 0;
  for (uint32_t at = 0, level_end = 1; at < count; at++) {
    if (at == level_end) {
      b->level[++depth] = at;
      level_end = count;
    }
    count = append_children(b, trie, at, depth, count);
  }
  for (depth++; depth < TSL_MAX_TOKEN_BYTES + 2; depth++) b->level[depth] = count;
}

/* ---- byte sets ------------------------------------------------------------------------------- */

static uint32_t hash_set(const tsl__bytes *s) {
  return (uint32_t)tsl__mix(
      s->w[0] + 0x9e3779b97f4a7c15u *
                    (s->w[1] + 0x9e3779b97f4a7c15u * (s->w[2] + 0x9e3779b97f4a7c15u * s->w[3])));
}

typedef enum interned { INTERNED, FULL, OUT_OF_MEMORY } interned;

/* The index of `s` in trie->sets, added if need be. */
static interned intern_set(builder *b, tsl__trie *trie, const tsl__bytes *s, uint16_t *index) {
  uint32_t mask = b->slot_count - 1, at = hash_set(s) & mask;
  for (; b->slots[at]; at = (at + 1) & mask) {
    if (!tsl__bytes_equal(&trie->sets[b->slots[at] - 1], s)) continue;
    *index = (uint16_t)(b->slots[at] - 1);
    return INTERNED;
  }
  if (trie->set_count == MAX_SETS) return FULL;
  if (trie->set_count == b->set_cap) {
    uint32_t cap = b->set_cap ? 2 * b->set_cap : 256;
    void *p = tsl__resize(b->alloc, trie->sets, b->set_cap * sizeof *trie->sets,
                          cap * sizeof *trie->sets);
    if (!p) return OUT_OF_MEMORY;
    trie->sets = p;
    b->set_cap = cap;
  }
  *index = (uint16_t)trie->set_count;
  trie->sets[trie->set_count++] = *s;
  b->slots[at] = trie->set_count;
  return INTERNED;
}

/* One more than the highest child. */
static uint16_t height_of(const tsl__trie *trie, const tsl__trie_node *node) {
  uint16_t height = 0;
  for (uint32_t i = 0; i < node->children; i++) {
    uint16_t below = trie->nodes[node->first_child + i].height;
    if (below >= height) height = (uint16_t)(below + 1);
  }
  return height;
}

/* The bytes below a node at `depth`, from what its children know, or from the tokens of those that
 * do not. A token is looked at in one node only, the lowest that is known. So all sets together
 * cost no more than the tokens are long. */
static tsl__bytes gather(const tsl__trie *trie, const tsl__trie_node *node, uint32_t depth,
                         const uint8_t *bytes, const uint32_t *offsets) {
  tsl__bytes set = {{0}};
  for (uint32_t i = 0; i < node->children; i++) {
    const tsl__trie_node *child = &trie->nodes[node->first_child + i];
    tsl__bytes_add(&set, child->byte);
    if (child->below != UNKNOWN) tsl__bytes_or(&set, &trie->sets[child->below]);
    for (uint32_t k = child->begin; child->below == UNKNOWN && k < child->end; k++) {
      tsl_token id = trie->order[k];
      for (uint32_t at = offsets[id] + depth + 1; at < offsets[id + 1]; at++)
        tsl__bytes_add(&set, bytes[at]);
    }
  }
  return set;
}

/* Fill heights and sets; the sets of nodes with fewer than `least` tokens stay unknown. FULL: there
 * are too many, try with more. */
static interned fill_bottom_up(builder *b, tsl__trie *trie, uint32_t least) {
  const tsl__bytes none = {{0}};
  uint16_t empty = 0;
  uint32_t depth = TSL_MAX_TOKEN_BYTES;
  trie->set_count = 0;
  memset(b->slots, 0, b->slot_count * sizeof *b->slots);
  interned result = intern_set(b, trie, &none, &empty);
  for (uint32_t i = trie->node_count; i-- && result == INTERNED;) {
    tsl__trie_node *node = &trie->nodes[i];
    while (i < b->level[depth]) depth--;
    node->height = height_of(trie, node);
    node->below = node->children ? UNKNOWN : empty;
    if (!node->children || node->end - node->begin < least) continue;
    tsl__bytes set = gather(trie, node, depth, b->bytes, b->offsets);
    result = intern_set(b, trie, &set, &node->below);
  }
  return result;
}

/* Tries again with fewer sets until they fit: 1, 2, 4, 8, … tokens at least. Most vocabularies fit
 * at once. */
static bool fill_sets(builder *b, tsl__trie *trie) {
  interned result = FULL;
  for (uint32_t least = 1; result == FULL; least *= 2) result = fill_bottom_up(b, trie, least);
  return result == INTERNED;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* How many tokens may take part. */
static uint32_t count_kept(uint32_t size, const uint8_t *skip) {
  uint32_t n = 0;
  if (!skip) return size;
  TSL__AT_ONCE_INTO(+, n)
  for (uint32_t i = 0; i < size; i++) n += !skip[i];
  return n;
}

/* List those that do. */
static tsl_status collect(builder *b, uint32_t size, const uint8_t *skip) {
  for (tsl_token id = 0; id < size; id++) {
    if (skip && skip[id]) { /* of special tokens alone a trie skips nearly all */
      const uint8_t *kept = memchr(skip + id, 0, size - id);
      if (!kept) break;
      id = (tsl_token)(kept - skip);
    }
    uint32_t length = b->offsets[id + 1] - b->offsets[id];
    if (!length) continue;
    if (length > TSL_MAX_TOKEN_BYTES) return TSL_ERR_LIMIT;
    b->entries[b->count++] = (entry){key_of(b->bytes + b->offsets[id], length), id};
  }
  return TSL_OK;
}

/* Half of the slots stay free, even if every node had a set of its own. */
static bool make_slots(builder *b, uint32_t node_count) {
  b->slot_count = 16;
  while (b->slot_count < 2 * (node_count < MAX_SETS ? node_count : MAX_SETS)) b->slot_count *= 2;
  b->slots = tsl__alloc_zero(b->alloc, b->slot_count * sizeof *b->slots);
  return b->slots != NULL;
}

/* Give back what the sets did not need. */
static bool trim_sets(builder *b, tsl__trie *trie) {
  void *p = tsl__resize(b->alloc, trie->sets, b->set_cap * sizeof *trie->sets,
                        trie->set_count * sizeof *trie->sets);
  if (!p) return false;
  trie->sets = p;
  b->set_cap = trie->set_count;
  return true;
}

/* The bytes again, side by side (trie.h); what lies behind them must be zeros, as eight are read at
 * once. */
static bool label(tsl__trie *trie, const tsl_allocator *a) {
  trie->labels = tsl__alloc_zero(a, tsl__trie_labels(trie));
  for (uint32_t i = 0; trie->labels && i < trie->node_count; i++)
    trie->labels[i] = trie->nodes[i].byte;
  return trie->labels;
}

/* All passes in order. What was allocated is in `trie` and `b`; tsl__trie_build frees it on
 * failure. */
static tsl_status build(builder *b, tsl__trie *trie, uint32_t size, const uint8_t *skip) {
  tsl_status status = collect(b, size, skip);
  if (status) return status;
  if (b->count) radix_sort(b);
  sort_equal_keys(b);
  uint64_t nodes = count_nodes(b);
  if (nodes > UINT32_MAX / sizeof *trie->nodes) return TSL_ERR_LIMIT;
  trie->nodes = tsl__alloc(b->alloc, (size_t)nodes * sizeof *trie->nodes);
  if (!trie->nodes) return TSL_ERR_NO_MEMORY;
  trie->node_count = (uint32_t)nodes;
  if (b->count && !(trie->order = tsl__alloc(b->alloc, b->count * sizeof *trie->order)))
    return TSL_ERR_NO_MEMORY;
  trie->order_count = b->count;
  for (uint32_t i = 0; i < b->count; i++) trie->order[i] = b->entries[i].id;
  make_nodes(b, trie);
  return label(trie, b->alloc) && make_slots(b, trie->node_count) && fill_sets(b, trie) &&
                 trim_sets(b, trie)
             ? TSL_OK
             : TSL_ERR_NO_MEMORY;
}

tsl_status tsl__trie_build(tsl__trie *trie, const tsl_allocator *a, const uint8_t *bytes,
                           const uint32_t *offsets, uint32_t size, const uint8_t *skip) {
  builder b = {.alloc = a, .bytes = bytes, .offsets = offsets};
  *trie = (tsl__trie){0};
  size_t room = ((size_t)count_kept(size, skip) + 1) * sizeof(entry);
  entry *first = tsl__alloc(a, room), *second = tsl__alloc(a, room);
  b.entries = first;
  b.scratch = second;
  tsl_status status = first && second ? build(&b, trie, size, skip) : TSL_ERR_NO_MEMORY;
  if (status && trie->sets) {
    tsl__free(a, trie->sets, b.set_cap * sizeof *trie->sets);
    trie->sets = NULL;
  }
  if (status) tsl__trie_free(trie, a);
  tsl__free(a, b.slots, b.slot_count * sizeof *b.slots);
  tsl__free(a, second, room);
  tsl__free(a, first, room);
  return status;
}

void tsl__trie_free(tsl__trie *trie, const tsl_allocator *a) {
  tsl__free(a, trie->labels, tsl__trie_labels(trie));
  tsl__free(a, trie->nodes, trie->node_count * sizeof *trie->nodes);
  tsl__free(a, trie->order, trie->order_count * sizeof *trie->order);
  tsl__free(a, trie->sets, trie->set_count * sizeof *trie->sets);
  *trie = (tsl__trie){0};
}

/* ---- checking -------------------------------------------------------------------------------- */

/* The order is the tokens that take part, each once, sorted. */
static bool check_order(const tsl__trie *trie, const uint8_t *bytes, const uint32_t *offsets,
                        uint32_t size, const uint8_t *skip) {
  uint32_t expected = 0;
  for (tsl_token id = 0; id < size; id++)
    expected += offsets[id + 1] > offsets[id] && !(skip && skip[id]);
  if (trie->order_count != expected) return false;
  for (uint32_t i = 0; i < expected; i++) {
    tsl_token id = trie->order[i];
    if (id >= size || offsets[id + 1] == offsets[id] || (skip && skip[id])) return false;
    if (i && compare_tokens(bytes, offsets, trie->order[i - 1], id) >= 0) return false;
  }
  return true;
}

/* The children of a node are sorted, split its range, and every token below child c has c's byte at
 * `depth`. */
static bool check_children(const tsl__trie *trie, const tsl__trie_node *node, const uint8_t *bytes,
                           const uint32_t *offsets, uint32_t depth) {
  uint32_t at = node->own_end;
  for (uint32_t c = 0; c < node->children; c++) {
    const tsl__trie_node *child = &trie->nodes[node->first_child + c];
    if (child->begin != at || child->end <= at || child->end > node->end) return false;
    if (c && child->byte <= child[-1].byte) return false;
    for (; at < child->end; at++) {
      tsl_token id = trie->order[at];
      if (offsets[id + 1] - offsets[id] <= depth || bytes[offsets[id] + depth] != child->byte)
        return false;
    }
  }
  return at == node->end;
}

/* The set of a node may be unknown, but not that of a leaf. */
static bool check_summary(const tsl__trie *trie, const tsl__trie_node *node, uint32_t depth,
                          const uint8_t *bytes, const uint32_t *offsets) {
  if (height_of(trie, node) != node->height) return false;
  if (node->below == UNKNOWN) return node->children != 0;
  tsl__bytes set = gather(trie, node, depth, bytes, offsets);
  return tsl__bytes_equal(&set, &trie->sets[node->below]);
}

bool tsl__trie_check(const tsl__trie *trie, const uint8_t *bytes, const uint32_t *offsets,
                     uint32_t size, const uint8_t *skip) {
  if (!trie->node_count || !check_order(trie, bytes, offsets, size, skip)) return false;
  if (trie->nodes[0].begin || trie->nodes[0].end != trie->order_count) return false;
  for (uint32_t i = 0; i < trie->node_count; i++) {
    if (trie->nodes[i].below != UNKNOWN && trie->nodes[i].below >= trie->set_count) return false;
    if (trie->labels[i] != trie->nodes[i].byte) return false;
  }
  uint32_t count = 1, depth = 0;
  for (uint32_t at = 0, level_end = 1; at < trie->node_count; at++) {
    if (at == level_end) {
      depth++;
      level_end = count;
    }
    const tsl__trie_node *node = &trie->nodes[at];
    if (at >= count || node->first_child != count || node->children > trie->node_count - count)
      return false;
    count += node->children;
    if (node->begin > node->own_end || node->own_end > node->end) return false;
    for (uint32_t i = node->begin; i < node->own_end; i++)
      if (offsets[trie->order[i] + 1] - offsets[trie->order[i]] != depth) return false;
    if (!check_children(trie, node, bytes, offsets, depth) ||
        !check_summary(trie, node, depth, bytes, offsets))
      return false;
  }
  return count == trie->node_count;
}
