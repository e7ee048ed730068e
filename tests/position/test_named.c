/* test_named.c - tokens that grammars take by their names, beside bytes that spell the same: random
 * GBNF against Earley's algorithm (earley.h), tags, budgets.
 *
 * The vocabulary has duplicates, tokens without bytes, special tokens that spell what text does,
 * several that end a generation, and bytes that are no UTF-8. Tokens are also accepted before any
 * mask was requested.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/judges/earley.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/draw.h"
#include "tests/support/toy.h"

#define TOKENS_MAX 700u
#define WORDS ((TOKENS_MAX + 31) / 32)
#define STEPS 20
#define ITEMS_MAX 150u /* past them the naive answer takes too long */
#define NAMED 16u
#define RULES 3u

static uint64_t seed = 5;
static unsigned rounds = ROUNDS_OF(40u), first;
static unsigned long compared;
static tsl_vocab *vocab;
static tsl_token named[NAMED];

static unsigned below(unsigned n) { return (unsigned)(tsl_test_random(&seed) % n); }
#define ONE_OF(list) (list)[below(sizeof(list) / sizeof *(list))]

enum {
  SPECIAL_A = 256,
  SPECIAL_AB,
  SPECIAL_EMPTY,
  EMPTY,
  AB,
  AGAIN_AB,
  END,
  OTHER_END,
  BROKEN,
  WITH_NUL,
  FIRST_WORD
};

static void make_vocab(unsigned words) {
  static const struct {
    const char *text;
    uint32_t n, special;
  } fixed[] = {{"<a>", 3, 1}, {"ab", 2, 1},    {"", 0, 1},  {"", 0, 0},      {"ab", 2, 0},
               {"ab", 2, 0},  {"<end>", 5, 1}, {"b", 1, 1}, {"a\xC3", 2, 0}, {"a\0b", 3, 0}};
  static uint8_t bytes[TOKENS_MAX * 8], special[TOKENS_MAX];
  static uint32_t offsets[TOKENS_MAX + 1];
  static const tsl_token ends[] = {END, OTHER_END};
  uint32_t n = 0;
  memset(special, 0, sizeof special);
  for (uint32_t t = 0; t < FIRST_WORD + words; t++, offsets[t] = n) {
    if (t < 256)
      bytes[n++] = (uint8_t)t;
    else if (t < FIRST_WORD)
      memcpy(bytes + n, fixed[t - 256].text, fixed[t - 256].n), n += fixed[t - 256].n,
          special[t] = (uint8_t)fixed[t - 256].special;
    for (unsigned k = t < FIRST_WORD ? 0 : 1 + below(6); k > 0; k--)
      bytes[n++] = (uint8_t)("aaabb<>(),"[below(10)]);
  }
  for (uint32_t i = 0; i < NAMED; i++)
    named[i] = i < FIRST_WORD - 256 ? 256 + i : FIRST_WORD + below(words);
  tsl_vocab_desc desc = {bytes, offsets, FIRST_WORD + words, 0, special, ends, 2};
  CHECK(tsl_vocab_new(&desc, NULL, &vocab, NULL) == TSL_OK);
}

/* ---- grammars, as text and as productions ---------------------------------------------------- */

typedef struct writer {
  char at[8000];
  size_t n;
  earley *e;
  uint32_t rules[RULES];
  /* in the place of names: rules whose texts run on stand in place (compiler/gbnf/run.c) */
  bool letters;
} writer;

#define PUT(w, ...) \
  ((w)->n += (size_t)snprintf((w)->at + (w)->n, sizeof(w)->at - (w)->n, __VA_ARGS__))

/* A rule of one production of these. */
static uint32_t rule_of(earley *e, const earley_symbol *symbols, size_t n) {
  uint32_t rule = earley_rule(e);
  earley_production(e, rule);
  for (size_t i = 0; i < n; i++) earley_add(e, symbols[i]);
  return rule;
}

static void either(earley *e, uint32_t rule, uint32_t way) {
  earley_production(e, rule);
  earley_add(e, earley_call(way));
}

