/* test_choices.c - objects with many choices that have little to do with each other, which are
 * followed as clauses (compiler/schema/choice/clause.c): random schemas beside a validator.
 *
 * Each schema has so many if/then/else, dependentSchemas, anyOf, oneOf and negations about a dozen
 * members that their product is past all limits. Random instances, members in any order, must be
 * accepted byte by byte just if the validator says that they are valid. Texts that are drawn, in
 * both orders, must come to an end and be valid. Likewise arrays with several `contains`
 * (compiler/schema/array.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/draw.h"
#include "tests/judges/validator.h"

#define NAMES 10u
#define TEXT_MAX 4096u

static tsl_vocab *vocab;
static uint64_t seed = 11;
static unsigned rounds = ROUNDS_OF(120u), first; /* numbers of schemas, from which on */
static unsigned long valid, invalid, drawn, empty;

#define CHOICES_MAX 14
static char schema[1 << 16];
static size_t schema_n, begins[CHOICES_MAX], ends[CHOICES_MAX]; /* the choices' places in it */
static char base[(1 << 16) + 2];                                /* the schema without them */
static unsigned choices;

static unsigned below(unsigned n) { return (unsigned)(tsl_test_random(&seed) % n); }
static void put(const char *text) { schema_n += (size_t)sprintf(schema + schema_n, "%s", text); }
static void put_name(unsigned k) {
  schema_n += (size_t)sprintf(schema + schema_n, "\"%c\"", 'a' + (int)k);
}

/* ---- schemas --------------------------------------------------------------------------------- */

static const char *const values[] = {"true", "false", "null",  "0",     "1",
                                     "5",    "12",    "\"x\"", "\"y\"", "\"zz\"",
                                     "\"\"", "[]",    "[1]",   "{}",    "{\"a\":1}"};
static const char *const values_of[] = {"{\"const\":true}",
                                        "{\"const\":\"x\"}",
                                        "{\"enum\":[\"x\",\"y\"]}",
                                        "{\"enum\":[\"y\",\"zz\",1]}",
                                        "{\"type\":\"boolean\"}",
                                        "{\"type\":\"string\"}",
                                        "{\"type\":\"integer\",\"minimum\":5}",
                                        "{\"maximum\":4}",
                                        "{\"type\":[\"string\",\"null\"],\"maxLength\":1}",
                                        "{\"pattern\":\"^x\"}",
                                        "{\"type\":[\"array\",\"boolean\"]}",
                                        "{\"type\":\"object\",\"required\":[\"a\"]}",
                                        "{\"minItems\":1}",
                                        "{\"not\":{\"const\":\"x\"}}",
                                        "{\"enum\":[\"x\",0]}",
                                        "true",
                                        "false",
                                        "{\"enum\":[[1],\"x\",5]}",
                                        "{\"anyOf\":[{\"const\":\"y\"},{\"type\":\"number\"}]}"};
#define COUNT(list) (unsigned)(sizeof(list) / sizeof *(list))

static void put_names(unsigned n) {
  unsigned k = below(NAMES);
  put("[");
  for (unsigned i = 0; i < n; i++) {
    if (i) put(",");
    put_name((k + i * 3) % NAMES);
  }
  put("]");
}

static void put_properties(unsigned n) {
  unsigned k = below(NAMES);
  put("\"properties\":{");
  for (unsigned i = 0; i < n; i++) {
    if (i) put(",");
    put_name((k + i * 7) % NAMES);
    put(":");
    put(values_of[below(COUNT(values_of))]);
  }
  put("}");
}

