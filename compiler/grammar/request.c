/* request.c - the grammar of what a request to a server constrains its answer to.
 *
 * Problem   Each server has members of its own that say what an answer must be: a schema, a regular
 *           expression, a grammar, a list of texts. A host that proxies requests, or replays them,
 *           has the request and wants its grammar.
 * Idea      A table of places, each with the kind of constraint that stands there. One place of a
 *           request is in use, or it is an error that names two. A schema is compiled from its
 *           bytes in the request, a text from the string's characters.
 * Example   {"structured_outputs": {"choice": ["yes", "no"]}}: the place is
 *           /structured_outputs/choice, the kind CHOICE, and the grammar accepts yes and no.
 * Errors    Those of the compile call, with the pointer into the request. In a schema offset, line
 *           and column are those of the request as well. Of a text they are those of its string,
 *           and the message has the line and column inside of it.
 * Two steps tsl_request_read finds the constraint and hands over its kind, text and place.
 *           tsl_grammar_request compiles it then. A host with a cache or options of its own takes
 *           the first step alone, and moves the error of its compile by tsl_request_place.
 * Lazy      llama.cpp's grammar_lazy: free text, until it spells one of the words in
 *           grammar_triggers; from that word on the grammar holds. This becomes a structural tag: a
 *           dispatch, whose rule for each word is the rest of the grammar after the word.
 * Refused   Tools, because a preset is needed (tsl_grammar_tools); triggers that are patterns,
 *           because they may match again in every longer text.
 * Cost      Reading the request, and that of the compile call.
 * Tested by tests/grammar/test_request.c, tests/cli/test_cli_commands.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "compiler/grammar/source.h"
#include "compiler/json/json.h"
#include "compiler/json/measured.h"
#include "compiler/tools/tools.h"
#include "runtime/matcher/grammar.h"

/* What may stand at a place. A string at the place of a schema or a tag holds its JSON, as some
 * clients send it. */
typedef enum constraint {
  SCHEMA, /* JSON; or a string that holds it */
  ANY_OBJECT,
  OBJECT, /* a schema of an object, whether or not it says so */
  REGEX,
  CHOICE,
  EITHER, /* EBNF where the text has ::=, else Lark */
  GBNF,
  EBNF,
  TAGS
} constraint;

typedef struct reader {
  const char *body;
  size_t length;
  tsl__arena arena;
  const tsl__json *root;
  const tsl__json *found; /* NULL: nothing constrains so far */
  constraint kind;
  bool compact; /* no white space in JSON */
  bool lazy;    /* the grammar holds from a trigger on */
  tsl_error *error;
  tsl_status status;
} reader;

/* ---- errors ---------------------------------------------------------------------------------- */

static bool fail(reader *r, tsl_status status, const tsl__json *at, const char *what) {
  char pointer[256];
  if (r->status != TSL_OK) return false;
  r->status = tsl__fail_at(r->error, status, r->body, r->length, at ? at->offset : 0, "%s", what);
  if (at && r->error && tsl__json_pointer(r->root, at, pointer, sizeof pointer) != SIZE_MAX)
    tsl__error_pointer(r->error, pointer, strlen(pointer));
  return false;
}

void tsl_request_place(const char *request, size_t length, const tsl_request_source *source,
                       tsl_error *error) {
  const tsl_error inner = *error;
  char whole[2 * sizeof inner.pointer];
  size_t at = source->offset + (source->part ? inner.offset : 0);
  const size_t end = strlen(source->pointer), name = strlen("/grammar");
  /* no grammar has pointers: it is one into the structural tag that was made of a lazy one */
  const bool made =
      inner.pointer[0] && end >= name && !strcmp(source->pointer + end - name, "/grammar");
  if (source->part || made || !inner.line)
    tsl__fail_at(error, inner.status, request, length, at, "%s", inner.message);
  else
    tsl__fail_at(error, inner.status, request, length, at, "in this text, line %u, column %u: %s",
                 inner.line, inner.column, inner.message);
  snprintf(whole, sizeof whole, "%s%s", source->pointer, made ? "" : inner.pointer);
  tsl__error_pointer(error, whole, strlen(whole));
}

