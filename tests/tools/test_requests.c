/* test_requests.c - requests. Tested: what is refused, and where; what answers are read as, on the
 * edge and with thinking. Also many tools, tables that sets of tools share, and presets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/grammar.h"
#include "tests/support/tags.h"

static tsl_vocab *vocab;

#define TOOL(name, schema) \
  "{\"type\":\"function\",\"function\":{\"name\":\"" name "\",\"parameters\":" schema "}}"

static const struct {
  const char *request, *choice;
  tsl_status status;
  const char *message, *pointer;
} refusals[] = {
    {"{\"tools\":[]}", "required", TSL_ERR_ARGUMENT, "there are no tools", ""},
    {"{\"tools\":[" TOOL("f", S) "]}", "g", TSL_ERR_ARGUMENT, "no tool \"g\"", ""},
    {"{\"tools\":[" TOOL("f", S) "," TOOL("g", S) "," TOOL("f", S) "]}", NULL, TSL_ERR_SCHEMA,
     "same name", "/tools/2"},
    {"{\"tools\":[" TOOL("", S) "]}", NULL, TSL_ERR_SCHEMA, "not empty", "/tools/0"},
    {"{\"tools\":[" TOOL("a\\\"b", S) "]}", NULL, TSL_ERR_SCHEMA, "quotes",
     "/tools/0/function/name"},
    {"{\"tools\":[" TOOL("a\\nb", S) "]}", NULL, TSL_ERR_SCHEMA, "spaces",
     "/tools/0/function/name"},
    {"{\"tools\":[" TOOL("f", S) "," TOOL(
         "g", "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"strin\"}}}") "]}",
     NULL, TSL_ERR_SCHEMA, "", "/tools/1/function/parameters/properties/x/type"},
    {"{\"tools\":[" TOOL("f", "{\"$ref\":\"#/nowhere\"}") "]}", NULL, TSL_ERR_SCHEMA, "",
     "/tools/0/function/parameters/$ref"},
    {"{\"tools\":[" TOOL(
         "f", "{\"type\":\"object\",\"properties\":{\"x\":false},\"required\":[\"x\"]}") "]}",
     NULL, TSL_ERR_EMPTY, "", "/tools/0/function/parameters/properties"},
    {"{\"tools\":[{\"type\":\"web_search\"}]}", NULL, TSL_ERR_UNSUPPORTED, "function tools",
     "/tools/0/type"},
    {"{\"tools\":[{\"type\":\"custom\",\"name\":\"l\",\"format\":{\"type\":\"grammar\",\"syntax\":"
     "\"lark\",\"definition\":\"start: b\"}}]}",
     NULL, TSL_ERR_SYNTAX, "line 1, column 8", "/tools/0/format/definition"},
    {"{\"tools\":[{\"type\":\"custom\",\"name\":\"l\",\"format\":{\"type\":\"grammar\",\"syntax\":"
     "\"gbnf\",\"definition\":\"start: \\\"a\\\"\"}}]}",
     NULL, TSL_ERR_UNSUPPORTED, "lark", "/tools/0/format/syntax"},
    {"{\"tools\":[{\"type\":\"custom\",\"name\":\"r\",\"format\":{\"type\":\"grammar\",\"syntax\":"
     "\"regex\",\"definition\":\"(\"}}]}",
     NULL, TSL_ERR_SYNTAX, "at byte 0: the group has no closing parenthesis",
     "/tools/0/format/definition"},
    {"{\"tools\":[{\"type\":\"custom\",\"name\":\"r\",\"format\":{\"type\":\"grammar\",\"syntax\":"
     "\"regex\",\"definition\":\"a)|(?:b\"}}]}",
     NULL, TSL_ERR_SYNTAX, "at byte 1: unmatched closing parenthesis",
     "/tools/0/format/definition"},
    {"{\"tools\":[" TOOL(
         "f", S) "],\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"g\"}}}",
     NULL, TSL_ERR_ARGUMENT, "no tool", "/tool_choice"},
    {"{\"tools\":[" TOOL("f", S) "],\"tool_choice\":\"always\"}", NULL, TSL_ERR_SCHEMA, "is auto",
     "/tool_choice"},
    {"{\"type\":\"object\",\"properties\":{}}", NULL, TSL_ERR_SCHEMA, "this is no request", ""},
    {"{\"tools\":[" TOOL("f", S) "],\"parallel_tool_calls\":\"no\"}", NULL, TSL_ERR_SCHEMA,
     "parallel_tool_calls", "/parallel_tool_calls"},
    {"{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"x\"}}}", NULL,
     TSL_ERR_SCHEMA, "no \"schema\"", "/response_format"},
    {"{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"x\",\"schema\":{"
     "\"type\":7}}}}",
     NULL, TSL_ERR_SCHEMA, "", "/response_format/json_schema/schema/type"},
    {"{\"response_format\":{\"type\":\"yaml\"}}", NULL, TSL_ERR_UNSUPPORTED, "response format",
     "/response_format"},
    {"{\"response_format\":{\"type\":\"json_object\",\"schema\":{\"type\":7}}}", NULL,
     TSL_ERR_SCHEMA, "", "/response_format/schema/type"},
    {"{\"response_format\":{\"type\":\"json_object\",\"schema\":3}}", NULL, TSL_ERR_SCHEMA, "",
     "/response_format/schema"},
    {"{\"functions\":[{\"name\":\"f\",\"parameters\":" S "}],\"function_call\":{\"name\":\"g\"}}",
     NULL, TSL_ERR_ARGUMENT, "no tool \"g\"", "/function_call"},
    {"{\"functions\":[{\"name\":\"f\",\"parameters\":{\"type\":3}}]}", NULL, TSL_ERR_SCHEMA, "",
     "/functions/0/parameters/type"},
    {"{\"functions\":[{\"name\":\"f\"}],\"function_call\":\"required\"}", NULL, TSL_ERR_SCHEMA,
     "is auto, none or", "/function_call"},
    {"{\"functions\":{\"name\":\"f\"}}", NULL, TSL_ERR_SCHEMA, "\"functions\" must be an array",
     "/functions"},
    {"{\"functions\":[{\"name\":\"f\"}],\"tools\":[" TOOL("f", S) "]}", NULL, TSL_ERR_SCHEMA,
     "one of them", "/functions"},
    {"{\"model\":\"m\",\"guided_json\":{}}", NULL, TSL_ERR_UNSUPPORTED,
     "\"guided_json\" is another server's: here it is \"response_format\": {\"type\": "
     "\"json_schema\", \"json_schema\": {\"schema\": ...}}",
     "/guided_json"},
    {"{\"model\":\"m\",\"guided_regex\":\"a\"}", NULL, TSL_ERR_UNSUPPORTED,
     "here it is \"response_format\": {\"type\": \"structural_tag\", \"format\": ...}",
     "/guided_regex"},
    {"{\"model\":\"m\",\"guided_choice\":[\"a\"]}", NULL, TSL_ERR_UNSUPPORTED, "structural_tag",
     "/guided_choice"},
    {"{\"model\":\"m\",\"guided_grammar\":\"root ::= \\\"a\\\"\"}", NULL, TSL_ERR_UNSUPPORTED,
     "structural_tag", "/guided_grammar"},
    {"{\"model\":\"m\",\"structured_outputs\":{\"json\":{}}}", NULL, TSL_ERR_UNSUPPORTED,
     "another server's", "/structured_outputs"},
    {"{\"model\":\"m\",\"format\":\"json\"}", NULL, TSL_ERR_UNSUPPORTED, "another server's",
     "/format"},
    {"{\"model\":\"m\",\"json_schema\":{}}", NULL, TSL_ERR_UNSUPPORTED, "another server's",
     "/json_schema"},
    {"{\"model\":\"m\",\"grammar\":\"a\"}", NULL, TSL_ERR_UNSUPPORTED, "another server's",
     "/grammar"},
    {"{\"model\":\"m\",\"regex\":\"a\"}", NULL, TSL_ERR_UNSUPPORTED, "another server's", "/regex"},
    {"{\"model\":\"m\",\"ebnf\":\"a\"}", NULL, TSL_ERR_UNSUPPORTED, "another server's", "/ebnf"},
    {"{\"tools\":[{\"name\":\"f\",\"parametres\":" S "}]}", NULL, TSL_ERR_SCHEMA,
     "\"parametres\" meant for it", "/tools/0/parametres"},
    {"[{\"name\":\"f\",\"schema\":{\"$ref\":\"#\"}}]", NULL, TSL_ERR_SCHEMA,
     "\"schema\" meant for it", "/0/schema"},
    {"{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"},\"parameters\":" S "}]}",
     NULL, TSL_ERR_SCHEMA, "beside its name", "/tools/0/parameters"},
    {"{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":-1}}", NULL, TSL_ERR_SCHEMA,
     "budget_tokens", "/thinking/budget_tokens"},
    {"{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":0}}", NULL, TSL_ERR_SCHEMA,
     "at least 1", "/thinking/budget_tokens"},
    {"{\"tools\":[" TOOL(
         "f", S) "],\"tool_choice\":{\"type\":\"any\",\"disable_parallel_tool_use\":\"true\"}}",
     NULL, TSL_ERR_SCHEMA, "is true or false", "/tool_choice/disable_parallel_tool_use"},
    {"{\"response_format\":{\"type\":\"json_object\"},\"text\":{\"format\":{\"type\":\"json_"
     "object\"}}}",
     NULL, TSL_ERR_SCHEMA, "one format", "/text/format"},
    {"{\"output_format\":{\"type\":\"json_object\"},\"output_config\":{\"format\":{\"type\":\"json_"
     "object\"}}}",
     NULL, TSL_ERR_SCHEMA, "one format", "/output_config/format"},
    {"{\"tools\":[{\"name\":\"f\",\"parameter_definitions\":{\"a\":{\"type\":\"str\",\"required\":"
     "true}}}]}",
     NULL, TSL_ERR_SCHEMA, "\"parameter_definitions\" meant for it",
     "/tools/0/parameter_definitions"},
    {"[{\"name\":\"f\",\"inputs\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"integer\"}}}]",
     NULL, TSL_ERR_SCHEMA, "\"inputs\" meant for it", "/0/inputs"},
    {"[{\"name\":\"f\",\"parameters\":" S ",\"input_schema\":{\"type\":\"object\"}}]", NULL,
     TSL_ERR_SCHEMA, "\"input_schema\" is not the same as \"parameters\"", "/0/input_schema"},
    {"[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":" S
     "},\"parameters\":{}}]",
     NULL, TSL_ERR_SCHEMA, "has one schema", "/0/parameters"},
    {"[{\"name\":\"f\",\"parameters\":" S ",\"schema\":{\"type\":\"object\"}}]", NULL,
     TSL_ERR_SCHEMA, "has one schema", "/0/schema"},
    {"{\"response_format\":{\"type\":\"json_schema\",\"schema\":{},\"json_schema\":{\"schema\":" S
     "}}}",
     NULL, TSL_ERR_SCHEMA, "would not hold", "/response_format/json_schema/schema"},
    {"{\"response_format\":{\"type\":\"json_object\",\"response_schema\":" S "}}", NULL,
     TSL_ERR_SCHEMA, "would not hold", "/response_format/response_schema"},
    {"{\"response_format\":{\"type\":\"text\",\"schema\":" S "}}", NULL, TSL_ERR_SCHEMA,
     "would not hold", "/response_format/schema"},
    {"{\"model\":\"m\",\"structural_tag\":{}}", NULL, TSL_ERR_UNSUPPORTED, "another server's",
     "/structural_tag"},
    {"{\"model\":\"m\",\"guided_whitespace_pattern\":\" ?\"}", NULL, TSL_ERR_UNSUPPORTED,
     "not a pattern", "/guided_whitespace_pattern"},
    {"3", NULL, TSL_ERR_SCHEMA, "a request is an object", ""},
};

static void requests_are_refused(void) {
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    tsl_tools_options o = {.preset = "qwen3", .tool_choice = refusals[i].choice};
    tsl_grammar *g = NULL;
    tsl_error e = {0};
    tsl_status status = tsl_grammar_tools(vocab, refusals[i].request, strlen(refusals[i].request),
                                          &o, NULL, &g, &e);
    CHECKF(status == refusals[i].status && e.status == status && !g, "%s: %s %s",
           refusals[i].request, tsl_status_name(status), e.message);
    CHECKF(strstr(e.message, refusals[i].message) != NULL, "%s: %s", refusals[i].request,
           e.message);
    CHECKF(!strcmp(e.pointer, refusals[i].pointer), "%s: pointer %s", refusals[i].request,
           e.pointer);
    tsl_grammar_release(g);
  }
}

/* Answers that are on the edge: what they are read as; NULL: not allowed. */
static const struct {
  const char *preset, *request, *answer, *expected;
} answers[] = {
    {"qwen3", "{\"tools\":[]}", "any <tool_call> text", "\"content\": \"any <tool_call> text\""},
    {"qwen3", "[" TOOL("f", S) "]",
     "<tool_call>\n{\"name\": \"f\", \"arguments\": "
     "{\"a\":1,\"s\":\"</tool_call><tool_call>\"}}\n</tool_call>",
     "\"arguments\": {\"a\":1,\"s\":\"</tool_call><tool_call>\"}}]"},
    {"qwen3", "[" TOOL("f", S) "]", "a <tool_call", "\"content\": \"a <tool_call\""},
    {"qwen3", "[" TOOL("f", S) "]", "a <tool_call>", NULL},
    {"qwen3", "[" TOOL("f", S) "," TOOL("ff", S) "]",
     "<tool_call>\n{\"name\": \"ff\", \"arguments\": {\"a\":1}}\n</tool_call>", "\"name\": \"ff\""},
    {"qwen3", "[" TOOL("w\303\244r", S) "]",
     "<tool_call>\n{\"name\": \"w\303\244r\", \"arguments\": {\"a\":1}}\n</tool_call>",
     "\"name\": \"w\303\244r\""},
    {"qwen3",
     "{\"output_format\":null,\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":{"
     "\"const\":1}}}}",
     "text", NULL},
    {"qwen3",
     "{\"response_format\":null,\"text\":{\"format\":{\"type\":\"json_schema\",\"schema\":{"
     "\"const\":1}}}}",
     "text", NULL},
    {"qwen3",
     "{\"response_format\":{\"type\":\"text\"},\"text\":{\"format\":{\"type\":\"json_schema\","
     "\"schema\":{\"const\":1}}}}",
     "text", NULL},
    {"qwen3",
     "{\"response_format\":{\"type\":\"text\"},\"output_config\":\"x\",\"text\":\"prompt\"}",
     "text", "\"content\": \"text\""},
    {"qwen3", "[{\"name\":\"f\",\"inputs\":{}}]", "hi", "\"content\": \"hi\""},
    {"qwen3",
     "{\"response_format\":null,\"text\":null,\"output_format\":null,\"output_config\":null}",
     "text", "\"content\": \"text\""},
    {"qwen3", "[{\"name\":\"f\",\"parameters\":null,\"input_schema\":" S "}]",
     "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>", NULL},
    {"qwen3",
     "[{\"function\":{\"name\":\"f\",\"parameters\":" S ",\"inputSchema\":" S "},\"parameters\":" S
     "}]",
     "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\":1}}\n</tool_call>", "\"name\": \"f\""},
    {"qwen3", "[" TOOL("f", "{}") "]",
     "<tool_call>\n{\"name\": \"f\", \"arguments\": 1}\n</tool_call>", NULL},
    {"qwen3", "[" TOOL("f", "{}") "]",
     "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\":[]}}\n</tool_call>",
     "\"arguments\": {\"a\":[]}"},
    {"qwen3", "[" TOOL("f", "true") "]",
     "<tool_call>\n{\"name\": \"f\", \"arguments\": null}\n</tool_call>", NULL},
    {"qwen3", "[" TOOL("f", "{\"type\":[\"object\",\"null\"]}") "]",
     "<tool_call>\n{\"name\": \"f\", \"arguments\": null}\n</tool_call>", NULL},
    {"qwen3", "[" TOOL("f", "{\"properties\":{\"a\":{\"type\":\"null\"}}}") "," TOOL("g", "{}") "]",
     "<tool_call>\n{\"name\": \"f\", \"arguments\": []}\n</tool_call>", NULL},
    /* the same text, and no arguments */
    {"qwen3",
     "{\"tools\":[" TOOL("f",
                         "{}") "],\"response_format\":{\"type\":\"json_schema\",\"schema\":{}}}",
     "1", "\"content\": \"1\""},
#define OBJECT(schema) "{\"response_format\":{\"type\":\"json_object\"," schema "}}"
    {"qwen3", OBJECT("\"schema\":" S), "{}", NULL},
    {"qwen3", OBJECT("\"schema\":" S), "{\"a\":1}", "\"content\": \"{\\\"a\\\":1}\""},
    {"qwen3", OBJECT("\"schema\":{}"), "[]", NULL},
    {"qwen3", OBJECT("\"schema\":{}"), "{}", "\"content\": \"{}\""},
    {"qwen3", OBJECT("\"schema\":null"), "{\"b\":1}", "\"content\""},
    {"qwen3", OBJECT("\"schema\":{\"type\":\"array\"}"), "[]", "\"content\": \"[]\""},
    {"qwen3", OBJECT("\"json_schema\":" S), "{}", NULL},
    {"qwen3", OBJECT("\"json_schema\":{\"name\":\"x\",\"schema\":" S "}"), "{}", NULL},
    {"qwen3", "{\"text\":{\"format\":{\"type\":\"json_object\",\"schema\":" S "}}}", "{}", NULL},
#undef OBJECT
#define FUNCTIONS(more) \
  "{\"functions\":[{\"name\":\"f\",\"parameters\":" S "},{\"name\":\"g\"}]" more "}"
#define CALLED(name) "<tool_call>\n{\"name\": \"" name "\", \"arguments\": {\"a\":1}}\n</tool_call>"
    {"qwen3", FUNCTIONS(""), "hi " CALLED("f"), "\"arguments\": {\"a\":1}"},
    {"qwen3", FUNCTIONS(""), "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>",
     NULL},
    /* an answer had one function_call */
    {"qwen3", FUNCTIONS(""), CALLED("f") "\n" CALLED("g"), NULL},
    {"qwen3", FUNCTIONS(",\"function_call\":{\"name\":\"f\"}"), CALLED("f"), "\"name\": \"f\""},
    {"qwen3", FUNCTIONS(",\"function_call\":{\"name\":\"f\"}"), CALLED("g"), NULL},
    {"qwen3", FUNCTIONS(",\"function_call\":{\"name\":\"f\"}"), "hi", NULL},
    {"qwen3", FUNCTIONS(",\"tool_choice\":null,\"function_call\":\"none\""), CALLED("f"),
     "\"calls\": []"},
    {"qwen3", FUNCTIONS(",\"function_call\":\"auto\""), "hi", "\"content\": \"hi\""},
#undef CALLED
#undef FUNCTIONS
    {"qwen3", "{\"functions\":null,\"format\":\"\",\"grammar\":null,\"temperature\":0.5}", "hi",
     "\"content\": \"hi\""},
    {"qwen3",
     "[{\"name\":\"f\",\"outputSchema\":{\"type\":\"object\"},\"annotations\":{\"title\":\"F\"}}]",
     "hi", "\"content\": \"hi\""},
    {"qwen3", "{\"thinking\":{\"type\":\"disabled\"}}", "<think>a</think>\n\nb", NULL},
    {"glm4", "[" TOOL("f", S) "]",
     "\n<think>hm</think>\n<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</"
     "tool_call>",
     "\"reasoning\": \"hm\", \"calls\": [{\"id\": \"call_0\", \"name\": \"f\", \"arguments\": "
     "{\"a\": 1}}]"},
    {"command", "[" TOOL("f", S) "]",
     "<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>hello<|END_RESPONSE|>",
     "\"content\": \"hello\", \"reasoning\": \"hm\""},
    {"command", "[" TOOL("f", S) "]", "hello", "\"content\": \"hello\""},
    {"mistral-v11", "[" TOOL("f", S) "]", "x[TOOL_CALLS]f[CALL_ID]abcDEF123[ARGS]{\"a\": 1}",
     "\"id\": \"abcDEF123\", \"name\": \"f\", \"arguments\": {\"a\": 1}"},
    {"mistral-v11", "[" TOOL("f", S) "]",
     "[TOOL_CALLS]f[ARGS]{\"a\": 1}[TOOL_CALLS]f[ARGS]{\"a\": 2}",
     "\"id\": \"call_1\", \"name\": \"f\", \"arguments\": {\"a\": 2}"},
    {"llama4-pythonic", "[" TOOL("f", S) "]",
     "x<|python_start|>[f(a=1), f(a=2, s=\")]\")]<|python_end|>",
     "\"arguments\": {\"a\": 2, \"s\": \")]\"}"},
    {"phi4-functools", "[" TOOL("f", S) "]",
     "functools[{\"name\": \"f\", \"arguments\": {\"a\": 1}}]", "\"arguments\": {\"a\": 1}"},
    {"minimax-m3", "[" TOOL("f", S) "]",
     "<mm:think>hm</mm:think>Well.\n" NS "<tool_call>\n" NS "<invoke name=\"f\">" EL("a", "1") NS
     "</invoke>\n" NS "<invoke name=\"f\">" EL("a", "2") NS "</invoke>\n" NS "</tool_call>",
     "\"content\": \"Well.\\n\", \"reasoning\": \"hm\", \"calls\": [{\"id\": \"call_0\", \"name\": "
     "\"f\", \"arguments\": {\"a\": 1}}, {\"id\": \"call_1\", \"name\": \"f\", \"arguments\": "
     "{\"a\": 2}}]"},
    {"minimax-m3", "[" TOOL("f", S) "]",
     "</mm:think>" NS "<tool_call>\n" NS "<invoke name=\"f\">" EL("a", "1") NS "</invoke>\n" NS
                                                                               "</tool_call>",
     "\"content\": \"\", \"reasoning\": \"\", \"calls\": [{"},
    {"minimax-m3", "[" TOOL("f", S) "]", "Well.</mm:think>", NULL},
    {"minimax-m3", "[" TOOL("f", S) "]",
     NS "<tool_call>\n" NS "<invoke name=\"f\"><a>1</a>" NS "</invoke>\n" NS "</tool_call>", NULL},
    {"mistral", "[" TOOL("f", S) "]", "x[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"a\": 1}}]",
     "\"content\": \"x\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"f\", "
     "\"arguments\": {\"a\": 1}}]"},
    {"mistral", "[" TOOL("f", S) "]",
     "x[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {\"a\": 1}}]",
     "\"content\": \"x\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", \"name\": \"f\", "
     "\"arguments\": {\"a\": 1}}]"},
    {"mistral", "[" TOOL("f", S) "]", "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {}}]", NULL},
    {"mistral", "[" TOOL("f", S) "]",
     "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"a\": 1}, \"id\": \"abcDEF123\"}, {\"name\": "
     "\"f\", \"arguments\": {\"a\": 2}}]",
     "\"calls\": [{\"id\": \"abcDEF123\", \"name\": \"f\", \"arguments\": {\"a\": 1}}, {\"id\": "
     "\"call_1\", \"name\": \"f\", \"arguments\": {\"a\": 2}}]"},
    {"mistral", "[" TOOL("f", S) "]",
     "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"a\": 1}, \"id\": \"abc\"}]", NULL},
    {"kimi-k2", "[" TOOL("f", S) "]",
     "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"
     "\"a\": 1}<|tool_call_end|><|tool_calls_section_end|>",
     "\"id\": \"functions.f:0\""},
    {"gpt-oss", "[" TOOL("f", S) "]",
     "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary "
     "to=functions.f <|constrain|>json<|message|>{\"a\": 1}<|call|>",
     "\"reasoning\": \"hm\", \"calls\": [{\"id\": \"call_0\", \"name\": \"f\""},
};

/* What an answer to a request is read as; `expected` NULL: it is not allowed. */
static void check_answer(const tsl_tools_options *o, const char *request, const char *answer,
                         const char *expected) {
  tsl_grammar *g = NULL;
  tsl_parser *p = NULL;
  tsl_error e = {0};
  CHECKF(tsl_grammar_tools(vocab, request, strlen(request), o, NULL, &g, &e) == TSL_OK, "%s: %s %s",
         request, e.message, e.pointer);
  if (g && tsl_parser_new(g, NULL, &p) == TSL_OK) {
    bool read =
        tsl_parser_text(p, answer, strlen(answer)) == TSL_OK && tsl_parser_finish(p) == TSL_OK;
    CHECKF(read == (expected != NULL), "%s, thinking %d: %s", o->preset, (int)o->thinking, answer);
    if (read && expected)
      CHECKF(strstr(tsl_parser_json(p), expected), "%s: %s", o->preset, tsl_parser_json(p));
  }
  tsl_parser_free(p);
  tsl_grammar_release(g);
}

static void edges_are_read(void) {
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
    check_answer(&(tsl_tools_options){.preset = answers[i].preset}, answers[i].request,
                 answers[i].answer, answers[i].expected);
}

/* gpt-oss: the tool in the role or in the channel, either channel, and each way to say that what
 * follows is JSON. A longer name is another tool's, and other tools are not there. */
static void headers_are_read(void) {
  static const char *const places[] = {
      "<|channel|>commentary to=functions.f", "<|channel|>analysis to=functions.f",
      " to=functions.f<|channel|>commentary", " to=functions.f<|channel|>analysis"};
  static const char *const kinds[] = {"<|message|>", " <|constrain|>json<|message|>",
                                      "<|constrain|>json<|message|>", " json<|message|>"};
  static const char *const wrong[] = {"<|channel|>final to=functions.f<|message|>",
                                      "<|channel|>commentary to=functions.fff<|message|>",
                                      "<|channel|>commentary to=f<|message|>",
                                      "<|channel|>commentary to=functions.f text<|message|>",
                                      " to=functions.f<|message|>",
                                      "<|channel|>analysis to=browser.search<|message|>"};
  static const char
      request[] = "[" TOOL("ff", "{\"type\":\"object\",\"maxProperties\":0}") "," TOOL("f", S) "]",
      called[] = "\"calls\": [{\"id\": \"call_0\", \"name\": \"f\", \"arguments\": {\"a\": 1}}]";
  static const char format[] =
      "{\"response_format\":{\"type\":\"json_schema\",\"schema\":{\"const\":1}}}";
  const tsl_tools_options o = {.preset = "gpt-oss"},
                          required = {.preset = "gpt-oss", .tool_choice = "required"};
  char answer[300];
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      snprintf(answer, sizeof answer,
               "<|channel|>analysis<|message|>hm<|end|><|start|>assistant%s%s{\"a\": 1}<|call|>",
               places[i], kinds[k]);
      check_answer(&o, request, answer, called);
      check_answer(&required, request, answer, called);
    }
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    snprintf(answer, sizeof answer, "<|channel|>final%s1<|return|>", kinds[k]);
    check_answer(&o, format, answer, "\"content\": \"1\"");
  }
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    snprintf(answer, sizeof answer, "%s{\"a\": 1}<|call|>", wrong[i]);
    check_answer(&o, request, answer, NULL);
  }
}

