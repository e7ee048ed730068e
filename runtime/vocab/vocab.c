/* vocab.c - making, reading and freeing a vocabulary; encoding where there are no merges.
 *
 * Problem   A host has arrays of tokens that it may free after the call. The engine needs the same
 *           tokens by their bytes, special tokens by their text, and a name for the whole.
 * Idea      A vocabulary owns one block with copies of its arrays, or a mapped cache file that
 *           holds them. Over these bytes stand two tries: one over what text can spell, and a
 *           small one over the special tokens.
 * Block     offsets (u32, size + 1), ids that end a generation (u32), flags (u8), bytes. Numbers
 *           come first, so that they are aligned. One allocation is made and one is freed.
 * Identity  It is XXH3-128, chained over the sizes, the token lengths, the bytes, the flags and the
 *           tokenizer's own hash. So it has everything that changes a mask or an encoding, in a
 *           form that does not depend on the machine. The order in which end-of-generation tokens
 *           are listed does not matter.
 * Greedy    Arrays bring no merges, so text is cut into the longest token at each place. With
 *           TSL_ENCODE_SPECIAL the text is first cut at special tokens: the leftmost, there the
 *           longest.
 * Example   The tokens are "a" (0), "ab" (1), "c" (2) and the special "<e>" (3). "abc<e>a" with
 *           TSL_ENCODE_SPECIAL: no special token begins at "a", "b" or "c", one begins at "<".
 *           So "abc" is cut first: at "a" the trie goes on to "ab", which is the longest, then
 *           "c". The ids are 1, 2, then 3, then 0. Without the flag "<" is no token of text, and
 *           the call says TSL_ERR_SYNTAX.
 * Sharing   References are counted. What grammars share of a vocabulary hangs on it: `shared`
 *           holds base layers, `kept` tables that were made once. Both are freed with the last
 *           reference, through functions that their owners put there, so this room knows none of
 *           them.
 * Threads   All but the counters and these pointers is constant after tsl__vocab_make. The digest
 *           of tokens that carry is made once under the lock, at the first call that needs it.
 * Filter    Is a token one that ends a generation? Most are not: 64 bits, one for each value of the
 *           lowest six bits of such ids, say so without a look at the flags. With the ids 2 and 66
 *           the filter has bit 2 alone: 130 passes it, and its flag then says no.
 * Failing   check_desc looks at every size and offset before anything is copied. A vocabulary is
 *           either whole or not made: on failure the tries, the block and the shell are freed.
 * Cost      About a pass over the bytes for the block, and two for the trie.
 * Tested by tests/vocab/test_vocab.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/vocab/vocab.h"

#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/vocab/build.h"

/* tsl_vocab, and what only this file needs. */
typedef struct vocab {
  tsl_vocab base; /* first, so that a tsl_vocab * is a vocab * */
  tsl__trie special_trie;
} vocab;

/* ---- identity -------------------------------------------------------------------------------- */

void tsl__hash128(const void *data, size_t size, uint8_t out[16]) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, size));
  memcpy(out, canonical.digest, 16);
}

void tsl__hash128_chain(uint8_t hash[16], const void *data, size_t size) {
  uint8_t both[32];
  memcpy(both, hash, 16);
  tsl__hash128(data, size, both + 16);
  tsl__hash128(both, sizeof both, hash);
}

void tsl__hash128_chain_u32(uint8_t hash[16], const uint32_t *numbers, size_t count) {
  const uint32_t one = 1;
  if (*(const uint8_t *)&one) { /* little-endian: memory is the form */
    tsl__hash128_chain(hash, numbers, count * sizeof *numbers);
    return;
  }
  XXH3_state_t state;
  XXH128_canonical_t canonical;
  uint8_t both[32];
  XXH3_128bits_reset(&state);
  for (size_t i = 0; i < count; i++) {
    const uint8_t bytes[4] = {(uint8_t)numbers[i], (uint8_t)(numbers[i] >> 8),
                              (uint8_t)(numbers[i] >> 16), (uint8_t)(numbers[i] >> 24)};
    XXH3_128bits_update(&state, bytes, sizeof bytes);
  }
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
  memcpy(both, hash, 16);
  memcpy(both + 16, canonical.digest, 16);
  tsl__hash128(both, sizeof both, hash);
}

static void name_tokens(const tsl_vocab *v, uint8_t name[16]) {
  const uint32_t sizes[2] = {v->size, v->logits_width};
  memset(name, 0, 16);
  tsl__hash128_chain_u32(name, sizes, 2);
  tsl__hash128_chain_u32(name, v->offsets, (size_t)v->size + 1);
  tsl__hash128_chain(name, v->bytes, v->offsets[v->size]);
  tsl__hash128_chain(name, v->special, v->size);
}

