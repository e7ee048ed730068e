/* test_ahead.c - masks that a compile makes ahead. They are masks that texts come by, they are the
 * same as without, and their memory and time are bounded.
 *
 * A schema is compiled twice, as by default and `lazy`. What was looked at is seen in the grammar's
 * own tables: a position has its mask before anybody requested it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/grammar.h"
#include "tests/support/faulty.h"
#include "tests/support/failing.h"

static const char *const words[] = {"{\"",  "\":",   "\",\"",  "null", "true", "ab",     "abc",
                                    " \"a", "12",    "0.5",    "]]",   "},",   "\"a\":", "na",
                                    "me",   "me\":", "\":{\"", "[{\"", ", \"", "<end>"};
enum { WORDS = sizeof words / sizeof *words, SIZE = 256 + WORDS, MASK_WORDS = (SIZE + 31) / 32 };

#define TWELVE                                                                                     \
  "\"o1\":{\"type\":\"integer\"},\"o2\":{\"type\":\"integer\",\"minimum\":3},\"o3\":{\"enum\":["   \
  "\"a\",\"b\"]},\"o4\":{\"type\":\"array\"},\"o5\":{\"type\":\"object\"},"                        \
  "\"o6\":{\"type\":\"null\"},\"o7\":{\"type\":\"string\",\"pattern\":\"^x+$\"},\"o8\":{\"type\":" \
  "\"number\"},\"o9\":{\"type\":\"string\",\"maxLength\":9},"                                      \
  "\"oa\":{},\"ob\":{\"type\":\"boolean\"},\"oc\":{\"type\":\"string\",\"format\":\"date\"}"

static const char broad[] =
    "{\"type\":\"object\",\"properties\":{\"n1\":{\"type\":\"integer\"},\"n2\":{\"type\":"
    "\"integer\"},\"n3\":{\"type\":\"integer\"},\"n4\":{\"type\":\"integer\"},\"n5\":{\"type\":"
    "\"integer\"},"
    "\"n6\":{\"type\":\"integer\"},\"n7\":{\"type\":\"integer\"},\"n8\":{\"type\":\"integer\"},"
    "\"n9\":{\"type\":\"integer\"},\"name\":{\"type\":\"string\",\"minLength\":2},"
    "\"in\":{\"$ref\":\"#/$defs/r\"},\"like\":{\"$ref\":\"#/$defs/r\"},"
    "\"list\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"item\":{"
    "\"type\":\"integer\",\"maximum\":7}},\"additionalProperties\":false}},"
    "\"a\\\"b\":{\"type\":\"integer\",\"maximum\":5}},\"required\":[\"name\",\"in\",\"list\","
    "\"like\",\"a\\\"b\"],"
    "\"$defs\":{\"r\":{\"type\":\"object\",\"properties\":{\"deep\":{\"type\":\"string\","
    "\"minLength\":1,\"maxLength\":3}},\"required\":[\"deep\"]}}}";

static const char alternatives[] =
    "{\"oneOf\":[{\"type\":\"object\",\"properties\":{\"kind\":{\"const\":\"x\"}," TWELVE
    "},\"required\":[\"kind\"]},"
    "{\"type\":\"object\",\"properties\":{\"kind\":{\"const\":\"y\"},\"z\":{\"type\":\"integer\"}},"
    "\"required\":[\"kind\"]}]}";

static const char patterns[] =
    "{\"type\":\"object\",\"properties\":{" TWELVE
    "},\"patternProperties\":{\"^x-\":{\"type\":\"string\"},\"^o[1-9]$\":{\"minimum\":0}},"
    "\"additionalProperties\":{\"type\":\"array\",\"items\":{\"enum\":[1,2]}}}";

/* twice */
static const char no_object[] =
    "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{" TWELVE ","
    "\"p\":{\"type\":\"object\",\"properties\":{" TWELVE "}}}}}";

static const char small[] = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},"
                            "\"b\":{\"type\":\"integer\",\"minimum\":3}},\"required\":[\"name\"]}";

