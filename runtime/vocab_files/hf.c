/* hf.c - a vocabulary from HF's tokenizer.json, model type BPE.
 *
 * Two families use this format:
 *   byte level      GPT-2, Llama 3, Qwen. Tokens are written in an alphabet of 256 printable
 *                   characters: "Ġthe" spells " the".
 *   code points     Llama 2, Gemma. Tokens are text with "▁" for a space; a character that is no
 *                   token falls back to "<0xHH>".
 * What a token spells is what the file's decoder makes of it in the middle of a text, whatever its
 * neighbours are. A decoder that joins tokens and goes on to change the text is refused. Without
 * one (HF puts a space after each token then) tokens spell what they are written as. A "<0xHH>"
 * spells its byte where the model falls back to it or the decoder says so. Added tokens of the
 * first family stand for themselves.
 *
 * Passes    read (hf_read.c) -> steps (hf_steps.c) -> decoder -> names by id (bpe_build.c) -> added
 *           tokens, BOS -> spelling and merges (bpe_build.c) -> tokenizer/builder.c
 * Lies      Ids and names may not repeat, merges name tokens of the model, added tokens agree with
 *           it: FORMAT, with the offset. Ids may leave holes; those are tokens without bytes.
 *
 * Example   Byte level: the token "Ġthe" has the characters U+0120 and t, h, e. U+0120 stands for
 *           byte 32, the others for themselves, so it spells " the". Code points: "▁the" spells the
 *           same, because the decoder replaces "▁" by a space. "<0x0A>" spells byte 10, as the
 *           decoder has ByteFallback. The file has no "é": the model falls back to <0xC3> and
 *           <0xA9>.
 * Order     Ids come from three places that must agree: the model's vocabulary, the added tokens,
 *           and BOS of the post-processor. An added token with an id that the model has must be the
 *           same text. Otherwise masks would allow one text, and the host would print the other.
 * Cost      Llama 3.1 (9 MB, 128,256 tokens, 280,147 merges): about 70 ms of one core, of which
 *           yajl and the trie take 20 each.
 * Tested by tests/vocab_files/test_vocab_files.c, tests/tokenizer/test_encode.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/vocab_files/bpe_build.h"
#include "runtime/vocab_files/hf_steps.h"
#include "runtime/vocab_files/tekken.h"

static tsl_status no_memory(const tsl__bpe_build *h) {
  return tsl__fail(h->error, TSL_ERR_NO_MEMORY, "out of memory");
}

static const tsl__doc *model_of(const tsl__bpe_build *h) {
  return tsl__doc_get(h->file.root, "model");
}

/* ---- the model's options --------------------------------------------------------------------- */

static bool is_empty(const tsl__doc *node) {
  return !node || (node->kind == TSL__DOC_STRING && !node->length);
}

/* Is this number 0, in whichever spelling? */
static bool is_zero(const tsl__doc *number) {
  size_t zeros = 0;
  while (zeros < number->length && memchr("-0.", number->text[zeros], 3)) zeros++;
  return zeros == number->length || number->text[zeros] == 'e' || number->text[zeros] == 'E';
}