void tsl__vocab_tokens_identity(tsl_vocab *v, uint8_t out[16]) {
  if (!atomic_load_explicit(&v->tokens_named, memory_order_acquire)) {
    tsl__mutex_lock(&v->lock);
    /* who was first may have it read by now */
    if (!atomic_load_explicit(&v->tokens_named, memory_order_relaxed)) name_tokens(v, v->tokens);
    atomic_store_explicit(&v->tokens_named, true, memory_order_release);
    tsl__mutex_unlock(&v->lock);
  }
  memcpy(out, v->tokens, 16);
}

static void name_vocab(tsl_vocab *v, const uint8_t *tokenizer_hash) {
  name_tokens(v, v->identity);
  if (tokenizer_hash) tsl__hash128_chain(v->identity, tokenizer_hash, 16);
}

/* ---- making ---------------------------------------------------------------------------------- */

static tsl_status check_tokens(const tsl_vocab_desc *d, tsl_error *error) {
  if (d->offsets[0])
    return tsl__fail(error, TSL_ERR_ARGUMENT, "offsets[0] is %u, not 0", d->offsets[0]);
  for (uint32_t i = 0; i < d->size; i++) {
    if (d->offsets[i + 1] < d->offsets[i])
      return tsl__fail(error, TSL_ERR_ARGUMENT, "offsets[%u] is less than offsets[%u]", i + 1, i);
    if (d->offsets[i + 1] - d->offsets[i] > TSL_MAX_TOKEN_BYTES)
      return tsl__fail(error, TSL_ERR_LIMIT,
                       "token %u has %u bytes; at most %u are possible (TSL_MAX_TOKEN_BYTES)", i,
                       d->offsets[i + 1] - d->offsets[i], TSL_MAX_TOKEN_BYTES);
  }
  if (d->offsets[d->size] && !d->bytes) return tsl__fail(error, TSL_ERR_ARGUMENT, "bytes is NULL");
  for (uint32_t i = 0; i < d->eog_count; i++)
    if (d->eog[i] >= d->size)
      return tsl__fail(error, TSL_ERR_ARGUMENT,
                       "end-of-generation token %u is not below the size %u", d->eog[i], d->size);
  return TSL_OK;
}

static tsl_status check_desc(const tsl_vocab_desc *d, tsl_error *error) {
  if (!d->size) return tsl__fail(error, TSL_ERR_ARGUMENT, "a vocabulary has at least one token");
  if (d->size > TSL_MAX_VOCAB)
    return tsl__fail(error, TSL_ERR_LIMIT, "%u tokens; at most %u are possible (TSL_MAX_VOCAB)",
                     d->size, TSL_MAX_VOCAB);
  if (d->logits_width > TSL_MAX_VOCAB)
    return tsl__fail(error, TSL_ERR_LIMIT,
                     "logits_width is %u; at most %u is possible (TSL_MAX_VOCAB)", d->logits_width,
                     TSL_MAX_VOCAB);
  if (d->logits_width && d->logits_width < d->size)
    return tsl__fail(error, TSL_ERR_ARGUMENT, "logits_width %u is below the size %u",
                     d->logits_width, d->size);
  if (!d->offsets || (d->eog_count && !d->eog))
    return tsl__fail(error, TSL_ERR_ARGUMENT, "an array that is needed is NULL");
  return check_tokens(d, error);
}

/* The block behind the arrays: offsets, then up to `eog_count` ids, then flags, then bytes. */
static size_t block_size(uint32_t size, uint32_t eog_count, uint32_t bytes) {
  return ((size_t)size + 1 + eog_count) * sizeof(uint32_t) + size + bytes;
}

static void fill_filter(tsl_vocab *v) {
  for (uint32_t i = 0; i < v->eog_count; i++) v->eog_filter |= UINT64_C(1) << (v->eog[i] & 63);
}

/* Copy the arrays into `block`. The ids that end a generation keep their order, without
 * repetitions. */
