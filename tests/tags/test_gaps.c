/* test_gaps.c - what stands around calls and thinking because the format puts it there is no
 * content. That is tested whole, byte by byte and token by token. Also tested: strings of schemas
 * without certain texts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/check.h"
#include "tests/support/tags_json.h"

static tsl_vocab *vocab;

#define CALLS                                                                               \
  "{\"type\":\"triggered_tags\",\"excludes\":[\"<t>\"],\"triggers\":[\"<f>\"],\"tags\":[{"  \
  "\"type\":\"tag\",\"as\":"                                                                \
  "\"call\",\"name\":\"f\",\"begin\":\"<f>\",\"content\":{\"type\":\"json_schema\",\"as\":" \
  "\"arguments\",\"json_schema\":{\"type\":\"object\"}},\"end\":\"</f>\"}]}"
#define THINKING                                                                                 \
  "{\"type\":\"optional\",\"content\":{\"type\":\"tag\",\"as\":\"reasoning\",\"begin\":\"<t>\"," \
  "\"content\":{\"type\":\"any_text\",\"excludes\":[\"<t>\"]},\"end\":\"</t>\"}}"
#define TREE_OF(gaps)                                                                      \
  "{\"type\":\"structural_tag\",\"format\":{\"type\":\"sequence\",\"elements\":[" THINKING \
  "," CALLS "]},\"gaps\":" gaps "}"
#define ALL                                                                                 \
  TREE_OF("{\"thinking\":[\"\\n\\n\",\"\\n\"],\"before\":[\"\\n\\n\",\"\\n\"],\"between\":" \
          "[\"; \",\"\\n\"],\"after\":[\";\"]}")
#define F "<f>{}</f>"

static const struct {
  const char *json, *text, *content;
} cases[] = {
    {ALL, F "; " F, ""},
    {ALL, F "\n" F, ""},
    {ALL, F ";" F, ";"},
    {ALL, F "; x" F, "; x"},
    {ALL, F "x\n" F, "x"},
    {ALL, F "\n\n" F, ""},
    {ALL, F ";\n" F, ";"},
    {ALL, "\n" F, ""},
    {ALL, "a\n\n\n" F, "a\n"},
    {ALL, "a\n\n" F ";", "a"},
    {ALL, "a\n\n" F ";x", "a;x"},
    {ALL, "a" F "; ", "a; "},
    {ALL, "a\n\n", "a\n\n"},
    {ALL, "; ", "; "},
    {ALL, "\n\nx\n<f", "\n\nx\n<f"},
    {ALL, "<t>x</t>\n\ny", "y"},
    {ALL, "<t>x</t>\ny", "y"},
    {ALL, "<t>x</t>\n", ""},
    {ALL, "<t>x</t>y\n", "y\n"},
    {ALL, "<t>x</t>\n\n\ny", "\ny"},
    {ALL, "<t>x</t>\n\n\n" F "\n" F, ""},
    {ALL, "<t>x</t>" F ";", ""},
    {ALL, "<t></t>\n\n; " F, "; "},
    {TREE_OF("{}"), "\n" F "; " F "\n", "\n; \n"},
};

/* What the parts say, with that many bytes at a time; 0: token by token. */
static void read_in_steps(tsl_parser *p, const char *text, size_t step, char *content) {
  size_t length = strlen(text), n = 0;
  tsl_part part;
  tsl_token tokens[256];
  size_t count = 0;
  tsl_parser_reset(p);
  if (!step) {
    CHECK(tsl_vocab_encode(vocab, text, length, 0, tokens, 256, &count) == TSL_OK && count <= 256);
    for (size_t i = 0; i < count; i++) CHECK(tsl_parser_token(p, tokens[i]) == TSL_OK);
  }
  for (size_t at = 0; step && at < length; at += step)
    CHECK(tsl_parser_text(p, text + at, at + step < length ? step : length - at) == TSL_OK);
  CHECK(tsl_parser_finish(p) == TSL_OK);
  while (tsl_parser_next(p, &part))
    if (part.kind == TSL_PART_TEXT && n + part.length < 100)
      memcpy(content + n, part.text, part.length), n += part.length;
  content[n] = 0;
}

static void content_is_clean(void) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *g = NULL;
    tsl_parser *p = NULL;
    tsl_error error = {0};
    char content[128];
    CHECKF(tsl_grammar_tags(vocab, cases[i].json, strlen(cases[i].json), NULL, NULL, &g, &error) ==
               TSL_OK,
           "%s: %s", cases[i].json, error.message);
    if (!g || tsl_parser_new(g, NULL, &p) != TSL_OK) continue;
    for (size_t step = 0; step < 5; step++) {
      read_in_steps(p, cases[i].text, step == 4 ? 1000 : step, content);
      CHECKF(!strcmp(content, cases[i].content), "%s in steps of %zu: \"%s\", not \"%s\"",
             cases[i].text, step, content, cases[i].content);
    }
    tsl_parser_free(p);
    tsl_grammar_release(g);
  }
}

