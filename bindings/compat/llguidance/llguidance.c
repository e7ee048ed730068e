/* llguidance.c - see llguidance.h.
 *
 * A matcher is a tsl_matcher and an error; a constraint is a matcher with the token that it
 * committed last. A matcher without memory for itself is `no_memory`, which is in error, shared by
 * all and never freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "llguidance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "turnstile.h"

#define MARKER 0xFF /* before the name of a special token */

/* ---- tokenizers ------------------------------------------------------------------------------ */

struct LlgTokenizer {
  tsl_vocab *vocab;
  LlgTokenizeFn tokenize; /* or NULL */
  const void *user_data;
};

static void say(char *out, size_t size, const char *text) {
  if (out && size) snprintf(out, size, "%s", text);
}

/* The end-of-sequence tokens, each once; NULL when out of memory. UINT32_MAX, and ids past the
 * vocabulary, stand for "none". */
static tsl_token *ends_of(const LlgTokenizerInitV2 *init, uint32_t *count) {
  tsl_token *ends = malloc((1 + (size_t)init->tok_eos_extra_count) * sizeof *ends);
  *count = 0;
  for (uint32_t i = 0; ends && i <= init->tok_eos_extra_count; i++) {
    tsl_token end = i ? init->tok_eos_extra[i - 1] : init->tok_eos;
    bool skip = end == TSL_NO_TOKEN || (init->vocab_size && end >= init->vocab_size);
    for (uint32_t k = 0; k < *count; k++) skip |= ends[k] == end;
    if (!skip) ends[(*count)++] = end;
  }
  return ends;
}

static tsl_status vocab_of_arrays(const LlgTokenizerInitV2 *init, const tsl_token *ends,
                                  uint32_t count, tsl_vocab **out, tsl_error *error) {
  size_t size = init->vocab_size, total = 0, used = 0, read = 0;
  for (size_t i = 0; i < size; i++) total += init->token_lens[i];
  uint8_t *bytes = malloc(total + 1), *special = calloc(size + 1, 1);
  uint32_t *offsets = calloc(size + 1, sizeof *offsets);
  tsl_status status =
      bytes && special && offsets && total <= UINT32_MAX ? TSL_OK : TSL_ERR_NO_MEMORY;
  for (size_t i = 0; !status && i < size; i++) {
    const uint8_t *token = init->token_bytes + read;
    size_t length = init->token_lens[i];
    special[i] = length && token[0] == MARKER;
    if (length - special[i]) memcpy(bytes + used, token + special[i], length - special[i]);
    used += length - special[i];
    read += length;
    offsets[i + 1] = (uint32_t)used;
  }
  tsl_vocab_desc desc = {.bytes = bytes,
                         .offsets = offsets,
                         .size = init->vocab_size,
                         .special = special,
                         .eog = ends,
                         .eog_count = count};
  if (!status) status = tsl_vocab_new(&desc, NULL, out, error);
  free(bytes);
  free(special);
  free(offsets);
  return status;
}

static tsl_status vocab_of(const LlgTokenizerInitV2 *init, tsl_vocab **out, tsl_error *error) {
  uint32_t count;
  tsl_token *ends = ends_of(init, &count);
  tsl_status status = TSL_ERR_NO_MEMORY;
  if (ends && init->tokenizer_json) {
    tsl_vocab_options options = {.logits_width = init->vocab_size, .eog = ends, .eog_count = count};
    status = tsl_vocab_load_memory(init->tokenizer_json, strlen(init->tokenizer_json),
                                   "tokenizer.json", &options, NULL, out, error);
    options.logits_width = 0; /* vocab_size may be less than the file has */
    if (status == TSL_ERR_ARGUMENT)
      status = tsl_vocab_load_memory(init->tokenizer_json, strlen(init->tokenizer_json),
                                     "tokenizer.json", &options, NULL, out, error);
  } else if (ends) {
    status = init->token_lens && init->token_bytes ? vocab_of_arrays(init, ends, count, out, error)
                                                   : TSL_ERR_ARGUMENT;
  }
  free(ends);
  return status;
}

