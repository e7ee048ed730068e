/* test_costs.c - what a grammar costs, counted: every step, table entry and call of a day's work,
 * exactly.
 *
 * Problem   Most of the engine is there to be fast: memos, classes, tables, two ways to one result.
 *           Where such a part breaks, masks stay right and the work grows; no test of what is
 *           allowed sees it, and a clock on a shared machine doesn't either.
 * Idea      Grammars of all kinds are compiled and followed along given texts, and all that can be
 *           counted is written into one line for each, beside a hash of every mask. The lines are
 *           compared with tests/costs.txt, number by number. A change for the better is a
 *           difference as well: `./dev costs` writes the file anew, and its diff says what the
 *           change costs and saves.
 * Line      name/vocabulary, then `what=number`, those that are 0 left out:
 *             hash     of all masks, of the bytes that may come next and of the lengths of shortest
 *             completions: what is allowed. It may change with the grammar or the texts alone
 *             exprs    expressions of the compiler
 *             steps    of the walk along all texts (towards max_steps), then
 *             again    of the same once more, by another matcher: all of it should be remembered
 *             asked    of next bytes, shortest completions and forced bytes at each byte of the
 *             texts
 *             planned  of the shortest completions, token by token (tsl_budget), from the middle of
 *             each text
 *             learned  of a grammar of the same text compiled after it, which knows what the
 *             vocabulary's grammars have in common (runtime/walk/shared_walks.h); elsewhere that is
 *             off states … memories   entries of the tables (runtime/automaton/space.h)
 *             rows     masks written out for good
 *           and, after `|`, calls of functions from other files than their own (the linker puts
 *           wrappers around these, tests/meson.build); of `tokens` and `spelled`: elements handed
 *           over. A vocabulary has a line of its own: what is made once for all its grammars.
 * Held to   Numbers are the same for every compiler, dispatch level, width of pointers and order of
 *           bytes: no bytes of memory are counted, and no arrays that grow (in the compiler that
 *           depends on which argument of a call is computed first). So do the numbers of
 *           expressions, and with them which derivatives are still remembered when they are asked
 *           for again (compiler/expr/deriv.c): `hashed` may differ by a 32nd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>

#include "runtime/walk/classes.h"
#include "runtime/walk/fixed.h"
#include "runtime/walk/linear.h"
#include "runtime/matcher/matcher.h"
#include "runtime/position/distinct_run.h"
#include "runtime/walk/names.h"
#include "runtime/vocab/vocab.h"
#include "runtime/walk/reference.h"
#include "runtime/walk/nonascii.h"
#include "tests/support/check.h"
#include "tests/support/draw.h"
#include "tests/support/heavy.h"
#include "tests/support/text.h"

#define EXPECTED "tests/costs.txt"

/* ---- calls ----------------------------------------------------------------------------------- */

/* Name of the count, function, its result, and by how much it counts. */
#define VALUES(DO)                                                                                 \
  DO(arena, tsl__arena_alloc, void *, (tsl__arena * arena, size_t size), (arena, size), 1)         \
  DO(tokens, tsl__gather_tokens, bool,                                                             \
     (tsl__space * space, tsl__gather * g, const tsl_token *tokens, size_t n),                     \
     (space, g, tokens, n), n)                                                                     \
  DO(gathered, tsl__gather_mask, bool, (tsl__space * space, tsl__gather * g, tsl__mask m),         \
     (space, g, m), 1)                                                                             \
  DO(removed, tsl__gather_remove, bool, (tsl__space * space, tsl__gather * g, tsl_token token),    \
     (space, g, token), 1)                                                                         \
  DO(done, tsl__gather_done, tsl__mask, (tsl__space * space, tsl__gather * g), (space, g), 1)      \
  DO(looked, tsl__mask_has, bool, (const tsl__space *space, tsl__mask m, tsl_token token),         \
     (space, m, token), 1)                                                                         \
  DO(lefts, tsl__leftover_intern, tsl__leftover, (tsl__space * space, uint32_t * nodes, size_t n), \
     (space, nodes, n), 1)                                                                         \
  DO(classed, tsl__class_mask, tsl__mask,                                                          \
     (tsl__space * space, const tsl__bytes *letters, uint32_t wide, uint32_t node,                 \
      uint32_t limit),                                                                             \
     (space, letters, wide, node, limit), 1)                                                       \
  DO(walked, tsl__walk_over, const tsl__walk *,                                                    \
     (tsl__space * space, tsl__state state, uint32_t count, tsl__leftover over, bool last),        \
     (space, state, count, over, last), 1)                                                         \
  DO(above, tsl__walk_above, const tsl__walk *,                                                    \
     (tsl__space * space, tsl__state state, uint32_t count, tsl__leftover over, uint32_t tail),    \
     (space, state, count, over, tail), 1)                                                         \
  DO(expanded, tsl__state_expand, const tsl__state_rec *, (tsl__space * space, tsl__state state),  \
     (space, state), 1)                                                                            \
  DO(fixed, tsl__fixed_over, bool,                                                                 \
     (tsl__space * space, const tsl__state_rec *from, uint32_t node, tsl__fixed_walk *out),        \
     (space, from, node, out), 1)                                                                  \
  DO(read, tsl__linear_read, bool,                                                                 \
     (tsl__space * space, const tsl__linear *t, const tsl__linear_from *from, uint32_t *marks,     \
      tsl__linear_asides *aside),                                                                  \
     (space, t, from, marks, aside), 1)                                                            \
  DO(near, tsl__near_find, bool,                                                                   \
     (tsl__space * space, const tsl__hint *h, const tsl__linear_from *from, tsl__leftover over,    \
      tsl__reference *ref),                                                                        \
     (space, h, from, over, ref), 1)                                                               \
  DO(stepped, tsl__step_byte, bool, (tsl__space * space, tsl__stepping * s, uint8_t byte),         \
     (space, s, byte), 1)                                                                          \
  DO(found, tsl__move_find, bool,                                                                  \
     (const tsl__space *space, tsl__stack from, uint32_t by, tsl__stack *to),                      \
     (space, from, by, to), 1)                                                                     \
  DO(allowed, tsl__resume_any, bool,                                                               \
     (tsl__space * space, tsl__state resume, const tsl__keyed *names), (space, resume, names), 1)  \
  DO(naming, tsl__named_walk_over, const tsl__named_walk *,                                        \
     (tsl__space * space, tsl__state state, tsl__leftover over), (space, state, over), 1)          \
  DO(ran, tsl__run_byte, bool, (tsl__space * space, tsl__run * r, uint8_t byte), (space, r, byte), \
     1)                                                                                            \
  DO(loaded, tsl__run_load, bool, (tsl__space * space, tsl__run * r, tsl__stack at),               \
     (space, r, at), 1)                                                                            \
  DO(tried, tsl__run_token, bool,                                                                  \
     (tsl__space * space, tsl__run * r, tsl__stack from, tsl_token token),                         \
     (space, r, from, token), 1)                                                                   \
  DO(spelled, tsl__spelling_bytes, bool,                                                           \
     (tsl__space * space, tsl__spelling * s, const uint8_t *bytes, size_t n),                      \
     (space, s, bytes, n), n)                                                                      \
  DO(hashed, tsl__hash, uint64_t, (const void *data, size_t size), (data, size), 1)
#define NOTHING(DO)                                                                              \
  DO(written, tsl__mask_write, (const tsl__space *space, const tsl__mask_rec *r, uint32_t *out), \
     (space, r, out))                                                                            \
  DO(named_in, tsl__named_gather,                                                                \
     (tsl__space * space, tsl__gather * g, const tsl__named_walk *w, tsl__state resume),         \
     (space, g, w, resume))                                                                      \
  DO(landed, tsl__step_land,                                                                     \
     (tsl__space * space, tsl__stepping * s, tsl__state state, uint32_t count, tsl__stack tail), \
     (space, s, state, count, tail))