/* GLM 4.5 and 4.6 write a line break before each call, GLM 4.7 none; nothing else may stand
 * there. */
static void line_breaks_are_read(void) {
#define GLM "<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>"
  static const char request[] = "[" TOOL("f", S) "]",
                    two[] =
                        "\"content\": \"\", \"reasoning\": \"\", \"calls\": [{\"id\": \"call_0\", "
                        "\"name\": \"f\", \"arguments\": {\"a\": 1}}, {\"id\": \"call_1\",";
  tsl_tools_options o = {.preset = "glm4", .tool_choice = "required"};
  check_answer(&o, request, GLM GLM, two);
  check_answer(&o, request, GLM "\n" GLM, two);
  check_answer(&o, request, "\n" GLM "\n" GLM, two);
  check_answer(&o, request, "<think>hm</think>\n" GLM,
               "\"content\": \"\", \"reasoning\": \"hm\", \"calls\": [{");
  check_answer(&o, request, GLM "\n\n" GLM, NULL);
  check_answer(&o, request, GLM "\n", NULL);
  check_answer(&o, request, "\n", NULL);
  o.parallel = -1;
  check_answer(&o, request, "\n" GLM, "\"calls\": [{");
  check_answer(&o, request, GLM GLM, NULL);
}

/* DeepSeek: a call without arguments has an empty line where they would be, or none. */
static void calls_without_arguments_are_read(void) {
#define DSML "\uff5cDSML\uff5c"
#define NO_ARGUMENTS(lines) "<" DSML "invoke name=\"f\">" lines "</" DSML "invoke>"
  static const char request[] = "[" TOOL("f", "{\"type\":\"object\",\"properties\":{}}") "]",
                    called[] =
                        "\"calls\": [{\"id\": \"call_0\", \"name\": \"f\", \"arguments\": {}}]";
  static const struct {
    const char *preset, *section;
  } forms[] = {{"deepseek-v3.2", "function_calls"}, {"deepseek-v4", "tool_calls"}};
  static const struct {
    const char *call;
    bool fine;
  } calls[] = {
      {NO_ARGUMENTS("\n"), true}, {NO_ARGUMENTS("\n\n"), true}, {NO_ARGUMENTS("\n\n\n"), false}};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
      char answer[300];
      snprintf(answer, sizeof answer, "\n\n<" DSML "%s>\n%s\n</" DSML "%s>", forms[i].section,
               calls[k].call, forms[i].section);
      check_answer(&(tsl_tools_options){.preset = forms[i].preset, .tool_choice = "required"},
                   request, answer, calls[k].fine ? called : NULL);
    }
}

