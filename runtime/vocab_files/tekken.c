/* tekken.c - a vocabulary from Mistral's tekken.json: ranks as in a tiktoken file, in JSON, behind
 * a block of special tokens.
 *
 * File      "config": "pattern", "default_vocab_size" (ids in all), "default_num_special_tokens"
 *           (the first of them). "vocab": objects with "rank" (0, 1, 2, … in order) and
 *           "token_bytes" (base64). "special_tokens", in newer files: objects with "rank" and
 *           "token_str". Of "vocab" the first default_vocab_size - default_num_special_tokens
 *           count; the id of a token is its rank plus the number of special ones. A special id
 *           without a name is <SPECIAL_id>. Files without "special_tokens" (240718, 240911) mean
 *           the names that mistral-common 1.13 has for them.
 * Example   default_vocab_size 131072 and 1000 special tokens: ranks 0 to 130071 count. The token
 *           of rank 33, "IQ==", spells "!" and has the id 1033. Entries of later ranks are passed
 *           over.
 * Lies      A rank that is not the next one, a token that is no base64, a special rank twice:
 *           FORMAT, with the offset.
 * Encoding  As tiktoken's, with the pattern of the file (or options->pattern). "<s>" is the
 *           beginning-of-sequence token.
 * Tested by tests/vocab_files/test_gguf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/vocab_files/tekken.h"

#include <stdio.h>

static const char *const old_names[] = {"<unk>",
                                        "<s>",
                                        "</s>",
                                        "[INST]",
                                        "[/INST]",
                                        "[AVAILABLE_TOOLS]",
                                        "[/AVAILABLE_TOOLS]",
                                        "[TOOL_RESULTS]",
                                        "[/TOOL_RESULTS]",
                                        "[TOOL_CALLS]",
                                        "[IMG]",
                                        "<pad>",
                                        "[IMG_BREAK]",
                                        "[IMG_END]",
                                        "[PREFIX]",
                                        "[MIDDLE]",
                                        "[SUFFIX]",
                                        "[SYSTEM_PROMPT]",
                                        "[/SYSTEM_PROMPT]",
                                        "[TOOL_CONTENT]"};

typedef struct tekken {
  const tsl_allocator *a;
  const tsl__hf_file *file;
  tsl_error *error;
  tsl__vocab_builder b;
  uint32_t size, specials; /* ids in all; special ones */
  const tsl__doc **named;  /* by special id: "token_str", or NULL */
} tekken;

static tsl_status no_memory(const tekken *t) {
  return tsl__fail(t->error, TSL_ERR_NO_MEMORY, "out of memory");
}

static tsl_status bad(const tekken *t, const tsl__doc *node, const char *what) {
  return tsl__fail_at(t->error, TSL_ERR_FORMAT, t->file->text, t->file->length,
                      node ? node->offset : 0, "%s", what);
}

bool tsl__is_tekken(const tsl__hf_file *file) {
  const tsl__doc *config = tsl__doc_get(file->root, "config"),
                 *vocab = tsl__doc_get(file->root, "vocab");
  return vocab && vocab->kind == TSL__DOC_ARRAY &&
         tsl__doc_get(config, "default_num_special_tokens");
}

static tsl_status read_config(tekken *t) {
  const tsl__doc *config = tsl__doc_get(t->file->root, "config");
  if (!tsl__doc_u32(tsl__doc_get(config, "default_vocab_size"), &t->size) ||
      !tsl__doc_u32(tsl__doc_get(config, "default_num_special_tokens"), &t->specials))
    return bad(
        t, config,
        "the config needs the numbers \"default_vocab_size\" and \"default_num_special_tokens\"");
  if (t->specials >= t->size) return bad(t, config, "there are no more tokens than special tokens");
  if (t->size > TSL_MAX_VOCAB)
    return tsl__fail_at(t->error, TSL_ERR_LIMIT, t->file->text, t->file->length, config->offset,
                        "more than %u tokens (TSL_MAX_VOCAB)", TSL_MAX_VOCAB);
  if (tsl__too_many_unnamed(t->specials, 0))
    return tsl__fail_at(t->error, TSL_ERR_LIMIT, t->file->text, t->file->length, config->offset,
                        "more than %u special tokens", TSL__UNNAMED_IDS);
  return TSL_OK;
}

/* ---- special tokens -------------------------------------------------------------------------- */

static tsl_status read_names(tekken *t) {
  const tsl__doc *list = tsl__doc_get(t->file->root, "special_tokens");
  t->named = tsl__alloc_zero(t->a, (t->specials + 1) * sizeof *t->named);
  if (!t->named) return no_memory(t);
  if (list && list->kind != TSL__DOC_ARRAY) return bad(t, list, "special_tokens is not an array");
  for (const tsl__doc *s = list ? list->first : NULL; s; s = s->next) {
    const tsl__doc *text = tsl__doc_get(s, "token_str");
    uint32_t rank;
    if (!tsl__doc_u32(tsl__doc_get(s, "rank"), &rank) || !text || text->kind != TSL__DOC_STRING ||
        !text->length)
      return bad(t, s, "a special token needs \"rank\" and \"token_str\"");
    if (rank >= t->specials)
      return bad(t, s, "a special token's rank is not below \"default_num_special_tokens\"");
    if (t->named[rank]) return bad(t, s, "two special tokens have the same rank");
    t->named[rank] = text;
  }
  return TSL_OK;
}