/* A character past ASCII. */
static void add_broad(earley *e, uint32_t rule) {
  static const uint8_t leads[][4] = {{0xC2, 0xDF, 0, 0},       {0xE0, 0xE0, 0xA0, 0xBF},
                                     {0xE1, 0xEC, 0x80, 0xBF}, {0xED, 0xED, 0x80, 0x9F},
                                     {0xEE, 0xEF, 0x80, 0xBF}, {0xF0, 0xF0, 0x90, 0xBF},
                                     {0xF1, 0xF3, 0x80, 0xBF}, {0xF4, 0xF4, 0x80, 0x8F}};
  for (size_t i = 0; i < sizeof leads / sizeof *leads; i++) {
    earley_production(e, rule);
    earley_add(e, earley_range(leads[i][0], leads[i][1]));
    if (leads[i][2]) earley_add(e, earley_range(leads[i][2], leads[i][3]));
    for (int k = leads[i][0] >= 0xF0 ? 2 : 1; k > 0; k--) earley_add(e, earley_range(0x80, 0xBF));
  }
}

static uint32_t put_ways(writer *w, unsigned depth);

static uint32_t put_item(writer *w, unsigned depth) {
  static const char *const texts[] = {"a", "b", "ab", "<a>", "(", ")", ",", "aab", "a<a>b"};
  earley_symbol s[8] = {{.kind = EARLEY_TOKENS, .count = 1}};
  uint32_t rule;
  switch (below(depth > 1 ? 8 : 10)) {
  case 0:
  case 1:
  case 2: {
    const char *text = ONE_OF(texts);
    PUT(w, "\"%s\"", text);
    for (size_t i = 0; text[i]; i++) s[i] = earley_range((uint8_t)text[i], (uint8_t)text[i]);
    return rule_of(w->e, s, strlen(text));
  }
  case 3:
  case 4:
    if (w->letters) {
      s[0] = earley_range('a', 'z');
      PUT(w, "[a-z]");
      return rule_of(w->e, s, 1);
    }
    s->tokens[0] = ONE_OF(named);
    s->others = below(3) == 0;
    PUT(w, "%s<[%u]>", s->others ? "!" : "", s->tokens[0]);
    return rule_of(w->e, s, 1);
  case 5:
    s[0] = earley_range('a', 'b');
    PUT(w, "[ab]");
    return rule_of(w->e, s, 1);
  case 6:
    s[0] = earley_range(0, 0x7F);
    PUT(w, ".");
    add_broad(w->e, rule = rule_of(w->e, s, 1));
    return rule;
  case 7: PUT(w, "r%u", rule = below(RULES)); return w->rules[rule];
  default:
    PUT(w, "(");
    rule = put_ways(w, depth + 1);
    PUT(w, ")");
    return rule;
  }
}

/* An item, perhaps repeated. */
static uint32_t put_repeated(writer *w, unsigned depth) {
  uint32_t item = put_item(w, depth);
  unsigned kind = below(8), least = kind == 4 ? 3 : 2, most = kind == 4 ? 12 : 5;
  if (kind > 4) return item;
  PUT(w, "%s", (const char *[]){"?", "*", "+", "{2,5}", "{3,12}"}[kind]);
  uint32_t all = earley_rule(w->e), none = rule_of(w->e, NULL, 0), maybe = earley_rule(w->e);
  either(w->e, maybe, none);
  either(w->e, maybe, item);
  if (kind == 0) return maybe;
  earley_production(w->e, all);
  if (kind >= 3) {
    for (unsigned i = 0; i < most; i++) earley_add(w->e, earley_call(i < least ? item : maybe));
    return all;
  }
  if (kind == 2) earley_add(w->e, earley_call(item));
  earley_production(w->e, all);
  earley_add(w->e, earley_call(item));
  earley_add(w->e, earley_call(all));
  return all;
}

static uint32_t put_ways(writer *w, unsigned depth) {
  uint32_t ways[3];
  unsigned n = 1 + below(3);
  for (unsigned i = 0; i < n; i++) {
    earley_symbol items[3];
    unsigned k = 1 + below(3);
    if (i) PUT(w, " | ");
    for (unsigned j = 0; j < k; j++) {
      if (j) PUT(w, " ");
      items[j] = earley_call(put_repeated(w, depth));
    }
    ways[i] = rule_of(w->e, items, k);
  }
  uint32_t all = earley_rule(w->e);
  for (unsigned i = 0; i < n; i++) either(w->e, all, ways[i]);
  return all;
}

