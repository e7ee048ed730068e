/* test_request.c - requests of servers (compiler/grammar/request.c): what each accepts, and errors
 * with their pointers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/refusals.h"
#include "turnstile.h"

static tsl_vocab *v;

static bool ends(tsl_grammar *g, const char *text) {
  tsl_matcher *m = NULL;
  size_t n = 0;
  bool good = tsl_matcher_new(g, NULL, &m) == TSL_OK &&
              tsl_matcher_accept_bytes(m, text, strlen(text), &n) == TSL_OK && n == strlen(text) &&
              tsl_matcher_is_complete(m);
  tsl_matcher_free(m);
  return good;
}

static void accepted(void) {
  static const struct {
    const char *request, *good, *bad;
  } table[] = {
      {"{\"response_format\": {\"type\": \"json_object\"}}", "{\"a\": 1}", "[1]"},
      {"{\"response_format\": {\"type\": \"text\"}, \"regex\": \"a+\"}", "aa", "b"},
#define OBJECT(members) "{\"response_format\": {\"type\": \"json_object\", " members "}}"
#define NEEDS_A "{\"required\": [\"a\"]}"
      {OBJECT("\"schema\": " NEEDS_A), "{\"a\": 1}", "{}"},
      {OBJECT("\"schema\": {}"), "{}", "[]"},
      {OBJECT("\"schema\": true"), "{}", "[]"},
      {OBJECT("\"schema\": {\"type\": [\"object\", \"null\"], \"required\": [\"a\"]}"),
       "{\"a\": 1}", "null"},
      {OBJECT("\"json_schema\": " NEEDS_A), "{\"a\": 1}", "{}"},
      {OBJECT("\"json_schema\": {\"name\": \"n\", \"schema\": " NEEDS_A "}"), "{\"a\": 1}", "{}"},
      {OBJECT("\"json_schema\": " NEEDS_A ", \"schema\": " NEEDS_A), "{\"a\": 1}", "{}"},
      {"{\"text\": {\"format\": {\"type\": \"json_object\", \"schema\": " NEEDS_A "}}}",
       "{\"a\": 1}", "{}"},
      {"{\"output_format\": {\"type\": \"json_schema\", \"schema\": " NEEDS_A "}}", "{\"a\": 1}",
       "{}"},
      {"{\"output_config\": {\"format\": {\"type\": \"json_object\", \"schema\": " NEEDS_A "}}}",
       "{\"a\": 1}", "{}"},
      {"{\"functions\": [{}], \"function_call\": \"none\", \"format\": \"json\"}", "{}", "1"},
      {"{\"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"name\": \"n\", "
       "\"schema\": {\"enum\": [1, \"x\"]}}}}",
       "\"x\"", "2"},
      {"{\"text\": {\"format\": {\"type\": \"json_schema\", \"schema\": {\"const\": 7}}}}", "7",
       "8"},
      {"{\"text\": \"a prompt\", \"sampling_params\": {\"regex\": \"[0-9]{2}\"}}", "12", "1"},
      {"{\"sampling_params\": {\"ebnf\": \"root ::= \\\"x\\\"\", \"json_schema\": {}}}", "x", "y"},
      {"{\"sampling_params\": {\"json_schema\": \"{\\\"const\\\": [1]}\"}}", "[1]", "[2]"},
      {"{\"structured_outputs\": {\"choice\": [\"a.b\", \"(c\", \"\\n\"], \"json\": null}}", "a.b",
       "axb"},
      {"{\"structured_outputs\": {\"choice\": [\"a.b\", \"(c\"]}}", "(c", "c"},
      {"{\"structured_outputs\": {\"json\": {\"const\": [1, 2]}, \"disable_any_whitespace\": "
       "true}}",
       "[1,2]", "[1, 2]"},
      {"{\"structured_outputs\": {\"json_object\": true, \"backend\": \"auto\"}}", "{}", "1"},
      {"{\"structured_outputs\": {\"grammar\": \"start: \\\"a\\\" start?\"}}", "aaa", "b"},
      {"{\"structured_outputs\": {\"grammar\": \"root ::= \\\"a\\\" root?\"}}", "aaa", "b"},
      {"{\"structured_outputs\": {\"structural_tag\": {\"type\": \"const_string\", \"value\": "
       "\"t\"}}}",
       "t", "u"},
      {"{\"guided_choice\": [\"yes\", \"no\"]}", "no", "maybe"},
      {"{\"guided_json\": true}", "[null]", "nul"},
      {"{\"grammar\": \"root ::= [a-c]+\", \"json_schema\": null}", "cab", "d"},
      {"{\"json_schema\": {\"type\": \"boolean\"}, \"grammar\": \"\"}", "true", "1"},
      {"{\"format\": \"json\", \"options\": {}}", "{}", "1"},
      {"{\"format\": {\"type\": \"integer\"}}", "5", "\"5\""},
      {"{\"tools\": [], \"format\": \"json\"}", "{}", "1"},
      {"{\"tools\": [{}], \"tool_choice\": \"none\", \"format\": \"json\"}", "{}", "1"},
      {"{\"grammar\": \"root ::= \\\"<call>\\\" name \\\"</call>\\\"\\nname ::= [a-z]+\", "
       "\"grammar_lazy\": true, \"grammar_triggers\": [{\"type\": 1, \"value\": \"<call>\"}]}",
       "Hello <call>abc</call>", "Hello <call>9</call>"},
      {"{\"grammar\": \"root ::= \\\"<call>\\\" name \\\"</call>\\\"\\nname ::= [a-z]+\", "
       "\"grammar_lazy\": true, \"grammar_triggers\": [{\"type\": 1, \"value\": \"<call>\"}]}",
       "no <cal at all", "<call>"},
      {"{\"grammar\": \"root ::= \\\"<call>\\\" name \\\"</call>\\\"\\nname ::= [a-z]+\", "
       "\"grammar_lazy\": true, \"grammar_triggers\": [{\"type\": 1, \"value\": \"<call>\"}]}",
       "<call>x</call>", "<call>x</call> more"},
      {"{\"grammar\": \"root ::= call+\\ncall ::= space \\\"<c>\\\" [0-9] \\\"</c>\\\"\\nspace ::= "
       "\\\" \\\"?\", \"grammar_lazy\": true, \"grammar_triggers\": [{\"type\": 1, \"value\": "
       "\"<c>\"}]}",
       "t<c>1</c> <c>2</c>", "t<c>1</c>  <c>2</c>"},
      {"{\"grammar\": \"root ::= call+\\ncall ::= space \\\"<c>\\\" [0-9] \\\"</c>\\\"\\nspace ::= "
       "\\\" \\\"?\", \"grammar_lazy\": true, \"grammar_triggers\": [{\"type\": 0, \"token\": 5, "
       "\"value\": \"<c>\"}]}",
       "<c>1</c><c>2</c>", "<c>1</c>x"},
      {"{\"grammar\": \"root ::= \\\"<\\\" root \\\">\\\" | \\\"x\\\"\", \"grammar_lazy\": true, "
       "\"grammar_triggers\": [{\"type\": 1, \"value\": \"<\"}]}",
       "see <<x>>", "see <<x>"},
      {"{\"grammar\": \"root ::= \\\"<\\\" root \\\">\\\" | \\\"x\\\"\", \"grammar_lazy\": true, "
       "\"grammar_triggers\": [{\"type\": 1, \"value\": \"<<\"}]}",
       "see < <<x>>", "see <<x>"},
      {"{\"grammar\": \"root ::= \\\"<a>\\\" [0-9] | \\\"[b]\\\" root?\", \"grammar_lazy\": true, "
       "\"grammar_triggers\": [{\"type\": 1, \"value\": \"<a>\"}, {\"type\": 1, \"value\": "
       "\"[b]\"}]}",
       "1 [b][b]<a>7", "1 <a>7[b]"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    tsl_grammar *g = NULL;
    tsl_error error;
    tsl_status status =
        tsl_grammar_request(v, table[i].request, strlen(table[i].request), NULL, NULL, &g, &error);
    CHECKF(status == TSL_OK, "%s: %s", table[i].request, status ? error.message : "");
    if (!g) continue;
    CHECKF(ends(g, table[i].good), "%s accepts %s", table[i].request, table[i].good);
    CHECKF(!ends(g, table[i].bad), "%s refuses %s", table[i].request, table[i].bad);
    tsl_grammar_release(g);
  }
}

static void refused(void) {
  static const struct {
    const char *request;
    tsl_status status;
    const char *words, *pointer;
    uint32_t column; /* 0: any */
  } table[] = {
      {OBJECT("\"schema\": {\"minProperties\": 2, \"maxProperties\": 1}"), TSL_ERR_EMPTY, "",
       "/response_format/schema", 0},
      {OBJECT("\"schema\": {\"properties\": {\"a\": {\"type\": 7}}}"), TSL_ERR_SCHEMA, "",
       "/response_format/schema/properties/a/type", 85},
      {OBJECT("\"schema\": 3"), TSL_ERR_SCHEMA, "is an object", "/response_format/schema", 0},
      {OBJECT("\"schema\": {}, \"json_schema\": " NEEDS_A), TSL_ERR_SCHEMA, "would not hold",
       "/response_format/json_schema", 0},
      {OBJECT("\"response_schema\": {\"type\": \"object\"}"), TSL_ERR_SCHEMA, "would not hold",
       "/response_format/response_schema", 0},
      {"{\"response_format\": {\"type\": \"text\", \"schema\": {}}, \"regex\": \"a\"}",
       TSL_ERR_SCHEMA, "would not hold", "/response_format/schema", 0},
      {"{\"response_format\": {\"type\": \"json_schema\", \"schema\": {\"const\": 1}, "
       "\"json_schema\": {\"schema\": {\"const\": 2}}}}",
       TSL_ERR_SCHEMA, "would not hold", "/response_format/json_schema/schema", 0},
      {"{\"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"schema\": {}, "
       "\"value\": {\"type\": \"object\"}}}}",
       TSL_ERR_SCHEMA, "would not hold", "/response_format/json_schema/value", 0},
      {"{\"output_format\": {\"type\": \"json_object\"}, \"regex\": \"a\"}", TSL_ERR_SCHEMA, "two",
       "/regex", 0},
      {"{\"functions\": [{}], \"format\": \"json\"}", TSL_ERR_UNSUPPORTED, "preset", "/functions",
       0},
      {"{\"format\": \"json\", \"guided_whitespace_pattern\": \" ?\"}", TSL_ERR_UNSUPPORTED,
       "not a pattern", "/guided_whitespace_pattern", 0},
      {"{\"structured_outputs\": {\"json\": {}, \"whitespace_pattern\": \" ?\"}}",
       TSL_ERR_UNSUPPORTED, "", "/structured_outputs/whitespace_pattern", 0},
      {"{\"regex\": \"a\"", TSL_ERR_SYNTAX, "", "", 0},
      {"[1]", TSL_ERR_SCHEMA, "an object", "", 1},
      {"{\"prompt\": \"x\"}", TSL_ERR_SCHEMA, "constrains nothing", "", 1},
      {"{\"response_format\": {\"type\": \"text\"}}", TSL_ERR_SCHEMA, "constrains nothing", "", 1},
      {"{\"regex\": \"a\", \"ebnf\": \"b\"}", TSL_ERR_SCHEMA, "two: /regex and /ebnf", "/ebnf", 24},
      {"{\"guided_json\": {}, \"format\": \"json\"}", TSL_ERR_SCHEMA, "two", "/guided_json", 0},
      {"{\"response_format\": {\"type\": \"xml\"}}", TSL_ERR_UNSUPPORTED, "json_schema",
       "/response_format/type", 0},
      {"{\"response_format\": {\"type\": \"json_schema\"}}", TSL_ERR_SCHEMA, "\"schema\"",
       "/response_format", 0},
      {"{\"structured_outputs\": []}", TSL_ERR_SCHEMA, "an object", "/structured_outputs", 0},
      {"{\"structured_outputs\": {\"xml\": 1}}", TSL_ERR_UNSUPPORTED,
       "structured_outputs has json, regex", "/structured_outputs/xml", 0},
      {"{\"regex\": \"a\", \"structured_outputs\": {\"json\\u0000\": {}}}", TSL_ERR_UNSUPPORTED,
       "structured_outputs has json, regex", "/structured_outputs/json", 0},
      {"{\"regex\": \"a\", \"structured_outputs\": {"
       "\"a_name_of_more_than_sixty_letters_that_no_server_has_and_none_will_have\": {}}}",
       TSL_ERR_UNSUPPORTED, "structured_outputs has json, regex", "/structured_outputs/a_name", 0},
      {"{\"structured_outputs\": {\"choice\": []}}", TSL_ERR_SCHEMA, "list of texts",
       "/structured_outputs/choice", 0},
      {"{\"guided_choice\": [\"a\", 1]}", TSL_ERR_SCHEMA, "list of texts", "/guided_choice/1", 0},
      {"{\"regex\": 7}", TSL_ERR_SCHEMA, "a string", "/regex", 0},
      {"{\"json_schema\": [1]}", TSL_ERR_SCHEMA, "an object", "/json_schema", 0},
      {"{\"regex\": \"(a\"}", TSL_ERR_SYNTAX, "in this text, line 1, column 1", "/regex", 11},
      {"{\"grammar\": \"root ::= x\"}", TSL_ERR_SYNTAX, "in this text, line 1", "/grammar", 13},
      {"{\"format\": {\"type\": \"strin\"}}", TSL_ERR_SCHEMA, "", "/format/type", 21},
      {"{\"format\": {\"type\": \"integer\", \"minimum\": 2, \"maximum\": 1}}", TSL_ERR_EMPTY, "",
       "/format", 0},
      {"{\"format\": 1}", TSL_ERR_SCHEMA, "a schema", "/format", 0},
      {"{\"grammar\": \"root ::= [a]\", \"grammar_lazy\": true}", TSL_ERR_SCHEMA,
       "grammar_triggers", "/grammar", 0},
      {"{\"grammar\": \"root ::= [a]\", \"grammar_lazy\": true, \"grammar_triggers\": []}",
       TSL_ERR_SCHEMA, "not empty", "/grammar_triggers", 0},
      {"{\"grammar\": \"root ::= [a]\", \"grammar_lazy\": true, \"grammar_triggers\": [{\"type\": "
       "2, \"value\": \"a\"}]}",
       TSL_ERR_UNSUPPORTED, "patterns", "/grammar_triggers/0/type", 0},
      {"{\"grammar\": \"root ::= [a]\", \"grammar_lazy\": true, \"grammar_triggers\": [{\"type\": "
       "1, \"value\": \"a\"}, {\"value\": \"a\"}]}",
       TSL_ERR_SCHEMA, "a trigger is", "/grammar_triggers/1", 0},
      {"{\"grammar\": \"root ::= [a]\", \"grammar_lazy\": true, \"grammar_triggers\": [{\"type\": "
       "1, \"value\": \"\"}]}",
       TSL_ERR_SCHEMA, "not empty", "/grammar_triggers/0/value", 0},
      {"{\"grammar\": \"root ::= [a]\", \"grammar_lazy\": true, \"grammar_triggers\": [7]}",
       TSL_ERR_SCHEMA, "a trigger is", "/grammar_triggers/0", 0},
      {"{\"grammar\": \"root ::= [a]\", \"grammar_lazy\": true, \"grammar_triggers\": [{\"type\": "
       "1, \"value\": \"b\"}]}",
       TSL_ERR_EMPTY, "begins with", "/grammar", 0},
      {"{\"grammar\": \"root ::= x\", \"grammar_lazy\": true, \"grammar_triggers\": [{\"type\": 1, "
       "\"value\": \"b\"}]}",
       TSL_ERR_SYNTAX, "in the grammar, line 1", "/grammar", 0},
      {"{\"regex\": \"a\", \"grammar_lazy\": true}", TSL_ERR_UNSUPPORTED, "goes with",
       "/grammar_lazy", 0},
      {"{\"tools\": [{}], \"format\": \"json\"}", TSL_ERR_UNSUPPORTED, "preset", "/tools", 0},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    tsl_status status =
        tsl_grammar_request(v, table[i].request, strlen(table[i].request), NULL, NULL, &g, &error);
    bool begins = !strncmp(error.pointer, table[i].pointer, strlen(table[i].pointer));
    CHECKF(status == table[i].status && error.status == status && !g, "%s: status %d",
           table[i].request, status);
    CHECKF(strstr(error.message, table[i].words) != NULL, "%s: %s", table[i].request,
           error.message);
    CHECKF(begins && (*table[i].pointer || !*error.pointer), "%s: at %s", table[i].request,
           error.pointer);
    CHECKF(!table[i].column || error.column == table[i].column, "%s: column %u", table[i].request,
           error.column);
    CHECK(tsl_grammar_request(v, table[i].request, strlen(table[i].request), NULL, NULL, &g,
                              NULL) == table[i].status);
    tsl_grammar_release(g);
  }
}

