/* example.c - a chat completion under a JSON Schema: example MODEL.gguf QUESTION SCHEMA
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <turnstile-llama.h>

int main(int argc, char **argv) {
  if (argc != 4) return fprintf(stderr, "usage: example MODEL.gguf QUESTION SCHEMA\n"), 2;
  struct llama_model *model = llama_model_load_from_file(argv[1], llama_model_default_params());
  struct llama_context *context = llama_init_from_model(model, llama_context_default_params());
  if (!context) return 2; /* llama.cpp has said why */
  const struct llama_vocab *words = llama_model_get_vocab(model);
  tsl_schema_options options = {.whitespace = TSL_WS_COMPACT};
  tsl_vocab *vocab = NULL;
  tsl_grammar *grammar = NULL;
  tsl_error error;
  if (tsl_llama_vocab(words, NULL, &vocab, &error) ||
      tsl_grammar_json_schema(vocab, argv[3], strlen(argv[3]), &options, NULL, &grammar, &error))
    return fprintf(stderr, "%s %s\n", error.message, error.pointer), 1;
  struct llama_sampler *chain = llama_sampler_chain_init(llama_sampler_chain_default_params());
  llama_sampler_chain_add(chain, tsl_llama_sampler(grammar));
  llama_sampler_chain_add(chain, llama_sampler_init_dist(1));
  struct llama_chat_message message = {"user", argv[2]};
  static char prompt[1 << 16], piece[256];
  static llama_token tokens[1 << 15];
  int n = llama_chat_apply_template(llama_model_chat_template(model, NULL), &message, 1, true,
                                    prompt, sizeof prompt);
  if (n < 0 || n > (int)sizeof prompt) return 1;
  n = llama_tokenize(words, prompt, n, tokens, 1 << 15, true, true);
  for (; n > 0 && !llama_decode(context, llama_batch_get_one(tokens, n)); n = 1) {
    if (llama_vocab_is_eog(words, *tokens = llama_sampler_sample(chain, context, -1))) break;
    int length = llama_token_to_piece(words, *tokens, piece, sizeof piece, 0, false);
    fwrite(piece, 1, (size_t)length, stdout);
  }
  llama_sampler_free(chain);
  tsl_grammar_release(grammar);
  tsl_vocab_release(vocab);
  llama_free(context), llama_model_free(model);
}
