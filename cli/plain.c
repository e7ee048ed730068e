/* plain.c - JSON as people would spell it. See plain.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/plain.h"

#include <string.h>

#define SEARCH_DEPTH 3u /* bytes */

static bool is_digit(uint8_t b) { return b >= '0' && b <= '9'; }

/* How much of ":12:" has been read after one more byte. */
static uint8_t clock_after(uint8_t clock, uint8_t b) {
  if (b == ':') return clock == 3 ? 4 : 1;
  return is_digit(b) && (clock == 1 || clock == 2) ? (uint8_t)(clock + 1) : 0;
}

/* Move on by a byte; false if the spelling is not plain. */
static bool step(plain_state *s, uint8_t b) {
  if (s->in_string) {
    bool plain = b != '\\' && !(s->clock == 4 && b == '6');
    s->clock = clock_after(s->clock, b);
    if (!s->escaped && b == '"') s->in_string = false;
    s->escaped = !s->escaped && b == '\\';
    return plain;
  }
  if (b == '"') {
    *s = (plain_state){.in_string = true};
    return true;
  }
  if (is_digit(b)) {
    s->in_number = true;
    if (s->exponent) return ++s->digits <= PLAIN_MAX_EXPONENT;
    s->decimals += s->fraction;
    return ++s->digits <= PLAIN_MAX_DIGITS && s->decimals <= PLAIN_MAX_DECIMALS;
  }
  if (s->in_number && b == '.') return s->fraction = true;
  if (s->exponent && (b == '-' || b == '+')) return true;
  bool exponent = s->in_number && (b == 'e' || b == 'E');
  *s = (plain_state){.in_number = exponent, .fraction = exponent, .exponent = exponent};
  return !exponent;
}

void plain_read(plain_state *state, const uint8_t *bytes, size_t length) {
  for (size_t i = 0; i < length; i++) step(state, bytes[i]);
}

static bool ends_here(tsl_matcher *matcher) {
  uint32_t set[8] = {0};
  bool ends = tsl_matcher_is_complete(matcher);
  if (tsl_matcher_next_bytes(matcher, set) == TSL_OK)
    for (const char *c = ",]} \n"; *c; c++) ends |= set[*c >> 5] >> (*c & 31) & 1;
  return ends;
}

/* Could a number that reads on like this end at once? */
static bool may_end_after(tsl_matcher *matcher, const char *bytes) {
  if (tsl_matcher_accept_bytes(matcher, bytes, strlen(bytes), NULL) != TSL_OK) return false;
  bool ends = ends_here(matcher);
  tsl_matcher_rollback(matcher, 1);
  return ends;
}

/* Can at most `depth` digits and one point end the number? Calls itself to that depth, at most
 * SEARCH_DEPTH. */
static bool ends_within(tsl_matcher *matcher, unsigned depth, bool fraction) {
  if (ends_here(matcher)) return true;
  if (!depth) return false;
  bool ends = false;
  for (const char *c = fraction ? "0123456789" : "0123456789."; *c && !ends; c++) {
    if (tsl_matcher_accept_bytes(matcher, c, 1, NULL) != TSL_OK) continue;
    ends = ends_within(matcher, depth - 1, fraction || *c == '.');
    tsl_matcher_rollback(matcher, 1);
  }
  return ends;
}

/* Can a row of one digit end it? */
static bool ends_after_row(tsl_matcher *matcher, char digit, unsigned most) {
  bool ends = false;
  unsigned n = 0;
  while (!ends && n < most && tsl_matcher_accept_bytes(matcher, &digit, 1, NULL) == TSL_OK) {
    n++;
    ends = ends_here(matcher);
  }
  tsl_matcher_rollback(matcher, n);
  return ends;
}

bool plain_can_end(const plain_state *state, tsl_matcher *matcher) {
  if (!state->in_number || state->digits > PLAIN_MAX_DIGITS) return true;
  unsigned left = PLAIN_MAX_DIGITS - state->digits;
  return ends_within(matcher, left < SEARCH_DEPTH ? left : SEARCH_DEPTH, state->fraction) ||
         ends_after_row(matcher, '0', left) || ends_after_row(matcher, '9', left);
}

/* May the number at hand get a fraction? One that has begun in an earlier token can be looked at
 * about. */
static bool fraction_is_plain(const plain_state *state, tsl_matcher *matcher) {
  if (!state->in_number || state->fraction) return false;
  return may_end_after(matcher, ".5") || may_end_after(matcher, ".1") ||
         may_end_after(matcher, ".01");
}

static bool token_is_plain(plain_state state, bool fraction, const uint8_t *bytes, size_t length) {
  bool same_number = state.in_number; /* still in the number that the token found */
  for (size_t i = 0; i < length; i++) {
    if (state.in_number && bytes[i] == '.' && !(same_number && fraction)) return false;
    if (!step(&state, bytes[i])) return false;
    same_number &= state.in_number;
  }
  return true;
}

void plain_filter(const plain_state *state, const tsl_vocab *vocab, tsl_matcher *matcher,
                  uint32_t *mask, uint32_t *scratch) {
  size_t words = tsl_vocab_mask_words(vocab);
  bool fraction = fraction_is_plain(state, matcher), any = false;
  memcpy(scratch, mask, words * sizeof *mask);
  for (tsl_token t = 0; t < tsl_vocab_size(vocab); t++) {
    if (!tsl_mask_has(mask, t)) continue;
    size_t length;
    const uint8_t *bytes = tsl_vocab_bytes(vocab, t, &length);
    if (tsl_vocab_is_special(vocab, t) || token_is_plain(*state, fraction, bytes, length))
      any = true;
    else
      scratch[t >> 5] &= ~(1u << (t & 31));
  }
  if (any) memcpy(mask, scratch, words * sizeof *mask);
}
