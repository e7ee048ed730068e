/* turnstile-llama.h - Turnstile as a sampler of llama.cpp.
 *
 *     tsl_vocab *vocab;
 *     tsl_grammar *grammar;
 *     tsl_llama_vocab(llama_model_get_vocab(model), NULL, &vocab, &error);
 *     once per model tsl_grammar_json_schema(vocab, schema, strlen(schema), NULL, NULL, &grammar,
 *     &error);     once per schema
 *     llama_sampler_chain_add(chain, tsl_llama_sampler(grammar));
 *     once per generation, before the others ... llama_sampler_sample(chain, ctx, -1) as always ...
 *     llama_sampler_free(chain);  tsl_grammar_release(grammar);  tsl_vocab_release(vocab);
 *
 * Two files, this one and turnstile-llama.c: compile them with your program, against llama.cpp's
 * llama.h and turnstile.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TURNSTILE_LLAMA_H
#define TURNSTILE_LLAMA_H

#include <llama.h>
#include "turnstile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The vocabulary of a loaded model: what its tokens spell, which are control tokens, which end a
 * generation. The vocabulary is for masks; it encodes text by the greedy longest token only.
 * tsl_vocab_load_file reads the tokenizer out of the same GGUF file, but makes another vocabulary
 * if the program changed the model's. Errors: as tsl_vocab_new. `allocator` may be NULL. */
tsl_status tsl_llama_vocab(const struct llama_vocab *vocab, const tsl_allocator *allocator,
                           tsl_vocab **out, tsl_error *error);

/* A sampler that sets the logits of tokens that the grammar does not allow to -inf, and follows
 * accepted tokens. Holds a reference on the grammar, whose vocabulary must be the model's
 * (tsl_llama_vocab). NULL when out of memory. Freed by llama_sampler_free, or by the chain it is
 * added to. It belongs first in a chain: what top-k and its like have cut away before can't be
 * chosen any more.
 *
 *   accept      follows a token. One that the grammar does not allow is a mistake of the program
 *               (such as accepting the prompt's tokens): the sampler then has failed.
 *   apply       O(candidates) and the mask. After the end, or once it has failed, end-of-generation
 *               tokens alone keep their logits, so that the generation stops; what failed says
 *               tsl_llama_status.
 *   reset       back to the beginning, failures forgotten.
 *   clone       an independent sampler at the same place; copy_state likewise, into another, whose
 *               grammar it leaves.
 * One sampler is for one thread at a time; samplers of one grammar may be used side by side. */
struct llama_sampler *tsl_llama_sampler(tsl_grammar *grammar);

/* TSL_OK; or why the sampler failed: TSL_REJECTED (a token was accepted that is not allowed), or
 * what tsl_matcher_mask returned. */
tsl_status tsl_llama_status(const struct llama_sampler *sampler);

/* The matcher behind it, borrowed: for tsl_matcher_is_complete, _rollback (after rejected drafts),
 * _forced_bytes. */
tsl_matcher *tsl_llama_matcher(const struct llama_sampler *sampler);

#ifdef __cplusplus
}
#endif
#endif