/* With thinking: a block that the model begins, that the prompt has begun, or either; and messages,
 * the first of which is one of thinking. What a response format asks for is said once, and nothing
 * beside it. */
#define CODED "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
#define KIMI                                                                                  \
  "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{" \
  "\"a\": 1}<|tool_call_end|><|tool_calls_section_end|>"
#define SAID(channel, text) "<|channel|>" channel "<|message|>" text
#define NEXT "<|end|><|start|>assistant"
#define ONE "{\"response_format\":{\"type\":\"json_schema\",\"schema\":{\"const\":1}}}"
#define ONE_OR_CALLS   \
  "{\"tools\":[" TOOL( \
      "f", S) "],\"response_format\":{\"type\":\"json_schema\",\"schema\":{\"const\":1}}}"
#define CALLED "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"a\": 1}<|call|>"

static const struct {
  const char *preset, *request, *answer, *on, *off; /* what it is read as; NULL: not allowed */
} thoughts[] = {
    {"qwen3", "{\"tools\":[]}", "hm\n</think>\n\nhi",
     "\"content\": \"hi\", \"reasoning\": \"hm\\n\"", NULL},
    {"qwen3", "{\"tools\":[]}", "<think>hm</think>\n\nhi",
     "\"content\": \"hi\", \"reasoning\": \"hm\"", NULL},
    {"qwen3", "{\"tools\":[]}", "hi", NULL, "\"content\": \"hi\""},
    {"qwen3-coder", "[" TOOL("f", S) "]", "hm\n</think>\n\n" CODED,
     "\"reasoning\": \"hm\\n\", \"calls\": [{\"id\": \"call_0\", \"name\": \"f\"", NULL},
    {"qwen3-coder", "[" TOOL("f", S) "]", "<think>\nhm\n</think>\n\n" CODED,
     "\"reasoning\": \"\\nhm\\n\", \"calls\": [{\"id\"", NULL},
    {"qwen3-coder", "[" TOOL("f", S) "]", "x" CODED, NULL,
     "\"content\": \"x\", \"reasoning\": \"\", \"calls\": [{\"id\""},
    {"qwen3-coder", "[" TOOL("f", S) "]",
     "<tool_call><function=f>\n<parameter=a>\n\"x\"\n</parameter>\n</function></tool_call>", NULL,
     NULL},
    {"glm4", "[" TOOL("f", S) "]",
     "hm</think><tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>",
     "\"reasoning\": \"hm\", \"calls\": [{\"id\"", NULL},
    {"glm4", "[" TOOL("f", S) "]", "\n<think>hm</think>hi",
     "\"content\": \"hi\", \"reasoning\": \"hm\"", NULL},
    {"kimi-k2", "[" TOOL("f", S) "]", "hm</think>" KIMI,
     "\"reasoning\": \"hm\", \"calls\": [{\"id\": \"functions.f:0\"", NULL},
    {"deepseek-v3.1", "{\"tools\":[]}", "hm</think>hi",
     "\"content\": \"hi\", \"reasoning\": \"hm\"", NULL},
    {"deepseek-v3.1", "{\"tools\":[]}", "<think>hm</think>hi", NULL, NULL},
    {"gpt-oss", "{\"tools\":[]}", SAID("final", "hi<|return|>"), NULL, "\"content\": \"hi\""},
    {"gpt-oss", "{\"tools\":[]}", SAID("analysis", "hm") NEXT SAID("final", "hi<|return|>"),
     "\"content\": \"hi\", \"reasoning\": \"hm\"", NULL},
    {"gpt-oss", "[" TOOL("f", S) "]",
     SAID("analysis", "hm") NEXT SAID("commentary", "hi") NEXT CALLED,
     "\"content\": \"hi\", \"reasoning\": \"hm\", \"calls\": [{\"id\"", NULL},
    {"gpt-oss", "[" TOOL("f", S) "]", CALLED, NULL, "\"calls\": [{\"id\""},
    {"gpt-oss", ONE, SAID("final", "1<|return|>"), NULL, "\"content\": \"1\""},
    {"gpt-oss", ONE, SAID("analysis", "hm") NEXT SAID("final", "1<|return|>"),
     "\"content\": \"1\", \"reasoning\": \"hm\"", NULL},
    {"gpt-oss", ONE, SAID("analysis", "hm<|end|>"), NULL, NULL},
    {"gpt-oss", ONE, SAID("final", "1") NEXT SAID("final", "1<|return|>"), NULL, NULL},
    {"gpt-oss", ONE,
     SAID("analysis", "hm") NEXT SAID("commentary", "1") NEXT SAID("final", "1<|return|>"), NULL,
     NULL},
    {"gpt-oss", ONE_OR_CALLS, SAID("final", "1<|end|>"), NULL, "\"content\": \"1\""},
    {"gpt-oss", ONE_OR_CALLS, CALLED, NULL, "\"calls\": [{\"id\""},
    {"gpt-oss", ONE_OR_CALLS, SAID("final", "1") NEXT CALLED, NULL, NULL},
};

