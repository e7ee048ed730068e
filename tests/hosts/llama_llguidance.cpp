/* llama_llguidance.cpp - llama.cpp's own integration of llguidance (common/llguidance.cpp),
 * compiled as it is, over bindings/compat/llguidance.
 *
 *   llama_llguidance MODEL.gguf KIND GRAMMAR SEED      prints the tokens that were generated, their
 *   number, and the text in hexadecimal digits
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "log.h"
#include "sampling.h"

/* In place of common/log.cpp, which draws much else of llama.cpp's in. */
common_log *common_log_main() { return nullptr; }
int common_log_get_verbosity_thold() { return 0; }
void common_log_add(common_log *, ggml_log_level, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
}

static void quiet(enum ggml_log_level level, const char *text, void *) {
  if (level == GGML_LOG_LEVEL_ERROR) fputs(text, stderr);
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  llama_log_set(quiet, nullptr);
  llama_model *model = llama_model_load_from_file(argv[1], llama_model_default_params());
  llama_context_params params = llama_context_default_params();
  params.n_ctx = 1024;
  params.n_threads = params.n_threads_batch = 1;
  llama_context *context = model ? llama_init_from_model(model, params) : nullptr;
  if (!context) return 1;
  const llama_vocab *vocab = llama_model_get_vocab(model);
  llama_sampler *chain = llama_sampler_chain_init(llama_sampler_chain_default_params());
  llama_sampler_chain_add(chain, llama_sampler_init_llg(vocab, argv[2], argv[3]));
  llama_sampler_chain_add(chain, llama_sampler_init_dist((uint32_t)atoi(argv[4])));
  std::vector<llama_token> tokens(64);
  std::string text;
  int n = llama_tokenize(vocab, "Answer in JSON.", 15, tokens.data(), 64, true, true), count = 0;
  for (; n > 0 && count < 400 && !llama_decode(context, llama_batch_get_one(tokens.data(), n));
       n = 1, count++) {
    tokens[0] = llama_sampler_sample(chain, context, -1);
    if (llama_vocab_is_eog(vocab, tokens[0])) break;
    char piece[256];
    text.append(piece,
                (size_t)llama_token_to_piece(vocab, tokens[0], piece, sizeof piece, 0, false));
  }
  printf("%d ", count);
  for (unsigned char c : text) printf("%02x", c);
  printf("\n");
  llama_sampler_free(chain);
  llama_free(context);
  llama_model_free(model);
  return 0;
}
