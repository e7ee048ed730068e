/* test_answers.c - answers read back that test_tags.c has no table for. They are cut anywhere, have
 * delimiters that are tokens, or nothing in a tag, and come in any pieces. Some have tags in tags,
 * or many calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "compiler/json/json.h"
#include "tests/support/cpu_time.h"
#include "tests/support/check.h"

static tsl_vocab *vocab;

static tsl_grammar *compile(const char *json) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  CHECKF(tsl_grammar_tags(vocab, json, strlen(json), NULL, NULL, &g, &error) == TSL_OK, "%s: %s",
         json, error.message);
  return g;
}

static bool is_json(const char *text) {
  tsl__arena arena;
  tsl__json *root;
  tsl__arena_init(&arena, &tsl__malloc);
  bool fine = text && tsl__json_parse(&arena, NULL, text, strlen(text), 100, &root, NULL) == TSL_OK;
  tsl__arena_free(&arena);
  return fine;
}

#define TAG(as, begin, content, end) \
  "{\"type\":\"tag\"" as ",\"begin\":\"" begin "\",\"content\":" content ",\"end\":" end "}"
#define CALL ",\"as\":\"call\",\"name\":\"f\""

/* ---- cut anywhere ---------------------------------------------------------------------------- */

/* At every byte of an answer, what is read so far is JSON; "incomplete" stands there until the call
 * is over. */
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
  CHECKF(calls > 0 && tsl_parser_finish(p) == TSL_OK && is_json(tsl_parser_json(p)) &&
             !strstr(tsl_parser_json(p), "incomplete"),
         "%s: %s", name, tsl_parser_json(p));
  tsl_parser_free(p);
}

