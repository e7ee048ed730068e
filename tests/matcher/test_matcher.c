/* test_matcher.c - the calls of a matcher at their edges: histories that wrap around, drafts that
 * end, ends of texts, names of tokens, limits of depth.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>

#include "runtime/matcher/grammar.h"
#include "runtime/automaton/state.h"
#include "tests/support/check.h"
#include "tests/support/text.h"
#include "tests/support/toy.h"
#include "tests/support/take.h"

static const char *const texts[] = {"a", "b",  "ab", "ba", "aba",  "(",
                                    ")", "((", "))", "\n", "<end>"};
#define TOKENS ((uint32_t)(sizeof texts / sizeof *texts))
#define END (TOKENS - 1)

/* Positions gone through by random tokens, rolled back by any number: the masks are those of the
 * way there. The ring of positions wraps many times. */
static void histories(void) {
  enum { STEPS = 3 * TSL_MAX_ROLLBACK };
  static uint32_t masks[STEPS + 1];
  uint64_t seed = 3;
  tsl_vocab *v = toy_vocab(texts, TOKENS, true);
  tsl_grammar *g = toy_gbnf(v, "root ::= (\"a\" [ab] \"b\"+ | \"b\" \"a\"? \"\\n\")*");
  tsl_matcher *m = NULL, *fork = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_history(m) == 0 &&
        tsl_matcher_rollback(m, 1) == TSL_ERR_STATE);
  size_t n = 0, kept = 0, backs = 0;
  for (size_t work = 0; n < STEPS && work < 3 * STEPS; work++) {
    uint32_t mask = 0;
    CHECK(tsl_matcher_mask(m, &mask) == TSL_OK && mask);
    masks[n] = mask;
    if (tsl_test_random(&seed) % 50 == 0) {
      size_t back = tsl_test_random(&seed) % 40;
      CHECK(tsl_matcher_rollback(m, kept + 1) == TSL_ERR_STATE);
      if (back > kept) back = kept;
      CHECK(tsl_matcher_rollback(m, back) == TSL_OK && tsl_matcher_mask(m, &mask) == TSL_OK);
      n -= back;
      kept -= back;
      backs++;
      CHECKF(mask == masks[n], "back to %zu", n);
    }
    if (tsl_test_random(&seed) % 300 == 0) {
      CHECK(tsl_matcher_fork(m, &fork) == TSL_OK);
      tsl_matcher_free(m);
      m = fork;
    }
    CHECK(tsl_matcher_accept(m, draw(&mask, END, &seed)) == TSL_OK);
    n++;
    kept += kept < TSL_MAX_ROLLBACK;
    CHECK(tsl_matcher_history(m) == kept);
  }
  CHECK(kept == TSL_MAX_ROLLBACK && backs > 10);
  uint32_t mask;
  CHECK(tsl_matcher_rollback(m, kept + 1) == TSL_ERR_STATE &&
        tsl_matcher_rollback(m, kept) == TSL_OK && tsl_matcher_mask(m, &mask) == TSL_OK &&
        mask == masks[n - kept]);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* A draft ends at the first token that is rejected, and nothing comes after an end of
 * generation. */
static void drafts(void) {
  static const struct {
    tsl_token draft[5];
    size_t n, valid;
  } cases[] = {
      {{0, 1, 0}, 3, 3}, {{END, 0, 1}, 3, 1}, {{0, END, 1}, 3, 1},    {{0, 1, END, END}, 4, 3},
      {{2, END}, 2, 2},  {{5, 0}, 2, 0},      {{0, TOKENS, 1}, 3, 1}, {{0, 1, TOKENS + 50}, 3, 2},
      {{2}, 0, 0}};
  tsl_vocab *v = toy_vocab(texts, TOKENS, true);
  tsl_grammar *g = toy_gbnf(v, "root ::= (\"a\" \"b\")* (\"a\" \"b\" \"a\")?");
  tsl_matcher *m = NULL;
  uint32_t before = 0, after = 0;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_mask(m, &before) == TSL_OK);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t valid = 99;
    CHECK(tsl_matcher_validate(m, cases[i].draft, cases[i].n, &valid) == TSL_OK);
    CHECKF(valid == cases[i].valid, "draft %zu: %zu", i, valid);
  }
  CHECK(tsl_matcher_mask(m, &after) == TSL_OK && before == after && tsl_matcher_history(m) == 0);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* What must come, where tokens may be accepted by their names: no more than they agree on. */
