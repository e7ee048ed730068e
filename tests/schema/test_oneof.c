/* test_oneof.c - oneOf of many branches (compiler/schema/choice/oneof.c), beside a validator.
 *
 * Each schema is a oneOf of 17 to 43 branches of one kind, open or closed. The discriminator is
 * required, may be left out, or is not there at all. Branches have names of their own, names that
 * all share, and values that several branches list. Instances are members picked at random, and
 * those that hold for one branch, for none, or for several. The engine accepts one just if the
 * validator says that exactly one branch holds. Texts that are drawn along the masks are valid.
 * Other schemas have up to 43 branches of strings and numbers: lists, patterns, lengths, ranges.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/judges/validator.h"
#include "tests/support/draw.h"

#define TEXT_MAX 4096u
#define BRANCHES_MAX 44u

static tsl_vocab *vocab;
static uint64_t seed = 5;
static unsigned rounds = ROUNDS_OF(24u);
static unsigned long valid, invalid, drawn;
static char schema[1 << 18];
static size_t schema_n;
static unsigned branches;

static unsigned below(unsigned n) { return (unsigned)(tsl_test_random(&seed) % n); }

/* ---- schemas --------------------------------------------------------------------------------- */

/* What the branches of a schema have in common. */
struct kind {
  const char *discriminator; /* with the branch's number twice, and that of the next; NULL: none */
  const char *own;           /* members with the branch's number */
  const char *shared;        /* members that all have; "" for none */
  const char *required;      /* names, with the branch's number */
  bool closed;
};

static const char *const discriminators[] = {NULL,
                                             "\"k\":{\"const\":\"K%u\"}",
                                             "\"k\":{\"enum\":[\"K%u\",\"L%u\"]}",
                                             "\"k\":{\"enum\":[\"K%u\",null]}",
                                             "\"k\":{\"const\":%u}",
                                             "\"k\":{\"enum\":[%u,true]}"};
static const char *const owns[] = {"\"f%u\":{\"type\":\"integer\"}",
                                   "\"f%u\":{\"type\":\"integer\"},\"g%u\":{\"type\":\"string\"}",
                                   "\"f%u\":true", "\"v\":{\"const\":\"v\"}"};
static const char *const shareds[] = {"", ",\"m\":{\"type\":\"string\"}",
                                      ",\"m\":{\"enum\":[\"x\",1]},\"n\":{\"type\":\"boolean\"}"};
static const char *const requireds[] = {"", "\"k\"", "\"f%u\"", "\"k\",\"f%u\"", "\"m\""};
#define ONE_OF(list) list[below((unsigned)(sizeof(list) / sizeof *(list)))]

static void put(const char *format, unsigned i) {
  schema_n += (size_t)snprintf(schema + schema_n, sizeof schema - schema_n, format, i, i);
}

static void put_branch(const struct kind *k, unsigned i) {
  put("{\"type\":\"object\",\"properties\":{", 0);
  if (k->discriminator) put(k->discriminator, i), put(",", 0);
  put(k->own, i);
  put(k->shared, i);
  put("}", 0);
  if (*k->required) put(",\"required\":[", 0), put(k->required, i), put("]", 0);
  put(k->closed ? ",\"additionalProperties\":false}" : "}", 0);
}

/* Some branches are not like the rest. They are of another type, or not required where it is
 * otherwise. Or they have a name in place of the discriminator, or any value of it. */
static void put_other(struct kind k, unsigned i) {
  switch (below(6)) {
  case 0: put("{\"type\":\"null\"}", 0); return;
  case 1: put("{\"type\":\"array\",\"minItems\":%u}", 1 + below(3)); return;
  case 2: k.discriminator = NULL; break;
  case 3: k.required = *k.required ? "" : "\"k\""; break;
  case 4: k.discriminator = "\"k\":{\"type\":\"string\"}"; break;
  default: k.closed = !k.closed;
  }
  put_branch(&k, i);
}

