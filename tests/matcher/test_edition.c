/* test_edition.c - texts cannot use up a grammar by its expressions: it is compiled again, and
 * nobody sees more of that than memory that stays.
 *
 *   kinds       each kind of grammar whose expressions texts make grow. Masks, their numbers and
 *               answers are those of the same grammar that is never compiled again, through forks,
 *               rollbacks and texts of bytes. Memory does not grow
 *   in flight   a text that began before goes on after several editions, with its history, its
 *               quota and its budget
 *   parsers     answers that are read use up no grammar, and a parser goes on after a reset
 *   alone       a text that fills its limit fails, and no other does
 *   threads     three threads see what each of them sees alone
 *   cancelled   where a compile fails, all goes on as before
 *   deadline    a call that compiles, reads its text again and works has one deadline for all
 *   kept        what was compiled from is kept: the caller's text and options may be gone
 */
#include <pthread.h>

#include "runtime/matcher/edition.h"
#include "runtime/matcher/generation.h"
#include "tests/support/draw.h"

static tsl_vocab *vocab;

enum { SCHEMA, ANY_ORDER, REGEX, GBNF, LARK, EBNF, TAGS, TOOLS };

#define AB4 "[ab][ab][ab][ab]"
#define AB12 AB4 AB4 AB4
#define BOOL(name) "\"" name "\":{\"type\":\"boolean\"}"
#define EIGHT(c)                                                                            \
  BOOL(c "0")                                                                               \
  "," BOOL(c "1") "," BOOL(c "2") "," BOOL(c "3") "," BOOL(c "4") "," BOOL(c "5") "," BOOL( \
      c "6") "," BOOL(c "7")

static const struct kind {
  int of;
  const char *begin; /* texts begin with it */
  const char *text;
} kinds[] = {
    {REGEX, "", "^(a|b)*a" AB12 AB4 "c$"},
    {SCHEMA, "\"", "{\"type\":\"string\",\"pattern\":\"^(a|b)*a" AB12 "c$\"}"},
    {SCHEMA, "\"", "{\"type\":\"string\",\"not\":{\"pattern\":\"a[ab]{9}c\"},\"maxLength\":90}"},
    {SCHEMA, "", "{\"type\":\"number\",\"multipleOf\":1000000007}"},
    {SCHEMA, "", "{\"type\":\"integer\",\"not\":{\"multipleOf\":99991},\"multipleOf\":7}"},
    {ANY_ORDER, "{",
     "{\"type\":\"object\",\"properties\":{" EIGHT("a") "," EIGHT(
         "b") "},"
              "\"additionalProperties\":false}"},
    {ANY_ORDER, "{",
     "{\"type\":\"object\",\"properties\":{" EIGHT(
         "a") "},\"dependentRequired\":{\"a0\":[\"a3\"],"
              "\"a1\":[\"a2\"],\"a4\":[\"a5\"],\"a6\":[\"a7\"]},\"additionalProperties\":false}"},
    {ANY_ORDER, "{",
     "{\"type\":\"object\",\"patternProperties\":{\"^x[ab]*a" AB4 "$\":{\"type\":\"null\"}},"
     "\"properties\":{" EIGHT("a") "},\"unevaluatedProperties\":false,\"anyOf\":[{\"required\":["
                                   "\"a1\"]},{\"properties\":{\"more\":{\"type\":\"integer\"}}}]}"},
    {SCHEMA, "{\"", "{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^(a|b)*a" AB12 "$\"}}"},
    {SCHEMA, "[",
     "{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":9},\"allOf\":["
     "{\"contains\":{\"const\":2},\"minContains\":3,\"maxContains\":30},{\"contains\":{\"const\":5}"
     ",\"minContains\":3,\"maxContains\":30}]}"},
    {SCHEMA, "[\"",
     "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"string\","
     "\"pattern\":\"^(a|b)*a" AB12 "$\"}}"},
    {SCHEMA, "\"", "{\"type\":\"string\",\"format\":\"idn-hostname\"}"},
    {SCHEMA, "\"", "{\"type\":\"string\",\"format\":\"regex\"}"},
    {GBNF, "",
     "root ::= (x | \"(\" root \")\")+\nx ::= [ab]* \"a\" [ab] [ab] [ab] [ab] [ab] [ab] [ab] [ab] "
     "[ab] [ab] \"c\""},
    {EBNF, "", "root ::= x+\nx ::= [ab]* \"a\" [ab] [ab] [ab] [ab] [ab] [ab] [ab] [ab] \"c\""},
    {LARK, "", "start: A+\nA: /[ab]*a" AB12 "c/\n"},
    {TAGS, "<t>",
     "{\"type\":\"structural_tag\",\"format\":{\"type\":\"tag\",\"begin\":\"<t>\",\"content\":{"
     "\"type\":\"regex\",\"pattern\":\"(a|b)*a" AB12 "c\"},\"end\":\"</t>\"}}"},
    {TOOLS, "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"p\": \"",
     "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":"
     "\"object\",\"properties\":{\"p\":{\"type\":\"string\",\"pattern\":\"^(a|b)*a" AB12 "c$\"}},"
     "\"required\":[\"p\"],\"additionalProperties\":false}}}],\"tool_choice\":\"required\"}"},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static tsl_grammar *compile_with(const struct kind *k, const tsl_limits *limits) {
  /* what the caller gave is gone afterwards */
  char *text = malloc(strlen(k->text) + 1), preset[] = "hermes";
  size_t n = strlen(k->text);
  memcpy(text, k->text, n + 1);
  tsl_schema_options any = {.order = k->of == ANY_ORDER ? TSL_ORDER_ANY : TSL_ORDER_SCHEMA};
  tsl_tools_options tools = {.preset = preset};
  tsl_grammar *g = NULL;
  tsl_error e = {0};
  tsl_status status = TSL_ERR_STATE;
  switch (k->of) {
  case SCHEMA:
  case ANY_ORDER: status = tsl_grammar_json_schema(vocab, text, n, &any, limits, &g, &e); break;
  case REGEX: status = tsl_grammar_regex(vocab, text, n, NULL, limits, &g, &e); break;
  case GBNF: status = tsl_grammar_gbnf(vocab, text, n, NULL, limits, &g, &e); break;
  case EBNF: status = tsl_grammar_ebnf(vocab, text, n, NULL, limits, &g, &e); break;
  case LARK: status = tsl_grammar_lark(vocab, text, n, NULL, limits, &g, &e); break;
  case TAGS: status = tsl_grammar_tags(vocab, text, n, NULL, limits, &g, &e); break;
  default: status = tsl_grammar_tools(vocab, text, n, &tools, limits, &g, &e);
  }
  CHECKF(status == TSL_OK, "%s: %s", k->text, e.message);
  memset(text, '?', n);
  memset(preset, '?', sizeof preset - 1);
  free(text);
  return g;
}