static tsl_status read_model(tsl__bpe_build *h) {
  const tsl__doc *type, *model = model_of(h);
  if (h->file.root->kind != TSL__DOC_OBJECT)
    return tsl__hf_fail(&h->file, h->file.root, TSL_ERR_FORMAT, h->error,
                        "a tokenizer file is a JSON object");
  if (!model || model->kind != TSL__DOC_OBJECT)
    return tsl__hf_fail(&h->file, h->file.root, TSL_ERR_FORMAT, h->error,
                        "this JSON is no tokenizer.json: there is no \"model\"");
  type = tsl__doc_get(model, "type");
  if (type && !tsl__doc_is(type, "BPE"))
    return tsl__hf_fail(&h->file, type, TSL_ERR_UNSUPPORTED, h->error,
                        "the model's type is not \"BPE\", the only one that is supported");
  if (!tsl__doc_get(model, "vocab") || !h->file.tokens.n)
    return tsl__hf_fail(&h->file, model, TSL_ERR_FORMAT, h->error, "the model has no tokens");
  const tsl__doc *dropout = tsl__doc_get(model, "dropout");
  if (dropout && dropout->kind == TSL__DOC_NUMBER && !is_zero(dropout))
    return tsl__hf_fail(&h->file, dropout, TSL_ERR_UNSUPPORTED, h->error,
                        "dropout, which makes encoding random, is not supported");
  if (!is_empty(tsl__doc_get(model, "continuing_subword_prefix")) ||
      !is_empty(tsl__doc_get(model, "end_of_word_suffix")))
    return tsl__hf_fail(&h->file, model, TSL_ERR_UNSUPPORTED, h->error,
                        "continuing_subword_prefix and end_of_word_suffix are not supported");
  h->byte_fallback = tsl__doc_true(tsl__doc_get(model, "byte_fallback"));
  h->b.facts.fuse_unknown = tsl__doc_true(tsl__doc_get(model, "fuse_unk"));
  h->b.facts.whole_pieces = tsl__doc_true(tsl__doc_get(model, "ignore_merges"));
  return TSL_OK;
}

/* ---- the decoder ----------------------------------------------------------------------------- */

static tsl_status set_space(tsl__bpe_build *h, const tsl__doc *node, const tsl__doc *from,
                            const char *to, uint32_t length) {
  if (!from || from->kind != TSL__DOC_STRING || !from->length)
    return tsl__hf_fail(&h->file, node, TSL_ERR_FORMAT, h->error,
                        "a decoder lacks what it replaces");
  if (h->space)
    return tsl__hf_fail(&h->file, node, TSL_ERR_UNSUPPORTED, h->error,
                        "a second decoder that replaces text is not supported");
  h->space = from->text;
  h->space_length = from->length;
  h->blank = to;
  h->blank_length = length;
  return TSL_OK;
}

/* What the decoders before have made of the tokens. */
typedef struct decoded {
  bool any;        /* there were some */
  bool byte_level; /* ByteLevel: tokens became bytes, joined */
  bool bytes;      /* ByteFallback: neighbouring byte tokens are one text */
  bool joined;     /* Fuse, ByteLevel: all tokens are one text */
} decoded;

static tsl_status refuse_decoder(const tsl__bpe_build *h, const tsl__doc *node, const char *what) {
  return tsl__hf_fail(&h->file, node, TSL_ERR_UNSUPPORTED, h->error, what);
}

static bool is_one_point(const tsl__doc *text) {
  uint32_t cp;
  return text && text->length &&
         tsl__utf8_decode((const uint8_t *)text->text, text->length, &cp) == text->length;
}

/* What lies on both sides of a token's border is not to be replaced. One character does not lie so,
 * unless it is spelled in byte tokens, for which the model's text has no reason. */
static tsl_status read_replacing(tsl__bpe_build *h, const tsl__doc *node, const decoded *d) {
  const tsl__doc *content = tsl__doc_get(node, "content");
  bool regex, metaspace = tsl__doc_is(tsl__doc_get(node, "type"), "Metaspace");
  if (d->byte_level)
    return refuse_decoder(h, node, "a decoder that replaces text after ByteLevel is not supported");
  if (metaspace && d->joined)
    return refuse_decoder(h, node, "a Metaspace decoder after Fuse is not supported");
  if (metaspace) return set_space(h, node, tsl__doc_get(node, "replacement"), " ", 1);
  const tsl__doc *from = tsl__hf_pattern(node, "pattern", &regex);
  if (regex || !content || content->kind != TSL__DOC_STRING)
    return refuse_decoder(h, node,
                          "a decoder that replaces anything but a string is not supported");
  if ((d->bytes || d->joined) && !is_one_point(from))
    return refuse_decoder(h, node,
                          "a decoder that replaces more than one character after ByteFallback or "
                          "Fuse is not supported");
  return set_space(h, node, from, content->text, content->length);
}

