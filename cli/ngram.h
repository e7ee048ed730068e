/* ngram.h - a language model small enough to be a table: it makes the tool's texts look like
 * something.
 *
 * Problem   `generate` and `demo` need logits for any vocabulary, with no model to download.
 * Idea      Score bytes, not tokens: P(byte | the four bytes before) by back-off over 14,000
 *           n-grams (ngram_data.c, made by scripts/train_ngram.py). A token stands for the texts
 *           that begin with it and with no longer token. Its probability is that of its bytes minus
 *           that of the tokens that continue it. These sum to 1, so legal_mass means what it says,
 *           and long tokens are preferred as a tokenizer would. NUL stands for the start and the
 *           end of a text, so an end-of-generation token is scored as a NUL.
 * State     For every suffix of the last four bytes, the trie node that spells it (or none).
 *           Reading a byte moves all of them one down.
 * Cost      About 50 ns a byte. A row of logits reuses what neighbouring tokens in sorted order
 *           have in common: 4,096 tokens 0.5 ms, 128,256 tokens 20 ms.
 * Tested by tests/cli/test_cli_generate.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_NGRAM_H
#define TSL_CLI_NGRAM_H

#include "turnstile.h"

#define NGRAM_CONTEXT 4 /* bytes */

/* ngram_data.c; the format is described in scripts/train_ngram.py. */
extern const uint32_t ngram_node_count;
extern const uint32_t ngram_nodes[];

/* What has been read. node[k] spells the last k bytes; node[0] is the root, 0 for k > 0 means that
 * they are no known context. */
typedef struct ngram_state {
  uint32_t node[NGRAM_CONTEXT + 1];
} ngram_state;

typedef struct ngram ngram;

/* Prepare the model for a vocabulary, which must outlive it. NULL when out of memory. Cost: a sort
 * of the tokens. */
ngram *ngram_new(const tsl_vocab *vocab);
void ngram_free(ngram *model);

/* The state at the start of a text. */
ngram_state ngram_start(const ngram *model);
/* log P(byte | state), in nats; the state moves on. */
float ngram_read(const ngram *model, ngram_state *state, uint8_t byte);
/* A row of logits (tsl_vocab_logits_width floats) for the token after `state`. Where `mask` is
 * given, only its tokens are scored, the others are -inf, and only they take from the tokens that
 * they continue. Special tokens other than the end, and tokens with a NUL byte, are unlikely but
 * possible; padding is -inf. */
void ngram_logits(const ngram *model, const ngram_state *state, const uint32_t *mask,
                  float *logits);

#endif