/* A branch: of a size that can be a few clauses, or now and then one that cannot. */
static void put_branch(unsigned depth) {
  put("{");
  switch (below(depth ? 13 : 8)) {
  case 0: put("\"required\":"), put_names(1); break;
  case 1: put("\"required\":"), put_names(2); break;
  case 2: put_properties(1); break;
  case 3: put_properties(2); break;
  case 4: put_properties(1), put(",\"required\":"), put_names(1); break;
  case 5:
    put("\"type\":\"object\","), put_properties(1 + below(2)), put(",\"required\":"),
        put_names(1 + below(2));
    break;
  case 6: put(below(2) ? "\"minProperties\":3" : "\"maxProperties\":6"); break;
  case 7:
    put("\"dependentRequired\":{"), put_name(below(NAMES)), put(":"), put_names(1), put("}");
    break;
  case 8: put("\"not\":"), put_branch(depth - 1); break;
  case 9: put("\"not\":{\"not\":"), put_branch(0), put("}"); break;
  case 10:
    put("\"anyOf\":["), put_branch(depth - 1), put(","), put_branch(depth - 1), put("]");
    break;
  case 11:
    put("\"allOf\":["), put_branch(depth - 1), put(","), put_branch(depth - 1), put("]");
    break;
  default:
    put(below(2) ? "\"patternProperties\":{\"^[a-d]\":{\"type\":\"string\"}},"
                 : "\"additionalProperties\":false,"),
        put_properties(4);
    break;
  }
  put("}");
}

/* Branches that a member distinguishes: one of them is required, or the member brings them
 * along. */
static void put_apart(unsigned k, bool require) {
  static const char *const tags[] = {"{\"const\":\"x\"}", "{\"enum\":[\"y\",\"zz\"]}",
                                     "{\"const\":0}"};
  unsigned n = 2 + below(2), other = (k + 1 + below(NAMES - 1)) % NAMES, negated = below(8);
  put(below(2) ? "{\"oneOf\":[" : "{\"anyOf\":[");
  for (unsigned i = 0; i < n; i++) {
    if (i) put(",");
    if (negated == i) put("{\"not\":{\"not\":");
    put("{\"properties\":{");
    put_name(k), put(":"), put(tags[i]), put(","), put_name(other), put(":"),
        put(values_of[below(COUNT(values_of))]);
    put("},\"required\":[");
    if (require) put_name(k);
    if (require && i) put(",");
    if (i) put_name(other);
    put(negated == i ? "]}}}" : "]}");
  }
  put("]}");
}

static void put_choice(void) {
  unsigned k = below(NAMES);
  switch (below(8)) {
  case 0:
  case 1:
  case 2:
    put("{\"if\":"), put_branch(1), put(",\"then\":"), put_branch(1);
    if (below(2)) put(",\"else\":"), put_branch(0);
    put("}");
    break;
  case 3: put("{\"anyOf\":["), put_branch(1), put(","), put_branch(0), put("]}"); break;
  case 4:
    put("{\"oneOf\":["), put_branch(0), put(","), put_branch(0),
        put(below(2) ? "]}" : ",{\"required\":[\"a\",\"c\"]}]}");
    break;
  case 5:
    put("{\"dependentSchemas\":{"), put_name(k), put(":"), put_branch(1), put(","),
        put_name((k + 1) % NAMES), put(":"), put_branch(0), put("}}");
    break;
  case 6:
    put("{\"dependentSchemas\":{"), put_name(k), put(":"), put_apart(k, false), put("}}");
    break;
  default: put_apart(k, true);
  }
}

/* `unevaluated`: only some members are named outside the choices, and what those evaluate
 * matters. */
static void make_schema(bool unevaluated) {
  static const char *const rest[] = {"false", "{\"type\":\"string\"}", "{\"enum\":[\"x\",5]}"};
  unsigned named = unevaluated ? 2 + below(NAMES - 2) : NAMES, inner = 0;
  choices = 4 + below(unevaluated ? 5 : 8);
  schema_n = 0;
  put("{\"type\":\"object\",\"properties\":{");
  for (unsigned k = 0; k < named; k++) {
    if (k) put(",");
    put_name(k);
    put(":");
    put(below(3)   ? "{\"type\":[\"boolean\",\"string\",\"integer\",\"null\"]}"
        : below(2) ? "{\"enum\":[\"x\",\"y\",\"zz\",0,true]}"
                   : "true");
  }
  put(!unevaluated && below(2) ? "},\"additionalProperties\":false" : "}");
  if (unevaluated && below(4) == 0)
    put(",\"patternProperties\":{\"^[ehi]\":{\"not\":{\"const\":null}}}");
  if (below(4) == 0) put(",\"maxProperties\":7");
  if (below(3) == 0) put(",\"required\":"), put_names(1 + below(2));
  sprintf(base, "%s}", schema);
  put(",\"allOf\":[");
  if (unevaluated && below(4) == 0) inner = 1 + below(choices);
  if (inner) put("{\"allOf\":[");
  for (unsigned i = 0; i < choices; i++) {
    if (inner && i == inner)
      put("],\"unevaluatedProperties\":"), put(rest[below(COUNT(rest))]), put("}");
    if (i) put(",");
    begins[i] = schema_n;
    put_choice();
    ends[i] = schema_n;
  }
  if (inner == choices) put("],\"unevaluatedProperties\":{\"type\":[\"string\",\"integer\"]}}");
  put("]");
  if (unevaluated) put(",\"unevaluatedProperties\":"), put(rest[below(COUNT(rest))]);
  put("}");
}