static void thoughts_are_read(void) {
  for (size_t i = 0; i < sizeof thoughts / sizeof *thoughts; i++) {
    check_answer(&(tsl_tools_options){.preset = thoughts[i].preset, .thinking = TSL_THINKING_OFF},
                 thoughts[i].request, thoughts[i].answer, thoughts[i].off);
    check_answer(&(tsl_tools_options){.preset = thoughts[i].preset, .thinking = TSL_THINKING_ON},
                 thoughts[i].request, thoughts[i].answer, thoughts[i].on);
  }
}

/* One token that ends the thinking and begins a call; one that begins the call's arguments too. */
static void tokens_reach_over(void) {
  static const char *const more[] = {
      "k</think>\n\n<tool_",
      "call>\n{\"name\": \"f\", \"arguments\": {\"a\":", "1}}\n</tool_call>x"};
  uint8_t bytes[400];
  uint32_t offsets[260], mask[9], n = 0;
  for (uint32_t i = 0; i < 259; i++) {
    size_t length = i < 256 ? 1 : strlen(more[i - 256]);
    offsets[i] = n;
    if (i < 256)
      bytes[n] = (uint8_t)i;
    else
      memcpy(bytes + n, more[i - 256], length);
    n += (uint32_t)length;
  }
  offsets[259] = n;
  const tsl_vocab_desc desc = {.bytes = bytes, .offsets = offsets, .size = 259};
  const tsl_tools_options o = {.preset = "qwen3", .thinking = TSL_THINKING_ON};
  const tsl_token tokens[] = {'<', 't', 'h', 'i', 'n', 'k', '>', 'o', 256, 257, 258};
  static const char request[] = "[" TOOL("f", S) "]";
  tsl_vocab *v = NULL;
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_parser *p = NULL;
  CHECK(tsl_vocab_new(&desc, NULL, &v, NULL) == TSL_OK &&
        tsl_grammar_tools(v, request, sizeof request - 1, &o, NULL, &g, NULL) == TSL_OK);
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_parser_new(g, NULL, &p) == TSL_OK);
  for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
    CHECKF(tsl_matcher_mask(m, mask) == TSL_OK && tsl_mask_has(mask, tokens[i]), "token %zu", i);
    CHECK(tsl_matcher_accept(m, tokens[i]) == TSL_OK && tsl_parser_token(p, tokens[i]) == TSL_OK);
  }
  CHECK(tsl_matcher_is_complete(m) && tsl_parser_finish(p) == TSL_OK);
  CHECKF(!strcmp(tsl_parser_json(p),
                 "{\"content\": \"x\", \"reasoning\": \"ok\", \"calls\": [{\"id\": \"call_0\", "
                 "\"name\": \"f\", \"arguments\": {\"a\":1}}], \"tags\": []}"),
         "%s", tsl_parser_json(p));
  tsl_parser_free(p);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* Ten thousand tools: names are a trie, errors point at the last one. */
