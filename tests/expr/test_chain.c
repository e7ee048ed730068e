/* test_chain.c - sequences of a hundred parts that may all be missing, whose tails remember where
 * they lead (compiler/expr/kinds/sequence.c).
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

int main(void) {
  if (tsl__exprs_new(NULL, NULL, NULL, &x) != TSL_OK) return 1;
  RUN(chains, "chains of words that may be missing, beside a search of all places");
  tsl__exprs_free(x);
  return tsl_test_end();
}
