/* test_answers.c - answers read back that test_tags.c has no table for: cut anywhere, with delimiters that are tokens, with nothing in a tag, given in any pieces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/json.h"
#include "tests/check.h"

static tsl_vocab *vocab;

static tsl_grammar *compile(const char *json) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  CHECKF(tsl_grammar_tags(vocab, json, strlen(json), NULL, NULL, &g, &error) == TSL_OK, "%s: %s", json, error.message);
  return g;
}

static bool is_json(const char *text) {
  tsl__arena arena;
  tsl__json *root;
  tsl__arena_init(&arena, &tsl__malloc);
  bool fine = text && tsl__json_parse(&arena, text, strlen(text), 100, &root, NULL) == TSL_OK;
  tsl__arena_free(&arena);
  return fine;
}

#define TAG(as, begin, content, end) "{\"type\":\"tag\"" as ",\"begin\":\"" begin "\",\"content\":" content ",\"end\":" end "}"
#define CALL ",\"as\":\"call\",\"name\":\"f\""

/* ---- cut anywhere ------------------------------------------------------------------------------------------------- */

/* At every byte of an answer, what is read so far is JSON; "incomplete" stands there until the call is over. */
static void check_cuts(const char *name, tsl_grammar *g, const char *text) {
  tsl_parser *p = NULL;
  if (!g || tsl_parser_new(g, NULL, &p) != TSL_OK) return;
  size_t calls = 0;
  for (size_t i = 0; text[i]; i++) {
    CHECKF(tsl_parser_text(p, text + i, 1) == TSL_OK, "%s: byte %zu of %s", name, i, text);
    const char *json = tsl_parser_json(p);
    CHECKF(is_json(json), "%s: %s", name, json);
    calls += json && strstr(json, "\"incomplete\": true") != NULL;
  }
  CHECKF(calls > 0 && tsl_parser_finish(p) == TSL_OK && is_json(tsl_parser_json(p)) && !strstr(tsl_parser_json(p), "incomplete"), "%s: %s", name, tsl_parser_json(p));
  tsl_parser_free(p);
}

static void cut_anywhere(void) {
  static const char request[] = "{\"tools\":[{\"name\":\"f\",\"input_schema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"s\":{\"type\":\"string\"}},"
                                "\"required\":[\"a\",\"s\"],\"additionalProperties\":false}}],\"tool_choice\":{\"type\":\"tool\",\"name\":\"f\"}}";
  const char *name, *json;
  for (size_t n = 0; tsl_tools_preset(n, &name, &json); n++) { /* the shortest answer */
    tsl_tools_options o = {.preset = name, .thinking = TSL_THINKING_OFF};
    tsl_grammar *g = NULL;
    tsl_matcher *m = NULL;
    tsl_error e = {0};
    char text[1024];
    size_t length = 0;
    CHECKF(tsl_grammar_tools(vocab, request, sizeof request - 1, &o, NULL, &g, &e) == TSL_OK && tsl_matcher_new(g, NULL, &m) == TSL_OK, "%s: %s", name, e.message);
    while (m && !tsl_matcher_is_complete(m) && length < sizeof text - 1) {
      uint64_t least = UINT64_MAX, bytes;
      char best = 0;
      for (int c = 1; c < 256; c++) {
        char byte = (char)c;
        tsl_matcher *next = NULL;
        if (tsl_matcher_fork(m, &next) != TSL_OK) continue;
        if (tsl_matcher_accept_bytes(next, &byte, 1, NULL) == TSL_OK && tsl_matcher_shortest_completion(next, &bytes) == TSL_OK && bytes < least) least = bytes, best = byte;
        tsl_matcher_free(next);
      }
      if (!best || tsl_matcher_accept_bytes(m, &best, 1, NULL) != TSL_OK) break;
      text[length++] = best;
    }
    text[length] = 0;
    CHECKF(m && tsl_matcher_is_complete(m), "%s: %s", name, text);
    check_cuts(name, g, text);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
}

/* Arguments that need not be JSON: as they are where they happen to be, else a string. */
static void arguments_of_any_text(void) {
  static const struct { const char *text, *arguments; } cases[] = {{"<f>{\"a\":\n1}</f>", "{\"a\": 1}"}, {"<f>say \"hi\"\n</f>", "\"say \\\"hi\\\"\\n\""}, {"<f>\"a\nb\"</f>", "\"\\\"a\\nb\\\"\""}, {"<f></f>", "{}"}, {"<f>{\"a\":1}}</f>", "\"{\\\"a\\\":1}}\""}};
  tsl_grammar *g = compile(TAG(CALL, "<f>", "{\"type\":\"any_text\",\"as\":\"arguments\"}", "\"</f>\""));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char expected[200];
    tsl_parser *p = NULL;
    if (!g || tsl_parser_new(g, NULL, &p) != TSL_OK) continue;
    snprintf(expected, sizeof expected, "\"arguments\": %s}", cases[i].arguments);
    CHECK(tsl_parser_text(p, cases[i].text, strlen(cases[i].text)) == TSL_OK && tsl_parser_finish(p) == TSL_OK);
    CHECKF(strstr(tsl_parser_json(p), expected) != NULL && is_json(tsl_parser_json(p)), "%s", tsl_parser_json(p));
    tsl_parser_reset(p);
    tsl_parser_free(p);
    check_cuts("any_text", g, cases[i].text);
  }
  tsl_grammar_release(g);
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 1;
  RUN(cut_anywhere, "every preset, at every byte: JSON");
  RUN(arguments_of_any_text, "and cut, too");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