#define NEVER ((uint64_t)1 << 40)

static tsl_grammar *compile(const struct kind *k, uint64_t text_memory) {
  const tsl_limits limits = {.text_memory = text_memory};
  return compile_with(k, &limits);
}

static uint64_t memory(const tsl_grammar *g, uint32_t *generations) {
  tsl_grammar_stats stats;
  tsl_grammar_get_stats(g, &stats);
  if (generations) *generations = stats.generations;
  return stats.memory;
}

/* ---- letters --------------------------------------------------------------------------------- */

/* Another letter at random, rarely one that ends something. False: none may come. */
static bool letter(tsl_matcher *m, uint64_t *seed, char *out) {
  uint32_t set[8];
  uint8_t all[256];
  uint64_t n = 0;
  CHECK(tsl_matcher_next_bytes(m, set) == TSL_OK);
  for (unsigned b = 0; b < 256; b++)
    if (set[b / 32] >> b % 32 & 1) all[n++] = (uint8_t)b;
  for (int tries = 0; n && tries < 5; tries++) {
    *out = (char)all[tsl_test_random(seed) % n];
    if (!memchr(" \n\t\r\\\"]}", *out, 8) && (uint8_t)*out < 0x80) break;
  }
  return n != 0;
}

static bool follows(tsl_matcher *m, const char *text) {
  return tsl_matcher_accept_bytes(m, text, strlen(text), NULL) == TSL_OK;
}

/* A text that nobody wrote before, of so many letters. */
static tsl_status write_text(tsl_grammar *g, const struct kind *k, int letters, uint64_t *seed) {
  tsl_matcher *m = NULL;
  char next;
  tsl_status status = tsl_matcher_new(g, NULL, &m);
  CHECK(status == TSL_OK && follows(m, k->begin));
  for (int i = 0; i < letters && status == TSL_OK && letter(m, seed, &next); i++)
    status = tsl_matcher_accept_bytes(m, &next, 1, NULL);
  tsl_matcher_free(m);
  return status;
}

