/* encode.c - the tokenizer: from tables to a working object, and text to ids.
 *
 * Order     What text meets: (1) the beginning-of-sequence tokens, if wanted. (2) Stretches of
 *           valid UTF-8, with invalid bytes between. In each stretch (3) added tokens in raw text,
 *           those that are wanted. Between those (4) the normaliser. (5) Added tokens in normalised
 *           text, those that are wanted. Between those (6) the pre-tokeniser, and (7) merges in
 *           each piece.
 * Wanted    With TSL_ENCODE_SPECIAL all. Else those that the file's own encoder looks for in any
 *           text: the user symbols of SentencePiece and GGUF.
 * Invalid   A byte that is not part of valid UTF-8 becomes the token of that byte, on its own. The
 *           stretches left and right of it know nothing of each other. A vocabulary without a token
 *           for that byte: TSL_ERR_SYNTAX.
 * Example   "a<|x|>é" with special tokens, and a byte 0xFF behind: one stretch of valid UTF-8, then
 *           the byte. In the stretch <|x|> is found in raw text, so that "a" and "é" are segments.
 *           Each is normalised, cut into pieces and merged. Then comes the token of byte 0xFF.
 * Limits    2^30 bytes between two added tokens or invalid bytes, before and after normalising:
 *           TSL_ERR_LIMIT.
 *
 * Tested by tests/tokenizer/test_encode.c, tests/vocab_files/test_vocab_files.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tokenizer/tokenizer.h"

/* One call. */
typedef struct call {
  const tsl__bpe_tokenizer *t;
  const tsl_vocab *vocab;
  tsl__added_wanted wanted;
  tsl__id_sink sink;
  tsl__encode_work work;
} call;

/* ---- from text to ids ------------------------------------------------------------------------ */

/* The whole text as one piece, from which the steps begin. They may make at most so many bytes of
 * it: a REPLACE in a file of a stranger could make gigabytes. */
static tsl_status set_piece(tsl__encode_work *w, const uint8_t *text, size_t length) {
  tsl__pieces *p = &w->pieces[0];
  p->bytes.n = p->ends.n = 0;
  if (length > TSL__MAX_SEGMENT) return TSL_ERR_LIMIT;
  w->most = (uint64_t)length * TSL__MAX_GROWTH + TSL__FREE_GROWTH < TSL__MAX_SEGMENT
                ? length * TSL__MAX_GROWTH + TSL__FREE_GROWTH
                : TSL__MAX_SEGMENT;
  if (!tsl__vec_reserve(w->alloc, &p->bytes, length) ||
      !tsl__vec_push(w->alloc, &p->ends, (uint32_t)length))
    return TSL_ERR_NO_MEMORY;
  if (length) memcpy(p->bytes.at, text, length);
  p->bytes.n = length;
  return TSL_OK;
}

/* Pre-tokenise and merge what is in pieces[0]. */
static tsl_status encode_normalised(call *c, bool at_start) {
  tsl_status status = tsl__steps_run(c->t, &c->work, false, at_start);
  const tsl__pieces *p = &c->work.pieces[0];
  for (size_t i = 0, begin = 0; !status && i < p->ends.n; begin = p->ends.at[i++]) {
    if (p->ends.at[i] == begin) continue;
    status = tsl__bpe(c->t, c->vocab, p->bytes.at + begin, p->ends.at[i] - (uint32_t)begin,
                      &c->work, &c->sink);
  }
  return status;
}

/* May the trie have a token that is wanted? */
static bool looks(const call *c, const tsl__trie *trie, bool always) {
  return trie->order_count && (c->wanted.all || c->wanted.own || always);
}

/* Text between two added tokens of the normalised kind. */
static tsl_status encode_part(call *c, const uint8_t *text, size_t length, bool at_start) {
  if (!length) return TSL_OK;
  tsl_status status = set_piece(&c->work, text, length);
  return status ? status : encode_normalised(c, at_start);
}