/* Where the first trigger of a text ends, and may those that end there begin a text of `whole`? By
 * the definition of llama.cpp, byte by byte. */
static bool by_definition(tsl_grammar *whole, const char *const *triggers, const char *text) {
  for (size_t end = 1; end <= strlen(text); end++) {
    bool found = false, good = false;
    for (size_t k = 0; triggers[k]; k++) {
      size_t n = strlen(triggers[k]);
      if (n > end || memcmp(text + end - n, triggers[k], n)) continue;
      found = true;
      good = good || ends(whole, text + end - n);
    }
    if (found) return good;
  }
  return true;
}

/* The grammar stands in the structural tag once for each trigger: that is bounded. */
static void long_lazy(void) {
  const size_t grammar = 1 << 20, triggers = 100;
  char *text = malloc(grammar + 100 * 40 + 200), *at = text;
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  at += sprintf(at, "{\"grammar_lazy\": true, \"grammar\": \"root ::= [a]");
  memset(at, ' ', grammar);
  at += grammar;
  at += sprintf(at, "\", \"grammar_triggers\": [{\"type\": 1, \"value\": \"a\"}");
  for (size_t i = 1; i < triggers; i++) at += sprintf(at, ", {\"type\": 1, \"value\": \"a\"}");
  at += sprintf(at, "]}");
  CHECK(tsl_grammar_request(v, text, (size_t)(at - text), NULL, NULL, &g, &error) ==
            TSL_ERR_LIMIT &&
        !strcmp(error.pointer, "/grammar_triggers") && strstr(error.message, "too many triggers"));
  tsl_grammar_release(g);
  free(text);
}