LlgTokenizer *llg_new_tokenizer_v2(const LlgTokenizerInitV2 *init, char *error_string,
                                   size_t error_string_len) {
  LlgTokenizerInitV2 all = {0};
  tsl_error error = {0};
  size_t size = init->struct_size < sizeof all ? init->struct_size : sizeof all;
  if (size < offsetof(LlgTokenizerInitV2, token_lens))
    return say(error_string, error_string_len, "struct_size is too small"), NULL;
  memcpy(&all, init, size);
  LlgTokenizer *t = calloc(1, sizeof *t);
  tsl_status status = t ? vocab_of(&all, &t->vocab, &error) : TSL_ERR_NO_MEMORY;
  if (status) {
    say(error_string, error_string_len, error.message[0] ? error.message : tsl_status_name(status));
    free(t);
    return NULL;
  }
  t->tokenize = all.use_approximate_greedy_tokenize_fn ? NULL : all.tokenize_fn;
  t->user_data = all.tokenize_user_data;
  return t;
}

LlgTokenizer *llg_new_tokenizer(const LlgTokenizerInit *init, char *error_string,
                                size_t error_string_len) {
  LlgTokenizerInitV2 all = {.struct_size = sizeof all,
                            .vocab_size = init->vocab_size,
                            .tok_eos = init->tok_eos,
                            .token_lens = init->token_lens,
                            .token_bytes = init->token_bytes,
                            .tokenizer_json = init->tokenizer_json,
                            .tokenize_fn = init->tokenize_fn,
                            .use_approximate_greedy_tokenize_fn =
                                init->use_approximate_greedy_tokenize_fn,
                            .tokenize_user_data = init->tokenize_user_data};
  return llg_new_tokenizer_v2(&all, error_string, error_string_len);
}

LlgTokenizer *llg_clone_tokenizer(const LlgTokenizer *tokenizer) {
  LlgTokenizer *t = malloc(sizeof *t);
  if (!t) return NULL;
  *t = *tokenizer;
  tsl_vocab_retain(t->vocab);
  return t;
}

void llg_free_tokenizer(LlgTokenizer *tokenizer) {
  if (!tokenizer) return;
  tsl_vocab_release(tokenizer->vocab);
  free(tokenizer);
}

size_t llg_tokenize_bytes(const LlgTokenizer *t, const uint8_t *bytes, size_t bytes_len,
                          uint32_t *output_tokens, size_t output_tokens_len) {
  size_t count = 0;
  if (!output_tokens) output_tokens_len = 0;
  if (t->tokenize)
    return t->tokenize(t->user_data, bytes, bytes_len, output_tokens, output_tokens_len);
  tsl_vocab_encode(t->vocab, (const char *)bytes, bytes_len, 0, output_tokens, output_tokens_len,
                   &count);
  return count;
}

/* The special token whose name the bytes begin with, the longest; TSL_NO_TOKEN if there is none. */
static tsl_token special_at(const tsl_vocab *vocab, const uint8_t *bytes, size_t n,
                            size_t *length) {
  for (*length = n < TSL_MAX_TOKEN_BYTES ? n : TSL_MAX_TOKEN_BYTES; *length; --*length) {
    tsl_token token = tsl_vocab_find_special(vocab, (const char *)bytes, *length);
    if (token != TSL_NO_TOKEN) return token;
  }
  return TSL_NO_TOKEN;
}

size_t llg_tokenize_bytes_marker(const LlgTokenizer *t, const uint8_t *bytes, size_t bytes_len,
                                 uint32_t *output_tokens, size_t output_tokens_len) {
  size_t count = 0, begin = 0;
  if (!output_tokens) output_tokens_len = 0;
  for (size_t i = 0; i <= bytes_len; i++) {
    size_t length = 0;
    tsl_token special = i < bytes_len && bytes[i] == MARKER
                            ? special_at(t->vocab, bytes + i + 1, bytes_len - i - 1, &length)
                            : TSL_NO_TOKEN;
    if (i < bytes_len && special == TSL_NO_TOKEN) continue;
    size_t room = count < output_tokens_len ? output_tokens_len - count : 0;
    if (i > begin)
      count += llg_tokenize_bytes(t, bytes + begin, i - begin, room ? output_tokens + count : NULL,
                                  room);
    if (special == TSL_NO_TOKEN) continue;
    if (count < output_tokens_len) output_tokens[count] = special;
    count++;
    i += length;
    begin = i + 1;
  }
  return count;
}

