/* structure.h - which tokens penalties spare: those that write no content under a grammar.
 *
 * Problem   A list of a hundred objects has `{"name": "` a hundred times, because the grammar wants
 *           it. A penalty on these tokens makes every other continuation more likely. Optional
 *           members are left out, and names are spelled with unusual tokens.
 * Idea      The matcher knows where the text stands, and position/content.h which bytes are content
 *           there. A token is spared if it has no byte of content. Its bytes are followed one by
 *           one, and each is judged at its own position.
 * Both      A token may hold content and structure, such as `a",` or `"The`. It writes content, so
 *           it is penalised. But a token that ends a name before its first content, as `": "The`
 *           does, is spared. Otherwise the penalty would distort that name, because other tokens
 *           can spell it too.
 * Forced    Where one byte alone may come, that byte is structure. So what the grammar forces is
 *           spared. Tokens that end the text, and those that the grammar names, are spared too.
 * Kept      The content of TSL__STRUCTURE_KEPT positions is kept. A text comes to the same
 *           positions again and again, as inside of a string. The grammar of these positions is
 *           referenced as long.
 * Example   After `[{"id": 1}` the penalised tokens are `}`, `,` and `{"`. All are structure. After
 *           `{"id": ` the token `1` is content and loses what a penalty takes.
 * Cost      Nothing without a matcher, or without penalties. Otherwise each allowed token that
 *           occurred before is looked at. This takes some ns if its first byte is content, else 50
 *           ns a byte. A position that is met for the first time costs some µs.
 * Tested by tests/sample/test_structure.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_SAMPLE_STRUCTURE_H
#define TSL_RUNTIME_SAMPLE_STRUCTURE_H

#include "runtime/matcher/matcher.h"
#include "runtime/sample/history.h"

#define TSL__STRUCTURE_KEPT 256u /* positions whose content is kept; a power of two */

typedef struct tsl__kept_content {
  tsl__stack at; /* 0: none */
  tsl__bytes content;
} tsl__kept_content;

typedef struct tsl__structure {
  tsl_grammar *grammar;    /* whose positions are kept; referenced; NULL: none are */
  tsl__kept_content *kept; /* TSL__STRUCTURE_KEPT of them, placed by the number of their position */
  tsl__words spared;       /* of this step, sorted */
} tsl__structure;

/* Find those of `tokens` (sorted) that are in the mask (NULL: all are) and write no content where
 * the matcher stands. Errors: NO_MEMORY, LIMIT, CANCELLED. Takes the grammar's lock. */
tsl_status tsl__structure_find(tsl__structure *s, const tsl_allocator *a, const tsl_matcher *m,
                               const tsl__words *tokens, const uint32_t *mask, size_t width);
void tsl__structure_free(tsl__structure *s, const tsl_allocator *a);

/* Is a token spared in this step? */
static inline bool tsl__structure_spares(const tsl__structure *s, tsl_token token) {
  return TSL__UNLIKELY(s->spared.n) && tsl__sorted_has(s->spared.at, s->spared.n, token);
}

#endif