/* ---- where constraints stand ----------------------------------------------------------------- */

/* The value, if it asks for something: null, false and "" do not. */
static const tsl__json *asking(const tsl__json *v) {
  if (!v || v->kind == TSL__JSON_NULL || v->kind == TSL__JSON_FALSE) return NULL;
  return v->kind == TSL__JSON_STRING && !v->length ? NULL : v;
}

static const tsl__json *member(const tsl__json *o, const char *key) {
  return asking(tsl__json_member(o, key));
}

static bool has_key(const tsl__json *m, const char *key) {
  return tsl__string_is(tsl__json_key(m), key);
}

static bool add(reader *r, constraint kind, const tsl__json *value) {
  char first[256], second[256], text[600];
  if (!value) return r->status == TSL_OK;
  if (!r->found) {
    r->found = value;
    r->kind = kind;
    return true;
  }
  tsl__json_pointer(r->root, r->found, first, sizeof first);
  tsl__json_pointer(r->root, value, second, sizeof second);
  snprintf(text, sizeof text, "a request has one constraint, and this one has two: %s and %s",
           first, second);
  return fail(r, TSL_ERR_SCHEMA, value, text);
}

/* OpenAI's response_format, and `format` of the Responses API. */
static bool add_format(reader *r, const tsl__json *format) {
  if (!format) return true;
  const tsl__json *type = member(format, "type"), *named = member(format, "json_schema"), *other;
  if (tsl__json_says(type, "structural_tag")) return add(r, TAGS, format);
  const tsl__json *schema = tsl__format_schema(format, &other);
  if (other) return fail(r, TSL_ERR_SCHEMA, other, TSL__OTHER_SCHEMA);
  if (tsl__json_says(type, "text")) return true;
  if (tsl__json_says(type, "json_object"))
    return add(r, schema ? OBJECT : ANY_OBJECT, schema ? schema : format);
  if (!tsl__json_says(type, "json_schema"))
    return fail(r, TSL_ERR_UNSUPPORTED, type ? type : format, TSL__NO_FORMAT);
  return schema ? add(r, SCHEMA, schema)
                : fail(r, TSL_ERR_SCHEMA, named ? named : format, "a \"schema\" must stand here");
}

typedef struct place {
  const char *name;
  constraint kind;
} place;

/* vLLM's structured_outputs. */
static bool add_structured(reader *r, const tsl__json *o) {
  static const place kinds[] = {{"json", SCHEMA},         {"regex", REGEX},
                                {"choice", CHOICE},       {"grammar", EITHER},
                                {"structural_tag", TAGS}, {"json_object", ANY_OBJECT}};
  /* these have no bearing on which texts there are */
  static const char *const others[] = {"disable_fallback", "backend", "backend_was_auto",
                                       "disable_any_whitespace"};
  if (!o) return true;
  if (o->kind != TSL__JSON_OBJECT)
    return fail(r, TSL_ERR_SCHEMA, o, "\"structured_outputs\" is an object");
  for (uint32_t i = 0; i < o->length; i++) {
    const tsl__json *m = &o->items[i];
    bool known = false;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      if (!has_key(m, kinds[k].name)) continue;
      known = true;
      if (!add(r, kinds[k].kind, asking(m))) return false;
    }
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) known |= has_key(m, others[k]);
    if (has_key(m, "whitespace_pattern") && asking(m))
      return fail(r, TSL_ERR_UNSUPPORTED, m, TSL__NO_WHITE_SPACE_PATTERN);
    if (!known && asking(m))
      return fail(
          r, TSL_ERR_UNSUPPORTED, m,
          has_key(m, "disable_additional_properties")
              ? "write \"additionalProperties\": false into the schema in place of this member"
              : "structured_outputs has json, regex, choice, grammar, structural_tag or "
                "json_object");
  }
  r->compact = member(o, "disable_any_whitespace") != NULL;
  return true;
}

