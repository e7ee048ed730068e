/* test_lark.c - Lark grammars: tables of grammars and texts, errors with their places, imports,
 * tokens, and grammars that are large or hostile.
 *
 * tests/programs/test_lark.py compares with Lark itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/lark.h"
#include "tests/support/failing.h"
#include "tests/support/notation.h"
#include "tests/support/token_vocab.h"

static tsl_vocab *vocab;
static const tsl_lark_options *options; /* of what is compiled */

static tsl_status compile(const char *text, size_t length, tsl_grammar **out, tsl_error *error) {
  return tsl_grammar_lark(vocab, text, length, options, NULL, out, error);
}

static tsl_matcher *start(const char *text, size_t length, const tsl_lark_options *with) {
  options = with;
  tsl_matcher *m = notation_matcher(compile, text, length);
  options = NULL;
  return m;
}

static void accept_table(void) { notation_table(compile, "tests/cases/lark/accept.txt", 35, 85); }
static void error_table(void) { notation_errors(compile, "tests/cases/lark/errors.txt", 60); }

/* ---- imports --------------------------------------------------------------------------------- */

static bool resolve(void *ctx, const char *path, const char **text, size_t *length) {
  static const char *const files[][2] = {
      {"a/one.lark", "%import .two (x, Y)\n%import common.INT\nstart: x Y \"1\" INT\nz: x\n"
                     "%ignore \"-\"\n"},
      {"a/two.lark", "x: \"x\"\nY: \"y\"\n"},
      {"loop.lark", "%import .loop2.x\ny: x\n"},
      {"loop2.lark", "%import .loop.y -> x\n"},
      {"bad.lark", "x: \"x\"\ny: (\"a\"\n"}};
  ++*(int *)ctx;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (!strcmp(files[i][0], path)) return *text = files[i][1], *length = strlen(*text), true;
  return false;
}

static void imports(void) {
  static const struct {
    const char *grammar, *message;
    unsigned line, column;
  } bad[] = {
      {"start: y\n%import loop.y", "imports itself", 2, 1},
      {"start: y\n%import bad.y", "in the imported bad.lark, line 3, column 1", 2, 1},
      {"start: y\n%import none.y", "no grammar is known for \"none.lark\"", 2, 1},
      {"start: \"x\"\n%import a.two.y", "does not define \"y\"", 2, 15},
      {"start: x\n%import a.two.Y -> x", "a terminal as a terminal", 2, 20},
      {"start: x\nx: \"x\"\n%import a.two.x", "is defined twice", 2, 1},
  };
  static const char good[] = "%import a.one.start -> inner\n%import a.one.z\nstart: inner z\n"
                             "%extend z: \"w\"\n%ignore \" \"\n";
  int calls = 0;
  const tsl_lark_options with = {.resolver = resolve, .resolver_ctx = &calls};
  tsl_matcher *m = start(good, sizeof good - 1, &with);
  CHECK(calls == 2);
  if (m) {
    CHECK(notation_accepts(m, "x y 1 22 x", 10));
    CHECK(notation_accepts(m, "xy13w", 5));
    CHECK(
        !notation_accepts(m, "x-y13w", 6)); /* what an imported grammar ignores is its own affair */
  }
  tsl_matcher_free(m);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    CHECK(tsl_grammar_lark(vocab, bad[i].grammar, strlen(bad[i].grammar), &with, NULL, &g,
                           &error) == TSL_ERR_SYNTAX);
    CHECKF(strstr(error.message, bad[i].message) && error.line == bad[i].line &&
               error.column == bad[i].column,
           "%s: %u:%u %s", bad[i].grammar, error.line, error.column, error.message);
  }
}

/* ---- tokens and the start -------------------------------------------------------------------- */

static void tokens(void) {
  static const char text[] = "start: <think> /[^<]*/ </think> | <[258]> \"!\"\n%ignore \" \"";
  tsl_matcher *m = start(text, sizeof text - 1, NULL);
  if (!m) return;
  CHECK(tsl_matcher_accept(m, THINK) == TSL_OK && tsl_matcher_accept(m, 'a') == TSL_OK &&
        tsl_matcher_accept(m, END_THINK) == TSL_OK && tsl_matcher_is_complete(m));
  tsl_matcher_reset(m);
  CHECK(tsl_matcher_accept(m, WORD) == TSL_OK && tsl_matcher_accept(m, ' ') == TSL_OK &&
        tsl_matcher_accept(m, '!') == TSL_OK && tsl_matcher_is_complete(m));
  tsl_matcher_reset(m);
  CHECK(tsl_matcher_accept(m, 'h') == TSL_REJECTED);
  tsl_matcher_free(m);
}