/* Many branches of which any may hold, and what they evaluate matters: their product is past all
 * limits, so each stays apart (compiler/schema/choice/held.c). */
static void make_held_schema(void) {
  static const char *const rest[] = {"false", "false", "{\"type\":\"string\"}"};
  const unsigned kind = below(3);
  choices = 6 + below(CHOICES_MAX - 6);
  schema_n = 0;
  put("{\"type\":\"object\"");
  if (below(3) == 0) put(",\"maxProperties\":5");
  if (below(3) == 0) put(",\"properties\":{\"b\":{\"not\":{\"const\":null}}}");
  sprintf(base, "%s}", schema);
  put(",\"anyOf\":[");
  for (unsigned i = 0; i < choices; i++) {
    if (i) put(",");
    begins[i] = schema_n;
    put("{");
    put_properties(2 + below(3));
    if (kind && below(2)) put(",\"required\":"), put_names(1 + below(2));
    if (kind && below(5) == 0) put(below(2) ? ",\"minProperties\":2" : ",\"maxProperties\":3");
    if (kind == 2 && below(3) == 0) {
      put(",\"anyOf\":[{"), put_properties(2), put("},{"), put_properties(3), put("},{");
      put_properties(3), put("}]");
    }
    put("}");
    ends[i] = schema_n;
  }
  put("],\"unevaluatedProperties\":"), put(rest[below(COUNT(rest))]), put("}");
}

