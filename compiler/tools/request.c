/* request.c - tools, tool choice and response format out of a request's JSON. See tools.h.
 *
 * Problem   Every provider has its own JSON for tools. A server gets all of these. If it silently
 *           ignored a member, the model might call a tool with any arguments.
 * Idea      All shapes become one tsl__request: tools with a name and a schema, a choice, a format
 *           for the answer. An unknown member that could mean a constraint is an error, with its
 *           place.
 * Steps     {"tools": […], "tool_choice": {"type": "function", "function": {"name": "f"}}}:
 *           read_tools makes a tool of each item, whose names must differ. read_choice finds the
 *           name, which must be that of a tool. The others are dropped, and a call is required: the
 *           answer is exactly one call of f. find_format finds none, so no format is demanded.
 * Shapes    OpenAI chat completions
 *             - tools: [{"type": "function", "function": {"name", "parameters"}}]
 *             - tool_choice: "auto" | "none" | "required" |
 *               {"type": "function", "function": {"name"}} |
 *               {"type": "allowed_tools", "allowed_tools": {"mode", "tools"}}
 *             - response_format, parallel_tool_calls
 *             - the older form, one call at most: functions: [{"name", "parameters"}],
 *               function_call: "auto" | "none" | {"name"}
 *           OpenAI responses
 *             - tools: [{"type": "function", "name", "parameters"}], text: {"format": ...}
 *             - tool_choice: {"type": "function", "name"} |
 *               {"type": "allowed_tools", "mode", "tools"}
 *           Anthropic messages
 *             - tools: [{"name", "input_schema"}]
 *             - tool_choice: {"type": "auto" | "any" | "tool" | "none", "name",
 *               "disable_parallel_tool_use"}
 *           MCP tools/list
 *             - {"tools": [{"name", "inputSchema"}]}, also as the "result" of a JSON-RPC response
 *           An array of tools in any of these shapes
 * Schemas   "parameters": {"properties": {"n": {"type": "integer"}}} has no "type". The call's
 *           arguments are an object in any case, so only_objects writes the schema anew, with
 *           "type": "object" in front. A custom tool gets a schema of one string.
 * Names     A tool's name is what a preset writes between quotes or in a tag, so it has no space,
 *           quote, backslash, <, >, { or }. Two tools of one name are an error, as no answer could
 *           say which of them it calls.
 * Thinking  {"type": "enabled", "budget_tokens": 1000} bounds the tokens of thinking; "disabled"
 *           turns thinking off. Both are as in Anthropic's requests. "think": false of Ollama and
 *           "enable_thinking": false of vLLM turn it off as well.
 * Arguments are an object in all of them: a schema that does not say so is read as one that does.
 * Custom    Custom tools (OpenAI: "type": "custom") take one text. It is written as the only
 *           argument, a string with the name "input". The tool's regular expression is the string's
 *           pattern, or the tool's Lark grammar its grammar.
 * Formats   Structured outputs are found in response_format, text.format, output_format and
 *           output_config.format. A json_object may have a "schema", as llama.cpp's server,
 *           Together and Cohere have it. Members that constrain the text on other servers are an
 *           error, so no constraint is lost. The message says what to write here.
 * Errors    Tools that the provider itself runs (a "type" other than function or custom, and no
 *           schema): nothing says what their arguments look like. A tool whose schema stands under
 *           another name, or beside its "function".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "compiler/regex/regex.h"
#include "compiler/tools/tools.h"

static bool fail(tsl__tags *t, tsl_status status, const tsl__json *at, const char *what) {
  return tsl__tags_fail(t, status, at, "%s", what);
}

/* ---- tools ----------------------------------------------------------------------------------- */

/* {"type": "object", ...} for a text that matches `pattern` (NULL: any text); `lark`: that is a
 * grammar. */
