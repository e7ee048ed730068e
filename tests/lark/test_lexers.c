/* test_lexers.c - Lark grammars that a lexer reads. There are tables of grammars and texts for the
 * lexers "basic" and "dynamic", errors, and grammars that are large or hostile.
 *
 * tests/programs/test_lark_lexers.py compares with Lark itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/failing.h"
#include "tests/support/notation.h"
#include "tests/support/token_vocab.h"

#include "compiler/lark/lark.h"

static tsl_vocab *vocab;
static const char *lexer;

static tsl_status compile(const char *text, size_t length, tsl_grammar **out, tsl_error *error) {
  const tsl_lark_options options = {.lexer = lexer};
  return tsl_grammar_lark(vocab, text, length, &options, NULL, out, error);
}

/* A grammar, and texts between "|" that each lexer accepts or not. */
typedef struct row {
  const char *grammar, *basic, *not_basic, *dynamic, *not_dynamic;
} row;

#define NAMES "\nNAME: /[a-z]+/\n%ignore \" \"\n"
static const row rows[] = {
    /* the longest text of a terminal, and no shorter one */
    {"start: A \"b\"\nA: /a+b?/", "abb|aabb", "ab|aab|b", "abb|aabb", "ab|aab|b"},
    {"start: A A\nA: /a+/", "", "", "", "aa|aaa"},
    {"start: NAME NAME" NAMES, "a b|ab  c| a b ", "ab|a|a b c", "a b|ab  c| a b ", "ab|a|a b c"},
    /* keywords: the basic lexer takes the string, the dynamic one what the grammar allows */
    {"start: NAME \"in\" NAME" NAMES, "a in b| ain in b", "ain b|a inb|in in b",
     "a in b|in in in|a inb", "ain b"},
    {"start: NAME | \"in\" \"(\" NAME \")\"" NAMES, "in(a)|inn|in ( a )", "in|in(in)",
     "in(a)|in|in(in)", "in(a"},
    {"start: (NAME | \"IN\"i \"1\")+" NAMES, "in|IN1|a IN 1b", "a IN|in1|iN1", "a in1b|in|In1",
     "a IN|In"},
    /* strings: the longer one first */
    {"start: (\"<\" | \"<=\" | \"=\" | \"==\")~2",
     "<<|<==|===|====", "<=|= =|=<===|<====|==", "<<|<==|===|<=|==|====", "=<===|<===="},
    /* priorities come before lengths */
    {"start: A | B \"x\"\nA.2: \"a\"\nB: \"ab\"", "a", "abx", "a|abx", "ab"},
    {"start: A \"bx\" | B\nA.2: \"a\"\nB: \"abx\"", "abx", "a", "abx", "a"},
    /* a number ends where it can be no longer */
    {"start: N (\"..\" N | \".\" | N)?\nN: /[0-9]+(\\.[0-9]+)?/", "1..2|1.|1.5..2|1.5.|12.5.|1",
     "1.5.5|1..", "1..2|1.|1.5..2|1.5.|1", "1.5.5|1.."},
    {"start: N+\nN: /[0-9]+(\\.[0-9]+)?/\n%ignore \" \"", "1 2|1.5|15|1.5 2.5", "1.5.5|1 .|1.5 .5",
     "1 2|15", "1.5.5|1 ."},
    /* what is ignored is a lexeme, too: a comment ends at its line's end */
    {"start: \"a\"+ \"/\"? \"a\"\n%ignore /\\/\\/[^\\n]*\\n?/\n%ignore \" \"",
     "a/a|a a|a//x\na|a//\n a", "a//a|//a|a/ /a", "a/a|a//x\na", "a//a|a/ /a"},
    {"start: \"a\"\n%ignore /x+/\n%ignore \"xy\"", "xa|axx|xxaxxx", "xxya|xya", "xa|xya|axx", "ya"},
    /* a rule that ends with a name, before one that begins with a name */
    {"start: value NAME\nvalue: NAME | \"(\" value \")\" | value \"+\" value" NAMES,
     "a b|(a)b|(a+b)c|a+(b)c|((a))b", "ab|(a)|a+bc", "a b|(a)b|a+(b)c", "ab|a+bc"},
    {"start: (NAME | \"(\" start \")\")+" NAMES, "a b|a(b)c|(a)(b c)|((a b)c)", "()|a(", "a b|(a)b",
     "()|(a"},
    {"start: start NAME | NAME" NAMES, "a|a b c|a  bc", "", "a|a b c", ""},
    {"start: (NAME | \"1\")~2..3" NAMES, "a1b|11|a b|1a1", "a|ab|a1b1|1", "a1b|11", "a|ab"},
    {"start: [NAME] opt NAME\nopt: | \"1\"" NAMES, "a|a b|a1b|1b", "ab1|1", "a|a b|a1b|1b", "1"},
    /* the same string, with a name and without */
    {"start: IF NAME | \"if\" \"1\"\nIF: \"if\"" NAMES, "if a|if1", "ifa|if if",
     "if a|if1|if if|ifa", "if2"},
    /* characters of several bytes */
    {"start: W W\nW: /[\\u00e4\\u20ac]+x?/\n%ignore \" \"",
     "\xc3\xa4 \xe2\x82\xac|\xc3\xa4x\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac|\xc3\xa4",
     "\xc3\xa4 \xe2\x82\xac", "\xc3\xa4\xe2\x82\xac"},
    /* rules that lead to each other are read though the start leads to none of them */
    {"start: \"a\" \"b\"\nx: \"ab\" y\ny: x | \"c\" x", "", "ab", "ab", "a"},
};

