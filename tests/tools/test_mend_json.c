/* test_mend_json.c - JSON as models write it. Tested: what it is read as, and which repairs are
 * noted. Parsers that mend get streams, tokens, and memory that runs out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/tools/mend_json.h"

#include <time.h>

#include "tests/support/byte_vocab.h"
#include "tests/support/check.h"
#include "tests/support/failing.h"
#include "turnstile.h"

#define BIT(repair) (1u << TSL__REPAIR_##repair)
#define LIST(...) __VA_ARGS__

static const struct {
  const char *text, *json; /* json NULL: it is nothing */
  uint32_t repairs;
} values[] = {
    {"{\"a\": [1, -2.5e3, \"x\"], \"b\": {}}", "{\"a\": [1, -2.5e3, \"x\"], \"b\": {}}", 0},
    {"[]", "[]", 0},
    {" true", "true", 0},
    {"{'a': 'b'}", "{\"a\": \"b\"}", BIT(QUOTES)},
    {"{a: 1}", "{\"a\": 1}", BIT(QUOTES)},
    {"{\"a\": some words}", "{\"a\": \"some words\"}", BIT(QUOTES)},
    {"[True, False, None]", "[true, false, null]", BIT(WORD)},
    {"{\"a\": 1,}", "{\"a\": 1}", BIT(COMMA)},
    {"[1 \"b\"]", "[1, \"b\"]", BIT(COMMA)},
    {"[1,, 2]", "[1, 2]", BIT(COMMA)},
    {"[1; 2]", "[1, 2]", BIT(COMMA)},
    {"{\"a\": \"x\"; \"b\": \"y\";}", "{\"a\": \"x\", \"b\": \"y\"}", BIT(COMMA)},
    {"{\"a\": \"x\" // z\n, \"b\": \"y\" # z\n}", "{\"a\": \"x\", \"b\": \"y\"}", BIT(COMMENT)},
    {"{\"a\": 1, ...}", "{\"a\": 1}", BIT(COMMENT) | BIT(COMMA)},
    {"{\"a\" \"x\", \"b\" {\"c\"[1]}}", "{\"a\": \"x\", \"b\": {\"c\": [1]}}", BIT(COLON)},
    {"{\"a\":: 1}", "{\"a\": 1}", BIT(COLON)},
    {"{\"a\": \"x, \"b\": 1}", "{\"a\": \"x\", \"b\": 1}", BIT(QUOTES)},
    {"{\"a\": \"x\"```", "{\"a\": \"x\"}", BIT(BRACKET)},
    {"{\"a\": \"x, \"b\"}", "{\"a\": \"x, \\\"b\"}", BIT(STRING)},
    {"{\"a\": \"x, \"b\"", "{\"a\": \"x, \\\"b\"}", LIST(BIT(STRING) | BIT(BRACKET))},
    {"{\\\"a\\\": \\\"x\\\", `b`: `y`}", "{\"a\": \"x\", \"b\": \"y\"}", BIT(QUOTES)},
    {"{{\"a\": 1}", "{\"a\": 1}", BIT(BRACKET)},
    {"{\"a\" = 1}", "{\"a\": 1}", BIT(COLON)},
    {"[+1, .5, 2., 1_000, 007]", "[1, 0.5, 2, 1000, 7]", BIT(NUMBER)},
    {"[1, 2", "[1, 2]", BIT(BRACKET)},
    {"{\"a\": {\"b\": [1}", "{\"a\": {\"b\": [1]}}", BIT(BRACKET)},
    {"{\"a\": [1, 2}}", "{\"a\": [1, 2]}", BIT(BRACKET)},
    {"(1, 2)", "[1, 2]", BIT(BRACKET)},
    {"{/* x */ \"a\": /* y */ 1 /**/}", "{\"a\": 1}", BIT(COMMENT)},
    {"[/* x /* y */ 1, 2 /*/ z */]", "[1, 2]", BIT(COMMENT)},
    {"{/* x */ \"a\": 1 // y\n}", "{\"a\": 1}", BIT(COMMENT)},
    {"[\"a\nb\", \"\\'\", \"\\q\"]", "[\"a\\nb\", \"'\", \"\\\\q\"]", BIT(STRING)},
    {"[\"say \"hi\" now\"]", "[\"say \\\"hi\\\" now\"]", BIT(STRING)},
    {"[\"\\u00e9\\ud83d\\ude00\"]", "[\"\xC3\xA9\xF0\x9F\x98\x80\"]", 0},
    {"[\"\\ud83d\"]", "[\"\xEF\xBF\xBD\"]", BIT(STRING)},
    {"{\"a\": \"b}", "{\"a\": \"b\"}", LIST(BIT(QUOTES) | BIT(BRACKET))},
    {"{\"a\": }", "{\"a\": null}", BIT(WORD)},
    {"{\"a\": 1}}", "{\"a\": 1}", 0}, /* what stands behind it is not looked at */
    {"{\"a\" 1}", "{\"a\": 1}", BIT(COLON)},
    {"{\"a\"}", NULL, 0},
    {"{:}", NULL, 0},
    {"", NULL, 0},
};