/* `own`: of SGLang and llama.cpp, where {} is a default and asks for nothing. */
static bool add_places(reader *r, const tsl__json *o, const place *places, size_t count, bool own) {
  for (size_t i = 0; i < count; i++) {
    const tsl__json *m = member(o, places[i].name);
    bool nothing = own && m && m->kind == TSL__JSON_OBJECT && !m->length;
    if (!nothing && !add(r, places[i].kind, m)) return false;
  }
  return true;
}

/* Ollama's: the word json, or a schema. */
static bool add_ollama(reader *r, const tsl__json *format) {
  if (!format) return true;
  if (tsl__json_says(format, "json")) return add(r, ANY_OBJECT, format);
  return format->kind == TSL__JSON_OBJECT
             ? add(r, SCHEMA, format)
             : fail(r, TSL_ERR_SCHEMA, format, "\"format\" is \"json\" or a schema");
}

/* Tools that the model may call. */
static const tsl__json *tools_of(const tsl__json *o) {
  const tsl__json *tools = member(o, "tools"), *functions = member(o, "functions");
  if (tools && tools->length && !tsl__json_says(member(o, "tool_choice"), "none")) return tools;
  return functions && functions->length && !tsl__json_says(member(o, "function_call"), "none") &&
                 !tsl__json_says(member(o, "tool_choice"), "none")
             ? functions
             : NULL;
}

/* Looks at every place, those of other servers too. So a request that two servers would read in
 * two ways is an error, and no part of it is passed over. */
static bool find(reader *r) {
  static const place older[] = {{"guided_json", SCHEMA},
                                {"guided_regex", REGEX},
                                {"guided_choice", CHOICE},
                                {"guided_grammar", EITHER}},
                     own[] = {{"json_schema", SCHEMA},
                              {"regex", REGEX},
                              {"ebnf", EBNF},
                              {"grammar", GBNF},
                              {"structural_tag", TAGS}};
  const tsl__json *o = r->root, *tools = tools_of(o), *foreign;
  const char *what;
  if (o->kind != TSL__JSON_OBJECT) return fail(r, TSL_ERR_SCHEMA, o, "a request is an object");
  if ((foreign = tsl__foreign_member(o, &what))) return fail(r, TSL_ERR_UNSUPPORTED, foreign, what);
  if (tools)
    return fail(r, TSL_ERR_UNSUPPORTED, tools,
                "tools need the format of a model's calls: compile the request with a preset "
                "(tsl_grammar_tools, Grammar.tools, turnstile tools)");
  const tsl__json *white = member(o, "guided_whitespace_pattern");
  if (white) return fail(r, TSL_ERR_UNSUPPORTED, white, TSL__NO_WHITE_SPACE_PATTERN);
  if (!add_format(r, member(o, "response_format")) ||
      !add_format(r, member(member(o, "text"), "format")) ||
      !add_format(r, member(o, "output_format")) ||
      !add_format(r, member(member(o, "output_config"), "format")) ||
      !add_ollama(r, member(o, "format")) || !add_structured(r, member(o, "structured_outputs")) ||
      !add_places(r, o, older, sizeof older / sizeof *older, false) ||
      !add_places(r, o, own, sizeof own / sizeof *own, true) ||
      !add_places(r, member(o, "sampling_params"), own, sizeof own / sizeof *own, true))
    return false;
  const tsl__json *lazy = member(o, "grammar_lazy");
  if (lazy && r->found && r->found != member(o, "grammar"))
    return fail(r, TSL_ERR_UNSUPPORTED, lazy, "grammar_lazy goes with \"grammar\" alone");
  r->lazy = lazy && r->found;
  return r->found ||
         fail(r, TSL_ERR_SCHEMA, o,
              "the request constrains nothing: it has none of response_format, text.format, "
              "output_format, output_config.format, format, structured_outputs, json_schema, "
              "regex, ebnf, grammar and structural_tag");
}