static void put_grammar(writer *w) {
  uint32_t root = earley_rule(w->e);
  w->letters = below(3) == 0;
  for (uint32_t i = 0; i < RULES; i++) w->rules[i] = earley_rule(w->e);
  PUT(w, "root ::= ");
  either(w->e, root, put_ways(w, 0));
  for (uint32_t i = 0; i < RULES; i++) {
    PUT(w, "\nr%u ::= ", i);
    either(w->e, w->rules[i], put_ways(w, 0));
  }
  PUT(w, "\n");
}

/* ---- random texts ---------------------------------------------------------------------------- */

static bool given_up(tsl_status status) {
  return status == TSL_ERR_LIMIT || status == TSL_ERR_CANCELLED;
}

/* Move the oracle as the matcher moved. */
static void follow_token(earley *e, tsl_matcher *m, tsl_token t, size_t *accepted) {
  if (tsl_vocab_is_eog(vocab, t))
    CHECK(tsl_matcher_rollback(m, 1) == TSL_OK);
  else if (earley_take(e, t))
    ++*accepted;
}

static void follow(tsl_grammar *g, earley *e, const char *what) {
  uint32_t mask[WORDS], want[WORDS];
  size_t accepted = 0, size = tsl_vocab_mask_words(vocab) * sizeof *mask;
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  earley_begin(e);
  for (int step = 0; m && step < STEPS && earley_items(e) < ITEMS_MAX; step++) {
    tsl_status status = TSL_OK;
    earley_mask(e, want);
    CHECKF(tsl_matcher_is_complete(m) == earley_complete(e), "%s: complete", what);
    if (below(3) == 0) { /* before its mask is known */
      tsl_token t = ONE_OF(named);
      status = tsl_matcher_accept(m, t);
      if (given_up(status)) break;
      CHECKF((status == TSL_OK) == tsl_mask_has(want, t), "%s: token %u after %zu", what, t,
             accepted);
      if (status == TSL_OK) follow_token(e, m, t, &accepted);
      continue;
    }
    if (accepted && below(5) == 0) {
      size_t count = 1 + below((unsigned)accepted);
      CHECK(tsl_matcher_rollback(m, count) == TSL_OK);
      earley_back(e, count);
      accepted -= count;
      continue;
    }
    if (given_up(status = tsl_matcher_mask(m, mask))) break;
    bool same = status == TSL_OK && !memcmp(mask, want, size);
    CHECKF(same, "%s: the mask after %zu tokens", what, accepted);
    compared++;
    tsl_token t = same ? draw(mask, tsl_vocab_size(vocab), &seed) : TSL_NO_TOKEN;
    if (t == TSL_NO_TOKEN) break;
    CHECKF(tsl_matcher_accept(m, t) == TSL_OK, "%s: token %u is allowed", what, t);
    follow_token(e, m, t, &accepted);
  }
  tsl_matcher_free(m);
}