static void make_schema(void) {
  const struct kind k = {ONE_OF(discriminators), ONE_OF(owns), ONE_OF(shareds), ONE_OF(requireds),
                         below(2) != 0};
  const bool mixed = below(3) == 0;
  branches = 17 + below(BRANCHES_MAX - 17);
  schema_n = 0;
  put("{\"oneOf\":[", 0);
  for (unsigned i = 0; i < branches; i++) {
    if (i) put(",", 0);
    if (mixed && below(12) == 0)
      put_other(k, i);
    else
      put_branch(&k, i);
  }
  put("]}", 0);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static const char *const values[] = {"1", "\"x\"", "\"v\"", "null", "true", "[0]", "2.5"};

static size_t put_member(char *text, size_t n, unsigned branch) {
  char value[16];
  snprintf(value, sizeof value, below(3) ? "\"K%u\"" : below(2) ? "%u" : "\"L%u\"", branch);
  const char *any = ONE_OF(values);
  const char *comma = n > 1 ? "," : "";
  switch (below(8)) {
  case 0:
  case 1:
  case 2: return n + (size_t)sprintf(text + n, "%s\"k\":%s", comma, below(5) ? value : any);
  case 3: return n + (size_t)sprintf(text + n, "%s\"f%u\":%s", comma, branch, below(3) ? "7" : any);
  case 4:
    return n + (size_t)sprintf(text + n, "%s\"g%u\":%s", comma, branch, below(3) ? "\"s\"" : any);
  case 5: return n + (size_t)sprintf(text + n, "%s\"m\":%s", comma, below(2) ? "\"x\"" : any);
  case 6: return n + (size_t)sprintf(text + n, "%s\"n\":%s", comma, below(2) ? "true" : any);
  default: return n + (size_t)sprintf(text + n, "%s\"v\":%s", comma, below(2) ? "\"v\"" : any);
  }
}

/* Mostly about one branch, and now and then about others. */
static size_t make_text(char *text) {
  static const char *const whole[] = {"null", "1", "\"x\"", "[]", "[1,2]", "{}"};
  if (below(12) == 0) return (size_t)sprintf(text, "%s", ONE_OF(whole));
  size_t n = (size_t)sprintf(text, "{");
  unsigned branch = below(branches);
  for (unsigned left = below(5); left > 0; left--)
    n = put_member(text, n, below(5) ? branch : below(branches));
  return n + (size_t)sprintf(text + n, "}");
}

static bool accepts(tsl_grammar *g, const char *text, size_t n) {
  tsl_matcher *m = NULL;
  bool all = tsl_matcher_new(g, NULL, &m) == TSL_OK &&
             tsl_matcher_accept_bytes(m, text, n, NULL) == TSL_OK && tsl_matcher_is_complete(m);
  tsl_matcher_free(m);
  return all;
}

static size_t make_scalar(char *text);

static void compare_text(tsl_grammar *g, size_t (*make)(char *text)) {
  char text[TEXT_MAX];
  size_t n = make(text);
  verdict v = validator_judge_texts(schema, schema_n, text, n);
  bool accepted = g && accepts(g, text, n);
  if (v == NO_VERDICT && make == make_scalar) return; /* too many patterns */
  CHECKF(v != NO_VERDICT && accepted == (v == VALID), "%s %.*s, schema %.600s",
         accepted ? "accepted" : "denied", (int)n, text, schema);
  if (v == VALID)
    valid++;
  else
    invalid++;
}

/* Bytes at random where the text is short; then those that lead to the end. */
static void draw_text(tsl_grammar *g) {
  char text[TEXT_MAX];
  size_t n = 0;
  tsl_matcher *m = NULL;
  uint32_t set[8];
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK);
  while (m && n < 200 && !(tsl_matcher_is_complete(m) && (n > 40 || below(3) == 0))) {
    tsl_status status = tsl_matcher_next_bytes(m, set);
    CHECKF(status == TSL_OK, "%s after %.*s, schema %.600s", tsl_status_name(status), (int)n, text,
           schema);
    if (status != TSL_OK) break;
    tsl_token t = draw(set, 256, &seed);
    for (const char *p = "}\",:]"; *p && below(3); p++)
      if (tsl_mask_has(set, (tsl_token)*p)) t = (tsl_token)*p;
    if (t > 255) break;
    uint8_t byte = (uint8_t)t;
    status = tsl_matcher_accept_bytes(m, &byte, 1, NULL);
    CHECKF(status == TSL_OK, "%s: %.*s with %02x, schema %.600s", tsl_status_name(status), (int)n,
           text, byte, schema);
    if (status != TSL_OK) break;
    text[n++] = (char)byte;
  }
  uint64_t left = UINT64_MAX;
  tsl_status status = tsl_matcher_shortest_completion(m, &left);
  CHECKF(status == TSL_OK && left != UINT64_MAX, "%s: no end after %.*s, schema %.600s",
         tsl_status_name(status), (int)n, text, schema);
  if (tsl_matcher_is_complete(m)) {
    CHECKF(validator_judge_texts(schema, schema_n, text, n) != INVALID, "drawn %.*s, schema %.600s",
           (int)n, text, schema);
    drawn++;
  }
  tsl_matcher_free(m);
}

