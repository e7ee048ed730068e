/* llguidance.h - llguidance's C calls over Turnstile: a host switches by its include path.
 *
 *     cc -Ibindings/compat/llguidance -Iinclude host.c bindings/compat/llguidance/llguidance.c
 *     -lturnstile
 *
 * Names, arguments, structs and results are those of llguidance 1.9's header, as far as they are
 * here: tokenizers, matchers, and constraints with their parallel masks. Stop controllers and
 * cancellation handles are not declared here: a program that uses these does not compile. What is
 * declared and can't be done fails with a message. Types "regex", "lark", "llguidance" (a list of
 * grammars), "json", "json_schema" and "json_object" work.
 *
 * Where it differs, though the calls are the same:
 *   masks      Turnstile's, that is exact; a schema is enforced or refused with its JSON pointer
 *              (in the error message)
 *   regex      ECMA-262 and PCRE's syntax in place of Rust's
 *   lark       what a grammar means is in docs/lark.md
 *   schemas    x-guidance in a schema is not looked at: white space is free (Turnstile's own calls,
 *              and the stand-in in Python, can do without)
 *   the end    where nothing but the end may come, llguidance's mask has the end-of-sequence
 *              tokens, and refuses them when they come. Here they are accepted, once
 *   limits     LlgParserLimits speaks of llguidance's parser: not looked at. Turnstile's own are
 *              those of turnstile.h
 *   logs       there are none: log levels are not looked at, llg_flush_logs returns ""
 *   slices     not looked at, as there is no need of them
 *   ff tokens  the tokens of the bytes that must come, but for the last, which may depend on what
 *              follows
 *
 * Tested by tests/hosts/llguidance.c, which is also built against llguidance itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLGUIDANCE_H
#define LLGUIDANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus) && __cplusplus >= 201703L
#define LLGUIDANCE_NODISCARD [[nodiscard]]
#elif defined(__GNUC__) || defined(__clang__)
#define LLGUIDANCE_NODISCARD __attribute__((warn_unused_result))
#else
#define LLGUIDANCE_NODISCARD
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of llg_decode_tokens. */
#define LLG_DECODE_NONE 0
#define LLG_DECODE_INCLUDE_SPECIAL 1 /* special tokens by their names; else they are left out */
#define LLG_DECODE_VALID_UTF8 2      /* U+FFFD in place of what is not UTF-8 */

typedef struct LlgTokenizer LlgTokenizer;
typedef struct LlgMatcher LlgMatcher;
typedef struct LlgConstraint LlgConstraint;
typedef uint32_t LlgToken;

/* ---- tokenizers ------------------------------------------------------------------------------ */

/* Writes at most output_tokens_len ids; returns how many there are. May be called by any thread. */
typedef size_t (*LlgTokenizeFn)(const void *user_data, const uint8_t *bytes, size_t bytes_len,
                                uint32_t *output_tokens, size_t output_tokens_len);

/* Zero-initialise. Either lengths and bytes of all tokens (a special token's begin with the byte
 * 0xFF, its name follows), or the text of a tokenizer.json. Without tokenize_fn texts are encoded
 * as tokenizer.json says, or by the greedy longest token. */
typedef struct LlgTokenizerInit {
  uint32_t vocab_size; /* columns of a mask where it is more than the tokens of tokenizer.json */
  LlgToken tok_eos;    /* UINT32_MAX: what tokenizer.json says */
  const uint32_t *token_lens;
  const uint8_t *token_bytes;
  const char *tokenizer_json;
  bool tokenize_assumes_string; /* not looked at */
  LlgTokenizeFn tokenize_fn;
  bool use_approximate_greedy_tokenize_fn;
  const void *tokenize_user_data;
  const char *const *slices; /* not looked at */
} LlgTokenizerInit;

/* The same with several end-of-sequence tokens. struct_size = sizeof(LlgTokenizerInitV2), or that
 * of an older header. */