/* Others write until two more editions were made. */
static void make_editions(tsl_grammar *g, const struct kind *k, uint64_t *seed) {
  for (int n = 0; n < 2; n++) {
    const tsl_grammar *before = g->edition;
    int text = 0;
    while (g->edition == before && text++ < 3000) CHECK(write_text(g, k, 150, seed) == TSL_OK);
    CHECKF(g->edition != before, "%s: no edition after %d texts", k->text, text);
  }
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/* Do both stand at the same place? */
static bool same(tsl_matcher *one, tsl_matcher *other, const char *what) {
  const uint32_t *a, *b;
  uint64_t a_id, b_id, a_bytes, b_bytes;
  CHECK(tsl_matcher_mask_borrow(one, &a, &a_id) == TSL_OK);
  CHECK(tsl_matcher_mask_borrow(other, &b, &b_id) == TSL_OK);
  bool fine = a_id == b_id && !memcmp(a, b, tsl_vocab_mask_words(vocab) * sizeof *a);
  CHECK(tsl_matcher_shortest_completion(one, &a_bytes) == TSL_OK);
  CHECK(tsl_matcher_shortest_completion(other, &b_bytes) == TSL_OK);
  fine = fine && a_bytes == b_bytes && tsl_matcher_history(one) == tsl_matcher_history(other) &&
         tsl_matcher_is_complete(one) == tsl_matcher_is_complete(other);
  CHECKF(fine, "%s: after %zu tokens: masks %s, %" PRIu64 " and %" PRIu64 " bytes, history %zu",
         what, tsl_matcher_history(other), a_id == b_id ? "equal" : "differ", a_bytes, b_bytes,
         tsl_matcher_history(one));
  return fine;
}

/* Two texts that are written beside each other, in the grammar that is compiled again and in the
 * one that never is. */
static void side_by_side_of(const struct kind *k, tsl_grammar *again, tsl_grammar *never,
                            uint64_t seed) {
  tsl_matcher *m[2] = {NULL, NULL}, *o[2] = {NULL, NULL};
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *mask = malloc(words * sizeof *mask);
  for (int i = 0; i < 2; i++) {
    CHECK(tsl_matcher_new(again, NULL, &m[i]) == TSL_OK && follows(m[i], k->begin));
    CHECK(tsl_matcher_new(never, NULL, &o[i]) == TSL_OK && follows(o[i], k->begin));
  }
  for (int step = 0; step < 24 && !tsl_test_failed; step++) {
    int i = (int)(tsl_test_random(&seed) % 2);
    char next;
    if (!same(m[i], o[i], k->text)) break;
    CHECK(write_text(again, k, 30, &seed) == TSL_OK);
    switch (tsl_test_random(&seed) % 8) {
    case 0: {
      size_t back = tsl_test_random(&seed) % (1 + tsl_matcher_history(o[i]));
      CHECK(tsl_matcher_rollback(m[i], back) == TSL_OK);
      CHECK(tsl_matcher_rollback(o[i], back) == TSL_OK);
      break;
    }
    case 1:
      tsl_matcher_free(m[1 - i]);
      tsl_matcher_free(o[1 - i]);
      CHECK(tsl_matcher_fork(m[i], &m[1 - i]) == TSL_OK);
      CHECK(tsl_matcher_fork(o[i], &o[1 - i]) == TSL_OK);
      break;
    case 2:
    case 3:
    case 4:
      if (!letter(o[i], &seed, &next)) break;
      CHECK(tsl_matcher_accept_bytes(m[i], &next, 1, NULL) == TSL_OK);
      CHECK(tsl_matcher_accept_bytes(o[i], &next, 1, NULL) == TSL_OK);
      break;
    default: {
      CHECK(tsl_matcher_mask(o[i], mask) == TSL_OK);
      tsl_token t = draw(mask, words * 32, &seed);
      if (t == TSL_NO_TOKEN || tsl_vocab_is_eog(vocab, t)) break;
      CHECK(tsl_matcher_accept(o[i], t) == TSL_OK);
      CHECK(tsl_matcher_accept(m[i], t) == TSL_OK);
    }
    }
  }
  for (int i = 0; i < 2; i++) {
    tsl_matcher_free(m[i]);
    tsl_matcher_free(o[i]);
  }
  free(mask);
}

static void test_kinds(void) {
  for (size_t i = 0; i < KINDS; i++) {
    if (!tsl_test_turn(i, TURN_OF(1, 3))) continue;
    tsl_grammar *again = compile(&kinds[i], 10 << 10), *never = compile(&kinds[i], NEVER);
    uint32_t generations;
    uint64_t seed = i + 1, most, after;
    if (again && never) side_by_side_of(&kinds[i], again, never, 11 * i + 3);
    make_editions(again, &kinds[i], &seed);
    most = memory(again, NULL);
    for (int n = 0; n < 2; n++) make_editions(again, &kinds[i], &seed);
    after = memory(again, &generations);
    CHECKF(after < 2 * most, "%s: %" PRIu64 " bytes, before %" PRIu64, kinds[i].text, after, most);
    CHECK(generations > 6 && !never->editions);
    tsl_grammar_release(again);
    tsl_grammar_release(never);
  }
}

/* ---- in flight ------------------------------------------------------------------------------- */

/* A quota of tokens, and bytes that were accepted as bytes. */
static void test_in_flight(void) {
  static const struct kind k = {
      TAGS, "<t>",
      "{\"type\":\"structural_tag\",\"format\":{\"type\":\"sequence\",\"elements\":[{\"type\":"
      "\"tag\",\"begin\":\"<t>\",\"content\":{\"type\":\"any_text\",\"max_tokens\":9},\"end\":"
      "\"</t>\"},{\"type\":\"regex\",\"pattern\":\"(a|b)*a" AB12 "c\"}]}}"};
  const struct kind others = {TAGS, "<t></t>", k.text};
  tsl_grammar *g = compile(&k, 4 << 10), *never = compile(&k, NEVER);
  tsl_matcher *m = NULL, *o = NULL, *fork = NULL;
  uint64_t seed = 5;
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *mask = malloc(words * sizeof *mask);
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_new(never, NULL, &o) == TSL_OK);
  CHECK(follows(m, "<t>") && follows(o, "<t>"));
  for (int i = 0; i < 8; i++) {
    CHECK(tsl_matcher_mask(o, mask) == TSL_OK);
    tsl_token t = draw(mask, words * 32, &seed);
    CHECK(tsl_matcher_accept(o, t) == TSL_OK && tsl_matcher_accept(m, t) == TSL_OK);
    make_editions(g, &others, &seed);
    CHECK(same(m, o, "in flight"));
  }
  CHECK(m->grammar->whole != g && tsl_matcher_grammar(m) == g);
  CHECK(tsl_matcher_fork(m, &fork) == TSL_OK);
  CHECK(tsl_matcher_rollback(m, 5) == TSL_OK && tsl_matcher_rollback(o, 5) == TSL_OK);
  make_editions(g, &others, &seed);
  CHECK(same(m, o, "rolled back"));
  make_editions(g, &others, &seed);
  CHECK(tsl_matcher_rollback(m, 4) == TSL_OK && tsl_matcher_rollback(o, 4) == TSL_OK);
  CHECK(same(m, o, "rolled back again"));
  tsl_matcher_reset(m);
  tsl_matcher_reset(o);
  CHECK(same(m, o, "reset"));
  tsl_matcher_free(fork);
  /* the last who has the grammar is a matcher */
  tsl_grammar_release(g);
  CHECK(follows(m, "<t>x</t>") && follows(o, "<t>x</t>") && same(m, o, "alone"));
  tsl_matcher_free(m);
  tsl_matcher_free(o);
  tsl_grammar_release(never);
  free(mask);
}