/* The length of the well-formed UTF-8 sequence at the beginning of `s`, or 0. */
static size_t utf8_length(const uint8_t *s, size_t n) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t length = s[0] < 0x80   ? 1
                  : s[0] < 0xC2 ? 0
                  : s[0] < 0xE0 ? 2
                  : s[0] < 0xF0 ? 3
                  : s[0] < 0xF5 ? 4
                                : 0;
  uint32_t c = length < 2 ? s[0] : s[0] & (0x7Fu >> length);
  if (length > n) return 0;
  for (size_t i = 1; i < length; i++) {
    if ((s[i] & 0xC0) != 0x80) return 0;
    c = c << 6 | (s[i] & 0x3Fu);
  }
  return c < least[length] || (c >= 0xD800 && c < 0xE000) || c > 0x10FFFF ? 0 : length;
}

typedef struct writer {
  char *out;
  size_t room, n; /* n: what all of it would take */
} writer;

static void put(writer *w, const void *bytes, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (w->n + i + 1 < w->room) w->out[w->n + i] = ((const char *)bytes)[i];
  w->n += n;
}

static void put_valid(writer *w, const uint8_t *bytes, size_t n) {
  for (size_t i = 0, length; i < n; i += length ? length : 1) {
    length = utf8_length(bytes + i, n - i);
    put(w, length ? (const char *)bytes + i : "\xEF\xBF\xBD", length ? length : 3);
  }
}

size_t llg_decode_tokens(const LlgTokenizer *t, const uint32_t *tokens, size_t n_tokens,
                         char *output, size_t output_len, uint32_t flags) {
  writer w = {output, output ? output_len : 0, 0};
  uint8_t *all = NULL;
  size_t total = 0;
  /* the length, then the bytes: a character may be spread over tokens */
  for (int pass = 0; pass < 2; pass++) {
    total = 0;
    for (size_t i = 0; i < n_tokens; i++) {
      size_t n;
      const uint8_t *bytes = tsl_vocab_bytes(t->vocab, tokens[i], &n);
      if (tsl_vocab_is_special(t->vocab, tokens[i]) && !(flags & LLG_DECODE_INCLUDE_SPECIAL))
        continue;
      if (all && n) memcpy(all + total, bytes, n);
      total += n;
    }
    if (!all && !(all = malloc(total + 1))) break;
  }
  if (all && (flags & LLG_DECODE_VALID_UTF8))
    put_valid(&w, all, total);
  else if (all)
    put(&w, all, total);
  if (w.room) w.out[w.n < w.room ? w.n : w.room - 1] = 0;
  free(all);
  return w.n + 1;
}

size_t llg_stringify_tokens(const LlgTokenizer *tokenizer, const uint32_t *tokens, size_t n_tokens,
                            char *output, size_t output_len) {
  return llg_decode_tokens(tokenizer, tokens, n_tokens, output, output_len,
                           LLG_DECODE_INCLUDE_SPECIAL | LLG_DECODE_VALID_UTF8);
}

/* ---- matchers -------------------------------------------------------------------------------- */

struct LlgMatcher {
  tsl_matcher *matcher;    /* NULL: in error from the beginning */
  LlgTokenizer *tokenizer; /* a clone */
  uint32_t *mask;          /* room for compute_mask's; NULL before the first */
  bool has_mask;           /* the mask is that of this place */
  bool failed;
  char error[800];
};

static LlgMatcher no_memory = {.failed = true, .error = "out of memory"};

/* The matcher is in error for good; what it said first stays. */
static int32_t fail(LlgMatcher *m, const char *format, const char *a, const char *b) {
  if (!m->failed) snprintf(m->error, sizeof m->error, format, a, b);
  m->failed = true;
  m->has_mask = false;
  return -1;
}