static void names_beside_bytes(void) {
  static const char *const tokens[] = {"a", "b", "<t>", "ab", "<end>"};
  static const struct {
    const char *grammar, *before, *forced;
  } cases[] = {
      {"root ::= \"ab\" | <[2]> \"c\"", "", ""},
      {"root ::= (<[2]> \"x\")? \"ab\"", "", ""},
      {"root ::= \"ab\" (<[2]> | \"cd\")", "", "ab"},
      {"root ::= \"ab\" (<[2]> | \"cd\")", "ab", ""},
      {"root ::= \"ab\" (<[2]> | \"cd\")", "abc", "d"},
      {"root ::= a | \"ab\"\na ::= b \"c\"\nb ::= <[2]>", "", ""},
      {"root ::= \"ab\" end\nend ::= \"c\" end | <[2]>", "", "ab"},
      {"root ::= \"ab\" | !<[2]>", "", ""},
      /* both are spelled so, and lead to the same */
      {"root ::= (\"<t>\" | <[2]>) \"ab\" [xy]", "", "<t>ab"},
      {"root ::= \"<t>ab\" | <[2]> \"cd\"", "", "<t>"},
      {"root ::= \"<tab\" | <[2]> \"cd\"", "", "<t"},
      {"root ::= (\"<t>\" | <[2]> | <[3]>) \"ab\" [xy]", "", ""},
      {"root ::= (\"ab\" | <[3]>) \"c\" [xy]", "", "abc"},
      {"root ::= (\"ab\" | \"a\" <[2]> | <[3]>) \"c\"", "", "a"},
      {"root ::= \"ab\" | <[4]>", "", "ab"}, /* no end of a generation has a name */
      {"root ::= <[2]> \"ab\"", "", ""},
  };
  tsl_vocab *v = toy_vocab(tokens, 5, true);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *g = toy_gbnf(v, cases[i].grammar);
    tsl_matcher *m = NULL;
    uint8_t bytes[16];
    size_t n = 9;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
          tsl_matcher_accept_bytes(m, cases[i].before, strlen(cases[i].before), NULL) == TSL_OK);
    CHECK(tsl_matcher_forced_bytes(m, bytes, sizeof bytes, &n) == TSL_OK);
    CHECKF(n == strlen(cases[i].forced) && !memcmp(bytes, cases[i].forced, n),
           "%s after \"%s\": %.*s", cases[i].grammar, cases[i].before, (int)n, (const char *)bytes);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
}