enum {
#define NUMBER(name, ...) CALL_##name,
  VALUES(NUMBER) NOTHING(NUMBER) CALLS
#undef NUMBER
};
static const char *const call_names[CALLS] = {
#define NAME(name, ...) #name,
    VALUES(NAME) NOTHING(NAME)
#undef NAME
};
static uint64_t calls[CALLS];

/* The declarations take the type of the function itself: one that changed does not compile. */
#define WRAP_VALUE(name, function, type, parameters, arguments, by) \
  extern __typeof__(function) __real_##function, __wrap_##function; \
  type __wrap_##function parameters {                               \
    calls[CALL_##name] += by;                                       \
    return __real_##function arguments;                             \
  }
#define WRAP_NOTHING(name, function, parameters, arguments)         \
  extern __typeof__(function) __real_##function, __wrap_##function; \
  void __wrap_##function parameters {                               \
    calls[CALL_##name]++;                                           \
    __real_##function arguments;                                    \
  }
VALUES(WRAP_VALUE)
NOTHING(WRAP_NOTHING)

/* ---- cases ----------------------------------------------------------------------------------- */

/* ORDERED: members in the order of the schema; the other schemas: in any */
typedef enum kind { SCHEMA, ORDERED, COMPACT, PRETTY, REGEX, GBNF, TAGS } kind;

typedef struct test_case {
  const char *name;
  kind kind;
  const char *grammar;
  const char *texts[4]; /* each is followed to its end, where it is complete */
} test_case;

#define OBJECT(properties, more) "{\"type\":\"object\",\"properties\":{" properties "}" more "}"
#define STRING(more) "{\"type\":\"string\"," more "}"
#define ARRAY(items, more) "{\"type\":\"array\",\"items\":" items more "}"
#define LISTED(t)                                                             \
  "{\"properties\":{\"t\":{\"enum\":[\"" t "\"]},\"v\":{\"properties\":{\"" t \
  "\":{\"type\":\"integer\"}}}}}"
#define ALIKE(key) /* the same members in each, but one */                                \
  OBJECT("\"" key "\":{\"type\":\"string\"},\"n\":{\"type\":\"string\"},\"m\":{\"type\":" \
         "\"boolean\"},\"l\":" ARRAY("{\"type\":\"integer\"}", ""),                       \
         ",\"required\":[\"n\",\"" key "\"]")
#define PERSON                                                                                     \
  OBJECT("\"name\":{\"type\":\"string\"},\"age\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":" \
         "130},\"mail\":" STRING("\"format\":\"email\"") ",\"tags\":" ARRAY(                       \
             "{\"type\":\"string\"}", ""),                                                         \
         ",\"required\":[\"name\"]")

