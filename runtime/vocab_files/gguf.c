/* gguf.c - a vocabulary from a GGUF file, as llama.cpp's models are kept.
 *
 * Models    "llama"        scored pieces (SentencePiece): tokenizer/pieces.c
 *           "gpt2"         byte-level BPE; "tokenizer.ggml.pre" names the pre-tokenisation, which
 *                          gguf_pre.c knows: bpe_build.c
 *           "gemma4"       BPE over code points with byte tokens, "▁" for a space: bpe_build.c
 *           "bert", "t5"   what tokens spell, so that masks work; encoding says UNSUPPORTED
 *           Any other is refused by name. A "pre" that is not known is no error unless text is
 *           encoded; options->pattern stands in for it.
 * Example   The keys tokenizer.ggml.model "gpt2", .pre "qwen2", .tokens, .merges and .token_type.
 *           The tokens and merges go to bpe_build.c as they would from a tokenizer.json. gguf_pre.c
 *           knows qwen2, so text is encoded by that pattern. Type 3 of <|im_end|> is "control": it
 *           is special, and it ends a generation by its well-known name, if no key says so.
 * Tokens    Control and unknown tokens are special, and found in text with TSL_ENCODE_SPECIAL.
 *           User-defined ones are found in any text, as llama.cpp does it: Gemma's "  " and "<b>"
 *           are such tokens. Unused ones, and user-defined ones that a converter filled up
 *           with ("[PAD" and the id "]"), spell nothing and so are never allowed.
 * Ends      eos, eot and eom, and control or user-defined tokens with a well-known name.
 * As there  Text is encoded as llama.cpp does it: without the normalisation (NFC) that some models'
 *           own tokenizers begin with, which GGUF does not say. Two things differ: added tokens
 *           are found leftmost first, not longest first, and white space that Phi-3's tokens take
 *           along stays.
 *
 * Tested by tests/vocab_files/test_gguf.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/vocab_files/gguf_pre.h"
#include "runtime/vocab_files/gguf_read.h"
#include "runtime/tokenizer/pieces.h"

#define MAX_METADATA ((size_t)1 << 30) /* bytes; the largest known have 20 MB */

typedef struct loader {
  tsl__gguf g;
  tsl__bpe_build h;
  tsl__piece_model model; /* all tokens, of any model */
  tsl_token bos;
  bool known_pre; /* how text is cut before merges is known */
} loader;

#define VALUE(l, name) (&(l)->g.value[TSL__GGUF_KEY_##name])

static tsl_status no_memory(const loader *l) {
  return tsl__fail(l->g.error, TSL_ERR_NO_MEMORY, "out of memory");
}

