/* test_repeats.c - random schemas whose objects have unique names and whose arrays have unique
 * items, against a naive oracle, token by token.
 *
 * The oracle is the same schema without memory (uniqueItems left out, names may come again) and a
 * look at the text from its beginning (repeats.h). A token may come if three conditions hold. The
 * grammar without memory takes the token, the text does not repeat anything then, and there is a
 * way on to the end. So:
 *   - what the engine allows, the grammar without memory allows, and the text repeats nothing;
 *   - of what it denies past that, a search over bytes finds no way to the end without a
 *     repetition.
 * Tokens span items and members (`1,1`, `","a`, `"a":1,"a":1`), strings have escapes, and matchers
 * are forked and rolled back on the way. Every walk ends in a text that the search finds and the
 * engine takes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/judges/repeats.h"
#include "tests/support/toy.h"

#define SCHEMAS ROUNDS_OF(1500)
#define STEPS 36 /* tokens of a text: a third of them where none is for white space */
#define TEXT_MAX 2048
#define DEPTH_MAX 140  /* bytes of a way on */
#define NODES_MAX 250u /* looked at for one way */

static const char *const tokens[] = {"{",
                                     "}",
                                     "[",
                                     "]",
                                     ",",
                                     ":",
                                     "\"",
                                     "a",
                                     "b",
                                     "c",
                                     "0",
                                     "1",
                                     "2",
                                     "3",
                                     "4",
                                     "5",
                                     "6",
                                     "7",
                                     "8",
                                     "9",
                                     "-",
                                     ".",
                                     "e",
                                     "\\",
                                     "u",
                                     "t",
                                     "r",
                                     "f",
                                     "l",
                                     "s",
                                     "n",
                                     " ",
                                     "\n",
                                     "ab",
                                     "ba",
                                     "aa",
                                     "bb",
                                     "10",
                                     "12",
                                     "true",
                                     "false",
                                     "null",
                                     "u00",
                                     "61",
                                     "\\u0061",
                                     "\\u0062\"",
                                     "\xc3\xa9",
                                     "\\u00e9",
                                     "a\"",
                                     "b\"",
                                     "\"a",
                                     "\"a\"",
                                     "\"b\"",
                                     "\"\"",
                                     "\",\"",
                                     "\",\"a",
                                     "a\",\"a",
                                     "a\",\"a\"",
                                     "\", \"",
                                     "\"],[\"",
                                     "\"},{\"",
                                     "\"]",
                                     "\"}",
                                     "1,",
                                     ",1",
                                     "1,1",
                                     "1,2",
                                     "1,2,1",
                                     ",2]",
                                     "0.",
                                     "1.0",
                                     "1.0,1",
                                     "e0",
                                     "10e-1",
                                     "true,true",
                                     "true,false",
                                     "null,",
                                     ",null",
                                     "[]",
                                     "[],",
                                     "[],[]",
                                     "[1],[1",
                                     "[[",
                                     "]]",
                                     "{}",
                                     "{},",
                                     "{},{}",
                                     "{\"",
                                     "{\"a",
                                     "{\"a\":",
                                     "{\"a\":1",
                                     "{\"a\":1}",
                                     "},{\"a\":1}",
                                     "\":",
                                     "\":1",
                                     "\":1,\"",
                                     "a\":1,\"a",
                                     "a\":1,\"b",
                                     "\"a\":1,\"a\":1",
                                     "\"a\":1,\"b\":1",
                                     ",\"a\":1",
                                     ",\"b\":1",
                                     ",\"\":",
                                     "\"\":1",
                                     "b\":1}",
                                     "1}",
                                     "1]",
                                     "]}",
                                     "}]",
                                     "}}",
                                     ",\n",
                                     "\n ",
                                     "\n  ",
                                     "[\n",
                                     " ]",
                                     "]\n",
                                     " ]\n",
                                     "],\n",
                                     "]\n ]",
                                     "1\n",
                                     "\"\n",
                                     "}\n",
                                     "\n ],\n [",
                                     "<end>"};
#define TOKENS (sizeof tokens / sizeof *tokens)

static tsl_vocab *vocab;
static uint64_t seed = 11;
static unsigned long compared, denied, unknown, refused, walks;

static unsigned draw(unsigned n) { return (unsigned)(tsl_test_random(&seed) % n); }

