/* added.c - finding added tokens in text.
 *
 * A trie over their texts is tried at every place: the leftmost match counts, there the longest. A
 * token that must be a single word and is not is passed over with all its text, as HF does. White
 * space that a token takes along never reaches back into text that is dealt with. Where a token
 * took some along to its right, a token may still begin in it, as in HF.
 *
 * Tested by tests/tokenizer/test_encode.c, tests/vocab_files/test_vocab_files.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tokenizer/tokenizer.h"

static bool is_wanted(const tsl__added *token, const tsl__added_wanted *wanted) {
  return wanted->all || token->flags & TSL__ADDED_ALWAYS ||
         (wanted->own && !tsl_vocab_is_special(wanted->own, token->id));
}

static const tsl__added *longest(const tsl__bpe_tokenizer *t, const tsl__trie *trie,
                                 const tsl__added_wanted *wanted, const uint8_t *text,
                                 size_t length, size_t *found) {
  const tsl__added *added = t->tables.span[TSL__SPAN_ADDED].at, *best = NULL;
  uint32_t node = 0;
  for (size_t i = 0; i < length && (node = tsl__trie_child(trie, node, text[i])) != 0; i++) {
    const tsl__trie_node *n = &trie->nodes[node];
    if (n->own_end == n->begin || !is_wanted(&added[trie->order[n->begin]], wanted)) continue;
    best = &added[trie->order[n->begin]];
    *found = i + 1;
  }
  return best;
}

/* Unicode's White_Space. */
static bool is_space(uint32_t cp) {
  return (cp >= 9 && cp <= 13) || cp == 32 || cp == 0x85 || cp == 0xA0 || cp == 0x1680 ||
         (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029 || cp == 0x202F ||
         cp == 0x205F || cp == 0x3000;
}

static size_t point_before(const uint8_t *text, size_t at) {
  for (at--; at && (text[at] & 0xC0) == 0x80;) at--;
  return at;
}

static size_t strip_left(const uint8_t *text, size_t at, size_t done) {
  while (at > done) {
    size_t before = point_before(text, at);
    uint32_t cp;
    if (!tsl__utf8_decode(text + before, at - before, &cp) || !is_space(cp)) break;
    at = before;
  }
  return at;
}

static size_t strip_right(const uint8_t *text, size_t length, size_t at) {
  uint32_t cp;
  for (unsigned n;
       at < length && (n = tsl__utf8_decode(text + at, length - at, &cp)) && is_space(cp);)
    at += n;
  return at;
}

/* Is there a word character just before or just after text[begin … end)? */
static tsl_status touches_word(const tsl__bpe_tokenizer *t, tsl__encode_work *work,
                               const uint8_t *text, size_t length, size_t begin, size_t end,
                               bool *touches) {
  tsl_status status = TSL_OK;
  uint32_t cp;
  *touches = false;
  if (begin) {
    size_t before = point_before(text, begin);
    status = tsl__pattern_test(t->word, work, text + before, (uint32_t)(begin - before), touches);
  }
  if (status || *touches || end == length) return status;
  return tsl__pattern_test(t->word, work, text + end,
                           tsl__utf8_decode(text + end, length - end, &cp), touches);
}

tsl_status tsl__added_next(const tsl__bpe_tokenizer *t, tsl__encode_work *work,
                           const tsl__trie *trie, const tsl__added_wanted *wanted,
                           const uint8_t *text, size_t length, size_t done, size_t *scan,
                           tsl__added_match *match) {
  match->token = NULL;
  size_t at = *scan, found = 0;
  while (at < length) {
    const tsl__added *token = longest(t, trie, wanted, text + at, length - at, &found);
    if (!token) {
      at++;
      continue;
    }
    bool touches = false;
    tsl_status status = token->flags & TSL__ADDED_SINGLE_WORD
                            ? touches_word(t, work, text, length, at, at + found, &touches)
                            : TSL_OK;
    if (status) return status;
    *scan = at + found;
    if (!touches) {
      match->token = token;
      match->begin = at < done                          ? done
                     : token->flags & TSL__ADDED_LSTRIP ? strip_left(text, at, done)
                                                        : at;
      match->end = token->flags & TSL__ADDED_RSTRIP ? strip_right(text, length, *scan) : *scan;
      return TSL_OK;
    }
    at = *scan;
  }
  return TSL_OK;
}

const tsl__added *tsl__added_exact(const tsl__bpe_tokenizer *t, const uint8_t *text,
                                   size_t length) {
  const tsl__span *span = &t->tables.span[TSL__SPAN_ADDED];
  const tsl__added *added = span->at;
  const uint8_t *pool = tsl__tok_pool(&t->tables);
  for (size_t i = 0; i < span->size / sizeof *added; i++)
    if (added[i].text_length == length && !memcmp(pool + added[i].text, text, length))
      return &added[i];
  return NULL;
}
