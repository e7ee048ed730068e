/* structure.c - which tokens penalties spare. The essay is in structure.h.
 *
 * Steps     tsl__structure_find goes through the tokens under the grammar's lock. It follows each
 *           token's bytes (writes_content) until one is content. Which bytes are content at a
 *           position is kept, and looked up there (content_at).
 * Example   At `{"id": 1` the first byte of the token `1` is content: the token is not spared,
 *           after one look-up. `}, {` is followed over three positions, none of which has content.
 * Tested by tests/sample/test_structure.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sample/structure.h"

#include "runtime/position/content.h"

#define PIECE 64u /* tokens: the step budget is for a piece of so many */

void tsl__structure_free(tsl__structure *s, const tsl_allocator *a) {
  if (s->grammar) tsl_grammar_release(s->grammar);
  tsl__free(a, s->kept, s->kept ? TSL__STRUCTURE_KEPT * sizeof *s->kept : 0);
  tsl__vec_free(a, &s->spared);
  *s = (tsl__structure){0};
}

/* From here on keep content for the tables of this matcher. False when out of memory. */
static bool turn_to(tsl__structure *s, const tsl_allocator *a, const tsl_matcher *m) {
  if (!s->kept) s->kept = tsl__alloc_zero(a, TSL__STRUCTURE_KEPT * sizeof *s->kept);
  if (!s->kept) return false;
  if (s->grammar == m->grammar) return true;
  memset(s->kept, 0, TSL__STRUCTURE_KEPT * sizeof *s->kept);
  tsl_grammar_retain(m->grammar);
  if (s->grammar) tsl_grammar_release(s->grammar);
  s->grammar = m->grammar;
  return true;
}

/* The content at a position without a distinct record; NULL on failure (sticky). */
static const tsl__bytes *content_at(tsl__structure *s, tsl__space *space, tsl__stack at) {
  tsl__kept_content *k = &s->kept[at & (TSL__STRUCTURE_KEPT - 1)];
  if (k->at == at) return &k->content;
  k->at = 0;
  if (!tsl__stack_content(space, at, &k->content)) return NULL;
  k->at = at;
  return &k->content;
}

/* Has a token a byte of content, and no colon behind a name before it? One that the grammar rejects
 * is judged as if it had. */
static bool writes_content(tsl__structure *s, tsl__space *space, tsl__stack at,
                           const uint8_t *bytes, size_t n) {
  at = tsl__content_key(space, at);
  for (size_t i = 0; i < n; i++) {
    const tsl__bytes *content = content_at(s, space, at);
    if (!content || tsl__bytes_has(content, bytes[i])) return true;
    if (bytes[i] == ':' && tsl__content_wants_colon(space, at)) return false;
    if (i + 1 < n && !(at = tsl__content_after(space, at, bytes[i]))) return true;
  }
  return false;
}

/* Special tokens are named by the grammar, or end the text. */
static bool is_spared(tsl__structure *s, tsl__space *space, const tsl_matcher *m, tsl_token token) {
  const tsl_vocab *v = m->vocab;
  if (token >= tsl_vocab_size(v)) return false;
  if (tsl_vocab_is_special(v, token) || tsl_vocab_is_eog(v, token)) return true;
  size_t n;
  const uint8_t *bytes = tsl_vocab_bytes(v, token, &n);
  return !writes_content(s, space, m->at, bytes, n);
}

tsl_status tsl__structure_find(tsl__structure *s, const tsl_allocator *a, const tsl_matcher *m,
                               const tsl__words *tokens, const uint32_t *mask, size_t width) {
  s->spared.n = 0;
  if (!tokens->n || m->terminated) return TSL_OK;
  if (!turn_to(s, a, m) || !tsl__vec_reserve(a, &s->spared, tokens->n)) return TSL_ERR_NO_MEMORY;
  tsl__space *space = tsl__grammar_lock(m->grammar);
  uint32_t looked = 0;
  for (size_t i = 0; i < tokens->n && tokens->at[i] < width && space->status == TSL_OK; i++) {
    if (mask && !tsl_mask_has(mask, tokens->at[i])) continue;
    if (++looked % PIECE == 0) tsl__space_go_on(space);
    if (is_spared(s, space, m, tokens->at[i])) s->spared.at[s->spared.n++] = tokens->at[i];
  }
  tsl_status status = tsl__grammar_unlock(m->grammar);
  if (status != TSL_OK) s->spared.n = 0;
  return status;
}