/* Text between two added tokens of the raw kind. */
static tsl_status encode_segment(call *c, const uint8_t *text, size_t length, bool at_start) {
  if (!length) return TSL_OK;
  tsl_status status = set_piece(&c->work, text, length);
  if (!status) status = tsl__steps_run(c->t, &c->work, true, at_start);
  if (status) return status;
  if (!looks(c, &c->t->normalised, c->t->normalised_always)) return encode_normalised(c, at_start);
  tsl__pieces *p = &c->work.pieces[0];
  c->work.normalised.n = 0;
  if (!tsl__vec_reserve(c->work.alloc, &c->work.normalised, p->bytes.n)) return TSL_ERR_NO_MEMORY;
  if (p->bytes.n) memcpy(c->work.normalised.at, p->bytes.at, p->bytes.n);
  c->work.normalised.n = p->bytes.n;
  const uint8_t *s = c->work.normalised.at;
  size_t n = c->work.normalised.n, done = 0, scan = 0;
  tsl__added_match match;
  while (!(status = tsl__added_next(c->t, &c->work, &c->t->normalised, &c->wanted, s, n, done,
                                    &scan, &match)) &&
         match.token) {
    status = encode_part(c, s + done, match.begin - done, at_start && !done);
    if (status) return status;
    tsl__id_put(&c->sink, match.token->id);
    done = match.end;
  }
  return status ? status : encode_part(c, s + done, n - done, at_start && !done);
}

/* Valid UTF-8. */
static tsl_status encode_stretch(call *c, const uint8_t *text, size_t length, bool at_start) {
  size_t done = 0, scan = 0;
  tsl_status status = TSL_OK;
  tsl__added_match match;
  while (looks(c, &c->t->raw, c->t->raw_always) &&
         !(status = tsl__added_next(c->t, &c->work, &c->t->raw, &c->wanted, text, length, done,
                                    &scan, &match)) &&
         match.token) {
    status = encode_segment(c, text + done, match.begin - done, at_start && !done);
    if (status) return status;
    tsl__id_put(&c->sink, match.token->id);
    done = match.end;
  }
  return status ? status : encode_segment(c, text + done, length - done, at_start && !done);
}

/* The length of the valid UTF-8 that text begins with. */
static size_t valid_length(const uint8_t *text, size_t length) {
  size_t at = 0;
  for (unsigned n = 1; at < length; at += n) {
    uint32_t cp;
    n = 1;
    if (text[at] >= 0x80 && !(n = tsl__utf8_decode(text + at, length - at, &cp))) break;
  }
  return at;
}

/* Stretches of valid UTF-8, and single bytes between them. */
static tsl_status encode_text(call *c, const uint8_t *text, size_t length) {
  for (size_t at = 0; at < length;) {
    size_t n = valid_length(text + at, length - at);
    tsl_status status = encode_stretch(c, text + at, n, !at);
    if (status) return status;
    at += n;
    if (at == length) break;
    tsl_token id = tsl__tok_facts_of(&c->t->tables)->bytes[text[at++]];
    if (id == TSL_NO_TOKEN) return TSL_ERR_SYNTAX;
    tsl__id_put(&c->sink, id);
  }
  return TSL_OK;
}

/* tsl_vocab_encode: what does not fit into `ids` is counted only, so that a caller learns the room
 * that it needs. */
static tsl_status op_encode(const tsl__tokenizer *base, const tsl_vocab *vocab, const char *text,
                            size_t length, uint32_t flags, tsl_token *ids, size_t capacity,
                            size_t *count) {
  const tsl__bpe_tokenizer *t = (const tsl__bpe_tokenizer *)base;
  call c = {.t = t,
            .vocab = vocab,
            .wanted = {.all = flags & TSL_ENCODE_SPECIAL,
                       .own = flags & TSL__ENCODE_OWN_ADDED ? vocab : NULL},
            .sink = {ids, capacity, 0},
            .work.alloc = &t->alloc};
  tsl_status status = TSL_OK;
  if (tsl__tok_facts_of(&t->tables)->units == TSL__UNITS_NONE && !(flags & TSL__ENCODE_ONE_ADDED))
    return TSL_ERR_UNSUPPORTED;
  if (flags & TSL__ENCODE_ONE_ADDED) {
    const tsl__added *added = tsl__added_exact(t, (const uint8_t *)text, length);
    if (added) tsl__id_put(&c.sink, added->id);
  } else {
    const tsl__span *bos = &t->tables.span[TSL__SPAN_BOS];
    for (size_t i = 0; flags & TSL_ENCODE_BOS && i < bos->size / sizeof(tsl_token); i++)
      tsl__id_put(&c.sink, ((const tsl_token *)bos->at)[i]);
    status = encode_text(&c, (const uint8_t *)text, length);
  }
  tsl__work_free(&c.work);
  if (status) return status;
  *count = c.sink.count;
  return c.sink.count > capacity ? TSL_ERR_LIMIT : TSL_OK;
}

