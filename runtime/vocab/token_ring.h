/* token_ring.h - the tokens of a bitset, one by one.
 *
 * Problem   Of a vocabulary with 128,256 tokens two thousand are to be spelled. Where each begins
 *           lies in a line of its own, and so do its bytes. That is two waits for memory a token,
 *           0.1 µs each, which is more than all the rest.
 * Idea      Tokens wait in a ring. When a token comes in, the place of its bytes is fetched. When
 *           half of the tokens before it are gone, its bytes are fetched.
 *
 * Example   Sixteen tokens come in: for each the place where it begins is fetched. Then the first
 *           is given, the seventeenth comes in, and the bytes of the ninth are fetched, whose place
 *           has come by now. When it is the ninth's turn, its bytes have come as well.
 * Cost      A few instructions a token, and hardly a wait. Four words of the bitset that hold
 *           nothing are passed over together.
 * Tested by tests/walk/test_subtract.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_VOCAB_TOKEN_RING_H
#define TSL_RUNTIME_VOCAB_TOKEN_RING_H

#include "runtime/vocab/vocab.h"

#define TSL__TURNS 16u /* that wait */

typedef struct tsl__turns {
  const tsl_vocab *vocab;
  const uint32_t *bits; /* mask words of the vocabulary */
  size_t word, words;   /* the next one to be looked at; all */
  uint32_t rest;        /* of the word before that one: tokens that did not come in yet */
  uint32_t first, last; /* tokens that were given, and that came in: so many so far */
  tsl_token ring[TSL__TURNS];
} tsl__turns;

/* All tokens of the bitset, in the order of their numbers. Neither is copied: both must stay until
 * the last token was given. */
static inline tsl__turns tsl__turns_of(const tsl_vocab *vocab, const uint32_t *bits) {
  return (tsl__turns){.vocab = vocab, .bits = bits, .words = tsl_vocab_mask_words(vocab)};
}

/* The next token; false: there is none left. */
static inline bool tsl__turns_next(tsl__turns *t, tsl_token *token) {
  const tsl_vocab *v = t->vocab;
  while (t->last - t->first < TSL__TURNS) {
    /* most words hold nothing */
    for (const uint32_t *w = t->bits + t->word;
         !t->rest && t->word + 4 <= t->words && !(w[0] | w[1] | w[2] | w[3]); w += 4)
      t->word += 4;
    while (!t->rest && t->word < t->words) t->rest = t->bits[t->word++];
    if (!t->rest) break;
    tsl_token in = (tsl_token)(t->word * 32 - 32) + (tsl_token)__builtin_ctz(t->rest);
    t->rest &= t->rest - 1;
    t->ring[t->last++ % TSL__TURNS] = in;
    TSL__PREFETCH(&v->offsets[in]);
  }
  if (t->last - t->first > TSL__TURNS / 2)
    TSL__PREFETCH(v->bytes + v->offsets[t->ring[(t->first + TSL__TURNS / 2) % TSL__TURNS]]);
  if (t->first == t->last) return false;
  *token = t->ring[t->first++ % TSL__TURNS];
  return true;
}

#endif
