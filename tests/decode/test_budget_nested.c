/* test_budget_nested.c - a text under a budget always ends: arrays of unique items within one
 * another, and objects with them, in all modes of white space.
 *
 * Problem   A plan must lead to an end from wherever a token may lead. Where items must differ on
 *           several levels, an item that was possible may become impossible by what other levels
 *           hold. A plan that did not know of this would leave an empty mask. Plans also fill
 *           tables, and are then made anew in others, in the middle of a text.
 * Idea      Random schemas of such arrays, up to four deep, with items of few values and of many.
 *           Texts are drawn token by token under a budget that is often as tight as it can be. Each
 *           must end, complete, and no mask may fail.
 * Limits    The way to the end of [[[[…]]]] may have thousands of tokens, and max_memory ends a
 *           mask then, as any mask. Schemas whose shortest text is over LEAST_MAX tokens are left
 *           out and counted. Masks at a limit are counted, too, and must be rare.
 * Usage     test_budget_nested [SCHEMAS [TEXTS [SEED [SECONDS]]]]; 500 200 is the long run of
 *           docs/testing-log.md. SECONDS of the processor are the most for one schema. Without
 *           arguments a short run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <time.h>

#include "runtime/matcher/generation.h"
#include "tests/support/draw.h"
#include "tests/support/text.h"

#define LONGEST (1u << 16)
#define DEEPEST 4u
#define LEAST_MAX 60u
#define LITTLE (16u << 20) /* bytes of a grammar: plans leave their tables often */

static uint64_t seed = 1;
static unsigned schemas = 30, texts = 2; /* the first two arguments */
static double most = 1e9;                /* milliseconds for a schema: the fourth */
static unsigned long written, ended, no_start, too_long, refused, empty, compiled;
static double slowest;
static uint32_t below(uint32_t n) { return (uint32_t)(tsl_test_random(&seed) % n); }

static double milliseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* ---- random schemas -------------------------------------------------------------------------- */

static void put_value(struct text *t, unsigned depth);

/* Values without an inside: of few, so that items run short, and of many. */
static void scalar(struct text *t) {
  static const char *const kinds[] = {"{\"type\":\"string\"}",
                                      "{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"}",
                                      "{\"type\":\"string\",\"pattern\":\"^(a| b)\"}",
                                      "{\"type\":\"string\",\"pattern\":\"^[ab]{0,2}$\"}",
                                      "{\"type\":\"string\",\"minLength\":1,\"maxLength\":9}",
                                      "{\"type\":\"string\",\"format\":\"date\"}",
                                      "{\"type\":\"integer\",\"minimum\":1,\"maximum\":30}",
                                      "{\"type\":\"integer\",\"minimum\":0,\"maximum\":4}",
                                      "{\"type\":\"integer\"}",
                                      "{\"type\":\"number\"}",
                                      "{\"type\":\"boolean\"}",
                                      "{\"enum\":[\"red\",\"green\",\"blue\",7,null]}",
                                      "{\"enum\":[1,1.5,\"1\",[1],{\"a\":1}]}",
                                      "{\"type\":[\"boolean\",\"string\"]}",
                                      "{\"type\":[\"null\",\"boolean\"]}",
                                      "{\"type\":[\"integer\",\"array\"]}",
                                      "{}"};
  text_add(t, kinds[below(sizeof kinds / sizeof *kinds)]);
}