/* Those whose effect depends on what came before. Strip says nothing about the middle of a text
 * that is one. */
static tsl_status read_decoder(tsl__bpe_build *h, const tsl__doc *node, decoded *d) {
  const tsl__doc *type = tsl__doc_get(node, "type");
  tsl_status status = TSL_OK;
  if (tsl__doc_is(type, "ByteLevel")) {
    if (d->any) return refuse_decoder(h, node, "a ByteLevel decoder after others is not supported");
    d->byte_level = d->joined = true;
  } else if (tsl__doc_is(type, "ByteFallback")) {
    if (d->joined && !d->byte_level)
      return refuse_decoder(h, node, "a ByteFallback decoder after Fuse is not supported");
    h->byte_tokens = d->bytes = true;
  } else if (tsl__doc_is(type, "Metaspace") || tsl__doc_is(type, "Replace")) {
    status = read_replacing(h, node, d);
  } else if (tsl__doc_is(type, "Fuse")) {
    d->joined = true;
  } else if (!tsl__doc_is(type, "Strip")) {
    return refuse_decoder(h, type ? type : node, "this type of decoder is not supported");
  } else if (!d->joined) {
    return refuse_decoder(
        h, node,
        "a Strip decoder without Fuse before it, which strips each token, is not supported");
  }
  d->any = true;
  return status;
}

static tsl_status read_decoders(tsl__bpe_build *h) {
  const tsl__doc *node = tsl__doc_get(h->file.root, "decoder");
  decoded d = {0};
  tsl_status status = TSL_OK;
  if (tsl__doc_is(tsl__doc_get(node, "type"), "Sequence")) {
    const tsl__doc *parts = tsl__doc_get(node, "decoders");
    for (const tsl__doc *part = parts ? parts->first : NULL; part && !status; part = part->next)
      status = read_decoder(h, part, &d);
  } else if (node) {
    status = read_decoder(h, node, &d);
  }
  if (status || d.byte_level == h->byte_level) return status;
  return refuse_decoder(h, node, "the pre_tokenizer and the decoder do not agree on ByteLevel");
}

/* ---- added tokens, BOS ----------------------------------------------------------------------- */

static const tsl__doc *added_tokens(const tsl__bpe_build *h) {
  const tsl__doc *list = tsl__doc_get(h->file.root, "added_tokens");
  return list ? list->first : NULL;
}

static tsl_status check_added(const tsl__bpe_build *h, uint32_t *largest, size_t *count) {
  const tsl__doc *list = tsl__doc_get(h->file.root, "added_tokens");
  if (list && list->kind != TSL__DOC_ARRAY)
    return tsl__hf_fail(&h->file, list, TSL_ERR_FORMAT, h->error, "added_tokens is not an array");
  for (const tsl__doc *t = added_tokens(h); t; t = t->next) {
    const tsl__doc *content = tsl__doc_get(t, "content");
    uint32_t id;
    if (!tsl__doc_u32(tsl__doc_get(t, "id"), &id) || !content || content->kind != TSL__DOC_STRING ||
        !content->length)
      return tsl__hf_fail(&h->file, t, TSL_ERR_FORMAT, h->error,
                          "an added token needs \"id\" and \"content\"");
    if (id > *largest) *largest = id;
    ++*count;
  }
  return TSL_OK;
}

static uint32_t added_flags(const tsl__doc *t) {
  return (tsl__doc_true(tsl__doc_get(t, "single_word")) ? TSL__ADDED_SINGLE_WORD : 0) |
         (tsl__doc_true(tsl__doc_get(t, "lstrip")) ? TSL__ADDED_LSTRIP : 0) |
         (tsl__doc_true(tsl__doc_get(t, "rstrip")) ? TSL__ADDED_RSTRIP : 0) |
         (tsl__doc_true(tsl__doc_get(t, "normalized")) ? TSL__ADDED_NORMALIZED : 0);
}

