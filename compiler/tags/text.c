/* text.c - constants, free text, and tries of begins. See tags.h.
 *
 * Problem   "<tool_call>" may be one special token of the vocabulary, or eleven bytes, or text
 *           with a special token within it. And what is free text must end where a trigger begins.
 * Constants A constant is cut into pieces: special tokens that it spells, and literals between
 *           them. The longest special token at a place counts. A piece that is a token is read as
 *           that token alone, since its text means something else to the model.
 * Example   "a<e>b" with the special token <e> (7): the literal "a", token 7, the literal "b".
 *           With no such token it is one literal of five bytes.
 * Exactness Free text up to the first trigger T is free · T, which can be cut in one way only,
 *           unless T overlaps itself (aa in aaa) or another trigger (ab and bc in abc). Then it is
 *           (free · T) & !(.* T .+): what ends first counts. Triggers that spell special tokens
 *           are left as free · T: their tokens are no text.
 * Tries     Begins of many tags share their first bytes: <function=a> and <function=b> are
 *           "<function=" ("a>" … | "b>" …). `trie` takes sorted begins, cuts off what all agree
 *           on, and splits by the next byte. A cut never falls within a special token: with the
 *           token <function the common part ends in front of it, or behind it.
 * The end   A constant that spells an end-of-generation token may be left out: the token itself
 *           comes then, after the text, and the host sees it. A trigger may not.
 * Memory    The last few constants are remembered, as many tags end alike.
 * Cost      Linear in the texts, times a look into the trie of special tokens at each byte.
 * Tested by tests/tags/test_tags.c, tests/tags/test_tags_built.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "compiler/tags/tags.h"

/* ---- special tokens in constant text --------------------------------------------------------- */

/* The longest special token that the text begins with, TSL_NO_TOKEN if there is none. */
static tsl_token special_at(const tsl__captures *m, const char *at, size_t n, uint32_t *length) {
  tsl_token best = TSL_NO_TOKEN;
  uint32_t lo = 0, hi = m->special_texts.n;
  *length = 0;
  if (!tsl__bytes_has(&m->special_first, (uint8_t)at[0])) return TSL_NO_TOKEN;
  for (uint32_t i = 0; i < n && tsl__strings_narrow(&m->special_texts, &lo, &hi, i, (uint8_t)at[i]);
       i++) {
    if (m->special_texts.at[lo].length != i + 1) continue;
    *length = i + 1;
    best = m->specials[lo];
  }
  return best;
}

bool tsl__tags_names_tokens(tsl__tags_lowering *l, tsl__string text) {
  uint32_t length;
  for (uint32_t i = 0; i < text.length; i++)
    if (special_at(l->captures, text.at + i, text.length - i, &length) != TSL_NO_TOKEN) return true;
  return false;
}

/* The end of the piece that begins at `from`: one special token (*token), or literal text up to the
 * next one. */
static uint32_t piece_end(const tsl__captures *m, tsl__string text, uint32_t from,
                          tsl_token *token) {
  uint32_t length, to = from;
  *token = special_at(m, text.at + from, text.length - from, &length);
  if (*token != TSL_NO_TOKEN) return from + length;
  while (++to < text.length &&
         special_at(m, text.at + to, text.length - to, &length) == TSL_NO_TOKEN)
    continue;
  return to;
}

/* `whole`: what ends a generation is not left out. */
static tsl__expr constant(const tsl__captures *m, tsl__string text, bool whole) {
  tsl__expr all = TSL__EPS;
  for (uint32_t from = 0, to; from < text.length; from = to) {
    tsl_token token;
    to = piece_end(m, text, from, &token);
    bool ends = token != TSL_NO_TOKEN && tsl_vocab_is_eog(m->vocab, token);
    tsl__expr piece = tsl__expr_literal(m->x, text.at + from, to - from);
    if (token != TSL_NO_TOKEN && !(ends && whole))
      piece = tsl__expr_alt(m->x, piece, ends ? TSL__EPS : tsl__expr_token(m->x, &token, 1, false));
    all = tsl__expr_seq(m->x, all, piece);
  }
  return all;
}

tsl__expr tsl__captures_constant(const tsl__captures *m, tsl__string text) {
  return constant(m, text, false);
}