/* Arrays of which each choice counts the items that satisfy something. */
static void make_array_schema(void) {
  choices = 2 + below(11);
  schema_n = 0;
  put("{\"type\":\"array\"");
  if (below(3) == 0) put(",\"prefixItems\":["), put(values_of[below(COUNT(values_of))]), put("]");
  if (below(2))
    put(",\"items\":"), put(below(2) ? values_of[below(COUNT(values_of))]
                                     : "{\"type\":[\"boolean\",\"string\",\"integer\"]}");
  if (below(3) == 0) put(below(2) ? ",\"maxItems\":6" : ",\"minItems\":3");
  sprintf(base, "%s}", schema);
  put(",\"allOf\":[");
  for (unsigned i = 0; i < choices; i++) {
    if (i) put(",");
    begins[i] = schema_n;
    put("{\"contains\":");
    if (below(2))
      put("{\"const\":"), put(values[below(COUNT(values))]), put("}");
    else
      put(values_of[below(COUNT(values_of))]);
    if (below(3) == 0) put(below(2) ? ",\"minContains\":2" : ",\"minContains\":0");
    if (below(3) == 0) put(below(2) ? ",\"maxContains\":2" : ",\"maxContains\":3");
    put("}");
    ends[i] = schema_n;
  }
  put("]}");
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* An object: what each member is, 0 for absent, and in which order they come; the last name is one
 * that no schema has. */
typedef struct instance {
  unsigned value[NAMES + 1], order[NAMES + 1];
} instance;

static void stir(instance *o) {
  for (unsigned i = NAMES + 1; i > 1; i--) {
    unsigned j = below(i), t = o->order[i - 1];
    o->order[i - 1] = o->order[j];
    o->order[j] = t;
  }
}

static size_t spell(const instance *o, char *text) {
  size_t n = (size_t)sprintf(text, "{");
  for (unsigned i = 0; i <= NAMES; i++) {
    unsigned k = o->order[i];
    if (o->value[k])
      n += (size_t)sprintf(text + n, "%s\"%c\":%s", n > 1 ? "," : "", 'a' + (int)k,
                           values[o->value[k] - 1]);
  }
  return n + (size_t)sprintf(text + n, "}");
}

/* How many of the choices it satisfies; that it satisfies all else, or is valid, counts for
 * some. */
static unsigned satisfied(const char *text, size_t n) {
  unsigned score = (validator_judge_texts(base, strlen(base), text, n) == VALID ? 4 : 0) +
                   (validator_judge_texts(schema, schema_n, text, n) == VALID ? 8 : 0);
  for (unsigned i = 0; i < choices; i++)
    score += validator_judge_texts(schema + begins[i], ends[i] - begins[i], text, n) == VALID;
  return score;
}

static bool accepts(tsl_grammar *g, const char *text, size_t n) {
  tsl_matcher *m = NULL;
  bool all = tsl_matcher_new(g, NULL, &m) == TSL_OK &&
             tsl_matcher_accept_bytes(m, text, n, NULL) == TSL_OK && tsl_matcher_is_complete(m);
  tsl_matcher_free(m);
  return all;
}

/* The byte after which the text can end soonest. */
static int nearest(tsl_matcher *m, const uint32_t *set) {
  uint64_t best = UINT64_MAX, left;
  int found = -1;
  for (int c = 0; c < 256; c++) {
    uint8_t byte = (uint8_t)c;
    tsl_matcher *next = NULL;
    if (!tsl_mask_has(set, (tsl_token)c) || tsl_matcher_fork(m, &next) != TSL_OK) continue;
    if (tsl_matcher_accept_bytes(next, &byte, 1, NULL) == TSL_OK &&
        tsl_matcher_shortest_completion(next, &left) == TSL_OK && left < best)
      best = left, found = c;
    tsl_matcher_free(next);
  }
  return found;
}

static void draw_text(tsl_grammar *g) {
  static char text[TEXT_MAX];
  tsl_matcher *m = NULL;
  uint32_t set[8];
  size_t n = 0;
  uint64_t left = 0;
  unsigned free_bytes = below(300);
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  while (m && n < TEXT_MAX - 1 &&
         !(tsl_matcher_is_complete(m) && (n >= free_bytes || below(20) == 0))) {
    tsl_status status = tsl_matcher_next_bytes(m, set);
    CHECKF(status == TSL_OK, "%s after %.*s, schema %s", tsl_status_name(status), (int)n, text,
           schema);
    if (status != TSL_OK) break;
    tsl_token t = n < free_bytes ? draw(set, 256, &seed) : (tsl_token)nearest(m, set);
    if (n < free_bytes && tsl_mask_has(set, '"') && below(2)) t = '"';
    if (t > 255) break;
    uint8_t byte = (uint8_t)t;
    CHECK(tsl_matcher_accept_bytes(m, &byte, 1, NULL) == TSL_OK);
    text[n++] = (char)byte;
  }
  bool complete = m && tsl_matcher_is_complete(m) &&
                  tsl_matcher_shortest_completion(m, &left) == TSL_OK && left == 0;
  CHECKF(complete && validator_judge_texts(schema, schema_n, text, n) != INVALID,
         "drawn %.*s, schema %s", (int)n, text, schema);
  drawn++;
  tsl_matcher_free(m);
}

/* An empty schema has no valid instance; every other one has those that the validator calls valid,
 * and no others. */
static void compare_text(tsl_grammar *g, const char *text, size_t n) {
  verdict v = validator_judge_texts(schema, schema_n, text, n);
  bool accepted = g && accepts(g, text, n);
  CHECKF(v != NO_VERDICT && accepted == (v == VALID), "%s %.*s, schema %s",
         accepted ? "accepted" : "denied", (int)n, text, schema);
  if (v == VALID)
    valid++;
  else
    invalid++;
}

/* Each step changes a member of a random instance. The walk goes on with the change where no fewer
 * choices are satisfied. So most instances are nearly valid, or just valid. */
static void compare_objects(tsl_grammar *g) {
  static char text[TEXT_MAX];
  instance o = {{0}, {0}}, next;
  unsigned score = 0;
  for (unsigned k = 0; k <= NAMES; k++)
    o.order[k] = k, o.value[k] = below(3) ? 1 + below(COUNT(values)) : 0;
  for (int i = 0; i < 200; i++) {
    next = o;
    next.value[below(NAMES + (below(8) == 0))] = below(4) ? 1 + below(COUNT(values)) : 0;
    stir(&next);
    size_t n = spell(&next, text);
    compare_text(g, text, n);
    unsigned now = satisfied(text, n);
    if (now >= score) o = next, score = now;
  }
}

#define ITEMS 9u

/* The same with an item. */
static void compare_arrays(tsl_grammar *g) {
  char text[TEXT_MAX];
  unsigned item[ITEMS], count = below(ITEMS + 1), score = 0;
  for (unsigned k = 0; k < ITEMS; k++) item[k] = below(COUNT(values));
  for (int i = 0; i < 200; i++) {
    unsigned k = below(ITEMS), was = item[k], counted = count;
    item[k] = below(COUNT(values));
    if (below(3) == 0) count = below(ITEMS + 1);
    size_t n = (size_t)sprintf(text, "[");
    for (unsigned at = 0; at < count; at++)
      n += (size_t)sprintf(text + n, "%s%s", at ? "," : "", values[item[at]]);
    n += (size_t)sprintf(text + n, "]");
    compare_text(g, text, n);
    unsigned now = satisfied(text, n);
    if (now >= score)
      score = now;
    else
      item[k] = was, count = counted;
  }
}

#define DRAWS 3u /* texts of a schema that something satisfies */

/* The schema that was made, number i, with members in one of the orders. */
static void try_schema(unsigned i, bool ordered, void (*compare)(tsl_grammar *g)) {
  const tsl_limits limits = {.max_steps = 20000000};
  tsl_schema_options options = {.order = ordered ? TSL_ORDER_SCHEMA : TSL_ORDER_ANY,
                                .whitespace = TSL_WS_COMPACT};
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  tsl_status status =
      tsl_grammar_json_schema(vocab, schema, schema_n, &options, &limits, &g, &error);
  CHECKF(status == TSL_OK || status == TSL_ERR_EMPTY, "schema %u: %s: %s: %s", i,
         tsl_status_name(status), error.message, schema);
  empty += status == TSL_ERR_EMPTY;
  if (status != TSL_OK && status != TSL_ERR_EMPTY) return;
  if (!ordered) compare(g);
  for (unsigned k = 0; k < DRAWS && g; k++) draw_text(g);
  tsl_grammar_release(g);
}

static void report(unsigned long schemas) {
  printf("  %u schemas, of which nothing satisfies %lu; %lu instances valid, %lu not; %lu texts "
         "drawn\n",
         rounds, empty / schemas, valid, invalid, drawn);
  CHECK(valid > rounds && drawn > 0 && drawn == DRAWS * (schemas * rounds - empty));
  empty = valid = invalid = drawn = 0;
}

static void random_schemas(void) {
  for (unsigned i = first; i < first + rounds; i++) {
    seed = i * 0x1234567u + 1;
    make_schema(i & 1u);
    try_schema(i, false, compare_objects);
    try_schema(i, true, compare_objects);
  }
  report(2);
}

static void random_held(void) {
  for (unsigned i = first; i < first + rounds; i++) {
    seed = i * 0x1234567u + 3;
    make_held_schema();
    try_schema(i, false, compare_objects);
    try_schema(i, true, compare_objects);
  }
  report(2);
}

#define CONDITIONS 120u

/* So many conditions of one object, each about two members: "if pI is true, then pJ must be there".
 * Objects of random members are valid just if none is hurt. */
static void many_conditions(void) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  unsigned accepted = 0;
  schema_n = 0;
  put("{\"type\":\"object\",\"allOf\":[{}");
  for (unsigned i = 0; i < CONDITIONS; i++)
    schema_n += (size_t)sprintf(schema + schema_n,
                                ",{\"if\":{\"properties\":{\"p%u\":{\"const\":true}},\"required\":["
                                "\"p%u\"]},\"then\":{\"required\":[\"p%u\"]}}",
                                i, i, (i + 1) % CONDITIONS);
  put("]}");
  tsl_schema_options options = {.order = TSL_ORDER_ANY, .whitespace = TSL_WS_COMPACT};
  CHECKF(tsl_grammar_json_schema(vocab, schema, schema_n, &options, NULL, &g, &error) == TSL_OK,
         "%s", error.message);
  for (unsigned round = 0; g && round < 200; round++) {
    char text[TEXT_MAX];
    unsigned from = below(CONDITIONS), members = 1 + below(6);
    bool right = true;
    size_t n = (size_t)sprintf(text, "{");
    for (unsigned i = 0; i < members; i++) {
      bool asks = below(2);
      n += (size_t)sprintf(text + n, "%s\"p%u\":%s", i ? "," : "", (from + i) % CONDITIONS,
                           asks ? "true" : "false");
      right = right && (!asks || i + 1 < members);
    }
    n += (size_t)sprintf(text + n, "}");
    tsl_matcher *m = NULL;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
    bool good = tsl_matcher_accept_bytes(m, text, n, NULL) == TSL_OK && tsl_matcher_is_complete(m);
    CHECKF(good == right, "%s", text);
    accepted += good;
    tsl_matcher_free(m);
  }
  CHECK(accepted > 20 && accepted < 180);
  tsl_grammar_release(g);
}