static tsl_status read_added(tsl__bpe_build *h) {
  for (const tsl__doc *t = added_tokens(h); t; t = t->next) {
    const tsl__doc *content = tsl__doc_get(t, "content");
    uint32_t id = 0;
    tsl__doc_u32(tsl__doc_get(t, "id"), &id);
    const tsl__name *n = &h->names[id];
    bool same =
        n->text && n->length == content->length && !memcmp(n->text, content->text, n->length);
    if (same && n->added) continue; /* listed twice */
    tsl_status status = same ? TSL_OK
                             : tsl__build_name(h, id,
                                               (tsl__name){.text = content->text,
                                                           .length = content->length,
                                                           .offset = content->offset});
    if (status) return status;
    h->names[id].added = true;
    h->names[id].special = tsl__doc_true(tsl__doc_get(t, "special"));
    if (!tsl__builder_added(&h->b, id, added_flags(t), content->text, content->length))
      return no_memory(h);
    if (h->names[id].special && tsl__is_eog_name(content->text, content->length) &&
        !tsl__vec_push(h->a, &h->b.eog, id))
      return no_memory(h);
  }
  return TSL_OK;
}

/* parts of a template, tokens that it knows, and ids that are put before a text */
#define PUT_MAX 1024u

static tsl_status add_bos(tsl__bpe_build *h, const tsl__doc *id) {
  uint32_t bos;
  if (!tsl__doc_u32(id, &bos) || bos >= h->size)
    return tsl__hf_fail(&h->file, id, TSL_ERR_FORMAT, h->error,
                        "the post_processor names an id that is no token");
  if (h->b.bos.n == PUT_MAX)
    return tsl__hf_fail(&h->file, id, TSL_ERR_LIMIT, h->error,
                        "the post_processor puts more than 1,024 ids before a text");
  return tsl__vec_push(h->a, &h->b.bos, bos) ? TSL_OK : no_memory(h);
}

/* What a TemplateProcessing's "special_tokens" says: names and their ids. */
typedef struct known {
  const tsl__doc *token, *ids;
} known;

static tsl_status list_known(const tsl__bpe_build *h, const tsl__doc *processor,
                             known list[PUT_MAX], uint32_t *n) {
  const tsl__doc *tokens = tsl__doc_get(processor, "special_tokens");
  *n = 0;
  for (const tsl__doc *t = tokens ? tokens->first : NULL; t; t = t->next) {
    if (*n == PUT_MAX)
      return tsl__hf_fail(&h->file, t, TSL_ERR_LIMIT, h->error,
                          "the post_processor's template knows more than 1,024 tokens");
    list[(*n)++] = (known){t, tsl__doc_get(t, "ids")};
  }
  return TSL_OK;
}

/* The ids of one part of a template. */
static tsl_status add_part(tsl__bpe_build *h, const tsl__doc *processor, const tsl__doc *id,
                           const known *list, uint32_t n) {
  uint32_t at = 0;
  while (at < n && !(id && id->length == list[at].token->key_length &&
                     !memcmp(id->text, list[at].token->key, id->length)))
    at++;
  if (at == n || !list[at].ids)
    return tsl__hf_fail(&h->file, processor, TSL_ERR_FORMAT, h->error,
                        "the post_processor's template names a token without ids");
  tsl_status status = TSL_OK;
  for (const tsl__doc *i = list[at].ids->first; i && !status; i = i->next) status = add_bos(h, i);
  return status;
}

/* What the template puts before the text; what it puts after it is left alone. */
static tsl_status read_template(tsl__bpe_build *h, const tsl__doc *processor) {
  const tsl__doc *single = tsl__doc_get(processor, "single");
  known list[PUT_MAX];
  uint32_t parts = 0, n;
  tsl_status status = list_known(h, processor, list, &n);
  for (const tsl__doc *part = single ? single->first : NULL;
       part && !status && !tsl__doc_get(part, "Sequence"); part = part->next) {
    if (++parts > PUT_MAX)
      return tsl__hf_fail(
          &h->file, part, TSL_ERR_LIMIT, h->error,
          "the post_processor's template has more than 1,024 parts before the text");
    status =
        add_part(h, processor, tsl__doc_get(tsl__doc_get(part, "SpecialToken"), "id"), list, n);
  }
  return status;
}