/* Before the end, at it, and past it. */
static void ends(void) {
  tsl_vocab *v = toy_vocab(texts, TOKENS, true);
  tsl_grammar *g = toy_gbnf(v, "root ::= \"ab\" (\"a\" \"ba\")?");
  tsl_matcher *m = NULL;
  uint8_t bytes[8];
  uint32_t mask, next[8];
  const uint32_t *lent = NULL;
  size_t n, accepted = 9;
  uint64_t least = 0, id = 0;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && !tsl_matcher_is_complete(m));
  CHECK(tsl_matcher_accept(m, END) == TSL_REJECTED &&
        tsl_matcher_accept(m, TOKENS) == TSL_ERR_ARGUMENT && tsl_matcher_history(m) == 0);
  CHECK(tsl_matcher_forced_bytes(m, bytes, 1, &n) == TSL_OK && n == 1 && bytes[0] == 'a');
  /* there the text may end */
  CHECK(tsl_matcher_forced_bytes(m, bytes, 8, &n) == TSL_OK && n == 2 && !memcmp(bytes, "ab", 2));
  CHECK(tsl_matcher_shortest_completion(m, &least) == TSL_OK && least == 2);
  CHECK(tsl_matcher_accept_bytes(m, "", 0, &accepted) == TSL_OK && accepted == 0 &&
        tsl_matcher_history(m) == 0);
  CHECK(tsl_matcher_accept_bytes(m, "abb", 3, &accepted) == TSL_REJECTED && accepted == 2 &&
        tsl_matcher_history(m) == 0);
  CHECK(tsl_matcher_accept_bytes(m, "ab", 2, NULL) == TSL_OK && tsl_matcher_is_complete(m) &&
        !tsl_matcher_is_terminated(m));
  CHECK(tsl_matcher_next_bytes(m, next) == TSL_OK && next['a' / 32] == (uint32_t)1 << 'a' % 32 &&
        tsl_mask_count(next, 256) == 1);
  CHECK(tsl_matcher_shortest_completion(m, &least) == TSL_OK && least == 0 &&
        tsl_matcher_forced_bytes(m, bytes, 8, &n) == TSL_OK && n == 0);
  CHECK(tsl_matcher_mask(m, &mask) == TSL_OK &&
        mask == ((uint32_t)1 << END | 1u | 1u << 2 | 1u << 4));
  CHECK(tsl_matcher_accept(m, 0) == TSL_OK && tsl_matcher_forced_bytes(m, bytes, 8, &n) == TSL_OK &&
        n == 2 && tsl_matcher_rollback(m, 1) == TSL_OK);
  CHECK(tsl_matcher_accept(m, END) == TSL_OK && tsl_matcher_is_terminated(m) &&
        tsl_matcher_is_complete(m) && tsl_matcher_history(m) == 2);
  CHECK(tsl_matcher_accept(m, END) == TSL_REJECTED && tsl_matcher_accept(m, 0) == TSL_REJECTED &&
        tsl_matcher_accept_bytes(m, "a", 1, &accepted) == TSL_REJECTED && accepted == 0);
  CHECK(tsl_matcher_validate(m, &(tsl_token){0}, 1, &n) == TSL_OK && n == 0);
  CHECK(tsl_matcher_mask(m, &mask) == TSL_OK && mask == 0 &&
        tsl_matcher_mask_borrow(m, &lent, &id) == TSL_OK && *lent == 0 && id);
  CHECK(tsl_matcher_forced_bytes(m, bytes, 8, &n) == TSL_OK && n == 0 &&
        tsl_matcher_next_bytes(m, next) == TSL_OK && tsl_mask_count(next, 256) == 0);
  CHECK(tsl_matcher_rollback(m, 1) == TSL_OK && !tsl_matcher_is_terminated(m) &&
        tsl_matcher_accept(m, 4) == TSL_OK);
  tsl_matcher_reset(m);
  CHECK(tsl_matcher_history(m) == 0 && !tsl_matcher_is_complete(m) &&
        tsl_matcher_accept(m, 2) == TSL_OK);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* How many frames may end within one token. The token has so many brackets, each of which ends two
 * frames, in a text that has more of them open. */
static bool closes(uint32_t brackets) {
  struct text token = {0}, open = {0};
  for (uint32_t i = 0; i < brackets; i++) text_add(&token, ")");
  for (uint32_t i = 0; i < 5000; i++) text_add(&open, "(");
  const char *const words[] = {"(", ")", token.at, "<end>"};
  tsl_vocab *v = toy_vocab(words, 4, true);
  tsl_grammar *g =
      toy_gbnf(v, "root ::= \"(\" middle \")\" end\nmiddle ::= root? end | \"q\" middle \"r\"\n"
                  "end ::= \"\\n\"?");
  tsl_matcher *m = NULL;
  uint32_t mask = 0;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
        tsl_matcher_accept_bytes(m, open.at, open.n, NULL) == TSL_OK);
  tsl_status status = tsl_matcher_mask(m, &mask);
  CHECK(status == TSL_OK ? mask == 7 : status == TSL_ERR_LIMIT);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
  text_free(&token);
  text_free(&open);
  return status == TSL_OK;
}