/* ---- schemas --------------------------------------------------------------------------------- */

struct writer {
  char at[4096];
  size_t n;
};

static void put(struct writer *w, const char *text) {
  w->n += (size_t)snprintf(w->at + w->n, sizeof w->at - w->n, "%s", text);
}

static void put_value(struct writer *w, int depth);

static void put_scalar(struct writer *w) {
  static const char *const scalars[] = {"{\"type\":\"boolean\"}",
                                        "{\"type\":[\"null\",\"boolean\"]}",
                                        "{\"enum\":[1,2,\"a\"]}",
                                        "{\"enum\":[\"a\",\"ab\",\"b\",null]}",
                                        "{\"type\":\"string\",\"pattern\":\"^[ab]{0,2}$\"}",
                                        "{\"type\":\"string\"}",
                                        "{\"type\":\"string\",\"maxLength\":1}",
                                        "{\"type\":\"integer\",\"minimum\":0,\"maximum\":12}",
                                        "{\"type\":\"integer\"}",
                                        "{\"type\":\"number\",\"minimum\":0}",
                                        "{\"type\":[\"string\",\"null\",\"integer\",\"boolean\"]}"};
  put(w, scalars[draw(sizeof scalars / sizeof *scalars)]);
}

/* All arrays have unique items, so that the oracle need not know which. */
static void put_array(struct writer *w, int depth) {
  static const char *const sizes[] = {"", "", ",\"maxItems\":3", ",\"minItems\":2",
                                      ",\"minItems\":1,\"maxItems\":4"};
  put(w, "{\"type\":\"array\",\"uniqueItems\":true,\"items\":");
  put_value(w, depth - 1);
  put(w, sizes[draw(5)]);
  if (draw(4) == 0) {
    put(w, ",\"prefixItems\":[");
    put_value(w, depth - 1);
    put(w, "]");
  }
  put(w, "}");
}

static void put_object(struct writer *w, int depth) {
  static const char *const sizes[] = {"",
                                      "",
                                      "",
                                      ",\"minProperties\":2",
                                      ",\"maxProperties\":2",
                                      ",\"required\":[\"a\"]",
                                      ",\"required\":[\"b\",\"ab\"]"};
  static const char *const names[] = {"", "", ",\"propertyNames\":{\"pattern\":\"^[ab]{0,2}$\"}",
                                      ",\"propertyNames\":{\"maxLength\":1}",
                                      ",\"propertyNames\":{\"pattern\":\"^a\"}"};
  put(w, "{\"type\":\"object\"");
  if (draw(2)) {
    put(w, ",\"properties\":{\"a\":");
    put_value(w, depth - 1);
    put(w, ",\"ab\":");
    put_value(w, depth - 1);
    put(w, "}");
  }
  if (draw(4) == 0) {
    put(w, ",\"patternProperties\":{\"^b\":");
    put_value(w, depth - 1);
    put(w, "}");
  }
  put(w, ",\"additionalProperties\":");
  put_value(w, depth - 1);
  put(w, sizes[draw(7)]);
  put(w, names[draw(5)]);
  put(w, "}");
}

static void put_value(struct writer *w, int depth) {
  unsigned kind = depth > 0 ? draw(6) : 0;
  if (kind == 1 || kind == 2)
    put_array(w, depth);
  else if (kind == 3 || kind == 4)
    put_object(w, depth);
  else if (kind == 5) {
    put(w, "{\"anyOf\":[");
    put_value(w, depth - 1);
    put(w, ",");
    put_value(w, depth - 1);
    put(w, "]}");
  } else
    put_scalar(w);
}

/* Of an array or object. */
static void put_schema(struct writer *w) {
  w->n = 0;
  if (draw(2))
    put_array(w, 2);
  else
    put_object(w, 2);
}

static void forget_items(struct writer *w) {
  for (char *p; (p = strstr(w->at, "uniqueItems"));) memcpy(p, "-niqueItems", 11);
}

/* ---- the oracle ------------------------------------------------------------------------------ */

struct text {
  char at[TEXT_MAX];
  size_t n;
};

static bool repeats(const struct text *t) {
  return text_repeats_item(t->at, t->n) || text_repeats_name(t->at, t->n);
}

