/* test_linear.c - trees of the trie read along a table: the table itself, and masks with it,
 * without it, and token by token.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/draw.h"

#include "runtime/matcher/grammar.h"
#include "runtime/walk/linear.h"
#include "runtime/vocab/vocab.h"

#define STEPS 24

static tsl_vocab *vocab;
static size_t words;

static tsl_grammar *compile(const char *schema) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  CHECKF(tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, NULL, &g, &error) == TSL_OK,
         "%s: %s", schema, error.message);
  return g;
}

static tsl_grammar *compile_regex(const char *pattern) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  CHECKF(tsl_grammar_regex(vocab, pattern, strlen(pattern), NULL, NULL, &g, &error) == TSL_OK,
         "%s: %s", pattern, error.message);
  return g;
}

static tsl__linear *table_of(const tsl_grammar *g) {
  return (tsl__linear *)(uintptr_t)g->space->parent->warm.linear;
}

/* Each node of the trie once, in the order of spelling, with its tokens and what is below. */
static void the_table(void) {
  tsl_grammar *g = compile("true");
  const tsl__linear *l = table_of(g);
  const tsl__trie *trie = &vocab->trie;
  CHECK(l && l->nodes[0].node == 0 && l->nodes[0].next == l->n && l->least == TSL__LINEAR_TOKENS);
  uint32_t met = 0, spelled = 0;
  for (uint32_t i = 0; i < l->n; i++) {
    const tsl__linear_node *n = &l->nodes[i];
    if (n->token < l->tokens) CHECK(trie->order[spelled++] == n->token);
    if (n->node == UINT32_MAX) {
      CHECK(n->next == i + 1 && !n->below && l->nodes[i + 1].byte == n->byte &&
            l->nodes[i + 1].above == n->above);
      continue;
    }
    const tsl__trie_node *t = &trie->nodes[n->node];
    met++;
    CHECK(l->at[n->node] == i && t->byte == n->byte && spelled == t->own_end);
    CHECK(n->next > i && n->next <= l->n &&
          (n->next == l->n || l->nodes[n->next].above <= n->above));
    CHECK((n->next == i + 1) == (t->children == 0));
    CHECK((n->below >= TSL__LINEAR_LARGE) == (t->end - t->own_end >= 32));
    CHECK(n->token < l->tokens + 32 * TSL__LINEAR_SPARE);
    unsigned high = n->below % TSL__LINEAR_LARGE;
    CHECK(!high || high == t->height);
    for (uint32_t c = t->first_child; c < t->first_child + t->children; c++)
      CHECK(l->at[c] > i && l->at[c] < n->next &&
            (!n->node || l->nodes[l->at[c]].above == n->above + 1));
  }
  CHECK(met == trie->node_count && spelled == trie->order_count);
  uint32_t above = 0;
  for (uint32_t i = 0; i < trie->node_count; i++)
    above += trie->nodes[i].below != UINT16_MAX &&
             tsl__bytes_has(&trie->sets[trie->nodes[i].below], 'q');
  CHECK(l->above['q'] == above && above > 0);
  tsl_grammar_release(g);
}

/* Bytes of a letter past ASCII, of which the last may be cut off; 0: it is none that words
 * have. */
static size_t nonascii_letter(const uint8_t *at, size_t n) {
  static const uint32_t ends[][2] = {{0xC0, 0x7FF}, {0x800, 0xFFF}, {0x4000, 0xD7FF}};
  for (size_t i = 0; i < 3; i++)
    for (uint32_t c = ends[i][0]; c <= ends[i][1]; c++) {
      uint8_t bytes[4];
      size_t length = tsl__utf8_encode(c, bytes), some = n < length ? n : length;
      if (!memcmp(bytes, at, some)) return some;
    }
  return 0;
}

static bool is_word(tsl_token t, bool nonascii) {
  size_t n;
  const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &n);
  size_t from = n && bytes[0] == ' ', i = from;
  for (size_t some = 1; i < n && some; i += some)
    some = (bytes[i] | 0x20) >= 'a' && (bytes[i] | 0x20) <= 'z' ? 1
           : nonascii && bytes[i] >= 0x80                       ? nonascii_letter(bytes + i, n - i)
                                                                : 0;
  return i == n && n > from && (nonascii || n - from <= 32);
}

/* The table without words: its nodes are those of the whole in the same order, and what it lacks
 * are words. */
