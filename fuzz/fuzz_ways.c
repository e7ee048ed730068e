/* fuzz_ways.c - a mask is the same on every way that leads to it.
 *
 * Input     Options (1 byte). Bits 0 to 1: 0, 1 a drawn schema, 2 a grammar in text, 3 a pattern.
 *           Bit 2: compact. Bit 3: members in the order of the schema. Bit 4: plain spellings. Then
 *             drawn   choices (fuzz/draw_schema.h)
 *             text    GBNF or a pattern, NUL, bytes
 *           What is left chooses the tokens.
 * Ways      The first way is a compile with the kernels of this processor. The others are held to
 *           that one:
 *             - compiled anew, every call on the portable kernels, and on each other level there is
 *             - compiled, its tables so small that texts are evicted all the time
 *             - an artifact of it, loaded
 *             - a matcher that is rolled back and accepts again before each mask
 * Compared  at every token: the mask, whether the text is complete, and the status.
 * Limits    What reaches a limit on one way may do so earlier or later than on the others: the walk
 *           goes on without that way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/draw_schema.h"
#include "fuzz/require.h"
#include "runtime/kernels/logits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS 80 /* tokens of a walk */
#define WALKS 2  /* texts of each input; the second one meets tables that the first has filled */
#define WORDS 16u

enum { PLAIN, PORTABLE, AVX2, AVX512, NEON, EVICTED, LOADED, ROLLED, WAYS };

static const char *const way_names[WAYS] = {"",     "portable", "avx2",   "avx512",
                                            "neon", "evicted",  "loaded", "rolled back"};

typedef struct way {
  tsl_grammar *grammar;
  tsl_matcher *m;
} way;

typedef struct run {
  tsl_vocab *vocab;
  unsigned options;
  text source;
  draws draws;
  way ways[WAYS];
} run;

static tsl_status compile(run *r, unsigned which, tsl_grammar **out) {
  const tsl_limits limits = {
      .max_memory = 64 << 20, .max_steps = 200000, .text_memory = which == EVICTED ? 1 : 0};
  const tsl_schema_options o = {.whitespace = r->options & 4 ? TSL_WS_COMPACT : TSL_WS_PLAIN,
                                .order = r->options & 8 ? TSL_ORDER_SCHEMA : TSL_ORDER_ANY,
                                .spelling = r->options & 16 ? TSL_SPELLING_PLAIN : TSL_SPELLING_ANY,
                                .draft = TSL_DRAFT_2020_12};
  const char *at = r->source.at;
  switch (r->options & 3) {
  case 2: return tsl_grammar_gbnf(r->vocab, at, r->source.n, NULL, &limits, out, NULL);
  case 3: return tsl_grammar_regex(r->vocab, at, r->source.n, NULL, &limits, out, NULL);
  default: return tsl_grammar_json_schema(r->vocab, at, r->source.n, &o, &limits, out, NULL);
  }
}

/* False: this processor or build does not have the way's kernels. */
static bool use(unsigned which) {
  return tsl__logits_force(which >= PORTABLE && which <= NEON
                               ? (tsl__logits_level)(TSL__LOGITS_PORTABLE + (which - PORTABLE))
                               : TSL__LOGITS_AUTO);
}

/* A failure leaves a way out; only the first one must be there. */
static void open_way(run *r, unsigned which) {
  way *w = &r->ways[which];
  tsl_artifact *a = NULL;
  size_t n;
  if (!use(which)) return;
  if (which == ROLLED) {
    w->grammar = r->ways[PLAIN].grammar;
    tsl_grammar_retain(w->grammar);
  } else if (which != LOADED) {
    tsl_status status = compile(r, which, &w->grammar);
    require(which == PLAIN || status == TSL_OK || status == TSL_ERR_LIMIT,
            "what compiles on one way does not on another");
  } else if (tsl_artifact_make(r->ways[PLAIN].grammar,
                               &(tsl_artifact_options){.max_states = 300, .max_walk_steps = 5000},
                               NULL, &a, NULL) == TSL_OK) {
    const void *bytes = tsl_artifact_data(a, &n);
    require(tsl_grammar_load_memory(r->vocab, bytes, n, NULL, &w->grammar, NULL) == TSL_OK,
            "an artifact that was made cannot be loaded");
    tsl_artifact_free(a);
  }
  if (w->grammar && tsl_matcher_new(w->grammar, NULL, &w->m) != TSL_OK) w->m = NULL;
}