static tsl_status refuse(const loader *l, unsigned key, tsl_status status, const char *what) {
  return tsl__fail_binary(l->g.error, status,
                          l->g.value[key].type == TSL__GGUF_ABSENT ? 0 : l->g.value[key].at,
                          "\"%s\" %s", tsl__gguf_key(key), what);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* An id, or TSL_NO_TOKEN if the key is absent. */
static tsl_status read_id(const loader *l, unsigned key, tsl_token *out) {
  const tsl__gguf_value *v = &l->g.value[key];
  *out = TSL_NO_TOKEN;
  if (v->type == TSL__GGUF_ABSENT) return TSL_OK;
  if (v->type != TSL__GGUF_U32 && v->type != TSL__GGUF_I32)
    return refuse(l, key, TSL_ERR_FORMAT, "is not a 32-bit number");
  uint32_t id = tsl__gguf_u32(&l->g, v->at);
  if (id >= l->model.pieces.n) {
    if (id == UINT32_MAX) return TSL_OK; /* -1: there is none */
    return refuse(l, key, TSL_ERR_FORMAT, "is no token's id");
  }
  *out = id;
  return TSL_OK;
}

static tsl_status read_flag(const loader *l, unsigned key, bool *flag) {
  const tsl__gguf_value *v = &l->g.value[key];
  if (v->type == TSL__GGUF_ABSENT) return TSL_OK;
  if (v->type != TSL__GGUF_BOOL) return refuse(l, key, TSL_ERR_FORMAT, "is not a boolean");
  *flag = l->g.data[v->at] != 0;
  return TSL_OK;
}

/* Is the key an array of `item`s with one for each token? Absent is fine too. */
static tsl_status check_array(const loader *l, unsigned key, uint32_t item) {
  const tsl__gguf_value *v = &l->g.value[key];
  if (v->type == TSL__GGUF_ABSENT) return TSL_OK;
  if (v->type != TSL__GGUF_ARRAY || v->item != item)
    return refuse(l, key, TSL_ERR_FORMAT, "is not an array of the expected type");
  return v->count == VALUE(l, TOKENS)->count
             ? TSL_OK
             : refuse(l, key, TSL_ERR_FORMAT, "has not one element for each token");
}

/* ---- tokens ---------------------------------------------------------------------------------- */

/* "[PAD151650]", id 151650 */
static bool is_filler(const tsl__piece *p, tsl_token id) {
  uint64_t number = 0;
  if (p->length < 6 || p->length > 15 || memcmp(p->text, "[PAD", 4) ||
      p->text[p->length - 1] != ']')
    return false;
  for (uint32_t i = 4; i + 1 < p->length; i++) {
    if (p->text[i] < '0' || p->text[i] > '9') return false;
    number = number * 10 + (uint64_t)(p->text[i] - '0');
  }
  return number == id;
}

static tsl_status check_tokens(const loader *l) {
  const tsl__gguf_value *tokens = VALUE(l, TOKENS);
  if (tokens->type != TSL__GGUF_ARRAY || tokens->item != TSL__GGUF_STRING)
    return refuse(l, TSL__GGUF_KEY_TOKENS, TSL_ERR_FORMAT,
                  tokens->type == TSL__GGUF_ABSENT ? "is missing" : "is not an array of strings");
  if (!tokens->count) return refuse(l, TSL__GGUF_KEY_TOKENS, TSL_ERR_FORMAT, "is empty");
  if (tokens->count > TSL_MAX_VOCAB)
    return refuse(l, TSL__GGUF_KEY_TOKENS, TSL_ERR_LIMIT,
                  "has more than 4,194,304 tokens (TSL_MAX_VOCAB)");
  tsl_status status = check_array(l, TSL__GGUF_KEY_SCORES, TSL__GGUF_F32);
  return status ? status : check_array(l, TSL__GGUF_KEY_TYPES, TSL__GGUF_I32);
}

static tsl_status read_tokens(loader *l) {
  const tsl__gguf_value *scores = VALUE(l, SCORES), *types = VALUE(l, TYPES);
  tsl_status status = check_tokens(l);
  if (status) return status;
  uint32_t n = (uint32_t)VALUE(l, TOKENS)->count;
  if (!tsl__vec_reserve(l->model.alloc, &l->model.pieces, n)) return no_memory(l);
  size_t at = VALUE(l, TOKENS)->at;
  for (uint32_t id = 0; id < n; id++) {
    tsl__piece p = {.offset = (uint32_t)at, .type = TSL__PIECE_NORMAL};
    p.text = tsl__gguf_string(&l->g, &at, &p.length);
    if (scores->type != TSL__GGUF_ABSENT) {
      uint32_t bits = tsl__gguf_u32(&l->g, scores->at + 4 * (size_t)id);
      memcpy(&p.score, &bits, sizeof bits);
    }
    if (types->type != TSL__GGUF_ABSENT) p.type = tsl__gguf_u32(&l->g, types->at + 4 * (size_t)id);
    if (p.type == TSL__PIECE_USER && is_filler(&p, id)) p.type = TSL__PIECE_UNUSED;
    l->model.pieces.at[l->model.pieces.n++] = p;
  }
  return TSL_OK;
}

/* ---- ids with a meaning ---------------------------------------------------------------------- */

static tsl_status add_ends(loader *l) {
  static const unsigned ends[] = {TSL__GGUF_KEY_EOS, TSL__GGUF_KEY_EOT, TSL__GGUF_KEY_EOM};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    tsl_token id;
    tsl_status status = read_id(l, ends[i], &id);
    if (status) return status;
    if (id != TSL_NO_TOKEN && !tsl__vec_push(l->model.alloc, &l->h.b.eog, id)) return no_memory(l);
  }
  return TSL_OK;
}

/* `adds`: what the kind of tokenizer does if the file does not say whether the
 * beginning-of-sequence token comes first. */
static tsl_status read_bos(loader *l, bool adds) {
  tsl_status status = read_id(l, TSL__GGUF_KEY_BOS, &l->bos);
  if (!status) status = read_flag(l, TSL__GGUF_KEY_ADD_BOS, &adds);
  if (!adds) l->bos = TSL_NO_TOKEN;
  return status;
}

/* ---- scored pieces --------------------------------------------------------------------------- */