static void check_rest(bool nonascii) {
  tsl_grammar *g = compile("true");
  const tsl__linear *l = table_of(g), *rest = nonascii ? l->nonascii_rest : l->rest;
  const uint32_t *const *of = nonascii ? l->nonascii_words : l->words;
  uint32_t k = 0, dropped = 0;
  for (uint32_t i = 0; i < l->n; i++) {
    const tsl__linear_node *n = &l->nodes[i], *r = &rest->nodes[k];
    bool kept = k < rest->n && r->node == n->node && r->token == n->token && r->above == n->above &&
                r->byte == n->byte;
    if (n->token < l->tokens) {
      bool word = is_word(n->token, nonascii);
      size_t length;
      bool spaced = *tsl_vocab_bytes(vocab, n->token, &length) == ' ';
      CHECK(tsl__mask_bit(of[spaced], n->token) == word && !tsl__mask_bit(of[!spaced], n->token) &&
            (kept || word));
    }
    dropped += !kept;
    if (!kept) continue;
    CHECK(r->next > k && r->next <= rest->n &&
          (r->next == rest->n || rest->nodes[r->next].above <= r->above) &&
          (i != l->space || k == rest->space));
    k++;
  }
  CHECKF(k == rest->n && dropped > l->n / 4, "%u of %u nodes, %u of %u words", k, rest->n, dropped,
         l->n);
  tsl_grammar_release(g);
}

static void the_rest(void) { check_rest(false); }
static void the_nonascii_rest(void) { check_rest(true); }

static bool is_quote(uint8_t byte) { return byte == '"' || byte == '\\'; }

/* The table of quotes. Its nodes are those of the whole that have a quote on their path or below,
 * in the same order. They have tokens from there on. */
static void the_quotes(void) {
  tsl_grammar *g = compile("true");
  const tsl__linear *l = table_of(g), *quoted = l->quoted;
  uint32_t k = 0, from = 0;
  for (uint32_t i = 0; i < l->n; i++) {
    const tsl__linear_node *n = &l->nodes[i], *q = &quoted->nodes[k];
    const tsl__trie_node *t = n->node == UINT32_MAX ? NULL : &vocab->trie.nodes[n->node];
    bool above = t && t->below != UINT16_MAX &&
                 (tsl__bytes_has(&vocab->trie.sets[t->below], '"') ||
                  tsl__bytes_has(&vocab->trie.sets[t->below], '\\'));
    if (i && is_quote(n->byte) && n->next > from) from = n->next;
    bool kept = k < quoted->n && q->node == n->node && q->byte == n->byte && q->above == n->above &&
                (q->below || q->token == n->token);
    CHECK(kept == (above || i < from));
    if (!kept) continue;
    CHECK(q->below == (i >= from) && (!q->below || q->token >= quoted->tokens));
    CHECK(q->next > k && q->next <= quoted->n &&
          (q->next == quoted->n || quoted->nodes[q->next].above <= q->above));
    k++;
  }
  CHECKF(k == quoted->n && k > 1 && k < l->n / 4, "%u of %u nodes, %u", k, quoted->n, l->n);
  tsl_grammar_release(g);
}

/* The table is the vocabulary's: one grammar reads all along it, the other nothing. */
static void turn(tsl_grammar *g, bool with) {
  table_of(g)->least = with ? 1 : UINT32_MAX;
  if (!with) return;
  /* all by the table: test_delta.c and test_subtract.c do otherwise */
  g->space->walking.delta_work = UINT64_MAX;
  g->space->walking.subtract_bytes = UINT32_MAX;
}

static void follow(const char *schema, tsl_grammar *with, tsl_grammar *without, uint64_t seed,
                   int each) {
  follow_both(&(side_by_side){schema, "", with, without, STEPS, each, turn}, seed);
  table_of(with)->least = TSL__LINEAR_TOKENS;
}