static bool custom_schema(tsl__tags *t, const tsl__json *pattern, bool lark, tsl__tool *out) {
  static const char begin[] = "{\"type\":\"object\",\"properties\":{\"input\":{\"type\":\"string\"",
                    end[] = "}},\"required\":[\"input\"],\"additionalProperties\":false}";
  size_t n = sizeof begin - 1;
  char *text = tsl__tags_alloc(
      t, sizeof begin + sizeof end + 40 +
             (pattern ? tsl__json_put_escaped(NULL, pattern->text, pattern->length) : 0));
  if (!text) return false;
  memcpy(text, begin, n);
  if (pattern) {
    n += (size_t)snprintf(text + n, 24, ",\"pattern\":\"%s", lark ? "" : "^(?:");
    n += tsl__json_put_escaped(text + n, pattern->text, pattern->length);
    n += (size_t)snprintf(text + n, 8, "%s\"", lark ? "" : ")$");
  }
  memcpy(text + n, end, sizeof end);
  n += sizeof end - 1;
  tsl__json *schema;
  t->status = tsl__json_parse(&t->arena, &t->until, text, n, 64, &schema, t->error);
  if (t->status != TSL_OK) return false;
  if (lark) {
    tsl__json_member(tsl__json_member(tsl__json_member(schema, "properties"), "input"), "pattern")
        ->kind = TSL__JSON_GRAMMAR;
    text[0] = '!'; /* known by another text than the schema with that pattern */
  }
  out->parameters = schema;
  out->source = (tsl__string){text, (uint32_t)n};
  out->made_up = true;
  return true;
}

/* A tool that takes a text: {"format": {"type": "text"}}, or "grammar" with "syntax" and
 * "definition", in chat completions one level deeper. */
static bool read_custom(tsl__tags *t, const tsl__json *inner, tsl__tool *out) {
  const tsl__json *format = tsl__json_member(inner, "format"),
                  *type = tsl__json_member(format, "type"),
                  *grammar = tsl__json_member(format, "grammar");
  if (!format || format->kind == TSL__JSON_NULL || tsl__json_says(type, "text"))
    return custom_schema(t, NULL, false, out);
  if (!tsl__json_says(type, "grammar"))
    return fail(t, TSL_ERR_UNSUPPORTED, format, "the format of a custom tool is text or grammar");
  if (!grammar || grammar->kind != TSL__JSON_OBJECT) grammar = format;
  const tsl__json *syntax = tsl__json_member(grammar, "syntax"),
                  *definition = tsl__json_member(grammar, "definition");
  if (!tsl__json_says(syntax, "regex") && !tsl__json_says(syntax, "lark"))
    return fail(t, TSL_ERR_UNSUPPORTED, syntax ? syntax : grammar,
                "the \"syntax\" of a custom tool's grammar is \"lark\" or \"regex\"");
  if (!definition || definition->kind != TSL__JSON_STRING)
    return fail(t, TSL_ERR_SCHEMA, grammar, "the grammar's \"definition\" must stand here");
  out->at = definition;
  if (tsl__json_says(syntax, "lark")) return custom_schema(t, definition, true, out);
  /* by itself: what closes a group that it has not opened would leave the one around it */
  tsl_error error;
  tsl_status status =
      tsl__regex_check(t->arena.alloc, definition->text, definition->length, &error);
  if (status != TSL_OK)
    return tsl__tags_fail(t, status, definition, "in the definition, at byte %zu: %s", error.offset,
                          error.message);
  return custom_schema(t, definition, false, out);
}

/* A tool that the provider runs. */
static bool no_arguments(tsl__tags *t, const tsl__json *at, tsl__string name) {
  return tsl__tags_fail(
      t, TSL_ERR_UNSUPPORTED, at,
      "only function tools are supported: nothing here says which arguments \"%.*s\" "
      "has. Leave it out, or give it a \"name\" and \"parameters\"",
      tsl__shown(name.at, name.length, 60), name.at);
}