static void frames_in_a_token(void) {
  uint32_t lo = 100, hi = TSL_MAX_TOKEN_BYTES;
  CHECK(closes(lo) && !closes(hi));
  while (hi - lo > 1) {
    uint32_t mid = (lo + hi) / 2;
    if (closes(mid))
      lo = mid;
    else
      hi = mid;
  }
  CHECKF(lo == 1001, "%u brackets", lo); /* 2,000 frames below one that ends */
}

/* Of a schema, with any spelling, after a text: what completes it in fewest bytes. */
static uint64_t shortest_of(tsl_vocab *v, const char *schema, const char *text) {
  const tsl_schema_options any = {.whitespace = TSL_WS_COMPACT, .spelling = TSL_SPELLING_ANY};
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  uint64_t bytes = 0;
  CHECK(tsl_grammar_json_schema(v, schema, strlen(schema), &any, NULL, &g, NULL) == TSL_OK);
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
        tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK);
  CHECK(tsl_matcher_shortest_completion(m, &bytes) == TSL_OK);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  return bytes;
}

/* Within counted strings, and their escapes, that have few spellings. */
static void shortest_escapes(void) {
  static const char letters[] = "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^"
                                "[a-c ]*$\",\"maxLength\":17}}";
  static const char controls[] =
      "{\"type\":\"string\",\"pattern\":\"^([a-c][\\u0001\\u0002]){3,17}$\"}";
  static const char private_use[] =
      "{\"type\":\"string\",\"pattern\":\"^(?:[\\ue000-\\uffff]{2,}\xC3\xA9){3,20}$\"}";
  static const char past_ascii[] =
      "{\"type\":\"string\",\"pattern\":\"^[\xC3\xA0-\xC3\xAF\xD0\x80-\xD3\xBF]{7,16}$\"}";
  static const struct {
    const char *schema, *text;
    uint64_t bytes;
  } cases[] = {{letters, "[\"", 2},
               {letters, "[\"\\", 7},
               {letters, "[\"a\\u", 6},
               {letters, "[\"a\\u00", 4},
               {controls, "\"", 22},
               {controls, "\"a", 21},
               {controls, "\"a\\", 20},
               {controls, "\"a\\u0", 18},
               {controls, "\"a\\u0001b", 14},
               {private_use, "\"\\uEa64\\", 24},
               {private_use, "\"\\uEa64\\u", 23},
               {past_ascii, "\"\\u00e0\\", 16},
               {past_ascii, "\"\\u00e0\\u00", 13}};
  static const char *const tokens[] = {"a", "\"", "[", "]"};
  tsl_vocab *v = toy_vocab(tokens, 4, true);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t bytes = shortest_of(v, cases[i].schema, cases[i].text);
    CHECKF(bytes == cases[i].bytes, "%s: %llu", cases[i].text, (unsigned long long)bytes);
  }
  tsl_vocab_release(v);
}

#define DEEP 60000u

/* Arrays open in one another: the calls that ask what all of them need. */
static void ask_arrays(tsl_vocab *v) {
  tsl_grammar *g = toy_gbnf(v, "root ::= \"(\" root? \")\" | \"a\"");
  tsl_matcher *m = NULL;
  tsl_budget *b = NULL;
  uint64_t bytes = 0;
  uint32_t mask = 0;
  size_t count = 0;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_new(g, NULL, &b) == TSL_OK);
  for (uint32_t i = 0; i < DEEP; i++) CHECK(tsl_matcher_accept_bytes(m, "(", 1, NULL) == TSL_OK);
  CHECK(tsl_matcher_shortest_completion(m, &bytes) == TSL_OK);
  CHECKF(bytes == DEEP, "%llu bytes", (unsigned long long)bytes);
  CHECK(tsl_budget_start(b, m, DEEP, NULL) == TSL_OK &&
        tsl_budget_completion(b, m, NULL, 0, &count) == TSL_OK);
  CHECKF(count == DEEP / 2, "%zu tokens", count); /* "))" is one */
  CHECK(tsl_budget_mask(b, m, DEEP, &mask) == TSL_OK && mask);
  tsl_budget_free(b);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* Frames that all may end before one byte: as deep as calls go, and not where they would go
 * deeper. */
