/* test_mend_arguments.c - arguments as models write them, fitted to a tool's schema
 * (compiler/tools/mend_arguments.c), and names of tools (compiler/tools/mend_names.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/byte_vocab.h"
#include "tests/support/check.h"
#include "turnstile.h"

#define CLOSED ",\"additionalProperties\":false}"
#define OF(schema) "{\"type\":\"object\",\"properties\":{\"a\":" schema "}" CLOSED
#define PLAIN OF("{\"type\":\"integer\"}")
#define TWO "{\"properties\":{\"a\":{},\"b\":{}}" CLOSED
#define DEFINED(schema)                                                                    \
  "{\"$defs\":{\"n\":{\"type\":\"integer\"},\"s\":{\"type\":\"string\"}},\"properties\":{" \
  "\"a\":" schema "}}"

static const struct {
  const char *parameters, *given, *wanted, *repair; /* repair NULL: none */
} values[] = {
    /* a string that holds a value of another kind, and the other way round */
    {OF("{\"type\":\"integer\"}"), "{\"a\": \"3\"}", "{\"a\": 3}", "type"},
    {OF("{\"type\":\"integer\"}"), "{\"a\": \" 3 \"}", "{\"a\": 3}", "type"},
    {OF("{\"type\":\"integer\"}"), "{\"a\": \"3 days\"}", "{\"a\": \"3 days\"}", "wrong_argument"},
    {OF("{\"type\":\"boolean\"}"), "{\"a\": \"True\"}", "{\"a\": true}", "type"},
    {OF("{\"type\":\"null\"}"), "{\"a\": \"null\"}", "{\"a\": null}", "type"},
    {OF("{\"type\":\"array\"}"), "{\"a\": \"[1]\"}", "{\"a\": [1]}", "encoded"},
    {OF("{\"type\":\"object\"}"), "{\"a\": \"{}\"}", "{\"a\": {}}", "encoded"},
    {OF("{\"type\":\"string\"}"), "{\"a\": 3}", "{\"a\": \"3\"}", "type"},
    {OF("{\"type\":\"string\"}"), "{\"a\": false}", "{\"a\": \"false\"}", "type"},
    {OF("{\"type\":\"string\"}"), "{\"a\": null}", "{\"a\": null}", "wrong_argument"},
    {OF("{\"type\":\"string\"}"), "{\"a\": [3]}", "{\"a\": [3]}", "wrong_argument"},
    {OF("{}"), "{\"a\": \"3\"}", "{\"a\": \"3\"}", NULL},
    /* what a schema allows, by lists, references and combinations */
    {OF("{\"type\":[\"integer\",\"null\"]}"), "{\"a\": \"3\"}", "{\"a\": 3}", "type"},
    {OF("{\"type\":[\"integer\",\"string\"]}"), "{\"a\": \"3\"}", "{\"a\": \"3\"}", NULL},
    {OF("{\"const\":1}"), "{\"a\": \"1\"}", "{\"a\": 1}", "type"},
    {OF("{\"minimum\":1,\"enum\":[\"1\",\"2\"]}"), "{\"a\": 1}", "{\"a\": \"1\"}", "type"},
    {OF("{\"enum\":[1,true]}"), "{\"a\": \"true\"}", "{\"a\": true}", "type"},
    {OF("{\"enum\":[1,\"x\"]}"), "{\"a\": \"1\"}", "{\"a\": \"1\"}", "wrong_argument"},
    {OF("{\"type\":\"string\",\"enum\":[\"1\",2]}"), "{\"a\": 1}", "{\"a\": \"1\"}", "type"},
    {OF("{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]}"), "{\"a\": \"3\"}", "{\"a\": 3}",
     "type"},
    {OF("{\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]}"), "{\"a\": \"3\"}",
     "{\"a\": \"3\"}", NULL},
    {OF("{\"allOf\":[{\"type\":[\"integer\",\"string\"]},{\"type\":[\"integer\",\"null\"]}]}"),
     "{\"a\": \"3\"}", "{\"a\": 3}", "type"},
    {DEFINED("{\"$ref\":\"#/$defs/n\"}"), "{\"a\": \"3\"}", "{\"a\": 3}", "type"},
    {DEFINED("{\"$ref\":\"#/$defs/s\"}"), "{\"a\": 3}", "{\"a\": \"3\"}", "type"},
    {DEFINED("{\"anyOf\":[{\"$ref\":\"#/$defs/n\"},{\"type\":\"null\"}]}"), "{\"a\": \"3\"}",
     "{\"a\": 3}", "type"},
    /* names of arguments */
    {OF("{\"type\":\"integer\"}"), "{\"A\": 3}", "{\"a\": 3}", "name"},
    {OF("{\"type\":\"integer\"}"), "{\"A\": 3, \"a\": 4}", "{\"A\": 3, \"a\": 4}",
     "unknown_argument"},
    {OF("{\"type\":\"integer\"}"), "{\"b\": 3}", "{\"b\": 3}", "unknown_argument"},
    {"{\"properties\":{\"a\":{}},\"additionalProperties\":{}}", "{\"A\": 3}", "{\"A\": 3}", NULL},
    {"{\"properties\":{\"a\":{}},\"patternProperties\":{\"A\":{}}}", "{\"A\": 3}", "{\"A\": 3}",
     NULL},
    {"{\"properties\":{\"a\":{}}}", "{\"A\": 3}", "{\"A\": 3}", NULL}, /* it is allowed */
    {"{\"type\":\"object\"}", "{\"A\": 3}", "{\"A\": 3}", NULL},
    {"{\"properties\":{\"a_b\":{\"type\":\"integer\"}}" CLOSED, "{\"A-b\": 3}", "{\"a_b\": 3}",
     "name"},
    /* arguments that are no object */
    {PLAIN, "3", "{\"a\": 3}", "position"},
    {OF("{}"), "[3]", "{\"a\": [3]}", "position"},
    {PLAIN, "[{\"a\": 3}]", "{\"a\": 3}", "bracket"},
    {PLAIN, "\"{\\\"a\\\": 3}\"", "{\"a\": 3}", "encoded"},
    {PLAIN, "\"\"", "{}", "type"},
    {PLAIN, "null", "{}", "type"},
    {TWO, "[1, 2]", "{\"a\": 1, \"b\": 2}", "position"},
    {TWO, "[1]", "{\"a\": 1}", "position"},
    {TWO, "[1, 2, 3]", "{\"a\": [1, 2, 3]}", "position"},
    {TWO, "[]", "{}", "type"},
    {"{\"type\":\"object\"}", "3", "{\"input\": 3}", "position"},
};

