/* test_listed.c - arrays of few values, which must differ and are counted
 * (compiler/schema/unique/ends.c): the shortest end, beside a search through all sets of values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/check.h"
#include "turnstile.h"

#define VALUES_MAX 9u
#define OTHERS 4u /* of numbers that no list has, the shortest: as many as may be needed */

static tsl_vocab *vocab;
static uint64_t seed = 20281201;
static unsigned long compared, empty;

static unsigned below(unsigned n) { return (unsigned)(tsl_test_random(&seed) % n); }

/* A schema, and what it says. */
static char schema[4096];
static char values[VALUES_MAX][16];
static unsigned listed, count; /* values of the list; with the others */
static unsigned counted[2];    /* by counter: a bit for each value that it counts */
static unsigned least[2], most[2], counters, min, max;

static char *put_list(char *to, unsigned bits) {
  to += sprintf(to, "{\"enum\":[");
  for (unsigned i = 0, n = 0; i < listed; i++)
    if (bits >> i & 1) to += sprintf(to, "%s%s", n++ ? "," : "", values[i]);
  return to + sprintf(to, "]}");
}

static void make_schema(void) {
  char *to = schema;
  listed = 2 + below(4);
  bool others = below(2);
  count = listed + (others ? OTHERS : 0);
  for (unsigned i = 0; i < listed; i++)
    sprintf(values[i], below(2) ? "\"%u%.*s\"" : "-%u%.*s", i + 1, (int)below(5), "11111");
  for (unsigned i = listed; i < count; i++) sprintf(values[i], "%u", 100 + i);
  counters = below(3), min = below(5), max = min + below(4);
  to += sprintf(to, "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":%u,\"maxItems\":%u", min,
                max);
  to += sprintf(to, ",\"items\":{\"anyOf\":[");
  to = put_list(to, (1u << listed) - 1);
  to += sprintf(to, others ? ",{\"type\":\"integer\",\"minimum\":100}]},\"allOf\":[{}"
                           : "]},\"allOf\":[{}");
  for (unsigned k = 0; k < counters; k++) {
    counted[k] = 1 + below((1u << listed) - 1);
    least[k] = below(4), most[k] = below(2) ? least[k] + below(3) : 99;
    to += sprintf(to, ",{\"minContains\":%u,\"maxContains\":%u,\"contains\":", least[k], most[k]);
    to = put_list(to, counted[k]);
    to += sprintf(to, "}");
  }
  sprintf(to, "]}");
}

static bool satisfied(unsigned set) {
  unsigned n = (unsigned)__builtin_popcount(set);
  for (unsigned k = 0; k < counters; k++) {
    unsigned c = (unsigned)__builtin_popcount(set & counted[k]);
    if (c < least[k] || c > most[k]) return false;
  }
  return n >= min && n <= max;
}

/* The fewest bytes of an array with these items and others, or UINT64_MAX; brackets are counted. */
static uint64_t fewest(unsigned used) {
  uint64_t best = UINT64_MAX;
  for (unsigned set = 0; set < 1u << count; set++) {
    uint64_t bytes = 2;
    if ((set & used) != used || !satisfied(set)) continue;
    for (unsigned i = 0; i < count; i++)
      if (set >> i & 1) bytes += strlen(values[i]) + 1;
    bytes -= set != 0;
    if (bytes < best) best = bytes;
  }
  return best;
}

/* Where there are enough values, an item may count as if it came again: a lower bound
 * (turnstile.h). */
static bool is_right(uint64_t bytes, uint64_t whole) {
  return count > listed || 2 * min <= listed ? bytes <= whole : bytes == whole;
}

static bool accept(tsl_matcher *m, const char *text, uint64_t *bytes) {
  *bytes += strlen(text);
  return tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK;
}

/* Items in random order, and after each one the length that is left. */
static void follow(tsl_grammar *g) {
  unsigned used = 0, n = 0;
  uint64_t bytes = 0, left = 0;
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && accept(m, "[", &bytes));
  for (unsigned tries = 0; m && tries < 12; tries++) {
    unsigned i = below(count);
    tsl_matcher *copy = NULL;
    uint64_t before = bytes;
    if (used >> i & 1) continue;
    CHECK(tsl_matcher_fork(m, &copy) == TSL_OK);
    bool went = (!n || accept(copy, ",", &bytes)) && accept(copy, values[i], &bytes);
    uint64_t whole = fewest(used | 1u << i);
    CHECKF(went == (whole != UINT64_MAX), "%s: %s after %u", schema, values[i], used);
    compared++;
    tsl_matcher_free(went ? m : copy);
    if (!went) {
      bytes = before;
      continue;
    }
    m = copy;
    used |= 1u << i;
    n++;
    /* a number may go on with further digits: what is said of its end counts */
    if (values[i][0] != '"') continue;
    CHECK(tsl_matcher_shortest_completion(m, &left) == TSL_OK);
    CHECKF(is_right(bytes + left, whole), "%s: %u after %u, not %u", schema,
           (unsigned)(bytes + left), used, (unsigned)whole);
  }
  tsl_matcher_free(m);
}

