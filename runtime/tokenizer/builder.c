/* builder.c - from what a reader found out to a vocabulary with a tokenizer; and the names of
 * tokens that end a generation.
 *
 * Idea      Readers of four formats fill one struct: bytes and offsets of the tokens, steps, added
 *           tokens, tables. Texts go into a pool and are named by their place there. So the arrays
 *           can be written to a cache file as they are.
 * Example   A step that replaces " " by "▁": the pool gets " ▁", the step says text 0, length 1,
 *           content 1, length 3.
 * Fails     After a failure the builder still owns all that it holds, and tsl__builder_free frees
 *           it. The tables become the tokenizer's only when that was made.
 * Tested by tests/vocab_files/test_vocab_files.c, tests/vocab_files/test_gguf.c,
 *           tests/tokenizer/test_encode.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tokenizer/tokenizer.h"

/* One list for all models. A name counts only where the file says that the token is special, since
 * "</s>" is also HTML (Gemma has it as a word). */
static const char *const eog_names[] = {
    "</s>",            /* Llama 2, Mistral */
    "<|eot_id|>",      /* Llama 3: end of a turn */
    "<|eom_id|>",      /* Llama 3: end of a message, a tool answers next */
    "<|end_of_text|>", /* Llama 3, Granite */
    "<|eot|>",
    "<|eom|>",       /* Llama 4 */
    "<|im_end|>",    /* ChatML: Qwen and others */
    "<|endoftext|>", /* GPT-2 and later, Qwen, Phi */
    "<|end|>",       /* Phi 3: end of a message (see drop_end) */
    "<|return|>",
    "<|call|>", /* gpt-oss: end of the answer, of a tool call */
    "<end_of_turn>",
    "<eos>", /* Gemma */
    "<turn|>",
    "<|tool_response>", /* Gemma 4: end of a turn; a tool answers next */
    "<|END_OF_TURN_TOKEN|>",
    "<EOS_TOKEN>",           /* Command R */
    "<｜end▁of▁sentence｜>", /* DeepSeek, with its full-width bars */
    "<|end_of_turn|>",       /* OpenChat */
    "<|endofmessage|>",
    "<end_of_utterance>", /* SmolVLM and others */
    "[EOS]",
    "[EOT]", /* Kimi K2 */
    "<EOT>",
    "_<EOT>", /* Code Llama: end of what was to be filled in */
};

bool tsl__is_eog_name(const char *text, size_t length) {
  for (size_t i = 0; i < sizeof eog_names / sizeof *eog_names; i++)
    if (strlen(eog_names[i]) == length && !memcmp(eog_names[i], text, length)) return true;
  return false;
}

void tsl__builder_init(tsl__vocab_builder *b, const tsl_allocator *a) {
  memset(b, 0, sizeof *b);
  b->alloc = a;
  b->facts.unknown = TSL_NO_TOKEN;
  for (unsigned i = 0; i < 256; i++) b->facts.bytes[i] = TSL_NO_TOKEN;
}

void tsl__builder_free(tsl__vocab_builder *b) {
  tsl__vec_free(b->alloc, &b->bytes);
  tsl__vec_free(b->alloc, &b->offsets);
  tsl__vec_free(b->alloc, &b->special);
  tsl__vec_free(b->alloc, &b->eog);
  tsl__vec_free(b->alloc, &b->pool);
  tsl__vec_free(b->alloc, &b->steps);
  tsl__vec_free(b->alloc, &b->added);
  tsl__vec_free(b->alloc, &b->bos);
  tsl__tok_tables_free(&b->tables, b->alloc);
}

/* Append text to the pool; false when out of memory. */
static bool pool(tsl__vocab_builder *b, const char *text, size_t length, uint32_t *at) {
  if (length > UINT32_MAX - b->pool.n || !tsl__vec_reserve(b->alloc, &b->pool, length + 1))
    return false;
  *at = (uint32_t)b->pool.n;
  if (length) memcpy(b->pool.at + b->pool.n, text, length);
  b->pool.n += length;
  return true;
}