static void texts(tsl_matcher *m, const row *r, const char *list, bool good) {
  for (const char *at = list; *at;) {
    size_t n = strcspn(at, "|");
    CHECKF(notation_accepts(m, at, n) == good, "%s, %.*s should %sbe accepted\n%s", lexer, (int)n,
           at, good ? "" : "not ", r->grammar);
    at += n + (at[n] == '|');
  }
}

static void table(void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const row *r = &rows[i];
    for (int dynamic = 0; dynamic < 2; dynamic++) {
      const char *good = dynamic ? r->dynamic : r->basic;
      lexer = dynamic ? "dynamic" : "basic";
      if (!*good) { /* no text at all */
        tsl_grammar *g = NULL;
        CHECKF(compile(r->grammar, strlen(r->grammar), &g, NULL) == TSL_ERR_EMPTY, "%s: %s", lexer,
               r->grammar);
        tsl_grammar_release(g);
        continue;
      }
      tsl_matcher *m = notation_matcher(compile, r->grammar, strlen(r->grammar));
      if (m) texts(m, r, good, true), texts(m, r, dynamic ? r->not_dynamic : r->not_basic, false);
      tsl_matcher_free(m);
    }
  }
  lexer = NULL;
}

static void errors(void) {
  static const struct {
    const char *lexer, *grammar;
    tsl_status status;
    unsigned line, column;
    const char *message;
  } bad[] = {
      {"contextual", "start: \"a\"", TSL_ERR_UNSUPPORTED, 0, 0, "contextual"},
      {"Basic", "start: \"a\"", TSL_ERR_ARGUMENT, 0, 0, "no lexer \"Basic\""},
      {"basic", "start: A \"b\"\nA: /a*/", TSL_ERR_SYNTAX, 2, 1, "terminal \"A\" may not match"},
      {"basic", "start: %json {\"type\": \"null\"}", TSL_ERR_UNSUPPORTED, 1, 8, "together with"},
      {"basic", "start: <[7]> \"a\"", TSL_ERR_UNSUPPORTED, 1, 8, "together with"},
      {"dynamic", "start: a\na[lazy]: /b+/", TSL_ERR_UNSUPPORTED, 1, 8, "together with"},
      {"dynamic", "start: \"a\" a\na[suffix=\"x\"]: /b+/", TSL_ERR_UNSUPPORTED, 1, 12,
       "together with"},
      {"dynamic", "start: T \"x\" T \"y\"\nT: /a(b*c)?/\nB: \"b\"", TSL_OK, 0, 0, ""},
      {"dynamic", "start: T (\"b\" | \"c\")+\nT: /a(b*c)?/", TSL_ERR_UNSUPPORTED, 2, 1,
       "terminal \"T\" depends on a text of any length"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    lexer = bad[i].lexer;
    tsl_status status = compile(bad[i].grammar, strlen(bad[i].grammar), &g, &error);
    CHECKF(status == bad[i].status, "%s: %s", bad[i].grammar, tsl_status_name(status));
    CHECKF(status == TSL_OK || (strstr(error.message, bad[i].message) &&
                                error.line == bad[i].line && error.column == bad[i].column),
           "%s: %u:%u %s", bad[i].grammar, error.line, error.column, error.message);
    tsl_grammar_release(g);
  }
  lexer = NULL;
}

/* A grammar as large as `n` says. */
static tsl_status large(const char *begin, const char *item, unsigned n, const char *end,
                        tsl_error *error) {
  size_t size = strlen(begin) + n * (strlen(item) + 12) + strlen(end) + 1, at = 0;
  char *text = malloc(size);
  tsl_grammar *g = NULL;
  CHECK(text != NULL);
  if (!text) return TSL_ERR_NO_MEMORY;
  at += (size_t)snprintf(text, size, "%s", begin);
  for (unsigned i = 0; i < n; i++) at += (size_t)snprintf(text + at, size - at, item, i);
  at += (size_t)snprintf(text + at, size - at, "%s", end);
  tsl_status status = compile(text, at, &g, error);
  tsl_grammar_release(g);
  free(text);
  return status;
}

static void large_grammars(void) {
  tsl_error error = {0};
  lexer = "basic";
  CHECK(large("start: (NAME", " | \"kw%u\"", 1000, ")+\nNAME: /[a-z]+[0-9]*/\n%ignore \" \"",
              &error) == TSL_OK);
  CHECK(large("start: (\"x\"", " | \"kw%u\"", 1000, ")+\n%ignore \" \"", &error) == TSL_OK);
  CHECK(large("start: NAME", " NAME", 500, "\nNAME: /[a-z]+/\n%ignore \" \"", &error) == TSL_OK);
  CHECK(large("start: NAME", " NAME", 600, "\nNAME: /[a-z]+/\n%ignore \" \"", &error) ==
        TSL_ERR_LIMIT);
  CHECK(strstr(error.message, "more than 512"));
  CHECK(large("start: (\"x\"", " | /[a-z]{%u}[0-9]/", 60, ")+", &error) != TSL_ERR_NO_MEMORY);
  lexer = NULL;
}

static void no_memory(void) {
  static const char text[] =
      "start: (NAME | \"if\" NUMBER | \"(\" start \")\")+ [NAME \"in\"]\nNAME: /[a-z]+/\n"
      "NUMBER: /[0-9]+(\\.[0-9]+)?/\nC: \"#\" /[a-c]*/\n%ignore \" \"\n%ignore C\n"
      "x: y \"z\"\ny: x | \"w\"\n";
  bool failed = true;
  long n = 0;
  for (; failed && n < 20000; n += 1 + n / 200) {
    failing f = {n, 0};
    const tsl_allocator a = failing_allocator(&f);
    tsl__exprs *x = NULL;
    tsl_error error = {0};
    tsl__expr e;
    const tsl__lark_options basic = {.lexer = TSL__LARK_BASIC};
    tsl_status status = tsl__exprs_new(NULL, &a, NULL, &x);
    if (status == TSL_OK)
      status = tsl__lark_compile(x, NULL, text, sizeof text - 1, &basic, &e, &error);
    CHECKF(status == TSL_OK || status == TSL_ERR_NO_MEMORY, "%s: %s", tsl_status_name(status),
           error.message);
    if (x) tsl__exprs_free(x);
    CHECK(f.held == 0);
    failed = failing_failed(&f);
    CHECK(failed || status == TSL_OK);
  }
  CHECKF(!failed && n > 20, "%ld", n);
}

int main(void) {
  vocab = token_vocab();
  RUN(table, "grammars and texts");
  RUN(errors, "errors with line, column and message");
  RUN(large_grammars, "large and hostile grammars");
  RUN(no_memory, "an allocation fails");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