/* More tokens than a rollback may take back. */
static void test_long_history(void) {
  const struct kind *k = &kinds[0];
  tsl_grammar *g = compile(k, 64 << 10), *never = compile(k, NEVER);
  tsl_matcher *m = NULL, *o = NULL;
  uint64_t seed = 9;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_matcher_new(never, NULL, &o) == TSL_OK);
  for (int i = 0; i < (int)TSL_MAX_ROLLBACK + 500; i++) {
    const char *next = tsl_test_random(&seed) % 2 ? "a" : "b";
    CHECK(follows(m, next) && follows(o, next));
  }
  CHECK(tsl_matcher_rollback(m, 1000) == TSL_OK && tsl_matcher_rollback(o, 1000) == TSL_OK);
  make_editions(g, k, &seed);
  CHECK(same(m, o, "long"));
  CHECK(tsl_matcher_rollback(m, 3000) == TSL_OK && tsl_matcher_rollback(o, 3000) == TSL_OK);
  CHECK(same(m, o, "long, rolled back"));
  tsl_matcher_free(m);
  tsl_matcher_free(o);
  tsl_grammar_release(g);
  tsl_grammar_release(never);
}

/* One that was rolled back so far that less history is left than text: both grow again. */
static void test_short_history(void) {
  const struct kind *k = &kinds[0];
  tsl_grammar *g = compile(k, 1 << 20), *never = compile(k, NEVER);
  tsl_matcher *m[2] = {NULL, NULL};
  uint64_t seed = 10;
  CHECK(tsl_matcher_new(g, NULL, &m[0]) == TSL_OK && tsl_matcher_new(never, NULL, &m[1]) == TSL_OK);
  for (int i = 0; i < (int)TSL_MAX_ROLLBACK + 500; i++) {
    const char *next = tsl_test_random(&seed) % 2 ? "a" : "b";
    CHECK(follows(m[0], next) && follows(m[1], next));
  }
  for (int i = 0; i < 2; i++) CHECK(tsl_matcher_rollback(m[i], TSL_MAX_ROLLBACK - 96) == TSL_OK);
  make_editions(g, k, &seed);
  for (int i = 0; i < 2000 && !tsl_test_failed; i++) {
    const char *next = tsl_test_random(&seed) % 2 ? "a" : "b";
    CHECK(follows(m[0], next) && follows(m[1], next));
    CHECKF(tsl_matcher_history(m[0]) == tsl_matcher_history(m[1]), "history %zu, not %zu",
           tsl_matcher_history(m[0]), tsl_matcher_history(m[1]));
  }
  CHECK(m[0]->grammar->whole != g);
  for (int i = 0; i < 2; i++) CHECK(tsl_matcher_rollback(m[i], 1900) == TSL_OK);
  CHECK(same(m[0], m[1], "short history"));
  for (int i = 0; i < 2; i++) tsl_matcher_free(m[i]);
  tsl_grammar_release(g);
  tsl_grammar_release(never);
}

