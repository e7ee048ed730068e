/* foreign.c - members of a request that another API reads, and nobody here. See tools.h.
 *
 * Problem   {"generationConfig": {"responseSchema": ...}} is Gemini's way to ask for JSON, and
 *           "toolConfig" is where Gemini and Bedrock choose tools. If such a member were passed
 *           over, the answer would not be constrained, and nobody would know.
 * Idea      A table of these members, each with what to write here. The first one that is there is
 *           an error with its place.
 * Wrapped   OpenAI's clients send the members of "extra_body" as members of the request. A logged
 *           call may still have them inside. So may SGLang's "sampling_params".
 * Example   {"toolConfig": {"toolChoice": {"any": {}}}}: /toolConfig, "tool_choice" is meant
 * Tested by tests/programs/test_request_table.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "compiler/tools/tools.h"

#define FORMAT "here it is \"response_format\": {\"type\": "
#define GEMINI_SCHEMA \
  "this is Gemini's: " FORMAT "\"json_schema\", \"json_schema\": {\"schema\": ...}}"
#define TOOLS "this is another API's: here it is \"tools\" and \"tool_choice\" of the request"

typedef struct foreign {
  const char *outer, *key, *what; /* outer: NULL: a member of the request itself */
} foreign;

static const foreign table[] = {
    {"generationConfig", "responseSchema", GEMINI_SCHEMA},
    {"generationConfig", "responseJsonSchema", GEMINI_SCHEMA},
    {"generation_config", "response_schema", GEMINI_SCHEMA},
    {"generation_config", "response_json_schema", GEMINI_SCHEMA},
    {"config", "response_schema", GEMINI_SCHEMA},
    {"config", "response_json_schema", GEMINI_SCHEMA},
    {NULL, "responseSchema", GEMINI_SCHEMA},
    {NULL, "responseJsonSchema", GEMINI_SCHEMA},
    {NULL, "response_schema", GEMINI_SCHEMA},
    {NULL, "response_json_schema", GEMINI_SCHEMA},
    {"generationConfig", "responseMimeType", "this is Gemini's: " FORMAT "\"json_object\"}"},
    {"generation_config", "response_mime_type", "this is Gemini's: " FORMAT "\"json_object\"}"},
    {"outputConfig", "textFormat",
     "this is Bedrock's: " FORMAT "\"json_schema\", \"json_schema\": {\"schema\": ...}}"},
    {NULL, "toolConfig", TOOLS},
    {NULL, "tool_config", TOOLS},
};

static bool is_plain_text(const tsl__json *m) { return tsl__json_says(m, "text/plain"); }

/* A member of `o` that constrains the text where a server reads it. */
static const tsl__json *constraint_in(const tsl__json *o) {
  static const char *const keys[] = {"guided_json",     "guided_regex", "guided_choice",
                                     "guided_grammar",  "json_schema",  "structured_outputs",
                                     "response_format", "regex",        "ebnf",
                                     "structural_tag",  "grammar"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const tsl__json *m = tsl__tools_present(o, keys[i]);
    if (m && (m->kind != TSL__JSON_STRING || m->length)) return m;
  }
  return NULL;
}

const tsl__json *tsl__foreign_member(const tsl__json *o, const char **what) {
  if (o->kind != TSL__JSON_OBJECT) return NULL;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const tsl__json *in = table[i].outer ? tsl__tools_present(o, table[i].outer) : o,
                    *m = in ? tsl__tools_present(in, table[i].key) : NULL;
    bool asks = m && !is_plain_text(m) && (m->kind != TSL__JSON_OBJECT || m->length);
    *what = table[i].what;
    if (asks) return m;
  }
  *what = "this is a member of \"extra_body\", which clients make a member of the request itself";
  return constraint_in(tsl__tools_present(o, "extra_body"));
}

const tsl__json *tsl__wrapped_constraint(const tsl__json *o) {
  return constraint_in(tsl__tools_present(o, "sampling_params"));
}