/* ---- its text -------------------------------------------------------------------------------- */

/* The texts of a list, as the alternatives of a regular expression. */
static bool write_choice(reader *r, tsl__string *out) {
  const tsl__json *list = r->found;
  size_t n = 0, room = 1;
  if (list->kind != TSL__JSON_ARRAY || !list->length)
    return fail(r, TSL_ERR_SCHEMA, list, "a choice is a list of texts");
  for (uint32_t i = 0; i < list->length; i++) {
    if (list->items[i].kind != TSL__JSON_STRING)
      return fail(r, TSL_ERR_SCHEMA, &list->items[i], "a choice is a list of texts");
    room += (size_t)list->items[i].length * 2 + 1;
  }
  char *text = tsl__arena_alloc(&r->arena, room);
  if (!text) return fail(r, TSL_ERR_NO_MEMORY, NULL, "out of memory");
  for (uint32_t i = 0; i < list->length; i++) {
    if (i) text[n++] = '|';
    for (uint32_t k = 0; k < list->items[i].length; k++) {
      char c = list->items[i].text[k];
      if (c && strchr("\\^$.|?*+()[]{}/", c)) text[n++] = '\\';
      text[n++] = c;
    }
  }
  *out = (tsl__string){text, (uint32_t)n};
  return n < UINT32_MAX || fail(r, TSL_ERR_LIMIT, list, "the texts of the choice are too long");
}

/* ---- a grammar that begins at a trigger ------------------------------------------------------ */

#define LAZY_MAX ((size_t)64 << 20) /* bytes of a lazy grammar's structural tag */

/* The string as the request spells it, its quotes included. */
static void put_spelled(tsl__measured *g, const reader *r, const tsl__json *string) {
  size_t end = string->offset + 1;
  while (r->body[end] != '"') end += r->body[end] == '\\' ? 2 : 1;
  tsl__measured_put(g, r->body + string->offset, end + 1 - string->offset);
}

/* The text that a trigger begins with. llama.cpp's types: 0 a token, beside its text; 1 a word; 2
 * and 3 patterns. */
static const tsl__json *word_of(reader *r, const tsl__json *trigger) {
  const tsl__json *type = tsl__json_member(trigger, "type"),
                  *value = tsl__json_member(trigger, "value");
  const bool number = type && type->kind == TSL__JSON_NUMBER && type->length == 1;
  if (!number || !value || value->kind != TSL__JSON_STRING)
    fail(r, TSL_ERR_SCHEMA, trigger, "a trigger is {\"type\": 0 or 1, \"value\": a word}");
  else if (type->text[0] != '0' && type->text[0] != '1')
    fail(r, TSL_ERR_UNSUPPORTED, type,
         "a trigger is a word (\"type\" 0 or 1): patterns are not supported");
  else if (!value->length)
    fail(r, TSL_ERR_SCHEMA, value, "the word of a trigger is not empty");
  return r->status == TSL_OK ? value : NULL;
}

static bool write_lazy(reader *r, const tsl__json *triggers, tsl__measured *g) {
  tsl__measured_word(g, "{\"type\":\"dispatch\",\"loop\":false,\"rules\":[");
  for (uint32_t i = 0; i < triggers->length && g->n <= LAZY_MAX; i++) {
    const tsl__json *word = word_of(r, &triggers->items[i]);
    if (!word) return false;
    tsl__measured_word(g, i ? ",[" : "[");
    put_spelled(g, r, word);
    tsl__measured_word(g, ",{\"type\":\"grammar\",\"after\":");
    put_spelled(g, r, word);
    tsl__measured_word(g, ",\"grammar\":");
    put_spelled(g, r, r->found);
    tsl__measured_word(g, "}]");
  }
  tsl__measured_word(g, "]}");
  return true;
}