/* A budget whose text goes on in another edition, and one whose matcher has not moved yet. */
static void test_budget(void) {
  const struct kind *k = &kinds[5];
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *mask = malloc(words * sizeof *mask);
  tsl_grammar *g = compile(k, 4 << 10);
  for (uint64_t seed = 1; seed < 8; seed++) {
    tsl_budget *b = NULL;
    tsl_matcher *m = NULL;
    uint64_t left = 40, draws = seed;
    CHECK(tsl_budget_new(g, NULL, &b) == TSL_OK && tsl_matcher_new(g, NULL, &m) == TSL_OK);
    CHECK(tsl_budget_start(b, m, left, NULL) == TSL_OK);
    while (left && !tsl_matcher_is_terminated(m)) {
      if (left % 6 == 0) make_editions(g, k, &draws);
      CHECK(tsl_budget_mask(b, m, left, mask) == TSL_OK);
      tsl_token t = draw(mask, words * 32, &draws);
      CHECKF(t != TSL_NO_TOKEN, "no token with %d left", (int)left);
      if (t == TSL_NO_TOKEN) break;
      CHECK(tsl_budget_allows(b, m, left--, t) == TSL_OK && tsl_matcher_accept(m, t) == TSL_OK);
    }
    CHECK(tsl_matcher_is_complete(m) || tsl_matcher_is_terminated(m));
    tsl_matcher_free(m);
    tsl_budget_free(b);
  }
  tsl_grammar_release(g);
  free(mask);
}

/* ---- parsers --------------------------------------------------------------------------------- */

/* What is read is what was written: a call with this argument, of letters that nobody wrote. */
static void read_answer(tsl_parser *p, uint64_t *seed, const char *what) {
  static const char begin[] = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"p\": \"",
                    end[] = "aaaaaaaaaaaaac\"}}\n</tool_call>";
  char text[400], *at = text + sizeof begin - 1;
  memcpy(text, begin, sizeof begin - 1);
  for (int i = 0; i < 150; i++) *at++ = tsl_test_random(seed) % 2 ? 'a' : 'b';
  memcpy(at, end, sizeof end);
  for (const char *c = text; *c; c++) {
    tsl_status status = tsl_parser_text(p, c, 1);
    CHECKF(status == TSL_OK, "%s: %s at byte %d", what, tsl_status_name(status), (int)(c - text));
    if (status != TSL_OK) return;
  }
  CHECK(tsl_parser_finish(p) == TSL_OK);
  const char *json = tsl_parser_json(p);
  *strchr(at, '}') = 0;
  CHECKF(json && strstr(json, strstr(text, "{\"p\"")), "%s: %s", what, json ? json : "nothing");
}