static void many_tools(void) {
  enum { N = 10000 };
  char *request = malloc(N * 160 + 10);
  size_t n = 0;
  request[n++] = '[';
  for (int i = 0; i < N; i++)
    n += (size_t)sprintf(request + n,
                         "%s{\"name\":\"tool_%d\",\"input_schema\":{\"type\":\"object\","
                         "\"properties\":{\"p%d\":{\"type\":\"integer\"}},\"required\":[\"p%d\"]}}",
                         i ? "," : "", i, i % 100, i % 100);
  request[n++] = ']';
  tsl_tools_options o = {.preset = "qwen3", .tool_choice = "required"};
  tsl_grammar *g = NULL;
  tsl_parser *p = NULL;
  tsl_error e = {0};
  CHECKF(tsl_grammar_tools(vocab, request, n, &o, NULL, &g, &e) == TSL_OK, "%s", e.message);
  static const char answer[] =
      "<tool_call>\n{\"name\": \"tool_9876\", \"arguments\": {\"p76\": 1}}\n</tool_call>";
  if (g && tsl_parser_new(g, NULL, &p) == TSL_OK)
    CHECK(tsl_parser_text(p, answer, sizeof answer - 1) == TSL_OK &&
          tsl_parser_finish(p) == TSL_OK && strstr(tsl_parser_json(p), "\"tool_9876\""));
  tsl_parser_free(p);
  memcpy(request + n - 12, "\"p99\",9] ", 10);
  tsl_grammar *h = NULL;
  CHECK(tsl_grammar_tools(vocab, request, n, &o, NULL, &h, &e) != TSL_OK && e.offset > n - 40);
  tsl_grammar_release(h);
  tsl_grammar_release(g);
  free(request);
}

