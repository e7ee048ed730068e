/* logits.c - masks on logits: the public calls and the operations on whole masks.
 *
 * Arguments are checked here; the work is done by the kernels (logits.h) that logits_dispatch.c
 * chose.
 *
 * Example   A width of 70 tokens is 3 words, of which the last has 6 bits that count.
 *           tsl_mask_count counts two words as they are, and of the third its lower 6 bits: padding
 *           may hold anything.
 * Tested by tests/kernels/test_logits.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/kernels/logits.h"

/* Sign and exponent all ones, fraction 0: half floats have 5 bits of exponent, bfloat16 has 8. */
#define MINUS_INF_F16 0xfc00u
#define MINUS_INF_BF16 0xff80u

tsl_status tsl_mask_apply(const uint32_t *mask, void *logits, size_t width, tsl_dtype dtype) {
  if (width > TSL_MAX_VOCAB) return TSL_ERR_ARGUMENT;
  if (width && (!mask || !logits)) return TSL_ERR_ARGUMENT;
  const tsl__logits_kernels *k = tsl__logits();
  switch (dtype) {
  case TSL_F32: k->apply32(mask, logits, width); return TSL_OK;
  case TSL_F16: k->apply16(mask, logits, width, MINUS_INF_F16); return TSL_OK;
  case TSL_BF16: k->apply16(mask, logits, width, MINUS_INF_BF16); return TSL_OK;
  }
  return TSL_ERR_ARGUMENT;
}

size_t tsl_mask_count(const uint32_t *mask, size_t width) {
  const tsl__logits_kernels *k = tsl__logits();
  size_t n = k->count_words(mask, width / 32);
  if (width % 32) {
    uint32_t last = mask[width / 32] & ((1u << (width % 32)) - 1);
    n += k->count_words(&last, 1);
  }
  return n;
}

/* The one kernel that runs for every mask: its pointer has a place of its own, so that no table is
 * read. */
TSL__EACH_TOKEN void tsl__mask_copy(uint32_t *to, const uint32_t *from, size_t words) {
  atomic_load_explicit(&tsl__logits_copy, memory_order_relaxed)(to, from, words);
}
void tsl__mask_or(uint32_t *to, const uint32_t *from, size_t words) {
  tsl__logits()->or_words(to, to, from, words);
}
TSL__EACH_TOKEN void tsl__mask_unite(uint32_t *to, const uint32_t *a, const uint32_t *b,
                                     size_t words) {
  tsl__logits()->or_words(to, a, b, words);
}
void tsl__mask_and(uint32_t *to, const uint32_t *from, size_t words) {
  tsl__logits()->and_words(to, to, from, words);
}
void tsl__mask_meet(uint32_t *to, const uint32_t *a, const uint32_t *b, size_t words) {
  tsl__logits()->and_words(to, a, b, words);
}
void tsl__mask_andnot(uint32_t *to, const uint32_t *from, size_t words) {
  tsl__logits()->andnot_words(to, from, words);
}