bool tsl__builder_step(tsl__vocab_builder *b, tsl__step step, const char *text, size_t length,
                       const char *content, size_t content_length) {
  step.text_length = (uint32_t)length;
  step.content_length = (uint32_t)content_length;
  return pool(b, text, length, &step.text) && pool(b, content, content_length, &step.content) &&
         tsl__vec_push(b->alloc, &b->steps, step);
}

bool tsl__builder_added(tsl__vocab_builder *b, tsl_token id, uint32_t flags, const char *text,
                        size_t length) {
  tsl__added added = {id, flags, 0, (uint32_t)length};
  return pool(b, text, length, &added.text) && tsl__vec_push(b->alloc, &b->added, added);
}

/* The added token of that text, or TSL_NO_TOKEN. */
static tsl_token find_added(const tsl__vocab_builder *b, const char *text) {
  size_t n = strlen(text);
  for (size_t i = 0; i < b->added.n; i++)
    if (b->added.at[i].text_length == n && !memcmp(b->pool.at + b->added.at[i].text, text, n))
      return b->added.at[i].id;
  return TSL_NO_TOKEN;
}

/* Where there is "<|return|>" (gpt-oss), "<|end|>" ends a message that another one follows, not the
 * generation. */
static void drop_end(tsl__vocab_builder *b) {
  tsl_token end = find_added(b, "<|end|>");
  if (end == TSL_NO_TOKEN || find_added(b, "<|return|>") == TSL_NO_TOKEN) return;
  size_t kept = 0;
  for (size_t i = 0; i < b->eog.n; i++)
    if (b->eog.at[i] != end) b->eog.at[kept++] = b->eog.at[i];
  b->eog.n = kept;
}

/* A copy of exactly that size: the builder's arrays have room to grow, a tokenizer's do not. */
static bool move(tsl__vocab_builder *b, int span, const void *from, size_t size) {
  if (!size) return true;
  void *copy = tsl__alloc(b->alloc, size);
  if (!copy) return false;
  memcpy(copy, from, size);
  b->tables.span[span] = (tsl__span){copy, size};
  return true;
}

static bool move_all(tsl__vocab_builder *b) {
  return move(b, TSL__SPAN_FACTS, &b->facts, sizeof b->facts) &&
         move(b, TSL__SPAN_STEPS, b->steps.at, b->steps.n * sizeof *b->steps.at) &&
         move(b, TSL__SPAN_POOL, b->pool.at, b->pool.n) &&
         move(b, TSL__SPAN_ADDED, b->added.at, b->added.n * sizeof *b->added.at) &&
         move(b, TSL__SPAN_BOS, b->bos.at, b->bos.n * sizeof *b->bos.at);
}

/* Tokens that end a generation are those of the options, if there are any, else those of the
 * file. */
tsl_status tsl__builder_finish(tsl__vocab_builder *b, const tsl_vocab_options *options,
                               tsl_vocab **out, tsl_error *error) {
  drop_end(b);
  tsl_vocab_desc desc = {.bytes = b->bytes.at,
                         .offsets = b->offsets.at,
                         .size = (uint32_t)b->offsets.n - 1,
                         .special = b->special.at,
                         .logits_width = options->logits_width,
                         .eog = b->eog.at,
                         .eog_count = (uint32_t)b->eog.n};
  if (options->eog_count) desc.eog = options->eog, desc.eog_count = options->eog_count;
  if (!move_all(b)) return tsl__fail(error, TSL_ERR_NO_MEMORY, "out of memory");
  tsl__bpe_tokenizer *t;
  uint8_t hash[16];
  tsl_status status = tsl__tokenizer_new(&b->tables, false, b->alloc, &t, error);
  if (status) return status;
  tsl__tok_tables_hash(&b->tables, hash);
  memset(&b->tables, 0, sizeof b->tables); /* they are the tokenizer's now */
  status = tsl__vocab_make(&desc, b->alloc, &t->base, hash, out, error);
  if (status) t->base.ops->free(&t->base);
  return status;
}