static tsl__mend_json reader(const char *text, tsl__arena *arena, const tsl_allocator *alloc) {
  return (tsl__mend_json){
      .alloc = alloc, .arena = arena, .text = text, .stop = (uint32_t)strlen(text)};
}

static void values_are_read(void) {
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    tsl__arena arena;
    tsl__arena_init(&arena, &tsl__malloc);
    size_t length = strlen(values[i].text);
    char *text = malloc(length + !length); /* nothing stands behind it: for ASan */
    if (!text) return;
    memcpy(text, values[i].text, length);
    tsl__mend_json l = {
        .alloc = &tsl__malloc, .arena = &arena, .text = text, .stop = (uint32_t)length};
    tsl__out out = {.alloc = &tsl__malloc};
    const tsl__json *v = tsl__mend_json_value(&l);
    if (v) tsl__out_json(&out, v);
    tsl__out_put(&out, "", 1);
    const char *wanted = values[i].json ? values[i].json : "";
    CHECKF(!strcmp(out.text.at, wanted), "%s: %s", values[i].text, out.text.at);
    CHECKF(!v || l.found == values[i].repairs, "%s: repairs %x", values[i].text, l.found);
    free(text);
    tsl__vec_free(&tsl__malloc, &out.text);
    tsl__arena_free(&arena);
  }
}

/* What stands behind the end that it is given is not looked at. */
static void ends_at_the_stop(void) {
  static const char text[] = "{\"a\": \"x, \"b\": 1}";
  tsl__arena arena;
  tsl__arena_init(&arena, &tsl__malloc);
  tsl__mend_json l = reader(text, &arena, &tsl__malloc);
  l.stop = (uint32_t)(strrchr(text, ':') - text);
  tsl__out out = {.alloc = &tsl__malloc};
  const tsl__json *v = tsl__mend_json_value(&l);
  if (v) tsl__out_json(&out, v);
  tsl__out_put(&out, "", 1);
  CHECKF(!strcmp(out.text.at, "{\"a\": \"x, \\\"b\"}"), "%s", out.text.at);
  tsl__vec_free(&tsl__malloc, &out.text);
  tsl__arena_free(&arena);
}

/* No input makes it recurse, and 256 levels are the most. */
static void deep_values_are_not(void) {
  char text[1200];
  for (uint32_t depth = 250; depth <= 1100; depth += 850) {
    tsl__arena arena;
    tsl__arena_init(&arena, &tsl__malloc);
    memset(text, '[', depth);
    text[depth] = 0;
    tsl__mend_json l = reader(text, &arena, &tsl__malloc);
    CHECK((tsl__mend_json_value(&l) != NULL) == (depth == 250) && l.status == TSL_OK);
    tsl__arena_free(&arena);
  }
}

/* ---- parsers --------------------------------------------------------------------------------- */

static const char request[] =
    "{\"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": "
    "{\"type\": \"object\", \"properties\": {\"n\": {\"type\": \"integer\"}, \"s\": {\"type\": "
    "\"string\"}}, \"additionalProperties\": false}}}]}";

static tsl_grammar *grammar(const char *preset) {
  const tsl_tools_options options = {.preset = preset, .lenient = true};
  tsl_grammar *g = NULL;
  CHECK(tsl_grammar_tools(vocab, request, strlen(request), &options, NULL, &g, NULL) == TSL_OK);
  return g;
}