/* Another set of tools over the same tables: the same masks as alone, whoever goes first; and what
 * cannot be shared is not. */
static void tables_are_shared(void) {
  static const char a[] = "[" TOOL("f", S) "," TOOL("g", "{\"type\":\"object\"}") "]",
                    b[] = "[" TOOL("h", "{\"type\":\"object\",\"maxProperties\":1}") "," TOOL(
                        "f", S) "]";
  static const char bad[] = "[" TOOL("f", "{\"type\":3}") "]",
                    unique[] = "[" TOOL("u", "{\"type\":\"object\",\"properties\":{\"l\":{\"type\":"
                                             "\"array\",\"uniqueItems\":true}}}") "]";
  static const char text[] =
      "hi <tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 12, \"s\": \"x\"}}\n</tool_call>";
  tsl_tools_options o = {.preset = "qwen3"};
  tsl_grammar *first = NULL, *over = NULL, *alone = NULL, *other = NULL;
  tsl_error e = {0};
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *x = malloc(words * sizeof *x), *y = malloc(words * sizeof *y);
  CHECK(tsl_grammar_tools(vocab, a, sizeof a - 1, &o, NULL, &first, &e) == TSL_OK &&
        tsl_grammar_tools(vocab, b, sizeof b - 1, &o, NULL, &alone, &e) == TSL_OK);
  o.over = first;
  CHECK(tsl_grammar_tools(vocab, b, sizeof b - 1, &o, NULL, &over, &e) == TSL_OK &&
        over->space == first->space);
  CHECK(tsl_grammar_tools(vocab, bad, sizeof bad - 1, &o, NULL, &other, &e) == TSL_ERR_SCHEMA &&
        !other && !strcmp(e.pointer, "/0/function/parameters/type"));
  CHECK(tsl_grammar_tools(vocab, unique, sizeof unique - 1, &o, NULL, &other, &e) == TSL_OK &&
        other->space != first->space);
  tsl_grammar_release(other);
  tsl_grammar_release(first);
  tsl_matcher *m = NULL, *k = NULL;
  if (!over || !alone || tsl_matcher_new(over, NULL, &m) != TSL_OK ||
      tsl_matcher_new(alone, NULL, &k) != TSL_OK)
    return;
  for (size_t i = 0; i <= sizeof text - 1; i++) {
    CHECKF(tsl_matcher_mask(m, x) == TSL_OK && tsl_matcher_mask(k, y) == TSL_OK &&
               !memcmp(x, y, words * sizeof *x),
           "byte %zu", i);
    if (i < sizeof text - 1)
      CHECK(tsl_matcher_accept_bytes(m, text + i, 1, NULL) == TSL_OK &&
            tsl_matcher_accept_bytes(k, text + i, 1, NULL) == TSL_OK);
  }
  tsl_matcher_free(m);
  tsl_matcher_free(k);
  const tsl_schema_options options = {.whitespace = TSL_WS_COMPACT};
  o.over = over;
  o.schema = &options;
  CHECK(tsl_grammar_tools(vocab, b, sizeof b - 1, &o, NULL, &other, &e) == TSL_OK &&
        other->space != over->space);
  tsl_grammar_release(other);
  tsl_grammar_release(over);
  tsl_grammar_release(alone);
  free(x);
  free(y);
}

