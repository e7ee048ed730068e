/* test_tags_built.c - structural tags built in C: every format, compiled and written; what builders
 * refuse, how deep formats may be, allocations that fail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/tags.h"

static tsl_vocab *vocab;

/* A tree with every format in it. */
static tsl_format *build_all(tsl_tags *t) {
  static const char *const end[] = {"</f>"}, *const call_end[] = {"</f>", "|"},
                           *const trigger[] = {"<f"}, *const dispatch[] = {"<1>", "<2>"},
                           *const no[] = {"#"};
  const tsl_token token = 1;
  tsl_format *arguments =
      tsl_tags_as(t, tsl_tags_json_schema(t, S, sizeof S - 1, NULL), TSL_AS_ARGUMENTS, NULL);
  tsl_format *xml =
      tsl_tags_as(t, tsl_tags_json_schema(t, S, sizeof S - 1, "qwen_xml"), TSL_AS_ARGUMENTS, NULL);
  tsl_format *tags[] = {
      tsl_tags_as(t, tsl_tags_tag(t, "<f=a>", arguments, call_end, 2), TSL_AS_CALL, "a"),
      tsl_tags_as(t, tsl_tags_tag(t, "<f=b>", xml, end, 1), TSL_AS_CALL, "b")};
  tsl_format *rules[] = {tsl_tags_text(t, "one", 3), tsl_tags_regex(t, "[0-9]+", 6)};
  tsl_format *choice[] = {tsl_tags_separated(t, tags, 2, ", ", TSL_TAGS_AT_LEAST_ONE),
                          tsl_tags_dispatch(t, dispatch, rules, 2, 0),
                          tsl_tags_gbnf(t, "root ::= \"g\"", 12),
                          tsl_tags_tokens(t, &token, 1, true, 1, 1)};
  tsl_format *parts[] = {
      tsl_tags_repeat(t,
                      tsl_tags_as(t, tsl_tags_tag(t, "<t>", tsl_tags_any(t, no, 1, 50, 7), end, 1),
                                  TSL_AS_REASONING, NULL),
                      0, 1),
      tsl_tags_repeat(t, tsl_tags_or(t, choice, 4), 1, TSL_UNBOUNDED),
      tsl_tags_as(t, tsl_tags_text(t, "##", 2), TSL_AS_MARKUP, NULL),
      tsl_tags_triggered(t, trigger, 1, tags, 2, TSL_TAGS_ONCE)};
  return tsl_tags_sequence(t, parts, 4);
}

static void built_in_c(void) {
  static const char *const yes[] = {"<t>x</f>g##",
                                    "<f=a>{\"a\":1}|, <f=b><parameter=a>1</parameter></f>##text",
                                    "a<1>one##<f=a>{\"a\":1}</f>", "g##"},
                           *const no[] = {"", "g", "<t>x</f>"};
  char *written = malloc(WRITTEN), *again = malloc(WRITTEN);
  tsl_tags *t = NULL;
  tsl_grammar *g = NULL, *h = NULL;
  tsl_error e = {0};
  if (tsl_tags_new(vocab, NULL, &t) != TSL_OK) return;
  tsl_format *root = build_all(t);
  CHECKF(root && tsl_tags_compile(t, root, NULL, NULL, NULL, &g, &e) == TSL_OK, "%s", e.message);
  CHECK(tsl_tags_write(t, root, take_line, written, &e) == TSL_OK);
  CHECKF(tsl_grammar_tags(vocab, written, strlen(written), NULL, NULL, &h, &e) == TSL_OK, "%s: %s",
         e.message, written);
  for (size_t i = 0; i < 4; i++)
    CHECKF(g && h && accepts(g, yes[i]) && accepts(h, yes[i]), "%s", yes[i]);
  for (size_t i = 0; i < 3; i++)
    CHECKF(g && h && !accepts(g, no[i]) && !accepts(h, no[i]), "%s", no[i]);
  tsl_grammar_release(h);
  h = NULL;
  CHECK(tsl_tags_compile(t, root, g, NULL, NULL, &h, &e) == TSL_OK &&
        tsl_tags_write(t, root, take_line, again, &e) == TSL_OK && !strcmp(written, again));
  tsl_grammar_release(g);
  tsl_tags_free(t);
  CHECK(h && accepts(h, yes[1])); /* what they share stays */
  tsl_grammar_release(h);
  free(written);
  free(again);
}

/* How a matcher takes the `n`th of all sequences of three of the tokens 1 to 4. Says how far the
 * matcher gets, and after which tokens the text may end. */
static unsigned walked(tsl_grammar *g, unsigned n) {
  tsl_matcher *m = NULL;
  if (tsl_matcher_new(g, NULL, &m) != TSL_OK) return 0;
  unsigned way = tsl_matcher_is_complete(m) ? 2 : 3;
  for (int i = 0; i < 3 && tsl_matcher_accept(m, 1 + (n >> 2 * i & 3)) == TSL_OK; i++)
    way = way << 1 | tsl_matcher_is_complete(m);
  tsl_matcher_free(m);
  return way;
}