static const struct {
  const char *preset, *text, *streamed; /* streamed: all parts, in pieces */
} answers[] = {
    {"qwen3", "Hi <tool_call>{'name': 'f', 'arguments': {'n': 3,}}", "T(Hi )C(f)A({\"n\": 3})E"},
    {"qwen3", "<think>x<tool_call>{\"name\": \"f\", \"arguments\": {\"n\": 3",
     "R(x<tool_call>{\"name\": \"f\", \"arguments\": {\"n\": 3)C(f)A({\"n\": 3})E"},
    {"qwen3-coder", "<function=f><parameter=n>3<parameter=s>x", "C(f)A({\"n\": 3, \"s\": \"x\"})E"},
    {"kimi-k2",
     "<|tool_calls_section_begin|><|tool_call_begin|>f:0<|tool_call_argument_begin|>{\"n\": 3}",
     "C(f)I(f:0)A({\"n\": 3})E"},
    {"qwen3",
     "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"n\": 1}}\n</tool_call>\n"
     "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"n\": 2}\n</tool_call>",
     "C(f)A({\"n\": 1})EC(f)A({\"n\": 2})E"},
    {"qwen3-coder", "<function=f><parameter=s></parameter>", "C(f)A({\"s\": \"\"})E"},
    {"qwen3-coder", "<function=f><parameter=n>3 days</parameter></function>",
     "C(f)A({\"n\": \"3 days\"})E"},
    {"qwen3-coder", "<function=f><parameter=n>3;</parameter></function>",
     "C(f)A({\"n\": \"3;\"})E"},
    {"qwen3-coder", "<function=f><parameter name=\"s\">x", "C(f)A({\"s\": \"x\"})E"},
    {"qwen3-coder", "<function=f><parameter name=", "T(<parameter name=)C(f)A({})E"},
    {"qwen3-coder", "<function=f><parameter=s></parameter>", "C(f)A({\"s\": \"\"})E"},
    {"qwen3", "<tool_call>f\n<n>3</n><s>x</s></tool_call>", "C(f)A({\"n\": 3, \"s\": \"x\"})E"},
    {"kimi-k2",
     "<|tool_calls_section_begin|><|tool_call_begin|>functions.f 0<|tool_call_argument_begin|>"
     "{\"n\": 3}",
     "C(f)I(functions.f:0)A({\"n\": 3})E"},
    {"qwen3", "only text </think>", "T(only text )R(only text )"},
};

static void note_parts(tsl_parser *p, char *out, tsl_part_kind *last) {
  static const char letters[] = "TRCIAE";
  tsl_part part;
  while (tsl_parser_next(p, &part)) {
    size_t n = strlen(out);
    if (part.kind == *last && part.kind <= TSL_PART_REASONING)
      n--; /* goes on */
    else
      n += (size_t)sprintf(out + n, "%c%s", letters[part.kind],
                           part.kind == TSL_PART_CALL_END ? "" : "(");
    if (part.kind != TSL_PART_CALL_END) sprintf(out + n, "%.*s)", (int)part.length, part.text);
    *last = part.kind;
  }
}

/* As a whole, byte by byte, and token by token: the same parts, and the same JSON. */
static void streams_are_one(void) {
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
    tsl_grammar *g = grammar(answers[i].preset);
    const char *text = answers[i].text;
    size_t n = strlen(text);
    char whole[4096] = "";
    for (int way = 0; way < 3 && g; way++) {
      tsl_parser *p = NULL;
      char parts[4096] = "";
      tsl_part_kind last = TSL_PART_TAG;
      CHECK(tsl_parser_new(g, NULL, &p) == TSL_OK);
      if (way == 0) CHECK(tsl_parser_text(p, text, n) == TSL_OK);
      for (size_t k = 0; way && k < n; k++) {
        CHECK((way == 1 ? tsl_parser_text(p, text + k, 1)
                        : tsl_parser_token(p, (uint8_t)text[k])) == TSL_OK);
        note_parts(p, parts, &last);
        CHECK(tsl_parser_json(p) != NULL);
      }
      CHECK(tsl_parser_finish(p) == TSL_OK && tsl_parser_text(p, "x", 1) == TSL_ERR_STATE);
      note_parts(p, parts, &last);
      CHECKF(!strcmp(parts, answers[i].streamed) || way == 0, "%s: %s", text, parts);
      const char *json = tsl_parser_json(p);
      if (!way) snprintf(whole, sizeof whole, "%s", json);
      CHECKF(!strcmp(whole, json) && strstr(json, "\"repairs\""), "%s: %s", text, json);
      tsl_parser_free(p);
    }
    tsl_grammar_release(g);
  }
}