static tsl_status load_pieces(loader *l, bool encodes) {
  l->model.encodes = encodes && VALUE(l, SCORES)->type != TSL__GGUF_ABSENT;
  l->model.escaped = l->model.prefix = true;
  tsl_status status = read_bos(l, true);
  if (!status) status = read_id(l, TSL__GGUF_KEY_UNKNOWN, &l->model.unknown);
  if (!status) status = read_flag(l, TSL__GGUF_KEY_ADD_SPACE, &l->model.prefix);
  if (status) return status;
  l->model.bos = l->bos;
  return tsl__pieces_build(&l->model, &l->h.b);
}

/* ---- BPE ------------------------------------------------------------------------------------- */

static tsl_status add_merge(loader *l, const char *text, uint32_t length, size_t offset) {
  const char *space = length > 1 ? memchr(text + 1, ' ', length - 1) : NULL;
  if (!space || space + 1 == text + length)
    return tsl__fail_binary(l->g.error, TSL_ERR_FORMAT, offset,
                            "a merge is not two tokens with a space between");
  tsl__hf_merge merge = {text, space + 1, (uint32_t)(space - text),
                         (uint32_t)(text + length - space - 1), (uint32_t)offset};
  return tsl__vec_push(l->h.a, &l->h.file.merges, merge) ? TSL_OK : no_memory(l);
}

static tsl_status read_merges(loader *l) {
  const tsl__gguf_value *v = VALUE(l, MERGES);
  if (v->type != TSL__GGUF_ARRAY || v->item != TSL__GGUF_STRING)
    return refuse(l, TSL__GGUF_KEY_MERGES, TSL_ERR_FORMAT,
                  v->type == TSL__GGUF_ABSENT ? "is missing" : "is not an array of strings");
  tsl_status status = TSL_OK;
  size_t at = v->at;
  for (uint64_t i = 0; i < v->count && !status; i++) {
    uint32_t length;
    size_t offset = at;
    const char *text = tsl__gguf_string(&l->g, &at, &length);
    status = add_merge(l, text, length, offset);
  }
  return status;
}

/* Ordinary tokens; unused and empty ones are holes. */
static tsl_status list_tokens(loader *l) {
  for (tsl_token id = 0; id < l->model.pieces.n; id++) {
    const tsl__piece *p = &l->model.pieces.at[id];
    if (p->type < TSL__PIECE_NORMAL || p->type > TSL__PIECE_BYTE)
      return tsl__fail_binary(l->g.error, TSL_ERR_FORMAT, p->offset,
                              "a token has the type %u; there are 1 to 6", p->type);
    if (!p->length || (p->type != TSL__PIECE_NORMAL && p->type != TSL__PIECE_BYTE)) continue;
    tsl__hf_token token = {p->text, p->length, id, p->offset};
    if (!tsl__vec_push(l->h.a, &l->h.file.tokens, token)) return no_memory(l);
  }
  return TSL_OK;
}

/* A token that is found in text. */
static tsl_status add_token(loader *l, tsl_token id) {
  const tsl__piece *p = &l->model.pieces.at[id];
  bool special = p->type == TSL__PIECE_CONTROL || p->type == TSL__PIECE_UNKNOWN;
  if (!p->length || (!special && p->type != TSL__PIECE_USER)) return TSL_OK;
  tsl__name name = {p->text,          p->length,          p->offset,
                    .in_model = true, .special = special, .verbatim = true};
  tsl_status status = tsl__build_name(&l->h, id, name);
  if (status) return status;
  uint32_t flags = special ? 0 : TSL__ADDED_ALWAYS;
  if (!tsl__builder_added(&l->h.b, id, flags, p->text, p->length)) return no_memory(l);
  if (p->type == TSL__PIECE_UNKNOWN || !tsl__is_eog_name(p->text, p->length)) return TSL_OK;
  return tsl__vec_push(l->h.a, &l->h.b.eog, id) ? TSL_OK : no_memory(l);
}

static tsl_status build_bpe(loader *l) {
  uint32_t n = (uint32_t)l->model.pieces.n;
  tsl_status status = list_tokens(l);
  if (!status) status = tsl__build_names(&l->h, n - 1, n - l->h.file.tokens.n);
  for (tsl_token id = 0; id < n && !status; id++) status = add_token(l, id);
  if (!status && l->bos != TSL_NO_TOKEN && !tsl__vec_push(l->h.a, &l->h.b.bos, l->bos))
    status = no_memory(l);
  if (!status) status = read_merges(l);
  if (!status) status = tsl__build_spell(&l->h);
  if (!status) status = tsl__build_tables(&l->h);
  if (!status && !l->known_pre) l->h.b.facts.units = TSL__UNITS_NONE;
  return status;
}

