/* example.c - a program for llguidance's C calls, on Turnstile: example TOKENIZER.json SCHEMA
 *
 *     cc -I. -I../../../include example.c llguidance.c -lturnstile
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <llguidance.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  static char json[1 << 26], text[1 << 16], error[256];
  static uint32_t tokens[4096];
  FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
  if (!file || !fread(json, 1, sizeof json - 1, file))
    return fprintf(stderr, "usage: example TOKENIZER.json SCHEMA\n"), 2;
  LlgTokenizerInit options = {
      .tok_eos = UINT32_MAX, .tokenizer_json = json, .use_approximate_greedy_tokenize_fn = true};
  LlgTokenizer *tokenizer = llg_new_tokenizer(&options, error, sizeof error);
  if (!tokenizer) return fprintf(stderr, "%s\n", error), 1;
  LlgConstraintInit init;
  llg_constraint_init_set_defaults(&init, tokenizer);
  LlgMatcher *matcher = llg_new_matcher(&init, "json", argv[2]);
  size_t n = 0, bits = llg_matcher_get_mask_byte_size(matcher) * 8;
  while (!llg_matcher_is_stopped(matcher) && n < 4096) {
    if (llg_matcher_compute_mask(matcher)) break;
    const uint32_t *mask = llg_matcher_get_mask(matcher);
    uint32_t token = 0; /* a model would choose; here a random one of those that are allowed */
    do token = (uint32_t)((size_t)rand() % bits);
    while (!(mask[token / 32] >> token % 32 & 1));
    if (llg_matcher_consume_token(matcher, tokens[n++] = token)) break;
  }
  if (llg_matcher_is_error(matcher))
    return fprintf(stderr, "%s\n", llg_matcher_get_error(matcher)), 1;
  llg_decode_tokens(tokenizer, tokens, n, text, sizeof text, LLG_DECODE_NONE);
  puts(text);
  llg_free_matcher(matcher);
  llg_free_tokenizer(tokenizer);
  return 0;
}