/* ---- presets --------------------------------------------------------------------------------- */

/* What tsl_tools_write prints compiles, and to the same: it accepts what the request's grammar
 * accepts. */
static void presets_compile(void) {
  static const char request[] = "[{\"name\":\"f\",\"input_schema\":" S "}]";
  static const tsl_thinking modes[] = {TSL_THINKING_AUTO, TSL_THINKING_ON, TSL_THINKING_OFF};
  char *written = malloc(WRITTEN);
  const char *name, *json;
  size_t n = 0;
  for (; tsl_tools_preset(n, &name, &json); n++)
    for (size_t k = 0; k < 3; k++) {
      tsl_tools_options o = {
          .preset = name, .thinking = modes[k], .tool_choice = k == 1 ? "required" : NULL};
      tsl_grammar *g = NULL, *again = NULL;
      tsl_error e = {0};
      CHECKF(tsl_grammar_tools(vocab, request, sizeof request - 1, &o, NULL, &g, &e) == TSL_OK,
             "%s: %s", name, e.message);
      CHECKF(tsl_tools_write(vocab, request, sizeof request - 1, &o, take_line, written, &e) ==
                 TSL_OK,
             "%s: %s", name, e.message);
      CHECKF(tsl_grammar_tags(vocab, written, strlen(written), NULL, NULL, &again, &e) == TSL_OK,
             "%s: %s in %s", name, e.message, written);
      uint64_t a = 0, b = 0;
      tsl_matcher *m = NULL;
      if (g && tsl_matcher_new(g, NULL, &m) == TSL_OK)
        tsl_matcher_shortest_completion(m, &a), tsl_matcher_free(m);
      if (again && tsl_matcher_new(again, NULL, &m) == TSL_OK)
        tsl_matcher_shortest_completion(m, &b), tsl_matcher_free(m);
      CHECKF(a == b, "%s: %llu and %llu bytes", name, (unsigned long long)a, (unsigned long long)b);
      tsl_grammar_release(g);
      tsl_grammar_release(again);
    }
  CHECK(n > 0); /* how many there are: tests/programs/test_tools.py */
  free(written);
}