typedef struct LlgTokenizerInitV2 {
  size_t struct_size;
  uint32_t vocab_size;
  LlgToken tok_eos;
  const uint32_t *token_lens;
  const uint8_t *token_bytes;
  const char *tokenizer_json;
  bool tokenize_assumes_string;
  LlgTokenizeFn tokenize_fn;
  bool use_approximate_greedy_tokenize_fn;
  const void *tokenize_user_data;
  const char *const *slices;
  const LlgToken *tok_eos_extra;
  uint32_t tok_eos_extra_count;
} LlgTokenizerInitV2;

/* NULL on failure, with a message in error_string (may be NULL). */
LlgTokenizer *llg_new_tokenizer(const LlgTokenizerInit *init, char *error_string,
                                size_t error_string_len);
LlgTokenizer *llg_new_tokenizer_v2(const LlgTokenizerInitV2 *init, char *error_string,
                                   size_t error_string_len);
LlgTokenizer *llg_clone_tokenizer(const LlgTokenizer *tokenizer);
void llg_free_tokenizer(LlgTokenizer *tokenizer);

/* The number of tokens; at most output_tokens_len are written. With _marker, a special token's name
 * after a byte 0xFF is that token. */
size_t llg_tokenize_bytes(const LlgTokenizer *tokenizer, const uint8_t *bytes, size_t bytes_len,
                          uint32_t *output_tokens, size_t output_tokens_len);
size_t llg_tokenize_bytes_marker(const LlgTokenizer *tokenizer, const uint8_t *bytes,
                                 size_t bytes_len, uint32_t *output_tokens,
                                 size_t output_tokens_len);

/* The bytes that a whole answer takes, NUL included; what is written is NUL-terminated.
 * llg_stringify_tokens is for people: here, with special tokens, as UTF-8. */
size_t llg_decode_tokens(const LlgTokenizer *tokenizer, const uint32_t *tokens, size_t n_tokens,
                         char *output, size_t output_len, uint32_t flags);
size_t llg_stringify_tokens(const LlgTokenizer *tokenizer, const uint32_t *tokens, size_t n_tokens,
                            char *output, size_t output_len);

/* ---- matchers -------------------------------------------------------------------------------- */

typedef struct LlgParserLimits {
  size_t max_items_in_row;
  uint64_t initial_lexer_fuel, step_lexer_fuel;
  size_t step_max_items, max_lexer_states, max_grammar_size;
  bool precompute_large_lexemes, verbose_errors;
} LlgParserLimits;

typedef struct LlgConstraintInit {
  const LlgTokenizer *tokenizer;
  uint32_t log_buffer_level, log_stderr_level; /* not looked at */
  bool ff_tokens_ok, backtrack_ok;             /* not looked at: commits return the token alone */
  LlgParserLimits limits;                      /* not looked at */
} LlgConstraintInit;

void llg_constraint_init_set_defaults(LlgConstraintInit *init, const LlgTokenizer *tokenizer);

/* Never NULL: a grammar that is refused gives a matcher in error, as does a lack of memory. */
LlgMatcher *llg_new_matcher(const LlgConstraintInit *init, const char *constraint_type,
                            const char *data);
LlgMatcher *llg_clone_matcher(const LlgMatcher *matcher);
void llg_free_matcher(LlgMatcher *matcher);

/* 0, or -1 with a message. */
LLGUIDANCE_NODISCARD int32_t llg_validate_grammar(const LlgConstraintInit *init,
                                                  const char *constraint_type, const char *data,
                                                  char *message, size_t message_len);

/* 0, or -1. A mask has ceil(vocabulary / 32) words, set = allowed; where the text is over, the
 * end-of-sequence tokens alone. A mask_byte_len other than llg_matcher_get_mask_byte_size is
 * refused, and is no error of the matcher. */
LLGUIDANCE_NODISCARD int32_t llg_matcher_compute_mask_into(LlgMatcher *matcher, uint32_t *mask_dest,
                                                           size_t mask_byte_len);
LLGUIDANCE_NODISCARD int32_t llg_matcher_compute_mask(LlgMatcher *matcher);
/* of llg_matcher_compute_mask; NULL if the matcher has moved since then */
const uint32_t *llg_matcher_get_mask(LlgMatcher *matcher);
size_t llg_matcher_get_mask_byte_size(const LlgMatcher *matcher);