/* A grammar, plain and lazy, on all texts of three letters up to six bytes. */
static void lazily(void) {
  static const struct {
    const char *grammar, *triggers[4];
  } table[] = {
      {"root ::= \\\"<a\\\" [ax]*", {"<a"}},
      {"root ::= \\\"<\\\" root \\\"a\\\" | \\\"x\\\"", {"<"}},
      {"root ::= \\\"<\\\" root \\\"a\\\" | \\\"x\\\"", {"<<", "<x"}},
      {"root ::= part+\\npart ::= none \\\"aa\\\" [<x]?\\nnone ::= \\\"\\\" | \\\"x\\\"", {"aa"}},
      {"root ::= part{2,5}\\npart ::= \\\"a\\\"? \\\"<\\\" | \\\"x\\\"", {"a<", "<", "x<a"}},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    char plain[300], lazy[600];
    int n = snprintf(lazy, sizeof lazy,
                     "{\"grammar\": \"%s\", \"grammar_lazy\": true, \"grammar_triggers\": [",
                     table[i].grammar);
    snprintf(plain, sizeof plain, "{\"grammar\": \"%s\"}", table[i].grammar);
    for (size_t k = 0; table[i].triggers[k]; k++)
      n += snprintf(lazy + n, sizeof lazy - (size_t)n, "%s{\"type\": 1, \"value\": \"%s\"}",
                    k ? ", " : "", table[i].triggers[k]);
    snprintf(lazy + n, sizeof lazy - (size_t)n, "]}");
    tsl_grammar *whole = NULL, *g = NULL;
    tsl_error error = {0};
    CHECKF(tsl_grammar_request(v, plain, strlen(plain), NULL, NULL, &whole, &error) == TSL_OK &&
               tsl_grammar_request(v, lazy, strlen(lazy), NULL, NULL, &g, &error) == TSL_OK,
           "%s: %s", lazy, error.message);
    for (unsigned length = 0, count = 1; length <= 6 && whole && g; length++, count *= 3)
      for (unsigned number = 0; number < count; number++) {
        char text[8] = "";
        for (unsigned at = 0, left = number; at < length; at++, left /= 3)
          text[at] = "<ax"[left % 3];
        bool want = by_definition(whole, table[i].triggers, text);
        CHECKF(ends(g, text) == want, "%s: %s is %s", lazy, text, want ? "right" : "wrong");
      }
    tsl_grammar_release(whole);
    tsl_grammar_release(g);
  }
}