static tsl_status compile(tsl_vocab *vocab, const char *kind, const char *data, tsl_grammar **out,
                          tsl_error *error) {
  static const tsl_schema_options any = {.whitespace = TSL_WS_ANY};
  if (!strcmp(kind, "regex"))
    return tsl_grammar_regex(vocab, data, strlen(data), NULL, NULL, out, error);
  if (!strcmp(kind, "lark") || !strcmp(kind, "llguidance"))
    return tsl_grammar_lark(vocab, data, strlen(data), NULL, NULL, out, error);
  if (!strcmp(kind, "json_object"))
    data = "{\"type\": \"object\"}";
  else if (strcmp(kind, "json") && strcmp(kind, "json_schema")) {
    snprintf(
        error->message, sizeof error->message,
        "Turnstile has no grammars of type \"%.60s\": there are regex, lark, llguidance, json, "
        "json_schema and json_object",
        kind);
    return error->status = TSL_ERR_UNSUPPORTED;
  }
  return tsl_grammar_json_schema(vocab, data, strlen(data), &any, NULL, out, error);
}

LlgMatcher *llg_new_matcher(const LlgConstraintInit *init, const char *constraint_type,
                            const char *data) {
  LlgMatcher *m = calloc(1, sizeof *m);
  LlgTokenizer *tokenizer = m ? llg_clone_tokenizer(init->tokenizer) : NULL;
  tsl_grammar *grammar = NULL;
  tsl_error error = {0};
  if (!tokenizer) {
    free(m);
    return &no_memory;
  }
  m->tokenizer = tokenizer;
  tsl_status status = compile(tokenizer->vocab, constraint_type, data, &grammar, &error);
  if (!status) status = tsl_matcher_new(grammar, NULL, &m->matcher);
  tsl_grammar_release(grammar);
  if (status)
    fail(m, error.pointer[0] ? "%s at %s" : "%s%s",
         error.message[0] ? error.message : tsl_status_name(status), error.pointer);
  return m;
}

LlgMatcher *llg_clone_matcher(const LlgMatcher *matcher) {
  LlgMatcher *m = matcher == &no_memory ? NULL : malloc(sizeof *m);
  if (!m) return &no_memory;
  *m = *matcher;
  m->mask = NULL;
  m->has_mask = false;
  m->matcher = NULL;
  m->tokenizer = llg_clone_tokenizer(matcher->tokenizer);
  if (m->tokenizer && (!matcher->matcher || !tsl_matcher_fork(matcher->matcher, &m->matcher)))
    return m;
  llg_free_matcher(m);
  return &no_memory;
}

void llg_free_matcher(LlgMatcher *m) {
  if (!m || m == &no_memory) return;
  tsl_matcher_free(m->matcher);
  llg_free_tokenizer(m->tokenizer);
  free(m->mask);
  free(m);
}

int32_t llg_validate_grammar(const LlgConstraintInit *init, const char *constraint_type,
                             const char *data, char *message, size_t message_len) {
  LlgMatcher *m = llg_new_matcher(init, constraint_type, data);
  int32_t result = m->failed ? -1 : 0;
  say(message, message_len, m->error);
  llg_free_matcher(m);
  return result;
}

size_t llg_matcher_get_mask_byte_size(const LlgMatcher *m) {
  return m->tokenizer ? tsl_vocab_mask_words(m->tokenizer->vocab) * sizeof(uint32_t) : 0;
}

/* Nothing more may come: the text is over, or is complete and can't go on. */
static bool at_end(const LlgMatcher *m) {
  uint32_t set[8];
  if (tsl_matcher_is_terminated(m->matcher)) return true;
  if (!tsl_matcher_is_complete(m->matcher) || tsl_matcher_next_bytes(m->matcher, set)) return false;
  for (int i = 0; i < 8; i++)
    if (set[i]) return false;
  return true;
}

/* The end-of-sequence tokens alone. */
static void end_mask(const LlgMatcher *m, uint32_t *mask, size_t bytes) {
  uint32_t count;
  const tsl_token *ends = tsl_vocab_eog(m->tokenizer->vocab, &count);
  memset(mask, 0, bytes);
  for (uint32_t i = 0; i < count; i++) mask[ends[i] / 32] |= 1u << ends[i] % 32;
}

int32_t llg_matcher_compute_mask_into(LlgMatcher *m, uint32_t *mask_dest, size_t mask_byte_len) {
  if (m->failed || mask_byte_len != llg_matcher_get_mask_byte_size(m)) return -1;
  if (tsl_matcher_is_terminated(m->matcher)) return end_mask(m, mask_dest, mask_byte_len), 0;
  tsl_status status = tsl_matcher_mask(m->matcher, mask_dest);
  return status ? fail(m, "a mask: %s%s", tsl_status_name(status), "") : 0;
}