static void ask_ends(tsl_vocab *v, uint32_t depth) {
  tsl_grammar *g = toy_gbnf(v, "root ::= x \"\\n\"\nx ::= \"(\" x (\"b\" x \"a\")? | \"a\"");
  tsl_matcher *m = NULL;
  uint32_t set[8];
  uint8_t bytes[4];
  size_t length = 0;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (uint32_t i = 0; i < depth; i++) CHECK(tsl_matcher_accept_bytes(m, "(", 1, NULL) == TSL_OK);
  CHECK(tsl_matcher_accept_bytes(m, "a", 1, NULL) == TSL_OK);
  tsl_status status = depth < 4000 ? TSL_OK : TSL_ERR_LIMIT;
  CHECK(tsl_matcher_next_bytes(m, set) == status &&
        tsl_matcher_forced_bytes(m, bytes, sizeof bytes, &length) == status);
  CHECK(tsl_matcher_accept_bytes(m, "\n", 1, NULL) == status &&
        tsl_matcher_is_complete(m) == (status == TSL_OK));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

static void *ask_deep(void *v) {
  ask_arrays(v);
  ask_ends(v, 3990);
  ask_ends(v, 15000);
  return NULL;
}

/* In a thread that has as much stack as docs/limits.md says is enough; sanitised builds take more
 * for each call. */
static void deep_texts(void) {
  size_t stack = (size_t)1 << 20;
#ifdef TSL_TEST_SANITIZED
  stack <<= 4;
#endif
  tsl_vocab *v = toy_vocab(texts, TOKENS, true);
  pthread_attr_t attr;
  pthread_t thread;
  CHECK(pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, stack) == 0);
  if (pthread_create(&thread, &attr, ask_deep, v) == 0)
    CHECK(pthread_join(thread, NULL) == 0);
  else
    CHECK(!"a thread");
  pthread_attr_destroy(&attr);
  tsl_vocab_release(v);
}

/* The step budget of a long text is for 4,096 bytes of it. Here each byte takes a step and a few
 * more. There are two cases: the frame may be over after each byte, or goes on. */