/* Known by letters: of so few subschemas only these are looked at, where they are required. */
static const char lettered[] =
    "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\",\"pattern\":\"^[a-z]{3}-[0-"
    "9]+$\"},\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^[A-F0-9]{"
    "20}$\"}},"
    "\"in\":{\"type\":\"object\",\"properties\":{\"key\":{\"type\":\"string\",\"pattern\":\"^[^.]+$"
    "\"}},\"required\":[\"key\"]},\"e\":{\"enum\":[\"x\",\"y\"]},\"s\":{\"type\":\"string\"},\"n\":"
    "{"
    "\"type\":\"integer\"},\"maybe\":{\"type\":\"string\",\"pattern\":\"^[a-z]{3}-[0-9]+$\"}},"
    "\"required\":[\"n\",\"code\",\"tags\",\"in\",\"e\",\"s\"]}";

static tsl_vocab *vocab;

static tsl_grammar *compile(const char *schema, const tsl_schema_options *options,
                            const tsl_limits *limits) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status =
      tsl_grammar_json_schema(vocab, schema, strlen(schema), options, limits, &g, &error);
  CHECKF(status == TSL_OK, "%s", error.message);
  return g;
}

/* Has the position after a text a mask that nobody requested yet? */
static bool is_known(tsl_grammar *g, const char *text) {
  size_t accepted;
  tsl__space_begin(g->space);
  tsl__stack at =
      tsl__stack_bytes(g->space, g->begin, (const uint8_t *)text, strlen(text), &accepted);
  CHECKF(at, "%s", text);
  return at && atomic_load(&((tsl__stack_rec *)(uintptr_t)tsl__stack_at(g->space, at))->mask);
}

static void check_places(void) {
  static const char *const looked_at[] = {"",
                                          "{\"",
                                          "{\"name",
                                          "{\"name\":",
                                          "{\"name\":\"",
                                          "{\"name\": \"",
                                          "{\"in",
                                          "{\"in\":",
                                          "{\"in\": {\"",
                                          "{\"in\":{\"deep",
                                          "{\"in\":{\"deep\": \"",
                                          "{\"list\":[{\"",
                                          "{\"name\":\"a",
                                          "{\"name\":\"aa"};
  static const char *const not_yet[] = {
      "{", "{\"na", "{\"name\":\"aa\"", "{\"x", "{\"a\\\"b", "{\"name\": \"ab\", \"", "{\"n1\":1"};
  const tsl_schema_options any = {.order = TSL_ORDER_ANY},
                           lazy = {.order = TSL_ORDER_ANY, .lazy = true};
  tsl_grammar *g = compile(broad, &any, NULL), *l = compile(broad, &lazy, NULL),
              *s = compile(small, &any, NULL);
  for (size_t i = 0; i < sizeof looked_at / sizeof *looked_at; i++)
    CHECKF(is_known(g, looked_at[i]) && !is_known(l, looked_at[i]), "%s", looked_at[i]);
  for (size_t i = 0; i < sizeof not_yet / sizeof *not_yet; i++)
    CHECKF(!is_known(g, not_yet[i]), "%s", not_yet[i]);
  CHECK(!is_known(s, "") && !is_known(s, "{\"") && !is_known(s, "{\"name"));
  tsl_grammar_release(g);
  tsl_grammar_release(l);
  tsl_grammar_release(s);
}

static void check_strings(void) {
  static const char *const looked_at[] = {
      "{\"code\":\"",        "{\"code\":\"a",       "{\"code\":\"aaa",
      "{\"code\":\"aaa-",    "{\"code\":\"aaa-0",   "{\"code\": \"xyz-12",
      "{\"tags\":[\"",       "{\"tags\":[\"0",      "{\"tags\":[\"ABCDEF012345678",
      "{\"in\":{\"key\":\"", "{\"in\":{\"key\":\"!"};
  static const char *const not_yet[] = {"",
                                        "{\"",
                                        "{\"code",
                                        "{\"code\":",
                                        "{\"tags\":[",
                                        "{\"tags\":[\"ABCDEF0123456789",
                                        "{\"in\":{\"",
                                        "{\"e\":\"",
                                        "{\"n\":1",
                                        "{\"maybe\":\"aaa-",
                                        "{\"n\":1,\"s\":\"a\""};
  tsl_grammar *g = compile(lettered, &(tsl_schema_options){.order = TSL_ORDER_ANY}, NULL),
              *l = compile(lettered, &(tsl_schema_options){.order = TSL_ORDER_ANY, .lazy = true},
                           NULL);
  for (size_t i = 0; i < sizeof looked_at / sizeof *looked_at; i++)
    CHECKF(is_known(g, looked_at[i]) && !is_known(l, looked_at[i]), "%s", looked_at[i]);
  for (size_t i = 0; i < sizeof not_yet / sizeof *not_yet; i++)
    CHECKF(!is_known(g, not_yet[i]), "%s", not_yet[i]);
  tsl_grammar_release(g);
  tsl_grammar_release(l);
}

