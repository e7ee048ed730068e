/* test_lark_large.c - large and wrong grammars of Lark and GBNF: each gets an answer or an error
 * with its place, and soon. A step that took time in the square of the size would take hours here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/check.h"
#include "tests/support/text.h"
#include "turnstile.h"

#define SOME ROUNDS_OF(100000u)  /* rules that are all used, alternatives of a terminal */
#define MANY ROUNDS_OF(1000000u) /* rules that are read and left aside */

static tsl_vocab *vocab;

/* ---- the parts of a large grammar ------------------------------------------------------------ */

/* "<before>i<between>i+1<after>", for each i below `count`. */
static void lines(struct text *t, unsigned count, const char *before, const char *between,
                  const char *after) {
  for (unsigned i = 0; i < count; i++) {
    text_add(t, before);
    text_add_number(t, i);
    text_add(t, between);
    text_add_number(t, i + 1);
    text_add(t, after);
  }
}

/* "<before>i<after>", for each i below `count`. */
static void pieces(struct text *t, unsigned count, const char *before, const char *after) {
  for (unsigned i = 0; i < count; i++) {
    text_add(t, before);
    text_add_number(t, i);
    text_add(t, after);
  }
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static tsl_status compile(tsl_source_kind kind, const struct text *t, tsl_grammar **g,
                          tsl_error *error) {
  tsl_source source = {.kind = kind, .text = t->at, .length = t->n};
  *error = (tsl_error){0};
  return tsl_grammar_compile(vocab, &source, g, error);
}

/* The grammar compiles, and takes the good text, not the bad one. Empties `t`. */
static void good(const char *what, tsl_source_kind kind, struct text *t, const char *yes,
                 const char *no) {
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_error error;
  CHECKF(compile(kind, t, &g, &error) == TSL_OK, "%s: %u:%u: %s", what, error.line, error.column,
         error.message);
  t->n = 0;
  if (!g || tsl_matcher_new(g, NULL, &m) != TSL_OK) return;
  CHECKF(tsl_matcher_accept_bytes(m, yes, strlen(yes), NULL) == TSL_OK &&
             tsl_matcher_is_complete(m),
         "%s: %s is refused", what, yes);
  tsl_matcher_reset(m);
  CHECKF(tsl_matcher_accept_bytes(m, no, strlen(no), NULL) != TSL_OK || !tsl_matcher_is_complete(m),
         "%s: %s is accepted", what, no);
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* The grammar is an error with this place. Empties `t`. */
static void bad(const char *what, tsl_source_kind kind, struct text *t, tsl_status status,
                unsigned line, unsigned column, const char *message) {
  tsl_grammar *g = NULL;
  tsl_error error;
  CHECKF(compile(kind, t, &g, &error) == status && !g, "%s: %s", what, error.message);
  CHECKF(error.status == status && error.line == line && error.column == column &&
             strstr(error.message, message),
         "%s: %u:%u: %s", what, error.line, error.column, error.message);
  tsl_grammar_release(g);
  t->n = 0;
}

static unsigned digits(unsigned n) {
  unsigned count = 1;
  while (n /= 10) count++;
  return count;
}

/* ---- Lark ------------------------------------------------------------------------------------ */

static void lark_rules(void) {
  struct text t = {0};
  text_add(&t, "start: \"y\"\n");
  lines(&t, MANY, "r", ": \"x\" r", "\n");
  text_add(&t, "r");
  text_add_number(&t, MANY);
  text_add(&t, ": \"x\"\n");
  good("unused rules", TSL_SOURCE_LARK, &t, "y", "x");
  text_add(&t, "start: r0\n");
  lines(&t, SOME, "r", ": r", "\n");
  bad("a rule that is not defined, at the end", TSL_SOURCE_LARK, &t, TSL_ERR_SYNTAX, SOME + 1,
      4 + digits(SOME - 1), "is not defined");
  text_add(&t, "start: r0\n");
  lines(&t, SOME, "r", ": \"x\" r", " | \"y\"\n");
  text_add(&t, "r");
  text_add_number(&t, SOME);
  text_add(&t, ": \"z\" | r0\n");
  good("a circle of rules", TSL_SOURCE_LARK, &t, "xxxy", "xxx");
  text_add(&t, "start: r0\n");
  lines(&t, SOME, "r", ": r", " \"x\"\n");
  text_add(&t, "r");
  text_add_number(&t, SOME);
  text_add(&t, ": \"y\" | r0\n");
  bad("a left-recursive circle", TSL_SOURCE_LARK, &t, TSL_ERR_LIMIT, SOME + 2, 1,
      "a left-recursive cycle of");
  text_free(&t);
}

static void lark_terminals(void) {
  struct text t = {0};
  text_add(&t, "start: A\nA: \"x\"");
  pieces(&t, SOME, " | /k", "+/");
  good("regular expressions side by side", TSL_SOURCE_LARK, &t, "k7777", "k7k");
  text_add(&t, "start: A\nA: /[a-z0-9]+/ & ~B\nB: \"x\"");
  pieces(&t, SOME, " | \"k", "\"");
  good("what a large terminal does not match", TSL_SOURCE_LARK, &t, "k7x", "k7");
  text_add(&t, "start: A\nA: \"x\"");
  pieces(&t, SOME, " | T", "");
  text_add(&t, "\n");
  pieces(&t, SOME, "T", ": \"k\"\n");
  good("a terminal of terminals", TSL_SOURCE_LARK, &t, "k", "kk");
  text_add(&t, "start: T0\n");
  lines(&t, SOME, "T", ": \"a\" T", "\n");
  text_add(&t, "T");
  text_add_number(&t, SOME);
  text_add(&t, ": \"b\" | T0\n");
  bad("a circle of terminals", TSL_SOURCE_LARK, &t, TSL_ERR_SYNTAX, SOME + 2, 10 + digits(SOME),
      "leads back to itself");
  text_free(&t);
}

static void lark_others(void) {
  struct text t = {0};
  text_add(&t, "start: \"x\"");
  pieces(&t, SOME, " | t{\"k", "\"}");
  text_add(&t, "\nt{x}: x x\n");
  good("templates", TSL_SOURCE_LARK, &t, "k5k5", "k5k6");
  text_add(&t, "start: \"a\"\n");
  pieces(&t, SOME, "%extend start: \"k", "\"\n");
  good("extensions of one rule", TSL_SOURCE_LARK, &t, "k99", "k99k");
  text_free(&t);
}

/* ---- GBNF ------------------------------------------------------------------------------------ */

static void gbnf(void) {
  struct text t = {0};
  text_add(&t, "root ::= \"y\"\n");
  lines(&t, MANY, "r", " ::= \"x\" r", "\n");
  text_add(&t, "r");
  text_add_number(&t, MANY);
  text_add(&t, " ::= \"x\"\n");
  good("unused rules", TSL_SOURCE_GBNF, &t, "y", "x");
  text_add(&t, "root ::= r0\n");
  lines(&t, SOME, "r", " ::= r", "\n");
  bad("a rule that is not defined, at the end", TSL_SOURCE_GBNF, &t, TSL_ERR_SYNTAX, SOME + 1,
      7 + digits(SOME - 1), "is not defined");
  text_add(&t, "root ::= \"x\"");
  pieces(&t, SOME, " | \"k", "\"");
  good("strings side by side", TSL_SOURCE_GBNF, &t, "k77", "k77k");
  text_add(&t, "root ::= r0\n");
  lines(&t, SOME, "r", " ::= r", " \"x\"\n");
  text_add(&t, "r");
  text_add_number(&t, SOME);
  text_add(&t, " ::= \"y\" | r0\n");
  bad("a left-recursive circle", TSL_SOURCE_GBNF, &t, TSL_ERR_LIMIT, SOME + 1, 7 + digits(SOME - 1),
      "a left-recursive cycle of");
  text_free(&t);
}

int main(void) {
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  RUN(lark_rules, "Lark: many rules");
  RUN(lark_terminals, "Lark: large terminals");
  RUN(lark_others, "Lark: many templates and extensions");
  RUN(gbnf, "GBNF: many rules and strings");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
