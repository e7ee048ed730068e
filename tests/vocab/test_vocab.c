/* test_vocab.c - vocabularies from arrays, the embedded one, and threads that encode at once.
 * Encoding of real vocabularies is test_encode.c's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>

#include "tests/support/vocab.h"

/* ---- arrays ---------------------------------------------------------------------------------- */

/* a, b, ab, abc, "" and specials <x>, <xy>, </s> */
static const uint8_t array_bytes[] = "ababcab"
                                     "c"
                                     "<x><xy></s>";
static const uint32_t array_offsets[] = {0, 1, 2, 5, 7, 7, 8, 11, 15, 19};
static const uint8_t array_special[] = {0, 0, 0, 0, 0, 0, 1, 7, 0};
static const tsl_token array_eog[] = {8, 6, 8};
static const tsl_vocab_desc array_desc = {array_bytes,   array_offsets, 9, 40,
                                          array_special, array_eog,     3};

static void test_arrays(void) {
  tsl_vocab *v;
  CHECK(tsl_vocab_new(&array_desc, NULL, &v, NULL) == TSL_OK);
  CHECK(tsl_vocab_size(v) == 9 && tsl_vocab_logits_width(v) == 40 && tsl_vocab_mask_words(v) == 2);
  CHECK(token_is(v, 2, "abc") && token_is(v, 3, "ab") && token_is(v, 4, "") &&
        token_is(v, 7, "<xy>"));
  size_t n = 1;
  CHECK(!tsl_vocab_bytes(v, 9, &n) && n == 0 && !tsl_vocab_is_special(v, 9) &&
        !tsl_vocab_is_eog(v, TSL_NO_TOKEN));
  CHECK(!tsl_vocab_is_special(v, 0) && tsl_vocab_is_special(v, 6) && tsl_vocab_is_special(v, 7) &&
        tsl_vocab_is_special(v, 8));
  CHECK(tsl_vocab_is_eog(v, 8) && tsl_vocab_is_eog(v, 6) && !tsl_vocab_is_eog(v, 7));
  uint32_t count;
  const tsl_token *eog = tsl_vocab_eog(v, &count);
  CHECK(count == 2 && eog[0] == 8 && eog[1] == 6);
  CHECK(tsl_vocab_find_special(v, "<x>", 3) == 6 && tsl_vocab_find_special(v, "<xy>", 4) == 7 &&
        tsl_vocab_find_special(v, "</s>", 4) == 8);
  CHECK(tsl_vocab_find_special(v, "<x", 2) == TSL_NO_TOKEN &&
        tsl_vocab_find_special(v, "a", 1) == TSL_NO_TOKEN &&
        tsl_vocab_find_special(v, "", 0) == TSL_NO_TOKEN);
  CHECK(tsl__trie_check(&v->trie, v->bytes, v->offsets, v->size, v->special) &&
        v->trie.order_count == 5);
  CHECK(tsl_vocab_memory(v) > sizeof *v);
  tsl_vocab_retain(v);
  tsl_vocab_release(v);
  CHECK(token_is(v, 0, "a"));
  tsl_vocab_release(v);
  tsl_vocab_release(NULL);
}

static void test_greedy_special(void) {
  tsl_vocab *v;
  tsl_token ids[2];
  size_t count = 7;
  CHECK(tsl_vocab_new(&array_desc, NULL, &v, NULL) == TSL_OK);
  ENCODES(v, "abcabab", 0, 2, 3, 3);
  ENCODES(v, "aab", 0, 0, 3);
  ENCODES(v, "ab<x>abc<xy></s>c", TSL_ENCODE_SPECIAL, 3, 6, 2, 7, 8, 5);
  CHECK(tsl_vocab_encode(v, "ab<x>", 5, 0, ids, 2, &count) == TSL_ERR_SYNTAX && count == 0);
  CHECK(tsl_vocab_encode(v, "abcabab", 7, 0, ids, 2, &count) == TSL_ERR_LIMIT && count == 3 &&
        ids[0] == 2 && ids[1] == 3);
  CHECK(tsl_vocab_encode(v, "abcabab", 7, 0, NULL, 0, &count) == TSL_ERR_LIMIT && count == 3);
  CHECK(tsl_vocab_encode(v, NULL, 0, TSL_ENCODE_BOS, NULL, 0, &count) == TSL_OK && count == 0);
  CHECK(tsl_vocab_encode(v, NULL, 1, 0, ids, 2, &count) == TSL_ERR_ARGUMENT);
  CHECK(tsl_vocab_encode(v, "a", 1, 4, ids, 2, &count) == TSL_ERR_ARGUMENT &&
        tsl_vocab_encode(v, "a", 1, 0, NULL, 2, &count) == TSL_ERR_ARGUMENT);
  CHECK(tsl_vocab_encode(v, "a", 1, 0, ids, 2, NULL) == TSL_ERR_ARGUMENT);
  tsl_vocab_release(v);
}