static void close_ways(run *r) {
  for (unsigned i = 0; i < WAYS; i++) {
    tsl_matcher_free(r->ways[i].m);
    tsl_grammar_release(r->ways[i].grammar);
  }
}

static void leave(way *w) {
  tsl_matcher_free(w->m);
  w->m = NULL;
}

/* The mask on one way; false: it is left, as it has reached a limit. */
static bool mask_of(way *w, unsigned which, uint32_t *mask) {
  use(which);
  tsl_status status = tsl_matcher_mask(w->m, mask);
  require(status == TSL_OK || status == TSL_ERR_LIMIT, tsl_status_name(status));
  if (status != TSL_OK) leave(w);
  return status == TSL_OK;
}

static void compare_masks(run *r, const uint32_t *mask) {
  uint32_t other[WORDS];
  for (unsigned i = PLAIN + 1; i < WAYS; i++) {
    way *w = &r->ways[i];
    if (!w->m || !mask_of(w, i, other)) continue;
    require(!memcmp(mask, other, tsl_vocab_mask_words(r->vocab) * 4), way_names[i]);
    require(tsl_matcher_is_complete(w->m) == tsl_matcher_is_complete(r->ways[PLAIN].m),
            way_names[i]);
  }
}

static void accept(run *r, tsl_token t) {
  for (unsigned i = 0; i < WAYS; i++) {
    way *w = &r->ways[i];
    if (!w->m) continue;
    use(i);
    tsl_status status = tsl_matcher_accept(w->m, t);
    require(status == TSL_OK || status == TSL_ERR_LIMIT, "an allowed token is not accepted");
    if (status == TSL_OK && i == ROLLED)
      if ((status = tsl_matcher_rollback(w->m, 1)) == TSL_OK) status = tsl_matcher_accept(w->m, t);
    require(status == TSL_OK || status == TSL_ERR_LIMIT, "a token is not accepted again");
    if (status != TSL_OK) leave(w);
  }
}

static void walk(run *r, uint64_t seed) {
  uint32_t mask[WORDS], size = tsl_vocab_size(r->vocab);
  for (unsigned i = 0; i < WAYS; i++)
    if (r->ways[i].m) tsl_matcher_reset(r->ways[i].m);
  for (int i = 0; i < STEPS && r->ways[PLAIN].m; i++) {
    if (!mask_of(&r->ways[PLAIN], PLAIN, mask)) return;
    compare_masks(r, mask);
    if (!tsl_mask_count(mask, size)) return;
    seed += choose(&r->draws, 256);
    accept(r, choose_token(mask, size, &seed));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static tsl_vocab *vocab; /* the process ends with it */
  static run r;
  if (size < 2) return 0;
  if (!vocab) vocab = make_vocab();
  r = (run){.vocab = vocab, .options = data[0], .draws = {data + 1, data + size}};
  if (data[0] & 2) {
    const uint8_t *zero = memchr(data + 1, 0, size - 1);
    r.source.n = zero ? (size_t)(zero - data) - 1 : size - 1;
    if (r.source.n >= SCHEMA_MAX) return 0;
    memcpy(r.source.at, data + 1, r.source.n);
    r.draws.at = zero ? zero + 1 : data + size;
  } else {
    draw_root(&r.draws, &r.source);
  }
  if (r.source.full) return 0;
  for (unsigned i = 0; i < WAYS && (i == PLAIN || r.ways[PLAIN].m); i++) open_way(&r, i);
  for (uint64_t i = 0; r.ways[PLAIN].m && i < WALKS; i++) walk(&r, i + data[size - 1]);
  close_ways(&r);
  use(PLAIN);
  return 0;
}