/* Is there a way to the end from where the matcher without memory is, after the text? Then the text
 * has it at its end. */
static bool find_way(tsl_matcher *m, struct text *t, unsigned depth, unsigned *nodes) {
  static const char order[] = "]}\"1ab02:,{[3456789truefalsn \n";
  uint32_t next[8];
  if (tsl_matcher_is_complete(m)) return true;
  if (depth == DEPTH_MAX || t->n + 1 >= TEXT_MAX || tsl_matcher_next_bytes(m, next) != TSL_OK)
    return false;
  for (const char *c = order; *c && *nodes < NODES_MAX; c++) {
    uint8_t b = (uint8_t)*c;
    if (!((next[b / 32] >> b % 32) & 1u) || strchr(order, b) != c) continue;
    ++*nodes;
    t->at[t->n++] = (char)b;
    if (!repeats(t) && tsl_matcher_accept_bytes(m, &b, 1, NULL) == TSL_OK) {
      if (find_way(m, t, depth + 1, nodes)) return true;
      tsl_matcher_rollback(m, 1);
    }
    t->n--;
  }
  return false;
}

/* A way on after the token? */
static bool way_after(const tsl_matcher *plain, const struct text *t) {
  tsl_matcher *fork;
  struct text copy = *t;
  unsigned nodes = 0;
  if (tsl_matcher_fork(plain, &fork) != TSL_OK) return false;
  bool found = find_way(fork, &copy, 0, &nodes);
  tsl_matcher_free(fork);
  return found;
}

static void append(struct text *t, tsl_token token) {
  memcpy(t->at + t->n, tokens[token], strlen(tokens[token]));
  t->n += strlen(tokens[token]);
}

static void check_token(const tsl_matcher *m, const tsl_matcher *plain, const struct text *t,
                        tsl_token token, bool allowed, const char *schema) {
  struct text then = *t;
  tsl_matcher *fork = NULL;
  append(&then, token);
  bool repeated = repeats(&then);
  compared++;
  if (allowed) {
    CHECKF(!repeated, "%s: %.*s is allowed", schema, (int)then.n, then.at);
    bool accepted =
        tsl_matcher_fork(m, &fork) == TSL_OK && tsl_matcher_accept(fork, token) == TSL_OK;
    CHECKF(accepted, "%s: %.*s is allowed, and not accepted", schema, (int)then.n, then.at);
    tsl_matcher_free(fork);
    return;
  }
  denied++;
  if (repeated || tsl_matcher_fork(plain, &fork) != TSL_OK) return;
  bool accepted = tsl_matcher_accept(fork, token) == TSL_OK,
       found = accepted && way_after(fork, &then);
  CHECKF(accepted && !found, "%s: %.*s is denied", schema, (int)then.n, then.at);
  unknown++;
  tsl_matcher_free(fork);
}

/* ---- walks ----------------------------------------------------------------------------------- */

struct place {
  struct text text;
  uint32_t mask[(TOKENS + 31) / 32];
};

static bool has(const uint32_t *mask, tsl_token t) { return (mask[t / 32] >> t % 32) & 1u; }

/* Both masks, token by token; one of the allowed tokens, or TSL_NO_TOKEN. */
static tsl_token check_place(tsl_matcher *m, tsl_matcher *plain, struct place *at,
                             const char *schema) {
  uint32_t without[(TOKENS + 31) / 32];
  tsl_token allowed[TOKENS];
  unsigned n = 0;
  if (tsl_matcher_mask(m, at->mask) != TSL_OK || tsl_matcher_mask(plain, without) != TSL_OK)
    return TSL_NO_TOKEN;
  CHECKF(has(at->mask, TOKENS - 1) == tsl_matcher_is_complete(m), "%s: %.*s", schema,
         (int)at->text.n, at->text.at);
  for (tsl_token t = 0; t + 1 < TOKENS; t++) {
    if (!has(without, t)) {
      CHECKF(!has(at->mask, t), "%s: %.*s before %s", schema, (int)at->text.n, at->text.at,
             tokens[t]);
      continue;
    }
    check_token(m, plain, &at->text, t, has(at->mask, t), schema);
    if (has(at->mask, t)) allowed[n++] = t;
  }
  CHECKF(n || tsl_matcher_is_complete(m), "%s: nothing is allowed after %.*s", schema,
         (int)at->text.n, at->text.at);
  return n ? allowed[draw(n)] : TSL_NO_TOKEN;
}

