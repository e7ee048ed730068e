/* forced.c - drafts that the grammar itself makes: the bytes that must come, as the tokens that the
 * model would have written.
 *
 * Problem   After `{"na` only `me":` can come. Spelled in tokens on their own, these bytes may give
 *           a sequence that the model never saw. Example: `na` and `me` where its tokenizer has one
 *           token `name`. From such a prefix models go on badly.
 * Idea      Encode the last tokens' text together with the forced bytes. Find the last boundary
 *           between tokens that the tail and that encoding share. The encoding's tokens after it
 *           are the drafts. The tail's tokens after it are to be rolled back. Tokens at the very
 *           end are left out if a longer token could replace them once the next byte is known. That
 *           is so where the text ends with the beginning of a longer token whose next byte is
 *           allowed.
 * Example   tail `{"`, `na`; forced `me":`. Canonical: `{"`, `name`, `":`. Both have the boundary
 *           after `{"`. So one token is rolled back and `name` is drafted. `":` is left out if `":
 *           ` is a token.
 * Tested by tests/decode/test_speculate.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/matcher/matcher.h"

#define FORCED_MAX 4096u /* bytes looked ahead */

typedef struct forced {
  tsl_matcher *m;
  TSL__VEC(uint8_t) text; /* of the tail and the forced bytes */
  size_t tail_bytes;
  TSL__VEC(tsl_token) ids; /* canonical */
} forced;

static size_t token_bytes(const tsl_vocab *v, tsl_token t) {
  return v->offsets[t + 1] - v->offsets[t];
}

/* The text of the tail after its last special token; *first is where that begins. */
static tsl_status read_tail(forced *f, const tsl_token *tail, size_t count, size_t *first) {
  const tsl_vocab *v = f->m->grammar->vocab;
  *first = count;
  for (size_t i = 0; i < count; i++)
    if (tail[i] >= v->size) return TSL_ERR_ARGUMENT;
  while (*first && !tsl_vocab_is_special(v, tail[*first - 1])) (*first)--;
  for (size_t i = *first; i < count; i++) {
    size_t n = token_bytes(v, tail[i]);
    if (!tsl__vec_reserve(&f->m->alloc, &f->text, n)) return TSL_ERR_NO_MEMORY;
    if (n) memcpy(f->text.at + f->text.n, v->bytes + v->offsets[tail[i]], n);
    f->text.n += n;
  }
  f->tail_bytes = f->text.n;
  return TSL_OK;
}

/* As far as a special token is no other way: spelled in others it is what the model never saw,
 * too. */
static tsl_status read_forced(forced *f) {
  size_t n;
  if (!tsl__vec_reserve(&f->m->alloc, &f->text, FORCED_MAX)) return TSL_ERR_NO_MEMORY;
  tsl_status status = tsl__matcher_forced(f->m, false, f->text.at + f->text.n, FORCED_MAX, &n);
  f->text.n += status == TSL_OK ? n : 0;
  return status;
}

/* Where in the text a token might begin that goes on past its end: the first such place, or the
 * end. */
static tsl_status open_suffix(const forced *f, size_t *begin) {
  tsl_grammar *g = f->m->grammar;
  const tsl__trie *trie = &g->vocab->trie;
  size_t n = f->text.n, longest = trie->nodes[0].height, accepted;
  tsl__bytes next = {{0}};
  tsl__space *space = tsl__grammar_lock(g);
  tsl__stack at =
      tsl__stack_bytes(space, f->m->at, f->text.at + f->tail_bytes, n - f->tail_bytes, &accepted);
  if (at) tsl__stack_next(space, at, &next);
  tsl_status status = tsl__grammar_unlock(g);
  for (*begin = n > longest ? n - longest : 0; *begin < n; (*begin)++) {
    uint32_t node = 0;
    size_t i = *begin;
    while (i < n && (node = tsl__trie_child(trie, node, f->text.at[i]))) i++;
    if (i < n) continue;
    const tsl__trie_node *t = &trie->nodes[node];
    for (uint32_t c = t->first_child; c < t->first_child + t->children; c++)
      if (tsl__bytes_has(&next, trie->nodes[c].byte)) return status;
  }
  return status;
}

static tsl_status encode(forced *f) {
  size_t n = 0;
  const tsl_vocab *v = f->m->grammar->vocab;
  tsl_status status = tsl__vocab_encode_own(v, f->text.at, f->text.n, NULL, 0, &n);
  if (status != TSL_OK && status != TSL_ERR_LIMIT) return status;
  if (!tsl__vec_reserve(&f->m->alloc, &f->ids, n)) return TSL_ERR_NO_MEMORY;
  status = tsl__vocab_encode_own(v, f->text.at, f->text.n, f->ids.at, n, &f->ids.n);
  return status;
}

