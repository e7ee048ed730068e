/* toy.h - what the tests of decoding share: tiny vocabularies, grammars over them, a toy model.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_TOY_H
#define TSL_TESTS_SUPPORT_TOY_H

#include <math.h>

#include "tests/support/check.h"
#include "tests/support/failing.h"
#include "turnstile.h"

/* Tokens from strings (no NUL inside); the last one is special and ends a generation if `eog`. */
static inline tsl_vocab *toy_vocab(const char *const *tokens, uint32_t count, bool eog) {
  static uint8_t bytes[1 << 16];
  uint32_t offsets[512], n = 0;
  uint8_t special[512] = {0};
  for (uint32_t i = 0; i < count; i++) {
    offsets[i] = n;
    memcpy(bytes + n, tokens[i], strlen(tokens[i]));
    n += (uint32_t)strlen(tokens[i]);
  }
  offsets[count] = n;
  for (uint32_t i = 0; i < count; i++) special[i] = tokens[i][0] == '<';
  tsl_token end = count - 1;
  tsl_vocab_desc d = {bytes, offsets, count, 0, special, &end, eog ? 1 : 0};
  tsl_vocab *v = NULL;
  tsl_error e = {0};
  CHECKF(tsl_vocab_new(&d, NULL, &v, &e) == TSL_OK, "%s", e.message);
  return v;
}

static inline tsl_grammar *toy_gbnf(tsl_vocab *v, const char *text) {
  tsl_grammar *g = NULL;
  tsl_error e = {0};
  CHECKF(tsl_grammar_gbnf(v, text, strlen(text), NULL, NULL, &g, &e) == TSL_OK, "%s: %s", text,
         e.message);
  return g;
}

static inline tsl_grammar *toy_schema(tsl_vocab *v, const char *text) {
  tsl_grammar *g = NULL;
  tsl_error e = {0};
  tsl_schema_options o = {.whitespace = TSL_WS_COMPACT};
  tsl_status status = tsl_grammar_json_schema(v, text, strlen(text), &o, NULL, &g, &e);
  CHECKF(status == TSL_OK || status == TSL_ERR_EMPTY, "%s: %s", text, e.message);
  return g;
}

/* A model: the logits are random numbers of the whole prefix, `spread` wide. */
typedef struct toy_model {
  uint64_t seed;
  float spread;
  uint32_t width;
  uint64_t calls, rows;
} toy_model;

static inline void toy_logits(const toy_model *m, const tsl_token *tokens, size_t count,
                              float *out) {
  uint64_t state = m->seed;
  for (size_t i = 0; i < count; i++) {
    state ^= (tokens[i] + 1) * 0x9e3779b97f4a7c15u;
    state = tsl_test_random(&state);
  }
  for (uint32_t i = 0; i < m->width; i++)
    out[i] = m->spread * (float)((double)(tsl_test_random(&state) >> 11) * 0x1p-53 - 0.5);
}

/* exp(x - max) / sum, in doubles. */
static inline void toy_softmax(const float *logits, const uint32_t *mask, uint32_t width,
                               double *out) {
  double top = -INFINITY, sum = 0;
  for (uint32_t i = 0; i < width; i++)
    if ((!mask || tsl_mask_has(mask, i)) && logits[i] > top) top = logits[i];
  for (uint32_t i = 0; i < width; i++)
    sum += out[i] = !mask || tsl_mask_has(mask, i) ? exp((double)logits[i] - top) : 0;
  for (uint32_t i = 0; i < width; i++) out[i] /= sum;
}

#endif
