/* test_lark.c - Lark grammars: tables of grammars and texts, errors with their places, imports,
 * tokens, and grammars that are large or hostile.
 *
 * tests/programs/test_lark.py compares with Lark itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/lark/lark.h"
#include "tests/support/check.h"
#include "tests/support/failing.h"
#include "tests/support/text.h"

/* ---- a vocabulary: all bytes, and a few tokens ----------------------------------------------- */

enum { THINK = 256, END_THINK = 257, WORD = 258, EOS = 259, TOKENS = 260 };

static tsl_vocab *vocab;

static void make_vocab(void) {
  static const char *const names[] = {"<think>", "</think>", "hello", "</s>"};
  uint8_t bytes[512], special[TOKENS] = {0};
  uint32_t offsets[TOKENS + 1] = {0};
  tsl_token eog = EOS;
  for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)i, offsets[i + 1] = (uint32_t)i + 1;
  for (int i = 0; i < 4; i++) {
    memcpy(bytes + offsets[256 + i], names[i], strlen(names[i]));
    offsets[257 + i] = offsets[256 + i] + (uint32_t)strlen(names[i]);
  }
  special[THINK] = special[END_THINK] = 1;
  tsl_vocab_desc desc = {.bytes = bytes,
                         .offsets = offsets,
                         .size = TOKENS,
                         .special = special,
                         .eog = &eog,
                         .eog_count = 1};
  CHECK(tsl_vocab_new(&desc, NULL, &vocab, NULL) == TSL_OK);
}

static tsl_matcher *matcher_of(tsl_grammar *grammar) {
  tsl_matcher *m = NULL;
  CHECK(tsl_matcher_new(grammar, NULL, &m) == TSL_OK);
  tsl_grammar_release(grammar);
  return m;
}

static tsl_matcher *start(const char *text, size_t length, const tsl_lark_options *options) {
  tsl_grammar *grammar = NULL;
  tsl_error error;
  tsl_status status = tsl_grammar_lark(vocab, text, length, options, NULL, &grammar, &error);
  CHECKF(status == TSL_OK, "%s: %s at %u:%u in\n%.*s", tsl_status_name(status), error.message,
         error.line, error.column, (int)(length < 2000 ? length : 2000), text);
  return status ? NULL : matcher_of(grammar);
}