/* The JSON of the answer to a request for the tool "get_weather" with these parameters. */
static void read_answer(const char *parameters, const char *answer, char *out, size_t n) {
  const tsl_tools_options options = {.preset = "qwen3", .lenient = true};
  char request[8192];
  tsl_grammar *g = NULL;
  tsl_parser *p = NULL;
  tsl_error e = {0};
  snprintf(request, sizeof request,
           "[{\"name\":\"get_weather\",\"parameters\":%s},{\"name\":"
           "\"x\"},{\"name\":\"X\"}]",
           parameters);
  CHECKF(tsl_grammar_tools(vocab, request, strlen(request), &options, NULL, &g, &e) == TSL_OK,
         "%s: %s", request, e.message);
  CHECK(tsl_parser_new(g, NULL, &p) == TSL_OK);
  CHECK(tsl_parser_text(p, answer, strlen(answer)) == TSL_OK && tsl_parser_finish(p) == TSL_OK);
  const char *json = tsl_parser_json(p);
  snprintf(out, n, "%s", json ? json : "");
  tsl_parser_free(p);
  tsl_grammar_release(g);
}

/* The arguments of the only call, and no repair but that one. */
static void check_call(const char *json, const char *name, const char *arguments,
                       const char *repair) {
  char call[512], note[64] = "";
  snprintf(call, sizeof call, "\"name\": \"%s\", \"arguments\": %s", name, arguments);
  if (repair) snprintf(note, sizeof note, "\"repair\": \"%s\"", repair);
  const char *first = strstr(json, "\"repair\"");
  CHECKF(strstr(json, call), "no %s: %s", call, json);
  CHECKF(repair ? first && strstr(json, note) && !strstr(first + 1, "\"repair\"") : !first,
         "%s alone: %s", repair ? repair : "nothing", json);
}

/* Of 256 schemas it is found out what they allow, the one that combines the others counted. */
static void many_are_combined(void) {
  for (unsigned n = 255; n <= 256; n++) {
    char parameters[8000], *to = parameters, json[2048];
    to += sprintf(to, "{\"properties\":{\"a\":{\"anyOf\":[");
    for (unsigned i = 0; i < n; i++) to += sprintf(to, "%s{\"type\":\"integer\"}", i ? "," : "");
    sprintf(to, "]}}" CLOSED);
    read_answer(parameters,
                "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"a\": \"3\"}}\n"
                "</tool_call>",
                json, sizeof json);
    CHECKF(!!strstr(json, "\"a\": 3}") == (n == 255), "%u schemas: %s", n, json);
  }
}

static void arguments_are_fitted(void) {
  char answer[512], json[2048];
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    snprintf(answer, sizeof answer,
             "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": %s}\n</tool_call>",
             values[i].given);
    read_answer(values[i].parameters, answer, json, sizeof json);
    check_call(json, "get_weather", values[i].wanted, values[i].repair);
  }
}

static const struct {
  const char *given, *wanted, *repair;
} names[] = {
    {"get_weather", "get_weather", NULL},
    {" get_weather ", "get_weather", "spelling"},
    {"getWeather", "get_weather", "name"},
    {"GET-WEATHER", "get_weather", "name"},
    {"get weather", "get_weather", "name"},
    {"functions.get_weather", "get_weather", "name"},
    {"tools.get_weather", "get_weather", "name"},
    {"functions.get-weather()", "get_weather", "name"},
    {"get_weather()", "get_weather", "name"},
    {"functions.other", "other", "unknown_tool"},
    {"other()", "other()", "unknown_tool"},
    {"get_weathe", "get_weathe", "unknown_tool"},
    {"get_weather2", "get_weather2", "unknown_tool"},
    {"functions.", "functions.", "unknown_tool"},
    {"x", "x", NULL},
    {"X", "X", NULL},
    {"_x", "_x", "unknown_tool"}, /* two are meant */
};

static void tools_are_found(void) {
  char answer[512], json[2048];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(answer, sizeof answer,
             "<tool_call>\n{\"name\": \"%s\", \"arguments\": {}}\n</tool_call>", names[i].given);
    read_answer(PLAIN, answer, json, sizeof json);
    check_call(json, names[i].wanted, "{}", names[i].repair);
  }
}

int main(void) {
  make_vocab();
  RUN(many_are_combined, "a schema that combines many");
  RUN(arguments_are_fitted, "to the schema of their tool");
  RUN(tools_are_found, "by names that are nearly theirs");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