static void random_grammars(void) {
  for (unsigned i = first; i < first + rounds; i++) {
    seed = i * 7919 + 5;
    make_vocab(100 + below(300));
    for (int k = 0; k < 4 && vocab; k++) {
      writer w = {.e = earley_new(vocab)};
      const tsl_limits limits = {.deadline_us = 500000};
      tsl_grammar *g = NULL;
      tsl_error error = {0};
      put_grammar(&w);
      bool some = earley_close(w.e);
      tsl_status status = tsl_grammar_gbnf(vocab, w.at, w.n, NULL, &limits, &g, &error);
      if (!given_up(status))
        CHECKF(status == (some ? TSL_OK : TSL_ERR_EMPTY), "%s: %s", w.at, error.message);
      for (int r = 0; g && some && r < 3; r++) follow(g, w.e, w.at);
      tsl_grammar_release(g);
      earley_free(w.e);
    }
    tsl_vocab_release(vocab);
    vocab = NULL;
  }
  printf("     %lu masks compared\n", compared);
  CHECK(compared > rounds * 10);
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* Which of two tokens may come first; `masked`: the mask was requested before. */
static void first_tokens(void) {
  static const struct {
    const char *grammar;
    tsl_token yes, no;
  } cases[] = {
      /* any text does not take in what is named beside it */
      {"root ::= !<[260]> | .*", 0x80, 0x100 + 2},
      {"root ::= <[256]> \"x\" | .*", SPECIAL_A, SPECIAL_AB},
      {"root ::= (<[256]> | \"(\" r \")\") | .*\nr ::= <[257]> | \"x\"", SPECIAL_A, SPECIAL_AB},
      /* no state is expanded yet */
      {"root ::= r \"b\"\nr ::= s | \"(\" r \")\"\ns ::= <[256]> | \"[\" s", SPECIAL_A, SPECIAL_AB},
      {"root ::= \"a\" | <[258]> | <[259]> | <[262]>", 'a', EMPTY}, /* no text has these */
      {"root ::= (\"a\" | <[262]> \"b\")* \"c\"", 'a', END},
      {"root ::= !<[259]>", SPECIAL_A, SPECIAL_EMPTY},
  };
  make_vocab(20);
  for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases && vocab; i++) {
    const char *text = cases[i / 2].grammar;
    const tsl_token *t = (tsl_token[]){cases[i / 2].yes, cases[i / 2].no};
    tsl_grammar *g = NULL;
    tsl_matcher *m = NULL;
    uint32_t mask[WORDS];
    CHECK(tsl_grammar_gbnf(vocab, text, strlen(text), NULL, NULL, &g, NULL) == TSL_OK &&
          tsl_matcher_new(g, NULL, &m) == TSL_OK);
    if (m && i & 1)
      CHECKF(tsl_matcher_mask(m, mask) == TSL_OK && tsl_mask_has(mask, t[0]) &&
                 !tsl_mask_has(mask, t[1]),
             "%s", text);
    if (m)
      CHECKF(tsl_matcher_accept(m, t[1]) == TSL_REJECTED && tsl_matcher_accept(m, t[0]) == TSL_OK,
             "%s", text);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
}

/* A token that no text has, where one must come: there is no text. */
static void no_text(void) {
  static const char *const grammars[] = {"root ::= \"a\" <[262]>", "root ::= <[258]>+",
                                         "root ::= \"a\" r\nr ::= \"b\" r | <[259]>"};
  for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++) {
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    CHECKF(tsl_grammar_gbnf(vocab, grammars[i], strlen(grammars[i]), NULL, NULL, &g, &error) ==
                   TSL_ERR_EMPTY &&
               !g,
           "%s: %s", grammars[i], error.message);
    CHECKF(strstr(error.message, "of the vocabulary ends a generation") &&
               grammars[i][error.offset] == '<',
           "%s: %s", grammars[i], error.message);
  }
}

/* A tag may end with a token that ends the generation: that comes after it. Elsewhere it cannot
 * stand; and a reader takes no token without bytes. */
static void in_tags(void) {
  static const char ends[] =
      "{\"type\":\"tag\",\"begin\":\"(\",\"content\":{\"type\":\"any_tokens\",\"exclude_tokens\":["
      "256]},\"end\":[{\"type\":\"token\",\"token\":262},\")\"]}";
  static const char begins[] =
      "{\"type\":\"tag\",\"begin\":{\"type\":\"token\",\"token\":262},\"content\":{\"type\":"
      "\"const_string\",\"value\":\"x\"},\"end\":\")\"}";
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_parser *p = NULL;
  tsl_error error = {0};
  CHECK(tsl_grammar_tags(vocab, begins, sizeof begins - 1, NULL, NULL, &g, &error) ==
            TSL_ERR_EMPTY &&
        !g && strstr(error.message, "ends a generation"));
  CHECKF(tsl_grammar_tags(vocab, ends, sizeof ends - 1, NULL, NULL, &g, &error) == TSL_OK, "%s",
         error.message);
  if (g) CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_parser_new(g, NULL, &p) == TSL_OK);
  if (m)
    CHECK(tsl_matcher_accept(m, '(') == TSL_OK && tsl_matcher_accept(m, AB) == TSL_OK &&
          tsl_matcher_accept(m, SPECIAL_A) == TSL_REJECTED && tsl_matcher_accept(m, END) == TSL_OK);
  if (p)
    CHECK(tsl_parser_token(p, '(') == TSL_OK && tsl_parser_token(p, EMPTY) == TSL_REJECTED &&
          tsl_parser_token(p, SPECIAL_EMPTY) == TSL_REJECTED);
  if (p) CHECK(tsl_parser_token(p, AB) == TSL_OK && tsl_parser_token(p, END) == TSL_OK);
  tsl_parser_free(p);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(vocab);
}