static bool accepts(tsl_matcher *m, const char *text, size_t n) {
  size_t accepted = 0;
  tsl_matcher_reset(m);
  tsl_status status = tsl_matcher_accept_bytes(m, text, n, &accepted);
  CHECKF(status == TSL_OK || status == TSL_REJECTED, "%s", tsl_status_name(status));
  return status == TSL_OK && tsl_matcher_is_complete(m);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static size_t unescape(const char *text, size_t length, char *out) {
  size_t n = 0;
  for (size_t i = 0; i < length; i++) {
    if (text[i] != '\\' || i + 1 == length) {
      out[n++] = text[i];
      continue;
    }
    char c = text[++i];
    out[n++] = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
  }
  return n;
}

static void accept_table(void) {
  size_t size;
  char *all = text_of_file("tests/cases/lark/accept.txt", &size), *line = all, *grammar = NULL;
  char name[128] = "";
  tsl_matcher *m = NULL;
  int cases = 0, texts = 0;
  CHECK(all != NULL);
  while (all && line < all + size) {
    char *end = memchr(line, '\n', (size_t)(all + size - line));
    if (!end) end = all + size;
    if (line[0] == '=' && line[1] == '=') {
      tsl_matcher_free(m);
      m = NULL;
      snprintf(name, sizeof name, "%.*s", (int)(end - line - 3), line + 3);
      grammar = end + 1;
      cases++;
    } else if (grammar && (line[0] == '+' || line[0] == '-') && line[1] == ' ') {
      char text[1024];
      if (!m) m = start(grammar, (size_t)(line - grammar), NULL);
      size_t n = unescape(line + 2, (size_t)(end - line) - 2, text);
      if (m)
        CHECKF(accepts(m, text, n) == (line[0] == '+'), "%s: %.*s", name, (int)(end - line), line);
      texts++;
    }
    line = end + 1;
  }
  tsl_matcher_free(m);
  free(all);
  CHECKF(cases >= 35 && texts >= 85, "%d cases, %d texts", cases, texts);
}

static void error_table(void) {
  size_t size;
  char *all = text_of_file("tests/cases/lark/errors.txt", &size);
  int rows = 0;
  CHECK(all != NULL);
  for (char *line = all ? strtok(all, "\n") : NULL; line; line = strtok(NULL, "\n")) {
    char status_name[32], text[512];
    unsigned row, column;
    int begin = 0;
    if (line[0] == '#') continue;
    char *message = strstr(line, " => ");
    CHECKF(message && sscanf(line, "%31s %u:%u %n", status_name, &row, &column, &begin) >= 3,
           "%s: a row has a status, a place, a grammar and a message", line);
    if (!message || !begin) continue;
    size_t n = 0;
    for (const char *c = line + begin; c < message; c++) {
      bool newline = c[0] == '\\' && c[1] == 'n';
      text[n++] = newline ? '\n' : *c;
      c += newline;
    }
    tsl_error error = {0};
    tsl_grammar *grammar = (tsl_grammar *)&error;
    tsl_status status = tsl_grammar_lark(vocab, text, n, NULL, NULL, &grammar, &error);
    CHECKF(!strcmp(tsl_status_name(status) + 8, status_name) && status == error.status && !grammar,
           "%s: %s, %s", line, tsl_status_name(status), error.message);
    CHECKF(error.line == row && error.column == column, "%s: at %u:%u (%s)", line, error.line,
           error.column, error.message);
    CHECKF(strstr(error.message, message + 4) != NULL, "%s: %s", line, error.message);
    if (status == TSL_OK) tsl_grammar_release(grammar);
    rows++;
  }
  free(all);
  CHECKF(rows >= 60, "%d rows", rows);
}

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
  tsl_lark_options options = {.resolver = resolve, .resolver_ctx = &calls};
  tsl_matcher *m = start(good, sizeof good - 1, &options);
  CHECK(calls == 2);
  if (m) {
    CHECK(accepts(m, "x y 1 22 x", 10));
    CHECK(accepts(m, "xy13w", 5));
    CHECK(!accepts(m, "x-y13w", 6)); /* what an imported grammar ignores is its own affair */
  }
  tsl_matcher_free(m);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tsl_grammar *g = NULL;
    tsl_error error = {0};
    CHECK(tsl_grammar_lark(vocab, bad[i].grammar, strlen(bad[i].grammar), &options, NULL, &g,
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
  tsl_lark_options options = {.start = "other"};
  tsl_matcher *m = start(text, sizeof text - 1, &options);
  CHECK(m && accepts(m, "x", 1) && !accepts(m, "xx", 2));
  tsl_matcher_free(m);
  tsl_source source = {
      .kind = TSL_SOURCE_LARK, .text = text, .length = sizeof text - 1, .root = "other"};
  tsl_grammar *g = NULL;
  CHECK(tsl_grammar_compile(vocab, &source, &g, NULL) == TSL_OK);
  m = g ? matcher_of(g) : NULL;
  CHECK(m && accepts(m, "x", 1) && !accepts(m, "xx", 2));
  tsl_matcher_free(m);
}

/* ---- large and hostile ----------------------------------------------------------------------- */

static tsl_status status_of(const struct text *t, tsl_error *error) {
  tsl_grammar *g = NULL;
  *error = (tsl_error){0};
  tsl_status status = tsl_grammar_lark(vocab, t->at, t->n, NULL, NULL, &g, error);
  CHECK(status == error->status || !status);
  tsl_grammar_release(g);
  return status;
}

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
  CHECKF(status_of(&t, &error) == TSL_OK, "%s", error.message);
  t.n = 0;
  text_add(&t, "start: r0\n");
  for (unsigned i = 0; i < 1000000; i++) {
    text_add(&t, "r");
    text_add_number(&t, i);
    text_add(&t, ": \"x\"\n");
  }
  CHECKF(status_of(&t, &error) == TSL_OK, "%s", error.message);
  t.n = 0;
  text_add(&t, "start: ");
  repeated(&t, "(", 100000);
  CHECK(status_of(&t, &error) == TSL_ERR_LIMIT && error.line == 1);
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
  CHECKF(status_of(&t, &error) == TSL_OK, "%s", error.message);
  t.n = 0;
  text_add(&t, "start: t{\"a\"}\nt{x}: t{t{x}} | x");
  CHECK(status_of(&t, &error) == TSL_ERR_LIMIT || error.status);
  t.n = 0;
  text_add(&t, "start: \"a\"\n");
  repeated(&t, "%ignore /a/\n", 10000);
  CHECKF(status_of(&t, &error) == TSL_OK, "%s", error.message);
  text_free(&t);
}

/* Each allocation of a compile fails once. */
static void no_memory(void) {
  static const char text[] =
      "%import common (INT, WS)\nstart: _sep{INT, \",\"} [x] /a{9}/ A\n_sep{i, s}: i (s i)*\n"
      "x: \"(\" x \")\" | \"b\"i\nA: \"c\" | /d.*?e/\n%ignore WS\n%extend INT: \"z\"";
  unsigned n = 0;
  for (tsl_status status = TSL_ERR_NO_MEMORY; status == TSL_ERR_NO_MEMORY && n < 20000; n++) {
    failing f = {n, 0};
    const tsl_allocator a = failing_allocator(&f);
    tsl__exprs *x = NULL;
    tsl_error error = {0};
    tsl__expr e;
    tsl__lark_options options = {0};
    status = tsl__exprs_new(NULL, &a, NULL, &x);
    if (status == TSL_OK)
      status = tsl__lark_compile(x, NULL, text, sizeof text - 1, &options, &e, &error);
    CHECKF(status == TSL_OK || status == TSL_ERR_NO_MEMORY, "%s: %s", tsl_status_name(status),
           error.message);
    if (x) tsl__exprs_free(x);
    CHECK(f.held == 0);
  }
  CHECKF(n > 20, "%u", n);
}

int main(void) {
  make_vocab();
  RUN(accept_table, "grammars and texts");
  RUN(error_table, "errors with line, column and message");
  RUN(imports, "imports through a resolver");
  RUN(tokens, "tokens by id and name");
  RUN(other_start, "a start rule by name");
  RUN(large, "large and hostile grammars");
  RUN(no_memory, "every allocation fails once");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