/* A tool without a name, in the shape of another API. */
static bool no_name(tsl__tags *t, const tsl__json *tool) {
  static const char *const wrappers[] = {"functionDeclarations", "function_declarations",
                                         "toolSpec"};
  for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
    const tsl__json *inner = tsl__json_member(tool, wrappers[i]);
    if (inner)
      return tsl__tags_fail(t, TSL_ERR_SCHEMA, inner,
                            "\"%s\" is another API's: here each tool is {\"name\": ..., "
                            "\"parameters\": ...}, an item of \"tools\" itself",
                            wrappers[i]);
  }
  const tsl__json *only = tool->length == 1 ? tool->items : NULL;
  if (only && only->kind == TSL__JSON_OBJECT && !tsl__string_is(tsl__json_key(only), "function"))
    return no_arguments(t, only, tsl__json_key(only));
  return fail(t, TSL_ERR_SCHEMA, tool,
              "a tool has a \"name\" that is not empty, at the tool or in its \"function\"");
}

static bool check_name(tsl__tags *t, const tsl__json *tool, const tsl__json *name) {
  if (!name || name->kind != TSL__JSON_STRING || !name->length) return no_name(t, tool);
  for (uint32_t i = 0; i < name->length; i++)
    if ((uint8_t)name->text[i] < 0x21 || strchr("\"\\<>{}", name->text[i]))
      return fail(t, TSL_ERR_SCHEMA, name,
                  "a tool's name has no spaces, quotes, backslashes, <, >, { or }");
  return true;
}

/* The type of a schema that no object satisfies. */
static bool no_object_type(tsl__tags *t, const tsl__json *type) {
  static const char *const others[] = {"string", "integer", "number", "boolean", "array", "null"};
  for (size_t i = 0; type->kind == TSL__JSON_STRING && i < sizeof others / sizeof *others; i++)
    if (tsl__json_says(type, others[i]))
      return tsl__tags_fail(
                 t, TSL_ERR_SCHEMA, type,
                 "the arguments of a tool are an object: \"type\" must be \"object\", not \"%s\"",
                 others[i]),
             true;
  return false;
}

/* Arguments are an object, whatever else the schema says of them. A schema without a "type" gets
 * it, in its place, and of several types that one is left. */
static bool only_objects(tsl__tags *t, tsl__tool *tool) {
  static const char words[] = "objecttype";
  tsl__json *schema = tool->parameters, *type = tsl__json_member(schema, "type"), *items;
  bool several = type && type->kind == TSL__JSON_ARRAY;
  if (schema->kind == TSL__JSON_TRUE) tool->parameters = NULL;
  if (schema->kind != TSL__JSON_OBJECT) return true;
  if (type && !several) return !tool->name.at || !no_object_type(t, type);
  for (uint32_t i = 0; several; i++) {
    if (i == type->length) return true;
    if (tsl__json_says(&type->items[i], "object")) break;
  }
  /* Known by another text than where it is no tool's. */
  char *source = tsl__tags_alloc(t, sizeof words + schema->end - schema->offset);
  items = tsl__tags_alloc(t, (schema->length + 1) * sizeof *items);
  if (!source || !items) return false;
  memcpy(source, words, sizeof words - 1);
  memcpy(source + sizeof words - 1, t->text + schema->offset, schema->end - schema->offset);
  tool->source = (tsl__string){source, (uint32_t)(sizeof words - 1 + schema->end - schema->offset)};
  if (!several) {
    for (uint32_t i = 0; i < schema->length; i++) items[i] = schema->items[i];
    type = &items[schema->length++];
    *type = (tsl__json){.key = words + 6, .key_length = 4, .offset = schema->offset};
    schema->items = items;
  }
  type->kind = TSL__JSON_STRING;
  type->text = words;
  type->length = 6;
  return true;
}

static bool is_member(const tsl__json *o, const tsl__json *m) {
  return m && m >= o->items && m < o->items + o->length;
}

/* A tool without a schema takes any object. What may have been meant for its schema ("parametres",
 * or "parameters" beside "function") is an error, as it would not hold. */
static bool no_other_schema(tsl__tags *t, const tsl__json *found, const tsl__json *other,
                            bool outside) {
  if (!other) return true;
  if (!found)
    return tsl__tags_fail(t, TSL_ERR_SCHEMA, other,
                          "a tool's schema is \"parameters\", \"input_schema\" or "
                          "\"inputSchema\"%s: is \"%.*s\" meant for it?",
                          outside ? " beside its name" : "",
                          tsl__shown(other->key, other->key_length, 60), other->key);
  return tsl__tags_fail(t, TSL_ERR_SCHEMA, other,
                        "a tool has one schema, and \"%.*s\" is not the same as \"%.*s\": leave "
                        "one of them out",
                        tsl__shown(other->key, other->key_length, 60), other->key,
                        tsl__shown(found->key, found->key_length, 60), found->key);
}

