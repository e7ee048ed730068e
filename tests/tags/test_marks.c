/* test_marks.c - captures and counts of tokens in Lark grammars: what a parser reads back, how many
 * tokens are allowed, and masks against the oracle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>

#include "runtime/matcher/quota.h"
#include "tests/judges/oracle.h"
#include "tests/support/check.h"
#include "tests/support/failing.h"
#include "tests/support/take.h"

static tsl_vocab *vocab;

static tsl_grammar *compile(const char *text) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status = tsl_grammar_lark(vocab, text, strlen(text), NULL, NULL, &g, &error);
  CHECKF(status == TSL_OK, "%s: %s", text, error.message);
  return g;
}

/* ---- what is read back ----------------------------------------------------------------------- */

static const struct {
  const char *grammar, *text, *json;
} captured[] = {
    {"start: name \"!\"\nname[capture]: /[a-z]+/", "ab!",
     "{\"content\": \"!\", \"reasoning\": \"\", \"calls\": [], \"tags\": [{\"begin\": \"name\", "
     "\"content\": \"ab\"}]}"},
    {"start: name (\",\" name)*\nname[capture=\"x\"]: /[a-z]*/", "ab,,c",
     "{\"content\": \",,\", \"reasoning\": \"\", \"calls\": [], \"tags\": [{\"begin\": \"x\", "
     "\"content\": \"ab\"}, {\"begin\": \"x\", \"content\": \"\"}, {\"begin\": \"x\", "
     "\"content\": \"c\"}]}"},
    {"start[capture]: inner \"b\"\ninner[capture]: \"a\"+", "aab",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [], \"tags\": [{\"begin\": \"start\", "
     "\"content\": \"aab\"}, {\"begin\": \"inner\", \"content\": \"aa\"}]}"},
    {"start: line rest\nline[capture, suffix=\"<e>\"]: /(?s:.*)/\nrest[capture]: /[0-9]/",
     "x<e<e>7",
     "{\"content\": \"<e>\", \"reasoning\": \"\", \"calls\": [], \"tags\": [{\"begin\": \"line\", "
     "\"content\": \"x<e\"}, {\"begin\": \"rest\", \"content\": \"7\"}]}"},
    {"start: tree\ntree[capture]: \"(\" tree* \")\"", "(()())",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [], \"tags\": [{\"begin\": \"tree\", "
     "\"content\": \"(()())\"}, {\"begin\": \"tree\", \"content\": \"()\"}, {\"begin\": \"tree\", "
     "\"content\": \"()\"}]}"},
    {"start: _list{word}\n_list{x}: x (\";\" x)*\nword[capture]: /[a-z]+/\n%ignore \" \"", "a ; bc",
     "{\"content\": \" ; \", \"reasoning\": \"\", \"calls\": [], \"tags\": [{\"begin\": "
     "\"word\", \"content\": \"a\"}, {\"begin\": \"word\", \"content\": \"bc\"}]}"},
    {"start: call\ncall[capture]: \"f\" %json {\"type\": \"integer\"} \".\"", "f12.",
     "{\"content\": \"\", \"reasoning\": \"\", \"calls\": [], \"tags\": [{\"begin\": \"call\", "
     "\"content\": \"f12.\"}]}"}};

static void read_back(void) {
  for (size_t i = 0; i < sizeof captured / sizeof *captured; i++) {
    tsl_grammar *g = compile(captured[i].grammar);
    for (int whole = 0; g && whole < 2; whole++) {
      tsl_parser *p = NULL;
      size_t n = strlen(captured[i].text);
      CHECK(tsl_parser_new(g, NULL, &p) == TSL_OK);
      if (!p) continue;
      for (size_t at = 0; at < n; at += whole ? n : 1)
        CHECK(tsl_parser_text(p, captured[i].text + at, whole ? n : 1) == TSL_OK);
      CHECK(tsl_parser_finish(p) == TSL_OK);
      const char *json = tsl_parser_json(p);
      CHECKF(json && !strcmp(json, captured[i].json), "%s: %s", captured[i].text, json);
      tsl_parser_free(p);
    }
    tsl_grammar_release(g);
  }
}