/* RobertaProcessing and BertProcessing put "cls", a token's text and id, before the text (and "sep"
 * after it). */
static tsl_status read_cls(tsl__bpe_build *h, const tsl__doc *processor) {
  const tsl__doc *cls = tsl__doc_get(processor, "cls");
  if (!cls || cls->kind != TSL__DOC_ARRAY || !cls->first || !cls->first->next)
    return tsl__hf_fail(&h->file, processor, TSL_ERR_FORMAT, h->error,
                        "a post_processor needs \"cls\", a token and its id");
  return add_bos(h, cls->first->next);
}

/* A processor, or all parts of a Sequence. Recursion is bounded by TSL__HF_MAX_DEPTH. */
static tsl_status read_post_processor(tsl__bpe_build *h, const tsl__doc *node) {
  const tsl__doc *type = tsl__doc_get(node, "type"), *parts = tsl__doc_get(node, "processors");
  if (tsl__doc_is(type, "TemplateProcessing")) return read_template(h, node);
  if (tsl__doc_is(type, "RobertaProcessing") || tsl__doc_is(type, "BertProcessing"))
    return read_cls(h, node);
  tsl_status status = TSL_OK;
  for (const tsl__doc *part = parts ? parts->first : NULL; part && !status; part = part->next)
    status = read_post_processor(h, part);
  return status;
}

static tsl_status make_tables(tsl__bpe_build *h) {
  const tsl__doc *unknown = tsl__doc_get(model_of(h), "unk_token");
  if (unknown && unknown->kind != TSL__DOC_STRING)
    return tsl__hf_fail(&h->file, unknown, TSL_ERR_FORMAT, h->error, "unk_token is not a string");
  /* One that is no token of the model: encoding fails where it is needed, as in HF. */
  if (unknown) h->b.facts.unknown = tsl__build_find(h, unknown->text, unknown->length);
  if (!h->byte_level && h->b.facts.whole_pieces)
    return tsl__hf_fail(&h->file, model_of(h), TSL_ERR_UNSUPPORTED, h->error,
                        "ignore_merges without ByteLevel is not supported");
  return tsl__build_tables(h);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static tsl_status load(tsl__bpe_build *h, const tsl_vocab_options *options, tsl_vocab **out) {
  uint32_t largest = 0;
  size_t added = 0;
  tsl_status status = read_model(h);
  if (!status) status = tsl__hf_steps(&h->file, &h->b, &h->byte_level, h->error);
  if (!status) status = read_decoders(h);
  if (!status) status = check_added(h, &largest, &added);
  if (!status) status = tsl__build_names(h, largest, added);
  if (!status) status = read_added(h);
  if (!status) status = read_post_processor(h, tsl__doc_get(h->file.root, "post_processor"));
  if (!status) status = tsl__build_spell(h);
  if (!status) status = make_tables(h);
  return status ? status : tsl__builder_finish(&h->b, options, out, h->error);
}

tsl_status tsl__load_hf(const char *text, size_t length, const tsl_vocab_options *options,
                        const tsl_allocator *a, tsl_vocab **out, tsl_error *error) {
  tsl__bpe_build h = {.a = a, .error = error};
  tsl_status status = tsl__hf_read(&h.file, a, text, length, error);
  if (status) return status;
  tsl__builder_init(&h.b, a);
  status = tsl__is_tekken(&h.file) ? tsl__load_tekken(&h.file, options, a, out, error)
                                   : load(&h, options, out);
  tsl__build_free(&h);
  tsl__hf_free(&h.file);
  return status;
}