static tsl_grammar *compile(bool ordered, tsl_status *status, tsl_error *error) {
  const tsl_limits limits = {.max_steps = 40000000};
  const tsl_schema_options options = {.order = ordered ? TSL_ORDER_SCHEMA : TSL_ORDER_ANY,
                                      .spelling = TSL_SPELLING_ANY,
                                      .whitespace = TSL_WS_COMPACT};
  tsl_grammar *g = NULL;
  *status = tsl_grammar_json_schema(vocab, schema, schema_n, &options, &limits, &g, error);
  return g;
}

static void random_branches(void) {
  for (unsigned i = 0; i < rounds; i++) {
    tsl_status status;
    tsl_error error = {0};
    seed = i * 0x1234567u + 3;
    make_schema();
    tsl_grammar *g = compile(false, &status, &error);
    CHECKF(status == TSL_OK || status == TSL_ERR_EMPTY, "schema %u: %s: %s: %.600s", i,
           tsl_status_name(status), error.message, schema);
    for (unsigned k = 0; k < 60 && (g || status == TSL_ERR_EMPTY); k++) compare_text(g, make_text);
    for (unsigned k = 0; k < 3 && g; k++) draw_text(g);
    tsl_grammar_release(g);
    g = compile(true, &status, &error);
    for (unsigned k = 0; k < 2 && g; k++) draw_text(g);
    tsl_grammar_release(g);
  }
  printf("  %lu instances valid, %lu not; %lu texts drawn to their end\n", valid, invalid, drawn);
  CHECK(valid > rounds && invalid > rounds && drawn > 0);
}

/* ---- strings and numbers --------------------------------------------------------------------- */

/* With a small number twice. */
static const char *const strings[] = {"{\"type\":\"string\",\"pattern\":\"^k%u\"}",
                                      "{\"type\":\"string\",\"pattern\":\"^k%u:[a-c]*$\"}",
                                      "{\"pattern\":\"^k%u:\",\"maxLength\":5}",
                                      "{\"pattern\":\"k%u$\",\"type\":\"string\"}",
                                      "{\"pattern\":\"^[a-k]%u\",\"minLength\":4}",
                                      "{\"const\":\"k%u\"}",
                                      "{\"const\":\"k%u\",\"title\":\"t\"}",
                                      "{\"enum\":[\"k%u\",\"k%u:a\",\"k\",\"k\"]}",
                                      "{\"enum\":[\"k%u:\",7]}",
                                      "{\"type\":\"string\",\"maxLength\":%u}",
                                      "{\"type\":\"string\",\"minLength\":1%u}",
                                      "{\"not\":{\"pattern\":\"^[k-m]%u\"}}"};
static const char *const numbers[] = {"{\"type\":\"integer\",\"minimum\":%u,\"maximum\":%u}",
                                      "{\"type\":\"integer\",\"minimum\":%u,\"maximum\":3%u}",
                                      "{\"type\":\"number\",\"exclusiveMinimum\":%u}",
                                      "{\"exclusiveMaximum\":%u.5,\"type\":\"number\"}",
                                      "{\"minimum\":1%u,\"maximum\":2%u,\"multipleOf\":0.5}",
                                      "{\"const\":%u}",
                                      "{\"const\":%u.0,\"title\":\"t\"}",
                                      "{\"const\":1%u}",
                                      "{\"enum\":[%u,\"k%u\"]}",
                                      "{\"enum\":[%ue1,null,true]}",
                                      "{\"minimum\":%u,\"exclusiveMaximum\":%u.5}",
                                      "{\"type\":\"number\",\"multipleOf\":%u}"};