/* ---- the object ------------------------------------------------------------------------------ */

static size_t count_steps(const tsl__tok_tables *t) {
  return t->span[TSL__SPAN_STEPS].size / sizeof(tsl__step);
}

static void free_tokenizer(tsl__bpe_tokenizer *t) {
  tsl_allocator a = t->alloc;
  size_t steps = count_steps(&t->tables);
  for (size_t i = 0; t->patterns && i < steps; i++) tsl__pattern_free(t->patterns[i], &a);
  tsl__free(&a, t->patterns, (steps + 1) * sizeof *t->patterns);
  tsl__pattern_free(t->word, &a);
  tsl__trie_free(&t->raw, &a);
  tsl__trie_free(&t->normalised, &a);
  tsl__free(&a, t, sizeof *t);
}

/* The tables are the tokenizer's own unless they lie in the mapped file. */
static void op_free(tsl__tokenizer *base) {
  tsl__bpe_tokenizer *t = (tsl__bpe_tokenizer *)base;
  tsl__tok_tables tables = t->tables;
  tsl_allocator a = t->alloc;
  bool mapped = t->mapped;
  free_tokenizer(t);
  if (!mapped) tsl__tok_tables_free(&tables, &a);
}

static size_t trie_memory(const tsl__trie *t) {
  return t->node_count * sizeof *t->nodes + t->order_count * sizeof *t->order +
         t->set_count * sizeof *t->sets;
}

static size_t op_memory(const tsl__tokenizer *base) {
  const tsl__bpe_tokenizer *t = (const tsl__bpe_tokenizer *)base;
  size_t steps = count_steps(&t->tables), total = sizeof *t + (steps + 1) * sizeof *t->patterns +
                                                  trie_memory(&t->raw) +
                                                  trie_memory(&t->normalised);
  for (size_t i = 0; !t->mapped && i < TSL__SPAN_COUNT; i++) total += t->tables.span[i].size;
  for (size_t i = 0; i < steps; i++)
    total += t->patterns[i] ? tsl__pattern_memory(t->patterns[i]) : 0;
  return total + (t->word ? tsl__pattern_memory(t->word) : 0);
}

static const tsl__tokenizer_ops ops = {op_encode, op_free, op_memory};

/* PCRE2 reads text unchecked, so nothing that gets into it may spoil its UTF-8. */
static bool is_text(const tsl__bpe_tokenizer *t, uint32_t at, uint32_t length) {
  const uint8_t *pool = tsl__tok_pool(&t->tables);
  return valid_length(pool + at, length) == length;
}

static bool all_text(const tsl__bpe_tokenizer *t) {
  const tsl__step *steps = t->tables.span[TSL__SPAN_STEPS].at;
  const tsl__added *added = t->tables.span[TSL__SPAN_ADDED].at;
  for (size_t i = 0; i < count_steps(&t->tables); i++)
    if (!is_text(t, steps[i].text, steps[i].text_length) ||
        !is_text(t, steps[i].content, steps[i].content_length))
      return false;
  for (size_t i = 0; i < t->tables.span[TSL__SPAN_ADDED].size / sizeof *added; i++)
    if (!is_text(t, added[i].text, added[i].text_length)) return false;
  return true;
}

/* One compiled pattern for each step that splits by one; the others have NULL. */
static tsl_status make_patterns(tsl__bpe_tokenizer *t, tsl_error *error) {
  const tsl__step *steps = t->tables.span[TSL__SPAN_STEPS].at;
  const char *pool = (const char *)tsl__tok_pool(&t->tables);
  size_t n = count_steps(&t->tables);
  t->patterns = tsl__alloc_zero(&t->alloc, (n + 1) * sizeof *t->patterns);
  if (!t->patterns) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  for (size_t i = 0; i < n; i++) {
    if (steps[i].kind != TSL__STEP_SPLIT_REGEX) continue;
    tsl_status status = tsl__pattern_new(pool + steps[i].text, steps[i].text_length,
                                         steps[i].dialect, &t->alloc, &t->patterns[i], error);
    if (status) return status;
  }
  return TSL_OK;
}

/* The texts of the added tokens, those of the normalised kind normalised, gathered in
 * `w->normalised` with their ends in `w->marks`. */
