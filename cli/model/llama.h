/* llama.h - a language model in a GGUF file, through llama.cpp's shared library.
 *
 * The library is opened when a model is (dlopen): the tool neither links nor includes llama.cpp.
 * A model has one text at a time. Tokens that are read are not looked at until logits are wanted:
 * then all that wait go through the model as one batch. So a run of forced tokens costs one pass.
 * A new text keeps what the model has computed for the beginning that both texts share.
 * Threads: one at a time. Tested by tests/models/test_models.py, and without a library by
 * tests/cli/test_cli_models.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_LLAMA_H
#define TSL_CLI_LLAMA_H

#include "cli/common.h"

typedef struct llama llama;

typedef struct llama_settings {
  const char *model;   /* the GGUF file */
  const char *library; /* the file of llama.cpp's library; NULL: looked for (llama.c) */
  uint64_t context;    /* tokens of prompt and answer together; 0 = LLAMA_CONTEXT */
  uint64_t threads;    /* 0 = LLAMA_THREADS */
} llama_settings;

#define LLAMA_CONTEXT 4096u
#define LLAMA_THREADS 1u

/* What passes through the model cost so far. */
typedef struct llama_sums {
  uint64_t passes, tokens; /* batches, and the tokens in them */
  uint64_t kept;           /* tokens of prompts that were computed already */
  double us;               /* by the clock */
  double worked;           /* by the processor, for the thread that called */
} llama_sums;

/* NULL after a complaint. `width` is the number of logits that the vocabulary expects; a model that
 * gives another number is refused. Free with llama_close. */
llama *llama_open(const llama_settings *settings, uint32_t width);
void llama_close(llama *model); /* NULL is allowed */

/* The tokens of a text. With `special`, names of special tokens in it become these tokens.
 * `first`: add the token that the model's texts begin with, where it has one.
 * The caller frees *out. False when out of memory or when the text is too long for the library. */
bool llama_encode(const llama *model, const char *text, size_t length, bool special, bool first,
                  tsl_token **out, size_t *count);

typedef struct llama_turn {
  const char *role, *content;
} llama_turn;
/* The model's chat template around the turns, ready for an answer. The caller frees the text with
 * cli_text_free. False if the model has no template, or none that llama.cpp knows. */
bool llama_chat(const llama *model, const llama_turn *turns, size_t count, cli_text *out);

/* The prompt of the texts that follow: copied. False, with the reason in llama_error, if prompt and
 * `room` tokens do not fit into the context. */
bool llama_prompt(llama *model, const tsl_token *tokens, size_t count, uint64_t room);
/* Begin a text behind the prompt. */
void llama_restart(llama *model);
/* A token of the text. False if the context is full. */
bool llama_read(llama *model, tsl_token token);
/* The logits after all that was read: `width` of them, valid until the next such call. NULL with
 * the reason in llama_error. */
const float *llama_logits(llama *model);
/* Why the last call failed; "" if none has. */
const char *llama_error(const llama *model);
const llama_sums *llama_get_sums(const llama *model);
/* "llama.cpp 0.5.0" */
const char *llama_name(const llama *model);

/* The options --threads, --context and --library. */
cli_options llama_options(llama_settings *settings);

#endif