/* A schema of n branches with unevaluatedProperties. By kind: a member, which may be absent, has a
 * value for each branch. Or the values of a required member overlap. Or there is a chain of
 * lengths. */
static void put_branches(unsigned n, unsigned kind) {
  static const char *const branch[] = {
      "%s{\"properties\":{\"k\":{\"const\":%u},\"a%u\":{\"type\":\"string\"}}}",
      "%s{\"properties\":{\"k\":{\"enum\":[%u,\"s\"]},\"a%u\":{}},\"required\":[\"k\"]}",
      "%s{\"properties\":{\"z\":{\"minLength\":%u},\"a%u\":{}}}"};
  schema_n = 0;
  put("{\"unevaluatedProperties\":false,\"anyOf\":[");
  for (unsigned i = 0; i < n; i++)
    schema_n +=
        (size_t)sprintf(schema + schema_n, branch[kind], i ? "," : "", kind == 2 ? i % 4 : i, i);
  put("]}");
}

/* One call takes no more steps than the third power of the branches: before, each more doubled
 * them. */
static void few_steps(void) {
  static const char *const texts[] = {"{\"a7\":\"x\",\"k\":7}", "{\"a3\":\"x\",\"k\":3}",
                                      "{\"z\":\"zz\",\"a5\":true,\"a6\":1}"};
  static const char *const wrong[] = {"{\"a7\":\"x\",\"k\":3}", "{\"a3\":\"x\",\"k\":2}",
                                      "{\"z\":\"\",\"a5\":true,\"a6\":1}"};
  for (unsigned n = 12; n <= 48; n *= 2)
    for (unsigned kind = 0; kind < COUNT(texts); kind++) {
      put_branches(n, kind);
      const tsl_limits limits = {.max_steps = 2 * n * n * n + 20000};
      const tsl_schema_options options = {.order = TSL_ORDER_ANY};
      tsl_grammar *g = NULL;
      tsl_error error = {0};
      tsl_status status =
          tsl_grammar_json_schema(vocab, schema, schema_n, &options, &limits, &g, &error);
      CHECKF(status == TSL_OK, "%u branches of kind %u: %s", n, kind, error.message);
      CHECKF(g && accepts(g, texts[kind], strlen(texts[kind])), "%u branches, %s", n, texts[kind]);
      CHECKF(g && !accepts(g, wrong[kind], strlen(wrong[kind])), "%u branches, %s", n, wrong[kind]);
      tsl_grammar_release(g);
    }
}

