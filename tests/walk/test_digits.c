/* test_digits.c - numbers whose digits are known without a search (runtime/walk/from_root.c): masks
 * with that, without it, and token by token.
 *
 * There are three vocabularies. One has all texts of up to three digits, as tokenizers have them.
 * One lacks a few of these. One has tokens of digits and something else, where nothing is known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/draw.h"

#include "runtime/matcher/grammar.h"

#define BYTES_OF_TOKENS 8u
#define TOKENS_MAX 1500u
#define STEPS 12

static const char *const cases[] = {
    "{\"minimum\":1,\"type\":\"integer\"}", /* the vocabulary's layer has it, as the next three */
    "{\"minimum\":0,\"type\":\"number\"}",
    "{\"$schema\":\"http://json-schema.org/draft-04/schema#\",\"minimum\":1,\"type\":\"integer\"}",
    "{\"type\":\"array\",\"items\":{\"properties\":{\"a\":{\"minimum\":0,\"type\":\"integer\"},"
    "\"b\":{\"minimum\":1,\"type\":[\"null\",\"integer\"]}},\"required\":[\"a\",\"b\"]}}",
    "{\"minimum\":0.5,\"type\":\"number\"}",
    "{\"minimum\":1,\"maximum\":65535,\"type\":\"integer\"}",
    "{\"minimum\":-40000,\"maximum\":99999,\"type\":\"integer\"}",
    "{\"minimum\":10,\"type\":\"integer\"}", /* the frame may be over after some digits */
    "{\"minimum\":100,\"maximum\":999,\"type\":\"integer\"}",
    "{\"maximum\":250,\"type\":\"number\"}",
    "{\"multipleOf\":7,\"type\":\"integer\"}",
    "{\"multipleOf\":0.25,\"maximum\":5000,\"type\":\"number\"}",
    "{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"minimum\":5},\"uniqueItems\":true}",
    "{\"type\":[\"integer\",\"string\"],\"minimum\":3,\"pattern\":\"^[0-9]{2,9}$\"}",
};

/* Frames of digits behind which there are others; a rule of its own each. */
static const char *const grammars[] = {
    "root ::= digits \".\" digits\ndigits ::= [0-9]+",
    "root ::= year \"1\" year\nyear ::= [0-9] [0-9]? [0-9]? [0-9]?",
    "root ::= code code? code?\ncode ::= [1-9] [0-9] [0-9] [0-9]",
    "root ::= one | two\none ::= [0-4] [0-9] [0-9] [0-9] \"a\"\ntwo ::= [5-9] [0-9] [0-9] \"b\"",
};

/* `gaps`: some texts of digits are no tokens. `mixed`: some tokens hold digits and something
 * else. */
static tsl_vocab *vocab_of(bool gaps, bool mixed) {
  static uint8_t bytes[TOKENS_MAX * BYTES_OF_TOKENS], special[TOKENS_MAX];
  static uint32_t offsets[TOKENS_MAX + 1];
  static const tsl_token end = 256;
  static const char *const others[] = {"1,", "12.", "7e", "00]"};
  tsl_vocab *v = NULL;
  uint32_t n = 0, t = 0;
  for (; t <= 256; t++) {
    offsets[t] = n;
    special[t] = t == 256;
    if (t < 256) bytes[n++] = (uint8_t)t;
  }
  for (uint32_t digits = 2, most = 100; digits <= 3; digits++, most *= 10)
    for (uint32_t i = 0; i < most; i++) {
      if (gaps && i % 13 == 5) continue;
      offsets[t++] = n;
      n += (uint32_t)snprintf((char *)bytes + n, BYTES_OF_TOKENS, "%0*u", (int)digits, (unsigned)i);
    }
  for (uint32_t i = 0; mixed && i < sizeof others / sizeof *others; i++) {
    offsets[t++] = n;
    memcpy(bytes + n, others[i], strlen(others[i]));
    n += (uint32_t)strlen(others[i]);
  }
  offsets[t] = n;
  CHECK(tsl_vocab_new(&(tsl_vocab_desc){bytes, offsets, t, t, special, &end, 1}, NULL, &v, NULL) ==
        TSL_OK);
  if (v) tsl_vocab_set_walk_cache(v, 0); /* no walk of one is the other's */
  return v;
}

static tsl_grammar *compile(tsl_vocab *v, const char *text) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status = *text == '{'
                          ? tsl_grammar_json_schema(v, text, strlen(text), NULL, NULL, &g, &error)
                          : tsl_grammar_gbnf(v, text, strlen(text), NULL, NULL, &g, &error);
  CHECKF(status == TSL_OK, "%s: %s", text, error.message);
  return g;
}

static uint32_t depth_of; /* what the vocabulary's layer says */
static void turn(tsl_grammar *g, bool with) {
  ((tsl__space *)(uintptr_t)g->space->parent)->warm.digits_depth = with ? depth_of : 0;
}

/* Nodes visited for the first mask. */
static uint64_t visited(tsl_grammar *g, const char *begin, bool with) {
  static uint32_t mask[TOKENS_MAX / 32 + 1];
  tsl_matcher *m = NULL;
  turn(g, with);
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
        tsl_matcher_accept_bytes(m, begin, strlen(begin), NULL) == TSL_OK &&
        tsl_matcher_mask(m, mask) == TSL_OK);
  tsl_matcher_free(m);
  return tsl__space_steps(g->space);
}

/* Adds the nodes that were visited for first masks, known and searched. */
static void follow(tsl_vocab *v, const char *text, uint64_t nodes[2]) {
  const char *begin = strstr(text, "array") ? "[" : "";
  tsl_grammar *with = compile(v, text), *without = compile(v, text);
  depth_of = with ? with->space->parent->warm.digits_depth : 0;
  if (with && without)
    nodes[0] += visited(with, begin, true), nodes[1] += visited(without, begin, false);
  for (uint64_t seed = 0; with && without && seed < 24; seed++)
    follow_both(&(side_by_side){text, begin, with, without, STEPS, seed ? STEPS : 3, turn},
                seed * 31 + strlen(text));
  if (with) turn(with, true);
  tsl_grammar_release(with);
  tsl_grammar_release(without);
}

static void in_one_vocabulary(bool gaps, bool mixed, uint32_t depth) {
  uint64_t nodes[2] = {0, 0};
  tsl_vocab *v = vocab_of(gaps, mixed);
  if (!v) return;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) follow(v, cases[i], nodes);
  for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++) follow(v, grammars[i], nodes);
  CHECK(depth_of == depth);
  printf("  nodes visited for first masks: %llu, with a search %llu\n",
         (unsigned long long)nodes[0], (unsigned long long)nodes[1]);
  CHECK(depth ? nodes[0] < nodes[1] : nodes[0] == nodes[1]);
  tsl_vocab_release(v);
}

static void all_texts(void) { in_one_vocabulary(false, false, 3); }
static void some_texts(void) { in_one_vocabulary(true, false, 3); }
static void mixed_texts(void) { in_one_vocabulary(false, true, 0); }

int main(void) {
  RUN(all_texts, "tokens of one to three digits, all of them");
  RUN(some_texts, "all but some");
  RUN(mixed_texts, "some go on with something else");
  return tsl_test_end();
}