static void events_while_streaming(void) {
  static const tsl_part_kind kinds[] = {TSL_PART_TEXT, TSL_PART_TAG, TSL_PART_TAG_TEXT};
  tsl_grammar *g = compile("start: \"say: \" word \".\"\nword[capture]: /[a-z]+/");
  tsl_parser *p = NULL;
  tsl_part part;
  size_t n = 0;
  if (!g || tsl_parser_new(g, NULL, &p) != TSL_OK) return;
  CHECK(tsl_parser_text(p, "say: hello", 10) == TSL_OK);
  for (; tsl_parser_next(p, &part) && n < 3; n++)
    CHECKF(part.kind == kinds[n], "%d", (int)part.kind);
  CHECKF(n >= 2, "%zu parts", n);
  CHECK(tsl_parser_text(p, ".", 1) == TSL_OK && tsl_parser_finish(p) == TSL_OK);
  bool ended = false;
  while (tsl_parser_next(p, &part)) ended |= part.kind == TSL_PART_TAG_END;
  CHECK(ended);
  tsl_parser_free(p);
  tsl_grammar_release(g);
}

/* A grammar without captures has no parser. */
static void none(void) {
  tsl_grammar *g = compile("start: \"a\"");
  tsl_parser *p = NULL;
  CHECK(g && tsl_parser_new(g, NULL, &p) == TSL_ERR_STATE);
  tsl_grammar_release(g);
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void counts(void) {
  tsl_grammar *g =
      compile("start: \"<\" a \">\" b\na[max_tokens=3]: /[^>]*/\nb[max_tokens=1]: /x+/");
  tsl_matcher *m = NULL;
  tsl_token x = TSL_NO_TOKEN, open = TSL_NO_TOKEN, close = TSL_NO_TOKEN;
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  for (tsl_token t = 0; t < tsl_vocab_size(vocab); t++) {
    size_t n;
    const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &n);
    if (n == 1 && *bytes == 'x') x = t;
    if (n == 1 && *bytes == '<') open = t;
    if (n == 1 && *bytes == '>') close = t;
  }
  CHECK(tsl_matcher_accept(m, open) == TSL_OK);
  for (int i = 0; i < 3; i++) CHECK(tsl_matcher_accept(m, x) == TSL_OK);
  CHECK(tsl_matcher_accept(m, x) == TSL_REJECTED);
  CHECK(tsl_matcher_accept(m, close) == TSL_OK && !tsl_matcher_is_complete(m));
  CHECK(tsl_matcher_accept(m, x) == TSL_OK && tsl_matcher_is_complete(m));
  CHECK(tsl_matcher_accept(m, x) == TSL_REJECTED);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* ---- masks ----------------------------------------------------------------------------------- */

static void masks_against_the_oracle(void) {
  static const char *const grammars[] = {
      "start: _list{word} tail\n_list{x}: x (\"; \" x)*\nword[capture]: /[a-z]+/ | \"(\" word "
      "\")\"\n"
      "tail[capture, suffix=\"end\"]: /.*/\n%ignore \" \"",
      "start: p::0\np::_: \"one \" p::set_bit(0) %if bit_clear(0) | \"two \" p::set_bit(1) %if "
      "bit_clear(1)\n | \"three\" %if bit_count_ge(_, 1)",
      "start: \"say \" Q \".\"\nQ: %regex {\"substring_words\": \"the cat and the dog and the "
      "end\"}",
      "start: a %lark { start: b+\n b: \"(\" b* \")\" | /[0-9]+/ \n %ignore \" \" } a\n"
      "a: <[0-40,60-70]> | <[^0-400]>",
      "start: t \"<end> more\"\nt[stop=\"<end>\"]: /[^#]*/"};
  uint32_t words = (uint32_t)tsl_vocab_mask_words(vocab);
  uint32_t *ours = malloc(words * sizeof *ours), *theirs = malloc(words * sizeof *theirs);
  uint64_t seed = 11;
  for (int round = 0; round < 40; round++) {
    tsl_grammar *g = compile(grammars[round % 5]);
    tsl_matcher *m = NULL;
    oracle o;
    if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) continue;
    oracle_begin(&o, g->space, g->start);
    for (int i = 0; i < 12; i++) {
      CHECK(tsl_matcher_mask(m, ours) == TSL_OK);
      oracle_mask(&o, theirs);
      if (o.overflow) break;
      CHECKF(!memcmp(ours, theirs, words * sizeof *ours), "grammar %d, step %d", round % 5, i);
      tsl_token t = draw(ours, words * 32, &seed);
      CHECKF(t != TSL_NO_TOKEN, "a dead end in grammar %d", round % 5);
      if (t == TSL_NO_TOKEN) break;
      if (tsl_vocab_is_eog(vocab, t)) break;
      CHECK(tsl_matcher_accept(m, t) == TSL_OK && oracle_token(&o, t));
    }
    oracle_free(&o);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  free(ours);
  free(theirs);
}

/* Each allocation of a compile, a parser and a mask fails once. What the grammars of a vocabulary
 * share is made before: that takes 18,000 allocations, which test_fault_sites lets fail. */
static void no_memory(void) {
  static const char text[] = "start: a b\na[capture, suffix=\"x\"]: /.*/\nb[max_tokens=2]: /y*/";
  static const uint8_t bytes[] = "abxyabxy<e>";
  static const uint32_t offsets[] = {0, 1, 2, 3, 4, 6, 8, 11};
  static const uint8_t special[] = {0, 0, 0, 0, 0, 0, 1};
  const tsl_token end = 6;
  const tsl_vocab_desc desc = {bytes, offsets, 7, 0, special, &end, 1};
  failing f = {LONG_MAX, 0};
  const tsl_allocator a = failing_allocator(&f);
  tsl_vocab *v = NULL;
  tsl_grammar *first = NULL;
  CHECK(tsl_vocab_new(&desc, &a, &v, NULL) == TSL_OK);
  CHECK(v && tsl_grammar_lark(v, text, sizeof text - 1, NULL, NULL, &first, NULL) == TSL_OK);
  unsigned n = 0, refused = 0;
  for (bool failed = true; failed && n < 2000; n++) {
    f.left = n;
    tsl_grammar *g = NULL;
    tsl_parser *p = NULL;
    tsl_matcher *m = NULL;
    tsl_error error = {0};
    uint32_t mask = 0;
    tsl_status status = tsl_grammar_lark(v, text, sizeof text - 1, NULL, NULL, &g, &error);
    if (status == TSL_OK) status = tsl_parser_new(g, &a, &p);
    if (status == TSL_OK) status = tsl_parser_text(p, "abxy", 4);
    if (status == TSL_OK) status = tsl_parser_finish(p);
    const char *json = status == TSL_OK ? tsl_parser_json(p) : NULL;
    if (status == TSL_OK && !json) status = TSL_ERR_NO_MEMORY;
    if (status == TSL_OK) status = tsl_matcher_new(g, &a, &m);
    if (status == TSL_OK) status = tsl_matcher_accept_bytes(m, "abx", 3, NULL);
    if (status == TSL_OK) status = tsl_matcher_mask(m, &mask);
    CHECKF(status == TSL_OK || status == TSL_ERR_NO_MEMORY, "%s: %s", tsl_status_name(status),
           error.message);
    if (status == TSL_OK) /* a failure that nobody noticed changes nothing */
      CHECKF(!strcmp(json, "{\"content\": \"xy\", \"reasoning\": \"\", \"calls\": [], \"tags\": "
                           "[{\"begin\": \"a\", \"content\": \"ab\"}]}") &&
                 mask == (1u << 3 | 1u << end),
             "allocation %u: %s, mask %x", n, json, (unsigned)mask);
    refused += status == TSL_ERR_NO_MEMORY;
    tsl_matcher_free(m);
    tsl_parser_free(p);
    tsl_grammar_release(g);
    failed = failing_failed(&f);
    CHECK(failed || status == TSL_OK);
  }
  CHECKF(refused > 100 && n < 2000, "%u of %u", refused, n);
  tsl_grammar_release(first);
  tsl_vocab_release(v);
  CHECKF(f.held == 0, "%ld bytes are left", f.held);
}

int main(void) {
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  RUN(read_back, "captures, nested, empty, repeated");
  RUN(events_while_streaming, "parts as the text comes");
  RUN(none, "a grammar without captures");
  RUN(counts, "tokens that are counted");
  RUN(masks_against_the_oracle, "masks in random generations");
  RUN(no_memory, "every allocation fails once");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