static const test_case cases[] = {
    {"anything",
     SCHEMA,
     "true",
     {"{\"a\": [1, 2.5e3, \"x\\n\", null], \"b\": {\"c\": true}}", "[[], {}, -0.5]"}},
    {"anything-pretty", PRETTY, "true", {"{\n  \"a\": [\n    1,\n    true\n  ],\n  \"b\": {}\n}"}},
    {"person",
     SCHEMA,
     PERSON,
     {"{\"name\": \"Ann\", \"age\": 31, \"mail\": \"ann@a.org\"}",
      "{\"tags\":[\"a\",\"b\"],\"mail\":\"x@y.de\",\"name\":\"B. C\",\"zip\":[0]}",
      "{\"nam\":1,\"name\":\"\"}"}},
    {"person-ordered",
     ORDERED,
     PERSON,
     {"{\"name\": \"Ann\", \"age\": 31, \"mail\": \"ann@a.org\"}",
      "{\"name\":\"\",\"tags\":[\"a\"]}"}},
    {"person-closed",
     COMPACT,
     OBJECT("\"name\":{\"type\":\"string\"},\"age\":{\"type\":\"integer\"},\"nation\":{\"type\":"
            "\"string\",\"maxLength\":3}",
            ",\"additionalProperties\":false"),
     {"{\"name\":\"A\",\"age\":1}", "{\"age\":-12,\"nation\":\"abc\",\"name\":\"\"}", "{}"}},
    {"names-any",
     SCHEMA,
     OBJECT("\"a\":{\"type\":\"integer\"},\"ab\":{\"type\":\"null\"},\"abc\":{}",
            ",\"minProperties\":2,\"maxProperties\":4"),
     {"{\"abc\":0,\"a\":1,\"abcd\":2}", "{\"x\": 1, \"\\u0061b\": null, \"ab \": [], \"a\": 3}"}},
    {"names-many",
     COMPACT,
     OBJECT("\"id\":{},\"ident\":{},\"identity\":{},\"in\":{},\"index\":{},\"info\":{},\"item\":{},"
            "\"items\":{},\"is\":{}",
            ",\"required\":[\"id\",\"items\"],\"additionalProperties\":{\"type\":\"integer\"}"),
     {"{\"items\":[],\"index\":1,\"id\":\"\"}",
      "{\"i\":1,\"id\":0,\"indexes\":2,\"items\":null,\"is\":{}}"}},
    {"names-patterned",
     SCHEMA,
     "{\"type\":\"object\",\"patternProperties\":{\"^s_\":{\"type\":\"string\"},\"_n$\":{\"type\":"
     "\"integer\"}},\"additionalProperties\":{\"type\":\"boolean\"}}",
     {"{\"s_a\":\"x\",\"a_n\":12,\"flag\":true}", "{\"n\": false, \"s_\": \"\"}"}},
    {"names-bounded",
     SCHEMA,
     "{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[a-c]{1,3}$\"},"
     "\"additionalProperties\":{\"type\":\"integer\"},\"minProperties\":2}",
     {"{\"a\":1,\"b\":2,\"abc\":3}", "{\"ab\": 10, \"a\": 0, \"c\": 1, \"cc\": 5}"}},
    {"names-few",
     COMPACT,
     "{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^(a|b|ab)$\"},\"minProperties\":2}",
     {"{\"a\":1,\"ab\":2}", "{\"b\":[],\"ab\":{},\"a\":null}"}},
    {"names-excluded",
     SCHEMA,
     "{\"type\":\"object\",\"propertyNames\":{\"not\":{\"enum\":[\"id\",\"item\",\"a\"]}}}",
     {"{\"ide\":1,\"x\":2}", "{\"\\u0069\": 0, \"items\": []}"}},
    {"names-repeated",
     SCHEMA,
     "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}",
     {"{\"a\":\"\",\"ab\":\"x\",\"abc\":\"\",\"b\":\"\"}",
      "{\"\\u0061\":\"1\",\"A\":\"2\",\"\\\"\":\"\",\"\xC3\xA4\":\"\",\"\\u00e5\":\"\"}"}},
    {"dependent",
     COMPACT,
     OBJECT("\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"string\"},\"c\":{}",
            ",\"dependentRequired\":{\"a\":[\"b\"]},\"additionalProperties\":false"),
     {"{\"a\":1,\"b\":\"\"}", "{\"c\":0}", "{\"b\":\"x\",\"c\":[],\"a\":2}"}},
    {"evaluated",
     SCHEMA,
     "{\"allOf\":[{\"properties\":{\"a\":{\"type\":\"integer\"}}},{\"properties\":{\"b\":{\"type\":"
     "\"string\"}}}],\"type\":\"object\",\"unevaluatedProperties\":false}",
     {"{\"a\":1,\"b\":\"x\"}", "{\"b\":\"\"}"}},
    {"one-of",
     COMPACT,
     "{\"oneOf\":[" OBJECT(
         "\"kind\":{\"const\":\"circle\"},\"r\":{\"type\":\"number\"}",
         ",\"required\":[\"kind\",\"r\"],\"additionalProperties\":false") "," OBJECT("\"kind\":{"
                                                                                     "\"const\":"
                                                                                     "\"square\"},"
                                                                                     "\"side\":{"
                                                                                     "\"type\":"
                                                                                     "\"number\"}",
                                                                                     ",\"required\""
                                                                                     ":[\"kind\"],"
                                                                                     "\"additionalP"
                                                                                     "roperties\":"
                                                                                     "false") "]}",
     {"{\"kind\":\"circle\",\"r\":1.5}", "{\"side\":2,\"kind\":\"square\"}",
      "{\"kind\":\"square\"}"}},
    {"any-of-objects",
     COMPACT,
     "{\"anyOf\":[" OBJECT(
         "\"a\":{\"const\":1},\"b\":{}",
         ",\"additionalProperties\":false") "," OBJECT("\"a\":{\"const\":10},\"ab\":{},\"c\":{"
                                                       "\"type\":\"string\"}",
                                                       ",\"additionalProperties\":false") "]}",
     {"{\"a\":1,\"b\":[0]}", "{\"c\":\"\",\"a\":10}", "{\"ab\":{\"a\":1}}"}},
    {"any-of-texts",
     SCHEMA,
     "{\"anyOf\":[" STRING("\"pattern\":\"^a.{3,20}$\"") "," STRING(
         "\"pattern\":\"b$\"") ",{\"type\":\"null\"}]}",
     {"\"abcd\"", "\"xxb\"", "\"axb\"", "null"}},
    {"tree",
     COMPACT,
     "{\"$ref\":\"#/$defs/t\",\"$defs\":{\"t\":" OBJECT(
         "\"v\":{\"type\":\"integer\"},\"k\":" ARRAY("{\"$ref\":\"#/$defs/t\"}", ""),
         ",\"required\":[\"v\"],\"additionalProperties\":false") "}}",
     {"{\"v\":1,\"k\":[{\"v\":2},{\"k\":[{\"v\":3,\"k\":[]}],\"v\":4}]}"}},
    {"if-then",
     SCHEMA,
     "{\"type\":\"object\",\"properties\":{\"a\":{\"enum\":[1,2]},\"b\":{}},\"if\":{\"properties\":"
     "{\"a\":{\"const\":1}},\"required\":[\"a\"]},\"then\":{\"required\":[\"b\"]}}",
     {"{\"a\":2}", "{\"a\":1,\"b\":null}", "{\"b\":0,\"c\":0}"}},
    /* strings */
    {"text-short",
     COMPACT,
     STRING("\"maxLength\":5"),
     {"\"\"", "\"abcde\"", "\"\\u00e4\xC3\xA4\\n\"", "\"\xF0\x9F\x98\x80\\ud83d\\ude00ab\""}},
    {"text-middling",
     COMPACT,
     STRING("\"minLength\":3,\"maxLength\":20"),
     {"\"abc\"", "\"the quick brown fox\"", "\"aaaaaaaaaaaaaaaaaaaa\""}},
    {"text-long",
     COMPACT,
     ARRAY(STRING("\"minLength\":2,\"maxLength\":70"), ",\"maxItems\":3"),
     {"[\"a b c d e f g\",\"aa\"]",
      "[\"it is a rather long text that has more than sixty characters in it\"]"}},
    {"text-least",
     COMPACT,
     STRING("\"minLength\":30"),
     {"\"abcdefghijklmnopqrstuvwxyz and more of it\""}},
    {"text-letters",
     COMPACT,
     ARRAY(STRING("\"pattern\":\"^[a-z]+$\",\"maxLength\":12"), ""),
     {"[\"abc\",\"xyzzy\",\"aaaaaaaaaaaa\"]"}},
    {"text-wide",
     COMPACT,
     STRING("\"pattern\":\"^\\\\p{L}+( \\\\p{L}+)*$\""),
     {"\"Stra\xC3\x9F"
      "e \xE4\xB8\x96\xE4\xB8\x80\"",
      "\"ab c\"", "\"\xC3\xA9\xC3\xA9 a\""}},
    {"text-wide-counted",
     COMPACT,
     STRING("\"pattern\":\"^[a\\\\u00e0-\\\\u2028]{2,18}$\""),
     {"\"a\xC3\xA9\xC3\xB6\"", "\"aaaaaaaaaaaaaaaaaa\""}},
    {"text-but",
     COMPACT,
     STRING("\"not\":{\"enum\":[\"a\",\"ab\",\"the\",\"null\"]}"),
     {"\"\"", "\"abc\"", "\"then\"", "\"\\u0061b\\n\""}},
    {"text-but-patterned",
     COMPACT,
     STRING("\"not\":{\"pattern\":\"^[ab]{1,40}$\"}"),
     {"\"aabc\"", "\"x\"", "\"ababababab abababab\""}},
    {"text-but-within",
     COMPACT,
     STRING("\"not\":{\"pattern\":\"the\"}"),
     {"\"tea thy\"", "\"th\""}},
    {"text-search",
     COMPACT,
     STRING("\"pattern\":\"[0-9a-f]{3}\",\"maxLength\":12"),
     {"\"xx0af\"", "\"abcdefghijkl\""}},
    {"text-both",
     COMPACT,
     STRING("\"allOf\":[{\"pattern\":\"e.*s\"},{\"pattern\":\"^[a-z ]*$\"}]"),
     {"\"the tests\"", "\"es\""}},
    {"text-ahead",
     COMPACT,
     STRING("\"pattern\":\"^(?!.*(ab|er)).{4,30}$\""),
     {"\"a b c\"", "\"nothing of this kind\""}},
    {"text-words",
     COMPACT,
     STRING("\"pattern\":\"^([a-z]+ ){2,5}[a-z]+$\""),
     {"\"it is so\"", "\"a b c d e f\""}},
    {"text-pairs",
     COMPACT,
     STRING("\"pattern\":\"^(?:[^eta]|[eta][^b]){0,12}$\""),
     {"\"aeiou\"", "\"a cat is \""}},
    {"text-pairs-long",
     COMPACT,
     ARRAY(STRING("\"pattern\":\"^(?:[^a]|a[^b]){0,40}$\""), ""),
     {"[\"an apple a day, and what\",\"a x\"]"}},
    {"text-commas",
     COMPACT,
     STRING("\"pattern\":\"^([^,]{1,9},){3}\""),
     {"\"a,bc,def,\"", "\"one,two,three,four\""}},
    {"enum",
     COMPACT,
     "{\"enum\":[\"red\",\"green\",\"blue\",\"blueish\",\"a "
     "b\",1,10,100,null,[1,2],{\"a\":\"b\",\"c\":1}]}",
     {"\"blue\"", "\"blueish\"", "10", "{\"c\":1,\"a\":\"b\"}"}},
    {"enum-texts",
     SCHEMA,
     ARRAY("{\"enum\":[\"a\",\"ab\",\"abc\",\"b\",\"bc\",\"\xC3\xA9\",\"e\\n\",\"\\\"\"]}", ""),
     {"[\"a\", \"abc\", \"\xC3\xA9\"]", "[\"\\u0061b\",\"\\\"\",\"e\\n\",\"\\u00e9\"]"}},
    {"const",
     SCHEMA,
     "{\"const\":{\"a\":[1,\"x\",{}],\"b\":1.50}}",
     {"{\"a\":[1,\"x\",{}],\"b\":1.5}", "{ \"b\" : 1.5 , \"a\" : [ 1.0 , \"x\" , { } ] }"}},
    {"date-time",
     COMPACT,
     ARRAY(STRING("\"format\":\"date-time\""), ""),
     {"[\"2024-02-29T23:59:60Z\",\"1999-12-31T00:00:00.5+01:30\"]"}},
    {"uuid", COMPACT, STRING("\"format\":\"uuid\""), {"\"123e4567-e89b-12d3-a456-426614174000\""}},
    {"uri",
     COMPACT,
     STRING("\"format\":\"uri\""),
     {"\"https://a.org:80/b/c?d=%20#e\"", "\"urn:x\""}},
    {"email", COMPACT, STRING("\"format\":\"email\""), {"\"a.b@c-d.org\""}},
    {"addresses",
     COMPACT,
     ARRAY("{\"anyOf\":[" STRING("\"format\":\"ipv4\"") "," STRING(
               "\"format\":\"ipv6\"") "," STRING("\"format\":\"hostname\"") "]}",
           ""),
     {"[\"127.0.0.1\",\"::1\",\"a.b-c\"]"}},
    {"regex-format", COMPACT, STRING("\"format\":\"regex\""), {"\"^a[b-c]{1,2}(?:d|e)*$\""}},
    /* numbers */
    {"integers",
     COMPACT,
     ARRAY("{\"type\":\"integer\",\"minimum\":-12,\"maximum\":345}", ",\"minItems\":2"),
     {"[0,345,-12]", "[99,1.0e2]"}},
    {"numbers",
     COMPACT,
     ARRAY("{\"type\":\"number\",\"exclusiveMinimum\":0,\"maximum\":2.5}", ""),
     {"[0.1,2.5,1e-3,25e-1]"}},
    {"multiples",
     COMPACT,
     ARRAY("{\"type\":\"integer\",\"multipleOf\":3,\"minimum\":0}", ""),
     {"[0,3,999,123456]"}},
    /* arrays */
    {"tuple",
     COMPACT,
     "{\"type\":\"array\",\"prefixItems\":[{\"type\":\"string\"},{\"type\":\"integer\"}],\"items\":"
     "{\"type\":\"boolean\"},\"maxItems\":4}",
     {"[\"a\",1,true,false]", "[]", "[\"\"]"}},
    {"contains",
     COMPACT,
     "{\"type\":\"array\",\"contains\":{\"type\":\"integer\"},\"minContains\":2,\"maxItems\":4}",
     {"[1,\"a\",2]", "[[],{},0,0]"}},
    {"counted-items",
     SCHEMA,
     ARRAY("{\"type\":\"integer\"}", ",\"minItems\":3,\"maxItems\":100"),
     {"[1,2,3]", "[1, 22, 333, 4444, 5, 6, 7]"}},
    /* uniqueItems */
    {"unique-texts",
     SCHEMA,
     ARRAY("{\"type\":\"string\"}", ",\"uniqueItems\":true"),
     {"[\"a\",\"ab\",\"b\",\"\"]", "[\"\\u0061\", \"A\", \"a b\", \"a\\n\"]"}},
    {"unique-few",
     COMPACT,
     ARRAY("{\"enum\":[\"a\",\"ab\",\"b\",1,10,null]}", ",\"uniqueItems\":true,\"minItems\":3"),
     {"[\"ab\",10,\"a\",1]", "[null,\"b\",\"a\"]", "[1.0,\"\\u0061\",10,\"ab\",null,\"b\"]"}},
    {"unique-patterned",
     COMPACT,
     ARRAY(STRING("\"pattern\":\"^[ab]{1,2}$\""), ",\"uniqueItems\":true,\"minItems\":4"),
     {"[\"a\",\"b\",\"ab\",\"aa\",\"bb\",\"ba\"]"}},
    {"unique-numbers",
     COMPACT,
     ARRAY("{\"type\":\"number\"}", ",\"uniqueItems\":true"),
     {"[1,10,1.5,-1,0.1,1e2]", "[0,100,1000]"}},
    /* digits that need an exponent */
    {"unique-above",
     COMPACT,
     ARRAY("{\"type\":\"number\",\"minimum\":1}", ",\"uniqueItems\":true"),
     {"[0.12e2,0.125e3,0.1252E4]", "[0.15e1,2,0.15e2]"}},
    {"unique-above-in",
     SCHEMA,
     ARRAY(ARRAY("{\"type\":\"number\",\"minimum\":50}", ""), ",\"uniqueItems\":true"),
     {"[[0.5e2, 1.5e3], [0.5e3, 15e1], [0.5e4,1.5e4]]"}},
    {"unique-integers",
     SCHEMA,
     ARRAY("{\"type\":\"integer\",\"minimum\":0,\"maximum\":12}", ",\"uniqueItems\":true"),
     {"[1,2,3,10,11,12]", "[0, 1.0, 1.1e1]"}},
    {"unique-objects",
     COMPACT,
     ARRAY(OBJECT("\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"boolean\"}",
                  ",\"additionalProperties\":false"),
           ",\"uniqueItems\":true"),
     {"[{\"a\":1},{\"b\":true,\"a\":1},{}]",
      "[{\"a\":1,\"b\":true},{\"a\":1,\"b\":false},{\"a\":10}]"}},
    {"unique-anything",
     SCHEMA,
     "{\"type\":\"array\",\"uniqueItems\":true}",
     {"[{},[],\"\",[[]],{\"a\":1},1,null]",
      "[{\"a\": 1, \"b\": 2}, {\"b\": 2}, [1, 2], [2, 1], \"a\"]"}},
    {"unique-nested",
     COMPACT,
     ARRAY(ARRAY("{\"type\":\"integer\"}", ",\"uniqueItems\":true"),
           ",\"uniqueItems\":true,\"minItems\":2"),
     {"[[1,2],[2,1],[]]", "[[12],[1,2,3],[1]]"}},
    /* what was used: objects in any order of their members */
    {"unique-records",
     COMPACT,
     ARRAY(OBJECT("\"a\":{},\"b\":{},\"ab\":{}", ""), ",\"uniqueItems\":true"),
     {"[{\"a\":1},{\"a\":1,\"b\":2},{\"b\":2},{\"b\":2,\"ab\":1},{\"ab\":1},{\"b\":1,\"a\":1}]",
      "[{\"x\":1,\"y\":2},{\"y\":2},{\"y\":2,\"z\":0},{\"z\":0,\"x\":1}]",
      "[{\"a\":[],\"b\":[]},{\"a\":[],\"ab\":[]},{\"a\":[],\"b\":[],\"ab\":[]},{\"b\":[],\"ab\":[]}"
      "]"}},
    {"unique-lists",
     COMPACT,
     ARRAY(ARRAY("{\"type\":\"number\"}", ""), ",\"uniqueItems\":true"),
     {"[[1,2],[1,23],[1,2.5],[12]]", "[[123],[12],[1234,-1],[123,0]]"}},
    {"unique-members",
     SCHEMA,
     ARRAY(OBJECT("\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"string\"}", ""),
           ",\"uniqueItems\":true"),
     {"[{\"a\": 12, \"b\": \"x\"}, {\"a\": 1}, {\"a\": 123, \"b\": \"xy\"}]",
      "[{\"b\":\"ab\",\"c\":1},{\"b\":\"a\"},{\"c\":10,\"b\":\"ab\"}]"}},
    {"unique-within",
     COMPACT,
     OBJECT("\"l\":" ARRAY(STRING("\"maxLength\":3"), ",\"uniqueItems\":true"), ""),
     {"{\"l\":[\"a\",\"abc\"],\"x\":1}", "{\"k\":[\"a\",\"a\"],\"l\":[]}"}},
    /* patterns and grammars */
    {"regex-date", REGEX, "\\d{4}-(0[1-9]|1[0-2])-[0-3]\\d", {"2024-12-31", "1999-01-09"}},
    {"regex-alternatives", REGEX, "(?:[^x]{3}x|[^a]{2,17}a|.b)*", {"abcxxxa1b", "zzzzza"}},
    {"regex-fields", REGEX, "(?:[^,]{1,16},){2}[a-c]*", {"one,two,abc", "aaaaaaaaaaaaaaaa,b,"}},
    {"regex-counted",
     REGEX,
     "[a-cx]{0,16}(?:-[\\x00-\\x7f]{1,20})?",
     {"abcx", "aaaaaaaaaaaaaaaa-bbbb b", ""}},
    /* each letter may begin the next group */
    {"regex-groups", REGEX, "^(\\w{1,20} ?){1,12}$", {"some words in a row", "abc_d"}},
    {"regex-lines", REGEX, "^(.{1,80}\n?){1,20}$", {"some text\nand more"}},
    {"regex-counts", REGEX, "(?:a{2,5}b?){1,9}c", {"aabaaac", "aaaaaaac"}},
    {"regex-wide",
     REGEX,
     "(?:[ab\\x{80}-\\x{ff}]*1|[\\p{L} ]{2,30}-)*",
     {"ab\xC3\xA9"
      "1word -",
      "1"}},
    {"gbnf-arithmetic",
     GBNF,
     "root ::= sum\nsum ::= term ([-+] term)*\nterm ::= factor ([*/] factor)*\nfactor ::= [0-9]+ | "
     "\"(\" sum \")\" | [a-z]+",
     {"a+(b*12-3)/c", "((x))"}},
    {"gbnf-left",
     GBNF,
     "root ::= root \"+\" item | item\nitem ::= \"a\" | \"(\" root \")\" | item \"x\"",
     {"a+axx+(a)x", "(a+a)+a"}},
    {"gbnf-ambiguous", GBNF, "root ::= s\ns ::= s s | \"a\" | \"b\" s?", {"aabab", "bba"}},
    {"gbnf-palindrome",
     GBNF,
     "root ::= \"a\" root \"a\" | \"b\" root \"b\" | \"a\" | \"b\" | \"\"",
     {"abaaba", "aabaa"}},
    {"gbnf-code",
     GBNF,
     "root ::= (text | \"```\" [a-z]* \"\\n\" line* \"```\\n\")*\ntext ::= [^`\\n] [^\\n]* "
     "\"\\n\"\nline ::= [^`\\n]* \"\\n\"",
     {"some text\n```c\nint a;\n\n```\n", "a\n"}},
    {"gbnf-empty", GBNF, "root ::= (a? b?)* \";\"\na ::= \"x\"*\nb ::= \"y\" a?", {"xxyxy;", ";"}},
    {"gbnf-calls",
     GBNF,
     "root ::= ([^x] call)*\ncall ::= \"a\" | \"(\" call \")\" | \"b\" call",
     {"1(ba)2a", "aa\na"}},
    {"gbnf-tokens",
     GBNF,
     "root ::= (\"a\" | <[300]> \"b\")* | \"b\" (!<[300]> \"c\")+",
     {"aaa", "a"}},
    {"tags-triggered",
     TAGS,
     "{\"type\":\"structural_tag\",\"format\":{\"type\":\"triggered_tags\",\"triggers\":[\"<f\"],"
     "\"tags\":[{\"type\":\"tag\",\"begin\":\"<f=a>\",\"content\":{\"type\":\"json_schema\",\"json_"
     "schema\":" OBJECT(
         "\"a\":{\"type\":\"integer\"}",
         ",\"required\":[\"a\"]") "},\"end\":\"</"
                                  "f>\"},{\"type\":\"tag\",\"begin\":\"<f=b>\",\"content\":{"
                                  "\"type\":\"any_text\"},\"end\":\"</f>\"}]}}",
     {"some text <f=a>{\"a\": 1}</f> <f=b>x<</f>.", "<"}},
    {"tags-excluded",
     TAGS,
     "{\"type\":\"structural_tag\",\"format\":{\"type\":\"any_text\",\"excludes\":[\"the "
     "end\",\"ab\"],\"max_chars\":20}}",
     {"a the b", "\xC3\xA4 the en"}},
    {"tags-sequence",
     TAGS,
     "{\"type\":\"structural_tag\",\"format\":{\"type\":\"sequence\",\"elements\":[{\"type\":"
     "\"tag\",\"begin\":\"<think>\",\"content\":{\"type\":\"any_text\"},\"end\":\"</"
     "think>\"},{\"type\":\"or\",\"elements\":"
     "[{\"type\":\"const_string\",\"value\":\"yes\"},{\"type\":\"regex\",\"pattern\":\"no+\"},{"
     "\"type\":\"repeat\",\"min\":2,\"max\":3,\"content\":{\"type\":\"const_string\",\"value\":"
     "\"a\"}}]}]}}",
     {"<think>hm, < </think>yes", "<think></think>nooo", "<think>a</think>aa"}},
    {"tags-either",
     TAGS, /* two objects at once, in one name */
     "{\"type\":\"structural_tag\",\"format\":{\"type\":\"or\",\"elements\":[{\"type\":\"json_"
     "schema\",\"json_schema\":" OBJECT("\"a\":{\"type\":\"integer\"},\"ab\":{\"type\":\"string\"},"
                                        "\"b\":{}",
                                        ",\"required\":[\"a\",\"ab\"],\"additionalProperties\":"
                                        "false") "},{\"type\":\"json_schema\",\"json_"
                                                 "schema\":" OBJECT("\"a\":{\"type\":\"number\"},"
                                                                    "\"ab\":{\"type\":\"null\"},"
                                                                    "\"c\":{}",
                                                                    ",\"required\":[\"c\"],"
                                                                    "\"additionalProperties\":"
                                                                    "false") "},{\"type\":\"json_"
                                                                             "schema\",\"json_"
                                                                             "schema\":" OBJECT(
                                                                                 "\""
                                                                                 "a"
                                                                                 "\""
                                                                                 ":{"
                                                                                 "\""
                                                                                 "ty"
                                                                                 "pe"
                                                                                 "\""
                                                                                 ":"
                                                                                 "\""
                                                                                 "in"
                                                                                 "te"
                                                                                 "ge"
                                                                                 "r"
                                                                                 "\""
                                                                                 "},"
                                                                                 "\""
                                                                                 "b"
                                                                                 "\""
                                                                                 ":{"
                                                                                 "\""
                                                                                 "ty"
                                                                                 "pe"
                                                                                 "\""
                                                                                 ":"
                                                                                 "\""
                                                                                 "st"
                                                                                 "ri"
                                                                                 "ng"
                                                                                 "\""
                                                                                 "},"
                                                                                 "\""
                                                                                 "ab"
                                                                                 "\""
                                                                                 ":{"
                                                                                 "}",
                                                                                 ","
                                                                                 "\""
                                                                                 "mi"
                                                                                 "nP"
                                                                                 "ro"
                                                                                 "pe"
                                                                                 "rt"
                                                                                 "ie"
                                                                                 "s"
                                                                                 "\""
                                                                                 ":"
                                                                                 "2") "}]}}",
     {"{\"a\": 1, \"ab\": \"\"}", "{\"a\":1.5,\"c\":[],\"ab\":null}", "{\"b\":\"x\",\"a\":1}",
      "{\"x\":0,\"ab\":0}"}},
    /* added after the others, which keep their vocabularies */
    {"one-of-alike",
     COMPACT,
     "{\"oneOf\":[" ALIKE("p") "," ALIKE("q") "," ALIKE("r") "," ALIKE("s") "," ALIKE("t") "]}",
     {"{\"n\":\"\",\"l\":[1],\"p\":\"\"}", "{\"q\":\"x\",\"m\":true,\"n\":\"\",\"p\":1}"}},
    {"text-run",
     COMPACT,
     STRING("\"pattern\":\"[0-9a-f]{40}\""),
     {"\"0123456789abcdef0123456789abcdef 0123456789abcdef0123456789abcdef0123456789\""}},
    {"one-of-listed",
     COMPACT,
     "{\"required\":[\"t\"],\"properties\":{\"t\":{\"type\":\"string\",\"pattern\":\"^[a-f]{1,3}$"
     "\"}},\"oneOf\":[{\"not\":{\"required\":[\"t\"],\"properties\":{\"t\":{\"enum\":[\"a\",\"b\","
     "\"ca\",\"cab\"]}}}}," LISTED("a") "," LISTED("b") "," LISTED("ca") "," LISTED("cab") "]}",
     {"{\"t\":\"ca\",\"v\":{\"ca\":1}}",
      "{\"v\":{\"a\":\"\",\"b\":\"x\",\"ca\":null},\"t\":\"fab\"}", "{\"t\":\"b\"}"}},
    /* free text, and calls at each place */
    {"gbnf-prose",
     GBNF,
     "root ::= ([^`] | \"`\" [^`] | block)*\nblock ::= \"```\" (\"(\" block \")\" | \"x\")",
     {"some text ```(```x) more", "a ` b"}},
    /* texts that may be parted anywhere */
    {"gbnf-parted",
     GBNF,
     "root ::= (text | \"$\" math \"$\")+\ntext ::= [^$\\\\]+ | \"\\\\t{\" root? \"}\"\nmath ::= "
     "[a-z0-9]+ | \"{\" math \"}\"",
     {"some text $x1$ more \\t{a}", "a\nb"}},
    {"gbnf-counted",
     GBNF,
     "root ::= item+ obj?\nitem ::= \"- \" key \": \" text \"\\n\"\nkey ::= [a-z] "
     "[a-z0-9]{0,30}\ntext ::= [^\\n]{1,80}\nobj ::= \"{\" key \"=\" obj \"}\" | \"x\"",
     {"- ab: some text\n- c: d\n{a=x}"}},
    /* rows of which each character may be the last */
    {"gbnf-fields",
     GBNF,
     "root ::= row (\"\\n\" row)*\nrow ::= field (\",\" field)*\nfield ::= \"'\" [^'\\n]{0,60} "
     "\"'\" | [^',\\n]{0,40}",
     {"a b,'c, d',,e\nf"}},
    {"gbnf-adjoining",
     GBNF,
     "root ::= (item ws)+\nitem ::= [0-9]+ | [a-z] [a-z0-9_]* | \"(\" ws (item (\" \" ws item)*)? "
     "ws \")\"\nws ::= [ \\n]*",
     {"abc (d e1) 12", "((a) b2)\n"}},
    {"text-words",
     COMPACT,
     STRING("\"pattern\":\"^([a-z]{1,40} ?)+$\""),
     {"\"some words in a row\""}},
    {"text-long-words",
     COMPACT,
     STRING("\"pattern\":\"^([a-z]{2,40} ?)+$\""),
     {"\"some words in rows\""}},
    /* shapes that would be a product of choices */
    {"unevaluated",
     COMPACT,
     "{\"type\":\"object\",\"properties\":{\"a0\":{\"type\":\"boolean\"},\"a1\":{\"type\":"
     "\"boolean\"},\"a2\":{\"type\":\"boolean\"},\"a3\":{\"type\":\"boolean\"},\"a4\":{\"type\":"
     "\"boolean\"}"
     ",\"a5\":{\"type\":\"boolean\"}},\"allOf\":[{\"if\":{\"properties\":{\"a0\":{\"const\":true}},"
     "\"required\":[\"a0\"]},\"then\":{\"properties\":{\"b0\":{\"type\":\"string\"},\"c0\":{\"ty"
     "pe\":\"integer\"}},\"required\":[\"b0\"]}},{\"if\":{\"properties\":{\"a1\":{\"const\":true}},"
     "\"required\":[\"a1\"]},\"then\":{\"properties\":{\"b1\":{\"type\":\"string\"},\"c1\":{\"t"
     "ype\":\"integer\"}},\"required\":[\"b1\"]}},{\"if\":{\"properties\":{\"a2\":{\"const\":true}}"
     ",\"required\":[\"a2\"]},\"then\":{\"properties\":{\"b2\":{\"type\":\"string\"},\"c2\":{\""
     "type\":\"integer\"}},\"required\":[\"b2\"]}},{\"if\":{\"properties\":{\"a3\":{\"const\":true}"
     "},\"required\":[\"a3\"]},\"then\":{\"properties\":{\"b3\":{\"type\":\"string\"},\"c3\":{"
     "\"type\":\"integer\"}},\"required\":[\"b3\"]}},{\"if\":{\"properties\":{\"a4\":{\"const\":"
     "true}},\"required\":[\"a4\"]},\"then\":{\"properties\":{\"b4\":{\"type\":\"string\"},\"c4\":"
     "{\"type\":\"integer\"}},\"required\":[\"b4\"]}},{\"if\":{\"properties\":{\"a5\":{\"const\":"
     "true}},\"required\":[\"a5\"]},\"then\":{\"properties\":{\"b5\":{\"type\":\"string\"},\"c5\""
     ":{\"type\":\"integer\"}},\"required\":[\"b5\"]}}],\"unevaluatedProperties\":false}",
     {"{\"a1\":true,\"b1\":\"x\",\"a4\":false}",
      "{\"c2\":1,\"a2\":true,\"b2\":\"\",\"a0\":true,\"b0\":\"y\"}"}},
    {"contains-many",
     COMPACT,
     "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"allOf\":[{\"contains\":{\"const\":"
     "\"a\"}},{\"contains\":{\"const\":\"ab\"},\"maxContains\":1},{\"contains\":{\"const\":\"b\"}},"
     "{"
     "\"contains\":{\"const\":\"c\"},\"maxContains\":1},{\"contains\":{\"const\":\"cd\"}},{"
     "\"contains\":{\"const\":\"d\"},\"maxContains\":1},{\"contains\":{\"const\":\"e\"}},{"
     "\"contains"
     "\":{\"const\":\"ef\"},\"maxContains\":1}]}",
     {"[\"a\",\"ab\",\"b\",\"c\",\"cd\",\"d\",\"e\",\"ef\"]",
      "[\"x\",\"ef\",\"d\",\"a\",\"a\",\"b\",\"ab\",\"cd\",\"c\",\"e\"]"}},
};