/* Messages of thinking stand where calls follow them and where none do: each has its tokens once,
 * whichever it will be. */
static void thoughts_are_bounded(void) {
  static const char request[] = "{\"tools\":[" TOOL("f", S) "]}",
                    begin[] = "<|channel|>analysis<|message|>",
                    next[] = "<|end|><|start|>assistant";
  for (int on = 0; on < 2; on++) {
    tsl_grammar *g = NULL;
    tsl_matcher *m = NULL;
    const tsl_tools_options o = {.preset = "gpt-oss",
                                 .max_thinking_tokens = 3,
                                 .thinking = on ? TSL_THINKING_ON : TSL_THINKING_AUTO};
    CHECK(tsl_grammar_tools(vocab, request, sizeof request - 1, &o, NULL, &g, NULL) == TSL_OK &&
          tsl_matcher_new(g, NULL, &m) == TSL_OK);
    for (int block = 0; m && block < 2; block++) {
      int n = 0;
      CHECK(tsl_matcher_accept_bytes(m, begin, sizeof begin - 1, NULL) == TSL_OK);
      while (n < 9 && tsl_matcher_accept_bytes(m, "a", 1, NULL) == TSL_OK) n++;
      CHECKF(n == 3 && tsl_matcher_accept_bytes(m, next, sizeof next - 1, NULL) == TSL_OK,
             "block %d: %d tokens", block, n);
    }
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 1;
  RUN(requests_are_refused, "status, message, pointer into the request");
  RUN(thoughts_are_read, "begun by the model or by the prompt, in blocks and in messages");
  RUN(thoughts_are_bounded, "each block by itself");
  RUN(headers_are_read, "the tool in the role and in the channel");
  RUN(line_breaks_are_read, "before a call, where a template writes them");
  RUN(calls_without_arguments_are_read, "with an empty line and without");
  RUN(edges_are_read, "near-triggers, odd names, each family's own marks");
  RUN(tokens_reach_over, "from thinking into a call");
  RUN(many_tools, "ten thousand");
  RUN(tables_are_shared, "one set of tools over another's tables");
  RUN(presets_compile, "and print as tags that compile");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
