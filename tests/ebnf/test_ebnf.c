/* test_ebnf.c - EBNF: tables of grammars and texts, pairs that XGrammar judged, errors with their
 * places. Also tokens, captures, the report, and grammars that are large or hostile.
 *
 * tests/cases/ebnf/judged.txt was written by bench/peers/peer_xgrammar_ebnf.py, which compares with
 * XGrammar itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/ebnf/ebnf.h"
#include "tests/support/accepted.h"
#include "tests/support/failing.h"
#include "tests/support/notation.h"
#include "tests/support/token_vocab.h"

static tsl_vocab *vocab;

static tsl_status compile(const char *text, size_t length, tsl_grammar **out, tsl_error *error) {
  return tsl_grammar_ebnf(vocab, text, length, NULL, NULL, out, error);
}

static void accept_table(void) { notation_table(compile, "tests/cases/ebnf/accept.txt", 40, 110); }
static void judged_table(void) { notation_table(compile, "tests/cases/ebnf/judged.txt", 60, 800); }
static void error_table(void) { notation_errors(compile, "tests/cases/ebnf/errors.txt", 35); }

/* ---- masks ----------------------------------------------------------------------------------- */

static void masks(void) {
  static const char *const grammars[] = {
      "root ::= TagDispatch((\"ab\", r), (\"bhel\", r), excludes=(\"q\",)) \"!\"\nr ::= [0-9]{1,2}",
      "root ::= a \"h\"\na[max_chars=3] ::= [a-z]+",
      "root ::= (a | Token(258) | ExcludeToken(104))*\na[lazy] ::= [a-k]* \"l\"",
      "root ::= Substring(\"hel\", \"lo\", \"h\") TokenTagDispatch((257, root), excludes=(97,))"};
  static const char letters[] = "abhelo!1";
  uint64_t seed = 11;
  for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++) {
    tsl_matcher *m = notation_matcher(compile, grammars[i], strlen(grammars[i]));
    for (int walk = 0; m && walk < 12; walk++) {
      char text[16] = "";
      tsl_matcher_reset(m);
      for (size_t n = 0; n < sizeof text - 1; n++) {
        uint32_t mask[(TOKENS + 31) / 32];
        CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
        CHECK(mask_is_right(m, mask, grammars[i], text));
        text[n] = letters[tsl_test_random(&seed) % (sizeof letters - 1)];
        if (tsl_matcher_accept(m, (uint8_t)text[n])) break;
      }
    }
    tsl_matcher_free(m);
  }
}

/* ---- tokens, captures, the report ------------------------------------------------------------ */

static void tokens(void) {
  static const char text[] = "root ::= Token(256) [a-z]* </think> | <[258]> \"!\" | "
                             "TokenTagDispatch((257, root))";
  tsl_matcher *m = notation_matcher(compile, text, sizeof text - 1);
  if (!m) return;
  CHECK(tsl_matcher_accept(m, THINK) == TSL_OK && tsl_matcher_accept(m, 'a') == TSL_OK &&
        tsl_matcher_accept(m, END_THINK) == TSL_OK && tsl_matcher_is_complete(m));
  tsl_matcher_reset(m);
  CHECK(tsl_matcher_accept(m, WORD) == TSL_OK && tsl_matcher_accept(m, '!') == TSL_OK &&
        tsl_matcher_is_complete(m));
  tsl_matcher_reset(m);
  CHECK(tsl_matcher_accept(m, END_THINK) == TSL_OK && tsl_matcher_accept(m, WORD) == TSL_OK &&
        tsl_matcher_is_complete(m));
  tsl_matcher_free(m);
}

static void captures(void) {
  static const char text[] = "root ::= name \" \" age\nname[capture] ::= [a-z]+\n"
                             "age[capture=\"years\", max_chars=3] ::= [0-9]+";
  tsl_grammar *g = NULL;
  tsl_parser *p = NULL;
  CHECK(compile(text, sizeof text - 1, &g, NULL) == TSL_OK && g);
  CHECK(g && tsl_parser_new(g, NULL, &p) == TSL_OK);
  if (p) {
    CHECK(tsl_parser_text(p, "bo 42", 5) == TSL_OK && tsl_parser_finish(p) == TSL_OK);
    const char *json = tsl_parser_json(p);
    CHECKF(json && strstr(json, "\"name\"") && strstr(json, "bo") && strstr(json, "\"years\"") &&
               strstr(json, "42"),
           "%s", json);
  }
  tsl_parser_free(p);
  tsl_grammar_release(g);
}