int32_t llg_matcher_compute_mask(LlgMatcher *m) {
  size_t bytes = llg_matcher_get_mask_byte_size(m);
  if (m->failed) return -1;
  if (!m->mask && !(m->mask = malloc(bytes))) return fail(m, "out of memory%s%s", "", "");
  int32_t result = llg_matcher_compute_mask_into(m, m->mask, bytes);
  m->has_mask = result == 0;
  return result;
}

const uint32_t *llg_matcher_get_mask(LlgMatcher *m) { return m->has_mask ? m->mask : NULL; }

int32_t llg_matcher_consume_token(LlgMatcher *m, uint32_t token) {
  char number[32];
  if (m->failed) return -1;
  m->has_mask = false;
  tsl_status status = tsl_matcher_accept(m->matcher, token);
  snprintf(number, sizeof number, "%lu", (unsigned long)token);
  return status ? fail(m,
                       status == TSL_REJECTED ? "token %s is not allowed by the grammar%s"
                                              : "token %s: %s",
                       number, status == TSL_REJECTED ? "" : tsl_status_name(status))
                : 0;
}

int32_t llg_matcher_consume_tokens(LlgMatcher *m, const uint32_t *tokens, size_t n_tokens) {
  for (size_t i = 0; i < n_tokens; i++)
    if (llg_matcher_consume_token(m, tokens[i])) return -1;
  return m->failed ? -1 : 0;
}

int32_t llg_matcher_rollback(LlgMatcher *m, size_t num_tokens) {
  if (m->failed) return -1;
  m->has_mask = false;
  return tsl_matcher_rollback(m->matcher, num_tokens)
             ? fail(m, "rollback of more tokens than there are%s%s", "", "")
             : 0;
}

int32_t llg_matcher_reset(LlgMatcher *m) {
  if (m->failed) return -1;
  m->has_mask = false;
  tsl_matcher_reset(m->matcher);
  return 0;
}

const char *llg_matcher_get_error(LlgMatcher *m) { return m->failed ? m->error : NULL; }

bool llg_matcher_is_error(const LlgMatcher *m) { return m->failed; }

/* After the end the text is as complete as before it. */
bool llg_matcher_is_accepting(LlgMatcher *m) {
  return !m->failed &&
         (tsl_matcher_is_complete(m->matcher) || tsl_matcher_is_terminated(m->matcher));
}

bool llg_matcher_is_stopped(const LlgMatcher *m) { return m->failed || at_end(m); }

int32_t llg_matcher_validate_tokens(LlgMatcher *m, const uint32_t *tokens, size_t n_tokens) {
  size_t valid = 0;
  if (m->failed) return -1;
  tsl_status status = tsl_matcher_validate(m->matcher, tokens, n_tokens, &valid);
  return status ? fail(m, "validating tokens: %s%s", tsl_status_name(status), "") : (int32_t)valid;
}

int32_t llg_matcher_compute_ff_tokens(LlgMatcher *m, uint32_t *output, size_t output_len) {
  uint8_t bytes[4096];
  uint32_t tokens[4096];
  size_t length = 0, valid = 0;
  if (m->failed) return -1;
  tsl_status status = tsl_matcher_forced_bytes(m->matcher, bytes, sizeof bytes, &length);
  if (status) return fail(m, "forced bytes: %s%s", tsl_status_name(status), "");
  size_t count = length ? llg_tokenize_bytes(m->tokenizer, bytes, length, tokens,
                                             sizeof tokens / sizeof *tokens)
                        : 0;
  if (count < 2 || count > sizeof tokens / sizeof *tokens) return 0;
  if (--count > output_len) count = output_len;
  status = tsl_matcher_validate(m->matcher, tokens, count, &valid);
  if (status) return fail(m, "forced tokens: %s%s", tsl_status_name(status), "");
  if (valid) memcpy(output, tokens, valid * sizeof *tokens);
  return (int32_t)valid;
}

/* ---- constraints ----------------------------------------------------------------------------- */

