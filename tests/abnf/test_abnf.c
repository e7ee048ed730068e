/* test_abnf.c - ABNF: tables of grammars and texts, and errors with their places. Also the grammars
 * of RFCs in schemas/grammars with texts, and grammars that are large or hostile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/abnf/abnf.h"
#include "tests/support/failing.h"
#include "tests/support/notation.h"

static tsl_vocab *vocab;
static const char *root; /* of what is compiled */

static tsl_status compile(const char *text, size_t length, tsl_grammar **out, tsl_error *error) {
  return tsl_grammar_abnf(vocab, text, length, root, NULL, out, error);
}

static void accept_table(void) { notation_table(compile, "tests/cases/abnf/accept.txt", 20, 55); }
static void error_table(void) { notation_errors(compile, "tests/cases/abnf/errors.txt", 20); }

/* ---- grammars of RFCs ------------------------------------------------------------------------ */

typedef struct rfc {
  const char *path, *root, *good[14], *bad[14];
} rfc;

static const rfc rfcs[] = {
    {"schemas/grammars/uri.abnf",
     NULL,
     {"http://a/b/c/d;p?q", "ftp://ftp.is.co.za/rfc/rfc1808.txt", "ldap://[2001:db8::7]/c=GB?one",
      "mailto:John.Doe@example.com", "tel:+1-816-555-1212", "urn:oasis:names:x:1.1",
      "telnet://192.0.2.16:80/", "HTTP://u%20x@h:/", "a:", "x://[v1.a:b]/", "x://[::1.2.3.4]"},
     {"", "http//a", ":a", "1a:b", "a:b c", "a:%g0", "x://[::1::2]", "x://[1:2:3]", "a:[",
      "http://h:8a/"}},
    {"schemas/grammars/uri.abnf",
     "uri-reference",
     {"../../g", "//g", "?y", "#s", "", "./g:h", "http:g"},
     {"1:2", "a b", "##"}},
    {"schemas/grammars/date.abnf",
     NULL,
     {"1985-04-12T23:20:50.52Z", "1996-12-19T16:39:57-08:00", "1990-12-31t23:59:60z"},
     {"1985-4-12T23:20:50Z", "1985-13-12T23:20:50Z", "1985-04-32T23:20:50Z", "1985-04-12",
      "1985-04-12T24:20:50Z", "1985-04-12T23:20:50.Z", "1985-04-12T23:20:50"}},
    {"schemas/grammars/date.abnf", "full-date", {"2024-02-29"}, {"2024-00-10", "2024-2-9"}},
    {"schemas/grammars/email.abnf",
     NULL,
     {"a@b", "john.q.public@example.com", "\"a b\"@c.d", "x+y!@[10.0.0.1]", "\"\\\"\"@x"},
     {"a", "@b", "a@", "a..b@c", ".a@b", "a@b.", "a b@c", "\"a@b"}},
    {"schemas/grammars/http_field.abnf",
     NULL,
     {"Host: example.com", "Accept: text/html;q=0.8, */*", "X:", "x-y:  a\tb"},
     {"Host : x", ": x", "A: x ", "A: x\n", "Ho st: x"}},
    {"schemas/grammars/http_field.abnf",
     "media-type",
     {"text/html", "text/html; charset=utf-8", "a/b;c=\"d \\\" e\" ; f=g", "a/b;"},
     {"text", "text/", "a/b;c", "a/b;c=\"d"}},
};

static void shipped(void) {
  for (size_t i = 0; i < sizeof rfcs / sizeof *rfcs; i++) {
    const rfc *r = &rfcs[i];
    size_t n;
    char *text = text_of_file(r->path, &n);
    CHECKF(text != NULL, "%s", r->path);
    root = r->root;
    tsl_matcher *m = text ? notation_matcher(compile, text, n) : NULL;
    for (int k = 0; m && k < 14 && r->good[k]; k++)
      CHECKF(notation_accepts(m, r->good[k], strlen(r->good[k])), "%s: %s", r->path, r->good[k]);
    for (int k = 0; m && k < 14 && r->bad[k]; k++)
      CHECKF(!notation_accepts(m, r->bad[k], strlen(r->bad[k])), "%s: %s", r->path, r->bad[k]);
    tsl_matcher_free(m);
    free(text);
  }
  root = NULL;
}

/* ---- the start ------------------------------------------------------------------------------- */

static void other_root(void) {
  static const char text[] = "one = Two two\r\nTWO = \"x\"\r\n";
  tsl_source source = {
      .kind = TSL_SOURCE_ABNF, .text = text, .length = sizeof text - 1, .root = "Two"};
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  tsl_error error;
  CHECK(tsl_grammar_compile(vocab, &source, &g, NULL) == TSL_OK);
  CHECK(g && tsl_matcher_new(g, NULL, &m) == TSL_OK);
  CHECK(m && notation_accepts(m, "X", 1) && !notation_accepts(m, "xx", 2));
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  source.root = "three";
  CHECK(tsl_grammar_compile(vocab, &source, &g, &error) == TSL_ERR_SYNTAX &&
        strstr(error.message, "no rule \"three\""));
}

/* ---- large and hostile ----------------------------------------------------------------------- */

static void large(void) {
  tsl_error error;
  struct text t = {0};
  text_add(&t, "a = b0\n");
  for (unsigned i = 0; i < 100000; i++) {
    text_add(&t, "b");
    text_add_number(&t, i);
    text_add(&t, " = \"x\"\n");
  }
  CHECKF(notation_status(compile, &t, &error) == TSL_OK, "%s", error.message);
  t.n = 0;
  text_add(&t, "a = ");
  for (unsigned i = 0; i < 100000; i++) text_add(&t, "[");
  CHECK(notation_status(compile, &t, &error) == TSL_ERR_LIMIT && error.line == 1);
  t.n = 0;
  text_add(&t, "a = \"x\"\n");
  for (unsigned i = 0; i < 100000; i++) text_add(&t, "a =/ \"y\"\n");
  CHECKF(notation_status(compile, &t, &error) == TSL_ERR_LIMIT && error.line > 100, "%s",
         error.message);
  text_free(&t);
}

/* Each allocation of a compile fails once. */
static void no_memory(void) {
  static const char text[] = "a = 1*3b [\"x\" / %x41.42] LWSP\nb = (a) / %d48-57 / HEXDIG\n"
                             "b =/ %s\"cD\" / 2\"e1f\"\n";
  unsigned n = 0;
  for (bool failed = true; failed && n < 20000; n++) {
    failing f = {n, 0};
    const tsl_allocator a = failing_allocator(&f);
    tsl__exprs *x = NULL;
    tsl_error error = {0};
    tsl__expr e;
    tsl_status status = tsl__exprs_new(NULL, &a, NULL, &x);
    if (status == TSL_OK) status = tsl__abnf_compile(x, text, sizeof text - 1, NULL, 0, &e, &error);
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
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  RUN(accept_table, "grammars and texts");
  RUN(error_table, "errors with line, column and message");
  RUN(shipped, "grammars of RFCs");
  RUN(other_root, "a start rule by name");
  RUN(large, "large and hostile grammars");
  RUN(no_memory, "every allocation fails once");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