static void fill_block(tsl_vocab *v, const tsl_vocab_desc *d, void *block) {
  uint32_t *offsets = block;
  tsl_token *eog = offsets + d->size + 1;
  uint8_t *special = (uint8_t *)(eog + d->eog_count), *bytes = special + d->size;
  memcpy(offsets, d->offsets, ((size_t)d->size + 1) * sizeof *offsets);
  if (offsets[d->size]) memcpy(bytes, d->bytes, offsets[d->size]);
  for (uint32_t i = 0; i < d->size; i++)
    special[i] = d->special && d->special[i] ? TSL__TOKEN_SPECIAL : 0;
  for (uint32_t i = 0; i < d->eog_count; i++) {
    if (special[d->eog[i]] & TSL__TOKEN_EOG) continue;
    special[d->eog[i]] = TSL__TOKEN_SPECIAL | TSL__TOKEN_EOG;
    eog[v->eog_count++] = d->eog[i];
  }
  v->size = d->size;
  v->logits_width = d->logits_width ? d->logits_width : d->size;
  v->bytes = bytes;
  v->offsets = offsets;
  v->special = special;
  v->eog = eog;
  fill_filter(v);
}

/* The special tokens by their text. */
static tsl_status build_special_trie(vocab *v) {
  const tsl_vocab *b = &v->base;
  uint8_t *skip = tsl__alloc(&b->alloc, b->size);
  if (!skip) return TSL_ERR_NO_MEMORY;
  TSL__AT_ONCE
  for (uint32_t i = 0; i < b->size; i++) skip[i] = !b->special[i];
  tsl_status status =
      tsl__trie_build(&v->special_trie, &b->alloc, b->bytes, b->offsets, b->size, skip);
  tsl__free(&b->alloc, skip, b->size);
  return status;
}

static vocab *new_shell(const tsl_allocator *a) {
  vocab *v = tsl__alloc_zero(a, sizeof *v);
  if (!v) return NULL;
  v->base.alloc = *a;
  atomic_init(&v->base.references, 1);
  for (size_t i = 0; i < TSL__SHARED; i++) atomic_init(&v->base.shared[i], NULL);
  atomic_init(&v->base.lengths, NULL);
  atomic_init(&v->base.boundary, NULL);
  atomic_init(&v->base.common, NULL);
  atomic_init(&v->base.walk_cache, TSL__COMMON_BYTES);
  for (size_t i = 0; i < TSL__KEPT_COUNT; i++) atomic_init(&v->base.kept[i], NULL);
  if (tsl__mutex_init(&v->base.lock)) return v;
  tsl__free(a, v, sizeof *v);
  return NULL;
}

static void free_shell(vocab *v) {
  tsl_allocator a = v->base.alloc;
  tsl__trie_free(&v->special_trie, &a);
  tsl__mutex_free(&v->base.lock);
  tsl__free(&a, v, sizeof *v);
}

tsl_status tsl__vocab_make(const tsl_vocab_desc *desc, const tsl_allocator *allocator,
                           tsl__tokenizer *tokenizer, const uint8_t *tokenizer_hash,
                           tsl_vocab **out, tsl_error *error) {
  *out = NULL;
  tsl_status status = check_desc(desc, error);
  if (status) return status;
  const tsl_allocator *a = tsl__allocator_or_default(allocator);
  size_t size = block_size(desc->size, desc->eog_count, desc->offsets[desc->size]);
  vocab *v = new_shell(a);
  void *block = v ? tsl__alloc(a, size) : NULL;
  if (block) {
    fill_block(&v->base, desc, block);
    v->base.mapping_size = size; /* without a mapping: the block's */
    status = tsl__trie_build(&v->base.trie, a, v->base.bytes, v->base.offsets, v->base.size,
                             v->base.special);
    if (!status) status = build_special_trie(v);
  }
  if (!block || status) {
    if (v) tsl__trie_free(&v->base.trie, a);
    tsl__free(a, block, size);
    if (v) free_shell(v);
    return block && status != TSL_ERR_NO_MEMORY
               ? tsl__fail(error, status, "the tokens spell more than a trie can hold")
               : tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  }
  v->base.tokenizer = tokenizer;
  name_vocab(&v->base, tokenizer_hash);
  *out = &v->base;
  return TSL_OK;
}

tsl_status tsl__vocab_adopt(const tsl__vocab_parts *p, const tsl_allocator *allocator,
                            tsl_vocab **out) {
  *out = NULL;
  vocab *v = new_shell(tsl__allocator_or_default(allocator));
  if (!v) return TSL_ERR_NO_MEMORY;
  tsl_vocab *b = &v->base;
  b->size = p->size;
  b->logits_width = p->logits_width;
  b->bytes = p->bytes;
  b->offsets = p->offsets;
  b->special = p->special;
  b->eog = p->eog;
  b->eog_count = p->eog_count;
  fill_filter(b);
  b->trie = p->trie;
  memcpy(b->identity, p->identity, 16);
  tsl_status status = build_special_trie(v);
  if (status) {
    free_shell(v);
    return status;
  }
  b->tokenizer = p->tokenizer;
  b->mapping = p->mapping;
  b->mapping_size = p->mapping_size;
  *out = b;
  return TSL_OK;
}