/* Few kinds in a schema, so that many branches are alike. */
static void make_scalars(void) {
  const char *const *kinds = below(2) ? strings : numbers;
  const char *some[3];
  for (unsigned i = 0; i < 3; i++) some[i] = kinds[below(sizeof strings / sizeof *strings)];
  branches = below(2) ? 2 + below(5) : 17 + below(BRANCHES_MAX - 17);
  schema_n = 0;
  put("{\"oneOf\":[", 0);
  for (unsigned i = 0; i < branches; i++) {
    if (i) put(",", 0);
    put(below(8) ? some[below(3)] : kinds[below(sizeof strings / sizeof *strings)],
        1 + (below(4) ? i : below(12)));
  }
  put("]}", 0);
}

static size_t make_scalar(char *text) {
  static const char *const tails[] = {"", ":", ":a", ":abc", ":d", "k1", "k2", ":ababababab"};
  static const char *const fractions[] = {"", ".0", ".5", "0", "00", "e1"};
  const unsigned i = 1 + below(below(2) ? branches : 12);
  if (below(2)) return (size_t)sprintf(text, "\"%c%u%s\"", below(4) ? 'k' : 'b', i, ONE_OF(tails));
  return (size_t)sprintf(text, "%s%u%s", below(6) ? "" : "-", i, ONE_OF(fractions));
}

static void random_scalars(void) {
  unsigned long before = valid, limits = 0;
  for (unsigned i = 0; i < 8 * rounds; i++) {
    tsl_status status;
    tsl_error error = {0};
    seed = i * 0x7654321u + 1;
    make_scalars();
    tsl_grammar *g = compile(false, &status, &error);
    CHECKF(status == TSL_OK || status == TSL_ERR_EMPTY || status == TSL_ERR_LIMIT,
           "schema %u: %s: %s: %.600s", i, tsl_status_name(status), error.message, schema);
    limits += status == TSL_ERR_LIMIT; /* many numbers that overlap */
    for (unsigned k = 0; k < 60 && (g || status == TSL_ERR_EMPTY); k++)
      compare_text(g, make_scalar);
    tsl_grammar_release(g);
  }
  printf("  %lu instances valid, %lu schemas past a limit\n", valid - before, limits);
  CHECK(valid - before > rounds && limits <= rounds);
}

/* ---- many branches --------------------------------------------------------------------------- */

static void put_many(unsigned n, const char *branch) {
  branches = n;
  schema_n = 0;
  put("{\"oneOf\":[", 0);
  for (unsigned i = 0; i < n; i++) put(i ? "," : "", 0), put(branch, i);
  put("]}", 0);
}

/* The last branch is another one, if `last` is not NULL. */
static void text_with(unsigned n, const char *branch, const char *last, const char *text,
                      bool is_valid) {
  tsl_status status;
  tsl_error error = {0};
  put_many(n, branch);
  if (last) schema_n -= 2, put(",", 0), put(last, 0), put("]}", 0);
  tsl_grammar *g = compile(false, &status, &error);
  CHECKF(status == TSL_OK, "%u of %s: %s", n, branch, error.message);
  CHECKF(g && accepts(g, text, strlen(text)) == is_valid, "%u of %s: %s", n, branch, text);
  tsl_grammar_release(g);
}

static void one_text(unsigned n, const char *branch, const char *text, bool is_valid) {
  text_with(n, branch, NULL, text, is_valid);
}

/* A branch for all kinds that the others do not list. */
static void fallback(void) {
  static const char closed[] =
      "{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"K%u\"},\"f\":"
      "{\"type\":\"string\"}},\"required\":[\"k\"],"
      "\"additionalProperties\":false}";
  static const char last[] = "{\"type\":\"object\",\"properties\":{\"k\":{\"type\":\"string\"}},"
                             "\"required\":[\"k\"]}";
  static const unsigned counts[] = {20, 150, 500};
  for (unsigned i = 0; i < 3; i++) {
    text_with(counts[i], closed, last, "{\"k\":\"K3\",\"f\":\"\"}", false); /* both hold */
    text_with(counts[i], closed, last, "{\"k\":\"K3\",\"f\":1}", true);     /* the last one */
    text_with(counts[i], closed, last, "{\"f\":\"\",\"k\":\"K\"}", true);
    text_with(counts[i], closed, last, "{\"g\":[],\"k\":\"K3\"}", true);
    text_with(counts[i], closed, last, "{\"f\":\"\"}", false);
  }
}