/* ---- lines ----------------------------------------------------------------------------------- */

#define FIELDS_MAX 80

typedef struct line {
  char name[64];
  struct field {
    char name[16];
    uint64_t value;
  } fields[FIELDS_MAX];
  size_t n;
} line;

static uint64_t line_get(const line *l, const char *name) {
  for (size_t i = 0; i < l->n; i++)
    if (!strcmp(l->fields[i].name, name)) return l->fields[i].value;
  return 0;
}

static void line_add(line *l, const char *name, uint64_t value) {
  if (!value) return;
  if (l->n == FIELDS_MAX || line_get(l, name)) abort();
  snprintf(l->fields[l->n].name, sizeof l->fields[l->n].name, "%s", name);
  l->fields[l->n++].value = value;
}

static void line_print(FILE *f, const line *l) {
  fprintf(f, "%s", l->name);
  for (size_t i = 0; i < l->n; i++)
    fprintf(f, !strcmp(l->fields[i].name, "hash") ? " %s=%016" PRIx64 : " %s=%" PRIu64,
            l->fields[i].name, l->fields[i].value);
  fputc('\n', f);
}

static void line_read(char *text, line *l) {
  *l = (line){0};
  char *word = strtok(text, " ");
  snprintf(l->name, sizeof l->name, "%s", word ? word : "");
  while ((word = strtok(NULL, " "))) {
    char *value = strchr(word, '=');
    if (!value) continue;
    *value++ = 0;
    line_add(l, word, strtoull(value, NULL, !strcmp(word, "hash") ? 16 : 10));
  }
}