tsl_status tsl_vocab_new(const tsl_vocab_desc *desc, const tsl_allocator *allocator,
                         tsl_vocab **out, tsl_error *error) {
  if (!out) return tsl__fail(error, TSL_ERR_ARGUMENT, "out is NULL");
  *out = NULL;
  if (!desc) return tsl__fail(error, TSL_ERR_ARGUMENT, "desc is NULL");
  return tsl__vocab_make(desc, allocator, NULL, NULL, out, error);
}

void tsl_vocab_retain(tsl_vocab *v) {
  atomic_fetch_add_explicit(&v->references, 1, memory_order_relaxed);
}

void tsl_vocab_release(tsl_vocab *v) {
  if (!v || atomic_fetch_sub_explicit(&v->references, 1, memory_order_acq_rel) > 1) return;
  for (size_t i = 0; i < TSL__SHARED; i++) {
    tsl__shared *shared = atomic_load_explicit(&v->shared[i], memory_order_acquire);
    if (shared) shared->free(shared);
  }
  for (size_t i = 0; i < TSL__KEPT_COUNT; i++) {
    const tsl__kept_ops *ops = atomic_load_explicit(&v->kept[i], memory_order_acquire);
    if (ops) ops->free(v);
  }
  if (v->tokenizer) v->tokenizer->ops->free(v->tokenizer);
  if (v->mapping) {
    tsl__free(&v->alloc, v->trie.labels, tsl__trie_labels(&v->trie));
    tsl__file_unmap(v->mapping, v->mapping_size);
  } else {
    tsl__trie_free(&v->trie, &v->alloc);
    /* the block begins with the offsets */
    tsl__free(&v->alloc, (void *)v->offsets, v->mapping_size);
  }
  free_shell((vocab *)v);
}

/* ---- asking ---------------------------------------------------------------------------------- */

uint32_t tsl_vocab_size(const tsl_vocab *v) { return v->size; }
uint32_t tsl_vocab_logits_width(const tsl_vocab *v) { return v->logits_width; }
size_t tsl_vocab_mask_words(const tsl_vocab *v) { return ((size_t)v->logits_width + 31) / 32; }
bool tsl_vocab_is_special(const tsl_vocab *v, tsl_token token) {
  return token < v->size && v->special[token];
}
TSL__EACH_TOKEN bool tsl_vocab_is_eog(const tsl_vocab *v, tsl_token token) {
  return v->eog_filter >> (token & 63) & 1 && token < v->size && v->special[token] & TSL__TOKEN_EOG;
}

const tsl_token *tsl_vocab_eog(const tsl_vocab *v, uint32_t *count) {
  if (count) *count = v->eog_count;
  return v->eog;
}

bool tsl__vocab_names_some(const tsl_vocab *v, const tsl_token *tokens, size_t n, bool others) {
  for (size_t i = 0; i < n && !others; i++)
    if (tsl__vocab_has_name(v, tokens[i])) return true;
  for (tsl_token t = 0, i = 0; t < v->size && others; t++) {
    while (i < n && tokens[i] < t) i++;
    if ((i == n || tokens[i] != t) && tsl__vocab_has_name(v, t)) return true;
  }
  return false;
}

const uint8_t *tsl_vocab_bytes(const tsl_vocab *v, tsl_token token, size_t *length) {
  bool known = token < v->size;
  if (length) *length = known ? v->offsets[token + 1] - v->offsets[token] : 0;
  return known ? v->bytes + v->offsets[token] : NULL;
}

void tsl_vocab_identity(const tsl_vocab *v, uint8_t identity[16]) {
  memcpy(identity, v->identity, 16);
}

static size_t trie_memory(const tsl__trie *t) {
  return t->node_count * sizeof *t->nodes + tsl__trie_labels(t) +
         t->order_count * sizeof *t->order + t->set_count * sizeof *t->sets;
}