/* Tokens are written as they are meant: all of them, and how often. */
static void tokens_written(void) {
  static const struct {
    size_t count;
    bool others;
    uint32_t min, max;
  } rows[] = {
      {1, false, 1, 1},
      {2, false, 1, 1},
      {2, false, 2, 3},
      {1, false, 0, TSL_UNBOUNDED},
      {2, false, 0, 0},
      {0, true, 1, 1},
      {2, true, 1, 1},
      {2, true, 0, 2},
      {2, true, 2, 3},
      {1, true, 0, TSL_UNBOUNDED},
      {1, true, 1, TSL_UNBOUNDED},
  };
  static const tsl_token tokens[] = {1, 2};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char *written = malloc(WRITTEN);
    tsl_tags *t = NULL;
    tsl_grammar *g = NULL, *h = NULL;
    tsl_error e = {0};
    if (tsl_tags_new(vocab, NULL, &t) != TSL_OK) return;
    tsl_format *f = tsl_tags_as(
        t, tsl_tags_tokens(t, tokens, rows[i].count, rows[i].others, rows[i].min, rows[i].max),
        TSL_AS_REASONING, NULL);
    CHECKF(tsl_tags_compile(t, f, NULL, NULL, NULL, &g, &e) == TSL_OK &&
               tsl_tags_write(t, f, take_line, written, &e) == TSL_OK,
           "%zu: %s", i, e.message);
    CHECKF(tsl_grammar_tags(vocab, written, strlen(written), NULL, NULL, &h, &e) == TSL_OK,
           "%s: %s", e.message, written);
    for (unsigned n = 0; n < 64 && g && h; n++)
      CHECKF(walked(g, n) == walked(h, n), "%u: %s", n, written);
    tsl_grammar_release(g);
    tsl_grammar_release(h);
    tsl_tags_free(t);
    free(written);
  }
}

/* The first failure is reported at the end, and nothing else happens. */
static void builders_fail(void) {
  tsl_grammar *g = NULL;
  for (int i = 0; i < 19; i++) {
    const char *const empty[] = {""}, *const trigger[] = {"<"}, *const broken[] = {"\xFF"};
    const tsl_token far = 1u << 30;
    tsl_tags *t = NULL;
    tsl_error e = {0};
    if (tsl_tags_new(vocab, NULL, &t) != TSL_OK) return;
    tsl_format *x = tsl_tags_text(t, "x", 1), *bad = NULL;
    switch (i) {
    case 0: bad = tsl_tags_sequence(t, &x, 0); break;
    case 1: bad = tsl_tags_repeat(t, x, 2, 1); break;
    case 2: bad = tsl_tags_tag(t, "<", x, NULL, 0); break;
    case 3: bad = tsl_tags_triggered(t, empty, 1, &x, 1, 0); break;
    case 4: bad = tsl_tags_separated(t, &x, 1, ",", 0); break;
    case 5: bad = tsl_tags_tokens(t, &far, 1, false, 1, 1); break;
    case 6: bad = tsl_tags_as(t, NULL, TSL_AS_CALL, "f"); break;
    case 7: bad = tsl_tags_json_schema(t, "{", 1, NULL); break;
    case 8: bad = tsl_tags_text(t, "a\xFF", 2); break;
    case 9: bad = tsl_tags_tag(t, broken[0], x, trigger, 1); break;
    case 10: bad = tsl_tags_any(t, broken, 1, 0, 0); break;
    case 11: bad = tsl_tags_as(t, x, TSL_AS_CALL, "\xC3"); break;
    case 12: bad = tsl_tags_dispatch(t, trigger, &x, 1, TSL_TAGS_AT_LEAST_ONE); break;
    case 13: bad = tsl_tags_dispatch(t, trigger, &x, 1, 4); break;
    case 14: bad = tsl_tags_repeat(t, x, 0, 1u << 31); break;
    case 15: bad = tsl_tags_repeat(t, x, TSL_UNBOUNDED, TSL_UNBOUNDED); break;
    case 16: bad = tsl_tags_tokens(t, &(tsl_token){1}, 1, false, 0, 1u << 31); break;
    case 17: bad = tsl_tags_any(t, NULL, 0, 1u << 31, 0); break;
    default: bad = tsl_tags_regex(t, NULL, 3); break;
    }
    CHECK(!bad && !tsl_tags_text(t, "y", 1));
    tsl_status status = tsl_tags_compile(t, x, NULL, NULL, NULL, &g, &e);
    CHECKF(status == (i >= 7 && i <= 11 ? TSL_ERR_SYNTAX : TSL_ERR_ARGUMENT) &&
               e.status == status && e.message[0] && !g,
           "%d: %s", i, e.message);
    tsl_tags_free(t);
  }
  CHECK(tsl_tags_new(NULL, NULL, &(tsl_tags *){0}) == TSL_ERR_ARGUMENT);
}