static bool is_same(const char *name, uint64_t was, uint64_t is) {
  uint64_t slack = strcmp(name, "hashed") ? 0 : was / 32;
  return is >= was - slack && is <= was + slack;
}

static void compare(const line *expected, const line *found) {
  for (size_t i = 0; i < found->n; i++) {
    uint64_t was = line_get(expected, found->fields[i].name), is = found->fields[i].value;
    CHECKF(is_same(found->fields[i].name, was, is), "%s: %s was %" PRIu64 ", is %" PRIu64,
           found->name, found->fields[i].name, was, is);
  }
  for (size_t i = 0; i < expected->n; i++)
    CHECKF(line_get(found, expected->fields[i].name), "%s: %s was %" PRIu64 ", is 0", found->name,
           expected->fields[i].name, expected->fields[i].value);
}

/* ---- counting -------------------------------------------------------------------------------- */

static tsl_vocab *vocab;
static uint32_t mask[1 << 12];
static uint64_t allowed; /* hash of all that was */

static void note(uint64_t x) { allowed = tsl__mix(allowed * 31 + x + 0x9e3779b97f4a7c15u); }

static tsl_grammar *compile(const test_case *c) {
  tsl_schema_options options = {.order = c->kind == ORDERED ? TSL_ORDER_SCHEMA : TSL_ORDER_ANY,
                                .whitespace = c->kind == COMPACT  ? TSL_WS_COMPACT
                                              : c->kind == PRETTY ? TSL_WS_PRETTY
                                                                  : TSL_WS_ANY,
                                .indent = 2};
  size_t n = strlen(c->grammar);
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status =
      c->kind == REGEX  ? tsl_grammar_regex(vocab, c->grammar, n, NULL, NULL, &g, &error)
      : c->kind == GBNF ? tsl_grammar_gbnf(vocab, c->grammar, n, NULL, NULL, &g, &error)
      : c->kind == TAGS ? tsl_grammar_tags(vocab, c->grammar, n, &options, NULL, &g, &error)
                        : tsl_grammar_json_schema(vocab, c->grammar, n, &options, NULL, &g, &error);
  CHECKF(status == TSL_OK, "%s: %s %s", c->name, error.message, error.pointer);
  return g;
}