static void unique_array(struct text *t, unsigned depth) {
  text_add(t, "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":");
  text_add_number(t, below(4));
  if (below(4) == 0) text_add(t, ",\"maxItems\":5");
  text_add(t, ",\"items\":");
  put_value(t, depth);
  text_add(t, "}");
}

/* Members: some are required, some may come. */
static void object(struct text *t, unsigned depth) {
  static const char *const names[] = {"a", "b", "ab"};
  unsigned n = 1 + below(3), needed = below(n + 1);
  text_add(t, "{\"type\":\"object\",\"properties\":{");
  for (unsigned i = 0; i < n; i++) {
    text_add(t, i ? ",\"" : "\"");
    text_add(t, names[i]);
    text_add(t, "\":");
    if (i == 0)
      put_value(t, depth);
    else
      scalar(t);
  }
  text_add(t, "},\"required\":[");
  for (unsigned i = 0; i < needed; i++) {
    text_add(t, i ? ",\"" : "\"");
    text_add(t, names[i]);
    text_add(t, "\"");
  }
  text_add(t, below(4) ? "],\"additionalProperties\":false}" : "]}");
}

/* An array of unique items, mostly. */
static void put_value(struct text *t, unsigned depth) {
  unsigned kind = below(8);
  if (depth == 0 || kind == 7)
    scalar(t);
  else if (kind < 5)
    unique_array(t, depth - 1);
  else if (kind == 5)
    object(t, depth - 1);
  else {
    text_add(t, "{\"type\":\"array\",\"minItems\":1,\"maxItems\":3,\"items\":");
    put_value(t, depth - 1);
    text_add(t, "}");
  }
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The rest of a text, of at most `max` tokens; true if it is complete in the end. `text`: as far as
 * it came, *status: of the last mask. */
static bool write_on(const tsl_vocab *v, tsl_budget *b, tsl_matcher *m, uint64_t max, char *text,
                     tsl_status *status) {
  uint32_t mask[8192 / 32];
  size_t n = 0, bytes;
  for (uint64_t left = max;; left--) {
    text[n] = 0;
    double from = milliseconds();
    *status = tsl_budget_mask(b, m, left, mask);
    double spent = milliseconds() - from;
    if (spent > slowest) slowest = spent;
    if (*status != TSL_OK) return false;
    tsl_token t = draw(mask, tsl_vocab_logits_width(v), &seed);
    if (t == TSL_NO_TOKEN || tsl_vocab_is_eog(v, t)) return tsl_matcher_is_complete(m);
    const uint8_t *at = tsl_vocab_bytes(v, t, &bytes);
    if (left == 0 || n + bytes >= LONGEST) return false;
    if ((*status = tsl_budget_allows(b, m, left, t)) != TSL_OK) return false;
    if ((*status = tsl_matcher_accept(m, t)) != TSL_OK) return false;
    memcpy(text + n, at, bytes);
    n += bytes;
    written++;
  }
}

/* A whole text. */
static bool write_text(const tsl_vocab *v, tsl_budget *b, tsl_matcher *m, uint64_t max, char *text,
                       tsl_status *status) {
  tsl_matcher_reset(m);
  text[0] = 0;
  if ((*status = tsl_budget_start(b, m, max, NULL)) != TSL_OK) return false;
  return write_on(v, b, m, max, text, status);
}

/* No text of the schema may come to an empty mask; a mask that reaches a limit counts, too. */
static void write_texts(const tsl_vocab *v, const char *schema, const tsl_schema_options *o,
                        tsl_grammar *g) {
  static char text[LONGEST];
  tsl_matcher *m = NULL;
  tsl_budget *b = NULL;
  size_t least = 0;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_new(g, NULL, &b) == TSL_OK);
  tsl_status start = tsl_budget_completion(b, m, NULL, 0, &least), status;
  CHECKF(start == TSL_OK || start == TSL_ERR_LIMIT, "%s: %s", schema, tsl_status_name(start));
  if (start != TSL_OK) no_start++;
  if (start == TSL_OK && least > LEAST_MAX) too_long++;
  double from = milliseconds();
  for (unsigned i = 0; start == TSL_OK && least <= LEAST_MAX && i < texts; i++) {
    if (milliseconds() - from > most) break;
    uint64_t max = least + (i % 3 ? below(i % 3 == 1 ? 6 : 60) : 0);
    bool whole = write_text(v, b, m, max, text, &status);
    ended += whole;
    refused += status == TSL_ERR_LIMIT;
    CHECKF(whole || status == TSL_ERR_LIMIT,
           "%s\n  white space %u, order %u, budget %u (least %zu): %s after %s", schema,
           o->whitespace, o->order, (unsigned)max, least, tsl_status_name(status), text);
  }
  tsl_budget_free(b);
  tsl_matcher_free(m);
}

static void nested(void) {
  static struct text t;
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  for (unsigned i = 0; v && i < ROUNDS_OF(schemas); i++) {
    const tsl_schema_options o = {.whitespace = (tsl_whitespace)(i % 5),
                                  .whitespace_max = 2,
                                  .indent = 1 + below(2),
                                  .order = below(4) ? TSL_ORDER_SCHEMA : TSL_ORDER_ANY};
    tsl_grammar *g = NULL;
    tsl_error e;
    t.n = 0;
    if (i % 4 == 0)
      object(&t, 2 + below(DEEPEST - 1));
    else
      unique_array(&t, 1 + below(DEEPEST));
    const tsl_limits limits = {.max_memory = below(2) ? LITTLE : 0};
    tsl_status status = tsl_grammar_json_schema(v, t.at, strlen(t.at), &o, &limits, &g, &e);
    CHECKF(status == TSL_OK || status == TSL_ERR_EMPTY || status == TSL_ERR_UNSUPPORTED, "%s: %s",
           t.at, e.message);
    empty += !g;
    compiled += g != NULL;
    if (g) write_texts(v, t.at, &o, g);
    tsl_grammar_release(g);
    if (schemas >= 100 && i % 20 == 19) {
      printf("       %u schemas, %lu texts ended, %lu at a limit, slowest mask %.0f ms\n", i + 1,
             ended, refused, slowest);
      fflush(stdout);
    }
  }
  printf("       %lu schemas and %lu without values; %lu texts ended, %lu tokens\n", compiled,
         empty, ended, written);
  printf(
      "       %lu schemas are too long, no budget begins in %lu; %lu masks at a limit; the slowest"
      " took %.0f ms\n",
      too_long, no_start, refused, slowest);
  CHECK(compiled > empty && no_start * 20 <= compiled && refused * 50 <= ended);
  tsl_vocab_release(v);
}

/* ---- a way that no other search finds -------------------------------------------------------- */

/* The tables of the plans are left, and too full to go on in. */
static tsl_grammar *fill_tables(tsl_grammar *g) {
  tsl__space *s = g->space;
  atomic_store(&g->tables->closed, true);
  atomic_store(&s->left, true);
  tsl_grammar *newest = tsl__grammar_now(g);
  CHECK(newest->space != s);
  s->work.max_memory = 4 * (uint64_t)s->arena.total;
  return newest;
}

/* In the middle of this text 41 tokens are left. The budget knows a way, as it knew one before each
 * token. A search that begins here finds one of 42 tokens. The plans are to be made anew, and the
 * walk along the known way is given no work. The way must not be lost, and once there is room again
 * the text goes on. */
static void the_way_is_kept(void) {
#define UNIQUE(least, items) \
  "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":" #least ",\"items\":" items "}"
  static const char schema[] = UNIQUE(
      3,
      UNIQUE(2, UNIQUE(1, UNIQUE(2, UNIQUE(1, "{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"}")))));
  static const char *const tokens[] = {"[",   "[[",  "[[\"", "age", "\"],", "[\"", "ial",
                                       "\"]", "]],", "[[",   "[\"", "ored", "rom"};
  static char text[LONGEST];
  tsl_schema_options o = {.whitespace = TSL_WS_COMPACT};
  tsl_vocab *v = NULL;
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_budget *b = NULL, *begins_here = NULL;
  uint32_t mask[8192 / 32];
  uint64_t left = 54;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK &&
        tsl_grammar_json_schema(v, schema, sizeof schema - 1, &o, NULL, &g, NULL) == TSL_OK);
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_new(g, NULL, &b) == TSL_OK &&
        tsl_budget_new(g, NULL, &begins_here) == TSL_OK);
  CHECK(tsl_budget_start(b, m, left, NULL) == TSL_OK);
  for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++, left--) {
    tsl_token t;
    size_t n = 0;
    CHECK(tsl_vocab_encode(v, tokens[i], strlen(tokens[i]), 0, &t, 1, &n) == TSL_OK && n == 1);
    CHECK(tsl_budget_mask(b, m, left, mask) == TSL_OK && tsl_mask_has(mask, t));
    CHECK(tsl_budget_allows(b, m, left, t) == TSL_OK && tsl_matcher_accept(m, t) == TSL_OK);
  }
  CHECK(tsl_budget_start(begins_here, m, left, NULL) == TSL_ERR_LIMIT);
  uint64_t steps = g->space->work.max_steps, memory = g->space->work.max_memory;
  tsl_grammar *newest = fill_tables(g);
  g->space->work.max_steps = 1;
  tsl_status status = tsl_budget_mask(b, m, left, mask);
  CHECKF(status == TSL_ERR_LIMIT ||
             (status == TSL_OK && tsl_mask_count(mask, tsl_vocab_logits_width(v))),
         "%s, or no token", tsl_status_name(status));
  g->space->work.max_steps = steps;
  g->space->work.max_memory = memory;
  bool whole = write_on(v, b, m, left, text, &status);
  CHECKF(whole, "%s after ... %s", tsl_status_name(status), text);
  tsl_grammar_release(newest);
  tsl_budget_free(b);
  tsl_budget_free(begins_here);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

int main(int argc, char **argv) {
  if (argc > 1) schemas = (unsigned)strtoul(argv[1], NULL, 10);
  if (argc > 2) texts = (unsigned)strtoul(argv[2], NULL, 10);
  if (argc > 3) seed = strtoull(argv[3], NULL, 10);
  if (argc > 4) most = 1e3 * strtod(argv[4], NULL);
  RUN(the_way_is_kept, "a way that no other search finds is kept where plans are made anew");
  RUN(nested, "texts end in time, whatever their items");
  return tsl_test_end();
}
