/* test_languages.c - random grammars in the manner of programming languages. Each mask is compared
 * with that of the plain search, and with every token by itself. Of some grammars the cost of a
 * first mask is tested.
 *
 * Such a grammar has names that may be words as well, and white space that may be missing. It has
 * towers of operators, lists without separators, and calls in all of that. Three parts must not
 * show in a mask. Calls are put off (late_calls.c). Rules stand in place of calls (tower.c).
 * Letters go on, whatever else they begin (endless.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/draw.h"

#include "runtime/matcher/grammar.h"
#include "runtime/walk/walk.h"

#define GRAMMARS ROUNDS_OF(60u)
#define STEPS 6
#define LEVELS_MAX 14u

static tsl_vocab *vocab;
static uint64_t seed = 5;

static unsigned below(unsigned n) { return (unsigned)(tsl_test_random(&seed) % n); }

static tsl_grammar *compile(const char *text, uint32_t off) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  CHECKF(tsl_grammar_gbnf(vocab, text, strlen(text), NULL, NULL, &g, &error) == TSL_OK, "%s: %s",
         text, error.message);
  if (g) g->space->walking.shortcuts_off = off;
  return g;
}

/* ---- random grammars ------------------------------------------------------------------------- */

static const char *any_of(const char *const *of, unsigned n) { return of[below(n)]; }
#define ANY(...)                             \
  any_of((const char *const[]){__VA_ARGS__}, \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* A tower of binary operators over `item`. */
static size_t add_tower(char *out, size_t size, unsigned levels) {
  size_t n = 0;
  for (unsigned i = 0; i < levels; i++) {
    char next[16];
    snprintf(next, sizeof next, i + 1 < levels ? "l%u" : "item", i + 1);
    n += (size_t)snprintf(out + n, size - n, "l%u ::= %s (\"%c\" ws %s)%s\n", i, next,
                          "+-*/%&|^<>=?:~"[i % 14], next, ANY("*", "*", "?", "+"));
  }
  return n;
}

static void random_language(char *out, size_t size) {
  size_t n = (size_t)snprintf(
      out, size,
      "root ::= ws (%s)%s\n"
      "one ::= %s\n"
      "item ::= %s | name ws | \"(\" ws l0 \")\" ws | %s\n"
      "list ::= (l0 ws %s)*\n"
      "name ::= %s\n"
      "ws ::= %s\n",
      ANY("one", "name ws one", "one ws \";\"?", "list"), ANY("+", "*", ""),
      ANY("\"if\" ws l0 ws one? | l0 \";\" ws", "name ws (\"=\" ws l0)? \";\" ws",
          "\"let\" ws name ws one | item", "name ws name ws \";\" | \"return\" ws l0 \";\""),
      ANY("\"true\" | \"null\"", "[0-9]+ ws", "\"not\" ws item", "\"-\" item"),
      ANY("\"[\" ws list \"]\" ws", "\"fn\" ws \"(\" list \")\" ws item", "item \".\" name ws",
          "\"\\\"\" [^\\\"\\n]* \"\\\"\" ws"),
      ANY("\",\"?", "\";\"", "", "[,;] ws"),
      ANY("[a-z_] [a-z_0-9]*", "[a-z]+", "[a-z] [a-z.-]*", "[a-z]+ (\"-\" [a-z]+)*"),
      ANY("[ \\n]*", "\" \"?", "([ \\n] | \"#\" [^\\n]* \"\\n\")*"));
  add_tower(out + n, size - n, 1 + below(4));
}

static void random_languages(void) {
  for (unsigned i = 0; i < GRAMMARS; i++) {
    char text[2048];
    random_language(text, sizeof text);
    tsl_grammar *with = compile(text, 0),
                *without = compile(text, TSL__SHORTCUTS & ~TSL__SHORTCUT_LINEAR);
    for (uint64_t k = 0; with && without && k < 3; k++)
      follow_both(
          &(side_by_side){text, k ? "a" : "", with, without, STEPS, k == 2 ? 2 : STEPS, NULL},
          k * 77 + i);
    tsl_grammar_release(with);
    tsl_grammar_release(without);
  }
}

/* ---- what it costs --------------------------------------------------------------------------- */

/* Walks of the first mask after `begin`. */
static uint32_t walks_after(const char *text, const char *begin) {
  tsl_grammar *g = compile(text, 0);
  tsl_matcher *m = NULL;
  uint32_t *mask = malloc(tsl_vocab_mask_words(vocab) * 4), walks = 0;
  if (g && mask) {
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
          tsl_matcher_accept_bytes(m, begin, strlen(begin), NULL) == TSL_OK &&
          tsl_matcher_mask(m, mask) == TSL_OK);
    walks = tsl__space_count(g->space, walks);
  }
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  free(mask);
  return walks;
}

/* A level more costs no walk more. */
static void towers(void) {
  uint32_t few = 0;
  for (unsigned levels = 2; levels <= LEVELS_MAX; levels += 4) {
    char text[2048] = "root ::= ([a-z]+ ws [a-z]+ ws \"=\" ws l0 \";\" ws)+\nws ::= [ \\n]*\n"
                      "item ::= [a-z]+ ws | \"(\" ws l0 \")\" ws\n";
    size_t n = strlen(text);
    add_tower(text + n, sizeof text - n, levels);
    for (size_t i = n; text[i]; i++)
      if (text[i] == ')' && strchr("?+", text[i + 1])) text[i + 1] = '*';
    uint32_t walks = walks_after(text, "");
    if (!few) few = walks;
    CHECKF(walks <= few + 4, "%u levels: %u walks, 2 levels: %u", levels, walks, few);
  }
}

