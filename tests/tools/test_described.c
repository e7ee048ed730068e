/* test_described.c - the report of tools and structural tags: every schema in them is described,
 * with a pointer into the request and the tool's name. And errors of requests that say what to
 * write.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/tags.h"

static tsl_vocab *vocab;

#define BAD "{\"type\":\"object\",\"properties\":{},\"requird\":[\"a\"]}"
#define NO_KEYWORD "no keyword: is required meant?\",\"warning\":true}"
/* the entry of such a keyword */
#define ENTRY(tool, pointer)                                       \
  "{" tool "\"pointer\":\"" pointer                                \
  "/requird\",\"keyword\":\"requird\",\"status\":\"no effect\",\"" \
  "reason\":\"" NO_KEYWORD
#define OF(name) "\"tool\":\"" name "\","

static size_t count(const char *text, const char *part) {
  size_t n = 0;
  for (; (text = strstr(text, part)) != NULL; text++) n++;
  return n;
}

static tsl_grammar *tools(const char *request, const char *preset, tsl_grammar *over) {
  const tsl_tools_options o = {.preset = preset, .over = over};
  tsl_grammar *g = NULL;
  tsl_error e = {0};
  CHECKF(tsl_grammar_tools(vocab, request, strlen(request), &o, NULL, &g, &e) == TSL_OK, "%s: %s",
         request, e.message);
  return g;
}

/* The report of the request has this entry, and so many warnings. */
static void described(const char *request, const char *preset, const char *entry, size_t warnings) {
  tsl_grammar *g = tools(request, preset, NULL);
  const char *report = g ? tsl_grammar_report(g) : "";
  CHECKF(strstr(report, entry) && count(report, "\"warning\":true") == warnings, "%s: %s", request,
         report);
  CHECK(!g || tsl_grammar_report(g) == report);
  tsl_grammar_release(g);
}

/* The kinds of requests, and where a schema is in each. */
static void every_form(void) {
  described("[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":" BAD "}}]",
            "qwen3", ENTRY(OF("f"), "/0/function/parameters"), 1);
  described("{\"tools\":[{\"name\":\"a\"},{\"name\":\"g\",\"input_schema\":" BAD "}]}", "llama3",
            ENTRY(OF("g"), "/tools/1/input_schema"), 1);
  described("{\"result\":{\"tools\":[{\"name\":\"g\",\"inputSchema\":" BAD "}]}}", "glm4",
            ENTRY(OF("g"), "/result/tools/0/inputSchema"), 1);
  described("{\"functions\":[{\"parameters\":" BAD ",\"name\":\"h\"}]}", "hermes",
            ENTRY(OF("h"), "/functions/0/parameters"), 1);
  described("{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"n\","
            "\"schema\":" BAD "}}}",
            "qwen3", ENTRY("", "/response_format/json_schema/schema"), 1);
  /* most of the text is no schema: the trees are copied */
  described("{\"tools\":[{\"name\":\"g\",\"parameters\":" BAD "}],\"messages\":\"a long text, such "
            "as a request has, with what was said before, and the prompt of the system in front "
            "of it, which says much of what the model is, can do, and ought to do\"}",
            "qwen3", ENTRY(OF("g"), "/tools/0/parameters"), 1);
  /* calls that may be written in two ways */
  described("[{\"name\":\"f\",\"parameters\":" BAD "}]", "glm4", ENTRY(OF("f"), "/0/parameters"),
            1);
  /* the text of a custom tool's schema is nobody's */
  described("[{\"type\":\"custom\",\"custom\":{\"name\":\"c\"}}]", "qwen3", "[]", 0);
}

/* A dozen schemas, sought by their places. */
static void many_schemas(void) {
  char request[2048] = "[", entry[256];
  for (unsigned i = 0, n = 1; i < 12; i++)
    n += (unsigned)snprintf(request + n, sizeof request - n,
                            "%s{\"name\":\"f%u\",\"parameters\":" BAD "}%s", i ? "," : "", i,
                            i == 11 ? "]" : "");
  tsl_grammar *g = tools(request, "qwen3", NULL);
  const char *report = g ? tsl_grammar_report(g) : "";
  for (unsigned i = 0; i < 12; i++) {
    snprintf(entry, sizeof entry, "{\"tool\":\"f%u\",\"pointer\":\"/%u/parameters/requird\"", i, i);
    CHECKF(strstr(report, entry), "no %s: %s", entry, report);
  }
  CHECKF(count(report, "\"warning\":true") == 12, "%s", report);
  tsl_grammar_release(g);
}

/* A schema that gets its "type" here: no entry says so, as the text has none. */
static void types_made_up(void) {
  tsl_grammar *g = tools("[{\"name\":\"f\",\"parameters\":{\"properties\":{}}}]", "qwen3", NULL);
  const char *report = g ? tsl_grammar_report(g) : "";
  CHECKF(!strcmp(report, "[{\"tool\":\"f\",\"pointer\":\"/0/parameters/properties\",\"keyword\":"
                         "\"properties\",\"status\":\"enforced\",\"reason\":\"\"}]"),
         "%s", report);
  tsl_grammar_release(g);
}

/* Properties without "properties", in a tool. */
static void properties_alone(void) {
  tsl_grammar *g = tools("[{\"name\":\"f\",\"parameters\":{\"a\":{\"type\":\"string\"},\"b\":{"
                         "\"type\":\"string\"}}}]",
                         "qwen3", NULL);
  const char *report = g ? tsl_grammar_report(g) : "";
  CHECKF(strstr(report, "\"/0/parameters/a\"") && strstr(report, "belong under"), "%s", report);
  tsl_grammar_release(g);
}