/* Some token of the mask. */
static tsl_token draw(uint64_t *seed, const uint32_t *mask) {
  uint32_t from = (uint32_t)(tsl_test_random(seed) % SIZE);
  for (uint32_t i = 0; i < SIZE; i++)
    if (tsl_mask_has(mask, (from + i) % SIZE)) return (from + i) % SIZE;
  return SIZE;
}

/* Both matchers say the same all the way. */
static void walk_both(tsl_matcher *m, tsl_matcher *l, uint64_t *seed) {
  uint32_t mask[MASK_WORDS], other[MASK_WORDS];
  tsl_matcher_reset(m);
  tsl_matcher_reset(l);
  for (int i = 0; i < 60; i++) {
    CHECK(tsl_matcher_mask(m, mask) == TSL_OK && tsl_matcher_mask(l, other) == TSL_OK);
    CHECK(!memcmp(mask, other, sizeof mask));
    tsl_token t = draw(seed, mask);
    if (t >= SIZE - 1) return; /* the end, or nothing */
    CHECK(tsl_matcher_accept(m, t) == TSL_OK && tsl_matcher_accept(l, t) == TSL_OK);
  }
}

static void compare(const char *schema, tsl_schema_options options, const tsl_limits *limits) {
  uint64_t seed = 7;
  tsl_matcher *m = NULL, *l = NULL;
  tsl_grammar *g = compile(schema, &options, limits);
  options.lazy = true;
  tsl_grammar *lazy = compile(schema, &options, NULL);
  if (!g || !lazy) return;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_new(lazy, NULL, &l) == TSL_OK);
  for (int i = 0; i < 40 && m && l; i++) walk_both(m, l, &seed);
  tsl_matcher_free(m);
  tsl_matcher_free(l);
  tsl_grammar_release(g);
  tsl_grammar_release(lazy);
}

static void check_masks(void) {
  static const char *const schemas[] = {broad, alternatives, patterns, no_object, small, lettered};
  for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
    compare(schemas[i], (tsl_schema_options){.order = TSL_ORDER_ANY}, NULL);
    compare(schemas[i], (tsl_schema_options){.order = TSL_ORDER_SCHEMA}, NULL);
    compare(schemas[i], (tsl_schema_options){.order = TSL_ORDER_ANY, .whitespace = TSL_WS_COMPACT},
            NULL);
    compare(schemas[i],
            (tsl_schema_options){.order = TSL_ORDER_ANY, .whitespace = TSL_WS_PRETTY, .indent = 2},
            NULL);
    compare(schemas[i], (tsl_schema_options){.order = TSL_ORDER_ANY, .repeated_names = true}, NULL);
  }
}

/* Names of many patterns, and values that take long to see: no more steps than are allowed, and one
 * look at the limits. */
static void check_bounds(void) {
  static char schema[1 << 16];
  size_t n =
      (size_t)snprintf(schema, sizeof schema, "{\"type\":\"object\",\"patternProperties\":{");
  for (int i = 0; i < 5; i++)
    n += (size_t)snprintf(schema + n, sizeof schema - n, "\"%c.{%d}%c\":{\"minimum\":%d},", 'a' + i,
                          i + 2, 'b' + i, i);
  n += (size_t)snprintf(schema + n, sizeof schema - n, "\"^q\":{}},\"properties\":{" TWELVE "}}");
  const tsl_limits limits = {.max_steps = 3000000, .max_memory = 64u << 20};
  const tsl_schema_options any = {.order = TSL_ORDER_ANY},
                           lazy = {.order = TSL_ORDER_ANY, .lazy = true};
  tsl_grammar *g = compile(schema, &any, &limits), *l = compile(schema, &lazy, &limits);
  if (!g || !l) return;
  uint64_t more = tsl__space_steps(g->space) - tsl__space_steps(l->space);
  CHECKF(more >= 1 && more < 4096, "%llu steps", (unsigned long long)more);
  CHECK(g->space->work.max_steps == limits.max_steps &&
        g->space->work.max_memory == limits.max_memory && g->space->status == TSL_OK);
  tsl_grammar_release(g);
  tsl_grammar_release(l);
}

/* Thirty required strings of twelve positions each, none of which is another's: some are looked at,
 * not all. */