static void with_and_without(void) {
  static const char *const schemas[] = {
      "{\"type\":\"string\",\"not\":{\"pattern\":\"the\"}}",
      "{\"type\":\"string\",\"pattern\":\"[0-9a-f]{3}\"}",
      "{\"type\":\"string\",\"pattern\":\"[0-9a-f]{3}\",\"maxLength\":12}",
      "{\"type\":\"string\",\"allOf\":[{\"pattern\":\"e.*s\"},{\"not\":{\"pattern\":\"in|on\"}}]}",
      "{\"type\":\"string\",\"pattern\":\"^(?!.*(ab|er)).{4,30}$\"}",
      "{\"type\":\"string\",\"pattern\":\"^\\\\p{L}+( \\\\p{L}+)*$\"}",
      "{\"type\":\"string\",\"pattern\":\"^([a-z]+ ){2,5}[a-z]+$\"}",
      "{\"type\":\"string\",\"pattern\":\"^([^,]{1,9},){3}\"}",
      /* counted: what is read along the table after an `e` comes back to the loop */
      "{\"type\":\"string\",\"pattern\":\"^(?:[^eta]|[eta][^b]){0,12}$\"}",
      "{\"type\":\"string\",\"pattern\":\"^(?:[^e]|e[^b]{2}){3,9}$\"}",
      "{\"type\":\"string\",\"pattern\":\"^(?:[^s ]|[s ][^b]*?x?){0,7}$\"}",
      /* letters that always live, fewer with each character */
      "{\"type\":\"string\",\"pattern\":\"[0-9a-f]+\",\"minLength\":12,\"maxLength\":12}",
      "{\"type\":\"string\",\"pattern\":\"^(?:[^,&]{1,5}[,&])*$\"}",
      /* words of any letters, at once */
      "{\"type\":\"string\",\"pattern\":\"^\\\\s*[^:,\\\\s]+:[^:,]*$\"}",
      "{\"type\":\"string\",\"pattern\":\"^[^é:]+:.*$\"}",
      /* and of so many letters, and no more */
      "{\"type\":\"string\",\"pattern\":\"^[A-Za-z]{3,5}([-_ ][A-Za-z0-9]{2,7})+$\"}",
      "{\"type\":\"string\",\"pattern\":\"^([A-Za-z]{5}|x[A-Za-z]{7})-[0-9]+$\"}",
      "{\"type\":\"string\",\"format\":\"uri\"}",
      "{\"type\":\"string\",\"format\":\"idn-email\"}",
      "{\"type\":\"object\",\"patternProperties\":{\"er\":{\"type\":\"integer\"},\"^(?!.*er)\":{"
      "\"pattern\":\"e\"}},\"minProperties\":2}",
      "{\"type\":\"array\",\"items\":{\"not\":{\"pattern\":\"a\"}},\"uniqueItems\":true,"
      "\"minItems\":3}",
      "true",
  };
  tsl_vocab_set_walk_cache(vocab, 0); /* no walk of one is the other's */
  for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
    tsl_grammar *with = compile(schemas[i]), *without = compile(schemas[i]);
    for (uint64_t seed = 0; seed < 12; seed++)
      follow(schemas[i], with, without, seed * 31 + i, seed ? STEPS : 5);
    tsl_grammar_release(with);
    tsl_grammar_release(without);
  }
}

/* Texts that may end after any character, with nothing to follow. */
static void may_be_over(void) {
  static const char *const patterns[] = {"[A-Z][^;:()\\n]{2,16}( \\(x\\))?",
                                         "^(?!.*the).*$",
                                         "^(?!.*(ab|er|in)).*$",
                                         "(?!.*\\b(of|to)\\b).*",
                                         "(?s)(?!.*(on|at)).{1,9}",
                                         "^(?!.*e)[ -~]*$",
                                         "(?:[^e]|e[^b])*",
                                         "(?:[^,]{3},?)*",
                                         "\\p{L}*(?: \\p{L}*)*",
                                         "[^a]*(?:a[^t].*)?",
                                         "(?:x|[^x].{3})*",
                                         "[^b]{0,9}(ab)?",
                                         "(?!.*the)[^q]{3,}",
                                         "(\\w+ ?){2,8}",
                                         "[A-Z][^;:()\\n]{2,60}( \\(x\\))?"};
  tsl_vocab_set_walk_cache(vocab, 0);
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    tsl_grammar *with = compile_regex(patterns[i]), *without = compile_regex(patterns[i]);
    for (uint64_t seed = 0; with && without && seed < 12; seed++)
      follow(patterns[i], with, without, seed * 37 + i, seed ? STEPS : 5);
    if (i == 0 && with && without)
      CHECKF(tsl__space_steps(with->space) * 2 < tsl__space_steps(without->space),
             "%llu and %llu steps", (unsigned long long)tsl__space_steps(with->space),
             (unsigned long long)tsl__space_steps(without->space));
    tsl_grammar_release(with);
    tsl_grammar_release(without);
  }
}