static void shortest_ends(void) {
  const tsl_schema_options options = {.whitespace = TSL_WS_COMPACT};
  for (unsigned i = 0; i < ROUNDS_OF(1200u); i++) {
    tsl_grammar *g = NULL;
    tsl_matcher *m = NULL;
    tsl_error error = {0};
    uint64_t bytes = 0;
    make_schema();
    uint64_t whole = fewest(0);
    tsl_status status =
        tsl_grammar_json_schema(vocab, schema, strlen(schema), &options, NULL, &g, &error);
    if (status == TSL_ERR_UNSUPPORTED) continue;
    CHECKF(status == (whole == UINT64_MAX ? TSL_ERR_EMPTY : TSL_OK), "%s: %s", schema,
           error.message);
    empty += status == TSL_ERR_EMPTY;
    if (!g) continue;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
          tsl_matcher_shortest_completion(m, &bytes) == TSL_OK);
    CHECKF(is_right(bytes, whole), "%s: %u, not %u", schema, (unsigned)bytes, (unsigned)whole);
    tsl_matcher_free(m);
    follow(g);
    tsl_grammar_release(g);
  }
  printf("  %lu items, %lu schemas that nothing satisfies\n", compared, empty);
  CHECK(compared > 200 && empty > 5);
}

/* All of 40 values, of which half are counted: no search through their sets. */
static void many_values(void) {
  char *to = schema, *list;
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  const tsl_limits limits = {.max_steps = 200000};
  to +=
      sprintf(to, "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":40,\"items\":{\"enum\":");
  list = to;
  for (unsigned i = 0; i < 40; i++) to += sprintf(to, "%s\"v%u\"", i ? "," : "[", i);
  to +=
      sprintf(to, "]},\"contains\":{\"enum\":%.*s]}}", (int)(strstr(list, ",\"v20") - list), list);
  CHECKF(tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, &limits, &g, &error) ==
             TSL_OK,
         "%s", error.message);
  tsl_grammar_release(g);
}