static void many(void) {
  static const char optional[] = "{\"type\":\"object\",\"properties\":{\"k\":{\"enum\":[\"K%u\"]},"
                                 "\"f%u\":{\"type\":\"integer\"}},\"additionalProperties\":false}";
  static const char required[] = "{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"K%u\"}},"
                                 "\"required\":[\"k\"]}";
  static const char nested[] =
      "{\"type\":\"object\",\"properties\":{\"m\":{\"type\":\"object\",\"properties\":{\"k\":"
      "{\"const\":\"K%u\"}},\"required\":[\"k\"]}},\"required\":[\"m\"]}";
  static const char tuple[] = "{\"type\":\"array\",\"prefixItems\":[{\"const\":\"K%u\"}],"
                              "\"minItems\":1}";
  static const char range[] = "{\"minimum\":%u.2,\"type\":\"number\",\"maximum\":%u.8}";
  static const unsigned counts[] = {66, 150, 300};
  for (unsigned i = 0; i < 3; i++) {
    one_text(counts[i], range, "35.8", true);
    one_text(counts[i], range, "35.9", false);
    one_text(counts[i], optional, "{\"k\":\"K3\",\"f3\":1}", true);
    one_text(counts[i], optional, "{\"f3\":1}", true);
    one_text(counts[i], optional, "{\"k\":\"K3\",\"f4\":1}", false);
    one_text(counts[i], optional, "{}", false);
    one_text(counts[i], required, "{\"k\":\"K65\",\"z\":[]}", true);
    one_text(counts[i], required, "{\"z\":1}", false);
    one_text(counts[i], nested, "{\"m\":{\"k\":\"K7\"}}", true);
    one_text(counts[i], nested, "{\"m\":{}}", false);
    one_text(counts[i], tuple, "[\"K7\",2]", true);
    one_text(counts[i], tuple, "[]", false);
  }
  one_text(1000, required, "{\"k\":\"K999\"}", true);
  one_text(1000, required, "{\"k\":\"K1000\"}", false);
  one_text(1000, range, "999.8", true);
  one_text(1000, range, "999.9", false);
}

/* Two long lists of numbers are compared by the numbers' hashes. Before, each number was compared
 * with all of the other list. */
static void few_steps_of_lists(void) {
  const tsl_limits limits = {.max_steps = 60000};
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  schema_n = 0;
  put("{\"oneOf\":[{\"enum\":[0.5", 0);
  for (unsigned i = 1; i < 2000; i++) put(",%u", i);
  put("]},{\"enum\":[1.5", 0);
  for (unsigned i = 2000; i < 4000; i++) put(",%u", i);
  put("]}]}", 0);
  tsl_status status = tsl_grammar_json_schema(vocab, schema, schema_n, NULL, &limits, &g, &error);
  CHECKF(status == TSL_OK, "%s", error.message);
  CHECK(g && accepts(g, "1999", 4) && accepts(g, "2000", 4) && !accepts(g, "4000", 4));
  tsl_grammar_release(g);
}

int main(int argc, char **argv) {
  static uint8_t bytes[256 + 5];
  static uint32_t offsets[258];
  static uint8_t special[257] = {[256] = 1};
  const tsl_token end = 256;
  if (argc > 1) rounds = (unsigned)strtoul(argv[1], NULL, 10);
  for (uint32_t t = 0; t < 256; t++) {
    bytes[t] = (uint8_t)t;
    offsets[t] = t;
  }
  memcpy(bytes + 256, "<end>", 5);
  offsets[256] = 256;
  offsets[257] = 261;
  tsl_vocab_desc desc = {bytes, offsets, 257, 0, special, &end, 1};
  CHECK(tsl_vocab_new(&desc, NULL, &vocab, NULL) == TSL_OK);
  RUN(random_branches, "random oneOf of 17 to 43 branches, beside a validator");
  RUN(random_scalars, "random oneOf of strings and numbers, beside a validator");
  RUN(many, "66 to 1,000 branches");
  RUN(few_steps_of_lists, "long lists of numbers are compared in few steps");
  RUN(fallback, "20 to 500 branches, and one that lists no values");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