/* Steps of one mask: of words beside names, some hundred, and not each node of the vocabulary. */
static void words_beside_names(void) {
  static const struct {
    const char *text, *begin;
    uint64_t most;
  } rows[] = {
      {"root ::= \"[\" list \"]\"\nlist ::= (value ws \",\"? ws)*\n"
       "value ::= name | \"true\" | \"false\" | \"null\" | [0-9]+ | \"[\" ws list \"]\"\n"
       "name ::= [a-z_] [a-z_0-9]*\nws ::= [ \\n]*",
       "[a", 2000},
      {"root ::= (\" \" sum \" \" [+])+\nsum ::= item (\" * \" item)*\n"
       "item ::= atom \"^\" item | atom | \"-\" item\natom ::= [a-z]+ | \"(\" sum \")\"",
       "", 2000},
  };
  uint32_t *mask = malloc(tsl_vocab_mask_words(vocab) * 4);
  for (size_t i = 0; mask && i < sizeof rows / sizeof *rows; i++) {
    tsl_grammar *g = compile(rows[i].text, 0);
    tsl_matcher *m = NULL;
    if (!g) continue;
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
          tsl_matcher_accept_bytes(m, rows[i].begin, strlen(rows[i].begin), NULL) == TSL_OK);
    uint64_t before = tsl__space_steps(g->space);
    CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
    uint64_t steps = tsl__space_steps(g->space) - before;
    CHECKF(steps <= rows[i].most, "%s: %u steps", rows[i].text, (unsigned)steps);
    tsl_matcher_free(m);
    tsl_grammar_release(g);
  }
  free(mask);
}

/* A frame that is called from fifteen places, each followed by other signs. Tested is the cost, in
 * steps, of a position where all of them can be. */
static uint64_t followers(uint32_t off) {
  char text[2048];
  size_t n = (size_t)snprintf(
      text, sizeof text, "e ::= [a-z] [a-z0-9_]* | e \"(\" e (\", \" e)* \")\"\nroot ::= \"-\"");
  for (unsigned i = 1; i < 16; i++) {
    n += (size_t)snprintf(text + n, sizeof text - n, " | \"%u;\" e [", i);
    for (unsigned k = 0; k < 4; k++)
      if (i >> k & 1) text[n++] = "!#$%"[k];
    n += (size_t)snprintf(text + n, sizeof text - n, "]");
  }
  tsl_grammar *g = compile(text, off);
  uint32_t *mask = malloc(tsl_vocab_mask_words(vocab) * 4);
  uint64_t steps = 0;
  for (unsigned i = 1; g && mask && i < 16; i++) {
    char begin[16];
    tsl_matcher *m = NULL;
    int size = snprintf(begin, sizeof begin, "%u;", i);
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
          tsl_matcher_accept_bytes(m, begin, (size_t)size, NULL) == TSL_OK);
    uint64_t before = tsl__space_steps(g->space);
    CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
    if (i != 1 && i != 2 && i != 4 && i != 8) steps += tsl__space_steps(g->space) - before;
    tsl_matcher_free(m);
  }
  tsl_grammar_release(g);
  free(mask);
  return steps;
}

/* Where each sign was a follower before, no set of them costs a walk over the vocabulary. */
static void many_followers(void) {
  uint64_t with = followers(0), without = followers(TSL__SHORTCUT_NARROWED);
  printf("  %u steps, %u without\n", (unsigned)with, (unsigned)without);
  CHECKF(with * 4 <= without, "%u steps, without %u", (unsigned)with, (unsigned)without);
}

/* A comment may end after each byte, and white space, words or names may follow. So a set of nodes
 * has most of the vocabulary below, nearly all of it behind a space. Few of its children are
 * made. */
static void after_comments(void) {
  static const char text[] = "start: line*\nline: NAME (WS WORD)* (\";\" | \"{\" line* \"}\")\n"
                             "NAME: /[a-z_][a-z0-9_]*/\nWORD: /[^\\s;{}#]+/\nWS: /[ \\t\\n]+/\n"
                             "%ignore /[ \\t\\n]+/\n%ignore /#[^\\n]*/\n";
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  uint32_t *mask = malloc(tsl_vocab_mask_words(vocab) * 4);
  CHECK(mask && tsl_grammar_lark(vocab, text, strlen(text), NULL, NULL, &g, NULL) == TSL_OK);
  if (g && mask) {
    CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK &&
          tsl_matcher_accept_bytes(m, "a {\n #", 6, NULL) == TSL_OK &&
          tsl_matcher_mask(m, mask) == TSL_OK);
    uint32_t children = tsl__space_count(g->space, children);
    CHECKF(children < 1000, "%u children", (unsigned)children);
  }
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  free(mask);
}

int main(void) {
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  if (!vocab) return tsl_test_end();
  tsl_vocab_set_walk_cache(vocab, 0);
  RUN(random_languages, "random languages, with and without shortcuts, token by token");
  RUN(towers, "a level of operators more costs no walk more");
  RUN(words_beside_names, "words beside names, and names after spaces");
  RUN(after_comments, "what may follow a comment that may end anywhere");
  RUN(many_followers, "a frame before many followers");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