/* Items of which structure shows that there are enough values: nothing is listed. */
static void enough_values(void) {
  static const struct {
    const char *items, *valid, *invalid; /* three items */
  } cases[] = {
      {"{\"type\":\"array\",\"items\":{\"type\":\"boolean\"}}", "[[],[true],[true,true]]",
       "[[],[true],[]]"},
      {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":"
       "\"integer\"}},\"dependentRequired\":{\"a\":[\"b\"]}}",
       "[{},{\"b\":1},{\"a\":\"\",\"b\":1}]", "[{},{\"b\":1},{\"a\":\"\"}]"},
      {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":"
       "\"integer\"}},\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}],"
       "\"additionalProperties\":false}",
       "[{\"a\":\"\"},{\"b\":1},{\"a\":\"\",\"b\":1}]", "[{\"a\":\"\"},{\"b\":1},{}]"},
      {"{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"contains\":{\"const\":\"a\"}}",
       "[[\"a\"],[\"a\",\"b\"],[\"b\",\"a\"]]", "[[\"a\"],[\"a\",\"b\"],[\"b\"]]"},
      /* so few that they would be listed, if they were not arrays */
      {"{\"type\":\"array\",\"items\":{\"enum\":[1,2,3,4,5]},\"minItems\":1,\"maxItems\":1}",
       "[[1],[2],[5]]", "[[1],[2],[2]]"},
      {"{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100},"
       "\"minItems\":1,\"maxItems\":1}",
       "[[1],[2],[3]]", "[[1],[2],[1]]"},
      {"{\"type\":\"array\",\"contains\":{\"type\":\"string\"},\"maxItems\":1}",
       "[[\"a\"],[\"b\"],[\"c\"]]", "[[\"a\"],[\"b\"],[\"a\"]]"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    size_t length = (size_t)snprintf(
        schema, sizeof schema,
        "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":3,\"items\":%s}", cases[i].items);
    tsl_status status = tsl_grammar_json_schema(vocab, schema, length, NULL, NULL, &g, &error);
    CHECKF(status == TSL_OK, "%s: %s", schema, error.message);
    for (int valid = 0; g && valid < 2; valid++) {
      const char *text = valid ? cases[i].valid : cases[i].invalid;
      tsl_matcher *m;
      CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
      bool whole = tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK &&
                   tsl_matcher_is_complete(m);
      CHECKF(whole == valid, "%s: %s", schema, text);
      tsl_matcher_free(m);
    }
    tsl_grammar_release(g);
  }
}

/* Three items of fewer values, or of just so many. */
static void too_few_values(void) {
  static const struct {
    const char *items;
    tsl_status status;
  } cases[] = {
#define IN_ARRAY(item) "{\"type\":\"array\",\"minItems\":1,\"maxItems\":1,\"items\":" item "}"
      {"\"items\":" IN_ARRAY(IN_ARRAY(IN_ARRAY("{\"type\":\"boolean\"}"))), TSL_ERR_EMPTY},
      {"\"items\":" IN_ARRAY(IN_ARRAY(IN_ARRAY("{\"enum\":[1,2,3]}"))), TSL_OK},
      /* too deep to be listed */
      {"\"items\":" IN_ARRAY(IN_ARRAY(IN_ARRAY(IN_ARRAY("{\"type\":\"boolean\"}")))),
       TSL_ERR_UNSUPPORTED},
      {"\"items\":{\"enum\":[1,2]}", TSL_ERR_EMPTY},
      {"\"items\":{\"enum\":[1,2,\"a\"]}", TSL_OK},
      {"\"items\":{\"type\":\"boolean\"}", TSL_ERR_EMPTY},
      {"\"items\":{\"type\":[\"boolean\",\"null\"]}", TSL_OK},
#define PAIR(more)                                                                               \
  "\"items\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"boolean\"},\"b\":{\"type\":" \
  "\"boolean\"}},\"additionalProperties\":false" more "}"
      {PAIR(",\"required\":[\"a\"],\"maxProperties\":1"), TSL_ERR_EMPTY},
      {PAIR(",\"required\":[\"a\"],\"maxProperties\":2"), TSL_OK},
      {PAIR(",\"maxProperties\":1"), TSL_OK},
      {PAIR(",\"maxProperties\":0"), TSL_ERR_EMPTY},
      {"\"items\":{\"type\":\"array\",\"maxItems\":1,\"items\":{\"const\":1}}", TSL_ERR_EMPTY},
      {"\"items\":{\"type\":\"array\",\"maxItems\":2,\"items\":{\"const\":1}}", TSL_OK},
      {"\"items\":{\"type\":\"array\",\"minItems\":2,\"maxItems\":2,\"uniqueItems\":true,"
       "\"items\":{\"type\":\"boolean\"}}",
       TSL_ERR_EMPTY},
      {"\"items\":{\"type\":\"array\",\"prefixItems\":[{\"const\":1}],\"maxItems\":1,"
       "\"contains\":{\"type\":\"integer\"}}",
       TSL_ERR_EMPTY},
      {"\"items\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":2}", TSL_ERR_EMPTY},
      {"\"items\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3}", TSL_OK},
      {"\"items\":{\"type\":\"string\",\"pattern\":\"^[ab]$\"}", TSL_ERR_EMPTY},
      {"\"items\":{\"type\":\"string\",\"pattern\":\"^[abc]$\"}", TSL_OK},
      {"\"prefixItems\":[{\"const\":1},{\"const\":1}]", TSL_ERR_EMPTY},
      {"\"prefixItems\":[{\"const\":1},{\"const\":2}]", TSL_OK},
      {"\"prefixItems\":[{\"enum\":[1,2]},{\"enum\":[1,2]},{\"enum\":[1,2]}]", TSL_ERR_EMPTY},
#define WORD_OR_NUMBER "\"items\":{\"anyOf\":[{\"const\":\"a\"},{\"type\":\"integer\"}]}"
      {WORD_OR_NUMBER ",\"contains\":{\"type\":\"integer\"},\"maxContains\":1", TSL_ERR_EMPTY},
      {WORD_OR_NUMBER ",\"contains\":{\"type\":\"integer\"},\"maxContains\":2", TSL_OK},
      {WORD_OR_NUMBER ",\"contains\":{\"type\":\"string\"},\"minContains\":2", TSL_ERR_EMPTY},
      {WORD_OR_NUMBER ",\"contains\":{\"type\":\"string\"},\"minContains\":1", TSL_OK},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    size_t length = (size_t)snprintf(schema, sizeof schema,
                                     "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":3,%s}",
                                     cases[i].items);
    tsl_status status = tsl_grammar_json_schema(vocab, schema, length, NULL, NULL, &g, &error);
    CHECKF(status == cases[i].status, "%s: %s: %s", schema, tsl_status_name(status), error.message);
    tsl_grammar_release(g);
  }
}

int main(void) {
  tsl_error error;
  CHECK(tsl_vocab_embedded(NULL, &vocab, &error) == TSL_OK);
  RUN(shortest_ends, "the shortest end of unique items that are counted");
  RUN(many_values, "many such values");
  RUN(enough_values, "items that plainly have enough values");
  RUN(too_few_values, "items that have too few");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
