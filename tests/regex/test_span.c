/* test_span.c - counted runs of characters that become bounds on the length (span.c), and runs side
 * by side that become fewer (beside.c).
 *
 * The oracle is the same pattern compiled as a match within a larger text (`within`), which leaves
 * the run as it is. No text may be in one of the two languages alone. That is a search for a text
 * of their difference, so it looks at all texts. Patterns with other shapes are among them, whose
 * runs stay. The work of the masks along a text is counted in steps, for several counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "compiler/expr/node.h"
#include "compiler/regex/regex.h"
#include "runtime/matcher/grammar.h"
#include "tests/support/check.h"
#include "turnstile.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* `bound`: a bound takes the place of the run. */
static const struct row {
  const char *pattern;
  bool bound;
} rows[] = {
    {"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", true},
    {"[a-z]([-a-z]{0,28}[a-z])?", true},
    {"[a-c]{0,9}b", true},
    {"[a-c]{1,9}b", true},
    {"[a-c]{8,12}[bx]y", true},
    {"x[a-c]{0,10}[b-d][0-9]", true},
    {"(?:x|y[a-c]{0,10}[b-d]z)", true},
    {"(?:xxx|yy[ab]{2,10}a)q", true},
    {"((([ab]{0,20}b)?)?)", true},
    {"\xc3\xa4[\xc3\xa4\xc3\xb6]{0,12}\xc3\xb6", true},
    {"(?:xxxxxxxxxxxxxxxxxxxx|[ab]{0,9}a)", false}, /* longer without the run */
    {"[a-c]{9,12}b", false},                        /* at least too many */
    {"[a-c]{0,8}b", false},                         /* counted down */
    {"[a-c]{0,20}", false},                         /* nothing follows */
    {"[a-c]{0,20}x", false},                        /* a register counts it */
    {"[ab]{0,10}a[ab]{0,10}b", false},              /* two of them */
    {"x*[ab]{0,10}b", false},                       /* no fixed length before it */
    {"([ab]{0,10}bx)*", false},                     /* in a loop */
    {"([ab]{0,10}bx){2}", false},
    {"([ab]{0,10}b|[ac]{0,12}c)", false},
    {"[ab]{0,10}b?", false},
};

static tsl__expr compile(tsl__exprs *x, const char *pattern, tsl__regex_flags flags) {
  tsl__expr e = TSL__NONE;
  tsl_error error = {0};
  CHECKF(tsl__regex_compile(x, pattern, strlen(pattern), &flags, &e, &error) == TSL_OK, "%s: %s",
         pattern, error.message);
  return e;
}

static bool is_bounded(const tsl__exprs *x, tsl__expr e) {
  tsl__node n = tsl__node_at(x, e);
  return n.kind == TSL__K_AND;
}

static void compare(tsl__exprs *x, const char *pattern, tsl__expr bound, tsl__expr plain) {
  tsl__expr more = tsl__expr_and(x, bound, tsl__expr_not(x, plain)),
            less = tsl__expr_and(x, plain, tsl__expr_not(x, bound));
  CHECKF(tsl__exprs_status(x) == TSL_OK, "%s: %s", pattern, tsl__exprs_why(x));
  CHECKF(more == TSL__NONE, "%s has a text more with the bound", pattern);
  CHECKF(less == TSL__NONE, "%s has a text less with the bound", pattern);
}

static void same_language(void) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    tsl__exprs *x = NULL;
    char anchored[128];
    CHECK(tsl__exprs_new(NULL, NULL, NULL, &x) == TSL_OK);
    tsl__expr plain = compile(x, rows[i].pattern, (tsl__regex_flags){.within = true}),
              bound = compile(x, rows[i].pattern, (tsl__regex_flags){0});
    snprintf(anchored, sizeof anchored, "^%s$", rows[i].pattern);
    CHECKF(is_bounded(x, bound) == rows[i].bound, "%s", rows[i].pattern);
    compare(x, rows[i].pattern, bound, plain);
    bound = compile(x, anchored, (tsl__regex_flags){.search = true});
    CHECKF(is_bounded(x, bound) == rows[i].bound, "%s", anchored);
    compare(x, anchored, bound, plain);
    bound = compile(x, rows[i].pattern, (tsl__regex_flags){.search = true});
    CHECKF(!is_bounded(x, bound) || !rows[i].bound, "%s within a text", rows[i].pattern);
    tsl__exprs_free(x);
  }
}