/* A tool of another type than "function": the provider runs it, or it is a schema. */
static bool no_schema(tsl__tags *t, const tsl__json *o, const tsl__json *type) {
  if (tsl__json_member(o, "properties") || tsl__json_says(type, "object"))
    return fail(
        t, TSL_ERR_SCHEMA, o,
        "this is a schema, not a tool: a tool is {\"name\": ..., \"parameters\": a schema}");
  return no_arguments(t, type, tsl__json_text(type));
}

static bool read_tool(tsl__tags *t, const tsl__json *o, tsl__tool *out) {
  const tsl__json *inner = tsl__json_member(o, "function"), *type = tsl__json_member(o, "type"),
                  *strict;
  if (o->kind != TSL__JSON_OBJECT)
    return fail(t, TSL_ERR_SCHEMA, o, "a tool is an object: {\"name\": ..., \"parameters\": ...}");
  if (!inner || inner->kind != TSL__JSON_OBJECT) inner = tsl__json_member(o, "custom");
  if (!inner || inner->kind != TSL__JSON_OBJECT) inner = o;
  const tsl__json *name = tsl__json_member(inner, "name");
  const tsl__json *other, *found = tsl__tool_schema(inner, o, &other);
  *out = (tsl__tool){.parameters = (tsl__json *)(uintptr_t)found, .at = o};
  if (type && !tsl__json_says(type, "function") && !tsl__json_says(type, "custom") &&
      !out->parameters)
    return no_schema(t, o, type);
  if (!check_name(t, o, name)) return false;
  strict = tsl__json_member(inner, "strict"); /* false: what is supported holds all the same */
  if (!strict) strict = tsl__json_member(o, "strict");
  if (strict && strict->kind != TSL__JSON_TRUE && strict->kind != TSL__JSON_FALSE &&
      strict->kind != TSL__JSON_NULL)
    return fail(t, TSL_ERR_SCHEMA, strict, "\"strict\" is true or false");
  out->loose = strict && strict->kind == TSL__JSON_FALSE;
  out->name = (tsl__string){name->text, name->length};
  if (!no_other_schema(t, found, other, inner != o && is_member(o, other))) return false;
  if (found) return only_objects(t, out);
  return !tsl__json_says(type, "custom") || read_custom(t, inner, out);
}

/* Do the names of all tools differ? Uses a hash table of indices + 1. */
static bool names_differ(tsl__tags *t, const tsl__json *list, const tsl__request *r) {
  uint32_t slots = 16;
  while (slots < r->count * 2) slots *= 2;
  uint32_t *table = tsl__tags_alloc(t, slots * sizeof *table);
  for (uint32_t i = 0; table && i < r->count; i++) {
    const tsl__string name = r->tools[i].name;
    uint32_t slot = (uint32_t)tsl__hash(name.at, name.length) & (slots - 1);
    for (; table[slot]; slot = (slot + 1) & (slots - 1))
      if (tsl__string_equal(r->tools[table[slot] - 1].name, name))
        return fail(t, TSL_ERR_SCHEMA, &list->items[i], "two tools have the same name");
    table[slot] = i + 1;
  }
  return table != NULL;
}