/* Formats inside one another have a limit, and formats in many places end in one. */
static void builders_nest(void) {
  const char *const end[] = {"e"};
  for (int kind = 0; kind < 4; kind++) {
    tsl_tags *t = NULL;
    tsl_grammar *g = NULL;
    tsl_error e = {0};
    char *written = malloc(WRITTEN);
    if (tsl_tags_new(vocab, NULL, &t) != TSL_OK) return;
    tsl_format *f = tsl_tags_text(t, "x", 1), *last = NULL;
    for (int i = 0; i < 200000 && f; i++) {
      last = f;
      f = kind == 0   ? tsl_tags_sequence(t, &f, 1)
          : kind == 1 ? tsl_tags_repeat(t, f, 0, 1)
          : kind == 2 ? tsl_tags_tag(t, "b", f, end, 1)
                      : tsl_tags_dispatch(t, end, &f, 1, 0);
    }
    CHECK(!f && tsl_tags_compile(t, last, NULL, NULL, NULL, &g, &e) == TSL_ERR_LIMIT &&
          strstr(e.message, "200 formats"));
    tsl_tags_free(t);
    if (tsl_tags_new(vocab, NULL, &t) != TSL_OK) return;
    f = tsl_tags_text(t, "x", 1);
    for (int i = 0; i < (kind == 3 ? 100 : 200) && f; i++)
      f = kind == 0   ? tsl_tags_sequence(t, &f, 1)
          : kind == 1 ? tsl_tags_repeat(t, f, 0, 1)
          : kind == 2 ? tsl_tags_tag(t, "b", f, end, 1)
                      : tsl_tags_dispatch(t, end, &f, 1, 0);
    CHECK(f && tsl_tags_compile(t, f, NULL, NULL, NULL, &g, &e) == TSL_OK &&
          tsl_tags_write(t, f, take_line, written, &e) == TSL_OK);
    tsl_grammar_release(g);
    g = NULL;
    CHECKF(tsl_grammar_tags(vocab, written, strlen(written), NULL, NULL, &g, &e) == TSL_OK, "%s",
           e.message);
    tsl_grammar_release(g);
    tsl_tags_free(t);
    free(written);
  }
  for (int kind = 0; kind < 3; kind++) {
    const tsl_limits limits = {.max_steps = 100000};
    tsl_tags *t = NULL;
    tsl_grammar *g = NULL;
    tsl_error e = {0};
    if (tsl_tags_new(vocab, NULL, &t) != TSL_OK) return;
    tsl_format *f = tsl_tags_text(t, "x", 1), *few = f;
    for (int i = 0; i < 100; i++) {
      tsl_format *two[] = {f, f};
      f = kind == 0 ? tsl_tags_or(t, two, 2) : tsl_tags_sequence(t, two, 2);
      if (kind == 2) f = tsl_tags_tag(t, "b", f, end, 1), i++;
      if (i < 4) few = f;
    }
    CHECK(tsl_tags_compile(t, f, NULL, NULL, &limits, &g, &e) == TSL_ERR_LIMIT && !g);
    CHECK(tsl_tags_write(t, f, take_line, NULL, &e) == TSL_ERR_LIMIT && strstr(e.message, "bytes"));
    /* the tree is as good as before */
    CHECK(tsl_tags_compile(t, few, NULL, NULL, &limits, &g, &e) == TSL_OK);
    tsl_grammar_release(g);
    tsl_tags_free(t);
  }
}

static void builders_out_of_memory(void) {
  bool done = false;
  for (uint64_t n = 0; !done && n < 20000; n = n < 300 ? n + 1 : n + 37) {
    budget b = {n, 0};
    tsl_allocator a = {&b, limited};
    tsl_tags *t = NULL;
    tsl_grammar *g = NULL;
    tsl_status status = tsl_tags_new(vocab, &a, &t);
    if (status == TSL_OK) status = tsl_tags_compile(t, build_all(t), NULL, NULL, NULL, &g, NULL);
    done = status == TSL_OK;
    CHECKF(done ? g != NULL : !g && (status == TSL_ERR_NO_MEMORY || status == TSL_ERR_ARGUMENT),
           "%s after %llu", tsl_status_name(status), (unsigned long long)n);
    tsl_grammar_release(g);
    tsl_tags_free(t);
    CHECK(b.bytes == 0);
  }
  CHECK(done);
}

int main(void) {
  if (tsl_vocab_embedded(NULL, &vocab, NULL) != TSL_OK) return 1;
  RUN(built_in_c, "every format, compiled and written");
  RUN(builders_fail, "and say so at the end");
  RUN(tokens_written, "tokens, as they are meant");
  RUN(builders_nest, "as deep as a text may, and no longer than a limit");
  RUN(builders_out_of_memory, "every allocation of a tree");
  tsl_vocab_release(vocab);
  return tsl_test_end();
}
