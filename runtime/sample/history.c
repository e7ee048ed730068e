/* history.c - the tokens so far, see history.h.
 *
 * Example   Tokens 5, 7, 5, 7, 9 with a window of 4: the first 5 has left the window. 7 counts
 *           twice, 5 and 9 once. A frequency penalty lowers the logit of 7 by twice what it takes
 *           from 5 and 9.
 * Tested by tests/sample/test_sampler_history.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sample/history.h"

#include <stdlib.h>

/* ---- counts ---------------------------------------------------------------------------------- */

void tsl__history_free(tsl__history *h, const tsl_allocator *a) {
  tsl__vec_free(a, &h->tokens);
  tsl__vec_free(a, &h->seen);
}

/* Where the token is, or would be. */
static size_t find(const tsl__history *h, tsl_token token) {
  size_t low = 0, high = h->seen.n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (h->seen.at[middle].token < token)
      low = middle + 1;
    else
      high = middle;
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

static int by_number(const void *p, const void *q) {
  const uint32_t a = *(const uint32_t *)p, b = *(const uint32_t *)q;
  return (a > b) - (a < b);
}

/* Counted once for all: one after the other, tokens of a prompt that come in a bad order would all
 * be moved by each. */
bool tsl__history_add_all(tsl__history *h, const tsl_allocator *a, const tsl_token *tokens,
                          size_t count) {
  size_t n = h->tokens.n + count, counted = h->window && h->window < n ? h->window : n,
         distinct = 0;
  tsl__words order = {0};
  if (!count) return true;
  bool room = tsl__vec_reserve(a, &h->tokens, count) && tsl__vec_reserve(a, &order, counted);
  if (room) {
    memcpy(h->tokens.at + h->tokens.n, tokens, count * sizeof *tokens);
    memcpy(order.at, h->tokens.at + n - counted, counted * sizeof *order.at);
    qsort(order.at, counted, sizeof *order.at, by_number);
    for (size_t i = 0; i < counted; i++) distinct += i == 0 || order.at[i] != order.at[i - 1];
    room = distinct <= h->seen.n || tsl__vec_reserve(a, &h->seen, distinct - h->seen.n);
  }
  if (room) {
    h->tokens.n = n;
    h->seen.n = 0;
    for (size_t i = 0; i < counted; i++) {
      if (i && order.at[i] == order.at[i - 1])
        h->seen.at[h->seen.n - 1].count++;
      else
        h->seen.at[h->seen.n++] = (tsl__seen){order.at[i], 1};
    }
  }
  tsl__vec_free(a, &order);
  return room;
}

/* The room for the token that comes back into the window was there when it left. */
void tsl__history_drop(tsl__history *h) {
  count_down(h, h->tokens.at[--h->tokens.n]);
  if (h->window && h->tokens.n >= h->window) count_up(h, h->tokens.at[h->tokens.n - h->window]);
}

void tsl__history_clear(tsl__history *h) { h->tokens.n = h->seen.n = h->prompt = 0; }

bool tsl__history_copy(const tsl__history *h, const tsl_allocator *a, tsl__history *to) {
  /* As much room as there: a token that comes back into the window must find it. */
  if (!tsl__vec_reserve(a, &to->tokens, h->tokens.n) ||
      !tsl__vec_reserve(a, &to->seen, h->seen.cap))
    return false;
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
    if (at[middle] < x)
      low = middle + 1;
    else
      high = middle;
  }
  return low < n && at[low] == x;
}

/* ---- what comes again ------------------------------------------------------------------------ */

/* The text's last n tokens read backwards: how many from each on, but the first, are as those from
 * the first on. */
static void find_common(const tsl__history *h, size_t n, uint32_t *common) {
  const tsl_token *last = h->tokens.at + h->tokens.n; /* last[-1 - j] is the text read backwards */
  size_t from = 0, to = 0;                            /* the common part that reaches farthest */
  for (size_t i = 1; i < n; i++) {
    size_t k = i < to ? (common[i - from] < to - i ? common[i - from] : to - i) : 0;
    while (i + k < n && last[-1 - (ptrdiff_t)k] == last[-1 - (ptrdiff_t)(i + k)]) k++;
    if (i + k > to) from = i, to = i + k;
    common[i] = (uint32_t)k;
  }
}

bool tsl__history_ngrams(const tsl__history *h, const tsl_allocator *a, size_t n,
                         tsl__words *common, tsl__words *tokens) {
  size_t length = h->tokens.n;
  common->n = 0;
  if (length == 0 || n > length) return true;
  const tsl_token *last = h->tokens.at + length;
  if (!tsl__vec_reserve(a, common, length) || !tsl__vec_reserve(a, tokens, length)) return false;
  find_common(h, length, common->at);
  for (size_t i = 1; i + n <= length + 1; i++) /* came after that place */
    if (n == 1 || common->at[i] + 1 >= n) tokens->at[tokens->n++] = last[-(ptrdiff_t)i];
  return true;
}

/* ---- repeats --------------------------------------------------------------------------------- */

void tsl__repeats_free(tsl__repeats *r, const tsl_allocator *a) {
  tsl__vec_free(a, &r->found);
  tsl__vec_free(a, &r->common);
}

/* By token, the longest first. */
static int compare_repeats(const void *p, const void *q) {
  const tsl__repeat *a = p, *b = q;
  if (a->token != b->token) return a->token < b->token ? -1 : 1;
  return (a->length < b->length) - (a->length > b->length);
}

static void keep_longest(tsl__repeats *r) {
  size_t n = 0;
  if (r->found.n > 1) qsort(r->found.at, r->found.n, sizeof *r->found.at, compare_repeats);
  for (size_t i = 0; i < r->found.n; i++)
    if (n == 0 || r->found.at[n - 1].token != r->found.at[i].token)
      r->found.at[n++] = r->found.at[i];
  r->found.n = n;
}

bool tsl__history_repeats(const tsl__history *h, const tsl_allocator *a, size_t window,
                          size_t least, const uint32_t *breakers, size_t breaker_count,
                          tsl__repeats *out) {
  size_t n = window && window < h->tokens.n ? window : h->tokens.n, limit = 0;
  out->found.n = out->common.n = 0;
  if (!n) return true;
  const tsl_token *last = h->tokens.at + h->tokens.n;
  while (limit < n && !tsl__sorted_has(breakers, breaker_count, last[-1 - (ptrdiff_t)limit]))
    limit++;
  if (!limit || !tsl__vec_reserve(a, &out->common, n)) return limit == 0;
  find_common(h, n, out->common.at);
  for (size_t i = 1; i < n; i++) {
    size_t common = out->common.at[i] < limit ? out->common.at[i] : limit;
    tsl__repeat r = {last[-(ptrdiff_t)i], (uint32_t)common}; /* came after that place */
    if (common < least || tsl__sorted_has(breakers, breaker_count, r.token)) continue;
    if (!tsl__vec_push(a, &out->found, r)) return false;
  }
  keep_longest(out);
  return true;
}