tsl_token tsl__tags_across(const tsl__tags_lowering *l, tsl__string text, uint32_t at,
                           uint32_t *from, uint32_t *to) {
  uint32_t length;
  for (*from = 0; *from < at; *from += length ? length : 1) {
    tsl_token token = special_at(l->captures, text.at + *from, text.length - *from, &length);
    *to = *from + length;
    if (token != TSL_NO_TOKEN && *to > at)
      return tsl_vocab_is_eog(l->captures->vocab, token) ? TSL_NO_TOKEN : token;
  }
  return TSL_NO_TOKEN;
}

/* Many tags end alike: the last few constants are remembered. Their texts live as long as the
 * tree. */
tsl__expr tsl__tags_constant(tsl__tags_lowering *l, tsl__string text) {
  if (!text.length) return TSL__EPS;
  for (uint32_t i = 0; i < TSL__CONSTANTS && i < l->constant_count; i++)
    if (l->constants[i].text.length == text.length &&
        !memcmp(l->constants[i].text.at, text.at, text.length))
      return l->constants[i].e;
  tsl__expr e = tsl__captures_constant(l->captures, text);
  l->constants[l->constant_count++ % TSL__CONSTANTS] = (struct tsl__constant){text, e};
  return e;
}

/* ---- bare strings ---------------------------------------------------------------------------- */

static tsl__expr without(tsl__exprs *x, tsl__expr text, const char *close) {
  tsl__bytes alphabet;
  tsl__expr_alphabet(x, text, &alphabet);
  if (!*close || !tsl__bytes_has(&alphabet, (uint8_t)close[0])) return text;
  tsl__expr any = tsl__expr_text(x),
            holding = tsl__expr_seq(
                x, any, tsl__expr_seq(x, tsl__expr_literal(x, close, strlen(close)), any)),
            rest = tsl__expr_text_not(x, holding);
  return text == any ? rest : tsl__expr_and(x, text, rest);
}

tsl__expr tsl__captures_without(tsl__captures *m, tsl__expr text, const char *close) {
  uint64_t hash = tsl__mix(text);
  tsl__index_iter it = tsl__index_first(&m->bare_index, hash);
  for (uint32_t i; (i = tsl__index_next(&it)) != UINT32_MAX;)
    if (m->bares.at[i].text == text && m->bares.at[i].close == close) return m->bares.at[i].e;
  tsl__bare b = {text, close, without(m->x, text, close)};
  if (b.e == TSL__NONE ||
      (tsl__vec_push(m->alloc, &m->bares, b) &&
       tsl__index_add(&m->bare_index, m->alloc, hash, (uint32_t)m->bares.n - 1)))
    return b.e;
  tsl__exprs_fail(m->x, TSL_ERR_NO_MEMORY, "out of memory");
  return TSL__NONE;
}

/* ---- free text ------------------------------------------------------------------------------- */

static tsl__expr one_of(tsl__tags_lowering *l, const tsl__string *strings, uint32_t n) {
  tsl__expr *all = tsl__tags_alloc(l->tags, n * sizeof *all + 1);
  for (uint32_t i = 0; all && i < n; i++)
    all[i] = tsl__expr_literal(l->x, strings[i].at, strings[i].length);
  return all && n ? tsl__expr_alt_n(l->x, all, n) : TSL__NONE;
}

tsl__expr tsl__tags_free_text(tsl__tags_lowering *l, const tsl__string *without, uint32_t n,
                              uint32_t max_chars) {
  tsl__exprs *x = l->x;
  tsl__expr text = tsl__expr_text(x), all = text;
  if (n)
    all = tsl__expr_text_not(x,
                             tsl__expr_seq(x, text, tsl__expr_seq(x, one_of(l, without, n), text)));
  return max_chars == TSL__INF
             ? all
             : tsl__expr_and(x, all, tsl__expr_repeat(x, tsl__expr_any_char(x), 0, max_chars));
}

bool tsl__tags_cut(tsl__tags_lowering *l, const tsl__string *without, uint32_t n, uint32_t stops,
                   tsl__cut *out) {
  uint8_t *apart = tsl__tags_apart(l, without, stops);
  *out = (tsl__cut){.text = tsl__tags_free_text(l, without, n, TSL__INF),
                    .late = TSL__NONE,
                    .apart = apart,
                    .stops = without,
                    .count = stops,
                    .excludes = n > stops};
  return apart != NULL;
}