static void check_states(void) {
  static char schema[1 << 14];
  size_t n = (size_t)snprintf(schema, sizeof schema, "{\"type\":\"object\",\"properties\":{");
  for (int i = 0; i < 30; i++) {
    n += (size_t)snprintf(schema + n, sizeof schema - n,
                          "%s\"m%02d\":{\"type\":\"string\",\"pattern\":\"^", i ? "," : "", i);
    for (int k = 0; k < 12; k++)
      n += (size_t)snprintf(schema + n, sizeof schema - n, "[%c-z]", 'b' + (i * 7 + k * 5) % 16);
    n += (size_t)snprintf(schema + n, sizeof schema - n, "$\"}");
  }
  n += (size_t)snprintf(schema + n, sizeof schema - n, "},\"required\":[");
  for (int i = 0; i < 30; i++)
    n += (size_t)snprintf(schema + n, sizeof schema - n, "%s\"m%02d\"", i ? "," : "", i);
  snprintf(schema + n, sizeof schema - n, "]}");
  tsl_grammar *g = compile(schema, &(tsl_schema_options){.order = TSL_ORDER_ANY}, NULL),
              *l = compile(schema, &(tsl_schema_options){.order = TSL_ORDER_ANY, .lazy = true},
                           NULL);
  if (!g || !l) return;
  uint32_t more = tsl__space_count(g->space, states) - tsl__space_count(l->space, states);
  CHECKF(more >= 150 && more < 256, "%u states", more);
  CHECK(is_known(g, "{\"m00\":\"zzz") && !is_known(g, "{\"m29\":\"zzz"));
  tsl_grammar_release(g);
  tsl_grammar_release(l);
}

/* Where memory is almost full after the compile, looking ahead takes nothing from those who come
 * for good. */
static void check_memory(void) {
  const tsl_schema_options lazy = {.order = TSL_ORDER_ANY, .lazy = true};
  tsl_grammar *l = compile(broad, &lazy, NULL);
  if (!l) return;
  size_t least = tsl__space_memory(l->space);
  tsl_grammar_release(l);
  for (size_t more = 0; more < 400000; more += 20000) {
    const tsl_limits limits = {.max_memory = least + more};
    tsl_grammar *g = compile(broad, &(tsl_schema_options){.order = TSL_ORDER_ANY}, &limits);
    if (g) CHECK(g->space->work.max_memory == limits.max_memory && g->space->status == TSL_OK);
    tsl_grammar_release(g);
  }
  compare(broad, (tsl_schema_options){.order = TSL_ORDER_ANY},
          &(tsl_limits){.max_memory = 1u << 20});
}

/* Any request of memory may fail while masks are made ahead. Either there is no memory for the
 * grammar, or the grammar is made and answers as it should. */
static void check_failures(void) {
  const tsl_schema_options any = {.order = TSL_ORDER_ANY};
  faulty f;
  faulty_begin(&f);
  tsl_vocab *all = vocab;
  tsl_error error;
  CHECK(faulty_vocab(words, WORDS, 1, 0, &f.hook, &vocab, &error) == TSL_OK);
  tsl_grammar_release(compile(broad, &any, NULL)); /* the vocabulary's own part is made */
  for (unsigned long n = 0;; n++) {
    tsl_grammar *g = NULL;
    faulty_arm(&f, n, n % 2);
    tsl_status status =
        tsl_grammar_json_schema(vocab, broad, strlen(broad), &any, NULL, &g, &error);
    bool failed = f.failed;
    faulty_disarm(&f);
    CHECK(status == TSL_OK || (failed && status == TSL_ERR_NO_MEMORY && !g));
    if (g) CHECK(is_known(g, "{\"name") || failed);
    tsl_grammar_release(g);
    if (!failed) break;
  }
  compare(broad, any, NULL);
  tsl_vocab_release(vocab);
  CHECK(f.blocks == 0 && !f.wrong_size);
  vocab = all;
}

int main(void) {
  tsl_error error;
  if (faulty_vocab(words, WORDS, 1, 0, NULL, &vocab, &error) != TSL_OK) return 1;
  RUN(check_places, "what is looked at, and what is not");
  RUN(check_strings, "positions of strings that are known by their letters");
  RUN(check_masks, "the same masks as without");
  RUN(check_bounds, "steps are bounded");
  RUN(check_states, "states are bounded");
  RUN(check_memory, "memory is left to others");
  RUN(check_failures, "failing requests fail no more than before");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
