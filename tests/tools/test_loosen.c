/* test_loosen.c - parts of a tool's schema that are not supported. A tool that asks for no
 * guarantee loses these parts, and the report says which. Any other tool is refused by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/core/base.h"
#include "tests/support/tags.h"

static tsl_vocab *vocab;

typedef struct lines {
  uint32_t count;
  char text[1 << 14];
} lines;

static void take(void *ctx, const char *line) {
  lines *l = ctx;
  size_t n = strlen(l->text);
  snprintf(l->text + n, sizeof l->text - n, "%s\n", line);
  l->count++;
}

static tsl_status compile(const char *preset, const char *schema, const char *strict, lines *out,
                          tsl_grammar *over, tsl_grammar **g, tsl_error *e) {
  char request[8192];
  *out = (lines){0};
  int n = snprintf(request, sizeof request,
                   "[{\"name\":\"run\",\"parameters\":%s%s},{\"name\":\"ping\"}]", schema, strict);
  const tsl_tools_options o = {.preset = preset,
                               .tool_choice = "run",
                               .thinking = TSL_THINKING_OFF,
                               .over = over,
                               .report = take,
                               .report_ctx = out};
  *g = NULL;
  return tsl_grammar_tools(vocab, request, (size_t)n, &o, NULL, g, e);
}

#define LOOSE ",\"strict\":false"
#define CALL(args) "<tool_call>\n{\"name\": \"run\", \"arguments\": " args "}\n</tool_call>"
#define M3(args) \
  NS "<tool_call>\n" NS "<invoke name=\"run\">" args NS "</invoke>\n" NS "</tool_call>"
#define UNIQUE "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"integer\"}}"
#define BACK "\"(a+)\\\\1{2,}b\"" /* a back-reference in a loop */

static const struct {
  const char *preset, *schema;
  const char *pointer; /* of the error without "strict": false, and of the first line with it */
  uint32_t count;      /* lines */
  const char *status;
  const char *accepted, *refused;
} cases[] = {
    {"minimax-m3", "{\"type\":\"object\",\"properties\":{\"u\":" UNIQUE "},\"required\":[\"u\"]}",
     "/properties/u", 1, "no effect", M3(EL("u", EL("item", "1") EL("item", "1"))),
     M3(EL("u", EL("item", "x")))},
    {"minimax-m3",
     "{\"type\":\"object\",\"properties\":{\"l\":{\"type\":\"array\",\"items\":" UNIQUE
     "},\"u\":{\"$ref\":\"#/$defs/u\"}},\"$defs\":{\"u\":" UNIQUE "}}",
     "/properties/l/items", 2, "no effect",
     M3(EL("l", EL("item", EL("item", "1") EL("item", "1")))), M3(EL("l", EL("item", "1")))},
    {"qwen3",
     "{\"type\":\"object\",\"properties\":{\"p\":{\"type\":\"string\",\"pattern\":" BACK
     "},\"n\":{\"type\":\"integer\"}},\"required\":[\"p\"]}",
     "/properties/p/pattern", 1, "no effect", CALL("{\"p\": \"any\", \"n\": 3}"),
     CALL("{\"p\": \"any\", \"n\": \"3\"}")},
    {"qwen3", "{\"properties\":{\"p\":{\"pattern\":" BACK "}}}", "", 1, "no effect",
     CALL("{\"p\": \"x\"}"), CALL("[1]")},
    {"minimax-m3",
     "{\"type\":\"object\",\"properties\":{\"a>b\":{\"type\":\"integer\"}},\"required\":[\"a>b\"],"
     "\"additionalProperties\":false}",
     "", 1, "any object", M3(EL("k", "1")), M3("x")},
};

static void parts_are_left_out(void) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *g;
    tsl_error e = {0};
    lines l;
    char place[512], line[600];
    snprintf(place, sizeof place, "/0%s%s", *cases[i].pointer ? "/parameters" : "",
             cases[i].pointer);
    CHECKF(compile(cases[i].preset, cases[i].schema, "", &l, NULL, &g, &e) == TSL_ERR_UNSUPPORTED &&
               !l.count,
           "%zu", i);
    CHECKF(strstr(e.message, "tool \"run\"") && !strncmp(e.pointer, place, strlen(place)),
           "%s at %s", e.message, e.pointer);
    CHECKF(compile(cases[i].preset, cases[i].schema, LOOSE, &l, NULL, &g, &e) == TSL_OK, "%zu: %s",
           i, e.message);
    CHECKF(l.count == cases[i].count && strstr(l.text, "{\"tool\":\"run\",") == l.text, "%zu: %s",
           i, l.text);
    snprintf(line, sizeof line, "\"status\":\"%s\"", cases[i].status);
    CHECKF(strstr(l.text, line) && strstr(l.text, place), "%zu: %s", i, l.text);
    CHECKF(g && accepts(g, cases[i].accepted) && !accepts(g, cases[i].refused), "%zu", i);
    tsl_grammar_release(g);
  }
}