static bool read_tools(tsl__tags *t, const tsl__json *o, tsl__request *r) {
  const tsl__json *list = o->kind == TSL__JSON_ARRAY ? o : tsl__tools_present(o, "tools"),
                  *functions = tsl__tools_present(o, "functions");
  if (list && functions)
    return fail(t, TSL_ERR_SCHEMA, functions,
                "\"functions\" are what \"tools\" were before: a request has one of them");
  if (!list) list = functions;
  if (!list) return true;
  if (list->kind != TSL__JSON_ARRAY)
    return fail(t, TSL_ERR_SCHEMA, list,
                functions ? "\"functions\" must be an array" : "\"tools\" must be an array");
  r->tools = tsl__tags_alloc(t, (list->length + 1) * sizeof *r->tools);
  if (!r->tools) return false;
  for (uint32_t i = 0; i < list->length; i++)
    if (!read_tool(t, &list->items[i], &r->tools[i])) return false;
  r->count = list->length;
  return names_differ(t, list, r);
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* Keep the tools with these names. */
static bool keep(tsl__tags *t, tsl__request *r, const tsl__json *at, const tsl__string *names,
                 uint32_t n) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n; i++) {
    bool found = false;
    for (uint32_t k = 0; k < r->count && !found; k++)
      found = tsl__string_equal(r->tools[k].name, names[i]);
    if (!found)
      return tsl__tags_fail(t, TSL_ERR_ARGUMENT, at, "there is no tool \"%.*s\"",
                            tsl__shown(names[i].at, names[i].length, 100), names[i].at);
  }
  for (uint32_t k = 0; k < r->count; k++)
    for (uint32_t i = 0; i < n; i++)
      if (tsl__string_equal(r->tools[k].name, names[i])) {
        r->tools[kept++] = r->tools[k];
        break;
      }
  r->count = kept;
  return true;
}

static bool force(tsl__tags *t, tsl__request *r, const tsl__json *at, tsl__string name) {
  r->choice = TSL__CHOICE_REQUIRED;
  r->forced = true;
  return keep(t, r, at, &name, 1);
}

static bool choose_word(tsl__tags *t, tsl__request *r, const tsl__json *at, const char *word,
                        size_t n) {
  if (n == 4 && !memcmp(word, "auto", 4))
    r->choice = TSL__CHOICE_AUTO;
  else if (n == 4 && !memcmp(word, "none", 4))
    r->choice = TSL__CHOICE_NONE;
  else if ((n == 8 && !memcmp(word, "required", 8)) || (n == 3 && !memcmp(word, "any", 3)))
    r->choice = TSL__CHOICE_REQUIRED;
  else
    return at ? fail(t, TSL_ERR_SCHEMA, at,
                     "\"tool_choice\" is auto, none, required, any or an object that names a tool: "
                     "{\"type\": \"function\", \"function\": {\"name\": ...}}")
              : force(t, r, NULL, (tsl__string){word, (uint32_t)n});
  return true;
}

/* A name, at the object or in its "function". */
static bool name_of(tsl__tags *t, const tsl__json *o, tsl__string *out) {
  const tsl__json *inner = tsl__json_member(o, "function") ? tsl__json_member(o, "function")
                                                           : tsl__json_member(o, "custom"),
                  *name = tsl__json_member(inner && inner->kind == TSL__JSON_OBJECT ? inner : o,
                                           "name");
  if (!name || name->kind != TSL__JSON_STRING)
    return fail(t, TSL_ERR_SCHEMA, o, "a tool's \"name\" must stand here");
  *out = (tsl__string){name->text, name->length};
  return true;
}

static bool choose_allowed(tsl__tags *t, tsl__request *r, const tsl__json *choice) {
  const tsl__json *inner = tsl__json_member(choice, "allowed_tools"), *o = inner ? inner : choice,
                  *mode = tsl__json_member(o, "mode"), *list = tsl__json_member(o, "tools");
  if (!list || list->kind != TSL__JSON_ARRAY)
    return fail(t, TSL_ERR_SCHEMA, o, "\"tools\" must be an array");
  tsl__string *names = tsl__tags_alloc(t, (list->length + 1) * sizeof *names);
  for (uint32_t i = 0; names && i < list->length; i++)
    if (!name_of(t, &list->items[i], &names[i])) return false;
  if (!names || !keep(t, r, list, names, list->length)) return false;
  if (!list->length)
    return fail(t, TSL_ERR_SCHEMA, list,
                "no tool is allowed: \"tool_choice\": \"none\" asks for an answer without calls");
  return tsl__json_says(mode, "auto") || tsl__json_says(mode, "required")
             ? choose_word(t, r, mode, mode->text, mode->length)
             : fail(t, TSL_ERR_SCHEMA, mode ? mode : o, "\"mode\" is auto or required");
}