static void other_start(void) {
  static const char text[] = "start: other other\nother: \"x\"";
  const tsl_lark_options with = {.start = "other"};
  tsl_matcher *m = start(text, sizeof text - 1, &with);
  CHECK(m && notation_accepts(m, "x", 1) && !notation_accepts(m, "xx", 2));
  tsl_matcher_free(m);
  tsl_source source = {
      .kind = TSL_SOURCE_LARK, .text = text, .length = sizeof text - 1, .root = "other"};
  tsl_grammar *g = NULL;
  CHECK(tsl_grammar_compile(vocab, &source, &g, NULL) == TSL_OK);
  m = NULL;
  CHECK(g && tsl_matcher_new(g, NULL, &m) == TSL_OK);
  CHECK(m && notation_accepts(m, "x", 1) && !notation_accepts(m, "xx", 2));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
}

/* ---- large and hostile ----------------------------------------------------------------------- */

static void repeated(struct text *t, const char *part, unsigned times) {
  while (times--) text_add(t, part);
}

static void large(void) {
  tsl_error error;
  struct text t = {0};
  text_add(&t, "start: A\nA: \"x\"");
  for (unsigned i = 0; i < 100000; i++) {
    text_add(&t, " | \"k");
    text_add_number(&t, i);
    text_add(&t, "\"");
  }
  CHECKF(notation_status(compile, &t, &error) == TSL_OK, "%s", error.message);
  t.n = 0;
  text_add(&t, "start: r0\n");
  for (unsigned i = 0; i < 1000000; i++) {
    text_add(&t, "r");
    text_add_number(&t, i);
    text_add(&t, ": \"x\"\n");
  }
  CHECKF(notation_status(compile, &t, &error) == TSL_OK, "%s", error.message);
  t.n = 0;
  text_add(&t, "start: ");
  repeated(&t, "(", 100000);
  CHECK(notation_status(compile, &t, &error) == TSL_ERR_LIMIT && error.line == 1);
  t.n = 0;
  text_add(&t, "start: T0\n");
  for (unsigned i = 0; i < 100000; i++) {
    text_add(&t, "T");
    text_add_number(&t, i);
    text_add(&t, ": \"x\" T");
    text_add_number(&t, i + 1);
    text_add(&t, "\n");
  }
  text_add(&t, "T100000: \"y\"");
  CHECKF(notation_status(compile, &t, &error) == TSL_OK, "%s", error.message);
  t.n = 0;
  text_add(&t, "start: t{\"a\"}\nt{x}: t{t{x}} | x");
  CHECK(notation_status(compile, &t, &error) == TSL_ERR_LIMIT || error.status);
  t.n = 0;
  text_add(&t, "start: \"a\"\n");
  repeated(&t, "%ignore /a/\n", 10000);
  CHECKF(notation_status(compile, &t, &error) == TSL_OK, "%s", error.message);
  text_free(&t);
}

/* A NUL is no letter of a list of letters. */
static void nul(void) {
#define TEXT(s) s, sizeof s - 1
  static const struct {
    const char *text;
    size_t length;
    tsl_status status;
  } rows[] = {{TEXT("start: /(?\0)a/"), TSL_ERR_UNSUPPORTED},
              {TEXT("start: /(?\0:a)/"), TSL_ERR_UNSUPPORTED},
              {TEXT("start: /(?-\0:a)/"), TSL_ERR_UNSUPPORTED},
              {TEXT("start: \"a\" \0"), TSL_ERR_SYNTAX}};
#undef TEXT
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    tsl_status status = compile(rows[i].text, rows[i].length, &g, &error);
    CHECKF(status == rows[i].status && !g, "row %zu: %s, %s", i, tsl_status_name(status),
           error.message);
  }
}

/* Each allocation of a compile fails once. */
static void no_memory(void) {
  static const char text[] =
      "%import common (INT, WS)\nstart: _sep{INT, \",\"} [x] /a{9}/ A\n_sep{i, s}: i (s i)*\n"
      "x: \"(\" x \")\" | \"b\"i\nA: \"c\" | /d.*?e/\n%ignore WS\n%extend INT: \"z\"";
  unsigned n = 0;
  for (bool failed = true; failed && n < 20000; n++) {
    failing f = {n, 0};
    const tsl_allocator a = failing_allocator(&f);
    tsl__exprs *x = NULL;
    tsl_error error = {0};
    tsl__expr e;
    const tsl__lark_options none = {0};
    tsl_status status = tsl__exprs_new(NULL, &a, NULL, &x);
    if (status == TSL_OK)
      status = tsl__lark_compile(x, NULL, text, sizeof text - 1, &none, &e, &error);
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
  RUN(error_table, "errors with line, column and message");
  RUN(imports, "imports through a resolver");
  RUN(tokens, "tokens by id and name");
  RUN(other_start, "a start rule by name");
  RUN(nul, "a NUL where a letter may stand");
  RUN(large, "large and hostile grammars");
  RUN(no_memory, "every allocation fails once");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