/* The mask, written out and lent, which are the same. */
static void note_mask(const test_case *c, tsl_matcher *m) {
  const uint32_t *lent = NULL;
  size_t bytes = tsl_vocab_mask_words(vocab) * sizeof *mask;
  CHECKF(tsl_matcher_mask(m, mask) == TSL_OK && tsl_matcher_mask_borrow(m, &lent, NULL) == TSL_OK &&
             !memcmp(mask, lent, bytes),
         "%s", c->name);
  for (size_t w = 0; w < bytes / sizeof *mask; w++)
    if (mask[w]) note((uint64_t)w << 32 | mask[w]);
}

/* A token that the rest of the text begins with and the mask has: the longest, or any. */
static bool choose(const char *rest, uint64_t *seed, tsl_token *out) {
  size_t left = strlen(rest), best = 0, met = 0;
  for (tsl_token t = 0; t < tsl_vocab_size(vocab); t++) {
    size_t n;
    const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &n);
    if (n == 0 || n > left || (uint8_t)*rest != *bytes || memcmp(rest, bytes, n) ||
        !tsl_mask_has(mask, t) || tsl_vocab_is_special(vocab, t))
      continue;
    if (seed ? tsl_test_random(seed) % ++met != 0 : n <= best) continue;
    best = n;
    *out = t;
  }
  return best > 0;
}