static bool read_choice(tsl__tags *t, const tsl__json *choice, tsl__request *r) {
  tsl__string name;
  if (tsl__json_says(choice, "REQUIRED"))
    return choose_word(t, r, choice, "required", 8); /* Cohere's */
  if (tsl__json_says(choice, "NONE")) return choose_word(t, r, choice, "none", 4);
  if (choice->kind == TSL__JSON_STRING)
    return choose_word(t, r, choice, choice->text, choice->length);
  const tsl__json *type =
                      choice->kind == TSL__JSON_OBJECT ? tsl__json_member(choice, "type") : NULL,
                  *serial;
  if (!type || type->kind != TSL__JSON_STRING)
    return fail(t, TSL_ERR_SCHEMA, choice,
                "\"tool_choice\" is a word or an object with a \"type\"");
  serial = tsl__tools_present(choice, "disable_parallel_tool_use");
  if (serial && serial->kind != TSL__JSON_TRUE && serial->kind != TSL__JSON_FALSE)
    return fail(t, TSL_ERR_SCHEMA, serial, "\"disable_parallel_tool_use\" is true or false");
  if (serial && serial->kind == TSL__JSON_TRUE) r->parallel = false;
  if (tsl__json_says(type, "allowed_tools")) return choose_allowed(t, r, choice);
  if (tsl__json_says(type, "function") || tsl__json_says(type, "tool") ||
      tsl__json_says(type, "custom"))
    return name_of(t, choice, &name) && force(t, r, choice, name);
  return choose_word(t, r, type, type->text, type->length);
}

/* Read function_call, the older form of tool_choice. */
static bool read_function_call(tsl__tags *t, const tsl__json *choice, tsl__request *r) {
  tsl__string name;
  if (!choice) return true;
  if (choice->kind == TSL__JSON_OBJECT)
    return name_of(t, choice, &name) && force(t, r, choice, name);
  if (!tsl__json_says(choice, "auto") && !tsl__json_says(choice, "none"))
    return fail(t, TSL_ERR_SCHEMA, choice,
                "\"function_call\" is auto, none or an object that names a function");
  return choose_word(t, r, choice, choice->text, choice->length);
}

/* ---- the response format --------------------------------------------------------------------- */

/* A JSON object: any, or what a schema says of it, which other servers take here, too. */
static bool read_object(tsl__tags *t, const tsl__json *schema, tsl__tag *n) {
  static const char any_object[] = "{\"type\":\"object\"}";
  tsl__tool object = {.parameters = (tsl__json *)(uintptr_t)schema};
  if (schema && !only_objects(t, &object)) return false;
  n->schema = object.parameters;
  n->source = object.source;
  if (n->schema) return true;
  t->status =
      tsl__json_parse(&t->arena, NULL, any_object, sizeof any_object - 1, 8, &n->schema, t->error);
  n->source = (tsl__string){any_object, sizeof any_object - 1};
  n->detached = true;
  return t->status == TSL_OK;
}

static bool read_format(tsl__tags *t, const tsl__json *format, tsl__request *r) {
  const tsl__json *type = tsl__json_member(format, "type"), *other;
  if (!format) return true;
  if (tsl__json_says(type, "structural_tag"))
    return (r->content = tsl__tags_read(t, format)) != NULL;
  const tsl__json *schema = tsl__format_schema(format, &other);
  if (other) return fail(t, TSL_ERR_SCHEMA, other, TSL__OTHER_SCHEMA);
  tsl__tag *n = tsl__tags_node(t, TSL__TAG_SCHEMA, format);
  if (!n) return false;
  if (tsl__json_says(type, "json_object")) {
    if (!read_object(t, schema, n)) return false;
  } else if (tsl__json_says(type, "json_schema")) {
    n->schema = (tsl__json *)(uintptr_t)schema;
    if (!n->schema) return fail(t, TSL_ERR_SCHEMA, format, "the response format has no \"schema\"");
  } else {
    return fail(t, TSL_ERR_UNSUPPORTED, format, TSL__NO_FORMAT);
  }
  r->content = n;
  return true;
}

