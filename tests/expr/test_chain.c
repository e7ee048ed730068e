/* test_chain.c - sequences of a hundred parts that may all be missing, whose tails remember where
 * they lead and what they read (compiler/expr/kinds/sequence.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compiler/expr/deriv.h"
#include "tests/support/check.h"

#define PARTS 120u
#define TEXT_MAX 24u

static tsl__exprs *x;
static uint64_t seed = 1129;
static char words[PARTS][4];
static bool must[PARTS];

static unsigned below(unsigned n) { return (unsigned)(tsl_test_random(&seed) % n); }

/* Words of a, b and c; now and then one that must come. */
static tsl__expr make_chain(unsigned parts) {
  tsl__expr e = TSL__EPS;
  for (unsigned i = parts; i-- > 0;) {
    unsigned n = 1 + below(3);
    for (unsigned k = 0; k < n; k++) words[i][k] = (char)('a' + below(3));
    words[i][n] = 0;
    must[i] = below(40) == 0;
    tsl__expr word = tsl__expr_literal(x, words[i], n);
    e = tsl__expr_seq(x, must[i] ? word : tsl__expr_alt(x, TSL__EPS, word), e);
  }
  return e;
}

/* By trying all places: at[k] says whether the parts so far can spell the first k bytes. */
static bool spelled(unsigned parts, const char *text, unsigned n) {
  bool at[TEXT_MAX + 1] = {true};
  for (unsigned i = 0; i < parts; i++) {
    bool next[TEXT_MAX + 1] = {false};
    unsigned w = (unsigned)strlen(words[i]);
    for (unsigned k = 0; k <= n; k++) {
      if (!at[k]) continue;
      if (!must[i]) next[k] = true;
      if (k + w <= n && !memcmp(text + k, words[i], w)) next[k + w] = true;
    }
    memcpy(at, next, sizeof at);
  }
  return at[n];
}

static void chains(void) {
  unsigned long matched = 0;
  for (unsigned round = 0; round < ROUNDS_OF(60u); round++) {
    unsigned parts = 2 + below(PARTS - 1);
    tsl__expr e = make_chain(parts);
    for (unsigned i = 0; i < 200; i++) {
      char text[TEXT_MAX + 1];
      unsigned n = below(TEXT_MAX + 1);
      for (unsigned k = 0; k < n; k++) text[k] = (char)('a' + below(3));
      bool is = spelled(parts, text, n);
      CHECKF(tsl__expr_matches(x, e, text, n) == is, "%.*s of %u parts", (int)n, text, parts);
      matched += is;
    }
  }
  CHECK(matched > 100);
}

/* A chain of parts of several kinds: words, classes, loops. */
static tsl__expr make_mixed(unsigned parts) {
  tsl__expr e = TSL__EPS;
  for (unsigned i = parts; i-- > 0;) {
    char word[2] = {(char)('a' + below(6)), (char)('a' + below(6))};
    unsigned lo = 'a' + below(20), hi = lo + below(6);
    tsl__expr part = tsl__expr_literal(x, word, 2);
    if (below(12) == 0) part = tsl__expr_range(x, (uint8_t)lo, (uint8_t)hi);
    if (below(12) == 0) part = tsl__expr_star(x, part);
    if (below(12) == 0) part = tsl__expr_alt(x, part, tsl__expr_literal(x, "xyz", 3));
    e = tsl__expr_seq(x, below(60) == 0 ? part : tsl__expr_alt(x, TSL__EPS, part), e);
  }
  return e;
}

/* What is said of an expression's derivatives, beside the derivatives. */
static void check_reads(tsl__expr e) {
  tsl__reads r;
  tsl__alike a;
  uint8_t first[TSL__ALIKE_MAX];
  tsl__expr to[256];
  tsl__reads_of(x, e, &r);
  for (unsigned b = 0; b < 256; b++) {
    to[b] = tsl__derive_plain(x, e, (uint8_t)b);
    CHECKF(tsl__bytes_has(&r.live, b) == (to[b] != TSL__NONE), "byte %u lives", b);
    if (b && !tsl__bytes_has(&r.edges, b)) CHECKF(to[b] == to[b - 1], "no edge at byte %u", b);
  }
  if (!tsl__alike_of(x, e, &r.edges, &a)) return;
  tsl__alike_firsts(&a, first);
  for (unsigned i = 0; i < a.n; i++)
    CHECKF(to[a.lower[i]] == to[a.lower[first[i]]], "range %u is like %u", i, first[i]);
}

static void reads(void) {
  for (unsigned round = 0; round < ROUNDS_OF(20u); round++) {
    tsl__expr e = make_mixed(20 + below(PARTS - 20));
    for (unsigned i = 0; i < 60 && e; i++) {
      check_reads(e);
      tsl__expr to = tsl__derive_plain(x, e, (uint8_t)('a' + below(26)));
      if (to) e = to;
    }
  }
}

/* a? b? c | b? c = a? b? c, however it is put together. */
static void within(void) {
  for (unsigned round = 0; round < ROUNDS_OF(200u); round++) {
    tsl__expr tails[PARTS], e = tsl__expr_literal(x, "end", 3);
    unsigned parts = 2 + below(PARTS - 2);
    for (unsigned i = 0; i < parts; i++) {
      char word[2] = {(char)('a' + below(26)), (char)('a' + below(26))};
      e = tsl__expr_seq(x, tsl__expr_alt(x, TSL__EPS, tsl__expr_literal(x, word, 2)), e);
      tails[i] = e;
    }
    tsl__expr some[4] = {e};
    for (unsigned i = 1; i < 4; i++) some[i] = tails[below(parts)];
    CHECK(tsl__expr_alt_n(x, some, 4) == e);
    CHECK(tsl__expr_alt(x, some[1], e) == e);
  }
}

int main(void) {
  if (tsl__exprs_new(NULL, NULL, NULL, &x) != TSL_OK) return 1;
  RUN(chains, "chains of words that may be missing, beside a search of all places");
  RUN(reads, "what chains of several kinds read, beside their derivatives");
  RUN(within, "a tail of a chain is no alternative of it");
  tsl__exprs_free(x);
  return tsl_test_end();
}