static bool lazy_text(reader *r, tsl__string *out) {
  const tsl__json *triggers = member(r->root, "grammar_triggers");
  tsl__measured g = {0};
  if (!triggers || triggers->kind != TSL__JSON_ARRAY || !triggers->length)
    return fail(r, TSL_ERR_SCHEMA, triggers ? triggers : r->found,
                "grammar_lazy goes with \"grammar_triggers\", a list that is not empty");
  if (r->found->kind != TSL__JSON_STRING)
    return fail(r, TSL_ERR_SCHEMA, r->found, "a string must stand here");
  if (!write_lazy(r, triggers, &g)) return false;
  if (g.n > LAZY_MAX)
    return fail(r, TSL_ERR_LIMIT, triggers, "there are too many triggers for such a long grammar");
  g = (tsl__measured){tsl__arena_alloc(&r->arena, g.n), 0};
  if (!g.at) return fail(r, TSL_ERR_NO_MEMORY, NULL, "out of memory");
  write_lazy(r, triggers, &g);
  *out = (tsl__string){g.at, (uint32_t)g.n};
  return true;
}

/* A schema beside json_object describes objects, so its "type" says so. It is written into a copy:
 * behind all else, or over a list of types. So offsets are those of the request. */
static bool object_text(reader *r, tsl__string *out) {
  static const char word[] = "\"object\"";
  const tsl__json *v = r->found, *type = tsl__json_member(v, "type");
  const size_t n = v->end - v->offset, room = n + 24;
  bool listed = false;
  char *text = tsl__arena_alloc(&r->arena, room);
  if (!text) return fail(r, TSL_ERR_NO_MEMORY, NULL, "out of memory");
  memcpy(text, r->body + v->offset, n);
  *out = (tsl__string){text, (uint32_t)n};
  if (!type) {
    int more = snprintf(text + n - 1, room - n, "%s\"type\":%s}", v->length ? "," : "", word);
    out->length += (uint32_t)more - 1;
  }
  for (uint32_t i = 0; type && type->kind == TSL__JSON_ARRAY && i < type->length; i++)
    listed |= tsl__json_says(&type->items[i], "object");
  if (listed) {
    memset(text + (type->offset - v->offset), ' ', type->end - type->offset);
    memcpy(text + (type->offset - v->offset), word, sizeof word - 1);
  }
  return true;
}

/* The text that is compiled; *part: offsets in it are those of the request's own bytes. */
static bool text_of(reader *r, tsl__string *out, bool *part) {
  const tsl__json *v = r->found;
  *part = false;
  if (r->kind == ANY_OBJECT || (r->kind == OBJECT && v->kind == TSL__JSON_TRUE)) {
    *out = (tsl__string){"{\"type\":\"object\"}", 17};
    return true;
  }
  if (r->kind == CHOICE) return write_choice(r, out);
  if (r->lazy) return lazy_text(r, out);
  if (r->kind == OBJECT && v->kind == TSL__JSON_OBJECT) return *part = object_text(r, out);
  if (r->kind == OBJECT) return fail(r, TSL_ERR_SCHEMA, v, "a schema is an object");
  if (v->kind == TSL__JSON_STRING) {
    *out = (tsl__string){v->text, v->length};
    return true;
  }
  bool json = r->kind == SCHEMA || r->kind == TAGS;
  if (json && v->kind == TSL__JSON_TRUE) {
    *out = (tsl__string){"true", 4};
    return true;
  }
  if (!json || v->kind != TSL__JSON_OBJECT)
    return fail(r, TSL_ERR_SCHEMA, v,
                json ? "a schema or a tag is an object" : "a string must stand here");
  *out = (tsl__string){r->body + v->offset, v->end - v->offset};
  return *part = true;
}

/* The kind of a constraint for those outside. vLLM reads a text with ::= as EBNF and all others as
 * Lark. */