/* 0, or -1: then the matcher is in error for good, and only llg_free_matcher is of use. */
LLGUIDANCE_NODISCARD int32_t llg_matcher_consume_token(LlgMatcher *matcher, uint32_t token);
LLGUIDANCE_NODISCARD int32_t llg_matcher_consume_tokens(LlgMatcher *matcher, const uint32_t *tokens,
                                                        size_t n_tokens);
/* at most 4,096 */
LLGUIDANCE_NODISCARD int32_t llg_matcher_rollback(LlgMatcher *matcher, size_t num_tokens);
LLGUIDANCE_NODISCARD int32_t llg_matcher_reset(LlgMatcher *matcher);

const char *llg_matcher_get_error(LlgMatcher *matcher); /* NULL: none */
bool llg_matcher_is_error(const LlgMatcher *matcher);
bool llg_matcher_is_accepting(LlgMatcher *matcher);
/* Is the text over: by an end-of-sequence token, because nothing more may come, or in error? */
bool llg_matcher_is_stopped(const LlgMatcher *matcher);

/* How many of the tokens could be consumed; -1 in error. */
LLGUIDANCE_NODISCARD int32_t llg_matcher_validate_tokens(LlgMatcher *matcher,
                                                         const uint32_t *tokens, size_t n_tokens);
/* The tokens that must come, at most output_len; their number, or -1. */
LLGUIDANCE_NODISCARD int32_t llg_matcher_compute_ff_tokens(LlgMatcher *matcher, uint32_t *output,
                                                           size_t output_len);

/* ---- constraints ----------------------------------------------------------------------------- */

typedef struct LlgMaskResult {
  const uint32_t *sample_mask; /* NULL where is_stop; until the next call on the constraint */
  float temperature;           /* 0: grammars have none here */
  bool is_stop;
} LlgMaskResult;

typedef struct LlgCommitResult {
  const uint32_t *tokens; /* until the next call on the constraint */
  uint32_t n_tokens;      /* 1, or 0 where is_stop */
  bool is_stop;
} LlgCommitResult;

typedef struct LlgConstraintStep {
  LlgConstraint *constraint;
  uint32_t *mask_dest;
  size_t mask_byte_len;
} LlgConstraintStep;

typedef void (*LlgCallback)(const void *user_data);

/* in error, always */
LlgConstraint *llg_new_constraint(const LlgConstraintInit *init, const char *llguidance);
LlgConstraint *llg_new_constraint_regex(const LlgConstraintInit *init, const char *regex);
LlgConstraint *llg_new_constraint_json(const LlgConstraintInit *init, const char *json_schema);
/* in error, always */
LlgConstraint *llg_new_constraint_lark(const LlgConstraintInit *init, const char *lark);
LlgConstraint *llg_new_constraint_any(const LlgConstraintInit *init, const char *constraint_type,
                                      const char *data);
LlgConstraint *llg_clone_constraint(const LlgConstraint *constraint);
void llg_free_constraint(LlgConstraint *constraint);

const char *llg_get_error(const LlgConstraint *constraint);
float llg_get_temperature(const LlgConstraint *constraint);
bool llg_is_stopped(const LlgConstraint *constraint);
const char *llg_flush_logs(LlgConstraint *constraint);
LLGUIDANCE_NODISCARD int32_t llg_compute_mask(LlgConstraint *constraint, LlgMaskResult *result);
LLGUIDANCE_NODISCARD int32_t llg_commit_token(LlgConstraint *constraint, LlgToken token,
                                              LlgCommitResult *result);

/* Masks of many constraints; one that fails is in error, and its mask is unspecified. Done when it
 * returns; done_cb (may be NULL) is called before that, by the calling thread. mask_byte_len may be
 * less than a mask, which is cut then, or more, which is cleared. */
void llg_par_compute_mask(const LlgConstraintStep *steps, size_t n_steps, const void *user_data,
                          LlgCallback done_cb);

/* "turnstile " and the version of turnstile.h. */
const char *llg_get_version(void);

#ifdef __cplusplus
}
#endif
#endif