tsl__expr tsl__tags_until(tsl__tags_lowering *l, tsl__cut *cut, uint32_t end, bool trigger) {
  tsl__exprs *x = l->x;
  tsl__expr all = tsl__expr_seq(x, cut->text,
                                trigger ? constant(l->captures, cut->stops[end], true)
                                        : tsl__tags_constant(l, cut->stops[end]));
  if (cut->apart[end] == TSL__STOP_APART || tsl__tags_names_tokens(l, cut->stops[end])) return all;
  if (cut->apart[end] == TSL__STOP_NEVER) return TSL__NONE;
  if (cut->late == TSL__NONE) {
    tsl__bytes every = {{~0ull, ~0ull, ~0ull, ~0ull}};
    tsl__expr any = tsl__expr_bytes(x, &every), hit = tsl__expr_star(x, any);
    hit = tsl__expr_seq(x, hit, one_of(l, cut->stops, cut->count));
    cut->late = tsl__expr_not(x, tsl__expr_seq(x, hit, tsl__expr_repeat(x, any, 1, TSL__INF)));
  }
  return tsl__expr_and_some(x, all, cut->late); /* the string itself is such a text */
}

bool tsl__tags_is_plain(tsl__tags_lowering *l, const tsl__cut *cut, uint32_t stop) {
  return cut->apart[stop] == TSL__STOP_APART && !tsl__tags_names_tokens(l, cut->stops[stop]);
}

/* ---- tries ----------------------------------------------------------------------------------- */

typedef struct branch {
  tsl__string text;
  tsl__expr then;
} branch;

static int by_text(const void *a, const void *b) {
  return tsl__tags_order(((const branch *)a)->text, ((const branch *)b)->text);
}

/* How many bytes from `skip` on all agree on, cut so that no special token is split. That holds of
 * those between the first and the last, too, which may have one where these two have none. */
static uint32_t common(const tsl__tags_lowering *l, const branch *at, uint32_t n, uint32_t skip) {
  tsl__string a = at[0].text, b = at[n - 1].text;
  uint32_t whole = skip;
  while (whole < a.length && whole < b.length && a.at[whole] == b.at[whole]) whole++;
  for (uint32_t i = 0; i < n && whole > skip; i++)
    for (uint32_t from = skip, length; from < whole; from += length ? length : 1)
      if (special_at(l->captures, at[i].text.at + from, at[i].text.length - from, &length) !=
              TSL_NO_TOKEN &&
          length > whole - from)
        whole = from;
  return whole - skip;
}

static tsl__expr leaf(tsl__tags_lowering *l, const branch *b, uint32_t skip) {
  tsl__string rest = {b->text.at + skip, b->text.length - skip};
  return tsl__expr_seq(l->x, tsl__tags_constant(l, rest), b->then);
}

/* Sorted branches that agree on the first `skip` bytes. Depth: each level takes at least a byte of
 * the begins; long common parts are one level. */
static tsl__expr trie(tsl__tags_lowering *l, const branch *at, uint32_t n, uint32_t skip) {
  tsl__expr all = TSL__NONE;
  if (n == 1) return leaf(l, at, skip);
  uint32_t same = common(l, at, n, skip);
  if (same) {
    tsl__string head = {at->text.at + skip, same};
    tsl__expr begin = tsl__tags_constant(l, head);
    return tsl__expr_seq(l->x, begin, trie(l, at, n, skip + same));
  }
  for (uint32_t from = 0, to; from < n; from = to) {
    to = from + 1;
    bool over = at[from].text.length == skip;
    while (!over && to < n && at[to].text.at[skip] == at[from].text.at[skip]) to++;
    if (to - from < n && !over) {
      all = tsl__expr_alt(l->x, all, trie(l, at + from, to - from, skip));
    } else {
      /* a token that some spell and some do not */
      for (uint32_t i = from; i < to; i++) all = tsl__expr_alt(l->x, all, leaf(l, &at[i], skip));
    }
  }
  return all;
}

tsl__expr tsl__tags_trie(tsl__tags_lowering *l, tsl__string *texts, tsl__expr *then, uint32_t n,
                         uint32_t skip) {
  branch *at = tsl__tags_alloc(l->tags, n * sizeof *at + 1);
  if (!at || !n) return TSL__NONE;
  for (uint32_t i = 0; i < n; i++) at[i] = (branch){texts[i], then[i]};
  qsort(at, n, sizeof *at, by_text);
  return trie(l, at, n, skip);
}