/* The ids from `from` up to `to` are those that follow the boundary after `kept` tokens of the tail
 * and end where nothing is open. */
typedef struct cut {
  size_t kept, from, to;
} cut;

/* Find the last common boundary. A tokenizer that puts a space before the text has `shift` 1: its
 * ids spell that much more. */
static bool align(const forced *f, const tsl_token *tail, size_t count, size_t open, cut *out) {
  const tsl_vocab *v = f->m->grammar->vocab;
  size_t total = 0, shift, at = 0, id = 0, id_end = 0;
  bool found = false;
  for (size_t i = 0; i < f->ids.n; i++) total += token_bytes(v, f->ids.at[i]);
  if (total < f->text.n || total > f->text.n + 1) return false;
  shift = total - f->text.n;
  for (size_t kept = 0; kept <= count;
       at += kept < count ? token_bytes(v, tail[kept]) : 0, kept++) {
    while (id < f->ids.n && id_end < at + shift) id_end += token_bytes(v, f->ids.at[id++]);
    if (id_end != at + shift) continue;
    *out = (cut){kept, id, id};
    found = true;
  }
  size_t end = 0;
  for (size_t i = 0; i < out->from; i++) end += token_bytes(v, f->ids.at[i]);
  while (found && out->to < f->ids.n && end + token_bytes(v, f->ids.at[out->to]) <= open + shift)
    end += token_bytes(v, f->ids.at[out->to++]);
  return found && end > f->tail_bytes + shift; /* else nothing new is said */
}

static tsl_status draft(forced *f, const tsl_token *tail, size_t count, size_t *first, cut *out) {
  size_t open = 0;
  tsl_status status = read_tail(f, tail, count, first);
  if (status == TSL_OK) status = read_forced(f);
  if (status != TSL_OK || f->text.n == f->tail_bytes) return status;
  status = open_suffix(f, &open);
  if (status == TSL_OK && open > f->tail_bytes) status = encode(f);
  /* the tokenizer can't encode the text: there is nothing to draft */
  if (status == TSL_ERR_SYNTAX) return TSL_OK;
  if (status == TSL_OK &&
      !align(f, count > *first ? tail + *first : NULL, count - *first, open, out))
    *out = (cut){0};
  return status;
}

/* May these tokens be used in place of the last `back` ones? Not where one of those was read by
 * its name, or they are too many for what counts its tokens. */
static tsl_status may_replace(const tsl_matcher *m, size_t back, const tsl_token *tokens,
                              size_t count, bool *fine) {
  size_t valid = 0;
  tsl_matcher *other = NULL;
  *fine = !back || !(m->space->names_tokens || m->has_quotas);
  if (*fine || tsl_matcher_history(m) < back) return TSL_OK;
  tsl_status status = tsl_matcher_fork(m, &other);
  if (status == TSL_OK) status = tsl_matcher_rollback(other, back);
  if (status == TSL_OK) status = tsl_matcher_validate(other, tokens, count, &valid);
  *fine = valid == count;
  tsl_matcher_free(other);
  return status;
}

tsl_status tsl_matcher_draft_forced(tsl_matcher *m, const tsl_token *tail, size_t tail_count,
                                    size_t max_retract, tsl_token *tokens, size_t capacity,
                                    size_t *count, size_t *retract) {
  if (!m || !count || !retract || (tail_count && !tail) || (capacity && !tokens))
    return TSL_ERR_ARGUMENT;
  *count = *retract = 0;
  if (m->terminated || capacity == 0) return TSL_OK;
  forced f = {.m = m};
  cut c = {0};
  size_t first;
  tsl_status status = draft(&f, tail, tail_count, &first, &c);
  size_t back = tail_count - (status == TSL_OK ? first + c.kept : tail_count);
  size_t n = c.to - c.from < capacity ? c.to - c.from : capacity;
  bool fine = status == TSL_OK && n && back <= max_retract;
  if (fine) status = may_replace(m, back, f.ids.at + c.from, n, &fine);
  if (status == TSL_OK && fine) {
    *retract = back;
    *count = n;
    memcpy(tokens, f.ids.at + c.from, n * sizeof *tokens);
  }
  tsl__vec_free(&m->alloc, &f.text);
  tsl__vec_free(&m->alloc, &f.ids);
  return status;
}
