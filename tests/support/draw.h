/* draw.h - random texts under masks: of one grammar, or of two that should have the same ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_TESTS_SUPPORT_DRAW_H
#define TSL_TESTS_SUPPORT_DRAW_H

#include "tests/support/check.h"
#include "tests/support/accepted.h"
#include "tests/support/take.h"
#include "turnstile.h"

/* The grammar of a schema; of a regular expression, which begins with ^; or of a structural tag,
 * which begins with its type. */
static inline tsl_grammar *grammar_of(tsl_vocab *vocab, const char *text) {
  tsl_grammar *g = NULL;
  tsl_error error = {0};
  size_t n = strlen(text);
  bool tags = !strncmp(text, "{\"type\":\"structural_tag\"", 24);
  tsl_status status = *text == '^' ? tsl_grammar_regex(vocab, text, n, NULL, NULL, &g, &error)
                      : tags       ? tsl_grammar_tags(vocab, text, n, NULL, NULL, &g, &error)
                             : tsl_grammar_json_schema(vocab, text, n, NULL, NULL, &g, &error);
  CHECKF(status == TSL_OK, "%s: %s", text, error.message);
  return g;
}

/* The mask of a position beside every token by itself; `what` was compiled, `text` is what was read
 * of it. Is it right? *limit: it is too ambiguous, which is said and not wrong. */
static inline bool checked_mask(tsl_matcher *m, uint32_t *mask, const char *what, const char *text,
                                bool *limit) {
  tsl_status status = tsl_matcher_mask(m, mask);
  *limit = status == TSL_ERR_LIMIT;
  if (*limit) return false;
  CHECKF(status == TSL_OK, "%s: %s", what, tsl_status_name(status));
  bool right = status == TSL_OK && mask_is_right(m, mask, what, text);
  CHECK(right);
  return right;
}

/* A schema compiled twice: its masks are to be the same in both ways. */
typedef struct side_by_side {
  const char *schema, *begin; /* texts begin with `begin` */
  tsl_grammar *with, *without;
  int steps, each; /* tokens of a text; every `each` of them each token is tried */
  void (*turn)(tsl_grammar *g, bool with); /* called before the masks of either; may be NULL */
} side_by_side;

/* Walk through a random text of both at once. */
static inline void follow_both(const side_by_side *s, uint64_t seed) {
  tsl_matcher *m = NULL, *other = NULL;
  const tsl_vocab *vocab = tsl_grammar_vocab(s->with);
  size_t words = tsl_vocab_mask_words(vocab);
  uint32_t *mask = malloc(words * 4), *plain = malloc(words * 4);
  CHECK(mask && plain && tsl_matcher_new(s->with, NULL, &m) == TSL_OK &&
        tsl_matcher_new(s->without, NULL, &other) == TSL_OK);
  if (m && other)
    CHECK(tsl_matcher_accept_bytes(m, s->begin, strlen(s->begin), NULL) == TSL_OK &&
          tsl_matcher_accept_bytes(other, s->begin, strlen(s->begin), NULL) == TSL_OK);
  for (int step = 0; m && other && step < s->steps && !tsl_matcher_is_terminated(m); step++) {
    if (s->turn) s->turn(s->with, true);
    CHECK(tsl_matcher_mask(m, mask) == TSL_OK);
    if (s->turn) s->turn(s->without, false);
    CHECK(tsl_matcher_mask(other, plain) == TSL_OK);
    bool equal = !memcmp(mask, plain, words * 4);
    CHECKF(equal, "%s, seed %d, step %d", s->schema, (int)seed, step);
    tsl_token t = equal ? draw(mask, words * 32, &seed) : TSL_NO_TOKEN;
    if (t == TSL_NO_TOKEN) break;
    if (step % s->each == 0) CHECK(mask_is_right(m, mask, s->schema, s->begin));
    CHECK(tsl_matcher_accept(m, t) == TSL_OK && tsl_matcher_accept(other, t) == TSL_OK);
  }
  tsl_matcher_free(m);
  tsl_matcher_free(other);
  free(mask);
  free(plain);
}

#endif