size_t tsl_vocab_memory(const tsl_vocab *v) {
  tsl_vocab *u = (tsl_vocab *)(uintptr_t)v;
  size_t n = sizeof(vocab) + v->mapping_size +
             (v->mapping ? tsl__trie_labels(&v->trie) : trie_memory(&v->trie)) +
             trie_memory(&((const vocab *)v)->special_trie) +
             (v->tokenizer ? v->tokenizer->ops->memory(v->tokenizer) : 0);
  for (size_t i = 0; i < TSL__SHARED; i++) {
    const tsl__shared *shared = atomic_load_explicit(&u->shared[i], memory_order_acquire);
    if (shared && shared->memory) n += shared->memory(shared);
  }
  for (size_t i = 0; i < TSL__KEPT_COUNT; i++) {
    const tsl__kept_ops *ops = atomic_load_explicit(&u->kept[i], memory_order_acquire);
    if (ops) n += ops->memory(v);
  }
  return n;
}

/* The longest token of `trie` that `text` begins with, or TSL_NO_TOKEN; *length is what it spells.
 * Of several that spell the same: the lowest id. */
static tsl_token longest(const tsl__trie *trie, const uint8_t *text, size_t length,
                         size_t *token_length) {
  tsl_token best = TSL_NO_TOKEN;
  uint32_t node = 0;
  for (size_t i = 0; i < length && (node = tsl__trie_child(trie, node, text[i])) != 0; i++) {
    const tsl__trie_node *n = &trie->nodes[node];
    if (n->own_end == n->begin) continue;
    best = trie->order[n->begin];
    *token_length = i + 1;
  }
  return best;
}

tsl_token tsl_vocab_find_special(const tsl_vocab *v, const char *text, size_t length) {
  size_t found = 0, count = 0;
  tsl_token id = longest(&((const vocab *)v)->special_trie, (const uint8_t *)text, length, &found);
  if (id != TSL_NO_TOKEN && found == length) return id;
  if (!v->tokenizer) return TSL_NO_TOKEN;
  tsl_status status = v->tokenizer->ops->encode(v->tokenizer, v, text, length,
                                                TSL__ENCODE_ONE_ADDED, &id, 1, &count);
  return !status && count == 1 ? id : TSL_NO_TOKEN;
}

/* ---- encoding by the longest token ----------------------------------------------------------- */

static bool encode_plain(const tsl_vocab *v, const uint8_t *text, size_t length,
                         tsl__id_sink *sink) {
  for (size_t at = 0, step = 0; at < length; at += step) {
    tsl_token id = longest(&v->trie, text + at, length - at, &step);
    if (id == TSL_NO_TOKEN) return false;
    tsl__id_put(sink, id);
  }
  return true;
}

static bool encode_greedy(const vocab *v, const uint8_t *text, size_t length, bool special,
                          tsl__id_sink *sink) {
  size_t done = 0, at = 0, found = 0;
  while (special && at < length) {
    tsl_token id = longest(&v->special_trie, text + at, length - at, &found);
    if (id == TSL_NO_TOKEN) {
      at++;
      continue;
    }
    if (!encode_plain(&v->base, text + done, at - done, sink)) return false;
    tsl__id_put(sink, id);
    done = at += found;
  }
  return encode_plain(&v->base, text + done, length - done, sink);
}

/* By the tokenizer of the file that the vocabulary came from. Arrays have none: there the longest
 * token that fits comes at each place, so that masks can be tried without a tokenizer. Flags of
 * our own (build.h) are a tokenizer's alone. */
static tsl_status encode(const tsl_vocab *v, const char *text, size_t length, uint32_t flags,
                         tsl_token *ids, size_t capacity, size_t *count) {
  *count = 0;
  if (!length) text = "";
  if (v->tokenizer)
    return v->tokenizer->ops->encode(v->tokenizer, v, text, length, flags, ids, capacity, count);
  tsl__id_sink sink = {ids, capacity, 0};
  if (!encode_greedy((const vocab *)v, (const uint8_t *)text, length, flags & TSL_ENCODE_SPECIAL,
                     &sink))
    return TSL_ERR_SYNTAX;
  *count = sink.count;
  return sink.count > capacity ? TSL_ERR_LIMIT : TSL_OK;
}

tsl_status tsl_vocab_encode(const tsl_vocab *v, const char *text, size_t length, uint32_t flags,
                            tsl_token *ids, size_t capacity, size_t *count) {
  if (!v || !count || (length && !text) || (capacity && !ids) ||
      flags & ~(TSL_ENCODE_SPECIAL | TSL_ENCODE_BOS))
    return TSL_ERR_ARGUMENT;
  return encode(v, text, length, flags, ids, capacity, count);
}

tsl_status tsl__vocab_encode_own(const tsl_vocab *v, const uint8_t *text, size_t length,
                                 tsl_token *ids, size_t capacity, size_t *count) {
  return encode(v, (const char *)text, length, TSL__ENCODE_OWN_ADDED, ids, capacity, count);
}
