/* sampler_history.c - the tokens so far. See sampler_history.h.
 *
 * Tested by tests/test_sampler.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sampler_history.h"

/* ---- counts --------------------------------------------------------------------------------------------------- */

void tsl__history_free(tsl__history *h, const tsl_allocator *a) {
  tsl__vec_free(a, &h->tokens);
  tsl__vec_free(a, &h->seen);
}

/* Where the token is, or would be. */
static size_t find(const tsl__history *h, tsl_token token) {
  size_t low = 0, high = h->seen.n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (h->seen.at[middle].token < token) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* There is room for one more. */
static void count_up(tsl__history *h, tsl_token token) {
  size_t i = find(h, token);
  tsl__seen *at = h->seen.at + i;
  if (i < h->seen.n && at->token == token) {
    at->count++;
    return;
  }
  memmove(at + 1, at, (h->seen.n - i) * sizeof *at);
  *at = (tsl__seen){token, 1};
  h->seen.n++;
}

static void count_down(tsl__history *h, tsl_token token) {
  size_t i = find(h, token);
  tsl__seen *at = h->seen.at + i;
  if (--at->count) return;
  memmove(at, at + 1, (h->seen.n - i - 1) * sizeof *at);
  h->seen.n--;
}

bool tsl__history_add(tsl__history *h, const tsl_allocator *a, tsl_token token) {
  if (!tsl__vec_reserve(a, &h->tokens, 1) || !tsl__vec_reserve(a, &h->seen, 1)) return false;
  if (h->window && h->tokens.n >= h->window) count_down(h, h->tokens.at[h->tokens.n - h->window]);
  h->tokens.at[h->tokens.n++] = token;
  count_up(h, token);
  return true;
}

/* The room for the token that comes back into the window was there when it left. */
void tsl__history_drop(tsl__history *h) {
  count_down(h, h->tokens.at[--h->tokens.n]);
  if (h->window && h->tokens.n >= h->window) count_up(h, h->tokens.at[h->tokens.n - h->window]);
}

void tsl__history_clear(tsl__history *h) { h->tokens.n = h->seen.n = h->prompt = 0; }

bool tsl__history_copy(const tsl__history *h, const tsl_allocator *a, tsl__history *to) {
  /* As much room as there: a token that comes back into the window must find it. */
  if (!tsl__vec_reserve(a, &to->tokens, h->tokens.n) || !tsl__vec_reserve(a, &to->seen, h->seen.cap)) return false;
  if (h->tokens.n) memcpy(to->tokens.at, h->tokens.at, h->tokens.n * sizeof *h->tokens.at);
  if (h->seen.n) memcpy(to->seen.at, h->seen.at, h->seen.n * sizeof *h->seen.at);
  to->tokens.n = h->tokens.n;
  to->seen.n = h->seen.n;
  to->prompt = h->prompt;
  to->window = h->window;
  return true;
}

bool tsl__sorted_has(const uint32_t *at, size_t n, uint32_t x) {
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (at[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low < n && at[low] == x;
}

/* ---- n-grams -------------------------------------------------------------------------------------------------- */

bool tsl__history_ngrams(const tsl__history *h, const tsl_allocator *a, size_t n, tsl__words *tokens) {
  size_t length = h->tokens.n;
  const tsl_token *at = h->tokens.at;
  for (size_t i = 0; i + n <= length; i++) {
    if (n > 1 && memcmp(at + i, at + length - (n - 1), (n - 1) * sizeof *at)) continue;
    if (!tsl__vec_push(a, tokens, at[i + n - 1])) return false;
  }
  return true;
}

/* ---- repeats -------------------------------------------------------------------------------------------------- */

void tsl__repeats_free(tsl__repeats *r, const tsl_allocator *a) {
  tsl__vec_free(a, &r->found);
  tsl__vec_free(a, &r->common);
}

/* The longest for each token. */
static bool note(tsl__repeats *r, const tsl_allocator *a, tsl_token token, uint32_t length) {
  size_t low = 0, high = r->found.n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (r->found.at[middle].token < token) low = middle + 1;
    else high = middle;
  }
  if (low < r->found.n && r->found.at[low].token == token) {
    if (length > r->found.at[low].length) r->found.at[low].length = length;
    return true;
  }
  if (!tsl__vec_reserve(a, &r->found, 1)) return false;
  tsl__repeat *at = r->found.at + low;
  memmove(at + 1, at, (r->found.n - low) * sizeof *at);
  *at = (tsl__repeat){token, length};
  r->found.n++;
  return true;
}

bool tsl__history_repeats(const tsl__history *h, const tsl_allocator *a, size_t window, size_t least, const uint32_t *breakers,
                          size_t breaker_count, tsl__repeats *out) {
  size_t n = window && window < h->tokens.n ? window : h->tokens.n, limit = 0;
  out->found.n = out->common.n = 0;
  if (!n) return true;
  const tsl_token *last = h->tokens.at + h->tokens.n; /* last[-1 - j] is the text read backwards */
  while (limit < n && !tsl__sorted_has(breakers, breaker_count, last[-1 - (ptrdiff_t)limit])) limit++;
  if (!limit || !tsl__vec_reserve(a, &out->common, n)) return limit == 0;
  uint32_t *z = out->common.at;
  size_t from = 0, to = 0; /* the common part that reaches farthest */
  for (size_t i = 1; i < n; i++) {
    size_t k = i < to ? (z[i - from] < to - i ? z[i - from] : to - i) : 0;
    while (i + k < n && last[-1 - (ptrdiff_t)k] == last[-1 - (ptrdiff_t)(i + k)]) k++;
    if (i + k > to) from = i, to = i + k;
    z[i] = (uint32_t)k;
    size_t common = k < limit ? k : limit;
    tsl_token next = last[-(ptrdiff_t)i]; /* came after that place */
    if (common < least || tsl__sorted_has(breakers, breaker_count, next)) continue;
    if (!note(out, a, next, (uint32_t)common)) return false;
  }
  return true;
}