static void report(void) {
  static const char text[] =
      "root ::= a\na[temperature=0.5, stop_capture=\"s\"] ::= \"x\" (=\"y\")";
  tsl_grammar *g = NULL;
  CHECK(compile(text, sizeof text - 1, &g, NULL) == TSL_OK);
  const char *json = g ? tsl_grammar_report(g) : "";
  CHECKF(strstr(json, "line 2, column 3: a temperature") && strstr(json, "stop_capture") &&
             strstr(json, "\"(=\", \"status\": \"no effect\""),
         "%s", json);
  tsl_grammar_release(g);
}

static void other_root(void) {
  static const char text[] = "root ::= other other\nother ::= \"x\"";
  tsl_source source = {
      .kind = TSL_SOURCE_EBNF, .text = text, .length = sizeof text - 1, .root = "other"};
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  CHECK(tsl_grammar_compile(vocab, &source, &g, NULL) == TSL_OK);
  CHECK(g && tsl_matcher_new(g, NULL, &m) == TSL_OK);
  CHECK(m && notation_accepts(m, "x", 1) && !notation_accepts(m, "xx", 2));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* ---- large and hostile ----------------------------------------------------------------------- */

static void large(void) {
  tsl_error error;
  struct text t = {0};
  text_add(&t, "root ::= r0\n");
  for (unsigned i = 0; i < 100000; i++) {
    text_add(&t, "r");
    text_add_number(&t, i);
    text_add(&t, " ::= \"x\"\n");
  }
  CHECKF(notation_status(compile, &t, &error) == TSL_OK, "%s", error.message);
  t.n = 0;
  text_add(&t, "root ::= ");
  for (unsigned i = 0; i < 100000; i++) text_add(&t, "(");
  CHECK(notation_status(compile, &t, &error) == TSL_ERR_LIMIT && error.line == 1);
  t.n = 0;
  text_add(&t, "root[lazy] ::= r0\n"); /* doubles at each level */
  for (unsigned i = 0; i < 40; i++) {
    text_add(&t, "r");
    text_add_number(&t, i);
    text_add(&t, " ::= r");
    text_add_number(&t, i + 1);
    text_add(&t, " r");
    text_add_number(&t, i + 1);
    text_add(&t, "\n");
  }
  text_add(&t, "r40 ::= \"x\"");
  CHECKF(notation_status(compile, &t, &error) == TSL_ERR_UNSUPPORTED && error.column == 5, "%s",
         error.message);
  t.n = 0;
  text_add(&t, "root ::= TagDispatch((\"x\", r)");
  for (unsigned i = 0; i < 300; i++) {
    text_add(&t, ", (\"call_");
    text_add_number(&t, i);
    text_add(&t, ">\", r)");
  }
  text_add(&t, ")\nr ::= \"1\"");
  CHECKF(notation_status(compile, &t, &error) == TSL_OK, "%s", error.message);
  text_free(&t);
}

/* Each allocation of a compile fails once. */
static void no_memory(void) {
  static const char text[] =
      "root ::= TagDispatch((\"aa\", r), (\"b\", s), excludes=(\"q\",)) (x | [a-c]{9} | "
      "Token(5, 6)) (=\"z\")\nx ::= \"(\" x \")\" | Substring(\"ab\", \"c\") | Regex(\"a+\")\n"
      "r[lazy] ::= s* \"e\"\ns[max_chars=2, temperature=1] ::= [a-z]+";
  unsigned n = 0;
  for (bool failed = true; failed && n < 20000; n++) {
    failing f = {n, 0};
    const tsl_allocator a = failing_allocator(&f);
    tsl__exprs *x = NULL;
    tsl_error error = {0};
    tsl__expr e;
    const char *said = NULL;
    const tsl__ebnf_options options = {.report = &said};
    tsl_status status = tsl__exprs_new(NULL, &a, NULL, &x);
    if (status == TSL_OK)
      status = tsl__ebnf_compile(x, NULL, text, sizeof text - 1, &options, &e, &error);
    CHECKF(status == TSL_OK || status == TSL_ERR_NO_MEMORY, "%s: %s", tsl_status_name(status),
           error.message);
    if (x) tsl__exprs_free(x);
    CHECK(f.held == 0);
    failed = failing_failed(&f);
    CHECK(failed || status == TSL_OK);
  }
  CHECKF(n > 20 && n < 20000, "%u", n);
}

int main(void) {
  vocab = token_vocab();
  RUN(accept_table, "grammars and texts");
  RUN(judged_table, "pairs that XGrammar judged");
  RUN(error_table, "errors with line, column and message");
  RUN(masks, "masks against accept, token by token");
  RUN(tokens, "tokens by id and name");
  RUN(captures, "captures");
  RUN(report, "what says nothing of the language");
  RUN(other_root, "a start rule by name");
  RUN(large, "large and hostile grammars");
  RUN(no_memory, "every allocation fails once");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