/* Texts that begin what never comes, a thousand times over: linear work. */
static void long_texts_are_read(void) {
  static const char *const pieces[] = {"<think>",
                                       "<tool_call>",
                                       "{\"name\": \"",
                                       "[{\"name\": 1, ",
                                       "<tool_call>{\"name\": \"f\", \"arguments\": {",
                                       "```json\n{",
                                       "f(",
                                       "</think>",
                                       "<function=f><parameter=n>",
                                       "{\"name\": \"f\", \"arguments\": {\"a\": 1}}, "};
  tsl_grammar *g = grammar("qwen3");
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    tsl_parser *p = NULL;
    CHECK(tsl_parser_new(g, NULL, &p) == TSL_OK);
    for (int k = 0; k < 4000; k++)
      CHECK(tsl_parser_text(p, pieces[i], strlen(pieces[i])) == TSL_OK);
    CHECK(tsl_parser_finish(p) == TSL_OK && tsl_parser_json(p) != NULL);
    tsl_parser_free(p);
  }
  tsl_grammar_release(g);
}

/* Processor time to read so many pieces, in milliseconds: the least of three. */
static double time_of(tsl_grammar *g, const char *piece, int n) {
  double least = 1e9;
  for (int i = 0; i < 3; i++) {
    tsl_parser *p = NULL;
    clock_t from = clock();
    CHECK(tsl_parser_new(g, NULL, &p) == TSL_OK);
    for (int k = 0; k < n; k++) CHECK(tsl_parser_text(p, piece, strlen(piece)) == TSL_OK);
    CHECK(tsl_parser_finish(p) == TSL_OK);
    tsl_parser_free(p);
    double spent = (double)(clock() - from) * 1e3 / CLOCKS_PER_SEC;
    if (spent < least) least = spent;
  }
  return least;
}

/* Eight times the text takes some eight times as long, not 64 times. */
static void open_comments_are_linear(void) {
  static const char piece[] = "{\"name\": \"f\", \"arguments\": {/*";
  tsl_grammar *g = grammar("qwen3");
  double less = time_of(g, piece, 500), more = time_of(g, piece, 4000);
  CHECKF(more < 20 * less + 5, "%.1f ms and %.1f ms", less, more);
  tsl_grammar_release(g);
}

/* The nth allocation fails: an error, and nothing is lost or held. */
static void faults_of(const char *preset, const char *text) {
  tsl_grammar *g = grammar(preset);
  long n = 0;
  for (bool done = false; !done && n < 10000; n++) {
    failing f = {n, 0};
    tsl_allocator alloc = failing_allocator(&f);
    tsl_parser *p = NULL;
    tsl_status status = tsl_parser_new(g, &alloc, &p);
    if (status == TSL_OK) status = tsl_parser_text(p, text, strlen(text));
    if (status == TSL_OK) status = tsl_parser_finish(p);
    done = status == TSL_OK && tsl_parser_json(p) && f.left >= 0;
    CHECK(done || status == TSL_ERR_NO_MEMORY || status == TSL_OK);
    tsl_parser_free(p);
    CHECK(f.held == 0);
  }
  CHECK(n > 20 && n < 10000);
  tsl_grammar_release(g);
}

static void faults_are_survived(void) {
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
    faults_of(answers[i].preset, answers[i].text);
}

int main(void) {
  make_vocab();
  RUN(values_are_read, "and what was mended is noted");
  RUN(ends_at_the_stop, "behind the end that is given nothing is read");
  RUN(deep_values_are_not, "past 256 levels");
  RUN(streams_are_one, "whole, byte by byte, token by token");
  RUN(long_texts_are_read, "in linear time");
  RUN(open_comments_are_linear, "comments that never end");
  RUN(faults_are_survived, "each allocation once");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