/* That so many branches make too many alternatives is known after some hundred of them. All the
 * others were begun before, which took twice the steps and more. */
static void few_steps_of_alternatives(void) {
  const tsl_limits limits = {.max_steps = 20000};
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  put_branches(90, 0);
  tsl_status status = tsl_grammar_json_schema(vocab, schema, schema_n, NULL, &limits, &g, &error);
  CHECKF(status == TSL_OK, "%s", error.message);
  tsl_grammar_release(g);
}

/* Many if/then on one member: what its value may be is decided clause by clause. That the value is
 * another one is seen from the last decision, not from all of them. Before, it took twice the
 * steps and more. */
static void few_steps_of_conditions(void) {
  const tsl_limits limits = {.max_steps = 15000};
  const tsl_schema_options options = {.order = TSL_ORDER_ANY};
  static const char text[] = "{\"f7\":1,\"k\":\"v7\"}", wrong[] = "{\"f7\":1,\"k\":\"v8\"}";
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  schema_n = 0;
  put("{\"type\":\"object\",\"properties\":{\"k\":{\"enum\":[");
  for (unsigned i = 0; i < CONDITIONS; i++)
    schema_n += (size_t)sprintf(schema + schema_n, "%s\"v%u\"", i ? "," : "", i);
  put("]}},\"allOf\":[");
  for (unsigned i = 0; i < CONDITIONS; i++)
    schema_n +=
        (size_t)sprintf(schema + schema_n,
                        "%s{\"if\":{\"properties\":{\"k\":{\"const\":\"v%u\"}},\"required\":"
                        "[\"k\"]},\"then\":{\"required\":[\"f%u\"]}}",
                        i ? "," : "", i, i);
  put("]}");
  CHECKF(tsl_grammar_json_schema(vocab, schema, schema_n, &options, &limits, &g, &error) == TSL_OK,
         "%s", error.message);
  CHECK(g && accepts(g, text, sizeof text - 1) && !accepts(g, wrong, sizeof wrong - 1));
  tsl_grammar_release(g);
}