static void cut_anywhere(void) {
  static const char request[] =
      "{\"tools\":[{\"name\":\"f\",\"input_schema\":{\"type\":\"object\",\"properties\":{\"a\":{"
      "\"type\":\"integer\"},\"s\":{\"type\":\"string\"}},"
      "\"required\":[\"a\",\"s\"],\"additionalProperties\":false}}],\"tool_choice\":{\"type\":"
      "\"tool\",\"name\":\"f\"}}";
  const char *name, *json;
  for (size_t n = 0; tsl_tools_preset(n, &name, &json); n++) { /* the shortest answer */
    tsl_tools_options o = {.preset = name, .thinking = TSL_THINKING_OFF};
    tsl_grammar *g = NULL;
    tsl_matcher *m = NULL;
    tsl_error e = {0};
    char text[1024];
    size_t length = 0;
    CHECKF(tsl_grammar_tools(vocab, request, sizeof request - 1, &o, NULL, &g, &e) == TSL_OK &&
               tsl_matcher_new(g, NULL, &m) == TSL_OK,
           "%s: %s", name, e.message);
    while (m && !tsl_matcher_is_complete(m) && length < sizeof text - 1) {
      uint64_t least = UINT64_MAX, bytes;
      char best = 0;
      for (int c = 1; c < 256; c++) {
        char byte = (char)c;
        tsl_matcher *next = NULL;
        if (tsl_matcher_fork(m, &next) != TSL_OK) continue;
        if (tsl_matcher_accept_bytes(next, &byte, 1, NULL) == TSL_OK &&
            tsl_matcher_shortest_completion(next, &bytes) == TSL_OK && bytes < least)
          least = bytes, best = byte;
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
  static const struct {
    const char *text, *arguments;
  } cases[] = {{"<f>{\"a\":\n1}</f>", "{\"a\": 1}"},
               {"<f>say \"hi\"\n</f>", "\"say \\\"hi\\\"\\n\""},
               {"<f>\"a\nb\"</f>", "\"\\\"a\\nb\\\"\""},
               {"<f></f>", "{}"},
               {"<f>{\"a\":1}}</f>", "\"{\\\"a\\\":1}}\""}};
  tsl_grammar *g =
      compile(TAG(CALL, "<f>", "{\"type\":\"any_text\",\"as\":\"arguments\"}", "\"</f>\""));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char expected[200];
    tsl_parser *p = NULL;
    if (!g || tsl_parser_new(g, NULL, &p) != TSL_OK) continue;
    snprintf(expected, sizeof expected, "\"arguments\": %s}", cases[i].arguments);
    CHECK(tsl_parser_text(p, cases[i].text, strlen(cases[i].text)) == TSL_OK &&
          tsl_parser_finish(p) == TSL_OK);
    CHECKF(strstr(tsl_parser_json(p), expected) != NULL && is_json(tsl_parser_json(p)), "%s",
           tsl_parser_json(p));
    tsl_parser_reset(p);
    tsl_parser_free(p);
    check_cuts("any_text", g, cases[i].text);
  }
  tsl_grammar_release(g);
}

/* ---- delimiters ------------------------------------------------------------------------------ */

/* Bytes, then <s>, </s>, <s>x as special tokens, then the end of the text. */
static tsl_vocab *with_specials(void) {
  static const char *const more[] = {"<s>", "</s>", "<s>x", ""};
  uint8_t bytes[300], special[260] = {0};
  uint32_t offsets[261], n = 0;
  const uint32_t eog = 259;
  for (uint32_t i = 0; i < 260; i++) {
    size_t length = i < 256 ? 1 : strlen(more[i - 256]);
    offsets[i] = n;
    special[i] = i >= 256;
    if (i < 256)
      bytes[n] = (uint8_t)i;
    else
      memcpy(bytes + n, more[i - 256], length);
    n += (uint32_t)length;
  }
  offsets[260] = n;
  const tsl_vocab_desc desc = {.bytes = bytes,
                               .offsets = offsets,
                               .size = 260,
                               .special = special,
                               .eog = &eog,
                               .eog_count = 1};
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_new(&desc, NULL, &v, NULL) == TSL_OK);
  return v;
}

#define TOKEN(text) "{\"type\":\"token\",\"token\":\"" text "\"}"

/* What ends a tag is no content, be it a text or a token, alone or one of several. */
static void ends_are_no_content(void) {
  static const struct {
    const char *begin, *ends;
    tsl_token tokens[8];
    size_t n;
  } cases[] = {
      {TOKEN("<s>"), TOKEN("</s>"), {256, 'a', 'b', 257}, 4},
      {TOKEN("<s>"), "[" TOKEN("</s>") ",\"|\"]", {256, 'a', 'b', 257}, 4},
      {TOKEN("<s>"), "[" TOKEN("</s>") ",\"|\"]", {256, 'a', 'b', '|'}, 4},
      {"\"<s>\"", "[\"|\"," TOKEN("</s>") "]", {'<', 's', '>', 'a', 'b', 257}, 6},
      {"\"<s>\"", "\"</s>\"", {256, 'a', 'b', 257}, 4},
  };
  tsl_vocab *v = with_specials();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int content = 0; content < 2; content++) {
      char json[400];
      tsl_grammar *g = NULL;
      tsl_parser *p = NULL;
      tsl_error e = {0};
      snprintf(json, sizeof json, "{\"type\":\"tag\",\"begin\":%s,\"content\":%s,\"end\":%s}",
               cases[i].begin,
               content ? "{\"type\":\"regex\",\"pattern\":\"[a-z]*\"}" : "{\"type\":\"any_text\"}",
               cases[i].ends);
      CHECKF(tsl_grammar_tags(v, json, strlen(json), NULL, NULL, &g, &e) == TSL_OK &&
                 tsl_parser_new(g, NULL, &p) == TSL_OK,
             "%s: %s", json, e.message);
      for (size_t k = 0; p && k < cases[i].n; k++)
        CHECK(tsl_parser_token(p, cases[i].tokens[k]) == TSL_OK);
      CHECK(p && tsl_parser_finish(p) == TSL_OK);
      CHECKF(p && strstr(tsl_parser_json(p), "\"content\": \"\"") &&
                 strstr(tsl_parser_json(p), "[{\"begin\": \"<s>\", \"content\": \"ab\"}]"),
             "%s: %s", json, p ? tsl_parser_json(p) : "");
      tsl_parser_free(p);
      tsl_grammar_release(g);
    }
  tsl_vocab_release(v);
}

/* Text that spells special tokens where only they may stand, in any pieces; and what only begins
 * like one. */
