/* embedded.c - the vocabulary that the library carries along, for tests, examples and
 * demonstrations without a model.
 *
 * 4,096 tokens: the bytes, 3,832 merges in order, 8 special ones. scripts/train_vocab.py trained
 * them. A merge is two ids; the token that it makes has the next free id, so no texts are stored.
 *
 * Example   Token 256 is the first merge. Say it joins 101 and 32: then it spells "e ". A later
 *           merge may name 256 as a part, and its text is found by following both parts down to
 *           bytes.
 * Problem   Examples and tests must run on a machine that has no model and no network, and must
 *           give the same masks everywhere.
 * Cost      About a millisecond; nothing is read from a disk.
 * Tested by tests/vocab/test_vocab.c, tests/tokenizer/test_encode.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/vocab_files/embedded_data.h"
#include "runtime/tokenizer/tokenizer.h"

#define MERGES ((uint32_t)(sizeof embedded_merges / sizeof *embedded_merges))
#define SPECIALS ((uint32_t)(sizeof embedded_special / sizeof *embedded_special))

/* Append a token that spells `length` bytes; `bytes` may lie in b->bytes, which has room. */
static bool add_token(tsl__vocab_builder *b, const void *bytes, size_t length, bool special) {
  memcpy(b->bytes.at + b->bytes.n, bytes, length);
  b->bytes.n += length;
  return tsl__vec_push(b->alloc, &b->offsets, (uint32_t)b->bytes.n) &&
         tsl__vec_push(b->alloc, &b->special, special);
}

static bool add_bytes(tsl__vocab_builder *b) {
  if (!tsl__vec_push(b->alloc, &b->offsets, 0) || !tsl__vec_reserve(b->alloc, &b->bytes, 256))
    return false;
  for (unsigned i = 0; i < 256; i++) {
    uint8_t byte = (uint8_t)i;
    b->facts.bytes[i] = i;
    if (!add_token(b, &byte, 1, false)) return false;
  }
  return true;
}

static bool add_merges(tsl__vocab_builder *b) {
  uint32_t slots = tsl__slots_for(MERGES);
  tsl__merge *table = tsl__alloc(b->alloc, slots * sizeof *table);
  if (!table) return false;
  b->tables.span[TSL__SPAN_MERGES] = (tsl__span){table, slots * sizeof *table};
  memset(table, 0xFF, slots * sizeof *table);
  for (uint32_t i = 0; i < MERGES; i++) {
    uint32_t left = embedded_merges[i][0], right = embedded_merges[i][1];
    uint32_t left_at = b->offsets.at[left], left_length = b->offsets.at[left + 1] - left_at;
    uint32_t right_at = b->offsets.at[right], right_length = b->offsets.at[right + 1] - right_at;
    uint8_t both[TSL_MAX_TOKEN_BYTES];
    memcpy(both, b->bytes.at + left_at, left_length);
    memcpy(both + left_length, b->bytes.at + right_at, right_length);
    if (!tsl__vec_reserve(b->alloc, &b->bytes, left_length + right_length) ||
        !add_token(b, both, left_length + right_length, false))
      return false;
    tsl__merge_put(table, slots, &b->facts.merges_key, (tsl__merge){left, right, i, 256 + i});
  }
  return true;
}

static bool add_special(tsl__vocab_builder *b) {
  for (uint32_t i = 0; i < SPECIALS; i++) {
    size_t n = strlen(embedded_special[i]);
    tsl_token id = 256 + MERGES + i;
    if (!tsl__vec_reserve(b->alloc, &b->bytes, n) || !add_token(b, embedded_special[i], n, true) ||
        !tsl__builder_added(b, id, 0, embedded_special[i], n) ||
        (tsl__is_eog_name(embedded_special[i], n) && !tsl__vec_push(b->alloc, &b->eog, id)))
      return false;
  }
  return true;
}

tsl_status tsl_vocab_embedded(const tsl_allocator *allocator, tsl_vocab **out, tsl_error *error) {
  static const tsl_vocab_options no_options;
  if (!out) return tsl__fail(error, TSL_ERR_ARGUMENT, "out is NULL");
  *out = NULL;
  tsl__vocab_builder b;
  tsl__builder_init(&b, tsl__allocator_or_default(allocator));
  tsl__step split = {
      .kind = TSL__STEP_SPLIT_REGEX, .how = TSL__SPLIT_ISOLATED, .dialect = TSL__DIALECT_RUST};
  bool ok = add_bytes(&b) && add_merges(&b) && add_special(&b) &&
            tsl__builder_step(&b, split, embedded_pattern, sizeof embedded_pattern - 1, "", 0);
  tsl_status status = ok ? tsl__builder_finish(&b, &no_options, out, error)
                         : tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  tsl__builder_free(&b);
  return status;
}