/* n items that count, and as many at least: text of n fives, each after a comma, but for `less`. */
static size_t put_items(char *out, unsigned n, unsigned less) {
  size_t length = 0;
  out[length++] = '[';
  for (unsigned i = less; i < n; i++)
    length += (size_t)sprintf(out + length, "%s5", i > less ? "," : "");
  out[length++] = ']';
  return length;
}

/* Items that must be counted cost steps in proportion: before, all pairs of a place and a count
 * were visited. */
static void few_steps_of_counts(void) {
  static const char *const kinds[] = {
      "{\"type\":\"array\",\"contains\":{\"const\":5},\"minContains\":%u,\"maxContains\":%u}",
      "{\"type\":\"array\",\"contains\":{\"minimum\":5},\"minContains\":%u,\"minItems\":%u}",
      "{\"type\":\"array\",\"prefixItems\":[{\"const\":5}],\"contains\":{\"type\":\"integer\"},"
      "\"minContains\":%u,\"maxContains\":%u}"};
  static char text[8192];
  for (unsigned n = 100; n <= 900; n *= 3)
    for (unsigned kind = 0; kind < COUNT(kinds); kind++) {
      const tsl_limits limits = {.max_steps = 100 * n + 20000};
      const tsl_schema_options options = {.whitespace = TSL_WS_COMPACT};
      tsl_grammar *g = NULL;
      tsl_error error = {0};
      schema_n = (size_t)snprintf(schema, sizeof schema, kinds[kind], n, n);
      tsl_status status =
          tsl_grammar_json_schema(vocab, schema, schema_n, &options, &limits, &g, &error);
      CHECKF(status == TSL_OK, "%u items of kind %u: %s", n, kind, error.message);
      CHECKF(g && accepts(g, text, put_items(text, n, 0)), "%u items of kind %u", n, kind);
      CHECKF(g && !accepts(g, text, put_items(text, n, 1)), "%u items of kind %u", n - 1, kind);
      tsl_grammar_release(g);
    }
}

/* One branch of a oneOf bounds the length, the other one has a format or pattern. Texts of both are
 * excluded. The search for a text of one alone went past the bound before, or through all names of
 * hosts. It ended at a limit, or took 70 million instructions. */