typedef struct found {
  tsl_request_kind kind;
  char text[64], pointer[64];
  size_t offset;
  bool part, compact;
  int calls;
} found;

static void keep(void *ctx, const tsl_request_source *s) {
  found *f = ctx;
  f->calls++;
  f->kind = s->kind;
  snprintf(f->text, sizeof f->text, "%.*s", (int)s->length, s->text);
  snprintf(f->pointer, sizeof f->pointer, "%s", s->pointer);
  f->offset = s->offset;
  f->part = s->part;
  f->compact = s->compact;
}

static void read_only(void) {
  static const struct {
    const char *request, *text, *pointer;
    tsl_request_kind kind;
    size_t offset;
    bool part, compact;
  } table[] = {
      {"{\"guided_choice\": [\"a.\", \"b\"]}", "a\\.|b", "/guided_choice", TSL_REQUEST_REGEX, 18,
       false, false},
      {"{\"format\": {\"const\": 1}}", "{\"const\": 1}", "/format", TSL_REQUEST_JSON_SCHEMA, 11,
       true, false},
      {"{\"format\": \"json\"}", "{\"type\":\"object\"}", "/format", TSL_REQUEST_JSON_SCHEMA, 11,
       false, false},
      {"{\"structured_outputs\": {\"json\": {}, \"disable_any_whitespace\": true}}", "{}",
       "/structured_outputs/json", TSL_REQUEST_JSON_SCHEMA, 32, true, true},
      {"{\"guided_grammar\": \"start: /a/\"}", "start: /a/", "/guided_grammar", TSL_REQUEST_LARK,
       19, false, false},
      {"{\"guided_grammar\": \"root ::= \\\"a\\\"\"}", "root ::= \"a\"", "/guided_grammar",
       TSL_REQUEST_EBNF, 19, false, false},
      {"{\"grammar\": \"root ::= [a]\"}", "root ::= [a]", "/grammar", TSL_REQUEST_GBNF, 12, false,
       false},
      {"{\"structural_tag\": {\"format\": {}}}", "{\"format\": {}}", "/structural_tag",
       TSL_REQUEST_TAGS, 19, true, false},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const char *request = table[i].request;
    found f = {0};
    CHECKF(tsl_request_read(request, strlen(request), NULL, NULL, keep, &f, NULL) == TSL_OK,
           "%s is read", request);
    CHECKF(f.calls == 1 && f.kind == table[i].kind && !strcmp(f.text, table[i].text) &&
               !strcmp(f.pointer, table[i].pointer),
           "%s: kind %d, %s at %s", request, (int)f.kind, f.text, f.pointer);
    CHECKF(f.offset == table[i].offset && f.part == table[i].part && f.compact == table[i].compact,
           "%s: offset %zu", request, f.offset);
  }
  found none = {0};
  CHECK(tsl_request_read("{}", 2, NULL, NULL, keep, &none, NULL) == TSL_ERR_SCHEMA);
  CHECK(tsl_request_read("{", 1, NULL, NULL, keep, &none, NULL) == TSL_ERR_SYNTAX && !none.calls);
}

/* ---- tools ----------------------------------------------------------------------------------- */

static tsl_status compile_tools(const char *text, size_t length, tsl_grammar **out,
                                tsl_error *error) {
  const tsl_tools_options options = {.preset = "qwen3"};
  return tsl_grammar_tools(v, text, length, &options, NULL, out, error);
}

static void tools_are_checked(void) {
  refusal_table(compile_tools, "tests/cases/tools/errors.txt", 90);
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &v, NULL) != TSL_OK) return 1;
  RUN(accepted, "each place of a request constrains as its server says");
  RUN(read_only, "a request is read without a compile: kind, text, place");
  RUN(lazily, "a lazy grammar is what llama.cpp defines, text by text");
  RUN(long_lazy, "triggers of a long lazy grammar are bounded");
  RUN(refused, "what is wrong has its status, place and words");
  RUN(tools_are_checked, "each member of a request with tools: missing, or of another type");
  tsl_vocab_release(v);
  return tsl_test_end();
}