/* The format that is requested, wherever; {"type": "text"} asks for none. NULL: none. */
static bool find_format(tsl__tags *t, const tsl__json *o, const tsl__json **out) {
  static const struct {
    const char *outer, *key;
  } places[] = {{NULL, "response_format"},
                {"text", "format"},
                {NULL, "output_format"},
                {"output_config", "format"}};
  const tsl__json *other;
  *out = NULL;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    const tsl__json *in = places[i].outer ? tsl__tools_present(o, places[i].outer) : o,
                    *format = in && in->kind == TSL__JSON_OBJECT
                                  ? tsl__tools_present(in, places[i].key)
                                  : NULL;
    if (!format) continue;
    if (tsl__json_says(tsl__json_member(format, "type"), "text")) {
      tsl__format_schema(format, &other);
      if (other) return fail(t, TSL_ERR_SCHEMA, other, TSL__OTHER_SCHEMA);
      continue;
    }
    if (*out)
      return fail(t, TSL_ERR_SCHEMA, format,
                  "an answer has one format, and another one is requested already");
    *out = format;
  }
  return true;
}

/* What constrains the text where other servers read it (vLLM, SGLang, llama.cpp, Ollama) is an
 * error; null and "" ask for nothing. */
static bool no_other_format(tsl__tags *t, const tsl__json *o) {
  static const char schema[] = "json_schema\", \"json_schema\": {\"schema\": ...}}",
                    tag[] = "structural_tag\", \"format\": ...}";
  static const struct {
    const char *key, *instead;
  } others[] = {
      {"guided_json", schema},
      {"guided_regex", tag},
      {"guided_choice", tag},
      {"guided_grammar", tag},
      {"structured_outputs", tag},
      {"json_schema", schema},
      {"grammar", tag},
      {"regex", tag},
      {"ebnf", tag},
      {"structural_tag", tag},
      {"format", schema},
  };
  const tsl__json *wrapped = tsl__wrapped_constraint(o);
  if (wrapped)
    return fail(t, TSL_ERR_UNSUPPORTED, wrapped,
                "this member of \"sampling_params\" is SGLang's: here it is \"response_format\"");
  const tsl__json *white = tsl__tools_present(o, "guided_whitespace_pattern");
  if (white) return fail(t, TSL_ERR_UNSUPPORTED, white, TSL__NO_WHITE_SPACE_PATTERN);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    const tsl__json *other = tsl__tools_present(o, others[i].key);
    if (other && (other->kind != TSL__JSON_STRING || other->length))
      return tsl__tags_fail(
          t, TSL_ERR_UNSUPPORTED, other,
          "\"%s\" is another server's: here it is \"response_format\": {\"type\": \"%s",
          others[i].key, others[i].instead);
  }
  return true;
}

/* ---- thinking -------------------------------------------------------------------------------- */

static bool says_no(const tsl__json *o, const char *key) {
  const tsl__json *v = tsl__tools_present(o, key);
  return v && v->kind == TSL__JSON_FALSE;
}

/* Other ways to turn thinking off: Ollama's "think", Alibaba's "enable_thinking", and what vLLM and
 * SGLang hand to the template. */
static bool is_off(const tsl__json *o) {
  const tsl__json *of = tsl__tools_present(o, "chat_template_kwargs");
  return says_no(o, "think") || says_no(o, "enable_thinking") || says_no(of, "enable_thinking") ||
         says_no(of, "thinking");
}