static void few_steps_of_lengths(void) {
  static const struct {
    const char *schema, *text, *wrong;
  } cases[] = {
      {"{\"oneOf\":[{\"type\":\"string\",\"minLength\":2,\"maxLength\":1000},"
       "{\"type\":\"string\",\"format\":\"uuid\"}]}",
       "\"no uuid\"", "\"2eb8aa08-aa98-11ea-b4aa-73b441d16380\""},
      {"{\"oneOf\":[{\"type\":\"string\",\"maxLength\":1000},"
       "{\"type\":\"string\",\"format\":\"hostname\"}]}",
       "\"no.host.\"", "\"a.host\""},
      {"{\"oneOf\":[{\"type\":\"string\",\"maxLength\":10},"
       "{\"type\":\"string\",\"format\":\"hostname\"}]}",
       "\"a.longer.host\"", "\"a.host\""},
      {"{\"oneOf\":[{\"type\":\"string\",\"minLength\":2,\"maxLength\":255},"
       "{\"type\":\"string\",\"format\":\"idn-hostname\",\"minLength\":4}]}",
       "\"\u00fc.x\"", "\"\u00fc.xy\""},
      {"{\"oneOf\":[{\"type\":\"string\",\"minLength\":2,\"maxLength\":255},"
       "{\"type\":\"string\",\"format\":\"regex\"}]}",
       "\"(((\"", "\"abc\""},
      {"{\"oneOf\":[{\"type\":\"string\",\"pattern\":\"^[a-z]{2,1000}$\"},"
       "{\"type\":\"string\",\"pattern\":\"^[a-z0-9]{1,36}$\"}]}",
       "\"a1\"", "\"ab\""},
      {"{\"oneOf\":[{\"type\":\"string\",\"pattern\":\"^[0-9]{10}$\"},"
       "{\"type\":\"string\",\"minLength\":2,\"maxLength\":1000}]}",
       "\"123456789\"", "\"1234567890\""},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    const tsl_limits limits = {.max_steps = 20000};
    const tsl_schema_options options = {.order = TSL_ORDER_ANY};
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    tsl_status status = tsl_grammar_json_schema(vocab, cases[i].schema, strlen(cases[i].schema),
                                                &options, &limits, &g, &error);
    CHECKF(status == TSL_OK, "%s: %s", cases[i].schema, error.message);
    CHECKF(g && accepts(g, cases[i].text, strlen(cases[i].text)), "%s: %s", cases[i].schema,
           cases[i].text);
    CHECKF(g && !accepts(g, cases[i].wrong, strlen(cases[i].wrong)), "%s: %s", cases[i].schema,
           cases[i].wrong);
    tsl_grammar_release(g);
  }
}

static void random_arrays(void) {
  for (unsigned i = first; i < first + rounds; i++) {
    seed = i * 0x1234567u + 2;
    make_array_schema();
    try_schema(i, false, compare_arrays);
  }
  report(1);
}

int main(int argc, char **argv) {
  static uint8_t bytes[256 + 5];
  static uint32_t offsets[258];
  static uint8_t special[257] = {[256] = 1};
  const tsl_token end = 256;
#ifndef TSL_TEST_SANITIZED /* of so few, none may be satisfied */
  tsl_test_part(&rounds, &first, 2);
#endif
  if (argc > 1) rounds = (unsigned)strtoul(argv[1], NULL, 10);
  if (argc > 2) first = (unsigned)strtoul(argv[2], NULL, 10);
  for (uint32_t t = 0; t < 256; t++) {
    bytes[t] = (uint8_t)t;
    offsets[t] = t;
  }
  memcpy(bytes + 256, "<end>", 5);
  offsets[256] = 256;
  offsets[257] = 261;
  tsl_vocab_desc desc = {bytes, offsets, 257, 0, special, &end, 1};
  CHECK(tsl_vocab_new(&desc, NULL, &vocab, NULL) == TSL_OK);
  RUN(random_schemas, "random schemas of many choices, beside a validator");
  RUN(many_conditions, "120 conditions of one object");
  RUN(random_held, "random schemas of many branches of which any may hold");
  RUN(few_steps, "such branches cost few steps, however many they are");
  RUN(few_steps_of_alternatives, "too many alternatives are given up early");
  RUN(few_steps_of_conditions, "conditions on one member cost few steps, however many they are");
  RUN(few_steps_of_counts, "items that are counted cost few steps, however many they are");
  RUN(few_steps_of_lengths, "lengths that exclude texts cost few steps");
  RUN(random_arrays, "the same of arrays, of which many things are counted");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