/* Vocabularies in which a space is followed by nothing but words, or by little else: the tables
 * without words have nothing below it. */
static void spaced_words(void) {
  static const char *const spaced[][8] = {{" word", " of", " letters"},    {" \xC3"},
                                          {" a", " \xC3\xA9t\xC3", " ab"}, {" ab", " (", " abc"},
                                          {" ab", " \"", " abc"},          {" ", " a"},
                                          {" abcdefghijkl", " ab", "  "}};
  static const char *const patterns[] = {
      "[0-9a-f]{3}",        "^(?!.*the)",           "^[^,]*$",
      "^(?:[^(]x?|[(]).*$", "^[^ ]?[^,]*,[a-z ]*$", "^[^b-z].*[0-9]",
      "^(?:[^a]{3},)*$",    "^[^,]{1,5}$",          "^[^q]{5}"};
  static const char *const texts[] = {"\"", "\"0", "\"ab", "\"x ", "\"\xC3\xA9"};
  tsl_vocab *outer = vocab;
  for (size_t i = 0; i < sizeof spaced / sizeof *spaced; i++) {
    uint8_t bytes[2000];
    uint32_t offsets[600], n = 0, tokens = 0;
    for (unsigned b = 0; b < 256; b++) offsets[tokens++] = n, bytes[n++] = (uint8_t)b;
    for (unsigned k = 0; k < 26; k++)
      offsets[tokens++] = n, bytes[n++] = (uint8_t)('a' + k), bytes[n++] = (uint8_t)('z' - k);
    for (size_t k = 0; k < 8 && spaced[i][k]; k++) {
      size_t length = strlen(spaced[i][k]);
      offsets[tokens++] = n;
      memcpy(bytes + n, spaced[i][k], length);
      n += (uint32_t)length;
    }
    offsets[tokens] = n;
    CHECK(tsl_vocab_new(&(tsl_vocab_desc){.bytes = bytes, .offsets = offsets, .size = tokens}, NULL,
                        &vocab, NULL) == TSL_OK);
    for (size_t k = 0; vocab && k < sizeof patterns / sizeof *patterns; k++) {
      char schema[100];
      uint32_t mask[20];
      snprintf(schema, sizeof schema, "{\"type\":\"string\",\"pattern\":\"%s\"}", patterns[k]);
      tsl_grammar *g = compile(schema);
      for (size_t t = 0; g && t < sizeof texts / sizeof *texts; t++) {
        tsl_matcher *m = NULL;
        turn(g, true);
        CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
        if (tsl_matcher_accept_bytes(m, texts[t], strlen(texts[t]), NULL) == TSL_OK)
          CHECK(tsl_matcher_mask(m, mask) == TSL_OK && mask_is_right(m, mask, schema, texts[t]));
        tsl_matcher_free(m);
      }
      tsl_grammar_release(g);
    }
    tsl_vocab_release(vocab);
  }
  vocab = outer;
}

/* More states than there are rows: those past are searched. */
static void many_states(void) {
  const char *schema = "{\"type\":\"string\",\"minLength\":3,\"maxLength\":9,\"pattern\":\"(?:[a-m]"
                       "[n-z]|[n-z][a-m]|[aeiou]{2}).*[st][a-f0-9].*(?:q|[aeiou].{3}[aeiou])\","
                       "\"not\":{\"pattern\":\"(?:th|he|in|er|an|re|nd|at|on|nt).?[a-e]\"}}";
  tsl_grammar *with = compile(schema), *without = compile(schema);
  for (uint64_t seed = 0; seed < 12; seed++)
    follow(schema, with, without, seed * 17 + 1, seed ? STEPS : 8);
  CHECKF(tsl__space_count(with->space, states) > 400, "%u states",
         tsl__space_count(with->space, states));
  tsl_grammar_release(with);
  tsl_grammar_release(without);
}

int main(void) {
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  if (!vocab) return tsl_test_end();
  words = tsl_vocab_mask_words(vocab);
  RUN(the_table, "nodes in the order of spelling");
  RUN(the_rest, "the table without words");
  RUN(the_nonascii_rest, "the table without words of any letters");
  RUN(the_quotes, "the table of quotes");
  RUN(with_and_without, "masks with the table, without it, token by token");
  RUN(may_be_over, "texts that may end after any character");
  RUN(spaced_words, "nothing but words after a space");
  RUN(many_states, "more states than rows");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