/* Every part is out as soon as it can be no gap. */
static void nothing_waits_too_long(void) {
  tsl_grammar *g = NULL;
  tsl_parser *p = NULL;
  tsl_part part;
  size_t out = 0;
  CHECK(tsl_grammar_tags(vocab, ALL, strlen(ALL), NULL, NULL, &g, NULL) == TSL_OK &&
        tsl_parser_new(g, NULL, &p) == TSL_OK);
  static const char text[] = "ab\nc\n\n\nd";
  static const size_t known[] = {1, 2, 2, 4, 4, 4, 5, 8};
  for (size_t i = 0; p && i < sizeof text - 1; i++) {
    CHECK(tsl_parser_text(p, text + i, 1) == TSL_OK);
    while (tsl_parser_next(p, &part)) out += part.length;
    CHECKF(out == known[i], "%zu bytes after byte %zu, not %zu", out, i, known[i]);
  }
  tsl_parser_free(p);
  tsl_grammar_release(g);
}

#define WITHOUT(schema) \
  "{\"type\":\"json_schema\",\"excludes\":[\"<|a|>\",\"x+\"],\"json_schema\":" schema "}"

static const struct {
  const char *json, *yes[3], *no[4];
} strings[] = {
    {WITHOUT("{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"string\"},\"m\":{}}}"),
     {"{\"n\":\"<|a|\"}", "{\"m\":[{\"k\":\"x\",\"y+\":3}]}", "{\"m\":{\"x\":[\"+\"]}}"},
     {"{\"n\":\"<|a|>\"}", "{\"m\":[{\"k\":\"x+\"}]}", "{\"m\":[{\"x+\":3}]}", "{\"yx+\":1}"}},
    {WITHOUT("{\"allOf\":[{\"type\":\"string\"}],\"maxLength\":3}"),
     {"\"xy\"", "\"\"", "\"+x\""},
     {"\"x+\"", "1", "\"abcd\"", "\"ax+\""}},
    {WITHOUT("true"),
     {"1", "\"x\"", "[\"y\"]"},
     {"[\"x+\"]", "{\"x+\":1}", "\"<|a|>\"", "[\"ax+\"]"}},
    {"{\"type\":\"json_schema\",\"style\":\"kimi_k3_xml\",\"excludes\":[\"<|open|>\"],\"json_"
     "schema\":{\"type\":\"object\",\"properties\":{\"a\\\"&\":{\"type\":\"string\"}}}}",
     {"", "<|open|>argument key=\"a&quot;&amp;\" type=\"string\"<|sep|>y<|close|>argument<|sep|>",
      "<|open|>argument key=\"b\" type=\"number\"<|sep|>1<|close|>argument<|sep|>"},
     {"<|open|>argument key=\"a\"&\" type=\"string\"<|sep|>y<|close|>argument<|sep|>",
      "<|open|>argument key=\"b\" "
      "type=\"string\"<|sep|><|open|><|close|>argument<|sep|>",
      "x", "<|open|>argument"}},
};

static void strings_without_texts(void) {
  for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    CHECKF(tsl_grammar_tags(vocab, strings[i].json, strlen(strings[i].json), NULL, NULL, &g,
                            &error) == TSL_OK,
           "%s: %s", strings[i].json, error.message);
    for (size_t k = 0; g && k < 3; k++)
      CHECKF(accepts(g, strings[i].yes[k]), "%s accepts %s", strings[i].json, strings[i].yes[k]);
    for (size_t k = 0; g && k < 4; k++)
      CHECKF(!accepts(g, strings[i].no[k]), "%s refuses %s", strings[i].json, strings[i].no[k]);
    tsl_grammar_release(g);
  }
}

static const struct {
  const char *json, *message, *pointer;
} wrong[] = {
    {WITHOUT("{\"$ref\":\"#/a\",\"a\":{}}"), "$ref", "/json_schema"},
    {WITHOUT("{\"allOf\":[{}],\"anyOf\":[{}],\"oneOf\":[{}]}"), "all three", "/json_schema"},
    {WITHOUT("false"), "an object or true", ""},
    {"{\"type\":\"json_schema\",\"excludes\":[\"\"],\"json_schema\":{}}", "not empty",
     "/excludes/0"},
    {TREE_OF("{\"befor\":[\"x\"]}"), "no member \"befor\"", "/gaps/befor"},
    {TREE_OF("{\"before\":\"x\"}"), "array of strings", "/gaps/before"},
    {TREE_OF("[]"), "\"gaps\" must be an object", "/gaps"},
};

static void mistakes_are_named(void) {
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    CHECK(tsl_grammar_tags(vocab, wrong[i].json, strlen(wrong[i].json), NULL, NULL, &g, &error) !=
          TSL_OK);
    CHECKF(strstr(error.message, wrong[i].message) && !strcmp(error.pointer, wrong[i].pointer),
           "%s: %s at %s", wrong[i].json, error.message, error.pointer);
    tsl_grammar_release(g);
  }
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 1;
  RUN(content_is_clean, "whole, in pieces, in tokens");
  RUN(nothing_waits_too_long, "and what may be a gap waits");
  RUN(strings_without_texts, "at any depth, names too");
  RUN(mistakes_are_named, "with their places");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