static void test_bad_arrays(void) {
  static const uint32_t decreasing[] = {0, 2, 1, 3}, late[] = {1, 2, 3, 4}, whole[] = {0, 1, 2, 3},
                        too_long[] = {0, 1, 2, 2 + TSL_MAX_TOKEN_BYTES + 1};
  static const uint8_t bytes[TSL_MAX_TOKEN_BYTES + 8] = {0};
  static const tsl_token outside[] = {3};
  static const struct {
    tsl_vocab_desc desc;
    tsl_status status;
    const char *words;
  } cases[] = {
      {{bytes, decreasing, 3, 0, NULL, NULL, 0}, TSL_ERR_ARGUMENT, "offsets[2]"},
      {{bytes, late, 3, 0, NULL, NULL, 0}, TSL_ERR_ARGUMENT, "offsets[0]"},
      {{bytes, whole, 0, 0, NULL, NULL, 0}, TSL_ERR_ARGUMENT, "at least one"},
      {{bytes, whole, 3, 2, NULL, NULL, 0}, TSL_ERR_ARGUMENT, "logits_width"},
      {{bytes, whole, 3, TSL_MAX_VOCAB + 1, NULL, NULL, 0}, TSL_ERR_LIMIT, "logits_width"},
      {{bytes, whole, TSL_MAX_VOCAB + 1, 0, NULL, NULL, 0}, TSL_ERR_LIMIT, "TSL_MAX_VOCAB"},
      {{bytes, too_long, 3, 0, NULL, NULL, 0}, TSL_ERR_LIMIT, "TSL_MAX_TOKEN_BYTES"},
      {{NULL, whole, 3, 0, NULL, NULL, 0}, TSL_ERR_ARGUMENT, "bytes"},
      {{bytes, NULL, 3, 0, NULL, NULL, 0}, TSL_ERR_ARGUMENT, "NULL"},
      {{bytes, whole, 3, 0, NULL, outside, 1}, TSL_ERR_ARGUMENT, "end-of-generation token 3"},
      {{bytes, whole, 3, 0, NULL, NULL, 1}, TSL_ERR_ARGUMENT, "NULL"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_vocab *v = (tsl_vocab *)&v;
    tsl_error error = {0};
    tsl_status status = tsl_vocab_new(&cases[i].desc, NULL, &v, &error);
    CHECKF(status == cases[i].status && error.status == status &&
               strstr(error.message, cases[i].words) && !v,
           "case %zu: %s", i, error.message);
  }
  tsl_vocab *v;
  CHECK(tsl_vocab_new(NULL, NULL, &v, NULL) == TSL_ERR_ARGUMENT && !v &&
        tsl_vocab_new(&array_desc, NULL, NULL, NULL) == TSL_ERR_ARGUMENT);
}

static void identity_of(const tsl_vocab_desc *desc, uint8_t out[16]) {
  tsl_vocab *v;
  CHECK(tsl_vocab_new(desc, NULL, &v, NULL) == TSL_OK);
  tsl_vocab_identity(v, out);
  tsl_vocab_release(v);
}

/* Whatever changes a mask changes the identity; the order of the end-of-generation tokens does
 * not. */
static void test_identity(void) {
  static const tsl_token other_order[] = {6, 8}, fewer[] = {8};
  static const uint8_t other_special[] = {0, 0, 1, 0, 0, 0, 1, 1, 0},
                       same_special[] = {0, 0, 0, 0, 0, 0, 1, 1, 0};
  static const uint32_t other_cut[] = {0, 1, 2, 4, 7, 7, 8, 11, 15, 19};
  static const uint8_t other_bytes[] = "ababcax"
                                       "c"
                                       "<x><xy></s>";
  uint8_t base[16], other[16];
  tsl_vocab_desc d;
  identity_of(&array_desc, base);
  identity_of(&array_desc, other);
  CHECK(!memcmp(base, other, 16));
  d = array_desc, d.eog = other_order, d.eog_count = 2, d.special = same_special;
  identity_of(&d, other);
  CHECK(!memcmp(base, other, 16));
  d = array_desc, d.eog = fewer, d.eog_count = 1;
  identity_of(&d, other);
  CHECK(memcmp(base, other, 16));
  d = array_desc, d.special = other_special;
  identity_of(&d, other);
  CHECK(memcmp(base, other, 16));
  d = array_desc, d.offsets = other_cut;
  identity_of(&d, other);
  CHECK(memcmp(base, other, 16));
  d = array_desc, d.bytes = other_bytes;
  identity_of(&d, other);
  CHECK(memcmp(base, other, 16));
  d = array_desc, d.logits_width = 64;
  identity_of(&d, other);
  CHECK(memcmp(base, other, 16));
}

static void test_arrays_no_memory(void) {
  unsigned failures = 0;
  for (long n = 0;; n++) {
    failing f = {n, 0};
    tsl_allocator a = failing_allocator(&f);
    tsl_vocab *v;
    tsl_error error;
    tsl_status status = tsl_vocab_new(&array_desc, &a, &v, &error);
    tsl_vocab_release(v);
    CHECKF(f.held == 0, "allocation %ld: %ld bytes held", n, f.held);
    if (!failing_failed(&f)) break;
    CHECK(status == TSL_OK || (status == TSL_ERR_NO_MEMORY && error.status == status && !v));
    failures += status != TSL_OK;
  }
  CHECK(failures > 10);
}

/* ---- the embedded vocabulary ----------------------------------------------------------------- */

static void test_embedded(void) {
  tsl_vocab *v;
  tsl_error error;
  CHECK(tsl_vocab_embedded(NULL, &v, &error) == TSL_OK);
  if (!v) return;
  CHECK(tsl_vocab_size(v) == 4096 &&
        tsl__trie_check(&v->trie, v->bytes, v->offsets, v->size, v->special));
  bool bytes = true;
  for (unsigned b = 0; b < 256; b++)
    bytes = bytes && v->offsets[b + 1] - v->offsets[b] == 1 && v->bytes[v->offsets[b]] == b;
  CHECK(bytes);
  tsl_token end = tsl_vocab_find_special(v, "<|endoftext|>", 13);
  CHECK(end != TSL_NO_TOKEN && tsl_vocab_is_eog(v, end) &&
        tsl_vocab_find_special(v, "<|tool_call|>", 13) != TSL_NO_TOKEN);
  ENCODES(v, "\xFF\xC3", 0, 0xFF, 0xC3);
  ENCODES(v, "<|endoftext|>", TSL_ENCODE_SPECIAL, end);
  CHECK(tsl_vocab_embedded(NULL, NULL, NULL) == TSL_ERR_ARGUMENT);
  tsl_vocab_release(v);
}

/* A long piece without any border: the encoder is not quadratic. */
static void test_long_pieces(void) {
  tsl_vocab *v;
  enum { N = 2000000 };
  if (tsl_vocab_embedded(NULL, &v, NULL)) return;
  char *text = malloc(N);
  tsl_token *ids = malloc(N * sizeof *ids);
  size_t count = 0, total = 0;
  uint64_t seed = 2;
  for (size_t i = 0; i < N; i++) text[i] = (char)('a' + tsl_test_random(&seed) % 26);
  CHECK(tsl_vocab_encode(v, text, N, 0, ids, N, &count) == TSL_OK && count > N / 8 && count < N);
  for (size_t i = 0; i < count; i++) total += v->offsets[ids[i] + 1] - v->offsets[ids[i]];
  CHECK(total == N);
  memset(text, ' ', N); /* PCRE2's longest loops */
  CHECK(tsl_vocab_encode(v, text, N, 0, ids, N, &count) == TSL_OK && count > 0);
  free(ids);
  free(text);
  tsl_vocab_release(v);
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct job {
  tsl_vocab *vocab;
  uint64_t hash; /* of all ids */
} job;

static void *encode_much(void *ctx) {
  job *j = ctx;
  tsl_token ids[256];
  char text[256];
  uint64_t seed = 17;
  for (int i = 0; i < 400; i++) {
    size_t length = 1 + (size_t)(tsl_test_random(&seed) % sizeof text), count;
    for (size_t k = 0; k < length; k++) text[k] = (char)(32 + tsl_test_random(&seed) % 95);
    if (tsl_vocab_encode(j->vocab, text, length, TSL_ENCODE_SPECIAL, ids, 256, &count)) continue;
    for (size_t k = 0; k < count; k++) j->hash = tsl__mix(j->hash + ids[k]);
  }
  tsl_vocab_release(j->vocab);
  return NULL;
}

/* Threads that encode at once get what one thread gets. */
static void test_threads(void) {
  job jobs[5] = {{0}};
  pthread_t threads[4];
  tsl_vocab *v;
  if (tsl_vocab_embedded(NULL, &v, NULL)) return;
  for (int i = 0; i < 5; i++) {
    jobs[i].vocab = v;
    tsl_vocab_retain(v);
  }
  encode_much(&jobs[4]);
  for (int i = 0; i < 4; i++) CHECK(!pthread_create(&threads[i], NULL, encode_much, &jobs[i]));
  tsl_vocab_release(v);
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    CHECK(jobs[i].hash && jobs[i].hash == jobs[4].hash);
  }
}

int main(void) {
  RUN(test_arrays, "a vocabulary from arrays");
  RUN(test_greedy_special, "the longest token, special tokens");
  RUN(test_bad_arrays, "arrays that do not fit");
  RUN(test_identity, "what the identity depends on");
  RUN(test_arrays_no_memory, "each allocation fails once");
  RUN(test_embedded, "the embedded vocabulary");
  RUN(test_long_pieces, "pieces of two megabytes");
  RUN(test_threads, "four threads encode at once");
  return tsl_test_end();
}