/* A schema without its parts is not kept. Who uses the tables again gets the report as well. A
 * strict tool with the same text is refused. */
static void tables_are_used_again(void) {
  tsl_grammar *g, *again;
  tsl_error e = {0};
  lines l;
  CHECK(compile("minimax-m3", cases[0].schema, LOOSE, &l, NULL, &g, &e) == TSL_OK);
  CHECK(compile("minimax-m3", cases[0].schema, LOOSE, &l, g, &again, &e) == TSL_OK);
  CHECK(l.count == 1 && again && accepts(again, cases[0].accepted));
  tsl_grammar_release(again);
  CHECK(compile("minimax-m3", cases[0].schema, "", &l, g, &again, &e) == TSL_ERR_UNSUPPORTED);
  CHECK(!again && !l.count);
  tsl_grammar_release(g);
}

/* More parts than are left out one by one. */
static void many_parts(void) {
  char schema[8192] = "{\"type\":\"object\",\"properties\":{";
  tsl_grammar *g;
  tsl_error e = {0};
  lines l;
  for (int i = 0; i < 40; i++) {
    size_t n = strlen(schema);
    snprintf(schema + n, sizeof schema - n, "%s\"u%d\":" UNIQUE, i ? "," : "", i);
  }
  size_t n = strlen(schema);
  snprintf(schema + n, sizeof schema - n, "}}");
  CHECKF(compile("minimax-m3", schema, LOOSE, &l, NULL, &g, &e) == TSL_OK, "%s", e.message);
  CHECKF(l.count == 33 && strstr(l.text, "any object"), "%u", l.count);
  CHECK(g && accepts(g, M3(EL("u1", EL("item", "x")))));
  tsl_grammar_release(g);
}

/* What is wrong stays wrong: nothing but UNSUPPORTED is left out. */
static void mistakes_stay(void) {
  tsl_grammar *g;
  tsl_error e = {0};
  lines l;
  CHECK(compile("qwen3", "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"strin\"}}}", LOOSE,
                &l, NULL, &g, &e) == TSL_ERR_SCHEMA);
  CHECK(!l.count && !g);
}

static bool is_utf8(const char *text) {
  uint32_t cp;
  for (unsigned n; *text; text += n)
    if (!(n = tsl__utf8_decode((const uint8_t *)text, strlen(text), &cp))) return false;
  return true;
}

/* Long names end within a character where they are cut. A report has them whole. */
static void long_names(void) {
  static const char last[] = "\xC3\xA9\xC3\xA9\xC3\xA9";
  for (int n = 90; n < 140; n++) {
    char name[200], request[600];
    lines l = {0};
    tsl_grammar *g;
    tsl_error e = {0};
    memset(name, 'a', (size_t)n);
    memcpy(name + n, last, sizeof last);
    for (int strict = 0; strict < 2; strict++) {
      snprintf(request, sizeof request,
               "[{\"name\":\"%s\",\"parameters\":{\"type\":\"object\",\"properties\":{\"u\":" UNIQUE
               "}},\"strict\":%s}]",
               name, strict ? "true" : "false");
      const tsl_tools_options o = {.preset = "minimax-m3", .report = take, .report_ctx = &l};
      tsl_status status = tsl_grammar_tools(vocab, request, strlen(request), &o, NULL, &g, &e);
      CHECKF(status == (strict ? TSL_ERR_UNSUPPORTED : TSL_OK), "%s", e.message);
      CHECKF(is_utf8(e.message), "%s", e.message);
      tsl_grammar_release(g);
    }
    CHECKF(is_utf8(l.text) && strstr(l.text, name), "%s", l.text);
  }
}

int main(void) {
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  RUN(parts_are_left_out, "and the report says which");
  RUN(tables_are_used_again, "and the report says so again");
  RUN(many_parts, "end as any object");
  RUN(mistakes_stay, "errors");
  RUN(long_names, "in reports and messages");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