static tsl_status gather_added(const tsl__bpe_tokenizer *t, tsl__encode_work *w) {
  const tsl__span *span = &t->tables.span[TSL__SPAN_ADDED];
  const tsl__added *added = span->at;
  const uint8_t *pool = tsl__tok_pool(&t->tables);
  if (!tsl__vec_push(w->alloc, &w->marks, 0)) return TSL_ERR_NO_MEMORY;
  for (size_t i = 0; i < span->size / sizeof *added; i++) {
    tsl_status status = set_piece(w, pool + added[i].text, added[i].text_length);
    if (!status &&
        (added[i].flags & (TSL__ADDED_NORMALIZED | TSL__ADDED_ALWAYS)) == TSL__ADDED_NORMALIZED)
      status = tsl__steps_run(t, w, true, false);
    if (status) return status;
    const tsl__pieces *p = &w->pieces[0];
    if (!tsl__vec_reserve(w->alloc, &w->normalised, p->bytes.n)) return TSL_ERR_NO_MEMORY;
    if (p->bytes.n) memcpy(w->normalised.at + w->normalised.n, p->bytes.at, p->bytes.n);
    w->normalised.n += p->bytes.n;
    if (w->normalised.n > UINT32_MAX) return TSL_ERR_LIMIT;
    if (!tsl__vec_push(w->alloc, &w->marks, (uint32_t)w->normalised.n)) return TSL_ERR_NO_MEMORY;
  }
  return TSL_OK;
}

/* Two tries over the added tokens: those that are looked for in raw text, and those in normalised
 * text. */
static tsl_status make_tries(tsl__bpe_tokenizer *t, tsl__encode_work *w) {
  const tsl__added *added = t->tables.span[TSL__SPAN_ADDED].at;
  uint32_t n = (uint32_t)(t->tables.span[TSL__SPAN_ADDED].size / sizeof *added);
  tsl_status status = gather_added(t, w);
  uint8_t *skip = status ? NULL : tsl__alloc(&t->alloc, (size_t)n + 1);
  if (!skip) return status ? status : TSL_ERR_NO_MEMORY;
  uint32_t flags[2] = {0}; /* of all tokens of a trie */
  for (int normalised = 0; normalised < 2 && !status; normalised++) {
    for (uint32_t i = 0; i < n; i++) {
      skip[i] = ((added[i].flags & TSL__ADDED_NORMALIZED) != 0) != normalised;
      flags[normalised] |= skip[i] ? 0 : added[i].flags;
    }
    status = tsl__trie_build(normalised ? &t->normalised : &t->raw, &t->alloc, w->normalised.at,
                             w->marks.at, n, skip);
  }
  tsl__free(&t->alloc, skip, (size_t)n + 1);
  t->raw_always = flags[0] & TSL__ADDED_ALWAYS;
  t->normalised_always = flags[1] & TSL__ADDED_ALWAYS;
  if (!status && (flags[0] | flags[1]) & TSL__ADDED_SINGLE_WORD)
    status = tsl__pattern_new("\\w", 2, TSL__DIALECT_RUST, &t->alloc, &t->word, NULL);
  return status;
}

static tsl_status find_added(tsl__bpe_tokenizer *t, tsl_error *error) {
  tsl__encode_work w = {.alloc = &t->alloc};
  tsl_status status = make_tries(t, &w);
  tsl__work_free(&w);
  if (!status) return TSL_OK;
  return tsl__fail(error, status, "%s",
                   status == TSL_ERR_NO_MEMORY
                       ? "out of memory"
                       : "an added token's text is longer than 1,024 bytes (TSL_MAX_TOKEN_BYTES)");
}

tsl_status tsl__tokenizer_new(const tsl__tok_tables *tables, bool mapped, const tsl_allocator *a,
                              tsl__bpe_tokenizer **out, tsl_error *error) {
  *out = NULL;
  tsl__bpe_tokenizer *t = tsl__alloc_zero(a, sizeof *t);
  if (!t) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  t->base.ops = &ops;
  t->alloc = *a;
  t->tables = *tables;
  t->mapped = mapped;
  tsl_status status =
      all_text(t) ? make_patterns(t, error)
                  : tsl__fail(error, TSL_ERR_FORMAT, "a text in the tokenizer is not valid UTF-8");
  if (!status) status = find_added(t, error);
  if (status)
    free_tokenizer(t);
  else
    *out = t;
  return status;
}