static void tokens_in_pieces(void) {
  tsl_vocab *v = with_specials();
  static const char json[] = "{\"type\":\"sequence\",\"elements\":[" TOKEN("<s>") "," TAG(
      "", "[", "{\"type\":\"regex\",\"pattern\":\"[a-z]*\"}", TOKEN("</s>")) "]}",
                    text[] = "<s>[ab</s>";
  tsl_grammar *g = NULL;
  tsl_parser *p = NULL;
  CHECK(tsl_grammar_tags(v, json, sizeof json - 1, NULL, NULL, &g, NULL) == TSL_OK &&
        tsl_parser_new(g, NULL, &p) == TSL_OK);
  for (size_t step = 1; p && step < sizeof text; step++) {
    tsl_parser_reset(p);
    for (size_t at = 0; at < sizeof text - 1; at += step)
      CHECKF(tsl_parser_text(p, text + at, at + step < sizeof text ? step : sizeof text - 1 - at) ==
                 TSL_OK,
             "%zu bytes at %zu", step, at);
    CHECK(tsl_parser_finish(p) == TSL_OK);
    CHECKF(strstr(tsl_parser_json(p), "[{\"begin\": \"[\", \"content\": \"ab\"}]") != NULL, "%s",
           tsl_parser_json(p));
  }
  tsl_parser_reset(p);
  CHECK(tsl_parser_text(p, "<", 1) == TSL_OK && tsl_parser_finish(p) == TSL_REJECTED &&
        tsl_parser_text(p, "x", 1) == TSL_REJECTED && tsl_parser_token(p, 256) == TSL_REJECTED);
  CHECK(tsl_parser_text(p, "s", 1) == TSL_OK && tsl_parser_token(p, '>') == TSL_OK &&
        tsl_parser_text(p, "[a</", 4) == TSL_OK && tsl_parser_text(p, "b", 1) == TSL_REJECTED &&
        tsl_parser_text(p, "s>", 2) == TSL_OK);
  CHECK(tsl_parser_finish(p) == TSL_OK && strstr(tsl_parser_json(p), "\"content\": \"a\"}]"));
  tsl_parser_reset(p);
  CHECK(tsl_parser_text(p, "</s", 3) == TSL_REJECTED && tsl_parser_text(p, "x", 1) == TSL_REJECTED);
  tsl_parser_free(p);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

#define CONST(text) "{\"type\":\"const_string\",\"value\":\"" text "\"}"
#define OPTIONAL(content) "{\"type\":\"optional\",\"content\":" content "}"

/* A tag with nothing in it, and nothing to end it, is there all the same. */
static void empty_tags(void) {
  static const struct {
    const char *json, *text, *expected;
  } cases[] = {
      {TAG("", "<a>", OPTIONAL(CONST("x")), "\"\""), "<a>",
       "\"content\": \"\", \"reasoning\": \"\", \"calls\": [], \"tags\": [{\"begin\": \"<a>\", "
       "\"content\": \"\"}]"},
      {TAG("", "<a>", OPTIONAL(CONST("x")), "\"\""), "<a>x",
       "\"tags\": [{\"begin\": \"<a>\", \"content\": \"x\"}]"},
      {TAG("", "<a>", "{\"type\":\"any_text\"}", "[\"|\",\"\"]"), "<a>",
       "\"tags\": [{\"begin\": \"<a>\", \"content\": \"\"}]"},
      {TAG(CALL, "<a>", "{\"type\":\"any_text\",\"as\":\"arguments\"}", "\"\""), "<a>",
       "\"calls\": [{\"id\": \"call_0\", \"name\": \"f\", \"arguments\": {}}]"},
      {TAG(CALL, "<a>", OPTIONAL(TAG("", "b", OPTIONAL(CONST("x")), "\"\"")), "\"\""), "<a>b",
       "\"name\": \"f\", \"arguments\": {}}], \"tags\": [{\"begin\": \"b\", \"content\": \"\"}]"},
      {TAG(CALL, "<a>", OPTIONAL(TAG("", "b", OPTIONAL(CONST("x")), "\"\"")), "\"\""), "<a>",
       "\"name\": \"f\", \"arguments\": {}}], \"tags\": []"},
      {"{\"type\":\"sequence\",\"elements\":[" TAG(
           CALL, "<a>", OPTIONAL(TAG("", "b", OPTIONAL(CONST("x")), "\"\"")),
           "\"\"") "," CONST("c") "]}",
       "<a>bc",
       "\"content\": \"c\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"f\", "
       "\"arguments\": {}}], \"tags\": [{\"begin\": \"b\", \"content\": \"\"}]"},
      {"{\"type\":\"triggered_tags\",\"triggers\":[\"<a\"],\"tags\":[" TAG(
           "", "<a>", OPTIONAL(CONST("x")), "\"\"") "]}",
       "t<a><a>",
       "\"content\": \"t\", \"reasoning\": \"\", \"calls\": [], \"tags\": [{\"begin\": \"<a>\", "
       "\"content\": \"\"}, {\"begin\": \"<a>\", \"content\": \"\"}]"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *g = compile(cases[i].json);
    tsl_parser *p = NULL;
    if (!g || tsl_parser_new(g, NULL, &p) != TSL_OK) continue;
    CHECK(tsl_parser_text(p, cases[i].text, strlen(cases[i].text)) == TSL_OK &&
          tsl_parser_finish(p) == TSL_OK);
    CHECKF(strstr(tsl_parser_json(p), cases[i].expected) != NULL, "%s after %s: %s", cases[i].json,
           cases[i].text, tsl_parser_json(p));
    tsl_parser_free(p);
    tsl_grammar_release(g);
  }
}

/* ---- tags in tags, and many calls ------------------------------------------------------------ */

/* A tag's text goes on after a tag in it; each is reported where it begins. */
static void tags_in_tags(void) {
  static const struct {
    const char *text, *expected;
  } cases[] = {
      {"<a><b>x</b>y</a>z",
       "\"content\": \"z\", \"reasoning\": \"\", \"calls\": [], \"tags\": [{\"begin\": \"<a>\", "
       "\"content\": \"y\"}, {\"begin\": \"<b>\", \"content\": \"x\"}]"},
      {"<a>u<b>x</b>v<b>y</b>w</a><a>t</a>",
       "\"tags\": [{\"begin\": \"<a>\", \"content\": \"uvw\"}, {\"begin\": \"<b>\", \"content\": "
       "\"x\"}, {\"begin\": \"<b>\", \"content\": \"y\"}, {\"begin\": \"<a>\", \"content\": "
       "\"t\"}]"},
  };
  tsl_grammar *g = compile("{\"type\":\"triggered_tags\",\"triggers\":[\"<a\"],\"tags\":[" TAG(
      "", "<a>",
      "{\"type\":\"triggered_tags\",\"triggers\":[\"<b\"],\"tags\":[" TAG(
          "", "<b>", "{\"type\":\"any_text\"}", "\"</b>\"") "]}",
      "\"</a>\"") "]}");
  tsl_parser *p = NULL;
  CHECK(g && tsl_parser_new(g, NULL, &p) == TSL_OK);
  for (size_t i = 0; p && i < sizeof cases / sizeof *cases; i++, tsl_parser_reset(p)) {
    CHECK(tsl_parser_text(p, cases[i].text, strlen(cases[i].text)) == TSL_OK &&
          tsl_parser_finish(p) == TSL_OK);
    CHECKF(strstr(tsl_parser_json(p), cases[i].expected) != NULL, "%s: %s", cases[i].text,
           tsl_parser_json(p));
  }
  tsl_parser_free(p);
  tsl_grammar_release(g);
}

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* The JSON of an answer with many calls is written in no more time than the answer was read in. */
static void many_calls(void) {
  enum { CALLS = 20000 };
  tsl_grammar *g = compile("{\"type\":\"star\",\"content\":" TAG(
      CALL, "<f>",
      "{\"type\":\"json_schema\",\"json_schema\":{\"const\":{\"a\":1}},\"as\":\"arguments\"}",
      "\"\"") "}");
  tsl_parser *p = NULL;
  CHECK(g && tsl_parser_new(g, NULL, &p) == TSL_OK);
  double from = processor_seconds(), read;
  for (size_t i = 0; p && i < CALLS; i++) CHECK(tsl_parser_text(p, "<f>{\"a\":1}", 10) == TSL_OK);
  CHECK(p && tsl_parser_finish(p) == TSL_OK);
  read = processor_seconds() - from;
  CHECK(p && strstr(tsl_parser_json(p),
                    "{\"id\": \"call_19999\", \"name\": \"f\", \"arguments\": {\"a\":1}}]"));
  CHECKF(processor_seconds() - from < 2 * read + 0.5, "read in %.2f s, all in %.2f s", read,
         processor_seconds() - from);
  tsl_parser_free(p);
  tsl_grammar_release(g);
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 1;
  RUN(cut_anywhere, "every preset, at every byte: JSON");
  RUN(arguments_of_any_text, "and cut, too");
  RUN(ends_are_no_content, "texts and tokens");
  RUN(tokens_in_pieces, "spelled, in any pieces");
  RUN(empty_tags, "are there all the same");
  RUN(tags_in_tags, "the outer one's text goes on");
  RUN(many_calls, "written in the time of reading them");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