static void test_parsers(void) {
  const struct kind *k = &kinds[KINDS - 1];
  const tsl_limits limits = {.text_memory = 16 << 10, .max_memory = 8 << 20};
  tsl_grammar *g = compile_with(k, &limits);
  tsl_parser *kept = NULL, *open = NULL;
  uint64_t seed = 4, most = 0;
  CHECK(tsl_parser_new(g, NULL, &kept) == TSL_OK && tsl_parser_new(g, NULL, &open) == TSL_OK);
  CHECK(tsl_parser_text(open, k->begin, strlen(k->begin)) == TSL_OK);
  for (int answer = 0; answer < 600 && !tsl_test_failed; answer++) {
    tsl_parser *p = NULL;
    CHECK(tsl_parser_new(g, NULL, &p) == TSL_OK);
    read_answer(p, &seed, "a new parser");
    tsl_parser_free(p);
    if (answer % 20) continue;
    tsl_parser_reset(kept);
    read_answer(kept, &seed, "one that was reset");
    if (memory(g, NULL) > most) most = memory(g, NULL);
  }
  CHECK(g->editions);
  CHECKF(most < 8 << 20, "%" PRIu64 " bytes", most);
  /* one that has been open since before */
  CHECK(tsl_parser_text(open, "ab", 2) == TSL_OK);
  tsl_parser_free(open);
  tsl_grammar_release(g);
  tsl_parser_free(kept); /* the last who has the grammar */
}

/* ---- memory that shrinks --------------------------------------------------------------------- */

/* Each time that it is requested, the memory of the expressions is a byte less. */
static size_t less_each_time(void *ctx) {
  static size_t n = 1 << 20;
  (void)ctx;
  return n--;
}

/* Then a text that moves needs no edition of its own. */
static void test_shrinking(void) {
  const struct kind *k = &kinds[0];
  tsl_grammar *g = compile(k, 16 << 10);
  tsl_matcher *m = NULL;
  uint64_t seed = 12;
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && follows(m, "abab"));
  make_editions(g, k, &seed);
  tsl__space *space = g->edition->tables->first->space;
  const tsl__hook *hook = space->hook;
  tsl__hook shrinks = *hook;
  shrinks.life.memory = less_each_time;
  space->hook = &shrinks;
  CHECK(follows(m, "a"));
  CHECK(m->grammar->whole == g->edition);
  space->hook = hook;
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* ---- over ------------------------------------------------------------------------------------ */

/* A tree over tables that texts have filled gets its own: nothing is compiled twice. */
static void test_over(void) {
  const struct kind *k = &kinds[KINDS - 2];
  tsl_grammar *g = compile(k, 10 << 10), *before = NULL, *after = NULL;
  size_t n = strlen(k->text);
  uint64_t seed = 6;
  CHECK(tsl_grammar_tags_over(g, k->text, n, NULL, NULL, &before, NULL) == TSL_OK);
  CHECK(before && before->tables == g->tables);
  make_editions(g, k, &seed);
  CHECK(tsl_grammar_tags_over(g, k->text, n, NULL, NULL, &after, NULL) == TSL_OK);
  CHECK(after && after->tables != g->tables);
  CHECK(write_text(after, k, 20, &seed) == TSL_OK && !after->editions);
  /* who was there before goes on */
  CHECK(write_text(before, k, 20, &seed) == TSL_OK && before->editions);
  tsl_grammar_release(g);
  CHECK(write_text(before, k, 20, &seed) == TSL_OK);
  tsl_grammar_release(before);
  tsl_grammar_release(after);
}

/* ---- alone ----------------------------------------------------------------------------------- */