/* The way that the search finds must be one of the engine's. */
static void check_end(tsl_matcher *m, tsl_matcher *plain, struct text *t, const char *schema) {
  unsigned nodes = 0;
  size_t before = t->n;
  if (!find_way(plain, t, 0, &nodes)) return;
  tsl_status status =
      t->n == before ? TSL_OK : tsl_matcher_accept_bytes(m, t->at + before, t->n - before, NULL);
  CHECKF(status == TSL_OK && tsl_matcher_is_complete(m), "%s: %.*s at %zu", schema, (int)t->n,
         t->at, before);
  walks++;
}

static void walk(tsl_grammar *g, tsl_grammar *without, const char *schema, unsigned most) {
  static struct place places[STEPS + 1];
  tsl_matcher *m, *plain, *fork;
  if (tsl_matcher_new(g, NULL, &m) != TSL_OK || tsl_matcher_new(without, NULL, &plain) != TSL_OK)
    return;
  places[0].text.n = 0;
  unsigned at = 0;
  for (unsigned steps = 0; steps < 2 * most && at < most; steps++) {
    tsl_token t = check_place(m, plain, &places[at], schema);
    if (t == TSL_NO_TOKEN) break;
    if (draw(3) == 0 && tsl_matcher_fork(m, &fork) == TSL_OK) tsl_matcher_free(m), m = fork;
    CHECK(tsl_matcher_accept(m, t) == TSL_OK && tsl_matcher_accept(plain, t) == TSL_OK);
    places[at + 1].text = places[at].text;
    append(&places[++at].text, t);
    if (draw(5)) continue;
    unsigned back = draw(at) + 1;
    uint32_t again[(TOKENS + 31) / 32];
    CHECK(tsl_matcher_rollback(m, back) == TSL_OK && tsl_matcher_rollback(plain, back) == TSL_OK);
    at -= back;
    CHECK(tsl_matcher_mask(m, again) == TSL_OK && !memcmp(again, places[at].mask, sizeof again));
  }
  check_end(m, plain, &places[at].text, schema);
  tsl_matcher_free(m);
  tsl_matcher_free(plain);
}

static void test_random(void) {
  static const tsl_whitespace spaces[] = {TSL_WS_ANY, TSL_WS_COMPACT, TSL_WS_PRETTY};
  for (int i = 0; i < SCHEMAS; i++) {
    struct writer w;
    tsl_schema_options options = {.whitespace = spaces[i % 3],
                                  .indent = 1,
                                  .order = i % 4 < 3 ? TSL_ORDER_ANY : TSL_ORDER_SCHEMA};
    tsl_grammar *g = NULL, *without = NULL;
    tsl_error error;
    put_schema(&w);
    tsl_status status = tsl_grammar_json_schema(vocab, w.at, w.n, &options, NULL, &g, &error);
    refused += status == TSL_ERR_UNSUPPORTED || status == TSL_ERR_EMPTY;
    CHECKF(status == TSL_OK || status == TSL_ERR_UNSUPPORTED || status == TSL_ERR_EMPTY, "%s: %s",
           w.at, error.message);
    if (status != TSL_OK) continue;
    char schema[sizeof w.at];
    memcpy(schema, w.at, w.n + 1);
    forget_items(&w);
    options.repeated_names = true;
    status = tsl_grammar_json_schema(vocab, w.at, w.n, &options, NULL, &without, &error);
    CHECKF(status == TSL_OK, "%s: %s", w.at, error.message);
    for (int k = 0; without && k < 2; k++)
      walk(g, without, schema, options.whitespace == TSL_WS_PRETTY ? STEPS : STEPS / 3);
    tsl_grammar_release(g);
    tsl_grammar_release(without);
  }
  printf("     %lu tokens compared, %lu denied, of these %lu with no way on that is found; %lu "
         "walks to the end; %lu schemas refused\n",
         compared, denied, unknown, walks, refused);
  CHECK(denied > 500 && walks > SCHEMAS / 2);
}

int main(void) {
  vocab = toy_vocab(tokens, TOKENS, true);
  if (!vocab) return 1;
  RUN(test_random, "random schemas against the same without memory");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