/* Along a text, by tokens; at its end it is complete. */
static void follow(const test_case *c, tsl_grammar *g, const char *text, uint64_t *seed) {
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (const char *rest = text; m;) {
    tsl_token t;
    size_t n;
    note_mask(c, m);
    if (!*rest) break;
    bool goes = choose(rest, seed, &t);
    CHECKF(goes, "%s: %s stops before %s", c->name, text, rest);
    if (!goes) break;
    CHECK(tsl_matcher_accept(m, t) == TSL_OK);
    tsl_vocab_bytes(vocab, t, &n);
    rest += n;
  }
  CHECKF(tsl_matcher_is_complete(m), "%s: %s is no whole text", c->name, text);
  tsl_matcher_free(m);
}

/* Anywhere: tokens drawn from the masks, some of them taken back. */
static void wander(const test_case *c, tsl_grammar *g, uint64_t seed, uint32_t steps) {
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  for (uint32_t i = 0; i < steps && !tsl_matcher_is_terminated(m); i++) {
    note_mask(c, m);
    tsl_token t = draw(mask, tsl_vocab_logits_width(vocab), &seed);
    if (t == TSL_NO_TOKEN) break;
    CHECK(tsl_matcher_accept(m, t) == TSL_OK);
    if (i % 5 == 4) CHECK(tsl_matcher_rollback(m, 2) == TSL_OK);
  }
  tsl_matcher_free(m);
}

static void walk_all(const test_case *c, tsl_grammar *g) {
  uint64_t seed = 7;
  for (size_t i = 0; i < 4 && c->texts[i]; i++) follow(c, g, c->texts[i], NULL);
  for (size_t i = 0; i < 4 && c->texts[i]; i++) follow(c, g, c->texts[i], &seed);
  for (uint64_t i = 0; i < 3; i++) wander(c, g, i, 10);
}

/* At each byte: what may come next, how far it is to an end, and what is forced. */
static void ask_all(const test_case *c, tsl_grammar *g) {
  for (size_t i = 0; i < 4 && c->texts[i]; i++) {
    tsl_matcher *m = NULL;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
    for (const char *at = c->texts[i];; at++) {
      uint32_t next[8] = {0};
      uint64_t bytes = 0;
      uint8_t forced[32];
      size_t n = 0;
      CHECK(tsl_matcher_next_bytes(m, next) == TSL_OK &&
            tsl_matcher_shortest_completion(m, &bytes) == TSL_OK &&
            tsl_matcher_forced_bytes(m, forced, sizeof forced, &n) == TSL_OK);
      for (unsigned w = 0; w < 8; w++) note(next[w]);
      note(bytes << 8 | n);
      if (!*at) break;
      CHECK(tsl_matcher_accept_bytes(m, at, 1, NULL) == TSL_OK);
    }
    tsl_matcher_free(m);
  }
}

/* The way to an end, from the beginning and from the middle of each text. */
static void plan_all(const test_case *c, tsl_grammar *g) {
  tsl_budget *b = NULL;
  CHECK(tsl_budget_new(g, NULL, &b) == TSL_OK);
  for (size_t i = 0; i < 4 && c->texts[i]; i++) {
    tsl_matcher *m = NULL;
    tsl_token tokens[64];
    size_t count = 0;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
          tsl_matcher_accept_bytes(m, c->texts[i], strlen(c->texts[i]) / 2, NULL) == TSL_OK);
    CHECKF(tsl_budget_completion(b, m, tokens, 64, &count) == TSL_OK, "%s: %s", c->name,
           c->texts[i]);
    note(count);
    for (size_t k = 0; k < count && k < 64; k++) note(tokens[k]);
    tsl_matcher_free(m);
  }
  tsl_budget_free(b);
}

