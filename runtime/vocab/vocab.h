/* vocab.h - the inside of a vocabulary.
 *
 * A vocabulary is the tokens' bytes, the trie over those that text can spell, what is special and
 * what ends a generation. If it came from a tokenizer file, it has a tokenizer that encodes text,
 * too. It never changes after it was made, but for `shared`, which is made once behind the lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_VOCAB_VOCAB_H
#define TSL_RUNTIME_VOCAB_VOCAB_H

#include <stdatomic.h>

#include "runtime/core/os.h"
#include "runtime/core/trie.h"

/* Encodes text; owned by the vocabulary. Implemented in runtime/tokenizer/ (needs PCRE2), so the
 * core sees only this. */
typedef struct tsl__tokenizer tsl__tokenizer;
typedef struct tsl__tokenizer_ops {
  tsl_status (*encode)(const tsl__tokenizer *t, const tsl_vocab *vocab, const char *text,
                       size_t length, uint32_t flags, tsl_token *ids, size_t capacity,
                       size_t *count);
  void (*free)(tsl__tokenizer *t);
  size_t (*memory)(const tsl__tokenizer *t);
} tsl__tokenizer_ops;
struct tsl__tokenizer {
  const tsl__tokenizer_ops *ops;
};

/* What the compiler keeps per vocabulary and shares between grammars (warm states and walks).
 * Opaque here. */
#define TSL__SHARED 2u /* layers: one for each way to spell JSON (tsl_spelling) */

typedef struct tsl__shared {
  void (*free)(struct tsl__shared *shared);
  size_t (*memory)(const struct tsl__shared *shared);
} tsl__shared;

/* What a room above keeps with a vocabulary, made when it is first needed. Who made it says how it
 * is freed and how large it is. */
typedef struct tsl__kept_ops {
  void (*free)(tsl_vocab *vocab);
  size_t (*memory)(const tsl_vocab *vocab);
} tsl__kept_ops;

/* In the order in which they are freed. */
typedef enum tsl__kept_kind {
  TSL__KEPT_LENGTHS,  /* `lengths` */
  TSL__KEPT_BOUNDARY, /* `boundary` */
  TSL__KEPT_WALKS,    /* `common` */
  TSL__KEPT_COUNT
} tsl__kept_kind;

/* bytes of walks that the grammars of a vocabulary share, where the host did not say. With it a
 * vocabulary of 128,000 tokens stays below 64 MB */
#define TSL__COMMON_BYTES ((size_t)9 << 20)

struct tsl_vocab {
  tsl_allocator alloc;
  atomic_uint references;
  uint32_t size, logits_width;
  const uint8_t *bytes;    /* offsets[size] bytes */
  const uint32_t *offsets; /* size + 1 */
  const uint8_t *special;  /* size flags */
  const tsl_token *eog;
  uint32_t eog_count;
  /* bit k: some of them are k modulo 64, so that few tokens need their flags looked at */
  uint64_t eog_filter;
  tsl__trie trie;
  tsl__tokenizer *tokenizer; /* NULL: made from arrays */
  uint8_t identity[16];
  /* guards the making of what is made once: the next four, `shared` */
  tsl__mutex lock;
  atomic_bool tokens_named; /* `tokens` is known */
  uint8_t tokens[16];       /* as `identity`, of what changes a mask alone */
  /* lengths of tokens, for grammars that were loaded (runtime/walk/classes.h) */
  _Atomic(struct tsl__space *) lengths;
  /* tokens that may pass from one item or member into the next, for the same
   * (runtime/position/boundary.h) */
  _Atomic(struct tsl__boundary *) boundary;
  /* what its grammars learn from one another (runtime/walk/shared_walks.h) */
  _Atomic(struct tsl__common *) common;
  atomic_size_t walk_cache;                             /* its bytes at most */
  _Atomic(const tsl__kept_ops *) kept[TSL__KEPT_COUNT]; /* NULL: it was not made */
  _Atomic(tsl__shared *) shared[TSL__SHARED];           /* each NULL until its first grammar */
  /* tables of grammars so far: their serial numbers (runtime/matcher/grammar.h) */
  _Atomic(uint64_t) tables_made;
  void *mapping; /* cache file behind the arrays, or NULL */
  size_t mapping_size;
};

/* As tsl_vocab_new, and takes the tokenizer over on success (it stays the caller's on failure).
 * `tokenizer_hash` is 16 bytes of XXH3-128 over what changes an encoding, mixed into the identity
 * (NULL without a tokenizer). */
tsl_status tsl__vocab_make(const tsl_vocab_desc *desc, const tsl_allocator *allocator,
                           tsl__tokenizer *tokenizer, const uint8_t *tokenizer_hash,
                           tsl_vocab **out, tsl_error *error);

/* May a grammar take this token by its name? One that ends a generation, or that has no bytes, is
 * no part of a text. */
static inline bool tsl__vocab_has_name(const tsl_vocab *v, tsl_token t) {
  return v->offsets[t] < v->offsets[t + 1] && !tsl_vocab_is_eog(v, t);
}
/* Is it spelled, with bytes of these alone? */
static inline bool tsl__vocab_within(const tsl_vocab *v, tsl_token token, const tsl__bytes *bytes) {
  const uint8_t *at = v->bytes + v->offsets[token], *end = v->bytes + v->offsets[token + 1];
  if (at == end || !tsl__bytes_has(bytes, *at) || v->special[token]) return false;
  while (++at < end)
    if (!tsl__bytes_has(bytes, *at)) return false;
  return true;
}
/* Encode a text as a model writes it: added tokens that are not special are found in it, special
 * ones are not. Otherwise as tsl_vocab_encode. */
tsl_status tsl__vocab_encode_own(const tsl_vocab *v, const uint8_t *text, size_t length,
                                 tsl_token *ids, size_t capacity, size_t *count);

/* Is there such a token among these, which are in order, or, `others`, among all but these? */
bool tsl__vocab_names_some(const tsl_vocab *v, const tsl_token *tokens, size_t n, bool others);

/* XXH3-128 over what changes a mask, whatever encodes text. Hashed when it is first requested: 0.1
 * ms for 128k tokens. */
void tsl__vocab_tokens_identity(tsl_vocab *vocab, uint8_t out[16]);

#endif