static tsl_request_kind outer_kind(const reader *r, tsl__string text) {
  static const tsl_request_kind kinds[] = {
      [SCHEMA] = TSL_REQUEST_JSON_SCHEMA, [ANY_OBJECT] = TSL_REQUEST_JSON_SCHEMA,
      [OBJECT] = TSL_REQUEST_JSON_SCHEMA, [REGEX] = TSL_REQUEST_REGEX,
      [CHOICE] = TSL_REQUEST_REGEX,       [EITHER] = TSL_REQUEST_LARK,
      [GBNF] = TSL_REQUEST_GBNF,          [EBNF] = TSL_REQUEST_EBNF,
      [TAGS] = TSL_REQUEST_TAGS};
  if (r->lazy) return TSL_REQUEST_TAGS;
  return r->kind == EITHER && tsl__string_has(text, tsl__string_of("::=")) ? TSL_REQUEST_EBNF
                                                                           : kinds[r->kind];
}

tsl_status tsl_request_read(const char *request, size_t length, const tsl_limits *limits,
                            const tsl_allocator *allocator, tsl_request_sink sink, void *ctx,
                            tsl_error *error) {
  const tsl_allocator *alloc = tsl__allocator_or_default(allocator);
  const tsl__until until = tsl__until_of(limits);
  char pointer[256] = "";
  tsl__json *root;
  tsl__string text = {0};
  bool part;
  reader r = {.body = request, .length = length, .error = error};
  tsl__arena_init(&r.arena, alloc);
  r.status = tsl__json_parse(&r.arena, &until, request, length,
                             tsl__json_depth(limits ? limits->max_depth : 0), &root, error);
  r.root = root;
  if (r.status == TSL_OK && find(&r) && text_of(&r, &text, &part)) {
    if (tsl__json_pointer(r.root, r.found, pointer, sizeof pointer) == SIZE_MAX) pointer[0] = 0;
    const tsl_request_source source = {.kind = outer_kind(&r, text),
                                       .text = text.at,
                                       .length = text.length,
                                       .pointer = pointer,
                                       .offset = r.found->offset,
                                       .part = part,
                                       .compact = r.compact};
    sink(ctx, &source);
  }
  tsl__arena_free(&r.arena);
  return r.status;
}

/* ---- compiling ------------------------------------------------------------------------------- */

typedef struct compiler {
  tsl_vocab *vocab;
  const char *request;
  size_t length;
  const tsl_schema_options *schema;
  const tsl_limits *limits;
  tsl_grammar **out;
  tsl_error *error;
  tsl_status status;
} compiler;

/* By the same calls that a host would make, so that grammars, reports and errors are the same. */
static void compile(void *ctx, const tsl_request_source *s) {
  compiler *c = ctx;
  tsl_schema_options schema = c->schema ? *c->schema : (tsl_schema_options){0};
  if (s->compact) schema.whitespace = TSL_WS_COMPACT;
  const tsl_source source = {.kind = (tsl_source_kind)s->kind,
                             .text = s->text,
                             .length = s->length,
                             .schema = &schema,
                             .limits = c->limits};
  c->status =
      s->kind == TSL_REQUEST_TAGS
          ? tsl_grammar_tags(c->vocab, s->text, s->length, &schema, c->limits, c->out, c->error)
          : tsl_grammar_compile(c->vocab, &source, c->out, c->error);
  if (c->status != TSL_OK && c->error) tsl_request_place(c->request, c->length, s, c->error);
}

tsl_status tsl_grammar_request(tsl_vocab *vocab, const char *request, size_t length,
                               const tsl_schema_options *schema, const tsl_limits *limits,
                               tsl_grammar **out, tsl_error *error) {
  *out = NULL;
  if (!vocab) return tsl__fail(error, TSL_ERR_ARGUMENT, "no vocabulary given");
  compiler c = {.vocab = vocab,
                .request = request,
                .length = length,
                .schema = schema,
                .limits = limits,
                .out = out,
                .error = error};
  const tsl_status status =
      tsl_request_read(request, length, limits, &vocab->alloc, compile, &c, error);
  return status == TSL_OK ? c.status : status;
}