struct LlgConstraint {
  LlgMatcher *matcher;
  uint32_t token; /* committed last */
};

static LlgConstraint no_constraint = {.matcher = &no_memory};

static LlgConstraint *constraint_of(LlgMatcher *matcher) {
  LlgConstraint *c = matcher == &no_memory ? NULL : malloc(sizeof *c);
  if (!c) {
    llg_free_matcher(matcher);
    return &no_constraint;
  }
  *c = (LlgConstraint){matcher, TSL_NO_TOKEN};
  return c;
}

LlgConstraint *llg_new_constraint_any(const LlgConstraintInit *init, const char *type,
                                      const char *data) {
  return constraint_of(llg_new_matcher(init, type, data));
}
LlgConstraint *llg_new_constraint(const LlgConstraintInit *init, const char *data) {
  return llg_new_constraint_any(init, "llguidance", data);
}
LlgConstraint *llg_new_constraint_regex(const LlgConstraintInit *init, const char *data) {
  return llg_new_constraint_any(init, "regex", data);
}
LlgConstraint *llg_new_constraint_json(const LlgConstraintInit *init, const char *data) {
  return llg_new_constraint_any(init, "json", data);
}
LlgConstraint *llg_new_constraint_lark(const LlgConstraintInit *init, const char *data) {
  return llg_new_constraint_any(init, "lark", data);
}
LlgConstraint *llg_clone_constraint(const LlgConstraint *c) {
  return constraint_of(llg_clone_matcher(c->matcher));
}

void llg_free_constraint(LlgConstraint *c) {
  if (!c || c == &no_constraint) return;
  llg_free_matcher(c->matcher);
  free(c);
}

void llg_constraint_init_set_defaults(LlgConstraintInit *init, const LlgTokenizer *tokenizer) {
  *init = (LlgConstraintInit){.tokenizer = tokenizer};
}

const char *llg_get_error(const LlgConstraint *c) { return llg_matcher_get_error(c->matcher); }

float llg_get_temperature(const LlgConstraint *c) {
  (void)c;
  return 0;
}

bool llg_is_stopped(const LlgConstraint *c) { return llg_matcher_is_stopped(c->matcher); }

const char *llg_flush_logs(LlgConstraint *c) {
  (void)c;
  return "";
}

int32_t llg_compute_mask(LlgConstraint *c, LlgMaskResult *result) {
  bool stop = !c->matcher->failed && at_end(c->matcher);
  if (!stop && llg_matcher_compute_mask(c->matcher)) return -1;
  *result = (LlgMaskResult){stop ? NULL : c->matcher->mask, 0, stop};
  return 0;
}

int32_t llg_commit_token(LlgConstraint *c, LlgToken token, LlgCommitResult *result) {
  if (c->matcher->failed) return -1;
  bool stop = at_end(c->matcher);
  if (!stop && llg_matcher_consume_token(c->matcher, token)) return -1;
  stop = stop || tsl_matcher_is_terminated(c->matcher->matcher);
  c->token = token;
  *result = (LlgCommitResult){stop ? NULL : &c->token, stop ? 0 : 1, stop};
  return 0;
}

void llg_par_compute_mask(const LlgConstraintStep *steps, size_t n_steps, const void *user_data,
                          LlgCallback done_cb) {
  for (size_t i = 0; i < n_steps; i++) {
    LlgMaskResult result;
    const LlgConstraintStep *s = steps + i;
    memset(s->mask_dest, 0, s->mask_byte_len);
    if (llg_compute_mask(s->constraint, &result)) continue;
    size_t bytes = llg_matcher_get_mask_byte_size(s->constraint->matcher);
    bool whole = s->mask_byte_len >= bytes;
    if (result.is_stop && whole)
      end_mask(s->constraint->matcher, s->mask_dest, bytes);
    else if (!result.is_stop)
      memcpy(s->mask_dest, result.sample_mask, whole ? bytes : s->mask_byte_len);
  }
  if (done_cb) done_cb(user_data);
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
const char *llg_get_version(void) {
  return "turnstile " TEXT(TSL_VERSION_MAJOR) "." TEXT(TSL_VERSION_MINOR) "." TEXT(
      TSL_VERSION_PATCH);
}
