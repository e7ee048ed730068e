/* answer.c - llama.cpp's model as a generation's model. See answer.h.
 *
 * Tested by tests/models/test_models.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/model/answer.h"

static void restart(void *ctx) { llama_restart(ctx); }
static bool read_token(void *ctx, tsl_token token) { return llama_read(ctx, token); }
static const float *logits(void *ctx) { return llama_logits(ctx); }
static const char *error(void *ctx) { return llama_error(ctx); }

generation_model answer_model(llama *model) {
  return (generation_model){.ctx = model,
                            .restart = restart,
                            .read = read_token,
                            .logits = logits,
                            .error = error,
                            .name = llama_name(model)};
}

void answer_say(FILE *to, const answer_cost *c) {
  double rest = c->worked - c->model_worked;
  fprintf(to, "%llu tokens in %.2f s: %.1f tokens/s; ", (unsigned long long)c->tokens,
          c->all_us / 1e6, c->all_us > 0 ? (double)c->tokens / c->all_us * 1e6 : 0);
  if (c->forced) fprintf(to, "%llu forced; ", (unsigned long long)c->forced);
  fprintf(to, "%llu passes through the model", (unsigned long long)c->passes);
  if (c->passes > 1) fprintf(to, ", %.1f ms each", c->model_us / 1e3 / (double)(c->passes - 1));
  fprintf(to,
          "; masks and draws %.1f µs a token, %.2f %% of the processor's %.3f s; "
          "prompt of %llu tokens in ",
          c->tokens ? rest / (double)c->tokens : 0, c->worked > 0 ? rest / c->worked * 100 : 0,
          c->worked / 1e6, (unsigned long long)c->prompt);
  fprintf(to, "%.2f s\n", c->first_us / 1e6);
}