static void line_add_tables(line *l, const tsl__space *s) {
#define TABLE(name) line_add(l, #name, s->name.pool.n);
  TABLE(states)
  TABLE(stand_ins)
  TABLE(leftovers)
  TABLE(children)
  TABLE(bitsets)
  TABLE(masks)
  TABLE(unions)
  TABLE(classes)
  TABLE(walks)
  TABLE(stacks)
  TABLE(moves)
  TABLE(named)
  TABLE(resumed)
  TABLE(nonascii_sets)
  TABLE(opens)
  TABLE(used)
  TABLE(seen_names)
  TABLE(texts)
  TABLE(distinct)
#undef TABLE
}

/* Steps of a second grammar of the same text: what the first left for it. */
static uint64_t learned(const test_case *c) {
  uint64_t steps = 0;
  for (int i = 0; i < 2; i++) {
    tsl_grammar *g = compile(c);
    if (!g) return 0;
    walk_all(c, g);
    steps = tsl__space_steps(g->space);
    tsl_grammar_release(g);
  }
  return steps;
}

/* Everything of one grammar. */
static void count_case(const test_case *c, const char *where, line *l) {
  *l = (line){0};
  snprintf(l->name, sizeof l->name, "%s/%s", c->name, where);
  memset(calls, 0, sizeof calls);
  allowed = 0;
  tsl_vocab_set_walk_cache(vocab, 0);
  tsl_grammar *g = compile(c);
  if (!g) return;
  uint64_t steps[4];
  walk_all(c, g);
  steps[0] = tsl__space_steps(g->space);
  walk_all(c, g);
  steps[1] = tsl__space_steps(g->space);
  ask_all(c, g);
  steps[2] = tsl__space_steps(g->space);
  plan_all(c, g);
  steps[3] = tsl__space_steps(g->space);
  tsl_grammar_stats stats;
  tsl_grammar_get_stats(g, &stats);
  uint64_t counted[CALLS];
  memcpy(counted, calls, sizeof calls);
  line_add(l, "hash", allowed);
  tsl_vocab_set_walk_cache(vocab, 16 << 20);
  line_add(l, "exprs", stats.exprs);
  line_add(l, "steps", steps[0]);
  line_add(l, "again", steps[1] - steps[0]);
  line_add(l, "asked", steps[2] - steps[1]);
  line_add(l, "planned", steps[3] - steps[2]);
  line_add(l, "learned", learned(c));
  line_add_tables(l, g->space);
  line_add(l, "rows", atomic_load(&g->space->rows));
  for (size_t i = 0; i < CALLS; i++) line_add(l, call_names[i], counted[i]);
  tsl_grammar_release(g);
}

static uint64_t bits_of(const uint32_t *words) {
  return words ? tsl_mask_count(words, tsl_vocab_logits_width(vocab)) : 0;
}

/* What a vocabulary has for all its grammars; `learned` with the cache of walks as it is in the
 * beginning. */
static void count_vocab(const char *where, line *l) {
  *l = (line){0};
  snprintf(l->name, sizeof l->name, "/%s", where);
  memset(calls, 0, sizeof calls);
  line_add(l, "learned", learned(&cases[0]));
  tsl_grammar *g = compile(&(test_case){
      .name = where, .kind = SCHEMA, .grammar = "{\"type\":\"array\",\"uniqueItems\":true}"});
  if (!g) return;
  tsl_grammar_release(g);
  g = compile(&(test_case){.name = where, .kind = SCHEMA, .grammar = "true"});
  const tsl__space *s = g->space->parent;
  const tsl__linear *t = s->linear;
  const tsl__boundary *x = s->boundary;
  line_add_tables(l, s);
  line_add(l, "nodes", vocab->trie.node_count);
  line_add(l, "sets", vocab->trie.set_count);
  line_add(l, "row", t->n);
  line_add(l, "longer", s->lengths->longer_count);
  CHECK(x != NULL);
  if (x) {
    line_add(l, "comma", x->comma.n);
    line_add(l, "quoted", x->quoted.n);
    line_add(l, "dull", bits_of(x->dull));
    line_add(l, "dull_quoted", bits_of(x->dull_quoted));
    line_add(l, "space", bits_of(x->space));
    line_add(l, "first", x->first.n);
    line_add(l, "whole", x->whole.n);
    line_add(l, "closed", x->closed.n);
    line_add(l, "closed_quoted", x->closed_quoted.n);
    line_add(l, "several", x->several.n);
    line_add(l, "several_quoted", x->several_quoted.n);
    line_add(l, "members", x->named.n);
    line_add(l, "begun", x->begun.n);
    line_add(l, "starts", x->names_count);
  }
  for (size_t i = 0; i < CALLS; i++) line_add(l, call_names[i], calls[i]);
  tsl_grammar_release(g);
}

/* ---- the file -------------------------------------------------------------------------------- */

#define LINES_MAX 400
static line lines[LINES_MAX];
static size_t line_count;

static line *next_line(void) {
  if (line_count == LINES_MAX) abort();
  return &lines[line_count++];
}

static void count_all(void) {
  static const char *const names[HEAVY_KINDS] = {"json", "letters", "wide", "escapes"};
  uint64_t seed = 31;
  for (unsigned v = 0; v <= HEAVY_KINDS; v++) {
    const char *where = v ? names[v - 1] : "embedded";
    if (v)
      vocab = heavy_vocab(v - 1, &seed);
    else
      CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
    CHECK(tsl_vocab_mask_words(vocab) <= sizeof mask / sizeof *mask);
    count_vocab(where, next_line());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
      if (!v || (i % HEAVY_KINDS == v - 1 || (v == 1 && !strncmp(cases[i].name, "unique", 6))))
        count_case(&cases[i], where, next_line());
    tsl_vocab_release(vocab);
  }
}

static void write_file(void) {
  FILE *f = fopen(EXPECTED, "w");
  CHECK(f != NULL);
  if (!f) return;
  fprintf(f, "# What grammars cost: see tests/engine/test_costs.c. Written by `./dev costs`.\n");
  for (size_t i = 0; i < line_count; i++) line_print(f, &lines[i]);
  CHECK(fclose(f) == 0);
}

static void compare_file(void) {
  size_t n, met = 0;
  char *text = text_of_file(EXPECTED, &n);
  CHECK(text != NULL);
  for (char *at = text, *end; at && *at; at = end) {
    line expected;
    end = strchr(at, '\n');
    if (end) *end++ = 0;
    if (*at == '#') continue;
    line_read(at, &expected);
    CHECKF(met < line_count && !strcmp(expected.name, lines[met].name), "%s where %s is expected",
           met < line_count ? lines[met].name : "nothing", expected.name);
    if (met < line_count && !strcmp(expected.name, lines[met].name))
      compare(&expected, &lines[met]);
    met++;
  }
  CHECKF(met == line_count, "%zu lines for %zu", met, line_count);
  if (tsl_test_failed)
    fprintf(stderr,
            "If the change is meant, `./dev costs` writes %s anew; `git diff --word-diff` shows "
            "what changed.\n",
            EXPECTED);
  free(text);
}

int main(int count, char **arguments) {
  RUN(count_all, "grammars along their texts");
  if (count > 1 && !strcmp(arguments[1], "--write"))
    RUN(write_file, "written to " EXPECTED);
  else
    RUN(compare_file, "compared with " EXPECTED);
  return tsl_test_end();
}