static void test_alone(void) {
  const struct kind *k = &kinds[0];
  const tsl_limits limits = {.text_memory = 16 << 10, .max_memory = 3 << 20};
  tsl_grammar *g = compile_with(k, &limits);
  tsl_matcher *big = NULL, *small = NULL, *m = NULL;
  uint64_t seed = 3;
  tsl_status status = TSL_OK;
  int letters = 0, others = 0;
  CHECK(tsl_matcher_new(g, NULL, &small) == TSL_OK && follows(small, "abba"));
  CHECK(tsl_matcher_new(g, NULL, &big) == TSL_OK);
  for (; status == TSL_OK && letters < 100000; letters++) {
    status = tsl_matcher_accept_bytes(big, tsl_test_random(&seed) % 2 ? "a" : "b", 1, NULL);
    if (letters % 512) continue;
    CHECK(write_text(g, k, 20, &seed) == TSL_OK && follows(small, "a"));
    others++;
  }
  CHECKF(status == TSL_ERR_LIMIT, "%s after %d letters", tsl_status_name(status), letters);
  CHECK(others > 5);
  /* it fails again, and others do not */
  for (int i = 0; i < 3; i++) {
    CHECK(tsl_matcher_accept_bytes(big, "ab", 2, NULL) != TSL_REJECTED);
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && follows(m, "aabbaabbaabbaabbaabb"));
    tsl_matcher_free(m);
    CHECK(follows(small, "bbab"));
  }
  CHECK(tsl_matcher_rollback(big, 10) == TSL_OK);
  tsl_matcher_reset(big);
  CHECK(follows(big, "abab"));
  tsl_matcher_free(big);
  tsl_matcher_free(small);
  CHECKF(memory(g, NULL) < 8 << 20, "%" PRIu64 " bytes", memory(g, NULL));
  tsl_grammar_release(g);
}

/* ---- threads --------------------------------------------------------------------------------- */

#define THREADS 3

typedef struct worker {
  tsl_grammar *g;
  const struct kind *k;
  uint64_t seed, seen;
} worker;

static void *work(void *arg) {
  worker *w = arg;
  uint64_t seed = w->seed;
  for (int text = 0; text < 30; text++) {
    tsl_matcher *m = NULL, *fork = NULL;
    char next;
    CHECK(tsl_matcher_new(w->g, NULL, &m) == TSL_OK && follows(m, w->k->begin));
    for (int i = 0; i < 30 && letter(m, &seed, &next); i++) {
      const uint32_t *mask;
      uint64_t id;
      CHECK(tsl_matcher_accept_bytes(m, &next, 1, NULL) == TSL_OK);
      if (i % 10 != 9) continue;
      CHECK(tsl_matcher_mask_borrow(m, &mask, &id) == TSL_OK);
      w->seen = tsl__mix(w->seen ^ id);
      CHECK(tsl_matcher_fork(m, &fork) == TSL_OK && tsl_matcher_rollback(m, 2) == TSL_OK);
      tsl_matcher_free(fork);
    }
    tsl_matcher_free(m);
  }
  return NULL;
}

static void test_threads(void) {
  static const size_t some[] = {0, 3};
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
    const struct kind *k = &kinds[some[i]];
    tsl_grammar *g = compile(k, 4 << 10), *never = compile(k, NEVER);
    worker together[THREADS], single[THREADS];
    pthread_t thread[THREADS];
    for (unsigned n = 0; n < THREADS; n++) {
      together[n] = (worker){g, k, 1 + n + 10 * i, 0};
      single[n] = (worker){never, k, 1 + n + 10 * i, 0};
      work(&single[n]);
      CHECK(!pthread_create(&thread[n], NULL, work, &together[n]));
    }
    for (unsigned n = 0; n < THREADS; n++) {
      pthread_join(thread[n], NULL);
      CHECKF(together[n].seen == single[n].seen, "%s", k->text);
    }
    CHECK(g->editions);
    tsl_grammar_release(g);
    tsl_grammar_release(never);
  }
}

/* ---- a compile that fails -------------------------------------------------------------------- */

static tsl_status refuse(const void *kept, tsl_vocab *v, const tsl_limits *limits,
                         tsl_grammar **out) {
  (void)kept, (void)v, (void)limits;
  *out = NULL;
  return TSL_ERR_NO_MEMORY;
}

static void test_refused(void) {
  const struct kind *k = &kinds[1];
  tsl_grammar *g = compile(k, 4 << 10);
  uint64_t seed = 8;
  if (!g) return;
  const tsl__again *again = g->again;
  tsl__again refuses = *again;
  refuses.compile = refuse;
  g->again = &refuses;
  for (int text = 0; text < 100; text++) CHECK(write_text(g, k, 40, &seed) == TSL_OK);
  CHECK(!g->editions && tsl__is_crowded(g->tables));
  g->again = again;
  for (int text = 0; text < 100; text++) CHECK(write_text(g, k, 40, &seed) == TSL_OK);
  CHECK(g->editions);
  tsl_grammar_release(g);
}

