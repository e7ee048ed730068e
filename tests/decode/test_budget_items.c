/* test_budget_items.c - budgets where items must differ (uniqueItems). Every text ends in time.
 * What a mask allows or denies is judged by trying everything over small vocabularies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>

#include "runtime/matcher/grammar.h"
#include "runtime/matcher/matcher.h"
#include "tests/support/draw.h"
#include "tests/support/text.h"
#include "tests/support/toy.h"

static uint64_t seed = 6, first; /* first: the second argument */
static unsigned rounds = 16;     /* the first argument */
static uint32_t below(uint32_t n) { return (uint32_t)(tsl_test_random(&seed) % n); }

/* ---- random schemas -------------------------------------------------------------------------- */

/* An array of items that must differ, of kinds [first, last), or of such arrays or objects. */
static void unique_array(struct text *t, const char *const *kinds, unsigned n, unsigned depth) {
  unsigned kind = below(n + (depth ? 3 : 0));
  text_add(t, "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":");
  text_add_number(t, below(4));
  if (below(4) == 0) text_add(t, ",\"maxItems\":4");
  text_add(t, ",\"items\":");
  if (kind < n)
    text_add(t, kinds[kind]);
  else if (kind == n)
    unique_array(t, kinds, n, depth - 1);
  else {
    text_add(t, "{\"type\":\"object\",\"properties\":{\"a\":");
    if (kind == n + 1)
      text_add(t, kinds[below(n)]);
    else
      unique_array(t, kinds, n, depth - 1);
    text_add(
        t,
        below(2)
            ? ",\"b\":{\"type\":\"boolean\"}},\"required\":[\"a\"],\"additionalProperties\":false}"
            : "},\"required\":[\"a\"],\"additionalProperties\":false}");
  }
  text_add(t, "}");
}

/* One alone, with a member before it or after it, or several. */
static void root_schema(struct text *t, const char *const *kinds, unsigned n, unsigned depth) {
  static const char *const begin[] = {
      "", "{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"boolean\"},\"a\":",
      "{\"type\":\"object\",\"properties\":{\"a\":",
      "{\"type\":\"array\",\"minItems\":1,\"items\":"};
  static const char *const end[] = {"",
                                    "},\"required\":[\"a\",\"b\"],\"additionalProperties\":false}",
                                    "},\"required\":[\"a\"],\"additionalProperties\":false}", "}"};
  unsigned kind = below(4);
  t->n = 0;
  text_add(t, begin[kind]);
  unique_array(t, kinds, n, depth);
  text_add(t, end[kind]);
}

/* ---- small vocabularies: the truth by trying everything -------------------------------------- */

#define DEPTH 5u
#define KNOWN_MAX (1u << 22)
#define POSITIONS_MAX 100000u /* of one grammar: then the next one's turn comes */

/* For each position, whether a text can end from there: with at most so many tokens (less one) it
 * cannot, with so many it can. */
typedef struct truth {
  uint8_t cannot[KNOWN_MAX], can[KNOWN_MAX];
} truth;

static bool can_end(truth *known, tsl_matcher *m, const tsl_vocab *v, uint32_t depth) {
  uint32_t mask[2], at = m->at;
  if (tsl_matcher_is_complete(m)) return true;
  if (depth == 0 || at >= KNOWN_MAX || known->cannot[at] > depth ||
      tsl_matcher_mask(m, mask) != TSL_OK)
    return false;
  if (known->can[at] && known->can[at] <= depth) return true;
  for (tsl_token t = 0; t < tsl_vocab_size(v); t++) {
    if (!tsl_mask_has(mask, t) || tsl_vocab_is_eog(v, t) || tsl_matcher_accept(m, t) != TSL_OK)
      continue;
    bool ends = can_end(known, m, v, depth - 1);
    tsl_matcher_rollback(m, 1);
    if (ends) return known->can[at] = (uint8_t)depth, true;
  }
  known->cannot[at] = (uint8_t)(depth + 1);
  return false;
}

/* longer: the plan that a token shares with others is longer than its own, and does not fit */
static unsigned long judged, needless, longer;

typedef struct trial {
  const char *schema;
  tsl_vocab *v;
  tsl_matcher *m;
  tsl_budget *budget, *other; /* the second one gives completions alone */
  truth *known;
  char text[256];
} trial;

/* Tokens are hardly ever denied of which a way is known. */
static void few_had_a_way(void) {
  printf(
      "       %lu tokens judged, %lu of them denied for want of a way that is known; %lu had one\n",
      judged, needless, longer);
  CHECK(longer <= judged / 100);
}

/* Every token that is allowed with `left` to go leads to an end in time, every one that is denied
 * to none that is known. */
static void judge(trial *t, uint64_t left) {
  uint32_t plain[2], mask[2];
  CHECK(tsl_matcher_mask(t->m, plain) == TSL_OK &&
        tsl_budget_mask(t->budget, t->m, left, mask) == TSL_OK);
  bool enough = can_end(t->known, t->m, t->v, (uint32_t)left);
  if (!enough)
    CHECKF(tsl_mask_count(mask, tsl_vocab_logits_width(t->v)) == 0,
           "%s after %s: tokens with %u left", t->schema, t->text, (unsigned)left);
  for (tsl_token k = 0; k < tsl_vocab_size(t->v); k++) {
    bool allowed = tsl_mask_has(mask, k);
    size_t bytes, count = 0;
    if (!tsl_mask_has(plain, k)) CHECK(!allowed);
    if (!tsl_mask_has(plain, k) || tsl_vocab_is_eog(t->v, k) || left == 0) continue;
    CHECK((tsl_budget_allows(t->budget, t->m, left, k) == TSL_OK) == allowed &&
          tsl_matcher_accept(t->m, k) == TSL_OK);
    bool ends = can_end(t->known, t->m, t->v, (uint32_t)left - 1);
    const char *spelled = (const char *)tsl_vocab_bytes(t->v, k, &bytes);
    CHECKF(ends || !allowed, "%s after %s: %.*s with %u left", t->schema, t->text, (int)bytes,
           spelled, (unsigned)left);
    /* LIMIT: none is known */
    tsl_status status = tsl_budget_completion(t->other, t->m, NULL, 0, &count);
    CHECK(status == TSL_OK || status == TSL_ERR_LIMIT);
    longer += !allowed && status == TSL_OK && count < left;
    tsl_matcher_rollback(t->m, 1);
    judged++;
    needless += ends && !allowed;
  }
}

/* No tables are evicted: what is known here is kept by the numbers of positions. */
static const tsl_limits stays = {.max_memory = (uint64_t)2 << 30,
                                 .text_memory = (uint64_t)256 << 20};

static void judge_schema(trial *t) {
  tsl_grammar *g = NULL;
  uint32_t mask[2];
  const tsl_schema_options o = {.whitespace = TSL_WS_COMPACT};
  tsl_status status =
      tsl_grammar_json_schema(t->v, t->schema, strlen(t->schema), &o, &stays, &g, NULL);
  CHECKF(status == TSL_OK || status == TSL_ERR_EMPTY, "%s", t->schema);
  if (!g) return;
  memset(t->known, 0, sizeof *t->known);
  CHECK(tsl_matcher_new(g, NULL, &t->m) == TSL_OK &&
        tsl_budget_new(g, NULL, &t->budget) == TSL_OK &&
        tsl_budget_new(g, NULL, &t->other) == TSL_OK);
  for (unsigned k = 0; k < 6; k++) {
    size_t n = 0;
    tsl_matcher_reset(t->m);
    t->text[0] = 0;
    for (unsigned step = 0; step < 14 && tsl__space_count(g->space, stacks) < POSITIONS_MAX;
         step++) {
      size_t bytes;
      for (uint64_t left = 0; left <= DEPTH; left++) judge(t, left);
      tsl_token token = tsl_matcher_mask(t->m, mask) == TSL_OK
                            ? draw(mask, tsl_vocab_logits_width(t->v), &seed)
                            : TSL_NO_TOKEN;
      if (token == TSL_NO_TOKEN || tsl_vocab_is_eog(t->v, token) ||
          tsl_matcher_accept(t->m, token) != TSL_OK)
        break;
      const uint8_t *at = tsl_vocab_bytes(t->v, token, &bytes);
      memcpy(t->text + n, at, bytes);
      t->text[n += bytes] = 0;
    }
  }
  tsl_budget_free(t->budget);
  tsl_budget_free(t->other);
  tsl_matcher_free(t->m);
  tsl_grammar_release(g);
}

static void small_vocabularies(void) {
  static const char *const vocabs[][40] = {
      {"\"",    "[",      "]",    ",",     "a",  "b",       "1",    "2",   "0",   ":",
       "{",     "}",      "true", "false", ".",  "e",       "-",    "ab",  "a\"", "\",",
       "\",\"", "a\",\"", "\"]",  "],[",   "1,", "a\",\"b", "\":[", "},{", "{\"", "</s>"},
      {"\"",  "[",  "]",    ",",      "a",  "b",    "1",       "2",   "0",       ":",
       "{",   "}",  "true", "false",  ".",  "e",    "-",       "\"a", "[\"",     "\"b\"",
       ",\"", "12", "1,2",  "\"a\",", "]]", "a\"]", "{\"a\":", "\"}", "b\",\"a", "</s>"}};
  static const char *const kinds[] = {"{\"type\":\"string\",\"pattern\":\"^[ab]{0,3}$\"}",
                                      "{\"type\":\"string\",\"pattern\":\"^a[ab]*$\"}",
                                      "{\"type\":\"integer\",\"minimum\":0,\"maximum\":22}",
                                      "{\"type\":\"string\",\"pattern\":\"^[b,]*$\"}",
                                      "{\"type\":[\"boolean\",\"string\"],\"maxLength\":2}",
                                      "{\"enum\":[\"a\",\"ab\",\"b\",true]}"};
  static struct text text;
  trial t = {.known = malloc(sizeof *t.known)};
  for (unsigned i = 0; i < ROUNDS_OF(rounds); i++) {
    unsigned n = 0;
    if (!tsl_test_turn(i / 2, 4)) continue;
    seed = first + 6 + i;
    while (vocabs[i % 2][n]) n++;
    t.v = toy_vocab(vocabs[i % 2], n, true);
    root_schema(&text, kinds, 6, 1);
    t.schema = text.at;
    judge_schema(&t);
    tsl_vocab_release(t.v);
  }
  free(t.known);
  few_had_a_way();
}

/* Names that must differ, of which landings forget some, too: from right after the opening quote
 * on. */
static void names(void) {
  static const char *const tokens[] = {
      "\"",  "{",   "}",   ",",   ":",    "a",       "b",       "bb", "ab", "a\"",   "b\":",
      "\":", "\",", "{\"", ",\"", "true", "\":true", "true,\"", "[",  "]",  "},{\"", "</s>"};
  static const char *const keys[] = {"^(a|b{2,3})$", "^(|a|ab{1,9})$", "^[ab]{1,2}$", "^(a|ba*)$"};
  static struct text text;
  trial t = {.v = toy_vocab(tokens, sizeof tokens / sizeof *tokens, true),
             .known = malloc(sizeof *t.known)};
  judged = needless = longer = 0;
  for (unsigned i = 0; i < 16; i++) {
    if (!tsl_test_turn(i ^ i >> 2, 4)) continue;
    seed = first + 60 + i;
    text.n = 0;
    if (i & 4) text_add(&text, "{\"type\":\"array\",\"minItems\":1,\"items\":");
    text_add(&text, "{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"");
    text_add(&text, keys[i & 3]);
    text_add(&text, i & 8 ? "\"},\"minProperties\":2,\"properties\":{\"a\":{\"const\":true}}"
                          : "\"},\"minProperties\":2");
    text_add(&text, ",\"additionalProperties\":{\"const\":true}}");
    if (i & 4) text_add(&text, "}");
    t.schema = text.at;
    judge_schema(&t);
  }
  free(t.known);
  tsl_vocab_release(t.v);
  few_had_a_way();
}

/* ---- texts ----------------------------------------------------------------------------------- */

static unsigned long written;

/* Does the text end in an exponent of 16 digits? Values that must differ may not have those
 * (docs/schema.md). */
static bool past_exponents(const char *text, size_t n) {
  size_t digits = 0;
  while (digits < n && strchr("0123456789", text[n - 1 - digits])) digits++;
  if (digits < n && (text[n - 1 - digits] == '-' || text[n - 1 - digits] == '+')) n--;
  return digits >= 16 && digits < n && (text[n - 1 - digits] == 'e' || text[n - 1 - digits] == 'E');
}

/* One text of at most `max` tokens; true if it is complete in the end. `text`: as far as it
 * came. */
static bool write_text(const tsl_vocab *v, tsl_budget *b, tsl_matcher *m, uint64_t max,
                       char *text) {
  uint32_t mask[8192 / 32];
  size_t n = 0, bytes;
  tsl_matcher_reset(m);
  for (uint64_t left = max;; left--) {
    text[n] = 0;
    tsl_status status = tsl_budget_mask(b, m, left, mask);
    if (status != TSL_OK) return status == TSL_ERR_LIMIT && past_exponents(text, n);
    tsl_token t = draw(mask, tsl_vocab_logits_width(v), &seed);
    if (t == TSL_NO_TOKEN || tsl_vocab_is_eog(v, t)) return tsl_matcher_is_complete(m);
    const uint8_t *at = tsl_vocab_bytes(v, t, &bytes);
    if (left == 0 || tsl_budget_allows(b, m, left, t) != TSL_OK ||
        tsl_matcher_accept(m, t) != TSL_OK)
      return false;
    memcpy(text + n, at, bytes);
    n += bytes;
    written++;
  }
}

static void check_texts(tsl_vocab *v, const char *schema, tsl_whitespace whitespace,
                        unsigned texts) {
  static char text[1 << 16];
  tsl_schema_options o = {.whitespace = whitespace, .whitespace_max = 2, .indent = 1};
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_budget *b = NULL;
  size_t least = 0;
  tsl_status status = tsl_grammar_json_schema(v, schema, strlen(schema), &o, &stays, &g, NULL);
  CHECK(status == TSL_OK || status == TSL_ERR_EMPTY);
  if (!g) return;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_new(g, NULL, &b) == TSL_OK &&
        tsl_budget_completion(b, m, NULL, 0, &least) == TSL_OK);
  for (unsigned i = 0; i < texts; i++) {
    uint64_t max = least + (i ? below(i % 2 ? 6 : 60) : 0);
    CHECKF(write_text(v, b, m, max, text), "%s\n  white space %u, budget %u (least %zu) after %s",
           schema, whitespace, (unsigned)max, least, text);
  }
  tsl_budget_free(b);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

static void random_texts(void) {
  static const char *const kinds[] = {
      "{\"type\":\"string\"}",
      "{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"}",
      "{\"type\":\"integer\",\"minimum\":1,\"maximum\":30}",
      "{\"type\":\"string\",\"minLength\":1,\"maxLength\":9}",
      "{\"enum\":[\"red\",\"green\",\"blue\",\"yellow\",\"orange\",7,null]}",
      "{\"type\":\"string\",\"format\":\"date\"}",
      "{\"type\":[\"boolean\",\"string\"]}"};
  static struct text t;
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  for (unsigned i = 0; v && i < ROUNDS_OF(60u); i++) {
    if (!tsl_test_turn(i, 3)) continue;
    seed = first + 600 + i;
    root_schema(&t, kinds, sizeof kinds / sizeof *kinds, 2);
    check_texts(v, t.at, (tsl_whitespace)(i % 4), 8);
  }
  printf("       %lu tokens written\n", written);
  tsl_vocab_release(v);
}

/* Where a line break must follow an item, it is part of the way to the end. White space after an
 * item that may be repeated is no part of the way. A plan goes on in the same text, whatever its
 * pieces. */
static void white_space(void) {
  static const struct {
    const char *schema;
    tsl_whitespace whitespace;
    unsigned texts, seed; /* seed 0: as the numbers come */
  } cases[] = {
      {"{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":3}", TSL_WS_PRETTY, 16, 0},
      {"{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":[\"integer\",\"array\"]}}",
       TSL_WS_PRETTY, 16, 0},
      {"{\"type\":\"array\",\"minItems\":2,\"items\":{\"type\":\"array\",\"uniqueItems\":true,"
       "\"minItems\":2,\"items\":{\"type\":\"string\",\"pattern\":\"^(a| b)\"}}}",
       TSL_WS_PRETTY, 16, 0},
      {"{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":2,\"items\":{\"type\":\"object\","
       "\"properties\":{\"a\":{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":["
       "\"boolean\",\"string\"]}}},\"required\":[\"a\"],"
       "\"additionalProperties\":false}}",
       TSL_WS_ANY, 40, 0},
      {"{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"boolean\"},\"a\":{\"type\":"
       "\"array\",\"uniqueItems\":true,\"minItems\":3,\"items\":{\"type\":\"object\","
       "\"properties\":{\"a\":{\"type\":\"array\",\"uniqueItems\":true,"
       "\"minItems\":3,\"items\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\","
       "\"uniqueItems\":true,\"minItems\":2,\"items\":{\"type\":\"string\"}}},\"required\":[\"a\"],"
       "\"additionalProperties\":false}}},"
       "\"required\":[\"a\"],\"additionalProperties\":false}}},\"required\":[\"a\",\"b\"],"
       "\"additionalProperties\":false}",
       TSL_WS_PRETTY, 2, 3}};
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  for (unsigned i = 0; v && i < sizeof cases / sizeof *cases; i++) {
    if (cases[i].seed) seed = cases[i].seed;
    if (!tsl_test_turn(i, TURN_OF(1, 4))) continue;
    check_texts(v, cases[i].schema, cases[i].whitespace, cases[i].texts);
  }
  tsl_vocab_release(v);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Where memory does not suffice a call says so, and the next one has the mask of a budget that
 * always had enough. */
static void every_allocation_fails(void) {
  static const char *const tokens[] = {"\"", "[",  "]",      ",",     "a",
                                       "b",  "ab", "a\",\"", "\",\"", "</s>"};
  static const char text[] = "[\"a\",\"",
                    schema[] = "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":3,\"items\":{"
                               "\"type\":\"string\",\"pattern\":\"^[ab]{0,3}$\"}}";
  tsl_vocab *v = toy_vocab(tokens, 10, true);
  bool done = false;
  for (long nth = 0; nth < 2000 && !done; nth++) {
    failing f = {LONG_MAX, 0};
    tsl_allocator a = failing_allocator(&f);
    tsl_grammar *g = toy_schema(v, schema);
    tsl_matcher *m = NULL;
    tsl_budget *once = NULL, *never = NULL;
    uint32_t mask[2] = {0};
    CHECK(g && tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_new(g, &a, &once) == TSL_OK &&
          tsl_budget_new(g, NULL, &never) == TSL_OK);
    CHECK(tsl_matcher_accept_bytes(m, text, sizeof text - 1, NULL) == TSL_OK);
    f.left = nth;
    tsl_status status = tsl_budget_mask(once, m, 4, &mask[0]);
    CHECKF(status == TSL_OK || status == TSL_ERR_NO_MEMORY, "%s", tsl_status_name(status));
    done = status == TSL_OK && !failing_failed(&f);
    f.left = LONG_MAX;
    for (uint64_t left = 1; left < 7; left++) {
      CHECK(tsl_budget_mask(once, m, left, &mask[0]) == TSL_OK &&
            tsl_budget_mask(never, m, left, &mask[1]) == TSL_OK);
      CHECKF(mask[0] == mask[1], "after failure %ld, %u left: mask %x, %x", nth, (unsigned)left,
             mask[0], mask[1]);
    }
    tsl_budget_free(once);
    tsl_budget_free(never);
    tsl_matcher_free(m);
    CHECK(f.held == 0);
    tsl_grammar_release(g);
  }
  CHECK(done);
  tsl_vocab_release(v);
}

/* ---- completions ----------------------------------------------------------------------------- */

/* Of a completion: it is there, and completes the text. */
static void check_completion(tsl_vocab *v, const char *schema, tsl_spelling spelling,
                             const char *text) {
  const tsl_schema_options o = {.whitespace = TSL_WS_COMPACT, .spelling = spelling};
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_budget *b = NULL;
  tsl_token way[200];
  size_t n = 0;
  CHECK(tsl_grammar_json_schema(v, schema, strlen(schema), &o, NULL, &g, NULL) == TSL_OK);
  CHECK(g && tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_new(g, NULL, &b) == TSL_OK);
  CHECKF(tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK, "%s %s", schema, text);
  CHECKF(tsl_budget_completion(b, m, way, sizeof way / sizeof *way, &n) == TSL_OK && n > 0, "%s %s",
         schema, text);
  for (size_t k = 0; k < n; k++) CHECK(tsl_matcher_accept(m, way[k]) == TSL_OK);
  CHECKF(tsl_matcher_is_complete(m), "%s %s after %zu tokens", schema, text, n);
  tsl_budget_free(b);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* Items of which some must be equal: the same the other way round. There are completions, but no
 * budgets. */
static void items_that_repeat(void) {
#define REPEATED(items) "{\"type\":\"array\",\"not\":{\"uniqueItems\":true},\"items\":" items "}"
  static const char *const letters = REPEATED("{\"type\":\"string\",\"pattern\":\"^[ab]{20}$\"}"),
                           *const nested = REPEATED(REPEATED("{\"type\":\"number\"}"));
  static const struct {
    const char *schema, *text;
  } rows[] = {
      {REPEATED("true"), ""},
      {REPEATED("true"), "[\"a long text\\n\",{\"a\":[1]},"},
      {REPEATED("{\"type\":\"integer\"}"), "[-252"},
  };
  tsl_vocab *v = NULL;
  tsl_error e;
  tsl_matcher *m = NULL;
  tsl_budget *b = NULL;
  uint32_t mask[8192 / 32];
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  for (size_t i = 0; v && i < sizeof rows / sizeof *rows; i++)
    check_completion(v, rows[i].schema, TSL_SPELLING_PLAIN, rows[i].text);
  check_completion(v, letters, TSL_SPELLING_PLAIN, "[\"abababababbababababa\",\"abababababb");
  check_completion(v, letters, TSL_SPELLING_PLAIN, "[\"abababababbababababa\",\"bb");
  check_completion(v, nested, TSL_SPELLING_PLAIN, "[[-252");
  check_completion(v, nested, TSL_SPELLING_PLAIN, "[[12.5,1,12.5],[1");
  check_completion(v,
                   REPEATED("{\"type\":\"object\",\"required\":[\"n\",\"m\"],\"properties\":{\"n\":"
                            "{\"type\":\"string\",\"minLength\":5},\"m\":{\"type\":\"integer\"}}}"),
                   TSL_SPELLING_PLAIN,
                   "[{\"n\":\"12345678901234567890\",\"m\":1,\"some other name\":{\"a\":1");
  tsl_grammar *g = toy_schema(v, letters);
  CHECK(g && tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_budget_new(g, NULL, &b) == TSL_OK);
  CHECK(tsl_budget_start(b, m, 1000, &e) == TSL_ERR_UNSUPPORTED &&
        strstr(e.message, "uniqueItems"));
  CHECK(tsl_budget_mask(b, m, 1000, mask) == TSL_ERR_UNSUPPORTED &&
        tsl_budget_allows(b, m, 1000, 0) == TSL_ERR_UNSUPPORTED);
  tsl_budget_free(b);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  tsl_vocab_release(v);
}

/* Items that must differ. A lower bound of what is missing does not see that they must. And very
 * many texts are as near to the end as the shortest. */
static void items_that_differ(void) {
#define UNIQUE(items, least) \
  "{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":" #least ",\"items\":" items "}"
#define LETTERS                                                               \
  UNIQUE("{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"string\"}}," \
         "\"additionalProperties\":false}",                                   \
         3)
#define NUMBERS                                                                          \
  UNIQUE("{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[ab]$\"},"              \
         "\"additionalProperties\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":3}}", \
         3)
  static const struct {
    const char *schema, *text;
  } rows[] = {
      {UNIQUE("{\"type\":\"string\"}", 6), ""},
      {UNIQUE("{\"type\":\"array\"}", 6), ""},
      {UNIQUE("{\"type\":\"object\",\"required\":[\"id\"],\"properties\":{\"id\":{\"type\":"
              "\"integer\"}}}",
              4),
       ""},
      {UNIQUE("{\"enum\":[false,\"a\",2,{\"x\":1}]}", 4), ""},
      /* the fewest bytes would repeat {}, and what the next items need is more than what the last
       * letters of these are */
      {LETTERS, ""},
      {LETTERS, "[{},"},
      {LETTERS, "[{},{\"b\":\"\"},{"},
      {LETTERS, "[{},{\"b\":\"\"},{\"b\":\""},
      {NUMBERS, "[{\"b\":-0},{\"b\":-0"}, /* with any, numbers have endless spellings */
      {NUMBERS, "[{\"b\":3E+0},{\"b\":3"},
      {NUMBERS, "[{\"a\":1},{\"b\":1},{\"a\":1"},
      {UNIQUE("{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":2,\"items\":{\"type\":["
              "\"string\",\"null\"]}}",
              3),
       "[[null,\"\"],[null"},
  };
  tsl_vocab *v = NULL;
  CHECK(tsl_vocab_embedded(NULL, &v, NULL) == TSL_OK);
  for (size_t i = 0; v && i < sizeof rows / sizeof *rows; i++) {
    check_completion(v, rows[i].schema, TSL_SPELLING_ANY, rows[i].text);
    if (!strchr(rows[i].text, 'E'))
      check_completion(v, rows[i].schema, TSL_SPELLING_PLAIN, rows[i].text);
  }
  tsl_vocab_release(v);
}

int main(int argc, char **argv) {
  if (argc > 1) rounds = (unsigned)strtoul(argv[1], NULL, 10);
  if (argc > 2) first = strtoull(argv[2], NULL, 10);
  RUN(small_vocabularies, "masks against trying everything");
  RUN(names, "names against trying everything");
  RUN(random_texts, "texts end in time");
  RUN(white_space, "the same between items");
  RUN(every_allocation_fails, "every nth allocation fails");
  RUN(items_that_differ, "items that must differ");
  RUN(items_that_repeat, "items of which some must be equal");
  return tsl_test_end();
}