/* {"type": "enabled", "budget_tokens": N}, with Cohere "token_budget", or {"type": "disabled"}. */
static bool read_thinking(tsl__tags *t, const tsl__json *o, tsl__request *r) {
  static const char *const budgets[] = {"budget_tokens", "token_budget"};
  const tsl__json *thinking = tsl__tools_present(o, "thinking"),
                  *type = tsl__json_member(thinking, "type"), *budget = NULL;
  r->no_thinking = is_off(o) || tsl__json_says(type, "disabled");
  if (!thinking) return true;
  if (!tsl__json_says(type, "enabled") && !tsl__json_says(type, "disabled") &&
      !tsl__json_says(type, "adaptive") && !tsl__json_says(type, "auto"))
    return fail(t, TSL_ERR_SCHEMA, type ? type : thinking,
                "\"thinking\" has the \"type\" enabled, adaptive, auto or disabled: {\"type\": "
                "\"enabled\", \"budget_tokens\": 1000}");
  for (size_t i = 0; i < sizeof budgets / sizeof *budgets && !budget; i++)
    budget = tsl__tools_present(thinking, budgets[i]);
  if (!budget || r->no_thinking) return true;
  return (tsl__json_count(budget, &r->max_thinking) && r->max_thinking) ||
         fail(t, TSL_ERR_SCHEMA, budget, "\"budget_tokens\" is a number of tokens, at least 1");
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Has an object any member of a request? Nothing at all is a request without tools. */
static bool is_request(const tsl__json *o) {
  static const char *const known[] = {
      "tools",           "functions", "tool_choice",   "function_call", "parallel_tool_calls",
      "response_format", "text",      "output_format", "output_config", "thinking",
      "messages",        "input",     "model",         "result"};
  bool found = o->kind == TSL__JSON_ARRAY || !o->length;
  for (size_t i = 0; i < sizeof known / sizeof *known && !found; i++)
    found = tsl__json_member(o, known[i]) != NULL;
  return found;
}

static bool no_request(tsl__tags *t, const tsl__json *o) {
  static const char *const schemas[] = {"parameters", "input_schema", "inputSchema", "function"};
  bool tool = false;
  for (size_t i = 0; i < sizeof schemas / sizeof *schemas && !tool; i++)
    tool = tsl__json_member(o, schemas[i]) != NULL;
  return fail(
      t, TSL_ERR_SCHEMA, o,
      tool ? "this is one tool, not a request: a request has a list of them, {\"tools\": [...]}"
           : "this is no request: it has neither \"tools\", \"functions\" nor \"response_format\"");
}

bool tsl__tools_request(tsl__tags *t, const tsl_tools_options *options, tsl__request *r) {
  const tsl__json *o = t->root, *result = tsl__json_member(o, "result"), *format,
                  *parallel = tsl__json_member(o, "parallel_tool_calls");
  *r = (tsl__request){.parallel = true};
  if (o->kind != TSL__JSON_OBJECT && o->kind != TSL__JSON_ARRAY)
    return fail(t, TSL_ERR_SCHEMA, o, "a request is an object, or an array of tools");
  const char *what;
  const tsl__json *foreign = tsl__foreign_member(o, &what);
  if (foreign) return fail(t, TSL_ERR_UNSUPPORTED, foreign, what);
  if (!is_request(o)) return no_request(t, o);
  if (result && result->kind == TSL__JSON_OBJECT && !tsl__json_member(o, "tools")) o = result;
  const tsl__json *choice = tsl__tools_present(o, "tool_choice");
  if (!no_other_format(t, o)) return false;
  if (tsl__tools_present(o, "functions")) r->parallel = false;
  if (parallel && parallel->kind != TSL__JSON_NULL) {
    if (parallel->kind != TSL__JSON_TRUE && parallel->kind != TSL__JSON_FALSE)
      return fail(t, TSL_ERR_SCHEMA, parallel, "\"parallel_tool_calls\" is true or false");
    r->parallel = parallel->kind == TSL__JSON_TRUE;
  }
  if (!read_tools(t, o, r)) return false;
  if (!options->tool_choice &&
      !(choice ? read_choice(t, choice, r)
               : read_function_call(t, tsl__tools_present(o, "function_call"), r)))
    return false;
  if (options->tool_choice &&
      !choose_word(t, r, NULL, options->tool_choice, strlen(options->tool_choice)))
    return false;
  if (options->parallel) r->parallel = options->parallel > 0;
  if (!find_format(t, o, &format) || !read_format(t, format, r) || !read_thinking(t, o, r))
    return false;
  if (r->choice == TSL__CHOICE_REQUIRED && !r->count)
    return fail(t, TSL_ERR_ARGUMENT, o, "a call is required, and there are no tools");
  if (r->choice == TSL__CHOICE_NONE) r->count = 0;
  return true;
}