static void steps_of_texts(void) {
  static char text[3 * 4096];
  static const char *const grammars[] = {"root ::= \"a\"*", "root ::= \"a\"* \"b\""};
  tsl_vocab *v = toy_vocab(texts, TOKENS, true);
  memset(text, 'a', sizeof text);
  static const uint64_t budgets[] = {2048, 3072, 8192};
  for (size_t i = 0; i < 6; i++) {
    const tsl_limits limits = {.max_steps = budgets[i % 3]};
    const char *grammar = grammars[i / 3];
    tsl_grammar *g = NULL;
    tsl_matcher *m = NULL;
    size_t accepted = 0;
    CHECK(tsl_grammar_gbnf(v, grammar, strlen(grammar), NULL, &limits, &g, NULL) == TSL_OK &&
          tsl_matcher_new(g, NULL, &m) == TSL_OK);
    tsl_status status = tsl_matcher_accept_bytes(m, text, sizeof text, &accepted);
    CHECKF(status == (i % 3 == 2 ? TSL_OK : TSL_ERR_LIMIT), "%s, %u steps: %s, after %zu bytes",
           grammar, (unsigned)limits.max_steps, tsl_status_name(status), accepted);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  tsl_vocab_release(v);
}

/* A state's transitions as they are put in. Neighbours that lead to the same place become one. What
 * is live and what leads back is noted. Too many are refused. */
static void states(void) {
  static tsl__edge edges[UINT16_MAX + 1u];
  static tsl__token_edge tokens[UINT16_MAX + 1u];
  tsl_vocab *v = toy_vocab(texts, TOKENS, true);
  tsl_grammar *g = toy_gbnf(v, "root ::= \"a\"");
  tsl__space *space = g->space;
  tsl__state s = tsl__state_new(space, 1), other = tsl__state_new(space, 1);
  tsl__ranges r = {5, {'a', 'b', 'c', 'm', 255}, {0, 0, 0, 0, 0}}, none = {0};
  r.to[1] = r.to[2] = tsl__target_make(other, TSL__OP_CLEAR);
  r.to[3] = tsl__target_make(s, TSL__OP_CLEAR);
  CHECK(tsl__state_fill(space, s, &r, NULL, 0, NULL, 0) == TSL_OK && tsl__state_check(space, s));
  const tsl__state_rec *at = tsl__state_at(space, s);
  CHECK(at->ranges == 4 && tsl__state_upper(at)[1] == 'c' && at->live_count == 12 &&
        !(at->flags & TSL__STATE_FINAL));
  for (unsigned b = 0; b < 256; b++) {
    CHECK(tsl__bytes_has(&at->live, b) == (b > 'a' && b <= 'm') &&
          tsl__bytes_has(at->self, b) == (b > 'c' && b <= 'm'));
    CHECK(tsl__state_step(space, at, (uint8_t)b) == (b > 'c' && b <= 'm'   ? s
                                                     : b > 'a' && b <= 'c' ? other
                                                                           : 0));
  }
  tsl__state_own(space, other)->flags |= TSL__STATE_NULLABLE;
  CHECK(tsl__state_fill(space, other, &none, NULL, 0, NULL, 0) == TSL_OK &&
        tsl__state_at(space, other)->flags & TSL__STATE_FINAL &&
        tsl__state_at(space, other)->ranges == 0);
  tsl__state calling = tsl__state_new(space, 1);
  tsl__ranges back = {1, {255}, {tsl__target_make(calling, TSL__OP_CLEAR)}};
  edges[0] =
      (tsl__edge){tsl__target_make(s, TSL__OP_CLEAR), tsl__target_make(other, TSL__OP_CLEAR)};
  /* it calls on its way */
  CHECK(tsl__state_fill(space, calling, &back, edges, 1, NULL, 0) == TSL_OK &&
        tsl__bytes_empty(tsl__state_at(space, calling)->self));
  edges[0] = (tsl__edge){0};
  for (unsigned i = 0; i <= UINT16_MAX; i++) edges[i].to = s;
  tsl__state full = tsl__state_fork(space, edges, UINT16_MAX);
  CHECK(full && tsl__state_at(space, full)->edges == UINT16_MAX &&
        tsl__state_fork(space, edges, UINT16_MAX) == full &&
        tsl__state_fork(space, edges, 2) != full);
  CHECK(tsl__state_fork(space, edges, UINT16_MAX + 1u) == 0 && space->status == TSL_ERR_LIMIT);
  tsl__space_begin(space);
  CHECK(tsl__state_fill(space, tsl__state_new(space, 1), &none, NULL, 0, tokens, UINT16_MAX + 1u) ==
        TSL_ERR_LIMIT);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* The fewest bytes after a text, of a grammar that gave them after each byte before, and of a new
 * one. Long ways are remembered with what is left from each place. */
static void shortest_on_long_ways(void) {
  static const char *const schemas[] = {
      "{\"type\":\"string\",\"minLength\":60,\"pattern\":\"^([a-z]+ )*$\"}",
      "{\"type\":\"string\",\"minLength\":50,\"maxLength\":90,\"pattern\":\"^(ab|c.{3}|\u00e9)*$"
      "\"}",
      "{\"type\":\"string\",\"pattern\":\"b.{40}c\",\"not\":{\"pattern\":\"cc\"}}",
      "{\"type\":\"string\",\"minLength\":40,\"pattern\":\"^([a-z]{2,5}1 "
      "?)+$\",\"not\":{\"pattern\":\"a1\"}}",
      "{\"type\":\"string\",\"pattern\":\"^(a{30}b|b{50}c?|[ac]{45} ){2}$\"}"};
  static const char letters[] = "aabbcc1 \"\\";
  uint64_t seed = 3;
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  for (size_t i = 0; v && i < sizeof schemas / sizeof *schemas; i++) {
    tsl_grammar *kept = NULL;
    tsl_matcher *m = NULL;
    CHECK(tsl_grammar_json_schema(v, schemas[i], strlen(schemas[i]), NULL, NULL, &kept, NULL) ==
              TSL_OK &&
          tsl_matcher_new(kept, NULL, &m) == TSL_OK);
    for (int walk = 0; m && walk < 4; walk++) {
      char text[120] = "\"";
      tsl_matcher_reset(m);
      CHECK(tsl_matcher_accept_bytes(m, text, 1, NULL) == TSL_OK);
      for (size_t n = 1, tries = 0; n < 100 && tries < 400 && !tsl_matcher_is_complete(m);
           tries++) {
        text[n] = letters[tsl_test_random(&seed) % (sizeof letters - 1)];
        if (tsl_matcher_accept_bytes(m, text + n, 1, NULL) != TSL_OK) continue;
        n++;
        tsl_grammar *fresh = NULL;
        tsl_matcher *other = NULL;
        uint64_t was = 0, is = 1;
        CHECK(tsl_grammar_json_schema(v, schemas[i], strlen(schemas[i]), NULL, NULL, &fresh,
                                      NULL) == TSL_OK &&
              tsl_matcher_new(fresh, NULL, &other) == TSL_OK);
        CHECK(tsl_matcher_accept_bytes(other, text, n, NULL) == TSL_OK &&
              tsl_matcher_shortest_completion(other, &was) == TSL_OK &&
              tsl_matcher_shortest_completion(m, &is) == TSL_OK);
        CHECKF(was == is, "%s after %.*s: %" PRIu64 " bytes, of a new grammar %" PRIu64, schemas[i],
               (int)n, text, is, was);
        tsl_matcher_free(other);
        tsl_grammar_release(fresh);
      }
    }
    tsl_matcher_free(m);
    tsl_grammar_release(kept);
  }
  tsl_vocab_release(v);
}

/* Where calls call one another without reading, what they lead to is looked for again and again.
 * That is work, too, and ends with the steps that there are. */
static void calls_are_steps(void) {
  static const char grammar[] =
      "root ::= a b c d e\na ::= (b c d e)* \"x\"?\nb ::= (a c d e)* \"y\"?\nc ::= (d a b e)* "
      "\"z\"?\nd ::= (c b a e)* \"w\"?\ne ::= (a b c d)* \"v\"?";
  static char words[200][8];
  const char *tokens[200];
  uint64_t seed = 1;
  for (unsigned i = 0; i < 200; i++) {
    for (unsigned k = 0; k < 1 + i % 5; k++) words[i][k] = "vwxyz"[tsl_test_random(&seed) % 5];
    tokens[i] = words[i];
  }
  for (int k = 0; k < 2; k++) {
    const tsl_limits limits = {.max_steps = k ? 4000000 : 60000};
    tsl_vocab *v = toy_vocab(tokens, 200, false);
    tsl_grammar *g = NULL;
    tsl_matcher *m = NULL;
    uint32_t mask[7];
    CHECK(tsl_grammar_gbnf(v, grammar, sizeof grammar - 1, NULL, &limits, &g, NULL) == TSL_OK &&
          tsl_matcher_new(g, NULL, &m) == TSL_OK);
    tsl_status status = tsl_matcher_mask(m, mask);
    CHECKF(status == (k ? TSL_OK : TSL_ERR_LIMIT), "%s, %llu steps", tsl_status_name(status),
           (unsigned long long)tsl__space_steps(g->space));
    tsl_matcher_free(m);
    tsl_grammar_release(g);
    tsl_vocab_release(v);
  }
}

int main(void) {
  RUN(histories, "positions rolled back, in a ring that wraps");
  RUN(drafts, "drafts end where they must");
  RUN(names_beside_bytes, "forced bytes where tokens may be named");
  RUN(ends, "at the end of a text and after it");
  RUN(shortest_escapes, "what completes strings within escapes");
  RUN(deep_texts, "texts far deeper than calls go");
  RUN(frames_in_a_token, "frames that end within one token");
  RUN(steps_of_texts, "a budget for each 4,096 bytes");
  RUN(states, "transitions of a state");
  RUN(shortest_on_long_ways, "the fewest bytes along long ways");
  RUN(calls_are_steps, "what calls lead to is counted");
  return tsl_test_end();
}