static tsl_status put_special(tekken *t, tsl_token id, const char *text, size_t length) {
  bool ends = tsl__is_eog_name(text, length), begins = length == 3 && !memcmp(text, "<s>", 3);
  if (!tsl__vec_reserve(t->a, &t->b.bytes, length)) return no_memory(t);
  memcpy(t->b.bytes.at + t->b.bytes.n, text, length);
  t->b.bytes.n += length;
  bool ok = tsl__builder_added(&t->b, id, 0, text, length) &&
            tsl__vec_push(t->a, &t->b.special, 1) &&
            tsl__vec_push(t->a, &t->b.offsets, (uint32_t)t->b.bytes.n) &&
            (!ends || tsl__vec_push(t->a, &t->b.eog, id)) &&
            (!begins || tsl__vec_push(t->a, &t->b.bos, id));
  return ok ? TSL_OK : no_memory(t);
}

static tsl_status add_specials(tekken *t) {
  bool old = !tsl__doc_get(t->file->root, "special_tokens");
  tsl_status status = read_names(t);
  for (tsl_token id = 0; id < t->specials && !status; id++) {
    char filler[32];
    const char *text = old && id < sizeof old_names / sizeof *old_names ? old_names[id] : filler;
    snprintf(filler, sizeof filler, "<SPECIAL_%u>", id);
    status = t->named[id] ? put_special(t, id, t->named[id]->text, t->named[id]->length)
                          : put_special(t, id, text, strlen(text));
  }
  return status;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static tsl_status put_token(tekken *t, tsl_token id, const tsl__doc *node) {
  const tsl__doc *bytes = tsl__doc_get(node, "token_bytes");
  uint32_t rank;
  if (!tsl__doc_u32(tsl__doc_get(node, "rank"), &rank) || !bytes || bytes->kind != TSL__DOC_STRING)
    return bad(t, node, "a token needs \"rank\" and \"token_bytes\"");
  if (rank != id - t->specials) return bad(t, node, "the ranks are not 0, 1, 2, … in order");
  if (!bytes->length || bytes->length % 4)
    return bad(t, bytes, "base64 comes in groups of four characters");
  if (t->b.bytes.n > UINT32_MAX / 2)
    return tsl__fail(t->error, TSL_ERR_LIMIT, "the tokens have more than 2^31 bytes");
  if (!tsl__vec_reserve(t->a, &t->b.bytes, bytes->length)) return no_memory(t);
  size_t begin = t->b.bytes.n;
  for (uint32_t at = 0; at < bytes->length; at += 4) {
    int wrong, n = tsl__base64_group(bytes->text + at, at + 4 == bytes->length,
                                     t->b.bytes.at + t->b.bytes.n, &wrong);
    if (n < 0)
      return bad(t, bytes, wrong < 0 ? "base64 with bits left over" : "not a character of base64");
    t->b.bytes.n += (size_t)n;
  }
  if (t->b.bytes.n - begin == 1) t->b.facts.bytes[t->b.bytes.at[begin]] = id;
  return tsl__vec_push(t->a, &t->b.special, 0) &&
                 tsl__vec_push(t->a, &t->b.offsets, (uint32_t)t->b.bytes.n)
             ? TSL_OK
             : no_memory(t);
}

static tsl_status add_tokens(tekken *t) {
  const tsl__doc *vocab = tsl__doc_get(t->file->root, "vocab"), *node = vocab->first;
  tsl_status status = TSL_OK;
  for (tsl_token id = t->specials; id < t->size && !status; id++, node = node->next) {
    if (!node) return bad(t, vocab, "\"vocab\" has fewer tokens than the config says");
    status = put_token(t, id, node);
  }
  return status;
}

static tsl_status make_lookup(tekken *t) {
  uint8_t *take = tsl__alloc(t->a, t->size);
  if (!take) return no_memory(t);
  for (tsl_token id = 0; id < t->size; id++) take[id] = id >= t->specials;
  bool ok = tsl__lookup_build(&t->b, t->size, take);
  tsl__free(t->a, take, t->size);
  if (!ok) return no_memory(t);
  size_t doubles = t->size - t->specials - tsl__lookup_count(&t->b.tables);
  return doubles ? tsl__fail(t->error, TSL_ERR_FORMAT, "%zu tokens are there twice", doubles)
                 : TSL_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static tsl_status load(tekken *t, const char *given) {
  const tsl__doc *pattern = tsl__doc_get(tsl__doc_get(t->file->root, "config"), "pattern");
  tsl_status status = read_config(t);
  if (!status && !given && (!pattern || pattern->kind != TSL__DOC_STRING))
    status = bad(t, pattern, "the config needs a \"pattern\"");
  if (!status && !tsl__vec_push(t->a, &t->b.offsets, 0)) status = no_memory(t);
  if (!status) status = add_specials(t);
  if (!status) status = add_tokens(t);
  if (!status) status = make_lookup(t);
  if (status) return status;
  tsl__step split = {.kind = TSL__STEP_SPLIT_REGEX,
                     .how = TSL__SPLIT_REMOVED,
                     .invert = 1,
                     .dialect = TSL__DIALECT_RUST};
  t->b.facts.units = TSL__UNITS_RANKS;
  t->b.facts.whole_pieces = 1;
  bool ok = tsl__builder_step(&t->b, split, given ? given : pattern->text,
                              given ? strlen(given) : pattern->length, "", 0);
  return ok ? TSL_OK : no_memory(t);
}

tsl_status tsl__load_tekken(const tsl__hf_file *file, const tsl_vocab_options *options,
                            const tsl_allocator *a, tsl_vocab **out, tsl_error *error) {
  tekken t = {.a = a, .file = file, .error = error};
  tsl__builder_init(&t.b, a);
  tsl_status status = load(&t, options->pattern);
  if (!status) status = tsl__builder_finish(&t.b, options, out, error);
  tsl__free(a, t.named, (t.specials + 1) * sizeof *t.named);
  tsl__builder_free(&t.b);
  return status;
}