static tsl_status load_byte_level(loader *l, const tsl_vocab_options *options) {
  const tsl__gguf_value *v = VALUE(l, PRE);
  tsl__gguf_traits traits = {0};
  bool there = v->type != TSL__GGUF_ABSENT, ok = true;
  if (there && v->type != TSL__GGUF_STRING)
    return refuse(l, TSL__GGUF_KEY_PRE, TSL_ERR_FORMAT, "is not a string");
  const char *pre = there ? (const char *)l->g.data + v->at : "default";
  l->known_pre = tsl__gguf_pre(&l->h.b, pre, there ? (size_t)v->count : strlen(pre),
                               options->pattern, &traits, &ok);
  if (!ok) return no_memory(l);
  l->h.byte_level = true;
  l->h.b.facts.whole_pieces = traits.whole_pieces;
  tsl_status status = read_bos(l, traits.add_bos);
  return status ? status : build_bpe(l);
}

static tsl_status load_code_points(loader *l) {
  tsl__step escape = {.kind = TSL__STEP_REPLACE, .normaliser = 1};
  l->h.byte_fallback = l->known_pre = true;
  l->h.space = "\xE2\x96\x81";
  l->h.space_length = 3;
  l->h.blank = " ";
  l->h.blank_length = 1;
  if (!tsl__builder_step(&l->h.b, escape, " ", 1, l->h.space, l->h.space_length))
    return no_memory(l);
  tsl_status status = read_bos(l, true);
  if (!status) status = read_id(l, TSL__GGUF_KEY_UNKNOWN, &l->h.b.facts.unknown);
  return status ? status : build_bpe(l);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static tsl_status load(loader *l, const tsl_vocab_options *options) {
  const tsl__gguf_value *model = VALUE(l, MODEL);
  tsl_status status = tsl__gguf_read(&l->g);
  if (!status && l->g.end > MAX_METADATA)
    status = tsl__fail(l->g.error, TSL_ERR_LIMIT, "the GGUF metadata has more than 2^30 bytes");
  if (status) return status;
  if (model->type != TSL__GGUF_STRING)
    return refuse(l, TSL__GGUF_KEY_MODEL, TSL_ERR_FORMAT,
                  model->type == TSL__GGUF_ABSENT ? "is missing" : "is not a string");
  status = read_tokens(l);
  if (!status) status = add_ends(l);
  if (status) return status;
  if (tsl__gguf_is(&l->g, model, "gpt2")) return load_byte_level(l, options);
  if (tsl__gguf_is(&l->g, model, "llama")) return load_pieces(l, true);
  if (tsl__gguf_is(&l->g, model, "gemma4")) return load_code_points(l);
  if (tsl__gguf_is(&l->g, model, "bert") || tsl__gguf_is(&l->g, model, "t5"))
    return load_pieces(l, false);
  return tsl__fail_binary(
      l->g.error, TSL_ERR_UNSUPPORTED, model->at, "a tokenizer model \"%.*s\" is not supported",
      (int)(model->count < 80 ? model->count : 80), (const char *)l->g.data + model->at);
}

tsl_status tsl__load_gguf(const uint8_t *data, size_t size, const tsl_vocab_options *options,
                          const tsl_allocator *a, tsl_vocab **out, tsl_error *error) {
  loader l = {.g = {.data = data, .size = size, .error = error},
              .h = {.a = a,
                    .error = error,
                    .binary = true,
                    .file = {.alloc = a, .text = (const char *)data, .length = size}},
              .model = {.alloc = a, .error = error, .bos = TSL_NO_TOKEN, .unknown = TSL_NO_TOKEN},
              .bos = TSL_NO_TOKEN};
  tsl__builder_init(&l.h.b, a);
  tsl_status status = load(&l, options);
  if (!status) status = tsl__builder_finish(&l.h.b, options, out, error);
  tsl__vec_free(a, &l.model.pieces);
  tsl__vec_free(a, &l.h.file.tokens);
  tsl__vec_free(a, &l.h.file.merges);
  tsl__build_free(&l.h);
  return status;
}

bool tsl__gguf_end(const uint8_t *data, size_t size, size_t *end) {
  tsl__gguf g = {.data = data, .size = size};
  *end = tsl__gguf_read(&g) ? size : g.end;
  return !g.cut_off || size > MAX_METADATA;
}