/* ---- one deadline ---------------------------------------------------------------------------- */

#define LONG_US ((uint64_t)3600 * 1000000) /* no call takes as long */
#define DAWDLE_US 2000u

static const tsl__again *real_again;
static unsigned compiles;
static uint64_t compiled_at;

/* Compile again, and take some time for that. */
static tsl_status dawdle(const void *kept, tsl_vocab *v, const tsl_limits *limits,
                         tsl_grammar **out) {
  compiles++;
  compiled_at = tsl__now_us();
  while (tsl__now_us() < compiled_at + DAWDLE_US) continue;
  return real_again->compile(kept, v, limits, out);
}

enum { BYTES, TOKEN, MASK, SHORTEST, NEXT, FORCED, VALIDATE, DRAFTS, CALLS };

static tsl_status make_call(tsl_matcher *m, int call) {
  static uint32_t masks[2 * 8192 / 32];
  uint8_t bytes[8];
  uint64_t n;
  size_t count;
  tsl_token token = 0;
  while (tsl_vocab_bytes(vocab, token, &count)[0] != 'a' || count != 1) token++;
  switch (call) {
  case BYTES: return tsl_matcher_accept_bytes(m, "a", 1, NULL);
  case TOKEN: return tsl_matcher_accept(m, token);
  case MASK: return tsl_matcher_mask(m, masks);
  case SHORTEST: return tsl_matcher_shortest_completion(m, &n);
  case NEXT: return tsl_matcher_next_bytes(m, masks);
  case FORCED: return tsl_matcher_forced_bytes(m, bytes, sizeof bytes, &count);
  case VALIDATE: return tsl_matcher_validate(m, &token, 1, &count);
  default: return tsl_matcher_mask_drafts(m, &token, NULL, 1, masks, NULL);
  }
}

/* The call began before the compile did. So its last piece of work ends no later than one deadline
 * after that, although the compile took its time. */
static void test_one_deadline(void) {
  const struct kind *k = &kinds[0];
  for (int call = 0; call < CALLS; call++) {
    const tsl_limits limits = {.text_memory = 4 << 10, .deadline_us = LONG_US};
    tsl_grammar *g = compile_with(k, &limits);
    tsl_matcher *m = NULL, *other = NULL;
    uint64_t seed = 3;
    if (!g) continue;
    real_again = g->again;
    tsl__again slow = *real_again;
    slow.compile = dawdle;
    g->again = &slow;
    compiles = 0;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && follows(m, "ab"));
    CHECK(tsl_matcher_new(g, NULL, &other) == TSL_OK);
    for (int i = 0; i < 100000 && !tsl__is_left(g->tables); i++)
      CHECK(follows(other, tsl_test_random(&seed) % 2 ? "a" : "b"));
    CHECK(!compiles && tsl__is_left(g->tables));
    /* without a move, masks that are known need none of this */
    CHECKF(make_call(m, call == MASK ? NEXT : call) == TSL_OK, "call %d", call);
    CHECKF(compiles && m->grammar->whole != g, "call %d", call);
    CHECKF(m->space->work.deadline && m->space->work.deadline <= compiled_at + LONG_US,
           "call %d: %" PRIu64 " us late", call, m->space->work.deadline - compiled_at - LONG_US);
    /* and the next one has its own */
    CHECK(make_call(m, NEXT) == TSL_OK && m->space->work.deadline > compiled_at + LONG_US);
    tsl_matcher_free(m);
    tsl_matcher_free(other);
    g->again = real_again;
    tsl_grammar_release(g);
  }
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 1;
  RUN(test_kinds, "each kind of grammar is compiled again, and nobody sees it");
  RUN(test_in_flight, "a text goes on in other editions");
  RUN(test_long_history, "one that is longer than its history");
  RUN(test_short_history, "one whose history is shorter than it is");
  RUN(test_budget, "one under a budget");
  RUN(test_parsers, "answers that are read use up no grammar");
  RUN(test_shrinking, "memory of expressions that shrinks");
  RUN(test_over, "a tree over filled tables gets its own");
  RUN(test_alone, "a text that fills its limit fails alone");
  RUN(test_threads, "three threads see what one sees");
  RUN(test_refused, "where a compile fails all goes on");
  RUN(test_one_deadline, "a call that moves has one deadline");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