/* Runs side by side, as fewer runs (beside.c): `joined` is written so. NULL: they stay. */
static const struct {
  const char *pattern, *joined;
} beside[] = {
    {"[a-f]{1,20}\\w*\\w+", "[a-f]\\w+"},
    {"\\w+[a-f]{2,20}\\w+", "\\w+[a-f]{2}\\w+"},
    {"\\w*[a-f]{0,20}\\w+", "\\w+"},
    {"[a-f]?\\w*[a-f]?", "\\w*"},
    {"([a-f]{1,9})(\\w*)", "[a-f]\\w*"},
    {"x(?:[a-f]*\\w*|y)z", "x(?:\\w*|y)z"},
    {"(?:[a-f]{1,4}\\w*-)*", "(?:[a-f]\\w*-)*"},
    {"[a-f]{2,5}[a-f]{1,9}", "[a-f]{3,14}"},
    {"[a-f]{2,5}[a-f]*", "[a-f]{2,}"},
    {"\xc3\xa4{0,9}[\xc3\xa4\xc3\xb6]*", "[\xc3\xa4\xc3\xb6]*"},
    {"[a-g]{1,5}[b-z]*", NULL},   /* the second one has no a */
    {"[a-f]{1,5}\\w{1,9}", NULL}, /* both are bounded */
    {"\\w*-[a-f]{1,5}", NULL},
    {"[a-f]{3}\\w*", NULL},
    {"\\w*[a-f]", NULL},
    {"fooo*", NULL},                          /* a fixed part */
    {"a{0,2147483648}a{0,2147483648}", NULL}, /* more than can be counted, yet bounded */
};

static void same_beside(void) {
  for (size_t i = 0; i < COUNT(beside); i++) {
    tsl__exprs *x = NULL;
    CHECK(tsl__exprs_new(NULL, NULL, NULL, &x) == TSL_OK);
    const char *pattern = beside[i].pattern, *joined = beside[i].joined;
    tsl__expr plain = compile(x, pattern, (tsl__regex_flags){.within = true}),
              made = compile(x, pattern, (tsl__regex_flags){0});
    compare(x, pattern, made, plain);
    plain = joined ? compile(x, joined, (tsl__regex_flags){.within = true}) : plain;
    CHECKF(made == plain, "%s is not %s", pattern, joined ? joined : "as it was");
    tsl__exprs_free(x);
  }
}

/* The masks along a name that a pattern with a run of n characters allows. */
static uint64_t steps_of(tsl_vocab *vocab, unsigned n) {
  static const char text[] = "keyboard-2025-abc-def";
  char schema[128];
  uint32_t mask[4096];
  tsl_grammar *g = NULL;
  tsl_matcher *m = NULL;
  snprintf(schema, sizeof schema,
           "{\"type\":\"string\",\"pattern\":\"^[a-z0-9]([-a-z0-9]{0,%u}[a-z0-9])?$\"}", n);
  CHECK(tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, NULL, &g, NULL) == TSL_OK);
  CHECK(tsl_matcher_new(g, NULL, &m) == TSL_OK && tsl_vocab_mask_words(vocab) <= COUNT(mask));
  CHECK(tsl_matcher_accept_bytes(m, "\"k", 2, NULL) == TSL_OK);
  const uint64_t before = tsl__space_steps(g->space);
  for (const char *at = text + 1; *at; at++) {
    CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
    CHECK(tsl_matcher_accept_bytes(m, at, 1, NULL) == TSL_OK);
  }
  const uint64_t steps = tsl__space_steps(g->space) - before;
  tsl_matcher_free(m);
  tsl_grammar_release(g);
  return steps;
}

#define STEPS_MAX 20000u /* of 20 masks; each took more than a tenth of that on its own */

static void few_steps(void) {
  tsl_vocab *vocab = NULL;
  CHECK(tsl_vocab_embedded(NULL, &vocab, NULL) == TSL_OK);
  for (unsigned n = 30; n <= 240; n *= 2) {
    const uint64_t steps = steps_of(vocab, n);
    printf("  a run of %u: %u steps\n", n, (unsigned)steps);
    CHECKF(steps < STEPS_MAX, "a run of %u: %u steps", n, (unsigned)steps);
  }
  tsl_vocab_release(vocab);
}

int main(void) {
  RUN(same_language, "patterns with such runs, with the bound and without");
  RUN(same_beside, "runs side by side, joined and not");
  RUN(few_steps, "the masks along a name take few steps");
  return tsl_test_end();
}