/* Requests that are wrong: the error has these words, and this pointer. */
static const struct {
  const char *request, *words, *pointer;
} refused[] = {
    {"[{\"name\":\"f\",\"parameters\":{\"type\":\"string\"}}]",
     "must be \"object\", not \"string\"", "/0/parameters/type"},
    {"{\"tools\":[\"f\"]}", "a tool is an object: {\"name\"", "/tools/0"},
    {"{\"tools\":[{\"functionDeclarations\":[]}]}", "an item of \"tools\" itself",
     "/tools/0/functionDeclarations"},
    {"{\"tools\":[{\"toolSpec\":{}}]}", "another API's", "/tools/0/toolSpec"},
    {"{\"tools\":[{\"function\":\"f\"}]}", "in its \"function\"", "/tools/0"},
    {"{\"tools\":[{\"name\":\"f\"}],\"tool_choice\":\"f\"}", "{\"type\": \"function\"",
     "/tool_choice"},
};

static void errors_that_help(void) {
  const tsl_tools_options o = {.preset = "qwen3"};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    const char *request = refused[i].request;
    tsl_grammar *g = NULL;
    tsl_error e = {0};
    CHECKF(tsl_grammar_tools(vocab, request, strlen(request), &o, NULL, &g, &e) == TSL_ERR_SCHEMA,
           "%s", request);
    CHECKF(strstr(e.message, refused[i].words) && !strcmp(e.pointer, refused[i].pointer),
           "%s: %s at %s", request, e.message, e.pointer);
  }
}

/* One schema twice in a request, and again over the tables of a grammar that has it elsewhere. */
static void schemas_that_are_shared(void) {
#define TWO "{\"name\":\"f\",\"parameters\":" BAD "},{\"name\":\"g\",\"parameters\":" BAD "}"
  tsl_grammar *first = tools("[" TWO "]", "qwen3", NULL),
              *second = tools("{\"tools\":[{\"name\":\"e\"}," TWO "]}", "qwen3", first);
  const char *report = first ? tsl_grammar_report(first) : "",
             *other = second ? tsl_grammar_report(second) : "";
  CHECKF(strstr(report, ENTRY(OF("f"), "/0/parameters")) &&
             strstr(report, ENTRY(OF("g"), "/1/parameters")),
         "%s", report);
  CHECKF(strstr(other, ENTRY(OF("f"), "/tools/1/parameters")) &&
             strstr(other, ENTRY(OF("g"), "/tools/2/parameters")),
         "%s", other);
  tsl_grammar_release(first);
  CHECK(!second || tsl_grammar_report(second) == other);
  tsl_grammar_release(second);
}

static bool no_document(void *ctx, const char *uri, const char **text, size_t *length) {
  (void)ctx, (void)uri, (void)text, (void)length;
  return false;
}

/* A grammar with a resolver keeps its text for this alone. */
static void with_a_resolver(void) {
  static const char request[] = "[{\"name\":\"f\",\"parameters\":" BAD "}]";
  const tsl_schema_options schema = {.resolver = no_document};
  const tsl_tools_options o = {.preset = "qwen3", .schema = &schema};
  tsl_grammar *g = NULL;
  CHECK(tsl_grammar_tools(vocab, request, sizeof request - 1, &o, NULL, &g, NULL) == TSL_OK);
  const char *report = g ? tsl_grammar_report(g) : "";
  CHECKF(strstr(report, ENTRY(OF("f"), "/0/parameters")), "%s", report);
  tsl_grammar_release(g);
}

/* Structural tags, read from JSON and built in C. */
static void tags(void) {
  static const char json[] = "{\"type\":\"structural_tag\",\"format\":{\"type\":\"sequence\","
                             "\"elements\":[{\"type\":\"const_string\",\"value\":\"a\"},{\"type\":"
                             "\"json_schema\",\"json_schema\":" BAD "}]}}";
  tsl_grammar *g = NULL, *built = NULL;
  tsl_tags *t = NULL;
  CHECK(tsl_grammar_tags(vocab, json, sizeof json - 1, NULL, NULL, &g, NULL) == TSL_OK);
  const char *report = g ? tsl_grammar_report(g) : "";
  CHECKF(strstr(report, ENTRY("", "/format/elements/1/json_schema")), "%s", report);
  tsl_grammar_release(g);
  CHECK(tsl_tags_new(vocab, NULL, &t) == TSL_OK);
  tsl_format *schema = tsl_tags_json_schema(t, BAD, sizeof BAD - 1, NULL);
  CHECK(tsl_tags_compile(t, schema, NULL, NULL, NULL, &built, NULL) == TSL_OK);
  tsl_tags_free(t);
  report = built ? tsl_grammar_report(built) : "";
  CHECKF(strstr(report, ENTRY("", "")), "%s", report);
  tsl_grammar_release(built);
}

int main(void) {
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  RUN(every_form, "of requests");
  RUN(many_schemas, "each has its pointer");
  RUN(types_made_up, "are no part of the report");
  RUN(properties_alone, "have a warning");
  RUN(errors_that_help, "with what to write");
  RUN(schemas_that_are_shared, "have a pointer in each place");
  RUN(with_a_resolver, "the text is kept");
  RUN(tags, "from JSON and from C");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