/* ---- budgets --------------------------------------------------------------------------------- */

/* All texts under a budget come to their end where a token leads to more by its name than by its
 * bytes. That holds of the grammar, and of its file. */
static void write_within(tsl_grammar *g, unsigned most, const char *what) {
  tsl_budget *b = NULL;
  uint32_t mask[WORDS];
  CHECK(tsl_budget_new(g, NULL, &b) == TSL_OK);
  for (unsigned round = 0; b && round < 20; round++) {
    tsl_matcher *m = NULL;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_start(b, m, most, NULL) == TSL_OK);
    bool fine = m != NULL;
    for (unsigned left = most; fine && left && !tsl_matcher_is_complete(m); left--) {
      tsl_token t = tsl_budget_mask(b, m, left, mask) == TSL_OK
                        ? draw(mask, tsl_vocab_size(vocab), &seed)
                        : TSL_NO_TOKEN;
      fine = t != TSL_NO_TOKEN && tsl_budget_allows(b, m, left, t) == TSL_OK &&
             tsl_matcher_accept(m, t) == TSL_OK;
    }
    CHECKF(fine && tsl_matcher_is_complete(m), "%s: %u tokens", what, most);
    tsl_matcher_free(m);
  }
  tsl_budget_free(b);
}

static tsl_grammar *from_its_file(tsl_grammar *g) {
  tsl_grammar *loaded = NULL;
  tsl_artifact *file = NULL;
  size_t n = 0;
  CHECK(tsl_artifact_make(g, NULL, NULL, &file, NULL) == TSL_OK);
  const void *data = file ? tsl_artifact_data(file, &n) : NULL;
  CHECK(data && tsl_grammar_load_memory(vocab, data, n, NULL, &loaded, NULL) == TSL_OK);
  tsl_artifact_free(file);
  return loaded;
}

static void budgets(void) {
  static const char *const tokens[] = {"a",  "b",  "(",  "c",  "<",    "x",
                                       "ss", "tt", "uu", "vv", "<end>"};
  static const char *const grammars[] = {
      /* after "(", spelled or named, one token ends the text, and three bytes do */
      "root ::= <[6]> <[7]> !<[0]>* \"(\" (<[8]> | \"c<a\") | <[9]> \"b\"",
      "root ::= <[6]> <[7]> !<[0]>{0,2} (\"(\" | \"abab\") (<[8]> | \"c<a\") | <[9]> !<[10]>? "
      "\"b\"",
      "root ::= r \"a\"\nr ::= <[6]> | \"(\" r",
  };
  vocab = toy_vocab(tokens, 11, true);
  for (size_t i = 0; i < 10 * sizeof grammars / sizeof *grammars && vocab; i++) {
    unsigned most = 2 + (unsigned)(i % 5);
    const char *text = grammars[i / 10];
    tsl_grammar *g = toy_gbnf(vocab, text), *loaded = g && i % 10 >= 5 ? from_its_file(g) : NULL;
    tsl_budget *b = NULL;
    tsl_matcher *m = NULL;
    uint32_t mask[WORDS];
    if (g) write_within(loaded ? loaded : g, most, text);
    if (loaded) { /* what it names was not come to yet: no text has one token */
      tsl_grammar *fresh = from_its_file(g);
      CHECK(fresh && tsl_budget_new(fresh, NULL, &b) == TSL_OK &&
            tsl_matcher_new(fresh, NULL, &m) == TSL_OK &&
            tsl_budget_mask(b, m, 1, mask) == TSL_OK && !*mask);
      tsl_grammar_release(fresh);
    }
    tsl_budget_free(b);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
    tsl_grammar_release(loaded);
  }
  tsl_vocab_release(vocab);
}

/* test_named [ROUNDS [FIRST]] */
int main(int argc, char **argv) {
  tsl_test_part(&rounds, &first, 2);
  if (argc > 1) rounds = (unsigned)strtoul(argv[1], NULL, 10);
  if (argc > 2) first = (unsigned)strtoul(argv[2], NULL, 10);
  RUN(random_grammars, "random grammars");
  RUN(first_tokens, "the first token, with and without its mask");
  RUN(no_text, "tokens that no text has");
  RUN(in_tags, "the same in tags");
  RUN(budgets, "texts that end in time");
  return tsl_test_end();
}
